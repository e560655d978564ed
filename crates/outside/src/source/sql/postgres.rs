//! PostgreSQL: a query in a read-only transaction that sees one moment, values as the text that the server writes.
//!
//! *Invariant:* no value is read in a form that could round it.

use std::error::Error;
use std::net::IpAddr;

use bytes::BytesMut;
use futures_util::TryStreamExt as _;
use heldset_core::value::{Object, Value};
use heldset_engine::refusal::{Outcome, Refusal};
use tokio_postgres::types::{Format, IsNull, Kind, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, Config, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{Database, Pages, Plain, Row, Server, exact, failed, quoted, refused, timed_out, wrong};
use crate::config::plain_text;
use crate::requests::chain;
use crate::source::guard::Guard;
use crate::source::running::{Out, Stop};

/// Reads the query to its end.
pub(super) async fn read(database: &Database, server: &Server, out: &mut Out) -> Result<(), Stop> {
    let client = connect(database, server).await?;
    let told = |error: tokio_postgres::Error| told(&error, database);
    let timeout = database.timeout.as_millis();
    let opening = format!(
        "set timezone to 'UTC'; set datestyle to 'ISO'; set bytea_output to 'hex'; set intervalstyle to 'iso_8601'; \
         set default_transaction_read_only to on; set statement_timeout to {timeout}; \
         begin transaction isolation level repeatable read read only"
    );
    client.batch_execute(&opening).await.map_err(told)?;
    let moment = "select to_char(transaction_timestamp() at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')";
    let moment: String = client.query_one(moment, &[]).await.map_err(told)?.get(0);
    let asked = client.prepare(&database.query).await.map_err(told)?;
    let columns = Columns::of(&asked);
    let places = database.key_places(&columns.names)?;
    let mut pages = Pages::new(database, out, Some(moment));
    if database.key.is_empty() {
        return plain(database, &client, &columns, &mut pages).await;
    }
    let mut after = database.after.clone();
    if after.is_none() {
        let statement = client.prepare(&database.null_key('"')).await.map_err(told)?;
        let found = client.query_raw(&statement, bound(database.params.iter())).await.map_err(told)?;
        let found: Vec<tokio_postgres::Row> = found.try_collect().await.map_err(told)?;
        database.refuse_null(found.first().and_then(|row| text_at(row, 0)))?;
    }
    loop {
        let wanted = pages.out.wanted(database.page_size);
        let first = database.params.len() + 1;
        let marks: Vec<String> = (0..database.key.len()).map(|number| format!("${}", first + number)).collect();
        let text = database.wrapped(&columns.list, after.as_ref().map(|_| marks.as_slice()), wanted + 1, '"');
        let params = bound(database.params.iter().chain(after.iter().flatten()));
        let statement = client.prepare(&text).await.map_err(told)?;
        let found = client.query_raw(&statement, params).await.map_err(told)?;
        let found: Vec<tokio_postgres::Row> = found.try_collect().await.map_err(told)?;
        let row = |row: &tokio_postgres::Row| Row {
            row: columns.row(database, row),
            key: places.iter().map(|place| text_at(row, *place).map_or(Value::Null, |t| t.to_owned().into())).collect(),
        };
        let rows = found.iter().map(row).collect();
        after = pages.keyed(rows, wanted)?;
        if after.is_none() {
            return Ok(());
        }
    }
}

async fn plain(database: &Database, client: &Client, columns: &Columns, pages: &mut Pages<'_>) -> Result<(), Stop> {
    let told = |error: tokio_postgres::Error| told(&error, database);
    let most = pages.out.wanted(i64::MAX as u64);
    let text = database.wrapped(&columns.list, None, most, '"');
    let statement = client.prepare(&text).await.map_err(told)?;
    let found = client.query_raw(&statement, bound(database.params.iter())).await.map_err(told)?;
    let mut found = std::pin::pin!(found);
    let mut plain = Plain::new(pages);
    while let Some(row) = found.try_next().await.map_err(told)? {
        plain.row(columns.row(database, &row))?;
    }
    plain.finish()
}

async fn connect(database: &Database, server: &Server) -> Outcome<Client> {
    let addresses = Guard::new(server.allow.clone()).admit(&server.host).await?;
    let mut config = Config::new();
    for address in &addresses {
        config.host(&server.host).hostaddr(*address).port(server.port);
    }
    let user = database.secret.text(&["username", "user"]).or(server.user.as_deref()).unwrap_or("postgres");
    config.user(user).connect_timeout(database.timeout).application_name("heldset");
    if !server.database.is_empty() {
        config.dbname(&server.database);
    }
    if let Some(word) = database.secret.text(&["password", "token"]) {
        config.password(word);
    }
    let secure = server.tls.unwrap_or_else(|| !addresses.iter().all(IpAddr::is_loopback));
    let connecting = async {
        match secure {
            true => {
                config.ssl_mode(tokio_postgres::config::SslMode::Require);
                let (client, connection) = config.connect(MakeRustlsConnect::with_webpki_roots()).await?;
                tokio::spawn(connection);
                Ok(client)
            }
            false => {
                config.ssl_mode(tokio_postgres::config::SslMode::Disable);
                let (client, connection) = config.connect(tokio_postgres::NoTls).await?;
                tokio::spawn(connection);
                Ok(client)
            }
        }
    };
    match tokio::time::timeout(database.timeout, connecting).await {
        Ok(Ok(client)) => Ok(client),
        Ok(Err(error)) => Err(told(&error, database)),
        Err(_) => Err(timed_out(database.timeout.as_secs_f64())),
    }
}

/// The columns of a query, and how each is asked for as text.
struct Columns {
    names: Vec<String>,
    types: Vec<Type>,
    list: String,
}

impl Columns {
    fn of(statement: &Statement) -> Columns {
        let names: Vec<String> = statement.columns().iter().map(|column| column.name().to_owned()).collect();
        let types: Vec<Type> = statement.columns().iter().map(|column| based(column.type_())).collect();
        let one = |(name, kind): (&String, &Type)| {
            let name = format!("t.{}", quoted(name, '"'));
            match kind.kind() {
                Kind::Array(_) => format!("to_json({name}::text[])::text"),
                Kind::Composite(_) => format!("to_json({name})::text"),
                _ => format!("{name}::text"),
            }
        };
        let list = names.iter().zip(&types).map(one).collect::<Vec<_>>().join(", ");
        Columns { list: if list.is_empty() { "null::text".to_owned() } else { list }, names, types }
    }

    fn row(&self, database: &Database, row: &tokio_postgres::Row) -> Value<'static> {
        let mut object = Object::with_capacity(self.names.len());
        for (place, (name, kind)) in self.names.iter().zip(&self.types).enumerate() {
            let value = text_at(row, place).map_or(Value::Null, |text| value(text, kind));
            object.push_unique(name.clone().into(), database.cell(name, value));
        }
        Value::Object(object)
    }
}

fn text_at(row: &tokio_postgres::Row, place: usize) -> Option<&str> {
    row.try_get::<_, Option<&str>>(place).ok().flatten()
}

/// The type that a domain is made of.
fn based(kind: &Type) -> Type {
    match kind.kind() {
        Kind::Domain(inner) => based(inner),
        _ => kind.clone(),
    }
}

fn value(text: &str, kind: &Type) -> Value<'static> {
    if let Kind::Array(inner) = kind.kind() {
        return leaves(exact::json(text), &based(inner));
    }
    if let Kind::Composite(_) = kind.kind() {
        return exact::json(text);
    }
    match *kind {
        Type::BOOL => Value::Bool(text == "true" || text == "t"),
        Type::INT2 | Type::INT4 | Type::INT8 | Type::OID | Type::NUMERIC => exact::decimal(text),
        Type::FLOAT4 | Type::FLOAT8 => exact::double_text(text),
        Type::JSON | Type::JSONB => exact::json(text),
        Type::TIMESTAMP | Type::TIMESTAMPTZ => exact::timestamp(text),
        Type::BYTEA => exact::hex_bytes(text),
        _ => Value::from(text.to_owned()),
    }
}

/// The elements of an array, which came as texts.
fn leaves(array: Value<'static>, kind: &Type) -> Value<'static> {
    match array {
        Value::Array(items) => Value::Array(items.into_iter().map(|item| leaves(item, kind)).collect()),
        Value::String(text) => value(&text, kind),
        other => other,
    }
}

/// A parameter that goes as text, whatever its type is.
#[derive(Debug)]
struct Text(Option<String>);

fn bound<'v>(values: impl Iterator<Item = &'v Value<'static>>) -> Vec<Text> {
    values.map(|value| Text((!value.is_null()).then(|| plain_text(value)))).collect()
}

impl ToSql for Text {
    fn to_sql(&self, _kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match &self.0 {
            Some(text) => {
                out.extend_from_slice(text.as_bytes());
                Ok(IsNull::No)
            }
            None => Ok(IsNull::Yes),
        }
    }

    fn accepts(_kind: &Type) -> bool {
        true
    }

    fn encode_format(&self, _kind: &Type) -> Format {
        Format::Text
    }

    to_sql_checked!();
}

fn told(error: &tokio_postgres::Error, database: &Database) -> Box<Refusal> {
    let Some(inner) = error.as_db_error() else {
        let why = database.secret.hidden(&chain(error));
        return failed(&why, "see whether the address is right and the database runs; `tls: off` leaves TLS out");
    };
    let why = database.secret.hidden(inner.message());
    match inner.code().code() {
        "25006" => refused(&why),
        "57014" => timed_out(database.timeout.as_secs_f64()),
        code if code.starts_with("28") || code == "42501" => {
            failed(&why, "set a credential that may read it with `heldset credential set`")
        }
        code if code.starts_with("42") || code.starts_with("22") || code == "08P01" => wrong(&why),
        _ => failed(&why, "try it again"),
    }
}
