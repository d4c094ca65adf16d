//! Memory whose addresses and pages are managed apart.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use crate::abi::{Answer, In, Out, api};
use crate::context::current;
use crate::error::{INVALID_DEVICE, INVALID_VALUE, NOT_SUPPORTED, UNKNOWN, fail_if};
use crate::pages;
use crate::state::state;
use crate::types::{DevicePtr, Handle, MemAccess, MemAllocationProp, MemLocation};
use crate::virtual_memory::{self, Access, GRANULARITY};

/// `CU_MEM_ALLOCATION_TYPE_PINNED`, `CU_MEM_LOCATION_TYPE_DEVICE`.
const PINNED: u32 = 1;
const ON_DEVICE: u32 = 1;
/// `CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR`.
const FILE_DESCRIPTOR: u32 = 1;

/// The device that memory with these properties is on.
fn device_of(prop: &MemAllocationProp) -> Answer<&'static crate::device::Device> {
    fail_if(prop.kind != PINNED, INVALID_VALUE)?;
    match prop.location.kind {
        ON_DEVICE => {}
        0 => return Err(INVALID_VALUE),
        // Memory of the host.
        _ => return Err(NOT_SUPPORTED),
    }
    let device = state()?
        .device(prop.location.id)
        .map_err(|_| INVALID_DEVICE)?;
    match prop.handle_types {
        0 | FILE_DESCRIPTOR => Ok(device),
        _ => Err(NOT_SUPPORTED),
    }
}

api! { TABLE:
    /// Reserves addresses.
    fn cuMemAddressReserve(
        address: Out<DevicePtr>, size: usize, alignment: usize, wanted: DevicePtr,
        flags: c_ulonglong,
    ) {
        state()?;
        fail_if(address.is_null() || flags != 0, INVALID_VALUE)?;
        address.put(virtual_memory::reserve(size as u64, alignment as u64, wanted)?)
    }

    /// Gives reserved addresses back.
    fn cuMemAddressFree(address: DevicePtr, size: usize) {
        state()?;
        virtual_memory::release_addresses(address, size as u64)
    }

    /// Takes physical memory.
    fn cuMemCreate(
        handle: Out<Handle>, size: usize, prop: In<MemAllocationProp>, flags: c_ulonglong,
    ) {
        state()?;
        let prop = prop.get()?;
        fail_if(handle.is_null() || flags != 0, INVALID_VALUE)?;
        handle.put(virtual_memory::create(device_of(&prop)?, size as u64, prop)?)
    }

    /// Gives a handle back; memory that is mapped stays until it is unmapped.
    fn cuMemRelease(handle: Handle) {
        state()?;
        virtual_memory::release(handle)
    }

    /// Maps physical memory at reserved addresses.
    fn cuMemMap(address: DevicePtr, size: usize, offset: usize, handle: Handle, flags: c_ulonglong) {
        state()?;
        fail_if(offset != 0 || flags != 0, INVALID_VALUE)?;
        virtual_memory::map(address, size as u64, handle)
    }

    /// Takes mappings away, once the work of the context is done.
    fn cuMemUnmap(address: DevicePtr, size: usize) {
        state()?;
        // Whatever still uses the memory belongs to some context.
        for context in state()?.contexts.all() {
            context.drain();
        }
        virtual_memory::unmap(address, size as u64)
    }

    /// Says who may use mapped memory.
    fn cuMemSetAccess(address: DevicePtr, size: usize, accesses: In<MemAccess>, count: usize) {
        let state = state()?;
        fail_if(count == 0, INVALID_VALUE)?;
        let mut devices = Vec::new();
        for index in 0..count {
            let access = accesses.at(index)?;
            fail_if(access.location.kind != ON_DEVICE, NOT_SUPPORTED)?;
            let device = state.device(access.location.id).map_err(|_| INVALID_DEVICE)?;
            devices.push((device.index, Access::from_flags(access.flags)?));
        }
        let context = current().map_or(0, |context| context.handle);
        virtual_memory::set_access(address, size as u64, &devices, context)
    }

    /// Who may use mapped memory.
    fn cuMemGetAccess(flags: Out<c_ulonglong>, location: In<MemLocation>, address: DevicePtr) {
        let (state, location) = (state()?, location.get()?);
        fail_if(location.kind != ON_DEVICE, INVALID_VALUE)?;
        let device = state.device(location.id).map_err(|_| INVALID_DEVICE)?;
        flags.put(virtual_memory::access(address, device.index)? as c_ulonglong)
    }

    /// What sizes and addresses have to be multiples of.
    fn cuMemGetAllocationGranularity(
        granularity: Out<usize>, prop: In<MemAllocationProp>, option: c_uint,
    ) {
        device_of(&prop.get()?)?;
        fail_if(option > 1, INVALID_VALUE)?;
        granularity.put(GRANULARITY as usize)
    }

    /// With which properties physical memory was taken.
    fn cuMemGetAllocationPropertiesFromHandle(prop: Out<MemAllocationProp>, handle: Handle) {
        state()?;
        prop.put(virtual_memory::of(handle)?.prop)
    }

    /// The handle of what is mapped at an address.
    fn cuMemRetainAllocationHandle(handle: Out<Handle>, address: *mut c_void) {
        state()?;
        fail_if(handle.is_null(), INVALID_VALUE)?;
        handle.put(virtual_memory::retain(address as u64)?)
    }

    /// A handle for other processes: a file descriptor, of memory that was taken for that.
    fn cuMemExportToShareableHandle(
        shareable: Out<c_int>, handle: Handle, kind: c_uint, flags: c_ulonglong,
    ) {
        state()?;
        fail_if(shareable.is_null() || flags != 0, INVALID_VALUE)?;
        let physical = virtual_memory::of(handle)?;
        fail_if(kind != FILE_DESCRIPTOR || physical.prop.handle_types & kind == 0, INVALID_VALUE)?;
        shareable.put(physical.descriptor()?)
    }

    /// The memory of a file descriptor, which is in the place of the pointer and stays the program's.
    fn cuMemImportFromShareableHandle(handle: Out<Handle>, shareable: *mut c_void, kind: c_uint) {
        let state = state()?;
        fail_if(handle.is_null(), INVALID_VALUE)?;
        fail_if(kind != FILE_DESCRIPTOR, NOT_SUPPORTED)?;
        let received = pages::received(shareable as usize as c_int);
        let (fd, size, index) = received.map_err(|_| UNKNOWN)?;
        let device = state.devices.get(index).ok_or(INVALID_VALUE)?;
        let prop = MemAllocationProp {
            kind: PINNED,
            handle_types: FILE_DESCRIPTOR,
            location: MemLocation { kind: ON_DEVICE, id: state.ordinal(device) },
            win32_handle_meta_data: 0,
            compression: 0,
            gpu_direct_rdma_capable: 0,
            usage: 0,
            reserved: [0; 4],
        };
        handle.put(virtual_memory::import(device, fd, size, prop))
    }
}
