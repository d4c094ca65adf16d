//! Frames of a profiling session of a fleet: all hosts on one timeline, that of the head's clock.

use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::Range;

use gtrace_fleet::{COLUMNS, HostFrame, slot_begin};
use gtrace_perfetto::{Clocks, Slice, Track, Unit, Value, Writer};

/// Writes a session as a trace, frame by frame.
pub struct SessionTrace<W: Write> {
    writer: Writer<W>,
    interval_ms: u32,
    hosts: HashMap<String, Host>,
}

struct Host {
    track: Track,
    gaps: Track,
    counters: HashMap<(u32, &'static str), Track>,
}

impl<W: Write> SessionTrace<W> {
    /// A session that began then, in nanoseconds since 1970-01-01 by the head's clock, with frames of this length.
    ///
    /// # Errors
    ///
    /// Those of `out`, here and in what follows.
    pub fn new(out: W, started_ns: i64, interval_ms: u32) -> io::Result<Self> {
        // Of many hosts there is no one boot: all clocks of the trace are the head's wall clock.
        let at = u64::try_from(started_ns).unwrap_or(0);
        let clocks = Clocks {
            boottime_ns: at,
            monotonic_ns: at,
            realtime_ns: at,
        };
        Ok(Self {
            writer: Writer::new(out, clocks)?,
            interval_ms,
            hosts: HashMap::new(),
        })
    }

    /// What a host measured in an interval.
    pub fn frame(&mut self, name: &str, frame: &HostFrame) -> io::Result<()> {
        let at = self.begin(frame.slot);
        self.host(name)?;
        let Some(host) = self.hosts.get_mut(name) else {
            return Ok(());
        };
        let writer = &mut self.writer;
        for gpu in &frame.gpus {
            for column in COLUMNS {
                let Some(value) = (column.get)(gpu) else {
                    continue;
                };
                let track = match host.counters.get(&(gpu.index, column.name)) {
                    Some(track) => *track,
                    None => {
                        let name = format!("GPU {} {}", gpu.index, column.name.replace('_', " "));
                        let unit = match column.unit {
                            "bytes" => Unit::Bytes,
                            unit => Unit::Other(unit),
                        };
                        let track = writer.counter_track(&name, unit, Some(host.track))?;
                        host.counters.insert((gpu.index, column.name), track);
                        track
                    }
                };
                writer.counter(track, value, at)?;
            }
        }
        let error = u32::MAX;
        let mut counter = |name: &'static str, value: f64| {
            let track = match host.counters.get(&(error, name)) {
                Some(track) => *track,
                None => {
                    let track = writer.counter_track(name, Unit::Other("ns"), Some(host.track))?;
                    host.counters.insert((error, name), track);
                    track
                }
            };
            writer.counter(track, value, at)
        };
        counter("clock error at most", frame.error_ns as f64)?;
        if let Some(calls) = &frame.calls {
            counter("driver calls p50", calls.p50_ns as f64)?;
            counter("driver calls p99", calls.p99_ns as f64)?;
            counter("driver calls longest", calls.max_ns as f64)?;
        }
        if let Some(calls) = &frame.cuda_calls {
            counter("CUDA calls p50", calls.p50_ns as f64)?;
            counter("CUDA calls p99", calls.p99_ns as f64)?;
            counter("CUDA calls longest", calls.max_ns as f64)?;
        }
        Ok(())
    }

    /// Intervals in which a host measured nothing.
    pub fn gap(&mut self, name: &str, slots: &Range<i64>) -> io::Result<()> {
        let (from, until) = (self.begin(slots.start), self.begin(slots.end));
        self.host(name)?;
        let Some(host) = self.hosts.get(name) else {
            return Ok(());
        };
        let missing = u64::try_from(slots.end - slots.start).unwrap_or_default();
        let slice = Slice {
            name: "gap",
            category: "session",
            arguments: &[("frames", Value::Unsigned(missing))],
            flows: &[],
        };
        self.writer.slice(host.gaps, &slice, from, until)
    }

    /// Ends the trace.
    pub fn finish(self) -> io::Result<W> {
        self.writer.finish()
    }

    fn begin(&self, slot: i64) -> u64 {
        u64::try_from(slot_begin(slot, self.interval_ms)).unwrap_or(0)
    }

    fn host(&mut self, name: &str) -> io::Result<()> {
        if !self.hosts.contains_key(name) {
            let number = i32::try_from(self.hosts.len() + 1).unwrap_or(i32::MAX);
            let track = self.writer.process(number, name)?;
            let gaps = self.writer.thread(number, number, "gaps")?;
            let host = Host {
                track,
                gaps,
                counters: HashMap::new(),
            };
            self.hosts.insert(name.to_owned(), host);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use gtrace_fleet::{CallFrame, GpuFrame};

    use super::*;

    #[test]
    fn hosts_are_processes_with_their_gpus_and_gaps() {
        let mut trace = SessionTrace::new(Vec::new(), 1_000_000_000, 200).unwrap();
        let frame = HostFrame {
            slot: 6,
            error_ns: 1000,
            gpus: vec![GpuFrame {
                index: 3,
                power_w: Some(300.0),
                ..GpuFrame::default()
            }],
            calls: Some(CallFrame::default()),
            cuda_calls: Some(CallFrame::default()),
        };
        trace.frame("gpu-1", &frame).unwrap();
        trace.gap("gpu-2", &(5..9)).unwrap();
        let bytes = trace.finish().unwrap();
        let has = |text: &str| {
            bytes
                .windows(text.len())
                .any(|part| part == text.as_bytes())
        };
        for text in [
            "gpu-1",
            "gpu-2",
            "GPU 3 power w",
            "driver calls p99",
            "CUDA calls p99",
            "gap",
        ] {
            assert!(has(text), "{text}");
        }
        assert!(!has("GPU 3 utilization"), "it was not measured");
    }
}
