//! Memory and CPU time of the daemon, idle and while ioctls are traced.

use std::time::Duration;

use super::Context;
use crate::bpftrace::Bpftrace;
use crate::daemon::Daemon;
use crate::ioctl_load::{IoctlLoad, TRACED};
use crate::process::{Process, Usage, usage_of};
use crate::report::{Figure, Report};
use crate::scratch::Scratch;
use crate::stand_in::Gpus;

const BUDGET_RSS_MIB: f64 = 25.0;
const BUDGET_IDLE_PERCENT: f64 = 0.2;
const BUDGET_MAPS_MIB: f64 = 32.0;
/// What the flight recorder may add: idle, under load, and memory.
const BUDGET_RECORDER: [f64; 2] = [0.1, 0.3];
const BUDGET_RECORDER_MIB: f64 = 16.0;
/// With everything on, the daemon and its NVML child together.
const BUDGET_ALL_PERCENT: f64 = 0.3;
const GPUS: u32 = 8;
const RATE: u32 = 50_000;
const MIB: f64 = (1 << 20) as f64;

/// What a process took over a while.
#[derive(Clone, Copy, Debug)]
struct Taken {
    rss_mib: f64,
    pss_mib: f64,
    core_percent: f64,
    maps_mib: f64,
}

pub(super) fn run(context: &Context) -> anyhow::Result<Report> {
    let idle_for = Duration::from_secs(context.pick(5, 30, 600));
    let load_for = Duration::from_secs(context.pick(2, 15, 60));
    let mut report = Report::new(
        "footprint",
        format!(
            "the daemon idle for {} s, then {} s under {RATE} traced ioctls a second; bpftrace \
             with a latency histogram by process the same way; a daemon with and one without the flight recorder the \
             same way, beside each other",
            idle_for.as_secs(),
            load_for.as_secs()
        ),
    );
    let ours = measure_gtrace(context, idle_for, load_for, &mut report)?;
    context.say("bpftrace");
    let theirs = match Bpftrace::start()? {
        Some(bpftrace) => {
            report.note(format!(
                "{} filters by {}",
                Bpftrace::version().unwrap_or_default(),
                bpftrace.filter
            ));
            let idle = take(&bpftrace.process, load_for)?;
            let (loaded, _) = under_load(&bpftrace.process, load_for)?;
            Some([idle, loaded])
        }
        None => {
            report.note("bpftrace is not installed, so there is no peer");
            None
        }
    };
    push_all(&mut report, ours, theirs);
    recorder(context, [idle_for, load_for], &mut report)?;
    Ok(report)
}

/// What the flight recorder adds: the difference of two daemons that see the same at the same time.
fn recorder(context: &Context, times: [Duration; 2], report: &mut Report) -> anyhow::Result<()> {
    context.say("gtrace with and without the flight recorder");
    let without = ["--devices", TRACED, "--flight-recorder", "false"];
    let daemons = [
        Daemon::start(context, &["--devices", TRACED])?,
        Daemon::start(context, &without)?,
    ];
    let usage = || -> anyhow::Result<[Usage; 2]> {
        Ok([daemons[0].process.usage()?, daemons[1].process.usage()?])
    };
    let mut last = usage()?;
    for (i, state) in ["idle", "under load"].into_iter().enumerate() {
        let load = match i {
            0 => None,
            _ => Some(IoctlLoad::start(RATE, 2)?),
        };
        let before = usage()?;
        std::thread::sleep(times[i]);
        last = usage()?;
        drop(load);
        let [with, without] = [0, 1].map(|one| last[one].core_percent(&before[one]));
        let name = format!("flight recorder, share of a core, {state}");
        let figure = Figure::new(name, with - without, "%")
            .with("daemon with it", with)
            .with("without", without)
            .budget(BUDGET_RECORDER[i]);
        report.push(figure);
    }
    let [with, without] = last.map(|usage| usage.rss_anon_mib());
    let figure = Figure::new("flight recorder, RssAnon", with - without, "MiB")
        .with("daemon with it", with)
        .with("without", without)
        .budget(BUDGET_RECORDER_MIB);
    report.push(figure);
    Ok(())
}

/// Everything on: GPUs, CUDA probes, samples, recorder, listener.
pub(super) fn with_gpus(context: &Context) -> anyhow::Result<Report> {
    let time = Duration::from_secs(context.pick(5, 30, 1800));
    let mut report = Report::new(
        "footprint-gpus",
        format!(
            "the daemon idle for {} s with {GPUS} GPUs of the CPU emulator's NVML and everything on",
            time.as_secs()
        ),
    );
    let gpus = match Gpus::find(context, GPUS) {
        Ok(gpus) => gpus,
        Err(why) => {
            report.skip(why);
            return Ok(report);
        }
    };
    let options = ["--listen", "127.0.0.1:0", "--cuda-api", "--devices", TRACED];
    let daemon = Daemon::start_in(Scratch::new(context)?, context, Some(&gpus), &options)?;
    daemon.shows(&gpus)?;
    let children = daemon.process.children()?;
    let before = all(&daemon, &children)?;
    std::thread::sleep(time);
    let after = all(&daemon, &children)?;
    let rss: f64 = after.iter().map(Usage::rss_anon_mib).sum();
    let of_daemon = after[0].core_percent(&before[0]);
    let share: f64 = after
        .iter()
        .zip(&before)
        .map(|(after, before)| after.core_percent(before))
        .sum();
    let figure = Figure::new(format!("RssAnon, {GPUS} GPUs"), rss, "MiB")
        .with("daemon", after[0].rss_anon_mib())
        .budget(BUDGET_RSS_MIB);
    report.push(figure);
    let figure = Figure::new(format!("share of a core, {GPUS} GPUs"), share, "%")
        .with("daemon", of_daemon)
        .budget(BUDGET_ALL_PERCENT);
    report.push(figure);
    report.note(format!(
        "the daemon and its {} child processes together",
        children.len()
    ));
    Ok(report)
}

/// The daemon's usage, and that of its children.
fn all(daemon: &Daemon, children: &[u32]) -> anyhow::Result<Vec<Usage>> {
    let own = std::iter::once(daemon.process.pid());
    own.chain(children.iter().copied()).map(usage_of).collect()
}

fn measure_gtrace(
    context: &Context,
    idle_for: Duration,
    load_for: Duration,
    report: &mut Report,
) -> anyhow::Result<[Taken; 2]> {
    let daemon = Daemon::start(context, &["--devices", TRACED])?;
    report.note(format!(
        "the kernel log's history led to {} records before the measurement",
        daemon.last_seq()?
    ));
    for source in ["printk:console", "syscalls:ioctl"] {
        daemon.source(source)?.map_err(anyhow::Error::msg)?;
    }
    context.say("gtrace idle");
    let before = logged(&daemon)?;
    let asleep = daemon.process.wakeups()?;
    let idle = take(&daemon.process, idle_for)?;
    let wakeups = daemon.process.wakeups()?.saturating_sub(asleep);
    let after = logged(&daemon)?;
    report.note(format!(
        "while idle, its threads were woken {:.1} times a second: unlike its CPU time, that does not depend on the machine",
        wakeups as f64 / idle_for.as_secs_f64()
    ));
    let [lines, records] = [after[0] - before[0], after[1] - before[1]];
    let judgement = if lines > idle_for.as_secs_f64() {
        "; THIS HOST WAS NOT IDLE, and the idle figures are those of that load"
    } else {
        ""
    };
    report.note(format!(
        "while idle, the kernel logged {lines:.0} lines, which led to {records:.0} records in \
         the store{judgement}"
    ));
    context.say("gtrace under load");
    let (loaded, rate) = under_load(&daemon.process, load_for)?;
    report.note(format!("the load reached {rate:.0} ioctls a second"));
    Ok([idle, loaded])
}

/// Kernel log lines that the daemon has seen, and records in its store.
fn logged(daemon: &Daemon) -> anyhow::Result<[f64; 2]> {
    let read = daemon.counters("gtrace_source_records_total")?;
    let lines = read
        .get("source=\"printk:console\"")
        .copied()
        .unwrap_or(0.0);
    Ok([lines, daemon.last_seq()? as f64])
}

fn under_load(process: &Process, time: Duration) -> anyhow::Result<(Taken, f64)> {
    let load = IoctlLoad::start(RATE, 2)?;
    let taken = take(process, time)?;
    Ok((taken, load.rate()))
}

fn take(process: &Process, time: Duration) -> anyhow::Result<Taken> {
    let before = process.usage()?;
    std::thread::sleep(time);
    let after = process.usage()?;
    Ok(Taken {
        rss_mib: after.rss_anon_mib(),
        pss_mib: after.pss_mib(),
        core_percent: after.core_percent(&before),
        maps_mib: process.map_bytes()? as f64 / MIB,
    })
}

type Part = fn(&Taken) -> f64;

fn push_all(report: &mut Report, ours: [Taken; 2], theirs: Option<[Taken; 2]>) {
    let parts: [(&str, &'static str, Part, [Option<f64>; 2]); 4] = [
        ("RssAnon", "MiB", |t| t.rss_mib, [Some(BUDGET_RSS_MIB); 2]),
        ("PSS", "MiB", |t| t.pss_mib, [None; 2]),
        (
            "share of a core",
            "%",
            |t| t.core_percent,
            [Some(BUDGET_IDLE_PERCENT), None],
        ),
        (
            "memory of BPF maps",
            "MiB",
            |t| t.maps_mib,
            [Some(BUDGET_MAPS_MIB); 2],
        ),
    ];
    for (i, state) in ["idle", "under load"].into_iter().enumerate() {
        for (name, unit, part, budgets) in &parts {
            let mut figure = Figure::new(format!("{name}, {state}"), part(&ours[i]), unit);
            if let Some(limit) = budgets[i] {
                figure = figure.budget(limit);
            }
            if let Some(theirs) = &theirs {
                let theirs = part(&theirs[i]);
                figure = figure.with("bpftrace", theirs).beside("bpftrace", theirs);
            }
            report.push(figure);
        }
    }
}
