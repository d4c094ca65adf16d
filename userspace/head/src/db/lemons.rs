//! How long each GPU was in which slot, and which failures it had there.

use std::collections::BTreeMap;

use gtrace_event::Timestamp;
use gtrace_fleet::lemon::Exposed;
use serde::{Deserialize, Serialize};

use super::sql::{DbError, Sql};
use super::tallies::{OBSERVED_NS, Place, Tallies, note_removal};
use super::{DAY_NS, Database, nanos};

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
    let count = "SELECT count(*) FROM placements WHERE host = $1";
    if sql.number(count, &[host.into()])? > ROWS_MAX {
        sql.execute(
            &format!(
                "DELETE FROM placements WHERE host = $1 AND last_ns <= (SELECT last_ns FROM placements WHERE host = $1 \
                 ORDER BY last_ns DESC LIMIT 1 OFFSET {ROWS_MAX})"
            ),
            &[host.into()],
        )?;
        note_removal(sql)?;
    }
    Ok(())
}

impl Database {
    /// Units with their failures and GPU-hours, both of the time that is kept. Failures are incidents that are no drills, from when the unit
    /// was first observed on. An incident counts once for each unit that it has. From what was kept of the last question, as of `today`
    /// (days since 1970-01-01).
    pub fn exposed(
        &mut self,
        tallies: &mut Tallies,
        by: &Unit,
        today: i64,
    ) -> Result<Vec<Exposed>, DbError> {
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
        let units = tallies.tally(self.sql.as_mut(), today, whole_host, name_of)?;
        let exposed = |(name, of): (String, Exposed)| Exposed { name, ..of };
        Ok(units.into_iter().map(exposed).collect())
    }
}

#[cfg(test)]
mod tests {
    use gtrace_event::{
        FailureClass, Gpu, HealthNews, HealthRecord, HealthSubject, Incident, Occasion, Record,
        SubjectKind,
    };

    use super::super::tallies::{RESETS_MAX, note_reset, place_of};
    use super::*;
    use crate::db::NewState;
    use crate::db::testing::{bare_state, enrolled, incident, placed, put_first, with_hosts};

    #[test]
    fn failures_that_come_again_after_a_reset_a_reboot_or_an_exchange_are_counted() {
        let (_dir, mut db) = with_hosts(&[]);
        let at = |minutes: i64| Timestamp::from_second(1_780_000_000 + minutes * 60).unwrap();
        let host = enrolled(&mut db, "a", at(0));
        let slot = "0000:3b:00.0";
        // A GPU fails in one boot, after a reset, again without one, and after a reboot with a reset; the next one in its slot fails
        // too.
        for (minutes, uuid) in [(0..=60, "GPU-1"), (61..=120, "GPU-2")] {
            for minute in minutes {
                let state = NewState {
                    gpus: vec![placed(slot, uuid)],
                    ..bare_state(host, at(minute))
                };
                db.put_states(&[state], at(minute)).unwrap();
            }
        }
        let mut records = Vec::new();
        for (minute, boot) in [(10, "x"), (20, "x"), (25, "x"), (30, "y"), (100, "z")] {
            records.push(Record::Incident(Box::new(Incident {
                boot_id: Some(boot.to_owned()),
                ..incident(at(minute), FailureClass::Pcie, &[slot])
            })));
        }
        // Of this GPU, in the time after the first and the third failure; of another one; and something else.
        let reset = |pci: &str| Occasion::GpuReset {
            subject: HealthSubject::new(SubjectKind::Gpu, pci),
        };
        for (minute, occasion) in [
            (15, reset(slot)),
            (22, reset("0000:5e:00.0")),
            (23, Occasion::DriverReload),
            (27, reset(slot)),
        ] {
            let news = HealthNews::Observed { occasion };
            let health = HealthRecord::new(at(minute), news);
            records.push(Record::Health(Box::new(health)));
        }
        put_first(&mut db, host, &records, at(120));
        let mut of = |by: Unit| -> Vec<(String, u64, [u64; 3])> {
            let units = db.exposed_anew(&by).into_iter();
            let of = |u: Exposed| {
                let again = [u.after_reset, u.after_reboot, u.after_exchange];
                (u.name, u.failures, again)
            };
            units.map(of).collect()
        };
        let unit = |name: &str, failures, again| (name.to_owned(), failures, again);
        assert_eq!(
            of(Unit::Gpu),
            [unit("GPU-1", 4, [1, 1, 0]), unit("GPU-2", 1, [0, 0, 0])]
        );
        assert_eq!(of(Unit::Slot), [unit("a/0000:3b:00.0", 5, [1, 1, 1])]);
        assert_eq!(of(Unit::Host), [unit("a", 5, [1, 1, 1])]);
        // What a host says of resets is bounded.
        for n in 0..RESETS_MAX + 10 {
            note_reset(db.sql.as_mut(), host, slot, n).unwrap();
            note_reset(db.sql.as_mut(), host, "no address", n).unwrap();
        }
        assert_eq!(db.number("SELECT count(*) FROM gpu_resets"), RESETS_MAX);
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
            let pci = gpu.pci.map(|pci| pci.to_string());
            let place = place_of(&places, pci.as_deref(), gpu.uuid.as_deref(), at * minute)?;
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
        let (_dir, mut db) = with_hosts(&[]);
        let day = |day: i64| Timestamp::from_second(day * 86_400 + 60).unwrap();
        let state = |first: i64, seen: Timestamp| NewState {
            gpus: (first..first + 256)
                .map(|n| placed(&format!("{n:04x}:01:00.0"), ""))
                .collect(),
            ..bare_state(1, seen)
        };
        let count = "SELECT count(*) FROM placements WHERE host = 1";
        let host = "INSERT INTO hosts(id, name, simulated, credential, enrolled_ns, taken, tip, forks) \
                    VALUES (1, 'a', 1, '', 0, 0, 0, 0)";
        db.sql.execute(host, &[]).unwrap();
        for n in 0..20 {
            let at = day(100 + n);
            db.put_states(&[state(n * 256, at)], at).unwrap();
        }
        assert_eq!(db.number(count), ROWS_MAX);
        db.retain(119).unwrap();
        assert_eq!(db.number(count), 256);
    }

    #[test]
    fn a_gpu_takes_its_hours_and_failures_along_and_a_slot_keeps_them() {
        let (_dir, mut db) = with_hosts(&[]);
        let at = |minutes: i64| Timestamp::from_second(1_780_000_000 + minutes * 60).unwrap();
        let ids = ["a", "b"].map(|name| enrolled(&mut db, name, at(0)));
        let mut seen = |host: i64, minutes: std::ops::RangeInclusive<i64>, uuid: &str| {
            for minute in minutes {
                let state = NewState {
                    state:
                        r#"{"time":"2026-01-01T00:00:00Z","version":"x","labels":{"rack":"r1"}}"#
                            .to_owned(),
                    gpus: vec![placed("0000:3b:00.0", uuid)],
                    ..bare_state(host, at(minute))
                };
                db.put_states(&[state], at(minute)).unwrap();
            }
        };
        // An hour on `a`, which was silent for another; then two on `b`, whose own GPU comes to `a`.
        seen(ids[0], 0..=30, "GPU-1");
        seen(ids[0], 90..=120, "GPU-1");
        seen(ids[1], 200..=320, "GPU-1");
        seen(ids[0], 200..=260, "GPU-2");
        let slot = "0000:3b:00.0";
        let failed = |minutes, class, drill, pci| {
            let of_class = incident(at(minutes), class, &[pci]);
            Record::Incident(Box::new(Incident { drill, ..of_class }))
        };
        let records = [
            failed(-5, FailureClass::Pcie, false, slot),
            failed(20, FailureClass::Pcie, false, slot),
            failed(21, FailureClass::Pcie, true, slot),
            failed(22, FailureClass::Application, false, slot),
            failed(100, FailureClass::GpuMemory, false, slot),
            failed(240, FailureClass::Pcie, false, "0000:5e:00.0"),
            // It was missing when the host came back.
            failed(290, FailureClass::Pcie, false, slot),
        ];
        put_first(&mut db, ids[0], &records, at(300));
        let mut of = |by: Unit| -> Vec<(String, u64, f64)> {
            let units = db.exposed_anew(&by);
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
