//! Digests: SHA-256 under a tag that says what was hashed, and keyed commitments for what is sealed.
//!
//! *Invariant:* every hash but those of a Merkle tree starts with its tag, so a digest of one kind never
//! stands for another; the bytes of a key are never shown.

use std::fmt;
use std::str::FromStr;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use crate::canonical;
use crate::value::Value;

/// A SHA-256 digest, shown as `sha256:<64 hex>`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

/// A text that is not a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a digest is 64 lowercase hexadecimal digits, with or without `sha256:` before them")]
pub struct DigestError;

/// The key that sealed groups of a dataset are committed under. It has no `Debug`: it must not be printed.
#[derive(Clone)]
pub struct CommitKey(Hmac<Sha256>);

/// The key of one record, made from the dataset's key.
#[derive(Clone)]
pub struct RowKey(Hmac<Sha256>);

impl Digest {
    /// The digest that these bytes are.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Digest(bytes)
    }

    /// The 32 bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The 64 hexadecimal digits, as they stand inside canonical JSON.
    pub fn hex(&self) -> String {
        let mut out = Vec::with_capacity(64);
        self.write_hex(&mut out);
        out.into_iter().map(char::from).collect()
    }

    /// Appends the 64 hexadecimal digits.
    pub fn write_hex(&self, out: &mut Vec<u8>) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        for byte in self.0 {
            out.extend_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        }
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "sha256:{}", self.hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl FromStr for Digest {
    type Err = DigestError;

    /// Reads the 64 digits, with or without `sha256:` before them.
    fn from_str(text: &str) -> Result<Self, DigestError> {
        let hex = text.strip_prefix("sha256:").unwrap_or(text).as_bytes();
        if hex.len() != 64 {
            return Err(DigestError);
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(hex.chunks_exact(2)) {
            *byte = hex_digit(pair[0])? << 4 | hex_digit(pair[1])?;
        }
        Ok(Digest(bytes))
    }
}

impl CommitKey {
    /// The key that these bytes are; they are random and made with the dataset.
    pub fn new(bytes: [u8; 32]) -> Self {
        CommitKey(keyed(&bytes))
    }

    /// The key of one record, or of one file by its path.
    pub fn row_key(&self, split: &str, id: &str) -> RowKey {
        let bytes = commit(&self.0, "row-key", &[split.as_bytes(), id.as_bytes()]);
        RowKey(keyed(&bytes.0))
    }
}

impl RowKey {
    /// HMAC-SHA-256 over the tagged parts: a digest that nobody without the key can test a guess against.
    pub fn commit(&self, kind: &str, parts: &[&[u8]]) -> Digest {
        commit(&self.0, kind, parts)
    }
}

/// Plain SHA-256 of bytes that come one piece after the other.
#[derive(Clone, Default)]
pub struct Hashing(Sha256);

impl Hashing {
    /// Takes the next piece.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of all pieces.
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

/// Plain SHA-256 of some bytes.
pub fn sha256(bytes: &[u8]) -> Digest {
    Digest(Sha256::digest(bytes).into())
}

/// SHA-256 of several pieces, one after the other.
pub(crate) fn sha256_of(pieces: &[&[u8]]) -> Digest {
    let mut hasher = Sha256::new();
    for piece in pieces {
        hasher.update(piece);
    }
    Digest(hasher.finalize().into())
}

/// SHA-256 over `heldset:<kind>:1`, a zero byte, and the parts joined by zero bytes.
/// The parts but the last must be free of zero bytes, as names and canonical bytes are.
pub fn tagged(kind: &str, parts: &[&[u8]]) -> Digest {
    let mut hasher = Sha256::new();
    feed(kind, parts, |bytes| hasher.update(bytes));
    Digest(hasher.finalize().into())
}

/// [`tagged`] over the canonical bytes of one value.
pub fn tagged_value(kind: &str, value: &Value<'_>) -> Digest {
    tagged(kind, &[&canonical::bytes(value)])
}

fn keyed(bytes: &[u8; 32]) -> Hmac<Sha256> {
    Hmac::new_from_slice(bytes).expect("HMAC takes a key of any length")
}

fn commit(key: &Hmac<Sha256>, kind: &str, parts: &[&[u8]]) -> Digest {
    let mut mac = key.clone();
    feed(kind, parts, |bytes| mac.update(bytes));
    Digest(mac.finalize().into_bytes().into())
}

fn feed(kind: &str, parts: &[&[u8]], mut take: impl FnMut(&[u8])) {
    take(b"heldset:");
    take(kind.as_bytes());
    take(b":1");
    take(&[0]);
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            take(&[0]);
        }
        take(part);
    }
}

fn hex_digit(byte: u8) -> Result<u8, DigestError> {
    match byte {
        b'0'..=b'9' => Ok(byte - b'0'),
        b'a'..=b'f' => Ok(byte - b'a' + 10),
        _ => Err(DigestError),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn a_digest_reads_back_with_and_without_its_prefix() {
        let nothing = sha256(b"");
        assert_eq!(nothing.hex(), NOTHING);
        assert_eq!(nothing.to_string(), format!("sha256:{NOTHING}"));
        assert_eq!(NOTHING.parse(), Ok(nothing));
        assert_eq!(nothing.to_string().parse(), Ok(nothing));
    }

    #[test]
    fn what_is_not_a_digest_is_refused() {
        let upper = NOTHING.to_uppercase();
        for text in ["", "sha256:", &NOTHING[1..], &upper, &format!("sha1:{NOTHING}"), &format!("{NOTHING}0")] {
            assert_eq!(text.parse::<Digest>(), Err(DigestError), "{text}");
        }
    }

    #[test]
    fn a_tagged_hash_is_the_hash_of_the_joined_bytes() {
        assert_eq!(tagged("group", &[b"a", b"bc"]), sha256(b"heldset:group:1\0a\0bc"));
        assert_eq!(tagged("schema", &[b"{}"]), sha256(b"heldset:schema:1\0{}"));
        assert_eq!(sha256_of(&[b"a", b"bc"]), sha256(b"abc"));
        let mut hashing = Hashing::default();
        [b"a".as_slice(), b"bc"].into_iter().for_each(|piece| hashing.update(piece));
        assert_eq!(hashing.finish(), sha256(b"abc"));
    }

    #[test]
    fn each_row_has_its_own_key() {
        let key = CommitKey::new([7; 32]);
        let of = |split, id| key.row_key(split, id).commit("group", &[b"x"]);
        assert_eq!(of("a", "1"), of("a", "1"));
        assert_ne!(of("a", "1"), of("a", "2"));
        assert_ne!(of("a", "1"), of("b", "1"));
        assert_ne!(of("a", "1"), CommitKey::new([8; 32]).row_key("a", "1").commit("group", &[b"x"]));
    }
}
