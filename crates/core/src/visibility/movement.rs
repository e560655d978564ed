//! Movement: where the bytes of a label may travel, whether copies are kept, and what may be derived from them.
//!
//! *Invariant:* a label nobody stated terms for has the built-in rule, and two labels that are joined allow what
//! both allow, never more.

use std::collections::BTreeSet;

use super::label::Label;
use super::named::named;
use super::place::Place;
use super::policy::{Policy, PolicyError};
use crate::value::{Object, Value};

named! {
    /// What an output may contain of the records it comes from, from most to least.
    Derived: "Every kind, from most to least."
    Records "records" "The records themselves.",
    Redacted "redacted" "Records with parts taken out.",
    Labels "labels" "Labels of records.",
    Embeddings "embeddings" "Embeddings of records.",
    Aggregates "aggregates" "Numbers over many records.",
    References "references" "Only which records they were.",
    Nothing "nothing" "Nothing.",
}

/// Where the bytes of a label may travel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Movement {
    /// The places they may be brought to.
    pub places: BTreeSet<Place>,
    /// The most that an output may contain of them.
    pub derived: Derived,
    /// Whether copies may be kept.
    pub cache: bool,
    /// How long copies are kept at most.
    pub retain_days: Option<u32>,
}

/// What a policy states about one label: checked, and beside it the words it was stated in.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Terms {
    pub(super) stated: Object<'static>,
    places: Option<BTreeSet<Place>>,
    derived: Option<Derived>,
    cache: Option<bool>,
    retain_days: Option<u32>,
}

impl Derived {
    /// Whether an output that contains `output` stays within this.
    pub fn allows(self, output: Derived) -> bool {
        output >= self
    }
}

impl Movement {
    /// The rule for labels that no terms are stated for: open ones go anywhere but to a warehouse of others, sealed
    /// ones stay with those who run the store and score, and only numbers come out of them.
    pub fn built_in(open: bool) -> Self {
        let sealed = [Place::ControlPlane, Place::EvaluatorWorker];
        let places = Place::ALL.iter().copied();
        let allowed = |place: &Place| if open { *place != Place::ExternalWarehouse } else { sealed.contains(place) };
        let derived = if open { Derived::Records } else { Derived::Aggregates };
        Movement { places: places.filter(allowed).collect(), derived, cache: open, retain_days: None }
    }

    /// Whether the bytes may be brought to a place.
    pub fn allows(&self, place: Place) -> bool {
        self.places.contains(&place)
    }

    /// What both allow.
    #[must_use]
    pub fn intersection(self, other: Movement) -> Self {
        Movement {
            places: self.places.intersection(&other.places).copied().collect(),
            derived: self.derived.max(other.derived),
            cache: self.cache && other.cache,
            retain_days: [self.retain_days, other.retain_days].into_iter().flatten().min(),
        }
    }
}

impl Terms {
    /// Checks the terms that stand at `place` in a policy.
    pub(super) fn check(place: &str, stated: Object<'static>) -> Result<Self, PolicyError> {
        let mut terms = Terms { places: None, derived: None, cache: None, retain_days: None, stated: Object::new() };
        for (key, value) in stated.iter() {
            let refuse = |expected| PolicyError::Shape { place: format!("{place}.{key}"), expected };
            match key {
                "places" => terms.places = Some(places(value).ok_or_else(|| refuse("a list of places"))?),
                "derived" => {
                    let derived = value.as_str().and_then(Derived::parse);
                    terms.derived =
                        Some(derived.ok_or_else(|| refuse("what outputs may contain, such as `aggregates`"))?);
                }
                "cache" => terms.cache = Some(cache(value).ok_or_else(|| refuse("`none` or `kept`"))?),
                "retain_days" => terms.retain_days = Some(days(value).ok_or_else(|| refuse("a number of days"))?),
                _ => return Err(refuse("left out: movement has no such term")),
            }
        }
        Ok(Terms { stated, ..terms })
    }

    fn over(&self, built_in: Movement) -> Movement {
        Movement {
            places: self.places.clone().unwrap_or(built_in.places),
            derived: self.derived.unwrap_or(built_in.derived),
            cache: self.cache.unwrap_or(built_in.cache),
            retain_days: self.retain_days.or(built_in.retain_days),
        }
    }
}

impl Policy {
    /// Where the bytes of a label may travel: what is stated, over the built-in rule. Where two labels are joined,
    /// what both allow.
    pub fn movement(&self, label: &Label) -> Movement {
        let one = |name: &str| {
            let open = self.label(name).map_or(label.is_open(), |known| known.is_open());
            let built_in = Movement::built_in(open);
            self.movement.get(name).map_or(built_in.clone(), |terms| terms.over(built_in))
        };
        let joined = label.parts().map(one).reduce(Movement::intersection);
        joined.unwrap_or_else(|| Movement::built_in(false))
    }
}

fn places(value: &Value<'_>) -> Option<BTreeSet<Place>> {
    value.as_array()?.iter().map(|place| place.as_str().and_then(Place::parse)).collect()
}

fn cache(value: &Value<'_>) -> Option<bool> {
    match value {
        Value::Bool(kept) => Some(*kept),
        Value::String(word) => {
            [("none", false), ("kept", true)].into_iter().find(|(name, _)| name == word).map(|(_, kept)| kept)
        }
        _ => None,
    }
}

fn days(value: &Value<'_>) -> Option<u32> {
    match value {
        Value::Number(number) => number.as_u64().and_then(|days| u32::try_from(days).ok()),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::PolicyDraft;
    use super::*;
    use crate::json;

    fn policy(movement: &str) -> Result<Policy, String> {
        let text = format!(
            r#"{{"labels":{{"partner":["evaluator","operator"],"shop":["agent","operator"]}},
            "splits":{{"s":"partner","t":"evaluator_only"}},
            "fields":{{"answer":"evaluator_only","note":"partner"}},"default":"partner","movement":{movement}}}"#
        );
        let draft = PolicyDraft::from_value(&json::read(&text).unwrap());
        draft.and_then(PolicyDraft::resolve).map_err(|error| error.to_string())
    }

    fn shown(movement: &Movement) -> String {
        let places: Vec<_> = movement.places.iter().map(|place| place.name()).collect();
        let kept = if movement.cache { "kept" } else { "none" };
        format!("{} {} {kept} {:?}", places.join(","), movement.derived, movement.retain_days)
    }

    #[test]
    fn stated_terms_stand_over_the_built_in_rule() {
        let open = "control_plane,evaluator_worker,trainer_worker,agent_sandbox,object_cache,local_disk,remote_only records kept";
        let sealed = "control_plane,evaluator_worker aggregates none";
        for (movement, label, expected) in [
            ("{}", "public", format!("{open} None")),
            ("{}", "shop", format!("{open} None")),
            ("{}", "internal", format!("{sealed} None")),
            ("{}", "partner", format!("{sealed} None")),
            (r#"{"internal":{"retain_days":30}}"#, "internal", format!("{sealed} Some(30)")),
            (r#"{"internal":{"retain_days":30}}"#, "partner", format!("{sealed} None")),
            (r#"{"shop":{"cache":"none"}}"#, "shop", format!("{} None", open.replace("kept", "none"))),
            (
                r#"{"internal":{"places":["local_disk"],"derived":"labels","cache":true}}"#,
                "internal",
                "local_disk labels kept None".into(),
            ),
            (r#"{"internal":{"places":[],"cache":"kept"}}"#, "internal", " aggregates kept None".into()),
        ] {
            let policy = policy(movement).unwrap();
            assert_eq!(shown(&policy.movement(&policy.label(label).unwrap())), expected, "{label} by {movement}");
        }
    }

    #[test]
    fn joined_labels_allow_what_both_allow() {
        let policy = policy(
            r#"{"evaluator_only":{"places":["control_plane","local_disk"],"derived":"references","cache":"kept","retain_days":30},
            "partner":{"places":["local_disk","object_cache"],"derived":"labels","retain_days":7}}"#,
        );
        let policy = policy.unwrap();
        let joined = policy.in_split("s").unwrap().of("answer").clone();
        assert_eq!(joined.name(), "evaluator_only+partner");
        assert_eq!(shown(&policy.movement(&joined)), "local_disk references none Some(7)");
    }

    #[test]
    fn wrong_terms_are_refused_with_their_place() {
        for (terms, why) in [
            (r#"{"place":[]}"#, "`movement.internal.place` must be left out: movement has no such term"),
            (r#"{"places":"local_disk"}"#, "`movement.internal.places` must be a list of places"),
            (r#"{"places":["moon"]}"#, "`movement.internal.places` must be a list of places"),
            (
                r#"{"derived":"all"}"#,
                "`movement.internal.derived` must be what outputs may contain, such as `aggregates`",
            ),
            (r#"{"cache":"some"}"#, "`movement.internal.cache` must be `none` or `kept`"),
            (r#"{"cache":null}"#, "`movement.internal.cache` must be `none` or `kept`"),
            (r#"{"retain_days":-1}"#, "`movement.internal.retain_days` must be a number of days"),
            (r#"{"retain_days":4294967296}"#, "`movement.internal.retain_days` must be a number of days"),
            (r#"{"retain_days":1.5}"#, "`movement.internal.retain_days` must be a number of days"),
        ] {
            assert_eq!(policy(&format!(r#"{{"internal":{terms}}}"#)), Err(why.to_owned()), "{terms}");
        }
    }

    #[test]
    fn kinds_of_output_are_ordered_from_most_to_least() {
        assert!(Derived::Aggregates.allows(Derived::Aggregates) && Derived::Aggregates.allows(Derived::References));
        assert!(!Derived::Aggregates.allows(Derived::Embeddings) && Derived::Records.allows(Derived::Records));
        assert!(Derived::ALL.is_sorted() && Derived::ALL.iter().all(|kind| Derived::parse(kind.name()) == Some(*kind)));
    }
}
