//! The decision: a rule and the evidence in, a verdict out.
//!
//! *Invariant:* it fails closed: without a score, or with too many cases unscored, nothing passes. Below that share,
//! unscored cases are tried at both extremes, and what they could turn around is inconclusive.

use super::bar::{Bar, Decide, shown};
use super::evidence::{Evidence, Scope};
use super::measure::{Fill, Measured, Sample};
use super::needed::needed;
use super::verdict::{Answer, Verdict, told};
use super::{Coverage, Join, Kind, Logical, PerLabel, Rule, Simple, WeightedAverage, regression};

/// With a larger share of planned cases unscored, a gate fails.
pub const MAX_UNSCORED_PERCENT: usize = 2;

/// What a rule says of a run.
pub fn decide(rule: &Rule, evidence: &Evidence) -> Verdict {
    within(rule, &Scope::whole(evidence))
}

fn within(rule: &Rule, scope: &Scope<'_>) -> Verdict {
    let verdict = match &rule.kind {
        Kind::Simple(simple) => of_simple(rule, simple, scope),
        Kind::WeightedAverage(weighted) => of_weighted(rule, weighted, scope),
        Kind::Logical(logical) => of_logical(rule, logical, scope),
        Kind::Regression(regression) => regression::decide(rule, regression, scope),
        Kind::Coverage(coverage) => of_coverage(rule, coverage, scope),
        Kind::PerLabel(per_label) => of_labels(rule, per_label, scope),
    };
    floored(rule, verdict)
}

/// Too few scores decide nothing; that there is none at all still fails.
fn floored(rule: &Rule, verdict: Verdict) -> Verdict {
    match rule.min_n {
        Some(least) if verdict.n > 0 && (verdict.n as u64) < least => Verdict {
            verdict: Answer::Inconclusive,
            reason: format!("there are {} scores, and the rule asks for at least {least}", verdict.n),
            needed_n: Some(least.max(verdict.needed_n.unwrap_or(0))),
            ..verdict
        },
        _ => verdict,
    }
}

fn of_simple(rule: &Rule, simple: &Simple, scope: &Scope<'_>) -> Verdict {
    let metric = scope.metric(&simple.metric_key);
    let (aggregation, threshold) = (simple.aggregation, simple.pass_threshold);
    let sample = Sample::of(scope, |case| aggregation.of_case(case, metric, threshold));
    let facts = Facts {
        what: format!("{} of `{metric}`", aggregation.name()),
        scored: sample.values.len(),
        missing: sample.missing.len(),
    };
    settle(rule, &simple.bar, &facts, |fill| aggregation.of_sample(&sample.filled(fill)))
}

fn of_weighted(rule: &Rule, weighted: &WeightedAverage, scope: &Scope<'_>) -> Verdict {
    let (aggregation, threshold) = (weighted.aggregation, weighted.pass_threshold);
    let total: f64 = weighted.weights.iter().map(|(_, weight)| weight).sum();
    // A case has a weighted score when it has all the scores that weigh.
    let weighing: Vec<_> = weighted.weights.iter().filter(|(_, weight)| *weight > 0.0).collect();
    let one = |metric: &str| Sample::of(scope, |case| aggregation.of_case(case, metric, threshold));
    let whole = Sample::of(scope, |case| {
        let each = weighing.iter().map(|(metric, weight)| Some(aggregation.of_case(case, metric, threshold)? * weight));
        each.sum::<Option<f64>>().map(|sum| sum / total)
    });
    let names: Vec<_> = weighing.iter().map(|(name, _)| format!("`{name}`")).collect();
    let facts = Facts {
        what: format!("weighted {} of {}", aggregation.name(), names.join(", ")),
        scored: whole.values.len(),
        missing: whole.missing.len(),
    };
    settle(rule, &weighted.bar, &facts, |fill| {
        let whole = whole.filled(fill);
        if aggregation.is_mean() {
            return aggregation.of_sample(&snapped(whole));
        }
        let parts = weighing.iter().map(|(name, weight)| aggregation.of_sample(&one(name).filled(fill)).value * weight);
        Measured { value: parts.sum::<f64>() / total, ..aggregation.of_sample(&whole) }
    })
}

/// Weights that add up to almost 1 make a whole 1 of all passes, so that it is seen as one.
fn snapped(mut sample: Sample) -> Sample {
    for value in &mut sample.values {
        if (*value - value.round()).abs() < 1e-12 {
            *value = value.round();
        }
    }
    sample
}

/// What is known before the value is.
pub(super) struct Facts {
    pub(super) what: String,
    pub(super) scored: usize,
    pub(super) missing: usize,
}

/// Holds what is measured against the bar, with unscored cases absent, lowest and highest.
pub(super) fn settle(rule: &Rule, bar: &Bar, facts: &Facts, measure: impl Fn(Fill) -> Measured) -> Verdict {
    let Facts { what, scored, missing } = facts;
    let failed = |reason| Verdict { unscored: *missing, ..Verdict::bare(rule, Answer::Fail, "none", reason) };
    if *scored == 0 {
        return failed(format!("there are no scores for {what}"));
    }
    let measured = measure(Fill::Absent);
    let planned = scored + missing;
    if missing * 100 > planned * MAX_UNSCORED_PERCENT {
        let reason = format!(
            "{missing} of {planned} planned cases are unscored, more than the {MAX_UNSCORED_PERCENT} % up to which a gate decides"
        );
        return failed(reason).measured(&measured);
    }
    let answer = |measured: &Measured| bar.judge(measured.value, measured.interval);
    let verdict = answer(&measured);
    let tried = [Fill::Lowest, Fill::Highest].into_iter().filter(|_| *missing > 0);
    let turned = tried.into_iter().any(|fill| answer(&measure(fill)) != verdict);
    if turned && verdict != Answer::Inconclusive {
        let reason = format!("{}, and {missing} unscored cases could turn that around", told(what, &measured));
        let bare = Verdict::bare(rule, Answer::Inconclusive, "none", reason);
        return Verdict { unscored: *missing, ..bare.measured(&measured) };
    }
    let needed_n = (verdict == Answer::Inconclusive).then(|| needed(bar, &measured)).flatten();
    let reason = because(bar, verdict, &told(what, &measured), &measured, needed_n);
    let bare = Verdict::bare(rule, verdict, "none", reason);
    Verdict { unscored: *missing, needed_n, ..bare.measured(&measured) }
}

fn because(bar: &Bar, verdict: Answer, told: &str, measured: &Measured, needed_n: Option<u64>) -> String {
    let asked = bar.shown();
    let more = needed_n.map(|needed| format!("; about {needed} would decide"));
    match verdict {
        Answer::Pass => format!("{told}, as asked: {asked}"),
        Answer::Fail => format!("{told}, but {asked} is asked"),
        Answer::Inconclusive if measured.interval.is_none() => {
            format!("{told}: too few for an interval{}", more.unwrap_or_default())
        }
        Answer::Inconclusive => {
            let more = more.unwrap_or_else(|| "; with this value no number of scores would decide".to_owned());
            format!("{told}: too few to tell whether it is {asked}{more}")
        }
    }
}

fn of_coverage(rule: &Rule, coverage: &Coverage, scope: &Scope<'_>) -> Verdict {
    let metric = scope.metric(&coverage.metric_key);
    let sample = Sample::of(scope, |case| case.score(metric).map(|(score, _)| score));
    let (scored, missing) = (sample.values.len(), sample.missing.len());
    let share = scored as f64 / scope.planned.max(1) as f64;
    let bar = Bar { op: super::Op::Gte, value: coverage.min, decide: Decide::Point };
    let answer = if scored > 0 && bar.holds(share) { Answer::Pass } else { Answer::Fail };
    let told = format!("{scored} of {} planned cases have a score of `{metric}`", scope.planned);
    let reason = match answer {
        Answer::Pass => format!("{told}, as asked: a share of at least {}", shown(coverage.min)),
        _ => format!("{told}, but a share of at least {} is asked", shown(coverage.min)),
    };
    let bare = Verdict::bare(rule, answer, "point", reason);
    Verdict { value: Some(share), n: scored, unscored: missing, ..bare }
}

fn of_logical(rule: &Rule, logical: &Logical, scope: &Scope<'_>) -> Verdict {
    let children: Vec<_> = logical.conditions.iter().map(|condition| within(condition, scope)).collect();
    joined(rule, logical.operator, children, "logical", "conditions")
}

fn of_labels(rule: &Rule, per_label: &PerLabel, scope: &Scope<'_>) -> Verdict {
    let label = &per_label.label;
    let values = match &per_label.values {
        Some(values) => values.iter().map(|value| Some(value.as_str())).collect(),
        None => scope.values_of(label),
    };
    // A value that the rule does not name comes from sealed data: it is told by its number.
    let told = |number: usize, value: &str| match &per_label.values {
        Some(_) => value.to_owned(),
        None => format!("#{number}"),
    };
    let one = |(number, value): (usize, Option<&str>)| {
        let verdict = within(&per_label.rule, &scope.with(label, value));
        let value = value.map(|value| told(number, value));
        let name = value.as_ref().map_or_else(|| format!("without `{label}`"), |value| format!("`{label}` {value}"));
        let reason = format!("{name}: {}", verdict.reason);
        Verdict { label: Some((label.clone(), value)), reason, ..verdict }
    };
    joined(rule, Join::And, (1..).zip(values).map(one).collect(), "per label", "groups")
}

/// `and` fails with one that fails and passes with all; `or` the other way round.
fn joined(rule: &Rule, join: Join, children: Vec<Verdict>, method: &'static str, what: &str) -> Verdict {
    let (one, all) = match join {
        Join::And => (Answer::Fail, Answer::Pass),
        Join::Or => (Answer::Pass, Answer::Fail),
    };
    let is = |answer| move |child: &&Verdict| child.verdict == answer;
    let answer = if children.is_empty() {
        Answer::Fail
    } else if children.iter().any(|child| child.verdict == one) {
        one
    } else if children.iter().all(|child| child.verdict == all) {
        all
    } else {
        Answer::Inconclusive
    };
    let alike = children.iter().filter(is(answer)).count();
    let first = children.iter().find(is(answer)).map(|child| format!(": {}", child.reason));
    let reason = match children.len() {
        0 => format!("there are no {what} to decide on"),
        all => format!("{alike} of {all} {what} {}{}", plural(answer), first.unwrap_or_default()),
    };
    let open = children.iter().filter(is(Answer::Inconclusive)).map(|child| child.needed_n);
    let needed_n = match (answer, join) {
        // All open conditions must be decided, so the largest number counts; one open-ended leaves it open.
        (Answer::Inconclusive, Join::And) => open.collect::<Option<Vec<_>>>().and_then(|all| all.into_iter().max()),
        (Answer::Inconclusive, Join::Or) => open.flatten().min(),
        _ => None,
    };
    Verdict {
        n: children.iter().map(|child| child.n).min().unwrap_or(0),
        unscored: children.iter().map(|child| child.unscored).max().unwrap_or(0),
        needed_n,
        children,
        ..Verdict::bare(rule, answer, method, reason)
    }
}

fn plural(answer: Answer) -> &'static str {
    match answer {
        Answer::Pass => "pass",
        Answer::Fail => "fail",
        Answer::Inconclusive => "are inconclusive",
    }
}
