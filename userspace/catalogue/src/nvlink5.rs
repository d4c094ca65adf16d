//! NVLink 5 (Xid 144 to 150): what unit, sub-code and error status say.
//!
//! Sources of the facts, said in our own words: the decode sheet of NVIDIA's public Xid
//! catalogue (unit, bits 20 to 25 of the first word, second word, action buckets); the link-down
//! reasons from the public port diagnostics register of NVIDIA's network adapters, whose numbers
//! the NETIR unit shares. Branch 575 renamed units; the names in the line show the branch.

/// How far the public decode says that an NVLink 5 error reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Nvlink5Severity {
    /// Traffic goes on, though a program may be ended.
    Nonfatal,
    /// Non-fatal as a rule; the line says `Fatal` where the driver raised it.
    Promotable,
    /// The link is down; the GPU should be drained and then reset.
    LinkFatal,
    /// All links and all programs of the GPU are lost.
    Fatal,
}

/// What the public decode says of one NVLink 5 line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nvlink5Decode {
    /// How far it reaches.
    pub severity: Nvlink5Severity,
    /// What to do at once.
    pub immediate: &'static str,
    /// What to look into; `None` where the vendor asks for nothing.
    pub investigate: Option<&'static str>,
    /// Why the link went down, where the unit is the link's and the reason is public.
    pub reason: Option<&'static str>,
    /// Driver branch that uses this unit name, where the name differs: `<575` or `>=575`.
    pub branch: Option<&'static str>,
    /// Whether the vendor asks for nothing at once.
    pub(crate) ignore: bool,
}

/// Looks up one line: `unit` verbatim, `sub_code` bits 20 to 25 of the first word, `status` the
/// second word.
///
/// `None` where the public decode has no such row, as for a status with more than one bit.
pub fn nvlink5_decode(xid: u32, unit: &str, sub_code: u32, status: u32) -> Option<Nvlink5Decode> {
    let unit = unit.trim();
    let short = unit.rsplit('/').next().unwrap_or(unit);
    let is = |name: &str| name == unit || name == short;
    let row = ROWS.iter().find(|r| {
        r.xid == xid
            && (is(r.before_575) || is(r.since_575))
            && match r.by {
                By::Status(list) => sub_code == 0 && list.contains(&status),
                By::SubCode(list) => list.contains(&sub_code),
            }
    })?;
    let link = row.since_575 == "NETIR_LINK_DOWN";
    let branch = match (row.before_575 == row.since_575, is(row.since_575)) {
        (true, _) => None,
        (false, true) => Some(">=575"),
        (false, false) => Some("<575"),
    };
    Some(Nvlink5Decode {
        severity: row.severity,
        immediate: row.immediate.text(),
        investigate: row.investigate.text(),
        reason: link.then(|| nvlink5_link_down_reason(sub_code)).flatten(),
        branch,
        ignore: row.immediate == Now::Ignore,
    })
}

/// Why an NVLink 5 link went down, by the sub-code of `NETIR_LINK_DOWN` (`NETIR_LINK_EVT` before
/// driver 575); `None` for codes that the public Xid decode does not list.
pub fn nvlink5_link_down_reason(sub_code: u32) -> Option<&'static str> {
    Some(match sub_code {
        0x00 => "no reason was recorded",
        0x01 => "the reason is not known",
        0x02 => "too many bit errors",
        0x04 => "the lanes lost their alignment",
        0x0a => "the physical layer retransmitted for too long",
        0x0f => "taken down out of band while it was healthy",
        0x10 => "taken down out of band while it had many bit errors",
        0x11 => "taken down in band while it was healthy",
        0x12 => "taken down in band while it had many bit errors",
        0x15 => "the far end trained anew, for a reason not known",
        0x16 => "taken down by a management command",
        0x20 => "the far end went to sleep",
        0x21 => "the far end was disabled",
        0x22 => "the far end was disabled and its port locked",
        0x23 => "the far end is too hot",
        0x24 => "the far end was forced down",
        0x25 => "the far end was reset",
        0x26 => "a reset without power cycle",
        0x28 => "forced down by hardware",
        0x2a => "the link did not come back from its power-saving state",
        0x2b => "the link recovered from errors too often",
        _ => return None,
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Now {
    Ignore,
    Reset,
    Follow154,
}

impl Now {
    const fn text(self) -> &'static str {
        match self {
            Self::Ignore => crate::steps::IGNORE,
            Self::Reset => crate::steps::RESET_GPU,
            Self::Follow154 => {
                "Follow the Xid 154 of the same GPU; without one, restart the application."
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Later {
    Nothing,
    Support,
    LinkCheck,
    OtherFirst,
    Daily,
    Signal,
    Cables,
    Who,
    WhoAndSignal,
    Peer,
    Host,
}

impl Later {
    const fn text(self) -> Option<&'static str> {
        Some(match self {
            Self::Nothing => return None,
            Self::Support => crate::steps::SUPPORT,
            Self::LinkCheck => {
                "If a link of the partition went down within 30 seconds before, follow that; otherwise report it to the vendor."
            }
            Self::OtherFirst => crate::steps::SYMPATHETIC,
            Self::Daily => "If it shows more than once a day, report it to the vendor.",
            Self::Signal => crate::steps::LINK_SIGNAL,
            Self::Cables => "Check cables, transceivers, seating and temperature of the link.",
            Self::Who => {
                "If nobody took the link down on purpose, look for the software or person that did."
            }
            Self::WhoAndSignal => {
                "Find out who took the link down, and check its signal quality and cables."
            }
            Self::Peer => {
                "Look at the far end of the link: its log, its cooling, who disabled or reset it."
            }
            Self::Host => {
                "Read the host's and the management controller's logs: this follows from another action or fault."
            }
        })
    }
}

enum By {
    Status(&'static [u32]),
    SubCode(&'static [u32]),
}

struct Row {
    xid: u32,
    before_575: &'static str,
    since_575: &'static str,
    by: By,
    severity: Nvlink5Severity,
    immediate: Now,
    investigate: Later,
}

macro_rules! rows {
    ($($xid:literal $a:literal $b:literal $by:ident [$($v:literal),+] $sev:ident $now:ident $later:ident;)*) => {
        &[$(Row {
            xid: $xid,
            before_575: $a,
            since_575: $b,
            by: By::$by(&[$($v),+]),
            severity: Nvlink5Severity::$sev,
            immediate: Now::$now,
            investigate: Later::$later,
        },)*]
    };
}

// Xid, unit before 575, unit since 575, what selects the row, how far, at once, look into.
const ROWS: &[Row] = rows! {
    144 "SAW_MVB" "SAW_MVB" Status [0x1, 0x8] Nonfatal Ignore Support;
    144 "SAW_MVB" "SAW_MVB" Status [0x2, 0x10] Fatal Reset Support;
    144 "SAW_MVB" "SAW_MVB" Status [0x4, 0x20] Nonfatal Ignore Nothing;
    145 "RLW_CTRL" "RLW_CTRL" Status [0x80000000] Nonfatal Ignore Support;
    145 "RLW_REMAP" "RLW_REMAP" Status [0x1, 0x2] Nonfatal Follow154 Support;
    145 "RLW_REMAP" "RLW_REMAP" Status [0x4, 0x8, 0x10, 0x20] Nonfatal Follow154 LinkCheck;
    145 "RLW_REMAP" "RLW_REMAP" Status [0x40, 0x80] Fatal Reset Support;
    145 "RLW_REMAP" "RLW_REMAP" Status [0x100, 0x200] Nonfatal Ignore Nothing;
    145 "RLW_REMAP" "RLW_REMAP" Status [0x80000000] Nonfatal Ignore Support;
    145 "RLW_RSPCOL" "RLW_RSPCOL" Status [0x1] Nonfatal Ignore Nothing;
    145 "RLW_RSPCOL" "RLW_RSPCOL" Status [0x2] Fatal Reset Support;
    145 "RLW_RSPCOL" "RLW_RSPCOL" Status [0x80000000] Nonfatal Ignore Support;
    145 "RLW_RXPIPE" "RLW_RXPIPE" Status [0x1, 0x2, 0x4] Promotable Ignore Support;
    145 "RLW_RXPIPE" "RLW_RXPIPE" Status [0x8, 0x80000000] Nonfatal Ignore Support;
    145 "RLW_SRC_TRACK" "RLW_SRC_TRACK" Status [0x1, 0x10, 0x20] Fatal Reset Support;
    145 "RLW_SRC_TRACK" "RLW_SRC_TRACK" Status [0x2] Nonfatal Ignore Nothing;
    145 "RLW_SRC_TRACK" "RLW_SRC_TRACK" Status [0x4, 0x8] Nonfatal Follow154 Nothing;
    145 "RLW_SRC_TRACK" "RLW_SRC_TRACK" Status [0x80000000] Nonfatal Ignore Support;
    145 "RLW_TAGSTATE" "RLW_TAGSTATE" Status [0x1, 0x10000] Nonfatal Ignore Nothing;
    145 "RLW_TAGSTATE" "RLW_TAGSTATE" Status [0x2, 0x20000, 0x100000] Fatal Reset Support;
    145 "RLW_TAGSTATE" "RLW_TAGSTATE" Status [0x80000000] Nonfatal Ignore Support;
    146 "TLW_CTRL" "TLW_CTRL" Status [0x1] Nonfatal Ignore Nothing;
    146 "TLW_CTRL" "TLW_CTRL" Status [0x2, 0x80000000] Nonfatal Ignore Support;
    146 "TLW_CTRL" "TLW_CTRL" Status [0x4] Fatal Reset Support;
    146 "TLW_RX" "TLW_RX_PIPE0" Status [0x1] Nonfatal Ignore Nothing;
    146 "TLW_RX" "TLW_RX_PIPE0" Status [0x2, 0x80000000] Nonfatal Ignore Support;
    146 "TLW_RX" "TLW_RX_PIPE0" Status [0x4] Fatal Reset Support;
    146 "TLW_RX" "TLW_RX_PIPE1" Status [0x1] Nonfatal Ignore Nothing;
    146 "TLW_RX" "TLW_RX_PIPE1" Status [0x2, 0x80000000] Nonfatal Ignore Support;
    146 "TLW_RX" "TLW_RX_PIPE1" Status [0x4] Fatal Reset Support;
    146 "TLW_TX" "TLW_TX_PIPE0" Status [0x1] Nonfatal Ignore Nothing;
    146 "TLW_TX" "TLW_TX_PIPE0" Status [0x2, 0x80000000] Nonfatal Ignore Support;
    146 "TLW_TX" "TLW_TX_PIPE0" Status [0x4] Fatal Reset Support;
    146 "TLW_TX" "TLW_TX_PIPE1" Status [0x1] Nonfatal Ignore Nothing;
    146 "TLW_TX" "TLW_TX_PIPE1" Status [0x2, 0x80000000] Nonfatal Ignore Support;
    146 "TLW_TX" "TLW_TX_PIPE1" Status [0x4] Fatal Reset Support;
    147 "TREX" "TREX" Status [0x1, 0x80000000] Nonfatal Ignore Support;
    148 "NVLPW_CTRL" "NVLPW" Status [0x80000000] Nonfatal Ignore Support;
    149 "NETIR" "NETIR_INT" SubCode [0x0] LinkFatal Reset OtherFirst;
    149 "NETIR_LINK_EVT" "NETIR_LINK_DOWN" SubCode [0x0] LinkFatal Reset OtherFirst;
    149 "NETIR_LINK_EVT" "NETIR_LINK_DOWN" SubCode [0x1] LinkFatal Reset Daily;
    149 "NETIR_LINK_EVT" "NETIR_LINK_DOWN" SubCode [0x2, 0x4, 0xa] LinkFatal Reset Signal;
    149 "NETIR_LINK_EVT" "NETIR_LINK_DOWN" SubCode [0xf, 0x11, 0x16] LinkFatal Reset Who;
    149 "NETIR_LINK_EVT" "NETIR_LINK_DOWN" SubCode [0x10, 0x12] LinkFatal Reset WhoAndSignal;
    149 "NETIR_LINK_EVT" "NETIR_LINK_DOWN" SubCode [0x15, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25]
        LinkFatal Reset Peer;
    149 "NETIR_LINK_EVT" "NETIR_LINK_DOWN" SubCode [0x26] LinkFatal Ignore Who;
    149 "NETIR_LINK_EVT" "NETIR_LINK_DOWN" SubCode [0x28] Fatal Ignore Host;
    149 "NETIR_LINK_EVT" "NETIR_LINK_DOWN" SubCode [0x2a, 0x2b] LinkFatal Reset Cables;
    149 "NETIR_BER_EVENT" "NETIR_BER_EVENT" Status [0x0, 0x1, 0x2, 0x3] Nonfatal Ignore Cables;
    149 "NETIR_MFDE_EVENT" "NETIR_MFDE_EVENT" Status [0x1, 0x4, 0x5, 0x7] Fatal Reset Support;
    149 "NETIR_MFDE_EVENT" "NETIR_MFDE_EVENT" Status [0x3] Nonfatal Ignore Nothing;
    150 "MSE_WATCHDOG" "MSE_WATCHDOG" Status [0x0] Fatal Reset Support;
    150 "MSE Degraded" "MSE Degraded" Status [0x0, 0xffffffff] Fatal Reset Support;
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_status_of_two_units_is_not_one_severity() {
        let severity = |unit| nvlink5_decode(145, unit, 0, 1).map(|d| d.severity);
        assert_eq!(severity("RLW_REMAP"), Some(Nvlink5Severity::Nonfatal));
        assert_eq!(severity("RLW_SRC_TRACK"), Some(Nvlink5Severity::Fatal));
        assert_eq!(severity("RLW_NONE"), None);
    }

    #[test]
    fn unit_names_show_the_driver_branch() {
        let old = nvlink5_decode(149, "NETIR_LINK_EVT", 2, 0).unwrap();
        let new = nvlink5_decode(149, "NETIR_LINK_DOWN", 2, 0).unwrap();
        assert_eq!((old.branch, new.branch), (Some("<575"), Some(">=575")));
        assert_eq!(old.reason, Some("too many bit errors"));
        assert_eq!(old.reason, new.reason);
        let both = nvlink5_decode(145, "RLW_CTRL", 0, 0x8000_0000).unwrap();
        assert_eq!(both.branch, None);
    }

    #[test]
    fn a_unit_may_stand_behind_its_group() {
        assert!(nvlink5_decode(149, "NETIR/NETIR_INT", 0, 0).is_some());
        assert!(nvlink5_decode(149, "NETIR/NETIR_LINK_DOWN", 0x23, 0).is_some());
    }

    #[test]
    fn every_listed_link_down_code_has_a_reason() {
        for row in ROWS.iter().filter(|r| r.since_575 == "NETIR_LINK_DOWN") {
            let By::SubCode(codes) = row.by else {
                panic!("link rows go by sub-code");
            };
            for code in codes {
                assert!(nvlink5_link_down_reason(*code).is_some(), "{code:#x}");
            }
        }
    }
}
