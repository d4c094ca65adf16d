//! nvidia-peermem and its forerunner nv_peer_mem (GPUDirect RDMA).

use gtrace_event::{Kind, Occurrence, Severity};

use crate::record::Line;

/// `nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, …`,
/// `nv_peer_mem: …ERROR…`, and a module that finds no partner
/// (`nvidia_peermem: Unknown symbol ib_register_peer_memory_client (err -22)`).
pub(crate) fn parse(line: &Line<'_>) -> Option<Occurrence> {
    let text = line.text;
    let rest = [
        "nvidia-peermem",
        "nvidia_peermem",
        "nv_peer_mem",
        "nv-peer-mem",
    ]
    .iter()
    .find_map(|module| text.strip_prefix(module))?;
    let rest = rest.strip_prefix(':').unwrap_or(rest).strip_prefix(' ')?;
    let fails = rest.contains("ERROR ")
        || rest.starts_with("Unknown symbol ")
        || rest.starts_with("disagrees about version of symbol ");
    fails.then(|| line.occurrence(Kind::PeermemError, Severity::Warning))
}
