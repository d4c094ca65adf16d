//! Taking a profile: of what was counted so far, or of what is counted from now on, by interval.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use gtrace_engine::host;
use gtrace_event::Timestamp;
use gtrace_profile::{Differences, Key, Profile, Row, Span};

use crate::{Collector, POLL_INTERVAL};

/// Shortest interval that is taken if none is asked for: the daemon reads its counts every 2 s.
const LEAST: Duration = Duration::from_secs(2);
/// Length of the intervals where calls are counted until something ends it.
const UNTIL_ENDED: Duration = Duration::from_secs(10);
/// So many intervals are taken if no length is asked for.
const INTERVALS: u32 = 60;

/// How long calls are counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Length {
    /// In all; until it is stopped without.
    pub duration: Option<Duration>,
    /// Each interval; by default a 60th of the duration, at least 2 s.
    pub interval: Option<Duration>,
}

/// Takes a profile, of process `pid` alone if one is named. `stopped`: a message ends it; without, it is of what
/// was counted so far. `note` gets what to know of the profile.
///
/// # Errors
///
/// Those of the collectors.
pub fn record(
    collectors: &mut [Box<dyn Collector>],
    length: Length,
    pid: Option<u32>,
    stopped: Option<&mpsc::Receiver<()>>,
    note: fn(&str),
) -> anyhow::Result<Profile> {
    for collector in &mut *collectors {
        collector.start()?;
    }
    let mut profile = Profile::default();
    profile.taken.hosts.insert(host::name());
    profile.taken.kernels.insert(host::kernel_release());
    match stopped {
        Some(stopped) => {
            let lost = over(&mut profile, collectors, length, stopped)?;
            if lost > 0 {
                note(&format!(
                    "{lost} times the counts of ended processes could not be distinguished; their last calls are missing"
                ));
            }
        }
        None => so_far(&mut profile, collectors)?,
    }
    profile.retain(|key: &Key| pid.is_none_or(|pid| is_of(key, pid)));
    for text in collectors.iter().flat_map(|collector| collector.notes()) {
        note(&text);
    }
    Ok(profile)
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

/// What is counted from now on, until its duration has passed, it is stopped, or nothing more can be counted. Returns how
/// often counts of ended processes could not be distinguished.
fn over(
    profile: &mut Profile,
    collectors: &mut [Box<dyn Collector>],
    length: Length,
    stopped: &mpsc::Receiver<()>,
) -> anyhow::Result<u64> {
    let duration = length.duration;
    let whole = duration.map(|duration| duration / INTERVALS);
    let interval = (length.interval).unwrap_or_else(|| whole.unwrap_or(UNTIL_ENDED).max(LEAST));
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
    Ok(differences.lost())
}

/// Waits until `due`, or for ever; whether counting is to end.
///
/// # Errors
///
/// Those of the collectors.
pub fn wait(
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
        let length = Length {
            duration: Some(Duration::from_millis(90)),
            interval: Some(Duration::from_millis(30)),
        };
        let (_never, stopped) = mpsc::channel();
        over(&mut profile, &mut collectors, length, &stopped).unwrap();
        let calls: u64 = profile.rows.values().map(|counts| counts.calls).sum();
        assert_eq!(calls, profile.intervals.len() as u64);
        assert!(calls >= 3, "{calls}");
        let span = profile.taken.span.unwrap();
        assert!(span.nanos() >= 80_000_000, "{}", span.nanos());
    }
}
