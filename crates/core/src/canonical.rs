//! Canonical bytes: RFC 8785, with integers of 64 bits written exactly.
//!
//! *Invariant:* canonical bytes read back to the value they came from.

use std::cmp::Ordering;
use std::io::Write;

use crate::value::{Object, Value};

/// The canonical bytes of a value.
pub fn bytes(value: &Value<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    write(value, &mut out);
    out
}

/// Appends the canonical bytes of a value.
pub fn write(value: &Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => {
            write!(out, "{number}").expect("a vector takes every byte");
        }
        Value::String(text) => write_text(text, out),
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write(item, out);
            }
            out.push(b']');
        }
        Value::Object(object) => write_object(object, out),
    }
}

/// Appends the canonical bytes of a mapping.
pub fn write_object(object: &Object<'_>, out: &mut Vec<u8>) {
    if object.iter().is_sorted_by(|(a, _), (b, _)| key_order(a, b).is_lt()) {
        return write_entries(object.iter(), out);
    }
    let mut entries: Vec<_> = object.iter().collect();
    entries.sort_by(|(a, _), (b, _)| key_order(a, b));
    write_entries(entries.into_iter(), out);
}

/// Appends a mapping with its keys in the order given; the caller promises that order.
pub fn write_entries<'v, 'a: 'v>(entries: impl Iterator<Item = (&'v str, &'v Value<'a>)>, out: &mut Vec<u8>) {
    out.push(b'{');
    for (index, (key, value)) in entries.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_text(key, out);
        out.push(b':');
        write(value, out);
    }
    out.push(b'}');
}

/// The order of keys in canonical bytes: by UTF-16 code units.
pub fn key_order(a: &str, b: &str) -> Ordering {
    if a.is_ascii() || b.is_ascii() {
        return a.as_bytes().cmp(b.as_bytes());
    }
    a.encode_utf16().cmp(b.encode_utf16())
}

/// Appends text as a JSON string with the escapes of RFC 8785.
pub fn write_text(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut from = 0;
    loop {
        let end = crate::json::plain_run(bytes, from);
        out.extend_from_slice(&bytes[from..end]);
        let Some(&byte) = bytes.get(end) else { break };
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x09 => out.extend_from_slice(b"\\t"),
            0x0a => out.extend_from_slice(b"\\n"),
            0x0c => out.extend_from_slice(b"\\f"),
            0x0d => out.extend_from_slice(b"\\r"),
            _ => write!(out, "\\u{byte:04x}").expect("a vector takes every byte"),
        }
        from = end + 1;
    }
    out.push(b'"');
}
