//! Prefixes as ranges, so that a scan reads nothing but what it answers.
//!
//! *Invariant:* a text starts with the prefix exactly when it lies in the range, by the order of bytes.

/// The first text after all that start with `prefix`; nothing if there is none.
pub(super) fn end_of(prefix: &str) -> Option<String> {
    let mut end = prefix.to_owned();
    while let Some(last) = end.pop() {
        if let Some(next) = following(last) {
            end.push(next);
            return Some(end);
        }
    }
    None
}

fn following(character: char) -> Option<char> {
    match character {
        '\u{d7ff}' => Some('\u{e000}'),
        other => char::from_u32(u32::from(other) + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_end_of_a_prefix_has_its_last_character_raised() {
        for (prefix, end) in [
            ("", None),
            ("a", Some("b")),
            ("a%", Some("a&")),
            ("a\u{10ffff}", Some("b")),
            ("\u{10ffff}\u{10ffff}", None),
            ("\u{d7ff}", Some("\u{e000}")),
        ] {
            assert_eq!(end_of(prefix).as_deref(), end, "{prefix}");
        }
    }

    proptest! {
        #[test]
        fn a_text_lies_in_the_range_exactly_when_it_starts_with_the_prefix(prefix in ".{0,3}", text in ".{0,4}", joined in any::<bool>()) {
            let text = if joined { format!("{prefix}{text}") } else { text };
            let inside = text >= prefix && end_of(&prefix).is_none_or(|end| text < end);
            prop_assert_eq!(inside, text.starts_with(&prefix));
        }
    }
}
