//! Texts that are searched for in any amount of bytes, and the search.
//!
//! *Invariant:* no text is kept: a needle is its first bytes, its length and a digest, so that memory does not grow
//! with the length of what is sealed, and nothing sealed can be printed from here.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

/// The fewest characters of a text that is searched for.
pub(super) const SHORTEST: usize = 12;
/// The most bytes of a text that are compared.
const LONGEST: usize = 256;
/// Bytes that are searched at once.
const STEP: usize = 1 << 20;

type Start = [u8; SHORTEST];

/// The texts.
#[derive(Default)]
pub(super) struct Needles {
    needles: Vec<Needle>,
    known: HashMap<[u8; 16], u32>,
    /// By their first bytes, sorted; filled by [`Needles::ready`].
    starts: Vec<(Start, u32)>,
    /// One bit for each hash of first bytes.
    filter: Vec<u64>,
}

struct Needle {
    digest: [u8; 16],
    length: u32,
    /// Which secret it is a form of.
    secret: u32,
}

/// A search through bytes that come in pieces.
pub(super) struct Search<'n> {
    needles: &'n Needles,
    held: Vec<u8>,
    /// How many bytes came before those that are held.
    before: u64,
}

impl Needles {
    /// Adds a text as a form of a secret; answers which secret has it already, if one does.
    pub(super) fn add(&mut self, text: &[u8], secret: u32) -> Option<u32> {
        let text = &text[..text.len().min(LONGEST)];
        let start = text.first_chunk::<SHORTEST>()?;
        let digest = digest(text);
        if let Some(known) = self.known.get(&digest) {
            return Some(*known);
        }
        self.known.insert(digest, secret);
        self.starts.push((*start, self.needles.len() as u32));
        self.needles.push(Needle { digest, length: text.len() as u32, secret });
        None
    }

    /// Makes the search ready; no text is added after this.
    pub(super) fn ready(&mut self) {
        self.known = HashMap::new();
        self.starts.sort_unstable();
        let words = (self.starts.len() * 32).next_power_of_two().max(1 << 16) / 64;
        self.filter = vec![0; words];
        for (start, _) in &self.starts {
            let bit = hash(start) as usize % (words * 64);
            self.filter[bit / 64] |= 1 << (bit % 64);
        }
    }

    /// Takes out all forms of some secrets.
    pub(super) fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        let needles = &self.needles;
        self.starts.retain(|(_, index)| keep(needles[*index as usize].secret));
    }

    /// A search for all of them.
    pub(super) fn search(&self) -> Search<'_> {
        Search { needles: self, held: Vec::new(), before: 0 }
    }

    /// The secrets that start at the start of these bytes.
    fn at<'s>(&'s self, bytes: &'s [u8]) -> impl Iterator<Item = u32> + 's {
        let start = bytes.first_chunk::<SHORTEST>().filter(|start| {
            let bit = hash(start) as usize % (self.filter.len() * 64);
            self.filter[bit / 64] & (1 << (bit % 64)) != 0
        });
        let first = start.map_or(self.starts.len(), |start| self.starts.partition_point(|(known, _)| known < start));
        let same = self.starts[first..].iter().take_while(move |(known, _)| Some(known) == start);
        same.filter_map(|(_, index)| {
            let needle = &self.needles[*index as usize];
            let text = bytes.get(..needle.length as usize)?;
            (digest(text) == needle.digest).then_some(needle.secret)
        })
    }
}

impl Search<'_> {
    /// Searches on; `found` is told of each secret and where it starts.
    pub(super) fn push(&mut self, bytes: &[u8], found: &mut dyn FnMut(u32, u64)) {
        for piece in bytes.chunks(STEP) {
            self.held.extend_from_slice(piece);
            if self.held.len() >= STEP + LONGEST {
                self.look(self.held.len() - LONGEST, found);
            }
        }
    }

    /// Searches what is left.
    pub(super) fn finish(mut self, found: &mut dyn FnMut(u32, u64)) {
        self.look(self.held.len(), found);
    }

    fn look(&mut self, end: usize, found: &mut dyn FnMut(u32, u64)) {
        if !self.needles.starts.is_empty() {
            for place in 0..end {
                for secret in self.needles.at(&self.held[place..]) {
                    found(secret, self.before + place as u64);
                }
            }
        }
        self.held.drain(..end);
        self.before += end as u64;
    }
}

fn digest(text: &[u8]) -> [u8; 16] {
    let whole = Sha256::digest(text);
    let mut short = [0; 16];
    short.copy_from_slice(&whole[..16]);
    short
}

fn hash(start: &Start) -> u64 {
    let (head, tail) = start.split_at(8);
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
    let mixed = word(head).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ word(tail).wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
    mixed ^ mixed >> 29
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(needles: &[&str], pieces: &[&[u8]]) -> Vec<(u32, u64)> {
        let mut all = Needles::default();
        for (index, needle) in needles.iter().enumerate() {
            all.add(needle.as_bytes(), index as u32);
        }
        all.ready();
        let (mut search, mut found) = (all.search(), Vec::new());
        for piece in pieces {
            search.push(piece, &mut |secret, at| found.push((secret, at)));
        }
        search.finish(&mut |secret, at| found.push((secret, at)));
        found
    }

    #[test]
    fn a_text_is_found_wherever_it_stands() {
        let long = "abcdefghijkl".repeat(40);
        for (needles, pieces, expected) in [
            (&["secret text no 1"][..], &[&b"x secret text no 1"[..]][..], &[(0, 2)][..]),
            (&["secret text no 1"], &[b"x secret te", b"xt no 1"], &[(0, 2)]),
            (&["secret text no 1"], &[b"secret text no 2"], &[]),
            (&["secret text no 1", "secret text no 12"], &[b"secret text no 12"], &[(0, 0), (1, 0)]),
            (&["too short"], &[b"too short"], &[]),
            (&[&long], &[long.as_bytes()], &[(0, 0), (0, 12), (0, 24)]),
        ] {
            let mut met = found(needles, pieces);
            met.sort_unstable();
            assert_eq!(met[..expected.len().min(met.len())], *expected, "{needles:?}");
            assert_eq!(met.is_empty(), expected.is_empty());
        }
    }

    #[test]
    fn a_text_across_two_steps_is_found_once() {
        let mut bytes = vec![b'.'; STEP + LONGEST - 5];
        bytes.extend_from_slice(b"a secret over the edge");
        bytes.extend(vec![b'.'; STEP]);
        assert_eq!(found(&["a secret over the edge"], &[&bytes]), [(0, (STEP + LONGEST - 5) as u64)]);
    }
}
