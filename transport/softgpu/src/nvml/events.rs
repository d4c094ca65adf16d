//! Event sets: Xids of the devices, as they happen. Sets of events of the system (GPUs that are bound to the driver or unbound from
//! it) are there too, and nothing happens to them.

use std::ffi::{c_uint, c_ulonglong, c_void};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use super::{
    DeviceHandle, INVALID_ARGUMENT, NOT_SUPPORTED, Reply, TIMEOUT, VERSION_MISMATCH, any_device,
    device, handle_of, nvml, state,
};
use crate::abi::{Out, layouts};
use crate::device::Device;
use crate::error::fail_if;
use crate::registry::Registry;
use crate::sync::lock;

/// `nvmlEventTypeXidCriticalError`.
pub(crate) const XID: c_ulonglong = 8;
const KIND: u8 = 0x21;

layouts! {
    /// `nvmlEventData_t`.
    EventData {
        device: DeviceHandle,
        event_type: c_ulonglong,
        event_data: c_ulonglong,
        gpu_instance: c_uint,
        compute_instance: c_uint,
    }

    /// `nvmlEventData_t` of the first version.
    EventDataV1 {
        device: DeviceHandle,
        event_type: c_ulonglong,
        event_data: c_ulonglong,
    }
}

/// Who waits for which devices.
#[derive(Default)]
struct EventSet {
    /// Indices of devices whose Xids are wanted.
    devices: Mutex<Vec<usize>>,
    pending: Mutex<Vec<EventData>>,
    changed: Condvar,
}

static SETS: Registry<EventSet> = Registry::new();

/// `nvmlSystemEventTypeGpuDriverUnbind` and `nvmlSystemEventTypeGpuDriverBind`.
const SYSTEM_TYPES: c_ulonglong = 3;
const SYSTEM_KIND: u8 = 0x23;

layouts! {
    /// `nvmlSystemEventSetCreateRequest_v1_t` and `nvmlSystemEventSetFreeRequest_v1_t`.
    SystemSet {
        version: c_uint,
        set: u64,
    }

    /// `nvmlSystemRegisterEventRequest_v1_t`.
    SystemRegister {
        version: c_uint,
        types: c_ulonglong,
        set: u64,
    }

    /// `nvmlSystemEventSetWaitRequest_v1_t`.
    SystemWait {
        version: c_uint,
        timeout: c_uint,
        set: u64,
        events: Out<c_void>,
        room: c_uint,
        count: c_uint,
    }
}

static SYSTEM_SETS: Registry<()> = Registry::new();

/// A request, if it is of the version that is known.
fn asked<R: Copy>(request: Out<R>, version: impl Fn(&R) -> c_uint) -> Reply<R> {
    state()?;
    let asked = request.get()?;
    match version(&asked) == 1 << 24 | size_of::<R>() as c_uint {
        true => Ok(asked),
        false => Err(VERSION_MISMATCH),
    }
}

fn find_system(set: u64) -> Reply {
    SYSTEM_SETS.get(set).map(drop).ok_or(INVALID_ARGUMENT)
}

/// An Xid happened.
pub(crate) fn publish(device: &Device, code: u32) {
    for set in SETS.all() {
        if lock(&set.devices).contains(&device.index) {
            lock(&set.pending).push(EventData {
                device: handle_of(device),
                event_type: XID,
                event_data: code.into(),
                gpu_instance: c_uint::MAX,
                compute_instance: c_uint::MAX,
            });
            set.changed.notify_all();
        }
    }
}

fn find(set: u64) -> Reply<Arc<EventSet>> {
    state()?;
    SETS.get(set).ok_or(INVALID_ARGUMENT)
}

/// The next event of a set, or TIMEOUT after so many milliseconds.
fn next(set: u64, timeout: c_uint) -> Reply<EventData> {
    let set = find(set)?;
    let end = Instant::now() + Duration::from_millis(timeout.into());
    loop {
        let mut pending = lock(&set.pending);
        if !pending.is_empty() {
            return Ok(pending.remove(0));
        }
        let left = end.saturating_duration_since(Instant::now());
        fail_if(left.is_zero(), TIMEOUT)?;
        // Short waits: what is reported in the control file is only seen by looking.
        let part = left.min(Duration::from_millis(20));
        let waited = set.changed.wait_timeout(pending, part);
        drop(waited);
        // Not under the lock: an Xid that is found there comes here.
        let devices = lock(&set.devices).clone();
        for index in devices {
            if let Some(device) = state()?.devices.get(index) {
                any_device(handle_of(device))?;
            }
        }
    }
}

nvml! {
    /// Makes an event set.
    fn nvmlEventSetCreate(set: Out<u64>) {
        state()?;
        fail_if(set.is_null(), INVALID_ARGUMENT)?;
        Ok(set.put(SETS.add(KIND, EventSet::default()))?)
    }

    /// Ends an event set.
    fn nvmlEventSetFree(set: u64) {
        find(set)?;
        SETS.remove(set);
        Ok(())
    }

    /// Adds the events of a device to a set; only Xids are there.
    fn nvmlDeviceRegisterEvents(handle: DeviceHandle, types: c_ulonglong, set: u64) {
        let (device, set) = (device(handle)?, find(set)?);
        fail_if(types & !XID != 0, NOT_SUPPORTED)?;
        if types & XID != 0 {
            lock(&set.devices).push(device.index);
        }
        Ok(())
    }

    /// Waits for an event, at most so many milliseconds.
    fn nvmlEventSetWait_v2(set: u64, data: Out<EventData>, timeout: c_uint) {
        if data.is_null() {
            find(set)?;
            return Err(INVALID_ARGUMENT);
        }
        Ok(data.put(next(set, timeout)?)?)
    }

    /// The same, without the instances of MIG mode.
    fn nvmlEventSetWait(set: u64, data: Out<EventDataV1>, timeout: c_uint) {
        if data.is_null() {
            find(set)?;
            return Err(INVALID_ARGUMENT);
        }
        let EventData { device, event_type, event_data, .. } = next(set, timeout)?;
        Ok(data.put(EventDataV1 { device, event_type, event_data })?)
    }

    /// Makes a set of events of the system.
    fn nvmlSystemEventSetCreate(request: Out<SystemSet>) {
        let asked = asked(request, |request| request.version)?;
        let set = SYSTEM_SETS.add(SYSTEM_KIND, ());
        Ok(request.put(SystemSet { set, ..asked })?)
    }

    /// Ends a set of events of the system.
    fn nvmlSystemEventSetFree(request: Out<SystemSet>) {
        let SystemSet { set, .. } = asked(request, |request| request.version)?;
        find_system(set)?;
        SYSTEM_SETS.remove(set);
        Ok(())
    }

    /// Adds events of the system to a set.
    fn nvmlSystemRegisterEvents(request: Out<SystemRegister>) {
        let asked = asked(request, |request| request.version)?;
        find_system(asked.set)?;
        match asked.types & !SYSTEM_TYPES {
            0 => Ok(()),
            _ => Err(NOT_SUPPORTED),
        }
    }

    /// Waits for an event of the system: none happens.
    fn nvmlSystemEventSetWait(request: Out<SystemWait>) {
        let asked = asked(request, |request| request.version)?;
        find_system(asked.set)?;
        fail_if(asked.events.is_null() || asked.room == 0, INVALID_ARGUMENT)?;
        std::thread::sleep(Duration::from_millis(asked.timeout.into()));
        request.put(SystemWait { count: 0, ..asked })?;
        Err(TIMEOUT)
    }
}
