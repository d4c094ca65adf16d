use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::StoreError;
use crate::schema::beside;

/// The right to write a store: an flock on `<store>.lock`, which the kernel releases however the
/// process ends. The file holds the pid of the newest holder.
pub(crate) struct WriterLock {
    file: File,
    /// Whether somebody had it before.
    pub(crate) was_held: bool,
}

impl WriterLock {
    pub(crate) fn take(store: &Path) -> Result<Self, StoreError> {
        let path = beside(store, ".lock");
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o640)
            .open(&path)
            .map_err(|source| not_writable(&path, source))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::Locked {
                    path: store.to_owned(),
                    pid: content(&mut file).ok().and_then(|t| t.trim().parse().ok()),
                });
            }
            Err(TryLockError::Error(source)) => return Err(not_writable(&path, source)),
        }
        let was_held = content(&mut file).is_ok_and(|pid| !pid.is_empty());
        let mut lock = Self { file, was_held };
        lock.write(&std::process::id().to_string())
            .map_err(|source| full_or_not_writable(&path, source))?;
        Ok(lock)
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.rewind()?;
        writeln!(self.file, "{text}")
    }
}

impl Drop for WriterLock {
    fn drop(&mut self) {
        // Closing is not enough: a child between fork and exec has the file open too.
        let _ = self.file.unlock();
    }
}

fn content(file: &mut File) -> io::Result<String> {
    let mut text = String::new();
    file.take(64).read_to_string(&mut text)?;
    Ok(text)
}

pub(crate) fn not_writable(path: &Path, cause: io::Error) -> StoreError {
    StoreError::NotWritable {
        path: PathBuf::from(path),
        cause,
    }
}

fn full_or_not_writable(path: &Path, source: io::Error) -> StoreError {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full {
            path: path.to_owned(),
            why: source.to_string(),
        },
        _ => not_writable(path, source),
    }
}
