//! The incidents that are known one by one, of which there are so many at most.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use gtrace_event::{Incident, IncidentId};
use gtrace_incident::Storms;

/// Incidents that are known one by one; the store has them all.
pub const INCIDENTS_MAX: usize = 256;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct IncidentTable(BTreeMap<IncidentId, Incident>);

impl IncidentTable {
    /// Takes an incident as it is now. Gives the one that has no room: what is resolved goes first, then drills, then those of the
    /// largest storm, then the mildest; of these the oldest.
    pub(crate) fn insert(&mut self, incident: Incident) -> Option<Incident> {
        self.0.insert(incident.id, incident);
        if self.0.len() <= INCIDENTS_MAX {
            return None;
        }
        let least = self.least()?;
        self.0.remove(&least)
    }

    fn least(&self) -> Option<IncidentId> {
        let storms = Storms::of(self.0.values());
        let rank = |i: &&Incident| {
            let rank = i.rank();
            rank.map(|(is_fault, severity)| (is_fault, Reverse(storms.size(i)), severity))
        };
        self.0.values().min_by_key(rank).map(|i| i.id)
    }

    /// The one that began first at the front.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Incident> {
        self.0.values()
    }

    /// The incident `id`.
    pub(crate) fn get(&self, id: IncidentId) -> Option<&Incident> {
        self.0.get(&id)
    }

    /// All of them, the worst first; of these the newest.
    pub(crate) fn into_worst_first(self) -> Vec<Incident> {
        let mut all: Vec<Incident> = self.0.into_values().collect();
        all.sort_by_key(|i| Reverse((i.rank(), i.opened, i.id)));
        all
    }
}

#[cfg(test)]
mod tests {
    use gtrace_event::{FailureClass, Gpu, Severity, Timestamp};

    use super::*;

    fn incident(nth: u64, class: FailureClass, severity: Severity, gpu: &str) -> Incident {
        let mut incident = Incident::new(Timestamp::UNIX_EPOCH, class, severity);
        incident.id = IncidentId::new(nth);
        incident.affected.gpus = vec![Gpu::at(gpu.parse().unwrap())];
        incident
    }

    /// How many of each are left.
    fn left(table: &IncidentTable, class: FailureClass, severity: Severity) -> usize {
        let wanted = |i: &&Incident| (i.class, i.severity) == (class, severity);
        table.values().filter(wanted).count()
    }

    #[test]
    fn a_storm_of_worse_incidents_hides_no_milder_one_of_another_kind_or_gpu() {
        use gtrace_event::FailureClass::{Application, Pcie, Thermal};

        let mut table = IncidentTable::default();
        let milder = [
            incident(1, Thermal, Severity::Warning, "0000:3b:00.0"),
            incident(2, Application, Severity::Warning, "0000:5e:00.0"),
        ];
        for one in milder {
            assert_eq!(table.insert(one), None);
        }
        let storm = |nth| incident(nth, Application, Severity::Critical, "0000:3b:00.0");
        let gone: Vec<u64> = (10..400)
            .filter_map(|nth| table.insert(storm(nth)))
            .map(|gone| gone.id.unix_ms())
            .collect();
        // The oldest of the storm.
        assert_eq!(gone, (10..10 + 390 + 2 - 256).collect::<Vec<_>>());
        assert_eq!(left(&table, Thermal, Severity::Warning), 1);
        assert_eq!(left(&table, Application, Severity::Warning), 1);
        // One of each of many GPUs is no storm: severity counts.
        let mut table = IncidentTable::default();
        for nth in 0..300 {
            let severity = match nth % 2 {
                0 => Severity::Warning,
                _ => Severity::Fatal,
            };
            table.insert(incident(nth, Pcie, severity, &format!("{nth:04x}:3b:00.0")));
        }
        assert_eq!(left(&table, Pcie, Severity::Fatal), 150);
        assert_eq!(left(&table, Pcie, Severity::Warning), INCIDENTS_MAX - 150);
    }

    #[test]
    fn what_is_resolved_goes_before_drills_and_these_before_a_storm() {
        let mut table = IncidentTable::default();
        let storm = |nth| incident(nth, FailureClass::Pcie, Severity::Fatal, "0000:3b:00.0");
        let mut resolved = storm(1);
        resolved.state = gtrace_event::IncidentState::Resolved;
        let mut drill = storm(2);
        drill.drill = true;
        table.insert(drill.clone());
        table.insert(resolved.clone());
        let gone: Vec<_> = (3..260)
            .filter_map(|nth| table.insert(storm(nth)))
            .collect();
        assert_eq!(gone[..2], [resolved, drill]);
        assert_eq!(gone.len(), 3);
        let worst_first = table.into_worst_first();
        assert_eq!(worst_first[0].id.unix_ms(), 259);
    }
}
