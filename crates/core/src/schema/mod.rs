//! Schemas: the declared fields of a dataset, their types, and what else is asked of a record.
//!
//! *Invariant:* a schema that was given as a JSON Schema is kept as it was given; the fields are what our form can say
//! of it, and `rest` holds what it cannot.

mod change;
mod check;
mod constraints;
mod expand;
mod json_schema;
mod kind;
mod property;
mod read;
mod registration;
mod write;

pub use crate::filter::is_instant;
pub use change::{Change, ChangeKind, FieldChange, change};
pub use kind::{FieldType, Type};
pub use registration::Registration;

use crate::fault::Problem;
use crate::value::{Object, Value};

/// The declared fields, in order, and what else is asked of a record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    fields: Vec<Field>,
    closed: bool,
    /// What a JSON Schema asks beyond its fields.
    rest: Object<'static>,
    /// The JSON Schema, if it was given as one.
    given: Option<Value<'static>>,
}

/// A declared field.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: Type,
    /// What it is for.
    pub description: Option<String>,
    /// Whether every record must have it. In our own form it must then also be other than null.
    pub required: bool,
    /// The label it gets with the next import.
    pub visibility: Option<String>,
    /// Whether it may be null.
    nullable: bool,
    /// What a JSON Schema asks of it beyond its type.
    rest: Object<'static>,
    /// The fields inside it, if a JSON Schema declares them: of a mapping, or of the mappings in a list.
    inner: Option<Box<Schema>>,
}

impl Schema {
    /// A schema of fields whose names are known to be distinct.
    pub fn new(fields: Vec<(String, FieldType)>) -> Self {
        let fields = fields.into_iter().map(|(name, kind)| Field::new(name, kind.into(), false)).collect();
        Schema { fields, ..Schema::default() }
    }

    /// A schema of fields whose names are known to be distinct.
    pub fn of(fields: Vec<Field>) -> Self {
        Schema { fields, ..Schema::default() }
    }

    /// Reads `{"fields": [{"name", "type", …}]}` or a JSON Schema; tells the first of its problems.
    pub fn from_value(value: &Value<'_>) -> Result<Self, Problem> {
        Schema::read(value)
            .map_err(|problems| problems.into_iter().next().expect("a schema that is refused has at least one problem"))
    }

    /// Reads `{"fields": [{"name", "type", …}]}` or a JSON Schema; tells all of its problems.
    pub fn read(value: &Value<'_>) -> Result<Self, Vec<Problem>> {
        read::schema(value)
    }

    /// The declared fields, in order.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Whether records may have no other fields.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// The declared field of that name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The declared type of a field.
    pub fn type_of(&self, name: &str) -> Option<FieldType> {
        self.field(name).map(|field| field.kind.outer())
    }

    /// The JSON Schema, if it was given as one.
    pub fn given(&self) -> Option<&Value<'static>> {
        self.given.as_ref()
    }

    /// The schema as somebody sees it who sees only some fields; the others are not there.
    #[must_use]
    pub fn seen(&self, sees: &dyn Fn(&Field) -> bool) -> Schema {
        if self.fields.iter().all(sees) {
            return self.clone();
        }
        let fields: Vec<Field> = self.fields.iter().filter(|field| sees(field)).cloned().collect();
        let given = self.given.as_ref().map(|given| json_schema::only(given, &fields));
        Schema { fields, closed: self.closed, rest: Object::new(), given }
    }
}

impl Field {
    /// A field without a description or label.
    pub fn new(name: String, kind: Type, required: bool) -> Self {
        let (description, visibility, rest, inner) = (None, None, Object::new(), None);
        Field { name, kind, description, required, visibility, nullable: !required, rest, inner }
    }
}
