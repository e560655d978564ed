//! `heldset verify`.

use std::io::{self, Write};
use std::path::Path;

use clap::Args;
use heldset_core::digest::{Digest, Hashing};
use heldset_core::value::Value;
use heldset_engine::verify::{PinnedFiles, Problem, Verified, verify};

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::progress::{Bar, Progress};
use crate::print::{clean, json};

#[derive(Args)]
pub(crate) struct VerifyArgs {
    /// The version, such as `trips@3` (default: all versions of all datasets)
    #[arg(value_name = "SLUG[@V]")]
    cite: Option<String>,
}

/// Recompute the digests of versions.
pub(crate) fn run(cli: &Cli, args: &VerifyArgs) -> Result<Exit, Failure> {
    let session = place::session(cli)?;
    let mut listener = Bar(Progress::of("verify", None, cli.quiet));
    let verified = verify(&session, args.cite.as_deref(), &OnDisk, &mut listener);
    listener.0.finish();
    let verified = verified?;
    let out = if cli.json {
        let list = Value::Array(verified.iter().map(value).collect());
        format!("{}\n", json::text(&json::object([("verified", list)])))
    } else {
        verified.iter().map(|verified| text(verified, cli.quiet)).collect()
    };
    io::stdout().write_all(out.as_bytes()).map_err(|error| super::broken(&error))?;
    let fine = verified.iter().all(|verified| verified.problems.is_empty());
    Ok(if fine { Exit::Fine } else { Exit::Integrity })
}

fn value(verified: &Verified) -> Value<'_> {
    let problem = |problem: &Problem| {
        let text = |text: &Option<String>| text.clone().map_or(Value::Null, Value::from);
        Value::Object(json::object([
            ("split", text(&problem.split)),
            ("chunk", text(&problem.chunk)),
            ("path", text(&problem.path)),
            ("problem", Value::from(problem.problem.clone())),
        ]))
    };
    Value::Object(json::object([
        ("dataset", Value::from(verified.dataset.as_str())),
        ("version", json::number(verified.version)),
        ("digest", Value::from(verified.digest.as_str())),
        ("ok", Value::Bool(verified.problems.is_empty())),
        ("rows", json::number(verified.rows)),
        ("problems", Value::Array(verified.problems.iter().map(problem).collect())),
    ]))
}

fn text(verified: &Verified, quiet: bool) -> String {
    let Verified { dataset, version, digest, rows, problems } = verified;
    if problems.is_empty() {
        return if quiet { String::new() } else { format!("{dataset}@{version} {digest} ok, {rows} rows\n") };
    }
    let mut out = format!("{dataset}@{version} {digest} damaged\n");
    for problem in problems {
        let part = |name: &str, value: &Option<String>| {
            value.as_ref().map_or_else(String::new, |value| format!("{name} {}, ", clean::line(value)))
        };
        let place = [part("split", &problem.split), part("chunk", &problem.chunk), part("in", &problem.path)].concat();
        out.push_str(&format!("  {}: {}\n", place.trim_end_matches(", "), clean::line(&problem.problem)));
    }
    out
}

/// Files where they were pinned.
pub(crate) struct OnDisk;

impl PinnedFiles for OnDisk {
    fn digest(&self, path: &str) -> io::Result<(u64, Digest)> {
        let mut file = std::fs::File::open(Path::new(path))?;
        let (mut size, mut hashing, mut buffer) = (0, Hashing::default(), vec![0; 1 << 20]);
        loop {
            let count = io::Read::read(&mut file, &mut buffer)?;
            if count == 0 {
                return Ok((size, hashing.finish()));
            }
            size += count as u64;
            hashing.update(&buffer[..count]);
        }
    }
}
