//! Reads what targets have in common from their configuration.
//!
//! *Invariant:* the value of a secret is looked up by its name and handed on, never stored in a configuration or told
//! in a message.

use std::time::Duration;

use heldset_core::code::Code;
use heldset_core::fault::{Problem, nearest};
use heldset_core::path::Path;
use heldset_core::value::{Object, Value};

use crate::agent::Secrets;

/// A fault of the target's `key`.
pub(crate) fn wrong(key: &str, message: impl Into<String>, help: impl Into<String>) -> Problem {
    Problem::new(Code::E058, Path::key("target").then_key(key), message).help(help)
}

/// Refuses keys that are a slip of the pen. Other keys that a kind of target does not know are let be: an overlay may
/// have been written for another target than the one it is laid over.
pub(crate) fn only(config: &Object<'_>, kind: &str, known: &[&str]) -> Result<(), Problem> {
    /// Keys that every kind has, and those that are for others who read the plan.
    const EVERYWHERE: &[&str] =
        &["kind", "name", "display_name", "description", "revision", "flavour", "model", "timeout", "max_retries"];
    for (key, _) in config.iter().filter(|(key, _)| !known.contains(key) && !EVERYWHERE.contains(key)) {
        if let Some(near) = nearest(key, known.iter().copied()) {
            let message = format!("a `{kind}` target has no key `{key}`");
            return Err(wrong(key, message, format!("did you mean `{near}`?")));
        }
    }
    Ok(())
}

/// The agents that a target declares: a list of names, or of mappings that have one, or a mapping by name.
pub(crate) fn agents(config: &Object<'_>) -> Result<Option<Vec<String>>, Problem> {
    let named = |value: &Value<'_>| {
        let inside = value.as_object().and_then(|agent| agent.get("name").or_else(|| agent.get("id")));
        value.as_str().or_else(|| inside.and_then(Value::as_str)).map(str::to_owned)
    };
    let names: Option<Vec<String>> = match config.get("agents") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Array(items)) => items.iter().map(named).collect(),
        Some(Value::Object(agents)) => Some(agents.iter().map(|(name, _)| name.to_owned()).collect()),
        Some(_) => None,
    };
    names.map(Some).ok_or_else(|| wrong("agents", "an agent is named by text", "write `agents: [concierge]`"))
}

/// The text of `key`.
pub(crate) fn text<'c>(config: &'c Object<'_>, key: &str) -> Result<Option<&'c str>, Problem> {
    match config.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(wrong(key, format!("`{key}` is text, not {}", other.type_name()), "quote it")),
    }
}

/// The flag of `key`.
pub(crate) fn flag(config: &Object<'_>, key: &str, default: bool) -> Result<bool, Problem> {
    match config.get(key) {
        None | Some(Value::Null) => Ok(default),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(other) => {
            Err(wrong(key, format!("`{key}` is a boolean, not {}", other.type_name()), "write `true` or `false`"))
        }
    }
}

/// The list of `key`.
pub(crate) fn list<'c>(config: &'c Object<'static>, key: &str) -> Result<Option<&'c [Value<'static>]>, Problem> {
    match config.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(items)) => Ok(Some(items)),
        Some(other) => Err(wrong(key, format!("`{key}` is a list, not {}", other.type_name()), "write a list")),
    }
}

/// The span of time that `key` gives: a number of seconds, or text such as `500ms`, `30s`, `5m`.
pub(crate) fn span(config: &Object<'_>, key: &str, default: Duration) -> Result<Duration, Problem> {
    let seconds = match config.get(key) {
        None | Some(Value::Null) => return Ok(default),
        Some(Value::Number(number)) => Some(number.as_f64()),
        Some(Value::String(text)) => seconds_of(text),
        Some(_) => None,
    };
    seconds.filter(|seconds| *seconds > 0.0).and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).ok_or_else(
        || wrong(key, format!("`{key}` is not a span of time"), "write a number of seconds, or text such as `30s`"),
    )
}

fn seconds_of(text: &str) -> Option<f64> {
    let (number, unit) = text.trim().split_at(text.trim().find(|c: char| c.is_ascii_alphabetic())?);
    let factor = match unit {
        "ms" => 0.001,
        "s" | "sec" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    number.trim().parse::<f64>().ok().map(|number| number * factor)
}

/// The variables of `env`, with `${NAME}` replaced by the values of secrets.
pub(crate) fn environment(config: &Object<'_>, secrets: &Secrets) -> Result<Vec<(String, String)>, Problem> {
    let env = match config.get("env") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Object(env)) => env,
        Some(other) => {
            let message = format!("`env` is a mapping, not {}", other.type_name());
            return Err(wrong("env", message, "write `NAME: value`"));
        }
    };
    let one = |(name, value): (&str, &Value<'_>)| {
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(wrong("env", format!("`{name}` cannot name a variable"), "use letters, digits and `_`"));
        }
        Ok((name.to_owned(), resolved("env", &plain_text(value), secrets)?))
    };
    env.iter().filter(|(_, value)| !value.is_null()).map(one).collect()
}

/// A text with `${NAME}` replaced by the values of secrets.
pub(crate) fn resolved(key: &str, text: &str, secrets: &Secrets) -> Result<String, Problem> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let Some(length) = rest[start..].find('}') else { break };
        let name = &rest[start + 2..start + length];
        let Some(value) = secrets(name) else {
            let help = format!("set `{name}` in the environment of heldset");
            return Err(wrong(key, format!("the variable `{name}` is not set"), help));
        };
        out.push_str(&rest[..start]);
        out.push_str(&value);
        rest = &rest[start + length + 1..];
    }
    Ok(out + rest)
}

/// A value as plain text: text as it is, all else as JSON.
pub(crate) fn plain_text(value: &Value<'_>) -> String {
    match value {
        Value::String(text) => text.clone().into_owned(),
        other => String::from_utf8_lossy(&heldset_core::canonical::bytes(other)).into_owned(),
    }
}

/// The words of a command line, by the rules of a shell for quotes and backslashes, and none of its others.
pub(crate) fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => word.get_or_insert_default().push_str(&until_quote(&mut chars)?),
            '"' => double_quoted(&mut chars, word.get_or_insert_default())?,
            '\\' => word.get_or_insert_default().push(chars.next()?),
            c if c.is_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

fn until_quote(chars: &mut std::str::Chars<'_>) -> Option<String> {
    let (inside, rest) = chars.as_str().split_once('\'')?;
    *chars = rest.chars();
    Some(inside.to_owned())
}

fn double_quoted(chars: &mut std::str::Chars<'_>, word: &mut String) -> Option<()> {
    loop {
        match chars.next()? {
            '"' => return Some(()),
            '\\' => match chars.next()? {
                c @ ('"' | '\\' | '$' | '`') => word.push(c),
                c => word.extend(['\\', c]),
            },
            c => word.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_split_as_a_shell_would() {
        let check = |line: &str, expected: &[&str]| {
            assert_eq!(words(line).unwrap_or_default(), expected, "{line}");
        };
        check("python3  agent.py --x=1", &["python3", "agent.py", "--x=1"]);
        check(r#"a 'b c' "d \"e\" \n" f\ g '' h"i"'j'"#, &["a", "b c", r#"d "e" \n"#, "f g", "", "hij"]);
        assert_eq!(words("a 'b"), None);
        assert_eq!(words("a \""), None);
    }

    #[test]
    fn a_span_has_a_unit_or_is_seconds() {
        let read = |value: Value<'static>| {
            let config: Object<'static> = [("timeout".into(), value)].into_iter().collect();
            span(&config, "timeout", Duration::ZERO).ok()
        };
        assert_eq!(read(Value::from(2)), Some(Duration::from_secs(2)));
        assert_eq!(read(Value::from("500ms")), Some(Duration::from_millis(500)));
        assert_eq!(read(Value::from("5m")), Some(Duration::from_secs(300)));
        assert_eq!(read(Value::from("soon")), None);
        assert_eq!(read(Value::from(0)), None);
    }

    #[test]
    fn a_secret_is_looked_up_by_its_name() {
        let secrets = |name: &str| (name == "KEY").then(|| "s3".to_owned());
        assert_eq!(resolved("env", "Bearer ${KEY}!", &secrets).ok(), Some("Bearer s3!".to_owned()));
        let problem = resolved("env", "${OTHER}", &secrets).err();
        assert_eq!(problem.map(|problem| problem.message), Some("the variable `OTHER` is not set".to_owned()));
        assert_eq!(resolved("env", "a $b {c} ${", &secrets).ok(), Some("a $b {c} ${".to_owned()));
    }
}
