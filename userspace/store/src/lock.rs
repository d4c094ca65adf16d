use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::StoreError;
use crate::schema::beside;

/// The right to write a store: an flock on `<store>.lock`, which the kernel releases however the
/// process ends. The file holds the pid of the newest holder, and [`HAS_STORE`] once there was a store.
pub(crate) struct WriterLock {
    file: File,
    path: PathBuf,
    /// Whether there was a store before.
    pub(crate) had_store: bool,
}

/// The second line of the file.
const HAS_STORE: &str = "store";

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
                    pid: content(&mut file).ok().and_then(|text| pid(&text)),
                });
            }
            Err(TryLockError::Error(source)) => return Err(not_writable(&path, source)),
        }
        let had_store = content(&mut file).is_ok_and(|text| text.lines().nth(1) == Some(HAS_STORE));
        let mut lock = Self {
            file,
            path,
            had_store,
        };
        lock.write(had_store)?;
        Ok(lock)
    }

    /// There is a store: from now on an empty file in its place is a damaged one.
    pub(crate) fn note_store(&mut self) -> Result<(), StoreError> {
        match self.had_store {
            true => Ok(()),
            false => self.write(true),
        }
    }

    fn write(&mut self, has_store: bool) -> Result<(), StoreError> {
        let mut text = format!("{}\n", std::process::id());
        if has_store {
            text.push_str(HAS_STORE);
            text.push('\n');
        }
        // In place, and then cut: a process that is killed in between leaves the second line.
        let written = (self.file.rewind())
            .and_then(|()| self.file.write_all(text.as_bytes()))
            .and_then(|()| self.file.set_len(text.len() as u64));
        written.map_err(|source| full_or_not_writable(&self.path, source))
    }
}

fn pid(text: &str) -> Option<u32> {
    text.lines().next()?.parse().ok()
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
