//! A page as it is spooled: what is known of it on one line, then its records, one on each line.
//!
//! *Invariant:* a frame that is read back is the frame that was written.

use heldset_core::canonical;
use heldset_core::code::Code;
use heldset_core::json;
use heldset_core::mapping::{Matches, Seen};
use heldset_core::number::Number;
use heldset_core::value::{Object, Value};
use heldset_store::StoreError;

use super::shape::{Shaped, ShapedPage};
use crate::feeds::Page;

/// A spooled page.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Frame {
    pub(super) asked: String,
    pub(super) size: u64,
    pub(super) sha256: String,
    /// Where this page was asked for: the `next` of the one before.
    pub(super) after: Option<Value<'static>>,
    pub(super) next: Option<Value<'static>>,
    pub(super) revision: Option<String>,
    /// The digest of the rows as they were answered, without privacy: it stays in the sealed journal.
    pub(super) rows_sha256: String,
    pub(super) ids: Vec<String>,
    pub(super) skipped: Vec<(String, String)>,
    pub(super) failed: Vec<(String, String)>,
    /// Rows that are no records: place, code, why.
    pub(super) refused: Vec<(u64, Code, String)>,
    pub(super) matches: Matches,
    pub(super) changed: Vec<u64>,
    pub(super) seen: Seen,
    /// The names of the fields of its records.
    pub(super) fields: Vec<String>,
    /// How the rows were to be read.
    pub(super) reading: String,
    /// Whether the source was at its end; such a frame has nothing else.
    pub(super) end: bool,
    /// When it was read.
    pub(super) time: String,
    /// The records, one on each line.
    pub(super) lines: Vec<u8>,
}

impl Frame {
    pub(super) fn of(page: Page, shaped: ShapedPage, (rows_sha256, reading): (String, String)) -> Frame {
        let mut frame = Frame {
            asked: page.asked,
            size: page.size,
            sha256: page.sha256,
            next: page.next,
            revision: page.revision,
            rows_sha256,
            skipped: page.skipped,
            failed: page.failed,
            matches: shaped.matches,
            changed: shaped.changed,
            seen: shaped.seen,
            reading,
            ..Frame::default()
        };
        frame.refused = shaped.failed.into_iter().map(|(row, problem)| (row, problem.code, problem.message)).collect();
        let mut names = std::collections::BTreeSet::new();
        for Shaped { id, fields, .. } in shaped.records {
            for (name, _) in fields.iter() {
                if !names.contains(name) {
                    names.insert(name.to_owned());
                }
            }
            frame.push(id.as_str(), &fields);
        }
        frame.fields = names.into_iter().collect();
        frame
    }

    /// Whether it only tells what was left out.
    pub(super) fn is_remark(&self) -> bool {
        self.matches.rows == 0 && self.size == 0 && !(self.skipped.is_empty() && self.failed.is_empty())
    }

    fn push(&mut self, id: &str, fields: &Object<'static>) {
        self.lines.extend_from_slice(b"{\"id\":");
        canonical::write_text(id, &mut self.lines);
        for (name, value) in fields.iter() {
            self.lines.push(b',');
            canonical::write_text(name, &mut self.lines);
            self.lines.push(b':');
            canonical::write(value, &mut self.lines);
        }
        self.lines.extend_from_slice(b"}\n");
        self.ids.push(id.to_owned());
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let text = |text: &String| Value::from(text.clone());
        let optional = |value: &Option<Value<'static>>| value.clone().unwrap_or(Value::Null);
        let pairs = |pairs: &[(String, String)]| {
            Value::Array(pairs.iter().map(|(name, why)| Value::Array(vec![text(name), text(why)])).collect())
        };
        let refused = self
            .refused
            .iter()
            .map(|(row, code, why)| Value::Array(vec![number(*row), Value::from(code.name()), text(why)]));
        let texts = |texts: &[String]| Value::Array(texts.iter().map(text).collect());
        let seen: Vec<String> = match self.matches.matched.contains(&0) {
            true => self.seen.paths().map(str::to_owned).collect(),
            false => Vec::new(),
        };
        let counts = |counts: &[u64]| Value::Array(counts.iter().map(|count| number(*count)).collect());
        let head: Object<'static> = [
            ("after", optional(&self.after)),
            ("asked", text(&self.asked)),
            ("changed", counts(&self.changed)),
            ("end", Value::Bool(self.end)),
            ("failed", pairs(&self.failed)),
            ("fields", texts(&self.fields)),
            ("ids", texts(&self.ids)),
            ("matched", counts(&self.matches.matched)),
            ("next", optional(&self.next)),
            ("reading", text(&self.reading)),
            ("refused", Value::Array(refused.collect())),
            ("revision", self.revision.as_ref().map_or(Value::Null, text)),
            ("rows", number(self.matches.rows)),
            ("rows_sha256", text(&self.rows_sha256)),
            ("seen", texts(&seen)),
            ("sha256", text(&self.sha256)),
            ("size", number(self.size)),
            ("skipped", pairs(&self.skipped)),
            ("time", text(&self.time)),
        ]
        .into_iter()
        .map(|(name, value)| (name.into(), value))
        .collect();
        let mut out = canonical::bytes(&Value::Object(head));
        out.push(b'\n');
        out.extend_from_slice(&self.lines);
        out
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Frame, StoreError> {
        let damaged = || StoreError::damaged("the pages of a sync");
        let end = bytes.iter().position(|byte| *byte == b'\n').ok_or_else(damaged)?;
        let head = std::str::from_utf8(&bytes[..end]).map_err(|_| damaged())?;
        let Ok(Value::Object(head)) = json::read(head) else { return Err(damaged()) };
        Frame::read(&head.into_owned(), &bytes[end + 1..]).ok_or_else(damaged)
    }

    fn read(head: &Object<'static>, lines: &[u8]) -> Option<Frame> {
        let text = |name: &str| Some(head.get(name)?.as_str()?.to_owned());
        let list = |name: &str| head.get(name)?.as_array();
        let texts = |name: &str| list(name)?.iter().map(|text| Some(text.as_str()?.to_owned())).collect::<Option<_>>();
        let optional = |name: &str| head.get(name).filter(|value| !value.is_null()).cloned();
        let pairs = |name: &str| {
            let pair = |pair: &Value<'_>| match pair.as_array()? {
                [name, why] => Some((name.as_str()?.to_owned(), why.as_str()?.to_owned())),
                _ => None,
            };
            list(name)?.iter().map(pair).collect::<Option<_>>()
        };
        let refused = |row: &Value<'_>| match row.as_array()? {
            [row, code, why] => {
                let code = Code::ALL.iter().find(|known| Some(known.name()) == code.as_str())?;
                Some((count(row)?, *code, why.as_str()?.to_owned()))
            }
            _ => None,
        };
        let counts = |name: &str| list(name)?.iter().map(count).collect::<Option<Vec<u64>>>();
        Some(Frame {
            asked: text("asked")?,
            size: count(head.get("size")?)?,
            sha256: text("sha256")?,
            after: optional("after"),
            next: optional("next"),
            revision: optional("revision").and_then(|revision| Some(revision.as_str()?.to_owned())),
            rows_sha256: text("rows_sha256")?,
            ids: texts("ids")?,
            skipped: pairs("skipped")?,
            failed: pairs("failed")?,
            refused: list("refused")?.iter().map(refused).collect::<Option<_>>()?,
            matches: Matches { rows: count(head.get("rows")?)?, matched: counts("matched")? },
            changed: counts("changed")?,
            seen: Seen::of(texts("seen")?.into_iter().collect::<Vec<String>>()),
            fields: texts("fields")?,
            reading: text("reading")?,
            end: head.get("end") == Some(&Value::Bool(true)),
            time: text("time")?,
            lines: lines.to_vec(),
        })
    }
}

pub(super) fn number(count: u64) -> Value<'static> {
    Value::Number(Number::from_u64(count))
}

fn count(value: &Value<'_>) -> Option<u64> {
    match value {
        Value::Number(number) => number.to_string().parse().ok(),
        _ => None,
    }
}
