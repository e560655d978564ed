//! `lineage`: what a dataset came from, what came from it, and what a change of it touches.
//!
//! *Invariant:* edges and manifests tell the same story, each once; no name of a sealed split or field is in it.

mod graph;
mod impact;

use heldset_core::cite::At;
use heldset_core::lineage::{Direction, Graph, Kind};

use crate::refusal::{Outcome, Refusal};
use crate::resolve::{self, Resolved, policy_of};
use crate::session::Session;
pub(crate) use graph::graph;
pub use impact::{Changed, IMPACTS, Impact, Touched, TouchedCopy, changed, impact, touched};

/// The surroundings of a dataset.
pub struct Lineage {
    /// The dataset.
    pub slug: String,
    /// Its name for people.
    pub name: String,
    /// The version that was asked for; the newest when none was.
    pub version: Option<u64>,
    /// The digest of that version.
    pub digest: Option<String>,
    /// Everything that is reached, and the edges between.
    pub graph: Graph,
    /// The nodes that were asked for.
    pub starts: Vec<usize>,
}

/// What a dataset, or one version of it, came from, and what came from it.
pub fn lineage(session: &Session, cite: &str, steps: Option<u64>) -> Outcome<Lineage> {
    let asked = resolve::parse(cite)?;
    let dataset = resolve::dataset(&session.store, &asked.slug)?;
    let all = graph(session)?;
    let (version, digest, starts) = match asked.at {
        At::Head => {
            let of_it = |at: &usize| all.nodes()[*at].kind == Kind::Dataset && all.nodes()[*at].name == dataset.slug;
            let starts: Vec<usize> = (0..all.nodes().len()).filter(of_it).collect();
            let newest = resolve::versions(&session.store, &dataset)?.pop();
            let newest = newest.map(|version| (version.number, version.digest));
            (newest.as_ref().map(|(number, _)| *number), newest.map(|(_, digest)| digest), starts)
        }
        _ => {
            let Resolved { version, .. } = resolve::resolve(&session.store, cite)?;
            let start = all.find(Kind::Dataset, &dataset.slug, Some(version.number));
            (Some(version.number), Some(version.digest), start.into_iter().collect())
        }
    };
    let mut nodes = starts.clone();
    for direction in [Direction::Up, Direction::Down] {
        nodes.extend(all.walk(&starts, direction, steps).iter().map(|reached| reached.node));
    }
    nodes.sort_unstable();
    nodes.dedup();
    let part = all.part(&nodes);
    let place = |at: &usize| nodes.binary_search(at).ok();
    let starts = starts.iter().filter_map(place).collect();
    Ok(Lineage { slug: dataset.slug, name: dataset.name, version, digest, graph: part, starts })
}

/// The names and types of the fields of a version's schema that the caller may know.
fn visible_fields(session: &Session, version: &heldset_store::documents::VersionDoc) -> Outcome<Vec<(String, String)>> {
    let schema = resolve::mapping(&version.schema);
    let Some(fields) = schema.get("fields").and_then(heldset_core::value::Value::as_array) else {
        return Ok(Vec::new());
    };
    let policy = policy_of(version)?;
    let mut splits = Vec::new();
    for split in &version.splits {
        splits.push(policy.in_split(&split.name).map_err(Box::<Refusal>::from)?);
    }
    let sees =
        |name: &str| splits.iter().any(|split| session.viewer.sees(split.own()) && session.viewer.sees(split.of(name)));
    let field = |field: &heldset_core::value::Value<'static>| {
        let field = field.as_object()?;
        let text = |name: &str| field.get(name).and_then(|value| value.as_str()).map(str::to_owned);
        Some((text("name")?, text("type").unwrap_or_else(|| "json".to_owned())))
    };
    Ok(fields.iter().filter_map(field).filter(|(name, _)| sees(name)).collect())
}
