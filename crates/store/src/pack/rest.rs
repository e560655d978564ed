//! What no typed column holds of a row: a mapping in canonical bytes.

use heldset_core::canonical;
use heldset_core::number::Number;
use heldset_core::value::Value;

use super::draft::PackDraft;
use super::stage::Cell;

/// Appends the fields as a mapping in canonical bytes; nothing when there is none.
pub(super) fn write_rest(left: &mut [(&str, Cell)], draft: &PackDraft, out: &mut Vec<u8>) {
    if left.is_empty() {
        return;
    }
    left.sort_by(|(a, _), (b, _)| canonical::key_order(a, b));
    out.push(b'{');
    for (index, (name, cell)) in left.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        canonical::write_text(name, out);
        out.push(b':');
        match *cell {
            Cell::Null => out.extend_from_slice(b"null"),
            Cell::Bool(flag) => canonical::write(&Value::Bool(flag), out),
            Cell::Integer(number) => canonical::write(&Value::from(number), out),
            Cell::Number(number) => {
                let number = Number::from_f64(number).unwrap_or(Number::from_i64(0));
                canonical::write(&Value::Number(number), out);
            }
            Cell::Text(from, to) => canonical::write_text(&String::from_utf8_lossy(draft.text((from, to))), out),
            Cell::Json(from, to) => out.extend_from_slice(draft.text((from, to))),
        }
    }
    out.push(b'}');
}
