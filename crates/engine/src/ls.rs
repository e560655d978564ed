//! `ls`: the datasets of a store.

use heldset_store::documents::{DatasetDoc, version_key};

use crate::refusal::Outcome;
use crate::resolve::{ERASED, Resolved, datasets, policy_of, versions};
use crate::session::Session;
use crate::view::visible_splits;

/// A dataset in a list.
pub struct Listed {
    /// The dataset.
    pub dataset: DatasetDoc,
    /// The digest of its newest version.
    pub digest: String,
    /// How its newest version came to be.
    pub mode: String,
    /// How many rows of the newest version can be seen.
    pub rows: u64,
    /// When the newest version was registered.
    pub updated_at: String,
}

/// Lists the datasets by slug.
pub fn ls(session: &Session) -> Outcome<Vec<Listed>> {
    let mut listed = Vec::new();
    for dataset in datasets(&session.store)? {
        if dataset.deletion_status == ERASED {
            let updated_at = dataset.created_at.clone();
            listed.push(Listed { dataset, digest: String::new(), mode: ERASED.to_owned(), rows: 0, updated_at });
            continue;
        }
        // The newest may be past its time and dropped; of some datasets nothing is left.
        let head = session.store.document(&version_key(&dataset.id, dataset.head))?;
        let newest = match head {
            Some(head) => Some(head),
            None => versions(&session.store, &dataset)?.pop(),
        };
        let Some(version) = newest else {
            // Of some nothing is left; of others there is nothing yet.
            if dataset.head == 0 {
                let updated_at = dataset.created_at.clone();
                listed.push(Listed { dataset, digest: String::new(), mode: String::new(), rows: 0, updated_at });
            }
            continue;
        };
        let policy = policy_of(&version)?;
        let resolved = Resolved { dataset, version, policy };
        let rows = visible_splits(session, &resolved)?.iter().map(|split| split.doc.rows).sum();
        let Resolved { dataset, version, .. } = resolved;
        listed.push(Listed {
            dataset,
            digest: version.digest,
            mode: version.mode,
            rows,
            updated_at: version.created_at,
        });
    }
    Ok(listed)
}
