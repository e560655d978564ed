//! Tables: CSV with its schema, Letta CSV and Parquet, and the way back.

use heldset_core::leaf::Leaves;
use heldset_core::profile::Profile;
use heldset_core::record::Record;
use heldset_core::visibility::AGENT_VISIBLE;
use heldset_dialect::write::{ColumnSet, Loss, Target, WriteOptions, Writer, spooled, writer};
use heldset_dialect::{Format, IdRule, ReadOptions};
use heldset_testkit::{MemoryFiles, Reading, read_with};

pub(crate) const TYPED: WriteOptions = WriteOptions { typed: true, for_spreadsheet: false };

/// Everything that a writing made.
pub(crate) struct Wrote {
    bytes: Vec<u8>,
    schema: Option<String>,
    pub(crate) losses: Vec<Loss>,
}

impl Wrote {
    fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes).unwrap()
    }

    fn shown(&self) -> Vec<String> {
        self.losses.iter().map(ToString::to_string).collect()
    }

    pub(crate) fn read(&self, format: Option<Format>) -> Reading {
        let mut files = MemoryFiles::default();
        if let Some(schema) = &self.schema {
            files.0.insert("r.csv.schema.json".to_owned(), schema.clone().into_bytes());
        }
        let options = ReadOptions { format, id: IdRule::Auto, schema: None, threads: 2 };
        read_with("r.csv", &self.bytes, &options, &files)
    }
}

/// Writes records as a caller would: in batches, over kept lines.
pub(crate) fn write(target: Target, options: WriteOptions, records: &[Record<'_>]) -> Wrote {
    let table = match writer(target, options) {
        Writer::Table(table) => table,
        Writer::Rows(rows) => {
            let between = rows.between().as_bytes();
            let bodies: Vec<_> = records.iter().map(|record| rows.row(record).bytes).collect();
            let bytes = [rows.head(&Default::default()), bodies.join(between), rows.tail().into()].concat();
            return Wrote { bytes, schema: None, losses: Vec::new() };
        }
    };
    let (mut lines, mut losses, mut columns) = (Vec::new(), Vec::new(), ColumnSet::default());
    for batch in records.chunks(2) {
        let mut seen = ColumnSet::default();
        for record in batch {
            let row = table.row(record);
            lines.push(String::from_utf8(row.bytes).unwrap());
            losses.extend(row.losses);
            table.observe(record, &mut seen);
        }
        columns.merge(seen);
    }
    losses.extend(table.losses(&columns));
    let mut bytes = Vec::new();
    let sidecar = table.write(&columns, &mut lines.iter().map(|line| spooled(line)), &mut bytes).unwrap();
    Wrote { bytes, schema: sidecar.schema.map(|schema| String::from_utf8(schema).unwrap()), losses }
}

fn records(lines: &[&str]) -> Vec<Record<'static>> {
    lines.iter().map(|line| spooled(line).unwrap()).collect()
}

#[test]
fn csv_cells_are_text_or_json_and_the_schema_says_which() {
    let records = records(&[
        r#"{"id":"a","z":"7","input":"x, \"y\"\nz","n":1,"f":1,"b":true,"l":["p"],"m":"t","o":null}"#,
        r#"{"id":"b","n":null,"f":0.5,"l":[1],"m":{"k":1},"z":" 007","name":"N"}"#,
    ]);
    let wrote = write(Target::Csv, TYPED, &records);
    assert_eq!(
        wrote.text(),
        "id,name,input,z,n,f,b,l,m,o\n\
         a,,\"x, \"\"y\"\"\nz\",7,1,1,true,\"[\"\"p\"\"]\",\"\"\"t\"\"\",null\n\
         b,N,,\" 007\",null,0.5,,[1],\"{\"\"k\"\":1}\",\n"
    );
    let types = ["string", "string", "string", "string", "integer", "number", "boolean", "list", "json", "json"];
    let names = ["id", "name", "input", "z", "n", "f", "b", "l", "m", "o"];
    let fields: Vec<_> =
        names.iter().zip(types).map(|(name, kind)| format!(r#"{{"name":"{name}","type":"{kind}"}}"#)).collect();
    assert_eq!(wrote.schema.clone().unwrap(), format!("{{\"fields\":[{}]}}", fields.join(",")));
    assert_eq!(wrote.shown(), [""; 0]);
    assert_eq!(wrote.read(None).records, records);
}

#[test]
fn csv_lists_what_it_cannot_carry() {
    let all = records(&[r#"{"id":"a","t":"","u":"","":1}"#, r#"{"id":"b","t":"","u":5}"#, r#"{"id":"c","t":""}"#]);
    let wrote = write(Target::Csv, TYPED, &all);
    assert_eq!(
        wrote.shown(),
        [
            "record `a`: `` would be refused: a column needs a name",
            "record `a`: `t` would be lost, here and in 2 more records: an empty cell is absent",
        ]
    );
    let untyped = WriteOptions { typed: false, ..TYPED };
    let wrote = write(Target::Csv, untyped, &records(&[r#"{"id":"a","n":5,"t":"x"}"#]));
    assert_eq!((wrote.text(), &wrote.schema), ("id,n,t\na,5,x\n", &None));
    let why = "would become text without a schema beside the file; write to a file with -o";
    assert_eq!(wrote.shown(), [format!("record `a`: `n` {why}")]);
}

#[test]
fn formulas_are_guarded_for_spreadsheets_and_listed() {
    let options = WriteOptions { typed: true, for_spreadsheet: true };
    let all = records(&[r#"{"id":"-1","t":"=1+1","n":-5,"=h":"x"}"#, r#"{"id":"b","t":"@a,b","n":2}"#]);
    let wrote = write(Target::Csv, options, &all);
    assert_eq!(wrote.text(), "id,t,n,'=h\n'-1,'=1+1,-5,x\nb,\"'@a,b\",2,\n");
    assert_eq!(
        wrote.shown(),
        [
            "record `-1`: `=h` is guarded for spreadsheets",
            "record `-1`: `id` is guarded for spreadsheets",
            "record `-1`: `t` is guarded for spreadsheets, here and in 1 more record",
        ]
    );
    assert_eq!(write(Target::Csv, TYPED, &all).shown(), [""; 0]);
    let letta = write(Target::LettaCsv, options, &records(&[r#"{"id":"a","input":"+x"}"#]));
    assert_eq!(letta.text(), "id,input,ground_truth\na,'+x,\n");
    assert_eq!(letta.shown(), ["record `a`: `input` is guarded for spreadsheets"]);
}

#[test]
fn letta_cells_come_back_or_are_listed() {
    let kept = records(&[
        r#"{"id":"7","input":"a","turns":[{"role":"user","content":"b"}],"expected_turns":[null,"y"],"note":"n"}"#,
        r#"{"id":"007","input":"{4}","expected_output":"4","tags":["t"],"metadata":{"k":1},"rubric":"r"}"#,
    ]);
    let wrote = write(Target::LettaCsv, TYPED, &kept);
    assert_eq!(
        wrote.text(),
        "id,input,ground_truth,note,rubric,tags,metadata\n\
         7,\"[\"\"a\"\",\"\"b\"\"]\",\"[null,\"\"y\"\"]\",n,,,\n\
         007,{4},4,,r,\"[\"\"t\"\"]\",\"{\"\"k\"\":1}\"\n"
    );
    assert_eq!((wrote.shown(), &wrote.schema), (Vec::new(), &None));
    assert_eq!(wrote.read(None).records, kept);
    for (line, loss) in [
        (r#"{"id":"a","input":"q","expected_output":4}"#, "record `a`: `expected_output` would change"),
        (r#"{"id":"a","input":"q","expected_output":""}"#, "record `a`: `expected_output` would be lost"),
        (r#"{"id":"a","input":"q","score":null}"#, "record `a`: `score` would change"),
        (r#"{"id":"a","input":"q","expected_output":"[1]"}"#, "record `a`: `expected_output` would change"),
    ] {
        assert_eq!(write(Target::LettaCsv, TYPED, &records(&[line])).shown(), [loss], "{line}");
    }
    let refused = write(Target::LettaCsv, TYPED, &records(&[r#"{"id":"a","input":"[q]"}"#])).shown();
    assert!(refused.len() == 1 && refused[0].starts_with("record `a`: `input` would be refused: "), "{refused:?}");
}

#[test]
fn parquet_columns_are_typed_where_one_type_holds_all() {
    let all = records(&[
        r#"{"id":"a","text":"","int":-9007199254740993,"big":18446744073709551615,"double":0.5,"flag":true,"list":["x"]}"#,
        r#"{"id":"b","int":1,"big":0,"double":9007199254740992,"list":[],"mixed":"1","null":null,"inexact":0.5,"span":-1}"#,
        r#"{"id":"c","mixed":1,"nested":{"k":[1]},"inexact":9007199254740993,"span":18446744073709551615,"a.b":"","":""}"#,
    ]);
    let wrote = write(Target::Parquet, TYPED, &all);
    let bytes = bytes::Bytes::from(wrote.bytes.clone());
    let built = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap();
    let types: Vec<_> = built
        .schema()
        .fields()
        .iter()
        .map(|field| {
            let mark = field.metadata().get("heldset:type").map_or("", |kind| kind.as_str());
            format!("{} {}{mark}", field.name(), field.data_type())
        })
        .collect();
    assert_eq!(
        types,
        [
            "id Utf8",
            "text Utf8",
            "int Int64",
            "big UInt64",
            "double Float64",
            "flag Boolean",
            "list List(Utf8)",
            "mixed Utf8json",
            "null Utf8json",
            "inexact Utf8json",
            "span Utf8json",
            "nested Utf8json",
            "a.b Utf8",
            " Utf8",
        ]
    );
    assert!(!built.schema().field(0).is_nullable());
    assert_eq!(wrote.read(None).records, all);
}

#[test]
fn one_content_has_one_identity_in_every_container() {
    let all = records(&[
        r#"{"id":"1","input":"q","expected_output":4,"tags":["a","b"],"metadata":{"k":null},"score":0.1,"n":9007199254740993}"#,
        r#"{"id":"é","input":"r\r\n\"s\"","turns":[{"role":"user","content":""}],"expected_output":"4","score":null}"#,
        r#"{"id":"3","input":"[t]","flag":false,"expected_outcomes":[],"n":0}"#,
    ]);
    let policy = Profile::Case.draft().split("test", AGENT_VISIBLE).resolve().unwrap();
    let leaves = |records: &[Record<'_>]| {
        let mut leaves = Leaves::content(policy.in_split("test").unwrap());
        records.iter().map(|record| leaves.leaf(record)).collect::<Vec<_>>()
    };
    for target in [Target::Jsonl, Target::Json, Target::Csv, Target::Parquet] {
        let wrote = write(target, TYPED, &all);
        assert_eq!(wrote.shown(), [""; 0], "{target:?}");
        let mut reading = wrote.read(Some(Format::Records));
        if matches!(target, Target::Jsonl | Target::Json) {
            let options = ReadOptions { format: Some(Format::Records), id: IdRule::Auto, schema: None, threads: 1 };
            reading = read_with(&format!("r.{}", target.name()), &wrote.bytes, &options, &MemoryFiles::default());
        }
        assert_eq!(reading.records, all, "{target:?}: {:?}", reading.faults);
        assert_eq!(leaves(&reading.records), leaves(&all), "{target:?}");
    }
}

#[test]
fn many_rows_make_several_batches() {
    let lines: Vec<_> = (0..20_000).map(|row| format!(r#"{{"id":"{row}","n":{row},"t":"x{}"}}"#, row % 7)).collect();
    let all: Vec<_> = lines.iter().map(|line| spooled(line).unwrap()).collect();
    for target in [Target::Csv, Target::Parquet] {
        assert_eq!(write(target, TYPED, &all).read(None).records, all, "{target:?}");
    }
}
