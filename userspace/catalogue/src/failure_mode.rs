use gtrace_event::{Kind, Occurrence};

/// The failure mode that an occurrence is the first signal of, `F1` to `F8`, where one fits.
///
/// F5 (noisy neighbour) is only hinted at by a slow call. Queues of a scheduler, which show F8 (starvation) too, are not
/// seen.
pub fn failure_mode(occ: &Occurrence) -> Option<&'static str> {
    match occ.kind {
        Kind::Xid => xid(occ.detail.xid.xid?),
        Kind::ApiError => failed_call(occ.detail.api.status_name.as_deref()?),
        Kind::Sxid => matches!(occ.detail.fabric.sxid?, 10004 | 10005).then_some("F2"),
        kind => of_kind(kind),
    }
}

/// The failure mode of every event of `kind`; codes of Xid and SXid have their own.
pub(crate) const fn of_kind(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::OomKill => Some("F1"),
        Kind::Throttle => Some("F2"),
        Kind::DriverInitFailed
        | Kind::GpuHang
        | Kind::HungTask
        | Kind::SoftLockup
        | Kind::RecoveryAction => Some("F3"),
        Kind::Aer | Kind::GpuLost | Kind::IommuFault | Kind::PcieLink | Kind::PcieHotplug => {
            Some("F4")
        }
        Kind::SlowCall | Kind::GpuContended => Some("F5"),
        Kind::MemoryGrowth => Some("F6"),
        Kind::DriverMismatch => Some("F7"),
        Kind::GpuStarved => Some("F8"),
        _ => None,
    }
}

fn failed_call(status: &str) -> Option<&'static str> {
    match status {
        "NV_ERR_NO_MEMORY" | "NV_ERR_INSUFFICIENT_RESOURCES" => Some("F1"),
        "NV_ERR_GPU_IS_LOST" | "NV_ERR_CARD_NOT_PRESENT" => Some("F4"),
        "NV_ERR_TIMEOUT" | "NV_ERR_TIMEOUT_RETRY" => Some("F3"),
        _ => None,
    }
}

const fn xid(code: u32) -> Option<&'static str> {
    match code {
        38 | 46 | 59 | 61 | 62 | 109 | 119 | 120 | 143 | 154 | 158 | 169 => Some("F3"),
        79 | 80 | 167 | 176 => Some("F4"),
        78 => Some("F7"),
        _ => None,
    }
}

/// What a failure mode is called; `None` for a word that is none of `F1` to `F8`.
pub fn failure_mode_title(mode: &str) -> Option<&'static str> {
    Some(match mode {
        "F1" => "out of memory",
        "F2" => "thermal throttling",
        "F3" => "driver or firmware crash",
        "F4" => "PCIe fault",
        "F5" => "noisy neighbour",
        "F6" => "memory leak",
        "F7" => "library mismatch",
        "F8" => "starvation",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gtrace_event::Severity;

    #[test]
    fn codes_decide_before_kinds() {
        let mut occ = Occurrence::new(Kind::Xid, Severity::Info, "");
        assert_eq!(failure_mode(&occ), None);
        for (code, want) in [(79, Some("F4")), (119, Some("F3")), (13, None)] {
            occ.detail.xid.xid = Some(code);
            assert_eq!(failure_mode(&occ), want, "{code}");
        }
        occ.kind = Kind::Sxid;
        occ.detail.fabric.sxid = Some(10004);
        assert_eq!(failure_mode(&occ), Some("F2"));
        occ.kind = Kind::OomKill;
        assert_eq!(failure_mode(&occ), Some("F1"));
    }

    #[test]
    fn every_mode_that_a_kind_carries_has_a_title() {
        for kind in Kind::ALL {
            if let Some(mode) = of_kind(kind) {
                assert!(failure_mode_title(mode).is_some(), "{kind}: {mode}");
            }
        }
    }
}
