//! Similarity: of letters, of words, or of meaning.
//!
//! *Invariant:* equal texts have similarity 1.

use std::collections::BTreeMap;

use heldset_core::fault::Problem;
use heldset_core::value::{Object, Value};
use rapidfuzz::distance::levenshtein;

use super::{Next, Verdict};
use crate::case::{Case, Submission};
use crate::judge::endpoint;
use crate::settings::Settings;
use crate::text::{lower, number_of, strip, text_of};
use crate::{Answer, Ask};

/// How alike the answer and the reference are.
#[derive(Debug)]
pub(crate) enum Similarity {
    /// By the edits between them.
    Edit,
    /// By the words they share (F1 over words, case ignored).
    Token,
    /// By the cosine of their embeddings.
    Semantic(Object<'static>),
}

impl Similarity {
    pub(super) fn read(settings: &Settings<'_>) -> Result<Self, Problem> {
        Ok(match settings.word("method", &["edit", "token", "semantic"])? {
            "semantic" => {
                let endpoint = endpoint::read(settings)?;
                if !endpoint.contains("model") {
                    return Err(settings.lacks("model"));
                }
                Similarity::Semantic(endpoint)
            }
            "token" => Similarity::Token,
            _ => Similarity::Edit,
        })
    }

    pub(super) fn start(&self, case: &Case<'_>, submission: &Submission) -> Next {
        let Some(reference) = case.reference.map(text_of) else {
            return Next::Done(Verdict::Unscored("no reference".to_owned()));
        };
        let (wanted, said) = (strip(&reference), strip(&submission.text));
        let score = match self {
            Similarity::Semantic(_) if wanted == said => 1.0,
            Similarity::Semantic(endpoint) => {
                let texts = vec![wanted.to_owned(), said.to_owned()];
                return Next::Ask(vec![Ask::Embed { endpoint: endpoint.clone(), texts }]);
            }
            Similarity::Edit => levenshtein::normalized_similarity(wanted.chars(), said.chars()),
            Similarity::Token => shared_words(wanted, said),
        };
        Next::Done(verdict(score))
    }
}

/// The cosine of two embeddings, as `[[…], […]]`, `{embeddings: …}` or `{data: [{embedding}]}`.
pub(super) fn finish(answers: Vec<Answer>) -> Verdict {
    let answer = match answers.into_iter().next() {
        Some(Ok(answer)) => answer,
        Some(Err(failure)) => return Verdict::Error(format!("no embedding: {failure}")),
        None => return Verdict::Error("no embedding".to_owned()),
    };
    let inner = answer.as_object().and_then(|answer| answer.get("embeddings").or_else(|| answer.get("data")));
    let list = inner.unwrap_or(&answer).as_array().unwrap_or_default();
    match list.iter().map(vector).collect::<Option<Vec<_>>>().as_deref() {
        Some([first, second]) if first.len() == second.len() && !first.is_empty() => match cosine(first, second) {
            Some(cosine) => verdict(cosine.clamp(0.0, 1.0)),
            None => Verdict::Error("an embedding is zero".to_owned()),
        },
        _ => Verdict::Error("the embeddings are not two lists of numbers of one length".to_owned()),
    }
}

fn verdict(score: f64) -> Verdict {
    Verdict::score(score, format!("similarity {score:.3}"))
}

fn vector(value: &Value<'_>) -> Option<Vec<f64>> {
    let numbers = value.as_object().and_then(|item| item.get("embedding")).unwrap_or(value);
    numbers.as_array()?.iter().map(number_of).collect()
}

fn cosine(first: &[f64], second: &[f64]) -> Option<f64> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let lengths = (dot(first, first) * dot(second, second)).sqrt();
    (lengths > 0.0).then(|| dot(first, second) / lengths)
}

fn shared_words(wanted: &str, said: &str) -> f64 {
    let (wanted, said) = (words(wanted), words(said));
    let total: usize = wanted.values().sum::<usize>() + said.values().sum::<usize>();
    let shared: usize = wanted.iter().map(|(word, count)| count.min(said.get(word).unwrap_or(&0))).sum();
    if total == 0 { 1.0 } else { 2.0 * shared as f64 / total as f64 }
}

fn words(text: &str) -> BTreeMap<String, usize> {
    let mut words = BTreeMap::new();
    for word in lower(text).split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()) {
        *words.entry(word.to_owned()).or_default() += 1;
    }
    words
}
