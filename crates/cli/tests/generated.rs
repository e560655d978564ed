//! Generated versions: `import --mode generated`.

use crate::{Store, store};

/// A store with an open dataset and one of cases.
fn parents() -> Store {
    let kept = store();
    kept.file("open.jsonl", "{\"id\":\"1\",\"move\":\"e4\"}\n");
    kept.file("cases.jsonl", "{\"id\":\"1\",\"input\":\"q\",\"expected_output\":\"a\"}\n");
    kept.fine(&["import", "openings", "open.jsonl", "-q"]);
    kept.fine(&["import", "cases", "cases.jsonl", "-q"]);
    kept
}

const MADE: &[&str] = &["import", "games", "open.jsonl", "-q", "--mode", "generated"];

#[test]
fn a_generated_version_says_what_made_it() {
    let kept = parents();
    for (more, missing) in [
        (&[][..], &["--run", "--parent", "--code"][..]),
        (&["--run", "r", "--code", "c"], &["--parent"]),
        (&["--parent", "openings@1", "--parent", "run:r"], &["--code"]),
        (&["--parent", "openings@1", "--code", "c"], &["--run"]),
    ] {
        let ran = kept.run(&[MADE, more].concat());
        assert!(ran.code == 2 && ran.err.contains("E044"), "{more:?}: {}", ran.err);
        for option in ["--run", "--parent", "--code"] {
            assert_eq!(ran.err.contains(option), missing.contains(&option), "{more:?} {option}: {}", ran.err);
        }
    }
    let whole = ["--parent", "openings@1", "--run", "r-8421", "--code", "c0ffee", "--agent", "go-9", "--seed", "7"];
    let whole = [&whole[..], &["--generation-policy", "greedy", "--filter", "won", "--redaction", "names"]].concat();
    kept.fine(&[MADE, &whole].concat());
    let shown = kept.fine(&["show", "games", "--json"]);
    let parent = kept.fine(&["history", "openings", "--json"]);
    let digest = parent.split('"').find(|text| text.starts_with("sha256:")).unwrap();
    for part in [
        "\"mode\":\"generated\"",
        "\"run\":\"r-8421\"",
        "\"code\":\"c0ffee\"",
        "\"agent\":\"go-9\"",
        "\"seed\":\"7\"",
        "\"policy\":\"greedy\"",
        "\"filters\":[\"won\"]",
        "\"redaction\":[\"names\"]",
        &format!("{{\"cited\":\"dataset:openings@1\",\"digest\":\"{digest}\"}}"),
        &format!("\"parents\":[\"{digest}\"]"),
    ] {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }
    assert!(kept.fine(&[MADE, &whole, &["--json"]].concat()).contains("\"created\":false"));
}

#[test]
fn a_parent_must_be_there_and_belongs_to_a_generated_version() {
    let kept = parents();
    let ran = kept.run(&[MADE, &["--parent", "opening@1", "--run", "r", "--code", "c"]].concat());
    assert!(ran.code == 2 && ran.err.contains("did you mean `openings`?"), "{}", ran.err);
    let ran = kept.run(&["import", "games", "open.jsonl", "--parent", "openings@1"]);
    assert!(ran.code == 2 && ran.err.contains("E103"), "{}", ran.err);
}

#[test]
fn what_is_derived_lets_out_no_more_than_its_parents() {
    let kept = parents();
    let from = |parent: &'static str| [MADE, &["--parent", parent, "--run", "r", "--code", "c"]].concat();
    let ran = kept.run(&from("cases@1"));
    assert!(ran.code == 5 && ran.err.contains("E121") && ran.err.contains("evaluator_only"), "{}", ran.err);
    let ran = kept.run(&[&from("openings@1")[..], &["--visibility", "public"]].concat());
    assert!(ran.code == 5 && ran.err.contains("E122"), "{}", ran.err);
    assert_eq!(kept.files("keys").len(), 2, "a refused import leaves no key behind");
    kept.fine(&[&from("cases@1")[..], &["--declassify", "only moves"]].concat());
    assert!(kept.fine(&["show", "games", "--json"]).contains("\"declassified\":\"only moves\""));
}

#[test]
fn a_policy_may_allow_derived_records_under_a_label_as_narrow() {
    let kept = parents();
    let policy = "movement: {evaluator_only: {derived: records}, internal: {derived: records}}";
    kept.file("policy.yaml", policy);
    kept.fine(&["import", "cases", "--policy", "policy.yaml", "--declassify", "for training", "-q"]);
    let made = [MADE, &["--parent", "cases@2", "--run", "r", "--code", "c"]].concat();
    let ran = kept.run(&made);
    assert!(ran.code == 5 && ran.err.contains("E122"), "{}", ran.err);
    kept.fine(&[&made[..], &["--visibility", "evaluator_only"]].concat());
}
