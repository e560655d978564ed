//! The target python, and custom graders in Python workers.
//!
//! *Invariant:* code of an agent and code of a grader never share a process; the worker comes with us, so nothing need be
//! installed.

mod ask;
mod factory;
pub(crate) mod setup;
mod worker;

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use heldset_core::digest::sha256;
use heldset_core::fault::Problem;
use heldset_core::value::Object;
use heldset_engine::agents::TargetFacts;

pub(crate) use ask::{Callers, ask};
pub(crate) use factory::Factory;

use crate::agent::{Agent, Secrets};
use crate::command::process::Program;
use crate::command::{self, CommandAgent, Manner, TURN, Yard};
use crate::config::{self, wrong};
use crate::launch;

const KEYS: &[&str] = &[
    "function",
    "module",
    "callable",
    "entry",
    "python",
    "env",
    "reuse",
    "network",
    "limits",
    "agents",
    "turn_timeout",
    "run_timeout",
];

/// The interpreter when none is named.
const INTERPRETER: &str = "python3";

/// The target `python`.
pub(crate) fn prepare(
    config: &Object<'static>,
    secrets: &Secrets,
    yard: &Arc<Yard>,
) -> Result<Box<dyn Agent>, Problem> {
    config::only(config, "python", KEYS)?;
    let function = function(config)?;
    let interpreter = interpreter(config, yard)?;
    let unable =
        |error: std::io::Error| wrong("function", format!("the worker cannot be laid out: {error}"), "see the disk");
    let library = worker::lay_out(&yard.lasting().map_err(unable)?).map_err(unable)?;
    let (place, name) = function.rsplit_once(':').unwrap_or((&function, ""));
    let mut module = Module::of(place, yard);
    let mut read = vec![library.clone()];
    if let Some(path) = &module.file
        && yard.isolation() == "landlock"
        && let real = launch::real(path)
        && let Some(folder) = real.parent().filter(|folder| launch::is_unlisted(folder, yard.hidden()))
    {
        let into = yard.lasting().map_err(unable)?;
        launch::lay_out(folder, yard.hidden(), std::slice::from_ref(&real), &into).map_err(unable)?;
        module.file = real.file_name().map(|name| into.join(name));
        module.folder = into.clone();
        read.push(into);
    }
    let called = match (&module.file, module.by_path) {
        (Some(path), true) => format!("{}:{name}", path.display()),
        _ => function.clone(),
    };
    let mut env = worker::variables(&library, &module.folder);
    env.extend(config::environment(config, secrets)?);
    let words = ["-u", "-m", "heldset.worker", "agent"].iter().map(OsString::from);
    let facts = TargetFacts {
        kind: "python".to_owned(),
        agents: config::agents(config)?,
        takes_seeds: true,
        files: module.digest,

        isolation: Some(yard.isolation()),
    };
    Ok(Box::new(CommandAgent {
        facts,
        yard: yard.clone(),
        program: Program {
            argv: std::iter::once(interpreter.into()).chain(words).chain([called.into()]).collect(),
            env,
            network: command::network(config)?,
            limits: command::limits(config)?,
            read,
        },
        limit: config::span(config, "turn_timeout", config::span(config, "timeout", TURN)?)?,
        manner: if config::flag(config, "reuse", true)? { Manner::Reuse } else { Manner::Session },
        pool: RefCell::default(),
    }))
}

/// The function as `place:name`.
fn function(config: &Object<'static>) -> Result<String, Problem> {
    let help = "write `function: agent.py:answer` or `function: module:answer`";
    let mut told = None;
    for key in ["function", "callable", "entry"] {
        told = told.or(config::text(config, key)?);
    }
    let module = config::text(config, "module")?;
    let function = match (module, told) {
        (_, Some(told)) if told.contains(':') => told.to_owned(),
        (Some(module), Some(told)) => format!("{module}:{told}"),
        (Some(module), None) => module.to_owned(),
        (None, Some(told)) => told.to_owned(),
        (None, None) => return Err(wrong("function", "a `python` target has no `function`", help)),
    };
    match function.rsplit_once(':') {
        Some((place, name)) if !place.is_empty() && !name.is_empty() => Ok(function),
        _ => Err(wrong("function", format!("`{function}` is not `module:function`"), help)),
    }
}

/// The interpreter that a target names, else the usual one.
fn interpreter(config: &Object<'static>, yard: &Yard) -> Result<PathBuf, Problem> {
    let name = config::text(config, "python")?.unwrap_or(INTERPRETER);
    // The path may be a virtual environment's, which is known by where it lies: links are not resolved.
    yard.find(name)
        .ok_or_else(|| wrong("python", format!("there is no interpreter `{name}`"), "name one with `python`"))
}

/// Where a module is, as far as it is a file of the plan.
struct Module {
    file: Option<PathBuf>,
    by_path: bool,
    folder: PathBuf,
    digest: Vec<(String, String)>,
}

impl Module {
    fn of(place: &str, yard: &Yard) -> Module {
        let by_path = place.ends_with(".py") || place.contains('/');
        let dotted = place.replace('.', "/");
        let candidates = match by_path {
            true => vec![yard.base().join(place)],
            false => vec![yard.base().join(format!("{dotted}.py")), yard.base().join(dotted).join("__init__.py")],
        };
        let file = candidates.into_iter().find(|path| path.is_file());
        let bytes = file.as_ref().and_then(|path| std::fs::read(path).ok());
        let digest = bytes.map(|bytes| (place.to_owned(), sha256(&bytes).hex())).into_iter().collect();
        let folder = match (&file, by_path) {
            (Some(file), true) => file.parent().map(Path::to_owned),
            _ => None,
        };
        let folder = folder.unwrap_or_else(|| yard.base().to_owned());
        Module { file, by_path, folder, digest }
    }
}
