//! The probes on the NVIDIA driver's own functions: kprobes, which the kernel lets go of by itself
//! when the module is unloaded.
//!
//! kprobe.multi is cheaper and is not used: since 6.2 its links hold the module, so that `rmmod`
//! would be refused while gtrace runs.

use std::path::Path;

use aya::programs::kprobe::KProbeLinkId;
use aya::programs::{KProbe, ProgramError, TracePoint};
use gtrace_abi::{CallStart, OpenFile};
use gtrace_event::WitnessName;

use super::probes::Probes;
use super::programs::{DRIVER_WITNESSES, DriverModule, REPORT_ERROR};
use super::state::{AttachState, error_chain, load_error};
use super::tracefs::Tracefs;

/// There where the kernel can probe its functions.
const KPROBES: &str = "/sys/bus/event_source/devices/kprobe";

/// Whether the module is loaded and is not being unloaded, when it refuses probes.
fn stays(module: DriverModule) -> bool {
    let state = std::fs::read_to_string(format!("/sys/module/{}/initstate", module.name()));
    state.is_ok_and(|state| state.trim() == "live")
}

/// Why nothing is attached to the driver's functions where the kernel has no such probes.
pub const NO_KPROBES: &str = "this kernel has no kprobes (CONFIG_KPROBES, CONFIG_KPROBE_EVENTS)";

impl Probes {
    /// Attaches to a module that has been loaded; whether there is nothing left to try again.
    pub fn attach_driver(&mut self, module: DriverModule, tracefs: &Tracefs) -> bool {
        if !Path::new(KPROBES).exists() {
            let reason = NO_KPROBES;
            for witness in [WitnessName::DriverIoctl, WitnessName::ReportError] {
                if !self.options.off.contains(&witness) {
                    self.set_driver_state(module, witness, AttachState::Absent(reason.to_owned()));
                }
            }
            return true;
        }
        let calls = self.attach_calls(module);
        if module != DriverModule::Nvidia {
            return calls;
        }
        let mut reported = true;
        if !self.options.off.contains(&WitnessName::ReportError) {
            let state = match self.attach_report_error() {
                Ok(()) => AttachState::Attached,
                Err(reason) => AttachState::Failed(reason),
            };
            reported = state == AttachState::Attached;
            self.set_driver_state(module, WitnessName::ReportError, state);
        }
        self.attach_dev_xid_if_wanted(tracefs);
        calls && reported
    }

    /// Attaches to the functions of a module. UVM's are a part of the source: without the main
    /// module's they would only see calls that the syscall's tracepoints then see too.
    fn attach_calls(&mut self, module: DriverModule) -> bool {
        if self.options.off.contains(&WitnessName::DriverIoctl) {
            return true;
        }
        let main = self.driver.kprobes.contains_key(&DriverModule::Nvidia);
        if module == DriverModule::NvidiaUvm && !main {
            return false;
        }
        let attached = self.attach_functions(module);
        // What the probes remember of a file is good only while they see it closed.
        let closes =
            |links: &Vec<(&str, KProbeLinkId)>| links.iter().any(|l| l.0 == "driver_close");
        let all = self.driver.kprobes.values().all(closes);
        if let Err(error) = self.watch_closing(all) {
            tracing::debug!("closing is not watched: {error}");
        }
        if attached.is_err() {
            self.detach_module(module);
        }
        let state = match (module, attached) {
            (_, Ok(())) => AttachState::Attached,
            (DriverModule::Nvidia, Err(reason)) => {
                self.detach_module(DriverModule::NvidiaUvm);
                AttachState::Failed(reason)
            }
            (DriverModule::NvidiaUvm, Err(reason)) => {
                AttachState::Degraded(format!("calls of nvidia-uvm are not seen: {reason}"))
            }
        };
        let done = state == AttachState::Attached;
        self.set_driver_state(module, WitnessName::DriverIoctl, state);
        done
    }

    /// Whether nvidia:nvidia_dev_xid is asked for.
    pub fn wants_dev_xid(&self) -> bool {
        self.options.dev_xid
    }

    /// Attaches to nvidia:nvidia_dev_xid where that is asked for and it is there.
    pub fn attach_dev_xid_if_wanted(&mut self, tracefs: &Tracefs) {
        if !self.options.dev_xid || self.driver.dev_xid.is_some() {
            return;
        }
        let state = if tracefs.has("nvidia", "nvidia_dev_xid") {
            match self.attach_dev_xid() {
                Ok(()) => AttachState::Attached,
                Err(reason) => AttachState::Failed(reason),
            }
        } else {
            AttachState::Absent("this driver has no such tracepoint (575.51.02 has)".to_owned())
        };
        self.set_driver_state(DriverModule::Nvidia, WitnessName::DevXid, state);
    }

    fn set_driver_state(&mut self, module: DriverModule, witness: WitnessName, state: AttachState) {
        // Attaching is tried again and again; its failure is reported once.
        if self.states.get(&witness) != Some(&state)
            && stays(module)
            && let AttachState::Failed(reason) | AttachState::Degraded(reason) = &state
        {
            tracing::warn!(probe = witness.name(), "not attached: {reason}");
        }
        self.states.insert(witness, state);
    }

    fn attach_functions(&mut self, module: DriverModule) -> Result<(), String> {
        if self.driver.kprobes.contains_key(&module) {
            return Ok(());
        }
        let mut first_error = None;
        for functions in module.functions() {
            // The return comes first, so that no start is ever without its end.
            let ended = match self.attach_kprobe("driver_ioctl_return", functions.ioctl) {
                Ok(link) => link,
                Err(reason) => {
                    first_error.get_or_insert(reason);
                    continue;
                }
            };
            let mut links = vec![("driver_ioctl_return", ended)];
            let others = [
                ("driver_ioctl", functions.ioctl, true),
                ("driver_open_return", functions.open, false),
                ("driver_open", functions.open, false),
                ("driver_mmap_return", functions.mmap, false),
                ("driver_mmap", functions.mmap, false),
                ("driver_close_return", functions.close, false),
                ("driver_close", functions.close, false),
            ];
            let mut failure = None;
            for (program, function, needed) in others {
                match self.attach_kprobe(program, function) {
                    Ok(link) => links.push((program, link)),
                    Err(reason) if needed => failure = Some(reason),
                    Err(reason) if stays(module) => {
                        tracing::warn!("{program} is not attached: {reason}");
                    }
                    Err(_) => {}
                }
            }
            self.driver.kprobes.insert(module, links);
            return failure.map_or(Ok(()), Err);
        }
        Err(first_error.unwrap_or_default())
    }

    fn attach_kprobe(
        &mut self,
        name: &'static str,
        function: &str,
    ) -> Result<KProbeLinkId, String> {
        let program: &mut KProbe = self
            .ebpf
            .program_mut(name)
            .ok_or_else(|| format!("the BPF object has no program {name}"))?
            .try_into()
            .map_err(|e: ProgramError| error_chain(&e))?;
        match program.load() {
            Ok(()) | Err(ProgramError::AlreadyLoaded) => {}
            Err(error) => return Err(load_error(name, &error)),
        }
        program
            .attach(function, 0)
            .map_err(|e| format!("{function}: {}", error_chain(&e)))
    }

    fn attach_report_error(&mut self) -> Result<(), String> {
        if self.driver.report_error.is_some() {
            return Ok(());
        }
        let core = self.driver.core.as_mut().map_err(|reason| reason.clone())?;
        let program = core
            .progs_mut()
            .find(|p| p.name() == REPORT_ERROR)
            .ok_or_else(|| format!("the BPF object has no program {REPORT_ERROR}"))?;
        let link = program
            .attach_kprobe(false, "nv_report_error")
            .map_err(|e| format!("nv_report_error: {e:#}"))?;
        self.driver.report_error = Some(link);
        Ok(())
    }

    fn attach_dev_xid(&mut self) -> Result<(), String> {
        if self.driver.dev_xid.is_some() {
            return Ok(());
        }
        let program: &mut TracePoint = self
            .ebpf
            .program_mut("dev_xid")
            .ok_or("the BPF object has no program dev_xid")?
            .try_into()
            .map_err(|e: ProgramError| error_chain(&e))?;
        match program.load() {
            Ok(()) | Err(ProgramError::AlreadyLoaded) => {}
            Err(error) => return Err(load_error("dev_xid", &error)),
        }
        let link = program
            .attach("nvidia", "nvidia_dev_xid")
            .map_err(|e| error_chain(&e))?;
        self.driver.dev_xid = Some(link);
        Ok(())
    }

    /// Lets go of a module, which may be gone already: the kernel has then taken the probes out.
    fn detach_module(&mut self, module: DriverModule) {
        let links = self.driver.kprobes.remove(&module).unwrap_or_default();
        let any = !links.is_empty();
        // The return last, so that no start is left without its end.
        for (name, link) in links.into_iter().rev() {
            let program = self.ebpf.program_mut(name);
            let detached = program.map(|p| <&mut KProbe>::try_from(p)?.detach(link));
            if let Some(Err(error)) = detached {
                tracing::warn!(probe = name, "detach failed: {}", error_chain(&error));
            }
        }
        if module == DriverModule::Nvidia {
            self.driver.report_error = None;
            self.detach_dev_xid();
        }
        if any && self.driver.kprobes.is_empty() {
            // Calls under way would else seem to go on for ever, and files to stay open.
            self.clear::<u64, CallStart>("DRIVER_STARTS");
            self.clear::<u64, CallStart>("FILE_STARTS");
            self.clear::<u64, OpenFile>("OPENS");
        }
    }

    /// A module was unloaded: lets go of what is left, and what was wrong with it went with it.
    pub fn module_gone(&mut self, module: DriverModule) {
        self.detach_module(module);
        let state = self.states.get_mut(&WitnessName::DriverIoctl);
        if let (DriverModule::NvidiaUvm, Some(state @ AttachState::Degraded(_))) = (module, state) {
            *state = AttachState::Attached;
        }
    }

    /// Lets go of nvidia:nvidia_dev_xid, which would keep the module from being unloaded.
    pub fn detach_dev_xid(&mut self) {
        let Some(link) = self.driver.dev_xid.take() else {
            return;
        };
        let program = self.ebpf.program_mut("dev_xid");
        let detached = program.map(|p| <&mut TracePoint>::try_from(p)?.detach(link));
        if let Some(Err(error)) = detached {
            tracing::warn!("dev_xid: detach failed: {}", error_chain(&error));
        }
        let held = AttachState::Held("let go, as somebody may be unloading the driver");
        self.states.insert(WitnessName::DevXid, held);
    }

    /// Lets go of every module.
    pub(super) fn detach_driver(&mut self) {
        for module in DriverModule::ALL.into_iter().rev() {
            self.detach_module(module);
        }
    }

    /// Shows that the driver is not there.
    pub fn driver_absent(&mut self) {
        for witness in DRIVER_WITNESSES {
            let off = self.options.off.contains(&witness)
                || witness == WitnessName::DevXid && !self.options.dev_xid;
            let state = if off {
                AttachState::Off
            } else {
                AttachState::Absent("the NVIDIA driver is not loaded".to_owned())
            };
            self.states.insert(witness, state);
        }
    }
}
