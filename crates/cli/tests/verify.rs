//! `heldset verify` on stores that are whole and stores that are not.

use crate::Store;

#[test]
fn every_version_of_a_whole_store_verifies() {
    let kept = Store::with_questions();
    kept.file("more.jsonl", "{\"id\":\"q4\",\"input\":\"why\",\"expected_output\":null,\"n\":[1.5,{}]}\n");
    kept.fine(&["import", "questions", "more.jsonl", "--upsert", "--quiet"]);
    let out = kept.fine(&["verify", "--json"]);
    assert_eq!(out.matches("\"ok\":true").count(), 2, "{out}");
    assert_eq!(out.matches("\"problems\":[]").count(), 2, "{out}");
    let text = kept.fine(&["verify", "questions@1"]);
    assert!(text.starts_with("questions@1 sha256:") && text.ends_with(" ok, 3 rows\n"), "{text}");
    for audience in ["operator", "evaluator"] {
        kept.fine(&["verify", "--as", audience]);
    }
}

#[test]
fn an_audience_that_only_looks_at_data_may_not_verify_even_what_does_not_exist() {
    let kept = Store::with_questions();
    let known = kept.run(&["verify", "questions", "--as", "agent"]);
    let unknown = kept.run(&["verify", "nothing", "--as", "agent"]);
    assert_eq!((known.code, &known.err), (5, &unknown.err));
    assert!(known.err.contains("E120"), "{}", known.err);
}

#[test]
fn a_flipped_bit_or_a_lost_object_is_named_with_its_version_split_and_chunk() {
    for lost in [false, true] {
        let kept = Store::with_questions();
        kept.file("other.jsonl", "{\"id\":\"a\",\"text\":\"b\"}\n").fine(&["import", "another", "other.jsonl", "-q"]);
        let (path, mut bytes) = kept.largest_object();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        match lost {
            true => std::fs::remove_file(&path).unwrap(),
            false => std::fs::write(&path, bytes).unwrap(),
        }
        let ran = kept.run(&["verify", "--json"]);
        assert_eq!(ran.code, 6, "{}", ran.out);
        assert_eq!(ran.out.matches("\"ok\":false").count(), 1, "{}", ran.out);
        assert_eq!(ran.out.matches("\"ok\":true").count(), 1, "the other dataset is whole: {}", ran.out);
        let name = path.file_name().unwrap().to_str().unwrap();
        for part in
            [name, "\"chunk\":\"", "\"split\":\"default\"", if lost { "it is missing" } else { "it is damaged" }]
        {
            assert!(ran.out.contains(part), "{part}: {}", ran.out);
        }
        assert!(kept.run(&["verify"]).out.contains(name));
    }
}

#[test]
fn sealed_versions_need_their_keys_and_open_ones_do_not() {
    let kept = Store::with_questions();
    kept.file("open.jsonl", "{\"id\":\"a\",\"text\":\"b\"}\n");
    kept.fine(&["import", "open", "open.jsonl", "-q", "--visibility", "public", "--label", "text=public"]);
    kept.file("policy.yaml", "splits: {default: public}\ndefault: public\n");
    kept.fine(&["import", "opened", "open.jsonl", "-q", "--policy", "policy.yaml"]);
    std::fs::remove_dir_all(kept.path().join("keys")).unwrap();
    let ran = kept.run(&["verify", "questions"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("E114"), "{}", ran.err);
    kept.fine(&["verify", "opened"]);
}

#[test]
fn a_record_that_changes_twice_leaves_every_version_whole() {
    let kept = Store::with_questions();
    kept.file("policy.yaml", "splits: {default: public}\ndefault: public\n");
    kept.file("rows.jsonl", "{\"id\":\"a\",\"text\":\"one\"}\n");
    kept.fine(&["import", "open", "rows.jsonl", "-q", "--policy", "policy.yaml"]);
    for text in ["two", "three"] {
        kept.file("rows.jsonl", format!("{{\"id\":\"a\",\"text\":\"{text}\"}}\n"));
        kept.fine(&["import", "open", "rows.jsonl", "-q", "--upsert"]);
    }
    kept.fine(&["verify"]);
    assert!(kept.fine(&["cat", "open@2"]).contains("two"));
}
