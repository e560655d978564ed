//! MySQL and MariaDB: a query as a prepared statement in a read-only transaction that sees one moment.
//!
//! *Invariant:* no value is read in a form that could round it.

use std::net::IpAddr;

use heldset_core::number::Number;
use heldset_core::value::{Object, Value};
use heldset_engine::refusal::{Outcome, Refusal};
use mysql_async::consts::{ColumnFlags, ColumnType};
use mysql_async::prelude::Queryable;
use mysql_async::{Column, Conn, Opts, OptsBuilder, Params, SslOpts, Value as Cell};

use super::{Database, Pages, Plain, Row, Server, exact, failed, refused, timed_out, wrong};
use crate::requests::chain;
use crate::source::guard::Guard;
use crate::source::running::{Out, Stop};

/// The character set of bytes that are no text.
const BINARY: u16 = 63;

/// Reads the query to its end.
pub(super) async fn read(database: &Database, server: &Server, out: &mut Out) -> Result<(), Stop> {
    let mut conn = connect(database, server).await?;
    let moment = open(&mut conn, database).await.map_err(|error| told(&error, database))?;
    let ended = pages(database, &mut conn, moment, out).await;
    let _ = conn.disconnect().await;
    ended
}

async fn pages(database: &Database, conn: &mut Conn, moment: String, out: &mut Out) -> Result<(), Stop> {
    let told = |error: mysql_async::Error| told(&error, database);
    let asked = conn.prep(database.query.as_str()).await.map_err(told)?;
    let columns = asked.columns();
    let names: Vec<String> = columns.iter().map(|column| column.name_str().into_owned()).collect();
    let places = database.key_places(&names)?;
    let mut pages = Pages::new(database, out, Some(moment));
    if database.key.is_empty() {
        let mut found = conn.exec_iter(&asked, bound(database.params.iter())).await.map_err(told)?;
        let mut plain = Plain::new(&mut pages);
        while let Some(row) = found.next().await.map_err(told)? {
            plain.row(row_of(database, &columns, &names, row.unwrap_raw()))?;
        }
        return plain.finish();
    }
    let mark = |place: &usize| match columns[*place].column_type() {
        ColumnType::MYSQL_TYPE_NEWDECIMAL | ColumnType::MYSQL_TYPE_DECIMAL => "cast(? as decimal(65, 30))".to_owned(),
        _ => "?".to_owned(),
    };
    let marks: Vec<String> = places.iter().map(mark).collect();
    let mut after = database.after.clone();
    if after.is_none() {
        let text = database.null_key('`');
        let null: Option<String> = conn.exec_first(text, bound(database.params.iter())).await.map_err(told)?;
        database.refuse_null(null.as_deref())?;
    }
    loop {
        let wanted = pages.out.wanted(database.page_size);
        let text = database.wrapped("*", after.as_ref().map(|_| marks.as_slice()), wanted + 1, '`');
        let params = bound(database.params.iter().chain(after.iter().flatten()));
        let found: Vec<mysql_async::Row> = conn.exec(text.as_str(), params).await.map_err(told)?;
        let rows = found.into_iter().map(|row| {
            let cells = row.unwrap_raw();
            let key = |place: &usize| key_of(cells.get(*place).and_then(Option::as_ref), &columns[*place]);
            Row { key: places.iter().map(key).collect(), row: row_of(database, &columns, &names, cells.clone()) }
        });
        let rows = rows.collect();
        after = pages.keyed(rows, wanted)?;
        if after.is_none() {
            return Ok(());
        }
    }
}

async fn open(conn: &mut Conn, database: &Database) -> mysql_async::Result<String> {
    conn.query_drop("set session time_zone = '+00:00'").await?;
    let (ms, seconds) = (database.timeout.as_millis(), database.timeout.as_secs_f64());
    // Each of the two knows one of these.
    let _ = conn.query_drop(format!("set session max_execution_time = {ms}")).await;
    let _ = conn.query_drop(format!("set session max_statement_time = {seconds}")).await;
    conn.query_drop("set session transaction isolation level repeatable read").await?;
    conn.query_drop("set session transaction read only").await?;
    conn.query_drop("start transaction with consistent snapshot, read only").await?;
    let moment: Option<String> = conn.query_first("select date_format(now(6), '%Y-%m-%dT%H:%i:%s.%fZ')").await?;
    Ok(moment.unwrap_or_default())
}

async fn connect(database: &Database, server: &Server) -> Outcome<Conn> {
    let addresses = Guard::new(server.allow.clone()).admit(&server.host).await?;
    let secure = server.tls.unwrap_or_else(|| !addresses.iter().all(IpAddr::is_loopback));
    let user = database.secret.text(&["username", "user"]).or(server.user.as_deref()).unwrap_or("root");
    let opts: Opts = OptsBuilder::default()
        .ip_or_hostname(server.host.trim_matches(['[', ']']).to_owned())
        .resolved_ips(Some(addresses))
        .tcp_port(server.port)
        .user(Some(user))
        .pass(database.secret.text(&["password", "token"]))
        .db_name(Some(server.database.as_str()).filter(|name| !name.is_empty()))
        .prefer_socket(false)
        .stmt_cache_size(0)
        .ssl_opts(secure.then(SslOpts::default))
        .into();
    match tokio::time::timeout(database.timeout, Conn::new(opts)).await {
        Ok(Ok(conn)) => Ok(conn),
        Ok(Err(error)) => Err(told(&error, database)),
        Err(_) => Err(timed_out(database.timeout.as_secs_f64())),
    }
}

fn row_of(database: &Database, columns: &[Column], names: &[String], cells: Vec<Option<Cell>>) -> Value<'static> {
    let mut object = Object::with_capacity(names.len());
    for ((column, name), cell) in columns.iter().zip(names).zip(cells) {
        let value = cell.map_or(Value::Null, |cell| value(cell, column));
        object.push_unique(name.clone().into(), database.cell(name, value));
    }
    Value::Object(object)
}

fn value(cell: Cell, column: &Column) -> Value<'static> {
    let kind = column.column_type();
    match cell {
        Cell::NULL => Value::Null,
        Cell::Int(number) => Value::from(number),
        Cell::UInt(number) => Value::Number(Number::from_u64(number)),
        // The shortest text of a float is what it stands for; as a double it would get digits that it never had.
        Cell::Float(number) => exact::double_text(&number.to_string()),
        Cell::Double(number) => exact::double(number),
        Cell::Date(0, ..) => Value::from("0000-00-00"),
        Cell::Date(year, month, day, ..) if kind == ColumnType::MYSQL_TYPE_DATE => {
            Value::from(format!("{year:04}-{month:02}-{day:02}"))
        }
        Cell::Date(..) | Cell::Time(..) => time(&cell),
        Cell::Bytes(bytes) => text(bytes, column),
    }
}

fn text(bytes: Vec<u8>, column: &Column) -> Value<'static> {
    match column.column_type() {
        ColumnType::MYSQL_TYPE_BIT if bytes.len() <= 8 => {
            let number = bytes.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
            return Value::Number(Number::from_u64(number));
        }
        ColumnType::MYSQL_TYPE_NEWDECIMAL | ColumnType::MYSQL_TYPE_DECIMAL => {
            return exact::decimal(&String::from_utf8_lossy(&bytes));
        }
        ColumnType::MYSQL_TYPE_JSON => return exact::json(&String::from_utf8_lossy(&bytes)),
        _ => {}
    }
    let is_text = column.character_set() != BINARY || !column.flags().contains(ColumnFlags::BINARY_FLAG);
    match String::from_utf8(bytes) {
        Ok(text) if is_text => Value::from(text),
        Ok(text) => exact::bytes(text.as_bytes()),
        Err(error) => exact::bytes(error.as_bytes()),
    }
}

fn time(cell: &Cell) -> Value<'static> {
    let fraction = |micros: u32| match micros {
        0 => String::new(),
        micros => format!(".{micros:06}").trim_end_matches('0').to_owned(),
    };
    Value::from(match *cell {
        Cell::Date(year, month, day, hour, minute, second, micros) => {
            let micros = fraction(micros);
            format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{micros}Z")
        }
        Cell::Time(negative, days, hours, minutes, seconds, micros) => {
            let sign = if negative { "-" } else { "" };
            let hours = u64::from(days) * 24 + u64::from(hours);
            format!("{sign}{hours:02}:{minutes:02}:{seconds:02}{}", fraction(micros))
        }
        _ => String::new(),
    })
}

/// A key in a form that can be bound again: numbers as such, all else as text.
fn key_of(cell: Option<&Cell>, column: &Column) -> Value<'static> {
    match cell {
        None | Some(Cell::NULL) => Value::Null,
        Some(Cell::Bytes(bytes)) => Value::from(String::from_utf8_lossy(bytes).into_owned()),
        Some(cell @ Cell::Date(..)) => {
            let text = time(cell).as_str().unwrap_or_default().trim_end_matches('Z').replace('T', " ");
            Value::from(text)
        }
        Some(cell) => value(cell.clone(), column),
    }
}

fn bound<'v>(values: impl Iterator<Item = &'v Value<'static>>) -> Params {
    let one = |value: &Value<'static>| match value {
        Value::Null => Cell::NULL,
        Value::Bool(flag) => Cell::Int(i64::from(*flag)),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Cell::Int(number),
            (None, Some(number)) => Cell::UInt(number),
            (None, None) => Cell::Double(number.as_f64()),
        },
        other => Cell::Bytes(crate::config::plain_text(other).into_bytes()),
    };
    let values: Vec<Cell> = values.map(one).collect();
    if values.is_empty() { Params::Empty } else { Params::Positional(values) }
}

fn told(error: &mysql_async::Error, database: &Database) -> Box<Refusal> {
    let mysql_async::Error::Server(inner) = error else {
        let why = database.secret.hidden(&chain(error));
        return failed(&why, "see whether the address is right and the database runs; `tls: off` leaves TLS out");
    };
    let why = database.secret.hidden(&inner.message);
    match inner.code {
        1792 | 1290 => refused(&why),
        3024 | 1969 => timed_out(database.timeout.as_secs_f64()),
        1044 | 1045 | 1142 | 1143 | 1698 => {
            failed(&why, "set a credential that may read it with `heldset credential set`")
        }
        1054 | 1060 | 1064 | 1146 | 1210 | 1305 | 1295 => wrong(&why),
        _ => failed(&why, "try it again"),
    }
}
