//! Places in a text, found without walking it from the start each time.

use heldset_core::fault::{Excerpt, Place};

use crate::place::excerpt_of;

/// How far apart the counted places are.
const STRIDE: usize = 4096;

/// More bytes on each side of a place than an excerpt shows.
const AROUND: usize = 512;

/// Where lines start, and how many characters stand before every so many bytes.
pub(super) struct Lines {
    starts: Vec<u32>,
    chars: Vec<u32>,
}

impl Lines {
    pub(super) fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for end in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            if bytes[end] == b'\n' || bytes.get(end + 1) != Some(&b'\n') {
                starts.push(end as u32 + 1);
            }
        }
        let mut before = 0;
        let mut chars = Vec::with_capacity(bytes.len() / STRIDE + 1);
        for part in bytes.chunks(STRIDE) {
            chars.push(before);
            before += count(part);
        }
        Lines { starts, chars }
    }

    /// The line of a byte, from 1.
    pub(super) fn line(&self, offset: usize) -> u64 {
        self.starts.partition_point(|start| *start as usize <= offset) as u64
    }

    pub(super) fn place(&self, text: &str, offset: usize) -> Place {
        let line = self.line(offset);
        let start = self.starts[line as usize - 1] as usize;
        let column = 1 + self.chars_before(text, offset) - self.chars_before(text, start);
        Place { line, column }
    }

    /// The line around some bytes. Only their neighbourhood is looked at, so a file of one long line costs no more.
    pub(super) fn excerpt(&self, text: &str, start: usize, end: usize) -> Excerpt {
        let line = self.starts[self.line(start) as usize - 1] as usize;
        let from = boundary(text, start.saturating_sub(AROUND).max(line));
        let to = boundary(text, start.saturating_add(AROUND));
        excerpt_of(&text[from..to], start - from, end.clamp(start, to.max(start)) - from)
    }

    fn chars_before(&self, text: &str, offset: usize) -> u64 {
        let counted = (offset / STRIDE).min(self.chars.len().saturating_sub(1));
        let before = self.chars.get(counted).copied().unwrap_or(0);
        u64::from(before) + u64::from(count(&text.as_bytes()[counted * STRIDE..offset.min(text.len())]))
    }
}

fn count(bytes: &[u8]) -> u32 {
    bytes.iter().filter(|&&byte| byte & 0xc0 != 0x80).count() as u32
}

fn boundary(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::place_of;

    #[test]
    fn places_are_those_of_a_walk_from_the_start() {
        let text = "é: 1\r\nb\rc\n\n".repeat(1500);
        let lines = Lines::of(&text);
        for (offset, _) in text.char_indices().step_by(7).filter(|(_, found)| *found != '\n') {
            let walked = place_of(&text, Place { line: 1, column: 1 }, offset);
            assert_eq!(lines.place(&text, offset), walked, "{offset}");
            assert_eq!(lines.excerpt(&text, offset, offset + 1), excerpt_of(&text, offset, offset + 1), "{offset}");
        }
    }

    #[test]
    fn a_long_line_is_shown_in_a_window() {
        let text = format!("{}X{}", "é".repeat(9000), "b".repeat(9000));
        let lines = Lines::of(&text);
        assert_eq!(lines.place(&text, 18000), Place { line: 1, column: 9001 });
        assert_eq!(lines.excerpt(&text, 18000, 18001), excerpt_of(&text, 18000, 18001));
    }
}
