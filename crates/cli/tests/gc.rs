//! `heldset gc`: what nothing refers to.

use crate::Store;

#[test]
fn objects_that_nothing_names_go_and_the_rest_stays() {
    let kept = Store::with_questions();
    let before = kept.files(".heldset/objects");
    let rows = kept.fine(&["cat", "questions"]);
    let name = "aa11111111111111111111111111111111111111111111111111111111111111";
    std::fs::create_dir_all(kept.path().join(".heldset/objects/aa")).unwrap();
    kept.file(&format!(".heldset/objects/aa/{}", &name[2..]), "orphan");
    let expected = "\"dropped_objects\":1,\"freed_bytes\":6,\"dropped_versions\":[],\"kept\":[],\"merged_packs\":0}\n";
    for (args, dry) in [(&["gc", "--dry-run", "--json"][..], "true"), (&["gc", "--json"], "false")] {
        assert_eq!(kept.fine(args), format!("{{\"dry_run\":{dry},{expected}"));
    }
    assert_eq!(kept.files(".heldset/objects"), before);
    assert_eq!(kept.fine(&["cat", "questions"]), rows);
    assert_eq!(kept.run(&["gc", "--as", "trainer"]).code, 5);
}

#[test]
fn nothing_is_dropped_while_somebody_writes() {
    let kept = Store::with_questions();
    let lock = std::fs::File::open(kept.path().join(".heldset/lock"));
    let lock = lock.or_else(|_| std::fs::File::create(kept.path().join(".heldset/lock"))).unwrap();
    lock.lock_shared().unwrap();
    for args in [&["gc"][..], &["erase", "questions", "q1", "--reason", "why"]] {
        let ran = kept.run(args);
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(ran.err.contains("E112"), "{}", ran.err);
    }
    assert!(kept.fine(&["doctor"]).contains("warn  lock"));
    lock.unlock().unwrap();
    kept.fine(&["gc"]);
}

#[test]
fn many_changes_of_one_record_leave_one_pack_and_every_version() {
    let kept = Store::with_questions();
    for number in 0..18 {
        kept.file("more.jsonl", format!("{{\"id\":\"q2\",\"input\":\"try {number}\"}}\n"));
        kept.fine(&["import", "questions", "more.jsonl", "--upsert", "-q"]);
    }
    let old = kept.fine(&["cat", "questions@5", "--ids", "q2"]);
    let objects = kept.files(".heldset/objects").len();
    kept.fine(&["gc"]);
    let left = kept.files(".heldset/objects").len();
    assert!(left < 20 && left < objects, "{objects} objects became {left}: small packs are merged as they come");
    assert_eq!(kept.fine(&["verify", "--json"]).matches("\"ok\":true").count(), 19);
    assert_eq!(kept.fine(&["cat", "questions@5", "--ids", "q2"]), old);
    assert!(old.contains("try 3"), "{old}");
}
