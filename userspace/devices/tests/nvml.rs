//! NVML through the real child process and its protocol, over a fake library.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "nvml/readings.rs"]
mod readings;
mod support;

use std::process::Command;
use std::time::{Duration, Instant};

use gtrace_devices::{NvmlClient, NvmlConfig, NvmlError, NvmlSnapshot, NvmlState};
use support::{child_program, fake_nvml};

/// A child over the fake library, with these environment variables.
fn config(env: &[(&str, &str)]) -> NvmlConfig {
    let env: Vec<(String, String)> = env
        .iter()
        .map(|(k, v)| ((*k).into(), (*v).into()))
        .collect();
    with_command(move || {
        let mut command = Command::new(child_program());
        command
            .arg("nvml-child")
            .arg(fake_nvml())
            .envs(env.iter().cloned());
        command
    })
}

fn with_command(command: impl Fn() -> Command + Send + 'static) -> NvmlConfig {
    NvmlConfig {
        deadline: Duration::from_secs(10),
        retry: (Duration::from_millis(20), Duration::from_millis(100)),
        retry_start: (Duration::from_millis(20), Duration::from_millis(100)),
        driver_loaded: None,
        ..NvmlConfig::with_command(command)
    }
}

fn shell(script: &'static str) -> NvmlConfig {
    with_command(move || {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    })
}

fn client(config: NvmlConfig) -> NvmlClient {
    NvmlClient::new(config).unwrap()
}

/// The next attempt's answer, not the repeated failure of the last one.
fn attempt(client: &NvmlClient) -> Result<NvmlSnapshot, NvmlError> {
    std::thread::sleep(Duration::from_millis(150));
    client.sample()
}

#[test]
fn a_library_that_prints_does_not_disturb_the_protocol() {
    let mut config = config(&[("FAKE_NVML_CHATTER", "1")]);
    let inner = config.command;
    config.command = Box::new(move || {
        let mut command = inner();
        command.stderr(std::process::Stdio::null());
        command
    });
    let client = client(config);
    assert_eq!(client.sample().unwrap().gpus.len(), 1);
    assert_eq!(client.sample().unwrap().gpus.len(), 1);
    assert_eq!(client.status().starts, 1);
}

#[test]
fn a_host_without_gpus_has_an_empty_sample() {
    let snapshot = client(config(&[("FAKE_NVML_GPUS", "0")])).sample().unwrap();
    assert!(snapshot.gpus.is_empty() && snapshot.unreadable.is_empty());
}

#[test]
fn a_hang_is_answered_at_the_deadline_and_the_child_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let once = dir.path().join("hung");
    let env = [
        ("FAKE_NVML_HANG", "nvmlDeviceGetPowerUsage"),
        ("FAKE_NVML_ONCE", once.to_str().unwrap()),
    ];
    let config = NvmlConfig {
        deadline: Duration::from_secs(2),
        ..config(&env)
    };
    let client = client(config);
    let start = Instant::now();
    let error = client.sample().unwrap_err();
    assert!(matches!(error, NvmlError::Hung(_)), "{error}");
    let took = start.elapsed();
    assert!(
        took >= Duration::from_secs(2) && took < Duration::from_secs(4),
        "{took:?}"
    );
    let status = client.status();
    assert_eq!((status.state, status.hangs), (NvmlState::Hung, 1));
    // The next child does not hang.
    assert_eq!(attempt(&client).unwrap().gpus.len(), 1);
    let status = client.status();
    assert_eq!(
        (status.state, status.starts, status.hangs),
        (NvmlState::Ok, 2, 1)
    );
}

/// Three GPUs; the one whose index is written to the file never answers, and is left out for `wait` then.
fn three_gpus(wait: Duration) -> (NvmlClient, std::path::PathBuf, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let silent = dir.path().join("silent");
    let env = [
        ("FAKE_NVML_GPUS", "3"),
        ("FAKE_NVML_SILENT", silent.to_str().unwrap()),
    ];
    let client = client(NvmlConfig {
        deadline: Duration::from_secs(2),
        retry: (wait, wait),
        retry_start: (wait, wait),
        ..config(&env)
    });
    (client, silent, dir)
}

/// The indices of the GPUs that were read, and of those that were silent.
fn read_and_silent(snapshot: &NvmlSnapshot) -> (Vec<u32>, Vec<u32>) {
    let silent = snapshot.unreadable.iter().filter(|gpu| gpu.silent);
    let read = snapshot.gpus.iter().map(|gpu| gpu.index);
    (read.collect(), silent.map(|gpu| gpu.index).collect())
}

const HOUR: Duration = Duration::from_secs(3600);

#[test]
fn a_silent_gpu_does_not_stop_the_samples_of_the_others() {
    let (client, silent, _dir) = three_gpus(HOUR);
    assert_eq!(client.sample().unwrap().gpus.len(), 3);
    std::fs::write(&silent, "1").unwrap();
    // What was read before it was asked.
    let snapshot = client.sample().unwrap();
    assert_eq!(read_and_silent(&snapshot), (vec![0], vec![1]));
    assert!(snapshot.cut_short);
    for _ in 0..3 {
        let snapshot = client.sample().unwrap();
        assert_eq!(read_and_silent(&snapshot), (vec![0, 2], vec![1]));
        assert!(!snapshot.cut_short);
        assert_eq!(snapshot.driver_version.as_deref(), Some("535.129.03"));
        let at = snapshot.unreadable[0].pci.map(|pci| pci.to_string());
        assert_eq!(at.as_deref(), Some("0000:3c:00.0"));
    }
    let status = client.status();
    assert_eq!(
        (status.state, status.starts, status.hangs),
        (NvmlState::Ok, 2, 1),
        "it is left alone"
    );
    let reason = status.reason.unwrap();
    assert!(reason.contains("GPU 1 (0000:3c:00.0)"), "{reason}");
    // Somebody asks for it, or a card has come or gone.
    std::fs::remove_file(&silent).unwrap();
    client.resume();
    let snapshot = client.sample().unwrap();
    assert_eq!(read_and_silent(&snapshot), (vec![0, 1, 2], vec![]));
    assert_eq!(client.status().reason, None);
}

#[test]
fn a_silent_gpu_is_asked_last_when_it_is_asked_again() {
    let (client, silent, _dir) = three_gpus(Duration::ZERO);
    client.sample().unwrap();
    std::fs::write(&silent, "0").unwrap();
    // Nothing was read before it, the first time.
    assert!(matches!(client.sample(), Err(NvmlError::Hung(_))));
    for hangs in 2..4 {
        let snapshot = client.sample().unwrap();
        assert_eq!(read_and_silent(&snapshot), (vec![1, 2], vec![0]));
        assert_eq!(client.status().hangs, hangs);
    }
    std::fs::remove_file(&silent).unwrap();
    let snapshot = client.sample().unwrap();
    assert_eq!(read_and_silent(&snapshot), (vec![0, 1, 2], vec![]));
}

#[test]
fn several_threads_share_one_answer_and_close_interrupts_a_hang() {
    let config = config(&[("FAKE_NVML_HANG", "nvmlDeviceGetCount_v2")]);
    let client = client(config);
    std::thread::scope(|scope| {
        let waiting: Vec<_> = (0..3).map(|_| scope.spawn(|| client.sample())).collect();
        let started = Instant::now();
        while client.status().pid.is_none() {
            assert!(
                started.elapsed() < Duration::from_secs(10),
                "{:?}",
                client.status()
            );
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(200));
        let start = Instant::now();
        assert!(client.close(), "the child is gone");
        assert!(start.elapsed() < Duration::from_secs(3));
        for thread in waiting {
            assert_eq!(thread.join().unwrap(), Err(NvmlError::Closed));
        }
    });
    assert_eq!(client.status().starts, 1);
}

#[test]
fn a_crash_is_reported_and_the_child_started_anew() {
    let dir = tempfile::tempdir().unwrap();
    let once = dir.path().join("crashed");
    let env = [
        ("FAKE_NVML_ABORT", "nvmlDeviceGetName"),
        ("FAKE_NVML_ONCE", once.to_str().unwrap()),
    ];
    let client = client(config(&env));
    let error = client.sample().unwrap_err();
    assert!(
        matches!(&error, NvmlError::Failed(why) if why.contains("signal: 6")),
        "{error}"
    );
    assert_eq!(client.status().failures, 1);
    assert_eq!(attempt(&client).unwrap().gpus.len(), 1);
    assert_eq!(client.status().starts, 2);
}

#[test]
fn an_absent_library_and_an_unloaded_driver_are_no_failures() {
    let client = client(with_command(|| {
        let mut command = Command::new(child_program());
        command.args(["nvml-child", "/nonexistent/libnvidia-ml.so.1"]);
        command
    }));
    assert!(matches!(client.sample(), Err(NvmlError::Absent(why)) if why.contains("nonexistent")));
    let status = client.status();
    assert_eq!(
        (status.state, status.failures, status.pid),
        (NvmlState::Absent, 0, None)
    );

    let client = self::client(config(&[("FAKE_NVML_INIT", "9")]));
    assert!(matches!(client.sample(), Err(NvmlError::Absent(_))));

    let client = self::client(config(&[("FAKE_NVML_INIT", "18")]));
    let error = client.sample().unwrap_err();
    assert!(
        matches!(&error, NvmlError::Failed(why) if why.contains("mismatch")),
        "{error}"
    );
}

#[test]
fn no_child_runs_while_the_driver_is_not_loaded() {
    let dir = tempfile::tempdir().unwrap();
    let version = dir.path().join("version");
    let client = client(NvmlConfig {
        driver_loaded: Some(version.clone()),
        ..config(&[])
    });
    assert!(matches!(client.sample(), Err(NvmlError::Absent(_))));
    assert_eq!(client.status().starts, 0);
    std::fs::write(&version, "").unwrap();
    assert!(client.sample().is_ok());
    assert!(client.status().pid.is_some());
    std::fs::remove_file(&version).unwrap();
    assert!(matches!(client.sample(), Err(NvmlError::Absent(_))));
    assert_eq!(
        client.status().pid,
        None,
        "the child must not hold the driver"
    );
}

#[test]
fn a_lost_gpu_does_not_hide_the_others() {
    let env = [
        ("FAKE_NVML_GPUS", "4"),
        ("FAKE_NVML_LOST", "1"),
        ("FAKE_NVML_CLOSED", "2"),
    ];
    let snapshot = client(config(&env)).sample().unwrap();
    let lost: Vec<bool> = snapshot.gpus.iter().map(|g| g.lost).collect();
    assert_eq!(lost, [false, true, false]);
    assert_eq!(snapshot.gpus[1].errors.len(), 1, "asked once only");
    assert_eq!(snapshot.gpus[1].pci.to_string(), "0000:3c:00.0");
    assert_eq!(
        (snapshot.unreadable[0].index, snapshot.unreadable[0].lost),
        (2, true)
    );
}

#[test]
fn close_ends_the_child_until_resume() {
    let client = client(config(&[]));
    client.sample().unwrap();
    let pid = client.status().pid.unwrap();
    assert!(client.close());
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
    assert_eq!(client.sample(), Err(NvmlError::Closed));
    assert_eq!(
        (client.status().state, client.status().pid),
        (NvmlState::Closed, None)
    );
    client.resume();
    assert!(client.sample().is_ok());
}

#[test]
fn a_child_that_lies_is_a_failure() {
    // Nothing outlives the shell that is killed: it would keep the test's own output open.
    for (script, why) in [
        ("read x; echo nonsense; exec sleep 60", "bad answer"),
        (
            "read x; echo '{\"id\":7,\"ok\":{\"gpus\":[]}}'; exec sleep 60",
            "not asked",
        ),
        (
            "read x; head -c 9000000 /dev/zero | tr '\\0' x; exec sleep 60",
            "overlong",
        ),
        (
            "read x; while :; do echo '{\"id\":1,\"asks\":{\"index\":0,\"count\":1}}'; done",
            "does not come to an end",
        ),
        ("read x; printf '{\"id\":1'", "ended (exit status: 0)"),
        ("exit 3", "exit status: 3"),
        ("yes", ""),
    ] {
        let client = client(shell(script));
        let start = Instant::now();
        let error = client.sample().unwrap_err();
        assert!(
            matches!(&error, NvmlError::Failed(w) if w.contains(why)),
            "{script}: {error}"
        );
        assert!(start.elapsed() < Duration::from_secs(8), "{script}");
        let status = client.status();
        assert_eq!(
            (status.state, status.pid),
            (NvmlState::Failed, None),
            "{script}"
        );
        assert_eq!(
            client.sample(),
            Err(error),
            "repeated until the next attempt is due"
        );
        assert_eq!(client.status().starts, 1);
    }
}

#[test]
fn a_program_that_cannot_be_started_is_a_failure() {
    let client = client(with_command(|| Command::new("/nonexistent/gtrace")));
    assert!(matches!(client.sample(), Err(NvmlError::Failed(_))));
}

#[test]
fn the_child_ends_with_its_input() {
    let mut child = Command::new(child_program())
        .args(["nvml-child", "/nonexistent"])
        .stdin(std::process::Stdio::null())
        .spawn()
        .unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn the_child_outlives_the_thread_that_asked_first() {
    let client = client(config(&[]));
    std::thread::scope(|scope| {
        scope.spawn(|| client.sample().unwrap()).join().unwrap();
    });
    std::thread::sleep(Duration::from_millis(100));
    client.sample().unwrap();
    assert_eq!(client.status().starts, 1);
}

#[test]
fn a_gpu_that_does_not_initialise_is_left_alone_and_one_that_worked_is_asked_again_soon() {
    let children = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let patient = |env: &[(&str, &str)], deadline| {
        let children = std::sync::Arc::clone(&children);
        client(NvmlConfig {
            deadline,
            retry: (Duration::ZERO, Duration::ZERO),
            retry_start: (HOUR, HOUR),
            started: Box::new(move |pid| children.lock().unwrap().push(pid)),
            ..config(env)
        })
    };
    // nvmlInit opens the GPUs; it takes seconds where one does not initialise.
    let hang = [("FAKE_NVML_HANG", "nvmlDeviceGetCount_v2")];
    let client = patient(&hang, Duration::from_millis(200));
    for _ in 0..3 {
        assert!(matches!(client.sample(), Err(NvmlError::Hung(_))));
    }
    assert_eq!((client.status().starts, client.status().hangs), (1, 1));
    // The driver was loaded anew, a card has come, or somebody asks for it.
    client.resume();
    assert!(matches!(client.sample(), Err(NvmlError::Hung(_))));
    assert_eq!(client.status().starts, 2);

    let client = patient(&[], Duration::from_secs(10));
    client.sample().unwrap();
    let pid = client.status().pid.unwrap();
    let process = rustix::process::Pid::from_raw(pid as i32).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::KILL).unwrap();
    // The first one finds the child gone, if it was not seen to go before.
    let again = client.sample().or_else(|_| client.sample()).unwrap();
    assert_eq!((again.gpus.len(), client.status().starts), (1, 2));
    assert_eq!(children.lock().unwrap().len(), 4);
    assert!(children.lock().unwrap().contains(&pid));
}
