//! `heldset check`.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::path::Path;

use heldset_core::fault::Fault;
use heldset_core::value::Value;
use heldset_dialect::Report;
use heldset_engine::Listener;
use heldset_engine::check::check;
use heldset_engine::compat;

use crate::args::{CheckArgs, Cli};
use crate::disk::{self, Disk};
use crate::exit::{Exit, Failure};
use crate::print::{self, Severity, progress::Progress};

/// Checks every file and prints what is wrong with it.
pub(crate) fn run(cli: &Cli, args: &CheckArgs) -> Result<Exit, Failure> {
    let options = super::read_options(&args.read)?;
    let mut printer = Printer {
        out: BufWriter::new(io::stdout()),
        json: cli.json,
        styled: print::styled(cli.color, &io::stdout()),
        quiet: cli.quiet,
        faults: 0,
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
        let files = Disk::around(path, args.read.allow_outside);
        printer.open(&shown, index).map_err(|error| broken(&error))?;
        let progress = Progress::of(&shown, size, cli.quiet || cli.json && !io::stderr().is_terminal());
        let mut listener = FileListener { printer: &mut printer, file: &shown, progress };
        let report = match args.read.compat {
            None => check(input, &options, &files, &mut listener),
            Some(_) => compat::letta(input, &files, &mut listener).map(|compat| compat.report),
        };
        let report = report.map_err(|error| unreadable(path, &error))?;
        listener.progress.finish();
        printer.close(&shown, &report).map_err(|error| broken(&error))?;
        if report.faults > 0 && exit == Exit::Fine {
            exit = Exit::Invalid;
        }
    }
    printer.end().map_err(|error| broken(&error))?;
    Ok(exit)
}

struct Printer {
    out: BufWriter<Stdout>,
    json: bool,
    styled: bool,
    quiet: bool,
    faults: u64,
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
        writeln!(self.out, "{}\n", print::fault::text(file, fault, Severity::of(fault), self.styled))
    }

    fn close(&mut self, file: &str, report: &Report) -> io::Result<()> {
        if self.json {
            let counts = print::json::text(&print::json::report(report, 0));
            return write!(self.out, "],{}", &counts[1..]);
        }
        if self.quiet { Ok(()) } else { writeln!(self.out, "{}", print::report::text(file, report, 0)) }
    }

    /// A file among several that cannot be read at all.
    fn unopened(&mut self, file: &str, index: usize, fault: &Fault) -> io::Result<()> {
        self.open(file, index)?;
        self.fault(file, fault)?;
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
}

impl Listener for FileListener<'_> {
    fn fault(&mut self, fault: &Fault) -> io::Result<()> {
        self.printer.fault(self.file, fault)
    }

    fn progress(&mut self, bytes: u64, rows: u64) {
        self.progress.at(bytes, rows);
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::open(path, error)
}

fn broken(error: &io::Error) -> Failure {
    Failure::write(Path::new("standard output"), error)
}
