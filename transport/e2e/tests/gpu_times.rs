//! Time of work in a trace: on the GPU, by the driver's events; of a remote GPU, as its server reports; and what
//! NVML says meanwhile.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../../../userspace/perfetto/tests/support/pftrace.rs"]
mod pftrace;
mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use gtrace_e2e::process::{self, Outcome};
use gtrace_e2e::server::{Server, Via};
use gtrace_e2e::{artefacts, programs};
use pftrace::Seen;
use serde_json::Value;
use support::{Case, LIMIT, artefacts};

/// What may not notice that its work is timed.
const PROGRAMS: [&str; 14] = [
    "capture",
    "graphs",
    "streams",
    "events",
    "contexts",
    "per_thread",
    "copies",
    "sticky",
    "launch_errors",
    "forked",
    "replay",
    "blocking",
    "managed",
    "pools",
];

fn run(command: &mut Command) -> Outcome {
    let outcome = process::run(command, LIMIT).unwrap();
    println!("{}", outcome.stderr);
    outcome
}

fn environment(command: &mut Command) -> &mut Command {
    command
        .env("GTRACE_KERNELS", artefacts::kernels())
        .env("GTRACE_SOCKET", "/nonexistent/socket")
}

/// Runs a program with its trace written to `out`.
fn traced(options: &[&str], out: &Path, program: &str) -> Outcome {
    let mut command = Command::new(&artefacts().gtrace);
    command
        .args(["trace", "--softgpu", "-o"])
        .arg(out)
        .args(options)
        .arg("--")
        .arg(programs::c_program(artefacts(), program).unwrap());
    run(environment(&mut command))
}

/// Runs a program with its work timed; what it printed, the trace, and the counts of its one process.
fn timed(program: &str, folder: &Path) -> (Outcome, Vec<Seen>, Value) {
    let (out, json) = (folder.join("x.pftrace"), folder.join("x.json"));
    let options = ["--gpu-time", "--json", json.to_str().unwrap()];
    let outcome = traced(&options, &out, program);
    assert!(outcome.status.success(), "{outcome}");
    let json: Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    (outcome, pftrace::read(&out), json["processes"][0].clone())
}

fn on_the_gpu(seen: &[Seen]) -> Vec<&Seen> {
    let found = seen.iter();
    found
        .filter(|one| one.track.ends_with(", on the GPU"))
        .collect()
}

/// The call that an arrow leads from to this.
fn call_of<'a>(seen: &'a [Seen], work: &Seen) -> &'a Seen {
    let mut calls = seen.iter().filter(|one| {
        one.category == "cuda" && one.arrows.iter().any(|arrow| work.arrows.contains(arrow))
    });
    let call = calls.next();
    assert!(calls.next().is_none(), "two calls lead to {work:?}");
    call.unwrap_or_else(|| panic!("no call leads to {work:?}"))
}

/// What was done in each of the streams of six threads, none of it before its call or at the same time.
fn by_stream<'a>(seen: &'a [Seen], work: Vec<&'a Seen>) -> Vec<Vec<&'a Seen>> {
    let mut streams: BTreeMap<&str, Vec<&Seen>> = BTreeMap::new();
    for one in work {
        streams.entry(&one.track).or_default().push(one);
        let call = call_of(seen, one);
        assert!(one.start >= call.start, "{one:?} begins before {call:?}");
    }
    streams.retain(|name, _| name.starts_with("stream 0x"));
    assert_eq!(streams.len(), 6);
    for of in streams.values() {
        assert!(of.is_sorted_by(|a, b| a.end <= b.start), "they overlap");
    }
    streams.into_values().collect()
}

/// The thread waits for its stream in each round, so that all was done when the wait was over.
fn is_done_when_awaited(seen: &[Seen], one: &Seen, off: u64) {
    let call = call_of(seen, one);
    let waits = seen.iter().filter(|wait| {
        wait.name == "cuStreamSynchronize"
            && wait.category == "cuda"
            && wait.track == call.track
            && wait.start >= call.end
    });
    let over = waits.map(|wait| wait.end).max();
    assert!(over.is_some_and(|over| one.end <= over + off), "{one:?}");
}

#[test]
fn launches_and_copies_of_six_threads_are_timed_each_in_its_stream() {
    let folder = tempfile::tempdir().unwrap();
    let (_, seen, process) = timed("threads", folder.path());
    let work = on_the_gpu(&seen);
    let named = |name: &str| work.iter().filter(|one| one.name == name).count();
    // 6 threads, 40 rounds.
    assert_eq!((named("saxpy"), named("cuMemcpyDtoHAsync_v2")), (240, 240));
    let counts = &process["gpu_work"];
    assert_eq!(counts["calls"], counts["timed"], "{counts}");
    assert_eq!(counts["timed"], work.len());
    for one in &work {
        assert!(one.number("clock_off_by_at_most_ns") > 0, "{one:?}");
    }
    for of in by_stream(&seen, work) {
        assert_eq!(of.len(), 80);
        for one in of {
            is_done_when_awaited(&seen, one, one.number("clock_off_by_at_most_ns") + 1_000);
        }
    }
}

/// The program's results and errors are those that it has without, in captures too.
#[test]
fn programs_do_the_same_when_their_work_is_timed() {
    let folder = tempfile::tempdir().unwrap();
    for program in PROGRAMS {
        let direct = Case::c(program).outcome_directly();
        let out = folder.path().join("x.pftrace");
        let traced = traced(&["--gpu-time"], &out, program);
        assert_eq!(
            (traced.status, &traced.stdout),
            (direct.status, &direct.stdout),
            "{program}: {traced}"
        );
    }
}

#[test]
fn what_a_stream_captures_is_not_timed_and_the_launch_of_its_graph_is() {
    let folder = tempfile::tempdir().unwrap();
    let (_, seen, process) = timed("capture", folder.path());
    let work = on_the_gpu(&seen);
    let launches = seen.iter().filter(|one| one.name == "cuGraphLaunch");
    let launches = launches.filter(|one| one.category == "cuda").count();
    let timed = work
        .iter()
        .filter(|one| one.name == "cuGraphLaunch")
        .count();
    assert!(launches > 0 && timed == launches, "{timed} of {launches}");
    let kernels = seen.iter().filter(|one| one.name == "cuLaunchKernel");
    let kernels = kernels.filter(|one| one.category == "cuda").count();
    let of_kernels = |one: &&&Seen| call_of(&seen, one).name == "cuLaunchKernel";
    let done = work.iter().filter(of_kernels).count();
    assert!(
        done < kernels,
        "all {kernels} launches were timed, and some were captured"
    );
    assert_eq!(process["gpu_work"]["calls"], process["gpu_work"]["timed"]);
}

/// How long the server had a request stands in the trace of who waited for it.
#[test]
fn times_of_a_server_are_in_the_trace_of_its_client() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&artefacts().gtrace, &[], &[]).unwrap();
    let out = folder.path().join("x.pftrace");
    let mut command = server.exec(Via::Tcp);
    command.arg("--trace").arg(&out).arg("--");
    command.arg(programs::c_program(artefacts(), "vector_add").unwrap());
    let outcome = run(environment(&mut command));
    assert!(outcome.status.success(), "{outcome}\n{}", server.log());
    let seen = pftrace::read(&out);
    let served: Vec<_> = seen
        .iter()
        .filter(|one| one.category.starts_with("server"))
        .collect();
    let copies: Vec<_> = served
        .iter()
        .filter(|one| one.name.starts_with("cuMemcpyDtoH"))
        .collect();
    assert!(!copies.is_empty(), "{served:?}");
    for one in &served {
        assert!(one.track.starts_with("server, for thread"), "{one:?}");
    }
    let launched = served.iter().find(|one| one.name == "cuLaunchKernel");
    let launched = launched.unwrap_or_else(|| panic!("no launch in {served:?}"));
    assert_eq!(launched.category, "server,one_way");
    let call = call_of(&seen, launched);
    assert_eq!(call.name, "cuLaunchKernel");
    let off = launched.number("clock_off_by_at_most_ns") + 1_000;
    assert!(call.start <= launched.start + off, "{call:?} {launched:?}");
    // The copy that waits for its result comes behind it in the same stream, and in the same lane.
    assert!(copies.iter().any(|copy| launched.end <= copy.start));
    let mut in_order = served.clone();
    in_order.sort_by_key(|one| (one.start, one.end));
    assert!(
        in_order.is_sorted_by(|a, b| a.end <= b.start),
        "they overlap: {in_order:?}"
    );
    let awaited = served.iter().filter(|one| one.category == "server");
    for one in awaited.filter(|one| one.name != "queue") {
        // Within the call that waited for it.
        let call = seen.iter().find(|call| {
            call.category.starts_with("cuda")
                && call.name == one.name
                && call.start <= one.start
                && one.end <= call.end
        });
        assert!(call.is_some(), "no call has {one:?}");
        assert!(one.number("driver_ns") >= one.end - one.start, "{one:?}");
        assert!(one.number("answers") >= 1, "{one:?}");
    }
    assert!(
        copies.iter().any(|one| one.number("driver_ns") > 0),
        "{copies:?}"
    );
}

/// Runs a program with its calls traced, and what the GPU did too if `timed`; what came of it, and how often it waited.
fn traced_remotely(
    server: &Server,
    (via, program): (Via, &str),
    (folder, timed): (&Path, bool),
) -> (Outcome, Vec<Seen>, u64) {
    let (out, stats) = (folder.join("x.pftrace"), folder.join("x.json"));
    let mut command = server.exec(via);
    command
        .args(timed.then_some("--gpu-time"))
        .arg("--trace")
        .arg(&out)
        .arg("--stats-file")
        .arg(&stats)
        .arg("--");
    command.arg(programs::c_program(artefacts(), program).unwrap());
    let outcome = run(environment(&mut command));
    let stats: Value = serde_json::from_slice(&std::fs::read(&stats).unwrap()).unwrap();
    let trips = stats["totals"]["waiting"].as_u64().unwrap();
    (outcome, pftrace::read(&out), trips)
}

#[test]
fn work_of_a_remote_gpu_is_timed_by_its_server() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&artefacts().gtrace, &[], &[]).unwrap();
    for via in [Via::Tcp, Via::Shm] {
        let (outcome, seen, _) = traced_remotely(&server, (via, "threads"), (folder.path(), true));
        let work = on_the_gpu(&seen);
        let reported = format!("on the GPU: {} launches and copies timed", work.len());
        assert!(outcome.stderr.contains(&reported), "{reported}");
        let named = |name: &str| work.iter().filter(|one| one.name == name).count();
        // 6 threads, 40 rounds. On a busy machine a thread may be gone before the end of its last work is seen.
        for name in ["saxpy", "cuMemcpyDtoHAsync_v2"] {
            assert!((230..=240).contains(&named(name)), "{} {name}", named(name));
        }
        // Of two pieces of a stream the later is not said to begin before the end of the other, which may be wrong.
        let off = work.iter().map(|one| one.number("clock_off_by_at_most_ns"));
        let off = off.max().unwrap() + 1_000;
        for one in &work {
            is_done_when_awaited(&seen, one, off);
        }
        by_stream(&seen, work);
    }
}

/// As those of a framework's backward pass: it never waits for an answer, and does not end before the program.
#[test]
fn work_of_a_thread_that_is_still_there_at_the_end_is_timed() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&artefacts().gtrace, &[], &[]).unwrap();
    for via in [Via::Tcp, Via::Shm] {
        let (outcome, seen, _) = traced_remotely(&server, (via, "parked"), (folder.path(), true));
        assert!(outcome.status.success(), "{outcome}\n{}", server.log());
        let work = on_the_gpu(&seen);
        let launches = work.iter().filter(|one| one.name == "saxpy");
        let calls: Vec<_> = launches.map(|one| call_of(&seen, one)).collect();
        assert_eq!(calls.len(), 40, "{via:?}: {outcome}");
        assert!(calls.iter().all(|call| call.track == calls[0].track));
    }
}

/// `profiled` compares what CUPTI reports with what it did.
#[test]
fn a_profiler_sees_what_a_remote_gpu_does() {
    let case = Case::c("profiled");
    let server = case.serve(&[]);
    for via in [Via::Tcp, Via::Shm, Via::Unix] {
        let outcome = case.outcome(&server, via, &["--cupti"]);
        assert!(outcome.status.success(), "{via:?}: {}", outcome.stderr);
        for line in [
            "saxpy, 2 x 256; 2048 bytes copied, kind 2; 2048 set",
            "of a thread: kernels 2, copies 1, fills 1",
            "disabled in the middle: kernels 1, copies 1, fills 1",
            "many launches: kernels 67500 of 67500",
            "captured: kernels 0, copies 0, fills 0, graphs 1, waits 1",
            "cuLaunchKernel: 1 began, 1 ended",
        ] {
            assert!(outcome.stdout.contains(line), "{outcome}");
        }
    }
}

/// Neither what a program does, nor how often it waits for the network.
#[test]
fn programs_do_the_same_when_a_server_times_their_work() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&artefacts().gtrace, &[], &[]).unwrap();
    for program in ["vector_add"].into_iter().chain(PROGRAMS) {
        let what = (Via::Tcp, program);
        let (untimed, _, without) = traced_remotely(&server, what, (folder.path(), false));
        let (timed, seen, with) = traced_remotely(&server, what, (folder.path(), true));
        assert_eq!(
            (timed.status, &timed.stdout),
            (untimed.status, &untimed.stdout),
            "{program}: {timed}\n{}",
            server.log()
        );
        if program == "vector_add" {
            assert_eq!(with, without, "round trips of {program}");
            assert_eq!(on_the_gpu(&seen).len(), 1, "{seen:?}");
        }
    }
}

#[test]
fn readings_of_nvml_are_counters() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("x.pftrace");
    let outcome = traced(&[], &out, "vector_add");
    assert!(outcome.status.success(), "{outcome}");
    assert!(!outcome.stderr.contains("no samples"), "{outcome}");
    let seen = pftrace::read(&out);
    let last = |name: &str| {
        let of = seen
            .iter()
            .filter(|one| one.track == format!("GPU 0 {name}"));
        of.filter_map(|one| one.counter).next_back()
    };
    assert_eq!(last("busy"), Some(0.0), "{seen:?}");
    assert!(last("memory used").is_some() && last("SM clock").is_some_and(|mhz| mhz > 0.0));
}

#[test]
fn times_need_a_trace_to_be_written_to() {
    let mut command = Command::new(&artefacts().gtrace);
    command.args(["trace", "--softgpu", "--gpu-time", "--", "true"]);
    let outcome = run(&mut command);
    assert_eq!(outcome.status.code(), Some(2));
    assert!(outcome.stderr.contains("--output"), "{outcome}");
}
