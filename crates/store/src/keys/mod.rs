//! The keys of a store, which never lie in it.
//!
//! *Invariant:* only the owner can read a key file; keys are wiped from memory and have no `Debug`; a key file that
//! was changed is refused.

mod disk;
mod file;
mod memory;
mod text;

pub use disk::DiskKeys;
pub use file::KeyFile;
pub use memory::MemoryKeys;

use ed25519_dalek::SigningKey;
use heldset_core::digest::CommitKey;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::entropy::{Entropy, random};
use crate::error::StoreError;
use crate::seal::SealKey;

/// The keys of one dataset: one that commits for ever, and those that seal, the newest last.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct DatasetKeys {
    commit: [u8; 32],
    seals: Vec<(u32, [u8; 32])>,
}

/// Where keys are kept.
pub trait Keys: Send + Sync {
    /// The keys of a dataset; nothing if they are not here.
    fn load(&self, dataset: &str) -> Result<Option<DatasetKeys>, StoreError>;

    /// Keeps the keys of a dataset, in place of those it had.
    fn save(&self, dataset: &str, keys: &DatasetKeys) -> Result<(), StoreError>;

    /// Removes the keys of a dataset; says whether they were there.
    fn forget(&self, dataset: &str) -> Result<bool, StoreError>;

    /// The ids of all datasets with keys here, sorted.
    fn list(&self) -> Result<Vec<String>, StoreError>;

    /// The key that signs checkpoints of the audit log.
    fn audit(&self) -> Result<Option<SigningKey>, StoreError>;

    /// Keeps the key that signs checkpoints; a conflict if there is one.
    fn save_audit(&self, key: &SigningKey) -> Result<(), StoreError>;
}

impl DatasetKeys {
    /// New keys, the sealing one with number 1.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        DatasetKeys { commit: random(entropy), seals: vec![(1, random(entropy))] }
    }

    /// What these keys make of a dataset's id; keyed, so that it says nothing of them.
    pub fn check(&self, dataset: &str) -> String {
        self.commit_key().row_key("key\n", dataset).commit("key", &[]).hex()
    }

    /// The key of commitments.
    pub fn commit_key(&self) -> CommitKey {
        CommitKey::new(self.commit)
    }

    /// The key that new objects are sealed under.
    pub fn newest(&self) -> SealKey {
        let (id, bytes) = self.seals.last().expect("there is at least one sealing key");
        SealKey::new(*id, *bytes)
    }

    /// The sealing key of that number.
    pub fn seal_key(&self, id: u32) -> Option<SealKey> {
        let (id, bytes) = self.seals.iter().find(|(known, _)| *known == id)?;
        Some(SealKey::new(*id, *bytes))
    }

    /// Adds a sealing key for new objects; the old ones still open what they sealed.
    pub fn rotate(&mut self, entropy: &dyn Entropy) {
        let id = self.newest().id() + 1;
        self.seals.push((id, random(entropy)));
    }

    /// The keys as text, as they are kept and exported.
    pub fn to_text(&self) -> Zeroizing<Vec<u8>> {
        text::write_dataset(self)
    }

    /// Reads keys from text; `what` names it in errors.
    pub fn from_text(text: &[u8], what: &str) -> Result<Self, StoreError> {
        text::read_dataset(text, what)
    }
}
