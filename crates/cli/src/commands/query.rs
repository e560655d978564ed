//! `heldset query`.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use heldset_core::code::Code;
use heldset_core::fault::{Excerpt, Fault, Place, Problem};
use heldset_core::filter::Filter;
use heldset_core::path::Path;
use heldset_core::query::{MAX_LIMIT, Query, Sort, WhereError, parse_where};
use heldset_core::value::{Object, Value};
use heldset_engine::query::{Answered, Memory, query, query_live};

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::{self, Severity, json};

/// How many bytes of decoded columns one command keeps.
pub(crate) const MEMORY: usize = 1 << 30;

#[derive(Args)]
pub(crate) struct QueryArgs {
    /// The version, such as `trips@3`; or `run:ID`, or `access-log`
    #[arg(value_name = "SLUG[@V]")]
    what: String,
    /// What must hold, such as `category = "x" and score > 0.8`
    #[arg(long = "where", value_name = "TEXT")]
    filter: Option<String>,
    /// A test as JSON, `{"field","operator","value"}`; all that are given must hold
    #[arg(long = "filter", value_name = "JSON")]
    tests: Vec<String>,
    /// What to sort by; `-FIELD` puts the largest first
    #[arg(long, value_name = "[-]FIELD", allow_hyphen_values = true, value_delimiter = ',')]
    sort: Vec<String>,
    /// How many rows at most (default 50, at most 10,000)
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// How many rows to pass over
    #[arg(long, value_name = "N", conflicts_with = "cursor")]
    offset: Option<u64>,
    /// Go on where a page ended: its `next_cursor`
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    /// The fields to give, by dotted paths
    #[arg(long, value_name = "FIELD,…", value_delimiter = ',')]
    fields: Option<Vec<String>>,
    /// One split; all that can be seen when absent
    #[arg(long, value_name = "NAME")]
    split: Option<String>,
    /// Only rows of this source
    #[arg(long = "source", value_name = "ID")]
    sources: Vec<String>,
    /// Read the sources now, instead of a version
    #[arg(long)]
    live: bool,
    /// A query as a document, in JSON or YAML; options are added to it
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
}

/// Answers a query.
pub(crate) fn run(cli: &Cli, args: &QueryArgs) -> Result<Exit, Failure> {
    let (asked, what) = (args.query()?, args.what.as_str());
    let session = place::session(cli)?;
    let start = Instant::now();
    let cited = asked.version.as_ref().map_or_else(|| what.to_owned(), |version| format!("{what}@{version}"));
    let memory = Memory::new(MEMORY);
    let answered = match asked.live {
        true => super::source::reaching(|reach| query_live(&session, reach, &memory, what, &asked))?,
        false => query(&session, &memory, &cited, &asked)?,
    };
    warn(cli, answered.warning.as_slice());
    let mut out = match cli.json {
        true => json::text(&document(answered_rows(&answered), &answered, start)).into_bytes(),
        false => answered.lines(),
    };
    if cli.json {
        out.push(b'\n');
    }
    io::stdout().write_all(&out).map_err(|error| super::broken(&error))?;
    if !cli.json && !cli.quiet {
        tell(&answered);
    }
    Ok(Exit::Fine)
}

impl QueryArgs {
    fn query(&self) -> Result<Query, Failure> {
        let mut query = self.from.as_deref().map(load).transpose()?.unwrap_or_default();
        let mut parts = Vec::new();
        if query.filter != Filter::And(Vec::new()) {
            parts.push(query.filter);
        }
        if let Some(text) = &self.filter {
            parts.push(parse_where(text).map_err(|error| unreadable(text, &error))?);
        }
        for text in &self.tests {
            parts.push(test(text)?);
        }
        query.filter = if parts.len() == 1 { parts.remove(0) } else { Filter::And(parts) };
        if !self.sort.is_empty() {
            query.sort = self.sort.iter().map(|field| Sort::parse(field)).collect();
        }
        query.limit = self.limit.unwrap_or(query.limit);
        if query.limit > MAX_LIMIT {
            let message = format!("`--limit` is at most {MAX_LIMIT}, not {}", query.limit);
            return Err(Failure::usage(Code::E064, message, "page on with `--cursor`"));
        }
        query.offset = self.offset.unwrap_or(query.offset);
        query.cursor = self.cursor.clone().or(query.cursor);
        query.fields = self.fields.clone().or(query.fields);
        query.split = self.split.clone().or(query.split);
        query.source_ids.extend(self.sources.iter().cloned());
        query.live |= self.live;
        Ok(query)
    }
}

fn load(path: &std::path::Path) -> Result<Query, Failure> {
    let document = super::load_document(path)?;
    Query::from_value(&document).map_err(|problems| {
        let name = path.display().to_string();
        let first = problems.into_iter().next().map(Problem::of_file);
        first.map_or_else(|| Failure::faulty("the query cannot be read"), |fault| Failure::configuration(&name, fault))
    })
}

fn test(text: &str) -> Result<Filter, Failure> {
    let value = heldset_core::json::read(text).map_err(|error| {
        let help = "write `--filter '{\"field\": \"score\", \"operator\": \"gt\", \"value\": 0.8}'`";
        Failure::usage(Code::E052, format!("`--filter` is not JSON: {error}"), help)
    })?;
    Filter::from_value(&value, &Path::root()).map_err(|problem| {
        let help = problem.help.unwrap_or_else(|| "a test has `field`, `operator` and `value`".to_owned());
        Failure::usage(problem.code, problem.message, help)
    })
}

/// A filter that cannot be read, with the place where it stops making sense.
fn unreadable(text: &str, error: &WhereError) -> Failure {
    let place = Place { line: 1, column: text[..error.start].chars().count() as u64 + 1 };
    let end = error.end.max(error.start + usize::from(error.start < text.len()));
    let shown = if error.start == text.len() { format!("{text} ") } else { text.to_owned() };
    let excerpt = Excerpt { text: shown, start: error.start, end: end.max(error.start + 1) };
    let mut problem = Problem::new(Code::E064, Path::root(), error.message.clone());
    problem.help = Some(error.help.clone()).filter(|help| !help.is_empty());
    Failure::configuration("--where", problem.at(Some(place), Some(excerpt)))
}

/// Tells what should be known of the datasets.
pub(crate) fn warn(cli: &Cli, warnings: &[Fault]) {
    for warning in warnings.iter().filter(|_| !cli.quiet) {
        let text = print::fault::text("", warning, Severity::Warning, print::styled(cli.color, &io::stderr()));
        // Nobody is left to be told when the terminal is gone.
        drop(writeln!(io::stderr(), "{text}"));
    }
}

/// Milliseconds since then, to three digits.
pub(crate) fn millis(start: Instant) -> Value<'static> {
    let micros = start.elapsed().as_micros();
    #[allow(clippy::cast_precision_loss, reason = "no query takes so long")]
    let millis = micros as f64 / 1_000.0;
    heldset_core::number::Number::from_f64(millis).map_or(Value::Null, Value::Number)
}

fn answered_rows(answered: &Answered) -> Vec<Value<'static>> {
    answered.rows.iter().map(|row| Value::Object(row.clone())).collect()
}

fn document(rows: Vec<Value<'static>>, answered: &Answered, start: Instant) -> Object<'static> {
    let mut document = json::object([
        ("returned", json::number(rows.len() as u64)),
        ("rows", Value::Array(rows)),
        ("total", json::number(answered.total)),
        ("execution_time_ms", millis(start)),
        ("dataset", Value::from(answered.over.dataset.clone())),
        ("version", answered.over.version.map_or(Value::Null, json::number)),
        ("digest", answered.over.digest.clone().map_or(Value::Null, Value::from)),
        ("next_cursor", answered.next_cursor.clone().map_or(Value::Null, Value::from)),
    ]);
    if let Some(live) = &answered.live {
        let page = |(asked, sha256): &(String, String)| {
            Value::Object(json::object([
                ("asked", Value::from(asked.clone())),
                ("sha256", Value::from(format!("sha256:{sha256}"))),
            ]))
        };
        document.set("live", Value::Bool(true));
        document.set("time", Value::from(live.time.clone()));
        document.set("pages", Value::Array(live.pages.iter().map(page).collect()));
    }
    document
}

fn tell(answered: &Answered) {
    let version = answered.over.version.map_or_else(String::new, |version| format!("@{version}"));
    let more =
        answered.next_cursor.as_ref().map_or_else(String::new, |cursor| format!("; next page: --cursor {cursor}"));
    let line =
        format!("{} of {} rows of {}{version}{more}", answered.rows.len(), answered.total, answered.over.dataset);
    // Nobody is left to be told when the terminal is gone.
    drop(writeln!(io::stderr(), "{line}"));
}
