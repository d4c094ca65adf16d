//! Counters that the daemon's parts raise; `/metrics` shows them beside what [`crate::hub::Hub`]
//! holds. An Xid is a counter per device and code, never a gauge that sticks at the last one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use gtrace_event::{Event, Kind, WitnessName};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;

/// Labels of `gtrace_events`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct EventLabels {
    /// [`Kind`] name.
    pub kind: &'static str,
    /// Severity name.
    pub severity: &'static str,
    /// PCI address, or empty.
    pub gpu: String,
}

/// Labels of `gtrace_xid` and `gtrace_sxid`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct XidLabels {
    /// PCI address, or empty.
    pub gpu: String,
    /// The code.
    pub xid: String,
}

/// Labels of `gtrace_records`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct SourceLabels {
    /// [`WitnessName`] name.
    pub source: &'static str,
}

/// Labels of `gtrace_lost`: every place that can drop.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct LostLabels {
    /// Source or part of gtrace.
    pub source: &'static str,
    /// What was lost, or why.
    pub what: &'static str,
}

/// Most devices that have labels of their own, and pairs of a device and a code. They are taken from texts that other
/// programs may write, and what was counted once is shown for ever.
const DEVICES: usize = 256;
const CODES: usize = 1024;
/// The label of all others.
const OTHER: &str = "other";

/// Labels that there are.
#[derive(Debug, Default)]
struct Labels {
    devices: BTreeSet<String>,
    codes: BTreeSet<(Kind, String, u32)>,
}

impl Labels {
    fn device(&mut self, gpu: String) -> String {
        match self.devices.contains(&gpu) || self.devices.len() < DEVICES {
            true => {
                self.devices.insert(gpu.clone());
                gpu
            }
            false => OTHER.to_owned(),
        }
    }

    fn code(&mut self, kind: Kind, gpu: &str, code: u32) -> XidLabels {
        let pair = (kind, gpu.to_owned(), code);
        let known = self.codes.contains(&pair) || self.codes.len() < CODES;
        if known {
            self.codes.insert(pair);
        }
        XidLabels {
            gpu: gpu.to_owned(),
            xid: match known {
                true => code.to_string(),
                false => OTHER.to_owned(),
            },
        }
    }
}

/// The counters.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    /// Occurrences by kind, severity and device, repeats included.
    pub events: Family<EventLabels, Counter>,
    /// Xids by device and code, repeats included.
    pub xid: Family<XidLabels, Counter>,
    /// SXids by device and code, repeats included.
    pub sxid: Family<XidLabels, Counter>,
    /// Records read by source, events or not.
    pub records: Family<SourceLabels, Counter>,
    /// Losses.
    pub lost: Family<LostLabels, Counter>,
    labels: Arc<Mutex<Labels>>,
    /// Losses by source, for the status.
    lost_by_source: Arc<Mutex<BTreeMap<&'static str, u64>>>,
}

impl Metrics {
    /// All counters at zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts `n` occurrences of `event`.
    pub fn count_event(&self, event: &Event, n: u64) {
        let gpu = event.gpu.as_ref().and_then(|gpu| gpu.pci);
        let gpu = gpu.map(|pci| pci.to_string()).unwrap_or_default();
        let mut labels = self.labels.lock().unwrap_or_else(PoisonError::into_inner);
        let gpu = labels.device(gpu);
        let code = match event.kind {
            Kind::Xid => event.detail.xid.xid.map(|code| (&self.xid, code)),
            Kind::Sxid => event.detail.fabric.sxid.map(|code| (&self.sxid, code)),
            _ => None,
        };
        if let Some((family, code)) = code {
            let pair = labels.code(event.kind, &gpu, code);
            family.get_or_create(&pair).inc_by(n);
        }
        drop(labels);
        let labels = EventLabels {
            kind: event.kind.name(),
            severity: event.severity.name(),
            gpu,
        };
        self.events.get_or_create(&labels).inc_by(n);
    }

    /// Counts `n` records read from `source`.
    pub fn count_records(&self, source: WitnessName, n: u64) {
        self.records
            .get_or_create(&SourceLabels {
                source: source.name(),
            })
            .inc_by(n);
    }

    /// Counts `n` losses.
    pub fn count_lost(&self, source: &'static str, what: &'static str, n: u64) {
        self.lost
            .get_or_create(&LostLabels { source, what })
            .inc_by(n);
        let mut by_source = self
            .lost_by_source
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *by_source.entry(source).or_default() += n;
    }

    /// How many records were read from `source`.
    pub fn records_of(&self, source: WitnessName) -> u64 {
        self.records
            .get_or_create(&SourceLabels {
                source: source.name(),
            })
            .get()
    }

    /// How many records of `source` are lost.
    pub fn lost_of(&self, source: &str) -> u64 {
        let by_source = self
            .lost_by_source
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        by_source.get(source).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_up_devices_and_codes_end_in_one_label() {
        let mut labels = Labels::default();
        for device in 0..DEVICES + 10 {
            let label = labels.device(device.to_string());
            assert_eq!(label == OTHER, device >= DEVICES, "{device}");
        }
        assert_eq!(labels.device("3".into()), "3");
        for code in 0..2 * CODES as u32 {
            let label = labels.code(Kind::Xid, "gpu", code).xid;
            assert_eq!(label == OTHER, code >= CODES as u32, "{code}");
        }
        assert_eq!(labels.code(Kind::Xid, "gpu", 79).xid, "79");
        assert_eq!(labels.code(Kind::Sxid, "gpu", 79).xid, OTHER);
    }
}
