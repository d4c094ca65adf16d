use gtrace_event::{Occurrence, Severity, SlotChange};

use super::Verdict;

pub(super) fn verdict(occ: &Occurrence, base: Verdict) -> Verdict {
    let pcie = &occ.detail.pcie;
    let Some(change) = pcie.hotplug else {
        return base;
    };
    let gpu_below = occ.gpu.is_some() || !pcie.gpus_below.is_empty();
    if change.is_surprise() {
        return if gpu_below {
            base.refined("gpu_gone", Severity::Critical)
                .and("Nobody had asked for it, and a GPU is below this slot: it and all its work are lost until it is back.")
                .first("Check whether the GPU still answers: lspci -s <address>; nvidia-smi -L.")
        } else {
            base.refined("surprise", Severity::Warning)
                .and("Nobody had asked for it.")
        };
    }
    if change.is_failure() {
        let severity = match gpu_below {
            true => Severity::Critical,
            false => Severity::Warning,
        };
        return base
            .refined("failed", severity)
            .and("The slot could not bring its card into use.")
            .first("Check seating and power of the card, then riser and cables; try the card in another slot.");
    }
    match change {
        SlotChange::CardPresent | SlotChange::LinkUp => base
            .refined("arrived", Severity::Info)
            .and("The kernel takes the card in."),
        SlotChange::LinkChangeIgnored => base
            .refined("kept", Severity::Info)
            .and("The link went down and up again during a recovery or reset, and the card stayed in use."),
        _ => base
            .refined("requested", Severity::Info)
            .and("Somebody asked for it at the slot."),
    }
}
