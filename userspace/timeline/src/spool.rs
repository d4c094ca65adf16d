//! Calls that were taken from the rings, on disk until the trace is written: the clock is known best at the
//! end.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read as _, Seek as _, Write as _};
use std::path::Path;

use anyhow::Context as _;
use gtrace_recording::layout::Event;

/// Calls in the order in which they were taken.
pub struct Spool {
    file: BufWriter<File>,
    kept: u64,
    most: u64,
    dropped: u64,
}

impl Spool {
    /// A file without a name, on the disk of `beside`, for at most `most` calls.
    ///
    /// # Errors
    ///
    /// It cannot be made there.
    pub fn new(beside: &Path, most: u64) -> anyhow::Result<Self> {
        let folder = beside
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let file = tempfile::tempfile_in(folder)
            .with_context(|| format!("a file in {}", folder.display()))?;
        Ok(Self {
            file: BufWriter::with_capacity(1 << 20, file),
            kept: 0,
            most,
            dropped: 0,
        })
    }

    /// Keeps a call of a process, which goes by its place in the collector's list.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn push(&mut self, process: u32, event: &Event) -> std::io::Result<()> {
        if self.kept >= self.most {
            self.dropped += 1;
            return Ok(());
        }
        self.kept += 1;
        self.file.write_all(&process.to_le_bytes())?;
        self.file.write_all(&event.to_bytes())
    }

    /// Calls that are not kept, as there are too many.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// All calls that were kept.
    pub(crate) fn read(
        self,
        mut take: impl FnMut(u32, Event) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut file = self.file.into_inner().map_err(|error| error.into_error())?;
        file.rewind()?;
        let mut file = BufReader::with_capacity(1 << 20, file);
        let (mut process, mut event) = ([0; 4], [0; 64]);
        for _ in 0..self.kept {
            file.read_exact(&mut process)?;
            file.read_exact(&mut event)?;
            take(u32::from_le_bytes(process), Event::from_bytes(&event))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_calls_are_kept_and_the_others_counted() {
        let dir = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(&dir.path().join("x.pftrace"), 2).unwrap();
        let event = |start| Event {
            start,
            ..Event::default()
        };
        for start in 0..5 {
            spool.push(7, &event(start)).unwrap();
        }
        assert_eq!(spool.dropped(), 3);
        let mut seen = Vec::new();
        spool
            .read(|process, event| {
                seen.push((process, event.start));
                Ok(())
            })
            .unwrap();
        assert_eq!(seen, [(7, 0), (7, 1)]);
    }
}
