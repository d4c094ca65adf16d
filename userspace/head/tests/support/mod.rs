//! Generated hosts, and the servers that fleets use.
#![allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    reason = "tests only"
)]

pub mod fleet;
pub mod nats;
mod postgres;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gtrace_event::{
    Amendment, Event, FailureClass, Incident, Kind, Occurrence, Provenance, Record, Severity,
    Timestamp, WitnessName,
};
use gtrace_store::{Options, Store};
pub use postgres::{Postgres, Secured};

/// What is found at last, within so many seconds.
#[track_caller]
pub fn wait_for<T>(what: &str, seconds: u64, look: impl FnMut() -> Option<T>) -> T {
    wait_within(seconds, &|| what.to_owned(), look)
}

/// The same; what did not come is only asked for then.
#[track_caller]
pub fn wait_within<T>(
    seconds: u64,
    what: &dyn Fn() -> String,
    mut look: impl FnMut() -> Option<T>,
) -> T {
    let until = Instant::now() + Duration::from_secs(seconds);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "{} did not come", what());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// An event of `host`.
pub fn event(host: &str, xid: u32, time: Timestamp) -> Event {
    let mut occurrence = Occurrence::new(Kind::Xid, Severity::Critical, format!("Xid {xid}"));
    occurrence.detail.xid.xid = Some(xid);
    occurrence.provenance = Provenance::Injected;
    let mut event = Event::seen(time, WitnessName::PrintkConsole, 1, occurrence);
    event.host = Some(host.to_owned());
    event
}

/// More about an event.
pub fn amendment(event: &Event, severity: Severity) -> Amendment {
    let mut json = serde_json::json!({ "id": event.id, "revision": 1, "time": event.time, "witnesses": event.witnesses });
    json["severity"] = serde_json::to_value(severity).unwrap();
    serde_json::from_value(json).unwrap()
}

/// An incident of `host`.
pub fn incident(host: &str, class: FailureClass, opened: Timestamp) -> Incident {
    serde_json::from_value(serde_json::json!({
        "id": gtrace_event::IncidentId::new(opened.as_millisecond().unsigned_abs()),
        "time": opened, "opened": opened, "last_time": opened, "state": "open", "severity": "critical",
        "title": "a simulated failure", "class": class, "host": host, "events": [], "event_count": 1,
        "occurrences": 1, "drill": true,
    }))
    .unwrap()
}

/// A generated host's store.
pub struct Host {
    pub name: String,
    pub store: Store,
    pub path: PathBuf,
}

impl Host {
    pub fn new(dir: &Path, name: &str) -> Self {
        let path = dir.join(format!("{name}.db"));
        let store = Store::open(&path, Options::default()).unwrap();
        Self {
            name: name.to_owned(),
            store,
            path,
        }
    }

    pub fn append(&mut self, records: &[Record]) {
        self.store.append(records, &[]).unwrap();
    }

    pub fn events(&mut self, count: u32) {
        let record = |n| Record::Event(Box::new(event(&self.name, n, Timestamp::now())));
        let records: Vec<Record> = (0..count).map(record).collect();
        self.append(&records);
    }
}
