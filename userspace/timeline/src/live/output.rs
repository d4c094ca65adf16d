//! Calls into the driver as lines of text, as strace has them, or of JSON.

use std::io::{self, BufWriter, Write};
use std::time::Instant;

use gtrace_abi::{CallRecord, Counter, NO_STATUS};
use gtrace_engine::clock;
use gtrace_engine::sources::operation::{Operation, status_text};
use gtrace_engine::sources::records;
use gtrace_engine::sources::watched::DeviceNames;
use jiff::tz::TimeZone;
use serde::Serialize;

use gtrace_profile::text::duration;

use super::tracer::Sink;

/// What the probes count that keeps a call from being shown.
const LOST: [Counter; 5] = [
    Counter::CallRingFull,
    Counter::CallsInFlightFull,
    Counter::ReturnMissed,
    Counter::DeviceReadFailed,
    Counter::FieldReadFailed,
];

/// Which calls are shown, and how.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shown {
    /// Only those that failed.
    pub failed: bool,
    /// Only those that took at least so long.
    pub slower_than_ns: u64,
    /// As JSON.
    pub json: bool,
}

/// Prints calls and counts them.
pub struct Output<W: Write> {
    shown: Shown,
    out: BufWriter<W>,
    /// Names of the device files, as they are now.
    names: DeviceNames,
    zone: TimeZone,
    /// Whether the reader is there; what else keeps from writing.
    open: io::Result<()>,
    since: Instant,
    calls: u64,
    failed: u64,
}

/// A call as a JSON object; the names are those of /api/v1/histograms.
#[serde_with::skip_serializing_none]
#[derive(Serialize)]
struct Line {
    time: String,
    pid: u32,
    tid: u32,
    comm: String,
    device: String,
    ioctl: String,
    op: Option<String>,
    code: Option<String>,
    code_name: Option<String>,
    handles: [String; 2],
    ret: i64,
    status: Option<String>,
    status_name: Option<&'static str>,
    latency_ns: u64,
}

impl<W: Write> Output<W> {
    /// Prints to `out`.
    pub fn new(shown: Shown, out: W) -> Self {
        Self {
            shown,
            out: BufWriter::new(out),
            names: DeviceNames::default(),
            zone: TimeZone::system(),
            open: Ok(()),
            since: Instant::now(),
            calls: 0,
            failed: 0,
        }
    }

    fn text(&self, call: &CallRecord) -> String {
        let began = call.header.boottime_ns.saturating_sub(call.latency_ns);
        let at = clock::wall_time(began).to_zoned(self.zone.clone());
        let operation = Operation::new(call.cmd, call.code);
        let device = self.names.name(call.rdev);
        let handles = match call.handles {
            [0, 0] => String::new(),
            [client, object] => format!(", client {client:#x}, object {object:#x}"),
        };
        let result = match (call.ret, status_text(call.status)) {
            (ret, _) if ret < 0 => {
                let errno = i32::try_from(-ret).unwrap_or(0);
                format!("-1 ({})", std::io::Error::from_raw_os_error(errno))
            }
            (ret, Some(status)) => format!("{ret} {status}"),
            (ret, None) => ret.to_string(),
        };
        format!(
            "{} {} {}({device}{handles}) = {result} <{}>",
            at.strftime("%H:%M:%S%.6f"),
            call.header.tid,
            operation.text(),
            duration(call.latency_ns),
        )
    }

    fn json(&self, call: &CallRecord) -> String {
        let Operation {
            ioctl,
            op,
            code,
            code_name,
        } = Operation::new(call.cmd, call.code);
        let began = call.header.boottime_ns.saturating_sub(call.latency_ns);
        let status = (call.status != NO_STATUS).then_some(call.status);
        let line = Line {
            time: clock::wall_time(began).to_string(),
            pid: call.header.tgid,
            tid: call.header.tid,
            comm: records::text_of(&call.comm),
            device: self.names.name(call.rdev),
            ioctl,
            op,
            code,
            code_name,
            handles: call.handles.map(|handle| format!("{handle:#x}")),
            ret: call.ret,
            status: status.map(|status| format!("{status:#x}")),
            status_name: status.and_then(gtrace_nvrm::status_name),
            latency_ns: call.latency_ns,
        };
        // Strings and numbers under fixed names: there is nothing that JSON could not say.
        serde_json::to_string(&line).unwrap_or_default()
    }

    /// Ends, with what kept it from writing, a closed pipe too.
    ///
    /// # Errors
    ///
    /// That.
    pub fn end(self) -> io::Result<()> {
        // Written above, or refused before.
        drop(self.out.into_parts());
        self.open
    }

    /// The last line: how much was seen, and what not.
    pub fn summary(&self, counters: &[(Counter, u64)]) -> String {
        let seconds = self.since.elapsed().as_secs_f64();
        let (calls, failed) = (self.calls, self.failed);
        let mut text = format!("{calls} calls in {seconds:.1} s, {failed} failed");
        // Those calls are shown, without operation or status.
        let unreadable = count(counters, Counter::ParametersUnreadable);
        if unreadable > 0 {
            text.push_str(&format!("; unreadable parameters {unreadable}"));
        }
        text.push_str(&lost_text(counters));
        text
    }
}

impl<W: Write> Sink for Output<W> {
    /// Counts a call and prints it, if it is one that was asked for.
    fn call(&mut self, call: &CallRecord) {
        self.calls += 1;
        let failed =
            call.ret < 0 || call.status != NO_STATUS && gtrace_nvrm::is_failure(call.status);
        self.failed += u64::from(failed);
        let slow = call.latency_ns >= self.shown.slower_than_ns;
        if !slow || self.shown.failed && !failed {
            return;
        }
        let line = if self.shown.json {
            self.json(call)
        } else {
            self.text(call)
        };
        if self.open.is_ok() {
            self.open = writeln!(self.out, "{line}");
        }
    }

    fn calls(&self) -> u64 {
        self.calls
    }

    fn set_names(&mut self, names: DeviceNames) {
        self.names = names;
    }

    fn flush(&mut self) -> bool {
        if self.open.is_ok() {
            self.open = self.out.flush();
        }
        self.open.is_ok()
    }
}

fn count(counters: &[(Counter, u64)], counter: Counter) -> u64 {
    let found = counters.iter().find(|(c, _)| *c == counter);
    found.map_or(0, |(_, n)| *n)
}

/// What was lost, with what goes before it; nothing if nothing was.
pub(super) fn lost_text(counters: &[(Counter, u64)]) -> String {
    let lost = LOST.map(|counter| (counter.name(), count(counters, counter)));
    let lost = lost.into_iter().filter(|(_, n)| *n > 0);
    let lost: Vec<_> = lost.map(|(name, n)| format!("{name} {n}")).collect();
    match lost.is_empty() {
        true => String::new(),
        false => format!("; lost: {}", lost.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn record(ret: i64, status: u32) -> CallRecord {
        CallRecord {
            latency_ns: 12_300,
            ret,
            cmd: 0xc020_462a,
            rdev: 195 << 20 | 255,
            code: 0x2080_0102,
            status,
            handles: [0xc1d0_0001, 0x5c00_0002],
            ..CallRecord::default()
        }
    }

    #[test]
    fn a_call_reads_as_in_strace() {
        let out = Output::new(Shown::default(), Vec::new());
        let text = out.text(&record(0, 0x51));
        assert!(
            text.ends_with(
                "RM_CONTROL NV2080_CTRL_CMD_GPU_GET_INFO_V2(nvidiactl, client 0xc1d00001, object \
                 0x5c000002) = 0 NV_ERR_NO_MEMORY <12.3us>"
            ),
            "{text}"
        );
        let refused = out.text(&record(-22, NO_STATUS));
        assert!(refused.contains("= -1 (Invalid argument"), "{refused}");
    }

    #[test]
    fn json_leaves_out_what_is_not_known() {
        let out = Output::new(Shown::default(), Vec::new());
        let line =
            |record: &CallRecord| -> Value { serde_json::from_str(&out.json(record)).unwrap() };
        let named = line(&record(0, 0x51));
        assert_eq!(
            (&named["status"], &named["status_name"], &named["op"]),
            (
                &json!("0x51"),
                &json!("NV_ERR_NO_MEMORY"),
                &json!("RM_CONTROL")
            )
        );
        let unnamed = line(&record(0, 0xfff0));
        assert_eq!(unnamed["status"], "0xfff0");
        assert_eq!(unnamed.get("status_name"), None);
        let mut foreign = record(0, NO_STATUS);
        (foreign.cmd, foreign.code) = (0x5401, 0);
        let foreign = line(&foreign);
        for name in ["op", "code", "code_name", "status", "status_name"] {
            assert_eq!(foreign.get(name), None, "{name}");
        }
        assert_eq!(foreign["ioctl"], "0x5401");
    }

    #[test]
    fn failures_are_counted_by_status_and_by_errno() {
        let shown = Shown {
            failed: true,
            slower_than_ns: u64::MAX,
            ..Shown::default()
        };
        let mut out = Output::new(shown, Vec::new());
        for (ret, status) in [(0, 0), (0, 0x51), (-22, NO_STATUS), (0, NO_STATUS)] {
            out.call(&record(ret, status));
        }
        assert_eq!((out.calls, out.failed), (4, 2));
    }

    #[test]
    fn the_summary_names_as_lost_only_calls_that_are_not_shown() {
        let out = Output::new(Shown::default(), Vec::new());
        let all: Vec<_> = Counter::ALL.iter().map(|c| (*c, 7)).collect();
        let text = out.summary(&all);
        let (seen, lost) = text.split_once("; lost: ").unwrap();
        assert!(seen.ends_with("; unreadable parameters 7"), "{text}");
        assert_eq!(
            lost,
            "call_ring_full 7, calls_in_flight_full 7, return_missed 7, device_read_failed 7, \
             field_read_failed 7"
        );
        let nothing: Vec<_> = Counter::ALL.iter().map(|c| (*c, 0)).collect();
        assert!(out.summary(&nothing).ends_with(" 0 failed"));
    }
}
