//! Latency of calls before, during and after, from the history of samples.

use std::collections::BTreeMap;
use std::path::Path;

use gtrace_event::MissingEvidence;
use gtrace_history::{Query, Series, Value};
use gtrace_profile::{Counts, Histogram, Key, Layer, Part, Process};
use gtrace_report::{LatencyRow, Material, missing};

/// Where calls are timed, and the metric of each.
const METRICS: [(&str, Layer); 2] = [
    ("gtrace_driver_call_seconds", Layer::Driver),
    ("gtrace_cuda_call_seconds", Layer::Api),
];
/// Points, at most.
const POINTS_MAX: usize = 200_000;
/// The time between two readings of the probes, ms: a point has what returned since the one before.
const READ_EVERY_MS: i64 = 2_000;

/// Adds the rows.
pub(super) fn add(material: &mut Material, directory: Option<&Path>) {
    let rows = match directory {
        Some(directory) => read(material, directory),
        None => Err("no history of samples was named".to_owned()),
    };
    let why = match rows {
        Ok(rows) if rows.is_empty() => {
            "no call of this time was timed: no program used a device of the driver, or the probes were off".to_owned()
        }
        Ok(rows) => {
            material.latency = rows;
            return;
        }
        Err(why) => why,
    };
    let gap = MissingEvidence::new(missing::LATENCY, why);
    material.missing.push(gap);
}

fn read(material: &Material, directory: &Path) -> Result<Vec<LatencyRow>, String> {
    let reader = super::samples::open(directory)?;
    let query = Query {
        metrics: METRICS.map(|(metric, _)| metric.to_owned()).to_vec(),
        since_ms: material.window.from.as_millisecond(),
        until_ms: material.window.to.as_millisecond().saturating_add(1),
        max_points: POINTS_MAX,
        ..Query::default()
    };
    let found = reader.query(&query).map_err(|error| error.to_string())?;
    let span = material.span().unwrap_or(material.window);
    let phases = Phases {
        from_ms: span.from.as_millisecond(),
        to_ms: span.to.as_millisecond(),
    };
    let mut rows: BTreeMap<Key, LatencyRow> = BTreeMap::new();
    for series in found.series {
        let Some(key) = key(&series, &material.host) else {
            continue;
        };
        let row = rows.entry(key.clone()).or_insert_with(|| LatencyRow {
            key,
            before: Counts::default(),
            during: Counts::default(),
            after: Counts::default(),
        });
        for point in series.points {
            if let Value::Histogram(histogram) = point.value {
                add_to(phases.of(row, point.time_ms), &histogram);
            }
        }
    }
    Ok(rows.into_values().collect())
}

/// The incident's time.
struct Phases {
    from_ms: i64,
    to_ms: i64,
}

impl Phases {
    /// Where calls that returned in the last [`READ_EVERY_MS`] belong. Those that may have returned meanwhile count as during.
    fn of<'a>(&self, row: &'a mut LatencyRow, time_ms: i64) -> &'a mut Counts {
        if time_ms <= self.from_ms {
            &mut row.before
        } else if time_ms - READ_EVERY_MS >= self.to_ms {
            &mut row.after
        } else {
            &mut row.during
        }
    }
}

fn add_to(counts: &mut Counts, histogram: &Histogram) {
    counts.histogram.merge(histogram);
    counts.calls += histogram.count();
}

fn key(series: &Series, host: &str) -> Option<Key> {
    let layer = METRICS.iter().find(|(name, _)| *name == series.metric)?.1;
    let label = |name: &str| {
        let found = series.labels.iter().find(|(label, _)| label == name);
        found.map(|(_, value)| value.clone())
    };
    Some(Key {
        process: Process {
            host: host.to_owned(),
            pid: label("pid")?.parse().ok()?,
            comm: label("process").unwrap_or_default(),
            ..Process::default()
        },
        layer,
        function: label("call")?,
        part: Part::Whole,
        gpu: label("gpu"),
    })
}

#[cfg(test)]
mod tests {
    use gtrace_event::{Event, Occurrence, Severity, Timestamp, WitnessName};
    use gtrace_history::{Kind, Options, Sample, Samples, SeriesKey, Writer};
    use gtrace_report::Window;

    use super::*;

    #[test]
    fn calls_are_counted_before_during_and_after() {
        let directory = tempfile::tempdir().unwrap();
        let at = |ms: i64| Timestamp::from_millisecond(1_772_500_000_000 + ms).unwrap();
        let mut writer = Writer::open(directory.path(), Options::default()).unwrap();
        let labels = [
            ("call", "RM_CONTROL"),
            ("pid", "7"),
            ("process", "train.py"),
        ];
        let labels = labels.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let name = METRICS[0].0;
        let series = SeriesKey::new(name, "seconds", Kind::Histogram, labels.to_vec()).unwrap();
        for second in (2..=20).step_by(2) {
            let mut histogram = Histogram::default();
            histogram.record_n(1000 * second, second);
            let samples = vec![Sample {
                series: series.clone(),
                value: Value::Histogram(histogram),
            }];
            let time_ms = at(second as i64 * 1000).as_millisecond();
            writer.push(&Samples { time_ms, samples }).unwrap();
        }
        writer.flush(at(20_000).as_millisecond()).unwrap();
        let mut material = Material::new(
            at(0),
            "gtrace",
            Window {
                from: at(0),
                to: at(30_000),
            },
        );
        let occurrence = Occurrence::new(gtrace_event::Kind::Xid, Severity::Fatal, "Xid");
        let mut event = Event::seen(at(9_000), WitnessName::Kmsg, 1, occurrence);
        event.last_time = Some(at(11_000));
        material.events.push(event);
        add(&mut material, Some(directory.path()));
        assert_eq!(material.missing, []);
        let [row] = &material.latency[..] else {
            panic!("one row, not {:?}", material.latency);
        };
        assert_eq!(
            (row.key.process.pid, row.key.function.as_str()),
            (7, "RM_CONTROL")
        );
        assert_eq!(row.before.calls, 2 + 4 + 6 + 8);
        assert_eq!(row.during.calls, 10 + 12);
        assert_eq!(row.after.calls, 14 + 16 + 18 + 20);
        assert_eq!(row.during.histogram.sum_ns(), 1000 * (100 + 144));
    }
}
