//! `promote`: what a run made becomes a generated version of a dataset, with the run, its data and its code behind it.
//!
//! *Invariant:* never overwrites what it was made from; what enters a record comes from the agent's view and the
//! agent's own output. Without a stated reason the new split stays `internal`, as results are.

use std::io::{self, Cursor};

use heldset_core::canonical;
use heldset_core::code::Code;
use heldset_core::declaration::Parent;
use heldset_core::digest::sha256;
use heldset_core::manifest::Mode;
use heldset_core::profile::Profile;
use heldset_core::value::{Object, Value};
use heldset_dialect::{Body, Files, Format, IdRule, Input, NoFiles, ReadOptions};
use heldset_store::run::RunDoc;

use crate::Listener;
use crate::edges::{data_node, run_node};
use crate::import::{About, Generation, ImportRequest, Imported, Labelling, import, import_files};
use crate::ports::{Sources, Tree};
use crate::refusal::{Outcome, Refusal};
use crate::results::{Row, RunResults};
use crate::session::Session;

/// What is promoted, and where to.
pub struct PromoteRequest<'p> {
    /// The run.
    pub run: &'p str,
    /// The dataset.
    pub to: &'p str,
    /// The split.
    pub split: &'p str,
    /// A message.
    pub message: Option<String>,
    /// Why agents may see it.
    pub declassify: Option<String>,
}

/// Makes the outputs of a run a version: one record for each session that ended well.
pub fn promote(session: &Session, request: &PromoteRequest<'_>, listener: &mut dyn Listener) -> Outcome<Imported> {
    let results = RunResults::open(session, request.run, "promote")?;
    let rows = results.rows()?;
    let several = rows.iter().any(|row| row.repeat > 0) || results.doc.targets.len() > 1;
    let mut bytes = Vec::new();
    for row in rows.iter().filter(|row| row.failure.is_none() && row.output.is_some()) {
        canonical::write(&Value::Object(record_of(row, several)), &mut bytes);
        bytes.push(b'\n');
    }
    if bytes.is_empty() {
        let message = format!("run `{}` has no output to promote", results.doc.id);
        return Err(Refusal::usage(Code::E053, message, "see `heldset report` for what became of its sessions"));
    }
    let made = Made { name: format!("run:{}", results.doc.id), bytes };
    request.with(&results.doc, |import_request| import(session, import_request, &made, listener))
}

/// Makes files that a run left a version.
pub fn promote_files(
    session: &Session,
    request: &PromoteRequest<'_>,
    files: &dyn Tree,
    listener: &mut dyn Listener,
) -> Outcome<Imported> {
    let results = RunResults::open(session, request.run, "promote")?;
    if files.is_empty() {
        let message = "no file fits the pattern";
        return Err(Refusal::usage(Code::E053, message, "name files that the run left, such as `./games/*.jsonl`"));
    }
    request.with(&results.doc, |import_request| import_files(session, import_request, files, listener))
}

impl PromoteRequest<'_> {
    fn with<T>(&self, run: &RunDoc, go: impl FnOnce(&ImportRequest<'_>) -> Outcome<T>) -> Outcome<T> {
        let reading = ReadOptions { format: Some(Format::Records), id: IdRule::Auto, schema: None, threads: 1 };
        let cite = format!("{}@{}", run.dataset, run.version);
        let parent = cite.parse().map_err(|_| Refusal::usage(Code::E105, format!("`{cite}` is no version"), ""))?;
        let code: Vec<&str> = run.targets.iter().map(|target| target.digest.as_str()).collect();
        let agent = |target: &heldset_store::run::RunTargetDoc| {
            target.reported.clone().unwrap_or_else(|| format!("{} {}", target.kind, target.scenario))
        };
        let agents: Vec<String> = run.targets.iter().map(agent).collect();
        let about = About {
            message: self.message.clone(),
            mode: Some(Mode::Generated),
            generation: Generation {
                parents: vec![Parent::Dataset(parent), Parent::Run(run.id.clone())],
                run: Some(run.id.clone()),
                code: Some(code.join(" ")),
                agent: Some(agents.join(", ")),
                ..Generation::default()
            },
            edges: vec![("promoted_from", run_node(&run.id)), ("promoted_from", data_node(run))],
            ..About::default()
        };
        let open = self.declassify.is_some();
        let reason = "made from the agent's view of its data and the agent's own output";
        let labelling = Labelling {
            profile: Some(Profile::Plain),
            visibility: Some(if open { "agent_visible" } else { "internal" }.to_owned()),
            declassify: self.declassify.clone().or_else(|| Some(reason.to_owned())),
            ..Labelling::default()
        };
        go(&ImportRequest {
            slug: self.to,
            split: self.split,
            reading: &reading,
            labelling: &labelling,
            about: &about,
            keep_valid: false,
        })
    }
}

/// The record of a session: what was asked and what was answered.
fn record_of(row: &Row, several: bool) -> Object<'static> {
    let mut record = Object::new();
    let id = match several {
        false => row.record_id.clone(),
        true => format!("{}/{}/{}", row.record_id, row.scenario, row.repeat),
    };
    record.set("id", id.into());
    record.set("record_id", row.record_id.clone().into());
    record.set("scenario", row.scenario.clone().into());
    record.set("repeat", Value::Number(heldset_core::number::Number::from_u64(row.repeat)));
    record.set("run_key", row.run_key.clone().into());
    if let Some(output) = &row.output {
        record.set("output", output.clone());
    }
    if let Some(Value::Object(trace)) = &row.trace
        && let Some(turns) = trace.get("turns")
    {
        record.set("turns", turns.clone());
    }
    record
}

/// Records that were made, in memory.
struct Made {
    name: String,
    bytes: Vec<u8>,
}

impl Sources for Made {
    fn len(&self) -> usize {
        1
    }

    fn name(&self, _index: usize) -> String {
        self.name.clone()
    }

    fn open(&self, _index: usize) -> io::Result<(Input, Box<dyn Files + '_>)> {
        let body = Body::Seekable(Box::new(Cursor::new(self.bytes.clone())));
        Ok((Input { name: self.name.clone(), body }, Box::new(NoFiles)))
    }

    fn digest(&self, _index: usize) -> io::Result<(u64, String)> {
        Ok((self.bytes.len() as u64, sha256(&self.bytes).hex()))
    }
}
