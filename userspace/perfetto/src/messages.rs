//! The messages, with the numbers of their fields from Perfetto's definitions (protos/perfetto/trace:
//! trace_packet.proto, track_event/*.proto, interned_data/interned_data.proto, clock_snapshot.proto;
//! Apache-2.0).

use prost::{Message, Oneof};

/// A file.
#[derive(Clone, PartialEq, Message)]
pub struct Trace {
    /// In any order.
    #[prost(message, repeated, tag = "1")]
    pub packet: Vec<TracePacket>,
}

/// What the file is made of.
#[derive(Clone, PartialEq, Message)]
pub struct TracePacket {
    /// Nanoseconds.
    #[prost(uint64, optional, tag = "8")]
    pub timestamp: Option<u64>,
    /// Who writes.
    #[prost(uint32, optional, tag = "10")]
    pub trusted_packet_sequence_id: Option<u32>,
    /// Names that are used from here on.
    #[prost(message, optional, tag = "12")]
    pub interned_data: Option<InternedData>,
    /// 1: numbers of names begin anew; 2: names are used that were reported before.
    #[prost(uint32, optional, tag = "13")]
    pub sequence_flags: Option<u32>,
    /// The clock of `timestamp`.
    #[prost(uint32, optional, tag = "58")]
    pub timestamp_clock_id: Option<u32>,
    /// What else it is.
    #[prost(oneof = "Data", tags = "6, 11, 60")]
    pub data: Option<Data>,
}

/// What a packet reports.
#[derive(Clone, PartialEq, Oneof)]
pub enum Data {
    /// Clocks at one moment.
    #[prost(message, tag = "6")]
    ClockSnapshot(ClockSnapshot),
    /// Something happens.
    #[prost(message, tag = "11")]
    TrackEvent(TrackEvent),
    /// A track.
    #[prost(message, tag = "60")]
    TrackDescriptor(TrackDescriptor),
}

/// Clocks at one moment.
#[derive(Clone, PartialEq, Message)]
pub struct ClockSnapshot {
    /// Their readings.
    #[prost(message, repeated, tag = "1")]
    pub clocks: Vec<Clock>,
    /// That of all times without a clock.
    #[prost(uint32, optional, tag = "2")]
    pub primary_trace_clock: Option<u32>,
}

/// A clock's reading.
#[derive(Clone, PartialEq, Message)]
pub struct Clock {
    /// 1: CLOCK_REALTIME, 3: CLOCK_MONOTONIC, 6: CLOCK_BOOTTIME.
    #[prost(uint32, optional, tag = "1")]
    pub clock_id: Option<u32>,
    /// Nanoseconds.
    #[prost(uint64, optional, tag = "2")]
    pub timestamp: Option<u64>,
}

/// Something happens on a track.
#[derive(Clone, PartialEq, Message)]
pub struct TrackEvent {
    /// Numbers of categories.
    #[prost(uint64, repeated, packed = "false", tag = "3")]
    pub category_iids: Vec<u64>,
    /// What else is reported.
    #[prost(message, repeated, tag = "4")]
    pub debug_annotations: Vec<DebugAnnotation>,
    /// 1: a slice begins, 2: ends, 3: an instant, 4: a counter.
    #[prost(int32, optional, tag = "9")]
    pub r#type: Option<i32>,
    /// Number of the name.
    #[prost(uint64, optional, tag = "10")]
    pub name_iid: Option<u64>,
    /// On this track.
    #[prost(uint64, optional, tag = "11")]
    pub track_uuid: Option<u64>,
    /// A counter's value.
    #[prost(int64, optional, tag = "30")]
    pub counter_value: Option<i64>,
    /// A counter's value.
    #[prost(double, optional, tag = "44")]
    pub double_counter_value: Option<f64>,
    /// Arrows to other slices.
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    pub flow_ids: Vec<u64>,
}

/// A name and a value.
#[derive(Clone, PartialEq, Message)]
pub struct DebugAnnotation {
    /// Number of the name.
    #[prost(uint64, optional, tag = "1")]
    pub name_iid: Option<u64>,
    /// One of these.
    #[prost(oneof = "AnnotationValue", tags = "3, 4, 6, 7, 17")]
    pub value: Option<AnnotationValue>,
}

/// The value of an annotation.
#[derive(Clone, PartialEq, Oneof)]
pub enum AnnotationValue {
    /// A number.
    #[prost(uint64, tag = "3")]
    UintValue(u64),
    /// A number.
    #[prost(int64, tag = "4")]
    IntValue(i64),
    /// A text that is not repeated.
    #[prost(string, tag = "6")]
    StringValue(String),
    /// An address.
    #[prost(uint64, tag = "7")]
    PointerValue(u64),
    /// Number of a text.
    #[prost(uint64, tag = "17")]
    StringValueIid(u64),
}

/// Names that are used from here on.
#[derive(Clone, PartialEq, Message)]
pub struct InternedData {
    /// Of categories.
    #[prost(message, repeated, tag = "1")]
    pub event_categories: Vec<InternedName>,
    /// Of events.
    #[prost(message, repeated, tag = "2")]
    pub event_names: Vec<InternedName>,
    /// Of annotations.
    #[prost(message, repeated, tag = "3")]
    pub debug_annotation_names: Vec<InternedName>,
    /// Texts.
    #[prost(message, repeated, tag = "29")]
    pub debug_annotation_string_values: Vec<InternedString>,
}

/// A name and its number (`EventCategory`, `EventName`, `DebugAnnotationName`).
#[derive(Clone, PartialEq, Message)]
pub struct InternedName {
    /// The number.
    #[prost(uint64, optional, tag = "1")]
    pub iid: Option<u64>,
    /// The name.
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
}

/// A text and its number.
#[derive(Clone, PartialEq, Message)]
pub struct InternedString {
    /// The number.
    #[prost(uint64, optional, tag = "1")]
    pub iid: Option<u64>,
    /// The text.
    #[prost(bytes = "vec", optional, tag = "2")]
    pub str: Option<Vec<u8>>,
}

/// A track.
#[derive(Clone, PartialEq, Message)]
pub struct TrackDescriptor {
    /// By which events name it.
    #[prost(uint64, optional, tag = "1")]
    pub uuid: Option<u64>,
    /// Its name.
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
    /// It is that of a process.
    #[prost(message, optional, tag = "3")]
    pub process: Option<ProcessDescriptor>,
    /// It is that of a thread.
    #[prost(message, optional, tag = "4")]
    pub thread: Option<ThreadDescriptor>,
    /// It lies below this one.
    #[prost(uint64, optional, tag = "5")]
    pub parent_uuid: Option<u64>,
    /// It is a counter's.
    #[prost(message, optional, tag = "8")]
    pub counter: Option<CounterDescriptor>,
}

/// A process.
#[derive(Clone, PartialEq, Message)]
pub struct ProcessDescriptor {
    /// Its number.
    #[prost(int32, optional, tag = "1")]
    pub pid: Option<i32>,
    /// Its name.
    #[prost(string, optional, tag = "6")]
    pub process_name: Option<String>,
}

/// A thread.
#[derive(Clone, PartialEq, Message)]
pub struct ThreadDescriptor {
    /// Its process.
    #[prost(int32, optional, tag = "1")]
    pub pid: Option<i32>,
    /// Its number.
    #[prost(int32, optional, tag = "2")]
    pub tid: Option<i32>,
    /// Its name.
    #[prost(string, optional, tag = "5")]
    pub thread_name: Option<String>,
}

/// A counter.
#[derive(Clone, PartialEq, Message)]
pub struct CounterDescriptor {
    /// 1: nanoseconds, 2: a count, 3: bytes.
    #[prost(int32, optional, tag = "3")]
    pub unit: Option<i32>,
    /// Another unit.
    #[prost(string, optional, tag = "6")]
    pub unit_name: Option<String>,
}
