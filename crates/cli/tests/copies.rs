//! `heldset copies`.

use crate::store;

#[test]
fn every_export_and_mount_is_listed_with_its_expiry() {
    let kept = store();
    kept.file("cases.jsonl", "{\"id\":\"1\",\"input\":\"q\",\"expected_output\":\"a\"}\n");
    kept.file("policy.yaml", "movement: {evaluator_only: {retain_days: 30}}\n");
    kept.fine(&["import", "cases", "cases.jsonl", "-q", "--policy", "policy.yaml"]);
    assert_eq!(kept.fine(&["copies", "cases", "--json"]), "[]\n");
    kept.fine(&["export", "cases", "--to", "jsonl", "-o", "out.jsonl"]);
    let listed = kept.fine(&["copies", "cases", "--json"]);
    for part in [
        "\"kind\":\"export\"",
        "\"audience\":\"owner\"",
        "\"place\":\"control_plane\"",
        "/out.jsonl\"",
        "\"labels\":[\"agent_visible\",\"evaluator_only\",\"internal\"]",
        "\"expires_at\":\"2",
        "\"state\":\"kept\"",
    ] {
        assert!(listed.contains(part), "{part}: {listed}");
    }
    kept.fine(&["mount", "cases", "work", "--as", "agent"]);
    let text = kept.fine(&["copies", "cases"]);
    assert!(text.contains("mount for agent") && text.lines().count() == 2, "{text}");
    assert!(kept.fine(&["copies", "cases", "--json"]).contains("\"expires_at\":null"));
}

#[test]
fn copies_are_for_those_who_run_the_store() {
    let kept = store();
    for slug in ["cases", "absent"] {
        let ran = kept.run(&["copies", slug, "--as", "agent"]);
        assert!(ran.code == 5 && ran.err.contains("E120") && !ran.err.contains(slug), "{}", ran.err);
    }
    assert_eq!(kept.run(&["copies", "absent"]).code, 2);
}
