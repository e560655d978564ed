//! CSV bytes cut into cells, as the tokenizer of pandas cuts them.
//!
//! *Invariant:* lines of blanks are skipped, short rows are short, and only the first row may be longer than the header.

use super::super::refusal::Refusal;

/// The rows of a file, the header first.
pub(super) struct Table<'s> {
    source: &'s str,
    /// The text of cells that is not as it stands in the file.
    rewritten: String,
    cells: Vec<Cell>,
    /// Where each row ends among the cells.
    ends: Vec<usize>,
}

#[derive(Clone, Copy)]
struct Cell {
    start: u32,
    end: u32,
    /// Where the cell starts in the file.
    at: u32,
    rewritten: bool,
}

impl<'s> Table<'s> {
    /// Cuts a whole file.
    pub(super) fn cut(source: &'s str) -> Result<Self, Refusal> {
        let mut table = Table { source, rewritten: String::new(), cells: Vec::new(), ends: Vec::new() };
        let mut at = if source.starts_with('\u{feff}') { 3 } else { 0 };
        while at < source.len() {
            let start = at;
            at = match table.blank_line(at) {
                Some(next) => next,
                None => table.row(at)?,
            };
            table.check_width(start)?;
        }
        Ok(table)
    }

    /// How many rows there are, the header among them.
    pub(super) fn rows(&self) -> usize {
        self.ends.len()
    }

    /// How many cells a row has.
    pub(super) fn width(&self, row: usize) -> usize {
        self.range(row).len()
    }

    /// A cell; empty where the row is too short.
    pub(super) fn cell(&self, row: usize, column: usize) -> &str {
        let cell = self.range(row).nth(column).and_then(|index| self.cells.get(index));
        let Some(cell) = cell else { return "" };
        let text = if cell.rewritten { &self.rewritten } else { self.source };
        &text[cell.start as usize..cell.end as usize]
    }

    /// Where a cell starts in the file; where its row starts when it is not there.
    pub(super) fn place(&self, row: usize, column: usize) -> usize {
        let mut range = self.range(row);
        let first = range.start;
        let index = range.nth(column).unwrap_or(first);
        self.cells.get(index).map_or(0, |cell| cell.at as usize)
    }

    fn range(&self, row: usize) -> std::ops::Range<usize> {
        let start = row.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        start..self.ends.get(row).copied().unwrap_or(start)
    }

    /// The start of the next line when this one has only spaces and tabs.
    fn blank_line(&self, at: usize) -> Option<usize> {
        let rest = &self.source.as_bytes()[at..];
        let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        match rest.get(blanks) {
            None => Some(self.source.len()),
            Some(b'\n') => Some(at + blanks + 1),
            // After a blank line that ends in a lone `\r` the tokenizer loses a comma.
            Some(b'\r') => match rest.get(blanks + 1) {
                Some(b'\n' | b',') => Some(at + blanks + 2),
                _ => Some(at + blanks + 1),
            },
            Some(_) => None,
        }
    }

    fn line_end(&self, at: usize) -> usize {
        at + if self.source[at..].starts_with("\r\n") { 2 } else { 1 }
    }

    /// Cuts one row and gives the start of the next line.
    fn row(&mut self, start: usize) -> Result<usize, Refusal> {
        let mut at = start;
        loop {
            at = self.next_cell(at)?;
            match self.source.as_bytes().get(at) {
                Some(b',') => at += 1,
                end => {
                    self.ends.push(self.cells.len());
                    return Ok(if end.is_some() { self.line_end(at) } else { at });
                }
            }
        }
    }

    /// Cuts one cell and gives the place of what ends it.
    fn next_cell(&mut self, at: usize) -> Result<usize, Refusal> {
        if self.source.as_bytes().get(at) == Some(&b'"') {
            return self.quoted_cell(at);
        }
        let end = self.plain_end(at);
        self.cells.push(Cell { start: at as u32, end: end as u32, at: at as u32, rewritten: false });
        Ok(end)
    }

    fn plain_end(&self, at: usize) -> usize {
        let rest = &self.source.as_bytes()[at..];
        at + memchr::memchr3(b',', b'\n', b'\r', rest).unwrap_or(rest.len())
    }

    /// A quoted cell; what follows the closing quote belongs to it, up to the next comma.
    fn quoted_cell(&mut self, at: usize) -> Result<usize, Refusal> {
        let bytes = self.source.as_bytes();
        let first = self.closing_quote(at + 1, at)?;
        if !matches!(bytes.get(first + 1), Some(byte) if !matches!(byte, b',' | b'\n' | b'\r')) {
            self.cells.push(Cell { start: at as u32 + 1, end: first as u32, at: at as u32, rewritten: false });
            return Ok(first + 1);
        }
        let start = self.rewritten.len() as u32;
        self.rewritten.push_str(&self.source[at + 1..first]);
        let mut quote = first;
        while bytes.get(quote + 1) == Some(&b'"') {
            let next = self.closing_quote(quote + 2, at)?;
            self.rewritten.push_str(&self.source[quote + 1..next]);
            quote = next;
        }
        let end = self.plain_end(quote + 1);
        self.rewritten.push_str(&self.source[quote + 1..end]);
        self.cells.push(Cell { start, end: self.rewritten.len() as u32, at: at as u32, rewritten: true });
        Ok(end)
    }

    fn closing_quote(&self, from: usize, opened: usize) -> Result<usize, Refusal> {
        let rest = self.source.as_bytes().get(from..).unwrap_or_default();
        let quote = memchr::memchr(b'"', rest).map(|more| from + more);
        quote.ok_or_else(|| Refusal::new("ValueError", "a quote is not closed").at(opened))
    }

    /// The first row sets how many cells later ones may have.
    fn check_width(&self, start: usize) -> Result<(), Refusal> {
        let rows = self.rows();
        let most = self.width(0).max(self.width(1));
        if rows < 3 || self.width(rows - 1) <= most {
            return Ok(());
        }
        let why = format!("the row has {} cells, {most} are expected", self.width(rows - 1));
        let place = self.place(rows - 1, most).max(start);
        Err(Refusal::new("ValueError", why).at(place))
    }
}
