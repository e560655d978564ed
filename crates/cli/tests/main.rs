//! Everything about the command that is tested from outside.
