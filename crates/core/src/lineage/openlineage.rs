//! Lineage as events of OpenLineage: one for each time that something was made.
//!
//! *Invariant:* the same graph gives the same events, ids of runs included.

use std::collections::BTreeMap;

use super::{Edge, Graph, Kind, Node};
use crate::digest::{Digest, sha256};
use crate::value::{Object, Value};

const SPEC: &str = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent";
const VERSION: &str =
    "https://openlineage.io/spec/facets/1-0-1/DatasetVersionDatasetFacet.json#/$defs/DatasetVersionDatasetFacet";
const SCHEMA: &str = "https://openlineage.io/spec/facets/1-1-1/SchemaDatasetFacet.json#/$defs/SchemaDatasetFacet";
const PARENT: &str = "https://openlineage.io/spec/facets/1-0-1/ParentRunFacet.json#/$defs/ParentRunFacet";

/// The events of a graph, by time. `namespace` names the store, `producer` is the address of this program's release.
pub fn events(graph: &Graph, namespace: &str, producer: &str) -> Vec<Value<'static>> {
    let mut made: BTreeMap<(String, usize), Vec<&Edge>> = BTreeMap::new();
    let mut times: BTreeMap<usize, &str> = BTreeMap::new();
    for edge in graph.edges() {
        let time = times.entry(edge.child).or_insert(&edge.time);
        *time = (*time).max(&edge.time);
    }
    for edge in graph.edges() {
        let time = times.get(&edge.child).copied().unwrap_or_default().to_owned();
        made.entry((time, edge.child)).or_default().push(edge);
    }
    let writer = Writer { graph, namespace, producer };
    made.iter().map(|((time, child), edges)| writer.event(time, *child, edges)).collect()
}

struct Writer<'w> {
    graph: &'w Graph,
    namespace: &'w str,
    producer: &'w str,
}

impl Writer<'_> {
    fn event(&self, time: &str, child: usize, edges: &[&Edge]) -> Value<'static> {
        let made = &self.graph.nodes()[child];
        let parents = || edges.iter().map(|edge| (&self.graph.nodes()[edge.parent], *edge));
        let inputs = parents().filter(|(node, _)| node.kind != Kind::Run).map(|(node, _)| self.dataset(node));
        let outputs = (made.kind == Kind::Dataset).then(|| self.dataset(made));
        let mut run_facets = Object::new();
        if let Some((run, _)) = parents().find(|(node, _)| node.kind == Kind::Run) {
            run_facets.set("parent", self.parent(run));
        }
        let run = object([("runId", Value::from(self.run_id(made))), ("facets", Value::Object(run_facets))]);
        let job = object([
            ("namespace", Value::from(self.namespace.to_owned())),
            ("name", Value::from(self.job(made, edges))),
            ("facets", Value::Object(Object::new())),
        ]);
        object([
            ("eventType", Value::from("COMPLETE")),
            ("eventTime", Value::from(time.to_owned())),
            ("producer", Value::from(self.producer.to_owned())),
            ("schemaURL", Value::from(SPEC)),
            ("run", run),
            ("job", job),
            ("inputs", Value::Array(inputs.collect())),
            ("outputs", Value::Array(outputs.into_iter().collect())),
        ])
    }

    /// What the work is called: how it was made, and what.
    fn job(&self, made: &Node, edges: &[&Edge]) -> String {
        if made.kind == Kind::Run {
            return format!("run.{}", made.title.as_ref().unwrap_or(&made.name));
        }
        let has = |name: &str| edges.iter().any(|edge| edge.relationship == name);
        let verb = match () {
            () if has("prepared_from") => "prepare",
            () if has("promoted_from") => "promote",
            () if has("synced_from") => "sync",
            () => "generate",
        };
        format!("{verb}.{}", made.name)
    }

    fn dataset(&self, node: &Node) -> Value<'static> {
        let mut facets = Object::new();
        if let Some(version) = node.version {
            let more = [("datasetVersion", Value::from(version.to_string()))];
            facets.set("version", self.facet(VERSION, more));
        }
        if !node.fields.is_empty() {
            let field = |(name, kind): &(String, String)| {
                object([("name", Value::from(name.clone())), ("type", Value::from(kind.clone()))])
            };
            let fields = Value::Array(node.fields.iter().map(field).collect());
            facets.set("schema", self.facet(SCHEMA, [("fields", fields)]));
        }
        if let Some(digest) = &node.digest {
            let more = [("digest", Value::from(digest.clone()))];
            facets.set("heldset_digest", self.facet(&format!("{}#heldset_digest", self.producer), more));
        }
        let name = if node.kind == Kind::Source { format!("source:{}", node.name) } else { node.name.clone() };
        object([
            ("namespace", Value::from(self.namespace.to_owned())),
            ("name", Value::from(name)),
            ("facets", Value::Object(facets)),
        ])
    }

    fn parent(&self, run: &Node) -> Value<'static> {
        let id = object([("runId", Value::from(self.run_id(run)))]);
        let job =
            object([("namespace", Value::from(self.namespace.to_owned())), ("name", Value::from(self.job(run, &[])))]);
        self.facet(PARENT, [("run", id), ("job", job)])
    }

    fn facet<const N: usize>(&self, schema: &str, more: [(&'static str, Value<'static>); N]) -> Value<'static> {
        let mut facet = Object::new();
        facet.set("_producer", Value::from(self.producer.to_owned()));
        facet.set("_schemaURL", Value::from(schema.to_owned()));
        more.into_iter().for_each(|(name, value)| facet.set(name, value));
        Value::Object(facet)
    }

    /// A UUID that the same thing always has.
    fn run_id(&self, node: &Node) -> String {
        let digest = node.digest.as_deref().unwrap_or_default();
        uuid_of(&sha256(format!("heldset/lineage/1\n{}\n{}\n{digest}", self.namespace, node.cited()).as_bytes()))
    }
}

/// A digest in the form of a UUID of version 8, which is for uses like this one.
pub fn uuid_of(digest: &Digest) -> String {
    let hex = digest.hex();
    let variant = match hex.as_bytes().get(16) {
        Some(b'0' | b'4' | b'8' | b'c') => '8',
        Some(b'1' | b'5' | b'9' | b'd') => '9',
        Some(b'2' | b'6' | b'a' | b'e') => 'a',
        _ => 'b',
    };
    format!("{}-{}-8{}-{variant}{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..32])
}

fn object<const N: usize>(entries: [(&'static str, Value<'static>); N]) -> Value<'static> {
    let mut object = Object::with_capacity(N);
    entries.into_iter().for_each(|(name, value)| object.set(name, value));
    Value::Object(object)
}
