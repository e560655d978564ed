//! The native form of a rule.
//!
//! *Invariant:* what is written reads back to the same rule, whatever the defaults become.

use super::bar::{Bar, Decide};
use super::verdict::{count, double};
use super::{Join, Kind, Logical, PerLabel, Rule};
use crate::value::{Object, Value};

pub(super) fn write(rule: &Rule) -> Value<'static> {
    let mut object = Object::new();
    match &rule.kind {
        Kind::Simple(simple) => {
            head(&mut object, "simple", &simple.metric_key);
            object.set("aggregation", simple.aggregation.name().into());
            object.set("pass_threshold", double(simple.pass_threshold));
            bar(&mut object, &simple.bar);
        }
        Kind::WeightedAverage(weighted) => {
            head(&mut object, "weighted_average", &None);
            object.set("aggregation", weighted.aggregation.name().into());
            object.set("pass_threshold", double(weighted.pass_threshold));
            let weights = weighted.weights.iter().map(|(name, weight)| (name.clone().into(), double(*weight)));
            object.set("weights", Value::Object(weights.collect()));
            bar(&mut object, &weighted.bar);
        }
        Kind::Logical(joined) => logical(&mut object, joined),
        Kind::Regression(regression) => {
            head(&mut object, "regression", &regression.metric_key);
            object.set("aggregation", regression.aggregation.name().into());
            object.set("pass_threshold", double(regression.pass_threshold));
            if let Some(baseline) = &regression.baseline {
                object.set("baseline", baseline.clone().into());
            }
            object.set("margin", double(regression.margin));
            object.set("op", regression.op.name().into());
            decide(&mut object, regression.decide);
        }
        Kind::Coverage(coverage) => {
            head(&mut object, "coverage", &coverage.metric_key);
            object.set("min", double(coverage.min));
        }
        Kind::PerLabel(labels) => per_label(&mut object, labels),
    }
    if let Some(least) = rule.min_n {
        object.set("min_n", count(least));
    }
    object.into()
}

fn head(object: &mut Object<'static>, kind: &'static str, metric_key: &Option<String>) {
    object.set("kind", kind.into());
    if let Some(metric_key) = metric_key {
        object.set("metric_key", metric_key.clone().into());
    }
}

fn bar(object: &mut Object<'static>, bar: &Bar) {
    object.set("op", bar.op.name().into());
    object.set("value", double(bar.value));
    decide(object, bar.decide);
}

fn decide(object: &mut Object<'static>, decide: Decide) {
    object.set("decide", decide.name().into());
}

fn logical(object: &mut Object<'static>, logical: &Logical) {
    head(object, "logical", &None);
    let operator = match logical.operator {
        Join::And => "and",
        Join::Or => "or",
    };
    object.set("operator", operator.into());
    object.set("conditions", Value::Array(logical.conditions.iter().map(write).collect()));
}

fn per_label(object: &mut Object<'static>, labels: &PerLabel) {
    head(object, "per_label", &None);
    object.set("label", labels.label.clone().into());
    if let Some(values) = &labels.values {
        object.set("values", Value::Array(values.iter().cloned().map(Value::from).collect()));
    }
    object.set("rule", write(&labels.rule));
}
