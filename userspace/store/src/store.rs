use std::collections::{BTreeMap, HashMap};
use std::io;
use std::ops::RangeInclusive;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use gtrace_event::{Epoch, Event, Record, RecordId, RemovalCause, Severity, Timestamp};
use rusqlite::Connection;

use crate::encoded::Encoded;
use crate::epochs::{self, Epochs};
use crate::lock::WriterLock;
use crate::open::{
    Opened, WAL_PAGES, create_parent, move_aside, open_writer, quick_check, set_schema,
    sync_each_commit,
};
use crate::removal::{Range, Removal};
use crate::schema::{SCHEMA, beside, cursor};
use crate::sync::{Syncer, sync_wal};
use crate::tip::Tip;
use crate::{Hash, MovedAside, StoreError};

/// How to keep a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Days older than this are removed by [`Store::retain`]; `None` keeps them for ever.
    pub retention_age: Option<Duration>,
    /// [`Store::retain`] removes the least severe and oldest events until the store holds no more
    /// bytes than this; `None` sets no limit.
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
    _lock: WriterLock,
    path: PathBuf,
    pub(crate) options: Options,
    tip: Tip,
    epoch: Epoch,
    /// Whether the epoch is in the store, and on disk.
    epoch_begun: bool,
    /// Completes the events by which the store records removals.
    author: Author,
    /// A damaged file that was moved aside, which is not recorded yet.
    moved_aside: Option<MovedAside>,
    /// The last record of that file, where it is known: the chain goes on from it.
    continues: Option<Range>,
    /// Whether the beginning is missing without a record of it.
    unrecorded: bool,
    /// The removals that were recorded, until somebody takes them.
    removals: Vec<(u64, Event)>,
    /// As this writer set them: what it keeps when the file is replaced.
    cursors: BTreeMap<String, String>,
    /// Device and inode of the file that is open.
    file: (u64, u64),
    /// While the file is being replaced there is none to write to.
    closed: bool,
    /// Held by a checkpoint, and while the file is replaced.
    turn: Arc<Mutex<()>>,
    has_syncer: bool,
    /// Up to which severity events were removed, by number of table.
    pub(crate) thinned: HashMap<i64, Severity>,
    /// About how many bytes were appended since the last retention.
    pub(crate) appended_bytes: u64,
    /// Whether the last retention has left something to do.
    pub(crate) retention_unfinished: bool,
}

/// Completes an event: host, machine, boot, advice.
type Author = Box<dyn Fn(&mut Event) + Send>;

impl Store {
    /// Opens the store at `path`, or creates it: missing directories with mode 0750, files 0640.
    ///
    /// The file is checked (`PRAGMA quick_check`, which reads it whole). A damaged file is renamed to
    /// `<path>.corrupt-<time>` and a new store begun, which the first append records: see
    /// [`Store::moved_aside`].
    ///
    /// # Errors
    /// [`StoreError::Locked`] if another process writes it; [`StoreError::NotWritable`];
    /// [`StoreError::NotAStore`]; [`StoreError::NewerSchema`]; [`StoreError::Full`].
    pub fn open(path: &Path, options: Options) -> Result<Self, StoreError> {
        create_parent(path)?;
        let mut lock = WriterLock::take(path)?;
        let Opened {
            conn,
            tip,
            file,
            moved_aside,
            unrecorded,
        } = open_writer(path, lock.had_store, options.busy_timeout)?;
        lock.note_store()?;
        Ok(Self {
            conn,
            _lock: lock,
            path: path.to_owned(),
            options,
            tip,
            epoch: Epoch::generate(),
            epoch_begun: false,
            author: Box::new(|_| {}),
            moved_aside,
            continues: None,
            unrecorded,
            removals: Vec::new(),
            cursors: BTreeMap::new(),
            file,
            closed: false,
            turn: Arc::default(),
            has_syncer: false,
            thinned: HashMap::new(),
            appended_bytes: 0,
            retention_unfinished: false,
        })
    }

    /// As [`Store::open`]; waits for another writer to end, up to `patience`, and calls `waiting`
    /// with the reason before it does. A process that was killed holds its lock until the kernel
    /// has torn it down.
    ///
    /// # Errors
    /// See [`Store::open`].
    pub fn open_within(
        path: &Path,
        options: Options,
        patience: Duration,
        waiting: impl FnOnce(&StoreError),
    ) -> Result<Self, StoreError> {
        const AGAIN: Duration = Duration::from_millis(50);
        let until = Instant::now() + patience;
        let mut waiting = Some(waiting);
        loop {
            match Self::open(path, options.clone()) {
                Err(error @ StoreError::Locked { .. }) if Instant::now() < until => {
                    if let Some(waiting) = waiting.take() {
                        waiting(&error);
                    }
                    std::thread::sleep(AGAIN);
                }
                result => return result,
            }
        }
    }

    /// Sets what completes the events by which the store records that records left it.
    pub fn set_author(&mut self, author: impl Fn(&mut Event) + Send + 'static) {
        self.author = Box::new(author);
    }

    /// The damaged file that had to be moved aside and that no append has recorded yet.
    pub fn moved_aside(&self) -> Option<&MovedAside> {
        self.moved_aside.as_ref()
    }

    /// Whether the next append has to record that records left the store before: with a damaged file, or
    /// by a gtrace that recorded no removals.
    pub fn has_unrecorded_removals(&self) -> bool {
        self.unrecorded || self.moved_aside.is_some()
    }

    /// The events by which removals were recorded since the last call, with their numbers.
    pub fn take_removals(&mut self) -> Vec<(u64, Event)> {
        std::mem::take(&mut self.removals)
    }

    /// Checks the file (`PRAGMA quick_check`, which reads it whole).
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if it is damaged; any that reading gives.
    pub fn check(&self) -> Result<(), StoreError> {
        quick_check(&self.conn, &self.path)
    }

    /// Checks that the file is still in its place: else what is appended goes where nobody can read it.
    ///
    /// # Errors
    /// [`StoreError::Removed`] if it is gone, or another one is there.
    pub fn check_place(&self) -> Result<(), StoreError> {
        let there = match std::fs::metadata(&self.path) {
            Ok(file) => (file.dev(), file.ino()) == self.file,
            // Where it is not known, it goes on.
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        };
        match there || self.closed {
            true => Ok(()),
            false => Err(StoreError::Removed {
                path: self.path.clone(),
            }),
        }
    }

    /// Moves the damaged file aside, because of `why`, and begins a new one with a new epoch. Numbers
    /// and chain go on from the last record that this writer appended; the first record of the new
    /// file says so, and the cursors are kept.
    ///
    /// # Errors
    /// Any that opening or writing gives. Call it again then: it goes on where it stopped.
    pub fn replace(&mut self, why: &str) -> Result<(), StoreError> {
        let turn = Arc::clone(&self.turn);
        let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.closed {
            let nothing = Connection::open_in_memory().map_err(|e| self.sqlite(e))?;
            // Before it is renamed, as closing folds the WAL into the file. Damage may prevent that.
            let _ = std::mem::replace(&mut self.conn, nothing).close();
            self.closed = true;
        }
        if self.moved_aside.is_none() {
            self.moved_aside = Some(MovedAside {
                to: move_aside(&self.path)?,
                why: why.to_owned(),
            });
            self.continues = (self.tip.seq > 0).then_some(Range {
                first: 1,
                last: self.tip.seq,
                hash: self.tip.hash,
                records: 0,
            });
        }
        let opened = open_writer(&self.path, true, self.options.busy_timeout)?;
        (self.conn, self.file) = (opened.conn, opened.file);
        self.closed = false;
        self.thinned.clear();
        (self.epoch, self.epoch_begun) = (Epoch::generate(), false);
        if opened.tip.seq == 0 {
            (self.tip.day, self.tip.bytes) = (None, 0);
        } else {
            // Somebody has put a store there meanwhile.
            (self.tip, self.continues) = (opened.tip, None);
        }
        if self.has_syncer {
            self.leave_wal_to_syncer()?;
        }
        self.append(&[], &[])?;
        Ok(())
    }

    /// Where the store is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Number of the last record; 0 if there is none yet.
    pub fn last_seq(&self) -> u64 {
        self.tip.seq
    }

    /// The epoch of what this writer appends.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Id of the last record; `None` if there is none yet.
    ///
    /// # Errors
    /// Any that reading gives.
    pub fn last_id(&self) -> Result<Option<RecordId>, StoreError> {
        let epochs = Epochs::read(&self.conn).map_err(|e| self.sqlite(e))?;
        Ok(epochs.id_of(self.tip.seq))
    }

    /// Hash of the last record. A copy outside the store, with [`Store::last_seq`], shows
    /// whether the end of the store was cut off later.
    pub fn last_hash(&self) -> Hash {
        self.tip.hash
    }

    /// Appends all of `records` and sets all of `cursors` (name, value), or nothing of it.
    ///
    /// Once it returns, readers see the records and they survive a crash of the process; they survive
    /// a power cut once [`Store::sync`] or [`Syncer::sync`] has returned. The first append of a writer
    /// is synced by itself: the epoch has to be on disk before anybody sees an id of it. The returned
    /// range is empty if `records` is.
    ///
    /// # Errors
    /// Nothing was stored. Unless [`StoreError::is_damage`], the same call may succeed later.
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
        let encoded = records
            .iter()
            .map(|record| self.encode(record))
            .collect::<Result<Vec<_>, _>>()?;
        self.append_encoded(now, &encoded, cursors)
    }

    /// As [`Store::append_at`], of records that were encoded before: an append that failed is tried
    /// again without encoding them again.
    ///
    /// # Errors
    /// See [`Store::append`].
    pub fn append_encoded<'a>(
        &mut self,
        now: Timestamp,
        records: impl IntoIterator<Item = &'a Encoded>,
        cursors: &[(String, String)],
    ) -> Result<RangeInclusive<u64>, StoreError> {
        self.write(now, None, records, cursors, |_| Ok(()))
    }

    /// As [`Store::append_encoded`]; before the records it records what left the store, `removal`
    /// among it, and in the same transaction it does what `also` does.
    pub(crate) fn write<'a>(
        &mut self,
        now: Timestamp,
        removal: Option<&Removal>,
        records: impl IntoIterator<Item = &'a Encoded>,
        cursors: &[(String, String)],
        also: impl FnOnce(&Connection) -> rusqlite::Result<()>,
    ) -> Result<RangeInclusive<u64>, StoreError> {
        let mut removals = self.pending_removals(now)?;
        removals.extend(removal.iter().flat_map(|removal| removal.events(now)));
        let mut notes = Vec::with_capacity(removals.len());
        for event in &mut removals {
            (self.author)(event);
            notes.push(self.encode(&Record::Event(Box::new(event.clone())))?);
        }
        let (before, most) = (self.tip.clone(), self.table_bytes());
        let first = before.seq + 1;
        let begins = (!self.epoch_begun).then_some(self.epoch);
        let (explains, kept) = (self.unrecorded, self.moved_aside.is_some());
        let kept: Vec<_> = self.cursors.clone().into_iter().filter(|_| kept).collect();
        let written = WriteTransaction::begin(&self.conn).and_then(|tx| {
            let tip = before.extend(tx.0, now, most, &notes)?;
            let tip = tip.extend(tx.0, now, most, records)?;
            let begun = begins.filter(|_| tip.seq >= first);
            if let Some(epoch) = begun {
                epochs::begin(tx.0, epoch, first)?;
            }
            if explains {
                set_schema(tx.0, SCHEMA)?;
            }
            set_cursors(tx.0, &kept)?;
            set_cursors(tx.0, cursors)?;
            also(tx.0)?;
            tx.commit()?;
            Ok((tip, begun.is_some()))
        });
        let (tip, begun) = written.map_err(|e| self.sqlite(e))?;
        self.appended_bytes += tip.bytes.saturating_sub(match tip.n == self.tip.n {
            true => self.tip.bytes,
            false => 0,
        });
        self.tip = tip;
        self.cursors.extend(cursors.iter().cloned());
        (self.moved_aside, self.continues, self.unrecorded) = (None, None, false);
        let noted = notes.len() as u64;
        self.removals.extend((first..).zip(removals));
        if begun {
            self.epoch_begun = true;
            sync_each_commit(&self.conn, false).map_err(|e| self.sqlite(e))?;
        }
        Ok(first + noted..=self.tip.seq)
    }

    /// The events of what is missing already and is not recorded yet.
    fn pending_removals(&self, now: Timestamp) -> Result<Vec<Event>, StoreError> {
        let mut events = Vec::new();
        if let Some(moved_aside) = &self.moved_aside {
            let removal = Removal {
                cause: RemovalCause::Damage,
                up_to: None,
                ranges: self.continues.into_iter().collect(),
                moved_aside: Some(moved_aside.clone()),
            };
            events.extend(removal.events(now));
        }
        if self.unrecorded
            && let Some(day) = crate::schema::days(&self.conn, &self.path)?.first()
        {
            let last = day.first_seq - 1;
            let removal = Removal {
                cause: RemovalCause::Unrecorded,
                up_to: None,
                ranges: vec![Range {
                    first: 1,
                    last,
                    hash: day.opening,
                    records: last,
                }],
                moved_aside: None,
            };
            events.extend(removal.events(now));
        }
        Ok(events)
    }

    fn encode(&self, record: &Record) -> Result<Encoded, StoreError> {
        Encoded::new(record.into()).map_err(|source| StoreError::Encode {
            path: self.path.clone(),
            source,
        })
    }

    /// A table that takes so many bytes is followed by another, so that retention can remove a part
    /// of a day.
    fn table_bytes(&self) -> Option<u64> {
        // A table with few records left takes 20 KiB all the same.
        const LEAST: u64 = 256 << 10;
        const TABLES: u64 = 32;
        let limit = self.options.retention_bytes?;
        Some((limit / TABLES).max(LEAST))
    }

    /// Waits until everything that was appended is on disk.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn sync(&self) -> Result<(), StoreError> {
        sync_wal(&self.path)
    }

    /// What syncs this store and folds its WAL into the file from another thread, so that appends
    /// do not wait for the disk. From here on appends fold the WAL only where that thread is far
    /// behind.
    ///
    /// # Errors
    /// Any that SQLite gives.
    pub fn syncer(&mut self) -> Result<Syncer, StoreError> {
        self.leave_wal_to_syncer()?;
        self.has_syncer = true;
        Ok(Syncer::new(&self.path, &self.turn))
    }

    fn leave_wal_to_syncer(&self) -> Result<(), StoreError> {
        self.conn
            .pragma_update(None, "wal_autocheckpoint", 16 * WAL_PAGES)
            .map_err(|e| self.sqlite(e))
    }

    /// The cursor `name`, as the last append left it.
    ///
    /// # Errors
    /// Any that reading gives.
    pub fn cursor(&self, name: &str) -> Result<Option<String>, StoreError> {
        cursor(&self.conn, name).map_err(|e| self.sqlite(e))
    }

    /// Folds the WAL into the file and empties it, as far as readers let it; waits for them up to
    /// [`Options::busy_timeout`]. Appends do what is needed by themselves.
    ///
    /// # Errors
    /// Any that writing gives.
    pub fn checkpoint(&mut self) -> Result<(), StoreError> {
        self.conn
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .map_err(|e| self.sqlite(e))
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
}

impl Drop for Store {
    fn drop(&mut self) {
        // With that, everything that was appended is on disk, whatever becomes of the checkpoint that
        // closing the connection makes.
        let _ = self.sync();
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

/// A transaction by statements that are prepared once, as each append makes one. It is rolled back unless it is committed.
struct WriteTransaction<'c>(&'c Connection);

impl<'c> WriteTransaction<'c> {
    fn begin(conn: &'c Connection) -> rusqlite::Result<Self> {
        conn.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        Ok(Self(conn))
    }

    fn commit(self) -> rusqlite::Result<()> {
        self.0.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }
}

impl Drop for WriteTransaction<'_> {
    fn drop(&mut self) {
        // It has ended if it was committed, or SQLite has rolled it back by itself.
        if !self.0.is_autocommit() {
            let _ = self.0.execute_batch("ROLLBACK");
        }
    }
}

fn set_cursors(tx: &Connection, cursors: &[(String, String)]) -> rusqlite::Result<()> {
    let mut set = tx.prepare_cached(
        "INSERT INTO cursors(name, value) VALUES (?1, ?2)
         ON CONFLICT(name) DO UPDATE SET value = excluded.value",
    )?;
    for (name, value) in cursors {
        set.execute((name, value))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn an_append_whose_last_step_fails_or_panics_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = Store::open(&dir.path().join("store.db"), Options::default()).unwrap();
        let now: Timestamp = "2026-03-03T04:05:06Z".parse().unwrap();
        let cursor = |value: &str| [("kmsg".to_owned(), value.to_owned())];
        let fails = |tx: &Connection| tx.execute("no statement", []).map(drop);
        store.write(now, None, [], &cursor("1"), fails).unwrap_err();
        assert!(store.conn.is_autocommit());
        let panics = |_: &Connection| -> rusqlite::Result<()> { panic!("on purpose") };
        let append = || store.write(now, None, [], &cursor("2"), panics).is_ok();
        assert!(catch_unwind(AssertUnwindSafe(append)).is_err());
        assert!(store.conn.is_autocommit());
        let stored = |conn: &Connection| {
            let all = "SELECT group_concat(value) FROM cursors";
            conn.query_row(all, [], |row| row.get::<_, Option<String>>(0))
        };
        assert_eq!(stored(&store.conn).unwrap(), None);
        store.append_encoded(now, [], &cursor("3")).unwrap();
        assert_eq!(stored(&store.conn).unwrap().as_deref(), Some("3"));
    }
}
