//! Keys on their way to another place: one file with the keys of many datasets of one store.
//!
//! *Invariant:* the file says which store it is of; each key in it carries its own check.

use heldset_core::value::{Object, Value};
use heldset_core::{canonical, json};
use zeroize::Zeroizing;

use super::{DatasetKeys, text};
use crate::error::{StoreError, other_format};
use ed25519_dalek::SigningKey;

const FORMAT: &str = "heldset/key-file/1";

/// The keys of a store, as they are exported.
pub struct KeyFile {
    /// The id of the store.
    pub store: String,
    /// For each dataset its id, its slug and its keys.
    pub datasets: Vec<(String, String, DatasetKeys)>,
    /// The key that signs checkpoints of the audit log.
    pub audit: Option<SigningKey>,
}

impl KeyFile {
    /// The file as text.
    pub fn to_text(&self) -> Zeroizing<Vec<u8>> {
        // Room for all of it, so that no piece is left behind by growing.
        let mut out = Zeroizing::new(Vec::with_capacity(1024 + 4096 * self.datasets.len()));
        out.extend_from_slice(b"{\"audit\":");
        match &self.audit {
            Some(key) => out.extend_from_slice(text::write_audit(key).trim_ascii_end()),
            None => out.extend_from_slice(b"null"),
        }
        out.extend_from_slice(b",\"datasets\":[");
        for (index, (id, slug, keys)) in self.datasets.iter().enumerate() {
            out.extend_from_slice(if index > 0 { b",{\"id\":" } else { b"{\"id\":" });
            canonical::write_text(id, &mut out);
            out.extend_from_slice(b",\"keys\":");
            out.extend_from_slice(keys.to_text().trim_ascii_end());
            out.extend_from_slice(b",\"slug\":");
            canonical::write_text(slug, &mut out);
            out.push(b'}');
        }
        out.extend_from_slice(format!("],\"format\":\"{FORMAT}\",\"store\":").as_bytes());
        canonical::write_text(&self.store, &mut out);
        out.extend_from_slice(b"}\n");
        out
    }

    /// Reads such a file; `what` names it in errors.
    pub fn from_text(bytes: &[u8], what: &str) -> Result<Self, StoreError> {
        let damaged = || StoreError::damaged(what);
        let value = json::read(str::from_utf8(bytes).map_err(|_| damaged())?).map_err(|_| damaged())?;
        let members = value.as_object().ok_or_else(damaged)?;
        let found = member(members, "format").ok_or_else(damaged)?;
        if found != FORMAT {
            return Err(other_format(found, FORMAT).unwrap_or_else(damaged));
        }
        let audit = match members.get("audit").ok_or_else(damaged)? {
            Value::Null => None,
            key => Some(text::read_audit(&as_text(key), what)?),
        };
        let mut datasets = Vec::new();
        for dataset in members.get("datasets").and_then(Value::as_array).ok_or_else(damaged)? {
            let dataset = dataset.as_object().ok_or_else(damaged)?;
            let keys = DatasetKeys::from_text(&as_text(dataset.get("keys").ok_or_else(damaged)?), what)?;
            let (id, slug) = member(dataset, "id").zip(member(dataset, "slug")).ok_or_else(damaged)?;
            datasets.push((id.to_owned(), slug.to_owned(), keys));
        }
        Ok(KeyFile { store: member(members, "store").ok_or_else(damaged)?.to_owned(), datasets, audit })
    }
}

fn member<'m>(members: &'m Object<'_>, name: &str) -> Option<&'m str> {
    members.get(name).and_then(Value::as_str)
}

fn as_text(value: &Value<'_>) -> Zeroizing<Vec<u8>> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(4096));
    canonical::write(value, &mut bytes);
    bytes.push(b'\n');
    bytes
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::entropy::Entropy;

    struct Ones;

    impl Entropy for Ones {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(1);
        }
    }

    #[test]
    fn a_key_file_is_read_back_and_a_changed_one_is_refused() {
        let mut keys = DatasetKeys::generate(&Ones);
        keys.rotate(&Ones);
        let datasets = vec![("id-1".to_owned(), "trips".to_owned(), keys)];
        let file = KeyFile { store: "s".to_owned(), datasets, audit: Some(SigningKey::from_bytes(&[2; 32])) };
        let written = file.to_text();
        let read = KeyFile::from_text(&written, "keys").unwrap();
        assert_eq!((*read.to_text()).clone(), *written);
        let text = str::from_utf8(&written).unwrap();
        for (from, to) in [("0101", "0102"), ("0202", "0302"), ("[2,", "[3,"), ("key-file/1", "other/1"), ("{", "[")] {
            let changed = text.replacen(from, to, 1);
            assert!(matches!(KeyFile::from_text(changed.as_bytes(), "keys"), Err(StoreError::Damaged { .. })), "{to}");
        }
        let newer = KeyFile::from_text(text.replace("key-file/1", "key-file/2").as_bytes(), "keys");
        assert!(matches!(newer, Err(StoreError::NewerFormat { .. })));
    }
}
