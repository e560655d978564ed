//! Splits of files, imported with `--files`.

use std::fs;
use std::os::unix::fs::symlink;

use heldset_core::digest::sha256;

use crate::{Store, store};

fn media() -> Store {
    let kept = store();
    fs::create_dir_all(kept.path().join("media/maps")).unwrap();
    kept.file("media/rules.txt", "castle early").file("media/maps/a.bin", [0, 1, 2]);
    kept
}

#[test]
fn files_are_kept_as_they_are_and_the_same_files_make_no_new_version() {
    let kept = media();
    assert!(kept.fine(&["import", "media", "media", "--files", "--json"]).contains("\"created\":true"));
    let rules = format!(
        "{{\"path\":\"maps/a.bin\",\"size\":3,\"sha256\":\"{}\"}}\n{{\"path\":\"rules.txt\",\"size\":12,\"sha256\":\"{}\"}}\n",
        sha256(&[0, 1, 2]),
        sha256(b"castle early")
    );
    assert_eq!(kept.fine(&["cat", "media"]), rules);
    assert!(kept.fine(&["import", "media", "media", "--files", "--json"]).contains("\"created\":false"));
    kept.file("media/rules.txt", "castle late");
    assert!(kept.fine(&["import", "media", "media", "--files", "--json"]).contains("\"version\":2"));
    assert_eq!(kept.fine(&["cat", "media@1"]), rules);
}

#[test]
fn sealed_files_are_not_in_the_store_in_the_clear_and_agents_do_not_know_them() {
    let kept = media();
    kept.fine(&["import", "media", "media", "--files", "--visibility", "evaluator_only", "-q"]);
    assert_eq!(kept.fine(&["cat", "media", "--as", "agent"]), "");
    let listed = kept.fine(&["cat", "media", "--as", "evaluator"]);
    assert!(listed.contains("rules.txt") && !listed.contains(&sha256(b"castle early").hex()));
    for (path, bytes) in kept.files(".heldset") {
        assert!(!bytes.windows(12).any(|window| window == b"castle early"), "{}", path.display());
    }
    assert!(kept.fine(&["import", "media", "media", "--files", "--json"]).contains("\"created\":false"));
}

#[test]
fn relabelled_files_are_sealed_and_opened_again() {
    let kept = media();
    kept.fine(&["import", "media", "media", "--files"]);
    let open = kept.fine(&["cat", "media"]);
    kept.fine(&["import", "media", "--visibility", "internal"]);
    assert_ne!(kept.fine(&["cat", "media"]), open);
    assert_eq!(kept.run(&["import", "media", "--visibility", "agent_visible"]).code, 5);
    kept.fine(&["import", "media", "--visibility", "agent_visible", "--declassify", "game over"]);
    assert_eq!(kept.fine(&["cat", "media", "--as", "agent"]), open);
    kept.fine(&["mount", "media@2", "at-2"]);
    kept.fine(&["mount", "media@3", "at-3"]);
    for folder in ["at-2", "at-3"] {
        assert_eq!(fs::read(kept.path().join(folder).join("default/rules.txt")).unwrap(), b"castle early");
    }
}

#[test]
fn what_is_not_a_file_in_the_folder_is_refused_with_its_path() {
    let kept = media();
    symlink("/etc/hostname", kept.path().join("media/out")).unwrap();
    let ran = kept.run(&["import", "media", "media", "--files"]);
    assert!(ran.code == 3 && ran.err.contains("E020") && ran.err.contains("media/out"), "{}", ran.err);
    fs::remove_file(kept.path().join("media/out")).unwrap();
    symlink("maps", kept.path().join("media/again")).unwrap();
    let ran = kept.run(&["import", "media", "media", "--files"]);
    assert!(ran.code == 2 && ran.err.contains("media/again"), "{}", ran.err);
    fs::remove_file(kept.path().join("media/again")).unwrap();
    symlink("rules.txt", kept.path().join("media/same")).unwrap();
    assert_eq!(kept.run(&["import", "media", "media", "--files"]).code, 0);
    fs::create_dir(kept.path().join("empty")).unwrap();
    let ran = kept.run(&["import", "void", "empty", "--files"]);
    assert!(ran.code == 3 && ran.err.contains("E023"), "{}", ran.err);
    let ran = kept.run(&["import", "twice", "media", "media", "--files"]);
    assert!(ran.code == 3 && ran.err.contains("there twice"), "{}", ran.err);
    assert_eq!(kept.fine(&["ls"]).lines().count(), 1);
}

#[test]
fn mounted_files_stay_where_they_are_and_are_never_sealed() {
    let kept = media();
    kept.fine(&["import", "media", "media", "--files", "--mode", "mounted"]);
    let shown = kept.fine(&["show", "media", "--json"]);
    assert!(shown.contains("\"mode\":\"mounted\"") && shown.contains("\"access\":\"read_only\""), "{shown}");
    assert!(kept.files(".heldset/objects").is_empty());
    for (args, code) in [
        (&["import", "media", "--visibility", "internal"][..], "E103"),
        (&["import", "other", "media", "--files", "--mode", "mounted", "--visibility", "internal"], "E103"),
        (&["import", "other", "media/rules.txt", "--mode", "mounted"], "E103"),
    ] {
        let ran = kept.run(args);
        assert!(ran.code == 2 && ran.err.contains(code), "{args:?}: {}", ran.err);
    }
    assert_eq!(kept.fine(&["ls"]).lines().count(), 1);
}

#[test]
fn what_is_stored_stays_stored_when_the_same_files_are_mounted_later() {
    let kept = media();
    kept.fine(&["import", "media", "media", "--files"]);
    kept.file("media/rules.txt", "other rules").fine(&["import", "media", "media", "--files"]);
    kept.file("media/rules.txt", "castle early").fine(&["import", "media", "media", "--files", "--mode", "mounted"]);
    fs::remove_dir_all(kept.path().join("media")).unwrap();
    kept.fine(&["mount", "media@1", "at"]);
    assert_eq!(fs::read(kept.path().join("at/default/rules.txt")).unwrap(), b"castle early");
}
