//! The envelope: what a manifest says about the dataset, and where its items are.

use heldset_core::case::wrong_type;
use heldset_core::code::Code;
use heldset_core::fault::Problem;
use heldset_core::path::Path;
use heldset_core::value::{Object, Value};

use super::{FieldMap, LabMapper};
use crate::document::Plan;
use crate::map::IdRule;
use crate::report::DatasetInfo;

/// How a number, a boolean or a null is written at a path.
pub(crate) type Literal<'l> = &'l dyn Fn(&Path) -> Option<&'l str>;

/// What a document of this dialect holds.
pub(crate) fn plan(root: &Value<'_>, id: &IdRule, literal: Literal<'_>) -> Result<Plan, Problem> {
    let envelope = match root {
        Value::Array(_) => return Ok(rows(Path::root(), LabMapper::new(id.clone()), DatasetInfo::default())),
        Value::Object(envelope) => envelope,
        other => return Err(not_a_dataset(&format!("a dataset is a mapping or a list, not {}", other.type_name()))),
    };
    let mut reading = Reading { info: DatasetInfo::default(), literal, body: None };
    reading.envelope(envelope)?;
    let Reading { info, body, .. } = reading;
    match body {
        None => Err(not_a_dataset("this manifest has no items")),
        Some(Body::Items(list)) => Ok(rows(list, LabMapper::new(id.clone()), info)),
        Some(Body::File { path, at, fields }) => Ok(Plan::Elsewhere { path, at, info, fields }),
    }
}

/// What a file holds whose fields a manifest tells.
pub(crate) fn plan_source(root: &Value<'_>, id: &IdRule, fields: FieldMap) -> Result<Plan, Problem> {
    if root.as_array().is_none() {
        let message = format!("a source is a list of rows, not {}", root.type_name());
        return Err(Problem::new(Code::E021, Path::root(), message).help("write the rows as a JSON or YAML list"));
    }
    Ok(rows(Path::root(), LabMapper::of_source(id.clone(), fields), DatasetInfo::default()))
}

fn rows(list: Path, mapper: LabMapper, info: DatasetInfo) -> Plan {
    Plan::Rows { list, mapper: Box::new(mapper), info }
}

fn not_a_dataset(message: &str) -> Problem {
    Problem::new(Code::E024, Path::root(), message).help("a dataset has `items` or `spec.items`, or is a list of items")
}

/// Where the items are.
enum Body {
    Items(Path),
    File { path: String, at: Path, fields: Option<FieldMap> },
}

struct Reading<'l> {
    info: DatasetInfo,
    literal: Literal<'l>,
    body: Option<Body>,
}

impl Reading<'_> {
    fn envelope(&mut self, envelope: &Object<'_>) -> Result<(), Problem> {
        for (name, value) in envelope.iter() {
            let at = Path::key(name);
            match name {
                "kind" => {}
                "apiVersion" if value.as_str().is_some_and(|version| version.starts_with("lab/")) => {}
                "metadata" => {
                    let entries = mapping(value, &at)?.into_iter().flat_map(Object::iter);
                    for (name, value) in entries {
                        self.about(name, value, at.then_key(name))?;
                    }
                }
                "spec" => mapping(value, &at)?.map_or(Ok(()), |spec| self.spec(spec, &at))?,
                "items" => self.items(value, at)?,
                "dataset" if !envelope.contains("name") && value.as_str().is_some() => self.about("name", value, at)?,
                _ => self.about(name, value, at)?,
            }
        }
        Ok(())
    }

    fn spec(&mut self, spec: &Object<'_>, outer: &Path) -> Result<(), Problem> {
        let mut fields = match (spec.get("source"), spec.get("map")) {
            (Some(_), Some(map)) => Some(FieldMap::of(map, &outer.then_key("map"))?),
            _ => None,
        };
        let is_mapped = fields.is_some();
        for (name, value) in spec.iter() {
            let at = outer.then_key(name);
            match name {
                "items" => self.items(value, at)?,
                "path" => self.file(value, at, None)?,
                "source" => match value.as_object().and_then(|source| source.get("path")) {
                    Some(path) => self.file(path, at.then_key("path"), fields.take())?,
                    None => self.file(value, at, fields.take())?,
                },
                "map" if is_mapped => {}
                _ => self.about(name, value, at)?,
            }
        }
        Ok(())
    }

    fn items(&mut self, value: &Value<'_>, at: Path) -> Result<(), Problem> {
        if value.as_array().is_none() {
            return Err(wrong_type(at.clone(), &at.to_string(), "a list", value).help("write the items as a list"));
        }
        self.set_body(Body::Items(at.clone()), &at)
    }

    fn file(&mut self, value: &Value<'_>, at: Path, fields: Option<FieldMap>) -> Result<(), Problem> {
        let Some(path) = value.as_str().filter(|path| !path.is_empty()) else {
            return Err(wrong_type(at.clone(), &at.to_string(), "the path of a file", value));
        };
        self.set_body(Body::File { path: path.to_owned(), at: at.clone(), fields }, &at)
    }

    fn set_body(&mut self, body: Body, at: &Path) -> Result<(), Problem> {
        if self.body.is_some() {
            let message = format!("`{at}` gives the items a second time");
            return Err(Problem::new(Code::E018, at.clone(), message).help("keep one of the two"));
        }
        self.body = Some(body);
        Ok(())
    }

    /// One thing that the envelope says about the dataset.
    fn about(&mut self, name: &str, value: &Value<'_>, at: Path) -> Result<(), Problem> {
        let text = match (name, value) {
            ("name" | "version" | "description", Value::Null) => return Ok(()),
            ("name" | "version" | "description", Value::String(text)) => text.to_string(),
            ("name" | "version" | "description", Value::Number(_) | Value::Bool(_)) => {
                (self.literal)(&at).unwrap_or_default().to_owned()
            }
            ("name" | "version" | "description", other) => {
                return Err(wrong_type(at.clone(), &at.to_string(), "text", other));
            }
            _ => {
                let added = self.info.more.insert(name.to_owned(), value.clone().into_owned());
                return added.map_err(|_| second(name, at));
            }
        };
        let place = match name {
            "name" => &mut self.info.name,
            "version" => &mut self.info.version,
            _ => &mut self.info.description,
        };
        match place.replace(text) {
            None => Ok(()),
            Some(_) => Err(second(name, at)),
        }
    }
}

/// A mapping of the envelope, or nothing.
fn mapping<'v, 'a>(value: &'v Value<'a>, at: &Path) -> Result<Option<&'v Object<'a>>, Problem> {
    match value {
        Value::Null => Ok(None),
        Value::Object(object) => Ok(Some(object)),
        other => Err(wrong_type(at.clone(), &at.to_string(), "a mapping", other)),
    }
}

fn second(name: &str, at: Path) -> Problem {
    let message = format!("`{at}` gives a second value for the dataset's `{name}`");
    Problem::new(Code::E018, at, message).help("keep one of the two")
}
