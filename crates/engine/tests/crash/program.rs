//! A program of commits over made-up data: each action is one verb, and says which version it acknowledged.

use std::collections::BTreeMap;

use heldset_core::value::Value;
use heldset_engine::cat::{CatRequest, cat};
use heldset_engine::commit::Committed;
use heldset_engine::erase::{Erasure, erase};
use heldset_engine::import::{About, Change, ImportRequest, Imported, Labelling, change, import, import_files};
use heldset_engine::ports::Sources;
use heldset_engine::record::{EditRequest, edit};
use heldset_engine::refusal::Outcome;
use heldset_engine::session::Session;
use heldset_engine::{audit, gc, keys, tag};

use super::world::{Deaf, Nothing, Pictures, Rows, Seeded, reading};

/// Versions that were acknowledged: digest by dataset and number.
pub(crate) type Versions = BTreeMap<(String, u64), String>;

/// One verb with its arguments.
pub(crate) struct Action {
    pub(crate) name: &'static str,
    /// The day of 2026 on which it happens.
    pub(crate) day: &'static str,
    run: fn(&Session, &Data) -> Outcome<Option<Committed>>,
}

/// What the actions of one seed work with.
pub(crate) struct Data {
    pub(crate) first: String,
    second: String,
    patch: String,
    ids: Vec<String>,
    label: &'static str,
    pictures: Vec<(String, Vec<u8>)>,
}

pub(crate) const ACTIONS: &[Action] = &[
    Action { name: "import", day: "01-01", run: |session, data| rows(session, "trips", &data.first) },
    Action { name: "import open rows", day: "01-02", run: open_rows },
    Action { name: "import again", day: "01-03", run: |session, data| rows(session, "trips", &data.second) },
    Action { name: "upsert", day: "01-04", run: |session, data| changed(session, Some(&data.patch), &[]) },
    Action { name: "remove", day: "01-05", run: |session, data| changed(session, None, &data.ids[..1]) },
    Action { name: "edit", day: "01-06", run: edited },
    Action { name: "import files", day: "01-07", run: files },
    Action { name: "tag", day: "01-08", run: |session, _| tag::tag(session, "trips@2", "good").map(|_| None) },
    Action { name: "relabel", day: "01-09", run: relabelled },
    Action { name: "checkpoint", day: "01-10", run: |session, _| audit::checkpoint(session).map(|_| None) },
    Action { name: "cat", day: "01-11", run: seen },
    Action { name: "erase", day: "01-12", run: erased },
    Action { name: "keys", day: "01-13", run: kept },
    Action { name: "gc", day: "12-01", run: |session, _| gc::gc(session, false).map(|_| None) },
];

impl Action {
    /// Carries it out, and notes the version that it acknowledged.
    pub(crate) fn run(&self, session: &Session, data: &Data, acknowledged: &mut Versions) -> Outcome<()> {
        if let Some(Committed { dataset, version, .. }) = (self.run)(session, data)? {
            acknowledged.insert((dataset.slug, version.number), version.digest);
        }
        Ok(())
    }
}

impl Data {
    pub(crate) fn new(seed: u64) -> Data {
        let random = Seeded::new(seed);
        let count = 4 + random.below(30);
        let ids: Vec<String> = (0..count).map(|number| format!("r{number:03}-{}", random.below(1000))).collect();
        let first: Vec<String> = ids.iter().map(|id| row(id, &random)).collect();
        let mut second = first.clone();
        let changed = random.below(count);
        second[changed] = row(&ids[changed], &random);
        second.push(row("added", &random));
        let patch = [row(&ids[random.below(count)], &random), row("patched", &random)].concat();
        let picture =
            |number: usize| (format!("p/{number}.png"), (0..99 << number).map(|_| random.next() as u8).collect());
        Data {
            first: first.concat(),
            second: second.concat(),
            patch,
            label: ["evaluator_only", "internal", "public"][random.below(3)],
            pictures: (0..1 + random.below(3)).map(picture).collect(),
            ids,
        }
    }
}

/// A row, now and then a large or an odd one.
fn row(id: &str, random: &Seeded) -> String {
    let words = ["nile", "eiger", "lake", "trip", "über", "\\u0000", "日本"];
    let many = if random.below(12) == 0 { 900 } else { 5 };
    let text: Vec<&str> = (0..1 + random.below(many)).map(|_| words[random.below(words.len())]).collect();
    let (text, answer) = (text.join(" "), random.next());
    let more = if random.below(3) == 0 { format!(",\"n\":[{},null]", random.below(9)) } else { String::new() };
    format!("{{\"id\":\"{id}\",\"input\":\"{text}\",\"expected_output\":\"{answer}\"{more}}}\n")
}

fn rows(session: &Session, slug: &str, text: &str) -> Outcome<Option<Committed>> {
    let (labelling, about) = (Labelling::default(), About::default());
    imported(import(session, &request(slug, "default", &labelling, &about), &Rows::of(text), &mut Deaf))
}

/// Every record can be seen by everybody, and is kept for thirty days.
fn open_rows(session: &Session, data: &Data) -> Outcome<Option<Committed>> {
    let everything = [("expected_output".to_owned(), "public".to_owned()), ("input".to_owned(), "public".to_owned())];
    let labelling =
        Labelling { labels: everything.to_vec(), visibility: Some("public".to_owned()), ..Labelling::default() };
    let about = About { retention: Some("{\"retain_days\":30}".to_owned()), ..About::default() };
    imported(import(session, &request("words", "default", &labelling, &about), &Rows::of(&*data.first), &mut Deaf))
}

fn changed(session: &Session, patch: Option<&str>, remove: &[String]) -> Outcome<Option<Committed>> {
    let (labelling, about, patch) = (Labelling::default(), About::default(), patch.map(Rows::of));
    let change_ = Change { sources: patch.as_ref().map(|patch| patch as &dyn Sources), remove };
    imported(change(session, &request("trips", "default", &labelling, &about), &change_, &mut Deaf))
}

fn edited(session: &Session, data: &Data) -> Outcome<Option<Committed>> {
    let set = [("expected_output".to_owned(), Value::from("edited"))];
    let (id, message) = (&*data.ids[1], Some("better"));
    edit(session, &EditRequest { slug: "trips", id, split: None, set: &set, unset: &[], message }).map(Some)
}

fn files(session: &Session, data: &Data) -> Outcome<Option<Committed>> {
    let labelling = Labelling { visibility: Some(data.label.to_owned()), ..Labelling::default() };
    let about = About::default();
    let pictures = Pictures(data.pictures.clone());
    imported(import_files(session, &request("trips", "pictures", &labelling, &about), &pictures, &mut Deaf))
}

fn relabelled(session: &Session, _: &Data) -> Outcome<Option<Committed>> {
    let labels = vec![("input".to_owned(), "evaluator_only".to_owned())];
    let labelling = Labelling { labels, ..Labelling::default() };
    let about = About::default();
    imported(import(session, &request("trips", "default", &labelling, &about), &Nothing, &mut Deaf))
}

fn seen(session: &Session, _: &Data) -> Outcome<Option<Committed>> {
    cat(session, &CatRequest { cite: "trips@1", split: None, ids: &[], place: None }, &mut Vec::new()).map(|()| None)
}

fn erased(session: &Session, data: &Data) -> Outcome<Option<Committed>> {
    let erasure = Erasure { slug: "trips", id: &data.ids[2], split: None, reason: "asked for" };
    erase(session, &erasure).map(|_| None)
}

fn kept(session: &Session, _: &Data) -> Outcome<Option<Committed>> {
    let exported = keys::export(session, None)?;
    keys::written_down(session, &exported).map(|()| None)
}

fn imported(imported: Outcome<Imported>) -> Outcome<Option<Committed>> {
    imported.map(|imported| Some(imported.committed.unwrap()))
}

pub(crate) fn request<'r>(
    slug: &'r str,
    split: &'r str,
    labelling: &'r Labelling,
    about: &'r About,
) -> ImportRequest<'r> {
    let reading = Box::leak(Box::new(reading()));
    ImportRequest { slug, split, reading, labelling, about, keep_valid: false }
}
