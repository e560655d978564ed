//! Who may see what comes out of a preparation: nobody who may not see what it came from.
//!
//! *Invariant:* a field keeps its label under a new name, or gets a narrower one; a field that decides which records
//! there are narrows the whole split; what is stated about derived outputs holds unless somebody says why not.

use heldset_core::code::Code;
use heldset_core::number::Number;
use heldset_core::prepare::Preparation;
use heldset_core::value::{Object, Value};
use heldset_core::visibility::{
    AGENT_VISIBLE, Derived, INTERNAL, Label, Movement, Policy, PolicyDraft, SplitLabels, Viewer,
};

use super::lookup::Opened;
use super::rows::Made;
use crate::import::Target;
use crate::refusal::{Outcome, Refusal};
use crate::view::{View, cited};

/// What a preparation is made of.
pub(super) struct Sources<'s> {
    pub(super) view: &'s View<'s>,
    pub(super) lookups: &'s [Opened<'s>],
    pub(super) preparation: &'s Preparation,
    pub(super) made: &'s Made,
}

impl Sources<'_> {
    /// The policy of what comes out, what to say of it, and whether a stated reason was needed.
    pub(super) fn policy(&self, viewer: Viewer, declassify: Option<&str>) -> Outcome<(Policy, Vec<String>, bool)> {
        let before = &self.view.resolved.policy;
        let mut draft = visible(before, viewer);
        // Which splits answer for which is said again at the end, of those that come out.
        let answers_for = std::mem::take(&mut draft.answers_for);
        for (old, new) in &self.preparation.cleaning.rename {
            if let Some(label) = self.label_of(old)? {
                self.narrow(&mut draft, new, label)?;
            }
        }
        for (lookup, there, here) in self.looked_up() {
            let Some(name) = self.preparation.final_name(here) else { continue };
            let label = seen_label(lookup, there)?;
            carry_movement(&mut draft, before, &lookup.view.resolved.policy, &label);
            self.narrow(&mut draft, name, label)?;
        }
        let (mut notes, mut let_out) = (Vec::new(), false);
        for out in &self.made.outs {
            let own = out.from.iter().map(|labels| Ok(labels.own().clone())).reduce(|a, b| meet(&a?, &b?));
            let own = own.unwrap_or_else(|| Err(Refusal::usage(Code::E069, "there is no split", "")))?;
            let (mut label, mut reason) = (own.clone(), None);
            for field in self.preparation.deciding() {
                let decides = self.deciding_label(&out.from, field)?;
                let narrower = meet(&label, &decides)?;
                if narrower.audiences() != label.audiences() {
                    reason = Some(field);
                    label = narrower;
                }
            }
            if let Some(field) = reason {
                match declassify {
                    Some(_) => {
                        label = own;
                        let_out = true;
                    }
                    None => notes.push(format!(
                        "split `{}` is `{}`, because `{field}` decides which records it has; `--declassify REASON` keeps it `{}`",
                        out.split,
                        label.name(),
                        own.name()
                    )),
                }
            }
            let name = known(&mut draft, &label);
            draft.splits.insert(out.split.clone(), name);
        }
        let there =
            |split: &String| self.made.outs.iter().any(|out| out.split == *split && self.preparation.split.is_none());
        draft.answers_for =
            answers_for.into_iter().filter(|(answers, prompts)| there(answers) && there(prompts)).collect();
        Ok((draft.resolve()?, notes, let_out))
    }

    /// Refuses what a policy states that derived outputs must not contain. Unstated, sealed records may be in a
    /// dataset under the same labels: nobody sees more by it.
    pub(super) fn check_derived(&self, declassify: Option<&str>) -> Outcome<bool> {
        let mut closed: Vec<String> = Vec::new();
        let main = &self.view.resolved;
        let looked_up = |name: &str| self.looked_up().any(|(_, _, here)| here == name);
        for labels in self.made.outs.iter().flat_map(|out| &out.from) {
            let mut used = vec![(labels.own().clone(), Derived::Records)];
            for name in self.made.names.iter().filter(|name| !looked_up(name)) {
                if self.preparation.final_name(name).is_some() {
                    used.push((labels.of(name).clone(), self.kind_of(name)));
                }
            }
            closed.extend(used.iter().filter_map(|(label, kind)| exceeded(&main.policy, label, *kind, &cited(main))));
        }
        for (lookup, there, here) in self.looked_up() {
            if self.preparation.final_name(here).is_some() {
                let (label, resolved) = (seen_label(lookup, there)?, &lookup.view.resolved);
                closed.extend(exceeded(&resolved.policy, &label, self.kind_of(here), &cited(resolved)));
            }
        }
        closed.sort();
        closed.dedup();
        match (closed.first(), declassify) {
            (None, _) => Ok(false),
            (Some(_), Some(_)) => Ok(true),
            (Some(first), None) => Err(Refusal::denied(
                Code::E121,
                first.clone(),
                "drop these fields, prepare what another audience sees with `--as`, allow `derived: records` under `movement`, or say why with `--declassify REASON`",
            )),
        }
    }

    /// Whether records come out with a field, or only what a redaction leaves of it.
    fn kind_of(&self, field: &str) -> Derived {
        let redacted = |rule: &heldset_core::prepare::Redaction| rule.field.as_ref().is_none_or(|name| name == field);
        if self.preparation.cleaning.redact.iter().any(redacted) { Derived::Redacted } else { Derived::Records }
    }

    /// Every field that is looked up: where, its name there, its name here.
    fn looked_up(&self) -> impl Iterator<Item = (&Opened<'_>, &str, &str)> {
        self.lookups.iter().flat_map(|lookup| {
            lookup.asked.fields.iter().map(move |(there, here)| (lookup, there.as_str(), here.as_str()))
        })
    }

    /// The label of a field before it was renamed; nothing if there is no such field.
    fn label_of(&self, field: &str) -> Outcome<Option<Label>> {
        if let Some((lookup, there, _)) = self.looked_up().find(|(_, _, here)| *here == field) {
            return seen_label(lookup, there).map(Some);
        }
        Ok(self.view.resolved.policy.field_label(field).filter(|_| self.made.names.contains(field)))
    }

    /// The label of a field that decides, in the splits that it decides about.
    fn deciding_label(&self, from: &[SplitLabels], field: &str) -> Outcome<Label> {
        let is_known =
            |name: &str| name == "id" || self.made.names.contains(name) || self.made.names.contains(super::first(name));
        let field = self.preparation.original(field, is_known);
        let name = if self.made.names.contains(field) { field } else { super::first(field) };
        if let Some((lookup, there, _)) = self.looked_up().find(|(_, _, here)| *here == name) {
            return seen_label(lookup, there);
        }
        let labels =
            from.iter().map(|labels| Ok(if name == "id" { labels.own().clone() } else { labels.of(name).clone() }));
        let met = labels.reduce(|a, b| meet(&a?, &b?));
        met.unwrap_or_else(|| Err(Refusal::usage(Code::E069, "there is no split", "")))
    }

    /// Gives a field of the output a label; one that its name has already narrows it.
    fn narrow(&self, draft: &mut PolicyDraft, field: &str, label: Label) -> Outcome<()> {
        let there = draft.clone().resolve()?;
        let label = match there.field_label(field).filter(|_| there.is_labelled(field)) {
            Some(other) => meet(&label, &other)?,
            None => label,
        };
        let name = known(draft, &label);
        draft.fields.insert(field.to_owned(), name);
        Ok(())
    }
}

/// What a caller may know of a policy: labels of fields that are seen. Splits are named anew.
fn visible(policy: &Policy, viewer: Viewer) -> PolicyDraft {
    let mut draft = policy.to_draft();
    draft.splits.clear();
    let sees = |name: &String| policy.label(name).is_some_and(|label| viewer.sees(&label));
    draft.fields.retain(|_, label| sees(label));
    if !draft.default.as_ref().is_some_and(sees) {
        let open = |name: &String| policy.label(name).is_some_and(|label| label.is_open());
        let default = if draft.fields.values().all(open) { AGENT_VISIBLE } else { INTERNAL };
        draft.default = Some(default.to_owned());
    }
    draft
}

/// The label that a field of another dataset has in the splits that were looked at.
fn seen_label(lookup: &Opened<'_>, field: &str) -> Outcome<Label> {
    let splits = lookup.view.splits.iter().filter(|split| !split.doc.files);
    let label = |labels: &SplitLabels| match field {
        "id" => labels.own().clone(),
        field => labels.of(super::first(field)).clone(),
    };
    let met = splits.map(|split| Ok(label(&split.labels))).reduce(|a, b| meet(&a?, &b?));
    met.unwrap_or_else(|| {
        let message = format!("{} has no records to look up in", cited(&lookup.view.resolved));
        Err(Refusal::usage(Code::E069, message, "look up in a dataset with a split of records"))
    })
}

/// What both let through.
fn meet(a: &Label, b: &Label) -> Outcome<Label> {
    a.within(b).ok_or_else(|| {
        let message = format!("nobody may see both what is `{}` and what is `{}`", a.name(), b.name());
        Refusal::denied(Code::E122, message, "leave one of them out, or prepare them apart")
    })
}

/// The name of a label in a draft; a label that it does not know, or knows otherwise, is defined.
fn known(draft: &mut PolicyDraft, label: &Label) -> String {
    if Label::built_in(label.name()).is_some() {
        return label.name().to_owned();
    }
    let base = label.name().replace('+', "-and-");
    let mut name = base.clone();
    for number in 2.. {
        match draft.labels.get(&name) {
            Some(audiences) if *audiences == label.audiences() => return name,
            Some(_) => name = format!("{base}-{number}"),
            None => break,
        }
    }
    draft.labels.insert(name.clone(), label.audiences());
    name
}

/// The terms of movement of a label that comes from another dataset: what both allow, where either states any.
fn carry_movement(draft: &mut PolicyDraft, main: &Policy, other: &Policy, label: &Label) {
    let mut stated: Vec<String> = Vec::new();
    for policy in [main, other] {
        for part in label.name().split('+') {
            stated
                .extend(policy.movement_of(part).iter().flat_map(|terms| terms.iter()).map(|(key, _)| key.to_owned()));
        }
    }
    if stated.is_empty() {
        return;
    }
    let both: Movement = main.movement(label).intersection(other.movement(label));
    let mut terms = Object::new();
    for key in stated {
        let value = match key.as_str() {
            "places" => Value::Array(both.places.iter().map(|place| Value::from(place.name())).collect()),
            "derived" => Value::from(both.derived.name()),
            "cache" => Value::from(if both.cache { "kept" } else { "none" }),
            _ => both.retain_days.map_or(Value::Null, |days| Value::Number(Number::from_u64(u64::from(days)))),
        };
        if !value.is_null() {
            terms.set(key, value);
        }
    }
    let name = known(draft, label);
    draft.movement.insert(name, terms);
}

/// What a policy states of a label, if an output of this kind has more.
fn exceeded(policy: &Policy, label: &Label, kind: Derived, data: &str) -> Option<String> {
    let states = |part: &str| policy.movement_of(part).is_some_and(|terms| terms.contains("derived"));
    let derived = policy.movement(label).derived;
    let exceeds = label.name().split('+').any(states) && !derived.allows(kind);
    exceeds.then(|| {
        format!(
            "`{}` of {data} may be in derived outputs as `{}` at most, not as {}",
            label.name(),
            derived.name(),
            words(kind)
        )
    })
}

fn words(kind: Derived) -> &'static str {
    if kind == Derived::Redacted { "redacted records" } else { "records" }
}

/// Refuses a version of a dataset that lets out more than the one before. Says whether a stated reason was needed.
pub(super) fn check_widening(policy: &Policy, target: &Target, declassify: Option<&str>) -> Outcome<bool> {
    let wider = target.head.as_ref().map_or_else(Vec::new, |(_, head)| policy.wider_than(head));
    if wider.is_empty() || declassify.is_some() {
        return Ok(!wider.is_empty());
    }
    Err(Refusal::denied(
        Code::E122,
        format!("this lets more audiences see something than before: {}", wider.join("; ")),
        "say why with `--declassify REASON`, or name another dataset with `--to`",
    ))
}
