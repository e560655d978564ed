//! What the builder asks at every step: where it is, which keys it has met, and whether there is room.

use granit_parser::{ScalarStyle, Span, Tag};
use heldset_core::code::Code;
use heldset_core::fault::{Fault, Problem};
use heldset_core::json::MAX_DEPTH;
use heldset_core::path::{Path, Step};

use super::arena::{Arena, Entry, Kind, Node, NodeId};
use super::build::{Builder, Key, Map, Open};
use super::fault::{TAG_HELP, mark, too_deep};
use super::weight::{MAX_NODES, MAX_RATIO};

/// Entries that may always be merged, however little is written.
const MERGE_ROOM: u64 = 100_000;

/// A scalar as the parser tells it.
pub(super) struct Scalar<'e> {
    pub(super) text: &'e str,
    pub(super) style: ScalarStyle,
    pub(super) anchor: usize,
    pub(super) tag: Option<&'e Tag>,
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Builder<'_> {
    /// Where in the document the builder is.
    pub(super) fn path(&self) -> Path {
        let step = |open: &Open| match open {
            Open::List(children) => Some(Step::Index(children.len())),
            Open::Map(map) => map.key.map(|key| Step::Key(self.arena.text(key.text, self.source).to_owned())),
        };
        Path::from(self.frames.iter().filter_map(|frame| step(&frame.open)).collect::<Vec<_>>())
    }

    pub(super) fn problem(&self, code: Code, message: impl Into<String>) -> Problem {
        Problem::new(code, self.path(), message)
    }

    pub(super) fn fault(&self, problem: Problem, start: u32, end: u32) -> Box<Fault> {
        mark(self.source, problem, start, end)
    }

    /// Whether the next node is the key of a mapping.
    pub(super) fn wants_key(&self) -> bool {
        matches!(self.frames.last().map(|frame| &frame.open), Some(Open::Map(Map { key: None, .. })))
    }

    /// Adds a node; a document has only so many.
    pub(super) fn push(&mut self, start: u32, end: u32, kind: Kind) -> Result<NodeId, Box<Fault>> {
        if self.arena.nodes.len() as u64 >= MAX_NODES {
            let problem = self.problem(Code::E008, "the document has more than ten million values");
            return Err(self.fault(problem.help("write one record per line, as JSONL"), start, end));
        }
        Ok(self.arena.push(start, end, kind))
    }

    /// Merged entries are copied, so they are counted as they come, against what is written so far.
    pub(super) fn check_merged(&mut self, more: usize, node: Node) -> Result<(), Box<Fault>> {
        self.merged += more as u64;
        let room = MERGE_ROOM + self.arena.nodes.len() as u64 * MAX_RATIO;
        if self.merged <= room.min(MAX_NODES) {
            return Ok(());
        }
        Err(self.fault(expands(self.path(), "more than a hundred times what is written"), node.start, node.end))
    }

    /// Whether something of so many levels may stand here.
    pub(super) fn check_depth(&self, height: usize, start: u32, end: u32) -> Result<(), Box<Fault>> {
        if self.frames.len() + height <= MAX_DEPTH {
            return Ok(());
        }
        let (code, message, help) = too_deep();
        Err(self.fault(self.problem(code, message).help(help), start, end))
    }

    /// The core tag of a node; any other is refused.
    pub(super) fn core_tag<'t>(
        &self,
        tag: Option<&'t Tag>,
        start: u32,
        end: u32,
    ) -> Result<Option<&'t str>, Box<Fault>> {
        let Some(tag) = tag else { return Ok(None) };
        match tag.core_suffix() {
            Some(core) => Ok(Some(core)),
            None => {
                let problem = self.problem(Code::E027, format!("the tag `{}` is not known here", tag.original()));
                Err(self.fault(problem.help(TAG_HELP), start, end))
            }
        }
    }
}

impl Map {
    /// Whether a key is there already; remembers the keys in a set once they are many.
    pub(super) fn has(&mut self, name: &str, arena: &Arena, source: &str) -> bool {
        const FEW: usize = 24;
        if self.entries.len() < FEW {
            return self.entries.iter().any(|entry| arena.text(entry.key, source) == name);
        }
        if self.seen.is_empty() {
            self.seen.extend(self.entries.iter().map(|entry| arena.text(entry.key, source).to_owned()));
        }
        !self.seen.insert(name.to_owned())
    }

    /// Adds the value of a key.
    pub(super) fn put(&mut self, key: Key, value: NodeId) {
        if key.is_merge {
            self.merges.push(value);
        } else {
            self.entries.push(Entry { key: key.text, value });
        }
    }
}

/// A document whose aliases make too much of it.
pub(super) fn expands(path: Path, why: &str) -> Problem {
    Problem::new(Code::E026, path, format!("the aliases of this document expand to {why}"))
        .help("write out what is meant, or keep shared parts in a file of their own")
}

/// The bytes of a node; the parser counts them for every text.
pub(super) fn bytes_of(span: &Span) -> (u32, u32) {
    let start = span.start.byte_offset().unwrap_or(0);
    let end = span.end.byte_offset().unwrap_or(start).max(start);
    (start as u32, end as u32)
}
