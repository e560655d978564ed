//! What a registered schema asks of an import: records that fit it, and the labels that it states.
//!
//! *Invariant:* the labels of a schema are laid over the policy once, with the first whole import after it was
//! registered; what they let out needs the same reason as any other label.

use heldset_core::code::Code;
use heldset_core::fault::Problem;
use heldset_core::record::Record;
use heldset_core::schema::Schema;
use heldset_core::visibility::Policy;
use heldset_grade::Conform;
use heldset_store::StoreError;

use super::schema_of;
use crate::import::{Labelling, Target};
use crate::refusal::{Outcome, Refusal};

/// A schema that records are held to.
pub(crate) struct Checker {
    schema: Schema,
    /// The judge of a schema that was given as a JSON Schema.
    given: Option<Conform>,
}

impl Checker {
    /// The checker of a schema at rest.
    pub(crate) fn of(text: &str) -> Outcome<Checker> {
        let schema = schema_of(text)?;
        let given = Conform::to(&schema).map_err(|_| StoreError::damaged("catalog: a schema"))?;
        Ok(Checker { schema, given })
    }

    /// The schema.
    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Adds what is wrong with a record.
    pub(crate) fn check(&self, record: &Record<'_>, problems: &mut Vec<Problem>) {
        match &self.given {
            Some(given) => given.check(record, problems),
            None => self.schema.check(record, problems),
        }
    }

    /// Refuses a record that does not fit, with the first reason that is about a field the caller sees.
    pub(crate) fn refuse(&self, record: &Record<'_>, seen: &dyn Fn(&str) -> bool) -> Outcome<()> {
        let mut problems = Vec::new();
        self.check(record, &mut problems);
        let about = |problem: &Problem| match problem.path.steps().first() {
            Some(heldset_core::path::Step::Key(name)) => seen(name),
            _ => true,
        };
        problems.into_iter().find(about).map_or(Ok(()), |problem| {
            let message = format!("record `{}`: {}", record.id.as_str(), problem.message);
            let help = problem.help.unwrap_or_else(|| format!("see `heldset explain {}`", problem.code.name()));
            Err(Refusal::invalid(problem.code, message, help))
        })
    }
}

impl Target {
    /// What records are held to, if a schema is registered.
    pub(crate) fn checker(&self) -> Outcome<Option<Checker>> {
        self.schema.as_deref().map(Checker::of).transpose()
    }

    /// What is stated about labels, with what a schema states that no version has had yet.
    pub(crate) fn labelled(&self, labelling: &Labelling) -> Outcome<Labelling> {
        let mut labelling = labelling.clone();
        for (field, label) in self.stated_labels()? {
            let said = labelling.labels.iter().any(|(name, _)| *name == field);
            let in_policy = labelling.policy.as_ref().is_some_and(|policy| policy.fields.contains_key(&field));
            if !said && !in_policy {
                labelling.labels.push((field, label));
            }
        }
        Ok(labelling)
    }

    /// Refuses a change of single rows while a new schema states labels that the head does not have.
    pub(crate) fn check_labels_stand(&self) -> Outcome<()> {
        let Some((_, policy)) = &self.head else { return Ok(()) };
        let stated = self.stated_labels()?;
        let Some((field, label)) = stated.iter().find(|(field, label)| !stands(policy, field, label)) else {
            return Ok(());
        };
        let slug = &self.dataset.slug;
        Err(Refusal::usage(
            Code::E103,
            format!(
                "the newest schema labels `{field}` as `{label}`, and labels cannot change together with single rows"
            ),
            format!("lay the labels over the records first: `heldset import {slug} --label {field}={label}`"),
        ))
    }

    fn stated_labels(&self) -> Outcome<Vec<(String, String)>> {
        let Some(text) = self.schema.as_deref() else { return Ok(Vec::new()) };
        if self.head.as_ref().is_some_and(|(version, _)| version.schema == text) {
            return Ok(Vec::new());
        }
        let schema = schema_of(text)?;
        let labels = schema.fields().iter().filter_map(|field| Some((field.name.clone(), field.visibility.clone()?)));
        Ok(labels.collect())
    }
}

/// Whether a field has a label in some split of a policy.
fn stands(policy: &Policy, field: &str, label: &str) -> bool {
    let mut splits = policy.splits().filter_map(|(split, _)| policy.in_split(split).ok());
    splits.any(|labels| labels.of(field).name() == label)
}
