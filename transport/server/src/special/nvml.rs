//! NVML's start and end, of which the client counts its own calls, what a client may see of it, and calls whose structures
//! have handles, lists or texts in them.

#![allow(non_snake_case, reason = "NVML's names")]
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_uint, c_void};
use std::mem::size_of;
use std::ptr;
use std::sync::{Arc, LazyLock, PoisonError};

use gtrace_cuda::payload::{
    Listed, METRIC_TEXT_MAX, Metric, Metrics, MetricsRequest, Payload as _, first_version,
};
use gtrace_cuda::types::nvml::{
    nvmlComputeInstanceInfo_t, nvmlDevice_t, nvmlEventData_t, nvmlGpmMetric_t, nvmlGpmMetricsGet_t,
    nvmlGpuInstanceInfo_t, nvmlReturn_t, nvmlSystemEventData_v1_t,
    nvmlSystemEventSetCreateRequest_v1_t, nvmlSystemEventSetFreeRequest_v1_t,
    nvmlSystemEventSetWaitRequest_v1_t, nvmlSystemRegisterEventRequest_v1_t, nvmlVgpuInstance_t,
};
use gtrace_cuda::{Api, Function, Kind, functions, wire};
use gtrace_protocol::{OpId, Reader, Writer, op_id};

use crate::exec::{Called, Code, Exec};
use crate::generated::nvml::{self, Nvml};

/// NVML_ERROR_LIBRARY_NOT_FOUND
const LIBRARY_NOT_FOUND: Code = 12;

/// Starts NVML.
pub(crate) fn nvmlInit_v2(exec: &mut Exec, r: &mut Reader<'_>, _: &mut Writer) -> Called {
    r.end()?;
    let code = match exec.nvml.nvmlInit_v2 {
        // SAFETY: a call without arguments.
        Some(call) => unsafe { call() }.cast_signed(),
        None => LIBRARY_NOT_FOUND,
    };
    let start = &exec.session.start;
    if code == 0 && start.limits.gpus.is_some() {
        let permitted = |uuid: &str| {
            let mut devices = start.permitted.iter();
            devices.any(|device| device.uuid.eq_ignore_ascii_case(uuid))
        };
        let visible = devices(exec.nvml, permitted);
        exec.handles.show_only(visible);
    }
    Ok(code)
}

/// Devices whose UUID is `permitted`, in NVML's order.
fn devices(nvml: &Nvml, permitted: impl Fn(&str) -> bool) -> Vec<usize> {
    let (Some(count_of), Some(device_of), Some(uuid_of)) = (
        nvml.nvmlDeviceGetCount_v2,
        nvml.nvmlDeviceGetHandleByIndex_v2,
        nvml.nvmlDeviceGetUUID,
    ) else {
        return Vec::new();
    };
    let mut count: c_uint = 0;
    // SAFETY: an int to write to.
    if unsafe { count_of(&raw mut count) } != 0 {
        return Vec::new();
    }
    let mut found = Vec::new();
    for index in 0..count {
        let mut device: nvmlDevice_t = ptr::null_mut();
        let mut room: [c_char; 96] = [0; 96];
        // SAFETY: a handle to write to.
        let got = unsafe { device_of(index, &raw mut device) } == 0
            // SAFETY: room of the size that is reported, and a zero behind it.
            && unsafe { uuid_of(device, room.as_mut_ptr(), 95) } == 0;
        // SAFETY: as above.
        let uuid = unsafe { CStr::from_ptr(room.as_ptr()) };
        if got && uuid.to_str().is_ok_and(&permitted) {
            found.push(device.addr());
        }
    }
    found
}

/// NVML_ERROR_INVALID_ARGUMENT
const INVALID_ARGUMENT: Code = 2;
/// NVML_ERROR_NOT_SUPPORTED
const NOT_SUPPORTED: Code = 3;
/// NVML_ERROR_NOT_FOUND
const NOT_FOUND: Code = 6;
/// NVML_ERROR_INSUFFICIENT_SIZE
const INSUFFICIENT_SIZE: Code = 7;
/// NVML_ERROR_ARGUMENT_VERSION_MISMATCH
const VERSION_MISMATCH: Code = 25;
/// NVML_ERROR_UNINITIALIZED
const UNINITIALIZED: Code = 1;
/// NVML_ERROR_TIMEOUT
pub(crate) const NVML_TIMEOUT: Code = 10;

const INIT: OpId = op_id("nvmlInit_v2");
const SHUTDOWN: OpId = op_id("nvmlShutdown");
const EVENTS_FREE: OpId = op_id("nvmlEventSetFree");
const EVENTS_REGISTER: OpId = op_id("nvmlDeviceRegisterEvents");
const EVENTS_WAIT: OpId = op_id("nvmlEventSetWait_v2");
const SAMPLE_FREE: OpId = op_id("nvmlGpmSampleFree");
const SAMPLE_GET: OpId = op_id("nvmlGpmSampleGet");
const SAMPLE_GET_MIG: OpId = op_id("nvmlGpmMigSampleGet");
const METRICS_GET: OpId = op_id("nvmlGpmMetricsGet");
const SYSTEM_FREE: OpId = op_id("nvmlSystemEventSetFree");
const SYSTEM_REGISTER: OpId = op_id("nvmlSystemRegisterEvents");
const SYSTEM_WAIT: OpId = op_id("nvmlSystemEventSetWait");

const COUNT: OpId = op_id("nvmlDeviceGetCount_v2");
const COUNT_V1: OpId = op_id("nvmlDeviceGetCount");
const BY_INDEX: OpId = op_id("nvmlDeviceGetHandleByIndex_v2");
const BY_INDEX_V1: OpId = op_id("nvmlDeviceGetHandleByIndex");
const BY_PCI: OpId = op_id("nvmlDeviceGetHandleByPciBusId_v2");
const BY_PCI_V1: OpId = op_id("nvmlDeviceGetHandleByPciBusId");
const BY_SERIAL: OpId = op_id("nvmlDeviceGetHandleBySerial");
const BY_UUID: OpId = op_id("nvmlDeviceGetHandleByUUID");
const BY_UUID_V: OpId = op_id("nvmlDeviceGetHandleByUUIDV");
const INDEX: OpId = op_id("nvmlDeviceGetIndex");

/// A call of NVML. What a client made ends while no other lane uses it.
pub(crate) fn nvml_call(exec: &mut Exec, op: OpId, r: &mut Reader<'_>, w: &mut Writer) -> Called {
    let session = Arc::clone(&exec.session);
    let objects = &session.nvml_objects;
    match op {
        EVENTS_FREE | SAMPLE_FREE | SYSTEM_FREE => {
            let _alone = objects.write().unwrap_or_else(PoisonError::into_inner);
            call_within_view(exec, op, r, w)
        }
        EVENTS_REGISTER | EVENTS_WAIT | SAMPLE_GET | SAMPLE_GET_MIG | METRICS_GET
        | SYSTEM_REGISTER | SYSTEM_WAIT => {
            let _used = objects.read().unwrap_or_else(PoisonError::into_inner);
            call_within_view(exec, op, r, w)
        }
        _ => call_within_view(exec, op, r, w),
    }
}

/// Calls about a virtual GPU, whichever device it runs on. Its number is their first argument.
static OF_VGPUS: LazyLock<Vec<OpId>> = LazyLock::new(|| {
    let is_one = |function: &&Function| {
        let first = function.arguments.first();
        first.is_some_and(|argument| argument.name == "vgpuInstance")
    };
    let all = functions::all(Api::Nvml).filter(is_one);
    all.map(Function::id).collect()
});

/// Whether a virtual GPU runs on one of these devices.
fn runs_on(nvml: &Nvml, devices: &[usize], vgpu: nvmlVgpuInstance_t) -> bool {
    /// More than any device has.
    const MOST: usize = 256;
    let Some(call) = nvml.nvmlDeviceGetActiveVgpus else {
        return false;
    };
    devices.iter().any(|device| {
        let mut found: [nvmlVgpuInstance_t; MOST] = [0; MOST];
        let mut count = MOST as c_uint;
        let device = ptr::without_provenance_mut(*device);
        // SAFETY: a device of NVML's, and a list with room for as many as are said.
        let code = unsafe { call(device, &raw mut count, found.as_mut_ptr()) };
        code == 0 && found.iter().take(count as usize).any(|one| *one == vgpu)
    })
}

/// A client that may not see all devices counts and finds those that it may see: unlike CUDA, NVML knows no
/// CUDA_VISIBLE_DEVICES.
fn call_within_view(exec: &mut Exec, op: OpId, r: &mut Reader<'_>, w: &mut Writer) -> Called {
    let Some(visible) = exec.handles.visible() else {
        // Until it is known what the client may see it sees nothing.
        let hides = exec.session.start.limits.gpus.is_some();
        if hides && !matches!(op, INIT | SHUTDOWN) {
            return Ok(UNINITIALIZED);
        }
        return nvml::dispatch(op, exec, r, w);
    };
    match op {
        COUNT | COUNT_V1 => {
            w.u32(u32::try_from(visible.len()).unwrap_or(u32::MAX));
            Ok(0)
        }
        BY_INDEX | BY_INDEX_V1 => {
            let index = r.u32()? as usize;
            let device = visible.get(index).ok_or(INVALID_ARGUMENT)?;
            let device = ptr::without_provenance_mut(*device);
            w.u64(exec.handles.known(Kind::NvmlDevice, device));
            Ok(0)
        }
        INDEX => {
            let real = exec.handles.real(Kind::NvmlDevice, r.u64()?);
            let found = real.map(|real| visible.iter().position(|device| *device == real.addr()));
            match found {
                Ok(Some(index)) => {
                    w.u32(u32::try_from(index).unwrap_or(u32::MAX));
                    Ok(0)
                }
                _ => Ok(INVALID_ARGUMENT),
            }
        }
        BY_PCI | BY_PCI_V1 | BY_SERIAL | BY_UUID | BY_UUID_V => {
            let code = nvml::dispatch(op, exec, r, w)?;
            // A hidden device has the number 0.
            if code == 0 && w.as_slice().iter().all(|byte| *byte == 0) {
                w.truncate(0);
                return Ok(NOT_FOUND);
            }
            Ok(code)
        }
        op if OF_VGPUS.contains(&op) && !runs_on(exec.nvml, visible, r.clone().u32()?) => {
            Ok(NOT_FOUND)
        }
        op => nvml::dispatch(op, exec, r, w),
    }
}

/// Ends NVML.
pub(crate) fn nvmlShutdown(exec: &mut Exec, r: &mut Reader<'_>, _: &mut Writer) -> Called {
    r.end()?;
    Ok(match exec.nvml.nvmlShutdown {
        // SAFETY: a call without arguments.
        Some(call) => unsafe { call() }.cast_signed(),
        None => LIBRARY_NOT_FOUND,
    })
}

/// What NVML calls a handle.
fn real<T>(exec: &Exec, kind: Kind, handle: u64) -> Result<*mut T, Code> {
    let real = exec.handles.real(kind, handle);
    real.map(<*mut c_void>::cast).map_err(|_| INVALID_ARGUMENT)
}

/// A handle where a structure has the pointer that NVML calls it by.
fn known<T>(exec: &Exec, kind: Kind, real: *mut T) -> *mut T {
    let handle = exec.handles.known(kind, real.cast());
    ptr::without_provenance_mut(handle as usize)
}

/// A call that fills a structure about what a handle stands for. `name` puts handles where the structure has pointers.
fn filled<T, S: Copy>(
    exec: &Exec,
    w: &mut Writer,
    (kind, handle): (Kind, u64),
    call: Option<impl FnOnce(*mut T, *mut S) -> nvmlReturn_t>,
    name: impl FnOnce(&mut S),
) -> Called {
    let call = call.ok_or(NOT_SUPPORTED)?;
    let real = real(exec, kind, handle)?;
    // SAFETY: the structures of NVML here have integers and pointers.
    let mut found: S = unsafe { wire::zeroed() };
    let code = call(real, &raw mut found).cast_signed();
    if code == 0 {
        name(&mut found);
        // SAFETY: plain data.
        unsafe { wire::put(w, &raw const found, 1) };
    }
    Ok(code)
}

/// A wait for events at most; the client asks again.
const LONGEST_MS: u32 = 1000;
/// Elements that a list has room for; where there are more, NVML says how many.
const ELEMENTS_MAX: usize = 1 << 14;

/// Waits for an event, no longer than the client asks for at a time.
pub(crate) fn nvmlEventSetWait_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Called {
    let (set, ms) = (r.u64()?, r.u32()?.min(LONGEST_MS));
    r.end()?;
    let call = exec.nvml.nvmlEventSetWait_v2.map(|call| {
        // SAFETY: a set that the client has, and a structure to write to.
        move |set, data: *mut nvmlEventData_t| unsafe { call(set, data, ms) }
    });
    let set = (Kind::NvmlEventSet, set);
    filled(exec, w, set, call, |data| {
        data.device = known(exec, Kind::NvmlDevice, data.device);
    })
}

/// Makes a set of events of the system, which are of all devices: a client that may not see all has none.
pub(crate) fn nvmlSystemEventSetCreate(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    _: &mut Writer,
) -> Called {
    let set = u64::whole(r)?;
    let hides = exec.session.start.limits.gpus.is_some();
    let call = exec
        .nvml
        .nvmlSystemEventSetCreate
        .filter(|_| !hides)
        .ok_or(NOT_SUPPORTED)?;
    let minted = exec.handles.check_minted(Kind::NvmlSystemEventSet, set);
    if minted.is_err() {
        return Ok(INVALID_ARGUMENT);
    }
    let mut request = nvmlSystemEventSetCreateRequest_v1_t {
        version: first_version::<nvmlSystemEventSetCreateRequest_v1_t>(),
        set: ptr::null_mut(),
    };
    // SAFETY: a structure of the version that it says.
    let code = unsafe { call(&raw mut request) }.cast_signed();
    if code == 0 {
        let real = request.set.cast();
        exec.handles.insert(Kind::NvmlSystemEventSet, set, real);
    }
    Ok(code)
}

/// Ends a set of events of the system.
pub(crate) fn nvmlSystemEventSetFree(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    _: &mut Writer,
) -> Called {
    let handle = u64::whole(r)?;
    let call = exec.nvml.nvmlSystemEventSetFree.ok_or(NOT_SUPPORTED)?;
    let set = real(exec, Kind::NvmlSystemEventSet, handle)?;
    let mut request = nvmlSystemEventSetFreeRequest_v1_t {
        version: first_version::<nvmlSystemEventSetFreeRequest_v1_t>(),
        set,
    };
    // SAFETY: a set that the client has, which no other of its lanes uses.
    let code = unsafe { call(&raw mut request) }.cast_signed();
    if code == 0 {
        exec.handles.remove(Kind::NvmlSystemEventSet, handle);
    }
    Ok(code)
}

/// Adds events of the system to a set.
pub(crate) fn nvmlSystemRegisterEvents(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    _: &mut Writer,
) -> Called {
    let (set, types) = <(u64, u64)>::whole(r)?;
    let call = exec.nvml.nvmlSystemRegisterEvents.ok_or(NOT_SUPPORTED)?;
    let set = real(exec, Kind::NvmlSystemEventSet, set)?;
    let mut request = nvmlSystemRegisterEventRequest_v1_t {
        version: first_version::<nvmlSystemRegisterEventRequest_v1_t>(),
        eventTypes: types,
        set,
    };
    // SAFETY: a set that the client has.
    Ok(unsafe { call(&raw mut request) }.cast_signed())
}

/// Waits for events of the system, no longer than the client asks for at a time.
pub(crate) fn nvmlSystemEventSetWait(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Called {
    let (set, ms, room) = (r.u64()?, r.u32()?.min(LONGEST_MS), r.u32()?);
    r.end()?;
    let call = exec.nvml.nvmlSystemEventSetWait.ok_or(NOT_SUPPORTED)?;
    let set = real(exec, Kind::NvmlSystemEventSet, set)?;
    let room = (room as usize).min(ELEMENTS_MAX);
    // SAFETY: integers.
    let mut events = unsafe { wire::room::<nvmlSystemEventData_v1_t>(room) }?;
    let mut request = nvmlSystemEventSetWaitRequest_v1_t {
        version: first_version::<nvmlSystemEventSetWaitRequest_v1_t>(),
        timeoutms: ms,
        set,
        data: match events.is_empty() {
            true => ptr::null_mut(),
            false => events.as_mut_ptr(),
        },
        dataSize: room as c_uint,
        numEvent: 0,
    };
    // SAFETY: a set that the client has, and a list of as many as the structure says.
    let code = unsafe { call(&raw mut request) }.cast_signed();
    if code == 0 || code == INSUFFICIENT_SIZE {
        let filled = match code {
            0 => (request.numEvent as usize).min(events.len()),
            _ => 0,
        };
        w.u32(request.numEvent);
        w.u64(filled as u64);
        // SAFETY: plain data, and as many as there is room for.
        unsafe { wire::put(w, events.as_ptr(), filled) };
    }
    Ok(code)
}

/// What a GPU instance is, with its device.
pub(crate) fn nvmlGpuInstanceGetInfo(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Called {
    let instance = (Kind::NvmlGpuInstance, r.u64()?);
    r.end()?;
    let call = exec.nvml.nvmlGpuInstanceGetInfo.map(|call| {
        // SAFETY: an instance that the client has, and a structure to write to.
        move |instance, info: *mut nvmlGpuInstanceInfo_t| unsafe { call(instance, info) }
    });
    filled(exec, w, instance, call, |info| {
        info.device = known(exec, Kind::NvmlDevice, info.device);
    })
}

/// What a compute instance is, with its device and its GPU instance.
pub(crate) fn nvmlComputeInstanceGetInfo_v2(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Called {
    let instance = (Kind::NvmlComputeInstance, r.u64()?);
    r.end()?;
    let call = exec.nvml.nvmlComputeInstanceGetInfo_v2.map(|call| {
        // SAFETY: an instance that the client has, and a structure to write to.
        move |instance, info: *mut nvmlComputeInstanceInfo_t| unsafe { call(instance, info) }
    });
    filled(exec, w, instance, call, |info| {
        info.device = known(exec, Kind::NvmlDevice, info.device);
        info.gpuInstance = known(exec, Kind::NvmlGpuInstance, info.gpuInstance);
    })
}

/// What was between two samples.
pub(crate) fn nvmlGpmMetricsGet(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Called {
    let asked = MetricsRequest::whole(r)?;
    let call = exec.nvml.nvmlGpmMetricsGet.ok_or(NOT_SUPPORTED)?;
    let [first, second] = asked
        .samples
        .map(|sample| real(exec, Kind::NvmlGpmSample, sample));
    let (first, second) = (first?, second?);
    // A driver may know more metrics than the type, and write to no more than are asked for.
    let structures = 1
        + (asked.ids.len() * size_of::<nvmlGpmMetric_t>())
            .div_ceil(size_of::<nvmlGpmMetricsGet_t>());
    // SAFETY: integers, and pointers.
    let mut room = unsafe { wire::room::<nvmlGpmMetricsGet_t>(structures) }?;
    let get = room.as_mut_ptr();
    // SAFETY: the room is of this function, and has a structure with as many metrics as are asked for.
    let (code, metrics) = unsafe {
        let metrics = (&raw mut (*get).metrics).cast::<nvmlGpmMetric_t>();
        (*get).version = asked.version;
        (*get).numMetrics = asked.ids.len() as c_uint;
        ((*get).sample1, (*get).sample2) = (first, second);
        for (place, id) in asked.ids.iter().enumerate() {
            (*metrics.add(place)).metricId = *id;
        }
        let code = call(get).cast_signed();
        (code, std::slice::from_raw_parts(metrics, asked.ids.len()))
    };
    if code == 0 {
        Metrics(metrics.iter().map(metric).collect()).write(w);
    }
    Ok(code)
}

fn metric(metric: &nvmlGpmMetric_t) -> Metric {
    let info = &metric.metricInfo;
    Metric {
        status: metric.nvmlReturn,
        value: metric.value,
        texts: [info.shortName, info.longName, info.unit].map(|text| {
            // SAFETY: null, or a text of NVML's, which stays.
            let text = (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })?;
            let text = text.to_string_lossy();
            (text.len() <= METRIC_TEXT_MAX).then(|| text.into_owned())
        }),
    }
}

/// A call about a device or GPU instance whose structure points to a list.
fn listed<T, S: Listed>(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
    kind: Kind,
    call: Option<unsafe extern "C" fn(*mut T, *mut S) -> nvmlReturn_t>,
) -> Called {
    let of = r.u64()?;
    // SAFETY: integers, and a pointer that is replaced.
    let mut asked: S = unsafe { wire::zeroed() };
    // SAFETY: as above.
    unsafe { wire::take(r, &raw mut asked, 1) }?;
    r.end()?;
    let call = call.ok_or(NOT_SUPPORTED)?;
    let of = real(exec, kind, of)?;
    if asked.version() != S::VERSION {
        return Ok(VERSION_MISMATCH);
    }
    let wanted = !asked.list().is_null();
    let count = match wanted {
        true => (*asked.count() as usize).min(ELEMENTS_MAX),
        false => 0,
    };
    // SAFETY: elements are integers.
    let mut elements = unsafe { wire::room::<S::Element>(count) }?;
    *asked.list() = ptr::null_mut();
    if wanted {
        *asked.count() = count as c_uint;
        *asked.list() = elements.as_mut_ptr();
    }
    // SAFETY: a device or instance that the client has, and a structure with a list of as many elements as it says.
    let code = unsafe { call(of, &raw mut asked) }.cast_signed();
    if code == 0 || code == INSUFFICIENT_SIZE {
        *asked.list() = ptr::null_mut();
        let filled = match code {
            0 => (*asked.count() as usize).min(elements.len()),
            _ => 0,
        };
        // SAFETY: plain data, and as many elements as there is room for.
        unsafe {
            wire::put(w, &raw const asked, 1);
            w.u64(filled as u64);
            wire::put(w, elements.as_ptr(), filled);
        }
    }
    Ok(code)
}

/// More places for instances than any device has. NVML takes a list for large enough.
const PLACES: usize = 64;

/// A function that lists what a device or GPU instance has for a profile.
type ByProfile<T, P> =
    Option<unsafe extern "C" fn(*mut T, c_uint, *mut P, *mut c_uint) -> nvmlReturn_t>;

/// Where instances of a profile can be: the program's list has room for as many as it says, NVML takes it for large enough.
fn placements<T, P: Copy>(
    exec: &Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
    kind: Kind,
    call: ByProfile<T, P>,
) -> Called {
    let (of, profile) = (r.u64()?, r.u32()?);
    let call = call.ok_or(NOT_SUPPORTED)?;
    let of = real(exec, kind, of)?;
    let wanted = r.flag("whether a pointer is there")?;
    let room = u32::whole(r)?;
    let mut count = 0;
    // SAFETY: a device or instance that the client has, and a number to write to.
    let mut code = unsafe { call(of, profile, ptr::null_mut(), &raw mut count) }.cast_signed();
    let mut found = Vec::new();
    if code == 0 && wanted && count > room {
        code = INSUFFICIENT_SIZE;
    } else if code == 0 && wanted {
        // SAFETY: integers.
        found = unsafe { wire::room::<P>(PLACES.max(count as usize)) }?;
        // SAFETY: as above, and a list of as many as NVML has said.
        code = unsafe { call(of, profile, found.as_mut_ptr(), &raw mut count) }.cast_signed();
        found.truncate(count.min(room) as usize);
    }
    if code == 0 || code == INSUFFICIENT_SIZE {
        if wanted {
            let filled = if code == 0 { found.len() } else { 0 };
            w.u64(filled as u64);
            // SAFETY: plain data, and as many as there are.
            unsafe { wire::put(w, found.as_ptr(), filled) };
        }
        w.u32(count);
    }
    Ok(code)
}

/// The instances of a profile that there are, of the kind `made`.
fn instances<T, I>(
    exec: &Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
    (kind, made): (Kind, Kind),
    call: ByProfile<T, *mut I>,
) -> Called {
    let (of, profile) = <(u64, u32)>::whole(r)?;
    let call = call.ok_or(NOT_SUPPORTED)?;
    let of = real(exec, kind, of)?;
    let mut found: [*mut I; PLACES] = [ptr::null_mut(); PLACES];
    let mut count = PLACES as c_uint;
    // SAFETY: a device or instance that the client has, and a list with room for more than there can be.
    let code = unsafe { call(of, profile, found.as_mut_ptr(), &raw mut count) }.cast_signed();
    if code == 0 {
        let count = (count as usize).min(PLACES);
        w.u64(count as u64);
        for real in found.iter().take(count) {
            w.u64(exec.handles.known(made, real.cast()));
        }
    }
    Ok(code)
}

/// Calls that one of the functions above answers, and of which kinds of objects they are.
macro_rules! answered {
    ($($(#[$meta:meta])* $name:ident by $how:ident of $kinds:expr;)*) => {$(
        $(#[$meta])*
        pub(crate) fn $name(
            exec: &mut Exec,
            r: &mut Reader<'_>,
            w: &mut Writer,
        ) -> Called {
            let call = exec.nvml.$name;
            $how(exec, r, w, $kinds, call)
        }
    )*};
}

answered! {
    /// How much each process has used a device.
    nvmlDeviceGetProcessesUtilizationInfo by listed of Kind::NvmlDevice;
    /// Processes on a device.
    nvmlDeviceGetRunningProcessDetailList by listed of Kind::NvmlDevice;
    /// Where errors of a device's SRAM were.
    nvmlDeviceGetSramUniqueUncorrectedEccErrorCounts by listed of Kind::NvmlDevice;
    /// How much each virtual GPU has used a device.
    nvmlDeviceGetVgpuInstancesUtilizationInfo by listed of Kind::NvmlDevice;
    /// How much each process of a virtual GPU has used a device.
    nvmlDeviceGetVgpuProcessesUtilizationInfo by listed of Kind::NvmlDevice;
    /// Virtual GPUs that run in a GPU instance.
    nvmlGpuInstanceGetActiveVgpus by listed of Kind::NvmlGpuInstance;
    /// Types of virtual GPUs that there is room for in a GPU instance.
    nvmlGpuInstanceGetCreatableVgpus by listed of Kind::NvmlGpuInstance;
    /// Where virtual GPUs of a type can be in a GPU instance.
    nvmlGpuInstanceGetVgpuTypeCreatablePlacements by listed of Kind::NvmlGpuInstance;
    /// Where GPU instances of a profile can be in a device.
    nvmlDeviceGetGpuInstancePossiblePlacements_v2 by placements of Kind::NvmlDevice;
    /// Where compute instances of a profile can be in a GPU instance.
    nvmlGpuInstanceGetComputeInstancePossiblePlacements by placements of Kind::NvmlGpuInstance;
    /// The GPU instances of a device that have a profile.
    nvmlDeviceGetGpuInstances by instances of (Kind::NvmlDevice, Kind::NvmlGpuInstance);
    /// The compute instances of a GPU instance that have a profile.
    nvmlGpuInstanceGetComputeInstances by instances of (Kind::NvmlGpuInstance, Kind::NvmlComputeInstance);
}
