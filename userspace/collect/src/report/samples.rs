//! Samples of the time, from the history that lies beside the store.

use std::path::Path;

use gtrace_event::{MissingEvidence, Timestamp};
use gtrace_history::{Query, Reader, Value};
use gtrace_report::{Loss, Material, Series, missing};

/// Points, at most: 10 minutes of 80 series at one a second.
const POINTS_MAX: usize = 50_000;

/// Adds the samples.
pub(super) fn add(material: &mut Material, directory: Option<&Path>) {
    let read = match directory {
        Some(directory) => read(material, directory),
        None => Err("no history of samples was named".to_owned()),
    };
    let why = match read {
        Ok(()) if material.samples.is_empty() => {
            "the history has no sample of this time".to_owned()
        }
        Ok(()) => return,
        Err(why) => why,
    };
    let gap = MissingEvidence::new(missing::SAMPLES, why);
    material.missing.push(gap);
}

/// The history in `directory`.
pub(super) fn open(directory: &Path) -> Result<Reader, String> {
    Reader::open(directory).map_err(|error| match error.is_absent() {
        true => format!("there is no history of samples in {}", directory.display()),
        false => error.to_string(),
    })
}

fn read(material: &mut Material, directory: &Path) -> Result<(), String> {
    let reader = open(directory)?;
    let window = material.window;
    let query = Query {
        since_ms: window.from.as_millisecond(),
        until_ms: window.to.as_millisecond().saturating_add(1),
        max_points: POINTS_MAX,
        ..Query::default()
    };
    let found = reader.query(&query).map_err(|error| error.to_string())?;
    let mut lost = |what: &str, count: u64, why: &str| {
        if count > 0 {
            let (what, why) = (what.to_owned(), why.to_owned());
            material.losses.push(Loss {
                what,
                count: Some(count),
                why,
            });
        }
    };
    lost(
        "blocks of samples",
        found.skipped.damaged,
        "they are damaged",
    );
    lost(
        "series of samples",
        found.skipped.series,
        "a report has no room for them",
    );
    material.samples = found.series.into_iter().filter_map(series).collect();
    Ok(())
}

/// A series of numbers; `None` for one of histograms.
fn series(series: gtrace_history::Series) -> Option<Series> {
    let point = |point: gtrace_history::Point| {
        let time = Timestamp::from_millisecond(point.time_ms).ok()?;
        match point.value {
            Value::Gauge(gauge) => Some((time, gauge.last)),
            Value::Counter(value) => Some((time, value)),
            Value::Histogram(_) => None,
        }
    };
    let points: Vec<_> = series.points.into_iter().filter_map(point).collect();
    (!points.is_empty()).then(|| Series {
        metric: series.metric,
        unit: series.unit,
        labels: series.labels.into_iter().collect(),
        points,
    })
}

#[cfg(test)]
mod tests {
    use gtrace_history::{Kind, Options, Sample, Samples, SeriesKey, Writer};
    use gtrace_report::Window;

    use super::*;

    #[test]
    fn samples_of_the_time_are_read_and_a_history_that_is_absent_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let at = |ms: i64| Timestamp::from_millisecond(1_772_500_000_000 + ms).unwrap();
        let mut writer = Writer::open(directory.path(), Options::default()).unwrap();
        let labels = vec![("gpu".to_owned(), "0000:3b:00.0".to_owned())];
        let key = SeriesKey::new("gpu_power", "watts", Kind::Gauge, labels).unwrap();
        for second in 0..20 {
            let value = Value::gauge(second as f64);
            let sample = Sample {
                series: key.clone(),
                value,
            };
            let time_ms = at(second * 1000).as_millisecond();
            writer
                .push(&Samples {
                    time_ms,
                    samples: vec![sample],
                })
                .unwrap();
        }
        writer.flush(at(20_000).as_millisecond()).unwrap();
        let window = Window {
            from: at(5_000),
            to: at(9_000),
        };
        let mut material = Material::new(at(0), "gtrace", window);
        add(&mut material, Some(directory.path()));
        assert_eq!(material.missing, []);
        assert_eq!(material.samples[0].labels["gpu"], "0000:3b:00.0");
        let values: Vec<f64> = material.samples[0]
            .points
            .iter()
            .map(|(_, value)| *value)
            .collect();
        assert_eq!(values, [5.0, 6.0, 7.0, 8.0, 9.0]);
        let mut empty = Material::new(at(0), "gtrace", window);
        add(&mut empty, Some(&directory.path().join("none")));
        assert!(
            empty.missing[0].why.contains("there is no history"),
            "{:?}",
            empty.missing
        );
    }
}
