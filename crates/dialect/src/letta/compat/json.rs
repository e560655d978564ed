//! JSON as Python's `json.loads` reads it: NaN and the infinities, exact integers, the last of repeated keys.
//!
//! *Invariant:* nesting is kept on a stack of our own, so no input can exhaust the thread's.

use super::value::{MAX_DIGITS, PyDict, PyText, PyValue, canonical_digits};

/// Why a text is not a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct JsonFail {
    /// The byte where it shows.
    pub(super) at: usize,
    pub(super) kind: FailKind,
    /// What is wrong.
    pub(super) why: &'static str,
}

/// Which exception Python raises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailKind {
    /// `JSONDecodeError`.
    Syntax,
    /// `ValueError`, for an integer with too many digits.
    Digits,
    /// `RecursionError`.
    Depth,
}

/// Reads one value that fills `text`, with at most `depth` containers inside one another.
pub(super) fn read(text: &str, depth: usize) -> Result<PyValue, JsonFail> {
    if text.starts_with('\u{feff}') {
        return Err(JsonFail { at: 0, kind: FailKind::Syntax, why: "it starts with a byte order mark" });
    }
    let mut reader = Reader { text, at: 0, depth, open: Vec::new() };
    let value = reader.value()?;
    reader.skip_space();
    match reader.at == text.len() {
        true => Ok(value),
        false => Err(reader.fail("something follows the value")),
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    open: Vec<Open>,
}

/// A container that is not closed yet.
enum Open {
    List(Vec<PyValue>),
    Dict(PyDict, PyText),
}

impl Reader<'_> {
    fn value(&mut self) -> Result<PyValue, JsonFail> {
        loop {
            self.skip_space();
            let done = match self.peek() {
                Some(b'[') => self.open_list()?,
                Some(b'{') => self.open_dict()?,
                Some(b'"') => Some(PyValue::Str(self.string()?)),
                _ => Some(self.scalar()?),
            };
            let Some(mut value) = done else { continue };
            loop {
                let Some(open) = self.open.pop() else { return Ok(value) };
                match self.join(open, value)? {
                    Some(closed) => value = closed,
                    None => break,
                }
            }
        }
    }

    /// Enters a list; gives it when it is empty.
    fn open_list(&mut self) -> Result<Option<PyValue>, JsonFail> {
        self.enter()?;
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Some(PyValue::List(Vec::new())));
        }
        self.open.push(Open::List(Vec::new()));
        Ok(None)
    }

    /// Enters a mapping up to its first value; gives it when it is empty.
    fn open_dict(&mut self) -> Result<Option<PyValue>, JsonFail> {
        self.enter()?;
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Some(PyValue::Dict(PyDict::default())));
        }
        let key = self.key()?;
        self.open.push(Open::Dict(PyDict::default(), key));
        Ok(None)
    }

    fn enter(&mut self) -> Result<(), JsonFail> {
        if self.open.len() >= self.depth {
            return Err(JsonFail { at: self.at, kind: FailKind::Depth, why: "it is nested too deep" });
        }
        self.at += 1;
        self.skip_space();
        Ok(())
    }

    /// Puts a value into the container around it; gives the container when that closes it.
    fn join(&mut self, mut open: Open, value: PyValue) -> Result<Option<PyValue>, JsonFail> {
        self.skip_space();
        let next = self.peek();
        match &mut open {
            Open::List(items) => items.push(value),
            Open::Dict(dict, key) => dict.set(std::mem::take(key), value),
        }
        match (open, next) {
            (Open::List(items), Some(b']')) => {
                self.at += 1;
                Ok(Some(PyValue::List(items)))
            }
            (Open::Dict(dict, _), Some(b'}')) => {
                self.at += 1;
                Ok(Some(PyValue::Dict(dict)))
            }
            (Open::List(items), Some(b',')) => {
                self.at += 1;
                self.open.push(Open::List(items));
                Ok(None)
            }
            (Open::Dict(dict, _), Some(b',')) => {
                self.at += 1;
                self.skip_space();
                let key = self.key()?;
                self.open.push(Open::Dict(dict, key));
                Ok(None)
            }
            _ => Err(self.fail("a comma or the end of the container is missing")),
        }
    }

    /// A key and the colon after it.
    fn key(&mut self) -> Result<PyText, JsonFail> {
        if self.peek() != Some(b'"') {
            return Err(self.fail("a key in double quotes is missing"));
        }
        let key = self.string()?;
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.fail("a colon is missing after the key"));
        }
        self.at += 1;
        Ok(key)
    }

    fn scalar(&mut self) -> Result<PyValue, JsonFail> {
        const WORDS: [(&str, PyValue); 6] = [
            ("null", PyValue::None),
            ("true", PyValue::Bool(true)),
            ("false", PyValue::Bool(false)),
            ("NaN", PyValue::Float(f64::NAN)),
            ("Infinity", PyValue::Float(f64::INFINITY)),
            ("-Infinity", PyValue::Float(f64::NEG_INFINITY)),
        ];
        for (word, value) in WORDS {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        self.number()
    }

    fn number(&mut self) -> Result<PyValue, JsonFail> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut end = start + usize::from(bytes.get(start) == Some(&b'-'));
        let whole = end;
        end = match bytes.get(end) {
            Some(b'0') => end + 1,
            _ => self.digits_end(end),
        };
        if end == whole {
            return Err(self.fail("a value is missing"));
        }
        let whole_end = end;
        if bytes.get(end) == Some(&b'.') && self.digits_end(end + 1) > end + 1 {
            end = self.digits_end(end + 1);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let digits = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            if self.digits_end(digits) > digits {
                end = self.digits_end(digits);
            }
        }
        if end > whole_end {
            self.at = end;
            return Ok(PyValue::Float(self.text[start..end].parse().unwrap_or(f64::NAN)));
        }
        if whole_end - whole > MAX_DIGITS {
            return Err(JsonFail { at: start, kind: FailKind::Digits, why: "an integer has more than 4300 digits" });
        }
        self.at = end;
        Ok(PyValue::Int(canonical_digits(&self.text[start..end])))
    }

    fn digits_end(&self, from: usize) -> usize {
        let digits = self.text.as_bytes().iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
        from + digits
    }

    fn string(&mut self) -> Result<PyText, JsonFail> {
        let opening = self.at;
        self.at += 1;
        let mut text = PyText::default();
        loop {
            let from = self.at;
            let plain =
                self.text.as_bytes()[from..].iter().position(|&byte| byte < 0x20 || byte == b'"' || byte == b'\\');
            let Some(plain) = plain else {
                self.at = opening;
                return Err(self.fail("a string is not closed"));
            };
            text.push_str(&self.text[from..from + plain]);
            self.at = from + plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => self.escape(&mut text)?,
                _ => return Err(self.fail("a string holds a control character")),
            }
        }
    }

    fn escape(&mut self, text: &mut PyText) -> Result<(), JsonFail> {
        let plain = match self.text.as_bytes().get(self.at + 1) {
            Some(b'u') => return self.unicode_escape(text),
            Some(byte @ (b'"' | b'\\' | b'/')) => u32::from(*byte),
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => 10,
            Some(b'r') => 13,
            Some(b't') => 9,
            _ => return Err(self.fail("an escape is not known")),
        };
        text.push_code(plain);
        self.at += 2;
        Ok(())
    }

    fn unicode_escape(&mut self, text: &mut PyText) -> Result<(), JsonFail> {
        let mut unit = self.hex()?;
        self.at += 6;
        if (0xd800..0xdc00).contains(&unit) && self.text[self.at..].starts_with("\\u") {
            let low = self.hex()?;
            if (0xdc00..0xe000).contains(&low) {
                unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                self.at += 6;
            }
        }
        text.push_code(unit);
        Ok(())
    }

    fn hex(&self) -> Result<u32, JsonFail> {
        let digits = self.text.as_bytes().get(self.at + 2..self.at + 6);
        let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let unit = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        unit.ok_or_else(|| self.fail("an escape has not four hexadecimal digits"))
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn fail(&self, why: &'static str) -> JsonFail {
        JsonFail { at: self.at, kind: FailKind::Syntax, why }
    }
}
