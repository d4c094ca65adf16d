//! NVMe commands that time out, and controllers that are given up. Source: drivers/nvme/host/{pci,tcp,rdma}.c.

use gtrace_event::{Gpu, Kind, Occurrence, Severity};

use crate::record::Line;
use crate::scan;

/// `nvme nvme0: I/O 123 QID 4 timeout, aborting`; since 6.1 with `I/O tag 123 (1000) opcode 0x2
/// (I/O Cmd) QID 4 timeout`; over fabrics `nvme nvme0: queue 1: timeout cid 0x5 type 4 opcode 0x2`; `nvme nvme0: controller is down; will reset: CSTS=0xffffffff`.
pub(crate) fn parse(line: &Line<'_>) -> Option<Occurrence> {
    let rest = line.text.strip_prefix("nvme nvme")?;
    let (_, after) = scan::number::<u32>(rest)?;
    let device = line
        .text
        .get("nvme ".len()..line.text.len() - after.len())?;
    let body = after.strip_prefix(": ")?;
    if let Some(error) = given_up(body) {
        let mut occurrence = line.occurrence(Kind::DiskLost, Severity::Critical);
        occurrence.gpu = line.meta.device.map(Gpu::at);
        occurrence.detail.host.device = Some(device.to_owned());
        occurrence.detail.host.error = Some(error.to_owned());
        return Some(occurrence);
    }
    let down = body.starts_with("controller is down; will reset");
    let local = body.starts_with("I/O ")
        && scan::after(body, " QID ")
            .and_then(scan::number::<u32>)
            .is_some_and(|(_, rest)| rest.starts_with(" timeout"));
    let fabrics = body
        .strip_prefix("queue ")
        .and_then(scan::number::<u32>)
        .is_some_and(|(_, rest)| rest.starts_with(": timeout "));
    if !local && !fabrics && !down {
        return None;
    }
    let mut occurrence = line.occurrence(Kind::NvmeTimeout, Severity::Warning);
    occurrence.gpu = line.meta.device.map(Gpu::at);
    occurrence.detail.host.device = Some(device.to_owned());
    occurrence.detail.host.command = command(body).map(str::to_owned);
    Some(occurrence)
}

/// `Disabling device after reset failure: -19` (since 6.3), `Removing after probe failure status: -19`, `Device not ready;
/// aborting reset, CSTS=0x1`.
fn given_up(body: &str) -> Option<&'static str> {
    const ENDS: &[(&str, &str)] = &[
        ("Disabling device after reset failure", "reset failed"),
        ("Removing after probe failure", "probe failed"),
        ("Device not ready; aborting ", "not ready"),
    ];
    let (_, error) = ENDS.iter().find(|(b, _)| body.starts_with(b))?;
    Some(*error)
}

/// `opcode 0x2 (I/O Cmd)`
fn command(body: &str) -> Option<&str> {
    let start = body.find("opcode ")?;
    let text = body.get(start..)?;
    let end = text.find(')').map_or(text.len(), |at| at + 1);
    text.get(..end).filter(|c| c.len() <= 64)
}
