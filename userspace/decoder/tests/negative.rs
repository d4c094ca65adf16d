//! Lines that are no event, live or saved, however near they come.

mod common;

use common::{live, saved};

const NONE: &[&str] = &[
    // Quotes.
    "systemd[1]: NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.",
    "foo: NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.",
    "I saw NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.",
    "\"NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\"",
    "dcgm[77]: Detected NVRM: GPU 0000:29:00.0: GPU has fallen off the bus.",
    "audit: type=1400 msg='NVRM: Xid (PCI:0000:3b:00): 79'",
    "gtrace-injected: NVRM: Xid (PCI:0000:3b:00): 79, x",
    "gtrace-inject NVRM: Xid (PCI:0000:3b:00): 79, x",
    "note: nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 x",
    "python[1]: Out of memory: Killed process 1 (x) total-vm:1kB",
    "logger: oom-kill:constraint=CONSTRAINT_NONE,task_memcg=/,task=x,pid=1,uid=0",
    "foo: INFO: task x:1 blocked for more than 120 seconds.",
    "foo: watchdog: BUG: soft lockup - CPU#3 stuck for 23s! [x:1]",
    "systemd-coredump[9]: python[1234]: segfault at 0 ip 0 sp 0 error 4 in libnccl.so.2[1+2]",
    // Other drivers.
    "nouveau 0000:01:00.0: Xid (PCI:0000:01:00): 79, x",
    "amdgpu 0000:03:00.0: Xid (PCI:0000:03:00): 79, x",
    "amdgpu: Xid (PCI:0000:03:00): 79, x",
    "nvidia: Xid (PCI:0000:03:00): 79, x",
    "Xid (PCI:0000:03:00): 79, x",
    // Broken Xid lines.
    "NVRM: Xid 79, GPU has fallen off the bus.",
    "NVRM: Xid: 79, GPU has fallen off the bus.",
    "NVRM: Xid (PCI:0000:3b:00) 79, x",
    "NVRM: Xid (PCI:0000:3b:00: 79, x",
    "NVRM: Xid (): 79, x",
    "NVRM: Xid (PCI:): 79, x",
    "NVRM: Xid (PCI:0000:zz:00): 79, x",
    "NVRM: Xid (PCI:0000:3b): 79, x",
    "NVRM: Xid (PCI:0000:3b:00:00:1): 79, x",
    "NVRM: Xid (GPU-I:05): 79, x",
    "NVRM: Xid (PCI:0000:3b:00): x79, x",
    "NVRM: Xid (PCI:0000:3b:00): 79x, x",
    "NVRM: Xid (PCI:0000:3b:00): -79, x",
    "NVRM: Xid (PCI:0000:3b:00): 0x4f, x",
    "NVRM: Xid (PCI:0000:3b:00): , x",
    "NVRM: Xid (PCI:0000:3b:00):",
    "NVRM: Xid (PCI:0000:3b:00): 4294967296, x",
    "NVRM: Xid (PCI:0000:3b:00): 99999999999999999999999, x",
    "NVRM: xid (PCI:0000:3b:00): 79, x",
    "NVRM:Xid (PCI:0000:3b:00): 79, x",
    // Driver chatter.
    "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun  6 22:20:39 UTC 2023",
    "NVRM: GPU at PCI:0000:29:00: GPU-b850f46d-d5ea-c752-ddf3-c7a3bb5c3c38",
    "NVRM: GPU 0000:29:00.0: GPU serial number is 123.",
    "NVRM: GPU 0000:29:00.0: rm_init_adapter succeeded",
    "NVRM: GPU Board Serial Number: 1324321003123",
    "NVRM: nvidia_frontend_ioctl: minor 255, module->ioctl failed, error -22",
    "NVRM: this kernel module has the version 525.105.17.  Please",
    "NVRM: fallen off the bus and is not responding to commands.",
    "NVRM: RmInitAdapter: osInitNvMapping failed, bailing out of RmInitAdapter",
    "nvidia-nvlink: Nvlink Core is being initialized, major device number 239",
    "nvidia-modeset: Loading NVIDIA Kernel Mode Setting Driver for UNIX platforms  535.54.03",
    "nvidia-uvm: Loaded the UVM driver, major device number 511.",
    "nvidia 0000:3b:00.0: enabling device (0000 -> 0003)",
    "nvidia-peermem: module loaded",
    "nvidia_peermem: loading out-of-tree module taints kernel.",
    // SXid.
    "SXid foo: 12028, Non-fatal",
    "SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 x",
    "nvidia-nvswitch: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 x",
    "nvidia-nvswitch 0000:c1:00.0: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 x",
    "nvidia-nvswitch0: SXid foo: 12028, Non-fatal, Link 32 x",
    "nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): x, Non-fatal, Link 32 x",
    "nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 99999999999, Non-fatal, Link 32 x",
    "nvidia-nvswitch0: SXid (PCI:0000:xx:00.0): 12028, Non-fatal, Link 32 x",
    "nvidia-nvswitch0: open (major=510)",
    // AER.
    "pcieport 0000:00:1c.0: AER: enabled with IRQ 122",
    "pcieport 0000:00:1c.0: AER: device recovery in progress",
    "pcieport 0000:00:1c.0: AER: device recovery",
    "pcieport 0000:00:1c.0: AER: device recovery failed again",
    "pcieport 0000:00:1c.0: device recovery failed",
    "foo bar 0000:00:1c.0: AER: device recovery failed",
    "AER: device recovery failed",
    "pcieport 0000:00:1c.0: AER: subordinate device reset failed",
    "nvme 0000:e1:00.0: AER: can't recover (no error_detected callback)",
    "pcieport 0000:00:1c.0: AER: broadcast resume message",
    "acpi PNP0A08:00: _OSC: OS now controls [PCIeHotplug SHPCHotplug PME AER PCIeCapability LTR DPC]",
    "pcieport 0000:00:1c.0:    [ 0] RxErr",
    "pcieport 0000:00:1c.0:   TLP Header: 34000000 00000052 00000000 00000000",
    "PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)",
    "pcieport 0000:00:1c.0: AER: Corrected error received: nonsense",
    "pcieport 0000:00:1c.0: AER: Some error received: 0000:00:1c.0",
    "foo bar 0000:00:1c.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)",
    // Containment.
    "pcieport 0000:00:1c.0: DPC: enabled with IRQ 122",
    "pcieport 0000:00:1c.0: DPC: error containment capabilities: Int Msg #0, RPExt+ PoisonedTLP+ SwTrigger+ RP PIO Log 4, DL_ActiveErr+",
    "pcieport 0000:00:1c.0: DPC: unmasked uncorrectable error detected",
    "pcieport 0000:00:1c.0: DPC: Data Link Layer Link Active not cleared in 1000 msec",
    "pcieport 0000:00:1c.0: DPC: containment event",
    "pcieport 0000:00:1c.0: DPC: containment event, status:",
    "pcieport 0000:00:1c.0: DPC: containment event, status:0x1f05",
    "pcieport 0000:00:1c.0: DPC: containment event, status:0x1f05 source:nonsense",
    "pcieport 0000:00:1c.0: DPC: containment event, status:0x1f05 source:0x12345",
    "pcieport 0000:00:1c.0: DPC: containment event, status:0x1f05, ERR_NONFATAL received from 0000:3b:00.0",
    "pcieport 0000:00:1c.0: DPC: containment event, status:0x1f05, ERR_FATAL received from somewhere",
    "pcieport 0000:00:1c.0: DPC: containment event, status:0x1f01: ERR_FATAL detected",
    "pcieport 0000:00:1c.0: containment event, status:0x1f01 source:0x0000",
    // Hotplug.
    "pcieport 0000:00:1c.0: pciehp: Slot #0 AttnBtn+ PwrCtrl+ MRL- AttnInd+ PwrInd+ HotPlug+ Surprise+ Interlock- NoCompl- IbPresDis- LLActRep+",
    "pcieport 0000:00:1c.0: pciehp: Slot(0): Already enabled",
    "pcieport 0000:00:1c.0: pciehp: Slot(0): Already in powering off state",
    "pcieport 0000:00:1c.0: pciehp: Slot(0): Invalid state 0x7",
    "pcieport 0000:00:1c.0: pciehp: Slot(0): Link",
    "pcieport 0000:00:1c.0: pciehp: Slot(0): Link Down today",
    "pcieport 0000:00:1c.0: pciehp: Slot(0): link down",
    "pcieport 0000:00:1c.0: pciehp: Slot(0):Link Down",
    "pcieport 0000:00:1c.0: pciehp: Slot(): Link Down",
    "pcieport 0000:00:1c.0: pciehp: Slot(a name that no slot has): Link Down",
    "pcieport 0000:00:1c.0: pciehp: Slot(0: Link Down",
    "pcieport 0000:00:1c.0: pciehp: Link Down",
    "pcieport 0000:00:1c.0: Slot(0): Link Down",
    "pcieport 0000:00:1c.0: pciehp: Cannot add device at nowhere",
    "pcieport 0000:00:1c.0: pciehp: Timeout on hotplug command 0x1038 (issued 1000 msec ago)",
    "pcieport 0000:00:1c.0: pciehp: pending interrupts 0x0108 from Slot Status",
    "pciehp 0000:00:1c.0: pciehp: Slot(0): Link Down",
    "pciehp 0000:00:1c.0:pciexyz: Slot(0): Link Down",
    "foo 0000:00:1c.0: pciehp: Slot(0): Link Down",
    "pciehp: Slot(0): Link Down",
    "systemd[1]: pcieport 0000:00:1c.0: pciehp: Slot(0): Link Down",
    "shpchp 0000:00:1c.0: Card not present on Slot(0)",
    "mlx5_core 0000:5d:00.0 ens3f0np0: Link down",
    // Link status.
    "pci 0000:3b:00.0: 126.016 Gb/s available PCIe bandwidth (8.0 GT/s PCIe x16 link)",
    "mlx5_core 0000:5d:00.0: 252.048 Gb/s available PCIe bandwidth (16.0 GT/s PCIe x16 link)",
    "pci 0000:3b:00.0: available PCIe bandwidth, limited by 2.5 GT/s PCIe x1 link at 0000:00:1c.0 (capable of 31.504 Gb/s with 8.0 GT/s PCIe x4 link)",
    "pci 0000:3b:00.0: 2.000 Gb/s available PCIe bandwidth, limited by 2.5 GT/s PCIe x1 link at 0000:00:1c.0",
    "pci 0000:3b:00.0: 2.000 Gb/s available PCIe bandwidth, limited by 2.5 GT/s PCIe x1 link at nowhere (capable of 31.504 Gb/s with 8.0 GT/s PCIe x4 link)",
    "pci 0000:3b:00.0: 2.000 Gb/s available PCIe bandwidth, limited by fast PCIe x1 link at 0000:00:1c.0 (capable of 31.504 Gb/s with 8.0 GT/s PCIe x4 link)",
    "pci 0000:3b:00.0: 2.000 Gb/s available PCIe bandwidth, limited by 2.5 GT/s PCIe x99 link at 0000:00:1c.0 (capable of 31.504 Gb/s with 8.0 GT/s PCIe x4 link)",
    "pci 0000:3b:00.0: inf Gb/s available PCIe bandwidth, limited by 2.5 GT/s PCIe x1 link at 0000:00:1c.0 (capable of 31.504 Gb/s with 8.0 GT/s PCIe x4 link)",
    "I see 2.000 Gb/s available PCIe bandwidth, limited by 2.5 GT/s PCIe x1 link at 0000:00:1c.0 (capable of 31.504 Gb/s with 8.0 GT/s PCIe x4 link)",
    // Memory.
    "python3 invoked oom-killer: gfp_mask=0x100cca(GFP_HIGHUSER_MOVABLE), order=0, oom_score_adj=0",
    "oom_reaper: reaped process 2343 (python3), now anon-rss:0kB, file-rss:0kB, shmem-rss:0kB",
    "Out of memory and no killable processes...",
    "Out of memory: Killed process x (y) total-vm:1kB",
    "Memory cgroup out of memory: OOM victim 12 (x) is already exiting. Skip killing the task",
    "Tasks in /docker/abc are going to be killed due to memory.oom.group set",
    "Task in /docker/abc killed as a result of limit of /docker",
    "Killed process group 12",
    "oom-kill:constraint=",
    "Mem-Info:",
    // Stalls.
    "task python:1 blocked for more than 122 seconds.",
    "INFO: task python:1 blocked on a mutex likely owned by task x:2.",
    "INFO: task python blocked for more than 122 seconds.",
    "INFO: task python:1 blocked for more than many seconds.",
    "INFO: rcu_sched self-detected stall on CPU",
    "INFO: lockdep is turned off.",
    "watchdog: BUG: soft lockup - CPU#x stuck for 23s! [x:1]",
    "watchdog: Delayed init of the lockup detector failed: -22",
    "\"echo 0 > /proc/sys/kernel/hung_task_timeout_secs\" disables this message.",
    // Crashes in other programs.
    "python[1234]: segfault at 0 ip 00007f sp 00007f error 4 in libcuda.so.1[7f+1]",
    "python[1234]: segfault at 0 ip 00007f sp 00007f error 4 in libtorch_cuda.so[7f+1]",
    "libnccl-test[1234]: segfault at 0 ip 00007f sp 00007f error 4 in libc.so.6[7f+1]",
    "python[1234]: loaded libnccl.so.2",
    "python[1234]: found in libnccl.so.2 nothing of note",
    // mlx5.
    "mlx5_core 0000:5d:00.0: firmware version: 20.35.1012",
    "mlx5_core 0000:5d:00.0: mlx5_pcie_event:296:(pid 1): PCIe slot advertised sufficient power (27W).",
    "mlx5_core 0000:5d:00.0 ens3f0np0: Link up",
    "mlx5_core 0000:5d:00.0: Port module event: module 0, Cable plugged",
    "mlx5_core 0000:5d:00.0: print_health_info:410:(pid 0): assert_var[0] 0x00000073",
    "mlx5_core 0000:5d:00.0: wait_func_handle_exec_timeout:1108:(pid 1): cmd[0]: CREATE_MKEY(0x200) No done completion",
    "mlx5_core 0000:5d:00.0: cmd[0]: CREATE_MKEY(0x200) Async, recovered after timeout",
    "mlx5_core 0000:5d:00.0: mlx5_cmd_out_err:835:(pid 1): CREATE_QP(0x500) op_mod(0x0) failed, status no resources(0xf), syndrome (0x6a28), err(-12)",
    "mlx4_core 0000:5d:00.0: Detected insufficient power on the PCIe slot (27W).",
    // Storage.
    "EXT4-fs (sda1): mounted filesystem with ordered data mode. Opts: errors=remount-ro",
    "EXT4-fs (sda1): re-mounted. Opts: errors=remount-ro",
    "EXT4-fs error (device sda1): ext4_find_entry:1455: inode #2: comm ls: reading directory lblock 0",
    "XFS (dm-0): Mounting V5 Filesystem",
    "XFS (dm-0): Please unmount the filesystem and rectify the problem(s)",
    "BTRFS info (device sda1): using crc32c (crc32c-intel) checksum algorithm",
    "foo-fs is nice (x): Remounting filesystem read-only",
    "nvme nvme0: 16/0/0 default/read/poll queues",
    "nvme nvme0: Abort status: 0x0",
    "nvme nvme0: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0xffff",
    "nvme nvme0: I/O timeout",
    "blk_update_request: I/O error, dev nvme0n1, sector 0",
    "scsi 0:0:0:0: I/O 123 QID 4 timeout, aborting",
    "sd 0:0:0:0: timing out command, waited 180s",
    // Nothing at all.
    "",
    " ",
    "\t\u{0}\u{0}",
    "NVRM: ",
    "NVRM",
];

#[test]
fn no_line_alone_is_an_event() {
    for line in NONE {
        assert!(live(line).is_empty(), "live: {line}");
        for prefix in [
            "",
            "[ 1234.567890] ",
            "Mar 03 04:05:06 host kernel: ",
            "3,1,2,-;",
            "<3>[ 1234.567890] ",
        ] {
            let text = format!("{prefix}{line}\n");
            let found = saved(&text);
            assert!(found.is_empty(), "saved: {text} {found:#?}");
        }
    }
    assert!(NONE.len() >= 100);
}

#[test]
fn nor_are_all_of_them_together() {
    let found = live(&NONE.join("\n"));
    assert!(found.is_empty(), "{found:#?}");
}

/// Lines of processes in syslog and journal, whatever they say.
#[test]
fn lines_of_processes() {
    for prefix in [
        "Mar 03 04:05:06 host systemd[1]: ",
        "Mar  3 04:05:06 host foo: ",
        "Mar 03 04:05:06 host NVRM: ",
        "Mar 03 04:05:06 host kernel[1]: ",
        "Mar 03 04:05:06 host kernelfoo: ",
        "Mar 03 04:05:06 systemd[1]: ",
        "Mar 03 04:05:06 host foo kernel: ",
        "2026-03-03T04:05:06.123456+00:00 host systemd[1]: ",
        "2026-03-03T04:05:06+0000 host systemd[1]: ",
        "Tue 2026-03-03 04:05:06 UTC host systemd[1]: ",
        "1772510706.123456 host systemd[1]: ",
        "<30>Mar  3 04:05:06 host systemd[1]: ",
        "<30>1 2026-03-03T04:05:06Z host systemd 1 - - ",
        "[ 1234.567890] systemd[1]: ",
        "kern  :info  : [ 1234.567890] systemd[1]: ",
    ] {
        for line in [
            "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.",
            "kernel: NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.",
            "Out of memory: Killed process 1 (x) total-vm:1kB",
        ] {
            let text = format!("{prefix}{line}\n                {line}\n");
            assert!(saved(&text).is_empty(), "{text}");
        }
    }
    // `journalctl -o short-monotonic` is known by a line of the kernel.
    let text = "[    1.000000] host kernel: Linux version 6.12\n\
                [    2.000000] host foo[7]: segfault at 0 ip 0 sp 0 error 4 in libnccl.so.2[1+2]\n";
    assert!(saved(text).is_empty());
}
