//! A comparison as a value, for programs.
//!
//! *Invariant:* the names are a promise: more may come, none goes.

use heldset_core::value::Value;
use heldset_store::run::RunDoc;

use super::{Comparison, MetricDifference, Moved};
use crate::summary::{count, interval, members, number, optional};

impl Comparison {
    /// The comparison.
    pub fn to_value(&self) -> Value<'static> {
        let metrics = self.metrics.iter().map(|metric| (metric.name.clone().into(), metric.to_value()));
        let moved = |moved: &[Moved]| Value::Array(moved.iter().map(Moved::to_value).collect());
        let left_out = &self.left_out;
        members([
            ("a", run(&self.a)),
            ("b", run(&self.b)),
            ("pairs", count(self.pairs)),
            ("left_out", count(left_out.total())),
            (
                "left_out_because",
                members([
                    ("only_a", count(left_out.only_a)),
                    ("only_b", count(left_out.only_b)),
                    ("unscored", count(left_out.unscored)),
                    ("content_differs", count(left_out.content_differs.len() as u64)),
                ]),
            ),
            ("metrics", Value::Object(metrics.collect())),
            ("primary", self.primary.clone().map_or(Value::Null, Value::from)),
            ("improved", moved(&self.improved)),
            ("regressed", moved(&self.regressed)),
            ("content_differs", texts(&left_out.content_differs)),
            ("other_metrics", texts(&self.other_metrics)),
            ("other_graders", texts(&self.other_graders)),
        ])
    }
}

impl MetricDifference {
    fn to_value(&self) -> Value<'static> {
        members([
            ("a", number(self.a)),
            ("b", number(self.b)),
            ("difference", number(self.difference)),
            ("interval", interval(self.interval)),
            ("p", optional(self.p)),
            ("p_plain", optional(self.p_plain)),
            ("method", self.method.clone().into()),
            ("pairs", count(self.pairs)),
        ])
    }
}

impl Moved {
    fn to_value(&self) -> Value<'static> {
        members([
            ("id", self.id.clone().into()),
            ("scenario", self.scenario.clone().map_or(Value::Null, Value::from)),
            ("a", number(self.a)),
            ("b", number(self.b)),
        ])
    }
}

fn run(doc: &RunDoc) -> Value<'static> {
    members([
        ("run", doc.id.clone().into()),
        ("name", doc.name.clone().into()),
        ("dataset", doc.dataset.clone().into()),
        ("version", count(doc.version)),
        ("digest", doc.digest.clone().into()),
        ("split", doc.split.clone().into()),
        ("plan_digest", doc.plan_digest.clone().into()),
    ])
}

fn texts(texts: &[String]) -> Value<'static> {
    Value::Array(texts.iter().map(|text| Value::from(text.clone())).collect())
}
