//! Experiments: our own form, and mas-lab's, which it holds.
//!
//! *Invariant:* what mas-lab knows and what has no meaning here is noted; what nobody knows is a fault.

use heldset_core::gate::Rule;
use heldset_core::path::Path;
use heldset_core::plan::{DatasetRef, GradeWhen, Origin, Plan, Selection};
use heldset_core::value::{Object, Value};

use super::dialects::Dialect;
use super::reader::Reader;
use super::{PlanOptions, datasets, execution, graders, manifests, scenarios, seeds, selection};

const KEYS: &[&str] = &[
    "apiVersion",
    "kind",
    "name",
    "description",
    "dataset",
    "select",
    "target",
    "scenarios",
    "memory_seeds",
    "run",
    "execution",
    "design",
    "max_concurrent",
    "max_errors",
    "graders",
    "evaluation",
    "primary",
    "grade",
    "gate",
    "setup_script",
    "flavour",
    "default_flavour",
    "mas",
    "applications",
    "num_runs",
    "max_samples",
    "sample_tags",
];
/// What mas-lab has beside.
const IGNORED: &[&str] = &[
    "metadata",
    "default_infra",
    "pipeline",
    "pipeline_bind",
    "output_schema",
    "output_dir",
    "trace_cache_dir",
    "ui",
    "plots",
    "flavours",
    "test",
    "scenario",
    "application",
    "item",
    "pre",
    "post",
    "schedule",
    "bench_emulation",
    "defaults",
    "tags",
    "version",
];

/// The plan that an experiment is, which stands at `at`; what could not be read of it is told and empty.
pub(super) fn read(
    reader: &mut Reader<'_>,
    root: &Object<'_>,
    at: &Path,
    dialect: Dialect,
    options: &PlanOptions,
) -> Plan {
    let is_lab = dialect == Dialect::Lab;
    reader.keys(root, at, KEYS, if is_lab { IGNORED } else { &["metadata"] });
    let name = name(reader, root, at);
    let mut select = selection::read(reader, root, at);
    aliases(reader, root, at, &mut select);
    let dataset = datasets::read(reader, root, at, dialect, &mut select);
    let target = manifests::target(reader, root, at, options);
    let scenarios = scenarios::read(reader, root, at, dialect);
    let execution = execution::read(reader, root, at, dialect);
    let max_concurrent = reader.positive(root, at, "max_concurrent").or(execution.max_concurrent);
    let grades = [("after_record", GradeWhen::AfterRecord), ("after_run", GradeWhen::AfterRun)];
    let plan = Plan {
        name,
        description: reader.text(root, at, "description").map(|text| text.trim().to_owned()),
        origin: if is_lab { Origin::Lab } else { Origin::Native },
        dataset: dataset.unwrap_or_else(|| DatasetRef::Path(String::new())),
        select,
        target: target.unwrap_or_default(),
        scenarios,
        memory_seeds: seeds::read(reader, root, at),
        n_runs: n_runs(reader, root, at, is_lab),
        order: execution.order,
        design: execution.design,
        max_executions: execution.max_executions,
        max_concurrent: max_concurrent.unwrap_or(if is_lab { 4 } else { 16 }),
        run_timeout: execution.timeout,
        max_errors: execution::max_errors(reader, root, at),
        graders: graders::read(reader, root, at),
        grade: reader.word(root, at, "grade", &grades).unwrap_or(GradeWhen::AfterRecord),
        gate: gate(reader, root, at),
        setup_script: reader.text(root, at, "setup_script"),
    };
    if let Some(script) = &plan.setup_script {
        reader.named_function(script);
    }
    plan
}

/// The name of the plan; that of its file when there is none.
pub(super) fn name(reader: &mut Reader<'_>, root: &Object<'_>, at: &Path) -> String {
    let named = reader.text(root, at, "name");
    let file = reader.name.rsplit('/').next().unwrap_or(reader.name);
    named.unwrap_or_else(|| file.split('.').next().unwrap_or(file).to_owned())
}

/// A gate as it is written.
fn gate(reader: &mut Reader<'_>, root: &Object<'_>, at: &Path) -> Option<Rule> {
    let value = root.get("gate").filter(|value| !value.is_null())?;
    match Rule::from_value(value, &at.then_key("gate")) {
        Ok(rule) => Some(rule),
        Err(problem) => {
            reader.problem(problem);
            None
        }
    }
}

fn n_runs(reader: &mut Reader<'_>, root: &Object<'_>, at: &Path, is_lab: bool) -> u64 {
    let of_suite = reader.positive(root, at, "num_runs");
    let Some(run) = reader.mapping(root, at, "run") else { return of_suite.unwrap_or(1) };
    let at = at.then_key("run");
    reader.keys(run, &at, &["n_runs"], if is_lab { &["pre", "post", "artifacts"] } else { &[] });
    reader.positive(run, &at, "n_runs").or(of_suite).unwrap_or(1)
}

/// The names that Letta has for parts of a selection.
pub(super) fn aliases(reader: &mut Reader<'_>, root: &Object<'_>, at: &Path, select: &mut Selection) {
    if root.get("sample_tags").is_some_and(|tags| !matches!(tags, Value::Null)) {
        select.tags_all.extend(reader.texts(root, at, "sample_tags"));
    }
    select.limit = reader.positive(root, at, "max_samples").or(select.limit);
}
