//! One suite of facts for keys on disk and in memory, and what their files are like.

use std::fs;
use std::path::Path;

use ed25519_dalek::SigningKey;
use heldset_store::{DatasetKeys, DiskKeys, Keys, MemoryKeys, StoreError};

use crate::seeded::{Seeded, free, refuse};

fn both(fact: impl Fn(&dyn Keys)) {
    fact(&MemoryKeys::new());
    let folder = tempfile::tempdir().unwrap();
    fact(&DiskKeys::new(&folder.path().join("keys"), "store-1", free()));
}

fn text(keys: &DatasetKeys) -> Vec<u8> {
    keys.to_text().to_vec()
}

#[test]
fn keys_are_there_until_they_are_forgotten() {
    both(|keys| {
        assert!(keys.load("d1").unwrap().is_none() && keys.list().unwrap().is_empty() && !keys.forget("d1").unwrap());
        let mut made = DatasetKeys::generate(&Seeded::new(1));
        keys.save("d1", &made).unwrap();
        keys.save("d0", &DatasetKeys::generate(&Seeded::new(2))).unwrap();
        assert_eq!(text(&keys.load("d1").unwrap().unwrap()), text(&made));
        made.rotate(&Seeded::new(3));
        keys.save("d1", &made).unwrap();
        assert_eq!(text(&keys.load("d1").unwrap().unwrap()), text(&made));
        assert_eq!(keys.list().unwrap(), ["d0", "d1"]);
        assert!(keys.forget("d1").unwrap() && keys.load("d1").unwrap().is_none());
        assert_eq!(keys.list().unwrap(), ["d0"]);
    });
}

#[test]
fn the_key_of_the_audit_log_is_kept_once() {
    both(|keys| {
        assert!(keys.audit().unwrap().is_none());
        let made = SigningKey::from_bytes(&[7; 32]);
        keys.save_audit(&made).unwrap();
        assert!(matches!(keys.save_audit(&SigningKey::from_bytes(&[8; 32])), Err(StoreError::Conflict)));
        assert_eq!(keys.audit().unwrap().unwrap().to_bytes(), made.to_bytes());
        assert!(keys.list().unwrap().is_empty());
    });
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_them() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = tempfile::tempdir().unwrap();
    let keys = DiskKeys::new(&folder.path().join("keys"), "store-1", free());
    keys.save("d1", &DatasetKeys::generate(&Seeded::new(1))).unwrap();
    keys.save_audit(&SigningKey::from_bytes(&[7; 32])).unwrap();
    assert_eq!((mode(&folder.path().join("keys")), mode(keys.folder())), (0o700, 0o700));
    let files: Vec<_> = keys.folder().read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 2);
    assert!(files.iter().all(|file| mode(file) == 0o600));
}

#[test]
fn a_key_file_that_was_changed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let keys = DiskKeys::new(folder.path(), "store-1", free());
    keys.save("d1", &DatasetKeys::generate(&Seeded::new(1))).unwrap();
    keys.save_audit(&SigningKey::from_bytes(&[7; 32])).unwrap();
    for (name, fails) in [
        ("d1.key", (|keys: &DiskKeys| keys.load("d1").is_err()) as fn(&DiskKeys) -> bool),
        ("audit.signer", |keys| keys.audit().is_err()),
    ] {
        let path = keys.folder().join(name);
        let whole = fs::read(&path).unwrap();
        for byte in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[byte] ^= 1 << (byte % 8);
            fs::write(&path, flipped).unwrap();
            assert!(fails(&keys), "byte {byte} of {name}");
        }
        fs::write(&path, &whole).unwrap();
        assert!(!fails(&keys));
    }
}

#[test]
fn an_unknown_format_is_refused_by_name() {
    let text = String::from_utf8(text(&DatasetKeys::generate(&Seeded::new(1)))).unwrap();
    let read = |text: &str| DatasetKeys::from_text(text.as_bytes(), "it").err().unwrap();
    let newer = read(&text.replace("keys/1", "keys/2"));
    assert!(matches!(newer, StoreError::NewerFormat { found } if found == "heldset/keys/2"));
    for other in
        [text.replace("keys/1", "keys/x"), text.replace("heldset/keys", "else/keys"), "{}".to_owned(), String::new()]
    {
        assert!(matches!(read(&other), StoreError::Damaged { what } if what == "it"));
    }
}

#[test]
fn an_id_does_not_lead_out_of_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let keys = DiskKeys::new(folder.path(), "store-1", free());
    for id in ["", "../d1", "a/b", ".", "a.b", "a\0"] {
        assert!(keys.save(id, &DatasetKeys::generate(&Seeded::new(1))).is_err(), "{id}");
        assert!(keys.load(id).is_err(), "{id}");
    }
}

#[test]
fn what_an_interrupted_save_left_is_forgotten_with_the_key() {
    let folder = tempfile::tempdir().unwrap();
    let keys = DiskKeys::new(folder.path(), "store-1", free());
    keys.save("d1", &DatasetKeys::generate(&Seeded::new(1))).unwrap();
    let left = keys.folder().join("new-1-2-d1.key");
    fs::write(&left, "half a key").unwrap();
    assert_eq!(keys.list().unwrap(), ["d1"]);
    keys.forget("d1").unwrap();
    assert!(!left.exists());
}

#[test]
fn a_refused_save_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let keys = DiskKeys::new(folder.path(), "store-1", refuse("key"));
    assert!(keys.save("d1", &DatasetKeys::generate(&Seeded::new(1))).unwrap_err().is_full());
    assert!(keys.save_audit(&SigningKey::from_bytes(&[7; 32])).unwrap_err().is_full());
    assert!(keys.load("d1").unwrap().is_none() && keys.audit().unwrap().is_none());
}
