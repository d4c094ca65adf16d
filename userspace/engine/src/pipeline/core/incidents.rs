//! What events come to: each event that is published goes to the correlator, and the incident that it belongs to goes
//! into the same transaction.

use std::collections::BTreeMap;
use std::time::Instant;

use gtrace_event::{Event, Incident, IncidentState, Timestamp};
use gtrace_incident::RESOLVED_FOR;
use gtrace_store::{Reader, StoreError};

use super::State;
use crate::hub::INCIDENTS_MAX;
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
        if self.incidents.is_tick_due(Instant::now()) {
            for incident in self.incidents.correlator.tick(Timestamp::now()) {
                self.show_incident(incident);
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

    fn read_incidents(&mut self) -> Result<(), StoreError> {
        let reader = Reader::open(&self.store_path)?;
        let now = Timestamp::now();
        let (mut unresolved, mut resolved) = (BTreeMap::new(), BTreeMap::new());
        let mut left_out = 0_u64;
        reader.each_incident(|incident| {
            let id = incident.id;
            if incident.state != IncidentState::Resolved {
                // The worst, of these the newest: beyond what the hub keeps none is shown and reported.
                unresolved.insert((incident.rank(), incident.opened, id), incident);
                if unresolved.len() > INCIDENTS_MAX {
                    unresolved.pop_first();
                    left_out += 1;
                }
            } else if let Some(closed) = incident.closed
                && now.duration_since(closed) <= RESOLVED_FOR
            {
                // Those of which more can become known.
                resolved.insert((closed, id), incident);
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
                "{left_out} unresolved incidents of earlier runs, the mildest, are not followed and not reported any more: {} are \
                 at most; `gtrace incidents --open` lists all",
                INCIDENTS_MAX
            );
        }
        // An event that has happened again since its incident was resolved is of one that is not, which is taken up after that.
        let found = resolved.into_values();
        let found = found.chain(unresolved.into_values().rev());
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
