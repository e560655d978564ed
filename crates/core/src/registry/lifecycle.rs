//! The lifecycle of a dataset: draft, active, published, deprecated, archived, and the moves between them.
//!
//! *Invariant:* a move that is not in the table does not happen, whoever asks for it.

use thiserror::Error;

/// Where in its life a dataset is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// It is being described; there is nothing to ask yet.
    Draft,
    /// It can be used.
    Active,
    /// It is certified and recommended.
    Published,
    /// It can be used, and will be retired.
    Deprecated,
    /// It is kept for lineage only.
    Archived,
}

/// A move that the lifecycle does not have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("a dataset that is `{}` cannot become `{}`", from.name(), to.name())]
pub struct ForbiddenMove {
    /// What it is.
    pub from: Status,
    /// What it should become.
    pub to: Status,
}

impl Status {
    /// Every status, in the order of a life.
    pub const ALL: [Status; 5] =
        [Status::Draft, Status::Active, Status::Published, Status::Deprecated, Status::Archived];

    /// The names, for rules and help.
    pub const NAMES: &'static [&'static str] = &["draft", "active", "published", "deprecated", "archived"];

    /// The name.
    pub fn name(self) -> &'static str {
        Status::NAMES[self as usize]
    }

    /// The status of that name.
    pub fn parse(name: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.name() == name)
    }

    /// What it can become.
    pub fn moves(self) -> &'static [Status] {
        match self {
            Status::Draft => &[Status::Active],
            Status::Active => &[Status::Published, Status::Archived],
            Status::Published => &[Status::Active, Status::Deprecated],
            Status::Deprecated => &[Status::Archived],
            Status::Archived => &[],
        }
    }

    /// Whether it may become `to`; staying what it is is no move.
    pub fn may_become(self, to: Status) -> Result<(), ForbiddenMove> {
        if self == to || self.moves().contains(&to) { Ok(()) } else { Err(ForbiddenMove { from: self, to }) }
    }

    /// What a new version or schema makes of it: a draft becomes usable, and what was certified is another thing now.
    #[must_use]
    pub fn renewed(self) -> Status {
        match self {
            Status::Draft | Status::Published => Status::Active,
            other => other,
        }
    }

    /// Whether it can be queried and run.
    pub fn answers(self) -> bool {
        matches!(self, Status::Active | Status::Published | Status::Deprecated)
    }
}

impl ForbiddenMove {
    /// What is allowed instead.
    pub fn allowed(&self) -> String {
        let names: Vec<String> = self.from.moves().iter().map(|to| format!("`{}`", to.name())).collect();
        match names.as_slice() {
            [] => format!("`{}` is the last status, and nothing follows it", self.from.name()),
            names => format!("from `{}` it can become {}", self.from.name(), names.join(" or ")),
        }
    }
}
