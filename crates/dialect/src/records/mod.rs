//! Plain records: every field as it is.

mod map;

pub(crate) use map::RecordsMapper;
