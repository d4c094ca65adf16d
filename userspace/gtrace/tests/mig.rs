//! A GPU in MIG mode and the licence of a vGPU: from the CPU emulator's NVML through a daemon to its API, metrics, events and
//! health, and beside what NVIDIA's own nvidia-smi lists.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    reason = "only tests use it"
)]

#[path = "support/nvml_daemon.rs"]
mod nvml_daemon;

use std::path::{Path, PathBuf};
use std::process::Command;

use gtrace_devices::GpuInfo;
use nvml_daemon::Daemon;

const DIVIDED: &str = "mig:1g.1gb,mig:1c.3g.2gb+2c.3g.2gb,license=permanent";

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
    let daemon = Daemon::start(DIVIDED);
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
    let shown = |command: &[&str]| String::from_utf8(daemon.run(command).stdout).unwrap();
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
