//! `heldset check`.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::path::Path;

use heldset_core::code::Code;
use heldset_core::fault::Fault;
use heldset_core::value::Value;
use heldset_dialect::{Body, Report};
use heldset_engine::Listener;
use heldset_engine::check::check;
use heldset_engine::compat;

use crate::args::{CheckArgs, Cli};
use crate::disk::{self, Disk, STDIN};
use crate::exit::{Exit, Failure};
use crate::print::{self, Severity, progress::Progress};

/// Checks every file and prints what is wrong with it.
pub(crate) fn run(cli: &Cli, args: &CheckArgs) -> Result<Exit, Failure> {
    let options = super::read_options(&args.read)?;
    if args.files.iter().filter(|path| path.as_os_str() == STDIN).count() > 1 {
        return Err(Failure::usage(Code::E103, "standard input can be read only once", "write `-` once"));
    }
    let mut printer = Printer {
        out: BufWriter::new(io::stdout()),
        json: cli.json,
        styled: print::styled(cli.color, &io::stdout()),
        quiet: cli.quiet,
        faults: 0,
        more: BTreeMap::new(),
    };
    let mut exit = Exit::Fine;
    for (index, path) in args.files.iter().enumerate() {
        let shown = path.display().to_string();
        let (input, size) = match disk::open(path) {
            Ok(opened) => opened,
            Err(failure) if args.files.len() == 1 => return Err(failure),
            Err(failure) => {
                printer.unopened(&shown, index, failure.fault()).map_err(|error| broken(&error))?;
                exit = Exit::Usage;
                continue;
            }
        };
        if args.read.compat.is_some() && matches!(input.body, Body::Folder) {
            return Err(Failure::usage(Code::E103, "`--compat` does not go with a folder", "pass the files in it"));
        }
        let files = Disk::around(path, args.read.allow_outside);
        printer.open(&shown, index).map_err(|error| broken(&error))?;
        let progress = Progress::of(&shown, size, cli.quiet || cli.json && !io::stderr().is_terminal());
        let mut listener = FileListener { printer: &mut printer, file: &shown, progress, broken: false };
        let report = match args.read.compat {
            None => check(input, &options, &files, &mut listener),
            Some(_) => compat::letta(input, &files, &mut listener).map(|compat| compat.report),
        };
        listener.progress.finish();
        let report = match report {
            Ok(report) => report,
            Err(error) if listener.broken => return Err(broken(&error)),
            Err(error) => {
                let failure = Failure::work(path, &error);
                printer
                    .fault(&shown, failure.fault())
                    .and_then(|()| printer.end_unread())
                    .map_err(|error| broken(&error))?;
                exit = Exit::Usage;
                continue;
            }
        };
        printer.close(&shown, &report).map_err(|error| broken(&error))?;
        if report.faults > 0 && exit == Exit::Fine {
            exit = Exit::Invalid;
        }
    }
    printer.end().map_err(|error| broken(&error))?;
    Ok(exit)
}

/// How many faults of a file are printed in full for people.
const SHOWN: u64 = 1000;

struct Printer {
    out: BufWriter<Stdout>,
    json: bool,
    styled: bool,
    quiet: bool,
    faults: u64,
    /// Faults that were only counted.
    more: BTreeMap<Code, u64>,
}

impl Printer {
    fn open(&mut self, file: &str, index: usize) -> io::Result<()> {
        self.faults = 0;
        if !self.json {
            return Ok(());
        }
        let comma = if index > 0 { "," } else { "{\"files\":[" };
        let mut name = Vec::new();
        heldset_core::canonical::write(&Value::from(file), &mut name);
        write!(self.out, "{comma}{{\"file\":{},\"faults\":[", String::from_utf8_lossy(&name))
    }

    fn fault(&mut self, file: &str, fault: &Fault) -> io::Result<()> {
        let comma = if self.faults > 0 { "," } else { "" };
        self.faults += 1;
        if self.json {
            return write!(self.out, "{comma}{}", print::json::fault(fault, Severity::of(fault)));
        }
        if self.faults > SHOWN {
            *self.more.entry(fault.code).or_default() += 1;
            return Ok(());
        }
        writeln!(self.out, "{}\n", print::fault::text(file, fault, Severity::of(fault), self.styled))
    }

    fn close(&mut self, file: &str, report: &Report) -> io::Result<()> {
        if self.json {
            let counts = print::json::text(&print::json::report(report, 0));
            return write!(self.out, "],{}", &counts[1..]);
        }
        let more: Vec<_> =
            std::mem::take(&mut self.more).into_iter().map(|(code, count)| format!("{code}: {count}")).collect();
        if !more.is_empty() {
            writeln!(self.out, "and more that are not shown here ({}); `--json` lists them all\n", more.join(", "))?;
        }
        if self.quiet { Ok(()) } else { writeln!(self.out, "{}", print::report::text(file, report, 0)) }
    }

    /// A file among several that cannot be read at all.
    fn unopened(&mut self, file: &str, index: usize, fault: &Fault) -> io::Result<()> {
        self.open(file, index)?;
        self.fault(file, fault)?;
        self.end_unread()
    }

    /// Closes the entry of a file that could not be read to its end.
    fn end_unread(&mut self) -> io::Result<()> {
        match self.json {
            true => write!(self.out, "],\"format\":null,\"read\":0,\"kept\":0,\"refused\":0}}"),
            false => Ok(()),
        }
    }

    fn end(&mut self) -> io::Result<()> {
        if self.json {
            writeln!(self.out, "]}}")?;
        }
        self.out.flush()
    }
}

struct FileListener<'p> {
    printer: &'p mut Printer,
    file: &'p str,
    progress: Progress,
    /// Whether nothing can be printed any more.
    broken: bool,
}

impl Listener for FileListener<'_> {
    fn fault(&mut self, fault: &Fault) -> io::Result<()> {
        let printed = self.printer.fault(self.file, fault);
        self.broken |= printed.is_err();
        printed
    }

    fn progress(&mut self, bytes: u64, rows: u64) {
        self.progress.at(bytes, rows);
    }
}

fn broken(error: &io::Error) -> Failure {
    Failure::write(Path::new("standard output"), error)
}
