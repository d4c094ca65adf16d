use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Advice, Detail, Event, EventId, Gpu, Process, Provenance, Severity, Variant, Witness};

/// A change to an event: another witness, a repeat, or more known about it.
///
/// Every part that is present replaces the event's part whole.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Amendment {
    /// The event.
    pub id: EventId,
    /// 1 for the first amendment of an event, then rising by one.
    pub revision: u32,
    /// When the amendment was made.
    pub time: Timestamp,
    /// All witnesses, old and new.
    pub witnesses: Option<Vec<Witness>>,
    /// New count of repeats.
    pub repeats: Option<u64>,
    /// When the newest repeat happened.
    pub last_time: Option<Timestamp>,
    /// Some of the repeats whose text differs, old and new.
    pub variants: Option<Vec<Variant>>,
    /// Provenance, once known.
    pub provenance: Option<Provenance>,
    /// New severity.
    pub severity: Option<Severity>,
    /// The device, with more known of it.
    pub gpu: Option<Gpu>,
    /// The process, with more known of it.
    pub process: Option<Process>,
    /// The whole message, where the first witness had only a part.
    pub message: Option<String>,
    /// The whole detail.
    pub detail: Option<Box<Detail>>,
    /// New advice.
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
            variants: changed(&old.variants, &new.variants),
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
            variants: None,
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

impl Event {
    /// Applies `amendment`. One that is older than the event's revision changes nothing.
    pub fn apply(&mut self, amendment: &Amendment) {
        if amendment.revision <= self.revision {
            return;
        }
        let Amendment {
            witnesses,
            repeats,
            variants,
            provenance,
            severity,
            message,
            detail,
            ..
        } = amendment.clone();
        self.revision = amendment.revision;
        set(&mut self.witnesses, witnesses);
        set(&mut self.repeats, repeats);
        set(&mut self.variants, variants);
        set(&mut self.provenance, provenance);
        set(&mut self.severity, severity);
        set(&mut self.message, message);
        set(&mut self.detail, detail);
        set_some(&mut self.last_time, &amendment.last_time);
        set_some(&mut self.gpu, &amendment.gpu);
        set_some(&mut self.process, &amendment.process);
        set_some(&mut self.advice, &amendment.advice);
    }
}

fn set<T>(part: &mut T, new: Option<T>) {
    if let Some(new) = new {
        *part = new;
    }
}

fn set_some<T: Clone>(part: &mut Option<T>, new: &Option<T>) {
    if new.is_some() {
        part.clone_from(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::tests::event;

    #[test]
    fn an_amendment_carries_only_what_changed_and_applies_once() {
        let old = event();
        let mut new = old.clone();
        new.revision = 1;
        new.repeats = 3;
        new.provenance = Provenance::Kernel;
        let amendment = Amendment::between(&old, &new, old.time).unwrap();
        assert!(amendment.message.is_none() && amendment.detail.is_none());
        let mut folded = old.clone();
        folded.apply(&amendment);
        folded.apply(&amendment);
        assert_eq!(folded, new);
        assert!(Amendment::between(&old, &old, old.time).is_none());
    }
}
