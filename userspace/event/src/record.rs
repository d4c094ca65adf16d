use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Ack, Amendment, Event, EventId, HealthRecord, Incident};

/// What the store appends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum Record {
    /// A new event.
    Event(Box<Event>),
    /// More is known about an event.
    Amendment(Box<Amendment>),
    /// An event was acknowledged.
    Ack(Ack),
    /// An incident was opened or has changed.
    Incident(Box<Incident>),
    /// The health of a part has changed, or something was observed that changes it.
    Health(Box<HealthRecord>),
}

/// What is new about an event that was known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum EventChange {
    /// More is known about it.
    Amendment(Box<Amendment>),
    /// It was acknowledged.
    Ack(Ack),
}

/// A [`Record`] whose parts are borrowed; its JSON is the same.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum RecordRef<'a> {
    /// [`Record::Event`]
    Event(&'a Event),
    /// [`Record::Amendment`]
    Amendment(&'a Amendment),
    /// [`Record::Ack`]
    Ack(&'a Ack),
    /// [`Record::Incident`]
    Incident(&'a Incident),
    /// [`Record::Health`]
    Health(&'a HealthRecord),
}

impl Record {
    /// The event that the record is about; `None` if it is about an incident or about health.
    pub fn event_id(&self) -> Option<EventId> {
        match self {
            Self::Event(e) => Some(e.id),
            Self::Amendment(a) => Some(a.id),
            Self::Ack(a) => Some(a.id),
            Self::Incident(_) | Self::Health(_) => None,
        }
    }

    /// What it changes of an event; `None` of a new event, and of what is about none.
    pub fn into_change(self) -> Option<EventChange> {
        match self {
            Self::Amendment(amendment) => Some(EventChange::Amendment(amendment)),
            Self::Ack(ack) => Some(EventChange::Ack(ack)),
            Self::Event(_) | Self::Incident(_) | Self::Health(_) => None,
        }
    }

    /// When the record was made.
    pub fn time(&self) -> Timestamp {
        RecordRef::from(self).time()
    }
}

impl<'a> From<&'a Record> for RecordRef<'a> {
    fn from(record: &'a Record) -> Self {
        match record {
            Record::Event(event) => Self::Event(event),
            Record::Amendment(amendment) => Self::Amendment(amendment),
            Record::Ack(ack) => Self::Ack(ack),
            Record::Incident(incident) => Self::Incident(incident),
            Record::Health(health) => Self::Health(health),
        }
    }
}

impl<'a> RecordRef<'a> {
    /// The record of `change`; without one of the new `event`.
    pub fn of(change: Option<&'a EventChange>, event: &'a Event) -> Self {
        match change {
            None => Self::Event(event),
            Some(EventChange::Amendment(amendment)) => Self::Amendment(amendment),
            Some(EventChange::Ack(ack)) => Self::Ack(ack),
        }
    }

    /// The id of the event or incident that the record is about; a record of health has one of its own.
    pub fn subject(self) -> String {
        match self {
            Self::Event(e) => e.id.to_string(),
            Self::Amendment(a) => a.id.to_string(),
            Self::Ack(a) => a.id.to_string(),
            Self::Incident(i) => i.id.to_string(),
            Self::Health(h) => h.id.to_string(),
        }
    }

    /// When the record was made.
    pub fn time(self) -> Timestamp {
        match self {
            Self::Event(e) => e.time,
            Self::Amendment(a) => a.time,
            Self::Ack(a) => a.time,
            Self::Incident(i) => i.time,
            Self::Health(h) => h.time,
        }
    }
}
