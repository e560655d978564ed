//! Leaves do not depend on the file a record came from, nor on a trip through any writer.

use heldset_core::digest::{CommitKey, Digest};
use heldset_core::leaf::Leaves;
use heldset_core::profile::Profile;
use heldset_core::record::Record;
use heldset_core::visibility::AGENT_VISIBLE;
use heldset_dialect::write::{ColumnSet, Target, WriteOptions, Writer, spooled, writer};
use heldset_dialect::{DatasetInfo, IdRule, ReadOptions};
use heldset_testkit::{MemoryFiles, Reading, read_bytes, read_with};

/// One content: text that looks like other things, exact numbers, nested values, absent fields.
const CONTENT: &str = r#"{"id":"007","input":"Plan a trip, \"now\".","expected_output":"yes","tags":["t","no"],"metadata":{"k":1,"deep":[{"é":[true,false,0.1]}]},"score":0.5,"n":9007199254740993}
{"id":"b","input":"q: - [x]\nsecond line","turns":[{"role":"user","content":"more"},{"role":"hitl","content":"ok"}],"expected_turns":["a","b","c"],"n":-4}
{"id":"c","input":"null","expected_output":"007","category":"1e3","memory_seeds":[{"source":"s","content":"text","target_agent":"x"}],"score":3}
"#;

fn leaves(records: &[Record<'_>]) -> Vec<Digest> {
    let policy = Profile::Case.draft().split("default", AGENT_VISIBLE).resolve().unwrap();
    let mut leaves = Leaves::committed(policy.in_split("default").unwrap(), &CommitKey::new([7; 32]));
    records.iter().map(|record| leaves.leaf(record)).collect()
}

/// Writes records to a file and reads it again, with what lies beside it.
fn again(target: Target, records: &[Record<'static>]) -> (Reading, Vec<String>) {
    let options = WriteOptions { typed: true, for_spreadsheet: false };
    let mut files = MemoryFiles::default();
    let mut losses = Vec::new();
    let mut bytes = Vec::new();
    let name = match target {
        Target::Jsonl | Target::LettaJsonl => "again.jsonl",
        Target::Json | Target::AgentHealth => "again.json",
        Target::Csv | Target::LettaCsv => "again.csv",
        Target::Parquet => "again.parquet",
        Target::Lab => "again.yaml",
    };
    match writer(target, options) {
        Writer::Rows(rows) => {
            let made: Vec<_> = records.iter().map(|record| rows.row(record)).collect();
            losses.extend(made.iter().flat_map(|row| row.losses.iter().map(ToString::to_string)));
            let bodies: Vec<_> = made.into_iter().map(|row| row.bytes).collect();
            bytes = [rows.head(&DatasetInfo::default()), bodies.join(rows.between().as_bytes()), rows.tail().into()]
                .concat();
        }
        Writer::Table(table) => {
            let mut columns = ColumnSet::default();
            let mut kept = Vec::new();
            for record in records {
                table.observe(record, &mut columns);
                let row = table.row(record);
                losses.extend(row.losses.iter().map(ToString::to_string));
                kept.push(String::from_utf8(row.bytes).unwrap());
            }
            losses.extend(table.losses(&columns).iter().map(ToString::to_string));
            let sidecar = table.write(&columns, &mut kept.iter().map(|line| spooled(line)), &mut bytes).unwrap();
            if let Some(schema) = sidecar.schema {
                files.0.insert(format!("{name}.schema.json"), schema);
            }
        }
    }
    let options = ReadOptions { format: None, id: IdRule::Auto, schema: None, threads: 1 };
    (read_with(name, &bytes, &options, &files), losses)
}

#[test]
fn one_content_has_one_set_of_leaves_in_every_container() {
    let records = read_bytes("content.jsonl", CONTENT.as_bytes()).records;
    let expected = leaves(&records);
    assert_eq!(expected.len(), 3);
    for target in [Target::Jsonl, Target::Json, Target::Csv, Target::Parquet] {
        let (reading, losses) = again(target, &records);
        assert_eq!((reading.faults, losses), (vec![], vec![]), "{}", target.name());
        assert_eq!(leaves(&reading.records), expected, "{}", target.name());
    }
    let list: String = CONTENT.lines().map(|line| format!("- {line}\n")).collect();
    let yaml = read_bytes("content.yaml", list.as_bytes());
    assert_eq!(leaves(&yaml.records), expected, "{:?}", yaml.faults);
}

#[test]
fn every_dialect_brings_back_the_leaves_of_what_it_can_carry() {
    let simple = r#"{"id":"007","input":"Plan, \"now\".","expected_output":"yes","tags":["t"],"metadata":{"k":1}}
{"id":"12","input":"first","turns":[{"role":"user","content":"second"}],"expected_turns":["a","b"],"agent_args":{"x":[1]}}
"#;
    let records = read_bytes("content.jsonl", simple.as_bytes()).records;
    let expected = leaves(&records);
    for target in [Target::Lab, Target::LettaJsonl, Target::LettaCsv, Target::AgentHealth] {
        let (reading, losses) = again(target, &records);
        let carried = target != Target::LettaCsv && target != Target::AgentHealth || losses.is_empty();
        assert!(carried, "{}: {losses:?}", target.name());
        assert_eq!(leaves(&reading.records), expected, "{}: {:?}", target.name(), reading.faults);
    }
    for target in [Target::Lab, Target::LettaJsonl, Target::AgentHealth] {
        let rich = read_bytes("content.jsonl", CONTENT.as_bytes()).records;
        let (reading, losses) = again(target, &rich);
        let same = leaves(&reading.records) == leaves(&rich);
        assert_eq!(
            same,
            losses.is_empty(),
            "{}: a difference is listed, and only a difference: {losses:?}",
            target.name()
        );
    }
}
