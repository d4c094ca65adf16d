//! Queries.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::directory::{self, SegmentName};
use crate::error::HistoryError;
use crate::journal;
use crate::segment::{Entry, Index};
use crate::series::{Labels, SeriesKey};
use crate::value::{Kind, Point};

/// The finest resolution, ms.
const FINEST_MS: i64 = 1000;

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Names of metrics; none for all.
    pub metrics: Vec<String>,
    /// Labels that a series must have, by name and value.
    pub labels: Labels,
    /// From this time on, ms.
    pub since_ms: i64,
    /// To before this time, ms.
    pub until_ms: i64,
    /// Length of a bucket, ms; `None` for the finest that there is.
    pub step_ms: Option<i64>,
    /// Most points in all. Where there are more, the step is doubled until there are not.
    pub max_points: usize,
}

/// A series with its points.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Name of the metric.
    pub metric: String,
    /// Its unit, or "".
    pub unit: String,
    /// What its values are.
    pub kind: Kind,
    /// Ascending by name.
    pub labels: Labels,
    /// Ascending by time.
    pub points: Vec<Point>,
}

/// What could not be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Blocks and files that are damaged.
    pub damaged: u64,
    /// Series beyond the most points: even one point of each would be more.
    pub series: u64,
}

/// An answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Ascending by metric and labels.
    pub series: Vec<Series>,
    /// Length of a bucket, ms: that of the query or a longer one. Where only a coarser resolution is left, points are
    /// further apart.
    pub step_ms: i64,
    /// What is not in it.
    pub skipped: Skipped,
}

/// A metric that there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricRange {
    /// Its name.
    pub metric: String,
    /// Its unit, or "".
    pub unit: String,
    /// What its values are.
    pub kind: Kind,
    /// How many series.
    pub series: u64,
    /// Time of the first sample of the oldest file that has it, ms.
    pub since_ms: i64,
    /// Time of the last sample of the newest file that has it, ms.
    pub until_ms: i64,
}

/// Reads a history, also while it is written. It holds no file open between queries.
#[derive(Clone, Debug)]
pub struct Reader {
    dir: PathBuf,
}

impl Reader {
    /// The history in `dir`.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or there is none ([`HistoryError::is_absent`]).
    pub fn open(dir: &Path) -> Result<Self, HistoryError> {
        directory::segments(dir).map_err(HistoryError::at(dir))?;
        Ok(Self {
            dir: dir.to_owned(),
        })
    }

    /// The points of a range.
    ///
    /// # Errors
    ///
    /// If files cannot be read. What is damaged is passed over and counted.
    pub fn query(&self, query: &Query) -> Result<Found, HistoryError> {
        self.query_where(query, |_| true)
    }

    /// The points of a range, of the series that also `matches`.
    ///
    /// # Errors
    ///
    /// As [`Self::query`].
    pub fn query_where(
        &self,
        query: &Query,
        matches: impl Fn(&SeriesKey) -> bool,
    ) -> Result<Found, HistoryError> {
        let mut collected = Collected::new(query, &matches);
        let journal = self.journal()?;
        let mut used = Used {
            before: journal.as_ref().map_or(u64::MAX, |j| j.generation),
            generations: HashSet::new(),
        };
        let step_ms = query.step_ms.unwrap_or(FINEST_MS);
        for name in self.in_order_of_use(step_ms)? {
            let Some((file, index)) = self.segment(name, &mut collected.skipped)? else {
                continue;
            };
            collected.take_segment(&file, &index, &mut used);
        }
        for (key, points) in journal.into_iter().flat_map(|journal| journal.series) {
            if collected.wants(&key) {
                collected.take(&key, points, 1);
            }
        }
        Ok(collected.found())
    }

    /// The metrics of the series that `matches`, ascending by name.
    ///
    /// # Errors
    ///
    /// If files cannot be read.
    pub fn metrics(
        &self,
        matches: impl Fn(&SeriesKey) -> bool,
    ) -> Result<Vec<MetricRange>, HistoryError> {
        let mut ranges = Ranges::default();
        if let Some(journal) = self.journal()? {
            for (key, points) in journal.series.into_iter().filter(|(key, _)| matches(key)) {
                for time in points.iter().map(|point| point.time_ms) {
                    ranges.add(&key, (time, time));
                }
            }
        }
        let mut skipped = Skipped::default();
        for name in directory::segments(&self.dir).map_err(HistoryError::at(&self.dir))? {
            let Some((file, index)) = self.segment(name, &mut skipped)? else {
                continue;
            };
            let heads = || index.blocks().map(|entry| entry.head);
            let first = heads().map(|head| head.first_ms).min();
            let Some(span) = first.zip(heads().map(|head| head.last_ms).max()) else {
                continue;
            };
            let mut series = BTreeMap::new();
            for entry in index.entries.iter().filter(|entry| !entry.head.is_block) {
                // What a damaged frame defines is not known.
                let _ = entry.define(&file, &mut series);
            }
            for key in series.values().filter(|key| matches(key)) {
                ranges.add(key, span);
            }
        }
        Ok(ranges.found())
    }

    /// The journal. It is read before the segments: what goes over to them meanwhile is found in both, and known by
    /// its generation, which is not below that of the journal.
    fn journal(&self) -> Result<Option<journal::Contents>, HistoryError> {
        let path = self.dir.join(journal::NAME);
        match File::open(&path).and_then(|file| journal::read(&file)) {
            Ok(contents) => Ok(contents),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(HistoryError::at(&path)(error)),
        }
    }

    /// The segments: first of the coarsest resolution that is within the step, then of coarser ones, which go back
    /// further, then of finer ones.
    fn in_order_of_use(&self, step_ms: i64) -> Result<Vec<SegmentName>, HistoryError> {
        let mut names = directory::segments(&self.dir).map_err(HistoryError::at(&self.dir))?;
        let within = |name: &SegmentName| i64::from(name.resolution_ms) <= step_ms;
        let best = names
            .iter()
            .filter(|name| within(name))
            .map(|name| name.resolution_ms)
            .max();
        let best = best.unwrap_or(0);
        names.sort_by_key(|name| {
            let resolution = name.resolution_ms;
            let finer = resolution < best;
            (
                finer,
                if finer {
                    u32::MAX - resolution
                } else {
                    resolution
                },
                name.number,
            )
        });
        Ok(names)
    }

    /// A segment with its index; `None` where it was removed meanwhile, is none, or cannot be read.
    fn segment(
        &self,
        name: SegmentName,
        skipped: &mut Skipped,
    ) -> Result<Option<(File, Index)>, HistoryError> {
        let path = name.path(&self.dir);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(HistoryError::at(&path)(error)),
        };
        match Index::read(&file) {
            Ok(Some(index)) if index.resolution_ms == name.resolution_ms => Ok(Some((file, index))),
            Ok(_) => {
                // One that the writer has just created may lack its header.
                let begun = file.metadata().is_ok_and(|m| m.len() == 0);
                skipped.damaged += u64::from(!begun);
                Ok(None)
            }
            // The writer has cut it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            // A bad sector, for example.
            Err(_) => {
                skipped.damaged += 1;
                Ok(None)
            }
        }
    }
}

/// The journals whose blocks a query takes no more.
struct Used {
    /// The journal that was read itself, and those after it, which came meanwhile.
    before: u64,
    generations: HashSet<u64>,
}

impl Used {
    fn has(&self, generation: u64) -> bool {
        generation >= self.before || self.generations.contains(&generation)
    }
}

/// The points of a query, merged as they come.
struct Collected<'a> {
    query: &'a Query,
    matches: &'a dyn Fn(&SeriesKey) -> bool,
    step_ms: i64,
    series: BTreeMap<SeriesKey, BTreeMap<i64, Point>>,
    points: usize,
    refused: HashSet<SeriesKey>,
    skipped: Skipped,
}

impl<'a> Collected<'a> {
    fn new(query: &'a Query, matches: &'a dyn Fn(&SeriesKey) -> bool) -> Self {
        Self {
            query,
            matches,
            step_ms: query.step_ms.unwrap_or(FINEST_MS).max(1),
            series: BTreeMap::new(),
            points: 0,
            refused: HashSet::new(),
            skipped: Skipped::default(),
        }
    }

    fn wants(&self, key: &SeriesKey) -> bool {
        let metrics = &self.query.metrics;
        let label = |(name, value): &(String, String)| key.label(name) == Some(value);
        (metrics.is_empty() || metrics.contains(&key.metric))
            && self.query.labels.iter().all(label)
            && (self.matches)(key)
    }

    fn overlaps(&self, entry: &Entry) -> bool {
        entry.head.first_ms < self.query.until_ms && entry.head.last_ms >= self.query.since_ms
    }

    /// Takes the blocks of generations that are not `used` yet.
    fn take_segment(&mut self, file: &File, index: &Index, used: &mut Used) {
        self.skipped.damaged += index.damaged;
        let wanted = |entry: &&Entry| self.overlaps(entry) && !used.has(entry.head.generation);
        let blocks: Vec<Entry> = index.blocks().filter(wanted).copied().collect();
        if blocks.is_empty() {
            return;
        }
        let mut series = BTreeMap::new();
        for entry in index.entries.iter().filter(|entry| !entry.head.is_block) {
            let defined = entry.define(file, &mut series);
            self.skipped.damaged += u64::from(!matches!(defined, Ok(Ok(()))));
        }
        for block in blocks {
            let Ok(Ok(columns)) = block.points(file, &series, |key| self.wants(key)) else {
                // A coarser resolution may still have it.
                self.skipped.damaged += 1;
                continue;
            };
            used.generations.insert(block.head.generation);
            for column in columns {
                if let Some(key) = series.get(&column.id) {
                    self.take(key, column.points, index.resolution_ms);
                }
            }
        }
    }

    /// Merges points of buckets of `resolution_ms`. A bucket that a block's end has cut is one again.
    fn take(&mut self, key: &SeriesKey, points: Vec<Point>, resolution_ms: u32) {
        let range = self.query.since_ms..self.query.until_ms;
        let points = points
            .into_iter()
            .filter(|point| range.contains(&point.time_ms));
        let mut points = points.peekable();
        if points.peek().is_none() {
            return;
        }
        if !self.series.contains_key(key) {
            if self.series.len() >= self.query.max_points {
                self.refused.insert(key.clone());
                return;
            }
            self.series.insert(key.clone(), BTreeMap::new());
        }
        for point in points {
            let Some(buckets) = self.series.get_mut(key) else {
                return;
            };
            let bucket = start_of(point.time_ms, i64::from(resolution_ms));
            self.points += usize::from(add(buckets, start_of(bucket, self.step_ms), point));
            while self.points > self.query.max_points && self.halve() {}
        }
    }

    /// Doubles the step; false where that is of no use, as each series has one point.
    fn halve(&mut self) -> bool {
        if self.points <= self.series.len() || self.step_ms > i64::MAX / 2 {
            return false;
        }
        self.step_ms *= 2;
        self.points = 0;
        for buckets in self.series.values_mut() {
            for (bucket, point) in std::mem::take(buckets) {
                let bucket = start_of(bucket, self.step_ms);
                self.points += usize::from(add(buckets, bucket, point));
            }
        }
        true
    }

    fn found(mut self) -> Found {
        self.skipped.series = self.refused.len() as u64;
        let series = self.series.into_iter().map(|(key, points)| Series {
            metric: key.metric,
            unit: key.unit,
            kind: key.kind,
            labels: key.labels,
            points: points.into_values().collect(),
        });
        Found {
            series: series.collect(),
            step_ms: self.step_ms,
            skipped: self.skipped,
        }
    }
}

/// When the bucket begins that `time_ms` is in.
fn start_of(time_ms: i64, length_ms: i64) -> i64 {
    let length = length_ms.max(1);
    time_ms.div_euclid(length).saturating_mul(length)
}

/// Whether `point` is the first of its bucket.
fn add(buckets: &mut BTreeMap<i64, Point>, bucket: i64, point: Point) -> bool {
    match buckets.entry(bucket) {
        std::collections::btree_map::Entry::Occupied(mut before) => {
            before.get_mut().merge(point);
            false
        }
        std::collections::btree_map::Entry::Vacant(place) => {
            place.insert(point);
            true
        }
    }
}

#[derive(Default)]
struct Ranges(BTreeMap<(String, Kind), (MetricRange, HashSet<SeriesKey>)>);

impl Ranges {
    fn add(&mut self, key: &SeriesKey, (first, last): (i64, i64)) {
        let place = (key.metric.clone(), key.kind);
        let (range, series) = self.0.entry(place).or_insert_with(|| {
            let range = MetricRange {
                metric: key.metric.clone(),
                unit: key.unit.clone(),
                kind: key.kind,
                series: 0,
                since_ms: first,
                until_ms: last,
            };
            (range, HashSet::new())
        });
        range.since_ms = range.since_ms.min(first);
        range.until_ms = range.until_ms.max(last);
        if !series.contains(key) {
            series.insert(key.clone());
        }
    }

    fn found(self) -> Vec<MetricRange> {
        let all = self.0.into_values();
        all.map(|(range, series)| MetricRange {
            series: series.len() as u64,
            ..range
        })
        .collect()
    }
}
