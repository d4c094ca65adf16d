//! Driver calls: counted exactly, named, with the status that ioctl(2) does not return.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::sync::{Barrier, mpsc};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use gtrace_vm_tests::layout::GTRACE;
use serde_json::Value;

use crate::guest::daemon::Daemon;
use crate::guest::nvrm::{
    AllocForm, GET_INFO, NV_ERR_NO_MEMORY, NV_OK, NV01_MEMORY_LOCAL_USER, NvDevice, Uvm,
    memory_params,
};
use crate::guest::process::Helper;
use crate::guest::stub::{Counter, GPUS, Generation};
use crate::guest::{Guest, PATIENCE, stable, within};

cases! {
    Driver "calls_are_counted_exactly" => exactly, core, patience(180);
    Driver "calls_of_an_older_driver" => older;
    Driver "calls_without_probes_on_the_driver" => tracepoints;
    Driver "calls_of_named_devices_are_counted_once" => named_devices;
    Driver "calls_status_at_exit" => status_at_exit;
    Driver "calls_alloc_of_driver_515" => alloc_515;
    Driver "calls_alloc_of_driver_525" => alloc_525;
    Driver "calls_that_fail_are_events" => failing, core;
    Driver "calls_of_uvm" => uvm;
    Driver "calls_in_profile_and_metrics" => profile;
    Driver "calls_traced_live" => traced;
    Driver "calls_show_who_has_a_gpu_open" => users;
}

pub(super) const HELPERS: &[super::Helper] = &[("controls", controls), ("hold", hold)];

/// A control command that no header names.
const UNNAMED: u32 = 0x2080_fff0;
const THREADS: usize = 4;
/// The daemon reads its statistics out of the kernel every two seconds.
pub(super) const READ_AGAIN: Duration = Duration::from_secs(3);

/// Makes `COUNT` control calls of `CMD` on `DEVICE` in each of four threads.
fn controls(args: &[String]) -> Result<()> {
    let [device, cmd, count] = args else {
        anyhow::bail!("usage: controls DEVICE CMD COUNT");
    };
    let (cmd, count): (u32, u64) = (cmd.parse()?, count.parse()?);
    let start = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                scope.spawn(|| -> Result<()> {
                    let device = NvDevice::open(device)?;
                    start.wait();
                    for _ in 0..count {
                        device.control(cmd)?;
                    }
                    Ok(())
                })
            })
            .collect();
        for thread in threads {
            thread
                .join()
                .map_err(|_| anyhow::anyhow!("a thread panicked"))??;
        }
        anyhow::Ok(())
    })?;
    println!("done");
    // Lives on, so that its row is not one of the ended.
    std::thread::park();
    Ok(())
}

/// A process that has made so many calls of [`GET_INFO`] in each of four threads.
fn calling(each: &str) -> Result<Helper> {
    Helper::ready("controls", &["/dev/nvidia0", &GET_INFO.to_string(), each])
}

/// Opens the devices named and keeps them open.
fn hold(args: &[String]) -> Result<()> {
    let open: Result<Vec<_>> = args.iter().map(NvDevice::open).collect();
    let open = open?;
    println!("open");
    std::thread::park();
    drop(open);
    Ok(())
}

/// The rows of the daemon's statistics, as `gtrace profile` shows them.
pub(super) fn rows(daemon: &Daemon) -> Result<Vec<Value>> {
    let output = daemon.gtrace(&["profile", "--driver", "--json"])?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(
        output.status.success(),
        "profile: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_str(&text).with_context(|| format!("no JSON: {text}"))
}

/// How many calls the rows have that are `ours`.
pub(super) fn counted(rows: &[Value], ours: impl Fn(&Value) -> bool) -> u64 {
    let ours = rows.iter().filter(|row| ours(row));
    ours.filter_map(|row| row["count"].as_u64()).sum()
}

/// Waits until the statistics have `count` calls of `code` by process `pid`; the row.
pub(super) fn row(daemon: &Daemon, pid: u32, code: u32, count: u64) -> Result<Value> {
    let mut last = Vec::new();
    within(PATIENCE, "the statistics have the calls", || {
        last = rows(daemon)?;
        let code = format!("{code:#x}");
        let ours = last
            .iter()
            .find(|r| r["pid"] == pid && r["code"] == code.as_str());
        Ok(ours.filter(|r| r["count"] == count).cloned())
    })
    .with_context(|| format!("{count} calls of {code:#x} by {pid} in {last:#?}"))
}

fn exactly(guest: &mut Guest) -> Result<()> {
    const EACH: u64 = 25_000;
    guest.load_stub(Generation::Current, GPUS)?;
    guest.stub(&format!("status {UNNAMED:#x} 0x56"))?;
    let daemon = guest.daemon(&[])?;
    guest.stub("reset")?;
    let each = EACH.to_string();
    let good = calling(&each)?;
    let bad = Helper::ready(
        "controls",
        &["/dev/nvidiactl", &UNNAMED.to_string(), "2500"],
    )?;
    let counted = |device: &str, code, status| -> Result<u64> {
        let ours = |c: &&Counter| c.device == device && c.code == code && c.status == status;
        Ok(guest
            .stub_counters()?
            .iter()
            .filter(ours)
            .map(|c| c.count)
            .sum())
    };
    let total = EACH * THREADS as u64;
    let answered = counted("nvidia0", GET_INFO, NV_OK)?;
    ensure!(
        answered == total,
        "the stub answered {answered} of {total} calls"
    );
    ensure!(
        counted("nvidiactl", UNNAMED, 0x56)? == 10_000,
        "the stub counted otherwise"
    );
    let fine = row(&daemon, good.pid(), GET_INFO, total)?;
    ensure!(
        fine["device"] == "nvidia0" && fine["gpu"] == "0000:01:00.0",
        "{fine:#}"
    );
    has!(fine, { "code_name": "NV2080_CTRL_CMD_GPU_GET_INFO_V2", "failures": 0, "errors": 0 });
    let failed = row(&daemon, bad.pid(), UNNAMED, 10_000)?;
    has!(failed, { "device": "nvidiactl", "gpu": null, "failures": 10_000, "errors": 0 });
    let statuses = &failed["statuses"];
    ensure!(
        statuses[0]["name"] == "NV_ERR_NOT_SUPPORTED" && statuses[0]["count"] == 10_000,
        "{failed:#}"
    );
    let lost = daemon.get_text("/metrics")?;
    let lost = lost
        .lines()
        .filter(|l| l.starts_with("gtrace_lost_total{source=\"driver calls\""));
    ensure!(lost.clone().count() == 0, "{:?}", lost.collect::<Vec<_>>());
    Ok(())
}

fn older(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Frontend, GPUS)?;
    let daemon = guest.daemon(&[])?;
    let helper = calling("100")?;
    row(&daemon, helper.pid(), GET_INFO, 400)?;
    source_is(&daemon, "driver:ioctl", "active")?;
    source_is(&daemon, "syscalls:ioctl", "off")
}

/// Waits until a source is in a state.
pub(super) fn source_is(daemon: &Daemon, name: &str, state: &str) -> Result<()> {
    let mut last = Value::Null;
    within(PATIENCE, "the source is in the state", || {
        last = source(daemon, name)?;
        Ok((last["state"] == state).then_some(()))
    })
    .with_context(|| format!("{name} is not {state}: {last:#}"))
}

/// The state of a source; null where there is none of the name.
pub(super) fn state(daemon: &Daemon, name: &str) -> Result<Value> {
    Ok(source(daemon, name)?["state"].clone())
}

fn source(daemon: &Daemon, name: &str) -> Result<Value> {
    let sources = daemon.get("/api/v1/sources")?;
    let list = sources.as_array().context("no list of sources")?;
    let found = list.iter().find(|source| source["name"] == name);
    Ok(found.cloned().unwrap_or_default())
}

fn tracepoints(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Current, GPUS)?;
    guest.stub(&format!("status {GET_INFO:#x} 0x51"))?;
    let daemon = guest.daemon(&["--disabled-sources", "driver:ioctl"])?;
    source_is(&daemon, "syscalls:ioctl", "active")?;
    let helper = calling("100")?;
    let row = row(&daemon, helper.pid(), GET_INFO, 400)?;
    ensure!(row["failures"] == 400, "{row:#}");
    Ok(())
}

/// Where devices are named, both ways of seeing a call may be in use, and a call is seen by one.
fn named_devices(guest: &mut Guest) -> Result<()> {
    const CALLS: u64 = 100;
    guest.load_stub(Generation::Current, GPUS)?;
    let daemon = guest.daemon(&["--devices", "195"])?;
    let each = (CALLS / THREADS as u64).to_string();
    let helper = calling(&each)?;
    let seen = stable("the statistics stand still", READ_AGAIN, || {
        Ok(counted(&rows(&daemon)?, |r| {
            r["pid"] == helper.pid() && r["op"] == "RM_CONTROL"
        }))
    })?;
    ensure!(seen == CALLS, "{seen} of {CALLS}: {:#?}", rows(&daemon)?);
    Ok(())
}

/// Every form of RM_ALLOC, RM_FREE and the wrapped call.
fn forms(
    guest: &mut Guest,
    version: &str,
    generation: Generation,
    forms: [AllocForm; 2],
) -> Result<()> {
    const CLASS: u32 = 0xdead;
    guest.load_stub(generation, &format!("{GPUS} version={version}"))?;
    guest.stub(&format!("status {CLASS:#x} 0x1a"))?;
    let daemon = guest.daemon(&["--call-failures", "none"])?;
    let own = std::process::id();
    for wrapped in [false, true] {
        let mut device = NvDevice::open("/dev/nvidiactl")?;
        if wrapped {
            device = device.wrapped();
        }
        for form in forms {
            let status = device.alloc(form, CLASS, 0x5c00_0001, None)?;
            ensure!(status == 0x1a, "{form:?} answered {status:#x}");
            let status = device.alloc(form, 0x80, 0x5c00_0002, None)?;
            ensure!(status == NV_OK, "{form:?} answered {status:#x}");
        }
    }
    let seen = within(PATIENCE, "the statistics have every form", || {
        let rows = rows(&daemon)?;
        let of = |code: &str| -> Vec<Value> {
            let ours = |r: &&Value| r["pid"] == own && r["op"] == "RM_ALLOC" && r["code"] == code;
            rows.iter().filter(ours).cloned().collect()
        };
        let sum = |rows: &[Value], field: &str| -> u64 {
            rows.iter().filter_map(|r| r[field].as_u64()).sum()
        };
        let (bad, good) = (of("0xdead"), of("0x80"));
        let all = sum(&bad, "count") == 4 && sum(&good, "count") == 4;
        Ok(all.then_some((bad, good)))
    })?;
    for row in &seen.0 {
        has!(row, { "failures": row["count"], "errors": 0, "statuses/0/name": "NV_ERR_INSUFFICIENT_RESOURCES" });
    }
    for row in &seen.1 {
        has!(row, { "failures": 0, "code_name": "NV01_DEVICE_0" });
    }
    Ok(())
}

fn status_at_exit(guest: &mut Guest) -> Result<()> {
    let new = [AllocForm::Short535, AllocForm::Long535];
    forms(guest, "580.95.05", Generation::Current, new)
}

fn alloc_515(guest: &mut Guest) -> Result<()> {
    let old = [AllocForm::Short515, AllocForm::Long515];
    forms(guest, "515.43.04", Generation::Frontend, old)
}

fn alloc_525(guest: &mut Guest) -> Result<()> {
    let old = [AllocForm::Short515, AllocForm::Long525];
    forms(guest, "525.60.11", Generation::Frontend, old)
}

/// A GPU that is full: NV_ERR_NO_MEMORY in the structure, 0 from ioctl(2), an event.
fn failing(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Current, &format!("{GPUS} vram_mb=100"))?;
    let daemon = guest.daemon(&[])?;
    let device = NvDevice::open("/dev/nvidia0")?;
    let alloc = |object, mib: u64| {
        let mut params = memory_params(mib << 20);
        device.alloc(
            AllocForm::Long535,
            NV01_MEMORY_LOCAL_USER,
            object,
            Some(&mut params),
        )
    };
    ensure!(alloc(1, 60)? == NV_OK, "60 of 100 MiB");
    for object in 2..5 {
        ensure!(alloc(object, 60)? == NV_ERR_NO_MEMORY, "120 of 100 MiB");
    }
    ensure!(device.free(1)? == NV_OK, "free");
    ensure!(alloc(9, 60)? == NV_OK, "60 of 100 MiB again");
    let event = daemon.event("an event of the failed allocation", |e| {
        e["kind"] == "api_error" && e["repeats"] == 2
    })?;
    let detail = &event["detail"];
    ensure!(detail["status_name"] == "NV_ERR_NO_MEMORY", "{event:#}");
    ensure!(detail["code_name"] == "NV01_MEMORY_LOCAL_USER", "{event:#}");
    ensure!(event["gpu"]["pci"] == "0000:01:00.0", "{event:#}");
    has!(event, { "process/pid": std::process::id(), "witnesses/0/source": "driver:ioctl", "severity": "warning" });
    Ok(())
}

fn uvm(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Current, GPUS)?;
    guest.stub("status 51 0x51")?;
    let daemon = guest.daemon(&[])?;
    let device = NvDevice::open("/dev/nvidia-uvm")?;
    ensure!(device.uvm(Uvm::Initialize)? == NV_OK, "initialise");
    ensure!(device.uvm(Uvm::Migrate)? == NV_ERR_NO_MEMORY, "migrate");
    let row = within(PATIENCE, "the statistics have UVM_MIGRATE", || {
        let rows = rows(&daemon)?;
        Ok(rows.iter().find(|r| r["op"] == "UVM_MIGRATE").cloned())
    })?;
    has!(row, { "device": "nvidia-uvm", "failures": 1, "statuses/0/name": "NV_ERR_NO_MEMORY" });
    Ok(())
}

fn profile(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Current, GPUS)?;
    guest.stub(&format!("status {GET_INFO:#x} 0x51 7"))?;
    let daemon = guest.daemon(&[])?;
    let helper = calling("50")?;
    row(&daemon, helper.pid(), GET_INFO, 200)?;
    let output = daemon.gtrace(&["profile", "--driver", "--pid", &helper.pid().to_string()])?;
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    for text in ["GPU_GET_INFO_V2", "nvidia0", "NV_ERR_NO_MEMORY x 7"] {
        ensure!(table.contains(text), "{text} is not in\n{table}");
    }
    let metrics = daemon.get_text("/metrics")?;
    let code = "op=\"RM_CONTROL\",code=\"NV2080_CTRL_CMD_GPU_GET_INFO_V2\",device=\"nvidia0\",gpu=\"0000:01:00.0\"";
    for line in [
        format!("gtrace_driver_calls_total{{{code}}} 200"),
        format!("gtrace_driver_call_failures_total{{{code},status=\"NV_ERR_NO_MEMORY\"}} 7"),
    ] {
        ensure!(metrics.contains(&line), "{line} is not in\n{metrics}");
    }
    Ok(())
}

fn traced(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Current, GPUS)?;
    guest.stub(&format!("status {GET_INFO:#x} 0x51"))?;
    let own = std::process::id().to_string();
    let mut trace = Command::new(GTRACE)
        .args(["trace", "--driver", "--json", "--pid", &own])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut first_line = String::new();
    let mut errors = BufReader::new(trace.stderr.take().context("no stderr")?);
    errors.read_line(&mut first_line)?;
    ensure!(first_line.contains("probes on the driver"), "{first_line}");
    let output = BufReader::new(trace.stdout.take().context("no stdout")?);
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in output.lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    let device = NvDevice::open("/dev/nvidiactl")?;
    ensure!(device.control(GET_INFO)? == 0x51, "no failure");
    ensure!(device.control(UNNAMED)? == NV_OK, "a failure");
    device.free(0x5c00_0042)?;
    // The driver chooses the handle.
    let allocated = device.alloc(AllocForm::Long535, 0x80, 0, None)?;
    ensure!(allocated == NV_OK, "{allocated:#x}");
    // Another process's calls are not shown.
    calling("5")?;
    // Calls are shown in their order: with this one, all before it have been.
    ensure!(device.control(UNNAMED)? == NV_OK, "a failure");
    let mut text = String::new();
    for nth in ["opening", "first", "second", "third", "fourth", "fifth"] {
        let line = lines.recv_timeout(PATIENCE);
        text.push_str(&line.with_context(|| format!("the {nth} call is not shown"))?);
        text.push('\n');
    }
    let pid = rustix::process::Pid::from_child(&trace);
    rustix::process::kill_process(pid, rustix::process::Signal::INT)?;
    trace.wait()?;
    // The thread ends with the trace's output.
    for line in lines {
        text.push_str(&line);
        text.push('\n');
    }
    let calls: Vec<Value> = text
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;
    let [opening, first, second, freeing, allocating, last] = &calls[..] else {
        anyhow::bail!("{text}");
    };
    ensure!(opening["op"] == "OPEN" && opening["ret"] == 0, "{text}");
    ensure!(
        first["status_name"] == "NV_ERR_NO_MEMORY" && first["ret"] == 0,
        "{text}"
    );
    ensure!(first["device"] == "nvidiactl", "{text}");
    ensure!(
        freeing["op"] == "RM_FREE" && freeing["handles"][1] == "0x5c000042",
        "{text}"
    );
    let chosen = allocating["handles"][1].as_str().unwrap_or_default();
    ensure!(
        allocating["op"] == "RM_ALLOC" && chosen.len() > "0x0".len(),
        "{text}"
    );
    for call in [second, last] {
        ensure!(
            call["status"] == "0x0" && call["code"] == "0x2080fff0",
            "{text}"
        );
    }
    Ok(())
}

fn users(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Current, GPUS)?;
    let before = Helper::ready("hold", &["/dev/nvidia0"])?;
    let daemon = guest.daemon(&[])?;
    let after = Helper::ready(
        "hold",
        &["/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia-uvm"],
    )?;
    let devices = |pid: u32| -> Result<Option<Value>> {
        let status = daemon.get("/api/v1/status")?;
        let list = status["gpu_processes"]
            .as_array()
            .context("no list")?
            .clone();
        Ok(list
            .into_iter()
            .find(|p| p["pid"] == pid)
            .map(|p| p["devices"].clone()))
    };
    let shown = |pid: u32, what: &str, wanted: Option<Value>| {
        within(PATIENCE, what, || {
            Ok((devices(pid)? == wanted).then_some(()))
        })
    };
    shown(
        before.pid(),
        "the earlier user is shown",
        Some(serde_json::json!(["nvidia0"])),
    )?;
    let all = serde_json::json!(["nvidia0", "nvidiactl", "nvidia-uvm"]);
    shown(after.pid(), "the later user is shown", Some(all))?;
    let (first, second) = (before.pid(), after.pid());
    for helper in [before, after] {
        helper.signal(rustix::process::Signal::KILL)?;
        helper.wait()?;
    }
    shown(first, "the earlier user is gone", None)?;
    shown(second, "the later user is gone", None)
}
