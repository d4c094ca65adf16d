//! NVIDIA's own driver, changed for another series of it while gtrace runs, and back.

use std::fs::{self, File};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::calls::{counted, rows, source_is};
use super::real::{CODE, call, call_many, find, seen_so_far, sources_are};
use super::xid::{ALL_THREE, of_code, witnesses};
use crate::guest::daemon::Daemon;
use crate::guest::real::{GPU, is_before_545, other_version, version};
use crate::guest::{Guest, PATIENCE, within};
use crate::skip;

cases! {
    Real "real_probes_are_on_the_functions_of_the_series" => probed;
    Real "real_change_of_series" => change_of_series, patience(180);
    Real "real_modeset_beside" => modeset;
}

/// Every function that something is attached to, one a line, whatever the kind of probe.
const ATTACHED: &str = "/sys/kernel/tracing/enabled_functions";

/// Functions behind the driver's nodes until 535, and since 545.
const FRONTEND: [&str; 4] = [
    "nvidia_frontend_unlocked_ioctl",
    "nvidia_frontend_open",
    "nvidia_frontend_mmap",
    "nvidia_frontend_close",
];
const CURRENT: [&str; 4] = [
    "nvidia_unlocked_ioctl",
    "nvidia_open",
    "nvidia_mmap",
    "nvidia_close",
];

/// Control calls that are made of each driver.
const CALLS: u64 = 1000;

/// The call of nvidia-modeset, which carries all others.
const MODESET_CODE: &str = "0xc0106d00";

fn probed(guest: &mut Guest) -> Result<()> {
    guest.load_real()?;
    let daemon = guest.daemon(&[])?;
    source_is(&daemon, "driver:ioctl", "active")?;
    on_functions_of(&version()?)
}

/// That gtrace is attached to each of the functions that programs enter the driver of `version` by, and to none of the
/// other series'.
fn on_functions_of(version: &str) -> Result<()> {
    let (right, wrong) = match is_before_545(version)? {
        true => (FRONTEND, CURRENT),
        false => (CURRENT, FRONTEND),
    };
    let text = fs::read_to_string(ATTACHED).with_context(|| format!("cannot read {ATTACHED}"))?;
    let of_driver: Vec<_> = text
        .lines()
        .filter(|line| line.contains("nvidia"))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    ensure!(
        right.iter().all(|name| of_driver.contains(name))
            && !wrong.iter().any(|name| of_driver.contains(name)),
        "driver {version}: attached to {of_driver:?}"
    );
    Ok(())
}

/// With nvidia-modeset loaded too: its calls are seen where they pass the driver's own functions, nothing is made of them,
/// and gtrace keeps none of the modules.
fn modeset(guest: &mut Guest) -> Result<()> {
    guest.load_real()?;
    let daemon = guest.daemon(&["--pci-interval-s", "1"])?;
    sources_are(&daemon, "active")?;
    guest.load_modeset()?;
    for what in ["modeset", "many"] {
        call(what, CALLS)?;
    }
    let expected = match is_before_545(&version()?)? {
        true => CALLS,
        false => 0,
    };
    let mut last = Vec::new();
    within(PATIENCE, "the statistics have the calls", || {
        last = rows(&daemon)?;
        let count = |device: &str, field: &str, code: &str| {
            counted(&last, |r| r[field] == code && r["device"] == device)
        };
        let right = count("nvidiactl", "code", CODE) == CALLS
            && count("nvidia-modeset", "ioctl", MODESET_CODE) == expected;
        Ok(right.then_some(()))
    })
    .with_context(|| format!("{last:#?}"))?;
    seen_so_far(&daemon)?;
    let events = daemon.events(&[])?;
    let of_modeset = |event: &&Value| event.to_string().contains("modeset");
    let found: Vec<_> = events.iter().filter(of_modeset).collect();
    ensure!(found.is_empty(), "{found:#?}");
    sources_are(&daemon, "active")?;
    guest.unload_driver()?;
    sources_are(&daemon, "absent")
}

fn change_of_series(guest: &mut Guest) -> Result<()> {
    let Some(other) = other_version() else {
        skip!(
            "the image has one series of the driver: run `vm-test real --driver 535 --driver 555`"
        );
    };
    let first = version()?;
    if first == other {
        skip!("both flavours of the driver are {first}");
    }
    guest.load_gpu()?;
    let daemon = guest.daemon(&["--pci-interval-s", "1"])?;
    for (round, series) in (1..).zip([&first, &other, &first]) {
        match *series == first {
            true => guest.load_driver()?,
            false => guest.load_other_driver()?,
        }
        let loaded = Instant::now();
        sources_are(&daemon, "active")
            .with_context(|| format!("driver {series}, round {round}\n{}", daemon.log_end()))?;
        let attached = loaded.elapsed();
        used(&daemon, series, round)
            .with_context(|| format!("driver {series}, round {round}\n{}", daemon.log_end()))?;
        let begun = Instant::now();
        guest.unload_driver()?;
        let unloaded = begun.elapsed();
        sources_are(&daemon, "absent")
            .with_context(|| format!("driver {series}, round {round}\n{}", daemon.log_end()))?;
        guest.note(format!(
            "driver {series}: attached {attached:.1?} after its load; unloaded in {unloaded:.1?}, shown as gone {:.1?} after it began",
            begun.elapsed()
        ))?;
    }
    seen_so_far(&daemon)?;
    let sources = daemon.get("/api/v1/sources")?;
    let sources = sources.as_array().context("no list of sources")?;
    let failed: Vec<_> = sources.iter().filter(|s| s["state"] == "failed").collect();
    ensure!(failed.is_empty(), "{failed:#?}");
    let log = daemon.log();
    ensure!(!log.contains("not attached"), "{log}");
    Ok(())
}

/// The driver of `version` is used: gtrace shows it, counts its calls and sees its Xid, as it did in the rounds before.
fn used(daemon: &Daemon, version: &str, round: u64) -> Result<()> {
    on_functions_of(version)?;
    let mut shown = Value::Null;
    within(PATIENCE, "the GPU is shown with this driver", || {
        shown = find(daemon, GPU)?.unwrap_or_default();
        Ok((shown["driver_version"] == version).then_some(()))
    })
    .with_context(|| format!("{shown:#}"))?;
    call_many(daemon, CALLS, round * CALLS)?;
    ensure!(
        File::open("/dev/nvidia0").is_err(),
        "/dev/nvidia0 was opened, which no GPU is behind"
    );
    let what = format!("{round} Xids 143 seen by all");
    daemon.wait_for(PATIENCE, &what, |events| {
        let xids = of_code(events, 143);
        let whole = xids.iter().all(|xid| witnesses(xid) == ALL_THREE);
        let count: u64 = xids
            .iter()
            .map(|xid| 1 + xid["repeats"].as_u64().unwrap_or(0))
            .sum();
        (whole && count == round).then_some(())
    })
}
