//! The command line of a program, and what of it are files.
//!
//! *Invariant:* relative names are relative to the plan's folder; every element that is a readable file is told with its
//! digest; a program that is not there is found before the first session.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use heldset_core::digest::sha256;
use heldset_core::fault::Problem;
use heldset_core::value::{Object, Value};

use super::yard::Yard;
use crate::config::{self, plain_text, wrong};
use crate::launch::{self, Network};

/// A command line that is ready.
pub(crate) struct Argv {
    pub(crate) words: Vec<OsString>,
    /// Elements that are files, with the SHA-256 of their bytes.
    pub(crate) files: Vec<(String, String)>,
    /// What the program needs to read of what we laid out for it.
    pub(crate) read: Vec<PathBuf>,
}

/// The command line of a configuration: `command`, then `args`.
pub(crate) fn read(config: &Object<'static>, yard: &Yard) -> Result<Argv, Problem> {
    let help = "write a list such as `[python3, agent.py]`, or one line";
    let mut told = match config.get("command") {
        Some(Value::Array(items)) => items.iter().map(plain_text).collect(),
        Some(Value::String(line)) => {
            config::words(line).ok_or_else(|| wrong("command", "a quote in `command` is not closed", help))?
        }
        _ => return Err(wrong("command", "a `command` target has no `command`", help)),
    };
    match config.get("args") {
        None | Some(Value::Null) => {}
        Some(Value::Array(items)) => told.extend(items.iter().map(plain_text)),
        Some(other) => told.push(plain_text(other)),
    }
    if told.first().is_none_or(String::is_empty) {
        return Err(wrong("command", "`command` is empty", help));
    }
    if told.iter().any(|word| word.contains('\0')) {
        return Err(wrong("command", "`command` has a zero byte", help));
    }
    resolve(&told, yard)
}

/// Finds the program and the files among the elements.
pub(crate) fn resolve(told: &[String], yard: &Yard) -> Result<Argv, Problem> {
    let mut argv = Argv { words: Vec::new(), files: Vec::new(), read: Vec::new() };
    let mut placed: Vec<(usize, PathBuf)> = Vec::new();
    for (index, element) in told.iter().enumerate() {
        let path = if index == 0 { Some(program(element, yard)?) } else { file(element, yard) };
        // A program that is found by its name alone is the machine's, and not a file of the plan.
        if let Some(path) = path.as_ref().filter(|_| file(element, yard).is_some())
            && let Ok(bytes) = std::fs::read(path)
        {
            argv.files.push((element.clone(), sha256(&bytes).hex()));
        }
        if let Some(path) = &path {
            placed.push((index, path.clone()));
        }
        // A program that is found by its name keeps it: some look at how they are called.
        let named = index == 0 && !element.contains('/') && !yard.base().join(element).is_file();
        argv.words.push(path.filter(|_| !named).map_or_else(|| element.into(), PathBuf::into_os_string));
    }
    make_listable(&mut argv, &placed, yard).map_err(|error| {
        wrong("command", format!("the files of the program cannot be laid out: {error}"), "see the disk")
    })?;
    Ok(argv)
}

/// Programs in a folder that agents cannot list, such as the plan's, run from a copy of it that they can.
fn make_listable(argv: &mut Argv, placed: &[(usize, PathBuf)], yard: &Yard) -> std::io::Result<()> {
    if yard.isolation() != "landlock" {
        return Ok(());
    }
    let mut laid_out: Vec<(PathBuf, PathBuf)> = Vec::new();
    for (index, path) in placed {
        let real = launch::real(path);
        let Some(folder) = real.parent().filter(|folder| launch::is_unlisted(folder, yard.hidden())) else { continue };
        if yard.hidden().iter().any(|hidden| real.starts_with(hidden)) || folder.parent().is_none() {
            continue;
        }
        let into = match laid_out.iter().find(|(from, _)| from == folder) {
            Some((_, into)) => into.clone(),
            None => {
                let into = yard.lasting()?;
                let copied: Vec<PathBuf> = placed.iter().map(|(_, path)| launch::real(path)).collect();
                launch::lay_out(folder, yard.hidden(), &copied, &into)?;
                argv.read.push(into.clone());
                laid_out.push((folder.to_owned(), into.clone()));
                into
            }
        };
        if let Some(name) = real.file_name() {
            argv.words[*index] = into.join(name).into_os_string();
        }
    }
    Ok(())
}

fn program(name: &str, yard: &Yard) -> Result<PathBuf, Problem> {
    let beside = yard.base().join(name);
    let found = yard.find(name).or_else(|| Some(beside).filter(|path| path.is_file()));
    let Some(found) = found else {
        return Err(wrong(
            "command",
            format!("there is no program `{name}`"),
            "paths are relative to the plan's folder",
        ));
    };
    let runs = found.metadata().is_ok_and(|data| data.permissions().mode() & 0o111 != 0);
    if !runs {
        let help = format!("run `chmod +x {name}`, or put its interpreter before it");
        return Err(wrong("command", format!("`{name}` is not executable"), help));
    }
    Ok(found)
}

/// The file that an element names, when there is one.
fn file(element: &str, yard: &Yard) -> Option<PathBuf> {
    let path = yard.base().join(element);
    (!element.is_empty() && Path::new(&path).is_file()).then_some(path)
}

/// Whom the program may call.
pub(crate) fn network(config: &Object<'static>) -> Result<Network, Problem> {
    let help = "write `all`, `none`, or a list of ports";
    match config.get("network") {
        None | Some(Value::Null) => Ok(Network::All),
        Some(Value::String(word)) if word == "all" => Ok(Network::All),
        Some(Value::String(word)) if word == "none" => Ok(Network::Ports(Vec::new())),
        Some(Value::String(word)) if word == "loopback" => {
            let message = "`network: loopback` cannot be kept: Landlock tells ports apart, not addresses";
            Err(wrong("network", message, "name the ports, such as `network: [8283]`"))
        }
        Some(Value::Array(ports)) => {
            let port = |value: &Value<'_>| match value {
                Value::Number(number) => number.as_u64().and_then(|port| u16::try_from(port).ok()),
                _ => None,
            };
            let ports: Option<Vec<u16>> = ports.iter().map(port).collect();
            ports.map(Network::Ports).ok_or_else(|| wrong("network", "`network` has something that is no port", help))
        }
        Some(_) => Err(wrong("network", "`network` is not understood", help)),
    }
}

/// Limits of the process: those that are told over those that always hold.
pub(crate) fn limits(config: &Object<'static>) -> Result<Vec<(String, u64)>, Problem> {
    /// What every agent has: no dumps of its memory, no file that fills a disk, no storm of processes.
    const ALWAYS: [(&str, u64); 3] = [("core", 0), ("file_size", 16 << 30), ("processes", 16 << 10)];
    let mut limits: Vec<(String, u64)> = ALWAYS.iter().map(|(name, limit)| ((*name).to_owned(), *limit)).collect();
    let help = "it takes `memory_mb`, `file_mb`, `processes`, `cpu_seconds`, each a whole number";
    let told = match config.get("limits") {
        None | Some(Value::Null) => return Ok(limits),
        Some(Value::Object(told)) => told,
        Some(_) => return Err(wrong("limits", "`limits` is not a mapping", help)),
    };
    for (key, value) in told.iter() {
        let number = match value {
            Value::Number(number) => number.as_u64(),
            _ => None,
        };
        let (name, factor) = match key {
            "memory_mb" => ("memory", 1 << 20),
            "file_mb" => ("file_size", 1 << 20),
            "processes" => ("processes", 1),
            "cpu_seconds" => ("cpu_seconds", 1),
            _ => return Err(wrong("limits", format!("there is no limit `{key}`"), help)),
        };
        let number = number.and_then(|number| number.checked_mul(factor));
        let limit = number.ok_or_else(|| wrong("limits", format!("`{key}` is not a whole number"), help))?;
        limits.retain(|(known, _)| known != name);
        limits.push((name.to_owned(), limit));
    }
    Ok(limits)
}
