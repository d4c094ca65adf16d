use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use gtrace_event::Timestamp;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::StoreError;
use crate::lock::not_writable;
use crate::schema::{
    APPLICATION_ID, CREATE, EPOCHS, Identity, SCHEMA, SCHEMA_WITHOUT_EPOCHS,
    SCHEMA_WITHOUT_REMOVALS, beside, bytes_of, days, head, identify,
};
use crate::tip::Tip;

/// Page cache of one connection, in KiB: the daemon has 25 MiB for everything.
pub(crate) const CACHE_KIB: i64 = 1024;

/// SQLite folds the WAL into the file every so many pages (4 KiB each).
pub(crate) const WAL_PAGES: i64 = 1000;

/// What the WAL file is cut to after it grew beyond its checkpoint size.
const WAL_BYTES: i64 = 8 << 20;

/// A damaged store was found and moved aside; a new one was begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedAside {
    /// Where the damaged file is now, its `-wal` beside it. Where the file was gone, only that is there.
    pub to: PathBuf,
    /// What was wrong with it.
    pub why: String,
}

impl MovedAside {
    /// What is left of the store, unless somebody has removed it before: the file, or its WAL alone.
    pub(crate) fn file(&self) -> Option<PathBuf> {
        let wal = beside(&self.to, "-wal");
        match length(&self.to) == 0 && length(&wal) > 0 {
            true => Some(wal),
            false => Some(self.to.clone()).filter(|to| to.exists()),
        }
    }

    /// How that is read.
    pub(crate) fn remedy(&self) -> String {
        let to = self.to.display();
        match self.file().is_none_or(|file| file == self.to) {
            true => format!("sqlite3 {to} .dump reads what is left"),
            false => format!(
                "put the database that this write-ahead log belongs to at {to}, and sqlite3 {to} .dump reads both; without the \
                 database sqlite3 deletes the log"
            ),
        }
    }
}

impl std::fmt::Display for MovedAside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "the store was damaged ({}): what is left of it is now {}, and a new one was begun; {}",
            self.why,
            self.file().unwrap_or_else(|| self.to.clone()).display(),
            self.remedy()
        )
    }
}

/// A database opened for the one writer.
pub(crate) struct Opened {
    pub(crate) conn: Connection,
    pub(crate) tip: Tip,
    /// Its device and inode.
    pub(crate) file: (u64, u64),
    pub(crate) moved_aside: Option<MovedAside>,
    /// Whether a gtrace that recorded no removals may have removed the beginning.
    pub(crate) unrecorded: bool,
}

/// Opens the database for the one writer, creates it where there is none, and checks it. `had_store`: there was one before, if
/// it was not removed.
pub(crate) fn open_writer(
    path: &Path,
    had_store: bool,
    busy: Duration,
) -> Result<Opened, StoreError> {
    match open_or_create(path, had_store, busy) {
        Err(StoreError::Corrupt { why, .. }) => {
            let to = move_aside(path)?;
            let mut opened = open_or_create(path, had_store, busy)?;
            opened.moved_aside = Some(MovedAside { to, why });
            Ok(opened)
        }
        other => other,
    }
}

/// Creates the directories above the store, for the owner and the group to read.
pub(crate) fn create_parent(path: &Path) -> Result<(), StoreError> {
    let Some(dir) = path.parent().filter(|d| !d.as_os_str().is_empty()) else {
        return Ok(());
    };
    if dir.is_dir() {
        return Ok(());
    }
    DirBuilder::new()
        .recursive(true)
        .mode(0o750)
        .create(dir)
        .map_err(|e| not_writable(dir, e))
}

fn open_or_create(path: &Path, had_store: bool, busy: Duration) -> Result<Opened, StoreError> {
    if let Some(why) = lost_content(path, had_store) {
        return Err(StoreError::Corrupt {
            path: path.to_owned(),
            why: why.to_owned(),
        });
    }
    let is_new = create_file(path)?;
    let opened = connect(path, busy);
    if is_new && opened.is_err() {
        // As on a full disk. The next start would find an empty file.
        for suffix in ["-wal", "-shm", ""] {
            let _ = fs::remove_file(beside(path, suffix));
        }
    }
    opened
}

/// How it shows that there was a store with content, if nothing is left but its WAL, or an empty file. SQLite would take that for
/// a new database, and delete the WAL. It writes the file before the WAL, so that a new one has no WAL while it is empty.
fn lost_content(path: &Path, had_store: bool) -> Option<&'static str> {
    let has_wal = length(&beside(path, "-wal")) > 0;
    match fs::metadata(path) {
        Ok(file) if file.len() == 0 && (had_store || has_wal) => Some("the file is empty"),
        Err(e) if e.kind() == io::ErrorKind::NotFound && has_wal => {
            Some("the file is gone, and its write-ahead log is left")
        }
        _ => None,
    }
}

/// Bytes of a file; 0 where there is none.
fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |file| file.len())
}

fn connect(path: &Path, busy: Duration) -> Result<Opened, StoreError> {
    let sql = |e| StoreError::sqlite(path, e);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut conn = Connection::open_with_flags(path, flags).map_err(sql)?;
    // SQLite opens what it may not write for reading, without a word.
    if conn.is_readonly("main").map_err(sql)? {
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        return Err(not_writable(path, denied));
    }
    conn.busy_timeout(busy).map_err(sql)?;
    conn.set_prepared_statement_cache_capacity(8);
    let identity = identify(&conn, path)?;
    let new = matches!(identity, Identity::Empty);
    if new {
        // Only takes effect before the first table.
        conn.pragma_update(None, "auto_vacuum", "INCREMENTAL")
            .map_err(sql)?;
    }
    configure(&conn).map_err(sql)?;
    if new {
        create_schema(&mut conn).map_err(sql)?;
    } else {
        quick_check(&conn, path)?;
    }
    let days = days(&conn, path)?;
    for day in &days {
        let index = day.incident_index();
        let index = index.replacen("INDEX", "INDEX IF NOT EXISTS", 1);
        // Without it, as on a full disk, incidents are found more slowly.
        let _ = conn.execute_batch(&index);
    }
    let beginning_is_there = days.first().is_none_or(|day| day.first_seq == 1);
    let mut unrecorded = false;
    if let Identity::Store(found) = identity
        && found < SCHEMA
    {
        // The version follows once it is recorded what is missing: see `Store::note_pending`.
        unrecorded = !beginning_is_there;
        upgrade(&mut conn, found, !unrecorded).map_err(sql)?;
    }
    let day = days.into_iter().next_back();
    let (seq, hash) = head(&conn, day.as_ref()).map_err(sql)?;
    let bytes = day.as_ref().map_or(Ok(0), |day| bytes_of(&conn, day));
    let tip = Tip {
        n: day.as_ref().map_or(0, |day| day.n),
        bytes: bytes.map_err(sql)?,
        day,
        seq,
        hash,
    };
    let file = fs::metadata(path).map_err(|e| not_writable(path, e))?;
    Ok(Opened {
        conn,
        tip,
        file: (file.dev(), file.ino()),
        moved_aside: None,
        unrecorded,
    })
}

/// Creates the file with its mode, which SQLite then gives to `-wal` and `-shm` too; whether there was none. An existing
/// file is not even opened: closing it would drop the locks of readers in this process.
fn create_file(path: &Path) -> Result<bool, StoreError> {
    match OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o640)
        .open(path)
    {
        Ok(_) => {}
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
        Err(e) => return Err(not_writable(path, e)),
    }
    let dir = match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir,
        _ => Path::new("."),
    };
    // SQLite syncs the directory for its WAL, not for the file itself.
    File::open(dir)
        .and_then(|d| d.sync_all())
        .map_err(|e| not_writable(dir, e))?;
    Ok(true)
}

fn configure(conn: &Connection) -> rusqlite::Result<()> {
    conn.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    // The first append, which begins an epoch, is synced: see `Store::append`.
    sync_each_commit(conn, true)?;
    conn.pragma_update(None, "cache_size", -CACHE_KIB)?;
    conn.pragma_update(None, "mmap_size", 0)?;
    conn.pragma_update(None, "wal_autocheckpoint", WAL_PAGES)?;
    conn.pragma_update(None, "journal_size_limit", WAL_BYTES)?;
    conn.pragma_update(None, "trusted_schema", false)
}

/// Whether a commit waits until the WAL is on disk. Without it a commit survives the end of the
/// process, as the WAL is in the kernel's page cache, and a power cut only once it was synced.
pub(crate) fn sync_each_commit(conn: &Connection, sync: bool) -> rusqlite::Result<()> {
    conn.pragma_update(None, "synchronous", if sync { "FULL" } else { "NORMAL" })
}

/// Makes what version `found` lacks; with `whole` that is all there is to do.
fn upgrade(conn: &mut Connection, found: u32, whole: bool) -> rusqlite::Result<()> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if found == SCHEMA_WITHOUT_EPOCHS {
        tx.execute_batch(EPOCHS)?;
    }
    set_schema(
        &tx,
        if whole {
            SCHEMA
        } else {
            SCHEMA_WITHOUT_REMOVALS
        },
    )?;
    tx.commit()
}

/// Sets the version of the layout.
pub(crate) fn set_schema(conn: &Connection, version: u32) -> rusqlite::Result<()> {
    conn.execute(
        "UPDATE meta SET value = ?1 WHERE key = 'schema'",
        [version.to_string()],
    )?;
    Ok(())
}

fn create_schema(conn: &mut Connection) -> rusqlite::Result<()> {
    let tx = conn.transaction()?;
    tx.pragma_update(None, "application_id", APPLICATION_ID)?;
    tx.execute_batch(CREATE)?;
    tx.execute_batch(EPOCHS)?;
    let created = Timestamp::now().to_string();
    tx.execute(
        "INSERT INTO meta(key, value) VALUES ('schema', ?1), ('created', ?2)",
        (SCHEMA.to_string(), created),
    )?;
    tx.commit()
}

pub(crate) fn quick_check(conn: &Connection, path: &Path) -> Result<(), StoreError> {
    let result: String = conn
        .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(|e| StoreError::sqlite(path, e))?;
    if result == "ok" {
        return Ok(());
    }
    Err(StoreError::Corrupt {
        path: path.to_owned(),
        why: result,
    })
}

/// Renames the store and its WAL so that they still belong together.
pub(crate) fn move_aside(path: &Path) -> Result<PathBuf, StoreError> {
    let stamp = Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
    let mut to = beside(path, &format!(".corrupt-{stamp}"));
    let mut again = 1;
    while to.exists() {
        again += 1;
        to = beside(path, &format!(".corrupt-{stamp}-{again}"));
    }
    for suffix in ["-wal", "-shm", ""] {
        let from = beside(path, suffix);
        match fs::rename(&from, beside(&to, suffix)) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(not_writable(&from, e)),
            _ => {}
        }
    }
    Ok(to)
}
