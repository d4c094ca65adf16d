//! The programs in C, built with the system's compiler.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context as _, Result, ensure};

use crate::artefacts::{Artefacts, root};

fn sources() -> PathBuf {
    root().join("transport/e2e/programs/c")
}

/// The folder of the programs in Python.
pub fn python_sources() -> PathBuf {
    root().join("transport/e2e/programs/python")
}

/// Builds `programs/c/NAME.c` unless it is up to date.
pub fn c_program(artefacts: &Artefacts, name: &str) -> Result<PathBuf> {
    c_program_in(&artefacts.scratch().join("programs"), name)
}

/// Builds `programs/c/NAME.c` in `folder` unless it is up to date.
pub fn c_program_in(folder: &Path, name: &str) -> Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let stub = folder.join("libcuda.so");
    compile(
        &stub,
        &["stub.c"],
        &["-shared", "-fPIC", "-w", "-Wl,-soname,libcuda.so.1"],
        &[],
    )?;
    let program = folder.join(name);
    let search = format!("-L{}", folder.display());
    // Numbers are compared with those of kernels: no contraction that the source does not name.
    let flags = [
        "-std=gnu11",
        "-O1",
        "-ffp-contract=off",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wno-missing-field-initializers",
    ];
    let libraries = [search.as_str(), "-lcuda", "-lm", "-lpthread", "-ldl"];
    compile(&program, &[&format!("{name}.c")], &flags, &libraries)?;
    Ok(program)
}

fn compile(output: &Path, inputs: &[&str], flags: &[&str], libraries: &[&str]) -> Result<()> {
    let folder = sources();
    let inputs: Vec<_> = inputs.iter().map(|input| folder.join(input)).collect();
    let headers = [
        "arrays.h",
        "batches.h",
        "common.h",
        "cupti.h",
        "driver.h",
        "floats.h",
        "graphs.h",
        "managed.h",
        "runtime.h",
    ]
    .map(|header| folder.join(header));
    let newest = inputs
        .iter()
        .chain(&headers)
        .filter_map(|file| modified(file))
        .max();
    if modified(output) > newest {
        return Ok(());
    }
    // Built aside and renamed, as another test may be running or building it.
    static BUILDS: AtomicU32 = AtomicU32::new(0);
    let number = BUILDS.fetch_add(1, Ordering::Relaxed);
    let aside = output.with_extension(format!("{}-{number}.new", std::process::id()));
    let result = Command::new("cc")
        .args(flags)
        .arg("-o")
        .arg(&aside)
        .args(&inputs)
        .args(libraries)
        .output()
        .context("these tests need a C compiler: install gcc")?;
    ensure!(
        result.status.success(),
        "{}",
        String::from_utf8_lossy(&result.stderr)
    );
    fs::rename(&aside, output)?;
    Ok(())
}

fn modified(file: &Path) -> Option<std::time::SystemTime> {
    fs::metadata(file).ok()?.modified().ok()
}
