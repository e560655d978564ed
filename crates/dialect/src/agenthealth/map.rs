//! An AgentHealth test case to a case.
//!
//! *Invariant:* a field this dialect does not know keeps its name and its value; faults name fields as the file does.

use heldset_core::case;
use heldset_core::code::Code;
use heldset_core::fault::Problem;
use heldset_core::path::Path;
use heldset_core::record::{Record, RecordId};
use heldset_core::value::{Object, Value};

use super::{context, hit, labels, stored};
use crate::map::{IdRule, Mapper, Notes};

/// Reads AgentHealth test cases.
pub(crate) struct AgentHealthMapper {
    pub(crate) id: IdRule,
}

impl Mapper for AgentHealthMapper {
    fn map<'a>(&self, row: Value<'a>, notes: &mut Notes<'_>) -> Option<Record<'a>> {
        let (row, is_hit) = hit::open(row);
        let record = self.test_case(row, notes);
        if is_hit {
            for problem in &mut notes.problems {
                problem.path = problem.path.under(&Path::key("_source"));
            }
        }
        record
    }

    fn version(&self, record: &Record<'_>) -> Option<u64> {
        stored::version_of(&record.fields)
    }

    fn id_fields(&self) -> Vec<&str> {
        vec![self.id.field()]
    }
}

impl AgentHealthMapper {
    fn test_case<'a>(&self, row: Value<'a>, notes: &mut Notes<'_>) -> Option<Record<'a>> {
        let mut case = notes.object(row)?;
        let id = self.id_of(&mut case, notes);
        labels::settle(&mut case, notes);
        let mut fields = Object::with_capacity(case.len() + 1);
        let prompt = case.remove("initialPrompt");
        put_prompt(&mut fields, prompt, case.contains("input"), notes);
        for (name, value) in case {
            match name.as_ref() {
                "context" => context::put(&mut fields, value, notes),
                "expectedOutcomes" | "expected_outcomes" => put_outcomes(&mut fields, value, &name, notes),
                "expectedTrajectory" | "expected_trajectory" => put_trajectory(&mut fields, value, &name, notes),
                "labels" | "tags" => fields.set(name, value),
                _ => {
                    notes.tally.as_is(&name);
                    let from = name.clone();
                    notes.put(&mut fields, name, value, &from);
                }
            }
        }
        case::problems(&fields, &mut notes.problems);
        Some(Record { id: id?, fields })
    }

    /// The id by the rule; an `id` that is not taken by it stays, as metadata.
    fn id_of<'a>(&self, case: &mut Object<'a>, notes: &mut Notes<'_>) -> Option<RecordId<'a>> {
        match notes.asked_id(&self.id, case) {
            Some(asked) => asked,
            None => match case.remove("id").filter(|value| !value.is_null()) {
                Some(own) => notes.check_id(own, "id"),
                None => Some(notes.row_id()),
            },
        }
    }
}

fn put_prompt<'a>(fields: &mut Object<'a>, prompt: Option<Value<'a>>, has_input: bool, notes: &mut Notes<'_>) {
    let at = || Path::key("initialPrompt");
    let problem = match prompt {
        None if has_input => return,
        Some(Value::String(text)) if !text.is_empty() => {
            notes.tally.mapped("initialPrompt", "input");
            return fields.set("input", Value::String(text));
        }
        None => missing(Path::root(), "there is no `initialPrompt`"),
        Some(Value::Null) => missing(at(), "`initialPrompt` is null"),
        Some(Value::String(_)) => missing(at(), "`initialPrompt` is empty"),
        Some(other) => case::wrong_type(at(), "initialPrompt", "text", &other),
    };
    notes.problem(problem);
    fields.set("input", Value::from("?"));
}

fn missing(path: Path, message: &str) -> Problem {
    Problem::new(Code::E014, path, message).help("write the question or task for the agent into `initialPrompt`")
}

fn put_outcomes<'a>(fields: &mut Object<'a>, value: Value<'a>, from: &str, notes: &mut Notes<'_>) {
    count(from, "expected_outcomes", notes);
    let before = notes.problems.len();
    for (index, outcome) in items_of(&value, from, notes).iter().enumerate() {
        if outcome.as_str().is_none() {
            let path = Path::key(from).then_index(index);
            notes.problem(case::wrong_type(path.clone(), &path.to_string(), "text", outcome));
        }
    }
    if notes.problems.len() == before {
        notes.put(fields, "expected_outcomes", value, from);
    }
}

fn put_trajectory<'a>(fields: &mut Object<'a>, mut value: Value<'a>, from: &str, notes: &mut Notes<'_>) {
    count(from, "expected_trajectory", notes);
    let before = notes.problems.len();
    items_of(&value, from, notes);
    if let Value::Array(steps) = &mut value {
        for (index, step) in steps.iter_mut().enumerate() {
            rename_tools(step, &Path::key(from).then_index(index), notes);
        }
    }
    if notes.problems.len() == before {
        notes.put(fields, "expected_trajectory", value, from);
    }
}

/// `requiredTools` of a step to `required_tools`.
fn rename_tools(step: &mut Value<'_>, path: &Path, notes: &mut Notes<'_>) {
    let Value::Object(step) = step else {
        return notes.problem(case::wrong_type(path.clone(), &path.to_string(), "a mapping", step));
    };
    let Some(tools) = step.remove("requiredTools") else { return };
    if step.insert("required_tools", tools).is_err() {
        let message = format!("`{path}.requiredTools` gives a second value for `required_tools`");
        notes.problem(Problem::new(Code::E018, path.then_key("requiredTools"), message).help("keep one of the two"));
    }
}

/// The elements of what must be a list.
fn items_of<'v, 'a>(value: &'v Value<'a>, name: &str, notes: &mut Notes<'_>) -> &'v [Value<'a>] {
    match value {
        Value::Array(items) => return items,
        Value::Null => {}
        other => notes.problem(case::wrong_type(Path::key(name), name, "a list", other)),
    }
    &[]
}

fn count(from: &str, to: &'static str, notes: &mut Notes<'_>) {
    if from == to { notes.tally.as_is(from) } else { notes.tally.mapped(from, to) }
}
