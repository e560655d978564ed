//! Everything about `dialect` that is tested from outside.
