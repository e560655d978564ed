//! Builders and memory twins that the tests of several crates share. Never shipped.
