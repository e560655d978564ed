//! `heldset register`.

use std::fs;

use heldset_core::digest::sha256;

use crate::{Store, store};

const PROMPTS: &str = "{\"id\":\"a\",\"text\":\"is it one?\"}\n{\"id\":\"b\",\"text\":\"is it two?\"}\n";
const LABELS: &str = "{\"id\":\"a\",\"label\":\"hidden-label-one\"}\n";

/// The W2S example: public prompts, hidden labels, checksums.
fn w2s() -> Store {
    let kept = store();
    fs::create_dir(kept.path().join("release")).unwrap();
    kept.file("release/prompts.jsonl", PROMPTS).file("release/labels.jsonl", LABELS);
    let (prompts, labels) = (sha256(PROMPTS.as_bytes()), sha256(LABELS.as_bytes()));
    let declaration = format!(
        "apiVersion: heldset/v1
kind: Dataset
metadata: {{name: W2S prompts, slug: w2s-prompts, license: CC-BY-4.0, tags: [benchmark]}}
spec:
  mode: synced
  source: {{uri: ./release/, revision: \"2026-04-12\"}}
  splits:
    public_prompts: {{path: prompts.jsonl, visibility: agent_visible}}
    hidden_labels: {{path: labels.jsonl, visibility: evaluator_only, answers_for: public_prompts}}
  checksum: {{prompts.jsonl: \"{prompts}\", labels.jsonl: \"{labels}\"}}
  provenance: {{imported_from: benchmark release 2026-04-12}}
  retention: {{until: 2028-01-01}}
"
    );
    kept.file("dataset.yaml", declaration);
    kept
}

/// The declaration with some text in place of another.
fn redeclare(kept: &Store, from: &str, to: &str) {
    let path = kept.path().join("dataset.yaml");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{from}");
    fs::write(path, text.replace(from, to)).unwrap();
}

#[test]
fn a_dry_run_says_what_would_change_and_writes_nothing() {
    let kept = w2s();
    let before = kept.files(".heldset/objects");
    let said = kept.fine(&["register", "dataset.yaml", "--dry-run", "--json"]);
    assert!(said.contains("\"change\":\"new dataset\"") && said.contains("\"created\":false"), "{said}");
    assert!(said.contains("\"label\":\"evaluator_only\",\"name\":\"hidden_labels\",\"rows\":1"), "{said}");
    assert_eq!(kept.fine(&["ls"]), "");
    assert!(!kept.path().join("keys").exists());
    assert_eq!(kept.files(".heldset/objects"), before);
}

#[test]
fn a_benchmark_with_hidden_labels_is_one_version_and_agents_see_its_prompts() {
    let kept = w2s();
    let first = kept.fine(&["register", "dataset.yaml", "--json", "-m", "first"]);
    assert!(first.contains("\"version\":1") && first.contains("\"created\":true"), "{first}");
    let again = kept.fine(&["register", "dataset.yaml", "--json"]);
    assert!(again.contains("\"version\":1") && again.contains("\"change\":\"nothing\""), "{again}");
    assert_eq!(kept.fine(&["cat", "w2s-prompts", "--as", "agent"]), PROMPTS);
    assert_eq!(kept.fine(&["cat", "w2s-prompts", "--split", "hidden_labels", "--as", "grader"]), LABELS);
    let shown = kept.fine(&["show", "w2s-prompts", "--json"]);
    for part in [
        "\"name\":\"W2S prompts\"",
        "\"license\":\"CC-BY-4.0\"",
        "\"revision\":\"2026-04-12\"",
        "\"until\":\"2028-01-01\"",
        "\"imported_from\":\"benchmark release 2026-04-12\"",
        "\"message\":\"first\"",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn only_what_changed_becomes_new() {
    let kept = w2s();
    kept.fine(&["register", "dataset.yaml"]);
    redeclare(&kept, "name: W2S prompts", "name: W2S prompts and labels, description: weak to strong");
    let dry = kept.fine(&["register", "dataset.yaml", "--dry-run", "--json"]);
    assert!(dry.contains("\"change\":\"description\""), "{dry}");
    let described = kept.fine(&["register", "dataset.yaml", "--json"]);
    assert!(described.contains("\"created\":false") && described.contains("\"change\":\"description\""), "{described}");
    assert!(kept.fine(&["show", "w2s-prompts", "--json"]).contains("\"description\":\"weak to strong\""));
    redeclare(&kept, "release 2026-04-12", "release 2026-05-12");
    assert!(kept.fine(&["register", "dataset.yaml", "--dry-run"]).contains("w2s-prompts@2 would be: new version"));
    assert!(kept.fine(&["register", "dataset.yaml"]).starts_with("w2s-prompts@2 sha256:"));
    redeclare(&kept, "visibility: evaluator_only", "visibility: agent_visible");
    let ran = kept.run(&["register", "dataset.yaml"]);
    assert!(ran.code == 5 && ran.err.contains("E122"), "{}", ran.err);
}

#[test]
fn files_that_are_not_the_declared_ones_are_refused_before_anything_is_written() {
    let kept = w2s();
    kept.file("release/labels.jsonl", "{\"id\":\"a\",\"label\":\"other\"}\n");
    for args in [&["register", "dataset.yaml"][..], &["register", "dataset.yaml", "--dry-run"]] {
        let ran = kept.run(args);
        assert!(ran.code == 6 && ran.err.contains("E042"), "{}", ran.err);
        assert!(ran.err.contains("labels.jsonl") && ran.err.contains(&sha256(LABELS.as_bytes()).to_string()));
    }
    assert_eq!(kept.fine(&["ls"]), "");
    assert!(kept.files(".heldset/objects").is_empty());
}

#[test]
fn what_is_wrong_with_a_declaration_is_said() {
    let stray = "{\"id\":\"zz\",\"label\":\"for nobody\"}\n";
    for (from, to, code, exit, said) in [
        ("slug: w2s-prompts", "slug: w2s-prompts, owner: me", "E021", 3, "`owner` is not known here"),
        ("mode: synced", "mode: remote_streamed", "E076", 2, "connector"),
        (
            "slug: w2s-prompts",
            "slug: w2s-prompts, status: published",
            "E047",
            2,
            "dataset status w2s-prompts published",
        ),
        ("slug: w2s-prompts", "slug: w2s-prompts, certification_level: gold", "E048", 2, "--certification gold"),
        ("slug: w2s-prompts", "slug: w2s-prompts, owner_id: me", "E021", 3, "`owner_id` is a UUID"),
        ("path: prompts.jsonl", "path: \"gs://bucket/prompts.jsonl\"", "E103", 2, "gs://bucket/prompts.jsonl"),
        ("path: prompts.jsonl", "path: prompt.jsonl", "E101", 2, "prompt.jsonl"),
        ("visibility: evaluator_only, ", "", "E040", 3, "hidden_labels"),
        ("mode: synced", "mode: generated", "E044", 2, "--parent"),
        ("mode: synced", "mode: hidden", "E103", 2, "public_prompts"),
    ] {
        let kept = w2s();
        redeclare(&kept, from, to);
        let ran = kept.run(&["register", "dataset.yaml"]);
        assert!(ran.code == exit && ran.err.contains(code) && ran.err.contains(said), "{to}: {} {}", ran.code, ran.err);
        assert_eq!(kept.fine(&["ls"]), "");
    }
    let kept = w2s();
    kept.file("release/labels.jsonl", stray);
    redeclare(&kept, &sha256(LABELS.as_bytes()).hex(), &sha256(stray.as_bytes()).hex());
    for args in [&["register", "dataset.yaml", "--dry-run"][..], &["register", "dataset.yaml"]] {
        let ran = kept.run(args);
        assert!(ran.code == 3 && ran.err.contains("E041") && ran.err.contains("`zz`"), "{}", ran.err);
    }
}

#[test]
fn self_play_is_registered_with_its_parents_and_checkpoints() {
    let kept = store();
    kept.file("openings.jsonl", "{\"id\":\"1\",\"moves\":\"e4 e5\"}\n");
    kept.fine(&["import", "autogo-openings", "openings.jsonl", "-q"]);
    kept.fine(&["tag", "autogo-openings@1", "v3"]);
    fs::create_dir_all(kept.path().join("run-8421/games")).unwrap();
    fs::create_dir_all(kept.path().join("run-8421/checkpoints")).unwrap();
    for (name, id) in [("a", 1), ("b", 2)] {
        let game = format!("{{\"id\":\"g{id}\",\"result\":\"black\"}}\n");
        kept.file(&format!("run-8421/games/{name}.jsonl"), game);
        kept.file(&format!("run-8421/checkpoints/{name}.safetensors"), [id; 40]);
    }
    let declaration = |code: &str| {
        format!(
            "apiVersion: heldset/v1
kind: Dataset
metadata: {{name: AutoGo self-play, slug: autogo-selfplay}}
spec:
  mode: generated
  parents: [dataset:autogo-openings@v3, run:autogo-train-8421]
  {code}
  artifacts:
    games: ./run-8421/games/*.jsonl
    checkpoints: ./run-8421/checkpoints/*.safetensors
"
        )
    };
    let ran = kept.file("dataset.yaml", declaration("seed: 1")).run(&["register", "dataset.yaml"]);
    assert!(ran.code == 2 && ran.err.contains("E044") && ran.err.contains("--code"), "{}", ran.err);
    kept.file("dataset.yaml", declaration("code: c0ffee")).fine(&["register", "dataset.yaml"]);
    assert_eq!(kept.fine(&["cat", "autogo-selfplay", "--split", "games"]).lines().count(), 2);
    assert!(kept.fine(&["cat", "autogo-selfplay", "--split", "checkpoints"]).contains("b.safetensors"));
    let shown = kept.fine(&["show", "autogo-selfplay", "--json"]);
    for part in ["\"run\":\"autogo-train-8421\"", "\"cited\":\"dataset:autogo-openings@v3\"", "\"mode\":\"generated\""]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(kept.fine(&["register", "dataset.yaml", "--json"]).contains("\"change\":\"nothing\""));
}

#[test]
fn a_folder_is_mounted_as_declared() {
    let kept = store();
    fs::create_dir(kept.path().join("books")).unwrap();
    kept.file("books/rules.jsonl", "{\"id\":\"1\"}\n");
    let declaration = "apiVersion: heldset/v1\nkind: Dataset\nmetadata: {name: Opening books, slug: books}\nspec: {mode: mounted, source: {uri: books}}\n";
    kept.file("dataset.yaml", declaration).fine(&["register", "dataset.yaml"]);
    assert!(kept.fine(&["cat", "books"]).contains("\"path\":\"rules.jsonl\""));
    assert!(kept.fine(&["show", "books", "--json"]).contains("\"mode\":\"mounted\""));
}

#[test]
fn only_those_who_run_the_store_register() {
    let kept = w2s();
    let ran = kept.run(&["register", "dataset.yaml", "--as", "evaluator"]);
    assert!(ran.code == 5 && ran.err.contains("E120"), "{}", ran.err);
}

/// The remote labelling stream of the primitive, with the records that were consumed.
fn triage() -> Store {
    let kept = store();
    kept.file("triage-cases-188.jsonl", "{\"id\":\"c1\",\"text\":\"fever\"}\n{\"id\":\"c2\",\"text\":\"cough\"}\n");
    let declaration = "apiVersion: heldset/v1
kind: Dataset
metadata: {name: Triage cases, slug: triage-cases}
spec:
  mode: remote_streamed
  source: {uri: \"warehouse://prod.cases\"}
  query: select id, text from cases where labelled = false
  snapshot_time: 2026-05-01T00:00:00Z
  replay_manifest: triage-cases-188.jsonl
";
    kept.file("dataset.yaml", declaration);
    kept
}

#[test]
fn a_stream_is_pinned_by_its_query_its_time_and_the_records_that_were_consumed() {
    let kept = triage();
    let dry = kept.fine(&["register", "dataset.yaml", "--dry-run"]);
    assert!(dry.contains("triage-cases@1 would be: new dataset"), "{dry}");
    kept.fine(&["register", "dataset.yaml"]);
    assert_eq!(kept.fine(&["cat", "triage-cases"]).lines().count(), 2);
    let shown = kept.fine(&["show", "triage-cases", "--json"]);
    let digest = sha256(b"select id, text from cases where labelled = false").to_string();
    for part in [
        "\"mode\":\"remote_streamed\"",
        "\"source\":\"warehouse://prod.cases\"",
        &format!("\"query_digest\":\"{digest}\""),
        "\"snapshot_time\":\"2026-05-01T00:00:00Z\"",
        "\"replay\":\"exact\"",
        "\"path\":\"triage-cases-188.jsonl\",\"sha256\":\"sha256:",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(kept.fine(&["register", "dataset.yaml", "--json"]).contains("\"change\":\"nothing\""));
    redeclare(&kept, "snapshot_time: 2026-05-01", "snapshot_time: 2026-06-01");
    assert!(kept.fine(&["register", "dataset.yaml"]).starts_with("triage-cases@2 sha256:"));
}

#[test]
fn a_stream_that_cannot_be_replayed_is_refused() {
    for (from, to, code, exit, said) in [
        (
            "replay_manifest: triage",
            "replay_manifest: gs://aquamarine/manifests/triage",
            "E076",
            2,
            "it is not a file here",
        ),
        ("replay_manifest: triage-cases-188.jsonl", "", "E076", 2, "lacks `replay_manifest`"),
        ("replay_manifest: triage-cases-188", "replay_manifest: other", "E076", 2, "there is no such file"),
        ("query: select id, text from cases where labelled = false", "", "E076", 2, "lacks `query` or `query_digest`"),
        ("  mode: remote_streamed\n", "", "E103", 2, "are of a stream"),
        (
            "  query:",
            "  query_digest: \"sha256:0000000000000000000000000000000000000000000000000000000000000000\"\n  query:",
            "E042",
            6,
            "the query is not the declared one",
        ),
        ("  query:", "  query_digest: abc\n  query:", "E021", 3, "query_digest"),
    ] {
        let kept = triage();
        redeclare(&kept, from, to);
        let ran = kept.run(&["register", "dataset.yaml"]);
        assert!(ran.code == exit && ran.err.contains(code) && ran.err.contains(said), "{to}: {} {}", ran.code, ran.err);
        assert_eq!(kept.fine(&["ls"]), "");
    }
}

#[test]
fn a_store_requires_what_it_was_told_to() {
    let kept = w2s();
    kept.fine(&["init", "--change", "--require", "license,provenance,manifest,checksum,visibility"]);
    kept.fine(&["register", "dataset.yaml", "--dry-run"]);
    for (from, to, what) in [
        ("license: CC-BY-4.0, ", "", "`license`"),
        ("  provenance: {imported_from: benchmark release 2026-04-12}\n", "", "`provenance`"),
        ("  checksum: {prompts.jsonl: ", "  checksum: {release.txt: ", "`manifest`"),
    ] {
        let kept = w2s();
        kept.file("release/release.txt", PROMPTS);
        kept.fine(&["init", "--change", "--require", "license,provenance,manifest,checksum,visibility"]);
        redeclare(&kept, from, to);
        let ran = kept.run(&["register", "dataset.yaml"]);
        assert!(
            ran.code == 3 && ran.err.contains("E077") && ran.err.contains(what),
            "{what}: {} {}",
            ran.code,
            ran.err
        );
        assert_eq!(kept.fine(&["ls"]), "");
        kept.fine(&["init", "--change", "--require", "none"]);
        kept.fine(&["register", "dataset.yaml"]);
    }
    let ran = kept.run(&["init", "--change", "--require", "licence"]);
    assert!(ran.code == 2 && ran.err.contains("did you mean `license`?"), "{}", ran.err);
    // Without a word, who may see files must be stated; that of records follows from their profile.
    let kept = store();
    fs::create_dir(kept.path().join("papers")).unwrap();
    kept.file("papers/a.txt", "one").file(
        "dataset.yaml",
        "apiVersion: heldset/v1\nkind: Dataset\nmetadata: {name: Some papers, slug: papers}\nspec: {source: papers}\n",
    );
    let ran = kept.run(&["register", "dataset.yaml"]);
    assert!(ran.code == 3 && ran.err.contains("E077") && ran.err.contains("visibility"), "{} {}", ran.code, ran.err);
    redeclare(&kept, "{source: papers}", "{source: papers, visibility: {default: agent_visible}}");
    kept.fine(&["register", "dataset.yaml"]);
}
