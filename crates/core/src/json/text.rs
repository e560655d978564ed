//! Strings: plain ones are borrowed, escaped ones are unescaped, lone surrogates are refused.

use std::borrow::Cow;

use super::read::{JsonError, JsonProblem, Reader};
use super::scan::plain_run;

impl<'a> Reader<'a> {
    /// A string whose opening quote is next.
    #[inline]
    pub(super) fn string(&mut self) -> Result<Cow<'a, str>, Box<JsonError>> {
        let start = self.at + 1;
        let end = plain_run(self.bytes, start);
        if self.bytes.get(end) == Some(&b'"') {
            self.at = end + 1;
            return Ok(Cow::Borrowed(&self.text[start..end]));
        }
        self.escaped_string(start, end)
    }

    /// Passes over a string whose opening quote is next.
    #[inline]
    pub(super) fn skim_string(&mut self) -> Result<(), Box<JsonError>> {
        let start = self.at + 1;
        let end = plain_run(self.bytes, start);
        if self.bytes.get(end) == Some(&b'"') {
            self.at = end + 1;
            return Ok(());
        }
        self.escaped_string(start, end).map(|_| ())
    }

    #[cold]
    fn escaped_string(&mut self, start: usize, first: usize) -> Result<Cow<'a, str>, Box<JsonError>> {
        let mut text = String::with_capacity(first - start + 32);
        let (mut from, mut end) = (start, first);
        loop {
            text.push_str(&self.text[from..end]);
            self.at = end;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Cow::Owned(text));
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(_) => return Err(self.syntax("an escaped control character")),
                None => return Err(self.syntax("the closing quote of the text")),
            }
            from = self.at;
            end = plain_run(self.bytes, from);
        }
    }

    /// An escape whose backslash is next.
    fn escape(&mut self) -> Result<char, Box<JsonError>> {
        let start = self.at;
        let letter = self.bytes.get(start + 1).copied();
        self.at += 2;
        Ok(match letter {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(start),
            _ => {
                self.at = start;
                return Err(self.syntax("an escape such as `\\n` or `\\u0041`"));
            }
        })
    }

    fn unicode_escape(&mut self, start: usize) -> Result<char, Box<JsonError>> {
        let high = self.four_hex()?;
        let code = match high {
            0xd800..=0xdbff => {
                if self.bytes.get(self.at..self.at + 2) != Some(b"\\u") {
                    return Err(self.error_at(start, JsonProblem::LoneSurrogate));
                }
                self.at += 2;
                let low = self.four_hex()?;
                if !(0xdc00..=0xdfff).contains(&low) {
                    return Err(self.error_at(start, JsonProblem::LoneSurrogate));
                }
                0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)
            }
            _ => high,
        };
        char::from_u32(code).ok_or_else(|| self.error_at(start, JsonProblem::LoneSurrogate))
    }

    fn four_hex(&mut self) -> Result<u32, Box<JsonError>> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| (byte as char).to_digit(16));
            let Some(digit) = digit else { return Err(self.syntax("four hexadecimal digits")) };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }
}
