//! What events come to: each event that is published goes to the correlator, and the incident that it belongs to goes
//! into the same transaction.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use gtrace_event::{Event, Incident, IncidentState, Timestamp};
use gtrace_incident::RESOLVED_FOR;
use gtrace_store::{Reader, StoreError};

use super::State;
use crate::clock;
use crate::hub::INCIDENTS_MAX;
use crate::incident_table::IncidentTable;
use crate::supervise::names;

/// Events of each that are read, the first.
pub(super) const ADOPTED_EVENTS: usize = 64;

impl State {
    /// Has the correlator see an event as it is published.
    pub(super) fn correlate(&mut self, event: &Event) {
        for incident in self.incidents.correlator.ingest(event) {
            self.show_incident(incident);
        }
    }

    /// What has been quiet for long is resolved.
    pub(super) fn tick_incidents(&mut self) {
        let now = Instant::now();
        if self.incidents.is_tick_due(now) {
            for incident in self.incidents.tick(Timestamp::now(), clock::boottime_ns()) {
                self.show_incident(incident);
            }
        }
        if self.incidents.is_renewal_due(now) {
            self.renew_unresolved();
        }
    }

    /// Has all that nobody has resolved recorded again, as it is.
    fn renew_unresolved(&mut self) {
        for incident in self.hub.incidents() {
            if incident.state != IncidentState::Resolved {
                self.incidents.changes.add(incident);
            }
        }
    }

    /// The API shows it at once; its record follows with the next batch.
    fn show_incident(&mut self, incident: Incident) {
        let opens = incident.revision == 0;
        if opens {
            self.hub.metrics.count_incident(&incident);
        }
        self.hub.set_incident(incident.clone());
        if opens {
            self.hub.recorder.freeze(&incident);
            self.hub.tasks.wake(names::RECORDER);
        }
        self.incidents.changes.add(incident);
    }

    /// Puts changes into the batch: those that are due, or all.
    pub(super) fn record_incidents(&mut self, all: bool) {
        let now = Instant::now();
        // Else they wait here, where the newest of each replaces those before.
        if self.has_room(1) {
            for incident in self.incidents.changes.take(now, all) {
                self.publish_incident(incident);
            }
        }
    }

    /// A store that was begun anew has nothing of what holds since before, and the next run would know nothing of it: it gets the
    /// incidents that nobody has resolved, and what is known of health.
    pub(super) fn record_what_holds(&mut self) {
        if !self.has_room(1) || !self.writer.take_renewed() {
            return;
        }
        self.renew_unresolved();
        self.record_incidents(true);
        self.record_health_again();
        self.amend();
    }

    /// Takes up what earlier runs left unresolved, and what was resolved a short while ago.
    pub(super) fn adopt_incidents(&mut self) {
        match self.read_incidents() {
            Ok(()) => self.hub.set_incidents_taken_up(),
            Err(error) => {
                self.hub.suspect_store(&error);
                tracing::warn!("earlier incidents cannot be read back: {error}");
            }
        }
    }

    /// Takes up what can be read of a store that was found damaged at the start: unresolved incidents, for the new one.
    pub(super) fn adopt_damaged(&mut self, damaged: &Path) {
        let reader = match Reader::open(damaged) {
            Ok(reader) => reader,
            Err(error) => return tracing::warn!("no incident can be read back: {error}"),
        };
        let mut unresolved = BTreeMap::new();
        let read = reader.each_incident(|incident| {
            if incident.state != IncidentState::Resolved {
                unresolved.insert((incident.rank(), incident.opened, incident.id), incident);
                if unresolved.len() > INCIDENTS_MAX {
                    unresolved.pop_first();
                }
            }
        });
        if let Err(error) = read {
            tracing::warn!("not all earlier incidents can be read back: {error}");
        }
        for incident in unresolved.into_values().rev() {
            let ids = incident.events.iter().take(ADOPTED_EVENTS);
            let events = reader.readable_events(&ids.copied().collect::<Vec<_>>());
            let incident = self.incidents.correlator.adopt(incident, &events);
            self.hub.set_incident(incident.clone());
            self.incidents.changes.add(incident);
        }
    }

    fn read_incidents(&mut self) -> Result<(), StoreError> {
        let reader = Reader::open(&self.store_path)?;
        let now = Timestamp::now();
        let (mut unresolved, mut resolved) = (IncidentTable::default(), BTreeMap::new());
        let mut left_out = 0_u64;
        reader.each_incident(|incident| {
            if incident.state != IncidentState::Resolved {
                // Beyond what the hub keeps none is shown and reported.
                left_out += u64::from(unresolved.insert(incident).is_some());
            } else if let Some(closed) = incident.closed
                && now.duration_since(closed) <= RESOLVED_FOR
            {
                // Those of which more can become known.
                resolved.insert((closed, incident.id), incident);
                if resolved.len() > INCIDENTS_MAX {
                    resolved.pop_first();
                }
            }
        })?;
        if left_out > 0 {
            self.hub
                .metrics
                .count_lost("incidents", "not_taken_up", left_out);
            tracing::warn!(
                "{left_out} unresolved incidents of earlier runs are not followed and not reported any more: {} are \
                 at most; `gtrace incidents --open` lists all",
                INCIDENTS_MAX
            );
        }
        // An event that has happened again since its incident was resolved is of one that is not, which is taken up after that.
        let found = resolved.into_values();
        let found = found.chain(unresolved.into_worst_first());
        reader.with_events(found, ADOPTED_EVENTS, |incident, events| {
            let revision = incident.revision;
            let incident = self.incidents.correlator.adopt(incident, &events);
            if incident.state != IncidentState::Resolved {
                self.hub.set_incident(incident.clone());
            }
            if incident.revision != revision {
                self.incidents.changes.add(incident);
            }
        })
    }
}
