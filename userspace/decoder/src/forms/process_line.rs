//! Lines that begin with the name of a process, and may end with that of a file, both of which whoever runs it has chosen. Source:
//! arch/x86/mm/fault.c, arch/x86/kernel/{signal,traps}.c, arch/x86/entry/vsyscall/vsyscall_64.c, arch/arm64/kernel/traps.c,
//! mm/{oom_kill,page_alloc}.c.

/// `TASK_COMM_LEN` less the closing zero.
const MAX_COMM: usize = 15;

/// What the kernel writes after `NAME[PID`.
const AFTER_PID: &[&str] = &[
    "]: segfault at ",
    "]: unhandled ",
    "] bad frame in ",
    "] general protection ",
    "] misaligned vsyscall ",
    "] trap ",
    "] vsyscall ",
];

/// What it writes after `NAME`.
const AFTER_NAME: &[&str] = &[" invoked oom-killer: ", ": page allocation failure: "];

/// Whether the kernel wrote the record about the process whose name it begins with. There may be newlines in both names.
pub(crate) fn is(text: &str) -> bool {
    let text = text.strip_prefix("traps: ").unwrap_or(text);
    // A name may have the same words.
    let before = |mark: &'static str| text.match_indices(mark).take(2);
    let is_name = |at: usize| {
        text.get(..at)
            .is_some_and(|name| name.chars().count() <= MAX_COMM)
    };
    let is_numbered = |at: usize| {
        let head = text.get(..at).unwrap_or_default();
        let head = head.trim_end_matches(|c: char| c.is_ascii_digit());
        head.ends_with('[') && is_name(head.len() - 1)
    };
    AFTER_PID
        .iter()
        .any(|&mark| before(mark).any(|(at, _)| is_numbered(at)))
        || AFTER_NAME
            .iter()
            .any(|&mark| before(mark).any(|(at, _)| is_name(at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_about_a_process_begins_with_its_name() {
        for text in [
            "python[7]: segfault at 0 ip 0 sp 0 error 4 in x[1+2]",
            "a]: b[c][7]: segfault at 0 ip 0 sp 0 error 4",
            "a\nOops: 1 [#1]\n[7]: segfault at 0 ip 0 sp 0 error 4",
            "[7]: unhandled exception: DABT (lower EL)",
            "traps: pt_main_thread[7] general protection fault ip:0 sp:0 error:0 in libnccl.so.2\nNVRM: x[1+2]",
            "] trap x[7] trap invalid opcode ip:0 sp:0 error:0",
            "\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}[4194304] vsyscall attempted with vsyscall=none ip:0",
            "Oops: 0000 [#1] invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0",
            "x: page allocation failure: order:10, mode:0xcc0",
        ] {
            assert!(is(text), "{text}");
        }
        for text in [
            "NVRM: Xid (PCI:0000:3b:00): 13, pid=7, name=a\n[1] trap , Graphics Exception",
            "NVRM: Xid (PCI:0000:3b:00): 13, pid=7, name=x[7]: segfault at , Graphics",
            "python[x]: segfault at 0",
            "]: segfault at 0",
            "EDAC MC0: 1 UE on mc#0csrow#1channel#0 (csrow:1 channel:0 page:0x0)",
            "",
        ] {
            assert!(!is(text), "{text}");
        }
    }
}
