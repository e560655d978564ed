//! What the store asks of a registration, and what of its metadata a declaration may say.
//!
//! *Invariant:* everything is checked before the first file is read. A declaration describes; it does not certify, and
//! does not move a dataset through its life.

use heldset_core::code::Code;
use heldset_core::declaration::Declaration;
use heldset_core::manifest::Mode;
use heldset_core::registry::{Declared, Status};
use heldset_core::value::Value;
use heldset_store::documents::DatasetDoc;

use super::plan::Plan;
use crate::import::Target;
use crate::refusal::{Outcome, Refusal};
use crate::resolve::mapping;
use crate::session::Session;
use crate::status::{self, text_of};
use crate::store_rules;

/// What a dataset keeps although its declaration says nothing of it: others say it, or it came with the data.
const KEPT: [&str; 7] =
    ["status", "certification_level", "owner_id", "policy_tags", "quality_score", "record_count", "size_bytes"];
/// What a declaration says and the dataset has elsewhere, or not by being declared.
const ELSEWHERE: [&str; 3] = ["status", "certification_level", "deletion_status"];

/// Refuses a declaration that lacks what the store asks for.
pub(super) fn check(session: &Session, declaration: &Declaration, plans: &[Plan<'_>], target: &Target) -> Outcome<()> {
    let names: Vec<&String> = plans.iter().flat_map(|plan| &plan.names).collect();
    let unpinned = names.iter().filter(|name| !declaration.checksum.contains_key(**name));
    let declared = Declared {
        // Every file that is read here is digested as it is read, and one that stays is pinned by its digest.
        without_digest: Vec::new(),
        without_pin: unpinned.map(|name| (*name).clone()).collect(),
        license: declaration.license.is_some() || target.dataset.license.is_some(),
        provenance: !declaration.provenance.is_empty()
            || !declaration.parents.is_empty()
            || super::stream::is_stream(declaration),
        without_label: plans.iter().filter(|plan| !labelled(declaration, plan, target)).map(name_of).collect(),
    };
    store_rules::check_registration(&session.store, &declaration.slug, &declared)
}

fn name_of(plan: &Plan<'_>) -> String {
    plan.split.name.clone()
}

/// Whether something says who may see a split: the declaration, the version before, the parents of what was made; of
/// mounted files, that they lie in the clear; of records, the profile, which seals answers or refuses them.
fn labelled(declaration: &Declaration, plan: &Plan<'_>, target: &Target) -> bool {
    let name = &plan.split.name;
    let stated = declaration.visibility.as_ref();
    let stated = stated.is_some_and(|policy| policy.splits.contains_key(name) || policy.default.is_some());
    let known = target.head.as_ref().is_some_and(|(_, policy)| policy.splits().any(|(split, _)| split == name));
    let derived = declaration.mode == Mode::Generated && !declaration.parents.is_empty();
    plan.split.visibility.is_some() || stated || known || derived || plan.pinned || !plan.files
}

/// Refuses a declaration that would move the dataset through its life, or certify it.
pub(super) fn check_metadata(session: &Session, declaration: &Declaration, dataset: &DatasetDoc) -> Outcome<()> {
    let stated = |name: &str| declaration.metadata.get(name).and_then(Value::as_str);
    let slug = &dataset.slug;
    let now = if dataset.head == 0 { Status::Active } else { status::of(dataset) };
    if let Some(to) = stated("status").and_then(Status::parse)
        && !matches!(to, Status::Draft | Status::Active)
        && to != now
    {
        let message = format!("a declaration cannot make `{slug}` `{}`: it is `{}`", to.name(), now.name());
        let help = format!("register it, then move it with `heldset dataset status {slug} {}`", to.name());
        return Err(Refusal::usage(Code::E047, message, help));
    }
    let level = status::level_of(dataset).name();
    if let Some(to) = stated("certification_level").filter(|to| *to != level && *to != "none") {
        let message = format!("a declaration cannot certify `{slug}` as `{to}`");
        let help = format!("register it, then `heldset dataset status {slug} published --certification {to}`");
        return Err(Refusal::usage(Code::E048, message, help));
    }
    if let Some(residency) = stated("data_residency") {
        store_rules::check_region(&session.store, residency)?;
    }
    match stated("deletion_status") {
        Some(to) => crate::dataset::check_deletion_of(session, dataset, to),
        None => Ok(()),
    }
}

/// All else that is declared of a dataset, as documents keep it.
pub(super) fn declared_more(declaration: &Declaration) -> Option<String> {
    let mut more = declaration.metadata.clone();
    for name in ELSEWHERE {
        more.remove(name);
    }
    (!more.is_empty()).then(|| text_of(more))
}

/// What else is said of a dataset once it is declared so: what the declaration no longer says is taken away, but for
/// what others say.
pub(super) fn more(declaration: &Declaration, dataset: &DatasetDoc) -> Option<String> {
    let before = dataset.more.as_deref().map(mapping).unwrap_or_default();
    let mut more = declared_more(declaration).as_deref().map(mapping).unwrap_or_default();
    for name in KEPT {
        if let Some(value) = before.get(name).filter(|_| !more.contains(name)) {
            more.set(name, value.clone());
        }
    }
    (!more.is_empty()).then(|| text_of(more))
}
