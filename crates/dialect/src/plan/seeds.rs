//! Memory seeds of a plan: in place, or in a file beside it.
//!
//! *Invariant:* seeds keep their order and all that they hold.

use heldset_core::path::Path;
use heldset_core::seed::Seed;
use heldset_core::value::{Object, Value};

use super::reader::Reader;
use crate::lab::{seed_list, seeds_of_file};

/// What a seed may say.
const KEYS: &[&str] = &["source", "key", "id", "content", "text", "target_agent", "metadata"];

/// The seeds under `memory_seeds`.
pub(super) fn read(reader: &mut Reader<'_>, object: &Object<'_>, at: &Path) -> Vec<Seed> {
    let at = at.then_key("memory_seeds");
    match object.get("memory_seeds") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                if let Some(seed) = item.as_object() {
                    reader.keys(seed, &at.then_index(index), KEYS, &[]);
                }
            }
            let mut problems = Vec::new();
            let items = seed_list(items.clone(), &at, &mut problems);
            let is_whole = problems.is_empty();
            problems.into_iter().for_each(|problem| reader.problem(problem));
            if is_whole { seeds(reader, &Value::Array(items), &at) } else { Vec::new() }
        }
        Some(Value::String(path)) => of_file(reader, path, &at),
        Some(other) => {
            reader.wrong(&at, "a list of seeds or the path of a file", other);
            Vec::new()
        }
    }
}

fn of_file(reader: &mut Reader<'_>, path: &str, at: &Path) -> Vec<Seed> {
    let Some((document, name)) = reader.load(path, at).and_then(|loaded| reader.document(loaded)) else {
        return Vec::new();
    };
    match seeds_of_file(&document.root().into_owned()) {
        Ok(list) => seeds(reader, &list, at),
        Err(problems) => {
            let told = problems.into_iter().map(|problem| document.fault(problem).in_file(Some(&name)));
            reader.faults.extend(told);
            Vec::new()
        }
    }
}

fn seeds(reader: &mut Reader<'_>, list: &Value<'_>, at: &Path) -> Vec<Seed> {
    Seed::list(list, at).unwrap_or_else(|problem| {
        reader.problem(problem);
        Vec::new()
    })
}
