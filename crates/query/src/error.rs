//! What can go wrong while a query is answered.

use std::error::Error;

use datafusion::error::DataFusionError;
use thiserror::Error;

/// Why a query is not answered.
#[derive(Debug, Error)]
pub enum QueryError {
    /// The columns could not be read.
    #[error("{0}")]
    Source(Box<dyn Error + Send + Sync>),
    /// A name that no table has.
    #[error("there is no table `{name}`")]
    UnknownTable {
        /// The name.
        name: String,
    },
    /// A name that no column has.
    #[error("there is no field `{name}`")]
    UnknownField {
        /// The name.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// SQL that does something else than read, or more than one thing.
    #[error("{0}")]
    Refused(String),
    /// SQL that cannot be understood or carried out.
    #[error("{0}")]
    Invalid(String),
}

impl QueryError {
    /// Columns that could not be read, for a reason of theirs.
    pub fn source(error: impl Error + Send + Sync + 'static) -> Self {
        QueryError::Source(Box::new(error))
    }
}

impl From<QueryError> for DataFusionError {
    fn from(error: QueryError) -> Self {
        DataFusionError::External(Box::new(error))
    }
}

impl From<arrow::error::ArrowError> for QueryError {
    fn from(error: arrow::error::ArrowError) -> Self {
        QueryError::Invalid(error.to_string())
    }
}
