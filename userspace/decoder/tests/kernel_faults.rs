//! Faults of disks, file systems, networks, CPUs, memory and the kernel itself.

mod common;

use common::{assert_fields, json, live, only, saved, table};
use gtrace_event::Kind;
use serde_json::json as j;

#[test]
fn mlx5_modules_and_health() {
    table(
        r#"
mlx5_core 0000:9a:00.1: mlx5_port_module_event:1128:(pid 0): Port module event[error]: module 1, Cable error, High Temperature
= mlx5_overheat critical {"gpu/pci": "0000:9a:00.1", "detail/port_module": 1, "process": null}
mlx5_core 0000:9a:00.1: Port module event[error]: module 0, Cable error, Power budget exceeded
= mlx5_port_module warning {"gpu/pci": "0000:9a:00.1", "detail/error": "Power budget exceeded"}
mlx5_core 0000:9a:00.1: Port module event: module 3, Cable unplugged
= mlx5_port_module warning {"detail/port_module": 3, "detail/error": "Cable unplugged"}
mlx5_core 0000:9a:00.1: print_health_info:455:(pid 0): synd 0xd: PCI error
= mlx5_health critical {"detail/syndrome": "0xd", "detail/error": "PCI error"}
mlx5_core 0000:9a:00.1: poll_health:830: device's health compromised - reached miss count.
= mlx5_health critical {"gpu/pci": "0000:9a:00.1"}
mlx5_core 0000:9a:00.1: mlx5_pcie_event:301: Detected insufficient power on the PCIe slot (25W).
= mlx5_slot_power warning {"detail/slot_power_w": 25}
"#,
    );
}

#[test]
fn queues_of_a_network_interface() {
    table(
        r#"
NETDEV WATCHDOG: ens8f1 (bnxt_en): transmit queue 7 timed out
= net_timeout warning {"detail/device": "ens8f1", "detail/queue": 7, "detail/seconds": null, "gpu": null}
NETDEV WATCHDOG: ib0 (mlx5_core): transmit queue 0 timed out 6140 ms
= net_timeout warning {"detail/device": "ib0", "detail/seconds": 6}
bnxt_en 0000:18:00.0 ens8f1: NETDEV WATCHDOG: CPU: 12: transmit queue 5 timed out 5120 ms
= net_timeout warning {"gpu/pci": "0000:18:00.0", "detail/device": "ens8f1", "detail/queue": 5}
mlx5_core 0000:9a:00.0 ens9np0: TX timeout detected
= net_timeout warning {"gpu/pci": "0000:9a:00.0", "detail/error": "TX timeout"}
mlx5_core 0000:9a:00.0 ens9np0: RX timeout on channel: 11, ICOSQ: 0x1a2, RQ: 0x1b3, CQ: 0x4c4
= net_timeout warning {"detail/queue": 11, "detail/error": "RX timeout"}
"#,
    );
}

#[test]
fn elastic_fabric_adapters() {
    table(
        r#"
infiniband rdmap32s0: Wait for completion (polling) timeout
= efa_error critical {"detail/device": "rdmap32s0", "detail/command": null}
efa 0000:20:00.0: The device didn't send any completion for admin cmd CREATE_CQ(8) status 0 (ctx 0x00000000a1b2c3d4, sq producer: 3)
= efa_error critical {"gpu/pci": "0000:20:00.0", "detail/command": "CREATE_CQ", "detail/error": "no completion of a command"}
infiniband rdmap32s0: Failed to process command REG_MR (opcode 7) comp_status 8 err -12
= efa_error warning {"detail/command": "REG_MR", "detail/error": "command failed"}
efa 0000:20:00.0: Reset indication didn't turn on
= efa_error critical {"detail/error": "reset failed"}
infiniband rdmap32s0: Admin queue is closed
= efa_error critical
"#,
    );
}

#[test]
fn gpus_that_hang_or_do_not_start() {
    table(
        r#"
NVRM: Rate limiting GSP RPC error prints for GPU at PCI:0000:4e:00 (printing 1 of every 30).  The GPU likely needs to be reset.
= gpu_hang critical {"gpu/pci": "0000:4e:00.0"}
NVRM: krcWatchdog_IMPL: RC watchdog: GPU is probably locked!  Notify Timeout Seconds: 12
= gpu_hang warning {"gpu": null, "detail/error": "RC watchdog"}
NVRM: GPU5 krcWatchdogCallbackPerf_IMPL: RC watchdog: GPU is possibly locked.  Attempting to restart watchdog.
= gpu_hang warning {"detail/gpu_index": 5}
NVRM: _kgspRpcRecvPoll: GSP RM heartbeat timed out
= gpu_hang critical
NVRM: knvlinkUpdatePostRxDetectLinkMask_IMPL: Failed to update Rx Detect Link mask!
= nvlink warning {"gpu": null}
NVRM: knvlinkDiscoverPostRxDetLinks_GH100: Getting peer3's postRxDetLinkMask failed!
= nvlink warning {"detail/error": "receiver detection failed"}
nvidia 0000:4e:00.0: Unable to change power state from D3hot to D0, device inaccessible
= gpu_lost fatal {"gpu/pci": "0000:4e:00.0"}
nvidia: probe of 0000:4e:00.0 failed with error -1
= driver_init_failed critical {"gpu/pci": "0000:4e:00.0", "detail/error": "error -1"}
nvidia 0000:4e:00.0: probe with driver nvidia failed with error -5
= driver_init_failed critical {"gpu/pci": "0000:4e:00.0"}
"#,
    );
}

#[test]
fn accesses_that_an_iommu_blocked() {
    table(
        r#"
DMAR: [DMA Write NO_PASID] Request device [4e:00.0] fault addr 0x9f3c00000 [fault reason 0x05] PTE Write access is not set
= iommu_fault warning {"detail/pci_device": "0000:4e:00.0", "detail/fault_at": "0x9f3c00000", "detail/error": "PTE Write access is not set"}
DMAR: [DMA Read] Request device [4e:00.0] fault addr 7fbad000 [fault reason 06] PTE Read access is not set
= iommu_fault warning {"detail/pci_device": "0000:4e:00.0", "detail/fault_at": "0x7fbad000"}
DMAR:[DMA Read] Request device [4e:00.0] PASID ffffffff fault addr 7fbad000 [fault reason 06] PTE Read access is not set
= iommu_fault warning {"detail/pci_device": "0000:4e:00.0"}
AMD-Vi: Event logged [IO_PAGE_FAULT device=4e:00.0 domain=0x0021 address=0xfd000000 flags=0x0020]
= iommu_fault warning {"detail/pci_device": "0000:4e:00.0", "detail/fault_at": "0xfd000000"}
nvidia 0000:4e:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0021 address=0xfd000000 flags=0x0020]
= iommu_fault warning {"detail/pci_device": "0000:4e:00.0", "detail/error": "IO_PAGE_FAULT"}
"#,
    );
}

#[test]
fn disks() {
    table(
        r#"
nvme nvme7: Disabling device after reset failure: -5
= disk_lost critical {"detail/device": "nvme7", "detail/error": "reset failed"}
nvme nvme7: Removing after probe failure status: -19
= disk_lost critical {"detail/error": "probe failed"}
block nvme2n1: no available path - failing I/O
= disk_lost critical {"detail/device": "nvme2n1"}
block nvme2n1: no usable path - requeuing I/O
= disk_lost warning {"detail/error": "no usable path"}
nvme nvme7: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0x10
= nvme_timeout warning {"detail/device": "nvme7"}
md/raid10:md5: Disk failure on nvme7n1p3, disabling device.
= raid_degraded warning {"detail/device": "md5", "detail/error": "disk failed"}
md/raid0md5: Disk failure on nvme7n1 detected, failing array.
= raid_degraded critical {"detail/device": "md5"}
md/raid:md5: Cannot continue operation (3/6 failed).
= raid_degraded critical {"detail/error": "array failed"}
blk_update_request: I/O error, dev sdq, sector 81920 op 0x1:(WRITE) flags 0x800 phys_seg 3 prio class 0
= io_error warning {"detail/device": "sdq", "detail/error": "I/O error"}
I/O error, dev nvme7n1, sector 81920 op 0x0:(READ) flags 0x80700 phys_seg 1 prio class 2
= io_error warning {"detail/device": "nvme7n1"}
print_req_error: critical medium error, dev sdq, sector 4096
= io_error warning {"detail/error": "critical medium error"}
critical target error, dev sdq, sector 4096 op 0x3:(DISCARD) flags 0x800 phys_seg 1 prio class 2
= io_error warning {"detail/error": "critical target error"}
Buffer I/O error on dev dm-4, logical block 7340032, lost async page write
= io_error critical {"detail/device": "dm-4"}
Buffer I/O error on device sdq2, logical block 9
= io_error warning {"detail/error": "buffer I/O error"}
python3: attempt to access beyond end of device
= io_error warning {"detail/device": null}
nvme7n1: Read(0x2) @ LBA 9182736, 16 blocks, Unrecovered Read Error (sct 0x2 / sc 0x81) DNR
= io_error warning {"detail/device": "nvme7n1", "detail/command": "Read", "detail/error": "Unrecovered Read Error"}
"#,
    );
}

#[test]
fn a_read_beyond_the_end_has_its_second_line() {
    let text = "python3: attempt to access beyond end of device\nnvme7n1p1: rw=0, sector=99, nr_sectors = 8 limit=64";
    let mut decoder = gtrace_decoder::Decoder::new(gtrace_decoder::Options::default());
    let mut out = Vec::new();
    decoder.feed(&common::record(text, 1), &mut out);
    assert_eq!(out.len(), 1, "{out:#?}");
    assert_eq!(out[0].message, text);
}

#[test]
fn file_systems() {
    table(
        r#"
EXT4-fs error (device nvme7n1p1): ext4_lookup:1785: inode #131: comm python3: deleted inode referenced: 77
= fs_error warning {"detail/device": "nvme7n1p1"}
EXT4-fs error (device dm-4) in ext4_reserve_inode_write:5872: Journal has aborted
= fs_error critical {"detail/device": "dm-4", "detail/error": "journal aborted"}
EXT4-fs (dm-4): I/O error while writing superblock
= fs_error critical {"detail/error": "superblock not written"}
EXT4-fs (dm-4): previous I/O error to superblock detected
= fs_error critical
Aborting journal on device dm-4-8.
= fs_error critical {"detail/device": "dm-4-8"}
JBD2: Detected IO errors while flushing file data on dm-4-8
= fs_error warning {"detail/error": "data not written"}
XFS (nvme7n1): metadata I/O error in "xfs_buf_ioend+0x1f8/0x4b0 [xfs]" at daddr 0x4000 len 8 error 5
= fs_error warning {"detail/device": "nvme7n1"}
XFS (nvme7n1): Metadata corruption detected at xfs_agf_verify+0x10/0x20 [xfs], xfs_agf block 0x1
= fs_error warning {"detail/error": "metadata corrupt"}
XFS (nvme7n1): log I/O error -5
= fs_error critical
BTRFS error (device nvme7n1): bdev /dev/nvme7n1 errs: wr 12, rd 3, flush 0, corrupt 0, gen 0
= fs_error warning {"detail/error": "device errors"}
BTRFS warning (device nvme7n1): csum failed root 5 ino 260 off 4096 csum 0x1 expected csum 0x2 mirror 1
= fs_error warning {"detail/error": "checksum wrong"}
BTRFS: error (device nvme7n1 state A) in btrfs_finish_ordered_io:3301: errno=-5 IO failure
= fs_error warning {"detail/device": "nvme7n1"}
XFS (nvme7n1): Remounting filesystem read-only
= fs_readonly critical {"detail/device": "nvme7n1"}
BTRFS: Remounting filesystem read-only
= fs_readonly critical {"detail/device": null}
BTRFS error (device nvme7n1: state EA): Remounting filesystem read-only
= fs_readonly critical {"detail/device": "nvme7n1"}
"#,
    );
}

#[test]
fn network_file_systems() {
    table(
        r#"
nfs: server filer-3.lan not responding, still trying
= netfs_stall warning {"detail/server": "filer-3.lan", "detail/error": "not responding"}
nfs: server filer-3.lan not responding, timed out
= netfs_stall warning {"detail/error": "timed out"}
nfs: server filer-3.lan OK
= netfs_stall info {"detail/error": "answers again"}
lockd: server filer-3.lan not responding, still trying
= netfs_stall warning
CIFS: VFS: \\share-2 has not responded in 180 seconds. Reconnecting...
= netfs_stall warning {"detail/server": "share-2", "detail/seconds": 180}
ceph: [a1b2c3d4-0000-1111-2222-333344445555 4567]: mds2 hung
= netfs_stall warning {"detail/server": "mds2"}
Lustre: scratch-OST0007-osc-ffff9a1b: Connection to scratch-OST0007 (at 10.9.8.7@o2ib) was lost; in progress operations using this service will wait for recovery to complete
= netfs_stall warning {"detail/server": "scratch-OST0007"}
Lustre: scratch-OST0007-osc-ffff9a1b: Connection restored to 10.9.8.7@o2ib (at 10.9.8.7@o2ib)
= netfs_stall info
"#,
    );
}

#[test]
fn the_kernel_itself() {
    table(
        r#"
Kernel panic - not syncing: softlockup: hung tasks
= kernel_panic fatal {"detail/error": "softlockup: hung tasks"}
BUG: unable to handle page fault for address: ffffa3c1d00b8000
= kernel_oops critical {"detail/error": "unable to handle page fault for address: ffffa3c1d00b8000"}
BUG: kernel NULL pointer dereference, address: 0000000000000038
= kernel_oops critical {"detail/error": "kernel NULL pointer dereference"}
BUG: unable to handle kernel NULL pointer dereference at 0000000000000038
= kernel_oops critical {"detail/error": "unable to handle kernel NULL pointer dereference"}
Oops: 0002 [#1] PREEMPT SMP NOPTI
= kernel_oops critical {"detail/error": "Oops"}
general protection fault, probably for non-canonical address 0xdead000000000122: 0000 [#2] SMP PTI
= kernel_oops critical {"detail/error": "general protection fault"}
Oops: general protection fault, maybe for address 0xdead: 0000 [#1] PREEMPT(lazy) SMP KASAN NOPTI
= kernel_oops critical {"detail/error": "Oops"}
BUG: KASAN: slab-out-of-bounds in nvidia_ioctl+0x1c/0x40 [nvidia]
= kernel_oops critical
divide error: 0000 [#1] SMP NOPTI
= kernel_oops critical {"detail/error": "divide error"}
Internal error: Oops: 0000000096000006 [#1] SMP
= kernel_oops critical
Unable to handle kernel paging request at virtual address ffff80001234
= kernel_oops critical
kernel BUG at mm/slub.c:448!
= kernel_oops critical {"detail/error": "kernel BUG at mm/slub.c:448!"}
VFS: file-max limit 262144 reached
= file_limit critical {"detail/limit": 262144.0}
"#,
    );
}

#[test]
fn the_two_lines_of_an_oops_are_one_event() {
    let found = live(
        "BUG: kernel NULL pointer dereference, address: 0000000000000038\n\
         #PF: supervisor read access in kernel mode\n\
         Oops: 0000 [#1] PREEMPT SMP",
    );
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].fold_key(), found[1].fold_key());
}

#[test]
fn cpus_that_stall_or_are_too_hot() {
    table(
        r#"
watchdog: Watchdog detected hard LOCKUP on cpu 41
= cpu_stall critical {"detail/cpu": 41, "detail/error": "hard lockup"}
watchdog: CPU7: Watchdog detected hard LOCKUP on cpu 41
= cpu_stall critical {"detail/cpu": 41}
NMI watchdog: Watchdog detected hard LOCKUP on cpu 41
= cpu_stall critical
rcu: INFO: rcu_preempt self-detected stall on CPU
= cpu_stall warning {"detail/error": "RCU stall"}
INFO: rcu_sched detected stalls on CPUs/tasks: { 3} (detected by 9, t=60002 jiffies, g=1, c=2, q=3)
= cpu_stall warning
rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: { 12-...D } 21 jiffies s: 1 root: 0x1/.
= cpu_stall warning
rcu: rcu_preempt kthread starved for 15002 jiffies! g9 f0x0 RCU_GP_WAIT_FQS(5) ->state=0x0 ->cpu=4
= cpu_stall warning {"detail/error": "RCU thread starved"}
BUG: workqueue lockup - pool cpus=18 node=0 flags=0x0 nice=0 stuck for 51s!
= cpu_stall warning {"detail/seconds": 51}
CPU18: Package temperature is above threshold, cpu clock is throttled (total events = 4411)
= cpu_throttle warning {"detail/cpu": 18, "detail/error": "package"}
mce: CPU18: Core temperature above threshold, cpu clock throttled (total events = 4411)
= cpu_throttle warning {"detail/error": "core"}
"#,
    );
}

#[test]
fn machine_checks() {
    table(
        r#"
mce: [Hardware Error]: CPU 22: Machine Check: 0 Bank 13: 8c000040000800c1
= machine_check info {"detail/corrected": true, "detail/cpu": 22, "detail/mce_bank": 13, "detail/mce_status": "0x8c000040000800c1"}
mce: [Hardware Error]: CPU 22: Machine Check Exception: 5 Bank 5: bd800000000c0151
= machine_check critical {"detail/corrected": false}
mce: [Hardware Error]: CPU 22: Machine Check Exception: 4 Bank 5: be00000000800400
= machine_check fatal
mce: [Hardware Error]: Machine check events logged
= machine_check info {"detail/error": "logged"}
[Hardware Error]: Uncorrected, software containable error.
= machine_check critical
{17}[Hardware Error]: event severity: recoverable
= machine_check critical {"detail/error": "reported by firmware"}
{17}[Hardware Error]: event severity: fatal
= machine_check fatal
"#,
    );
}

#[test]
fn a_report_of_the_firmware_has_all_its_lines_and_those_of_another_not() {
    let text = "{3}[Hardware Error]: Hardware error from APEI Generic Hardware Error Source: 4\n\
        {3}[Hardware Error]: It has been corrected by h/w and requires no further action\n\
        {3}[Hardware Error]: event severity: corrected\n\
        usb 1-1: new device\n\
        {4}[Hardware Error]:  Error 9, type: fatal\n\
        {3}[Hardware Error]:  Error 0, type: corrected\n\
        {3}[Hardware Error]:   section_type: memory error\n\
        {3}[Hardware Error]:   node: 1 card: 3 module: 0 bank: 5";
    let found = live(text);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_fields(
        text,
        &json(&found[0]),
        &[
            ("kind", j!("machine_check")),
            ("severity", j!("info")),
            ("detail/error", j!("memory error")),
            ("lines", j!([3, 8])),
        ],
    );
    assert!(found[0].message.ends_with("bank: 5"));
    assert!(!found[0].message.contains("{4}") && !found[0].message.contains("usb"));
    // The next report ends it.
    let twice = live(&format!(
        "{text}\n{{5}}[Hardware Error]: event severity: fatal"
    ));
    assert_eq!(twice.len(), 2);
    // A line of a process is none of the kernel's report.
    let mut decoder = gtrace_decoder::Decoder::new(gtrace_decoder::Options::default());
    let mut out = Vec::new();
    for (n, line) in text.lines().enumerate() {
        let mut record = common::record(line, n as u64);
        if n > 3 {
            record.facility = Some(1);
        }
        decoder.feed(&record, &mut out);
    }
    decoder.flush(&mut out);
    assert_eq!(out.len(), 1);
    assert!(!out[0].message.contains("section_type"));
}

/// Reports of real hosts, of kernels that word them differently: which module it is, and where.
#[test]
fn memory_that_the_firmware_reports_has_its_module_and_address() {
    let report = |number: u32, lines: &[&str]| {
        let lines = lines.iter();
        lines
            .map(|line| format!("{{{number}}}[Hardware Error]: {line}\n"))
            .collect::<String>()
    };
    let by_fru = report(
        35,
        &[
            "Hardware error from APEI Generic Hardware Error Source: 4",
            "It has been corrected by h/w and requires no further action",
            "event severity: corrected",
            " Error 0, type: corrected",
            " fru_text: D2",
            "  section_type: memory error",
            "   error_status: Storage error in DRAM memory (0x0000000000000400)",
            "  physical_address: 0x0000006a47d1f540",
            "  node:6 card:1 module:0 rank:1 bank:2 device:11 row:40948 column:560 ",
            "  error_type: 2, single-bit ECC",
            "  DIMM location: not present. DMI handle: 0x0000 ",
        ],
    );
    let by_tables = report(
        37,
        &[
            "Hardware error from APEI Generic Hardware Error Source: 162",
            "It has been corrected by h/w and requires no further action",
            "event severity: corrected",
            " Error 0, type: corrected",
            "  section_type: memory error",
            "  error_status: 0x0000000000000400",
            "  physical_address: 0x000000b50c68ce80",
            "  node: 1 card: 4 module: 0 rank: 0 bank: 1 device: 14 row: 58165 column: 816 ",
            "  error_type: 2, single-bit ECC",
            "  DIMM location: CPU 2 DIMM 30 ",
        ],
    );
    for (text, dimm, address) in [
        (by_fru, "D2", "0x6a47d1f540"),
        (by_tables, "CPU 2 DIMM 30", "0xb50c68ce80"),
    ] {
        let found = live(&text);
        assert_eq!(found.len(), 1, "{found:#?}");
        assert_fields(
            &text,
            &json(&found[0]),
            &[
                ("kind", j!("machine_check")),
                ("detail/error", j!("memory error")),
                ("detail/dimm", j!(dimm)),
                ("detail/fault_at", j!(address)),
                ("detail/corrected", j!(true)),
            ],
        );
    }
}

#[test]
fn memory_of_the_host() {
    table(
        r#"
EDAC MC1: 3 CE memory read error on CPU_SrcID#1_MC#0_Chan#2_DIMM#1 (channel:2 slot:1 page:0x4a1 offset:0x80 grain:32 syndrome:0x0)
= dimm_error info {"detail/corrected": true, "detail/error_count": 3, "detail/dimm": "CPU_SrcID#1_MC#0_Chan#2_DIMM#1", "detail/error": "memory read error"}
EDAC MC0: 1 CE on mc#0csrow#1channel#0 (csrow:1 channel:0 page:0xcaed59 offset:0x8e0 grain:64 syndrome:0x100)
= dimm_error info {"detail/corrected": true, "detail/error_count": 1, "detail/dimm": "mc#0csrow#1channel#0", "detail/error": "memory error"}
EDAC MC0: 1 UE on mc#0csrow#1channel#0 (csrow:1 channel:0 page:0x0 offset:0x0 grain:64)
= dimm_error critical {"detail/corrected": false, "detail/dimm": "mc#0csrow#1channel#0"}
EDAC MC0: 1 UE Multi-bit ECC on unknown memory (node:1 card:0 module:2 page:0x1)
= dimm_error critical {"detail/corrected": false, "detail/dimm": "unknown memory"}
Memory failure: 0x3c2d1e: recovery action for dirty LRU page: Recovered
= dimm_error critical {"detail/fault_at": "0x3c2d1e", "detail/error": "page given up"}
Memory failure: 0x3c2d1e: Sending SIGBUS to trainer:8123 due to hardware memory corruption
= dimm_error critical {"process/pid": 8123, "process/comm": "trainer"}
"#,
    );
}

/// As drivers/edac/mce_amd.c prints them.
#[test]
fn a_machine_check_of_amd_has_bank_and_status() {
    table(
        r#"
[Hardware Error]: Corrected error, no action required.
[Hardware Error]: CPU:2 (19:1:0) MC17_STATUS[Over|CE|MiscV|AddrV|-|-|SyndV|CECC|-|-|-]: 0xdc2040000000011b
[Hardware Error]: Error Addr: 0x0000000000000080
[Hardware Error]: IPID: 0x0000009600150f00, Syndrome: 0x000000000a800201
[Hardware Error]: Unified Memory Controller Ext. Error Code: 0
= machine_check {"detail/cpu": 2, "detail/mce_bank": 17, "detail/mce_status": "0xdc2040000000011b", "detail/corrected": true}
"#,
    );
}

/// With Intel the same bit is part of a count.
#[test]
fn a_deferred_error_of_amd_is_not_corrected() {
    table(
        r#"
[Hardware Error]: Deferred error, no action required.
[Hardware Error]: CPU:2 (19:1:0) MC17_STATUS[-|-|MiscV|AddrV|-|-|SyndV|UECC|Deferred|-|-]: 0x9c2030000000011b
= machine_check {"detail/error": "deferred error", "detail/corrected": false, "detail/mce_status": "0x9c2030000000011b"}
mce: [Hardware Error]: CPU 2: Machine Check: 0 Bank 17: 9c2030000000011b
mce: [Hardware Error]: TSC 0 ADDR 7fbad000 SYND a800201 IPID 9600150f00
mce: [Hardware Error]: PROCESSOR 2:a20f12 TIME 1772510706 SOCKET 0 APIC 2 microcode a20120a
= machine_check {"detail/error": "deferred error", "detail/corrected": false, "detail/mce_status": "0x9c2030000000011b"}
mce: [Hardware Error]: CPU 2: Machine Check: 0 Bank 17: 9c2030000000011b
mce: [Hardware Error]: TSC 0 ADDR 7fbad000
mce: [Hardware Error]: PROCESSOR 0:606a6 TIME 1772510706 SOCKET 0 APIC 2 microcode d000331
= machine_check {"detail/error": "machine check", "detail/corrected": true, "detail/mce_status": "0x9c2030000000011b"}
"#,
    );
}

#[test]
fn what_a_broken_part_says_again_is_a_repeat() {
    for (first, again, other) in [
        (
            "I/O error, dev sdq, sector 8 op 0x0:(READ) flags 0x0",
            "I/O error, dev sdq, sector 16 op 0x0:(READ) flags 0x0",
            "I/O error, dev sdr, sector 8 op 0x0:(READ) flags 0x0",
        ),
        (
            "DMAR: [DMA Read] Request device [4e:00.0] fault addr 1000 [fault reason 06] PTE Read access is not set",
            "DMAR: [DMA Read] Request device [4e:00.0] fault addr 2000 [fault reason 06] PTE Read access is not set",
            "DMAR: [DMA Read] Request device [4f:00.0] fault addr 1000 [fault reason 06] PTE Read access is not set",
        ),
        (
            "nfs: server a not responding, still trying",
            "nfs: server a not responding, still trying",
            "nfs: server a OK",
        ),
        (
            "EDAC MC1: 3 CE memory read error on D1 (page:0x1)",
            "EDAC MC1: 7 CE memory read error on D1 (page:0x2)",
            "EDAC MC1: 3 UE memory read error on D1 (page:0x1)",
        ),
        (
            "Buffer I/O error on dev sdq, logical block 1, async page read",
            "Buffer I/O error on dev sdq, logical block 2, async page read",
            "Buffer I/O error on dev sdq, logical block 1, lost async page write",
        ),
    ] {
        let key = |line: &str| live(line)[0].fold_key();
        assert_eq!(key(first), key(again), "{first}");
        assert_ne!(key(first), key(other), "{first}");
    }
}

/// As hosts keep them: every form of prefix gives the same event.
#[test]
fn prefixes_of_saved_logs() {
    for line in [
        "mlx5_core 0000:9a:00.1: Port module event[error]: module 0, Cable error, High Temperature",
        "Kernel panic - not syncing: Fatal exception in interrupt",
        "EDAC MC1: 3 CE memory read error on D1 (page:0x1)",
        "{17}[Hardware Error]: event severity: fatal",
        "md/raid1:md5: Disk failure on nvme7n1p3, disabling device.",
        "nfs: server filer-3.lan not responding, still trying",
    ] {
        let want = only(line);
        for prefix in [
            "[Sun Dec  7 14:54:40 2025] gpu-9 kernel: ",
            "[ 8801.204417] ",
            "Dec  7 14:54:40 gpu-9 kernel: ",
            "2025-12-07T14:54:40.123456+00:00 gpu-9 kernel: [ 8801.204417] ",
            "kern  :err   : [ 8801.204417] ",
            "gpu-9 kernel: ",
            "3,77,8801204417,-;",
        ] {
            let text = format!("{prefix}{line}\n");
            let found = saved(&text);
            assert_eq!(found.len(), 1, "{text}");
            let found = json(&found[0]);
            for field in ["kind", "severity", "message", "detail"] {
                assert_eq!(found[field], want[field], "{text}");
            }
        }
    }
}

#[test]
fn a_pcie_error_that_the_firmware_reports_is_one_of_the_device() {
    let report = |severity: &str, address: &str, class: &str| {
        [
            "Hardware error from APEI Generic Hardware Error Source: 514",
            &format!("event severity: {severity}"),
            &format!(" Error 0, type: {severity}"),
            "  section_type: PCIe error",
            "  port_type: 0, PCIe end point",
            "  version: 3.0",
            "  command: 0x0547, status: 0x4010",
            &format!("  device_id: {address}"),
            "  slot: 0",
            "  secondary_bus: 0x00",
            "  vendor_id: 0x10de, device_id: 0x2330",
            &format!("  class_code: {class}"),
            "  aer_uncor_status: 0x00100000, aer_uncor_mask: 0x00010000",
        ]
        .map(|line| format!("{{1}}[Hardware Error]: {line}\n"))
        .concat()
    };
    for (severity, word) in [
        ("corrected", "Corrected"),
        ("recoverable", "Uncorrectable (Non-Fatal)"),
        ("fatal", "Uncorrectable (Fatal)"),
    ] {
        // Kernels before 5.13 wrote the class the other way round.
        let found = live(&report(severity, "0000:96:01.0", "000203"));
        assert!(found[0].gpu.is_some(), "{found:#?}");
        let found = live(&report(severity, "0000:96:01.0", "030200"));
        assert_eq!(found.len(), 1, "{found:#?}");
        let want = [
            ("kind", j!("aer")),
            ("detail/pci_device", j!("0000:96:01.0")),
            ("gpu/pci", j!("0000:96:01.0")),
            ("detail/severity", j!(word)),
            ("detail/status", j!("0x100000")),
            ("detail/device_id", j!("10de:2330")),
        ];
        common::assert_fields(severity, &common::json(&found[0]), &want);
    }
    let bridge = live(&report("fatal", "0000:96:01.0", "060400"));
    assert_eq!((bridge[0].kind, &bridge[0].gpu), (Kind::Aer, &None));
    // Without a place it stays the firmware's.
    let nowhere = live(&report("fatal", "?", "030200"));
    assert_eq!(nowhere[0].kind, Kind::MachineCheck);
}
