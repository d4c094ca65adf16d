//! The driver comes, goes and comes in another version while gtrace runs.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use super::calls::{counted, row, rows, source_is};
use crate::guest::daemon::Daemon;
use crate::guest::modules::remove_within;
use crate::guest::nvrm::{GET_INFO, NvDevice};
use crate::guest::process::Helper;
use crate::guest::stub::{GPUS, Generation};
use crate::guest::{Guest, PATIENCE, within};

cases! {
    Driver "reload_is_followed_within_a_second" => followed, core;
    Driver "reload_leaks_nothing" => leaks_nothing, patience(120);
    Driver "reload_under_traffic" => under_traffic, patience(120);
    Driver "reload_while_paused" => paused;
}

pub(super) const HELPERS: &[super::Helper] = &[("reopen", reopen)];

/// Opens the device anew for every few calls, whether or not it is there; never ends.
fn reopen(args: &[String]) -> Result<()> {
    let [path] = args else {
        anyhow::bail!("usage: reopen DEVICE");
    };
    println!("begun");
    loop {
        if let Ok(device) = NvDevice::open(path) {
            for _ in 0..10 {
                let _ = device.control(GET_INFO);
            }
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn generation(round: u32) -> (Generation, &'static str) {
    if round.is_multiple_of(2) {
        (Generation::Current, "580.95.05")
    } else {
        (Generation::Frontend, "535.183.01")
    }
}

/// Loads the stub as one driver in even rounds, and as an older one in odd rounds.
pub(super) fn load(guest: &Guest, round: u32) -> Result<()> {
    let (generation, version) = generation(round);
    guest.load_stub(generation, &format!("{GPUS} version={version}"))
}

/// How long it takes until a source is in a state; reported, not judged, as the machine is emulated.
fn time_until(daemon: &Daemon, name: &str, state: &str) -> Result<Duration> {
    let begin = Instant::now();
    source_is(daemon, name, state)?;
    Ok(begin.elapsed())
}

fn followed(guest: &mut Guest) -> Result<()> {
    let daemon = guest.daemon(&[])?;
    source_is(&daemon, "driver:ioctl", "absent")?;
    source_is(&daemon, "syscalls:ioctl", "active")?;
    let mut slowest = Duration::ZERO;
    for round in 0..4 {
        load(guest, round)?;
        for source in ["driver:ioctl", "nv_report_error"] {
            slowest = slowest.max(time_until(&daemon, source, "active")?);
        }
        source_is(&daemon, "syscalls:ioctl", "off")?;
        guest
            .unload_stub()
            .context("refused, though nothing but gtrace runs")?;
        slowest = slowest.max(time_until(&daemon, "driver:ioctl", "absent")?);
    }
    guest.note(format!("slowest to follow: {slowest:.1?}"))?;
    Ok(())
}

/// Open files of a process by what they are, and its anonymous memory. Those of the store and of the samples are left out: the
/// readers of the first are a pool that grows to its bound, the files of the second are opened with the first of their samples.
pub(super) fn held(pid: u32) -> Result<(BTreeMap<String, usize>, u64)> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(format!("/proc/{pid}/fd"))? {
        // Closed meanwhile.
        let Ok(target) = fs::read_link(entry?.path()) else {
            continue;
        };
        let target = target.to_string_lossy().into_owned();
        // `socket:[1234]`: each has a number of its own.
        let (what, _) = target.split_once(":[").unwrap_or((&target, ""));
        if !["/store.db", "/samples/"]
            .iter()
            .any(|own| what.contains(own))
        {
            *files.entry(what.to_owned()).or_insert(0) += 1;
        }
    }
    Ok((files, rss_anon(pid)?))
}

/// Anonymous memory of a process, bytes.
pub(super) fn rss_anon(pid: u32) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let rss = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    let kib = rss.and_then(|r| r.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    Ok(kib.context("no RssAnon")? * 1024)
}

fn leaks_nothing(guest: &mut Guest) -> Result<()> {
    /// What the machine's free memory may differ by: slab caches, and a block or two of 4 MiB that is freed late.
    const SLACK: u64 = 12 << 20;
    /// What the daemon may have more: it gives memory back now and then, not at once.
    const MORE: u64 = 4 << 20;
    const WARM_UP: u32 = 4;
    let rounds = if guest.long() { 100 } else { 20 };
    let daemon = guest.daemon(&[])?;
    let own = std::process::id();
    let mut before = None;
    let mut made = BTreeMap::new();
    for round in 0..WARM_UP + rounds {
        if round == WARM_UP {
            before = Some((stable(guest)?, held(daemon.pid())?));
        }
        load(guest, round)?;
        source_is(&daemon, "driver:ioctl", "active")?;
        let device = NvDevice::open("/dev/nvidia0")?;
        let code = 0x2080_f000 + round;
        for _ in 0..100 {
            device.control(code)?;
        }
        made.insert(code, 100);
        drop(device);
        guest
            .unload_stub()
            .with_context(|| format!("refused in round {round}"))?;
        source_is(&daemon, "driver:ioctl", "absent")?;
        guest.note(format!("round {round}"))?;
    }
    let (memory, (files, rss)) = before.context("no round")?;
    for (code, count) in made {
        row(&daemon, own, code, count)?;
    }
    // What the daemon gives back, and what the kernel frees, may be late on a busy host.
    let deadline = Instant::now() + PATIENCE;
    let (mut files_now, mut rss_now) = held(daemon.pid())?;
    while (files_now != files || rss_now > rss + MORE) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(500));
        (files_now, rss_now) = held(daemon.pid())?;
    }
    let mut memory_now = stable(guest)?;
    while memory_now + SLACK < memory && Instant::now() < deadline {
        memory_now = stable(guest)?;
    }
    guest.note(format!(
        "{rounds} reloads: free memory {} KiB less, daemon {} KiB more, {} open files",
        (memory.saturating_sub(memory_now)) / 1024,
        rss_now.saturating_sub(rss) / 1024,
        files_now.values().sum::<usize>()
    ))?;
    ensure!(
        files_now == files,
        "open before: {files:#?}, after: {files_now:#?}"
    );
    ensure!(rss_now <= rss + MORE, "{rss} bytes before, {rss_now} after");
    ensure!(
        memory_now + SLACK >= memory,
        "{memory} bytes of memory before, {memory_now} after"
    );
    let log = daemon.log();
    ensure!(!log.contains("not attached"), "{log}");
    Ok(())
}

/// Free memory, in the lists of CPUs too, once what the kernel frees late is free.
fn stable(guest: &Guest) -> Result<u64> {
    fs::write("/proc/sys/vm/drop_caches", "3\n")?;
    std::thread::sleep(Duration::from_millis(500));
    Ok(guest.mem_available()? + guest.free_per_cpu()?)
}

fn under_traffic(guest: &mut Guest) -> Result<()> {
    let rounds = if guest.long() { 100 } else { 10 };
    let daemon = guest.daemon(&[])?;
    let mut traffic = Helper::ready("reopen", &["/dev/nvidia0"])?;
    for round in 0..rounds {
        load(guest, round)?;
        source_is(&daemon, "driver:ioctl", "active")?;
        guest.stub("reset")?;
        within(PATIENCE, "there is traffic", || {
            Ok((guest.stub_count("RM_CONTROL", GET_INFO)? > 50).then_some(()))
        })?;
        remove_within("nvidia_uvm", PATIENCE)?;
        // The helper holds the device half of the time.
        remove_within("nvidia", PATIENCE)?;
        guest.note(format!("round {round}"))?;
    }
    source_is(&daemon, "driver:ioctl", "absent")?;
    let rows = rows(&daemon)?;
    let calls = counted(&rows, |r| r["pid"] == traffic.pid());
    ensure!(
        calls > 50 * u64::from(rounds),
        "{calls} calls seen: {rows:#?}"
    );
    ensure!(traffic.ended()?.is_none(), "the traffic ended");
    Ok(())
}

fn paused(guest: &mut Guest) -> Result<()> {
    let daemon = guest.daemon(&[])?;
    load(guest, 0)?;
    source_is(&daemon, "driver:ioctl", "active")?;
    ensure!(daemon.gtrace(&["pause"])?.status.success(), "pause");
    source_is(&daemon, "driver:ioctl", "off")?;
    guest.unload_stub()?;
    load(guest, 1)?;
    std::thread::sleep(Duration::from_secs(2));
    source_is(&daemon, "driver:ioctl", "off")?;
    ensure!(daemon.gtrace(&["resume"])?.status.success(), "resume");
    source_is(&daemon, "driver:ioctl", "active")?;
    let device = NvDevice::open("/dev/nvidia0")?;
    for _ in 0..7 {
        device.control(GET_INFO)?;
    }
    row(&daemon, std::process::id(), GET_INFO, 7)?;
    Ok(())
}
