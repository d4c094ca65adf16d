//! Frames of profiling sessions: what was read in each interval, by the head's clock.

use std::collections::{BTreeMap, VecDeque};

use gtrace_fleet::{
    COLUMNS, CallFrame, FRAMES_MAX, Frames, GpuFrame, HostFrame, INTERVAL_MS, Measure, Metric,
    Offset, SESSIONS_MAX, slot_begin,
};

/// Frames that wait for the head, of one session: ten minutes at 200 ms. Then the oldest go, and are a gap.
const KEPT: usize = 3000;
/// Sessions that frames are kept of: those that are on, and as many that have ended and are not delivered yet.
const RECORDINGS_MAX: usize = 2 * SESSIONS_MAX;
/// Bytes of the frames of a message, about: the head takes twice as many.
const MESSAGE_MAX: usize = 256 * 1024;
/// How long readings of an interval may take to come after its end: a GPU that is slow to answer costs its readings.
const GRACE_NS: i64 = 1_000_000_000;
/// An interval is closed once the clock was measured after it; without a head after so long.
const UNMEASURED_NS: i64 = 10_000_000_000;
/// Intervals that are open at the same time: more are of a clock that was set.
const OPEN_MAX: usize = 1024;

/// What was read.
#[derive(Clone, Debug, PartialEq)]
pub enum Read {
    /// Of a GPU; `samples` is not looked at.
    Gpu(GpuFrame),
    /// Of the host's driver calls.
    Calls(CallFrame),
    /// Of its CUDA calls.
    CudaCalls(CallFrame),
    /// Nothing of it, but it was there: no gap.
    Nothing,
}

/// One reading.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// When it was taken, in nanoseconds since 1970-01-01 by this host's clock.
    pub time_ns: i64,
    /// What was read.
    pub read: Read,
}

/// What sessions want of this host together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Between two readings.
    pub every_ms: u32,
    /// What to read, sorted.
    pub metrics: Vec<Metric>,
}

/// What came since the last call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sampled {
    /// Each reading once, by time for each GPU.
    pub readings: Vec<Measured>,
    /// Why there is nothing to read now, or only a part.
    pub problem: Option<String>,
}

/// Reads the GPUs. Neither call blocks: whoever has to wait for a GPU does so in a thread of its own.
pub trait Sampler: Send {
    /// What to read from now on; `None`: nothing.
    fn want(&mut self, wanted: Option<&Wanted>);
    /// What was read since the last call, at `now` by the host's clock (nanoseconds since 1970-01-01).
    fn take(&mut self, now: i64) -> Sampled;
}

/// The frames of one session.
#[derive(Debug)]
struct Recording {
    measure: Measure,
    /// Whether the head still asks for it.
    on: bool,
    open: BTreeMap<i64, Open>,
    /// Intervals before it are closed.
    closed: i64,
    ready: VecDeque<HostFrame>,
}

#[derive(Debug, Default)]
struct Open {
    /// As it was when the first reading came.
    offset: Offset,
    gpus: BTreeMap<u32, Vec<GpuFrame>>,
    calls: Option<CallFrame>,
    cuda_calls: Option<CallFrame>,
}

/// All sessions that this host takes part in.
#[derive(Debug, Default)]
pub(crate) struct Recordings {
    all: Vec<Recording>,
    /// Readings that came after their interval was closed, and frames that were dropped as the head was away, refused them or had too many sessions.
    pub(crate) lost: u64,
}

impl Recordings {
    /// Takes over what the head asks for.
    pub(crate) fn set(&mut self, measure: &[Measure]) {
        let measure = &measure[..measure.len().min(SESSIONS_MAX)];
        for recording in &mut self.all {
            recording.on = measure
                .iter()
                .any(|m| m.session == recording.measure.session);
        }
        // One that has ended goes once all that it has is delivered.
        self.all
            .retain(|r| r.on || !r.open.is_empty() || !r.ready.is_empty());
        for new in measure {
            let known = self.all.iter().any(|r| r.measure.session == new.session);
            if INTERVAL_MS.contains(&new.interval_ms) && !known {
                self.all.push(Recording {
                    measure: new.clone(),
                    on: true,
                    open: BTreeMap::new(),
                    closed: i64::MIN,
                    ready: VecDeque::new(),
                });
            }
        }
        while self.all.len() > RECORDINGS_MAX
            && let Some(oldest) = self.all.iter().position(|r| !r.on)
        {
            let ended = self.all.remove(oldest);
            self.lost += (ended.open.len() + ended.ready.len()) as u64;
        }
    }

    /// Numbers of the sessions that are on, as the head asked for them.
    pub(crate) fn known(&self) -> Vec<i64> {
        let on = self.all.iter().filter(|r| r.on);
        let mut known: Vec<i64> = on.map(|r| r.measure.session).collect();
        known.sort_unstable();
        known
    }

    /// What they want; `None` where there is none.
    pub(crate) fn wanted(&self) -> Option<Wanted> {
        let on = || self.all.iter().filter(|r| r.on);
        let shortest = on().map(|r| r.measure.interval_ms).min()?;
        let mut metrics: Vec<Metric> = on().flat_map(|r| r.measure.metrics.clone()).collect();
        metrics.sort_unstable();
        metrics.dedup();
        Some(Wanted {
            // Twice in each interval, so that none is without a reading because of jitter.
            every_ms: (shortest / 2).max(10),
            metrics,
        })
    }

    /// Whether frames are filled or wait.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Takes a reading.
    pub(crate) fn take(&mut self, offset: Offset, one: &Measured) {
        for recording in self.all.iter_mut().filter(|r| r.on) {
            if !recording.take(offset, one) {
                self.lost += 1;
            }
        }
    }

    /// Closes the intervals that are over at `now` by this host's clock, which was measured last at `measured`.
    pub(crate) fn close(&mut self, now: i64, measured: i64, offset: Offset) {
        for recording in &mut self.all {
            self.lost += recording.close(now, measured, offset);
        }
        self.all
            .retain(|r| r.on || !r.open.is_empty() || !r.ready.is_empty());
    }

    /// Whether there are frames to send.
    pub(crate) fn is_ready(&self) -> bool {
        self.all.iter().any(|r| !r.ready.is_empty())
    }

    /// Frames to send: as many as go into a message, and at least one.
    pub(crate) fn ready(&self) -> Option<Frames> {
        let of = self.all.iter().find(|r| !r.ready.is_empty())?;
        let mut frames: Vec<HostFrame> = Vec::new();
        let mut bytes = 0;
        for frame in of.ready.iter().take(FRAMES_MAX / 2) {
            bytes += serde_json::to_vec(frame).map_or(0, |text| text.len() + 1);
            if bytes > MESSAGE_MAX && !frames.is_empty() {
                break;
            }
            frames.push(frame.clone());
        }
        Some(Frames {
            session: of.measure.session,
            frames,
        })
    }

    /// The head has these.
    pub(crate) fn sent(&mut self, frames: &Frames) {
        let last = frames.frames.last().map_or(i64::MIN, |frame| frame.slot);
        for recording in &mut self.all {
            if recording.measure.session == frames.session {
                recording.ready.retain(|frame| frame.slot > last);
            }
        }
    }

    /// The head will not have these.
    pub(crate) fn refused(&mut self, frames: &Frames) {
        self.lost += frames.frames.len() as u64;
        self.sent(frames);
    }
}

impl Recording {
    /// Whether there was a place for it.
    fn take(&mut self, offset: Offset, one: &Measured) -> bool {
        let metrics = &self.measure.metrics;
        let asked = match one.read {
            Read::Gpu(_) | Read::Nothing => true,
            Read::Calls(_) => metrics.contains(&Metric::Calls),
            Read::CudaCalls(_) => metrics.contains(&Metric::CudaCalls),
        };
        if !asked {
            return true;
        }
        let length = i64::from(self.measure.interval_ms) * 1_000_000;
        let at = one.time_ns.saturating_add(offset.offset_ns);
        let slot = at.div_euclid(length);
        if slot < self.closed || (self.open.len() >= OPEN_MAX && !self.open.contains_key(&slot)) {
            return false;
        }
        let open = self.open.entry(slot).or_insert_with(|| Open {
            offset,
            ..Open::default()
        });
        match &one.read {
            Read::Gpu(gpu) => {
                let gpu = only(gpu, metrics);
                open.gpus.entry(gpu.index).or_default().push(gpu);
            }
            Read::Calls(calls) => add(&mut open.calls, calls),
            Read::CudaCalls(calls) => add(&mut open.cuda_calls, calls),
            Read::Nothing => {}
        }
        true
    }

    /// How many frames were dropped.
    fn close(&mut self, now: i64, measured: i64, offset: Offset) -> u64 {
        let mut dropped = 0;
        while let Some((&slot, _)) = self.open.first_key_value() {
            // By this host's clock.
            let end =
                slot_begin(slot + 1, self.measure.interval_ms).saturating_sub(offset.offset_ns);
            let over = now.saturating_sub(end) >= GRACE_NS;
            let sure = measured > end || now.saturating_sub(end) >= UNMEASURED_NS;
            // A session that has ended has no readings to come.
            if !((over && sure) || (!self.on && now >= end)) {
                break;
            }
            let Some(open) = self.open.remove(&slot) else {
                break;
            };
            self.closed = slot + 1;
            self.ready.push_back(frame(slot, open, offset));
            if self.ready.len() > KEPT {
                self.ready.pop_front();
                dropped += 1;
            }
        }
        dropped
    }
}

/// All calls that ended in the interval, whatever the number of readings.
fn add(to: &mut Option<CallFrame>, read: &CallFrame) {
    let both = to.as_ref().and_then(|before| before.and(read));
    *to = Some(both.unwrap_or_else(|| read.clone()));
}

/// What the session asked for.
fn only(gpu: &GpuFrame, metrics: &[Metric]) -> GpuFrame {
    let mut only = GpuFrame {
        index: gpu.index,
        name: gpu.name.clone(),
        ..GpuFrame::default()
    };
    for metric in metrics {
        let names: &[&str] = match metric {
            Metric::Utilization => &["utilization", "memory_busy"],
            Metric::Memory => &["memory", "memory_used"],
            Metric::Pcie => &["pcie_rx", "pcie_tx"],
            Metric::Nvlink => &["nvlink_rx", "nvlink_tx"],
            Metric::Power => &["power_w"],
            Metric::Clocks => &["sm_mhz", "memory_mhz"],
            Metric::Temperature => &["temperature_c"],
            Metric::Calls | Metric::CudaCalls => &[],
        };
        for column in COLUMNS.iter().filter(|c| names.contains(&c.name)) {
            *(column.place)(&mut only) = (column.get)(gpu);
        }
    }
    only
}

fn frame(slot: i64, open: Open, offset: Offset) -> HostFrame {
    // If a clock was set meanwhile, the readings may be as far off as the offset has moved.
    let moved = offset
        .offset_ns
        .saturating_sub(open.offset.offset_ns)
        .saturating_abs();
    let error_ns = open
        .offset
        .error_ns
        .max(offset.error_ns.saturating_add(moved));
    let gpus = open
        .gpus
        .into_iter()
        .map(|(index, read)| mean(index, &read));
    HostFrame {
        slot,
        error_ns: error_ns.max(0),
        gpus: gpus.collect(),
        calls: open.calls,
        cuda_calls: open.cuda_calls,
    }
}

fn mean(index: u32, read: &[GpuFrame]) -> GpuFrame {
    let mut frame = GpuFrame {
        index,
        name: read.last().map(|gpu| gpu.name.clone()).unwrap_or_default(),
        samples: u32::try_from(read.len()).unwrap_or(u32::MAX),
        ..GpuFrame::default()
    };
    for column in COLUMNS {
        let values: Vec<f64> = read.iter().filter_map(column.get).collect();
        if !values.is_empty() {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            // Shares to 0.0001, all else to 0.01: finer than any GPU measures.
            let digits = if column.unit == "ratio" { 1e4 } else { 1e2 };
            *(column.place)(&mut frame) = Some((mean * digits).round() / digits);
        }
    }
    frame
}

#[cfg(test)]
mod tests {
    use gtrace_profile::Histogram;

    use super::*;

    const MS: i64 = 1_000_000;
    const OFFSET: Offset = Offset {
        offset_ns: 50 * MS,
        error_ns: MS,
    };

    fn measure() -> Measure {
        Measure {
            session: 7,
            interval_ms: 200,
            metrics: vec![Metric::Utilization],
        }
    }

    fn read(time_ns: i64, utilization: f64) -> Measured {
        let gpu = GpuFrame {
            utilization: Some(utilization),
            power_w: Some(300.0),
            ..GpuFrame::default()
        };
        Measured {
            time_ns,
            read: Read::Gpu(gpu),
        }
    }

    #[test]
    fn a_frame_has_what_was_read_in_it_and_where_nothing_was_there_is_none() {
        let mut recordings = Recordings::default();
        recordings.set(&[measure()]);
        let wanted = recordings.wanted().unwrap();
        assert_eq!(
            (wanted.every_ms, wanted.metrics.as_slice()),
            (100, &[Metric::Utilization][..])
        );
        // By the head's clock these are 1000 and 1100 ms, 1200, and after a pause 1800.
        for (at, value) in [(950, 0.2), (1050, 0.4), (1150, 0.6), (1750, 0.8)] {
            recordings.take(OFFSET, &read(at * MS, value));
        }
        // The clock was not measured after them.
        recordings.close(2700 * MS, 1100 * MS, OFFSET);
        assert_eq!(recordings.ready(), None);
        recordings.close(2700 * MS, 2500 * MS, OFFSET);
        let frames = recordings.ready().unwrap();
        let of = |f: &HostFrame| (f.slot, f.gpus[0].samples, f.gpus[0].utilization);
        let found: Vec<_> = frames.frames.iter().map(of).collect();
        // The interval of 1800 ms may still get readings.
        assert_eq!(found, [(5, 2, Some(0.3)), (6, 1, Some(0.6))]);
        assert_eq!(
            frames.frames[0].gpus[0].power_w, None,
            "nobody asked for it"
        );
        assert_eq!(frames.frames[0].error_ns, MS);
        recordings.sent(&frames);
        assert_eq!(recordings.ready(), None);
        // Too late.
        recordings.take(OFFSET, &read(1100 * MS, 0.5));
        assert_eq!(recordings.lost, 1);
        // Once the head asks no more, what is there goes, and nothing is left.
        recordings.set(&[]);
        assert_eq!((recordings.wanted(), recordings.known().len()), (None, 0));
        recordings.close(2701 * MS, 2500 * MS, OFFSET);
        let last = recordings.ready().unwrap();
        assert_eq!(last.frames[0].slot, 9);
        recordings.sent(&last);
        recordings.close(2702 * MS, 2500 * MS, OFFSET);
        assert!(recordings.is_empty());
    }

    #[test]
    fn a_frame_has_all_calls_of_its_interval() {
        let mut recordings = Recordings::default();
        recordings.set(&[Measure {
            metrics: vec![Metric::Calls],
            interval_ms: 10_000,
            session: 1,
        }]);
        let calls = |ns: u64| {
            let mut histogram = Histogram::default();
            histogram.record(ns);
            CallFrame::new(&histogram, 2000)
        };
        for (at, ns) in [(2000, 1 << 14), (4000, 1 << 16), (6000, 1 << 15)] {
            for read in [Read::Calls(calls(ns)), Read::CudaCalls(calls(ns))] {
                let time_ns = at * MS;
                recordings.take(Offset::default(), &Measured { time_ns, read });
            }
        }
        recordings.close(i64::MAX / 2, 0, Offset::default());
        let frames = recordings.ready().unwrap().frames;
        let found = frames[0].calls.as_ref().unwrap();
        assert_eq!(
            (found.count, found.max_ns, found.sum_ns, found.span_ms),
            (3, 1 << 16, 7 << 14, 6000)
        );
        // Of all three calls, not of a reading.
        assert!(found.p50_ns.abs_diff(1 << 15) <= 1 << 9, "{}", found.p50_ns);
        assert_eq!(frames[0].cuda_calls, None, "nobody asked for them");
    }

    #[test]
    fn a_message_is_one_that_the_head_takes_however_long_it_was_away() {
        let asked = Measure {
            metrics: Metric::all(),
            ..measure()
        };
        let mut recordings = Recordings::default();
        recordings.set(&[asked]);
        for n in 0..600 {
            for index in 0..8 {
                let mut gpu = GpuFrame {
                    index,
                    name: "NVIDIA H100 80GB HBM3".to_owned(),
                    ..GpuFrame::default()
                };
                for column in COLUMNS {
                    *(column.place)(&mut gpu) = Some(12_345_678.9);
                }
                let one = Measured {
                    time_ns: n * 200 * MS,
                    read: Read::Gpu(gpu),
                };
                recordings.take(OFFSET, &one);
            }
        }
        recordings.close(i64::MAX / 2, 0, OFFSET);
        let (mut sent, mut messages) = (0, 0);
        while let Some(frames) = recordings.ready() {
            let text = serde_json::to_vec(&frames).unwrap();
            assert!(text.len() < MESSAGE_MAX + 1024, "{}", text.len());
            sent += frames.frames.len();
            messages += 1;
            recordings.sent(&frames);
        }
        assert_eq!(sent, 600);
        assert!(messages > 2, "{messages}");
        assert!(!recordings.is_ready());
    }

    #[test]
    fn frames_that_the_head_refuses_are_counted() {
        let mut recordings = Recordings::default();
        recordings.set(&[measure()]);
        recordings.take(OFFSET, &read(1000 * MS, 0.5));
        recordings.close(i64::MAX / 2, 0, OFFSET);
        let frames = recordings.ready().unwrap();
        recordings.refused(&frames);
        assert_eq!((recordings.ready(), recordings.lost), (None, 1));
    }

    #[test]
    fn a_clock_that_was_set_shows_in_the_bound_of_what_was_read_before() {
        let mut recordings = Recordings::default();
        recordings.set(&[measure()]);
        recordings.take(OFFSET, &read(1000 * MS, 0.5));
        let set = Offset {
            offset_ns: 350 * MS,
            error_ns: 2 * MS,
        };
        recordings.close(2500 * MS, 2400 * MS, set);
        assert_eq!(recordings.ready().unwrap().frames[0].error_ns, 302 * MS);
    }

    #[test]
    fn however_many_sessions_a_head_lists_few_are_on_and_few_wait() {
        let sessions = |from: usize, count: usize| -> Vec<Measure> {
            let numbers = (from..from + count).map(|n| i64::try_from(n).unwrap());
            let of = |session| Measure {
                session,
                ..measure()
            };
            numbers.map(of).collect()
        };
        let mut recordings = Recordings::default();
        recordings.set(&sessions(0, SESSIONS_MAX));
        // Those that were on stay so only among the first of the list.
        let mut other = sessions(100, SESSIONS_MAX);
        other.extend(sessions(0, SESSIONS_MAX));
        recordings.set(&other);
        let known: Vec<i64> = other[..SESSIONS_MAX].iter().map(|m| m.session).collect();
        assert_eq!(recordings.known(), known);
        for round in 0..10 {
            recordings.take(OFFSET, &read(round * 200 * MS, 0.5));
            let from = 1000 + usize::try_from(round).unwrap() * SESSIONS_MAX;
            recordings.set(&sessions(from, SESSIONS_MAX));
            assert!(recordings.all.len() <= RECORDINGS_MAX);
            assert_eq!(recordings.known().len(), SESSIONS_MAX);
        }
        // One frame of each session of all rounds but the last, whose sessions wait.
        assert_eq!(recordings.lost, 9 * SESSIONS_MAX as u64);
    }

    #[test]
    fn without_a_head_the_oldest_frames_go_and_are_counted() {
        let mut recordings = Recordings::default();
        recordings.set(&[measure()]);
        for n in 0..i64::try_from(KEPT).unwrap() + 100 {
            recordings.take(OFFSET, &read(n * 200 * MS, 0.5));
            recordings.close(n * 200 * MS, 0, OFFSET);
        }
        recordings.close(i64::MAX / 2, 0, OFFSET);
        assert_eq!(recordings.lost, 100);
        assert_eq!(recordings.ready().unwrap().frames[0].slot, 100);
    }
}
