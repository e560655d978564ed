//! The graph of a store: from edges where verbs wrote them, from manifests and runs where they did not.
//!
//! *Invariant:* a store from before edges has the same lineage as one with them.

use std::collections::HashMap;

use heldset_core::lineage::{Graph, Kind, Node};
use heldset_core::value::Value;
use heldset_store::documents::{DatasetDoc, Document, VersionDoc};
use heldset_store::registry::{EdgeDoc, NodeDoc};

use super::visible_fields;
use crate::refusal::Outcome;
use crate::resolve::{self, mapping};
use crate::results::all_runs;
use crate::session::Session;

/// Everything that came from something, in the whole store.
pub(crate) fn graph(session: &Session) -> Outcome<Graph> {
    let mut graph = Graph::default();
    let mut all: Vec<(DatasetDoc, Vec<VersionDoc>)> = Vec::new();
    for dataset in resolve::datasets(&session.store)? {
        let versions = resolve::versions(&session.store, &dataset)?;
        all.push((dataset, versions));
    }
    let mut by_digest: HashMap<String, usize> = HashMap::new();
    for (dataset, versions) in &all {
        for version in versions {
            let mut node = Node::version(&dataset.slug, version.number, Some(version.digest.clone()));
            node.title = Some(dataset.name.clone());
            node.fields = visible_fields(session, version)?;
            by_digest.insert(bare(&version.digest).to_owned(), graph.node(node));
        }
    }
    let runs = all_runs(session)?;
    for run in &runs {
        let mut node = Node::run(&run.id);
        node.title = Some(run.name.clone());
        graph.node(node);
    }
    for (_, bytes) in session.store.catalog().scan("edge", "")? {
        let edge = EdgeDoc::from_bytes(&bytes, "catalog: an edge")?;
        if let (Some(child), Some(parent)) = (node_of(&mut graph, &edge.child), node_of(&mut graph, &edge.parent)) {
            graph.edge(child, parent, &edge.relationship, &edge.time);
        }
    }
    for (dataset, versions) in &all {
        for version in versions {
            add_version(&mut graph, dataset, version, &by_digest);
        }
    }
    for run in &runs {
        let child = graph.node(Node::run(&run.id));
        let parent = graph.node(Node::version(&run.dataset, run.version, Some(run.digest.clone())));
        graph.edge(child, parent, "evaluated_by", &run.started_at);
    }
    Ok(graph)
}

fn node_of(graph: &mut Graph, end: &NodeDoc) -> Option<usize> {
    let kind = Kind::named(&end.kind)?;
    let (title, fields) = (None, Vec::new());
    let node = Node { kind, name: end.name.clone(), title, version: end.version, digest: end.digest.clone(), fields };
    Some(graph.node(node))
}

/// What a manifest says of where a version came from, if no edge says it.
fn add_version(graph: &mut Graph, dataset: &DatasetDoc, version: &VersionDoc, by_digest: &HashMap<String, usize>) {
    let Some(child) = graph.find(Kind::Dataset, &dataset.slug, Some(version.number)) else { return };
    let provenance = mapping(&version.provenance);
    let (mut first, prepared) = (true, provenance.contains("preparation"));
    for parent in &version.parents {
        let Some(parent) = by_digest.get(bare(parent)).copied() else { continue };
        // The version before is no lineage, but history.
        let node = &graph.nodes()[parent];
        if node.name == dataset.slug && node.version.is_some_and(|number| number + 1 == version.number) {
            continue;
        }
        let relationship = match (prepared, first) {
            (true, true) => "prepared_from",
            (true, false) => "looked_up_in",
            _ => "derived_from",
        };
        first = false;
        if !graph.has_edge(child, parent) {
            graph.edge(child, parent, relationship, &version.created_at);
        }
    }
    if let Some(run) = provenance.get("run").and_then(Value::as_str) {
        let run = graph.node(Node::run(run));
        if !graph.has_edge(child, run) {
            graph.edge(child, run, "generated_by", &version.created_at);
        }
    }
}

fn bare(digest: &str) -> &str {
    digest.trim_start_matches("sha256:")
}
