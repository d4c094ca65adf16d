//! What the threads of the probes share: the probes, their rings, the driver's state.

use std::collections::BTreeMap;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::Thread;
use std::time::Duration;

use aya::maps::{MapData, RingBuf};
use gtrace_abi::{ModuleChange, ModuleRecord};
use gtrace_api::SourceState;
use gtrace_decoder::DriverVersion;
use gtrace_devices::ProcGpus;
use gtrace_event::{Occasion, WitnessName};
use gtrace_recorder::{self as recorder, What};

use super::driver_modules::{DriverHold, Follower};
use super::reported::Reported;
use super::unload::{may_unload, unloads_the_driver};
use super::watched::DeviceNames;
use super::{records, table};
use crate::bpf::{AttachState, LoadError, Probes, Tracefs};
use crate::component::{self, driver_modules};
use crate::hub::{Command, Hub};
use crate::lock::lock;
use crate::supervise;

/// How long a task waits for the probes while another thread attaches or detaches them: less than its
/// silence.
const LOCK_LIMIT: Duration = Duration::from_secs(30);
/// How many processes may have ended before their keys are given back at once. A CUDA program has some 130 of 1,600 keys.
pub(super) const MANY_ENDED: usize = 4;
/// Why a task has waited in vain.
pub(super) const HELD: &str = "another thread has been attaching or detaching probes for too long";
/// What the threads of the probes share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) probes: Mutex<Probes>,
    pub(super) tracefs: Tracefs,
    pub(super) hub: Arc<Hub>,
    pub(super) stop: AtomicBool,
    /// Asked for by `gtrace pause`.
    pub(super) pause_asked: AtomicBool,
    pub(super) kill_switch: PathBuf,
    pub(super) follower: Mutex<Follower>,
    /// Whether the configuration wants the driver's modules followed.
    pub(super) follows: bool,
    /// Somebody is about to unload a module.
    pub(super) unload: AtomicBool,
    /// Who uses the devices is to be found out anew.
    pub(super) rescan: AtomicBool,
    /// Whether the driver's own functions are probed.
    pub(super) driver_probed: AtomicBool,
    pub(super) device_names: Mutex<Arc<DeviceNames>>,
    /// What the driver said of its GPUs: asking it again wakes them, and one that starts does not answer.
    pub(super) proc_gpus: Mutex<ProcGpus>,
    pub(super) hold: Arc<DriverHold>,
    /// Processes that have ended, and whose tables are to be emptied: with their names.
    pub(super) ended: Mutex<BTreeMap<u32, String>>,
    /// The housekeeping thread, to be woken.
    pub(super) housekeeping: Mutex<Option<Thread>>,
    pub(super) rings: Rings,
    pub(super) reported: Mutex<Reported>,
}

/// The rings, which outlive the thread that reads them.
pub(super) struct Rings {
    /// Those that no thread has.
    free: Mutex<Option<[RingBuf<MapData>; 2]>>,
    fds: [OwnedFd; 2],
}

impl std::fmt::Debug for Rings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Rings").field(&self.fds).finish()
    }
}

impl Rings {
    pub(super) fn new(rings: [RingBuf<MapData>; 2]) -> std::io::Result<Self> {
        let [events, calls] = &rings;
        let fds = [
            events.as_fd().try_clone_to_owned()?,
            calls.as_fd().try_clone_to_owned()?,
        ];
        Ok(Self {
            free: Mutex::new(Some(rings)),
            fds,
        })
    }

    /// For the calling thread. If one that hangs has them, they are opened once more; the kernel keeps
    /// the place up to which they were read.
    pub(super) fn take(&self) -> Result<RingsHeld<'_>, LoadError> {
        let rings = match lock(&self.free).take() {
            Some(rings) => rings,
            None => Probes::open_rings(&self.fds)?,
        };
        Ok(RingsHeld {
            of: self,
            rings: Some(rings),
        })
    }
}

/// Gives the rings back when the thread ends, by a panic too.
pub(super) struct RingsHeld<'a> {
    of: &'a Rings,
    pub(super) rings: Option<[RingBuf<MapData>; 2]>,
}

impl Drop for RingsHeld<'_> {
    fn drop(&mut self) {
        // Those of a thread that was replaced are at an old place.
        if !supervise::is_revoked() {
            *lock(&self.of.free) = self.rings.take();
        }
    }
}

impl Shared {
    /// Attaching and detaching can hang in the kernel: nobody waits for that without end.
    pub(super) fn lock(&self) -> MutexGuard<'_, Probes> {
        supervise::lock_or_fail(&self.probes, LOCK_LIMIT, HELD)
    }

    /// Detaches or attaches as the kill switch and `gtrace pause` want it.
    pub(super) fn obey_switches(&self) {
        // One at a time: the thread that follows the driver must not attach what is being detached.
        let mut follower = self.follower();
        let want_paused = self.pause_asked.load(Ordering::Relaxed) || self.kill_switch.exists();
        if want_paused == self.hub.is_paused() {
            return;
        }
        let mut probes = self.lock();
        if want_paused {
            probes.detach();
            follower.forget();
            tracing::warn!("paused: every probe is detached");
        } else {
            follower.follow(&mut probes, &self.tracefs);
            probes.attach(&self.tracefs);
            tracing::info!("resumed: probes are attached again");
        }
        drop(probes);
        self.hub.update_status(|status| status.paused = want_paused);
        self.rescan.store(true, Ordering::Relaxed);
        drop(follower);
        self.show_states();
    }

    fn follower(&self) -> MutexGuard<'_, Follower> {
        supervise::lock_or_fail(&self.follower, LOCK_LIMIT, HELD)
    }

    /// Attaches to the driver when it has come, lets go of it when it is gone or about to go. True if
    /// anything has changed that is to be shown.
    pub(super) fn follow_driver(&self) -> bool {
        if self.unload.swap(false, Ordering::Relaxed) {
            self.lock().detach_dev_xid();
            self.hold.begin();
            self.show_states();
        }
        let mut follower = self.follower();
        if self.hub.is_paused() || self.stop.load(Ordering::Relaxed) {
            return false;
        }
        let mut probes = self.lock();
        follower.follow(&mut probes, &self.tracefs);
        let changes = follower.take_changes();
        let held = probes
            .states()
            .get(&WitnessName::DevXid)
            .is_some_and(is_held);
        if held && follower.driver_is_loaded() && !self.hold.active() {
            probes.attach_dev_xid_if_wanted(&self.tracefs);
        } else if !changes.any {
            return false;
        }
        drop(probes);
        drop(follower);
        if changes.loaded {
            self.hold.end();
        }
        if changes.reloaded {
            self.hub.command(Command::Observed(Occasion::DriverReload));
        }
        if changes.any {
            self.hub.saw(driver_modules::NAME);
            self.rescan.store(true, Ordering::Relaxed);
        }
        true
    }

    /// The loaded driver's version.
    pub(super) fn driver_version(&self) -> Option<DriverVersion> {
        self.follower().version()
    }

    /// A process of this name has ended. Its keys are given back by housekeeping within a second, at once if several have ended:
    /// together they can have taken half of the tables.
    pub(super) fn process_ended(&self, tgid: u32, name: String) {
        let mut ended = lock(&self.ended);
        ended.insert(tgid, name);
        let count = ended.len();
        drop(ended);
        if count == 1 || count >= MANY_ENDED {
            self.wake_housekeeping();
        }
    }

    /// How many have ended since they were taken last.
    pub(super) fn ended_count(&self) -> usize {
        lock(&self.ended).len()
    }

    /// The processes that have ended since it was asked last.
    pub(super) fn take_ended(&self) -> BTreeMap<u32, String> {
        std::mem::take(&mut *lock(&self.ended))
    }

    /// Has the housekeeping thread run a round at once.
    pub(super) fn wake_housekeeping(&self) {
        let housekeeping = lock(&self.housekeeping);
        if let Some(housekeeping) = &*housekeeping {
            housekeeping.unpark();
        }
    }

    pub(super) fn set_housekeeping(&self, thread: Thread) {
        let mut housekeeping = lock(&self.housekeeping);
        *housekeeping = Some(thread);
    }

    pub(super) fn module_changed(&self, record: &ModuleRecord) {
        let name = records::text_of(&record.name);
        let is = |change: ModuleChange| record.change == change as u32;
        if is(ModuleChange::Tool) {
            if !unloads_the_driver(&name, record.header.tgid) {
                return;
            }
            self.unload.store(true, Ordering::Relaxed);
        } else if !name.starts_with("nvidia") {
            return;
        } else if is(ModuleChange::Delete) {
            if !may_unload(record.header.tgid) {
                return;
            }
            self.unload.store(true, Ordering::Relaxed);
        } else {
            let change = match is(ModuleChange::Freed) {
                true => recorder::ModuleChange::Unloaded,
                false => recorder::ModuleChange::Loaded,
            };
            self.hub.recorder.note(What::Module { change, name });
        }
        self.wake_housekeeping();
    }

    pub(super) fn proc_gpus(&self) -> MutexGuard<'_, ProcGpus> {
        lock(&self.proc_gpus)
    }

    pub(super) fn device_names(&self) -> Arc<DeviceNames> {
        let names = lock(&self.device_names);
        Arc::clone(&names)
    }

    /// Keeps the names of the device files for the thread that takes the records.
    pub(super) fn set_device_names(&self, names: DeviceNames) -> Arc<DeviceNames> {
        let names = Arc::new(names);
        let mut kept = lock(&self.device_names);
        *kept = Arc::clone(&names);
        names
    }

    /// Which of the two ways of seeing calls is in use.
    pub(super) fn call_witness(&self) -> WitnessName {
        if self.driver_probed.load(Ordering::Relaxed) {
            WitnessName::DriverIoctl
        } else {
            WitnessName::SyscallIoctl
        }
    }

    /// How the component that follows the driver's modules stands.
    fn show_driver(&self) {
        let (name, loaded) = (driver_modules::NAME, self.follower().driver_is_loaded());
        let (state, reason) = match loaded {
            _ if !self.follows => (SourceState::Off, None),
            _ if self.hub.is_paused() => (SourceState::Off, Some("paused")),
            true => (SourceState::Active, None),
            false => (SourceState::Absent, Some("the NVIDIA driver is not loaded")),
        };
        component::show(&self.hub, name, state, reason.map(str::to_owned));
    }

    pub(super) fn show_states(&self) {
        let probes = self.lock();
        let probed = probes.has(WitnessName::DriverIoctl);
        self.driver_probed.store(probed, Ordering::Relaxed);
        let states = probes.states().clone();
        drop(probes);
        for (witness, state) in &states {
            table::show_probe(&self.hub, *witness, state);
        }
        self.show_driver();
    }
}

fn is_held(state: &AttachState) -> bool {
    matches!(state, AttachState::Held(_))
}
