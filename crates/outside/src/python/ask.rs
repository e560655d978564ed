//! Calls Python functions that are no agents: graders, extractors, rewards, set-up and agent factories.
//!
//! *Invariant:* a worker answers one call at a time; one that fails its protocol or takes too long is ended, never asked
//! again.

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use heldset_core::json;
use heldset_core::value::{Object, Value};
use heldset_grade::Answer;

use super::{INTERPRETER, worker};
use crate::command::process::{Process, Program};
use crate::command::{TURN, Yard};
use crate::launch;
use crate::launch::Network;

/// Workers that call functions for graders and for the set-up of targets; started when first needed.
pub(crate) struct Callers {
    yard: Arc<Yard>,
    interpreter: String,
    env: Vec<(String, String)>,
    /// Where the files of functions are found.
    code: RefCell<PathBuf>,
    program: RefCell<Option<Program>>,
    idle: RefCell<Vec<Process>>,
}

/// One call.
pub(crate) struct Call<'c> {
    /// `grader`, `extractor`, `reward`, `setup` or `factory`.
    pub(crate) role: &'static str,
    /// `file.py:function` or `module:function`.
    pub(crate) function: &'c str,
    /// What it is given.
    pub(crate) payload: &'c Value<'static>,
    /// How long it may take.
    pub(crate) limit: Option<Duration>,
}

/// Asks a function for a grade, a submission or a reward.
pub(crate) async fn ask(callers: &Callers, role: &'static str, function: &str, payload: &Value<'static>) -> Answer {
    let call = Call { role, function, payload, limit: None };
    callers.call(call).await.map_err(|failed| format!("`{function}`: {}", failed.message))
}

/// Why a call came to nothing: in one line, and all that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallFailure {
    pub(crate) message: String,
    pub(crate) log: Option<String>,
}

impl Callers {
    /// Workers in a yard; `env` are their variables beside the usual ones.
    pub(crate) fn new(yard: Arc<Yard>, interpreter: Option<&str>, env: Vec<(String, String)>) -> Self {
        let interpreter = interpreter.unwrap_or(INTERPRETER).to_owned();
        let code = RefCell::new(yard.base().to_owned());
        Callers { yard, interpreter, env, code, program: RefCell::default(), idle: RefCell::default() }
    }

    /// Calls a function and gives what it returns.
    pub(crate) async fn call(&self, call: Call<'_>) -> Result<Value<'static>, CallFailure> {
        let plain = |message: String| CallFailure { message, log: None };
        let mut process = match self.rested() {
            Some(rested) => rested,
            None => {
                let program = self.program().map_err(plain)?;
                Process::start(&self.yard, &program, &[]).map_err(|failure| plain(failure.message))?
            }
        };
        let mut line = Object::new();
        line.set("role", call.role.into());
        line.set("function", self.placed(call.function).into());
        line.set("payload", call.payload.clone());
        process.send(&line.into());
        let limit = call.limit.unwrap_or(TURN);
        let mut log = None;
        let answered = match tokio::time::timeout(limit, process.line(&mut log)).await {
            Err(_) => Err(format!("`{}` did not answer within {} s", call.function, limit.as_secs_f64())),
            Ok(Err(failure)) => Err(failure.message),
            Ok(Ok(None)) => Err(process.crash(&mut log, "before it answered").await.message),
            Ok(Ok(Some(line))) => Ok(line),
        };
        let told =
            answered.and_then(|line| read(&line)).map_err(|message| CallFailure { message, log: log.clone() })?;
        self.idle.borrow_mut().push(process);
        match told.get("error").filter(|error| !error.is_null()) {
            None => Ok(told.get("result").cloned().unwrap_or(Value::Null)),
            Some(error) => {
                let log = told.get("traceback").and_then(Value::as_str).map(str::to_owned).or(log);
                Err(CallFailure { message: crate::config::plain_text(error), log })
            }
        }
    }

    /// A worker that has served and can serve again.
    fn rested(&self) -> Option<Process> {
        let mut idle = self.idle.borrow_mut().pop()?;
        idle.renew();
        (!idle.is_spent()).then_some(idle)
    }

    /// Ends the workers.
    pub(crate) async fn close(&self) {
        let idle = std::mem::take(&mut *self.idle.borrow_mut());
        for mut process in idle {
            process.finish(&mut None).await;
        }
    }

    fn program(&self) -> Result<Program, String> {
        if let Some(program) = &*self.program.borrow() {
            return Ok(program.clone());
        }
        let missing = || format!("there is no interpreter `{}`", self.interpreter);
        let interpreter = self.yard.find(&self.interpreter).ok_or_else(missing)?;
        let folder =
            self.yard.lasting().and_then(|folder| worker::lay_out(&folder)).map_err(|error| error.to_string())?;
        let mut read = vec![folder.clone()];
        if let Some(code) = self.listable().map_err(|error| error.to_string())? {
            read.push(code.clone());
            *self.code.borrow_mut() = code;
        }
        let mut env = worker::variables(&folder, &self.code.borrow());
        env.extend(self.env.iter().cloned());
        let words = ["-u", "-m", "heldset.worker", "serve"].iter().map(OsString::from);
        let program = Program {
            argv: std::iter::once(interpreter.into()).chain(words).collect(),
            env,
            network: Network::All,
            limits: Vec::new(),
            read,
        };
        *self.program.borrow_mut() = Some(program.clone());
        Ok(program)
    }

    /// A copy of the plan's folder that workers can list, when they cannot list the folder itself.
    fn listable(&self) -> std::io::Result<Option<PathBuf>> {
        let base = launch::real(self.yard.base());
        if self.yard.isolation() != "landlock" || !launch::is_unlisted(&base, self.yard.hidden()) {
            return Ok(None);
        }
        let into = self.yard.lasting()?;
        launch::lay_out(&base, self.yard.hidden(), &[], &into)?;
        Ok(Some(into))
    }

    /// The function with its file made absolute.
    fn placed(&self, function: &str) -> String {
        match function.rsplit_once(':') {
            Some((place, name)) if place.ends_with(".py") || place.contains('/') => {
                format!("{}:{name}", self.code.borrow().join(place).display())
            }
            _ => function.to_owned(),
        }
    }
}

fn read(line: &[u8]) -> Result<Object<'static>, String> {
    let text = std::str::from_utf8(line).map_err(|_| "the worker's answer is not UTF-8".to_owned())?;
    match json::read(text).map_err(|error| format!("the worker's answer is not JSON: {error}"))?.into_owned() {
        Value::Object(told) => Ok(told),
        _ => Err("the worker's answer is not a mapping".to_owned()),
    }
}
