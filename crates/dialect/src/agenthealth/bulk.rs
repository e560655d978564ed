//! A bulk dump: lines in pairs, an action and the document it is about.
//!
//! *Invariant:* actions are no rows; a row is a document, and its places are those of the document's line.

use heldset_core::code::Code;
use heldset_core::fault::{Excerpt, Fault, Place, Problem};
use heldset_core::json;
use heldset_core::path::Path;
use heldset_core::value::{Object, Value};

use super::stored::take_document_id;
use crate::blocks::{Block, Container, Look, RowError};
use crate::rows::json_block::JsonBlock;
use crate::rows::json_lines::JsonLines;

/// The documents of a bulk dump.
pub(crate) struct BulkLines {
    lines: JsonLines,
    rows: u64,
    /// The action whose document is on the next line.
    action: Option<Action>,
}

/// Some documents, each with the name its action gives it.
pub(crate) struct BulkBlock {
    documents: JsonBlock,
    names: Vec<Option<String>>,
}

struct Action {
    line: u64,
    name: Option<String>,
}

/// Whether a row only says that a document follows.
pub(crate) fn is_action(row: &Object<'_>) -> bool {
    let about = |meta: &Object<'_>| meta.is_empty() || meta.contains("_id") || meta.contains("_index");
    row.len() == 1
        && ["index", "create"].iter().any(|action| row.get(action).and_then(Value::as_object).is_some_and(about))
}

impl BulkLines {
    pub(crate) fn new(lines: JsonLines) -> Self {
        BulkLines { lines, rows: 0, action: None }
    }
}

impl Container for BulkLines {
    type Block = BulkBlock;

    fn next_block(&mut self) -> Result<Option<BulkBlock>, Box<Fault>> {
        let Some(mut documents) = self.lines.next_block()? else {
            return self.action.take().map_or(Ok(None), |action| Err(Box::new(without_document(&action))));
        };
        let mut names = Vec::new();
        let bytes = &documents.bytes;
        documents.rows.retain(|span| {
            let name = match self.action.take() {
                Some(action) => action.name,
                None => match action_on(&bytes[span.start..span.end], span.place.line) {
                    None => None,
                    found => {
                        self.action = found;
                        return false;
                    }
                },
            };
            names.push(name);
            true
        });
        documents.first_row = self.rows;
        self.rows += documents.rows.len() as u64;
        Ok(Some(BulkBlock { documents, names }))
    }

    fn bytes_read(&self) -> u64 {
        self.lines.bytes_read()
    }
}

impl Block for BulkBlock {
    fn first_row(&self) -> u64 {
        self.documents.first_row()
    }

    fn len(&self) -> usize {
        self.documents.len()
    }

    fn line(&self, row: usize) -> u64 {
        self.documents.line(row)
    }

    fn visit<'b>(&'b self, look: Look<'_>, visit: &mut dyn FnMut(usize, Result<Value<'b>, RowError>)) {
        self.documents.visit(look, &mut |row, mut value| {
            if let (Ok(case), Some(name)) = (&mut value, &self.names[row]) {
                take_document_id(case, name);
            }
            visit(row, value);
        });
    }

    fn locate(&self, row: usize, path: &Path) -> (Option<Place>, Option<Excerpt>) {
        self.documents.locate(row, path)
    }

    fn locate_offset(&self, row: usize, offset: usize) -> (Option<Place>, Option<Excerpt>) {
        self.documents.locate_offset(row, offset)
    }

    fn source(&self, row: usize) -> Vec<u8> {
        self.documents.source(row)
    }
}

fn action_on(line: &[u8], number: u64) -> Option<Action> {
    let Ok(Value::Object(row)) = json::read(std::str::from_utf8(line).ok()?) else { return None };
    if !is_action(&row) {
        return None;
    }
    let (_, meta) = row.entry(0)?;
    let name = meta.as_object().and_then(|meta| meta.get("_id")).and_then(Value::as_str).map(str::to_owned);
    Some(Action { line: number, name })
}

fn without_document(action: &Action) -> Fault {
    let problem = Problem::new(Code::E021, Path::root(), "no document follows this action")
        .help("a bulk dump has an action on one line and its document on the next");
    problem.at(Some(Place { line: action.line, column: 1 }), None)
}
