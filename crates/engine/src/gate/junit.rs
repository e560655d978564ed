//! A verdict as JUnit XML: one test case for each planned session, and one for the verdict.
//!
//! *Invariant:* names and numbers only.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

use super::{Case, Ending, Gated};
use crate::cat::unwritten;
use crate::refusal::Outcome;
use crate::results::RowOutcome;

impl Gated {
    /// The JUnit file.
    pub fn junit(&self) -> Outcome<String> {
        let mut report = Report::new(format!("heldset: {}", self.doc.name));
        let mut sessions = TestSuite::new(format!("{}@{}", self.doc.dataset, self.doc.version));
        for (name, value) in self.facts() {
            sessions.add_property(Property::new(name, value));
        }
        let several = self.cases.iter().any(|case| case.repeat > 0);
        sessions.add_test_cases(self.cases.iter().map(|case| case.junit(&self.doc.dataset, several)));
        let mut verdict = TestSuite::new("gate");
        for (name, value) in self.facts() {
            verdict.add_property(Property::new(name, value));
        }
        verdict.add_test_case(self.verdict_case());
        report.add_test_suite(sessions).add_test_suite(verdict);
        report.to_string().map_err(|error| unwritten(&std::io::Error::other(error.to_string())))
    }

    fn verdict_case(&self) -> TestCase {
        let mut status = match self.ending() {
            Ending::Pass => TestCaseStatus::success(),
            Ending::Incomplete => TestCaseStatus::non_success(NonSuccessKind::Error),
            Ending::Fail | Ending::Inconclusive => TestCaseStatus::non_success(NonSuccessKind::Failure),
        };
        status.set_message(self.line()).set_type(self.answer());
        let mut case = TestCase::new("verdict", status);
        case.set_classname(format!("{}.gate", self.doc.dataset));
        case
    }
}

impl Case {
    fn junit(&self, dataset: &str, several: bool) -> TestCase {
        let mut status = match self.outcome {
            RowOutcome::Pass => TestCaseStatus::success(),
            RowOutcome::Fail => TestCaseStatus::non_success(NonSuccessKind::Failure),
            RowOutcome::Error => TestCaseStatus::non_success(NonSuccessKind::Error),
            RowOutcome::Unscored | RowOutcome::Skipped => TestCaseStatus::skipped(),
        };
        if self.outcome != RowOutcome::Pass {
            let message = match self.failure {
                Some(kind) => format!("{}: {kind}", self.outcome.name()),
                None => self.outcome.name().to_owned(),
            };
            status.set_message(message).set_type(self.outcome.name());
        }
        let name = if several { format!("{} #{}", self.name, self.repeat) } else { self.name.clone() };
        let mut case = TestCase::new(name, status);
        case.set_classname(format!("{dataset}.{}", self.scenario));
        case.set_time(Duration::try_from_secs_f64(self.run_ms / 1000.0).unwrap_or_default());
        case
    }
}
