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
use crate::print::{self, progress::Progress};

/// Checks every file and prints what is wrong with it.
pub(crate) fn run(cli: &Cli, args: &CheckArgs) -> Result<Exit, Failure> {
    let options = super::read_options(&args.read)?;
    let mut opened = Vec::new();
    for path in &args.files {
        opened.push((path, disk::open(path)?));
    }
    let mut printer = Printer {
        out: BufWriter::new(io::stdout()),
        json: cli.json,
        styled: print::styled(cli.color, &io::stdout()),
        quiet: cli.quiet,
        faults: 0,
    };
    let mut exit = Exit::Fine;
    printer.start().map_err(|error| broken(&error))?;
    for (index, (path, (input, size))) in opened.into_iter().enumerate() {
        let file = input.name.clone();
        let files = Disk::around(path, args.read.allow_outside);
        printer.open(&file, index).map_err(|error| broken(&error))?;
        let progress = Progress::of(&file, size, cli.quiet || cli.json && !io::stderr().is_terminal());
        let mut listener = FileListener { printer: &mut printer, file: &file, progress };
        let report = match args.read.compat {
            None => check(input, &options, &files, &mut listener),
            Some(_) => compat::letta(input, &files, &mut listener).map(|compat| compat.report),
        };
        let report = report.map_err(|error| unreadable(path, &error))?;
        listener.progress.finish();
        printer.close(&file, &report).map_err(|error| broken(&error))?;
        if report.faults > 0 {
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
    fn start(&mut self) -> io::Result<()> {
        if self.json { write!(self.out, "{{\"files\":[") } else { Ok(()) }
    }

    fn open(&mut self, file: &str, index: usize) -> io::Result<()> {
        self.faults = 0;
        if !self.json {
            return Ok(());
        }
        let comma = if index > 0 { "," } else { "" };
        let mut name = Vec::new();
        heldset_core::canonical::write(&Value::from(file), &mut name);
        write!(self.out, "{comma}{{\"file\":{},\"faults\":[", String::from_utf8_lossy(&name))
    }

    fn fault(&mut self, file: &str, fault: &Fault) -> io::Result<()> {
        let comma = if self.faults > 0 { "," } else { "" };
        self.faults += 1;
        if self.json {
            return write!(self.out, "{comma}{}", print::json::fault(fault));
        }
        writeln!(self.out, "{}\n", print::fault::text(file, fault, self.styled))
    }

    fn close(&mut self, file: &str, report: &Report) -> io::Result<()> {
        if self.json {
            let counts = print::json::text(&print::json::report(report));
            return write!(self.out, "],{}", &counts[1..]);
        }
        if self.quiet { Ok(()) } else { writeln!(self.out, "{}", print::report::text(file, report)) }
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
