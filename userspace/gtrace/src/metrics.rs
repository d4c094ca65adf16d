//! Counters that the daemon's parts raise; `/metrics` shows them beside what [`crate::hub::Hub`]
//! holds. An Xid is a counter per device and code, never a gauge that sticks at the last one.

use std::collections::BTreeMap;
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
    pub xid: u32,
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
        let gpu = event
            .gpu
            .as_ref()
            .and_then(|g| g.pci)
            .map(|p| p.to_string())
            .unwrap_or_default();
        if let (Kind::Xid, Some(xid)) = (event.kind, event.detail.xid.xid) {
            self.xid
                .get_or_create(&XidLabels {
                    gpu: gpu.clone(),
                    xid,
                })
                .inc_by(n);
        }
        if let (Kind::Sxid, Some(xid)) = (event.kind, event.detail.fabric.sxid) {
            self.sxid
                .get_or_create(&XidLabels {
                    gpu: gpu.clone(),
                    xid,
                })
                .inc_by(n);
        }
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
