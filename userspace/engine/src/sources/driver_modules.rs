//! Follows the NVIDIA driver's modules: attaches to them when they are loaded, detaches when they are
//! gone. It does not block module unload.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gtrace_decoder::DriverVersion;
use gtrace_devices::{NvmlClient, read_pseudo_file};
use gtrace_event::WitnessName;

use crate::bpf::{DriverModule, Probes, Tracefs};
use crate::lock::lock;
use crate::memory;

/// How long the driver is left alone after somebody began to unload it: time for a tool to ask for
/// one module after the other, and for a person to try again.
const HOLD: Duration = Duration::from_secs(10);

/// Between attempts to attach to a module that could not be attached to.
const AGAIN: Duration = Duration::from_secs(10);

/// What has become of the driver's modules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// `nvidia` was loaded.
    pub loaded: bool,
    /// `nvidia` was loaded, and is not the one that was loaded before.
    pub reloaded: bool,
    /// Any module came, went, or was attached to at last.
    pub any: bool,
}

/// A module that is loaded.
#[derive(Clone, Copy, Debug)]
struct Loaded {
    /// Inode of its directory, which is another at each load.
    inode: u64,
    /// When to try again to attach, if it failed.
    again: Option<Instant>,
}

/// Which of the driver's modules are loaded, and what the probes are attached to.
#[derive(Debug)]
pub struct Follower {
    /// /sys/module.
    modules: PathBuf,
    known: BTreeMap<DriverModule, Loaded>,
    /// Inode of `nvidia` as it was loaded last, whether or not it is attached to.
    last: Option<u64>,
    changes: Changes,
    /// Whether the syscall's tracepoints are not needed while the driver's own functions are probed:
    /// not so where devices were named that are not the driver's.
    replaces_syscalls: bool,
}

impl Follower {
    /// A follower that has attached nothing yet. `replaces_syscalls`: whether the driver's own
    /// functions see all that the syscall's tracepoints are wanted for.
    pub fn new(sysfs_root: &std::path::Path, replaces_syscalls: bool) -> Self {
        Self {
            modules: sysfs_root.join("module"),
            known: BTreeMap::new(),
            last: None,
            changes: Changes::default(),
            replaces_syscalls,
        }
    }

    /// Attaches to what was loaded since the last poll and lets go of what is gone. Whether there was any.
    pub fn follow(&mut self, probes: &mut Probes, tracefs: &Tracefs) -> bool {
        let changed = self.poll(|module, loaded| match loaded {
            true => probes.attach_driver(module, tracefs),
            false => {
                probes.module_gone(module);
                true
            }
        });
        if !self.known.contains_key(&DriverModule::Nvidia) {
            probes.driver_absent();
        }
        let replaced = self.replaces_syscalls && probes.has(WitnessName::DriverIoctl);
        probes.replace_syscalls(replaced, tracefs);
        if changed {
            // To load programs took memory for a moment: the verifier's log, the kernel's types.
            memory::give_back();
        }
        changed
    }

    /// Calls `meet` for each module that was loaded (true) or is gone; it says whether that is done. Whether there was any.
    fn poll(&mut self, mut meet: impl FnMut(DriverModule, bool) -> bool) -> bool {
        let mut any = false;
        for module in DriverModule::ALL {
            let inode = self.inode(module);
            let known = self.known.get(&module).copied();
            if known.is_some() && known.map(|k| k.inode) != inode {
                meet(module, false);
                self.known.remove(&module);
                any = true;
                tracing::info!("kernel module {} is gone", module.name());
            }
            let Some(inode) = inode else { continue };
            let fresh = !self.known.contains_key(&module);
            if fresh && !self.is_live(module) {
                continue;
            }
            let again = known
                .and_then(|k| k.again)
                .is_some_and(|at| at <= Instant::now());
            if !(fresh || again) {
                continue;
            }
            let done = meet(module, true);
            let again = (!done).then(|| Instant::now() + AGAIN);
            self.known.insert(module, Loaded { inode, again });
            any = true;
            if fresh {
                if module == DriverModule::Nvidia {
                    self.changes.loaded = true;
                    let last = self.last.replace(inode);
                    self.changes.reloaded |= last.is_some_and(|last| last != inode);
                }
                tracing::info!("kernel module {} is loaded", module.name());
            }
        }
        self.changes.any |= any;
        any
    }

    /// What has changed since the last call, whoever had it followed.
    pub(super) fn take_changes(&mut self) -> Changes {
        std::mem::take(&mut self.changes)
    }

    /// Whether the main module is loaded, as of the last poll.
    pub fn driver_is_loaded(&self) -> bool {
        self.known.contains_key(&DriverModule::Nvidia)
    }

    /// The probes were detached by somebody else: the next poll attaches them again.
    pub(super) fn forget(&mut self) {
        self.known.clear();
    }

    fn inode(&self, module: DriverModule) -> Option<u64> {
        let directory = self.modules.join(module.name());
        Some(std::fs::metadata(directory).ok()?.ino())
    }

    /// Whether the module has been initialised: one whose initialisation fails is there for a moment as well.
    fn is_live(&self, module: DriverModule) -> bool {
        let state = std::fs::read_to_string(self.modules.join(module.name()).join("initstate"));
        state.is_ok_and(|state| state.trim() == "live")
    }

    /// The version that the loaded module states.
    pub fn version(&self) -> Option<DriverVersion> {
        let text = read_pseudo_file(&self.modules.join("nvidia/version")).ok()?;
        DriverVersion::parse(text.trim())
    }
}

/// The version of the driver that is loaded now, as /proc has it: its texts are those of the kernel log.
pub fn loaded_version(proc_root: &Path) -> Option<DriverVersion> {
    let root = gtrace_devices::ProcRoot(proc_root.to_owned());
    DriverVersion::parse(&gtrace_devices::DriverVersion::read(&root)?.version)
}

/// Keeps gtrace's hands off the driver for a while.
#[derive(Debug, Default)]
pub struct DriverHold {
    until: Mutex<Option<Instant>>,
    nvml: Mutex<Option<Arc<NvmlClient>>>,
}

impl DriverHold {
    /// Sets the client that holds the driver's device files open. That of a thread that was replaced is closed.
    pub fn set_nvml(&self, nvml: Arc<NvmlClient>) {
        let before = lock(&self.nvml).replace(nvml);
        if let Some(before) = before {
            before.close();
        }
    }

    /// Somebody wants to unload the driver: closes NVML at once and keeps it closed for a while.
    /// Blocks until the process that has it open is gone, a second at the most.
    pub fn begin(&self) {
        let mut until = lock(&self.until);
        let fresh = until.is_none_or(|at| at <= Instant::now());
        *until = Some(Instant::now() + HOLD);
        drop(until);
        let nvml = lock(&self.nvml).clone();
        if let Some(nvml) = nvml {
            if fresh {
                tracing::info!("the NVIDIA driver may be unloaded: NVML is closed for {HOLD:?}");
            }
            if !nvml.close() {
                tracing::warn!("NVML is stuck in the kernel, so the driver cannot be unloaded");
            }
        }
    }

    /// Whether the driver is to be left alone now.
    pub fn active(&self) -> bool {
        let until = lock(&self.until);
        until.is_some_and(|at| at > Instant::now())
    }

    /// The driver was loaded: the hold is over.
    pub fn end(&self) {
        *lock(&self.until) = None;
    }
}

#[cfg(test)]
mod tests {
    use gtrace_devices::{NvmlConfig, NvmlError};

    use super::*;

    #[test]
    fn a_hold_lasts_until_the_driver_is_loaded_again() {
        let hold = DriverHold::default();
        assert!(!hold.active());
        hold.begin();
        assert!(hold.active());
        hold.end();
        assert!(!hold.active());
    }

    #[test]
    fn a_hold_closes_the_client_of_the_thread_that_was_started_last_and_none_else_is_open() {
        let hold = DriverHold::default();
        let client = || {
            let config = NvmlConfig::with_command(|| std::process::Command::new("/nonexistent"));
            Arc::new(NvmlClient::new(config).unwrap())
        };
        let is_closed = |client: &NvmlClient| matches!(client.sample(), Err(NvmlError::Closed));
        let (first, second) = (client(), client());
        hold.set_nvml(Arc::clone(&first));
        hold.set_nvml(Arc::clone(&second));
        assert!(is_closed(&first) && !is_closed(&second));
        hold.begin();
        assert!(is_closed(&second));
    }

    #[test]
    fn the_loaded_modules_version_is_read() {
        let root = tempfile::tempdir().unwrap();
        let follower = Follower::new(root.path(), true);
        assert_eq!(follower.version(), None);
        std::fs::create_dir_all(root.path().join("module/nvidia")).unwrap();
        std::fs::write(root.path().join("module/nvidia/version"), "535.183.01\n").unwrap();
        assert_eq!(follower.version(), DriverVersion::parse("535.183.01"));
        assert!(follower.inode(DriverModule::Nvidia).is_some());
        assert_eq!(follower.inode(DriverModule::NvidiaUvm), None);
    }

    #[test]
    fn a_driver_that_is_exchanged_while_the_probes_are_detached_is_another_one() {
        let root = tempfile::tempdir().unwrap();
        let load = |version: &str| {
            // Made before the one before goes: its inode is another.
            let loaded = root.path().join(version);
            std::fs::create_dir(&loaded).unwrap();
            std::fs::write(loaded.join("initstate"), "live\n").unwrap();
            let modules = root.path().join("module");
            let _ = std::fs::remove_dir_all(modules.join("nvidia"));
            std::fs::create_dir_all(&modules).unwrap();
            std::fs::rename(loaded, modules.join("nvidia")).unwrap();
        };
        let changes = |loaded, reloaded, any| Changes {
            loaded,
            reloaded,
            any,
        };
        let mut follower = Follower::new(root.path(), true);
        load("535");
        assert!(follower.poll(|_, _| true));
        assert_eq!(follower.take_changes(), changes(true, false, true));
        assert!(!follower.poll(|_, _| true));
        assert_eq!(follower.take_changes(), changes(false, false, false));
        // A pause, an upgrade, and the end of the pause, which has the driver followed.
        follower.forget();
        load("580");
        assert!(follower.poll(|_, _| true));
        assert!(!follower.poll(|_, _| true));
        assert_eq!(follower.take_changes(), changes(true, true, true));
    }

    #[test]
    fn a_module_counts_once_it_has_been_initialised() {
        let root = tempfile::tempdir().unwrap();
        let follower = Follower::new(root.path(), true);
        std::fs::create_dir_all(root.path().join("module/nvidia")).unwrap();
        for (state, live) in [("coming\n", false), ("live\n", true), ("going\n", false)] {
            std::fs::write(root.path().join("module/nvidia/initstate"), state).unwrap();
            assert_eq!(follower.is_live(DriverModule::Nvidia), live, "{state}");
        }
    }
}
