//! Extractors as they are configured: a name with `extractor_config`, or a mapping with everything.
//!
//! *Invariant:* every fault of a configuration is found here.

use heldset_core::fault::Problem;
use heldset_core::path::Path;
use heldset_core::value::{Object, Value};

use super::Extractor;
use crate::pattern::Pattern;
use crate::settings::{Settings, suggest};

/// The extractors by name.
pub(crate) const NAMES: &[&str] = &[
    "last_assistant",
    "first_assistant",
    "all_assistant",
    "last_turn",
    "pattern",
    "tool_arguments",
    "tool_output",
    "after_marker",
    "memory_block",
    "json_pointer",
    "turn",
];

impl Extractor {
    /// Reads `extractor` and `extractor_config` of a grader.
    pub(crate) fn read(settings: &Settings<'_>, compat: bool) -> Result<Extractor, Problem> {
        let given = settings.any("extractor");
        let config = settings.mapping("extractor_config")?.unwrap_or_default();
        match given {
            None => named("last_assistant", &config, settings, compat),
            Some(Value::String(name)) => named(name, &config, settings, compat),
            Some(Value::Object(inline)) => {
                let mut all = inline.clone();
                let name = ["kind", "name", "type"].iter().find_map(|key| all.remove(key));
                let Some(Value::String(name)) = name else {
                    return Err(settings.fault("extractor", "an extractor needs a `kind`"));
                };
                for (key, value) in config {
                    all.set(key, value);
                }
                named(&name, &all, settings, compat)
            }
            Some(other) => {
                let message = format!("`extractor` must be text or a mapping, not {}", other.type_name());
                Err(settings.fault("extractor", message))
            }
        }
    }
}

fn named(name: &str, config: &Object<'static>, outer: &Settings<'_>, compat: bool) -> Result<Extractor, Problem> {
    if name.contains(':') {
        return Ok(Extractor::Custom { function: name.to_owned(), config: config.clone() });
    }
    let at: Path = outer.at().then_key("extractor_config");
    let settings = Settings::new(config, at);
    let tool = || match settings.text("tool")? {
        Some(tool) => {
            settings.any("tool_name");
            Ok(tool)
        }
        None => settings.needed_text("tool_name"),
    };
    let separator = || Ok::<_, Problem>(settings.text("separator")?.unwrap_or_else(|| "\n".to_owned()));
    let extractor = match name {
        "last_assistant" => Extractor::LastAssistant,
        "first_assistant" => Extractor::FirstAssistant,
        "all_assistant" => Extractor::AllAssistant { separator: separator()? },
        "last_turn" => Extractor::LastTurn { separator: separator()? },
        "pattern" => pattern(&settings, compat)?,
        "tool_arguments" => Extractor::ToolArguments { tool: tool()? },
        "tool_output" => Extractor::ToolOutput { tool: tool()? },
        "after_marker" => Extractor::AfterMarker {
            marker: settings.needed_text("marker")?,
            include: settings.flag("include_marker")?,
        },
        "memory_block" => {
            let label = settings.text("label")?;
            let block = settings.text("block_label")?;
            Extractor::MemoryBlock { label: block.or(label).ok_or_else(|| settings.lacks("block_label"))? }
        }
        "json_pointer" => json_pointer(&settings)?,
        "turn" => {
            let (index, turn) = (settings.integer("index")?, settings.integer("turn")?);
            Extractor::Turn { index: index.or(turn).unwrap_or(-1) }
        }
        other => {
            let problem = outer.fault("extractor", format!("unknown extractor `{other}`"));
            return Err(problem.help(suggest(other, NAMES)));
        }
    };
    if !compat {
        // The released loader takes any key here.
        settings.finish()?;
    }
    Ok(extractor)
}

fn pattern(settings: &Settings<'_>, compat: bool) -> Result<Extractor, Problem> {
    let text = settings.needed_text("pattern")?;
    let search_all = settings.flag("search_all")?;
    let pattern = Pattern::new(&text, compat)
        .map_err(|error| settings.fault("pattern", format!("`{text}` is no valid pattern: {error}")))?;
    let group = match settings.any("group") {
        None => 0,
        Some(Value::Number(number)) => {
            let number = number.as_u64().and_then(|number| usize::try_from(number).ok());
            number.ok_or_else(|| settings.fault("group", "`group` must be a whole number from 0"))?
        }
        Some(Value::String(name)) => {
            let place = pattern.group_named(name);
            let unknown = || settings.fault("group", format!("the pattern has no group `{name}`"));
            place.ok_or_else(unknown)?
        }
        Some(other) => {
            let message = format!("`group` must be a number or a name, not {}", other.type_name());
            return Err(settings.fault("group", message));
        }
    };
    if !compat && group > pattern.group_count() {
        let message = format!("the pattern has {} groups, not {}", pattern.group_count(), group);
        return Err(settings.fault("group", message));
    }
    Ok(Extractor::Pattern { pattern: Box::new(pattern), group, search_all })
}

fn json_pointer(settings: &Settings<'_>) -> Result<Extractor, Problem> {
    let pointer = settings.needed_text("pointer")?;
    if !pointer.is_empty() && !pointer.starts_with('/') {
        let problem = settings.fault("pointer", format!("`{pointer}` is no JSON pointer"));
        return Err(problem.help("a pointer is empty or starts with `/`, such as `/answer/0`"));
    }
    Ok(Extractor::JsonPointer { pointer })
}
