//! Tools as models know them, and the answers that a record has for their calls.
//!
//! *Invariant:* a call without an answer is an error that is recorded, never an invented result.

use std::collections::HashMap;

use heldset_core::trace::{Step, StepKind, StepStatus};
use heldset_core::value::{Object, Value};

use crate::config::plain_text;
use crate::requests::read_json;

/// The answers of a record for one session.
pub(crate) struct Fixtures<'t> {
    answers: Option<&'t Value<'static>>,
    used: HashMap<String, usize>,
}

/// A call that a model asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Call {
    /// Its id.
    pub(crate) id: String,
    /// The tool.
    pub(crate) name: String,
    /// The arguments as the model wrote them.
    pub(crate) arguments: String,
}

impl Call {
    /// The arguments, if they are a mapping in JSON; nothing at all is an empty one.
    pub(crate) fn parsed(&self) -> Result<Value<'static>, String> {
        if self.arguments.trim().is_empty() {
            return Ok(Value::Object(Object::new()));
        }
        match read_json(&self.arguments) {
            Some(arguments @ Value::Object(_)) => Ok(arguments),
            Some(other) => Err(format!("the arguments are {}, not a mapping", other.type_name())),
            None => Err("the arguments are not JSON".to_owned()),
        }
    }

    /// The step that the call is, with what came of it.
    pub(crate) fn step(&self, outcome: Result<Value<'static>, String>) -> Step {
        let arguments = self.parsed().unwrap_or_else(|_| Value::from(self.arguments.clone()));
        let (output, error) = match outcome {
            Ok(output) => (Some(output), None),
            Err(error) => (None, Some(error)),
        };
        Step {
            kind: StepKind::ToolCall,
            name: Some(self.name.clone()),
            call_id: Some(self.id.clone()),
            arguments: Some(arguments),
            output,
            status: if error.is_some() { StepStatus::Error } else { StepStatus::Ok },
            error,
            ..Step::default()
        }
    }
}

impl<'t> Fixtures<'t> {
    /// The fixtures that a record gives to the runtime.
    pub(crate) fn new(runtime: &'t Object<'static>) -> Self {
        Fixtures { answers: runtime.get("tool_fixtures"), used: HashMap::new() }
    }

    /// The answer to a call, or why there is none.
    pub(crate) fn answer(&mut self, call: &Call) -> Result<Value<'static>, String> {
        let arguments = call.parsed()?;
        let missing = || format!("no fixture answers the tool `{}`", call.name);
        let found = match self.answers {
            Some(Value::Object(answers)) => {
                let by_tool = answers.get("by_tool").and_then(Value::as_object);
                by_tool.and_then(|tools| tools.get(&call.name)).or_else(|| answers.get(&call.name))
            }
            Some(list @ Value::Array(_)) => Some(list),
            _ => None,
        };
        match found.ok_or_else(missing)? {
            Value::Array(items) if items.iter().any(is_rule) => self
                .by_rule(items, call, &arguments)
                .ok_or_else(|| format!("no fixture of the tool `{}` matches its arguments", call.name))?,
            Value::Array(_) if matches!(self.answers, Some(Value::Array(_))) => Err(missing()),
            Value::Array(items) => {
                let used = self.used.entry(call.name.clone()).or_default();
                *used += 1;
                items.get(*used - 1).cloned().ok_or_else(|| {
                    format!("the tool `{}` was called more often than its {} fixtures", call.name, items.len())
                })
            }
            one => outcome(one),
        }
    }

    /// The first rule that matches; of several that match alike, each is used once before the last is used again.
    fn by_rule(
        &mut self,
        rules: &[Value<'static>],
        call: &Call,
        arguments: &Value<'static>,
    ) -> Option<Result<Value<'static>, String>> {
        let mut matching = rules.iter().enumerate().filter(|(_, rule)| {
            let Some(rule) = rule.as_object() else { return false };
            let names_other = ["tool", "name", "tool_name"].iter().find_map(|key| rule.get(key)?.as_str());
            let wanted = ["match", "when", "args", "arguments"].iter().find_map(|key| rule.get(key));
            names_other.is_none_or(|name| name == call.name) && wanted.is_none_or(|wanted| is_within(wanted, arguments))
        });
        let used = self.used.entry(format!("{}\0{}", call.name, plain_text(arguments))).or_default();
        let place = *used;
        *used += 1;
        let (_, rule) = matching.by_ref().take(place + 1).last()?;
        Some(outcome(rule))
    }
}

fn is_rule(item: &Value<'_>) -> bool {
    let answer =
        |rule: &Object<'_>| ["output", "result", "response", "answer", "error"].iter().any(|key| rule.contains(key));
    let wanted =
        |rule: &Object<'_>| ["match", "when", "args", "arguments", "tool"].iter().any(|key| rule.contains(key));
    item.as_object().is_some_and(|rule| answer(rule) && (wanted(rule) || rule.len() == 1))
}

/// What a fixture says: an error, an output, or the value itself.
fn outcome(fixture: &Value<'static>) -> Result<Value<'static>, String> {
    let Some(rule) = fixture.as_object().filter(|_| is_rule(fixture)) else { return Ok(fixture.clone()) };
    if let Some(error) = rule.get("error").filter(|error| !error.is_null()) {
        return Err(plain_text(error));
    }
    let keys = ["output", "result", "response", "answer"];
    Ok(keys.iter().find_map(|key| rule.get(key)).cloned().unwrap_or(Value::Null))
}

/// Whether all that is wanted is there, at any depth.
fn is_within(wanted: &Value<'_>, given: &Value<'_>) -> bool {
    match (wanted, given) {
        (Value::Object(wanted), Value::Object(given)) => {
            wanted.iter().all(|(key, wanted)| given.get(key).is_some_and(|given| is_within(wanted, given)))
        }
        _ => wanted == given,
    }
}

/// Tools in the form of chat completions, from any of the forms a record or a plan has: that form, mappings with a
/// name, bare names, or a mapping of names.
pub(crate) fn declared(tools: &Value<'static>) -> Vec<Value<'static>> {
    match tools {
        Value::Array(items) => items.iter().filter_map(|tool| one(None, tool)).collect(),
        Value::Object(named) => named.iter().filter_map(|(name, tool)| one(Some(name), tool)).collect(),
        _ => Vec::new(),
    }
}

/// The name of a declared tool.
pub(crate) fn name_of(tool: &Value<'_>) -> Option<String> {
    tool.as_object()?.get("function")?.as_object()?.get("name")?.as_str().map(str::to_owned)
}

fn one(name: Option<&str>, tool: &Value<'static>) -> Option<Value<'static>> {
    let parts = match tool {
        Value::String(text) if name.is_none() => return Some(function(text, None, None)),
        Value::String(text) => return name.map(|name| function(name, Some(text.clone().into_owned().into()), None)),
        Value::Object(tool) => tool,
        _ => return name.map(|name| function(name, None, None)),
    };
    if parts.get("function").is_some_and(|function| function.as_object().is_some()) {
        return Some(tool.clone());
    }
    let name = name.or_else(|| ["name", "id", "tool"].iter().find_map(|key| parts.get(key)?.as_str()))?;
    let schema = ["parameters", "input_schema", "inputSchema", "schema"].iter().find_map(|key| parts.get(key));
    Some(function(name, parts.get("description").cloned(), schema.cloned()))
}

/// A tool by its name, description and the schema of its arguments.
pub(crate) fn function(
    name: &str,
    description: Option<Value<'static>>,
    schema: Option<Value<'static>>,
) -> Value<'static> {
    let mut function = Object::new();
    function.set("name", name.to_owned().into());
    if let Some(description) = description {
        function.set("description", description);
    }
    let open = || [("type".into(), Value::from("object"))].into_iter().collect::<Object<'static>>().into();
    function.set("parameters", schema.unwrap_or_else(open));
    let mut tool = Object::new();
    tool.set("type", "function".into());
    tool.set("function", function.into());
    tool.into()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use heldset_core::{canonical, json};

    fn answers(fixtures: &str, calls: &[(&str, &str)]) -> Vec<String> {
        let mut runtime = Object::new();
        runtime.set("tool_fixtures", json::read(fixtures).unwrap().into_owned());
        let mut fixtures = Fixtures::new(&runtime);
        let mut one = |(name, arguments): &(&str, &str)| {
            let call = Call { id: "1".into(), name: (*name).into(), arguments: (*arguments).into() };
            match fixtures.answer(&call) {
                Ok(value) => String::from_utf8(canonical::bytes(&value)).unwrap(),
                Err(error) => format!("! {error}"),
            }
        };
        calls.iter().map(&mut one).collect()
    }

    #[test]
    fn a_call_is_answered_by_the_fixture_that_fits() {
        let check = |fixtures: &str, calls: &[(&str, &str)], expected: &[&str]| {
            assert_eq!(answers(fixtures, calls), expected, "{fixtures}");
        };
        check(
            r#"{"sum":4}"#,
            &[("sum", "{}"), ("sum", ""), ("sun", "{}")],
            &["4", "4", "! no fixture answers the tool `sun`"],
        );
        check(r#"{"by_tool":{"sum":{"n":4}}}"#, &[("sum", "{}")], &[r#"{"n":4}"#]);
        check(
            r#"{"t":["a","b"]}"#,
            &[("t", "{}"), ("t", "{}"), ("t", "{}")],
            &[r#""a""#, r#""b""#, "! the tool `t` was called more often than its 2 fixtures"],
        );
        let rules =
            r#"{"by_tool":{"f":[{"match":{"to":"Rome"},"output":1},{"match":{"to":"Oslo"},"error":"closed"}]}}"#;
        check(
            rules,
            &[("f", r#"{"to":"Rome","n":2}"#), ("f", r#"{"to":"Oslo"}"#), ("f", "{}"), ("f", r#"{"to":"Rome","n":2}"#)],
            &["1", "! closed", "! no fixture of the tool `f` matches its arguments", "1"],
        );
        check(
            r#"[{"tool":"f","output":1},{"tool":"g","output":2}]"#,
            &[("g", "{}"), ("h", "{}")],
            &["2", "! no fixture of the tool `h` matches its arguments"],
        );
        check(
            r#"{"f":1}"#,
            &[("f", "{"), ("f", "[1]")],
            &["! the arguments are not JSON", "! the arguments are a list, not a mapping"],
        );
    }

    #[test]
    fn tools_of_every_form_become_functions() {
        for tools in [
            r#"["a"]"#,
            r#"[{"name":"a"}]"#,
            r#"{"a":null}"#,
            r#"[{"type":"function","function":{"name":"a","parameters":{"type":"object"}}}]"#,
        ] {
            let declared = declared(&json::read(tools).unwrap().into_owned());
            assert_eq!(declared, [function("a", None, None)], "{tools}");
        }
    }
}
