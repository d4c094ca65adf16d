use super::*;
use crate::model::made;
use crate::{Counts, Histogram, Row};

fn profile(function: &str, histogram: Histogram) -> Profile {
    let mut profile = Profile::default();
    profile.add(&Row {
        key: made::key(Layer::Api, 7, function),
        counts: Counts::timed(histogram),
    });
    profile
}

fn spread(count: u64, ns: u64) -> Histogram {
    let mut histogram = Histogram::default();
    (0..count).for_each(|n| histogram.record(ns + ns * n / count));
    histogram
}

#[test]
fn a_profile_is_like_itself() {
    let one = profile("f", spread(5_000, 10_000));
    let report = compare(&one, &one, Options::default());
    assert!(!report.regressed());
    let Verdict::NoShift { may_hide } = report.comparisons[0].verdict else {
        panic!("{report:?}");
    };
    // Two buckets, of at most 1/32 each, and little chance.
    assert!((0.02..0.12).contains(&may_hide), "{may_hide}");
    assert!(report.comparisons[0].tests.iter().all(|test| test.p == 1.0));
}

#[test]
fn a_shift_is_reported_with_its_size_and_ends_the_same_way_round() {
    let (a, b) = (
        profile("f", spread(5_000, 10_000)),
        profile("f", spread(5_000, 13_000)),
    );
    let report = compare(&a, &b, Options::default());
    assert!(report.regressed());
    for test in report.comparisons[0]
        .tests
        .iter()
        .filter(|t| t.of != "delta")
    {
        let [low, high] = test.interval;
        assert!(test.real && low < 1.3 && 1.3 < high, "{test:?}");
        assert!((test.estimate - 1.3).abs() < 0.05, "{test:?}");
    }
    let says = text(&report, 0);
    for wanted in [
        "slower by 1.3",
        "x at p99 (95 %",
        ", real",
        "1 slower, 0 faster",
    ] {
        assert!(says.contains(wanted), "{wanted}: {says}");
    }
    let back = compare(&b, &a, Options::default());
    assert_eq!(back.comparisons[0].verdict, Verdict::Faster);
    assert!(!back.regressed() && text(&back, 0).contains("faster by 1.3"));
}

#[test]
fn what_lies_within_the_buckets_is_not_reported_however_many_calls_there_are() {
    let of = |ns: [u64; 2]| {
        let mut histogram = Histogram::default();
        ns.iter().for_each(|ns| histogram.record_n(*ns, 1_000_000));
        profile("f", histogram)
    };
    let options = Options {
        least_effect: 0.0,
        ..Options::default()
    };
    // 1,023 and 1,024 are in different buckets; the longer ones only take the maximum out of them.
    let (a, b) = (of([1_023, 9_000]), of([1_024, 9_000]));
    let report = compare(&a, &b, options);
    let median = &report.comparisons[0].tests[0];
    let [low, high] = median.interval;
    assert!(median.of == "p50" && !median.real, "{median:?}");
    assert!(low < 1.001 && 1.02 < high, "{median:?}");
    assert!(!compare(&a, &b, Options::default()).regressed());
}

#[test]
fn a_shift_below_the_least_effect_does_not_count() {
    let (a, b) = (
        profile("f", spread(900_000, 10_000)),
        profile("f", spread(900_000, 11_500)),
    );
    let options = |least_effect| Options {
        least_effect,
        ..Options::default()
    };
    assert!(compare(&a, &b, options(0.05)).regressed());
    let report = compare(&a, &b, options(0.3));
    assert!(!report.regressed());
    assert!(
        text(&report, 0).contains("too small to count"),
        "{}",
        text(&report, 0)
    );
}

#[test]
fn few_calls_and_lone_functions_are_said() {
    let mut a = profile("few", spread(15, 10_000));
    a.merge(&profile("gone", spread(100, 10_000)));
    let mut b = profile("few", spread(15, 90_000));
    b.merge(&profile("new", spread(100, 10_000)));
    let report = compare(&a, &b, Options::default());
    assert!(!report.regressed());
    let says = text(&report, 0);
    for wanted in [
        "too few calls (15 and 15)",
        "only in the first (100 calls)",
        "only in the second (100 calls)",
    ] {
        assert!(says.contains(wanted), "{wanted}: {says}");
    }
}

#[test]
fn a_mode_that_grows_is_seen_where_no_quantile_moves() {
    let two = |slow: u64| {
        let mut histogram = Histogram::default();
        histogram.record_n(10_000, 1_000 - slow);
        histogram.record_n(80_000, slow);
        profile("f", histogram)
    };
    let report = compare(&two(200), &two(450), Options::default());
    let real: Vec<_> = report.comparisons[0]
        .real()
        .map(|t| (t.of, t.estimate))
        .collect();
    assert_eq!(real, [("delta", 0.25)]);
    assert!(report.regressed() && text(&report, 0).contains("slower in +25 % of pairs"));
}

#[test]
fn hosts_that_differ_are_said() {
    let (mut a, mut b) = (
        profile("f", spread(500, 10_000)),
        profile("f", spread(500, 10_000)),
    );
    a.taken.kernels.insert("6.1.0".into());
    b.taken.kernels.insert("6.12.0".into());
    let report = compare(&a, &b, Options::default());
    assert!(
        report.notes.iter().any(|n| n.contains("6.1.0 and 6.12.0")),
        "{:?}",
        report.notes
    );
}
