//! Privacy filters over records that come from a source: drop, mask, hash, redact.
//!
//! *Invariant:* what a filter did is counted, and its input is never part of what it reports. A hash is keyed, so that
//! equal values stay equal and nobody without the key can test a guess.

mod pattern;
mod read;

pub use pattern::BUILT_IN;

use crate::code::Code;
use crate::digest::{CommitKey, RowKey, tagged};
use crate::fault::Problem;
use crate::mapping::FieldPath;
use crate::path::Path;
use crate::record::RecordId;
use crate::value::{Object, Value};
use pattern::Patterns;

/// What stands where something was redacted.
const REDACTED: &str = "[redacted]";
/// So many hexadecimal digits a hash has: 128 bits.
const HASH_DIGITS: usize = 32;

/// The filters of a source, in order.
#[derive(Clone, Debug, Default)]
pub struct Filters(Vec<Filter>);

/// One filter.
#[derive(Clone, Debug)]
struct Filter {
    /// Where it looks; everywhere when absent.
    field: Option<FieldPath>,
    action: Action,
    /// Only what matches; everything when absent.
    patterns: Option<Patterns>,
}

#[derive(Clone, Debug)]
enum Action {
    Drop,
    Mask { keep_last: usize },
    Hash { salt: Option<String> },
    Redact { replacement: String },
}

/// The keys that values are hashed under.
pub struct HashKeys {
    own: RowKey,
    salted: Vec<(String, RowKey)>,
}

impl HashKeys {
    /// The key of a dataset, and those made from salts, by the names of the salts.
    pub fn new<'s>(key: &CommitKey, salts: impl IntoIterator<Item = (&'s str, &'s str)>) -> HashKeys {
        let salted = |(name, salt): (&'s str, &'s str)| {
            let key = CommitKey::new(*tagged("privacy-salt", &[salt.as_bytes()]).as_bytes());
            (name.to_owned(), key.row_key("privacy\n", ""))
        };
        HashKeys { own: key.row_key("privacy\n", ""), salted: salts.into_iter().map(salted).collect() }
    }

    fn hash(&self, salt: Option<&str>, text: &str) -> String {
        let named = salt.and_then(|salt| self.salted.iter().find(|(name, _)| name == salt)).map(|(_, key)| key);
        let mut hex = named.unwrap_or(&self.own).commit("privacy-hash", &[text.as_bytes()]).hex();
        hex.truncate(HASH_DIGITS);
        hex
    }
}

impl Filters {
    /// Checks filters as they are declared.
    pub fn from_value(value: &Value<'_>) -> Result<Filters, Vec<Problem>> {
        read::filters(value).map(Filters)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What they do, as text for people.
    pub fn describe(&self) -> Vec<String> {
        self.0.iter().map(Filter::describe).collect()
    }

    /// The names of the salts that hashes are made with.
    pub fn salts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|filter| match &filter.action {
            Action::Hash { salt } => salt.as_deref(),
            _ => None,
        })
    }

    /// Whether a filter looks at a field, or into it.
    pub fn covers(&self, field: &FieldPath) -> bool {
        self.0.iter().any(|filter| filter.field.as_ref().is_none_or(|path| path.overlaps(field)))
    }

    /// Applies all filters to a record; `changed` counts for each the values that it changed.
    pub fn apply(
        &self,
        id: RecordId<'static>,
        fields: Object<'static>,
        keys: &HashKeys,
        changed: &mut Vec<u64>,
    ) -> Result<(RecordId<'static>, Object<'static>), Problem> {
        changed.resize(self.0.len(), 0);
        if self.0.is_empty() {
            return Ok((id, fields));
        }
        let mut row = Object::with_capacity(fields.len() + 1);
        row.set("id", Value::from(id.as_str().to_owned()));
        fields.into_iter().for_each(|(key, value)| row.push_unique(key, value));
        let mut row = Value::Object(row);
        for (filter, count) in self.0.iter().zip(changed) {
            *count += filter.apply(&mut row, keys);
        }
        let Value::Object(mut row) = row else { return Err(lost_id()) };
        let id = RecordId::from_value(row.remove("id").ok_or_else(lost_id)?, "id")?;
        Ok((id, row))
    }

    /// Warnings of the filters that changed nothing in any row.
    pub fn unmatched(&self, rows: u64, changed: &[u64]) -> Vec<Problem> {
        let none = self.0.iter().enumerate().filter(|(place, _)| changed.get(*place).is_none_or(|count| *count == 0));
        let warn = |(place, filter): (usize, &Filter)| {
            let rows = format!("{rows} row{}", if rows == 1 { "" } else { "s" });
            let message = format!("privacy filter `{}` matched nothing in any of {rows}", filter.describe());
            let help = "check the path: filters look at fields as they are named after the mapping";
            Problem::new(Code::H006, Path::key("privacy").then_index(place), message).help(help)
        };
        if rows == 0 { Vec::new() } else { none.map(warn).collect() }
    }
}

fn lost_id() -> Problem {
    Problem::new(Code::E011, Path::key("id"), "a privacy filter took the id away")
        .help("mask or hash the id, do not drop it")
}

impl Filter {
    fn describe(&self) -> String {
        let action = match &self.action {
            Action::Drop => "drop",
            Action::Mask { .. } => "mask",
            Action::Hash { .. } => "hash",
            Action::Redact { .. } => "redact",
        };
        let field = self.field.as_ref().map_or("*".to_owned(), FieldPath::to_string);
        let patterns =
            self.patterns.as_ref().map_or_else(String::new, |patterns| format!(" ({})", patterns.describe()));
        format!("{action} {field}{patterns}")
    }

    /// Gives how many values it changed.
    fn apply(&self, row: &mut Value<'static>, keys: &HashKeys) -> u64 {
        let mut count = 0;
        let mut change = |value: &mut Value<'static>| self.change(value, keys, &mut count);
        match (&self.field, row) {
            (Some(path), row) => path.change(row, &mut change),
            (None, Value::Object(object)) => {
                let names: Vec<String> = object.iter().map(|(name, _)| name.to_owned()).collect();
                for name in names {
                    FieldPath::field(&name).change_in(object, &mut change);
                }
            }
            (None, _) => {}
        }
        count
    }

    /// Changes a value and all that is in it; `false` takes it away.
    fn change(&self, value: &mut Value<'static>, keys: &HashKeys, count: &mut u64) -> bool {
        if matches!(self.action, Action::Drop) && self.patterns.is_none() {
            *count += 1;
            return false;
        }
        match value {
            Value::Null => true,
            Value::Array(items) => {
                items.retain_mut(|item| self.change(item, keys, count));
                true
            }
            Value::Object(object) => {
                let names: Vec<String> = object.iter().map(|(name, _)| name.to_owned()).collect();
                for name in names {
                    if object.get_mut(&name).is_some_and(|value| !self.change(value, keys, count)) {
                        object.remove(&name);
                    }
                }
                true
            }
            scalar => self.change_scalar(scalar, keys, count),
        }
    }

    fn change_scalar(&self, value: &mut Value<'static>, keys: &HashKeys, count: &mut u64) -> bool {
        let text = match &*value {
            Value::String(text) => text.to_string(),
            Value::Number(number) => number.to_string(),
            Value::Bool(flag) => flag.to_string(),
            _ => return true,
        };
        let replace = |text: &str| match &self.action {
            Action::Drop => String::new(),
            Action::Mask { keep_last } => masked(text, *keep_last),
            Action::Hash { salt } => keys.hash(salt.as_deref(), text),
            Action::Redact { replacement } => replacement.clone(),
        };
        let after = match &self.patterns {
            None => Some(replace(&text)),
            Some(patterns) => patterns.replace(&text, replace),
        };
        let Some(after) = after else { return true };
        *count += 1;
        if matches!(self.action, Action::Drop) {
            return false;
        }
        *value = Value::from(after);
        true
    }
}

/// The text with a star for each character but the last few; of a short text none stays.
fn masked(text: &str, keep_last: usize) -> String {
    let length = text.chars().count();
    let hidden = if length > keep_last { length - keep_last } else { length };
    let star = |(place, character)| if place < hidden { '*' } else { character };
    text.chars().enumerate().map(star).collect()
}
