//! Lab manifests: envelopes, three generations of items, and where their faults show.

use heldset_core::value::Value;
use heldset_dialect::{Format, IdRule, ReadOptions};
use heldset_testkit::{MemoryFiles, Reading, read_bytes, read_with};

const TRIP: &str = include_str!("../../../examples/trip-planner/trip_queries.yaml");
const BOB: &str = include_str!("../../../examples/trip-planner/seeds/user_bob.yaml");

const FILES: &[(&str, &str)] = &[
    ("seeds/list.yaml", "- {source: s, content: c}\n- {key: k, text: t, more: 1}\n"),
    ("seeds/map.json", "{\"entries\": [{\"id\": \"i\", \"content\": \"c\"}]}"),
    ("seeds/none.yaml", "seeds: []\nitems: [1]\n"),
    ("seeds/shapeless.yaml", "a: 1\n"),
    ("seeds/scalar.yaml", "seeds: 5\n"),
    ("seeds/empty.yaml", "# nothing\n"),
    ("seeds/text.txt", "just words\n"),
    ("seeds/half.yaml", "- source: s\n  content: c\n- source: s\n- content: ''\n  source: s\n"),
    ("seeds/broken.yaml", "- source: s\n  content: 'c\n"),
    ("seeds/user_bob.yaml", BOB),
    ("fixtures.yaml", "by_tool: {search: [1]}\n"),
    (
        "other.yaml",
        "items:\n- {id: 7, prompt: from seven}\n- {id: g2, inputs: {user: [{role: user, content: a}, b]}}\n- {id: x}\n",
    ),
    (
        "rows.json",
        "[{\"key\": 1, \"data\": {\"q\": \"one\", \"lang\": \"en\"}, \"n\": 2}, {\"key\": 2, \"data\": {\"q\": 5}}]",
    ),
    ("rows.jsonl", "{\"id\":1}\n{\"id\":2}\n"),
    ("items.json", "{\"name\": \"inner\", \"count\": 1, \"items\": [{\"id\": 1, \"prompt\": \"p\"}, {\"id\": 2}]}"),
];

fn options(id: IdRule) -> ReadOptions {
    ReadOptions { format: Some(Format::Lab), id, schema: None, threads: 1 }
}

fn read(text: &str) -> Reading {
    read_with("d.yaml", text.as_bytes(), &options(IdRule::Auto), &MemoryFiles::of(FILES))
}

fn check(text: &str, lines: &[&str], faults: &[&str]) {
    let reading = read(text);
    assert_eq!(reading.lines(), lines, "records of {text:?}: {:?}", reading.faults);
    assert_eq!(reading.places(), faults, "faults of {text:?}: {:?}", reading.faults);
}

/// One item, in flow style after `- {id: a, `.
fn item(rest: &str, line: &str) {
    check(&format!("- {{id: a, {rest}}}\n"), &[line], &[]);
}

fn fault(rest: &str, faults: &[&str]) {
    check(&format!("- {{id: a, {rest}}}\n"), &[], faults);
}

#[test]
fn the_complete_example_is_read() {
    let reading = read(TRIP);
    assert_eq!((reading.faults.len(), reading.report.kept), (0, 6), "{:?}", reading.faults);
    let info = &reading.report.dataset;
    assert_eq!((info.name.as_deref(), info.version.as_deref()), (Some("trip-planner-queries"), Some("1.0")));
    assert_eq!(reading.report.files.len(), 1);
    assert_eq!(reading.report.files[0].name, "seeds/user_bob.yaml");
    assert!(reading.report.legacy.is_empty());
    let lines = reading.lines();
    assert!(lines[0].contains(r#""expected_output":"economy""#));
    assert!(lines[2].contains(r#""memory_seeds":[{"content":"Bob goes"#));
    assert!(lines[4].contains(r#"{"content":"Operator: €800 for each person are fine this time.","role":"hitl"}"#));
}

#[test]
fn envelopes_say_where_the_items_are_and_what_the_dataset_is() {
    let item = "[{id: 1, prompt: p}]";
    for (text, name, version, more) in [
        (
            format!(
                "{{apiVersion: lab/v1, kind: Dataset, metadata: {{name: n, version: 1.0, tags: [t]}}, spec: {{items: {item}, groups: 2}}}}"
            ),
            Some("n"),
            Some("1.0"),
            &["tags", "groups"][..],
        ),
        (format!("name: n\nversion: 2\nitems: {item}\nowner: me\n"), Some("n"), Some("2"), &["owner"]),
        (format!("dataset: n\nitems: {item}\n"), Some("n"), None, &[]),
        (format!("dataset: d\nname: n\nitems: {item}\n"), Some("n"), None, &["dataset"]),
        (item.to_owned(), Some("d"), None, &[]),
        ("spec: {path: items.json}\nname: outer\n".to_owned(), Some("outer"), None, &["count"]),
    ] {
        let reading = read(&text);
        let info = &reading.report.dataset;
        assert_eq!(reading.lines()[0], r#"{"id":"1","input":"p"}"#, "{text}");
        assert_eq!((info.name.as_deref(), info.version.as_deref()), (name, version), "{text}");
        assert_eq!(info.more.iter().map(|(name, _)| name).collect::<Vec<_>>(), more, "{text}");
    }
}

#[test]
fn envelopes_without_a_list_of_items_are_refused() {
    for (text, fault) in [
        ("name: n\nitems: 5\n", "E015 2:8 items"),
        ("name: n\nspec:\n  items: {a: 1}\n", "E015 3:10 spec.items"),
        ("spec: [1]\n", "E015 1:7 spec"),
        ("metadata: 5\nitems: []\n", "E015 1:11 metadata"),
        ("metadata: {name: [1]}\nitems: []\n", "E015 1:18 metadata.name"),
        ("name: n\n", "E024 1:1 -"),
        ("5\n", "E024 1:1 -"),
        ("items: []\n", "E023 - -"),
        ("items: []\nspec: {items: []}\n", "E018 2:15 spec.items"),
        ("spec: {items: [], path: x}\n", "E018 1:25 spec.path"),
        ("name: n\nmetadata: {name: m}\nitems: []\n", "E018 2:18 metadata.name"),
        ("spec: {path: 5}\n", "E015 1:14 spec.path"),
        ("spec: {path: gone.yaml}\n", "E019 1:14 spec.path"),
        ("spec: {path: ../gone.yaml}\n", "E020 1:14 spec.path"),
        ("spec: {path: rows.jsonl}\n", "E021 1:14 spec.path"),
        ("spec: {path: d.yaml}\n", "E019 1:14 spec.path"),
    ] {
        check(text, &[], &[fault]);
    }
}

#[test]
fn faults_in_the_file_of_a_path_name_that_file() {
    let reading = read("spec: {path: items.json}\n");
    assert_eq!(reading.places(), ["items.json E014 1:67 -"]);
    assert_eq!(reading.report.files[0].name, "items.json");
}

#[test]
fn a_source_is_read_by_its_map() {
    check(
        "spec:\n  source: {path: rows.json}\n  map: {id: key, prompt: data.q}\n",
        &[r#"{"id":"1","input":"one","metadata":{"data":{"lang":"en"},"n":2}}"#],
        &["rows.json E015 1:83 data.q"],
    );
    check("spec: {source: items.json, map: {id: id}}\n", &[], &["items.json E021 1:1 -"]);
    check("spec: {source: rows.json, map: {id: 5}}\n", &[], &["E015 1:37 spec.map.id"]);
    check("spec: {source: rows.jsonl, map: {id: id}}\n", &[], &["E021 1:16 spec.source"]);
}

#[test]
fn items_of_the_first_generation() {
    item(
        "prompt: p, expected_answer: {x: 1}, category: c, turns: [{role: hitl, content: t}], session_id: s",
        r#"{"category":"c","expected_output":{"x":1},"id":"a","input":"p","session_id":"s","turns":[{"content":"t","role":"hitl"}]}"#,
    );
    item(
        "prompt: p, level: 3, metadata: {who: me}, expected_facts: [f], tags: [t], context: [{type: log}]",
        r#"{"context":[{"type":"log"}],"expected_facts":["f"],"id":"a","input":"p","metadata":{"level":3,"who":"me"},"tags":["t"]}"#,
    );
    item("prompt: p, metadata: {}", r#"{"id":"a","input":"p","metadata":{}}"#);
    item("prompt: p, ground_truth: g", r#"{"expected_output":"g","id":"a","input":"p"}"#);
    for alias in ["query", "question", "text", "input", "user"] {
        item(&format!("{alias}: p"), r#"{"id":"a","input":"p"}"#);
    }
}

#[test]
fn items_of_the_second_generation() {
    item(
        "inputs: {user: [{role: user, content: u}, {role: system, content: v}], hitl: [{role: hitl, content: h}], \
         session_id: s, checkpoint: {load: null}, tool_fixtures: {t: 1}, memory_seeds: [{source: s, content: c}], odd: 1}, \
         expectations: {ground_truth: {x: 1}, metrics: [m]}, group: g, type: t, target_agents: [z], category: c",
        concat!(
            r#"{"category":"c","checkpoint":{"load":null},"expected_metrics":["m"],"expected_output":{"x":1},"id":"a","#,
            r#""input":"u","memory_seeds":[{"content":"c","source":"s"}],"#,
            r#""metadata":{"group":"g","odd":1,"target_agents":["z"],"type":"t"},"session_id":"s","#,
            r#""tool_fixtures":{"t":1},"turns":[{"content":"v","role":"system"},{"content":"h","role":"hitl"}]}"#
        ),
    );
    item(
        "inputs: {user: [{role: system, content: s, tone: dry}, {role: user, content: u, mood: m}]}",
        concat!(
            r#"{"context":[{"content":"s","metadata":{"tone":"dry"},"source":"inputs.user","type":"system"}],"#,
            r#""id":"a","input":"u","metadata":{"mood":"m"}}"#
        ),
    );
}

#[test]
fn items_of_the_third_generation() {
    item("inputs: {user: u}", r#"{"id":"a","input":"u"}"#);
    item(
        "inputs: {user: [u, v], hitl: [h], tool_fixtures: fixtures.yaml}, expectations: {details: d}",
        concat!(
            r#"{"expected_details":"d","id":"a","input":"u","tool_fixtures":{"by_tool":{"search":[1]}},"#,
            r#""turns":[{"content":"v","role":"user"},{"content":"h","role":"hitl"}]}"#
        ),
    );
    item("inputs: {user: {ref: 'other.yaml#7'}}", r#"{"id":"a","input":"from seven"}"#);
    item(
        "inputs: {user: [{ref: 'other.yaml#g2'}, c]}",
        r#"{"id":"a","input":"a","turns":[{"content":"b","role":"user"},{"content":"c","role":"user"}]}"#,
    );
}

#[test]
fn ids_are_asked_for_or_named() {
    check(
        "- {id: 007, prompt: p}\n- {id: 7, prompt: p}\n",
        &[r#"{"id":"007","input":"p"}"#, r#"{"id":"7","input":"p"}"#],
        &[],
    );
    check("- {prompt: p}\n", &[], &["E011 1:3 -"]);
    check("- {id: a, prompt: p}\n- prompt: q\n  id: a\n", &[r#"{"id":"a","input":"p"}"#], &["E012 3:7 id"]);
    let text = "- {id: x, key: k, prompt: p}\n";
    for (rule, line) in [
        (IdRule::Field("key".into()), r#"{"id":"k","input":"p","metadata":{"key":"k","original_id":"x"}}"#),
        (IdRule::Row, r#"{"id":"0","input":"p","metadata":{"key":"k","original_id":"x"}}"#),
    ] {
        assert_eq!(read_with("d.yaml", text.as_bytes(), &options(rule), &MemoryFiles::default()).lines(), [line]);
    }
}

#[test]
fn prompts_and_messages_at_fault_show_where_they_stand() {
    for (rest, expected) in [
        ("category: c", "E014 1:3 -"),
        ("prompt: ''", "E014 1:19 prompt"),
        ("prompt: ", "E014 1:17 prompt"),
        ("prompt: 5", "E015 1:19 prompt"),
        ("text: p, query: q", "E018 1:27 query"),
        ("prompt: p, inputs: {user: u}", "E018 1:37 inputs.user"),
        ("inputs: {user: [{role: user, content: u}]}, prompt: p", "E018 1:63 prompt"),
        ("inputs: 5", "E015 1:19 inputs"),
        ("inputs: {session_id: s}", "E014 1:19 inputs"),
        ("inputs: {user: []}", "E014 1:26 inputs.user"),
        ("inputs: {user: 5}", "E015 1:26 inputs.user"),
        ("inputs: {user: [{role: user, content: ''}]}", "E014 1:49 inputs.user[0].content"),
        ("inputs: {user: [{role: user, content: 5}]}", "E015 1:49 inputs.user[0].content"),
        ("inputs: {user: [{content: u}]}", "E015 1:27 inputs.user[0]"),
        ("inputs: {user: [{role: usr, content: u}]}", "E016 1:34 inputs.user[0].role"),
        ("inputs: {user: [{role: system, content: s}]}", "E014 1:26 inputs.user"),
        ("inputs: {user: [{role: assistant, content: s}]}", "E016 1:34 inputs.user[0].role"),
        ("prompt: p, inputs: {hitl: [{role: boss, content: h}]}", "E016 1:45 inputs.hitl[0].role"),
        ("prompt: p, inputs: {hitl: 5}", "E015 1:37 inputs.hitl"),
        ("prompt: p, turns: [{role: user, content: u}, {role: hilt, content: h}]", "E016 1:63 turns[1].role"),
        ("prompt: p, turns: [t]", "E015 1:30 turns[0]"),
        ("inputs: {user: {ref: other.yaml}}", "E015 1:32 inputs.user.ref"),
        ("inputs: {user: {ref: 'gone.yaml#1'}}", "E019 1:32 inputs.user.ref"),
        ("inputs: {user: [{ref: 'other.yaml#8'}]}", "E021 1:33 inputs.user[0].ref"),
        ("inputs: {user: {ref: 'other.yaml#x'}}", "E021 1:32 inputs.user.ref"),
    ] {
        fault(rest, &[expected]);
    }
}

#[test]
fn other_fields_at_fault_show_where_they_stand() {
    for (rest, expected) in [
        ("prompt: p, ground_truth: g, expected_answer: e", "E018 1:56 expected_answer"),
        ("prompt: p, expected_output: g, expectations: {ground_truth: e}", "E018 1:71 expectations.ground_truth"),
        ("prompt: p, expectations: [1]", "E015 1:36 expectations"),
        ("prompt: p, expectations: {turns: 5}", "E015 1:44 expectations.turns"),
        ("prompt: p, expectations: {outcomes: [x, 5]}", "E015 1:51 expectations.outcomes[1]"),
        ("prompt: p, level: 1, metadata: {level: 2}", "E018 1:50 metadata.level"),
        ("prompt: p, metadata: [1]", "E015 1:32 metadata"),
        ("prompt: p, level: 1, inputs: {level: 2}", "E018 1:48 inputs.level"),
        ("prompt: p, session_id: 5", "E015 1:34 session_id"),
        ("inputs: {user: u, session_id: 5}", "E015 1:41 inputs.session_id"),
        ("session_id: s, inputs: {user: u, session_id: t}", "E018 1:56 inputs.session_id"),
        ("inputs: {user: u, checkpoint: 5}", "E015 1:41 inputs.checkpoint"),
        ("prompt: p, tool_fixtures: [1]", "E015 1:37 tool_fixtures"),
        ("prompt: p, tool_fixtures: gone.yaml", "E019 1:37 tool_fixtures"),
        ("prompt: p, tool_fixtures: seeds/list.yaml", "E021 1:37 tool_fixtures"),
        ("turns: [{role: user, content: t}], inputs: {user: [u, v]}", "E018 1:61 inputs.user"),
    ] {
        fault(rest, &[expected]);
    }
    fault("session_id: 5, category: [c]", &["E014 1:3 -", "E015 1:23 session_id", "E015 1:36 category"]);
}

#[test]
fn seeds_come_from_lists_and_from_files() {
    let seeds = |given: &str, line: &str| {
        item(
            &format!("prompt: p, memory_seeds: {given}"),
            &format!(r#"{{"id":"a","input":"p","memory_seeds":{line}}}"#),
        );
    };
    seeds("[]", "[]");
    seeds("[{id: i, text: t}]", r#"[{"content":"t","source":"i"}]"#);
    seeds(
        "[{id: i, source: s, content: c, target_agent: t}]",
        r#"[{"content":"c","id":"i","source":"s","target_agent":"t"}]"#,
    );
    seeds("./seeds/list.yaml", r#"[{"content":"c","source":"s"},{"content":"t","more":1,"source":"k"}]"#);
    seeds("seeds/map.json", r#"[{"content":"c","source":"i"}]"#);
    seeds("seeds/none.yaml", "[]");
}

#[test]
fn seeds_at_fault_show_where_they_are_named() {
    for (seeds, faults) in [
        ("[{source: s}]", &["E022 1:37 memory_seeds[0]"][..]),
        ("[{content: c}]", &["E022 1:37 memory_seeds[0]"]),
        ("[{source: s, content: ''}]", &["E022 1:58 memory_seeds[0].content"]),
        ("[{key: 5, content: c}]", &["E015 1:43 memory_seeds[0].key"]),
        ("[s]", &["E015 1:37 memory_seeds[0]"]),
        ("5", &["E015 1:36 memory_seeds"]),
        ("{source: s, content: c}", &["E015 1:36 memory_seeds"]),
        ("gone.yaml", &["E019 1:36 memory_seeds"]),
        ("../gone.yaml", &["E020 1:36 memory_seeds"]),
        ("seeds/shapeless.yaml", &["E021 1:36 memory_seeds"]),
        ("seeds/scalar.yaml", &["E021 1:36 memory_seeds"]),
        ("seeds/empty.yaml", &["E021 1:36 memory_seeds"]),
        ("seeds/text.txt", &["E021 1:36 memory_seeds"]),
        ("seeds/half.yaml", &["E022 1:36 memory_seeds", "E022 1:36 memory_seeds"]),
        ("seeds/broken.yaml", &["E025 1:36 memory_seeds"]),
    ] {
        fault(&format!("prompt: p, memory_seeds: {seeds}"), faults);
    }
    let reading = read("- {id: a, prompt: p, memory_seeds: seeds/half.yaml}\n");
    let messages: Vec<_> = reading.faults.iter().map(|fault| fault.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "in `seeds/half.yaml`, line 3: `[1]` has no `content`",
            "in `seeds/half.yaml`, line 4: `[2].content` is empty"
        ]
    );
}

#[test]
fn a_seed_file_of_many_items_is_told_once() {
    let text: String =
        (0..1000).map(|row| format!("- {{id: {row}, prompt: p, memory_seeds: seeds/list.yaml}}\n")).collect();
    let reading = read(&text);
    assert_eq!((reading.report.kept, reading.report.files.len()), (1000, 1));
}

#[test]
fn older_shapes_are_told_once() {
    let reading =
        read("- {id: 1, query: q}\n- {id: 2, query: q}\n- {id: 3, inputs: {user: [{role: user, content: u}]}}\n");
    let told: Vec<_> = reading.report.legacy.iter().copied().collect();
    assert_eq!(told, ["a prompt under another name than `prompt`", "items of the second generation (`inputs`)"]);
    assert_eq!(reading.report.mapped[&("query".to_owned(), "input".to_owned())], 2);
}

#[test]
fn json_manifests_are_read_alike() {
    let text = r#"{"apiVersion": "lab/v1", "kind": "Dataset", "metadata": {"version": 1.0}, "spec": {"items": [
  {"id": 1, "inputs": {"user": [{"role": "user", "content": "u"}]}},
  {"id": 2, "inputs": {"user": [{"role": "me", "content": "u"}]}}]}}"#;
    let options = ReadOptions { format: None, ..options(IdRule::Auto) };
    let reading = read_with("d.json", text.as_bytes(), &options, &MemoryFiles::default());
    assert_eq!(reading.lines(), [r#"{"id":"1","input":"u"}"#]);
    assert_eq!(reading.places(), ["E016 3:42 inputs.user[0].role"]);
    assert_eq!(reading.report.dataset.version.as_deref(), Some("1.0"));
    assert_eq!(reading.report.dataset.more.get("version"), None::<&Value<'_>>);
}

#[test]
fn beside_a_prompt_other_words_for_it_are_ordinary_keys() {
    check(
        "- {id: a, prompt: p, query: q, user: alice}\n",
        &[r#"{"id":"a","input":"p","metadata":{"query":"q","user":"alice"}}"#],
        &[],
    );
}

#[test]
fn every_fault_of_a_manifest_is_told() {
    check(
        "note: .nan\nitems:\n  - id: a\n    prompt: p\n    prompt: q\n  - id: b\n    prompt: p\n    score: 1e400\n  - id: c\n    prompt: 5\n  - id: d\n    prompt: fine\n",
        &[r#"{"id":"d","input":"fine"}"#],
        &["E005 1:7 note", "E003 5:5 items[0]", "E005 8:12 items[1].score", "E015 10:13 prompt"],
    );
}

#[test]
fn every_fault_of_a_json_manifest_is_told() {
    let text = "{\"name\": \"n\", \"items\": [\n{\"id\":\"a\",\"prompt\":\"p\",\"prompt\":\"q\"},\n{\"id\":\"b\",\"prompt\":\"p\",\"x\":1e400},\n{\"id\":\"c\",\"prompt\":5},\n{\"id\":\"d\",\"prompt\":\"fine\"}\n]}\n";
    let reading = read_bytes("d.json", text.as_bytes());
    assert_eq!(reading.places(), ["E003 2:24 -", "E005 3:28 x", "E015 4:20 prompt"], "{:?}", reading.faults);
    assert_eq!(reading.lines(), [r#"{"id":"d","input":"fine"}"#]);
    let outside = read_bytes("d.json", b"{\"n\": 1e400,\n\"items\": [\n{\"id\":\"a\",\"prompt\":5}\n]}");
    assert_eq!(outside.places(), ["E005 1:7 n", "E015 3:20 prompt"], "{:?}", outside.faults);
    let unclosed = read_bytes("d.json", b"{\"items\": [\n{\"id\":\"a\",\"prompt\":\"p\"}\n");
    assert_eq!(unclosed.report.faults, 1, "{:?}", unclosed.faults);
}
