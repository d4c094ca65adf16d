//! What must be said clearly, with the right exit code, and without losing anything.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use gtrace_event::WitnessName;

use crate::harness::*;
use crate::needs_root;

const NOT_POSSIBLE: i32 = 3;
const USAGE: i32 = 2;

/// Runs a daemon that must not start; its exit code and what it said.
fn refused(mut command: Command, dir: &Path) -> (i32, String) {
    let code = command.status().unwrap().code().unwrap();
    (code, fs::read_to_string(dir.join("log")).unwrap())
}

/// `gtrace run` in a mount namespace of its own, after `mounts`.
fn in_own_mounts(dir: &Path, mounts: &str, args: &[&str]) -> Command {
    let inner = run_command(dir, args);
    let mut command = Command::new("unshare");
    let script = format!("mount --make-rprivate / && {mounts} && exec \"$@\"");
    command.args(["--mount", "sh", "-c", &script, "sh"]);
    command.arg(inner.get_program()).args(inner.get_args());
    command.env("GTRACE_STATE_DIR", dir);
    let log = fs::OpenOptions::new()
        .append(true)
        .open(dir.join("log"))
        .unwrap();
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log);
    command
}

#[test]
fn root_without_privileges_it_says_so_and_ends_with_3() {
    needs_root!();
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    fs::set_permissions(
        dir.path(),
        std::os::unix::fs::PermissionsExt::from_mode(0o777),
    )
    .unwrap();
    let mut command = run_command(dir.path(), &[]);
    // nobody; the log was opened before.
    command.uid(65534).gid(65534);
    let copy = dir.path().join("gtrace");
    fs::copy(GTRACE, &copy).unwrap();
    let mut as_nobody = Command::new(&copy);
    as_nobody
        .args(command.get_args())
        .env("GTRACE_STATE_DIR", dir.path())
        .uid(65534)
        .gid(65534);
    let log = fs::OpenOptions::new()
        .append(true)
        .open(dir.path().join("log"))
        .unwrap();
    as_nobody.stdout(Stdio::null()).stderr(log);
    // dmesg may be open to everybody here; then the log alone would do.
    let restrict = fs::read_to_string("/proc/sys/kernel/dmesg_restrict").unwrap();
    fs::write("/proc/sys/kernel/dmesg_restrict", "1").unwrap();
    let (code, printed) = refused(as_nobody, dir.path());
    fs::write("/proc/sys/kernel/dmesg_restrict", restrict.trim()).unwrap();
    assert_eq!(code, NOT_POSSIBLE, "{printed}");
    assert!(
        printed.contains("sudo") && printed.contains("/dev/kmsg"),
        "{printed}"
    );
    let mut doctor = Command::new(&copy);
    let output = doctor
        .args(["doctor", "--json"])
        .uid(65534)
        .gid(65534)
        .output()
        .unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(
        report["not_looked_at"][0]
            .as_str()
            .unwrap()
            .contains("root"),
        "{report}"
    );
    let facts = report["host"].as_array().unwrap();
    let tracefs = facts.iter().find(|fact| fact["name"] == "tracefs").unwrap();
    if tracefs["value"].as_str().unwrap().contains("not readable") {
        assert_eq!(tracefs["remedy"], "run as root");
    }
}

#[test]
fn root_doctor_advises_what_the_reason_asks_for() {
    needs_root!();
    let output = gtrace(&["doctor", "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for source in report["sources"].as_array().unwrap() {
        let (reason, remedy) = (source["reason"].as_str(), source["remedy"].as_str());
        if reason.is_some_and(|reason| reason.ends_with("the NVIDIA driver is not loaded")) {
            assert!(remedy.unwrap().contains("the NVIDIA driver"), "{source}");
        }
    }
}

#[test]
fn root_tracefs_that_nobody_mounted_is_mounted() {
    let Some(_turn) = Turn::take() else { return };
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("log"), "").unwrap();
    let unmount = "umount /sys/kernel/tracing && \
                   { mount -t tmpfs none /sys/kernel/debug 2>/dev/null || true; }";
    let mut command = in_own_mounts(dir.path(), unmount, &[]);
    let daemon = Daemon::wait_ready(dir.path(), command.spawn().unwrap());
    let log = daemon.log();
    assert!(log.contains("tracefs was not mounted; it is now"), "{log}");
    assert!(!log.contains("no probes"), "{log}");
    let exits = daemon.source("sched:sched_process_exit");
    assert_eq!(exits.state, gtrace_api::SourceState::Active, "{exits:?}");
}

#[test]
fn root_without_tracefs_the_log_device_alone_serves_and_it_says_so() {
    let Some(_turn) = Turn::take() else { return };
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("log"), "").unwrap();
    let hide = "mount -t tmpfs none /sys/kernel/tracing && \
                { mount -t tmpfs none /sys/kernel/debug 2>/dev/null || true; }";
    let mut command = in_own_mounts(dir.path(), hide, &[]);
    let daemon = Daemon::wait_ready(dir.path(), command.spawn().unwrap());
    let gpu = fresh_gpu();
    KernelLog::open().write(&format!(
        "NVRM: Xid (PCI:{gpu}): 79, GPU has fallen off the bus."
    ));
    let events = daemon.wait_events(&["--gpu", &gpu], |events| events.len() == 1);
    assert_eq!(seen_by(&events[0], WitnessName::Kmsg), 1);
    assert_eq!(events[0].witnesses.len(), 1);
    assert!(
        daemon.log().contains("tracefs is not mounted"),
        "{}",
        daemon.log()
    );
    let remedy = daemon.source("printk:console").remedy.unwrap();
    assert!(remedy.contains("mount -t tracefs"), "{remedy}");
}

#[test]
fn root_without_btf_only_what_follows_descriptors_is_missing() {
    let Some(_turn) = Turn::take() else { return };
    let dir = tempfile::tempdir().unwrap();
    let mut command = in_own_mounts(dir.path(), "mount -t tmpfs none /sys/kernel/btf", &[]);
    let daemon = Daemon::wait_ready(dir.path(), command.spawn().unwrap());
    let console = daemon.source("printk:console");
    assert_eq!(console.state, gtrace_api::SourceState::Active);
    let exits = daemon.source("sched:sched_process_exit");
    assert_eq!(exits.state, gtrace_api::SourceState::Absent, "{exits:?}");
    let reason = exits.reason.unwrap_or_default();
    assert!(reason.contains("CONFIG_DEBUG_INFO_BTF"), "{reason}");
}

#[test]
fn root_under_lockdown_doctor_names_it_and_the_remedy() {
    needs_root!();
    let script = format!(
        "mount --make-rprivate / && mount -t tmpfs none /sys/kernel/security && \
         echo 'none integrity [confidentiality]' > /sys/kernel/security/lockdown && \
         {GTRACE} doctor"
    );
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", &script])
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(printed.contains("lockdown=integrity"), "{printed}{errors}");
}

#[test]
fn root_in_a_pid_namespace_of_its_own_doctor_names_it_and_the_remedy() {
    needs_root!();
    let of = |mut command: Command| {
        let output = command.args(["doctor", "--json"]).output().unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let facts = report["host"].as_array().unwrap();
        let found = facts.iter().find(|fact| fact["name"] == "PID namespace");
        found.unwrap().clone()
    };
    let mut unshared = Command::new("unshare");
    unshared.args(["--pid", "--fork", "--mount-proc", GTRACE]);
    let fact = of(unshared);
    assert_eq!(fact["ok"], false, "{fact}");
    assert!(fact["remedy"].as_str().unwrap().contains("hostPID: true"));
    // PROC_PID_INIT_INO: the tests may run in a container themselves.
    let own = fs::metadata("/proc/self/ns/pid").unwrap().ino();
    let fact = of(Command::new(GTRACE));
    assert_eq!(fact["ok"], own == 0xefff_fffc, "{fact}");
}

fn mount(args: &[&str]) {
    let status = Command::new("mount").args(args).status().unwrap();
    assert!(status.success(), "{args:?}");
}

/// Makes a file system of 24 MiB.
fn small_disk(at: &Path) -> Unmount {
    fs::create_dir(at).unwrap();
    let at = at.to_str().unwrap();
    mount(&["-t", "tmpfs", "-o", "size=24m", "none", at]);
    Unmount(at.to_owned())
}

/// Whatever room is left goes to this file.
fn fill(filler: &Path) {
    let _ = Command::new("dd")
        .arg("if=/dev/zero")
        .arg(format!("of={}", filler.display()))
        .args(["bs=4k"])
        .stderr(Stdio::null())
        .status();
}

#[test]
fn root_a_stop_that_takes_too_long_was_asked_for_all_the_same() {
    let Some(_turn) = Turn::take() else { return };
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    let _unmount = small_disk(&state);
    let daemon = Daemon::start_in(dir.path(), &["--state-dir", state.to_str().unwrap()]);
    let boot = || {
        let text = fs::read_to_string(state.join("boot")).unwrap();
        text.lines().next().unwrap_or_default().to_owned()
    };
    assert!(boot().ends_with(" running"), "{}", boot());
    // At its end it tries for seconds to get rid of what waits.
    fill(&state.join("filler"));
    let gpu = fresh_gpu();
    let mut log = KernelLog::open();
    for n in 0..2000 {
        log.write(&format!("NVRM: Xid (PCI:{gpu}): 31, number {n}"));
    }
    eventually("records wait", || daemon.status().store_problem);
    let pid = rustix::process::Pid::from_child(&daemon.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let stops = || daemon.log().contains("stopping").then_some(());
    eventually("it stops", stops);
    // As systemd does after TimeoutStopSec.
    daemon.kill9();
    assert!(boot().ends_with(" stopped"), "{}", boot());
}

#[test]
fn root_a_full_disk_is_said_and_nothing_is_lost_once_there_is_room() {
    let Some(_turn) = Turn::take() else { return };
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    let _unmount = small_disk(&state);
    let state_arg = state.to_str().unwrap();
    let daemon = Daemon::start_in(dir.path(), &["--state-dir", state_arg]);
    let gpu = fresh_gpu();
    let mut log = KernelLog::open();
    log.write(&format!("NVRM: Xid (PCI:{gpu}): 13, before"));
    let stored = || events_in(&state, &["--gpu", &gpu]);
    eventually("the first is stored", || {
        (stored().len() == 1).then_some(())
    });
    let filler = state.join("filler");
    fill(&filler);
    for n in 0..2000 {
        log.write(&format!("NVRM: Xid (PCI:{gpu}): 31, number {n}"));
    }
    eventually("the trouble is said", || daemon.status().store_problem);
    assert!(daemon.log().contains("wait"), "{}", daemon.log());
    fs::remove_file(filler).unwrap();
    mount(&["-o", "remount,size=128m", state.to_str().unwrap()]);
    let total = || occurrences(&stored());
    eventually("all are stored", || (total() >= 2001).then_some(()));
    assert_eq!(total(), 2001);
    assert_eq!(daemon.status().store_problem, None);
    verify(&state);
    daemon.stop();
}

#[test]
fn root_a_store_damaged_after_an_orderly_end_is_moved_aside_and_reported() {
    let Some(_turn) = Turn::take() else { return };
    let dir = tempfile::tempdir().unwrap();
    let daemon = Daemon::start_in(dir.path(), &[]);
    let gpu = fresh_gpu();
    let mut log = KernelLog::open();
    for n in 0..200 {
        log.write(&format!(
            "NVRM: Xid (PCI:{gpu}): 31, pid={n}, name=job{n}, a fault"
        ));
    }
    let args = ["--gpu", &gpu];
    daemon.wait_events(&args, |events| occurrences(events) >= 200);
    daemon.stop();
    let store = fs::OpenOptions::new()
        .write(true)
        .open(dir.path().join("store.db"))
        .unwrap();
    let pages = store.metadata().unwrap().len() / 4096;
    store.write_all_at(&[0x5a; 4096], pages / 2 * 4096).unwrap();

    let daemon = Daemon::start_in(dir.path(), &[]);
    let events = daemon.wait_events(&["--kind", "records_removed"], |events| !events.is_empty());
    let moved = events[0].detail.removal.moved_to.clone().unwrap();
    assert!(fs::exists(&moved).unwrap(), "{moved}");
    let metrics = daemon.client().get_text("/metrics").unwrap();
    assert!(
        metrics.contains("gtrace_store_moved_aside_total 1"),
        "{metrics}"
    );
    assert!(
        metrics.contains("gtrace_store_size_bytes{part=\"used\"}"),
        "{metrics}"
    );
    let printed = daemon.log();
    assert!(
        printed.contains(&moved) && !printed.contains("MovedAside {"),
        "{printed}"
    );
    assert_eq!(daemon.status().store_problem, None);
    log.write(&format!("NVRM: Xid (PCI:{gpu}): 79, after"));
    daemon.wait_events(&args, |events| {
        events.iter().any(|e| e.message.ends_with("after"))
    });
    verify(dir.path());
    daemon.stop();
}

struct Unmount(String);

impl Drop for Unmount {
    fn drop(&mut self) {
        // Lazily: a failed test may still have files open there.
        let _ = Command::new("umount").args(["-l", &self.0]).status();
    }
}

#[test]
fn root_what_cannot_work_is_refused_with_cause_remedy_and_exit_code() {
    let Some(_turn) = Turn::take() else { return };
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let garbage = file("garbage.toml", "slow_call_ms = 1\n\u{1}\u{2} = [[[");
    let policy = file("policy.toml", "[[rule]]\nxid = \"many\"");
    let expect = |option: &str, value: &str, code: i32, hints: &str| {
        let _ = fs::remove_file(&log);
        let (got, printed) = refused(run_command(dir.path(), &[option, value]), dir.path());
        assert_eq!(got, code, "{option} {value}: {printed}");
        for hint in hints.split(", ") {
            assert!(
                printed.contains(hint),
                "{option} {value} lacks {hint}: {printed}"
            );
        }
    };
    let absent = "/does/not/exist";
    expect("--state-dir", "/proc/gtrace", NOT_POSSIBLE, "/proc/gtrace");
    expect("--ring-bytes", "5000", USAGE, "ring_bytes, power of two");
    expect("--config", &garbage, USAGE, "garbage.toml, line 2");
    expect("--config", absent, USAGE, "/does/not/exist, --config");
    expect("--site-policy", &policy, NOT_POSSIBLE, "site policy");

    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let _ = fs::remove_file(&log);
    let mut command = Command::new(GTRACE);
    command
        .args(["run", "--listen", &address, "--state-dir"])
        .arg(dir.path().join("b"));
    command.arg("--socket").arg(dir.path().join("b.sock"));
    command
        .stdout(Stdio::null())
        .stderr(fs::File::create(&log).unwrap());
    let (code, printed) = refused(command, dir.path());
    assert!(
        code == NOT_POSSIBLE && printed.contains(&address),
        "{code}: {printed}"
    );

    let daemon = Daemon::start(&[]);
    let (code, printed) = refused(run_command(&daemon.dir, &[]), &daemon.dir);
    let pid = daemon.child.id().to_string();
    assert!(
        code == NOT_POSSIBLE && printed.contains(&pid),
        "{code}: {printed}"
    );
    daemon.stop();
}
