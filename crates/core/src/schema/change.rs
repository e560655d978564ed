//! What changes from one schema to the next, and whether it breaks anybody.
//!
//! *Invariant:* after a non-breaking change every declared field that a reader could find is there with the type it
//! had, and what was declared of a record is fit as before.

use super::constraints::compare;
use super::{Field, Schema, Type};

/// What changes from one schema to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Whether it breaks anybody.
    pub kind: ChangeKind,
    /// What changed; nothing if the schemas ask for the same.
    pub fields: Vec<FieldChange>,
}

/// Whether a change breaks anybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// Who could use the data before still can.
    NonBreaking,
    /// Somebody may have to act.
    Breaking,
}

/// What changed in one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldChange {
    /// The field; inside mappings a dotted path; empty for the schema as a whole.
    pub field: String,
    /// `removed`, `added`, `type`, `required`, `optional`, `values_removed`, `values_added`, `null_refused`,
    /// `null_allowed`, `constraints`, `closed`, `opened`, `description`, `visibility`.
    pub what: &'static str,
    /// What it was and what it is, in words.
    pub detail: String,
    /// Whether it breaks anybody.
    pub breaking: bool,
}

impl ChangeKind {
    /// The name in answers.
    pub fn name(self) -> &'static str {
        match self {
            ChangeKind::NonBreaking => "non_breaking",
            ChangeKind::Breaking => "breaking",
        }
    }

    /// The kind of that name.
    pub fn parse(name: &str) -> Option<ChangeKind> {
        [ChangeKind::NonBreaking, ChangeKind::Breaking].into_iter().find(|kind| kind.name() == name)
    }
}

impl Change {
    /// Whether nothing changed.
    pub fn is_same(&self) -> bool {
        self.fields.is_empty()
    }

    /// The changes that break somebody.
    pub fn breaking(&self) -> impl Iterator<Item = &FieldChange> {
        self.fields.iter().filter(|change| change.breaking)
    }
}

/// What changes from one schema to another.
pub fn change(old: &Schema, new: &Schema) -> Change {
    let mut found = Found { fields: Vec::new() };
    found.schemas("", old, new);
    let breaking = found.fields.iter().any(|change| change.breaking);
    let kind = if breaking { ChangeKind::Breaking } else { ChangeKind::NonBreaking };
    Change { kind, fields: found.fields }
}

struct Found {
    fields: Vec<FieldChange>,
}

impl Found {
    fn add(&mut self, field: &str, what: &'static str, detail: impl Into<String>, breaking: bool) {
        self.fields.push(FieldChange { field: field.to_owned(), what, detail: detail.into(), breaking });
    }

    fn schemas(&mut self, outer: &str, old: &Schema, new: &Schema) {
        let path = |name: &str| if outer.is_empty() { name.to_owned() } else { format!("{outer}.{name}") };
        for before in &old.fields {
            match new.field(&before.name) {
                Some(after) => self.field(&path(&before.name), before, after),
                None => self.add(&path(&before.name), "removed", removed(before, old, new), true),
            }
        }
        for after in new.fields.iter().filter(|after| old.field(&after.name).is_none()) {
            let required = if after.required { "required" } else { "optional" };
            self.add(&path(&after.name), "added", format!("{required} `{}`", after.kind), after.required);
        }
        if old.closed != new.closed {
            let detail = if new.closed { "other fields are refused now" } else { "other fields are allowed now" };
            self.add(outer, if new.closed { "closed" } else { "opened" }, detail, new.closed);
        }
        self.rest(outer, compare(&old.rest, &new.rest));
    }

    fn field(&mut self, path: &str, old: &Field, new: &Field) {
        self.types(path, (&old.kind, &new.kind), (&old.kind, &new.kind));
        match (old.required, new.required) {
            (false, true) => self.add(path, "required", "optional becomes required", true),
            (true, false) => self.add(path, "optional", "required becomes optional", false),
            _ if old.nullable && !new.nullable => self.add(path, "null_refused", "null is refused now", true),
            _ if !old.nullable && new.nullable => self.add(path, "null_allowed", "null is allowed now", false),
            _ => {}
        }
        match (&old.inner, &new.inner) {
            (Some(before), Some(after)) => self.schemas(path, before, after),
            (None, Some(after)) => self.schemas(path, &Schema::default(), after),
            (Some(_), None) => self.add(path, "constraints", "the fields inside it are no longer declared", true),
            (None, None) => {}
        }
        self.rest(path, compare(&old.rest, &new.rest));
        if old.description != new.description {
            self.add(path, "description", "the description is another", false);
        }
        if old.visibility != new.visibility {
            let label =
                |label: &Option<String>| label.as_deref().map_or("none".to_owned(), |label| format!("`{label}`"));
            let detail = format!("label {} becomes {}", label(&old.visibility), label(&new.visibility));
            self.add(path, "visibility", detail, false);
        }
    }

    /// Compares types from the outside in; `whole` are those that the field has.
    fn types(&mut self, path: &str, (old, new): (&Type, &Type), whole: (&Type, &Type)) {
        match (old, new) {
            (Type::Enum(before), Type::Enum(after)) => self.values(path, before, after),
            (Type::List(_), Type::List(_)) => {
                let any = &Type::Json;
                self.types(path, (old.element().unwrap_or(any), new.element().unwrap_or(any)), whole);
            }
            _ if old == new => {}
            _ => self.add(path, "type", format!("`{}` becomes `{}`", whole.0, whole.1), true),
        }
    }

    fn values(&mut self, path: &str, old: &[String], new: &[String]) {
        let only = |some: &[String], others: &[String]| -> Vec<String> {
            some.iter().filter(|value| !others.contains(value)).map(|value| format!("`{value}`")).collect()
        };
        match (old.is_empty(), new.is_empty()) {
            (true, false) => return self.add(path, "values_removed", "any text becomes a list of values", true),
            (false, true) => return self.add(path, "values_added", "a list of values becomes any text", false),
            _ => {}
        }
        let (gone, come) = (only(old, new), only(new, old));
        if !gone.is_empty() {
            self.add(path, "values_removed", format!("no longer {}", gone.join(", ")), true);
        }
        if !come.is_empty() {
            self.add(path, "values_added", format!("also {}", come.join(", ")), false);
        }
    }

    fn rest(&mut self, path: &str, differing: Vec<(String, bool)>) {
        if differing.is_empty() {
            return;
        }
        let breaking = differing.iter().any(|(_, narrower)| *narrower);
        let names: Vec<String> = differing.iter().map(|(name, _)| format!("`{name}`")).collect();
        let detail = format!("{} {} other than before", names.join(", "), if names.len() == 1 { "is" } else { "are" });
        self.add(path, "constraints", detail, breaking);
    }
}

/// A field that is gone may have another name now.
fn removed(field: &Field, old: &Schema, new: &Schema) -> String {
    let come = new.fields.iter().filter(|after| old.field(&after.name).is_none() && field.kind == after.kind);
    let come: Vec<&Field> = come.collect();
    match come.as_slice() {
        [one] => format!("`{}` is gone; was it renamed to `{}`?", field.kind, one.name),
        _ => format!("`{}` is gone", field.kind),
    }
}
