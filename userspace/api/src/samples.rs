//! `/api/v1/samples`: what components measured.

use std::collections::BTreeMap;

use gtrace_event::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

gtrace_event::named_enum! {
    /// What the values of a series are.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum SampleKind {
        /// Goes up and down.
        Gauge = "gauge",
        /// Rises until its source is reset.
        Counter = "counter",
        /// Durations since the point before.
        Histogram = "histogram",
    }
}

/// Samples of a range of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SampleHistory {
    /// The metrics that there are; only where the request names none.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub metrics: Vec<SampleMetric>,
    /// The series of the metrics that the request names, by metric and labels.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub series: Vec<SampleSeries>,
    /// Seconds that a point stands for: those of the request, or more where its limit asks for that. Points of the
    /// past are further apart where only a coarser resolution is left.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step_s: Option<f64>,
    /// Series that are not in the answer, as one point of each is more than the limit.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub left_out: u64,
    /// Blocks on disk that could not be read.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub damaged: u64,
}

/// A metric that there are samples of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SampleMetric {
    /// Name in OpenMetrics, without `_total`.
    pub metric: String,
    /// The unit that the name ends with.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub unit: String,
    /// What its values are.
    pub kind: SampleKind,
    /// How many series.
    pub series: u64,
    /// First sample of the oldest file that has the metric.
    pub since: Timestamp,
    /// Last sample of the newest file that has it.
    pub until: Timestamp,
}

/// A metric with its labels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SampleSeries {
    /// Name in OpenMetrics, without `_total`.
    pub metric: String,
    /// The unit that the name ends with.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub unit: String,
    /// What its values are.
    pub kind: SampleKind,
    /// Labels, by name.
    pub labels: BTreeMap<String, String>,
    /// Points, by time.
    pub points: Vec<SamplePoint>,
}

/// One sample, or all samples of a step.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SamplePoint {
    /// Time of the last sample.
    pub time: Timestamp,
    /// The last value of a gauge or counter.
    pub last: Option<f64>,
    /// Of a gauge with more than one sample.
    pub range: Option<SampleRange>,
    /// Of a histogram.
    pub durations: Option<SampleDurations>,
}

/// What several samples of a gauge were.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SampleRange {
    /// How many.
    pub count: u64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// Their mean; each sample counts once.
    pub mean: f64,
}

/// Durations that came since the point before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SampleDurations {
    /// How many.
    pub count: u64,
    /// Their sum, ns.
    pub sum_ns: u64,
    /// The longest, ns.
    pub max_ns: u64,
    /// Index and count of each bucket that is not empty, as in `/api/v1/histograms`.
    pub buckets: Vec<(u16, u64)>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
