//! What a plan comes to: every session, numbered before the first is held.
//!
//! *Invariant:* a record meets a scenario at most once in each repeat, however often the design names the two; a
//! session is found by its number without listing those before it.

use super::{Design, Factor, Order, Plan};
use crate::code::Code;
use crate::fault::Problem;
use crate::filter::glob;
use crate::path::Path;

/// One session: which record, in which scenario, for the how-many-th time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Session {
    /// The place of the scenario in the plan.
    pub scenario: usize,
    /// The place of the record among those that are selected.
    pub record: usize,
    /// The repeat, from 0.
    pub repeat: u64,
}

/// All sessions of a plan, in order.
#[derive(Clone, Debug)]
pub struct Sessions {
    legs: Vec<Leg>,
    repeats: u64,
    order: Order,
    /// In one repeat.
    each: u64,
}

/// A scenario and the records that it meets.
#[derive(Clone, Debug)]
struct Leg {
    scenario: usize,
    records: Records,
    /// How many pairs of a scenario and a record stand before it.
    before: u64,
}

#[derive(Clone, Debug)]
enum Records {
    All(u64),
    Some(Vec<usize>),
}

impl Sessions {
    pub(super) fn new(plan: &Plan, ids: &[&str]) -> Result<Sessions, Problem> {
        let met = met(plan, ids)?;
        let mut legs = Vec::with_capacity(met.len());
        let mut each = 0;
        for (scenario, records) in met {
            let before = each;
            each += records.len();
            legs.push(Leg { scenario, records, before });
        }
        let total = u128::from(each) * u128::from(plan.n_runs);
        if let Some(most) = plan.max_executions.filter(|most| total > u128::from(*most)) {
            let message = format!("the plan comes to {total} sessions, more than its `max_executions` of {most}");
            let at = Path::key("execution").then_key("max_executions");
            let help = "select fewer records, repeat less, or allow more";
            return Err(Problem::new(Code::E051, at, message).help(help));
        }
        if total > u128::from(u64::MAX >> 1) {
            let message = format!("the plan comes to {total} sessions");
            return Err(Problem::new(Code::E051, Path::key("run").then_key("n_runs"), message).help("repeat less"));
        }
        Ok(Sessions { legs, repeats: plan.n_runs, order: plan.order, each })
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.each * self.repeats
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The session of a number, from 0.
    pub fn get(&self, number: u64) -> Option<Session> {
        if number >= self.len() {
            return None;
        }
        let (pair, repeat) = match self.order {
            Order::Coverage => (number % self.each, number / self.each),
            Order::Depth => (number / self.repeats, number % self.repeats),
        };
        let leg = &self.legs[self.legs.partition_point(|leg| leg.before <= pair) - 1];
        Some(Session { scenario: leg.scenario, record: leg.records.get(pair - leg.before), repeat })
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = Session> + '_ {
        (0..self.len()).filter_map(|number| self.get(number))
    }
}

impl Records {
    fn len(&self) -> u64 {
        match self {
            Records::All(count) => *count,
            Records::Some(places) => places.len() as u64,
        }
    }

    fn get(&self, place: u64) -> usize {
        let place = place as usize;
        match self {
            Records::All(_) => place,
            Records::Some(places) => places[place],
        }
    }
}

/// Which scenarios meet which records; only those that meet any.
fn met(plan: &Plan, ids: &[&str]) -> Result<Vec<(usize, Records)>, Problem> {
    let all = || Records::All(ids.len() as u64);
    let mut met = match &plan.design {
        Design::Cartesian => (0..plan.scenarios.len()).map(|scenario| (scenario, all())).collect(),
        Design::Coupled(couplings) => coupled(plan, couplings, ids),
        Design::OneFactor(Factor::Records(pinned)) => {
            let place = match pinned {
                None => 0,
                Some(id) => plan
                    .scenarios
                    .iter()
                    .position(|known| known.id == *id)
                    .ok_or_else(|| pinned_problem("pin_scenario", format!("there is no scenario `{id}` to pin")))?,
            };
            vec![(place, all())]
        }
        Design::OneFactor(Factor::Scenarios(pinned)) => {
            let place = match pinned {
                None => (!ids.is_empty()).then_some(0),
                Some(id) => Some(ids.iter().position(|known| known == id).ok_or_else(|| {
                    pinned_problem("pin_record", format!("record `{id}` is not among the selected ones"))
                })?),
            };
            let one = || Records::Some(place.into_iter().collect());
            (0..plan.scenarios.len()).map(|scenario| (scenario, one())).collect()
        }
    };
    met.retain(|(_, records): &(usize, Records)| records.len() > 0);
    Ok(met)
}

fn coupled(plan: &Plan, couplings: &[(String, Vec<String>)], ids: &[&str]) -> Vec<(usize, Records)> {
    let of = |scenario: &str| {
        let globs: Vec<&Vec<String>> =
            couplings.iter().filter(|(named, _)| named == scenario).map(|(_, globs)| globs).collect();
        let is_met = |id: &str| globs.iter().any(|globs| globs.iter().any(|pattern| glob(pattern, id)));
        let places = ids.iter().enumerate().filter(|(_, id)| is_met(id)).map(|(place, _)| place);
        Records::Some(places.collect())
    };
    plan.scenarios.iter().enumerate().map(|(place, scenario)| (place, of(&scenario.id))).collect()
}

fn pinned_problem(key: &str, message: String) -> Problem {
    let at = Path::key("execution").then_key("design").then_key(key);
    Problem::new(Code::E051, at, message).help("pin one that is there, or none: then the first is taken")
}
