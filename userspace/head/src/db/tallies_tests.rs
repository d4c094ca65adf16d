//! What is kept between questions is what reading everything gives.

use gtrace_event::{Epoch, FailureClass, Incident, IncidentId, IncidentState, Record, Timestamp};
use gtrace_fleet::{Batch, Carried};
use gtrace_store::Hash;

use super::testing::{bare_state, enrolled, incident};
use super::{
    Arrived, DAY_NS, Database, Factor, NewState, Place as Where, Placed, Tallies, Unit, Versions,
    nanos,
};

/// A fleet whose GPUs move, whose drivers change, whose incidents change, and of which old days go.
struct History {
    db: Database,
    hosts: Vec<(i64, Hash, u64)>,
    incidents: Vec<(usize, IncidentId, Timestamp, u32)>,
    minute: i64,
}

const CLASSES: [FailureClass; 4] = [
    FailureClass::Pcie,
    FailureClass::GpuMemory,
    FailureClass::Application,
    FailureClass::Host,
];

impl History {
    fn new(dir: &std::path::Path) -> Self {
        let mut db = Database::open(&Where::File(dir.join("fleet.db"))).unwrap();
        let mut hosts = Vec::new();
        for name in ["a", "b", "c"] {
            let id = enrolled(&mut db, name, Timestamp::UNIX_EPOCH);
            hosts.push((id, Hash::GENESIS, 0));
        }
        Self {
            db,
            hosts,
            incidents: Vec::new(),
            minute: 0,
        }
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_second(1_780_000_000 + self.minute * 60).unwrap()
    }

    fn today(&self) -> i64 {
        nanos(self.now()).div_euclid(DAY_NS)
    }

    fn state(&mut self, random: &mut fastrand::Rng) {
        let host = random.usize(..self.hosts.len());
        let mut gpus = Vec::new();
        for slot in 0..2 {
            if random.u8(..8) == 0 {
                continue;
            }
            let versions = Versions {
                driver: Some(["570", "580"][random.usize(..2)].to_owned()),
                ..Versions::default()
            };
            gpus.push(Placed {
                pci: format!("0000:0{slot}:00.0"),
                uuid: ["", "GPU-1", "GPU-2"][random.usize(..3)].to_owned(),
                versions: versions.text(),
            });
        }
        let now = self.now();
        let state = NewState {
            gpus,
            ..bare_state(self.hosts[host].0, now)
        };
        self.db.put_states(&[state], now).unwrap();
    }

    fn incident(&mut self, random: &mut fastrand::Rng) {
        let now = self.now();
        let (host, id, opened, revision) = match random.bool() && !self.incidents.is_empty() {
            true => {
                let n = random.usize(..self.incidents.len());
                self.incidents[n].3 += 1;
                self.incidents[n]
            }
            false => {
                let id = IncidentId::new(now.as_millisecond().unsigned_abs());
                let new = (random.usize(..self.hosts.len()), id, now, 0);
                self.incidents.push(new);
                new
            }
        };
        let (gpus, is_open) = (random.u8(..3), random.bool());
        let class = CLASSES[random.usize(..4)];
        let mut incident = Incident {
            id,
            revision,
            opened,
            drill: random.u8(..4) == 0,
            ..incident(now, class, &["0000:00:00.0"])
        };
        match gpus {
            0 => incident.affected.gpus.clear(),
            1 => {}
            _ => {
                let gpu = &mut incident.affected.gpus[0];
                (gpu.pci, gpu.uuid) = ("0000:01:00.0".parse().ok(), Some("GPU-2".to_owned()));
            }
        }
        if !is_open {
            incident.state = IncidentState::Resolved;
        }
        let record = Record::Incident(Box::new(incident));
        let (number, hash, seq) = &mut self.hosts[host];
        let after = (*seq > 0)
            .then(|| gtrace_fleet::Position::new(Epoch::from_bytes([1; 16]), *seq, *hash));
        *seq += 1;
        let body = serde_json::to_string(&record).unwrap();
        let carried = Carried::new(Epoch::from_bytes([1; 16]), *seq, *hash, body);
        *hash = carried.hash;
        let batch = Batch {
            after,
            tip: *seq,
            records: vec![carried],
        };
        let arrived = Arrived {
            host: *number,
            batch,
            seen: now,
        };
        let taken = self.db.ingest(now, &[arrived]).unwrap();
        assert_eq!(taken[0].taken, 1);
    }
}

#[test]
fn what_is_kept_gives_the_same_answers_as_reading_all() {
    let mut random = fastrand::Rng::with_seed(7);
    let (mut failures, mut rounds_with_removals) = (0, 0);
    for _ in 0..6 {
        let dir = tempfile::tempdir().unwrap();
        let mut history = History::new(dir.path());
        let mut kept = Tallies::default();
        for _ in 0..60 {
            for _ in 0..random.usize(..6) {
                history.minute += match random.u8(..4) {
                    0 => random.i64(0..2000),
                    _ => random.i64(0..3),
                };
                match random.u8(..3) {
                    0 => history.incident(&mut random),
                    _ => history.state(&mut random),
                }
            }
            if random.u8(..20) == 0 {
                let day = history.today() - random.i64(1..5);
                let before = history.db.incident_changes().unwrap();
                history.db.retain(day).unwrap();
                rounds_with_removals +=
                    usize::from(history.db.incident_changes().unwrap() != before);
            }
            let today = history.today();
            let db = &mut history.db;
            for by in [Unit::Gpu, Unit::Slot, Unit::Host] {
                let anew = db.exposed_anew(&by);
                let known = db.exposed(&mut kept, &by, today).unwrap();
                assert_eq!(known, anew);
                failures += known.iter().map(|unit| unit.failures).sum::<u64>();
            }
            let anew = db.cohorts_anew(&Factor::Driver);
            let known = db.cohorts(&mut kept, &Factor::Driver, today).unwrap();
            assert_eq!(known, anew);
        }
        // It keeps what is over and asks for the rest.
        assert!(kept.folded >= history.today() - 1 && !kept.places.is_empty());
    }
    assert!(
        failures > 1000 && rounds_with_removals > 2,
        "{failures} {rounds_with_removals}"
    );
}
