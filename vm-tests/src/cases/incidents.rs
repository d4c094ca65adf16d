//! Incidents: what real kernels report of one fault is one incident, with what was kept of that time.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use gtrace_vm_tests::scenario::Scenario;
use serde_json::Value;

use super::Case;
use super::pcie::{COMPLETION_TIMEOUT, GPU, GPUS, inject, watched_with};
use super::process::group;
use crate::guest::daemon::Daemon;
use crate::guest::nvrm::NvDevice;
use crate::guest::process::Helper;
use crate::guest::stub::Generation;
use crate::guest::{Guest, PATIENCE, within};

pub(super) const CASES: &[Case] = &[
    Case::new(
        "incident_of_pcie_gpu_and_process",
        Scenario::PcieInject,
        pcie,
    )
    .core(),
    Case::new("incident_of_a_hung_call", Scenario::Driver, hung),
];

pub(super) const HELPERS: &[super::Helper] = &[("use", use_it)];

/// A recording ends so long after the opening here.
const AFTER: &str = "3";

/// Opens the device from within a control group, and waits to be killed.
fn use_it(args: &[String]) -> Result<()> {
    let [device, group] = args else {
        anyhow::bail!("usage: use DEVICE GROUP");
    };
    std::fs::write(Path::new(group).join("cgroup.procs"), "0")?;
    let _device = NvDevice::open(device)?;
    println!("begun");
    loop {
        std::thread::sleep(Duration::from_secs(60));
    }
}

/// The one incident that there is, once it is as `fits` says.
fn one(daemon: &Daemon, what: &str, fits: impl Fn(&Value) -> bool) -> Result<Value> {
    let incident = within(PATIENCE, what, || {
        let all = daemon.get("/api/v1/incidents")?;
        let all = all.as_array().context("no list")?;
        Ok(all.iter().find(|incident| fits(incident)).cloned())
    });
    let all = daemon.get("/api/v1/incidents")?;
    let incident = incident.with_context(|| format!("{all:#}"))?;
    let count = all.as_array().map_or(0, Vec::len);
    ensure!(count == 1, "one incident wanted: {all:#}");
    Ok(incident)
}

fn has_evidence(incident: &Value) -> bool {
    incident["evidence"]
        .as_array()
        .is_some_and(|e| !e.is_empty())
}

/// The parts of its report, in a directory.
fn report(daemon: &Daemon, incident: &Value) -> Result<std::path::PathBuf> {
    let id = incident["id"].as_str().context("no id")?;
    let (file, parts) = (daemon.dir().join("report.html"), daemon.dir().join("parts"));
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
    std::fs::read_to_string(&path).with_context(|| format!("{}", path.display()))
}

/// An error of the PCIe port, then the GPU's Xid, then the process that used it ends.
fn pcie(guest: &mut Guest) -> Result<()> {
    let daemon = watched_with(guest, &["--recording-after-s", AFTER])?;
    let group = group("job-incident")?;
    let mut helper = Helper::start("use", &["/dev/nvidia0", &group.to_string_lossy()])?;
    let pid = helper.pid();
    helper.line()?;
    within(PATIENCE, "the daemon knows the process", || {
        let status = daemon.get("/api/v1/status")?;
        let users = status["gpu_processes"].as_array().context("no list")?;
        Ok(users.iter().any(|user| user["pid"] == pid).then_some(()))
    })?;
    inject(GPU, COMPLETION_TIMEOUT, 0)?;
    daemon.wait_for(PATIENCE, "the AER event", |events| {
        events.iter().any(|e| e["kind"] == "aer").then_some(())
    })?;
    guest.stub(&format!(
        "xid 0 79 pid={pid} name=train GPU has fallen off the bus."
    ))?;
    daemon.wait_for(PATIENCE, "the Xid", |events| {
        events.iter().any(|e| e["kind"] == "xid").then_some(())
    })?;
    helper.signal(rustix::process::Signal::KILL)?;
    helper.wait()?;
    let exited = daemon.wait_for(PATIENCE, "the end of the process", |events| {
        let ours = |e: &&Value| e["kind"] == "gpu_process_exit" && e["process"]["pid"] == pid;
        events.iter().find(ours).cloned()
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
    ensure!(incident["class"] == "pcie", "{incident:#}");
    ensure!(
        incident["affected"]["gpus"][0]["pci"] == GPU,
        "{incident:#}"
    );
    let process = &incident["affected"]["processes"][0];
    ensure!(process["pid"] == pid, "{incident:#}");
    ensure!(exited["process"]["cgroup"] == "/job-incident", "{exited:#}");
    // AER, then Xid, then the end.
    let chain = incident["chain"].as_array().context("no chain")?;
    let event = |id: &Value| -> Result<Value> {
        let id = id.as_str().context("no id")?;
        daemon.get(&format!("/api/v1/events/{id}"))
    };
    let mut order = Vec::new();
    for link in chain {
        let kinds = [event(&link["from"])?, event(&link["to"])?].map(|e| e["kind"].clone());
        order.push(kinds);
    }
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
    std::fs::remove_dir(&group).context("the group stays")?;
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
    let mut helper = Helper::start("call", &["/dev/nvidia0", &group.to_string_lossy()])?;
    let pid = helper.pid();
    helper.line()?;
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
    std::fs::remove_dir(&group).context("the group stays")?;
    Ok(())
}
