//! Lineage for programs: one entry for each node that is reached.
//!
//! *Invariant:* a node that is reached by two relationships has two entries; by two ways of the same kind, one.

use std::collections::HashSet;

use super::{Direction, Graph, Kind, Reached};
use crate::number::Number;
use crate::value::{Object, Value};

/// What is up and down from some nodes, each a list.
pub fn to_value(graph: &Graph, starts: &[usize], steps: Option<u64>) -> (Value<'static>, Value<'static>) {
    let list = |direction| {
        let mut seen = HashSet::new();
        let mut reached = graph.walk(starts, direction, steps);
        reached.retain(|reached| seen.insert((reached.node, reached.relationship.clone())));
        Value::Array(reached.iter().map(|reached| entry(graph, reached)).collect())
    };
    (list(Direction::Up), list(Direction::Down))
}

fn entry(graph: &Graph, reached: &Reached) -> Value<'static> {
    let node = &graph.nodes()[reached.node];
    let text = |text: &Option<String>| text.clone().map_or(Value::Null, Value::from);
    let mut object = Object::new();
    object.set("kind", Value::from(node.kind.name()));
    object.set("name", Value::from(node.title.clone().unwrap_or_else(|| node.name.clone())));
    object.set("slug", if node.kind == Kind::Dataset { Value::from(node.name.clone()) } else { Value::Null });
    if node.kind != Kind::Dataset {
        object.set("id", Value::from(node.name.clone()));
    }
    object.set("version", node.version.map_or(Value::Null, |version| Value::Number(Number::from_u64(version))));
    object.set("relationship_type", Value::from(reached.relationship.clone()));
    object.set("digest", text(&node.digest));
    object.set("depth", Value::Number(Number::from_u64(reached.depth)));
    object.set("via", Value::from(graph.nodes()[reached.from].cited()));
    Value::Object(object)
}
