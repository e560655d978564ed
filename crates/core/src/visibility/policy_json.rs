//! A policy as a JSON value, to be stated, stored and digested.
//!
//! *Invariant:* a policy written and read back is the same policy; the audiences of a label are in alphabetical
//! order, so the order in which somebody stated them does not matter.

use std::collections::BTreeMap;

use super::audience::{Audience, Audiences};
use super::policy::{Policy, PolicyDraft, PolicyError};
use crate::value::{Object, Value};

const PARTS: &[&str] = &["labels", "splits", "fields", "default", "movement", "answers_for"];

impl Policy {
    /// The six parts of the policy, each always there: what the policy digest covers.
    pub fn to_value(&self) -> Value<'_> {
        let audiences = |audiences: Audiences| Value::Array(audiences.iter().map(|a| Value::from(a.name())).collect());
        let labels = self.labels.iter().map(|(name, label)| (name.as_str().into(), audiences(label.audiences())));
        let movement =
            self.movement.iter().map(|(label, terms)| (label.as_str().into(), Value::from(terms.stated.clone())));
        let parts = [
            ("labels", Value::Object(labels.collect())),
            ("splits", texts_value(&self.splits)),
            ("fields", texts_value(&self.fields)),
            ("default", Value::from(self.default.as_str())),
            ("movement", Value::Object(movement.collect())),
            ("answers_for", texts_value(&self.answers_for)),
        ];
        Value::Object(parts.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }
}

impl PolicyDraft {
    /// Reads a policy as somebody states it; every part may be missing, none may be unknown.
    pub fn from_value(value: &Value<'_>) -> Result<Self, PolicyError> {
        let parts = value.as_object().ok_or_else(|| shape("policy", "a mapping"))?;
        if let Some((key, _)) = parts.iter().find(|(key, _)| !PARTS.contains(key)) {
            return Err(shape(key, "left out: a policy has no such part"));
        }
        let default = match parts.get("default") {
            None => None,
            Some(label) => Some(label.as_str().ok_or_else(|| shape("default", "the name of a label"))?.to_owned()),
        };
        Ok(PolicyDraft {
            labels: members(parts, "labels", audiences)?,
            splits: members(parts, "splits", text)?,
            fields: members(parts, "fields", text)?,
            default,
            movement: members(parts, "movement", terms)?,
            answers_for: members(parts, "answers_for", text)?,
        })
    }
}

fn texts_value(texts: &BTreeMap<String, String>) -> Value<'_> {
    Value::Object(texts.iter().map(|(key, text)| (key.as_str().into(), Value::from(text.as_str()))).collect())
}

fn members<T>(
    parts: &Object<'_>,
    part: &str,
    read: impl Fn(&str, &Value<'_>) -> Result<T, PolicyError>,
) -> Result<BTreeMap<String, T>, PolicyError> {
    let Some(value) = parts.get(part) else { return Ok(BTreeMap::new()) };
    let object = value.as_object().ok_or_else(|| shape(part, "a mapping"))?;
    object.iter().map(|(key, value)| Ok((key.to_owned(), read(&format!("{part}.{key}"), value)?))).collect()
}

fn text(place: &str, value: &Value<'_>) -> Result<String, PolicyError> {
    value.as_str().map(str::to_owned).ok_or_else(|| shape(place, "a name"))
}

fn terms(place: &str, value: &Value<'_>) -> Result<Object<'static>, PolicyError> {
    value.as_object().map(|terms| terms.clone().into_owned()).ok_or_else(|| shape(place, "a mapping"))
}

fn audiences(place: &str, value: &Value<'_>) -> Result<Audiences, PolicyError> {
    let names = value.as_array().ok_or_else(|| shape(place, "a list of audiences"))?;
    let audience = |name: &Value<'_>| name.as_str().and_then(Audience::parse);
    names.iter().map(|name| audience(name).ok_or_else(|| shape(place, "a list of audiences"))).collect()
}

fn shape(place: &str, expected: &'static str) -> PolicyError {
    PolicyError::Shape { place: place.to_owned(), expected }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::{canonical, json};

    fn resolve(text: &str) -> Result<String, String> {
        let policy = PolicyDraft::from_value(&json::read(text).unwrap()).and_then(PolicyDraft::resolve);
        let policy = policy.map_err(|error| error.to_string())?;
        let written = policy.to_value();
        assert_eq!(PolicyDraft::from_value(&written).and_then(PolicyDraft::resolve).as_ref(), Ok(&policy));
        assert_eq!(policy.to_draft().resolve().as_ref(), Ok(&policy));
        Ok(String::from_utf8(canonical::bytes(&written)).unwrap())
    }

    #[test]
    fn a_resolved_policy_states_all_its_parts() {
        let sealed = r#"{"labels":{"p":["operator","evaluator"]},"splits":{"s":"public"},"fields":{"A*":"p"}}"#;
        let expected = concat!(
            r#"{"answers_for":{},"default":"internal","fields":{"a*":"p"},"#,
            r#""labels":{"p":["evaluator","operator"]},"movement":{},"splits":{"s":"public"}}"#
        );
        assert_eq!(resolve(sealed).as_deref(), Ok(expected));
        let open = r#"{"splits":{"hidden":"evaluator_only","s":"public"},"movement":{"public":{"cache":"none"}},"answers_for":{"hidden":"s"}}"#;
        let expected = concat!(
            r#"{"answers_for":{"hidden":"s"},"default":"agent_visible","fields":{},"labels":{},"#,
            r#""movement":{"public":{"cache":"none"}},"splits":{"hidden":"evaluator_only","s":"public"}}"#
        );
        assert_eq!(resolve(open).as_deref(), Ok(expected));
    }

    #[test]
    fn a_policy_tells_what_was_stated() {
        let text = r#"{"splits":{"h":"internal","s":"public"},"fields":{"a":"public","b*":"internal"},
            "answers_for":{"h":"s"},"movement":{"internal":{"retain_days":30}}}"#;
        let policy = PolicyDraft::from_value(&json::read(text).unwrap()).unwrap().resolve().unwrap();
        let labelled = ["a", "b", "Bc", "A", "c"].map(|field| policy.is_labelled(field));
        assert_eq!(labelled, [true, true, true, false, false]);
        assert_eq!(policy.splits().collect::<Vec<_>>(), [("h", "internal"), ("s", "public")]);
        assert_eq!((policy.prompts_of("h"), policy.prompts_of("s")), (Some("s"), None));
        assert!(policy.movement_of("internal").is_some_and(|terms| terms.contains("retain_days")));
        assert_eq!(policy.movement_of("public"), None);
    }

    #[test]
    fn a_wrong_policy_is_refused_with_its_reason() {
        for (policy, why) in [
            (r#"[]"#, "`policy` must be a mapping"),
            (r#"{"field":{}}"#, "`field` must be left out: a policy has no such part"),
            (r#"{"default":null}"#, "`default` must be the name of a label"),
            (r#"{"default":"secret"}"#, "`default` names the unknown label `secret`"),
            (r#"{"default":""}"#, "`default` names the unknown label ``"),
            (r#"{"fields":{"a":1}}"#, "`fields.a` must be a name"),
            (r#"{"fields":{"a":"x"}}"#, "`fields.a` names the unknown label `x`"),
            (r#"{"fields":{"id":"public"}}"#, "field `id` always has the label of its split"),
            (r#"{"fields":{"*":"public"}}"#, "field `` is empty"),
            (r#"{"fields":{"a*":"public","A*":"internal"}}"#, "field `a*` has two labels"),
            (r#"{"splits":{"":"public"}}"#, "split `` is empty"),
            (r#"{"splits":{"s":"x"}}"#, "`splits.s` names the unknown label `x`"),
            (r#"{"labels":{"p":["nobody"]}}"#, "`labels.p` must be a list of audiences"),
            (r#"{"labels":{"p":[]}}"#, "label `p` has no audience"),
            (r#"{"labels":{"public":["agent"]}}"#, "label `public` is built in"),
            (r#"{"movement":{"x":{}}}"#, "`movement` names the unknown label `x`"),
            (r#"{"answers_for":{"a":"b"}}"#, "the policy has no split `a`"),
            (r#"{"splits":{"a":"public"},"answers_for":{"a":"a"}}"#, "split `a` cannot hold the answers to itself"),
            (
                r#"{"splits":{"s":"operator_only"},"fields":{"a":"evaluator_only"}}"#,
                "nobody can read a `evaluator_only` field in the `operator_only` split `s`",
            ),
        ] {
            assert_eq!(resolve(policy), Err(why.to_owned()), "{policy}");
        }
    }
}
