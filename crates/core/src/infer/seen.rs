//! What was seen of the values of a field, and the one type that admits them all.
//!
//! *Invariant:* the order in which values are seen makes no difference.

use crate::filter::is_instant;
use crate::schema::Type;
use crate::value::Value;

/// Which kinds of values were seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Seen {
    boolean: bool,
    integer: bool,
    fraction: bool,
    instant: bool,
    text: bool,
    mapping: bool,
    /// The elements of the lists, if there was a list.
    list: Option<Box<Seen>>,
}

impl Seen {
    /// Looks at a value.
    pub(super) fn value(&mut self, value: &Value<'_>) {
        match value {
            Value::Null => {}
            Value::Bool(_) => self.boolean = true,
            Value::Number(number) if number.is_integer() => self.integer = true,
            Value::Number(_) => self.fraction = true,
            // Once there is other text, instants are text like any other.
            Value::String(text) => match !self.text && is_instant(text) {
                true => self.instant = true,
                false => (self.text, self.instant) = (true, false),
            },
            Value::Object(_) => self.mapping = true,
            Value::Array(items) => {
                let elements = self.list.get_or_insert_default();
                items.iter().for_each(|item| elements.value(item));
            }
        }
    }

    /// Adds what was seen elsewhere.
    pub(super) fn merge(&mut self, other: &Seen) {
        self.boolean |= other.boolean;
        self.integer |= other.integer;
        self.fraction |= other.fraction;
        self.text |= other.text;
        self.instant = (self.instant | other.instant) && !self.text;
        self.mapping |= other.mapping;
        if let Some(elements) = &other.list {
            self.list.get_or_insert_default().merge(elements);
        }
    }

    /// The type that admits all of it.
    pub(super) fn kind(&self) -> Type {
        let number = self.integer || self.fraction;
        let text = self.text || self.instant;
        let kinds = [self.boolean, number, text, self.mapping, self.list.is_some()];
        if kinds.iter().filter(|seen| **seen).count() != 1 {
            return Type::Json;
        }
        match &self.list {
            Some(elements) => Type::List(Some(Box::new(elements.kind()))),
            None if self.boolean => Type::Boolean,
            None if self.fraction => Type::Number,
            None if self.integer => Type::Integer,
            None if self.text => Type::String,
            None if self.instant => Type::Timestamp,
            None => Type::Json,
        }
    }
}

/// Whether a source of one type has no quarrel with the type that all have together: integers are numbers, and a list
/// without elements says nothing about them.
pub(super) fn agrees(own: &Type, all: &Type) -> bool {
    match (own.element(), all.element()) {
        (Some(own), Some(all)) => *own == Type::Json || agrees(own, all),
        _ => own == all || (*own == Type::Integer && *all == Type::Number),
    }
}
