//! Tidy tests: the shape of the workspace, checked.
