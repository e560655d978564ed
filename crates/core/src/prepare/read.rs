//! Reading a preparation: every key is known, and all that is wrong is told at once.
//!
//! *Invariant:* what is read here can be carried out, up to what the records themselves say.

use super::{Cleaning, LeakCheck, Lookup, Preparation, REDACTED, Redaction, SIMILAR, SplitPlan, TargetFormat};
use crate::code::Code;
use crate::fault::{Problem, nearest};
use crate::filter::Filter;
use crate::path::Path;
use crate::record::name_problem;
use crate::value::{Object, Value};

/// How far from one shares may sum to.
const CLOSE: f64 = 1e-9;

/// The share of all that the others leave.
const REST: &str = "rest";

/// Reads a preparation, or tells everything that is wrong with it.
pub fn read(value: &Value<'_>) -> Result<Preparation, Vec<Problem>> {
    let mut reader = Reader { problems: Vec::new() };
    let preparation = reader.preparation(value);
    if reader.problems.is_empty() { Ok(preparation) } else { Err(reader.problems) }
}

struct Reader {
    problems: Vec<Problem>,
}

impl Reader {
    fn preparation(&mut self, value: &Value<'_>) -> Preparation {
        let root = Path::root();
        let known = ["target_format", "cleaning_config", "lookup", "filters", "split", "from_split", "leaks"];
        let Some(object) = self.mapping(value, &root, &known) else { return Preparation::default() };
        let part = |name: &str| object.get(name).filter(|value| !value.is_null());
        let mut preparation = Preparation::default();
        if let Some(value) = part("target_format") {
            preparation.target_format = self.target_format(value, &root.then_key("target_format"));
        }
        if let Some(value) = part("cleaning_config") {
            preparation.cleaning = self.cleaning(value, &root.then_key("cleaning_config"));
        }
        if let Some(value) = part("lookup") {
            preparation.lookups = self.lookups(value, &root.then_key("lookup"));
        }
        if let Some(value) = part("filters") {
            match Filter::from_value(value, &root.then_key("filters")) {
                Ok(filter) => preparation.filters = Some(filter),
                Err(problem) => self.problems.push(Problem { code: Code::E069, ..problem }),
            }
        }
        if let Some(value) = part("split") {
            preparation.split = self.split(value, &root.then_key("split"));
        }
        preparation.from_split = part("from_split").and_then(|value| self.text(value, &root.then_key("from_split")));
        if let Some(value) = part("leaks") {
            preparation.leaks = self.leaks(value, &root.then_key("leaks"));
        }
        preparation
    }

    fn target_format(&mut self, value: &Value<'_>, at: &Path) -> Option<TargetFormat> {
        let name = self.text(value, at)?;
        let format = TargetFormat::named(&name);
        if format.is_none() {
            let names = TargetFormat::ALL.map(|(_, name)| name);
            let help = match nearest(&name, names) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there is `{}`", names.join("`, `")),
            };
            self.add(at, format!("there is no format `{name}`"), help);
        }
        format
    }

    fn cleaning(&mut self, value: &Value<'_>, at: &Path) -> Cleaning {
        let known = ["remove_nulls", "trim_whitespace", "deduplicate_by", "drop_fields", "rename", "redact"];
        let Some(object) = self.mapping(value, at, &known) else { return Cleaning::default() };
        let mut cleaning = Cleaning::default();
        for (key, value) in object.iter().filter(|(_, value)| !value.is_null()) {
            let at = at.then_key(key);
            match key {
                "remove_nulls" => cleaning.remove_nulls = self.flag(value, &at),
                "trim_whitespace" => cleaning.trim_whitespace = self.flag(value, &at),
                "deduplicate_by" => cleaning.deduplicate_by = self.names(value, &at),
                "drop_fields" => cleaning.drop_fields = self.names(value, &at),
                "rename" => cleaning.rename = self.rename(value, &at),
                "redact" => cleaning.redact = self.redactions(value, &at),
                _ => {}
            }
        }
        for field in &cleaning.drop_fields {
            self.keep_id(field, &at.then_key("drop_fields"), "left out");
            if cleaning.rename.iter().any(|(old, _)| old == field) {
                let message = format!("`{field}` is both dropped and renamed");
                self.add(&at.then_key("rename"), message, "do one of the two");
            }
        }
        cleaning
    }

    fn rename(&mut self, value: &Value<'_>, at: &Path) -> Vec<(String, String)> {
        let Some(object) = value.as_object() else {
            self.expected(value, at, "a mapping of old names to new ones");
            return Vec::new();
        };
        let mut renames: Vec<(String, String)> = Vec::new();
        for (old, new) in object.iter() {
            let at = at.then_key(old);
            let Some(new) = self.text(new, &at) else { continue };
            self.keep_id(old, &at, "renamed");
            self.keep_id(&new, &at, "another field");
            if let Some(why) = name_problem(&new) {
                self.add(&at, format!("the name `{new}` {why}"), "choose another name");
            }
            if let Some((other, _)) = renames.iter().find(|(_, known)| *known == new) {
                let message = format!("`{other}` and `{old}` would both be named `{new}`");
                self.add(&at, message, "give each its own name");
            }
            renames.push((old.to_owned(), new));
        }
        renames.retain(|(old, new)| old != new);
        renames
    }

    fn redactions(&mut self, value: &Value<'_>, at: &Path) -> Vec<Redaction> {
        match value {
            Value::Array(items) => {
                let each = items.iter().enumerate();
                each.filter_map(|(index, item)| self.redaction(item, &at.then_index(index))).collect()
            }
            one => self.redaction(one, at).into_iter().collect(),
        }
    }

    /// One rule: a mapping, or the name of a field whose whole value goes.
    fn redaction(&mut self, value: &Value<'_>, at: &Path) -> Option<Redaction> {
        if let Value::String(field) = value {
            let rule = Redaction { field: Some(field.to_string()), pattern: None, replacement: REDACTED.to_owned() };
            self.keep_id(field, at, "redacted");
            return (!field.is_empty()).then_some(rule);
        }
        let object = self.mapping(value, at, &["field", "pattern", "replacement"])?;
        let text = |reader: &mut Self, name: &str| {
            let value = object.get(name).filter(|value| !value.is_null())?;
            reader.text(value, &at.then_key(name))
        };
        let (field, pattern) = (text(self, "field"), text(self, "pattern"));
        if let Some(field) = &field {
            self.keep_id(field, at, "redacted");
        }
        if field.is_none() && pattern.is_none() {
            self.add(
                at,
                "a redaction names a field, a pattern, or both".to_owned(),
                "such as `{pattern: \"[0-9]{16}\"}`",
            );
        }
        let replacement = match object.get("replacement") {
            Some(Value::String(text)) => text.to_string(),
            Some(Value::Null) | None => REDACTED.to_owned(),
            Some(other) => {
                self.expected(other, &at.then_key("replacement"), "text");
                return None;
            }
        };
        Some(Redaction { field, pattern, replacement })
    }

    fn lookups(&mut self, value: &Value<'_>, at: &Path) -> Vec<Lookup> {
        match value {
            Value::Array(items) => {
                let each = items.iter().enumerate();
                each.filter_map(|(index, item)| self.lookup(item, &at.then_index(index))).collect()
            }
            one => self.lookup(one, at).into_iter().collect(),
        }
    }

    fn lookup(&mut self, value: &Value<'_>, at: &Path) -> Option<Lookup> {
        let object = self.mapping(value, at, &["dataset", "split", "on", "fields"])?;
        let dataset = self.needed(object, "dataset", at).and_then(|value| self.text(value, &at.then_key("dataset")));
        let on = self.needed(object, "on", at).and_then(|value| self.on(value, &at.then_key("on")));
        let fields = self.needed(object, "fields", at);
        let fields = fields.map(|value| self.looked_up(value, &at.then_key("fields")));
        let split = object.get("split").filter(|value| !value.is_null());
        let split = split.and_then(|value| self.text(value, &at.then_key("split")));
        Some(Lookup { dataset: dataset?, split, on: on?, fields: fields? })
    }

    /// What must be equal: one name for both sides, or `{here: there}`.
    fn on(&mut self, value: &Value<'_>, at: &Path) -> Option<(String, String)> {
        match value {
            Value::String(name) if !name.is_empty() => Some((name.to_string(), name.to_string())),
            Value::Object(pair) if pair.len() == 1 => {
                let (here, there) = pair.entry(0)?;
                Some((here.to_owned(), self.text(there, &at.then_key(here))?))
            }
            other => {
                self.expected(other, at, "a field, or one pair such as `{customer_id: id}`");
                None
            }
        }
    }

    /// The fields that are taken: a name, a list of names, or `{there: here}`.
    fn looked_up(&mut self, value: &Value<'_>, at: &Path) -> Vec<(String, String)> {
        let fields: Vec<(String, String)> = match value {
            Value::Object(pairs) => {
                let mut named = Vec::new();
                for (there, here) in pairs.iter() {
                    named.extend(self.text(here, &at.then_key(there)).map(|here| (there.to_owned(), here)));
                }
                named
            }
            other => self.names(other, at).into_iter().map(|name| (name.clone(), name)).collect(),
        };
        for (_, here) in &fields {
            self.keep_id(here, at, "looked up");
            if let Some(why) = name_problem(here) {
                self.add(at, format!("the name `{here}` {why}"), "choose another name");
            }
        }
        fields
    }

    fn split(&mut self, value: &Value<'_>, at: &Path) -> Option<SplitPlan> {
        let Some(object) = value.as_object() else {
            self.expected(value, at, "a mapping of splits to shares, such as `{train: 0.8, test: 0.2}`");
            return None;
        };
        let mut plan = SplitPlan { shares: Vec::new(), seed: "0".to_owned(), stratify_by: None, group_by: None };
        let (mut rest, mut wrong) = (None, false);
        for (key, value) in object.iter() {
            let at = at.then_key(key);
            match key {
                "seed" => plan.seed = self.seed(value, &at),
                "stratify_by" => plan.stratify_by = self.optional(value, &at),
                "group_by" => plan.group_by = self.optional(value, &at),
                name => {
                    if let Some(near) = nearest(name, ["stratify_by", "group_by"]).filter(|_| value.as_str().is_some())
                    {
                        self.add(&at, format!("`{name}` has no share"), format!("did you mean `{near}`?"));
                        wrong = true;
                        continue;
                    }
                    wrong |= !self.split_name(name, &at);
                    match self.share(value, &at) {
                        Some(Share::Of(share)) => plan.shares.push((name.to_owned(), share)),
                        Some(Share::Rest) if rest.is_none() => {
                            rest = Some(plan.shares.len());
                            plan.shares.push((name.to_owned(), 0.0));
                        }
                        Some(Share::Rest) => {
                            self.add(&at, format!("two splits take the `{REST}`"), "give all but one of them a share");
                            wrong = true;
                        }
                        None => wrong = true,
                    }
                }
            }
        }
        (!wrong && self.sum(&mut plan, rest, at)).then_some(plan)
    }

    /// Shares that sum to one, or leave something for the rest.
    fn sum(&mut self, plan: &mut SplitPlan, rest: Option<usize>, at: &Path) -> bool {
        let sum: f64 = plan.shares.iter().map(|(_, share)| share).sum();
        if plan.shares.is_empty() {
            self.add(at, "no split has a share".to_owned(), "such as `{train: 0.8, test: 0.2}`");
            return false;
        }
        let shown = (sum * 1e6).round() / 1e6;
        match rest {
            Some(index) if sum < 1.0 - CLOSE => {
                if let Some((_, share)) = plan.shares.get_mut(index) {
                    *share = 1.0 - sum;
                }
                true
            }
            Some(_) => {
                self.add(at, format!("the shares sum to {shown} and leave no rest"), "make one of them smaller");
                false
            }
            None if (sum - 1.0).abs() <= CLOSE => true,
            None => {
                let help = format!("make them sum to 1, or give one of them `{REST}`");
                self.add(at, format!("the shares sum to {shown}, not to 1"), help);
                false
            }
        }
    }

    fn share(&mut self, value: &Value<'_>, at: &Path) -> Option<Share> {
        match value {
            Value::Number(number) if number.as_f64() > 0.0 && number.as_f64() <= 1.0 => {
                Some(Share::Of(number.as_f64()))
            }
            Value::String(word) if word == REST => Some(Share::Rest),
            other => {
                let found = match other {
                    Value::Number(number) => format!("{number}"),
                    other => other.type_name().to_owned(),
                };
                let message = format!("a share is more than 0 and at most 1, or `{REST}`, and this is {found}");
                self.add(at, message, "such as `{train: 0.8, test: 0.2}`");
                None
            }
        }
    }

    fn split_name(&mut self, name: &str, at: &Path) -> bool {
        let why = match name {
            "" => Some("is empty"),
            "." | ".." => Some("means a folder"),
            _ if name.contains('/') => Some("has a `/` in it"),
            _ => name_problem(name),
        };
        if let Some(why) = why {
            self.add(at, format!("the split name `{name}` {why}"), "choose another split name");
        }
        why.is_none()
    }

    fn seed(&mut self, value: &Value<'_>, at: &Path) -> String {
        match value {
            Value::Number(number) if number.is_integer() => number.to_string(),
            Value::String(text) => text.to_string(),
            Value::Null => "0".to_owned(),
            other => {
                self.expected(other, at, "an integer or text");
                String::new()
            }
        }
    }

    fn leaks(&mut self, value: &Value<'_>, at: &Path) -> LeakCheck {
        let mut check = LeakCheck::default();
        let Some(object) = self.mapping(value, at, &["fields", "similarity", "group_by"]) else { return check };
        if let Some(value) = object.get("fields").filter(|value| !value.is_null()) {
            check.fields = self.names(value, &at.then_key("fields"));
        }
        check.group_by = object.get("group_by").and_then(|value| self.optional(value, &at.then_key("group_by")));
        check.similarity = match object.get("similarity") {
            None | Some(Value::Null) => SIMILAR,
            Some(Value::Number(number)) if number.as_f64() > 0.0 && number.as_f64() <= 1.0 => number.as_f64(),
            Some(other) => {
                self.expected(other, &at.then_key("similarity"), "a number above 0 and at most 1");
                SIMILAR
            }
        };
        check
    }

    /// A field or a list of them, each once.
    fn names(&mut self, value: &Value<'_>, at: &Path) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    names.extend(self.text(item, &at.then_index(index)));
                }
            }
            Value::String(_) => names.extend(self.text(value, at)),
            other => self.expected(other, at, "a field, or a list of fields"),
        }
        let mut seen = Vec::new();
        names.retain(|name| (!seen.contains(name)).then(|| seen.push(name.clone())).is_some());
        names
    }

    fn keep_id(&mut self, field: &str, at: &Path, what: &str) {
        if field == "id" {
            self.add(at, format!("`id` cannot be {what}"), "ids stay as they are, so that records can be followed");
        }
    }

    fn flag(&mut self, value: &Value<'_>, at: &Path) -> bool {
        match value {
            Value::Bool(flag) => *flag,
            other => {
                self.expected(other, at, "`true` or `false`");
                false
            }
        }
    }

    fn optional(&mut self, value: &Value<'_>, at: &Path) -> Option<String> {
        if value.is_null() { None } else { self.text(value, at) }
    }

    fn text(&mut self, value: &Value<'_>, at: &Path) -> Option<String> {
        match value {
            Value::String(text) if !text.is_empty() => Some(text.to_string()),
            Value::String(_) => {
                self.add(at, format!("`{at}` is empty"), "write what it names");
                None
            }
            other => {
                self.expected(other, at, "text");
                None
            }
        }
    }

    fn needed<'v>(&mut self, object: &'v Object<'v>, key: &str, at: &Path) -> Option<&'v Value<'v>> {
        let found = object.get(key).filter(|value| !value.is_null());
        if found.is_none() {
            self.add(at, format!("`{key}` is missing"), "a lookup has `dataset`, `on` and `fields`");
        }
        found
    }

    fn mapping<'v>(&mut self, value: &'v Value<'v>, at: &Path, known: &[&str]) -> Option<&'v Object<'v>> {
        let Some(object) = value.as_object() else {
            let names = format!("a mapping with `{}`", known.join("`, `"));
            self.expected(value, at, &names);
            return None;
        };
        for (key, _) in object.iter().filter(|(key, _)| !known.contains(key)) {
            let help = match nearest(key, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there is `{}`", known.join("`, `")),
            };
            self.add(&at.then_key(key), format!("there is no `{key}` here"), help);
        }
        Some(object)
    }

    fn expected(&mut self, value: &Value<'_>, at: &Path, what: &str) {
        let name = if at.is_root() { "a preparation".to_owned() } else { format!("`{at}`") };
        self.add(at, format!("{name} is {what}, not {}", value.type_name()), "see `heldset explain E069`");
    }

    fn add(&mut self, at: &Path, message: String, help: impl Into<String>) {
        self.problems.push(Problem::new(Code::E069, at.clone(), message).help(help));
    }
}

enum Share {
    Of(f64),
    Rest,
}
