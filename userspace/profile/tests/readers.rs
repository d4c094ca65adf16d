//! What is written opens in readers that others wrote: the Python packages `hdrhistogram` and
//! `prometheus_client`.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::{Path, PathBuf};
use std::process::Command;

use gtrace_profile::{
    Counts, HDR_ERROR, Histogram, Key, Layer, Part, Process, Profile, Row, Span, hlog, openmetrics,
};

/// Where `cargo xtask test` puts the environment with the packages of
/// `transport/e2e/programs/python/requirements.txt`.
fn python() -> Option<PathBuf> {
    let named = std::env::var_os("GTRACE_E2E_PYTHON").map(PathBuf::from);
    // target/debug/deps/readers-...
    let beside = || {
        let test = std::env::current_exe().ok()?;
        Some(test.ancestors().nth(3)?.join("e2e-python"))
    };
    let folder = named.or_else(beside)?;
    let python = folder.join("bin/python3");
    let has = |python: &Path| {
        let mut check = Command::new(python);
        check
            .args(["-c", "import hdrh, prometheus_client"])
            .output()
    };
    if python.is_file() && has(&python).is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    println!(
        "SKIPPED: no Python environment with hdrhistogram and prometheus_client at {}: cargo xtask test \
         makes it from PyPI",
        folder.display()
    );
    None
}

fn run(python: &Path, script: &str, file: &Path) -> Vec<String> {
    let output = Command::new(python)
        .args(["-c", script])
        .arg(file)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn profile() -> Profile {
    let mut profile = Profile::default();
    for second in 0..10i64 {
        let rows =
            [("cuMemcpyHtoD_v2", 40_000u64), ("cu,Odd \"name\"\n", 700)].map(|(function, ns)| {
                let mut histogram = Histogram::default();
                for n in 0..200 {
                    histogram.record(ns + ns * n * n / 3_000 + second as u64);
                }
                // Past the buckets.
                histogram.record(40_000_000_000);
                Row {
                    key: Key {
                        process: Process {
                            pid: 4711,
                            comm: "python3".into(),
                            ..Process::default()
                        },
                        layer: Layer::Remote,
                        function: function.into(),
                        part: Part::Wire,
                        gpu: None,
                    },
                    counts: Counts {
                        errors: Some(1),
                        bytes: Some(4096),
                        ..Counts::timed(histogram)
                    },
                }
            });
        let start = jiff::Timestamp::from_second(1_750_000_000 + second).unwrap();
        let end = jiff::Timestamp::from_second(1_750_000_001 + second).unwrap();
        profile.add_interval(Span { start, end }, &rows);
    }
    profile
}

#[test]
fn hdrhistogram_of_python_reads_the_log() {
    let Some(python) = python() else { return };
    let profile = profile();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("profile.hlog");
    hlog::write(&profile, &mut std::fs::File::create(&file).unwrap()).unwrap();
    let script = r#"
import sys
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader
sums = {}
reader = HistogramLogReader(sys.argv[1], HdrHistogram(1, 1 << 34, 3))
while (h := reader.get_next_interval_histogram()) is not None:
    sums.setdefault(h.get_tag(), []).append(h)
for tag, hs in sums.items():
    total = HdrHistogram(1, 1 << 34, 3)
    for h in hs:
        total.add(h)
    print(tag, len(hs), hs[0].get_start_time_stamp(), total.get_total_count(),
          *(total.get_value_at_percentile(p) for p in (50, 90, 99)))
"#;
    let lines = run(&python, script, &file);
    assert_eq!(lines.len(), profile.rows.len(), "{lines:?}");
    for (key, counts) in &profile.rows {
        let name = key.function.split([',', ' ']).next().unwrap();
        let line = lines.iter().find(|line| line.contains(name)).unwrap();
        let fields: Vec<&str> = line.split(' ').collect();
        assert!(fields[0].starts_with("remote/wire/4711/python3/"), "{line}");
        assert_eq!(fields[1], "10", "intervals: {line}");
        assert_eq!(fields[2], "1750000000000.0", "ms since 1970: {line}");
        assert_eq!(fields[3], counts.histogram.count().to_string(), "{line}");
        for (field, q) in fields[4..].iter().zip([0.5, 0.9, 0.99]) {
            let (read, own) = (
                field.parse::<f64>().unwrap(),
                counts.histogram.quantile(q) as f64,
            );
            assert!(
                (read - own).abs() <= own * HDR_ERROR,
                "{read} for {own}: {line}"
            );
        }
    }
}

#[test]
fn prometheus_client_parses_openmetrics() {
    let Some(python) = python() else { return };
    let profile = profile();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("profile.prom");
    openmetrics::write(&profile, &mut std::fs::File::create(&file).unwrap()).unwrap();
    // The parser checks that buckets rise, end with +Inf and agree with the count.
    let script = r#"
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
for family in text_string_to_metric_families(open(sys.argv[1]).read()):
    for s in family.samples:
        if s.labels.get("le", "+Inf") == "+Inf":
            print(family.type, s.name, float(s.value), repr(s.labels["function"]))
"#;
    let lines = run(&python, script, &file);
    for wanted in [
        "histogram gtrace_profile_call_time_seconds_count 2010.0 'cuMemcpyHtoD_v2'",
        "histogram gtrace_profile_call_time_seconds_bucket 2010.0 'cu,Odd \"name\"\\n'",
        "counter gtrace_profile_errors_total 10.0 'cuMemcpyHtoD_v2'",
        "counter gtrace_profile_bytes_total 40960.0 'cuMemcpyHtoD_v2'",
    ] {
        assert!(
            lines.iter().any(|line| line == wanted),
            "{wanted}\n{lines:#?}"
        );
    }
}
