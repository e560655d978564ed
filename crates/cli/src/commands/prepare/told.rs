//! What is printed of a preparation.

use std::io::{self, Write};

use heldset_core::code::Code;
use heldset_core::fault::{Fault, Problem};
use heldset_core::number::Number;
use heldset_core::path::Path;
use heldset_core::value::{Object, Value};
use heldset_engine::prepare::{At, LeakReport, Prepared};

use crate::args::Cli;
use crate::print::{self, Severity, clean, json};

/// How many ids a text shows; JSON has all.
const SHOWN: usize = 5;

/// Tells of what splits have in common, and what else somebody should know.
pub(super) fn tell(cli: &Cli, prepared: &Prepared) {
    let styled = print::styled(cli.color, &io::stderr());
    if let (Some(hint), false) = (prepared.leaks.as_ref().and_then(hint), cli.json) {
        let text = print::fault::text(&prepared.committed.dataset.slug, &hint, Severity::Hint, styled);
        drop(writeln!(io::stderr(), "{text}"));
    }
    if !cli.json && !cli.quiet {
        for note in &prepared.notes {
            drop(writeln!(io::stderr(), "note: {}", clean::line(note)));
        }
    }
}

fn hint(leaks: &LeakReport) -> Option<Fault> {
    let place = |(split, id): &At| format!("`{id}` in `{split}`");
    let mut parts = Vec::new();
    if leaks.near_duplicates > 0 {
        let first = leaks.pairs.first().map(|(a, b, _)| format!(", such as {} and {}", place(a), place(b)));
        let pairs = if leaks.near_duplicates == 1 { "pair" } else { "pairs" };
        parts.push(format!(
            "{} {pairs} of near-duplicates across splits{}",
            leaks.near_duplicates,
            first.unwrap_or_default()
        ));
    }
    if let Some(first) = leaks.torn_groups.first() {
        let groups = if leaks.torn_groups.len() == 1 { "group" } else { "groups" };
        let places: Vec<String> = first.iter().map(place).collect();
        parts.push(format!(
            "{} {groups} in several splits, such as that of {}",
            leaks.torn_groups.len(),
            places.join(" and ")
        ));
    }
    let help = "remove them with `deduplicate_by`, or keep what belongs together in one split with `group_by`";
    (!parts.is_empty()).then(|| Problem::new(Code::H008, Path::root(), parts.join("; ")).help(help).of_file())
}

/// The answer for programs.
pub(super) fn object(prepared: &Prepared, files: &[String], milliseconds: u64) -> Object<'static> {
    let (dataset, version) = (&prepared.committed.dataset, &prepared.committed.version);
    let (from, number, digest) = &prepared.from;
    let tally = &prepared.tally;
    let cleaned = &tally.cleaned;
    let counts = json::object([
        ("read", json::number(tally.read)),
        ("filtered", json::number(tally.filtered)),
        ("deduplicated", json::number(tally.deduplicated)),
        ("kept", json::number(tally.kept)),
        ("unmatched", json::number(tally.unmatched)),
        ("nulls_removed", json::number(cleaned.nulls_removed)),
        ("values_trimmed", json::number(cleaned.values_trimmed)),
        ("values_redacted", json::number(cleaned.values_redacted)),
        ("fields_dropped", json::number(cleaned.fields_dropped)),
        ("fields_renamed", json::number(cleaned.fields_renamed)),
    ]);
    let split = |(name, label, rows): &(String, String, u64)| {
        Value::Object(json::object([
            ("name", Value::from(name.clone())),
            ("label", Value::from(label.clone())),
            ("rows", json::number(*rows)),
        ]))
    };
    let dropped = prepared.dropped.iter().map(|dropped| {
        Value::Object(json::object([
            ("id", Value::from(dropped.id.clone())),
            ("split", Value::from(dropped.split.clone())),
            ("duplicate_of", dropped.duplicate_of.clone().map_or(Value::Null, Value::from)),
        ]))
    });
    let parent = json::object([
        ("dataset", Value::from(from.clone())),
        ("version", json::number(*number)),
        ("digest", Value::from(digest.clone())),
    ]);
    json::object([
        ("preparation_id", Value::from(prepared.id.clone())),
        ("output_dataset_id", Value::from(dataset.id.clone())),
        ("execution_time_ms", json::number(milliseconds)),
        ("dataset", Value::from(dataset.slug.clone())),
        ("slug", Value::from(dataset.slug.clone())),
        ("version", json::number(version.number)),
        ("digest", Value::from(version.digest.clone())),
        ("created", Value::Bool(prepared.committed.created)),
        ("from", Value::Object(parent)),
        ("counts", Value::Object(counts)),
        ("splits", Value::Array(prepared.splits.iter().map(split).collect())),
        ("dropped", Value::Array(dropped.collect())),
        ("near_duplicates", leaks(prepared.leaks.as_ref())),
        ("files", Value::Array(files.iter().cloned().map(Value::from).collect())),
        ("notes", Value::Array(prepared.notes.iter().cloned().map(Value::from).collect())),
    ])
}

fn leaks(report: Option<&LeakReport>) -> Value<'static> {
    let Some(report) = report else { return Value::Null };
    let at = |(split, id): &At| {
        Value::Object(json::object([("split", Value::from(split.clone())), ("id", Value::from(id.clone()))]))
    };
    let pair = |(first, second, similarity): &(At, At, f64)| {
        let rounded = Number::from_f64((similarity * 1000.0).round() / 1000.0);
        Value::Object(json::object([
            ("first", at(first)),
            ("second", at(second)),
            ("similarity", rounded.map_or(Value::Null, Value::Number)),
        ]))
    };
    let group = |records: &Vec<At>| Value::Array(records.iter().map(at).collect());
    Value::Object(json::object([
        ("count", json::number(report.near_duplicates)),
        ("code", Value::from("H008")),
        ("fields", Value::Array(report.fields.iter().cloned().map(Value::from).collect())),
        ("pairs", Value::Array(report.pairs.iter().map(pair).collect())),
        ("groups_in_several_splits", Value::Array(report.torn_groups.iter().map(group).collect())),
        ("partial", Value::Bool(report.partial)),
    ]))
}

/// The answer for people.
pub(super) fn text(cli: &Cli, prepared: &Prepared, files: &[String]) -> String {
    let (dataset, version) = (&prepared.committed.dataset, &prepared.committed.version);
    let same = if prepared.committed.created { "" } else { " (same content, no new version)" };
    let mut out = format!("{}@{} {}{same}\n", dataset.slug, version.number, version.digest);
    if cli.quiet {
        return out;
    }
    let (from, number, _) = &prepared.from;
    let tally = &prepared.tally;
    out.push_str(&format!("from {from}@{number}: {} read, {} kept", tally.read, tally.kept));
    let cleaned = &tally.cleaned;
    for (count, what) in [
        (tally.filtered, "filtered out"),
        (tally.deduplicated, "duplicates left out"),
        (tally.unmatched, "without a match"),
        (cleaned.nulls_removed, "nulls removed"),
        (cleaned.values_trimmed, "values trimmed"),
        (cleaned.values_redacted, "values redacted"),
        (cleaned.fields_dropped, "fields dropped"),
        (cleaned.fields_renamed, "fields renamed"),
    ] {
        if count > 0 {
            out.push_str(&format!(", {count} {what}"));
        }
    }
    out.push('\n');
    for (name, label, rows) in &prepared.splits {
        out.push_str(&format!("  {}: {rows} rows, {label}\n", clean::line(name)));
    }
    let repeated: Vec<String> = prepared
        .dropped
        .iter()
        .filter_map(|dropped| {
            let first = dropped.duplicate_of.as_ref()?;
            Some(format!("`{}` repeats `{}`", clean::line(&dropped.id), clean::line(first)))
        })
        .collect();
    if !repeated.is_empty() {
        let more = if repeated.len() > SHOWN { ", …" } else { "" };
        out.push_str(&format!("left out: {}{more}\n", repeated[..repeated.len().min(SHOWN)].join(", ")));
    }
    for file in files {
        out.push_str(&format!("wrote {}\n", clean::line(file)));
    }
    out.push_str(&format!("preparation {}\n", prepared.id));
    out
}

/// What is on record, for people.
pub(super) fn shown(object: &Object<'_>) -> String {
    let mut out = String::new();
    for (name, value) in object.iter() {
        let text = value.as_str().map_or_else(|| json::value_text(value), str::to_owned);
        out.push_str(&format!("{name}: {}\n", clean::line(&text)));
    }
    out
}
