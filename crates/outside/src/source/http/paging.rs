//! How one page leads to the next.
//!
//! *Invariant:* pure; the place of a page is all that is needed to go on from it, and holds no secret.

use heldset_core::number::Number;
use heldset_core::value::{Object, Value};

use super::answer::Parsed;
use super::row_digest;
use crate::config::plain_text;
use crate::source::keys::Keys;

/// The ways in which services cut answers into pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Not at all.
    None,
    /// By the number of the page.
    Page,
    /// By how many rows come before.
    Offset,
    /// By a word from the answer before.
    Cursor,
    /// By the address of the next page.
    Link,
    /// By a word if the answer has one, else by how many rows come before.
    Token,
}

/// How a service cuts answers into pages.
#[derive(Clone, Debug)]
pub(crate) struct Paging {
    pub(crate) kind: Kind,
    /// The parameter with the page, the offset or the cursor.
    pub(crate) parameter: String,
    /// The parameter with the offset, where there are both.
    pub(crate) offset_parameter: String,
    pub(crate) size_parameter: Option<String>,
    pub(crate) page_size: Option<u64>,
    pub(crate) start: u64,
    /// Where the cursor, or the address of the next page, is in the answer.
    pub(crate) cursor: Option<String>,
    /// Where it says whether there is more.
    pub(crate) has_more: Option<String>,
    /// Where it says that this is the last page.
    pub(crate) is_last: Option<String>,
    pub(crate) total: Option<String>,
    pub(crate) in_body: bool,
}

/// Where in the pages a reading is.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Place {
    pub(super) at: At,
    pub(super) pages: u64,
    pub(super) rows: u64,
    pub(super) total: Option<u64>,
    pub(super) seen: Option<Seen>,
}

/// How a page is named.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum At {
    #[default]
    Start,
    Number(u64),
    Cursor(Value<'static>),
    Link(String),
}

/// What tells whether a page comes again.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Seen {
    sha256: String,
    edges: String,
}

impl Paging {
    /// No pages at all.
    pub(crate) fn none() -> Paging {
        Paging {
            kind: Kind::None,
            parameter: String::new(),
            offset_parameter: String::new(),
            size_parameter: None,
            page_size: None,
            start: 0,
            cursor: None,
            has_more: None,
            is_last: None,
            total: None,
            in_body: false,
        }
    }

    /// Reads `pagination`.
    pub(super) fn read(keys: &mut Keys<'_>) -> Paging {
        let kind = keys.word("kind", &["none", "page", "offset", "cursor", "link"]);
        let kind = match kind {
            None if keys.has("kind") => Kind::None,
            None => {
                keys.wrong("`pagination` has no `kind`", "write one of none, page, offset, cursor, link");
                Kind::None
            }
            Some("page") => Kind::Page,
            Some("offset") => Kind::Offset,
            Some("cursor") => Kind::Cursor,
            Some("link") => Kind::Link,
            Some(_) => Kind::None,
        };
        let (parameter, size) = match kind {
            Kind::Page => ("page", "per_page"),
            Kind::Offset => ("offset", "limit"),
            _ => ("cursor", "limit"),
        };
        let page_size = keys.count("page_size", 1, 1_000_000);
        let named = keys.text("size_param").map(str::to_owned);
        let paging = Paging {
            kind,
            parameter: keys.text("param").unwrap_or(parameter).to_owned(),
            size_parameter: named.or_else(|| page_size.map(|_| size.to_owned())),
            page_size,
            start: keys.count("start", 0, u64::MAX).unwrap_or(u64::from(kind == Kind::Page)),
            cursor: keys.either("cursor", "next").map(str::to_owned),
            has_more: keys.text("has_more").map(str::to_owned),
            total: keys.text("total").map(str::to_owned),
            in_body: keys.word("in", &["query", "body"]) == Some("body"),
            ..Paging::none()
        };
        if kind == Kind::Cursor && paging.cursor.is_none() {
            let help = "write where the answer has the cursor of the next page, such as `cursor: meta.next_cursor`";
            keys.wrong("`pagination` by cursor has no `cursor`", help);
        }
        paging
    }

    /// The parameters that ask for a page.
    pub(super) fn parameters(&self, place: &Place) -> Vec<(&str, Value<'static>)> {
        let number = |number: u64| Value::Number(Number::from_u64(number));
        let mut parameters = Vec::new();
        if let (Some(name), Some(size)) = (&self.size_parameter, self.page_size) {
            parameters.push((name.as_str(), number(size)));
        }
        match (&place.at, self.kind) {
            (At::Number(at), Kind::Token) => parameters.push((&self.offset_parameter, number(*at))),
            (At::Number(at), _) => parameters.push((&self.parameter, number(*at))),
            (At::Cursor(cursor), _) => parameters.push((&self.parameter, cursor.clone())),
            (At::Start, Kind::Page | Kind::Offset) => parameters.push((&self.parameter, number(self.start))),
            (At::Start | At::Link(_), _) => {}
        }
        parameters
    }

    /// How many rows of the total are behind one after so many were read; not known when pages before were left out.
    pub(super) fn covered(&self, rows: u64) -> Option<u64> {
        match self.kind {
            Kind::None => None,
            Kind::Offset => Some(rows + self.start),
            Kind::Page if self.start > 1 => None,
            _ => Some(rows),
        }
    }

    /// How the page after this one is named; nothing after the last. The error says what does not fit.
    pub(super) fn next(&self, place: &Place, parsed: &Parsed) -> Result<Option<At>, String> {
        let rows = place.rows + parsed.rows.len() as u64;
        let total = place.total.or(parsed.total);
        let number = match place.at {
            At::Number(at) => at,
            _ => self.start,
        };
        let covered = self.covered(rows).zip(total).is_some_and(|(covered, total)| covered >= total);
        // A page may be empty although there is more, such as one whose rows were all filtered out.
        let empty = parsed.rows.is_empty() && parsed.more != Some(true);
        let ends = parsed.more == Some(false) || empty || covered;
        let by_number = |next: u64| Ok((!ends).then_some(At::Number(next)));
        let by_rows = || match (parsed.rows.len() as u64, self.page_size) {
            (0, None) if !ends => {
                Err("the answer says that there is more, and has neither rows nor a `page_size`".to_owned())
            }
            (0, Some(size)) => by_number(number.saturating_add(size)),
            (rows, _) => by_number(number + rows),
        };
        match self.kind {
            Kind::None => Ok(None),
            Kind::Page => by_number(number + 1),
            Kind::Offset => by_rows(),
            Kind::Link => Ok(parsed.link.clone().filter(|_| parsed.more != Some(false)).map(At::Link)),
            Kind::Token if parsed.cursor.is_none() && total.is_some() => by_rows(),
            Kind::Cursor | Kind::Token => match (&parsed.cursor, parsed.more) {
                (_, Some(false)) => Ok(None),
                (Some(cursor), _) => Ok(Some(At::Cursor(cursor.clone()))),
                (None, Some(true)) => Err("the answer says that there is more, and has no cursor".to_owned()),
                (None, None) => Ok(None),
            },
        }
    }
}

impl Place {
    /// The place that a reading goes on from.
    pub(super) fn resumed(after: Option<&Value<'static>>) -> Place {
        let Some(after) = after.and_then(Value::as_object) else { return Place::default() };
        let count = |key: &str| match after.get(key) {
            Some(Value::Number(number)) => number.as_u64(),
            _ => None,
        };
        let text = |key: &str| after.get(key).and_then(Value::as_str).map(str::to_owned);
        let at = match (count("at"), after.get("cursor"), text("link")) {
            (Some(number), _, _) => At::Number(number),
            (_, Some(cursor), _) => At::Cursor(cursor.clone()),
            (_, _, Some(link)) => At::Link(link),
            _ => At::Start,
        };
        let seen = text("sha256").zip(text("edges")).map(|(sha256, edges)| Seen { sha256, edges });
        Place { at, pages: count("pages").unwrap_or(0), rows: count("rows").unwrap_or(0), total: count("total"), seen }
    }

    /// The place as it is kept.
    pub(super) fn value(&self) -> Value<'static> {
        let mut object = Object::new();
        let number = |number: u64| Value::Number(Number::from_u64(number));
        match &self.at {
            At::Start => {}
            At::Number(at) => object.set("at", number(*at)),
            At::Cursor(cursor) => object.set("cursor", cursor.clone()),
            At::Link(link) => object.set("link", link.clone().into()),
        }
        object.set("pages", number(self.pages));
        object.set("rows", number(self.rows));
        if let Some(total) = self.total {
            object.set("total", number(total));
        }
        if let Some(seen) = &self.seen {
            object.set("sha256", seen.sha256.clone().into());
            object.set("edges", seen.edges.clone().into());
        }
        object.into()
    }

    /// The word that must not come twice.
    pub(super) fn cursor(&self) -> Option<String> {
        match &self.at {
            At::Cursor(cursor) => Some(plain_text(cursor)),
            At::Link(link) => Some(link.clone()),
            At::Start | At::Number(_) => None,
        }
    }
}

impl Seen {
    /// What is remembered of a page.
    pub(super) fn of(sha256: String, rows: &[Value<'static>]) -> Seen {
        let edge = |row: Option<&Value<'static>>| row.map(row_digest).unwrap_or_default();
        Seen { sha256, edges: format!("{}{}", edge(rows.first()), edge(rows.last())) }
    }

    /// Whether two pages are the same.
    pub(super) fn repeats(&self, other: &Seen) -> bool {
        self.sha256 == other.sha256 || self.edges == other.edges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_was_kept_is_the_place_again() {
        let seen = Some(Seen { sha256: "a".to_owned(), edges: "b".to_owned() });
        for at in [At::Start, At::Number(7), At::Cursor("x".into()), At::Cursor(7.into()), At::Link("http://x".into())]
        {
            let place = Place { at, pages: 2, rows: 20, total: Some(100), seen: seen.clone() };
            assert_eq!(Place::resumed(Some(&place.value())), place);
        }
        assert_eq!(Place::resumed(None), Place::default());
    }
}
