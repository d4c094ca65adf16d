//! Lines of several records that report one occurrence.

use gtrace_event::{Kind, Occurrence, Severity};

use crate::record::{Line, Meta};

/// A group closes after so many records without a line of it …
const MAX_RECORDS: u64 = 32;
/// … or after so much log time.
const MAX_GAP_US: i64 = 1_000_000;
/// A group that goes on and on closes after so many records from its first.
const MAX_AGE: u64 = 256;
/// Longest text of a group; what comes after it is left out.
const MAX_TEXT: usize = 16 * 1024;

/// The lines so far.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    first: Meta,
    latest: Meta,
    text: String,
}

impl Group {
    pub(crate) fn open(line: &Line<'_>) -> Self {
        Self {
            first: line.meta,
            latest: line.meta,
            text: line.text.to_owned(),
        }
    }

    pub(crate) fn add(&mut self, line: &Line<'_>) {
        if self.text.len() + line.text.len() < MAX_TEXT {
            self.text.push('\n');
            self.text.push_str(line.text);
        }
        self.latest = line.meta;
    }

    /// Puts the lines of an earlier group before these.
    pub(crate) fn prepend(&mut self, earlier: Group) {
        let later = std::mem::replace(&mut self.text, earlier.text);
        if self.text.len() + later.len() < MAX_TEXT {
            self.text.push('\n');
            self.text.push_str(&later);
        }
        self.first = earlier.first;
    }

    /// Whether `line` can be of this group: both by the kernel, or both by a process.
    pub(crate) fn accepts(&self, line: &Line<'_>) -> bool {
        self.first.provenance == line.meta.provenance
    }

    pub(crate) fn expired(&self, now: &Meta) -> bool {
        if now.tick.saturating_sub(self.latest.tick) > MAX_RECORDS
            || now.tick.saturating_sub(self.first.tick) > MAX_AGE
        {
            return true;
        }
        match (self.latest.clock_us(), now.clock_us()) {
            (Some((a, then)), Some((b, now))) if a == b => now.saturating_sub(then) > MAX_GAP_US,
            _ => false,
        }
    }

    /// Number of the first record.
    pub(crate) fn first(&self) -> u64 {
        self.first.first
    }

    /// Count of records when the group last grew.
    pub(crate) fn tick(&self) -> u64 {
        self.latest.tick
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn meta(&self) -> &Meta {
        &self.first
    }

    pub(crate) fn into_occurrence(self, kind: Kind, severity: Severity) -> Occurrence {
        let meta = Meta {
            last: self.latest.last.max(self.first.last),
            ..self.first
        };
        meta.occurrence(kind, severity, self.text)
    }
}
