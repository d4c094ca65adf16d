//! Files of the site that are read again when they change.

use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A change counts once the file was found the same so often in a row: an editor may be half through with it ...
const SETTLED: u32 = 2;
/// ... and have taken the old one away before the new one is there.
const SETTLED_ABSENT: u32 = 3;

/// The text of an ordinary file of at most `most` bytes; `None` where there is none.
///
/// # Errors
///
/// A file that is there and cannot be read, or is larger.
pub fn read(path: &Path, most: u64) -> io::Result<Option<String>> {
    // A named pipe without a writer would keep whoever opens it.
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path);
    let file = match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no ordinary file"));
    }
    let mut text = String::new();
    let taken = file
        .take(most.saturating_add(1))
        .read_to_string(&mut text)?;
    if u64::try_from(taken).unwrap_or(u64::MAX) > most {
        let text = format!("it is larger than {most} bytes");
        return Err(io::Error::other(text));
    }
    Ok(Some(text))
}

/// Says when a file is another than it was.
#[derive(Debug)]
pub struct Changes {
    path: PathBuf,
    /// As it was when a change was last reported; `None` before.
    reported: Option<Stamp>,
    /// As it was found last, and how often in a row.
    found: (Stamp, u32),
}

/// When it was written, and its size; `None` where there is no file.
type Stamp = Option<(SystemTime, u64)>;

impl Changes {
    /// Of the file at `path`, which need not be there.
    pub fn new(path: PathBuf) -> Self {
        Self {
            path,
            reported: None,
            found: (None, 0),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn stamp(&self) -> Stamp {
        let found = std::fs::metadata(&self.path).ok()?;
        Some((found.modified().ok()?, found.len()))
    }

    /// Whether it has changed, come or gone since the last call; true the first time.
    pub fn any(&mut self) -> bool {
        let stamp = self.stamp();
        self.reported.replace(stamp) != Some(stamp)
    }

    /// The same of a file that several calls in a row have found the same: one that is being written is not whole.
    pub fn settled(&mut self) -> bool {
        let stamp = self.stamp();
        let (last, times) = &mut self.found;
        match *last == stamp {
            true => *times = times.saturating_add(1),
            false => (*last, *times) = (stamp, 1),
        }
        let settled = match stamp {
            Some(_) => SETTLED,
            None => SETTLED_ABSENT,
        };
        let changed = match self.reported {
            None => true,
            Some(reported) => reported != stamp && *times >= settled,
        };
        if changed {
            self.reported = Some(stamp);
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_counts_once_the_file_stays_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rules");
        let write = |text: &str| std::fs::write(&path, text).unwrap();
        write("a");
        let mut changes = Changes::new(path.clone());
        let mut looks = |wanted: &[bool]| {
            let found: Vec<bool> = wanted.iter().map(|_| changes.settled()).collect();
            assert_eq!(found, wanted);
        };
        looks(&[true, false, false]);
        // Written in two goes.
        write("ab");
        looks(&[false]);
        write("abc");
        looks(&[false, true, false]);
        // Gone for a moment, and for good.
        std::fs::remove_file(&path).unwrap();
        looks(&[false, false]);
        write("abcd");
        looks(&[false, true]);
        std::fs::remove_file(&path).unwrap();
        looks(&[false, false, true, false]);
    }

    #[test]
    fn what_is_no_ordinary_file_or_too_large_keeps_nobody() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        assert_eq!(read(&path, 4).unwrap(), None);
        std::fs::write(&path, "four").unwrap();
        assert_eq!(read(&path, 4).unwrap().as_deref(), Some("four"));
        assert!(read(&path, 3).unwrap_err().to_string().contains("3 bytes"));
        assert!(read(dir.path(), 4).is_err());
        std::fs::remove_file(&path).unwrap();
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, mode).unwrap();
        let error = read(&path, 4).unwrap_err().to_string();
        assert!(error.contains("no ordinary file"), "{error}");
    }
}
