use std::fs;
use std::path::Path;

use gtrace_history::{Kind, Options, Sample, Samples, SeriesKey, TooLong, Value, Writer};

use crate::common::{MINUTE, START, everything, gauge, push, query};

fn bytes(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).unwrap();
    entries.map(|e| e.unwrap().metadata().unwrap().len()).sum()
}

#[test]
fn all_files_together_stay_below_the_bound_and_the_newest_samples_stay() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        max_bytes: Options::MIN_BYTES,
        ..Options::default()
    };
    let mut writer = Writer::open(dir.path(), options).unwrap();
    let mut seed = 1u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        f64::from_bits(0x3ff0_0000_0000_0000 | seed >> 12)
    };
    let mut time = START;
    let mut most = 0;
    // What does not compress: 3 MB of it an hour.
    for _ in 0..250 {
        time += MINUTE;
        let samples = (0..2000).map(|gpu| gauge(gpu, random())).collect();
        push(&mut writer, time, samples);
        writer.tick(time).unwrap();
        most = most.max(bytes(dir.path()));
        assert_eq!(writer.usage().bytes, bytes(dir.path()));
    }
    assert!(most <= Options::MIN_BYTES, "{most}");
    assert!(most > Options::MIN_BYTES / 2, "{most}");
    let dropped = writer.dropped();
    assert!(dropped.segments > 0 && dropped.bytes > 0, "{dropped:?}");
    let found = query(dir.path(), &everything());
    assert_eq!(found.series.len(), 2000);
    assert_eq!(found.series[0].points.last().unwrap().time_ms, time);
}

#[test]
fn series_beyond_the_bound_are_dropped_and_counted() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        max_series: 3,
        ..Options::default()
    };
    let mut writer = Writer::open(dir.path(), options).unwrap();
    push(&mut writer, START, (0..5).map(|n| gauge(n, 1.0)).collect());
    assert_eq!(writer.dropped().series, 2);
    writer.flush(START).unwrap();
    // Other series may take their place in the next block.
    push(
        &mut writer,
        START + 1,
        (5..8).map(|n| gauge(n, 1.0)).collect(),
    );
    assert_eq!(writer.dropped().series, 2);
    assert_eq!(query(dir.path(), &everything()).series.len(), 6);
}

#[test]
fn values_that_are_no_numbers_or_of_another_kind_are_dropped_and_counted() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::open(dir.path(), Options::default()).unwrap();
    let wrong = Sample {
        value: Value::Counter(1.0),
        ..gauge(2, 0.0)
    };
    let samples = vec![
        gauge(0, f64::NAN),
        gauge(1, f64::INFINITY),
        wrong,
        gauge(3, 3.0),
    ];
    writer
        .push(&Samples {
            time_ms: START,
            samples,
        })
        .unwrap();
    assert_eq!(writer.dropped().values, 3);
    assert_eq!(query(dir.path(), &everything()).series.len(), 1);
}

#[test]
fn names_and_labels_have_a_longest_length() {
    let labels = |n: usize, length: usize| {
        let label = |i| (format!("l{i}"), "x".repeat(length));
        (0..n).map(label).collect::<Vec<_>>()
    };
    let make = |name: usize, labels| SeriesKey::new(&"m".repeat(name), "", Kind::Gauge, labels);
    assert!(make(128, labels(16, 256)).is_ok());
    assert_eq!(make(129, labels(0, 0)), Err(TooLong));
    assert_eq!(make(1, labels(17, 1)), Err(TooLong));
    assert_eq!(make(1, labels(1, 257)), Err(TooLong));
}
