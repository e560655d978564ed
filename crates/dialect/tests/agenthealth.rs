//! AgentHealth test cases: prompts, context, labels, wrappers, and the places of their faults.

use heldset_dialect::{Format, IdRule, ReadOptions};
use heldset_testkit::{MemoryFiles, Reading, read_bytes, read_with};

pub(crate) fn forced(id: IdRule) -> ReadOptions {
    ReadOptions { format: Some(Format::AgentHealth), id, schema: None, threads: 2 }
}

fn reading(text: &str) -> Reading {
    read_with("c.json", text.as_bytes(), &forced(IdRule::Auto), &MemoryFiles::default())
}

fn check(text: &str, lines: &[&str], faults: &[&str]) {
    let reading = reading(text);
    assert_eq!(reading.lines(), lines, "records of {text:?}: {:?}", reading.faults);
    assert_eq!(reading.places(), faults, "faults of {text:?}: {:?}", reading.faults);
    let report = &reading.report;
    assert_eq!(report.read, report.kept + report.older + report.refused, "counts of {text:?}");
}

/// Checks what one test case becomes beside its id and its input.
fn check_fields(source: &str, canonical: &str) {
    let text = format!(r#"[{{"id":"a","initialPrompt":"q",{source}}}]"#);
    let reading = reading(&text);
    let expected = format!(r#"{{"id":"a","input":"q",{canonical}}}"#);
    let expected = read_with(
        "r.jsonl",
        expected.as_bytes(),
        &ReadOptions { format: Some(Format::Records), ..forced(IdRule::Auto) },
        &MemoryFiles::default(),
    );
    assert_eq!(reading.lines(), expected.lines(), "{source}: {:?}", reading.faults);
}

#[test]
fn the_names_of_agenthealth_become_those_of_a_case_and_all_others_stay() {
    check_fields(
        r#""name":"n","description":"d","tools":[{"name":"t"}],"expectedOutcomes":["x"],"version":3,"createdAt":"2024","author":"me","expectedPPL":"p","tags":["t"]"#,
        r#""name":"n","description":"d","tools":[{"name":"t"}],"expected_outcomes":["x"],"version":3,"createdAt":"2024","author":"me","expectedPPL":"p","tags":["t"]"#,
    );
    check_fields(r#""expected_outcomes":["x"]"#, r#""expected_outcomes":["x"]"#);
    check_fields(
        r#""expectedTrajectory":[{"step":1,"description":"d","requiredTools":["t"],"note":0},{"description":"e"}]"#,
        r#""expected_trajectory":[{"step":1,"description":"d","required_tools":["t"],"note":0},{"description":"e"}]"#,
    );
}

#[test]
fn context_has_three_shapes_and_no_type_is_made_up() {
    for (source, canonical) in [
        (r#"{"description":"d","value":"v"}"#, r#"{"source":"d","content":"v"}"#),
        (
            r#"{"description":"d","value":"v","disposition":"connector"}"#,
            r#"{"source":"d","content":"v","metadata":{"disposition":"connector"}}"#,
        ),
        (
            r#"{"description":"d","value":"v","disposition":"x","metadata":{"k":1},"extra":[1]}"#,
            r#"{"source":"d","content":"v","metadata":{"k":1,"disposition":"x"},"extra":[1]}"#,
        ),
        (
            r#"{"source":"s","description":"d","value":{"k":1}}"#,
            r#"{"source":"s","description":"d","content":{"k":1}}"#,
        ),
        (r#"{"value":"v"}"#, r#"{"content":"v"}"#),
        (r#"{"type":"log","content":{"k":1}}"#, r#"{"type":"log","content":{"k":1}}"#),
        (
            r#"{"type":"log","source":"s","content":"c","metadata":{"m":1},"extra":true}"#,
            r#"{"type":"log","source":"s","content":"c","metadata":{"m":1},"extra":true}"#,
        ),
    ] {
        check_fields(&format!(r#""context":[{source}]"#), &format!(r#""context":[{canonical}]"#));
    }
    check_fields(r#""context":[]"#, r#""context":[]"#);
}

#[test]
fn labels_are_texts_or_pairs_or_a_mapping() {
    for (source, canonical) in [
        (r#"["team:a","url:http://x","empty:"]"#, r#""labels":{"team":"a","url":"http://x","empty":""}"#),
        (r#"[{"key":"team","value":"a"},{"key":"n","value":1}]"#, r#""labels":{"team":"a","n":1}"#),
        (r#"{"team":"a","many":["x"]}"#, r#""labels":{"team":"a","many":["x"]}"#),
        (r#"["team:a","team:b",{"key":"team","value":"c"}]"#, r#""labels":{"team":["a","b","c"]}"#),
        (r#"["plain",":odd","team:a","plain"]"#, r#""labels":{"team":"a"},"tags":["plain",":odd"]"#),
        (r#"["te\u0061m:\u0061"]"#, r#""labels":{"team":"a"}"#),
        ("[]", r#""labels":{}"#),
        ("null", r#""labels":null"#),
    ] {
        check_fields(&format!(r#""labels":{source}"#), canonical);
    }
    check_fields(r#""tags":["t","p"],"labels":["p","q"]"#, r#""labels":{},"tags":["t","p","q"]"#);
}

#[test]
fn older_fields_become_labels_and_a_label_wins() {
    for (source, canonical) in [
        (
            r#""category":"RCA","subcategory":"s","difficulty":"Easy""#,
            r#""category":"RCA","labels":{"category":"RCA","subcategory":"s","difficulty":"Easy"}"#,
        ),
        (
            r#""category":"RCA","labels":["category:RCA","team:a"]"#,
            r#""category":"RCA","labels":{"category":"RCA","team":"a"}"#,
        ),
        (
            r#""category":"old","difficulty":"Hard","labels":["category:new","difficulty:Easy"]"#,
            r#""category":"old","difficulty":"Hard","labels":{"category":"new","difficulty":"Easy"}"#,
        ),
        (r#""difficulty":"Easy","labels":["difficulty:Easy"]"#, r#""labels":{"difficulty":"Easy"}"#),
        (r#""difficulty":null,"labels":null"#, r#""difficulty":null,"labels":null"#),
        (r#""labels":["category:RCA"]"#, r#""labels":{"category":"RCA"}"#),
    ] {
        check_fields(source, canonical);
    }
}

#[test]
fn one_case_a_list_and_a_wrapper_are_read_alike() {
    let case = r#"{"id":"a","initialPrompt":"q"}"#;
    for text in [
        case.to_owned(),
        format!("[{case}]"),
        format!(r#"{{"testCases":[{case}]}}"#),
        format!(r#"{{"took":1,"hits":{{"total":1,"hits":[{{"_index":"i","_id":"a-v1","_source":{case}}}]}}}}"#),
        format!(r#"{{"_index":"i","_id":"a-v1","_source":{case},"sort":[1]}}"#),
    ] {
        for name in ["c.json", "c.jsonl", "c"] {
            if name == "c.jsonl" && (text.starts_with('[') || text.contains("hits") || text.contains("testCases")) {
                continue;
            }
            let reading = read_bytes(name, text.as_bytes());
            assert_eq!(reading.report.format, Format::AgentHealth, "{name} {text}");
            assert_eq!(reading.lines(), [r#"{"id":"a","input":"q"}"#], "{name} {text}: {:?}", reading.faults);
        }
    }
}

#[test]
fn a_wrapper_says_what_the_dataset_is() {
    let reading =
        reading(r#"{"name":"n","description":"d","version":2,"owner":"o","testCases":[{"initialPrompt":"q"}]}"#);
    let dataset = &reading.report.dataset;
    assert_eq!(dataset.name.as_deref(), Some("n"));
    assert_eq!(dataset.description.as_deref(), Some("d"));
    assert_eq!(dataset.version.as_deref(), Some("2"));
    assert_eq!(dataset.more.get("owner").and_then(|owner| owner.as_str()), Some("o"));
}

#[test]
fn a_case_without_an_id_has_its_row_and_another_id_stays_as_metadata() {
    check(
        r#"[{"initialPrompt":"q"},{"id":7,"initialPrompt":"q"},{"id":null,"initialPrompt":"q"}]"#,
        &[r#"{"id":"0","input":"q"}"#, r#"{"id":"7","input":"q"}"#, r#"{"id":"2","input":"q"}"#],
        &[],
    );
    let text = br#"[{"id":"a","name":"n","initialPrompt":"q"}]"#;
    for (rule, line) in [
        (IdRule::Row, r#"{"id":"0","input":"q","name":"n","original_id":"a"}"#),
        (IdRule::Field("name".into()), r#"{"id":"n","input":"q","name":"n","original_id":"a"}"#),
        (IdRule::Field("id".into()), r#"{"id":"a","input":"q","name":"n"}"#),
    ] {
        let reading = read_with("c.json", text, &forced(rule), &MemoryFiles::default());
        assert_eq!(reading.lines(), [line]);
    }
    assert_eq!(reading(r#"[{"initialPrompt":"q"},{"id":"a","initialPrompt":"q"}]"#).report.ids_given, 1);
}

#[test]
fn faults_name_the_fields_of_the_file() {
    for (fields, fault) in [
        (r#""name":"n""#, "E014 1:2 -"),
        (r#""initialPrompt":null"#, "E014 1:19 initialPrompt"),
        (r#""initialPrompt":"""#, "E014 1:19 initialPrompt"),
        (r#""initialPrompt":5"#, "E015 1:19 initialPrompt"),
        (r#""initialPrompt":"q","input":"i""#, "E018 1:31 input"),
        (r#""initialPrompt":"q","name":5"#, "E015 1:30 name"),
        (r#""initialPrompt":"q","category":5"#, "E015 1:34 category"),
        (r#""initialPrompt":"q","tools":["t"]"#, "E015 1:32 tools[0]"),
        (r#""initialPrompt":"q","expectedOutcomes":"x""#, "E015 1:42 expectedOutcomes"),
        (r#""initialPrompt":"q","expectedOutcomes":["x",5]"#, "E015 1:47 expectedOutcomes[1]"),
        (r#""initialPrompt":"q","expectedOutcomes":[],"expected_outcomes":[]"#, "E018 1:65 expected_outcomes"),
        (r#""initialPrompt":"q","expectedTrajectory":{}"#, "E015 1:44 expectedTrajectory"),
        (r#""initialPrompt":"q","expectedTrajectory":["x"]"#, "E015 1:45 expectedTrajectory[0]"),
        (
            r#""initialPrompt":"q","expectedTrajectory":[{"requiredTools":[],"required_tools":[]}]"#,
            "E018 1:62 expectedTrajectory[0].requiredTools",
        ),
        (r#""initialPrompt":"q","context":"x""#, "E015 1:33 context"),
        (r#""initialPrompt":"q","context":["x"]"#, "E015 1:34 context[0]"),
        (r#""initialPrompt":"q","context":[{"value":"v"},{"type":"log"}]"#, "E015 1:48 context[1]"),
        (r#""initialPrompt":"q","context":[{"type":"log","content":null}]"#, "E015 1:58 context[0].content"),
        (r#""initialPrompt":"q","context":[{"value":null}]"#, "E015 1:43 context[0].value"),
        (r#""initialPrompt":"q","context":[{"description":5,"value":"v"}]"#, "E015 1:49 context[0].description"),
        (r#""initialPrompt":"q","context":[{"content":"c","metadata":5}]"#, "E015 1:60 context[0].metadata"),
        (
            r#""initialPrompt":"q","context":[{"value":"v","disposition":1,"metadata":{"disposition":2}}]"#,
            "E018 1:61 context[0].disposition",
        ),
        (r#""initialPrompt":"q","labels":"a:b""#, "E015 1:32 labels"),
        (r#""initialPrompt":"q","labels":[5]"#, "E015 1:33 labels[0]"),
        (r#""initialPrompt":"q","labels":["a:b",{"key":"k"}]"#, "E015 1:39 labels[1]"),
        (r#""initialPrompt":"q","labels":[{"value":"v"}]"#, "E015 1:33 labels[0]"),
        (r#""initialPrompt":"q","labels":[{"key":5,"value":"v"}]"#, "E015 1:40 labels[0].key"),
        (r#""initialPrompt":"q","labels":[{"key":"k","value":"v","color":"red"}]"#, "E015 1:64 labels[0].color"),
        (r#""initialPrompt":"q","id":true"#, "E013 1:28 id"),
    ] {
        check(&format!("[{{{fields}}}]"), &[], &[fault]);
    }
    check(r#"{"testCases":5}"#, &[], &["E015 1:14 testCases"]);
    check(r#"{"hits":{"hits":{}}}"#, &[], &["E015 1:17 hits.hits"]);
    check(r#"{"testCases":[]}"#, &[], &["E023 - -"]);
    check("[5]", &[], &["E032 1:2 -"]);
    check("5", &[], &["E024 1:1 -"]);
}

#[test]
fn all_faults_of_a_case_are_told() {
    check(
        r#"[{"initialPrompt":5,"expectedOutcomes":[1,"x",2],"labels":[3],"context":[{}]}]"#,
        &[],
        &[
            "E015 1:60 labels[0]",
            "E015 1:19 initialPrompt",
            "E015 1:41 expectedOutcomes[0]",
            "E015 1:47 expectedOutcomes[2]",
            "E015 1:74 context[0]",
        ],
    );
}

#[test]
fn the_report_tells_what_was_mapped_and_which_older_shapes_were_met() {
    let reading = reading(r#"[{"initialPrompt":"q","category":"c","labels":["a:1","a:2","t"],"x":1}]"#);
    let report = &reading.report;
    let mapped: Vec<_> = report.mapped.keys().map(|(from, to)| format!("{from} {to}")).collect();
    assert_eq!(mapped, ["category labels", "initialPrompt input", "labels tags"]);
    assert_eq!(report.as_is.keys().collect::<Vec<_>>(), ["category", "labels", "x"]);
    assert_eq!(report.legacy.len(), 2, "{:?}", report.legacy);
}
