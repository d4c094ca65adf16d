use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, OpenFlags};

use crate::StoreError;
use crate::schema::beside;

/// Brings to disk what a [`crate::Store`] appends, from other threads.
#[derive(Clone, Debug)]
pub struct Syncer {
    path: PathBuf,
    /// Held while the file is replaced: who then closes the old one would remove the WAL of the new.
    turn: Arc<Mutex<()>>,
}

impl Syncer {
    pub(crate) fn new(path: &Path, turn: &Arc<Mutex<()>>) -> Self {
        Self {
            path: path.to_owned(),
            turn: Arc::clone(turn),
        }
    }

    /// Waits until everything that was appended before is on disk.
    ///
    /// # Errors
    /// [`StoreError::Io`]: what was appended since the last sync may not survive a power cut.
    pub fn sync(&self) -> Result<(), StoreError> {
        sync_wal(&self.path)
    }

    /// Folds the WAL into the file as far as readers let it, while the writer goes on.
    ///
    /// # Errors
    /// Any that writing gives.
    pub fn checkpoint(&self) -> Result<(), StoreError> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Connection::open_with_flags(&self.path, flags)
            .and_then(|conn| conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())))
            .map_err(|e| StoreError::sqlite(&self.path, e))
    }
}

/// SQLite locks the file and its index, never the WAL, so that closing a descriptor of the WAL takes
/// no lock away (unlike those: fcntl(2), record locks).
pub(crate) fn sync_wal(store: &Path) -> Result<(), StoreError> {
    match File::open(beside(store, "-wal")).and_then(|wal| wal.sync_data()) {
        // Without a WAL everything is in the file, and was synced on the way there.
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(StoreError::Io {
            path: store.to_owned(),
            why: format!("fdatasync of the write-ahead log: {e}"),
        }),
        _ => Ok(()),
    }
}
