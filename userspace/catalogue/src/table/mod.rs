//! The tables: constants, so that they cost neither parsing nor heap.

mod kind;
mod sxid;
mod xid;

use gtrace_event::Kind;

use crate::entry::{KindEntry, SxidEntry, XidEntry};

pub(crate) use kind::kind_entry;
pub(crate) use sxid::SXIDS;
pub(crate) use xid::XIDS;

pub(crate) fn xid(code: u32) -> Option<&'static XidEntry> {
    let at = XIDS.binary_search_by_key(&code, |e| e.code).ok()?;
    XIDS.get(at)
}

pub(crate) fn sxid(code: u32) -> Option<&'static SxidEntry> {
    let at = SXIDS.binary_search_by_key(&code, |e| e.code).ok()?;
    SXIDS.get(at)
}

pub(crate) fn kind(kind: Kind) -> &'static KindEntry {
    kind_entry(kind)
}

/// `code NAME: Category, Severity, [STEP, ...], meaning;`
macro_rules! xids {
    ($($code:literal $name:ident: $cat:ident, $sev:ident, [$($step:expr),+], $meaning:expr;)*) => {
        &[$(XidEntry {
            code: $code,
            name: stringify!($name),
            meaning: $meaning,
            category: $crate::entry::Category::$cat,
            severity: ::gtrace_event::Severity::$sev,
            vendor: &[$($step),+],
        },)*]
    };
}
use xids;

/// `code "text": "area", Scope, Category, Severity, meaning;` The steps follow the scope.
macro_rules! sxids {
    ($($code:literal $name:literal: $area:literal, $scope:ident, $cat:ident, $sev:ident,
        $meaning:expr;)*) => {
        &[$(SxidEntry {
            code: $code,
            name: $name,
            area: $area,
            scope: $crate::entry::Scope::$scope,
            meaning: $meaning,
            category: $crate::entry::Category::$cat,
            severity: ::gtrace_event::Severity::$sev,
            vendor: $crate::table::sxid_steps($crate::entry::Scope::$scope),
        },)*]
    };
}
use sxids;

/// The steps of the NVSwitch guide, by how far an error reaches.
const fn sxid_steps(scope: crate::entry::Scope) -> &'static [&'static str] {
    use crate::entry::Scope;
    match scope {
        Scope::NonFatal => &[
            "Nothing has to be done at once.",
            "Watch the rate; if it rises, check link, cable and fabric manager log.",
        ],
        Scope::PotentiallyFatal => &[
            "Check whether jobs of the partition still run; restart those that do not.",
            crate::steps::EVIDENCE,
            "Reset the GPUs on the port that the line names.",
            "Check the fabric manager log for the switch and its links.",
        ],
        Scope::AlwaysFatal => &[
            "Stop every job that uses the fabric.",
            crate::steps::EVIDENCE,
            "Reset all GPUs and NVSwitches together, or restart the host.",
            "If it returns, save the fabric manager log and open a case with the vendor.",
        ],
    }
}
