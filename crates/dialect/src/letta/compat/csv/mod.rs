//! The released loader's reading of CSV, which is that of pandas.
//!
//! *Invariant:* checks come in the loader's order, so that of several faults the same one ends the file.

mod frame;
mod infer;
mod table;

use self::frame::Frame;
use self::infer::Scalar;
use self::table::Table;
use super::json;
use super::refusal::Refusal;
use super::rubric;
use super::sample::{CompatSample, Draft};
use super::value::{PyText, PyValue, strip};
use crate::files::Files;

/// How deep a cell may be nested; in Python it depends on the depth of the caller, too.
const DEPTH: usize = 992;

/// Nearly all that goes wrong in CSV ends as this.
const ERROR: &str = "ValueError";

/// Reads samples until the file ends or the loader stops.
pub(super) fn read(
    name: &str,
    bytes: &[u8],
    files: &dyn Files,
    samples: &mut Vec<CompatSample>,
) -> Result<(), Refusal> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| Refusal::new(ERROR, "the file is not UTF-8").at(error.valid_up_to()))?;
    let table = Table::cut(text)?;
    let frame = Frame::new(table).ok_or_else(|| Refusal::new(ERROR, "there is no row in it"))?;
    let Some(input) = frame.column("input") else {
        return Err(missing_input(&frame));
    };
    for row in 0..frame.rows() {
        let reader = Row { frame: &frame, row };
        let sample = reader.sample(input, name, files).map_err(|refusal| refusal.at(frame.place(row, 0)))?;
        samples.push(sample);
    }
    Ok(())
}

fn missing_input(frame: &Frame<'_>) -> Refusal {
    let refusal = Refusal::new(ERROR, "there is no column `input`").at(0);
    if frame.column("prompt").is_some() { refusal.read_natively() } else { refusal }
}

struct Row<'f> {
    frame: &'f Frame<'f>,
    row: usize,
}

impl Row<'_> {
    fn sample(&self, input: usize, name: &str, files: &dyn Files) -> Result<CompatSample, Refusal> {
        let given = self.frame.scalar(self.row, input);
        if given == Scalar::Na {
            let refusal = Refusal::new(ERROR, "`input` is empty or a word that stands for no value");
            return Err(self.placed(refusal, "input"));
        }
        let input = self.text_or_list(&given, "input")?;
        let ground_truth = match self.scalar("ground_truth") {
            Scalar::Na => PyValue::None,
            given => self.text_or_list(&given, "ground_truth")?,
        };
        let agent_args = self.dict("agent_args")?;
        let rubric_vars = self.dict("rubric_vars")?;
        let extra_vars = self.dict("extra_vars")?;
        let inline = self.text("rubric").map_or(PyValue::None, |text| PyValue::Str(text.into()));
        let path = self.text("rubric_path").map_or(PyValue::None, |text| PyValue::Str(strip(&text).into()));
        let index = self.frame.index(self.row)?;
        let rubric =
            rubric::resolve(inline, path, name, files).map_err(|refusal| self.placed(refusal, "rubric_path"))?;
        let id = self.id().unwrap_or(PyValue::Int(index));
        let draft = Draft { id, input, ground_truth, agent_args, rubric_vars, extra_vars, rubric };
        draft.check(ERROR).map_err(|refusal| {
            let field = refusal.path().to_string();
            self.placed(refusal, &field)
        })
    }

    /// What the row holds in a column, which need not be there.
    fn scalar(&self, name: &str) -> Scalar<'_> {
        self.frame.column(name).map_or(Scalar::Na, |column| self.frame.scalar(self.row, column))
    }

    fn text(&self, name: &str) -> Option<String> {
        match self.scalar(name) {
            Scalar::Na => None,
            scalar => Some(scalar.to_text()),
        }
    }

    fn id(&self) -> Option<PyValue> {
        let given = ["sample_id", "id"].map(|name| self.scalar(name)).into_iter().find(|given| *given != Scalar::Na)?;
        Some(match given {
            Scalar::Na => PyValue::None,
            Scalar::Int(digits) => PyValue::Int(digits),
            Scalar::Float(number) => PyValue::Float(number),
            Scalar::Bool(flag) => PyValue::Bool(flag),
            Scalar::Text(text) => PyValue::Str(PyText::from(text)),
        })
    }

    /// Text, or the list that text of the form `[…]` stands for.
    fn text_or_list(&self, given: &Scalar<'_>, name: &str) -> Result<PyValue, Refusal> {
        let text = given.to_text();
        let text = strip(&text);
        if !(text.starts_with('[') && text.ends_with(']')) {
            return Ok(PyValue::Str(text.into()));
        }
        json::read(text, DEPTH).map_err(|fail| self.placed(Refusal::of_json(fail, ERROR), name))
    }

    fn dict(&self, name: &str) -> Result<PyValue, Refusal> {
        let Some(text) = self.text(name) else { return Ok(PyValue::None) };
        match json::read(strip(&text), DEPTH) {
            Ok(value @ PyValue::Dict(_)) => Ok(value),
            Ok(value) => {
                let why = format!("`{name}` is {}, it must be a mapping", value.type_name());
                Err(self.placed(Refusal::new(ERROR, why), name))
            }
            Err(fail) => Err(self.placed(Refusal::of_json(fail, ERROR), name)),
        }
    }

    fn placed(&self, refusal: Refusal, name: &str) -> Refusal {
        let column = self.frame.column(name).unwrap_or(0);
        refusal.field(name).at(self.frame.place(self.row, column))
    }
}
