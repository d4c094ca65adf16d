//! Tasks and CPUs that do not get on. Source: kernel/hung_task.c, kernel/watchdog.c, kernel/watchdog_hld.c,
//! kernel/rcu/tree_stall.h, kernel/workqueue.c.

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

/// `watchdog: Watchdog detected hard LOCKUP on cpu 3`, since 6.5 with `CPU3: ` before it, before 4.13 with `NMI watchdog`.
pub(crate) fn hard_lockup(line: &Line<'_>) -> Option<Occurrence> {
    let text = line.text;
    let text = text
        .strip_prefix("watchdog: ")
        .or_else(|| text.strip_prefix("NMI watchdog: "))?;
    let text = match text.strip_prefix("CPU").and_then(scan::number::<u32>) {
        Some((_, rest)) => rest.strip_prefix(": ")?,
        None => text,
    };
    let rest = text.strip_prefix("Watchdog detected hard LOCKUP on cpu ")?;
    let (cpu, rest) = scan::number(rest)?;
    if !rest.trim_end().is_empty() {
        return None;
    }
    let mut occurrence = stall(line, Severity::Critical, "hard lockup");
    occurrence.detail.host.cpu = Some(cpu);
    Some(occurrence)
}

/// `rcu: INFO: rcu_preempt self-detected stall on CPU`, `… rcu_sched detected stalls on CPUs/tasks:`, before 5.0 without
/// `rcu: `; `rcu: rcu_sched kthread starved for 5250 jiffies!`.
pub(crate) fn rcu(line: &Line<'_>) -> Option<Occurrence> {
    let text = line.text;
    let text = text.strip_prefix("rcu: ").unwrap_or(text);
    let text = text.strip_prefix("INFO: ").unwrap_or(text);
    let (flavour, rest) = text.split_once(' ')?;
    let stalls = rest.starts_with("self-detected stall on CPU")
        || rest.starts_with("detected stalls on ")
        || rest.starts_with("detected expedited stalls on ");
    let starved = rest.starts_with("kthread starved for ");
    if !flavour.starts_with("rcu_") || !(stalls || starved) {
        return None;
    }
    let error = if starved {
        "RCU thread starved"
    } else {
        "RCU stall"
    };
    Some(stall(line, Severity::Warning, error))
}

/// `BUG: workqueue lockup - pool cpus=3 node=0 flags=0x0 nice=0 stuck for 42s!`
pub(crate) fn work_queue(line: &Line<'_>) -> Option<Occurrence> {
    let rest = line.text.strip_prefix("BUG: workqueue lockup - pool ")?;
    let (seconds, rest) = scan::number(scan::after(rest, " stuck for ")?)?;
    if !rest.starts_with("s!") {
        return None;
    }
    let mut occurrence = stall(line, Severity::Warning, "work queue stuck");
    occurrence.detail.host.seconds = Some(seconds);
    Some(occurrence)
}

fn stall(line: &Line<'_>, severity: Severity, error: &str) -> Occurrence {
    let mut occurrence = line.occurrence(Kind::CpuStall, severity);
    occurrence.detail.host.error = Some(error.to_owned());
    occurrence
}

/// `name:pid`; the name may hold colons.
pub(super) fn name_and_pid(text: &str) -> Option<Process> {
    let (comm, pid) = text.rsplit_once(':')?;
    let (pid, rest) = scan::number(pid)?;
    rest.is_empty().then(|| Process {
        pid: Some(pid),
        comm: Some(comm.to_owned()).filter(|c| !c.is_empty()),
        ..Process::default()
    })
}
