//! Cutting CSV bytes into rows and cells.

use crate::blocks::MAX_FIELDS;

/// A cell: where its text is, and where it starts in the file's bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub(super) start: u32,
    pub(super) end: u32,
    /// Whether quotes are doubled in it.
    pub(super) escaped: bool,
    /// Where its text without doubled quotes is, once that was made.
    pub(super) undoubled: (u32, u32),
}

impl Cell {
    fn new(start: usize, end: usize, escaped: bool) -> Self {
        Cell { start: start as u32, end: end as u32, escaped, undoubled: (0, 0) }
    }
}

/// A row: its cells and its bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) first_cell: u32,
    pub(super) cells: u32,
    /// Whether there are more cells than are kept.
    pub(super) more: bool,
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) line: u64,
    /// The byte after a closing quote where something else than a delimiter stands.
    pub(super) stray: Option<u32>,
}

/// How a cutting ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// At the end of a row.
    Done,
    /// Inside a row that goes on.
    Incomplete,
    /// Inside a quoted cell, and there is nothing more.
    Unclosed,
}

/// The rows cut from some bytes.
pub(super) struct Cutter {
    delimiter: u8,
    pub(super) cells: Vec<Cell>,
    pub(super) rows: Vec<Row>,
    /// Just after each line that was passed, blank ones too.
    pub(super) ends: Vec<usize>,
    /// The line after the last row.
    pub(super) line: u64,
    pub(super) first_line: u64,
    /// The last quote that was opened.
    pub(super) opened: usize,
    /// Whether the row has more cells than are kept.
    more: bool,
}

enum Stop {
    Delimiter,
    Line(usize),
    Cut(Cut),
}

impl Cutter {
    pub(super) fn new(delimiter: u8, line: u64) -> Self {
        Cutter {
            delimiter,
            cells: Vec::new(),
            rows: Vec::new(),
            ends: Vec::new(),
            line,
            first_line: line,
            opened: 0,
            more: false,
        }
    }

    /// Cuts until `most` rows are there or the bytes end. `ended`: nothing follows these bytes.
    pub(super) fn cut(&mut self, bytes: &[u8], ended: bool, most: usize) -> Cut {
        let mut start = 0;
        while start < bytes.len() && self.rows.len() < most {
            let first_cell = self.cells.len();
            match self.row(bytes, start, ended, first_cell) {
                Ok(next) => {
                    self.ends.push(next);
                    start = next;
                }
                Err(cut) => {
                    self.cells.truncate(first_cell);
                    return cut;
                }
            }
        }
        Cut::Done
    }

    fn row(&mut self, bytes: &[u8], start: usize, ended: bool, first_cell: usize) -> Result<usize, Cut> {
        let mut at = start;
        let mut lines = 0;
        let mut stray = None;
        self.more = false;
        let next = loop {
            if self.cells.len() - first_cell > MAX_FIELDS {
                self.more = true;
                match memchr::memchr2(b'\n', b'\r', &bytes[at..]) {
                    None if !ended => return Err(Cut::Incomplete),
                    more => at += more.unwrap_or(bytes.len() - at),
                }
                match self.stop(bytes, at, ended) {
                    Stop::Line(next) => break next,
                    _ => return Err(Cut::Incomplete),
                }
            }
            let stop = if bytes.get(at) == Some(&b'"') {
                self.quoted(bytes, &mut at, ended, &mut lines, &mut stray)
            } else {
                self.plain(bytes, &mut at, ended)
            };
            match stop {
                Stop::Delimiter => at += 1,
                Stop::Line(next) => break next,
                Stop::Cut(cut) => return Err(cut),
            }
        };
        let cells = self.cells.len() - first_cell;
        let blank = cells == 1 && at == start;
        if blank {
            self.cells.truncate(first_cell);
        } else {
            self.rows.push(Row {
                first_cell: first_cell as u32,
                cells: cells as u32,
                more: self.more,
                start: start as u32,
                end: at as u32,
                line: self.line,
                stray,
            });
        }
        self.line += lines + 1;
        Ok(next)
    }

    /// An unquoted cell; leaves `at` at what ends it.
    fn plain(&mut self, bytes: &[u8], at: &mut usize, ended: bool) -> Stop {
        let start = *at;
        match memchr::memchr3(self.delimiter, b'\n', b'\r', &bytes[start..]) {
            None if !ended => return Stop::Cut(Cut::Incomplete),
            None => *at = bytes.len(),
            Some(more) => *at = start + more,
        }
        self.cells.push(Cell::new(start, *at, false));
        self.stop(bytes, *at, ended)
    }

    /// A quoted cell; leaves `at` at what ends it.
    fn quoted(&mut self, bytes: &[u8], at: &mut usize, ended: bool, lines: &mut u64, stray: &mut Option<u32>) -> Stop {
        self.opened = *at;
        let start = *at + 1;
        let mut from = start;
        let mut escaped = false;
        let end = loop {
            let Some(quote) = find_quote(bytes, from) else {
                return Stop::Cut(if ended { Cut::Unclosed } else { Cut::Incomplete });
            };
            match bytes.get(quote + 1) {
                Some(b'"') => {
                    escaped = true;
                    from = quote + 2;
                }
                None if !ended => return Stop::Cut(Cut::Incomplete),
                _ => break quote,
            }
        };
        if memchr::memchr2(b'\n', b'\r', &bytes[start..end]).is_some() {
            *lines += crate::place::line_ends(&bytes[start..end]);
        }
        self.cells.push(Cell::new(start, end, escaped));
        *at = end + 1;
        match bytes.get(*at) {
            None | Some(b'\n' | b'\r') => self.stop(bytes, *at, ended),
            Some(&byte) if byte == self.delimiter => Stop::Delimiter,
            Some(_) => {
                stray.get_or_insert(*at as u32);
                self.plain(bytes, at, ended)
            }
        }
    }

    fn stop(&self, bytes: &[u8], at: usize, ended: bool) -> Stop {
        match (bytes.get(at), bytes.get(at + 1)) {
            (None, _) => Stop::Line(at),
            (Some(b'\n'), _) => Stop::Line(at + 1),
            (Some(b'\r'), Some(b'\n')) => Stop::Line(at + 2),
            (Some(b'\r'), None) if !ended => Stop::Cut(Cut::Incomplete),
            (Some(b'\r'), _) => Stop::Line(at + 1),
            (Some(_), _) => Stop::Delimiter,
        }
    }
}

/// The first quote at or after `from`. Cells with JSON in them have one every few bytes, so the first bytes are looked
/// at here, and only then in wide steps.
#[inline]
fn find_quote(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while at < from + 32 {
        let Some(Ok(word)) = bytes.get(at..at + 8).map(<[u8; 8]>::try_from) else { break };
        let marks = quote_marks(word);
        if marks != 0 {
            return Some(at + (marks.trailing_zeros() / 8) as usize);
        }
        at += 8;
    }
    memchr::memchr(b'"', &bytes[at..]).map(|more| at + more)
}

/// Appends a cell's text with one quote for every two.
pub(super) fn undouble(cell: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    while let Some(Ok(word)) = cell.get(at..at + 8).map(<[u8; 8]>::try_from) {
        let marks = quote_marks(word);
        out.extend_from_slice(&word);
        if marks == 0 {
            at += 8;
            continue;
        }
        let through = (marks.trailing_zeros() / 8) as usize + 1;
        out.truncate(out.len() - (8 - through));
        at += through + 1;
    }
    while let Some(&byte) = cell.get(at) {
        out.push(byte);
        at += if byte == b'"' { 2 } else { 1 };
    }
}

/// A high bit at the lowest quote; higher marks may be wrong, the lowest never is.
fn quote_marks(word: [u8; 8]) -> u64 {
    let word = u64::from_le_bytes(word) ^ 0x2222_2222_2222_2222;
    word.wrapping_sub(0x0101_0101_0101_0101) & !word & 0x8080_8080_8080_8080
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubled_quotes_become_one_at_every_offset() {
        for length in 0..40 {
            for at in 0..=length {
                for pairs in 1..4 {
                    let cell = format!("{}{}{}", "é".repeat(at), "\"\"".repeat(pairs), "b".repeat(length - at));
                    let mut out = b"before".to_vec();
                    undouble(cell.as_bytes(), &mut out);
                    assert_eq!(String::from_utf8(out).ok(), Some(format!("before{}", cell.replace("\"\"", "\""))));
                    assert_eq!(find_quote(cell.as_bytes(), 0), cell.find('"'));
                }
            }
        }
        assert_eq!(find_quote(b"no quote at all, and a long text too, longer than that", 3), None);
    }
}
