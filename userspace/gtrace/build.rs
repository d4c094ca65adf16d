//! Finds what is embedded in the binary: the libraries of GPU-over-IP.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use sha2::{Digest as _, Sha256};

include!("../../ebpf/beside.rs");

/// The client's library and the CPU emulator for a GPU: shared libraries of the same sources as this
/// binary, always optimised, as a program's calls go through them.
///
/// `GTRACE_SHIM_DIR` names a folder that has them already.
fn main() {
    const LIBRARIES: [(&str, &str, &str); 3] = [
        ("GTRACE_SHIM", "gtrace-shim", "libgtrace_shim.so"),
        ("GTRACE_SOFTGPU", "gtrace-softgpu", "libgtrace_softgpu.so"),
        ("GTRACE_TRACE", "gtrace-trace", "libgtrace_trace.so"),
    ];
    println!("cargo:rerun-if-env-changed=GTRACE_SHIM_DIR");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let given = env::var_os("GTRACE_SHIM_DIR").map(PathBuf::from);
    let built = given.is_none();
    let dir = match given {
        Some(dir) => dir,
        None => {
            for sources in [
                "codegen",
                "cuda",
                "link",
                "protocol",
                "recording",
                "shim",
                "softgpu",
                "tables",
                "trace",
                "verbs",
            ] {
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
            // Newer than the start of this script, a library that cargo watches would have it run
            // again with the next build.
            true => copied(&library),
            false => {
                println!("cargo:rerun-if-changed={}", library.display());
                library
            }
        };
        println!("cargo:rustc-env={variable}={}", embedded.display());
        println!("cargo:rustc-env={variable}_DIGEST={}", digest(&embedded));
    }
}

/// Half of the SHA-256 of a file, in hexadecimal: by it the unpacked library is named.
fn digest(library: &Path) -> String {
    match fs::read(library) {
        Ok(bytes) => Sha256::digest(bytes)
            .iter()
            .take(16)
            .map(|byte| format!("{byte:02x}"))
            .collect(),
        Err(error) => {
            println!("cargo::error={}: {error}", library.display());
            std::process::exit(1);
        }
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
