//! The objects in a pack of git: each inflated, deltas applied to what they stand on.
//!
//! *Invariant:* a damaged pack ends the walk and nothing else; what is not understood is searched as it is.

use std::collections::HashMap;
use std::rc::Rc;

use flate2::{Decompress, FlushDecompress, Status};

/// Bytes of objects that are kept to apply deltas to.
const KEPT: usize = 256 << 20;
/// The largest object that is built.
const LARGEST: usize = 1 << 30;

/// A pack, and the objects that others may stand on.
pub(super) struct Pack<'p> {
    bytes: &'p [u8],
    kept: HashMap<usize, Rc<Vec<u8>>>,
    size: usize,
}

/// What starts every pack.
pub(super) const MAGIC: &[u8] = b"PACK";

impl<'p> Pack<'p> {
    pub(super) fn new(bytes: &'p [u8]) -> Self {
        Pack { bytes, kept: HashMap::new(), size: 0 }
    }

    /// Hands out every object with its place in the pack; false when the pack is damaged.
    pub(super) fn each(&mut self, take: &mut dyn FnMut(usize, &[u8])) -> bool {
        let Some(count) = self.bytes.get(8..12).and_then(|count| count.try_into().ok()).map(u32::from_be_bytes) else {
            return false;
        };
        let mut at = 12;
        for _ in 0..count {
            let Some((object, next)) = self.object(at) else { return false };
            take(at, &object);
            self.keep(at, object);
            at = next;
        }
        true
    }

    fn keep(&mut self, at: usize, object: Rc<Vec<u8>>) {
        if self.size + object.len() > KEPT {
            self.kept.clear();
            self.size = 0;
        }
        self.size += object.len();
        self.kept.insert(at, object);
    }

    /// The object at a place, and where the next one starts.
    fn object(&self, at: usize) -> Option<(Rc<Vec<u8>>, usize)> {
        let mut place = at;
        let first = self.byte(&mut place)?;
        let mut last = first;
        while last & 0x80 != 0 {
            last = self.byte(&mut place)?;
        }
        let base = match first >> 4 & 7 {
            6 => Some(at.checked_sub(self.offset(&mut place)?)?),
            7 => {
                place += 20;
                None
            }
            _ => None,
        };
        let (bytes, used) = inflate(self.bytes.get(place..)?)?;
        let next = place + used;
        let Some(base) = base.filter(|base| *base < at) else { return Some((Rc::new(bytes), next)) };
        let base = match self.kept.get(&base) {
            Some(base) => Rc::clone(base),
            None => self.object(base)?.0,
        };
        let whole = apply(&base, &bytes).unwrap_or(bytes);
        Some((Rc::new(whole), next))
    }

    fn byte(&self, place: &mut usize) -> Option<u8> {
        let byte = *self.bytes.get(*place)?;
        *place += 1;
        Some(byte)
    }

    /// How far back the object lies that a delta stands on.
    fn offset(&self, place: &mut usize) -> Option<usize> {
        let mut byte = self.byte(place)?;
        let mut offset = usize::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = self.byte(place)?;
            offset = offset.checked_add(1)?.checked_mul(128)? | usize::from(byte & 0x7f);
        }
        Some(offset)
    }
}

/// Inflates one stream; answers its bytes and how many it took.
pub(super) fn inflate(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let (mut stream, mut out) = (Decompress::new(true), Vec::with_capacity(4096));
    loop {
        if out.len() == out.capacity() {
            out.reserve(out.len().max(4096));
        }
        let before = (stream.total_in(), stream.total_out());
        let rest = bytes.get(stream.total_in() as usize..)?;
        match stream.decompress_vec(rest, &mut out, FlushDecompress::None).ok()? {
            Status::StreamEnd => return Some((out, stream.total_in() as usize)),
            _ if out.len() > LARGEST => return None,
            _ if before == (stream.total_in(), stream.total_out()) && out.len() < out.capacity() => return None,
            _ => {}
        }
    }
}

/// Applies a delta.
fn apply(base: &[u8], delta: &[u8]) -> Option<Vec<u8>> {
    let mut rest = delta.iter().copied();
    let mut varint = || {
        let (mut value, mut shift) = (0_usize, 0);
        loop {
            let byte = rest.next()?;
            value |= usize::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
    };
    let (source, target) = (varint()?, varint()?);
    if source != base.len() || target > LARGEST {
        return None;
    }
    let mut out = Vec::with_capacity(target);
    while let Some(command) = rest.next() {
        if command & 0x80 == 0 {
            for _ in 0..command {
                out.push(rest.next()?);
            }
            continue;
        }
        let mut number = |bits: std::ops::Range<u8>| {
            let mut value = 0_usize;
            for (index, bit) in bits.enumerate() {
                if command & 1 << bit != 0 {
                    value |= usize::from(rest.next()?) << (8 * index);
                }
            }
            Some(value)
        };
        let (offset, size) = (number(0..4)?, number(4..7)?);
        let size = if size == 0 { 0x10000 } else { size };
        out.extend_from_slice(base.get(offset..offset.checked_add(size)?)?);
        if out.len() > target {
            return None;
        }
    }
    (out.len() == target).then_some(out)
}
