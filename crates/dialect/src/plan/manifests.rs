//! Who is asked: a target in the plan, in a file, or the manifest of an application.
//!
//! *Invariant:* a target that was given in its place keeps the plan's own from being looked for.

use heldset_core::code::Code;
use heldset_core::fault::Problem;
use heldset_core::path::Path;
use heldset_core::target::overlaid;
use heldset_core::value::{Object, Value};

use super::PlanOptions;
use super::reader::Reader;
use crate::files::{FilesError, Loaded};

/// Kinds of targets: a manifest that says one of them is of that kind.
const KINDS: &[&str] =
    &["command", "http", "openai_chat", "mas", "python", "letta_agent", "replay", "echo", "scripted"];
/// How far upwards an application is looked for, as far as the files allow it.
const UPWARDS: usize = 16;
const NONE: &str = "add `target:`, or name a file with `--target FILE`";

/// The target of an experiment.
pub(super) fn target(
    reader: &mut Reader<'_>,
    root: &Object<'_>,
    at: &Path,
    options: &PlanOptions,
) -> Option<Object<'static>> {
    if let Some(target) = &options.target {
        return Some(target.clone());
    }
    match root.get("target") {
        None | Some(Value::Null) => {}
        Some(value) => return stated(reader, value, &at.then_key("target")),
    }
    if let Some(mas) = root.get("mas").filter(|mas| !mas.is_null()) {
        return of_mas(reader, mas, &at.then_key("mas"));
    }
    if let Some(Value::Array(applications)) = root.get("applications")
        && let Some(first) = applications.first()
    {
        return of_mas(reader, first, &at.then_key("applications").then_index(0));
    }
    reader.invalid(at.clone(), "the plan has no `target`", NONE);
    None
}

/// A target in its place, or in a file of its own.
fn stated(reader: &mut Reader<'_>, value: &Value<'_>, at: &Path) -> Option<Object<'static>> {
    match value {
        Value::String(path) => {
            let loaded = reader.load(path, at)?;
            content(reader, loaded, at, false)
        }
        Value::Object(target) if target.contains("manifest") => {
            let mut rest = target.clone().into_owned();
            let manifest = rest.remove("manifest")?;
            let below = of_manifest(reader, &manifest, &at.then_key("manifest"))?;
            Some(overlaid(&below, &rest))
        }
        Value::Object(target) if target.get("kind").is_some_and(|kind| kind.as_str().is_some()) => {
            Some(target.clone().into_owned())
        }
        Value::Object(_) => {
            let help = format!("say what it is, with one of {}", heldset_core::case::quoted(KINDS));
            reader.invalid(at.clone(), "the target has no `kind`", help);
            None
        }
        other => {
            reader.wrong(at, "a mapping or the path of a file", other);
            None
        }
    }
}

/// What `mas:` or an application names.
fn of_mas(reader: &mut Reader<'_>, mas: &Value<'_>, at: &Path) -> Option<Object<'static>> {
    let Value::Object(mas) = mas else { return of_manifest(reader, mas, at) };
    if let Some(manifest) = mas.get("manifest").filter(|manifest| !manifest.is_null()) {
        return of_manifest(reader, manifest, &at.then_key("manifest"));
    }
    if let Some(app) = reader.text(mas, at, "app") {
        return application(reader, &app, &at.then_key("app"));
    }
    if mas.contains("agents") {
        return Some(as_target(mas.clone().into_owned()));
    }
    reader.invalid(at.clone(), format!("`{at}` has neither `manifest` nor `app`"), NONE);
    None
}

/// A path, `app:NAME`, or `{app: NAME}`.
fn of_manifest(reader: &mut Reader<'_>, manifest: &Value<'_>, at: &Path) -> Option<Object<'static>> {
    if let Value::Object(inner) = manifest
        && let Some(app) = reader.text(inner, at, "app")
    {
        return application(reader, &app, at);
    }
    let text = reader.as_text(manifest, at)?;
    match text.strip_prefix("app:") {
        Some(app) => application(reader, app.trim(), at),
        None => {
            if let Err(FilesError::Missing(_)) = reader.try_load(&text)
                && reader.keeps(&format!("`{text}`"), at)
            {
                return Some(named_only(text));
            }
            let loaded = reader.load(&text, at)?;
            content(reader, loaded, at, true)
        }
    }
}

/// The manifest of an application, which lies under `apps/` beside the plan or above it.
fn application(reader: &mut Reader<'_>, app: &str, at: &Path) -> Option<Object<'static>> {
    let names = [
        format!("apps/{app}/mas.yaml"),
        format!("apps/{app}/mas.yml"),
        format!("apps/{app}/manifest.yaml"),
        format!("apps/{app}.yaml"),
    ];
    let is_name = !app.is_empty() && !app.contains(['/', '\\']) && app != "..";
    let mut upwards = 0;
    for up in (0..UPWARDS).filter(|_| is_name) {
        for name in &names {
            match reader.try_load(&format!("{}{name}", "../".repeat(up))) {
                Ok(loaded) => return content(reader, loaded, at, true),
                Err(FilesError::Missing(_)) => upwards = up,
                Err(FilesError::Outside(_)) => return missing(reader, app, at, &names, upwards),
                Err(error) => {
                    reader.problem(crate::map::files_problem(&error, at.clone()));
                    return None;
                }
            }
        }
    }
    missing(reader, app, at, &names, upwards)
}

fn missing(reader: &mut Reader<'_>, app: &str, at: &Path, names: &[String], upwards: usize) -> Option<Object<'static>> {
    if reader.keeps(&format!("application `{app}`"), at) {
        return Some(named_only(format!("app:{app}")));
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let above = if upwards > 0 { " and in the folders above" } else { "" };
    let message = format!(
        "there is no application `{app}`: beside the plan{above} there is none of {}",
        heldset_core::case::quoted(&names)
    );
    let help = "write its manifest there, or name another target with `--target FILE`";
    reader.problem(Problem::new(Code::E019, at.clone(), message).help(help));
    None
}

/// A target whose manifest is not there.
fn named_only(manifest: String) -> Object<'static> {
    let named = [("kind", "mas".to_owned()), ("manifest", manifest)];
    named.into_iter().map(|(key, value)| (key.into(), value.into())).collect()
}

/// The target that a file holds.
fn content(reader: &mut Reader<'_>, loaded: Loaded, at: &Path, is_manifest: bool) -> Option<Object<'static>> {
    let (document, name) = reader.document(loaded)?;
    match document.root().into_owned() {
        Value::Object(found) if is_manifest => Some(as_target(found)),
        Value::Object(found) => stated(reader, &Value::Object(unwrapped(found)), at),
        other => {
            let message = format!("`{name}` holds {}, not a target", other.type_name());
            reader.problem(Problem::new(Code::E021, at.clone(), message).help("a target is a mapping with `kind`"));
            None
        }
    }
}

/// A file may hold the target under `target:`.
fn unwrapped(found: Object<'static>) -> Object<'static> {
    match found.get("target") {
        Some(Value::Object(target)) if !found.contains("kind") => target.clone(),
        _ => found,
    }
}

/// A manifest as a target: without its envelope, of kind `mas` when it says no other kind of target.
fn as_target(found: Object<'static>) -> Object<'static> {
    let found = unwrapped(found);
    if found.get("kind").and_then(Value::as_str).is_some_and(|kind| KINDS.contains(&kind)) {
        return found;
    }
    let mut target: Object<'static> = std::iter::once(("kind".into(), Value::from("mas"))).collect();
    let body = match found.get("spec") {
        Some(Value::Object(spec)) => spec.clone(),
        _ => found,
    };
    for (key, value) in body.into_iter().filter(|(key, _)| !["kind", "apiVersion", "metadata"].contains(&key.as_ref()))
    {
        target.set(key, value);
    }
    target
}
