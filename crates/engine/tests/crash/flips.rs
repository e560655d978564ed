//! Flipped bits in every stored file: each is reported or changes no answer, and nothing damaged is ever served.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use heldset_core::visibility::{Audience, Viewer};
use heldset_engine::cat::{CatRequest, cat};
use heldset_engine::erase::{Erasure, erase};
use heldset_engine::refusal::{Outcome, Reason};
use heldset_engine::scrub::scrub;
use heldset_engine::session::Session;
use heldset_engine::{audit, gc, history, ls, show, verify};
use heldset_store::NoProbe;

use super::program::{ACTIONS, Data, Versions};
use super::world::{Deaf, Nothing, Seeded, World};

/// `scripts/flip-bits` does more, with another seed each time it is told.
const FLIPS: usize = 150;
const VIEWERS: [Viewer; 2] = [Viewer::Owner, Viewer::One(Audience::Agent)];

/// One answer: what was handed out, and whether it ended well.
#[derive(Debug, PartialEq)]
struct Answer {
    question: String,
    out: Vec<u8>,
    whole: bool,
}

/// What a store says when everything is asked.
#[derive(Default)]
struct Said {
    answers: Vec<Answer>,
    /// Whether something was reported by an answer or by a check.
    reported: bool,
    /// Whether a check found something.
    found: bool,
    /// The paths that `scrub` names.
    scrubbed: Vec<String>,
}

#[test]
fn a_flipped_bit_anywhere_is_reported_or_changes_no_answer() {
    let flips = number("HELDSET_FLIPS", FLIPS);
    let (world, random) = (small_store(), Seeded::new(number("HELDSET_FLIP_SEED", 5) as u64));
    let files: Vec<(PathBuf, Vec<u8>)> =
        world.files().into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect();
    let files: Vec<_> = files.into_iter().filter(|(_, bytes)| !bytes.is_empty()).collect();
    let catalog = files.iter().position(|(path, _)| path.ends_with("catalog.db")).unwrap();
    let before = ask(&world, &random);
    assert!(!before.reported && before.answers.iter().all(|answer| answer.whole));
    restore(&files[catalog]);
    let mut reported = 0;
    for flip in 0..flips {
        // Files take turns; the catalogue, where most is at stake, has every third.
        let (path, bytes) = &files[if flip % 3 == 0 { catalog } else { flip % files.len() }];
        let (byte, bit) = (random.below(bytes.len()), random.below(8));
        let mut flipped = bytes.clone();
        flipped[byte] ^= 1 << bit;
        fs::write(path, flipped).unwrap();
        let said = ask(&world, &random);
        let at = format!("{} byte {byte} bit {bit}", path.display());
        compare(&before, &said, &at);
        let is_object = path.components().any(|part| part.as_os_str() == "objects");
        let shown = path.display().to_string();
        assert!(!is_object || said.scrubbed.contains(&shown), "{at}: scrub did not name it: {:?}", said.scrubbed);
        reported += usize::from(said.reported);
        if path.ends_with("catalog.db") {
            nothing_is_collected(&world, &random, &at);
        }
        restore(&(path.clone(), bytes.clone()));
        restore(&files[catalog]);
    }
    assert!(reported > flips * 3 / 4, "only {reported} of {flips} flips were reported");
}

#[test]
fn a_catalogue_that_lost_an_entry_is_no_reason_to_remove_what_it_named() {
    for space in ["pack", "version", "roots", "files", "dataset", "tag"] {
        let (world, random) = (small_store(), Seeded::new(5));
        let catalog = rusqlite::Connection::open(world.store().join("catalog.db")).unwrap();
        let first = "DELETE FROM entries WHERE space = ?1 AND key = (SELECT min(key) FROM entries WHERE space = ?1)";
        assert_eq!(catalog.execute(first, [space]).unwrap(), 1);
        drop(catalog);
        let before = world.files();
        let session = world.session(&random, "01-20", Arc::new(NoProbe)).unwrap();
        let refusal = gc::gc(&session, false).err().unwrap_or_else(|| panic!("{space}: collected"));
        assert_eq!(refusal.reason, Reason::Integrity, "{space}: {refusal:?}");
        let erasure = Erasure { slug: "words", id: "r", split: None, reason: "asked for" };
        let refusal = erase(&session, &erasure).err().unwrap();
        assert_eq!(refusal.reason, Reason::Integrity, "{space}: {refusal:?}");
        assert!(before.iter().filter(|path| path.to_string_lossy().contains("/objects/")).all(|path| path.exists()));
        assert!(!scrub(&session, &mut Deaf).unwrap().problems.is_empty(), "{space}");
    }
}

/// What the environment says, for longer runs.
fn number(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|number| number.parse().ok()).unwrap_or(usual)
}

/// A store after the whole program but its last action.
fn small_store() -> World {
    let (world, data, random) = (World::new(), Data::new(1), Seeded::new(1));
    world.init(&random, Arc::new(NoProbe)).unwrap();
    for action in ACTIONS.iter().filter(|action| action.name != "gc") {
        let session = world.session(&random, action.day, Arc::new(NoProbe)).unwrap();
        action.run(&session, &data, &mut Versions::new()).unwrap();
    }
    gc::gc(&world.session(&random, "01-20", Arc::new(NoProbe)).unwrap(), false).unwrap();
    world
}

/// A catalogue that may have lost an entry is no reason to remove what the entry named.
fn nothing_is_collected(world: &World, random: &Arc<Seeded>, at: &str) {
    let before = world.files();
    if let Ok(session) = world.session(random, "01-20", Arc::new(NoProbe)) {
        drop(gc::gc(&session, false));
    }
    let gone: Vec<_> =
        before.iter().filter(|path| path.to_string_lossy().contains("/objects/") && !path.exists()).collect();
    assert!(gone.is_empty(), "{at}: {gone:?} were removed");
}

fn restore((path, bytes): &(PathBuf, Vec<u8>)) {
    fs::write(path, bytes).unwrap();
    for ending in ["-wal", "-shm"] {
        let beside = PathBuf::from(format!("{}{ending}", path.display()));
        if beside.exists() {
            fs::remove_file(beside).unwrap();
        }
    }
}

/// Whole answers are the ones of before; what was cut short handed out no more than the start of them.
fn compare(before: &Said, after: &Said, at: &str) {
    for answer in &after.answers {
        let known = before.answers.iter().find(|known| known.question == answer.question);
        let known = known.unwrap_or_else(|| panic!("{at}: a question nobody asked"));
        if answer.whole {
            // What is only listed may be short of an entry that the checks then miss.
            let listed = !answer.question.contains(" cat ") && after.found;
            let same = answer.out == known.out || listed;
            assert!(same, "{at}: another answer to {}, and nobody said so", answer.question);
        } else {
            assert!(known.out.starts_with(&answer.out), "{at}: {} served something else", answer.question);
        }
    }
    assert!(after.reported || before.answers == after.answers, "{at}: fewer answers, and nobody said so");
}

fn ask(world: &World, random: &Arc<Seeded>) -> Said {
    let mut said = Said::default();
    for viewer in VIEWERS {
        let Ok(session) = world.session_as(random, "03-01", Arc::new(NoProbe), viewer) else {
            said.reported = true;
            continue;
        };
        questions(&session, viewer, &mut said);
        if viewer == Viewer::Owner {
            check(&session, &mut said);
        }
    }
    said
}

fn questions(session: &Session, viewer: Viewer, said: &mut Said) {
    let mut answer = |question: String, ask: &dyn Fn(&mut Vec<u8>) -> Outcome<()>| {
        let mut out = Vec::new();
        let answered = ask(&mut out);
        said.reported |= answered.is_err();
        said.answers.push(Answer { question: format!("{} {question}", viewer.name()), out, whole: answered.is_ok() });
    };
    answer("ls".to_owned(), &|out| {
        for listed in ls::ls(session)? {
            out.extend(
                format!("{:?} {} {} {}\n", listed.dataset, listed.digest, listed.rows, listed.updated_at).bytes(),
            );
        }
        Ok(())
    });
    for slug in ["trips", "words"] {
        answer(format!("history {slug}"), &|out| {
            for entry in history::history(session, slug)? {
                out.extend(format!("{:?} {} {:?}\n", entry.version, entry.rows, entry.tags).bytes());
            }
            Ok(())
        });
    }
    for cite in ["trips@1", "trips@2", "trips@3", "trips@4", "trips@5", "trips@6", "trips", "trips@good", "words"] {
        answer(format!("show {cite}"), &|out| {
            let shown = show::show(session, cite)?;
            let (version, digest) = (shown.resolved.version, shown.digests.version);
            out.extend(format!("{version:?} {:?} {:?} {digest} {:?}", shown.splits, shown.tags, shown.sources).bytes());
            Ok(())
        });
        if !["trips@2", "trips@4", "trips@5"].contains(&cite) {
            answer(format!("cat {cite}"), &|out| {
                cat(session, &CatRequest { cite, split: None, ids: &[], place: None }, out)
            });
        }
        let ids = ["added".to_owned()];
        if ["trips@2", "trips"].contains(&cite) {
            answer(format!("cat {cite} added"), &|out| {
                cat(session, &CatRequest { cite, split: Some("default"), ids: &ids, place: None }, out)
            });
        }
    }
}

fn check(session: &Session, said: &mut Said) {
    match scrub(session, &mut Deaf) {
        Err(_) => said.found = true,
        Ok(scrubbed) => said.scrubbed = scrubbed.problems.into_iter().map(|damage| damage.path).collect(),
    }
    said.found |= !said.scrubbed.is_empty();
    said.found |= match verify::verify(session, None, &Nothing, &mut Deaf) {
        Err(refusal) => {
            assert!(matches!(refusal.reason, Reason::Integrity | Reason::Usage), "{refusal:?}");
            true
        }
        Ok(verified) => verified.iter().any(|version| !version.problems.is_empty()),
    };
    said.found |= audit::verify(session, &[]).map_or(true, |checked| !checked.problems.is_empty());
    said.reported |= said.found;
}
