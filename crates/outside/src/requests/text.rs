//! Text with `${SECRET}` and `{name}` in it.
//!
//! *Invariant:* filled in one pass: what is put in is never scanned again.

use std::fmt::Write;

use crate::agent::Secrets;

/// A text in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    parts: Vec<Part>,
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// As it is.
    Fixed(String),
    /// `${NAME}`.
    Secret(String),
    /// `{name}`.
    Name(String),
}

impl Text {
    /// Reads a text in which `names` may stand; the error is a name that may not. `{{` and `}}` are braces, and so is a
    /// brace that encloses no name.
    pub(crate) fn parse(text: &str, names: &[&str]) -> Result<Text, String> {
        let mut parts = Vec::new();
        let mut fixed = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['$', '{', '}']) {
            fixed.push_str(&rest[..at]);
            rest = &rest[at..];
            let (part, length) = match part_of(rest) {
                Some((Part::Name(name), _)) if !names.contains(&name.as_str()) => return Err(name),
                Some(found) => found,
                None => {
                    let doubled = rest.starts_with("{{") || rest.starts_with("}}");
                    fixed.push_str(&rest[..1]);
                    rest = &rest[1 + usize::from(doubled)..];
                    continue;
                }
            };
            if !fixed.is_empty() {
                parts.push(Part::Fixed(std::mem::take(&mut fixed)));
            }
            parts.push(part);
            rest = &rest[length..];
        }
        fixed.push_str(rest);
        if !fixed.is_empty() || parts.is_empty() {
            parts.push(Part::Fixed(fixed));
        }
        Ok(Text { parts })
    }

    /// The parts in order.
    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The same text with more at its end.
    pub(super) fn then(mut self, more: &str) -> Text {
        if let Some(Part::Fixed(last)) = self.parts.last_mut() {
            last.truncate(last.trim_end_matches('/').len());
        }
        self.parts.push(Part::Fixed(more.to_owned()));
        self
    }

    pub(super) fn is_fixed(&self) -> bool {
        self.parts.iter().all(|part| matches!(part, Part::Fixed(_)))
    }

    /// The names of the secrets in it.
    pub(super) fn secrets(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Secret(name) => Some(name.as_str()),
            _ => None,
        })
    }

    pub(super) fn fill(&self, secrets: &Secrets, fill: &dyn Fn(&str) -> String) -> String {
        let mut filled = String::new();
        for part in &self.parts {
            match part {
                Part::Fixed(text) => filled.push_str(text),
                Part::Secret(name) => filled.push_str(&secrets(name).unwrap_or_default()),
                Part::Name(name) => filled.push_str(&fill(name)),
            }
        }
        filled
    }
}

/// The secret or name that a text starts with, and its length.
fn part_of(text: &str) -> Option<(Part, usize)> {
    if text.starts_with("{{") {
        return None;
    }
    let (make, start): (fn(String) -> Part, usize) = match text.strip_prefix("${") {
        Some(_) => (Part::Secret, 2),
        None if text.starts_with('{') => (Part::Name, 1),
        None => return None,
    };
    let length = text[start..].find('}')?;
    let name = &text[start..start + length];
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let is_name = is_name && !name.as_bytes()[0].is_ascii_digit();
    is_name.then(|| (make(name.to_owned()), start + length + 1))
}

/// A text as a part of an address.
pub(crate) fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(byte as char),
            _ => write!(encoded, "%{byte:02X}").expect("a text takes every byte"),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_filled_in_one_pass() {
        let secrets = |name: &str| (name == "KEY").then(|| "{a}${KEY}".to_owned());
        let fill = |name: &str| format!("<{name}{{b}}>");
        for (text, expected) in [
            ("", ""),
            ("plain $ } { {1} {\"a\": 1}", "plain $ } { {1} {\"a\": 1}"),
            ("{a}-{b}", "<a{b}>-<b{b}>"),
            ("x${KEY}y", "x{a}${KEY}y"),
            ("{{a}} {{{a}}}", "{a} {<a{b}>}"),
        ] {
            let filled = Text::parse(text, &["a", "b"]).map(|text| text.fill(&secrets, &fill));
            assert_eq!(filled.as_deref(), Ok(expected), "{text}");
        }
        assert_eq!(Text::parse("{c}", &["a"]), Err("c".to_owned()));
        assert_eq!(percent_encoded("a b/ä"), "a%20b%2F%C3%A4");
    }
}
