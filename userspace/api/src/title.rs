//! What an event is called.

use gtrace_event::{AerDetail, Detail, Event, Kind};

use crate::text::clean;

/// The kind with its code, where it has one: `Xid 79`, `AER`, `oom_kill`.
pub fn title(event: &Event) -> String {
    title_of(event.kind, &event.detail)
}

/// [`title`] of what is no event yet.
pub fn title_of(kind: Kind, detail: &Detail) -> String {
    let (name, part) = match kind {
        Kind::Xid => ("Xid", detail.xid.xid.map(|code| code.to_string())),
        Kind::Sxid => ("SXid", detail.fabric.sxid.map(|code| code.to_string())),
        Kind::Aer => aer_title(&detail.aer),
        kind => (kind.name(), None),
    };
    match part {
        Some(part) => format!("{name} {}", clean(&part)),
        None => name.to_owned(),
    }
}

fn aer_title(aer: &AerDetail) -> (&'static str, Option<String>) {
    if aer.recovery.is_some() {
        ("PCIe recovery", aer.recovery.clone())
    } else if aer.dpc_reason.is_some() {
        ("PCIe DPC", aer.dpc_reason.clone())
    } else {
        ("PCIe AER", aer.severity.clone())
    }
}
