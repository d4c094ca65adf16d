//! Calls that the driver failed: the NV_STATUS decides.

use gtrace_event::{Occurrence, Severity};

use super::Verdict;

/// The public names (nvstatuscodes.h) of failures that say something about the GPU or its memory.
pub(super) fn failed_call(occ: &Occurrence, v: Verdict) -> Verdict {
    match occ.detail.api.status_name.as_deref() {
        Some("NV_ERR_NO_MEMORY" | "NV_ERR_INSUFFICIENT_RESOURCES") => v
            .refined("memory", Severity::Warning)
            .and("There was not enough memory or room left for what it asked for.")
            .steps(&[
                "See who holds the GPU's memory: nvidia-smi, or gtrace top.",
                "Lower the job's batch size or memory pool, or give it a GPU of its own.",
                "If the memory that is used rises over hours with constant work, look for a leak.",
            ]),
        Some("NV_ERR_GPU_IS_LOST" | "NV_ERR_CARD_NOT_PRESENT") => v
            .refined("lost", Severity::Critical)
            .and("The driver no longer reaches the GPU.")
            .first("Look for Xid 79 or a PCIe error of the same GPU; drain the host."),
        Some("NV_ERR_ECC_ERROR") => v
            .refined("ecc", Severity::Critical)
            .and("The GPU's memory had an error that could not be corrected.")
            .first("Look for Xid 48, 63, 64, 94 or 95 of the same GPU."),
        Some("NV_ERR_RESET_REQUIRED" | "NV_ERR_GPU_IN_FULLCHIP_RESET") => v
            .refined("reset", Severity::Critical)
            .and("The GPU is being reset, or works again only after a reset.")
            .first("Stop the programs that use the GPU and reset it: nvidia-smi --gpu-reset."),
        Some("NV_ERR_TIMEOUT" | "NV_ERR_TIMEOUT_RETRY") => v
            .refined("timeout", Severity::Warning)
            .and("The GPU or its firmware did not answer in time.")
            .first("Look for Xid 119, 120 or 8 of the same GPU."),
        _ => v,
    }
}
