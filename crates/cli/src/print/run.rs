//! How a run goes and what it came to, for people.
//!
//! *Invariant:* on a terminal one line for each scenario; elsewhere plain lines, a few in all. No sealed text.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use heldset_core::value::{Object, Value};
use heldset_engine::results::too_many_errors;
use heldset_engine::run::{DryRun, Ran, RunListener, ScenarioCount};
use heldset_store::run::RunDoc;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::json;

/// How often plain lines are printed at most.
const EVERY: Duration = Duration::from_secs(5);
/// How often a terminal is drawn at most.
const DRAWN: Duration = Duration::from_millis(100);

/// Shows how far a run is.
pub(crate) struct Lines {
    quiet: bool,
    terminal: bool,
    bars: MultiProgress,
    rows: Vec<ProgressBar>,
    started: Instant,
    shown: Option<Instant>,
    again: String,
    run: String,
}

impl Lines {
    /// For a command that goes on with `again`.
    pub(crate) fn new(quiet: bool, again: &str) -> Self {
        Lines {
            quiet,
            terminal: io::stderr().is_terminal(),
            bars: MultiProgress::new(),
            rows: Vec::new(),
            started: Instant::now(),
            shown: None,
            again: again.to_owned(),
            run: String::new(),
        }
    }

    /// Takes the lines away.
    pub(crate) fn finish(&self) {
        self.rows.iter().for_each(ProgressBar::finish_and_clear);
    }

    fn say(&self, text: &str) {
        // Nobody is left to be told when the terminal is gone.
        drop(writeln!(io::stderr(), "{text}"));
    }

    fn due(&mut self, scenarios: &[ScenarioCount]) -> bool {
        let every = if self.terminal { DRAWN } else { EVERY };
        let ended = scenarios.iter().all(|scenario| scenario.done() == scenario.planned);
        let since = self.shown.unwrap_or(self.started).elapsed();
        let due = since >= every || ended && (self.shown.is_some() || self.terminal);
        if due {
            self.shown = Some(Instant::now());
        }
        due
    }

    fn line(&self, scenario: &ScenarioCount) -> String {
        let (done, planned) = (scenario.done(), scenario.planned);
        let scored = scenario.pass + scenario.fail;
        let rate = match scored {
            0 => "-".to_owned(),
            _ => format!("{:.1} %", scenario.pass as f64 * 100.0 / scored as f64),
        };
        let fresh = done.saturating_sub(scenario.cached);
        let eta = match fresh {
            0 => "-".to_owned(),
            _ => format!("{:.0} s", self.started.elapsed().as_secs_f64() / fresh as f64 * (planned - done) as f64),
        };
        let (name, error, cached) = (&scenario.name, scenario.error, scenario.cached);
        format!("{name}: {done}/{planned}  pass {rate}  errors {error}  cached {cached}  eta {eta}")
    }
}

impl RunListener for Lines {
    fn warning(&mut self, text: &str) {
        self.say(&format!("warning: {text}"));
    }

    fn begun(&mut self, run: &RunDoc, journaled: u64) {
        self.run.clone_from(&run.id);
        let words = format!("interrupted: every result so far is saved in run {}; go on with `{}`", run.id, self.again);
        crate::whole::last_words(words);
        if self.quiet {
            return;
        }
        let data = format!("{}@{} {}", run.dataset, run.version, run.digest);
        match journaled {
            0 => self.say(&format!("run {} on {data}", run.id)),
            _ => self.say(&format!("run {} on {data} goes on: {journaled} results are there", run.id)),
        }
    }

    fn progress(&mut self, scenarios: &[ScenarioCount]) {
        if self.quiet || !self.due(scenarios) {
            return;
        }
        if !self.terminal {
            scenarios.iter().for_each(|scenario| self.say(&self.line(scenario)));
            return;
        }
        if self.rows.is_empty() {
            let style = ProgressStyle::with_template("{bar:24} {msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = |scenario: &ScenarioCount| ProgressBar::new(scenario.planned).with_style(style.clone());
            self.rows = scenarios.iter().map(|scenario| self.bars.add(bar(scenario))).collect();
        }
        for (bar, scenario) in self.rows.iter().zip(scenarios) {
            bar.set_message(self.line(scenario));
            bar.set_position(scenario.done());
        }
    }
}

/// A command line as it can be typed again.
pub(crate) fn command_line(words: impl Iterator<Item = OsString>) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./@:,=+%".contains(&byte);
    let quoted = |word: OsString| {
        let word = word.to_string_lossy().into_owned();
        let plain = !word.is_empty() && word.bytes().all(is_plain);
        if plain { word } else { format!("'{}'", word.replace('\'', "'\\''")) }
    };
    let given: Vec<String> = words.skip(1).map(quoted).collect();
    format!("heldset {}", given.join(" "))
}

/// What a run came to.
pub(crate) fn text(ran: &Ran) -> String {
    let doc = &ran.doc;
    let mut out = format!("run {} of {}\n", doc.id, doc.name);
    out.push_str(&format!("data    {}@{} {}\n", doc.dataset, doc.version, doc.digest));
    let balance = &doc.balance;
    out.push_str(&format!(
        "balance planned {} = scored {} + unscored {} + error {} + skipped {}; cached {}\n",
        balance.planned, balance.scored, balance.unscored, balance.error, balance.skipped, doc.cached
    ));
    for metric in &ran.summary.metrics {
        let mean = if metric.scores.n == 0 { "-".to_owned() } else { format!("{:.4}", metric.scores.mean) };
        let interval = metric
            .scores
            .interval
            .map_or(String::new(), |(low, high)| format!("  [{low:.4}, {high:.4}] {}", metric.scores.method));
        out.push_str(&format!("score   {}  n {}  mean {mean}{interval}\n", metric.name, metric.scores.n));
    }
    if let Some(verdict) = &ran.summary.verdict {
        out.push_str(&format!("gate    {}: {}\n", verdict.verdict.name(), verdict.reason));
    }
    if balance.skipped > 0 || too_many_errors(doc) {
        out.push_str(&format!(
            "incomplete: {} errors (at most {}), {} skipped\n",
            balance.error, doc.max_errors, balance.skipped
        ));
    }
    out.push_str(&format!("see     heldset report {}\n", doc.id));
    out
}

/// What a run would be.
pub(crate) fn dry_text(name: &str, dry: &DryRun) -> String {
    let mut out = format!("plan    {name}\ndata    {}@{} {}\n", dry.dataset, dry.version, dry.digest);
    out.push_str(&format!("select  {} records of split `{}`\n", dry.selected, dry.split));
    for (scenario, planned) in &dry.scenarios {
        out.push_str(&format!("run     {scenario}: {planned} sessions\n"));
    }
    out.push_str(&format!("planned {} sessions, {} cached\n", dry.planned, dry.cached));
    dry.not_cached.iter().for_each(|why| out.push_str(&format!("cache   {why}\n")));
    out.push_str(&format!("graders {}\n", dry.graders.join(", ")));
    dry.warnings.iter().for_each(|warning| out.push_str(&format!("warning {warning}\n")));
    out
}

/// The same for a program.
pub(crate) fn dry_value(name: &str, dry: &DryRun) -> Object<'static> {
    let texts = |texts: &[String]| Value::Array(texts.iter().map(|text| Value::from(text.clone())).collect());
    let scenario = |(id, planned): &(String, u64)| {
        Value::Object(json::object([("id", id.clone().into()), ("planned", json::number(*planned))]))
    };
    json::object([
        ("plan", name.to_owned().into()),
        ("dataset", dry.dataset.clone().into()),
        ("version", json::number(dry.version)),
        ("digest", dry.digest.clone().into()),
        ("split", dry.split.clone().into()),
        ("selected", json::number(dry.selected)),
        ("planned", json::number(dry.planned)),
        ("scenarios", Value::Array(dry.scenarios.iter().map(scenario).collect())),
        ("cached", json::number(dry.cached)),
        ("not_cached", texts(&dry.not_cached)),
        ("graders", texts(&dry.graders)),
        ("warnings", texts(&dry.warnings)),
    ])
}
