//! Processes that use a GPU: how they end, run out of memory, or hang.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::guest::nvrm::{GET_INFO, NvDevice};
use crate::guest::process::Helper;
use crate::guest::stub::{GPUS, Generation};
use crate::guest::{Guest, PATIENCE};

cases! {
    Driver "process_exit_with_a_gpu_open" => exit, core;
    Driver "process_killed_for_lack_of_memory" => oom, core;
    Driver "process_hung_in_the_driver" => hung, patience(120);
}

pub(super) const HELPERS: &[super::Helper] = &[("exit", exit_with), ("eat", eat), ("call", call)];

/// Opens the device, makes no call, and exits with the code given.
fn exit_with(args: &[String]) -> Result<()> {
    let [device, code] = args else {
        anyhow::bail!("usage: exit DEVICE CODE");
    };
    let _device = NvDevice::open(device)?;
    std::process::exit(code.parse()?);
}

/// Opens the device, waits until it is in its control group, and takes memory without end.
fn eat(args: &[String]) -> Result<()> {
    let [device, group] = args else {
        anyhow::bail!("usage: eat DEVICE GROUP");
    };
    let _device = NvDevice::open(device)?;
    fs::write(Path::new(group).join("cgroup.procs"), "0")?;
    println!("begun");
    let mut eaten = Vec::new();
    loop {
        eaten.push(vec![1u8; 1 << 20]);
    }
}

/// Makes one call from within a control group.
fn call(args: &[String]) -> Result<()> {
    let [device, group] = args else {
        anyhow::bail!("usage: call DEVICE GROUP");
    };
    let device = NvDevice::open(device)?;
    fs::write(Path::new(group).join("cgroup.procs"), "0")?;
    println!("begun");
    device.control(GET_INFO)?;
    Ok(())
}

/// A control group below the root, with the memory controller.
pub(super) fn group(name: &str) -> Result<PathBuf> {
    let root = Path::new("/sys/fs/cgroup");
    fs::write(root.join("cgroup.subtree_control"), "+memory").context("no memory controller")?;
    let group = root.join(name);
    fs::create_dir_all(&group)?;
    Ok(group)
}

fn exit(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Current, GPUS)?;
    let daemon = guest.daemon(&[])?;
    let helper = Helper::start("exit", &["/dev/nvidia0", "7"])?;
    let pid = helper.pid();
    helper.wait()?;
    let event = daemon.event("an event of the exit", |e| {
        e["kind"] == "gpu_process_exit" && e["process"]["pid"] == pid
    })?;
    has!(event, { "detail/exit_code": 7, "detail/chardev": "195:0" });
    Ok(())
}

fn oom(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Current, GPUS)?;
    let daemon = guest.daemon(&[])?;
    let group = group("job-oom")?;
    fs::write(group.join("memory.max"), "33554432")?;
    let path = group.to_string_lossy();
    let helper = Helper::ready("eat", &["/dev/nvidia0", &path])?;
    let pid = helper.pid();
    helper.wait()?;
    let (kill, exit) = daemon.wait_for(PATIENCE, "kill and exit", |events| {
        let of = |kind: &str| {
            let ours = |e: &&Value| e["kind"] == kind && e["process"]["pid"] == pid;
            events.iter().find(ours).cloned()
        };
        // The probe's event comes first where the log takes long to say who was killed.
        let kill = of("oom_kill").filter(|kill| kill["process"]["comm"].is_string())?;
        Some((kill, of("gpu_process_exit")?))
    })?;
    ensure!(
        kill["process"]["cgroup"] == "/job-oom" || kill["detail"]["cgroup"] == "/job-oom",
        "{kill:#}"
    );
    has!(exit, { "detail/signal": 9, "process/cgroup": "/job-oom" });
    fs::remove_dir(&group).context("the group stays")?;
    Ok(())
}

fn hung(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Current, GPUS)?;
    let daemon = guest.daemon(&["--slow-call-ms", "1000", "--hung-call-s", "3"])?;
    fs::write("/proc/sys/kernel/hung_task_timeout_secs", "2").context("no hung-task detector")?;
    let group = group("job-hung")?;
    guest.stub("hang 15 1")?;
    let path = group.to_string_lossy();
    let helper = Helper::ready("call", &["/dev/nvidia0", &path])?;
    let pid = helper.pid();
    let event = daemon.event("an event of the hung task", |e| {
        e["kind"] == "hung_task" && e["process"]["pid"] == pid
    });
    fs::write("/proc/sys/kernel/hung_task_timeout_secs", "120")?;
    let event = event?;
    let waiting = daemon.event("an event of the call under way", |e| {
        e["detail"]["returned"] == false && e["process"]["pid"] == pid
    })?;
    ensure!(waiting["kind"] == "slow_call", "{waiting:#}");
    ensure!(event["process"]["comm"].is_string(), "{event:#}");
    ensure!(event["process"]["cgroup"] == "/job-hung", "{event:#}");
    helper.wait()?;
    // Once it is over, the call itself is reported, with how long it took.
    let call = daemon.event("an event of the slow call", |e| {
        e["kind"] == "slow_call" && e["process"]["pid"] == pid && e["detail"]["returned"].is_null()
    })?;
    let took = call["detail"]["latency_ns"]
        .as_u64()
        .context("no latency")?;
    ensure!(took >= 15_000_000_000, "{call:#}");
    fs::remove_dir(&group).context("the group stays")?;
    Ok(())
}
