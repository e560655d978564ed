//! The members of a rule as it is written, each checked when it is taken.
//!
//! *Invariant:* a key that is not known is told, with the nearest that is; nothing is passed over.

use crate::code::Code;
use crate::fault::{Problem, nearest};
use crate::path::Path;
use crate::value::{Object, Value};

/// A mapping and where it stands.
pub(super) struct Members<'v, 'a> {
    pub(super) object: &'v Object<'a>,
    pub(super) at: &'v Path,
}

impl<'v, 'a> Members<'v, 'a> {
    /// The members, when there are no others than these.
    pub(super) fn only(self, known: &[&str]) -> Result<Self, Problem> {
        let Some((key, _)) = self.object.iter().find(|(key, _)| !known.contains(key)) else { return Ok(self) };
        let problem = wrong(&self.at.then_key(key), format!("`{key}` is not known in this kind of gate"));
        Err(problem.help(did_you_mean(key, known)))
    }

    /// A member that is there and not null.
    pub(super) fn get(&self, key: &str) -> Option<&'v Value<'a>> {
        self.object.get(key).filter(|value| !value.is_null())
    }

    pub(super) fn required(&self, key: &str) -> Result<&'v Value<'a>, Problem> {
        self.get(key).ok_or_else(|| wrong(self.at, format!("`{key}` is missing in the gate")))
    }

    pub(super) fn text(&self, key: &str) -> Result<Option<String>, Problem> {
        self.get(key).map(|value| self.text_of(key, value)).transpose()
    }

    pub(super) fn number(&self, key: &str) -> Result<Option<f64>, Problem> {
        self.get(key).map(|value| number(value, &self.at.then_key(key), key)).transpose()
    }

    pub(super) fn count(&self, key: &str) -> Result<Option<u64>, Problem> {
        let Some(value) = self.get(key) else { return Ok(None) };
        match value {
            Value::Number(number) if number.as_u64().is_some() => Ok(number.as_u64()),
            other => Err(self.is(key, "a whole number", other)),
        }
    }

    /// A member that is one of these names.
    pub(super) fn one_of<T: Copy>(&self, key: &str, names: &[(&str, T)]) -> Result<Option<T>, Problem> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let name = self.text_of(key, value)?;
        if let Some((_, found)) = names.iter().find(|(known, _)| *known == name) {
            return Ok(Some(*found));
        }
        let known: Vec<_> = names.iter().map(|(known, _)| *known).collect();
        let problem = wrong(&self.at.then_key(key), format!("`{name}` is not a known `{key}`"));
        Err(problem.help(did_you_mean(&name, &known)))
    }

    /// A problem of a member that is something else.
    pub(super) fn is(&self, key: &str, expected: &str, found: &Value<'_>) -> Problem {
        wrong(&self.at.then_key(key), format!("`{key}` is {expected}, not {}", found.type_name()))
    }

    fn text_of(&self, key: &str, value: &Value<'_>) -> Result<String, Problem> {
        match value.as_str().filter(|text| !text.is_empty()) {
            Some(text) => Ok(text.to_owned()),
            None if value.as_str().is_some() => Err(wrong(&self.at.then_key(key), format!("`{key}` is empty"))),
            None => Err(self.is(key, "text", value)),
        }
    }
}

/// A number of that name.
pub(super) fn number(value: &Value<'_>, at: &Path, key: &str) -> Result<f64, Problem> {
    match value {
        Value::Number(number) => Ok(number.as_f64()),
        other => Err(wrong(at, format!("`{key}` is a number, not {}", other.type_name()))),
    }
}

pub(super) fn wrong(at: &Path, message: String) -> Problem {
    Problem::new(Code::E060, at.clone(), message)
}

/// A help that names the nearest of these, or all of them.
pub(super) fn did_you_mean(name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(known) => format!("did you mean `{known}`?"),
        None => format!("known are {}", known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")),
    }
}
