use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Advice, Detail, Event, EventId, Gpu, Process, Provenance, Severity, Witness};

/// A change to an event: another witness, a repeat, or more known about it.
///
/// Every part that is present replaces the event's part whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Amendment {
    /// The event.
    pub id: EventId,
    /// 1 for the first amendment of an event, then rising by one.
    pub revision: u32,
    /// When the amendment was made.
    pub time: Timestamp,
    /// All witnesses, old and new.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub witnesses: Option<Vec<Witness>>,
    /// New count of repeats.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub repeats: Option<u64>,
    /// When the newest repeat happened.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub last_time: Option<Timestamp>,
    /// Provenance, once known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub provenance: Option<Provenance>,
    /// New severity.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub severity: Option<Severity>,
    /// The device, with more known of it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gpu: Option<Gpu>,
    /// The process, with more known of it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub process: Option<Process>,
    /// The whole message, where the first witness had only a part.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message: Option<String>,
    /// The whole detail.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<Box<Detail>>,
    /// New advice.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub advice: Option<Advice>,
}

impl Amendment {
    /// What changes `old` into `new`; `None` if nothing does.
    ///
    /// `new.revision` must be one more than `old.revision`.
    pub fn between(old: &Event, new: &Event, time: Timestamp) -> Option<Self> {
        fn changed<T: PartialEq + Clone>(old: &T, new: &T) -> Option<T> {
            (old != new).then(|| new.clone())
        }
        fn appeared<T: PartialEq + Clone>(old: &Option<T>, new: &Option<T>) -> Option<T> {
            if old == new { None } else { new.clone() }
        }
        let amendment = Self {
            id: new.id,
            revision: new.revision,
            time,
            witnesses: changed(&old.witnesses, &new.witnesses),
            repeats: changed(&old.repeats, &new.repeats),
            last_time: appeared(&old.last_time, &new.last_time),
            provenance: changed(&old.provenance, &new.provenance),
            severity: changed(&old.severity, &new.severity),
            gpu: appeared(&old.gpu, &new.gpu),
            process: appeared(&old.process, &new.process),
            message: changed(&old.message, &new.message),
            detail: changed(&old.detail, &new.detail),
            advice: appeared(&old.advice, &new.advice),
        };
        let empty = Self {
            witnesses: None,
            repeats: None,
            last_time: None,
            provenance: None,
            severity: None,
            gpu: None,
            process: None,
            message: None,
            detail: None,
            advice: None,
            ..amendment.clone()
        };
        (amendment != empty).then_some(amendment)
    }
}
