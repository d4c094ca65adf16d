//! Frames of profiling sessions: what was sampled in each interval, by the head's clock.

use std::collections::{BTreeMap, VecDeque};

use gtrace_fleet::{FRAMES_MAX, Frames, GpuFrame, HostFrame, Measure, Offset};

/// Frames that wait for the head, of one session: ten minutes at 200 ms. Then the oldest go, and a gap says so.
const KEPT: usize = 3000;
/// Sessions that a host takes part in at the same time.
const SESSIONS: usize = 8;

/// One reading of a GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// When it was taken, in nanoseconds since 1970-01-01 by this host's clock.
    pub time_ns: i64,
    /// What was read; `samples` is not looked at.
    pub gpu: GpuFrame,
}

/// Reads the GPUs.
pub trait Sampler: Send {
    /// The newest reading of each GPU. One that was given before, by its time, counts once.
    fn sample(&mut self) -> Vec<Measured>;
}

/// The frames of one session.
#[derive(Debug)]
struct Recording {
    measure: Measure,
    /// Number of the interval that is filled.
    slot: Option<i64>,
    sums: BTreeMap<u32, Sum>,
    ready: VecDeque<HostFrame>,
}

#[derive(Debug, Default)]
struct Sum {
    last_ns: i64,
    gpus: Vec<GpuFrame>,
}

/// All sessions that this host takes part in.
#[derive(Debug, Default)]
pub(crate) struct Recordings(Vec<Recording>);

impl Recordings {
    /// Takes over what the head asks for.
    pub(crate) fn set(&mut self, measure: &[Measure]) {
        let asked = |r: &Recording| measure.iter().any(|m| m.session == r.measure.session);
        // One that has ended goes once all that it has is delivered.
        self.0.retain(|r| asked(r) || !r.ready.is_empty());
        for new in measure.iter().take(SESSIONS) {
            if new.interval_ms >= 20 && !self.0.iter().any(|r| r.measure == *new) {
                self.0.push(Recording {
                    measure: new.clone(),
                    slot: None,
                    sums: BTreeMap::new(),
                    ready: VecDeque::new(),
                });
            }
        }
    }

    /// How often to sample; `None` where nobody asks.
    pub(crate) fn interval_ms(&self) -> Option<u32> {
        let shortest = self.0.iter().map(|r| r.measure.interval_ms).min();
        // Twice in each interval, so that none is without a sample because of jitter.
        shortest.map(|ms| (ms / 2).max(10))
    }

    /// Takes what was read at `now` by this host's clock.
    pub(crate) fn take(&mut self, now: i64, offset: Offset, read: &[Measured]) {
        for recording in &mut self.0 {
            recording.take(now, offset, read);
        }
    }

    /// Frames to send.
    pub(crate) fn ready(&self) -> Option<Frames> {
        let of = self.0.iter().find(|r| !r.ready.is_empty())?;
        Some(Frames {
            session: of.measure.session,
            frames: of.ready.iter().take(FRAMES_MAX).cloned().collect(),
        })
    }

    /// The head has these.
    pub(crate) fn sent(&mut self, frames: &Frames) {
        let last = frames.frames.last().map_or(i64::MIN, |frame| frame.slot);
        for recording in &mut self.0 {
            if recording.measure.session == frames.session {
                recording.ready.retain(|frame| frame.slot > last);
            }
        }
    }
}

impl Recording {
    fn take(&mut self, now: i64, offset: Offset, read: &[Measured]) {
        let length = i64::from(self.measure.interval_ms) * 1_000_000;
        let current = (now + offset.offset_ns).div_euclid(length);
        let slot = *self.slot.get_or_insert(current);
        // A clock that was set back fills the interval that it was in.
        if current > slot {
            self.finish(slot, offset);
            // Nothing was read for so long: the host was suspended, or this thread did not run.
            for missed in (slot + 1..current).take(KEPT) {
                self.push(HostFrame {
                    slot: missed,
                    error_ns: offset.error_ns,
                    gap: true,
                    gpus: Vec::new(),
                });
            }
            self.slot = Some(current);
        }
        for one in read {
            let sum = self.sums.entry(one.gpu.index).or_default();
            if one.time_ns > sum.last_ns {
                sum.last_ns = one.time_ns;
                sum.gpus.push(one.gpu.clone());
            }
        }
    }

    fn finish(&mut self, slot: i64, offset: Offset) {
        let gpus = self
            .sums
            .iter_mut()
            .map(|(index, sum)| average(*index, &std::mem::take(&mut sum.gpus)))
            .collect();
        self.push(HostFrame {
            slot,
            error_ns: offset.error_ns,
            gap: false,
            gpus,
        });
    }

    fn push(&mut self, frame: HostFrame) {
        self.ready.push_back(frame);
        if self.ready.len() > KEPT {
            self.ready.pop_front();
            // The first that is left says that there was something before it.
            if let Some(first) = self.ready.front_mut() {
                first.gap = true;
            }
        }
    }
}

fn average(index: u32, read: &[GpuFrame]) -> GpuFrame {
    let mean = |value: fn(&GpuFrame) -> Option<f64>| {
        let values: Vec<f64> = read.iter().filter_map(value).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    GpuFrame {
        index,
        name: read.last().map(|gpu| gpu.name.clone()).unwrap_or_default(),
        samples: u32::try_from(read.len()).unwrap_or(u32::MAX),
        utilization: mean(|gpu| gpu.utilization),
        memory: mean(|gpu| gpu.memory),
        memory_busy: mean(|gpu| gpu.memory_busy),
        power_w: mean(|gpu| gpu.power_w),
        pcie_rx: mean(|gpu| gpu.pcie_rx),
        pcie_tx: mean(|gpu| gpu.pcie_tx),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(time_ns: i64, utilization: f64) -> Vec<Measured> {
        let gpu = GpuFrame {
            utilization: Some(utilization),
            ..GpuFrame::default()
        };
        vec![Measured { time_ns, gpu }]
    }

    #[test]
    fn a_frame_has_what_was_sampled_in_it_and_what_is_missing_is_a_gap() {
        let mut recordings = Recordings::default();
        let measure = Measure {
            session: 7,
            interval_ms: 200,
        };
        recordings.set(std::slice::from_ref(&measure));
        let offset = Offset {
            offset_ns: 50_000_000,
            error_ns: 1_000_000,
        };
        const MS: i64 = 1_000_000;
        // By the head's clock these are 1000 and 1100 ms, 1200, and after a pause 1800.
        recordings.take(950 * MS, offset, &read(1, 0.2));
        recordings.take(1050 * MS, offset, &read(2, 0.4));
        recordings.take(1150 * MS, offset, &read(2, 0.4));
        recordings.take(1750 * MS, offset, &read(3, 0.8));
        let frames = recordings.ready().unwrap();
        let of = |f: &HostFrame| (f.slot, f.gap, f.gpus.first().map(|g| g.samples));
        let found: Vec<_> = frames.frames.iter().map(of).collect();
        let gap = |slot| (slot, true, None);
        assert_eq!(
            found,
            [(5, false, Some(2)), (6, false, Some(0)), gap(7), gap(8)]
        );
        let mean = frames.frames[0].gpus[0].utilization.unwrap();
        assert!((mean - 0.3).abs() < 1e-9, "{mean}");
        // A value that was there before is not measured again.
        assert_eq!(frames.frames[1].gpus[0].utilization, None);
        recordings.sent(&frames);
        assert_eq!(recordings.ready(), None);
        recordings.set(&[]);
        assert_eq!(recordings.interval_ms(), None);
    }
}
