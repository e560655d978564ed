//! The splits and artifacts of a declared dataset.
//!
//! *Invariant:* a split is declared once, and what it states agrees with the policy beside it.

use super::part::{Kind, Part, Reader, did_you_mean, texts};
use super::spec::mode;
use crate::manifest::Mode;
use crate::path::Path;
use crate::record::name_problem;
use crate::value::{Object, Value};
use crate::visibility::{AGENT_VISIBLE, EVALUATOR_ONLY, INTERNAL, OPERATOR_ONLY, PUBLIC, PolicyDraft};

/// A split as it is declared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SplitDeclaration {
    /// The name.
    pub name: String,
    /// The patterns of its files; none where it is the source itself.
    pub path: Vec<String>,
    /// The name of its label.
    pub visibility: Option<String>,
    /// The split whose answers it holds.
    pub answers_for: Option<String>,
    /// How it comes to be, where that is not said for the dataset.
    pub mode: Option<Mode>,
    /// Whether it is a split of files and not of records.
    pub files: Option<bool>,
}

const KEYS: &[&str] = &["path", "visibility", "answers_for", "mode", "files"];
const BUILT_IN: &[&str] = &[PUBLIC, AGENT_VISIBLE, INTERNAL, EVALUATOR_ONLY, OPERATOR_ONLY];

/// Reads the splits, then the artifacts as splits that state nothing but their paths.
pub(super) fn read(spec: &Part<'_, '_>, policy: Option<&PolicyDraft>, reader: &mut Reader) -> Vec<SplitDeclaration> {
    let mut splits = Vec::new();
    for (name, value) in members(spec, "splits", reader) {
        let path = spec.at("splits").then_key(name);
        let Some(part) = reader.part(value, path, KEYS) else { continue };
        let split = split(name, &part, reader);
        if !part.object.contains("path") && !spec.object.contains("source") {
            reader.wrong(part.path.clone(), format!("split `{name}` has no `path`, and there is no `source`"), None);
        }
        splits.push(split);
    }
    for (name, value) in members(spec, "artifacts", reader) {
        let path = spec.at("artifacts").then_key(name);
        if splits.iter().any(|split| split.name == name) {
            reader.wrong(path, format!("`{name}` is a split and an artifact"), None);
            continue;
        }
        if !Kind::Texts.fits(value) {
            let message = format!("`{name}` is a path or a list of paths, not {}", value.type_name());
            reader.wrong(path, message, None);
            continue;
        }
        splits.push(SplitDeclaration { name: name.to_owned(), path: texts(value), ..Default::default() });
    }
    // A policy that cannot be read has been told, and says nothing about labels.
    if policy.is_some() || !spec.object.contains("visibility") {
        agree(spec, &splits, policy.unwrap_or(&PolicyDraft::default()), reader);
    }
    splits
}

fn members<'v, 'a>(spec: &Part<'v, 'a>, key: &str, reader: &mut Reader) -> Vec<(&'v str, &'v Value<'a>)> {
    let object = reader.member(spec, key, Kind::Mapping).and_then(Value::as_object);
    let members: Vec<_> = object.into_iter().flat_map(Object::iter).collect();
    for (name, _) in &members {
        let why = if name.is_empty() { Some("is empty") } else { name_problem(name) };
        if let Some(why) = why {
            reader.wrong(spec.at(key).then_key(name), format!("the name of a split {why}"), None);
        }
    }
    members
}

fn split(name: &str, part: &Part<'_, '_>, reader: &mut Reader) -> SplitDeclaration {
    SplitDeclaration {
        name: name.to_owned(),
        path: reader.texts(part, "path"),
        visibility: reader.text(part, "visibility"),
        answers_for: reader.text(part, "answers_for"),
        mode: mode(part, reader),
        files: reader.member(part, "files", Kind::Flag).map(|flag| *flag == Value::Bool(true)),
    }
}

/// Checks that labels and splits that are named exist, and that the policy says nothing else.
fn agree(spec: &Part<'_, '_>, splits: &[SplitDeclaration], policy: &PolicyDraft, reader: &mut Reader) {
    let names: Vec<_> = splits.iter().map(|split| split.name.as_str()).collect();
    let labels: Vec<_> = BUILT_IN.iter().copied().chain(policy.labels.keys().map(String::as_str)).collect();
    for split in splits {
        let path = spec.at("splits").then_key(&split.name);
        let mut check = |key: &str, stated: &Option<String>, other: Option<&String>, known: &[&str], what: &str| {
            let Some(stated) = stated else { return };
            if !known.contains(&stated.as_str()) {
                let message = format!("there is no {what} `{stated}`");
                reader.wrong(path.then_key(key), message, did_you_mean(stated, known));
            }
            if let Some(other) = other.filter(|other| *other != stated) {
                let message = format!("`{key}` is `{stated}` here and `{other}` under `visibility`");
                reader.wrong(path.then_key(key), message, None);
            }
        };
        let others: Vec<_> = names.iter().copied().filter(|name| *name != split.name).collect();
        check("visibility", &split.visibility, policy.splits.get(&split.name), &labels, "label");
        check("answers_for", &split.answers_for, policy.answers_for.get(&split.name), &others, "other split");
    }
    if !names.is_empty() {
        unknown_splits(policy, &names, &spec.at("visibility"), reader);
    }
}

fn unknown_splits(policy: &PolicyDraft, names: &[&str], path: &Path, reader: &mut Reader) {
    for split in policy.splits.keys().filter(|split| !names.contains(&split.as_str())) {
        let path = path.then_key("splits").then_key(split);
        reader.wrong(path, format!("there is no split `{split}`"), did_you_mean(split, names));
    }
}
