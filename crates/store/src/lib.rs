//! Heldset at rest: objects by digest, the catalogue that names them, sealing, and the keys that lie elsewhere.
//!
//! *Invariant:* no rules of its own; nothing here knows a dialect, a clock or a source of randomness. What was
//! acknowledged is on disk, and what is read is checked before it is handed out.

pub mod catalog;
pub mod documents;
mod durable;
mod entropy;
mod error;
mod file;
mod folder;
mod journal;
mod keys;
mod lock;
mod objects;
pub mod pack;
mod probe;
pub mod registry;
pub mod run;
mod seal;
mod segments;
mod sign;
mod store;

pub use catalog::{Batch, Catalog, Key, MemoryCatalog, SqliteCatalog};
pub use entropy::{Entropy, random};
pub use error::{Kind, StoreError};
pub use file::FileBytes;
pub use folder::{StoreFolder, StoreHead};
pub use journal::{Frames, Journal};
pub use keys::{DatasetKeys, DiskKeys, KeyFile, Keys, MemoryKeys};
pub use lock::{Held, Lock};
pub use objects::{Address, Fetch, Objects};
pub use probe::{NoProbe, Probe};
pub use seal::{Heading, SealKey, SealedHeader, SealedReader, seal, unseal};
pub use segments::{CheckedReader, RangeRead, SEGMENT, Segments};
pub use sign::{Signed, is_signed, public_key, sign};
pub use store::{Sealing, Store};
