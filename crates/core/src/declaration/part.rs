//! Reading a mapping whose keys are known: each value checked by its kind, each fault noted with its path.
//!
//! *Invariant:* reading goes on after a fault, so that all are told.

use crate::code::Code;
use crate::fault::{Problem, nearest};
use crate::path::Path;
use crate::value::{Object, Value};

/// Notes what is wrong while a declaration is read.
pub(crate) struct Reader {
    pub(crate) problems: Vec<Problem>,
    code: Code,
}

/// A mapping and where it stands.
pub(crate) struct Part<'v, 'a> {
    pub(crate) object: &'v Object<'a>,
    pub(crate) path: Path,
}

/// What a value must be.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// Text that is not empty and has at most so many characters.
    Text(usize),
    /// Text that may be empty.
    Prose,
    /// A UUID.
    Uuid,
    /// A day or a point in time, as RFC 3339 writes them.
    Day,
    /// A list of texts, none empty.
    List,
    /// One text or a list of texts, none empty.
    Texts,
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// A list of texts, each one of these.
    AllOf(&'static [&'static str]),
    /// True or false.
    Flag,
    /// A whole number that is not negative.
    Count,
    /// A number.
    Number,
    /// A mapping.
    Mapping,
    /// Anything but null.
    Any,
}

/// How much of a wrong text is shown.
const SHOWN: usize = 60;

/// Text without a limit.
pub(crate) const TEXT: Kind = Kind::Text(usize::MAX);

impl Part<'_, '_> {
    /// Where a member stands.
    pub(crate) fn at(&self, key: &str) -> Path {
        self.path.then_key(key)
    }
}

impl Default for Reader {
    fn default() -> Self {
        Reader::with_code(Code::E021)
    }
}

impl Reader {
    /// A reader whose problems have this code.
    pub(crate) fn with_code(code: Code) -> Self {
        Reader { problems: Vec::new(), code }
    }

    /// Notes a problem.
    pub(crate) fn wrong(&mut self, path: Path, message: impl Into<String>, help: Option<String>) {
        let mut problem = Problem::new(self.code, path, message);
        problem.help = help;
        self.problems.push(problem);
    }

    /// Notes a problem with a code of its own.
    pub(crate) fn note(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// A mapping that has no other keys than these.
    pub(crate) fn part<'v, 'a>(&mut self, value: &'v Value<'a>, path: Path, known: &[&str]) -> Option<Part<'v, 'a>> {
        let part = self.mapping_at(value, path)?;
        for (key, _) in part.object.iter().filter(|(key, _)| !known.contains(key)) {
            let help = did_you_mean(key, known);
            self.wrong(part.at(key), format!("`{key}` is not known here"), help);
        }
        Some(part)
    }

    /// A mapping whose keys somebody else judges.
    pub(crate) fn mapping_at<'v, 'a>(&mut self, value: &'v Value<'a>, path: Path) -> Option<Part<'v, 'a>> {
        let Some(object) = value.as_object() else {
            let what = path.steps().last().map_or("a declaration".to_owned(), |_| format!("`{path}`"));
            self.wrong(path, format!("{what} is a mapping, not {}", value.type_name()), None);
            return None;
        };
        Some(Part { object, path })
    }

    /// A member that may be missing, checked by its kind.
    pub(crate) fn member<'v, 'a>(&mut self, part: &Part<'v, 'a>, key: &str, kind: Kind) -> Option<&'v Value<'a>> {
        let value = part.object.get(key)?;
        if kind.fits(value) {
            return Some(value);
        }
        // Of a list, the element that is wrong is told.
        let element = kind.of_elements().zip(value.as_array()).and_then(|(kind, items)| {
            let (index, item) = items.iter().enumerate().find(|(_, item)| !kind.fits(item))?;
            Some((kind, part.at(key).then_index(index), format!("{key}[{index}]"), item))
        });
        let (kind, path, what, value) = element.unwrap_or((kind, part.at(key), key.to_owned(), value));
        let message = format!("`{what}` is {}, not {}", kind.expected(), kind.shown(value));
        self.wrong(path, message, kind.help(value));
        None
    }

    /// A member that must be there.
    pub(crate) fn required<'v, 'a>(&mut self, part: &Part<'v, 'a>, key: &str, kind: Kind) -> Option<&'v Value<'a>> {
        if !part.object.contains(key) {
            self.wrong(part.path.clone(), format!("`{key}` is missing"), None);
        }
        self.member(part, key, kind)
    }

    /// A member that is text.
    pub(crate) fn text(&mut self, part: &Part<'_, '_>, key: &str) -> Option<String> {
        self.member(part, key, TEXT).and_then(Value::as_str).map(str::to_owned)
    }

    /// A member that is one text or a list of texts.
    pub(crate) fn texts(&mut self, part: &Part<'_, '_>, key: &str) -> Vec<String> {
        self.member(part, key, Kind::Texts).map(texts).unwrap_or_default()
    }

    /// A member of any kind.
    pub(crate) fn any(&mut self, part: &Part<'_, '_>, key: &str) -> Option<Value<'static>> {
        self.member(part, key, Kind::Any).map(|value| value.clone().into_owned())
    }

    /// A member that is a mapping of these keys and kinds, as it stands.
    pub(crate) fn mapping(
        &mut self,
        part: &Part<'_, '_>,
        key: &str,
        known: &[(&str, Kind)],
    ) -> Option<Object<'static>> {
        let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
        let inner = self.part(part.object.get(key)?, part.at(key), &names)?;
        for (name, kind) in known {
            self.member(&inner, name, *kind);
        }
        Some(inner.object.clone().into_owned())
    }
}

impl Kind {
    /// Whether the value is what it must be.
    pub(crate) fn fits(self, value: &Value<'_>) -> bool {
        let filled = |most| value.as_str().is_some_and(|text| !text.is_empty() && text.chars().count() <= most);
        match self {
            Kind::Text(most) => filled(most),
            Kind::Prose => value.as_str().is_some(),
            Kind::Uuid => value.as_str().is_some_and(is_uuid),
            Kind::Day => value.as_str().is_some_and(crate::filter::is_day),
            Kind::List => value.as_array().is_some() && self.fits_each(value),
            Kind::Texts if value.as_array().is_none() => filled(usize::MAX),
            Kind::Texts => self.fits_each(value),
            Kind::AllOf(_) => value.as_array().is_some() && self.fits_each(value),
            Kind::OneOf(known) => value.as_str().is_some_and(|text| known.contains(&text)),
            Kind::Flag => matches!(value, Value::Bool(_)),
            Kind::Count => matches!(value, Value::Number(number) if number.as_u64().is_some()),
            Kind::Number => matches!(value, Value::Number(_)),
            Kind::Mapping => value.as_object().is_some(),
            Kind::Any => !value.is_null(),
        }
    }

    fn fits_each(self, value: &Value<'_>) -> bool {
        let each = self.of_elements().zip(value.as_array());
        each.is_none_or(|(kind, items)| items.iter().all(|item| kind.fits(item)))
    }

    /// What each element of a list must be.
    fn of_elements(self) -> Option<Kind> {
        match self {
            Kind::Texts | Kind::List => Some(TEXT),
            Kind::AllOf(known) => Some(Kind::OneOf(known)),
            _ => None,
        }
    }

    /// A value that does not fit, in the words of a message.
    fn shown(self, value: &Value<'_>) -> String {
        match value.as_str() {
            None if matches!((self, value), (Kind::Count, Value::Number(_))) => {
                format!("`{}`", String::from_utf8_lossy(&crate::canonical::bytes(value)))
            }
            Some("") => "empty".to_owned(),
            Some(_) if matches!(self, Kind::Mapping | Kind::List) => value.type_name().to_owned(),
            Some(text) if matches!(self, Kind::Text(_)) => format!("of {}", text.chars().count()),
            Some(text) => format!("`{}`", text.chars().take(SHOWN).collect::<String>()),
            _ => value.type_name().to_owned(),
        }
    }

    fn help(self, value: &Value<'_>) -> Option<String> {
        match (self, value) {
            (
                Kind::Text(_) | Kind::Prose | Kind::Texts | Kind::List | Kind::Uuid | Kind::Day,
                Value::Number(_) | Value::Bool(_),
            ) => Some("put it in quotes".to_owned()),
            (Kind::List, Value::String(_)) => Some("put it in a list".to_owned()),
            (Kind::OneOf(known), Value::String(text)) => {
                nearest(text, known.iter().copied()).map(|known| format!("did you mean `{known}`?"))
            }
            _ => None,
        }
    }

    fn expected(self) -> String {
        match self {
            Kind::Text(usize::MAX) => "text".into(),
            Kind::Text(most) => format!("text of at most {most} characters"),
            Kind::Prose => "text".into(),
            Kind::Uuid => "a UUID".into(),
            Kind::Day => "a day such as `2028-01-01` or a time such as `2028-01-01T00:00:00Z`".into(),
            Kind::Texts => "text or a list of texts".into(),
            Kind::List => "a list of texts".into(),
            Kind::OneOf([only]) => format!("`{only}`"),
            Kind::OneOf(known) => format!("one of {}", listed(known)),
            Kind::AllOf(known) => format!("a list of {}", listed(known)),
            Kind::Flag => "true or false".into(),
            Kind::Count => "a whole number".into(),
            Kind::Number => "a number".into(),
            Kind::Mapping => "a mapping".into(),
            Kind::Any => "a value".into(),
        }
    }
}

/// A help that names the nearest of these, or all of them.
pub(crate) fn did_you_mean(name: &str, known: &[&str]) -> Option<String> {
    if let Some(known) = nearest(name, known.iter().copied()) {
        return Some(format!("did you mean `{known}`?"));
    }
    (!known.is_empty()).then(|| format!("known are {}", listed(known)))
}

/// The texts of a value that is one or a list of them.
pub(crate) fn texts(value: &Value<'_>) -> Vec<String> {
    let items = value.as_array().unwrap_or(std::slice::from_ref(value));
    items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Whether a text is a UUID in its usual form.
fn is_uuid(text: &str) -> bool {
    let lengths = text.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12]) && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
