//! Classes of characters and escapes: what Python's `\w`, `\s`, `\d` and `[…]` mean.
//!
//! *Invariant:* every character that is meant literally is written so that the engine cannot take it for anything else.

use super::python::Translation;

/// A class that a letter stands for, to be written inside brackets.
pub(super) fn shorthand(letter: char, ascii: bool) -> Option<&'static str> {
    Some(match (letter, ascii) {
        ('d', false) => r"\p{Nd}",
        ('d', true) => "0-9",
        ('w', false) => r"\p{L}\p{N}_",
        ('w', true) => "a-zA-Z0-9_",
        ('s', false) => r"\s\x{1c}-\x{1f}",
        ('s', true) => r"\x{20}\x{9}-\x{d}",
        _ => return None,
    })
}

/// The class of `\d`, `\W` and so on, with brackets.
pub(super) fn bracketed(letter: char, ascii: bool) -> Option<String> {
    let members = shorthand(letter.to_ascii_lowercase(), ascii)?;
    Some(if letter.is_ascii_uppercase() { format!("[^{members}]") } else { format!("[{members}]") })
}

/// Appends a character that stands for itself.
pub(super) fn push_literal(out: &mut String, character: char) {
    if character.is_alphanumeric() || character == '_' || !character.is_ascii() {
        out.push(character);
    } else {
        out.push_str(&format!("\\x{{{:x}}}", u32::from(character)));
    }
}

/// One member of a class: a character, or a set that cannot be the end of a range.
enum Member {
    One(char),
    Set(String),
}

impl Translation<'_> {
    /// Writes the class whose bracket was just read.
    pub(super) fn class(&mut self, ascii: bool) -> Result<(), String> {
        self.out.push('[');
        if self.eat('^') {
            self.out.push('^');
        }
        let mut first = true;
        loop {
            let Some(character) = self.next() else { return Err("unterminated character set".to_owned()) };
            if character == ']' && !first {
                self.out.push(']');
                return Ok(());
            }
            first = false;
            let from = self.member(character, ascii)?;
            match self.range_end(ascii)? {
                None => match from {
                    Member::One(character) => push_literal(&mut self.out, character),
                    Member::Set(set) => self.out.push_str(&set),
                },
                Some(to) => self.range(from, to)?,
            }
        }
    }

    /// The member after a hyphen, if there is one.
    fn range_end(&mut self, ascii: bool) -> Result<Option<Member>, String> {
        if self.peek() != Some('-') || matches!(self.peek_at(1), Some(']') | None) {
            return Ok(None);
        }
        self.next();
        let character = self.next().ok_or("unterminated character set")?;
        self.member(character, ascii).map(Some)
    }

    fn range(&mut self, from: Member, to: Member) -> Result<(), String> {
        match (from, to) {
            (Member::One(from), Member::One(to)) if from <= to => {
                push_literal(&mut self.out, from);
                self.out.push('-');
                push_literal(&mut self.out, to);
                Ok(())
            }
            _ => Err("bad character range".to_owned()),
        }
    }

    fn member(&mut self, character: char, ascii: bool) -> Result<Member, String> {
        if character != '\\' {
            return Ok(Member::One(character));
        }
        let escaped = self.next().ok_or("bad escape at the end of the pattern")?;
        if let Some(set) = bracketed(escaped, ascii) {
            return Ok(Member::Set(set));
        }
        match escaped {
            'b' => Ok(Member::One('\u{8}')),
            'p' | 'P' if !self.strict => self.property(escaped).map(Member::Set),
            '0'..='7' => self.octal(escaped, 3).map(Member::One),
            _ => self.escaped_character(escaped).map(Member::One),
        }
    }

    /// `\p{…}`, as it stands.
    pub(super) fn property(&mut self, letter: char) -> Result<String, String> {
        let mut property = format!("\\{letter}");
        while let Some(character) = self.next() {
            property.push(character);
            if character == '}' || (property.len() == 3 && character != '{') {
                return Ok(property);
            }
        }
        Err(format!("bad escape \\{letter}"))
    }

    /// The character of an escape that stands for one.
    pub(super) fn escaped_character(&mut self, escaped: char) -> Result<char, String> {
        Ok(match escaped {
            'a' => '\u{7}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            'x' => self.hexadecimal('x', 2)?,
            'u' => self.hexadecimal('u', 4)?,
            'U' => self.hexadecimal('U', 8)?,
            letter if letter.is_ascii_alphanumeric() => return Err(format!("bad escape \\{letter}")),
            other => other,
        })
    }

    fn hexadecimal(&mut self, letter: char, digits: usize) -> Result<char, String> {
        let mut code = 0u32;
        for _ in 0..digits {
            let digit = self.peek().and_then(|digit| digit.to_digit(16));
            code = code * 16 + digit.ok_or_else(|| format!("incomplete escape \\{letter}"))?;
            self.next();
        }
        char::from_u32(code).ok_or_else(|| format!("bad escape \\{letter}"))
    }

    /// An octal escape of at most `digits` digits, of which the first was read.
    pub(super) fn octal(&mut self, first: char, digits: usize) -> Result<char, String> {
        let mut code = first.to_digit(8).unwrap_or_default();
        for _ in 1..digits {
            let Some(digit) = self.peek().and_then(|digit| digit.to_digit(8)) else { break };
            code = code * 8 + digit;
            self.next();
        }
        char::from_u32(code).filter(|_| code <= 0o377).ok_or_else(|| "octal escape out of range".to_owned())
    }
}
