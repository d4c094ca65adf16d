use std::path::Path;

use gtrace_history::{
    Found, Kind, Options, Query, Reader, Sample, Samples, SeriesKey, Value, Writer,
};

/// A round time, ms: a multiple of a day.
pub(crate) const START: i64 = 19_700 * 86_400_000;
pub(crate) const SECOND: i64 = 1000;
pub(crate) const MINUTE: i64 = 60 * SECOND;
pub(crate) const HOUR: i64 = 60 * MINUTE;

pub(crate) fn key(metric: &str, gpu: u64, kind: Kind) -> SeriesKey {
    let labels = vec![("gpu".to_owned(), format!("0000:{gpu:02x}:00.0"))];
    SeriesKey::new(metric, "", kind, labels).unwrap()
}

pub(crate) fn gauge(gpu: u64, value: f64) -> Sample {
    Sample {
        series: key("temperature", gpu, Kind::Gauge),
        value: Value::gauge(value),
    }
}

pub(crate) fn counter(gpu: u64, value: f64) -> Sample {
    Sample {
        series: key("energy", gpu, Kind::Counter),
        value: Value::Counter(value),
    }
}

pub(crate) fn push(writer: &mut Writer, time_ms: i64, samples: Vec<Sample>) {
    writer.push(&Samples { time_ms, samples }).unwrap();
}

/// A gauge of the seconds since START each `every` ms, with a block whenever one is due.
pub(crate) fn fill(writer: &mut Writer, from: i64, until: i64, every: i64) {
    let mut time = from;
    while time < until {
        let value = ((time - START) / SECOND) as f64;
        push(writer, time, vec![gauge(0, value), counter(0, value * 2.0)]);
        writer.tick(time).unwrap();
        time += every;
    }
}

pub(crate) fn open(dir: &Path) -> Writer {
    Writer::open(dir, Options::default()).unwrap()
}

pub(crate) fn everything() -> Query {
    Query {
        since_ms: i64::MIN,
        until_ms: i64::MAX,
        max_points: usize::MAX,
        ..Query::default()
    }
}

pub(crate) fn query(dir: &Path, query: &Query) -> Found {
    Reader::open(dir).unwrap().query(query).unwrap()
}

/// Times and last values of a metric's one series.
pub(crate) fn points(found: &Found, metric: &str) -> Vec<(i64, f64)> {
    let series: Vec<_> = found.series.iter().filter(|s| s.metric == metric).collect();
    assert!(series.len() <= 1, "{series:?}");
    let points = series.iter().flat_map(|series| &series.points);
    points
        .map(|point| match &point.value {
            Value::Gauge(gauge) => (point.time_ms, gauge.last),
            Value::Counter(value) => (point.time_ms, *value),
            Value::Histogram(_) => panic!("a histogram"),
        })
        .collect()
}

/// The numbers of `fill`, one a second.
pub(crate) fn seconds(from: i64, until: i64) -> Vec<(i64, f64)> {
    let times = (from..until).step_by(SECOND as usize);
    times.map(|t| (t, ((t - START) / SECOND) as f64)).collect()
}
