//! The stub of the NVIDIA driver, and the fake of NVML.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use super::kbuild::Modules;
use super::kernel::Kernel;
use crate::context::Context;
use crate::shell;

/// The stub, in both generations; its files lie in the guest's `/stub` as in the directory of a build.
pub(super) const STUB: Modules = Modules {
    name: "the stub of the NVIDIA driver",
    sources: "vm-tests/nvidia-stub",
    files: &[
        "current/nvidia.ko",
        "current/nvidia-uvm.ko",
        "frontend/nvidia.ko",
        "frontend/nvidia-uvm.ko",
    ],
};

/// Builds it for `kernel`; the directory that has its files.
pub(super) fn build(context: &Context, cache: &Path, kernel: &Kernel) -> Result<PathBuf> {
    let out = cache.join("stub").join(&kernel.key);
    STUB.build(context, kernel, &out, &[])?;
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
