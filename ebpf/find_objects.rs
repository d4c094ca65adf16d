// Shared by the build scripts that embed compiled probes: finds the objects, built if need be, and packs them.

use std::{env, fs};
use std::path::{Path, PathBuf};
use std::process::Command;

include!("beside.rs");

/// Passes to rustc, by `(variable, file)`, where the packed objects are, and by the variable with `_LEN` a file with the
/// length of what is packed.
fn find_objects(objects: &[(&str, &str)]) {
    println!("cargo:rerun-if-env-changed=GTRACE_BPF_DIR");
    // Probes read the registers that an architecture has arguments in.
    let arch = env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    let of_host = env::var("HOST").is_ok_and(|host| host.split('-').next() == Some(arch.as_str()));
    let folder = match of_host {
        true => "bpf".to_owned(),
        false => format!("bpf-{arch}"),
    };
    let dir = env::var_os("GTRACE_BPF_DIR").map_or_else(|| beside(&folder), PathBuf::from);
    for (variable, name) in objects {
        let object = dir.join(name);
        println!("cargo:rerun-if-changed={}", object.display());
        if !object.exists() {
            build_probes(&object, &arch);
        }
        let (packed, len) = pack(name, &object);
        println!("cargo:rustc-env={variable}={}", packed.display());
        println!("cargo:rustc-env={variable}_LEN={}", len.display());
    }
}

/// The object as zstd packs it, and its length: files in the folder of this script's output.
fn pack(name: &str, object: &Path) -> (PathBuf, PathBuf) {
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let (packed, len) = (out.join(format!("{name}.zst")), out.join(format!("{name}.len")));
    // The smallest takes seconds, with an optimised zstd.
    let level = match env::var("PROFILE").as_deref() {
        Ok("release") => 19,
        _ => 1,
    };
    let written = fs::read(object).and_then(|bytes| {
        fs::write(&packed, zstd::bulk::compress(&bytes, level)?)?;
        fs::write(&len, bytes.len().to_string())
    });
    if let Err(error) = written {
        println!("cargo::error={}: {error}", object.display());
        std::process::exit(1);
    }
    (packed, len)
}

/// Builds the probes for `arch` with `cargo xtask build-ebpf`, or ends with what to do.
fn build_probes(object: &Path, arch: &str) {
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
        .env("AYA_BPF_TARGET_ARCH", arch)
        .env_remove("CARGO_BUILD_TARGET")
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
