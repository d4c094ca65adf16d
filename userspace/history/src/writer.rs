//! The one writer.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileExt, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::block::{Columns, coarsen};
use crate::directory::{self, SegmentName};
use crate::error::{HistoryError, Malformed};
use crate::frame::{HEADER, Header};
use crate::journal::{self, Journal};
use crate::retain::{ClockGuard, Segment, expired};
use crate::segment::{Entry, Index, Origin, put_block, put_definitions};
use crate::series::SeriesKey;
use crate::tier::{BLOCK_SPAN_MS, Options};
use crate::value::{Point, Value};

/// Samples that are older than the journal by less than this only come late; else the clock was set back, ms.
const LATE_MS: i64 = 60_000;

/// What was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Of which series.
    pub series: SeriesKey,
    /// Of the kind of the series.
    pub value: Value,
}

/// Samples of one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    /// ms since 1970 UTC.
    pub time_ms: i64,
    /// In any order.
    pub samples: Vec<Sample>,
}

/// What is not in the history, since the writer was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Samples of more series than [`Options::max_series`].
    pub series: u64,
    /// Samples that are infinite, NaN, or of another kind than their series.
    pub values: u64,
    /// Samples that could not be written, as on a full disk.
    pub unwritable: u64,
    /// Files of which the end, as a crash tears it, or all cannot be read; the end was cut off.
    pub torn: u64,
    /// Segments removed for want of room, before their age.
    pub segments: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// How much there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Of all files.
    pub bytes: u64,
    /// Segments.
    pub segments: u64,
    /// Series in the journal, hence of the last minutes.
    pub series: u64,
}

/// A segment that is written.
#[derive(Debug)]
struct Current {
    name: SegmentName,
    file: File,
    length: u64,
    numbers: HashMap<SeriesKey, u32>,
}

/// The right of this process to write a history, which ends with the last clone.
#[derive(Clone, Debug)]
pub struct WriterLock {
    dir: PathBuf,
    _file: Arc<File>,
}

impl WriterLock {
    /// Takes the right to write the history in `dir`, which is created where there is none.
    ///
    /// # Errors
    ///
    /// If another process has it, or the directory or the file in it cannot be created.
    pub fn take(dir: &Path) -> Result<Self, HistoryError> {
        // As the store beside it: who can open the file in it could hold the lock, and names of processes and pods are in the rest.
        let mut builder = fs::DirBuilder::new();
        let made = builder.recursive(true).mode(0o750).create(dir);
        made.map_err(HistoryError::at(dir))?;
        Ok(Self {
            dir: dir.to_owned(),
            _file: Arc::new(lock(dir)?),
        })
    }
}

/// Writes a history. Only one process at a time can.
#[derive(Debug)]
pub struct Writer {
    dir: PathBuf,
    options: Options,
    _lock: WriterLock,
    journal: Journal,
    /// Of each tier.
    current: Vec<Option<Current>>,
    segments: Vec<Segment>,
    clock: ClockGuard,
    dropped: Dropped,
    /// Span of the clock in which segments were last checked for their age.
    checked: Option<i64>,
}

impl Writer {
    /// Opens the history in `dir`, which is created where there is none. What a crash has torn is cut off and counted.
    ///
    /// # Errors
    ///
    /// If another process writes it, or files cannot be created, opened or written.
    pub fn open(dir: &Path, options: Options) -> Result<Self, HistoryError> {
        Self::open_locked(WriterLock::take(dir)?, options)
    }

    /// As [`Self::open`], where this process has the right to write already: a writer that hangs keeps its own. The one
    /// before must not write any more.
    ///
    /// # Errors
    ///
    /// If files cannot be created, opened or written.
    pub fn open_locked(lock: WriterLock, options: Options) -> Result<Self, HistoryError> {
        let dir = &lock.dir.clone();
        let mut dropped = Dropped::default();
        let path = dir.join(journal::NAME);
        let found = match File::open(&path) {
            // A bad sector costs the file that it is in, not the history.
            Ok(file) => journal::read(&file).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(HistoryError::at(&path)(error)),
        };
        // A journal that was begun is one whose samples are lost.
        let begun = found.is_none() && path.exists();
        dropped.torn += u64::from(begun || found.as_ref().is_some_and(|j| j.torn));
        let opened = Opened::read(dir, &options, found.as_ref().map(|j| j.generation))?;
        dropped.torn += opened.torn;
        let journal = match found {
            Some(contents) => Journal::reopen(dir, &contents)?,
            None => Journal::create(dir, opened.generation + 1)?,
        };
        let last_ms = opened.segments.iter().filter_map(|s| s.span_ms);
        Ok(Self {
            clock: ClockGuard::new(last_ms.map(|(_, last)| last).max()),
            dir: dir.to_owned(),
            options,
            _lock: lock,
            journal,
            current: opened.current,
            segments: opened.segments,
            dropped,
            checked: None,
        })
    }

    /// Appends samples to the journal. Those that cannot be kept are counted.
    ///
    /// # Errors
    ///
    /// If the journal cannot be written, or is full and no block can be made of it: none of the samples is in it.
    pub fn push(&mut self, batch: &Samples) -> Result<(), HistoryError> {
        let keep = |sample: &&Sample| {
            sample.value.is_finite()
                && sample.value.kind() == sample.series.kind
                && sample.series.fits()
        };
        let kept: Vec<_> = batch.samples.iter().filter(keep).collect();
        self.dropped.values += (batch.samples.len() - kept.len()) as u64;
        if self.is_due(batch.time_ms)
            && let Err(error) = self.flush(batch.time_ms)
            && self.journal.length >= self.options.journal_limit()
        {
            self.dropped.unwritable += kept.len() as u64;
            return Err(error);
        }
        let count = kept.len() as u64;
        let samples = kept
            .into_iter()
            .map(|sample| (sample.series.clone(), sample.value.clone()));
        let appended = self
            .journal
            .append(batch.time_ms, samples, self.options.max_series);
        match appended {
            Ok(refused) => self.dropped.series += refused.series,
            Err(error) => {
                self.dropped.unwritable += count;
                return Err(HistoryError::at(&self.dir.join(journal::NAME))(error));
            }
        }
        Ok(())
    }

    /// Whether a block is to be made of the journal before there are samples of `now_ms` in it. So a coarse bucket is
    /// hardly ever in two blocks.
    fn is_due(&self, now_ms: i64) -> bool {
        let span = |ms: i64| ms.div_euclid(BLOCK_SPAN_MS);
        let passed = |first| span(now_ms) > span(first) || now_ms.saturating_add(LATE_MS) < first;
        self.journal.length >= self.options.journal_bytes
            || self.journal.first_ms.is_some_and(passed)
    }

    /// Makes a block of the journal when that is due, and removes segments that are too old. To be called every few
    /// seconds.
    ///
    /// # Errors
    ///
    /// If files cannot be written or removed; the next call tries again.
    pub fn tick(&mut self, now_ms: i64) -> Result<(), HistoryError> {
        if self.is_due(now_ms) {
            self.flush(now_ms)?;
        }
        let span = now_ms.div_euclid(BLOCK_SPAN_MS);
        if self.checked != Some(span) {
            self.checked = Some(span);
            self.remove_expired(now_ms)?;
        }
        Ok(())
    }

    /// Makes a block of the journal now.
    ///
    /// # Errors
    ///
    /// If files cannot be written; the journal stays as it is then, and so do the segments.
    pub fn flush(&mut self, now_ms: i64) -> Result<(), HistoryError> {
        if self.journal.is_empty() {
            return Ok(());
        }
        self.find_again()?;
        let before: Vec<Option<(PathBuf, u64)>> = self
            .current
            .iter()
            .map(|current| {
                let current = current.as_ref()?;
                Some((current.name.path(&self.dir), current.length))
            })
            .collect();
        if let Err(error) = self.write_blocks() {
            self.undo(&before);
            return Err(error);
        }
        self.clock.note(now_ms);
        self.remove_expired(now_ms)
    }

    /// Somebody may have removed the directory or files in it, or have mounted another one there: what is written to files that are not
    /// at their place is lost. All is read anew then, except for the journal, which can be read all the same.
    fn find_again(&mut self) -> Result<(), HistoryError> {
        let dir = &self.dir;
        let is_there = |current: &Current| is_at(&current.file, &current.name.path(dir));
        let is_gone = dir.try_exists().is_ok_and(|there| !there);
        if !is_gone && self.current.iter().flatten().all(is_there) {
            return Ok(());
        }
        if is_gone {
            self._lock = WriterLock::take(dir)?;
        }
        let opened = Opened::read(dir, &self.options, None)?;
        (self.current, self.segments) = (opened.current, opened.segments);
        self.journal.come_after(opened.generation);
        Ok(())
    }

    /// What is not in the history.
    pub fn dropped(&self) -> Dropped {
        self.dropped
    }

    /// How much is in it.
    pub fn usage(&self) -> Usage {
        let segments: u64 = self.segments.iter().map(|segment| segment.bytes).sum();
        Usage {
            bytes: segments + self.journal.length,
            segments: self.segments.len() as u64,
            series: self.journal.series() as u64,
        }
    }

    fn write_blocks(&mut self) -> Result<(), HistoryError> {
        let path = self.dir.join(journal::NAME);
        let contents = self.journal.contents().map_err(HistoryError::at(&path))?;
        let mut series = contents.series;
        for (_, points) in &mut series {
            // A clock that is set back gives samples out of order.
            points.sort_by_key(|point| point.time_ms);
        }
        series.retain(|(_, points)| !points.is_empty());
        if !series.is_empty() {
            for tier in 0..self.options.tiers.len() {
                self.write_block(tier, contents.generation, &mut series)?;
            }
        }
        directory::sync(&self.dir).map_err(HistoryError::at(&self.dir))?;
        self.journal = Journal::create(&self.dir, contents.generation + 1)?;
        self.dropped.torn += u64::from(contents.torn);
        Ok(())
    }

    /// Makes `series` as coarse as the tier, and appends them to its segment.
    fn write_block(
        &mut self,
        tier: usize,
        generation: u64,
        series: &mut [(SeriesKey, Vec<Point>)],
    ) -> Result<(), HistoryError> {
        let Some(resolution_ms) = self.options.tiers.get(tier).map(|t| t.resolution_ms) else {
            return Ok(());
        };
        for (_, points) in &mut *series {
            *points = coarsen(std::mem::take(points), resolution_ms);
        }
        let times = || {
            series
                .iter()
                .flat_map(|(_, points)| points.iter().map(|p| p.time_ms))
        };
        let origin = Origin {
            generation,
            first_ms: times().min().unwrap_or_default(),
            last_ms: times().max().unwrap_or_default(),
        };
        self.ensure_current(tier, origin, series.len())?;
        let Some(current) = self.current.get_mut(tier).and_then(Option::as_mut) else {
            return Ok(());
        };
        let frames = current
            .frames(origin, series)
            .map_err(HistoryError::Encode)?;
        let path = current.name.path(&self.dir);
        let write = || {
            current.file.write_all_at(&frames, current.length)?;
            current.file.sync_data()
        };
        write().map_err(HistoryError::at(&path))?;
        current.length += frames.len() as u64;
        let name = current.name;
        let length = current.length;
        if let Some(segment) = self.segments.iter_mut().find(|s| s.name == name) {
            let (first, last) = segment.span_ms.unwrap_or((origin.first_ms, origin.last_ms));
            segment.span_ms = Some((first.min(origin.first_ms), last.max(origin.last_ms)));
            segment.bytes = length;
        }
        Ok(())
    }

    /// Begins a new segment where the current one should have no more blocks.
    fn ensure_current(
        &mut self,
        tier: usize,
        origin: Origin,
        series: usize,
    ) -> Result<(), HistoryError> {
        let (Some(of), Some(place)) = (self.options.tiers.get(tier), self.current.get_mut(tier))
        else {
            return Ok(());
        };
        let fits = |current: &Current| {
            let segment = self.segments.iter().find(|s| s.name == current.name);
            let span = segment.and_then(|s| s.span_ms);
            // A clock that was set back begins a segment too, so that each has times of one clock.
            let in_span = span.is_none_or(|(first, last)| {
                origin.last_ms.saturating_sub(first) <= of.segment_ms && origin.last_ms >= last
            });
            in_span
                && current.length < self.options.segment_limit()
                && current.numbers.len() + series <= 2 * self.options.max_series.max(series)
        };
        if place.as_ref().is_some_and(fits) {
            return Ok(());
        }
        let same = self
            .segments
            .iter()
            .filter(|s| s.name.resolution_ms == of.resolution_ms);
        let name = SegmentName {
            resolution_ms: of.resolution_ms,
            number: same.map(|s| s.name.number).max().unwrap_or(0) + 1,
        };
        let current = Current::create(&self.dir, name)?;
        self.segments.push(Segment {
            name,
            bytes: current.length,
            span_ms: None,
        });
        *place = Some(current);
        Ok(())
    }

    /// Takes back what was written of a block that not every tier has.
    fn undo(&mut self, before: &[Option<(PathBuf, u64)>]) {
        for (place, before) in self.current.iter_mut().zip(before) {
            let Some(current) = place.take() else {
                continue;
            };
            let path = current.name.path(&self.dir);
            let at = self.segments.iter().position(|s| s.name == current.name);
            // Neither takes room. Where it fails all the same, it is repeated when the history is opened.
            match before {
                Some((same, length)) if *same == path => {
                    let _ = current.file.set_len(*length);
                    if let Some(segment) = at.and_then(|at| self.segments.get_mut(at)) {
                        segment.bytes = *length;
                    }
                }
                _ => {
                    let _ = fs::remove_file(&path);
                    at.map(|at| self.segments.remove(at));
                }
            }
        }
    }

    fn remove_expired(&mut self, now_ms: i64) -> Result<(), HistoryError> {
        let current: Vec<SegmentName> = self
            .current
            .iter()
            .flatten()
            .map(|current| current.name)
            .collect();
        let gone = expired(&self.segments, &current, &self.options, &self.clock, now_ms);
        for name in gone {
            let bytes: u64 = self.segments.iter().map(|segment| segment.bytes).sum();
            let for_room = bytes > self.options.segment_bytes();
            let path = name.path(&self.dir);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(HistoryError::at(&path)(error));
                }
                _ => {}
            }
            let removed = self.segments.iter().position(|s| s.name == name);
            if let Some(removed) = removed.map(|at| self.segments.remove(at))
                && for_room
            {
                self.dropped.segments += 1;
                self.dropped.bytes += removed.bytes;
            }
        }
        Ok(())
    }
}

impl Current {
    fn create(dir: &Path, name: SegmentName) -> Result<Self, HistoryError> {
        let path = name.path(dir);
        let header = Header {
            resolution_ms: name.resolution_ms,
            generation: 0,
        };
        let create = || {
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(true)
                .open(&path)?;
            file.write_all_at(&header.bytes(), 0)?;
            Ok(file)
        };
        Ok(Self {
            name,
            file: create().map_err(HistoryError::at(&path))?,
            length: HEADER,
            numbers: HashMap::new(),
        })
    }

    /// The frames of a block, with definitions of the series that the file does not have yet.
    fn frames(
        &mut self,
        origin: Origin,
        series: &[(SeriesKey, Vec<Point>)],
    ) -> Result<Vec<u8>, Malformed> {
        let first = u32::try_from(self.numbers.len()).map_err(|_| Malformed::Range)?;
        let mut new = Vec::new();
        let mut columns = Vec::with_capacity(series.len());
        for (key, points) in series {
            let next = u32::try_from(self.numbers.len()).map_err(|_| Malformed::Range)?;
            let id = match self.numbers.get(key) {
                Some(id) => *id,
                None => {
                    self.numbers.insert(key.clone(), next);
                    new.push(key);
                    next
                }
            };
            columns.push(Columns {
                id,
                points: points.as_slice(),
            });
        }
        columns.sort_by_key(|columns| columns.id);
        let mut frames = Vec::new();
        if !new.is_empty() {
            put_definitions(&mut frames, origin, first, &new)?;
        }
        put_block(&mut frames, origin, &columns)?;
        Ok(frames)
    }
}

/// The segments of a directory, as a writer finds them.
#[derive(Debug)]
struct Opened {
    current: Vec<Option<Current>>,
    segments: Vec<Segment>,
    /// The highest of a block.
    generation: u64,
    torn: u64,
}

impl Opened {
    /// Cuts off what is torn, and blocks of the generation `unfinished`, whose journal is still there.
    fn read(dir: &Path, options: &Options, unfinished: Option<u64>) -> Result<Self, HistoryError> {
        let names = directory::segments(dir).map_err(HistoryError::at(dir))?;
        let mut opened = Self {
            current: options.tiers.iter().map(|_| None).collect(),
            segments: Vec::new(),
            generation: 0,
            torn: 0,
        };
        let newest = |name: &SegmentName| {
            let same = names
                .iter()
                .filter(|n| n.resolution_ms == name.resolution_ms);
            same.map(|n| n.number).max() == Some(name.number)
        };
        for name in names.iter().copied() {
            let path = name.path(dir);
            // Only the newest can have been torn; what is wrong with others may be of the disk, and is only passed over.
            let cut = newest(&name).then_some(Cut { unfinished });
            opened
                .read_segment(name, &path, options, cut)
                .map_err(HistoryError::at(&path))?;
        }
        Ok(opened)
    }

    fn read_segment(
        &mut self,
        name: SegmentName,
        path: &Path,
        options: &Options,
        cut: Option<Cut>,
    ) -> io::Result<()> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        let index = Index::read(&file).unwrap_or_default();
        let index = index.filter(|i| i.resolution_ms == name.resolution_ms);
        let Some(mut index) = index else {
            // Not even its header was written, it is no file of a history, or it has a bad sector: it ages and goes as any other.
            self.torn += 1;
            let bytes = file.metadata()?.len();
            self.segments.push(Segment {
                name,
                bytes,
                span_ms: None,
            });
            return Ok(());
        };
        if let Some(cut) = cut {
            self.torn += u64::from(index.torn);
            cut.apply(&file, &mut index)?;
        }
        let bytes = file.metadata()?.len();
        let newest = index.entries.iter().map(|entry| entry.head.generation);
        self.generation = newest.fold(self.generation, u64::max);
        let heads = || index.blocks().map(|entry| entry.head);
        let span_ms = heads()
            .map(|head| head.first_ms)
            .min()
            .zip(heads().map(|head| head.last_ms).max());
        self.segments.push(Segment {
            name,
            bytes,
            span_ms,
        });
        let tier = options
            .tiers
            .iter()
            .position(|tier| tier.resolution_ms == name.resolution_ms);
        if let Some(place) = tier.and_then(|tier| self.current.get_mut(tier)) {
            // Names ascend, so the last one stays.
            *place = continued(name, file, &index).unwrap_or_default();
        }
        Ok(())
    }
}

/// What is cut off the end of a segment.
#[derive(Clone, Copy)]
struct Cut {
    /// Blocks of this generation: its journal is still there.
    unfinished: Option<u64>,
}

impl Cut {
    fn apply(self, file: &File, index: &mut Index) -> io::Result<()> {
        let is_unfinished = |entry: &Entry| Some(entry.head.generation) == self.unfinished;
        if let Some(at) = index.entries.iter().position(is_unfinished) {
            index.end = index
                .entries
                .get(at)
                .map_or(index.end, |entry| entry.frame.at);
            index.entries.truncate(at);
        }
        if index.end < file.metadata()?.len() {
            file.set_len(index.end)?;
        }
        Ok(())
    }
}

/// A segment that can have more blocks: all its series are known.
fn continued(name: SegmentName, file: File, index: &Index) -> io::Result<Option<Current>> {
    let mut series = BTreeMap::new();
    for entry in index.entries.iter().filter(|entry| !entry.head.is_block) {
        if entry.define(&file, &mut series)?.is_err() {
            return Ok(None);
        }
    }
    // Numbers are given in order; a gap is a definition that was lost.
    let whole = index.damaged == 0 && series.keys().copied().eq(0..series.len() as u32);
    let numbers = series.into_iter().map(|(id, key)| (key, id)).collect();
    Ok(whole.then_some(Current {
        name,
        file,
        length: index.end,
        numbers,
    }))
}

/// Whether `file` is the one at `path`, as far as that can be found out.
fn is_at(file: &File, path: &Path) -> bool {
    let id = |found: fs::Metadata| (found.dev(), found.ino());
    match (file.metadata().map(id), fs::metadata(path).map(id)) {
        (Ok(written), Ok(found)) => written == found,
        (_, Err(error)) => error.kind() != io::ErrorKind::NotFound,
        (Err(_), Ok(_)) => true,
    }
}

fn lock(dir: &Path) -> Result<File, HistoryError> {
    let path = dir.join("lock");
    let file = File::create(&path).map_err(HistoryError::at(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(HistoryError::Locked {
            dir: dir.to_owned(),
        }),
        Err(TryLockError::Error(cause)) => Err(HistoryError::at(&path)(cause)),
    }
}
