//! Rows of a query at a database: PostgreSQL, MySQL or MariaDB, SQLite.
//!
//! *Invariant:* one statement that only reads, in a session that can only read; parameters are bound, never written
//! into the text; what is continued goes on after the last key.

mod exact;
mod mysql;
mod postgres;
mod settings;
mod sqlite;
mod statement;

use std::path::PathBuf;
use std::time::Duration;

use heldset_core::address::Allow;
use heldset_core::canonical;
use heldset_core::code::Code;
use heldset_core::digest::sha256;
use heldset_core::number::Number;
use heldset_core::value::{Object, Value};
use heldset_engine::feeds::{FeedRequest, Page};
use heldset_engine::refusal::{Outcome, Refusal};

use super::keys::{Keys, refuse};
use super::running::{Out, Stop, Work};
use super::secret::Secret;
use statement::Flavour;

/// A database and what is asked of it.
pub(super) struct Database {
    place: Place,
    secret: Secret,
    timeout: Duration,
    query: String,
    params: Vec<Value<'static>>,
    /// The columns whose values order the rows and are in no two of them.
    key: Vec<String>,
    page_size: u64,
    /// Columns whose text is JSON.
    json: Vec<String>,
    after: Option<Vec<Value<'static>>>,
    rows: u64,
}

/// Where a database is.
enum Place {
    File(PathBuf),
    Server(Server),
}

/// A database that is reached over the network.
struct Server {
    flavour: Flavour,
    host: String,
    port: u16,
    user: Option<String>,
    database: String,
    tls: Option<bool>,
    allow: Allow,
}

impl Database {
    /// Reads the configuration.
    pub(super) fn read(request: &FeedRequest) -> Outcome<Database> {
        let mut config = Keys::new("config", &request.config);
        let mut operation = Keys::new("operation_config", &request.operation_config);
        if !matches!(request.operation.as_str(), "" | "query" | "select" | "read") {
            let message = format!("a `sql` connector has no operation `{}`", request.operation);
            operation.wrong(message, "leave it out, or write `query`");
        }
        let place = settings::place(&mut config, &request.folder);
        let timeout = config.seconds("timeout_s").unwrap_or(Duration::from_secs(60));
        let query = operation.either("query", "sql").unwrap_or_else(|| {
            operation.wrong("`operation_config` has no `query`", "write the statement, such as `select * from items`");
            ""
        });
        let params = operation.list("params").to_vec();
        let key: Vec<String> = operation.texts("key").into_iter().map(str::to_owned).collect();
        let page_size = operation.count("page_size", 1, 100_000).unwrap_or(1000);
        let json = operation.texts("json").into_iter().map(str::to_owned).collect();
        let timeout = operation.seconds("timeout_s").unwrap_or(timeout);
        refuse([config.done(), operation.done()])?;
        let place = place.ok_or_else(|| Refusal::usage(Code::E067, "`config` has no `url`", "write one"))?;
        let flavour = match &place {
            Place::File(_) => Flavour::Sqlite,
            Place::Server(server) => server.flavour,
        };
        let query = statement::one_query(query, flavour).map_err(|why| refused(&why.0))?.to_owned();
        let kept = request.after.as_ref().and_then(Value::as_object);
        let after = kept.and_then(|kept| kept.get("key")).and_then(Value::as_array).map(<[_]>::to_vec);
        let rows = match kept.and_then(|kept| kept.get("rows")) {
            Some(Value::Number(rows)) => rows.as_u64().unwrap_or(0),
            _ => 0,
        };
        let secret = Secret::new(request.secret.as_ref());
        Ok(Database { place, secret, timeout, query, params, key, page_size, json, after, rows })
    }

    /// Reads page after page.
    pub(super) fn work(self, mut out: Out) -> Work {
        Box::pin(async move {
            match &self.place {
                Place::File(path) => sqlite::read(&self, path, &mut out),
                Place::Server(server) => match server.flavour {
                    Flavour::MySql => mysql::read(&self, server, &mut out).await,
                    _ => postgres::read(&self, server, &mut out).await,
                },
            }
        })
    }

    /// The query inside one that orders and cuts it. `list` is what is selected of it, `places` the parameters that the
    /// last key goes into.
    fn wrapped(&self, list: &str, places: Option<&[String]>, limit: u64, quote: char) -> String {
        let keys: Vec<String> = self.key.iter().map(|key| format!("t.{}", quoted(key, quote))).collect();
        let keys = keys.join(", ");
        let mut text = format!("select {list} from (\n{}\n) t", self.query);
        if let Some(places) = places {
            text = format!("{text} where ({keys}) > ({})", places.join(", "));
        }
        if !keys.is_empty() {
            text = format!("{text} order by {keys}");
        }
        format!("{text} limit {limit}")
    }

    /// A query for the number of a column of the key that is null in some row: such rows would be lost between pages.
    fn null_key(&self, quote: char) -> String {
        let nulls: Vec<String> = self.key.iter().map(|key| format!("t.{} is null", quoted(key, quote))).collect();
        let cases: Vec<String> =
            nulls.iter().enumerate().map(|(place, null)| format!("when {null} then '{place}'")).collect();
        let (cases, nulls) = (cases.join(" "), nulls.join(" or "));
        format!("select case {cases} end from (\n{}\n) t where {nulls} limit 1", self.query)
    }

    /// Refuses a key with a column that is null in some row.
    fn refuse_null(&self, place: Option<&str>) -> Outcome<()> {
        let Some(place) = place else { return Ok(()) };
        let column = place.parse::<usize>().ok().and_then(|place| self.key.get(place));
        let name = column.map_or_else(|| self.key.join(", "), Clone::clone);
        Err(apart(format!("the key `{name}` is null in some rows")))
    }

    /// Where the columns of the key are among those of the query.
    fn key_places(&self, columns: &[String]) -> Outcome<Vec<usize>> {
        let mut names: Vec<&String> = columns.iter().collect();
        names.sort();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            let message = format!("the query has two columns `{}`", pair[0]);
            return Err(Refusal::usage(Code::E067, message, "give one of them another name with `as`"));
        }
        let place = |key: &String| {
            columns.iter().position(|column| column == key).ok_or_else(|| {
                let message = format!("the query has no column `{key}`, which `key` names");
                let help = match heldset_core::fault::nearest(key, columns.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("it has {}", columns.join(", ")),
                };
                Refusal::usage(Code::E067, message, help)
            })
        };
        self.key.iter().map(place).collect()
    }

    /// A value of a column that the configuration says is JSON.
    fn cell(&self, column: &str, value: Value<'static>) -> Value<'static> {
        match value.as_str().filter(|_| self.json.iter().any(|name| name == column)) {
            Some(text) => exact::json(text),
            None => value,
        }
    }
}

/// Rows on their way into pages.
struct Pages<'p> {
    database: &'p Database,
    out: &'p mut Out,
    revision: Option<String>,
    rows: u64,
    number: u64,
}

/// A row with its key.
struct Row {
    row: Value<'static>,
    key: Vec<Value<'static>>,
}

impl<'p> Pages<'p> {
    fn new(database: &'p Database, out: &'p mut Out, revision: Option<String>) -> Self {
        Pages { database, out, revision, rows: database.rows, number: 0 }
    }

    /// Hands on a page that was cut by its key: one row more than wanted tells whether there is another. The key to go
    /// on after, if there is.
    fn keyed(&mut self, mut rows: Vec<Row>, wanted: u64) -> Result<Option<Vec<Value<'static>>>, Stop> {
        let more = rows.len() as u64 > wanted;
        let beyond = if more { rows.pop() } else { None };
        let last = rows.last().map(|row| row.key.clone());
        if let (Some(beyond), Some(last)) = (&beyond, &last) {
            let names = self.database.key.join(", ");
            if last.iter().any(Value::is_null) {
                return Err(apart(format!("the key `{names}` is null in some rows")).into());
            }
            if beyond.key == *last {
                return Err(apart(format!("the key `{names}` is the same in two rows")).into());
            }
        }
        let next = last.filter(|_| more);
        self.page(rows.into_iter().map(|row| row.row).collect(), next.clone())?;
        Ok(next)
    }

    /// Hands on a page.
    fn page(&mut self, rows: Vec<Value<'static>>, next: Option<Vec<Value<'static>>>) -> Result<(), Stop> {
        self.rows += rows.len() as u64;
        self.number += 1;
        let mut bytes = Vec::new();
        for row in &rows {
            canonical::write(row, &mut bytes);
            bytes.push(b'\n');
        }
        let next = next.map(|key| {
            let mut after = Object::new();
            after.set("key", Value::Array(key));
            after.set("rows", Value::Number(Number::from_u64(self.rows)));
            Value::Object(after)
        });
        self.out.page(Page {
            asked: format!("page {} of the query", self.number),
            size: bytes.len() as u64,
            sha256: sha256(&bytes).hex(),
            rows,
            next,
            revision: self.revision.clone(),
            ..Page::default()
        })
    }
}

/// Takes rows without a key, a page at a time.
struct Plain<'p, 'o> {
    pages: &'p mut Pages<'o>,
    rows: Vec<Value<'static>>,
    any: bool,
}

impl<'p, 'o> Plain<'p, 'o> {
    fn new(pages: &'p mut Pages<'o>) -> Self {
        Plain { pages, rows: Vec::new(), any: false }
    }

    fn row(&mut self, row: Value<'static>) -> Result<(), Stop> {
        self.rows.push(row);
        let full = self.rows.len() as u64 >= self.pages.out.wanted(self.pages.database.page_size);
        if full { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Stop> {
        self.any = true;
        self.pages.page(std::mem::take(&mut self.rows), None)
    }

    fn finish(mut self) -> Result<(), Stop> {
        if self.any && self.rows.is_empty() { Ok(()) } else { self.flush() }
    }
}

fn quoted(name: &str, quote: char) -> String {
    format!("{quote}{}{quote}", name.replace(quote, &format!("{quote}{quote}")))
}

fn refused(why: &str) -> Box<Refusal> {
    let help = "write one `select`, `with`, `values` or `table` statement that only reads";
    Refusal::usage(Code::E066, format!("the statement is not sent: {why}"), help)
}

fn apart(why: String) -> Box<Refusal> {
    let help = "name columns in `key` that are never null and together different in every row";
    Refusal::invalid(Code::E072, why, help)
}

fn timed_out(seconds: f64) -> Box<Refusal> {
    let help = "try it again, which goes on after the last page if there is a `key`, or raise `timeout_s`";
    Refusal::incomplete(Code::E070, format!("the database did not answer within {seconds} s"), help)
}

fn failed(why: &str, help: &str) -> Box<Refusal> {
    Refusal::incomplete(Code::E070, format!("the database failed: {why}"), help)
}

fn wrong(why: &str) -> Box<Refusal> {
    let message = format!("the database does not take the statement: {why}");
    Refusal::usage(Code::E067, message, "see `query` and `params` of the source")
}
