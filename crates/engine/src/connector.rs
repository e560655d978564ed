//! `connector`: how systems outside are reached, without their secrets.
//!
//! *Invariant:* a configuration that holds a secret is not kept; a connector that a source uses stays.

use heldset_core::canonical;
use heldset_core::code::Code;
use heldset_core::fault::{Problem, nearest};
use heldset_core::mapping::secrets;
use heldset_core::path::Path;
use heldset_core::record::name_problem;
use heldset_core::value::{Object, Value};
use heldset_store::catalog::{Batch, Key};
use heldset_store::documents::{Document, prefix};
use heldset_store::registry::{ConnectorDoc, CredentialDoc, connector_key, credential_key};

use crate::refusal::{Outcome, Refusal};
use crate::session::Session;
use crate::{log, source};

/// The kinds there are.
pub const KINDS: [&str; 7] = ["file", "http", "jira", "sql", "bucket", "git", "huggingface"];
/// The longest name.
const LONGEST: usize = 200;

/// A connector, and for whom credentials are kept: scope type and id.
pub struct Listed {
    /// The connector.
    pub connector: ConnectorDoc,
    /// Scopes with a credential.
    pub credentials: Vec<(String, String)>,
}

/// Keeps a connector.
pub fn add(session: &Session, name: &str, kind: &str, config: &Object<'static>) -> Outcome<ConnectorDoc> {
    session.must_manage("connector")?;
    check_name(name)?;
    if !KINDS.contains(&kind) {
        let help = match nearest(kind, KINDS) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("use {}", KINDS.map(|kind| format!("`{kind}`")).join(", ")),
        };
        return Err(Refusal::usage(Code::E067, format!("there is no kind of connector `{kind}`"), help));
    }
    let mut problems = Vec::new();
    secrets(config, &Path::key("config"), &mut problems);
    if !problems.is_empty() {
        return Err(refusal_of(&problems));
    }
    let doc = ConnectorDoc {
        id: session.new_id(),
        name: name.to_owned(),
        kind: kind.to_owned(),
        config: text_of(&Value::Object(config.clone())),
        created_at: session.clock.now(),
        created_by: session.user.clone(),
    };
    log::commit(session, || {
        if all(session)?.iter().any(|known| known.name == name) {
            let message = format!("there is a connector `{name}` already");
            return Err(Refusal::usage(Code::E116, message, "choose another name, or remove it with `connector rm`"));
        }
        let mut batch = Batch::durable();
        batch.expect(connector_key(&doc.id), None);
        batch.put(connector_key(&doc.id), doc.to_bytes()?);
        let note = format!("connector `{name}` of kind {kind} is added");
        Ok(log::logged(&session.store, &log::upkeep_entry(session, "connector", "", note), batch)?)
    })?;
    Ok(doc)
}

/// Every connector, by name.
pub fn ls(session: &Session) -> Outcome<Vec<Listed>> {
    session.must_manage("connector")?;
    let mut listed = Vec::new();
    for connector in all(session)? {
        let credentials =
            credentials(session, &connector.id)?.into_iter().map(|(_, doc)| (doc.scope_type, doc.scope_id));
        listed.push(Listed { credentials: credentials.collect(), connector });
    }
    Ok(listed)
}

/// Removes a connector, with its credentials and the keys they were sealed under.
pub fn rm(session: &Session, name: &str) -> Outcome<ConnectorDoc> {
    session.must_manage("connector")?;
    let connector = find(session, name)?;
    log::commit(session, || {
        if let Some((slug, display)) = source::using(session, &connector.id)?.first() {
            let message = format!("connector `{}` is used by source `{display}` of `{slug}`", connector.name);
            return Err(Refusal::usage(Code::E103, message, "remove the source first, with `heldset source rm`"));
        }
        let mut batch = Batch::durable();
        batch.expect(connector_key(&connector.id), Some(connector.to_bytes()?));
        batch.delete(connector_key(&connector.id));
        for (key, _) in credentials(session, &connector.id)? {
            batch.delete(key);
        }
        let note = format!("connector `{}` is removed", connector.name);
        Ok(log::logged(&session.store, &log::upkeep_entry(session, "connector", "", note), batch)?)
    })?;
    session.store.keys().forget(&connector.id)?;
    Ok(connector)
}

/// The connector with this id or name.
pub fn find(session: &Session, name: &str) -> Outcome<ConnectorDoc> {
    let all = all(session)?;
    if let Some(found) =
        all.iter().find(|known| known.id == name).or_else(|| all.iter().find(|known| known.name == name))
    {
        return Ok(found.clone());
    }
    let known = all.iter().map(|known| known.name.as_str());
    Err(Refusal::unknown(format!("there is no connector `{name}`"), name, known))
}

pub(crate) fn credentials(session: &Session, connector: &str) -> Outcome<Vec<(Key, CredentialDoc)>> {
    let mut found = Vec::new();
    for (_, bytes) in session.store.catalog().scan("credential", &prefix(&[connector]))? {
        let doc = CredentialDoc::from_bytes(&bytes, "catalog: a credential")?;
        found.push((credential_key(connector, &doc.scope_type, &doc.scope_id), doc));
    }
    Ok(found)
}

fn all(session: &Session) -> Outcome<Vec<ConnectorDoc>> {
    let entries = session.store.catalog().scan("connector", "")?;
    let read = entries.iter().map(|(_, bytes)| ConnectorDoc::from_bytes(bytes, "catalog: a connector"));
    let mut all: Vec<ConnectorDoc> = read.collect::<Result<_, _>>()?;
    all.sort_by(|one, two| one.name.cmp(&two.name));
    Ok(all)
}

fn check_name(name: &str) -> Outcome<()> {
    let why = match name.trim() {
        "" => Some("is empty"),
        trimmed if trimmed != name => Some("starts or ends with a space"),
        _ if name.chars().count() > LONGEST => Some("has more than 200 characters"),
        _ => name_problem(name),
    };
    why.map_or(Ok(()), |why| {
        Err(Refusal::usage(Code::E067, format!("the name `{name}` {why}"), "choose another name for the connector"))
    })
}

/// All problems as one refusal: the first with its advice, and what else there is.
pub(crate) fn refusal_of(problems: &[Problem]) -> Box<Refusal> {
    let texts: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
    let first = problems.first();
    let code = first.map_or(Code::E067, |problem| problem.code);
    let help = first.and_then(|problem| problem.help.clone()).unwrap_or_default();
    Refusal::usage(code, texts.join("; "), help)
}

pub(crate) fn text_of(value: &Value<'_>) -> String {
    String::from_utf8(canonical::bytes(value)).expect("canonical bytes are UTF-8")
}
