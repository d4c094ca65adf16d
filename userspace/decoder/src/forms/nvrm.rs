//! Lines of the NVIDIA driver that carry no Xid: a GPU lost, an adapter that does not start,
//! library and module of different versions.

use gtrace_event::{Gpu, Kind, Occurrence, PciAddress, Process, Severity};

use super::{nvidia_device, xid};
use crate::DriverVersion;
use crate::group::Group;
use crate::record::{Line, Meta};
use crate::scan;

/// So many devices are remembered by UUID, and so many failed starts.
const MAX_KNOWN: usize = 64;

/// What later lines of the driver refer to.
#[derive(Debug, Default)]
pub(crate) struct State {
    open: Option<Open>,
    failed: Vec<Failed>,
    uuids: Vec<(PciAddress, String)>,
    /// Version of the module, from its own greeting.
    loaded: Option<DriverVersion>,
    xids: u64,
}

#[derive(Debug)]
struct Open {
    group: Group,
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Mismatch,
    Lost(PciAddress),
}

/// A `RmInitAdapter failed!` whose companion `rm_init_adapter failed` is to come.
#[derive(Debug)]
struct Failed {
    pci: Option<PciAddress>,
    line: Group,
}

impl State {
    /// How many lines with an Xid were read.
    pub(crate) fn xids_read(&self) -> u64 {
        self.xids
    }

    pub(crate) fn oldest(&self) -> Option<u64> {
        self.open.as_ref().map(|o| o.group.first())
    }

    /// Whether the lines that are still to come began in the record of `tick`.
    pub(crate) fn opened_at(&self, tick: u64) -> bool {
        self.open.as_ref().is_some_and(|o| o.group.tick() == tick)
    }

    pub(crate) fn expire(&mut self, now: &Meta, out: &mut Vec<Occurrence>) {
        if self.open.as_ref().is_some_and(|o| o.group.expired(now)) {
            self.flush(out);
        }
    }

    pub(crate) fn flush(&mut self, out: &mut Vec<Occurrence>) {
        if let Some(open) = self.open.take()
            && let Some(occurrence) = open.finish()
        {
            out.push(occurrence);
        }
    }

    /// The driver that is loaded now.
    pub(crate) fn set_loaded(&mut self, version: Option<DriverVersion>) {
        self.loaded = version;
    }

    /// Takes a line that begins with `NVRM: `.
    pub(crate) fn line(
        &mut self,
        line: &Line<'_>,
        version: Option<DriverVersion>,
        out: &mut Vec<Occurrence>,
    ) {
        let Some(rest) = line.text.strip_prefix("NVRM: ") else {
            return;
        };
        if rest.starts_with("Xid") {
            if let Some(mut occurrence) = xid::parse(line, version.or(self.loaded)) {
                self.xids += 1;
                self.name_gpu(&mut occurrence);
                out.push(occurrence);
            }
        } else if rest.starts_with("API mismatch:") {
            self.open(line, Form::Mismatch, out);
        } else if let Some(rest) = rest.strip_prefix("The NVIDIA GPU ") {
            if let Some(pci) = PciAddress::parse(scan::word(rest)) {
                self.open(line, Form::Lost(pci), out);
            }
        } else if let Some(rest) = rest.strip_prefix("GPU at ") {
            self.gpu_at(line, rest, out);
        } else if let Some(rest) = rest.strip_prefix("GPU ") {
            if let Some((address, rest)) = rest.split_once(": ")
                && let Some(pci) = PciAddress::parse(address)
            {
                self.device_line(line, Some(pci), rest, out);
            }
        } else if rest.starts_with("RmInitAdapter failed!") || rest.starts_with("rm_init_adapter") {
            self.device_line(line, None, rest, out);
        } else if let Some(rest) = rest.strip_prefix("loading NVIDIA UNIX") {
            self.loaded = rest
                .split(' ')
                .filter(|w| w.contains('.'))
                .find_map(DriverVersion::parse)
                .or(self.loaded);
        } else if let Some(mut occurrence) = nvidia_device::of_driver(line, rest) {
            self.name_gpu(&mut occurrence);
            out.push(occurrence);
        } else {
            self.continuation(line, rest, out);
        }
    }

    /// `GPU at PCI:0000:29:00: GPU-<uuid>`: the driver says it once, before a GPU's first Xid.
    fn gpu_at(&mut self, line: &Line<'_>, rest: &str, out: &mut Vec<Occurrence>) {
        let rest = rest.strip_prefix("PCI:").unwrap_or(rest);
        if let Some((address, after)) = rest.split_once(' ') {
            let named = PciAddress::parse(address.trim_end_matches(':'));
            let Some(pci) = named else { return };
            if after.starts_with("has fallen off the bus") {
                out.push(self.lost(line, pci));
            } else if after.starts_with("GPU-") {
                let uuid = scan::word(after);
                self.uuids.retain(|(known, _)| *known != pci);
                if self.uuids.len() < MAX_KNOWN && uuid.len() <= 64 {
                    self.uuids.push((pci, uuid.to_owned()));
                }
            }
        }
    }

    fn device_line(
        &mut self,
        line: &Line<'_>,
        pci: Option<PciAddress>,
        text: &str,
        out: &mut Vec<Occurrence>,
    ) {
        if text.starts_with("GPU has fallen off the bus") {
            if let Some(pci) = pci {
                out.push(self.lost(line, pci));
            }
        } else if let Some(rest) = text.strip_prefix("RmInitAdapter failed!") {
            let mut occurrence = line.occurrence(Kind::DriverInitFailed, Severity::Critical);
            occurrence.gpu = pci.or(line.meta.device).map(Gpu::at);
            occurrence.detail.xid.rm_init_code =
                scan::bracketed(rest.trim_start()).map(|(code, _)| code.to_owned());
            self.name_gpu(&mut occurrence);
            out.push(occurrence);
            if self.failed.len() == MAX_KNOWN {
                self.failed.remove(0);
            }
            self.failed.push(Failed {
                pci,
                line: Group::open(line),
            });
        } else if text.starts_with("rm_init_adapter") && text.contains("failed") {
            self.failed.retain(|f| !f.line.expired(&line.meta));
            // It stays known: a reader of pieces tries this line again with what follows it.
            let known = self.failed.iter().any(|f| {
                f.line.accepts(line) && (f.pci == pci || f.pci.is_none() || pci.is_none())
            });
            if known {
                return;
            }
            let mut occurrence = line.occurrence(Kind::DriverInitFailed, Severity::Critical);
            occurrence.gpu = pci.or(line.meta.device).map(Gpu::at);
            self.name_gpu(&mut occurrence);
            out.push(occurrence);
        }
    }

    fn lost(&self, line: &Line<'_>, pci: PciAddress) -> Occurrence {
        let mut occurrence = line.occurrence(Kind::GpuLost, Severity::Fatal);
        occurrence.gpu = Some(Gpu::at(pci));
        self.name_gpu(&mut occurrence);
        occurrence
    }

    fn name_gpu(&self, occurrence: &mut Occurrence) {
        if let Some(gpu) = &mut occurrence.gpu
            && let Some(pci) = gpu.pci
        {
            // An Xid line has no function; the UUID line neither.
            gpu.uuid = self
                .uuids
                .iter()
                .find(|(known, _)| *known == pci)
                .map(|(_, u)| u.clone());
        }
    }

    fn open(&mut self, line: &Line<'_>, form: Form, out: &mut Vec<Occurrence>) {
        self.flush(out);
        self.open = Some(Open {
            group: Group::open(line),
            form,
        });
        self.close_if_complete(out);
    }

    fn continuation(&mut self, line: &Line<'_>, rest: &str, out: &mut Vec<Occurrence>) {
        let Some(open) = &mut self.open else { return };
        if open.group.accepts(line) && open.form.continues(rest) {
            open.group.add(line);
            self.close_if_complete(out);
        }
    }

    fn close_if_complete(&mut self, out: &mut Vec<Occurrence>) {
        if self.open.as_ref().is_some_and(Open::complete) {
            self.flush(out);
        }
    }
}

impl Form {
    fn continues(self, rest: &str) -> bool {
        let beginnings: &[&str] = match self {
            // Both wordings: to 550, and since 555 with the client's name.
            Self::Mismatch => &[
                "this kernel module has",
                "has the version",
                "the version ",
                "make sure that this",
                "components have the same",
                "kernel module and all",
                "have the same version",
            ],
            Self::Lost(_) => &[
                "(PCI ID",
                "installed in this system",
                "fallen off the bus",
                "is not supported",
                "legacy",
            ],
        };
        beginnings.iter().any(|b| rest.starts_with(b))
    }
}

impl Open {
    fn complete(&self) -> bool {
        let text = self.group.text();
        match self.form {
            Form::Mismatch => text.trim_end().ends_with("the same version."),
            Form::Lost(_) => text.contains("fallen off the bus") || unsupported(text),
        }
    }

    fn finish(self) -> Option<Occurrence> {
        match self.form {
            Form::Mismatch => Some(mismatch(self.group)),
            Form::Lost(pci) => {
                let text = self.group.text();
                if !text.contains("fallen off the bus") {
                    return None;
                }
                let id = scan::after(text, "(PCI ID: ").and_then(|t| t.split_once(')'));
                let id = id.map(|(id, _)| id.to_owned());
                let mut occurrence = self.group.into_occurrence(Kind::GpuLost, Severity::Fatal);
                occurrence.gpu = Some(Gpu::at(pci));
                occurrence.detail.aer.device_id = id;
                Some(occurrence)
            }
        }
    }
}

/// The same beginning serves a GPU that the driver does not know.
fn unsupported(text: &str) -> bool {
    text.contains("not supported") || text.contains("legacy")
}

/// `API mismatch: the client has the version A, but this kernel module has the version B.`, or
/// `the client 'name' (pid N) has the version A, but …`
fn mismatch(group: Group) -> Occurrence {
    let flat = group.text().replace("NVRM: ", "").replace('\n', " ");
    let mut versions = flat.split("the version ").skip(1).map(|t| {
        let end = t.find([' ', ',']).unwrap_or(t.len());
        t.get(..end).unwrap_or("").trim_end_matches('.').to_owned()
    });
    let library = versions.next().filter(|v| !v.is_empty());
    let module = versions.next().filter(|v| !v.is_empty());
    let process = scan::after(&flat, "the client '").and_then(|rest| {
        let (name, rest) = rest.split_once("' (pid ")?;
        let (pid, _) = scan::number(rest)?;
        Some(Process {
            pid: Some(pid),
            comm: Some(name.to_owned()),
            ..Process::default()
        })
    });
    let mut occurrence = group.into_occurrence(Kind::DriverMismatch, Severity::Critical);
    occurrence.process = process;
    occurrence.detail.xid.library_version = library;
    occurrence.detail.xid.module_version = module;
    occurrence
}
