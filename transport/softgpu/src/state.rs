//! What the whole process shares: devices, contexts, settings.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

use crate::abi::Answer;
use crate::config::{Config, visible_devices, warn};
use crate::context::Context;
use crate::device::Device;
use crate::error::{CuError, INVALID_DEVICE, NO_DEVICE, NOT_INITIALIZED, OUT_OF_MEMORY, fail_if};
use crate::registry::Registry;
use crate::startup;

/// See the module.
pub(crate) struct State {
    pub(crate) config: Config,
    /// All devices, as NVML sees them.
    pub(crate) devices: Vec<Device>,
    /// Indices of those that CUDA sees, by ordinal.
    pub(crate) visible: Vec<usize>,
    pub(crate) contexts: Registry<Context>,
}

static STATE: OnceLock<Option<State>> = OnceLock::new();
static CUDA_READY: AtomicBool = AtomicBool::new(false);
/// Set in a child after fork: as with the real driver, a child cannot use what its parent made.
static FORKED: AtomicBool = AtomicBool::new(false);
static INIT: Mutex<()> = Mutex::new(());

/// The state, made on first use by CUDA or NVML.
pub(crate) fn shared() -> Option<&'static State> {
    STATE.get_or_init(build).as_ref()
}

fn build() -> Option<State> {
    let config = Config::from_env();
    let mut devices = Vec::new();
    for index in 0..config.devices {
        match Device::new(index, &config) {
            Ok(device) => devices.push(device),
            Err(error) => {
                warn(&format!("memory of device {index}: {error}"));
                return None;
            }
        }
    }
    if config.skip_launches {
        warn("GTRACE_SOFTGPU_LAUNCH=skip: kernels are accepted and not executed");
    }
    let uuids: Vec<String> = devices.iter().map(Device::uuid_text).collect();
    let visible = visible_devices(config.visible.as_deref(), &uuids);
    watch_forks();
    let state = State {
        config,
        devices,
        visible,
        contexts: Registry::new(),
    };
    for device in &state.devices {
        state.apply_faults(device);
    }
    Some(state)
}

#[allow(unsafe_code)]
fn watch_forks() {
    extern "C" fn in_child() {
        FORKED.store(true, Ordering::Relaxed);
        crate::calls::forked();
    }
    // SAFETY: the handler only stores to an atomic, which is allowed after fork, and this library
    // is never unmapped (build.rs).
    unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
}

/// `cuInit`.
pub(crate) fn initialise() -> Answer {
    let _held = INIT.lock();
    fail_if(FORKED.load(Ordering::Relaxed), NOT_INITIALIZED)?;
    let state = shared().ok_or(OUT_OF_MEMORY)?;
    fail_if(state.visible.is_empty(), NO_DEVICE)?;
    startup::check()?;
    CUDA_READY.store(true, Ordering::Release);
    Ok(())
}

/// The state for a function of the driver API, all of which need `cuInit` first.
pub(crate) fn state() -> Answer<&'static State> {
    if !CUDA_READY.load(Ordering::Acquire) || FORKED.load(Ordering::Relaxed) {
        return Err(NOT_INITIALIZED);
    }
    shared().ok_or(NOT_INITIALIZED)
}

impl State {
    /// The device of an ordinal.
    pub(crate) fn device(&self, ordinal: i32) -> Answer<&Device> {
        let index = usize::try_from(ordinal)
            .ok()
            .and_then(|ordinal| self.visible.get(ordinal));
        index
            .and_then(|index| self.devices.get(*index))
            .ok_or(INVALID_DEVICE)
    }

    /// The ordinal of a device.
    pub(crate) fn ordinal(&self, device: &Device) -> i32 {
        self.visible
            .iter()
            .position(|index| *index == device.index)
            .map_or(-1, |at| at as i32)
    }

    /// Reads the control file again if it changed.
    pub(crate) fn refresh(&self, device: &Device) {
        if device.faults.refresh(self.config.control.as_deref()) {
            self.apply_faults(device);
        }
    }

    /// Does what was ordered to happen at once.
    fn apply_faults(&self, device: &Device) {
        let injected = device.faults.injected();
        for code in injected.xids {
            self.write_xid(device, code, "injected by GTRACE_SOFTGPU_FAULT");
        }
        if injected.lost_at == Some(0) {
            self.lose(device);
        }
    }

    /// The device falls off the bus: nothing on it works any more.
    pub(crate) fn lose(&self, device: &Device) {
        if !device.lose() {
            return;
        }
        self.write_xid(device, 79, "GPU has fallen off the bus.");
        for context in self.contexts.all() {
            if context.device.index == device.index {
                context.health.fail(crate::error::UNKNOWN);
                context.health.cancel.cancel();
            }
        }
    }

    /// A kernel failed on the device: what the driver would log.
    pub(crate) fn log_fault(&self, device: &Device, error: CuError, address: Option<u64>) {
        let (code, text) = match error.code() {
            700 => {
                let address = address.unwrap_or(0);
                let text = format!(
                    "Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS GPC0 GPCCLIENT_T1_0 \
                     faulted @ {:#x}_{:08x}. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ",
                    address >> 32,
                    address & 0xffff_ffff
                );
                (31, text)
            }
            214 => {
                device.ecc_uncorrected.fetch_add(1, Ordering::Relaxed);
                (48, "DBE (double bit error) ECC Error".to_owned())
            }
            702 => (8, "Ch 00000008".to_owned()),
            715 => (13, sm_exception("Illegal Instruction Encoding")),
            716 => (13, sm_exception("Misaligned Address")),
            718 => (13, sm_exception("Invalid PC")),
            714 => (13, sm_exception("Stack Error")),
            719 => (13, sm_exception("Illegal Instruction Parameter")),
            _ => return,
        };
        self.write_xid(device, code, &text);
    }

    /// Notifies who waits for Xids, and appends a line in the driver's form to the file of
    /// `GTRACE_SOFTGPU_KMSG`.
    fn write_xid(&self, device: &Device, code: u32, text: &str) {
        crate::nvml::events::publish(device, code);
        let Some(path) = &self.config.kmsg else {
            return;
        };
        let name = std::fs::read_to_string("/proc/self/comm").unwrap_or_default();
        let line = format!(
            "NVRM: Xid (PCI:{:04x}:{:02x}:00): {code}, pid={}, name={}, {text}\n",
            crate::device::PCI_DOMAIN,
            device.bus(),
            std::process::id(),
            name.trim_end(),
        );
        let written = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .and_then(|mut file| std::io::Write::write_all(&mut file, line.as_bytes()));
        if let Err(error) = written {
            warn(&format!(
                "Xid line not written to {}: {error}",
                path.display()
            ));
        }
    }
}

fn sm_exception(what: &str) -> String {
    format!("Graphics SM Warp Exception on (GPC 0, TPC 0, SM 0): {what}")
}
