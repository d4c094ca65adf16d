//! From a reading of NVIDIA's own NVML to an event, and from the driver's own Xids to what is to be done.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::real::{events, one, seen_so_far};
use super::real_gsp::{SAMPLE, UUID, daemon, daemon_every};
use super::xid::witnesses;
use crate::guest::Guest;
use crate::guest::daemon::Daemon;
use crate::guest::real::{GPU, is_before_545, version};

cases! {
    Real "real_gsp_readings_become_events" => from_readings, patience(180);
    Real "real_gsp_xid_154_asks_for_a_reset" => reset, patience(180);
    Real "real_gsp_gpu_falls_off_the_bus" => falls_off, patience(240);
}

/// What is changed, and the event that comes of it.
struct Change {
    /// A line of the control file.
    line: &'static str,
    kind: &'static str,
    severity: &'static str,
    /// Part of the message.
    says: &'static str,
    /// By how much a counter rose.
    count: u64,
}

macro_rules! changes {
    ($($line:literal: $count:literal $kind:literal $severity:literal $says:literal;)*) => {
        &[$(Change { line: $line, kind: $kind, severity: $severity, says: $says, count: $count }),*]
    };
}

/// In this order: each begins where the one before ended.
const CHANGES: &[Change] = changes! {
    "reading ecc_corrected 3": 3 "ecc" "info" "counted corrected errors";
    "reading ecc_uncorrected 1": 1 "ecc" "critical" "counted uncorrected errors";
    "reading remapped_uncorrectable 1": 1 "row_remap" "warning" "uncorrectable";
    "reading remap_pending 1": 1 "row_remap" "warning" "waits for a GPU reset";
    // Thermal slowdown by hardware: the GPU is too hot.
    "reading throttle_reasons 0x40": 1 "throttle" "critical" "the GPU is too hot";
    // The power limit, without the reason before it: of several that hold, the worst decides.
    "reading throttle_reasons 0\nreading violation_power 1500": 1 "throttle" "info" "the power limit is reached";
};

/// The events of the GPU but calls that took long, as many do where the processor is emulated.
fn faults(daemon: &Daemon) -> Result<Vec<Value>> {
    let mut faults = events(daemon)?;
    faults.retain(|event| event["kind"] != "slow_call");
    Ok(faults)
}

fn from_readings(guest: &mut Guest) -> Result<()> {
    let _open = guest.load_answering()?;
    let daemon = daemon_every(guest, "2", SAMPLE)?;
    let before = faults(&daemon)?;
    ensure!(before.is_empty(), "before anything changed: {before:#?}");
    let newer = !is_before_545(&version()?)?;
    // Where NVML of the newer driver reads that reason was not found.
    let is_read = |change: &&Change| !(newer && change.line.ends_with("throttle_reasons 0x40"));
    for change in CHANGES.iter().filter(is_read) {
        guest.gpu(change.line)?;
        let event = daemon.event(change.line, |event| {
            let message = event["message"].as_str().unwrap_or_default();
            event["kind"] == change.kind && message.contains(change.says)
        })?;
        ensure!(
            event["severity"] == change.severity
                && event["gpu"]["pci"] == GPU
                && event["gpu"]["uuid"] == UUID
                && witnesses(&event) == ["nvml"],
            "{}: {event:#}",
            change.line
        );
        let count = event["repeats"].as_u64().context("no repeats")? + 1;
        ensure!(
            count == change.count,
            "{} counts {count}: {event:#}",
            change.line
        );
        guest.note(format!("{}: {}", change.line, event["message"]))?;
    }
    let after = faults(&daemon)?;
    let changes = CHANGES.iter().filter(is_read).count();
    ensure!(after.len() == changes, "{after:#?}");
    Ok(())
}

fn reset(guest: &mut Guest) -> Result<()> {
    let _open = guest.load_answering()?;
    let daemon = daemon(guest, SAMPLE)?;
    guest.gpu("xid 120 GSP task exception: illegal instruction (task 0)")?;
    guest.gpu("xid 154 GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)")?;
    let crash = one(&daemon, 120)?;
    ensure!(crash["severity"] == "fatal", "{crash:#}");
    let changed = one(&daemon, 154)?;
    let steps = changed["advice"]["vendor"].as_array();
    let mut steps = steps.into_iter().flatten().filter_map(Value::as_str);
    let reset = steps.find(|step| step.contains("nvidia-smi --gpu-reset"));
    ensure!(
        changed["severity"] == "fatal"
            && changed["gpu"]["uuid"] == UUID
            && changed["detail"]["recovery_from"] == "None"
            && changed["detail"]["recovery_to"] == "GPU Reset Required"
            && changed["advice"]["rule"] == "xid:154:gpu_reset"
            && changed["advice"]["action"] == "page"
            && reset.is_some(),
        "{changed:#}"
    );
    guest.note(format!("Xid 154: {reset:?}"))
}

fn falls_off(guest: &mut Guest) -> Result<()> {
    let open = guest.load_answering()?;
    let daemon = daemon_every(guest, "2", "20")?;
    guest.gpu("cfg 0 0xffffffff")?;
    guest.gpu("fill 0xff")?;
    let lost = one(&daemon, 79)?;
    has!(lost, { "severity": "fatal", "gpu/pci": GPU, "gpu/uuid": UUID });
    // NVML says so too, by itself.
    daemon.event("NVML has lost the GPU", |event| {
        event["kind"] == "gpu_lost" && witnesses(event) == ["nvml"]
    })?;
    drop(open);
    seen_so_far(&daemon)?;
    for event in faults(&daemon)? {
        guest.note(format!("{}: {}", event["kind"], event["message"]))?;
    }
    Ok(())
}
