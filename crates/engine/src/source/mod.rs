//! `source`: what a dataset is filled from: declared, tested, previewed, synced.
//!
//! *Invariant:* rows pass the mapping and the privacy filters before anything of them is written down; what a source
//! gave is registered whole or not at all.

mod commit;
mod declare;
mod frame;
mod look;
mod merge;
mod pull;
mod replay;
mod shape;
mod sync;

pub use declare::{add, last_sync, ls, rm, update};
pub use look::{Live, Previewed, Records, Tested, live, preview, sample_rows, test};
pub use replay::replay_of;
pub use sync::{SourceReport, SyncMode, SyncRequest, Synced, sync};

pub(crate) use replay::{forget, unnamed};

use heldset_core::json;
use heldset_core::mapping::SourceDeclaration;
use heldset_store::StoreError;
use heldset_store::documents::{DatasetDoc, Document, prefix};
use heldset_store::registry::{ConnectorDoc, FeedDoc};

use crate::connector;
use crate::credential;
use crate::feeds::{FeedRequest, Feeds};
use crate::refusal::{Outcome, Refusal};
use crate::resolve::{self, mapping};
use crate::session::Session;

/// Who opens sources, and where names of files start.
#[derive(Clone, Copy)]
pub struct Reach<'r> {
    /// Who opens them.
    pub feeds: &'r dyn Feeds,
    /// Where names of files start.
    pub folder: &'r str,
}

/// A source as it is kept, with all that is needed to read it.
pub struct Source {
    /// The id of its dataset.
    pub dataset: String,
    /// What the catalogue keeps of it.
    pub doc: FeedDoc,
    /// What was declared.
    pub declared: SourceDeclaration,
    /// How the system is reached.
    pub connector: ConnectorDoc,
}

impl Source {
    /// The source that a document is.
    fn of(session: &Session, dataset: &str, doc: FeedDoc) -> Outcome<Source> {
        let damaged = || StoreError::damaged("catalog: a source");
        let value = json::read(&doc.declared).map_err(|_| damaged())?;
        let declared = SourceDeclaration::from_value(&value).map_err(|_| damaged())?;
        let connector = connector::find(session, &declared.connector)?;
        Ok(Source { dataset: dataset.to_owned(), doc, declared, connector })
    }

    /// What is asked of the system, with the secret that the caller may use.
    fn request(&self, session: &Session, reach: Reach<'_>) -> Outcome<FeedRequest> {
        let secret = credential::secret_for(session, &self.connector, self.declared.scope.as_ref())?;
        let missing = |salt: &&str| secret.as_ref().is_none_or(|secret| !secret.contains(salt));
        if let Some(salt) = self.declared.privacy.salts().find(missing) {
            let message =
                format!("a privacy filter hashes with the salt `{salt}`, and the credential has no such member");
            let help = format!("add `{salt}` to the credential with `heldset credential set`, or leave `salt` out");
            return Err(Refusal::usage(heldset_core::code::Code::E067, message, help));
        }
        Ok(FeedRequest {
            kind: self.connector.kind.clone(),
            config: mapping(&self.connector.config),
            operation: self.declared.operation.clone(),
            operation_config: self.declared.operation_config.clone(),
            secret,
            after: None,
            limit: None,
            folder: reach.folder.to_owned(),
        })
    }
}

/// The dataset and its sources, in the order they were added.
fn of_dataset(session: &Session, slug: &str) -> Outcome<(DatasetDoc, Vec<FeedDoc>)> {
    let dataset = resolve::dataset(&session.store, slug)?;
    let docs = docs(session, &dataset.id)?;
    Ok((dataset, docs))
}

pub(crate) fn docs(session: &Session, dataset: &str) -> Outcome<Vec<FeedDoc>> {
    let entries = session.store.catalog().scan("feed", &prefix(&[dataset]))?;
    let read = entries.iter().map(|(_, bytes)| FeedDoc::from_bytes(bytes, "catalog: a source"));
    let mut docs: Vec<FeedDoc> = read.collect::<Result<_, _>>()?;
    docs.sort_by(|one, two| (&one.created_at, &one.id).cmp(&(&two.created_at, &two.id)));
    Ok(docs)
}

/// Some sources of a dataset, by id or name; all when none is named.
fn chosen(session: &Session, slug: &str, names: &[String]) -> Outcome<(DatasetDoc, Vec<Source>)> {
    let (dataset, docs) = of_dataset(session, slug)?;
    if docs.is_empty() {
        let message = format!("dataset `{slug}` has no source");
        return Err(Refusal::usage(heldset_core::code::Code::E102, message, "add one with `heldset source add`"));
    }
    for name in names {
        named(&docs, slug, name)?;
    }
    let wanted =
        |doc: &FeedDoc| names.is_empty() || names.iter().any(|name| *name == doc.id || *name == doc.display_name);
    let sources = docs.into_iter().filter(wanted).map(|doc| Source::of(session, &dataset.id, doc));
    let sources = sources.collect::<Outcome<_>>()?;
    Ok((dataset, sources))
}

fn named<'d>(docs: &'d [FeedDoc], slug: &str, name: &str) -> Outcome<&'d FeedDoc> {
    let found = docs.iter().find(|doc| doc.id == name).or_else(|| docs.iter().find(|doc| doc.display_name == name));
    found.ok_or_else(|| {
        let known = docs.iter().map(|doc| doc.display_name.as_str());
        Refusal::unknown(format!("dataset `{slug}` has no source `{name}`"), name, known)
    })
}

/// The sources that use a connector: dataset and name.
pub(crate) fn using(session: &Session, connector: &str) -> Outcome<Vec<(String, String)>> {
    let mut found = Vec::new();
    for dataset in resolve::datasets(&session.store)? {
        for doc in docs(session, &dataset.id)? {
            let declared = mapping(&doc.declared);
            if declared.get("connector_instance_id").and_then(|id| id.as_str()) == Some(connector) {
                found.push((dataset.slug.clone(), doc.display_name));
            }
        }
    }
    Ok(found)
}
