//! A dataset that is read from a remote source: what of the source it is, and the records that were consumed.
//!
//! *Invariant:* a registered stream can be replayed: the records that were consumed are in the store, and its provenance
//! says where they came from, by which query, at which time.

use heldset_core::code::Code;
use heldset_core::declaration::{Declaration, Stream};
use heldset_core::digest::sha256;
use heldset_core::manifest::Mode;
use heldset_core::value::{Object, Value};

use crate::import::unreadable;
use crate::ports::Shelf;
use crate::refusal::{Outcome, Refusal};

/// Whether a declaration is of a stream.
pub(super) fn is_stream(declaration: &Declaration) -> bool {
    let mut modes = declaration.splits.iter().filter_map(|split| split.mode).chain([declaration.mode]);
    modes.any(|mode| mode == Mode::RemoteStreamed) || declaration.stream != Stream::default()
}

/// Refuses a stream that does not say what it is, or whose records are not here.
pub(super) fn check(declaration: &Declaration) -> Outcome<()> {
    let (slug, stream) = (&declaration.slug, &declaration.stream);
    if declaration.mode != Mode::RemoteStreamed {
        let message = "`query`, `query_digest`, `snapshot_time` and `replay_manifest` are of a stream";
        return Err(Refusal::usage(Code::E103, message, "say `mode: remote_streamed`, or leave them out"));
    }
    if let (Some(query), Some(stated)) = (&stream.query, stream.query_digest)
        && sha256(query.as_bytes()) != stated
    {
        let message =
            format!("the query is not the declared one: expected {stated}, found {}", sha256(query.as_bytes()));
        return Err(Refusal::integrity(Code::E042, message, "declare the digest of the query that was used"));
    }
    let stated = [
        ("`source`", declaration.source.is_some()),
        ("`query` or `query_digest`", stream.query.is_some() || stream.query_digest.is_some()),
        ("`snapshot_time`", stream.snapshot_time.is_some()),
        ("`replay_manifest`", stream.replay_manifest.is_some()),
    ];
    let missing: Vec<&str> = stated.iter().filter(|(_, there)| !there).map(|(what, _)| *what).collect();
    if !missing.is_empty() {
        let message = format!("stream `{slug}` cannot be replayed; its declaration lacks {}", missing.join(", "));
        let help = format!("state it, or read the source through a connector: `heldset source add {slug}`");
        return Err(Refusal::usage(Code::E076, message, help));
    }
    match stream.replay_manifest.as_deref().map(local) {
        Some(manifest) if manifest.contains("://") => Err(absent(declaration, manifest, "it is not a file here")),
        _ => Ok(()),
    }
}

/// What is declared of where the version comes from; of a stream, with what of the source it is.
pub(super) fn provenance(declaration: &Declaration, shelf: &dyn Shelf) -> Outcome<Object<'static>> {
    let mut provenance = declaration.provenance.clone();
    let stream = &declaration.stream;
    let Some(manifest) = stream.replay_manifest.as_deref().filter(|_| is_stream(declaration)).map(local) else {
        return Ok(provenance);
    };
    let digest = shelf.sha256(manifest).map_err(|error| unreadable(manifest, &error))?;
    let query_digest = stream.query.as_ref().map(|query| sha256(query.as_bytes())).or(stream.query_digest);
    let mut replayed = Object::new();
    replayed.set("path", Value::from(manifest.to_owned()));
    replayed.set("sha256", Value::from(format!("sha256:{digest}")));
    let text = |text: &Option<String>| text.clone().map(Value::from);
    for (name, value) in [
        ("source", declaration.source.as_ref().map(|source| Value::from(source.uri.clone()))),
        ("query", text(&stream.query)),
        ("query_digest", query_digest.map(|digest| Value::from(digest.to_string()))),
        ("snapshot_time", text(&stream.snapshot_time)),
        ("replay_manifest", Some(Value::Object(replayed))),
        ("replay", Some(Value::from("exact"))),
    ] {
        if let Some(value) = value {
            provenance.set(name, value);
        }
    }
    Ok(provenance)
}

fn local(manifest: &str) -> &str {
    manifest.trim_start_matches("file://")
}

/// The records that were consumed are not here.
pub(super) fn absent(declaration: &Declaration, manifest: &str, why: &str) -> Box<Refusal> {
    let slug = &declaration.slug;
    let message = format!("stream `{slug}` cannot be replayed from `{manifest}`: {why}");
    let help = format!(
        "bring the records that were consumed here and name their file as `replay_manifest`, or read the source through a connector: `heldset source add {slug}`"
    );
    Refusal::usage(Code::E076, message, help)
}
