//! The native form of a plan.
//!
//! *Invariant:* what is written reads back to the same plan; every default is written out.

use super::{DatasetRef, Design, Factor, GradeWhen, Limit, Order, Plan, Selection};
use crate::number::Number;
use crate::value::{Object, Value};

pub(super) fn write(plan: &Plan) -> Value<'static> {
    let mut native = object([("apiVersion", "heldset/v1".into()), ("kind", "Experiment".into())]);
    native.set("name", plan.name.clone().into());
    set(&mut native, "description", plan.description.clone().map(Value::from));
    native.set("dataset", dataset(plan));
    set(&mut native, "select", filled(selection(&plan.select)));
    native.set("target", plan.target.clone().into());
    let scenario = |scenario: &super::Scenario| {
        object([("id", scenario.id.clone().into()), ("overlay", scenario.overlay.clone().into())]).into()
    };
    native.set("scenarios", Value::Array(plan.scenarios.iter().map(scenario).collect()));
    native.set("memory_seeds", Value::Array(plan.memory_seeds.iter().map(crate::seed::Seed::to_value).collect()));
    native.set("run", object([("n_runs", count(plan.n_runs))]).into());
    native.set("execution", execution(plan).into());
    native.set("max_concurrent", count(plan.max_concurrent));
    native.set("max_errors", limit(plan.max_errors));
    let graders = plan.graders.iter().map(|grader| (grader.name.clone().into(), grader.config.clone().into()));
    native.set("graders", Value::Object(graders.collect()));
    // The order of keys is lost where a plan is kept in canonical bytes; which grader counts must not be.
    if let Some(first) = plan.graders.first().filter(|_| plan.graders.len() > 1) {
        native.set("primary", first.name.clone().into());
    }
    native.set(
        "grade",
        match plan.grade {
            GradeWhen::AfterRecord => "after_record".into(),
            GradeWhen::AfterRun => "after_run".into(),
        },
    );
    set(&mut native, "gate", plan.gate.as_ref().map(crate::gate::Rule::to_value));
    set(&mut native, "setup_script", plan.setup_script.clone().map(Value::from));
    native.into()
}

fn dataset(plan: &Plan) -> Value<'static> {
    let mut dataset = match &plan.dataset {
        DatasetRef::Path(path) => object([("path", path.clone().into())]),
        DatasetRef::Cite(cite) => object([("ref", cite.clone().into())]),
    };
    set(&mut dataset, "split", plan.select.split.clone().map(Value::from));
    dataset.into()
}

fn selection(select: &Selection) -> Object<'static> {
    let mut out = Object::new();
    set(&mut out, "filter", select.filter.as_ref().map(crate::filter::Filter::to_value));
    set(&mut out, "group", select.group.clone().map(Value::from));
    set(&mut out, "labels", select.labels.clone().map(Value::from));
    let mut tags = Object::new();
    for (key, names) in [("all", &select.tags_all), ("any", &select.tags_any), ("none", &select.tags_none)] {
        set(&mut tags, key, texts(names));
    }
    set(&mut out, "tags", filled(tags));
    set(&mut out, "ids", texts(&select.ids));
    set(&mut out, "failed_from", select.failed_from.clone().map(Value::from));
    set(&mut out, "shard", select.shard.map(|(part, parts)| format!("{part}/{parts}").into()));
    if let Some(sample) = &select.sample {
        let mut written = object([("n", count(sample.n)), ("seed", count(sample.seed))]);
        set(&mut written, "stratify_by", sample.stratify_by.clone().map(Value::from));
        out.set("sample", written.into());
    }
    set(&mut out, "limit", select.limit.map(count));
    out
}

fn execution(plan: &Plan) -> Object<'static> {
    let order = match plan.order {
        Order::Coverage => "coverage",
        Order::Depth => "depth",
    };
    let mut out = object([("order", order.into()), ("design", design(&plan.design))]);
    set(&mut out, "max_executions", plan.max_executions.map(count));
    set(&mut out, "timeout", plan.run_timeout.and_then(double));
    out
}

fn design(design: &Design) -> Value<'static> {
    match design {
        Design::Cartesian => "cartesian".into(),
        Design::Coupled(couplings) => {
            let coupling = |(scenario, records): &(String, Vec<String>)| {
                let records = records.iter().map(|record| record.clone().into()).collect();
                object([("scenario", scenario.clone().into()), ("records", Value::Array(records))]).into()
            };
            let couplings = couplings.iter().map(coupling).collect();
            object([("mode", "coupled".into()), ("couplings", Value::Array(couplings))]).into()
        }
        Design::OneFactor(factor) => {
            let (vary, key, pinned) = match factor {
                Factor::Scenarios(pinned) => ("scenarios", "pin_record", pinned),
                Factor::Records(pinned) => ("records", "pin_scenario", pinned),
            };
            let mut out = object([("mode", "one_factor".into()), ("vary", vary.into())]);
            set(&mut out, key, pinned.clone().map(Value::from));
            out.into()
        }
    }
}

/// A count as a number; a share in per cent where that reads back exactly.
fn limit(limit: Limit) -> Value<'static> {
    match limit {
        Limit::Count(most) => count(most),
        Limit::Share(share) => {
            let texts = (0..=17).map(|places| format!("{:.places$}", share * 100.0));
            let exact = |text: &String| text.parse::<f64>().is_ok_and(|number| number / 100.0 == share);
            let percent = texts.into_iter().find(exact);
            percent.map_or_else(|| double(share).unwrap_or(Value::Null), |text| format!("{text}%").into())
        }
    }
}

fn object<const N: usize>(members: [(&'static str, Value<'static>); N]) -> Object<'static> {
    members.into_iter().map(|(key, value)| (key.into(), value)).collect()
}

fn set(object: &mut Object<'static>, key: &'static str, value: Option<Value<'static>>) {
    if let Some(value) = value {
        object.set(key, value);
    }
}

fn filled(object: Object<'static>) -> Option<Value<'static>> {
    (!object.is_empty()).then_some(Value::Object(object))
}

fn texts(names: &[String]) -> Option<Value<'static>> {
    (!names.is_empty()).then(|| Value::Array(names.iter().map(|name| name.clone().into()).collect()))
}

fn count(count: u64) -> Value<'static> {
    Value::Number(Number::from_u64(count))
}

fn double(number: f64) -> Option<Value<'static>> {
    Number::from_f64(number).ok().map(Value::Number)
}
