//! What the cases about RDMA need in the image: libibverbs with the provider of SoftRoCE, the tests of
//! links, programs in C of GPU-over-IP, and the CPU emulator that they run on directly.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use gtrace_e2e::programs::c_program_in;
use gtrace_vm_tests::layout::{COHERENCE, LIMITS, RDMA, RDMA_PROGRAMS};
use serde_json::Value;

use super::cpio::Archive;
use super::image::{copy, program, stripped};
use crate::context::{Context, Profile};
use crate::shell;

/// Libraries that are loaded by name, wherever this system's loader finds them.
const LIBRARIES: [&str; 2] = ["libibverbs.so.1", "libibverbs/librxe-rdmav34.so"];
/// Folders of libraries, below which one of them has these.
const FOLDERS: [&str; 3] = ["/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"];
/// Programs of this system, and Debian's packages of them.
const TOOLS: [(&str, &str); 3] = [
    ("rdma", "iproute2"),
    ("ib_send_lat", "perftest"),
    ("ib_write_bw", "perftest"),
];
/// Names the provider to libibverbs.
const DRIVER: &str = "/etc/libibverbs.d/rxe.driver";

/// Adds all of it.
pub(super) fn add(
    archive: &mut Archive,
    context: &Context,
    profile: Profile,
    cache: &Path,
) -> Result<()> {
    for library in LIBRARIES {
        let found = FOLDERS.iter().map(|folder| Path::new(folder).join(library));
        let found = found.into_iter().find(|path| path.exists());
        let path = found.with_context(|| {
            format!("{library} is missing: install libibverbs1 and ibverbs-providers")
        })?;
        program(archive, &path.display().to_string(), &path)?;
    }
    copy(archive, DRIVER, Path::new(DRIVER))?;
    for (name, package) in TOOLS {
        let path = shell::read(Command::new("sh").args(["-c", &format!("command -v {name}")]))
            .with_context(|| format!("{name} is missing: install {package}"))?;
        program(archive, &format!("{RDMA}/{name}"), Path::new(path.trim()))?;
    }
    let exchange = context.binary(profile, "examples/exchange");
    for (name, built) in [("links", tests(context, profile)?), ("exchange", exchange)] {
        program(
            archive,
            &format!("{RDMA}/{name}"),
            &stripped(&built, cache)?,
        )?;
    }
    let emulator = context.emulator(profile);
    program(archive, &format!("{RDMA}/direct/libcuda.so.1"), &emulator)?;
    let folder = cache.join("programs");
    for name in RDMA_PROGRAMS.into_iter().chain([LIMITS, COHERENCE]) {
        let built = c_program_in(&folder, name)?;
        copy(archive, &format!("{RDMA}/{name}"), &built)?;
    }
    let kernels = context.root.join("transport/softgpu/kernels");
    for entry in fs::read_dir(&kernels)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "ptx") {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            copy(archive, &format!("{RDMA}/ptx/{name}"), &path)?;
        }
    }
    Ok(())
}

/// The program of the tests within gtrace-link, its conformance suite among them.
fn tests(context: &Context, profile: Profile) -> Result<PathBuf> {
    const NAME: &str = "gtrace_link";
    let (what, selected): (_, &[&str]) = match profile {
        // The very build that has just been made: another selection may have other features, and compile again.
        Profile::Dev => ("build", &["--workspace", "--all-targets"]),
        Profile::Release => ("test", &["--package=gtrace-link", "--lib", "--no-run"]),
    };
    let mut command = context.cargo_in(profile, what);
    command.args(selected);
    command.args(["--quiet", "--message-format=json"]);
    let output = shell::read(&mut command)?;
    output
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["profile"]["test"] == true && message["target"]["name"] == NAME)
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .context("cargo does not say where the tests of gtrace-link are")
}
