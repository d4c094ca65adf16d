//! Kernel log records from printk:console.
//!
//! The tracepoint fires for every piece of a record that is put together with KERN_CONT, as the
//! NVIDIA driver does, and does not say where a record ends. A piece that means something by
//! itself is passed on at once. One that does not is kept for a moment and tried in front of the
//! next piece of the same thread, unless that begins a record by itself. The joined record of /dev/kmsg decides in the end: see
//! the pipeline.
//!
//! Before Linux 5.19 it fires where a console prints: whole records, of the levels that consoles show, in the form that they print.
//! Kernels of distributions may have later code by an earlier number, so the text itself decides.

use std::collections::HashMap;

use gtrace_decoder::{Decoder, DriverVersion, LogRecord};
use gtrace_event::Occurrence;
use gtrace_uprobes::procfs::kernel_version;

/// A piece waits at most so long for the next one of its thread.
const JOIN_NS: u64 = 100_000_000;
/// At most so many threads have a piece waiting.
const MAX_WAITING: usize = 256;
/// A joined record is no longer than the kernel's own limit.
const MAX_JOINED: usize = 2048;
/// A group of lines that belong together is closed after so long without a record. The thread that
/// logs them may lose its CPU between two lines, or wait for a slow serial console; what a group
/// reports is mostly seen at once by another witness.
const FLUSH_NS: u64 = 250_000_000;

/// What the lines of the NVIDIA drivers begin with.
const BEGINNINGS: [&str; 2] = ["NVRM:", "nvidia-nvswitch"];

/// Decodes the pieces.
#[derive(Debug, Default)]
pub struct Console {
    /// Whether texts may be as consoles print them.
    printed: bool,
    decoder: Decoder,
    waiting: HashMap<u32, Piece>,
    last_ns: u64,
    number: u64,
}

#[derive(Debug)]
struct Piece {
    boottime_ns: u64,
    text: String,
}

impl Console {
    /// Of a kernel with this release, with nothing waiting.
    pub fn of_kernel(release: &str) -> Self {
        Self {
            printed: kernel_version(release) < (5, 19),
            ..Self::new()
        }
    }

    /// A decoder of pieces with nothing waiting.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the version of the driver that writes the texts.
    pub fn set_driver_version(&mut self, version: Option<DriverVersion>) {
        self.decoder.set_driver_version(version);
    }

    /// Takes a piece that thread `tid` logged at `boottime_ns`.
    pub fn feed(&mut self, tid: u32, boottime_ns: u64, text: &[u8], out: &mut Vec<Occurrence>) {
        self.last_ns = boottime_ns;
        self.number += 1;
        let text = String::from_utf8_lossy(text);
        if self.printed
            && let Some(record) = printed_record(&text)
        {
            return self.decode(boottime_ns, &record, out);
        }
        let before = out.len();
        self.decode(boottime_ns, &text, out);
        if out.len() > before || self.decoder.has_pending() {
            self.waiting.remove(&tid);
            return;
        }
        let joined = match self.waiting.remove(&tid) {
            Some(piece)
                if !begins(&text)
                    && boottime_ns.saturating_sub(piece.boottime_ns) <= JOIN_NS
                    && piece.text.len() + text.len() <= MAX_JOINED =>
            {
                let joined = piece.text + &text;
                self.decode(piece.boottime_ns, &joined, out);
                if out.len() > before {
                    return;
                }
                joined
            }
            _ => text.into_owned(),
        };
        if could_begin(&joined) {
            self.make_room(boottime_ns);
            self.waiting.insert(
                tid,
                Piece {
                    boottime_ns,
                    text: joined,
                },
            );
        }
    }

    fn decode(&mut self, boottime_ns: u64, text: &str, out: &mut Vec<Occurrence>) {
        let record = LogRecord {
            text,
            timestamp_us: Some(boottime_ns / 1000),
            number: self.number,
            ..LogRecord::default()
        };
        let before = out.len();
        self.decoder.feed(&record, out);
        for occurrence in &mut out[before..] {
            occurrence.boottime_ns.get_or_insert(boottime_ns);
            occurrence.lines = None;
        }
    }

    fn make_room(&mut self, now_ns: u64) {
        if self.waiting.len() >= MAX_WAITING {
            self.waiting
                .retain(|_, p| now_ns.saturating_sub(p.boottime_ns) <= JOIN_NS);
        }
        if self.waiting.len() >= MAX_WAITING {
            self.waiting.clear();
        }
    }

    /// Closes groups whose further lines did not come, when everything that was logged until `now_ns` has been fed;
    /// says whether something still waits.
    pub fn idle(&mut self, now_ns: u64, out: &mut Vec<Occurrence>) -> bool {
        if !self.decoder.has_pending() {
            return false;
        }
        if now_ns.saturating_sub(self.last_ns) < FLUSH_NS {
            return true;
        }
        let before = out.len();
        self.decoder.flush(out);
        for occurrence in &mut out[before..] {
            occurrence.boottime_ns.get_or_insert(self.last_ns);
            occurrence.lines = None;
        }
        false
    }
}

/// The text of a record as a console prints it: each line is as `info_print_prefix` of kernel/printk/printk.c begins it, `[   12.345678] text`,
/// with CONFIG_PRINTK_CALLER `[   12.345678][   T77] text`; or as it is, with `printk.time=0`. `None` where it is a piece.
fn printed_record(text: &str) -> Option<String> {
    // The tracepoint puts a zero in the place of the last newline, and counts it. Pieces have none.
    let whole = text.strip_suffix('\0');
    let lines = whole.unwrap_or(text).lines();
    let texts: Option<Vec<_>> = lines.map(after_time).collect();
    let texts = texts.map(|texts| texts.join("\n"));
    texts.or_else(|| whole.map(str::to_owned))
}

fn after_time(line: &str) -> Option<&str> {
    let (time, rest) = line.strip_prefix('[')?.split_once(']')?;
    let (seconds, micros) = time.trim_start().split_once('.')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(seconds) || !is_number(micros) {
        return None;
    }
    let rest = match rest.strip_prefix('[') {
        Some(caller) => caller.split_once(']')?.1,
        None => rest,
    };
    rest.strip_prefix(' ')
}

/// Whether a record that begins like this may mean something once it is whole. Only the NVIDIA
/// drivers build their lines from pieces.
fn could_begin(text: &str) -> bool {
    begins(text) || BEGINNINGS.iter().any(|b| b.starts_with(text))
}

/// Whether a record of theirs begins with the piece.
fn begins(text: &str) -> bool {
    BEGINNINGS.iter().any(|b| text.starts_with(b))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: u64 = 1_000_000;

    fn feed(console: &mut Console, pieces: &[(u32, u64, &str)]) -> Vec<Occurrence> {
        let mut out = Vec::new();
        for (tid, at, text) in pieces {
            console.feed(*tid, *at, text.as_bytes(), &mut out);
        }
        out
    }

    #[test]
    fn pieces_of_one_thread_are_joined_though_another_thread_logs_between() {
        let mut console = Console::new();
        let out = feed(
            &mut console,
            &[
                (7, 10 * MS, "NVRM: "),
                (8, 11 * MS, "usb 1-1: new high-speed USB device"),
                (7, 12 * MS, "Xid (PCI:0000:3b:00): "),
                (7, 13 * MS, "79, GPU has fallen off the bus."),
            ],
        );
        assert_eq!(out.len(), 1, "{out:?}");
        assert_eq!(out[0].detail.xid.xid, Some(79));
        assert_eq!(
            out[0].message,
            "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus."
        );
        assert_eq!(out[0].boottime_ns, Some(12 * MS).or(out[0].boottime_ns));
    }

    #[test]
    fn pieces_of_different_threads_or_far_apart_are_not_joined() {
        let mut console = Console::new();
        let out = feed(
            &mut console,
            &[(7, 0, "NVRM: "), (8, 1, "Xid (PCI:0000:3b:00): 79, x")],
        );
        assert!(out.is_empty(), "{out:?}");
        let mut console = Console::new();
        let late = JOIN_NS + 1;
        let out = feed(
            &mut console,
            &[(7, 0, "NVRM: "), (7, late, "Xid (PCI:0000:3b:00): 79, x")],
        );
        assert!(out.is_empty(), "{out:?}");
    }

    /// As NVIDIA's driver 535 writes them when a GPU does not start, one thread all of them.
    const FAILED_START: [&str; 4] = [
        "NVRM: GPU 0001:01:00.0: RmInitAdapter failed! (0x62:0x65:1679)",
        "NVRM: GPU 0001:01:00.0: rm_init_adapter failed, device minor number 0",
        "NVRM: kfspDumpDebugState_GH100: NV_PFSP_FALCON_COMMON_SCRATCH_GROUP_2(0) = 0x0",
        "nvidia 0001:01:00.0: the driver says more",
    ];

    #[test]
    fn a_start_that_failed_is_one_event_whatever_its_thread_logs_next() {
        let pieces = (0..).zip(FAILED_START).map(|(at, text)| (7, at * MS, text));
        let out = feed(&mut Console::new(), &pieces.collect::<Vec<_>>());
        assert_eq!(out.len(), 1, "{out:#?}");
        assert_eq!(out[0].message, FAILED_START[0]);
    }

    /// Lines of the driver, of which some mean something by themselves and some with others.
    const LINES: [&str; 8] = [
        FAILED_START[0],
        FAILED_START[1],
        FAILED_START[2],
        "NVRM: GPU at PCI:0001:01:00: GPU-00000000-1111-2222-3333-444444444444",
        "NVRM: Xid (PCI:0001:01:00): 143, pid='<unknown>', name=<unknown>, Timeout while polling",
        "NVRM: GPU 0001:01:00.0: GPU has fallen off the bus.",
        "NVRM: The NVIDIA GPU 0001:01:00.0 (PCI ID: 10de:2330)",
        "NVRM: fallen off the bus and is not responding to commands.",
    ];

    proptest! {
        #[test]
        fn lines_that_begin_a_record_are_read_as_records(
            lines in prop::collection::vec((0..LINES.len(), 1_u64..150), 0..24),
        ) {
            let (mut console, mut decoder) = (Console::default(), Decoder::default());
            let (mut pieces, mut records) = (Vec::new(), Vec::new());
            let mut at = 0;
            for (number, (line, later)) in (1..).zip(lines) {
                at += later * MS;
                console.feed(7, at, LINES[line].as_bytes(), &mut pieces);
                let record = LogRecord {
                    text: LINES[line],
                    timestamp_us: Some(at / 1000),
                    number,
                    ..LogRecord::default()
                };
                decoder.feed(&record, &mut records);
            }
            let decoded = |all: &[Occurrence]| -> Vec<_> {
                all.iter().map(|o| (o.kind, o.message.clone(), o.gpu.clone())).collect()
            };
            prop_assert_eq!(decoded(&pieces), decoded(&records));
        }
    }

    #[test]
    fn what_a_console_prints_before_linux_5_19_is_read_without_its_time() {
        const XID: &str =
            "NVRM: Xid (PCI:0000:3b:00): 79, pid=7, name=a, GPU has fallen off the bus.";
        const LOCKUP: &str = "watchdog: Watchdog detected hard LOCKUP on cpu 3";
        for (release, time) in [
            ("5.15.0-119-generic", "[   12.345678]"),
            ("5.18.19", "[1234567.345678][   T77]"),
        ] {
            let text = format!("{time} {XID}\n{time} {LOCKUP}\0");
            let out = feed(&mut Console::of_kernel(release), &[(7, MS, text.as_str())]);
            let messages: Vec<_> = out.iter().map(|o| o.message.as_str()).collect();
            assert_eq!(messages, [XID, LOCKUP], "{text:?}");
        }
        // With `printk.time=0`. A record that begins as one of the driver's is no piece of the next.
        let lines = [
            (7, MS, "NVRM: the driver says something\0".to_owned()),
            (7, 2 * MS, format!("{XID}\n{LOCKUP}\0")),
        ];
        let lines = lines
            .each_ref()
            .map(|(tid, at, text)| (*tid, *at, text.as_str()));
        let out = feed(&mut Console::of_kernel("5.15.0-119-generic"), &lines);
        let messages: Vec<_> = out.iter().map(|o| o.message.as_str()).collect();
        assert_eq!(messages, [XID, LOCKUP]);
        // Records stand for themselves, whichever thread prints them one after the other.
        let rest = XID.trim_start_matches("NVRM: ");
        let printed = format!("[   12.345678] {rest}");
        let records = [
            (7, MS, "[   12.345678] NVRM: "),
            (7, 2 * MS, printed.as_str()),
        ];
        let mut console = Console::of_kernel("5.15.0-119-generic");
        assert!(feed(&mut console, &records).is_empty());
        // A distribution's kernel that has the later tracepoint shows pieces.
        let mut console = Console::of_kernel("5.14.0-503.11.1.el9_5.x86_64");
        let out = feed(&mut console, &[(7, MS, "NVRM: "), (7, 2 * MS, rest)]);
        assert_eq!(out.len(), 1, "{out:?}");
        // Since then it is the record's own text: of somebody who copies a log into the log, and no line of the driver.
        for release in ["5.19.0", "6.8.0-40-generic"] {
            let text = format!("[   12.345678] {XID}");
            let out = feed(&mut Console::of_kernel(release), &[(7, MS, text.as_str())]);
            assert!(out.is_empty(), "{out:?}");
        }
    }

    #[test]
    fn a_flood_of_beginnings_stays_bounded() {
        let mut console = Console::new();
        for tid in 0..10_000 {
            console.feed(tid, u64::from(tid), b"NVRM: ", &mut Vec::new());
        }
        assert!(console.waiting.len() <= MAX_WAITING);
    }

    #[test]
    fn bytes_that_are_no_utf8_are_read_all_the_same() {
        let mut console = Console::new();
        let mut out = Vec::new();
        console.feed(
            1,
            0,
            b"NVRM: Xid (PCI:0000:3b:00): 79, \xff\xfe fallen",
            &mut out,
        );
        assert_eq!(out.len(), 1);
    }
}
