//! Tasks and CPUs that do not get on. Source: kernel/hung_task.c, kernel/watchdog.c.

use gtrace_event::{Kind, Occurrence, Process, Severity};

use crate::record::Line;
use crate::scan;

/// `INFO: task python:1234 blocked for more than 122 seconds.`, since 6.19 also
/// `… blocked in I/O wait for more than …`.
pub(crate) fn hung_task(line: &Line<'_>) -> Option<Occurrence> {
    let rest = line.text.strip_prefix("INFO: task ")?;
    let (head, tail) = rest.rsplit_once(" for more than ")?;
    let (seconds, unit) = scan::number(tail)?;
    if !unit.starts_with(" second") {
        return None;
    }
    let head = head
        .strip_suffix(" blocked")
        .or_else(|| head.strip_suffix(" blocked in I/O wait"))?;
    let mut occurrence = line.occurrence(Kind::HungTask, Severity::Warning);
    occurrence.process = Some(name_and_pid(head)?);
    occurrence.detail.host.seconds = Some(seconds);
    Some(occurrence)
}

/// `watchdog: BUG: soft lockup - CPU#3 stuck for 23s! [python:1234]`, without `watchdog: ` before
/// 4.13, with `NMI watchdog: ` from 3.13 to 4.12.
pub(crate) fn soft_lockup(line: &Line<'_>) -> Option<Occurrence> {
    let text = line.text;
    let text = text
        .strip_prefix("watchdog: ")
        .or_else(|| text.strip_prefix("NMI watchdog: "))
        .unwrap_or(text);
    let rest = text.strip_prefix("BUG: soft lockup - CPU#")?;
    let (cpu, rest) = scan::number(rest)?;
    let (seconds, rest) = scan::number(rest.strip_prefix(" stuck for ")?)?;
    let mut occurrence = line.occurrence(Kind::SoftLockup, Severity::Critical);
    let task = rest
        .split_once('[')
        .and_then(|(_, rest)| rest.rsplit_once(']'));
    occurrence.process = task.and_then(|(task, _)| name_and_pid(task));
    occurrence.detail.host.cpu = Some(cpu);
    occurrence.detail.host.seconds = Some(seconds);
    Some(occurrence)
}

/// `name:pid`; the name may hold colons.
fn name_and_pid(text: &str) -> Option<Process> {
    let (comm, pid) = text.rsplit_once(':')?;
    let (pid, rest) = scan::number(pid)?;
    rest.is_empty().then(|| Process {
        pid: Some(pid),
        comm: Some(comm.to_owned()).filter(|c| !c.is_empty()),
        ..Process::default()
    })
}
