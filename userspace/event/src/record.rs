use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Ack, Amendment, Event, EventId, HealthRecord, Incident};

/// What the store appends and live streams carry.
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

    /// The id of the event or incident that the record is about; a record of health has one of its own.
    pub fn subject(&self) -> String {
        match self {
            Self::Event(e) => e.id.to_string(),
            Self::Amendment(a) => a.id.to_string(),
            Self::Ack(a) => a.id.to_string(),
            Self::Incident(i) => i.id.to_string(),
            Self::Health(h) => h.id.to_string(),
        }
    }

    /// When the record was made.
    pub fn time(&self) -> Timestamp {
        match self {
            Self::Event(e) => e.time,
            Self::Amendment(a) => a.time,
            Self::Ack(a) => a.time,
            Self::Incident(i) => i.time,
            Self::Health(h) => h.time,
        }
    }
}
