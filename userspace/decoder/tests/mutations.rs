//! Random damage to lines that are known: no panic, and what holds for every log.

mod common;

use gtrace_decoder::saved::SavedLog;
use gtrace_decoder::{Decoder, LogRecord, Options, kmsg};
use gtrace_event::Occurrence;
use proptest::prelude::*;

const LINES: &[&str] = &[
    "NVRM: Xid (PCI:0000:01:00 GPU-I:05 GPU-CI:01): 31, pid=4, name=a, b, Ch 00000010, intr 0. MMU Fault: ENGINE GRAPHICS GPC1 GPCCLIENT_T1_3 faulted @ 0x7f_abcd1000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ",
    "NVRM: Xid (0000:03:00): 13, Graphics SM Warp Exception on (GPC 9, TPC 1, SM 1): Out Of Range Address",
    "NVRM: Xid (PCI:0000:03:00): 45, Ch 00000001 caused by previous Xid 149",
    "NVRM: Xid (PCI:0000:03:00): 94, Contained: CE User Channel (0x9). RST: No, D-RST: No",
    "NVRM: Xid (PCI:0000:03:00): 119, Timeout after 6s of waiting for RPC response from GPU2 GSP! Expected function 76 (GSP_RM_CONTROL) (0x0 0x8).",
    "NVRM: Xid (PCI:0018:01:00): 145, RLW_RXPIPE Nonfatal XC0 i0 Link -1 (0x0409a0c2 0x00000008)",
    "NVRM: Xid (PCI:0000:03:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)",
    "NVRM: GPU 0000:29:00.0: RmInitAdapter failed! (0x24:0x65:1438)",
    "NVRM: GPU 0000:29:00.0: rm_init_adapter failed, device minor number 0",
    "NVRM: The NVIDIA GPU 0000:29:00.0",
    "NVRM: (PCI ID: 10de:1db6) installed in this system has",
    "NVRM: fallen off the bus and is not responding to commands.",
    "NVRM: API mismatch: the client 'nvidia-smi' (pid 849)",
    "NVRM: has the version 570.133.07, but this kernel module has",
    "NVRM: GPU at PCI:0000:29:00: GPU-b850f46d-d5ea-c752-ddf3-c7a3bb5c3c38",
    "nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 egress",
    "nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 12028, Severity 1 Engine instance 32 Sub-engine instance 00",
    "nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 12028, Data {0x00000001, 0x00bd5c8a}",
    "pcieport 0000:00:1c.0: AER: Multiple Corrected error received: id=00e0",
    "pcieport 0000:00:1c.0: AER: Correctable error message received from 0000:3b:00.0",
    "nvidia 0000:3b:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, id=00e0(Receiver ID)",
    "nvidia 0000:3b:00.0:   device [10de:2330] error status/mask=00000001/00002000",
    "nvidia 0000:3b:00.0:    [ 0] RxErr                  (First)",
    "nvidia 0000:3b:00.0: AER:   TLP Header: 34000000 00000052 00000000 00000000",
    "nvidia 0000:3b:00.0: aer_status: 0x00100000, aer_mask: 0x00000000",
    "nvidia 0000:3b:00.0: aer_layer=Transaction Layer, aer_agent=Requester ID",
    "nvidia 0000:3b:00.0: aer_uncor_severity: 0x00462030",
    "pcieport 0000:3a:00.0: pciehp: Slot(0-1): Link Down",
    "pcieport 0000:3a:00.0: pciehp: Slot(3) Powering on due to button press",
    "pciehp 0000:3a:00.0:pcie004: Slot(7): Card not present",
    "pci 0000:3b:00.0: 2.000 Gb/s available PCIe bandwidth, limited by 2.5 GT/s PCIe x1 link at 0000:00:1c.0 (capable of 31.504 Gb/s with 8.0 GT/s PCIe x4 link)",
    "pcieport 0000:3a:00.0: DPC: containment event, status:0x1f05 source:0x3b00",
    "pcieport 0000:3a:00.0: DPC: containment event, status:0x1f05, ERR_FATAL received from 0000:3b:00.0",
    "pcieport 0000:3a:00.0: AER: device recovery failed",
    "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),oom_memcg=/a,task_memcg=/a/b,task=x,y,pid=9,uid=0",
    "Memory cgroup out of memory: Killed process 9 (x,y) total-vm:10kB, anon-rss:5kB, oom_score_adj:-1",
    "Out of memory: Kill process 9 (x,y) score 900 or sacrifice child",
    "Task in /docker/abc killed as a result of limit of /docker",
    "INFO: task python3:1234 blocked for more than 122 seconds.",
    "watchdog: BUG: soft lockup - CPU#3 stuck for 23s! [python:1234]",
    "python[7]: segfault at 0 ip 00007f7c sp 00007f7c error 4 in libnccl.so.2[7f+d3]",
    "nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context",
    "mlx5_core 0000:5d:00.0: mlx5_pcie_event:299:(pid 2): Detected insufficient power on the PCIe slot (27W).",
    "mlx5_core 0000:5d:00.0: x:8:(pid 1): ACCESS_REG(0x805) op_mod(0x1) failed, status bad parameter(0x3), syndrome (0x15c356), err(-22)",
    "EXT4-fs (nvme0n1p1): Remounting filesystem read-only",
    "nvme nvme0: I/O tag 123 (1000) opcode 0x2 (I/O Cmd) QID 4 timeout, aborting",
    "mlx5_core 0000:9a:00.1: mlx5_port_module_event:1128:(pid 0): Port module event[error]: module 1, Cable error, High Temperature",
    "bnxt_en 0000:18:00.0 ens8f1: NETDEV WATCHDOG: CPU: 12: transmit queue 5 timed out 5120 ms",
    "infiniband rdmap32s0: Failed to process command REG_MR (opcode 7) comp_status 8 err -12",
    "NVRM: Rate limiting GSP RPC error prints for GPU at PCI:0000:4e:00 (printing 1 of every 30).  The GPU likely needs to be reset.",
    "NVRM: GPU5 krcWatchdog_IMPL: RC watchdog: GPU is probably locked!  Notify Timeout Seconds: 12",
    "nvidia: probe of 0000:4e:00.0 failed with error -1",
    "DMAR: [DMA Write NO_PASID] Request device [4e:00.0] fault addr 0x9f3c00000 [fault reason 0x05] PTE Write access is not set",
    "AMD-Vi: Event logged [IO_PAGE_FAULT device=4e:00.0 domain=0x0021 address=0xfd000000 flags=0x0020]",
    "block nvme2n1: no available path - failing I/O",
    "md/raid0md5: Disk failure on nvme7n1 detected, failing array.",
    "Buffer I/O error on dev dm-4, logical block 7340032, lost async page write",
    "nvme7n1: Read(0x2) @ LBA 9182736, 16 blocks, Unrecovered Read Error (sct 0x2 / sc 0x81) DNR",
    "EXT4-fs error (device dm-4) in ext4_reserve_inode_write:5872: Journal has aborted",
    "BTRFS error (device nvme7n1): bdev /dev/nvme7n1 errs: wr 12, rd 3, flush 0, corrupt 0, gen 0",
    "Lustre: a-OST0007-osc: Connection to a-OST0007 (at 10.9.8.7@o2ib) was lost; in progress",
    "general protection fault, probably for non-canonical address 0xdead: 0000 [#2] SMP PTI",
    "BUG: unable to handle page fault for address: ffffa3c1d00b8000",
    "rcu: INFO: rcu_preempt self-detected stall on CPU",
    "watchdog: CPU7: Watchdog detected hard LOCKUP on cpu 41",
    "CPU18: Package temperature is above threshold, cpu clock is throttled (total events = 4411)",
    "mce: [Hardware Error]: CPU 22: Machine Check Exception: 5 Bank 5: bd800000000c0151",
    "{17}[Hardware Error]: event severity: recoverable",
    "{17}[Hardware Error]:   section_type: memory error",
    "EDAC MC1: 3 CE memory read error on CPU_SrcID#1_MC#0 (channel:2 slot:1 page:0x4a1)",
    "Memory failure: 0x3c2d1e: Sending SIGBUS to trainer:8123 due to hardware memory corruption",
    "usb 1-1: new high-speed USB device number 2 using xhci_hcd",
    "message repeated 3 times: [ NVRM: Xid (PCI:0000:03:00): 45, Ch 00000001]",
    "NVRM: Xid (PCI:0001:ab:cd): 69, pid=1310987, name=train.3, Class Error: ChId 0008",
    r#"{"_HOSTNAME":"h","__REALTIME_TIMESTAMP":"1772510706123456","SYSLOG_FACILITY":"0","_TRANSPORT":"kernel","MESSAGE":"NVRM: Xid (PCI:0000:03:00): 45, Ch 1\nx"}"#,
    r#"{"SYSLOG_IDENTIFIER":"NVRM","SYSLOG_PID":"7","SYSLOG_FACILITY":"1","MESSAGE":[88,105,100,32,40,255]}"#,
];

const PREFIXES: &[&str] = &[
    "",
    "[12345.678901] ",
    "[12345.678901 <    0.000012>] [   T12] ",
    "[Tue Mar  3 04:05:06 2026] ",
    "<3>[12345.678901] ",
    "3,1234,12345678901,-,caller=T12;",
    "kern  :err   : 2026-03-03T04:05:06,123456+01:00 ",
    "Mar 03 04:05:06 host kernel: ",
    "2026-03-03T04:05:06.123456+00:00 host kernel: [12345.678901] ",
    "[12345.678901] host kernel: ",
    "Tue 2026-03-03 04:05:06 UTC host kernel: ",
    "1772510706.123456 host kernel: ",
    "<3>1 2026-03-03T04:05:06.5Z host kernel - - - ",
    "\u{1b}[32m[12345.678901] \u{1b}[0m",
    "gtrace-inject[1]: ",
    "host kernel: ",
    "kernel: Jan 21 11:18:36 kernel: ",
    "[12345.678901] host kernel: 2026-03-03T04:05:06Z inner kernel: [12345.678901] ",
    "[Tue Mar  3 04:05:06 2026] host kernel: ",
    "    ",
];

/// What happens to a line: cut, a byte changed, put in or taken out, a piece doubled.
#[derive(Clone, Debug)]
enum Damage {
    None,
    Cut(usize),
    Set(usize, u8),
    Insert(usize, u8),
    Remove(usize),
    Double(usize, usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    // Bytes that mean something to the readers, more often than others.
    let byte = prop_oneof![
        3 => prop::sample::select(b" ,:;()[]{}<>'\"\\=.-#/@x0\n\r\t\0\x1b\xff".to_vec()),
        1 => any::<u8>(),
    ];
    prop_oneof![
        4 => Just(Damage::None),
        1 => any::<usize>().prop_map(Damage::Cut),
        2 => (any::<usize>(), byte.clone()).prop_map(|(at, b)| Damage::Set(at, b)),
        2 => (any::<usize>(), byte).prop_map(|(at, b)| Damage::Insert(at, b)),
        1 => any::<usize>().prop_map(Damage::Remove),
        1 => (any::<usize>(), any::<usize>()).prop_map(|(a, b)| Damage::Double(a, b)),
    ]
}

fn apply(line: &mut Vec<u8>, damage: &Damage) {
    let len = line.len();
    if len == 0 {
        return;
    }
    match *damage {
        Damage::None => {}
        Damage::Cut(at) => line.truncate(at % len),
        Damage::Set(at, byte) => line[at % len] = byte,
        Damage::Insert(at, byte) => line.insert(at % len, byte),
        Damage::Remove(at) => {
            line.remove(at % len);
        }
        Damage::Double(a, b) => {
            let (a, b) = (a % len, b % len);
            let piece = line[a.min(b)..a.max(b)].to_vec();
            line.extend_from_slice(&piece);
        }
    }
}

fn log() -> impl Strategy<Value = Vec<u8>> {
    let line = (
        prop::sample::select(PREFIXES),
        prop::sample::select(LINES),
        prop::collection::vec(damage(), 0..3),
        prop::sample::select(vec!["\n", "\n", "\n", "\r\n", ""]),
    );
    prop::collection::vec(line, 0..40).prop_map(|lines| {
        let mut log = Vec::new();
        for (prefix, text, damages, ending) in lines {
            let mut line = [prefix.as_bytes(), text.as_bytes()].concat();
            damages.iter().for_each(|d| apply(&mut line, d));
            log.extend(line);
            log.extend(ending.as_bytes());
        }
        log
    })
}

fn read(pieces: impl Iterator<Item = impl AsRef<[u8]>>) -> (Vec<Occurrence>, u64) {
    let mut reader = SavedLog::new(Options::default());
    let mut out = Vec::new();
    for piece in pieces {
        reader.feed_bytes(piece.as_ref(), &mut out);
    }
    reader.finish(&mut out);
    (out, reader.lines())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_holds_for_every_saved_log(log in log(), size in 1usize..200) {
        let (found, lines) = read(std::iter::once(&log));
        let mut last = 0;
        for occurrence in &found {
            let [first, end] = occurrence.lines.unwrap();
            prop_assert!(1 <= first && first <= end && end <= lines);
            prop_assert!(first >= last);
            last = first;
            prop_assert!(!occurrence.message.is_empty());
            // Goes to JSON and back as it is.
            let json = serde_json::to_string(occurrence).unwrap();
            prop_assert_eq!(occurrence, &serde_json::from_str::<Occurrence>(&json).unwrap());
        }
        prop_assert_eq!(read(log.chunks(size)), (found, lines));
    }

    #[test]
    fn what_holds_for_live_records(log in log(), facility in 0u8..3) {
        let mut decoder = Decoder::new(Options::default());
        let mut out = Vec::new();
        let mut number = 0;
        for line in log.split(|b| *b == b'\n') {
            number += 1;
            let _ = kmsg::parse(line);
            let text = String::from_utf8_lossy(line);
            let record = LogRecord { text: &text, facility: Some(facility), number, ..LogRecord::default() };
            decoder.feed(&record, &mut out);
        }
        decoder.flush(&mut out);
        prop_assert!(!decoder.has_pending());
        for occurrence in &out {
            let [first, last] = occurrence.lines.unwrap();
            prop_assert!(1 <= first && first <= last && last <= number);
            prop_assert!(!occurrence.message.is_empty());
        }
    }
}
