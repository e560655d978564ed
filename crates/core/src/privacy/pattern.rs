//! Patterns of what must not stay: regular expressions, and built-in ones by name.
//!
//! *Invariant:* a built-in pattern also checks what a regular expression cannot, such as the last digit of a card.

use std::net::IpAddr;

use regex::Regex;

use super::read::problem;
use crate::fault::Problem;
use crate::path::Path;
use crate::value::Value;

/// The names of the built-in patterns.
pub const BUILT_IN: [&str; 6] = ["email", "phone", "ip", "credit_card", "ssn", "api_key"];

/// So large a compiled pattern may be.
const MOST_BYTES: usize = 1 << 20;

const EMAIL: &str = r"(?i)[\p{L}\p{N}._%+'-]+@[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?(?:\.[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?)*\.\p{L}{2,}";
const PHONE: &str = r"\+?\(?\d[\d\s()./-]{5,}\d";
const IP: &str = r"(?:\d{1,3}\.){3}\d{1,3}|[0-9A-Fa-f:]*:[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*";
const CREDIT_CARD: &str = r"\d(?:[ -]?\d){12,18}";
const SSN: &str = r"\d{3}-\d{2}-\d{4}";
const API_KEY: &str = r#"(?x)
    \bsk-[A-Za-z0-9_-]{16,} | \bgh[pousr]_[A-Za-z0-9]{20,} | \bgithub_pat_[A-Za-z0-9_]{20,} | \bglpat-[A-Za-z0-9_-]{16,}
  | \b(?:AKIA|ASIA)[0-9A-Z]{16}\b | \bxox[abeoprs]-[A-Za-z0-9-]{10,} | \bhf_[A-Za-z0-9]{20,} | \bAIza[0-9A-Za-z_-]{30,}
  | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*
  | -----BEGIN[A-Z\ ]*PRIVATE\ KEY-----[A-Za-z0-9+/=\s]*(?:-----END[A-Z\ ]*PRIVATE\ KEY-----)?
  | (?i:\b(?:api[_-]?key|access[_-]?token|auth[_-]?token|secret|password)["']?\s*[:=]\s*["']?[^\s"',;]{8,})"#;

/// Patterns that are looked for together.
#[derive(Clone, Debug)]
pub(super) struct Patterns(Vec<Pattern>);

#[derive(Clone, Debug)]
struct Pattern {
    /// The name of a built-in one, or the regular expression.
    name: String,
    built_in: bool,
    regex: Regex,
}

impl Patterns {
    /// One pattern, or a list of them.
    pub(super) fn read(value: &Value<'_>, at: &Path) -> Result<Patterns, Box<Problem>> {
        let one = |value: &Value<'_>, at: &Path| match value.as_str() {
            Some(text) if !text.is_empty() => Pattern::new(text, at),
            _ => {
                let help = format!("write a regular expression, or {}", crate::case::quoted(&BUILT_IN));
                Err(Box::new(problem(at.clone(), format!("`{at}` is a pattern, not {}", value.type_name())).help(help)))
            }
        };
        match value {
            Value::Array(items) if !items.is_empty() => {
                let patterns = items.iter().enumerate().map(|(place, item)| one(item, &at.then_index(place)));
                Ok(Patterns(patterns.collect::<Result<_, _>>()?))
            }
            value => Ok(Patterns(vec![one(value, at)?])),
        }
    }

    pub(super) fn describe(&self) -> String {
        let names: Vec<&str> = self.0.iter().map(|pattern| pattern.name.as_str()).collect();
        names.join(", ")
    }

    /// The text with all matches replaced; nothing if there is none.
    pub(super) fn replace(&self, text: &str, replace: impl Fn(&str) -> String) -> Option<String> {
        let mut after: Option<String> = None;
        for pattern in &self.0 {
            let current = after.as_deref().unwrap_or(text);
            if let Some(replaced) = pattern.replace(current, &replace) {
                after = Some(replaced);
            }
        }
        after
    }
}

impl Pattern {
    fn new(text: &str, at: &Path) -> Result<Pattern, Box<Problem>> {
        let known = match text {
            "email" => Some(EMAIL),
            "phone" => Some(PHONE),
            "ip" => Some(IP),
            "credit_card" => Some(CREDIT_CARD),
            "ssn" => Some(SSN),
            "api_key" => Some(API_KEY),
            _ => None,
        };
        let built = regex::RegexBuilder::new(known.unwrap_or(text)).size_limit(MOST_BYTES).build();
        let regex = built.map_err(|error| {
            let text = error.to_string();
            let why = text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            let help = format!("mend it, or use a built-in one: {}", crate::case::quoted(&BUILT_IN));
            Box::new(problem(at.clone(), format!("`{at}` is not a regular expression: {why}")).help(help))
        })?;
        Ok(Pattern { name: text.to_owned(), built_in: known.is_some(), regex })
    }

    fn replace(&self, text: &str, replace: impl Fn(&str) -> String) -> Option<String> {
        let (mut out, mut last) = (String::new(), 0);
        for found in self.regex.find_iter(text).filter(|found| !found.is_empty()) {
            let (before, after) = (&text[..found.start()], &text[found.end()..]);
            if self.built_in && !self.holds(before, found.as_str(), after) {
                continue;
            }
            out.push_str(&text[last..found.start()]);
            out.push_str(&replace(found.as_str()));
            last = found.end();
        }
        if last == 0 {
            return None;
        }
        out.push_str(&text[last..]);
        Some(out)
    }

    /// Whether what a built-in pattern found is what it looks for.
    fn holds(&self, before: &str, found: &str, after: &str) -> bool {
        let digits: Vec<u32> = found.chars().filter_map(|character| character.to_digit(10)).collect();
        let alone = !before.ends_with(|character: char| character.is_alphanumeric())
            && !after.starts_with(|character: char| character.is_alphanumeric());
        match self.name.as_str() {
            "phone" => {
                let shortest = if found.starts_with('+') { 7 } else { 10 };
                alone && (shortest..=15).contains(&digits.len()) && !is_date(found)
            }
            "ip" => alone && found.trim_end_matches('.').parse::<IpAddr>().is_ok(),
            "credit_card" => alone && luhn(&digits),
            "ssn" => alone && !matches!(&found[..3], "000" | "666") && !found.starts_with('9'),
            _ => true,
        }
    }
}

/// Whether a text starts like `2026-05-01`.
fn is_date(text: &str) -> bool {
    let form: String =
        text.chars().take(10).map(|character| if character.is_ascii_digit() { '0' } else { character }).collect();
    form == "0000-00-00"
}

/// Whether the last digit of a card number is what the others make it.
fn luhn(digits: &[u32]) -> bool {
    let doubled = |digit: u32| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let value = |(place, digit): (usize, &u32)| if place % 2 == 1 { doubled(*digit) } else { *digit };
    let sum: u32 = digits.iter().rev().enumerate().map(value).sum();
    digits.len() >= 13 && sum.is_multiple_of(10) && digits.iter().any(|digit| *digit != 0)
}
