//! Tidy tests: the shape of the workspace, checked by `tests/`.
//!
//! *Invariant:* nothing here is shipped, and nothing here changes a file.
