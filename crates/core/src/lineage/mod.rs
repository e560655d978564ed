//! Lineage: what came from what, as a graph of versions, runs and sources, and the ways to show it.
//!
//! *Invariant:* an edge leads from what was made to what it was made from; walking ends even where edges form a ring.

mod entries;
mod layout;
mod openlineage;
mod svg;
mod tree;
mod walk;

use std::collections::HashMap;

pub use entries::to_value;
pub use layout::{Drawing, HEIGHT, WIDTH, draw};
pub use openlineage::{events, uuid_of};
pub use svg::to_svg;
pub use tree::to_text;
pub use walk::{Direction, Reached};

/// What an end of an edge is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A version of a dataset.
    Dataset,
    /// A run.
    Run,
    /// A source.
    Source,
}

/// An end of an edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// The slug of a dataset, the id of a run, the name of a source.
    pub name: String,
    /// The name for people, if there is another.
    pub title: Option<String>,
    /// The number of the version, of a dataset.
    pub version: Option<u64>,
    /// The digest of the version.
    pub digest: Option<String>,
    /// Names and types of the fields that may be shown, if a schema is registered.
    pub fields: Vec<(String, String)>,
}

/// That something came from something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The number of what was made.
    pub child: usize,
    /// The number of what it was made from.
    pub parent: usize,
    /// How.
    pub relationship: String,
    /// When.
    pub time: String,
}

/// Versions, runs and sources, and what came from what.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    known: HashMap<(Kind, String, Option<u64>), usize>,
    linked: HashMap<(usize, usize, String), usize>,
}

impl Kind {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Dataset => "dataset",
            Kind::Run => "run",
            Kind::Source => "source",
        }
    }

    /// The kind of that name.
    pub fn named(name: &str) -> Option<Kind> {
        [Kind::Dataset, Kind::Run, Kind::Source].into_iter().find(|kind| kind.name() == name)
    }
}

impl Node {
    /// A version of a dataset.
    pub fn version(slug: &str, number: u64, digest: Option<String>) -> Self {
        let (name, version) = (slug.to_owned(), Some(number));
        Node { kind: Kind::Dataset, name, title: None, version, digest, fields: Vec::new() }
    }

    /// A run.
    pub fn run(id: &str) -> Self {
        Node { kind: Kind::Run, name: id.to_owned(), title: None, version: None, digest: None, fields: Vec::new() }
    }

    /// How people cite it.
    pub fn cited(&self) -> String {
        match (self.kind, self.version) {
            (Kind::Dataset, Some(version)) => format!("{}@{version}", self.name),
            (Kind::Dataset, None) => self.name.clone(),
            (kind, _) => format!("{}:{}", kind.name(), self.name),
        }
    }
}

impl Graph {
    /// Adds a node, or finds it; what was not known of it before is taken over.
    pub fn node(&mut self, node: Node) -> usize {
        let key = (node.kind, node.name.clone(), node.version);
        match self.known.get(&key) {
            Some(at) => {
                let known = &mut self.nodes[*at];
                known.title = known.title.take().or(node.title);
                known.digest = known.digest.take().or(node.digest);
                if known.fields.is_empty() {
                    known.fields = node.fields;
                }
                *at
            }
            None => {
                self.nodes.push(node);
                self.known.insert(key, self.nodes.len() - 1);
                self.nodes.len() - 1
            }
        }
    }

    /// Adds an edge, once; the earliest time stays.
    pub fn edge(&mut self, child: usize, parent: usize, relationship: &str, time: &str) {
        if child == parent {
            return;
        }
        let key = (child, parent, relationship.to_owned());
        if let Some(at) = self.linked.get(&key) {
            let known = &mut self.edges[*at].time;
            if time < known.as_str() {
                *known = time.to_owned();
            }
            return;
        }
        self.edges.push(Edge { child, parent, relationship: relationship.to_owned(), time: time.to_owned() });
        self.linked.insert(key, self.edges.len() - 1);
    }

    /// The nodes in the order they were added.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The edges in the order they were added.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The number of a node.
    pub fn find(&self, kind: Kind, name: &str, version: Option<u64>) -> Option<usize> {
        self.known.get(&(kind, name.to_owned(), version)).copied()
    }

    /// Whether an edge of any kind leads from one to the other.
    pub fn has_edge(&self, child: usize, parent: usize) -> bool {
        self.edges.iter().any(|edge| (edge.child, edge.parent) == (child, parent))
    }

    /// The part of the graph that these nodes and the edges between them are, and where each went.
    pub fn part(&self, nodes: &[usize]) -> Graph {
        let mut part = Graph::default();
        let numbers: HashMap<usize, usize> = nodes.iter().map(|at| (*at, part.node(self.nodes[*at].clone()))).collect();
        for edge in &self.edges {
            if let (Some(child), Some(parent)) = (numbers.get(&edge.child), numbers.get(&edge.parent)) {
                part.edge(*child, *parent, &edge.relationship, &edge.time);
            }
        }
        part
    }
}
