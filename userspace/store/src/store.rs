use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gtrace_event::{Record, Timestamp};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};

use crate::columns::Columns;
use crate::lock::WriterLock;
use crate::open::{create_parent, open_writer};
use crate::schema::{Day, beside, sql_int, unix_day};
use crate::{Hash, MovedAside, StoreError};

/// How to keep a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Days older than this are dropped by [`Store::retain`]; `None` keeps them for ever.
    pub retention_age: Option<Duration>,
    /// [`Store::retain`] drops the oldest days until the store holds no more bytes than this;
    /// `None` sets no limit.
    pub retention_bytes: Option<u64>,
    /// How long to wait for another program that holds a database lock.
    pub busy_timeout: Duration,
}

impl Default for Options {
    /// 90 days, 1 GiB, 5 seconds.
    fn default() -> Self {
        Self {
            retention_age: Some(Duration::from_secs(90 * 86_400)),
            retention_bytes: Some(1 << 30),
            busy_timeout: Duration::from_secs(5),
        }
    }
}

/// What a store takes on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Bytes of the database in use.
    pub used_bytes: u64,
    /// Bytes of the database that are free for new records.
    pub free_bytes: u64,
    /// Bytes of the write-ahead log.
    pub wal_bytes: u64,
    /// Days kept.
    pub days: u32,
}

/// The one writer of a store.
///
/// Dropping it, or [`Store::close`], folds the WAL into the file.
pub struct Store {
    // Before the lock: closed first.
    conn: Connection,
    lock: WriterLock,
    path: PathBuf,
    pub(crate) options: Options,
    moved_aside: Option<MovedAside>,
    tip: Tip,
    damaged: bool,
}

impl Store {
    /// Opens the store at `path`, or creates it: missing directories with mode 0750, files 0640.
    ///
    /// After a crash the file is checked (`PRAGMA quick_check`, which reads it whole). A damaged
    /// file is renamed to `<path>.corrupt-<time>` and a new store begun: see
    /// [`Store::moved_aside`].
    ///
    /// # Errors
    /// [`StoreError::Locked`] if another process writes it; [`StoreError::NotWritable`];
    /// [`StoreError::NotAStore`]; [`StoreError::NewerSchema`]; [`StoreError::Full`].
    pub fn open(path: &Path, options: Options) -> Result<Self, StoreError> {
        create_parent(path)?;
        let lock = WriterLock::take(path)?;
        let (conn, tip, moved_aside) = open_writer(path, options.busy_timeout, !lock.was_clean)?;
        Ok(Self {
            conn,
            lock,
            path: path.to_owned(),
            options,
            moved_aside,
            tip,
            damaged: false,
        })
    }

    /// What [`Store::open`] had to set aside; tell the user.
    pub fn moved_aside(&self) -> Option<&MovedAside> {
        self.moved_aside.as_ref()
    }

    /// Where the store is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Number of the last record; 0 if there is none yet.
    pub fn last_seq(&self) -> u64 {
        self.tip.seq
    }

    /// Hash of the last record. Kept elsewhere together with [`Store::last_seq`], it shows
    /// whether the end of the store was cut off later.
    pub fn last_hash(&self) -> Hash {
        self.tip.hash
    }

    /// Appends all of `records` and sets all of `cursors` (name, value), or nothing of it.
    ///
    /// Once it returns, the records survive a crash of the process and, as far as the disk keeps
    /// its promises, a power cut. Each call costs an fsync: batch. The returned range is empty if
    /// `records` is.
    ///
    /// # Errors
    /// If [`StoreError::is_retryable`], nothing was stored and the same call may succeed later.
    pub fn append(
        &mut self,
        records: &[Record],
        cursors: &[(String, String)],
    ) -> Result<RangeInclusive<u64>, StoreError> {
        self.append_at(Timestamp::now(), records, cursors)
    }

    /// As [`Store::append`], by a clock of the caller: `now` decides the day of the records.
    ///
    /// # Errors
    /// See [`Store::append`].
    pub fn append_at(
        &mut self,
        now: Timestamp,
        records: &[Record],
        cursors: &[(String, String)],
    ) -> Result<RangeInclusive<u64>, StoreError> {
        let bodies = records
            .iter()
            .map(serde_json::to_string)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|source| StoreError::Encode {
                path: self.path.clone(),
                source,
            })?;
        let before = self.tip.clone();
        let first = before.seq + 1;
        let written = self
            .conn
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .and_then(|tx| {
                let tip = before.extend(&tx, now, records, &bodies)?;
                set_cursors(&tx, cursors)?;
                tx.commit()?;
                Ok(tip)
            });
        self.tip = written.map_err(|e| self.failed(e))?;
        Ok(first..=self.tip.seq)
    }

    /// The cursor `name`, as the last append left it.
    ///
    /// # Errors
    /// Any that reading gives.
    pub fn cursor(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.conn
            .query_row("SELECT value FROM cursors WHERE name = ?1", [name], |row| {
                row.get(0)
            })
            .optional()
            .map_err(|e| self.sqlite(e))
    }

    /// Folds the WAL into the file and empties it, as far as readers let it; waits for them up to
    /// [`Options::busy_timeout`]. Appends do what is needed by themselves.
    ///
    /// # Errors
    /// Any that writing gives.
    pub fn checkpoint(&mut self) -> Result<(), StoreError> {
        self.conn
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .map_err(|e| self.failed(e))
    }

    /// What the store takes on disk.
    ///
    /// # Errors
    /// Any that reading gives.
    pub fn size(&self) -> Result<Size, StoreError> {
        let pages = self.pages().map_err(|e| self.sqlite(e))?;
        let days = self
            .conn
            .query_row("SELECT count(*) FROM days", [], |row| row.get(0))
            .map_err(|e| self.sqlite(e))?;
        let wal = std::fs::metadata(beside(&self.path, "-wal"));
        Ok(Size {
            used_bytes: pages.used() * pages.size,
            free_bytes: pages.free * pages.size,
            wal_bytes: wal.map_or(0, |m| m.len()),
            days,
        })
    }

    /// Closes the store in order.
    pub fn close(self) {}

    pub(crate) fn conn(&mut self) -> &mut Connection {
        &mut self.conn
    }

    pub(crate) fn pages(&self) -> rusqlite::Result<Pages> {
        let get = |name: &str| -> rusqlite::Result<u64> {
            let value: i64 = self.conn.pragma_query_value(None, name, |row| row.get(0))?;
            Ok(u64::try_from(value).unwrap_or(0))
        };
        Ok(Pages {
            count: get("page_count")?,
            free: get("freelist_count")?,
            size: get("page_size")?,
        })
    }

    pub(crate) fn sqlite(&self, error: rusqlite::Error) -> StoreError {
        StoreError::sqlite(&self.path, error)
    }

    /// As [`Self::sqlite`]; damage also makes the next open check the file.
    pub(crate) fn failed(&mut self, error: rusqlite::Error) -> StoreError {
        let error = self.sqlite(error);
        self.damaged |= matches!(error, StoreError::Corrupt { .. });
        error
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // Everything that was appended is in the WAL and synced, whatever becomes of the
        // checkpoint that closing the connection makes.
        if !self.damaged {
            self.lock.mark_clean();
        }
    }
}

pub(crate) struct Pages {
    pub(crate) count: u64,
    pub(crate) free: u64,
    pub(crate) size: u64,
}

impl Pages {
    pub(crate) fn used(&self) -> u64 {
        self.count.saturating_sub(self.free)
    }
}

/// The end of the chain.
#[derive(Clone)]
pub(crate) struct Tip {
    pub(crate) day: Option<Day>,
    pub(crate) seq: u64,
    pub(crate) hash: Hash,
}

impl Tip {
    fn extend(
        mut self,
        tx: &Transaction<'_>,
        now: Timestamp,
        records: &[Record],
        bodies: &[String],
    ) -> rusqlite::Result<Self> {
        if records.is_empty() {
            return Ok(self);
        }
        let day = self.day_of(tx, now)?;
        let mut insert = tx.prepare_cached(&day.insert_sql())?;
        for (record, body) in records.iter().zip(bodies) {
            self.seq += 1;
            self.hash = self.hash.link(self.seq, body.as_bytes());
            let columns = Columns::of(record);
            insert.execute((
                sql_int(self.seq),
                columns.record,
                columns.event_id,
                columns.time_ns,
                columns.kind,
                columns.severity,
                columns.pci,
                body,
                &self.hash.0[..],
            ))?;
        }
        self.day = Some(day);
        Ok(self)
    }

    /// The current day, or a new one. A clock that goes back a little (over midnight) opens none;
    /// one that goes back by more than a day had been ahead, and a day named after that future
    /// would take all records until then.
    fn day_of(&self, tx: &Transaction<'_>, now: Timestamp) -> rusqlite::Result<Day> {
        let today = unix_day(now);
        if let Some(day) = &self.day
            && (day.unix_day - 1..=day.unix_day).contains(&today)
        {
            return Ok(day.clone());
        }
        let n = self.day.as_ref().map_or(1, |d| d.n + 1);
        let mut taken = tx.prepare("SELECT 1 FROM days WHERE name = ?1")?;
        let day = Day {
            n,
            unix_day: today,
            name: Day::name_for(today, n, |name| taken.exists([name]).unwrap_or(true)),
            first_seq: self.seq + 1,
            opening: self.hash,
        };
        tx.execute_batch(&day.create_sql())?;
        tx.execute(
            "INSERT INTO days(n, unix_day, name, first_seq, opening_hash) VALUES (?1, ?2, ?3, ?4, ?5)",
            (day.n, day.unix_day, &day.name, sql_int(day.first_seq), &day.opening.0[..]),
        )?;
        Ok(day)
    }
}

fn set_cursors(tx: &Transaction<'_>, cursors: &[(String, String)]) -> rusqlite::Result<()> {
    let mut set = tx.prepare_cached(
        "INSERT INTO cursors(name, value) VALUES (?1, ?2)
         ON CONFLICT(name) DO UPDATE SET value = excluded.value",
    )?;
    for (name, value) in cursors {
        set.execute((name, value))?;
    }
    Ok(())
}
