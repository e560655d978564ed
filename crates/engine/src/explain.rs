//! `explain`: what a code means, when it appears, and what to do.

use heldset_core::code::Code;
use heldset_core::fault::nearest;

/// The page of a code.
pub struct Page {
    /// The code.
    pub code: Code,
    /// What is wrong, in a few words.
    pub title: &'static str,
    /// The whole page, as Markdown.
    pub text: &'static str,
}

/// Finds the code of that name; the nearest one's name otherwise.
pub fn explain(name: &str) -> Result<Page, Option<&'static str>> {
    match Code::parse(name) {
        Some(code) => Ok(Page { code, title: code.title(), text: heldset_core::code::page(code) }),
        None => Err(nearest(&name.to_ascii_uppercase(), Code::ALL.iter().map(|code| code.name()))),
    }
}
