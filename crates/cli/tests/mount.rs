//! `heldset mount`.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use crate::{Store, store};

/// A dataset with open records, sealed records and open files.
fn mixed() -> Store {
    let kept = store();
    fs::create_dir_all(kept.path().join("maps/deep")).unwrap();
    kept.file("maps/deep/a.bin", [7; 9]).file("rows.jsonl", "{\"id\":\"1\",\"text\":\"prompt\"}\n");
    kept.fine(&["import", "mixed", "rows.jsonl", "-q", "--split", "prompts"]);
    kept.fine(&["import", "mixed", "rows.jsonl", "-q", "--split", "hidden", "--visibility", "evaluator_only"]);
    kept.fine(&["import", "mixed", "maps", "--files", "--split", "maps"]);
    kept
}

fn names(kept: &Store, folder: &str) -> Vec<String> {
    let root = kept.path().join(folder);
    let name = |path: &std::path::Path| path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
    kept.files(folder).iter().map(|(path, _)| name(path)).collect()
}

#[test]
fn a_mount_is_a_read_only_folder_with_what_its_audience_sees() {
    let kept = mixed();
    let said = kept.fine(&["mount", "mixed@3", "work", "--as", "agent", "--json"]);
    assert!(said.contains("\"audience\":\"agent\"") && !said.contains("hidden"), "{said}");
    assert_eq!(names(&kept, "work"), ["heldset.json", "maps/deep/a.bin", "prompts.jsonl"]);
    let manifest = fs::read_to_string(kept.path().join("work/heldset.json")).unwrap();
    assert!(manifest.contains("\"version\":3") && manifest.contains("\"audience\":\"agent\""), "{manifest}");
    assert!(!manifest.contains("hidden") && manifest.contains("\"digest\":\"sha256:"), "{manifest}");
    for (path, mode) in [("work", 0o555), ("work/maps/deep", 0o555), ("work/maps/deep/a.bin", 0o444)] {
        let about = fs::metadata(kept.path().join(path)).unwrap();
        assert_eq!(about.permissions().mode() & 0o777, mode, "{path}");
        assert!(about.is_dir() || about.nlink() == 1, "{path} is a link");
    }
    kept.fine(&["mount", "mixed", "all"]);
    assert_eq!(names(&kept, "all"), ["heldset.json", "hidden.jsonl", "maps/deep/a.bin", "prompts.jsonl"]);
}

#[test]
fn a_mount_takes_a_new_or_empty_folder_only() {
    let kept = mixed();
    fs::create_dir(kept.path().join("empty")).unwrap();
    kept.fine(&["mount", "mixed", "empty"]);
    for taken in ["empty", "maps", "rows.jsonl"] {
        let ran = kept.run(&["mount", "mixed", taken]);
        assert!(ran.code == 2 && ran.err.contains("E116"), "{taken}: {}", ran.err);
    }
}

#[test]
fn a_pinned_file_that_changed_is_told_and_nothing_is_left_behind() {
    let kept = mixed();
    kept.fine(&["import", "maps", "maps", "--files", "--mode", "mounted"]);
    kept.fine(&["mount", "maps", "good"]);
    let entries = || fs::read_dir(kept.path()).unwrap().count();
    let before = entries();
    kept.file("maps/deep/a.bin", [8; 9]);
    let ran = kept.run(&["mount", "maps", "bad"]);
    assert!(ran.code == 6 && ran.err.contains("E131") && ran.err.contains("maps/deep/a.bin"), "{}", ran.err);
    fs::remove_file(kept.path().join("maps/deep/a.bin")).unwrap();
    assert_eq!(kept.run(&["mount", "maps", "bad"]).code, 6);
    assert_eq!(entries(), before);
    assert_eq!(kept.fine(&["copies", "maps"]).lines().count(), 1);
}
