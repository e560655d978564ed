//! One who holds the whole store but not its keys, and all open data, tests guesses: none is confirmed.

use std::collections::{HashMap, HashSet};

use heldset_core::digest::{CommitKey, Digest, sha256};
use heldset_core::leaf::{Leaves, group_digest, leaf_of_groups};
use heldset_core::merkle::leaf_hash;
use heldset_core::record::{Record, RecordId};
use heldset_core::value::{Object, Value};
use heldset_core::visibility::SplitLabels;
use heldset_engine::erase::{Erasure, erase};
use heldset_engine::import::{About, Change, ImportRequest, Labelling, change, import};
use heldset_engine::resolve::resolve;
use heldset_engine::session::Session;
use heldset_store::Store;
use heldset_testkit::{MemorySources, Quiet, Seeded};

use crate::worlds::{reading, session};

const RECORDS: usize = 10_000;
const CHOICES: [&str; 4] = ["A", "B", "C", "D"];
/// What the catalogue keeps.
const SPACES: [&str; 12] =
    ["dataset", "version", "digest", "tag", "roots", "pack", "files", "lines", "copy", "audit", "audit-head", "backup"];

fn id(row: usize) -> String {
    format!("q-{row}")
}

fn line(row: usize, answer: &str) -> String {
    format!("{{\"id\":\"q-{row}\",\"input\":\"question {row}\",\"expected_output\":\"{answer}\"}}")
}

fn request<'r>(
    labelling: &'r Labelling,
    about: &'r About,
    reading: &'r heldset_dialect::ReadOptions,
) -> ImportRequest<'r> {
    ImportRequest { slug: "exam", split: "default", reading, labelling, about, keep_valid: false }
}

fn import_rows(session: &Session, rows: &str, upsert: bool) {
    let sources = MemorySources { name: "exam.jsonl".to_owned(), bytes: rows.as_bytes().to_vec() };
    let (labelling, about, reading) = (Labelling::default(), About::default(), reading());
    let request = request(&labelling, &about, &reading);
    let imported = match upsert {
        false => import(session, &request, &sources, &mut Quiet::default()),
        true => change(session, &request, &Change { sources: Some(&sources), remove: &[] }, &mut Quiet::default()),
    };
    assert!(imported.unwrap().committed.is_some());
}

/// Everything at rest: entries of the catalogue with their names, and objects.
fn everything(store: &Store) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for space in SPACES {
        for (key, value) in store.catalog().scan(space, "").unwrap() {
            found.extend([key.into_bytes(), value]);
        }
    }
    for (address, _) in store.objects().list().unwrap() {
        found.push(store.objects().get(&address).unwrap().to_vec());
    }
    found
}

/// The start of every run of bytes that may be a digest: as it is, or in hexadecimal digits.
fn starts(bytes: &[u8], into: &mut HashSet<[u8; 8]>) {
    into.extend(bytes.array_windows::<8>());
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    for window in bytes.array_windows::<16>() {
        let pair = |at: usize| Some(digit(window[2 * at])? << 4 | digit(window[2 * at + 1])?);
        if let [Some(a), Some(b), Some(c), Some(d), Some(e), Some(f), Some(g), Some(h)] = std::array::from_fn(pair) {
            into.insert([a, b, c, d, e, f, g, h]);
        }
    }
}

fn start(digest: &Digest) -> [u8; 8] {
    std::array::from_fn(|at| digest.as_bytes()[at])
}

/// What an attacker can compute for one guess: everything that an identity without a key would be made of.
fn guesses(row: usize, answer: &str, content: &mut Leaves, keyed: &mut [Leaves]) -> Vec<Digest> {
    let sealed = format!("{{\"expected_output\":\"{answer}\"}}");
    let open = format!("{{\"input\":\"question {row}\"}}");
    let group = group_digest("evaluator_only", sealed.as_bytes(), None);
    let groups = [("agent_visible", group_digest("agent_visible", open.as_bytes(), None)), ("evaluator_only", group)];
    let record = record(row, answer);
    let leaf = content.leaf(&record);
    let line = line(row, answer);
    let mut made = vec![group, leaf, leaf_of_groups(&id(row), &groups), leaf_hash(leaf.as_bytes())];
    made.extend(
        [&line, &format!("{line}\n"), &format!("{}{answer}", id(row)), &format!("{} {answer}", id(row))]
            .map(|text| sha256(text.as_bytes())),
    );
    for leaves in keyed {
        made.extend([leaves.leaf(&record)]);
        made.extend(leaves.groups(&record).filter(|(label, _)| *label == "evaluator_only").map(|(_, digest)| digest));
    }
    made
}

fn record(row: usize, answer: &str) -> Record<'static> {
    let mut fields = Object::new();
    fields.set("input", Value::from(format!("question {row}")));
    fields.set("expected_output", Value::from(answer.to_owned()));
    Record { id: RecordId::from_text(id(row), "id").unwrap().into_owned(), fields }
}

/// How many guesses of the first records are confirmed by something that is known.
fn confirmed(rows: usize, known: &HashSet<[u8; 8]>, labels: &SplitLabels, keys: &[CommitKey]) -> usize {
    let mut content = Leaves::content(labels.clone());
    let mut keyed: Vec<Leaves> = keys.iter().map(|key| Leaves::committed(labels.clone(), key)).collect();
    let mut count = 0;
    for row in 0..rows {
        for answer in CHOICES {
            let made = guesses(row, answer, &mut content, &mut keyed);
            count += usize::from(made.iter().any(|digest| known.contains(&start(digest))));
        }
    }
    count
}

#[test]
fn no_guess_of_ten_thousand_answers_is_confirmed() {
    let session = session(42);
    let choices = Seeded::new(99);
    let answers: Vec<&str> = (0..RECORDS).map(|_| *choices.one(&CHOICES)).collect();
    let rows: String = answers.iter().enumerate().map(|(row, answer)| line(row, answer) + "\n").collect();
    import_rows(&session, &rows, false);
    import_rows(&session, &(line(5, "A") + "\n" + &line(5000, "B") + "\n"), true);
    let erasure = Erasure { slug: "exam", id: "q-7", split: None, reason: "a request" };
    erase(&session, &erasure).unwrap();

    let resolved = resolve(&session.store, "exam").unwrap();
    let labels = resolved.policy.in_split("default").unwrap();
    let mut known = HashSet::new();
    everything(&session.store).iter().for_each(|bytes| starts(bytes, &mut known));
    // Leaves and commitments are public: a proof shows them.
    let key = session.store.keys().load(&resolved.dataset.id).unwrap().unwrap().commit_key();
    let mut public = Leaves::committed(labels.clone(), &key);
    for (row, answer) in answers.iter().enumerate() {
        let record = record(row, answer);
        known.insert(start(&public.leaf(&record)));
        known
            .extend(public.groups(&record).filter(|(label, _)| *label == "evaluator_only").map(|(_, one)| start(&one)));
    }
    // Keys that could be guessed.
    let from = |text: &str| CommitKey::new(*sha256(text.as_bytes()).as_bytes());
    let keys = [CommitKey::new([0; 32]), from(&resolved.dataset.id)];
    assert_eq!(confirmed(RECORDS, &known, &labels, &keys), 0);
    // The same attack has every answer as soon as commitments are not keyed, or the key is known.
    let mut content = Leaves::content(labels.clone());
    let open = answers.iter().take(500).enumerate().map(|(row, answer)| start(&content.leaf(&record(row, answer))));
    assert_eq!(confirmed(500, &open.collect(), &labels, &[]), 500);
}

#[test]
fn the_key_is_all_that_keeps_answers_apart() {
    let session = session(1);
    import_rows(&session, &(line(0, "A") + "\n"), false);
    let resolved = resolve(&session.store, "exam").unwrap();
    let labels = resolved.policy.in_split("default").unwrap();
    let key = session.store.keys().load(&resolved.dataset.id).unwrap().unwrap().commit_key();
    let leaf = Leaves::committed(labels.clone(), &key).leaf(&record(0, "A"));
    let known = HashSet::from([start(&leaf)]);
    assert_eq!(confirmed(1, &known, &labels, &[key]), 1);
}

#[test]
fn the_sizes_of_objects_do_not_tell_answers_apart() {
    let mut sizes: HashMap<&str, HashSet<Vec<u64>>> = HashMap::new();
    for round in 0..24 {
        let answer = CHOICES[round % 4];
        let session = session(round as u64);
        import_rows(&session, &(line(0, answer) + "\n"), false);
        let mut found: Vec<u64> = session.store.objects().list().unwrap().into_iter().map(|(_, size)| size).collect();
        found.sort_unstable();
        sizes.entry(answer).or_default().insert(found);
    }
    assert_eq!(sizes.len(), 4);
    assert!(sizes.values().all(|found| *found == sizes["A"]), "{sizes:?}");
}
