//! `gtrace trace --driver --pid N`: every driver call of a process as it happens, as strace would
//! show it, without stopping the process.

use std::cell::RefCell;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gtrace_abi::{CallRecord, Config, NO_STATUS};
use gtrace_event::WitnessName;
use jiff::tz::TimeZone;
use serde_json::json;

use super::profile::time;
use super::{USAGE, not_possible};
use crate::bpf::{self, AttachState, Probes, ProbesOptions, RingRecord, Tracefs, drain};
use crate::cli::run::explain_load;
use crate::clock;
use crate::config;
use crate::sources::driver::Follower;
use crate::sources::operation::{Operation, status_text};
use crate::sources::watched::{self, DeviceNames};
use crate::sources::{layouts, records};

/// Between looks at whether the process still lives.
const ALIVE_EVERY: Duration = Duration::from_millis(200);

/// Show the driver calls of a running process, live.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Calls into the NVIDIA driver (the only trace so far).
    #[arg(long)]
    driver: bool,
    /// The process.
    #[arg(long)]
    pid: u32,
    /// Only calls that failed.
    #[arg(long)]
    failed: bool,
    /// Only calls that took at least so many microseconds.
    #[arg(long, value_name = "US", default_value_t = 0)]
    slower_than: u64,
    /// One JSON object a call.
    #[arg(long)]
    json: bool,
    /// Device nodes instead of the driver's own: `MAJOR[:MINOR]`, with commas.
    #[arg(long, default_value = "auto")]
    devices: String,
}

/// Runs the command.
///
/// # Errors
///
/// What standard output says, a closed pipe aside.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if !args.driver {
        eprintln!("gtrace: say what to trace: --driver (calls into the NVIDIA driver)");
        return Ok(ExitCode::from(USAGE));
    }
    let process = PathBuf::from(format!("/proc/{}", args.pid));
    if !process.exists() {
        eprintln!("gtrace: there is no process {}", args.pid);
        return Ok(ExitCode::from(USAGE));
    }
    let devices = match config::parse_devices(&args.devices) {
        Ok(devices) => devices,
        Err(error) => {
            eprintln!("gtrace: {error}");
            return Ok(ExitCode::from(USAGE));
        }
    };
    let mut probes = match prepare(&args, devices) {
        Ok(probes) => probes,
        Err(error) => return Ok(not_possible(&error)),
    };
    let rings = probes.take_rings()?;
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signal(&stop)?;
    let names = DeviceNames::read(Path::new("/proc"));
    let mut out = Output::new(&args, &names);
    eprintln!(
        "gtrace: tracing process {} by {}; end with Ctrl-C",
        args.pid,
        way(&probes)
    );
    let mut looked = Instant::now();
    // Both closures need it, one at a time.
    let shared = RefCell::new(&mut out);
    drain(
        rings,
        &stop,
        |record| {
            if let Some(RingRecord::Call(call)) = record {
                shared.borrow_mut().call(&call);
            }
        },
        || {
            if !shared.borrow_mut().flush() {
                stop.store(true, Ordering::Relaxed);
            }
            if looked.elapsed() >= ALIVE_EVERY {
                looked = Instant::now();
                if !process.exists() {
                    stop.store(true, Ordering::Relaxed);
                }
            }
            false
        },
    );
    probes.detach();
    let lost: Vec<_> = probes
        .counters()
        .into_iter()
        .filter(|(_, n)| *n > 0)
        .map(|(counter, n)| format!("{} {n}", counter.name()))
        .collect();
    out.end(&lost);
    Ok(ExitCode::SUCCESS)
}

/// Loads the probes and attaches those that see driver calls, for one process.
fn prepare(args: &Args, devices: Option<Vec<gtrace_abi::DeviceFilter>>) -> anyhow::Result<Probes> {
    let tracefs = Tracefs::find()?;
    let wanted = [WitnessName::DriverIoctl, WitnessName::SyscallIoctl];
    let options = ProbesOptions {
        off: WitnessName::ALL
            .into_iter()
            .filter(|w| !wanted.contains(w))
            .collect(),
        ring_bytes: 4096,
        ..ProbesOptions::default()
    };
    let layout = bpf::read_layout(&tracefs);
    let mut probes = Probes::load(layout, options).map_err(|error| explain_load(&error))?;
    let auto = devices.is_none();
    let mut follower = Follower::new(Path::new("/sys"), auto);
    if auto {
        follower.follow(&mut probes, &tracefs);
    }
    let mut config = Config {
        trace_tgid: args.pid,
        decode: layouts::decode(follower.version()),
        ..Config::default()
    };
    let devices = devices.unwrap_or_else(|| watched::nvidia_devices(Path::new("/proc")));
    for (slot, filter) in config.devices.iter_mut().zip(devices) {
        *slot = filter;
    }
    probes.configure(&config)?;
    probes.attach(&tracefs);
    if wanted.iter().any(|w| probes.has(*w)) {
        return Ok(probes);
    }
    let reasons: Vec<_> = wanted
        .iter()
        .filter_map(|w| match probes.states().get(w) {
            Some(AttachState::Absent(reason) | AttachState::Failed(reason)) => {
                Some(format!("{}: {reason}", w.name()))
            }
            _ => None,
        })
        .collect();
    anyhow::bail!(
        "driver calls cannot be traced here: {}; `gtrace doctor` says more",
        reasons.join("; ")
    )
}

fn way(probes: &Probes) -> &'static str {
    if probes.has(WitnessName::DriverIoctl) {
        "probes on the driver's functions"
    } else {
        "the tracepoints of ioctl(2)"
    }
}

fn stop_on_signal(stop: &Arc<AtomicBool>) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let stop = Arc::clone(stop);
    std::thread::Builder::new()
        .name("gtrace-signal".to_owned())
        .spawn(move || {
            runtime.block_on(async {
                // Without the handler, the signal ends the process by itself.
                let _ = tokio::signal::ctrl_c().await;
            });
            stop.store(true, Ordering::Relaxed);
        })?;
    Ok(())
}

/// Prints calls and counts them.
struct Output<'a> {
    args: &'a Args,
    names: &'a DeviceNames,
    out: BufWriter<std::io::Stdout>,
    zone: TimeZone,
    open: bool,
    since: Instant,
    calls: u64,
    failed: u64,
}

impl<'a> Output<'a> {
    fn new(args: &'a Args, names: &'a DeviceNames) -> Self {
        Self {
            args,
            names,
            out: BufWriter::new(std::io::stdout()),
            zone: TimeZone::system(),
            open: true,
            since: Instant::now(),
            calls: 0,
            failed: 0,
        }
    }

    fn call(&mut self, call: &CallRecord) {
        self.calls += 1;
        let failed =
            call.ret < 0 || call.status != NO_STATUS && gtrace_nvrm::is_failure(call.status);
        self.failed += u64::from(failed);
        let slow = call.latency_ns >= self.args.slower_than.saturating_mul(1000);
        if !slow || self.args.failed && !failed {
            return;
        }
        let line = if self.args.json {
            self.json(call)
        } else {
            self.text(call)
        };
        self.open &= writeln!(self.out, "{line}").is_ok();
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
            time(call.latency_ns),
        )
    }

    fn json(&self, call: &CallRecord) -> String {
        let operation = Operation::new(call.cmd, call.code);
        let began = call.header.boottime_ns.saturating_sub(call.latency_ns);
        let status = (call.status != NO_STATUS).then(|| format!("{:#x}", call.status));
        json!({
            "time": clock::wall_time(began).to_string(),
            "pid": call.header.tgid,
            "tid": call.header.tid,
            "comm": records::text_of(&call.comm),
            "device": self.names.name(call.rdev),
            "ioctl": operation.ioctl,
            "op": operation.op,
            "code": operation.code,
            "code_name": operation.code_name,
            "handles": call.handles.map(|handle| format!("{handle:#x}")),
            "ret": call.ret,
            "status": status,
            "status_name": status_text(call.status),
            "latency_ns": call.latency_ns,
        })
        .to_string()
    }

    /// False once nobody reads any more.
    fn flush(&mut self) -> bool {
        self.open &= self.out.flush().is_ok();
        self.open
    }

    fn end(&mut self, lost: &[String]) {
        self.flush();
        let lost = match lost {
            [] => String::new(),
            lost => format!("; lost: {}", lost.join(", ")),
        };
        eprintln!(
            "gtrace: {} calls in {:.1} s, {} failed{lost}",
            self.calls,
            self.since.elapsed().as_secs_f64(),
            self.failed
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args() -> Args {
        Args {
            driver: true,
            pid: 1,
            failed: false,
            slower_than: 0,
            json: false,
            devices: "auto".into(),
        }
    }

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
        let (args, names) = (args(), DeviceNames::default());
        let out = Output::new(&args, &names);
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
    fn failures_are_counted_by_status_and_by_errno() {
        let (args, names) = (
            Args {
                failed: true,
                slower_than: u64::MAX,
                ..args()
            },
            DeviceNames::default(),
        );
        let mut out = Output::new(&args, &names);
        for (ret, status) in [(0, 0), (0, 0x51), (-22, NO_STATUS), (0, NO_STATUS)] {
            out.call(&record(ret, status));
        }
        assert_eq!((out.calls, out.failed), (4, 2));
    }
}
