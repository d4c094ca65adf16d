//! What tests of the database begin with.

use gtrace_event::{
    Epoch, Event, FailureClass, Incident, IncidentId, Kind, Occurrence, Record, Severity,
    WitnessName,
};
use gtrace_fleet::{Batch, Carried};
use gtrace_store::Hash;

use super::*;

/// A host that is taken into the fleet; its number.
pub(super) fn enrolled(database: &mut Database, name: &str, now: Timestamp) -> i64 {
    let token = database.add_token(name, None, Timestamp::MAX, 1, "test");
    token.unwrap();
    let request = gtrace_fleet::EnrollRequest {
        token: name.to_owned(),
        host: name.to_owned(),
        machine_id: None,
        simulated: true,
    };
    database.enroll(&request, "secret", now).unwrap()
}

/// The state of a host of which nothing is known.
pub(super) fn bare_state(host: i64, seen: Timestamp) -> NewState {
    NewState {
        host,
        state: "{}".to_owned(),
        tip: 0,
        gpus: Vec::new(),
        usage: Vec::new(),
        ends: Vec::new(),
        latency: Vec::new(),
        seen,
    }
}

pub(super) fn with_hosts(names: &[&str]) -> (tempfile::TempDir, Database) {
    let dir = tempfile::tempdir().unwrap();
    let mut database = Database::open(&Place::File(dir.path().join("fleet.db"))).unwrap();
    for (n, name) in names.iter().enumerate() {
        database
            .sql
            .execute(
                "INSERT INTO hosts(id, name, simulated, credential, enrolled_ns, taken, tip, forks) \
                 VALUES ($1, $2, 0, $3, 0, 0, 0, 0)",
                &[(n as i64).into(), (*name).into(), [0_u8; 32].as_slice().into()],
            )
            .unwrap();
    }
    (dir, database)
}

/// An open incident of this class, of GPUs at these addresses.
pub(super) fn incident(opened: Timestamp, class: FailureClass, gpus: &[&str]) -> Incident {
    let gpu = |pci: &&str| serde_json::json!({ "pci": pci });
    let gpus: Vec<serde_json::Value> = gpus.iter().map(gpu).collect();
    serde_json::from_value(serde_json::json!({
        "id": IncidentId::new(opened.as_millisecond().unsigned_abs()), "time": opened, "opened": opened,
        "last_time": opened, "state": "open", "severity": "critical", "title": "generated", "class": class,
        "events": [], "event_count": 1, "occurrences": 1, "affected": { "gpus": gpus },
    }))
    .unwrap()
}

impl Database {
    /// [`Self::exposed`] with all read, as nothing is taken for over.
    pub(super) fn exposed_anew(&mut self, by: &Unit) -> Vec<gtrace_fleet::lemon::Exposed> {
        self.exposed(&mut Tallies::default(), by, i64::MIN).unwrap()
    }

    /// The same of [`Self::cohorts`].
    pub(super) fn cohorts_anew(
        &mut self,
        by: &Factor,
    ) -> BTreeMap<String, Vec<gtrace_fleet::lemon::Exposed>> {
        self.cohorts(&mut Tallies::default(), by, i64::MIN).unwrap()
    }

    /// The number that a query is for.
    pub(super) fn number(&mut self, sql: &str) -> i64 {
        self.sql.number(sql, &[]).unwrap()
    }
}

/// A GPU in a slot, of which nothing else is known.
pub(super) fn placed(pci: &str, uuid: &str) -> Placed {
    Placed {
        pci: pci.to_owned(),
        uuid: uuid.to_owned(),
        versions: String::new(),
    }
}

/// An Xid that was seen at this time.
pub(super) fn xid(time: Timestamp, severity: Severity, message: &str) -> Event {
    let occurrence = Occurrence::new(Kind::Xid, severity, message);
    Event::seen(time, WitnessName::PrintkConsole, 1, occurrence)
}

/// A record that makes an event so severe.
pub(super) fn amendment(event: &Event, severity: Severity) -> Record {
    serde_json::from_value(serde_json::json!({
        "record": "amendment", "id": event.id, "revision": 1, "time": event.time, "witnesses": event.witnesses,
        "severity": severity,
    }))
    .unwrap()
}

/// The first records of a host.
pub(super) fn first_batch(
    host: i64,
    bodies: impl IntoIterator<Item = impl Into<String>>,
    seen: Timestamp,
) -> Arrived {
    let epoch = Epoch::from_bytes([host as u8 + 1; 16]);
    let mut hash = Hash::GENESIS;
    let mut records = Vec::new();
    for (n, body) in bodies.into_iter().enumerate() {
        let record = Carried::new(epoch, n as u64 + 1, hash, body.into());
        hash = record.hash;
        records.push(record);
    }
    let batch = Batch {
        after: None,
        tip: records.len() as u64,
        records,
    };
    Arrived { host, batch, seen }
}

/// Takes the first records of a host.
pub(super) fn put_first(database: &mut Database, host: i64, records: &[Record], seen: Timestamp) {
    let bodies = records
        .iter()
        .map(|one| serde_json::to_string(one).unwrap());
    let arrived = first_batch(host, bodies, seen);
    database.ingest(seen, &[arrived]).unwrap();
}
