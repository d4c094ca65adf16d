//! The files of a worker, by Landlock (Linux 5.13 and later).
//!
//! It reads what the driver and the C library read, and writes nothing but the driver's devices. TCP, signals and abstract
//! sockets of others are refused by the same means where the kernel can (6.7 and 6.12).

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
    path_beneath_rules,
};

use super::{Confinement, Layer};

/// What the rules below are written for. Later versions change what is logged.
const VERSION: ABI = ABI::V6;

/// Programs, libraries and what describes them. Nothing here is secret: packages bring it.
const PACKAGES: &[&str] = &[
    "/usr",
    "/lib",
    "/lib64",
    "/opt",
    "/nix/store",
    "/run/opengl-driver",
    "/run/nvidia/driver/usr",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/localtime",
    "/etc/nvidia",
];

/// What the driver, NVML and the C library ask of the kernel. Of other processes there is nothing.
const KERNEL: &[&str] = &[
    "/proc/self",
    "/proc/driver",
    "/proc/sys",
    "/proc/devices",
    "/proc/modules",
    "/proc/meminfo",
    "/proc/cpuinfo",
    "/proc/stat",
    "/proc/version",
    "/proc/filesystems",
    "/proc/uptime",
    "/sys/bus",
    "/sys/class",
    "/sys/devices",
    "/sys/module",
    "/sys/kernel/mm",
];

/// NVIDIA's driver gives its threads their names here, and does not start where it cannot.
const THREADS: &str = "/proc/self/task";

/// Devices that are no hardware.
const HARMLESS: &[&str] = &["/dev/null", "/dev/zero", "/dev/full"];
const RANDOM: &[&str] = &["/dev/urandom", "/dev/random"];

/// The driver's device files below `folder`: those of GPUs and, on Windows' subsystem for Linux, of what stands for them.
pub(super) fn devices(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("nvidia") || name == "dxg" {
            found.push(entry.path());
        }
    }
    found.sort();
    found
}

/// Rules whose files are open, so that it does not matter who may open them later.
pub(super) fn rules(confinement: &Confinement) -> Result<RulesetCreated, RulesetError> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let write = read | AccessFs::WriteFile | AccessFs::IoctlDev;
    let mut readable: Vec<PathBuf> = PACKAGES
        .iter()
        .chain(KERNEL)
        .chain(RANDOM)
        .map(PathBuf::from)
        .collect();
    readable.extend(confinement.folders.iter().cloned());
    if let Some(path) = std::env::var_os("LD_LIBRARY_PATH") {
        let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
        readable.extend(folders);
    }
    let mut writable: Vec<PathBuf> = HARMLESS.iter().map(PathBuf::from).collect();
    writable.extend(devices(Path::new("/dev")));
    if confinement.rdma {
        readable.push("/etc/libibverbs.d".into());
        writable.push("/dev/infiniband".into());
    }
    let mut ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(VERSION))?
        .handle_access(AccessNet::from_all(VERSION))?
        .scope(Scope::from_all(VERSION))?
        .create()?
        .add_rules(existing(&readable, read))?
        .add_rules(existing(&writable, write))?
        .add_rules(existing(
            &[THREADS.into()],
            read | AccessFs::WriteFile | AccessFs::Truncate,
        ))?;
    if let Some(folder) = &confinement.mps {
        ruleset = ruleset.add_rules(existing(
            std::slice::from_ref(folder),
            AccessFs::from_all(VERSION) & !AccessFs::Execute,
        ))?;
    }
    Ok(ruleset)
}

/// A rule for each of these that there is. `/` is none: a library there would open everything.
fn existing(
    paths: &[PathBuf],
    access: BitFlags<AccessFs>,
) -> impl Iterator<Item = Result<PathBeneath<PathFd>, RulesetError>> {
    path_beneath_rules(paths.iter().filter(|path| path.parent().is_some()), access)
}

/// Keeps the folders of this process in /proc open. A rule is for an inode, and the kernel makes new ones for what was not
/// in use for a while.
pub(super) fn hold() {
    static HELD: OnceLock<Vec<File>> = OnceLock::new();
    let open = |path| File::open(path).ok();
    let _ = HELD.set(
        ["/proc/self", THREADS]
            .into_iter()
            .filter_map(open)
            .collect(),
    );
}

/// Holds this process to them from here on. Returned with the layer: whether Landlock is in force at all, of whatever version.
/// Each keeps a process from tracing those outside its own domain, and so from their memory (landlock(7), "Ptrace
/// restrictions").
pub(super) fn restrict(rules: Result<RulesetCreated, RulesetError>) -> (Layer, bool) {
    const NAME: &str = "files";
    let status = match rules.and_then(RulesetCreated::restrict_self) {
        Ok(status) => status,
        Err(error) => {
            return (
                Layer::missing(NAME, format!("Landlock fails: {error}")),
                false,
            );
        }
    };
    let in_force = status.ruleset != RulesetStatus::NotEnforced;
    let layer = match (status.ruleset, status.landlock) {
        (RulesetStatus::FullyEnforced, _) => Layer::active(
            NAME,
            "Landlock: reads what the driver reads, writes its devices alone, no TCP, no signals to others",
        ),
        (RulesetStatus::PartiallyEnforced, LandlockStatus::Available { effective_abi, .. }) => {
            Layer::missing(
                NAME,
                format!(
                    "Landlock of version {effective_abi:?} only: Linux 6.12 has 6, by which signals and abstract sockets of \
                     others are refused too"
                ),
            )
        }
        (_, LandlockStatus::NotEnabled) => Layer::missing(
            NAME,
            "this kernel has Landlock and does not use it: start it with `landlock` in lsm=",
        ),
        _ => Layer::missing(NAME, "this kernel has no Landlock: Linux 5.13 brought it"),
    };
    (layer, in_force)
}
