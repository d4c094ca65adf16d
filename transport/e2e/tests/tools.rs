//! Public tools see through the network what they see on the spot.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use gtrace_e2e::mask;
use gtrace_e2e::server::{Server, Via};
use support::{Case, artefacts, script};

/// Where `cargo xtask test` puts the environment with the packages of `programs/python/requirements.txt`.
fn python() -> Option<PathBuf> {
    let lacking = ["Python environment", "cargo xtask test makes it from PyPI"];
    support::python("GTRACE_E2E_PYTHON", "e2e-python", lacking)
}

#[test]
fn cuda_python() {
    let Some(python) = python() else { return };
    let output = script(python, "vector_add.py").same_everywhere();
    assert!(
        output.contains("a wrong free: CUDA_ERROR_INVALID_VALUE"),
        "{output}"
    );
}

#[test]
fn nvidia_ml_py() {
    let Some(python) = python() else { return };
    let output = script(python, "nvml.py")
        .server("GTRACE_SOFTGPU_DEVICES", "2")
        .mask(mask::changing)
        .same_everywhere();
    assert!(
        output.contains("devices 2") && output.contains("after the end: Uninitialized"),
        "{output}"
    );
}

/// The lines that name a device, without numbers: the rest is about this host and its processes.
fn of_devices(text: &str) -> String {
    let kept = mask::of_devices(text);
    assert!(kept.contains("CPU emulator"), "no device is shown:\n{text}");
    kept
}

#[test]
fn nvitop() {
    let Some(python) = python() else { return };
    Case::new(python.with_file_name("nvitop"))
        .arguments(&["-1", "--ascii", "--colorful"])
        .client("TERM", "xterm-256color")
        .client("COLUMNS", "120")
        .mask(of_devices)
        .same_everywhere();
}

#[test]
fn gpustat() {
    let Some(python) = python() else { return };
    Case::new(python.with_file_name("gpustat"))
        .arguments(&["--no-color", "--no-header"])
        .mask(of_devices)
        .same_everywhere();
}

/// Where `cargo xtask test` puts NVIDIA's own tool of a series of the driver.
fn nvidia_smi(series: &str) -> Option<PathBuf> {
    let named = std::env::var_os(format!("GTRACE_E2E_NVIDIA_SMI_{series}")).map(PathBuf::from);
    let folder = format!("e2e-nvidia-smi-{series}");
    let folder = artefacts().profile.with_file_name(folder);
    let program = named.unwrap_or_else(|| folder.join("usr/lib/nvidia/current/nvidia-smi"));
    if program.is_file() {
        return Some(program);
    }
    println!(
        "SKIPPED: no nvidia-smi at {}: cargo xtask test fetches it from Debian's non-free packages",
        program.display()
    );
    None
}

/// What it prints is the same through the network, whichever way it is asked.
fn nvidia_smi_of(series: &str, queried: &str) {
    let Some(program) = nvidia_smi(series) else {
        return;
    };
    let query = format!(
        "--query-gpu=index,name,uuid,pci.bus_id,driver_version,memory.total,memory.used,\
         utilization.gpu,temperature.gpu,power.draw,clocks.sm,ecc.mode.current,compute_cap{queried}"
    );
    let version = format!("NVIDIA-SMI {series}.");
    let ways: [(&[&str], &str); 5] = [
        (&[], &version),
        (&["-L"], "GPU 1: gtrace softgpu (CPU emulator) 1"),
        (&["-q"], "Attached GPUs                             : 2"),
        (&[&query, "--format=csv"], "index, name"),
        (&["-q", "-x"], "<nvidia_smi_log>"),
    ];
    for (arguments, shown) in ways {
        let output = Case::new(program.clone())
            .arguments(arguments)
            .server("GTRACE_SOFTGPU_DEVICES", "2")
            .mask(mask::without_times)
            .same_everywhere();
        assert!(output.contains(shown), "{arguments:?}: {output}");
    }
}

/// Instances of MIG, as NVIDIA's own tool finds them directly and through the network.
#[test]
fn nvidia_smi_of_nvidia_lists_the_instances_in_mig_mode() {
    let Some(program) = nvidia_smi("550") else {
        return;
    };
    let list = Case::new(program.clone())
        .arguments(&["-L"])
        .server("GTRACE_SOFTGPU_FAULT", "mig:1g.1gb,mig:1c.3g.2gb+2c.3g.2gb")
        .same_everywhere();
    for instance in ["MIG 1g.1gb ", "MIG 1c.3g.2gb ", "MIG 2c.3g.2gb "] {
        let line = list.lines().find(|line| line.contains(instance));
        assert!(
            line.is_some_and(|line| line.contains("(UUID: MIG-")),
            "{instance}: {list}"
        );
    }
}

#[test]
fn nvidia_smi_535_of_nvidia() {
    nvidia_smi_of("535", "");
}

/// It asks for what NVML has had since then, such as `nvmlDeviceGetPciInfoExt` and `nvmlDeviceGetGpuFabricInfoV`.
#[test]
fn nvidia_smi_550_of_nvidia() {
    nvidia_smi_of(
        "550",
        ",power.draw.instant,fabric.state,c2c.mode,pci.baseClass",
    );
}

/// The symbols beginning with `nvml` that a library exports.
fn nvml_symbols(library: &Path) -> BTreeSet<String> {
    let listed = Command::new("nm")
        .args(["-D", "--defined-only"])
        .arg(library)
        .output()
        .expect("nm of binutils, as the C compiler needs it");
    let listed = String::from_utf8(listed.stdout).unwrap();
    let names = listed
        .lines()
        .filter_map(|line| line.split_whitespace().last());
    let names = names.map(|name| name.split('@').next().unwrap_or(name));
    let names = names.filter(|name| name.starts_with("nvml"));
    names.map(str::to_owned).collect()
}

/// A program that looks a name up finds it where the driver's library has it, whether or not it is supported.
#[test]
fn every_function_that_nvml_535_exports_is_there() {
    let folder = artefacts().profile.with_file_name("e2e-nvml-535");
    let real = folder.join("usr/lib/x86_64-linux-gnu/nvidia/current/libnvidia-ml.so.1");
    if !real.is_file() {
        println!(
            "SKIPPED: no {}: cargo xtask test fetches it from Debian's non-free packages",
            real.display()
        );
        return;
    }
    let real = nvml_symbols(&real);
    assert!(real.len() > 300, "{real:?}");
    let server = Server::start(&artefacts().gtrace, &[], &[]).unwrap();
    let printed = server
        .exec(Via::Unix)
        .arg("--print-env")
        .output()
        .expect("gtrace exec --print-env");
    let printed = String::from_utf8(printed.stdout).unwrap();
    let path = printed
        .lines()
        .find_map(|line| line.split_once("LD_LIBRARY_PATH="))
        .expect("LD_LIBRARY_PATH")
        .1;
    let path = path.trim_matches(['\'', '"', ';']);
    let folder = path.split(':').next().unwrap();
    let shim = nvml_symbols(&Path::new(folder).join("libnvidia-ml.so.1"));
    let emulator = nvml_symbols(&artefacts().softgpu);
    for (whose, has) in [("the client's library", shim), ("the emulator", emulator)] {
        let missing: Vec<_> = real.difference(&has).collect();
        assert!(missing.is_empty(), "{whose} lacks {missing:?}");
    }
}

/// Events, units, GPM, lists of processes, and instances of MIG by their numbers and profiles.
#[test]
fn nvml_of_a_watcher() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let control = folder.path().join("control");
    std::fs::write(&control, "").unwrap();
    let control = control.to_str().unwrap();
    let case = script(python, "nvml_instances.py")
        .server("GTRACE_SOFTGPU_DEVICES", "2")
        .server("GTRACE_SOFTGPU_CONTROL", control)
        .client("CONTROL_FILE", control);
    // The sandbox of a worker has no such file.
    let server = case.serve(&["--sandbox", "off"]);
    let output = case.same_through(&server);
    for line in [
        "no event: Timeout Timeout",
        "event: True 79 of device 1",
        "first version: 0 True",
        "metric: 0 True b'sm_util'",
        "process: True True 4294967295",
        "GPU instance: 1 2 9 1 3",
        "compute instance: 1 True 1 1 1 2",
        "no event of the system: [] True",
        "another version: 25 2",
        "units: 0 Invalid Argument",
        "no unit: Invalid Argument 2",
        "nvmlDeviceGetGpuInstances of profile 9: 0 1 True",
        "nvmlDeviceGetGpuInstances of profile 0: 0 0 False",
        "nvmlDeviceGetGpuInstances of profile 77: 3 99 False",
        "nvmlGpuInstanceGetComputeInstances of profile 1: 0 1 True",
        "no list: 2",
    ] {
        assert!(output.contains(line), "{line}: {output}");
    }
}

/// What the first versions of functions write, and what changes a device, as py3nvml and others ask.
#[test]
fn nvml_of_old_programs() {
    let Some(python) = python() else { return };
    let output = script(python, "nvml_older.py").same_everywhere();
    for line in [
        "nvmlDeviceGetPciInfo 0, 32 bytes",
        "nvmlDeviceGetPciInfo_v2 0, 36 bytes",
        "nvmlDeviceSetPersistenceMode 4",
        "nvmlDeviceGetGpuOperationMode 3",
    ] {
        assert!(output.contains(line), "{output}");
    }
}
