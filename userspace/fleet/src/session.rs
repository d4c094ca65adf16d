//! Profiling sessions: what a head may ask hosts to measure, and the frames that they answer with.

use std::str::FromStr;

use gtrace_profile::Histogram;
use serde::{Deserialize, Deserializer, Serialize};

use crate::NAME_MAX;

/// Most frames of a message.
pub const FRAMES_MAX: usize = 600;
/// Shortest and longest interval of a session, in milliseconds.
pub const INTERVAL_MS: std::ops::RangeInclusive<u32> = 20..=60_000;
/// Most sessions that a host takes part in at the same time; the oldest are taken.
pub const SESSIONS_MAX: usize = 8;
const GPUS_MAX: usize = 256;
const BUCKETS_MAX: usize = 2048;

gtrace_event::named_enum! {
    /// What a session may measure: a closed list.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum Metric {
        /// Share of the time in which a kernel ran, and in which device memory was read or written.
        Utilization = "utilization",
        /// Device memory in use.
        Memory = "memory",
        /// Bytes over PCIe.
        Pcie = "pcie",
        /// Bytes over NVLink.
        Nvlink = "nvlink",
        /// Watts.
        Power = "power",
        /// Clocks of multiprocessors and memory.
        Clocks = "clocks",
        /// Temperature of the die.
        Temperature = "temperature",
        /// Latency of driver calls, as the daemon of the host counts them.
        Calls = "calls",
        /// Latency of CUDA calls, where the daemon of the host counts them.
        CudaCalls = "cuda_calls",
    }
}

impl Metric {
    /// Whether it is a value of a GPU, and not of its host's calls.
    pub fn is_of_gpus(self) -> bool {
        !matches!(self, Self::Calls | Self::CudaCalls)
    }

    /// All, as agents of a version without a choice are asked.
    pub fn all() -> Vec<Self> {
        Self::ALL.to_vec()
    }
}

impl FromStr for Metric {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|metric| metric.name() == text);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("`{text}` is no metric of a session: {names}")
        })
    }
}

/// What the head asks a host to measure: one of a closed list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measure {
    /// Number of the session.
    pub session: i64,
    /// Length of a frame.
    pub interval_ms: u32,
    /// What of each GPU and of the host. What a newer head names and is not known here is left out.
    #[serde(default = "Metric::all", deserialize_with = "known")]
    pub metrics: Vec<Metric>,
}

fn known<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Metric>, D::Error> {
    let names = Vec::<String>::deserialize(from)?;
    Ok(names.iter().filter_map(|name| name.parse().ok()).collect())
}

/// The answer of `GET measure`: what a host is to measure now, all of it, so that what is not listed has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasureAnswer {
    /// By number.
    pub measure: Vec<Measure>,
    /// What it is to do beside that: [`crate::HostRequest`]s, each by itself, as a newer head may ask for more than is known here.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub requests: Vec<serde_json::Value>,
    /// What of its daemon's API it is to read for a person.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub reads: Vec<crate::HostRead>,
}

/// What a GPU was in one interval: means over the readings that were taken in it.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GpuFrame {
    /// NVML's index.
    pub index: u32,
    /// Name of the model.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub name: String,
    /// Readings that were taken in the interval.
    pub samples: u32,
    /// Share of the time in which a kernel ran, 0 to 1.
    pub utilization: Option<f64>,
    /// Share of the time in which device memory was read or written, 0 to 1.
    pub memory_busy: Option<f64>,
    /// Share of the device memory in use, 0 to 1.
    pub memory: Option<f64>,
    /// The same in bytes.
    pub memory_used: Option<f64>,
    /// Bytes a second over PCIe, to the GPU.
    pub pcie_rx: Option<f64>,
    /// Bytes a second over PCIe, from the GPU.
    pub pcie_tx: Option<f64>,
    /// Bytes a second over all NVLinks, to the GPU.
    pub nvlink_rx: Option<f64>,
    /// Bytes a second over all NVLinks, from the GPU.
    pub nvlink_tx: Option<f64>,
    /// Watts.
    pub power_w: Option<f64>,
    /// Clock of the multiprocessors, MHz.
    pub sm_mhz: Option<f64>,
    /// Clock of the memory, MHz.
    pub memory_mhz: Option<f64>,
    /// Temperature of the die, degrees Celsius.
    pub temperature_c: Option<f64>,
}

/// A value of a [`GpuFrame`].
#[derive(Clone, Copy)]
pub struct Column {
    /// Its name in JSON and CSV.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Reads it.
    pub get: fn(&GpuFrame) -> Option<f64>,
    /// Where it is.
    pub place: fn(&mut GpuFrame) -> &mut Option<f64>,
}

macro_rules! columns {
    ($($name:ident $unit:literal,)*) => {
        /// The values of a frame, in the order of CSV.
        pub const COLUMNS: &[Column] = &[$(Column {
            name: stringify!($name),
            unit: $unit,
            get: |gpu| gpu.$name,
            place: |gpu| &mut gpu.$name,
        },)*];
    };
}

columns! {
    utilization "ratio",
    memory_busy "ratio",
    memory "ratio",
    memory_used "bytes",
    pcie_rx "bytes/s",
    pcie_tx "bytes/s",
    nvlink_rx "bytes/s",
    nvlink_tx "bytes/s",
    power_w "W",
    sm_mhz "MHz",
    memory_mhz "MHz",
    temperature_c "°C",
}

/// How long calls took that ended since the reading before: the daemon counts them every 2 s, so that most frames of a
/// short interval have none, and those of a long one several readings, added up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CallFrame {
    /// Calls.
    pub count: u64,
    /// Percentiles and the longest, ns, within 1/64.
    pub p50_ns: u64,
    /// 90th percentile.
    pub p90_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// Their sum, ns.
    pub sum_ns: u64,
    /// Time since the reading before, in which they ended, ms.
    pub span_ms: u64,
    /// Index and count of each bucket of docs/profiles.md that is not empty, ascending: with them percentiles of many hosts are
    /// exact sums.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub buckets: Vec<(u16, u64)>,
}

impl CallFrame {
    /// Of the calls that ended in `span_ms`.
    pub fn new(histogram: &Histogram, span_ms: u64) -> Self {
        Self {
            count: histogram.count(),
            p50_ns: histogram.quantile(0.5),
            p90_ns: histogram.quantile(0.9),
            p99_ns: histogram.quantile(0.99),
            max_ns: histogram.max_ns(),
            sum_ns: histogram.sum_ns(),
            span_ms,
            buckets: histogram.buckets().collect(),
        }
    }

    /// Both together; `None` if the buckets of one are none.
    pub fn and(&self, other: &Self) -> Option<Self> {
        let histogram = |of: &Self| Histogram::from_buckets(&of.buckets, of.sum_ns, of.max_ns).ok();
        let mut both = histogram(self)?;
        both.merge(&histogram(other)?);
        Some(Self::new(&both, self.span_ms.saturating_add(other.span_ms)))
    }
}

/// What a host measured in one interval. An interval without one is a gap.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostFrame {
    /// Number of the interval: its beginning by the head's clock, in nanoseconds since 1970-01-01, divided by its length.
    pub slot: i64,
    /// The true time of the readings is not farther from the interval than this, in nanoseconds.
    pub error_ns: i64,
    /// Its GPUs, by index.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub gpus: Vec<GpuFrame>,
    /// Its driver calls.
    pub calls: Option<CallFrame>,
    /// Its CUDA calls.
    pub cuda_calls: Option<CallFrame>,
}

impl HostFrame {
    /// Both kinds of calls, with the names of their fields.
    pub fn all_calls(&self) -> [(&'static str, Option<&CallFrame>); 2] {
        [
            (Metric::Calls.name(), self.calls.as_ref()),
            (Metric::CudaCalls.name(), self.cuda_calls.as_ref()),
        ]
    }
}

/// Frames on their way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Frames {
    /// Number of the session.
    pub session: i64,
    /// By time. Bounded by [`FRAMES_MAX`].
    pub frames: Vec<HostFrame>,
}

/// Why frames are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FramesError {
    /// They are no JSON of frames.
    #[error("no frames of a session: {0}")]
    Malformed(String),
    /// There is more than allowed.
    #[error("{0}: the most is {1}")]
    TooMany(&'static str, usize),
    /// A value cannot be.
    #[error("frame {slot}: {what}")]
    Value {
        /// Which frame.
        slot: i64,
        /// What of it.
        what: &'static str,
    },
}

impl Frames {
    /// Reads frames as they come over the network.
    ///
    /// # Errors
    /// [`FramesError`].
    pub fn parse(body: &[u8]) -> Result<Self, FramesError> {
        let frames: Self =
            serde_json::from_slice(body).map_err(|e| FramesError::Malformed(e.to_string()))?;
        if frames.frames.len() > FRAMES_MAX {
            return Err(FramesError::TooMany("frames", FRAMES_MAX));
        }
        let mut before = None;
        for frame in &frames.frames {
            let wrong = |what| FramesError::Value {
                slot: frame.slot,
                what,
            };
            if before.is_some_and(|before| before >= frame.slot) {
                return Err(wrong("it does not come after the one before it"));
            }
            before = Some(frame.slot);
            if frame.error_ns < 0 {
                return Err(wrong("its error is negative"));
            }
            if frame.gpus.len() > GPUS_MAX {
                return Err(FramesError::TooMany("GPUs of a frame", GPUS_MAX));
            }
            if !frame.gpus.is_sorted_by(|a, b| a.index < b.index) {
                return Err(wrong("its GPUs are not by rising index"));
            }
            for gpu in &frame.gpus {
                let named = gpu.name.len() <= NAME_MAX && !gpu.name.contains(char::is_control);
                if !named {
                    return Err(wrong(
                        "the name of a GPU is too long or has control characters",
                    ));
                }
                let mut values = COLUMNS.iter().filter_map(|column| (column.get)(gpu));
                if values.any(|value| !(value.is_finite() && value >= 0.0)) {
                    return Err(wrong("a value is negative or no number"));
                }
            }
            for calls in frame.all_calls().into_iter().filter_map(|(_, calls)| calls) {
                if calls.buckets.len() > BUCKETS_MAX {
                    return Err(FramesError::TooMany("buckets of a frame", BUCKETS_MAX));
                }
                if !calls.buckets.is_sorted_by(|a, b| a.0 < b.0) {
                    return Err(wrong("its buckets are not by rising index"));
                }
            }
        }
        Ok(frames)
    }
}

/// The beginning of an interval by the head's clock, in nanoseconds since 1970-01-01.
pub fn slot_begin(slot: i64, interval_ms: u32) -> i64 {
    slot.saturating_mul(i64::from(interval_ms).saturating_mul(1_000_000))
}

/// The intervals that lie wholly within a time, the last one excluded. Nanoseconds.
pub fn slots_within(from_ns: i64, until_ns: i64, interval_ms: u32) -> std::ops::Range<i64> {
    let length = (i64::from(interval_ms) * 1_000_000).max(1);
    let first = from_ns.div_euclid(length) + i64::from(from_ns.rem_euclid(length) != 0);
    first..until_ns.div_euclid(length).max(first)
}

/// Finds the intervals in which a host measured nothing.
#[derive(Clone, Debug)]
pub struct GapFinder {
    next: i64,
    end: i64,
}

impl GapFinder {
    /// For the intervals of `expected`.
    pub fn new(expected: std::ops::Range<i64>) -> Self {
        Self {
            next: expected.start,
            end: expected.end,
        }
    }

    /// A frame is there; frames come in order. The gap before it, if there is one.
    pub fn frame(&mut self, slot: i64) -> Option<std::ops::Range<i64>> {
        let gap = self.next..slot.min(self.end);
        self.next = self.next.max(slot.saturating_add(1));
        (!gap.is_empty()).then_some(gap)
    }

    /// No further frame is there. The gap at the end, if there is one.
    pub fn end(self) -> Option<std::ops::Range<i64>> {
        let gap = self.next..self.end;
        (!gap.is_empty()).then_some(gap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_what_no_frame_fills() {
        // 200 ms: from 1.05 s to 2.59 s the whole intervals are 6 to 11.
        let expected = slots_within(1_050_000_000, 2_590_000_000, 200);
        assert_eq!(expected, 6..12);
        let mut finder = GapFinder::new(expected);
        let found: Vec<_> = [5, 6, 9, 10].map(|slot| finder.frame(slot)).into();
        assert_eq!(found, [None, None, Some(7..9), None]);
        assert_eq!(finder.end(), Some(11..12));
        assert_eq!(GapFinder::new(3..3).end(), None);
    }

    #[test]
    fn a_metric_of_a_newer_head_is_left_out() {
        let measure = |text: &str| serde_json::from_str::<Measure>(text).unwrap().metrics;
        let newer =
            r#"{"session":1,"interval_ms":200,"metrics":["power","of_tomorrow","cuda_calls"]}"#;
        assert_eq!(measure(newer), [Metric::Power, Metric::CudaCalls]);
        assert_eq!(measure(r#"{"session":1,"interval_ms":200}"#), Metric::ALL);
    }

    #[test]
    fn frames_that_cannot_be_are_refused() {
        let parse = |text: &str| Frames::parse(text.as_bytes());
        assert!(parse(r#"{"session":1,"frames":[{"slot":1,"error_ns":5,"gpus":[{"index":0,"samples":2,"utilization":0.5}]}]}"#).is_ok());
        for wrong in [
            r#"{"session":1,"frames":[{"slot":2,"error_ns":5},{"slot":2,"error_ns":5}]}"#,
            r#"{"session":1,"frames":[{"slot":2,"error_ns":-5}]}"#,
            r#"{"session":1,"frames":[{"slot":2,"error_ns":5,"gpus":[{"index":0,"samples":1,"power_w":-1}]}]}"#,
            r#"{"session":1,"frames":[{"slot":2,"error_ns":5,"gpus":[{"index":1,"samples":1},{"index":1,"samples":1}]}]}"#,
            r#"{"session":1,"frames":[{"slot":2,"error_ns":5,"gpus":[{"index":1,"samples":1,"name":"a\nb"}]}]}"#,
            "[]",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
