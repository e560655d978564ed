//! `heldset doctor`.

use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use clap::Args;
use heldset_core::value::Value;
use heldset_engine::doctor::{Finding, State, doctor};
use heldset_engine::session::Session;

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::{clean, json};

/// Less room than this should be seen to.
const LITTLE: u64 = 1 << 30;

#[derive(Args)]
pub(crate) struct DoctorArgs {}

/// Check the store, its keys and the disk.
pub(crate) fn run(cli: &Cli, _args: &DoctorArgs) -> Result<Exit, Failure> {
    let mut findings = match place::session(cli) {
        Ok(session) => {
            let mut findings = doctor(&session)?;
            findings.extend(around(&session)?);
            findings
        }
        Err(failure) => {
            let fault = failure.fault();
            vec![Finding::fail("store", fault.message.clone(), fault.help.clone().unwrap_or_default())]
        }
    };
    if cli.quiet {
        findings.retain(|finding| finding.state != State::Ok);
    }
    let out = match cli.json {
        true => super::list_text(findings.iter().map(value)),
        false => findings.iter().map(line).collect(),
    };
    io::stdout().write_all(out.as_bytes()).map_err(|error| super::broken(&error))?;
    let failed = findings.iter().any(|finding| finding.state == State::Fail);
    Ok(if failed { Exit::Different } else { Exit::Fine })
}

fn value(finding: &Finding) -> Value<'_> {
    Value::Object(json::object([
        ("check", Value::from(finding.check)),
        ("state", Value::from(finding.state.name())),
        ("message", Value::from(finding.message.as_str())),
        ("fix", json::optional(finding.fix.as_deref())),
    ]))
}

fn line(finding: &Finding) -> String {
    let fix = finding.fix.as_deref().map_or_else(String::new, |fix| format!("\n      fix: {}", clean::line(fix)));
    format!("{:<5} {:<10} {}{fix}\n", finding.state.name(), finding.check, clean::line(&finding.message))
}

/// What lies around a store on the disk: the files of its keys, and how much room there is.
fn around(session: &Session) -> Result<Vec<Finding>, Failure> {
    let Some(store) = session.store.folder() else { return Ok(Vec::new()) };
    let keys = place::keys_folder()?.join(session.store.id());
    Ok(vec![apart(store.path(), &keys), modes(&keys), room(store.path())])
}

fn apart(store: &Path, keys: &Path) -> Finding {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if real(keys).starts_with(real(store)) {
        let fix = "move them elsewhere and set `HELDSET_KEYS` to that folder";
        return Finding::fail("keys", format!("the keys lie in the store they open: {}", keys.display()), fix);
    }
    Finding::ok("keys", format!("the keys lie apart from the store, in {}", keys.display()))
}

fn modes(keys: &Path) -> Finding {
    let mode = |path: &Path| path.metadata().map_or(0, |about| about.permissions().mode() & 0o077);
    let entries = std::fs::read_dir(keys).into_iter().flatten().flatten().map(|entry| entry.path());
    let open: Vec<_> = entries.chain([keys.to_owned()]).filter(|path| mode(path) != 0).collect();
    match open.first() {
        None => Finding::ok("modes", "only you can read the keys"),
        Some(path) => {
            let fix = format!("chmod go= {0} {0}/*", keys.display());
            Finding::fail("modes", format!("others can read {}", path.display()), fix)
        }
    }
}

fn room(store: &Path) -> Finding {
    let Ok(about) = rustix::fs::statvfs(store) else {
        return Finding::warn("disk", "it is not known how much room the disk has", "look with `df`");
    };
    let free = about.f_bavail.saturating_mul(about.f_frsize);
    let message = format!("{} MiB are free on the disk of the store", free >> 20);
    if free < LITTLE {
        Finding::warn("disk", message, "make room; `heldset gc` may help")
    } else {
        Finding::ok("disk", message)
    }
}
