//! Loading, attaching, configuring and reading the probes.
#![allow(clippy::result_large_err)] // aya's errors are large and rare

use std::collections::BTreeMap;
use std::os::fd::{AsFd as _, OwnedFd};

use aya::maps::{Array, HashMap, Map, MapData, RingBuf};
use aya::programs::trace_point::TracePointLinkId;
use aya::programs::{ProgramError, TracePoint};
use aya::{Ebpf, EbpfLoader};
use gtrace_abi::{CallHist, CallKey, CallStart, Config};
use gtrace_event::WitnessName;

use super::driver_links::DriverLinks;
use super::layout::Layout;
use super::objects::object;
use super::programs::{DRIVER_PROGRAMS, DRIVER_WITNESSES, Hook, PROBES, Probe};
use super::state::{AttachState, LoadError, error_chain, load_error};
use super::stats::{RunStats, run_stats_of};
use super::tracefs::Tracefs;

/// Tables for one process, or one poll.
const SMALL: [(&str, u32); 7] = [
    ("HISTS", 256),
    ("HISTS_OTHERS", 64),
    ("FAILURES", 256),
    ("STARTS", 1024),
    ("DRIVER_STARTS", 1024),
    ("OPENS", 256),
    ("GPU_TASKS", 256),
];

/// What is wanted of the probes.
#[derive(Clone, Debug, Default)]
pub struct ProbesOptions {
    /// Load the object with aya-log and print its lines.
    pub log: bool,
    /// Probes that are not wanted.
    pub off: Vec<WitnessName>,
    /// Room of the event ring in bytes, a power of two; 0 for the default.
    pub ring_bytes: u32,
    /// Whether nvidia:nvidia_dev_xid is attached to when the driver has it. The driver cannot be
    /// unloaded meanwhile.
    pub dev_xid: bool,
    /// Whether the tables are to be small: for one process, or one poll.
    pub small: bool,
}

/// The loaded probes.
#[derive(Debug)]
pub struct Probes {
    pub(super) ebpf: Ebpf,
    layout: Layout,
    pub(super) options: ProbesOptions,
    pub(super) links: BTreeMap<&'static str, TracePointLinkId>,
    pub(super) states: BTreeMap<WitnessName, AttachState>,
    pub(super) driver: DriverLinks,
}

impl Probes {
    /// Loads the object. Nothing is attached yet.
    pub fn load(layout: Layout, options: ProbesOptions) -> Result<Self, LoadError> {
        let mut loader = EbpfLoader::new();
        loader.override_global("OFFSETS", &layout.offsets, true);
        loader.override_global("RAS_OFFSETS", &layout.ras, true);
        if options.ring_bytes != 0 {
            loader.map_max_entries("EVENTS", options.ring_bytes);
        }
        if options.small {
            for (map, entries) in SMALL {
                loader.map_max_entries(map, entries);
            }
        }
        let mut ebpf = loader
            .load(&object(options.log))
            .map_err(|e| LoadError::Object(error_chain(&e)))?;
        let driver = DriverLinks::load(&ebpf);
        let map = ebpf.map_mut("HISTS").ok_or(LoadError::Map("HISTS"))?;
        let mut hists: HashMap<_, CallKey, CallHist> =
            HashMap::try_from(map).map_err(|_| LoadError::Map("HISTS"))?;
        hists
            .insert(CallKey::OVERFLOW, CallHist::EMPTY, 0)
            .map_err(|e| LoadError::Object(error_chain(&e)))?;
        let states = PROBES
            .iter()
            .map(|p| (p.witness, AttachState::Off))
            .chain(DRIVER_WITNESSES.map(|w| (w, AttachState::Off)))
            .collect();
        Ok(Self {
            ebpf,
            layout,
            options,
            links: BTreeMap::new(),
            states,
            driver,
        })
    }

    /// Starts to print what the probes log; only the logging object logs anything.
    pub fn start_log(&mut self) -> Option<aya_log::EbpfLogger<&'static dyn log::Log>> {
        self.options
            .log
            .then(|| aya_log::EbpfLogger::init(&mut self.ebpf).ok())?
    }

    /// Attaches every probe that is wanted and that this kernel has.
    pub fn attach(&mut self, tracefs: &Tracefs) {
        for probe in &PROBES {
            let state = self.attach_one(probe, tracefs);
            if let AttachState::Failed(reason) = &state {
                tracing::warn!(probe = probe.witness.name(), "not attached: {reason}");
            }
            self.states.insert(probe.witness, state);
        }
    }

    fn attach_one(&mut self, probe: &Probe, tracefs: &Tracefs) -> AttachState {
        if self.options.off.contains(&probe.witness) {
            return AttachState::Off;
        }
        if probe.witness == WitnessName::SyscallIoctl && self.driver.replaces_syscalls {
            return AttachState::Replaced(WitnessName::DriverIoctl);
        }
        if let Some(missing) = probe
            .hooks
            .iter()
            .find(|h| !h.optional && !tracefs.has(h.category, h.name))
        {
            return AttachState::Absent(format!(
                "this kernel has no tracepoint {}:{}",
                missing.category, missing.name
            ));
        }
        if let Some(problem) = self
            .layout
            .files_problem
            .as_ref()
            .filter(|_| probe.needs_files)
        {
            return AttachState::Absent(problem.clone());
        }
        for hook in probe.hooks {
            let missing = hook.optional && !tracefs.has(hook.category, hook.name);
            if missing || self.links.contains_key(hook.program) {
                continue;
            }
            match self.attach_hook(hook) {
                Ok(link) => {
                    self.links.insert(hook.program, link);
                }
                Err(reason) => {
                    self.detach_one(probe);
                    return AttachState::Failed(reason);
                }
            }
        }
        AttachState::Attached
    }

    /// Attaches or detaches the syscall's tracepoints, as they are needed or the driver's own probes
    /// see the calls.
    pub fn replace_syscalls(&mut self, replaced: bool, tracefs: &Tracefs) {
        if self.driver.replaces_syscalls == replaced {
            return;
        }
        self.driver.replaces_syscalls = replaced;
        for probe in PROBES
            .iter()
            .filter(|p| p.witness == WitnessName::SyscallIoctl)
        {
            if replaced {
                self.detach_one(probe);
            }
            let state = self.attach_one(probe, tracefs);
            self.states.insert(probe.witness, state);
        }
    }

    fn attach_hook(&mut self, hook: &Hook) -> Result<TracePointLinkId, String> {
        let program: &mut TracePoint = self
            .ebpf
            .program_mut(hook.program)
            .ok_or_else(|| format!("the BPF object has no program {}", hook.program))?
            .try_into()
            .map_err(|e: ProgramError| error_chain(&e))?;
        match program.load() {
            Ok(()) | Err(ProgramError::AlreadyLoaded) => {}
            Err(error) => return Err(load_error(hook.program, &error)),
        }
        program
            .attach(hook.category, hook.name)
            .map_err(|e| error_chain(&e))
    }

    fn detach_one(&mut self, probe: &Probe) {
        let ioctl = probe.witness == WitnessName::SyscallIoctl
            && probe
                .hooks
                .iter()
                .any(|h| self.links.contains_key(h.program));
        // Enter before exit, so that no start is left without its end.
        for hook in probe.hooks.iter().rev() {
            let Some(link) = self.links.remove(hook.program) else {
                continue;
            };
            let Some(program) = self.ebpf.program_mut(hook.program) else {
                continue;
            };
            let detached = <&mut TracePoint>::try_from(program).and_then(|p| p.detach(link));
            if let Err(error) = detached {
                tracing::warn!(
                    probe = hook.program,
                    "detach failed: {}",
                    error_chain(&error)
                );
            }
        }
        if ioctl {
            // Calls under way would else seem to go on for ever.
            self.clear::<u64, CallStart>("STARTS");
        }
    }

    /// Detaches every probe; they stay loaded.
    pub fn detach(&mut self) {
        for probe in &PROBES {
            self.detach_one(probe);
            if self.has(probe.witness) {
                self.states.insert(probe.witness, AttachState::Paused);
            }
        }
        let of_driver = DRIVER_WITNESSES.map(|w| (w, self.has(w)));
        self.detach_driver();
        // Processes that end meanwhile are not seen to.
        self.clear::<u32, u32>("GPU_TASKS");
        for (witness, _) in of_driver.into_iter().filter(|(_, had)| *had) {
            self.states.insert(witness, AttachState::Paused);
        }
    }

    /// Whether a probe is attached.
    pub fn has(&self, witness: WitnessName) -> bool {
        matches!(
            self.states.get(&witness),
            Some(AttachState::Attached | AttachState::Degraded(_))
        )
    }

    /// How each probe stands.
    pub fn states(&self) -> &BTreeMap<WitnessName, AttachState> {
        &self.states
    }

    /// The rings: events first, then slow calls.
    pub fn take_rings(&mut self) -> Result<[RingBuf<MapData>; 2], LoadError> {
        let mut take = |name| {
            let map = self.ebpf.take_map(name).ok_or(LoadError::Map(name))?;
            RingBuf::try_from(map).map_err(|_| LoadError::Map(name))
        };
        Ok([take("EVENTS")?, take("CALLS")?])
    }

    /// The rings once more, by descriptors of theirs: for a reader that takes the place of another.
    pub fn open_rings(fds: &[OwnedFd; 2]) -> Result<[RingBuf<MapData>; 2], LoadError> {
        let open = |fd: &OwnedFd, name| {
            let fd = fd.try_clone().map_err(|_| LoadError::Map(name))?;
            let map = MapData::from_fd(fd).map_err(|_| LoadError::Map(name))?;
            RingBuf::try_from(Map::RingBuf(map)).map_err(|_| LoadError::Map(name))
        };
        let [events, calls] = fds;
        Ok([open(events, "EVENTS")?, open(calls, "CALLS")?])
    }

    /// Sets filters and thresholds.
    pub fn configure(&mut self, config: &Config) -> Result<(), LoadError> {
        let map = self
            .ebpf
            .map_mut("CONFIG")
            .ok_or(LoadError::Map("CONFIG"))?;
        let mut array: Array<_, Config> =
            Array::try_from(map).map_err(|_| LoadError::Map("CONFIG"))?;
        array
            .set(0, config, 0)
            .map_err(|e| LoadError::Object(error_chain(&e)))
    }

    /// Records whether every closing of a device file is seen from now on.
    pub(super) fn watch_closing(&mut self, watched: bool) -> Result<(), LoadError> {
        let map = self.ebpf.map_mut("FILES_CLOSED");
        let map = map.ok_or(LoadError::Map("FILES_CLOSED"))?;
        let mut array: Array<_, u64> =
            Array::try_from(map).map_err(|_| LoadError::Map("FILES_CLOSED"))?;
        let now = array.get(&0, 0).unwrap_or(0);
        // Going on from where it is: what was remembered at an earlier count stays out of date.
        if watched && now != 0 {
            return Ok(());
        }
        array
            .set(0, u64::from(watched), 0)
            .map_err(|e| LoadError::Object(error_chain(&e)))
    }

    /// Run statistics of every loaded program: name, (runs, nanoseconds, runs skipped because
    /// BPF was already running on the CPU). The kernel counts runs and time only while statistics
    /// are on.
    pub fn run_stats(&self) -> Vec<(&'static str, RunStats)> {
        let tracepoints = PROBES.iter().flat_map(|p| p.hooks).map(|h| h.program);
        let all = tracepoints.chain(DRIVER_PROGRAMS);
        let mut stats: Vec<_> = all
            .filter_map(|name| {
                let program = self.ebpf.program(name)?;
                Some((name, run_stats_of(program.fd().ok()?.as_fd())?))
            })
            .collect();
        stats.extend(self.driver.core_run_stats());
        stats
    }
}
