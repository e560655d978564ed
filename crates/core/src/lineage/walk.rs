//! Walking a graph up to where something came from, and down to what came from it.
//!
//! *Invariant:* each node is entered once, by a shortest way.

use std::collections::{HashMap, VecDeque};

use super::{Edge, Graph};

/// Which way to walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To what it came from.
    Up,
    /// To what came from it.
    Down,
}

/// A node that was reached by an edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// The node.
    pub node: usize,
    /// The node it was reached from.
    pub from: usize,
    /// By which relationship.
    pub relationship: String,
    /// How many edges away.
    pub depth: u64,
}

impl Graph {
    /// All that is reached from some nodes within so many steps, nearest first; an edge between nodes of the same
    /// depth, or back, is no way to anything new.
    pub fn walk(&self, starts: &[usize], direction: Direction, steps: Option<u64>) -> Vec<Reached> {
        let mut next: HashMap<usize, Vec<&Edge>> = HashMap::new();
        for edge in self.edges() {
            next.entry(near(edge, direction)).or_default().push(edge);
        }
        let mut depths: HashMap<usize, u64> = starts.iter().map(|start| (*start, 0)).collect();
        let mut open: VecDeque<usize> = starts.iter().copied().collect();
        let mut reached = Vec::new();
        while let Some(from) = open.pop_front() {
            let depth = depths.get(&from).copied().unwrap_or_default() + 1;
            if steps.is_some_and(|steps| depth > steps) {
                continue;
            }
            let mut edges = next.get(&from).cloned().unwrap_or_default();
            edges.sort_by_key(|edge| (self.nodes()[far(edge, direction)].cited(), edge.relationship.clone()));
            for edge in edges {
                let node = far(edge, direction);
                let known = *depths.entry(node).or_insert_with(|| {
                    open.push_back(node);
                    depth
                });
                if known == depth {
                    reached.push(Reached { node, from, relationship: edge.relationship.clone(), depth });
                }
            }
        }
        reached
    }
}

fn near(edge: &Edge, direction: Direction) -> usize {
    match direction {
        Direction::Up => edge.child,
        Direction::Down => edge.parent,
    }
}

fn far(edge: &Edge, direction: Direction) -> usize {
    match direction {
        Direction::Up => edge.parent,
        Direction::Down => edge.child,
    }
}
