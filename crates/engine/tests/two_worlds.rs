//! Two worlds that differ only in what a viewer may not see answer every request of that viewer alike.

use heldset_core::visibility::Viewer;
use heldset_testkit::Seeded;

use crate::worlds::{Request, World, answer};

/// How many programs there are for each viewer; there are twelve viewers.
const PROGRAMS: u64 = 25;
/// How many requests a program has.
const REQUESTS: usize = 20;
/// How many programs run in one pair of worlds.
const IN_ONE: u64 = 9;

#[test]
fn answers_do_not_tell_two_worlds_apart() {
    let (mut programs, mut answered) = (0, 0);
    for (index, viewer) in (0..).zip(Viewer::all()) {
        for first in (0..PROGRAMS).step_by(IN_ONE as usize) {
            let seed = 1000 * index + first;
            let (mut one, mut other) = (World::new(seed, viewer, false), World::new(seed, viewer, true));
            for program in first..PROGRAMS.min(first + IN_ONE) {
                answered += run(&mut one, &mut other, viewer, 1000 * index + program);
                programs += 1;
            }
        }
    }
    assert_eq!(programs, 300);
    assert!(answered > 2000, "only {answered} requests had an answer");
}

/// Runs one program in both worlds; gives how many requests were not refused.
fn run(one: &mut World, other: &mut World, viewer: Viewer, seed: u64) -> usize {
    let choices = Seeded::new(seed.wrapping_mul(0x1234_5677));
    let mut answered = 0;
    for step in 0..REQUESTS {
        if step == REQUESTS / 2 && seed % IN_ONE == 8 {
            one.erase(0);
            other.erase(0);
        }
        let request = Request::random(&choices);
        let (here, there) = (answer(&mut one.session, viewer, &request), answer(&mut other.session, viewer, &request));
        assert_eq!(here, there, "{viewer}, program {seed}: {request:?}");
        answered += usize::from(!here.starts_with("Refusal"));
    }
    answered
}

#[test]
fn worlds_differ_for_those_who_see_all_of_it() {
    let agent = Viewer::parse("agent").unwrap();
    let (mut one, mut other) = (World::new(7, agent, false), World::new(7, agent, true));
    let request = Request::Cat("trips".to_owned(), None, Vec::new(), None);
    for (viewer, alike) in [("agent", true), ("evaluator", false), ("operator", false), ("dashboard", false)] {
        let viewer = Viewer::parse(viewer).unwrap();
        let (here, there) = (answer(&mut one.session, viewer, &request), answer(&mut other.session, viewer, &request));
        assert_eq!(here == there, alike, "{viewer}: {here}\n{there}");
    }
}
