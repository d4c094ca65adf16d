//! What tests of the database begin with.

use gtrace_event::{Epoch, FailureClass, Incident, IncidentId, Record};
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

/// The first records of a host.
pub(super) fn first_batch(
    host: i64,
    bodies: impl Iterator<Item = String>,
    seen: Timestamp,
) -> Arrived {
    let epoch = Epoch::from_bytes([host as u8 + 1; 16]);
    let mut hash = Hash::GENESIS;
    let mut records = Vec::new();
    for (n, body) in bodies.enumerate() {
        let record = Carried::new(epoch, n as u64 + 1, hash, body);
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
