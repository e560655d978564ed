//! Values as YAML in block style.
//!
//! *Invariant:* what is written reads back as the same value. Text stands without quotes only when nobody could take
//! it for anything else; all other text stands in double quotes, on one line.

use std::fmt::Write;

use heldset_core::value::{Object, Value};

use crate::yaml::is_plain_text;

/// Keys beyond this length are marked as keys: a reader looks only so far for their colon.
const LONG_KEY: usize = 200;

/// Words that older readers take for booleans.
const OLD_WORDS: &[&str] = &["y", "n", "yes", "no", "on", "off"];

/// Appends the entries of a mapping, each on lines of its own that are indented by `indent`; the first line is not.
pub(super) fn write_entries<'v, 'a: 'v>(
    entries: impl Iterator<Item = (&'v str, &'v Value<'a>)>,
    indent: usize,
    out: &mut String,
) {
    for (index, (key, value)) in entries.enumerate() {
        if index > 0 {
            new_line(indent, out);
        }
        if key.len() > LONG_KEY {
            out.push_str("? ");
            write_text(key, out);
            new_line(indent, out);
        } else {
            write_text(key, out);
        }
        out.push(':');
        write_member(value, indent, out);
    }
}

/// Appends the value of a key that is indented by `indent`.
fn write_member(value: &Value<'_>, indent: usize, out: &mut String) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            new_line(indent + 2, out);
            write_items(items, indent + 2, out);
        }
        Value::Object(object) if !object.is_empty() => {
            new_line(indent + 2, out);
            write_object(object, indent + 2, out);
        }
        scalar => {
            out.push(' ');
            write_scalar(scalar, out);
        }
    }
}

fn write_object(object: &Object<'_>, indent: usize, out: &mut String) {
    write_entries(object.iter(), indent, out);
}

fn write_items(items: &[Value<'_>], indent: usize, out: &mut String) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            new_line(indent, out);
        }
        out.push_str("- ");
        match item {
            Value::Array(inner) if !inner.is_empty() => write_items(inner, indent + 2, out),
            Value::Object(inner) if !inner.is_empty() => write_object(inner, indent + 2, out),
            scalar => write_scalar(scalar, out),
        }
    }
}

fn write_scalar(value: &Value<'_>, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => {
            let _ = write!(out, "{number}");
        }
        Value::String(text) => write_text(text, out),
        Value::Array(_) => out.push_str("[]"),
        Value::Object(_) => out.push_str("{}"),
    }
}

/// Appends a text, in quotes unless it is clearly safe without.
pub(super) fn write_text(text: &str, out: &mut String) {
    if is_safe(text) {
        return out.push_str(text);
    }
    out.push('"');
    for found in text.chars() {
        match found {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if must_escape(found) => {
                let _ = write!(out, "\\u{:04x}", found as u32);
            }
            _ => out.push(found),
        }
    }
    out.push('"');
}

/// Letters first, then letters, digits, single spaces and a few marks that mean nothing in YAML.
fn is_safe(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'_' | b'-' | b'.' | b'/');
    text.len() <= 80
        && text.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
        && text.bytes().all(fits)
        && !text.ends_with(' ')
        && is_plain_text(text)
        && !OLD_WORDS.contains(&text.to_ascii_lowercase().as_str())
}

/// What YAML does not allow as it is, or what some readers take for the end of a line.
fn must_escape(found: char) -> bool {
    found.is_control() || matches!(found, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Starts a line.
pub(super) fn new_line(indent: usize, out: &mut String) {
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', indent));
}
