//! How a plan is carried out: order, design, how much at a time and for how long.
//!
//! *Invariant:* a design that names nothing to couple or vary is refused.

use heldset_core::path::Path;
use heldset_core::plan::{Design, Factor, Limit, Order};
use heldset_core::value::{Object, Value};

use super::dialects::Dialect;
use super::reader::Reader;

const KEYS: &[&str] = &[
    "order",
    "strategy",
    "design",
    "max_executions",
    "timeout",
    "parallelism",
    "parallel_scenarios",
    "max_concurrent",
];
/// What mas-lab has here beside.
const IGNORED: &[&str] =
    &["pause_between_runs", "runner", "reset_state", "emulation", "replay", "cache", "retries", "max_attempts"];
const DESIGN_KEYS: &[&str] = &["mode", "couplings", "vary", "max_executions", "pin_scenario", "pin_record", "pin_item"];
const ORDERS: &[(&str, Order)] = &[("coverage", Order::Coverage), ("depth", Order::Depth)];

/// How a plan is carried out.
pub(super) struct Execution {
    pub(super) order: Order,
    pub(super) design: Design,
    pub(super) max_executions: Option<u64>,
    pub(super) max_concurrent: Option<u64>,
    pub(super) timeout: Option<f64>,
}

impl Default for Execution {
    fn default() -> Self {
        let (order, design) = (Order::Coverage, Design::Cartesian);
        Execution { order, design, max_executions: None, max_concurrent: None, timeout: None }
    }
}

/// What stands under `execution`, and a `design` that stands beside it.
pub(super) fn read(reader: &mut Reader<'_>, root: &Object<'_>, at: &Path, dialect: Dialect) -> Execution {
    let empty = Object::new();
    let inner = at.then_key("execution");
    let execution = reader.mapping(root, at, "execution").unwrap_or(&empty);
    reader.keys(execution, &inner, KEYS, if dialect == Dialect::Lab { IGNORED } else { &[] });
    let mut out = Execution::default();
    for key in ["strategy", "order"] {
        out.order = reader.word(execution, &inner, key, ORDERS).unwrap_or(out.order);
    }
    for key in ["parallel_scenarios", "parallelism", "max_concurrent"] {
        out.max_concurrent = reader.positive(execution, &inner, key).or(out.max_concurrent);
    }
    out.max_executions = reader.positive(execution, &inner, "max_executions");
    out.timeout = reader.seconds(execution, &inner, "timeout");
    match execution.contains("design") {
        true => design(reader, execution, &inner, &mut out),
        false => design(reader, root, at, &mut out),
    }
    out
}

/// More errors than this make a run incomplete; a tenth when nothing is said.
pub(super) fn max_errors(reader: &mut Reader<'_>, root: &Object<'_>, at: &Path) -> Limit {
    let usual = Limit::Share(0.1);
    let at = at.then_key("max_errors");
    let limit = match root.get("max_errors") {
        None | Some(Value::Null) => return usual,
        Some(Value::Number(number)) if number.as_u64().is_some() => number.as_u64().map(Limit::Count),
        Some(Value::Number(number)) => share(number.as_f64()),
        Some(Value::String(text)) => match text.trim().strip_suffix('%') {
            Some(percent) => percent.trim().parse().ok().and_then(|percent: f64| share(percent / 100.0)),
            None => text.trim().parse().ok().map(Limit::Count),
        },
        Some(_) => None,
    };
    limit.unwrap_or_else(|| {
        reader.invalid(at.clone(), format!("`{at}` is neither a count nor a share"), "write `5` or `10%`");
        usual
    })
}

fn share(share: f64) -> Option<Limit> {
    (0.0..=1.0).contains(&share).then_some(Limit::Share(share))
}

fn design(reader: &mut Reader<'_>, object: &Object<'_>, at: &Path, out: &mut Execution) {
    let empty = Object::new();
    let (mode_in, mode_at, key, members, inner) = match object.get("design") {
        None | Some(Value::Null) => return,
        Some(Value::Object(design)) => (design, at.then_key("design"), "mode", design, at.then_key("design")),
        Some(_) => (object, at.clone(), "design", &empty, at.then_key("design")),
    };
    reader.keys(members, &inner, DESIGN_KEYS, &[]);
    out.max_executions = reader.positive(members, &inner, "max_executions").or(out.max_executions);
    let modes = [("cartesian", 0), ("coupled", 1), ("one_factor", 2)];
    match reader.word(mode_in, &mode_at, key, &modes) {
        Some(1) => out.design = Design::Coupled(couplings(reader, members, &inner)),
        Some(2) => out.design = Design::OneFactor(factor(reader, members, &inner)),
        _ => {}
    }
}

fn couplings(reader: &mut Reader<'_>, design: &Object<'_>, at: &Path) -> Vec<(String, Vec<String>)> {
    let items = reader.list(design, at, "couplings").unwrap_or_default();
    if items.is_empty() {
        let help = "list them, as in `couplings: [{scenario: base, records: [a-*]}]`";
        reader.invalid(at.clone(), "the design `coupled` has no `couplings`", help);
    }
    let mut couplings = Vec::new();
    for (place, item) in items.iter().enumerate() {
        let at = at.then_key("couplings").then_index(place);
        let Value::Object(item) = item else {
            reader.wrong(&at, "a mapping with `scenario` and `records`", item);
            continue;
        };
        reader.keys(item, &at, &["scenario", "records", "items", "ids"], &[]);
        let records = ["records", "items", "ids"].iter().flat_map(|key| reader.texts(item, &at, key)).collect();
        match reader.text(item, &at, "scenario") {
            Some(scenario) => couplings.push((scenario, records)),
            None => reader.invalid(at.clone(), format!("`{at}` has no `scenario`"), "name the scenario by its id"),
        }
    }
    couplings
}

fn factor(reader: &mut Reader<'_>, design: &Object<'_>, at: &Path) -> Factor {
    let names = ["scenarios", "scenario", "records", "record", "items", "item", "dataset"];
    let words: Vec<(&str, bool)> = names.iter().map(|name| (*name, name.starts_with("scenario"))).collect();
    let varied = reader.word(design, at, "vary", &words);
    let scenario = reader.text(design, at, "pin_scenario");
    let record = reader.text(design, at, "pin_record").or_else(|| reader.text(design, at, "pin_item"));
    match varied.unwrap_or(scenario.is_none()) {
        true => Factor::Scenarios(record),
        false => Factor::Records(scenario),
    }
}
