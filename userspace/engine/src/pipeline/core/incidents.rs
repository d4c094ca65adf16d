//! What events come to: each event that is published goes to the correlator, and the incident that it belongs to goes
//! into the same transaction.

use std::cmp::Reverse;
use std::time::Instant;

use gtrace_event::{Event, Incident, IncidentState, Timestamp};
use gtrace_incident::RESOLVED_FOR;
use gtrace_store::{IncidentFilter, Reader, StoreError};

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
            self.hub.recorder.freeze(incident.id);
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
        let all = reader.incidents(&IncidentFilter::default())?;
        let is_resolved = |incident: &Incident| incident.state == IncidentState::Resolved;
        let (resolved, mut found): (Vec<_>, Vec<_>) = all.into_iter().partition(is_resolved);
        self.adopt_resolved(&reader, resolved)?;
        // The worst first, of these the newest: beyond what the hub keeps none is shown and reported.
        found.sort_by_key(|incident| Reverse((incident.severity, incident.opened, incident.id)));
        let left_out = found.len().saturating_sub(INCIDENTS_MAX);
        if left_out > 0 {
            self.hub
                .metrics
                .count_lost("incidents", "not_taken_up", left_out as u64);
            tracing::warn!(
                "{left_out} unresolved incidents of earlier runs, the mildest, are not followed and not reported any more: {} are \
                 at most; `gtrace incidents --open` lists all",
                INCIDENTS_MAX
            );
        }
        found.truncate(INCIDENTS_MAX);
        for incident in found {
            let events = events_of(&reader, &incident)?;
            self.hub.set_incident(incident.clone());
            self.incidents.correlator.adopt(incident, &events);
        }
        Ok(())
    }

    /// Takes up those of which more can become known. An event that has happened again since is of one that is not resolved, which is
    /// taken up after these.
    fn adopt_resolved(
        &mut self,
        reader: &Reader,
        mut resolved: Vec<Incident>,
    ) -> Result<(), StoreError> {
        let now = Timestamp::now();
        let is_known = |at| now.duration_since(at) <= RESOLVED_FOR;
        resolved.retain(|incident| incident.closed.is_some_and(is_known));
        resolved.sort_by_key(|incident| incident.closed);
        let surplus = resolved.len().saturating_sub(INCIDENTS_MAX);
        for incident in resolved.into_iter().skip(surplus) {
            let events = events_of(reader, &incident)?;
            self.incidents.correlator.adopt(incident, &events);
        }
        Ok(())
    }
}

/// The first events of an incident, as the store has them.
fn events_of(reader: &Reader, incident: &Incident) -> Result<Vec<Event>, StoreError> {
    let mut events = Vec::new();
    for id in incident.events.iter().take(ADOPTED_EVENTS) {
        events.extend(reader.event(*id)?);
    }
    Ok(events)
}
