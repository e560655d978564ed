//! Tools: which were called, with what, in which order, how often.
//!
//! *Invariant:* a call that failed is a call.

use heldset_core::fault::Problem;
use heldset_core::trace::ToolCall;
use heldset_core::value::{Object, Value};

use super::{Verdict, is_subset};
use crate::case::Case;
use crate::settings::Settings;
use crate::text::text_of;

/// A rule on calls of tools.
#[derive(Debug)]
pub(crate) enum ToolRule {
    Called { names: Option<Vec<String>> },
    Arguments { name: Option<String>, arguments: Option<Object<'static>>, subset: bool },
    Order { order: Option<Vec<String>>, mode: Mode },
    Max { max: Option<u64>, name: Option<String> },
}

/// How an order of tools is compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mode {
    /// In this order, others may be between.
    Subsequence,
    /// These and no others.
    Exact,
    /// All of them, as often as named, whatever the order.
    AnyOrder,
}

impl ToolRule {
    pub(super) fn read(kind: &str, settings: &Settings<'_>) -> Result<Self, Problem> {
        let one_name = || {
            let (name, tool) = (settings.text("name")?, settings.text("tool_name")?);
            Ok::<_, Problem>(name.or(tool))
        };
        Ok(match kind {
            "tool_called" => {
                let (names, tool) = (settings.texts("name")?, settings.text("tool_name")?);
                ToolRule::Called { names: names.or(tool.map(|tool| vec![tool])) }
            }
            "tool_arguments" => ToolRule::Arguments {
                name: one_name()?,
                arguments: settings.mapping("arguments")?,
                subset: settings.word("mode", &["equal", "subset"])? == "subset",
            },
            "tool_order" => {
                let mode = match settings.word("mode", &["subsequence", "exact", "any_order"])? {
                    "exact" => Mode::Exact,
                    "any_order" => Mode::AnyOrder,
                    _ => Mode::Subsequence,
                };
                ToolRule::Order { order: settings.texts("order")?, mode }
            }
            _ => ToolRule::Max { max: settings.count("max")?, name: one_name()? },
        })
    }

    pub(super) fn takes_reference(&self) -> bool {
        match self {
            ToolRule::Called { names } => names.is_none(),
            ToolRule::Arguments { arguments, .. } => arguments.is_none(),
            ToolRule::Order { order, .. } => order.is_none(),
            ToolRule::Max { max, .. } => max.is_none(),
        }
    }

    pub(super) fn score(&self, case: &Case<'_>) -> Verdict {
        let calls = case.tool_calls();
        let names: Vec<&str> = calls.iter().map(|call| call.name).collect();
        match self {
            ToolRule::Called { names: wanted } => match wanted.clone().or_else(|| tool_names(case.reference?)) {
                Some(wanted) => called(&wanted, &names),
                None => Verdict::Error("the reference names no tool".to_owned()),
            },
            ToolRule::Arguments { name, arguments, subset } => {
                match demand(name.as_deref(), arguments.as_ref(), case.reference) {
                    Some((name, arguments)) => with_arguments(&calls, name.as_deref(), &arguments, *subset),
                    None => Verdict::Error("the reference is no mapping of arguments".to_owned()),
                }
            }
            ToolRule::Order { order, mode } => match order.clone().or_else(|| tool_names(case.reference?)) {
                Some(order) => in_order(&order, &names, *mode),
                None => Verdict::Error("the reference is no list of tools".to_owned()),
            },
            ToolRule::Max { max, name } => {
                let count = names.iter().filter(|called| name.as_deref().is_none_or(|name| name == **called)).count();
                match max.or_else(|| text_of(case.reference?).trim().parse().ok()) {
                    Some(max) => Verdict::yes_or_no(count as u64 <= max, format!("{count} calls, at most {max}")),
                    None => Verdict::Error("the reference is not a number of calls".to_owned()),
                }
            }
        }
    }
}

fn called(wanted: &[String], names: &[&str]) -> Verdict {
    match wanted.iter().find(|wanted| !names.contains(&wanted.as_str())) {
        None => Verdict::score(1.0, format!("called: {}", wanted.join(", "))),
        Some(missing) => Verdict::score(0.0, format!("`{missing}` was not called")),
    }
}

/// The tool and the arguments that are asked for; the reference may hold both.
fn demand(
    name: Option<&str>,
    arguments: Option<&Object<'static>>,
    reference: Option<&Value<'_>>,
) -> Option<(Option<String>, Value<'static>)> {
    if let Some(arguments) = arguments {
        let named = name.map(str::to_owned).or_else(|| tool_names(reference?)?.into_iter().next());
        return Some((named, Value::Object(arguments.clone())));
    }
    let given = match reference? {
        Value::String(text) => crate::text::json_of(text),
        other => other.clone().into_owned(),
    };
    let object = given.as_object()?;
    let both = object.get("arguments").or_else(|| object.get("args")).filter(|value| value.as_object().is_some());
    match both {
        Some(arguments) => {
            let named = name.map(str::to_owned).or_else(|| tool_names(&given)?.into_iter().next());
            Some((named, arguments.clone()))
        }
        None => Some((name.map(str::to_owned), given.clone())),
    }
}

fn with_arguments(calls: &[ToolCall<'_>], name: Option<&str>, wanted: &Value<'_>, subset: bool) -> Verdict {
    let none = Value::Object(Object::new());
    let mut candidates = calls.iter().filter(|call| name.is_none_or(|name| name == call.name)).peekable();
    if candidates.peek().is_none() {
        return Verdict::score(
            0.0,
            name.map_or("no tool was called".to_owned(), |name| format!("`{name}` was not called")),
        );
    }
    let fits = candidates.any(|call| {
        let given = call.arguments.unwrap_or(&none);
        if subset { is_subset(wanted, given) } else { wanted == given }
    });
    Verdict::yes_or_no(fits, if fits { "a call has these arguments" } else { "no call has these arguments" })
}

fn in_order(order: &[String], names: &[&str], mode: Mode) -> Verdict {
    let fits = match mode {
        Mode::Exact => order.iter().map(String::as_str).eq(names.iter().copied()),
        Mode::Subsequence => {
            let mut rest = names.iter();
            order.iter().all(|wanted| rest.any(|name| name == wanted))
        }
        Mode::AnyOrder => order.iter().all(|wanted| {
            let count = |all: &mut dyn Iterator<Item = &str>| all.filter(|name| name == wanted).count();
            count(&mut names.iter().copied()) >= count(&mut order.iter().map(String::as_str))
        }),
    };
    let shown = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    Verdict::yes_or_no(fits, format!("called: {shown}"))
}

/// The tools that a reference names: a text, a list, steps with `required_tools`, or mappings with a `name`.
fn tool_names(reference: &Value<'_>) -> Option<Vec<String>> {
    match reference {
        Value::String(name) => Some(vec![name.trim().to_owned()]),
        Value::Array(items) => {
            let names: Vec<Vec<String>> = items.iter().map(tool_names).collect::<Option<_>>()?;
            Some(names.concat())
        }
        Value::Object(step) => {
            let key = ["required_tools", "requiredTools", "name", "tool"].iter().find_map(|key| step.get(key));
            match key {
                Some(value) => tool_names(value),
                None if step.contains("description") => Some(Vec::new()),
                None => None,
            }
        }
        _ => None,
    }
}
