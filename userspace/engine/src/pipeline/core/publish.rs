//! From the fold to the store and to who reads live: what is counted, and what each change makes of an event.

use std::sync::Arc;
use std::time::Instant;

use gtrace_api::Published;
use gtrace_event::{
    Action, Event, EventChange, EventId, Incident, Kind, Occurrence, Provenance, Severity,
};

use super::{MAX_WAITING, OPEN_MAX, State};
use crate::metrics::Counted;
use crate::pipeline::confirm::Text;
use crate::pipeline::fold::Folded;
use crate::pipeline::outbox::Pending;

impl State {
    /// One more event of this severity is open, or one less. Only what the kernel wrote counts as a fault.
    pub(super) fn count_open(&self, (severity, provenance): (Severity, Provenance), more: bool) {
        self.hub.update_status(|status| {
            let by_severity = match provenance {
                Provenance::Kernel => &mut status.events,
                apart => status
                    .events_apart
                    .entry(apart.name().to_owned())
                    .or_default(),
            };
            let open = by_severity.entry(severity.name().to_owned()).or_default();
            *open = match more {
                true => *open + 1,
                false => open.saturating_sub(1),
            };
        });
    }

    pub(super) fn opened(&mut self, event: &Event) {
        if self.open.len() >= OPEN_MAX {
            // The status counts it as open from then on.
            self.open.pop_first();
        }
        let counted = (event.severity, event.provenance);
        self.open.insert(event.id, counted);
        self.count_open(counted, true);
    }

    /// Publishes a new event, and counts `count` occurrences; `line` is the text if nobody has said who wrote it.
    pub(super) fn publish_folded(
        &mut self,
        folded: &Folded,
        count: u64,
        provenance: Provenance,
        line: Option<Text>,
    ) {
        let is_line = line.is_some();
        match folded {
            Folded::New(id) => {
                let Some(event) = self.fold.event(*id).cloned() else {
                    return;
                };
                self.count_once(*id, &Counted::from(&event), count, provenance, line);
                if is_line {
                    self.unconfirmed.insert(*id, self.confirmable);
                }
                if self.must_wait() {
                    if !self.fold.holds_back() {
                        tracing::error!(
                            "the store takes nothing and {MAX_WAITING} records wait: new events wait in memory, and may be lost"
                        );
                    }
                    self.fold.hold_back(*id);
                    self.show_unstored(None, event);
                } else {
                    self.opened(&event);
                    self.publish(None, event);
                }
            }
            Folded::Repeat(id) => {
                if let Some(event) = self.fold.event(*id) {
                    let (kind, counted) = (event.kind, Counted::from(event));
                    self.count_once(*id, &counted, count, provenance, line);
                    if kind == Kind::SourceLost || self.unconfirmed.contains_key(id) {
                        self.reassess(*id);
                    }
                }
            }
            Folded::Witnessed(id) => self.reassess(*id),
        }
    }

    /// Counts occurrences of the event `id`; that of a line of which nobody has said who wrote it, once somebody does.
    pub(super) fn count_once(
        &mut self,
        id: EventId,
        counted: &Counted,
        count: u64,
        provenance: Provenance,
        line: Option<Text>,
    ) {
        let Some(line) = line else {
            return self.count(counted, count, provenance);
        };
        let now = Instant::now();
        let oldest = self.confirmations.count_later(line, id, *counted, now);
        if let Some(oldest) = oldest {
            self.count(&oldest, 1, Provenance::Unknown);
        }
    }

    pub(super) fn count(&self, counted: &Counted, n: u64, provenance: Provenance) {
        let exists = counted.gpu().is_some_and(|pci| self.known.has(pci));
        let metrics = &self.hub.metrics;
        metrics.count_event(counted, provenance, exists, n);
    }

    /// A witness may have added what changes the judgement.
    pub(super) fn reassess(&mut self, id: EventId) {
        let Some(event) = self.fold.event(id) else {
            return;
        };
        let provenance = event.provenance;
        let mut occurrence = Occurrence::from(event);
        let mut advice = self.catalogue.assess(&mut occurrence);
        if provenance == Provenance::Unknown {
            if self.unconfirmed.get(&id) == Some(&true) {
                advice.action = Some(Action::Log);
            }
        } else if let Some(withheld) = self.unconfirmed.remove(&id) {
            if withheld {
                // It is a fault from now on, and somebody waits for that.
                self.amend_at = Some(Instant::now());
            }
            for counted in self.confirmations.settle(id) {
                self.count(&counted, 1, provenance);
            }
        }
        let judged = (occurrence.severity, provenance);
        if let Some(counted) = self.open.get_mut(&id)
            && *counted != judged
        {
            let before = std::mem::replace(counted, judged);
            self.count_open(before, false);
            self.count_open(judged, true);
        }
        let Some(event) = self.fold.event(id) else {
            return;
        };
        if event.severity != occurrence.severity || event.advice.as_ref() != Some(&advice) {
            self.fold.change(id, |event| {
                event.severity = occurrence.severity;
                event.advice = Some(advice);
            });
        }
    }

    /// Whether so many records more may wait for the store.
    pub(super) fn has_room(&self, records: usize) -> bool {
        self.writer.waiting() + self.batch.len() + records <= MAX_WAITING
    }

    /// Whether what is new has to wait for room, or behind what does: each is recorded after what came before it.
    pub(super) fn must_wait(&self) -> bool {
        !self.has_room(1) || self.fold.holds_back() || self.health.has_waiting()
    }

    /// Puts a record into the next batch for the store, which publishes it; false if it is lost.
    pub(super) fn publish(&mut self, change: Option<EventChange>, event: Event) -> bool {
        if !self.has_room(1) {
            self.hub.metrics.count_lost("store", "queue_full", 1);
            self.show_unstored(change, event);
            return false;
        }
        if !matches!(change, Some(EventChange::Ack(_))) {
            self.correlate(&event);
        }
        let changes = self.follow_health(change.as_ref(), &event);
        let pushed = self.push(Pending::new(change, event));
        self.record_health_changes(changes);
        pushed
    }

    /// Whoever is on call sees what the store has no room for, too.
    pub(super) fn show_unstored(&self, change: Option<EventChange>, event: Event) {
        let published = Arc::new(Published::provisional(change, event));
        self.hub.publish_provisional(published, false);
    }

    /// Puts a change of an incident into the next batch; false if it is lost.
    pub(super) fn publish_incident(&mut self, incident: Incident) -> bool {
        self.push(Pending::incident(incident))
    }

    pub(super) fn push(&mut self, pending: serde_json::Result<Pending>) -> bool {
        match pending {
            Ok(pending) => {
                self.batch.push(pending);
                true
            }
            Err(error) => {
                tracing::error!("a record cannot be written as JSON: {error}");
                self.hub.metrics.count_lost("store", "not_json", 1);
                false
            }
        }
    }
}
