//! How long each GPU was in which slot, and which failures it had there.

use std::collections::BTreeMap;

use gtrace_event::{FailureClass, Gpu, Incident, Timestamp};
use gtrace_fleet::lemon::Exposed;
use serde::{Deserialize, Serialize};

use super::sql::{DbError, Sql, Value};
use super::{DAY_NS, Database, nanos};

/// States come every 10 s and places are noted once a minute: what is longer was not observed.
const OBSERVED_NS: i64 = 180_000_000_000;
const HOUR_NS: f64 = 3.6e12;
/// Rows of a host: a year of 11 GPUs. The oldest go.
const ROWS_MAX: i64 = 4096;

/// A GPU in a slot, as a state of its host has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Placed {
    /// PCI address.
    pub pci: String,
    /// Its UUID, which goes with it to another slot; empty where it is not known.
    pub uuid: String,
    /// What ran it then, as JSON of [`super::Versions`]; empty where nothing is known.
    pub versions: String,
}

/// What is ranked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// GPUs, by UUID: in whichever slot.
    Gpu,
    /// Slots: PCI addresses of hosts, whichever GPU is there.
    Slot,
    /// Hosts.
    Host,
    /// Values of a label, such as racks.
    Label(String),
}

/// Failures of hardware, and such as may be; those of programs and of their memory are not.
fn counts(class: FailureClass) -> bool {
    matches!(
        class,
        FailureClass::Thermal
            | FailureClass::DriverCrash
            | FailureClass::Pcie
            | FailureClass::GpuMemory
            | FailureClass::Nvlink
            | FailureClass::Network
            | FailureClass::Host
            | FailureClass::Unknown
    )
}

/// A GPU in a slot, until another one is there.
pub(super) struct Place {
    pci: String,
    uuid: String,
    pub(super) versions: String,
    first_ns: i64,
    last_ns: i64,
    exposed_ns: i64,
}

impl Place {
    /// Whether it was in its slot at that time, or nearly so: a GPU that is lost is not seen afterwards.
    fn has(&self, at_ns: i64) -> bool {
        at_ns >= self.first_ns && at_ns <= self.last_ns.saturating_add(OBSERVED_NS)
    }
}

/// Notes where GPUs are at `now`.
pub(super) fn place(
    sql: &mut dyn Sql,
    host: i64,
    gpus: &[Placed],
    now: Timestamp,
) -> Result<(), DbError> {
    if gpus.is_empty() {
        return Ok(());
    }
    let day = nanos(now).div_euclid(DAY_NS);
    for gpu in gpus {
        // A row for each day: the first of a day has the time since the last of the day before.
        sql.execute(
            &format!(
                "INSERT INTO placements(host, pci, uuid, day, versions, first_ns, last_ns, exposed_ns) \
                 VALUES ($1, $2, $3, $4, $5, $6, $6, \
                 (SELECT CASE WHEN $6 - max(last_ns) BETWEEN 0 AND {OBSERVED_NS} THEN $6 - max(last_ns) ELSE 0 END \
                 FROM placements WHERE host = $1 AND pci = $2 AND uuid = $3 AND versions = $5 AND day = $7)) \
                 ON CONFLICT (host, pci, uuid, day, versions) DO UPDATE SET exposed_ns = placements.exposed_ns + CASE WHEN \
                 excluded.last_ns - placements.last_ns BETWEEN 0 AND {OBSERVED_NS} THEN excluded.last_ns - placements.last_ns \
                 ELSE 0 END, last_ns = excluded.last_ns"
            ),
            &[
                host.into(),
                gpu.pci.as_str().into(),
                gpu.uuid.as_str().into(),
                day.into(),
                gpu.versions.as_str().into(),
                nanos(now).into(),
                (day - 1).into(),
            ],
        )?;
    }
    let rows = sql.rows(
        "SELECT count(*) FROM placements WHERE host = $1",
        &[host.into()],
    )?;
    if rows.first().is_some_and(|row| row[0].int() > ROWS_MAX) {
        sql.execute(
            &format!(
                "DELETE FROM placements WHERE host = $1 AND last_ns <= (SELECT last_ns FROM placements WHERE host = $1 \
                 ORDER BY last_ns DESC LIMIT 1 OFFSET {ROWS_MAX})"
            ),
            &[host.into()],
        )?;
    }
    Ok(())
}

/// All places by host: days that follow each other in one slot with one GPU and the same versions are one.
fn places(sql: &mut dyn Sql) -> Result<BTreeMap<i64, Vec<Place>>, DbError> {
    let mut places: BTreeMap<i64, Vec<Place>> = BTreeMap::new();
    sql.query(
        "SELECT host, pci, uuid, first_ns, last_ns, exposed_ns, versions FROM placements ORDER BY host, pci, day, first_ns",
        &[],
        &mut |row: Vec<Value>| {
            let (pci, uuid, versions) = (row[1].text(), row[2].text(), row[6].text());
            let (first_ns, last_ns, exposed_ns) = (row[3].int(), row[4].int(), row[5].int());
            let of_host = places.entry(row[0].int()).or_default();
            let is_same = |before: &Place| {
                before.pci == pci && before.uuid == uuid && before.versions == versions
            };
            match of_host.last_mut() {
                Some(before) if is_same(before) => {
                    before.last_ns = before.last_ns.max(last_ns);
                    before.exposed_ns = before.exposed_ns.saturating_add(exposed_ns);
                }
                _ => of_host.push(Place {
                    pci: pci.to_owned(),
                    uuid: uuid.to_owned(),
                    versions: versions.to_owned(),
                    first_ns,
                    last_ns,
                    exposed_ns,
                }),
            }
            true
        },
    )?;
    Ok(places)
}

/// Where a GPU that an incident names was when it was opened, or last before: one that is missing after a start of its host is not
/// seen again.
fn place_of<'a>(places: &'a [Place], gpu: &Gpu, opened_ns: i64) -> Option<&'a Place> {
    let pci = gpu.pci.map(|pci| pci.to_string());
    let is_it = |place: &&Place| match &gpu.uuid {
        // What was in the slot before or after it is another one.
        Some(uuid) if !place.uuid.is_empty() => *uuid == place.uuid,
        _ => pci.as_ref().is_some_and(|pci| *pci == place.pci),
    };
    let before = places.iter().filter(|place| place.first_ns <= opened_ns);
    // Of a slot whose GPU was changed for a while the newer place counts.
    before.filter(is_it).max_by_key(|place| {
        let there = place.has(opened_ns);
        (there, if there { place.first_ns } else { place.last_ns })
    })
}

impl Database {
    /// Units with their failures and GPU-hours, both of the time that is kept. Failures are incidents that are no drills, from when the unit
    /// was first observed on. An incident counts once for each unit that it has.
    ///
    /// # Errors
    /// [`DbError`].
    pub fn exposed(&mut self, by: &Unit) -> Result<Vec<Exposed>, DbError> {
        let mut names: BTreeMap<i64, (String, Option<String>)> = BTreeMap::new();
        for row in self.hosts()? {
            let label = match by {
                Unit::Label(name) => row.state.as_ref().and_then(|s| s.labels.get(name).cloned()),
                _ => None,
            };
            names.insert(row.id, (row.name, label));
        }
        let name_of = |host: i64, place: &Place| -> Option<String> {
            let (name, label) = names.get(&host)?;
            match by {
                Unit::Gpu if !place.uuid.is_empty() => Some(place.uuid.clone()),
                Unit::Gpu | Unit::Slot => Some(format!("{name}/{}", place.pci)),
                Unit::Host => Some(name.clone()),
                Unit::Label(_) => label.clone(),
            }
        };
        let whole_host = matches!(by, Unit::Host | Unit::Label(_));
        let units = self.tally(whole_host, name_of)?;
        let exposed = |(name, (failures, hours))| Exposed {
            name,
            failures,
            hours,
        };
        Ok(units.into_iter().map(exposed).collect())
    }

    /// Failures and GPU-hours by whatever `unit_of` says that a GPU in its place is, given the number of its host. `whole_host`: an incident
    /// that names no GPU of the host counts too, once for each unit that is there.
    pub(super) fn tally<K: Ord>(
        &mut self,
        whole_host: bool,
        unit_of: impl Fn(i64, &Place) -> Option<K>,
    ) -> Result<BTreeMap<K, (u64, f64)>, DbError> {
        let places = places(self.sql.as_mut())?;
        let mut units: BTreeMap<K, (u64, f64)> = BTreeMap::new();
        for (host, of_host) in &places {
            for place in of_host {
                if let Some(unit) = unit_of(*host, place) {
                    units.entry(unit).or_default().1 += place.exposed_ns as f64 / HOUR_NS;
                }
            }
        }
        let of_host = |host: i64| places.get(&host).map_or(&[][..], Vec::as_slice);
        self.sql.query(
            "SELECT host, opened_ns, body FROM incidents WHERE drill = 0",
            &[],
            &mut |row: Vec<Value>| {
                let (host, opened) = (row[0].int(), row[1].int());
                let Ok(incident) = serde_json::from_str::<Incident>(row[2].text()) else {
                    return true;
                };
                if !counts(incident.class) {
                    return true;
                }
                let of_host = of_host(host);
                let gpus = incident.affected.gpus.iter();
                let named = gpus.filter_map(|gpu| place_of(of_host, gpu, opened));
                let mut hit: Vec<K> = named.filter_map(|p| unit_of(host, p)).collect();
                if whole_host && hit.is_empty() {
                    // Also what names no GPU is a failure of the host: of what was there last in each slot, as the rows of before
                    // and after a change overlap.
                    let mut newest: BTreeMap<&str, &Place> = BTreeMap::new();
                    for place in of_host.iter().filter(|place| place.has(opened)) {
                        let known = newest.entry(&place.pci).or_insert(place);
                        if place.first_ns > known.first_ns {
                            *known = place;
                        }
                    }
                    hit.extend(newest.into_values().filter_map(|p| unit_of(host, p)));
                }
                hit.sort();
                hit.dedup();
                for unit in hit {
                    units.entry(unit).or_default().0 += 1;
                }
                true
            },
        )?;
        Ok(units)
    }
}

#[cfg(test)]
mod tests {
    use gtrace_event::{Epoch, IncidentId, PciAddress, Record};
    use gtrace_fleet::{Batch, Carried, EnrollRequest};
    use gtrace_store::Hash;

    use super::*;
    use crate::db::{Arrived, NewState, Place as Where};

    fn incident(at: Timestamp, class: FailureClass, drill: bool, pci: &str) -> Record {
        let incident = serde_json::from_value(serde_json::json!({
            "id": IncidentId::new(at.as_millisecond().unsigned_abs()), "time": at, "opened": at, "last_time": at,
            "state": "open", "severity": "critical", "title": "generated", "class": class, "events": [],
            "event_count": 1, "occurrences": 1, "drill": drill, "affected": { "gpus": [{ "pci": pci }] },
        }));
        Record::Incident(Box::new(incident.unwrap()))
    }

    fn gpu(pci: &str, uuid: Option<&str>) -> Gpu {
        Gpu {
            pci: pci.parse().ok(),
            uuid: uuid.map(str::to_owned),
            ..Gpu::default()
        }
    }

    #[test]
    fn a_gpu_that_is_missing_counts_where_it_was_and_its_replacement_for_itself() {
        let minute = 60_000_000_000;
        let place = |pci: &str, uuid: &str, first: i64, last: i64| Place {
            pci: pci.to_owned(),
            uuid: uuid.to_owned(),
            versions: String::new(),
            first_ns: first * minute,
            last_ns: last * minute,
            exposed_ns: 0,
        };
        // GPU-1 was out for a while.
        let places = [
            place("0000:3b:00.0", "GPU-1", 0, 100),
            place("0000:3b:00.0", "GPU-2", 40, 60),
            place("0000:5e:00.0", "", 0, 100),
        ];
        let of = |gpu: Gpu, at: i64| {
            let place = place_of(&places, &gpu, at * minute)?;
            Some((place.pci.as_str(), place.uuid.as_str()))
        };
        let slot = "0000:3b:00.0";
        assert_eq!(of(gpu(slot, Some("GPU-2")), 50), Some((slot, "GPU-2")));
        assert_eq!(of(gpu(slot, Some("GPU-1")), 50), Some((slot, "GPU-1")));
        assert_eq!(of(gpu(slot, None), 20), Some((slot, "GPU-1")));
        assert_eq!(of(gpu(slot, None), 50), Some((slot, "GPU-2")));
        assert_eq!(of(gpu(slot, None), 80), Some((slot, "GPU-1")));
        // The host was away for an hour, and came back without it.
        assert_eq!(of(gpu(slot, None), 160), Some((slot, "GPU-1")));
        assert_eq!(of(gpu(slot, Some("GPU-1")), 160), Some((slot, "GPU-1")));
        assert_eq!(of(gpu(slot, Some("GPU-3")), 50), None);
        assert_eq!(of(gpu(slot, None), -1), None);
        let other = "0000:5e:00.0";
        assert_eq!(of(gpu(other, Some("GPU-9")), 50), Some((other, "")));
    }

    #[test]
    fn a_host_has_so_many_places_and_old_ones_go_with_their_failures() {
        let dir = tempfile::tempdir().unwrap();
        let mut db = Database::open(&Where::File(dir.path().join("fleet.db"))).unwrap();
        let day = |day: i64| Timestamp::from_second(day * 86_400 + 60).unwrap();
        let state = |first: i64| NewState {
            host: 1,
            state: "{}".to_owned(),
            tip: 0,
            gpus: (first..first + 256)
                .map(|n| Placed {
                    pci: PciAddress {
                        domain: u32::try_from(n).unwrap(),
                        bus: 1,
                        device: 0,
                        function: 0,
                    }
                    .to_string(),
                    uuid: String::new(),
                    versions: String::new(),
                })
                .collect(),
        };
        let count = |db: &mut Database| places(db.sql.as_mut()).unwrap()[&1].len();
        for n in 0..20 {
            db.put_states(&[state(n * 256)], day(100 + n)).unwrap();
        }
        assert_eq!(count(&mut db), usize::try_from(ROWS_MAX).unwrap());
        db.retain(119).unwrap();
        assert_eq!(count(&mut db), 256);
    }

    #[test]
    fn a_gpu_takes_its_hours_and_failures_along_and_a_slot_keeps_them() {
        let dir = tempfile::tempdir().unwrap();
        let mut db = Database::open(&Where::File(dir.path().join("fleet.db"))).unwrap();
        let at = |minutes: i64| Timestamp::from_second(1_780_000_000 + minutes * 60).unwrap();
        let ids: Vec<i64> = ["a", "b"]
            .iter()
            .map(|name| {
                db.add_token(name, None, Timestamp::MAX, 1, "test").unwrap();
                let request = EnrollRequest {
                    token: (*name).to_owned(),
                    host: (*name).to_owned(),
                    machine_id: None,
                    simulated: true,
                };
                db.enroll(&request, "secret", at(0)).unwrap()
            })
            .collect();
        let mut seen = |host: i64, minutes: std::ops::RangeInclusive<i64>, uuid: &str| {
            for minute in minutes {
                let state = NewState {
                    host,
                    state:
                        r#"{"time":"2026-01-01T00:00:00Z","version":"x","labels":{"rack":"r1"}}"#
                            .to_owned(),
                    tip: 0,
                    gpus: vec![Placed {
                        pci: "0000:3b:00.0".to_owned(),
                        uuid: uuid.to_owned(),
                        versions: String::new(),
                    }],
                };
                db.put_states(&[state], at(minute)).unwrap();
            }
        };
        // An hour on `a`, which was silent for another; then two on `b`, whose own GPU comes to `a`.
        seen(ids[0], 0..=30, "GPU-1");
        seen(ids[0], 90..=120, "GPU-1");
        seen(ids[1], 200..=320, "GPU-1");
        seen(ids[0], 200..=260, "GPU-2");
        let records = [
            incident(at(-5), FailureClass::Pcie, false, "0000:3b:00.0"),
            incident(at(20), FailureClass::Pcie, false, "0000:3b:00.0"),
            incident(at(21), FailureClass::Pcie, true, "0000:3b:00.0"),
            incident(at(22), FailureClass::Application, false, "0000:3b:00.0"),
            incident(at(100), FailureClass::GpuMemory, false, "0000:3b:00.0"),
            incident(at(240), FailureClass::Pcie, false, "0000:5e:00.0"),
            // It was missing when the host came back.
            incident(at(290), FailureClass::Pcie, false, "0000:3b:00.0"),
        ];
        let (mut hash, mut batch) = (Hash::GENESIS, Batch::default());
        for (n, record) in records.iter().enumerate() {
            let body = serde_json::to_string(record).unwrap();
            let epoch = Epoch::from_bytes([1; 16]);
            let carried = Carried::new(epoch, n as u64 + 1, hash, body);
            hash = carried.hash;
            batch.records.push(carried);
        }
        let host = ids[0];
        db.ingest(at(300), &[Arrived { host, batch }]).unwrap();
        let mut of = |by: Unit| -> Vec<(String, u64, f64)> {
            let units = db.exposed(&by).unwrap();
            let all = units.into_iter().map(|u| (u.name, u.failures, u.hours));
            all.collect()
        };
        let unit = |name: &str, failures, hours| (name.to_owned(), failures, hours);
        assert_eq!(
            of(Unit::Gpu),
            [unit("GPU-1", 2, 3.0), unit("GPU-2", 1, 1.0)]
        );
        let slots = [
            unit("a/0000:3b:00.0", 3, 2.0),
            unit("b/0000:3b:00.0", 0, 2.0),
        ];
        assert_eq!(of(Unit::Slot), slots);
        // What names another GPU is a failure of the host.
        assert_eq!(of(Unit::Host), [unit("a", 4, 2.0), unit("b", 0, 2.0)]);
        assert_eq!(of(Unit::Label("rack".to_owned())), [unit("r1", 4, 4.0)]);
    }
}
