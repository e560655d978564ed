//! `heldset show`.

use std::fmt::Write as _;
use std::io::{self, Write};

use clap::Args;
use heldset_core::value::{Object, Value};
use heldset_engine::dataset::Described;
use heldset_engine::resolve::mapping;
use heldset_engine::show::{Shown, show, unversioned};

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::{clean, dataset as described, json};

#[derive(Args)]
pub(crate) struct ShowArgs {
    /// The dataset and version, such as `trips@3`
    #[arg(value_name = "SLUG[@V]")]
    cite: String,
    /// Print each digest and what it covers
    #[arg(long)]
    digests: bool,
}

/// Shows a version.
pub(crate) fn run(cli: &Cli, args: &ShowArgs) -> Result<Exit, Failure> {
    let session = place::session(cli)?;
    if let Some(described) = unversioned(&session, &args.cite)? {
        return draft(cli, &described);
    }
    let shown = show(&session, &args.cite)?;
    described::warnings(cli, &shown.described);
    let mut out = match cli.json {
        true => json::text(&object(&shown)),
        false => text(&shown, args.digests),
    };
    out.push('\n');
    io::stdout().write_all(out.as_bytes()).map(|()| Exit::Fine).map_err(|error| super::broken(&error))
}

/// A dataset that has no version yet.
fn draft(cli: &Cli, found: &Described) -> Result<Exit, Failure> {
    let text = match cli.json {
        true => {
            let mut object = json::object([("dataset", Value::from(found.dataset.slug.clone()))]);
            for (name, value) in described::object(found) {
                object.set(name, value);
            }
            for name in ["digest", "mode"] {
                object.set(name, Value::Null);
            }
            object.set("splits", Value::Array(Vec::new()));
            json::text(&object)
        }
        false => described::text(found),
    };
    writeln!(io::stdout(), "{text}").map(|()| Exit::Fine).map_err(|error| super::broken(&error))
}

/// What is said of the dataset beside what is shown of the version; its tags have another name, for versions have tags.
const OF_THE_DATASET: [(&str, &str); 20] = [
    ("id", "id"),
    ("status", "status"),
    ("certification_level", "certification_level"),
    ("owner_id", "owner_id"),
    ("team", "team"),
    ("connector_id", "connector_id"),
    ("external_id", "external_id"),
    ("data_residency", "data_residency"),
    ("dataset_tags", "tags"),
    ("categories", "categories"),
    ("policy_tags", "policy_tags"),
    ("legal_basis", "legal_basis"),
    ("consent", "consent"),
    ("deletion_status", "deletion_status"),
    ("quality_score", "quality_score"),
    ("record_count", "record_count"),
    ("size_bytes", "size_bytes"),
    ("declared", "declared"),
    ("computed", "computed"),
    ("etag", "etag"),
];

fn object(shown: &Shown) -> Object<'_> {
    let (dataset, version) = (&shown.resolved.dataset, &shown.resolved.version);
    let split = |split: &heldset_store::documents::SplitDoc| {
        Value::Object(json::object([
            ("name", Value::from(split.name.clone())),
            ("label", Value::from(split.label.clone())),
            ("rows", json::number(split.rows)),
            ("root", Value::from(format!("sha256:{}", split.root))),
            ("kind", Value::from(if split.files { "files" } else { "records" })),
        ]))
    };
    let texts = |texts: &'_ [String]| Value::Array(texts.iter().map(|text| Value::from(text.clone())).collect());
    let document = |text: &Option<String>| text.as_deref().map_or(Value::Null, |text| mapping(text).into());
    let mut object = json::object([
        ("dataset", Value::from(dataset.slug.as_str())),
        ("version", json::number(version.number)),
        ("digest", Value::from(version.digest.as_str())),
        ("mode", Value::from(version.mode.as_str())),
        ("splits", Value::Array(shown.splits.iter().map(split).collect())),
        ("digests", digests(shown).into()),
    ]);
    for (name, value) in [
        ("name", Value::from(dataset.name.as_str())),
        ("description", json::optional(dataset.description.as_deref())),
        ("profile", Value::from(dataset.profile.as_str())),
        ("license", json::optional(dataset.license.as_deref())),
        ("tags", texts(&shown.tags)),
        ("message", json::optional(version.message.as_deref())),
        ("created_at", Value::from(version.created_at.as_str())),
        ("created_by", Value::from(version.created_by.as_str())),
        ("parents", texts(&version.parents)),
        ("provenance", mapping(&version.provenance).into()),
        ("replay", json::optional(heldset_engine::source::replay_of(version))),
        ("source", document(&dataset.source)),
        ("retention", document(&dataset.retention)),
        ("mount", document(&version.mount)),
        ("declassified", json::optional(version.declassified.as_deref())),
    ] {
        object.set(name, value);
    }
    for (name, field) in OF_THE_DATASET {
        object.set(name, shown.described.fields.get(field).cloned().unwrap_or(Value::Null));
    }
    if let Some(sources) = &shown.sources {
        let source = |source: &heldset_store::documents::SourceDoc| {
            Value::Object(json::object([
                ("name", Value::from(source.name.clone())),
                ("split", Value::from(source.split.clone())),
                ("size", json::number(source.size)),
                ("sha256", Value::from(format!("sha256:{}", source.sha256))),
                ("time", Value::from(source.time.clone())),
                ("state", Value::from(source.state.clone())),
            ]))
        };
        object.set("sources", Value::Array(sources.iter().map(source).collect()));
    }
    object
}

fn digests(shown: &Shown) -> Object<'static> {
    let digests = &shown.digests;
    json::object([
        ("records", Value::from(digests.records.to_string())),
        ("schema", Value::from(digests.schema.to_string())),
        ("policy", Value::from(digests.policy.to_string())),
        ("provenance", Value::from(digests.provenance.to_string())),
        ("source", source_digest(shown)),
        ("version", Value::from(digests.version.to_string())),
    ])
}

/// The digest of the source bytes: of the one file, or of the list of them.
fn source_digest(shown: &Shown) -> Value<'static> {
    match shown.sources.as_deref() {
        None | Some([]) => Value::Null,
        Some([one]) => Value::from(format!("sha256:{}", one.sha256)),
        Some(many) => {
            let list: String = many.iter().map(|source| format!("{}\n", source.sha256)).collect();
            Value::from(heldset_core::digest::sha256(list.as_bytes()).to_string())
        }
    }
}

/// What is said of the dataset, in words.
const LINES: [(&str, &str); 16] = [
    ("deletion", "deletion_status"),
    ("status", "status"),
    ("certification", "certification_level"),
    ("owner", "owner_id"),
    ("team", "team"),
    ("tags", "tags"),
    ("categories", "categories"),
    ("policy tags", "policy_tags"),
    ("residency", "data_residency"),
    ("legal basis", "legal_basis"),
    ("consent", "consent"),
    ("connector", "connector_id"),
    ("external id", "external_id"),
    ("quality", "quality_score"),
    ("records", "record_count"),
    ("bytes", "size_bytes"),
];

fn text(shown: &Shown, with_digests: bool) -> String {
    let (dataset, version) = (&shown.resolved.dataset, &shown.resolved.version);
    let tags: String = shown.tags.iter().map(|tag| format!(" [{tag}]")).collect();
    let mut out = format!("{}@{}{tags} {}", dataset.slug, version.number, version.digest);
    let mut line = |name: &str, value: Option<&str>| {
        if let Some(value) = value {
            // Writing to a String cannot fail.
            let _infallible = write!(out, "\n{name:<14}{}", clean::line(value));
        }
    };
    line("name", Some(&dataset.name));
    line("description", dataset.description.as_deref());
    line("mode", Some(&version.mode));
    line("profile", Some(&dataset.profile));
    line("license", dataset.license.as_deref());
    line("created", Some(&format!("{} by {}", version.created_at, version.created_by)));
    line("message", version.message.as_deref());
    line("replay", heldset_engine::source::replay_of(version));
    line("provenance", Some(version.provenance.as_str()).filter(|text| *text != "{}"));
    line("parents", version.parents.first().map(|_| version.parents.join(", ")).as_deref());
    line("source", dataset.source.as_deref());
    line("retention", dataset.retention.as_deref());
    for (name, field) in LINES {
        let value = shown.described.fields.get(field).and_then(described::shown);
        line(name, value.as_deref());
    }
    line("mount", version.mount.as_deref());
    line("declassified", version.declassified.as_deref());
    for split in &shown.splits {
        let what = if split.files { "files" } else { "rows" };
        line("split", Some(&format!("{}  {}  {} {what}  sha256:{}", split.name, split.label, split.rows, split.root)));
    }
    for source in shown.sources.iter().flatten() {
        line("read from", Some(&format!("{}  {} bytes  sha256:{}", source.name, source.size, source.sha256)));
    }
    if with_digests {
        out.push_str(&digest_lines(shown));
    }
    out
}

fn digest_lines(shown: &Shown) -> String {
    let covers = [
        ("records", "the splits in order: name, label, rows, root"),
        ("schema", "the registered schema"),
        ("policy", "labels, splits, fields, default, movement, answers_for"),
        ("provenance", "what is declared about where it comes from"),
        ("source", "the bytes of the files it was read from; outside the version digest"),
        ("version", "spec, dataset, mode, schema, policy, provenance, parents, splits"),
    ];
    let digests = digests(shown);
    let line = |(name, what): &(&str, &str)| {
        let digest = digests.get(name).and_then(Value::as_str).unwrap_or("-");
        format!("\n{name:<14}{digest}  {what}")
    };
    covers.iter().map(line).collect()
}
