use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::EventId;

/// Somebody took note of an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ack {
    /// The event.
    pub id: EventId,
    /// When.
    pub time: Timestamp,
    /// Who, as they named themselves.
    pub by: String,
    /// Why, or what was done.
    pub note: String,
}

impl Ack {
    /// `by` acknowledged the event `id` at `time`, with a note.
    pub fn new(
        id: EventId,
        time: Timestamp,
        by: impl Into<String>,
        note: impl Into<String>,
    ) -> Self {
        let (by, note) = (by.into(), note.into());
        Self { id, time, by, note }
    }
}
