//! Links that give a device less than it can use. Source: `__pcie_print_link_status` of
//! drivers/pci/pci.c, Linux 4.17 to 6.18: logged when a device is found, and by some drivers when
//! they take it.

use gtrace_event::{Kind, Occurrence, PciAddress, Severity};

use crate::record::Line;
use crate::scan;

/// `pci 0000:01:00.0: 2.000 Gb/s available PCIe bandwidth, limited by 2.5 GT/s PCIe x1 link at
/// 0000:00:1c.0 (capable of 31.504 Gb/s with 8.0 GT/s PCIe x4 link)`; before 5.8 without `PCIe`
/// after the speeds, since 6.15 perhaps with `, in Flit mode` at the end. `rest` is the text after
/// the address.
pub(crate) fn parse(line: &Line<'_>, device: PciAddress, rest: &str) -> Option<Occurrence> {
    let rest = rest.strip_prefix(": ")?;
    // Cheap refusal first.
    rest.as_bytes().first().filter(|b| b.is_ascii_digit())?;
    let (available, rest) = gigabits(rest)?;
    let rest = rest.strip_prefix(" available PCIe bandwidth, limited by ")?;
    let (now, rest) = link(rest)?;
    let (at, rest) = rest.strip_prefix(" at ")?.split_once(" (capable of ")?;
    let limited_by = match at {
        "<unknown>" => None,
        at => Some(PciAddress::parse(at)?),
    };
    let (capable, rest) = gigabits(rest)?;
    let (own, rest) = link(rest.strip_prefix(" with ")?)?;
    rest.strip_prefix(')')?;

    let mut occurrence = line.occurrence(Kind::PcieLink, Severity::Info);
    let detail = &mut occurrence.detail;
    detail.pcie.pci_device = Some(device);
    detail.pcie.limited_by = limited_by;
    detail.pcie.bandwidth_gbps = Some(available);
    detail.pcie.max_bandwidth_gbps = Some(capable);
    detail.sample.speed = now.speed.map(str::to_owned);
    detail.sample.width = Some(now.width);
    detail.sample.max_speed = own.speed.map(str::to_owned);
    detail.sample.max_width = Some(own.width);
    Some(occurrence)
}

struct Link<'a> {
    /// `None` where the kernel does not know it.
    speed: Option<&'a str>,
    width: u32,
}

/// `8.0 GT/s PCIe x4 link`
fn link(text: &str) -> Option<(Link<'_>, &str)> {
    let (speed, rest) = text.split_once(" x")?;
    let known = speed.contains(" GT/s") && speed.starts_with(|c: char| c.is_ascii_digit());
    if !known && !speed.starts_with("Unknown") {
        return None;
    }
    let (width, rest) = scan::number::<u32>(rest)?;
    let rest = rest.strip_prefix(" link")?;
    let speed = known.then_some(speed);
    (width <= 32).then_some((Link { speed, width }, rest))
}

/// `31.504 Gb/s`
fn gigabits(text: &str) -> Option<(f64, &str)> {
    let (number, rest) = text.split_once(" Gb/s")?;
    let digits = number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let number: f64 = number.parse().ok().filter(|_| digits)?;
    number.is_finite().then_some((number, rest))
}
