//! Failures of the kernel itself. Source: kernel/panic.c, lib/bug.c, fs/file_table.c,
//! arch/x86/kernel/{dumpstack,traps}.c, arch/x86/mm/fault.c, arch/arm64/{kernel/traps.c,mm/fault.c}.

use gtrace_event::{Kind, Occurrence, Severity};

use crate::record::Line;
use crate::scan;

/// `Kernel panic - not syncing: hung_task: blocked tasks`
pub(crate) fn panic(line: &Line<'_>) -> Option<Occurrence> {
    let reason = line.text.strip_prefix("Kernel panic - not syncing: ")?;
    let mut occurrence = line.occurrence(Kind::KernelPanic, Severity::Fatal);
    occurrence.detail.host.error = Some(reason.trim_end().to_owned());
    Some(occurrence)
}

/// `BUG: unable to handle page fault for address: ffff88`, `kernel BUG at mm/slub.c:379!`, `Unable to handle kernel NULL
/// pointer dereference at virtual address 08`, and the line that counts: [`counted`].
pub(crate) fn oops(line: &Line<'_>) -> Option<Occurrence> {
    let text = line.text;
    let error = if let Some(bug) = text.strip_prefix("BUG: ") {
        const BUGS: &[&str] = &[
            "unable to handle ",
            "kernel NULL pointer dereference",
            "scheduling while atomic",
            "Bad page state",
            "Bad page map",
            "Bad rss-counter state",
            "stack guard page was hit",
        ];
        (BUGS.iter().any(|b| bug.starts_with(b)) || is_kasan(bug)).then_some(bug)?
    } else if let Some(place) = text.strip_prefix("kernel BUG at ") {
        place.trim_end().strip_suffix('!')?;
        text
    } else if text.starts_with("Unable to handle kernel ") && text.contains(" at virtual address ")
    {
        text
    } else {
        counted(text)?
    };
    let mut occurrence = line.occurrence(Kind::KernelOops, Severity::Critical);
    let end = error.find(" at ").or_else(|| error.find(','));
    let short = error.get(..end.unwrap_or(error.len())).unwrap_or(error);
    let short = if error.starts_with("kernel BUG") {
        error
    } else {
        short
    };
    occurrence.detail.host.error = Some(short.trim_end_matches([' ', ':']).to_owned());
    Some(occurrence)
}

/// `KASAN: slab-out-of-bounds in nv_kthread_q+0x10/0x20`; a process may be called as it begins.
fn is_kasan(bug: &str) -> bool {
    let bug = bug.strip_prefix("KASAN: ");
    bug.and_then(|bug| bug.split_once(" in "))
        .is_some_and(|(what, _)| !what.contains([',', ':', ')', '[']))
}

/// `Oops: 0002 [#1] SMP PTI`, `general protection fault, probably for …: 0000 [#1] SMP`, arm64's `Internal error: Oops:
/// 96000004 [#1] SMP`: what failed.
fn counted(text: &str) -> Option<&str> {
    const FAULTS: &[&str] = &[
        "Oops: ",
        "Internal error: ",
        "general protection fault",
        "divide error: ",
        "invalid opcode: ",
        "double fault: ",
        "stack segment: ",
        "int3: ",
    ];
    let what = FAULTS.iter().find(|f| text.starts_with(*f))?;
    let (_, count) = text.split_once(" [#")?;
    let (_, rest) = scan::number::<u32>(count)?;
    // Words such as `PREEMPT(lazy) SMP PTI`; other text follows the name of a process that is called so.
    let mut options = rest.strip_prefix(']')?.split_whitespace();
    let is_option = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_uppercase()) && !word.contains([':', '['])
    };
    options.all(is_option).then_some(())?;
    Some(what.trim_end_matches([':', ' ']))
}

/// `VFS: file-max limit 1000000 reached`
pub(crate) fn file_max(line: &Line<'_>) -> Option<Occurrence> {
    let rest = line.text.strip_prefix("VFS: file-max limit ")?;
    let (limit, rest) = scan::number::<u64>(rest)?;
    if rest.trim_end() != " reached" {
        return None;
    }
    let mut occurrence = line.occurrence(Kind::FileLimit, Severity::Critical);
    // Exact below 2^53: no host has more.
    occurrence.detail.sample.limit = Some(limit as f64);
    Some(occurrence)
}
