//! Which events a rule is for.

use gtrace_catalogue::{Catalogue, Category};
use gtrace_event::{Event, Kind, PortChange, Severity, SlotChange};
use serde::Deserialize;

/// Which events a rule is for. What is not given holds for any.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Pattern {
    pub(crate) kinds: Vec<Kind>,
    /// Codes of Xids and SXids; what the driver asks for by NVML has that of its line, 154.
    pub(crate) codes: Vec<u32>,
    /// Sub-codes of NVLink 5.
    sub_codes: Vec<u32>,
    /// Names of categories of the catalogue.
    pub(crate) categories: Vec<String>,
    /// At least so severe.
    severity: Option<Severity>,
    /// At most so severe.
    at_most: Option<Severity>,
    /// Recovery actions that the driver asks for now, by an Xid 154 or NVML, in small letters.
    recovery_to: Vec<String>,
    /// Xid 94, 95: the driver asks for a reset.
    reset_required: Option<bool>,
    /// Xid 94, 95: the driver asks to drain the GPU and to reset it.
    drain_reset_required: Option<bool>,
    /// What happened to an RDMA port.
    port_changes: Vec<PortChange>,
    /// What happened to a slot.
    slot_changes: Vec<SlotChange>,
    /// An error that the hardware corrected.
    corrected: Option<bool>,
    /// How the recovery after a PCIe error ended.
    recovery: Option<String>,
    /// Whether it names a GPU, or a port above one.
    gpu: Option<bool>,
    /// Names of readings.
    metrics: Vec<String>,
    /// A text in the message.
    contains: Option<String>,
    /// What is wrong, in the decoder's words, of lines about the host.
    errors: Vec<String>,
    /// `CONSTRAINT_MEMCG` and its like of an OOM kill.
    constraints: Vec<String>,
}

/// Whether `wanted` has it, or wants nothing.
fn among<T: PartialEq>(wanted: &[T], found: Option<&T>) -> bool {
    wanted.is_empty() || found.is_some_and(|found| wanted.contains(found))
}

fn fits<T: PartialEq>(wanted: Option<T>, found: Option<T>) -> bool {
    wanted.is_none() || wanted == found
}

impl Pattern {
    pub(crate) fn matches(&self, event: &Event) -> bool {
        let detail = &event.detail;
        let (xid, sample) = (&detail.xid, &detail.sample);
        among(&self.kinds, Some(&event.kind))
            && among(&self.codes, code_of(event).as_ref())
            && among(&self.sub_codes, xid.sub_code.as_ref())
            && (self.categories.is_empty()
                || self
                    .categories
                    .iter()
                    .any(|name| name == Catalogue::builtin().category(event).name()))
            && self.severity.is_none_or(|least| event.severity >= least)
            && self.at_most.is_none_or(|most| event.severity <= most)
            && (self.recovery_to.is_empty()
                || xid.recovery_to.as_deref().is_some_and(|to| {
                    let is = |wanted: &String| wanted.eq_ignore_ascii_case(to.trim());
                    self.recovery_to.iter().any(is)
                }))
            && fits(self.reset_required, xid.reset_required)
            && fits(self.drain_reset_required, xid.drain_reset_required)
            && among(&self.port_changes, detail.rdma.port_change.as_ref())
            && among(&self.slot_changes, detail.pcie.hotplug.as_ref())
            && self
                .corrected
                .is_none_or(|corrected| corrected == is_corrected(event))
            && self.recovery.as_ref().is_none_or(|wanted| {
                let found = detail.aer.recovery.as_ref();
                found.is_some_and(|found| found.contains(wanted.as_str()))
            })
            && self.gpu.is_none_or(|gpu| gpu == event.names_gpu())
            && among(&self.metrics, sample.metric.as_ref())
            && self
                .contains
                .as_ref()
                .is_none_or(|text| event.message.contains(text.as_str()))
            && among(&self.errors, detail.host.error.as_ref())
            && among(&self.constraints, detail.host.constraint.as_ref())
    }
}

/// Whether the hardware corrected it: a PCIe error, a machine check, an error of the host's memory.
fn is_corrected(event: &Event) -> bool {
    match event.kind {
        Kind::MachineCheck | Kind::DimmError => event.detail.host.corrected == Some(true),
        _ => event.detail.aer.is_corrected(),
    }
}

/// The Xid by which the driver logs what it asks for, and which NVML reads besides.
const RECOVERY_ACTION: u32 = 154;

/// The code of an Xid or SXid, or of the Xid that says the same.
pub(crate) fn code_of(event: &Event) -> Option<u32> {
    match event.kind {
        Kind::RecoveryAction => Some(RECOVERY_ACTION),
        _ => event.code(),
    }
}

pub(crate) fn is_category(name: &str) -> bool {
    Category::ALL.iter().any(|category| category.name() == name)
}
