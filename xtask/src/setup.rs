//! What a system needs before gtrace can be built on it.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::context::{Context, Profile};
use crate::os;
use crate::packages::{self, Privilege};
use crate::shell::{self, step};
use crate::toolchain::Toolchain;
use crate::{ebpf, libclang, linker};

/// Compiles the C of SQLite, and links; libelf and zlib are for loading probes with libbpf, the
/// headers of rdma-core for RDMA.
const BUILD_PACKAGES: [&str; 8] = [
    "gcc",
    "libc6-dev",
    "make",
    "pkg-config",
    "libelf-dev",
    "zlib1g-dev",
    "libibverbs-dev",
    "librdmacm-dev",
];

/// `cargo xtask setup`.
pub(crate) fn everything(context: &Context) -> Result<()> {
    step("looking for compilers, libraries and tools that the build needs");
    host_packages(context)?;
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
pub(crate) fn host_packages(context: &Context) -> Result<()> {
    let libraries = ["--exists", "libelf", "zlib", "libibverbs", "librdmacm"];
    let programs = ["cc", "make"].into_iter().all(shell::in_path);
    if !programs || !shell::succeeds(Command::new("pkg-config").args(libraries)) {
        packages::ensure(
            &BUILD_PACKAGES,
            "a C compiler, make and the headers of libelf, zlib and rdma-core are needed to build",
        )?;
    }
    libclang::ensure(context)
}

/// System packages, probes and `packages`' binaries, in this order.
pub(crate) fn build(context: &Context, profile: Profile, crates: &[&str]) -> Result<()> {
    if context.has_built_all() && profile == Profile::Dev {
        // Everything was built before. Some packages alone would be built anew, as they ask for fewer features.
        return Ok(());
    }
    host_packages(context)?;
    ebpf::build(context)?;
    step(format!("building {}", crates.join(" and ")));
    let selected = crates.iter().flat_map(|name| ["--package", name]);
    shell::run(context.cargo_in(profile, "build").args(selected))
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
