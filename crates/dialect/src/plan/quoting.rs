//! Advice on the commonest slip in a plan: text with a colon that is not in quotes.
//!
//! *Invariant:* only the advice changes, never the fault.

use heldset_core::code::Code;
use heldset_core::fault::Fault;

/// The fault with the line as it should be, where a text with `: ` in it is the reason.
pub(super) fn advise(mut fault: Fault, bytes: &[u8]) -> Fault {
    let text = String::from_utf8_lossy(bytes);
    let line = fault.place.and_then(|place| text.lines().nth(usize::try_from(place.line).ok()?.checked_sub(1)?));
    if let Some(quoted) = line.filter(|_| fault.code == Code::E025).and_then(quoted) {
        fault.help = Some(format!("put text that holds `: ` in quotes: `{quoted}`"));
    }
    fault
}

/// `key: a: b` as `key: "a: b"`.
fn quoted(line: &str) -> Option<String> {
    let line = line.trim().trim_start_matches("- ");
    let (key, value) = line.split_once(": ")?;
    let value = value.split(" #").next().unwrap_or(value).trim();
    let is_bare = !value.starts_with(['"', '\'', '{', '[', '|', '>', '&', '*', '!']);
    let is_key = key.chars().all(|found| found.is_alphanumeric() || matches!(found, '_' | '-' | '.'));
    (is_bare && is_key && value.contains(": ") && !value.contains(['"', '\\'])).then(|| format!("{key}: \"{value}\""))
}
