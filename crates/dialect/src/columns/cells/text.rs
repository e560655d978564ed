//! Cells that are text or bytes.

use arrow::array::{Array, AsArray};
use arrow::datatypes::DataType;
use heldset_core::code::Code;
use heldset_core::fault::Problem;
use heldset_core::path::Path;

use super::{At, Kind};

/// The texts of a column, if that is what it holds.
pub(super) fn of<'b>(array: &'b dyn Array) -> Option<At<'b, &'b str>> {
    Some(match array.data_type() {
        DataType::Utf8 => {
            let texts = array.as_string::<i32>();
            Box::new(|row| texts.value(row))
        }
        DataType::LargeUtf8 => {
            let texts = array.as_string::<i64>();
            Box::new(|row| texts.value(row))
        }
        DataType::Utf8View => {
            let texts = array.as_string_view();
            Box::new(|row| texts.value(row))
        }
        _ => return None,
    })
}

/// The bytes of a column, if that is what it holds.
pub(super) fn bytes_of<'b>(array: &'b dyn Array) -> Option<Kind<'b>> {
    let bytes: At<'b, &'b [u8]> = match array.data_type() {
        DataType::Binary => {
            let bytes = array.as_binary::<i32>();
            Box::new(|row| bytes.value(row))
        }
        DataType::LargeBinary => {
            let bytes = array.as_binary::<i64>();
            Box::new(|row| bytes.value(row))
        }
        DataType::BinaryView => {
            let bytes = array.as_binary_view();
            Box::new(|row| bytes.value(row))
        }
        DataType::FixedSizeBinary(_) => {
            let bytes = array.as_fixed_size_binary();
            Box::new(|row| bytes.value(row))
        }
        _ => return None,
    };
    Some(Kind::Bytes(bytes))
}

/// Bytes are read only where they are text.
pub(super) fn of_bytes(bytes: &[u8]) -> Result<&str, Problem> {
    simdutf8::basic::from_utf8(bytes).map_err(|_| {
        Problem::new(Code::E034, Path::root(), "the bytes are not UTF-8 text")
            .help("write them as text, for example in base64")
    })
}
