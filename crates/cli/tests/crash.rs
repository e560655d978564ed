//! Processes that end without a warning, on a real store: nothing acknowledged is lost.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Instant;

use crate::{Store, store};

/// `scripts/kill-loop` does more.
const KILLS: usize = 25;

/// What was killed, and what was acknowledged.
#[derive(Default)]
struct Figures {
    killed: usize,
    finished: usize,
    digests: Vec<String>,
    tags: Vec<String>,
}

#[test]
fn a_killed_command_loses_nothing_that_was_acknowledged() {
    let kills = std::env::var("HELDSET_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(KILLS);
    let kept = store();
    let mut random = Numbers(9);
    kept.write("rows.jsonl", &rows(400, &mut random));
    let started = Instant::now();
    let first = kept.fine(&["import", "quiz", "rows.jsonl", "-q"]);
    let usual = started.elapsed();
    let mut figures = Figures { digests: vec![digest(&first)], ..Figures::default() };
    for number in 0..kills {
        let command = prepare(&kept, number, &mut random);
        let arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        let mut child = spawn(&kept, &arguments);
        // The fault, not a way to wait: somewhere in the life of the process, or after it.
        thread::sleep(usual * u32::try_from(random.below(115)).unwrap() / 100);
        child.kill().unwrap();
        note(&mut child, &arguments, &mut figures);
        look(&kept, &figures);
    }
    kept.fine(&["verify", "-q"]);
    kept.fine(&["audit", "verify"]);
    kept.fine(&["gc", "-q"]);
    let scrubbed = kept.fine(&["scrub", "--json"]);
    assert!(scrubbed.contains("\"problems\":[]") && scrubbed.contains("\"orphans\":0"), "{scrubbed}");
    assert!(kept.files(".heldset/tmp").is_empty());
    let (versions, tags) = (figures.digests.len(), figures.tags.len());
    eprintln!(
        "{kills} kills: {} cut short, {} had finished; {versions} versions and {tags} tags acknowledged, 0 lost",
        figures.killed, figures.finished
    );
    assert!(figures.killed > kills / 4, "only {} of {kills} were cut short", figures.killed);
}

/// The next command: whole files, single rows, edits, tags and upkeep take turns.
fn prepare(kept: &Store, number: usize, random: &mut Numbers) -> Vec<String> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    match number % 6 {
        0 | 3 => {
            kept.write("rows.jsonl", &rows(400, random));
            words(&["import", "quiz", "rows.jsonl", "-q"])
        }
        1 => {
            kept.write("some.jsonl", &rows(3, random));
            words(&["import", "quiz", "some.jsonl", "--upsert", "-q"])
        }
        2 => words(&["tag", "quiz", &format!("t{number}")]),
        4 => words(&["record", "edit", "quiz", "r1", "--set", &format!("input=\"{}\"", random.next())]),
        _ => words(&["gc", "-q"]),
    }
}

fn spawn(kept: &Store, arguments: &[&str]) -> Child {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("heldset"));
    command.current_dir(kept.path()).env_remove("HELDSET_STORE").env("HELDSET_KEYS", kept.path().join("keys"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// What the command acknowledged, if it came so far.
fn note(child: &mut Child, arguments: &[&str], figures: &mut Figures) {
    let (mut out, mut err) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    match child.wait().unwrap().code() {
        None => figures.killed += 1,
        Some(0) => {
            figures.finished += 1;
            match arguments[0] {
                "import" | "record" => figures.digests.push(digest(&out)),
                "tag" => figures.tags.push(arguments[2].to_owned()),
                _ => {}
            }
        }
        Some(code) => panic!("{arguments:?} ended with {code}: {err}"),
    }
}

/// Everything acknowledged is in the history, and the newest version can be read.
fn look(kept: &Store, figures: &Figures) {
    let history = kept.fine(&["history", "quiz", "--json"]);
    for digest in &figures.digests {
        assert!(history.contains(digest), "{digest} is lost");
    }
    for tag in &figures.tags {
        assert!(history.contains(&format!("\"{tag}\"")), "tag {tag} is lost");
    }
    assert!(kept.fine(&["cat", "quiz"]).lines().count() >= 400);
}

fn digest(out: &str) -> String {
    let at = out.find("sha256:").unwrap_or_else(|| panic!("no version: {out}"));
    out[at..].split_whitespace().next().unwrap().to_owned()
}

/// Rows with new answers each time.
pub(crate) fn rows(count: usize, random: &mut Numbers) -> String {
    let row = |number| {
        let (input, answer) = (random.next(), random.next());
        format!("{{\"id\":\"r{number}\",\"input\":\"{input}\",\"expected_output\":\"{answer}\"}}\n")
    };
    (0..count).map(row).collect()
}

/// Numbers that look random and are the same in every run.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 11
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// An import that is waiting for more rows, so that it can be ended in its middle.
fn waiting_import(kept: &Store) -> (Child, std::fs::File) {
    rustix::fs::mkfifoat(rustix::fs::CWD, kept.path().join("pipe"), rustix::fs::Mode::from(0o600)).unwrap();
    let child = spawn(kept, &["import", "quiz", "pipe", "-q"]);
    // Opens as soon as the import reads.
    let pipe = std::fs::OpenOptions::new().write(true).open(kept.path().join("pipe")).unwrap();
    (child, pipe)
}

#[test]
fn an_interrupted_import_says_how_to_go_on_and_leaves_the_store_as_it_was() {
    for signal in ["-INT", "-TERM"] {
        let kept = Store::with_questions();
        let before = kept.fine(&["ls", "--json"]);
        let (mut child, pipe) = waiting_import(&kept);
        kept.file(".heldset/tmp/new-1-1-left", "half");
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{err}");
        assert_eq!(err, "interrupted: what the command changes is there whole or not at all; run it again to go on\n");
        drop(pipe);
        assert_eq!(kept.fine(&["ls", "--json"]), before);
        assert!(kept.files(".heldset/tmp").is_empty());
        std::fs::remove_file(kept.path().join("pipe")).unwrap();
        kept.write("pipe", "{\"id\":\"a\",\"input\":\"b\",\"expected_output\":\"c\"}\n");
        kept.fine(&["import", "quiz", "pipe", "-q"]);
        kept.fine(&["verify", "-q"]);
    }
}
