//! The last minutes on disk: files of lines, of which the oldest goes when there are too many.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use gtrace_event::Timestamp;

use crate::{Entry, FileError};

/// Files that the limit is divided into: so much goes at once.
const FILES: u64 = 8;
const ENDING: &str = "jsonl";
/// Longest line that is read, bytes: a record of the kernel log is at most 8 KiB.
const LINE_MAX: u64 = 64 << 10;

/// See the module. One process writes; any number may read.
#[derive(Debug)]
pub struct Disk {
    dir: PathBuf,
    limit: u64,
    current: Option<Current>,
    numbers: VecDeque<u64>,
    dirty: bool,
}

#[derive(Debug)]
struct Current {
    file: File,
    path: PathBuf,
    length: u64,
}

impl Current {
    /// Whether it is certainly not the file at its path.
    fn is_displaced(&self) -> bool {
        let id = |found: fs::Metadata| (found.dev(), found.ino());
        match (
            self.file.metadata().map(id),
            fs::metadata(&self.path).map(id),
        ) {
            (Ok(written), Ok(found)) => written != found,
            (_, Err(error)) => error.kind() == std::io::ErrorKind::NotFound,
            (Err(_), Ok(_)) => false,
        }
    }
}

impl Disk {
    /// Goes on in `dir`, which is made if need be, with at most about `limit` bytes.
    ///
    /// # Errors
    ///
    /// If the directory cannot be made or read.
    pub fn open(dir: &Path, limit: u64) -> Result<Self, FileError> {
        let mut builder = fs::DirBuilder::new();
        let made = builder.recursive(true).mode(0o750).create(dir);
        made.map_err(FileError::at(dir))?;
        let numbers = numbers(dir)?;
        Ok(Self {
            dir: dir.to_owned(),
            limit,
            current: None,
            numbers: numbers.into(),
            dirty: false,
        })
    }

    /// Appends whole lines. If that fails a part of them may have been written.
    ///
    /// # Errors
    ///
    /// The system's: a full disk, for example.
    pub fn append(&mut self, lines: &[u8]) -> Result<(), FileError> {
        if lines.is_empty() {
            return Ok(());
        }
        if self.current.as_ref().is_some_and(Current::is_displaced) {
            // Somebody has removed the file or the directory, or another one is there: what is written to it is lost.
            *self = Self::open(&self.dir.clone(), self.limit)?;
        }
        if self.current.is_none() {
            // A host that starts again and again keeps what was before.
            self.current = self.newest().ok().flatten();
            if self.current.is_some() && self.write(lines).is_ok() {
                return Ok(());
            }
        }
        let limit = self.limit / FILES;
        let current = self.current.as_ref();
        if current.is_none_or(|current| current.length >= limit) {
            self.next_file()?;
        }
        self.write(lines)
    }

    fn write(&mut self, lines: &[u8]) -> Result<(), FileError> {
        let Some(current) = &mut self.current else {
            return Ok(());
        };
        if let Err(cause) = current.file.write_all(lines) {
            // A part may have been written: what comes next is to begin a line of its own.
            let failed = FileError::at(&current.path)(cause);
            let _ = current.file.set_len(current.length);
            // For an empty one the oldest would go, each time that it is tried.
            if current.length == 0 && fs::remove_file(&current.path).is_ok() {
                self.numbers.pop_back();
            }
            self.current = None;
            return Err(failed);
        }
        current.length += lines.len() as u64;
        self.dirty = true;
        Ok(())
    }

    /// The newest file of another run, if it has room.
    fn newest(&self) -> std::io::Result<Option<Current>> {
        let Some(path) = self.numbers.back().map(|number| self.path(*number)) else {
            return Ok(None);
        };
        let mut file = OpenOptions::new().read(true).append(true).open(&path)?;
        let mut length = file.metadata()?.len();
        if length >= self.limit / FILES {
            return Ok(None);
        }
        let mut last = [b'\n'];
        if length > 0 {
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
        }
        // What was torn stays a line of its own.
        if last != [b'\n'] {
            file.write_all(b"\n")?;
            length += 1;
        }
        Ok(Some(Current { file, path, length }))
    }

    /// Whether something was appended since the last [`sync`](Self::sync).
    pub fn is_dirty(&self) -> bool {
        self.dirty
    }

    /// Has the disk keep what was appended, also if the power goes.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn sync(&mut self) -> Result<(), FileError> {
        if let Some(current) = self.current.as_ref().filter(|_| self.dirty) {
            current
                .file
                .sync_data()
                .map_err(FileError::at(&current.path))?;
        }
        self.dirty = false;
        Ok(())
    }

    fn next_file(&mut self) -> Result<(), FileError> {
        self.sync()?;
        self.current = None;
        // Before the new one, so that there is room where there was none.
        while self.numbers.len() as u64 >= FILES
            && let Some(oldest) = self.numbers.pop_front()
        {
            let path = self.path(oldest);
            // One that somebody else removed is gone all the same.
            let _ = fs::remove_file(path);
        }
        let number = self.numbers.back().map_or(1, |last| last + 1);
        let path = self.path(number);
        let opened = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o640)
            .open(&path);
        let file = opened.map_err(FileError::at(&path))?;
        self.numbers.push_back(number);
        self.current = Some(Current {
            file,
            path,
            length: 0,
        });
        Ok(())
    }

    fn path(&self, number: u64) -> PathBuf {
        self.dir.join(format!("{number:010}.{ENDING}"))
    }

    /// The entries of `dir` from `from` to `to`, in the order in which they were written.
    ///
    /// # Errors
    ///
    /// If the directory or a file cannot be read. One that is removed meanwhile is passed over.
    pub fn read(dir: &Path, from: Timestamp, to: Timestamp) -> Result<Lines, FileError> {
        let mut lines = Lines::default();
        for number in numbers(dir)? {
            let path = dir.join(format!("{number:010}.{ENDING}"));
            match File::open(&path) {
                Ok(file) => lines
                    .take(BufReader::new(file), from, to)
                    .map_err(FileError::at(&path))?,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(FileError::at(&path)(error)),
            }
        }
        Ok(lines)
    }
}

/// Entries of a time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lines {
    /// Those that could be read.
    pub entries: Vec<Entry>,
    /// Lines that are torn, or of a newer version.
    pub unreadable: u64,
}

impl Lines {
    /// Adds the entries of `from` to `to`.
    pub(crate) fn take(
        &mut self,
        mut reader: impl std::io::BufRead,
        from: Timestamp,
        to: Timestamp,
    ) -> std::io::Result<()> {
        let mut line = Vec::new();
        loop {
            line.clear();
            let length = (&mut reader).take(LINE_MAX).read_until(b'\n', &mut line)?;
            if length == 0 {
                return Ok(());
            }
            match serde_json::from_slice::<Entry>(&line) {
                Ok(entry) if (from..=to).contains(&entry.time) => self.entries.push(entry),
                Ok(_) => {}
                Err(_) => self.unreadable += 1,
            }
        }
    }
}

/// Numbers of the files in `dir`, ascending.
fn numbers(dir: &Path) -> Result<Vec<u64>, FileError> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(dir).map_err(FileError::at(dir))? {
        let name = entry.map_err(FileError::at(dir))?.file_name();
        let name = name.to_str().and_then(|name| name.rsplit_once('.'));
        let number = name
            .filter(|(_, ending)| *ending == ENDING)
            .and_then(|(number, _)| number.parse::<u64>().ok());
        numbers.extend(number);
    }
    numbers.sort_unstable();
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KernelLine, What, line};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_772_500_000 + second).unwrap()
    }

    fn entry(second: i64) -> Entry {
        Entry {
            time: at(second),
            what: What::Kernel(KernelLine {
                level: 6,
                facility: 0,
                seq: u64::try_from(second).unwrap(),
                text: "x".repeat(100),
            }),
        }
    }

    #[test]
    fn a_second_run_goes_on_and_a_torn_line_is_counted() {
        let dir = tempfile::tempdir().unwrap();
        let mut disk = Disk::open(dir.path(), 1 << 20).unwrap();
        for second in 0..3 {
            disk.append(&line(&entry(second))).unwrap();
        }
        disk.sync().unwrap();
        let half = line(&entry(3));
        disk.append(&half[..half.len() / 2]).unwrap();
        drop(disk);
        let mut disk = Disk::open(dir.path(), 1 << 20).unwrap();
        disk.append(&line(&entry(4))).unwrap();
        let read = Disk::read(dir.path(), at(1), at(9)).unwrap();
        assert_eq!(read.entries, [entry(1), entry(2), entry(4)]);
        assert_eq!(read.unreadable, 1);
    }

    #[test]
    fn runs_that_end_soon_keep_what_was_before() {
        let dir = tempfile::tempdir().unwrap();
        let limit = 64 << 10;
        let mut disk = Disk::open(dir.path(), limit).unwrap();
        for second in 0..100 {
            disk.append(&line(&entry(second))).unwrap();
        }
        drop(disk);
        for second in 100..120 {
            let mut disk = Disk::open(dir.path(), limit).unwrap();
            disk.append(&line(&entry(second))).unwrap();
        }
        let read = Disk::read(dir.path(), at(0), at(200)).unwrap();
        assert_eq!(read.entries, (0..120).map(entry).collect::<Vec<_>>());
        assert_eq!(read.unreadable, 0);
    }

    #[test]
    fn what_comes_after_somebody_has_removed_all_is_there() {
        for with_directory in [true, false] {
            let parent = tempfile::tempdir().unwrap();
            let dir = parent.path().join("recorder");
            let mut disk = Disk::open(&dir, 1 << 20).unwrap();
            disk.append(&line(&entry(0))).unwrap();
            fs::remove_dir_all(&dir).unwrap();
            if !with_directory {
                fs::create_dir(&dir).unwrap();
            }
            for second in 1..4 {
                disk.append(&line(&entry(second))).unwrap();
            }
            disk.sync().unwrap();
            let read = Disk::read(&dir, at(0), at(9)).unwrap();
            assert_eq!(read.entries, [entry(1), entry(2), entry(3)]);
        }
    }

    #[test]
    fn it_takes_no_more_room_than_it_may_and_keeps_the_newest() {
        let dir = tempfile::tempdir().unwrap();
        let limit = 64 << 10;
        let mut disk = Disk::open(dir.path(), limit).unwrap();
        for second in 0..5_000 {
            disk.append(&line(&entry(second))).unwrap();
        }
        let sizes = fs::read_dir(dir.path()).unwrap();
        let size: u64 = sizes.map(|e| e.unwrap().metadata().unwrap().len()).sum();
        assert!(size <= limit + limit / FILES, "{size}");
        let read = Disk::read(dir.path(), at(0), at(5_000)).unwrap();
        assert_eq!(read.entries.last().unwrap(), &entry(4_999));
        assert!(read.entries.len() > 150, "{}", read.entries.len());
        assert_eq!(read.unreadable, 0);
    }

    #[test]
    fn a_full_disk_costs_one_of_the_files_that_are_there() {
        let dir = tempfile::tempdir().unwrap();
        let limit = 64 << 10;
        let mut disk = Disk::open(dir.path(), limit).unwrap();
        let is_full = |disk: &Disk| {
            let current = disk.current.as_ref();
            current.is_some_and(|current| current.length >= limit / FILES)
        };
        for second in 0..2_000 {
            disk.append(&line(&entry(second))).unwrap();
        }
        while !is_full(&disk) {
            disk.append(&line(&entry(2_000))).unwrap();
        }
        drop(disk);
        let there = numbers(dir.path()).unwrap();
        assert_eq!(there.len() as u64, FILES);
        let next = there[there.len() - 1] + 1;
        for _ in 0..20 {
            let mut disk = Disk::open(dir.path(), limit).unwrap();
            // It can be opened, and has no room for a byte.
            std::os::unix::fs::symlink("/dev/full", disk.path(next)).unwrap();
            disk.append(&line(&entry(2_000))).unwrap_err();
        }
        assert_eq!(numbers(dir.path()).unwrap(), there[1..]);
        let mut disk = Disk::open(dir.path(), limit).unwrap();
        disk.append(&line(&entry(2_001))).unwrap();
        let read = Disk::read(dir.path(), at(0), at(9_000)).unwrap();
        assert_eq!(read.entries.last(), Some(&entry(2_001)));
    }

    #[test]
    fn a_file_that_another_run_began_and_that_takes_nothing_gives_way_to_the_next() {
        let dir = tempfile::tempdir().unwrap();
        let limit = 64 << 10;
        let mut disk = Disk::open(dir.path(), limit).unwrap();
        disk.append(&line(&entry(0))).unwrap();
        std::os::unix::fs::symlink("/dev/full", disk.path(2)).unwrap();
        drop(disk);
        let mut disk = Disk::open(dir.path(), limit).unwrap();
        disk.append(&line(&entry(1))).unwrap();
        drop(disk);
        let read = Disk::read(dir.path(), at(0), at(9)).unwrap();
        assert_eq!(read.entries, [entry(0), entry(1)]);
    }

    #[test]
    fn any_bytes_can_be_read() {
        let mut lines = Lines::default();
        let bytes = [&b"{}\n"[..], &[0; 200_000], b"\n", &line(&entry(1))].concat();
        lines.take(&bytes[..], at(0), at(9)).unwrap();
        assert_eq!(lines.entries, [entry(1)]);
        assert!(lines.unreadable >= 2);
    }
}
