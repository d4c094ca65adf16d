//! CUDA calls of programs that start while the daemon runs, which has given up most privileges by then. They
//! call the CPU emulator's library.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use gtrace_agent::{Read, Sampler as _, Wanted};
use gtrace_api::{CudaReport, CudaState};
use gtrace_collect::HostSampler;
use gtrace_devices::NvmlConfig;
use gtrace_fleet::Metric;

use crate::caller::{self, Caller};
use crate::harness::*;

/// Run statistics off, so that the daemon has no reason to keep CAP_SYS_ADMIN; calls at any cost.
const EXACT: [&str; 5] = [
    "--cuda-api",
    "--cuda-api-budget",
    "0",
    "--probe-cost-interval-s",
    "0",
];

/// Kernel memory of all maps that the daemon may have.
const MOST_MAP_BYTES: u64 = 32 << 20;

fn report(daemon: &Daemon) -> CudaReport {
    daemon.client().get("/api/v1/cuda").unwrap()
}

fn probed(daemon: &Daemon, library: &Path) {
    let path = library.display().to_string();
    eventually("the library is probed", || {
        let libraries = report(daemon).libraries;
        libraries.iter().any(|l| l.path == path).then_some(())
    });
}

/// Reads CUDA calls as a profiling session of a fleet does.
fn sampler(daemon: &Daemon) -> HostSampler {
    let mut sampler = HostSampler::new(Box::new(NvmlConfig::this_program), daemon.client());
    sampler.want(Some(&Wanted {
        every_ms: 100,
        metrics: vec![Metric::CudaCalls],
    }));
    sampler
}

/// Waits until calls, errors and bytes by function are what the program reports.
fn assert_seen(daemon: &Daemon, pid: u32, deeds: &BTreeMap<String, [u64; 3]>) {
    let mut seen = BTreeMap::new();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while seen != *deeds && std::time::Instant::now() < deadline {
        let calls = report(daemon).calls.into_iter();
        let of_it = calls.filter(|row| row.pid == Some(pid));
        seen = of_it
            .map(|row| (row.function, [row.calls, row.errors, row.bytes]))
            .collect();
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_eq!(seen, *deeds, "calls, errors, bytes; {}", daemon.log());
}

fn capabilities(daemon: &Daemon) -> u64 {
    let path = format!("/proc/{}/status", daemon.child.id());
    let status = std::fs::read_to_string(path).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    u64::from_str_radix(line.unwrap().trim(), 16).unwrap()
}

#[test]
fn root_cuda_calls_are_off_unless_asked_for() {
    let Some(_turn) = Turn::take() else { return };
    let daemon = Daemon::start(&[]);
    assert_eq!(report(&daemon).state, CudaState::Off);
    let metrics = daemon.client().get_text("/metrics").unwrap();
    assert!(!metrics.contains("gtrace_cuda"), "{metrics}");
    let mut sampler = sampler(&daemon);
    eventually("a session says why it has no CUDA calls", || {
        let problem = sampler.take(0).problem?;
        problem.contains("--cuda-api").then_some(())
    });
    daemon.stop();
}

#[test]
fn root_cuda_calls_of_a_program_that_starts_later_are_rows_sums_and_a_ledger() {
    let Some(_turn) = Turn::take() else { return };
    let daemon = Daemon::start(&EXACT);
    eventually("calls are counted", || {
        (report(&daemon).state == CudaState::Active).then_some(())
    });
    // CAP_SYS_ADMIN.
    assert_eq!(capabilities(&daemon) >> 21 & 1, 0);
    let dir = tempfile::tempdir().unwrap();
    let library = caller::library(dir.path());
    let mut command = Command::new(caller::compile(dir.path()));
    let mut program = Caller::spawn(command.arg(&library).args(["many", "700"]));
    program.until("open");
    probed(&daemon, &library);
    let mut sampler = sampler(&daemon);
    eventually("a session has read what was counted before", || {
        let readings = sampler.take(0).readings;
        let mut reads = readings.iter().map(|reading| &reading.read);
        reads.any(|read| *read == Read::Nothing).then_some(())
    });
    program.go_on();
    let deeds = program.deeds();
    assert_seen(&daemon, program.pid(), &deeds);
    let made: u64 = deeds.values().map(|[calls, ..]| calls).sum();
    let mut counted = 0;
    eventually("a session has the calls that were made in it", || {
        for reading in sampler.take(0).readings {
            if let Read::CudaCalls(calls) = reading.read {
                assert!(
                    calls.p50_ns > 0 && calls.p50_ns <= calls.max_ns,
                    "{calls:?}"
                );
                counted += calls.count;
            }
        }
        (counted >= made).then_some(())
    });
    assert_eq!(counted, made);

    let found = report(&daemon);
    assert!(found.lost.is_empty(), "{:?}", found.lost);
    let ledger = found
        .memory
        .iter()
        .find(|m| m.pid == program.pid())
        .unwrap();
    assert_eq!(
        ledger.live_bytes,
        ledger.allocated_bytes - ledger.freed_bytes
    );
    assert!(ledger.live_bytes > 0 && ledger.peak_bytes >= ledger.live_bytes);
    // Those of before the library was found.
    assert_eq!(ledger.unknown_frees, 8);
    let metrics = daemon.client().get_text("/metrics").unwrap();
    for (function, [calls, errors, bytes]) in &deeds {
        let of = format!("{{process=\"caller\",function=\"{function}\"}}");
        for line in [
            format!("gtrace_cuda_calls_total{of} {calls}.0"),
            format!("gtrace_cuda_call_errors_total{of} {errors}.0"),
            format!("gtrace_cuda_call_data_bytes_total{of} {bytes}.0"),
            format!("gtrace_cuda_call_seconds_count{of} {calls}"),
        ] {
            assert!(metrics.lines().any(|l| l == line), "{line}\n{metrics}");
        }
    }
    let live = format!(
        "gtrace_cuda_memory_live_bytes{{process=\"caller\",pid=\"{}\"}} {}.0",
        program.pid(),
        ledger.live_bytes
    );
    assert!(metrics.lines().any(|l| l == live), "{live}\n{metrics}");
    let maps = daemon.status().footprint.map_bytes;
    assert!(maps > found.map_bytes && maps <= MOST_MAP_BYTES, "{maps}");

    let socket = daemon.socket();
    let top = |options: &[&str]| {
        let once = ["top", "--once", "--socket", socket.to_str().unwrap()];
        let output = gtrace(&[&once, options].concat());
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let pid = program.pid().to_string();
    let json: serde_json::Value =
        serde_json::from_str(&top(&["--json", "--filter", &pid, "--sort", "cpu"])).unwrap();
    let process = &json["processes"][0];
    assert_eq!(process["comm"], "caller", "{json}");
    let calls: u64 = deeds.values().map(|[calls, ..]| calls).sum();
    assert_eq!(process["api"]["calls"], calls);
    assert_eq!(process["ledger_bytes"], ledger.live_bytes);
    assert!(
        process["cpu_seconds"]
            .as_f64()
            .is_some_and(|cpu| cpu >= 0.0)
    );
    let text = top(&["--filter", &pid]);
    let line = text
        .lines()
        .find(|line| line.trim_start().starts_with(&pid));
    assert!(line.is_some_and(|line| line.contains("caller")), "{text}");

    // The sums of a name go on with the next process of it.
    drop(program);
    let mut program = Caller::spawn(&mut command);
    program.until("open");
    program.go_on();
    program.deeds();
    let copies = 2 * deeds["cuMemcpyHtoD_v2"][0];
    let wanted = format!(
        "gtrace_cuda_calls_total{{process=\"caller\",function=\"cuMemcpyHtoD_v2\"}} {copies}.0"
    );
    eventually("the second process is counted too", || {
        let metrics = daemon.client().get_text("/metrics").unwrap();
        metrics.lines().any(|line| line == wanted).then_some(())
    });
    daemon.stop();
}

#[test]
fn root_cuda_calls_in_a_container_and_of_a_library_that_was_deleted_are_counted() {
    let Some(_turn) = Turn::take() else { return };
    let daemon = Daemon::start(&EXACT);
    let dir = tempfile::tempdir().unwrap();
    let (library, built) = (caller::library(dir.path()), caller::compile(dir.path()));
    // A mount namespace where a path leads to the library that leads nowhere outside.
    let script = format!(
        "mount -t tmpfs none /mnt && cp {} /mnt/libcuda.so.1 && exec {} /mnt/libcuda.so.1 many 300 2",
        library.display(),
        built.display()
    );
    let mut command = Command::new("unshare");
    let mut contained = Caller::spawn(command.args(["--mount", "sh", "-c", &script]));
    contained.until("open");
    probed(&daemon, Path::new("/mnt/libcuda.so.1"));
    contained.go_on();
    let deeds = contained.deeds();
    assert_seen(&daemon, contained.pid(), &deeds);

    // An upgrade, while the program runs.
    let mut command = Command::new(&built);
    let mut replaced = Caller::spawn(command.arg(&library).args(["again", "300", "/dev/null"]));
    replaced.until("ready");
    std::fs::remove_file(&library).unwrap();
    eventually("the deleted library is probed", || {
        let libraries = report(&daemon).libraries;
        libraries.iter().any(|l| l.deleted).then_some(())
    });
    daemon.stop();
}

#[test]
fn root_a_pause_takes_the_probes_on_cuda_calls_away_and_a_resumption_brings_them_back() {
    let Some(_turn) = Turn::take() else { return };
    let daemon = Daemon::start(&EXACT);
    let dir = tempfile::tempdir().unwrap();
    let library = caller::library(dir.path());
    let mut command = Command::new(caller::compile(dir.path()));
    let mut program = Caller::spawn(command.arg(&library).args(["time", "50"]));
    program.until("open");
    probed(&daemon, &library);
    // Five parts of fifty calls each time.
    let calls = |program: &mut Caller| {
        program.go_on();
        program.until("timed");
    };
    let pid = program.pid();
    let seen = || -> u64 {
        let rows = report(&daemon).calls.into_iter();
        let rows = rows.filter(|row| row.pid == Some(pid));
        rows.map(|row| row.calls).sum()
    };
    calls(&mut program);
    eventually("the first calls are seen", || (seen() == 250).then_some(()));
    daemon.gtrace("pause");
    let paused = report(&daemon);
    assert_eq!(paused.state, CudaState::Paused);
    assert!(paused.libraries.is_empty(), "{:?}", paused.libraries);
    calls(&mut program);
    daemon.gtrace("resume");
    probed(&daemon, &library);
    calls(&mut program);
    eventually("calls are seen again, those of the pause not", || {
        (seen() == 500).then_some(())
    });
    daemon.stop();
}
