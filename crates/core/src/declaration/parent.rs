//! Parents: the versions and runs that a dataset is made of, as they are cited.

use std::fmt;

use crate::cite::{Cite, CiteError};

/// What a dataset is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parent {
    /// A version of a dataset, as it is cited: `dataset:autogo-openings@v3`.
    Dataset(Cite),
    /// A run: `run:autogo-train-8421`.
    Run(String),
}

impl Parent {
    /// Reads a parent; nothing where the text has no known prefix or names no run.
    pub fn parse(text: &str) -> Option<Result<Parent, CiteError>> {
        match text.split_once(':')? {
            ("dataset", cite) => Some(cite.parse().map(Parent::Dataset)),
            ("run", run) if !run.is_empty() => Some(Ok(Parent::Run(run.to_owned()))),
            _ => None,
        }
    }
}

impl fmt::Display for Parent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Parent::Dataset(cite) => write!(out, "dataset:{cite}"),
            Parent::Run(run) => write!(out, "run:{run}"),
        }
    }
}
