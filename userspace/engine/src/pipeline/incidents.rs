//! Incidents in the core: the correlator, and what it changed on its way to the store.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use gtrace_event::{Incident, IncidentId, Timestamp};
use gtrace_incident::{Correlator, Options, RuleError, Rules};

/// After a record of an incident the next one waits for so long; twice as long after each that follows at once, as a
/// storm goes on for hours and each record has the whole incident. Its opening, and what a person changes, is recorded at once.
const RECORD_EVERY: Duration = Duration::from_secs(1);
/// Longest wait.
const RECORD_AT_LEAST_EVERY: Duration = Duration::from_secs(64);
/// Incidents whose last record is remembered.
const REMEMBERED: usize = 1024;
/// Between checks for what has been quiet for long.
const TICK_EVERY: Duration = Duration::from_secs(5);
/// By more between two ticks the wall clock was set; less is drift.
const SET_NS: i128 = 60_000_000_000;
/// Unresolved incidents are recorded again after so long: retention drops whole days, with the only record that one may have.
const RENEW_EVERY: Duration = Duration::from_secs(24 * 3600);
/// The same after a start: a host may never run for longer than a day.
const RENEW_FIRST: Duration = Duration::from_secs(3600);

/// See the module.
pub(super) struct Incidents {
    pub(super) correlator: Correlator,
    pub(super) changes: Changes,
    ticked: Instant,
    renew_at: Instant,
    /// How far the wall clock was ahead of the time since boot at the last tick, ns.
    ahead: Option<i128>,
}

impl Incidents {
    pub(super) fn new() -> Result<Self, RuleError> {
        Ok(Self {
            correlator: Correlator::new(Rules::builtin()?, Options::default()),
            changes: Changes::default(),
            ticked: Instant::now(),
            renew_at: Instant::now() + RENEW_FIRST,
            ahead: None,
        })
    }

    pub(super) fn is_tick_due(&mut self, now: Instant) -> bool {
        let due = now.saturating_duration_since(self.ticked) >= TICK_EVERY;
        if due {
            self.ticked = now;
        }
        due
    }

    /// Resolves what has been quiet for long by the wall clock, which says `now` at `boot_ns` since boot.
    pub(super) fn tick(&mut self, now: Timestamp, boot_ns: u64) -> Vec<Incident> {
        let ahead = now.as_nanosecond() - i128::from(boot_ns);
        let before = self.ahead.replace(ahead).unwrap_or(ahead);
        if (ahead - before).abs() > SET_NS {
            self.correlator.set_clock(now);
        }
        self.correlator.tick(now)
    }

    /// Whether the incidents that nobody has resolved are to be recorded again.
    pub(super) fn is_renewal_due(&mut self, now: Instant) -> bool {
        let due = now >= self.renew_at;
        if due {
            self.renew_at = now + RENEW_EVERY;
        }
        due
    }
}

/// Changes on their way to the store: a storm changes an incident ten thousand times a second, and each record has the
/// whole of it.
#[derive(Default)]
pub(super) struct Changes {
    /// The newest of each incident that has no record yet.
    waiting: BTreeMap<IncidentId, Incident>,
    /// When each incident last got a record, and how long the next one waits.
    recorded: BTreeMap<IncidentId, (Instant, Duration)>,
}

impl Changes {
    /// An incident has changed.
    pub(super) fn add(&mut self, incident: Incident) {
        self.waiting.insert(incident.id, incident);
    }

    /// What waits of `id` is no longer of now.
    pub(super) fn forget(&mut self, id: IncidentId) {
        self.waiting.remove(&id);
    }

    /// When [`Self::take`] has something.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let due = |id: &IncidentId| self.recorded.get(id).map(|(last, wait)| *last + *wait);
        self.waiting
            .keys()
            .map(|id| due(id).unwrap_or_else(Instant::now))
            .min()
    }

    /// Those that are to become records now, or all.
    pub(super) fn take(&mut self, now: Instant, all: bool) -> Vec<Incident> {
        let is_due = |id: &IncidentId| {
            let last = self.recorded.get(id);
            all || last.is_none_or(|(last, wait)| *last + *wait <= now)
        };
        let due: Vec<IncidentId> = self.waiting.keys().copied().filter(is_due).collect();
        let taken = due
            .iter()
            .filter_map(|id| self.waiting.remove(id))
            .collect();
        for id in due {
            let wait = match self.recorded.get(&id) {
                // It was quiet meanwhile.
                Some((last, wait)) if now.saturating_duration_since(*last) > *wait * 2 => {
                    RECORD_EVERY
                }
                Some((_, wait)) => (*wait * 2).min(RECORD_AT_LEAST_EVERY),
                None => RECORD_EVERY,
            };
            self.recorded.insert(id, (now, wait));
        }
        // Ids sort by time: the oldest has not changed for longest, most likely.
        while self.recorded.len() > REMEMBERED {
            self.recorded.pop_first();
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use gtrace_event::{Event, Kind, Occurrence, Provenance, Severity, WitnessName};

    use super::*;

    fn incident() -> Incident {
        let mut occurrence = Occurrence::new(Kind::GpuLost, Severity::Fatal, "gone");
        occurrence.provenance = Provenance::Kernel;
        let time = Timestamp::UNIX_EPOCH;
        let event = Event::seen(time, WitnessName::SysfsPci, 1, occurrence);
        let mut incidents = Incidents::new().unwrap();
        let opened = incidents.correlator.ingest(&event);
        opened.into_iter().next().unwrap()
    }

    #[test]
    fn a_drill_is_not_over_because_the_clock_was_set_forward() {
        let mut occurrence = Occurrence::new(Kind::GpuLost, Severity::Fatal, "gone");
        occurrence.provenance = Provenance::Injected;
        let event = Event::seen(Timestamp::UNIX_EPOCH, WitnessName::Kmsg, 1, occurrence);
        let mut incidents = Incidents::new().unwrap();
        assert_eq!(incidents.correlator.ingest(&event).len(), 1);
        let mut resolved = |minute: i64, since_boot: u64| {
            let now = Timestamp::from_second(minute * 60).unwrap();
            let boot_ns = since_boot * 60_000_000_000;
            incidents.tick(now, boot_ns).len()
        };
        assert_eq!((resolved(1, 1), resolved(2, 2)), (0, 0));
        // By five hours. It is over half an hour later.
        assert_eq!((resolved(303, 3), resolved(332, 32)), (0, 0));
        assert_eq!(resolved(333, 33), 1);
    }

    #[test]
    fn what_nobody_resolves_is_due_an_hour_after_a_start_and_once_a_day() {
        let mut incidents = Incidents::new().unwrap();
        let begin = Instant::now();
        let hour = Duration::from_secs(3600);
        let due = (0..50_u32).filter(|n| incidents.is_renewal_due(begin + hour * *n));
        assert_eq!(due.collect::<Vec<_>>(), [1, 25, 49]);
    }

    #[test]
    fn an_opening_is_recorded_at_once_and_a_storm_ever_less_often() {
        let mut changes = Changes::default();
        let mut incident = incident();
        let now = Instant::now();
        changes.add(incident.clone());
        assert!(changes.deadline().is_some_and(|at| at <= Instant::now()));
        assert_eq!(changes.take(now, false), [incident.clone()]);
        for revision in 1..=3 {
            incident.revision = revision;
            changes.add(incident.clone());
        }
        assert_eq!(changes.take(now, false), []);
        assert_eq!(changes.deadline(), Some(now + RECORD_EVERY));
        assert_eq!(changes.take(now + RECORD_EVERY, false)[0].revision, 3);
        changes.add(incident.clone());
        assert_eq!(changes.deadline(), Some(now + 3 * RECORD_EVERY));
        assert_eq!(changes.take(now + RECORD_EVERY, true).len(), 1);
        assert_eq!(changes.deadline(), None);
        let (mut at, mut records) = (now, 0);
        while at < now + Duration::from_secs(3600) {
            changes.add(incident.clone());
            records += changes.take(at, false).len();
            at += RECORD_EVERY;
        }
        assert!((55..70).contains(&records), "{records}");
        changes.add(incident.clone());
        changes.take(at + Duration::from_secs(600), false);
        changes.add(incident);
        let quiet = at + Duration::from_secs(600) + RECORD_EVERY;
        assert_eq!(changes.deadline(), Some(quiet));
    }
}
