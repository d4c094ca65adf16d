//! Threads of the daemon that panic or hang: each is reported and replaced, and events flow again.
//! Debug builds obey orders for faults by a file (see `gtrace_engine::supervise`).

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::PathBuf;

use gtrace_api::{SourceState, Status, TaskState, TaskStatus};
use gtrace_event::{Event, Kind, WitnessName};
use tempfile::TempDir;

use crate::harness::*;

/// A daemon that obeys orders for faults.
struct Faulty {
    daemon: Daemon,
    dir: TempDir,
}

impl Faulty {
    fn start() -> Self {
        let dir = TempDir::new().unwrap();
        let daemon = Self::start_in(&dir, &[]);
        Self { daemon, dir }
    }

    fn start_in(dir: &TempDir, environment: &[(&str, &str)]) -> Daemon {
        let mut command = printing_command(dir.path(), &[]);
        command.envs(environment.iter().copied());
        command.args(["--cuda-api", "--pci-interval-s", "1"]);
        command.env("GTRACE_FAULT_FILE", dir.path().join("fault.order"));
        Daemon::wait_ready(dir.path(), command.spawn().unwrap())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Has `task` panic or hang, and waits until it does.
    fn order(&self, what: &str, task: &str) {
        fs::write(self.file("fault.new"), format!("{what}:{task}")).unwrap();
        fs::rename(self.file("fault.new"), self.file("fault.order")).unwrap();
        eventually("the fault", || {
            (!self.file("fault.order").exists()).then_some(())
        });
    }

    /// Every task of the registry that another thread can replace, or none can.
    fn names(&self, replaceable: bool) -> Vec<String> {
        let tasks = self.daemon.status().tasks;
        let of_kind = tasks.into_iter().filter(|t| t.replaceable == replaceable);
        of_kind.map(|task| task.name).collect()
    }

    fn task(&self, name: &str) -> TaskStatus {
        let tasks = self.daemon.status().tasks;
        tasks.into_iter().find(|task| task.name == name).unwrap()
    }

    fn wait_state(&self, name: &str, state: TaskState) -> TaskStatus {
        eventually("the task's state", || {
            Some(self.task(name)).filter(|task| task.state == state)
        })
    }

    /// Status code and body of `/healthz`.
    fn health(&self) -> (u16, String) {
        let mut stream = UnixStream::connect(self.daemon.socket()).unwrap();
        let request = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let code = text.split(' ').nth(1).unwrap().parse().unwrap();
        (code, text)
    }

    fn is_green(&self) -> bool {
        // A host can lack what it should have; the tasks are what counts here.
        !self.health().1.contains("thread ")
    }

    fn wait_loss(&self, task: &str, reason: &str) {
        let source = |event: &Event| {
            let of_task = event.detail.source.source.as_deref() == Some(task);
            let text = event.detail.source.reason.as_deref().unwrap_or("");
            of_task && text.contains(reason)
        };
        self.daemon
            .wait_events(&["--kind", "source_lost"], |events| {
                events.iter().any(source)
            });
    }

    /// An Xid in the kernel log becomes an event that both readers of the log have seen.
    fn events_flow(&self) {
        let gpu = fresh_gpu();
        KernelLog::open().write(&format!(
            "NVRM: Xid (PCI:{gpu}): 79, GPU has fallen off the bus."
        ));
        self.daemon.wait_events(&["--gpu", &gpu], |events| {
            events.iter().any(|event| {
                event.kind == Kind::Xid
                    && seen_by(event, WitnessName::Kmsg) == 1
                    && seen_by(event, WitnessName::PrintkConsole) == 1
            })
        });
    }
}

const PANIC: &str = "panicked: a fault by order";
const HANG: &str = "hangs: no heartbeat";

#[test]
fn root_a_thread_that_panics_or_hangs_is_reported_and_started_again() {
    let Some(_turn) = Turn::take() else { return };
    let faulty = Faulty::start();
    faulty.events_flow();
    let names = faulty.names(true);
    for name in ["print", "checks", "control", "cuda"] {
        assert!(names.iter().any(|n| n == name), "{name} of {names:?}");
    }
    assert!(names.len() >= 10, "{names:?}");
    for name in &names {
        for (fault, reason) in [("panic", PANIC), ("hang", HANG)] {
            eprintln!("{fault} {name}");
            let before = faulty.task(name).restarts;
            let hold = faulty.file("fault.hold");
            fs::write(&hold, "").unwrap();
            faulty.order(fault, name);
            if name != "http" {
                let task = faulty.wait_state(name, TaskState::Restarting);
                assert!(task.reason.unwrap().contains(reason));
                let status = faulty.daemon.status();
                let of_task = status.sources.iter().filter(|source| {
                    let by_task = source.witness.is_some_and(|w| task.sources.contains(&w));
                    by_task && source.state == SourceState::Active
                });
                assert_eq!(of_task.count(), 0, "{name} is down: {:?}", status.sources);
                let (code, text) = faulty.health();
                if task.needed {
                    assert_eq!(code, 503, "{text}");
                    assert!(text.contains(&format!("thread {name}: {reason}")), "{text}");
                }
            }
            fs::remove_file(&hold).unwrap();
            eventually("the task is started again", || {
                let tasks = faulty.daemon.client().get::<Status>("/api/v1/status");
                let tasks = tasks.ok()?.tasks;
                tasks
                    .iter()
                    .find(|task| &task.name == name && task.state == TaskState::Running)
                    .filter(|task| task.restarts == before + 1)
                    .map(drop)
            });
            faulty.wait_loss(name, reason);
            eventually("health is green again", || faulty.is_green().then_some(()));
        }
        faulty.events_flow();
    }
    let metrics = faulty.daemon.client().get_text("/metrics").unwrap();
    assert!(
        metrics.contains("gtrace_task_restarts_total{task=\"kmsg\"} 2"),
        "{metrics}"
    );
    faulty.daemon.stop();
    verify(faulty.dir.path());
}

#[test]
fn root_what_only_a_new_process_starts_again_ends_this_one_with_the_reason() {
    let Some(_turn) = Turn::take() else { return };
    let mut faulty = Faulty::start();
    let names = faulty.names(false);
    assert!(names.len() >= 2, "{names:?}");
    for name in &names {
        // A hang that ends leaves nothing behind but the report of it.
        faulty.order("hang", name);
        faulty.wait_state(name, TaskState::Hung);
        let (code, text) = faulty.health();
        assert_eq!(code, 503, "{text}");
        assert!(text.contains(&format!("thread {name}: {HANG}")), "{text}");
        faulty.wait_state(name, TaskState::Running);
        assert!(faulty.is_green());
        faulty.wait_loss(name, HANG);
        faulty.events_flow();

        faulty.order("panic", name);
        let status = faulty.daemon.child.wait().unwrap();
        assert_eq!(status.code(), Some(1), "{}", faulty.daemon.log());
        assert!(
            faulty
                .daemon
                .log()
                .contains(&format!("gtrace: {name} {PANIC}"))
        );
        faulty.daemon = Faulty::start_in(&faulty.dir, &[]);
        faulty.events_flow();
    }
}

#[test]
fn root_systemd_is_not_notified_that_it_lives_while_a_needed_thread_does_not_recover() {
    let Some(_turn) = Turn::take() else { return };
    let dir = TempDir::new().unwrap();
    let notify = dir.path().join("notify.sock");
    let socket = UnixDatagram::bind(&notify).unwrap();
    socket.set_nonblocking(true).unwrap();
    let received = || {
        let mut buffer = [0; 256];
        let len = socket.recv(&mut buffer).ok()?;
        Some(String::from_utf8_lossy(&buffer[..len]).into_owned())
    };
    let environment = [
        ("NOTIFY_SOCKET", notify.to_str().unwrap()),
        ("WATCHDOG_USEC", "200000"),
    ];
    let daemon = Faulty::start_in(&dir, &environment);
    let faulty = Faulty { daemon, dir };
    let is_fed = || received().filter(|text| text.contains("WATCHDOG=1"));
    eventually("the watchdog is fed", is_fed);

    let hold = faulty.file("fault.hold");
    fs::write(&hold, "").unwrap();
    faulty.order("panic", "kmsg");
    eventually("it is unfit", || {
        // A socket that nobody reads holds up whoever feeds.
        while received().is_some() {}
        let log = faulty.daemon.log();
        log.contains("the watchdog is not fed: kmsg does not recover")
            .then_some(())
    });
    while received().is_some() {}
    // Ten times the interval at which it is fed.
    let since = faulty.task("kmsg").last_seen_ms;
    eventually("time goes on", || {
        (faulty.task("kmsg").last_seen_ms > since + 1000).then_some(())
    });
    assert_eq!(received(), None);

    fs::remove_file(&hold).unwrap();
    eventually("the watchdog is fed again", is_fed);
    faulty.daemon.stop();
}
