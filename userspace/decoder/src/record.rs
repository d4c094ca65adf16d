use gtrace_event::{Kind, Occurrence, PciAddress, Provenance, Severity, Timestamp};

/// One record of the kernel log, without prefix.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogRecord<'a> {
    /// The text, unescaped; a record may hold several lines.
    pub text: &'a str,
    /// syslog facility: 0 is the kernel. `None` where the source does not say.
    pub facility: Option<u8>,
    /// syslog level, 0 (emergency) to 7 (debug).
    pub level: Option<u8>,
    /// Clock of the kernel log: microseconds since boot.
    pub timestamp_us: Option<u64>,
    /// Wall-clock time, where the source knows date and zone.
    pub time: Option<Timestamp>,
    /// Sequence number of the record, or line number in a saved log.
    pub number: u64,
    /// Dictionary entry `DEVICE=`, such as `+pci:0000:3b:00.0`.
    pub device: Option<&'a str>,
}

/// What every occurrence takes over from the record that it is read from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meta {
    pub(crate) provenance: Provenance,
    pub(crate) time: Option<Timestamp>,
    pub(crate) timestamp_us: Option<u64>,
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// How many records the decoder has seen.
    pub(crate) tick: u64,
    /// The dictionary's PCI device.
    pub(crate) device: Option<PciAddress>,
}

impl Meta {
    pub(crate) fn occurrence(
        &self,
        kind: Kind,
        severity: Severity,
        message: impl Into<String>,
    ) -> Occurrence {
        let mut occurrence = Occurrence::new(kind, severity, message);
        occurrence.time = self.time;
        occurrence.boottime_ns = self.timestamp_us.and_then(|us| us.checked_mul(1000));
        occurrence.provenance = self.provenance;
        occurrence.lines = Some([self.first, self.last]);
        occurrence
    }

    /// Log time in microseconds, and which clock it is of.
    pub(crate) fn clock_us(&self) -> Option<(bool, i64)> {
        if let Some(us) = self.timestamp_us {
            return Some((true, i64::try_from(us).ok()?));
        }
        self.time.map(|t| (false, t.as_microsecond()))
    }
}

/// One line of a record, with what its record says of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    pub(crate) text: &'a str,
    pub(crate) meta: Meta,
}

impl Line<'_> {
    pub(crate) fn occurrence(&self, kind: Kind, severity: Severity) -> Occurrence {
        self.meta.occurrence(kind, severity, self.text)
    }
}
