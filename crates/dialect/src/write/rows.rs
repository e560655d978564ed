//! Writers whose rows do not depend on one another.

use heldset_core::canonical;
use heldset_core::case;
use heldset_core::record::Record;
use heldset_core::value::{Object, Value};

use super::loss::Loss;
use crate::report::DatasetInfo;

/// A row as it is written.
pub struct Written {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// What they do not carry.
    pub losses: Vec<Loss>,
}

/// Writes records one by one.
pub trait RowWriter: Send + Sync {
    /// A record as a row.
    fn row(&self, record: &Record<'_>) -> Written;

    /// What stands before the first row.
    fn head(&self, _info: &DatasetInfo) -> Vec<u8> {
        Vec::new()
    }

    /// What stands between two rows.
    fn between(&self) -> &'static str {
        "\n"
    }

    /// What stands after the last row.
    fn tail(&self) -> &'static str {
        "\n"
    }
}

/// Canonical records, one JSON object per line.
pub(crate) struct JsonLinesWriter;

/// Canonical records as one JSON list.
pub(crate) struct JsonListWriter;

impl RowWriter for JsonLinesWriter {
    fn row(&self, record: &Record<'_>) -> Written {
        Written { bytes: json_line(record), losses: Vec::new() }
    }
}

impl RowWriter for JsonListWriter {
    fn row(&self, record: &Record<'_>) -> Written {
        JsonLinesWriter.row(record)
    }

    fn head(&self, _info: &DatasetInfo) -> Vec<u8> {
        b"[\n".to_vec()
    }

    fn between(&self) -> &'static str {
        ",\n"
    }

    fn tail(&self) -> &'static str {
        "\n]\n"
    }
}

/// A record as one line of JSON: its id, then the fields of a case in their order, then the rest.
pub(crate) fn json_line(record: &Record<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    let id = Value::from(record.id.as_str());
    let first = std::iter::once(("id", &id));
    canonical::write_entries(first.chain(in_order(&record.fields)), &mut out);
    out
}

/// The fields of a case in their order, then the rest as it came.
pub(crate) fn in_order<'v, 'a>(fields: &'v Object<'a>) -> impl Iterator<Item = (&'v str, &'v Value<'a>)> {
    let known = case::field_names().filter_map(|name| fields.get(name).map(|value| (name, value)));
    known.chain(fields.iter().filter(|(name, _)| !case::is_field(name)))
}
