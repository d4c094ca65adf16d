use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Ack, Advice, Detail, EventId, Gpu, Kind, Occurrence, Process, Provenance, Severity, Variant,
    Witness, WitnessName,
};

/// One event, with every amendment that is known applied.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// Identifies it for ever.
    pub id: EventId,
    /// How many amendments are applied.
    #[serde(default)]
    pub revision: u32,
    /// When it happened, by the wall clock of the host.
    pub time: Timestamp,
    /// The kernel's boot id, from /proc/sys/kernel/random/boot_id.
    pub boot_id: Option<String>,
    /// When it happened, in nanoseconds since boot (CLOCK_BOOTTIME).
    pub boottime_ns: Option<u64>,
    /// The host's name.
    pub host: Option<String>,
    /// The machine, whatever its name: derived from /etc/machine-id (machine-id(5) asks not to show
    /// that itself). Absent where a container has none.
    pub machine_id: Option<String>,
    /// What happened.
    pub kind: Kind,
    /// How bad it is.
    pub severity: Severity,
    /// The device it is about.
    pub gpu: Option<Gpu>,
    /// The process it is about.
    pub process: Option<Process>,
    /// The text as the kernel or driver gave it, without log prefix; inner newlines kept.
    pub message: String,
    /// What the text or the source says, by kind.
    #[serde(skip_serializing_if = "Detail::is_empty", default)]
    pub detail: Box<Detail>,
    /// The sources that saw it, the first one first.
    #[serde(default)]
    pub witnesses: Vec<Witness>,
    /// Who wrote it.
    pub provenance: Provenance,
    /// How many further occurrences of the same were folded into this event; 0 for a single one.
    #[serde(default)]
    pub repeats: u64,
    /// When the newest of the repeats happened.
    pub last_time: Option<Timestamp>,
    /// Some of the repeats whose text differs from `message`, the earliest first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub variants: Vec<Variant>,
    /// Meaning and what to do.
    pub advice: Option<Advice>,
    /// Acknowledgements, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub acks: Vec<Ack>,
}

impl Event {
    /// A new event, of which `source` has seen `count` occurrences at `time`.
    pub fn seen(time: Timestamp, source: WitnessName, count: u64, occurrence: Occurrence) -> Self {
        let unix_ms = u64::try_from(time.as_millisecond()).unwrap_or(0);
        let first = Witness {
            source,
            count,
            first_time: time,
        };
        Self {
            id: EventId::new(unix_ms),
            revision: 0,
            time,
            boot_id: None,
            boottime_ns: occurrence.boottime_ns,
            host: None,
            machine_id: None,
            kind: occurrence.kind,
            severity: occurrence.severity,
            gpu: occurrence.gpu,
            process: occurrence.process,
            message: occurrence.message,
            detail: occurrence.detail,
            witnesses: vec![first],
            provenance: occurrence.provenance,
            repeats: 0,
            last_time: None,
            variants: Vec::new(),
            advice: None,
            acks: Vec::new(),
        }
    }

    /// Whether it names a GPU, or a port above one.
    pub fn names_gpu(&self) -> bool {
        self.gpu.is_some() || !self.detail.pcie.gpus_below.is_empty()
    }

    /// The code of an Xid or SXid.
    pub fn code(&self) -> Option<u32> {
        match self.kind {
            Kind::Xid => self.detail.xid.xid,
            Kind::Sxid => self.detail.fabric.sxid,
            _ => None,
        }
    }
}

impl From<&Event> for Occurrence {
    /// The event as if it were reported once more, for what judges occurrences.
    fn from(event: &Event) -> Self {
        Self {
            kind: event.kind,
            severity: event.severity,
            time: Some(event.time),
            boottime_ns: event.boottime_ns,
            gpu: event.gpu.clone(),
            process: event.process.clone(),
            message: event.message.clone(),
            detail: event.detail.clone(),
            provenance: event.provenance,
            lines: None,
            log: None,
            continues: false,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::WitnessName;

    pub(crate) fn event() -> Event {
        let time: Timestamp = "2026-03-03T04:05:06.123456789Z".parse().unwrap();
        let mut occurrence = Occurrence::new(Kind::Xid, Severity::Critical, "NVRM: Xid");
        occurrence.detail.xid.xid = Some(79);
        occurrence.gpu = Some(Gpu::at("0000:3b:00.0".parse().unwrap()));
        Event::seen(time, WitnessName::PrintkConsole, 1, occurrence)
    }

    #[test]
    fn json_is_flat_in_detail_keeps_nanoseconds_and_reads_back_whole() {
        let event = event();
        let json = serde_json::to_value(&event).unwrap();
        assert_eq!(json["detail"], serde_json::json!({ "xid": 79 }));
        assert_eq!(json["time"], "2026-03-03T04:05:06.123456789Z");
        assert_eq!(json["gpu"]["pci"], "0000:3b:00.0");
        assert_eq!(json["witnesses"][0]["source"], "printk:console");
        let text = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event);
    }
}
