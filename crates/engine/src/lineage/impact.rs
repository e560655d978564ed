//! What a change of a dataset touches: what came from it, near or far, and the copies of all of it.
//!
//! *Invariant:* a field that a preparation left out touches nothing beyond it; a field that the caller does not see is
//! followed no further than one that does not exist.

use std::collections::{BTreeSet, VecDeque};

use heldset_core::code::Code;
use heldset_core::fault::nearest;
use heldset_core::lineage::{Graph, Kind};
use heldset_core::value::Value;
use heldset_store::documents::{CopyDoc, Document, VersionDoc, last_part, prefix};

use super::graph;
use crate::commit::Committed;
use crate::prepare::preparation_of;
use crate::refusal::{Outcome, Refusal};
use crate::resolve::{self, mapping, policy_of};
use crate::session::Session;

/// Kinds of changes, each with what those who are touched have to do.
pub const IMPACTS: [(Impact, &str, &str); 7] = [
    (Impact::Deletion, "deletion", "take the deleted records out: prepare or derive anew, and delete the copies"),
    (Impact::License, "license", "take over the license, or stop the use of what came from it"),
    (Impact::Policy, "policy", "label anew: what came from it keeps the labels that it was made with"),
    (Impact::Schema, "schema", "check the fields that are read, and prepare or run anew"),
    (Impact::Consent, "consent", "check the basis of the use, and delete what it no longer covers"),
    (Impact::Split, "split", "split anew, and compare no scores across the change"),
    (Impact::Deduplication, "deduplication", "prepare anew, and run anew: repeated records counted twice"),
];

/// A kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Impact {
    Deletion,
    License,
    Policy,
    Schema,
    Consent,
    Split,
    Deduplication,
}

/// What a change touches.
#[derive(Clone, Debug, Default)]
pub struct Touched {
    /// Versions of other datasets: slug, number, by which relationship they came from it.
    pub datasets: Vec<(String, u64, String)>,
    /// Runs.
    pub runs: Vec<String>,
    /// Copies of it and of what came from it that nobody has dealt with.
    pub copies: Vec<TouchedCopy>,
}

/// A copy that is touched.
#[derive(Clone, Debug)]
pub struct TouchedCopy {
    /// The dataset.
    pub dataset: String,
    /// The id of the copy.
    pub id: String,
    /// What is known of it.
    pub doc: CopyDoc,
}

/// What changed in a version, and whom it touches.
pub struct Changed {
    /// Which kinds of changes.
    pub kinds: Vec<&'static str>,
    /// Who is touched.
    pub touched: Touched,
}

impl Impact {
    /// The kind of that name, or the nearest.
    pub fn named(name: &str) -> Outcome<Impact> {
        let names = || IMPACTS.iter().map(|(_, name, _)| *name);
        let found = IMPACTS.iter().find(|(_, known, _)| *known == name);
        found.map(|(impact, ..)| *impact).ok_or_else(|| {
            let help = match nearest(name, names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there is `{}`", names().collect::<Vec<_>>().join("`, `")),
            };
            Refusal::usage(Code::E103, format!("there is no change `{name}`"), help)
        })
    }

    /// The name, and what those who are touched have to do.
    pub fn words(self) -> (&'static str, &'static str) {
        let found = IMPACTS.iter().find(|(impact, ..)| *impact == self);
        found.map_or(("", ""), |(_, name, help)| (name, help))
    }
}

impl Touched {
    /// Whether nothing is.
    pub fn is_empty(&self) -> bool {
        self.datasets.is_empty() && self.runs.is_empty() && self.copies.is_empty()
    }

    /// How many, in words.
    pub fn words(&self) -> String {
        let count = |count: usize, one: &str, more: &str| format!("{count} {}", if count == 1 { one } else { more });
        let versions = count(self.datasets.len(), "derived version", "derived versions");
        let runs = count(self.runs.len(), "run", "runs");
        format!("{versions}, {runs} and {}", count(self.copies.len(), "copy", "copies"))
    }
}

/// What a change of a dataset, or of one version of it, would touch.
pub fn impact(session: &Session, cite: &str, field: Option<&str>) -> Outcome<Touched> {
    session.must_manage("lineage --impact")?;
    let asked = resolve::parse(cite)?;
    let dataset = resolve::dataset(&session.store, &asked.slug)?;
    let only = match asked.at {
        heldset_core::cite::At::Head => None,
        _ => Some(BTreeSet::from([resolve::resolve(&session.store, cite)?.version.number])),
    };
    follow(session, &dataset.slug, only.as_ref(), field)
}

/// What came from a dataset, from some of its versions or from all of them.
pub fn touched(session: &Session, slug: &str, versions: Option<&BTreeSet<u64>>) -> Outcome<Touched> {
    follow(session, slug, versions, None)
}

/// What a new version changed beside its records, and whom that touches; nothing if nothing did.
pub fn changed(session: &Session, committed: &Committed) -> Outcome<Option<Changed>> {
    let version = &committed.version;
    if !committed.created || version.number < 2 {
        return Ok(None);
    }
    let slug = &committed.dataset.slug;
    let versions = resolve::versions(&session.store, &committed.dataset)?;
    let Some(before) = versions.iter().rev().find(|known| known.number < version.number) else { return Ok(None) };
    let kinds = kinds_of(before, version);
    let earlier: BTreeSet<u64> = versions.iter().map(|known| known.number).filter(|n| *n < version.number).collect();
    let touched = if kinds.is_empty() { Touched::default() } else { touched(session, slug, Some(&earlier))? };
    Ok((!touched.is_empty()).then_some(Changed { kinds, touched }))
}

fn kinds_of(before: &VersionDoc, after: &VersionDoc) -> Vec<&'static str> {
    let license = |version: &VersionDoc| mapping(&version.provenance).get("license").cloned();
    let splits = |version: &VersionDoc| version.splits.iter().map(|split| split.name.clone()).collect::<BTreeSet<_>>();
    let mut kinds = Vec::new();
    if before.policy != after.policy {
        kinds.push("policy");
    }
    if license(before) != license(after) {
        kinds.push("license");
    }
    if before.schema != after.schema {
        kinds.push("schema");
    }
    if splits(before) != splits(after) {
        kinds.push("split");
    }
    kinds
}

fn follow(session: &Session, slug: &str, only: Option<&BTreeSet<u64>>, field: Option<&str>) -> Outcome<Touched> {
    let graph = graph(session)?;
    let mut touched = Touched::default();
    let mut seen: BTreeSet<usize> = BTreeSet::new();
    let mut open: VecDeque<(usize, Option<String>)> = VecDeque::new();
    for (at, node) in graph.nodes().iter().enumerate() {
        let meant = only.is_none_or(|only| node.version.is_some_and(|number| only.contains(&number)));
        if node.kind == Kind::Dataset && node.name == slug && meant {
            seen.insert(at);
            open.push_back((at, field.map(str::to_owned)));
        }
    }
    let starts = seen.clone();
    while let Some((at, field)) = open.pop_front() {
        for edge in graph.edges().iter().filter(|edge| edge.parent == at) {
            let Some(field) = carried(session, &graph, edge.child, at, field.as_deref())? else { continue };
            if !seen.insert(edge.child) {
                continue;
            }
            let node = &graph.nodes()[edge.child];
            match node.kind {
                Kind::Dataset => {
                    touched.datasets.push((node.name.clone(), node.version.unwrap_or(0), edge.relationship.clone()));
                }
                Kind::Run => touched.runs.push(node.name.clone()),
                Kind::Source => {}
            }
            open.push_back((edge.child, field));
        }
    }
    touched.datasets.retain(|(name, ..)| name != slug || only.is_some());
    touched.datasets.sort();
    touched.runs.sort();
    for at in starts.iter().chain(seen.difference(&starts)) {
        copies_of(session, &graph, *at, &mut touched.copies)?;
    }
    Ok(touched)
}

/// The name that a field has in what came from a version; nothing if it is not there.
#[allow(clippy::option_option, reason = "no field was asked for, or the field is not there")]
fn carried(
    session: &Session,
    graph: &Graph,
    child: usize,
    parent: usize,
    field: Option<&str>,
) -> Outcome<Option<Option<String>>> {
    let Some(field) = field else { return Ok(Some(None)) };
    let (node, from) = (&graph.nodes()[child], &graph.nodes()[parent]);
    let unchanged = Ok(Some(Some(field.to_owned())));
    let (Kind::Dataset, Some(number), Some(before)) = (node.kind, node.version, from.version) else { return unchanged };
    let Some(dataset) = resolve::find_dataset(&session.store, &node.name)? else { return unchanged };
    let Ok(version) = resolve::version(&session.store, &dataset, number) else { return unchanged };
    if !sees(session, &from.name, before, field)? {
        return unchanged;
    }
    let id = mapping(&version.provenance).get("preparation").and_then(Value::as_str).map(str::to_owned);
    let Some(preparation) = id.and_then(|id| preparation_of(session, &dataset.id, &id)) else { return unchanged };
    let looked_up = graph
        .edges()
        .iter()
        .any(|edge| (edge.child, edge.parent) == (child, parent) && edge.relationship == "looked_up_in");
    if !looked_up {
        return Ok(preparation.final_name(field).map(|name| Some(name.to_owned())));
    }
    let taken = preparation.lookups.iter().flat_map(|lookup| &lookup.fields).find(|(there, _)| there == field);
    Ok(taken.and_then(|(_, here)| preparation.final_name(here)).map(|name| Some(name.to_owned())))
}

/// Whether the caller may know of a field of a version.
fn sees(session: &Session, slug: &str, number: u64, field: &str) -> Outcome<bool> {
    let Some(dataset) = resolve::find_dataset(&session.store, slug)? else { return Ok(false) };
    let Ok(version) = resolve::version(&session.store, &dataset, number) else { return Ok(false) };
    let policy = policy_of(&version)?;
    for split in &version.splits {
        let labels = policy.in_split(&split.name)?;
        if session.viewer.sees(labels.own()) && session.viewer.sees(labels.of(field)) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn copies_of(session: &Session, graph: &Graph, at: usize, copies: &mut Vec<TouchedCopy>) -> Outcome<()> {
    let node = &graph.nodes()[at];
    let (Kind::Dataset, Some(number)) = (node.kind, node.version) else { return Ok(()) };
    let Some(dataset) = resolve::find_dataset(&session.store, &node.name)? else { return Ok(()) };
    for (key, bytes) in session.store.catalog().scan("copy", &prefix(&[&dataset.id]))? {
        let doc = CopyDoc::from_bytes(&bytes, "catalog: a copy")?;
        if doc.version == number && doc.state != "done" {
            copies.push(TouchedCopy { dataset: dataset.slug.clone(), id: last_part(&key).to_owned(), doc });
        }
    }
    Ok(())
}
