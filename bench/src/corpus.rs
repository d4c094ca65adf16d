//! A generated kernel log: mostly what any kernel says, one line in a hundred of the forms that
//! the decoder knows.

use std::fmt::Write as _;

use fastrand::Rng;

/// What kernels of GPU hosts say all day, without meaning.
const CHATTER: &[&str] = &[
    "usb 1-1: new high-speed USB device number {} using xhci_hcd",
    "IPv6: ADDRCONF(NETDEV_CHANGE): veth{}: link becomes ready",
    "docker0: port {}(veth3f1c2a) entered forwarding state",
    "audit: type=1400 audit({}.123:45): apparmor=\"STATUS\" operation=\"profile_load\" profile=\"unconfined\" name=\"docker-default\"",
    "perf: interrupt took too long ({} > 2500), lowering kernel.perf_event_max_sample_rate to 50000",
    "mlx5_core 0000:5d:00.0 ens5f0np0: Link up, speed {} Mb/s",
    "nvme nvme0: {}/0/0 default/read/poll queues",
    "nvidia-modeset: Loading NVIDIA Kernel Mode Setting Driver for UNIX platforms  570.{}",
    "EXT4-fs (nvme{}n1p1): mounted filesystem with ordered data mode. Quota mode: none.",
    "TCP: request_sock_TCP: Possible SYN flooding on port {}. Sending cookies.",
    "python3[{}]: segfault at 7f1c ip 00007f7c4e5d2b10 sp 00007ffd5c3f0a10 error 4 in libtorch_cpu.so[7f7c4d000000+9000000]",
    "systemd-journald[{}]: Received client request to flush runtime journal.",
    "pcieport 0000:00:1c.0: bridge window [mem 0x{}0000000-0xe00fffff 64bit pref]",
    "x86/split lock detection: #AC: qemu-kvm/{} took a split_lock trap at address: 0x7f1c2a",
    "NFS: state manager: lease expired on server {}, recovering",
    "eth0: renamed from veth{}",
];

/// Lines of every form, in the order that forms of several lines need. The last word of a line
/// that is an event by itself is a running number, so that no two are the same.
const FORMS: &[&[&str]] = &[
    &[
        "NVRM: Xid (PCI:0000:3b:00): 31, pid=1234, name=python3, Ch 00000010, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_3 faulted @ 0x7f_abcd{}. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ",
    ],
    &[
        "NVRM: Xid (PCI:0000:3b:00): 13, Graphics SM Warp Exception on (GPC 0, TPC 1, SM {}): Out Of Range Address",
    ],
    &[
        "NVRM: Xid (PCI:0000:3b:00): 94, pid='<unknown>', name=<unknown>, Contained: CE User Channel (0x{}). RST: No, D-RST: No",
    ],
    &[
        "NVRM: Xid (PCI:0000:86:00): 119, pid=77, name=nvidia-smi, Timeout after {}s of waiting for RPC response from GPU0 GSP! Expected function 76 (GSP_RM_CONTROL) (0x20801702 0x4).",
    ],
    &["NVRM: GPU 0000:29:00.0: RmInitAdapter failed! (0x24:0x65:{})"],
    &[
        "nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error {}",
    ],
    &[
        "pcieport 0000:00:1c.0: PCIe Bus Error: severity=Corrected, type=Data Link Layer, (Transmitter ID)",
        "pcieport 0000:00:1c.0:   device [8086:a110] error status/mask=0000{}/00002000",
    ],
    &[
        "Out of memory: Killed process {} (python3) total-vm:1048576kB, anon-rss:524288kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:2048kB oom_score_adj:0",
    ],
    &["INFO: task python3:{} blocked for more than 122 seconds."],
    &["watchdog: BUG: soft lockup - CPU#3 stuck for 23s! [python3:{}]"],
    &["EXT4-fs (nvme{}n1): Remounting filesystem read-only"],
    &["nvme nvme0: I/O {} QID 4 timeout, aborting"],
    &[
        "mlx5_core 0000:5d:00.0: mlx5_pcie_event:299:(pid {}): Detected insufficient power on the PCIe slot (27W).",
    ],
    &["I/O error, dev sdb, sector {} op 0x0:(READ) flags 0x80700 phys_seg 1 prio class 2"],
    &["nfs: server 10.0.0.{} not responding, still trying"],
];

/// Patterns for `grep -E` that find the first line of each form.
pub(crate) const PATTERNS: &str = r"NVRM: (Xid \(PCI:|GPU [0-9a-f:.]+: RmInitAdapter failed)|nvidia-nvswitch[0-9]+: SXid \(PCI:|PCIe Bus Error: severity=|Killed process [0-9]+|INFO: task .+ blocked for more than|BUG: soft lockup|-fs \([^)]*\): Remounting filesystem read-only|nvme nvme[0-9]+: I/O .* timeout|mlx5_core [0-9a-f:.]+: .*insufficient power|I/O error, dev |nfs: server .* not responding";

/// Makes lines without prefix.
#[derive(Debug)]
pub(crate) struct Corpus {
    rng: Rng,
    n: u64,
    /// The rest of a form of several lines.
    rest: &'static [&'static str],
    share: u64,
    /// Forms begun.
    pub(crate) forms: u64,
}

impl Corpus {
    /// One line in `share` begins a form.
    pub(crate) fn new(share: u64) -> Self {
        Self {
            rng: Rng::with_seed(79),
            n: 0,
            rest: &[],
            share,
            forms: 0,
        }
    }

    /// The next line, and whether it begins a form.
    pub(crate) fn next_line(&mut self) -> (String, bool) {
        self.n += 1;
        let (template, begins) = if let Some((first, rest)) = self.rest.split_first() {
            self.rest = rest;
            (*first, false)
        } else if self.rng.u64(..self.share) == 0 {
            (self.begin(), true)
        } else {
            (CHATTER[self.rng.usize(..CHATTER.len())], false)
        };
        (template.replacen("{}", &self.n.to_string(), 1), begins)
    }

    fn begin(&mut self) -> &'static str {
        let at = self.forms % FORMS.len() as u64;
        self.forms += 1;
        // Below the number of forms, each of which has a line.
        let form: &'static [&'static str] = FORMS[at as usize];
        self.rest = &form[1..];
        form[0]
    }

    /// A saved log of at least `bytes` bytes, as dmesg prints it.
    pub(crate) fn saved_log(&mut self, bytes: usize) -> String {
        let mut log = String::with_capacity(bytes + 512);
        let mut us = 1_000_000_u64;
        while log.len() < bytes {
            us += 37 + self.rng.u64(..100_000);
            let (line, _) = self.next_line();
            let _ = writeln!(log, "[{:5}.{:06}] {line}", us / 1_000_000, us % 1_000_000);
        }
        log
    }

    /// Xids of several forms, distinguished by `mark`.
    pub(crate) fn marked_xid(n: usize, mark: &str) -> String {
        let text = match n % 5 {
            0 => {
                format!("31, pid=1234, name=python3, {mark} Ch 00000010, intr 00000000. MMU Fault")
            }
            // Exceptions of one process would be one event.
            1 => format!(
                "13, pid={}, name=c, {mark} Graphics SM Warp Exception",
                1000 + n
            ),
            2 => format!("79, pid='<unknown>', name=<unknown>, {mark} GPU has fallen off the bus."),
            3 => format!("94, pid=77, name=a b, {mark} Contained: CE User Channel (0x9). RST: No"),
            _ => format!("48, {mark} DBE (double bit error) ECC Error"),
        };
        format!(
            "gtrace-inject: NVRM: Xid (PCI:0000:{:02x}:00): {text}",
            0x10 + n % 8
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gtrace_decoder::saved::SavedLog;
    use gtrace_decoder::{Decoder, LogRecord, Options};

    #[test]
    fn the_decoder_finds_each_form_and_nothing_in_the_chatter() {
        let mut corpus = Corpus::new(10);
        let log = corpus.saved_log(200_000);
        let mut out = Vec::new();
        let mut saved = SavedLog::new(Options::default());
        saved.feed_bytes(log.as_bytes(), &mut out);
        saved.finish(&mut out);
        assert!(corpus.forms > 50);
        assert_eq!(out.len() as u64, corpus.forms);
    }

    #[test]
    fn marked_xids_of_every_form_are_events() {
        for n in 0..5 {
            let text = Corpus::marked_xid(n, "run 7 line 3;");
            let mut out = Vec::new();
            let record = LogRecord {
                text: &text,
                ..LogRecord::default()
            };
            Decoder::new(Options::default()).feed(&record, &mut out);
            assert_eq!(out.len(), 1, "{text}");
            assert!(out[0].message.contains("run 7 line 3;"), "{text}");
        }
    }
}
