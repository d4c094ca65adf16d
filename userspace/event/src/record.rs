use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Ack, Amendment, Event, EventId};

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
}

impl Record {
    /// The event that the record is about.
    pub fn event_id(&self) -> EventId {
        match self {
            Self::Event(e) => e.id,
            Self::Amendment(a) => a.id,
            Self::Ack(a) => a.id,
        }
    }

    /// When the record was made.
    pub fn time(&self) -> Timestamp {
        match self {
            Self::Event(e) => e.time,
            Self::Amendment(a) => a.time,
            Self::Ack(a) => a.time,
        }
    }
}
