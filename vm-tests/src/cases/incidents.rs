//! Incidents: what real kernels report of one fault is one incident, with what was kept of that time.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use gtrace_vm_tests::layout::FAKE_NVML;
use rustix::process::Signal;
use serde_json::Value;

use super::calls::source_is;
use super::pcie::{COMPLETION_TIMEOUT, GPU, inject, watched_with};
use super::process::group;
use super::reload::rss_anon;
use crate::guest::daemon::Daemon;
use crate::guest::nvrm::{AllocForm, NV_OK, NV01_MEMORY_LOCAL_USER, NvDevice, memory_params};
use crate::guest::process::Helper;
use crate::guest::stub::{GPUS, Generation};
use crate::guest::{Guest, PATIENCE, within};

cases! {
    PcieInject "incident_of_pcie_gpu_and_process" => pcie, core;
    Driver "incident_of_a_hung_call" => hung;
    Driver "incident_of_a_full_group" => full_group;
    Driver "incident_of_a_leak" => leak, patience(240);
    Driver "incident_of_heat" => heat;
    Driver "incident_of_an_upgrade_under_a_program" => upgrade;
    Driver "incident_of_a_link_and_its_peer" => link;
    Driver "incident_of_an_application" => application;
    Driver "incidents_of_two_faults_at_once" => two;
    Driver "incidents_of_a_storm" => storm, patience(300);
}

pub(super) const HELPERS: &[super::Helper] =
    &[("use", use_it), ("leak", leak_it), ("mismatch", mismatch)];

/// A recording ends so long after the opening here.
const AFTER: &str = "3";

/// GPUs of which only the first is a PCI function here. Of the others the stub has no device to give to that probe, as the
/// driver always has.
const WITHOUT_FUNCTIONS: [&str; 2] = ["--disabled-sources", "nv_report_error"];

/// Readings of a GPU to which nothing has happened.
const READINGS: &str = "bus 1\nreasons 0\nviolation 0\nremap_pending 0\n";

/// Opens the device from within a control group, and waits to be killed.
fn use_it(args: &[String]) -> Result<()> {
    let [device, group] = args else {
        anyhow::bail!("usage: use DEVICE GROUP");
    };
    fs::write(Path::new(group).join("cgroup.procs"), "0")?;
    let _device = NvDevice::open(device)?;
    println!("begun");
    loop {
        std::thread::sleep(Duration::from_secs(60));
    }
}

/// Opens the device, waits until a file is there, and takes memory until the driver refuses it.
fn leak_it(args: &[String]) -> Result<()> {
    let [device, go] = args else {
        anyhow::bail!("usage: leak DEVICE FILE");
    };
    let device = NvDevice::open(device)?;
    println!("begun");
    // For as long as the case takes, which kills it at its end.
    while !Path::new(go).exists() {
        std::thread::sleep(Duration::from_millis(50));
    }
    for handle in 1.. {
        let mut params = memory_params(8 << 20);
        let status = device.alloc(
            AllocForm::Long535,
            NV01_MEMORY_LOCAL_USER,
            handle,
            Some(&mut params),
        )?;
        if status != NV_OK {
            std::process::exit(1);
        }
    }
    Ok(())
}

/// Asks the driver whether it is of the version of a library, and ends if not, as CUDA does.
fn mismatch(args: &[String]) -> Result<()> {
    let [device, version] = args else {
        anyhow::bail!("usage: mismatch DEVICE VERSION");
    };
    let device = NvDevice::open(device)?;
    if device.check_version(version).is_err() {
        std::process::exit(1);
    }
    Ok(())
}

/// All incidents, once `fits` says so.
fn all(daemon: &Daemon, what: &str, fits: impl Fn(&[Value]) -> bool) -> Result<Vec<Value>> {
    let mut last = Value::Null;
    let found = within(PATIENCE, what, || {
        last = daemon.get("/api/v1/incidents")?;
        let all = last.as_array().context("no list")?;
        Ok(fits(all).then(|| all.clone()))
    });
    found.with_context(|| format!("{last:#}{}", daemon.log_end()))
}

/// The one incident that there is, once it is as `fits` says.
fn one(daemon: &Daemon, what: &str, fits: impl Fn(&Value) -> bool) -> Result<Value> {
    let mut incidents = all(daemon, what, |all| all.iter().any(&fits))?;
    ensure!(incidents.len() == 1, "one incident wanted: {incidents:#?}");
    Ok(incidents.remove(0))
}

/// Waits for the one incident to be of `class` with this chain of kinds, `["xid", "gpu_process_exit"]`, and its report
/// to verify.
fn whole(daemon: &Daemon, class: &str, chain: &[[&str; 2]]) -> Result<Value> {
    let links = |incident: &Value| incident["chain"].as_array().map_or(0, Vec::len);
    let incident = one(daemon, "the incident, its causes and its evidence", |i| {
        has_evidence(i) && links(i) >= chain.len()
    })?;
    ensure!(incident["class"] == class, "{incident:#}");
    let found = kinds_of_chain(daemon, &incident)?;
    for link in chain {
        ensure!(
            found.iter().any(|kinds| kinds == link),
            "{link:?} is no link of {found:?}: {incident:#}"
        );
    }
    report(daemon, &incident)?;
    Ok(incident)
}

/// The kinds of the two ends of each link of its chain.
fn kinds_of_chain(daemon: &Daemon, incident: &Value) -> Result<Vec<[String; 2]>> {
    let kind = |id: &Value| -> Result<String> {
        let id = id.as_str().context("no id")?;
        let event = daemon.get(&format!("/api/v1/events/{id}"))?;
        Ok(event["kind"].as_str().context("no kind")?.to_owned())
    };
    let chain = incident["chain"].as_array().map_or(&[][..], Vec::as_slice);
    let ends = chain
        .iter()
        .map(|link| Ok([kind(&link["from"])?, kind(&link["to"])?]));
    ends.collect()
}

/// A daemon that is asked for what it has of a process that uses a GPU until it has it.
fn knows(daemon: &Daemon, pid: u32) -> Result<()> {
    within(PATIENCE, "the daemon knows the process", || {
        let status = daemon.get("/api/v1/status")?;
        let users = status["gpu_processes"].as_array().context("no list")?;
        Ok(users.iter().any(|user| user["pid"] == pid).then_some(()))
    })
}

/// A daemon whose NVML is the fake, with readings out of a file, which is returned.
fn with_readings(guest: &mut Guest, args: &[&str]) -> Result<(Daemon, PathBuf)> {
    let path = guest.scratch().join("readings");
    fs::write(&path, READINGS)?;
    let nvml = ["--nvml-library", FAKE_NVML, "--nvml-interval-s", "1"];
    let after = ["--recording-after-s", AFTER];
    let daemon = guest.daemon_with(
        &[&nvml[..], &after, args].concat(),
        &[("FAKE_NVML_READINGS", &path.to_string_lossy())],
    )?;
    Ok((daemon, path))
}

/// Waits until what was read of the host and its processes is kept with the incident.
fn state_is_kept(daemon: &Daemon) -> Result<()> {
    within(PATIENCE, "the state of the host is kept", || {
        let incidents = match fs::read_dir(daemon.dir().join("evidence")) {
            Ok(incidents) => incidents,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mut kept = incidents.flatten().map(|of| of.path().join("host.json"));
        Ok(kept.any(|file| file.exists()).then_some(()))
    })
}

fn has_evidence(incident: &Value) -> bool {
    incident["evidence"]
        .as_array()
        .is_some_and(|e| !e.is_empty())
}

/// The parts of its report, in a directory.
fn report(daemon: &Daemon, incident: &Value) -> Result<std::path::PathBuf> {
    let id = incident["id"].as_str().context("no id")?;
    let file = daemon.dir().join(format!("{id}.html"));
    let parts = daemon.dir().join(format!("{id}-parts"));
    let (file, to) = (file.to_string_lossy(), parts.to_string_lossy());
    let calls: [&[&str]; 3] = [
        &["report", "--incident", id, "--out", &file],
        &["report", "verify", &file],
        &["report", "open", &file, "--to", &to],
    ];
    for args in calls {
        let output = daemon.gtrace(args)?;
        ensure!(
            output.status.success(),
            "{args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(parts)
}

fn text(parts: &Path, name: &str) -> Result<String> {
    let path = parts.join(name);
    fs::read_to_string(&path).with_context(|| format!("{}", path.display()))
}

/// An error of the PCIe port, then the GPU's Xid, then the process that used it ends.
fn pcie(guest: &mut Guest) -> Result<()> {
    let daemon = watched_with(guest, &["--recording-after-s", AFTER])?;
    let group = group("job-incident")?;
    let helper = Helper::ready("use", &["/dev/nvidia0", &group.to_string_lossy()])?;
    let pid = helper.pid();
    knows(&daemon, pid)?;
    inject(GPU, COMPLETION_TIMEOUT, 0)?;
    daemon.event("the AER event", |e| e["kind"] == "aer")?;
    guest.stub(&format!(
        "xid 0 79 pid={pid} name=train GPU has fallen off the bus."
    ))?;
    daemon.event("the Xid", |e| e["kind"] == "xid")?;
    state_is_kept(&daemon)?;
    helper.signal(Signal::KILL)?;
    helper.wait()?;
    let exited = daemon.event("the end of the process", |e| {
        e["kind"] == "gpu_process_exit" && e["process"]["pid"] == pid
    })?;
    let incident = one(
        &daemon,
        "the incident with all three and its evidence",
        |i| {
            let has_exit = i["events"]
                .as_array()
                .is_some_and(|e| e.contains(&exited["id"]));
            has_exit && has_evidence(i)
        },
    )?;
    has!(incident, { "class": "pcie", "affected/gpus/0/pci": GPU });
    let process = &incident["affected"]["processes"][0];
    ensure!(process["pid"] == pid, "{incident:#}");
    ensure!(exited["process"]["cgroup"] == "/job-incident", "{exited:#}");
    // AER, then Xid, then the end.
    let order = kinds_of_chain(&daemon, &incident)?;
    ensure!(
        order.contains(&["aer".into(), "xid".into()])
            && order.contains(&["xid".into(), "gpu_process_exit".into()]),
        "{incident:#}"
    );
    let parts = report(&daemon, &incident)?;
    let log = text(&parts, "kernel.log")?;
    ensure!(log.contains("Xid") && log.contains("AER"), "{log}");
    let snapshot = text(&parts, "snapshot.txt")?;
    for part in [
        &format!("({pid}) at "),
        "cgroup: 0::/job-incident",
        &format!("PCI device {GPU}"),
        "aer_dev_nonfatal",
        "/proc/pressure/memory",
    ] {
        ensure!(snapshot.contains(part), "no {part:?} in {snapshot}");
    }
    ensure!(parts.join("trace.pftrace").exists(), "no trace");
    fs::remove_dir(&group).context("the group stays")?;
    Ok(())
}

/// A call that does not return: the state of the thread is kept while it hangs.
fn hung(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Current, GPUS)?;
    let daemon = guest.daemon(&[
        "--hung-call-s",
        "3",
        "--recording-after-s",
        AFTER,
        "--keep-privileges",
    ])?;
    let group = group("job-hung-call")?;
    guest.stub("hang 25 1")?;
    let helper = Helper::ready("call", &["/dev/nvidia0", &group.to_string_lossy()])?;
    let pid = helper.pid();
    let incident = one(&daemon, "the incident and its evidence", has_evidence)?;
    ensure!(incident["class"] == "driver_crash", "{incident:#}");
    let snapshot = text(&report(&daemon, &incident)?, "snapshot.txt")?;
    let threads = snapshot
        .split("==> ")
        .find(|part| part.starts_with("threads of"))
        .with_context(|| snapshot.clone())?;
    ensure!(
        threads.contains(&format!("({pid})"))
            && threads.contains("D (disk sleep)")
            && threads.contains("nvidia"),
        "{threads}"
    );
    helper.wait()?;
    fs::remove_dir(&group).context("the group stays")?;
    Ok(())
}

/// The control group of a job is full, and the kernel kills the program that uses the GPU.
fn full_group(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Current, GPUS)?;
    let daemon = guest.daemon(&["--recording-after-s", AFTER])?;
    let group = group("job-full")?;
    fs::write(group.join("memory.max"), "33554432")?;
    let helper = Helper::ready("eat", &["/dev/nvidia0", &group.to_string_lossy()])?;
    let pid = helper.pid();
    helper.wait()?;
    let incident = whole(&daemon, "gpu_oom", &[["oom_kill", "gpu_process_exit"]])?;
    let process = &incident["affected"]["processes"][0];
    ensure!(process["pid"] == pid, "{incident:#}");
    ensure!(incident.to_string().contains("/job-full"), "{incident:#}");
    fs::remove_dir(&group).context("the group stays")?;
    Ok(())
}

/// The memory of a process rises and rises; then the driver refuses it more, and it ends.
fn leak(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Current, &format!("{GPUS} vram_mb=64"))?;
    let (daemon, readings) = with_readings(guest, &["--memory-growth-s", "24"])?;
    let go = guest.scratch().join("go");
    let helper = Helper::ready("leak", &["/dev/nvidia0", &go.to_string_lossy()])?;
    let pid = helper.pid();
    // 128 MiB at a time, of 80 GiB, until gtrace has seen enough: by the clock, as gtrace judges.
    let begin = Instant::now();
    within(2 * PATIENCE, "the event of the growth", || {
        let memory = (1 << 30) + (128 << 20) * (begin.elapsed().as_millis() / 250);
        let new = readings.with_extension("new");
        fs::write(&new, format!("{READINGS}pid {pid}\nmemory {memory}\n"))?;
        fs::rename(&new, &readings)?;
        let events = daemon.get_events()?;
        let grows = events.iter().any(|event| event["kind"] == "memory_growth");
        Ok(grows.then_some(()))
    })
    .with_context(|| daemon.log_end())?;
    fs::write(&go, "")?;
    helper.wait()?;
    let chain = [
        ["memory_growth", "api_error"],
        ["api_error", "gpu_process_exit"],
    ];
    let incident = whole(&daemon, "memory_leak", &chain)?;
    has!(incident, { "affected/processes/0/pid": pid, "affected/gpus/0/pci": GPU });
    Ok(())
}

/// The GPU is too hot, as NVML reports, and so its clocks are halved.
fn heat(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Current, GPUS)?;
    let (daemon, readings) = with_readings(guest, &[])?;
    within(PATIENCE, "the first reading", || {
        let gpus = daemon.get("/api/v1/gpus")?;
        Ok(gpus.to_string().contains("temperature").then_some(()))
    })?;
    // HwSlowdown and HwThermalSlowdown.
    fs::write(&readings, format!("{READINGS}reasons 72\ntemperature 94\n"))?;
    let incident = whole(&daemon, "thermal", &[])?;
    has!(incident, { "affected/gpus/0/pci": GPU, "severity": "critical" });
    Ok(())
}

/// The driver is replaced; a program with the library of the old one finds that out and ends.
fn upgrade(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Frontend, &format!("{GPUS} version=535.183.01"))?;
    let daemon = guest.daemon(&["--recording-after-s", AFTER])?;
    within(PATIENCE, "the driver is unloaded", || {
        Ok(guest.unload_stub().ok())
    })?;
    guest.load_stub(Generation::Current, &format!("{GPUS} version=580.95.05"))?;
    source_is(&daemon, "driver:ioctl", "active")?;
    let helper = Helper::start("mismatch", &["/dev/nvidia0", "535.183.01"])?;
    helper.wait()?;
    whole(
        &daemon,
        "library_mismatch",
        &[["driver_mismatch", "gpu_process_exit"]],
    )?;
    Ok(())
}

/// Both ends of an NVLink report that it failed.
fn link(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Current, "gpus=0000:01:00.0,0000:02:00.0")?;
    let daemon =
        guest.daemon(&[&["--recording-after-s", AFTER], &WITHOUT_FUNCTIONS[..]].concat())?;
    for (gpu, link) in [(0, 3), (1, 5)] {
        guest.stub(&format!(
            "xid {gpu} 74 NVLink: fatal error detected on link {link}(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)"
        ))?;
    }
    let incident = whole(&daemon, "nvlink", &[["xid", "xid"]])?;
    let gpus = incident["affected"]["gpus"].as_array().context("no GPUs")?;
    ensure!(gpus.len() == 2, "{incident:#}");
    Ok(())
}

/// A program's own fault: nothing is wrong with the GPU.
fn application(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Current, GPUS)?;
    let daemon = guest.daemon(&["--recording-after-s", AFTER])?;
    let group = group("job-application")?;
    let helper = Helper::ready("use", &["/dev/nvidia0", &group.to_string_lossy()])?;
    let pid = helper.pid();
    knows(&daemon, pid)?;
    guest.stub(&format!(
        "xid 0 13 pid={pid} name=train Graphics SM Warp Exception on (GPC 9, TPC 1, SM 1): Out Of Range Address"
    ))?;
    guest.stub(&format!("xid 0 43 pid={pid} name=train Ch 00000010"))?;
    helper.signal(Signal::ABORT)?;
    helper.wait()?;
    let incident = whole(
        &daemon,
        "application",
        &[["xid", "xid"], ["xid", "gpu_process_exit"]],
    )?;
    has!(incident, { "affected/processes/0/pid": pid });
    fs::remove_dir(&group).context("the group stays")?;
    Ok(())
}

/// Two GPUs fail within a second, of causes that have nothing to do with each other.
fn two(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Current, "gpus=0000:01:00.0,0000:02:00.0")?;
    let daemon =
        guest.daemon(&[&["--recording-after-s", AFTER], &WITHOUT_FUNCTIONS[..]].concat())?;
    guest.stub("xid 0 79 GPU has fallen off the bus.")?;
    guest.stub("xid 1 48 DBE (double bit error) ECC Error")?;
    let incidents = all(&daemon, "both incidents with their evidence", |all| {
        all.len() >= 2 && all.iter().all(has_evidence)
    })?;
    ensure!(incidents.len() == 2, "{incidents:#?}");
    for (class, gpu) in [("pcie", "0000:01:00.0"), ("gpu_memory", "0000:02:00.0")] {
        let ours = |i: &&Value| i["class"] == class && i["affected"]["gpus"][0]["pci"] == gpu;
        let incident = incidents.iter().find(ours);
        let incident = incident.with_context(|| format!("no {class} of {gpu}: {incidents:#?}"))?;
        report(&daemon, incident)?;
    }
    Ok(())
}

/// 10,000 Xids of eight GPUs, as fast as they come.
fn storm(guest: &mut Guest) -> Result<()> {
    const XIDS: usize = 10_000;
    const LIMIT: u64 = 48 << 20;
    let gpus: Vec<_> = (1..=8).map(|bus| format!("0000:{bus:02x}:00.0")).collect();
    guest.load_stub(Generation::Current, &format!("gpus={}", gpus.join(",")))?;
    let daemon =
        guest.daemon(&[&["--recording-after-s", AFTER], &WITHOUT_FUNCTIONS[..]].concat())?;
    let began = std::time::Instant::now();
    for nth in 0..XIDS / 8 {
        let lines: Vec<_> = (0..8)
            .map(|gpu| {
                format!(
                    "xid {gpu} 31 pid={} name=train Ch 00000010, intr 00000000. MMU Fault: ENGINE GRAPHICS GPC1 \
                     GPCCLIENT_T1_3 faulted @ 0x7f_{nth:08x}. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ",
                    100 + gpu
                )
            })
            .collect();
        guest.stub(&lines.join("\n"))?;
    }
    let took = began.elapsed();
    let count = |events: &[Value]| -> u64 {
        let ours = events.iter().filter(|event| event["kind"] == "xid");
        ours.map(|event| 1 + event["repeats"].as_u64().unwrap_or(0))
            .sum()
    };
    daemon.wait_for(2 * PATIENCE, "every Xid is counted", |events| {
        (count(events) >= XIDS as u64).then_some(())
    })?;
    let incidents = all(&daemon, "the incidents with their evidence", |all| {
        !all.is_empty() && all.iter().all(has_evidence)
    })?;
    ensure!(incidents.len() <= 8, "{incidents:#?}");
    // What waited for the core, which is bounded, is given back soon after the storm.
    let (most, settled) = (rss_anon(daemon.pid())?, Instant::now());
    let anonymous = within(PATIENCE, "the memory of the storm is given back", || {
        let now = rss_anon(daemon.pid())?;
        Ok((now < LIMIT).then_some(now))
    })?;
    guest.note(format!(
        "{XIDS} Xids in {:.1} s: {} incidents, RssAnon {} MiB, {} MiB after {:.1} s",
        took.as_secs_f64(),
        incidents.len(),
        most >> 20,
        anonymous >> 20,
        settled.elapsed().as_secs_f64()
    ))
}
