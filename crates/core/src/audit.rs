//! The audit log as a tree: checkpoints that say what it held, and the check that all of it is still there.
//!
//! *Invariant:* a checkpoint binds the store, the number of entries, every entry and their order. Entries after the
//! latest checkpoint are not bound by it.

use thiserror::Error;

use crate::canonical;
use crate::digest::Digest;
use crate::merkle::Tree;
use crate::number::Number;
use crate::value::{Object, Value};

/// The format of a checkpoint, named inside it.
pub const CHECKPOINT: &str = "heldset/checkpoint/1";

/// What a log held at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The id of the store.
    pub store: String,
    /// How many entries there were.
    pub size: u64,
    /// The head of the tree over them.
    pub root: Digest,
    /// When, as text.
    pub time: String,
}

/// Why a log is not the one a checkpoint was made of.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AuditError {
    /// A checkpoint of another store.
    #[error("the checkpoint is of store `{found}`, not of `{expected}`")]
    OtherStore {
        /// The store the log is of.
        expected: String,
        /// The store in the checkpoint.
        found: String,
    },
    /// Fewer entries than there were.
    #[error("the log has {found} entries; there were {expected} at {time}")]
    Removed {
        /// How many there were.
        expected: u64,
        /// How many there are.
        found: u64,
        /// When there were as many.
        time: String,
    },
    /// Other entries, or another order.
    #[error("the first {size} entries are not the ones there were at {time}")]
    Changed {
        /// How many entries the checkpoint covers.
        size: u64,
        /// When it was made.
        time: String,
    },
    /// A value that is not a checkpoint.
    #[error("not a checkpoint: `{0}` is missing or wrong")]
    Shape(&'static str),
}

impl Checkpoint {
    /// What a log holds now. The time is the caller's.
    pub fn of(store: &str, log: &Tree, time: &str) -> Self {
        Checkpoint { store: store.to_owned(), size: log.size(), root: log.head(), time: time.to_owned() }
    }

    /// The checkpoint as a JSON value.
    pub fn to_value(&self) -> Value<'_> {
        let entries = [
            ("format", Value::from(CHECKPOINT)),
            ("root", Value::from(self.root.hex())),
            ("size", Value::Number(Number::from_u64(self.size))),
            ("store", Value::from(self.store.as_str())),
            ("time", Value::from(self.time.as_str())),
        ];
        Value::Object(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    /// The bytes that are signed.
    pub fn signed_bytes(&self) -> Vec<u8> {
        canonical::bytes(&self.to_value())
    }

    /// Reads a checkpoint; no member may be missing, none may be unknown.
    pub fn from_value(value: &Value<'_>) -> Result<Self, AuditError> {
        let members = value.as_object().ok_or(AuditError::Shape("checkpoint"))?;
        let text = |key| members.get(key).and_then(Value::as_str).ok_or(AuditError::Shape(key));
        if text("format")? != CHECKPOINT || members.len() != 5 {
            return Err(AuditError::Shape("format"));
        }
        Ok(Checkpoint {
            store: text("store")?.to_owned(),
            size: size(members)?,
            root: text("root")?.parse().map_err(|_| AuditError::Shape("root"))?,
            time: text("time")?.to_owned(),
        })
    }
}

/// Reads a log from its first entry and checks it against every checkpoint. Gives the tree of all entries back.
pub fn verify<E: AsRef<[u8]>>(
    store: &str,
    entries: impl IntoIterator<Item = E>,
    checkpoints: &[Checkpoint],
) -> Result<Tree, AuditError> {
    if let Some(other) = checkpoints.iter().find(|checkpoint| checkpoint.store != store) {
        return Err(AuditError::OtherStore { expected: store.to_owned(), found: other.store.clone() });
    }
    let mut due: Vec<&Checkpoint> = checkpoints.iter().collect();
    due.sort_by_key(|checkpoint| checkpoint.size);
    let mut due = due.into_iter().peekable();
    let mut log = Tree::new();
    let mut entries = entries.into_iter();
    loop {
        while let Some(checkpoint) = due.next_if(|checkpoint| checkpoint.size == log.size()) {
            if checkpoint.root != log.head() {
                return Err(AuditError::Changed { size: checkpoint.size, time: checkpoint.time.clone() });
            }
        }
        let Some(entry) = entries.next() else { break };
        log.push_entry(entry.as_ref());
    }
    match due.next() {
        None => Ok(log),
        Some(Checkpoint { size, time, .. }) => {
            Err(AuditError::Removed { expected: *size, found: log.size(), time: time.clone() })
        }
    }
}

fn size(members: &Object<'_>) -> Result<u64, AuditError> {
    match members.get("size") {
        Some(Value::Number(number)) => number.as_u64().ok_or(AuditError::Shape("size")),
        _ => Err(AuditError::Shape("size")),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::json;

    const ENTRIES: [&str; 5] = ["a", "b", "c", "d", "e"];

    fn checkpoints() -> Vec<Checkpoint> {
        let mut log = Tree::new();
        let mut all = vec![Checkpoint::of("s", &log, "t0")];
        for (at, entry) in ENTRIES.iter().enumerate() {
            log.push_entry(entry.as_bytes());
            all.push(Checkpoint::of("s", &log, &format!("t{}", at + 1)));
        }
        all
    }

    #[test]
    fn a_log_that_only_grew_agrees_with_every_checkpoint() {
        for size in 0..=ENTRIES.len() {
            let seen: Vec<_> = checkpoints().into_iter().rev().filter(|c| c.size <= size as u64).collect();
            let log = verify("s", &ENTRIES[..size], &seen).unwrap();
            assert_eq!(Checkpoint::of("s", &log, "t"), Checkpoint { time: "t".into(), ..seen[0].clone() });
        }
    }

    #[test]
    fn what_was_changed_moved_or_removed_is_found() {
        let [_, _, _, three, _, five] = checkpoints().try_into().unwrap();
        for (log, why) in [
            (&["a", "b", "x", "d", "e"][..], "the first 3 entries are not the ones there were at t3"),
            (&["b", "a", "c", "d", "e"], "the first 3 entries are not the ones there were at t3"),
            (&["b", "c", "d", "e", "f"], "the first 3 entries are not the ones there were at t3"),
            (&["a", "b", "c", "e", "d"], "the first 5 entries are not the ones there were at t5"),
            (&["a", "b", "c", "d"], "the log has 4 entries; there were 5 at t5"),
            (&["a", "b"], "the log has 2 entries; there were 3 at t3"),
        ] {
            let error = verify("s", log, &[five.clone(), three.clone()]).unwrap_err();
            assert_eq!(error.to_string(), why, "{log:?}");
        }
        let other = Checkpoint { store: "other".into(), ..five };
        let error = verify("s", ENTRIES, &[other]).unwrap_err();
        assert_eq!(error.to_string(), "the checkpoint is of store `other`, not of `s`");
    }

    #[test]
    fn a_checkpoint_is_read_back_from_the_bytes_that_are_signed() {
        let checkpoint = Checkpoint::of("s", &Tree::new(), "2026-01-01T00:00:00Z");
        let bytes = String::from_utf8(checkpoint.signed_bytes()).unwrap();
        let expected = concat!(
            r#"{"format":"heldset/checkpoint/1","#,
            r#""root":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","#,
            r#""size":0,"store":"s","time":"2026-01-01T00:00:00Z"}"#
        );
        assert_eq!(bytes, expected);
        assert_eq!(Checkpoint::from_value(&json::read(&bytes).unwrap()), Ok(checkpoint));
        for (from, to, wrong) in [
            ("checkpoint/1", "checkpoint/2", "format"),
            (r#""size":0"#, r#""size":-1"#, "size"),
            (r#""size":0"#, r#""size":"0""#, "size"),
            (r#""root":"e3"#, r#""root":"e"#, "root"),
            (r#""store":"s","#, r#""shop":"s","#, "store"),
            (r#""size":0"#, r#""size":0,"more":1"#, "format"),
            (r#""time":"2026-01-01T00:00:00Z""#, r#""time":null"#, "time"),
        ] {
            let text = bytes.replace(from, to);
            let read = Checkpoint::from_value(&json::read(&text).unwrap());
            assert_eq!(read, Err(AuditError::Shape(wrong)), "{text}");
        }
        assert_eq!(Checkpoint::from_value(&Value::Null), Err(AuditError::Shape("checkpoint")));
    }
}
