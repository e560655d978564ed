//! Filters, pages and SQL over the columns of a view.
//!
//! *Invariant:* knows neither users nor where bytes lie: what a part does not offer does not exist here. What a filter
//! means is said by `core::filter`; this crate only answers sooner.

mod cache;
mod cell_value;
mod cells;
mod error;
mod fields;
mod held;
mod json_functions;
mod page;
mod part;
mod prune;
mod select;
mod sort;
mod sql;
mod table;
mod take;
mod values;

pub use cache::Cache;
pub use cells::Cells;
pub use error::QueryError;
pub use fields::{Fields, fields_of};
pub use held::Rows;
pub use page::{Page, page};
pub use part::Part;
pub use sql::{Answer, Statement, Tables};
pub use table::Table;
pub use take::Few;
