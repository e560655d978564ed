//! From the syntax of Python's `re` to that of the engine.
//!
//! *Invariant:* what Python refuses is refused, and what means something else to the engine is written differently:
//! `$` before a final newline, `\Z`, braces that are no repetition, brackets in classes, octal escapes.

use std::iter::Peekable;
use std::vec::IntoIter;

use super::class::{bracketed, push_literal, shorthand};
use super::width::Width;

const DEEPEST: usize = 100;

/// A translation in progress.
pub(super) struct Translation<'p> {
    chars: Peekable<IntoIter<char>>,
    source: &'p str,
    pub(super) out: String,
    pub(super) strict: bool,
    /// What each group can match, once it is closed.
    pub(super) groups: Vec<Option<Width>>,
    pub(super) names: Vec<String>,
    /// The places of the names among the groups.
    pub(super) named_places: Vec<usize>,
}

/// The flags that change what characters of a pattern mean.
#[derive(Clone, Copy, Default)]
pub(super) struct Flags {
    ascii: bool,
    multiline: bool,
    dot_all: bool,
    verbose: bool,
}

/// What stands before a repetition.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Last {
    Nothing,
    Item(Width),
    Repetition(Width),
}

/// The pattern in the syntax of the engine.
pub(super) fn translate(pattern: &str, strict: bool) -> Result<String, String> {
    let chars = pattern.chars().collect::<Vec<_>>().into_iter().peekable();
    let mut translation = Translation {
        chars,
        source: pattern,
        out: String::new(),
        strict,
        groups: Vec::new(),
        names: Vec::new(),
        named_places: Vec::new(),
    };
    let flags = translation.global_flags()?;
    translation.alternatives(flags, 0)?;
    match translation.next() {
        None => Ok(translation.out),
        Some(_) => Err("unbalanced parenthesis".to_owned()),
    }
}

impl Translation<'_> {
    pub(super) fn next(&mut self) -> Option<char> {
        self.chars.next()
    }

    pub(super) fn peek(&mut self) -> Option<char> {
        self.chars.peek().copied()
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<char> {
        self.chars.clone().nth(ahead)
    }

    pub(super) fn eat(&mut self, wanted: char) -> bool {
        self.chars.next_if_eq(&wanted).is_some()
    }

    fn skip(&mut self, count: usize) {
        for _ in 0..count {
            self.next();
        }
    }

    pub(super) fn until(&mut self, end: char) -> Option<String> {
        let mut text = String::new();
        loop {
            match self.next()? {
                character if character == end => return Some(text),
                character => text.push(character),
            }
        }
    }

    /// `(?flags)` at the very start holds for the whole pattern.
    fn global_flags(&mut self) -> Result<Flags, String> {
        let mut flags = Flags::default();
        let letters = self.source.strip_prefix("(?").and_then(|rest| rest.split_once(')')).map(|(letters, _)| letters);
        let Some(letters) = letters.filter(|letters| !letters.is_empty() && letters.chars().all(is_flag)) else {
            return Ok(flags);
        };
        for letter in letters.chars() {
            flags.turn(letter, true)?;
        }
        if letters.contains('i') {
            self.out.push_str("(?i)");
        }
        self.skip(letters.len() + 3);
        Ok(flags)
    }

    /// Everything up to the end, or to the parenthesis that closes the group: what it can match, and how many
    /// alternatives it has.
    pub(super) fn alternatives(&mut self, flags: Flags, depth: usize) -> Result<(Width, usize), String> {
        if depth > DEEPEST {
            return Err("groups are nested too deep".to_owned());
        }
        let (mut last, mut whole, mut branches) = (Last::Nothing, None, 1);
        let (mut before, mut sum, mut item_at) = (Width::NONE, Width::NONE, 0);
        while let Some(character) = self.peek().filter(|character| *character != ')') {
            self.next();
            if self.skipped(character, flags)? {
                continue;
            }
            let from = self.out.len();
            if let ('*' | '+' | '?' | '{', Last::Item(Width::NONE)) = (character, last) {
                // Python lets what is empty be repeated, the engine only as a part of something else.
                self.out.insert_str(item_at, "(?:");
                self.out.push_str("|(?!))");
            }
            last = match character {
                '|' => {
                    self.out.push('|');
                    whole = Some(sum.or(whole));
                    (before, sum, branches) = (Width::NONE, Width::NONE, branches + 1);
                    Last::Nothing
                }
                '*' => self.repetition("*", 0, None, last)?,
                '+' => self.repetition("+", 1, None, last)?,
                '?' => self.repetition("?", 0, Some(1), last)?,
                '{' => self.brace(last)?,
                '(' => self.group(flags, depth)?,
                other => self.item(other, flags)?,
            };
            match last {
                Last::Item(width) => (before, sum, item_at) = (sum, sum.then(width), from),
                Last::Repetition(width) => sum = before.then(width),
                Last::Nothing => {}
            }
        }
        Ok((sum.or(whole), branches))
    }

    /// Skips a comment, or white space where it does not count.
    fn skipped(&mut self, character: char, flags: Flags) -> Result<bool, String> {
        match character {
            '#' if flags.verbose => {
                self.until('\n');
            }
            space if flags.verbose && space.is_ascii_whitespace() => {}
            '(' if self.peek() == Some('?') && self.peek_at(1) == Some('#') => {
                self.until(')').ok_or("missing ), unterminated comment")?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn item(&mut self, character: char, flags: Flags) -> Result<Last, String> {
        match character {
            '^' => self.anchor(if flags.multiline { "(?m:^)" } else { r"\A" }),
            '$' => self.anchor(if flags.multiline { "(?m:$)" } else { r"(?=\n?\z)" }),
            '.' => {
                self.out.push_str(if flags.dot_all { "(?s:.)" } else { r"[^\n]" });
                Ok(Last::Item(Width::ONE))
            }
            '[' => self.class(flags.ascii).map(|()| Last::Item(Width::ONE)),
            '\\' => self.escape(flags),
            other => {
                push_literal(&mut self.out, other);
                Ok(Last::Item(Width::ONE))
            }
        }
    }

    fn anchor(&mut self, anchor: &str) -> Result<Last, String> {
        self.out.push_str(anchor);
        Ok(Last::Nothing)
    }

    /// A brace is a repetition when it has the form of one, and stands for itself otherwise.
    fn brace(&mut self, last: Last) -> Result<Last, String> {
        let ahead: String = self.chars.clone().take_while(|character| *character != '}').take(24).collect();
        let closed = self.chars.clone().nth(ahead.chars().count()) == Some('}');
        let (low, high) = ahead.split_once(',').unwrap_or((&ahead, &ahead));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if ahead.is_empty() || !closed || !digits(low) || !digits(high) {
            push_literal(&mut self.out, '{');
            return Ok(Last::Item(Width::ONE));
        }
        self.skip(ahead.chars().count() + 1);
        let number = |text: &str| text.parse::<u32>().map_err(|_| "the repetition number is too large".to_owned());
        let low = if low.is_empty() { 0 } else { number(low)? };
        let high = if high.is_empty() { None } else { Some(number(high)?) };
        if high.is_some_and(|high| high < low) {
            return Err("min repeat greater than max repeat".to_owned());
        }
        let most = high.map(|high| high.to_string()).unwrap_or_default();
        self.repetition(&format!("{{{low},{most}}}"), low, high, last)
    }

    fn repetition(&mut self, written: &str, low: u32, high: Option<u32>, last: Last) -> Result<Last, String> {
        let width = match last {
            Last::Nothing => return Err("nothing to repeat".to_owned()),
            Last::Repetition(_) => return Err("multiple repeat".to_owned()),
            Last::Item(width) => width.times(low, high),
        };
        self.out.push_str(written);
        if self.eat('?') {
            self.out.push('?');
        } else if self.eat('+') {
            self.out.push('+');
        }
        Ok(Last::Repetition(width))
    }

    fn escape(&mut self, flags: Flags) -> Result<Last, String> {
        let escaped = self.next().ok_or("bad escape at the end of the pattern")?;
        if let Some(class) = bracketed(escaped, flags.ascii) {
            self.out.push_str(&class);
            return Ok(Last::Item(Width::ONE));
        }
        match escaped {
            'A' => self.anchor(r"\A"),
            'Z' => self.anchor(r"\z"),
            'z' if !self.strict => self.anchor(r"\z"),
            'b' | 'B' => {
                let word = shorthand('w', flags.ascii).unwrap_or_default();
                let (here, there) = if escaped == 'b' { ("!", "=") } else { ("=", "!") };
                self.anchor(&format!("(?:(?<=[{word}])(?{here}[{word}])|(?<![{word}])(?{there}[{word}]))"))
            }
            'p' | 'P' if !self.strict => {
                let property = self.property(escaped)?;
                self.out.push_str(&property);
                Ok(Last::Item(Width::ONE))
            }
            '0'..='9' => self.numbered(escaped),
            _ => {
                let character = self.escaped_character(escaped)?;
                push_literal(&mut self.out, character);
                Ok(Last::Item(Width::ONE))
            }
        }
    }

    /// An octal escape, or a reference to a group.
    fn numbered(&mut self, first: char) -> Result<Last, String> {
        let octal = |digit: Option<char>| digit.is_some_and(|digit| digit.is_digit(8));
        if first == '0' || (first <= '3' && octal(self.peek()) && octal(self.peek_at(1))) {
            let character = self.octal(first, 3)?;
            push_literal(&mut self.out, character);
            return Ok(Last::Item(Width::ONE));
        }
        let mut group = first.to_digit(10).unwrap_or_default() as usize;
        if let Some(digit) = self.peek().and_then(|digit| digit.to_digit(10)) {
            group = group * 10 + digit as usize;
            self.next();
        }
        let known = group.checked_sub(1).and_then(|place| self.groups.get(place));
        let known = known.ok_or_else(|| format!("invalid group reference {group}"))?;
        let width = known.ok_or("cannot refer to an open group")?;
        self.out.push_str(&format!("(?:\\{group})"));
        Ok(Last::Item(width))
    }
}

impl Flags {
    pub(super) fn turn(&mut self, letter: char, on: bool) -> Result<(), String> {
        match letter {
            'a' => self.ascii = on,
            'u' => self.ascii = !on,
            'm' => self.multiline = on,
            's' => self.dot_all = on,
            'x' => self.verbose = on,
            'L' => return Err("cannot use LOCALE flag with a str pattern".to_owned()),
            _ => {}
        }
        Ok(())
    }
}

pub(super) fn is_flag(letter: char) -> bool {
    "aiLmsux".contains(letter)
}
