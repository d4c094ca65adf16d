//! The driver and its devices, from the snapshot.

// Writes results through pointers of the program.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_uchar, c_uint};

use gtrace_cuda::payload::{DeviceSnapshot, Payload as _, SNAPSHOT, Snapshot, SnapshotRequest};
use gtrace_cuda::types::driver::{self as cuda, CUdevice, CUdevprop, CUresult, CUuuid};
use gtrace_protocol::{FirstCall, Writer};
use gtrace_tables::results;

use crate::context::put;
use crate::device_files;
use crate::entry::{Answer, answer_to, check};
use crate::generated::driver::remote;
use crate::managed;
use crate::session::{self, Session};
use crate::settings::Settings;
use crate::state::lock;
use crate::stats::{local, local_functions};
use crate::status::fail_if;

pub(crate) unsafe fn cuInit(flags: c_uint) -> Answer {
    fail_if(flags != 0, cuda::CUDA_ERROR_INVALID_VALUE)?;
    fail_if(session::is_forked(), cuda::CUDA_ERROR_NOT_INITIALIZED)?;
    let session = session::open_with(|settings| {
        let mut arguments = Writer::default();
        request(settings).write(&mut arguments);
        Some(FirstCall {
            op: SNAPSHOT,
            arguments: arguments.into_inner(),
        })
    })?;
    let _alone = lock(&session.initialising);
    if session.snapshot.get().is_none() {
        let snapshot = snapshot(session)?;
        let limits = snapshot.devices.iter().map(LaunchLimits::of).collect();
        // Nobody else sets them while `initialising` is held.
        let _ = session.state.launch_limits.set(limits);
        let _ = session.snapshot.set(snapshot);
        device_files::advise();
    } else {
        local!("cuInit");
    }
    session::set_ready();
    Ok(())
}

fn request(settings: &Settings) -> SnapshotRequest {
    SnapshotRequest {
        visible_devices: settings.visible_devices.clone(),
        device_order: settings.device_order.clone(),
    }
}

#[allow(clippy::redundant_closure)] // The function itself is of one lifetime.
fn snapshot(session: &'static Session) -> Answer<Snapshot> {
    let request = request(&session.settings);
    answer_to(
        session,
        SNAPSHOT,
        |w| request.write(w),
        |r| Snapshot::read(r),
    )
}

fn devices(session: &Session) -> &[DeviceSnapshot] {
    session.snapshot.get().map_or(&[], |s| &s.devices)
}

/// How many devices the program has.
pub(crate) fn how_many(session: &Session) -> usize {
    devices(session).len()
}

/// A device by its ordinal.
///
/// # Errors
///
/// INVALID_DEVICE.
#[inline]
pub(crate) fn device(session: &Session, ordinal: CUdevice) -> Answer<&DeviceSnapshot> {
    let at = usize::try_from(ordinal).map_err(|_| cuda::CUDA_ERROR_INVALID_DEVICE)?;
    devices(session)
        .get(at)
        .ok_or(cuda::CUDA_ERROR_INVALID_DEVICE)
}

/// What a device allows of every launch, found once: launches are too frequent to search for it.
#[derive(Debug)]
pub(crate) struct LaunchLimits {
    /// Blocks.
    pub(crate) grid: [u32; 3],
    /// Threads of a block, each way.
    pub(crate) block: [u32; 3],
    /// Threads of a block.
    pub(crate) threads: u32,
    /// Registers of a block.
    pub(crate) registers: u64,
    /// Bytes of shared memory of a block whose kernel has not asked for more.
    pub(crate) shared: u64,
}

impl LaunchLimits {
    fn of(device: &DeviceSnapshot) -> Self {
        // The driver refuses what the device does not report.
        let max =
            |of| attribute(device, of).map_or(u32::MAX, |max| u32::try_from(max).unwrap_or(0));
        Self {
            grid: [
                max(cuda::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X),
                max(cuda::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
                max(cuda::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z),
            ],
            block: [
                max(cuda::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X),
                max(cuda::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
                max(cuda::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z),
            ],
            threads: max(cuda::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
            registers: max(cuda::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK).into(),
            shared: max(cuda::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK).into(),
        }
    }
}

/// What the device allows of every launch.
///
/// # Errors
///
/// INVALID_DEVICE.
#[inline]
pub(crate) fn launch_limits(session: &Session, ordinal: CUdevice) -> Answer<&LaunchLimits> {
    let limits = session.state.launch_limits.get();
    limits
        .and_then(|limits| limits.get(ordinal as usize))
        .ok_or(cuda::CUDA_ERROR_INVALID_DEVICE)
}

/// An attribute of a device, if it has it.
#[inline]
pub(crate) fn attribute(device: &DeviceSnapshot, attribute: c_uint) -> Option<i32> {
    let wanted = attribute.cast_signed();
    let found = device.attributes.binary_search_by_key(&wanted, |(a, _)| *a);
    found
        .ok()
        .and_then(|at| device.attributes.get(at))
        .map(|(_, value)| *value)
}

/// What a device seen over the network cannot do, whatever the device itself can: pageable memory is
/// another machine's, and managed memory goes to and fro where the program waits for the device.
fn denied(attribute: c_uint) -> bool {
    if attribute == cuda::CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY {
        return !managed::is_possible();
    }
    matches!(
        attribute,
        cuda::CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS
            | cuda::CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES
            | cuda::CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST
            | cuda::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS
            | cuda::CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED
            | cuda::CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED
            | cuda::CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED
            | cuda::CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED
            | cuda::CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES
            | cuda::CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED
            | cuda::CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_MULTICAST_SUPPORTED
            | cuda::CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_SUPPORTED_HANDLE_TYPES
            | cuda::CU_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED
            | cuda::CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_ALGORITHM_MASK
            | cuda::CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_MAXIMUM_LENGTH
            | cuda::CU_DEVICE_ATTRIBUTE_VULKAN_CIG_SUPPORTED
    )
}

/// Whether the device can use page-locked memory of the client: the server registers memory at the same addresses for it.
pub(crate) fn can_map_host_memory(device: &DeviceSnapshot) -> bool {
    let same = cuda::CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM;
    attribute(device, same).is_some_and(|value| value != 0)
}

pub(crate) unsafe fn cuDriverGetVersion(driverVersion: *mut c_int) -> Answer {
    // Allowed before cuInit, as with CUDA.
    fail_if(session::is_forked(), cuda::CUDA_ERROR_NOT_INITIALIZED)?;
    let session = session::open()?;
    local!("cuDriverGetVersion");
    let version = match session.snapshot.get() {
        Some(snapshot) => snapshot.driver_version,
        None => session.driver_version,
    };
    // SAFETY: a pointer of the program.
    unsafe { put(driverVersion, version) }
}

local_functions! {
    fn cuDeviceGet(session, device: *mut CUdevice, ordinal: c_int) {
        self::device(session, ordinal)?;
        put(device, ordinal)
    }

    fn cuDeviceGetCount(session, count: *mut c_int) {
        put(count, devices(session).len() as c_int)
    }

    fn cuDeviceGetName(session, name: *mut c_char, len: c_int, dev: CUdevice) {
        put_string(name, len, &device(session, dev)?.name)
    }

    fn cuDeviceGetUuid(session, to: *mut CUuuid, dev: CUdevice) {
        put(to, uuid(device(session, dev)?.uuid))
    }

    fn cuDeviceGetUuid_v2(session, to: *mut CUuuid, dev: CUdevice) {
        put(to, uuid(device(session, dev)?.uuid_v2))
    }

    fn cuDeviceTotalMem_v2(session, bytes: *mut usize, dev: CUdevice) {
        let total = device(session, dev)?.total_memory;
        put(bytes, usize::try_from(total).unwrap_or(usize::MAX))
    }

    fn cuDeviceGetAttribute(session, pi: *mut c_int, attrib: c_uint, dev: CUdevice) {
        let device = device(session, dev)?;
        let value = attribute(device, attrib).ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?;
        let value = match attrib {
            cuda::CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY if !can_map_host_memory(device) => 0,
            _ => value,
        };
        put(pi, if denied(attrib) { 0 } else { value })
    }

    fn cuDeviceGetPCIBusId(session, pciBusId: *mut c_char, len: c_int, dev: CUdevice) {
        put_string(pciBusId, len, &device(session, dev)?.pci_bus_id)
    }

    fn cuDeviceGetByPCIBusId(session, dev: *mut CUdevice, pciBusId: *const c_char) {
        fail_if(pciBusId.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)?;
        let text = CStr::from_ptr(pciBusId).to_string_lossy();
        let wanted = pci_address(&text).ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?;
        let mut devices = devices(session).iter();
        let at = devices.position(|d| pci_address(&d.pci_bus_id) == Some(wanted));
        let at = at.ok_or(cuda::CUDA_ERROR_INVALID_DEVICE)?;
        put(dev, at as CUdevice)
    }

    fn cuDeviceComputeCapability(session, major: *mut c_int, minor: *mut c_int, dev: CUdevice) {
        let device = device(session, dev)?;
        let get = |a| attribute(device, a).unwrap_or_default();
        put(major, get(cuda::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR))?;
        put(minor, get(cuda::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR))
    }

    fn cuDeviceGetProperties(session, prop: *mut CUdevprop, dev: CUdevice) {
        let device = device(session, dev)?;
        let get = |a| attribute(device, a).unwrap_or_default();
        let properties = CUdevprop {
            maxThreadsPerBlock: get(cuda::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
            maxThreadsDim: [
                get(cuda::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X),
                get(cuda::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
                get(cuda::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z),
            ],
            maxGridSize: [
                get(cuda::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X),
                get(cuda::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
                get(cuda::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z),
            ],
            sharedMemPerBlock: get(cuda::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
            totalConstantMemory: get(cuda::CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY),
            SIMDWidth: get(cuda::CU_DEVICE_ATTRIBUTE_WARP_SIZE),
            memPitch: get(cuda::CU_DEVICE_ATTRIBUTE_MAX_PITCH),
            regsPerBlock: get(cuda::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
            clockRate: get(cuda::CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
            textureAlign: get(cuda::CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT),
        };
        put(prop, properties)
    }
}

/// Writes a C string to room for `len` bytes, cut off where it must be.
///
/// # Safety
///
/// `to` is null, or has room for `len` bytes.
pub(crate) unsafe fn put_string(to: *mut c_char, len: c_int, text: &str) -> Answer {
    let room = usize::try_from(len).unwrap_or_default();
    fail_if(to.is_null() || room == 0, cuda::CUDA_ERROR_INVALID_VALUE)?;
    let len = text.len().min(room - 1);
    // SAFETY: `len` bytes and a NUL have room by the caller's promise.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), to.cast::<u8>(), len);
        to.add(len).write(0);
    }
    Ok(())
}

fn uuid(bytes: [u8; 16]) -> CUuuid {
    CUuuid {
        bytes: bytes.map(|byte| byte as c_char),
    }
}

/// Domain, bus, device and function of `[domain:]bus:device[.function]`, hexadecimal.
fn pci_address(text: &str) -> Option<[u32; 4]> {
    let hex = |text: &str| u32::from_str_radix(text, 16).ok();
    let (place, function) = match text.split_once('.') {
        Some((place, function)) => (place, hex(function)?),
        None => (text, 0),
    };
    let mut parts = place.rsplit(':');
    let device = hex(parts.next()?)?;
    let bus = hex(parts.next()?)?;
    let domain = match parts.next() {
        Some(domain) => hex(domain)?,
        None => 0,
    };
    parts
        .next()
        .is_none()
        .then_some([domain, bus, device, function])
}

/// What is asked about two devices does not change, but is asked seldom.
pub(crate) unsafe fn cuDeviceCanAccessPeer(
    canAccessPeer: *mut c_int,
    dev: CUdevice,
    peerDev: CUdevice,
) -> Answer {
    let session = session::cuda()?;
    device(session, dev)?;
    device(session, peerDev)?;
    if dev == peerDev {
        local!("cuDeviceCanAccessPeer");
        // SAFETY: a pointer of the program.
        return unsafe { put(canAccessPeer, 0) };
    }
    // SAFETY: a pointer of the program, passed on.
    check(unsafe { remote::cuDeviceCanAccessPeer(canAccessPeer, dev, peerDev) })
}

/// No driver logs on this machine: the registration succeeds, and the callback is never called.
pub(crate) unsafe fn cuLogsRegisterCallback(
    callbackFunc: cuda::CUlogsCallback,
    _userData: *mut std::ffi::c_void,
    callback_out: *mut cuda::CUlogsCallbackHandle,
) -> Answer {
    local!("cuLogsRegisterCallback");
    fail_if(callbackFunc.is_none(), cuda::CUDA_ERROR_INVALID_VALUE)?;
    if !callback_out.is_null() {
        // SAFETY: a pointer of the program.
        unsafe { callback_out.write(std::ptr::without_provenance_mut(16)) };
    }
    Ok(())
}

pub(crate) unsafe fn cuLogsUnregisterCallback(callback: cuda::CUlogsCallbackHandle) -> Answer {
    local!("cuLogsUnregisterCallback");
    fail_if(callback.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)
}

pub(crate) unsafe fn cuGetErrorName(error: CUresult, pStr: *mut *const c_char) -> Answer {
    local!("cuGetErrorName");
    // SAFETY: a pointer of the program.
    unsafe { text(pStr, results::driver(error).map(|(name, _)| name)) }
}

pub(crate) unsafe fn cuGetErrorString(error: CUresult, pStr: *mut *const c_char) -> Answer {
    local!("cuGetErrorString");
    // SAFETY: a pointer of the program.
    unsafe { text(pStr, results::driver(error).map(|(_, text)| text)) }
}

unsafe fn text(to: *mut *const c_char, text: Option<&'static CStr>) -> Answer {
    let pointer = text.map_or(std::ptr::null(), CStr::as_ptr);
    // SAFETY: the caller's pointer, of the program.
    unsafe { put(to, pointer) }?;
    match text {
        Some(_) => Ok(()),
        None => Err(cuda::CUDA_ERROR_INVALID_VALUE),
    }
}

/// Keeps a byte of the C types apart from one of Rust's where they differ.
const _: () = assert!(size_of::<c_char>() == size_of::<c_uchar>());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pci_addresses_are_read_in_every_form_that_cuda_takes() {
        for text in ["0000:3b:00.0", "0000:3B:00", "3b:0", "3b:00.0"] {
            assert_eq!(pci_address(text), Some([0, 0x3b, 0, 0]), "{text}");
        }
        for text in ["", "3b", "1:2:3:4", "0000:zz:00.0"] {
            assert_eq!(pci_address(text), None, "{text}");
        }
    }

    #[test]
    fn attributes_are_found_and_missed() {
        let device = DeviceSnapshot {
            attributes: vec![(1, 1024), (16, 132), (75, 9)],
            ..DeviceSnapshot::default()
        };
        assert_eq!(attribute(&device, 16), Some(132));
        assert_eq!(attribute(&device, 17), None);
    }

    #[test]
    fn a_name_is_cut_to_its_room() {
        let mut room = [1 as c_char; 4];
        // SAFETY: four bytes.
        unsafe { put_string(room.as_mut_ptr(), 4, "softgpu") }.unwrap();
        assert_eq!(room.map(|b| b as u8), *b"sof\0");
        // SAFETY: nothing is written.
        assert!(unsafe { put_string(room.as_mut_ptr(), 0, "x") }.is_err());
    }
}
