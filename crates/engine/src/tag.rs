//! `tag`: a name for a version. Moving a tag is logged.

use heldset_core::cite::tag_problem;
use heldset_core::code::Code;
use heldset_store::catalog::Batch;
use heldset_store::documents::{AuditDoc, Document, TagDoc, tag_key};

use crate::log;
use crate::refusal::{Outcome, Refusal};
use crate::resolve::{Resolved, resolve};
use crate::session::Session;

/// A tag that was set.
pub struct Tagged {
    /// The dataset and version.
    pub resolved: Resolved,
    /// The number of the version it named before.
    pub before: Option<u64>,
}

/// Gives a version a name.
pub fn tag(session: &Session, cite: &str, name: &str) -> Outcome<Tagged> {
    session.must_manage("tag")?;
    if let Some(why) = tag_problem(name) {
        let help = "a tag has letters, digits, `.`, `_` and `-`, and is not a number";
        return Err(Refusal::usage(Code::E105, format!("`{name}` cannot be a tag: it {why}"), help));
    }
    let _held = session.store.hold()?;
    let resolved = resolve(&session.store, cite)?;
    let key = tag_key(&resolved.dataset.id, name);
    let mut before = None;
    log::commit(session, || {
        let known = session.store.catalog().get(&key)?;
        before =
            known.as_ref().map(|bytes| TagDoc::from_bytes(bytes, "catalog: a tag")).transpose()?.map(|tag| tag.version);
        let doc = TagDoc { version: resolved.version.number, set_at: session.clock.now() };
        let mut batch = Batch { durable: true, ..Batch::default() };
        batch.expect.push((key.clone(), known));
        batch.put.push((key.clone(), doc.to_bytes()?));
        let note = match before {
            Some(before) => format!("tag {name} moves from version {before} to {}", resolved.version.number),
            None => format!("tag {name} is version {}", resolved.version.number),
        };
        Ok::<_, Box<Refusal>>(log::logged(&session.store, &entry(session, &resolved, note), batch)?)
    })?;
    Ok(Tagged { resolved, before })
}

fn entry(session: &Session, resolved: &Resolved, note: String) -> AuditDoc {
    AuditDoc {
        time: session.clock.now(),
        who: session.user.clone(),
        audience: session.viewer.name().to_owned(),
        place: session.viewer.place().name().to_owned(),
        purpose: "tag".to_owned(),
        dataset: resolved.dataset.slug.clone(),
        version: resolved.version.digest.clone(),
        splits: Vec::new(),
        labels: Vec::new(),
        rows: 0,
        allowed: true,
        note: Some(note),
    }
}
