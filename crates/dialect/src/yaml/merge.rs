//! The merge key `<<` of older YAML, which real files still use.
//!
//! *Invariant:* a key that a mapping has itself wins over a merged one, and an earlier merged mapping over a later one.

use heldset_core::code::Code;
use heldset_core::fault::Fault;

use super::arena::{Kind, NodeId};
use super::build::{Builder, Map};

impl Builder<'_> {
    /// Adds the entries of the mappings that were merged in.
    pub(super) fn merge(&mut self, map: &mut Map) -> Result<(), Box<Fault>> {
        for node in std::mem::take(&mut map.merges) {
            match self.arena.node(node).kind {
                Kind::List { .. } => {
                    for child in self.arena.children(node).to_vec() {
                        self.merge_one(map, child)?;
                    }
                }
                _ => self.merge_one(map, node)?,
            }
        }
        Ok(())
    }

    fn merge_one(&mut self, map: &mut Map, from: NodeId) -> Result<(), Box<Fault>> {
        let node = *self.arena.node(from);
        if !matches!(node.kind, Kind::Map { .. }) {
            let problem = self.problem(Code::E025, "`<<` takes a mapping or a list of mappings");
            return Err(self.fault(problem, node.start, node.end));
        }
        self.check_merged(self.arena.members(from).len(), node)?;
        for at in 0..self.arena.members(from).len() {
            let entry = self.arena.members(from)[at];
            if !map.has(self.arena.text(entry.key, self.source), &self.arena, self.source) {
                map.entries.push(entry);
            }
        }
        Ok(())
    }
}
