//! AgentHealth test cases: import files, wrappers, and dumps of their index.

mod bulk;
mod context;
mod hit;
mod labels;
mod map;
mod plan;
mod stored;

pub(crate) use bulk::{BulkLines, is_action};
pub(crate) use map::AgentHealthMapper;
pub(crate) use plan::plan;
pub(crate) use stored::take_document_id;
