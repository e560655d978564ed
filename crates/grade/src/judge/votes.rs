//! Several answers of one judge, made into one.
//!
//! *Invariant:* an answer that was refused has no vote, and half of them refused leave nothing to decide.

use heldset_core::value::{Object, Value};

use super::answer::{Document, document, score};
use crate::Answer;
use crate::rules::Verdict;
use crate::text::number;

/// How votes become one score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Vote {
    Mean,
    Median,
    /// The mean of those on the side of the threshold where more are.
    Majority,
}

/// One answer, read.
type Ballot = Result<(f64, String), String>;

/// The verdict of all answers.
pub(super) fn count(answers: Vec<Answer>, vote: Vote, threshold: f64) -> Verdict {
    let asked = answers.len();
    let (mut ballots, mut usages, mut failure): (Vec<Ballot>, Vec<Value<'static>>, Option<String>) = Default::default();
    for answer in answers {
        match answer.map(document) {
            Ok(Ok(Document { members, usage })) => {
                usages.extend(usage);
                ballots.push(score(&members));
            }
            Ok(Err(refusal)) => ballots.push(Err(refusal)),
            Err(reason) => {
                failure = Some(reason.clone());
                ballots.push(Err(format!("the judge failed: {reason}")));
            }
        }
    }
    let valid: Vec<&(f64, String)> = ballots.iter().flatten().collect();
    if valid.len() * 2 <= asked {
        let refusal = ballots.iter().find_map(|ballot| ballot.as_ref().err().cloned());
        return match failure {
            Some(reason) => Verdict::Error(format!("the judge failed: {reason}")),
            None => Verdict::Unscored(refusal.unwrap_or_else(|| "the judge did not answer".to_owned())),
        };
    }
    let mut scores: Vec<f64> = valid.iter().map(|(score, _)| *score).collect();
    scores.sort_by(f64::total_cmp);
    let Some(score) = decide(&scores, vote, threshold) else {
        return Verdict::Unscored("the judge's votes are tied".to_owned());
    };
    // The reason of the vote that is nearest to the result stands for all.
    let nearest = valid.iter().min_by(|(a, _), (b, _)| (a - score).abs().total_cmp(&(b - score).abs()));
    let rationale = nearest.map(|(_, rationale)| rationale.clone());
    Verdict::Score { score, rationale, details: details(&ballots, usages) }
}

fn decide(sorted: &[f64], vote: Vote, threshold: f64) -> Option<f64> {
    let mean = |scores: &[f64]| scores.iter().sum::<f64>() / scores.len() as f64;
    Some(match vote {
        Vote::Mean => mean(sorted),
        Vote::Median => {
            let middle = sorted.len() / 2;
            if sorted.len() % 2 == 1 { sorted[middle] } else { mean(&sorted[middle - 1..=middle]) }
        }
        Vote::Majority => {
            let failing = sorted.partition_point(|score| *score < threshold);
            match (failing * 2).cmp(&sorted.len()) {
                std::cmp::Ordering::Equal => return None,
                std::cmp::Ordering::Less => mean(&sorted[failing..]),
                std::cmp::Ordering::Greater => mean(&sorted[..failing]),
            }
        }
    })
}

/// The votes, when there were several, and what they took.
fn details(ballots: &[Ballot], usages: Vec<Value<'static>>) -> Option<Object<'static>> {
    let mut details = Object::new();
    if ballots.len() > 1 {
        let vote = |ballot: &Ballot| {
            let mut vote = Object::new();
            match ballot {
                Ok((score, rationale)) => {
                    vote.set("score", number(*score));
                    vote.set("rationale", rationale.clone().into());
                }
                Err(refusal) => vote.set("refused", refusal.clone().into()),
            }
            Value::Object(vote)
        };
        details.set("votes", Value::Array(ballots.iter().map(vote).collect()));
    }
    if !usages.is_empty() {
        details.set("usage", Value::Array(usages));
    }
    (!details.is_empty()).then_some(details)
}
