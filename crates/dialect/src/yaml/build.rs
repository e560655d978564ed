//! From the parser's events to nodes.
//!
//! *Invariant:* what an alias adds is counted, not copied, so a document that expands too much is refused at a cost
//! that its own length bounds.

use granit_parser::{Event, Parser, ScalarStyle, Span, Tag};
use hashbrown::{HashMap, HashSet};
use heldset_core::code::Code;
use heldset_core::fault::Fault;
use heldset_core::path::Path;

use super::arena::{Arena, Entry, Kind, Node, NodeId, Text};
use super::bounds::{Scalar, bytes_of, expands};
use super::fault::{mark, of_scalar, of_scan};
use super::scalar::{Resolved, plain, tagged};
use super::weight::Weight;

/// A document as nodes, and the faults that did not keep it from being read on, each with the path it is at.
pub(super) struct Built {
    pub(super) arena: Arena,
    pub(super) root: NodeId,
    pub(super) faults: Vec<(Path, Fault)>,
}

/// Reads one document into nodes.
pub(super) fn build(source: &str) -> Result<Built, Box<Fault>> {
    let mut options = granit_parser::Options::default();
    options.set_emit_comments(false);
    let mut builder = Builder::new(source);
    for event in Parser::new_from_str_with_options(source, options) {
        let (event, span) = event.map_err(|error| of_scan(source, &error, builder.path()))?;
        builder.take(event, &span)?;
    }
    builder.finish()
}

/// How many faults are gathered before the reading ends.
const MOST_FAULTS: usize = 1000;

/// The document so far.
pub(super) struct Builder<'s> {
    pub(super) source: &'s str,
    pub(super) arena: Arena,
    pub(super) frames: Vec<Frame>,
    anchors: HashMap<usize, Anchor>,
    aliases: u64,
    pub(super) merged: u64,
    /// The alias that adds most, to show when all together are too much.
    heaviest: (u64, u32, u32),
    documents: usize,
    root: Option<(NodeId, Weight)>,
    faults: Vec<(Path, Fault)>,
}

/// A list or mapping that is not yet closed.
pub(super) struct Frame {
    start: u32,
    anchor: usize,
    weight: Weight,
    pub(super) open: Open,
}

pub(super) enum Open {
    List(Vec<NodeId>),
    Map(Map),
}

/// A mapping that is not yet closed.
#[derive(Default)]
pub(super) struct Map {
    pub(super) entries: Vec<Entry>,
    pub(super) merges: Vec<NodeId>,
    pub(super) key: Option<Key>,
    merged: bool,
    pub(super) seen: HashSet<String>,
}

/// A key that waits for its value.
#[derive(Clone, Copy)]
pub(super) struct Key {
    pub(super) text: Text,
    pub(super) is_merge: bool,
    /// Whether it was there already; its value is passed over.
    pub(super) is_repeated: bool,
}

/// What an anchor names.
#[derive(Clone, Copy)]
enum Anchor {
    /// A list or mapping that is still open.
    Open,
    Done(NodeId, Weight),
}

impl<'s> Builder<'s> {
    fn new(source: &'s str) -> Self {
        Builder {
            source,
            arena: Arena::default(),
            frames: Vec::new(),
            anchors: HashMap::new(),
            aliases: 0,
            merged: 0,
            heaviest: (0, 0, 0),
            documents: 0,
            root: None,
            faults: Vec::new(),
        }
    }

    fn take(&mut self, event: Event<'_>, span: &Span) -> Result<(), Box<Fault>> {
        let (start, end) = bytes_of(span);
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    let problem = self.problem(Code::E025, "a second document starts here");
                    return Err(self.fault(problem.help("write each document into a file of its own"), start, end));
                }
                Ok(())
            }
            Event::Scalar(text, style, anchor, tag) => {
                let scalar = Scalar { text: &text, style, anchor, tag: tag.as_deref(), start, end };
                if self.wants_key() { self.key(&scalar) } else { self.scalar(&scalar) }
            }
            Event::SequenceStart(_, anchor, tag) => self.open(Open::List(Vec::new()), anchor, tag.as_deref(), span),
            Event::MappingStart(_, anchor, tag) => self.open(Open::Map(Map::default()), anchor, tag.as_deref(), span),
            Event::SequenceEnd | Event::MappingEnd => self.close(end),
            Event::Alias(anchor) => self.alias(anchor, start, end),
            _ => Ok(()),
        }
    }

    fn finish(self) -> Result<Built, Box<Fault>> {
        let source = self.source;
        let Some((root, weight)) = self.root else {
            let mut arena = self.arena;
            let root = arena.push(0, 0, Kind::Null);
            return Ok(Built { arena, root, faults: self.faults });
        };
        let written = self.arena.nodes.len() as u64 + self.aliases;
        if let Some(why) = weight.beyond(written, source.len() as u64) {
            let (_, start, end) = self.heaviest;
            return Err(mark(source, expands(Path::root(), why), start, end));
        }
        Ok(Built { arena: self.arena, root, faults: self.faults })
    }

    /// Notes a fault that does not keep the document from being read on. Too many end the reading.
    fn note(&mut self, fault: Box<Fault>) -> Result<(), Box<Fault>> {
        if self.faults.len() >= MOST_FAULTS {
            return Err(fault);
        }
        self.faults.push((self.path(), *fault));
        Ok(())
    }

    fn scalar(&mut self, scalar: &Scalar<'_>) -> Result<(), Box<Fault>> {
        let (node, weight) = self.scalar_node(scalar)?;
        if scalar.anchor > 0 {
            self.anchors.insert(scalar.anchor, Anchor::Done(node, weight));
        }
        self.attach(node, weight, scalar.start, scalar.end)
    }

    fn scalar_node(&mut self, scalar: &Scalar<'_>) -> Result<(NodeId, Weight), Box<Fault>> {
        let Scalar { text, start, end, .. } = *scalar;
        let core = match self.core_tag(scalar.tag, start, end) {
            Ok(core) => core,
            Err(fault) => {
                self.note(fault)?;
                Some("str")
            }
        };
        let resolved = match core {
            Some(tag) => tagged(tag, text),
            None if scalar.style == ScalarStyle::Plain => plain(text),
            None => Ok(Resolved::Text),
        };
        let kind = match resolved {
            Err(error) => {
                let problem = of_scalar(error, self.path(), text, core.unwrap_or(""));
                self.note(self.fault(problem, start, end))?;
                Kind::Text(self.arena.keep(text, start, end, self.source))
            }
            Ok(Resolved::Null) => Kind::Null,
            Ok(Resolved::Bool(flag)) => Kind::Bool(flag),
            Ok(Resolved::Number(number)) => self.arena.number(number),
            Ok(Resolved::Text) => Kind::Text(self.arena.keep(text, start, end, self.source)),
        };
        let node = self.push(start, end, kind)?;
        Ok((node, Weight::scalar(text.len())))
    }

    /// A key: its text as it is written, whatever it would stand for as a value.
    fn key(&mut self, scalar: &Scalar<'_>) -> Result<(), Box<Fault>> {
        let Scalar { text, start, end, .. } = *scalar;
        let core = self.core_tag(scalar.tag, start, end)?;
        let is_plain = core.is_none() && scalar.style == ScalarStyle::Plain;
        if is_plain && start == end {
            let problem = self.problem(Code::E025, "there is no key before this `:`");
            return Err(self.fault(problem, start, end));
        }
        if scalar.anchor > 0 {
            let (node, weight) = self.scalar_node(scalar)?;
            self.anchors.insert(scalar.anchor, Anchor::Done(node, weight));
        }
        let kept = self.arena.keep(text, start, end, self.source);
        self.set_key(Key { text: kept, is_merge: is_plain && text == "<<", is_repeated: false }, start, end)
    }

    fn set_key(&mut self, key: Key, start: u32, end: u32) -> Result<(), Box<Fault>> {
        let name = self.arena.text(key.text, self.source);
        let Some(Frame { open: Open::Map(map), weight, .. }) = self.frames.last_mut() else { return Ok(()) };
        let again = if key.is_merge { map.merged } else { map.has(name, &self.arena, self.source) };
        map.merged |= key.is_merge;
        if again {
            let message = format!("key `{}` is there twice", name.escape_debug());
            let problem = self.problem(Code::E003, message);
            let fault = self.fault(problem.help("keep one of the two: which one wins would be a guess"), start, end);
            self.note(fault)?;
            if let Some(Frame { open: Open::Map(map), .. }) = self.frames.last_mut() {
                map.key = Some(Key { is_repeated: true, ..key });
            }
            return Ok(());
        }
        weight.add_bytes(name.len());
        map.key = Some(key);
        Ok(())
    }

    fn open(&mut self, open: Open, anchor: usize, tag: Option<&Tag>, span: &Span) -> Result<(), Box<Fault>> {
        let (start, end) = bytes_of(span);
        if self.wants_key() {
            let problem = self.problem(Code::E025, "a key must be text, not a list or a mapping");
            return Err(self.fault(problem, start, end));
        }
        let expected = if matches!(open, Open::List(_)) { "seq" } else { "map" };
        if let Some(tag) = self.core_tag(tag, start, end)?.filter(|tag| *tag != expected) {
            let problem = self.problem(Code::E025, format!("this does not fit its tag `!!{tag}`"));
            return Err(self.fault(problem, start, end));
        }
        self.check_depth(1, start, end)?;
        if anchor > 0 {
            self.anchors.insert(anchor, Anchor::Open);
        }
        self.frames.push(Frame { start, anchor, weight: Weight::container(), open });
        Ok(())
    }

    fn close(&mut self, end: u32) -> Result<(), Box<Fault>> {
        let Some(frame) = self.frames.pop() else { return Ok(()) };
        let kind = match frame.open {
            Open::List(children) => self.arena.list(&children),
            Open::Map(mut map) => {
                self.merge(&mut map)?;
                self.arena.map(&map.entries)
            }
        };
        let node = self.push(frame.start, end, kind)?;
        if frame.anchor > 0 {
            self.anchors.insert(frame.anchor, Anchor::Done(node, frame.weight));
        }
        self.attach(node, frame.weight, frame.start, end)
    }

    fn alias(&mut self, anchor: usize, start: u32, end: u32) -> Result<(), Box<Fault>> {
        self.aliases += 1;
        let (node, weight) = match self.anchors.get(&anchor) {
            Some(Anchor::Done(node, weight)) => (*node, *weight),
            _ => {
                let problem = self.problem(Code::E026, "this alias names the list or mapping that it is in");
                return Err(self.fault(problem.help("write out what is meant"), start, end));
            }
        };
        if self.wants_key() {
            return self.alias_key(node, start, end);
        }
        if weight.nodes > self.heaviest.0 {
            self.heaviest = (weight.nodes, start, end);
        }
        self.check_depth(weight.height, start, end)?;
        self.attach(node, weight, start, end)
    }

    fn alias_key(&mut self, node: NodeId, start: u32, end: u32) -> Result<(), Box<Fault>> {
        let Node { start: from, end: to, kind } = *self.arena.node(node);
        let text = match kind {
            Kind::Text(text) => text,
            Kind::List { .. } | Kind::Map { .. } => {
                let problem = self.problem(Code::E025, "a key must be text, not a list or a mapping");
                return Err(self.fault(problem, start, end));
            }
            _ => Text::Source { at: from, len: to - from },
        };
        self.set_key(Key { text, is_merge: false, is_repeated: false }, start, end)
    }

    /// Puts a finished node where it belongs.
    fn attach(&mut self, node: NodeId, weight: Weight, start: u32, end: u32) -> Result<(), Box<Fault>> {
        let Some(frame) = self.frames.last_mut() else {
            self.root = Some((node, weight));
            return Ok(());
        };
        frame.weight.add(weight);
        let beyond = frame.weight.beyond_all();
        match &mut frame.open {
            Open::List(children) => children.push(node),
            Open::Map(map) => {
                if let Some(key) = map.key.take().filter(|key| !key.is_repeated) {
                    map.put(key, node);
                }
            }
        }
        match beyond {
            Some(why) => Err(self.fault(expands(self.path(), why), start, end)),
            None => Ok(()),
        }
    }
}
