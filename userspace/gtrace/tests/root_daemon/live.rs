//! From a line in the kernel log to an event that stands there explained.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use gtrace_event::{Event, Provenance, WitnessName};

use crate::caller::Running;
use crate::harness::*;

#[test]
fn root_a_drill_comes_through_marked_explained_and_with_both_witnesses() {
    let Some(_turn) = Turn::take() else { return };
    let daemon = Daemon::start(&[]);
    read_history(&daemon);
    let before = [counted(&daemon, "injected"), drills(&daemon)];
    let faults = [counted(&daemon, "kernel"), counted(&daemon, "unknown")];
    let open_faults = daemon.status().events;
    let gpu = format!("{}.0", fresh_gpu());
    let args = [
        "inject",
        "xid",
        "79",
        "--gpu",
        &gpu,
        "--pid",
        "4000000",
        "--comm",
        "my, odd (proc)",
    ];
    assert!(gtrace(&args).status.success());
    let events = daemon.wait_events(&["--gpu", &gpu, "--kind", "xid"], |events| {
        events.len() == 1 && events[0].witnesses.len() == 2
    });
    let event = &events[0];
    assert_eq!(event.provenance, Provenance::Injected);
    assert_eq!(event.detail.xid.xid, Some(79));
    assert_eq!(
        event.process.as_ref().unwrap().comm.as_deref(),
        Some("my, odd (proc)")
    );
    assert!(event.advice.as_ref().unwrap().meaning.is_some());
    assert_eq!(seen_by(event, WitnessName::PrintkConsole), 1);
    assert_eq!(seen_by(event, WitnessName::Kmsg), 1);
    let after = [counted(&daemon, "injected"), drills(&daemon)];
    assert_eq!(after, before.map(|n| n + 1), "counted and shown as a drill");
    let not = [counted(&daemon, "kernel"), counted(&daemon, "unknown")];
    assert_eq!((not, daemon.status().events), (faults, open_faults));
    let id = event.id.to_string();
    daemon.gtrace(&format!("ack {id} --by a --note b"));
    let dir = daemon.dir.clone();
    let store = daemon.store();
    let keep = tempfile::tempdir().unwrap();
    let copy = keep.path().join("store.db");
    assert_eq!(events_in(&dir, &["--gpu", &gpu])[0].acks[0].by, "a");
    daemon_stops_and_store_survives(daemon, &store, &copy);
    let events = events_in(keep.path(), &["--gpu", &gpu]);
    assert_eq!((events.len(), events[0].acks.len()), (1, 1));
    verify(keep.path());
}

/// Waits until the kernel log's history is read.
fn read_history(daemon: &Daemon) {
    let gpu = fresh_gpu();
    KernelLog::open().write(&format!("NVRM: Xid (PCI:{gpu}): 8, what is logged now"));
    daemon.wait_events(&["--gpu", &gpu], |events| {
        events.len() == 1 && seen_by(&events[0], WitnessName::Kmsg) == 1
    });
}

/// How many Xid 79 of GPUs that do not exist were counted.
fn counted(daemon: &Daemon, provenance: &str) -> u64 {
    let labels = format!("{{gpu=\"other\",xid=\"79\",provenance=\"{provenance}\"}}");
    metric(daemon, &format!("gtrace_xid_total{labels}"))
}

/// How many drills are open.
fn drills(daemon: &Daemon) -> u64 {
    let apart = daemon.status().events_apart;
    apart.get("injected").map_or(0, |open| open.values().sum())
}

fn daemon_stops_and_store_survives(
    mut daemon: Daemon,
    store: &std::path::Path,
    copy: &std::path::Path,
) {
    let pid = rustix::process::Pid::from_child(&daemon.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(daemon.child.wait().unwrap().success(), "{}", daemon.log());
    std::fs::copy(store, copy).unwrap();
}

#[test]
fn root_who_wrote_a_line_is_reported_and_a_forged_one_is_no_kernel_event() {
    let Some(_turn) = Turn::take() else { return };
    let daemon = Daemon::start(&[]);
    let gpu = fresh_gpu();
    KernelLog::open().write(&format!("<3>NVRM: Xid (PCI:{gpu}): 48, DBE"));
    let events = daemon.wait_events(&["--gpu", &gpu], |events| {
        events.len() == 1 && events[0].provenance != Provenance::Unknown
    });
    assert_eq!(events[0].provenance, Provenance::Userspace);
}

#[test]
fn root_a_forged_line_without_a_newline_never_pages() {
    let Some(_turn) = Turn::take() else { return };
    let daemon = Daemon::start(&[]);
    read_history(&daemon);
    let counts = || ["userspace", "kernel", "unknown"].map(|p| counted(&daemon, p));
    let before = counts();
    let gpu = fresh_gpu();
    let follower = Command::new(GTRACE)
        .args([
            "events", "--follow", "--json", "--since", "1m", "--gpu", &gpu,
        ])
        .arg("--socket")
        .arg(daemon.socket())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // Ends with the test, which may fail: it keeps what it has inherited.
    let mut follower = Running(follower);
    let mut lines = BufReader::new(follower.0.stdout.take().unwrap()).lines();
    let mut log = KernelLog::open();
    log.write(&format!(
        "NVRM: Xid (PCI:{gpu}): 13, which begins what is followed"
    ));
    lines.next().unwrap().unwrap();
    log.write_open(&format!(
        "<3>NVRM: Xid (PCI:{gpu}): 79, GPU has fallen off the bus."
    ));
    let mut seen = Vec::new();
    // gtrace ends the record itself: nothing else is logged here.
    for line in lines.by_ref() {
        let event: Event = serde_json::from_str(&line.unwrap()).unwrap();
        if event.detail.xid.xid != Some(79) {
            continue;
        }
        let action = event.advice.as_ref().and_then(|advice| advice.action);
        assert_ne!(action, Some(gtrace_event::Action::Page), "{event:#?}");
        seen.push(event.provenance);
        if event.provenance != Provenance::Unknown {
            break;
        }
    }
    assert_eq!(seen.last(), Some(&Provenance::Userspace));
    assert_eq!(counts(), [before[0] + 1, before[1], before[2]]);
    daemon.stop();
}

#[test]
fn root_a_record_with_an_inner_newline_is_one_event() {
    let Some(_turn) = Turn::take() else { return };
    let daemon = Daemon::start(&[]);
    let gpu = fresh_gpu();
    let text = format!(
        "NVRM: The NVIDIA GPU {gpu}.0\nNVRM: (PCI ID: 10de:1db6) installed in this system has\n\
         NVRM: fallen off the bus and is not responding to commands."
    );
    KernelLog::open().write(&text);
    let events = daemon.wait_events(&["--gpu", &gpu], |events| {
        events.first().is_some_and(|e| e.witnesses.len() == 2)
    });
    assert_eq!(events.len(), 1, "{events:#?}");
    assert_eq!(events[0].message, text);
}

#[test]
fn root_follow_prints_history_then_what_comes_and_ends_with_the_reader() {
    let Some(_turn) = Turn::take() else { return };
    let daemon = Daemon::start(&[]);
    let gpu = fresh_gpu();
    let mut log = KernelLog::open();
    log.write(&format!("NVRM: Xid (PCI:{gpu}): 43, before"));
    daemon.wait_events(&["--gpu", &gpu], |events| events.len() == 1);
    let mut follower = Command::new(GTRACE)
        .args([
            "events", "--follow", "--json", "--since", "1m", "--gpu", &gpu, "--socket",
        ])
        .arg(daemon.socket())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(follower.stdout.take().unwrap()).lines();
    let mut next = |text: &str| {
        lines
            .by_ref()
            .map(|line| serde_json::from_str::<Event>(&line.unwrap()).unwrap())
            .find(|event| event.message.ends_with(text))
            .unwrap()
    };
    next("before");
    log.write(&format!("NVRM: Xid (PCI:{gpu}): 43, after"));
    assert_eq!(next("after").detail.xid.xid, Some(43));
    follower.kill().unwrap();
    follower.wait().unwrap();
    daemon.stop();
}

#[test]
fn root_history_from_before_the_start_is_taken_up_once() {
    let Some(_turn) = Turn::take() else { return };
    let gpu = fresh_gpu();
    KernelLog::open().write(&format!("NVRM: Xid (PCI:{gpu}): 62, before the start"));
    let dir = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let daemon = Daemon::start_in(dir.path(), &[]);
        let events = daemon.wait_events(&["--gpu", &gpu], |events| !events.is_empty());
        assert_eq!(occurrences(&events), 1);
        daemon.stop();
    }
    assert_eq!(occurrences(&events_in(dir.path(), &["--gpu", &gpu])), 1);
}

#[test]
fn root_the_daemon_gives_up_every_privilege_that_it_does_not_need() {
    let Some(_turn) = Turn::take() else { return };
    for interval in ["0", "60"] {
        let daemon = Daemon::start(&["--probe-cost-interval-s", interval]);
        let threads = format!("/proc/{}/task", daemon.child.id());
        let bits = |caps: &[u32]| caps.iter().fold(0, |mask, cap| mask | 1 << cap);
        // DAC_READ_SEARCH, SYS_PTRACE, SYSLOG, PERFMON, BPF; SYS_ADMIN where no probe attaches without.
        let mut allowed = vec![2, 19, 34, 38, 39];
        let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap();
        if paranoid.trim().parse::<i32>().unwrap() > 2 {
            allowed.push(21);
        }
        let mut seen = 0;
        for thread in std::fs::read_dir(threads).unwrap() {
            let path = thread.unwrap().path().join("status");
            // A thread that asks systemd may have ended since.
            let Ok(status) = std::fs::read_to_string(path) else {
                continue;
            };
            let mask = |name: &str| {
                let line = status.lines().find_map(|l| l.strip_prefix(name)).unwrap();
                u64::from_str_radix(line.trim(), 16).unwrap()
            };
            for set in ["CapEff:", "CapPrm:", "CapBnd:"] {
                assert_eq!(mask(set) & !bits(&allowed), 0, "{set} {status}");
            }
            assert_eq!(mask("CapInh:"), 0);
            seen += 1;
        }
        assert!(seen > 4, "{seen} threads");
        // What is left is enough for every probe.
        let attached = daemon
            .status()
            .sources
            .into_iter()
            .filter(|s| s.state == gtrace_api::SourceState::Failed);
        assert_eq!(attached.count(), 0);
        // That run statistics are off is reported; no measured figure is invented.
        if interval != "0" && !allowed.contains(&21) {
            let why = eventually("the cost of the probes is reported", || {
                daemon.status().probe_cost_unmeasured
            });
            assert!(why.contains("kernel.bpf_stats_enabled"), "{why}");
            let probes = daemon.status().probes;
            assert!(!probes.is_empty() && probes.iter().all(|probe| probe.mean_ns.is_none()));
        }
    }
}

#[test]
fn root_the_cost_of_probes_is_measured_without_privileges_where_the_kernel_counts_anyway() {
    const SYSCTL: &str = "/proc/sys/kernel/bpf_stats_enabled";
    struct Restore(String);
    impl Drop for Restore {
        fn drop(&mut self) {
            let _ = std::fs::write(SYSCTL, &self.0);
        }
    }
    let Some(_turn) = Turn::take() else { return };
    let _restore = Restore(std::fs::read_to_string(SYSCTL).unwrap());
    std::fs::write(SYSCTL, "1").unwrap();
    let daemon = Daemon::start(&["--probe-cost-interval-s", "1"]);
    eventually("the cost of the probes is measured", || {
        let status = daemon.status();
        assert_eq!(status.probe_cost_unmeasured, None);
        let mut times = status.probes.iter().map(|probe| probe.mean_ns);
        times.any(|time| time.is_some()).then_some(())
    });
}

#[test]
fn root_systemd_is_notified_when_it_is_ready_that_it_lives_and_that_it_stops() {
    let Some(_turn) = Turn::take() else { return };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("notify");
    let socket = std::os::unix::net::UnixDatagram::bind(&path).unwrap();
    socket
        .set_read_timeout(Some(std::time::Duration::from_secs(30)))
        .unwrap();
    let mut command = run_command(dir.path(), &[]);
    command
        .env("NOTIFY_SOCKET", &path)
        .env("WATCHDOG_USEC", "1000000");
    let daemon = Daemon::wait_ready(dir.path(), command.spawn().unwrap());
    let notified = || {
        let mut buffer = [0; 256];
        let len = socket.recv(&mut buffer).unwrap();
        String::from_utf8_lossy(&buffer[..len]).trim().to_owned()
    };
    assert_eq!(notified(), "READY=1");
    assert_eq!(notified(), "WATCHDOG=1");
    daemon.stop();
    let last = std::iter::repeat_with(notified).find(|word| word != "WATCHDOG=1");
    assert_eq!(last.as_deref(), Some("STOPPING=1"));
}

#[test]
fn root_the_probes_say_what_they_do_when_asked_to() {
    let Some(_turn) = Turn::take() else { return };
    let dir = tempfile::tempdir().unwrap();
    let mut command = run_command(dir.path(), &["--probe-log"]);
    command.env("GTRACE_LOG", "debug");
    let daemon = Daemon::wait_ready(dir.path(), command.spawn().unwrap());
    KernelLog::open().write("a line for the probe to speak of");
    let logged = || daemon.log().contains("printk: 32 bytes").then_some(());
    eventually("the probe speaks", logged);
    daemon.stop();
}
