//! The names of what is read.

use std::fmt;

/// A family of files that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// mas-lab manifests.
    Lab,
    /// Letta Evals JSONL and CSV.
    Letta,
    /// AgentHealth test cases.
    AgentHealth,
    /// Plain records.
    Records,
}

impl Format {
    /// Every format.
    pub const ALL: &'static [Format] = &[Format::Lab, Format::Letta, Format::AgentHealth, Format::Records];

    /// The name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Format::Lab => "lab",
            Format::Letta => "letta",
            Format::AgentHealth => "agenthealth",
            Format::Records => "records",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}
