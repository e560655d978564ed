//! What every reader of plans shares: members of mappings by their types, files beside the plan, faults with places.
//!
//! *Invariant:* a member that is null is absent; a member of the wrong type is told once and taken as absent.

use heldset_core::case::quoted;
use heldset_core::code::Code;
use heldset_core::fault::{Fault, Problem, nearest};
use heldset_core::path::Path;
use heldset_core::value::{Object, Value};

use crate::document::Document;
use crate::files::{Files, FilesError, Loaded};
use crate::map::files_problem;

/// A plan that is being read.
pub(super) struct Reader<'r> {
    document: &'r Document,
    pub(super) name: &'r str,
    pub(super) files: &'r dyn Files,
    /// Whether missing files may stay named.
    keep_names: bool,
    /// What is wrong so far.
    pub(super) faults: Vec<Fault>,
    /// What a user should know.
    pub(super) notes: Vec<String>,
    /// Files that were read or named.
    pub(super) named: Vec<String>,
}

impl<'r> Reader<'r> {
    pub(super) fn new(document: &'r Document, name: &'r str, files: &'r dyn Files, keep_names: bool) -> Self {
        Reader { document, name, files, keep_names, faults: Vec::new(), notes: Vec::new(), named: Vec::new() }
    }

    /// Tells a problem of the plan.
    pub(super) fn problem(&mut self, problem: Problem) {
        self.faults.push(self.document.fault(problem).in_file(Some(self.name)));
    }

    /// Tells that the plan is invalid somewhere.
    pub(super) fn invalid(&mut self, at: Path, message: impl Into<String>, help: impl Into<String>) {
        self.problem(Problem::new(Code::E051, at, message).help(help));
    }

    /// Tells that something is of the wrong type.
    pub(super) fn wrong(&mut self, at: &Path, expected: &str, found: &Value<'_>) {
        let message = format!("`{at}` must be {expected}, not {}", found.type_name());
        self.problem(Problem::new(Code::E051, at.clone(), message));
    }

    /// Notes something for the user.
    pub(super) fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Tells keys that are neither known nor known to be without meaning here, which are noted.
    pub(super) fn keys(&mut self, object: &Object<'_>, at: &Path, known: &[&str], ignored: &[&str]) {
        for (key, _) in object.iter().filter(|(key, _)| !known.contains(key)) {
            let path = at.then_key(key);
            if ignored.contains(&key) {
                self.note(format!("ignored: `{path}`"));
                continue;
            }
            let near = nearest(key, known.iter().chain(ignored).copied());
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known here: {}", quoted(known)),
            };
            let message = match at.is_root() {
                true => format!("a plan has no key `{key}`"),
                false => format!("`{at}` has no key `{key}`"),
            };
            self.problem(Problem::new(Code::E050, path, message).help(help));
        }
    }

    /// A text; a number or a boolean stands for itself as it is written.
    pub(super) fn text(&mut self, object: &Object<'_>, at: &Path, key: &str) -> Option<String> {
        self.as_text(object.get(key)?, &at.then_key(key))
    }

    /// A value that is a text.
    pub(super) fn as_text(&mut self, value: &Value<'_>, at: &Path) -> Option<String> {
        match value {
            Value::Null => None,
            Value::String(text) if text.trim().is_empty() => {
                self.invalid(at.clone(), format!("`{at}` is empty"), "write it, or leave it out");
                None
            }
            Value::String(text) => Some(text.clone().into_owned()),
            Value::Number(_) | Value::Bool(_) => match self.document.literal(at) {
                Some(literal) => Some(literal.to_owned()),
                None => Some(heldset_core::canonical::bytes(value).into_iter().map(char::from).collect()),
            },
            other => {
                self.wrong(at, "text", other);
                None
            }
        }
    }

    /// A whole number.
    pub(super) fn count(&mut self, object: &Object<'_>, at: &Path, key: &str) -> Option<u64> {
        let value = object.get(key).filter(|value| !value.is_null())?;
        let at = at.then_key(key);
        match value {
            Value::Number(number) if number.as_u64().is_some() => number.as_u64(),
            Value::Number(number) => {
                self.invalid(at.clone(), format!("`{at}` must be a whole number, not {number}"), "write 1, 2, 3, …");
                None
            }
            other => {
                self.wrong(&at, "a whole number", other);
                None
            }
        }
    }

    /// A whole number from 1.
    pub(super) fn positive(&mut self, object: &Object<'_>, at: &Path, key: &str) -> Option<u64> {
        let count = self.count(object, at, key)?;
        if count == 0 {
            let at = at.then_key(key);
            self.invalid(at.clone(), format!("`{at}` is 0"), "write a number from 1, or leave the key out");
            return None;
        }
        Some(count)
    }

    /// A time in seconds, more than none.
    pub(super) fn seconds(&mut self, object: &Object<'_>, at: &Path, key: &str) -> Option<f64> {
        let value = object.get(key).filter(|value| !value.is_null())?;
        let at = at.then_key(key);
        match value {
            Value::Number(number) if number.as_f64() > 0.0 => Some(number.as_f64()),
            Value::Number(_) => {
                self.invalid(at.clone(), format!("`{at}` must be more than 0"), "write seconds, as in `60`");
                None
            }
            other => {
                self.wrong(&at, "a number of seconds", other);
                None
            }
        }
    }

    /// A mapping.
    pub(super) fn mapping<'o>(&mut self, object: &'o Object<'o>, at: &Path, key: &str) -> Option<&'o Object<'o>> {
        match object.get(key)? {
            Value::Null => None,
            Value::Object(inner) => Some(inner),
            other => {
                self.wrong(&at.then_key(key), "a mapping", other);
                None
            }
        }
    }

    /// A list.
    pub(super) fn list<'o>(&mut self, object: &'o Object<'o>, at: &Path, key: &str) -> Option<&'o [Value<'o>]> {
        match object.get(key)? {
            Value::Null => None,
            Value::Array(items) => Some(items),
            other => {
                self.wrong(&at.then_key(key), "a list", other);
                None
            }
        }
    }

    /// Texts in a list, or one alone.
    pub(super) fn texts(&mut self, object: &Object<'_>, at: &Path, key: &str) -> Vec<String> {
        let at = at.then_key(key);
        match object.get(key) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(items)) => {
                let items = items.iter().enumerate();
                items.filter_map(|(place, item)| self.as_text(item, &at.then_index(place))).collect()
            }
            Some(one) => self.as_text(one, &at).into_iter().collect(),
        }
    }

    /// One of some words.
    pub(super) fn word<T: Copy>(
        &mut self,
        object: &Object<'_>,
        at: &Path,
        key: &str,
        words: &[(&str, T)],
    ) -> Option<T> {
        let word = self.text(object, at, key)?;
        if let Some((_, meaning)) = words.iter().find(|(known, _)| *known == word) {
            return Some(*meaning);
        }
        let at = at.then_key(key);
        let known: Vec<&str> = words.iter().map(|(known, _)| *known).collect();
        let help = match nearest(&word, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("use one of {}", quoted(&known)),
        };
        self.invalid(at.clone(), format!("`{at}` cannot be `{word}`"), help);
        None
    }

    /// The file at a path beside the plan, which `at` names; a missing one is told.
    pub(super) fn load(&mut self, path: &str, at: &Path) -> Option<Loaded> {
        match self.try_load(path) {
            Ok(loaded) => Some(loaded),
            Err(error) => {
                self.problem(files_problem(&error, at.clone()));
                None
            }
        }
    }

    /// Whether a missing file may stay named in the plan; noted when it may.
    pub(super) fn keeps(&mut self, what: &str, at: &Path) -> bool {
        if self.keep_names {
            self.note(format!("`{at}`: {what} is not there and stays named; a run needs it"));
        }
        self.keep_names
    }

    /// The file at a path beside the plan, if it is there.
    pub(super) fn try_load(&mut self, path: &str) -> Result<Loaded, FilesError> {
        let loaded = self.files.load(self.name, path)?;
        self.name_file(loaded.name.clone());
        Ok(loaded)
    }

    /// What a file holds that is a document; its faults are told.
    pub(super) fn document(&mut self, loaded: Loaded) -> Option<(Document, String)> {
        let told = |fault: Fault| fault.in_file(Some(&loaded.name));
        let document = match super::parse(&loaded.bytes) {
            Ok(document) => document,
            Err(fault) => {
                self.faults.push(told(*fault));
                return None;
            }
        };
        let faults = document.faults(None);
        if faults.is_empty() {
            return Some((document, loaded.name));
        }
        self.faults.extend(faults.into_iter().map(told));
        None
    }

    /// A file that the plan names and that is read later, or by others.
    pub(super) fn named(&mut self, path: &str) {
        let folder = self.name.rsplit_once('/').map_or("", |(folder, _)| folder);
        let path = path.trim_start_matches("./");
        let is_whole = path.starts_with('/') || !self.name.contains('/');
        self.name_file(if is_whole { path.to_owned() } else { format!("{folder}/{path}") });
    }

    /// The file of a function `file.py:function`.
    pub(super) fn named_function(&mut self, function: &str) {
        if let Some((file, _)) = function.rsplit_once(':').filter(|(file, _)| file.ends_with(".py")) {
            self.named(file);
        }
    }

    /// The SHA-256 of the file of a function `file.py:function`, in hex; a file without it is told.
    pub(super) fn digest_of_function(&mut self, function: &str, at: &Path) -> Option<String> {
        let (file, name) = function.rsplit_once(':').filter(|(file, _)| file.ends_with(".py"))?;
        if let Err(FilesError::Missing(_)) = self.try_load(file)
            && self.keeps(&format!("`{file}`"), at)
        {
            return None;
        }
        let loaded = self.load(file, at)?;
        let text = String::from_utf8_lossy(&loaded.bytes);
        let is_word = |part: &str| part == name;
        if !text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(is_word) {
            let help = "name a function that the file defines";
            self.invalid(at.clone(), format!("`{file}` has no function `{name}`"), help);
        }
        Some(heldset_core::digest::sha256(&loaded.bytes).hex())
    }

    fn name_file(&mut self, name: String) {
        if !self.named.contains(&name) {
            self.named.push(name);
        }
    }
}
