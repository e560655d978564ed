//! Regular expressions as Python's `re` understands them, with a limit on their steps.
//!
//! *Invariant:* a search ends: one that goes back too often is an error, never "no match".

mod class;
mod group;
mod python;
mod width;

use std::sync::OnceLock;

use fancy_regex::{Captures, Regex, RegexBuilder};

/// How often a search may go back before it is given up.
const STEPS: usize = 1_000_000;

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Pattern {
    regex: Regex,
    translated: String,
    /// The same, but without empty matches; made when it is needed.
    nonempty: OnceLock<Option<Regex>>,
}

/// One match: the texts of its groups, the whole first.
pub(crate) type Groups = Vec<Option<String>>;

impl Pattern {
    /// Compiles a pattern of Python. Beyond it, unless `strict`: `(?<name>…)`, `\p{…}` and `\z`.
    pub(crate) fn new(pattern: &str, strict: bool) -> Result<Pattern, String> {
        let translated = python::translate(pattern, strict)?;
        let regex = build(&translated, false).map_err(|error| one_line(&error.to_string()))?;
        Ok(Pattern { regex, translated, nonempty: OnceLock::new() })
    }

    /// Whether it matches anywhere.
    pub(crate) fn is_match(&self, text: &str) -> Result<bool, String> {
        self.regex.is_match(text).map_err(gave_up)
    }

    /// The first match.
    pub(crate) fn search(&self, text: &str) -> Result<Option<Groups>, String> {
        Ok(self.regex.captures(text).map_err(gave_up)?.map(|captures| groups(&captures)))
    }

    /// All matches, found as `re.findall` finds them: an empty match may follow another match at once, but not an
    /// empty one at the same place.
    pub(crate) fn find_all(&self, text: &str) -> Result<Vec<Groups>, String> {
        let (mut found, mut at, mut after_empty) = (Vec::new(), 0, false);
        while at <= text.len() {
            let Some(captures) = self.next(text, at, after_empty)? else { break };
            let whole = captures.get(0).map_or(at..at, |whole| whole.start()..whole.end());
            found.push(groups(&captures));
            after_empty = whole.is_empty();
            at = whole.end;
        }
        Ok(found)
    }

    /// How many groups there are, the whole not counted.
    pub(crate) fn group_count(&self) -> usize {
        self.regex.captures_len() - 1
    }

    /// The place of a named group.
    pub(crate) fn group_named(&self, name: &str) -> Option<usize> {
        self.regex.capture_names().position(|known| known == Some(name))
    }

    fn next<'t>(&self, text: &'t str, at: usize, after_empty: bool) -> Result<Option<Captures<'t, str>>, String> {
        let found = self.regex.captures_from_pos(text, at).map_err(gave_up)?;
        let stuck = |captures: &Captures<'_, str>| captures.get(0).is_some_and(|whole| whole.end() == at);
        if !after_empty || !found.as_ref().is_some_and(stuck) {
            return Ok(found);
        }
        let nonempty = self.nonempty.get_or_init(|| build(&self.translated, true).ok());
        if let Some(nonempty) = nonempty {
            let here = nonempty.captures_from_pos(text, at).map_err(gave_up)?;
            if here.as_ref().and_then(|captures| captures.get(0)).is_some_and(|whole| whole.start() == at) {
                return Ok(here);
            }
        }
        match text[at..].chars().next() {
            Some(skipped) => self.regex.captures_from_pos(text, at + skipped.len_utf8()).map_err(gave_up),
            None => Ok(None),
        }
    }
}

fn build(pattern: &str, nonempty: bool) -> fancy_regex::Result<Regex> {
    RegexBuilder::new(pattern).backtrack_limit(STEPS).find_not_empty(nonempty).build()
}

fn groups(captures: &Captures<'_, str>) -> Groups {
    captures.iter().map(|group| group.map(|group| group.as_str().to_owned())).collect()
}

fn gave_up(_error: fancy_regex::Error) -> String {
    format!("the pattern needs more than {STEPS} steps")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
