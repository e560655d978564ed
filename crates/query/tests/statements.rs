//! SQL that reads is run, and nothing else is.

use std::sync::Arc;

use heldset_core::json;
use heldset_core::value::Value;
use heldset_query::{Cache, QueryError, Rows, Statement, Table, Tables};

fn tables() -> Tables {
    let rows = [
        r#"{"category":"a","score":0.5,"count":1,"n":0.5,"metadata":{"w":{"c":1.5}},"mixed":1}"#,
        r#"{"category":"b","score":0.25,"count":9007199254740993,"n":9007199254740993,"mixed":"x"}"#,
        r#"{"category":"a","score":1,"count":3,"mixed":null}"#,
    ];
    let row = |(at, text): (usize, &&str)| {
        let Value::Object(fields) = json::read(text).unwrap().into_owned() else { panic!("a mapping") };
        (format!("r{at}"), fields)
    };
    let rows: Vec<_> = rows.iter().enumerate().map(row).collect();
    let table = Table::new(vec![Arc::new(Rows::new("rows", &rows))], Arc::new(Cache::new(1 << 20))).unwrap();
    Tables::from([("trips".to_owned(), table.clone()), ("trips@2".to_owned(), table)])
}

fn ask(text: &str) -> Result<String, QueryError> {
    let answer = Statement::parse(text)?.run(tables())?;
    let rows = answer.rows().map(|row| String::from_utf8(heldset_core::canonical::bytes(&Value::Array(row))).unwrap());
    Ok(rows.collect::<Vec<_>>().join(" "))
}

#[test]
fn statements_that_read_are_answered_exactly() {
    for (text, expected) in [
        ("select id, count from trips order by id", r#"["r0",1] ["r1",9007199254740993] ["r2",3]"#),
        ("select n from trips where id <> 'r2' order by id", "[0.5] [9007199254740993]"),
        ("select category, count(*) n from trips group by 1 order by 1", r#"["a",2] ["b",1]"#),
        (
            "select a.id from trips a join \"trips@2\" b on a.category = b.category where b.id = 'r0' order by 1",
            r#"["r0"] ["r2"]"#,
        ),
        ("with t as (select * from trips where score > 0.4) select sum(score) from t", "[1.5]"),
        ("select mixed from trips order by id", r#"[1] ["x"] [null]"#),
        ("select json_number(metadata, 'w.c') from trips where id = 'r0'", "[1.5]"),
        ("select json_text(metadata, 'w') from trips where id = 'r0'", r#"["{\"c\":1.5}"]"#),
        ("select upper(category) from trips where id in ('r1') union all select 'x'", r#"["B"] ["x"]"#),
        ("select count(*) from trips", "[3]"),
        ("select cast(0.1 as decimal(5,2)) + 1, date '2024-01-02'", r#"["1.10","2024-01-02"]"#),
    ] {
        let mut given = ask(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        if text.contains("union") {
            let mut parts: Vec<&str> = given.split(' ').collect();
            parts.sort_unstable();
            given = parts.join(" ");
        }
        assert_eq!(given, expected, "{text}");
    }
}

/// What writes, what reaches elsewhere, and what is more than one thing.
#[test]
fn statements_that_do_something_else_are_refused() {
    let corpus = include_str!("refused.sql");
    let mut count = 0;
    for text in corpus.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("--")) {
        count += 1;
        match ask(text) {
            Err(QueryError::Refused(_) | QueryError::Invalid(_) | QueryError::UnknownTable { .. }) => {}
            Err(other) => panic!("{text}: {other}"),
            Ok(rows) => panic!("{text}: {rows}"),
        }
    }
    assert!(count >= 40, "{count}");
}

#[test]
fn statements_that_nest_too_deep_are_told() {
    for text in [
        format!("select 1{}", "+1".repeat(5_000)),
        format!("select 1{}", " union all select 1".repeat(200)),
        format!("select {}1{}", "(".repeat(6_000), ")".repeat(6_000)),
        format!("select '{}'", "x".repeat(20_000)),
    ] {
        assert!(matches!(ask(&text), Err(QueryError::Invalid(_))), "{}", &text[..30]);
    }
    assert_eq!(ask(&format!("select 1{}", "+1".repeat(500))).unwrap(), "[501]");
}

#[test]
fn unknown_columns_are_named() {
    let Err(QueryError::UnknownField { name, known }) = ask("select categry from trips") else { panic!("it is known") };
    assert_eq!(name, "categry");
    assert!(known.contains(&"category".to_owned()));
}
