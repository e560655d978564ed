//! The lines of a JSONL file as Python's text reader hands them out.
//!
//! *Invariant:* a broken byte takes with it every line that is not whole in the chunks before its own.

/// How many bytes Python decodes at once.
const CHUNK: usize = 8192;

/// The text that is decoded before the file ends or breaks.
pub(super) struct Decoded<'b> {
    /// Whole lines only, when it breaks.
    pub(super) text: &'b str,
    /// The byte that is not UTF-8.
    pub(super) broken: Option<usize>,
}

/// Decodes a file as far as it goes.
pub(super) fn decode(bytes: &[u8]) -> Decoded<'_> {
    let Err(error) = std::str::from_utf8(bytes) else {
        return Decoded { text: std::str::from_utf8(bytes).unwrap_or_default(), broken: None };
    };
    let valid = error.valid_up_to();
    let decoded = match error.error_len() {
        None => valid,
        Some(length) => {
            let begun = std::str::from_utf8(&bytes[valid..valid + length]);
            let begun = begun.is_err_and(|error| error.error_len().is_none());
            let offending = if begun { valid + length } else { valid };
            valid.min(offending / CHUNK * CHUNK)
        }
    };
    let text = &bytes[..decoded];
    let decoded = std::str::from_utf8(text).map_or_else(|error| error.valid_up_to(), str::len);
    let text = std::str::from_utf8(&bytes[..decoded]).unwrap_or_default();
    let held = text.strip_suffix('\r').unwrap_or(text);
    let whole = held.rfind(['\n', '\r']).map_or(0, |end| end + 1);
    Decoded { text: &text[..whole], broken: Some(valid) }
}

/// The lines with the byte each starts at; `\n`, `\r\n` and `\r` end one.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = &text[at..];
        if rest.is_empty() {
            return None;
        }
        let start = at;
        let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let after = &rest[end..];
        at += end + if after.starts_with("\r\n") { 2 } else { usize::from(!after.is_empty()) };
        Some((start, &rest[..end]))
    })
}
