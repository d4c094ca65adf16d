//! `gtrace bench remote`, run as a user runs it: that every figure is there over every link. How quick anything was is
//! not judged.
#![allow(clippy::unwrap_used, reason = "only tests use it")]

#[path = "support/process.rs"]
mod process;

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::process::{Command, Stdio};

use gtrace_measure::Case;
use gtrace_measure::remote::Report;
use gtrace_profile::{Part, hlog};

fn bench(cache: &Path, args: &str) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gtrace"));
    command.args(["bench", "remote"]);
    command.args(args.split_whitespace());
    for name in [
        "GTRACE_REMOTE",
        "GTRACE_LINK",
        "GTRACE_EMULATE",
        "GTRACE_STATS",
    ] {
        command.env_remove(name);
    }
    process::ended(command.env("XDG_CACHE_HOME", cache).stdin(Stdio::null()))
}

#[test]
fn a_short_run_has_all_figures_over_every_link() {
    let dir = tempfile::tempdir().unwrap();
    let (log, picture) = (dir.path().join("calls.hlog"), dir.path().join("calls.svg"));
    let (hlog, svg) = (log.display(), picture.display());
    let args = format!("--short --json --link shm,unix,tcp --hlog {hlog} --svg {svg}");
    let (code, out, err) = bench(dir.path(), &args);
    assert_eq!(code, Some(0), "{err}");
    let report: Report = serde_json::from_str(&out).unwrap();
    assert!(report.server.started_here && report.server.cpu_emulator);
    assert!(report.server.driver_version >= 12_000 && report.server.free_bytes > 0);
    let links: Vec<&str> = report.links.iter().map(|link| link.link.as_str()).collect();
    assert_eq!(links, ["shm", "unix", "tcp"]);
    for link in &report.links {
        let raw = &link.raw;
        assert!(raw.echo.p50_ns.unwrap() > 0 && raw.to_server > 0.0);
        assert!(raw.from_server.unwrap() > 0.0);
        let machine = raw.machine.as_ref().unwrap();
        assert!(machine.exchange.p50_ns.is_some() && machine.stream > 0.0);
        let cases: Vec<Case> = link.cases.iter().map(|case| case.case).collect();
        let mut wanted = vec![Case::Query, Case::Launch, Case::LaunchSync, Case::Graph];
        wanted.extend(Case::copies(1 << 16));
        assert_eq!(cases, wanted);
        for case in &link.cases {
            let times = case.times.as_ref().unwrap();
            let what = format!("{}: {}", link.link, case.name);
            assert!(times.response.count >= 3, "{what}");
            assert!(times.rate_per_s > 0.0 && times.closed_loop_ns > 0, "{what}");
            assert!(times.response.mean_ns >= times.service.mean_ns, "{what}");
            assert!(times.corrected.count >= times.service.count, "{what}");
            assert!(
                times.bytes_per_s.is_some() == case.bytes.is_some(),
                "{what}"
            );
            assert_eq!(
                times.times_raw.is_none(),
                case.case == Case::Launch,
                "{what}"
            );
            let waited = times.operations.iter().any(|operation| {
                let all = ["client", "wire", "queue", "driver", "wake"];
                all.iter().all(|part| operation.parts.contains_key(*part))
            });
            assert_eq!(
                waited,
                case.case != Case::Launch,
                "{what}: {:?}",
                times.operations
            );
        }
        let functions = |case: usize| -> Vec<&str> {
            let times = link.cases[case].times.as_ref().unwrap();
            times.operations.iter().map(|o| o.name.as_str()).collect()
        };
        assert_eq!(functions(0), ["cuMemGetInfo_v2"]);
        assert_eq!(functions(1), ["cuLaunchKernel"]);
        assert!(functions(3).contains(&"cuGraphLaunch"));
    }
    // Over TCP the congestion control is reported, and only there.
    assert!(report.links[2].congestion_control.is_some());
    assert!(report.links[0].congestion_control.is_none());

    let profile = hlog::read(BufReader::new(File::open(&log).unwrap())).unwrap();
    let whole = profile
        .rows
        .iter()
        .find(|(key, _)| key.function == "unix: query" && key.part == Part::Whole);
    let response = &report.links[1].cases[0].times.as_ref().unwrap().response;
    assert_eq!(whole.unwrap().1.histogram.count(), response.count);
    let wire = profile
        .rows
        .keys()
        .any(|key| key.function == "tcp: launch+sync: cuCtxSynchronize" && key.part == Part::Wire);
    assert!(wire);
    let drawn = std::fs::read_to_string(&picture).unwrap();
    assert!(
        drawn.starts_with("<svg") || drawn.starts_with("<?xml"),
        "{drawn:.80}"
    );
    assert!(drawn.contains("shm: query"));
}

#[test]
fn the_table_names_the_emulator_and_the_rate_that_was_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let args = "--short --link unix --rate 2000 --emulate rtt=1ms";
    let (code, out, err) = bench(dir.path(), args);
    assert_eq!(code, Some(0), "{err}");
    assert!(
        out.contains("emulated on the CPU: what is measured is remoting, not a GPU"),
        "{out}"
    );
    assert!(out.contains("2000 a second"), "{out}");
    for word in ["query", "launch+sync", "graph", "to host 64 KiB", "WAKE"] {
        assert!(out.contains(word), "no {word}: {out}");
    }
    // A slower network than there is is no limit of this machine.
    assert!(!out.contains("this machine without gtrace"), "{out}");
}

#[test]
fn a_server_that_is_not_there_is_said_with_the_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let nobody = format!("unix:{}", dir.path().join("nobody.sock").display());
    let (code, out, err) = bench(dir.path(), &format!("--short --remote {nobody}"));
    assert_eq!((code, out.as_str()), (Some(3), ""), "{err}");
    assert!(
        err.contains(&nobody) && err.contains("gtrace serve"),
        "{err}"
    );
    let (code, _, err) = bench(dir.path(), "--short --remote 127.0.0.1:1");
    assert_eq!(code, Some(3), "{err}");
    let (code, _, err) = bench(dir.path(), "--short --remote a:b:c");
    assert_eq!(code, Some(2), "{err}");
    assert_eq!(bench(dir.path(), "--link pigeon").0, Some(2));
    assert_eq!(bench(dir.path(), "--rate 0").0, Some(2));
}

#[test]
fn the_calls_of_a_recorded_program_are_made_again_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let (plan, trace) = (dir.path().join("plan"), dir.path().join("program.pftrace"));
    // A CUDA program that is at hand: three launches to warm up and six more, a synchronisation behind each.
    let what = r#"{"case":"launch_sync","calls":6,"time_ms":5000,"rate":1000.0}"#;
    std::fs::write(&plan, what).unwrap();
    let recorded = Command::new(env!("CARGO_BIN_EXE_gtrace"))
        .args(["trace", "--softgpu", "--output"])
        .arg(&trace)
        .args(["--", env!("CARGO_BIN_EXE_gtrace"), "bench-client"])
        .arg(&plan)
        .env("XDG_CACHE_HOME", dir.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(recorded.status.success(), "{recorded:?}");
    let args = format!("--short --json --link shm --replay {}", trace.display());
    let (code, out, err) = bench(dir.path(), &args);
    assert_eq!(code, Some(0), "{err}");
    let report: Report = serde_json::from_str(&out).unwrap();
    let found = report.recorded.as_ref().unwrap();
    assert!(found.replayed == 19 && found.calls > 19, "{found:?}");
    assert!(found.left_out.contains_key("cuModuleLoadData"), "{found:?}");
    let cases = &report.links[0].cases;
    let replay = cases.iter().find(|case| case.case == Case::Replay).unwrap();
    let times = replay.times.as_ref().unwrap();
    assert!(times.response.count >= 3);
    let names: Vec<_> = times.operations.iter().map(|o| o.name.as_str()).collect();
    for name in ["cuLaunchKernel", "cuCtxSynchronize", "cuMemGetInfo_v2"] {
        assert!(names.contains(&name), "{names:?}");
    }
    // Each repetition makes them all.
    let synchronised = times
        .operations
        .iter()
        .find(|o| o.name == "cuCtxSynchronize");
    assert!(synchronised.unwrap().parts["wire"].count >= 9 * times.response.count);

    let (code, _, err) = bench(dir.path(), &format!("--replay {}", plan.display()));
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("gtrace trace -o"), "{err}");
}
