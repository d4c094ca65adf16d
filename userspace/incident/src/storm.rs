//! Which unresolved incidents are of a storm: so many of one class and GPU that they would hide all others.

use std::collections::HashMap;

use gtrace_event::{FailureClass, Incident, IncidentState, PciAddress};

/// So many of a class and GPU are no storm.
const SHARE: usize = 8;

/// What the incidents of a storm have in common: a fault that comes again, or programs that fail again and again. Drills are
/// no faults.
type Group = (bool, FailureClass, Option<PciAddress>);

/// How many unresolved incidents there are of each class and GPU.
#[derive(Debug)]
pub struct Storms(HashMap<Group, usize>);

impl Storms {
    /// Those among `incidents`.
    pub fn of<'a>(incidents: impl Iterator<Item = &'a Incident>) -> Self {
        let mut sizes = HashMap::new();
        for incident in incidents.filter(|i| i.state != IncidentState::Resolved) {
            *sizes.entry(group_of(incident)).or_insert(0) += 1;
        }
        Self(sizes)
    }

    /// How many are of the storm that `incident` is of; the same for all that are of none.
    pub fn size(&self, incident: &Incident) -> usize {
        let size = self.0.get(&group_of(incident)).copied();
        size.unwrap_or(0).max(SHARE)
    }
}

fn group_of(incident: &Incident) -> Group {
    let gpu = incident.affected.gpus.first();
    (incident.drill, incident.class, gpu.and_then(|gpu| gpu.pci))
}
