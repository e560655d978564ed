//! What a file is: first by its content, then by its name.

use heldset_core::code::Code;
use heldset_core::fault::Problem;
use heldset_core::json;
use heldset_core::path::Path;
use heldset_core::value::{Object, Value};

use crate::format::Format;

/// How a file is cut into rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    JsonLines,
    JsonArray,
    JsonDocument,
    Yaml,
    Csv(u8),
    Parquet,
    ArrowFile,
    ArrowStream,
}

/// The container, from the first bytes of a file (all of them when `whole`) and its name.
pub(crate) fn shape_of(head: &[u8], whole: bool, name: &str) -> Shape {
    if head.starts_with(b"PAR1") {
        return Shape::Parquet;
    }
    if head.starts_with(b"ARROW1") {
        return Shape::ArrowFile;
    }
    if head.starts_with(&[0xff, 0xff, 0xff, 0xff]) {
        return Shape::ArrowStream;
    }
    let text = String::from_utf8_lossy(head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head));
    let named = shape_of_name(name);
    match text.trim_start().as_bytes().first() {
        Some(b'{') => object_shape(&text, whole, named),
        Some(b'[') => list_shape(&text, whole, named),
        _ => text_shape(&text, named),
    }
}

fn shape_of_name(name: &str) -> Option<Shape> {
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
    let (_, ending) = name.rsplit_once('.')?;
    Some(match ending {
        "jsonl" | "ndjson" => Shape::JsonLines,
        "json" => Shape::JsonDocument,
        "yaml" | "yml" => Shape::Yaml,
        "csv" => Shape::Csv(b','),
        "tsv" | "tab" => Shape::Csv(b'\t'),
        _ => return None,
    })
}

/// What a file of columns is called by its name.
pub(crate) fn columns_of_name(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    match name.rsplit_once('.')?.1 {
        "parquet" => Some("a Parquet"),
        "arrow" | "feather" | "ipc" => Some("an Arrow"),
        _ => None,
    }
}

/// Several objects, one per line, or one object, or YAML in braces.
fn object_shape(text: &str, whole: bool, named: Option<Shape>) -> Shape {
    let lines: Vec<&str> = text.split(['\n', '\r']).filter(|line| !line.trim().is_empty()).take(8).collect();
    let alone = whole && lines.len() == 1;
    let first = lines.first().copied().unwrap_or("");
    // A broken first line does not hide that there are lines; the first line of a longer document never ends so.
    let any_whole = json::read(first).is_ok()
        || first.trim_end().ends_with('}')
            && lines.iter().any(|line| line.trim_start().starts_with('{') && json::read(line).is_ok());
    match (any_whole, alone, named) {
        (true, true, Some(Shape::JsonDocument | Shape::Yaml)) => Shape::JsonDocument,
        (true, true, None) if has_envelope(lines[0]) => Shape::JsonDocument,
        (true, _, _) => Shape::JsonLines,
        (false, _, Some(Shape::JsonLines)) => Shape::JsonLines,
        (false, _, Some(shape @ Shape::Csv(_))) => shape,
        _ if !looks_like_json(text) => Shape::Yaml,
        _ => Shape::JsonDocument,
    }
}

/// One list, or lines that are lists each, or YAML in brackets.
fn list_shape(text: &str, whole: bool, named: Option<Shape>) -> Shape {
    let lines = text.split(['\n', '\r']).filter(|line| !line.trim().is_empty()).take(2).count();
    let inside = text.trim_start()[1..].trim_start();
    let of_objects = inside.starts_with('{') || inside.is_empty() || inside.starts_with(']');
    match named {
        Some(Shape::JsonLines) if !(of_objects && (lines == 1 || !whole || json::read(text).is_ok())) => {
            Shape::JsonLines
        }
        Some(shape @ Shape::Csv(_)) if !of_objects => shape,
        Some(Shape::Yaml) if !looks_like_json(text) => Shape::Yaml,
        None if of_objects && !looks_like_json(text) => Shape::Yaml,
        _ => Shape::JsonArray,
    }
}

fn has_envelope(line: &str) -> bool {
    let Ok(Value::Object(object)) = json::read(line) else { return false };
    ["items", "spec", "testCases", "hits", "kind"].iter().any(|key| object.contains(key))
}

/// Whether what stands in the first brackets or braces is JSON rather than YAML: text in double quotes, or nothing.
fn looks_like_json(text: &str) -> bool {
    let mut inside = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).skip(1);
    match inside.next() {
        Some(b'{') => matches!(inside.next(), None | Some(b'"' | b'}')),
        first => matches!(first, None | Some(b']' | b'}' | b'"')),
    }
}

/// Text that is neither a list nor a mapping in JSON: what it surely is, else what its name says.
fn text_shape(text: &str, named: Option<Shape>) -> Shape {
    let rows = text.lines().filter(|line| !line.trim().is_empty());
    if named == Some(Shape::JsonLines) && rows.clone().take(20).any(|line| line.trim_start().starts_with('{')) {
        return Shape::JsonLines;
    }
    let mut lines = rows.filter(|line| !line.trim_start().starts_with('#'));
    let (line, next) = (lines.next().unwrap_or(""), lines.next().unwrap_or(""));
    let start = line.trim_start();
    let is_key = |line: &str| {
        let (key, rest) = line.split_once(':').unwrap_or(("", "-"));
        !key.is_empty() && !key.contains([',', '\t']) && (rest.trim().is_empty() || rest.starts_with(' '))
    };
    let goes_on = next.is_empty() || next.starts_with([' ', '-']) || is_key(next);
    let is_yaml = start.starts_with("- ") || start == "-" || start.starts_with("---") || start.starts_with('%');
    let delimiter = match line {
        line if line.contains('\t') && !line.contains(',') => Some(b'\t'),
        line if line.contains(',') => Some(b','),
        _ => None,
    };
    match (is_yaml || (is_key(start) && goes_on), delimiter, named) {
        (true, _, Some(shape @ Shape::Csv(_))) if !is_yaml && delimiter.is_some() => shape,
        (true, _, _) => Shape::Yaml,
        (false, _, Some(Shape::Csv(b'\t'))) => Shape::Csv(b'\t'),
        (false, Some(delimiter), _) if !start.starts_with(['/', '*']) => Shape::Csv(delimiter),
        (false, _, Some(shape)) => shape,
        _ if matches!(start.as_bytes().first(), Some(b'"' | b'/' | b'-' | b'0'..=b'9')) => Shape::JsonLines,
        _ => Shape::Csv(b','),
    }
}

/// Names that only a canonical case has.
const CANONICAL: &[&str] = &[
    "turns",
    "context",
    "tools",
    "memory_seeds",
    "session_id",
    "tool_fixtures",
    "checkpoint",
    "expected_output",
    "expected_turns",
    "expected_outcomes",
    "expected_trajectory",
];

/// The dialect of rows, from some of them.
pub(crate) fn format_of_rows(rows: &[Object<'_>], shape: Shape) -> Format {
    let any = |test: &dyn Fn(&Object<'_>) -> bool| rows.iter().any(test);
    let has = |names: &'static [&'static str]| move |row: &Object<'_>| names.iter().any(|name| row.contains(name));
    if any(&is_agenthealth) {
        return Format::AgentHealth;
    }
    if matches!(shape, Shape::JsonArray | Shape::Yaml | Shape::JsonDocument) {
        let lab = |row: &Object<'_>| {
            matches!(row.get("inputs"), Some(Value::Object(_)))
                || (has(&["prompt", "expected_answer"])(row) && !row.contains("input"))
        };
        return if any(&lab) { Format::Lab } else { Format::Records };
    }
    let letta_only = |row: &Object<'_>| {
        has(&["ground_truth", "sample_id", "rubric_path"])(row) || matches!(row.get("input"), Some(Value::Array(_)))
    };
    if any(&letta_only) {
        return Format::Letta;
    }
    if any(&has(CANONICAL)) || shape == Shape::Csv(b'\t') {
        return Format::Records;
    }
    if any(&has(&["input", "prompt"])) { Format::Letta } else { Format::Records }
}

/// The dialect of a document that is read as a whole.
pub(crate) fn format_of_document(root: &Value<'_>) -> Result<Format, Problem> {
    let refuse = |message: &str, help: &str| Err(Problem::new(Code::E024, Path::root(), message).help(help));
    let object = match root {
        Value::Array(items) => {
            let sample: Vec<_> = items.iter().take(64).filter_map(Value::as_object).cloned().collect();
            return Ok(format_of_rows(&sample, Shape::JsonDocument));
        }
        Value::Object(object) => object,
        _ => return refuse("this is not a dataset", "write a list of records, or one record per line"),
    };
    let text = |name: &str| object.get(name).and_then(Value::as_str);
    match (text("apiVersion"), text("kind")) {
        (Some(version), Some(kind)) if version.starts_with("heldset/") => {
            let message = format!("this is a Heldset {kind}, not a dataset file");
            return refuse(&message, "a declaration is for `heldset register`, an experiment for `heldset run`");
        }
        (_, Some(kind)) if kind != "Dataset" => {
            return refuse(&format!("this is of kind `{kind}`, not a dataset"), "pass the dataset file that it names");
        }
        _ => {}
    }
    let is_dump = object.get("hits").and_then(Value::as_object).is_some_and(|hits| hits.contains("hits"));
    if object.contains("testCases") || is_dump || is_agenthealth(object) {
        return Ok(Format::AgentHealth);
    }
    if object.contains("items") || text("kind") == Some("Dataset") {
        return Ok(Format::Lab);
    }
    refuse(
        "this is a mapping without a list of records",
        "a dataset has `items`, `spec.items` or `testCases`, or is a list of records",
    )
}

fn is_agenthealth(row: &Object<'_>) -> bool {
    let dump = matches!(row.get("_source"), Some(Value::Object(_))) || crate::agenthealth::is_action(row);
    dump || row.contains("initialPrompt") || row.contains("expectedOutcomes")
}
