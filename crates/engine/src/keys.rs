//! `keys`: the keys of a store, taken out to be kept safe and brought back.
//!
//! *Invariant:* the log says so before keys leave. Keys of another store, and keys that differ from those that are
//! here, are not taken in; either all of a file is taken in or nothing.

use std::collections::BTreeSet;

use heldset_core::code::Code;
use heldset_store::catalog::Batch;
use heldset_store::documents::{BackupDoc, Document, backup_key};
use heldset_store::{KeyFile, StoreError};

use crate::log;
use crate::refusal::{Outcome, Refusal};
use crate::resolve;
use crate::session::Session;

/// Keys that are taken out.
pub struct Exported {
    /// The keys.
    pub file: KeyFile,
    /// Datasets whose keys are not here.
    pub missing: Vec<String>,
}

/// What became of the keys of a file.
pub struct Imported {
    /// Datasets whose keys are new here.
    pub added: Vec<String>,
    /// Datasets whose keys were here already.
    pub kept: Vec<String>,
    /// Whether the key that signs checkpoints is new here.
    pub signer: bool,
}

/// Takes out the keys of one dataset, or of all with the key that signs checkpoints.
pub fn export(session: &Session, slug: Option<&str>) -> Outcome<Exported> {
    session.must_own("keys")?;
    let store = &session.store;
    let datasets = match slug {
        Some(slug) => vec![resolve::dataset(store, slug)?],
        None => resolve::datasets(store)?,
    };
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for dataset in datasets {
        match store.keys().load(&dataset.id)? {
            Some(keys) => found.push((dataset.id, dataset.slug, keys)),
            None if slug.is_some() => return Err(StoreError::NoKey { dataset: dataset.slug }.into()),
            None => missing.push(dataset.slug),
        }
    }
    let audit = if slug.is_none() { store.keys().audit()? } else { None };
    let note = format!("the keys of {} datasets are exported", found.len());
    log::append(session, &log::upkeep_entry(session, "keys", slug.unwrap_or_default(), note), true)?;
    let file = KeyFile { store: store.id().to_owned(), datasets: found, audit };
    Ok(Exported { file, missing })
}

/// Notes that the keys were written down, so that nobody needs to be reminded.
pub fn written_down(session: &Session, exported: &Exported) -> Outcome<()> {
    log::commit(session, || {
        let before = session.store.catalog().get(&backup_key())?;
        let known = before.as_ref().map(|bytes| BackupDoc::from_bytes(bytes, "catalog: backup")).transpose()?;
        let mut datasets: BTreeSet<String> = known.map(|known| known.datasets).unwrap_or_default();
        datasets.extend(exported.file.datasets.iter().map(|(id, ..)| id.clone()));
        let doc = BackupDoc { time: session.clock.now(), datasets };
        let mut batch = Batch { durable: true, ..Batch::default() };
        batch.expect(backup_key(), before);
        batch.put(backup_key(), doc.to_bytes()?);
        Ok::<_, Box<Refusal>>(batch)
    })
}

/// Brings keys back.
pub fn import(session: &Session, file: &KeyFile) -> Outcome<Imported> {
    session.must_own("keys")?;
    let store = &session.store;
    if file.store != store.id() {
        return Err(Refusal::usage(
            Code::E103,
            format!("these are keys of the store `{}`, and this is `{}`", file.store, store.id()),
            "name the store they are of with `--store DIR`",
        ));
    }
    let mut imported = Imported { added: Vec::new(), kept: Vec::new(), signer: false };
    for (id, slug, keys) in &file.datasets {
        match store.keys().load(id)? {
            None => imported.added.push(slug.clone()),
            Some(known) if known.to_text() == keys.to_text() => imported.kept.push(slug.clone()),
            Some(_) => return Err(other_keys(&format!("the dataset `{slug}` has"))),
        }
    }
    if let Some(signer) = &file.audit {
        let known = store.keys().audit()?;
        imported.signer = known.is_none();
        if known.is_some_and(|known| known != *signer) {
            return Err(other_keys("the audit log has"));
        }
    }
    let note = format!("the keys of {} datasets are imported", imported.added.len());
    log::append(session, &log::upkeep_entry(session, "keys", "", note), true)?;
    for (id, slug, keys) in &file.datasets {
        if imported.added.contains(slug) {
            store.keys().save(id, keys)?;
        }
    }
    if let Some(signer) = file.audit.as_ref().filter(|_| imported.signer) {
        store.keys().save_audit(signer)?;
    }
    Ok(imported)
}

fn other_keys(whose: &str) -> Box<Refusal> {
    Refusal::usage(
        Code::E116,
        format!("{whose} other keys here already; nothing was imported"),
        "move the key files that are here aside if those of the file are the right ones",
    )
}
