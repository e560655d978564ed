//! Keys as text: canonical JSON with its format and a check over the rest.
//!
//! *Invariant:* text that was changed anywhere is refused; buffers with keys in them are wiped.

use std::fmt::Write as _;

use ed25519_dalek::SigningKey;
use heldset_core::digest::tagged;
use heldset_core::json;
use heldset_core::value::{Object, Value};
use zeroize::{Zeroize, Zeroizing};

use super::DatasetKeys;
use crate::error::{StoreError, other_format};

const DATASET: &str = "heldset/keys/1";
const AUDIT: &str = "heldset/audit-key/1";

pub(super) fn write_dataset(keys: &DatasetKeys) -> Zeroizing<Vec<u8>> {
    // Room for all of it, so that no piece is left behind by growing.
    let mut body = Zeroizing::new(String::with_capacity(256 + 96 * keys.seals.len()));
    body.push_str("\"commit\":\"");
    push_hex(&keys.commit, &mut body);
    let _ = write!(body, "\",\"format\":\"{DATASET}\",\"seals\":[");
    for (index, (id, bytes)) in keys.seals.iter().enumerate() {
        let _ = write!(body, "{}[{id},\"", if index > 0 { "," } else { "" });
        push_hex(bytes, &mut body);
        body.push_str("\"]");
    }
    body.push(']');
    enclose(&body)
}

pub(super) fn read_dataset(text: &[u8], what: &str) -> Result<DatasetKeys, StoreError> {
    let read = |keys: &Object<'_>| {
        let mut seals = Vec::new();
        for seal in keys.get("seals")?.as_array()? {
            let [Value::Number(id), bytes] = seal.as_array()? else { return None };
            seals.push((u32::try_from(id.as_u64()?).ok()?, bytes_of(bytes)?));
        }
        let rising = seals.is_sorted_by(|(a, _), (b, _)| a < b) && !seals.is_empty();
        let keys = DatasetKeys { commit: bytes_of(keys.get("commit")?)?, seals };
        rising.then_some(keys)
    };
    let keys = open(text, DATASET, what, read)?;
    if *write_dataset(&keys) == text { Ok(keys) } else { Err(StoreError::damaged(what)) }
}

pub(super) fn write_audit(key: &SigningKey) -> Zeroizing<Vec<u8>> {
    let mut body = Zeroizing::new(String::with_capacity(256));
    let mut bytes = key.to_bytes();
    let _ = write!(body, "\"format\":\"{AUDIT}\",\"secret\":\"");
    push_hex(&bytes, &mut body);
    bytes.zeroize();
    body.push('"');
    enclose(&body)
}

pub(super) fn read_audit(text: &[u8], what: &str) -> Result<SigningKey, StoreError> {
    let read = |key: &Object<'_>| Some(SigningKey::from_bytes(&Zeroizing::new(bytes_of(key.get("secret")?)?)));
    let key = open(text, AUDIT, what, read)?;
    if *write_audit(&key) == text { Ok(key) } else { Err(StoreError::damaged(what)) }
}

/// The members in braces, after the check over them.
fn enclose(members: &str) -> Zeroizing<Vec<u8>> {
    let check = tagged("keys", &[members.as_bytes()]).hex();
    let mut text = Zeroizing::new(Vec::with_capacity(members.len() + 96));
    for piece in ["{\"check\":\"", &check, "\",", members, "}\n"] {
        text.extend_from_slice(piece.as_bytes());
    }
    text
}

/// Reads text of that format; another number of it is newer. The caller compares what it writes with the text.
fn open<T>(
    text: &[u8],
    format: &str,
    what: &str,
    read: impl FnOnce(&Object<'_>) -> Option<T>,
) -> Result<T, StoreError> {
    let damaged = || StoreError::damaged(what);
    let value = json::read(str::from_utf8(text).map_err(|_| damaged())?).map_err(|_| damaged())?;
    let members = value.as_object().ok_or_else(damaged)?;
    let found = members.get("format").and_then(Value::as_str).ok_or_else(damaged)?;
    if found != format {
        return Err(other_format(found, format).unwrap_or_else(damaged));
    }
    read(members).ok_or_else(damaged)
}

fn push_hex(bytes: &[u8; 32], out: &mut String) {
    for byte in bytes {
        let _ = write!(out, "{byte:02x}");
    }
}

fn bytes_of(value: &Value<'_>) -> Option<[u8; 32]> {
    let digits = value.as_str()?.as_bytes();
    let mut bytes = [0; 32];
    if digits.len() != 64 {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}
