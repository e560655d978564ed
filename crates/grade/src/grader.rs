//! A grader that is ready to be used.
//!
//! *Invariant:* what it needs of a case is known before the case is run.

use heldset_core::fault::Problem;
use heldset_core::plan::GraderSpec;
use heldset_core::value::{Object, Value};

use crate::case::{Reference, expected_turns};
use crate::configure;
use crate::extract::Extractor;
use crate::rules::Rule;

/// A grader that is ready: its configuration is checked.
#[derive(Debug)]
pub struct Grader {
    pub(crate) name: String,
    pub(crate) display_name: Option<String>,
    pub(crate) weight: f64,
    pub(crate) threshold: f64,
    pub(crate) negate: bool,
    pub(crate) compat: bool,
    pub(crate) reference: Reference,
    pub(crate) identity: Value<'static>,
    pub(crate) extractor: Extractor,
    pub(crate) rule: Rule,
}

impl Grader {
    /// The grader that a specification is; every fault of it is found here.
    pub fn new(spec: &GraderSpec) -> Result<Grader, Problem> {
        configure::grader(spec)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name it is shown by.
    pub fn display_name(&self) -> &str {
        self.display_name.as_deref().unwrap_or(&self.name)
    }

    /// What it counts among others, 1 unless configured.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// From which score on a case passes.
    pub fn pass_threshold(&self) -> f64 {
        self.threshold
    }

    /// What two graders must have in common to give the same scores: rules, prompt, model, parser version.
    pub fn identity(&self) -> Value<'static> {
        self.identity.clone()
    }

    /// The expected fields it uses, for the score key. A reference in another field, or a grader that is handed the
    /// whole record, is only told by [`Grader::used`].
    pub fn uses(&self) -> &[&'static str] {
        match &self.rule {
            Rule::Outcomes(_) => &["expected_outcomes", "expected_trajectory"],
            Rule::Rubric(_) => &["expected_output", "expected_turns", "rubric", "rubric_vars"],
            Rule::Custom(_) => &[
                "expected_output",
                "expected_turns",
                "expected_outcomes",
                "expected_trajectory",
                "expected_sources",
                "rubric",
                "rubric_vars",
            ],
            Rule::Retrieval(_) => &["expected_sources"],
            Rule::Tools(_) => &["expected_output", "expected_turns", "expected_trajectory"],
            Rule::Budget(_) => &[],
            _ => &["expected_output", "expected_turns"],
        }
    }

    /// The fields of a record that it uses, for the score key: the expected ones, that of its own reference, and all
    /// of them for a grader that is handed the whole record.
    pub fn used(&self, fields: &Object<'_>) -> Object<'static> {
        let own = match &self.reference {
            Reference::At(path) if fields.contains(path) => Some(path.as_str()),
            Reference::At(path) => path.split('.').next(),
            _ => None,
        };
        let metadata = matches!(self.rule, Rule::Retrieval(_)).then_some("metadata");
        let wanted = |key: &str| {
            matches!(self.rule, Rule::Custom(_))
                || self.uses().contains(&key)
                || own == Some(key)
                || metadata == Some(key)
        };
        let mut used = Object::new();
        for (key, value) in fields.iter().filter(|(key, _)| wanted(key)) {
            used.set(key.to_owned(), value.clone().into_owned());
        }
        used
    }

    /// Why a case cannot be scored by it, before anything is run: no reference, an unknown name in its own template.
    pub fn problem_of(&self, fields: &Object<'_>) -> Option<String> {
        let turns = self.turns(fields);
        if turns.is_empty() {
            let reference = self.reference.find(fields, self.rule.usual());
            if reference.is_none() && self.rule.takes_reference() && !self.compat {
                return Some(self.lacks());
            }
            return self.rule.problem(fields, reference, self.compat);
        }
        turns.iter().find_map(|(_, reference)| self.rule.problem(fields, Some(reference), self.compat))
    }

    /// What must stop a run before it begins: a name in a template that a record does not have.
    pub fn fault_of(&self, fields: &Object<'_>) -> Option<Problem> {
        match &self.rule {
            Rule::Rubric(rubric) => rubric.fault(fields),
            _ => None,
        }
    }

    /// The turns to grade one by one; none when the session is graded as a whole.
    pub(crate) fn turns<'v>(&self, fields: &'v Object<'v>) -> Vec<(usize, &'v Value<'v>)> {
        match self.reference {
            Reference::Usual if self.rule.grades_turns() => expected_turns(fields),
            _ => Vec::new(),
        }
    }

    /// That there is no reference, and where it should be.
    pub(crate) fn lacks(&self) -> String {
        let place = match &self.reference {
            Reference::At(path) => path.as_str(),
            _ => self.rule.usual()[0],
        };
        format!("no reference: `{place}` is missing")
    }
}
