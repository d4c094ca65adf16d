use std::fmt;

use gtrace_event::{
    Event, Kind, Occurrence, Provenance, RemovalCause, RemovedRange, Severity, Timestamp,
    WitnessName,
};
use rusqlite::Transaction;
use serde::Deserialize;

use crate::{Hash, MovedAside};

/// So many ranges at most are listed by one record, so that it stays readable.
const RANGES: usize = 256;

/// Records that are to leave the store, or have left it with a damaged file.
pub(crate) struct Removal {
    pub(crate) cause: RemovalCause,
    /// The highest severity that goes, where the more severe ones stay.
    pub(crate) up_to: Option<Severity>,
    pub(crate) ranges: Vec<Range>,
    pub(crate) moved_aside: Option<MovedAside>,
}

/// The part of a record that says what was removed.
#[derive(Deserialize)]
struct Body {
    detail: Detail,
}

#[derive(Deserialize)]
struct Detail {
    #[serde(default)]
    removed: Vec<RemovedRange>,
}

/// Gives each range that a table says was removed, with the hash of its last record.
pub(crate) fn each_removed(
    tx: &Transaction<'_>,
    table: &str,
    mut each: impl FnMut(RemovedRange, Hash),
) -> rusqlite::Result<()> {
    let removed = Kind::RecordsRemoved;
    let sql = format!("SELECT body FROM \"{table}\" WHERE record = 'event' AND kind = '{removed}'");
    let mut statement = tx.prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let body = row.get_ref(0)?.as_bytes().unwrap_or_default();
        // Verifying finds one that is no JSON.
        let body = serde_json::from_slice::<Body>(body).ok();
        for range in body.into_iter().flat_map(|body| body.detail.removed) {
            if let Some(hash) = Hash::from_hex(&range.hash) {
                each(range, hash);
            }
        }
    }
    Ok(())
}

/// Consecutive records.
#[derive(Clone, Copy)]
pub(crate) struct Range {
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// Hash of the last.
    pub(crate) hash: Hash,
    /// How many of them go now: others may have gone before.
    pub(crate) records: u64,
}

impl Removal {
    /// The events that record it.
    pub(crate) fn events(&self, now: Timestamp) -> Vec<Event> {
        if self.ranges.is_empty() {
            return vec![self.event(&[], now)];
        }
        let parts = self.ranges.chunks(RANGES);
        parts.map(|part| self.event(part, now)).collect()
    }

    fn event(&self, ranges: &[Range], now: Timestamp) -> Event {
        let severity = match self.cause {
            RemovalCause::Damage => Severity::Warning,
            _ => Severity::Info,
        };
        let mut occurrence = Occurrence::new(Kind::RecordsRemoved, severity, String::new());
        // Nobody but gtrace writes it.
        occurrence.provenance = Provenance::Kernel;
        let detail = &mut *occurrence.detail;
        detail.removal.removal = Some(self.cause);
        detail.removal.removed_up_to = self.up_to;
        detail.removal.removed = ranges.iter().map(RemovedRange::from).collect();
        if self.moved_aside.is_none() {
            detail.removal.removed_records = Some(ranges.iter().map(|range| range.records).sum());
        }
        if let Some(moved) = &self.moved_aside {
            detail.source.reason = Some(moved.why.clone());
            if let Some(to) = moved.file() {
                detail.source.remedy = Some(moved.remedy());
                detail.removal.moved_to = Some(to.display().to_string());
            }
        }
        occurrence.message = self.message(ranges);
        Event::seen(now, WitnessName::Gtrace, 1, occurrence)
    }

    fn message(&self, ranges: &[Range]) -> String {
        if let Some(moved) = &self.moved_aside {
            let last = ranges.last().map_or(String::new(), |range| {
                format!(" with the records up to {}", range.last)
            });
            let why = &moved.why;
            return match moved.file() {
                Some(to) => format!(
                    "the damaged store was moved aside{last}, to {}: {why}",
                    to.display()
                ),
                None => format!("the store is gone{last}: {why}"),
            };
        }
        let records: u64 = ranges.iter().map(|range| range.records).sum();
        let between = match (ranges.first(), ranges.last()) {
            (Some(first), Some(last)) => format!("between {} and {}", first.first, last.last),
            _ => String::new(),
        };
        let what = match self.up_to {
            Some(severity) => format!("{records} records of events up to severity {severity}"),
            None => format!("{records} records"),
        };
        let why = match self.cause {
            RemovalCause::Age => "they are older than the limit",
            RemovalCause::Size => "the store is larger than the limit",
            RemovalCause::Damage => "the file was damaged",
            RemovalCause::Unrecorded => "they went before removals were recorded",
        };
        format!("{what} {between} left the store: {why}")
    }
}

impl From<&Range> for RemovedRange {
    fn from(range: &Range) -> Self {
        Self {
            first: range.first,
            last: range.last,
            hash: range.hash.to_string(),
        }
    }
}

impl fmt::Debug for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..={}", self.first, self.last)
    }
}
