//! Kernel log records from /dev/kmsg: history from before start, provenance by facility, and an
//! exact count of records that were overwritten before they were read, by sequence number.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gtrace_decoder::{Decoder, DriverVersion, Options, kmsg};
use gtrace_event::Occurrence;
use gtrace_recorder::KernelLine;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::clock::{LogClock, boottime_ns};
use crate::lock::lock;
use crate::open_record::EndRecord;
use crate::supervise::{beat, rest};

/// The device.
pub const PATH: &str = "/dev/kmsg";
/// Larger than any record with its dictionary.
const BUFFER: usize = 16 * 1024;
/// How long one wait lasts at most: whoever wants the thread to end wakes it by its [`EndRecord`].
const WAIT: Duration = Duration::from_secs(60);
/// A group of lines that belong together is closed after so long without a record.
const FLUSH: Duration = Duration::from_millis(250);
/// A record that was logged so much later than another shows that the other is closed. The log's clock is known
/// to a few milliseconds.
const CLEARLY_LATER_NS: u64 = 50_000_000;
/// Records of others that may come before one's own line.
const ANNOUNCED_WITHIN: usize = 1000;
/// Progress is reported after so many records, or so long.
const PROGRESS_RECORDS: u64 = 256;
const PROGRESS_EVERY: Duration = Duration::from_secs(1);

/// What the reader emits.
#[derive(Debug)]
pub enum KmsgItem {
    /// Something happened.
    Occurrence(Box<Occurrence>),
    /// A record as it stands, logged so long after boot, whatever it says.
    Record {
        /// When, ns.
        boottime_ns: u64,
        /// What.
        line: KernelLine,
    },
    /// Records from `first` to `last` were overwritten before they could be read.
    Lost {
        /// First lost sequence number.
        first: u64,
        /// Last lost sequence number.
        last: u64,
    },
    /// Everything up to `seq` has been read and emitted; `records` of them since the last time.
    Progress {
        /// Sequence number.
        seq: u64,
        /// Records read.
        records: u64,
    },
    /// A record that could not be parsed: counted, not fatal.
    Garbled,
}

/// Reads the log.
#[derive(Debug)]
pub struct Reader {
    file: File,
    clock: LogClock,
    decoder: Decoder,
    /// The next sequence number expected; `None` before the first record.
    next_seq: Option<u64>,
    /// Records up to this one were dealt with before this start.
    after: Option<u64>,
    started_ns: u64,
    /// The first record that is news, where that is known.
    first_new: Option<u64>,
    since_progress: u64,
    progress_at: Instant,
    last_feed_ns: u64,
    /// When the newest record was logged.
    newest_ns: u64,
    position: Arc<Position>,
    end_record: Option<EndRecord>,
    /// Where lines can be written.
    path: Option<PathBuf>,
}

/// Up to which record the log has been read, whichever reader did.
#[derive(Debug, Default)]
pub struct Position(Mutex<Option<u64>>);

impl Position {
    /// The sequence number of the last record that was taken, whatever became of it.
    pub fn get(&self) -> Option<u64> {
        *lock(&self.0)
    }

    fn set(&self, seq: u64) {
        *lock(&self.0) = Some(seq);
    }
}

impl Reader {
    /// Opens `path`. Records up to sequence number `after` are passed over, as an earlier run
    /// has dealt with them; those missing right after it count as lost.
    pub fn open(path: &Path, after: Option<u64>) -> io::Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
            .open(path)?;
        let mut reader = Self::of(file, after);
        reader.path = Some(path.to_owned());
        Ok(reader)
    }

    /// Reads what stands in for the device: no line is written to it. See [`Self::open`].
    pub fn of(file: File, after: Option<u64>) -> Self {
        Self {
            file,
            clock: LogClock::new(),
            decoder: Decoder::new(Options::default()),
            next_seq: after.map(|seq| seq + 1),
            after,
            started_ns: boottime_ns(),
            first_new: None,
            since_progress: 0,
            progress_at: Instant::now(),
            last_feed_ns: 0,
            newest_ns: 0,
            position: Arc::default(),
            end_record: None,
            path: None,
        }
    }

    /// Keeps where it is at `position`, for a reader that has to go on after it.
    pub fn set_position(&mut self, position: Arc<Position>) {
        self.position = position;
    }

    /// Ends open records when asked at `end_record`, and reads when woken there.
    pub fn set_end_record(&mut self, end_record: EndRecord) {
        self.end_record = Some(end_record);
    }

    /// Writes one line of its own to the kernel log, as systemd and others do at their start, which marks in the log
    /// from when on it was watched; and reads it back, to measure the log's clock by it and to know what is news.
    pub fn announce(&mut self, path: &Path, version: &str) -> io::Result<()> {
        let line = announcement(version);
        let mut log = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
            .open(path)?;
        log.seek(SeekFrom::End(0))?;
        let mut file = OpenOptions::new().write(true).open(path)?;
        file.write_all(format!("<14>{line}\n").as_bytes())?;
        let mut buffer = vec![0; BUFFER];
        for _ in 0..ANNOUNCED_WITHIN {
            let Ok(len @ 1..) = log.read(&mut buffer) else {
                break;
            };
            if let Ok(record) = kmsg::parse(&buffer[..len])
                && record.text == line
            {
                self.clock.learn(record.timestamp_us, boottime_ns());
                self.first_new = Some(record.seq);
                break;
            }
        }
        Ok(())
    }

    /// Sets the version of the driver that writes the texts.
    pub fn set_driver_version(&mut self, version: Option<DriverVersion>) {
        self.decoder.set_driver_version(version);
    }

    /// Reads until `stop`, and calls `emit` for each item.
    pub fn run(&mut self, stop: &AtomicBool, mut emit: impl FnMut(KmsgItem)) -> io::Result<()> {
        let mut buffer = vec![0; BUFFER];
        while !stop.load(Ordering::Relaxed) {
            beat();
            let looked_ns = boottime_ns();
            // Before reading: what is asked meanwhile is for the next turn.
            let open = self.end_record.as_ref().and_then(EndRecord::take);
            self.drain(&mut buffer, &mut emit)?;
            if let Some(at_ns) = open {
                self.end_open_record(at_ns);
            }
            let pending = self.flush(looked_ns, &mut emit);
            let wait = match pending {
                true => FLUSH,
                false if self.since_progress > 0 => PROGRESS_EVERY,
                false => WAIT,
            };
            let asked = self.end_record.as_ref().map(EndRecord::as_fd);
            let fds = [Some(self.file.as_fd()), asked].into_iter().flatten();
            let mut fds: Vec<_> = fds
                .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
                .collect();
            let polled = rest(wait, |time| {
                poll(&mut fds, Timespec::try_from(time).ok().as_ref())
            });
            match polled {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.progress(&mut emit);
        Ok(())
    }

    /// Reads all that the log has now, once, and closes what is still open.
    ///
    /// # Errors
    ///
    /// What reading gives.
    pub fn read_once(&mut self, mut emit: impl FnMut(KmsgItem)) -> io::Result<()> {
        let mut buffer = vec![0; BUFFER];
        self.drain(&mut buffer, &mut emit)?;
        let mut out = Vec::new();
        self.decoder.flush(&mut out);
        self.pass_on(out, &mut emit);
        Ok(())
    }

    /// Logs a line if the record that was logged at `at_ns` is still open. Everything readable has been read.
    fn end_open_record(&self, at_ns: u64) {
        if self.newest_ns > at_ns.saturating_add(CLEARLY_LATER_NS) {
            return;
        }
        // Of level debug, which few consoles show: a slow one must not hold up whoever reads the log.
        let Some(path) = &self.path else {
            return;
        };
        if let Err(error) = write_record(path, 15, "gtrace: this line ends the one before it") {
            let path = path.display();
            tracing::debug!("an open record stays open, {path} takes no line: {error}");
        }
    }

    /// Reads all there is.
    fn drain(&mut self, buffer: &mut [u8], emit: &mut impl FnMut(KmsgItem)) -> io::Result<()> {
        loop {
            match self.file.read(buffer) {
                Ok(0) => break,
                Ok(len) => self.take(&buffer[..len], emit),
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                // Overwritten: the next read begins at the oldest record, and the gap in the
                // sequence numbers says how many are gone.
                Err(e) if e.raw_os_error() == Some(libc::EPIPE) => {}
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        if self.progress_at.elapsed() >= PROGRESS_EVERY {
            self.progress(emit);
        }
        Ok(())
    }

    fn take(&mut self, bytes: &[u8], emit: &mut impl FnMut(KmsgItem)) {
        let now_ns = boottime_ns();
        let record = match kmsg::parse(bytes) {
            Ok(record) => record,
            Err(error) => {
                tracing::debug!("{PATH}: {error}");
                emit(KmsgItem::Garbled);
                return;
            }
        };
        if self.after.is_some_and(|after| record.seq <= after) {
            return;
        }
        if let Some(expected) = self.next_seq.filter(|&expected| expected < record.seq) {
            emit(KmsgItem::Lost {
                first: expected,
                last: record.seq - 1,
            });
        }
        self.next_seq = Some(record.seq + 1);
        // Before it is decoded: one that cannot be must not be read again and again.
        self.position.set(record.seq);
        let history = match self.first_new {
            Some(first) => record.seq < first,
            None => self.clock.boottime_ns(record.timestamp_us) < self.started_ns,
        };
        if !history {
            self.clock.learn(record.timestamp_us, now_ns);
        }
        let mut out = Vec::new();
        self.decoder.feed(&record.log_record(), &mut out);
        self.last_feed_ns = now_ns;
        self.newest_ns = self.clock.boottime_ns(record.timestamp_us);
        self.pass_on(out, emit);
        emit(KmsgItem::Record {
            boottime_ns: self.newest_ns,
            line: KernelLine {
                level: record.level,
                facility: record.facility,
                seq: record.seq,
                text: record.text,
            },
        });
        self.since_progress += 1;
        if self.since_progress >= PROGRESS_RECORDS {
            self.progress(emit);
        }
    }

    fn pass_on(&self, out: Vec<Occurrence>, emit: &mut impl FnMut(KmsgItem)) {
        for mut occurrence in out {
            // The decoder gives the log's own clock.
            let stamp_us = occurrence.boottime_ns.map(|ns| ns / 1000);
            occurrence.boottime_ns = stamp_us.map(|us| self.clock.boottime_ns(us));
            emit(KmsgItem::Occurrence(Box::new(occurrence)));
        }
    }

    fn progress(&mut self, emit: &mut impl FnMut(KmsgItem)) {
        // A group that is still open could be lost if its first lines counted as dealt with.
        if self.since_progress == 0 || self.decoder.has_pending() {
            return;
        }
        if let Some(next) = self.next_seq {
            emit(KmsgItem::Progress {
                seq: next - 1,
                records: self.since_progress,
            });
            self.since_progress = 0;
            self.progress_at = Instant::now();
        }
    }

    /// Closes groups whose further lines did not come, when everything that was logged until `looked_ns` has been read;
    /// says whether something still waits.
    fn flush(&mut self, looked_ns: u64, emit: &mut impl FnMut(KmsgItem)) -> bool {
        if !self.decoder.has_pending() {
            return false;
        }
        let age = looked_ns.saturating_sub(self.last_feed_ns);
        if age < FLUSH.as_nanos() as u64 {
            return true;
        }
        let mut out = Vec::new();
        self.decoder.flush(&mut out);
        self.pass_on(out, emit);
        false
    }
}

/// The line that marks since when the log was watched.
fn announcement(version: &str) -> String {
    format!("gtrace {version}: watching the kernel log")
}

/// Writes `text` to the kernel log as one record of user facility and warning level.
///
/// The final newline matters: without it the kernel keeps the record open for a continuation, and
/// no reader of the log sees it before the next one (kernel/printk/printk_ringbuffer.c).
pub fn write_line(path: &Path, text: &str) -> io::Result<()> {
    write_record(path, 12, text)
}

/// The same of facility and level `priority`.
fn write_record(path: &Path, priority: u8, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(path)?;
    file.write_all(format!("<{priority}>{text}\n").as_bytes())
}
