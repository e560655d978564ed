//! `heldset convert`.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

use heldset_core::fault::Fault;
use heldset_engine::Listener;
use heldset_engine::convert::{Conversion, ConvertOptions, Converting, convert};

use crate::args::{Cli, ConvertArgs};
use crate::disk::{self, Disk};
use crate::exit::{Exit, Failure};
use crate::print::{self, progress::Progress};

/// Translates a file; nothing is written unless all of it can be.
pub(crate) fn run(cli: &Cli, args: &ConvertArgs) -> Result<Exit, Failure> {
    let reading = super::read_options(&args.read)?;
    let options = ConvertOptions { target: args.target(), lossy: args.lossy, keep_valid: args.keep_valid };
    let (input, size) = disk::open(&args.file)?;
    let file = input.name.clone();
    let files = Disk::around(&args.file, args.read.allow_outside);
    let temporary = tempfile::tempfile().map_err(|error| Failure::write(&std::env::temp_dir(), &error))?;
    let rejects = args.rejects.as_deref().map(create).transpose()?;
    let progress = Progress::of(&file, size, cli.quiet);
    let mut told = Told { cli, file: &file, progress, rejects, first: None };
    let made = convert(input, &reading, &options, &files, Box::new(temporary), &mut told);
    let made = made.map_err(|error| Failure::open(&args.file, &error))?;
    told.progress.finish();
    let first = told.first;
    if !cli.quiet {
        let report = match cli.json {
            true => print::json::text(&print::json::report(&made.report)),
            false => print::report::text(&file, &made.report),
        };
        drop(writeln!(io::stderr(), "{report}"));
    }
    if made.refused {
        return match first {
            Some(fault) if cli.json => Err(Failure::invalid(&file, fault)),
            _ => Ok(Exit::Invalid),
        };
    }
    hand_out(made, args.output.as_deref())?;
    Ok(Exit::Fine)
}

/// To standard output, or into a file that appears only when it is whole.
fn hand_out(made: Conversion, output: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = output else {
        let mut out = BufWriter::new(io::stdout().lock());
        let written = made.write_to(&mut out).and_then(|()| out.flush());
        return written.map_err(|error| Failure::write(Path::new("standard output"), &error));
    };
    let fail = |error: io::Error| Failure::write(path, &error);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut whole = tempfile::NamedTempFile::new_in(folder).map_err(fail)?;
    let mut out = BufWriter::new(&mut whole);
    made.write_to(&mut out).and_then(|()| out.flush()).map_err(fail)?;
    drop(out);
    whole.persist(path).map_err(|error| fail(error.error))?;
    Ok(())
}

fn create(path: &Path) -> Result<BufWriter<File>, Failure> {
    File::create(path).map(BufWriter::new).map_err(|error| Failure::write(path, &error))
}

struct Told<'t> {
    cli: &'t Cli,
    file: &'t str,
    progress: Progress,
    rejects: Option<BufWriter<File>>,
    first: Option<Fault>,
}

impl Listener for Told<'_> {
    fn fault(&mut self, fault: &Fault) -> io::Result<()> {
        if self.first.is_none() {
            self.first = Some(fault.clone());
        }
        let text = match self.cli.json {
            true => print::json::fault(fault),
            false => print::fault::text(self.file, fault, print::styled(self.cli.color, &io::stderr())) + "\n",
        };
        writeln!(io::stderr(), "{text}")
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
