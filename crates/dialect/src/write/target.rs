//! The names of what is written.

use super::rows::{JsonLinesWriter, JsonListWriter, RowWriter};

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
pub fn writer(target: Target) -> Writer {
    match target {
        Target::Jsonl => Writer::Rows(Box::new(JsonLinesWriter)),
        Target::Json => Writer::Rows(Box::new(JsonListWriter)),
        Target::Lab => Writer::Rows(Box::new(super::lab::LabWriter)),
        _ => Writer::Rows(Box::new(super::letta::LettaLinesWriter)),
    }
}
