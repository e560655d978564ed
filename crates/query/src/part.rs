//! Rows that lie together: their columns, as far as they may be seen.

use arrow::array::StringArray;
use heldset_core::query::Kind;
use heldset_core::value::Value;

use crate::cells::Cells;
use crate::error::QueryError;

/// Rows that lie together. A value is in the typed column of its field, or in a rest.
pub trait Part: Send + Sync {
    /// A name that no other part with other rows or columns has.
    fn key(&self) -> &str;

    /// How many rows there are.
    fn rows(&self) -> usize;

    /// The typed columns.
    fn columns(&self) -> &[(String, Kind)];

    /// One of them.
    fn column(&self, name: &str) -> Result<Cells, QueryError>;

    /// The ids.
    fn ids(&self) -> Result<StringArray, QueryError>;

    /// What no typed column holds: for each row a JSON mapping, or null.
    fn rests(&self) -> Result<Vec<StringArray>, QueryError>;

    /// Values below and above all of a typed column, if they are known.
    fn bounds(&self, name: &str) -> Option<(Value<'static>, Value<'static>)>;

    /// The rows with an id, if there is an index of ids.
    fn find_id(&self, id: &str) -> Result<Option<Vec<usize>>, QueryError>;

    /// Some of the rows, in ascending order, read apart from the others.
    fn some(&self, rows: &[usize]) -> Result<Box<dyn Part>, QueryError>;
}
