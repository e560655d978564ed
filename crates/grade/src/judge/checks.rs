//! Outcomes that are rules: a sentence on how often tools are called becomes a count.
//!
//! *Invariant:* only a sentence that says nothing else, and says it in one way, becomes a check; the judge reads all
//! others.

use std::sync::LazyLock;

use heldset_core::value::Value;
use regex::{Captures, Regex};

use crate::case::Case;

const NUMBER: &str = r"(?P<n>\d{1,6}|zero|one|two|three|four|five|six|seven|eight|nine|ten)";
const WHO: &str = r"(?:(?:the |an? )?(?:ai )?(?:agent|assistant|model|bot|it|system) )?";
const MODAL: &str = r"(?:should|must|shall|may|can|could|will|does|do|is allowed to|has to|needs to|is expected to)";
const MAKE: &str = r"(?:makes?|uses?|performs?|issues?|executes?|needs?|does|do|takes?|has|have)";
const CALLS: &str = r"tool[- ]?calls?(?: in total| overall| altogether)?";
const USE: &str = r"(?:calls?|(?P<use>uses?)|invokes?)";
const TOOL: &str = r#"(?P<lead>the )?(?P<before>tool )?(?:`(?P<a>[^`]+)`|"(?P<b>[^"]+)"|'(?P<c>[^']+)'|(?P<d>[A-Za-z][\w.\-]*))(?P<after> tool)?"#;
const TIMES: &str = r"(?: (?:(?P<bound>at least|at most|exactly|no more than|not more than) )?(?:(?P<times>\d{1,6}|zero|one|two|three|four|five|six|seven|eight|nine|ten) times?|(?P<word>once|twice)))?";
const NOT: &str = r"(?:not|never)";

static NOT_MORE: LazyLock<Regex> =
    LazyLock::new(|| sentence(&format!("{WHO}(?:{MODAL} )?{NOT} (?:{MAKE} )?more than {NUMBER} {CALLS}")));
static BOUNDED: LazyLock<Regex> = LazyLock::new(|| {
    let bound =
        "(?P<bound>at most|no more than|not more than|a maximum of|up to|at least|exactly|fewer than|less than)";
    sentence(&format!("{WHO}(?:{MODAL} )?(?:{MAKE} )?{bound} {NUMBER} {CALLS}"))
});
static NO_CALLS: LazyLock<Regex> = LazyLock::new(|| {
    let verb = "(?:calls?|uses?|invokes?)";
    let calls = format!("{NOT} {MAKE} any tool[- ]?calls?|{MAKE} no tool[- ]?calls?");
    sentence(&format!("{WHO}(?:{MODAL} )?(?:{calls}|{NOT} {verb} any tools?|{verb} no tools?)|no tool[- ]?calls?"))
});
static CALL: LazyLock<Regex> = LazyLock::new(|| sentence(&format!("{WHO}(?:{MODAL} )?{USE} {TOOL}{TIMES}")));
static NO_CALL: LazyLock<Regex> = LazyLock::new(|| {
    sentence(&format!(
        "{WHO}(?:(?:{MODAL} )?{NOT} {USE}|(?:{MODAL} )?avoids? (?:calling|(?P<using>using)|invoking)) {TOOL}"
    ))
});

/// A rule on how often tools are called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Check {
    /// The tool; all of them when absent.
    tool: Option<String>,
    least: u64,
    most: Option<u64>,
}

impl Check {
    /// The rule that an outcome is, if it is one.
    pub(super) fn of(outcome: &str, case: &Case<'_>) -> Option<Check> {
        let text = plain(outcome);
        if let Some(found) = NOT_MORE.captures(&text) {
            return Some(Check { tool: None, least: 0, most: Some(number(&found["n"])?) });
        }
        if let Some(found) = BOUNDED.captures(&text) {
            let (least, most) = bounds(&found["bound"].to_lowercase(), number(&found["n"])?)?;
            return Some(Check { tool: None, least, most });
        }
        if NO_CALLS.is_match(&text) {
            return Some(Check { tool: None, least: 0, most: Some(0) });
        }
        if let Some(found) = NO_CALL.captures(&text) {
            return Some(Check { tool: Some(tool(&found, case)?), least: 0, most: Some(0) });
        }
        let found = CALL.captures(&text)?;
        let tool = Some(tool(&found, case)?);
        let times = match (found.name("times"), found.name("word")) {
            (Some(times), _) => number(times.as_str())?,
            (None, Some(word)) => {
                if word.as_str().eq_ignore_ascii_case("once") {
                    1
                } else {
                    2
                }
            }
            (None, None) => return Some(Check { tool, least: 1, most: None }),
        };
        let bound = found.name("bound").map_or_else(|| "exactly".to_owned(), |bound| bound.as_str().to_lowercase());
        let (least, most) = bounds(&bound, times)?;
        Some(Check { tool, least, most })
    }

    /// Whether it holds, and the evidence.
    pub(super) fn judge(&self, case: &Case<'_>) -> (bool, String) {
        let counted = |name: &str| self.tool.as_deref().is_none_or(|tool| tool == name);
        let count = case.tool_calls().iter().filter(|call| counted(call.name)).count() as u64;
        let holds = count >= self.least && self.most.is_none_or(|most| count <= most);
        let what = self.tool.as_deref().map_or("tool calls".to_owned(), |tool| format!("calls of `{tool}`"));
        (holds, format!("counted {count} {what}"))
    }
}

fn sentence(pattern: &str) -> Regex {
    Regex::new(&format!("(?i)^(?:{pattern})[.!]?$")).expect("the patterns of sentences are fixed and valid")
}

/// One space between words, and contractions written out.
fn plain(outcome: &str) -> String {
    let text = outcome.replace(['’', '‘'], "'").replace("n't ", " not ").replace("cannot ", "can not ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn bounds(bound: &str, n: u64) -> Option<(u64, Option<u64>)> {
    Some(match bound {
        "at least" => (n, None),
        "exactly" => (n, Some(n)),
        "fewer than" | "less than" => (0, Some(n.checked_sub(1)?)),
        _ => (0, Some(n)),
    })
}

fn number(word: &str) -> Option<u64> {
    const WORDS: [&str; 11] = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let named = WORDS.iter().position(|name| name.eq_ignore_ascii_case(word)).map(|place| place as u64);
    named.or_else(|| word.parse().ok())
}

/// The tool that a sentence names: one that the record offers or the agent called, or one that is called a tool.
fn tool(found: &Captures<'_>, case: &Case<'_>) -> Option<String> {
    let name = ["a", "b", "c", "d"].iter().find_map(|group| found.name(group))?.as_str();
    let offered = case.fields.get("tools").and_then(Value::as_array).unwrap_or_default();
    let named =
        |tool: &Value<'_>| tool.as_object().and_then(|tool| tool.get("name")).and_then(Value::as_str) == Some(name);
    let known = offered.iter().any(named) || case.tool_calls().iter().any(|call| call.name == name);
    let quoted = found.name("d").is_none();
    let called_tool = found.name("before").is_some() || found.name("after").is_some();
    // Many things are used; what is called and has a name like `search_logs` is a tool.
    let used = found.name("use").is_some() || found.name("using").is_some();
    (known || (quoted && called_tool) || (!used && name.contains('_'))).then(|| name.to_owned())
}
