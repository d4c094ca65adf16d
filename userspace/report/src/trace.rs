//! `trace.pftrace`: every lane on one clock, for ui.perfetto.dev.

use std::collections::BTreeMap;
use std::io;

use gtrace_event::{Event, Timestamp};
use gtrace_perfetto::{Clocks, Flow, Slice, Track, Unit, Value, Writer};

use crate::lane::Lane;
use crate::material::{Call, CallLayer, Material};

/// Wall-clock time as nanoseconds since boot.
///
/// The offset is the median over all events that have both times, as the wall clock may have been set in between.
/// Without such an event the trace shows the wall clock itself.
struct Clock {
    offset: i128,
}

impl Clock {
    fn of(events: &[Event]) -> Self {
        let offset = |event: &Event| {
            let boot = i128::from(event.boottime_ns?);
            Some(event.time.as_nanosecond() - boot)
        };
        let mut offsets: Vec<i128> = events.iter().filter_map(offset).collect();
        offsets.sort_unstable();
        Self {
            offset: offsets.get(offsets.len() / 2).copied().unwrap_or(0),
        }
    }

    fn nanos(&self, time: Timestamp) -> u64 {
        u64::try_from(time.as_nanosecond() - self.offset).unwrap_or(0)
    }
}

/// The trace; empty where there is nothing to show.
pub(crate) fn write(material: &Material) -> io::Result<Vec<u8>> {
    let nothing = material.events.is_empty()
        && material.calls.is_empty()
        && material.kernel_log.is_empty()
        && material.samples.is_empty()
        && material.traces.is_empty();
    if nothing {
        return Ok(Vec::new());
    }
    let clock = Clock::of(&material.events);
    let from = clock.nanos(material.window.from);
    let clocks = Clocks {
        boottime_ns: from,
        // Not known: it differs from CLOCK_BOOTTIME by the time that the host was suspended.
        monotonic_ns: from,
        realtime_ns: u64::try_from(material.window.from.as_nanosecond()).unwrap_or(0),
    };
    let mut trace = Trace {
        writer: Writer::new(Vec::new(), clocks)?,
        clock,
        material,
    };
    trace.events()?;
    trace.kernel_log()?;
    for layer in [CallLayer::Driver, CallLayer::Cuda, CallLayer::Remote] {
        trace.calls(layer)?;
    }
    trace.samples()?;
    let mut bytes = trace.writer.finish()?;
    // A trace is a row of packets: those of others may follow.
    for other in &material.traces {
        bytes.extend_from_slice(other);
    }
    Ok(bytes)
}

struct Trace<'a> {
    writer: Writer<Vec<u8>>,
    clock: Clock,
    material: &'a Material,
}

impl Trace<'_> {
    fn events(&mut self) -> io::Result<()> {
        let mut tracks: BTreeMap<Lane, Track> = BTreeMap::new();
        let flows = self.flows();
        for event in &self.material.events {
            let lane = Lane::of(event);
            let track = match tracks.get(&lane) {
                Some(track) => *track,
                None => {
                    let track = self.writer.named(lane.name(), None)?;
                    tracks.insert(lane, track);
                    track
                }
            };
            let pci = event
                .gpu
                .as_ref()
                .and_then(|gpu| gpu.pci)
                .map(|pci| pci.to_string());
            let id = event.id.to_string();
            let mut arguments = vec![
                ("message", Value::Text(&event.message)),
                ("id", Value::Text(&id)),
                ("provenance", Value::Name(event.provenance.name())),
                ("repeats", Value::Unsigned(event.repeats)),
            ];
            if let Some(pci) = &pci {
                arguments.push(("gpu", Value::Name(pci)));
            }
            let slice = Slice {
                name: event.kind.name(),
                category: event.severity.name(),
                arguments: &arguments,
                flows: flows.get(&event.id).map_or(&[][..], Vec::as_slice),
            };
            let start = self.clock.nanos(event.time);
            match event.last_time.filter(|_| event.repeats > 0) {
                // Events of a lane may overlap, so repeats are an instant of their own and no slice.
                Some(last) => {
                    self.writer.instant(track, &slice, start)?;
                    let last = self.clock.nanos(last);
                    let end = Slice {
                        name: "last repeat",
                        flows: &[],
                        ..slice
                    };
                    self.writer.instant(track, &end, last)?;
                }
                None => self.writer.instant(track, &slice, start)?,
            }
        }
        Ok(())
    }

    /// Arrows of the cause chain, by the events at their ends.
    fn flows(&self) -> BTreeMap<gtrace_event::EventId, Vec<Flow>> {
        let mut flows: BTreeMap<_, Vec<Flow>> = BTreeMap::new();
        let chain = self
            .material
            .incident
            .iter()
            .flat_map(|incident| &incident.chain);
        for (id, link) in (1..).zip(chain) {
            flows.entry(link.from).or_default().push(Flow(id));
            flows.entry(link.to).or_default().push(Flow(id));
        }
        flows
    }

    fn kernel_log(&mut self) -> io::Result<()> {
        if self.material.kernel_log.is_empty() {
            return Ok(());
        }
        let track = self.writer.named("Kernel log, all lines", None)?;
        for record in &self.material.kernel_log {
            let level = u64::from(record.priority.unwrap_or(6));
            let slice = Slice {
                name: "printk",
                category: "kernel_log",
                arguments: &[
                    ("text", Value::Text(&record.text)),
                    ("level", Value::Unsigned(level)),
                ],
                flows: &[],
            };
            self.writer
                .instant(track, &slice, self.clock.nanos(record.time))?;
        }
        Ok(())
    }

    /// Calls of one layer, by process. Those that overlap go to rows beside each other.
    fn calls(&mut self, layer: CallLayer) -> io::Result<()> {
        let mut calls: Vec<&Call> = self
            .material
            .calls
            .iter()
            .filter(|c| c.layer == layer)
            .collect();
        if calls.is_empty() {
            return Ok(());
        }
        calls.sort_by_key(|call| call.start);
        let parent = self.writer.named(Lane::of_calls(layer).name(), None)?;
        let mut rows: BTreeMap<Option<u32>, Vec<(Track, u64)>> = BTreeMap::new();
        for call in calls {
            let start = self.clock.nanos(call.start);
            let end = self.clock.nanos(call.end(self.material.window)).max(start);
            let rows = rows.entry(call.pid).or_default();
            let track = match rows.iter_mut().find(|(_, busy)| *busy <= start) {
                Some((track, busy)) => {
                    *busy = end;
                    *track
                }
                None => {
                    let name = match (&call.comm, call.pid) {
                        (Some(comm), Some(pid)) => format!("{comm} {pid}"),
                        (None, Some(pid)) => format!("process {pid}"),
                        (comm, None) => comm.clone().unwrap_or_else(|| "process not known".into()),
                    };
                    let track = self.writer.named(&name, Some(parent))?;
                    rows.push((track, end));
                    track
                }
            };
            let status = match (&call.status, call.returned) {
                (Some(status), _) => status.as_str(),
                (None, true) => "ok",
                (None, false) => "not returned",
            };
            let slice = Slice {
                name: &call.name,
                category: layer.name(),
                arguments: &[("status", Value::Name(status))],
                flows: &[],
            };
            self.writer.slice(track, &slice, start, end)?;
        }
        Ok(())
    }

    fn samples(&mut self) -> io::Result<()> {
        if self.material.samples.is_empty() {
            return Ok(());
        }
        let parent = self.writer.named("Samples", None)?;
        for series in &self.material.samples {
            let labels: Vec<&str> = series.labels.values().map(String::as_str).collect();
            let name = format!("{} {} {}", series.metric, labels.join(" "), series.unit);
            let track = self
                .writer
                .counter_track(name.trim(), Unit::Count, Some(parent))?;
            for (time, value) in &series.points {
                self.writer
                    .counter(track, *value, self.clock.nanos(*time))?;
            }
        }
        Ok(())
    }
}
