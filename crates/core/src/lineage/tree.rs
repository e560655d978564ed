//! Lineage for people: a tree of text.
//!
//! *Invariant:* a node is opened once; where it comes again it only says so.

use std::collections::HashSet;

use super::{Direction, Graph, Reached};

/// The tree above and below some nodes.
pub fn to_text(graph: &Graph, heading: &str, starts: &[usize], steps: Option<u64>) -> String {
    let mut out = format!("{heading}\n");
    for (name, nothing, direction) in [
        ("upstream", "comes from nothing that is registered", Direction::Up),
        ("downstream", "nothing comes from it", Direction::Down),
    ] {
        let reached = graph.walk(starts, direction, steps);
        if reached.is_empty() {
            out.push_str(&format!("{name}: {nothing}\n"));
            continue;
        }
        out.push_str(&format!("{name}\n"));
        let mut branch = Branch { graph, reached: &reached, opened: starts.iter().copied().collect(), out: &mut out };
        branch.below(starts, "", starts.len() > 1);
    }
    out
}

struct Branch<'b> {
    graph: &'b Graph,
    reached: &'b [Reached],
    opened: HashSet<usize>,
    out: &'b mut String,
}

impl Branch<'_> {
    fn below(&mut self, from: &[usize], indent: &str, name_start: bool) {
        let lines: Vec<&Reached> = self.reached.iter().filter(|reached| from.contains(&reached.from)).collect();
        for (index, reached) in lines.iter().enumerate() {
            let last = index + 1 == lines.len();
            let (corner, rail) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            let node = &self.graph.nodes()[reached.node];
            let title = node.title.as_ref().filter(|title| **title != node.name);
            let title = title.map_or_else(String::new, |title| format!(" ({title})"));
            let of = match name_start {
                true => format!(", {}", self.graph.nodes()[reached.from].cited()),
                false => String::new(),
            };
            let first = self.opened.insert(reached.node);
            let again = if first { "" } else { " …" };
            let line = format!("{indent}{corner}{} [{}{of}]{title}{again}\n", node.cited(), reached.relationship);
            self.out.push_str(&line);
            if first {
                self.below(&[reached.node], &format!("{indent}{rail}"), false);
            }
        }
    }
}
