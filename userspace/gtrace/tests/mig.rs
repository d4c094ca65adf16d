//! A GPU in MIG mode and the licence of a vGPU: from the CPU emulator's NVML through a daemon to its API, metrics, events and
//! health, and beside what NVIDIA's own nvidia-smi lists.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    reason = "only tests use it"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gtrace_api::client::{Client, Endpoint};
use gtrace_devices::GpuInfo;
use gtrace_engine::component;
use gtrace_event::{Event, HealthReport, SubjectKind, WitnessName};

const PATIENCE: Duration = Duration::from_secs(60);
const DIVIDED: &str = "mig:1g.1gb,mig:1c.3g.2gb+2c.3g.2gb,license=permanent";

/// A daemon that reads NVML alone: what the control file says is read again with each sample.
struct Daemon {
    child: Child,
    client: Client,
    dir: tempfile::TempDir,
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The CPU emulator as the binary carries it, under the names of the driver's libraries.
fn emulator(dir: &Path) -> PathBuf {
    let given = std::env::var_os("GTRACE_SHIM_DIR").map(PathBuf::from);
    let built = Path::new(env!("CARGO_BIN_EXE_gtrace")).with_file_name("../embedded/release");
    let built = given.unwrap_or(built).join("libgtrace_softgpu.so");
    let library = dir.join("libnvidia-ml.so.1");
    fs::copy(built, &library).unwrap();
    library
}

impl Daemon {
    fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path();
        fs::create_dir_all(at.join("proc/driver/nvidia")).unwrap();
        fs::write(at.join("proc/driver/nvidia/version"), "no driver\n").unwrap();
        fs::write(at.join("control"), DIVIDED).unwrap();
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
            .arg("--nvml-library")
            .arg(emulator(at))
            .arg("--proc-root")
            .arg(at.join("proc"))
            .arg("--sysfs-root")
            .arg(at.join("sys"))
            .arg("--kill-switch")
            .arg(at.join("pause"))
            .arg("--baseline")
            .arg(at.join("baseline.toml"))
            .arg("--health-rules")
            .arg(at.join("health-rules.toml"))
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
    fn until<T>(&self, what: &str, mut look: impl FnMut(&Client) -> Option<T>) -> T {
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

    fn control(&self, text: &str) {
        fs::write(self.dir.path().join("control"), text).unwrap();
    }

    fn event(&self, kind: &str) -> Event {
        let path = format!("/api/v1/events?kind={kind}");
        self.until(kind, |client| {
            let mut events: Vec<Event> = client.get(&path).ok()?;
            events.pop()
        })
    }

    /// Waits until these rules, and no others, make the GPU worse.
    fn reasons(&self, wanted: &[&str]) {
        self.until(&format!("{wanted:?}"), |client| {
            let report: HealthReport = client.get("/api/v1/health").ok()?;
            let mut subjects = report.subjects.into_iter();
            let gpu = subjects.find(|one| one.subject.part == SubjectKind::Gpu)?;
            let rules: Vec<_> = gpu.reasons.iter().map(|reason| &*reason.rule).collect();
            (rules == wanted).then_some(())
        });
    }
}

/// Profile and UUID of each instance that NVIDIA's own nvidia-smi lists, where `cargo xtask test` has fetched it.
fn listed_by_nvidia(dir: &Path) -> Option<Vec<(String, String)>> {
    let named = std::env::var_os("GTRACE_E2E_NVIDIA_SMI_550").map(PathBuf::from);
    let fetched = Path::new(env!("CARGO_BIN_EXE_gtrace"))
        .with_file_name("../e2e-nvidia-smi-550/usr/lib/nvidia/current/nvidia-smi");
    let program = named.unwrap_or(fetched);
    if !program.is_file() {
        eprintln!("skipped: no nvidia-smi at {}", program.display());
        return None;
    }
    let output = Command::new(program)
        .arg("-L")
        .env("LD_LIBRARY_PATH", dir)
        .env("GTRACE_SOFTGPU_CONTROL", dir.join("control"))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let instance = |line: &str| {
        let (profile, rest) = line.trim_start().strip_prefix("MIG ")?.split_once(' ')?;
        let (_, uuid) = rest.split_once("(UUID: ")?;
        Some((profile.to_owned(), uuid.trim_end_matches(')').to_owned()))
    };
    Some(text.lines().filter_map(instance).collect())
}

#[test]
fn instances_and_licence_go_from_nvml_to_api_metrics_events_and_health() {
    let daemon = Daemon::start();
    let gpu = daemon.until("a sample", |client| {
        let gpus: Vec<GpuInfo> = client.get("/api/v1/gpus").ok()?;
        gpus.into_iter().find(|gpu| gpu.sample.is_some())
    });
    let sample = gpu.sample.as_ref().unwrap();
    let found: Vec<_> = sample
        .mig_instances
        .iter()
        .map(|i| (i.profile.clone().unwrap(), i.uuid.clone().unwrap()))
        .collect();
    let profiles: Vec<_> = found.iter().map(|(profile, _)| profile.as_str()).collect();
    assert_eq!(profiles, ["1g.1gb", "1c.3g.2gb", "2c.3g.2gb"]);
    if let Some(listed) = listed_by_nvidia(daemon.dir.path()) {
        assert_eq!(found, listed, "as nvidia-smi -L has it");
    }
    let metrics = daemon.client.get_text("/metrics").unwrap();
    let of_gpu = format!(
        "gpu=\"{}\",uuid=\"{}\"",
        gpu.pci,
        gpu.uuid.as_ref().unwrap()
    );
    for line in [
        format!(
            "gtrace_gpu_mig_instance_memory_size_bytes{{{of_gpu},mig_gi=\"2\",mig_profile=\"3g.2gb\"}} {}",
            2_u64 << 30
        ),
        format!("gtrace_gpu_mig_instance_processes{{{of_gpu},mig_gi=\"2\",mig_ci=\"1\"}} 0"),
        format!("gtrace_gpu_vgpu_licensed{{{of_gpu}}} 1"),
    ] {
        assert!(metrics.contains(&line), "{line} is not in {metrics}");
    }
    let dcgm = daemon.client.get_text("/metrics/dcgm").unwrap();
    assert!(
        dcgm.contains("GPU_I_PROFILE=\"3g.2gb\",GPU_I_ID=\"2\"} 2048"),
        "{dcgm}"
    );
    let shown = |command: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_gtrace"))
            .args(command)
            .arg("--socket")
            .arg(daemon.dir.path().join("gtrace.sock"))
            .output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    let top = shown(&["top", "--once"]);
    assert!(top.contains("MIG 2/1 2c.3g.2gb"), "{top}");
    let status = shown(&["status"]);
    let line = format!("{}  MIG 1g.1gb 1c.3g.2gb 2c.3g.2gb\n", gpu.pci);
    assert!(status.contains(&line), "{status}");
    // The GPU is divided anew, and its licence ends.
    daemon.control("mig:7g.4gb,license=2020-01-01");
    let layout = daemon.event("mig_layout");
    assert_eq!(
        layout.message,
        "the MIG instances are now: 7g.4gb; before: 1c.3g.2gb 1g.1gb 2c.3g.2gb"
    );
    let license = daemon.event("vgpu_license");
    assert_eq!(license.gpu.unwrap().pci, Some(gpu.pci));
    daemon.reasons(&["vgpu-unlicensed"]);
    let status = shown(&["status"]);
    assert!(
        status.contains("MIG 7g.4gb  the licence of ") && status.contains(" ended at 2020-"),
        "{status}"
    );
    daemon.control("license=2999-12-31");
    daemon.reasons(&[]);
}
