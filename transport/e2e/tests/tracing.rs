//! `gtrace trace -- PROGRAM`: every call is counted, what is timed agrees with the CPU emulator's own stamps, and what
//! is lost is reported.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../../../userspace/perfetto/tests/support/pftrace.rs"]
mod pftrace;
mod support;

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::process::{Command, Stdio};

use gtrace_e2e::process::{self, Outcome};
use gtrace_e2e::{artefacts, programs};
use serde_json::Value;
use support::{Case, LIMIT, artefacts};

fn trace(options: &[&str], program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(&artefacts().gtrace);
    command
        .args(["trace", "--softgpu"])
        .args(options)
        .arg("--")
        .arg(programs::c_program(artefacts(), program).unwrap())
        .args(arguments)
        .env("GTRACE_KERNELS", artefacts::kernels())
        .env("GTRACE_SOCKET", "/nonexistent/socket");
    command
}

fn run(command: &mut Command) -> Outcome {
    process::run(command, LIMIT).unwrap()
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// A function of a process in the JSON.
fn function<'a>(process: &'a Value, name: &str) -> &'a Value {
    let functions = process["functions"].as_array().unwrap();
    let found = functions.iter().find(|function| function["name"] == name);
    found.unwrap_or_else(|| panic!("{name} is not in {process}"))
}

fn number(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

/// Slices by name.
fn slices(path: &Path) -> HashMap<String, u64> {
    let mut counts = HashMap::new();
    for one in pftrace::read(path).into_iter().filter(|one| one.slice) {
        *counts.entry(one.name).or_insert(0) += 1;
    }
    counts
}

#[test]
fn a_million_calls_of_four_threads_are_counted_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.json");
    let options = ["--json", file.to_str().unwrap()];
    let outcome = run(&mut trace(&options, "many_calls", &["4", "250000", "9"]));
    assert_eq!(outcome.status.code(), Some(9), "{outcome}");
    assert_eq!(outcome.stdout, "called\n");
    assert!(outcome.stderr.contains("cuDriverGetVersion"), "{outcome}");
    let json = json(&file);
    assert_eq!(
        (&json["status"], json["processes"].as_array().unwrap().len()),
        (&9.into(), 1)
    );
    let process = &json["processes"][0];
    let count = |name: &str, what: &str| number(&function(process, name)[what]);
    assert_eq!(count("cuDriverGetVersion", "calls"), 500_000);
    assert_eq!(count("cuDriverGetVersion", "errors"), 0);
    assert_eq!(count("cuDeviceGetAttribute", "calls"), 500_000);
    assert_eq!(count("cuDeviceGetAttribute", "errors"), 250_000);
    assert_eq!(count("cuGetProcAddress_v2", "calls"), 4);
    assert_eq!(count("cuMemcpyDtoH_v2", "bytes"), 4096);
    // cuInit, cuDeviceGet, cuCtxCreate, cuMemAlloc, cuMemsetD32 and cuMemcpyDtoH once, four threads their
    // context and address.
    assert_eq!(number(&process["calls"]), 1_000_000 + 6 + 8);
    assert_eq!(process["untouched"], Value::Array(Vec::new()));
}

#[test]
fn percentiles_agree_with_the_stamps_of_the_emulator() {
    let folder = tempfile::tempdir().unwrap();
    let (file, stamps) = (
        folder.path().join("calls.json"),
        folder.path().join("stamps"),
    );
    let mut command = trace(
        &["--json", file.to_str().unwrap()],
        "many_calls",
        &["2", "4000"],
    );
    command.env("GTRACE_SOFTGPU_STAMPS", &stamps).env(
        "GTRACE_SOFTGPU_FAULT",
        "delay:cuDriverGetVersion=50us-400us",
    );
    let outcome = run(&mut command);
    assert!(outcome.status.success(), "{outcome}");
    let text = std::fs::read_to_string(&stamps).unwrap();
    let mut times: Vec<u64> = text
        .lines()
        .filter_map(|line| line.strip_prefix("cuDriverGetVersion "))
        .map(|time| time.parse().unwrap())
        .collect();
    times.sort_unstable();
    assert_eq!(times.len(), 4000);
    let json = json(&file);
    let function = function(&json["processes"][0], "cuDriverGetVersion");
    assert_eq!(number(&function["calls"]), 4000);
    for (name, share) in [("p50_ns", 0.5), ("p90_ns", 0.9), ("p99_ns", 0.99)] {
        let rank = (times.len() as f64 * share).ceil() as usize;
        let (inside, outside) = (times[rank - 1], number(&function[name]));
        assert!(inside >= 50_000);
        let off = outside as f64 / inside as f64 - 1.0;
        assert!(
            off.abs() <= 0.02,
            "{name}: {outside} where the CPU emulator has {inside}"
        );
    }
}

#[test]
fn losses_of_a_tiny_ring_are_counted_exactly_and_histograms_stay_exact() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (
        folder.path().join("calls.json"),
        folder.path().join("x.pftrace"),
    );
    let options = [
        "--json",
        file.to_str().unwrap(),
        "-o",
        out.to_str().unwrap(),
        "--buffer",
        "16",
    ];
    let outcome = run(&mut trace(&options, "many_calls", &["2", "300000"]));
    assert!(outcome.status.success(), "{outcome}");
    let json = json(&file);
    let process = &json["processes"][0];
    let calls = number(&process["calls"]);
    assert_eq!(calls, 600_000 + 6 + 4);
    let lost = number(&process["lost_events"]);
    assert!(lost > 0, "a ring of 16 events held 600000");
    assert_eq!(slices(&out).values().sum::<u64>() + lost, calls);
    assert!(outcome.stderr.contains("came too fast"), "{outcome}");
}

#[test]
fn a_trace_for_which_there_is_no_room_does_not_cost_the_figures() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (
        folder.path().join("calls.json"),
        folder.path().join("x.pftrace"),
    );
    let options = [
        "--json",
        file.to_str().unwrap(),
        "-o",
        out.to_str().unwrap(),
    ];
    // Has gtrace's libraries unpacked.
    let outcome = run(&mut trace(&options, "many_calls", &["1", "4"]));
    assert!(outcome.status.success(), "{outcome}");
    // As a full disk: no file of gtrace may be longer than 1 MiB. What the program has of its own is not limited.
    let limit = "trap '' XFSZ; ulimit -S -f 2048; exec \"$@\"";
    let unlimited = "ulimit -S -f unlimited; exec \"$@\"";
    let mut command = Command::new("sh");
    command
        .args(["-c", limit, "sh"])
        .arg(&artefacts().gtrace)
        .args(["trace", "--softgpu"])
        .args(options)
        .args(["--", "sh", "-c", unlimited, "sh"])
        .arg(programs::c_program(artefacts(), "many_calls").unwrap())
        .args(["4", "250000"])
        .env("GTRACE_KERNELS", artefacts::kernels())
        .env("GTRACE_SOCKET", "/nonexistent/socket");
    let outcome = run(&mut command);
    assert_eq!(outcome.status.code(), Some(3), "{outcome}");
    // A line when it happens, as a ring may go on for weeks; at the end the table and the outcome.
    let parts = [
        "calls are only counted from now on",
        "cuDriverGetVersion",
        "x.pftrace cannot be written: ",
    ]
    .map(|part| outcome.stderr.find(part));
    assert!(parts.is_sorted() && parts[0].is_some(), "{outcome}");
    let process = &json(&file)["processes"][0];
    assert_eq!(number(&process["calls"]), 1_000_000 + 6 + 8);
    // Nor is the trace lost where there is no place for the figures.
    let nowhere = folder.path().join("none/calls.json");
    let options = ["--json", nowhere.to_str().unwrap(), "-o", options[3]];
    let outcome = run(&mut trace(&options, "many_calls", &["1", "4"]));
    assert_eq!(outcome.status.code(), Some(3), "{outcome}");
    assert_eq!(slices(&out)["cuDriverGetVersion"], 2);
}

#[test]
fn the_trace_names_kernels_and_streams() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("x.pftrace");
    let outcome = run(&mut trace(&["-o", out.to_str().unwrap()], "threads", &[]));
    assert!(outcome.status.success(), "{outcome}");
    let counts = slices(&out);
    // 6 threads, 40 rounds.
    assert_eq!(counts["cuLaunchKernel"], 240);
    assert_eq!(counts["cuMemcpyDtoHAsync_v2"], 240);
    let seen = pftrace::read(&out);
    assert!(seen.iter().any(|one| one.name == "saxpy"));
    let tracks: HashSet<&str> = seen.iter().map(|one| one.track.as_str()).collect();
    let streams = tracks.iter().filter(|name| name.starts_with("stream 0x"));
    assert_eq!(streams.count(), 6);
}

#[test]
fn forks_and_programs_that_load_the_driver_by_name_are_seen() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.json");
    let options = ["--json", file.to_str().unwrap()];
    for (program, processes) in [("forked", 3), ("loaded", 1), ("threads", 1), ("graphs", 1)] {
        let direct = Case::c(program).outcome_directly();
        let traced = run(&mut trace(&options, program, &[]));
        assert_eq!(
            (traced.status, &traced.stdout),
            (direct.status, &direct.stdout),
            "{program}"
        );
        let json = json(&file);
        assert_eq!(
            json["processes"].as_array().unwrap().len(),
            processes,
            "{json}"
        );
    }
}

#[test]
fn what_a_killed_program_did_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.json");
    let options = ["--json", file.to_str().unwrap()];
    let outcome = run(&mut trace(&options, "many_calls", &["1", "1000", "abort"]));
    assert_eq!(outcome.status.code(), Some(128 + 9));
    assert_eq!(number(&json(&file)["processes"][0]["calls"]), 1000 + 6 + 2);
}

#[test]
fn programs_with_the_printed_environment_are_seen_by_who_listens() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.json");
    let gtrace = || {
        let mut command = Command::new(&artefacts().gtrace);
        command.arg("trace").env("XDG_RUNTIME_DIR", folder.path());
        command
    };
    let printed = run(gtrace().args(["--softgpu", "--print-env"]));
    assert!(
        printed
            .stdout
            .lines()
            .all(|line| line.starts_with("export ")),
        "{printed}"
    );
    let program = programs::c_program(artefacts(), "many_calls").unwrap();
    let script = format!("{}exec {} 1 100", printed.stdout, program.display());
    let start = || {
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]);
        run(&mut shell)
    };
    let uncollected = start();
    assert!(uncollected.status.success());
    assert_eq!(
        uncollected.stderr.matches("nobody collects").count(),
        1,
        "{uncollected}"
    );
    // It needs no driver: the programs have theirs.
    let mut listener = gtrace()
        .args(["--listen", "--json", file.to_str().unwrap()])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let socket = folder.path().join("gtrace/trace.socket");
    while std::os::unix::net::UnixDatagram::unbound()
        .unwrap()
        .connect(&socket)
        .is_err()
    {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    for _ in 0..2 {
        assert_eq!(start().stderr, "");
    }
    // The shell has it where the program is not installed.
    let mut kill = Command::new("sh");
    assert!(
        run(kill.args(["-c", "kill -INT \"$0\"", &listener.id().to_string()]))
            .status
            .success()
    );
    assert!(listener.wait().unwrap().success());
    let json = json(&file);
    let calls: Vec<_> = json["processes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| number(&p["calls"]))
        .collect();
    assert_eq!(calls, [108, 108]);
}

#[test]
fn a_host_without_a_driver_gets_an_error_that_says_so() {
    let mut command = Command::new(&artefacts().gtrace);
    command.args(["trace", "--libcuda", "/nonexistent/libcuda.so.1", "--"]);
    command.arg(programs::c_program(artefacts(), "many_calls").unwrap());
    let outcome = run(&mut command);
    assert_eq!(outcome.status.code(), Some(1));
    assert!(
        outcome.stderr.contains("the driver is not there"),
        "{outcome}"
    );
    assert_eq!(outcome.stdout, "");
}

/// Arguments in registers of all kinds and on the stack arrive, at the first call and at others.
#[test]
fn functions_without_a_signature_are_passed_on_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let (driver, file) = (
        folder.path().join("driver.so"),
        folder.path().join("calls.json"),
    );
    let mut compiler = Command::new("cc");
    compiler
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(&driver)
        .arg(artefacts::root().join("transport/e2e/programs/c/untouched_driver.c"));
    assert!(run(&mut compiler).status.success());
    let mut command = Command::new(&artefacts().gtrace);
    command
        .args(["trace", "--json"])
        .arg(&file)
        .arg("--libcuda")
        .arg(&driver)
        .arg("--")
        .arg(programs::c_program(artefacts(), "untouched").unwrap());
    let outcome = run(&mut command);
    assert!(outcome.status.success(), "{outcome}");
    let line = |i| format!("{i} -2 3.5 4.25 five 6 7 8 9000000000 10.5 11\n42 43 801\n");
    assert_eq!(outcome.stdout, line(0) + &line(1));
    let process = &json(&file)["processes"][0];
    let names = ["cuGLInit", "cuVDPAUCtxCreate", "cuVDPAUGetDevice"].map(Value::from);
    assert_eq!(
        process["untouched"],
        Value::Array(names.to_vec()),
        "{process}"
    );
    assert_eq!(number(&process["calls"]), 0);
}

/// NVIDIA's runtime asks for addresses, and checks those of its tables.
#[test]
fn programs_of_every_runtime_are_seen() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.json");
    let libraries = support::runtimes();
    if libraries.is_empty() {
        println!("SKIPPED: no runtime: cargo xtask test fetches them from PyPI");
    }
    for library in libraries {
        let options = ["--json", file.to_str().unwrap()];
        let mut command = trace(&options, "runtime", &[library.to_str().unwrap()]);
        command.env("GTRACE_SOFTGPU_DEVICES", "2");
        let outcome = run(&mut command);
        assert!(outcome.status.success(), "{}: {outcome}", library.display());
        let process = &json(&file)["processes"][0];
        assert!(
            number(&function(process, "cuMemAlloc_v2")["calls"]) > 0,
            "{process}"
        );
        assert!(number(&function(process, "cuGetExportTable")["calls"]) > 0);
        let untouched = process["untouched"].as_array().unwrap();
        // The first form of this function has no public signature.
        let known = |name: &Value| name == "cuGraphInstantiate";
        assert!(untouched.iter().all(known), "{untouched:?}");
        let lookups = process["tables"].as_object().unwrap().values();
        let asked = function(process, "cuGetExportTable");
        assert_eq!(
            lookups.map(number).sum::<u64>(),
            number(&asked["calls"]) - number(&asked["errors"])
        );
    }
}
