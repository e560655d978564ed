//! `heldset erase`: gone from every version, and every old digest still verifies.

use crate::Store;

fn holds(bytes: &[u8], token: &str) -> bool {
    bytes.windows(token.len()).any(|window| window == token.as_bytes())
}

#[test]
fn an_erased_record_is_nowhere_in_the_store_and_old_digests_verify() {
    let kept = Store::with_questions();
    kept.file("more.jsonl", "{\"id\":\"q2\",\"input\":\"the eiger again\",\"expected_output\":\"token-new\"}\n");
    kept.fine(&["import", "questions", "more.jsonl", "--upsert", "-q"]);
    let before = kept.fine(&["history", "questions"]);
    let old = kept.files(".heldset/objects");
    assert!(old.iter().any(|(_, bytes)| holds(bytes, "eiger")), "an open text is there to be found");
    let out = kept.fine(&["erase", "questions", "q2", "--reason", "request 4711", "--json"]);
    assert!(out.contains("\"rows\":2,\"splits\":[\"default\"],\"versions\":[1,2]"), "{out}");
    for (path, bytes) in kept.files(".heldset") {
        for token in ["eiger", "token-two", "token-new", "\"q2\""] {
            assert!(!holds(&bytes, token), "{token} in {}", path.display());
        }
        assert!(!old.iter().any(|(gone, _)| *gone == path), "{} had the record in it", path.display());
    }
    for cite in ["questions@1", "questions@2"] {
        let rows = kept.fine(&["cat", cite]);
        assert!(rows.contains("q1") && rows.contains("q3") && !rows.contains("q2"), "{rows}");
    }
    assert_eq!(kept.fine(&["verify", "--json"]).matches("\"ok\":true").count(), 2);
    assert_eq!(kept.fine(&["history", "questions"]), before);
    assert!(kept.fine(&["scrub", "--json"]).ends_with("\"problems\":[],\"orphans\":0}\n"));
    assert!(kept.fine(&["show", "questions", "--json"]).contains("\"deletion_status\":\"partial\""));
    assert!(kept.fine(&["audit"]).contains("a record is erased: request 4711"));
    kept.fine(&["audit", "verify"]);
}

#[test]
fn the_others_are_erased_as_well_and_a_record_that_is_not_there_is_told() {
    let kept = Store::with_questions();
    for id in ["q3", "q1", "q2"] {
        kept.fine(&["erase", "questions", id, "--reason", "all", "-q"]);
        kept.fine(&["verify"]);
    }
    assert_eq!(kept.fine(&["cat", "questions"]), "");
    for (args, code) in [
        (&["erase", "questions", "q1", "--reason", "again"][..], 2),
        (&["erase", "nothing", "q1", "--reason", "why"], 2),
        (&["erase", "questions", "q1", "--split", "none", "--reason", "why"], 2),
        (&["erase", "questions", "q1"], 2),
        (&["erase", "questions", "q1", "--reason", " "], 2),
        (&["erase", "questions", "q1", "--reason", "why", "--as", "agent"], 5),
        (&["erase", "nothing", "q1", "--reason", "why", "--as", "agent"], 5),
    ] {
        assert_eq!(kept.run(args).code, code, "{args:?}");
    }
}

#[test]
fn sealed_fields_cannot_be_rewritten_without_their_key() {
    let kept = Store::with_questions();
    std::fs::rename(kept.path().join("keys"), kept.path().join("aside")).unwrap();
    let ran = kept.run(&["erase", "questions", "q2", "--reason", "why"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("E114"), "{}", ran.err);
    std::fs::rename(kept.path().join("aside"), kept.path().join("keys")).unwrap();
    assert!(kept.fine(&["cat", "questions"]).contains("token-two"), "nothing was changed");
}

#[test]
fn only_the_owner_erases_and_carries_keys() {
    let kept = Store::with_questions();
    for args in [
        &["erase", "questions", "q1", "--reason", "r"][..],
        &["erase", "nothing", "x", "--reason", "r"],
        &["keys", "export", "-o", "-"],
    ] {
        let ran = kept.run(&[args, &["--as", "operator"]].concat());
        assert_eq!((ran.code, ran.out.as_str()), (5, ""), "{args:?}");
        assert!(ran.err.contains("E120"), "{}", ran.err);
    }
    assert_eq!(kept.fine(&["cat", "questions"]).lines().count(), 3);
}

#[test]
fn an_operator_does_not_change_what_an_operator_does_not_see() {
    let kept = Store::with_questions();
    kept.file("guess.jsonl", "{\"id\":\"q1\",\"input\":\"how long is the nile\",\"expected_output\":\"token-one\"}\n");
    for args in [
        &["import", "questions", "guess.jsonl", "--upsert"][..],
        &["import", "questions", "guess.jsonl"],
        &["import", "questions", "--remove", "q1"],
        &["import", "questions", "--label", "expected_output=internal", "--declassify", "mine"],
        &["record", "rm", "questions", "q1"],
    ] {
        let ran = kept.run(&[args, &["--as", "operator"]].concat());
        assert_eq!(ran.code, 5, "{args:?}: {}{}", ran.out, ran.err);
    }
    assert_eq!(kept.fine(&["history", "questions"]).lines().count(), 1);
    let ran = kept.run(&["cat", "questions", "--as", "agent", "--as=evaluator"]);
    assert_eq!(ran.code, 2, "{}", ran.out);
    let ran = kept.run(&["--as", "agent", "cat", "questions", "--as", "evaluator"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
}

#[test]
fn the_key_of_another_dataset_is_not_taken() {
    let kept = Store::with_questions();
    kept.file("other.jsonl", "{\"id\":\"o\",\"input\":\"x\",\"expected_output\":\"y\"}\n").fine(&[
        "import",
        "other",
        "other.jsonl",
        "-q",
    ]);
    let keys: Vec<_> =
        kept.files("keys").into_iter().filter(|(path, _)| path.extension().is_some_and(|e| e == "key")).collect();
    assert_eq!(keys.len(), 2);
    std::fs::write(&keys[0].0, &keys[1].1).unwrap();
    std::fs::write(&keys[1].0, &keys[0].1).unwrap();
    for args in [&["cat", "other"][..], &["import", "other", "other.jsonl"]] {
        let ran = kept.run(args);
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.err);
        assert!(ran.err.contains("E114"), "{}", ran.err);
    }
    assert!(kept.fine(&["cat", "other", "--as", "agent"]).contains("\"o\""));
}
