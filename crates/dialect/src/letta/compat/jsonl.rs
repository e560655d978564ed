//! The released loader's reading of JSONL.
//!
//! *Invariant:* checks come in the loader's order, so that of several faults the same one ends the file.

use heldset_core::json::locate;

use super::json;
use super::lines::{decode, lines};
use super::refusal::Refusal;
use super::rubric;
use super::sample::{CompatSample, Draft};
use super::value::{PyDict, PyValue, strip};
use crate::files::Files;

/// How deep a line may be nested; in Python it depends on the depth of the caller, too.
const DEPTH: usize = 993;

const CHECK: &str = "ValidationError";

/// Reads samples until the file ends or the loader stops.
pub(super) fn read(
    name: &str,
    bytes: &[u8],
    files: &dyn Files,
    samples: &mut Vec<CompatSample>,
) -> Result<(), Refusal> {
    let decoded = decode(bytes);
    for (row, (start, line)) in lines(decoded.text).enumerate() {
        let text = strip(line);
        let start = start + (text.as_ptr() as usize - line.as_ptr() as usize);
        let sample = read_line(name, text, row, files);
        samples.push(sample.map_err(|refusal| placed(refusal, text, start))?);
    }
    match decoded.broken {
        None => Ok(()),
        Some(at) => Err(Refusal::new("UnicodeDecodeError", "the file is not UTF-8").at(at)),
    }
}

/// Finds the place of a refusal that only knows its field, or counts its bytes from the line.
fn placed(refusal: Refusal, line: &str, start: usize) -> Refusal {
    if refusal.is_placed() {
        return refusal.moved(start);
    }
    let span = locate(line, refusal.path()).map_or(0, |span| span.start);
    refusal.at(start + span)
}

fn read_line(name: &str, line: &str, row: usize, files: &dyn Files) -> Result<CompatSample, Refusal> {
    let value = json::read(line, DEPTH).map_err(|fail| {
        let refusal = Refusal::of_json(fail, "JSONDecodeError").at(fail.at);
        let native = line.is_empty() || line.starts_with('\u{feff}');
        if native { refusal.read_natively() } else { refusal }
    })?;
    let PyValue::Dict(mut data) = value else {
        return Err(Refusal::new("AttributeError", format!("the line is {}, not a mapping", value.type_name())));
    };
    let mut metadata = data.take("metadata");
    let rubric = rubric::resolve(data.take("rubric"), data.take("rubric_path"), name, files)?;
    let draft = Draft {
        id: sample_id(&mut data, row),
        input: input(&mut data)?,
        ground_truth: data.take("ground_truth"),
        agent_args: or_metadata(&mut data, &mut metadata, "agent_args")?,
        rubric_vars: or_metadata(&mut data, &mut metadata, "rubric_vars")?,
        extra_vars: or_metadata(&mut data, &mut metadata, "extra_vars")?,
        rubric,
    };
    draft.check(CHECK)
}

/// `sample_id`, else `id`, else the row.
fn sample_id(data: &mut PyDict, row: usize) -> PyValue {
    for name in ["sample_id", "id"] {
        match data.take(name) {
            PyValue::None => {}
            value => return value,
        }
    }
    PyValue::Int(row.to_string())
}

/// `input` when Python takes it for true, else `prompt`, whatever that is.
fn input(data: &mut PyDict) -> Result<PyValue, Refusal> {
    let input = data.take("input");
    if input.is_true() {
        return Ok(input);
    }
    match data.get("prompt") {
        Some(_) => Ok(data.take("prompt")),
        None => Err(Refusal::new("KeyError", "`input` is empty or absent, and there is no `prompt`").field("input")),
    }
}

/// The field when Python takes it for true, else the field of that name in the metadata.
fn or_metadata(data: &mut PyDict, metadata: &mut PyValue, name: &str) -> Result<PyValue, Refusal> {
    let own = data.take(name);
    if own.is_true() {
        return Ok(own);
    }
    match metadata {
        PyValue::Dict(metadata) => Ok(metadata.take(name)),
        other if other.is_true() => {
            let why = format!("`metadata` is {}, it must be a mapping", other.type_name());
            Err(Refusal::new("AttributeError", why).field("metadata"))
        }
        _ => Ok(PyValue::None),
    }
}
