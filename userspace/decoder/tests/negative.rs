//! Lines that are no event, live or saved, however near they come.

mod common;

use common::{live, record, saved};
use gtrace_decoder::{Decoder, Options};
use gtrace_event::Kind;

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
    "XFS (dm-0): Mounting V5 Filesystem",
    "XFS (dm-0): Please unmount the filesystem and rectify the problem(s)",
    "BTRFS info (device sda1): using crc32c (crc32c-intel) checksum algorithm",
    "foo-fs is nice (x): Remounting filesystem read-only",
    "nvme nvme0: 16/0/0 default/read/poll queues",
    "nvme nvme0: Abort status: 0x0",
    "nvme nvme0: I/O timeout",
    "scsi 0:0:0:0: I/O 123 QID 4 timeout, aborting",
    "sd 0:0:0:0: timing out command, waited 180s",
    "foo: EXT4-fs error (device sda1): ext4_find_entry:1455: inode #2",
    "EXT4-fs (sda1): recovery complete",
    "XFS (dm-0): Ending clean mount",
    "BTRFS info (device sda1): bdev /dev/sda1 errs: wr 0, rd 0, flush 0, corrupt 0, gen 0 of old",
    "BTRFS error (device sda1): unrecognized mount option 'foo'",
    "JBD2: no valid journal superblock found",
    "blk_update_request: I/O error, dev fd0, sector 0",
    "I/O error, dev sr0, sector 0 op 0x0:(READ) flags 0x0",
    "Buffer I/O error on dev sr1, logical block 0, async page read",
    "I/O error, dev sda, sector x",
    "critical thinking, dev sda, sector 8",
    "critical space",
    "foo: I/O error, dev sda, sector 8",
    "nvme0n1: p1 p2 p3",
    "nvme0n1: detected capacity change from 0 to 1024",
    "nvme nvme0: Shutdown timeout set to 8 seconds",
    "nvme nvme0: Removing ctrl: NQN \"x\"",
    "block nvme0n1: the capability attribute has been deprecated.",
    "md/raid1:md0: active with 2 out of 2 mirrors",
    "md/raid:md0: Operation continuing on 3 devices.",
    "md: md0: recovery done.",
    "md/raid1:md0: Disk failure on sda",
    "the program says: attempt to access beyond end of device",
    "attempt to access beyond end of device",
    "a: b: attempt to access beyond end of device",
    // Network.
    "NETDEV WATCHDOG: eth0 (mlx5_core): transmit queue x timed out",
    "NETDEV WATCHDOG: disabled",
    "mlx5_core 0000:5d:00.0 ens3f0np0: TX timeout on queue: 3, SQ: 0x1, CQ: 0x2, SQ Cons: 0x3 SQ Prod: 0x4, usecs since last trans: 5",
    "mlx5_core 0000:5d:00.0: Port module event: module 0, Cable unplug",
    "mlx5_core 0000:5d:00.0: Port module event[error]: module x, Cable error, High Temperature",
    "mlx5_core 0000:5d:00.0: print_health_info:455:(pid 0): synd 0x8",
    "infiniband mlx5_0: create_qp:2780:(pid 1): Create QP type 2 failed",
    "infiniband rdmap0s6: Elastic Fabric Adapter attached",
    "efa 0000:00:06.0: Setup irq:0x1 vector:2 name:efa-mgmnt",
    "efa_nv_peermem: Failed to process command CREATE_QP",
    "nfs: server x is fine",
    "nfs: server not responding, still trying",
    "foo: nfs: server x not responding, still trying",
    "NFS: Registering the id_resolver key type",
    "CIFS: VFS: cifs_mount failed w/return code = -13",
    "CIFS: Attempting to mount share",
    "ceph: loaded (mds proto 32)",
    "ceph: mds0 reconnect success",
    "Lustre: Lustre: Build Version: 2.15",
    "Lustre: fs-OST0001-osc: Connection to fs-OST0001 (at 1.2.3.4@tcp) was made",
    // GPUs.
    "NVRM: krcWatchdog_IMPL: RC watchdog: GPU is fine",
    "NVRM: the RC watchdog: GPU is probably locked!",
    "NVRM: Rate limiting GSP RPC error prints for all GPUs",
    "NVRM: knvlinkFoo: everything is well",
    "nvidia 0000:3b:00.0: Unable to change power state from D3cold to D0",
    "snd_hda_intel 0000:3b:00.1: Unable to change power state from D3cold to D0, device inaccessible",
    "nvidia: probe of nowhere failed with error -1",
    "nvidia: probe of 0000:01:00.0 failed with error",
    "nvidiafb: probe of 0000:01:00.0 failed with error -1",
    // IOMMU.
    "DMAR: DRHD: handling fault status reg 2",
    "DMAR: [INTR-REMAP] Request device [f0:1f.7] fault index 0x8000 [fault reason 0x25] Blocked a compatibility format interrupt request",
    "DMAR: [DMA Read] Request device [zz:00.0] fault addr 1000 [fault reason 06] PTE Read access is not set",
    "DMAR: Host address width 46",
    "AMD-Vi: Event logged [IO_PAGE_FAULT device=3b:00.0 domain=0x1]",
    "AMD-Vi: Interrupt remapping enabled",
    // Kernel.
    "Kernel panic",
    "Kernel panic - later",
    "foo: Kernel panic - not syncing: x",
    "panic: Kernel panic - not syncing: x",
    "BUG: something nobody knows",
    "Oops: I did it again",
    "Oops: 0002 [#x] SMP",
    "general protection fault in user access",
    "traps: python3[9] general protection fault ip:1 sp:2 error:0 in libc.so.6[3+4]",
    "kernel BUG at the bottom",
    "Internal error: something",
    "VFS: Mounted root (ext4 filesystem) readonly on device 259:1.",
    "VFS: file-max limit reached",
    "rcu: Hierarchical RCU implementation.",
    "rcu: INFO: blocking rcu-walk",
    "watchdog: Watchdog detected hard LOCKUP on cpu",
    "NMI watchdog: Enabled. Permanently consumes one hw-PMU counter.",
    "BUG: workqueue lockup",
    "workqueue: foo hogged CPU for >10000us 4 times, consider switching to WQ_UNBOUND",
    // Hardware.
    "CPU18: Package temperature/speed normal",
    "mce: CPU18: Core temperature/speed normal",
    "CPU18: Core power limit notification (total events = 1)",
    "CPU: 3 PID: 77 Comm: python3 Tainted: P           O      5.15.0",
    "mce: CPU supports 32 MCE banks",
    "mce: Using 32 MCE banks",
    "mce: [Hardware Error]: TSC 1a2b3c",
    "mce: [Hardware Error]: PROCESSOR 0:606a6 TIME 1 SOCKET 0 APIC 0 microcode d000331",
    "mce: [Hardware Error]: CPU 3: Machine Check: 0 Bank x: 0",
    "[Hardware Error]: no more details",
    "{x}[Hardware Error]: event severity: fatal",
    "{1} [Hardware Error]: event severity: fatal",
    "{1}[Hardware Error]: event severity: unheard of",
    "{1}[Hardware Error]:   section_type: memory error",
    "EDAC MC: Ver: 3.0.0",
    "EDAC MC0: Giving out device to module i10nm_edac controller Intel_10nm Socket#0 IMC#0: DEV 0000:7e:0c.0 (INTERRUPT)",
    "EDAC sbridge MC0: HANDLING MCE MEMORY ERROR",
    "Memory failure: 0x1: already hardware poisoned",
    "Memory failure: nothing",
    "Memory: 131072K/262144K available",
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
        "Mär 03 04:05:06 host systemd[1]: ",
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

/// A process chooses its name and that of its file, with newlines in them.
#[test]
fn names_of_processes_and_files_forge_nothing() {
    for text in [
        "Oops: 0000 [#1][1234]: segfault at 0 ip 0 sp 0 error 4 in prog[1+2]",
        "Oops: 0000 [#1] invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0",
        "int3: [#1] SMP[1234] vsyscall attempted with vsyscall=none ip:0 cs:33 sp:0 ax:0 si:0 di:0",
        "BUG: KASAN: a[1234]: segfault at 0 ip 0 sp 0 error 4 in prog[1+2]",
        "XFS (sda1): [1234]: segfault at 0 ip 0 sp 0 error 4 in Shutting down filesystem[1+2]",
        "EDAC MC0: 1 UE [1234]: segfault at 0 ip 0 sp 0 error 4 in prog[1+2] likely on CPU 3 (core 3, socket 0)",
        "CPU[1234]: segfault at 0 ip 0 sp 0 error 4 in a\nNVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.[1+2]",
        "traps: pt_main_thread[7] trap invalid opcode ip:0 sp:0 error:0 in libnccl.so.2\nNVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.[1+2]",
        "Oops: 1 [#1]\n[1234]: segfault at 0 ip 0 sp 0 error 4 in prog[1+2]",
        "NVRM: Xid (PCI:0000:3b:00): 13, pid=5, name=a\nOops: 1 [#1], Graphics Exception: ESR 0x504648=0xd",
        "Memory cgroup out of memory: Killed process 5 (a\nBUG: KASAN: x) total-vm:1kB, anon-rss:2kB, file-rss:0kB",
    ] {
        let mut decoder = Decoder::new(Options::default());
        let mut found = Vec::new();
        decoder.feed(&record(text, 1), &mut found);
        decoder.flush(&mut found);
        let is_own = |o: &gtrace_event::Occurrence| {
            o.kind == Kind::NcclSegfault || o.kind == Kind::Xid && o.detail.xid.xid == Some(13)
        };
        assert!(found.iter().all(is_own), "{text}\n{found:#?}");
    }
}
