//! Declarations of datasets: the examples of the primitive are read whole, and every fault is told at once.

use heldset_core::code::Code;
use heldset_core::declaration::{Declaration, Parent, Source, SplitDeclaration, Stream};
use heldset_core::digest::sha256;
use heldset_core::fault::Problem;
use heldset_core::json;
use heldset_core::manifest::Mode;
use heldset_core::profile::Profile;
use heldset_core::value::Value;

fn read(text: &str) -> Result<Declaration, Vec<Problem>> {
    Declaration::from_value(&json::read(text).unwrap())
}

fn declared(metadata: &str, spec: &str) -> String {
    format!(r#"{{"apiVersion":"heldset/v1","kind":"Dataset","metadata":{{{metadata}}},"spec":{{{spec}}}}}"#)
}

fn problems(text: &str) -> Vec<String> {
    let problems = read(text).unwrap_err();
    assert!(problems.iter().all(|problem| problem.code == Code::E021));
    let shown = |problem: Problem| {
        let help = problem.help.map(|help| format!(" ({help})")).unwrap_or_default();
        format!("{}: {}{help}", problem.path, problem.message)
    };
    problems.into_iter().map(shown).collect()
}

const NAMES: &str = r#""name":"Some set","slug":"some-set""#;

#[test]
fn a_benchmark_with_hidden_labels() {
    let spec = format!(
        r#""mode":"synced","source":{{"uri":"./release-2026-04-12/","revision":"2026-04-12"}},
        "splits":{{"public_prompts":{{"path":"prompts.jsonl","visibility":"agent_visible"}},
          "hidden_labels":{{"path":"labels.jsonl","visibility":"evaluator_only","answers_for":"public_prompts"}}}},
        "checksum":{{"prompts.jsonl":"{}","labels.jsonl":"sha256:{}"}},
        "provenance":{{"imported_from":"benchmark release 2026-04-12"}},"retention":{{"until":"2028-01-01"}}"#,
        sha256(b"p"),
        sha256(b"l").hex(),
    );
    let metadata = r#""name":"W2S prompts","slug":"w2s-prompts","license":"CC-BY-4.0","tags":["benchmark"]"#;
    let declaration = read(&declared(metadata, &spec)).unwrap();
    assert_eq!((declaration.slug.as_str(), declaration.name.as_str()), ("w2s-prompts", "W2S prompts"));
    assert_eq!(
        (declaration.license.as_deref(), declaration.tags.as_slice()),
        (Some("CC-BY-4.0"), &["benchmark".to_owned()][..])
    );
    assert_eq!(declaration.mode, Mode::Synced);
    let source = Source { uri: "./release-2026-04-12/".into(), revision: Some("2026-04-12".into()) };
    assert_eq!(declaration.source, Some(source));
    let split = |name: &str, path: &str, label: &str, answers_for: Option<&str>| SplitDeclaration {
        name: name.into(),
        path: vec![path.into()],
        visibility: Some(label.into()),
        answers_for: answers_for.map(str::to_owned),
        ..Default::default()
    };
    let prompts = split("public_prompts", "prompts.jsonl", "agent_visible", None);
    assert_eq!(
        declaration.splits,
        [prompts, split("hidden_labels", "labels.jsonl", "evaluator_only", Some("public_prompts"))]
    );
    assert_eq!(declaration.checksum["prompts.jsonl"], sha256(b"p"));
    assert_eq!(declaration.checksum["labels.jsonl"], sha256(b"l"));
    assert_eq!(
        declaration.provenance.get("imported_from").and_then(Value::as_str),
        Some("benchmark release 2026-04-12")
    );
    assert!(declaration.retention.as_ref().is_some_and(|retention| retention.contains("until")));
    let policy = declaration.policy_over(Profile::Plain.draft()).resolve().unwrap();
    assert_eq!(
        policy.splits().collect::<Vec<_>>(),
        [("hidden_labels", "evaluator_only"), ("public_prompts", "agent_visible")]
    );
    assert_eq!(policy.prompts_of("hidden_labels"), Some("public_prompts"));
}

#[test]
fn games_that_a_run_made() {
    let spec = r#""mode":"generated","parents":["dataset:autogo-openings@v3","run:autogo-train-8421"],
        "run":"autogo-train-8421","code":"git:0123abc","agent":"autogo-7","seed":8421,"policy":"self-play","filters":["finished"],
        "artifacts":{"games":"./run-8421/games/*.jsonl","checkpoints":["gs://aquamarine/autogo/run-8421/checkpoints/*.safetensors"]}"#;
    let declaration = read(&declared(r#""name":"AutoGo self-play","slug":"autogo-selfplay""#, spec)).unwrap();
    assert_eq!(declaration.mode, Mode::Generated);
    let parents: Vec<_> = declaration.parents.iter().map(Parent::to_string).collect();
    assert_eq!(parents, ["dataset:autogo-openings@v3", "run:autogo-train-8421"]);
    assert!(matches!(&declaration.parents[0], Parent::Dataset(cite) if cite.slug == "autogo-openings"));
    let splits: Vec<_> = declaration.splits.iter().map(|split| (split.name.as_str(), split.path[0].as_str())).collect();
    let checkpoints = "gs://aquamarine/autogo/run-8421/checkpoints/*.safetensors";
    assert_eq!(splits, [("games", "./run-8421/games/*.jsonl"), ("checkpoints", checkpoints)]);
    assert!(declaration.splits.iter().all(|split| split.visibility.is_none()));
    let made = &declaration.generation;
    assert_eq!(
        (made.run.as_deref(), made.code.as_deref(), made.agent.as_deref()),
        (Some("autogo-train-8421"), Some("git:0123abc"), Some("autogo-7"))
    );
    assert_eq!((made.seed.clone(), made.policy.clone()), (Some(Value::from(8421)), Some(Value::from("self-play"))));
    assert_eq!(
        (made.filters.clone(), made.redaction.clone()),
        (Some(Value::from(vec![Value::from("finished")])), None)
    );
}

#[test]
fn a_stream_from_a_warehouse() {
    let spec = r#""mode":"remote_streamed","source":{"uri":"warehouse://prod.cases"},"query":"select * from cases",
        "snapshot_time":"2026-05-01T00:00:00Z","replay_manifest":"gs://aquamarine/manifests/triage-cases-188.jsonl""#;
    let declaration = read(&declared(r#""name":"Triage cases","slug":"triage-cases""#, spec)).unwrap();
    assert_eq!((declaration.mode, declaration.splits.len()), (Mode::RemoteStreamed, 0));
    let stream = Stream {
        query: Some("select * from cases".into()),
        query_digest: None,
        snapshot_time: Some("2026-05-01T00:00:00Z".into()),
        replay_manifest: Some("gs://aquamarine/manifests/triage-cases-188.jsonl".into()),
    };
    assert_eq!(declaration.stream, stream);
    let text = declared(NAMES, r#""source":"warehouse://prod.cases""#);
    assert_eq!(read(&text).unwrap().source, Some(Source { uri: "warehouse://prod.cases".into(), revision: None }));
    for uri in ["warehouse://me:canary@prod.cases", "https://h/x?access_token=canary"] {
        let told = format!("{:?}", read(&text.replace("warehouse://prod.cases", uri)).unwrap_err());
        assert!(told.contains("E057") && !told.contains("canary"), "{told}");
    }
}

#[test]
fn what_is_stated_stands_over_the_defaults() {
    let spec = r#""splits":{"a":{"path":["x/*.jsonl","y.csv"],"mode":"mounted","files":true,"visibility":"partner"},"b":{"path":"b"}},
        "mount":{"path":"/data","access":"read_only","on_unavailable":"fail","audiences":["agent"]},
        "visibility":{"labels":{"partner":["evaluator","operator"]},"splits":{"b":"public"},"fields":{"Expected*":"internal"},
          "movement":{"partner":{"retain_days":3}}}"#;
    let metadata =
        format!(r#"{NAMES},"description":"d","team":"t","record_count":3,"consent":{{"by":"x"}},"tags":"one""#);
    let declaration = read(&declared(&metadata, spec)).unwrap();
    assert_eq!((declaration.splits[0].mode, declaration.splits[0].files), (Some(Mode::Mounted), Some(true)));
    assert_eq!(declaration.splits[0].path, ["x/*.jsonl", "y.csv"]);
    assert_eq!(
        declaration.metadata.iter().map(|(key, _)| key).collect::<Vec<_>>(),
        ["team", "consent", "record_count"]
    );
    assert_eq!((declaration.tags.as_slice(), declaration.description.as_deref()), (&["one".to_owned()][..], Some("d")));
    assert!(declaration.mount.as_ref().is_some_and(|mount| mount.len() == 4));
    let policy = declaration.policy_over(Profile::Case.draft()).resolve().unwrap();
    assert_eq!(policy.splits().collect::<Vec<_>>(), [("a", "partner"), ("b", "public")]);
    let labels = policy.in_split("b").unwrap();
    assert_eq!((labels.of("expected_output").name(), labels.of("input").name()), ("internal", "agent_visible"));
    assert!(policy.movement_of("partner").is_some());
}

#[test]
fn every_fault_is_told_at_once() {
    insta::assert_snapshot!(problems("[]").join("\n"), @r"
    : a declaration is a mapping, not a list
    ");
    insta::assert_snapshot!(problems(r#"{"apiversion":"heldset/v1","kind":"dataset"}"#).join("\n"), @r"
    apiversion: `apiversion` is not known here (did you mean `apiVersion`?)
    : `apiVersion` is missing
    kind: `kind` is `Dataset`, not `dataset` (did you mean `Dataset`?)
    : `metadata` is missing
    : `spec` is missing
    ");
    let metadata = r#""name":"ab","slug":"Some set","licence":"MIT","zzz":1,"status":"activ","team":7,"tags":[1]"#;
    insta::assert_snapshot!(problems(&declared(metadata, "")).join("\n"), @r"
    metadata.licence: `licence` is not known here (did you mean `license`?)
    metadata.zzz: `zzz` is not known here (known are `name`, `slug`, `description`, `license`, `tags`, `connector_id`, `external_id`, `owner_id`, `team`, `data_residency`, `status`, `certification_level`, `categories`, `policy_tags`, `legal_basis`, `consent`, `deletion_status`, `quality_score`, `record_count`, `size_bytes`)
    metadata.name: name `ab` is shorter than 3 characters
    metadata.slug: slug `Some set` has other characters than lowercase letters, digits and hyphens
    metadata.tags[0]: `tags[0]` is text, not a number (put it in quotes)
    metadata.team: `team` is text of at most 200 characters, not a number (put it in quotes)
    metadata.status: `status` is one of `draft`, `active`, `published`, `deprecated`, `archived`, not `activ` (did you mean `active`?)
    spec: a dataset has a `source` or `splits`
    ");
    let spec = r#""mode":"sync","sauce":1,"source":{"url":"x","revision":3},
        "splits":{"a":{"visiblity":"public","visibility":"publik","answers_for":"b"},"c":"public",
            "d":{"path":[""],"files":"yes","mode":null,"visibility":"internal"}},
        "artifacts":{"a":"x","e":{}},"checksum":{"x":"sha256:12","y":1},"provenance":"me",
        "retention":{"until":"2028-01-01","days":3},"parents":["autogo@3","dataset:x@3","run:","run:r"],
        "query":"","seed":null,"mount":{"access":"write","audiences":["agent","grade"],"path":true},
        "visibility":{"splits":{"d":"public","f":"public"}}"#;
    insta::assert_snapshot!(problems(&declared(NAMES, spec)).join("\n"), @r"
    spec.sauce: `sauce` is not known here (did you mean `source`?)
    spec.source.url: `url` is not known here (did you mean `uri`?)
    spec.source: `uri` is missing
    spec.source.revision: `revision` is text, not a number (put it in quotes)
    spec.splits.a.visiblity: `visiblity` is not known here (did you mean `visibility`?)
    spec.splits.c: `spec.splits.c` is a mapping, not text
    spec.splits.d.path[0]: `path[0]` is text, not empty
    spec.splits.d.mode: `mode` is one of `synced`, `mounted`, `remote_streamed`, `generated`, `hidden`, not null
    spec.splits.d.files: `files` is true or false, not `yes`
    spec.artifacts.a: `a` is a split and an artifact
    spec.artifacts.e: `e` is a path or a list of paths, not a mapping
    spec.splits.a.visibility: there is no label `publik` (did you mean `public`?)
    spec.splits.a.answers_for: there is no other split `b` (did you mean `d`?)
    spec.splits.d.visibility: `visibility` is `internal` here and `public` under `visibility`
    spec.visibility.splits.f: there is no split `f` (did you mean `a`?)
    spec.provenance: `provenance` is a mapping, not text
    spec.mode: `mode` is one of `synced`, `mounted`, `remote_streamed`, `generated`, `hidden`, not `sync` (did you mean `synced`?)
    spec.checksum.x: the checksum of `x` is not `sha256:` and 64 lowercase hexadecimal digits
    spec.checksum.y: the checksum of `y` is not `sha256:` and 64 lowercase hexadecimal digits
    spec.retention.days: `days` is not known here (known are `until`, `retain_days`)
    spec.parents[0]: `autogo@3` is neither a dataset nor a run (write `dataset:SLUG@VERSION` or `run:NAME`)
    spec.parents[1]: slug `x` is shorter than 3 characters
    spec.parents[2]: `run:` is neither a dataset nor a run (write `dataset:SLUG@VERSION` or `run:NAME`)
    spec.seed: `seed` is a value, not null
    spec.query: `query` is text, not empty
    spec.mount.path: `path` is text, not a boolean (put it in quotes)
    spec.mount.access: `access` is `read_only`, not `write`
    spec.mount.audiences[1]: `audiences[1]` is one of `agent`, `annotator`, `dashboard`, `evaluator`, `export`, `grader`, `infrastructure`, `log`, `operator`, `tool`, `trainer`, not `grade` (did you mean `grader`?)
    ");
    let spec = r#""splits":{"":{"visibility":"unknown"}},"visibility":{"field":{}}"#;
    insta::assert_snapshot!(problems(&declared(NAMES, spec)).join("\n"), @r"
    spec.visibility: `field` must be left out: a policy has no such part
    spec.splits.: the name of a split is empty
    spec.splits.: split `` has no `path`, and there is no `source`
    ");
}
