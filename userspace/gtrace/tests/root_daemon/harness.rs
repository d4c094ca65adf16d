//! A daemon with a directory of its own, and the kernel log to write to.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use gtrace_api::client::{Client, Endpoint};
use gtrace_api::{SourceStatus, Status};
use gtrace_event::{Event, WitnessName};
use tempfile::TempDir;

pub const GTRACE: &str = env!("CARGO_BIN_EXE_gtrace");
/// Nothing here takes longer unless it hangs.
const PATIENCE: Duration = Duration::from_secs(30);
const DEVKMSG: &str = "/proc/sys/kernel/printk_devkmsg";

/// Skips the test without root.
#[macro_export]
macro_rules! needs_root {
    () => {
        if !gtrace_engine::host::is_root() {
            eprintln!("skipped: needs root");
            return;
        }
    };
}

/// Only one test at a time, and the kernel takes every line written to its log meanwhile.
pub struct Turn {
    _lock: File,
    devkmsg: String,
}

impl Turn {
    /// `None` without root, which is said.
    pub fn take() -> Option<Self> {
        if !gtrace_engine::host::is_root() {
            eprintln!("skipped: needs root");
            return None;
        }
        let path = std::env::temp_dir().join("gtrace-root-tests.lock");
        let lock = File::create(path).unwrap();
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
        let devkmsg = fs::read_to_string(DEVKMSG).unwrap();
        // The kernel wants the newline.
        fs::write(DEVKMSG, "on\n").unwrap();
        Some(Self {
            _lock: lock,
            devkmsg,
        })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        fs::write(DEVKMSG, &self.devkmsg).unwrap();
    }
}

pub struct Daemon {
    pub dir: PathBuf,
    pub child: Child,
    _temp: Option<TempDir>,
}

impl Daemon {
    /// A daemon in a fresh directory.
    pub fn start(args: &[&str]) -> Self {
        let temp = TempDir::new().unwrap();
        let mut daemon = Self::start_in(temp.path(), args);
        daemon._temp = Some(temp);
        daemon
    }

    /// A daemon in `dir`.
    pub fn start_in(dir: &Path, args: &[&str]) -> Self {
        let mut command = run_command(dir, args);
        Self::wait_ready(dir, command.spawn().unwrap())
    }

    /// Waits until `child`, a daemon in `dir`, answers.
    pub fn wait_ready(dir: &Path, child: Child) -> Self {
        let mut daemon = Self {
            dir: dir.to_owned(),
            child,
            _temp: None,
        };
        let log = dir.join("log");
        eventually("the daemon answers", || {
            if let Some(status) = daemon.child.try_wait().unwrap() {
                panic!(
                    "the daemon ended with {status}: {}",
                    fs::read_to_string(&log).unwrap()
                );
            }
            let socket = daemon.socket();
            daemon.try_status(&socket).map(drop)
        });
        daemon
    }

    fn try_status(&self, socket: &Path) -> Option<Status> {
        Client::new(Endpoint::Unix(socket.to_owned()))
            .get("/api/v1/status")
            .ok()
    }

    pub fn socket(&self) -> PathBuf {
        self.dir.join("gtrace.sock")
    }

    pub fn store(&self) -> PathBuf {
        self.dir.join("store.db")
    }

    pub fn status(&self) -> Status {
        self.try_status(&self.socket()).expect("the daemon answers")
    }

    pub fn client(&self) -> Client {
        Client::new(Endpoint::Unix(self.socket()))
    }

    /// What the status says of a source.
    pub fn source(&self, name: &str) -> SourceStatus {
        let mut all = self.status().sources.into_iter();
        all.find(|source| source.name == name).unwrap()
    }

    /// Runs `gtrace` with these arguments on its socket, which must succeed; what it printed.
    pub fn gtrace(&self, args: &str) -> Vec<u8> {
        let mut command = Command::new(GTRACE);
        command.args(args.split(' ')).arg("--socket");
        succeeds(command.arg(self.socket()))
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.dir.join("log")).unwrap()
    }

    /// `gtrace events --json` with `args`.
    pub fn events(&self, args: &[&str]) -> Vec<Event> {
        events_in(&self.dir, args)
    }

    /// Waits for events that satisfy `done`.
    pub fn wait_events(&self, args: &[&str], done: impl Fn(&[Event]) -> bool) -> Vec<Event> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let events = self.events(args);
            if done(&events) {
                return events;
            }
            assert!(
                Instant::now() < deadline,
                "the events did not come; last seen {events:#?}\n{}",
                self.log()
            );
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    pub fn kill9(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends it in order; it must end well.
    pub fn stop(mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let status = self.child.wait().unwrap();
        assert!(
            status.success(),
            "{status} {:?}: {}",
            status.signal(),
            self.log()
        );
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // A test that failed must not leave a daemon behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `gtrace run` in `dir`, logging there.
pub fn run_command(dir: &Path, args: &[&str]) -> Command {
    let mut command = printing_command(dir, args);
    command.arg("--quiet");
    command
}

/// The same of a daemon that prints its events.
pub fn printing_command(dir: &Path, args: &[&str]) -> Command {
    let log = OpenOptions::new()
        .create(true)
        .append(true)
        .open(dir.join("log"))
        .unwrap();
    let mut command = Command::new(GTRACE);
    command.args(["run", "--listen", "off", "--kill-switch"]);
    command
        .arg(dir.join("pause"))
        .arg("--socket")
        .arg(dir.join("gtrace.sock"))
        .args(args);
    // By the environment, so that a test can override it by a flag.
    command.env("GTRACE_STATE_DIR", dir);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log);
    command
}

/// `gtrace events --json` of the store in `dir`, daemon or not.
pub fn events_in(dir: &Path, args: &[&str]) -> Vec<Event> {
    let mut command = Command::new(GTRACE);
    command
        .args(["events", "--json", "--limit", "100000", "--store"])
        .arg(dir.join("store.db"));
    command
        .arg("--socket")
        .arg(dir.join("gtrace.sock"))
        .args(args);
    let text = String::from_utf8(succeeds(&mut command)).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Runs what must succeed; what it printed.
pub fn succeeds(command: &mut Command) -> Vec<u8> {
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {error}");
    output.stdout
}

/// `gtrace report` with these arguments in `dir`, which must succeed.
pub fn report(dir: &Path, args: &[&str]) {
    succeeds(
        Command::new(GTRACE)
            .arg("report")
            .args(args)
            .current_dir(dir),
    );
}

pub fn gtrace(args: &[&str]) -> Output {
    Command::new(GTRACE).args(args).output().unwrap()
}

/// `gtrace events --verify` of the store in `dir` must find nothing.
pub fn verify(dir: &Path) {
    let store = dir.join("store.db");
    let output = gtrace(&["events", "--verify", "--store", store.to_str().unwrap()]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

pub fn eventually<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(value) = attempt() {
            return value;
        }
        assert!(Instant::now() < deadline, "in vain: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A device address that no other test uses.
pub fn fresh_gpu() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{:04x}:{:02x}:00", std::process::id() & 0xffff, n % 256)
}

/// Writes records to the kernel log, one a write.
pub struct KernelLog(File);

impl KernelLog {
    pub fn open() -> Self {
        Self(OpenOptions::new().write(true).open("/dev/kmsg").unwrap())
    }

    pub fn write(&mut self, line: &str) {
        // Without the newline no reader sees the record before the next one.
        self.write_open(&format!("{line}\n"));
    }

    /// A record that the kernel keeps open for a continuation, unless `text` ends with a newline.
    pub fn write_open(&mut self, text: &str) {
        self.0.write_all(text.as_bytes()).unwrap();
    }
}

/// The value of a sample of /metrics; 0 if it is not there yet.
pub fn metric(daemon: &Daemon, sample: &str) -> u64 {
    let text = daemon.client().get_text("/metrics").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(sample));
    line.map_or(0, |value| value.trim().parse::<f64>().unwrap() as u64)
}

/// How many occurrences the events stand for.
pub fn occurrences(events: &[Event]) -> u64 {
    events.iter().map(|e| e.repeats + 1).sum()
}

/// The process of an event.
pub fn pid_of(event: &Event) -> Option<u32> {
    event.process.as_ref()?.pid
}

pub fn seen_by(event: &Event, source: WitnessName) -> u64 {
    event
        .witnesses
        .iter()
        .find(|w| w.source == source)
        .map_or(0, |w| w.count)
}
