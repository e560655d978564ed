//! Widening: in which ways one policy shows more than another did, so that nothing is declassified by accident.
//!
//! *Invariant:* if any field, in a split that both policies have, has an audience, a place or a kind of output it did
//! not have before, at least one way is told. What is narrower, or only in a new split, is never told.

use std::collections::BTreeSet;

use super::audience::Audiences;
use super::label::Label;
use super::movement::Movement;
use super::policy::{Policy, begins, family};

/// Fields that one policy and the other each give one label.
enum Class<'p> {
    Split,
    Field(&'p str),
    /// All names that start with this and belong to no longer family.
    Family(&'p str),
    Rest,
}

impl Policy {
    /// Every way in which this policy shows more than `before` did, as short phrases. A new split is none.
    pub fn wider_than(&self, before: &Policy) -> Vec<String> {
        let mut ways = self.wider_labels(before);
        let keys: BTreeSet<&str> = before.fields.keys().chain(self.fields.keys()).map(String::as_str).collect();
        let common: Vec<_> =
            self.splits.keys().map(String::as_str).filter(|s| before.splits.contains_key(*s)).collect();
        let mut told = BTreeSet::new();
        for split in &common {
            if let Some(way) = self.wider_class(before, &Class::Split, &[split], &told) {
                ways.push(format!("split `{split}`: {way}"));
                told.insert(*split);
            }
        }
        for key in keys {
            let class = family(key).map_or(Class::Field(key), Class::Family);
            let what = if family(key).is_some() { "fields" } else { "field" };
            ways.extend(self.wider_class(before, &class, &common, &told).map(|way| format!("{what} `{key}`: {way}")));
        }
        ways.extend(self.wider_class(before, &Class::Rest, &common, &told).map(|way| format!("default: {way}")));
        ways
    }

    /// Labels of one name that are wider than they were.
    fn wider_labels(&self, before: &Policy) -> Vec<String> {
        let mut ways = Vec::new();
        for label in self.labels() {
            let Some(old) = before.label(label.name()) else { continue };
            if let Some(gained) = gained_audiences(label.audiences(), old.audiences()) {
                ways.push(format!("label `{}`: also {gained}", label.name()));
            }
            if let Some(gained) = gained_movement(&self.movement(&label), &before.movement(&old)) {
                ways.push(format!("movement of `{}`: {gained}", label.name()));
            }
        }
        ways
    }

    /// How a class of fields gained, if in any of these splits it did. What follows from a split that is told
    /// already, or from a label that kept its name, is told there.
    fn wider_class(
        &self,
        before: &Policy,
        class: &Class<'_>,
        splits: &[&str],
        told: &BTreeSet<&str>,
    ) -> Option<String> {
        let mut travels = None;
        for split in splits {
            let (new, old) = (self.label_in(class, split)?, before.label_in(class, split)?);
            let changed = new.name() != old.name();
            let (now, then) = (self.effective(&new, split)?, before.effective(&old, split)?);
            let gained = gained_audiences(now.audiences(), then.audiences()).is_some();
            if gained && changed && gained_audiences(new.audiences(), old.audiences()).is_some() {
                return Some(format!("{} → {}", old.name(), new.name()));
            }
            let untold = now.name() != then.name() && (changed || !told.contains(split));
            if !gained && untold && travels.is_none() {
                let gained = gained_movement(&self.movement(&now), &before.movement(&then));
                travels = gained.map(|gained| format!("{} → {}, {gained}", then.name(), now.name()));
            }
        }
        travels
    }

    /// The label that the policy gives a class, before the split narrows it.
    fn label_in(&self, class: &Class<'_>, split: &str) -> Option<Label> {
        let of_family = |name: &str| {
            let prefixes = self.fields.iter().filter_map(|(key, label)| Some((family(key)?, label)));
            let longest = prefixes.filter(|(prefix, _)| begins(name, prefix)).max_by_key(|(prefix, _)| prefix.len());
            longest.map_or(&self.default, |(_, label)| label)
        };
        let name = match class {
            Class::Split => self.splits.get(split)?,
            Class::Field(name) => self.fields.get(*name).unwrap_or_else(|| of_family(name)),
            Class::Family(prefix) => of_family(prefix),
            Class::Rest => &self.default,
        };
        self.label(name)
    }

    fn effective(&self, label: &Label, split: &str) -> Option<Label> {
        label.within(&self.label(self.splits.get(split)?)?)
    }
}

fn gained_audiences(now: Audiences, before: Audiences) -> Option<String> {
    let gained: Vec<_> = now.iter().filter(|audience| !before.contains(*audience)).map(|a| a.name()).collect();
    (!gained.is_empty()).then(|| gained.join(", "))
}

fn gained_movement(now: &Movement, before: &Movement) -> Option<String> {
    let gained: Vec<_> = now.places.difference(&before.places).map(|place| place.name()).collect();
    let places = (!gained.is_empty()).then(|| format!("also to {}", gained.join(", ")));
    let derived = !before.derived.allows(now.derived);
    let derived = derived.then(|| format!("derived {} instead of {}", now.derived, before.derived));
    let ways: Vec<_> = places.into_iter().chain(derived).collect();
    (!ways.is_empty()).then(|| ways.join(", "))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::PolicyDraft;
    use super::*;
    use crate::json;

    /// A policy with two labels beside the built-in ones, and what `parts` states.
    fn policy(parts: &str) -> Policy {
        let labels = r#""labels":{"inner":["evaluator","grader"],"partner":["evaluator","operator"]}"#;
        let labels = if parts.contains("\"labels\"") { String::new() } else { format!("{labels},") };
        let draft = PolicyDraft::from_value(&json::read(&format!("{{{labels}{parts}}}")).unwrap()).unwrap();
        draft.resolve().unwrap()
    }

    const SPLIT: &str = r#""splits":{"s":"agent_visible"},"default":"internal""#;

    #[test]
    fn every_wider_field_split_and_default_is_told() {
        for (before, now, expected) in [
            (
                r#""fields":{"a":"internal"}"#,
                r#""fields":{"a":"agent_visible"}"#,
                &["field `a`: internal → agent_visible"][..],
            ),
            (r#""fields":{"a":"internal"}"#, r#""fields":{"a":"evaluator_only"}"#, &[]),
            (r#""fields":{"a":"evaluator_only"}"#, r#""fields":{}"#, &["field `a`: evaluator_only → internal"]),
            (r#""fields":{}"#, r#""fields":{"a":"public"}"#, &["field `a`: internal → public"]),
            (r#""fields":{"a":"agent_visible"}"#, r#""fields":{"a":"public"}"#, &[]),
            (r#""fields":{"a*":"internal"}"#, r#""fields":{"a*":"public"}"#, &["fields `a*`: internal → public"]),
            (
                r#""fields":{"a*":"evaluator_only"}"#,
                r#""fields":{"a*":"evaluator_only","ab*":"public","Abc":"internal"}"#,
                &["field `Abc`: evaluator_only → internal", "fields `ab*`: evaluator_only → public"],
            ),
            (
                r#""fields":{"ab":"inner"}"#,
                r#""fields":{"a*":"public"}"#,
                &["fields `a*`: internal → public", "field `ab`: inner → public"],
            ),
            (r#""fields":{"a":"evaluator_only"}"#, r#""fields":{"a":"inner"}"#, &[]),
            (
                r#""fields":{"a":"evaluator_only"}"#,
                r#""fields":{"a":"partner"}"#,
                &["field `a`: evaluator_only → partner"],
            ),
        ] {
            let (before, now) = (policy(&format!("{SPLIT},{before}")), policy(&format!("{SPLIT},{now}")));
            assert_eq!(now.wider_than(&before), expected, "{now:?}");
            assert!(now.wider_than(&now).is_empty());
        }
    }

    #[test]
    fn the_split_decides_what_is_wider() {
        for (before, now, expected) in [
            (r#"{"s":"evaluator_only"}"#, r#"{"s":"public"}"#, &["split `s`: evaluator_only → public"][..]),
            (r#"{"s":"public"}"#, r#"{"s":"evaluator_only"}"#, &[]),
            (r#"{"s":"public"}"#, r#"{"s":"public","t":"public"}"#, &[]),
            (r#"{"s":"public","t":"internal"}"#, r#"{"s":"internal"}"#, &[]),
        ] {
            let of = |splits| policy(&format!(r#""splits":{splits},"default":"agent_visible""#));
            assert_eq!(of(now).wider_than(&of(before)), expected, "{now}");
        }
        let of = |label, default| policy(&format!(r#""splits":{{"s":"{label}"}},"default":"{default}""#));
        assert!(of("evaluator_only", "public").wider_than(&of("evaluator_only", "internal")).is_empty());
        let both = of("internal", "public").wider_than(&of("evaluator_only", "internal"));
        assert_eq!(both, ["split `s`: evaluator_only → internal", "default: internal → public"]);
    }

    #[test]
    fn a_label_that_gained_and_bytes_that_travel_further_are_told() {
        for (before, now, expected) in [
            (
                r#""labels":{"p":["operator"]}"#,
                r#""labels":{"p":["operator","grader","agent"]}"#,
                &[
                    "label `p`: also agent, grader",
                    "movement of `p`: also to trainer_worker, agent_sandbox, object_cache, local_disk, remote_only, derived records instead of aggregates",
                ][..],
            ),
            (r#""labels":{"p":["operator","log"]}"#, r#""labels":{"p":["operator"]}"#, &[]),
            (r#""labels":{}"#, r#""labels":{"p":["agent"]}"#, &[]),
            (
                "",
                r#""movement":{"internal":{"places":["local_disk"]}}"#,
                &["movement of `internal`: also to local_disk"],
            ),
            ("", r#""movement":{"internal":{"places":["control_plane"],"derived":"nothing"}}"#, &[]),
            (
                "",
                r#""movement":{"internal":{"derived":"labels"}}"#,
                &["movement of `internal`: derived labels instead of aggregates"],
            ),
            (
                r#""movement":{"evaluator_only":{"places":["control_plane"]}},"fields":{"a":"evaluator_only"}"#,
                r#""movement":{"evaluator_only":{"places":["control_plane"]}},"fields":{"a":"inner"}"#,
                &["field `a`: evaluator_only → inner, also to evaluator_worker"],
            ),
        ] {
            let of = |parts: &str| policy(&[SPLIT, parts].join(if parts.is_empty() { "" } else { "," }));
            assert_eq!(of(now).wider_than(&of(before)), expected, "{now}");
        }
    }
}
