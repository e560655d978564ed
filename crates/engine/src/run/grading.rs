//! Scoring what agents did: graders are asked about each record, and those they must ask outside are asked together.
//!
//! *Invariant:* called only with outputs that are stored; a failure of a grader is an error, never a score.

use heldset_core::code::Code;
use heldset_core::digest::{Digest, tagged_value};
use heldset_core::fault::Problem;
use heldset_core::plan::{GraderSpec, Plan};
use heldset_core::record::Record;
use heldset_core::run::score_key;
use heldset_core::trace::Trace;
use heldset_core::value::{Object, Value};
use heldset_grade::{Ask, Graded, Grader, Move, Pending, Scored, Subject, default_graders};

use crate::agents::Helpers;
use crate::refusal::{Outcome, Refusal};
use crate::results::{RowOutcome, Score};

/// The graders of a run.
pub(crate) struct Graders {
    graders: Vec<Grader>,
    /// Whether the plan names none.
    is_default: bool,
}

/// What is graded.
pub(crate) struct Graded1<'g> {
    /// The record as an evaluator sees it.
    pub(crate) record: &'g Record<'g>,
    /// What the agent did.
    pub(crate) trace: &'g Trace,
    /// The run key.
    pub(crate) key: Digest,
    /// Scores of the same output that are known.
    pub(crate) known: &'g [Score],
}

impl Graders {
    /// The graders of a plan.
    pub(crate) fn of(plan: &Plan) -> Outcome<Graders> {
        let is_default = plan.graders.is_empty();
        let specs: Vec<GraderSpec> = if is_default { default_graders() } else { plan.graders.clone() };
        let graders = specs.iter().map(|spec| Grader::new(spec).map_err(|problem| refused(&spec.name, problem)));
        Ok(Graders { graders: graders.collect::<Outcome<_>>()?, is_default })
    }

    /// Names and digests.
    pub(crate) fn digests(&self) -> Vec<(String, String)> {
        let digest = |grader: &Grader| tagged_value("grader", &grader.identity()).to_string();
        self.graders.iter().map(|grader| (grader.name().to_owned(), digest(grader))).collect()
    }

    /// Whether the plan names none.
    pub(crate) fn is_default(&self) -> bool {
        self.is_default
    }

    /// The graders.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Grader> {
        self.graders.iter()
    }

    /// Scores records, all graders of all of them side by side.
    pub(crate) fn grade(&self, subjects: &[Graded1<'_>], helpers: &mut dyn Helpers) -> Vec<Vec<Score>> {
        let mut all: Vec<Vec<Option<Score>>> = Vec::with_capacity(subjects.len());
        let mut waiting: Vec<(usize, usize, Vec<Ask>, Pending)> = Vec::new();
        for (index, subject) in subjects.iter().enumerate() {
            let mut scores: Vec<Option<Score>> = Vec::with_capacity(self.graders.len());
            for (place, grader) in self.graders.iter().enumerate() {
                let key = self.score_key(grader, subject);
                let known = subject.known.iter().find(|score| score.key == key && score.problem.is_none());
                let moved = match known {
                    Some(known) => {
                        scores.push(Some(known.clone()));
                        continue;
                    }
                    None => grader.grade(subject.subject()),
                };
                scores.push(self.take(moved, (index, place), &key, &mut waiting));
            }
            all.push(scores);
        }
        while !waiting.is_empty() {
            // A reward is made of the other scores, so it waits for them.
            let (mut asked, rewards): (Vec<_>, Vec<_>) =
                std::mem::take(&mut waiting).into_iter().partition(|(_, _, asks, _)| !asks.iter().any(is_reward));
            if asked.is_empty() {
                asked = rewards;
                asked.iter_mut().for_each(|(index, _, asks, _)| add_grades(asks, &all[*index]));
            } else {
                waiting = rewards;
            }
            let counts: Vec<usize> = asked.iter().map(|(_, _, asks, _)| asks.len()).collect();
            let asks: Vec<Ask> = asked.iter_mut().flat_map(|(_, _, asks, _)| std::mem::take(asks)).collect();
            let mut answers = helpers.ask(asks).into_iter();
            for ((index, place, _, pending), count) in asked.into_iter().zip(counts) {
                let own: Vec<_> = answers.by_ref().take(count).collect();
                let (subject, grader) = (&subjects[index], &self.graders[place]);
                let moved = grader.resume(subject.subject(), pending, own);
                let key = self.score_key(grader, subject);
                all[index][place] = self.take(moved, (index, place), &key, &mut waiting);
            }
        }
        all.into_iter().map(|scores| scores.into_iter().flatten().collect()).collect()
    }

    fn take(
        &self,
        moved: Move,
        (index, place): (usize, usize),
        key: &str,
        waiting: &mut Vec<(usize, usize, Vec<Ask>, Pending)>,
    ) -> Option<Score> {
        match moved {
            Move::Done(graded) => Some(self.score(place, graded, key)),
            Move::Ask(asks, pending) => {
                waiting.push((index, place, asks, pending));
                None
            }
        }
    }

    fn score(&self, place: usize, graded: Graded, key: &str) -> Score {
        let (score, pass, problem) = match graded.outcome {
            Scored::Score { score, .. } if !score.is_finite() => {
                (None, None, Some("error: the score is not a number".to_owned()))
            }
            Scored::Score { score, pass } => (Some(score), Some(pass), None),
            Scored::Unscored(why) if self.is_default && why.contains("no reference") => {
                (None, None, Some("unscored: no grader".to_owned()))
            }
            Scored::Unscored(why) => (None, None, Some(format!("unscored: {why}"))),
            Scored::Error(why) => (None, None, Some(format!("error: {why}"))),
        };
        let name = self.graders[place].name().to_owned();
        Score { name, score, pass, problem, rationale: graded.rationale, details: graded.details, key: key.to_owned() }
    }

    fn score_key(&self, grader: &Grader, subject: &Graded1<'_>) -> String {
        let expected = grader.used(&subject.record.fields);
        score_key(subject.key, &expected, &grader.identity()).hex()
    }
}

impl Graded1<'_> {
    fn subject(&self) -> Subject<'_> {
        Subject { id: self.record.id.as_str(), fields: &self.record.fields, trace: self.trace }
    }
}

fn is_reward(ask: &Ask) -> bool {
    matches!(ask, Ask::Python { role: "reward", .. })
}

/// Gives a reward the scores that it is made of.
fn add_grades(asks: &mut [Ask], scores: &[Option<Score>]) {
    let grades: Object<'static> =
        scores.iter().flatten().map(|score| (score.name.clone().into(), score.to_value())).collect();
    for ask in asks {
        if let Ask::Python { payload: Value::Object(payload), .. } = ask {
            payload.set("grades", Value::Object(grades.clone()));
        }
    }
}

/// How a session ended, by its failure or its scores, and why.
pub(crate) fn outcome(failure: Option<&str>, scores: &[Score]) -> (RowOutcome, Option<String>) {
    if let Some(failure) = failure {
        return (RowOutcome::Error, Some(failure.to_owned()));
    }
    let problem_of = |prefix: &str| {
        let found = scores.iter().find(|score| score.problem.as_deref().is_some_and(|why| why.starts_with(prefix)));
        found.map(|score| format!("{}: {}", score.name, score.problem.as_deref().unwrap_or_default()))
    };
    if let Some(error) = problem_of("error: ") {
        return (RowOutcome::Error, Some(error));
    }
    if let Some(unscored) = problem_of("unscored: ") {
        return (RowOutcome::Unscored, Some(unscored));
    }
    match scores {
        [] => (RowOutcome::Unscored, Some("no grader".to_owned())),
        scores if scores.iter().all(|score| score.pass == Some(true)) => (RowOutcome::Pass, None),
        _ => (RowOutcome::Fail, None),
    }
}

fn refused(name: &str, problem: Problem) -> Box<Refusal> {
    let help = problem.help.unwrap_or_else(|| format!("see `heldset explain {}`", Code::E059.name()));
    Refusal::usage(problem.code, format!("grader `{name}`: {}", problem.message), help)
}
