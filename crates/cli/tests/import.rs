//! `heldset import`: versions from files, again, in part, and with history.

use crate::{Ran, Store, store};

fn rows(count: usize, edited: Option<usize>) -> String {
    let row = |index: usize| {
        let answer = if edited == Some(index) { "changed".to_owned() } else { format!("answer {}", index % 7) };
        let input = format!("question number {index} with some words so that a file of them is long enough");
        format!("{{\"id\":\"r{index}\",\"input\":\"{input}\",\"expected_output\":\"{answer}\"}}\n")
    };
    (0..count).map(row).collect()
}

fn import(store: &Store, slug: &str, name: &str, text: &str) -> (String, bool) {
    store.write(name, text);
    let out = store.fine(&["import", slug, name, "--json"]);
    let digest = out.split("\"digest\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    (digest, out.contains("\"created\":true"))
}

/// The same records as a list, which is never read in stretches.
fn as_list(lines: &str) -> String {
    format!("[{}]", lines.lines().filter(|line| !line.trim().is_empty()).collect::<Vec<_>>().join(",\n"))
}

#[test]
fn a_file_of_which_parts_are_known_gives_the_version_that_a_full_reading_gives() {
    let store = store();
    let first = rows(6000, None);
    assert!(import(&store, "long-one", "a.jsonl", &first).1);
    let line = |index: usize| rows(6000, None).lines().nth(index).unwrap().to_owned() + "\n";
    let without = |index: usize| first.replacen(&line(index), "", 1);
    let cases = [
        rows(6000, Some(3000)),
        rows(6000, Some(5999)),
        rows(6100, None),
        without(4000),
        without(5998) + &line(5998),
        first.replacen(&line(4500), &format!("\n   \n{}", line(4500)), 1),
        first.replacen("{\"id\":\"r5000\"", "{ \"id\" : \"r5000\"", 1),
        rows(6000, Some(1)),
        first[..first.len() / 2].rsplit_once('\n').unwrap().0.to_owned(),
        rows(6000, None),
    ];
    for (index, text) in cases.iter().enumerate() {
        let (digest, _) = import(&store, "long-one", "a.jsonl", text);
        let (again, created) = import(&store, "long-one", "list.json", &as_list(text.trim()));
        assert_eq!((digest, false), (again, created), "case {index}");
    }
    store.fine(&["verify", "long-one"]);
}

#[test]
fn an_id_that_a_known_part_has_too_is_still_a_duplicate() {
    let store = store();
    let first = rows(6000, None);
    import(&store, "long-one", "a.jsonl", &first);
    let repeated = first.clone() + &rows(1, None);
    store.write("a.jsonl", &repeated);
    let Ran { code, err, .. } = store.run(&["import", "long-one", "a.jsonl"]);
    assert_eq!(code, 3);
    assert!(err.contains("error[E012]") && err.contains("a.jsonl:6001"), "{err}");
    assert_eq!(store.fine(&["history", "long-one"]).lines().count(), 1);
}

#[test]
fn an_upsert_and_a_removal_make_the_version_of_the_whole_changed_file() {
    let store = store();
    import(&store, "changing", "a.jsonl", &rows(3000, None));
    store.write(
        "some.jsonl",
        "{\"id\":\"r1500\",\"input\":\"new\",\"expected_output\":\"x\"}\n{\"id\":\"last\",\"input\":\"more\"}\n",
    );
    store.fine(&["import", "changing", "some.jsonl", "--upsert", "--remove", "r7,r2999", "--quiet"]);
    let expected: String = rows(3000, None)
        .lines()
        .filter(|line| !line.contains("\"r7\"") && !line.contains("\"r2999\""))
        .map(|line| match line.contains("\"r1500\"") {
            true => "{\"id\":\"r1500\",\"input\":\"new\",\"expected_output\":\"x\"}\n".to_owned(),
            false => format!("{line}\n"),
        })
        .chain(["{\"id\":\"last\",\"input\":\"more\"}\n".to_owned()])
        .collect();
    let (_, created) = import(&store, "changing", "whole.jsonl", &expected);
    assert!(!created, "{}", store.fine(&["diff", "changing@2", "changing@3"]));
    let ran = store.run(&["import", "changing", "--remove", "r7"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
}

#[test]
fn older_versions_of_records_become_older_versions_of_the_dataset() {
    let store = store();
    let case = |version: u32, prompt: &str| {
        format!(
            "{{\"id\":\"tc-001\",\"name\":\"n\",\"version\":{version},\"initialPrompt\":\"{prompt}\",\"expectedOutcomes\":[\"o\"],\"labels\":[]}}"
        )
    };
    let other = "{\"id\":\"tc-002\",\"name\":\"m\",\"version\":1,\"initialPrompt\":\"b\",\"expectedOutcomes\":[\"o\"],\"labels\":[]}";
    let text = format!("[{},{},{other},{}]", case(1, "one"), case(3, "three"), case(2, "two"));
    store.write("cases.json", &text);
    store.fine(&["import", "cases", "cases.json", "--format", "agenthealth", "--quiet"]);
    let history = store.fine(&["history", "cases"]);
    assert_eq!(history.lines().count(), 3, "{history}");
    for (version, prompt) in [(1, "one"), (2, "two"), (3, "three")] {
        let record = store.fine(&["record", &format!("cases@{version}"), "tc-001", "--quiet"]);
        assert!(record.contains(&format!("\"input\":\"{prompt}\"")), "{record}");
        let record = store.fine(&["record", "cases", &format!("tc-001@{version}"), "--quiet"]);
        assert!(record.contains(&format!("\"input\":\"{prompt}\"")), "{record}");
    }
    assert!(!import(&store, "cases", "cases.json", &text).1, "the same file again");
    assert_eq!(store.fine(&["history", "cases"]).lines().count(), 3);
}

#[test]
fn what_was_erased_does_not_come_back() {
    let store = store();
    let text = rows(10, None);
    import(&store, "erasing", "a.jsonl", &text);
    store.fine(&["erase", "erasing", "r4", "--reason", "asked for"]);
    store.write("a.jsonl", &text);
    let ran = store.run(&["import", "erasing", "a.jsonl"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.contains("error[E045]") && ran.err.contains("`r4` was erased"), "{}", ran.err);
    store.write("one.jsonl", "{\"id\":\"r5\",\"input\":\"new\"}\n");
    store.fine(&["import", "erasing", "one.jsonl", "--upsert", "--quiet"]);
    assert_eq!(store.fine(&["cat", "erasing"]).lines().count(), 9);
    store.fine(&["verify"]);
}

#[test]
fn answers_are_never_open_by_accident() {
    let store = store();
    store.write("plain.jsonl", "{\"id\":\"1\",\"question\":\"q\",\"ground_truth\":\"a\"}\n");
    let ran = store.run(&["import", "plain-one", "plain.jsonl", "--format", "records"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.contains("error[E040]") && ran.err.contains("--label ground_truth=evaluator_only"), "{}", ran.err);
    store.fine(&[
        "import",
        "plain-one",
        "plain.jsonl",
        "--format",
        "records",
        "--label",
        "ground_truth=evaluator_only",
        "--label",
        "question=agent_visible",
        "--quiet",
    ]);
    assert_eq!(store.fine(&["cat", "plain-one", "--as", "agent"]), "{\"id\":\"1\",\"question\":\"q\"}\n");
    let ran = store.run(&["import", "plain-one", "--label", "ground_truth=agent_visible"]);
    assert_eq!(ran.code, 5, "{}", ran.err);
    assert!(ran.err.contains("error[E122]"), "{}", ran.err);
    store.fine(&[
        "import",
        "plain-one",
        "--label",
        "ground_truth=agent_visible",
        "--declassify",
        "published",
        "--quiet",
    ]);
    assert!(store.fine(&["cat", "plain-one", "--as", "agent"]).contains("ground_truth"));
    assert!(!store.fine(&["cat", "plain-one@1", "--as", "agent"]).contains("ground_truth"));
    assert!(store.fine(&["audit"]).contains("declassified: published"));
}

#[test]
fn a_record_that_makes_the_file_a_case_file_may_come_late() {
    let store = store();
    let mut text: String = (0..5000).map(|n| format!("{{\"id\":\"{n}\",\"input\":\"x{n}\"}}\n")).collect();
    text.push_str("{\"id\":\"late\",\"input\":\"y\",\"expected_output\":\"SECRET\"}\n");
    import(&store, "late-one", "a.jsonl", &text);
    assert!(!store.fine(&["cat", "late-one", "--as", "agent"]).contains("SECRET"));
    assert!(store.fine(&["show", "late-one"]).contains("case"));
}

#[test]
fn standard_input_and_several_files_are_taken_as_one() {
    let store = store();
    store.write("a.jsonl", "{\"id\":\"a\",\"x\":1}\n");
    store.write("b.csv", "id,x\nb,2\n");
    store.fine(&["import", "both", "a.jsonl", "b.csv", "--quiet"]);
    assert_eq!(store.fine(&["cat", "both"]), "{\"id\":\"a\",\"x\":1}\n{\"id\":\"b\",\"x\":\"2\"}\n");
    store.write("c.jsonl", "{\"id\":\"a\",\"x\":3}\n");
    let ran = store.run(&["import", "both", "a.jsonl", "c.jsonl"]);
    assert_eq!(ran.code, 3);
    assert!(ran.err.contains("error[E012]") && ran.err.contains("`c.jsonl`"), "{}", ran.err);
}

#[test]
fn without_a_store_the_message_says_how_to_make_one() {
    let folder = tempfile::tempdir().unwrap();
    let ran = crate::heldset(folder.path(), &["ls"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("error[E110]") && ran.err.contains("heldset init"), "{}", ran.err);
    let ran = crate::heldset(folder.path(), &["ls", "--store", "nowhere"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("error[E110]"), "{}", ran.err);
}
