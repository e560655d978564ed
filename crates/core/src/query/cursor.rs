//! Cursors: where the next page begins, in a form that nobody can make up.
//!
//! *Invariant:* a cursor is good only for the query, the version and the audience it was given for.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use thiserror::Error;

use super::{Query, Sort};
use crate::canonical;
use crate::value::{Object, Value};

/// The tag of the format, which is authenticated with the rest.
const TAG: &[u8] = b"heldset/cursor/1\n";
/// Bytes of a cursor: an offset and what authenticates it.
const LEN: usize = 8 + 32;

/// The secret that cursors are authenticated with.
#[derive(Clone)]
pub struct PageKey(pub [u8; 32]);

/// Where a page begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// How many rows come before.
    pub offset: u64,
}

/// A text that is no cursor of this query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the cursor is not one of this query over this version")]
pub struct CursorError;

impl Cursor {
    /// The cursor as text; `over` is what is queried: version, audience.
    pub fn to_text(self, key: &PageKey, query: &Query, over: &[&str]) -> String {
        let offset = self.offset.to_be_bytes();
        let mac = mac(key, query, over, &offset).finalize().into_bytes();
        offset.iter().chain(mac.iter()).map(|byte| format!("{byte:02x}")).collect()
    }

    /// The cursor that a text is.
    pub fn from_text(text: &str, key: &PageKey, query: &Query, over: &[&str]) -> Result<Cursor, CursorError> {
        let bytes = unhex(text).ok_or(CursorError)?;
        let (offset, given) = bytes.split_at(8);
        mac(key, query, over, offset).verify_slice(given).map_err(|_| CursorError)?;
        Ok(Cursor { offset: u64::from_be_bytes(offset.try_into().map_err(|_| CursorError)?) })
    }
}

fn mac(key: &PageKey, query: &Query, over: &[&str], offset: &[u8]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(&key.0).expect("a key of any length is fine");
    mac.update(TAG);
    mac.update(offset);
    let mut asked = Object::new();
    asked.set("filter", query.filter.to_value());
    let sort = |sort: &Sort| Value::from(format!("{}{}", if sort.descending { "-" } else { "+" }, sort.field));
    asked.set("sort", Value::Array(query.sort.iter().map(sort).collect()));
    let texts = |texts: &[String]| Value::Array(texts.iter().map(|text| Value::from(text.clone())).collect());
    asked.set("source_ids", texts(&query.source_ids));
    asked.set("split", query.split.clone().map_or(Value::Null, Value::from));
    asked.set("over", Value::Array(over.iter().map(|text| Value::from((*text).to_owned())).collect()));
    mac.update(&canonical::bytes(&Value::Object(asked)));
    mac
}

fn unhex(text: &str) -> Option<[u8; LEN]> {
    let (mut bytes, digits) = ([0; LEN], text.as_bytes());
    if digits.len() != 2 * LEN || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_good_for_its_own_query_alone() {
        let (key, query) = (PageKey([7; 32]), Query::default());
        let text = Cursor { offset: 50 }.to_text(&key, &query, &["sha256:aa", "owner"]);
        let read = |text: &str, key: &PageKey, query: &Query, over: &[&str]| Cursor::from_text(text, key, query, over);
        assert_eq!(read(&text, &key, &query, &["sha256:aa", "owner"]), Ok(Cursor { offset: 50 }));
        assert_eq!(read(&text, &key, &query, &["sha256:aa", "agent"]), Err(CursorError));
        assert_eq!(read(&text, &key, &query, &["sha256:ab", "owner"]), Err(CursorError));
        assert_eq!(read(&text, &PageKey([8; 32]), &query, &["sha256:aa", "owner"]), Err(CursorError));
        let other = Query { sort: vec![Sort::parse("-a")], ..Query::default() };
        assert_eq!(read(&text, &key, &other, &["sha256:aa", "owner"]), Err(CursorError));
        let forged = format!("{:016x}{}", 100, &text[16..]);
        for wrong in [forged.as_str(), "", "zz", &text[..78], &text.replace('0', "+")] {
            assert_eq!(read(wrong, &key, &query, &["sha256:aa", "owner"]), Err(CursorError), "{wrong}");
        }
        // The size of a page may change between pages.
        let smaller = Query { limit: 10, ..Query::default() };
        assert!(read(&text, &key, &smaller, &["sha256:aa", "owner"]).is_ok());
    }
}
