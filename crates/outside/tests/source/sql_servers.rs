//! PostgreSQL and MariaDB, when the test script started them.

use super::{Desk, peer, rows_of};

/// Makes tables with the program of the database itself.
fn prepare(program: &str, arguments: &[&str], statements: &str) {
    let mut command = std::process::Command::new(program);
    command.args(arguments).arg(statements).env("PGPASSWORD", "topsecret-word");
    let done = command.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

fn port(address: &str) -> &str {
    address.rsplit(':').next().and_then(|rest| rest.split('/').next()).unwrap()
}

fn read(address: &str, operation: &str) -> Desk {
    Desk::new("sql", &format!(r#"{{"url": "{address}", "allow": ["127.0.0.1"], "user": "tester"}}"#), operation)
        .secret(r#"{"password": "topsecret-word"}"#)
}

fn postgres(statements: &str) -> Option<String> {
    let address = peer("HELDSET_TEST_POSTGRES")?;
    let arguments =
        ["-q", "-h", "127.0.0.1", "-p", port(&address), "-U", "tester", "-d", "test", "-v", "ON_ERROR_STOP=1", "-c"];
    prepare("psql", &arguments, statements);
    Some(address)
}

fn mariadb(statements: &str) -> Option<String> {
    let address = peer("HELDSET_TEST_MARIADB")?;
    let port = format!("--port={}", port(&address));
    prepare(
        "mariadb",
        &["--host=127.0.0.1", &port, "--user=tester", "--password=topsecret-word", "--delimiter=//", "test", "-e"],
        statements,
    );
    Some(address)
}

#[test]
fn postgres_values_are_exact() {
    let table = "drop table if exists v; create table v (big bigint, exact numeric, small numeric(6,2), f float8, r real, b bool,
        at timestamptz, local timestamp, day date, bytes bytea, doc jsonb, list int[], amounts numeric[][], nothing text, u uuid);
        insert into v values (9223372036854775807, 12345678901234567890.123456789, 1.50, 'NaN', 0.1, true,
        '2026-01-02 03:04:05.678+02', '2026-01-02 03:04:05', '2026-01-02', '\\x6869', '{\"a\": [1, 2.5]}', '{1,null,3}',
        '{{1.5,0.10000000000000000001}}', null, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11')";
    let Some(address) = postgres(table) else { return };
    let pages = read(&address, r#"{"query": "select * from v"}"#).pages();
    assert_eq!(
        rows_of(&pages),
        [concat!(
            r#"{"amounts":[[1.5,"0.10000000000000000001"]],"at":"2026-01-02T01:04:05.678Z","b":true,"big":9223372036854775807,"#,
            r#""bytes":"aGk=","day":"2026-01-02","doc":{"a":[1,2.5]},"exact":"12345678901234567890.123456789","f":"NaN","#,
            r#""list":[1,null,3],"local":"2026-01-02T03:04:05Z","nothing":null,"r":0.1,"small":1.5,"#,
            r#""u":"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"}"#
        )]
    );
    assert!(pages[0].revision.as_ref().is_some_and(|moment| moment.ends_with('Z')));
}

#[test]
fn postgres_pages_by_key_and_only_reads() {
    let table = "drop table if exists k; create table k as select i::numeric / 3 as id, 'n' || i as name from generate_series(1, 2500) i;
        create or replace function writes() returns int language sql as $$ insert into k values (0, 'x') returning 1 $$";
    let Some(address) = postgres(table) else { return };
    let operation = r#"{"query": "select * from k where name <> $1", "params": ["n7"], "key": "id"}"#;
    let pages = read(&address, operation).pages();
    assert_eq!(rows_of(&pages).len(), 2499);
    assert_eq!(rows_of(&read(&address, operation).after(pages[0].next.clone()).pages()), rows_of(&pages[1..]));
    assert_eq!(read(&address, r#"{"query": "select * from k"}"#).limit(5).rows().len(), 5);
    let null = r#"{"query": "select nullif(name, $1) as k from k", "params": ["n2500"], "key": "k", "page_size": 10}"#;
    let refusal = read(&address, null).refusal();
    assert!(refusal.starts_with("E072 the key `k` is null in some rows"), "{refusal}");
    let refusal = read(&address, r#"{"query": "select writes()"}"#).refusal();
    assert!(refusal.starts_with("E066 ") && refusal.contains("read-only transaction"), "{refusal}");
    let refusal = read(&address, r#"{"query": "select pg_sleep(60)", "timeout_s": 0.2}"#).refusal();
    assert!(refusal.starts_with("E070 the database did not answer within 0.2 s"), "{refusal}");
    let refusal = read(&address, r#"{"query": "select * from nowhere"}"#).refusal();
    assert!(refusal.starts_with("E067 ") && refusal.contains("nowhere"), "{refusal}");
    let wrong = read(&address, r#"{"query": "select 1"}"#).secret(r#"{"password": "another-word"}"#).refusal();
    assert!(wrong.starts_with("E070 ") && !wrong.contains("another-word"), "{wrong}");
}

#[test]
fn mariadb_values_are_exact() {
    let table = "drop table if exists v // create table v (big bigint unsigned, exact decimal(40,10), small decimal(6,2), f double, r float,
        at timestamp(3) null, day date, span time, bytes blob, doc json, nothing text, name text, bits bit(9), year_of year) //
        set time_zone = '+02:00' //
        insert into v values (18446744073709551615, 12345678901234567890.1234567890, 1.50, 0.1, 0.1,
        '2026-01-02 03:04:05.678', '2026-01-02', '-25:00:01', x'6869', '{\"a\": [1]}', null, 'ä', b'100000001', 2026)";
    let Some(address) = mariadb(table) else { return };
    let rows = read(&address, r#"{"query": "select * from v", "json": "doc"}"#).rows();
    assert_eq!(
        rows,
        [concat!(
            r#"{"at":"2026-01-02T01:04:05.678Z","big":18446744073709551615,"bits":257,"bytes":"aGk=","day":"2026-01-02","#,
            r#""doc":{"a":[1]},"exact":"12345678901234567890.1234567890","f":0.1,"name":"ä","nothing":null,"r":0.1,"small":1.5,"#,
            r#""span":"-25:00:01","year_of":2026}"#
        )]
    );
}

#[test]
fn mariadb_pages_by_key_and_only_reads() {
    let table = "drop table if exists k // create table k (id decimal(30,10) primary key, name varchar(20)) //
        insert into k select seq / 3, concat('n', seq) from seq_1_to_2500 //
        drop function if exists writes // create function writes() returns int modifies sql data begin insert into k values (0, 'x'); return 1; end";
    let Some(address) = mariadb(table) else { return };
    let operation = r#"{"query": "select * from k where name <> ?", "params": ["n7"], "key": "id"}"#;
    let pages = read(&address, operation).pages();
    assert_eq!(rows_of(&pages).len(), 2499);
    assert_eq!(rows_of(&read(&address, operation).after(pages[0].next.clone()).pages()), rows_of(&pages[1..]));
    let null = r#"{"query": "select nullif(name, ?) as k from k", "params": ["n2500"], "key": "k", "page_size": 10}"#;
    let refusal = read(&address, null).refusal();
    assert!(refusal.starts_with("E072 the key `k` is null in some rows"), "{refusal}");
    let refusal = read(&address, r#"{"query": "select writes()"}"#).refusal();
    assert!(
        refusal.starts_with("E066 ") || refusal.contains("read-only") || refusal.contains("READ ONLY"),
        "{refusal}"
    );
    let refusal = read(&address, r#"{"query": "select sleep(60)", "timeout_s": 0.2}"#).refusal();
    assert!(refusal.starts_with("E070 the database did not answer"), "{refusal}");
    let refusal = read(&address, r#"{"query": "select * from nowhere"}"#).refusal();
    assert!(refusal.starts_with("E067 "), "{refusal}");
}
