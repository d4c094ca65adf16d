use gtrace_event::{Occurrence, Severity};

use super::Verdict;
use crate::entry::Scope;
use crate::table;

/// The line's own `Fatal` or `Non-fatal` decides over the catalogue's scope: the driver knows
/// the switch.
pub(super) fn verdict(occ: &Occurrence, base: Verdict) -> Verdict {
    let fabric = &occ.detail.fabric;
    let fatal = fabric.scope.as_deref().and_then(declares_fatal);
    let Some(entry) = fabric.sxid.and_then(table::sxid) else {
        let unknown = Verdict {
            rule: "sxid:unknown".to_owned(),
            ..base
        };
        return match fatal {
            Some(true) => unknown
                .refined("fatal", Severity::Critical)
                .and("The line calls it fatal."),
            _ => unknown,
        };
    };
    let rule = format!("sxid:{}", entry.code);
    let v = Verdict::new(entry.severity, entry.meaning, entry.vendor, rule);
    let v = match fabric.link {
        Some(link) if link >= 0 => v.and(&format!("It is about link {link}.")),
        _ => v,
    };
    match (fatal, entry.scope) {
        (Some(true), Scope::NonFatal) => v
            .refined("fatal", Severity::Critical)
            .and("The line calls it fatal, which this code is not as a rule."),
        (Some(false), Scope::AlwaysFatal) => v
            .refined("nonfatal", Severity::Warning)
            .and("The line calls it non-fatal, which this code is not as a rule."),
        _ => v,
    }
}

fn declares_fatal(scope: &str) -> Option<bool> {
    let scope = scope.to_ascii_lowercase();
    if scope.starts_with("non") {
        Some(false)
    } else if scope.starts_with("fatal") {
        Some(true)
    } else {
        None
    }
}
