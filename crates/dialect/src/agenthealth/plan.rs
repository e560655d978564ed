//! Where the test cases of a document are.

use heldset_core::case;
use heldset_core::code::Code;
use heldset_core::fault::Problem;
use heldset_core::path::Path;
use heldset_core::value::{Object, Value};

use super::AgentHealthMapper;
use crate::document::Plan;
use crate::map::IdRule;
use crate::report::DatasetInfo;

/// A list of test cases, a wrapper around one, the answer to a search, or one test case.
pub(crate) fn plan(root: &Value<'_>, id: &IdRule) -> Result<Plan, Problem> {
    let mapper = Box::new(AgentHealthMapper { id: id.clone() });
    let object = match root {
        Value::Array(_) => return Ok(Plan::Rows { list: Path::root(), mapper, info: DatasetInfo::default() }),
        Value::Object(object) => object,
        other => {
            let message = format!("a test case is a mapping, not {}", other.type_name());
            return Err(Problem::new(Code::E024, Path::root(), message)
                .help("write one test case, a list of them, or a mapping with `testCases`"));
        }
    };
    if let Some(cases) = object.get("testCases") {
        let list = list_at(cases, Path::key("testCases"))?;
        return Ok(Plan::Rows { list, mapper, info: info_of(object) });
    }
    if let Some(hits) = object.get("hits").and_then(Value::as_object).and_then(|hits| hits.get("hits")) {
        let list = list_at(hits, Path::key("hits").then_key("hits"))?;
        return Ok(Plan::Rows { list, mapper, info: DatasetInfo::default() });
    }
    Ok(Plan::One { mapper })
}

fn list_at(value: &Value<'_>, path: Path) -> Result<Path, Problem> {
    match value {
        Value::Array(_) => Ok(path),
        other => Err(case::wrong_type(path.clone(), &path.to_string(), "a list", other)),
    }
}

/// What a wrapper says besides its test cases.
fn info_of(wrapper: &Object<'_>) -> DatasetInfo {
    let mut info = DatasetInfo::default();
    for (name, value) in wrapper.iter() {
        match (name, value) {
            ("testCases", _) => {}
            ("name", Value::String(text)) => info.name = Some(text.to_string()),
            ("description", Value::String(text)) => info.description = Some(text.to_string()),
            ("version", Value::String(text)) => info.version = Some(text.to_string()),
            ("version", Value::Number(number)) => info.version = Some(number.to_string()),
            _ => info.more.set(name.to_owned(), value.clone().into_owned()),
        }
    }
    info
}
