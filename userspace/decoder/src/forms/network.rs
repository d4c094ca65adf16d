//! Queues of a network interface that stand still. Source: net/sched/sch_generic.c;
//! drivers/net/ethernet/mellanox/mlx5/core/en_main.c and en/reporter_rx.c.

use gtrace_event::{Gpu, Kind, Occurrence, PciAddress, Severity};

use crate::record::Line;
use crate::scan;

/// Longest name of a network interface, `IFNAMSIZ` less the closing zero.
const MAX_NAME: usize = 15;

/// `NETDEV WATCHDOG: eth0 (mlx5_core): transmit queue 0 timed out`, since 6.5 with ` 5032 ms` at its end.
pub(crate) fn watchdog(line: &Line<'_>) -> Option<Occurrence> {
    let rest = line.text.strip_prefix("NETDEV WATCHDOG: ")?;
    let (interface, rest) = rest.split_once(" (")?;
    let (_, rest) = rest.split_once("): ")?;
    timed_out(line, interface, rest)
}

/// A line of the driver of the PCI device `pci`; `rest` is the text after the address, for example
/// ` ens15np0: NETDEV WATCHDOG: CPU: 94: transmit queue 3 timed out 5032 ms` (since 6.7), or mlx5's own
/// ` ens15np0: TX timeout detected`.
pub(crate) fn of_device(
    line: &Line<'_>,
    driver: &str,
    pci: PciAddress,
    rest: &str,
) -> Option<Occurrence> {
    let (interface, body) = rest.strip_prefix(' ')?.split_once(": ")?;
    let mut occurrence = if let Some(text) = body.strip_prefix("NETDEV WATCHDOG: ") {
        let text = match text.strip_prefix("CPU: ") {
            Some(cpu) => scan::number::<u32>(cpu)?.1.strip_prefix(": ")?,
            None => text,
        };
        timed_out(line, interface, text)?
    } else if driver == "mlx5_core" {
        mlx5_timeout(line, interface, body)?
    } else {
        return None;
    };
    occurrence.gpu = Some(Gpu::at(pci));
    Some(occurrence)
}

/// `transmit queue 3 timed out 5032 ms`
fn timed_out(line: &Line<'_>, interface: &str, text: &str) -> Option<Occurrence> {
    let (queue, rest) = scan::number(text.strip_prefix("transmit queue ")?)?;
    let rest = rest.strip_prefix(" timed out")?;
    let mut occurrence = of_interface(line, interface)?;
    let host = &mut occurrence.detail.host;
    host.queue = Some(queue);
    host.error = Some("transmit queue timed out".to_owned());
    let waited = rest.strip_prefix(' ').and_then(scan::number::<u64>);
    host.seconds = waited
        .filter(|(_, unit)| unit.trim() == "ms")
        .map(|(ms, _)| ms / 1000);
    Some(occurrence)
}

/// `TX timeout detected`, `RX timeout on channel: 20, ICOSQ: 0x1ee0, RQ: 0x1e43, CQ: 0x3ea6`. `TX timeout on
/// queue: …` follows the first and says nothing more.
fn mlx5_timeout(line: &Line<'_>, interface: &str, body: &str) -> Option<Occurrence> {
    let (error, queue) = if body.trim_end() == "TX timeout detected" {
        ("TX timeout", None)
    } else {
        let (queue, rest) = scan::number(body.strip_prefix("RX timeout on channel: ")?)?;
        if !rest.starts_with(',') {
            return None;
        }
        ("RX timeout", Some(queue))
    };
    let mut occurrence = of_interface(line, interface)?;
    occurrence.detail.host.error = Some(error.to_owned());
    occurrence.detail.host.queue = queue;
    Some(occurrence)
}

fn of_interface(line: &Line<'_>, interface: &str) -> Option<Occurrence> {
    if interface.is_empty() || interface.len() > MAX_NAME || interface.contains(' ') {
        return None;
    }
    let mut occurrence = line.occurrence(Kind::NetTimeout, Severity::Warning);
    occurrence.detail.host.device = Some(interface.to_owned());
    Some(occurrence)
}
