//! Every durable step of a program of commits refused, for once or from then on: nothing acknowledged is lost, nothing
//! half is seen, and the work can go on.

use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use heldset_core::code::Code;
use heldset_engine::scrub::scrub;
use heldset_engine::session::Session;
use heldset_engine::{audit, gc, history, verify};
use heldset_store::{NoProbe, Probe};

use super::program::{ACTIONS, Action, Data, Versions};
use super::world::{Deaf, Nothing, Seeded, World};

/// `scripts/fail-steps` does 20.
const SEEDS: u64 = 4;

/// Lets some steps happen and refuses the next one, or from then on all: a fault of the disk, or the end.
struct StopAt {
    step: usize,
    for_good: bool,
    seen: AtomicUsize,
}

impl StopAt {
    fn new(step: usize, for_good: bool) -> Arc<Self> {
        Arc::new(StopAt { step, for_good, seen: AtomicUsize::new(0) })
    }

    fn seen(&self) -> usize {
        self.seen.load(Ordering::SeqCst)
    }
}

impl Probe for StopAt {
    fn step(&self, _: &'static str) -> io::Result<()> {
        let now = self.seen.fetch_add(1, Ordering::SeqCst);
        let refused = if self.for_good { now >= self.step } else { now == self.step };
        if refused { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

#[test]
fn nothing_acknowledged_is_lost_whichever_step_is_the_last() {
    let seeds = std::env::var("HELDSET_CRASH_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(SEEDS);
    let next = AtomicUsize::new(0);
    let stops = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::SeqCst) as u64;
                    if seed >= seeds {
                        break;
                    }
                    stops.fetch_add(program(seed), Ordering::SeqCst);
                }
            });
        }
    });
    let stops = stops.into_inner();
    assert!(stops > 40 * usize::try_from(seeds).unwrap(), "the steps were not found: {stops}");
}

/// Runs all actions; before each, all ways to stop it are tried on copies. Says how many stops there were.
fn program(seed: u64) -> usize {
    let (world, data, random) = (World::new(), Data::new(seed), Seeded::new(seed));
    let mut stops = stopped_init(&random);
    world.init(&random, Arc::new(NoProbe)).unwrap();
    let mut acknowledged = Versions::new();
    for action in ACTIONS {
        let mut step = 0;
        loop {
            // Both kinds of stop over the seeds, one of them at each step.
            let probe = StopAt::new(step, (seed + step as u64).is_multiple_of(2));
            let copy = world.copy();
            if !stopped(&copy, action, &data, &acknowledged, &random, &probe) {
                break;
            }
            step += 1;
        }
        stops += step;
        let session = world.session(&random, action.day, Arc::new(NoProbe)).unwrap();
        action.run(&session, &data, &mut acknowledged).unwrap_or_else(|refusal| panic!("{}: {refusal:?}", action.name));
    }
    stops
}

/// A store that was not finished is none, and can be made after all.
fn stopped_init(random: &Arc<Seeded>) -> usize {
    let mut step = 0;
    loop {
        let (world, probe) = (World::new(), StopAt::new(step, true));
        if world.init(random, probe).is_ok() {
            return step;
        }
        assert!(world.session(random, "01-01", Arc::new(NoProbe)).is_err());
        world.init(random, Arc::new(NoProbe)).unwrap();
        step += 1;
    }
}

/// Stops an action at a step, and looks at what is left; says whether it has such a step.
fn stopped(
    world: &World,
    action: &Action,
    data: &Data,
    before: &Versions,
    random: &Arc<Seeded>,
    probe: &Arc<StopAt>,
) -> bool {
    let mut now = before.clone();
    let session = world.session(random, action.day, Arc::clone(probe) as Arc<dyn Probe>).unwrap();
    let done = action.run(&session, data, &mut now);
    drop(session);
    if probe.seen() <= probe.step {
        done.unwrap_or_else(|refusal| panic!("{}: {refusal:?}", action.name));
        return false;
    }
    // What a process leaves that ends while it writes.
    fs::write(world.store().join("tmp/new-1-1-left"), "half").unwrap();
    let at = format!("{} stopped at step {}, for good: {}", action.name, probe.step, probe.for_good);
    let session = world.session(random, action.day, Arc::new(NoProbe)).unwrap();
    assert_eq!(session.store.folder().unwrap().leftovers().unwrap().len(), 0, "{at}");
    holds(&session, &now, done.is_err().then_some(before), action, &at);
    // An erasure that was cut short after its commit is finished, and then has nothing to do.
    let nothing_left = |code| action.name == "erase" && code == Code::E102;
    match action.run(&session, data, &mut now) {
        Err(refusal) if !nothing_left(refusal.code) => panic!("{at}, then again: {refusal:?}"),
        _ => {}
    }
    gc::gc(&session, false).unwrap();
    holds(&session, &now, None, &ACTIONS[ACTIONS.len() - 1], &at);
    let scrubbed = scrub(&session, &mut Deaf).unwrap();
    assert_eq!((scrubbed.orphans, scrubbed.problems.len()), (0, 0), "{at}");
    assert_eq!(session.store.folder().unwrap().leftovers().unwrap().len(), 0, "{at}");
    true
}

/// Every acknowledged version is there and verifies, and none that nobody acknowledged.
fn holds(session: &Session, acknowledged: &Versions, without: Option<&Versions>, action: &Action, at: &str) {
    let mut found = Versions::new();
    for dataset in heldset_engine::resolve::datasets(&session.store).unwrap() {
        for entry in history::history(session, &dataset.slug).unwrap() {
            found.insert((dataset.slug.clone(), entry.version.number), entry.version.digest);
        }
    }
    // What is past its time goes with the garbage.
    let expired = |(slug, _): &(String, u64)| action.name == "gc" && slug == "words";
    let mut expected = without.unwrap_or(acknowledged).clone();
    expected.retain(|version, _| !expired(version) || found.contains_key(version));
    assert_eq!(found, expected, "{at}");
    let verified = verify::verify(session, None, &Nothing, &mut Deaf).unwrap();
    assert_eq!(verified.len(), expected.len(), "{at}");
    for version in verified {
        assert!(version.problems.is_empty(), "{at}: {:?}", version.problems);
    }
    assert!(session.store.catalog().check().is_empty(), "{at}");
    heldset_engine::ls::ls(session).unwrap_or_else(|refusal| panic!("{at}: {refusal:?}"));
    let log = audit::verify(session, &[]).unwrap();
    assert!(log.problems.is_empty(), "{at}: {:?}", log.problems);
}
