//! Writing the results of a run: rows in the order of the plan become packs, sealed like all that is at rest.
//!
//! *Invariant:* a run is finished exactly when its document says so, and then all its packs are at rest.

use std::collections::BTreeMap;

use heldset_core::canonical;
use heldset_core::leaf::Leaves;
use heldset_core::merkle::Tree;
use heldset_core::value::Value;
use heldset_core::visibility::SplitLabels;
use heldset_store::catalog::Batch;
use heldset_store::documents::{ChunkDoc, Document, PackDoc};
use heldset_store::pack::{PACK_BYTES, PACK_ROWS, PackDraft, Stager};
use heldset_store::run::{RunDoc, RunTargetDoc, run_cite_key, run_key, run_pack_key};
use heldset_store::{DatasetKeys, Sealing, Store, StoreError};

use super::Row;
use super::columns::labels;
use crate::gather::{Packing, write_pack};
use crate::log;
use crate::refusal::Outcome;
use crate::session::Session;

/// Takes rows in any order and writes them in that of the plan.
pub(crate) struct Writer<'s> {
    store: &'s Store,
    labels: SplitLabels,
    sealing: Sealing,
    stager: Stager,
    draft: PackDraft,
    /// Rows that wait for those before them.
    waiting: BTreeMap<u64, Row>,
    next: u64,
    tree: Tree,
    packs: Vec<PackDoc>,
}

/// Rows at rest, not yet named by a run.
pub(crate) struct Written {
    packs: Vec<PackDoc>,
    root: String,
}

impl<'s> Writer<'s> {
    /// Starts to write the results of a run on a dataset.
    pub(crate) fn new(store: &'s Store, dataset: &str, run: &str, keys: &DatasetKeys) -> Outcome<Self> {
        let labels = labels()?;
        Ok(Writer {
            store,
            sealing: Sealing { dataset: dataset.to_owned(), canary: run.to_owned(), key: keys.newest() },
            stager: Stager::new(Leaves::committed(labels.clone(), &keys.commit_key())),
            labels,
            draft: PackDraft::default(),
            waiting: BTreeMap::new(),
            next: 0,
            tree: Tree::new(),
            packs: Vec::new(),
        })
    }

    /// Takes a row.
    pub(crate) fn push(&mut self, row: Row) -> Outcome<()> {
        self.waiting.insert(row.number, row);
        while let Some(row) = self.waiting.remove(&self.next) {
            self.stage(&row)?;
            self.next += 1;
        }
        Ok(())
    }

    /// Writes what is left.
    pub(crate) fn finish(mut self) -> Outcome<Written> {
        for row in std::mem::take(&mut self.waiting).into_values() {
            self.stage(&row)?;
        }
        self.flush()?;
        Ok(Written { packs: self.packs, root: self.tree.head().hex() })
    }

    fn stage(&mut self, row: &Row) -> Outcome<()> {
        let staged = self.stager.stage(&row.to_record());
        self.tree.push(staged.leaf);
        self.draft.push(&staged);
        if self.draft.len() >= PACK_ROWS || self.draft.weight() >= PACK_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Outcome<()> {
        if self.draft.is_empty() {
            return Ok(());
        }
        let packing = Packing { store: self.store, labels: &self.labels, sealing: &self.sealing };
        let rows = self.draft.len() as u64;
        let chunk = ChunkDoc { root: self.tree.head().hex(), rows, erased: BTreeMap::new() };
        self.packs.push(write_pack(packing, &self.draft, vec![chunk])?);
        self.draft.clear();
        Ok(())
    }
}

/// A text that only those who may see scores can read.
pub(crate) fn sealed(store: &Store, dataset: &str, value: &Value<'_>) -> Outcome<String> {
    let text = String::from_utf8(canonical::bytes(value)).expect("canonical bytes are UTF-8");
    Ok(store.seal_note(dataset, &text)?)
}

/// Writes the document of a run that begins or goes on.
pub(crate) fn begin(session: &Session, doc: &RunDoc) -> Outcome<()> {
    let mut batch = Batch::durable();
    batch.put(run_key(&doc.id), at_rest(doc).to_bytes()?);
    batch.put(run_cite_key(&doc.dataset_id, doc.version, &doc.id), Vec::new());
    crate::edges::put(&mut batch, &[crate::edges::evaluated(doc)])?;
    Ok(session.store.commit(&batch)?)
}

/// The configurations and identities of targets, sealed.
pub(crate) fn sealed_configs(store: &Store, dataset: &str, targets: &[RunTargetDoc]) -> Outcome<String> {
    let both = |target: &RunTargetDoc| (target.config.clone(), target.identity.clone());
    Ok(store.seal_note(dataset, &targets.iter().map(both).collect::<Vec<_>>())?)
}

/// The document as it is kept: without what is sealed beside.
fn at_rest(doc: &RunDoc) -> RunDoc {
    let mut kept = doc.clone();
    for target in &mut kept.targets {
        target.config.clear();
        target.identity.clear();
    }
    kept
}

/// Finishes a run: its packs and its document become visible together, with an entry in the log.
pub(crate) fn finish(session: &Session, doc: &mut RunDoc, written: Written) -> Outcome<()> {
    doc.root = Some(written.root);
    doc.packs = written.packs.iter().map(PackDoc::name).collect::<Result<_, _>>()?;
    let doc = &*doc;
    let note = format!("run {}: {}", doc.id, balance_words(doc));
    let mut entry = log::upkeep_entry(session, "run", &doc.dataset, note);
    entry.version.clone_from(&doc.digest);
    entry.rows = doc.balance.planned;
    let made = || -> Result<Batch, StoreError> {
        let mut batch = Batch::durable();
        for (name, pack) in doc.packs.iter().zip(&written.packs) {
            batch.put(run_pack_key(&doc.dataset_id, &doc.id, name), pack.to_bytes()?);
        }
        batch.put(run_key(&doc.id), at_rest(doc).to_bytes()?);
        log::logged(&session.store, &entry, batch)
    };
    Ok(log::commit(session, made)?)
}

/// The balance in one line.
pub(crate) fn balance_words(doc: &RunDoc) -> String {
    let balance = &doc.balance;
    let (planned, scored, unscored) = (balance.planned, balance.scored, balance.unscored);
    format!(
        "planned {planned} = scored {scored} + unscored {unscored} + error {} + skipped {}",
        balance.error, balance.skipped
    )
}
