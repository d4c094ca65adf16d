//! PCIe Advanced Error Reporting, all three generations of wording and the form that firmware
//! reports take (`aer_status:`). Source: drivers/pci/pcie/aer.c, Linux 2.6.19 to 6.18.

use gtrace_event::{AerDetail, Gpu, Kind, Occurrence, PciAddress, Severity};

use super::aer_line::{Body, Header};
use crate::group::Group;
use crate::record::{Line, Meta};

const MAX_GROUPS: usize = 64;
/// A register has 32 bits; a device names no more errors than that.
const MAX_ERRORS: usize = 32;
/// How many ports' messages are remembered that were reported before any details came.
const MAX_CONTINUED: usize = 16;
/// For how much log time: the kernel reads the registers of a device that may not answer, and on a slow console
/// every line takes its time.
const MAX_LATE_US: i64 = 60_000_000;

/// Errors whose further lines may come, oldest first.
#[derive(Debug, Default)]
pub(crate) struct State {
    groups: Vec<Open>,
    /// Ports' messages that were reported as they were, as nothing came after them for a while, oldest first.
    announced: Vec<Announcement>,
}

/// A port's message that a device reported an error.
#[derive(Clone, Debug)]
struct Announcement {
    header: Header,
    port: Option<PciAddress>,
    meta: Meta,
}

#[derive(Debug)]
struct Open {
    group: Group,
    /// The device whose registers the lines show; unknown while only a port has spoken.
    device: Option<PciAddress>,
    header: Option<Header>,
    port: Option<PciAddress>,
    detail: AerDetail,
    /// Whether NVIDIA's driver is bound to the device: the one sign of a GPU that the text has.
    nvidia: bool,
    /// `aer_uncor_severity`: which errors the device calls fatal.
    fatal_mask: Option<u32>,
    from_firmware: bool,
    /// The port's message was reported before, as an occurrence.
    continues: bool,
}

impl Open {
    fn new(line: &Line<'_>) -> Self {
        Self {
            group: Group::open(line),
            device: None,
            header: None,
            port: None,
            detail: AerDetail::default(),
            nvidia: line.text.starts_with("nvidia "),
            fatal_mask: None,
            from_firmware: false,
            continues: false,
        }
    }

    /// The port's message, while no details have come.
    fn announces(&self) -> Option<&Header> {
        self.header.as_ref().filter(|_| self.device.is_none())
    }

    /// The port's message, to be remembered when it is reported without details.
    fn announcement(&self) -> Option<Announcement> {
        Some(Announcement {
            header: self.announces()?.clone(),
            port: self.port,
            meta: *self.group.meta(),
        })
    }

    fn finish(mut self) -> Occurrence {
        if self.detail.severity.is_none() {
            self.detail.severity = self
                .header
                .as_ref()
                .map(|h| h.severity.clone())
                .or_else(|| self.severity_from_registers());
        }
        self.detail.reporter = self.port.map(|p| p.to_string());
        let severity = severity_of(self.detail.severity.as_deref().unwrap_or(""));
        let dictionary = self.group.meta().device;
        let device = self.device.or(self.header.map(|h| h.source)).or(dictionary);
        let mut occurrence = self.group.into_occurrence(Kind::Aer, severity);
        occurrence.gpu = device.filter(|_| self.nvidia).map(Gpu::at);
        occurrence.detail.pcie.pci_device = device;
        occurrence.detail.aer = self.detail;
        occurrence.continues = self.continues;
        occurrence
    }

    /// A firmware report says its severity in no line of the device's own.
    fn severity_from_registers(&self) -> Option<String> {
        if !self.from_firmware {
            return None;
        }
        let status = self.detail.status.as_deref()?;
        let status = u32::from_str_radix(status.get(2..)?, 16).ok()?;
        let name = match self.fatal_mask {
            Some(mask) if status & mask != 0 => "Uncorrectable (Fatal)",
            Some(_) => "Uncorrectable (Non-Fatal)",
            // Printed for uncorrectable errors only; `aer_layer` closes the report of the others.
            None if self.detail.layer.is_some() => "Correctable",
            None => return None,
        };
        Some(name.to_owned())
    }
}

/// A first idea, for those who use the decoder without a catalogue.
fn severity_of(text: &str) -> Severity {
    let text = text.to_ascii_lowercase();
    if text.contains("non-fatal") || text.contains("nonfatal") {
        Severity::Critical
    } else if text.contains("fatal") {
        Severity::Fatal
    } else {
        Severity::Warning
    }
}

impl State {
    pub(crate) fn oldest(&self) -> Option<u64> {
        self.groups.iter().map(|g| g.group.first()).min()
    }

    pub(crate) fn expire(&mut self, now: &Meta, out: &mut Vec<Occurrence>) {
        let closed = self.groups.extract_if(.., |g| g.group.expired(now));
        for open in closed {
            remember(&mut self.announced, &open);
            out.push(open.finish());
        }
    }

    pub(crate) fn flush(&mut self, out: &mut Vec<Occurrence>) {
        for open in self.groups.drain(..) {
            remember(&mut self.announced, &open);
            out.push(open.finish());
        }
    }

    /// Takes a line of the device at `at`; `rest` is the text after the address.
    pub(crate) fn line(
        &mut self,
        line: &Line<'_>,
        at: PciAddress,
        rest: &str,
        out: &mut Vec<Occurrence>,
    ) {
        let Some(body) = Body::parse(rest, at, !self.groups.is_empty()) else {
            return;
        };
        match body {
            Body::Header(header) => self.header(line, at, header, out),
            Body::NoDetails(source) => {
                let open = self.groups.iter_mut().rev().find(|g| {
                    g.device.is_none()
                        && g.group.accepts(line)
                        && g.port == Some(at)
                        && g.header.as_ref().is_some_and(|h| h.source == source)
                });
                if let Some(open) = open {
                    open.group.add(line);
                }
            }
            Body::BusError {
                severity,
                layer,
                agent,
            } => {
                let open = self.begin(line, at, out);
                open.detail.severity = Some(severity.to_owned());
                open.detail.layer = layer.map(str::to_owned);
                open.detail.agent = agent.map(str::to_owned);
            }
            Body::Registers {
                device_id,
                status,
                mask,
            } => {
                let open = self
                    .of_device(line, at)
                    .filter(|g| g.detail.status.is_none());
                let open = match open {
                    Some(open) => {
                        open.group.add(line);
                        open
                    }
                    None => self.begin(line, at, out),
                };
                open.detail.device_id = Some(device_id.to_owned());
                open.detail.status = Some(status);
                open.detail.mask = Some(mask);
            }
            Body::FirmwareRegisters { status, mask } => {
                let open = self.begin(line, at, out);
                open.from_firmware = true;
                open.detail.status = Some(status);
                open.detail.mask = Some(mask);
            }
            further => {
                if let Some(open) = self.of_device(line, at) {
                    open.group.add(line);
                    open.take(further);
                }
            }
        }
    }

    fn header(
        &mut self,
        line: &Line<'_>,
        port: PciAddress,
        header: Header,
        out: &mut Vec<Occurrence>,
    ) {
        let source = header.source;
        let old = |g: &mut Open| {
            g.group.accepts(line)
                && (g.device == Some(source)
                    || (g.device.is_none()
                        && g.header.as_ref().is_some_and(|h| h.source == source)))
        };
        out.extend(self.groups.extract_if(.., old).map(Open::finish));
        // What was reported about this device has no details, else they would have come before the next message.
        self.announced
            .retain(|announced| announced.header.source != source);
        let mut open = Open::new(line);
        open.header = Some(header);
        open.port = Some(port);
        self.push(open, out);
    }

    /// Begins the details of `device`, joined to the port's message that announced them.
    fn begin(
        &mut self,
        line: &Line<'_>,
        device: PciAddress,
        out: &mut Vec<Occurrence>,
    ) -> &mut Open {
        let old = |g: &mut Open| g.group.accepts(line) && g.device == Some(device);
        out.extend(self.groups.extract_if(.., old).map(Open::finish));
        let waiting = |g: &Open, tells: &dyn Fn(&Header, Option<PciAddress>) -> bool| {
            g.group.accepts(line) && g.announces().is_some_and(|header| tells(header, g.port))
        };
        let names = |header: &Header, _| header.source == device;
        let may = |header: &Header, port| header.may_continue(device, port);
        let last = |tells| self.groups.iter().rposition(|g| waiting(g, tells));
        let mut open = Open::new(line);
        open.device = Some(device);
        if let Some(at) = last(&names).or_else(|| last(&may)) {
            let announcement = self.groups.remove(at);
            open.group.prepend(announcement.group);
            open.header = announcement.header;
            open.port = announcement.port;
        } else if let Some(announced) = self.take_continuation(line, device) {
            open.header = Some(announced.header);
            open.port = announced.port;
            open.continues = true;
        }
        self.push(open, out)
    }

    /// The message, already reported, that details of `device` belong to.
    fn take_continuation(&mut self, line: &Line<'_>, device: PciAddress) -> Option<Announcement> {
        let last = |tells: &dyn Fn(&Announcement) -> bool| {
            self.announced.iter().rposition(|announced| {
                let near = match (announced.meta.clock_us(), line.meta.clock_us()) {
                    (Some((a, then)), Some((b, now))) => a == b && now - then <= MAX_LATE_US,
                    _ => false,
                };
                near && announced.meta.provenance == line.meta.provenance && tells(announced)
            })
        };
        let at = last(&|announced| announced.header.source == device)
            .or_else(|| last(&|announced| announced.header.may_continue(device, announced.port)))?;
        Some(self.announced.remove(at))
    }

    fn push(&mut self, open: Open, out: &mut Vec<Occurrence>) -> &mut Open {
        if self.groups.len() >= MAX_GROUPS {
            out.push(self.groups.remove(0).finish());
        }
        self.groups.push_mut(open)
    }

    fn of_device(&mut self, line: &Line<'_>, device: PciAddress) -> Option<&mut Open> {
        self.groups
            .iter_mut()
            .rev()
            .find(|g| g.device == Some(device) && g.group.accepts(line))
    }
}

fn remember(announced: &mut Vec<Announcement>, open: &Open) {
    let Some(announcement) = open.announcement() else {
        return;
    };
    if announced.len() >= MAX_CONTINUED {
        announced.remove(0);
    }
    announced.push(announcement);
}

impl Open {
    /// Takes what a further line of the same device says.
    fn take(&mut self, body: Body<'_>) {
        match body {
            Body::Bit(name) if self.detail.errors.len() < MAX_ERRORS => {
                self.detail.errors.push(name.to_owned());
            }
            Body::TlpHeader(words) => self.detail.tlp_header = words,
            Body::LayerAgent { layer, agent } => {
                self.detail.layer = Some(layer.to_owned());
                self.detail.agent = Some(agent.to_owned());
            }
            Body::UncorrectableSeverity(mask) => self.fatal_mask = Some(mask),
            _ => {}
        }
    }
}
