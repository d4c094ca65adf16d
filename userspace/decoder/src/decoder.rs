use std::sync::LazyLock;

use gtrace_event::{Occurrence, PciAddress, Provenance};
use memchr::memmem;

use crate::forms::{
    aer, block, containment, cpu_heat, efa, filesystem, hotplug, iommu, kernel, link_status,
    machine_check, mlx5, nccl, netfs, network, nvidia_device, nvme, nvrm, oom, peermem,
    process_line, stall, sxid,
};
use crate::record::{Line, LogRecord, Meta};
use crate::{DriverVersion, scan};

/// What drills write before the line that they play: `gtrace-inject: ` or `gtrace-inject[ID]: `.
const INJECT: &str = "gtrace-inject";

static NCCL: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new("libnccl"));

/// How to read what depends on more than the text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Version of the NVIDIA driver that wrote the log: sub-codes of NVLink 5 Xids changed their
    /// layout in branch 575. Without it the greeting of the module in the log decides.
    pub driver_version: Option<DriverVersion>,
}

/// Reads records of the kernel log in their order.
///
/// A form of one line is given at once. Forms of several records (AER, SXid, OOM kills, machine checks, the
/// driver's three-line messages) are given when they are complete, when a record begins a new one
/// for the same device, after 32 further records, after a second of log time, or at
/// [`flush`](Self::flush). State is bounded whatever the input.
#[derive(Debug, Default)]
pub struct Decoder {
    options: Options,
    tick: u64,
    nvrm: nvrm::State,
    sxid: sxid::State,
    aer: aer::State,
    oom: oom::State,
    machine_check: machine_check::State,
}

impl Decoder {
    /// A decoder that has seen nothing.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    /// Tells which driver is loaded now. A later line in which another one says that it loads
    /// takes its place; [`Options::driver_version`] stands above both.
    pub fn set_driver_version(&mut self, version: Option<DriverVersion>) {
        self.nvrm.set_loaded(version);
    }

    /// Whether lines are held that wait for further ones. A live reader calls
    /// [`flush`](Self::flush) when no record has come for a second.
    pub fn has_pending(&self) -> bool {
        self.oldest_pending().is_some()
    }

    /// Gives what is held.
    pub fn flush(&mut self, out: &mut Vec<Occurrence>) {
        let start = out.len();
        self.nvrm.flush(out);
        self.sxid.flush(out);
        self.aer.flush(out);
        self.oom.flush(out);
        self.machine_check.flush(out);
        in_order(out, start);
    }

    /// Reads one record; what it completes is appended to `out`.
    pub fn feed(&mut self, record: &LogRecord<'_>, out: &mut Vec<Occurrence>) {
        self.feed_lines(record, record.number, out);
    }

    /// Reads one record that fills the lines `record.number` to `last` of a saved log.
    pub(crate) fn feed_lines(
        &mut self,
        record: &LogRecord<'_>,
        last: u64,
        out: &mut Vec<Occurrence>,
    ) {
        self.tick += 1;
        let pending = self.has_pending();
        let multiline = memchr::memchr(b'\n', record.text.as_bytes()).is_some();
        let says_nothing =
            !multiline && !may_match(record.text) && !record.text.starts_with(INJECT);
        if says_nothing && !pending {
            return;
        }
        let Some((text, provenance)) = provenance(record) else {
            return;
        };
        let meta = Meta {
            provenance,
            time: record.time,
            timestamp_us: record.timestamp_us,
            first: record.number,
            last,
            tick: self.tick,
            device: record.device.and_then(pci_of_dictionary),
        };
        if pending {
            self.expire(&meta, out);
        }
        if says_nothing {
            return;
        }
        if multiline {
            self.multiline(text, meta, out);
        } else {
            self.line(
                &Line {
                    text: text.trim(),
                    meta,
                },
                out,
            );
        }
    }

    /// How many lines with a code of the driver (Xid, SXid) were read.
    pub(crate) fn codes_read(&self) -> u64 {
        self.nvrm.xids_read() + self.sxid.lines_read()
    }

    /// Number of the first record that is held.
    pub(crate) fn oldest_pending(&self) -> Option<u64> {
        [
            self.nvrm.oldest(),
            self.sxid.oldest(),
            self.aer.oldest(),
            self.oom.oldest(),
            self.machine_check.oldest(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn expire(&mut self, now: &Meta, out: &mut Vec<Occurrence>) {
        let start = out.len();
        self.nvrm.expire(now, out);
        self.sxid.expire(now, out);
        self.aer.expire(now, out);
        self.oom.expire(now, out);
        self.machine_check.expire(now, out);
        in_order(out, start);
    }

    /// A record of several lines: each is read as its own, unless the first shows that another
    /// program quotes, or a name with newlines has made them of one. If only the first says something,
    /// the message is the whole record.
    fn multiline(&mut self, text: &str, meta: Meta, out: &mut Vec<Occurrence>) {
        if process_line::is(text) {
            let text = text.lines().next().unwrap_or_default();
            out.extend(nccl::parse(&Line { text, meta }));
            return;
        }
        let start = out.len();
        let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty());
        let Some(first) = lines.next().filter(|first| may_match(first)) else {
            return;
        };
        self.line(&Line { text: first, meta }, out);
        let begun = out.len();
        let mut whole = first.to_owned();
        for text in lines {
            whole.push('\n');
            whole.push_str(text);
            self.line(&Line { text, meta }, out);
        }
        if self.nvrm.opened_at(meta.tick) {
            self.nvrm.flush(out);
        }
        if begun == start + 1
            && out.len() == begun
            && let Some(only) = out.last_mut()
            && only.message == first
        {
            only.message = whole;
        }
    }

    fn line(&mut self, line: &Line<'_>, out: &mut Vec<Occurrence>) {
        let text = line.text;
        match text.as_bytes().first() {
            Some(b'N') if text.starts_with("NVRM: ") => {
                self.nvrm.line(line, self.options.driver_version, out);
                return;
            }
            Some(b'n') if sxid::is_of_switch(text) => {
                self.sxid.line(line, out);
                return;
            }
            // A process may be called as any other line begins.
            _ if process_line::is(text) => {
                out.extend(nccl::parse(line));
                return;
            }
            Some(b'O' | b'M' | b'K' | b'o' | b'T') => self.oom.line(line, out),
            _ => {}
        }
        if machine_check::is_marked(text) {
            self.machine_check.line(line, out);
            return;
        }
        if let Some((driver, pci, rest)) = scan::device_line(text) {
            match device_form(line, driver, pci, rest) {
                Some(occurrence) => out.push(occurrence),
                None => self.aer.line(line, pci, rest, out),
            }
            return;
        }
        let single = one_line(line).or_else(|| {
            NCCL.find(text.as_bytes())?;
            nccl::parse(line)
        });
        out.extend(single);
    }
}

/// A line of `driver` about the device at `pci`, complete in itself.
fn device_form(line: &Line<'_>, driver: &str, pci: PciAddress, rest: &str) -> Option<Occurrence> {
    let of_driver = match driver {
        "mlx5_core" => mlx5::parse(line, pci, rest),
        "nvidia" => nvidia_device::of_device(line, pci, rest),
        "efa" => efa::of_device(line, pci, rest),
        _ => None,
    };
    of_driver
        .or_else(|| hotplug::parse(line, driver, pci, rest))
        .or_else(|| link_status::parse(line, pci, rest))
        .or_else(|| containment::dpc(line, pci, rest))
        .or_else(|| containment::recovery(line, pci, rest))
        .or_else(|| network::of_device(line, driver, pci, rest))
        .or_else(|| iommu::amd_of_device(line, pci, rest))
}

/// A line that names no PCI device at its beginning, complete in itself.
fn one_line(line: &Line<'_>) -> Option<Occurrence> {
    let first = *line.text.as_bytes().first()?;
    let single = match first {
        b'A' => iommu::amd(line),
        b'B' => stall::soft_lockup(line)
            .or_else(|| stall::work_queue(line))
            .or_else(|| block::buffer(line))
            .or_else(|| kernel::oops(line)),
        b'C' => cpu_heat::parse(line).or_else(|| netfs::cifs(line)),
        b'D' => iommu::intel(line),
        b'E' => machine_check::edac(line),
        b'I' => stall::hung_task(line)
            .or_else(|| stall::rcu(line))
            .or_else(|| block::request(line))
            .or_else(|| kernel::oops(line)),
        b'K' => kernel::panic(line),
        b'L' => netfs::lustre(line),
        b'M' => machine_check::page(line),
        b'N' => stall::soft_lockup(line)
            .or_else(|| stall::hard_lockup(line))
            .or_else(|| network::watchdog(line)),
        b'O' | b'U' => kernel::oops(line),
        b'V' => kernel::file_max(line),
        b'b' => block::request(line).or_else(|| block::path(line)),
        b'c' => block::request(line).or_else(|| netfs::ceph(line)),
        b'd' | b'g' => kernel::oops(line),
        b'i' => efa::of_rdma_device(line).or_else(|| kernel::oops(line)),
        b'k' => kernel::oops(line),
        b'l' => netfs::nfs(line),
        b'm' => block::raid(line).or_else(|| cpu_heat::parse(line)),
        b'n' => nvme::parse(line)
            .or_else(|| block::nvme_status(line))
            .or_else(|| netfs::nfs(line))
            .or_else(|| nvidia_device::probe(line))
            .or_else(|| peermem::parse(line)),
        b'p' | b't' => block::request(line),
        b'r' => stall::rcu(line),
        b's' => kernel::oops(line),
        b'w' => stall::soft_lockup(line).or_else(|| stall::hard_lockup(line)),
        _ => None,
    };
    single
        .or_else(|| {
            first
                .is_ascii_uppercase()
                .then(|| filesystem::parse(line))?
        })
        .or_else(|| block::beyond(line))
}

/// How a line begins. The first eight bytes as one number refuse most lines without a comparison of texts.
struct Beginning {
    mask: u64,
    value: u64,
    text: &'static str,
}

impl Beginning {
    const fn new(text: &'static str) -> Self {
        let bytes = text.as_bytes();
        let (mut mask, mut value, mut at) = (0, 0, 0);
        while at < bytes.len() && at < 8 {
            mask |= 0xff << (8 * at);
            value |= (bytes[at] as u64) << (8 * at);
            at += 1;
        }
        Self { mask, value, text }
    }
}

macro_rules! begin {
    ($($text:literal),+ $(,)?) => {
        const { &[$(Beginning::new($text)),+] }
    };
}

/// The first eight bytes, the first in the lowest place.
fn first_word(bytes: &[u8]) -> u64 {
    match bytes.first_chunk() {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => {
            let mut chunk = [0; 8];
            chunk
                .iter_mut()
                .zip(bytes)
                .for_each(|(to, from)| *to = *from);
            u64::from_le_bytes(chunk)
        }
    }
}

/// What lines without a PCI device begin with, by their first byte: few, so that most records are refused after one or
/// two comparisons.
const fn beginnings(first: u8) -> &'static [Beginning] {
    match first {
        b'A' => begin!["AMD-Vi: Event logged [IO_PAGE", "Aborting journal on"],
        b'B' => begin!["BUG: ", "BTRFS", "Buffer I/O error on dev"],
        b'C' => begin!["CPU", "CIFS"],
        b'D' => begin!["DMAR:"],
        b'E' => begin!["EDAC MC"],
        b'I' => begin![
            "INFO: task ",
            "INFO: rcu_",
            "I/O error, dev ",
            "Internal error: ",
        ],
        b'J' => begin!["JBD2: Detected IO errors"],
        b'K' => begin!["Kernel panic - ", "Killed process "],
        b'L' => begin!["Lustre: "],
        b'M' => begin!["Memory cgroup out", "Memory failure: "],
        b'N' => begin!["NVRM: ", "NMI watchdog: ", "NETDEV WATCHDOG: "],
        b'O' => begin!["Out of memory", "Oops: "],
        b'T' => begin!["Task in "],
        b'U' => begin!["Unable to handle kernel "],
        b'V' => begin!["VFS: file-max limit "],
        b'X' => begin!["XFS ("],
        b'b' => begin!["blk_update_request: ", "block nvme"],
        b'c' => begin!["critical ", "ceph: "],
        b'd' => begin!["divide error: ", "double fault: "],
        b'g' => begin!["general protection fault"],
        b'i' => begin!["infiniband ", "invalid opcode: ", "int3: "],
        b'k' => begin!["kernel BUG at "],
        b'l' => begin!["lockd: server "],
        b'm' => begin!["md/", "mce: "],
        b'n' => begin!["nvidia", "nvme", "nfs: server ", "nv_peer", "nv-peer"],
        b'o' => begin!["oom-kill:"],
        b'p' => begin!["print_req_error: ", "protection error, dev "],
        b'r' => begin!["rcu: "],
        b's' => begin!["stack segment: "],
        b't' => begin!["timeout error, dev "],
        b'w' => begin!["watchdog: "],
        b'[' => begin!["[Hardware Error]:"],
        b'{' => begin!["{"],
        _ => &[],
    }
}

/// Refuses most records by their first bytes.
fn may_match(text: &str) -> bool {
    let Some(first) = text.as_bytes().first() else {
        return false;
    };
    if matches!(first, b' ' | b'\t') {
        return may_match(text.trim_start());
    }
    let word = first_word(text.as_bytes());
    beginnings(*first)
        .iter()
        .any(|b| word & b.mask == b.value && text.starts_with(b.text))
        || (first.is_ascii_uppercase() && head(text, 16).windows(4).any(|w| w == b"-fs "))
        || scan::device_line(text).is_some()
        || block::is_beyond(text)
        || may_be_nccl(text)
}

/// Whether the text names a library of NCCL near its end: `libnccl.so`, `libnccl.so.2`, with the map in `[]`, with
/// `likely on CPU 3 (core 3, socket 0)` after it in newer kernels. The last byte refuses most lines.
fn may_be_nccl(text: &str) -> bool {
    matches!(
        text.as_bytes().last(),
        Some(b'o' | b'0'..=b'9' | b']' | b')' | b' ' | b'\r')
    ) && NCCL.find(text.as_bytes()).is_some()
}

fn head(text: &str, len: usize) -> &[u8] {
    let bytes = text.as_bytes();
    bytes.get(..len).unwrap_or(bytes)
}

/// Who wrote a record, and its text without the mark of a drill.
fn provenance<'a>(record: &LogRecord<'a>) -> Option<(&'a str, Provenance)> {
    let by_facility = match record.facility {
        Some(0) => Provenance::Kernel,
        Some(_) => Provenance::Userspace,
        None => Provenance::Unknown,
    };
    let Some(rest) = record.text.strip_prefix(INJECT) else {
        return Some((record.text, by_facility));
    };
    let rest = match rest.strip_prefix('[') {
        Some(id) => id.split_once(']')?.1,
        None => rest,
    };
    let rest = rest.strip_prefix(": ")?;
    // The kernel never begins a line so.
    (by_facility != Provenance::Kernel).then_some((rest, Provenance::Injected))
}

fn pci_of_dictionary(device: &str) -> Option<PciAddress> {
    PciAddress::parse(device.strip_prefix("+pci:")?)
}

/// Puts what was appended since `start` in the order of its first lines.
fn in_order(out: &mut [Occurrence], start: usize) {
    if let Some(new) = out.get_mut(start..)
        && new.len() > 1
    {
        new.sort_by_key(|o| o.lines.map_or(0, |l| l[0]));
    }
}
