//! Calls under way: slow ones, ones whose return the kernel does not show, and ones that a pause of
//! the probes falls into.

use std::sync::Barrier;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::calls::{READ_AGAIN, counted, rows, source_is};
use crate::guest::daemon::Daemon;
use crate::guest::nvrm::{GET_INFO, NvDevice};
use crate::guest::process::Helper;
use crate::guest::stub::{GPUS, Generation};
use crate::guest::{Guest, PATIENCE, stable, within};

cases! {
    Driver "calls_that_are_slow_are_events" => slow;
    Driver "calls_whose_return_is_missed" => missed;
    Driver "calls_after_pause_are_not_hung" => after_pause;
}

pub(super) const HELPERS: &[super::Helper] = &[("sleepers", sleepers), ("traffic", traffic)];

/// Of the helper `traffic`.
const THREADS: u32 = 4;

/// Makes one call in each of `COUNT` threads at the same time, twice.
fn sleepers(args: &[String]) -> Result<()> {
    let [device, count] = args else {
        anyhow::bail!("usage: sleepers DEVICE COUNT");
    };
    let count: usize = count.parse()?;
    let start = Barrier::new(count);
    std::thread::scope(|scope| {
        for _ in 0..count {
            scope.spawn(|| {
                let device = NvDevice::open(device);
                for _ in 0..2 {
                    start.wait();
                    if let Ok(device) = &device {
                        let _ = device.control(GET_INFO);
                    }
                }
            });
        }
    });
    println!("done");
    std::thread::park();
    Ok(())
}

/// Makes one call after the other in each of four threads; never ends.
fn traffic(args: &[String]) -> Result<()> {
    let [device] = args else {
        anyhow::bail!("usage: traffic DEVICE");
    };
    let device = NvDevice::open(device)?;
    println!("begun");
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| while device.control(GET_INFO).is_ok() {});
        }
    });
    anyhow::bail!("the driver refuses calls")
}

fn slow(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Current, GPUS)?;
    let daemon = guest.daemon(&["--slow-call-ms", "1000"])?;
    guest.stub("delay 0x2a 1500000 1")?;
    let device = NvDevice::open("/dev/nvidia0")?;
    device.control(GET_INFO)?;
    device.control(GET_INFO)?;
    let event = daemon.event("an event of the slow call", |e| e["kind"] == "slow_call")?;
    ensure!(event["repeats"] == 0, "{event:#}");
    let took = event["detail"]["latency_ns"]
        .as_u64()
        .context("no latency")?;
    ensure!(took >= 1_500_000_000, "{event:#}");
    ensure!(event["detail"]["op"] == "RM_CONTROL", "{event:#}");
    Ok(())
}

/// How many returns of calls the daemon says the kernel has not shown.
fn missed_returns(daemon: &Daemon) -> Result<f64> {
    let metric = "gtrace_lost_total{source=\"driver calls\",what=\"return_missed\"}";
    let metrics = daemon.get_text("/metrics")?;
    let line = metrics.lines().find_map(|line| line.strip_prefix(metric));
    line.map_or(Ok(0.0), |number| Ok(number.trim().parse()?))
}

/// How many calls of a process the statistics have.
fn timed_calls(daemon: &Daemon, pid: u32) -> Result<u64> {
    Ok(counted(&rows(daemon)?, |r| {
        r["pid"] == pid && r["op"] == "RM_CONTROL"
    }))
}

/// The kernel shows only so many returns of sleeping calls at a time; what it does not show is
/// counted.
fn missed(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Current, GPUS)?;
    let daemon = guest.daemon(&[])?;
    source_is(&daemon, "driver:ioctl", "active")?;
    guest.stub("delay 0x2a 400000")?;
    let helper = Helper::ready("sleepers", &["/dev/nvidia0", "40"])?;
    let (missed, timed) = stable("missed and timed calls stand still", READ_AGAIN, || {
        Ok((
            missed_returns(&daemon)?,
            timed_calls(&daemon, helper.pid())?,
        ))
    })?;
    guest.note(format!(
        "80 calls, 40 at a time: {timed} timed, {missed} missed"
    ))?;
    // A thread's missed return is noticed at its next call or at its end, and the threads have ended.
    ensure!(
        timed >= 1 && missed >= 1.0,
        "{timed} timed, {missed} missed"
    );
    ensure!(
        timed as f64 + missed == 80.0,
        "80 calls, of which {timed} are timed and {missed} missed"
    );
    Ok(())
}

/// The return of a call that was under way when the probes were detached is never seen. Such a call
/// does not hang.
fn after_pause(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Current, GPUS)?;
    let daemon = guest.daemon(&["--hung-call-s", "2"])?;
    source_is(&daemon, "driver:ioctl", "active")?;
    // So that a call is under way in each thread nearly all the time.
    guest.stub("delay 0x2a 20000")?;
    let helper = Helper::ready("traffic", &["/dev/nvidia0"])?;
    let counts = |more_than: u64, what: &str| {
        within(PATIENCE, what, || {
            let timed = timed_calls(&daemon, helper.pid())?;
            Ok((timed > more_than).then_some(timed))
        })
    };
    counts(0, "calls are counted")?;
    ensure!(daemon.gtrace(&["pause"])?.status.success(), "pause");
    source_is(&daemon, "driver:ioctl", "off")?;
    std::thread::sleep(Duration::from_secs(12));
    let before = timed_calls(&daemon, helper.pid())?;
    ensure!(daemon.gtrace(&["resume"])?.status.success(), "resume");
    source_is(&daemon, "driver:ioctl", "active")?;
    counts(before, "calls are counted again")?;
    // Hung calls are checked for every five seconds.
    std::thread::sleep(Duration::from_secs(7));
    let events = daemon.events(&[])?;
    let hung: Vec<_> = events
        .iter()
        .filter(|e: &&Value| e["detail"]["returned"] == false)
        .collect();
    ensure!(hung.is_empty(), "calls that hang: {hung:#?}");
    let missed = missed_returns(&daemon)?;
    guest.note(format!("{missed} returns missed"))?;
    ensure!(
        missed <= f64::from(THREADS),
        "{missed} returns missed by {THREADS} threads"
    );
    Ok(())
}
