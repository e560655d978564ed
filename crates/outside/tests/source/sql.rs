//! SQLite, which is always there; and what holds for every database.

use std::path::Path;

use super::{Desk, rows_of};

fn database(folder: &Path, statements: &str) {
    rusqlite::Connection::open(folder.join("x.db")).unwrap().execute_batch(statements).unwrap();
}

fn read(folder: &Path, operation: &str) -> Desk {
    Desk::new("sql", r#"{"url": "sqlite:x.db"}"#, operation).folder(folder)
}

fn numbers() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    database(
        folder.path(),
        "create table t (id integer primary key, name text, twin integer);
         with recursive n (i) as (select 1 union all select i + 1 from n where i < 2500)
         insert into t select i, 'n' || i, i / 2 from n;",
    );
    folder
}

#[test]
fn values_are_exact() {
    let folder = tempfile::tempdir().unwrap();
    database(
        folder.path(),
        "create table v (big integer, real real, text text, bytes blob, missing text, doc text);
         insert into v values (9223372036854775807, 0.1, 'ä''\"', x'6869', null, '{\"b\": [1, 2]}'), (-1, 9e999, '', x'', null, 'no');",
    );
    let rows = read(folder.path(), r#"{"query": "select * from v", "json": ["doc"]}"#).rows();
    assert_eq!(
        rows,
        [
            r#"{"big":9223372036854775807,"bytes":"aGk=","doc":{"b":[1,2]},"missing":null,"real":0.1,"text":"ä'\""}"#,
            r#"{"big":-1,"bytes":"","doc":"no","missing":null,"real":"Infinity","text":""}"#,
        ]
    );
}

#[test]
fn pages_go_by_the_key_and_go_on_after_it() {
    let folder = numbers();
    let operation = r#"{"query": "select * from t where id > ?", "params": [100], "key": "id"}"#;
    let pages = read(folder.path(), operation).pages();
    assert_eq!(pages.iter().map(|page| page.rows.len()).collect::<Vec<_>>(), [1000, 1000, 400]);
    assert!(pages[2].next.is_none());
    let rest = read(folder.path(), operation).after(pages[0].next.clone()).pages();
    assert_eq!(rows_of(&rest), rows_of(&pages[1..]));
    let by_two = r#"{"query": "select * from t", "key": ["twin", "id"], "page_size": 999}"#;
    assert_eq!(read(folder.path(), by_two).rows().len(), 2500);
    let plain = read(folder.path(), r#"{"query": "select * from t order by id desc"}"#).pages();
    assert_eq!((plain.len(), plain[0].next.is_none()), (3, true));
    assert_eq!(rows_of(&plain)[0], r#"{"id":2500,"name":"n2500","twin":1250}"#);
    assert_eq!(read(folder.path(), operation).limit(3).rows().len(), 3);
}

#[test]
fn a_key_that_would_lose_rows_is_refused() {
    let folder = numbers();
    let refusal = read(folder.path(), r#"{"query": "select * from t", "key": "twin", "page_size": 2}"#).refusal();
    assert!(refusal.starts_with("E072 the key `twin` is the same in two rows"), "{refusal}");
    let query = r#"{"query": "select null as k, id from t", "key": "k", "page_size": 2}"#;
    assert!(read(folder.path(), query).refusal().starts_with("E072 the key `k` is null in some rows"));
    // One null would stand on a page that ends with another key, and be lost or not by where the database sorts it.
    let one = r#"{"query": "select nullif(id, 2500) as k, id from t where id > ?", "params": [7], "key": ["id", "k"]}"#;
    let refusal = read(folder.path(), one).refusal();
    assert!(refusal.starts_with("E072 the key `k` is null in some rows"), "{refusal}");
    let refusal = read(folder.path(), r#"{"query": "select * from t", "key": "idd"}"#).refusal();
    assert!(
        refusal.starts_with("E067 the query has no column `idd`, which `key` names (did you mean `id`?)"),
        "{refusal}"
    );
    let refusal = read(folder.path(), r#"{"query": "select id, name as id from t"}"#).refusal();
    assert!(refusal.starts_with("E067 the query has two columns `id`"), "{refusal}");
}

#[test]
fn nothing_is_written_made_or_waited_for() {
    let folder = numbers();
    let endless = "with recursive n (i) as (select 1 union all select i + 1 from n) select max(i) from n";
    let operation = format!(r#"{{"query": "{endless}", "timeout_s": 0.2}}"#);
    let refusal = read(folder.path(), &operation).refusal();
    assert!(refusal.starts_with("E070 the database did not answer within 0.2 s"), "{refusal}");
    let refusal = read(folder.path(), r#"{"query": "select * from nowhere"}"#).refusal();
    assert!(refusal.starts_with("E067 the database does not take the statement: no such table: nowhere"), "{refusal}");
    let missing = Desk::new("sql", r#"{"url": "sqlite:none.db"}"#, r#"{"query": "select 1"}"#).folder(folder.path());
    assert!(missing.refusal().starts_with("E070 there is no database"));
    assert!(!folder.path().join("none.db").exists());
    let held = rusqlite::Connection::open(folder.path().join("x.db")).unwrap();
    held.execute_batch("begin immediate; insert into t values (9999, 'x', 1)").unwrap();
    assert_eq!(read(folder.path(), r#"{"query": "select count(*) as n from t"}"#).rows(), [r#"{"n":2500}"#]);
}
