//! Graders as they are written in a plan.
//!
//! *Invariant:* every fault of a configuration is found here, before anything is run.

use heldset_core::fault::Problem;
use heldset_core::path::Path;
use heldset_core::plan::GraderSpec;
use heldset_core::value::{Object, Value};

use crate::case::Reference;
use crate::extract::Extractor;
use crate::grader::Grader;
use crate::judge::PARSER;
use crate::judge::endpoint::DEFAULT_MODEL;
use crate::rules::Rule;
use crate::settings::{Settings, suggest};

/// Every kind of grader.
pub const KINDS: &[&str] = &[
    "exact_match",
    "contains",
    "regex_match",
    "ascii_printable_only",
    "numeric",
    "json_equal",
    "json_subset",
    "json_schema",
    "set_match",
    "similarity",
    "tool_called",
    "tool_arguments",
    "tool_order",
    "max_tool_calls",
    "latency",
    "tokens",
    "retrieval",
    "command",
    "http",
    "python",
    "custom",
    "rubric",
    "model_judge",
    "letta_judge",
    "outcomes",
    "tool",
];

/// Kinds that are no function of `kind: tool`.
const NO_FUNCTIONS: usize = 9;

/// What does not change a score: names, weights, how patiently and with which key somebody is asked.
const COSMETIC: &[&str] = &[
    "kind",
    "function",
    "display_name",
    "description",
    "weight",
    "api_key",
    "headers",
    "timeout",
    "max_retries",
    "prompt_path",
    "extractor",
    "extractor_config",
];

/// What is used when a plan has no graders: `contains`.
pub fn default_graders() -> Vec<GraderSpec> {
    let mut config = Object::new();
    config.set("kind", "contains".into());
    vec![GraderSpec { name: "contains".to_owned(), config }]
}

/// The grader that a specification is.
pub(crate) fn grader(spec: &GraderSpec) -> Result<Grader, Problem> {
    let settings = Settings::new(&spec.config, Path::key("graders").then_key(&spec.name));
    let compat = compat(&settings)?;
    let kind = kind(spec, &settings)?;
    let Some(rule) = Rule::read(&kind, &settings, compat)? else {
        return Err(settings.fault("kind", format!("unknown kind `{kind}`")).help(suggest(&kind, KINDS)));
    };
    let extractor = Extractor::read(&settings, compat)?;
    let default = if matches!(rule, Rule::Outcomes(_)) { 0.7 } else { 1.0 };
    let grader = Grader {
        name: spec.name.clone(),
        display_name: settings.text("display_name")?,
        weight: settings.amount("weight")?.unwrap_or(1.0),
        threshold: threshold(&settings)?.unwrap_or(default),
        negate: settings.flag("negate")?,
        compat,
        reference: reference(&settings)?,
        identity: identity(&kind, spec),
        extractor,
        rule,
    };
    settings.any("description");
    settings.finish()?;
    Ok(grader)
}

/// `threshold` or `pass_threshold`, from 0 to 1.
pub(crate) fn threshold(settings: &Settings<'_>) -> Result<Option<f64>, Problem> {
    let (short, long) = (settings.number("threshold")?, settings.number("pass_threshold")?);
    let threshold = short.or(long);
    if threshold.is_some_and(|threshold| !(0.0..=1.0).contains(&threshold)) {
        let key = if short.is_some() { "threshold" } else { "pass_threshold" };
        return Err(settings.fault(key, format!("`{key}` must be from 0 to 1")));
    }
    Ok(threshold)
}

fn compat(settings: &Settings<'_>) -> Result<bool, Problem> {
    match settings.text("compat")? {
        None => Ok(false),
        Some(name) if name == "letta" || name.starts_with("letta/") => Ok(true),
        Some(name) => {
            let problem = settings.fault("compat", format!("unknown compatibility `{name}`"));
            Err(problem.help("use `letta/0.26`"))
        }
    }
}

/// The kind: as it is written, that of a function, or the grader's own name.
fn kind(spec: &GraderSpec, settings: &Settings<'_>) -> Result<String, Problem> {
    let functions = &KINDS[..KINDS.len() - NO_FUNCTIONS];
    let written = settings.text("kind")?;
    let has_function = spec.config.contains("function");
    match written.as_deref() {
        Some("tool") => {}
        None if has_function => {}
        Some(kind) => return Ok(kind.to_owned()),
        None if KINDS.contains(&spec.name.as_str()) && spec.name != "tool" => return Ok(spec.name.clone()),
        None => return Err(settings.lacks("kind").help(suggest(&spec.name, KINDS))),
    }
    let function = settings.needed_text("function")?;
    match function.as_str() {
        custom if custom.contains(':') => Ok("python".to_owned()),
        known if functions.contains(&known) => Ok(known.to_owned()),
        other => {
            let problem = settings.fault("function", format!("unknown function `{other}`"));
            Err(problem.help(suggest(other, functions)))
        }
    }
}

/// `expected` is the reference itself, `reference` the dotted path of the field that holds it.
fn reference(settings: &Settings<'_>) -> Result<Reference, Problem> {
    let (here, at) = (settings.any("expected"), settings.text("reference")?);
    Ok(match (here, at) {
        (Some(_), Some(_)) => return Err(settings.fault("expected", "`expected` and `reference` exclude each other")),
        (Some(value), None) => Reference::Here(value.clone()),
        (None, Some(path)) => Reference::At(path),
        (None, None) => Reference::Usual,
    })
}

fn identity(kind: &str, spec: &GraderSpec) -> Value<'static> {
    let mut rules: Object<'static> = Object::new();
    for (key, value) in spec.config.iter().filter(|(key, _)| !COSMETIC.contains(key)) {
        rules.set(key.to_owned(), value.clone());
    }
    if matches!(kind, "rubric" | "model_judge" | "letta_judge" | "outcomes") && !rules.contains("model") {
        rules.set("model", DEFAULT_MODEL.into());
    }
    let mut identity = Object::new();
    identity
        .set("kind", if ["model_judge", "letta_judge"].contains(&kind) { "rubric" } else { kind }.to_owned().into());
    if matches!(kind, "python" | "custom") {
        identity.set("function", spec.config.get("function").cloned().unwrap_or(Value::Null));
    }
    identity.set("rules", rules.into());
    for key in ["extractor", "extractor_config"] {
        if let Some(value) = spec.config.get(key).filter(|value| !value.is_null()) {
            identity.set(key, value.clone());
        }
    }
    identity.set("parser", PARSER.into());
    identity.into()
}
