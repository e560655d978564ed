//! Rows of another shape, whose fields the manifest tells: `spec.source` with `spec.map`.

use heldset_core::case::wrong_type;
use heldset_core::fault::Problem;
use heldset_core::path::{Path, Step};
use heldset_core::value::{Object, Value};

use crate::map::Notes;

/// Which field of a row is which field of an item.
pub(crate) struct FieldMap(Vec<Pair>);

struct Pair {
    /// The field of the item.
    item: Path,
    /// Where the row has it.
    row: Path,
}

impl FieldMap {
    /// Reads `map`, which stands at `at`: fields of the item to fields of the row, both with dots for depth.
    pub(super) fn of(map: &Value<'_>, at: &Path) -> Result<Self, Problem> {
        let Value::Object(map) = map else { return Err(wrong_type(at.clone(), &at.to_string(), "a mapping", map)) };
        let mut pairs = Vec::with_capacity(map.len());
        for (item, row) in map.iter() {
            let place = at.then_key(item);
            let Some(row) = row.as_str() else {
                return Err(wrong_type(place.clone(), &place.to_string(), "the name of a field", row));
            };
            pairs.push(Pair { item: dotted(item), row: dotted(row) });
        }
        Ok(FieldMap(pairs))
    }

    /// The item that a row is; what the map does not name becomes metadata.
    pub(super) fn apply<'a>(&self, mut row: Object<'a>, notes: &mut Notes<'_>) -> Object<'a> {
        let mut item = Object::new();
        for pair in &self.0 {
            if let Some(value) = find(&row, pair.row.steps()) {
                place(&mut item, pair.item.steps(), value.clone());
            }
        }
        for pair in &self.0 {
            remove(&mut row, pair.row.steps());
        }
        if row.is_empty() {
            return item;
        }
        match item.get_mut("metadata") {
            Some(Value::Object(metadata)) => {
                for (name, value) in row {
                    let from = name.clone();
                    notes.put(metadata, name, value, &from);
                }
            }
            Some(_) => {}
            None => item.set("metadata", Value::Object(row)),
        }
        item
    }

    /// Makes a problem of the item one of the row.
    pub(super) fn point_at_source(&self, problem: &mut Problem) {
        let steps = problem.path.steps();
        let fits = |pair: &&Pair| steps.starts_with(pair.item.steps());
        if let Some(pair) = self.0.iter().find(fits) {
            let rest = steps[pair.item.steps().len()..].to_vec();
            problem.path = Path::from(rest).under(&pair.row);
        }
    }

    /// The field of the row that holds the id.
    pub(super) fn id_field(&self) -> &str {
        let pair = self.0.iter().find(|pair| pair.item == Path::key("id"));
        match pair.and_then(|pair| pair.row.steps().first()) {
            Some(Step::Key(name)) => name,
            _ => "id",
        }
    }
}

fn dotted(name: &str) -> Path {
    Path::from(name.split('.').map(|part| Step::Key(part.to_owned())).collect::<Vec<_>>())
}

fn find<'v, 'a>(object: &'v Object<'a>, steps: &[Step]) -> Option<&'v Value<'a>> {
    let (Step::Key(name), rest) = steps.split_first()? else { return None };
    let value = object.get(name)?;
    match value {
        _ if rest.is_empty() => Some(value),
        Value::Object(inner) => find(inner, rest),
        _ => None,
    }
}

fn place<'a>(object: &mut Object<'a>, steps: &[Step], value: Value<'a>) {
    let Some((Step::Key(name), rest)) = steps.split_first() else { return };
    if rest.is_empty() {
        return object.set(name.clone(), value);
    }
    if !matches!(object.get(name), Some(Value::Object(_))) {
        object.set(name.clone(), Value::Object(Object::new()));
    }
    if let Some(Value::Object(inner)) = object.get_mut(name) {
        place(inner, rest, value);
    }
}

/// Takes a part out, and what is empty without it.
fn remove(object: &mut Object<'_>, steps: &[Step]) {
    let Some((Step::Key(name), rest)) = steps.split_first() else { return };
    if rest.is_empty() {
        object.remove(name);
        return;
    }
    if let Some(Value::Object(inner)) = object.get_mut(name) {
        remove(inner, rest);
        if inner.is_empty() {
            object.remove(name);
        }
    }
}
