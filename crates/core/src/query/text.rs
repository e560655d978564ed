//! Filters as people write them: `category = "x" and (score > 0.8 or not tags contains "new")`.
//!
//! *Invariant:* a text that cannot be read is told with the place where it stops making sense; nothing is guessed.

use crate::filter::{Filter, Operator, Test};
use crate::json;
use crate::number::Number;
use crate::value::Value;

/// Where and why a text is no filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhereError {
    /// The first byte that does not fit.
    pub start: usize,
    /// The byte after the last that does not.
    pub end: usize,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// How deep brackets and `not` may nest.
const MAX_DEPTH: usize = 64;

/// Reads a filter.
pub fn parse_where(text: &str) -> Result<Filter, WhereError> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0, end: text.len() };
    let filter = parser.any(0)?;
    match parser.tokens.get(parser.at) {
        None => Ok(filter),
        Some(token) => Err(token.error("here the filter should end, or go on with `and` or `or`", "")),
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    /// A bare word.
    Word(String),
    /// A name in backticks.
    Name(String),
    Text(String),
    Number(Number),
    Symbol(&'static str),
}

#[derive(Clone, Debug)]
struct Token {
    part: Part,
    start: usize,
    end: usize,
}

impl Token {
    fn error(&self, message: impl Into<String>, help: impl Into<String>) -> WhereError {
        WhereError { start: self.start, end: self.end, message: message.into(), help: help.into() }
    }

    /// The bare word it is, in lower case.
    fn word(&self) -> Option<String> {
        if let Part::Word(word) = &self.part { Some(word.to_ascii_lowercase()) } else { None }
    }
}

const SYMBOLS: &[&str] = &["<=", ">=", "!=", "<>", "==", "=", "<", ">", "(", ")", "[", "]", ","];

fn tokens(text: &str) -> Result<Vec<Token>, WhereError> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let start = at;
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let part = if let Some(symbol) = SYMBOLS.iter().find(|symbol| text[at..].starts_with(**symbol)) {
            at += symbol.len();
            Part::Symbol(symbol)
        } else if matches!(first, '"' | '\'' | '`') {
            let (part, end) = quoted(text, at, first)?;
            at = end;
            part
        } else {
            let rest = &text[at..];
            let ends = |letter: char| letter.is_whitespace() || "()[],<>=!\"'`".contains(letter);
            at += rest.find(ends).unwrap_or(rest.len()).max(first.len_utf8());
            bare(&text[start..at], start)?
        };
        found.push(Token { part, start, end: at });
    }
    Ok(found)
}

/// A text or a name in quotes, and where it ends.
fn quoted(text: &str, start: usize, quote: char) -> Result<(Part, usize), WhereError> {
    let unclosed = || WhereError {
        start,
        end: text.len(),
        message: format!("a quote `{quote}` is opened and never closed"),
        help: format!("close it with `{quote}`"),
    };
    if quote == '"' {
        let mut escaped = false;
        for (offset, letter) in text[start + 1..].char_indices() {
            match letter {
                '"' if !escaped => {
                    let end = start + 1 + offset + 1;
                    let read = json::read(&text[start..end]);
                    let read = read.ok().and_then(|value| value.as_str().map(str::to_owned));
                    let wrong = || WhereError {
                        start,
                        end,
                        message: "the text between the quotes is not written as JSON text is".to_owned(),
                        help: "write `\\\\` for a backslash, or use single quotes: 'C:\\dir'".to_owned(),
                    };
                    return Ok((Part::Text(read.ok_or_else(wrong)?), end));
                }
                '\\' => escaped = !escaped,
                _ => escaped = false,
            }
        }
        return Err(unclosed());
    }
    // A doubled quote stands for itself.
    let (mut out, mut at) = (String::new(), start + 1);
    loop {
        let offset = text[at..].find(quote).ok_or_else(unclosed)?;
        out.push_str(&text[at..at + offset]);
        at += offset + 1;
        if !text[at..].starts_with(quote) {
            break;
        }
        out.push(quote);
        at += 1;
    }
    Ok((if quote == '`' { Part::Name(out) } else { Part::Text(out) }, at))
}

fn bare(word: &str, start: usize) -> Result<Part, WhereError> {
    let first = word.chars().next().unwrap_or(' ');
    let error =
        |message: String, help: &str| WhereError { start, end: start + word.len(), message, help: help.to_owned() };
    if first.is_ascii_digit() || matches!(first, '-' | '+' | '.') && word.len() > 1 {
        let number = match json::read(word) {
            Ok(Value::Number(number)) => Some(number),
            _ => None,
        };
        let help = "write numbers as `12`, `-0.5` or `1e6`, and put text in quotes";
        return number.map(Part::Number).ok_or_else(|| error(format!("`{word}` is not a number"), help));
    }
    if first.is_alphabetic() || first == '_' {
        return Ok(Part::Word(word.to_owned()));
    }
    Err(error(format!("`{word}` cannot stand here"), "put text in quotes, and odd names of fields in backticks"))
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    end: usize,
}

impl Parser {
    fn any(&mut self, depth: usize) -> Result<Filter, WhereError> {
        let mut parts = vec![self.all(depth)?];
        while self.takes_word("or") {
            parts.push(self.all(depth)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Filter::Or(parts) })
    }

    fn all(&mut self, depth: usize) -> Result<Filter, WhereError> {
        let mut parts = vec![self.one(depth)?];
        while self.takes_word("and") {
            parts.push(self.one(depth)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Filter::And(parts) })
    }

    fn one(&mut self, depth: usize) -> Result<Filter, WhereError> {
        if depth > MAX_DEPTH {
            return Err(self.here("brackets nest too deep", "write it flatter"));
        }
        if self.takes_word("not") {
            return Ok(Filter::Not(Box::new(self.one(depth + 1)?)));
        }
        if self.takes_symbol("(") {
            let inner = self.any(depth + 1)?;
            if !self.takes_symbol(")") {
                return Err(self.here("a bracket is opened and not closed here", "close it with `)`"));
            }
            return Ok(inner);
        }
        self.test()
    }

    fn test(&mut self) -> Result<Filter, WhereError> {
        let field = match self.tokens.get(self.at).map(|token| &token.part) {
            Some(Part::Word(word)) => word.clone(),
            Some(Part::Name(name)) => name.clone(),
            Some(Part::Text(text)) => {
                let help = format!("put the field first and in backticks if it is odd: `{text}`");
                return Err(self.here("a text stands where a field should", help));
            }
            _ => return Err(self.here("a field should stand here", "write `field = value`")),
        };
        self.at += 1;
        let negated = self.takes_word("not");
        let operator = self.operator(&field, negated)?;
        let test = match operator {
            None => {
                // `is null`, `is not null`
                let not = self.takes_word("not");
                if !self.takes_word("null") {
                    return Err(self.here("after `is` comes `null` or `not null`", format!("write `{field} is null`")));
                }
                let operator = if not { Operator::Ne } else { Operator::Eq };
                Test { field, operator, value: Value::Null }
            }
            Some(operator @ (Operator::In | Operator::Nin)) => Test { field, operator, value: self.list()? },
            Some(operator) => {
                let start = self.at;
                let value = self.value()?;
                if value.is_null() && !matches!(operator, Operator::Eq | Operator::Ne) {
                    self.at = start;
                    let help = format!("write `{field} is null` or `{field} is not null`");
                    return Err(self.here(format!("`{}` cannot compare with null", operator.name()), help));
                }
                let text = matches!(operator, Operator::StartsWith | Operator::EndsWith);
                if text && value.as_str().is_none() {
                    self.at = start;
                    return Err(self.here(format!("`{}` takes text", operator.name()), "put it in quotes"));
                }
                Test { field, operator, value }
            }
        };
        let filter = Filter::Test(test);
        Ok(if negated { Filter::Not(Box::new(filter)) } else { filter })
    }

    /// The operator; nothing for `is`.
    fn operator(&mut self, field: &str, negated: bool) -> Result<Option<Operator>, WhereError> {
        let token = self.tokens.get(self.at).cloned();
        let Some(token) = token else {
            return Err(self.here(format!("`{field}` is compared with nothing"), format!("write `{field} = value`")));
        };
        let found = match &token.part {
            Part::Symbol(symbol) => match *symbol {
                "=" | "==" => Some(Operator::Eq),
                "!=" | "<>" => Some(Operator::Ne),
                ">" => Some(Operator::Gt),
                ">=" => Some(Operator::Gte),
                "<" => Some(Operator::Lt),
                "<=" => Some(Operator::Lte),
                _ => None,
            },
            Part::Word(word) => match word.to_ascii_lowercase().as_str() {
                "is" if !negated => {
                    self.at += 1;
                    return Ok(None);
                }
                "starts_with" => Some(Operator::StartsWith),
                "ends_with" => Some(Operator::EndsWith),
                name => Operator::named(name),
            },
            _ => None,
        };
        self.at += usize::from(found.is_some());
        let help = "operators are = != > >= < <= in, contains, startswith, endswith, is null";
        found.map(Some).ok_or_else(|| token.error("an operator should stand here", help))
    }

    fn list(&mut self) -> Result<Value<'static>, WhereError> {
        let close = if self.takes_symbol("(") {
            ")"
        } else if self.takes_symbol("[") {
            "]"
        } else {
            return Err(self.here("a list should stand here", "write `in (\"a\", \"b\")`"));
        };
        let mut values = Vec::new();
        while !self.takes_symbol(close) {
            if !values.is_empty() && !self.takes_symbol(",") {
                return Err(self.here(format!("a `,` or `{close}` should stand here"), "write `in (\"a\", \"b\")`"));
            }
            values.push(self.value()?);
        }
        Ok(Value::Array(values))
    }

    fn value(&mut self) -> Result<Value<'static>, WhereError> {
        let Some(token) = self.tokens.get(self.at) else {
            return Err(self.here("a value should stand here", "write text in quotes, numbers as they are"));
        };
        let value = match (&token.part, token.word().as_deref()) {
            (Part::Text(text), _) => Value::from(text.clone()),
            (Part::Number(number), _) => Value::Number(*number),
            (_, Some("true")) => Value::Bool(true),
            (_, Some("false")) => Value::Bool(false),
            (_, Some("null")) => Value::Null,
            (Part::Word(word), _) => {
                return Err(token.error(format!("`{word}` is not a value"), format!("put text in quotes: \"{word}\"")));
            }
            _ => return Err(token.error("a value should stand here", "write text in quotes, numbers as they are")),
        };
        self.at += 1;
        Ok(value)
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let found = self.tokens.get(self.at).and_then(Token::word).as_deref() == Some(word);
        self.at += usize::from(found);
        found
    }

    fn takes_symbol(&mut self, symbol: &str) -> bool {
        let found =
            matches!(self.tokens.get(self.at), Some(Token { part: Part::Symbol(found), .. }) if *found == symbol);
        self.at += usize::from(found);
        found
    }

    /// What is wrong at the next token, or at the end.
    fn here(&self, message: impl Into<String>, help: impl Into<String>) -> WhereError {
        let (start, end) = self.tokens.get(self.at).map_or((self.end, self.end), |token| (token.start, token.end));
        WhereError { start, end, message: message.into(), help: help.into() }
    }
}
