//! The catalogue in SQLite: one file, a write-ahead log, as many processes as like.
//!
//! *Invariant:* every value is compared with its digest when it is read, and every batch keeps the sum of all
//! digests. SQL that another database would take as well.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, Transaction, TransactionBehavior, params};

use super::prefix::end_of;
use super::sum::{Sum, digest_of};
use super::{Batch, Catalog, Key};
use crate::error::StoreError;
use crate::probe::Probe;

/// "HlSt": what kind of database it is.
const APPLICATION: i64 = 0x486c_5374;
const FORMAT: i64 = 1;
const PATIENCE: Duration = Duration::from_secs(30);

const ENTRIES: &str = "CREATE TABLE entries (space TEXT NOT NULL, key TEXT NOT NULL, digest BLOB NOT NULL, \
                       value BLOB NOT NULL, PRIMARY KEY (space, key)) WITHOUT ROWID";
const SUMS: &str = "CREATE TABLE sums (name TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (name)) WITHOUT ROWID";

/// A catalogue on disk. Handles of one file, in one process or many, see each other's batches.
pub struct SqliteCatalog {
    path: PathBuf,
    probe: Arc<dyn Probe>,
    state: Mutex<State>,
}

struct State {
    connection: Connection,
    /// Whether commits of this connection are synced; unknown at first.
    durable: Option<bool>,
}

impl SqliteCatalog {
    /// Makes the file, or opens it if it is there and whole.
    pub fn create(path: &Path, probe: Arc<dyn Probe>) -> Result<Self, StoreError> {
        let fail = |error| failure(path, &error);
        let mut connection = connect(path, OpenFlags::SQLITE_OPEN_CREATE)?;
        connection.pragma_update(None, "journal_mode", "wal").map_err(fail)?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
        let is_new = pragma(&transaction, "application_id").map_err(fail)? == 0
            && schema(&transaction).map_err(fail)?.is_empty();
        if is_new {
            transaction.execute_batch(&format!("{ENTRIES}; {SUMS};")).map_err(fail)?;
            write_sum(&transaction, &Sum::default()).map_err(fail)?;
            transaction.pragma_update(None, "application_id", APPLICATION).map_err(fail)?;
            transaction.pragma_update(None, "user_version", FORMAT).map_err(fail)?;
        }
        transaction.commit().map_err(fail)?;
        Self::checked(path, probe, connection)
    }

    /// Opens the file.
    pub fn open(path: &Path, probe: Arc<dyn Probe>) -> Result<Self, StoreError> {
        Self::checked(path, probe, connect(path, OpenFlags::empty())?)
    }

    fn checked(path: &Path, probe: Arc<dyn Probe>, connection: Connection) -> Result<Self, StoreError> {
        let fail = |error| failure(path, &error);
        let format = pragma(&connection, "user_version").map_err(fail)?;
        let known = pragma(&connection, "application_id").map_err(fail)? == APPLICATION;
        if known && format > FORMAT {
            return Err(StoreError::NewerFormat { found: format!("heldset/catalog/{format}") });
        }
        if !known || format != FORMAT || schema(&connection).map_err(fail)? != [ENTRIES, SUMS] {
            return Err(StoreError::damaged(path.display().to_string()));
        }
        Ok(SqliteCatalog { path: path.to_owned(), probe, state: Mutex::new(State { connection, durable: None }) })
    }

    /// Whether there is no entry at all.
    pub fn is_empty(&self) -> Result<bool, StoreError> {
        let select = "SELECT COUNT(*) FROM (SELECT 1 FROM entries LIMIT 1)";
        let count = self.state().connection.query_row(select, [], |row| row.get::<_, i64>(0));
        count.map(|count| count == 0).map_err(|error| self.fail(&error))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fail(&self, error: &rusqlite::Error) -> StoreError {
        failure(&self.path, error)
    }

    fn holds(&self, connection: &Connection, batch: &Batch) -> Result<bool, StoreError> {
        for (key, expected) in &batch.expect {
            if &self.find(connection, key)? != expected {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn find(&self, connection: &Connection, key: &Key) -> Result<Option<Vec<u8>>, StoreError> {
        let read = || {
            let mut select =
                connection.prepare_cached("SELECT digest, value FROM entries WHERE space = ?1 AND key = ?2")?;
            select.query_row(params![key.space, key.key], |row| sound(key.space, &key.key, row, 0)).optional()
        };
        match read().map_err(|error| self.fail(&error))? {
            Some(None) => Err(self.damaged_entry(key)),
            found => Ok(found.flatten()),
        }
    }

    fn damaged_entry(&self, key: &Key) -> StoreError {
        StoreError::damaged(format!("{}: {key}", self.path.display()))
    }

    /// Reads all entries, their digests and the order of the file; the sum of what is there.
    fn sweep(&self, connection: &Connection, faults: &mut Vec<StoreError>) -> rusqlite::Result<Sum> {
        let mut sum = Sum::default();
        let mut select = connection.prepare("SELECT digest, value, space, key FROM entries ORDER BY space, key")?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let (space, key): (String, String) = (row.get(2)?, row.get(3)?);
            match sound(&space, &key, row, 0)? {
                Some(_) => sum.add(&row.get(0)?),
                None => faults.push(StoreError::damaged(format!("{}: {space}/{key}", self.path.display()))),
            }
        }
        drop(rows);
        let mut integrity = connection.prepare("PRAGMA integrity_check(1)")?;
        let verdict: String = integrity.query_row([], |row| row.get(0))?;
        if verdict != "ok" {
            faults.push(StoreError::damaged(self.path.display().to_string()));
        }
        Ok(sum)
    }
}

impl Catalog for SqliteCatalog {
    fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, StoreError> {
        self.find(&self.state().connection, key)
    }

    fn scan(&self, space: &'static str, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        let state = self.state();
        let end = end_of(prefix);
        let query = match end {
            Some(_) => {
                "SELECT digest, value, key FROM entries WHERE space = ?1 AND key >= ?2 AND key < ?3 ORDER BY key"
            }
            None => "SELECT digest, value, key FROM entries WHERE space = ?1 AND key >= ?2 ORDER BY key",
        };
        let read = || {
            let mut select = state.connection.prepare_cached(query)?;
            let mut rows = match &end {
                Some(end) => select.query(params![space, prefix, end])?,
                None => select.query(params![space, prefix])?,
            };
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                let key: String = row.get(2)?;
                let value = sound(space, &key, row, 0)?;
                found.push((key, value));
            }
            Ok(found)
        };
        let found = read().map_err(|error| self.fail(&error))?;
        let whole = |(key, value): (String, Option<Vec<u8>>)| match value {
            Some(value) => Ok((key, value)),
            None => Err(self.damaged_entry(&Key { space, key })),
        };
        found.into_iter().map(whole).collect()
    }

    fn commit(&self, batch: &Batch) -> Result<(), StoreError> {
        let mut state = self.state();
        if state.durable != Some(batch.durable) {
            let level = if batch.durable { "full" } else { "normal" };
            state.connection.pragma_update(None, "synchronous", level).map_err(|error| self.fail(&error))?;
            state.durable = Some(batch.durable);
        }
        let begun = state.connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let transaction = begun.map_err(|error| self.fail(&error))?;
        if !self.holds(&transaction, batch)? {
            return Err(StoreError::Conflict);
        }
        apply(&transaction, batch).map_err(|error| self.fail(&error))?;
        self.probe.step("commit").map_err(|error| StoreError::step("commit", error))?;
        transaction.commit().map_err(|error| self.fail(&error))
    }

    fn check(&self) -> Vec<StoreError> {
        let mut faults = Vec::new();
        let mut state = self.state();
        // One transaction, so that a batch in between does not look like damage.
        let mut compare = || {
            let transaction = state.connection.transaction()?;
            let sum = self.sweep(&transaction, &mut faults)?;
            Ok(sum == read_sum(&transaction)?)
        };
        match compare() {
            Ok(true) => {}
            Ok(false) if !faults.is_empty() => {}
            Ok(false) => faults.push(StoreError::damaged(self.path.display().to_string())),
            Err(error) => faults.push(self.fail(&error)),
        }
        faults
    }
}

fn connect(path: &Path, more: OpenFlags) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
    let connection = Connection::open_with_flags(path, flags).map_err(|error| failure(path, &error))?;
    connection.busy_timeout(PATIENCE).map_err(|error| failure(path, &error))?;
    Ok(connection)
}

fn pragma(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}

/// The text of all tables, which a damaged file may have lost.
fn schema(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut select = connection.prepare("SELECT sql FROM sqlite_master ORDER BY name")?;
    select.query_map([], |row| row.get(0))?.collect()
}

/// The value of a row whose digest and value start at `column`, if they fit.
fn sound(space: &str, key: &str, row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Vec<u8>>> {
    let digest = row.get_ref(column)?.as_blob().unwrap_or_default();
    let value = row.get_ref(column + 1)?.as_blob().unwrap_or_default();
    Ok((digest_of(space, key, value).as_bytes() == digest).then(|| value.to_vec()))
}

fn apply(transaction: &Transaction<'_>, batch: &Batch) -> rusqlite::Result<()> {
    let mut sum = read_sum(transaction)?;
    let mut old = transaction.prepare_cached("SELECT digest FROM entries WHERE space = ?1 AND key = ?2")?;
    let mut delete = transaction.prepare_cached("DELETE FROM entries WHERE space = ?1 AND key = ?2")?;
    let mut put = transaction.prepare_cached(
        "INSERT INTO entries (space, key, digest, value) VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT (space, key) DO UPDATE SET digest = excluded.digest, value = excluded.value",
    )?;
    let mut forget = |sum: &mut Sum, key: &Key| {
        let digest = old.query_row(params![key.space, key.key], |row| row.get(0)).optional()?;
        Ok::<_, rusqlite::Error>(digest.is_some_and(|digest| {
            sum.subtract(&digest);
            true
        }))
    };
    for key in &batch.delete {
        if forget(&mut sum, key)? {
            delete.execute(params![key.space, key.key])?;
        }
    }
    for (key, value) in &batch.put {
        let digest = digest_of(key.space, &key.key, value);
        forget(&mut sum, key)?;
        sum.add(digest.as_bytes());
        put.execute(params![key.space, key.key, digest.as_bytes(), value])?;
    }
    write_sum(transaction, &sum)
}

fn read_sum(connection: &Connection) -> rusqlite::Result<Sum> {
    let mut select = connection.prepare_cached("SELECT value FROM sums WHERE name = 'entries'")?;
    select.query_row([], |row| row.get(0)).map(Sum::from_bytes)
}

fn write_sum(connection: &Connection, sum: &Sum) -> rusqlite::Result<()> {
    let mut put = connection.prepare_cached(
        "INSERT INTO sums (name, value) VALUES ('entries', ?1) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    )?;
    put.execute(params![sum.as_bytes()]).map(drop)
}

/// What SQLite's failure means for a store; all it says about the statements themselves is damage of the file.
fn failure(path: &Path, error: &rusqlite::Error) -> StoreError {
    use rusqlite::ErrorCode;
    use rusqlite::ffi::{SQLITE_IOERR_CORRUPTFS, SQLITE_IOERR_SHMSIZE, SQLITE_IOERR_SHORT_READ};
    let shown = path.display().to_string();
    let io = |kind| StoreError::Io { path: shown.clone(), source: io::Error::new(kind, error.to_string()) };
    let rusqlite::Error::SqliteFailure(code, _) = error else { return StoreError::damaged(shown) };
    match code.code {
        ErrorCode::CannotOpen if !path.exists() => StoreError::Missing { what: shown },
        ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied => {
            StoreError::ReadOnly { path: shown }
        }
        // The protocol of locks fails when too many open it at once.
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed => {
            StoreError::Locked
        }
        ErrorCode::DiskFull => io(io::ErrorKind::StorageFull),
        // The index of the log is a file that is made larger before it is used.
        ErrorCode::SystemIoFailure if code.extended_code == SQLITE_IOERR_SHMSIZE => io(io::ErrorKind::StorageFull),
        ErrorCode::OutOfMemory => io(io::ErrorKind::OutOfMemory),
        ErrorCode::TooBig => io(io::ErrorKind::FileTooLarge),
        ErrorCode::SystemIoFailure
            if ![SQLITE_IOERR_SHORT_READ, SQLITE_IOERR_CORRUPTFS].contains(&code.extended_code) =>
        {
            io(io::ErrorKind::Other)
        }
        _ => StoreError::damaged(shown),
    }
}
