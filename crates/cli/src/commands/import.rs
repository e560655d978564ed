//! `heldset import`.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;

use clap::Args;
use heldset_core::code::Code;
use heldset_core::declaration::Parent;
use heldset_core::fault::Fault;
use heldset_core::manifest::Mode;
use heldset_core::value::{Object, Value};
use heldset_engine::Listener;
use heldset_engine::import::{About, Change, Generation, ImportRequest, Imported, change, import, import_files};

use crate::args::{Cli, ReadArgs};
use crate::exit::{Exit, Failure};
use crate::labels::LabelArgs;
use crate::place;
use crate::print::progress::Progress;
use crate::print::{self, Severity, json};
use crate::sources::NamedFiles;
use crate::tree::DiskTree;

/// How many faults are printed in full for people.
const SHOWN: u64 = 1000;

#[derive(Args)]
pub(crate) struct ImportArgs {
    /// The dataset; it is made when it is new
    #[arg(value_name = "SLUG")]
    slug: String,
    /// Files to import, one after the other; `-` is standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The split that the records replace; the other splits are carried over
    #[arg(long, value_name = "NAME", default_value = "default")]
    split: String,
    /// What the version is about
    #[arg(short, long, value_name = "TEXT")]
    message: Option<String>,
    #[command(flatten)]
    labels: LabelArgs,
    /// How the version came to be
    #[arg(long, value_name = "MODE", value_parser = ["synced", "mounted", "generated", "hidden"])]
    mode: Option<String>,
    /// The license
    #[arg(long, value_name = "LICENSE")]
    license: Option<String>,
    /// What is declared about where it comes from, such as `imported_from=release 7`
    #[arg(long = "provenance", value_name = "KEY=VALUE")]
    provenance: Vec<String>,
    /// Put the records in the place of those with their ids, and leave the rest
    #[arg(long)]
    upsert: bool,
    /// Take these records out
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    remove: Vec<String>,
    /// Register the valid records although others are refused
    #[arg(long)]
    keep_valid: bool,
    /// Keep files and folders as they are, as a split of files
    #[arg(long = "files", conflicts_with_all = ["upsert", "remove", "keep_valid"])]
    as_files: bool,
    #[command(flatten)]
    made: GenerationArgs,
    #[command(flatten)]
    read: ReadArgs,
}

/// How a generated version was made.
#[derive(Args)]
#[command(next_help_heading = "With --mode generated")]
pub(crate) struct GenerationArgs {
    /// A version it was made from, such as `openings@3`, or a run, as `run:NAME`
    #[arg(long = "parent", value_name = "SLUG@V")]
    parents: Vec<String>,
    /// The run that made it
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// The snapshot of the code that made it, such as a commit
    #[arg(long, value_name = "CODE")]
    code: Option<String>,
    /// The agent or model that made it
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// The random seed
    #[arg(long, value_name = "SEED")]
    seed: Option<String>,
    /// The policy it was made by
    #[arg(long, value_name = "POLICY")]
    generation_policy: Option<String>,
    /// What was filtered out
    #[arg(long = "filter", value_name = "FILTER")]
    filters: Vec<String>,
    /// What was redacted
    #[arg(long = "redaction", value_name = "RULE")]
    redaction: Vec<String>,
}

impl GenerationArgs {
    fn generation(&self) -> Result<Generation, Failure> {
        let text = |text: &Option<String>| text.clone().map(Value::from);
        let list = |texts: &[String]| {
            let values = texts.iter().cloned().map(Value::from).collect();
            (!texts.is_empty()).then_some(Value::Array(values))
        };
        Ok(Generation {
            parents: self.parents.iter().map(|text| parent(text)).collect::<Result<_, _>>()?,
            run: self.run.clone(),
            code: self.code.clone(),
            agent: self.agent.clone(),
            seed: text(&self.seed),
            policy: text(&self.generation_policy),
            filters: list(&self.filters),
            redaction: list(&self.redaction),
        })
    }
}

/// `SLUG@V`, `dataset:SLUG@V` or `run:NAME`.
fn parent(text: &str) -> Result<Parent, Failure> {
    let prefixed = if text.split('@').next().is_some_and(|slug| slug.contains(':')) {
        Parent::parse(text)
    } else {
        Some(text.parse().map(Parent::Dataset))
    };
    match prefixed {
        Some(Ok(parent)) => Ok(parent),
        Some(Err(error)) => Err(Failure::usage(Code::E105, error.to_string(), "write `--parent SLUG@VERSION`")),
        None => {
            let message = format!("`{text}` is neither a dataset nor a run");
            Err(Failure::usage(Code::E105, message, "write `--parent SLUG@VERSION` or `--parent run:NAME`"))
        }
    }
}

/// Registers files as a new version.
pub(crate) fn run(cli: &Cli, args: &ImportArgs) -> Result<Exit, Failure> {
    if args.read.compat.is_some() {
        let help = "leave it out: import reads what the file says";
        return Err(Failure::usage(Code::E103, "`--compat` does not go with `import`", help));
    }
    let session = place::session(cli)?;
    session.must_manage("import")?;
    let reading = super::read_options(&args.read)?;
    let (labelling, about) = (args.labels.labelling()?, args.about()?);
    let request = ImportRequest {
        slug: &args.slug,
        split: &args.split,
        reading: &reading,
        labelling: &labelling,
        about: &about,
        keep_valid: args.keep_valid,
    };
    let mut listener = ImportListener::new(cli);
    let done = if args.as_files {
        let tree = DiskTree::of(&args.files)?;
        listener.start(cli, &args.slug, Some(tree.size()));
        import_files(&session, &request, &tree, &mut listener)
    } else {
        let sources = NamedFiles::new(&args.files, args.read.allow_outside)?;
        listener.start(cli, &args.slug, sources.size());
        if args.upsert || !args.remove.is_empty() {
            args.check_change()?;
            let sources = args.upsert.then_some(&sources as &dyn heldset_engine::ports::Sources);
            change(&session, &request, &Change { sources, remove: &args.remove }, &mut listener)
        } else {
            import(&session, &request, &sources, &mut listener)
        }
    };
    listener.finish();
    let done = done?;
    if let Some(committed) = &done.committed {
        super::tell_touched(cli, &session, committed)?;
    }
    print_outcome(cli, args, &done, &listener)
}

impl ImportArgs {
    fn check_change(&self) -> Result<(), Failure> {
        if self.upsert && self.files.is_empty() {
            let help = "name the file with the changed records";
            return Err(Failure::usage(Code::E105, "`--upsert` needs a file", help));
        }
        if !self.upsert && !self.files.is_empty() {
            let help = "add `--upsert` to change records in the same step, or leave the file out";
            return Err(Failure::usage(Code::E103, "`--remove` takes records out, and a file replaces them all", help));
        }
        Ok(())
    }

    /// The contract of files that stay where they are.
    fn mount(&self) -> Result<Option<String>, Failure> {
        let Some(path) = self.files.first().filter(|_| self.mode.as_deref() == Some(Mode::Mounted.name())) else {
            return Ok(None);
        };
        let path = path.canonicalize().map_err(|error| Failure::open(path, &error))?;
        let contract = json::object([
            ("access", Value::from("read_only")),
            ("on_unavailable", Value::from("fail")),
            ("path", Value::from(path.display().to_string())),
        ]);
        Ok(Some(json::text(&contract)))
    }

    fn about(&self) -> Result<About, Failure> {
        let mut provenance = Object::new();
        for declared in &self.provenance {
            let (key, value) = pair(declared, "--provenance", "KEY=VALUE")?;
            provenance.set(key, Value::from(value));
        }
        Ok(About {
            message: self.message.clone(),
            license: self.license.clone(),
            provenance,
            mode: self.mode.as_deref().and_then(Mode::parse),
            generation: self.made.generation()?,
            mount: self.mount()?,
            ..About::default()
        })
    }
}

/// The two sides of an option like `FIELD=LABEL`.
pub(crate) fn pair(text: &str, option: &str, form: &str) -> Result<(String, String), Failure> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(Failure::usage(
            Code::E105,
            format!("`{option} {text}` is not of the form {form}"),
            format!("write `{option} {form}`"),
        )),
    }
}

fn print_outcome(
    cli: &Cli,
    args: &ImportArgs,
    imported: &Imported,
    listener: &ImportListener,
) -> Result<Exit, Failure> {
    let count = |of: fn(&heldset_dialect::Report) -> u64| imported.reports.iter().map(of).sum::<u64>();
    let (read, kept, refused) = (count(|r| r.read), count(|r| r.kept), count(|r| r.refused));
    let mut out = BufWriter::new(io::stdout());
    let printed = if cli.json {
        let mut report = json::object([
            ("read", json::number(read)),
            ("kept", json::number(kept)),
            ("refused", json::number(refused)),
            ("dropped", json::number(0)),
        ]);
        report
            .set("files", Value::Array(imported.reports.iter().map(|report| json::report(report, 0).into()).collect()));
        let committed = imported.committed.as_ref();
        let mut object = json::object([
            ("dataset", Value::from(args.slug.as_str())),
            ("version", committed.map_or(Value::Null, |committed| json::number(committed.version.number))),
            ("digest", json::optional(committed.map(|committed| committed.version.digest.as_str()))),
            ("created", Value::Bool(committed.is_some_and(|committed| committed.created))),
            ("report", report.into()),
        ]);
        if imported.committed.is_none() {
            object.set("faults", Value::Array(listener.faults.clone()));
        }
        writeln!(out, "{}", json::text(&object))
    } else {
        print_for_people(cli, args, imported, &mut out)
    };
    printed.and_then(|()| out.flush()).map_err(|error| super::broken(&error))?;
    Ok(if imported.committed.is_none() { Exit::Invalid } else { Exit::Fine })
}

fn print_for_people(cli: &Cli, args: &ImportArgs, imported: &Imported, out: &mut dyn Write) -> io::Result<()> {
    if !cli.quiet {
        for (path, report) in args.files.iter().zip(&imported.reports) {
            writeln!(io::stderr(), "{}", print::report::text(&path.display().to_string(), report, 0))?;
        }
    }
    match &imported.committed {
        None => {
            writeln!(io::stderr(), "nothing was registered: mend the rows above, or leave them out with `--keep-valid`")
        }
        Some(committed) => {
            let (slug, number, digest) = (&args.slug, committed.version.number, &committed.version.digest);
            match committed.created {
                true => writeln!(out, "{slug}@{number} {digest}"),
                false => writeln!(out, "{slug}@{number} {digest} (same content, no new version)"),
            }
        }
    }
}

/// Prints faults for people as they come, and keeps them for programs.
pub(crate) struct ImportListener {
    pub(crate) faults: Vec<Value<'static>>,
    count: u64,
    json: bool,
    styled: bool,
    progress: Option<Progress>,
}

impl ImportListener {
    pub(crate) fn new(cli: &Cli) -> Self {
        let styled = print::styled(cli.color, &io::stderr());
        ImportListener { faults: Vec::new(), count: 0, json: cli.json, styled, progress: None }
    }

    /// Shows how far the work is, of so many bytes.
    pub(crate) fn start(&mut self, cli: &Cli, what: &str, size: Option<u64>) {
        let quiet = cli.quiet || cli.json && !io::stderr().is_terminal();
        self.progress = Some(Progress::of(what, size, quiet));
    }

    pub(crate) fn finish(&mut self) {
        if let Some(progress) = self.progress.take() {
            progress.finish();
        }
    }
}

impl Listener for ImportListener {
    fn fault(&mut self, fault: &Fault) -> io::Result<()> {
        self.count += 1;
        if self.json {
            self.faults.push(json::fault_value(fault, Severity::of(fault)));
            return Ok(());
        }
        if self.count > SHOWN {
            return Ok(());
        }
        let file = fault.file.clone().unwrap_or_default();
        writeln!(io::stderr(), "{}\n", print::fault::text(&file, fault, Severity::of(fault), self.styled))
    }

    fn progress(&mut self, bytes: u64, rows: u64) {
        if let Some(progress) = &mut self.progress {
            progress.at(bytes, rows);
        }
    }
}
