//! Text from files, made fit for a terminal: one line, no control characters, no reversed writing, not too long.

use heldset_core::fault::Excerpt;

/// How much of a text is shown.
const SHOWN: usize = 400;

/// The text as it may be printed.
pub(crate) fn line(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(SHOWN * 4));
    for (index, letter) in text.chars().enumerate() {
        if index == SHOWN {
            out.push('…');
            break;
        }
        match is_harmless(letter) {
            true => out.push(letter),
            false => out.extend(letter.escape_default()),
        }
    }
    out
}

/// The window on a source line, with its mark in the same place.
pub(crate) fn excerpt(excerpt: &Excerpt) -> Excerpt {
    let part = |from: usize, to: usize| -> String {
        let text = excerpt.text.get(from..to).unwrap_or_default();
        text.chars().map(|letter| if is_harmless(letter) || letter == '\t' { letter } else { '\u{fffd}' }).collect()
    };
    let (before, marked) = (part(0, excerpt.start), part(excerpt.start, excerpt.end));
    let after = part(excerpt.end, excerpt.text.len());
    let (start, end) = (before.len(), before.len() + marked.len());
    Excerpt { text: before + &marked + &after, start, end }
}

fn is_harmless(letter: char) -> bool {
    let turns_writing = matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !letter.is_control() && !turns_writing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_that_it_would_obey() {
        assert_eq!(line("a\u{1b}[31mb\nc\u{9b}d\u{202e}e"), "a\\u{1b}[31mb\\nc\\u{9b}d\\u{202e}e");
        assert_eq!(line(&"é".repeat(1000)).chars().count(), SHOWN + 1);
        let cleaned = excerpt(&Excerpt { text: "\u{1b}é\u{9b}x".into(), start: 3, end: 5 });
        assert_eq!(&cleaned.text[cleaned.start..cleaned.end], "\u{fffd}");
        assert_eq!(cleaned.text, "\u{fffd}é\u{fffd}x");
    }
}
