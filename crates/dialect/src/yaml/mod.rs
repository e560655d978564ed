//! YAML: strict values with their places.
//!
//! *Invariant:* a document that was read is bounded: one document, unique text keys, at most 64 levels, and aliases
//! that expand to little more than what is written. Aliased parts are shared, never copied, until a value is asked for.

mod arena;
mod bounds;
mod build;
mod fault;
mod lines;
mod merge;
mod scalar;
mod weight;

use heldset_core::fault::{Excerpt, Fault, Place};
use heldset_core::path::{Path, Step};
use heldset_core::value::Value;

use arena::{Arena, Kind, NodeId};
use lines::Lines;

pub(crate) use scalar::is_plain_text;

/// A YAML document: its values, and where each part stands in the text.
pub(crate) struct Yaml {
    text: String,
    lines: Lines,
    arena: Arena,
    root: NodeId,
    faults: Vec<(Path, Fault)>,
}

impl Yaml {
    /// Reads one document.
    pub(crate) fn read(text: String) -> Result<Self, Box<Fault>> {
        let build::Built { arena, root, faults } = build::build(&text)?;
        let lines = Lines::of(&text);
        Ok(Yaml { text, lines, arena, root, faults })
    }

    /// The faults that were met on the way, inside or outside of the part that a path names.
    pub(crate) fn faults(&self, part: &Path, inside: bool) -> impl Iterator<Item = &Fault> {
        let within = |path: &Path| path.steps().starts_with(part.steps());
        self.faults.iter().filter(move |(path, _)| within(path) == inside).map(|(_, fault)| fault)
    }

    /// The part that a path names, borrowing its texts.
    pub(crate) fn value(&self, path: &Path) -> Option<Value<'_>> {
        let (node, whole) = self.find(path);
        whole.then(|| self.arena.value(node, &self.text))
    }

    /// How many elements the list at a path has.
    pub(crate) fn len(&self, list: &Path) -> usize {
        match self.find(list) {
            (node, true) => self.arena.children(node).len(),
            _ => 0,
        }
    }

    /// Where the part is that a path names; the last part that exists when it goes on past that.
    pub(crate) fn locate(&self, path: &Path) -> (Option<Place>, Option<Excerpt>) {
        let node = self.arena.node(self.find(path).0);
        let (start, end) = (node.start as usize, node.end as usize);
        let place = self.lines.place(&self.text, start);
        (Some(place), Some(self.lines.excerpt(&self.text, start, end)))
    }

    /// The line of the part that a path names.
    pub(crate) fn line(&self, path: &Path) -> u64 {
        self.lines.line(self.arena.node(self.find(path).0).start as usize)
    }

    /// The scalar at a path exactly as it is written, when it is one without quotes.
    pub(crate) fn plain(&self, path: &Path) -> Option<&str> {
        let (id, whole) = self.find(path);
        let node = self.arena.node(id);
        let is_plain = whole && matches!(node.kind, Kind::Null | Kind::Bool(_) | Kind::Number(_));
        self.text.get(node.start as usize..node.end as usize).filter(|_| is_plain)
    }

    /// The last node on the way that a path names, and whether that is where the path ends.
    fn find(&self, path: &Path) -> (NodeId, bool) {
        let mut node = self.root;
        for step in path.steps() {
            let next = match step {
                Step::Index(index) => self.arena.children(node).get(*index).copied(),
                Step::Key(name) => self.arena.member(node, name, &self.text),
            };
            match next {
                Some(next) => node = next,
                None => return (node, false),
            }
        }
        (node, true)
    }
}
