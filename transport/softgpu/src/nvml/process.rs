//! Processes that use a device: the one that asks, if it has a context there. Others have devices
//! of their own.

use std::ffi::{c_uint, c_ulonglong, c_void};
use std::time::{SystemTime, UNIX_EPOCH};

use super::mig::{self, Subject};
use super::{
    DeviceHandle, INSUFFICIENT_SIZE, INVALID_ARGUMENT, NOT_FOUND, NOT_SUPPORTED, Reply,
    VERSION_MISMATCH, device, nvml, state,
};
use crate::abi::{Out, layouts};
use crate::device::Device;
use crate::error::fail_if;

layouts! {
    /// `nvmlProcessInfo_v1_t`.
    ProcessInfoV1 {
        pid: c_uint,
        memory: c_ulonglong,
    }

    /// `nvmlProcessInfo_t` (version 2 and 3).
    ProcessInfo {
        pid: c_uint,
        memory: c_ulonglong,
        gpu_instance: c_uint,
        compute_instance: c_uint,
    }

    /// `nvmlProcessUtilizationSample_t`.
    ProcessSample {
        pid: c_uint,
        timestamp: c_ulonglong,
        sm: c_uint,
        memory: c_uint,
        encoder: c_uint,
        decoder: c_uint,
    }

    /// `nvmlProcessUtilizationInfo_v1_t`.
    #[derive(Default)]
    ProcessUse {
        timestamp: c_ulonglong,
        pid: c_uint,
        sm: c_uint,
        memory: c_uint,
        encoder: c_uint,
        decoder: c_uint,
        jpeg: c_uint,
        ofa: c_uint,
    }

    /// `nvmlProcessesUtilizationInfo_v1_t`.
    ProcessUses {
        version: c_uint,
        count: c_uint,
        since: c_ulonglong,
        list: Out<ProcessUse>,
    }

    /// `nvmlProcessDetail_v1_t`.
    #[derive(Default)]
    ProcessDetail {
        pid: c_uint,
        memory: c_ulonglong,
        gpu_instance: c_uint,
        compute_instance: c_uint,
        protected_memory: c_ulonglong,
    }

    /// `nvmlProcessDetailList_v1_t`.
    ProcessDetails {
        version: c_uint,
        mode: c_uint,
        count: c_uint,
        list: Out<ProcessDetail>,
    }
}

/// Version of both.
const LISTED_VERSION: c_uint = 1 << 24 | size_of::<ProcessUses>() as c_uint;

/// Memory of this process on a device, if it has a context there.
fn own_memory(device: &Device) -> Reply<Option<u64>> {
    let contexts = state()?.contexts.all();
    let has_one = contexts
        .iter()
        .any(|context| context.device.index == device.index);
    Ok(has_one.then(|| device.used()))
}

/// GPU instance and compute instance that this process is shown in: the first of the device; all bits where it is not divided.
fn own_instance(device: &Device) -> (c_uint, c_uint) {
    let first = mig::instances(device).first().map(|one| (one.gi, one.ci));
    first.unwrap_or((c_uint::MAX, c_uint::MAX))
}

/// Memory of this process where it is asked for: of the whole device, or of the instance that it is in.
fn memory_there(subject: &Subject) -> Reply<Option<u64>> {
    let device = subject.device();
    match subject {
        Subject::Part(_, one, _) if (one.gi, one.ci) != own_instance(device) => Ok(None),
        _ => own_memory(device),
    }
}

/// As [`give`], for a structure of which `count` is that and `out` the list: it is asked for how many there are without one.
fn give_listed<T>(count: &mut c_uint, out: Out<T>, item: Option<T>) -> Reply {
    let room = if out.is_null() { 0 } else { *count };
    *count = c_uint::from(item.is_some());
    match item {
        None => Ok(()),
        Some(_) if room == 0 => Err(INSUFFICIENT_SIZE),
        Some(item) => Ok(out.put(item)?),
    }
}

/// Microseconds since 1970, as NVML counts.
fn now() -> c_ulonglong {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_micros() as c_ulonglong
}

/// Gives at most one element, by the rules of NVML's lists: the count in is the room, the count
/// out is what there is.
fn give<T>(count: Out<c_uint>, out: Out<T>, item: Option<T>) -> Reply {
    let room = count.get()?;
    count.put(c_uint::from(item.is_some()))?;
    match item {
        None => Ok(()),
        Some(_) if room == 0 => Err(INSUFFICIENT_SIZE),
        Some(item) => Ok(out.put(item)?),
    }
}

nvml! {
    /// Processes with a context.
    fn nvmlDeviceGetComputeRunningProcesses(
        handle: DeviceHandle, count: Out<c_uint>, out: Out<ProcessInfoV1>,
    ) {
        let memory = memory_there(&Subject::of(handle)?)?;
        give(count, out, memory.map(|memory| ProcessInfoV1 { pid: std::process::id(), memory }))
    }

    /// Processes with a context.
    fn nvmlDeviceGetComputeRunningProcesses_v2, nvmlDeviceGetComputeRunningProcesses_v3(
        handle: DeviceHandle, count: Out<c_uint>, out: Out<ProcessInfo>,
    ) {
        let subject = Subject::of(handle)?;
        let memory = memory_there(&subject)?;
        let (gpu_instance, compute_instance) = own_instance(subject.device());
        give(count, out, memory.map(|memory| ProcessInfo {
            pid: std::process::id(), memory, gpu_instance, compute_instance,
        }))
    }

    /// Processes that draw, or use MPS: none.
    fn nvmlDeviceGetGraphicsRunningProcesses, nvmlDeviceGetGraphicsRunningProcesses_v2,
        nvmlDeviceGetGraphicsRunningProcesses_v3, nvmlDeviceGetMPSComputeRunningProcesses,
        nvmlDeviceGetMPSComputeRunningProcesses_v2, nvmlDeviceGetMPSComputeRunningProcesses_v3(
        handle: DeviceHandle, count: Out<c_uint>, out: Out<c_void>,
    ) {
        let _ = out;
        Subject::of(handle)?;
        Ok(count.put(0)?)
    }

    /// Utilisation by process: that of the device, as it is this process's own.
    fn nvmlDeviceGetProcessUtilization(
        handle: DeviceHandle, out: Out<ProcessSample>, count: Out<c_uint>, since: c_ulonglong,
    ) {
        let device = device(handle)?;
        let timestamp = now();
        fail_if(count.is_null(), INVALID_ARGUMENT)?;
        if own_memory(device)?.is_none() || since >= timestamp {
            count.put(0)?;
            return Err(NOT_FOUND);
        }
        let (pid, sm) = (std::process::id(), device.busy().utilisation());
        let sample = ProcessSample { pid, timestamp, sm, memory: 0, encoder: 0, decoder: 0 };
        // Without a buffer NVML says how many samples there may be.
        if out.is_null() {
            count.put(1)?;
            return Err(INSUFFICIENT_SIZE);
        }
        give(count, out, Some(sample))
    }

    /// The same, with a list.
    fn nvmlDeviceGetProcessesUtilizationInfo(handle: DeviceHandle, out: Out<ProcessUses>) {
        let (device, mut uses) = (device(handle)?, out.get()?);
        fail_if(uses.version != LISTED_VERSION, VERSION_MISMATCH)?;
        let timestamp = now();
        fail_if(own_memory(device)?.is_none() || uses.since >= timestamp, NOT_FOUND)?;
        let (pid, sm) = (std::process::id(), device.busy().utilisation());
        let own = ProcessUse { timestamp, pid, sm, ..ProcessUse::default() };
        let given = give_listed(&mut uses.count, uses.list, Some(own));
        out.put(uses)?;
        given
    }

    /// Processes that compute (mode 0), draw or use MPS: of the latter there are none.
    fn nvmlDeviceGetRunningProcessDetailList(handle: DeviceHandle, out: Out<ProcessDetails>) {
        let (subject, mut details) = (Subject::of(handle)?, out.get()?);
        fail_if(details.version != LISTED_VERSION, VERSION_MISMATCH)?;
        let memory = match details.mode {
            0 => memory_there(&subject)?,
            1 | 2 => None,
            _ => return Err(INVALID_ARGUMENT),
        };
        let (gpu_instance, compute_instance) = own_instance(subject.device());
        let own = memory.map(|memory| ProcessDetail {
            pid: std::process::id(), memory, gpu_instance, compute_instance, protected_memory: 0,
        });
        let given = give_listed(&mut details.count, details.list, own);
        out.put(details)?;
        given
    }

    /// Records of processes that have ended: none are kept.
    fn nvmlDeviceGetAccountingMode(handle: DeviceHandle, out: Out<c_uint>) {
        let _ = out;
        device(handle)?;
        Err(NOT_SUPPORTED)
    }
}
