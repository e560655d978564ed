//! `compare`: two runs over the same records, paired by id and content.
//!
//! *Invariant:* a record counts only if both runs saw the same content of it and scored it; every other one is counted
//! as left out, and those whose content differs are listed apart.

mod metric;
mod side;
mod value;

use std::collections::BTreeSet;

use heldset_store::run::RunDoc;

pub use metric::MetricDifference;

use crate::refusal::Outcome;
use crate::results::{Row, RunResults};
use crate::session::Session;
use side::{Key, Side, Unit, scenarios};

/// What is compared.
pub struct CompareRequest<'c> {
    /// The one run.
    pub a: &'c str,
    /// The other.
    pub b: &'c str,
}

/// Two runs, paired.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The one run.
    pub a: RunDoc,
    /// The other.
    pub b: RunDoc,
    /// How many pairs both runs scored.
    pub pairs: u64,
    /// What was left out, and why.
    pub left_out: LeftOut,
    /// Every metric that both runs have.
    pub metrics: Vec<MetricDifference>,
    /// Metrics that only one of them has.
    pub other_metrics: Vec<String>,
    /// Graders of one name that are not the same: their scores mean different things.
    pub other_graders: Vec<String>,
    /// The metric that improvements and regressions are told by.
    pub primary: Option<String>,
    /// What is better in the other run.
    pub improved: Vec<Moved>,
    /// What is worse.
    pub regressed: Vec<Moved>,
}

/// What was left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Only in the one.
    pub only_a: u64,
    /// Only in the other.
    pub only_b: u64,
    /// Not scored by both.
    pub unscored: u64,
    /// Ids whose content is not the same.
    pub content_differs: Vec<String>,
}

/// A record that a metric tells apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// Its id.
    pub id: String,
    /// The scenario, when both runs have several.
    pub scenario: Option<String>,
    /// What it came to in the one.
    pub a: f64,
    /// And in the other.
    pub b: f64,
}

impl LeftOut {
    /// How many.
    pub fn total(&self) -> u64 {
        self.only_a + self.only_b + self.unscored + self.content_differs.len() as u64
    }
}

/// Compares two runs.
pub fn compare(session: &Session, request: &CompareRequest<'_>) -> Outcome<Comparison> {
    let a = RunResults::open(session, request.a, "compare")?;
    let b = RunResults::open(session, request.b, "compare")?;
    let each_a = |take: &mut dyn FnMut(&Row)| each(&a, take);
    let each_b = |take: &mut dyn FnMut(&Row)| each(&b, take);
    paired((&a.doc, &each_a), (&b.doc, &each_b))
}

/// A run whose rows can be walked again.
type Walked<'w> = (&'w RunDoc, &'w dyn Fn(&mut dyn FnMut(&Row)) -> Outcome<()>);

fn each(results: &RunResults<'_>, take: &mut dyn FnMut(&Row)) -> Outcome<()> {
    results.each(|row| {
        take(&row);
        Ok(())
    })
}

/// Pairs the rows of two runs.
fn paired(a: Walked<'_>, b: Walked<'_>) -> Outcome<Comparison> {
    let (mut names_a, mut names_b) = (BTreeSet::new(), BTreeSet::new());
    names_a.extend(a.0.targets.iter().map(|target| target.scenario.clone()));
    names_b.extend(b.0.targets.iter().map(|target| target.scenario.clone()));
    let (of_a, of_b) = scenarios(&names_a, &names_b);
    let (mut side_a, mut side_b) = (Side::default(), Side::default());
    a.1(&mut |row| side_a.add(row, &of_a))?;
    b.1(&mut |row| side_b.add(row, &of_b))?;
    let in_b = |name: &&String| side_b.metrics.contains(name);
    let common: Vec<String> = side_a.metrics.iter().filter(in_b).cloned().collect();
    let primary = [&a.0.primary, &b.0.primary].into_iter().flatten().find(|name| common.contains(name)).cloned();
    let mut comparison = Comparison {
        a: a.0.clone(),
        b: b.0.clone(),
        pairs: 0,
        left_out: LeftOut::default(),
        metrics: Vec::new(),
        other_metrics: others(&side_a.metrics, &side_b.metrics),
        other_graders: graders_that_differ(a.0, b.0),
        primary: primary.or_else(|| common.first().cloned()),
        improved: Vec::new(),
        regressed: Vec::new(),
    };
    let matched = comparison.matched(&side_a, &side_b, &common);
    comparison.measure(&matched, &side_a, &side_b, &common);
    Ok(comparison)
}

/// A pair of the same content.
type Matched<'m> = (&'m Key, &'m Unit, &'m Unit);

impl Comparison {
    /// Finds the pairs, and counts what is none.
    fn matched<'m>(&mut self, a: &'m Side, b: &'m Side, common: &[String]) -> Vec<Matched<'m>> {
        let left_out = &mut self.left_out;
        left_out.only_b = b.units.keys().filter(|key| !a.units.contains_key(key)).count() as u64;
        let mut matched = Vec::new();
        for (key, unit) in &a.units {
            let Some(other) = b.units.get(key) else {
                left_out.only_a += 1;
                continue;
            };
            if unit.leaf != other.leaf {
                left_out.content_differs.push(key.0.clone());
                continue;
            }
            let scored = |name: &String| a.value(unit, name).is_some() && b.value(other, name).is_some();
            match common.iter().any(scored) {
                true => matched.push((key, unit, other)),
                false => left_out.unscored += 1,
            }
        }
        self.pairs = matched.len() as u64;
        matched
    }

    fn measure(&mut self, matched: &[Matched<'_>], a: &Side, b: &Side, common: &[String]) {
        for name in common {
            let mut pairs = Vec::with_capacity(matched.len());
            for (key, unit, other) in matched {
                let (Some(one), Some(two)) = (a.value(unit, name), b.value(other, name)) else { continue };
                pairs.push((key.0.as_str(), one, two));
                if self.primary.as_ref() == Some(name) && one != two {
                    let moved = Moved { id: key.0.clone(), scenario: key.1.clone(), a: one, b: two };
                    if two > one { self.improved.push(moved) } else { self.regressed.push(moved) }
                }
            }
            self.metrics.push(MetricDifference::of(name, &pairs));
        }
        metric::correct(&mut self.metrics);
    }
}

fn others(a: &[String], b: &[String]) -> Vec<String> {
    let only_a = a.iter().filter(|name| !b.contains(name));
    only_a.chain(b.iter().filter(|name| !a.contains(name))).cloned().collect()
}

fn graders_that_differ(a: &RunDoc, b: &RunDoc) -> Vec<String> {
    let differs = |(name, digest): &&(String, String)| {
        b.graders.iter().any(|(other, other_digest)| other == name && other_digest != digest)
    };
    a.graders.iter().filter(differs).map(|(name, _)| name.clone()).collect()
}

#[cfg(test)]
mod tests;
