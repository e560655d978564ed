//! A sample of the released loader: what its checks let through, and how it is written.
//!
//! *Invariant:* a sample is made only by [`Draft::check`], which refuses what the loader's own model refuses.

use super::refusal::Refusal;
use super::value::{PyDict, PyText, PyValue, whole_digits};
use super::write;

/// A sample as the released loader yields it.
#[derive(Debug, PartialEq)]
pub struct CompatSample {
    id: PyText,
    input: TextOrList,
    ground_truth: Option<TextOrList>,
    agent_args: Option<PyDict>,
    rubric_vars: Option<PyDict>,
    extra_vars: Option<PyDict>,
    rubric: Option<PyText>,
}

#[derive(Debug, PartialEq)]
enum TextOrList {
    Text(PyText),
    List(Vec<PyText>),
}

/// The values of a sample before they are checked.
pub(super) struct Draft {
    pub(super) id: PyValue,
    pub(super) input: PyValue,
    pub(super) ground_truth: PyValue,
    pub(super) agent_args: PyValue,
    pub(super) rubric_vars: PyValue,
    pub(super) extra_vars: PyValue,
    pub(super) rubric: PyValue,
}

impl Draft {
    /// The sample, or why there is none; `class` is the exception that a failed check ends as.
    pub(super) fn check(self, class: &str) -> Result<CompatSample, Refusal> {
        let sample = CompatSample {
            id: checked_id(self.id, class)?,
            input: text_or_list(self.input, "input", class)?,
            ground_truth: match self.ground_truth {
                PyValue::None => None,
                value => Some(text_or_list(value, "ground_truth", class)?),
            },
            agent_args: dict(self.agent_args, "agent_args", class)?,
            rubric_vars: dict(self.rubric_vars, "rubric_vars", class)?,
            extra_vars: dict(self.extra_vars, "extra_vars", class)?,
            rubric: match self.rubric {
                PyValue::None => None,
                PyValue::Str(text) => Some(text),
                value => return Err(wrong(&value, "rubric", "text", class)),
            },
        };
        sample.check_turns(class)?;
        Ok(sample)
    }
}

impl CompatSample {
    /// The sample as one line of JSON in canonical field names, without the line's end. Python's NaN and infinities
    /// and lone surrogates stand in it as Python writes them.
    pub fn to_json_line(&self) -> Vec<u8> {
        let mut out = String::from("{\"id\":");
        write::text(&mut out, &self.id);
        self.write_input(&mut out);
        for (name, dict) in [("agent_args", &self.agent_args), ("extra_vars", &self.extra_vars)] {
            write_dict(&mut out, name, dict.as_ref());
        }
        match &self.ground_truth {
            None => {}
            Some(TextOrList::Text(text)) => {
                out.push_str(",\"expected_output\":");
                write::text(&mut out, text);
            }
            Some(TextOrList::List(texts)) => {
                out.push_str(",\"expected_turns\":");
                write::list(&mut out, texts, write::text);
            }
        }
        if let Some(rubric) = &self.rubric {
            out.push_str(",\"rubric\":");
            write::text(&mut out, rubric);
        }
        write_dict(&mut out, "rubric_vars", self.rubric_vars.as_ref());
        out.push('}');
        out.into_bytes()
    }

    fn write_input(&self, out: &mut String) {
        out.push_str(",\"input\":");
        match &self.input {
            TextOrList::Text(text) => write::text(out, text),
            TextOrList::List(texts) => match texts.split_first() {
                None => out.push_str("[]"),
                Some((first, turns)) => {
                    write::text(out, first);
                    if !turns.is_empty() {
                        out.push_str(",\"turns\":");
                        write::list(out, turns, write_turn);
                    }
                }
            },
        }
    }

    fn check_turns(&self, class: &str) -> Result<(), Refusal> {
        let why = match (&self.input, &self.ground_truth) {
            (TextOrList::Text(_), Some(TextOrList::List(_))) => {
                let refusal = Refusal::new(class, "`ground_truth` is a list and `input` is not");
                return Err(refusal.field("ground_truth").read_natively());
            }
            (TextOrList::List(input), Some(TextOrList::List(truth))) if input.len() != truth.len() => {
                format!("`ground_truth` has {} answers, `input` {} messages", truth.len(), input.len())
            }
            _ => return Ok(()),
        };
        Err(Refusal::new(class, why).field("ground_truth"))
    }
}

fn write_turn(out: &mut String, content: &PyText) {
    out.push_str("{\"role\":\"user\",\"content\":");
    write::text(out, content);
    out.push('}');
}

fn write_dict(out: &mut String, name: &str, dict: Option<&PyDict>) {
    let Some(dict) = dict else { return };
    out.push_str(",\"");
    out.push_str(name);
    out.push_str("\":");
    write::dict(out, dict);
}

/// The id as text: a whole number of any kind is its digits, a boolean 1 or 0.
fn checked_id(id: PyValue, class: &str) -> Result<PyText, Refusal> {
    match id {
        PyValue::Str(text) => Ok(text),
        PyValue::Int(digits) => Ok(digits.into()),
        PyValue::Bool(flag) => Ok(PyText::from(if flag { "1" } else { "0" })),
        PyValue::Float(number) => match whole_digits(number) {
            Some(digits) => Ok(digits.into()),
            None => Err(Refusal::new(class, "the id is a number that is not whole").field("id")),
        },
        value => Err(wrong(&value, "id", "text or a whole number", class)),
    }
}

fn text_or_list(value: PyValue, name: &str, class: &str) -> Result<TextOrList, Refusal> {
    let items = match value {
        PyValue::Str(text) => return Ok(TextOrList::Text(text)),
        PyValue::List(items) => items,
        value => return Err(wrong(&value, name, "text or a list of texts", class)),
    };
    let texts = items.into_iter().map(|item| match item {
        PyValue::Str(text) => Ok(text),
        item => {
            let why = format!("`{name}` holds {}, it must hold texts", item.type_name());
            Err(Refusal::new(class, why).field(name))
        }
    });
    Ok(TextOrList::List(texts.collect::<Result<_, _>>()?))
}

fn dict(value: PyValue, name: &str, class: &str) -> Result<Option<PyDict>, Refusal> {
    match value {
        PyValue::None => Ok(None),
        PyValue::Dict(dict) => Ok(Some(dict)),
        value => Err(wrong(&value, name, "a mapping", class)),
    }
}

fn wrong(value: &PyValue, name: &str, wanted: &str, class: &str) -> Refusal {
    Refusal::new(class, format!("`{name}` is {}, it must be {wanted}", value.type_name())).field(name)
}
