//! A report as one page: tables, plots and rows, without scripts and without anything from elsewhere.
//!
//! *Invariant:* all text is escaped; the page may load nothing and run nothing, and says so to the browser.

use std::io::Write;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::table::{Table, place, why};
use super::{Sheet, plot, put};
use crate::refusal::Outcome;
use crate::results::{Row, RowOutcome};
use crate::summary::{Group, plain, short};

/// How many rows are shown.
const ROWS: u64 = 5_000;
/// How much of a text is shown.
const SHOWN: usize = 4_000;

const STYLE: &str = "
body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#1c2024;background:#fff}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2.2rem}
table{border-collapse:collapse;width:100%;font-size:.9rem}th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #e3e6e8;vertical-align:top}
th{color:#5b6670;font-weight:600}code,pre{font:13px/1.45 ui-monospace,monospace;overflow-wrap:anywhere;white-space:pre-wrap}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem}dt{color:#5b6670}dd{margin:0;overflow-wrap:anywhere}
svg{width:100%;max-width:46rem;height:auto;font:12px system-ui,sans-serif;fill:#1c2024}
.bar,.mean{fill:#2f6fab}.interval{stroke:#2f6fab;stroke-width:3;stroke-opacity:.45}.axis{stroke:#9aa5ad}.value{fill:#5b6670}
rect.pass{fill:#2e8b57}rect.fail{fill:#c8553d}rect.error{fill:#8b2252}rect.unscored{fill:#b0b7bc}rect.skipped{fill:#dfe3e6}
b.pass{color:#1d6b40}b.fail{color:#a63d27}b.error{color:#8b2252}b.unscored,b.skipped{color:#5b6670}
@media(prefers-color-scheme:dark){body{background:#15181b;color:#e6e9eb}svg{fill:#e6e9eb}th,td{border-color:#30363b}th,dt,.value{color:#9aa5ad;fill:#9aa5ad}
b.pass{color:#6cc795}b.fail{color:#ee9480}b.error{color:#e48bc0}}
";

impl Sheet<'_> {
    /// Writes the report as a page.
    pub(super) fn html(&self, out: &mut dyn Write) -> Outcome<()> {
        put(out, &format!("{}<html lang=\"en\">{}<body>", DOCTYPE.into_string(), self.page_head().into_string()))?;
        put(out, &self.body().into_string())?;
        put(
            out,
            "<h2>Rows</h2><table><thead><tr><th>record</th><th>outcome</th><th>scores</th><th>ms</th><th>output</th></tr></thead><tbody>",
        )?;
        let mut left = ROWS;
        // What did not pass comes first.
        for passes in [false, true] {
            (self.each)(&mut |row| {
                if (row.outcome == RowOutcome::Pass) != passes || left == 0 {
                    return Ok(());
                }
                left -= 1;
                put(out, &line(row).into_string())
            })?;
        }
        put(out, "</tbody></table>")?;
        let more = self.summary.outcomes.total().saturating_sub(ROWS);
        if more > 0 {
            put(out, &html! { p { "… and " (more) " more: see " code { "--to jsonl" } } }.into_string())?;
        }
        put(out, "</body></html>\n")
    }

    fn page_head(&self) -> Markup {
        html! {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                title { (self.doc.name) " · " (self.doc.dataset) "@" (self.doc.version) }
                style { (PreEscaped(STYLE)) }
            }
        }
    }

    fn body(&self) -> Markup {
        let doc = self.doc;
        html! {
            h1 { (doc.name) }
            dl {
                dt { "dataset" } dd { (doc.dataset) "@" (doc.version) " " code { (doc.digest) } }
                dt { "run" } dd { code { (doc.id) } " " (doc.started_at) }
                dt { "plan" } dd { code { (doc.plan_digest) } }
                @for line in self.opening().iter().skip(2) {
                    dt {} dd { (line) }
                }
            }
            (self.plots())
            @for table in self.tables() {
                h2 { (table.title) }
                (cells(&table))
            }
        }
    }

    fn plots(&self) -> Markup {
        let summary = self.summary;
        let primary = summary.primary.as_deref().unwrap_or_default();
        let groups = if summary.categories.is_empty() { &summary.scenarios } else { &summary.categories };
        html! {
            @for metric in summary.metrics.iter().filter(|metric| metric.scores.n > 0).take(6) {
                h2 { "Scores of " (metric.name) }
                (plot::distribution(metric))
            }
            @if summary.metric(primary).is_some() {
                h2 { "Mean of " (primary) " by scenario" }
                (plot::intervals(&summary.scenarios, primary))
            }
            h2 { "Outcomes" }
            (plot::outcomes(groups))
            h2 { "Latency" }
            (latency(&summary.scenarios))
        }
    }
}

fn latency(groups: &[Group]) -> Markup {
    html! {
        table {
            thead { tr { th { "scenario" } th { "least" } th { "median" } th { "p95" } th { "most" } } }
            tbody {
                @for group in groups {
                    @if let Some(spread) = group.latency {
                        tr {
                            td { (group.name) }
                            @for value in [spread.min, spread.median, spread.p95, spread.max] {
                                td { (short(value)) " ms" }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn cells(table: &Table) -> Markup {
    html! {
        table {
            thead { tr { @for name in &table.head { th { (name) } } } }
            tbody { @for row in &table.rows { tr { @for cell in row { td { (cell) } } } } }
        }
    }
}

fn line(row: &Row) -> Markup {
    let output = row.output.as_ref().map(plain).unwrap_or_default();
    html! {
        tr {
            td { code { (row.record_id) } br; (place(row)) @if row.cached.is_some() { " cached" } }
            td { b class=(row.outcome.name()) { (row.outcome.name()) } }
            td {
                @for score in &row.scores {
                    div { (score.name) " " (score.score.map_or("–".to_owned(), short)) }
                }
                @if row.outcome != RowOutcome::Pass { div { (why(row)) } }
            }
            td { (short(row.run_ms)) }
            td { details { summary { (cut(&output, 80)) } pre { (cut(&output, SHOWN)) } } }
        }
    }
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
