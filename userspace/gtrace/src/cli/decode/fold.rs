//! Equal events of a log, counted together.

use std::collections::HashMap;

use gtrace_catalogue::Catalogue;
use gtrace_event::{Advice, FoldKey, Occurrence, Provenance, Timestamp};
use serde::Serialize;

/// So many different events are held at most; then they are reported.
const MAX_HELD: usize = 16 * 1024;

/// When an event happened, as far as the log says.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Moment {
    /// Number of its first line.
    pub(super) line: u64,
    pub(super) time: Option<Timestamp>,
    /// Date and time as written, where they are no known time.
    pub(super) written: Option<String>,
    pub(super) boottime_ns: Option<u64>,
}

impl Moment {
    pub(super) fn of(occurrence: &Occurrence) -> Self {
        Self {
            line: occurrence.lines.map_or(0, |[first, _]| first),
            time: occurrence.time,
            written: occurrence.log.as_ref().and_then(|log| log.time.clone()),
            boottime_ns: occurrence.boottime_ns,
        }
    }

    /// The time, for people; empty where the log says none.
    pub(super) fn text(&self) -> String {
        match (self.time, &self.written, self.boottime_ns) {
            (Some(time), ..) => time.to_string(),
            (None, Some(written), _) => crate::render::clean(written),
            (None, None, Some(ns)) => {
                let (seconds, micros) = (ns / 1_000_000_000, ns / 1000 % 1_000_000);
                format!("{seconds}.{micros:06} s after boot")
            }
            (None, None, None) => String::new(),
        }
    }
}

/// An event and how often it came.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// The first.
    pub(super) occurrence: Occurrence,
    pub(super) advice: Advice,
    /// How often, what a syslog daemon folded counted in.
    pub(super) count: u64,
    pub(super) last: Moment,
}

/// What makes two events of a log one: the fold key of the daemon, and where the lines are from.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Key {
    fold: FoldKey,
    provenance: Provenance,
    host: Option<String>,
}

/// The events that were not reported yet, in the order of the first of each.
#[derive(Debug, Default)]
pub(super) struct Groups {
    groups: Vec<Group>,
    at: HashMap<Key, usize>,
}

impl Groups {
    pub(super) fn add(&mut self, mut occurrence: Occurrence, catalogue: &Catalogue) {
        let log = occurrence.log.as_deref();
        let count = log.and_then(|log| log.repeated).unwrap_or(1);
        let key = Key {
            fold: occurrence.fold_key(),
            provenance: occurrence.provenance,
            host: log.and_then(|log| log.host.clone()),
        };
        // The rest of a report belongs to the one before it.
        if !occurrence.continues
            && let Some(group) = self.at.get(&key).and_then(|at| self.groups.get_mut(*at))
        {
            group.count = group.count.saturating_add(count);
            group.last = Moment::of(&occurrence);
            return;
        }
        let advice = catalogue.assess(&mut occurrence);
        if !occurrence.continues {
            self.at.insert(key, self.groups.len());
        }
        self.groups.push(Group {
            last: Moment::of(&occurrence),
            occurrence,
            advice,
            count,
        });
    }

    /// Whether no more should be held.
    pub(super) fn is_full(&self) -> bool {
        self.groups.len() >= MAX_HELD
    }

    pub(super) fn drain(&mut self) -> Vec<Group> {
        self.at.clear();
        std::mem::take(&mut self.groups)
    }
}
