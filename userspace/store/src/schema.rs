use std::ffi::OsString;
use std::path::{Path, PathBuf};

use gtrace_event::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row};

use crate::{Hash, StoreError};

/// Version of the layout, in `meta`.
pub(crate) const SCHEMA: u32 = 3;
/// The version in which removals were not recorded: what is missing at the beginning is not explained.
pub(crate) const SCHEMA_WITHOUT_REMOVALS: u32 = 2;
/// The version without [`EPOCHS`], which the writer adds to it.
pub(crate) const SCHEMA_WITHOUT_EPOCHS: u32 = 1;

/// SQLite's application id, bytes 68 to 71 of the file: `gtrS`.
pub(crate) const APPLICATION_ID: i32 = 0x6774_7253;

/// Everything but [`EPOCHS`] and the tables of days.
pub(crate) const CREATE: &str = "
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE cursors(name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE days(
  n INTEGER PRIMARY KEY,
  unix_day INTEGER NOT NULL,
  name TEXT NOT NULL,
  first_seq INTEGER NOT NULL,
  opening_hash BLOB NOT NULL
) STRICT;
";

/// A row for each writer that appended something: the records from `first_seq` up to the next row's.
pub(crate) const EPOCHS: &str = "
CREATE TABLE epochs(n INTEGER PRIMARY KEY, epoch TEXT NOT NULL, first_seq INTEGER NOT NULL) STRICT;
";

/// One day's records, or a part of them: a table of its own, so that retention is a drop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Day {
    /// Rises by one from table to table, however the clock jumps.
    pub(crate) n: i64,
    /// Days since the Unix epoch when the day was opened, by the wall clock.
    pub(crate) unix_day: i64,
    /// Name of the table.
    pub(crate) name: String,
    pub(crate) first_seq: u64,
    /// Hash of the last record of the day before.
    pub(crate) opening: Hash,
}

impl Day {
    /// The table's name: `records_20261121`; if the clock brought the same date before, with `_n`.
    pub(crate) fn name_for(unix_day: i64, n: i64, mut taken: impl FnMut(&str) -> bool) -> String {
        let date = Timestamp::from_second(unix_day.saturating_mul(86_400))
            .map(|t| t.strftime("%Y%m%d").to_string())
            .unwrap_or_else(|_| "0".to_owned());
        let name = format!("records_{date}");
        if taken(&name) {
            format!("{name}_{n}")
        } else {
            name
        }
    }

    /// Whether the name is one that [`Day::name_for`] makes of the other columns.
    pub(crate) fn name_fits(&self) -> bool {
        let plain = Self::name_for(self.unix_day, self.n, |_| false);
        self.name == plain || self.name == Self::name_for(self.unix_day, self.n, |_| true)
    }

    /// Whether the name is safe to put into SQL: only what this crate writes.
    fn name_is_sound(&self) -> bool {
        self.name.strip_prefix("records_").is_some_and(|rest| {
            !rest.is_empty()
                && rest
                    .bytes()
                    .all(|b| b.is_ascii_digit() || b == b'_' || b == b'-')
        })
    }

    pub(crate) fn create_sql(&self) -> String {
        let t = &self.name;
        format!(
            "CREATE TABLE \"{t}\"(
  seq INTEGER PRIMARY KEY,
  record TEXT NOT NULL,
  event_id TEXT NOT NULL,
  time_ns INTEGER NOT NULL,
  kind TEXT,
  severity TEXT,
  pci TEXT,
  body TEXT NOT NULL,
  hash BLOB NOT NULL
) STRICT;
CREATE INDEX \"{t}_time\" ON \"{t}\"(time_ns, seq, kind, severity, pci, event_id)
  WHERE record = 'event';
CREATE INDEX \"{t}_event\" ON \"{t}\"(event_id) WHERE record = 'event';
CREATE INDEX \"{t}_later\" ON \"{t}\"(event_id) WHERE record <> 'event';
"
        )
    }

    /// The index of incidents, which are few among all that comes after events. Tables of before lack it until a writer opens the store.
    pub(crate) fn incident_index(&self) -> String {
        let t = &self.name;
        format!("CREATE INDEX \"{t}_incident\" ON \"{t}\"(event_id) WHERE record = 'incident'")
    }

    pub(crate) fn insert_sql(&self) -> String {
        format!(
            "INSERT INTO \"{}\"(seq, record, event_id, time_ns, kind, severity, pci, body, hash)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            self.name
        )
    }

    fn from_row(row: &Row<'_>) -> rusqlite::Result<Option<Self>> {
        let opening: Vec<u8> = row.get(4)?;
        // Records are counted from 1.
        let first_seq = u64::try_from(row.get::<_, i64>(3)?).ok();
        let (Some(opening), Some(first_seq)) = (
            Hash::from_slice(&opening),
            first_seq.filter(|first| *first > 0),
        ) else {
            return Ok(None);
        };
        let day = Self {
            n: row.get(0)?,
            unix_day: row.get(1)?,
            name: row.get(2)?,
            first_seq,
            opening,
        };
        Ok(day.name_is_sound().then_some(day))
    }
}

/// The day of `now`, counted from the Unix epoch.
pub(crate) fn unix_day(now: Timestamp) -> i64 {
    now.as_second().div_euclid(86_400)
}

/// SQLite's integers are signed; a `seq` beyond them cannot be reached.
pub(crate) fn sql_int(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

/// What is never negative in a store.
pub(crate) fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let value: i64 = row.get(column)?;
    Ok(u64::try_from(value).unwrap_or(0))
}

/// All days, oldest first.
pub(crate) fn days(conn: &Connection, path: &Path) -> Result<Vec<Day>, StoreError> {
    let read = || -> rusqlite::Result<Vec<Option<Day>>> {
        conn.prepare("SELECT n, unix_day, name, first_seq, opening_hash FROM days ORDER BY n")?
            .query_map([], Day::from_row)?
            .collect()
    };
    read()
        .map_err(|e| StoreError::sqlite(path, e))?
        .into_iter()
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| StoreError::Corrupt {
            path: path.to_owned(),
            why: "a row of table `days` makes no sense".to_owned(),
        })
}

/// About how many bytes a record takes beside its body: columns, hash and indexes.
pub(crate) const OVERHEAD: u64 = 256;

/// About how many bytes the records of `day` take.
pub(crate) fn bytes_of(conn: &Connection, day: &Day) -> rusqlite::Result<u64> {
    let sql = format!(
        "SELECT count(*) * {OVERHEAD} + coalesce(sum(octet_length(body)), 0) FROM \"{}\"",
        day.name
    );
    conn.query_row(&sql, [], |row| unsigned(row, 0))
}

/// The cursor `name`, as the last append left it.
pub(crate) fn cursor(conn: &Connection, name: &str) -> rusqlite::Result<Option<String>> {
    let value = "SELECT value FROM cursors WHERE name = ?1";
    conn.query_row(value, [name], |row| row.get(0)).optional()
}

/// The last record's number and hash.
pub(crate) fn head(conn: &Connection, last: Option<&Day>) -> rusqlite::Result<(u64, Hash)> {
    let Some(day) = last else {
        return Ok((0, Hash::GENESIS));
    };
    let sql = format!(
        "SELECT seq, hash FROM \"{}\" ORDER BY seq DESC LIMIT 1",
        day.name
    );
    let row = conn
        .query_row(&sql, [], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?))
        })
        .optional()?;
    Ok(row
        .and_then(|(seq, hash)| Some((u64::try_from(seq).ok()?, Hash::from_slice(&hash)?)))
        .unwrap_or((day.first_seq.saturating_sub(1), day.opening)))
}

/// What the file is, before anything is read from it.
pub(crate) enum Identity {
    /// No tables at all: a file that was only just created.
    Empty,
    /// A store, and the version of its layout.
    Store(u32),
}

/// Refuses other programs' databases and newer versions of this one.
pub(crate) fn identify(conn: &Connection, path: &Path) -> Result<Identity, StoreError> {
    let sql = |e| StoreError::sqlite(path, e);
    let id: i32 = conn
        .pragma_query_value(None, "application_id", |row| row.get(0))
        .map_err(sql)?;
    if id != APPLICATION_ID {
        let tables: i64 = conn
            .query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))
            .map_err(sql)?;
        if id == 0 && tables == 0 {
            return Ok(Identity::Empty);
        }
        return Err(StoreError::NotAStore {
            path: path.to_owned(),
            why: format!("application id {id:#x}, {tables} tables and indexes"),
        });
    }
    let found: String = conn
        .query_row("SELECT value FROM meta WHERE key = 'schema'", [], |row| {
            row.get(0)
        })
        .map_err(sql)?;
    match found.parse() {
        Ok(found @ SCHEMA_WITHOUT_EPOCHS..=SCHEMA) => Ok(Identity::Store(found)),
        Ok(found) if found > SCHEMA => Err(StoreError::NewerSchema {
            path: path.to_owned(),
            found,
            known: SCHEMA,
        }),
        _ => Err(StoreError::Corrupt {
            path: path.to_owned(),
            why: format!("schema version `{found}` in table `meta`"),
        }),
    }
}

/// `<path><suffix>`.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path.as_os_str());
    name.push(suffix);
    PathBuf::from(name)
}
