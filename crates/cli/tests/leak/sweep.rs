//! One audience at one copy of the store: every verb with every argument list, and the search of all that came out.

use std::fs;
use std::path::PathBuf;

use heldset_core::visibility::Viewer;
use heldset_testkit::leak::{Search, files_under};

use super::table::{ENTRIES, Entry};
use super::tokens::Token;
use super::world::{World, command};

/// Names that nothing has; unlike all others, so that nothing near is proposed.
const NO_SPLIT: &str = "wwwwwwwwwwwwwwwwwwww";
const NO_ID: &str = "vvvvvvvvvvvvvvvvvvvv";
const NO_FIELD: &str = "uuuuuuuuuuuuuuuuuuuuu";
/// Verbs that only those who manage the store may use.
const CHANGING: [&str; 4] = ["import", "record edit", "record rm", "erase"];
/// Viewers of which no two see the same.
const BOTH_FORMS: [&str; 6] = ["owner", "operator", "evaluator", "annotator", "agent", "log"];

/// What was put in the place of the placeholders.
#[derive(Clone)]
struct Names {
    slug: &'static str,
    split: String,
    files: String,
    id: String,
    field: String,
    /// Whether the audience can see what is named.
    seen: bool,
}

/// A sweep as one audience.
pub(super) struct Sweep<'w> {
    world: &'w World,
    viewer: Viewer,
    folder: PathBuf,
    unseen: Vec<&'w Token>,
    search: Search,
    /// What was found.
    pub(super) problems: Vec<String>,
    /// How often the command ran.
    pub(super) runs: usize,
}

impl<'w> Sweep<'w> {
    /// A sweep on a copy of the store.
    pub(super) fn new(world: &'w World, viewer: Viewer) -> Sweep<'w> {
        let folder = world.copy_for(viewer);
        let open = "{\"id\":\"q3\",\"input\":\"changed by nobody\"}\n";
        fs::write(folder.join("work/open.jsonl"), open).unwrap();
        let declared = "apiVersion: heldset/v1\nkind: Dataset\nmetadata: {name: Declared, slug: declared}\n\
                        spec: {splits: {all: {path: open.jsonl, visibility: agent_visible}}}\n";
        fs::write(folder.join("work/declared.yaml"), declared).unwrap();
        fs::write(folder.join("work/schema.json"), r#"{"fields":[{"name":"input","type":"string"}]}"#).unwrap();
        let source = "{\"connector_instance_id\":\"exports\",\"split\":\"synced\"}";
        fs::write(folder.join("work/source.json"), source).unwrap();
        fs::write(folder.join("work/wider.yaml"), "default: public\n").unwrap();
        let lookup =
            "lookup: {dataset: trips, split: default, on: id, fields: {input: again, expected_output: looked_up}}\n";
        fs::write(folder.join("work/lookup.yaml"), lookup).unwrap();
        fs::write(folder.join("work/judged.yaml"), "labels: {judges: [grader, agent]}\n").unwrap();
        let unseen: Vec<&Token> = world.tokens.0.iter().filter(|token| !token.seen_by(viewer)).collect();
        let search = Search::new(unseen.iter().map(|token| token.text.as_str()));
        Sweep { world, viewer, folder, unseen, search, problems: Vec::new(), runs: 0 }
    }

    /// Drives every verb, and searches every file at the end.
    pub(super) fn run(&mut self) {
        let lists = ENTRIES.iter().flat_map(|entry| entry.lists.iter().map(move |list| (entry, list)));
        for (number, (entry, list)) in lists.enumerate() {
            // Several audiences see the same: they take turns with the two forms of an answer.
            let both = BOTH_FORMS.contains(&self.viewer.name());
            let turn = (number + self.viewer.name().len()).is_multiple_of(2);
            for json in [false, true].into_iter().filter(|json| both || *json == turn) {
                self.drive(entry, list, json);
            }
        }
        for part in ["work", "tmp", "keys"] {
            self.search_files(part);
        }
        let at_rest = self.world.at_rest(&self.folder);
        self.problems.extend(at_rest.into_iter().map(|problem| format!("{}: at rest: {problem}", self.viewer)));
    }

    /// Runs an argument list with every name there is to put in; what cannot be seen answers as what is not there.
    fn drive(&mut self, entry: &Entry, list: &[&str], json: bool) {
        let slugs: &[&'static str] =
            if list.iter().any(|arg| arg.contains("{slug}")) { &["trips", "ops"] } else { &[""] };
        for slug in slugs {
            let mut answers = Vec::new();
            for names in self.names(entry.verb, slug, list) {
                let args = self.arguments(entry.verb, list, &names, json);
                let answer = self.run_one(&args, &names);
                if !names.seen {
                    answers.push((args, answer));
                }
            }
            let Some(((_, absent), others)) = answers.split_last() else { continue };
            for (args, answer) in others {
                if answer != absent {
                    let told = format!("{}: {args:?} tells a name apart:\n{answer:?}\n{absent:?}", self.viewer);
                    self.problems.push(told);
                }
            }
        }
    }

    /// What the placeholders stand for: what cannot be seen, then what does not exist, then what can be seen.
    fn names(&self, verb: &str, slug: &'static str, list: &[&str]) -> Vec<Names> {
        let has = |what: &str| list.iter().any(|arg| arg.contains(what));
        let nothing = Names {
            slug,
            split: NO_SPLIT.to_owned(),
            files: NO_SPLIT.to_owned(),
            id: NO_ID.to_owned(),
            field: NO_FIELD.to_owned(),
            seen: false,
        };
        let mut all = Vec::new();
        if has("{split}") || has("{id}") || has("{files}") {
            for split in self.world.splits.iter().filter(|split| split.files == has("{files}") && split.dataset == slug)
            {
                let seen = self.unseen.iter().all(|token| token.text != split.name);
                let (name, files, id) = (split.name.clone(), split.name.clone(), split.id.clone());
                all.push(Names { split: name, files, id, seen, ..nothing.clone() });
            }
            let (split, files, id) = ("default".to_owned(), "papers".to_owned(), "q1".to_owned());
            all.push(Names { split, files, id, seen: true, ..nothing.clone() });
        }
        if has("{field}") {
            for (_, field) in &self.world.fields {
                let seen = self.unseen.iter().all(|token| !field.ends_with(&token.text));
                all.push(Names { field: field.clone(), seen, ..nothing.clone() });
            }
        }
        all.push(nothing);
        // What can be seen comes last: it may change.
        all.sort_by_key(|names| names.seen);
        if CHANGING.contains(&verb) && !self.viewer.manages() {
            // Denied before anything is looked up.
            all.retain(|names| !names.seen);
            all.drain(1..all.len().max(2) - 1);
        }
        all
    }

    fn arguments(&mut self, verb: &str, list: &[&str], names: &Names, json: bool) -> Vec<String> {
        self.runs += 1;
        let out = format!("out-{}", self.runs);
        let fill = |arg: &&str| {
            let arg = arg.replace("{split}", &names.split).replace("{files}", &names.files);
            arg.replace("{slug}", names.slug)
                .replace("{id}", &names.id)
                .replace("{field}", &names.field)
                .replace("{out}", &out)
        };
        let mut args: Vec<String> = verb.split(' ').map(str::to_owned).chain(list.iter().map(fill)).collect();
        if self.viewer != Viewer::Owner {
            args.extend(["--as".to_owned(), self.viewer.name().to_owned()]);
        }
        args.extend(json.then(|| "--json".to_owned()));
        args
    }

    /// Runs the command and searches what it printed; gives that with the names replaced.
    fn run_one(&mut self, args: &[String], names: &Names) -> (Option<i32>, String, String) {
        let ran = command(&self.folder, &self.folder.join("work")).args(args).output().unwrap();
        if ran.status.code().is_none_or(|code| code > 6) {
            self.problems.push(format!("{args:?} ended with {}", ran.status));
        }
        let plain = |bytes: &[u8]| {
            let mut text = String::from_utf8_lossy(bytes).into_owned();
            for name in [&names.split, &names.files, &names.id, &names.field] {
                text = text.replace(name.as_str(), "NAME");
            }
            text
        };
        let (out, err) = (plain(&ran.stdout), plain(&ran.stderr));
        // Who names something may be told its name.
        for (stream, bytes) in [("standard output", out.as_bytes()), ("standard error", err.as_bytes())] {
            self.search(&format!("{args:?}: {stream}"), bytes);
        }
        (ran.status.code(), untimed(&out), err)
    }

    fn search(&mut self, place: &str, bytes: &[u8]) {
        for hit in self.search.hits(bytes) {
            let what = &self.unseen[hit.token].what;
            self.problems.push(format!("{}: {place}: {what} ({}, {:?})", self.viewer, hit.form, hit.within));
        }
    }

    fn search_files(&mut self, part: &str) {
        for (path, bytes) in files_under(&self.folder.join(part)).unwrap() {
            let shown = path.strip_prefix(&self.folder).unwrap().display().to_string();
            self.search(&shown, shown.as_bytes());
            self.search(&shown, &bytes);
        }
    }
}

/// The text without how long something took: that differs between two runs of the same.
fn untimed(text: &str) -> String {
    let name = "\"execution_time_ms\":";
    let Some(at) = text.find(name) else { return text.to_owned() };
    let (before, after) = text.split_at(at + name.len());
    let rest = after.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    format!("{before}0{}", untimed(rest))
}
