//! Makes targets ready: finds each by its kind and has its configuration checked.
//!
//! *Invariant:* nothing is started and nobody is called here; what is wrong with a configuration is told before the
//! first session.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use heldset_core::code::Code;
use heldset_core::fault::{Problem, nearest};
use heldset_core::value::{Object, Value};
use heldset_engine::agents::{Agents, Helpers, Outside, Preparation, TargetSpec};
use heldset_engine::refusal::{Outcome, Refusal};

use crate::agent::{Agent, Secrets};
use crate::ask::{Asker, Workshop};
use crate::command::Yard;
use crate::config::{self, wrong};
use crate::drive::{Limits, Prepared};
use crate::launch::Launcher;
use crate::python::setup::Setup;
use crate::python::{Callers, Factory};
use crate::requests::Net;
use crate::{canned, chat, command, http, letta, mas, python};

/// Every kind of target.
const KINDS: &[&str] = &[
    "command",
    "http",
    "openai_chat",
    "mas",
    "python",
    "letta_agent",
    "agent",
    "letta_code",
    "replay",
    "echo",
    "scripted",
];

/// Where programs are found when the environment does not say.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Reaches agents and judges.
pub struct Dialler {
    secrets: Arc<Secrets>,
    launcher: Option<Launcher>,
    scratch: PathBuf,
}

impl Dialler {
    /// One that looks secrets up by name, starts agents through a launcher, and makes temporary files in `scratch`.
    /// Without a launcher agents are started as they are, and their isolation is `none`.
    pub fn new(secrets: Arc<Secrets>, launcher: Option<Launcher>, scratch: impl Into<PathBuf>) -> Self {
        Dialler { secrets, launcher, scratch: scratch.into() }
    }

    fn yard(&self, launcher: Option<Launcher>, hidden: &[PathBuf], base: &Path) -> Outcome<Arc<Yard>> {
        let path = (self.secrets)("PATH").unwrap_or_else(|| PATH.to_owned());
        let yard = Yard::new(launcher, hidden, base, &self.scratch, path);
        yard.map(Arc::new).map_err(|error| unable("cannot make a folder for agents", &error))
    }

    fn one(
        &self,
        target: &TargetSpec,
        base: &Path,
        yard: &Arc<Yard>,
        net: &Arc<Net>,
    ) -> Result<Box<dyn Agent>, Problem> {
        let config = &target.config;
        let secrets = self.secrets.as_ref();
        match config::text(config, "kind")? {
            None => Err(wrong("kind", "the target has no `kind`", format!("write one of {}", KINDS.join(", ")))),
            Some("echo") => canned::echo(config),
            Some("scripted") => canned::scripted(config),
            Some("replay") => canned::replay(config, &target.scenario, base),
            Some("command") => command::prepare(config, secrets, yard),
            Some("python") => python::prepare(config, secrets, yard),
            Some("http") => http::prepare(config, net),
            Some("openai_chat") => chat::prepare(config, net),
            Some("mas") => mas::prepare(config, net),
            Some("letta_agent" | "agent") => letta::prepare(config, net, base, self.factory(config, yard)?),
            Some(kind) if KINDS.contains(&kind) => {
                Err(wrong("kind", format!("targets of kind `{kind}` cannot be reached yet"), "use another kind"))
            }
            Some(kind) => {
                let help = match nearest(kind, KINDS.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("write one of {}", KINDS.join(", ")),
                };
                Err(wrong("kind", format!("there is no kind of target `{kind}`"), help))
            }
        }
    }

    /// The set-up of a suite, with what it is given of each target.
    fn setup(&self, preparation: &Preparation<'_>) -> Outcome<Option<Setup>> {
        let Some(function) = preparation.setup_script else { return Ok(None) };
        let yard = self.yard(None, &[], preparation.base)?;
        let mut payloads: Vec<Object<'static>> = Vec::new();
        for target in preparation.targets {
            let payload = self.client_of(&target.config).map_err(refused)?;
            if !payloads.contains(&payload) {
                payloads.push(payload);
            }
        }
        let callers = Callers::new(yard, None, Vec::new());
        Ok(Some(Setup { callers, function: function.to_owned(), payloads, outcome: None }))
    }

    /// What makes the agents of a target that has a script for it.
    fn factory(
        &self,
        config: &Object<'static>,
        yard: &Arc<Yard>,
    ) -> Result<Option<Box<dyn letta::AgentScript>>, Problem> {
        let Some(function) = config::text(config, "agent_script")?.map(str::to_owned) else { return Ok(None) };
        // It makes agents, so it may reach no more than they do.
        let callers = Callers::new(yard.clone(), None, Vec::new());
        let client = self.client_of(config)?;
        Ok(Some(Box::new(Factory { callers, function, client })))
    }

    /// What a client of Letta needs to know.
    fn client_of(&self, config: &Object<'static>) -> Result<Object<'static>, Problem> {
        let mut payload = Object::new();
        for (to, from) in [("base_url", "base_url"), ("model_handle", "model_handle"), ("model_handle", "model")] {
            if let (false, Some(Value::String(text))) = (payload.contains(to), config.get(from)) {
                payload.set(to, text.clone().into_owned().into());
            }
        }
        if let Some(key) = config::text(config, "api_key")? {
            payload.set("api_key", config::resolved("api_key", key, self.secrets.as_ref())?.into());
        } else if let Some(key) = (self.secrets)("LETTA_API_KEY") {
            payload.set("api_key", key.into());
        }
        Ok(payload)
    }
}

impl Outside for Dialler {
    fn prepare(&self, preparation: &Preparation<'_>) -> Outcome<Box<dyn Agents>> {
        let yard = self.yard(self.launcher.clone(), preparation.hidden, preparation.base)?;
        let net = Net::new(preparation.max_concurrent, self.secrets.clone());
        let one = |target| self.one(target, preparation.base, &yard, &net).map_err(refused);
        let agents = preparation.targets.iter().map(one).collect::<Outcome<Vec<_>>>()?;
        let run = preparation.run_timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let limits = Limits { concurrent: preparation.max_concurrent, run };
        let prepared = Prepared::new(agents, self.setup(preparation)?, limits);
        Ok(Box::new(prepared.map_err(|error| unable("cannot start the runtime of sessions", &error))?))
    }

    fn helpers(&self, base: &Path, max_concurrent: usize) -> Outcome<Box<dyn Helpers>> {
        // Graders must see what agents must not: no launcher stands before them.
        let yard = self.yard(None, &[], base)?;
        let net = Net::new(max_concurrent, self.secrets.clone());
        let workshop = Workshop::new(yard, self.secrets.clone());
        let asker = Asker::new(&net, base, max_concurrent, Box::new(workshop));
        Ok(Box::new(asker.map_err(|error| unable("cannot start the runtime of graders", &error))?))
    }
}

fn refused(problem: Problem) -> Box<Refusal> {
    let message = match problem.path.is_root() {
        true => problem.message,
        false => format!("{} (`{}`)", problem.message, problem.path),
    };
    Refusal::usage(problem.code, message, problem.help.unwrap_or_else(|| "see `heldset explain E058`".to_owned()))
}

fn unable(what: &str, error: &std::io::Error) -> Box<Refusal> {
    Refusal::usage(Code::E058, format!("{what}: {error}"), "see whether the folder of temporary files can be written")
}
