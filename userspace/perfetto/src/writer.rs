//! The model of a trace, and its packets.

use std::io::{self, Write};

use prost::Message as _;

use crate::interned::Interned;
use crate::messages::{
    AnnotationValue, Clock, ClockSnapshot, CounterDescriptor, Data, DebugAnnotation,
    ProcessDescriptor, ThreadDescriptor, TracePacket, TrackDescriptor, TrackEvent,
};

/// All packets are one writer's: they share their names.
const SEQUENCE: u32 = 1;
/// `SEQ_INCREMENTAL_STATE_CLEARED`
const CLEARED: u32 = 1;
/// `SEQ_NEEDS_INCREMENTAL_STATE`
const NEEDS: u32 = 2;
const REALTIME: u32 = 1;
const MONOTONIC: u32 = 3;
const BOOTTIME: u32 = 6;

/// A track, by its number in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Track(u64);

/// The number of an arrow, which leads from each slice that has it to the next, in order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Flow(pub u64);

/// Clocks at one moment, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocks {
    /// CLOCK_BOOTTIME, in which all times are.
    pub boottime_ns: u64,
    /// CLOCK_MONOTONIC.
    pub monotonic_ns: u64,
    /// CLOCK_REALTIME.
    pub realtime_ns: u64,
}

/// What a counter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Things.
    Count,
    /// Bytes.
    Bytes,
    /// What the text says.
    Other(&'static str),
}

/// The value of an argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// A number.
    Unsigned(u64),
    /// A number.
    Signed(i64),
    /// An address.
    Address(u64),
    /// A text that is often the same: it stands in the file once.
    Name(&'a str),
    /// A text.
    Text(&'a str),
}

/// Something that takes time, or (see [`Writer::instant`]) none.
#[derive(Clone, Copy, Debug)]
pub struct Slice<'a> {
    /// What it is.
    pub name: &'a str,
    /// What it belongs to: one or more, separated by commas.
    pub category: &'a str,
    /// Its other fields.
    pub arguments: &'a [(&'a str, Value<'a>)],
    /// Arrows.
    pub flows: &'a [Flow],
}

/// Writes a trace to `out`, packet by packet.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    interned: Interned,
    sequence: u32,
    tracks: u64,
    begun: bool,
    buffer: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// A new trace, at whose beginning the clocks read so.
    ///
    /// # Errors
    ///
    /// Those of `out`, here and in all that follows.
    pub fn new(out: W, clocks: Clocks) -> io::Result<Self> {
        Self::beside_others(out, clocks, SEQUENCE)
    }

    /// As [`Self::new`], with a number of its own: the bytes of traces with different numbers, one after the other, are
    /// one trace.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn beside_others(out: W, clocks: Clocks, number: u32) -> io::Result<Self> {
        let mut writer = Self {
            out,
            sequence: number,
            interned: Interned::default(),
            tracks: 0,
            begun: false,
            buffer: Vec::new(),
        };
        let clock = |id, timestamp| Clock {
            clock_id: Some(id),
            timestamp: Some(timestamp),
        };
        writer.packet(
            Some(clocks.boottime_ns),
            Data::ClockSnapshot(ClockSnapshot {
                clocks: vec![
                    clock(REALTIME, clocks.realtime_ns),
                    clock(MONOTONIC, clocks.monotonic_ns),
                    clock(BOOTTIME, clocks.boottime_ns),
                ],
                primary_trace_clock: Some(BOOTTIME),
            }),
        )?;
        Ok(writer)
    }

    /// The track of a process.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn process(&mut self, pid: i32, name: &str) -> io::Result<Track> {
        self.track(TrackDescriptor {
            process: Some(ProcessDescriptor {
                pid: Some(pid),
                process_name: Some(name.to_owned()),
            }),
            ..TrackDescriptor::default()
        })
    }

    /// The track of a thread.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn thread(&mut self, pid: i32, tid: i32, name: &str) -> io::Result<Track> {
        self.track(TrackDescriptor {
            thread: Some(ThreadDescriptor {
                pid: Some(pid),
                tid: Some(tid),
                thread_name: Some(name.to_owned()),
            }),
            ..TrackDescriptor::default()
        })
    }

    /// A track of something else, such as a stream, below another or by itself.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn named(&mut self, name: &str, parent: Option<Track>) -> io::Result<Track> {
        self.track(TrackDescriptor {
            name: Some(name.to_owned()),
            parent_uuid: parent.map(|track| track.0),
            ..TrackDescriptor::default()
        })
    }

    /// The track of a counter, below another or by itself.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn counter_track(
        &mut self,
        name: &str,
        unit: Unit,
        parent: Option<Track>,
    ) -> io::Result<Track> {
        let counter = match unit {
            Unit::Count => (Some(2), None),
            Unit::Bytes => (Some(3), None),
            Unit::Other(name) => (None, Some(name.to_owned())),
        };
        self.track(TrackDescriptor {
            name: Some(name.to_owned()),
            parent_uuid: parent.map(|track| track.0),
            counter: Some(CounterDescriptor {
                unit: counter.0,
                unit_name: counter.1,
            }),
            ..TrackDescriptor::default()
        })
    }

    fn track(&mut self, descriptor: TrackDescriptor) -> io::Result<Track> {
        self.tracks += 1;
        let uuid = u64::from(self.sequence) << 32 | self.tracks;
        self.packet(
            None,
            Data::TrackDescriptor(TrackDescriptor {
                uuid: Some(uuid),
                ..descriptor
            }),
        )?;
        Ok(Track(uuid))
    }

    /// Something that took the time from `start_ns` to `end_ns`. Slices of one track lie beside or within
    /// each other.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn slice(
        &mut self,
        track: Track,
        slice: &Slice<'_>,
        start_ns: u64,
        end_ns: u64,
    ) -> io::Result<()> {
        self.event(track, slice, 1, start_ns)?;
        self.packet(
            Some(end_ns.max(start_ns)),
            Data::TrackEvent(TrackEvent {
                r#type: Some(2),
                track_uuid: Some(track.0),
                ..TrackEvent::default()
            }),
        )
    }

    /// Something that happened at a moment.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn instant(&mut self, track: Track, slice: &Slice<'_>, at_ns: u64) -> io::Result<()> {
        self.event(track, slice, 3, at_ns)
    }

    fn event(&mut self, track: Track, slice: &Slice<'_>, kind: i32, at_ns: u64) -> io::Result<()> {
        let mut debug_annotations = Vec::with_capacity(slice.arguments.len());
        for (name, value) in slice.arguments {
            let value = match *value {
                Value::Unsigned(number) => AnnotationValue::UintValue(number),
                Value::Signed(number) => AnnotationValue::IntValue(number),
                Value::Address(address) => AnnotationValue::PointerValue(address),
                Value::Name(text) => AnnotationValue::StringValueIid(self.interned.text(text)),
                Value::Text(text) => AnnotationValue::StringValue(text.to_owned()),
            };
            debug_annotations.push(DebugAnnotation {
                name_iid: Some(self.interned.annotation(name)),
                value: Some(value),
            });
        }
        let event = TrackEvent {
            category_iids: slice
                .category
                .split(',')
                .map(|category| self.interned.category(category))
                .collect(),
            debug_annotations,
            r#type: Some(kind),
            name_iid: Some(self.interned.event(slice.name)),
            track_uuid: Some(track.0),
            flow_ids: slice.flows.iter().map(|flow| flow.0).collect(),
            ..TrackEvent::default()
        };
        self.packet(Some(at_ns), Data::TrackEvent(event))
    }

    /// A counter's value at a moment; what is no number, as a reading that failed, is left out.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn counter(&mut self, track: Track, value: f64, at_ns: u64) -> io::Result<()> {
        if !value.is_finite() {
            return Ok(());
        }
        self.packet(
            Some(at_ns),
            Data::TrackEvent(TrackEvent {
                r#type: Some(4),
                track_uuid: Some(track.0),
                double_counter_value: Some(value),
                ..TrackEvent::default()
            }),
        )
    }

    fn packet(&mut self, timestamp: Option<u64>, data: Data) -> io::Result<()> {
        let begun = std::mem::replace(&mut self.begun, true);
        let packet = TracePacket {
            timestamp,
            trusted_packet_sequence_id: Some(self.sequence),
            interned_data: self.interned.take(),
            sequence_flags: Some(if begun { NEEDS } else { CLEARED }),
            timestamp_clock_id: timestamp.map(|_| BOOTTIME),
            data: Some(data),
        };
        // Field 1 of `Trace`, a message: (1 << 3) | 2.
        self.buffer.clear();
        self.buffer.push(0x0a);
        packet
            .encode_length_delimited(&mut self.buffer)
            .map_err(io::Error::other)?;
        self.out.write_all(&self.buffer)
    }

    /// Ends the trace.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::messages::Trace;

    const CLOCKS: Clocks = Clocks {
        boottime_ns: 100,
        monotonic_ns: 90,
        realtime_ns: 1_000,
    };

    #[test]
    fn a_trace_can_be_read_back() {
        let mut writer = Writer::new(Vec::new(), CLOCKS).unwrap();
        let process = writer.process(7, "prog").unwrap();
        let thread = writer.thread(7, 8, "worker").unwrap();
        let stream = writer.named("stream 0x10", Some(process)).unwrap();
        let memory = writer
            .counter_track("memory", Unit::Bytes, Some(process))
            .unwrap();
        let slice = Slice {
            name: "cuMemAlloc_v2",
            category: "driver",
            arguments: &[
                ("bytes", Value::Unsigned(64)),
                ("result", Value::Name("ok")),
            ],
            flows: &[Flow(5)],
        };
        writer.slice(thread, &slice, 110, 120).unwrap();
        writer.slice(thread, &slice, 130, 125).unwrap();
        writer.instant(stream, &slice, 140).unwrap();
        writer.counter(memory, 64.0, 150).unwrap();
        let bytes = writer.finish().unwrap();
        let trace = Trace::decode(bytes.as_slice()).unwrap();
        let flags: Vec<_> = trace
            .packet
            .iter()
            .filter_map(|p| p.sequence_flags)
            .collect();
        assert_eq!(
            (flags[0], &flags[1..]),
            (1, vec![2; flags.len() - 1].as_slice())
        );
        // Names are reported with their first use and never again.
        let reported: Vec<_> = trace
            .packet
            .iter()
            .filter_map(|packet| packet.interned_data.as_ref())
            .collect();
        assert_eq!(reported.len(), 1);
        assert_eq!(
            reported[0].event_names[0].name.as_deref(),
            Some("cuMemAlloc_v2")
        );
        assert_eq!(reported[0].debug_annotation_names.len(), 2);
        let events: Vec<_> = trace
            .packet
            .iter()
            .filter_map(|packet| match &packet.data {
                Some(Data::TrackEvent(event)) => Some((packet.timestamp?, event.r#type?)),
                _ => None,
            })
            .collect();
        let wanted = [(110, 1), (120, 2), (130, 1), (130, 2), (140, 3), (150, 4)];
        assert_eq!(events, wanted);
    }

    #[test]
    fn traces_with_different_numbers_are_one_when_they_follow_each_other() {
        let one = |number| {
            let mut writer = Writer::beside_others(Vec::new(), CLOCKS, number).unwrap();
            writer.process(7, "prog").unwrap();
            writer.finish().unwrap()
        };
        let both = [one(1), one(2)].concat();
        let trace = Trace::decode(both.as_slice()).unwrap();
        let tracks: BTreeSet<_> = trace
            .packet
            .iter()
            .filter_map(|packet| match &packet.data {
                Some(Data::TrackDescriptor(track)) => {
                    Some((packet.trusted_packet_sequence_id, track.uuid))
                }
                _ => None,
            })
            .collect();
        assert_eq!(tracks.len(), 2, "{tracks:?}");
        let sequences: BTreeSet<_> = tracks.iter().map(|(sequence, _)| sequence).collect();
        assert_eq!(sequences.len(), 2);
    }
}
