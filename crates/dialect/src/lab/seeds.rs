//! Memory seeds: in place, or in a file beside the dataset.
//!
//! *Invariant:* a seed keeps its place in the order and everything it holds; only the older names of `source` and
//! `content` are replaced.

use heldset_core::case;
use heldset_core::code::Code;
use heldset_core::fault::Problem;
use heldset_core::path::Path;
use heldset_core::value::{Object, Value};

use super::item::Item;
use super::side::{Side, SideFiles};
use crate::map::Notes;

/// Where the list is in a file that is a mapping: the first of these that is there.
const LISTS: &[&str] = &["seeds", "items", "memory_seeds", "entries"];

/// Reads `memory_seeds`, which stands at `at`, into the item.
pub(super) fn take<'a>(item: &mut Item<'a>, value: Value<'a>, at: Path, side: &SideFiles, notes: &mut Notes<'_>) {
    notes.tally.as_is("memory_seeds");
    let seeds = match value {
        Value::Null => Value::Null,
        Value::Array(seeds) => {
            if seeds.iter().any(has_older_name) {
                notes.tally.legacy.insert("memory seeds with `key`, `id` or `text`");
            }
            Value::Array(all(seeds, &at, &mut notes.problems))
        }
        Value::String(path) => match side.open(&path, &at, notes) {
            None => Value::Null,
            Some(file) => of_file(&file, &path, &at, notes),
        },
        other => {
            let expected = "a list of seeds or the path of a file";
            return notes.problem(case::wrong_type(at.clone(), &at.to_string(), expected, &other));
        }
    };
    item.put("memory_seeds", seeds, at, notes);
}

/// The seeds of a file, which is read once for all items that name it.
fn of_file<'a>(file: &Side, path: &str, at: &Path, notes: &mut Notes<'_>) -> Value<'a> {
    match file.seeds(read_file) {
        Ok(seeds) => seeds.clone(),
        Err(problems) => {
            for problem in problems {
                notes.problem(file.name_place(problem, path, at));
            }
            Value::Null
        }
    }
}

/// The seeds that a file holds, as a list.
pub(crate) fn read_file(root: &Value<'static>) -> Result<Value<'static>, Vec<Problem>> {
    let shapeless = |path: Path, what: &str| {
        let problem = Problem::new(Code::E021, path, format!("this is not a list of seeds but {what}"));
        Err(vec![
            problem.help("a seed file is a list, or a mapping with `seeds`, `items`, `memory_seeds` or `entries`"),
        ])
    };
    let (list, at) = match root {
        Value::Object(mapping) => match LISTS.iter().find_map(|name| mapping.get(name).map(|list| (list, name))) {
            Some((list, name)) => (list, Path::key(name)),
            None => return shapeless(Path::root(), "a mapping of something else"),
        },
        other => (other, Path::root()),
    };
    let Value::Array(seeds) = list else { return shapeless(at, list.type_name()) };
    let mut problems = Vec::new();
    let seeds = all(seeds.clone(), &at, &mut problems);
    if problems.is_empty() { Ok(Value::Array(seeds)) } else { Err(problems) }
}

/// The seeds of a list, with their names of today; those that are faulty are left out and told.
pub(crate) fn all<'a>(seeds: Vec<Value<'a>>, at: &Path, problems: &mut Vec<Problem>) -> Vec<Value<'a>> {
    let each = seeds.into_iter().enumerate();
    each.filter_map(|(index, seed)| one(seed, &at.then_index(index), problems)).collect()
}

fn one<'a>(seed: Value<'a>, at: &Path, problems: &mut Vec<Problem>) -> Option<Value<'a>> {
    let mut seed = match seed {
        Value::Object(seed) => seed,
        other => {
            problems.push(case::wrong_type(at.clone(), &at.to_string(), "a mapping", &other));
            return None;
        }
    };
    let before = problems.len();
    for (name, older) in [("source", &["key", "id"][..]), ("content", &["text"])] {
        rename(&mut seed, name, older, at, problems);
    }
    if problems.len() == before {
        case::check_seed(&seed, at, problems);
    }
    (problems.len() == before).then_some(Value::Object(seed))
}

/// Gives a member its name, and refuses one that is empty.
fn rename(seed: &mut Object<'_>, name: &'static str, older: &[&'static str], at: &Path, problems: &mut Vec<Problem>) {
    let Some(found) = std::iter::once(&name).chain(older).find(|known| seed.contains(known)) else { return };
    let at = at.then_key(found);
    match seed.get(found) {
        Some(Value::String(text)) if !text.is_empty() => {}
        Some(Value::String(_) | Value::Null) => {
            let problem = Problem::new(Code::E022, at.clone(), format!("`{at}` is empty"));
            problems.push(
                problem.help("a memory seed needs `source` (a label for where it comes from) and `content` (its text)"),
            );
        }
        Some(other) => problems.push(case::wrong_type(at.clone(), &at.to_string(), "text", other)),
        None => {}
    }
    if *found != name
        && let Some(value) = seed.remove(found)
    {
        seed.set(name, value);
    }
}

fn has_older_name(seed: &Value<'_>) -> bool {
    let lacks = |object: &Object<'_>, name, older: &[&str]| {
        !object.contains(name) && older.iter().any(|known| object.contains(known))
    };
    seed.as_object().is_some_and(|seed| lacks(seed, "source", &["key", "id"]) || lacks(seed, "content", &["text"]))
}
