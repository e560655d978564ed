//! Columnar files that are damaged, or declare more than they hold.

use std::sync::Arc;

use arrow::array::*;
use arrow::buffer::{OffsetBuffer, ScalarBuffer};
use arrow::datatypes::*;
use arrow::record_batch::RecordBatch;
use heldset_testkit::read_bytes;

use crate::columns::{batch_of, cells, containers, ipc_stream};

#[test]
fn a_tiny_file_cannot_declare_a_huge_record() {
    let rows: ArrayRef = Arc::new(NullArray::new(40_000_000));
    let item = Arc::new(Field::new_list_field(DataType::Null, true));
    let offsets = OffsetBuffer::new(ScalarBuffer::from(vec![0, 40_000_000]));
    let list: ArrayRef = Arc::new(ListArray::new(item, offsets, rows, None));
    let batch = batch_of(Field::new("x", list.data_type().clone(), true), list);
    assert_eq!(cells(&read_bytes("x", &ipc_stream(&batch)), 1), ["E008 x"]);
    let nulls = RecordBatch::try_from_iter([("x", Arc::new(NullArray::new(1 << 40)) as ArrayRef)]).unwrap();
    assert_eq!(read_bytes("x", &ipc_stream(&nulls)).places(), ["E034 - -"]);
}

#[test]
fn damaged_files_are_faults() {
    let texts: ArrayRef =
        Arc::new((0..40).map(|row| Some(["a", "bb"][row % 2])).collect::<DictionaryArray<Int32Type>>());
    let batch = batch_of(Field::new("x", texts.data_type().clone(), true), texts);
    for (container, bytes) in containers(&batch) {
        for length in (8..bytes.len()).step_by(7) {
            let reading = read_bytes("x", &bytes[..length]);
            let whole = reading.records.len() == 40 && reading.faults.is_empty();
            let expected = if whole { container == "stream" } else { !reading.faults.is_empty() };
            assert!(expected, "{container} cut to {length}: {:?}", reading.faults);
        }
        for bit in (64..bytes.len() * 8).step_by(11) {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let reading = read_bytes("x", &damaged);
            assert!(reading.report.read == reading.report.kept + reading.report.refused);
        }
    }
}

/// A footer of a version, a schema of one column, and what follows.
fn footer(rest: &[u8]) -> Vec<u8> {
    let root = [0x48, 1, b'r', 0x15, 2, 0];
    let leaf = [0x15, 2, 0x25, 0, 0x18, 1, b'x', 0];
    let head = [0x15, 2, 0x19, 0x2c];
    let footer = [head.as_slice(), &root, &leaf, &[0x16, 2], rest].concat();
    let length = u32::try_from(footer.len()).unwrap().to_le_bytes();
    [b"PAR1".as_slice(), &footer, &length, b"PAR1"].concat()
}

#[test]
fn a_footer_cannot_declare_more_than_it_has() {
    let group = [0x35, 0, 0x18, 1, b'g', 0x15, 2, 0];
    let deep = [[0x15, 2, 0x19, 0xfc, 0xa0, 0x8d, 0x06].as_slice(), &group.repeat(100_000)].concat();
    let length = u32::try_from(deep.len()).unwrap().to_le_bytes();
    let reading = read_bytes("x", &[b"PAR1".as_slice(), &deep, &[0], &length, b"PAR1"].concat());
    assert_eq!(reading.places(), ["E034 - -"]);
    let groups = [0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07];
    let nested = [0x5c; 400];
    for (name, rest) in [("row groups", groups.as_slice()), ("nesting", &nested), ("nothing", &[])] {
        let reading = read_bytes("x", &footer(rest));
        assert_eq!(reading.places(), ["E034 - -"], "{name}");
    }
    assert_eq!(read_bytes("x", &footer(&[0x19, 0x0c, 0])).places(), ["E023 - -"]);
}
