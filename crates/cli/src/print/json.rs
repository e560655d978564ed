//! Faults, reports and errors for programs.

use heldset_core::canonical;
use heldset_core::fault::Fault;
use heldset_core::number::Number;
use heldset_core::value::{Object, Value};
use heldset_dialect::Report;

use super::Severity;

/// A fault as one JSON object.
pub(crate) fn fault(fault: &Fault, severity: Severity) -> String {
    text(&fault_object(fault, severity))
}

/// A fault as a value.
pub(crate) fn fault_value(fault: &Fault, severity: Severity) -> Value<'static> {
    Value::Object(fault_object(fault, severity))
}

/// An error document.
pub(crate) fn error(file: Option<&str>, fault: &Fault) -> String {
    let mut inner = fault_object(fault, Severity::Error);
    inner.remove("severity");
    if !inner.contains("file") {
        inner.set("file", file.map_or(Value::Null, |file| Value::from(file.to_owned())));
    }
    let mut outer = Object::new();
    outer.set("error", Value::Object(inner));
    text(&outer)
}

/// The counts of a reading.
pub(crate) fn report(report: &Report, dropped: u64) -> Object<'static> {
    let mut object = Object::new();
    object.set("format", Value::from(report.format.name()));
    for (name, count) in [
        ("read", report.read),
        ("kept", report.kept),
        ("refused", report.refused),
        ("dropped", dropped),
        ("older", report.older),
        ("ids_given", report.ids_given),
    ] {
        object.set(name, number(count));
    }
    let mapped = report.mapped.iter().map(|((from, to), count)| (format!("{from} → {to}").into(), number(*count)));
    object.set("mapped", Value::Object(mapped.collect()));
    let as_is = report.as_is.iter().map(|(name, count)| (name.clone().into(), number(*count)));
    object.set("kept_as_they_are", Value::Object(as_is.collect()));
    object.set("legacy", Value::Array(report.legacy.iter().map(|shape| Value::from(*shape)).collect()));
    let file = |file: &heldset_dialect::FileUse| {
        let mut object = Object::new();
        object.set("file", Value::from(file.name.clone()));
        object.set("sha256", Value::from(file.sha256.clone()));
        Value::Object(object)
    };
    object.set("files", Value::Array(report.files.iter().map(file).collect()));
    object
}

/// An object as JSON text, keys in the order given.
pub(crate) fn text(object: &Object<'_>) -> String {
    let mut out = Vec::new();
    canonical::write_entries(object.iter(), &mut out);
    String::from_utf8(out).expect("JSON is UTF-8")
}

/// A value as JSON text; the keys of the outermost mapping stay in the order given.
pub(crate) fn value_text(value: &Value<'_>) -> String {
    match value {
        Value::Object(object) => text(object),
        other => String::from_utf8(canonical::bytes(other)).expect("JSON is UTF-8"),
    }
}

fn fault_object(fault: &Fault, severity: Severity) -> Object<'static> {
    let optional = |text: &Option<String>| text.clone().map_or(Value::Null, Value::from);
    let mut object = Object::new();
    object.set("code", Value::from(fault.code.name()));
    object.set("severity", Value::from(severity.name()));
    object.set("line", fault.place.map_or(Value::Null, |place| number(place.line)));
    object.set("column", fault.place.map_or(Value::Null, |place| number(place.column)));
    object.set("field", optional(&fault.field));
    object.set("message", Value::from(fault.message.clone()));
    object.set("help", optional(&fault.help));
    if let Some(file) = &fault.file {
        object.set("file", Value::from(file.clone()));
    }
    object
}

/// An object of these members.
pub(crate) fn object<'v, const N: usize>(members: [(&'static str, Value<'v>); N]) -> Object<'v> {
    members.into_iter().map(|(name, value)| (name.into(), value)).collect()
}

/// A text, or null.
pub(crate) fn optional(text: Option<&str>) -> Value<'_> {
    text.map_or(Value::Null, Value::from)
}

/// A count.
pub(crate) fn number(count: u64) -> Value<'static> {
    Value::Number(Number::from_u64(count))
}
