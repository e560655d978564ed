//! The vectors of the identity contract, which another program made.

use heldset_core::digest::{CommitKey, Digest, tagged_value};
use heldset_core::files_split::{self, FileEntry};
use heldset_core::leaf::Leaves;
use heldset_core::manifest::{self, Mode, SplitEntry, VersionCore};
use heldset_core::profile::Profile;
use heldset_core::run::{RunInput, Target};
use heldset_core::value::{Object, Value};
use heldset_core::visibility::{Policy, PolicyDraft};
use heldset_core::{canonical, json};

use crate::generate::record;
use crate::leaf::chunks;

const TEXT: &str = include_str!("identity-vectors.json");

fn vectors() -> Value<'static> {
    json::read(TEXT).unwrap()
}

fn at<'v>(value: &'v Value<'static>, key: &str) -> &'v Value<'static> {
    value.as_object().and_then(|object| object.get(key)).unwrap_or_else(|| panic!("there is no {key}"))
}

fn text<'v>(value: &'v Value<'static>, key: &str) -> &'v str {
    at(value, key).as_str().unwrap()
}

fn list<'v>(value: &'v Value<'static>, key: &str) -> &'v [Value<'static>] {
    at(value, key).as_array().unwrap()
}

fn object<'v>(value: &'v Value<'static>, key: &str) -> &'v Object<'static> {
    at(value, key).as_object().unwrap()
}

fn count(value: &Value<'static>, key: &str) -> u64 {
    match at(value, key) {
        Value::Number(number) => number.as_u64().unwrap(),
        other => panic!("{key} is {}", other.type_name()),
    }
}

fn digest(value: &Value<'static>, key: &str) -> Digest {
    text(value, key).parse().unwrap()
}

fn commit_key() -> CommitKey {
    CommitKey::new(*digest(&vectors(), "commit_key_hex").as_bytes())
}

fn of_kind(kind: &str) -> Value<'static> {
    let vectors = vectors();
    let found = list(&vectors, "digests").iter().find(|entry| text(entry, "kind") == kind);
    found.cloned().unwrap_or_else(|| panic!("there is no digest of {kind}"))
}

fn stated_policy() -> Policy {
    PolicyDraft::from_value(at(&of_kind("policy"), "value")).unwrap().resolve().unwrap()
}

fn splits(entries: &[Value<'static>]) -> Vec<SplitEntry> {
    let split = |entry| SplitEntry {
        name: text(entry, "name").to_owned(),
        visibility: text(entry, "visibility").to_owned(),
        rows: count(entry, "rows"),
        root: digest(entry, "root"),
    };
    entries.iter().map(split).collect()
}

#[test]
fn canonical_bytes() {
    let vectors = vectors();
    assert_eq!(list(&vectors, "canonical").len(), 12);
    for vector in list(&vectors, "canonical") {
        let (source, expected) = (text(vector, "json"), text(vector, "canonical"));
        let bytes = canonical::bytes(&json::read(source).unwrap());
        assert_eq!(String::from_utf8(bytes).unwrap(), expected, "{source}");
        assert_eq!(canonical::bytes(&json::read(expected).unwrap()), expected.as_bytes(), "{expected}");
    }
}

#[test]
fn refused_texts() {
    let vectors = vectors();
    assert_eq!(list(&vectors, "refused").len(), 9);
    for vector in list(&vectors, "refused") {
        assert!(json::read(text(vector, "json")).is_err(), "{}", text(vector, "why"));
    }
}

#[test]
fn records_of_two_labels() {
    check_block(0, &stated_policy());
}

#[test]
fn records_of_the_case_profile() {
    check_block(1, &Profile::Case.draft().split("default", "agent_visible").resolve().unwrap());
}

#[test]
fn records_of_a_sealed_split() {
    check_block(2, &Profile::Plain.draft().split("hidden_labels", "evaluator_only").resolve().unwrap());
}

fn check_block(index: usize, policy: &Policy) {
    let vectors = vectors();
    let block = &list(&vectors, "record_blocks")[index];
    let labels = policy.in_split(text(block, "split")).unwrap();
    let mut leaves = Leaves::committed(labels, &commit_key());
    let mut made = Vec::new();
    for vector in list(block, "records") {
        let groups = object(vector, "open").iter().chain(object(vector, "sealed").iter());
        let fields = groups.flat_map(|(_, fields)| fields.as_object().unwrap().clone()).collect();
        let record = record(text(vector, "id"), fields);
        let groups: Vec<_> = leaves.groups(&record).map(|(label, digest)| (label.to_owned(), digest.hex())).collect();
        let expected = object(vector, "groups").iter();
        let expected: Vec<_> = expected.map(|(label, hex)| (label.to_owned(), hex.as_str().unwrap().into())).collect();
        assert_eq!(groups, expected);
        made.push(leaves.leaf(&record));
        assert_eq!(made.last(), Some(&digest(vector, "leaf")));
    }
    assert!(made.len() >= 2);
    assert_eq!(chunks(&made).1.root, digest(block, "root"));
}

#[test]
fn generated_splits() {
    let vectors = vectors();
    let cases = list(at(&vectors, "generated"), "cases");
    let most = cases.iter().map(|case| count(case, "n")).max();
    assert_eq!(most, Some(70_000));
    let policy = Profile::Plain.draft().split("any", "agent_visible").resolve().unwrap();
    let mut leaves = Leaves::content(policy.in_split("any").unwrap());
    let made: Vec<_> = (0..70_000).map(|row| leaves.leaf(&generated(row))).collect();
    for case in cases {
        let n = count(case, "n");
        let (chunks, sum) = chunks(&made[..n as usize]);
        assert_eq!((sum.rows, sum.chunks, sum.root), (n, count(case, "chunks"), digest(case, "split_root")));
        let head: Vec<_> = chunks.iter().take(12).map(|chunk| Value::from(chunk.rows as i64)).collect();
        assert_eq!(head, list(case, "chunk_sizes_head"));
    }
}

fn generated(row: u64) -> heldset_core::record::Record<'static> {
    let fields = [("input".into(), Value::from(format!("question {row}")))].into_iter().collect();
    record(&format!("g{row}"), fields).into_owned()
}

#[test]
fn splits_of_files() {
    let vectors = vectors();
    let files = at(&vectors, "files");
    let file = |entry| FileEntry {
        path: text(entry, "path").to_owned(),
        size: count(entry, "size"),
        sha256: digest(entry, "sha256"),
    };
    let mut entries: Vec<_> = list(files, "entries").iter().map(file).collect();
    assert_eq!(files_split::root(&entries), Ok(digest(files, "root")));
    entries.reverse();
    assert_eq!(files_split::root(&entries), Ok(digest(files, "root")));
}

#[test]
fn digests_of_the_parts_of_a_version() {
    let vectors = vectors();
    assert_eq!(list(&vectors, "digests").len(), 4);
    for vector in list(&vectors, "digests") {
        let (value, expected) = (at(vector, "value"), digest(vector, "digest"));
        assert_eq!(tagged_value(text(vector, "kind"), value), expected);
        let made = match text(vector, "kind") {
            "schema" => manifest::schema_digest(None),
            "policy" => manifest::policy_digest(&stated_policy()),
            "provenance" => manifest::provenance_digest(value.as_object().unwrap()),
            "records" => manifest::records_digest(&splits(value.as_array().unwrap())),
            other => panic!("{other}"),
        };
        assert_eq!(made, expected);
    }
    let schema = at(&of_kind("schema"), "value").clone();
    assert_eq!(manifest::schema_digest(Some(&schema)), manifest::schema_digest(None));
}

#[test]
fn the_digest_of_a_version() {
    let vectors = vectors();
    let version = at(&vectors, "version");
    let core = at(version, "core");
    let made = VersionCore {
        dataset: text(core, "dataset").to_owned(),
        mode: Mode::parse(text(core, "mode")).unwrap(),
        schema: digest(core, "schema"),
        policy: digest(core, "policy"),
        provenance: digest(core, "provenance"),
        parents: Vec::new(),
        splits: splits(list(core, "splits")),
    };
    assert_eq!(made.to_value(), *core);
    assert_eq!(made.digest(), digest(version, "digest"));
    let child = VersionCore { parents: vec![made.digest()], ..made.clone() };
    assert_ne!(child.digest(), made.digest());
    assert!(child.repeats(&made));
    for changed in [
        VersionCore { schema: made.policy, ..made.clone() },
        VersionCore { policy: made.schema, ..made.clone() },
        VersionCore { provenance: made.schema, ..made.clone() },
        VersionCore { splits: Vec::new(), ..made.clone() },
    ] {
        assert!(!changed.repeats(&made));
        assert_ne!(changed.digest(), made.digest());
    }
}

#[test]
fn the_key_of_a_run() {
    let vectors = vectors();
    let run = at(&vectors, "run_key");
    let payload = at(run, "payload");
    let target = Target::new(object(payload, "target").clone()).unwrap();
    let input = RunInput {
        target: &target,
        record_id: text(payload, "record_id"),
        input: Some(at(payload, "input")),
        turns: None,
        context: None,
        tools: None,
        agent_args: None,
        memory_seeds: Some(at(payload, "memory_seeds")),
        repeat: count(payload, "repeat"),
    };
    let mut bytes = Vec::new();
    input.write(&mut bytes);
    assert_eq!(String::from_utf8(bytes).unwrap(), String::from_utf8(canonical::bytes(payload)).unwrap());
    assert_eq!(input.key(), digest(run, "key"));
}
