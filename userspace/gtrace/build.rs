//! Finds what is embedded in the binary: the libraries of GPU-over-IP.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use sha2::{Digest as _, Sha256};

include!("../../ebpf/beside.rs");

/// The client's library, its CUPTI, the CPU emulator for a GPU and the library of `gtrace trace`: shared libraries of the same
/// sources as this binary.
///
/// `GTRACE_SHIM_DIR` names a folder that has them already.
fn main() {
    const LIBRARIES: [(&str, &str, &str); 4] = [
        ("GTRACE_SHIM", "gtrace-shim", "libgtrace_shim.so"),
        ("GTRACE_CUPTI", "gtrace-cupti", "libgtrace_cupti.so"),
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
                "cupti",
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
        // Newer than the start of this script, a library that it built itself and that cargo watches would have it run
        // again with the next build.
        if !built {
            println!("cargo:rerun-if-changed={}", library.display());
        }
        let bytes = fs::read(&library).unwrap_or_else(|error| fail(&library, &error));
        let (packed, sum) = pack(name, &bytes);
        println!("cargo:rustc-env={variable}={}", packed.display());
        println!("cargo:rustc-env={variable}_SUM={}", sum.display());
        println!("cargo:rustc-env={variable}_DIGEST={}", digest(&bytes));
    }
    // For tests.
    println!("cargo:rustc-env=GTRACE_LIBRARIES={}", dir.display());
    // At a fixed address, a debug build has no 430,000 addresses to write when it starts, which takes longest in an
    // emulated machine.
    if env::var("PROFILE").as_deref() == Ok("debug") {
        println!("cargo:rustc-link-arg-bin=gtrace=-no-pie");
    }
}

fn fail(path: &Path, error: &dyn std::fmt::Display) -> ! {
    println!("cargo::error={}: {error}", path.display());
    std::process::exit(1);
}

/// Half of the SHA-256 of a library, in hexadecimal: by it the unpacked library is named.
fn digest(library: &[u8]) -> String {
    Sha256::digest(library)
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The library as zstd packs it, and an expression with its length and checksum: files in the folder of this script's
/// output, left alone where they are the same already.
fn pack(name: &str, library: &[u8]) -> (PathBuf, PathBuf) {
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    // The smallest takes seconds, with an optimised zstd.
    let level = match env::var("PROFILE").as_deref() {
        Ok("release") => 19,
        _ => 1,
    };
    let packed = zstd::bulk::compress(library, level).unwrap_or_else(|error| fail(&out, &error));
    let sum = format!(
        "Sum {{ len: {}, crc32c: {} }}",
        library.len(),
        crc32c::crc32c(library)
    );
    let place = |ending: &str, new: &[u8]| {
        let file = out.join(format!("{name}.{ending}"));
        if !fs::read(&file).is_ok_and(|old| old == new) {
            fs::write(&file, new).unwrap_or_else(|error| fail(&file, &error));
        }
        file
    };
    (place("zst", &packed), place("sum", sum.as_bytes()))
}

/// Builds the packages and answers with the folder of their libraries. Quick when nothing changed.
fn build_libraries(root: &Path, packages: &[&str]) -> PathBuf {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    // A target directory of its own: the outer build holds the lock of the usual one.
    let target = beside("embedded");
    let profile = match env::var("PROFILE").as_deref() {
        Ok("release") => "release",
        _ => "dev",
    };
    let mut command = Command::new(cargo);
    command
        .args(["build", "--quiet", "--lib", "--profile", profile])
        .arg("--target-dir")
        .arg(&target)
        .args(packages.iter().flat_map(|package| ["--package", package]))
        .current_dir(root)
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("CARGO_TARGET_DIR")
        .env_remove("CARGO_BUILD_TARGET")
        .env_remove("RUSTC_WORKSPACE_WRAPPER");
    let folder = match profile {
        "dev" => "debug",
        other => other,
    };
    let mut built = target.join(folder);
    let (host, wanted) = (env::var("HOST"), env::var("TARGET"));
    if let (true, Ok(wanted)) = (host != wanted, &wanted) {
        command.args(["--target", wanted]);
        built = target.join(wanted).join(folder);
    }
    if !matches!(command.status(), Ok(status) if status.success()) {
        println!(
            "cargo::error=the libraries of GPU-over-IP could not be built; see what `cargo build \
             --lib --profile {profile} --package {}` says",
            packages.join(" --package ")
        );
        std::process::exit(1);
    }
    built
}
