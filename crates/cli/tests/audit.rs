//! `heldset audit`: the log, its checkpoints, and what they prove.

use crate::{Store, store};

#[test]
fn entries_are_listed_newest_last_and_by_dataset() {
    let kept = Store::with_questions();
    kept.fine(&["cat", "questions"]);
    let out = kept.fine(&["audit", "--json"]);
    let at = |text: &str| out.find(text).unwrap_or_else(|| panic!("{text}: {out}"));
    assert!(at("\"number\":0") < at("\"number\":1") && at("\"purpose\":\"import\"") < at("\"purpose\":\"cat\""));
    assert_eq!(kept.fine(&["audit", "--limit", "1"]).lines().count(), 1);
    assert_eq!(kept.fine(&["audit", "--dataset", "another", "--json"]), "[]\n");
    for args in [&["audit"][..], &["audit", "checkpoint"], &["audit", "verify"]] {
        assert_eq!(kept.run(&[args, &["--as", "agent"]].concat()).code, 5, "{args:?}");
    }
}

#[test]
fn a_log_that_grew_agrees_with_its_checkpoints() {
    let kept = Store::with_questions();
    kept.fine(&["audit", "checkpoint", "-o", "one.json"]);
    kept.fine(&["cat", "questions"]);
    std::fs::write(kept.path().join("two.json"), kept.fine(&["audit", "checkpoint"])).unwrap();
    kept.fine(&["cat", "questions"]);
    let out = kept.fine(&["audit", "verify", "--checkpoint", "one.json", "--checkpoint", "two.json", "--json"]);
    assert!(out.starts_with("{\"ok\":true,\"entries\":3,"), "{out}");
}

#[test]
fn a_log_that_was_set_back_or_a_checkpoint_that_was_changed_is_found() {
    let kept = Store::with_questions();
    let catalog = kept.files(".heldset").into_iter().filter(|(path, _)| path.to_string_lossy().contains("catalog.db"));
    let catalog: Vec<_> = catalog.collect();
    kept.fine(&["cat", "questions"]);
    kept.fine(&["audit", "checkpoint", "-o", "one.json"]);
    let checkpoint = std::fs::read_to_string(kept.path().join("one.json")).unwrap();
    kept.file("forged.json", checkpoint.replace("\"size\":2", "\"size\":1"));
    let forged = kept.run(&["audit", "verify", "--checkpoint", "forged.json"]);
    assert_eq!(forged.code, 6);
    assert!(forged.out.contains("the signature does not fit"), "{}", forged.out);
    for (path, _) in kept.files(".heldset").iter().filter(|(path, _)| path.to_string_lossy().contains("catalog.db")) {
        std::fs::remove_file(path).unwrap();
    }
    catalog.iter().for_each(|(path, bytes)| std::fs::write(path, bytes).unwrap());
    kept.fine(&["audit", "verify"]);
    let back = kept.run(&["audit", "verify", "--checkpoint", "one.json"]);
    assert_eq!(back.code, 6);
    assert!(back.out.contains("the log has 1 entries; there were 2 at"), "{}", back.out);
    let other = store();
    other.file("one.json", &checkpoint).fine(&["audit", "checkpoint"]);
    let ran = other.run(&["audit", "verify", "--checkpoint", "one.json"]);
    assert_eq!(ran.code, 6);
    assert!(ran.out.contains("another key") && ran.out.contains("is of store"), "{}", ran.out);
    assert_eq!(kept.file("bad.json", "{}").run(&["audit", "verify", "--checkpoint", "bad.json"]).code, 2);
}
