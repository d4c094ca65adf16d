//! Samples of the past: over HTTP from a daemon, and by the command with and without one.
#![allow(clippy::unwrap_used, reason = "only tests use it")]

mod support;

use std::path::Path;
use std::process::{Command, Output};

use gtrace_api::SampleHistory;
use gtrace_api::client::ClientError;
use gtrace_event::Timestamp;
use gtrace_history::{Kind, Options, Sample, Samples, SeriesKey, Value, Writer};
use support::Daemon;

/// Of two GPUs, a value every 10 s for the last 20 minutes: seconds since the first, and twice that.
fn fill(dir: &Path) -> i64 {
    let mut writer = Writer::open(&dir.join("samples"), Options::default()).unwrap();
    let now = Timestamp::now().as_second() / 10 * 10;
    let first = now - 1200;
    for second in (0..1200).step_by(10) {
        let sample = |gpu: i64, uuid: &str| Sample {
            series: SeriesKey::new(
                "gtrace_gpu_temperature_celsius",
                "celsius",
                Kind::Gauge,
                vec![
                    ("gpu".to_owned(), format!("0000:{gpu}b:00.0")),
                    ("uuid".to_owned(), uuid.to_owned()),
                ],
            )
            .unwrap(),
            value: Value::gauge((second * (gpu - 2)) as f64),
        };
        let time_ms = (first + second) * 1000;
        let samples = vec![sample(3, "GPU-aaaa"), sample(4, "GPU-bbbb")];
        writer.push(&Samples { time_ms, samples }).unwrap();
    }
    first
}

const METRIC: &str = "/api/v1/samples?metric=gtrace_gpu_temperature_celsius";

#[test]
fn samples_are_listed_selected_and_made_coarser_on_both_sockets() {
    let dir = tempfile::tempdir().unwrap();
    let first = fill(dir.path());
    let daemon = Daemon::start_in(dir);
    for client in [daemon.client(), daemon.tcp_client()] {
        let get = |path: &str| client.get::<SampleHistory>(path).unwrap();
        let list = get("/api/v1/samples");
        assert_eq!(list.metrics.len(), 1);
        assert_eq!(list.metrics[0].series, 2);
        assert_eq!(list.metrics[0].since.as_second(), first);
        assert_eq!(list.metrics[0].until.as_second(), first + 1190);
        let all = get(METRIC);
        assert_eq!(all.series.len(), 2);
        assert_eq!(all.series[0].points.len(), 120);
        for gpu in ["4b:00.0", "GPU-bbbb"] {
            let one = get(&format!("{METRIC}&gpu={gpu}"));
            assert_eq!(one.series.len(), 1);
            assert_eq!(one.series[0].labels["gpu"], "0000:4b:00.0");
            assert_eq!(one.series[0].points[5].last, Some(100.0));
        }
        let coarse = get(&format!("{METRIC}&limit=20"));
        let points: usize = coarse.series.iter().map(|s| s.points.len()).sum();
        assert!((10..=20).contains(&points), "{points}");
        let counts = coarse.series[0]
            .points
            .iter()
            .map(|p| p.range.map_or(1, |r| r.count));
        assert_eq!(counts.sum::<u64>(), 120);
        // Buckets begin at multiples of the step, so 20 minutes are in 10 or 11 of 128 s.
        let step = coarse.step_s.unwrap();
        assert!([128.0, 256.0].contains(&step), "{step}");
    }
}

#[test]
fn wrong_parameters_and_a_history_that_is_off_are_refused_with_a_remedy() {
    let daemon = Daemon::start();
    let client = daemon.client();
    let refused = |path: &str| match client.get::<SampleHistory>(path).unwrap_err() {
        ClientError::Refused { status, body } => (status, format!("{body:?}")),
        other => panic!("{other}"),
    };
    let (status, text) = refused("/api/v1/samples");
    assert_eq!(status, 404);
    assert!(text.contains("sample_history"), "{text}");
    for wrong in ["step=0", "limit=20001", "gpu=7", "since=x", "metrics=a"] {
        let (status, text) = refused(&format!("/api/v1/samples?{wrong}"));
        let (name, _) = wrong.split_once('=').unwrap();
        assert!(
            status == 400 && text.contains(name),
            "{wrong}: {status} {text}"
        );
    }
}

fn gtrace(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gtrace"))
        .arg("samples")
        .args(args)
        .env("GTRACE_STATE_DIR", dir)
        .env("GTRACE_SOCKET", dir.join("socket"))
        .env("GTRACE_LISTEN", "off")
        .env("TZ", "UTC")
        .output()
        .unwrap()
}

#[test]
fn the_command_reads_the_directory_without_a_daemon_and_asks_one_that_answers() {
    let dir = tempfile::tempdir().unwrap();
    let first = fill(dir.path());
    let check = |path: &Path, source: &str| {
        let args = ["gpu_temperature_celsius", "--gpu", "3b:00.0", "--csv"];
        let output = gtrace(path, &args);
        let text = String::from_utf8(output.stdout).unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(
            output.status.success() && message.contains(source),
            "{message}"
        );
        assert_eq!(text.lines().count(), 121);
        let time = Timestamp::from_second(first).unwrap();
        let expected = format!(
            "{time},gtrace_gpu_temperature_celsius,gpu=0000:3b:00.0;uuid=GPU-aaaa,0,,,,1,,"
        );
        assert_eq!(text.lines().nth(1), Some(expected.as_str()));
        let table = gtrace(path, &["gpu_temperature_celsius", "--step", "1m"]);
        let table = String::from_utf8(table.stdout).unwrap();
        assert!(
            table.contains('█') && table.contains("6 samples"),
            "{table}"
        );
        let list = gtrace(path, &[]);
        assert!(
            String::from_utf8(list.stdout)
                .unwrap()
                .starts_with("METRIC")
        );
    };
    check(dir.path(), "read from");
    let daemon = Daemon::start_in(dir);
    check(daemon.dir.path(), "answers");
}

#[test]
fn the_command_says_that_nothing_is_kept_or_matches() {
    let dir = tempfile::tempdir().unwrap();
    let absent = gtrace(dir.path(), &[]);
    assert_eq!(absent.status.code(), Some(1));
    assert!(
        String::from_utf8(absent.stderr)
            .unwrap()
            .contains("sample_history")
    );
    fill(dir.path());
    let known = "gpu_temperature_celsius";
    let cases: [(&[&str], i32, &str); 4] = [
        (&["no_such_metric"], 1, "`gtrace samples` lists"),
        (
            &["gpu_temp"],
            1,
            "did you mean gtrace_gpu_temperature_celsius?",
        ),
        (
            &[known, "gpu_temprature"],
            0,
            "no samples of gtrace_gpu_temprature",
        ),
        (
            &[known, "--since", "2d", "--until", "1d"],
            1,
            "match the time",
        ),
    ];
    for (args, code, says) in cases {
        let none = gtrace(dir.path(), args);
        let message = String::from_utf8(none.stderr).unwrap();
        assert_eq!(none.status.code(), Some(code), "{args:?}: {message}");
        assert!(message.contains(says), "{args:?}: {message}");
    }
    let index = gtrace(dir.path(), &["gpu_temperature_celsius", "--gpu", "0"]);
    assert_eq!(index.status.code(), Some(2));
}
