//! Checking a value without building it, for readers that only want to know that it is strict JSON.
//!
//! *Invariant:* what is passed over here is refused by the same rules as what is read.

use std::borrow::Cow;
use std::collections::HashSet;

use super::read::{JsonError, JsonProblem, Reader, inside};
use crate::path::Step;
use crate::value::{Object, Value};

/// Up to here keys are compared one by one.
const FEW: usize = 24;

impl<'a> Reader<'a> {
    /// Reads a value; a list or mapping is passed over and comes back empty.
    pub(super) fn skim(&mut self, depth: usize, keys: &mut Vec<Cow<'a, str>>) -> Result<Value<'a>, Box<JsonError>> {
        self.skip_space();
        match self.peek() {
            Some(b'{') => self.skim_object(depth, keys).map(|()| Value::Object(Object::new())),
            Some(b'[') => self.skim_array(depth, keys).map(|()| Value::Array(Vec::new())),
            _ => self.value(depth),
        }
    }

    /// Passes over a value.
    fn pass(&mut self, depth: usize, keys: &mut Vec<Cow<'a, str>>) -> Result<(), Box<JsonError>> {
        self.skip_space();
        match self.peek() {
            Some(b'"') => self.skim_string(),
            Some(b'{') => self.skim_object(depth, keys),
            Some(b'[') => self.skim_array(depth, keys),
            _ => self.value(depth).map(|_| ()),
        }
    }

    fn skim_array(&mut self, depth: usize, keys: &mut Vec<Cow<'a, str>>) -> Result<(), Box<JsonError>> {
        self.enter(depth)?;
        if self.closes(b']') {
            return Ok(());
        }
        for index in 0.. {
            self.pass(depth + 1, keys).map_err(|error| inside(error, Step::Index(index)))?;
            if self.ends(b']', "`,` or `]`")? {
                break;
            }
        }
        Ok(())
    }

    fn skim_object(&mut self, depth: usize, keys: &mut Vec<Cow<'a, str>>) -> Result<(), Box<JsonError>> {
        self.enter(depth)?;
        if self.closes(b'}') {
            return Ok(());
        }
        let first = keys.len();
        let mut many = HashSet::new();
        loop {
            let (key, key_at) = self.key()?;
            if is_repeated(&keys[first..], &mut many, &key) {
                return Err(self.error_at(key_at, JsonProblem::DuplicateKey(key.into_owned())));
            }
            keys.push(key);
            let at = keys.len() - 1;
            self.pass(depth + 1, keys).map_err(|error| inside(error, Step::Key(keys[at].to_string())))?;
            if self.ends(b'}', "`,` or `}`")? {
                break;
            }
        }
        keys.truncate(first);
        Ok(())
    }
}

fn is_repeated(keys: &[Cow<'_, str>], many: &mut HashSet<String>, key: &str) -> bool {
    if keys.len() < FEW {
        return keys.iter().any(|known| known == key);
    }
    if many.is_empty() {
        many.extend(keys.iter().map(|key| key.to_string()));
    }
    !many.insert(key.to_owned())
}
