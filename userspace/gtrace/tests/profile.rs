//! `gtrace profile`, run as a user runs it: taken over time, saved, shown, merged and compared.
#![allow(clippy::unwrap_used, reason = "only tests use it")]

#[path = "support/process.rs"]
mod process;
mod support;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gtrace_api::CallStats;
use gtrace_profile::{Histogram, Layer, Part, hlog, json};
use gtrace_server::stats::{OpStats, SessionStats, Times};
use gtrace_server::{Client, ServerStatus, SessionStatus};
use support::Daemon;

/// `gtrace profile` with these arguments.
fn profile(dir: &Path, args: &str) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gtrace"));
    command.arg("profile").args(args.split_whitespace());
    command.current_dir(dir);
    command
        .env("GTRACE_STORE", dir.join("store.db"))
        .env("GTRACE_SOCKET", dir.join("socket"))
        .env("GTRACE_LISTEN", "127.0.0.1:1");
    process::ended(&mut command)
}

fn fine(dir: &Path, args: &str) -> String {
    let (code, out, err) = profile(dir, args);
    assert_eq!(code, Some(0), "{args}: {err}");
    out
}

fn call(pid: u32, histogram: &Histogram) -> CallStats {
    CallStats {
        pid,
        comm: "python3".into(),
        device: "nvidiactl".into(),
        op: Some("RM_CONTROL".into()),
        code_name: Some("NV2080_CTRL_CMD_GPU_GET_INFO_V2".into()),
        count: histogram.count(),
        errors: 1,
        total_ns: histogram.sum_ns(),
        max_ns: histogram.max_ns(),
        buckets: histogram.buckets().collect(),
        ..CallStats::default()
    }
}

fn spread(count: u64, ns: u64) -> Histogram {
    let mut histogram = Histogram::default();
    (0..count).for_each(|n| histogram.record(ns + ns * n / count));
    histogram
}

/// Answers each connection to a status socket.
fn serve(socket: &Path, status: ServerStatus) {
    let listener = UnixListener::bind(socket).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            stream
                .unwrap()
                .write_all(&serde_json::to_vec(&status).unwrap())
                .unwrap();
        }
    });
}

fn server() -> ServerStatus {
    let histogram = spread(100, 30_000);
    let times = Times {
        count: histogram.count(),
        sum_ns: histogram.sum_ns(),
        max_ns: histogram.max_ns(),
        buckets: histogram.buckets().collect(),
        ..Times::default()
    };
    let op = OpStats {
        name: "cuMemcpyHtoD_v2".into(),
        bytes: 8192,
        queue: times.clone(),
        driver: times,
        ..OpStats::default()
    };
    ServerStatus {
        host: gtrace_engine::host::name(),
        sessions: vec![SessionStatus {
            worker: 4711,
            client: Some(Client {
                host: "laptop".into(),
                pid: 9,
                program: "train.py".into(),
                ..Client::default()
            }),
            stats: SessionStats {
                ops: vec![op],
                ..SessionStats::default()
            },
            ..SessionStatus::default()
        }],
        ..ServerStatus::default()
    }
}

#[test]
fn layers_of_a_process_are_shown_side_by_side() {
    let daemon = Daemon::start();
    let dir = daemon.dir.path();
    daemon.hub.set_calls(vec![
        call(4711, &spread(50, 4_000)),
        call(12, &spread(50, 4_000)),
    ]);
    let socket = dir.join("serve.sock");
    serve(&socket, server());
    let socket = socket.to_str().unwrap();
    let both = format!("--driver --remote --status-socket {socket} --pid 4711");
    let text = fine(dir, &both);
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].contains("4711") && lines[0].contains("for 9 train.py of laptop"),
        "{text}"
    );
    assert!(
        lines[2].contains("driver") && lines[2].contains("GPU_GET_INFO_V2"),
        "{text}"
    );
    assert!(
        lines[3].contains("remote") && lines[3].contains("cuMemcpyHtoD_v2"),
        "{text}"
    );
    assert!(
        text.contains("8.0 KiB") && !text.contains("12 python3"),
        "{text}"
    );

    // The client's number serves as well, for what is its.
    let remote = format!("--remote --status-socket {socket} --pid 9 --json");
    let found = json::read(fine(dir, &remote).as_bytes()).unwrap();
    let parts: Vec<Part> = found.rows.keys().map(|key| key.part).collect();
    assert_eq!(parts, [Part::Queue, Part::Driver]);

    let (code, _, err) = profile(dir, "--remote --status-socket nowhere");
    assert_eq!(code, Some(3));
    assert!(
        err.contains("gtrace serve") && err.contains("--stats-file"),
        "{err}"
    );
}

#[test]
fn a_duration_is_counted_by_interval_and_nothing_from_before() {
    let daemon = Daemon::start();
    let dir = daemon.dir.path();
    let mut histogram = spread(1_000, 4_000);
    daemon.hub.set_calls(vec![call(7, &histogram)]);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                histogram.record(50_000);
                daemon.hub.set_calls(vec![call(7, &histogram)]);
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let args = "--driver --duration 1 --interval 100ms --out a.json";
        let (code, out, err) = profile(dir, args);
        done.store(true, Ordering::Relaxed);
        assert_eq!((code, out.as_str()), (Some(0), ""), "{err}");
    });
    let taken = json::read(std::fs::File::open(dir.join("a.json")).unwrap()).unwrap();
    let (key, counts) = taken.rows.iter().next().unwrap();
    assert_eq!((key.layer, key.process.pid), (Layer::Driver, 7));
    assert_eq!(
        counts.histogram.buckets().count(),
        1,
        "only what came in this time"
    );
    assert!(
        counts.calls > 5 && taken.intervals.len() > 5,
        "{}",
        counts.calls
    );

    // Every form of it.
    for (file, more, wanted) in [
        ("a.hlog", "", "Tag=driver/whole/7/python3/NV2080"),
        ("a.prom", "", "# EOF"),
        ("a.svg", "", "percentile of calls"),
        ("b.svg", "--format heatmap", "calls in a cell"),
        ("a.txt", "", "GPU_GET_INFO_V2"),
    ] {
        fine(dir, &format!("show a.json --out {file} {more}"));
        let text = std::fs::read_to_string(dir.join(file)).unwrap();
        assert!(text.contains(wanted), "{file}: {text}");
    }
    let log = hlog::read(std::fs::read(dir.join("a.hlog")).unwrap().as_slice()).unwrap();
    assert_eq!(log.rows[key].histogram.count(), counts.histogram.count());
    let (code, _, err) = profile(dir, "show a.json --out a.png");
    assert!(code == Some(2) && err.contains("--format"), "{err}");
}

#[test]
fn saved_profiles_are_merged_and_compared() {
    let daemon = Daemon::start();
    let dir = daemon.dir.path();
    for (file, ns) in [
        ("before.json", 10_000),
        ("same.json", 10_100),
        ("slow.json", 15_000),
    ] {
        daemon.hub.set_calls(vec![call(7, &spread(3_000, ns))]);
        fine(dir, &format!("--driver --out {file}"));
    }
    let out = fine(dir, "diff before.json same.json");
    assert!(
        out.contains("no real shift") && out.contains("note: calls were taken as independent"),
        "{out}"
    );
    let out = fine(dir, "diff before.json same.json --json");
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["comparisons"][0]["verdict"]["is"], "no_shift");
    let (code, out, _) = profile(dir, "diff before.json slow.json");
    assert_eq!(code, Some(1), "{out}");
    assert!(
        out.contains("slower by 1.") && out.contains(", real"),
        "{out}"
    );
    assert!(fine(dir, "diff slow.json before.json").contains("faster by 1."));
    let lenient = "diff before.json slow.json --min-effect 80";
    assert!(fine(dir, lenient).contains("too small to count"));
    let (code, out, _) = profile(dir, "diff before.json slow.json --json");
    let report: BTreeMap<String, serde_json::Value> = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (code, &report["comparisons"][0]["verdict"]["is"]),
        (Some(1), &"slower".into())
    );

    fine(dir, "merge before.json slow.json --out sum.json");
    let sum = json::read(std::fs::File::open(dir.join("sum.json")).unwrap()).unwrap();
    assert_eq!(
        sum.rows.values().map(|counts| counts.calls).sum::<u64>(),
        6_000
    );
    let (code, out, err) = profile(dir, "show sum.json --function nosuch");
    assert_eq!((code, out.as_str()), (Some(0), ""));
    assert!(err.contains("sum.json has no calls that match"), "{err}");
    let (code, _, err) = profile(dir, "show store.db");
    assert!(code == Some(3) && err.contains("store.db"), "{err}");
}

#[test]
fn a_name_that_does_not_say_how_to_write_is_wrong_usage_before_anything_is_read() {
    let dir = tempfile::tempdir().unwrap();
    for args in [
        "show none.json --out x.bogus",
        "merge none.json --out x.bogus",
        "--driver --duration 1 --out x.bogus",
        "--all --duration 1 --out x.bogus",
    ] {
        let (code, _, err) = profile(dir.path(), args);
        assert_eq!(code, Some(2), "{args:?}: {err}");
        assert!(err.contains("give --format"), "{args:?}: {err}");
    }
    let named = "show none.json --out x.bogus --format json";
    let (code, _, err) = profile(dir.path(), named);
    assert_eq!(code, Some(3), "{err}");
    assert!(err.contains("none.json"), "{err}");
}

#[test]
fn a_place_that_cannot_be_written_is_noticed_before_anything_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    for (out, wanted) in [
        (".", "cannot be written"),
        ("none/x.json", "make its folder first"),
    ] {
        // No daemon answers, which would be noticed first where calls are read.
        let args = format!("--driver --duration 1 --format json --out {out}");
        let (code, _, err) = profile(dir.path(), &args);
        assert_eq!(code, Some(3), "{out}: {err}");
        assert!(err.contains(wanted), "{out}: {err}");
    }
}

#[test]
fn options_that_would_have_no_effect_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    for (args, wanted) in [
        ("--driver --pid 1 --budget 2", "--budget is for CUDA calls"),
        (
            "--remote --device-memory 80",
            "--device-memory is for CUDA calls",
        ),
        ("--remote --socket x", "--socket is for --driver"),
        ("--all --config x", "--config is for --driver"),
        ("--all --json --sort p99", "--sort is for the table"),
        ("--driver --json --limit 3", "--limit"),
        (
            "--remote --stats-file a --status-socket b",
            "--status-socket",
        ),
    ] {
        let (code, _, err) = profile(dir.path(), args);
        assert_eq!(code, Some(2), "{args}: {err}");
        assert!(err.contains(wanted), "{args}: {err}");
    }
    // What the daemon has counted is sorted in JSON too; none is there.
    let (code, _, err) = profile(dir.path(), "--driver --json --sort p99");
    assert_eq!(code, Some(3), "{err}");
}
