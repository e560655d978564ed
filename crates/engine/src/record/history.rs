//! The history of one record: which of its own versions each version of the dataset has.
//!
//! *Invariant:* what is read here is hashed and compared, and nothing of it is handed out but leaves. A viewer who
//! does not see every label of the split gets no leaf, and is told apart only what the viewer can see.

use std::collections::HashMap;

use heldset_core::canonical;
use heldset_core::cite::RecordCite;
use heldset_core::digest::{Digest, sha256};
use heldset_core::leaf::Leaves;
use heldset_core::visibility::{Grant, Place, Policy, SplitLabels, decide, upkeep};
use heldset_store::documents::{SplitDoc, VersionDoc};
use heldset_store::{DatasetKeys, StoreError};

use super::{RecordRequest, first_with, no_such, open, until};
use crate::cat::unknown_record;
use crate::refusal::Outcome;
use crate::resolve::{Resolved, policy_of, split as split_of};
use crate::rows::{Reading, SplitRows};
use crate::session::Session;
use crate::view::{Batch, View};

/// One of a record's own versions.
#[derive(Clone, Debug)]
pub struct RecordVersion {
    /// Its number, from 1.
    pub number: u64,
    /// Its leaf, for those who see all of the record.
    pub leaf: Option<Digest>,
    /// The versions of the dataset that have it, oldest first; at least one.
    pub versions: Vec<u64>,
    /// When the first of them was registered.
    pub created_at: String,
}

/// Lists a record's own versions up to the version that is cited, oldest first.
pub fn history(session: &Session, request: &RecordRequest<'_>) -> Outcome<Vec<RecordVersion>> {
    let view = open(session, request)?;
    let place = request.place.unwrap_or_else(|| session.viewer.place());
    for reading in RecordCite::readings(request.id) {
        if let Some((_, trace)) = find(session, &view, reading.id, place)? {
            return match reading.version {
                Some(number) if number > trace.len() as u64 => Err(no_such(&view, reading.id, number, trace.len())),
                _ => Ok(trace),
            };
        }
    }
    Err(unknown_record(&view, request.id))
}

/// The history of a record in its split: in the first that has it now, else in the first that had it.
pub(super) fn find(
    session: &Session,
    view: &View<'_>,
    id: &str,
    place: Place,
) -> Outcome<Option<(String, Vec<RecordVersion>)>> {
    let until = until(session, &view.resolved)?;
    let now = first_with(view, id)?.map(|(index, _)| view.splits[index].doc.name.clone());
    let names = match now {
        Some(name) => vec![name],
        None => view.splits.iter().filter(|split| !split.doc.files).map(|split| split.doc.name.clone()).collect(),
    };
    for name in names {
        let trace = trace(session, &view.resolved, &until, &name, id, place)?;
        if !trace.is_empty() {
            return Ok(Some((name, trace)));
        }
    }
    Ok(None)
}

/// The history of a record in one split, along these versions.
pub(super) fn trace(
    session: &Session,
    resolved: &Resolved,
    versions: &[VersionDoc],
    split: &str,
    id: &str,
    place: Place,
) -> Outcome<Vec<RecordVersion>> {
    let mut tracer = Tracer::new(session, resolved, split, id, place)?;
    let mut moments = Vec::new();
    for version in versions {
        let Some(doc) = split_of(version, split).filter(|doc| !doc.files) else { continue };
        let rules = tracer.rules_of(version)?;
        if tracer.rules[rules].covered {
            moments.push((version, doc, rules));
        }
    }
    let sees = |labels: &SplitLabels| labels.labels().iter().all(|label| session.viewer.sees(label));
    let whole = moments.iter().all(|(_, _, rules)| sees(&tracer.rules[*rules].labels));
    let mut found: Vec<(Digest, RecordVersion)> = Vec::new();
    for (version, doc, rules) in moments {
        let Some(digest) = tracer.digest(doc, rules, whole)? else { continue };
        if let Some((_, known)) = found.iter_mut().find(|(known, _)| *known == digest) {
            known.versions.push(version.number);
            continue;
        }
        let own = RecordVersion {
            number: found.len() as u64 + 1,
            leaf: whole.then_some(digest),
            versions: vec![version.number],
            created_at: version.created_at.clone(),
        };
        found.push((digest, own));
    }
    Ok(found.into_iter().map(|(_, own)| own).collect())
}

/// Where a row is: pack and row.
type Spot = (usize, u64);

/// What a policy says of the split.
struct Rules {
    labels: SplitLabels,
    /// What the viewer may see.
    grant: Grant,
    /// Whether the viewer may see the ids.
    covered: bool,
}

/// Follows one record through versions; nothing is read twice.
struct Tracer<'t> {
    session: &'t Session,
    dataset: &'t str,
    split: &'t str,
    id: &'t str,
    place: Place,
    keys: Option<DatasetKeys>,
    packs: SplitRows,
    /// By the text of the policy.
    known_rules: HashMap<String, usize>,
    rules: Vec<Rules>,
    /// Where the record is at rest, by the label that the ids lie under.
    spots: HashMap<String, Vec<Spot>>,
    /// By root of the split and policy.
    roots: HashMap<(String, usize), Option<Spot>>,
    digests: HashMap<(Spot, usize), Digest>,
}

impl<'t> Tracer<'t> {
    fn new(
        session: &'t Session,
        resolved: &'t Resolved,
        split: &'t str,
        id: &'t str,
        place: Place,
    ) -> Result<Self, StoreError> {
        let dataset = resolved.dataset.id.as_str();
        Ok(Tracer {
            session,
            dataset,
            split,
            id,
            place,
            keys: session.store.keys().load(dataset)?,
            packs: SplitRows::known(&session.store, dataset, split)?,
            known_rules: HashMap::new(),
            rules: Vec::new(),
            spots: HashMap::new(),
            roots: HashMap::new(),
            digests: HashMap::new(),
        })
    }

    fn rules_of(&mut self, version: &VersionDoc) -> Outcome<usize> {
        if let Some(known) = self.known_rules.get(&version.policy) {
            return Ok(*known);
        }
        let policy: Policy = policy_of(version)?;
        let labels = policy.in_split(self.split)?;
        let grant = decide(&policy, self.session.viewer, self.place);
        let covered = grant.covers(labels.own());
        self.known_rules.insert(version.policy.clone(), self.rules.len());
        self.rules.push(Rules { labels, grant, covered });
        Ok(self.rules.len() - 1)
    }

    /// What tells the record apart in a version: its leaf, or a digest of what can be seen. Nothing if it is not there.
    fn digest(&mut self, doc: &SplitDoc, rules: usize, whole: bool) -> Outcome<Option<Digest>> {
        let Some(spot) = self.spot(doc, rules)? else { return Ok(None) };
        if let Some(known) = self.digests.get(&(spot, rules)) {
            return Ok(Some(*known));
        }
        let (under, upkeep) = (&self.rules[rules], upkeep());
        let grant = if whole { &upkeep } else { &under.grant };
        let reading = self.reading(&under.labels, grant);
        let (pack, row) = spot;
        let batch = Batch::of(reading.groups(&self.packs.packs[pack].1, std::slice::from_ref(&(row..row + 1)))?);
        let record = batch.record(0)?;
        let digest = if whole {
            let no_key = || StoreError::NoKey { dataset: self.dataset.to_owned() };
            let key = self.keys.as_ref().ok_or_else(no_key)?.commit_key();
            Leaves::committed(under.labels.clone(), &key).leaf(&record)
        } else {
            let mut bytes = Vec::new();
            canonical::write_object(&record.fields, &mut bytes);
            sha256(&bytes)
        };
        self.digests.insert((spot, rules), digest);
        Ok(Some(digest))
    }

    fn spot(&mut self, doc: &SplitDoc, rules: usize) -> Result<Option<Spot>, StoreError> {
        let key = (doc.root.clone(), rules);
        if let Some(known) = self.roots.get(&key) {
            return Ok(*known);
        }
        let own = self.rules[rules].labels.own().name().to_owned();
        if !self.spots.contains_key(&own) {
            let upkeep = upkeep();
            let spots = self.packs.find(&self.reading(&self.rules[rules].labels, &upkeep), self.id)?;
            self.spots.insert(own.clone(), spots);
        }
        let chunks = SplitRows::chunks_of(&self.session.store, self.dataset, doc)?;
        let here = |(pack, row): &&Spot| {
            let Some((chunk, _)) = self.packs.chunk_at(*pack, *row) else { return false };
            let root: Result<Digest, _> = self.packs.packs[*pack].1.chunks[chunk].root.parse();
            root.is_ok_and(|root| chunks.iter().any(|(known, _)| *known == root))
        };
        let spot = self.spots.get(&own).and_then(|spots| spots.iter().find(here)).copied();
        self.roots.insert(key, spot);
        Ok(spot)
    }

    fn reading<'r>(&'r self, labels: &'r SplitLabels, grant: &'r Grant) -> Reading<'r> {
        let (store, keys) = (&self.session.store, self.keys.as_ref());
        Reading { store, keys, dataset: self.dataset, labels, grant }
    }
}
