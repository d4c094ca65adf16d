//! `gtrace trace --pid N --output FILE`: the file has what a program reports of its calls, and what the daemon saw meanwhile.
//! The program calls the CPU emulator's library, and /dev/urandom in place of a GPU's device node.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};

use gtrace_event::Incident;

use crate::caller::{self, Caller, Running, lines_until};
use crate::harness::*;
use crate::needs_root;
use crate::pftrace::{Seen, read};

/// `gtrace trace --pid` at work.
struct Tracing {
    command: Running,
    stderr: std::io::Lines<BufReader<std::process::ChildStderr>>,
}

impl Tracing {
    fn start(pid: u32, out: &Path, socket: &Path, options: &[&str]) -> Self {
        let out = out.to_str().unwrap();
        Self::begin(pid, socket, &[&["-o", out][..], options].concat())
    }

    /// Of the last calls, which are kept in memory until an incident opens.
    fn ring(pid: u32, socket: &Path, length: &str) -> Self {
        Self::begin(pid, socket, &["--ring", length])
    }

    fn begin(pid: u32, socket: &Path, options: &[&str]) -> Self {
        let command = Command::new(GTRACE)
            .args(["trace", "--devices", "1:9", "--pid", &pid.to_string()])
            .arg("--socket")
            .arg(socket)
            .args(options)
            .stderr(Stdio::piped())
            .spawn();
        let mut command = Running(command.unwrap());
        let mut stderr = BufReader::new(command.0.stderr.take().unwrap()).lines();
        lines_until(&mut stderr, "end with Ctrl-C");
        Self { command, stderr }
    }

    /// Waits for its end, and gives what it said.
    fn end(mut self) -> String {
        let stderr: Vec<String> = self.stderr.map(Result::unwrap).collect();
        let status = self.command.0.wait().unwrap();
        let stderr = stderr.join("\n");
        assert!(status.success(), "{status}: {stderr}");
        stderr
    }
}

fn compile(dir: &Path) -> std::path::PathBuf {
    let built = dir.join("traced");
    let status = Command::new("cc")
        .args(["-O1", "-o"])
        .arg(&built)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/traced.c"))
        .args(["-ldl", "-lpthread"])
        .status();
    assert!(status.unwrap().success());
    built
}

/// An event of the kernel's log while calls are traced.
fn log_an_xid(daemon: &Daemon) {
    let gpu = fresh_gpu();
    KernelLog::open().write(&format!("NVRM: Xid (PCI:{gpu}): 79, while it is traced"));
    daemon.wait_events(&["--gpu", &gpu], |events| !events.is_empty());
}

/// Calls of a name, on tracks of threads.
fn named<'a>(seen: &'a [Seen], name: &str) -> Vec<&'a Seen> {
    let on_thread = |one: &&Seen| one.name == name && !one.track.starts_with("stream ");
    seen.iter().filter(on_thread).collect()
}

/// Calls of the program into the driver; the kernel's log is there too.
fn driver_calls(seen: &[Seen]) -> Vec<&Seen> {
    let log = seen.iter().find(|one| one.name.contains("Xid 79"));
    assert!(
        log.is_some_and(|one| one.track.contains("kernel log")),
        "{seen:?}"
    );
    let of_driver = |one: &&Seen| one.name.starts_with("RM_CONTROL");
    let driver: Vec<&Seen> = seen.iter().filter(of_driver).collect();
    assert_eq!(driver.len(), 5, "{seen:?}");
    assert!(
        driver[0].track.ends_with(": calls into the driver"),
        "{driver:?}"
    );
    driver
}

#[test]
fn root_a_trace_of_a_running_process_has_calls_streams_kernels_driver_calls_and_the_kernels_log() {
    let Some(_turn) = Turn::take() else { return };
    let daemon = Daemon::start(&[]);
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new(compile(dir.path()));
    command.arg(caller::library(dir.path())).arg("/dev/urandom");
    let mut program = Caller::spawn(&mut command);
    program.until("open");
    let out = dir.path().join("x.pftrace");
    let tracing = Tracing::start(program.pid(), &out, &daemon.socket(), &[]);
    program.go_on();
    program.until("called");
    log_an_xid(&daemon);
    program.go_on();
    program.until("held");
    let stat = format!("/proc/{0}/task/{0}/syscall", program.pid());
    eventually("the program waits in a call", || {
        let text = std::fs::read_to_string(&stat).unwrap();
        text.starts_with(&format!("{} ", libc::SYS_futex))
            .then_some(())
    });
    let interrupt = rustix::process::Signal::INT;
    let pid = rustix::process::Pid::from_child(&tracing.command.0);
    rustix::process::kill_process(pid, interrupt).unwrap();
    let stderr = tracing.end();
    assert!(
        stderr.contains("1 have not returned; 5 calls into the driver"),
        "{stderr}"
    );
    assert!(!stderr.contains("lost"), "{stderr}");

    let seen = read(&out);
    let of = |name: &str| named(&seen, name);
    let copies = of("cuMemcpyHtoDAsync_v2");
    assert_eq!(copies.len(), 10);
    assert!(
        copies.iter().all(|one| one.arguments["bytes"] == "64"),
        "{copies:?}"
    );
    let launches = of("cuLaunchKernel");
    assert_eq!(launches.len(), 10);
    for launch in &launches {
        let argument = |name: &str| launch.arguments[name].as_str();
        assert_eq!(
            ["kernel", "grid", "block", "shared_bytes", "result"].map(argument),
            ["axpy", "3 x 2 x 1", "4 x 1 x 1", "128", "CUDA_SUCCESS"]
        );
    }
    let allocation = of("cuMemAlloc_v2");
    assert_eq!(allocation[0].arguments["bytes"], "4096");
    assert_eq!(
        allocation[0].arguments["address"],
        copies[0].arguments["to"]
    );
    // Two streams with five copies and five kernels each, in order.
    let mut streams: BTreeMap<&str, Vec<&Seen>> = BTreeMap::new();
    for one in seen.iter().filter(|one| one.track.starts_with("stream 0x")) {
        streams.entry(&one.track).or_default().push(one);
    }
    assert_eq!(streams.len(), 2);
    for given in streams.values() {
        let names: Vec<&str> = given.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["cuMemcpyHtoDAsync_v2", "axpy"].repeat(5));
        assert!(given.is_sorted_by_key(|one| one.start));
    }
    let waits = of("cuStreamSynchronize");
    let results: Vec<&str> = waits
        .iter()
        .map(|one| one.arguments["result"].as_str())
        .collect();
    assert_eq!(results.len(), 12);
    let open = results.iter().filter(|result| **result == "not returned");
    let failed = results.iter().filter(|result| result.contains("INVALID"));
    assert_eq!((open.count(), failed.count()), (1, 1), "{results:?}");
    let second = of("cuMemcpyDtoH_v2");
    assert_eq!((second.len(), second[0].track.as_str()), (3, "second"));
    let driver = driver_calls(&seen);
    // They came after the last launch and before the thread.
    assert!(driver.iter().all(|one| {
        one.start >= launches[9].end && one.end <= second[0].start && one.start < one.end
    }));
    daemon.stop();
}

/// The probes are there before the program begins, so that not one of its driver calls is missing.
#[test]
fn root_a_trace_of_a_program_has_its_driver_calls_from_the_first_on_and_the_kernels_log() {
    let Some(_turn) = Turn::take() else { return };
    let daemon = Daemon::start(&[]);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("x.pftrace");
    let mut command = Command::new(GTRACE);
    command
        .args(["trace", "--softgpu", "--gpu-time", "--devices", "1:9", "-o"])
        .arg(&out)
        .arg("--socket")
        .arg(daemon.socket())
        .arg("--")
        .arg(compile(dir.path()))
        // By its name, so that the library for tracing is found first.
        .args(["libcuda.so.1", "/dev/urandom"]);
    let mut program = Caller::spawn(&mut command);
    program.until("open");
    program.go_on();
    program.until("called");
    log_an_xid(&daemon);
    assert!(program.end().success());

    let seen = read(&out);
    driver_calls(&seen);
    let of = |name: &str| named(&seen, name);
    let (launches, threads) = (of("cuLaunchKernel"), of("cuMemcpyDtoH_v2"));
    assert_eq!((launches.len(), threads.len()), (10, 3));
    // What the GPU did, on the tracks of two streams.
    let on_the_gpu = |one: &&Seen| one.track.ends_with(", on the GPU");
    let work: Vec<&Seen> = seen.iter().filter(on_the_gpu).collect();
    let kernels = work.iter().filter(|one| one.name == "axpy").count();
    assert_eq!((kernels, work.len()), (10, 20), "{work:?}");
    daemon.stop();
}

/// What `GET path` at a Unix socket answers, behind the head.
fn get(socket: &Path, path: &str) -> Vec<u8> {
    let mut stream = UnixStream::connect(socket).unwrap();
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let head = answer.windows(4).position(|four| four == b"\r\n\r\n");
    let body = answer.split_off(head.unwrap() + 4);
    let head = String::from_utf8(answer).unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    body
}

/// Captures an incident while calls are kept in a ring: its id, once its evidence has them, as the daemon sends it.
fn captured_calls(dir: &Path, daemon: &Daemon) -> String {
    let captured = daemon.gtrace("capture --wait --json");
    let incident: Incident = serde_json::from_slice(&captured).unwrap();
    let mut files = incident.evidence.iter();
    let calls = files.find(|file| file.name.starts_with("calls-"));
    let calls = calls.unwrap_or_else(|| panic!("{:?}", incident.evidence));
    let id = incident.id.to_string();
    let path = format!("/api/v1/incidents/{id}/evidence/{}", calls.name);
    let sent = get(&daemon.socket(), &path);
    let kept = dir.join("evidence").join(&id).join(&calls.name);
    assert_eq!(sent, std::fs::read(kept).unwrap());
    id
}

/// The trace in the report of an incident has the program's launches.
fn launches_are_in_the_report(dir: &Path, id: &str, daemon: Daemon) {
    let store = daemon.store();
    daemon.stop();
    let store = store.to_str().unwrap();
    let made = ["--incident", id, "--store", store, "--out", "r.html"];
    report(dir, &made);
    report(dir, &["verify", "r.html"]);
    report(dir, &["open", "r.html", "--to", "parts"]);
    let seen = read(&dir.join("parts/trace.pftrace"));
    let launches = seen.iter().filter(|one| one.name == "cuLaunchKernel");
    assert_eq!(launches.count(), 10, "{seen:?}");
}

/// Of a ring: the calls of before an incident are evidence of it, and in the trace of its report.
#[test]
fn root_the_last_calls_of_a_program_are_evidence_of_an_incident_that_opens() {
    let Some(_turn) = Turn::take() else { return };
    let dir = tempfile::tempdir().unwrap();
    let daemon = Daemon::start_in(dir.path(), &["--recording-after-s", "10"]);
    let socket = daemon.socket();
    let mut command = Command::new(GTRACE);
    command
        .args(["trace", "--softgpu", "--ring", "60s", "--socket"])
        .arg(&socket)
        .arg("--")
        .arg(compile(dir.path()))
        .args(["libcuda.so.1", "/dev/urandom"]);
    let mut program = Caller::spawn(&mut command);
    program.until("open");
    program.go_on();
    program.until("called");
    let id = captured_calls(dir.path(), &daemon);
    assert!(program.end().success());
    launches_are_in_the_report(dir.path(), &id, daemon);
}

/// The same of a process that runs already, by uprobes: nothing is written until an incident opens, and no file is named.
#[test]
fn root_the_last_calls_of_a_running_process_are_evidence_of_an_incident_that_opens() {
    let Some(_turn) = Turn::take() else { return };
    let dir = tempfile::tempdir().unwrap();
    let daemon = Daemon::start_in(dir.path(), &["--recording-after-s", "10"]);
    let socket = daemon.socket();
    let mut command = Command::new(compile(dir.path()));
    command.arg(caller::library(dir.path())).arg("/dev/urandom");
    let mut program = Caller::spawn(&mut command);
    program.until("open");
    let tracing = Tracing::ring(program.pid(), &socket, "60s");
    program.go_on();
    program.until("called");
    let id = captured_calls(dir.path(), &daemon);
    // The tracer goes on after it, until the process ends.
    let tracer = rustix::process::Pid::from_child(&tracing.command.0);
    assert!(rustix::process::test_kill_process(tracer).is_ok());
    drop(program);
    let printed = tracing.end();
    assert!(printed.contains("calls"), "{printed}");
    launches_are_in_the_report(dir.path(), &id, daemon);
}

#[test]
fn root_calls_that_a_small_ring_has_no_room_for_are_counted_exactly() {
    needs_root!();
    let dir = tempfile::tempdir().unwrap();
    let library = caller::library(dir.path());
    let mut command = Command::new(caller::compile(dir.path()));
    let mut program = Caller::spawn(command.arg(&library).args(["many", "6000"]));
    program.until("open");
    let (out, nobody) = (dir.path().join("x.pftrace"), dir.path().join("none"));
    let tracing = Tracing::start(program.pid(), &out, &nobody, &["--buffer", "1024"]);
    // So that the ring is not emptied meanwhile.
    let tracer = rustix::process::Pid::from_child(&tracing.command.0);
    rustix::process::kill_process(tracer, rustix::process::Signal::STOP).unwrap();
    program.go_on();
    let deeds = program.deeds();
    drop(program);
    rustix::process::kill_process(tracer, rustix::process::Signal::CONT).unwrap();
    let stderr = tracing.end();
    let lost: u64 = stderr
        .split("api_ring_full ")
        .nth(1)
        .and_then(|rest| {
            rest.split(|c: char| !c.is_ascii_digit())
                .next()?
                .parse()
                .ok()
        })
        .unwrap_or_else(|| panic!("nothing was lost: {stderr}"));
    let seen = read(&out);
    let calls = seen.iter().filter(|one| one.name.starts_with("cu")).count() as u64;
    // Each of four threads sets its context.
    let made: u64 = deeds.values().map(|[calls, ..]| calls).sum::<u64>() + 4;
    assert_eq!(calls + lost, made, "{stderr}");
    let missing = seen.iter().find(|one| one.name == "rings were full");
    assert_eq!(missing.unwrap().arguments["calls"], lost.to_string());
}
