//! How a command ends: exit codes, and errors that say what to do.
//!
//! *Invariant:* the exit codes are a promise and never change.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::ErrorKind;
use heldset_core::code::Code;
use heldset_core::fault::{Fault, Problem};
use heldset_core::path::Path;
use heldset_engine::cat::CLOSED;
use heldset_engine::refusal::{Reason, Refusal};

use crate::args::Cli;
use crate::print::{self, Severity};

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All is well.
    Fine = 0,
    /// There are differences, or findings.
    Different = 1,
    /// The request cannot be understood or names what is not there.
    Usage = 2,
    /// The data is invalid.
    Invalid = 3,
    /// Planned work was not attempted, or too much of it failed.
    Incomplete = 4,
    /// Visibility or movement forbids it.
    Denied = 5,
    /// What is stored is not what it was.
    Integrity = 6,
    /// There is not enough data to decide.
    Inconclusive = 7,
    /// The user ended the work.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

/// A command that could not be carried out.
pub(crate) struct Failure {
    exit: Exit,
    file: Option<String>,
    fault: Box<Fault>,
    /// Whether nobody is left to be told.
    quiet: bool,
}

impl From<Box<Refusal>> for Failure {
    fn from(refusal: Box<Refusal>) -> Self {
        Failure::refused(&refusal)
    }
}

impl Failure {
    /// The request is at fault.
    pub(crate) fn usage(code: Code, message: impl Into<String>, help: impl Into<String>) -> Self {
        let fault = Problem::new(code, Path::root(), message).help(help).of_file();
        Failure { exit: Exit::Usage, file: None, fault: Box::new(fault), quiet: false }
    }

    /// The data is at fault.
    pub(crate) fn invalid(file: &str, fault: Fault) -> Self {
        Failure { exit: Exit::Invalid, file: Some(file.to_owned()), fault: Box::new(fault), quiet: false }
    }

    /// A configuration file is at fault.
    pub(crate) fn configuration(file: &str, fault: Fault) -> Self {
        Failure { exit: Exit::Usage, ..Failure::invalid(file, fault) }
    }

    /// Data is at fault, and its faults are told.
    pub(crate) fn faulty(message: &str) -> Self {
        let help = "mend the faults that are listed, or look at them with `heldset check`";
        let fault = Problem::new(Code::E051, Path::root(), message).help(help).of_file();
        Failure { exit: Exit::Invalid, file: None, fault: Box::new(fault), quiet: false }
    }

    /// A file that was named cannot be opened.
    pub(crate) fn open(path: &std::path::Path, error: &io::Error) -> Self {
        let message = format!("`{}` cannot be opened: {}", path.display(), print::io_words(error));
        let mut failure = Failure::usage(Code::E101, message, "check the path and its permissions");
        failure.file = Some(path.display().to_string());
        failure
    }

    /// Reading a file failed, or writing what was made of it.
    pub(crate) fn work(path: &std::path::Path, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::WriteZero | io::ErrorKind::ReadOnlyFilesystem => {
                Failure::write(&std::env::temp_dir(), error)
            }
            io::ErrorKind::BrokenPipe => Failure::write(std::path::Path::new("standard output"), error),
            _ => Failure::open(path, error),
        }
    }

    /// Something cannot be written.
    pub(crate) fn write(path: &std::path::Path, error: &io::Error) -> Self {
        let message = format!("`{}` cannot be written: {}", path.display(), print::io_words(error));
        let mut failure = Failure::usage(Code::E104, message, "check the folder, its permissions and the free space");
        failure.quiet = error.kind() == io::ErrorKind::BrokenPipe;
        failure
    }

    /// A verb does not do it.
    pub(crate) fn refused(refusal: &Refusal) -> Self {
        let fault =
            Problem::new(refusal.code, Path::root(), refusal.message.clone()).help(refusal.help.clone()).of_file();
        let exit = match refusal.reason {
            Reason::Usage => Exit::Usage,
            Reason::Invalid => Exit::Invalid,
            Reason::Denied => Exit::Denied,
            Reason::Integrity => Exit::Integrity,
            Reason::Incomplete => Exit::Incomplete,
        };
        Failure { exit, file: None, fault: Box::new(fault), quiet: refusal.message == CLOSED }
    }

    /// What is wrong.
    pub(crate) fn fault(&self) -> &Fault {
        &self.fault
    }

    /// Prints it where it belongs and gives the exit code.
    pub(crate) fn report(&self, cli: &Cli) -> ExitCode {
        if self.quiet {
            return Exit::Fine.into();
        }
        self.print(cli.json, print::styled(cli.color, &io::stderr()));
        self.exit.into()
    }

    fn print(&self, json: bool, styled: bool) {
        let printed = match json {
            true => writeln!(io::stdout(), "{}", print::json::error(self.file.as_deref(), &self.fault)),
            false => writeln!(
                io::stderr(),
                "{}",
                print::fault::text(self.file.as_deref().unwrap_or(""), &self.fault, Severity::Error, styled)
            ),
        };
        // Nobody is left to be told when the terminal is gone.
        drop(printed);
    }
}

/// Ends a command line that cannot be understood; help and version are no errors.
pub(crate) fn usage(error: &clap::Error, json: bool) -> ExitCode {
    let is_help = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) || is_help && !json {
        // Nobody is left to be told when the terminal is gone.
        drop(error.print());
        return if is_help { Exit::Usage.into() } else { Exit::Fine.into() };
    }
    let text = error.to_string();
    let plain = |line: &str| line.trim().trim_start_matches("error: ").trim_start_matches("tip: ").replace('\'', "`");
    let paragraph: Vec<String> = text.lines().take_while(|line| !line.trim().is_empty()).map(plain).collect();
    let message = if is_help { "a command is missing".to_owned() } else { paragraph.join(" ") };
    let tip = text.lines().find(|line| line.trim_start().starts_with("tip: ")).map(plain);
    Failure::usage(Code::E105, message, tip.unwrap_or_else(|| "see `heldset --help`".to_owned()))
        .print(json, print::styled(crate::args::Color::Auto, &io::stderr()));
    Exit::Usage.into()
}

/// Ends a command line that names two audiences: one of them may have been meant as a limit.
pub(crate) fn two_audiences(cli: &Cli) -> ExitCode {
    Failure::usage(Code::E105, "`--as` is given twice", "name one audience").report(cli)
}
