//! What the live stream of records carries: `/api/v1/events/stream`.

use std::collections::HashSet;

use gtrace_event::{Event, EventChange, EventId, Incident, RecordId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of what streams carry: of [`Published`] and what is in it. Fields may be added without
/// a new version.
pub const SCHEMA_VERSION: u32 = 2;

/// A record as live readers get it, with the event it leads to.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Published {
    /// Version of this format.
    pub schema_version: u32,
    /// Identifies the record for ever. Absent where the store has not taken the record (yet), and
    /// of an event of the history, which stands for all its records.
    pub id: Option<RecordId>,
    /// The record's number in the store, rising by one: the last part of `id`.
    pub seq: Option<u64>,
    /// Whether the store could not take the record so far. The record comes again, with its id, once
    /// the store has taken it; if the daemon ends before, never.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub provisional: bool,
    /// What was appended. Absent of a new event, which is `event` itself.
    pub change: Option<EventChange>,
    /// The event with the change applied.
    pub event: Event,
}

impl Published {
    /// A record that the store has.
    pub fn committed(id: RecordId, change: Option<EventChange>, event: Event) -> Self {
        Self {
            id: Some(id),
            seq: Some(id.seq),
            ..Self::snapshot(change, event)
        }
    }

    /// A record that the store has not taken so far.
    pub fn provisional(change: Option<EventChange>, event: Event) -> Self {
        Self {
            provisional: true,
            ..Self::snapshot(change, event)
        }
    }

    /// An event of the history, with all that is known of it.
    pub fn of_history(event: Event) -> Self {
        Self::snapshot(None, event)
    }

    fn snapshot(change: Option<EventChange>, event: Event) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            id: None,
            seq: None,
            provisional: false,
            change,
            event,
        }
    }
}

/// A change of an incident as live readers get it: `/api/v1/incidents/stream`.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PublishedIncident {
    /// Version of this format.
    pub schema_version: u32,
    /// Identifies the record for ever. Absent of an incident of the history.
    pub id: Option<RecordId>,
    /// The record's number in the store, rising by one: the last part of `id`.
    pub seq: Option<u64>,
    /// The incident as it is now.
    pub incident: Incident,
}

impl PublishedIncident {
    /// A change that the store has as the record `id`, or an incident of the history.
    pub fn new(id: Option<RecordId>, incident: Incident) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            id,
            seq: id.map(|id| id.seq),
            incident,
        }
    }
}

/// For readers that show each record once: what they have shown provisionally comes again.
#[derive(Debug, Default)]
pub struct ShownProvisional(HashSet<(EventId, String)>);

impl ShownProvisional {
    /// Whether `published` was not shown yet.
    pub fn is_new(&mut self, published: &Published) -> bool {
        let which = match &published.change {
            None => String::new(),
            Some(EventChange::Amendment(amendment)) => amendment.revision.to_string(),
            Some(EventChange::Ack(ack)) => ack.time.to_string(),
        };
        let key = (published.event.id, which);
        match published.provisional {
            true => self.0.insert(key),
            // It does not come a third time.
            false => !self.0.remove(&key),
        }
    }
}

/// What `event: gap` tells: records that this reader will not get.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gap {
    /// How many records, where that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub missed: Option<u64>,
    /// Why.
    pub reason: String,
}
