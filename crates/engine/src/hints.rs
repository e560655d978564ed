//! What is legal and unwise in a dataset: told once per file, with a count and the first record.

use std::sync::atomic::{AtomicUsize, Ordering};

use heldset_core::code::Code;
use heldset_core::fault::{Fault, Problem};
use heldset_core::path::Path;
use heldset_core::prepare::letters;
use heldset_core::record::Record;
use heldset_core::value::{Object, Value};
use heldset_dialect::Each;

/// A reference of at least this many words that ends like a sentence is one.
const SENTENCE_WORDS: usize = 5;
/// Shorter inputs repeat by nature.
const COMPARED_WORDS: usize = 3;
/// How many inputs are compared; in larger files the hint is about the first ones.
const COMPARED_INPUTS: usize = 100_000;
/// Beside these, equal inputs are different cases.
const GIVEN_TOO: &[&str] =
    &["context", "tools", "memory_seeds", "session_id", "agent_args", "extra_vars", "tool_fixtures", "rubric_vars"];
/// With fewer references than this, a missing one says nothing.
const ENOUGH_REFERENCES: u64 = 5;

/// What is seen of a record.
#[derive(Default)]
pub(crate) struct Look {
    seen: AtomicUsize,
}

/// One record, as far as hints are concerned.
pub(crate) struct Seen {
    sentence: bool,
    quotes: bool,
    referenced: Option<bool>,
    words: Option<u64>,
    /// Only for a record that a hint may name.
    id: Option<String>,
}

impl Look {
    /// Whether this record is among those whose inputs are compared. Workers write the counter only as long as needed.
    fn is_compared(&self) -> bool {
        self.seen.load(Ordering::Relaxed) < COMPARED_INPUTS
            && self.seen.fetch_add(1, Ordering::Relaxed) < COMPARED_INPUTS
    }
}

impl Each for Look {
    type Out = Seen;
    type Scratch = ();

    const SHALLOW: bool = true;

    fn record(&self, _scratch: &mut (), record: Record<'_>) -> Seen {
        let fields = &record.fields;
        let mut seen = Seen {
            sentence: fields.get("expected_output").and_then(Value::as_str).is_some_and(is_sentence),
            quotes: fields
                .get("expected_outcomes")
                .and_then(Value::as_array)
                .is_some_and(|outcomes| outcomes.iter().filter_map(Value::as_str).any(quotes_words)),
            referenced: fields.contains("input").then(|| is_referenced(fields)),
            words: match self.is_compared() {
                true => words_of(fields),
                false => None,
            },
            id: None,
        };
        if seen.sentence || seen.quotes || seen.referenced == Some(false) {
            seen.id = Some(record.id.as_str().to_owned());
        }
        seen
    }
}

/// What was seen of all records.
#[derive(Default)]
pub(crate) struct Hints {
    sentences: Count,
    quotes: Count,
    unreferenced: Count,
    referenced: u64,
    /// The letters of each input, and which record it is of.
    words: Vec<(u64, u32)>,
    records: u32,
}

#[derive(Default)]
struct Count {
    count: u64,
    first: Option<String>,
}

impl Count {
    fn add(&mut self, id: Option<&String>) {
        self.count += 1;
        if self.first.is_none() {
            self.first = id.cloned();
        }
    }

    fn hint(&self, code: Code, field: &str, what: &str, help: &str) -> Option<Fault> {
        let first = self.first.as_ref()?;
        let message = format!("{what}: {}, first in record `{first}`", self.count);
        Some(Problem::new(code, Path::key(field), message).help(help).of_file())
    }
}

impl Hints {
    pub(crate) fn add(&mut self, seen: Seen) {
        let id = seen.id.as_ref();
        if seen.sentence {
            self.sentences.add(id);
        }
        if seen.quotes {
            self.quotes.add(id);
        }
        match seen.referenced {
            Some(true) => self.referenced += 1,
            Some(false) => self.unreferenced.add(id),
            None => {}
        }
        self.words.extend(seen.words.map(|words| (words, self.records)));
        self.records = self.records.saturating_add(1);
    }

    pub(crate) fn into_faults(mut self) -> Vec<Fault> {
        self.words.sort_unstable();
        let pairs = self.words.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        let (repeated, first) = pairs.fold((0, u32::MAX), |(count, first), pair| (count + 1, first.min(pair[1].1)));
        let sentences = self.sentences.hint(
            Code::H001,
            "expected_output",
            "references that are whole sentences",
            "an exact match will rarely pass: shorten them, or grade with `contains` or a judge",
        );
        let quotes = self.quotes.hint(
            Code::H002,
            "expected_outcomes",
            "cases whose outcomes quote exact words",
            "describe the behaviour; put exact words into `expected_output`",
        );
        let unreferenced = self.unreferenced.hint(
            Code::H004,
            "expected_output",
            "cases without a reference",
            "graders that need one will leave them unscored",
        );
        let unreferenced = unreferenced.filter(|_| self.referenced >= ENOUGH_REFERENCES);
        let repeated = (repeated > 0).then(|| {
            let message = format!(
                "inputs that repeat an earlier one but for case, spaces and punctuation: {repeated}, first in record number {}",
                first + 1
            );
            Problem::new(Code::H003, Path::key("input"), message)
                .help("near-duplicates count twice in every score: remove them, or keep them on purpose")
                .of_file()
        });
        [sentences, quotes, repeated, unreferenced].into_iter().flatten().collect()
    }
}

fn is_sentence(text: &str) -> bool {
    text.ends_with(['.', '!', '。']) && text.split_whitespace().nth(SENTENCE_WORDS - 1).is_some()
}

/// Whether a text holds two or more words in quotation marks.
fn quotes_words(text: &str) -> bool {
    let mut parts = text.split(['"', '“', '”']);
    parts.next();
    parts.step_by(2).any(|quoted| quoted.split_whitespace().nth(1).is_some())
}

fn is_referenced(fields: &Object<'_>) -> bool {
    fields.iter().any(|(name, value)| heldset_core::case::is_answer(name) && !value.is_null())
}

/// A hash of the letters of an input and its turns, without case, spaces and punctuation. None for an input that is
/// short, or that stands beside other things an agent is given.
fn words_of(fields: &Object<'_>) -> Option<u64> {
    let input = fields.get("input")?.as_str()?;
    if GIVEN_TOO.iter().any(|name| fields.contains(name)) || input.split_whitespace().nth(COMPARED_WORDS - 1).is_none()
    {
        return None;
    }
    let turns = fields.get("turns").and_then(Value::as_array).unwrap_or_default();
    let contents = turns.iter().filter_map(|turn| turn.as_object()?.get("content")?.as_str());
    Some(letters(std::iter::once(input).chain(contents)))
}
