//! What no mapping takes of a row.
//!
//! *Invariant:* a value that was mapped is not in the rest a second time, so that a filter on its new place misses none.

use super::path::{FieldPath, Step};
use crate::value::{Object, Value};

/// The mapped paths as a tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Taken {
    /// Whether a path ends here.
    whole: bool,
    below: Vec<(Step, Taken)>,
}

impl Taken {
    pub(super) fn of<'p>(paths: impl Iterator<Item = &'p FieldPath>) -> Taken {
        let mut taken = Taken::default();
        for path in paths {
            let mut at = &mut taken;
            for step in path.steps() {
                let known = at.below.iter().position(|(known, _)| known == step);
                let place = known.unwrap_or_else(|| {
                    at.below.push((step.clone(), Taken::default()));
                    at.below.len() - 1
                });
                at = &mut at.below[place].1;
            }
            at.whole = true;
        }
        taken
    }

    /// The row without what is taken; mappings and lists that become empty by it are left out.
    pub(super) fn rest(&self, row: &Object<'static>) -> Object<'static> {
        let entries = row.iter().filter_map(|(key, value)| {
            let ways = self.ways(|step| matches!(step, Step::Key(name) if name == key));
            Some((key.to_owned().into(), left(value, &ways)?))
        });
        entries.collect()
    }

    fn ways(&self, takes: impl Fn(&Step) -> bool) -> Vec<&Taken> {
        self.below.iter().filter(|(step, _)| takes(step)).map(|(_, below)| below).collect()
    }
}

fn left(value: &Value<'static>, ways: &[&Taken]) -> Option<Value<'static>> {
    if ways.is_empty() {
        return Some(value.clone());
    }
    if ways.iter().any(|way| way.whole) {
        return None;
    }
    let next = |takes: &dyn Fn(&Step) -> bool| ways.iter().flat_map(|way| way.ways(takes)).collect::<Vec<_>>();
    match value {
        Value::Object(object) => {
            let entry = |(key, value): (&str, &Value<'static>)| {
                let ways = next(&|step| matches!(step, Step::Key(name) if name == key));
                Some((key.to_owned().into(), left(value, &ways)?))
            };
            let kept: Object<'static> = object.iter().filter_map(entry).collect();
            (!kept.is_empty() || object.is_empty()).then_some(Value::Object(kept))
        }
        Value::Array(items) => {
            let item = |(place, item): (usize, &Value<'static>)| {
                let ways = next(&|step| matches!(step, Step::All) || matches!(step, Step::Index(at) if *at == place));
                left(item, &ways)
            };
            let kept: Vec<Value<'static>> = items.iter().enumerate().filter_map(item).collect();
            (!kept.is_empty() || items.is_empty()).then_some(Value::Array(kept))
        }
        scalar => Some(scalar.clone()),
    }
}
