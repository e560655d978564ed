//! One item to one case, whatever its generation.
//!
//! *Invariant:* a key that this dialect does not know becomes metadata under its own name; two keys that mean the
//! same are a fault, because which one wins would be a guess.

use std::borrow::Cow;

use heldset_core::case;
use heldset_core::code::Code;
use heldset_core::fault::Problem;
use heldset_core::path::{Path, Step};
use heldset_core::record::{Record, name_problem};
use heldset_core::value::{Object, Value};

use super::side::SideFiles;
use super::{inputs, seeds};
use crate::map::{IdRule, Notes};

/// The names under which the first user message is written.
pub(super) const PROMPTS: &[&str] = &["prompt", "query", "question", "text", "input", "user"];

/// What an item becomes.
#[derive(Default)]
pub(super) struct Item<'a> {
    fields: Object<'a>,
    metadata: Object<'a>,
    /// Whether the first message stands where it belongs, so that `query`, `text` and the like are ordinary keys.
    has_prompt: bool,
    /// A `metadata` without entries, which is kept as it is.
    bare_metadata: Option<Value<'a>>,
    /// Fields that stand elsewhere in the file than under their own name.
    origins: Vec<(Cow<'a, str>, Path)>,
}

/// The record that an item is.
pub(super) fn record<'a>(
    mut source: Object<'a>,
    id: &IdRule,
    side: &SideFiles,
    notes: &mut Notes<'_>,
) -> Option<Record<'a>> {
    let id = match notes.asked_id(id, &mut source) {
        Some(asked) => asked,
        None => notes.id_from_field("id", &mut source),
    };
    let has_inputs = source.contains("inputs");
    let mut item = Item { has_prompt: has_inputs || source.contains("prompt"), ..Item::default() };
    for (name, value) in source {
        item.take(name, value, side, notes);
    }
    let fields = item.finish(has_inputs, notes);
    Some(Record { id: id?, fields })
}

impl<'a> Item<'a> {
    fn take(&mut self, name: Cow<'a, str>, value: Value<'a>, side: &SideFiles, notes: &mut Notes<'_>) {
        let at = Path::key(&name);
        match name.as_ref() {
            "inputs" => inputs::take(self, value, side, notes),
            "expectations" => self.expectations(value, notes),
            "memory_seeds" => seeds::take(self, value, at, side, notes),
            "tool_fixtures" => self.tool_fixtures(value, at, side, notes),
            "metadata" => self.merge_metadata(value, notes),
            "expected_answer" => self.rename("expected_answer", "expected_output", value, notes),
            "ground_truth" => {
                notes.tally.legacy.insert("an answer under the name `ground_truth`");
                self.rename("ground_truth", "expected_output", value, notes);
            }
            "prompt" | "input" => self.prompt(&name, value, notes),
            alias if PROMPTS.contains(&alias) && !self.has_prompt => self.prompt(&name, value, notes),
            known if case::is_field(known) || known.starts_with("expected_") => {
                notes.tally.as_is(known);
                self.put(name, value, at, notes);
            }
            _ => {
                notes.tally.mapped(&name, "metadata");
                self.put_metadata(name, value, at, notes);
            }
        }
    }

    fn rename(&mut self, from: &str, to: &'static str, value: Value<'a>, notes: &mut Notes<'_>) {
        notes.tally.mapped(from, to);
        self.put(to, value, Path::key(from), notes);
    }

    fn prompt(&mut self, name: &str, value: Value<'a>, notes: &mut Notes<'_>) {
        match name {
            "input" => notes.tally.as_is("input"),
            _ => notes.tally.mapped(name, "input"),
        }
        if !matches!(name, "prompt" | "input") {
            notes.tally.legacy.insert("a prompt under another name than `prompt`");
        }
        self.put_input(value, Path::key(name), notes);
    }

    /// The first user message, which must be text and not empty.
    pub(super) fn put_input(&mut self, value: Value<'a>, at: Path, notes: &mut Notes<'_>) {
        let shown = at.to_string();
        let value = match value {
            Value::String(text) if !text.is_empty() => Value::String(text),
            Value::String(_) | Value::Null => {
                let message = format!("`{shown}` is empty");
                notes.problem(Problem::new(Code::E014, at.clone(), message).help("write the first user message here"));
                unknown()
            }
            other => {
                let problem = case::wrong_type(at.clone(), &shown, "text", &other);
                notes.problem(match &other {
                    Value::Number(number) => problem.help(format!("put it in quotes: \"{number}\"")),
                    _ => problem,
                });
                unknown()
            }
        };
        self.put("input", value, at, notes);
    }

    fn expectations(&mut self, value: Value<'a>, notes: &mut Notes<'_>) {
        let outer = Path::key("expectations");
        let expectations = match value {
            Value::Null => return,
            Value::Object(expectations) => expectations,
            other => return notes.problem(case::wrong_type(outer, "expectations", "a mapping", &other)),
        };
        for (name, value) in expectations {
            let at = outer.then_key(&name);
            if let Some(why) = name_problem(&name) {
                let message = format!("the field name `{}` {why}", name.escape_debug());
                notes.problem(Problem::new(Code::E033, at, message).help("rename the field"));
                continue;
            }
            let (target, told): (Cow<'a, str>, _) = match name.as_ref() {
                "ground_truth" | "answer" | "output" | "expected_answer" => {
                    ("expected_output".into(), "expected_output")
                }
                own if own.starts_with("expected_") => (name, "expected_*"),
                other => (format!("expected_{other}").into(), "expected_*"),
            };
            notes.tally.mapped(&at.to_string(), told);
            self.put(target, value, at, notes);
        }
    }

    /// Fixtures in place, or in a file beside the dataset.
    pub(super) fn tool_fixtures(&mut self, value: Value<'a>, at: Path, side: &SideFiles, notes: &mut Notes<'_>) {
        notes.tally.as_is("tool_fixtures");
        let fixtures = match value {
            Value::String(path) => {
                let Some(file) = side.open(&path, &at, notes) else { return };
                match file.root() {
                    Value::Object(_) => file.root().clone(),
                    other => {
                        let message = format!("`{path}` holds {}, not a mapping of fixtures", other.type_name());
                        return notes.problem(Problem::new(Code::E021, at, message));
                    }
                }
            }
            other => other,
        };
        self.put("tool_fixtures", fixtures, at, notes);
    }

    fn merge_metadata(&mut self, value: Value<'a>, notes: &mut Notes<'_>) {
        notes.tally.as_is("metadata");
        let outer = Path::key("metadata");
        match value {
            Value::Object(entries) if !entries.is_empty() => {
                for (name, value) in entries {
                    let at = outer.then_key(&name);
                    self.put_metadata(name, value, at, notes);
                }
            }
            Value::Object(_) | Value::Null => self.bare_metadata = Some(value),
            other => notes.problem(case::wrong_type(outer, "metadata", "a mapping", &other)),
        }
    }

    /// Adds what this dialect does not know.
    pub(super) fn put_metadata(&mut self, name: Cow<'a, str>, value: Value<'a>, at: Path, notes: &mut Notes<'_>) {
        let target = format!("metadata.{name}");
        if self.metadata.insert(name, value).is_err() {
            notes.problem(second(&at, &target));
        }
    }

    /// Adds a field that stands at `at` in the file.
    pub(super) fn put(&mut self, name: impl Into<Cow<'a, str>>, value: Value<'a>, at: Path, notes: &mut Notes<'_>) {
        let name = name.into();
        if self.fields.insert(name.clone(), value).is_err() {
            return notes.problem(second(&at, &name));
        }
        if at != Path::key(&name) {
            self.origins.push((name, at));
        }
    }

    /// The fields, with every fault that the rules of a case find in them told at its place in the file.
    fn finish(mut self, has_inputs: bool, notes: &mut Notes<'_>) -> Object<'a> {
        if !self.fields.contains("input") {
            let (at, name) = if has_inputs { (Path::key("inputs"), "inputs.user") } else { (Path::root(), "prompt") };
            if !(has_inputs && notes.problems.iter().any(|problem| problem.path == at)) {
                let problem = Problem::new(Code::E014, at, format!("there is no `{name}`"));
                notes.problem(problem.help(format!("add the first user message as `{name}`")));
            }
            self.fields.set("input", unknown());
        }
        match self.bare_metadata.take() {
            Some(bare) if self.metadata.is_empty() => self.fields.set("metadata", bare),
            _ if self.metadata.is_empty() => {}
            _ => self.fields.set("metadata", Value::Object(std::mem::take(&mut self.metadata))),
        }
        let mut found = Vec::new();
        case::problems(&self.fields, &mut found);
        for mut problem in found {
            problem.path = self.origin(&problem.path);
            notes.problem(problem);
        }
        self.fields
    }

    /// Where a part of a field stands in the file.
    fn origin(&self, path: &Path) -> Path {
        let Some((Step::Key(field), rest)) = path.steps().split_first() else { return path.clone() };
        match self.origins.iter().find(|(name, _)| name == field) {
            Some((_, at)) => Path::from(rest.to_vec()).under(at),
            None => path.clone(),
        }
    }
}

/// Stands in for a message that is at fault, so that the same is not told twice.
fn unknown<'a>() -> Value<'a> {
    Value::from("?")
}

fn second(at: &Path, target: &str) -> Problem {
    let message = format!("`{at}` gives a second value for `{target}`");
    Problem::new(Code::E018, at.clone(), message).help("keep one of the two")
}
