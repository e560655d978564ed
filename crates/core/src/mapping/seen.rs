//! The keys that rows of a source have, for advice about a path that matches nothing.
//!
//! *Invariant:* holds names, never values, and no more than a few hundred of them.

use std::collections::BTreeSet;

use super::path::{FieldPath, Step};
use crate::fault::nearest;
use crate::value::Value;

/// So many paths are held.
const MOST: usize = 300;
/// So deep a row is looked into.
const DEEPEST: usize = 6;
/// So many are named in advice.
const NAMED: usize = 6;

/// Paths that lead to something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen(BTreeSet<String>);

impl Seen {
    /// Paths that were noted before.
    pub fn of(paths: impl IntoIterator<Item = String>) -> Seen {
        Seen(paths.into_iter().take(MOST).collect())
    }

    /// The paths in order.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Notes the paths of a row.
    pub fn note(&mut self, row: &Value<'_>) {
        let mut steps = Vec::new();
        self.walk(row, &mut steps);
    }

    fn walk(&mut self, value: &Value<'_>, steps: &mut Vec<Step>) {
        if self.0.len() >= MOST || steps.len() > DEEPEST {
            return;
        }
        if !steps.is_empty() && *steps.last().unwrap_or(&Step::All) != Step::All {
            self.0.insert(FieldPath::of(steps.clone()).to_string());
        }
        let mut below = |step: Step, value: &Value<'_>| {
            steps.push(step);
            self.walk(value, steps);
            steps.pop();
        };
        match value {
            Value::Object(object) => object.iter().for_each(|(key, value)| below(Step::Key(key.to_owned()), value)),
            Value::Array(items) => items.iter().take(3).for_each(|item| below(Step::All, item)),
            _ => {}
        }
    }

    /// Advice for a path that matches nothing.
    pub fn near(&self, path: &FieldPath) -> String {
        let text = path.to_string();
        if let Some(near) = nearest(&text, self.paths()).filter(|near| *near != text) {
            return format!("did you mean `{near}`?");
        }
        let last = |path: &str| path.rsplit(['.', ']']).next().unwrap_or_default().to_owned();
        if let Some(same) = self.paths().find(|seen| last(seen) == last(&text) && !last(seen).is_empty()) {
            return format!("did you mean `{same}`?");
        }
        let named: Vec<String> = self.paths().take(NAMED).map(|path| format!("`{path}`")).collect();
        match named.is_empty() {
            true => "the rows have no fields".to_owned(),
            false => format!("there is {}{}", named.join(", "), if self.0.len() > NAMED { ", …" } else { "" }),
        }
    }
}
