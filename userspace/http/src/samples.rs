//! Samples of the past: the query of `/api/v1/samples`, and its answer from a directory.

use std::path::{Path, PathBuf};

use gtrace_api::{
    SampleDurations, SampleHistory, SampleKind, SampleMetric, SamplePoint, SampleRange,
    SampleSeries,
};
use gtrace_event::{Gpu, PciAddress, Timestamp};
use gtrace_history::{
    HistoryError, Kind, MetricRange, Point, Query, Reader, Series, SeriesKey, Value,
};

use crate::query::{
    BadParameter, GpuSelector, Parameter, Values, none_of, parameters, parse_time, set_each,
};

/// Most points of one answer.
pub const MAX_POINTS: usize = 20_000;
/// Points of an answer that names no limit.
pub const DEFAULT_POINTS: usize = 2_000;
/// Seconds of the past that an answer has which names no `since`.
const DEFAULT_RANGE_MS: i64 = 3_600_000;
/// Most seconds of a step: a year.
const MAX_STEP_S: u64 = 366 * 86_400;

/// Parameters of [`SampleQuery`].
pub(crate) const SAMPLE_PARAMETERS: [Parameter; 7] = parameters! {
    "metric" "Name of a metric, without _total; may be repeated. Without it the answer lists the metrics" =>
        Values::Text;
    "gpu" "PCI address or its beginning, NVML index, or UUID or its beginning" => Values::Gpu;
    "label" "NAME=VALUE of a label that a series must have; may be repeated" => Values::Text;
    "since" "Samples at or after this time: RFC 3339, or an age (30s, 30m, 1h, 2d, 1w); 1h if not given" =>
        Values::Time;
    "until" "Samples before this time: RFC 3339, or an age" => Values::Time;
    "step" "Seconds that a point stands for; the finest that there is if not given" =>
        Values::Integer { min: 1, max: MAX_STEP_S, default: 1 };
    "limit" "At most so many points; where there are more, the step is doubled until there are not" =>
        Values::Integer { min: 1, max: MAX_POINTS as u64, default: DEFAULT_POINTS as u64 };
};

/// Which samples are asked for, on the command line and over HTTP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SampleQuery {
    /// Names of metrics; none for the list of metrics.
    pub metrics: Vec<String>,
    /// The device.
    pub gpu: Option<GpuSelector>,
    /// Labels that a series must have, by name and value.
    pub labels: Vec<(String, String)>,
    /// From this time on; an hour ago if not given.
    pub since: Option<Timestamp>,
    /// To before this time.
    pub until: Option<Timestamp>,
    /// Seconds that a point stands for.
    pub step_s: Option<u64>,
    /// At most so many points.
    pub limit: Option<usize>,
}

impl SampleQuery {
    /// Reads decoded query parameters. Ages count back from `now`.
    ///
    /// # Errors
    ///
    /// The first parameter that is unknown or cannot be understood.
    pub fn from_pairs<'a>(
        pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
        now: Timestamp,
    ) -> Result<Self, BadParameter> {
        let mut query = Self::default();
        set_each(pairs, |name, value| query.set(name, value, now))?;
        Ok(query)
    }

    fn set(&mut self, name: &str, value: &str, now: Timestamp) -> Result<(), String> {
        let number = |most: u64| match value.parse() {
            Ok(number) if (1..=most).contains(&number) => Ok(number),
            _ => Err(format!("`{value}` is no number from 1 to {most}")),
        };
        match name {
            "metric" => self.metrics.push(family(value).to_owned()),
            "gpu" => self.gpu = Some(value.parse()?),
            "label" => {
                let label = value.split_once('=').filter(|(name, _)| !name.is_empty());
                let (name, value) =
                    label.ok_or_else(|| format!("`{value}` is no NAME=VALUE of a label"))?;
                self.labels.push((name.to_owned(), value.to_owned()));
            }
            "since" => self.since = Some(parse_time(value, now)?),
            "until" => self.until = Some(parse_time(value, now)?),
            "step" => self.step_s = Some(number(MAX_STEP_S)?),
            "limit" => self.limit = usize::try_from(number(MAX_POINTS as u64)?).ok(),
            _ => return Err(none_of(&SAMPLE_PARAMETERS)),
        }
        Ok(())
    }

    /// The parameters that [`SampleQuery::from_pairs`] reads this query from.
    pub fn to_pairs(&self) -> Vec<(&'static str, String)> {
        let metrics = self.metrics.iter().map(|name| ("metric", name.clone()));
        let mut pairs: Vec<_> = metrics.collect();
        let labels = self.labels.iter();
        pairs.extend(labels.map(|(name, value)| ("label", format!("{name}={value}"))));
        let mut push = |name, value: Option<String>| pairs.extend(value.map(|value| (name, value)));
        push("gpu", self.gpu.as_ref().map(ToString::to_string));
        push("since", self.since.map(|time| time.to_string()));
        push("until", self.until.map(|time| time.to_string()));
        push("step", self.step_s.map(|step| step.to_string()));
        push("limit", self.limit.map(|limit| limit.to_string()));
        pairs
    }

    fn of_history(&self, now: Timestamp) -> Query {
        let ms = |time: Timestamp| time.as_millisecond();
        let until_ms = self.until.map_or(i64::MAX, ms);
        Query {
            metrics: self.metrics.clone(),
            labels: self.labels.clone(),
            since_ms: self.since.map_or_else(
                || ms(now).min(until_ms).saturating_sub(DEFAULT_RANGE_MS),
                ms,
            ),
            until_ms,
            step_ms: self
                .step_s
                .and_then(|step| i64::try_from(step.saturating_mul(1000)).ok()),
            max_points: self.limit.unwrap_or(DEFAULT_POINTS),
        }
    }
}

/// A counter is known in `/metrics` by a name that ends with `_total`.
fn family(name: &str) -> &str {
    name.strip_suffix("_total").unwrap_or(name)
}

/// Why samples cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SamplesError {
    /// None were ever kept.
    #[error("there are no samples in {dir}: sample_history is off, or gtrace has not run yet")]
    Absent {
        /// The directory.
        dir: PathBuf,
    },
    /// The GPU is given by NVML's index, which samples do not have.
    #[error(
        "which GPU has index {index} only a running daemon knows; name its PCI address or UUID"
    )]
    Index {
        /// The index.
        index: u32,
    },
    /// They cannot be read.
    #[error("samples cannot be read: {0}")]
    History(#[from] HistoryError),
}

/// Answers `query` from the history in `dir`. A GPU must be given by address or UUID.
///
/// # Errors
///
/// Any [`SamplesError`].
pub fn read_samples(
    dir: &Path,
    query: &SampleQuery,
    now: Timestamp,
) -> Result<SampleHistory, SamplesError> {
    if let Some(GpuSelector::Index(index)) = query.gpu {
        return Err(SamplesError::Index { index });
    }
    let reader = Reader::open(dir).map_err(|error| match error.is_absent() {
        true => SamplesError::Absent {
            dir: dir.to_owned(),
        },
        false => error.into(),
    })?;
    let matches = |key: &SeriesKey| {
        let wanted = query.gpu.as_ref();
        wanted.is_none_or(|wanted| gpu_of(key).is_some_and(|gpu| wanted.matches(&gpu)))
    };
    if query.metrics.is_empty() {
        let metrics = reader.metrics(matches)?;
        return Ok(SampleHistory {
            metrics: metrics.into_iter().map(metric).collect(),
            ..SampleHistory::default()
        });
    }
    let found = reader.query_where(&query.of_history(now), matches)?;
    Ok(SampleHistory {
        metrics: Vec::new(),
        series: found.series.into_iter().map(series).collect(),
        step_s: Some(found.step_ms as f64 / 1000.0),
        left_out: found.skipped.series,
        damaged: found.skipped.damaged,
    })
}

/// The device that the labels `gpu` and `uuid` name.
fn gpu_of(key: &SeriesKey) -> Option<Gpu> {
    Some(Gpu {
        pci: Some(PciAddress::parse(key.label("gpu")?)?),
        uuid: key.label("uuid").map(str::to_owned),
        ..Gpu::default()
    })
}

fn kind(kind: Kind) -> SampleKind {
    match kind {
        Kind::Gauge => SampleKind::Gauge,
        Kind::Counter => SampleKind::Counter,
        Kind::Histogram => SampleKind::Histogram,
    }
}

/// A time that a damaged clock gave is shown as the nearest that there is.
fn time(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).unwrap_or(match ms < 0 {
        true => Timestamp::MIN,
        false => Timestamp::MAX,
    })
}

fn metric(range: MetricRange) -> SampleMetric {
    SampleMetric {
        metric: range.metric,
        unit: range.unit,
        kind: kind(range.kind),
        series: range.series,
        since: time(range.since_ms),
        until: time(range.until_ms),
    }
}

fn series(series: Series) -> SampleSeries {
    SampleSeries {
        metric: series.metric,
        unit: series.unit,
        kind: kind(series.kind),
        labels: series.labels.into_iter().collect(),
        points: series.points.into_iter().map(point).collect(),
    }
}

fn point(point: Point) -> SamplePoint {
    let mut shown = SamplePoint {
        time: time(point.time_ms),
        last: None,
        range: None,
        durations: None,
    };
    match point.value {
        Value::Counter(value) => shown.last = Some(value),
        Value::Gauge(gauge) => {
            shown.last = Some(gauge.last);
            shown.range = (gauge.count > 1).then_some(SampleRange {
                count: gauge.count,
                min: gauge.min,
                max: gauge.max,
                mean: gauge.mean,
            });
        }
        Value::Histogram(histogram) => {
            shown.durations = Some(SampleDurations {
                count: histogram.count(),
                sum_ns: histogram.sum_ns(),
                max_ns: histogram.max_ns(),
                buckets: histogram.buckets().collect(),
            });
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_survives_the_way_to_parameters_and_back() {
        let now = "2026-03-03T12:00:00Z".parse().unwrap();
        let pairs = [
            ("metric", "gtrace_gpu_power_watts"),
            ("metric", "gtrace_gpu_energy_joules_total"),
            ("gpu", "GPU-8f3a"),
            ("label", "pid=4711"),
            ("label", "process=a=b"),
            ("since", "2h"),
            ("until", "2026-03-03T11:59:00Z"),
            ("step", "60"),
            ("limit", "500"),
        ];
        let query = SampleQuery::from_pairs(pairs, now).unwrap();
        assert_eq!(query.metrics[1], "gtrace_gpu_energy_joules");
        assert_eq!(query.labels[1], ("process".to_owned(), "a=b".to_owned()));
        assert_eq!(query.since, Some("2026-03-03T10:00:00Z".parse().unwrap()));
        let back = query.to_pairs();
        let back = back.iter().map(|(n, v)| (*n, v.as_str()));
        assert_eq!(SampleQuery::from_pairs(back, now).unwrap(), query);
        for (name, value) in [
            ("step", "0"),
            ("limit", "20001"),
            ("gpu", "!"),
            ("label", "pid"),
            ("label", "=1"),
            ("metrics", "x"),
        ] {
            let error = SampleQuery::from_pairs([(name, value)], now).unwrap_err();
            assert_eq!(error.name, name);
        }
    }

    #[test]
    fn without_since_the_last_hour_before_the_end_is_meant() {
        let now: Timestamp = "2026-03-03T12:00:00Z".parse().unwrap();
        let until: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        let query = SampleQuery {
            until: Some(until),
            ..SampleQuery::default()
        };
        let of_history = query.of_history(now);
        assert_eq!(of_history.since_ms, until.as_millisecond() - 3_600_000);
    }
}
