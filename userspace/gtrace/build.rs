//! Finds the compiled probes, which are embedded in the binary.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=GTRACE_BPF_DIR");
    let dir = env::var_os("GTRACE_BPF_DIR").map_or_else(default_dir, PathBuf::from);
    for (variable, name) in [
        ("GTRACE_BPF_OBJECT", "gtrace-probes.o"),
        ("GTRACE_BPF_OBJECT_LOG", "gtrace-probes-log.o"),
        ("GTRACE_BPF_OBJECT_CORE", "gtrace-core.o"),
    ] {
        let object = dir.join(name);
        println!("cargo:rerun-if-changed={}", object.display());
        if !object.exists() {
            build_probes(&object);
        }
        println!("cargo:rustc-env={variable}={}", object.display());
    }
}

/// `bpf` in the target directory that this build writes to.
fn default_dir() -> PathBuf {
    // OUT_DIR is TARGET[/TRIPLE]/PROFILE/build/PACKAGE-HASH/out; the probes lie in TARGET/bpf.
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let target = out
        .ancestors()
        .nth(4)
        .map(Path::to_path_buf)
        .unwrap_or_default();
    match env::var("CARGO_BUILD_TARGET") {
        Ok(_) => target
            .parent()
            .map(Path::to_path_buf)
            .unwrap_or(target)
            .join("bpf"),
        Err(_) => target.join("bpf"),
    }
}

/// Builds the probes with `cargo xtask build-ebpf`, or ends with what to do.
fn build_probes(object: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    // A target directory of its own: the outer build holds the lock of the usual one.
    let target = object.with_file_name("xtask-target");
    let status = Command::new(cargo)
        .args(["run", "--quiet", "--package", "xtask", "--target-dir"])
        .arg(&target)
        .args(["--", "build-ebpf", "--out-dir"])
        .arg(object.parent().unwrap_or(Path::new(".")))
        .current_dir(root)
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .status();
    if !matches!(&status, Ok(s) if s.success()) || !object.exists() {
        println!(
            "cargo::error=the compiled BPF probes are missing at {} and could not be built here; \
             run `cargo xtask build-ebpf` and read what it says",
            object.display()
        );
        std::process::exit(1);
    }
}
