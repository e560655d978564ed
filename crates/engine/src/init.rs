//! `init`: a new store, and what holds for the whole of it.
//!
//! *Invariant:* a store is made whole or not at all; another region never makes data lie where it must not.

use std::path::Path;
use std::sync::Arc;

use heldset_core::code::Code;
use heldset_core::registry::resides;
use heldset_core::value::Value;
use heldset_core::visibility::Viewer;
use heldset_store::catalog::Batch;
use heldset_store::documents::Document;
use heldset_store::registry::{ConfigDoc, config_key};
use heldset_store::{Entropy, Probe, StoreFolder, StoreHead};

use crate::refusal::{Outcome, Refusal};
use crate::resolve::{datasets, mapping};
use crate::session::{Session, id_from};
use crate::{log, store_rules};

/// Makes a store in a folder.
pub fn init(
    folder: &Path,
    viewer: Viewer,
    entropy: &dyn Entropy,
    now: &str,
    probe: Arc<dyn Probe>,
) -> Outcome<StoreHead> {
    if !viewer.manages() {
        let message = format!("the audience `{}` may not use `init`", viewer.name());
        return Err(Refusal::denied(Code::E120, message, "run it as the owner, without `--as`"));
    }
    let head = StoreHead { id: id_from(entropy), created_at: now.to_owned() };
    StoreFolder::init(folder, &head, probe)?;
    Ok(head)
}

/// Refuses what no store can be configured with; before one is made.
pub fn check_config(config: &ConfigDoc) -> Outcome<()> {
    store_rules::check_names(config.require.as_deref().unwrap_or_default())?;
    match config.region.as_deref() {
        Some(region) if region.trim().is_empty() || region.chars().count() > 50 => {
            let message = format!("`{region}` cannot be a region: it has 1 to 50 characters");
            Err(Refusal::usage(Code::E105, message, "name it as your data does, such as `eu` or `eu-west-1`"))
        }
        _ => Ok(()),
    }
}

/// Changes what holds for a whole store; what is absent stays. The change is logged.
pub fn configure(session: &Session, change: &ConfigDoc) -> Outcome<ConfigDoc> {
    session.must_manage("init")?;
    check_config(change)?;
    check_residents(session, change)?;
    let mut written = ConfigDoc::default();
    log::commit(session, || {
        let before: Option<ConfigDoc> = session.store.document(&config_key())?;
        let known = before.clone().unwrap_or_default();
        written = ConfigDoc {
            region: change.region.clone().or(known.region),
            require: change.require.clone().or(known.require),
        };
        let mut batch = Batch::durable();
        if before.as_ref() == Some(&written) || before.is_none() && written == ConfigDoc::default() {
            return Ok(Batch::default());
        }
        batch.expect(config_key(), before.map(|before| before.to_bytes()).transpose()?);
        batch.put(config_key(), written.to_bytes()?);
        let region = written.region.as_deref().unwrap_or("-");
        let names: Vec<&str> = store_rules::requirements(&written).iter().map(|one| one.name()).collect();
        let note = format!("the region is {region}; a registration requires [{}]", names.join(", "));
        Ok::<_, Box<Refusal>>(log::logged(&session.store, &log::upkeep_entry(session, "init", "", note), batch)?)
    })?;
    Ok(written)
}

/// Refuses a region in which data that is here already may not lie.
fn check_residents(session: &Session, change: &ConfigDoc) -> Outcome<()> {
    for dataset in datasets(&session.store)? {
        let more = dataset.more.as_deref().map(mapping).unwrap_or_default();
        let Some(residency) = more.get("data_residency").and_then(Value::as_str) else { continue };
        if !resides(residency, change.region.as_deref()) {
            let (slug, region) = (&dataset.slug, change.region.as_deref().unwrap_or_default());
            let message = format!("dataset `{slug}` must lie in `{residency}`, which is not in `{region}`");
            return Err(Refusal::denied(Code::E049, message, "move the dataset to a store of its region first"));
        }
    }
    Ok(())
}
