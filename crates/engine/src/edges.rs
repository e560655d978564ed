//! Edges of lineage as the verbs write them.
//!
//! *Invariant:* an edge appears with what it leads to, or not at all.

use heldset_store::StoreError;
use heldset_store::catalog::Batch;
use heldset_store::documents::{DatasetDoc, Document, VersionDoc};
use heldset_store::registry::{EdgeDoc, NodeDoc, edge_key};
use heldset_store::run::RunDoc;

/// Adds edges to a batch.
pub(crate) fn put(batch: &mut Batch, edges: &[EdgeDoc]) -> Result<(), StoreError> {
    for edge in edges {
        batch.put(edge_key(edge), edge.to_bytes()?);
    }
    Ok(())
}

/// A version as an end of an edge.
pub(crate) fn version_node(dataset: &DatasetDoc, version: &VersionDoc) -> NodeDoc {
    NodeDoc {
        kind: "dataset".to_owned(),
        name: dataset.slug.clone(),
        version: Some(version.number),
        digest: Some(version.digest.clone()),
    }
}

/// A run as an end of an edge.
pub(crate) fn run_node(id: &str) -> NodeDoc {
    NodeDoc { kind: "run".to_owned(), name: id.to_owned(), version: None, digest: None }
}

/// The version that a run was on, as an end of an edge.
pub(crate) fn data_node(run: &RunDoc) -> NodeDoc {
    NodeDoc {
        kind: "dataset".to_owned(),
        name: run.dataset.clone(),
        version: Some(run.version),
        digest: Some(run.digest.clone()),
    }
}

/// That a version is evaluated by a run.
pub(crate) fn evaluated(run: &RunDoc) -> EdgeDoc {
    EdgeDoc {
        child: run_node(&run.id),
        parent: data_node(run),
        relationship: "evaluated_by".to_owned(),
        time: run.started_at.clone(),
    }
}
