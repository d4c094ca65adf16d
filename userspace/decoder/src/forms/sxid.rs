//! `nvidia-nvswitch0: SXid (PCI:dddd:bb:ss.f): N, Non-fatal, Link 32 …`, and the lines with
//! `Severity …` and `Data {…}` that the driver writes after it with the same code.

use gtrace_event::{Gpu, Kind, Occurrence, PciAddress, Severity};

use super::xid;
use crate::group::Group;
use crate::record::{Line, Meta};
use crate::scan;

const MAX_GROUPS: usize = 32;

/// SXids whose further lines may come.
#[derive(Debug, Default)]
pub(crate) struct State {
    groups: Vec<Open>,
    lines: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    switch: u32,
    pci: PciAddress,
    code: u32,
}

#[derive(Debug)]
struct Open {
    group: Group,
    key: Key,
    scope: Option<String>,
    link: Option<i64>,
    severity_seen: bool,
    data: Vec<String>,
}

enum Part<'a> {
    Main(&'a str),
    Severity,
    Data(&'a str),
}

/// What the driver writes before a line of its own, and its name as a PCI driver: `nvidia-nvswitch0: `
/// is the driver's line, `nvidia-nvswitch 0000:05:00.0: ` the kernel's about a device of it.
const DRIVER: &str = "nvidia-nvswitch";

/// Whether the driver wrote the line, of one of its switches.
pub(crate) fn is_of_switch(text: &str) -> bool {
    let rest = text.strip_prefix(DRIVER);
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

fn parse(text: &str) -> Option<(Key, Part<'_>)> {
    let (switch, rest) = scan::number(text.strip_prefix(DRIVER)?)?;
    let rest = rest.strip_prefix(": SXid ")?;
    let (device, rest) = scan::bracketed(rest)?;
    let pci = PciAddress::parse(device.strip_prefix("PCI:").unwrap_or(device))?;
    let (code, rest) = scan::number(rest.strip_prefix(": ")?)?;
    let rest = rest.strip_prefix(',')?.trim_start();
    let part = if rest.starts_with("Severity ") {
        Part::Severity
    } else if let Some(data) = rest.strip_prefix("Data {") {
        Part::Data(data.split('}').next().unwrap_or(""))
    } else {
        Part::Main(rest)
    };
    Some((Key { switch, pci, code }, part))
}

impl State {
    /// How many lines with an SXid were read.
    pub(crate) fn lines_read(&self) -> u64 {
        self.lines
    }

    pub(crate) fn oldest(&self) -> Option<u64> {
        self.groups.iter().map(|g| g.group.first()).min()
    }

    pub(crate) fn expire(&mut self, now: &Meta, out: &mut Vec<Occurrence>) {
        let closed = self.groups.extract_if(.., |g| g.group.expired(now));
        out.extend(closed.map(Open::finish));
    }

    pub(crate) fn flush(&mut self, out: &mut Vec<Occurrence>) {
        out.extend(self.groups.drain(..).map(Open::finish));
    }

    /// Takes a line that [`is_of_switch`].
    pub(crate) fn line(&mut self, line: &Line<'_>, out: &mut Vec<Occurrence>) {
        let Some((key, part)) = parse(line.text) else {
            return;
        };
        self.lines += 1;
        let known = self
            .groups
            .iter()
            .position(|g| g.key == key && g.group.accepts(line));
        let joins = known.filter(|&at| match (&part, self.groups.get(at)) {
            (Part::Severity, Some(g)) => !g.severity_seen,
            (Part::Data(_), Some(g)) => g.data.is_empty(),
            _ => false,
        });
        let at = match joins {
            Some(at) => {
                if let Some(g) = self.groups.get_mut(at) {
                    g.group.add(line);
                }
                at
            }
            None => {
                if let Some(at) = known.or((self.groups.len() == MAX_GROUPS).then_some(0)) {
                    out.push(self.groups.remove(at).finish());
                }
                self.groups.push(Open {
                    group: Group::open(line),
                    key,
                    scope: None,
                    link: None,
                    severity_seen: false,
                    data: Vec::new(),
                });
                self.groups.len() - 1
            }
        };
        let Some(open) = self.groups.get_mut(at) else {
            return;
        };
        match part {
            Part::Main(text) => {
                open.scope = text
                    .split_once(',')
                    .map(|(scope, _)| scope)
                    .filter(|s| s.to_ascii_lowercase().ends_with("fatal"))
                    .map(str::to_owned);
                open.link = xid::link(text);
            }
            Part::Severity => open.severity_seen = true,
            Part::Data(words) => {
                open.data = scan::hex_words(words);
                // The data come last.
                out.push(self.groups.remove(at).finish());
            }
        }
    }
}

impl Open {
    fn finish(self) -> Occurrence {
        let severity = match self.scope.as_deref() {
            Some(s) if s.eq_ignore_ascii_case("fatal") => Severity::Critical,
            _ => Severity::Warning,
        };
        let mut occurrence = self.group.into_occurrence(Kind::Sxid, severity);
        occurrence.gpu = Some(Gpu::at(self.key.pci));
        let fabric = &mut occurrence.detail.fabric;
        fabric.sxid = Some(self.key.code);
        fabric.nvswitch = Some(self.key.switch);
        fabric.scope = self.scope;
        fabric.link = self.link;
        fabric.data = self.data;
        occurrence
    }
}
