//! NVMe commands that time out. Source: drivers/nvme/host/{pci,tcp,rdma}.c.

use gtrace_event::{Gpu, Kind, Occurrence, Severity};

use crate::record::Line;
use crate::scan;

/// `nvme nvme0: I/O 123 QID 4 timeout, aborting`; since 6.1 with `I/O tag 123 (1000) opcode 0x2
/// (I/O Cmd) QID 4 timeout`; over fabrics `nvme nvme0: queue 1: timeout cid 0x5 type 4 opcode 0x2`.
pub(crate) fn parse(line: &Line<'_>) -> Option<Occurrence> {
    let rest = line.text.strip_prefix("nvme nvme")?;
    let (_, after) = scan::number::<u32>(rest)?;
    let device = line
        .text
        .get("nvme ".len()..line.text.len() - after.len())?;
    let body = after.strip_prefix(": ")?;
    let local = body.starts_with("I/O ")
        && scan::after(body, " QID ")
            .and_then(scan::number::<u32>)
            .is_some_and(|(_, rest)| rest.starts_with(" timeout"));
    let fabrics = body
        .strip_prefix("queue ")
        .and_then(scan::number::<u32>)
        .is_some_and(|(_, rest)| rest.starts_with(": timeout "));
    if !local && !fabrics {
        return None;
    }
    let mut occurrence = line.occurrence(Kind::NvmeTimeout, Severity::Warning);
    occurrence.gpu = line.meta.device.map(Gpu::at);
    occurrence.detail.host.device = Some(device.to_owned());
    occurrence.detail.host.command = command(body).map(str::to_owned);
    Some(occurrence)
}

/// `opcode 0x2 (I/O Cmd)`
fn command(body: &str) -> Option<&str> {
    let start = body.find("opcode ")?;
    let text = body.get(start..)?;
    let end = text.find(')').map_or(text.len(), |at| at + 1);
    text.get(..end).filter(|c| c.len() <= 64)
}
