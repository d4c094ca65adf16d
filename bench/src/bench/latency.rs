//! From write(2) into the kernel log to the line of a reader.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::bail;
use fastrand::Rng;

use super::Context;
use crate::daemon::Daemon;
use crate::kmsg::KernelLog;
use crate::machine::Busy;
use crate::markers::Marker;
use crate::report::{Figure, Report};
use crate::stats::Samples;
use crate::watcher::{Watch, Watcher};

const BUDGET_MS: f64 = 2.0;
/// Until an incident can be read.
const INCIDENT_MS: f64 = 10.0;
/// Lines until every reader is there.
const WARM_UP: usize = 100;
const HOT_GAP: Duration = Duration::from_micros(500);
/// Lines that have not come so long after the last one are lost.
const GIVE_UP: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug)]
enum Pace {
    Lone,
    Hot,
}

pub(super) fn run(context: &Context) -> anyhow::Result<Report> {
    let lines = context.pick(40, 400, 2_000);
    let mut report = Report::new(
        "latency",
        format!(
            "from just before write(2) into /dev/kmsg until a reader's line can be read, {lines} \
             lines a pass; lone: random gaps of 5 to 50 ms, hot: 2,000 lines a second"
        ),
    );
    let daemon = Daemon::start(context, &[])?;
    if let Err(reason) = daemon.source("printk:console")? {
        report.note(reason);
    }
    let mut log = KernelLog::open()?;
    let dmesg = has_dmesg();
    if !dmesg {
        report.note("dmesg has no --follow-new here (util-linux 2.37), so there is no peer");
    }
    let pass = |what: &'static str| Pass {
        what,
        context,
        daemon: &daemon,
        lines,
    };

    let busy = Busy::begin();
    let alone = pass("lone, gtrace alone").run(&mut log, Pace::Lone, false, false)?;
    report.note(format!("during the pass with gtrace alone: {}", busy.end()));
    for figure in alone {
        report.push(figure.budget(BUDGET_MS));
    }
    let confirmed = pass("lone, lines without a drill's prefix").confirmed(&mut log)?;
    for figure in confirmed {
        report.push(figure.budget(BUDGET_MS));
    }
    let split = pass("lone, all readers at once").run(&mut log, Pace::Lone, true, dmesg)?;
    let hot = pass("hot, all readers at once").run(&mut log, Pace::Hot, true, dmesg)?;
    for figure in split.into_iter().chain(hot) {
        report.push(figure);
    }
    let opened = pass("a line opens an incident").incidents(&mut log)?;
    for figure in opened {
        report.push(figure.budget(INCIDENT_MS));
    }
    Ok(report)
}

fn has_dmesg() -> bool {
    let help = Command::new("dmesg").arg("--help").output();
    help.is_ok_and(|o| String::from_utf8_lossy(&o.stdout).contains("--follow-new"))
}

struct Pass<'a> {
    what: &'static str,
    context: &'a Context,
    daemon: &'a Daemon,
    lines: usize,
}

impl Pass<'_> {
    fn begin(&self) -> Watch {
        self.context.say(self.what);
        Watch {
            marker: Marker::new(),
            epoch: Instant::now(),
            lines: WARM_UP + self.lines,
        }
    }

    fn run(
        &self,
        log: &mut KernelLog,
        pace: Pace,
        stream: bool,
        dmesg: bool,
    ) -> anyhow::Result<Vec<Figure>> {
        let watch = self.begin();
        let mut watchers = vec![Watcher::follower(
            &self.context.gtrace,
            self.daemon,
            &watch,
        )?];
        if stream {
            watchers.push(Watcher::stream(self.daemon, &watch)?);
        }
        if dmesg {
            watchers.push(Watcher::dmesg(&watch)?);
        }
        let line = |n| watch.marker.xid(n);
        self.measure(log, &watch, &watchers, pace, line)
    }

    /// Each line waits for /dev/kmsg to say who wrote it, as a true fault's does.
    fn confirmed(&self, log: &mut KernelLog) -> anyhow::Result<Vec<Figure>> {
        let watch = self.begin();
        let gtrace = &self.context.gtrace;
        let watchers = [Watcher::follower(gtrace, self.daemon, &watch)?];
        let line = |n| watch.marker.plain_xid(n);
        self.measure(log, &watch, &watchers, Pace::Lone, line)
    }

    /// Each line is of a GPU of its own, and so of an incident of its own.
    fn incidents(&self, log: &mut KernelLog) -> anyhow::Result<Vec<Figure>> {
        let watch = self.begin();
        let watchers = [Watcher::incidents(self.daemon, &watch)?];
        let line = |n| watch.marker.loss(n);
        self.measure(log, &watch, &watchers, Pace::Lone, line)
    }

    fn measure(
        &self,
        log: &mut KernelLog,
        watch: &Watch,
        watchers: &[Watcher],
        pace: Pace,
        line: impl Fn(usize) -> String,
    ) -> anyhow::Result<Vec<Figure>> {
        warm_up(log, &line, watchers)?;
        let sent = send(log, watch, &line, pace, self.lines)?;
        let until = Instant::now() + GIVE_UP;
        let all = |w: &Watcher| (WARM_UP..watch.lines).all(|n| w.seen(n).is_some());
        while Instant::now() < until && !watchers.iter().all(all) {
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(self.figures(watchers, &sent))
    }

    fn figures(&self, watchers: &[Watcher], sent: &[u64]) -> Vec<Figure> {
        let samples: Vec<_> = watchers.iter().map(|w| latencies(w, sent)).collect();
        let mut figures = Vec::new();
        for (i, (watcher, own)) in watchers.iter().zip(&samples).enumerate() {
            let mut figure =
                Figure::p99(format!("{}, {}, p99", watcher.name, self.what), own, "ms")
                    .with("lost", (sent.len() - own.len()) as f64);
            for (peer, theirs) in watchers.iter().zip(&samples).skip(i + 1) {
                let p50 = own.quantile(0.5) / theirs.quantile(0.5);
                figure = figure
                    .beside(&format!("{} (p99)", peer.name), theirs.quantile(0.99))
                    .ratio(&format!("{} (p50)", peer.name), p50);
            }
            figures.push(figure);
        }
        figures
    }
}

fn latencies(watcher: &Watcher, sent: &[u64]) -> Samples {
    let seen = |(i, sent): (usize, &u64)| {
        Some(watcher.seen(WARM_UP + i)?.saturating_sub(*sent) as f64 / 1e6)
    };
    sent.iter().enumerate().filter_map(seen).collect()
}

/// Writes lines until every watcher has seen the newest.
fn warm_up(
    log: &mut KernelLog,
    line: impl Fn(usize) -> String,
    watchers: &[Watcher],
) -> anyhow::Result<()> {
    for n in 0..WARM_UP {
        log.write(&line(n))?;
        std::thread::sleep(Duration::from_millis(100));
        if n >= 3 && watchers.iter().all(|w| w.seen(n).is_some()) {
            return Ok(());
        }
    }
    let without = watchers
        .iter()
        .filter(|w| (0..WARM_UP).all(|n| w.seen(n).is_none()));
    let names: Vec<_> = without.map(|w| w.name).collect();
    if names.is_empty() {
        // Slow, but they are there; the figures will show it.
        return Ok(());
    }
    bail!("{} saw none of {WARM_UP} lines", names.join(" and "));
}

/// Writes the lines; gives back when, in nanoseconds since the epoch.
fn send(
    log: &mut KernelLog,
    watch: &Watch,
    line: impl Fn(usize) -> String,
    pace: Pace,
    lines: usize,
) -> anyhow::Result<Vec<u64>> {
    let mut rng = Rng::with_seed(31);
    let mut sent = Vec::with_capacity(lines);
    let mut due = Instant::now();
    for n in WARM_UP..WARM_UP + lines {
        let text = line(n);
        due += match pace {
            Pace::Lone => Duration::from_micros(5_000 + rng.u64(..45_000)),
            Pace::Hot => HOT_GAP,
        };
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        sent.push(u64::try_from(watch.epoch.elapsed().as_nanos())?);
        log.write(&text)?;
    }
    Ok(sent)
}
