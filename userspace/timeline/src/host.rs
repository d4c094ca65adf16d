//! What the daemon sent: events as instants, readings of NVML as counters.

use std::collections::HashMap;
use std::io::Write;

use gtrace_devices::{GpuInfo, GpuSample};
use gtrace_event::Event as HostEvent;
use gtrace_perfetto::{Slice, Track, Unit, Value};

use gtrace_api::text::clean;
use gtrace_api::title;

use super::Timeline;

/// GPUs as they were at a time (CLOCK_BOOTTIME, nanoseconds).
pub type Samples = Vec<(u64, GpuInfo)>;

/// What the daemon sent.
#[derive(Debug, Default)]
pub struct Host {
    /// Events of the time of the trace.
    pub events: Vec<HostEvent>,
    /// GPUs as they were at a time (CLOCK_BOOTTIME, nanoseconds).
    pub samples: Samples,
}

impl<W: Write> Timeline<W> {
    pub(super) fn host(&mut self, host: &Host) -> anyhow::Result<()> {
        if !host.events.is_empty() {
            let track = self.writer.named("kernel log, PCIe and driver", None)?;
            for event in &host.events {
                self.host_event(track, event)?;
            }
        }
        let mut counters: HashMap<(String, &str), Track> = HashMap::new();
        for (at, gpu) in &host.samples {
            let Some(sample) = &gpu.sample else { continue };
            for (what, unit, value) in readings(sample) {
                let key = (gpu_name(gpu), what);
                let track = match counters.get(&key) {
                    Some(track) => *track,
                    None => {
                        let name = format!("{} {what}", key.0);
                        let track = self.writer.counter_track(&name, unit, None)?;
                        counters.insert(key, track);
                        track
                    }
                };
                self.writer.counter(track, value, *at)?;
            }
        }
        Ok(())
    }

    fn host_event(&mut self, track: Track, event: &HostEvent) -> anyhow::Result<()> {
        // Where only the wall clock is known, by its distance now.
        let at = event.boottime_ns.unwrap_or_else(|| {
            let wall = gtrace_engine::clock::wall_time(self.clock.start());
            let after = event.time.as_nanosecond() - wall.as_nanosecond();
            let at = i128::from(self.clock.start()) + after;
            u64::try_from(at).unwrap_or(0)
        });
        let title = clean(&title(event));
        let message = clean(&event.message);
        let slice = Slice {
            name: &title,
            category: event.kind.name(),
            arguments: &[
                ("severity", Value::Name(event.severity.name())),
                ("message", Value::Text(&message)),
                ("repeats", Value::Unsigned(event.repeats)),
            ],
            flows: &[],
        };
        Ok(self.writer.instant(track, &slice, at)?)
    }
}

fn gpu_name(gpu: &GpuInfo) -> String {
    match gpu.index {
        Some(index) => format!("GPU {index}"),
        None => format!("GPU {}", gpu.pci),
    }
}

/// NVML's readings, as counters.
fn readings(sample: &GpuSample) -> Vec<(&'static str, Unit, f64)> {
    let percent = |value: Option<u32>| value.map(|value| (Unit::Other("%"), f64::from(value)));
    let mut readings = Vec::new();
    let mut add = |name, reading: Option<(Unit, f64)>| {
        readings.extend(reading.map(|(unit, value)| (name, unit, value)));
    };
    add("busy", percent(sample.utilization.gpu));
    add("memory busy", percent(sample.utilization.memory));
    let used = sample.memory.used.map(|used| (Unit::Bytes, used as f64));
    add("memory used", used);
    let degrees = sample.temperature.gpu;
    add(
        "temperature",
        degrees.map(|value| (Unit::Other("C"), f64::from(value))),
    );
    add(
        "power",
        sample.power.draw_w.map(|value| (Unit::Other("W"), value)),
    );
    let clock = |value: Option<u32>| value.map(|value| (Unit::Other("MHz"), f64::from(value)));
    add("SM clock", clock(sample.clocks.sm));
    add("memory clock", clock(sample.clocks.memory));
    let throughput = |value: Option<u64>| value.map(|value| (Unit::Other("B/s"), value as f64));
    add("PCIe sent", throughput(sample.pcie_tx));
    add("PCIe received", throughput(sample.pcie_rx));
    readings
}

#[cfg(test)]
mod tests {
    use gtrace_perfetto::Writer;
    use gtrace_recording::clock::{Pair, Scale};

    use super::super::Clock;
    use super::*;

    #[test]
    fn what_the_daemon_reported_is_instants_and_counters() {
        use gtrace_perfetto::format::{Data, Message as _, Trace};
        let pair = |ticks, boottime_ns| Pair { ticks, boottime_ns };
        let clock = Clock::new(Scale::BOOTTIME, pair(0, 1_000), pair(0, 9_000));
        let event = serde_json::json!({
            "id": "01KJSZ3M7B0000000000000000", "time": "2026-03-03T04:05:06Z", "boottime_ns": 5_000,
            "kind": "xid", "severity": "critical", "provenance": "kernel",
            "message": "NVRM: Xid (PCI:0000:3b:00): 79", "detail": {},
        });
        let sample = serde_json::json!({
            "time": "2026-03-03T04:05:06Z", "utilization": {"gpu": 50}, "power": {"draw_w": 99.5},
            "clocks": {"memory": 9501}, "pcie_tx": 1_000_000, "pcie_rx": 2_000_000,
        });
        let mut gpu = GpuInfo::at("0000:3b:00.0".parse().unwrap());
        gpu.index = Some(0);
        gpu.sample = Some(serde_json::from_value(sample).unwrap());
        let host = Host {
            events: vec![serde_json::from_value(event).unwrap()],
            samples: vec![(6_000, gpu.clone()), (7_000, gpu)],
        };
        let writer = Writer::new(Vec::new(), clock.clocks()).unwrap();
        let mut timeline = Timeline::new(writer, clock);
        timeline.host(&host).unwrap();
        let bytes = timeline.writer.finish().unwrap();
        let trace = Trace::decode(bytes.as_slice()).unwrap();
        let mut seen = Vec::new();
        let mut tracks = Vec::new();
        for packet in &trace.packet {
            match &packet.data {
                Some(Data::TrackEvent(event)) => {
                    seen.push((packet.timestamp.unwrap(), event.double_counter_value));
                }
                Some(Data::TrackDescriptor(track)) => tracks.push(track.name.clone().unwrap()),
                _ => {}
            }
        }
        let values = [50.0, 99.5, 9_501.0, 1e6, 2e6];
        let samples = [6_000, 7_000].map(|at| values.map(|value| (at, Some(value))));
        let wanted = [vec![(5_000, None)], samples.concat()].concat();
        assert_eq!(seen, wanted);
        assert_eq!(
            tracks,
            [
                "kernel log, PCIe and driver",
                "GPU 0 busy",
                "GPU 0 power",
                "GPU 0 memory clock",
                "GPU 0 PCIe sent",
                "GPU 0 PCIe received",
            ]
        );
    }
}
