//! The canary sweep: every sealed cell holds a token of its own, every verb is driven as every audience, and all bytes
//! that come out are searched for the tokens the audience may not see.
//!
//! *Invariant:* the list of verbs comes from the command itself; a verb without an entry in the table fails.

mod sweep;
mod table;
mod tokens;
mod world;

use std::collections::BTreeSet;
use std::sync::Mutex;

use heldset_core::visibility::Viewer;

use crate::heldset;
use sweep::Sweep;
use world::World;

/// Every verb of the command, as its completions know them; hidden ones too.
fn verbs() -> BTreeSet<String> {
    let folder = tempfile::tempdir().unwrap();
    let script = heldset(folder.path(), &["completions", "bash"]).out;
    let named =
        script.lines().filter_map(|line| line.trim().strip_prefix("cmd=\"heldset__subcmd__")?.strip_suffix('"'));
    let verbs = named.map(|verb| verb.replace("__subcmd__", " ").replace("__", "-"));
    verbs.filter(|verb| !verb.split(' ').any(|part| part == "help")).collect()
}

#[test]
fn every_verb_has_an_entry_in_the_sweep() {
    let known: BTreeSet<String> = table::ENTRIES.iter().map(|entry| entry.verb.to_owned()).collect();
    assert!(known.len() > 25 && known.contains("audit verify"), "{known:?}");
    assert_eq!(verbs(), known, "a verb has no entry, or an entry no verb");
}

#[test]
fn no_audience_finds_what_it_may_not_see() {
    let world = World::new();
    let viewers = Mutex::new(Viewer::all().collect::<Vec<_>>());
    let found = Mutex::new((Vec::new(), 0));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some(viewer) = { viewers.lock().unwrap().pop() } {
                    let mut sweep = Sweep::new(&world, viewer);
                    sweep.run();
                    let mut found = found.lock().unwrap();
                    found.0.append(&mut sweep.problems);
                    found.1 += sweep.runs;
                }
            });
        }
    });
    let (problems, runs) = found.into_inner().unwrap();
    assert!(problems.is_empty(), "{} problems in {runs} runs:\n{}", problems.len(), problems.join("\n"));
    assert!(runs > 1500, "only {runs} runs");
}

#[test]
fn nothing_sealed_lies_in_the_store_in_the_clear() {
    let world = World::new();
    let problems = world.at_rest(&world.base());
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    // The search would find it: what is open lies there.
    assert!(world.open_tokens_at_rest() > 0);
}
