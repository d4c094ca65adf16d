//! What a report is made of: a plain value that somebody else gathered.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use gtrace_event::{Event, EventId, Incident, MissingEvidence, Provenance, Severity, Timestamp};
use gtrace_profile::{Counts, Key};
use serde::{Deserialize, Serialize};

/// Everything that is known of an incident, or of a stretch of time. Every part may be empty; why is said in
/// [`Material::missing`] under the part's name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Material {
    /// When the report was made.
    pub made: Timestamp,
    /// Who made it: `gtrace 0.1.0`.
    pub generator: String,
    /// The incident; absent where a stretch of time was asked for.
    pub incident: Option<Incident>,
    /// The time that everything below covers.
    pub window: Window,
    /// The host's name; empty where it is not known.
    pub host: String,
    /// Facts of the host, by name: kernel, machine, driver.
    pub facts: Vec<Fact>,
    /// Events, the earliest first.
    pub events: Vec<Event>,
    /// The kernel log, the earliest record first.
    pub kernel_log: Vec<LogRecord>,
    /// Slow and failed calls.
    pub calls: Vec<Call>,
    /// Latency of calls before, during and after.
    pub latency: Vec<LatencyRow>,
    /// What was measured.
    pub samples: Vec<Series>,
    /// Traces of calls of programs that were being traced, to be put behind this report's own: each has a number of its
    /// own among the sequences of packets.
    pub traces: Vec<Vec<u8>>,
    /// State of processes, containers and stacks, as it was read.
    pub snapshot: Vec<SnapshotPart>,
    /// What is known to be lost of the time.
    pub losses: Vec<Loss>,
    /// The store's records.
    pub chain: Option<ChainSegment>,
    /// What a reader has to know first: that a GPU is an emulator, for example.
    pub notes: Vec<String>,
    /// What is not there beside what the incident says, and why. `what` is one of [`missing`]'s names, or a file's.
    pub missing: Vec<MissingEvidence>,
}

/// Names that [`Material::missing`] uses.
pub mod missing {
    /// [`super::Material::kernel_log`].
    pub const KERNEL_LOG: &str = "kernel log";
    /// [`super::Material::calls`].
    pub const CALLS: &str = "calls";
    /// [`super::Material::latency`].
    pub const LATENCY: &str = "latency";
    /// [`super::Material::samples`].
    pub const SAMPLES: &str = "samples";
    /// [`super::Material::snapshot`].
    pub const SNAPSHOT: &str = "snapshot";
    /// [`super::Material::chain`].
    pub const CHAIN: &str = "chain";
    /// [`super::Material::events`].
    pub const EVENTS: &str = "events";
    /// Every name.
    pub const ALL: [&str; 7] = [KERNEL_LOG, CALLS, LATENCY, SAMPLES, SNAPSHOT, CHAIN, EVENTS];
}

/// A stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// Its beginning.
    pub from: Timestamp,
    /// Its end, later than the beginning.
    pub to: Timestamp,
}

impl Window {
    /// Where `time` lies, as a share of the window: 0 at its beginning, 1 at its end. Outside of it the nearest end.
    pub fn share(&self, time: Timestamp) -> f64 {
        let nanos = |t: Timestamp| t.as_nanosecond();
        let whole = (nanos(self.to) - nanos(self.from)).max(1) as f64;
        let part = (nanos(time) - nanos(self.from)) as f64;
        (part / whole).clamp(0.0, 1.0)
    }

    /// Whether `time` lies in it.
    pub fn holds(&self, time: Timestamp) -> bool {
        (self.from..=self.to).contains(&time)
    }
}

/// A fact of the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// What: `kernel`, `NVIDIA driver`.
    pub name: String,
    /// As the host gives it.
    pub value: String,
}

/// A record of the kernel log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogRecord {
    /// When, by the wall clock.
    pub time: Timestamp,
    /// Level of syslog, 0 (emergency) to 7 (debug); absent where the log has none.
    pub priority: Option<u8>,
    /// The text, without prefix.
    pub text: String,
}

gtrace_event::named_enum! {
    /// Where a call was seen.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum CallLayer {
        /// ioctl(2) on the driver.
        Driver = "driver",
        /// The CUDA driver API.
        Cuda = "cuda",
        /// A call of a client of `gtrace serve`.
        Remote = "remote",
    }
}

/// A call that was slow or failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// When it began.
    pub start: Timestamp,
    /// How long it took, ns; absent where it is not known.
    pub duration_ns: Option<u64>,
    /// False for one that had not returned.
    pub returned: bool,
    /// Where it was seen.
    pub layer: CallLayer,
    /// The function or operation.
    pub name: String,
    /// How it failed; absent where it did not.
    pub status: Option<String>,
    /// Process id.
    pub pid: Option<u32>,
    /// The process's name.
    pub comm: Option<String>,
    /// The GPU's PCI address.
    pub gpu: Option<String>,
}

impl Call {
    /// When it ended, or, for one that had not, the end of the window.
    pub fn end(&self, window: Window) -> Timestamp {
        let Some(nanos) = self.duration_ns.filter(|_| self.returned) else {
            return match self.returned {
                true => self.start,
                false => window.to.max(self.start),
            };
        };
        let nanos = i64::try_from(nanos).unwrap_or(i64::MAX);
        let duration = jiff::SignedDuration::from_nanos(nanos);
        self.start.checked_add(duration).unwrap_or(Timestamp::MAX)
    }
}

/// The latency of calls of one key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyRow {
    /// Whose calls, where they were timed, and the function.
    pub key: Key,
    /// Before the first event.
    pub before: Counts,
    /// While the incident lasted.
    pub during: Counts,
    /// After its last event.
    pub after: Counts,
}

/// A measured value over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Its name: `gpu_temperature`.
    pub metric: String,
    /// Its unit: `celsius`, `bytes`; empty where it has none.
    pub unit: String,
    /// What it is of.
    pub labels: BTreeMap<String, String>,
    /// Readings, the earliest first.
    pub points: Vec<(Timestamp, f64)>,
}

/// A part of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotPart {
    /// What: `processes`, `stack of 4711`.
    pub name: String,
    /// As it was read.
    pub text: String,
    /// Why it, or the rest of it, could not be read.
    pub error: Option<String>,
}

/// Something that is known to be lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// What.
    pub what: String,
    /// How many; absent where that is not known.
    pub count: Option<u64>,
    /// Why.
    pub why: String,
}

/// Records of the store that follow each other, with what proves them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainSegment {
    /// Records, by rising number.
    pub records: Vec<ChainRecord>,
}

/// A record of the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainRecord {
    /// Its number.
    pub seq: u64,
    /// The hash before it, as the store has it: of record `seq - 1`, or of the last removed one.
    pub before: [u8; 32],
    /// Its own hash.
    pub hash: [u8; 32],
    /// Its JSON, as it was hashed.
    pub body: String,
}

impl Material {
    /// Nothing but a window.
    pub fn new(made: Timestamp, generator: impl Into<String>, window: Window) -> Self {
        Self {
            made,
            generator: generator.into(),
            window,
            ..Self::default()
        }
    }

    /// Why a part is not there.
    pub fn why_missing(&self, what: &str) -> Option<&str> {
        let missing = self.gaps().find(|missing| missing.what == what);
        missing.map(|missing| missing.why.as_str())
    }

    /// What is not there: what the incident says of its evidence, and what this report lacks.
    pub(crate) fn gaps(&self) -> impl Iterator<Item = &MissingEvidence> {
        let of_incident = self.incident.iter().flat_map(|incident| &incident.missing);
        of_incident.chain(&self.missing)
    }

    /// The events that the report is about: the incident's own, or all where a stretch of time was asked for.
    pub(crate) fn subject(&self) -> impl DoubleEndedIterator<Item = &Event> {
        let own = self.incident.as_ref().map(|incident| {
            let ids = incident.events.iter().copied();
            ids.collect::<BTreeSet<EventId>>()
        });
        let events = self.events.iter();
        events.filter(move |event| own.as_ref().is_none_or(|own| own.contains(&event.id)))
    }

    /// The events of the cause chain, in its order.
    pub(crate) fn chain_events(&self) -> Vec<EventId> {
        let mut ids = Vec::new();
        let links = self.incident.iter().flat_map(|incident| &incident.chain);
        for id in links.flat_map(|link| [link.from, link.to]) {
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        ids
    }

    /// At most `most` events, in the order of time: first those of the cause chain, then the others that the report is
    /// about, then those that the kernel may have written, then the most severe.
    pub(crate) fn most_relevant(&self, most: usize) -> Vec<&Event> {
        let chain: BTreeSet<_> = self.chain_events().into_iter().collect();
        let own: BTreeSet<_> = self.subject().map(|event| event.id).collect();
        let mut ranked: Vec<(usize, &Event)> = self.events.iter().enumerate().collect();
        let rank = |event: &Event| {
            let id = &event.id;
            (chain.contains(id), own.contains(id), weight(event))
        };
        ranked.sort_by_key(|(at, event)| (Reverse(rank(event)), *at));
        ranked.truncate(most);
        ranked.sort_by_key(|(at, _)| *at);
        ranked.into_iter().map(|(_, event)| event).collect()
    }

    /// The event that is most severe, of those that the report is about; the earliest of those. Drills and what a process
    /// wrote count where there is nothing else.
    pub fn worst(&self) -> Option<&Event> {
        self.subject().rev().max_by_key(|event| weight(event))
    }

    /// How severe it is; absent where nothing happened.
    pub fn severity(&self) -> Option<Severity> {
        let of_incident = self.incident.as_ref().map(|incident| incident.severity);
        of_incident.or_else(|| self.worst().map(|event| event.severity))
    }

    /// When it began and when its newest event happened: the incident's times, else those of the events.
    pub fn span(&self) -> Option<Window> {
        if let Some(incident) = &self.incident {
            return Some(Window {
                from: incident.opened,
                to: incident.last_time.max(incident.opened),
            });
        }
        let from = self.events.iter().map(|event| event.time).min()?;
        let newest = |event: &Event| event.last_time.unwrap_or(event.time);
        let to = self.events.iter().map(newest).max()?;
        Some(Window { from, to })
    }

    /// Whether all of it was injected.
    pub fn is_drill(&self) -> bool {
        let injected = |event: &Event| event.provenance == Provenance::Injected;
        match &self.incident {
            Some(incident) => incident.drill,
            None => !self.events.is_empty() && self.events.iter().all(injected),
        }
    }

    /// Name of the file, without its ending: `gtrace-incident-20260303T040506Z-HOST-CLASS`. Reports of two times in which the same
    /// fault goes on have two names.
    pub fn file_stem(&self) -> String {
        let began = self.span().map_or(self.window.from, |span| span.from);
        let time = began.max(self.window.from);
        let class = match &self.incident {
            Some(incident) => incident.class.name(),
            None => self.worst().map_or("window", |event| event.kind.name()),
        };
        let host = match self.host.as_str() {
            "" => "unknown",
            host => host,
        };
        // What goes into a name of a file must not name another one.
        let safe: String = host
            .chars()
            .map(|c| match c.is_ascii_alphanumeric() || "._-".contains(c) {
                true => c,
                false => '_',
            })
            .take(64)
            .collect();
        let time = time.strftime("%Y%m%dT%H%M%SZ");
        format!(
            "gtrace-incident-{time}-{}-{class}",
            safe.trim_start_matches('.')
        )
    }
}

/// How much an event counts: what the kernel may have written first, then the more severe. Where /dev/kmsg cannot be read, no
/// line is confirmed.
fn weight(event: &Event) -> (bool, Severity) {
    let is_other = matches!(
        event.provenance,
        Provenance::Injected | Provenance::Userspace
    );
    (!is_other, event.severity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_with_a_path_for_a_name_stays_in_its_directory() {
        let at: Timestamp = "2026-03-03T04:05:06Z".parse().unwrap();
        let window = Window { from: at, to: at };
        let mut material = Material::new(at, "gtrace", window);
        material.host = "../../etc/x y".to_owned();
        let stem = material.file_stem();
        assert_eq!(stem, "gtrace-incident-20260303T040506Z-_.._etc_x_y-window");
    }
}
