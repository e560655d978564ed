//! `prepare` from outside: what comes out, who sees it, and what is refused.

use super::{Ran, Store, store};

fn rows() -> String {
    let row = |number: usize| {
        let text = match number {
            3 | 4 => "the same sentence is here twice".to_owned(),
            _ => format!(" sentence {number} speaks about town {} and nothing else ", number * 7),
        };
        let (kind, user) = (["a", "b"][number % 2], number / 4);
        format!(
            "{{\"id\":\"r{number}\",\"text\":\"{text}\",\"kind\":\"{kind}\",\"user\":\"u{user}\",\"note\":null,\"more\":{{\"x\":null}}}}\n"
        )
    };
    (0..20).map(row).collect()
}

fn trips() -> Store {
    let store = store();
    store.import("trips", &rows(), &[]);
    store
}

fn number(text: &str, name: &str) -> u64 {
    let at = text.find(&format!("\"{name}\":")).unwrap_or_else(|| panic!("{name} in {text}")) + name.len() + 3;
    text[at..].chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap()
}

#[test]
fn everything_at_once_from_a_file() {
    let store = trips();
    store.import("people", "{\"id\":\"u0\",\"name\":\"Ana\"}\n{\"id\":\"u1\",\"name\":\"Bo\"}\n", &[]);
    let request = "cleaning_config: {remove_nulls: true, trim_whitespace: true, deduplicate_by: text, drop_fields: more, rename: {kind: sort}, redact: [{pattern: '[0-9]+', replacement: '#'}]}\n\
                   lookup: {dataset: people, on: {user: id}, fields: {name: user_name}}\nfilters: [{field: user, operator: in, value: [u0, u1, u2]}]\n";
    store.write("prepare.yaml", request);
    let answer = store.fine(&["prepare", "trips", "prepare.yaml", "--json"]);
    for (name, expected) in
        [("read", 20), ("filtered", 8), ("deduplicated", 1), ("kept", 11), ("unmatched", 4), ("nulls_removed", 22)]
    {
        assert_eq!(number(&answer, name), expected, "{name} in {answer}");
    }
    assert!(answer.contains("\"preparation_id\":\"") && answer.contains("\"output_dataset_id\":\""), "{answer}");
    assert!(answer.contains("{\"duplicate_of\":\"r3\",\"id\":\"r4\",\"split\":\"default\"}"), "{answer}");
    let out = store.fine(&["cat", "trips-prepared", "--ids", "r5"]);
    assert!(out.contains("\"text\":\"sentence # speaks about town # and nothing else\""), "{out}");
    assert!(out.contains("\"sort\":\"b\"") && out.contains("\"user_name\":\"Bo\"") && !out.contains("more"), "{out}");
    let again = store.fine(&["prepare", "trips", "prepare.yaml", "--json"]);
    assert!(again.contains("\"created\":false") && again.contains("\"version\":1"), "{again}");
    store.fine(&["verify"]);
    let id = answer.split("\"preparation_id\":\"").nth(1).unwrap().split('"').next().unwrap();
    let shown = store.fine(&["prepare", "--show", id, "--json"]);
    assert!(shown.contains("\"rename\":{\"kind\":\"sort\"}") && shown.contains("\"id\":\"r4\""), "{shown}");
    assert_eq!(store.run(&["--as", "agent", "prepare", "--show", id]).code, 5);
}

#[test]
fn splits_are_exact_and_groups_whole() {
    let store = trips();
    let split = |more: &[&str]| {
        let args = [&["prepare", "trips", "--json", "--split", "train=0.8,test=rest", "--seed", "7"], more].concat();
        store.fine(&args)
    };
    let answer = split(&["--stratify-by", "kind", "--to", "by-kind"]);
    assert!(
        answer.contains("\"name\":\"train\",\"rows\":16") && answer.contains("\"name\":\"test\",\"rows\":4"),
        "{answer}"
    );
    let test = store.fine(&["cat", "by-kind", "--split", "test"]);
    assert_eq!(test.matches("\"kind\":\"a\"").count(), 2, "{test}");
    split(&["--group-by", "user", "--to", "by-user"]);
    let (train, test) =
        (store.fine(&["cat", "by-user", "--split", "train"]), store.fine(&["cat", "by-user", "--split", "test"]));
    for user in 0..5 {
        let user = format!("\"user\":\"u{user}\"");
        assert!(train.contains(&user) != test.contains(&user), "{user} is in both");
    }
    let both =
        store.run(&["prepare", "trips", "--split", "a=0.5,b=0.5", "--group-by", "user", "--stratify-by", "kind"]);
    assert_eq!((both.code, both.err.contains("E069")), (3, true), "{}", both.err);
}

#[test]
fn near_duplicates_across_splits_are_told() {
    let store = store();
    let rows: String = (0..10)
        .map(|number| {
            format!("{{\"id\":\"r{number}\",\"text\":\"one and the same sentence{}\"}}\n", ".".repeat(number))
        })
        .collect();
    store.import("same", &rows, &[]);
    let told = store.run(&["prepare", "same", "--split", "train=0.5,test=0.5"]);
    assert!(told.code == 0 && told.err.contains("hint[H008]") && told.err.contains("25 pairs"), "{}", told.err);
    let json = store.fine(&["prepare", "same", "--split", "train=0.5,test=0.5", "--json"]);
    assert!(json.contains("\"near_duplicates\":{\"code\":\"H008\",\"count\":25"), "{json}");
}

#[test]
fn every_format_is_written_and_is_on_record() {
    let store = trips();
    for (format, name) in [("json", "o.json"), ("jsonl", "o.jsonl"), ("csv", "o.csv"), ("parquet", "o.parquet")] {
        let answer = store.fine(&["prepare", "trips", "--target-format", format, "-o", name, "--json"]);
        assert!(answer.contains(&format!("\"files\":[\"{name}\"]")), "{answer}");
        assert_eq!(store.fine(&["check", name, "--json"]).matches("\"kept\":20").count(), 1, "{name}");
    }
    assert_eq!(store.fine(&["copies", "trips-prepared", "--json"]).matches("\"kind\":\"export\"").count(), 4);
    store.fine(&["prepare", "trips", "--split", "train=0.5,test=0.5", "--to", "halves", "-o", "h.jsonl"]);
    assert!(store.path().join("h.train.jsonl").exists() && store.path().join("h.test.jsonl").exists());
}

#[test]
fn a_sealed_field_stays_sealed_under_any_name() {
    let store = Store::with_questions();
    store.fine(&["prepare", "questions", "--rename", "expected_output=answer", "--to", "renamed"]);
    assert!(store.fine(&["cat", "renamed"]).contains("\"answer\":\"token-one\""));
    let seen = store.fine(&["--as", "agent", "cat", "renamed"]);
    assert!(!seen.contains("token") && seen.contains("nile"), "{seen}");
    store.write("lookup.yaml", "lookup: {dataset: questions, on: {q: id}, fields: {expected_output: hint}}\n");
    store.import("asked", "{\"id\":\"a1\",\"q\":\"q1\"}\n", &[]);
    store.fine(&["prepare", "asked", "lookup.yaml", "--to", "helped"]);
    assert!(store.fine(&["cat", "helped"]).contains("token-one"));
    assert!(!store.fine(&["--as", "agent", "cat", "helped"]).contains("token"));
    let seen = store.fine(&["--as", "agent", "show", "renamed", "--json"]);
    assert!(!seen.contains("expected_output"), "{seen}");
}

#[test]
fn a_sealed_field_that_decides_seals_the_split() {
    let store = Store::with_questions();
    let filter = "{\"field\":\"expected_output\",\"operator\":\"eq\",\"value\":\"token-one\"}";
    let told = store.run(&["prepare", "questions", "--filter", filter, "--to", "chosen"]);
    assert!(told.code == 0 && told.err.contains("because `expected_output` decides"), "{}", told.err);
    assert_eq!(store.fine(&["--as", "agent", "cat", "chosen"]), "");
    store.fine(&["prepare", "questions", "--filter", filter, "--to", "opened", "--declassify", "one is enough"]);
    assert!(store.fine(&["--as", "agent", "cat", "opened"]).contains("nile"));
}

#[test]
fn only_those_who_run_the_store_prepare() {
    let store = Store::with_questions();
    let denied = store.run(&["--as", "agent", "prepare", "questions", "--to", "bare"]);
    assert_eq!((denied.code, denied.err.contains("E120")), (5, true), "{}", denied.err);
    let unwritable = store.run(&["prepare", "questions", "--to", "bare", "-o", "nowhere/out.jsonl"]);
    assert_eq!((unwritable.code, unwritable.err.contains("E104")), (2, true), "{}", unwritable.err);
    assert_eq!(store.run(&["show", "bare"]).code, 2, "nothing was made");
}

/// Prompts and answers in splits of their own keep belonging together, and a rename does not trip over them.
#[test]
fn a_split_of_answers_follows_its_prompts() {
    let store = crate::store();
    store.write("prompts.jsonl", "{\"id\":\"1\",\"q\":\"one\"}\n");
    store.write("labels.jsonl", "{\"id\":\"1\",\"answer\":\"ONE\"}\n");
    store.write("policy.yaml", "splits: {pub: agent_visible, hid: evaluator_only}\nanswers_for: {hid: pub}\n");
    store.fine(&["import", "pairs", "prompts.jsonl", "--split", "pub", "-q", "--visibility", "agent_visible"]);
    store.fine(&["import", "pairs", "labels.jsonl", "--split", "hid", "-q", "--policy", "policy.yaml"]);
    store.fine(&["prepare", "pairs", "--rename", "q=question", "--to", "renamed"]);
    assert_eq!(store.fine(&["--as", "agent", "cat", "renamed"]), "{\"id\":\"1\",\"question\":\"one\"}\n");
    store.fine(&["prepare", "pairs", "--from-split", "pub", "--rename", "q=question", "--to", "only"]);
}

#[test]
fn what_a_policy_states_of_derived_outputs_holds() {
    let store = Store::with_questions();
    store.write("policy.yaml", "movement: {evaluator_only: {derived: aggregates}}\n");
    store.fine(&["import", "questions", "--policy", "policy.yaml", "-q"]);
    let refused = store.run(&["prepare", "questions"]);
    assert_eq!((refused.code, refused.err.contains("E121")), (5, true), "{}", refused.err);
    store.fine(&["prepare", "questions", "--drop-fields", "expected_output"]);
    store.fine(&["prepare", "questions", "--to", "reasoned", "--declassify", "for the other team"]);
    store.write("policy.yaml", "movement: {evaluator_only: {derived: redacted}}\n");
    store.fine(&["import", "questions", "--policy", "policy.yaml", "-q", "--declassify", "so be it"]);
    store.write("redact.yaml", "cleaning_config: {redact: [expected_output]}\n");
    assert_eq!(store.run(&["prepare", "questions", "--to", "redacted"]).code, 5);
    store.fine(&["prepare", "questions", "redact.yaml", "--to", "redacted"]);
}

#[test]
fn license_and_tags_are_handed_down() {
    let store = store();
    store.write("rows.jsonl", "{\"id\":\"1\",\"text\":\"x\"}\n");
    let declared = "apiVersion: heldset/v1\nkind: Dataset\nmetadata: {name: Tagged, slug: tagged, license: CC-BY-4.0, policy_tags: [pii]}\n\
                    spec: {retention: {until: 2099-01-01}, splits: {default: {path: rows.jsonl, visibility: agent_visible}}}\n";
    store.file("tagged.yaml", declared).fine(&["register", "tagged.yaml"]);
    store.fine(&["prepare", "tagged"]);
    let shown = store.fine(&["show", "tagged-prepared", "--json"]);
    assert!(shown.contains("CC-BY-4.0") && shown.contains("2099-01-01"), "{shown}");
}

#[test]
fn wrong_requests_are_refused_with_what_to_do() {
    let store = trips();
    store.import("twice", "{\"id\":\"1\",\"k\":\"u0\",\"v\":1}\n{\"id\":\"2\",\"k\":\"u0\",\"v\":2}\n", &[]);
    store.write("bad.yaml", "splitt: {}\ncleaning_config: {remove_null: true}\n");
    store.write("two.yaml", "lookup: {dataset: twice, on: {user: k}, fields: [v]}\n");
    store.write("clash.yaml", "lookup: {dataset: twice, on: {user: k}, fields: {v: kind}}\n");
    for (args, code, words) in [
        (&["nowhere"][..], 2, &["E102"][..]),
        (&["trips", "--dedupe-by", "txt"], 2, &["E062", "did you mean `text`?"]),
        (&["trips", "--stratify-by", "kindd", "--split", "a=1"], 2, &["E062", "did you mean `kind`?"]),
        (&["trips", "--split", "a=0.5,b=0.6"], 2, &["E069", "sum to 1.1"]),
        (&["trips", "--split", "a"], 2, &["NAME=SHARE"]),
        (&["trips", "--seed", "4"], 2, &["no split has a share"]),
        (&["trips", "--to", "trips"], 2, &["into itself"]),
        (&["trips", "--to", "No Slug"], 2, &["cannot be a slug"]),
        (&["trips", "--target-format", "cvs"], 2, &["did you mean `csv`?"]),
        (&["trips", "bad.yaml"], 2, &["did you mean `split`?", "did you mean `remove_nulls`?"]),
        (&["trips", "two.yaml"], 3, &["finds two records", "`1` and `2`"]),
        (&["trips", "clash.yaml"], 2, &["already a field"]),
        (&["trips", "--rename", "kind=text"], 3, &["two fields `text`"]),
        (&["trips", "--rename", "kind=id"], 2, &["`id` cannot be"]),
        (&["trips", "--filter", "{"], 2, &["is no JSON"]),
        (&["trips", "--from-split", "defalt"], 2, &["did you mean `default`?"]),
        (&["trips", "none.yaml"], 2, &["E101"]),
    ] {
        let Ran { code: ended, err, out } = store.run(&[&["prepare"], args].concat());
        assert_eq!(ended, code, "{args:?}: {err}{out}");
        assert!(words.iter().all(|word| err.contains(word)), "{args:?}: {err}");
    }
    assert!(!store.fine(&["ls"]).contains("prepared"), "nothing was made");
}
