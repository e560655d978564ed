//! Sealing: XChaCha20-Poly1305 over segments of 64 KiB, so that a range can be opened without the rest.
//!
//! *Invariant:* a segment opens only at its place, in its object, for its label and dataset, under its key; an object
//! that lost its end does not open there. Keys are wiped and never shown.
//!
//! An object is a magic line, the length of the header (u32, little-endian), the header as canonical JSON, a digest
//! of these, and the segments: nonce, sealed bytes, tag. There is always a last segment, of an empty object an empty one.

use std::ops::Range;

use bytes::Bytes;
use chacha20poly1305::{AeadInOut, KeyInit, XChaCha20Poly1305};
use heldset_core::canonical;
use heldset_core::digest::tagged;
use heldset_core::json;
use heldset_core::number::Number;
use heldset_core::value::{Object, Value};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::entropy::{Entropy, random};
use crate::error::{StoreError, other_format};
use crate::keys::DatasetKeys;
use crate::objects::Fetch;
use crate::segments::{RangeRead, SEGMENT, covering};

const FORMAT: &str = "heldset/sealed/1";
const NONCE: usize = 24;
const TAG: usize = 16;
const EXTRA: u64 = (NONCE + TAG) as u64;
const DIGEST: usize = 32;
/// How much is fetched to find the header; nearly all are shorter.
const FIRST_FETCH: u64 = 1024;
/// No header is longer.
const LONGEST_HEADER: usize = 1 << 20;

/// One key that seals, with its number in the dataset.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct SealKey {
    id: u32,
    bytes: [u8; 32],
}

/// What a sealed object says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// The id of the dataset.
    pub dataset: String,
    /// The name of the label.
    pub label: String,
    /// The canary of its split.
    pub canary: String,
}

/// The header of a sealed object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedHeader {
    /// What it says about itself.
    pub heading: Heading,
    /// Its own random name, in hexadecimal digits.
    pub object: String,
    /// Which key of the dataset sealed it.
    pub key: u32,
    /// How many bytes the header takes, with all around it.
    length: u64,
}

/// Reads a sealed object by range.
pub struct SealedReader {
    header: SealedHeader,
    cipher: XChaCha20Poly1305,
    segments: u64,
    plain_len: u64,
    what: String,
    fetch: Fetch,
}

impl SealKey {
    /// The key with that number.
    pub fn new(id: u32, bytes: [u8; 32]) -> Self {
        SealKey { id, bytes }
    }

    /// Its number in the dataset.
    pub fn id(&self) -> u32 {
        self.id
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new((&self.bytes).into())
    }
}

/// Seals bytes into an object.
pub fn seal(plain: &[u8], key: &SealKey, heading: &Heading, entropy: &dyn Entropy) -> Vec<u8> {
    let object = hex(&random::<16>(entropy));
    let mut header = SealedHeader { heading: heading.clone(), object, key: key.id, length: 0 };
    let head = header.write();
    header.length = head.len() as u64;
    let count = (plain.len() as u64).div_ceil(SEGMENT).max(1);
    let mut nonces = vec![0; count as usize * NONCE];
    entropy.fill(&mut nonces);
    let cipher = key.cipher();
    let mut out = Vec::with_capacity(head.len() + plain.len() + (count * EXTRA) as usize);
    out.extend_from_slice(&head);
    for (index, nonce) in nonces.as_chunks::<NONCE>().0.iter().enumerate() {
        let from = index * SEGMENT as usize;
        out.extend_from_slice(nonce);
        let start = out.len();
        out.extend_from_slice(&plain[from..plain.len().min(from + SEGMENT as usize)]);
        let about = header.associated(index as u64, index as u64 + 1 == count);
        let tag = cipher
            .encrypt_inout_detached(nonce.into(), &about, (&mut out[start..]).into())
            .expect("a segment is far below the cipher's limit");
        out.extend_from_slice(&tag);
    }
    out
}

/// Opens a whole sealed object; `dataset` and `label` are what it must be of, `what` names it in errors.
pub fn unseal(sealed: Bytes, keys: &DatasetKeys, dataset: &str, label: &str, what: &str) -> Result<Bytes, StoreError> {
    let size = sealed.len() as u64;
    let fetch = Box::new(move |range: Range<u64>| Ok(sealed.slice(range.start as usize..range.end as usize)));
    let reader = SealedReader::open(size, keys, dataset, label, what, fetch)?;
    reader.read(0..reader.plain_len())
}

impl SealedHeader {
    /// Reads the header at the start of an object. `Ok(None)` if there is more of it than these bytes have.
    pub fn read(bytes: &[u8], what: &str) -> Result<Option<Self>, StoreError> {
        let damaged = || StoreError::damaged(what);
        let magic = FORMAT.len() + 1;
        let Some((line, rest)) = bytes.split_at_checked(magic) else { return Ok(None) };
        if line != format!("{FORMAT}\n").as_bytes() {
            let line = String::from_utf8_lossy(line);
            return Err(other_format(line.trim_end(), FORMAT).unwrap_or_else(damaged));
        }
        let Some((length, rest)) = rest.split_first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_le_bytes(*length) as usize;
        if length > LONGEST_HEADER {
            return Err(damaged());
        }
        if rest.len() < length + DIGEST {
            return Ok(None);
        }
        let (body, digest) = bytes.split_at(magic + 4 + length);
        if tagged("sealed-header", &[body]).as_bytes() != &digest[..DIGEST] {
            return Err(damaged());
        }
        let total = (body.len() + DIGEST) as u64;
        Self::parse(&rest[..length], total).map(Some).ok_or_else(damaged)
    }

    fn parse(text: &[u8], length: u64) -> Option<Self> {
        let value = json::read(str::from_utf8(text).ok()?).ok()?;
        let header = value.as_object()?;
        let text = |name: &str| Some(header.get(name)?.as_str()?.to_owned());
        let heading = Heading { dataset: text("dataset")?, label: text("label")?, canary: text("canary")? };
        let Value::Number(key) = header.get("key")? else { return None };
        Some(SealedHeader { heading, object: text("object")?, key: key.as_u64()?.try_into().ok()?, length })
    }

    fn write(&self) -> Vec<u8> {
        let mut header = Object::with_capacity(5);
        header.set("canary", Value::text(self.heading.canary.as_str()));
        header.set("dataset", Value::text(self.heading.dataset.as_str()));
        header.set("key", Value::Number(Number::from_u64(self.key.into())));
        header.set("label", Value::text(self.heading.label.as_str()));
        header.set("object", Value::text(self.object.as_str()));
        let header = canonical::bytes(&Value::Object(header));
        let mut out = format!("{FORMAT}\n").into_bytes();
        out.extend_from_slice(&(header.len() as u32).to_le_bytes());
        out.extend_from_slice(&header);
        let digest = tagged("sealed-header", &[&out]);
        out.extend_from_slice(digest.as_bytes());
        out
    }

    /// What a segment is bound to.
    fn associated(&self, index: u64, last: bool) -> Vec<u8> {
        let mut about = Object::with_capacity(6);
        about.set("dataset", Value::text(self.heading.dataset.as_str()));
        about.set("format", Value::text(FORMAT));
        about.set("index", Value::Number(Number::from_u64(index)));
        about.set("label", Value::text(self.heading.label.as_str()));
        about.set("last", Value::Bool(last));
        about.set("object", Value::text(self.object.as_str()));
        canonical::bytes(&Value::Object(about))
    }
}

impl SealedReader {
    /// A reader of the sealed object of `size` bytes that `fetch` fetches from; `dataset` and `label` are what it must
    /// be of, `what` names it in errors.
    pub fn open(
        size: u64,
        keys: &DatasetKeys,
        dataset: &str,
        label: &str,
        what: &str,
        fetch: Fetch,
    ) -> Result<Self, StoreError> {
        let header = find_header(size, what, &fetch)?;
        if header.heading.dataset != dataset || header.heading.label != label {
            return Err(StoreError::damaged(what));
        }
        let key = keys.seal_key(header.key).ok_or_else(|| StoreError::NoKey { dataset: dataset.to_owned() })?;
        let body = size - header.length;
        let segments = body.div_ceil(SEGMENT + EXTRA);
        let plain_len = body.checked_sub(segments * EXTRA).filter(|_| segments > 0);
        let plain_len = plain_len.ok_or_else(|| StoreError::damaged(what))?;
        let cipher = key.cipher();
        Ok(SealedReader { header, cipher, segments, plain_len, what: what.to_owned(), fetch })
    }

    /// The header.
    pub fn header(&self) -> &SealedHeader {
        &self.header
    }

    /// Opens segment number `index` from `sealed` and appends its bytes.
    fn open_segment(&self, index: u64, sealed: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let (nonce, rest) = sealed.split_first_chunk::<NONCE>()?;
        let (body, tag) = rest.split_last_chunk::<TAG>()?;
        let about = self.header.associated(index, index + 1 == self.segments);
        let start = out.len();
        out.extend_from_slice(body);
        self.cipher.decrypt_inout_detached(nonce.into(), &about, (&mut out[start..]).into(), tag.into()).ok()
    }

    /// The bytes of some segments, opened.
    fn open_segments(&self, numbers: Range<u64>) -> Result<Vec<u8>, StoreError> {
        let damaged = || StoreError::damaged(self.what.as_str());
        let stride = SEGMENT + EXTRA;
        let body = self.plain_len + self.segments * EXTRA;
        let (start, end) = (numbers.start * stride, (numbers.end * stride).min(body));
        let sealed = (self.fetch)(self.header.length + start..self.header.length + end)?;
        if sealed.len() as u64 != end - start {
            return Err(damaged());
        }
        let mut out = Vec::with_capacity(sealed.len());
        for (index, segment) in numbers.zip(sealed.chunks(stride as usize)) {
            self.open_segment(index, segment, &mut out).ok_or_else(damaged)?;
        }
        Ok(out)
    }
}

impl RangeRead for SealedReader {
    fn plain_len(&self) -> u64 {
        self.plain_len
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes, StoreError> {
        let numbers = match covering(&range, self.plain_len, &self.what)? {
            Some(numbers) => numbers,
            // An empty object has one segment to check all the same.
            None if self.plain_len == 0 => 0..1,
            None => return Ok(Bytes::new()),
        };
        let start = numbers.start * SEGMENT;
        let bytes = Bytes::from(self.open_segments(numbers)?);
        Ok(bytes.slice((range.start - start) as usize..(range.end - start) as usize))
    }
}

fn find_header(size: u64, what: &str, fetch: &Fetch) -> Result<SealedHeader, StoreError> {
    let mut ask = FIRST_FETCH.min(size);
    loop {
        if let Some(header) = SealedHeader::read(&fetch(0..ask)?, what)? {
            return Ok(header);
        }
        if ask == size {
            return Err(StoreError::damaged(what));
        }
        ask = (ask * 32).min(size);
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
