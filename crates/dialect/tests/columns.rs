//! Parquet and Arrow IPC: every type, and files that are damaged.

use std::io::Cursor;
use std::sync::Arc;

use arrow::array::*;
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::*;
use arrow::ipc::CompressionType;
use arrow::ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow::record_batch::RecordBatch;
use heldset_dialect::{Body, Format, IdRule, Input, ReadOptions};
use heldset_testkit::{Reading, read_bytes};
use parquet::arrow::ArrowWriter;

/// The bytes of a batch in each container that can hold it.
pub(crate) fn containers(batch: &RecordBatch) -> Vec<(&'static str, Vec<u8>)> {
    let mut all = vec![("file", ipc_file(batch, None)), ("stream", ipc_stream(batch))];
    all.push(("lz4", ipc_file(batch, Some(CompressionType::LZ4_FRAME))));
    all.push(("zstd", ipc_file(batch, Some(CompressionType::ZSTD))));
    all.extend(parquet_file(batch).map(|bytes| ("parquet", bytes)));
    all
}

pub(crate) fn ipc_file(batch: &RecordBatch, compression: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let mut writer = FileWriter::try_new_with_options(Vec::new(), batch.schema_ref(), options).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

pub(crate) fn ipc_stream(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), batch.schema_ref()).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

/// `None` for types that Parquet does not have.
fn parquet_file(batch: &RecordBatch) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).ok()?;
    writer.write(batch).ok()?;
    writer.close().ok()?;
    Some(bytes)
}

pub(crate) fn batch_of(field: Field, array: ArrayRef) -> RecordBatch {
    let ids: ArrayRef = Arc::new(StringArray::from_iter_values((0..array.len()).map(|row| row.to_string())));
    let schema = Schema::new(vec![Field::new("id", DataType::Utf8, false), field]);
    RecordBatch::try_new(Arc::new(schema), vec![ids, array]).unwrap()
}

/// The field `x` of every row as JSON, `-` where it is absent, the fault where the row is refused.
pub(crate) fn cells(reading: &Reading, rows: usize) -> Vec<String> {
    let mut cells = vec![String::new(); rows];
    for record in &reading.records {
        let value = record.fields.get("x").map(heldset_core::canonical::bytes);
        cells[record.id.as_str().parse::<usize>().unwrap()] =
            value.map_or("-".to_owned(), |bytes| String::from_utf8(bytes).unwrap());
    }
    for (fault, shown) in reading.faults.iter().zip(reading.places()) {
        let place = fault.place.unwrap_or_else(|| panic!("{fault:?}"));
        assert_eq!((place.column, &fault.excerpt), (1, &None));
        cells[place.line as usize - 1] = shown.replace(&format!(" {}:1", place.line), "");
    }
    cells
}

fn check(array: impl Array + 'static, expected: &[&str]) {
    let array: ArrayRef = Arc::new(array);
    check_field(Field::new("x", array.data_type().clone(), true), array, expected);
}

fn check_field(field: Field, array: ArrayRef, expected: &[&str]) {
    let batch = batch_of(field, array);
    for (container, bytes) in containers(&batch) {
        let reading = read_bytes("x", &bytes);
        let found = cells(&reading, batch.num_rows());
        assert_eq!(found, expected, "{:?} in {container}: {:?}", batch.schema_ref().field(1), reading.faults);
    }
}

#[test]
fn texts_and_bytes() {
    let texts = [Some("é"), None, Some("")];
    check(StringArray::from_iter(texts), &["\"é\"", "-", "\"\""]);
    check(LargeStringArray::from_iter(texts), &["\"é\"", "-", "\"\""]);
    check(StringViewArray::from_iter(texts), &["\"é\"", "-", "\"\""]);
    let bytes: [Option<&[u8]>; 3] = [Some("é".as_bytes()), None, Some(b"\xff")];
    check(BinaryArray::from_iter(bytes), &["\"é\"", "-", "E034 x"]);
    check(LargeBinaryArray::from_iter(bytes), &["\"é\"", "-", "E034 x"]);
    check(BinaryViewArray::from_iter(bytes), &["\"é\"", "-", "E034 x"]);
    let fixed = FixedSizeBinaryArray::try_from_sparse_iter_with_size(
        [Some(b"ab".as_slice()), None, Some(b"a\xff")].into_iter(),
        2,
    );
    check(fixed.unwrap(), &["\"ab\"", "-", "E034 x"]);
}

#[test]
fn integers_are_exact() {
    check(Int8Array::from(vec![Some(-128), None]), &["-128", "-"]);
    check(Int16Array::from(vec![-32768]), &["-32768"]);
    check(Int32Array::from(vec![i32::MAX]), &["2147483647"]);
    check(Int64Array::from(vec![i64::MIN, 9_007_199_254_740_993]), &["-9223372036854775808", "9007199254740993"]);
    check(UInt8Array::from(vec![255]), &["255"]);
    check(UInt16Array::from(vec![65535]), &["65535"]);
    check(UInt32Array::from(vec![u32::MAX]), &["4294967295"]);
    check(UInt64Array::from(vec![Some(u64::MAX), None]), &["18446744073709551615", "-"]);
    check(BooleanArray::from(vec![Some(true), None, Some(false)]), &["true", "-", "false"]);
    check(NullArray::new(2), &["-", "-"]);
}

#[test]
fn doubles_are_finite_or_refused() {
    let doubles = vec![Some(0.1), None, Some(3.0), Some(-0.0), Some(f64::NAN), Some(f64::INFINITY), Some(1e300)];
    check(Float64Array::from(doubles), &["0.1", "-", "3", "0", "E005 x", "E005 x", "1e+300"]);
    check(Float32Array::from(vec![0.5, 0.1, f32::NAN]), &["0.5", "0.10000000149011612", "E005 x"]);
    let halves: Float16Array = Float32Array::from(vec![0.5, f32::NEG_INFINITY]).unary(F16::from_f32);
    check(halves, &["0.5", "E005 x"]);
}

type F16 = <Float16Type as ArrowPrimitiveType>::Native;

#[test]
fn decimals_keep_their_meaning_or_are_refused() {
    let small = Decimal128Array::from(vec![Some(110), None, Some(-5), Some(0), Some(100)]);
    check(small.with_precision_and_scale(10, 2).unwrap(), &["1.1", "-", "-0.05", "0", "1"]);
    let large = Decimal128Array::from(vec![900_719_925_474_099_300, 12_345_678_901_234_567_890_123]);
    check(large.with_precision_and_scale(38, 2).unwrap(), &["9007199254740993", "123456789012345680000"]);
    let whole = Decimal128Array::from(vec![123_456_789_012_345_678_901, 100_000_000_000_000_000_000]);
    check(whole.with_precision_and_scale(38, 0).unwrap(), &["E004 x", "100000000000000000000"]);
    check(Decimal32Array::from(vec![-12345]).with_precision_and_scale(9, 4).unwrap(), &["-1.2345"]);
    check(Decimal64Array::from(vec![7]).with_precision_and_scale(18, 3).unwrap(), &["0.007"]);
    let huge = Decimal256Array::from(vec![arrow::datatypes::i256::from(-15)]);
    check(huge.with_precision_and_scale(76, 1).unwrap(), &["-1.5"]);
}

#[test]
fn times_are_text_with_the_digits_of_their_unit() {
    check(
        Date32Array::from(vec![Some(0), None, Some(-1), Some(19_782)]),
        &["\"1970-01-01\"", "-", "\"1969-12-31\"", "\"2024-02-29\""],
    );
    check(Date32Array::from(vec![i32::MAX, -719_529]), &["E005 x", "E005 x"]);
    check(TimestampSecondArray::from(vec![Some(0), None]), &["\"1970-01-01T00:00:00\"", "-"]);
    let milliseconds = vec![1_700_000_000_000, 1_700_000_000_120, -1];
    check(
        TimestampMillisecondArray::from(milliseconds.clone()),
        &["\"2023-11-14T22:13:20\"", "\"2023-11-14T22:13:20.120\"", "\"1969-12-31T23:59:59.999\""],
    );
    for zone in ["UTC", "+02:00", "Europe/Berlin"] {
        let array = TimestampMicrosecondArray::from(vec![1_700_000_000_000_001]).with_timezone(zone);
        check(array, &["\"2023-11-14T22:13:20.000001Z\""]);
    }
    check(TimestampNanosecondArray::from(vec![i64::MIN]), &["\"1677-09-21T00:12:43.145224192\""]);
    check(TimestampSecondArray::from(vec![i64::MAX]), &["E005 x"]);
    check(Time32SecondArray::from(vec![86_399, 86_400, -1]), &["\"23:59:59\"", "E005 x", "E005 x"]);
    check(Time32MillisecondArray::from(vec![1]), &["\"00:00:00.001\""]);
    check(Time64MicrosecondArray::from(vec![3_600_000_000]), &["\"01:00:00\""]);
    check(Time64NanosecondArray::from(vec![60_000_000_010]), &["\"00:01:00.000000010\""]);
}

#[test]
fn a_date_in_milliseconds_keeps_its_time() {
    let array: ArrayRef = Arc::new(Date64Array::from(vec![86_400_000, 1]));
    let batch = batch_of(Field::new("x", DataType::Date64, true), array);
    let reading = read_bytes("x", &ipc_file(&batch, None));
    assert_eq!(cells(&reading, 2), ["\"1970-01-02\"", "\"1970-01-01T00:00:00.001\""]);
}

#[test]
fn lists_keep_nulls_and_mappings_leave_them_out() {
    let rows = || vec![Some(vec![Some(1), None]), None, Some(vec![])];
    check(ListArray::from_iter_primitive::<Int32Type, _, _>(rows()), &["[1,null]", "-", "[]"]);
    check(LargeListArray::from_iter_primitive::<Int32Type, _, _>(rows()), &["[1,null]", "-", "[]"]);
    let fixed = vec![Some(vec![Some(1), None]), None, Some(vec![Some(2), Some(3)])];
    check(FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>(fixed, 2), &["[1,null]", "-", "[2,3]"]);
    let item = || Arc::new(Field::new_list_field(DataType::Utf8, true));
    let values: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("b")]));
    let view = ListViewArray::new(item(), vec![1, 0].into(), vec![2, 2].into(), Arc::clone(&values), None);
    check(view, &["[null,\"b\"]", "[\"a\",null]"]);
    let view = LargeListViewArray::new(item(), vec![1_i64, 0].into(), vec![2_i64, 1].into(), values, None);
    check(view, &["[null,\"b\"]", "[\"a\"]"]);
    let fields: Vec<(FieldRef, ArrayRef)> = vec![
        (Arc::new(Field::new("a", DataType::Int8, true)), Arc::new(Int8Array::from(vec![Some(1), None, None]))),
        (Arc::new(Field::new("b", DataType::Utf8, true)), Arc::new(StringArray::from(vec!["x", "y", "z"]))),
    ];
    let (fields, arrays): (Vec<_>, Vec<_>) = fields.into_iter().unzip();
    let nulls = Some(vec![true, true, false].into());
    check(StructArray::new(fields.into(), arrays, nulls), &["{\"a\":1,\"b\":\"x\"}", "{\"b\":\"y\"}", "-"]);
}

#[test]
fn maps_and_dictionaries() {
    let mut maps = MapBuilder::new(None, StringBuilder::new(), Float64Builder::new());
    for entries in
        [vec![("b", Some(1.5)), ("a", None)], vec![("k", Some(1.0)), ("k", None)], vec![("n", Some(f64::NAN))]]
    {
        for (key, value) in entries {
            maps.keys().append_value(key);
            maps.values().append_option(value);
        }
        maps.append(true).unwrap();
    }
    check(maps.finish(), &["{\"a\":null,\"b\":1.5}", "E003 x.k", "E005 x.n"]);
    let texts: DictionaryArray<Int8Type> = vec![Some("a"), None, Some("b"), Some("a")].into_iter().collect();
    check(texts, &["\"a\"", "-", "\"b\"", "\"a\""]);
    let keys = UInt16Array::from(vec![Some(1), Some(0), None]);
    let numbers = DictionaryArray::new(keys, Arc::new(Int64Array::from(vec![Some(7), None])));
    check(numbers, &["-", "7", "-"]);
}

#[test]
fn a_field_marked_as_json_is_read_as_json() {
    let marked =
        |kind| Field::new("x", kind, true).with_metadata([("heldset:type".to_owned(), "json".to_owned())].into());
    let texts = vec![Some(r#"{"k":[1,null]}"#), None, Some("null"), Some("{"), Some(r#"{"a":1,"a":2}"#)];
    let expected = ["{\"k\":[1,null]}", "-", "null", "E030 x", "E030 x"];
    check_field(marked(DataType::Utf8), Arc::new(StringArray::from(texts.clone())), &expected);
    check_field(marked(DataType::LargeUtf8), Arc::new(LargeStringArray::from(texts)), &expected);
    check_field(marked(DataType::Int8), Arc::new(Int8Array::from(vec![1])), &["1"]);
}

#[test]
fn other_types_are_refused_before_any_row() {
    let duration: ArrayRef = Arc::new(DurationSecondArray::from(vec![1]));
    let interval: ArrayRef = Arc::new(IntervalYearMonthArray::from(vec![1]));
    let runs = RunArray::try_new(&Int32Array::from(vec![1]), &StringArray::from(vec!["a"])).unwrap();
    let list = GenericListArray::new(
        Arc::new(Field::new_list_field(duration.data_type().clone(), true)),
        OffsetBuffer::<i32>::from_lengths([1]),
        Arc::clone(&duration),
        None,
    );
    let mut keyed = MapBuilder::new(None, Int8Builder::new(), Int8Builder::new());
    keyed.append(true).unwrap();
    let all: [ArrayRef; 5] = [duration, interval, Arc::new(runs), Arc::new(list), Arc::new(keyed.finish())];
    for array in all {
        let batch = batch_of(Field::new("x", array.data_type().clone(), true), array);
        let reading = read_bytes("x", &ipc_file(&batch, None));
        assert!(reading.records.is_empty() && reading.faults.len() == 1, "{:?}", reading.faults);
        let fault = &reading.faults[0];
        assert!(fault.code.name() == "E034" && fault.message.contains("`x"), "{fault:?}");
    }
}

#[test]
fn column_names_are_checked_once() {
    let array = || -> ArrayRef { Arc::new(StringArray::from(vec!["a", "b"])) };
    for (name, code) in [("id", "E031"), ("e\u{301}", "E033"), ("a\nb", "E033")] {
        let batch = batch_of(Field::new(name, DataType::Utf8, true), array());
        for (container, bytes) in containers(&batch) {
            let reading = read_bytes("x", &bytes);
            let codes: Vec<_> = reading.faults.iter().map(|fault| fault.code.name()).collect();
            assert_eq!(codes, [code], "{name:?} in {container}");
        }
    }
}

#[test]
fn many_rows_come_in_order_from_a_file_that_can_seek() {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..20_000));
    let batch = batch_of(Field::new("x", DataType::Int64, true), numbers);
    for (container, bytes) in containers(&batch) {
        let reading = read_bytes("x", &bytes);
        let rows: Vec<_> = reading.records.iter().map(|record| record.id.as_str().parse::<usize>().unwrap()).collect();
        assert!(rows.into_iter().eq(0..20_000), "{container}");
        assert_eq!(seekable(bytes), 20_000, "{container}");
    }
}

/// How many records there are when the file is not read from front to back.
fn seekable(bytes: Vec<u8>) -> u64 {
    struct Count;
    impl heldset_dialect::Each for Count {
        type Out = ();
        type Scratch = ();
        fn record(&self, _scratch: &mut (), _record: heldset_core::record::Record<'_>) {}
    }
    impl heldset_dialect::Take<()> for Count {
        fn record(&mut self, (): ()) -> std::io::Result<()> {
            Ok(())
        }
        fn fault(&mut self, fault: &heldset_core::fault::Fault, _row: Option<&[u8]>) -> std::io::Result<()> {
            panic!("{fault:?}")
        }
        fn progress(&mut self, _bytes: u64, _rows: u64) -> std::io::Result<()> {
            Ok(())
        }
    }
    let options = ReadOptions { format: Some(Format::Records), id: IdRule::Auto, schema: None, threads: 2 };
    let input = Input { name: "x".to_owned(), body: Body::Seekable(Box::new(Cursor::new(bytes))) };
    heldset_dialect::read(input, &options, &heldset_dialect::NoFiles, &Count, &mut Count).unwrap().kept
}
