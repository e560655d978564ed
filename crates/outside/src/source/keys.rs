//! Reads the configuration of a source: every key by its type, all that is wrong at once.
//!
//! *Invariant:* a key that nobody asked for is a fault; the value of a secret is never in a message.

use std::time::Duration;

use heldset_core::address::Allow;
use heldset_core::code::Code;
use heldset_core::fault::nearest;
use heldset_core::mapping::is_secret_name;
use heldset_core::value::{Object, Value};
use heldset_engine::refusal::{Outcome, Refusal};

/// One mapping of a configuration.
pub(super) struct Keys<'c> {
    of: String,
    object: &'c Object<'static>,
    asked: Vec<&'static str>,
    wrong: Vec<Wrong>,
}

/// What is wrong with a configuration.
pub(super) struct Wrong {
    code: Code,
    message: String,
    help: Option<String>,
}

impl<'c> Keys<'c> {
    /// The mapping that goes by the name `of` in messages.
    pub(super) fn new(of: impl Into<String>, object: &'c Object<'static>) -> Self {
        Keys { of: of.into(), object, asked: Vec::new(), wrong: Vec::new() }
    }

    /// The value of a key; `null` is as good as none.
    pub(super) fn get(&mut self, key: &'static str) -> Option<&'c Value<'static>> {
        self.asked.push(key);
        self.object.get(key).filter(|value| !value.is_null())
    }

    /// Whether a key is there.
    pub(super) fn has(&self, key: &str) -> bool {
        self.object.get(key).is_some_and(|value| !value.is_null())
    }

    /// The text of a key.
    pub(super) fn text(&mut self, key: &'static str) -> Option<&'c str> {
        match self.get(key)? {
            Value::String(text) => Some(text.as_ref()),
            other => self.not(key, "text", other),
        }
    }

    /// The text of a key that must be there.
    pub(super) fn needed(&mut self, key: &'static str, help: &str) -> &'c str {
        if !self.has(key) {
            self.wrong(format!("`{}` has no `{key}`", self.of), help);
        }
        self.text(key).unwrap_or_default()
    }

    /// The text under one of two names.
    pub(super) fn either(&mut self, first: &'static str, second: &'static str) -> Option<&'c str> {
        let (one, other) = (self.text(first), self.text(second));
        if one.is_some() && other.is_some() {
            self.wrong(format!("`{}` has both `{first}` and `{second}`", self.of), "write one of them");
        }
        one.or(other)
    }

    /// One of some words.
    pub(super) fn word(&mut self, key: &'static str, words: &[&'static str]) -> Option<&'static str> {
        let text = self.text(key)?;
        let found = words.iter().find(|word| word.eq_ignore_ascii_case(text)).copied();
        if found.is_none() {
            let help = match nearest(text, words.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("write one of {}", words.join(", ")),
            };
            self.wrong(format!("`{}.{key}` cannot be `{text}`", self.of), help);
        }
        found
    }

    /// A whole number within bounds.
    pub(super) fn count(&mut self, key: &'static str, least: u64, most: u64) -> Option<u64> {
        let value = self.get(key)?;
        let number = match value {
            Value::Number(number) => number.as_u64(),
            _ => None,
        };
        let fine = number.filter(|number| (least..=most).contains(number));
        if fine.is_none() {
            let message = format!("`{}.{key}` is not a whole number from {least} to {most}", self.of);
            self.wrong(message, format!("write one such as `{}`", least.max(1)));
        }
        fine
    }

    /// A number above 0.
    pub(super) fn number(&mut self, key: &'static str) -> Option<f64> {
        let fine = match self.get(key)? {
            Value::Number(number) => Some(number.as_f64()).filter(|number| *number > 0.0),
            _ => None,
        };
        if fine.is_none() {
            self.wrong(format!("`{}.{key}` is not a number above 0", self.of), "write one such as `5`");
        }
        fine
    }

    /// A span of time in seconds.
    pub(super) fn seconds(&mut self, key: &'static str) -> Option<Duration> {
        let seconds = self.number(key)?;
        let span = Duration::try_from_secs_f64(seconds).ok().filter(|span| *span <= Duration::from_secs(86_400));
        if span.is_none() {
            self.wrong(format!("`{}.{key}` is longer than a day", self.of), "write seconds, such as `30`");
        }
        span
    }

    /// A flag.
    pub(super) fn flag(&mut self, key: &'static str) -> bool {
        match self.get(key) {
            None => false,
            Some(Value::Bool(flag)) => *flag,
            Some(other) => self.not(key, "a boolean", other).unwrap_or_default(),
        }
    }

    /// The elements of a list; a single text is a list of one.
    pub(super) fn list(&mut self, key: &'static str) -> &'c [Value<'static>] {
        match self.get(key) {
            None => &[],
            Some(Value::Array(items)) => items,
            Some(one @ Value::String(_)) => std::slice::from_ref(one),
            Some(other) => self.not(key, "a list", other).unwrap_or_default(),
        }
    }

    /// A list of texts.
    pub(super) fn texts(&mut self, key: &'static str) -> Vec<&'c str> {
        let items = self.list(key);
        if let Some(other) = items.iter().find(|item| item.as_str().is_none()) {
            self.wrong(format!("`{}.{key}` is a list of text, and has {}", self.of, other.type_name()), "quote it");
        }
        items.iter().filter_map(Value::as_str).collect()
    }

    /// A mapping.
    pub(super) fn mapping(&mut self, key: &'static str) -> Option<&'c Object<'static>> {
        match self.get(key)? {
            Value::Object(object) => Some(object),
            other => self.not(key, "a mapping", other),
        }
    }

    /// Reads a mapping inside this one; what is wrong with it is told with the rest.
    pub(super) fn inside<T>(&mut self, key: &'static str, read: impl FnOnce(&mut Keys<'c>) -> T) -> Option<T> {
        let object = self.mapping(key)?;
        let mut keys = Keys::new(format!("{}.{key}", self.of), object);
        let made = read(&mut keys);
        self.wrong.extend(keys.done());
        Some(made)
    }

    /// The addresses beside public ones that may be reached.
    pub(super) fn allow(&mut self) -> Allow {
        let mut allow = Allow::default();
        for entry in self.texts("allow") {
            if !allow.add(entry) {
                let message = format!("`{}.allow` has `{entry}`, which is no address, range or host", self.of);
                self.wrong(message, "write `10.1.2.3`, `10.0.0.0/8` or `intranet.example`");
            }
        }
        allow
    }

    /// Notes what is wrong.
    pub(super) fn wrong(&mut self, message: impl Into<String>, help: impl Into<String>) {
        self.wrong.push(Wrong { code: Code::E067, message: message.into(), help: Some(help.into()) });
    }

    /// Notes a secret that does not belong in a configuration.
    pub(super) fn in_the_clear(&mut self, what: &str) {
        let message = format!("`{}` has {what}, which would be stored in the clear", self.of);
        let help = "put it into the credential with `heldset credential set`".to_owned();
        self.wrong.push(Wrong { code: Code::E057, message, help: Some(help) });
    }

    /// Everything that is wrong, keys that nobody asked for included.
    pub(super) fn done(mut self) -> Vec<Wrong> {
        let unknown: Vec<&str> =
            self.object.iter().map(|(key, _)| key).filter(|key| !self.asked.contains(key)).collect();
        for key in unknown {
            if is_secret_name(key) {
                self.in_the_clear(&format!("`{key}`"));
                continue;
            }
            let help = match nearest(key, self.asked.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("it can have {}", list_of(&self.asked)),
            };
            self.wrong(format!("`{}` has no key `{key}`", self.of), help);
        }
        self.wrong
    }

    fn not<T>(&mut self, key: &str, what: &str, value: &Value<'_>) -> Option<T> {
        self.wrong(format!("`{}.{key}` is {what}, not {}", self.of, value.type_name()), format!("write {what}"));
        None
    }
}

/// Refuses a configuration with everything that is wrong with it.
pub(super) fn refuse(wrong: impl IntoIterator<Item = Vec<Wrong>>) -> Outcome<()> {
    let wrong: Vec<Wrong> = wrong.into_iter().flatten().collect();
    let Some(first) = wrong.first() else { return Ok(()) };
    let code = wrong.iter().find(|one| one.code == Code::E057).map_or(first.code, |one| one.code);
    let message = wrong.iter().map(|one| one.message.as_str()).collect::<Vec<_>>().join("; ");
    let mut helps: Vec<&str> = wrong.iter().filter_map(|one| one.help.as_deref()).collect();
    helps.dedup();
    Err(Refusal::usage(code, message, helps.join("; ")))
}

fn list_of(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
