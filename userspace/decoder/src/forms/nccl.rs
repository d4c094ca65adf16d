//! Processes that die inside NCCL. Source: arch/x86/mm/fault.c, arch/x86/kernel/traps.c,
//! arch/arm64/kernel/traps.c; the last part of the line is `print_vma_addr`'s.

use gtrace_event::{Kind, Occurrence, Process, Severity};

use crate::record::Line;
use crate::scan;

/// `TASK_COMM_LEN` less the closing zero. A longer name is another program's text that quotes.
const MAX_COMM: usize = 15;

/// What stands after the process in lines of a fatal signal.
const FAULTS: &[&str] = &["segfault at ", "unhandled ", "general protection", "trap "];

/// `python[1234]: segfault at 0 ip … sp … error 4 in libnccl.so.2.18.1[…]`, the same without the
/// map, `traps: python[1234] general protection fault ip:… in libnccl.so.2[…]`, and arm64's
/// `python[1234]: unhandled exception: …, in libnccl.so.2[…]`.
pub(crate) fn parse(line: &Line<'_>) -> Option<Occurrence> {
    let text = line.text;
    let at = memchr::memmem::rfind(text.as_bytes(), b" in libnccl")?;
    let library = text.get(at + " in ".len()..)?;
    let library = library.split(['[', ' ']).next()?;
    let head = text.get(..at)?;
    let head = head.strip_prefix("traps: ").unwrap_or(head);

    let (process, fault) = FAULTS.iter().find_map(|fault| {
        let at = memchr::memmem::find(head.as_bytes(), fault.as_bytes())?;
        let process = head.get(..at)?.strip_suffix(' ')?;
        Some((
            process.strip_suffix(':').unwrap_or(process),
            head.get(at..)?,
        ))
    })?;
    let process = match process.strip_suffix(']').and_then(|p| p.rsplit_once('[')) {
        Some((comm, pid)) => Process {
            pid: Some(scan::number(pid).filter(|(_, rest)| rest.is_empty())?.0),
            comm: Some(comm.to_owned()),
            ..Process::default()
        },
        None => Process {
            comm: Some(process.to_owned()),
            ..Process::default()
        },
    };
    if process
        .comm
        .as_ref()
        .is_none_or(|c| c.is_empty() || c.len() > MAX_COMM)
    {
        return None;
    }

    let mut occurrence = line.occurrence(Kind::NcclSegfault, Severity::Critical);
    occurrence.process = Some(process);
    let host = &mut occurrence.detail.host;
    host.library = Some(library.to_owned());
    host.fault_at = fault
        .strip_prefix("segfault at ")
        .and_then(scan::hex)
        .map(|(a, _)| a);
    host.fault_ip = scan::after(fault, " ip ")
        .or_else(|| scan::after(fault, " ip:"))
        .and_then(scan::hex)
        .map(|(a, _)| a);
    Some(occurrence)
}
