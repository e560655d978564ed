//! Cutting CSV bytes into rows and cells.

/// A cell: where its text is, and where it starts in the file's bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub(super) start: u32,
    pub(super) end: u32,
    /// Whether quotes are doubled in it.
    pub(super) escaped: bool,
}

/// A row: its cells and its bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) first_cell: u32,
    pub(super) cells: u32,
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
}

enum Stop {
    Delimiter,
    Line(usize),
    Cut(Cut),
}

impl Cutter {
    pub(super) fn new(delimiter: u8, line: u64) -> Self {
        Cutter { delimiter, cells: Vec::new(), rows: Vec::new(), ends: Vec::new(), line, first_line: line, opened: 0 }
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
        let next = loop {
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
        self.cells.push(Cell { start: start as u32, end: *at as u32, escaped: false });
        self.stop(bytes, *at, ended)
    }

    /// A quoted cell; leaves `at` at what ends it.
    fn quoted(&mut self, bytes: &[u8], at: &mut usize, ended: bool, lines: &mut u64, stray: &mut Option<u32>) -> Stop {
        self.opened = *at;
        let start = *at + 1;
        let mut from = start;
        let mut escaped = false;
        let end = loop {
            let Some(more) = memchr::memchr(b'"', &bytes[from..]) else {
                return Stop::Cut(if ended { Cut::Unclosed } else { Cut::Incomplete });
            };
            let quote = from + more;
            match bytes.get(quote + 1) {
                Some(b'"') => {
                    escaped = true;
                    from = quote + 2;
                }
                None if !ended => return Stop::Cut(Cut::Incomplete),
                _ => break quote,
            }
        };
        *lines += crate::place::line_ends(&bytes[start..end]);
        self.cells.push(Cell { start: start as u32, end: end as u32, escaped });
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
