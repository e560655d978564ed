//! What a sync registers, refuses, and goes on from.

use heldset_core::value::Value;
use heldset_core::visibility::Viewer;
use heldset_engine::import::Labelling;
use heldset_engine::source::{SyncRequest, live, preview, rm, test};
use heldset_store::documents::SourcesDoc;
use heldset_testkit::MadeUpFeeds;

use super::{World, code, request, sources_of};

const TWO: &str = r#"{"connector_instance_id":"api","operation_id":"a","display_name":"A","field_mappings":{"k":"id","t.s":"title"}}"#;

fn three_pages() -> MadeUpFeeds {
    MadeUpFeeds::of(
        "a",
        &[
            &[r#"{"k":1,"t":{"s":"one"}}"#, r#"{"k":2,"t":{"s":"two"}}"#],
            &[r#"{"k":3,"t":{"s":"three"}}"#],
            &[r#"{"k":4}"#],
        ],
    )
}

fn expected(id: &str) -> String {
    [("1", "one"), ("2", "two"), ("3", "three")]
        .iter()
        .map(|(key, title)| format!("{{\"id\":\"{key}\",\"title\":\"{title}\",\"_source\":\"{id}\"}}\n"))
        .chain([format!("{{\"id\":\"4\",\"_source\":\"{id}\"}}\n")])
        .collect()
}

/// Ids and sources, in order.
fn rows(text: &str) -> Vec<(String, String)> {
    let member = |row: &Value<'_>, name: &str| row.as_object().unwrap().get(name).unwrap().as_str().unwrap().to_owned();
    let row = |line: &str| {
        let row = heldset_core::json::read(line).unwrap().into_owned();
        (member(&row, "id"), member(&row, "_source"))
    };
    text.lines().map(row).collect()
}

#[test]
fn what_a_source_holds_becomes_a_version() {
    let world = World::new(three_pages());
    *world.feeds.revision.lock().unwrap() = Some("r7".to_owned());
    let id = world.add(TWO).unwrap();
    let synced = world.sync().unwrap();
    assert_eq!((synced.sources[0].rows, synced.sources[0].pages, synced.committed.len()), (4, 3, 1));
    assert_eq!(world.rows(), expected(&id));
    let head = world.head();
    assert_eq!((head.number, head.mode.as_str()), (1, "synced"));
    let SourcesDoc::Open(sources) = &head.sources else { panic!("nothing is sealed") };
    let listed: Vec<_> = sources.iter().map(|source| (source.name.as_str(), source.state.as_str())).collect();
    assert_eq!(listed, [("a/0", "copied"), ("a/1", "copied"), ("a/2", "copied")]);
    assert_eq!(sources_of(&head)[0].get("revision"), Some(&Value::from("r7")));
    let edges = world.session().store.catalog().scan("edge", "").unwrap();
    assert_eq!(edges.len(), 1);
    assert!(edges[0].0.contains("synced_from") && edges[0].0.contains("source:A"), "{}", edges[0].0);
}

#[test]
fn a_sync_that_fails_at_any_page_goes_on_from_there() {
    for fails_at in 0..3 {
        let world = World::new(three_pages());
        let id = world.add(TWO).unwrap();
        *world.feeds.fails_at.lock().unwrap() = Some(fails_at);
        let (name, words) = code(world.sync());
        assert_eq!(name, "E070", "{words}");
        assert_eq!(words.contains("run it again to go on"), fails_at > 0, "{words}");
        *world.feeds.fails_at.lock().unwrap() = None;
        world.feeds.asked.lock().unwrap().clear();
        let synced = world.sync().unwrap();
        assert_eq!(synced.sources[0].resumed, fails_at);
        assert_eq!(world.rows(), expected(&id));
        // The last page that was kept is read once more, to see whether it is the same.
        let read: Vec<usize> = world.feeds.asked.lock().unwrap().iter().map(|(_, page, _)| *page).collect();
        assert_eq!(read, (fails_at.saturating_sub(1)..3).collect::<Vec<_>>());
        assert!(!world.folder.path().join("store/runs").read_dir().unwrap().any(|_| true), "the journal is gone");
    }
}

#[test]
fn pages_that_changed_since_are_told_and_read_anew_when_asked() {
    let world = World::new(three_pages());
    let id = world.add(TWO).unwrap();
    *world.feeds.fails_at.lock().unwrap() = Some(2);
    assert_eq!(code(world.sync()).0, "E070");
    *world.feeds.fails_at.lock().unwrap() = None;
    world.feeds.set("a", &[&[r#"{"k":1,"t":{"s":"one"}}"#], &[r#"{"k":9}"#], &[r#"{"k":4}"#]]);
    let (name, words) = code(world.sync());
    assert_eq!(name, "E072");
    assert!(words.contains("--restart"), "{words}");
    world.sync_with(&SyncRequest { restart: true, ..request() }).unwrap();
    assert_eq!(world.rows().lines().count(), 3);
    assert!(world.rows().contains(&format!("{{\"id\":\"9\",\"_source\":\"{id}\"}}")));
}

#[test]
fn a_source_that_cannot_be_continued_is_read_anew() {
    let world = World::new(MadeUpFeeds { ends_only: true, ..three_pages() });
    let id = world.add(TWO).unwrap();
    *world.feeds.fails_at.lock().unwrap() = Some(2);
    let (_, words) = code(world.sync());
    assert!(!words.contains("go on"), "{words}");
    *world.feeds.fails_at.lock().unwrap() = None;
    assert_eq!(world.sync().unwrap().sources[0].resumed, 0);
    assert_eq!(world.rows(), expected(&id));
}

#[test]
fn a_record_on_two_pages_means_that_the_pages_shifted() {
    let world = World::new(MadeUpFeeds::of("a", &[&[r#"{"k":1}"#], &[r#"{"k":1}"#]]));
    world.add(TWO).unwrap();
    let (name, words) = code(world.sync());
    assert!(name == "E072" && words.contains("page 1 and again on page 2"), "{name} {words}");
}

#[test]
fn only_a_change_makes_a_version_and_other_sources_stay_in_their_place() {
    let world = World::new(three_pages());
    let a = world.add(TWO).unwrap();
    let b = world.add(r#"{"connector_instance_id":"api","operation_id":"b","display_name":"B"}"#).unwrap();
    world.feeds.set("b", &[&[r#"{"id":"x","n":1}"#]]);
    assert!(world.sync().unwrap().committed[0].created);
    assert!(!world.sync().unwrap().committed[0].created);
    let only = |name: &str| [name.to_owned()];
    assert!(!world.sync_with(&SyncRequest { sources: &only("A"), ..request() }).unwrap().committed[0].created);
    let before = world.rows();
    world.feeds.set("b", &[&[r#"{"id":"x","n":2}"#, r#"{"id":"y"}"#]]);
    let synced = world.sync_with(&SyncRequest { sources: &only(&b), ..request() }).unwrap();
    assert_eq!((synced.committed[0].created, synced.committed[0].version.number), (true, 2));
    let (ids, kept): (Vec<_>, Vec<_>) = rows(&before).into_iter().unzip();
    let (now, all): (Vec<_>, Vec<_>) = rows(&world.rows()).into_iter().unzip();
    let of_a = |ids: &[String]| ids.iter().position(|id| id == "1").map(|at| ids[at..at + 4].join(" "));
    assert_eq!((of_a(&ids), of_a(&now)), (Some("1 2 3 4".to_owned()), Some("1 2 3 4".to_owned())));
    assert_eq!(ids[0] == "x", now[0] == "x", "the sources keep their places");
    assert_eq!(
        (kept.iter().filter(|source| **source == a).count(), all.iter().filter(|source| **source == b).count()),
        (4, 2)
    );
    rm(&world.session(), "tickets", "A").unwrap();
    world.sync().unwrap();
    assert_eq!(world.rows().lines().count(), 2, "rows of a removed source leave with the next sync");
    assert_eq!(sources_of(&world.head()).len(), 1);
}

#[test]
fn an_id_in_two_sources_is_refused_with_both() {
    let world = World::new(three_pages());
    world.add(TWO).unwrap();
    world.add(r#"{"connector_instance_id":"api","operation_id":"b","display_name":"B"}"#).unwrap();
    world.feeds.set("b", &[&[r#"{"id":3}"#]]);
    let (name, words) = code(world.sync());
    assert!(name == "E012" && words.contains("in source `A`") && words.contains("in source `B`"), "{name} {words}");
}

#[test]
fn what_was_refused_is_read_again() {
    let world = World::new(three_pages());
    world.add(TWO).unwrap();
    world.add(r#"{"connector_instance_id":"api","operation_id":"b","display_name":"B"}"#).unwrap();
    world.feeds.set("b", &[&[r#"{"id":3}"#]]);
    assert_eq!(code(world.sync()).0, "E012");
    world.feeds.set("b", &[&[r#"{"id":5}"#]]);
    world.sync().unwrap();
    assert_eq!(world.rows().lines().count(), 5);
}

#[test]
fn rows_that_are_no_records_are_left_out_only_when_asked() {
    let world = World::new(MadeUpFeeds::of("a", &[&[r#"{"k":1}"#, r#"{"x":1}"#, "[]", r#"{"k":1}"#]]));
    world.add(TWO).unwrap();
    let synced = world.sync().unwrap();
    assert!(synced.refused && synced.committed.is_empty());
    assert_eq!(synced.sources[0].refused, 3);
    let synced = world.sync_with(&SyncRequest { keep_valid: true, ..request() }).unwrap();
    assert_eq!((synced.sources[0].rows, synced.sources[0].resumed), (1, 1), "what was read is used");
    assert_eq!(world.rows().lines().count(), 1);
    world.feeds.set("a", &[&[r#"{"k":1}"#, r#"{"k":2}"#]]);
    world.sync().unwrap();
    assert_eq!(world.rows().lines().count(), 2);
}

#[test]
fn what_was_read_before_a_failure_is_taken_only_when_asked() {
    let world = World::new(three_pages());
    world.add(TWO).unwrap();
    *world.feeds.fails_at.lock().unwrap() = Some(2);
    let synced = world.sync_with(&SyncRequest { keep_valid: true, ..request() }).unwrap();
    assert_eq!(synced.sources[0].failed.len(), 1);
    assert_eq!(world.rows().lines().count(), 3);
    *world.feeds.fails_at.lock().unwrap() = None;
    assert_eq!(world.sync().unwrap().sources[0].resumed, 2, "it goes on");
    assert_eq!(world.rows().lines().count(), 4);
    *world.feeds.failed.lock().unwrap() = vec![("broken.csv".to_owned(), "no header".to_owned())];
    let synced = world.sync().unwrap();
    assert!(synced.refused && synced.sources[0].failed.len() == 1);
}

#[test]
fn another_declaration_begins_anew() {
    let world = World::new(three_pages());
    world.add(TWO).unwrap();
    *world.feeds.fails_at.lock().unwrap() = Some(2);
    assert_eq!(code(world.sync()).0, "E070");
    *world.feeds.fails_at.lock().unwrap() = None;
    let patch = heldset_core::json::read(r#"{"field_mappings":{"k":"id"}}"#).unwrap().into_owned();
    heldset_engine::source::update(&world.session(), world.reach(), "tickets", "A", &patch).unwrap();
    assert_eq!(world.sync().unwrap().sources[0].resumed, 0);
    assert!(!world.rows().contains("title"));
}

#[test]
fn filters_are_counted_and_nothing_they_took_out_is_at_rest() {
    let world = World::new(MadeUpFeeds::of(
        "a",
        &[&[r#"{"id":1,"mail":"ann@secret.example","pin":"canary-pin"}"#, r#"{"id":2,"mail":"ann@secret.example"}"#]],
    ));
    let declared = r#"{"connector_instance_id":"api","operation_id":"a","display_name":"A",
        "privacy":[{"field":"mail","action":"hash"},{"field":"pin","action":"drop"},{"field":"nothing","action":"mask"}]}"#;
    world.add(declared).unwrap();
    let mut heard = heldset_testkit::Quiet::default();
    let synced = heldset_engine::source::sync(&world.session(), world.reach(), &request(), &mut heard).unwrap();
    let told: Vec<_> = heard.0.iter().map(|fault| fault.code.name()).collect();
    assert_eq!(told, ["H006"]);
    let counts = heldset_core::canonical::bytes(&synced.sources[0].privacy);
    let text = r#"[{"changed":2,"filter":"hash mail"},{"changed":1,"filter":"drop pin"},{"changed":0,"filter":"mask nothing"}]"#;
    assert_eq!(String::from_utf8(counts).unwrap(), text);
    assert_eq!(sources_of(&world.head())[0].get("privacy"), Some(&synced.sources[0].privacy));
    let bytes = world.bytes();
    for secret in ["ann@secret.example", "canary-pin"] {
        assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()), "{secret}");
    }
}

#[test]
fn with_filters_no_digest_tests_a_guess() {
    let rows: &[&[&str]] = &[&[r#"{"id":1,"pin":"4711"}"#], &[r#"{"id":2,"pin":"4712"}"#]];
    let plain = r#"{"connector_instance_id":"api","operation_id":"a","display_name":"A"}"#;
    let filtered = plain.replace('}', r#","privacy":[{"field":"pin","action":"drop"}]}"#);
    let said = |declared: &str| {
        let world = World::new(MadeUpFeeds::of("a", rows));
        *world.feeds.revision.lock().unwrap() = Some("etag-of-the-bytes".to_owned());
        world.add(declared).unwrap();
        let mode = heldset_engine::source::SyncMode::Stream { cache: false };
        let synced = world.sync_with(&SyncRequest { mode, ..request() }).unwrap();
        assert!(!world.sync_with(&SyncRequest { mode, ..request() }).unwrap().committed[0].created);
        let version = &synced.committed[0].version;
        format!("{} {:?}", version.provenance, version.sources)
    };
    let (open, keyed) = (said(plain), said(&filtered));
    assert!(open.contains("etag-of-the-bytes") && open.contains("\"cursor\""), "{open}");
    assert!(!keyed.contains("etag-of-the-bytes") && !keyed.contains("\"cursor\""), "{keyed}");
    let is_hex = |word: &&str| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let digests: Vec<&str> = open.split(|c: char| !c.is_ascii_alphanumeric()).filter(is_hex).collect();
    assert!(digests.len() >= 4, "pages and objects: {open}");
    assert!(digests.iter().all(|digest| !keyed.contains(digest)), "{keyed}");
}

#[test]
fn a_source_that_was_synced_stays_in_its_split() {
    let world = World::new(three_pages());
    world.add(TWO).unwrap();
    let change = |patch: &str| {
        let patch = heldset_core::json::read(patch).unwrap().into_owned();
        heldset_engine::source::update(&world.session(), world.reach(), "tickets", "A", &patch)
    };
    change(r#"{"split":"other"}"#).unwrap();
    world.sync().unwrap();
    let (name, words) = code(change(r#"{"split":"third"}"#));
    assert!(name == "E103" && words.contains("split `other`") && words.contains("source rm"), "{name} {words}");
    assert_eq!(code(change(r#"{"split":null}"#)).0, "E103");
    change(r#"{"split":"other","display_name":"B"}"#).unwrap();
}

#[test]
fn provenance_of_a_sealed_version_names_no_field_and_tests_no_guess() {
    let world = World::new(MadeUpFeeds::of(
        "a",
        &[&[r#"{"id":1,"input":"q","expected_thing":"canary-answer","odd_note":"canary-note"}"#]],
    ));
    *world.feeds.revision.lock().unwrap() = Some("etag".to_owned());
    let declared = r#"{"connector_instance_id":"api","operation_id":"a","display_name":"A","privacy":[{"field":"odd_note","action":"mask"}]}"#;
    world.add(declared).unwrap();
    world.sync().unwrap();
    let head = world.head();
    for name in ["expected_thing", "odd_note", "etag", "sha256"] {
        assert!(!head.provenance.contains(name), "{name} in {}", head.provenance);
    }
    assert!(matches!(head.sources, SourcesDoc::Sealed(_)));
    let bytes = world.bytes();
    for sealed in ["canary-answer", "canary-note"] {
        assert!(!bytes.windows(sealed.len()).any(|window| window == sealed.as_bytes()), "{sealed}");
    }
    let cases = head.policy.contains("evaluator_only");
    assert!(cases, "an answer is never open by accident: {}", head.policy);
}

#[test]
fn labels_that_are_stated_hold() {
    let world = World::new(three_pages());
    world.add(TWO).unwrap();
    let labelling =
        Labelling { labels: vec![("title".to_owned(), "evaluator_only".to_owned())], ..Labelling::default() };
    world.sync_with(&SyncRequest { labelling: &labelling, ..request() }).unwrap();
    let bytes = world.bytes();
    assert!(!bytes.windows(5).any(|window| window == b"three"));
}

#[test]
fn a_test_and_a_preview_say_what_a_sync_would_do() {
    let world = World::new(three_pages());
    world.add(TWO).unwrap();
    let tested = test(&world.session(), world.reach(), "tickets", &[], 3).unwrap();
    assert_eq!((tested[0].record_count, tested[0].complete, tested[0].error.is_none()), (3, false, true));
    let previewed = preview(&world.session(), world.reach(), "tickets", &[], 1).unwrap();
    assert_eq!(previewed[0].transformations_applied, ["k → id", "t.s → title"]);
    assert_eq!(previewed[0].source_data.len(), 1);
    assert_eq!(previewed[0].transformed_data[0].get("title"), Some(&Value::from("one")));
    *world.feeds.fails_at.lock().unwrap() = Some(0);
    let tested = test(&world.session(), world.reach(), "tickets", &[], 3).unwrap();
    assert_eq!(tested[0].error.as_ref().unwrap().code.name(), "E070");
    let agent = world.session_of("tester", Viewer::parse("operator").unwrap());
    assert_eq!(code(preview(&agent, world.reach(), "tickets", &[], 1)).0, "E120");
    assert_eq!(code(test(&agent, world.reach(), "tickets", &[], 1)).0, "E120");
}

#[test]
fn live_rows_pass_mapping_and_filters_and_are_not_stored() {
    let world = World::new(three_pages());
    let id = world.add(TWO).unwrap();
    let read = live(&world.session(), world.reach(), "tickets", &[], None, Some(3)).unwrap();
    assert_eq!((read.rows.len(), read.pages.len()), (3, 2));
    assert_eq!(read.rows[0].1.get("_source"), Some(&Value::from(id)));
    assert!(world.session().store.catalog().scan("version", "").unwrap().is_empty());
}
