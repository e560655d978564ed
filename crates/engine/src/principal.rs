//! `principal`: those who act, with their teams and organisation.
//!
//! *Invariant:* the user of the machine always is a principal; its id never changes.

use heldset_core::code::Code;
use heldset_core::record::name_problem;
use heldset_store::catalog::Batch;
use heldset_store::documents::Document;
use heldset_store::registry::{PrincipalDoc, principal_key};

use crate::log;
use crate::refusal::{Outcome, Refusal};
use crate::session::Session;

/// What is set of a principal; what is absent stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrincipalRequest<'p> {
    /// The name.
    pub name: &'p str,
    /// The teams, in place of those before.
    pub teams: Option<Vec<String>>,
    /// The organisation; an empty one takes it away.
    pub organization: Option<&'p str>,
}

/// Everybody who is known, by name.
pub fn ls(session: &Session) -> Outcome<Vec<PrincipalDoc>> {
    session.must_manage("principal ls")?;
    let entries = session.store.catalog().scan("principal", "")?;
    let read = entries.iter().map(|(_, bytes)| PrincipalDoc::from_bytes(bytes, "catalog: a principal"));
    Ok(read.collect::<Result<_, _>>()?)
}

/// Sets the teams and the organisation of a principal, who is written down when new. A team or organisation gives
/// access to its credentials, so that only the owner says who belongs to it.
pub fn set(session: &Session, request: &PrincipalRequest<'_>) -> Outcome<PrincipalDoc> {
    session.must_own("principal set")?;
    let names = request.teams.iter().flatten().map(|team| ("team", team.as_str()));
    for (what, name) in names.chain([("principal", request.name)]) {
        let why = if name.is_empty() { Some("is empty") } else { name_problem(name) };
        if let Some(why) = why {
            let message = format!("the name `{name}` of a {what} {why}");
            return Err(Refusal::usage(Code::E105, message, format!("choose another name for the {what}")));
        }
    }
    let key = principal_key(request.name);
    let mut written = None;
    log::commit(session, || {
        let before: Option<PrincipalDoc> = session.store.document(&key)?;
        let mut principal = before.clone().unwrap_or_else(|| new(session, request.name));
        if let Some(teams) = &request.teams {
            principal.teams.clone_from(teams);
            principal.teams.sort();
            principal.teams.dedup();
        }
        if let Some(organization) = request.organization {
            principal.organization = Some(organization.to_owned()).filter(|name| !name.is_empty());
        }
        let mut batch = Batch::durable();
        batch.expect(key.clone(), before.map(|before| before.to_bytes()).transpose()?);
        batch.put(key.clone(), principal.to_bytes()?);
        let note = format!(
            "{} is in the teams [{}] and the organisation {}",
            principal.name,
            principal.teams.join(", "),
            principal.organization.as_deref().unwrap_or("-")
        );
        written = Some(principal);
        let entry = log::upkeep_entry(session, "principal set", "", note);
        Ok::<_, Box<Refusal>>(log::logged(&session.store, &entry, batch)?)
    })?;
    written.ok_or_else(|| heldset_store::StoreError::internal("no principal was set").into())
}

fn new(session: &Session, name: &str) -> PrincipalDoc {
    PrincipalDoc { id: session.new_id(), name: name.to_owned(), teams: Vec::new(), organization: None }
}

/// The principal who asks; it is written down when it is first needed.
pub fn current(session: &Session) -> Outcome<PrincipalDoc> {
    let key = principal_key(&session.user);
    if let Some(known) = session.store.document(&key)? {
        return Ok(known);
    }
    let principal = new(session, &session.user);
    let mut batch = Batch::durable();
    batch.expect(key.clone(), None);
    batch.put(key.clone(), principal.to_bytes()?);
    match session.store.commit(&batch) {
        Ok(()) => Ok(principal),
        // Somebody else wrote it meanwhile.
        Err(error) => Ok(session.store.document(&key)?.ok_or(error)?),
    }
}
