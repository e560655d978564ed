//! What the catalogue holds of the registry: schemas, principals, connectors, sources, reviews, edges of lineage.
//!
//! *Invariant:* a secret is only ever here as a sealed note.

use serde::{Deserialize, Serialize};

use crate::catalog::Key;
use crate::documents::{Document, formats};

/// A registered schema of a dataset; the newest holds for what is imported next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemaDoc {
    /// Its number, from 1.
    pub number: u64,
    /// The schema as canonical text.
    pub schema: String,
    /// `breaking` or `non_breaking`, as it was computed.
    pub change_type: String,
    /// What was said of the change.
    pub change_summary: Option<String>,
    /// When it was registered.
    pub created_at: String,
    /// Who registered it.
    pub created_by: String,
}

/// Somebody who acts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrincipalDoc {
    /// A UUID.
    pub id: String,
    /// The name, which the user of the machine goes by.
    pub name: String,
    /// The teams, sorted.
    pub teams: Vec<String>,
    /// The organisation.
    pub organization: Option<String>,
}

/// That a principal reviewed a version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewDoc {
    /// The principal's id.
    pub principal: String,
    /// The principal's name.
    pub name: String,
    /// When.
    pub time: String,
    /// What was said.
    pub message: Option<String>,
}

/// What holds for a whole store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigDoc {
    /// The region that the store lies in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// What a registration must come with; the usual when nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub require: Option<Vec<String>>,
}

/// That sealed material of a dataset was found in a place where agents can reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeakDoc {
    /// The place that was searched.
    pub place: String,
    /// How many findings there were.
    pub findings: u64,
    /// When.
    pub time: String,
}

/// An instance of a connector: how a system is reached, without its secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectorDoc {
    /// A UUID.
    pub id: String,
    /// The name for people, unique.
    pub name: String,
    /// `file`, `http`, `jira`, `sql`, `bucket`, `git`, `huggingface`.
    pub kind: String,
    /// Its configuration, as canonical text.
    pub config: String,
    /// When it was made.
    pub created_at: String,
    /// Who made it.
    pub created_by: String,
}

/// A credential of a connector for one scope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CredentialDoc {
    /// `user`, `team`, `organization`.
    pub scope_type: String,
    /// The principal, team or organisation.
    pub scope_id: String,
    /// The secret: a mapping, sealed and in hex.
    pub secret: String,
    /// When it was set.
    pub set_at: String,
}

/// A source of a dataset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedDoc {
    /// A UUID.
    pub id: String,
    /// The name for people.
    pub display_name: String,
    /// The whole of it as it was declared, as canonical text.
    pub declared: String,
    /// When it was added.
    pub created_at: String,
    /// Who added it.
    pub created_by: String,
    /// When it was last synced.
    pub synced_at: Option<String>,
    /// The number of the version that the last sync made, or found again.
    pub synced_version: Option<u64>,
    /// What the last sync did, as canonical text, sealed and in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
}

/// An edge of lineage: `child` came from `parent`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EdgeDoc {
    /// What was made.
    pub child: NodeDoc,
    /// What it was made from, or by.
    pub parent: NodeDoc,
    /// `derived_from`, `prepared_from`, `generated_by`, `promoted_from`, `synced_from`, `looked_up_in`, `evaluated_by`.
    pub relationship: String,
    /// When it was written.
    pub time: String,
}

/// One end of an edge.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NodeDoc {
    /// `dataset`, `run`, `source`.
    pub kind: String,
    /// The slug of the dataset, the id of the run, the name of the source.
    pub name: String,
    /// The number of the version, of a dataset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// The digest of the version, or the id of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// What was done in a preparation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreparationDoc {
    /// A UUID.
    pub id: String,
    /// The slug of the dataset that was made.
    pub dataset: String,
    /// For which audience.
    pub audience: String,
    /// The rules and the ids that were left out, sealed and in hex: they may name what is sealed.
    pub record: String,
    /// When.
    pub time: String,
    /// Who.
    pub who: String,
}

formats! {
    PreparationDoc => "heldset/preparation/1",
    SchemaDoc => "heldset/schema/1",
    PrincipalDoc => "heldset/principal/1",
    ReviewDoc => "heldset/review/1",
    ConfigDoc => "heldset/config/1",
    LeakDoc => "heldset/leak/1",
    ConnectorDoc => "heldset/connector/1",
    CredentialDoc => "heldset/credential/1",
    FeedDoc => "heldset/feed/1",
    EdgeDoc => "heldset/edge/1",
}

/// The key of a registered schema.
pub fn schema_key(dataset: &str, number: u64) -> Key {
    Key::new("schema", format!("{dataset}\n{number:010}"))
}

/// The key of a principal.
pub fn principal_key(name: &str) -> Key {
    Key::new("principal", name)
}

/// The key of a review of a version.
pub fn review_key(dataset: &str, version: u64, principal: &str) -> Key {
    Key::new("review", format!("{dataset}\n{version:010}\n{principal}"))
}

/// The key of what holds for the whole store.
pub fn config_key() -> Key {
    Key::new("config", "store")
}

/// The key of the findings of a dataset in a place.
pub fn leak_key(dataset: &str, place: &str) -> Key {
    Key::new("leak", format!("{dataset}\n{place}"))
}

/// The key of a connector.
pub fn connector_key(id: &str) -> Key {
    Key::new("connector", id)
}

/// The key of a credential.
pub fn credential_key(connector: &str, scope_type: &str, scope_id: &str) -> Key {
    Key::new("credential", format!("{connector}\n{scope_type}\n{scope_id}"))
}

/// The key of a source of a dataset.
pub fn feed_key(dataset: &str, id: &str) -> Key {
    Key::new("feed", format!("{dataset}\n{id}"))
}

/// The key of a preparation.
pub fn preparation_key(dataset: &str, id: &str) -> Key {
    Key::new("preparation", format!("{dataset}\n{id}"))
}

/// The key of an edge; the edges of one child lie together.
pub fn edge_key(edge: &EdgeDoc) -> Key {
    let end = |node: &NodeDoc| {
        let version = node.version.map_or_else(String::new, |version| format!("@{version:010}"));
        format!("{}:{}{version}", node.kind, node.name)
    };
    Key::new("edge", format!("{}\n{}\n{}", end(&edge.child), edge.relationship, end(&edge.parent)))
}
