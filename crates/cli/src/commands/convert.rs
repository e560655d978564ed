//! `heldset convert`.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use heldset_core::code::Code;
use heldset_core::fault::Fault;
use heldset_dialect::write::{Sidecar, Target, WriteOptions};
use heldset_dialect::{Input, Report};
use heldset_engine::convert::{ConvertOptions, Converting, convert};
use heldset_engine::{Listener, compat};

use crate::args::{Cli, ConvertArgs};
use crate::disk::{self, Disk, STDIN};
use crate::exit::{Exit, Failure};
use crate::print::{self, Severity, progress::Progress};
use crate::whole::{self, WholeFile};

/// Translates a file; nothing is written unless all of it can be.
pub(crate) fn run(cli: &Cli, args: &ConvertArgs) -> Result<Exit, Failure> {
    let (input, size) = disk::open(&args.file)?;
    let file = input.name.clone();
    refuse_one_file_twice(args)?;
    whole::clean_up_when_interrupted();
    let rejects = args.rejects.as_deref().map(WholeFile::create).transpose()?.map(BufWriter::new);
    let mut told = Told { cli, file: &file, progress: Progress::of(&file, size, cli.quiet), rejects, first: None };
    let made = match args.read.compat {
        None => translate(args, input, &mut told)?,
        Some(_) => translate_compat(args, input, &mut told)?,
    };
    told.progress.finish();
    let first = told.finish(args.rejects.as_deref())?;
    if !cli.quiet {
        let report = match cli.json {
            true => print::json::text(&print::json::report(&made.report, made.dropped)),
            false => print::report::text(&file, &made.report, made.dropped),
        };
        // A closed stderr is no reason to keep the data back.
        drop(writeln!(io::stderr(), "{report}"));
    }
    match (made.body, first) {
        (Some(body), _) => hand_out(body, args.output.as_deref()).map(|()| Exit::Fine),
        (None, Some(fault)) if cli.json => Err(Failure::invalid(&file, fault)),
        (None, _) => Ok(Exit::Invalid),
    }
}

/// What a translation came to.
struct Made {
    report: Report,
    /// How many fields are not written as they are.
    dropped: u64,
    /// How to write it; absent when nothing may be written.
    body: Option<Handing>,
}

/// Writes a whole translation somewhere.
type Handing = Box<dyn FnOnce(&mut (dyn Write + Send)) -> io::Result<Sidecar>>;

fn translate(args: &ConvertArgs, input: Input, told: &mut Told<'_>) -> Result<Made, Failure> {
    let reading = super::read_options(&args.read)?;
    let write = WriteOptions {
        typed: args.output.as_deref().is_some_and(|path| path.as_os_str() != STDIN),
        for_spreadsheet: args.for_spreadsheet,
    };
    let options = ConvertOptions { target: args.target(), write, lossy: args.lossy, keep_valid: args.keep_valid };
    let files = Disk::around(&args.file, args.read.allow_outside);
    let temporary = tempfile::tempfile().map_err(|error| Failure::write(&std::env::temp_dir(), &error))?;
    let made = convert(input, &reading, &options, &files, Box::new(temporary), told);
    let made = made.map_err(|error| Failure::work(&args.file, &error))?;
    let (report, dropped) = (made.report.clone(), made.dropped);
    let body: Option<Handing> =
        (!made.refused).then(|| Box::new(|out: &mut (dyn Write + Send)| made.write_to(out)) as Handing);
    Ok(Made { report, dropped, body })
}

fn translate_compat(args: &ConvertArgs, input: Input, told: &mut Told<'_>) -> Result<Made, Failure> {
    if args.target() != Target::Jsonl {
        let message = format!("`--compat` does not go with `--to {}`", args.to);
        return Err(Failure::usage(
            Code::E103,
            message,
            "what a released loader reads is written as `--to jsonl` only",
        ));
    }
    let files = Disk::around(&args.file, args.read.allow_outside);
    let compat = compat::letta(input, &files, told).map_err(|error| Failure::work(&args.file, &error))?;
    let keep = compat.report.faults == 0 || args.keep_valid;
    let lines = compat.lines;
    let write = move |out: &mut (dyn Write + Send)| out.write_all(&lines).map(|()| Sidecar::default());
    Ok(Made { report: compat.report, dropped: 0, body: keep.then(|| Box::new(write) as Handing) })
}

/// Input, output and rejects are three files.
fn refuse_one_file_twice(args: &ConvertArgs) -> Result<(), Failure> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let Some(rejects) = args.rejects.as_deref().map(real) else { return Ok(()) };
    let others = [Some(args.file.as_path()), args.output.as_deref()];
    if others.into_iter().flatten().any(|other| real(other) == rejects) {
        let message = "`--rejects` names the input or the output";
        return Err(Failure::usage(Code::E103, message, "give the refused rows a file of their own"));
    }
    Ok(())
}

/// The file that stands beside another, named after it.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut beside = path.as_os_str().to_owned();
    beside.push(ending);
    beside.into()
}

/// To standard output, or into files that appear only when all of them are whole.
fn hand_out(body: Handing, output: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = output.filter(|path| path.as_os_str() != STDIN) else {
        let mut out = BufWriter::new(io::stdout());
        let written = body(&mut out).and_then(|_| out.flush());
        return written.map_err(|error| Failure::write(Path::new("standard output"), &error));
    };
    let (file, sidecar) = written(path, body)?;
    if let Some(schema) = sidecar.schema {
        written(&beside(path, ".schema.json"), |out| out.write_all(&schema))?.0.keep()?;
    }
    file.keep()
}

/// Writes a file that has no name yet.
pub(super) fn written<T>(
    path: &Path,
    write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<T>,
) -> Result<(WholeFile, T), Failure> {
    let fail = |error: &io::Error| Failure::write(path, error);
    let mut out = BufWriter::new(WholeFile::create(path)?);
    let answer = write(&mut out).map_err(|error| fail(&error))?;
    let file = out.into_inner().map_err(|error| fail(error.error()))?;
    Ok((file, answer))
}

/// Prints faults and progress while a file is made.
pub(super) struct Told<'t> {
    cli: &'t Cli,
    file: &'t str,
    progress: Progress,
    rejects: Option<BufWriter<WholeFile>>,
    first: Option<Fault>,
}

impl<'t> Told<'t> {
    /// Tells of a file that nothing is refused from.
    pub(super) fn of(cli: &'t Cli, file: &'t str) -> Self {
        Told { cli, file, progress: Progress::of(file, None, cli.quiet), rejects: None, first: None }
    }

    /// The work is done; answers the first fault.
    pub(super) fn end(self) -> Option<Fault> {
        self.progress.finish();
        self.first
    }

    /// Closes what was written aside; answers the first fault.
    fn finish(self, rejects: Option<&Path>) -> Result<Option<Fault>, Failure> {
        if let (Some(writer), Some(path)) = (self.rejects, rejects) {
            writer.into_inner().map_err(|error| Failure::write(path, error.error()))?.keep()?;
        }
        Ok(self.first)
    }
}

impl Told<'_> {
    fn print(&self, fault: &Fault, severity: Severity) -> io::Result<()> {
        let styled = print::styled(self.cli.color, &io::stderr());
        let text = match self.cli.json {
            true => print::json::fault(fault, severity),
            false => print::fault::text(self.file, fault, severity, styled) + "\n",
        };
        // A closed stderr is no reason to keep the data back.
        drop(writeln!(io::stderr(), "{text}"));
        Ok(())
    }
}

impl Listener for Told<'_> {
    fn fault(&mut self, fault: &Fault) -> io::Result<()> {
        if self.first.is_none() {
            self.first = Some(fault.clone());
        }
        self.print(fault, Severity::of(fault))
    }

    fn warning(&mut self, fault: &Fault) -> io::Result<()> {
        self.print(fault, Severity::Warning)
    }

    fn progress(&mut self, bytes: u64, rows: u64) {
        self.progress.at(bytes, rows);
    }
}

impl Converting for Told<'_> {
    fn reject(&mut self, row: &[u8]) -> io::Result<()> {
        let Some(rejects) = &mut self.rejects else { return Ok(()) };
        rejects.write_all(row)?;
        rejects.write_all(b"\n")
    }
}
