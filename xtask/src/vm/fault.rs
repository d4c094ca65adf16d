//! Whether a machine that died did so by itself: by a fault of the emulator or of the guest's kernel, and not by what is
//! tested in it.

use std::process::ExitStatus;

use gtrace_vm_tests::protocol::EXIT_STATUS;

/// What begins a report of the kernel that it cannot go on.
const REPORTS: [&str; 3] = [
    "Kernel panic - not syncing: ",
    "PANIC: double fault",
    "kernel BUG at ",
];

/// A panic that user space brought about: PID 1 ended, or took all memory.
const OF_USER_SPACE: [&str; 2] = ["Attempted to kill init", "Out of memory"];

/// The kernel met the breakpoint by which it patches its own code after it had taken it away. With several CPUs that
/// QEMU emulates, one may still run code that another has replaced; wherever that was, it is the emulator's doing.
const BREAKPOINT: &str = "int3: 0000 [#";

/// In the names of functions on the way from a probe or a BPF program of gtrace's, and after those of the stub.
const OURS: [&str; 6] = ["bpf", "kprobe", "kretprobe", "uprobe", "rethook", "[nvidia"];

/// What the machine died of, if it died by itself. `status` is QEMU's, if it has ended.
///
/// A kernel's report counts if its backtrace has no function of BPF, of a probe or of the stub.
pub(super) fn by_itself(status: Option<ExitStatus>, console: &str) -> Option<String> {
    if let Some(report) = Report::find(console) {
        return (!report.is_ours()).then(|| report.title());
    }
    let status = status?;
    match status.code() {
        // PID 1 ended the machine.
        Some(EXIT_STATUS) => None,
        // Without a word: no kernel panics or reboots so.
        Some(0) => Some("the machine reset itself (triple fault)".to_owned()),
        _ => Some(format!("QEMU ended with {status}")),
    }
}

/// What a kernel says before it ends: an oops, a panic.
struct Report<'a> {
    /// From its first line on, without time stamps.
    lines: Vec<&'a str>,
}

impl<'a> Report<'a> {
    fn find(console: &'a str) -> Option<Self> {
        let lines: Vec<_> = console.lines().map(without_stamps).collect();
        let first = lines.iter().position(|line| {
            // `Oops: 0002 [#1] PREEMPT SMP`, `double fault: 0000 [#1]`
            line.contains(" [#1] ") || REPORTS.iter().any(|report| line.contains(report))
        })?;
        Some(Self {
            lines: lines[first..].to_vec(),
        })
    }

    fn is_ours(&self) -> bool {
        if self.lines[0].contains(BREAKPOINT) {
            return false;
        }
        let user_space = |line: &&str| OF_USER_SPACE.iter().any(|text| line.contains(text));
        let ours = |frame: &str| OURS.iter().any(|name| frame.contains(name));
        self.lines.iter().any(user_space) || self.frames().any(ours)
    }

    /// Functions of the backtrace, the interrupted one first. Those with a question mark only lay on the stack.
    fn frames(&self) -> impl Iterator<Item = &'a str> {
        let lines = self.lines.iter().map(|line| line.trim());
        lines.filter(|line| line.contains("+0x") && line.contains("/0x") && !line.starts_with('?'))
    }

    /// Its first line, and where that was.
    fn title(&self) -> String {
        let what = self.lines[0].trim();
        match self.frames().next() {
            Some(frame) => format!("{what}, {}", frame.trim_start_matches("RIP: 0010:")),
            None => what.to_owned(),
        }
    }
}

/// `[    1.234567][    C0] text` is `text`.
fn without_stamps(line: &str) -> &str {
    let mut rest = line;
    while let Some((_, after)) = rest.strip_prefix('[').and_then(|text| text.split_once(']')) {
        rest = after;
    }
    rest.strip_prefix(' ').unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    /// Linux 6.15 in QEMU (google/syzkaller issue 6119), shortened.
    const INT3: &str = "\
[  150.665871][    C0] Oops: int3: 0000 [#1] SMP KASAN NOPTI
[  150.665887][    C0] CPU: 0 UID: 0 PID: 5959 Comm: syz-executor130 Not tainted 6.15.0
[  150.665905][    C0] RIP: 0010:kmem_cache_alloc_noprof+0x83/0x3b0
[  150.665932][    C0] RSP: 0018:ffffc9000407f600 EFLAGS: 00000246
[  150.666000][    C0] Call Trace:
[  150.666001][    C0]  <TASK>
[  150.666002][    C0]  bpf_prog_load+0x1/0x2
[  150.666003][    C0] Kernel panic - not syncing: Fatal exception";

    /// The form of 6.1, which has no `Oops` before it; put together around a place where a machine was seen to die.
    const INT3_6_1: &str = "\
[    9.120034] int3: 0000 [#1] PREEMPT SMP NOPTI
[    9.120101] CPU: 1 PID: 211 Comm: exe Tainted: G           OE      6.1.0-50-amd64 #1
[    9.120188] RIP: 0010:syscall_exit_to_user_mode_prepare+0x1d/0x1b0
[    9.120301] Kernel panic - not syncing: Fatal exception in interrupt";

    /// Put together from what was noted of two machines, which died of flags that CMPXCHG16B had left: in the slab
    /// allocator, under SoftRoCE's work queue.
    const DOUBLE_FAULT: &str = "\
[   41.703211] traps: PANIC: double fault, error_code: 0x0
[   41.703214] Oops: double fault: 0000 [#1] PREEMPT SMP NOPTI
[   41.703220] CPU: 0 UID: 0 PID: 57 Comm: kworker/u8:3 Tainted: G           OE      6.12.95+deb12-amd64 #1
[   41.703226] Workqueue: rxe_wq do_work [rdma_rxe]
[   41.703231] RIP: 0010:kmem_cache_alloc_node_noprof+0xc2/0x300
[   41.703240] RSP: 0018:ffffb2e6c01f7b88 EFLAGS: 41fb2a02
[   41.703301] Call Trace:
[   41.703303]  <TASK>
[   41.703305]  __alloc_skb+0x161/0x190
[   41.703309]  rxe_init_packet+0xa5/0x2a0 [rdma_rxe]
[   41.703333]  </TASK>
[   41.703341] Modules linked in: nvidia(OE) rdma_rxe crc32_generic
[   41.703377] ---[ end trace 0000000000000000 ]---
[   41.703402] Kernel panic - not syncing: Fatal exception in interrupt";

    /// Put together around a place where a machine died as it booted, before anything of gtrace ran.
    const TIMER: &str = "\
[    0.412011] BUG: unable to handle page fault for address: ffffffffc0a81b20
[    0.412020] #PF: supervisor instruction fetch in kernel mode
[    0.412033] Oops: Oops: 0010 [#1] PREEMPT SMP NOPTI
[    0.412040] CPU: 1 UID: 0 PID: 0 Comm: swapper/1 Not tainted 6.12.95+deb12-amd64 #1
[    0.412051] RIP: 0010:0xffffffffc0a81b20
[    0.412080] Call Trace:
[    0.412082]  <IRQ>
[    0.412084]  ? bpf_prog_0123456789abcdef_stale+0x10/0x20
[    0.412086]  run_timer_softirq+0xee/0x140
[    0.412090]  </IRQ>
[    0.412120] Kernel panic - not syncing: Fatal exception in interrupt";

    /// Linux 6.11 in QEMU (nirs/vmnet-helper issue 34), shortened.
    const NO_TIMER: &str = "\
[    0.018000] ...trying to set up timer as ExtINT IRQ...
[    0.018000] ..... failed :(.
[    0.018000] Kernel panic - not syncing: IO-APIC + timer doesn't work!  Boot with apic=debug and send a report.
[    0.018000] Call Trace:
[    0.018000]  <TASK>
[    0.018000]  panic+0x16a/0x328
[    0.018000]  check_timer+0x4d1/0x570";

    fn death(console: &str) -> Option<String> {
        by_itself(Some(ExitStatus::from_raw(0)), console)
    }

    #[test]
    fn a_kernel_that_dies_outside_of_what_is_tested_died_by_itself() {
        for (console, place) in [
            (INT3, "kmem_cache_alloc_noprof+0x83/0x3b0"),
            (INT3_6_1, "syscall_exit_to_user_mode_prepare+0x1d/0x1b0"),
            (DOUBLE_FAULT, "kmem_cache_alloc_node_noprof+0xc2/0x300"),
            (TIMER, "run_timer_softirq+0xee/0x140"),
            (NO_TIMER, "panic+0x16a/0x328"),
        ] {
            let title = death(console).unwrap_or_else(|| panic!("{console}"));
            assert!(title.ends_with(place), "{title}");
        }
        assert!(
            death(DOUBLE_FAULT)
                .unwrap()
                .starts_with("traps: PANIC: double fault")
        );
    }

    #[test]
    fn a_kernel_that_dies_under_a_probe_bpf_or_the_stub_did_not() {
        for frame in [
            "bpf_prog_6deef7357e7b4530_ioctl_enter+0x3d/0x5c",
            "__bpf_trace_run+0x8e/0x110",
            "kprobe_ftrace_handler+0x12/0x40",
            "uprobe_notify_resume+0x3c/0x9e0",
            "rethook_trampoline_handler+0x11/0x120",
            "nvidia_unlocked_ioctl+0x55/0x90 [nvidia]",
            "uvm_ioctl+0x5/0x9 [nvidia_uvm]",
        ] {
            let console = TIMER.replace("run_timer_softirq+0xee/0x140", frame);
            assert_eq!(death(&console), None, "{frame}");
            let console = DOUBLE_FAULT.replace("kmem_cache_alloc_node_noprof+0xc2/0x300", frame);
            assert_eq!(death(&console), None, "{frame}");
        }
    }

    #[test]
    fn what_user_space_did_is_its_own_fault() {
        for console in [
            "[    4.1] Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000100",
            "[   90.2] Kernel panic - not syncing: Out of memory: compulsory panic_on_oom is enabled",
        ] {
            assert_eq!(death(console), None, "{console}");
        }
        let ended_by_pid_1 = ExitStatus::from_raw(EXIT_STATUS << 8);
        let text = "gtrace-vm-init: cannot mount bpf";
        assert_eq!(by_itself(Some(ended_by_pid_1), text), None);
        assert_eq!(
            by_itself(None, "[    3.1] systemd[1]: nothing to see"),
            None
        );
    }

    #[test]
    fn a_machine_that_ends_without_a_word_failed_by_itself() {
        assert!(death("").unwrap().contains("triple fault"));
        let killed = by_itself(Some(ExitStatus::from_raw(11)), "").unwrap();
        assert!(killed.contains("signal: 11"), "{killed}");
        let refused = by_itself(Some(ExitStatus::from_raw(1 << 8)), "qemu: no memory").unwrap();
        assert!(refused.contains("exit status: 1"), "{refused}");
    }
}
