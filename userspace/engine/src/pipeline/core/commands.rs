//! What the API asks of the core.

use gtrace_event::{Ack, Event, EventId, Incident, IncidentId, Record, StateChange};
use gtrace_store::Reader;
use tokio::sync::oneshot;

use super::State;
use crate::hub::Command;

impl State {
    pub(super) fn command(&mut self, command: Command) {
        match command {
            Command::Ack(ack, answer) => self.ack(ack, answer),
            Command::Incident(id, change, answer) => self.change_incident(id, *change, answer),
            Command::Flush(answer) => self.amend_and(Some(Box::new(move |result| {
                // Whoever asked may have given up.
                let _ = answer.send(result);
            }))),
            Command::Pause(_, answer) => {
                let _ = answer.send(Err("the core does not own the probes".to_owned()));
            }
        }
    }

    /// The answer comes from the store's thread: the core does not wait for the disk.
    pub(super) fn ack(&mut self, ack: Ack, answer: oneshot::Sender<Result<Event, String>>) {
        let result = match self.find(ack.id) {
            Ok(event) => self.acknowledge(ack, event),
            Err(why) => Err(why),
        };
        match result {
            Ok(event) => self.amend_and(Some(Box::new(move |stored| {
                // Whoever asked may have given up.
                let _ = answer.send(stored.map(|()| event).map_err(|why| {
                    format!("{why}; the acknowledgement waits with other records until the store takes them")
                }));
            }))),
            Err(why) => {
                let _ = answer.send(Err(why));
            }
        }
    }

    pub(super) fn acknowledge(&mut self, ack: Ack, mut event: Event) -> Result<Event, String> {
        // Before it is published: nobody is to see an acknowledgement that was refused.
        if !self.has_room(1) {
            return Err("the store takes nothing, and no more records may wait for it".to_owned());
        }
        event.acks.push(ack.clone());
        if !self.publish(Record::Ack(ack), event.clone()) {
            return Err("the acknowledgement cannot be written as JSON".to_owned());
        }
        let acks = event.acks.clone();
        self.fold.change(event.id, |event| event.acks = acks);
        if let Some(counted) = self.open.remove(&event.id) {
            self.count_open(counted, false);
        }
        Ok(event)
    }

    /// As [`Self::ack`].
    fn change_incident(
        &mut self,
        id: IncidentId,
        change: StateChange,
        answer: oneshot::Sender<Result<Incident, String>>,
    ) {
        match self.changed_incident(id, change) {
            Ok(incident) => self.amend_and(Some(Box::new(move |stored| {
                // Whoever asked may have given up.
                let _ = answer.send(stored.map(|()| incident).map_err(|why| {
                    format!("{why}; the change waits with other records until the store takes them")
                }));
            }))),
            Err(why) => {
                let _ = answer.send(Err(why));
            }
        }
    }

    fn changed_incident(
        &mut self,
        id: IncidentId,
        change: StateChange,
    ) -> Result<Incident, String> {
        if !self.has_room(1) {
            return Err("the store takes nothing, and no more records may wait for it".to_owned());
        }
        let incident = match self.incidents.correlator.change_state(id, change.clone()) {
            Some(incident) => incident,
            None => {
                let mut incident = self.find_incident(id)?;
                incident.change_state(change);
                incident
            }
        };
        // What waits is older.
        self.incidents.changes.forget(id);
        self.hub.set_incident(incident.clone());
        self.hub.metrics.observe_response(&incident);
        match self.publish_incident(incident.clone()) {
            true => Ok(incident),
            false => Err("the change cannot be written as JSON".to_owned()),
        }
    }

    /// An incident that the correlator has let go of.
    fn find_incident(&self, id: IncidentId) -> Result<Incident, String> {
        if let Some(incident) = self.hub.incident(id) {
            return Ok(incident);
        }
        Reader::open(&self.store_path)
            .and_then(|reader| reader.incident(id))
            .inspect_err(|error| self.hub.suspect_store(error))
            .map_err(|e| e.to_string())?
            .ok_or_else(|| format!("there is no incident {id}"))
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
