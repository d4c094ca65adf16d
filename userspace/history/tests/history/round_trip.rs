use std::collections::BTreeMap;

use gtrace_history::{Kind, Query, Reader, Sample, Value};
use gtrace_profile::Histogram;
use proptest::prelude::*;

use crate::common::{
    MINUTE, SECOND, START, everything, fill, gauge, key, open, points, push, query, seconds,
};

#[derive(Clone, Debug)]
enum Step {
    Push(Vec<(u8, f64)>),
    Flush,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let number = prop_oneof![
        (0i32..200).prop_map(f64::from),
        any::<f64>().prop_filter("finite", |v| v.is_finite()),
    ];
    let samples = prop::collection::vec((0u8..6, number), 0..8);
    prop_oneof![
        8 => samples.prop_map(Step::Push),
        1 => Just(Step::Flush),
        1 => Just(Step::Reopen),
    ]
}

/// Even numbers are gauges, odd ones counters.
fn sample(number: u8, value: f64) -> Sample {
    let (kind, value) = if number.is_multiple_of(2) {
        (Kind::Gauge, Value::gauge(value))
    } else {
        (Kind::Counter, Value::Counter(value))
    };
    Sample {
        series: key(&format!("m{number}"), 0, kind),
        value,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_was_pushed_is_found(steps in prop::collection::vec(step(), 1..40)) {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = open(dir.path());
        let mut expected: BTreeMap<u8, BTreeMap<i64, f64>> = BTreeMap::new();
        let mut time = START + 7;
        for step in steps {
            time += SECOND;
            match step {
                Step::Push(row) => {
                    // One value of a series at a time.
                    let row: BTreeMap<_, _> = row.into_iter().collect();
                    let samples = row.iter().map(|(n, v)| sample(*n, *v)).collect();
                    push(&mut writer, time, samples);
                    for (number, value) in row {
                        expected.entry(number).or_default().insert(time, value);
                    }
                }
                Step::Flush => writer.flush(time).unwrap(),
                Step::Reopen => {
                    drop(writer);
                    writer = open(dir.path());
                }
            }
        }
        let found = query(dir.path(), &everything());
        prop_assert_eq!(found.skipped.damaged, 0);
        prop_assert_eq!(found.series.len(), expected.len());
        for (number, points_of) in expected {
            let points_of: Vec<_> = points_of.into_iter().collect();
            prop_assert_eq!(points(&found, &format!("m{number}")), points_of);
        }
    }
}

#[test]
fn a_range_ends_before_its_end_and_labels_select() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = open(dir.path());
    fill(&mut writer, START, START + 12 * MINUTE, SECOND);
    push(&mut writer, START + 12 * MINUTE, vec![gauge(1, 5.0)]);
    let (since, until) = (START + 4 * MINUTE, START + 11 * MINUTE);
    let asked = Query {
        metrics: vec!["temperature".to_owned()],
        labels: vec![("gpu".to_owned(), "0000:00:00.0".to_owned())],
        since_ms: since,
        until_ms: until,
        ..everything()
    };
    let found = query(dir.path(), &asked);
    assert_eq!(found.series.len(), 1);
    assert_eq!(points(&found, "temperature"), seconds(since, until));
    let metrics = Reader::open(dir.path()).unwrap().metrics(|_| true).unwrap();
    let names: Vec<_> = metrics
        .iter()
        .map(|m| (m.metric.as_str(), m.series))
        .collect();
    assert_eq!(names, [("energy", 1), ("temperature", 2)]);
    assert_eq!(metrics[1].since_ms, START);
    assert_eq!(metrics[1].until_ms, START + 12 * MINUTE);
}

#[test]
fn histograms_of_one_bucket_are_added() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = open(dir.path());
    let mut whole = Histogram::default();
    for n in 0..50u64 {
        let mut delta = Histogram::default();
        delta.record_n(1000 * (n + 1), n + 1);
        whole.merge(&delta);
        let sample = Sample {
            series: key("calls", 0, Kind::Histogram),
            value: Value::Histogram(delta),
        };
        push(&mut writer, START + n as i64 * SECOND, vec![sample]);
        if n == 20 {
            writer.flush(START).unwrap();
        }
    }
    writer.flush(START).unwrap();
    let asked = Query {
        step_ms: Some(MINUTE),
        ..everything()
    };
    let found = query(dir.path(), &asked);
    let values: Vec<_> = found.series[0].points.iter().map(|p| &p.value).collect();
    assert_eq!(values, [&Value::Histogram(whole)]);
}

#[test]
fn a_step_is_doubled_until_the_points_fit() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = open(dir.path());
    fill(&mut writer, START, START + 1000 * SECOND, SECOND);
    let asked = Query {
        max_points: 100,
        ..everything()
    };
    let found = query(dir.path(), &asked);
    assert_eq!(found.step_ms, 32 * SECOND);
    let count: usize = found.series.iter().map(|s| s.points.len()).sum();
    assert!((50..=100).contains(&count), "{count}");
    let Value::Gauge(first) = &found.series[1].points[0].value else {
        panic!("{found:?}");
    };
    assert_eq!(first.min, 0.0);
    let all: u64 = found.series[1]
        .points
        .iter()
        .map(|point| match &point.value {
            Value::Gauge(gauge) => gauge.count,
            _ => 0,
        })
        .sum();
    assert_eq!(all, 1000);
    // Not even one point for each series.
    let one = Query {
        max_points: 1,
        ..everything()
    };
    let found = query(dir.path(), &one);
    assert_eq!((found.series.len(), found.skipped.series), (1, 1));
}
