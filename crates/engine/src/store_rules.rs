//! What holds for a whole store: its region, and what a registration must come with.
//!
//! *Invariant:* a store that says nothing has no region and asks for what is usual.

use heldset_core::code::Code;
use heldset_core::registry::{Declared, Requirement, resides};
use heldset_store::Store;
use heldset_store::registry::{ConfigDoc, config_key};

use crate::refusal::{Outcome, Refusal};

/// What a store says of itself.
pub fn of(store: &Store) -> Outcome<ConfigDoc> {
    Ok(store.document(&config_key())?.unwrap_or_default())
}

/// What a registration must come with.
pub fn requirements(config: &ConfigDoc) -> Vec<Requirement> {
    match &config.require {
        Some(names) => names.iter().filter_map(|name| Requirement::parse(name)).collect(),
        None => Requirement::DEFAULT.to_vec(),
    }
}

/// Refuses names that are no requirements.
pub(crate) fn check_names(names: &[String]) -> Outcome<()> {
    let wrong = names.iter().find(|name| Requirement::parse(name).is_none());
    wrong.map_or(Ok(()), |name| {
        let message = format!("a registration cannot require `{name}`");
        Err(Refusal::unknown(message, name, Requirement::NAMES.iter().copied()))
    })
}

/// Refuses data that must lie in another region than the store does.
pub(crate) fn check_region(store: &Store, residency: &str) -> Outcome<()> {
    let region = of(store)?.region;
    if resides(residency, region.as_deref()) {
        return Ok(());
    }
    let region = region.unwrap_or_default();
    Err(Refusal::denied(
        Code::E049,
        format!("the data must lie in `{residency}`, and this store lies in `{region}`"),
        format!("use a store that was made with `heldset init --region {residency}`"),
    ))
}

/// Refuses a registration that lacks what the store asks for.
pub(crate) fn check_registration(store: &Store, slug: &str, declared: &Declared) -> Outcome<()> {
    let asked = requirements(&of(store)?);
    let unmet: Vec<_> = asked.iter().filter_map(|one| one.unmet(declared)).collect();
    if unmet.is_empty() {
        return Ok(());
    }
    let what: Vec<String> = unmet.iter().map(|unmet| format!("`{}`", unmet.what)).collect();
    let help: Vec<&str> = unmet.iter().map(|unmet| unmet.help.as_str()).collect();
    let message = format!("the store requires {} of a registration, and `{slug}` comes without", what.join(", "));
    Err(Refusal::invalid(Code::E077, message, help.join("; ")))
}
