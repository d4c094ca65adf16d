//! One line of AER text.

use gtrace_event::PciAddress;

use crate::scan;

/// A port's message that a device reported an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) severity: String,
    pub(crate) multiple: bool,
    pub(crate) source: PciAddress,
}

impl Header {
    /// Whether details of `device` may belong to this message of `port`. The kernel looks for any device with errors
    /// where the message names bus 0 or says `Multiple`, else only for the device named (`is_error_source`).
    pub(crate) fn may_continue(&self, device: PciAddress, port: Option<PciAddress>) -> bool {
        self.source.domain == device.domain
            && (self.multiple || self.source.bus == 0 || Some(self.source) == port)
    }
}

/// What a line says, after `driver dddd:bb:ss.f`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body<'a> {
    /// `AER: [Multiple ]Corrected error received: id=00e0`, `… received: 0000:00:1c.0`,
    /// `AER: Correctable error message received from 0000:00:1c.0`
    Header(Header),
    /// `AER: can't find device of ID00e0`, `AER: found no error details for 0000:00:1c.0`
    NoDetails(PciAddress),
    /// `PCIe Bus Error: severity=…, type=…, (Receiver ID)` or `…, id=00e0(Receiver ID)`
    BusError {
        severity: &'a str,
        layer: Option<&'a str>,
        agent: Option<&'a str>,
    },
    /// `  device [8086:a33c] error status/mask=00000001/00002000`
    Registers {
        device_id: &'a str,
        status: String,
        mask: String,
    },
    /// `aer_status: 0x00000001, aer_mask: 0x00002000`
    FirmwareRegisters { status: String, mask: String },
    /// `aer_layer=Physical Layer, aer_agent=Receiver ID`
    LayerAgent { layer: &'a str, agent: &'a str },
    /// `aer_uncor_severity: 0x00462030`
    UncorrectableSeverity(u32),
    /// `   [ 0] RxErr                  (First)`
    Bit(&'a str),
    /// `  TLP Header: 34000000 00000052 00000000 00000000`, since Linux 6.16 `  TLP Header (Flit): 0x34000000 0x00000052 …`
    TlpHeader(Vec<String>),
    /// `  Error of this Agent is reported first`
    ReportedFirst,
}

impl<'a> Body<'a> {
    /// Reads the text after the address of the device at `at`. Lines that only follow others are
    /// read where there are others (`pending`).
    pub(crate) fn parse(rest: &'a str, at: PciAddress, pending: bool) -> Option<Self> {
        let rest = rest.strip_prefix(':')?.trim_start();
        let (marked, rest) = match rest.strip_prefix("AER:") {
            Some(rest) => (true, rest.trim_start()),
            None => (false, rest),
        };
        if let Some(rest) = rest.strip_prefix("PCIe Bus Error: ") {
            return bus_error(rest);
        }
        if let Some(rest) = rest.strip_prefix("device [") {
            return registers(rest);
        }
        if let Some(rest) = rest.strip_prefix("aer_status: ") {
            let (status, rest) = scan::hex(rest)?;
            let (mask, _) = scan::hex(rest.strip_prefix(", aer_mask: ")?)?;
            return Some(Self::FirmwareRegisters { status, mask });
        }
        if marked && let Some(header) = header(rest, at) {
            return Some(header);
        }
        if pending { Self::further(rest) } else { None }
    }

    fn further(rest: &'a str) -> Option<Self> {
        if let Some(rest) = rest.strip_prefix('[') {
            let (bit, rest) = scan::number::<u32>(rest.trim_start())?;
            let name = rest.strip_prefix(']')?.trim();
            let name = name.strip_suffix("(First)").unwrap_or(name).trim_end();
            return (bit < 32 && !name.is_empty()).then_some(Self::Bit(name));
        }
        if let Some(rest) = rest.strip_prefix("TLP Header") {
            let rest = rest.strip_prefix(" (Flit)").unwrap_or(rest);
            let words = rest.strip_prefix(": ")?;
            return Some(Self::TlpHeader(scan::hex_words(words)));
        }
        if rest.starts_with("Error of this Agent") {
            return Some(Self::ReportedFirst);
        }
        if let Some(rest) = rest.strip_prefix("aer_layer=") {
            let (layer, agent) = rest.split_once(", aer_agent=")?;
            let agent = agent.trim_end();
            return Some(Self::LayerAgent { layer, agent });
        }
        if let Some(rest) = rest.strip_prefix("aer_uncor_severity: ") {
            let (mask, _) = scan::hex(rest)?;
            let mask = u32::from_str_radix(mask.get(2..)?, 16).ok()?;
            return Some(Self::UncorrectableSeverity(mask));
        }
        None
    }
}

fn header(rest: &str, port: PciAddress) -> Option<Body<'_>> {
    if let Some(id) = rest.strip_prefix("can't find device of ID") {
        return Some(Body::NoDetails(requester(id, port.domain)?));
    }
    if let Some(address) = rest.strip_prefix("found no error details for ") {
        return Some(Body::NoDetails(PciAddress::parse(scan::word(address))?));
    }
    let (multiple, rest) = match rest.strip_prefix("Multiple ") {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    if !rest.starts_with("Correct") && !rest.starts_with("Uncorrect") {
        return None;
    }
    let (severity, source) = rest
        .split_once(" error received: ")
        .or_else(|| rest.split_once(" error message received from "))?;
    let source = match source.strip_prefix("id=") {
        Some(id) => requester(id, port.domain)?,
        None => PciAddress::parse(scan::word(source))?,
    };
    Some(Body::Header(Header {
        severity: severity.to_owned(),
        multiple,
        source,
    }))
}

/// A requester id in four hex digits.
fn requester(id: &str, domain: u32) -> Option<PciAddress> {
    let digits = id.get(..4)?;
    let ends = !id
        .get(4..)?
        .starts_with(|c: char| c.is_ascii_alphanumeric());
    let id = u16::from_str_radix(digits, 16).ok().filter(|_| ends)?;
    Some(scan::requester(id, domain))
}

fn bus_error(rest: &str) -> Option<Body<'_>> {
    let rest = rest.strip_prefix("severity=")?;
    let (severity, rest) = rest.split_once(", type=")?;
    if severity.is_empty() {
        return None;
    }
    let (layer, rest) = rest.split_once(',').unwrap_or((rest, ""));
    let agent = rest
        .split_once('(')
        .and_then(|(_, rest)| rest.split_once(')'));
    Some(Body::BusError {
        severity,
        layer: Some(layer.trim()).filter(|l| !l.is_empty()),
        agent: agent.map(|(agent, _)| agent),
    })
}

fn registers(rest: &str) -> Option<Body<'_>> {
    let (device_id, rest) = rest.split_once(']')?;
    let rest = rest.trim_start().strip_prefix("error status/mask=")?;
    let (status, rest) = scan::hex(rest)?;
    let (mask, _) = scan::hex(rest.strip_prefix('/')?)?;
    Some(Body::Registers {
        device_id,
        status,
        mask,
    })
}
