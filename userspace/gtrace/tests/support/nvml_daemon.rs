//! A daemon that reads NVML alone, of the CPU emulator.
#![allow(dead_code, unreachable_pub, reason = "not every test uses all of it")]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gtrace_api::client::{Client, Endpoint};
use gtrace_engine::component;
use gtrace_event::{Event, HealthReport, SubjectHealth, SubjectKind, WitnessName};

const NVML: &str = "libnvidia-ml.so.1";
const PATIENCE: Duration = Duration::from_secs(60);

/// A daemon that reads NVML alone: what the control file says is read again with each sample.
pub struct Daemon {
    child: Child,
    pub client: Client,
    pub dir: std::rc::Rc<tempfile::TempDir>,
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The CPU emulator as the binary carries it, under the names of the driver's libraries.
fn emulator(dir: &Path) -> PathBuf {
    let built = Path::new(env!("GTRACE_LIBRARIES")).join("libgtrace_softgpu.so");
    let library = dir.join(NVML);
    fs::copy(built, &library).unwrap();
    library
}

/// Options of a host without anything else.
fn host(dir: &Path) -> impl Iterator<Item = OsString> {
    let options = [
        ("--proc-root", "proc"),
        ("--sysfs-root", "sys"),
        ("--baseline", "baseline.toml"),
        ("--health-rules", "health-rules.toml"),
    ];
    let options = options.map(|(option, file)| [option.into(), dir.join(file).into_os_string()]);
    options.into_iter().flatten()
}

impl Daemon {
    /// One whose emulator reports what `control` says.
    pub fn start(control: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("control"), control).unwrap();
        Self::in_dir(std::rc::Rc::new(dir))
    }

    /// It is killed, and started again over its store.
    pub fn restart(self) -> Self {
        let dir = std::rc::Rc::clone(&self.dir);
        drop(self);
        Self::in_dir(dir)
    }

    fn in_dir(dir: std::rc::Rc<tempfile::TempDir>) -> Self {
        let at = dir.path();
        fs::create_dir_all(at.join("proc/driver/nvidia")).unwrap();
        fs::write(at.join("proc/driver/nvidia/version"), "no driver\n").unwrap();
        let of_nvml = |one: &&dyn component::Component| one.witness() == Some(WitnessName::Nvml);
        let off = component::all().filter(|one| !of_nvml(one));
        let off: Vec<_> = off.map(|one| one.name()).collect();
        let socket = at.join("gtrace.sock");
        let child = Command::new(env!("CARGO_BIN_EXE_gtrace"))
            .args(["run", "--listen", "off", "--nvml-interval-s", "1"])
            .arg("--disabled-sources")
            .arg(off.join(","))
            .arg("--socket")
            .arg(&socket)
            .arg("--kill-switch")
            .arg(at.join("pause"))
            .arg("--nvml-library")
            .arg(emulator(at))
            .args(host(at))
            .env("GTRACE_STATE_DIR", at.join("state"))
            .env("GTRACE_SOFTGPU_CONTROL", at.join("control"))
            .env_remove("GTRACE_CONFIG")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(at.join("log")).unwrap())
            .spawn()
            .unwrap();
        let client = Client::new(Endpoint::Unix(socket));
        Self { child, client, dir }
    }

    /// What `look` finds, once it does.
    pub fn until<T>(&self, what: &str, mut look: impl FnMut(&Client) -> Option<T>) -> T {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(found) = look(&self.client) {
                return found;
            }
            let log = || fs::read_to_string(self.dir.path().join("log")).unwrap();
            assert!(Instant::now() < end, "{what}: {}", log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub fn control(&self, text: &str) {
        fs::write(self.dir.path().join("control"), text).unwrap();
    }

    pub fn event(&self, kind: &str) -> Event {
        let path = format!("/api/v1/events?kind={kind}");
        self.until(kind, |client| {
            let mut events: Vec<Event> = client.get(&path).ok()?;
            events.pop()
        })
    }

    /// Waits until these rules, and no others, make the GPU worse.
    pub fn reasons(&self, wanted: &[&str]) -> SubjectHealth {
        self.until(&format!("{wanted:?}"), |client| {
            let report: HealthReport = client.get("/api/v1/health").ok()?;
            let mut subjects = report.subjects.into_iter();
            let gpu = subjects.find(|one| one.subject.part == SubjectKind::Gpu)?;
            let rules: Vec<_> = gpu.reasons.iter().map(|reason| &*reason.rule).collect();
            (rules == wanted).then_some(gpu)
        })
    }

    /// What a command says that asks this daemon.
    pub fn run(&self, command: &[&str]) -> std::process::Output {
        let mut program = Command::new(env!("CARGO_BIN_EXE_gtrace"));
        let socket = self.dir.path().join("gtrace.sock");
        program.args(command).arg("--socket").arg(socket);
        program.output().unwrap()
    }

    /// What `gtrace scan` finds on the same host, and its exit code.
    pub fn scan(&self) -> (HealthReport, Option<i32>) {
        let at = self.dir.path();
        let scan = Command::new(env!("CARGO_BIN_EXE_gtrace"))
            .args(["scan", "--quiet", "--json", "--nvml-library"])
            .arg(at.join(NVML))
            .args(host(at))
            .env("GTRACE_SOFTGPU_CONTROL", at.join("control"))
            .env_remove("GTRACE_CONFIG")
            .output()
            .unwrap();
        let report = serde_json::from_slice(&scan.stdout);
        (
            report.unwrap_or_else(|_| panic!("{scan:?}")),
            scan.status.code(),
        )
    }
}
