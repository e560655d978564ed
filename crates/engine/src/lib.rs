//! The verbs, one file each, and the ports they need.
