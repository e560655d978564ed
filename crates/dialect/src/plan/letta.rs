//! Suites of Letta, in all five dialects of its releases.
//!
//! *Invariant:* where Letta's documents and its code differ, the documents are followed, or the user is asked.

use heldset_core::path::Path;
use heldset_core::plan::{DatasetRef, Design, GradeWhen, GraderSpec, Order, Origin, Plan, Selection};
use heldset_core::value::{Object, Value};

use super::dialects::Dialect;
use super::letta_target;
use super::reader::Reader;
use super::{PlanOptions, datasets, execution, experiment, gates, graders};

const KEYS: &[&str] = &[
    "name",
    "description",
    "dataset",
    "target",
    "graders",
    "gate",
    "reward",
    "max_samples",
    "sample_tags",
    "num_runs",
    "max_concurrent",
    "max_errors",
    "setup_script",
];
const IGNORED: &[&str] = &["output", "cleanup", "sandbox"];
/// What each kind of grader of Letta has.
const GRADER: &[&str] = &["kind", "display_name", "extractor", "extractor_config"];
const TOOL: &[&str] = &["function"];
const JUDGE: &[&str] = &[
    "prompt",
    "prompt_path",
    "model",
    "temperature",
    "provider",
    "max_retries",
    "timeout",
    "system_prompt",
    "rubric_vars",
    "base_url",
    "api_key",
];
/// What only a judge that is an agent has.
const AGENT_JUDGE: &[&str] = &["agent_file", "agent_id", "judge_tool_name", "project_id"];
/// Who judges when nobody is named.
const JUDGE_MODEL: &str = "gpt-4o-mini";

/// The plan that a suite is; what could not be read of it is told and empty.
pub(super) fn read(reader: &mut Reader<'_>, root: &Object<'_>, options: &PlanOptions) -> Plan {
    let at = Path::root();
    reader.keys(root, &at, KEYS, IGNORED);
    let name = experiment::name(reader, root, &at);
    let mut select = Selection::default();
    let dataset = datasets::read(reader, root, &at, Dialect::Letta, &mut select);
    experiment::aliases(reader, root, &at, &mut select);
    let suited = letta_target::read(reader, root, &at, options);
    let mut graders = suite_graders(reader, root, &at);
    let gate = gates::letta(reader, root, &at, &mut graders, options.accuracy_unit);
    let plan = Plan {
        name,
        description: reader.text(root, &at, "description").map(|text| text.trim().to_owned()),
        origin: Origin::Letta,
        dataset: dataset.unwrap_or_else(|| DatasetRef::Path(String::new())),
        select,
        target: suited.target,
        scenarios: suited.scenarios,
        memory_seeds: Vec::new(),
        n_runs: reader.positive(root, &at, "num_runs").unwrap_or(1),
        order: Order::Coverage,
        design: Design::Cartesian,
        max_executions: None,
        max_concurrent: reader.positive(root, &at, "max_concurrent").unwrap_or(15),
        run_timeout: None,
        max_errors: execution::max_errors(reader, root, &at),
        graders,
        grade: GradeWhen::AfterRecord,
        gate,
        setup_script: reader.text(root, &at, "setup_script"),
    };
    if let Some(script) = &plan.setup_script {
        reader.named_function(script);
    }
    plan
}

/// The graders of a suite, each in its native form.
fn suite_graders(reader: &mut Reader<'_>, root: &Object<'_>, at: &Path) -> Vec<GraderSpec> {
    let at = at.then_key("graders");
    if let Some(Value::Object(named)) = root.get("graders") {
        for (name, config) in named.iter().filter_map(|(name, config)| Some((name, config.as_object()?))) {
            check_keys(reader, config, &at.then_key(name));
        }
    }
    let mut graders = graders::of(reader, root.get("graders"), &at);
    for grader in &mut graders {
        suited(reader, grader);
    }
    graders
}

fn check_keys(reader: &mut Reader<'_>, config: &Object<'_>, at: &Path) {
    let known: Vec<&str> = match config.get("kind").and_then(Value::as_str) {
        Some("tool") => [GRADER, TOOL, &["negate", "weight", "pass_threshold"]].concat(),
        Some("rubric" | "model_judge") => [GRADER, JUDGE].concat(),
        Some("letta_judge") => [GRADER, JUDGE, AGENT_JUDGE].concat(),
        // Our own kinds may stand in a suite too; whoever reads them knows their keys.
        _ => return,
    };
    reader.keys(config, at, &known, &[]);
}

/// Gives a grader of Letta its native form.
fn suited(reader: &mut Reader<'_>, grader: &mut GraderSpec) {
    let (name, config) = (&grader.name, &mut grader.config);
    let kind = config.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    if kind == "letta_judge" {
        config.set("kind", "rubric".into());
        for key in AGENT_JUDGE.iter().chain(&["base_url", "api_key"]) {
            config.remove(key);
        }
        let model = config.get("model").and_then(Value::as_str).unwrap_or(JUDGE_MODEL);
        reader.note(format!("grader `{name}` is judged by the model `{model}`, not by an agent of Letta"));
    }
    if matches!(kind.as_str(), "rubric" | "letta_judge") && !config.contains("model") {
        config.set("model", JUDGE_MODEL.into());
    }
    // Up to 0.16 this was the list of names that a prompt may hold; here every name of a case may stand in it.
    if config.get("rubric_vars").is_some_and(|names| names.as_array().is_some()) {
        config.remove("rubric_vars");
    }
}
