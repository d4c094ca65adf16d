//! The embedded database.

use std::ffi::OsString;
use std::fs::{File, Permissions};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql};

use super::sql::{DbError, Kind, Sql, Value};

const BUSY: Duration = Duration::from_secs(10);
/// Page cache of a connection, KiB. Each has its own, and the system caches the file; ingest is no slower than with 16 MiB.
const CACHE_KIB: i64 = 4 * 1024;
/// `gtFt`: no store of a host, and not some other program's file.
const APPLICATION_ID: i32 = 0x6774_4674;

pub(super) struct Sqlite {
    conn: Connection,
    path: PathBuf,
    /// Device and inode of what was opened.
    file: (u64, u64),
}

impl Sqlite {
    pub(super) fn open(path: &Path) -> Result<Self, DbError> {
        let failed = |cause: String| DbError::Open {
            place: path.display().to_string(),
            why: format!("{cause}; its directory has to be there and writable for this user"),
        };
        // In this order: a process that creates the database at this moment fills the file before its WAL.
        let wal = with_end(path, "-wal");
        if length(Path::new(&wal)) > 0 && length(path) == 0 {
            return Err(DbError::Open {
                place: path.display().to_string(),
                why: "the file is empty or gone, and SQLite would delete what is left in its WAL; put this very file \
                      back, or move the WAL away and then put a backup in its place or begin a new fleet"
                    .to_owned(),
            });
        }
        keep_private(path).map_err(|e| failed(e.to_string()))?;
        let conn = Connection::open(path).map_err(|e| failed(e.to_string()))?;
        let id: i32 = conn
            .pragma_query_value(None, "application_id", |row| row.get(0))
            .map_err(|e| failed(e.to_string()))?;
        let tables: i64 = conn
            .query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))
            .map_err(|e| failed(e.to_string()))?;
        if tables > 0 && id != APPLICATION_ID {
            return Err(failed("another program's database is there".to_owned()));
        }
        let set_up = || -> rusqlite::Result<()> {
            conn.busy_timeout(BUSY)?;
            if tables == 0 {
                conn.pragma_update(None, "application_id", APPLICATION_ID)?;
            }
            conn.pragma_update(None, "journal_mode", "WAL")?;
            // As the store of a host: a crash of the head loses nothing, a power cut the last commits, which agents
            // then ship again, as the cursor is in the same transaction.
            conn.pragma_update(None, "synchronous", "NORMAL")?;
            conn.pragma_update(None, "cache_size", -CACHE_KIB)?;
            conn.pragma_update(None, "trusted_schema", false)
        };
        set_up().map_err(|e| failed(e.to_string()))?;
        conn.set_prepared_statement_cache_capacity(64);
        let file = std::fs::metadata(path).map_err(|e| failed(e.to_string()))?;
        Ok(Self {
            conn,
            path: path.to_owned(),
            file: (file.dev(), file.ino()),
        })
    }
}

/// Bytes of a file; 0 where there is none.
fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |file| file.len())
}

fn with_end(path: &Path, end: &str) -> OsString {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name
}

/// Only the owner may read it: what it has of a credential signs messages through NATS. SQLite gives its other files the same mode.
fn keep_private(path: &Path) -> std::io::Result<()> {
    let made = File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    match made {
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    for end in ["", "-wal", "-shm"] {
        let file = with_end(path, end);
        let Ok(found) = std::fs::metadata(&file) else {
            continue;
        };
        if found.is_file() && found.mode() & 0o077 != 0 {
            std::fs::set_permissions(&file, Permissions::from_mode(0o600))?;
        }
    }
    Ok(())
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Int(n) => ValueRef::Integer(*n),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

fn value(found: ValueRef<'_>) -> Value {
    match found {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(n) => Value::Int(n),
        // No column is of this type.
        ValueRef::Real(_) => Value::Null,
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec()),
    }
}

fn failed(error: rusqlite::Error) -> DbError {
    DbError::Statement(error.to_string())
}

impl Sql for Sqlite {
    fn execute(&mut self, sql: &str, parameters: &[Value]) -> Result<u64, DbError> {
        let mut statement = self.conn.prepare_cached(sql).map_err(failed)?;
        let changed = statement.execute(rusqlite::params_from_iter(parameters));
        changed.map(|n| n as u64).map_err(failed)
    }

    fn query(
        &mut self,
        sql: &str,
        parameters: &[Value],
        row: &mut dyn FnMut(Vec<Value>) -> bool,
    ) -> Result<(), DbError> {
        let mut statement = self.conn.prepare_cached(sql).map_err(failed)?;
        let columns = statement.column_count();
        let mut rows = statement
            .query(rusqlite::params_from_iter(parameters))
            .map_err(failed)?;
        while let Some(found) = rows.next().map_err(failed)? {
            let values = (0..columns)
                .map(|i| found.get_ref(i).map(value))
                .collect::<Result<_, _>>()
                .map_err(failed)?;
            if !row(values) {
                break;
            }
        }
        Ok(())
    }

    fn batch(&mut self, sql: &str) -> Result<(), DbError> {
        self.conn.execute_batch(sql).map_err(failed)
    }

    fn append(
        &mut self,
        table: &str,
        columns: &[(&str, Kind)],
        rows: &mut dyn Iterator<Item = Vec<Value>>,
    ) -> Result<(), DbError> {
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let places: Vec<String> = (1..=columns.len()).map(|n| format!("?{n}")).collect();
        let sql = format!(
            "INSERT INTO {table}({}) VALUES ({})",
            names.join(", "),
            places.join(", ")
        );
        let mut statement = self.conn.prepare_cached(&sql).map_err(failed)?;
        for row in rows {
            statement
                .execute(rusqlite::params_from_iter(row))
                .map_err(failed)?;
        }
        Ok(())
    }

    fn check_place(&self) -> Result<(), DbError> {
        let is_there = match std::fs::metadata(&self.path) {
            Ok(file) => (file.dev(), file.ino()) == self.file,
            // Where it is not known, it goes on.
            Err(error) => error.kind() != std::io::ErrorKind::NotFound,
        };
        match is_there {
            true => Ok(()),
            false => Err(DbError::Statement(format!(
                "{} is gone, or another file is in its place: what is written now would be lost when the head ends; \
                 put it back, or restart the head with what is there",
                self.path.display()
            ))),
        }
    }

    fn day_table(&self, name: &str, _day: i64) -> String {
        format!(
            "CREATE TABLE {name}(day BIGINT NOT NULL, {});",
            super::schema::RECORD_COLUMNS.replace("{bytes}", "BLOB")
        )
    }

    fn bytes_type(&self) -> &'static str {
        "BLOB"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_longer_at_its_place_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let [path, aside] = ["fleet.db", "aside"].map(|name| dir.path().join(name));
        let sql = Sqlite::open(&path).unwrap();
        sql.check_place().unwrap();
        std::fs::rename(&path, &aside).unwrap();
        sql.check_place().unwrap_err();
        // Somebody puts another one there meanwhile.
        std::fs::write(&path, "").unwrap();
        let error = sql.check_place().unwrap_err().to_string();
        assert!(error.contains("fleet.db is gone"), "{error}");
        std::fs::rename(&aside, &path).unwrap();
        sql.check_place().unwrap();
    }

    #[test]
    fn what_is_left_in_the_wal_of_an_empty_database_is_not_deleted() {
        let dir = tempfile::tempdir().unwrap();
        let [path, wal] = ["fleet.db", "fleet.db-wal"].map(|name| dir.path().join(name));
        std::fs::write(&wal, "what is left").unwrap();
        let refused = || {
            let error = Sqlite::open(&path).err().unwrap().to_string();
            assert!(error.contains("in its WAL"), "{error}");
        };
        refused();
        std::fs::write(&path, "").unwrap();
        refused();
        assert_eq!(std::fs::read_to_string(&wal).unwrap(), "what is left");
        std::fs::remove_file(&wal).unwrap();
        Sqlite::open(&path).unwrap();
    }

    #[test]
    fn only_its_owner_may_read_a_database() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("fleet.db");
        let of = |name: &str| std::fs::metadata(dir.path().join(name)).unwrap().mode() & 0o777;
        let mut sql = Sqlite::open(&path).unwrap();
        sql.batch("CREATE TABLE t(n)").unwrap();
        assert_eq!((of("fleet.db"), of("fleet.db-wal")), (0o600, 0o600));
        drop(sql);
        // As older versions made it.
        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        let mut sql = Sqlite::open(&path).unwrap();
        sql.batch("INSERT INTO t VALUES (1)").unwrap();
        assert_eq!((of("fleet.db"), of("fleet.db-wal")), (0o600, 0o600));
    }
}
