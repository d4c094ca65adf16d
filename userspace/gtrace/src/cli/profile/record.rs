//! Taking a profile.

use std::process::ExitCode;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use gtrace_collect::profile_file::{Format, View};
use gtrace_collect::{Collector, POLL_INTERVAL};
use gtrace_engine::host;
use gtrace_event::Timestamp;
use gtrace_profile::{Differences, Key, Profile, Row, Span};

use super::Args;
use crate::cli::shared;

/// Shortest interval that is taken if none is asked for: the daemon reads its counts every 2 s.
const LEAST: Duration = Duration::from_secs(2);
/// Length of the intervals where calls are counted until SIGINT or the process's end.
const UNTIL_ENDED: Duration = Duration::from_secs(10);
/// So many intervals are taken if no length is asked for.
const INTERVALS: u32 = 60;

/// Takes a profile and writes it.
pub(super) fn run(
    args: &Args,
    mut collectors: Vec<Box<dyn Collector>>,
) -> anyhow::Result<ExitCode> {
    let mut output = args.output.clone();
    if args.json {
        output.format = Some(Format::Json);
    }
    output.check()?;
    let live = collectors.iter().any(|c| c.counts_from_its_start());
    let lasts = args.duration.is_some() || live;
    // Before one prints that it counts: who reads that may end it at once.
    let stopped = lasts.then(until_signal).transpose()?;
    for collector in &mut collectors {
        collector.start()?;
    }
    let mut profile = Profile::default();
    profile.taken.hosts.insert(host::name());
    profile.taken.kernels.insert(host::kernel_release());
    let wanted = |key: &Key| args.pid.is_none_or(|pid| is_of(key, pid));
    if let Some(stopped) = stopped {
        let whole = args.duration.map(|duration| duration / INTERVALS);
        let interval = whole.unwrap_or(UNTIL_ENDED).max(LEAST);
        let interval = args.interval.unwrap_or(interval);
        let due = args.duration;
        over(&mut profile, &mut collectors, due, interval, &stopped)?;
    } else {
        so_far(&mut profile, &mut collectors)?;
    }
    profile.retain(wanted);
    for note in collectors.iter().flat_map(|collector| collector.notes()) {
        shared::say(&note);
    }
    if profile.rows.is_empty() {
        shared::say("no calls were counted");
    }
    let view = View {
        order: args.sort.into(),
        limit: args.limit,
    };
    output.put(&profile, view)?;
    Ok(ExitCode::SUCCESS)
}

/// Whether a row is of process `pid`, or of a worker for a process of that number on another host.
fn is_of(key: &Key, pid: u32) -> bool {
    let origin = key.process.origin.as_ref();
    key.process.pid == pid || origin.is_some_and(|origin| origin.pid == pid)
}

fn read(collectors: &mut [Box<dyn Collector>]) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for collector in collectors {
        rows.extend(collector.read()?);
    }
    Ok(rows)
}

/// Everything that was counted before.
fn so_far(profile: &mut Profile, collectors: &mut [Box<dyn Collector>]) -> anyhow::Result<()> {
    for row in read(collectors)? {
        profile.add(&row);
    }
    let now = Timestamp::now();
    profile.cover(Span {
        start: now,
        end: now,
    });
    Ok(())
}

/// What is counted from now on, until `duration` has passed, SIGINT comes, or nothing more can be counted.
fn over(
    profile: &mut Profile,
    collectors: &mut [Box<dyn Collector>],
    duration: Option<Duration>,
    interval: Duration,
    stopped: &mpsc::Receiver<()>,
) -> anyhow::Result<()> {
    // Of what counts from its start, all that it has counted by now is part of the profile.
    let others = collectors.iter_mut();
    let mut before = Vec::new();
    for collector in others.filter(|collector| !collector.counts_from_its_start()) {
        before.extend(collector.read()?);
    }
    let mut differences = Differences::begin(&before);
    let began = Instant::now();
    let mut start = Timestamp::now();
    let mut round = 0;
    loop {
        round += 1;
        let due = interval.saturating_mul(round);
        let due = duration.map_or(due, |duration| due.min(duration));
        let mut looked: Vec<&mut dyn Collector> = Vec::new();
        looked.extend(
            collectors
                .iter_mut()
                .map(|collector| collector.as_mut() as _),
        );
        let interrupted = wait(&mut looked, stopped, Some(began + due))?;
        let rows = differences.advance(&read(collectors)?);
        // A clock that was set back must not make an interval end before it starts.
        let end = Timestamp::now().max(start);
        profile.add_interval(Span { start, end }, &rows);
        start = end;
        if interrupted || duration.is_some_and(|duration| began.elapsed() >= duration) {
            break;
        }
    }
    if differences.lost() > 0 {
        shared::say(&format!(
            "{} times the counts of ended processes could not be distinguished; their last calls are missing",
            differences.lost()
        ));
    }
    Ok(())
}

/// A message comes there with SIGINT or SIGTERM.
pub(super) fn until_signal() -> anyhow::Result<mpsc::Receiver<()>> {
    let (stop, stopped) = mpsc::channel();
    shared::on_signals(move || {
        // Without a receiver it is over already.
        let _ = stop.send(());
    })?;
    Ok(stopped)
}

/// Waits until `due`, or for ever; whether counting is to end.
pub(super) fn wait(
    collectors: &mut [&mut dyn Collector],
    stopped: &mpsc::Receiver<()>,
    due: Option<Instant>,
) -> anyhow::Result<bool> {
    loop {
        let left = due.map_or(POLL_INTERVAL, |due| {
            due.saturating_duration_since(Instant::now())
        });
        if left.is_zero() {
            return Ok(false);
        }
        let timed_out = Err(mpsc::RecvTimeoutError::Timeout);
        if stopped.recv_timeout(left.min(POLL_INTERVAL)) != timed_out {
            return Ok(true);
        }
        for collector in &mut *collectors {
            if !collector.poll()? {
                return Ok(true);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gtrace_profile::{Counts, Histogram, Layer, Part, Process};

    /// Counts one call more at each reading.
    struct Counting(u64);

    impl Collector for Counting {
        fn start(&mut self) -> anyhow::Result<()> {
            Ok(())
        }

        fn read(&mut self) -> anyhow::Result<Vec<Row>> {
            self.0 += 1;
            let mut histogram = Histogram::default();
            histogram.record_n(1_000, self.0);
            Ok(vec![Row {
                key: Key {
                    process: Process {
                        pid: 7,
                        ..Process::default()
                    },
                    layer: Layer::Driver,
                    function: "f".into(),
                    part: Part::Whole,
                    gpu: None,
                },
                counts: Counts::timed(histogram),
            }])
        }
    }

    #[test]
    fn a_duration_counts_only_what_came_in_it_by_interval() {
        let mut profile = Profile::default();
        let mut collectors: Vec<Box<dyn Collector>> = vec![Box::new(Counting(10))];
        let (duration, interval) = (Duration::from_millis(90), Duration::from_millis(30));
        let (_never, stopped) = mpsc::channel();
        over(
            &mut profile,
            &mut collectors,
            Some(duration),
            interval,
            &stopped,
        )
        .unwrap();
        let calls: u64 = profile.rows.values().map(|counts| counts.calls).sum();
        assert_eq!(calls, profile.intervals.len() as u64);
        assert!(calls >= 3, "{calls}");
        let span = profile.taken.span.unwrap();
        assert!(span.nanos() >= 80_000_000, "{}", span.nanos());
    }
}
