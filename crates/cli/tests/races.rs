//! Four processes at once at one store: each acknowledged version has its number and its place in one chain.

use std::collections::BTreeMap;
use std::sync::Barrier;
use std::thread;

use crate::crash::{Numbers, rows};
use crate::{Ran, Store, store};

const PROCESSES: usize = 4;
const ROUNDS: usize = 4;

/// Runs commands at the same moment.
fn at_once(kept: &Store, commands: &[Vec<String>]) -> Vec<Ran> {
    let barrier = Barrier::new(commands.len());
    thread::scope(|scope| {
        let run = |command: &Vec<String>| {
            let arguments: Vec<&str> = command.iter().map(String::as_str).collect();
            barrier.wait();
            kept.run(&arguments)
        };
        let threads: Vec<_> = commands.iter().map(|command| scope.spawn(move || run(command))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Who lost says that somebody was faster or that the store is in use, and nothing else.
fn lost(ran: &Ran) {
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("E115") || ran.err.contains("E112"), "{}", ran.err);
}

/// Every acknowledged version is there under its number, and each has the one before it as its parent.
fn one_chain(kept: &Store, acknowledged: &BTreeMap<String, String>) {
    let history = kept.fine(&["history", "quiz", "--json"]);
    for (cite, digest) in acknowledged {
        let number = cite.trim_start_matches("quiz@");
        assert!(
            history.contains(&format!("\"version\":{number},\"digest\":\"{digest}\"")),
            "{cite} is lost: {history}"
        );
    }
    let mut before: Option<String> = None;
    for entry in history.trim().trim_matches(['[', ']']).split("},{") {
        let parents = entry.split("\"parents\":[").nth(1).unwrap().split(']').next().unwrap();
        assert_eq!(parents, before.map_or_else(String::new, |digest| format!("\"{digest}\"")));
        before = Some(entry.split("\"digest\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned());
    }
    let verified = kept.fine(&["verify", "--json"]);
    assert!(!verified.contains("\"ok\":false"), "{verified}");
}

#[test]
fn four_who_write_one_dataset_make_one_chain() {
    let (kept, mut random) = (store(), Numbers(4));
    let mut acknowledged = BTreeMap::new();
    for round in 0..ROUNDS {
        let mut commands = Vec::new();
        for process in 0..PROCESSES {
            let file = format!("rows{process}.jsonl");
            kept.write(&file, &rows(40, &mut random).replace("\"r", &format!("\"p{process}r")));
            // The first round is a race to make the dataset; then whole files and single rows.
            let mut command = words(&["import", "quiz", &file, "-q"]);
            if round > 0 && process % 2 == 0 {
                command.push("--upsert".to_owned());
            }
            commands.push(command);
        }
        let mut wins = 0;
        for ran in at_once(&kept, &commands) {
            if ran.code != 0 {
                lost(&ran);
                continue;
            }
            wins += 1;
            let (cite, digest) = ran.out.trim().split_once(' ').unwrap();
            let before = acknowledged.insert(cite.to_owned(), digest.to_owned());
            assert_eq!(before, None, "{cite} was given out twice");
        }
        assert!(wins > 0, "nobody won round {round}");
    }
    one_chain(&kept, &acknowledged);
}

#[test]
fn upkeep_beside_imports_breaks_nothing() {
    let (kept, mut random) = (store(), Numbers(8));
    kept.write("rows.jsonl", &rows(60, &mut random));
    let first = kept.fine(&["import", "quiz", "rows.jsonl", "-q"]);
    let (cite, digest) = first.trim().split_once(' ').unwrap();
    let mut acknowledged = BTreeMap::from([(cite.to_owned(), digest.to_owned())]);
    for round in 0..ROUNDS {
        kept.write("whole.jsonl", &rows(60, &mut random));
        let erased = format!("r{}", 10 + round);
        let commands = [
            words(&["import", "quiz", "whole.jsonl", "-q"]),
            words(&["gc", "-q"]),
            words(&["erase", "quiz", &erased, "--reason", "asked for"]),
            words(&["cat", "quiz@1"]),
        ];
        let [import, gc, erase, cat] = at_once(&kept, &commands).try_into().ok().unwrap();
        let (cite, digest) = import.out.trim().split_once(' ').unwrap_or_else(|| panic!("{}", import.err));
        assert_eq!((import.code, acknowledged.insert(cite.to_owned(), digest.to_owned())), (0, None));
        for ran in [gc, erase] {
            if ran.code != 0 {
                lost(&ran);
            }
        }
        assert_eq!(cat.code, 0, "{}", cat.err);
        assert!(cat.out.lines().count() >= 60 - ROUNDS);
    }
    one_chain(&kept, &acknowledged);
    kept.fine(&["gc", "-q"]);
    assert!(kept.fine(&["scrub", "--json"]).contains("\"orphans\":0"));
}

#[test]
fn of_those_who_make_a_store_one_does() {
    let kept = Store { folder: tempfile::tempdir().unwrap() };
    let ran = at_once(&kept, &vec![words(&["init"]); PROCESSES]);
    assert_eq!(ran.iter().filter(|ran| ran.code == 0).count(), 1);
    for loser in ran.iter().filter(|ran| ran.code != 0) {
        assert!(loser.code == 2 && loser.err.contains("E116"), "{}", loser.err);
    }
    kept.fine(&["ls"]);
}
