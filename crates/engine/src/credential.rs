//! `credential`: the secrets of connectors, each for one scope.
//!
//! *Invariant:* a secret goes in and never comes out: it is sealed before it is kept, handed to the one who dials out,
//! and in no answer, message or entry of the log. Whose it is is checked at each use.

use heldset_core::code::Code;
use heldset_core::mapping::Scope;
use heldset_core::record::name_problem;
use heldset_core::value::{Object, Value};
use heldset_store::DatasetKeys;
use heldset_store::catalog::Batch;
use heldset_store::documents::{AuditDoc, Document};
use heldset_store::registry::{ConnectorDoc, CredentialDoc, PrincipalDoc, credential_key};

use crate::connector::{self, text_of};
use crate::refusal::{Outcome, Refusal};
use crate::resolve::mapping;
use crate::session::Session;
use crate::{log, principal};

/// A credential, without its secret.
pub struct Held {
    /// The name of the connector.
    pub connector: String,
    /// For whom: the type of the scope.
    pub scope_type: String,
    /// For whom: the principal, team or organisation.
    pub scope_id: String,
    /// Whether there was one before.
    pub replaced: bool,
}

/// Keeps a secret: a mapping such as `{token}` or `{username, password}`.
pub fn set(
    session: &Session,
    connector: &str,
    (scope, scope_id): (Scope, Option<&str>),
    secret: &Object<'static>,
) -> Outcome<Held> {
    session.must_manage("credential")?;
    let connector = connector::find(session, connector)?;
    check(secret)?;
    let scope_id = scope_id_of(session, scope, scope_id)?;
    let _held = session.store.hold()?;
    let keys = session.store.keys();
    if keys.load(&connector.id)?.is_none() {
        keys.save(&connector.id, &DatasetKeys::generate(session.store.entropy()))?;
    }
    let sealed = session.store.seal_note(&connector.id, &text_of(&Value::Object(secret.clone())))?;
    let (scope_type, set_at) = (scope.name().to_owned(), session.clock.now());
    let doc = CredentialDoc { scope_type, scope_id, secret: sealed, set_at };
    let key = credential_key(&connector.id, &doc.scope_type, &doc.scope_id);
    let mut replaced = false;
    log::commit(session, || {
        let before = session.store.catalog().get(&key)?;
        replaced = before.is_some();
        let mut batch = Batch::durable();
        batch.expect(key.clone(), before);
        batch.put(key.clone(), doc.to_bytes()?);
        let note = format!("the credential of connector `{}` for {} is set", connector.name, whose(&doc));
        Ok::<_, Box<Refusal>>(log::logged(&session.store, &log::upkeep_entry(session, "credential", "", note), batch)?)
    })?;
    Ok(Held { connector: connector.name, scope_type: doc.scope_type, scope_id: doc.scope_id, replaced })
}

/// Forgets a secret.
pub fn rm(session: &Session, connector: &str, (scope, scope_id): (Scope, Option<&str>)) -> Outcome<Held> {
    session.must_manage("credential")?;
    let connector = connector::find(session, connector)?;
    let scope_id = scope_id_of(session, scope, scope_id)?;
    let key = credential_key(&connector.id, scope.name(), &scope_id);
    log::commit(session, || {
        let Some(doc) = session.store.document::<CredentialDoc>(&key)? else {
            return Err(unset(&connector, scope, &scope_id));
        };
        let mut batch = Batch::durable();
        batch.expect(key.clone(), Some(doc.to_bytes()?));
        batch.delete(key.clone());
        let note = format!("the credential of connector `{}` for {} is removed", connector.name, whose(&doc));
        Ok(log::logged(&session.store, &log::upkeep_entry(session, "credential", "", note), batch)?)
    })?;
    Ok(Held { connector: connector.name, scope_type: scope.name().to_owned(), scope_id, replaced: true })
}

/// The secret that the caller may use for a source, if there is one: that of the scope the source declares, else the
/// caller's own, a team's or the organisation's, in this order.
pub(crate) fn secret_for(
    session: &Session,
    connector: &ConnectorDoc,
    declared: Option<&(Scope, Option<String>)>,
) -> Outcome<Option<Object<'static>>> {
    let me = principal::current(session)?;
    let Some((scope, id)) = declared else {
        let teams = me.teams.iter().map(|team| (Scope::Team, team.clone()));
        let mine = [(Scope::User, me.id.clone())].into_iter().chain(teams);
        for (scope, id) in mine.chain(me.organization.iter().map(|id| (Scope::Organization, id.clone()))) {
            if let Some(secret) = open(session, connector, scope, &id)? {
                return Ok(Some(secret));
            }
        }
        return Ok(None);
    };
    let id = scope_id_of(session, *scope, id.as_deref())?;
    if !is_member(&me, *scope, &id) {
        denied(session, connector, *scope, &id)?;
        let message = format!(
            "`{}` may not use the credential of connector `{}` for {} `{id}`",
            me.name,
            connector.name,
            scope.name()
        );
        let help = match scope {
            Scope::User => "only that principal may; use a source with a credential of your own",
            Scope::Team => "only members of the team may: see `heldset principal ls`",
            Scope::Organization => "only members of the organisation may: see `heldset principal ls`",
        };
        return Err(Refusal::denied(Code::E074, message, help));
    }
    match open(session, connector, *scope, &id)? {
        None if connector.kind != "file" => Err(unset(connector, *scope, &id)),
        secret => Ok(secret),
    }
}

fn open(session: &Session, connector: &ConnectorDoc, scope: Scope, id: &str) -> Outcome<Option<Object<'static>>> {
    let Some(doc) = session.store.document::<CredentialDoc>(&credential_key(&connector.id, scope.name(), id))? else {
        return Ok(None);
    };
    let text: String = session.store.open_note(&connector.id, &doc.secret)?;
    Ok(Some(mapping(&text)))
}

fn is_member(me: &PrincipalDoc, scope: Scope, id: &str) -> bool {
    match scope {
        Scope::User => me.id == id,
        Scope::Team => me.teams.iter().any(|team| team == id),
        Scope::Organization => me.organization.as_deref() == Some(id),
    }
}

fn denied(session: &Session, connector: &ConnectorDoc, scope: Scope, id: &str) -> Outcome<()> {
    let note = format!("the credential of connector `{}` for {} `{id}` is out of scope", connector.name, scope.name());
    let entry = AuditDoc { allowed: false, ..log::upkeep_entry(session, "credential", "", note) };
    Ok(log::append(session, &entry, true)?)
}

/// Who is meant; the caller's own when nothing is said.
fn scope_id_of(session: &Session, scope: Scope, id: Option<&str>) -> Outcome<String> {
    let me = principal::current(session)?;
    if let Some(id) = id {
        if let Some(why) = name_problem(id).or_else(|| id.trim().is_empty().then_some("is empty")) {
            let message = format!("the scope id `{id}` {why}");
            return Err(Refusal::usage(Code::E105, message, "write the principal, team or organisation"));
        }
        return match scope {
            Scope::User => principal_id(session, id),
            Scope::Team | Scope::Organization => Ok(id.to_owned()),
        };
    }
    let (own, what) = match scope {
        Scope::User => (Some(me.id), "principal"),
        Scope::Team => (
            Some(me.teams).filter(|teams| teams.len() == 1).and_then(|mut teams| teams.pop()),
            "team, or more than one",
        ),
        Scope::Organization => (me.organization, "organisation"),
    };
    own.ok_or_else(|| {
        let message =
            format!("it is not said for which {} the credential is, and `{}` has no {what}", scope.name(), me.name);
        Refusal::usage(Code::E105, message, "name it with `--scope-id`, or `credential_scope_id` in a source")
    })
}

/// The id of a principal that is named by it or by its name.
fn principal_id(session: &Session, id: &str) -> Outcome<String> {
    let entries = session.store.catalog().scan("principal", "")?;
    let read = entries.iter().map(|(_, bytes)| PrincipalDoc::from_bytes(bytes, "catalog: a principal"));
    let all: Vec<PrincipalDoc> = read.collect::<Result<_, _>>()?;
    match all.iter().find(|known| known.id == id || known.name == id) {
        Some(known) => Ok(known.id.clone()),
        None => {
            let known = all.iter().map(|known| known.name.as_str());
            Err(Refusal::unknown(format!("there is no principal `{id}`"), id, known))
        }
    }
}

fn check(secret: &Object<'static>) -> Outcome<()> {
    let help = "write a mapping of texts, such as `{\"token\": \"…\"}` or `{\"username\": \"…\", \"password\": \"…\"}`";
    if secret.is_empty() {
        return Err(Refusal::usage(Code::E105, "the credential is empty", help));
    }
    // The value is not named: it may be the secret.
    match secret.iter().find(|(_, value)| value.as_str().is_none_or(str::is_empty)) {
        Some((key, _)) => Err(Refusal::usage(Code::E105, format!("`{key}` of the credential is not a text"), help)),
        None => Ok(()),
    }
}

fn unset(connector: &ConnectorDoc, scope: Scope, id: &str) -> Box<Refusal> {
    let message = format!("connector `{}` has no credential for {} `{id}`", connector.name, scope.name());
    let help =
        format!("keep one with `heldset credential set {} --scope {} --scope-id {id}`", connector.name, scope.name());
    Refusal::usage(Code::E102, message, help)
}

fn whose(doc: &CredentialDoc) -> String {
    format!("{} `{}`", doc.scope_type, doc.scope_id)
}
