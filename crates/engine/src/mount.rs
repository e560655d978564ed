//! `mount`: a version as a read-only folder, with just what an audience sees.
//!
//! *Invariant:* copies, never links to what is stored. Every file is compared with its digest before the folder has
//! its name; when one is not what it was, nothing is left behind.

use std::collections::HashSet;
use std::io::Write;

use heldset_core::canonical;
use heldset_core::code::Code;
use heldset_core::number::Number;
use heldset_core::value::{Object, Value};
use heldset_core::visibility::Place;

use crate::cat::unwritten;
use crate::copies;
use crate::files;
use crate::refusal::{Outcome, Refusal};
use crate::resolve::Resolved;
use crate::session::Session;
use crate::view::{Look, View, VisibleSplit};

/// The name of the manifest in the folder.
pub const MANIFEST: &str = "heldset.json";
/// Bytes that are gathered before they are written.
const GATHERED: usize = 1 << 20;

/// A folder that is being laid out.
pub trait Layout {
    /// Starts a file with this path, whose parts are plain names.
    fn create(&mut self, path: &str) -> std::io::Result<Box<dyn Write + '_>>;
}

/// What is laid out.
pub struct MountRequest<'m> {
    /// The dataset and version.
    pub cite: &'m str,
    /// Where the folder goes.
    pub place: Option<Place>,
    /// Where it is, for the list of copies.
    pub at: &'m str,
}

/// A version that was laid out.
pub struct Mounted {
    /// The dataset and version.
    pub resolved: Resolved,
    /// The splits in it: name, label, whether of files, and how many records or files.
    pub splits: Vec<(String, String, bool, u64)>,
}

/// Lays out a version.
pub fn mount(session: &Session, request: &MountRequest<'_>, layout: &mut dyn Layout) -> Outcome<Mounted> {
    let look = Look { cite: request.cite, split: None, place: request.place, purpose: "mount" };
    let view = View::open(session, &look)?;
    check_names(&view)?;
    for split in &view.splits {
        match split.doc.files {
            true => lay_files(session, &view, split, layout)?,
            false => lay_records(&view, split, layout)?,
        }
    }
    let entry = |split: &VisibleSplit| {
        let doc = &split.doc;
        (doc.name.clone(), doc.label.clone(), doc.files, doc.rows)
    };
    let splits: Vec<_> = view.splits.iter().map(entry).collect();
    let manifest = manifest(session, &view, &splits);
    let mut file = layout.create(MANIFEST).map_err(|error| unwritten(&error))?;
    file.write_all(&manifest).and_then(|()| file.flush()).map_err(|error| unwritten(&error))?;
    drop(file);
    copies::keep(session, &view, "mount", request.at)?;
    Ok(Mounted { resolved: view.resolved, splits })
}

/// Refuses splits whose names cannot stand in a folder, or would stand in each other's place.
fn check_names(view: &View<'_>) -> Outcome<()> {
    let mut taken = HashSet::from([MANIFEST.to_owned()]);
    for split in &view.splits {
        let name = &split.doc.name;
        let entry = entry_name(split);
        let plain = !name.contains(['/', '\0']) && name != "." && name != "..";
        if !plain || !taken.insert(entry.clone()) {
            let message =
                format!("split `{name}` cannot be laid out: `{entry}` cannot stand in a folder beside the rest");
            return Err(Refusal::usage(
                Code::E103,
                message,
                "print it with `heldset cat`, or import it under another name",
            ));
        }
    }
    Ok(())
}

fn entry_name(split: &VisibleSplit) -> String {
    let name = &split.doc.name;
    if split.doc.files { name.clone() } else { format!("{name}.jsonl") }
}

fn lay_records(view: &View<'_>, split: &VisibleSplit, layout: &mut dyn Layout) -> Outcome<()> {
    let mut file = layout.create(&entry_name(split)).map_err(|error| unwritten(&error))?;
    let mut bytes = Vec::with_capacity(GATHERED * 2);
    view.each_batch(split, |batch| {
        for row in 0..batch.len() {
            batch.write_json(row, &mut bytes);
            bytes.push(b'\n');
            if bytes.len() >= GATHERED {
                file.write_all(&bytes).map_err(|error| unwritten(&error))?;
                bytes.clear();
            }
        }
        Ok(())
    })?;
    file.write_all(&bytes).and_then(|()| file.flush()).map_err(|error| unwritten(&error))
}

fn lay_files(session: &Session, view: &View<'_>, split: &VisibleSplit, layout: &mut dyn Layout) -> Outcome<()> {
    let reading = view.reading(split);
    for file in files::load(&session.store, &view.resolved.dataset.id, &split.doc)?.files {
        let path = format!("{}/{}", split.doc.name, file.path);
        let mut out = layout.create(&path).map_err(|error| unwritten(&error))?;
        files::read(&reading, &file, &mut |bytes| out.write_all(bytes).map_err(|error| unwritten(&error)))?;
        out.flush().map_err(|error| unwritten(&error))?;
    }
    Ok(())
}

fn manifest(session: &Session, view: &View<'_>, splits: &[(String, String, bool, u64)]) -> Vec<u8> {
    let count = |count: u64| Value::Number(Number::from_u64(count));
    let split = |(name, label, files, rows): &(String, String, bool, u64)| {
        let mut object = Object::new();
        object.set("name", Value::from(name.clone()));
        object.set("label", Value::from(label.clone()));
        object.set("kind", Value::from(if *files { "files" } else { "records" }));
        object.set("rows", count(*rows));
        Value::Object(object)
    };
    let resolved = &view.resolved;
    let mut object = Object::new();
    for (name, value) in [
        ("format", Value::from("heldset/mount/1")),
        ("dataset", Value::from(resolved.dataset.slug.as_str())),
        ("version", count(resolved.version.number)),
        ("digest", Value::from(resolved.version.digest.as_str())),
        ("audience", Value::from(session.viewer.name())),
        ("place", Value::from(view.grant().place().name())),
        ("labels", Value::Array(view.labels().iter().map(|label| Value::from(label.name().to_owned())).collect())),
        ("splits", Value::Array(splits.iter().map(split).collect())),
        ("made_at", Value::from(session.clock.now())),
    ] {
        object.set(name, value);
    }
    let mut bytes = Vec::new();
    canonical::write_entries(object.iter(), &mut bytes);
    bytes.push(b'\n');
    bytes
}
