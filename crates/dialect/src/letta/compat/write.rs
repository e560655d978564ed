//! Python values as JSON text, as `json.dumps` would write them but for the spaces.
//!
//! *Invariant:* reading what was written gives the same value, NaN and lone surrogates included.

use std::fmt::Write as _;

use super::value::{PyDict, PyText, PyValue, float_text};

/// Adds a value to a line.
pub(super) fn value(out: &mut String, written: &PyValue) {
    match written {
        PyValue::None => out.push_str("null"),
        PyValue::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        PyValue::Int(digits) => out.push_str(digits),
        PyValue::Float(number) => float(out, *number),
        PyValue::Str(content) => text(out, content),
        PyValue::List(items) => list(out, items, value),
        PyValue::Dict(entries) => dict(out, entries),
    }
}

/// Adds a dict.
pub(super) fn dict(out: &mut String, entries: &PyDict) {
    out.push('{');
    for (index, (key, entry)) in entries.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        text(out, key);
        out.push(':');
        value(out, entry);
    }
    out.push('}');
}

/// Adds a list.
pub(super) fn list<T>(out: &mut String, items: &[T], mut each: impl FnMut(&mut String, &T)) {
    out.push('[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        each(out, item);
    }
    out.push(']');
}

/// Adds a string: raw but for what JSON must escape and lone surrogates.
pub(super) fn text(out: &mut String, content: &PyText) {
    out.push('"');
    let mut rest = content.as_bytes();
    loop {
        let valid = std::str::from_utf8(rest).map_or_else(|error| error.valid_up_to(), str::len);
        let (plain, more) = rest.split_at(valid);
        std::str::from_utf8(plain).unwrap_or_default().chars().for_each(|char| escaped(out, char));
        let Some((&[_, middle, last], after)) = more.split_first_chunk::<3>() else { break };
        let _ = write!(out, "\\u{:04x}", 0xd000 | u32::from(middle & 0x3f) << 6 | u32::from(last & 0x3f));
        rest = after;
    }
    out.push('"');
}

fn float(out: &mut String, number: f64) {
    match number {
        _ if number.is_nan() => out.push_str("NaN"),
        f64::INFINITY => out.push_str("Infinity"),
        f64::NEG_INFINITY => out.push_str("-Infinity"),
        _ => out.push_str(&float_text(number)),
    }
}

fn escaped(out: &mut String, char: char) {
    match char {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '\0'..='\u{1f}' => {
            let _ = write!(out, "\\u{:04x}", u32::from(char));
        }
        _ => out.push(char),
    }
}
