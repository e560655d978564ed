//! Policies that are stated, and answers that nobody labelled.

use crate::store;

#[test]
fn an_invalid_policy_is_refused_with_its_place() {
    let kept = store();
    kept.file("rows.jsonl", "{\"id\":\"1\",\"text\":\"a\"}\n");
    for (policy, said) in [
        ("movement: {internal: {places: everywhere}}", "`movement.internal.places` must be a list of places"),
        ("fields: {text: evaluator_only}\nsplits: {default: operator_only}", "nobody can read"),
        ("field: {text: internal}", "field"),
    ] {
        let ran = kept.file("policy.yaml", policy).run(&["import", "rows", "rows.jsonl", "--policy", "policy.yaml"]);
        assert!(ran.code == 2 && ran.err.contains("E043") && ran.err.contains(said), "{policy}: {}", ran.err);
    }
    assert_eq!(kept.fine(&["ls"]), "");
}

#[test]
fn an_answer_in_plain_records_is_refused_until_it_is_labelled() {
    let kept = store();
    kept.file("rows.jsonl", "{\"id\":\"1\",\"ground_truth\":\"a\"}\n");
    let import = ["import", "rows", "rows.jsonl", "--format", "records", "-q"];
    let ran = kept.run(&import);
    assert!(ran.code == 3 && ran.err.contains("E040") && ran.err.contains("ground_truth"), "{}", ran.err);
    kept.fine(&[&import[..], &["--label", "ground_truth=evaluator_only"]].concat());
    assert_eq!(kept.fine(&["cat", "rows", "--as", "agent"]), "{\"id\":\"1\"}\n");
}
