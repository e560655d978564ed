//! Memories of agents: documents with a source that can be searched.
//!
//! *Invariant:* a hit returns source, content and metadata as they were indexed; equal scores keep the order of
//! indexing; a memory starts empty.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;

use heldset_core::value::{Object, Value};

/// A document in a memory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Document {
    /// Where it comes from.
    pub(crate) source: String,
    /// The text.
    pub(crate) content: String,
    /// What is stored beside it.
    pub(crate) metadata: Option<Value<'static>>,
}

/// A document that was found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Hit {
    /// The document.
    pub(crate) document: Document,
    /// How well it fits; more is better.
    pub(crate) score: f64,
}

/// Something that takes its time and may fail with a reason.
pub(crate) type Soon<'s, T> = Pin<Box<dyn Future<Output = Result<T, String>> + 's>>;

/// A memory back end.
pub(crate) trait Memory {
    /// Takes a document in.
    fn index_document<'m>(&'m mut self, document: Document) -> Soon<'m, ()>;

    /// The `k` documents that fit a query best, of those whose metadata has all of `filter`.
    fn search<'m>(&'m self, query: &'m str, k: usize, filter: Option<&'m Object<'static>>) -> Soon<'m, Vec<Hit>>;
}

/// The built-in memory: BM25 over words.
#[derive(Debug, Default)]
pub(crate) struct Lexical {
    documents: Vec<(Document, HashMap<String, u32>, usize)>,
    containing: HashMap<String, u32>,
    words: usize,
}

const K1: f64 = 1.2;
const B: f64 = 0.75;

impl Memory for Lexical {
    fn index_document<'m>(&'m mut self, document: Document) -> Soon<'m, ()> {
        let mut counts = HashMap::new();
        let mut length = 0;
        for word in words(&document.content) {
            *counts.entry(word).or_insert(0) += 1;
            length += 1;
        }
        for word in counts.keys() {
            *self.containing.entry(word.clone()).or_insert(0) += 1;
        }
        self.words += length;
        self.documents.push((document, counts, length));
        Box::pin(async { Ok(()) })
    }

    fn search<'m>(&'m self, query: &'m str, k: usize, filter: Option<&'m Object<'static>>) -> Soon<'m, Vec<Hit>> {
        let mut wanted: Vec<String> = words(query).collect();
        wanted.sort();
        wanted.dedup();
        let fitting = self.documents.iter().filter(|(document, ..)| fits(document, filter));
        let scored = fitting.map(|(document, counts, length)| (document, self.score(&wanted, counts, *length)));
        let hits = best(scored.filter(|(_, score)| *score > 0.0), k);
        Box::pin(async move { Ok(hits) })
    }
}

impl Lexical {
    fn score(&self, wanted: &[String], counts: &HashMap<String, u32>, length: usize) -> f64 {
        let n = self.documents.len() as f64;
        let mean = self.words as f64 / n;
        let one = |word: &String| {
            let count = f64::from(*counts.get(word)?);
            let containing = f64::from(*self.containing.get(word)?);
            let rarity = (1.0 + (n - containing + 0.5) / (containing + 0.5)).ln();
            Some(rarity * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length as f64 / mean)))
        };
        wanted.iter().filter_map(one).sum()
    }
}

/// The best `k`, the earlier of equals first.
pub(crate) fn best<'d>(scored: impl Iterator<Item = (&'d Document, f64)>, k: usize) -> Vec<Hit> {
    let mut scored: Vec<_> = scored.collect();
    scored.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    scored.into_iter().take(k).map(|(document, score)| Hit { document: document.clone(), score }).collect()
}

/// Whether the metadata of a document has all that a filter asks for; `source` may be asked for too.
pub(crate) fn fits(document: &Document, filter: Option<&Object<'static>>) -> bool {
    let has = |key: &str, wanted: &Value<'static>| match document.metadata.as_ref().and_then(Value::as_object) {
        Some(metadata) if metadata.contains(key) => metadata.get(key) == Some(wanted),
        _ => key == "source" && wanted.as_str() == Some(&document.source),
    };
    filter.is_none_or(|filter| filter.iter().all(|(key, wanted)| has(key, wanted)))
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use heldset_core::json;

    fn found(query: &str, k: usize, filter: Option<&str>) -> Vec<String> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let filter = filter.map(|filter| json::read(filter).unwrap().into_owned().as_object().unwrap().clone());
        runtime.block_on(async {
            let mut memory = Lexical::default();
            for (source, content, metadata) in [
                ("a", "Alice likes trains", r#"{"user":"alice","n":1}"#),
                ("b", "Bob likes planes, and trains; trains!", r#"{"user":"bob"}"#),
                ("c", "Zürich is a city of trains", "null"),
                ("a", "Alice likes trains", r#"{"user":"alice","n":2}"#),
            ] {
                let metadata = Some(json::read(metadata).unwrap().into_owned()).filter(|metadata| !metadata.is_null());
                let document = Document { source: source.into(), content: content.into(), metadata };
                memory.index_document(document).await.unwrap();
            }
            let hits = memory.search(query, k, filter.as_ref()).await.unwrap();
            hits.into_iter().map(|hit| hit.document.source).collect()
        })
    }

    #[test]
    fn the_best_come_first_and_equals_keep_their_order() {
        assert_eq!(found("TRAINS", 9, None), ["b", "a", "a", "c"]);
        assert_eq!(found("planes", 9, None), ["b"]);
        assert_eq!(found("zürich", 9, None), ["c"]);
        assert_eq!(found("alice", 1, None), ["a"]);
        assert_eq!(found("ships", 9, None), [""; 0]);
        assert_eq!(found("", 9, None), [""; 0]);
    }

    #[test]
    fn a_filter_is_equality_of_metadata() {
        assert_eq!(found("trains", 9, Some(r#"{"user":"bob"}"#)), ["b"]);
        assert_eq!(found("trains", 9, Some(r#"{"user":"alice","n":2}"#)), ["a"]);
        assert_eq!(found("trains", 9, Some(r#"{"source":"c"}"#)), ["c"]);
        assert_eq!(found("trains", 9, Some(r#"{"user":"carol"}"#)), [""; 0]);
    }
}
