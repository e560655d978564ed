//! The names of what is written.

use super::csv::CsvWriter;
use super::letta_csv::LettaCsvWriter;
use super::parquet::ParquetWriter;
use super::rows::{JsonLinesWriter, JsonListWriter, RowWriter};
use super::table::TableWriter;

/// A kind of file that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// Canonical records, one per line.
    Jsonl,
    /// Canonical records as a list.
    Json,
    /// Canonical records as CSV, with their types beside it.
    Csv,
    /// Canonical records as Parquet.
    Parquet,
    /// A mas-lab manifest.
    Lab,
    /// Letta samples, one per line.
    LettaJsonl,
    /// Letta samples as CSV.
    LettaCsv,
    /// AgentHealth test cases.
    AgentHealth,
}

/// How a target is written.
pub enum Writer {
    /// Row by row.
    Rows(Box<dyn RowWriter>),
    /// Once all columns are known.
    Table(Box<dyn TableWriter>),
}

/// What a writer may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteOptions {
    /// Whether a schema can be written beside the file.
    pub typed: bool,
    /// Whether cells that a spreadsheet would take for formulas are guarded.
    pub for_spreadsheet: bool,
}

impl Target {
    /// Every target with its name on the command line.
    pub const ALL: &'static [(Target, &'static str)] = &[
        (Target::Jsonl, "jsonl"),
        (Target::Json, "json"),
        (Target::Csv, "csv"),
        (Target::Parquet, "parquet"),
        (Target::Lab, "lab"),
        (Target::LettaJsonl, "letta-jsonl"),
        (Target::LettaCsv, "letta-csv"),
        (Target::AgentHealth, "agenthealth"),
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        Target::ALL.iter().find(|(target, _)| *target == self).map_or("", |(_, name)| name)
    }
}

/// The writer of a target.
pub fn writer(target: Target, options: WriteOptions) -> Writer {
    match target {
        Target::Jsonl => Writer::Rows(Box::new(JsonLinesWriter)),
        Target::Json => Writer::Rows(Box::new(JsonListWriter)),
        Target::AgentHealth => Writer::Rows(Box::new(super::agenthealth::AgentHealthWriter)),
        Target::Csv => Writer::Table(Box::new(CsvWriter { options })),
        Target::LettaCsv => Writer::Table(Box::new(LettaCsvWriter { options })),
        Target::Parquet => Writer::Table(Box::new(ParquetWriter)),
        Target::Lab => Writer::Rows(Box::new(super::lab::LabWriter)),
        _ => Writer::Rows(Box::new(super::letta::LettaLinesWriter)),
    }
}
