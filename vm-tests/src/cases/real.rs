//! NVIDIA's own driver, on a GPU that is made of memory: its Xids, its failures, its calls.

use std::fs::{self, File};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use gtrace_vm_tests::layout::{REAL_CALLER, REAL_MODULES};
use serde_json::Value;

use super::calls::{counted, rows, source_is};
pub(super) use super::real_judged::compare;
use super::xid::{ALL_THREE, of_code, witnessed, witnesses};
use crate::guest::daemon::Daemon;
use crate::guest::process::Helper;
use crate::guest::real::{GPU, version};
use crate::guest::{Guest, PATIENCE, kmsg, within};

cases! {
    Real "real_failed_start_is_xid_143" => failed_start, core;
    Real "real_xid_79_when_the_gpu_is_gone" => fallen_off;
    Real "real_xid_140_of_memory_errors" => memory_errors;
    Real "real_xid_110_of_security" => security;
    Real "real_dead_gpu_at_load" => dead_at_load;
    Real "real_calls_are_counted_exactly" => exactly, patience(180);
    Real "real_mismatch_of_versions" => mismatch;
    Real "real_reload_under_load" => reload, patience(240);
    Real "real_xid_after_kill_9" => after_kill;
    Real "real_gpu_taken_off_the_bus" => taken_off_the_bus;
}

/// A daemon that is attached to the driver, which was loaded before.
pub(super) fn daemon(guest: &mut Guest) -> Result<Daemon> {
    let daemon = guest.daemon(&[])?;
    sources_are(&daemon, "active")?;
    Ok(daemon)
}

/// Opens the GPU, which fails after seconds; how long it took.
fn open_in_vain() -> Result<Duration> {
    let begin = Instant::now();
    let opened = File::open("/dev/nvidia0");
    let error = opened
        .err()
        .context("/dev/nvidia0 was opened, which no GPU is behind")?;
    ensure!(
        error.raw_os_error() == Some(libc::EIO),
        "opening /dev/nvidia0: {error}"
    );
    Ok(begin.elapsed())
}

/// Waits until the driver waits for the GPU's firmware, which it does for four seconds.
fn until_it_polls(guest: &Guest) -> Result<()> {
    // The last line before that. Then it reads its own part of the firmware from a file.
    const BEFORE: &str = "Unable to get PCI port handles";
    within(PATIENCE, "the driver begins to start the GPU", || {
        let begun = guest.dmesg()?.iter().any(|line| line.contains(BEFORE));
        Ok(begun.then_some(()))
    })?;
    thread::sleep(Duration::from_secs(2));
    Ok(())
}

/// Writes a line to the kernel's log and waits until its event is there: what was logged before it has been seen.
pub(super) fn seen_so_far(daemon: &Daemon) -> Result<()> {
    const DEVICE: &str = "0000:7f:00.0";
    kmsg::write(&format!(
        "<3>NVRM: GPU at PCI:{DEVICE}: has fallen off the bus"
    ))?;
    daemon
        .event("the line that was written last", |e| {
            e["gpu"]["pci"] == DEVICE
        })
        .map(drop)
}

/// The events of the GPU.
pub(super) fn events(daemon: &Daemon) -> Result<Vec<Value>> {
    let mut events = daemon.events(&[])?;
    events.retain(|event| event["gpu"]["pci"] == GPU);
    Ok(events)
}

/// Waits for one event of the Xid `code` with all its witnesses.
pub(super) fn one(daemon: &Daemon, code: u32) -> Result<Value> {
    witnessed(daemon, code, &ALL_THREE)
}

/// The GPU as the daemon describes it, once it has looked.
pub(super) fn find(daemon: &Daemon, pci: &str) -> Result<Option<Value>> {
    let gpus = daemon.get("/api/v1/gpus")?;
    let list = gpus.as_array().context("no list of GPUs")?;
    Ok(list.iter().find(|gpu| gpu["pci"] == pci).cloned())
}

/// What is attached to the driver gets into this state.
pub(super) fn sources_are(daemon: &Daemon, state: &str) -> Result<()> {
    for source in ["driver:ioctl", "nv_report_error"] {
        source_is(daemon, source, state)?;
    }
    Ok(())
}

/// Runs the program that calls the driver.
pub(super) fn call(what: &str, count: u64) -> Result<()> {
    let made = Command::new(REAL_CALLER)
        .args([what, &count.to_string()])
        .status()?;
    ensure!(made.success(), "the caller ended with {made}");
    Ok(())
}

/// The ioctl(2) on /dev/nvidiactl that stands for all others, as the caller makes it.
pub(super) const CODE: &str = "0x214";

/// Makes so many calls, and waits until the statistics have `total` of them.
pub(super) fn call_many(daemon: &Daemon, count: u64, total: u64) -> Result<()> {
    call("many", count)?;
    let mut last = Vec::new();
    within(PATIENCE, "the statistics have the calls", || {
        last = rows(daemon)?;
        let seen = counted(&last, |r| r["code"] == CODE && r["device"] == "nvidiactl");
        Ok((seen == total).then_some(()))
    })
    .with_context(|| format!("{last:#?}"))
}

fn failed_start(guest: &mut Guest) -> Result<()> {
    guest.load_real()?;
    let daemon = daemon(guest)?;
    let took = open_in_vain()?;
    guest.note(format!(
        "driver {}: open(2) failed after {took:.1?}",
        version()?
    ))?;
    let xid = one(&daemon, 143)?;
    has!(xid, { "gpu/pci": GPU, "process": null, "provenance": "kernel" });
    seen_so_far(&daemon)?;
    let events = events(&daemon)?;
    let failed: Vec<_> = events
        .iter()
        .filter(|e| e["kind"] == "driver_init_failed")
        .collect();
    ensure!(
        failed.len() == 1 && failed[0]["repeats"] == 0,
        "one start failed, and the events of it are {failed:#?}\n{}",
        guest.dmesg()?.join("\n")
    );
    let code = failed[0]["detail"]["rm_init_code"]
        .as_str()
        .unwrap_or_default();
    ensure!(code.starts_with("0x62:0x65:"), "{:#}", failed[0]);
    let opening = events.iter().find(|e| e["detail"]["op"] == "OPEN");
    let opening = opening.context("no event of the open(2) that took seconds")?;
    has!(opening, { "kind": "slow_call", "detail/errno": libc::EIO, "process/pid": std::process::id() });
    ensure!(events.len() == 3, "{events:#?}");
    Ok(())
}

fn fallen_off(guest: &mut Guest) -> Result<()> {
    guest.load_real()?;
    let daemon = daemon(guest)?;
    let opening = thread::spawn(open_in_vain);
    until_it_polls(guest)?;
    guest.gpu("fill 0xff")?;
    opening
        .join()
        .ok()
        .context("the thread that opens panicked")??;
    let xid = one(&daemon, 79)?;
    has!(xid, { "gpu/pci": GPU, "severity": "fatal" });
    seen_so_far(&daemon)?;
    let events = events(&daemon)?;
    let lost = events.iter().filter(|e| e["kind"] == "gpu_lost").count();
    ensure!(lost <= 1, "{events:#?}");
    Ok(())
}

fn memory_errors(guest: &mut Guest) -> Result<()> {
    guest.load_real()?;
    // The firmware processor has come up, and the memory controller reports errors.
    for line in [
        "poke 0x200bc 0xff",
        "poke 0x9025a0 1",
        "poke 0x100e78 0x10001",
    ] {
        guest.gpu(line)?;
    }
    let daemon = daemon(guest)?;
    open_in_vain()?;
    let xid = one(&daemon, 140)?;
    ensure!(xid["gpu"]["pci"] == GPU, "{xid:#}");
    ensure!(
        xid["message"]
            .as_str()
            .is_some_and(|m| m.contains("uncorrectable ECC error")),
        "{xid:#}"
    );
    Ok(())
}

fn security(guest: &mut Guest) -> Result<()> {
    guest.load_real()?;
    guest.gpu("cfg 0x2b4 0x4800")?;
    let daemon = daemon(guest)?;
    let opening = thread::spawn(open_in_vain);
    until_it_polls(guest)?;
    guest.gpu("fill32 0xbadf0200")?;
    opening
        .join()
        .ok()
        .context("the thread that opens panicked")??;
    // One for each of its causes.
    let both = daemon.wait_for(PATIENCE, "two events of Xid 110 seen by all", |events| {
        let xids: Vec<_> = of_code(events, 110).into_iter().cloned().collect();
        let whole = xids.iter().all(|xid| witnesses(xid) == ALL_THREE);
        (xids.len() == 2 && whole).then_some(xids)
    })?;
    for (xid, cause) in both.iter().zip(["_FAULT_ECC", "_FAULT_WDG"]) {
        let message = xid["message"].as_str().unwrap_or_default();
        ensure!(
            xid["gpu"]["pci"] == GPU && message.ends_with(cause),
            "{xid:#}"
        );
    }
    one(&daemon, 79)?;
    Ok(())
}

fn dead_at_load(guest: &mut Guest) -> Result<()> {
    guest.load_gpu()?;
    guest.gpu("fill 0xff")?;
    let daemon = guest.daemon(&[])?;
    let loaded = guest.insmod(format!("{REAL_MODULES}/nvidia.ko"), "");
    guest.note(format!(
        "insmod: {:?}",
        loaded.map_err(|error| error.root_cause().to_string())
    ))?;
    daemon.event("the GPU is lost", |e| {
        e["kind"] == "gpu_lost" && e["gpu"]["pci"] == GPU
    })?;
    seen_so_far(&daemon)?;
    let mut events = events(&daemon)?;
    // The driver's record, and the kernel's own line that the driver has not taken the device: a millisecond apart, and
    // either witness may come first.
    events.sort_by_key(|event| event["kind"] != "gpu_lost");
    let kinds: Vec<_> = events.iter().map(|event| &event["kind"]).collect();
    ensure!(
        kinds == ["gpu_lost", "driver_init_failed"]
            && events.iter().all(|event| event["repeats"] == 0)
            && events[1]["detail"]["error"] == "error -1",
        "{events:#?}"
    );
    // The module was there for a moment.
    let log = daemon.log();
    ensure!(
        !log.contains("not attached") && !log.contains("is loaded"),
        "{log}"
    );
    ensure!(
        events[0]["detail"]["device_id"]
            .as_str()
            .is_some_and(|id| id.contains("2330")),
        "{:#}",
        events[0]
    );
    Ok(())
}

/// What hotplug does to a card that is pulled out: the driver lets go of it, and it is no more in the tree.
fn taken_off_the_bus(guest: &mut Guest) -> Result<()> {
    guest.load_real()?;
    let daemon = guest.daemon(&["--pci-interval-s", "1"])?;
    within(PATIENCE, "the daemon shows the GPU", || {
        let gpu = find(&daemon, GPU)?;
        let bound = gpu.is_some_and(|gpu| gpu["driver_bound"] == "nvidia");
        Ok(bound.then_some(()))
    })?;
    fs::write(format!("/sys/bus/pci/devices/{GPU}/remove"), "1")?;
    let lost = daemon.event("the GPU is lost", |e| {
        e["kind"] == "gpu_lost" && e["gpu"]["pci"] == GPU
    })?;
    ensure!(
        lost["severity"] == "fatal" && witnesses(&lost) == ["sysfs:pci"],
        "{lost:#}"
    );
    seen_so_far(&daemon)?;
    let events = events(&daemon)?;
    ensure!(
        events.len() == 1 && events[0]["repeats"] == 0,
        "{events:#?}"
    );
    Ok(())
}

fn exactly(guest: &mut Guest) -> Result<()> {
    const CALLS: u64 = 100_000;
    guest.load_real()?;
    let daemon = daemon(guest)?;
    call_many(&daemon, CALLS, CALLS)
}

fn mismatch(guest: &mut Guest) -> Result<()> {
    guest.load_real()?;
    let daemon = daemon(guest)?;
    Command::new(REAL_CALLER).arg("calls").status()?;
    let event = daemon.event("the versions that do not fit", |e| {
        e["kind"] == "driver_mismatch"
    })?;
    ensure!(
        event["detail"]["library_version"] == "570.00.00",
        "{event:#}"
    );
    has!(event, { "detail/module_version": version()?.as_str() });
    Ok(())
}

fn reload(guest: &mut Guest) -> Result<()> {
    let rounds = if guest.long() { 50 } else { 3 };
    guest.load_gpu()?;
    let daemon = guest.daemon(&[])?;
    let _load = Helper::start("reopen", &["/dev/nvidiactl"])?;
    for round in 0..rounds {
        guest.load_driver()?;
        sources_are(&daemon, "active")?;
        guest.unload_driver()?;
        source_is(&daemon, "driver:ioctl", "absent")?;
        guest.note(format!("round {round}"))?;
    }
    let log = daemon.log();
    ensure!(!log.contains("not attached"), "{log}");
    Ok(())
}

fn after_kill(guest: &mut Guest) -> Result<()> {
    guest.load_real()?;
    let dir = guest.scratch().join("killed");
    let first = guest.daemon_in(&dir, &[])?;
    source_is(&first, "driver:ioctl", "active")?;
    first.kill()?;
    open_in_vain()?;
    let second = guest.daemon_in(&dir, &[])?;
    sources_are(&second, "active")?;
    second.wait_for(PATIENCE, "the Xid of the time between", |events| {
        (of_code(events, 143).len() == 1).then_some(())
    })?;
    open_in_vain()?;
    second.wait_for(PATIENCE, "the next Xid, seen by the probes", |events| {
        let seen = of_code(events, 143);
        let probed = |event: &&Value| witnesses(event).contains(&"nv_report_error");
        seen.iter().any(probed).then_some(())
    })
}
