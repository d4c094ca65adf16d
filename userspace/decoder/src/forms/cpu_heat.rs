//! CPUs that lower their clock for heat. Source: drivers/thermal/intel/therm_throt.c, before 5.6
//! arch/x86/kernel/cpu/mce/therm_throt.c.

use gtrace_event::{Kind, Occurrence, Severity};

use crate::record::Line;
use crate::scan;

/// `CPU3: Core temperature is above threshold, cpu clock is throttled (total events = 12)`, before 5.6 `mce: CPU3: Core
/// temperature above threshold, cpu clock throttled (total events = 12)`. That it is normal again is no event.
pub(crate) fn parse(line: &Line<'_>) -> Option<Occurrence> {
    let text = line.text;
    let rest = text.strip_prefix("mce: ").unwrap_or(text);
    let (cpu, rest) = scan::number(rest.strip_prefix("CPU")?)?;
    let (part, rest) = rest.strip_prefix(": ")?.split_once(" temperature ")?;
    let rest = rest.strip_prefix("is ").unwrap_or(rest);
    if !matches!(part, "Core" | "Package") || !rest.starts_with("above threshold, cpu clock ") {
        return None;
    }
    let mut occurrence = line.occurrence(Kind::CpuThrottle, Severity::Warning);
    occurrence.detail.host.cpu = Some(cpu);
    occurrence.detail.host.error = Some(part.to_ascii_lowercase());
    Some(occurrence)
}
