//! Rules as they are written in plans and files.
//!
//! *Invariant:* what is read is complete: defaults are filled in, and a rule that could never be decided is told.

use super::bar::{Bar, Decide, Op};
use super::measure::Aggregation;
use super::members::{Members, did_you_mean, number, wrong};
use super::{Coverage, Join, Kind, Logical, PerLabel, Regression, Rule, Simple, WeightedAverage};
use crate::fault::Problem;
use crate::path::Path;
use crate::value::Value;

const KINDS: &[&str] = &["simple", "weighted_average", "logical", "regression", "coverage", "per_label"];
const OPS: &[(&str, Op)] = &[("gt", Op::Gt), ("gte", Op::Gte), ("lt", Op::Lt), ("lte", Op::Lte), ("eq", Op::Eq)];
const DECIDES: &[(&str, Decide)] = &[("interval", Decide::Interval), ("point", Decide::Point)];
const JOINS: &[(&str, Join)] = &[("and", Join::And), ("or", Join::Or)];
/// The score from which a case passes, unless another is asked for.
const FULL_SCORE: f64 = 1.0;

pub(super) fn read(value: &Value<'_>, at: &Path) -> Result<Rule, Problem> {
    nested(value, at, Decide::Interval)
}

/// A rule inside another one, whose `decide` it takes over unless it has its own.
fn nested(value: &Value<'_>, at: &Path, decide: Decide) -> Result<Rule, Problem> {
    let Some(object) = value.as_object() else {
        return Err(wrong(at, format!("a gate is a mapping, not {}", value.type_name())));
    };
    let members = Members { object, at };
    let decide = members.one_of("decide", DECIDES)?.unwrap_or(decide);
    let min_n = members.count("min_n")?;
    let kind = match kind_of(&members)?.as_str() {
        "simple" => Kind::Simple(simple(members, decide)?),
        "weighted_average" => Kind::WeightedAverage(weighted(members, decide)?),
        "logical" => Kind::Logical(logical(members, decide)?),
        "regression" => Kind::Regression(regression(members, decide)?),
        "coverage" => Kind::Coverage(coverage(members)?),
        "per_label" | "labels" => Kind::PerLabel(per_label(members, decide)?),
        other => {
            let problem = wrong(&at.then_key("kind"), format!("`{other}` is not a known kind of gate"));
            return Err(problem.help(did_you_mean(other, KINDS)));
        }
    };
    Ok(Rule { kind, min_n })
}

/// The kind that is named, or that the members show.
fn kind_of(members: &Members<'_, '_>) -> Result<String, Problem> {
    if let Some(kind) = members.text("kind")? {
        return Ok(kind);
    }
    let has = |key| members.object.contains(key);
    let shown = match () {
        () if has("conditions") => "logical",
        () if has("weights") => "weighted_average",
        () if has("rule") => "per_label",
        () if has("margin") || has("baseline") => "regression",
        () => "simple",
    };
    Ok(shown.to_owned())
}

fn simple(members: Members<'_, '_>, decide: Decide) -> Result<Simple, Problem> {
    let members = members.only(&[
        "kind",
        "metric_key",
        "metric",
        "aggregation",
        "op",
        "value",
        "pass_threshold",
        "decide",
        "min_n",
    ])?;
    let (metric_key, named) = metric(&members)?;
    let aggregation = aggregation(&members)?.or(named).unwrap_or(Aggregation::AvgScore);
    let pass_threshold = members.number("pass_threshold")?.unwrap_or(FULL_SCORE);
    Ok(Simple { metric_key, aggregation, pass_threshold, bar: bar(&members, aggregation, decide)? })
}

/// `metric` is the older name of `metric_key`, and in the oldest form that of the aggregation.
fn metric(members: &Members<'_, '_>) -> Result<(Option<String>, Option<Aggregation>), Problem> {
    let key = members.text("metric_key")?;
    let Some(metric) = members.text("metric")? else { return Ok((key, None)) };
    let named = Aggregation::NAMES.iter().find(|(name, _)| *name == metric).map(|(_, aggregation)| *aggregation);
    match (named, members.get("aggregation").is_some(), key) {
        (Some(aggregation), false, key) => Ok((key, Some(aggregation))),
        (_, _, None) => Ok((Some(metric), None)),
        (_, _, Some(key)) if key == metric => Ok((Some(key), None)),
        _ => Err(wrong(&members.at.then_key("metric"), "`metric` and `metric_key` name two metrics".to_owned())
            .help("keep `metric_key`")),
    }
}

fn aggregation(members: &Members<'_, '_>) -> Result<Option<Aggregation>, Problem> {
    members.one_of("aggregation", Aggregation::NAMES)
}

fn bar(members: &Members<'_, '_>, aggregation: Aggregation, decide: Decide) -> Result<Bar, Problem> {
    let op = members.one_of("op", OPS)?.unwrap_or(Op::Gte);
    let at = members.at.then_key("value");
    let value = number(members.required("value")?, &at, "value")?;
    if aggregation.is_share() && !(0.0..=1.0).contains(&value) {
        let problem = wrong(&at, format!("`{}` is a share from 0 to 1, not {value}", aggregation.name()));
        return Err(problem.help("write 0.9 for 90 %"));
    }
    // There is no interval for these.
    let decide = if aggregation.is_mean() && op != Op::Eq { decide } else { Decide::Point };
    Ok(Bar { op, value, decide })
}

fn weighted(members: Members<'_, '_>, decide: Decide) -> Result<WeightedAverage, Problem> {
    let members =
        members.only(&["kind", "aggregation", "weights", "op", "value", "pass_threshold", "decide", "min_n"])?;
    let aggregation = aggregation(&members)?.unwrap_or(Aggregation::AvgScore);
    let pass_threshold = members.number("pass_threshold")?.unwrap_or(FULL_SCORE);
    let weights = weights(&members)?;
    Ok(WeightedAverage { aggregation, weights, pass_threshold, bar: bar(&members, aggregation, decide)? })
}

fn weights(members: &Members<'_, '_>) -> Result<Vec<(String, f64)>, Problem> {
    let value = members.required("weights")?;
    let at = members.at.then_key("weights");
    let Some(object) = value.as_object() else {
        return Err(members.is("weights", "a mapping of metrics to numbers", value));
    };
    let mut weights = Vec::new();
    for (name, value) in object.iter() {
        let weight = number(value, &at.then_key(name), name)?;
        if weight < 0.0 {
            return Err(wrong(&at.then_key(name), format!("the weight of `{name}` is negative")));
        }
        weights.push((name.to_owned(), weight));
    }
    match weights.iter().any(|(_, weight)| *weight > 0.0) {
        true => Ok(weights),
        false => Err(wrong(&at, "no metric has a weight above 0".to_owned())),
    }
}

fn logical(members: Members<'_, '_>, decide: Decide) -> Result<Logical, Problem> {
    let members = members.only(&["kind", "operator", "conditions", "decide", "min_n"])?;
    let operator = members.one_of("operator", JOINS)?.unwrap_or(Join::And);
    let value = members.required("conditions")?;
    let at = members.at.then_key("conditions");
    let Some(items) = value.as_array() else { return Err(members.is("conditions", "a list of gates", value)) };
    if items.is_empty() {
        return Err(wrong(&at, "`conditions` is empty".to_owned()));
    }
    let each = items.iter().enumerate().map(|(index, item)| nested(item, &at.then_index(index), decide));
    Ok(Logical { operator, conditions: each.collect::<Result<_, _>>()? })
}

fn regression(members: Members<'_, '_>, decide: Decide) -> Result<Regression, Problem> {
    let members = members.only(&[
        "kind",
        "metric_key",
        "metric",
        "aggregation",
        "pass_threshold",
        "baseline",
        "margin",
        "op",
        "decide",
        "min_n",
    ])?;
    let (metric_key, named) = metric(&members)?;
    let aggregation = aggregation(&members)?.or(named).unwrap_or(Aggregation::AvgScore);
    if !aggregation.is_mean() {
        let problem = wrong(&members.at.then_key("aggregation"), format!("`{}` cannot be paired", aggregation.name()));
        return Err(problem.help("a regression is of `avg_score`, `accuracy` or `pass_rate`"));
    }
    let margin = members.number("margin")?.unwrap_or(0.0);
    if margin < 0.0 {
        return Err(wrong(&members.at.then_key("margin"), "`margin` is negative".to_owned())
            .help("it says how much worse is still fine"));
    }
    let op = members.one_of("op", &[("gte", Op::Gte), ("lte", Op::Lte)])?.unwrap_or(Op::Gte);
    let pass_threshold = members.number("pass_threshold")?.unwrap_or(FULL_SCORE);
    let baseline = members.text("baseline")?;
    Ok(Regression { metric_key, aggregation, pass_threshold, baseline, margin, op, decide })
}

fn coverage(members: Members<'_, '_>) -> Result<Coverage, Problem> {
    let members = members.only(&["kind", "metric_key", "min", "value", "min_n", "decide"])?;
    let key = if members.get("min").is_none() && members.get("value").is_some() { "value" } else { "min" };
    let at = members.at.then_key(key);
    let min = number(members.required(key)?, &at, key)?;
    if !(0.0..=1.0).contains(&min) {
        return Err(wrong(&at, format!("`{key}` is a share from 0 to 1, not {min}")).help("write 0.9 for 90 %"));
    }
    Ok(Coverage { metric_key: members.text("metric_key")?, min })
}

fn per_label(members: Members<'_, '_>, decide: Decide) -> Result<PerLabel, Problem> {
    let members = members.only(&["kind", "label", "values", "rule", "decide", "min_n"])?;
    let Some(label) = members.text("label")? else {
        return Err(wrong(members.at, "`label` is missing in the gate".to_owned()));
    };
    let rule = nested(members.required("rule")?, &members.at.then_key("rule"), decide)?;
    Ok(PerLabel { label, values: label_values(&members)?, rule: Box::new(rule) })
}

fn label_values(members: &Members<'_, '_>) -> Result<Option<Vec<String>>, Problem> {
    let Some(value) = members.get("values") else { return Ok(None) };
    let one = |item: &Value<'_>| match item {
        Value::String(text) => Some(text.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    };
    let values = value.as_array().filter(|items| !items.is_empty());
    let values = values.and_then(|items| items.iter().map(one).collect());
    values.map(Some).ok_or_else(|| members.is("values", "a list of values of the label", value))
}
