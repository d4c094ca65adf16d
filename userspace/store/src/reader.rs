use std::cell::Cell;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gtrace_event::{Event, EventId, Incident, Record, Timestamp};
use rusqlite::{Connection, OpenFlags, Transaction};

use crate::open::CACHE_KIB;
use crate::query::{Order, Walk};
use crate::schema::{
    Day, Identity, SCHEMA_WITHOUT_EPOCHS, beside, cursor, days, head, identify, sql_int,
};
use crate::{Epochs, Filter, Hash, StoreError};

const BUSY: Duration = Duration::from_secs(5);

/// How a [`Reader`] reaches the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Beside a writer: each call sees all that was appended before it.
    Shared,
    /// As a file that nobody writes: the directory is not writable and no writer is there. If one
    /// starts, open the reader again.
    Immutable,
}

/// Reads a store, beside its writer or without one. It may go to another thread; threads that
/// read at the same time want one each.
pub struct Reader {
    conn: Connection,
    path: PathBuf,
    access: Access,
    pub(crate) unreadable: Cell<u64>,
}

impl Reader {
    /// Opens the store at `path`, also after its writer was killed.
    ///
    /// # Errors
    /// [`StoreError::Missing`], [`StoreError::NotReadable`], [`StoreError::NotAStore`],
    /// [`StoreError::NewerSchema`], [`StoreError::Corrupt`].
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        match std::fs::metadata(path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                return Err(StoreError::NotReadable {
                    path: path.to_owned(),
                    why: e.to_string(),
                });
            }
            // SQLite would delete a WAL that lies beside an empty file, also where it only reads.
            Ok(found) if !found.is_dir() && found.len() > 0 => {}
            _ => {
                return Err(StoreError::Missing {
                    path: path.to_owned(),
                });
            }
        }
        match Self::open_as(path, Access::Shared) {
            // Without a WAL there is no index of it either, and this user cannot make one.
            Err(StoreError::NotReadable { .. } | StoreError::Io { .. })
                if !beside(path, "-wal").exists() =>
            {
                Self::open_as(path, Access::Immutable)
            }
            other => other,
        }
    }

    fn open_as(path: &Path, access: Access) -> Result<Self, StoreError> {
        let sql = |e| StoreError::sqlite(path, e);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = match access {
            Access::Shared => Connection::open_with_flags(path, flags),
            Access::Immutable => {
                Connection::open_with_flags(immutable_uri(path), flags | OpenFlags::SQLITE_OPEN_URI)
            }
        }
        .map_err(sql)?;
        conn.busy_timeout(BUSY).map_err(sql)?;
        conn.pragma_update(None, "cache_size", -CACHE_KIB)
            .and_then(|()| conn.pragma_update(None, "mmap_size", 0))
            .and_then(|()| conn.pragma_update(None, "trusted_schema", false))
            .map_err(sql)?;
        if let Identity::Empty = identify(&conn, path)? {
            return Err(StoreError::Missing {
                path: path.to_owned(),
            });
        }
        Ok(Self {
            conn,
            path: path.to_owned(),
            access,
            unreadable: Cell::new(0),
        })
    }

    /// How the store is reached; warn the user if it is not [`Access::Shared`].
    pub fn access(&self) -> Access {
        self.access
    }

    /// How many stored records this reader has met and skipped because a newer gtrace wrote what
    /// this one does not know (a new kind of event).
    pub fn unreadable(&self) -> u64 {
        self.unreadable.get()
    }

    /// The events that match, folded (amendments and acknowledgements applied, wherever they
    /// are), oldest first. With [`Filter::limit`] the newest ones.
    ///
    /// # Errors
    /// Any that reading gives.
    pub fn query(&self, filter: &Filter) -> Result<Vec<Event>, StoreError> {
        let mut events = Vec::new();
        let Some(limit) = filter.limit else {
            self.for_each(filter, |event| {
                events.push(event);
                ControlFlow::Continue(())
            })?;
            return Ok(events);
        };
        if limit > 0 {
            self.walk(filter, Order::NewestFirst, &mut |event| {
                events.push(event);
                if events.len() == limit {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            })?;
        }
        events.reverse();
        Ok(events)
    }

    /// Gives the events that match to `f`, oldest first, one at a time: for stores larger than
    /// memory. Ignores [`Filter::limit`].
    ///
    /// `f` must not call this reader. While it runs, the writer cannot empty its WAL.
    ///
    /// # Errors
    /// Any that reading gives.
    pub fn for_each(
        &self,
        filter: &Filter,
        mut f: impl FnMut(Event) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.walk(filter, Order::OldestFirst, &mut f)
    }

    /// As [`Self::for_each`], newest first.
    ///
    /// # Errors
    /// Any that reading gives.
    pub fn newest_first(
        &self,
        filter: &Filter,
        mut f: impl FnMut(Event) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.walk(filter, Order::NewestFirst, &mut f)
    }

    /// The event `id`, folded.
    ///
    /// # Errors
    /// Any that reading gives.
    pub fn event(&self, id: EventId) -> Result<Option<Event>, StoreError> {
        let (tx, days) = self.snapshot()?;
        Walk::new(&|body| self.parse(body), &tx, &days, &Filter::default())
            .and_then(|walk| walk.by_id(&id.to_string()))
            .map_err(|e| self.sqlite(e))
    }

    /// The events `ids`, folded, in this order, without those that the store does not have: one read, of only
    /// the days that may have them.
    ///
    /// # Errors
    /// Any that reading gives.
    pub fn events(&self, ids: &[EventId]) -> Result<Vec<Event>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let (tx, days) = self.snapshot()?;
        Walk::new(&|body| self.parse(body), &tx, &days, &Filter::default())
            .and_then(|walk| walk.by_ids(&walk.days_of_events()?, ids))
            .map_err(|e| self.sqlite(e))
    }

    /// As [`Self::events`], each event by a read of its own: of a store that is damaged in parts, those that can be read.
    pub fn readable_events(&self, ids: &[EventId]) -> Vec<Event> {
        let read = |id: &EventId| self.event(*id).ok().flatten();
        ids.iter().filter_map(read).collect()
    }

    /// Gives each of `incidents` to `take`, with the first `most` of its events as [`Self::events`] gives them: one read for all,
    /// and the events of one incident at a time.
    ///
    /// `take` must not call this reader. While it runs, the writer cannot empty its WAL.
    ///
    /// # Errors
    /// Any that reading gives.
    pub fn with_events(
        &self,
        incidents: impl IntoIterator<Item = Incident>,
        most: usize,
        mut take: impl FnMut(Incident, Vec<Event>),
    ) -> Result<(), StoreError> {
        let (tx, days) = self.snapshot()?;
        Walk::new(&|body| self.parse(body), &tx, &days, &Filter::default())
            .and_then(|walk| {
                let spans = walk.days_of_events()?;
                for incident in incidents {
                    let ids = incident.events.get(..most).unwrap_or(&incident.events);
                    let events = walk.by_ids(&spans, ids)?;
                    take(incident, events);
                }
                Ok(())
            })
            .map_err(|e| self.sqlite(e))
    }

    /// Up to `limit` records with numbers above `seq`, in order: to follow the store.
    ///
    /// # Errors
    /// Any that reading gives.
    pub fn records_after(&self, seq: u64, limit: usize) -> Result<Vec<(u64, Record)>, StoreError> {
        let (tx, days) = self.snapshot()?;
        self.page_after(&tx, &days, seq, limit)
    }

    pub(crate) fn page_after(
        &self,
        tx: &Transaction<'_>,
        days: &[Day],
        seq: u64,
        limit: usize,
    ) -> Result<Vec<(u64, Record)>, StoreError> {
        let first = days
            .partition_point(|day| day.first_seq <= seq.saturating_add(1))
            .saturating_sub(1);
        let mut records = Vec::new();
        for day in &days[first..] {
            if records.len() >= limit {
                break;
            }
            self.records_of(tx, day, seq, limit, &mut records)
                .map_err(|e| self.sqlite(e))?;
        }
        Ok(records)
    }

    fn records_of(
        &self,
        tx: &Transaction<'_>,
        day: &Day,
        after: u64,
        limit: usize,
        records: &mut Vec<(u64, Record)>,
    ) -> rusqlite::Result<()> {
        let sql = format!(
            "SELECT seq, body FROM \"{}\" WHERE seq > ?1 ORDER BY seq",
            day.name
        );
        let mut statement = tx.prepare_cached(&sql)?;
        let mut rows = statement.query([sql_int(after)])?;
        while records.len() < limit
            && let Some(row) = rows.next()?
        {
            let seq = u64::try_from(row.get::<_, i64>(0)?).unwrap_or(0);
            if let Some(record) = self.parse(row.get_ref(1)?.as_str()?) {
                records.push((seq, record));
            }
        }
        Ok(())
    }

    /// Which epoch appended which records; none in a store from before there were epochs.
    ///
    /// # Errors
    /// Any that reading gives.
    pub fn epochs(&self) -> Result<Epochs, StoreError> {
        match identify(&self.conn, &self.path)? {
            Identity::Empty | Identity::Store(SCHEMA_WITHOUT_EPOCHS) => Ok(Epochs::default()),
            Identity::Store(_) => Epochs::read(&self.conn).map_err(|e| self.sqlite(e)),
        }
    }

    /// The cursor `name`, as the last append left it.
    ///
    /// # Errors
    /// Any that reading gives.
    pub fn cursor(&self, name: &str) -> Result<Option<String>, StoreError> {
        let (tx, _) = self.snapshot()?;
        cursor(&tx, name).map_err(|e| self.sqlite(e))
    }

    /// Number of the last record; 0 if there is none yet.
    ///
    /// # Errors
    /// Any that reading gives.
    pub fn last_seq(&self) -> Result<u64, StoreError> {
        let (tx, days) = self.snapshot()?;
        let (seq, _) = head(&tx, days.last()).map_err(|e| self.sqlite(e))?;
        Ok(seq)
    }

    /// Hash of the record `seq`, to compare with a copy outside the store; `None` if the store
    /// does not (any longer) hold it.
    ///
    /// # Errors
    /// Any that reading gives.
    pub fn hash_at(&self, seq: u64) -> Result<Option<Hash>, StoreError> {
        let (tx, days) = self.snapshot()?;
        let Some(day) = days.iter().rev().find(|day| day.first_seq <= seq) else {
            return Ok(None);
        };
        let sql = format!("SELECT hash FROM \"{}\" WHERE seq = ?1", day.name);
        let mut statement = tx.prepare(&sql).map_err(|e| self.sqlite(e))?;
        let mut rows = statement
            .query([sql_int(seq)])
            .map_err(|e| self.sqlite(e))?;
        let row = rows.next().map_err(|e| self.sqlite(e))?;
        Ok(row.and_then(|row| Hash::from_slice(row.get_ref(0).ok()?.as_blob().ok()?)))
    }

    /// The newest `most` events of the boot `boot_id` at or after `since`, folded, oldest first: what a daemon
    /// that starts again compares the kernel log's history with, so that nothing is reported twice.
    ///
    /// # Errors
    /// Any that reading gives.
    pub fn unconfirmed(
        &self,
        boot_id: &str,
        since: Timestamp,
        most: usize,
    ) -> Result<Vec<Event>, StoreError> {
        self.query(&Filter {
            since: Some(since),
            boot_id: Some(boot_id.to_owned()),
            limit: Some(most),
            ..Filter::default()
        })
    }

    /// One consistent view: while the transaction lives, retention takes no day away.
    pub(crate) fn snapshot(&self) -> Result<(Transaction<'_>, Vec<Day>), StoreError> {
        let tx = self
            .conn
            .unchecked_transaction()
            .map_err(|e| self.sqlite(e))?;
        let days = days(&tx, &self.path)?;
        Ok((tx, days))
    }

    fn walk(
        &self,
        filter: &Filter,
        order: Order,
        f: &mut dyn FnMut(Event) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let (tx, days) = self.snapshot()?;
        Walk::new(&|body| self.parse(body), &tx, &days, filter)
            .and_then(|walk| walk.run(order, f))
            .map_err(|e| self.sqlite(e))
    }

    /// Reads a stored record; counts one that this version cannot read.
    pub(crate) fn parse(&self, body: &str) -> Option<Record> {
        let record = serde_json::from_str(body).ok();
        if record.is_none() {
            self.unreadable.set(self.unreadable.get() + 1);
        }
        record
    }

    pub(crate) fn sqlite(&self, error: rusqlite::Error) -> StoreError {
        StoreError::sqlite(&self.path, error)
    }
}

/// `file:<path>?immutable=1`, with every byte escaped that means something in a URI.
fn immutable_uri(path: &Path) -> String {
    use std::fmt::Write as _;
    use std::os::unix::ffi::OsStrExt as _;
    let mut uri = String::from("file:");
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(uri, "%{byte:02x}");
        }
    }
    uri.push_str("?immutable=1");
    uri
}
