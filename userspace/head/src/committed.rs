//! A record on its way to the readers of live streams: it is read once for all of them.

use std::sync::{Mutex, OnceLock, PoisonError};

use gtrace_event::{Kind, Record, Severity};

/// A record that was committed.
pub(crate) struct Committed {
    /// Its JSON, until somebody has read it.
    body: Mutex<Option<Box<str>>>,
    shown: OnceLock<Option<Shown>>,
}

/// A record as readers are shown it.
pub(crate) struct Shown {
    pub(crate) what: What,
    /// The event, or the incident, JSON.
    pub(crate) json: String,
}

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Incident,
    Event(Kind, Severity),
}

impl Committed {
    pub(crate) fn new(body: &str) -> Self {
        Self {
            body: Mutex::new(Some(body.into())),
            shown: OnceLock::new(),
        }
    }

    /// What readers are shown of it; `None` where it is neither, or this version cannot read it.
    pub(crate) fn shown(&self) -> Option<&Shown> {
        let first = || {
            let mut body = self.body.lock().unwrap_or_else(PoisonError::into_inner);
            read(&body.take()?)
        };
        self.shown.get_or_init(first).as_ref()
    }
}

fn read(body: &str) -> Option<Shown> {
    let (what, json) = match serde_json::from_str(body).ok()? {
        Record::Incident(incident) => (What::Incident, serde_json::to_string(&incident)),
        Record::Event(event) => {
            let what = What::Event(event.kind, event.severity);
            (what, serde_json::to_string(&event))
        }
        _ => return None,
    };
    let json = json.ok()?;
    Some(Shown { what, json })
}

#[cfg(test)]
mod tests {
    use gtrace_event::{Event, Occurrence, Timestamp, WitnessName};

    use super::*;

    #[test]
    fn a_record_is_read_once_for_all_readers() {
        let xid = Occurrence::new(Kind::Xid, Severity::Critical, "Xid 79");
        let event = Event::seen(Timestamp::UNIX_EPOCH, WitnessName::Kmsg, 1, xid);
        let json = serde_json::to_string(&event).unwrap();
        let record = serde_json::to_string(&Record::Event(Box::new(event))).unwrap();
        let committed = Committed::new(&record);
        let first = committed.shown().unwrap();
        assert_eq!(first.what, What::Event(Kind::Xid, Severity::Critical));
        assert_eq!(first.json, json);
        // There is nothing left to read.
        assert!(committed.body.lock().unwrap().is_none());
        assert!(std::ptr::eq(committed.shown().unwrap(), first));
        assert!(Committed::new("{}").shown().is_none());
    }
}
