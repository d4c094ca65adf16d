//! Finds what is embedded in the binary: the compiled probes, and the libraries of GPU-over-IP.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    probes();
    libraries();
}

/// The objects with the BPF programs.
fn probes() {
    println!("cargo:rerun-if-env-changed=GTRACE_BPF_DIR");
    let dir = env::var_os("GTRACE_BPF_DIR").map_or_else(|| beside("bpf"), PathBuf::from);
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

/// The client's library and the stand-in for a GPU: shared libraries of the same sources as this
/// binary, always optimised, as a program's calls go through them.
///
/// `GTRACE_SHIM_DIR` names a folder that has them already.
fn libraries() {
    const LIBRARIES: [(&str, &str, &str); 2] = [
        ("GTRACE_SHIM", "gtrace-shim", "libgtrace_shim.so"),
        ("GTRACE_SOFTGPU", "gtrace-softgpu", "libgtrace_softgpu.so"),
    ];
    println!("cargo:rerun-if-env-changed=GTRACE_SHIM_DIR");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let given = env::var_os("GTRACE_SHIM_DIR").map(PathBuf::from);
    let built = given.is_none();
    let dir = match given {
        Some(dir) => dir,
        None => {
            for sources in ["cuda", "link", "protocol", "shim", "softgpu", "tables"] {
                for part in ["src", "build.rs", "Cargo.toml"] {
                    let path = root.join("transport").join(sources).join(part);
                    if path.exists() {
                        println!("cargo:rerun-if-changed={}", path.display());
                    }
                }
            }
            for part in ["Cargo.toml", "Cargo.lock", "ebpf/abi/src"] {
                println!("cargo:rerun-if-changed={}", root.join(part).display());
            }
            build_libraries(&root, &LIBRARIES.map(|(_, package, _)| package))
        }
    };
    for (variable, _, name) in LIBRARIES {
        let library = dir.join(name);
        if !library.exists() {
            println!("cargo::error=there is no {}", library.display());
            std::process::exit(1);
        }
        let embedded = match built {
            // Newer than the start of this script, a library that cargo looked at would have it run
            // again with the next build.
            true => copied(&library),
            false => {
                println!("cargo:rerun-if-changed={}", library.display());
                library
            }
        };
        println!("cargo:rustc-env={variable}={}", embedded.display());
    }
}

/// A copy in the folder of this script's output, left alone if it is the same already.
fn copied(library: &Path) -> PathBuf {
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let copy = out.join(library.file_name().unwrap_or_default());
    let made = fs::read(library).and_then(|new| match fs::read(&copy) {
        Ok(old) if old == new => Ok(()),
        _ => fs::write(&copy, new),
    });
    if let Err(error) = made {
        println!("cargo::error={}: {error}", copy.display());
        std::process::exit(1);
    }
    copy
}

/// Builds the packages and answers with the folder of their libraries. Quick when nothing changed.
fn build_libraries(root: &Path, packages: &[&str]) -> PathBuf {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    // A target directory of its own: the outer build holds the lock of the usual one.
    let target = beside("embedded");
    let mut command = Command::new(cargo);
    command
        .args(["build", "--quiet", "--lib", "--release", "--target-dir"])
        .arg(&target)
        .args(packages.iter().flat_map(|package| ["--package", package]))
        .current_dir(root)
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("CARGO_TARGET_DIR")
        .env_remove("CARGO_BUILD_TARGET")
        .env_remove("RUSTC_WORKSPACE_WRAPPER");
    let mut profile = target.join("release");
    let (host, wanted) = (env::var("HOST"), env::var("TARGET"));
    if let (true, Ok(wanted)) = (host != wanted, &wanted) {
        command.args(["--target", wanted]);
        profile = target.join(wanted).join("release");
    }
    if !matches!(command.status(), Ok(status) if status.success()) {
        println!(
            "cargo::error=the libraries of GPU-over-IP could not be built; see what `cargo build \
             --lib --release --package {}` says",
            packages.join(" --package ")
        );
        std::process::exit(1);
    }
    profile
}

/// A folder in the target directory that this build writes to.
fn beside(name: &str) -> PathBuf {
    // OUT_DIR is TARGET[/TRIPLE]/PROFILE/build/PACKAGE-HASH/out.
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
            .join(name),
        Err(_) => target.join(name),
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
