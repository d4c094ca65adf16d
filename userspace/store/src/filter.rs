use std::convert::Infallible;
use std::str::FromStr;

use gtrace_event::{Event, EventId, Gpu, Kind, PciAddress, Provenance, Severity, Timestamp};

/// Which events to read. The default is all of them; every part that is set narrows.
///
/// A filter checks the folded event: an amendment that raises the severity counts, whenever it
/// was appended. Only `since` and `until` use the event's own time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Events at or after this time.
    pub since: Option<Timestamp>,
    /// Events before this time.
    pub until: Option<Timestamp>,
    /// Events of one of these kinds; empty for all.
    pub kinds: Vec<Kind>,
    /// Events of this device.
    pub gpu: Option<GpuFilter>,
    /// Events at least this severe.
    pub min_severity: Option<Severity>,
    /// Events of this provenance.
    pub provenance: Option<Provenance>,
    /// Events of this boot.
    pub boot_id: Option<String>,
    /// This event alone.
    pub id: Option<EventId>,
    /// Events that nobody acknowledged.
    pub unacked_only: bool,
    /// At most so many events: the newest of those that match.
    pub limit: Option<usize>,
}

/// A device, by its exact address or as a person types it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GpuFilter {
    /// The device at this address.
    Pci(PciAddress),
    /// A PCI address (any way to write it, or its beginning with or without the domain) or the
    /// beginning of a UUID (with or without `GPU-`), in either case.
    Text(String),
}

impl From<PciAddress> for GpuFilter {
    fn from(pci: PciAddress) -> Self {
        Self::Pci(pci)
    }
}

impl FromStr for GpuFilter {
    type Err = Infallible;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Ok(Self::Text(s.to_owned()))
    }
}

impl GpuFilter {
    /// Whether `event` is of the device: it names it, as a GPU or by the address in the kernel's line, or a port above it.
    pub fn concerns(&self, event: &Event) -> bool {
        let pcie = &event.detail.pcie;
        let named = pcie.pci_device.iter().chain(&pcie.gpus_below);
        event.gpu.as_ref().is_some_and(|gpu| self.matches(gpu))
            || named.copied().any(|pci| self.matches(&Gpu::at(pci)))
    }

    /// Whether `gpu` is the device.
    pub fn matches(&self, gpu: &Gpu) -> bool {
        match self {
            Self::Pci(pci) => gpu.pci == Some(*pci),
            Self::Text(text) => {
                let text = text.trim().to_ascii_lowercase();
                gpu.pci.is_some_and(|pci| pci_begins(pci, &text))
                    || gpu.uuid.as_deref().is_some_and(|u| uuid_begins(u, &text))
            }
        }
    }
}

fn pci_begins(pci: PciAddress, text: &str) -> bool {
    let whole = pci.to_string();
    PciAddress::parse(text) == Some(pci)
        || whole.starts_with(text)
        || whole
            .split_once(':')
            .is_some_and(|(_, rest)| rest.starts_with(text))
}

fn uuid_begins(uuid: &str, text: &str) -> bool {
    let uuid = uuid.to_ascii_lowercase();
    uuid.starts_with(text)
        || uuid
            .strip_prefix("gpu-")
            .is_some_and(|bare| bare.starts_with(text))
}

impl Filter {
    /// Whether the folded `event` is one to read.
    pub fn matches(&self, event: &Event) -> bool {
        self.since.is_none_or(|t| event.time >= t)
            && self.until.is_none_or(|t| event.time < t)
            && (self.kinds.is_empty() || self.kinds.contains(&event.kind))
            && self.min_severity.is_none_or(|s| event.severity >= s)
            && self.provenance.is_none_or(|p| event.provenance == p)
            && self.id.is_none_or(|id| event.id == id)
            && (!self.unacked_only || event.acks.is_empty())
            && (self.boot_id.is_none() || event.boot_id == self.boot_id)
            && self.gpu.as_ref().is_none_or(|want| want.concerns(event))
    }

    /// Whether an event that nothing amends, of which only these columns are known, can match.
    pub(crate) fn may_match(&self, severity: Option<&str>, pci: Option<&str>) -> bool {
        let severe = match (self.min_severity, severity.map(Severity::from_str)) {
            (Some(min), Some(Ok(severity))) => severity >= min,
            _ => true,
        };
        let here = match &self.gpu {
            // Without a GPU, an event may name one in its detail.
            Some(GpuFilter::Pci(want)) => {
                pci.is_none_or(|pci| PciAddress::parse(pci) == Some(*want))
            }
            _ => true,
        };
        severe && here
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_is_found_however_a_person_writes_it() {
        let gpu = Gpu {
            pci: PciAddress::parse("0000:3b:00.0"),
            uuid: Some("GPU-5fd1a0b2-0000-1111-2222-333344445555".to_owned()),
            ..Gpu::default()
        };
        let text = |t: &str| GpuFilter::Text(t.to_owned()).matches(&gpu);
        for yes in [
            "0000:3b:00.0",
            "00000000:3B:00.0",
            "3b:00",
            "3B",
            "0000:3b",
            "GPU-5fd1",
            "5FD1A0",
            " 3b",
        ] {
            assert!(text(yes), "{yes}");
        }
        for no in ["3c", "0000:3b:00.1", "GPU-5fd2", "b:00", "0001:3b:00.0"] {
            assert!(!text(no), "{no}");
        }
    }
}
