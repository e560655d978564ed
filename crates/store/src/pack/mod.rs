//! Packs: rows at rest, one columnar object per visibility label, all with the same order of rows.
//!
//! *Invariant:* cells of different labels never share an object. What is read back has the canonical bytes of what
//! was written: typed columns hold what they hold exactly, and `_rest` holds everything else.

mod columns;
mod draft;
mod encode;
mod group;
mod ids;
mod rest;
mod scan;
mod source;
mod stage;
mod trim;

pub use draft::PackDraft;
pub use encode::encode;
pub use group::Group;
pub use ids::{find_rows, id_hash, id_index};
pub use scan::Scan;
pub use source::Source;
pub use stage::{Shape, Staged, Stager};
pub(crate) use trim::trim;

/// Rows after which a pack is closed.
pub const PACK_ROWS: usize = 65_536;
/// Bytes of cells after which a pack is closed.
pub const PACK_BYTES: usize = 48 << 20;

/// The tag of the format, in the metadata of each columnar object.
const FORMAT: &str = "heldset/pack/1";
/// The key of that tag.
const FORMAT_KEY: &str = "heldset:format";
/// The key, in the metadata of a column, of the kind of its cells.
const KIND_KEY: &str = "heldset:kind";
/// The column of what no typed column holds.
const REST: &str = "_rest";
/// The column of ids.
const ID: &str = "id";
