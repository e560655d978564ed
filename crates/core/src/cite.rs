//! Citations: how people name a version of a dataset, and a version of a record.
//!
//! *Invariant:* a citation that is written is read back as the same one; a tag is never taken for a number or a digest.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::digest::Digest;

/// The name that the access log is queried by; no dataset has it.
pub const LOG: &str = "access-log";

/// A dataset and which of its versions: `slug`, `slug@3`, `slug@tag`, `slug@sha256:…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cite {
    /// The dataset.
    pub slug: String,
    /// The version.
    pub at: At,
}

/// Which version of a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum At {
    /// The newest.
    Head,
    /// The one of this number, from 1.
    Number(u64),
    /// The one this tag is on.
    Tag(String),
    /// The one of this digest.
    Digest(Digest),
}

/// Why a text is not a citation.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CiteError {
    /// A name that no dataset can have.
    #[error("slug `{slug}` {why}")]
    Slug {
        /// The name.
        slug: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A name that no tag can have.
    #[error("tag `{tag}` {why}")]
    Tag {
        /// The name.
        tag: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A number that no version can have.
    #[error("`{0}` is not the number of a version")]
    Number(String),
    /// What follows `sha256:` is not a whole digest.
    #[error("`{0}` is not a whole digest: 64 lowercase hexadecimal digits follow `sha256:`")]
    Digest(String),
}

/// A record and, if it is said, which of its versions: `tc-001`, `tc-001@2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordCite<'a> {
    /// The id.
    pub id: &'a str,
    /// The version, from 1.
    pub version: Option<u64>,
}

impl FromStr for Cite {
    type Err = CiteError;

    fn from_str(text: &str) -> Result<Self, CiteError> {
        let (slug, at) = text.split_once('@').map_or((text, None), |(slug, at)| (slug, Some(at)));
        if let Some(why) = slug_problem(slug) {
            return Err(CiteError::Slug { slug: slug.to_owned(), why });
        }
        Ok(Cite { slug: slug.to_owned(), at: at.map_or(Ok(At::Head), str::parse)? })
    }
}

impl FromStr for At {
    type Err = CiteError;

    /// Reads what follows the `@`.
    fn from_str(text: &str) -> Result<Self, CiteError> {
        if text.starts_with("sha256:") {
            return text.parse().map(At::Digest).map_err(|_| CiteError::Digest(text.to_owned()));
        }
        if all_digits(text) {
            return counted(text).map(At::Number).ok_or_else(|| CiteError::Number(text.to_owned()));
        }
        match tag_problem(text) {
            None => Ok(At::Tag(text.to_owned())),
            Some(why) => Err(CiteError::Tag { tag: text.to_owned(), why }),
        }
    }
}

impl fmt::Display for Cite {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.slug)?;
        match &self.at {
            At::Head => Ok(()),
            At::Number(number) => write!(out, "@{number}"),
            At::Tag(tag) => write!(out, "@{tag}"),
            At::Digest(digest) => write!(out, "@{digest}"),
        }
    }
}

impl<'a> RecordCite<'a> {
    /// What a text can mean, the likelier first: an id may have an `@` in it, so all of the text is an id, or what
    /// stands before a trailing `@` and digits is.
    pub fn readings(text: &'a str) -> impl Iterator<Item = RecordCite<'a>> {
        let versioned = text.rsplit_once('@').filter(|(id, digits)| !id.is_empty() && all_digits(digits));
        let versioned = versioned.and_then(|(id, digits)| Some(RecordCite { id, version: Some(counted(digits)?) }));
        [RecordCite { id: text, version: None }].into_iter().chain(versioned)
    }
}

/// Why a dataset cannot have this slug, if it cannot.
pub fn slug_problem(slug: &str) -> Option<&'static str> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    match slug.chars().count() {
        0 => Some("is empty"),
        _ if !slug.chars().all(fits) => Some("has other characters than lowercase letters, digits and hyphens"),
        1..3 => Some("is shorter than 3 characters"),
        101.. => Some("is longer than 100 characters"),
        _ if slug == LOG => Some("is what the access log is called"),
        _ => None,
    }
}

/// Why a version cannot have this tag, if it cannot.
pub fn tag_problem(tag: &str) -> Option<&'static str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    match tag.chars().count() {
        0 => Some("is empty"),
        _ if !tag.chars().all(fits) => Some("has other characters than letters, digits, `.`, `_` and `-`"),
        101.. => Some("is longer than 100 characters"),
        _ if all_digits(tag) => Some("is all digits, as the number of a version is"),
        _ => None,
    }
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn counted(digits: &str) -> Option<u64> {
    digits.parse().ok().filter(|number| *number > 0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::digest::sha256;

    #[test]
    fn a_citation_is_a_slug_and_a_number_a_tag_or_a_digest() {
        let hex = sha256(b"").hex();
        for (text, at) in [
            ("w2s-prompts", At::Head),
            ("w2s-prompts@3", At::Number(3)),
            ("w2s-prompts@v3", At::Tag("v3".into())),
            ("w2s-prompts@2026-04-12", At::Tag("2026-04-12".into())),
            ("w2s-prompts@A.b_c", At::Tag("A.b_c".into())),
            (&format!("w2s-prompts@{hex}"), At::Tag(hex.clone())),
            (&format!("w2s-prompts@sha256:{hex}"), At::Digest(sha256(b""))),
        ] {
            let cite: Cite = text.parse().unwrap();
            assert_eq!(cite, Cite { slug: "w2s-prompts".into(), at });
            assert_eq!(cite.to_string(), text);
        }
        assert_eq!("abc@03".parse::<Cite>().unwrap().to_string(), "abc@3");
    }

    #[test]
    fn what_is_not_a_citation_is_refused_with_its_reason() {
        let long = "a".repeat(101);
        for (text, why) in [
            ("", "slug `` is empty"),
            ("ab@1", "slug `ab` is shorter than 3 characters"),
            (&long, &format!("slug `{long}` is longer than 100 characters")),
            ("My_set", "slug `My_set` has other characters than lowercase letters, digits and hyphens"),
            ("é", "slug `é` has other characters than lowercase letters, digits and hyphens"),
            ("abc@", "tag `` is empty"),
            ("abc@a b", "tag `a b` has other characters than letters, digits, `.`, `_` and `-`"),
            ("abc@a@b", "tag `a@b` has other characters than letters, digits, `.`, `_` and `-`"),
            (&format!("abc@{long}"), &format!("tag `{long}` is longer than 100 characters")),
            ("abc@0", "`0` is not the number of a version"),
            ("abc@18446744073709551616", "`18446744073709551616` is not the number of a version"),
            ("abc@sha256:12", "`sha256:12` is not a whole digest: 64 lowercase hexadecimal digits follow `sha256:`"),
        ] {
            assert_eq!(text.parse::<Cite>().unwrap_err().to_string(), why, "{text}");
        }
        assert_eq!(tag_problem("12"), Some("is all digits, as the number of a version is"));
        assert_eq!((slug_problem(&long[1..]), tag_problem(&long[1..])), (None, None));
    }

    #[test]
    fn only_a_trailing_number_is_the_version_of_a_record() {
        for (text, versioned) in [
            ("tc-001", None),
            ("tc-001@2", Some(("tc-001", 2))),
            ("me@home.example", None),
            ("me@home@3", Some(("me@home", 3))),
            ("a@2@3", Some(("a@2", 3))),
            ("@2", None),
            ("a@", None),
            ("a@0", None),
            ("a@-1", None),
            ("a@18446744073709551616", None),
        ] {
            let mut readings = RecordCite::readings(text);
            assert_eq!(readings.next(), Some(RecordCite { id: text, version: None }));
            let expected = versioned.map(|(id, version)| RecordCite { id, version: Some(version) });
            assert_eq!(readings.next(), expected, "{text}");
        }
    }
}
