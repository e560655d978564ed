//! The credential of a source while it is used.
//!
//! *Invariant:* cannot be printed; whatever is told passes through [`Secret::hidden`].

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use heldset_core::canonical;
use heldset_core::value::{Object, Value};

use crate::requests::percent_encoded;

/// What takes the place of a secret.
const HIDDEN: &str = "[secret]";
/// Shorter ones are likely to be ordinary words.
const SHORTEST: usize = 6;

/// The names of a user, which is no secret.
pub(super) const USERS: [&str; 3] = ["username", "user", "email"];

/// A credential: texts by name.
#[derive(Clone, Default)]
pub(super) struct Secret(Arc<Vec<(String, String)>>);

impl Secret {
    /// The secret of a request.
    pub(super) fn new(secret: Option<&Object<'static>>) -> Secret {
        let entries = secret.into_iter().flat_map(Object::iter);
        let texts = entries.filter_map(|(name, value)| Some((name.to_owned(), value.as_str()?.to_owned())));
        Secret(Arc::new(texts.filter(|(_, text)| !text.is_empty()).collect()))
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text of the first of some names that is there.
    pub(super) fn text(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.0.iter().find(|(own, _)| own == name)).map(|(_, text)| text.as_str())
    }

    /// All names and texts.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// A text in which no part of the secret is readable.
    pub(super) fn hidden(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for form in self.forms() {
            if text.contains(&form) {
                text = text.replace(&form, HIDDEN);
            }
        }
        text
    }

    /// Whether a text holds a part of the secret.
    pub(super) fn is_in(&self, text: &str) -> bool {
        self.forms().iter().any(|form| text.contains(form))
    }

    /// Every way in which the secret may be written, the longest first, so that none leaves a part of another.
    fn forms(&self) -> Vec<String> {
        let mut forms: Vec<String> = self.values().flat_map(written).collect();
        if let Some(user) = self.text(&USERS) {
            let words = self.entries().filter(|(name, _)| !is_public(name)).map(|(_, word)| word);
            forms.extend(words.flat_map(|word| coded(&format!("{user}:{word}"))));
        }
        forms.sort_by(|one, two| two.len().cmp(&one.len()).then_with(|| one.cmp(two)));
        forms.dedup();
        forms
    }

    fn values(&self) -> impl Iterator<Item = &str> {
        self.entries().filter(|(name, text)| !is_public(name) && text.len() >= SHORTEST).map(|(_, text)| text)
    }
}

fn is_public(name: &str) -> bool {
    USERS.contains(&name) || matches!(name, "account_name" | "region")
}

/// A value as it is, in an address, in a form, and in JSON.
fn written(value: &str) -> Vec<String> {
    let percent = percent_encoded(value);
    let form = percent.replace("%20", "+").replace("%2A", "*").replace('~', "%7E");
    let plus = value.replace(' ', "+");
    let quoted = canonical::bytes(&Value::from(value.to_owned()));
    let quoted = String::from_utf8_lossy(&quoted[1..quoted.len() - 1]).into_owned();
    let small = [lowered(&percent), lowered(&form)];
    let slashed = quoted.replace('/', "\\/");
    [value.to_owned(), percent, form, plus, quoted, slashed].into_iter().chain(small).collect()
}

/// Percent signs with small letters after them, as some services write them.
fn lowered(encoded: &str) -> String {
    let mut left = 0;
    let small = |letter: char| {
        left = if letter == '%' { 3 } else { left };
        let inside = left > 0;
        left = left.max(1) - 1;
        if inside { letter.to_ascii_lowercase() } else { letter }
    };
    encoded.chars().map(small).collect()
}

/// What goes into the header of basic authentication, with and without padding.
fn coded(pair: &str) -> Vec<String> {
    let codes = [STANDARD.encode(pair), URL_SAFE.encode(pair)];
    codes.iter().flat_map(|code| [code.clone(), code.trim_end_matches('=').to_owned(), percent_encoded(code)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_form_of_a_secret_is_told() {
        let object: Object<'static> = [("token", "s3cr/t value"), ("username", "somebody"), ("pin", "1234")]
            .into_iter()
            .map(|(name, text)| (name.into(), Value::from(text)))
            .collect();
        let secret = Secret::new(Some(&object));
        assert_eq!(
            secret.hidden("a s3cr/t value b s3cr%2Ft%20value somebody 1234"),
            "a [secret] b [secret] somebody 1234"
        );
        assert!(secret.is_in("xs3cr/t valuex") && !secret.is_in("somebody"));
        assert_eq!(secret.text(&["password", "token"]), Some("s3cr/t value"));
    }
}
