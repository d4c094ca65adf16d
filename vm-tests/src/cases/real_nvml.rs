//! gtrace leaves a GPU alone that does not initialise: each attempt of NVML's has the driver try to start it, which takes
//! seconds and logs an Xid.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use gtrace_vm_tests::layout::REAL_LIBRARIES;
use serde_json::Value;

use super::calls::{source_is, state};
use super::real::seen_so_far;
use super::xid::of_code;
use crate::guest::daemon::Daemon;
use crate::guest::{Guest, within};

cases! {
    Real "real_nvml_leaves_a_gpu_alone_that_does_not_start" => left_alone, patience(420), idle;
}

/// The daemon waits a minute after the first attempt and two after the second. An Xid is logged when an attempt ends,
/// which a busy host delays, so that the times between two are measured with so much to spare.
const WAITS: [Duration; 2] = [Duration::from_secs(45), Duration::from_secs(90)];

/// Xids that come within so long belong to one attempt.
const ATTEMPT: Duration = Duration::from_secs(30);

/// At most so many Xids come of one attempt, in which the driver may try twice to start the GPU.
const XIDS: usize = 2;

/// After so long without an attempt none is due: the longest wait of a failed one, and time to start.
const ALONE: Duration = Duration::from_secs(180);

/// Attempts that the case waits for, and how long at most.
const ATTEMPTS: usize = WAITS.len() + 1;
const LIMIT: Duration = Duration::from_secs(400);

/// After so long an attempt that was begun would have logged its Xid.
const QUIET: Duration = Duration::from_secs(20);

fn left_alone(guest: &mut Guest) -> Result<()> {
    guest.load_real()?;
    let library = format!("{REAL_LIBRARIES}/libnvidia-ml.so.1");
    let daemon = guest.daemon(&["--nvml-library", &library, "--nvml-interval-s", "5"])?;
    let mut attempts: Vec<Instant> = Vec::new();
    let (mut xids, mut started) = (0, false);
    within(LIMIT, "NVML is tried three times, or starts", || {
        let now = logged(guest)?;
        if now > xids && attempts.last().is_none_or(|last| last.elapsed() > ATTEMPT) {
            attempts.push(Instant::now());
            guest.note(format!("attempt {}: Xids so far: {now}", attempts.len()))?;
        }
        xids = now;
        // NVML of newer series can start though its only GPU does not: then there is nothing to try again.
        started = attempts.last().is_some_and(|last| last.elapsed() > ALONE)
            && state(&daemon, "nvml")? == "active";
        Ok((started || attempts.len() == ATTEMPTS).then_some(()))
    })
    .with_context(|| daemon.log_end())?;
    for (pair, wait) in attempts.windows(2).zip(WAITS) {
        let waited = pair[1].duration_since(pair[0]);
        ensure!(waited >= wait, "only {waited:.0?} between two attempts");
    }
    if started {
        guest.note("NVML started without the GPU")?;
    } else {
        source_is(&daemon, "nvml", "failed")?;
    }
    // The next attempt, if any, is due in four minutes.
    thread::sleep(QUIET);
    let before = logged(guest)?;
    ensure!(
        before <= attempts.len() * XIDS,
        "{before} Xids in {} attempts",
        attempts.len()
    );
    let doctor = daemon.gtrace(&["doctor"])?;
    let printed = String::from_utf8_lossy(&doctor.stdout).into_owned();
    ensure!(
        printed.contains("as the daemon that runs says"),
        "{printed}"
    );
    thread::sleep(QUIET);
    let after = logged(guest)?;
    ensure!(after == before, "doctor caused {} Xids", after - before);
    guest.note(format!("Xids that gtrace caused: {after}"))?;
    events_are_right(&daemon, after, started)
}

/// Xids 143 in the kernel's log.
fn logged(guest: &Guest) -> Result<usize> {
    let lines = guest.dmesg()?;
    let xids = lines
        .iter()
        .filter(|line| line.contains("NVRM: Xid") && line.contains(": 143,"));
    Ok(xids.count())
}

/// One event says that NVML gives nothing, unless it has `started`; the Xids are those that the driver logged, and no event
/// is about how gtrace's own process ended.
fn events_are_right(daemon: &Daemon, xids: usize, started: bool) -> Result<()> {
    seen_so_far(daemon)?;
    let events = daemon.events(&[])?;
    let lost: Vec<_> = events
        .iter()
        .filter(|event| event["kind"] == "source_lost")
        .collect();
    let right = match lost[..] {
        [] => started,
        // Where it has started, an earlier attempt may have failed.
        [event] => {
            let message = event["message"].as_str().unwrap_or_default();
            event["repeats"] == 0 && message.starts_with("nvml")
        }
        _ => false,
    };
    ensure!(right, "{lost:#?}");
    let counted: u64 = of_code(&events, 143)
        .iter()
        .map(|xid| 1 + xid["repeats"].as_u64().unwrap_or(0))
        .sum();
    ensure!(
        counted == xids as u64,
        "{counted} Xids by gtrace, {xids} by the driver: {events:#?}"
    );
    // That an attempt takes seconds is a slow call or more of gtrace's own process, as of any other: its open(2), or its
    // close where the host is busy. There is one process for each attempt, and nothing else of it is an event.
    let own = |event: &&Value| {
        let comm = event["process"]["comm"].as_str();
        comm.is_some_and(|comm| comm.starts_with("gtrace"))
    };
    let (slow, other): (Vec<_>, Vec<_>) = events
        .iter()
        .filter(own)
        .partition(|event| event["kind"] == "slow_call");
    ensure!(other.is_empty(), "gtrace's own processes: {other:#?}");
    let attempts: BTreeSet<_> = slow
        .iter()
        .filter_map(|event| event["process"]["pid"].as_u64())
        .collect();
    ensure!(attempts.len() <= ATTEMPTS, "{slow:#?}");
    Ok(())
}
