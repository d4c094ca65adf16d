//! Calls that were taken from the rings, on disk until the trace is written: the clock is known best at the
//! end.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use gtrace_recording::layout::Event;

/// Bytes of a call here: the number of its process, then the call.
const BYTES: usize = 4 + 64;

/// Calls in the order in which they were taken: the first ones, or the newest.
pub struct Spool {
    /// What is written to now.
    newest: Segment,
    /// What was written before, where the newest calls are kept.
    older: Option<Segment>,
    window: Option<Duration>,
    most: u64,
    dropped: u64,
}

/// A file without a name.
struct Segment {
    file: BufWriter<File>,
    kept: u64,
    begun: Instant,
}

impl Segment {
    fn new(beside: &Path) -> anyhow::Result<Self> {
        let folder = beside
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let file = tempfile::tempfile_in(folder)
            .with_context(|| format!("a file in {}", folder.display()))?;
        Ok(Self {
            file: BufWriter::with_capacity(1 << 20, file),
            kept: 0,
            begun: Instant::now(),
        })
    }

    fn empty(&mut self) -> std::io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().set_len(0)?;
        std::io::Seek::rewind(self.file.get_mut())?;
        self.kept = 0;
        self.begun = Instant::now();
        Ok(())
    }

    /// Reads all but the first `skip`.
    fn read(
        &mut self,
        skip: u64,
        take: &mut impl FnMut(u32, Event) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        self.file.flush()?;
        // By position, as what comes later is still written at the end.
        let at = At(self.file.get_ref(), skip.saturating_mul(BYTES as u64));
        let mut file = BufReader::with_capacity(1 << 20, at);
        let (mut process, mut event) = ([0; 4], [0; 64]);
        for _ in skip..self.kept {
            std::io::Read::read_exact(&mut file, &mut process)?;
            std::io::Read::read_exact(&mut file, &mut event)?;
            take(u32::from_le_bytes(process), Event::from_bytes(&event))?;
        }
        Ok(())
    }
}

/// A file that is read from a position of its own.
struct At<'a>(&'a File, u64);

impl std::io::Read for At<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let read = self.0.read_at(into, self.1)?;
        self.1 += read as u64;
        Ok(read)
    }
}

impl Spool {
    /// Keeps the first `most` calls, in a file without a name on the disk of `beside`.
    ///
    /// # Errors
    ///
    /// It cannot be made there.
    pub fn new(beside: &Path, most: u64) -> anyhow::Result<Self> {
        Ok(Self {
            newest: Segment::new(beside)?,
            older: None,
            window: None,
            most,
            dropped: 0,
        })
    }

    /// Keeps the calls of the last `window`, and `most` of them at least if there were as many: on disk there are
    /// those of twice that time, or twice as many, at most.
    ///
    /// # Errors
    ///
    /// The files cannot be made on the disk of `beside`.
    pub fn ring(beside: &Path, window: Duration, most: u64) -> anyhow::Result<Self> {
        Ok(Self {
            older: Some(Segment::new(beside)?),
            window: Some(window),
            ..Self::new(beside, most)?
        })
    }

    /// How much of the past is kept; `None` where all of it is.
    pub fn window(&self) -> Option<Duration> {
        self.window
    }

    /// Keeps a call of a process, which goes by its place in the collector's list.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn push(&mut self, process: u32, event: &Event) -> std::io::Result<()> {
        if self.newest.kept >= self.most {
            if self.older.is_none() {
                self.dropped += 1;
                return Ok(());
            }
            self.turn()?;
        }
        self.newest.kept += 1;
        let mut bytes = [0; BYTES];
        bytes[..4].copy_from_slice(&process.to_le_bytes());
        bytes[4..].copy_from_slice(&event.to_bytes());
        self.newest.file.write_all(&bytes)
    }

    /// Lets calls go that are older than the window. To be called every now and then, where there is one.
    ///
    /// # Errors
    ///
    /// The files cannot be written.
    pub fn age(&mut self) -> std::io::Result<()> {
        match self.window {
            Some(window) if self.newest.begun.elapsed() >= window => self.turn(),
            _ => Ok(()),
        }
    }

    /// The older calls go, and the newer ones are the older ones from now on.
    fn turn(&mut self) -> std::io::Result<()> {
        let Some(older) = &mut self.older else {
            return Ok(());
        };
        // Those that go for their age are not missed.
        if self.newest.begun.elapsed() < self.window.unwrap_or_default() {
            self.dropped += older.kept;
        }
        std::mem::swap(&mut self.newest, older);
        self.newest.empty()
    }

    /// Whether calls that come now are not kept.
    pub fn is_full(&self) -> bool {
        self.older.is_none() && self.newest.kept >= self.most
    }

    /// Calls that are not kept, as there are too many.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The newest `most` of the calls that are kept, the oldest first. More can be kept after it.
    pub(crate) fn read(
        &mut self,
        most: u64,
        mut take: impl FnMut(u32, Event) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let of_older = most.saturating_sub(self.newest.kept);
        if let Some(older) = &mut self.older {
            older.read(older.kept.saturating_sub(of_older), &mut take)?;
        }
        self.newest
            .read(self.newest.kept.saturating_sub(most), &mut take)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(spool: &mut Spool, starts: std::ops::Range<u64>) {
        for start in starts {
            let event = Event {
                start,
                ..Event::default()
            };
            spool.push(7, &event).unwrap();
        }
    }

    fn starts(spool: &mut Spool) -> Vec<u64> {
        newest(spool, u64::MAX)
    }

    fn newest(spool: &mut Spool, most: u64) -> Vec<u64> {
        let mut seen = Vec::new();
        spool
            .read(most, |process, event| {
                assert_eq!(process, 7);
                seen.push(event.start);
                Ok(())
            })
            .unwrap();
        seen
    }

    #[test]
    fn the_first_calls_are_kept_and_the_others_counted() {
        let dir = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(&dir.path().join("x.pftrace"), 2).unwrap();
        push(&mut spool, 0..5);
        assert_eq!(spool.dropped(), 3);
        assert_eq!(starts(&mut spool), [0, 1]);
    }

    #[test]
    fn a_ring_keeps_the_newest_and_goes_on_after_it_was_read() {
        let dir = tempfile::tempdir().unwrap();
        let beside = dir.path().join("x.pftrace");
        let mut spool = Spool::ring(&beside, Duration::from_secs(3600), 4).unwrap();
        push(&mut spool, 0..11);
        assert_eq!(starts(&mut spool), (4..11).collect::<Vec<_>>());
        assert_eq!(spool.dropped(), 4);
        push(&mut spool, 11..13);
        assert_eq!(starts(&mut spool), (8..13).collect::<Vec<_>>());
        assert_eq!(newest(&mut spool, 3), [10, 11, 12]);
        assert_eq!(newest(&mut spool, 1), [12]);
    }

    #[test]
    fn what_goes_for_its_age_is_not_missed() {
        let dir = tempfile::tempdir().unwrap();
        let mut spool = Spool::ring(&dir.path().join("x"), Duration::ZERO, 100).unwrap();
        for begin in 0..4 {
            push(&mut spool, begin * 10..begin * 10 + 10);
            spool.age().unwrap();
        }
        assert_eq!(starts(&mut spool), (30..40).collect::<Vec<_>>());
        assert_eq!(spool.dropped(), 0);
    }
}
