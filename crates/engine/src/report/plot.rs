//! The plots of a report, drawn as SVG.
//!
//! *Invariant:* made of numbers and escaped names alone; nothing is fetched and nothing runs.

use maud::{Markup, html};

use crate::results::RowOutcome;
use crate::summary::{Group, Metric, short};

/// How many lines a plot has at most.
const LINES: usize = 40;
const WIDTH: f64 = 640.0;
const NAMES: f64 = 180.0;
const LINE: f64 = 24.0;

/// How the scores of a metric are distributed.
pub(super) fn distribution(metric: &Metric) -> Markup {
    let most = metric.bars.iter().copied().max().unwrap_or(0).max(1) as f64;
    let step = WIDTH / metric.bars.len() as f64;
    let (low, high) = metric.spread.map_or((0.0, 1.0), |spread| (spread.min.min(0.0), spread.max.max(1.0)));
    html! {
        svg viewBox={ "0 0 " (WIDTH) " 150" } role="img" aria-label={ "distribution of " (metric.name) } {
            @for (index, count) in metric.bars.iter().enumerate() {
                @let height = *count as f64 / most * 100.0;
                @let left = index as f64 * step;
                rect.bar x=(short(left + 2.0)) y=(short(120.0 - height)) width=(short(step - 4.0)) height=(short(height)) {}
                @if *count > 0 {
                    text.value x=(short(left + step / 2.0)) y=(short(114.0 - height)) text-anchor="middle" { (count) }
                }
            }
            line.axis x1="0" y1="120" x2=(WIDTH) y2="120" {}
            text x="0" y="140" { (short(low)) }
            text x=(WIDTH) y="140" text-anchor="end" { (short(high)) }
        }
    }
}

/// The mean of a metric in each group, with its interval.
pub(super) fn intervals(groups: &[Group], metric: &str) -> Markup {
    let found = |group: &Group| group.metrics.iter().find(|one| one.name == metric).cloned();
    let lines: Vec<(String, Metric)> = groups
        .iter()
        .filter_map(|group| Some((group.name.clone(), found(group)?)))
        .filter(|(_, metric)| metric.scores.n > 0)
        .take(LINES)
        .collect();
    let ends =
        lines.iter().map(|(_, metric)| metric.scores.interval.unwrap_or((metric.scores.mean, metric.scores.mean)));
    let (low, high) = ends.fold((0.0f64, 1.0f64), |(low, high), ends| (low.min(ends.0), high.max(ends.1)));
    let at = |value: f64| short(NAMES + (value - low) / (high - low) * (WIDTH - NAMES - 60.0));
    html! {
        svg viewBox={ "0 0 " (WIDTH) " " (height(lines.len())) } role="img" aria-label={ "intervals of " (metric) } {
            @for (index, (name, metric)) in lines.iter().enumerate() {
                @let y = index as f64 * LINE + LINE / 2.0;
                text x="0" y=(short(y + 4.0)) { (cut(name)) }
                @if let Some((low, high)) = metric.scores.interval {
                    line.interval x1=(at(low)) x2=(at(high)) y1=(short(y)) y2=(short(y)) {}
                }
                circle.mean cx=(at(metric.scores.mean)) cy=(short(y)) r="4" {}
                text.value x=(WIDTH) y=(short(y + 4.0)) text-anchor="end" { (short(metric.scores.mean)) }
            }
        }
    }
}

/// How the rows of each group ended.
pub(super) fn outcomes(groups: &[Group]) -> Markup {
    let room = WIDTH - NAMES - 60.0;
    html! {
        svg viewBox={ "0 0 " (WIDTH) " " (height(groups.len().min(LINES))) } role="img" aria-label="outcomes" {
            @for (index, group) in groups.iter().take(LINES).enumerate() {
                @let y = index as f64 * LINE + 4.0;
                text x="0" y=(short(y + 12.0)) { (cut(&group.name)) }
                @for (outcome, left, width) in shares(group, room) {
                    rect class=(outcome) x=(short(NAMES + left)) y=(short(y)) width=(short(width)) height="16" {
                        title { (outcome) }
                    }
                }
                text.value x=(WIDTH) y=(short(y + 12.0)) text-anchor="end" { (group.outcomes.total()) }
            }
        }
    }
}

/// Where the part of each outcome begins, and how wide it is.
fn shares(group: &Group, room: f64) -> Vec<(&'static str, f64, f64)> {
    let total = group.outcomes.total().max(1) as f64;
    let mut left = 0.0;
    let mut parts = Vec::new();
    for (outcome, name) in RowOutcome::ALL {
        let width = group.outcomes.count(outcome) as f64 / total * room;
        if width > 0.0 {
            parts.push((name, left, width));
        }
        left += width;
    }
    parts
}

fn height(lines: usize) -> f64 {
    (lines as f64 * LINE).max(LINE)
}

fn cut(name: &str) -> String {
    super::table::one_line(name, 26)
}
