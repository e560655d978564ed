//! SQLite: a query at a file that is opened for reading only.
//!
//! *Invariant:* a file that is not there is not made.

use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};

use heldset_core::value::{Object, Value};
use heldset_engine::refusal::{Outcome, Refusal};
use rusqlite::types::{Value as Cell, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _, params_from_iter};

use super::{Database, Pages, Plain, Row, exact, failed, refused, timed_out, wrong};
use crate::config::plain_text;
use crate::source::running::{Out, Stop};

/// How many rows are read before they are handed on.
const AT_A_TIME: usize = 1000;

/// Reads the query to its end.
pub(super) fn read(database: &Database, path: &Path, out: &mut Out) -> Result<(), Stop> {
    let connection = open(path)?;
    connection.busy_timeout(database.timeout).map_err(|error| told(&error, database))?;
    // One transaction, so that all pages see one moment.
    connection.execute_batch("pragma query_only = on; begin").map_err(|error| told(&error, database))?;
    let names = columns(database, &connection)?;
    let places = database.key_places(&names)?;
    let mut pages = Pages::new(database, out, None);
    if database.key.is_empty() {
        return plain(database, &connection, &names, &mut pages);
    }
    let marks = vec!["?".to_owned(); places.len()];
    let mut after = database.after.clone();
    if after.is_none() {
        let (text, params) = (database.null_key('"'), bound(database.params.iter()));
        let null = watched(database, &connection, || {
            connection.query_row(&text, params_from_iter(params), |row| row.get::<_, String>(0)).optional()
        });
        database.refuse_null(null.map_err(|error| told(&error, database))?.as_deref())?;
    }
    loop {
        let wanted = pages.out.wanted(database.page_size);
        let text = database.wrapped("*", after.as_ref().map(|_| marks.as_slice()), wanted + 1, '"');
        let params = bound(database.params.iter().chain(after.iter().flatten()));
        let rows = watched(database, &connection, || keyed(database, &connection, &text, params, &names, &places));
        after = pages.keyed(rows.map_err(|error| told(&error, database))?, wanted)?;
        if after.is_none() {
            return Ok(());
        }
    }
}

fn open(path: &Path) -> Outcome<Connection> {
    if !path.is_file() {
        let message = format!("there is no database `{}`", path.display());
        return Err(Refusal::incomplete(heldset_core::code::Code::E070, message, "see `url` of the connector"));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags).map_err(|error| failed(&error.to_string(), "see `url` of the connector"))
}

fn columns(database: &Database, connection: &Connection) -> Outcome<Vec<String>> {
    let statement = connection.prepare(&database.query).map_err(|error| told(&error, database))?;
    if !statement.readonly() {
        return Err(refused("it writes"));
    }
    Ok(statement.column_names().map(str::to_owned).collect())
}

fn plain(database: &Database, connection: &Connection, names: &[String], pages: &mut Pages<'_>) -> Result<(), Stop> {
    let told = |error: rusqlite::Error| told(&error, database);
    let mut statement = connection.prepare(&database.query).map_err(told)?;
    let params = bound(database.params.iter());
    let mut plain = Plain::new(pages);
    let mut found = statement.query(params_from_iter(params)).map_err(told)?;
    let mut next = || -> rusqlite::Result<Vec<Value<'static>>> {
        let mut rows = Vec::new();
        while let Some(row) = (rows.len() < AT_A_TIME).then(|| found.next()).transpose()?.flatten() {
            rows.push(row_of(database, names, row)?);
        }
        Ok(rows)
    };
    loop {
        let rows = watched(database, connection, &mut next).map_err(told)?;
        let last = rows.len() < AT_A_TIME;
        for row in rows {
            plain.row(row)?;
        }
        if last {
            break;
        }
    }
    plain.finish()
}

fn keyed(
    database: &Database,
    connection: &Connection,
    text: &str,
    params: Vec<Cell>,
    names: &[String],
    places: &[usize],
) -> rusqlite::Result<Vec<Row>> {
    let mut statement = connection.prepare(text)?;
    let mut found = statement.query(params_from_iter(params))?;
    let mut rows = Vec::new();
    while let Some(row) = found.next()? {
        let key = places.iter().map(|place| row.get_ref(*place).map(value)).collect::<rusqlite::Result<_>>()?;
        rows.push(Row { row: row_of(database, names, row)?, key });
    }
    Ok(rows)
}

/// Does something that may take long, and interrupts it when it takes too long.
fn watched<T>(
    database: &Database,
    connection: &Connection,
    work: impl FnOnce() -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let handle = connection.get_interrupt_handle();
    let (done, is_done) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if is_done.recv_timeout(database.timeout) == Err(RecvTimeoutError::Timeout) {
                handle.interrupt();
            }
        });
        let made = work();
        drop(done);
        made
    })
}

fn row_of(database: &Database, names: &[String], row: &rusqlite::Row<'_>) -> rusqlite::Result<Value<'static>> {
    let mut object = Object::with_capacity(names.len());
    for (place, name) in names.iter().enumerate() {
        let value = value(row.get_ref(place)?);
        object.push_unique(name.clone().into(), database.cell(name, value));
    }
    Ok(Value::Object(object))
}

fn value(cell: ValueRef<'_>) -> Value<'static> {
    match cell {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::from(number),
        ValueRef::Real(number) => exact::double(number),
        ValueRef::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => Value::from(text.to_owned()),
            Err(_) => exact::bytes(text),
        },
        ValueRef::Blob(bytes) => exact::bytes(bytes),
    }
}

fn bound<'v>(values: impl Iterator<Item = &'v Value<'static>>) -> Vec<Cell> {
    let one = |value: &Value<'static>| match value {
        Value::Null => Cell::Null,
        Value::Bool(flag) => Cell::Integer(i64::from(*flag)),
        Value::Number(number) => match number.as_i64() {
            Some(number) => Cell::Integer(number),
            None => Cell::Real(number.as_f64()),
        },
        other => Cell::Text(plain_text(other)),
    };
    values.map(one).collect()
}

fn told(error: &rusqlite::Error, database: &Database) -> Box<Refusal> {
    let why = error.to_string();
    match error {
        rusqlite::Error::SqliteFailure(inner, _) => match inner.code {
            ErrorCode::OperationInterrupted => timed_out(database.timeout.as_secs_f64()),
            ErrorCode::ReadOnly => refused(&why),
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => failed(&why, "try it again when nobody writes it"),
            ErrorCode::NotADatabase | ErrorCode::CannotOpen | ErrorCode::DatabaseCorrupt => {
                failed(&why, "see `url` of the connector")
            }
            _ => wrong(&why),
        },
        rusqlite::Error::MultipleStatement => refused("there is more than one statement in it"),
        _ => wrong(&why),
    }
}
