//! What the cases about CUDA calls need in the image: a program that makes them, and the CPU emulator that it
//! calls.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;
use gtrace_vm_tests::layout::{CUDA_CALLER, CUDA_LIBRARY};

use super::cpio::Archive;
use super::image::{copy, program};
use crate::context::{Context, Profile};
use crate::shell;

/// Adds both.
pub(super) fn add(
    archive: &mut Archive,
    context: &Context,
    profile: Profile,
    cache: &Path,
) -> Result<()> {
    program(archive, CUDA_LIBRARY, &context.emulator(profile))?;
    let folder = cache.join("programs");
    fs::create_dir_all(&folder)?;
    let built = folder.join("caller");
    let source = (context.root).join("userspace/uprobes/tests/support/caller.c");
    shell::read(
        Command::new("cc")
            .args(["-O1", "-o"])
            .args([&built, &source])
            .args(["-ldl", "-lpthread"]),
    )?;
    copy(archive, CUDA_CALLER, &built)
}
