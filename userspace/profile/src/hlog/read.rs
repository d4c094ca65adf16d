//! Reading.

use std::io::{self, BufRead, Read};

use jiff::{SignedDuration, Timestamp};

use super::payload::{PayloadError, decode};
use super::tag;
use crate::{Counts, Profile, Row, Span};

/// Most lines that are read.
pub const LINES_MAX: usize = 2_000_000;
/// Longest line, bytes.
const LINE_MAX: u64 = 8 << 20;
/// Most rows, each with a tag of its own.
const ROWS_MAX: usize = 100_000;
/// A time that is not more than a year before the log's start counts from 1970, else from the start:
/// as HdrHistogram's own reader decides.
const YEAR_S: f64 = 365.0 * 24.0 * 3600.0;

/// In the year 9000, s since 1970: within what a calendar can express.
const LATEST_S: f64 = 221_845_392_000.0;

/// A log that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The reader failed.
    #[error("the log could not be read: {0}")]
    Io(#[from] io::Error),
    /// A line is none of a log.
    #[error("line {line}: {what}")]
    Line {
        /// From 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// A histogram that cannot be read.
    #[error("line {line}: the histogram: {cause}")]
    Histogram {
        /// From 1.
        line: usize,
        /// Why.
        cause: PayloadError,
    },
    /// More than is read.
    #[error("more than {LINES_MAX} lines or {ROWS_MAX} tags")]
    TooLong,
    /// No line has a histogram.
    #[error("no line has a histogram: this is no HdrHistogram log")]
    Empty,
}

#[derive(Default)]
struct Times {
    start: Option<f64>,
    base: Option<f64>,
}

impl Times {
    /// Where a time of the log is, s since 1970.
    fn absolute(&self, at: f64) -> f64 {
        match (self.base, self.start) {
            (Some(base), _) => base + at,
            (None, Some(start)) if at < start - YEAR_S => start + at,
            (None, _) => at,
        }
    }
}

/// Reads a log, of gtrace or of another program. Values are taken as ns.
///
/// # Errors
///
/// Those of `input`, and for what is no log.
pub fn read(input: impl BufRead) -> Result<Profile, ReadError> {
    let mut input = input;
    let mut profile = Profile::default();
    let mut times = Times::default();
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        let read = (&mut input).take(LINE_MAX).read_until(b'\n', &mut bytes)?;
        if read == 0 {
            break;
        }
        if line > LINES_MAX || profile.rows.len() > ROWS_MAX {
            return Err(ReadError::TooLong);
        }
        let wrong = |what: &str| ReadError::Line {
            line,
            what: what.to_owned(),
        };
        if read as u64 == LINE_MAX {
            return Err(wrong("longer than 8 MiB"));
        }
        let text = str::from_utf8(&bytes)
            .map_err(|_| wrong("no UTF-8"))?
            .trim();
        if let Some(comment) = text.strip_prefix('#') {
            times.comment(comment);
        } else if !text.is_empty() && !text.starts_with('"') {
            let (row, span) = entry(text, line, &times)?;
            profile.add_interval(span, &[row]);
        }
    }
    // One interval says no more than the rows.
    match profile.intervals.len() {
        0 => return Err(ReadError::Empty),
        1 => profile.intervals.clear(),
        _ => {}
    }
    let hosts = profile.rows.keys().map(|key| key.process.host.clone());
    profile.taken.hosts = hosts.filter(|host| !host.is_empty()).collect();
    Ok(profile)
}

impl Times {
    fn comment(&mut self, comment: &str) {
        let seconds = |name: &str| -> Option<f64> {
            let rest = comment.strip_prefix(name)?.trim_start();
            let number = rest.split([' ', ']']).next()?;
            number.parse().ok().filter(|s: &f64| s.is_finite())
        };
        if let Some(start) = seconds("[StartTime:") {
            self.start = Some(start);
        }
        if let Some(base) = seconds("[BaseTime:") {
            self.base = Some(base);
        }
    }
}

fn entry(text: &str, line: usize, times: &Times) -> Result<(Row, Span), ReadError> {
    let wrong = |what: &str| ReadError::Line {
        line,
        what: what.to_owned(),
    };
    let (tag, rest) = match text.strip_prefix("Tag=") {
        None => ("(untagged)", text),
        Some(tagged) => tagged
            .split_once(',')
            .ok_or_else(|| wrong("a tag and nothing else"))?,
    };
    let mut columns = rest.splitn(4, ',');
    let mut seconds = |what: &str| -> Result<f64, ReadError> {
        let number = columns.next().and_then(|text| text.trim().parse().ok());
        number
            .filter(|s: &f64| s.is_finite())
            .ok_or_else(|| wrong(what))
    };
    let start = seconds("no start of an interval in the first column")?;
    let length = seconds("no length of an interval in the second column")?;
    seconds("no maximum in the third column")?;
    let payload = columns
        .next()
        .ok_or_else(|| wrong("no histogram in the fourth column"))?;
    let histogram = decode(payload).map_err(|cause| ReadError::Histogram { line, cause })?;
    let at = |seconds: f64| -> Option<Timestamp> {
        if !(0.0..=LATEST_S).contains(&seconds) {
            return None;
        }
        let since = SignedDuration::try_from_secs_f64(seconds).ok()?;
        // What is written has milliseconds; as a float it is a little beside them.
        let micros = i64::try_from((since.as_nanos() + 500).div_euclid(1000)).ok()?;
        Timestamp::from_microsecond(micros).ok()
    };
    let start = times.absolute(start);
    let span = at(start).zip(at(start + length.max(0.0)));
    let (start, end) = span.ok_or_else(|| wrong("a time that is before 1970 or after 9000"))?;
    let row = Row {
        key: tag::parse(tag),
        counts: Counts::timed(histogram),
    };
    Ok((row, Span { start, end }))
}
