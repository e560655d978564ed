//! `heldset doctor`: each finding with its fix.

use std::os::unix::fs::PermissionsExt;

use crate::{Store, heldset};

#[test]
fn a_healthy_store_only_reminds_of_a_backup_until_there_is_one() {
    let kept = Store::with_questions();
    let out = kept.fine(&["doctor", "--quiet"]);
    assert!(out.starts_with("warn  backup") && out.contains("heldset keys export"), "{out}");
    kept.fine(&["keys", "export", "-o", "backup.json"]);
    assert_eq!(kept.fine(&["doctor", "--quiet"]), "");
    let json = kept.fine(&["doctor", "--json"]);
    assert!(json.starts_with("[{\"check\":\"store\",\"state\":\"ok\"") && !json.contains("\"warn\""), "{json}");
    assert_eq!(kept.run(&["doctor", "--as", "agent"]).code, 5);
}

#[test]
fn what_is_wrong_fails_with_its_fix() {
    let kept = Store::with_questions();
    let keys = kept.files("keys")[0].0.clone();
    std::fs::set_permissions(&keys, std::fs::Permissions::from_mode(0o644)).unwrap();
    let ran = kept.run(&["doctor"]);
    assert!(ran.code == 1 && ran.out.contains("fail  modes") && ran.out.contains("chmod"), "{}", ran.out);
    std::fs::remove_dir_all(kept.path().join("keys")).unwrap();
    let ran = kept.run(&["doctor"]);
    assert!(ran.code == 1 && ran.out.contains("fail  keys") && ran.out.contains("keys import"), "{}", ran.out);
    let empty = tempfile::tempdir().unwrap();
    let ran = heldset(empty.path(), &["doctor", "--store", "nowhere", "--json"]);
    assert!(ran.code == 1 && ran.out.contains("\"state\":\"fail\"") && ran.out.contains("init"), "{}", ran.out);
}
