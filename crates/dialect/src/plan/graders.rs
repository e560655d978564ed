//! How outputs are scored, as a plan writes it: what a grader means is for others to read.
//!
//! *Invariant:* a prompt in a file is read into the grader, so that a plan says all that a judge is asked.

use heldset_core::fault::nearest;
use heldset_core::path::Path;
use heldset_core::plan::GraderSpec;
use heldset_core::value::{Object, Value};

use super::reader::Reader;
use crate::files::FilesError;

const HELP: &str = "write each by its name, as in `graders: {exact: {kind: tool, function: exact_match}}`";

/// The graders under `graders`, or under `evaluation`.
pub(super) fn read(reader: &mut Reader<'_>, root: &Object<'_>, at: &Path) -> Vec<GraderSpec> {
    let mut graders = of(reader, root.get("graders"), &at.then_key("graders"));
    if let Some(Value::Object(evaluation)) = root.get("evaluation") {
        graders.extend(of_evaluation(reader, evaluation, &at.then_key("evaluation")));
    } else if let Some(other) = root.get("evaluation") {
        graders.extend(of(reader, Some(other), &at.then_key("evaluation")));
    }
    if let Some(name) = reader.text(root, at, "primary") {
        put_first(reader, &mut graders, &name, &at.then_key("primary"));
    }
    graders
}

/// Puts the grader first that counts where no metric is named.
pub(super) fn put_first(reader: &mut Reader<'_>, graders: &mut [GraderSpec], name: &str, at: &Path) {
    if let Some(place) = graders.iter().position(|grader| grader.name == name) {
        return graders[..=place].rotate_right(1);
    }
    let names: Vec<&str> = graders.iter().map(|grader| grader.name.as_str()).collect();
    let help = match (nearest(name, names.iter().copied()), names.is_empty()) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, true) => HELP.to_owned(),
        (None, false) => format!("name one of {}", heldset_core::case::quoted(&names)),
    };
    reader.invalid(at.clone(), format!("no grader is named `{name}`"), help);
}

/// What mas-lab has under `evaluation`, or graders by their names.
fn of_evaluation(reader: &mut Reader<'_>, evaluation: &Object<'_>, at: &Path) -> Vec<GraderSpec> {
    let is_lab = ["method", "config", "metrics", "graders"].iter().any(|key| evaluation.contains(key));
    if !is_lab {
        return of(reader, Some(&Value::Object(evaluation.clone())), at);
    }
    reader.keys(evaluation, at, &["graders", "metrics"], &["method", "config"]);
    let mut graders = of(reader, evaluation.get("graders"), &at.then_key("graders"));
    graders.extend(of(reader, evaluation.get("metrics"), &at.then_key("metrics")));
    graders
}

/// Graders by their names, or in a list.
pub(super) fn of(reader: &mut Reader<'_>, value: Option<&Value<'_>>, at: &Path) -> Vec<GraderSpec> {
    let mut graders = Vec::new();
    match value {
        None | Some(Value::Null) => {}
        Some(Value::Object(named)) => {
            for (name, config) in named.iter() {
                graders.extend(one(reader, name, config, &at.then_key(name)));
            }
        }
        Some(Value::Array(items)) => {
            for (place, item) in items.iter().enumerate() {
                graders.extend(listed(reader, item, &at.then_index(place)));
            }
        }
        Some(other) => {
            let message = format!("`{at}` must be a mapping of names to graders, not {}", other.type_name());
            reader.invalid(at.clone(), message, HELP);
        }
    }
    graders
}

/// A grader in a list: its name is in it, or that of its function, or that of its kind.
fn listed(reader: &mut Reader<'_>, item: &Value<'_>, at: &Path) -> Option<GraderSpec> {
    let Value::Object(config) = item else {
        let name = reader.as_text(item, at)?;
        return one(reader, &name, item, at);
    };
    let mut config = config.clone();
    let name = config.remove("name").and_then(|name| reader.as_text(&name, &at.then_key("name")));
    let named = |key: &str| config.get(key).and_then(Value::as_str).map(str::to_owned);
    let Some(name) = name.or_else(|| named("function")).or_else(|| named("kind")) else {
        reader.invalid(at.clone(), format!("`{at}` has no `name`"), HELP);
        return None;
    };
    one(reader, &name, &Value::Object(config), at)
}

fn one(reader: &mut Reader<'_>, name: &str, config: &Value<'_>, at: &Path) -> Option<GraderSpec> {
    let mut config = match config {
        Value::Object(config) => config.clone().into_owned(),
        Value::String(function) => {
            let of_tool = [("kind", "tool".to_owned()), ("function", function.clone().into_owned())];
            of_tool.into_iter().map(|(key, value)| (key.into(), value.into())).collect()
        }
        other => {
            reader.wrong(at, "a mapping", other);
            return None;
        }
    };
    if !config.contains("kind") && config.contains("function") {
        config.set("kind", "tool".into());
    }
    if config.get("kind").and_then(Value::as_str).is_none() {
        reader.invalid(at.clone(), format!("grader `{name}` has no `kind`"), "see `heldset explain E059`");
        return None;
    }
    if config.get("kind").and_then(Value::as_str) == Some("model_judge") {
        config.set("kind", "rubric".into());
    }
    prompt(reader, &mut config, at);
    for key in ["function", "extractor"] {
        if let Some(function) = config.get(key).and_then(Value::as_str).map(str::to_owned) {
            reader.named_function(&function);
            let digest = reader.digest_of_function(&function, &at.then_key(key));
            if let Some(digest) = digest.filter(|_| key == "function") {
                config.set("digest", digest.into());
            }
        }
    }
    Some(GraderSpec { name: name.to_owned(), config })
}

/// Reads a prompt that is in a file into the grader.
fn prompt(reader: &mut Reader<'_>, config: &mut Object<'static>, at: &Path) {
    for (named, key) in [("prompt_path", "prompt"), ("system_prompt_path", "system_prompt")] {
        let inner = at.then_key(named);
        let Some(path) = reader.text(config, at, named) else { continue };
        if config.contains(key) {
            reader.invalid(inner, format!("`{at}` has both `{key}` and `{named}`"), "keep one of the two");
            continue;
        }
        if let Err(FilesError::Missing(_)) = reader.try_load(&path)
            && reader.keeps(&format!("`{path}`"), &inner)
        {
            continue;
        }
        let Some(loaded) = reader.load(&path, &inner) else { continue };
        let Ok(text) = String::from_utf8(loaded.bytes) else {
            reader.invalid(inner, format!("`{path}` is not UTF-8"), "save it as UTF-8");
            continue;
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
        // In the place of the path, so that the order of keys stays.
        config.rename(named, key);
        config.set(key, text.into());
    }
}
