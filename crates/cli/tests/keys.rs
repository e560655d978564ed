//! `heldset keys`: out of the store's reach and back.

use std::os::unix::fs::PermissionsExt;

use crate::Store;

#[test]
fn keys_come_back_and_open_what_is_sealed() {
    let kept = Store::with_questions();
    kept.fine(&["audit", "checkpoint", "-o", "checkpoint.json"]);
    let rows = kept.fine(&["cat", "questions"]);
    let printed = kept.run(&["keys", "export", "-o", "backup.json", "--json"]);
    assert!(printed.out.contains("\"datasets\":[\"questions\"],\"missing\":[],\"signer\":true"), "{}", printed.out);
    let path = kept.path().join("backup.json");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let secret = std::fs::read_to_string(&path).unwrap();
    let commit = secret.split("\"commit\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    assert!(!(printed.out + &printed.err).contains(&commit));
    assert_eq!(kept.fine(&["keys", "export", "-o", "-"]), secret);
    std::fs::remove_dir_all(kept.path().join("keys")).unwrap();
    assert!(kept.run(&["cat", "questions"]).err.contains("E114"));
    assert!(kept.fine(&["keys", "import", "backup.json", "--json"]).starts_with("{\"added\":[\"questions\"]"));
    assert_eq!(kept.fine(&["cat", "questions"]), rows);
    kept.fine(&["audit", "verify", "--checkpoint", "checkpoint.json"]);
    assert!(kept.fine(&["keys", "import", "backup.json", "--json"]).contains("\"kept\":[\"questions\"]"));
    assert!(kept.fine(&["audit"]).contains("the keys of 1 datasets are exported"));
}

#[test]
fn what_is_there_is_not_replaced_unasked() {
    let kept = Store::with_questions();
    kept.file("backup.json", "mine");
    let ran = kept.run(&["keys", "export", "-o", "backup.json"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("E116"), "{}", ran.err);
    assert_eq!(std::fs::read(kept.path().join("backup.json")).unwrap(), b"mine");
    kept.fine(&["keys", "export", "-o", "backup.json", "--force"]);
    assert_eq!(kept.path().join("backup.json").metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(kept.run(&["keys", "export", "-o", ".heldset/keys.json"]).code, 2);
    for args in [&["keys", "export", "-o", "-"][..], &["keys", "import", "backup.json"]] {
        assert_eq!(kept.run(&[args, &["--as", "evaluator"]].concat()).code, 5);
    }
}

#[test]
fn keys_of_another_store_or_other_keys_are_refused_whole() {
    let (kept, other) = (Store::with_questions(), Store::with_questions());
    other.fine(&["keys", "export", "-o", "backup.json"]);
    let foreign = std::fs::read_to_string(other.path().join("backup.json")).unwrap();
    let ran = kept.file("foreign.json", &foreign).run(&["keys", "import", "foreign.json"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("these are keys of the store"), "{}", ran.err);
    kept.fine(&["keys", "export", "-o", "own.json"]);
    let own = std::fs::read_to_string(kept.path().join("own.json")).unwrap();
    let keys = |text: &str| text.split("\"keys\":").nth(1).unwrap().split(",\"slug\"").next().unwrap().to_owned();
    kept.file("mixed.json", own.replace(&keys(&own), &keys(&foreign)));
    let ran = kept.run(&["keys", "import", "mixed.json"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("E116") && ran.err.contains("nothing was imported"), "{}", ran.err);
    assert_eq!(kept.file("torn.json", &own[..own.len() / 2]).run(&["keys", "import", "torn.json"]).code, 6);
    kept.fine(&["verify"]);
}
