//! The tables that every form for people shows.
//!
//! *Invariant:* a cell is one line without anything that a terminal would obey.

use heldset_core::statistics::Estimate;

use super::Sheet;
use crate::results::{Row, RowOutcome};
use crate::summary::{Group, Metric, plain, short};

/// How many metrics a breakdown shows.
const METRICS: usize = 4;

/// Rows of cells under a head.
pub(crate) struct Table {
    pub(crate) title: &'static str,
    pub(crate) head: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

/// A row that did not pass, for people.
pub(crate) struct Failure {
    pub(crate) id: String,
    pub(crate) place: String,
    pub(crate) outcome: RowOutcome,
    pub(crate) why: String,
    pub(crate) output: String,
}

impl Sheet<'_> {
    /// The metrics, then each breakdown that says more than they do.
    pub(crate) fn tables(&self) -> Vec<Table> {
        let summary = self.summary;
        let mut tables = vec![metrics(&summary.metrics)];
        if summary.metrics.iter().any(|metric| !metric.tries.is_empty()) {
            tables.push(tries(&summary.metrics));
        }
        let breakdowns =
            [("scenario", &summary.scenarios), ("category", &summary.categories), ("label", &summary.labels)];
        for (title, groups) in breakdowns {
            if groups.len() > 1 || title != "scenario" && !groups.is_empty() {
                tables.push(breakdown(title, groups));
            }
        }
        tables
    }

    /// The rows that did not pass: failures, then errors, then the rest; at most so many of each, and how many in all.
    pub(crate) fn failures(&self, most: usize) -> crate::refusal::Outcome<(Vec<Failure>, u64)> {
        let order = [RowOutcome::Fail, RowOutcome::Error, RowOutcome::Unscored, RowOutcome::Skipped];
        let mut found: Vec<Failure> = Vec::new();
        (self.each)(&mut |row| {
            let already = found.iter().filter(|failure| failure.outcome == row.outcome).count();
            if order.contains(&row.outcome) && already < most {
                found.push(Failure::of(row));
            }
            Ok(())
        })?;
        found.sort_by_key(|failure| order.iter().position(|outcome| *outcome == failure.outcome));
        found.truncate(most);
        let all = order.iter().map(|outcome| self.summary.outcomes.count(*outcome)).sum();
        Ok((found, all))
    }
}

impl Failure {
    fn of(row: &Row) -> Failure {
        Failure {
            id: one_line(&row.record_id, 60),
            place: place(row),
            outcome: row.outcome,
            why: why(row),
            output: row.output.as_ref().map(|output| one_line(&plain(output), 100)).unwrap_or_default(),
        }
    }
}

/// The scenario and the repeat.
pub(crate) fn place(row: &Row) -> String {
    format!("{} #{}", one_line(&row.scenario, 40), row.repeat)
}

/// Why a row ended as it did, in one line.
pub(crate) fn why(row: &Row) -> String {
    if let Some(reason) = &row.reason {
        return one_line(reason, 160);
    }
    let said = |score: &crate::results::Score| {
        let value = score.score.map_or("–".to_owned(), short);
        let because = score.problem.as_deref().or(score.rationale.as_deref()).unwrap_or_default();
        let text = format!("{} {value}", score.name);
        if because.is_empty() { text } else { format!("{text} ({because})") }
    };
    let failing = row.scores.iter().filter(|score| score.pass != Some(true));
    one_line(&failing.map(said).collect::<Vec<_>>().join("; "), 160)
}

/// Text as one line of at most so many letters, harmless to a terminal.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let turns =
        |letter: char| matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut out = String::new();
    for (index, letter) in text.chars().enumerate() {
        if index == most {
            out.push('…');
            break;
        }
        match letter {
            '\n' | '\r' | '\t' => out.push(' '),
            letter if letter.is_control() || turns(letter) => out.extend(letter.escape_default()),
            letter => out.push(letter),
        }
    }
    out
}

/// A mean with its interval.
pub(crate) fn shown(estimate: &Estimate) -> String {
    match (estimate.n, estimate.interval) {
        (0, _) => "–".to_owned(),
        (_, None) => short(estimate.mean),
        (_, Some((low, high))) => format!("{} [{}, {}]", short(estimate.mean), short(low), short(high)),
    }
}

fn metrics(metrics: &[Metric]) -> Table {
    let head = ["metric", "n", "mean [95 %]", "pass rate [95 %]", "median", "p95", "unscored", "errors", "method"];
    let row = |metric: &Metric| {
        let spread = |of: fn(&crate::summary::Spread) -> f64| {
            metric.spread.as_ref().map_or("–".to_owned(), |spread| short(of(spread)))
        };
        vec![
            one_line(&metric.name, 40),
            metric.scores.n.to_string(),
            shown(&metric.scores),
            shown(&metric.passes),
            spread(|spread| spread.median),
            spread(|spread| spread.p95),
            metric.unscored.to_string(),
            metric.errors.to_string(),
            metric.scores.method.to_owned(),
        ]
    };
    Table { title: "metrics", head: head.map(str::to_owned).to_vec(), rows: metrics.iter().map(row).collect() }
}

fn tries(metrics: &[Metric]) -> Table {
    let head = ["metric", "k", "records", "pass@k [95 %]", "pass^k [95 %]"].map(str::to_owned).to_vec();
    let rows = metrics.iter().flat_map(|metric| {
        metric.tries.iter().map(|tries| {
            let (k, records) = (tries.k.to_string(), tries.pass_at.n.to_string());
            vec![one_line(&metric.name, 40), k, records, shown(&tries.pass_at), shown(&tries.pass_all)]
        })
    });
    Table { title: "tries", head, rows: rows.collect() }
}

fn breakdown(title: &'static str, groups: &[Group]) -> Table {
    let mut head: Vec<String> = [title, "rows"].map(str::to_owned).to_vec();
    head.extend(RowOutcome::ALL.iter().map(|(_, name)| (*name).to_owned()));
    let named = groups.first().map(|group| group.metrics.as_slice()).unwrap_or_default();
    head.extend(named.iter().take(METRICS).map(|metric| one_line(&metric.name, 40)));
    let row = |group: &Group| {
        let mut cells = vec![one_line(&group.name, 60), group.outcomes.total().to_string()];
        cells.extend(RowOutcome::ALL.iter().map(|(outcome, _)| group.outcomes.count(*outcome).to_string()));
        cells.extend(group.metrics.iter().take(METRICS).map(|metric| shown(&metric.scores)));
        cells
    };
    Table { title, head, rows: groups.iter().map(row).collect() }
}
