//! The stub of the NVIDIA driver, built for each kernel, and the fake of NVML.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::kernel::Kernel;
use crate::context::Context;
use crate::shell::{self, step};
use crate::stamp::Hash;

/// The stub's sources in the repository.
const SOURCES: &str = "vm-tests/nvidia-stub";

/// The files that a build makes, as they lie in its directory and in the guest's `/stub`.
pub(super) const FILES: [&str; 4] = [
    "current/nvidia.ko",
    "current/nvidia-uvm.ko",
    "frontend/nvidia.ko",
    "frontend/nvidia-uvm.ko",
];

/// The directory that has [`FILES`] for `kernel`, built again if the sources have changed.
pub(super) fn build(context: &Context, cache: &Path, kernel: &Kernel) -> Result<PathBuf> {
    let sources = context.root.join(SOURCES);
    let stamp = Hash::new()
        .tree(&context.root, &sources)
        .with_context(|| format!("cannot read {}", sources.display()))?
        .finish();
    let out = cache.join("stub").join(&kernel.key);
    let stamp_file = out.join("stamp");
    let whole = FILES.iter().all(|file| out.join(file).is_file());
    if whole && fs::read_to_string(&stamp_file).is_ok_and(|old| old == stamp) {
        return Ok(out);
    }
    step(format!(
        "building the stub of the NVIDIA driver for {}",
        kernel.key
    ));
    if out.exists() {
        fs::remove_dir_all(&out).with_context(|| format!("cannot clear {}", out.display()))?;
    }
    fs::create_dir_all(&out).with_context(|| format!("cannot create {}", out.display()))?;
    let mut command = Command::new("sh");
    command.arg(sources.join("build.sh")).arg(&kernel.tree);
    let output = shell::output(command.arg(&out))?;
    if !output.status.success() {
        bail!(
            "the stub of the NVIDIA driver does not build for {}: {}{}",
            kernel.key,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    // Warnings of the compiler.
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    fs::write(&stamp_file, stamp)
        .with_context(|| format!("cannot write {}", stamp_file.display()))?;
    Ok(out)
}

/// Compiles the fake of NVML, the same that the tests of gtrace-devices use.
pub(super) fn fake_nvml(context: &Context, cache: &Path) -> Result<PathBuf> {
    let library = cache.join("libnvidia-ml.so.1");
    let source = context
        .root
        .join("userspace/devices/tests/fake-nvml/fake_nvml.c");
    shell::read(
        Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([&library, &source]),
    )
    .context("the fake of NVML does not build")?;
    Ok(library)
}
