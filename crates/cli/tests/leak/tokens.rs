//! Tokens that appear nowhere by chance, and who may see each of them.

use heldset_core::digest::sha256;
use heldset_core::visibility::{Audience, Audiences, Label, Viewer};

/// What a token stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A value, an id, or a path of a file: sealed at rest unless its label is open.
    Cell,
    /// The name of a field or of a split, which the catalogue knows.
    Name,
}

/// A token.
pub(super) struct Token {
    pub(super) text: String,
    /// What it is, for messages.
    pub(super) what: String,
    pub(super) kind: Kind,
    /// Who sees it must see all of these; nobody does when there is none.
    labels: Vec<Label>,
}

/// Every token there is.
#[derive(Default)]
pub(super) struct Tokens(pub(super) Vec<Token>);

impl Tokens {
    /// A new token under these labels.
    pub(super) fn make(&mut self, kind: Kind, labels: &[&str], what: &str) -> String {
        let digest = sha256(format!("token {} {what}", self.0.len()).as_bytes()).hex();
        let text = format!("t{}k", &digest[..18]);
        let labels = labels.iter().map(|name| label(name)).collect();
        self.0.push(Token { text: text.clone(), what: what.to_owned(), kind, labels });
        text
    }

    /// A new number under these labels.
    pub(super) fn number(&mut self, labels: &[&str], what: &str) -> String {
        let made = self.make(Kind::Cell, labels, what);
        let digits: String = made.bytes().map(|byte| char::from(b'1' + byte % 9)).take(15).collect();
        if let Some(token) = self.0.last_mut() {
            token.text.clone_from(&digits);
        }
        digits
    }

    /// Nobody may see these from now on.
    pub(super) fn forget(&mut self, texts: &[String]) {
        self.0.iter_mut().filter(|token| texts.contains(&token.text)).for_each(|token| token.labels.clear());
    }
}

impl Token {
    /// Whether a viewer may see it.
    pub(super) fn seen_by(&self, viewer: Viewer) -> bool {
        !self.labels.is_empty() && self.labels.iter().all(|label| viewer.sees(label))
    }

    /// Whether it may not lie in a store in the clear.
    pub(super) fn sealed_at_rest(&self) -> bool {
        self.kind == Kind::Cell && (self.labels.is_empty() || self.labels.iter().any(|label| !label.is_open()))
    }
}

/// A label of the sweep's dataset.
fn label(name: &str) -> Label {
    match name {
        "partner" => Label::custom(name, Audiences::of(&[Audience::Evaluator, Audience::Operator])).unwrap(),
        "judges" => Label::custom(name, Audiences::of(&[Audience::Grader])).unwrap(),
        _ => Label::built_in(name).unwrap(),
    }
}
