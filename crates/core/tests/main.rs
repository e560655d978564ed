//! Everything about `core` that is tested from outside.
