//! Processes with a watched device open, their calls, how they end; processes that run out of
//! memory. /dev/urandom is used in place of a GPU's device node.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::fd::AsRawFd as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use gtrace_api::CallStats;
use gtrace_event::{Event, Kind, ProcessEnds, WitnessName};
use gtrace_profile::DailyCalls;

use crate::harness::*;

const DEVICE: &str = "/dev/urandom";
const DEVICES: [&str; 2] = ["--devices", "1:9"];
const RM_CONTROL: u32 = 0xc020_462a;

fn shell(script: &str) -> (u32, ExitStatus) {
    let mut child = Command::new("sh")
        .args(["-c", script])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let pid = child.id();
    (pid, child.wait().unwrap())
}

fn exit_of(events: &[Event], pid: u32) -> Option<&Event> {
    events.iter().find(|event| pid_of(event) == Some(pid))
}

/// Waits for the exit of a process; all exits.
fn wait_exit(daemon: &Daemon, pid: u32) -> Vec<Event> {
    let args = ["--kind", "gpu_process_exit"];
    daemon.wait_events(&args, |events| exit_of(events, pid).is_some())
}

#[test]
fn root_exits_of_processes_with_the_device_open_have_status_and_signal() {
    let Some(_turn) = Turn::take() else { return };
    let daemon = Daemon::start(&DEVICES);
    let (exited, status) = shell(&format!("exec 9<{DEVICE}; exit 7"));
    assert_eq!(status.code(), Some(7));
    let (killed, status) = shell(&format!("exec 9<{DEVICE}; kill -KILL $$"));
    assert_eq!(status.signal(), Some(9));
    let (innocent, _) = shell("exit 7");
    wait_exit(&daemon, exited);
    let events = wait_exit(&daemon, killed);
    let detail = |pid| {
        let exit = &exit_of(&events, pid).unwrap().detail.process_exit;
        (exit.exit_code, exit.signal)
    };
    assert_eq!(detail(exited), (Some(7), None));
    assert_eq!(detail(killed), (None, Some(9)));
    assert!(exit_of(&events, innocent).is_none());
    daemon.stop();
}

#[test]
fn root_ends_with_status_0_are_counted_and_stored_on_request_only() {
    let Some(_turn) = Turn::take() else { return };
    for stored in [false, true] {
        let request: &[&str] = if stored { &["--successful-exits"] } else { &[] };
        let daemon = Daemon::start(&[&DEVICES[..], request].concat());
        let (successful, _) = shell(&format!("exec 9<{DEVICE}; exit 0"));
        let (failed, _) = shell(&format!("exec 9<{DEVICE}; exit 3"));
        let events = wait_exit(&daemon, failed);
        // It ended before the other one.
        assert_eq!(exit_of(&events, successful).is_some(), stored);
        let metrics = daemon.client().get_text("/metrics").unwrap();
        for outcome in ["success", "failure"] {
            let sample = format!("gtrace_gpu_process_exits_total{{outcome=\"{outcome}\"}} ");
            assert!(metrics.contains(&sample), "{sample}: {metrics}");
        }
        daemon.stop();
    }
}

#[test]
fn root_a_process_that_had_the_device_open_before_the_start_is_known() {
    let Some(_turn) = Turn::take() else { return };
    // Descriptor 600 lies past the part of the table that the exit probe reads.
    let script = format!("exec 600<>{DEVICE}; read line; exit 5");
    let mut child = Command::new("bash")
        .args(["-c", &script])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let fd = format!("/proc/{}/fd/600", child.id());
    eventually("the device is open", || fs::metadata(&fd).ok());
    let daemon = Daemon::start(&DEVICES);
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(5));
    let events = wait_exit(&daemon, child.id());
    let of = exit_of(&events, child.id()).unwrap();
    assert_eq!(of.detail.process_exit.exit_code, Some(5));
    daemon.stop();
}

#[test]
fn root_driver_calls_of_four_threads_are_counted_exactly_and_others_not_at_all() {
    let Some(_turn) = Turn::take() else { return };
    let daemon = Daemon::start(&DEVICES);
    const CALLS: usize = 25_000;
    let watched = File::open(DEVICE).unwrap();
    let other = File::open("/dev/zero").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..CALLS {
                    call(&watched);
                    call(&other);
                }
            });
        }
    });
    let own = std::process::id();
    let want = 4 * CALLS as u64;
    let stats = eventually("all calls are counted", || {
        let stats: Vec<CallStats> = daemon.client().get("/api/v1/histograms").unwrap();
        stats.into_iter().find(|s| s.pid == own && s.count >= want)
    });
    assert_eq!(stats.count, want);
    assert_eq!(stats.errors, want, "urandom knows no such ioctl");
    assert_eq!(stats.op.as_deref(), Some("RM_CONTROL"));
    assert!(stats.p50_ns > 0 && stats.p50_ns <= stats.p99_ns && stats.p99_ns <= stats.max_ns);
    daemon.stop();
}

#[test]
fn root_driver_calls_of_a_program_are_complete_as_soon_as_it_has_ended() {
    let Some(_turn) = Turn::take() else { return };
    let dir = tempfile::tempdir().unwrap();
    let program = ioctls(dir.path());
    let daemon = Daemon::start(&DEVICES);
    const CALLS: u64 = 1000;
    for round in 1..=10 {
        let ended = Command::new(&program)
            .args([DEVICE, &CALLS.to_string()])
            .status();
        assert!(ended.unwrap().success());
        let profile = daemon.gtrace("profile --driver --json");
        let rows: Vec<CallStats> = serde_json::from_slice(&profile).unwrap();
        let counted: u64 = rows.iter().map(|row| row.count).sum();
        assert_eq!(counted, round * CALLS, "{rows:?}");
    }
    // For a fleet they add up without their processes.
    let daily: Vec<DailyCalls> = daemon.client().get("/api/v1/latency").unwrap();
    let counted: u64 = daily.iter().map(|row| row.histogram.count()).sum();
    assert_eq!(counted, 10 * CALLS, "{daily:?}");
    daemon.stop();
}

/// /dev/null is the device here: workers have it open, as they have a GPU's.
#[test]
fn root_the_worker_of_a_server_ends_by_itself_and_has_a_name() {
    let Some(_turn) = Turn::take() else { return };
    let daemon = Daemon::start(&["--devices", "1:3", "--successful-exits"]);
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("gpu.sock");
    let mut command = Command::new(GTRACE);
    command.args(["serve", "--softgpu", "--listen"]);
    command.arg(format!("unix:{}", socket.display()));
    command
        .arg("--status-socket")
        .arg(dir.path().join("status"));
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null());
    let mut server = quiet.stderr(Stdio::null()).spawn().unwrap();
    // It has asked its first worker what driver there is.
    eventually("the server listens", || socket.exists().then_some(()));
    let pid = rustix::process::Pid::from_child(&server);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    server.wait().unwrap();
    let is_worker = |event: &Event| {
        let comm = event.process.as_ref().and_then(|p| p.comm.as_deref());
        comm == Some("gtrace-worker")
    };
    let events = daemon.wait_events(&["--kind", "gpu_process_exit"], |events| {
        events.iter().any(is_worker)
    });
    for worker in events.iter().filter(|event| is_worker(event)) {
        assert_eq!(worker.detail.process_exit.exit_code, Some(0), "{worker:?}");
    }
    daemon.stop();
}

/// The program that makes ioctls.
fn ioctls(dir: &Path) -> PathBuf {
    let program = dir.join("ioctls");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/ioctls.c");
    let built = Command::new("cc")
        .arg("-o")
        .args([&program, &source])
        .status();
    assert!(built.unwrap().success());
    program
}

/// As many control commands, classes and escapes as a CUDA program of driver 580 uses to start.
const COMMANDS: usize = 130;

/// What the daemon has counted of driver calls that it lost or could not attribute, by name.
fn lost(daemon: &Daemon, what: &str) -> u64 {
    let sample = format!("gtrace_lost_total{{source=\"driver calls\",what=\"{what}\"}} ");
    metric(daemon, &sample)
}

/// Calls by control command, of all processes.
fn by_command(daemon: &Daemon) -> BTreeMap<Option<String>, u64> {
    let rows: Vec<CallStats> = daemon.client().get("/api/v1/histograms").unwrap();
    let mut sums = BTreeMap::new();
    for row in rows {
        *sums.entry(row.code).or_default() += row.count;
    }
    sums
}

#[test]
fn root_driver_calls_of_many_short_programs_keep_their_process_and_their_command() {
    let Some(_turn) = Turn::take() else { return };
    let dir = tempfile::tempdir().unwrap();
    let program = ioctls(dir.path());
    let daemon = Daemon::start(&DEVICES);
    // Twenty programs a second are some 2,600 keys a second, and there are 1,600.
    const PROGRAMS: usize = 60;
    for _ in 0..PROGRAMS {
        let calls = (2 * COMMANDS).to_string();
        let commands = COMMANDS.to_string();
        let ended = Command::new(&program)
            .args([DEVICE, &calls, &commands])
            .status();
        assert!(ended.unwrap().success());
        std::thread::sleep(Duration::from_millis(50));
    }
    let sums = by_command(&daemon);
    assert_eq!(sums.len(), COMMANDS);
    assert!(
        sums.values().all(|count| *count == 2 * PROGRAMS as u64),
        "{sums:?}"
    );
    assert_eq!(lost(&daemon, "hist_keys_full"), 0);
    assert_eq!(lost(&daemon, "hist_keys_shared"), 0);
    daemon.stop();
}

#[test]
fn root_driver_calls_of_more_programs_than_the_table_has_room_for_keep_their_command() {
    let Some(_turn) = Turn::take() else { return };
    let dir = tempfile::tempdir().unwrap();
    let program = ioctls(dir.path());
    let daemon = Daemon::start(&DEVICES);
    const PROGRAMS: usize = 64;
    let calls = (2 * COMMANDS).to_string();
    let commands = COMMANDS.to_string();
    let start = || {
        let mut command = Command::new(&program);
        command.args([DEVICE, &calls, &commands]);
        command.spawn().unwrap()
    };
    let children: Vec<_> = std::iter::repeat_with(start).take(PROGRAMS).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let sums = by_command(&daemon);
    assert_eq!(sums.len(), COMMANDS);
    assert!(
        sums.values().all(|count| *count == 2 * PROGRAMS as u64),
        "{sums:?}"
    );
    eventually("calls are counted without their process", || {
        (lost(&daemon, "hist_keys_shared") > 0).then_some(())
    });
    assert_eq!(lost(&daemon, "hist_keys_full"), 0);
    let losses = daemon.gtrace("events --kind source_lost --json");
    assert_eq!(String::from_utf8_lossy(&losses), "");
    daemon.stop();
}

#[allow(unsafe_code)]
fn call(file: &File) {
    let mut argument = [0u8; 32];
    // SAFETY: the argument is as large as the request number says; neither device writes to it.
    unsafe {
        libc::ioctl(
            file.as_raw_fd(),
            u64::from(RM_CONTROL),
            argument.as_mut_ptr(),
        )
    };
}

/// A memory control group with a limit; v1 or v2, whichever the host has.
struct MemoryGroup(std::path::PathBuf);

impl MemoryGroup {
    fn new() -> Option<Self> {
        let name = format!("gtrace-test-{}", std::process::id());
        let v1 = std::path::Path::new("/sys/fs/cgroup/memory");
        let (root, limit) = if v1.join("memory.limit_in_bytes").exists() {
            (v1, "memory.limit_in_bytes")
        } else {
            (std::path::Path::new("/sys/fs/cgroup"), "memory.max")
        };
        let group = Self(root.join(name));
        fs::create_dir(&group.0).ok()?;
        fs::write(group.0.join(limit), "33554432").ok()?;
        Some(group)
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        // The kernel removes it once it is empty.
        let _ = fs::remove_dir(&self.0);
    }
}

/// A control group as Slurm makes it for a job, in the hierarchy of version 2.
struct JobGroup(std::path::PathBuf);

impl JobGroup {
    fn new(job: u32) -> Option<Self> {
        let mounts = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].map(std::path::Path::new);
        let root = mounts
            .iter()
            .find(|root| root.join("cgroup.procs").exists())?;
        let all = Self(root.join(format!("slurmstepd-test-{}.scope", std::process::id())));
        fs::create_dir_all(all.of(job)).ok()?;
        Some(all)
    }

    fn of(&self, job: u32) -> std::path::PathBuf {
        self.0.join(format!("job_{job}"))
    }
}

impl Drop for JobGroup {
    fn drop(&mut self) {
        for entry in fs::read_dir(&self.0).into_iter().flatten().flatten() {
            let _ = fs::remove_dir(entry.path());
        }
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn root_ends_of_a_jobs_processes_are_counted_however_short_they_live() {
    let Some(_turn) = Turn::take() else { return };
    let Some(group) = JobGroup::new(4711) else {
        eprintln!("skipped: no control group of version 2 can be made here");
        return;
    };
    let daemon = Daemon::start(&DEVICES);
    let procs = group.of(4711).join("cgroup.procs");
    for end in ["exit 0", "exit 3", "kill -TERM $$"] {
        shell(&format!(
            "echo $$ > {}; exec 9<{DEVICE}; {end}",
            procs.display()
        ));
    }
    // Of no job.
    shell(&format!("exec 9<{DEVICE}; exit 3"));
    let ends = eventually("three have ended", || {
        let ends: Vec<ProcessEnds> = daemon.client().get("/api/v1/usage/ends").unwrap();
        ends.iter().any(|row| row.ended >= 3).then_some(ends)
    });
    let of = |row: &ProcessEnds| (row.holder.job.clone(), row.ended, row.failed);
    let ends: Vec<_> = ends.iter().map(of).collect();
    assert_eq!(ends, [(Some("slurm:4711".to_owned()), 3, 2)]);
    daemon.stop();
}

#[test]
fn root_a_process_killed_for_lack_of_memory_is_one_event_of_all_witnesses() {
    let Some(_turn) = Turn::take() else { return };
    let Some(group) = MemoryGroup::new() else {
        eprintln!("skipped: no memory control group can be made here");
        return;
    };
    let daemon = Daemon::start(&[]);
    let procs = group.0.join("cgroup.procs");
    let script = format!(
        "echo $$ > {} && exec python3 -c 'b=bytearray(256<<20)\nfor i in range(0,len(b),4096): b[i]=1'",
        procs.display()
    );
    let (pid, status) = shell(&script);
    assert_eq!(status.signal(), Some(9), "{status}");
    let is_it = |e: &&Event| pid_of(e) == Some(pid);
    let events = daemon.wait_events(&["--kind", "oom_kill"], |events| {
        let mut of = events.iter().filter(is_it);
        of.any(|e| e.witnesses.len() == 3)
    });
    let of: Vec<_> = events.iter().filter(is_it).collect();
    assert_eq!((of.len(), of[0].repeats), (1, 0), "{of:#?}");
    assert_eq!(of[0].kind, Kind::OomKill);
    for witness in [
        WitnessName::OomVictim,
        WitnessName::PrintkConsole,
        WitnessName::Kmsg,
    ] {
        assert_eq!(seen_by(of[0], witness), 1, "{witness}");
    }
    let process = of[0].process.as_ref().unwrap();
    assert_eq!(process.comm.as_deref(), Some("python3"));
    assert!(
        of[0].message.contains("Killed process"),
        "{}",
        of[0].message
    );
    daemon.stop();
}

#[test]
fn root_pause_and_the_kill_switch_detach_every_probe() {
    let Some(_turn) = Turn::take() else { return };
    let daemon = Daemon::start(&[]);
    let gpu = fresh_gpu();
    daemon.gtrace("pause");
    assert!(daemon.status().paused);
    KernelLog::open().write(&format!("NVRM: Xid (PCI:{gpu}): 13, while paused"));
    let events = daemon.wait_events(&["--gpu", &gpu], |events| !events.is_empty());
    assert_eq!(seen_by(&events[0], WitnessName::PrintkConsole), 0);
    daemon.gtrace("resume");
    KernelLog::open().write(&format!("NVRM: Xid (PCI:{gpu}): 13, after"));
    daemon.wait_events(&["--gpu", &gpu], |events| {
        events
            .iter()
            .any(|e| seen_by(e, WitnessName::PrintkConsole) == 1)
    });
    fs::write(daemon.dir.join("pause"), "").unwrap();
    eventually("the kill switch works", || {
        daemon.status().paused.then_some(())
    });
    fs::remove_file(daemon.dir.join("pause")).unwrap();
    eventually("its removal too", || {
        (!daemon.status().paused).then_some(())
    });
    daemon.stop();
}
