use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// Why the store could not be opened, written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The directory or a file could not be made or opened.
    #[error(
        "{path}: {cause}; the store needs a directory that this user may write to: create it, change its owner, or set another path"
    )]
    NotWritable {
        /// The directory or file.
        path: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// Another process writes the store.
    #[error(
        "{path} is being written by another gtrace ({holder}): stop that one, or give this one a path of its own", holder = holder(.pid)
    )]
    Locked {
        /// The store.
        path: PathBuf,
        /// The holder's process id, where it has noted it.
        pid: Option<u32>,
    },
    /// There is no store.
    #[error("{path}: no store there; `gtrace run` creates it, or set the path of another one")]
    Missing {
        /// The store.
        path: PathBuf,
    },
    /// The file exists and may not be read, or not together with its WAL.
    #[error(
        "{path}: cannot be opened for reading ({why}); run as a user who may read the store, or copy {path} and {path}-wal to a directory that you may write to and read the copy"
    )]
    NotReadable {
        /// The store.
        path: PathBuf,
        /// What was in the way.
        why: String,
    },
    /// The disk, the quota or the file size limit is full. Nothing of the append was stored.
    #[error(
        "{path}: no space left ({why}); nothing was stored: free space on that file system, lower the retention of the store, and try again"
    )]
    Full {
        /// The store.
        path: PathBuf,
        /// SQLite's words.
        why: String,
    },
    /// Reading or writing the file failed. Nothing of the append was stored.
    #[error(
        "{path}: input/output failed ({why}); nothing was stored: look for disk errors and a read-only file system in the kernel log, then try again"
    )]
    Io {
        /// The store.
        path: PathBuf,
        /// SQLite's words.
        why: String,
    },
    /// Another program held a database lock for longer than the busy timeout.
    #[error(
        "{path}: another program holds the database ({why}); close it (a `sqlite3` shell?) and try again"
    )]
    Busy {
        /// The store.
        path: PathBuf,
        /// SQLite's words.
        why: String,
    },
    /// The file is damaged.
    #[error(
        "{path} is damaged ({why}); restart `gtrace run`: it checks the file, moves a damaged one aside and begins a new one; `sqlite3 FILE .dump` reads what is left"
    )]
    Corrupt {
        /// The store.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The file that was opened is not there any more: what is appended goes where nobody can read it.
    #[error("{path}: somebody removed or replaced the file while gtrace wrote it")]
    Removed {
        /// The store.
        path: PathBuf,
    },
    /// A database, but not of gtrace.
    #[error(
        "{path} is a database of another program ({why}): move it away or set another path for the store"
    )]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// How that shows.
        why: String,
    },
    /// A newer gtrace wrote it.
    #[error(
        "{path} has schema version {found}, this gtrace knows up to {known}: use the gtrace that wrote it, or move the file away to begin a new store"
    )]
    NewerSchema {
        /// The store.
        path: PathBuf,
        /// Version of the file.
        found: u32,
        /// Newest version that this build knows.
        known: u32,
    },
    /// A record cannot be written as JSON.
    #[error("{path}: a record cannot be written as JSON ({source}); this is a bug in gtrace")]
    Encode {
        /// The store.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// Any other error of SQLite.
    #[error("{path}: {source}; if a restart of gtrace does not help, this is a bug in gtrace")]
    Sqlite {
        /// The store.
        path: PathBuf,
        /// SQLite's words.
        source: rusqlite::Error,
    },
}

fn holder(pid: &Option<u32>) -> String {
    match pid {
        Some(pid) => format!("process {pid}"),
        None => "process unknown".to_owned(),
    }
}

/// SQLite answers so where a table is missing, has other columns or has a record already: somebody
/// else has written to the file.
fn is_of_content(source: &rusqlite::Error) -> bool {
    matches!(
        source.sqlite_error_code(),
        Some(
            ErrorCode::Unknown
                | ErrorCode::ConstraintViolation
                | ErrorCode::TypeMismatch
                | ErrorCode::SchemaChanged
        )
    )
}

/// SQLITE_IOERR_SHMSIZE: the WAL index could not grow, which means a full disk.
const IOERR_SHMSIZE: i32 = 10 | (19 << 8);

impl StoreError {
    /// Whether the file is to be replaced: it is damaged or gone, or its tables are not as the writer left
    /// them.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Corrupt { .. } | Self::Removed { .. } => true,
            Self::Sqlite { source, .. } => is_of_content(source),
            _ => false,
        }
    }

    pub(crate) fn sqlite(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        let Some(code) = source.sqlite_error().copied() else {
            return Self::Sqlite { path, source };
        };
        let why = source.to_string();
        match code.code {
            ErrorCode::DiskFull => Self::Full { path, why },
            ErrorCode::SystemIoFailure if code.extended_code == IOERR_SHMSIZE => {
                Self::Full { path, why }
            }
            // A file system that the kernel remounted read-only shows as ReadOnly.
            ErrorCode::SystemIoFailure | ErrorCode::ReadOnly => Self::Io { path, why },
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::FileLockingProtocolFailed => Self::Busy { path, why },
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Self::Corrupt { path, why },
            ErrorCode::CannotOpen | ErrorCode::PermissionDenied => Self::NotReadable { path, why },
            _ => Self::Sqlite { path, source },
        }
    }
}
