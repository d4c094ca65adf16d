use std::collections::BTreeSet;

use gtrace_history::{Gauge, Options, Query, Tier, Value, Writer};

use crate::common::{
    HOUR, MINUTE, SECOND, START, everything, fill, gauge, open, points, push, query,
};

fn gauges(dir: &std::path::Path, step_ms: i64) -> Vec<(i64, Gauge)> {
    let asked = Query {
        metrics: vec!["temperature".to_owned()],
        step_ms: Some(step_ms),
        ..everything()
    };
    let found = query(dir, &asked);
    let points = found.series.iter().flat_map(|series| &series.points);
    points
        .map(|point| match &point.value {
            Value::Gauge(gauge) => (point.time_ms, *gauge),
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn a_gauge_keeps_smallest_largest_mean_and_last() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = open(dir.path());
    for (second, value) in [(0, 5.0), (3, 1.0), (9, 3.0), (10, 8.0)] {
        push(&mut writer, START + second * SECOND, vec![gauge(0, value)]);
    }
    let expected = [
        (
            START + 9 * SECOND,
            Gauge {
                count: 3,
                min: 1.0,
                max: 5.0,
                mean: 3.0,
                last: 3.0,
            },
        ),
        (START + 10 * SECOND, Gauge::one(8.0)),
    ];
    assert_eq!(gauges(dir.path(), 10 * SECOND), expected);
    writer.flush(START).unwrap();
    assert_eq!(gauges(dir.path(), 10 * SECOND), expected);
}

#[test]
fn a_bucket_that_a_restart_cuts_is_one_point() {
    let dir = tempfile::tempdir().unwrap();
    for (second, value) in [(0, 4.0), (20, 2.0), (50, 9.0)] {
        let mut writer = open(dir.path());
        push(&mut writer, START + second * SECOND, vec![gauge(0, value)]);
        writer.flush(START + second * SECOND).unwrap();
    }
    let got = gauges(dir.path(), MINUTE);
    let expected = Gauge {
        count: 3,
        min: 2.0,
        max: 9.0,
        mean: 5.0,
        last: 9.0,
    };
    assert_eq!(got, [(START + 50 * SECOND, expected)]);
}

#[test]
fn older_samples_are_coarser_and_none_is_missing_or_twice() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = open(dir.path());
    let until = START + 4 * HOUR;
    fill(&mut writer, START, until, 5 * SECOND);
    let got = gauges(dir.path(), SECOND);
    let total: u64 = got.iter().map(|(_, gauge)| gauge.count).sum();
    assert_eq!(total, 4 * 720);
    let fine = got.iter().filter(|(time, _)| *time >= until - HOUR);
    assert_eq!(fine.count(), 720);
    assert_eq!(got[0].1.count, 2, "ten seconds of the oldest hour");
    assert!(got.windows(2).all(|pair| pair[0].0 < pair[1].0));
    let asked = Query {
        metrics: vec!["energy".to_owned()],
        step_ms: Some(10 * SECOND),
        ..everything()
    };
    let counters = points(&query(dir.path(), &asked), "energy");
    assert_eq!(counters.len(), 4 * 360);
    assert_eq!(
        counters[0],
        (START + 5 * SECOND, 10.0),
        "the last of the bucket"
    );
}

#[test]
fn each_resolution_goes_when_it_is_too_old() {
    let dir = tempfile::tempdir().unwrap();
    let tier = |resolution_ms, keep_ms, segment_ms| Tier {
        resolution_ms,
        keep_ms,
        segment_ms,
    };
    // A fourteenth of the usual times.
    let tiers = vec![
        tier(1000, 15 * MINUTE, 5 * MINUTE),
        tier(10_000, 2 * HOUR, 10 * MINUTE),
        tier(60_000, 12 * HOUR, HOUR),
    ];
    let options = Options {
        tiers,
        ..Options::default()
    };
    let mut writer = Writer::open(dir.path(), options).unwrap();
    let end = START + 20 * HOUR;
    fill(&mut writer, START, end, 30 * SECOND);
    let got = gauges(dir.path(), SECOND);
    let oldest = got[0].0;
    let expected = end - 13 * HOUR - 5 * MINUTE..=end - 12 * HOUR;
    assert!(expected.contains(&oldest), "{}", end - oldest);
    let counts = |from: i64, until: i64| {
        let within = got.iter().filter(|(time, _)| (from..until).contains(time));
        let counts: BTreeSet<_> = within.map(|(_, gauge)| gauge.count).collect();
        counts.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(counts(end - 11 * HOUR, end - 3 * HOUR), [2]);
    assert_eq!(counts(end - HOUR, end), [1]);
}
