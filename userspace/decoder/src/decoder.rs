use std::sync::LazyLock;

use gtrace_event::{Occurrence, PciAddress, Provenance};
use memchr::memmem;

use crate::forms::{
    aer, containment, filesystem, hotplug, link_status, mlx5, nccl, nvme, nvrm, oom, peermem,
    stall, sxid,
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
/// A form of one line is given at once. Forms of several records (AER, SXid, OOM kills, the
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
        self.aer.has_pending()
            || self.oom.has_pending()
            || self.sxid.has_pending()
            || self.nvrm.has_pending()
    }

    /// Gives what is held.
    pub fn flush(&mut self, out: &mut Vec<Occurrence>) {
        let start = out.len();
        self.nvrm.flush(out);
        self.sxid.flush(out);
        self.aer.flush(out);
        self.oom.flush(out);
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
        if !pending && !multiline && !may_match(record.text) && !record.text.starts_with(INJECT) {
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

    /// Number of the first record that is held.
    pub(crate) fn oldest_pending(&self) -> Option<u64> {
        [
            self.nvrm.oldest(),
            self.sxid.oldest(),
            self.aer.oldest(),
            self.oom.oldest(),
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
        in_order(out, start);
    }

    /// A record of several lines: each is read as its own, unless the first shows that another
    /// program quotes. If only the first says something, the message is the whole record.
    fn multiline(&mut self, text: &str, meta: Meta, out: &mut Vec<Occurrence>) {
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
            Some(b'O' | b'M' | b'K' | b'o' | b'T') => self.oom.line(line, out),
            _ => {}
        }
        if let Some((driver, pci, rest)) = scan::device_line(text) {
            if driver == "mlx5_core"
                && let Some(occurrence) = mlx5::parse(line, pci, rest)
            {
                out.push(occurrence);
                return;
            }
            let single = hotplug::parse(line, driver, pci, rest)
                .or_else(|| link_status::parse(line, pci, rest))
                .or_else(|| containment::dpc(line, pci, rest))
                .or_else(|| containment::recovery(line, pci, rest));
            match single {
                Some(occurrence) => out.push(occurrence),
                None => self.aer.line(line, pci, rest, out),
            }
            return;
        }
        let single = match text.as_bytes().first() {
            Some(b'I') => stall::hung_task(line),
            Some(b'w' | b'N') => stall::soft_lockup(line),
            Some(b'B') => stall::soft_lockup(line).or_else(|| filesystem::parse(line)),
            Some(b'n') => nvme::parse(line).or_else(|| peermem::parse(line)),
            Some(b'A'..=b'Z') => filesystem::parse(line),
            _ => None,
        };
        let single = single.or_else(|| {
            NCCL.find(text.as_bytes())?;
            nccl::parse(line)
        });
        out.extend(single);
    }
}

/// Refuses most records by their first bytes.
fn may_match(text: &str) -> bool {
    const BEGINNINGS: &[&str] = &[
        "NVRM: ",
        "NMI watchdog: BUG",
        "nvidia",
        "nvme nvme",
        "nv_peer",
        "nv-peer",
        "INFO: task ",
        "watchdog: BUG",
        "BUG: soft lockup",
        "BTRFS",
        "Out of memory",
        "Memory cgroup out",
        "Killed process ",
        "oom-kill:",
        "Task in ",
        "XFS (",
    ];
    let Some(first) = text.as_bytes().first() else {
        return false;
    };
    if matches!(first, b' ' | b'\t') {
        return may_match(text.trim_start());
    }
    let begins = matches!(
        first,
        b'N' | b'n' | b'I' | b'w' | b'B' | b'O' | b'M' | b'K' | b'o' | b'T' | b'X'
    ) && BEGINNINGS.iter().any(|b| text.starts_with(b));
    begins
        || (first.is_ascii_uppercase() && memmem::find(head(text, 16), b"-fs (").is_some())
        || scan::device_line(text).is_some()
        || NCCL.find(text.as_bytes()).is_some()
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
