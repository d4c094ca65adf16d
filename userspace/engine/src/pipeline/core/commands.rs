//! What the API asks of the core.

use std::collections::BTreeMap;

use gtrace_event::{
    Ack, Event, EventChange, EventId, Incident, IncidentId, IncidentState, Kind, Occurrence,
    Provenance, Severity, StateChange, Timestamp, WitnessName,
};
use gtrace_store::Reader;
use tokio::sync::oneshot;

use super::State;
use super::incidents::ADOPTED_EVENTS;
use crate::clock;
use crate::hub::{Command, Unchanged};

/// Why nothing is changed.
pub(super) const NO_ROOM: &str = "the store takes nothing, and no more records may wait for it";

impl State {
    pub(super) fn command(&mut self, command: Command) {
        match command {
            Command::Ack(ack, answer) => self.ack(ack, answer),
            Command::Incident(id, change, answer) => self.change_incident(id, *change, answer),
            Command::Capture(reason, answer) => {
                let captured = self.capture(reason);
                self.answer("change", captured, answer);
            }
            Command::Evidence {
                incident,
                evidence,
                missing,
                answer,
            } => {
                let now = Timestamp::now();
                let changed = self.changed_incident(incident, |incident| {
                    Ok(incident.add_evidence(now, evidence, missing))
                });
                match changed {
                    Ok(_) => self.amend_and(Some(Box::new(move |stored| {
                        // Whoever asked may have given up.
                        let _ = answer.send(stored.map_err(Unchanged::Failed));
                    }))),
                    Err(why) => drop(answer.send(Err(why))),
                }
            }
            Command::Flush(answer) => self.amend_and(Some(Box::new(move |result| {
                // Whoever asked may have given up.
                let _ = answer.send(result);
            }))),
            Command::Observed(occasion) => {
                self.observe_health(occasion);
                self.send_batch();
            }
            Command::HostNews(news) => self.take_host_news(*news),
            Command::SiteRules(text) => self.take_site_rules(text),
            Command::Checked(checked) => self.judge_checks(&checked),
            Command::Looked(looked) => self.look_at_plugins(&looked),
            Command::HoldersRead(pids) => self.name_holders(&pids),
            Command::Maintenance(window, answer) => {
                let begun = self.begin_maintenance(window);
                self.answer("change", begun, answer);
            }
            Command::Pause(_, answer) => {
                let _ = answer.send(Err("the core does not own the probes".to_owned()));
            }
        }
    }

    fn ack(&mut self, ack: Ack, answer: oneshot::Sender<Result<Event, String>>) {
        let found = self.find(ack.id);
        let acknowledged = found.and_then(|event| self.acknowledge(ack, event));
        self.answer("acknowledgement", acknowledged, answer);
    }

    fn acknowledge(&mut self, ack: Ack, mut event: Event) -> Result<Event, String> {
        // Before it is published: nobody is to see an acknowledgement that was refused.
        if !self.has_room(1) || self.fold.is_held_back(event.id) {
            return Err(NO_ROOM.to_owned());
        }
        event.acks.push(ack.clone());
        if !self.publish(Some(EventChange::Ack(ack)), event.clone()) {
            return Err("the acknowledgement cannot be written as JSON".to_owned());
        }
        let acks = event.acks.clone();
        self.fold.change(event.id, |event| event.acks = acks);
        if let Some(counted) = self.open.remove(&event.id) {
            self.count_open(counted, false);
        }
        Ok(event)
    }

    fn capture(&mut self, reason: String) -> Result<Incident, String> {
        if self.must_wait() {
            return Err(NO_ROOM.to_owned());
        }
        let mut occurrence = Occurrence::new(Kind::Capture, Severity::Info, reason);
        occurrence.provenance = Provenance::Kernel;
        occurrence.boottime_ns = Some(clock::boottime_ns());
        let folded = self.ingest_one(WitnessName::Gtrace, occurrence, 1);
        let id = folded.first().map(|(folded, _)| folded.id());
        let mut incidents = self.incidents.correlator.incidents();
        let found = incidents.find(|incident| id.is_some_and(|id| incident.events.contains(&id)));
        let found = found.cloned();
        found.ok_or_else(|| "the incident was not opened".to_owned())
    }

    fn change_incident(
        &mut self,
        id: IncidentId,
        change: StateChange,
        answer: oneshot::Sender<Result<Incident, String>>,
    ) {
        let changed = self.changed_incident(id, |incident| match incident.refuses(change.state) {
            Some(why) => Err(why),
            None => {
                incident.change_state(change);
                Ok(true)
            }
        });
        let changed = changed.map_err(|why| why.to_string());
        if let Ok(incident) = &changed {
            self.hub.metrics.observe_response(incident);
        }
        self.answer("change", changed, answer);
    }

    /// The answer comes from the store's thread: the core does not wait for the disk.
    fn answer<T: Send + 'static>(
        &mut self,
        what: &'static str,
        changed: Result<T, String>,
        answer: oneshot::Sender<Result<T, String>>,
    ) {
        // Whoever asked may have given up.
        match changed {
            Ok(changed) => self.amend_and(Some(Box::new(move |stored| {
                let _ = answer.send(stored.map(|()| changed).map_err(|why| {
                    format!("{why}; the {what} waits with other records until the store takes them")
                }));
            }))),
            Err(why) => drop(answer.send(Err(why))),
        }
    }

    /// `change` says whether it has changed anything.
    fn changed_incident(
        &mut self,
        id: IncidentId,
        change: impl FnOnce(&mut Incident) -> Result<bool, String>,
    ) -> Result<Incident, Unchanged> {
        if !self.has_room(1) {
            return Err(Unchanged::Failed(NO_ROOM.to_owned()));
        }
        let mut change = Some(change);
        let mut done = Ok(false);
        let mut once = |incident: &mut Incident| {
            if let Some(change) = change.take() {
                done = change(incident);
            }
        };
        let live = self.incidents.correlator.change(id, &mut once);
        let is_live = live.is_some();
        let mut incident = match live {
            Some(incident) => incident,
            None => {
                let mut incident = self.find_incident(id)?;
                once(&mut incident);
                incident
            }
        };
        if !done.map_err(Unchanged::Failed)? {
            return Ok(incident);
        }
        if !is_live && incident.state != IncidentState::Resolved {
            // More may come of it.
            let events = self.events_of(&incident);
            incident = self.incidents.correlator.adopt(incident, &events);
        }
        // What waits is older.
        self.incidents.changes.forget(id);
        self.hub.set_incident(incident.clone());
        match self.publish_incident(incident.clone()) {
            true => Ok(incident),
            false => Err(Unchanged::Failed(
                "the change cannot be written as JSON".to_owned(),
            )),
        }
    }

    /// An incident that the correlator has let go of.
    fn find_incident(&self, id: IncidentId) -> Result<Incident, Unchanged> {
        if let Some(incident) = self.hub.incident(id) {
            return Ok(incident);
        }
        Reader::open(&self.store_path)
            .and_then(|reader| reader.incident(id))
            .inspect_err(|error| self.hub.suspect_store(error))
            .map_err(|e| Unchanged::Failed(e.to_string()))?
            .ok_or(Unchanged::NoIncident(id))
    }

    /// The first events of an incident, as far as they can be had.
    fn events_of(&self, incident: &Incident) -> Vec<Event> {
        let ids = || incident.events.iter().take(ADOPTED_EVENTS);
        let mut found: BTreeMap<EventId, Event> = ids()
            .filter_map(|id| {
                let live = self.fold.event(*id).cloned();
                live.or_else(|| self.writer.event(*id))
            })
            .map(|event| (event.id, event))
            .collect();
        let others: Vec<EventId> = ids()
            .copied()
            .filter(|id| !found.contains_key(id))
            .collect();
        let stored = Reader::open(&self.store_path).map(|reader| {
            reader.events(&others).unwrap_or_else(|error| {
                self.hub.suspect_store(&error);
                reader.readable_events(&others)
            })
        });
        let stored = stored
            .inspect_err(|error| self.hub.suspect_store(error))
            .unwrap_or_default();
        found.extend(stored.into_iter().map(|event| (event.id, event)));
        ids().filter_map(|id| found.remove(id)).collect()
    }

    /// The event as everything that was published says.
    pub(super) fn find(&self, id: EventId) -> Result<Event, String> {
        let live = self.fold.event(id).cloned();
        let waiting = || self.writer.event(id);
        if let Some(event) = live.or_else(waiting) {
            return Ok(event);
        }
        Reader::open(&self.store_path)
            .and_then(|reader| reader.event(id))
            .inspect_err(|error| self.hub.suspect_store(error))
            .map_err(|e| e.to_string())?
            .ok_or_else(|| format!("there is no event {id}"))
    }
}
