//! Where in a text the part lies that a path names: only walked when there is a fault to show.

use super::read::Reader;
use crate::path::{Path, Step};

/// A range of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

/// Finds the value that `path` names in a JSON text. A path that goes on past what the text holds is
/// answered with its last part that exists. A text that cannot be read is answered with `None`.
pub fn locate(text: &str, path: &Path) -> Option<Span> {
    let mut reader = Reader::new(text, 0);
    let mut found = None;
    for step in path.steps() {
        reader.skip_space();
        let start = reader.at;
        let reached = match step {
            Step::Key(name) => enter_key(&mut reader, name),
            Step::Index(index) => enter_index(&mut reader, *index),
        };
        if reached.is_none() {
            reader.at = start;
            break;
        }
    }
    reader.skip_space();
    let start = reader.at;
    if reader.value(0).is_ok() {
        found = Some(Span { start, end: reader.at });
    }
    found
}

fn enter_key(reader: &mut Reader<'_>, name: &str) -> Option<()> {
    if reader.peek() != Some(b'{') {
        return None;
    }
    reader.at += 1;
    loop {
        let (key, _) = reader.key().ok()?;
        if key == name {
            return Some(());
        }
        next_item(reader)?;
    }
}

fn enter_index(reader: &mut Reader<'_>, index: usize) -> Option<()> {
    if reader.peek() != Some(b'[') {
        return None;
    }
    reader.at += 1;
    for _ in 0..index {
        next_item(reader)?;
    }
    Some(())
}

/// Passes over one value and the comma after it.
fn next_item(reader: &mut Reader<'_>) -> Option<()> {
    reader.value(0).ok()?;
    reader.skip_space();
    if reader.peek() != Some(b',') {
        return None;
    }
    reader.at += 1;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_to_its_text() {
        let text = r#" {"a": [1, {"b" : "x"}], "c":{}}"#;
        let at = |path: &Path| locate(text, path).map(|span| &text[span.start..span.end]);
        assert_eq!(at(&Path::key("a").then_index(1).then_key("b")), Some(r#""x""#));
        assert_eq!(at(&Path::key("a").then_index(0)), Some("1"));
        assert_eq!(at(&Path::key("c").then_key("gone")), Some("{}"));
        assert_eq!(at(&Path::key("gone")), Some(&text[1..]));
    }
}
