//! From a byte offset to a line, a column and a readable window on the line.

use heldset_core::fault::{Excerpt, Place};

/// How many characters are shown on each side of a fault in a long line.
const WINDOW: usize = 60;

/// Where byte `offset` of `text` is, when `text` itself starts at `base`.
pub(crate) fn place_of(text: &str, base: Place, offset: usize) -> Place {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let lines = line_ends(before);
    match before.iter().rposition(|&byte| byte == b'\n' || byte == b'\r') {
        None => Place { line: base.line, column: base.column + chars(before) },
        Some(end) => Place { line: base.line + lines, column: 1 + chars(&before[end + 1..]) },
    }
}

/// How many lines end in `bytes`: `\n`, `\r\n` and a lone `\r` each end one.
pub(crate) fn line_ends(bytes: &[u8]) -> u64 {
    let mut ends = memchr::memchr_iter(b'\n', bytes).count() as u64;
    for at in memchr::memchr_iter(b'\r', bytes) {
        if bytes.get(at + 1) != Some(&b'\n') {
            ends += 1;
        }
    }
    ends
}

/// The line around bytes `start..end` of `text`, cut to a window, with those bytes marked.
pub(crate) fn excerpt_of(text: &str, start: usize, end: usize) -> Excerpt {
    let start = floor_char(text, start.min(text.len()));
    let line_start = text[..start].rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let line_end = text[start..].find(['\n', '\r']).map_or(text.len(), |at| start + at);
    let from =
        text[line_start..start].char_indices().rev().nth(WINDOW - 1).map_or(line_start, |(at, _)| line_start + at);
    let to = text[start..line_end].char_indices().nth(WINDOW).map_or(line_end, |(at, _)| start + at);
    let end = floor_char(text, end.clamp(start, to));
    let mut shown = String::new();
    if from > line_start {
        shown.push('…');
    }
    let shift = shown.len();
    shown.push_str(&text[from..to]);
    if to < line_end {
        shown.push('…');
    }
    Excerpt { text: shown, start: shift + start - from, end: shift + end - from }
}

fn chars(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte & 0xc0 != 0x80).count() as u64
}

fn floor_char(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_lines_end_three_ways() {
        let text = "é{\r\nab\rc";
        let at = |needle: &str| {
            let offset = text.find(needle).unwrap_or(0);
            let place = place_of(text, Place { line: 5, column: 3 }, offset);
            (place.line, place.column)
        };
        assert_eq!(at("{"), (5, 4));
        assert_eq!(at("b"), (6, 2));
        assert_eq!(at("c"), (7, 1));
    }

    #[test]
    fn a_long_line_is_cut_around_the_fault() {
        let text = format!("{}X{}", "é".repeat(100), "b".repeat(100));
        let excerpt = excerpt_of(&text, 200, 201);
        assert_eq!(&excerpt.text[excerpt.start..excerpt.end], "X");
        assert_eq!(excerpt.text.chars().count(), 1 + WINDOW + WINDOW + 1);
    }
}
