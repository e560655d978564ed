//! Queries over packs at rest give what the evaluator says of the records that are read back.

use heldset_core::filter::{Filter, Names};
use heldset_core::json;
use heldset_core::profile::Profile;
use heldset_core::query::{Query, Sort, parse_where};
use heldset_core::value::{Object, Value};
use heldset_engine::import::{About, Change, ImportRequest, Labelling, change, import};
use heldset_engine::query::{Memory, query};
use heldset_engine::session::Session;
use heldset_testkit::{MemorySources, Quiet};

use crate::worlds::{reading, session};

/// Rows of many kinds, more than one pack of pages, with a field that only a few have, and one of every type.
fn lines(from: usize, to: usize) -> String {
    let mut out = String::new();
    for at in from..to {
        out.push_str(&format!(
            "{{\"id\":\"r{at}\",\"input\":\"text {at} {}\",\"expected_output\":\"answer {}\",\"n\":{},\"when\":\"2025-0{}-01T00:00:00Z\",\"m\":{{\"k\":{}}}",
            "lorem ".repeat(at % 7),
            at % 11,
            if at % 97 == 0 { "\"mixed\"".to_owned() } else { format!("{}", at as f64 / 8.0) },
            at % 9 + 1,
            at % 5,
        ));
        if at % 500 == 3 {
            out.push_str(",\"rare\":null");
        }
        if at % 500 == 4 {
            out.push_str(",\"rare\":18446744073709551615");
        }
        out.push_str("}\n");
    }
    out
}

fn filled() -> Session {
    let session = session(5);
    let (labelling, about, reading) =
        (Labelling { profile: Some(Profile::Case), ..Labelling::default() }, About::default(), &reading());
    let request = ImportRequest {
        slug: "trips",
        split: "default",
        reading,
        labelling: &labelling,
        about: &about,
        keep_valid: false,
    };
    let whole = MemorySources { name: "a.jsonl".to_owned(), bytes: lines(0, 6_000).into_bytes() };
    import(&session, &request, &whole, &mut Quiet::default()).unwrap();
    // Another version, whose rows lie in parts of two packs.
    let request = ImportRequest { labelling: &Labelling::default(), ..request };
    let some = MemorySources {
        name: "b.jsonl".to_owned(),
        bytes: lines(2_000, 2_100).replace("text", "changed").into_bytes(),
    };
    change(&session, &request, &Change { sources: Some(&some), remove: &["r17".to_owned()] }, &mut Quiet::default())
        .unwrap();
    session
}

fn records(session: &Session) -> Vec<(String, Object<'static>)> {
    let mut bytes = Vec::new();
    let all = heldset_engine::cat::CatRequest { cite: "trips", split: None, ids: &[], place: None };
    heldset_engine::cat::cat(session, &all, &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let record = |line: &str| {
        let Value::Object(mut row) = json::read(line).unwrap().into_owned() else { panic!("{line}") };
        (row.remove("id").unwrap().as_str().unwrap().to_owned(), row)
    };
    text.lines().map(record).collect()
}

#[test]
fn packs_are_queried_as_their_records_mean() {
    let session = filled();
    let records = records(&session);
    assert_eq!(records.len(), 5_999);
    let memory = Memory::new(1 << 26);
    for text in [
        "n > 700",
        "n <= 0.5",
        "n = \"mixed\"",
        "n != 3 and input contains \"lorem lorem lorem lorem lorem\"",
        "input contains \"changed\"",
        "input startswith \"text 59\"",
        "expected_output endswith \"10\" or m.k = 4",
        "when >= \"2025-08-01T00:00:00Z\"",
        "when = \"2025-08-01T02:00:00+02:00\"",
        "rare is not null",
        "rare > 0",
        "id in (\"r5\", \"r17\", \"r2050\", \"none\")",
        "id > \"r98\"",
        "not (m.k = 1 or m.k = 2)",
    ] {
        let filter: Filter = parse_where(text).unwrap();
        let mut expected: Vec<&str> = records
            .iter()
            .filter(|(id, fields)| filter.matches(id, fields, Names::Exact))
            .map(|(id, _)| id.as_str())
            .collect();
        expected.sort_unstable();
        let asked = Query { filter, limit: 10_000, fields: Some(vec!["id".to_owned()]), ..Query::default() };
        for _ in 0..2 {
            // The second time from what was kept.
            let answered =
                query(&session, &memory, "trips", &asked).unwrap_or_else(|refusal| panic!("{text}: {refusal:?}"));
            let found: Vec<&str> = answered.rows.iter().map(|row| row.get("id").unwrap().as_str().unwrap()).collect();
            assert_eq!(found, expected, "{text}");
            assert_eq!(answered.total, expected.len() as u64, "{text}");
        }
    }
}

#[test]
fn whole_records_come_back_as_they_are() {
    let session = filled();
    let records = records(&session);
    let asked = Query { limit: 10_000, sort: vec![Sort::parse("-m.k"), Sort::parse("n")], ..Query::default() };
    let answered = query(&session, &Memory::new(1 << 26), "trips", &asked).unwrap();
    assert_eq!(answered.rows.len(), records.len());
    for row in &answered.rows {
        let mut row = row.clone();
        let id = row.remove("id").unwrap();
        let known = &records.iter().find(|(known, _)| Some(known.as_str()) == id.as_str()).unwrap().1;
        assert_eq!(row.len(), known.len(), "{id:?}");
        assert!(known.iter().all(|(name, value)| row.get(name) == Some(value)), "{id:?}");
    }
}
