//! Progress of long work: a bar on a terminal, plain lines elsewhere.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use heldset_core::fault::Fault;
use heldset_engine::Listener;
use indicatif::{ProgressBar, ProgressStyle};

/// Smaller files are done before anybody looks.
const LARGE: u64 = 32 << 20;
/// How often a plain line is written.
const EVERY: Duration = Duration::from_secs(5);

/// Shows how far a file is read.
pub(crate) enum Progress {
    /// Nothing to show.
    Silent,
    /// A bar.
    Bar(ProgressBar),
    /// A line now and then.
    Lines { name: String, size: Option<u64>, last: Instant },
}

impl Progress {
    /// For a file of that size, if it is known.
    pub(crate) fn of(name: &str, size: Option<u64>, quiet: bool) -> Self {
        if quiet || size.is_some_and(|size| size < LARGE) {
            return Progress::Silent;
        }
        if !io::stderr().is_terminal() {
            return Progress::Lines { name: name.to_owned(), size, last: Instant::now() };
        }
        let bar = size.map_or_else(ProgressBar::no_length, ProgressBar::new);
        let template = "{prefix} {wide_bar} {bytes}/{total_bytes} {msg} {eta}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_prefix(name.to_owned());
        Progress::Bar(bar)
    }

    /// So much is done.
    pub(crate) fn at(&mut self, bytes: u64, rows: u64) {
        match self {
            Progress::Silent => {}
            Progress::Bar(bar) => {
                bar.set_position(bytes);
                bar.set_message(format!("{rows} rows"));
            }
            Progress::Lines { name, size, last } if last.elapsed() >= EVERY => {
                *last = Instant::now();
                let share = size.map_or_else(String::new, |size| format!(" ({} %)", bytes * 100 / size.max(1)));
                // A closed stderr is no reason to stop reading.
                drop(writeln!(io::stderr(), "{name}: {rows} rows{share}"));
            }
            Progress::Lines { .. } => {}
        }
    }

    /// The work is done.
    pub(crate) fn finish(&self) {
        if let Progress::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

/// A listener that only shows how far the work is.
pub(crate) struct Bar(pub(crate) Progress);

impl Listener for Bar {
    fn fault(&mut self, _fault: &Fault) -> io::Result<()> {
        Ok(())
    }

    fn progress(&mut self, bytes: u64, rows: u64) {
        self.0.at(bytes, rows);
    }
}
