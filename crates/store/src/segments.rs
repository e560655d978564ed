//! Checks of open objects by segments, so that a range can be verified without the rest.
//!
//! *Invariant:* a reader hands out nothing that it has not checked.

use std::ops::Range;

use bytes::Bytes;
use heldset_core::digest::sha256;

use crate::error::StoreError;
use crate::objects::Fetch;

/// How many bytes a segment has, of open objects as of sealed ones; the last may have fewer.
pub const SEGMENT: u64 = 64 << 10;

/// How many bytes of a segment's SHA-256 are kept.
const KEPT: usize = 16;

/// Plain bytes that can be read by range and are checked before they are handed out.
pub trait RangeRead: Send + Sync {
    /// How many bytes there are.
    fn plain_len(&self) -> u64;

    /// A range of them.
    fn read(&self, range: Range<u64>) -> Result<Bytes, StoreError>;
}

/// The checks of all segments of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segments {
    size: u64,
    checks: Vec<u8>,
}

/// Reads an open object by range.
pub struct CheckedReader {
    segments: Segments,
    what: String,
    fetch: Fetch,
}

impl Segments {
    /// The checks of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let checks = bytes.chunks(SEGMENT as usize).flat_map(check).collect();
        Segments { size: bytes.len() as u64, checks }
    }

    /// The checks of an object of that size, as [`Segments::as_bytes`] gave them; nothing if they are too few or many.
    pub fn from_bytes(size: u64, checks: Vec<u8>) -> Option<Self> {
        let expected = size.div_ceil(SEGMENT).checked_mul(KEPT as u64)?;
        (checks.len() as u64 == expected).then_some(Segments { size, checks })
    }

    /// The checks one after the other, 16 bytes each.
    pub fn as_bytes(&self) -> &[u8] {
        &self.checks
    }

    /// How many bytes the object has.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Whether these bytes are the segments from number `first` on.
    fn fit(&self, first: u64, bytes: &[u8]) -> bool {
        let expected = self.checks.chunks(KEPT).skip(first as usize);
        bytes.chunks(SEGMENT as usize).zip(expected).all(|(segment, expected)| check(segment) == expected)
    }
}

impl CheckedReader {
    /// A reader of the object that `fetch` fetches from; `what` names it in errors.
    pub fn new(segments: Segments, what: impl Into<String>, fetch: Fetch) -> Self {
        CheckedReader { segments, what: what.into(), fetch }
    }
}

impl RangeRead for CheckedReader {
    fn plain_len(&self) -> u64 {
        self.segments.size
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes, StoreError> {
        let Some(covering) = covering(&range, self.segments.size, &self.what)? else { return Ok(Bytes::new()) };
        let start = covering.start * SEGMENT;
        let end = (covering.end * SEGMENT).min(self.segments.size);
        let bytes = (self.fetch)(start..end)?;
        if bytes.len() as u64 != end - start || !self.segments.fit(covering.start, &bytes) {
            return Err(StoreError::damaged(self.what.as_str()));
        }
        Ok(bytes.slice((range.start - start) as usize..(range.end - start) as usize))
    }
}

/// The numbers of the segments that a range of `size` bytes touches; nothing if the range is empty. A range beyond
/// the end comes of damage elsewhere.
pub(crate) fn covering(range: &Range<u64>, size: u64, what: &str) -> Result<Option<Range<u64>>, StoreError> {
    if range.start > range.end || range.end > size {
        return Err(StoreError::damaged(what));
    }
    Ok((!range.is_empty()).then(|| range.start / SEGMENT..range.end.div_ceil(SEGMENT)))
}

fn check(segment: &[u8]) -> [u8; KEPT] {
    let mut kept = [0; KEPT];
    kept.copy_from_slice(&sha256(segment).as_bytes()[..KEPT]);
    kept
}
