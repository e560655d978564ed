//! The course of a grading: extract, score, ask where somebody must be asked, and put the turns together.
//!
//! *Invariant:* a turn that failed makes the whole fail; a mean is only taken over turns that were all scored.

use heldset_core::trace::StepKind;
use heldset_core::value::{Object, Value};

use crate::case::{Case, Submission};
use crate::extract::{Extraction, Extractor};
use crate::grader::Grader;
use crate::rules::{Next, Verdict};
use crate::text::number;
use crate::{Answer, Ask, Graded, Move, Pending, Scored, Subject};

/// One thing to grade, and how far it has come.
#[derive(Debug)]
pub(crate) struct Unit {
    /// The turn; absent when the session is graded as a whole.
    turn: Option<usize>,
    state: State,
}

#[derive(Debug)]
enum State {
    /// A custom extractor was asked.
    Extracting,
    /// The rule asked so many.
    Asked {
        submission: Submission,
        count: usize,
    },
    Done {
        verdict: Verdict,
        submission: Option<String>,
    },
}

impl Grader {
    /// Starts to grade.
    pub fn grade(&self, subject: Subject<'_>) -> Move {
        let turns: Vec<usize> = self.turns(subject.fields).into_iter().map(|(turn, _)| turn).collect();
        let mut asks = Vec::new();
        let units = if turns.is_empty() {
            vec![Unit { turn: None, state: self.open(&self.case(subject, None), &mut asks) }]
        } else {
            let open = |turn: usize| {
                let state = match is_answered(subject, turn) {
                    true => self.open(&self.case(subject, Some(turn)), &mut asks),
                    false => failed(format!("turn {} was not answered", turn + 1)),
                };
                Unit { turn: Some(turn), state }
            };
            turns.into_iter().map(open).collect()
        };
        self.settle(units, asks)
    }

    /// Goes on with answers.
    pub fn resume(&self, subject: Subject<'_>, pending: Pending, answers: Vec<Answer>) -> Move {
        let mut answers = answers.into_iter().chain(std::iter::repeat_with(|| Err("there was no answer".to_owned())));
        let mut asks = Vec::new();
        let mut units = Vec::new();
        for Unit { turn, state } in pending.units {
            let case = self.case(subject, turn);
            let state = match state {
                State::Extracting => {
                    let answer = answers.next().unwrap_or_else(|| Err("there was no answer".to_owned()));
                    self.extracted(&case, Extractor::answered(answer), &mut asks)
                }
                State::Asked { submission, count } => {
                    let verdict = self.rule.finish(&case, answers.by_ref().take(count).collect());
                    State::Done { verdict, submission: self.shown(submission) }
                }
                done => done,
            };
            units.push(Unit { turn, state });
        }
        self.settle(units, asks)
    }

    fn case<'c>(&'c self, subject: Subject<'c>, turn: Option<usize>) -> Case<'c> {
        match turn {
            None => {
                let reference = self.reference.find(subject.fields, self.rule.usual());
                Case::of(subject, &subject.trace.turns, reference)
            }
            Some(turn) => {
                let turns = subject.trace.turns.get(turn..=turn).unwrap_or_default();
                let reference = self.turns(subject.fields).into_iter().find(|(place, _)| *place == turn);
                Case::of(subject, turns, reference.map(|(_, reference)| reference))
            }
        }
    }

    fn open(&self, case: &Case<'_>, asks: &mut Vec<Ask>) -> State {
        if case.reference.is_none() && self.rule.takes_reference() {
            let verdict = match self.compat {
                true => Verdict::score(0.0, "no reference"),
                false => Verdict::Unscored(self.lacks()),
            };
            return State::Done { verdict, submission: None };
        }
        if self.compat && case.turns.iter().all(|turn| turn.steps.is_empty() && turn.output.is_none()) {
            // The released code does not even extract from an empty session.
            let verdict = Verdict::score(0.0, "the agent said nothing");
            return State::Done { verdict, submission: Some(String::new()) };
        }
        if !self.rule.reads_output() {
            return self.submitted(case, Submission { text: String::new(), value: None }, asks);
        }
        self.extracted(case, self.extractor.extract(case, self.compat), asks)
    }

    fn extracted(&self, case: &Case<'_>, extraction: Extraction, asks: &mut Vec<Ask>) -> State {
        match extraction {
            Extraction::Ask(ask) => {
                asks.push(ask);
                State::Extracting
            }
            Extraction::Failed(failure) => failed(failure),
            Extraction::Nothing(reason) if !self.compat => failed(format!("extractor found nothing: {reason}")),
            Extraction::Found(submission) if !self.compat || !submission.text.is_empty() => {
                self.submitted(case, submission, asks)
            }
            Extraction::Nothing(_) | Extraction::Found(_) => {
                State::Done { verdict: Verdict::score(0.0, "extractor found nothing"), submission: Some(String::new()) }
            }
        }
    }

    fn submitted(&self, case: &Case<'_>, submission: Submission, asks: &mut Vec<Ask>) -> State {
        match self.rule.start(case, &submission, self.compat) {
            Next::Done(verdict) => State::Done { verdict, submission: self.shown(submission) },
            Next::Ask(asked) => {
                let count = asked.len();
                asks.extend(asked);
                State::Asked { submission, count }
            }
        }
    }

    fn shown(&self, submission: Submission) -> Option<String> {
        self.rule.reads_output().then_some(submission.text)
    }

    /// Asks when there is something to ask, and ends otherwise.
    fn settle(&self, units: Vec<Unit>, asks: Vec<Ask>) -> Move {
        if !asks.is_empty() {
            return Move::Ask(asks, Pending { units });
        }
        let mut done: Vec<(Option<usize>, Verdict, Option<String>)> = Vec::new();
        for unit in units {
            match unit.state {
                State::Done { verdict, submission } => done.push((unit.turn, self.signed(verdict), submission)),
                _ => done.push((unit.turn, Verdict::Error("the grading did not end".to_owned()), None)),
            }
        }
        Move::Done(match done.as_slice() {
            [(None, verdict, submission)] => self.whole(verdict.clone(), submission.clone()),
            turns => self.together(turns),
        })
    }

    /// A negated grader wants the opposite.
    fn signed(&self, verdict: Verdict) -> Verdict {
        match verdict {
            Verdict::Score { score, rationale, details } if self.negate => {
                Verdict::Score { score: 1.0 - score, rationale, details }
            }
            other => other,
        }
    }

    fn scored(&self, score: f64) -> Scored {
        Scored::Score { score, pass: score >= self.threshold }
    }

    fn whole(&self, verdict: Verdict, submission: Option<String>) -> Graded {
        let (outcome, rationale, details) = match verdict {
            Verdict::Score { score, rationale, details } => (self.scored(score), rationale, details),
            Verdict::Unscored(reason) => (Scored::Unscored(reason), None, None),
            Verdict::Error(reason) => (Scored::Error(reason), None, None),
        };
        Graded { outcome, rationale, submission, details: details.map(Value::Object) }
    }

    /// The mean over turns, with what each came to.
    fn together(&self, turns: &[(Option<usize>, Verdict, Option<String>)]) -> Graded {
        let first = |wanted: fn(&Verdict) -> Option<&String>| {
            turns.iter().find_map(|(turn, verdict, _)| Some((turn.unwrap_or_default() + 1, wanted(verdict)?)))
        };
        let error = first(|verdict| if let Verdict::Error(reason) = verdict { Some(reason) } else { None });
        let unscored = first(|verdict| if let Verdict::Unscored(reason) = verdict { Some(reason) } else { None });
        let scores = turns.iter().filter_map(|(_, verdict, _)| match verdict {
            Verdict::Score { score, .. } => Some(*score),
            _ => None,
        });
        let outcome = match (error, unscored) {
            (Some((_, reason)), _) if reason.starts_with("turn ") => Scored::Error(reason.clone()),
            (Some((turn, reason)), _) => Scored::Error(format!("turn {turn}: {reason}")),
            (None, Some((turn, reason))) => Scored::Unscored(format!("turn {turn}: {reason}")),
            (None, None) => self.scored(scores.sum::<f64>() / turns.len() as f64),
        };
        let submissions: Vec<&str> = turns.iter().filter_map(|(_, _, submission)| submission.as_deref()).collect();
        let mut details = Object::new();
        details.set("turns", Value::Array(turns.iter().map(told).collect()));
        Graded {
            outcome,
            rationale: None,
            submission: (!submissions.is_empty()).then(|| submissions.join("\n")),
            details: Some(details.into()),
        }
    }
}

fn failed(reason: String) -> State {
    State::Done { verdict: Verdict::Error(reason), submission: None }
}

fn is_answered(subject: Subject<'_>, turn: usize) -> bool {
    subject.trace.turns.get(turn).is_some_and(|turn| {
        turn.output.is_some() || turn.steps.iter().any(|step| step.kind == StepKind::Message && step.output.is_some())
    })
}

fn told((turn, verdict, submission): &(Option<usize>, Verdict, Option<String>)) -> Value<'static> {
    let mut told = Object::new();
    told.set("turn", i64::try_from(turn.unwrap_or_default()).unwrap_or(i64::MAX).into());
    match verdict {
        Verdict::Score { score, rationale, details } => {
            told.set("score", number(*score));
            if let Some(rationale) = rationale {
                told.set("rationale", rationale.clone().into());
            }
            if let Some(details) = details {
                told.set("details", details.clone().into());
            }
        }
        Verdict::Unscored(reason) => told.set("unscored", reason.clone().into()),
        Verdict::Error(reason) => told.set("error", reason.clone().into()),
    }
    if let Some(submission) = submission {
        told.set("submission", submission.clone().into());
    }
    told.into()
}
