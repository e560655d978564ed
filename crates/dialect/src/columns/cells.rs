//! The cells of one column of a batch, ready to become values row by row.
//!
//! *Invariant:* a null cell is an absent value: the field is not there. Where absence cannot be said, inside a list
//! and as a value of a map, it is an explicit null.

use std::ops::Range;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, OffsetSizeTrait};
use arrow::datatypes::{DataType, Field};
use hashbrown::HashSet;
use heldset_core::code::Code;
use heldset_core::fault::Problem;
use heldset_core::json::{self, MAX_DEPTH};
use heldset_core::number::{Number, NumberError};
use heldset_core::path::Path;
use heldset_core::value::{Object, Value};

use super::{TYPE_JSON, TYPE_KEY, unreadable};

mod plain;
mod text;

type At<'b, T> = Box<dyn Fn(usize) -> T + 'b>;

/// One column of a batch, or a part of one.
pub(super) struct Cells<'b> {
    array: &'b dyn Array,
    kind: Kind<'b>,
}

enum Kind<'b> {
    Null,
    Text(At<'b, &'b str>),
    Json(At<'b, &'b str>),
    Bytes(At<'b, &'b [u8]>),
    Boolean(&'b BooleanArray),
    Number(At<'b, Result<Number, NumberError>>),
    Time(At<'b, Option<String>>),
    Struct(Vec<(&'b str, Cells<'b>)>),
    List(At<'b, Range<usize>>, Box<Cells<'b>>),
    Map(At<'b, Range<usize>>, At<'b, &'b str>, Box<Cells<'b>>),
    Dictionary(At<'b, usize>, Box<Cells<'b>>),
}

/// What is left of the size that a record may have; a small file can declare a value of any size.
pub(super) struct Allowance(pub(super) usize);

impl<'b> Cells<'b> {
    /// The cells of a column; refused when its type, or that of a part, is not read.
    pub(super) fn of(array: &'b dyn Array, field: &Field, path: &Path) -> Result<Self, Problem> {
        let is_json = field.metadata().get(TYPE_KEY).is_some_and(|kind| kind == TYPE_JSON);
        Cells::new(array, is_json, path)
    }

    fn new(array: &'b dyn Array, is_json: bool, path: &Path) -> Result<Self, Problem> {
        if path.steps().len() > MAX_DEPTH - 1 {
            return Err(Problem::new(Code::E007, path.clone(), "nested deeper than 64 levels"));
        }
        let kind = match array.data_type() {
            DataType::Null => Kind::Null,
            DataType::Boolean => Kind::Boolean(array.as_boolean()),
            DataType::Struct(_) | DataType::Map(..) | DataType::Dictionary(..) => Kind::parts(array, is_json, path)?,
            DataType::List(item) => list(array.as_list::<i32>(), item, path)?,
            DataType::LargeList(item) => list(array.as_list::<i64>(), item, path)?,
            DataType::ListView(_) | DataType::LargeListView(_) | DataType::FixedSizeList(..) => {
                Kind::other_list(array, path)?
            }
            other => match text::of(array) {
                Some(text) if is_json => Kind::Json(text),
                Some(text) => Kind::Text(text),
                None => plain::of(array).ok_or_else(|| unreadable(path.clone(), other))?,
            },
        };
        Ok(Cells { array, kind })
    }

    /// The value in a row; `None` where it is absent. The path of a problem starts at this column.
    pub(super) fn value(&self, row: usize, left: &mut Allowance) -> Result<Option<Value<'b>>, Problem> {
        if self.array.is_null(row) {
            return Ok(None);
        }
        left.spend(8)?;
        Ok(Some(match &self.kind {
            Kind::Null => return Ok(None),
            Kind::Text(text) => Value::from(left.text(text(row))?),
            Kind::Json(text) => json_value(left.text(text(row))?)?,
            Kind::Bytes(bytes) => Value::from(left.text(text::of_bytes(bytes(row))?)?),
            Kind::Boolean(flags) => Value::from(flags.value(row)),
            Kind::Number(number) => Value::Number(number(row).map_err(number_problem)?),
            Kind::Time(time) => Value::from(time(row).ok_or_else(time_problem)?),
            Kind::Struct(members) => struct_value(members, row, left)?,
            Kind::List(range, items) => list_value(range(row), items, left)?,
            Kind::Map(range, key, values) => map_value(range(row), key, values, left)?,
            Kind::Dictionary(key, values) => return values.value(key(row), left),
        }))
    }
}

impl Allowance {
    fn spend(&mut self, bytes: usize) -> Result<(), Problem> {
        self.0 = self.0.checked_sub(bytes).ok_or_else(|| {
            Problem::new(Code::E008, Path::root(), "the record is larger than 64 MiB")
                .help("split the record, or keep large content in files of its own")
        })?;
        Ok(())
    }

    fn text<'b>(&mut self, text: &'b str) -> Result<&'b str, Problem> {
        self.spend(text.len())?;
        Ok(text)
    }
}

impl<'b> Kind<'b> {
    fn parts(array: &'b dyn Array, is_json: bool, path: &Path) -> Result<Self, Problem> {
        Ok(match array.data_type() {
            DataType::Struct(fields) => {
                let parts = array.as_struct().columns().iter().zip(fields);
                Kind::Struct(members(parts.map(|(part, field)| (part, field.as_ref())), path)?)
            }
            DataType::Map(..) => {
                let map = array.as_map();
                let (keys, values) = (map.keys().as_ref(), map.values().as_ref());
                let key = text::of(keys).ok_or_else(|| unreadable(path.clone(), array.data_type()))?;
                let (_, field) = map.entries_fields();
                let offsets = map.value_offsets();
                let range = Box::new(move |row: usize| offsets[row] as usize..offsets[row + 1] as usize);
                Kind::Map(range, key, Box::new(Cells::of(values, field, &path.then_key("*"))?))
            }
            _ => {
                let key = plain::dictionary_keys(array).ok_or_else(|| unreadable(path.clone(), array.data_type()))?;
                let values = array.as_any_dictionary().values().as_ref();
                Kind::Dictionary(key, Box::new(Cells::new(values, is_json, path)?))
            }
        })
    }

    fn other_list(array: &'b dyn Array, path: &Path) -> Result<Self, Problem> {
        let (range, values, item): (At<'b, Range<usize>>, &ArrayRef, &Field) = match array.data_type() {
            DataType::FixedSizeList(item, _) => {
                let list = array.as_fixed_size_list();
                let size = usize::try_from(list.value_length()).unwrap_or(0);
                (Box::new(move |row| row * size..(row + 1) * size), list.values(), item)
            }
            DataType::ListView(item) => {
                let list = array.as_list_view::<i32>();
                (view_range(list.offsets(), list.sizes()), list.values(), item)
            }
            DataType::LargeListView(item) => {
                let list = array.as_list_view::<i64>();
                (view_range(list.offsets(), list.sizes()), list.values(), item)
            }
            other => return Err(unreadable(path.clone(), other)),
        };
        Ok(Kind::List(range, Box::new(Cells::of(values.as_ref(), item, &path.then_key("[]"))?)))
    }
}

/// The parts of a mapping, which must have names of their own.
pub(super) fn members<'b>(
    parts: impl Iterator<Item = (&'b ArrayRef, &'b Field)>,
    path: &Path,
) -> Result<Vec<(&'b str, Cells<'b>)>, Problem> {
    let mut names = HashSet::new();
    let mut members = Vec::new();
    for (part, field) in parts {
        let name = field.name().as_str();
        let path = path.then_key(name);
        if !names.insert(name) {
            return Err(Problem::new(Code::E031, path.clone(), format!("two columns are named `{path}`"))
                .help("give every column a name of its own"));
        }
        members.push((name, Cells::of(part.as_ref(), field, &path)?));
    }
    Ok(members)
}

/// The mapping that a row's parts make.
pub(super) fn row_of<'b>(
    members: &[(&'b str, Cells<'b>)],
    row: usize,
    left: &mut Allowance,
) -> Result<Object<'b>, Problem> {
    let mut object = Object::with_capacity(members.len());
    for (name, cells) in members {
        let value = cells.value(row, left).map_err(|problem| under(problem, &Path::key(name)))?;
        if let Some(value) = value {
            object.push_unique((*name).into(), value);
        }
    }
    Ok(object)
}

fn struct_value<'b>(members: &[(&'b str, Cells<'b>)], row: usize, left: &mut Allowance) -> Result<Value<'b>, Problem> {
    row_of(members, row, left).map(Value::Object)
}

fn list<'b, O: OffsetSizeTrait>(
    list: &'b arrow::array::GenericListArray<O>,
    item: &Field,
    path: &Path,
) -> Result<Kind<'b>, Problem> {
    let offsets = list.value_offsets();
    let range = Box::new(move |row: usize| offsets[row].as_usize()..offsets[row + 1].as_usize());
    Ok(Kind::List(range, Box::new(Cells::of(list.values().as_ref(), item, &path.then_key("[]"))?)))
}

fn view_range<'b, O: OffsetSizeTrait>(offsets: &'b [O], sizes: &'b [O]) -> At<'b, Range<usize>> {
    Box::new(move |row| offsets[row].as_usize()..offsets[row].as_usize() + sizes[row].as_usize())
}

fn list_value<'b>(range: Range<usize>, items: &Cells<'b>, left: &mut Allowance) -> Result<Value<'b>, Problem> {
    left.spend(range.len().saturating_mul(8))?;
    let start = range.start;
    let item = |at: usize| {
        let value = items.value(at, left).map_err(|problem| under(problem, &Path::root().then_index(at - start)))?;
        Ok(value.unwrap_or(Value::Null))
    };
    range.map(item).collect::<Result<Vec<_>, _>>().map(Value::Array)
}

fn map_value<'b>(
    range: Range<usize>,
    key: &At<'b, &'b str>,
    values: &Cells<'b>,
    left: &mut Allowance,
) -> Result<Value<'b>, Problem> {
    let mut object = Object::with_capacity(range.len().min(64));
    let mut seen = HashSet::new();
    for at in range {
        let name = left.text(key(at))?;
        let path = Path::key(name);
        if !seen.insert(name) {
            return Err(Problem::new(Code::E003, path, format!("key `{name}` is there twice"))
                .help("keep one of the two: which one wins would be a guess"));
        }
        let value = values.value(at, left).map_err(|problem| under(problem, &path))?;
        object.push_unique(name.into(), value.unwrap_or(Value::Null));
    }
    Ok(Value::Object(object))
}

fn json_value(text: &str) -> Result<Value<'_>, Problem> {
    json::read(text).map_err(|error| {
        let message = format!("the column holds JSON, and this is not: {error}");
        Problem::new(Code::E030, error.path, message)
    })
}

fn number_problem(error: NumberError) -> Problem {
    let code = if error == NumberError::Inexact { Code::E004 } else { Code::E005 };
    Problem::new(code, Path::root(), error.to_string()).help("write it as text: as a number it cannot be kept")
}

fn time_problem() -> Problem {
    let message = "the time cannot be written as text: it is outside a day, or the years 0000 to 9999";
    Problem::new(Code::E005, Path::root(), message)
}

fn under(problem: Problem, outer: &Path) -> Problem {
    Problem { path: problem.path.under(outer), ..problem }
}
