//! Writing.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{
    IntervalLogWriter, IntervalLogWriterBuilder, IntervalLogWriterError, Tag,
};

use super::tag;
use crate::{Histogram, Key, Profile, Span, to_hdr};

/// ns in the unit of the column of maxima.
const MAX_DIVISOR: f64 = 1e6;

/// A log could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The writer failed.
    #[error("the log could not be written: {0}")]
    Io(#[from] io::Error),
    /// A histogram has no form in the log.
    #[error("the histogram of {function} has no form in a log: {cause}")]
    Histogram {
        /// The row's function.
        function: String,
        /// What `hdrhistogram` says.
        cause: String,
    },
}

/// Writes the histograms of a profile.
pub fn write(profile: &Profile, out: &mut impl Write) -> Result<(), WriteError> {
    let epoch = jiff::Timestamp::UNIX_EPOCH;
    let whole = profile.taken.span.unwrap_or(Span {
        start: epoch,
        end: epoch,
    });
    let start = SystemTime::from(whole.start);
    let mut serializer = V2DeflateSerializer::new();
    let mut builder = IntervalLogWriterBuilder::new();
    builder
        .add_comment("[Logged with gtrace; latencies in ns, maxima in ms]")
        .add_comment("[Histogram log format version 1.3]")
        .with_start_time(start)
        .with_base_time(start)
        .with_max_value_divisor(MAX_DIVISOR);
    let mut log = builder.begin_log_with(out, &mut serializer)?;
    if profile.intervals.is_empty() {
        let rows = profile
            .rows
            .iter()
            .map(|(key, counts)| (key, &counts.histogram));
        return lines(&mut log, whole, whole, rows);
    }
    for (span, rows) in &profile.intervals {
        lines(&mut log, whole, *span, rows.iter())?;
    }
    // What was counted outside of every interval would else be missing.
    let rest = outside(profile);
    lines(
        &mut log,
        whole,
        whole,
        rest.iter().map(|(key, rest)| (*key, rest)),
    )
}

/// Histograms of the rows without what the intervals have.
fn outside(profile: &Profile) -> BTreeMap<&Arc<Key>, Histogram> {
    let mut inside: BTreeMap<&Arc<Key>, Histogram> = BTreeMap::new();
    for (key, histogram) in profile.intervals.values().flatten() {
        inside.entry(key).or_default().merge(histogram);
    }
    let rest = profile.rows.iter().filter_map(|(key, counts)| {
        let rest = match inside.get(key) {
            None => counts.histogram.clone(),
            Some(inside) => counts.histogram.since(inside)?,
        };
        Some((key, rest))
    });
    rest.collect()
}

fn lines<'a, W: Write>(
    log: &mut IntervalLogWriter<'_, '_, W, V2DeflateSerializer>,
    whole: Span,
    span: Span,
    rows: impl Iterator<Item = (&'a Arc<Key>, &'a Histogram)>,
) -> Result<(), WriteError> {
    let since = Span {
        start: whole.start,
        end: span.start,
    };
    for (key, histogram) in rows.filter(|(_, histogram)| !histogram.is_empty()) {
        let failed = |cause: &dyn std::fmt::Display| WriteError::Histogram {
            function: key.function.clone(),
            cause: cause.to_string(),
        };
        let hdr = to_hdr(histogram).map_err(|error| failed(&error))?;
        let tag = tag::of(key);
        log.write_histogram(
            &hdr,
            Duration::from_nanos(since.nanos()),
            Duration::from_nanos(span.nanos()),
            Tag::new(&tag),
        )
        .map_err(|error| match error {
            IntervalLogWriterError::IoError(error) => WriteError::Io(error),
            IntervalLogWriterError::SerializeError(error) => failed(&error),
        })?;
    }
    Ok(())
}
