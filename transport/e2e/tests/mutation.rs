//! Programs whose conversation with the server is changed on its way: neither side may crash or hang, whatever the
//! other says. Wrong results and errors are what is to be expected.
//!
//! `GTRACE_MUTATION_SEED` repeats a run by its seed, `GTRACE_MUTATION_RUNS` says how many of them, and
//! `GTRACE_MUTATION_SECONDS` for how long; the threads of program and server keep their freedom, so a run may differ in
//! what comes first.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use gtrace_e2e::artefacts;
use gtrace_e2e::mutate::{Direction, Proxy};
use gtrace_e2e::process;
use gtrace_e2e::programs;
use gtrace_e2e::server::{Server, Via};
use serde_json::Value;
use support::{Case, State, artefacts, state};

const PROGRAMS: [&str; 13] = [
    "vector_add",
    "streams",
    "events",
    "copies",
    "modules",
    "launches",
    "memory",
    "pointers",
    "link",
    "callbacks",
    "loaded",
    "threads",
    "guarded",
];
/// Programs at a time, each with a server of its own.
const PLACES: u64 = 2;
/// Runs that are changed, between two that are not.
const BETWEEN: u32 = 12;
/// Without a byte moved for so long, something that is waited for was lost: the connection is closed.
const IDLE: Duration = Duration::from_millis(700);
/// How long a program goes on after the first change, then its connections are closed.
const ENOUGH: Duration = Duration::from_secs(8);
/// How soon a program whose connections are closed is to end.
const ENDS: Duration = Duration::from_secs(10);
/// How long a program may take that nothing was done to.
const UNCHANGED: Duration = Duration::from_secs(60);
/// Growth of the supervisor's memory that is no leak, kB.
const GROWTH: u64 = 8 << 10;

fn time() -> Duration {
    let long = std::env::var_os("GTRACE_TEST_LONG").is_some();
    let usual = if long { 600 } else { 8 };
    Duration::from_secs(number("GTRACE_MUTATION_SECONDS").unwrap_or(usual))
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// What all runs had.
#[derive(Default)]
struct Totals {
    runs: AtomicU64,
    frames: AtomicU64,
    changed: AtomicU64,
    /// Workers that were killed while the CPU emulator was busy, as they may be.
    killed: AtomicU64,
}

/// Ends a program that a failed test leaves.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Where the client's libraries were unpacked, as `gtrace exec` says.
fn libraries(server: &Server) -> OsString {
    let mut exec = server.exec(Via::Tcp);
    let printed = process::run(exec.arg("--print-env"), support::LIMIT).unwrap();
    let line = printed
        .stdout
        .lines()
        .find_map(|line| line.split_once("LD_LIBRARY_PATH="));
    let (_, path) = line.expect("gtrace exec says where the libraries are");
    path.trim_matches('\'').into()
}

/// A program that asks `proxy`: mostly at once, sometimes through `gtrace exec`, which then is what is reported lies
/// first.
fn command(program: &Path, proxy: &Proxy, libraries: &OsString, random: &mut Rng) -> Command {
    let strict = random.usize(..4) == 0;
    let mut command;
    if random.usize(..8) == 0 {
        command = Command::new(&artefacts().gtrace);
        command.args(["exec", "--remote", &proxy.address(), "--link", "tcp"]);
        command.args(strict.then_some("--strict"));
        command.arg("--").arg(program);
        command.env_remove("LD_LIBRARY_PATH");
    } else {
        command = Command::new(program);
        command.env("LD_LIBRARY_PATH", libraries);
        command
            .env("GTRACE_REMOTE", proxy.address())
            .env("GTRACE_LINK", "tcp");
        match strict {
            true => command.env("GTRACE_STRICT", "1"),
            false => command.env_remove("GTRACE_STRICT"),
        };
    }
    for name in [
        "CUDA_VISIBLE_DEVICES",
        "CUDA_LAUNCH_BLOCKING",
        "GTRACE_REAL_GPU",
    ] {
        command.env_remove(name);
    }
    command.env("GTRACE_KERNELS", artefacts::kernels());
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

/// How a run ended.
struct Ended {
    what: String,
    /// By which signal.
    signal: Option<i32>,
    /// It did not end though its connections were closed.
    hangs: bool,
    stderr: String,
    notes: Vec<String>,
    frames: u64,
    changed: u64,
}

/// Runs a program behind a proxy, all of which follows from `seed`; what the client counted goes to `stats`, if that is a file.
fn run(
    server: &Server,
    programs: &[PathBuf],
    libraries: &OsString,
    (direction, stats): (Direction, Option<&Path>),
    seed: u64,
) -> Ended {
    let mut random = Rng::with_seed(seed);
    let program = &programs[random.usize(..programs.len())];
    let proxy = Proxy::start(&server.address(Via::Tcp), direction, random.u64(..)).unwrap();
    let mut command = command(program, &proxy, libraries, &mut random);
    if let Some(stats) = stats {
        command.env("GTRACE_STATS", stats);
    }
    let mut program = Program(command.spawn().unwrap());
    let mut stderr = program.0.stderr.take().unwrap();
    let reader = thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = std::io::Read::read_to_end(&mut stderr, &mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let began = Instant::now();
    let mut closed: Option<Instant> = None;
    let status = loop {
        if let Some(status) = program.0.try_wait().unwrap() {
            break Some(status);
        }
        let (idle, first) = proxy.times();
        let enough = match first {
            Some(since) => idle.min(since) >= IDLE || since >= ENOUGH,
            None => began.elapsed() >= UNCHANGED,
        };
        match closed {
            None if enough => {
                proxy.close();
                closed = Some(Instant::now());
            }
            Some(at) if at.elapsed() >= ENDS => break None,
            _ => {}
        }
        thread::sleep(Duration::from_millis(2));
    };
    let mut stacks = String::new();
    if status.is_none() {
        stacks = stacks_of(program.0.id());
    }
    drop(program);
    let reported = proxy.reported();
    Ended {
        what: format!("{command:?}"),
        signal: status.and_then(|status| status.signal()),
        hangs: status.is_none(),
        stderr: reader.join().unwrap() + &stacks,
        notes: reported.notes,
        frames: reported.frames,
        changed: reported.changed,
    }
}

/// Where the threads of a process are, if there is a debugger.
fn stacks_of(pid: u32) -> String {
    let mut gdb = Command::new("gdb");
    gdb.args([
        "-batch",
        "-p",
        &pid.to_string(),
        "-ex",
        "thread apply all bt 25",
    ]);
    match process::run(&mut gdb, Duration::from_secs(30)) {
        Ok(outcome) => outcome.stdout,
        Err(_) => String::new(),
    }
}

impl Ended {
    fn describe(&self, seed: u64) -> String {
        format!(
            "GTRACE_MUTATION_SEED={seed}: {}\nchanged {} of {} frames, at last:\n  {}\nit said:\n{}",
            self.what,
            self.changed,
            self.frames,
            self.notes.join("\n  "),
            self.stderr
        )
    }
}

/// What of the server's log is a finding: a worker that panicked, or that a signal ended which nobody sent.
fn findings(log: &str, totals: &Totals) -> Vec<String> {
    let mut found = Vec::new();
    for line in log.lines() {
        if line.contains("has ended: signal: 9") {
            // A kernel that takes too long keeps its worker beyond its client's end.
            totals.killed.fetch_add(1, Ordering::Relaxed);
        } else if line.contains("panicked at")
            || line.contains("has ended: signal")
            || line.contains("overflow")
        {
            found.push(line.to_owned());
        }
    }
    found
}

/// The last lines of a log.
fn tail(log: &str) -> String {
    let lines: Vec<_> = log.lines().rev().take(10).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join("\n")
}

fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().split(' ').next()?.parse().ok())
        .unwrap_or_default()
}

/// Waits until the last client's worker is gone, and what reported its end.
fn idle_state(server: &Server) -> State {
    process::wait_until(Duration::from_secs(15), || server.workers().is_empty());
    thread::sleep(Duration::from_millis(500));
    state(server)
}

/// One of the places: run after run, on a server of its own. Gives what was found.
fn place(
    direction: Direction,
    programs: &[PathBuf],
    first: u64,
    end: Instant,
    totals: &Totals,
) -> Vec<String> {
    // Little memory, as its clients do with it what they like.
    let environment = [("GTRACE_SOFTGPU_MEMORY", "512MiB")];
    // A client whose connection was changed to its end is not waited for long.
    let arguments = [
        "--resume",
        "2s",
        "--image-cache-max",
        "32M",
        "--max-memory",
        "256M",
    ];
    let server = Server::start(&artefacts().gtrace, &environment, &arguments).unwrap();
    let libraries = libraries(&server);
    let untouched = Case::c("vector_add");
    untouched.remote(&server, Via::Tcp, &[]);
    let start = idle_state(&server);
    let memory = resident(server.pid());
    let (mut found, mut log, mut last) = (Vec::new(), 0, Vec::new());
    let runs = number("GTRACE_MUTATION_RUNS").unwrap_or(u64::MAX);
    for seed in (first..).take(usize::try_from(runs).unwrap_or(usize::MAX)) {
        if Instant::now() >= end || found.len() >= 5 {
            break;
        }
        let ended = run(&server, programs, &libraries, (direction, None), seed);
        let runs = totals.runs.fetch_add(1, Ordering::Relaxed);
        totals.frames.fetch_add(ended.frames, Ordering::Relaxed);
        totals.changed.fetch_add(ended.changed, Ordering::Relaxed);
        let described = ended.describe(seed);
        if direction == Direction::ToClient {
            if let Some(signal) = ended.signal {
                found.push(format!(
                    "the program was ended by signal {signal}: {described}"
                ));
            } else if ended.hangs {
                found.push(format!("the program does not end: {described}"));
            }
        }
        last.push(described);
        let text = server.log();
        // The server may find fault with a run when the next one is under way.
        for line in findings(&text[log..], totals) {
            let runs = last[last.len().saturating_sub(3)..].join("\n");
            found.push(format!("the server says: {line}\nafter one of\n{runs}"));
        }
        last.drain(..last.len().saturating_sub(3));
        log = text.len();
        if !process::is_running(server.pid()) {
            found.push(format!(
                "the supervisor has ended; its log's last lines:\n{}\nafter one of\n{}",
                tail(&text),
                last.join("\n")
            ));
            return found;
        }
        if runs.is_multiple_of(u64::from(BETWEEN)) {
            let outcome = untouched.outcome(&server, Via::Tcp, &[]);
            if !outcome.status.success() || !outcome.stdout.starts_with("sum: 4000 bytes") {
                let printed = format!("{}{}", outcome.stdout, outcome.stderr);
                found.push(format!(
                    "another client failed: {printed}\nits server's last lines:\n{}\nafter\n{}",
                    tail(&text),
                    last.join("\n")
                ));
            }
        }
    }
    let mut back = idle_state(&server);
    process::wait_until(Duration::from_secs(10), || {
        back = state(&server);
        back == start
    });
    if back != start {
        let stacks: Vec<_> = server.workers().into_iter().map(stacks_of).collect();
        found.push(format!(
            "workers, threads and descriptors were {start:?} and are {back:?}; the log's last \
             lines:\n{}\nafter one of\n{}\nworkers that are left:\n{}",
            tail(&server.log()),
            last.join("\n"),
            stacks.join("\n\n")
        ));
    }
    let now = resident(server.pid());
    if now > memory + GROWTH {
        found.push(format!(
            "the supervisor's memory has grown from {memory} kB to {now} kB"
        ));
    }
    for line in findings(&server.log()[log..], totals) {
        found.push(format!(
            "the server says: {line}\nafter one of\n{}",
            last.join("\n")
        ));
    }
    found
}

fn search(direction: Direction) {
    let programs: Vec<_> = PROGRAMS
        .map(|name| programs::c_program(artefacts(), name).unwrap())
        .into();
    let first = number("GTRACE_MUTATION_SEED").unwrap_or_else(|| {
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
        now.as_millis() as u64 % 1_000_000_000 * 10_000
    });
    let places = match number("GTRACE_MUTATION_RUNS") {
        Some(_) => 1,
        None => PLACES,
    };
    let (began, totals) = (Instant::now(), Totals::default());
    let end = began + time();
    let found: Vec<String> = thread::scope(|scope| {
        let places: Vec<_> = (0..places)
            .map(|place| first + place * 1_000_000)
            .map(|first| {
                let (programs, totals) = (&programs, &totals);
                scope.spawn(move || place(direction, programs, first, end, totals))
            })
            .collect();
        places
            .into_iter()
            .flat_map(|place| place.join().unwrap())
            .collect()
    });
    let per_minute = |count: &AtomicU64| {
        count.load(Ordering::Relaxed) as f64 * 60.0 / began.elapsed().as_secs_f64()
    };
    println!(
        "{direction:?}: {} runs, {} of {} frames changed, {:.0} a minute; {} workers were killed",
        totals.runs.load(Ordering::Relaxed),
        totals.changed.load(Ordering::Relaxed),
        totals.frames.load(Ordering::Relaxed),
        per_minute(&totals.changed),
        totals.killed.load(Ordering::Relaxed),
    );
    assert!(
        found.is_empty(),
        "{} findings\n\n{}",
        found.len(),
        found.join("\n\n")
    );
    assert!(totals.runs.load(Ordering::Relaxed) > 0);
}

#[test]
fn a_client_withstands_what_a_server_sends() {
    search(Direction::ToClient);
}

/// A server that lies in its answers: lengths, numbers, statuses, handles. What a call did not ask for is
/// not written, which a program whose results lie between guards finds out.
#[test]
fn a_server_that_lies_writes_nothing_beyond_a_result() {
    let server = Server::start(&artefacts().gtrace, &[], &[]).unwrap();
    let libraries = libraries(&server);
    let program = [programs::c_program(artefacts(), "guarded").unwrap()];
    let folder = tempfile::tempdir().unwrap();
    let (mut changed, mut broken) = (0, 0);
    for seed in 1..=30 {
        let stats = folder.path().join(format!("{seed}.json"));
        let what = (Direction::ToClient, Some(stats.as_path()));
        let ended = run(&server, &program, &libraries, what, seed);
        let described = ended.describe(seed);
        assert!(!ended.hangs, "{described}");
        assert_eq!(ended.signal, None, "{described}");
        changed += ended.changed;
        // A client that was not let in has counted nothing.
        let Ok(stats) = std::fs::read(&stats) else {
            continue;
        };
        let stats: Value = serde_json::from_slice(&stats).unwrap();
        if stats["lost"]
            .to_string()
            .contains("does not keep to the protocol")
        {
            assert!(stats["lanes_broken"].as_u64() >= Some(1), "{stats}");
            broken += 1;
        }
    }
    assert!(changed > 30, "{changed} answers were changed");
    assert!(
        broken > 0,
        "no client says that its server does not keep to the protocol"
    );
}

#[test]
fn a_server_withstands_what_a_client_sends() {
    search(Direction::ToServer);
}

/// A server whose log goes to a full disk serves on.
#[test]
fn a_server_whose_log_cannot_be_written_serves_on() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("serve.sock");
    let address = format!("unix:{}", socket.display());
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let mut serve = Command::new(&artefacts().gtrace);
    serve.args(["serve", "--softgpu", "--listen", &address]);
    serve
        .arg("--status-socket")
        .arg(folder.path().join("status.sock"));
    serve.arg("--image-cache").arg(folder.path().join("images"));
    serve
        .env("GTRACE_LOG", "debug")
        .env_remove("LD_LIBRARY_PATH");
    serve
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(full);
    let mut server = Program(serve.spawn().unwrap());
    let program = programs::c_program(artefacts(), "vector_add").unwrap();
    for _ in 0..2 {
        process::wait_until(support::LIMIT, || {
            std::os::unix::net::UnixStream::connect(&socket).is_ok()
                || server.0.try_wait().unwrap().is_some()
        });
        let mut exec = Command::new(&artefacts().gtrace);
        exec.args(["exec", "--remote", &address, "--"])
            .arg(&program);
        exec.env("GTRACE_KERNELS", artefacts::kernels())
            .env_remove("LD_LIBRARY_PATH");
        let outcome = process::run(&mut exec, support::LIMIT).unwrap();
        assert!(
            outcome.status.success(),
            "{:?}: {outcome}",
            server.0.try_wait()
        );
    }
    assert_eq!(server.0.try_wait().unwrap(), None, "the server has ended");
}
