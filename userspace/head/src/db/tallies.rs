//! What lemons and versions are counted from, kept between questions: incidents that have changed since the last one are read, and of
//! places of GPUs the last two days. What retention removes makes it begin anew.

use std::collections::BTreeMap;

use gtrace_event::{FailureClass, Gpu, Incident, PciAddress, Timestamp};
use gtrace_fleet::lemon::Exposed;

use super::sql::{DbError, Sql, Value};
use super::{DAY_NS, Database, nanos};

/// States come every 10 s and places are noted once a minute: what is longer was not observed.
pub(super) const OBSERVED_NS: i64 = 180_000_000_000;
const HOUR_NS: f64 = 3.6e12;
/// Incidents, and places of days that are over, that are kept: some 100 bytes each. What has more is read anew for each question.
const INCIDENTS_MAX: usize = 500_000;
const PLACES_MAX: usize = 500_000;
/// Resets of the GPUs of a host. The oldest go.
pub(super) const RESETS_MAX: i64 = 1024;
/// A day before all others: nothing is taken for over.
const NEVER: i64 = i64::MIN / 2;

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
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) pci: String,
    pub(super) uuid: String,
    pub(super) versions: String,
    pub(super) first_ns: i64,
    pub(super) last_ns: i64,
    pub(super) exposed_ns: i64,
}

impl Place {
    /// Whether it was in its slot at that time, or nearly so: a GPU that is lost is not seen afterwards.
    fn has(&self, at_ns: i64) -> bool {
        at_ns >= self.first_ns && at_ns <= self.last_ns.saturating_add(OBSERVED_NS)
    }
}

/// The places of a host by slot: days that follow each other with one GPU and the same versions are one.
type Slots = BTreeMap<String, Vec<Place>>;

/// A failure, as far as it counts.
#[derive(Clone, Debug)]
struct Failure {
    opened_ns: i64,
    /// The boot of its host, where it is known.
    boot: Option<String>,
    /// Address and UUID of GPUs that it names.
    gpus: Vec<(Option<String>, Option<String>)>,
}

/// A failure of a unit, for the one that follows it.
struct Before<'a> {
    opened_ns: i64,
    host: i64,
    boot: Option<&'a str>,
    place: &'a Place,
}

impl Before<'_> {
    /// Whether another GPU is in the slot, or the GPU in another slot.
    fn is_exchanged(&self, later: &Self) -> bool {
        let slot = |of: &Self| (of.host, of.place.pci.clone());
        let (old, new) = (&self.place.uuid, &later.place.uuid);
        let known = !old.is_empty() && !new.is_empty();
        known && (old == new) != (slot(self) == slot(later))
    }

    fn is_rebooted(&self, later: &Self) -> bool {
        let boots = self.boot.zip(later.boot);
        self.host == later.host && boots.is_some_and(|(old, new)| old != new)
    }

    /// Whether the GPU was reset between them.
    fn is_reset(&self, later: &Self, resets: &Resets) -> bool {
        let same = self.host == later.host && self.place.pci == later.place.pci;
        let of = resets.get(&(later.host, later.place.pci.as_str()));
        // Ascending.
        let next = |times: &Vec<i64>| times.partition_point(|time| *time <= self.opened_ns);
        let first = of.and_then(|times| times.get(next(times)));
        same && first.is_some_and(|time| *time <= later.opened_ns)
    }
}

/// Notes that a GPU was reset.
pub(super) fn note_reset(
    sql: &mut dyn Sql,
    host: i64,
    pci: &str,
    time_ns: i64,
) -> Result<(), DbError> {
    let is_address = pci.parse::<PciAddress>().is_ok();
    if !is_address {
        return Ok(());
    }
    sql.execute(
        "INSERT INTO gpu_resets(host, pci, time_ns) VALUES ($1, $2, $3) ON CONFLICT (host, time_ns, pci) DO NOTHING",
        &[host.into(), pci.into(), time_ns.into()],
    )?;
    sql.execute(
        &format!(
            "DELETE FROM gpu_resets WHERE host = $1 AND time_ns <= (SELECT time_ns FROM gpu_resets WHERE host = $1 \
             ORDER BY time_ns DESC LIMIT 1 OFFSET {RESETS_MAX})"
        ),
        &[host.into()],
    )?;
    Ok(())
}

/// When the GPU of a host and slot was reset, ascending.
type Resets<'a> = BTreeMap<(i64, &'a str), Vec<i64>>;

/// All resets: host, slot, time; by time.
fn read_resets(sql: &mut dyn Sql) -> Result<Vec<(i64, String, i64)>, DbError> {
    let rows = sql.rows(
        "SELECT host, pci, time_ns FROM gpu_resets ORDER BY time_ns",
        &[],
    )?;
    let of = |row: &Vec<Value>| (row[0].int(), row[1].text().to_owned(), row[2].int());
    Ok(rows.iter().map(of).collect())
}

/// What was read.
#[derive(Debug)]
pub struct Tallies {
    /// The newest change of incidents that is in it.
    changed: i64,
    /// How often something had been removed.
    removed: i64,
    /// By host and id.
    failures: BTreeMap<(i64, String), Failure>,
    /// Days before this one are in `places`.
    pub(super) folded: i64,
    pub(super) places: BTreeMap<i64, Slots>,
}

impl Default for Tallies {
    fn default() -> Self {
        Self {
            changed: -1,
            removed: -1,
            failures: BTreeMap::new(),
            folded: NEVER,
            places: BTreeMap::new(),
        }
    }
}

/// Numbers of the newest change of incidents, and of the newest removal.
pub(super) fn changes(sql: &mut dyn Sql) -> Result<(i64, i64), DbError> {
    let rows = sql.rows(
        "SELECT (SELECT value FROM meta WHERE key = 'incident_changes'), (SELECT value FROM meta WHERE key = 'removals')",
        &[],
    )?;
    Ok(rows
        .first()
        .map_or((0, 0), |row| (row[0].int(), row[1].int())))
}

/// Notes that incidents or places were removed.
pub(super) fn note_removal(sql: &mut dyn Sql) -> Result<(), DbError> {
    sql.execute(
        "UPDATE meta SET value = value + 1 WHERE key = 'removals'",
        &[],
    )
    .map(drop)
}

/// Adds days of places, those of a slot by time.
fn fold(places: &mut BTreeMap<i64, Slots>, row: &[Value]) {
    let (pci, uuid, versions) = (row[1].text(), row[2].text(), row[6].text());
    let (first_ns, last_ns, exposed_ns) = (row[3].int(), row[4].int(), row[5].int());
    let slots = places.entry(row[0].int()).or_default();
    let of_slot = slots.entry(pci.to_owned()).or_default();
    match of_slot.last_mut() {
        Some(before) if before.uuid == uuid && before.versions == versions => {
            before.last_ns = before.last_ns.max(last_ns);
            before.exposed_ns = before.exposed_ns.saturating_add(exposed_ns);
        }
        _ => of_slot.push(Place {
            pci: pci.to_owned(),
            uuid: uuid.to_owned(),
            versions: versions.to_owned(),
            first_ns,
            last_ns,
            exposed_ns,
        }),
    }
}

/// Reads the places of some days.
fn read_places(
    sql: &mut dyn Sql,
    days: std::ops::Range<i64>,
    into: &mut BTreeMap<i64, Slots>,
) -> Result<(), DbError> {
    sql.query(
        "SELECT host, pci, uuid, first_ns, last_ns, exposed_ns, versions FROM placements \
         WHERE day >= $1 AND day < $2 ORDER BY host, pci, day, first_ns",
        &[days.start.into(), days.end.into()],
        &mut |row: Vec<Value>| {
            fold(into, &row);
            true
        },
    )
}

/// Where a GPU that an incident names was when it was opened, or last before: one that is missing after a start of its host is not
/// seen again.
pub(super) fn place_of<'a>(
    places: &'a [Place],
    pci: Option<&str>,
    uuid: Option<&str>,
    opened_ns: i64,
) -> Option<&'a Place> {
    let is_it = |place: &&Place| match uuid {
        // What was in the slot before or after it is another one.
        Some(uuid) if !place.uuid.is_empty() => *uuid == place.uuid,
        _ => pci.is_some_and(|pci| *pci == place.pci),
    };
    let before = places.iter().filter(|place| place.first_ns <= opened_ns);
    // Of a slot whose GPU was changed for a while the newer place counts.
    before.filter(is_it).max_by_key(|place| {
        let there = place.has(opened_ns);
        (there, if there { place.first_ns } else { place.last_ns })
    })
}

impl Tallies {
    /// Takes over what has changed, as of `today` (days since 1970-01-01): what ended two days ago changes no more.
    fn refresh(&mut self, sql: &mut dyn Sql, today: i64) -> Result<(), DbError> {
        let (_, removed) = changes(sql)?;
        let over = today.saturating_sub(1);
        let is_small = self.failures.len() <= INCIDENTS_MAX
            && self.places.values().map(BTreeMap::len).sum::<usize>() <= PLACES_MAX;
        if removed != self.removed || over < self.folded || !is_small {
            *self = Self {
                removed,
                ..Self::default()
            };
        }
        let (mut newest, failures) = (self.changed, &mut self.failures);
        sql.query(
            "SELECT host, id, opened_ns, drill, class, body, changed FROM incidents WHERE changed > $1 ORDER BY changed",
            &[self.changed.into()],
            &mut |row: Vec<Value>| {
                newest = newest.max(row[6].int());
                let key = (row[0].int(), row[1].text().to_owned());
                let class = row[4].text().parse::<FailureClass>();
                let is_failure = row[3].int() == 0 && class.is_ok_and(counts);
                let incident = is_failure.then(|| serde_json::from_str::<Incident>(row[5].text()));
                match incident {
                    Some(Ok(incident)) => {
                        let of = |gpu: &Gpu| (gpu.pci.map(|pci| pci.to_string()), gpu.uuid.clone());
                        let failure = Failure {
                            opened_ns: row[2].int(),
                            boot: incident.boot_id.clone(),
                            gpus: incident.affected.gpus.iter().map(of).collect(),
                        };
                        failures.insert(key, failure);
                    }
                    _ => drop(failures.remove(&key)),
                }
                true
            },
        )?;
        self.changed = newest;
        if over > self.folded {
            read_places(sql, self.folded..over, &mut self.places)?;
            self.folded = over;
        }
        Ok(())
    }

    /// Failures and GPU-hours by whatever `unit_of` says that a GPU in its place is, given the number of its host. `whole_host`: an incident
    /// that names no GPU of the host counts too, once for each unit that is there. The units have no name.
    pub(super) fn tally<K: Ord>(
        &mut self,
        sql: &mut dyn Sql,
        today: i64,
        whole_host: bool,
        unit_of: impl Fn(i64, &Place) -> Option<K>,
    ) -> Result<BTreeMap<K, Exposed>, DbError> {
        self.refresh(sql, today)?;
        let mut slots = self.places.clone();
        read_places(sql, self.folded..i64::MAX, &mut slots)?;
        let flat = |slots: Slots| slots.into_values().flatten().collect::<Vec<Place>>();
        let places: BTreeMap<i64, Vec<Place>> = slots
            .into_iter()
            .map(|(host, of)| (host, flat(of)))
            .collect();
        let rows = read_resets(sql)?;
        let mut resets = Resets::new();
        for (host, pci, time) in &rows {
            resets.entry((*host, pci)).or_default().push(*time);
        }
        let mut units: BTreeMap<K, (Exposed, Vec<Before<'_>>)> = BTreeMap::new();
        for (host, of_host) in &places {
            for place in of_host {
                if let Some(unit) = unit_of(*host, place) {
                    units.entry(unit).or_default().0.hours += place.exposed_ns as f64 / HOUR_NS;
                }
            }
        }
        for ((host, _), failure) in &self.failures {
            let of_host = places.get(host).map_or(&[][..], Vec::as_slice);
            for (unit, place) in hit(*host, of_host, failure, whole_host, &unit_of) {
                units.entry(unit).or_default().1.push(Before {
                    opened_ns: failure.opened_ns,
                    host: *host,
                    boot: failure.boot.as_deref(),
                    place,
                });
            }
        }
        let tallied = |(unit, (mut tallied, mut failures)): (K, (Exposed, Vec<Before<'_>>))| {
            failures.sort_by_key(|failure| failure.opened_ns);
            tallied.failures = failures.len() as u64;
            for (before, later) in failures.iter().zip(failures.iter().skip(1)) {
                // Each counts once, as what changed most.
                if before.is_exchanged(later) {
                    tallied.after_exchange += 1;
                } else if before.is_rebooted(later) {
                    tallied.after_reboot += 1;
                } else if before.is_reset(later, &resets) {
                    tallied.after_reset += 1;
                }
            }
            (unit, tallied)
        };
        Ok(units.into_iter().map(tallied).collect())
    }
}

/// The units that a failure is of, each once, and where.
fn hit<'a, K: Ord>(
    host: i64,
    places: &'a [Place],
    failure: &Failure,
    whole_host: bool,
    unit_of: impl Fn(i64, &Place) -> Option<K>,
) -> Vec<(K, &'a Place)> {
    let opened = failure.opened_ns;
    let named = failure
        .gpus
        .iter()
        .filter_map(|(pci, uuid)| place_of(places, pci.as_deref(), uuid.as_deref(), opened));
    let of = |place: &'a Place| unit_of(host, place).map(|unit| (unit, place));
    let mut hit: Vec<(K, &Place)> = named.filter_map(of).collect();
    if whole_host && hit.is_empty() {
        // Also what names no GPU is a failure of the host: of what was there last in each slot, as the rows of before and after a
        // change overlap.
        let mut newest: BTreeMap<&str, &'a Place> = BTreeMap::new();
        for place in places.iter().filter(|place| place.has(opened)) {
            let known = newest.entry(&place.pci).or_insert(place);
            if place.first_ns > known.first_ns {
                *known = place;
            }
        }
        hit.extend(newest.into_values().filter_map(of));
    }
    hit.sort_by(|a, b| a.0.cmp(&b.0));
    hit.dedup_by(|a, b| a.0 == b.0);
    hit
}

/// Today, in days since 1970-01-01.
pub(crate) fn today() -> i64 {
    nanos(Timestamp::now()).div_euclid(DAY_NS)
}

impl Database {
    /// Numbers that rise when incidents change, and when some are removed.
    pub fn incident_changes(&mut self) -> Result<(i64, i64), DbError> {
        changes(self.sql.as_mut())
    }
}
