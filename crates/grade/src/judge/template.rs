//! Templates: `{name}` is replaced, `{{` and `}}` stand for braces, all else stays as it is.
//!
//! *Invariant:* one pass: what was put in is never looked at again.

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    Name(String),
}

/// The parts of a template. A brace group that is no name, such as an example in JSON, is text, its closing braces
/// included.
pub(crate) fn pieces(template: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut open = 0usize;
    let mut rest = template;
    while let Some(first) = rest.chars().next() {
        if let Some((name, after)) = name_at(rest) {
            pieces.push(Piece::Text(std::mem::take(&mut text)));
            pieces.push(Piece::Name(name.to_owned()));
            rest = after;
            continue;
        }
        let doubled = rest.starts_with("{{") || (open == 0 && rest.starts_with("}}"));
        match first {
            '{' if !doubled => open += 1,
            '}' if !doubled => open = open.saturating_sub(1),
            _ => {}
        }
        text.push(first);
        rest = &rest[first.len_utf8() * if doubled { 2 } else { 1 }..];
    }
    pieces.push(Piece::Text(text));
    pieces.retain(|piece| *piece != Piece::Text(String::new()));
    pieces
}

/// The names in a template.
pub(crate) fn names(template: &str) -> Vec<String> {
    let name = |piece| match piece {
        Piece::Name(name) => Some(name),
        Piece::Text(_) => None,
    };
    pieces(template).into_iter().filter_map(name).collect()
}

/// The name in braces that a text starts with, and what follows.
fn name_at(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('{')?;
    let (name, after) = inner.split_once('}')?;
    let mut letters = name.chars();
    let starts = letters.next().is_some_and(|first| first.is_alphabetic() || first == '_');
    let goes_on = letters.all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.'));
    (starts && goes_on).then_some((name, after))
}
