//! `heldset schema`.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use heldset_core::code::Code;
use heldset_core::fault::{Fault, Problem};
use heldset_core::infer::{Conflict, Inferred};
use heldset_core::schema::{Change, ChangeKind, Schema};
use heldset_core::value::{Object, Value};
use heldset_engine::Listener;
use heldset_engine::schema::{
    Compared, Named, RegisterRequest, Registered, Shown, compare, compare_versions, history, infer, infer_files,
    infer_live, register, show,
};

use crate::args::{Cli, ReadArgs};
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::{self, Severity, clean, json};
use crate::sources::NamedFiles;

#[derive(Args)]
#[command(disable_help_subcommand = true)]
pub(crate) struct SchemaArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Register a schema; whether the change breaks anybody is computed
    #[command(
        after_help = "Example:\n  heldset schema register trips schema.yaml --summary \"a score for each trip\"\n  heldset schema register trips schema.json --claim non_breaking"
    )]
    Register(RegisterArgs),
    /// Print the schema that records show: of a version, or of files
    #[command(after_help = "Example:\n  heldset schema infer trips\n  heldset schema infer a.jsonl b.jsonl --json")]
    Infer(InferArgs),
    /// List the schemas of a dataset
    #[command(after_help = "Example:\n  heldset schema history trips")]
    History(HistoryArgs),
    /// Compare two schemas; without numbers, the newest and the one before
    #[command(
        after_help = "Example:\n  heldset schema diff trips\n  heldset schema diff trips@1 trips@3\n  heldset schema diff --versions trips@4 trips@7"
    )]
    Diff(DiffArgs),
    /// Print a schema
    #[command(after_help = "Example:\n  heldset schema show trips\n  heldset schema show trips@2 --as-json-schema")]
    Show(ShowArgs),
}

#[derive(Args)]
struct RegisterArgs {
    /// The dataset
    #[arg(value_name = "SLUG")]
    slug: String,
    /// The schema, in JSON or YAML; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What the change is claimed to be; a breaking change that is claimed to be none is refused
    #[arg(long, value_name = "KIND", value_parser = ["breaking", "non_breaking"])]
    claim: Option<String>,
    /// What the change is about
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
}

#[derive(Args)]
struct InferArgs {
    /// A dataset and version, or files; `-` is standard input
    #[arg(value_name = "SLUG[@V]|FILE", required = true)]
    of: Vec<PathBuf>,
    /// Read the sources of the dataset now, instead of a version
    #[arg(long)]
    live: bool,
    #[command(flatten)]
    to: super::PlaceArgs,
    #[command(flatten)]
    read: ReadArgs,
}

#[derive(Args)]
struct HistoryArgs {
    /// The dataset
    #[arg(value_name = "SLUG")]
    slug: String,
}

#[derive(Args)]
struct DiffArgs {
    /// A dataset, and maybe the number of its schema, such as `trips@2`
    #[arg(value_name = "SLUG[@N]")]
    a: String,
    /// What it is compared with: another, or a number
    #[arg(value_name = "SLUG[@N]")]
    b: Option<String>,
    /// Another number, after `SLUG N`
    #[arg(value_name = "N", hide = true)]
    c: Option<String>,
    /// Compare versions of datasets: the schemas they were registered under, else what their records show
    #[arg(long)]
    versions: bool,
    #[command(flatten)]
    to: super::PlaceArgs,
}

#[derive(Args)]
struct ShowArgs {
    /// The dataset, and maybe the number of its schema, such as `trips@2`
    #[arg(value_name = "SLUG[@N]")]
    of: String,
    /// Print it as a JSON Schema (2020-12)
    #[arg(long)]
    as_json_schema: bool,
}

/// Registers, infers, lists, compares and prints schemas.
pub(crate) fn run(cli: &Cli, args: &SchemaArgs) -> Result<Exit, Failure> {
    let (out, exit) = match &args.verb {
        Verb::Register(args) => (run_register(cli, args)?, Exit::Fine),
        Verb::Infer(args) => (run_infer(cli, args)?, Exit::Fine),
        Verb::History(args) => {
            let shown = history(&place::session(cli)?, &args.slug)?;
            let out = match cli.json {
                true => super::list_text(shown.iter().map(|shown| Value::Object(shown_object(shown)))),
                false => shown.iter().map(shown_line).collect(),
            };
            (out, Exit::Fine)
        }
        Verb::Diff(args) => run_diff(cli, args)?,
        Verb::Show(args) => (run_show(cli, args)?, Exit::Fine),
    };
    io::stdout().write_all(out.as_bytes()).map(|()| exit).map_err(|error| super::broken(&error))
}

fn run_register(cli: &Cli, args: &RegisterArgs) -> Result<String, Failure> {
    let session = place::session(cli)?;
    session.must_manage("schema register")?;
    let name = args.file.display().to_string();
    let bytes = read_file(&args.file)?;
    let value = heldset_dialect::read_document(&bytes).map_err(|fault| Failure::invalid(&name, *fault))?;
    let claim = args.claim.as_deref().and_then(ChangeKind::parse);
    let request = RegisterRequest { slug: &args.slug, value: &value, claim, summary: args.summary.clone() };
    match register(&session, &request)? {
        Ok(done) => {
            if done.change.kind == ChangeKind::Breaking {
                super::tell_touched_by(cli, &session, &args.slug, "schema")?;
            }
            Ok(registered_text(cli, &done))
        }
        Err(problems) => Err(tell_problems(cli, &name, problems)),
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>, Failure> {
    let read = match path.as_os_str() == crate::disk::STDIN {
        true => {
            let mut bytes = Vec::new();
            io::Read::read_to_end(&mut io::stdin().lock(), &mut bytes).map(|_| bytes)
        }
        false => std::fs::read(path),
    };
    read.map_err(|error| Failure::open(path, &error))
}

/// Tells every problem but the last, which ends the command. With `--json` the first stands for all.
fn tell_problems(cli: &Cli, file: &str, problems: Vec<Problem>) -> Failure {
    let count = problems.len();
    let mut faults: Vec<Fault> = problems.into_iter().map(Problem::of_file).collect();
    if cli.json {
        let all: Vec<String> = faults.iter().map(|fault| format!("{}: {}", place_of(fault), fault.message)).collect();
        let mut first = faults.swap_remove(0);
        if count > 1 {
            first.message = format!("the schema has {count} problems: {}", all.join("; "));
        }
        return Failure::invalid(file, first);
    }
    let last = faults.pop().expect("a schema that is refused has at least one problem");
    let styled = print::styled(cli.color, &io::stderr());
    for fault in &faults {
        let told = print::fault::text(file, &placed(fault), Severity::Error, styled);
        // Nobody is left to be told when the terminal is gone.
        drop(writeln!(io::stderr(), "{told}\n"));
    }
    Failure::invalid(file, placed(&last))
}

fn place_of(fault: &Fault) -> String {
    fault.field.clone().unwrap_or_else(|| "the schema".to_owned())
}

/// The fault with its path in the message: a document has no carets.
fn placed(fault: &Fault) -> Fault {
    let message = match &fault.field {
        Some(field) => format!("{field}: {}", fault.message),
        None => fault.message.clone(),
    };
    Fault { message, ..fault.clone() }
}

fn registered_text(cli: &Cli, done: &Registered) -> String {
    let Registered { slug, doc, change, reopened } = done;
    if cli.json {
        let members = json::object([
            ("dataset", Value::from(slug.as_str())),
            ("schema_version", json::number(doc.number)),
            ("change_type", Value::from(doc.change_type.as_str())),
            ("changes", changes_value(change)),
            ("change_summary", json::optional(doc.change_summary.as_deref())),
            ("created_at", Value::from(doc.created_at.as_str())),
            ("reopened", Value::Bool(*reopened)),
        ]);
        return json::text(&members) + "\n";
    }
    let mut out = format!("{slug}: schema {} ({})\n", doc.number, doc.change_type);
    out.push_str(&changes_text(change));
    if *reopened {
        out.push_str("the dataset was published, and is active again\n");
    }
    out
}

fn changes_value(change: &Change) -> Value<'static> {
    let members = change.fields.iter().map(|one| {
        Value::Object(json::object([
            ("field", Value::from(one.field.clone())),
            ("change", Value::from(one.what)),
            ("breaking", Value::Bool(one.breaking)),
            ("detail", Value::from(one.detail.clone())),
        ]))
    });
    Value::Array(members.collect())
}

fn changes_text(change: &Change) -> String {
    let line = |one: &heldset_core::schema::FieldChange| {
        let mark = match (one.what, one.breaking) {
            ("added", false) => '+',
            (_, true) => '!',
            _ => '~',
        };
        let field = if one.field.is_empty() { "(schema)".to_owned() } else { clean::line(&one.field) };
        format!("  {mark} {field}  {}: {}\n", one.what, clean::line(&one.detail))
    };
    change.fields.iter().map(line).collect()
}

/// Takes the first fault aside: it ends the command.
struct First {
    fault: Option<Fault>,
}

impl Listener for First {
    fn fault(&mut self, fault: &Fault) -> io::Result<()> {
        if !fault.code.is_hint() {
            self.fault.get_or_insert_with(|| fault.clone());
        }
        Ok(())
    }

    fn progress(&mut self, _bytes: u64, _rows: u64) {}
}

fn run_infer(cli: &Cli, args: &InferArgs) -> Result<String, Failure> {
    if let ([one], false) = (args.of.as_slice(), args.of.iter().any(|path| is_file(path))) {
        let session = place::session(cli)?;
        if args.live {
            let slug = one.display().to_string();
            return Ok(inferred_text(cli, &super::source::reaching(|reach| infer_live(&session, reach, &slug))?));
        }
        return Ok(inferred_text(cli, &infer(&session, &one.display().to_string(), args.to.place()?)?));
    }
    if args.read.compat.is_some() {
        let help = "leave it out: a schema is inferred from what the file says";
        return Err(Failure::usage(Code::E103, "`--compat` does not go with `schema infer`", help));
    }
    let reading = super::read_options(&args.read)?;
    let files = NamedFiles::new(&args.of, args.read.allow_outside)?;
    let mut first = First { fault: None };
    let (inferred, faults) = infer_files(&files, &reading, &mut first)?;
    match first.fault {
        Some(fault) => {
            let file = fault.file.clone().unwrap_or_default();
            let more = format!("mend the {faults} faults that `heldset check` lists, and infer again");
            let help = if faults > 1 { Some(more) } else { fault.help.clone() };
            Err(Failure::invalid(&file, Fault { help, file: None, ..fault }))
        }
        None => Ok(inferred_text(cli, &inferred)),
    }
}

/// Whether an argument is meant as a file: it is there, or a dataset cannot have that name.
fn is_file(path: &Path) -> bool {
    let text = path.display().to_string();
    let slug = text.split('@').next().unwrap_or_default();
    let can_be_slug = heldset_core::cite::slug_problem(slug).is_none();
    path.is_file() || !can_be_slug && (path.exists() || text.contains(['/', '.']) || text == crate::disk::STDIN)
}

fn inferred_text(cli: &Cli, inferred: &Inferred) -> String {
    if cli.json {
        let field = |field: &heldset_core::schema::Field| {
            Value::Object(json::object([
                ("name", Value::from(field.name.clone())),
                ("type", Value::from(field.kind.to_string())),
                ("required", Value::Bool(field.required)),
            ]))
        };
        let members = json::object([
            ("fields", Value::Array(inferred.fields.iter().map(field).collect())),
            ("merge_conflicts", Value::Array(inferred.conflicts.iter().map(conflict_value).collect())),
            ("rows", json::number(inferred.rows)),
        ]);
        return json::text(&members) + "\n";
    }
    let mut out = fields_text(&Schema::of(inferred.fields.clone()));
    for conflict in &inferred.conflicts {
        let told = |(source, kind, example): &(String, heldset_core::schema::Type, heldset_core::infer::Example)| {
            format!("{kind} in {} (row {})", clean::line(source), example.row)
        };
        let told: Vec<String> = conflict.sources.iter().map(told).collect();
        let _infallible = writeln!(out, "! {}: {}", clean::line(&conflict.field), told.join(", "));
    }
    out
}

fn conflict_value(conflict: &Conflict) -> Value<'_> {
    let types =
        conflict.sources.iter().map(|(source, kind, _)| (source.as_str().into(), Value::from(kind.to_string())));
    let examples = conflict.sources.iter().map(|(source, _, example)| {
        let mut members = json::object([("row", json::number(example.row))]);
        if let Some(value) = &example.value {
            members.set("value", value.clone());
        }
        (source.as_str().into(), Value::Object(members))
    });
    Value::Object(json::object([
        ("field", Value::from(conflict.field.as_str())),
        ("types", Value::Object(types.collect())),
        ("examples", Value::Object(examples.collect())),
    ]))
}

fn fields_text(schema: &Schema) -> String {
    let wide = schema.fields().iter().map(|field| clean::line(&field.name).chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for field in schema.fields() {
        let (name, kind) = (clean::line(&field.name), clean::line(&field.kind.to_string()));
        let _infallible = write!(out, "{name:wide$}  {kind}{}", if field.required { ", required" } else { "" });
        if let Some(label) = &field.visibility {
            let _infallible = write!(out, "  [{}]", clean::line(label));
        }
        if let Some(description) = &field.description {
            let _infallible = write!(out, "  {}", clean::line(description));
        }
        out.push('\n');
    }
    if schema.is_closed() {
        out.push_str("other fields are refused\n");
    }
    out
}

fn shown_object(shown: &Shown) -> Object<'_> {
    json::object([
        ("dataset", Value::from(shown.slug.as_str())),
        ("schema_version", json::number(shown.number)),
        ("change_type", Value::from(shown.change_type.name())),
        ("change_summary", json::optional(shown.change_summary.as_deref())),
        ("changes", changes_value(&shown.change)),
        ("created_at", Value::from(shown.created_at.as_str())),
        ("created_by", Value::from(shown.created_by.as_str())),
        ("schema_definition", shown.schema.to_value()),
    ])
}

fn shown_line(shown: &Shown) -> String {
    let summary = shown.change_summary.as_deref().map_or_else(String::new, |text| format!("  {}", clean::line(text)));
    let fields = match shown.schema.fields().len() {
        1 => "1 field".to_owned(),
        count => format!("{count} fields"),
    };
    let (number, time, kind) = (shown.number, &shown.created_at, shown.change_type.name());
    format!("{number}  {time}  {kind}  {fields}{summary}\n")
}

fn run_show(cli: &Cli, args: &ShowArgs) -> Result<String, Failure> {
    let (slug, number) = numbered(&args.of)?;
    let shown = show(&place::session(cli)?, slug, number)?;
    if args.as_json_schema {
        return Ok(json::value_text(&shown.schema.to_json_schema()) + "\n");
    }
    if cli.json {
        let mut members = shown_object(&shown);
        if let Some(fields) = shown.schema.to_fields().as_object().and_then(|object| object.get("fields")) {
            members.set("fields", fields.clone());
        }
        return Ok(json::text(&members) + "\n");
    }
    Ok(shown_line(&shown).to_string() + &fields_text(&shown.schema))
}

/// `SLUG` or `SLUG@N`.
fn numbered(text: &str) -> Result<(&str, Option<u64>), Failure> {
    let Some((slug, number)) = text.split_once('@') else { return Ok((text, None)) };
    let parsed = number.parse().map_err(|_| {
        let message = format!("`{number}` is not the number of a schema");
        Failure::usage(Code::E105, message, format!("write `{slug}@2`; `heldset schema history {slug}` lists them"))
    });
    Ok((slug, Some(parsed?)))
}

fn run_diff(cli: &Cli, args: &DiffArgs) -> Result<(String, Exit), Failure> {
    let session = place::session(cli)?;
    let found = if args.versions {
        let Some(b) = args.b.as_deref().filter(|_| args.c.is_none()) else {
            let help = "write `heldset schema diff --versions SLUG@A SLUG@B`";
            return Err(Failure::usage(Code::E105, "`--versions` compares two versions", help));
        };
        compare_versions(&session, &args.a, b, args.to.place()?)?
    } else {
        let (a, b) = args.named()?;
        compare(&session, a, b)?
    };
    let exit = if found.change.is_same() { Exit::Fine } else { Exit::Different };
    Ok((compared_text(cli, &found), exit))
}

impl DiffArgs {
    /// `SLUG`, `SLUG@A`, `SLUG@A SLUG@B`, `SLUG A B`.
    fn named(&self) -> Result<(Named<'_>, Option<Named<'_>>), Failure> {
        let (slug, number) = numbered(&self.a)?;
        let is_number = |text: &str| text.parse::<u64>().ok();
        let first = Named { slug, number };
        match (self.b.as_deref(), self.c.as_deref()) {
            (None, _) => Ok((first, None)),
            (Some(b), None) => match is_number(b) {
                Some(b) if number.is_none() => Ok((Named { slug, number: Some(b) }, None)),
                Some(b) => Ok((first, Some(Named { slug, number: Some(b) }))),
                None => {
                    let (slug, number) = numbered(b)?;
                    Ok((first, Some(Named { slug, number })))
                }
            },
            (Some(b), Some(c)) => match (number, is_number(b), is_number(c)) {
                (None, Some(b), Some(c)) => {
                    Ok((Named { slug, number: Some(b) }, Some(Named { slug, number: Some(c) })))
                }
                _ => {
                    let help = "write `heldset schema diff SLUG@A SLUG@B`";
                    Err(Failure::usage(Code::E105, "two schemas can be compared, not three", help))
                }
            },
        }
    }
}

fn compared_text(cli: &Cli, found: &Compared) -> String {
    let kind = if found.change.is_same() { "same" } else { found.change.kind.name() };
    if cli.json {
        let cited = |(slug, number): &(String, u64)| {
            Value::Object(json::object([("dataset", Value::from(slug.clone())), ("number", json::number(*number))]))
        };
        let members = json::object([
            ("a", cited(&found.a)),
            ("b", cited(&found.b)),
            ("schema", Value::from(kind)),
            ("change_type", Value::from(found.change.kind.name())),
            ("changes", changes_value(&found.change)),
        ]);
        return json::text(&members) + "\n";
    }
    let ((a, from), (b, to)) = (&found.a, &found.b);
    format!("{a}@{from} → {b}@{to}: {kind}\n{}", changes_text(&found.change))
}
