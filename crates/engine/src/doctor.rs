//! `doctor`: what is wrong with a store, its keys and its upkeep, each with its fix.
//!
//! *Invariant:* looks and changes nothing.

use heldset_core::visibility::Policy;
use heldset_store::documents::{BackupDoc, DatasetDoc, backup_key};
use heldset_store::{DatasetKeys, StoreError};

use crate::refusal::Outcome;
use crate::session::Session;
use crate::verify::shown;
use crate::{audit, drops, resolve};

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// All is well.
    Ok,
    /// It works, and should be seen to.
    Warn,
    /// Something does not work.
    Fail,
}

/// One check.
pub struct Finding {
    /// What was checked.
    pub check: &'static str,
    /// How it ended.
    pub state: State,
    /// What was found.
    pub message: String,
    /// What to do.
    pub fix: Option<String>,
}

impl State {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            State::Ok => "ok",
            State::Warn => "warn",
            State::Fail => "fail",
        }
    }
}

impl Finding {
    /// All is well.
    pub fn ok(check: &'static str, message: impl Into<String>) -> Self {
        Finding { check, state: State::Ok, message: message.into(), fix: None }
    }

    /// It works, and should be seen to.
    pub fn warn(check: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Finding { check, state: State::Warn, message: message.into(), fix: Some(fix.into()) }
    }

    /// Something does not work.
    pub fn fail(check: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Finding { check, state: State::Fail, message: message.into(), fix: Some(fix.into()) }
    }
}

/// Checks a store that could be opened.
pub fn doctor(session: &Session) -> Outcome<Vec<Finding>> {
    session.must_manage("doctor")?;
    let mut findings = vec![Finding::ok("store", format!("the store {} can be opened", session.store.id()))];
    findings.push(lock(session));
    findings.extend(catalog(session));
    findings.push(log(session)?);
    findings.push(leftovers(session)?);
    match resolve::datasets(&session.store) {
        Ok(datasets) => {
            findings.extend(keys(session, &datasets));
            findings.extend(backup(session, &datasets)?);
        }
        Err(error) => findings.push(Finding::fail("keys", error.to_string(), error.help())),
    }
    Ok(findings)
}

fn lock(session: &Session) -> Finding {
    match session.store.hold_alone() {
        Ok(_) => Finding::ok("lock", "nobody is at work in the store"),
        Err(StoreError::Locked) => {
            Finding::warn("lock", "another command is at work in the store", "`gc` and `erase` have to wait for it")
        }
        Err(error) => Finding::fail("lock", error.to_string(), error.help()),
    }
}

fn catalog(session: &Session) -> Vec<Finding> {
    let faults = session.store.catalog().check();
    if faults.is_empty() {
        return vec![Finding::ok("catalog", "every entry of the catalogue is whole")];
    }
    let help = "restore the store from a copy; `heldset scrub` tells all that is damaged";
    faults.iter().map(|fault| Finding::fail("catalog", shown(&fault.to_string()), help)).collect()
}

fn log(session: &Session) -> Outcome<Finding> {
    let checked = audit::verify(session, &[])?;
    Ok(match checked.problems.first() {
        None => Finding::ok("audit", format!("the audit log has all its {} entries", checked.entries)),
        Some(problem) => Finding::fail(
            "audit",
            problem,
            "somebody changed the log: compare a checkpoint with `heldset audit verify`",
        ),
    })
}

fn leftovers(session: &Session) -> Outcome<Finding> {
    let pending = drops::pending(&session.store)?;
    if pending > 0 {
        let message = format!("{pending} objects with erased rows are still there");
        return Ok(Finding::fail("leftovers", message, "run `heldset gc`"));
    }
    let left = match session.store.folder() {
        Some(folder) => folder.leftovers()?.len(),
        None => 0,
    };
    Ok(match left {
        0 => Finding::ok("leftovers", "nothing unfinished is left"),
        count => Finding::warn("leftovers", format!("{count} unfinished files"), "run `heldset gc` when nobody works"),
    })
}

/// Keys that are missing or cannot be read; a dataset with nothing sealed can do without.
fn keys(session: &Session, datasets: &[DatasetDoc]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for dataset in datasets {
        let slug = &dataset.slug;
        let found: Result<Option<DatasetKeys>, StoreError> = session.store.keys().load(&dataset.id);
        let fix = "bring them back with `heldset keys import FILE`";
        match found {
            Ok(Some(_)) => {}
            Ok(None) if is_sealed(session, dataset) => {
                findings.push(Finding::fail("keys", format!("the keys of `{slug}` are not here"), fix));
            }
            Ok(None) => {
                let message = format!("the keys of `{slug}` are not here; nothing in it is sealed, but it cannot grow");
                findings.push(Finding::warn("keys", message, fix));
            }
            Err(error) => findings.push(Finding::fail("keys", error.to_string(), fix)),
        }
    }
    if findings.is_empty() {
        findings.push(Finding::ok("keys", format!("the keys of all {} datasets are here", datasets.len())));
    }
    findings
}

fn is_sealed(session: &Session, dataset: &DatasetDoc) -> bool {
    let Ok(versions) = resolve::versions(&session.store, dataset) else { return true };
    let sealed = |policy: &Policy| {
        let mut splits = policy.splits();
        splits.any(|(split, _)| {
            policy.in_split(split).map_or(true, |labels| labels.sealed().next().is_some() || !labels.own().is_open())
        })
    };
    versions.iter().any(|version| resolve::policy_of(version).map_or(true, |policy| sealed(&policy)))
}

fn backup(session: &Session, datasets: &[DatasetDoc]) -> Outcome<Option<Finding>> {
    let noted: Option<BackupDoc> = session.store.document(&backup_key())?;
    let fix =
        "write them down with `heldset keys export -o FILE`, on another disk: without them what is sealed is lost";
    let missing =
        datasets.iter().filter(|dataset| noted.as_ref().is_none_or(|noted| !noted.datasets.contains(&dataset.id)));
    let missing: Vec<String> = missing.map(|dataset| format!("`{}`", dataset.slug)).collect();
    Ok(match (noted, missing.is_empty()) {
        (None, true) => None,
        (Some(noted), true) => Some(Finding::ok("backup", format!("the keys were written down on {}", noted.time))),
        (_, false) => {
            let message = format!("the keys of {} were never written down", missing.join(", "));
            Some(Finding::warn("backup", message, fix))
        }
    })
}
