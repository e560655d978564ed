//! The one `main`.
fn main() {}
