//! Scenarios: variants of the target, each by its overlay.
//!
//! *Invariant:* a plan has at least one scenario; the flavour is part of what is laid over the target.

use heldset_core::path::Path;
use heldset_core::plan::Scenario;
use heldset_core::value::{Object, Value};

use super::dialects::Dialect;
use super::overlays;
use super::reader::Reader;

/// The scenario of a plan that names none.
pub(super) const ONLY: &str = "default";

const KEYS: &[&str] = &["id", "overlay", "overlays", "flavour", "description", "tags"];
const IGNORED: &[&str] = &["version", "inputs", "expectations", "user_prompt", "pipeline_resources", "metadata"];

/// The scenarios of an experiment.
pub(super) fn read(reader: &mut Reader<'_>, root: &Object<'_>, at: &Path, dialect: Dialect) -> Vec<Scenario> {
    let flavour = reader.text(root, at, "flavour").or_else(|| reader.text(root, at, "default_flavour"));
    let folder = configs_dir(root);
    let mut scenarios = Vec::new();
    for (place, item) in reader.list(root, at, "scenarios").unwrap_or_default().iter().enumerate() {
        let at = at.then_key("scenarios").then_index(place);
        match item {
            Value::Object(item) => scenarios.extend(one(reader, item, &at, dialect, folder.as_deref())),
            Value::String(id) => {
                let bare = std::iter::once(("id".into(), Value::from(id.as_ref()))).collect();
                scenarios.extend(one(reader, &bare, &at, dialect, folder.as_deref()));
            }
            other => reader.wrong(&at, "a mapping with `id`", other),
        }
    }
    if scenarios.is_empty() {
        scenarios.push(Scenario { id: ONLY.to_owned(), overlay: Object::new() });
    }
    for scenario in scenarios.iter_mut().filter(|scenario| !scenario.overlay.contains("flavour")) {
        if let Some(flavour) = &flavour {
            scenario.overlay.set("flavour", flavour.clone().into());
        }
    }
    scenarios
}

fn one(
    reader: &mut Reader<'_>,
    item: &Object<'_>,
    at: &Path,
    dialect: Dialect,
    folder: Option<&str>,
) -> Option<Scenario> {
    reader.keys(item, at, KEYS, if dialect == Dialect::Lab { IGNORED } else { &[] });
    let Some(id) = reader.text(item, at, "id") else {
        if item.get("id").is_none_or(Value::is_null) {
            reader.invalid(at.clone(), format!("`{at}` has no `id`"), "give the scenario a name");
        }
        return None;
    };
    let mut overlay = Object::new();
    let is_named = ["overlay", "overlays"].iter().any(|key| item.get(key).is_some_and(|value| !value.is_null()));
    for key in ["overlays", "overlay"] {
        if let Some(value) = item.get(key) {
            let above = overlays::read(reader, value, &at.then_key(key), folder);
            overlay = heldset_core::target::overlaid(&overlay, &above);
        }
    }
    if let Some(folder) = folder.filter(|_| !is_named) {
        overlay = overlays::like_scenario(reader, &id, at, folder);
    }
    if let Some(flavour) = reader.text(item, at, "flavour") {
        overlay.set("flavour", flavour.into());
    }
    Some(Scenario { id, overlay })
}

/// Where the overlays of the first application lie.
fn configs_dir(root: &Object<'_>) -> Option<String> {
    let first = root.get("applications")?.as_array()?.first()?;
    Some(first.as_object()?.get("configs_dir")?.as_str()?.to_owned())
}
