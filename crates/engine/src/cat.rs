//! `cat`: records as an audience sees them.

use std::io;

use heldset_core::code::Code;
use heldset_core::visibility::Place;

use crate::refusal::{Outcome, Refusal};
use crate::session::Session;
use crate::view::{Look, View, VisibleSplit, cited};

/// Bytes that are gathered before they are handed out.
const GATHERED: usize = 1 << 20;

/// What is printed.
pub struct CatRequest<'c> {
    /// The dataset and version.
    pub cite: &'c str,
    /// One split.
    pub split: Option<&'c str>,
    /// Some ids, in this order; all records when there is none.
    pub ids: &'c [String],
    /// Where the rows go.
    pub place: Option<Place>,
}

/// Hands out records as JSON lines.
pub fn cat(session: &Session, request: &CatRequest<'_>, out: &mut dyn io::Write) -> Outcome<()> {
    let look = Look { cite: request.cite, split: request.split, place: request.place, purpose: "cat" };
    let view = View::open(session, &look)?;
    if !request.ids.is_empty() {
        return some(&view, request.ids, out);
    }
    let mut bytes = Vec::with_capacity(GATHERED * 2);
    for split in &view.splits {
        if split.doc.files {
            crate::files::list(session, &view, split, &mut bytes)?;
            continue;
        }
        view.each_batch(split, |batch| {
            for row in 0..batch.len() {
                batch.write_json(row, &mut bytes);
                bytes.push(b'\n');
                if bytes.len() >= GATHERED {
                    write(out, &mut bytes)?;
                }
            }
            Ok(())
        })?;
    }
    write(out, &mut bytes)
}

fn some(view: &View<'_>, ids: &[String], out: &mut dyn io::Write) -> Outcome<()> {
    let mut bytes = Vec::new();
    let records: Vec<&VisibleSplit> = view.splits.iter().filter(|split| !split.doc.files).collect();
    for id in ids {
        let mut found = false;
        for split in &records {
            if let Some(batch) = view.find(split, id)? {
                batch.write_json(0, &mut bytes);
                bytes.push(b'\n');
                found = true;
                break;
            }
        }
        if !found {
            return Err(unknown_record(view, id));
        }
    }
    write(out, &mut bytes)
}

/// There is no such record, or none that can be seen.
pub(crate) fn unknown_record(view: &View<'_>, id: &str) -> Box<Refusal> {
    let help = format!("list the records with `heldset cat {}`", view.resolved.dataset.slug);
    Refusal::usage(Code::E102, format!("{} has no record `{id}`", cited(&view.resolved)), help)
}

fn write(out: &mut dyn io::Write, bytes: &mut Vec<u8>) -> Outcome<()> {
    out.write_all(bytes).map_err(|error| unwritten(&error))?;
    bytes.clear();
    Ok(())
}

/// What was made cannot be written; a closed pipe is told apart by its words.
pub(crate) fn unwritten(error: &io::Error) -> Box<Refusal> {
    let message = match error.kind() {
        io::ErrorKind::BrokenPipe => CLOSED.to_owned(),
        _ => format!("the output cannot be written: {error}"),
    };
    Refusal::usage(Code::E104, message, "check the folder, its permissions and the free space")
}

/// What is said when nobody reads the output any more.
pub const CLOSED: &str = "the output is closed";
