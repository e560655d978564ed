//! Paths into what a source gives: `fields.summary`, `tags[0]`, `people[*].name`, `["a.b"].c`.
//!
//! *Invariant:* what a path is written as is read back as the same path.

use std::fmt;

use crate::value::{Object, Value};

/// A way into a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldPath(Vec<Step>);

/// One step down.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Into a mapping.
    Key(String),
    /// Into a list, from 0.
    Index(usize),
    /// Into every element of a list.
    All,
}

/// What a path leads to.
#[derive(Clone, Debug, PartialEq)]
pub enum Found<'v, 'a> {
    /// Nothing.
    Nothing,
    /// One value.
    One(&'v Value<'a>),
    /// Every value that a path with `[*]` leads to, in order.
    All(Vec<&'v Value<'a>>),
}

impl FieldPath {
    /// Reads a path; the error says what it is not.
    pub fn parse(text: &str) -> Result<FieldPath, String> {
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() || steps.is_empty() {
            let step;
            (step, rest) = match rest.strip_prefix('[') {
                Some(inside) => bracket(inside)?,
                None => key(rest, steps.is_empty())?,
            };
            steps.push(step);
        }
        Ok(FieldPath(steps))
    }

    /// The path of one field.
    pub fn field(name: &str) -> FieldPath {
        FieldPath(vec![Step::Key(name.to_owned())])
    }

    /// The steps from the outside in.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// The one field that this path names, if it goes no deeper.
    pub fn as_field(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Step::Key(name)] => Some(name),
            _ => None,
        }
    }

    /// Whether one of two paths leads into the other, or both are the same.
    pub fn overlaps(&self, other: &FieldPath) -> bool {
        let same = |(one, two): (&Step, &Step)| match (one, two) {
            (Step::All, Step::Index(_)) | (Step::Index(_), Step::All) => true,
            (one, two) => one == two,
        };
        self.0.iter().zip(&other.0).all(same)
    }

    /// What the path leads to.
    pub fn find<'v, 'a>(&self, value: &'v Value<'a>) -> Found<'v, 'a> {
        if !self.0.contains(&Step::All) {
            let found = self.0.iter().try_fold(value, |value, step| down(value, step));
            return found.map_or(Found::Nothing, Found::One);
        }
        let mut found = Vec::new();
        match all(value, &self.0, &mut found) {
            true => Found::All(found),
            false => Found::Nothing,
        }
    }

    /// Changes every value that the path leads to; one for which `change` says `false` is taken away.
    pub fn change(&self, value: &mut Value<'static>, change: &mut dyn FnMut(&mut Value<'static>) -> bool) {
        changed(value, &self.0, change);
    }

    /// The same in a mapping that is no value by itself.
    pub fn change_in(&self, object: &mut Object<'static>, change: &mut dyn FnMut(&mut Value<'static>) -> bool) {
        let mut value = Value::Object(std::mem::take(object));
        self.change(&mut value, change);
        if let Value::Object(changed) = value {
            *object = changed;
        }
    }

    pub(super) fn of(steps: Vec<Step>) -> FieldPath {
        FieldPath(steps)
    }
}

/// Whether there is a list to go into, even an empty one.
fn all<'v, 'a>(value: &'v Value<'a>, steps: &[Step], found: &mut Vec<&'v Value<'a>>) -> bool {
    let Some((step, rest)) = steps.split_first() else {
        found.push(value);
        return true;
    };
    match (step, value) {
        (Step::All, Value::Array(items)) => {
            let mut any = items.is_empty();
            for item in items {
                any |= all(item, rest, found);
            }
            any
        }
        (Step::All, _) => false,
        (step, value) => down(value, step).is_some_and(|value| all(value, rest, found)),
    }
}

/// Gives `false` if the value itself is to be taken away.
fn changed(value: &mut Value<'static>, steps: &[Step], change: &mut dyn FnMut(&mut Value<'static>) -> bool) -> bool {
    let Some((step, rest)) = steps.split_first() else { return change(value) };
    match (step, value) {
        (Step::Key(key), Value::Object(object)) => {
            let stays = object.get_mut(key).is_none_or(|value| changed(value, rest, change));
            if !stays {
                object.remove(key);
            }
        }
        (Step::Index(index), Value::Array(items)) => {
            let stays = items.get_mut(*index).is_none_or(|value| changed(value, rest, change));
            if !stays {
                items.remove(*index);
            }
        }
        (Step::All, Value::Array(items)) => items.retain_mut(|item| changed(item, rest, change)),
        _ => {}
    }
    true
}

fn down<'v, 'a>(value: &'v Value<'a>, step: &Step) -> Option<&'v Value<'a>> {
    match (step, value) {
        (Step::Key(key), Value::Object(object)) => object.get(key),
        (Step::Index(index), Value::Array(items)) => items.get(*index),
        _ => None,
    }
}

/// A step in brackets, and what comes after it.
fn bracket(inside: &str) -> Result<(Step, &str), String> {
    for quote in ['"', '\''] {
        if let Some(quoted) = inside.strip_prefix(quote) {
            let end = format!("{quote}]");
            let (name, rest) = quoted.split_once(&end).ok_or_else(|| format!("`{quoted}` has no closing `{end}`"))?;
            return Ok((Step::Key(name.to_owned()), after(rest)?));
        }
    }
    let (index, rest) = inside.split_once(']').ok_or("a `[` is not closed")?;
    let step = match (index, index.parse()) {
        ("*", _) => Step::All,
        (_, Ok(number)) if index.bytes().all(|byte| byte.is_ascii_digit()) => Step::Index(number),
        _ => return Err(format!("`[{index}]` is neither a place such as `[0]`, nor `[*]`, nor a quoted name")),
    };
    Ok((step, after(rest)?))
}

/// A name up to the next `.` or `[`, and what comes after it.
fn key(text: &str, first: bool) -> Result<(Step, &str), String> {
    let end = text.find(['.', '[']).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    if name.is_empty() {
        return Err(
            if first && text.is_empty() { "it is empty" } else { "a name between two dots is empty" }.to_owned()
        );
    }
    Ok((Step::Key(name.to_owned()), after(rest)?))
}

/// What comes after a step: the end, a bracket, or a dot and a name.
fn after(rest: &str) -> Result<&str, String> {
    match rest.strip_prefix('.') {
        Some("") => Err("it ends with a dot".to_owned()),
        Some(name) if name.starts_with('[') => Err("a dot stands before a `[`".to_owned()),
        Some(name) => Ok(name),
        None if rest.is_empty() || rest.starts_with('[') => Ok(rest),
        None => Err("a `]` is followed by neither a dot nor a `[`".to_owned()),
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(name) if name.is_empty() || name.contains(['.', '[', ']']) => match name.contains('"') {
                    true => write!(out, "['{name}']")?,
                    false => write!(out, "[\"{name}\"]")?,
                },
                Step::Key(name) if depth == 0 => out.write_str(name)?,
                Step::Key(name) => write!(out, ".{name}")?,
                Step::Index(index) => write!(out, "[{index}]")?,
                Step::All => out.write_str("[*]")?,
            }
        }
        Ok(())
    }
}
