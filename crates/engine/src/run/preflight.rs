//! What can be found wrong before the first session: unknown agents, templates, missing references.
//!
//! *Invariant:* looks at every selected record; what would make a session pointless is refused, the rest is warned of.

use std::collections::{BTreeMap, HashSet};

use heldset_core::code::Code;
use heldset_core::fault::Problem;
use heldset_core::path::Path;
use heldset_core::plan::{Design, Plan, Sessions};
use heldset_core::record::Record;
use heldset_core::seed::Seed;
use heldset_core::value::Value;

use super::grading::Graders;
use super::records::Records;
use super::select::Selected;
use super::targets::PreparedTarget;
use crate::refusal::{Outcome, Refusal};

/// How many records a warning is about, and the first of them.
type Doubts = BTreeMap<String, (u64, String)>;

/// Looks at every record; gives warnings for people.
pub(crate) fn check(
    plan: &Plan,
    records: &Records<'_>,
    (selected, sessions): (&Selected, &Sessions),
    targets: &[PreparedTarget],
    graders: &Graders,
) -> Outcome<Vec<String>> {
    check_seeds(&plan.memory_seeds, "the plan", targets)?;
    let mut doubts = Doubts::new();
    let planned: Option<HashSet<usize>> =
        (plan.design != Design::Cartesian).then(|| sessions.iter().map(|session| session.record).collect());
    for (place, number) in selected.rows.iter().enumerate() {
        if planned.as_ref().is_some_and(|planned| !planned.contains(&place)) {
            continue;
        }
        let seen = records.at(*number)?;
        check_record_seeds(&seen.for_agent()?, targets)?;
        let record = seen.for_evaluator()?;
        for grader in graders.iter() {
            if let Some(Problem { message, help, code, .. }) = grader.fault_of(&record.fields) {
                let message = format!("grader `{}`, record `{}`: {message}", grader.name(), seen.id());
                return Err(Refusal::usage(code, message, help.unwrap_or_default()));
            }
            if let Some(why) = grader.problem_of(&record.fields) {
                let why = match graders.is_default() {
                    true => "no grader".to_owned(),
                    false => format!("grader `{}`: {why}", grader.name()),
                };
                let entry = doubts.entry(why);
                entry.or_insert_with(|| (0, seen.id().to_owned())).0 += 1;
            }
        }
    }
    let words = |(why, (count, first)): (String, (u64, String))| match count {
        1 => format!("record `{first}` will be unscored: {why}"),
        _ => format!("{count} records will be unscored, the first is `{first}`: {why}"),
    };
    Ok(doubts.into_iter().map(words).collect())
}

fn check_record_seeds(agent: &Record<'_>, targets: &[PreparedTarget]) -> Outcome<()> {
    let Some(seeds) = agent.fields.get("memory_seeds").filter(|seeds| !seeds.is_null()) else { return Ok(()) };
    if seeds.as_array().is_some_and(<[Value<'_>]>::is_empty) {
        return Ok(());
    }
    let refused = |problem: Problem| {
        let message = format!("record `{}`: {}", agent.id.as_str(), problem.message);
        Refusal::invalid(Code::E022, message, problem.help.unwrap_or_default())
    };
    let seeds = Seed::list(seeds, &Path::root()).map_err(refused)?;
    check_seeds(&seeds, &format!("record `{}`", agent.id.as_str()), targets)
}

fn check_seeds(seeds: &[Seed], whose: &str, targets: &[PreparedTarget]) -> Outcome<()> {
    if seeds.is_empty() {
        return Ok(());
    }
    for target in targets {
        if !target.facts.takes_seeds {
            let message = format!("{whose} has memory seeds, and the target `{}` cannot take any", target.facts.kind);
            let help = "name `{seeds}` in its body template, or choose a target with a memory";
            return Err(Refusal::usage(Code::E058, message, help));
        }
        let Some(agents) = &target.facts.agents else { continue };
        for agent in seeds.iter().filter_map(|seed| seed.target_agent.as_deref()) {
            if !agents.iter().any(|known| known == agent) {
                let message = format!("{whose} seeds the agent `{agent}`, and the target has none of that name");
                let mut refusal = Refusal::unknown(message, agent, agents.iter().map(String::as_str));
                refusal.code = Code::E054;
                return Err(refusal);
            }
        }
    }
    Ok(())
}
