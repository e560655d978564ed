//! Overlays of scenarios: patches in place, in files, or several of them.
//!
//! *Invariant:* later patches win over earlier ones; a patch that is named and not there is told with where it was
//! looked for.

use heldset_core::code::Code;
use heldset_core::fault::Problem;
use heldset_core::path::Path;
use heldset_core::target::overlaid;
use heldset_core::value::{Object, Value};

use super::reader::Reader;
use crate::files::FilesError;

/// The layers of mas-lab, in the order in which they are laid.
const LAYERS: &[&str] = &["logic", "control", "infra"];

/// The patch that a value is.
pub(super) fn read(reader: &mut Reader<'_>, value: &Value<'_>, at: &Path, folder: Option<&str>) -> Object<'static> {
    match value {
        Value::Null => Object::new(),
        Value::String(name) => named(reader, name, at, folder),
        Value::Array(items) => {
            let mut all = Object::new();
            for (place, item) in items.iter().enumerate() {
                all = overlaid(&all, &read(reader, item, &at.then_index(place), folder));
            }
            all
        }
        Value::Object(mapping) => of_mapping(reader, mapping, at, folder),
        other => {
            reader.wrong(at, "a mapping, a path or a list of them", other);
            Object::new()
        }
    }
}

/// The patch in the file that is called like the scenario, if there is one.
pub(super) fn like_scenario(reader: &mut Reader<'_>, id: &str, at: &Path, folder: &str) -> Object<'static> {
    for path in candidates(id, Some(folder)).into_iter().skip(1) {
        if let Ok(loaded) = reader.try_load(&path) {
            return content(reader, loaded, at);
        }
    }
    reader.note(format!("scenario `{id}` has no overlay: there is no `{}/{id}.yaml`", folder.trim_end_matches('/')));
    Object::new()
}

fn of_mapping(reader: &mut Reader<'_>, mapping: &Object<'_>, at: &Path, folder: Option<&str>) -> Object<'static> {
    if mapping.len() == 1 {
        for key in ["ref", "path"] {
            if let Some(Value::String(name)) = mapping.get(key) {
                return named(reader, name, &at.then_key(key), folder);
            }
        }
    }
    let is_layered = !mapping.is_empty()
        && mapping.iter().all(|(key, value)| LAYERS.contains(&key) && matches!(value, Value::Array(_) | Value::Null));
    if is_layered {
        let mut all = Object::new();
        for key in LAYERS {
            let layer = mapping.get(key).unwrap_or(&Value::Null);
            all = overlaid(&all, &read(reader, layer, &at.then_key(key), folder));
        }
        return all;
    }
    unwrapped(mapping.clone().into_owned())
}

/// The patch in a file: by its path, or by its name among the configurations.
fn named(reader: &mut Reader<'_>, name: &str, at: &Path, folder: Option<&str>) -> Object<'static> {
    let paths = candidates(name, folder);
    for path in &paths {
        match reader.try_load(path) {
            Ok(loaded) => return content(reader, loaded, at),
            Err(FilesError::Missing(_)) => {}
            Err(error) => {
                reader.problem(crate::map::files_problem(&error, at.clone()));
                return Object::new();
            }
        }
    }
    let shown: Vec<&str> = paths.iter().map(String::as_str).collect();
    let message = match &shown[..] {
        [only] => format!("there is no file `{only}`"),
        several => format!("there is no overlay `{name}`: none of {} is there", heldset_core::case::quoted(several)),
    };
    let problem = Problem::new(Code::E019, at.clone(), message);
    reader.problem(problem.help("paths are relative to the file that names them"));
    Object::new()
}

fn candidates(name: &str, folder: Option<&str>) -> Vec<String> {
    let mut paths = vec![name.to_owned()];
    let is_file = [".yaml", ".yml", ".json"].iter().any(|ending| name.ends_with(ending));
    let folders: Vec<&str> = folder.into_iter().chain((!is_file && folder.is_none()).then_some("overlays")).collect();
    for folder in folders {
        let folder = folder.trim_end_matches('/');
        match is_file {
            true => paths.push(format!("{folder}/{name}")),
            false => paths.extend([format!("{folder}/{name}.yaml"), format!("{folder}/{name}.yml")]),
        }
    }
    paths
}

fn content(reader: &mut Reader<'_>, loaded: crate::files::Loaded, at: &Path) -> Object<'static> {
    let Some((document, name)) = reader.document(loaded) else { return Object::new() };
    match document.root().into_owned() {
        Value::Object(patch) => unwrapped(patch),
        Value::Null => Object::new(),
        other => {
            let message = format!("`{name}` holds {}, not a patch", other.type_name());
            reader.problem(Problem::new(Code::E021, at.clone(), message).help("an overlay is a mapping"));
            Object::new()
        }
    }
}

/// The patch without mas-lab's envelope.
fn unwrapped(patch: Object<'static>) -> Object<'static> {
    let Some(Value::Object(spec)) = patch.get("spec") else { return patch };
    match spec.get("patch") {
        Some(Value::Object(inner)) => inner.clone(),
        None if patch.contains("apiVersion") => spec.clone(),
        _ => patch,
    }
}
