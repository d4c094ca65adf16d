//! What kernels print.
//!
//! The driver writes the output of a kernel's `printf` to this process's standard output, and a failed `assert`
//! to standard error, in the calls that CUDA names as the points of it: those that synchronise. Both
//! are pipes here. A thread takes from them what comes, so that the driver never waits for room, and the lane
//! whose call has synchronised sends all that is there before the call's answer.

// The C library's buffers are flushed.
#![allow(unsafe_code)]

use std::fs::File;
use std::io::{self, Read as _, Write};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gtrace_protocol::Stream;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use tracing::{debug, warn};

/// Bytes that are kept of each stream until a call synchronises. CUDA's own buffer on the device has 1 MiB unless
/// the program sets CU_LIMIT_PRINTF_FIFO_SIZE.
const KEPT_MAX: usize = 16 << 20;
/// Bytes that are read at a time.
const PIECE: usize = 64 << 10;

/// Standard error as it was when the process began, for the log.
static LOG: OnceLock<File> = OnceLock::new();

/// Where a worker writes its log: standard error as it was when the process began, and not where the driver's
/// messages go.
#[derive(Clone, Copy, Debug, Default)]
pub struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match LOG.get() {
            Some(mut file) => file.write(bytes),
            None => io::stderr().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// One of both streams.
struct Source {
    stream: Stream,
    /// The end that is read, which does not block.
    pipe: File,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    text: Vec<u8>,
    /// Bytes that there was no room for, since they were last reported.
    dropped: u64,
}

/// What was printed and not yet reported.
pub(crate) struct Output {
    sources: [Source; 2],
    /// The client knows that kernels may print.
    announced: AtomicBool,
    /// Kernels may print, or something was printed.
    possible: AtomicBool,
    /// Bytes that there was no room for, in all.
    dropped: AtomicU64,
}

/// Text of a stream, and how many bytes before it were dropped.
pub(crate) type Printed = (Stream, u64, Vec<u8>);

impl Source {
    /// Takes all that is in the pipe. Whoever comes first takes it: what was written before this call
    /// is kept after it.
    fn take_in(&self, dropped: &AtomicU64) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mut piece = [0; PIECE];
        loop {
            let len = match (&self.pipe).read(&mut piece) {
                Ok(0) => return,
                Ok(len) => len,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // Nothing more is there.
                Err(_) => return,
            };
            if self.stream == Stream::Error {
                debug!("driver: {}", String::from_utf8_lossy(&piece[..len]));
            }
            let room = KEPT_MAX.saturating_sub(kept.text.len()).min(len);
            kept.text.extend_from_slice(&piece[..room]);
            kept.dropped += (len - room) as u64;
            dropped.fetch_add((len - room) as u64, Ordering::Relaxed);
        }
    }

    fn has_some(&self) -> bool {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        !kept.text.is_empty() || kept.dropped > 0
    }

    fn hand_out(&self) -> Option<Printed> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let Kept { text, dropped } = std::mem::take(&mut *kept);
        (!text.is_empty() || dropped > 0).then_some((self.stream, dropped, text))
    }
}

impl Output {
    /// Puts pipes in the places of standard output and standard error. The log goes where it went.
    ///
    /// # Errors
    ///
    /// Those of the system: no descriptors, no thread.
    pub(crate) fn capture() -> io::Result<Arc<Self>> {
        let error = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stderr(), 3)?;
        let _ = LOG.set(error.into());
        // What a panic says is for the log too.
        std::panic::set_hook(Box::new(|panic| {
            let trace = std::backtrace::Backtrace::capture();
            let _ = writeln!(Log, "{panic}\n{trace}");
        }));
        let output = Arc::new(Self {
            sources: [
                source(Stream::Output, |fd| Ok(rustix::stdio::dup2_stdout(fd)?))?,
                source(Stream::Error, |fd| Ok(rustix::stdio::dup2_stderr(fd)?))?,
            ],
            announced: AtomicBool::new(false),
            possible: AtomicBool::new(false),
            dropped: AtomicU64::new(0),
        });
        let reader = Arc::clone(&output);
        std::thread::Builder::new()
            .name("gtrace-output".into())
            .spawn(move || reader.read_on())?;
        Ok(output)
    }

    /// Takes in what comes, for as long as the process lives.
    fn read_on(&self) {
        let [out, error] = &self.sources;
        loop {
            let mut fds = [
                PollFd::new(&out.pipe, PollFlags::IN),
                PollFd::new(&error.pipe, PollFlags::IN),
            ];
            match poll(&mut fds, None) {
                Ok(_) => {
                    self.expect();
                    self.sources.iter().for_each(|it| it.take_in(&self.dropped));
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => {
                    warn!("what kernels print cannot be read any more: {error}");
                    return;
                }
            }
        }
    }

    /// Whether something can have been printed: a check that costs nothing, for calls that wait. Where no kernel
    /// is known to print, what comes all the same is reported once the thread that reads has seen it.
    pub(crate) fn is_possible(&self) -> bool {
        self.possible.load(Ordering::Relaxed)
    }

    /// From now on something may be printed.
    pub(crate) fn expect(&self) {
        self.possible.store(true, Ordering::Relaxed);
    }

    /// Whether something was printed up to now.
    pub(crate) fn is_there(&self) -> bool {
        if !self.is_possible() {
            return false;
        }
        // SAFETY: null means all streams of the C library, each of which it locks.
        unsafe { libc::fflush(std::ptr::null_mut()) };
        let mut found = false;
        for source in &self.sources {
            source.take_in(&self.dropped);
            found |= source.has_some();
        }
        found
    }

    /// What was printed up to now, to be sent to the client.
    pub(crate) fn take(&self) -> impl Iterator<Item = Printed> + '_ {
        let there = self.is_there();
        let sources = self.sources.iter().filter(move |_| there);
        sources.filter_map(Source::hand_out)
    }

    /// True once: the client is to be notified that kernels may print.
    pub(crate) fn announce(&self) -> bool {
        !self.announced.swap(true, Ordering::Relaxed)
    }

    /// Bytes that there was no room for, in all.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

fn source(stream: Stream, put: impl FnOnce(&OwnedFd) -> io::Result<()>) -> io::Result<Source> {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
    rustix::fs::fcntl_setfl(&read, rustix::fs::OFlags::NONBLOCK)?;
    put(&write)?;
    Ok(Source {
        stream,
        pipe: read.into(),
        kept: Mutex::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream whose writing end is kept here.
    fn stream() -> (Source, File) {
        let mut end = None;
        let source = source(Stream::Output, |write| {
            end = Some(write.try_clone()?);
            Ok(())
        });
        (source.unwrap(), end.unwrap().into())
    }

    #[test]
    fn what_was_written_before_is_handed_out() {
        let (source, mut end) = stream();
        let dropped = AtomicU64::new(0);
        source.take_in(&dropped);
        assert!(source.hand_out().is_none());
        end.write_all(b"one").unwrap();
        source.take_in(&dropped);
        end.write_all(b" two").unwrap();
        source.take_in(&dropped);
        let printed = source.hand_out().unwrap();
        assert_eq!(printed, (Stream::Output, 0, b"one two".to_vec()));
        assert!(source.hand_out().is_none());
    }

    #[test]
    fn what_there_is_no_room_for_is_counted() {
        let (source, mut end) = stream();
        let dropped = AtomicU64::new(0);
        source.kept.lock().unwrap().text = vec![b'x'; KEPT_MAX - 2];
        end.write_all(b"four").unwrap();
        source.take_in(&dropped);
        let (_, lost, text) = source.hand_out().unwrap();
        assert_eq!((lost, text.len()), (2, KEPT_MAX));
        assert!(text.ends_with(b"xfo"));
        assert_eq!(dropped.load(Ordering::Relaxed), 2);
    }
}
