//! What a system needs before gtrace can be built on it.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::context::{Context, Profile};
use crate::os;
use crate::packages::{self, Privilege};
use crate::shell::{self, step};
use crate::toolchain::Toolchain;
use crate::{ebpf, linker};

/// Compiles the C of SQLite, and links; libelf and zlib are for loading probes with libbpf.
const BUILD_PACKAGES: [&str; 5] = ["gcc", "libc6-dev", "pkg-config", "libelf-dev", "zlib1g-dev"];

/// `cargo xtask setup`.
pub(crate) fn everything(context: &Context) -> Result<()> {
    step("looking for compilers, libraries and tools that the build needs");
    host_packages()?;
    let toolchain = Toolchain::ensure(context)?;
    let linker = linker::ensure(context, &toolchain)?;
    let clang = ebpf::clang()?;
    step(format!("compiler of the probes: {}", toolchain.describe()));
    step(format!("compiler of the probes in C: {}", clang.display()));
    step(format!("linker of the probes: {}", context.short(&linker)));
    step("ready: `cargo xtask run` builds and starts gtrace");
    Ok(())
}

/// Packages that building for this host takes.
pub(crate) fn host_packages() -> Result<()> {
    let libraries = ["--exists", "libelf", "zlib"];
    if shell::in_path("cc") && shell::succeeds(Command::new("pkg-config").args(libraries)) {
        return Ok(());
    }
    packages::ensure(
        &BUILD_PACKAGES,
        "a C compiler and the headers of libelf and zlib are needed to build",
    )
}

/// System packages, probes and `packages`' binaries, in this order.
pub(crate) fn build(context: &Context, profile: Profile, crates: &[&str]) -> Result<()> {
    host_packages()?;
    ebpf::build(context)?;
    step(format!("building {}", crates.join(" and ")));
    let selected = crates.iter().flat_map(|name| ["--package", name]);
    shell::run(
        context
            .cargo()
            .args(["build", profile.argument()])
            .args(selected),
    )
    .context("user space does not build")
}

/// Mounts tracefs and bpffs where they are missing. That they cannot be mounted is said and is
/// no error: the daemon runs without, on fewer sources.
pub(crate) fn mounts(privilege: Privilege) {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    for (kind, at, why) in [
        (
            "tracefs",
            "/sys/kernel/tracing",
            "tracepoints are found there",
        ),
        ("bpf", "/sys/fs/bpf", "BPF maps are pinned there"),
    ] {
        if os::is_mounted(&mounts, kind, at) {
            continue;
        }
        if privilege == Privilege::None || !Path::new(at).is_dir() {
            step(format!(
                "{kind} is not mounted at {at} and cannot be mounted here: {why}"
            ));
            continue;
        }
        step(format!("mounting {kind} at {at}: {why}"));
        if let Err(error) = shell::run(privilege.command("mount").args(["-t", kind, kind, at])) {
            step(format!("going on without {kind}: {error:#}"));
        }
    }
}
