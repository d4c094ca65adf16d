//! What a pointer is, from the map of allocations.

// Writes values of the attribute's type through untyped pointers of the program.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::{null_mut, without_provenance_mut};
use std::slice;

use gtrace_cuda::types::driver::{
    self as cuda, CUcontext, CUdeviceptr, CUmemoryPool, CUpointer_attribute,
};

use crate::allocations::{Allocation, Place};
use crate::device;
use crate::entry::{Answer, check};
use crate::generated::driver::remote;
use crate::session;
use crate::state::{read, write};
use crate::stats::local_functions;
use crate::status::fail_if;

/// Whether it is page-locked memory that the device can use.
pub(crate) fn can_map(found: &Allocation) -> bool {
    if !found.place.is_host() {
        return false;
    }
    let device = session::cuda().and_then(|session| device::device(session, found.device));
    device.is_ok_and(device::can_map_host_memory)
}

/// What `CU_POINTER_ATTRIBUTE_RANGE_*` are of: of memory that is mapped, the whole range of addresses that it is mapped into.
fn range(ptr: CUdeviceptr, found: Allocation) -> Answer<Allocation> {
    if found.place != Place::Mapped {
        return Ok(found);
    }
    let session = session::cuda()?;
    let range = read(&session.state.allocations).range(ptr);
    Ok(range.unwrap_or(found))
}

/// Writes the value of an attribute of `ptr`, which lies in `found`.
///
/// # Errors
///
/// INVALID_VALUE for memory that CUDA does not know, and for attributes that do not exist.
///
/// # Safety
///
/// `data` has room for a value of the attribute's type (CUDA driver API, `cuPointerGetAttribute`).
unsafe fn attribute(
    data: *mut c_void,
    attribute: CUpointer_attribute,
    ptr: CUdeviceptr,
    found: Option<Allocation>,
) -> Answer {
    fail_if(data.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)?;
    // SAFETY: each has the type that the attribute has, by the caller's promise.
    let (int, long, pointer) = unsafe {
        (
            |value: u32| data.cast::<c_uint>().write(value),
            |value: u64| data.cast::<u64>().write(value),
            |value: *mut c_void| data.cast::<*mut c_void>().write(value),
        )
    };
    let flag = |value: bool| {
        // SAFETY: the attribute is a bool, by the caller's promise.
        unsafe { data.cast::<bool>().write(value) }
    };
    let Some(found) = found else {
        // Memory of the program that CUDA knows nothing of, which some attributes can say.
        match attribute {
            cuda::CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE
            | cuda::CU_POINTER_ATTRIBUTE_MAPPED => flag(false),
            _ => return Err(cuda::CUDA_ERROR_INVALID_VALUE),
        }
        return Ok(());
    };
    let host = found.place.is_host();
    match attribute {
        cuda::CU_POINTER_ATTRIBUTE_CONTEXT => {
            pointer(without_provenance_mut(found.context as usize));
        }
        cuda::CU_POINTER_ATTRIBUTE_MEMORY_TYPE => int(match host {
            true => cuda::CU_MEMORYTYPE_HOST,
            false => cuda::CU_MEMORYTYPE_DEVICE,
        }),
        cuda::CU_POINTER_ATTRIBUTE_DEVICE_POINTER if !host || can_map(&found) => long(ptr),
        cuda::CU_POINTER_ATTRIBUTE_HOST_POINTER if host || found.place == Place::Managed => {
            pointer(without_provenance_mut(ptr as usize));
        }
        cuda::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS => int(found.synchronous.into()),
        cuda::CU_POINTER_ATTRIBUTE_BUFFER_ID => long(found.id),
        cuda::CU_POINTER_ATTRIBUTE_IS_MANAGED => int((found.place == Place::Managed).into()),
        cuda::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL => int(found.device.cast_unsigned()),
        cuda::CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE => {
            int((found.place == Place::Device).into());
        }
        cuda::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR => long(range(ptr, found)?.base),
        cuda::CU_POINTER_ATTRIBUTE_RANGE_SIZE => long(range(ptr, found)?.size),
        cuda::CU_POINTER_ATTRIBUTE_MAPPED => flag(found.place != Place::Reserved),
        cuda::CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES => int(0),
        cuda::CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE => flag(false),
        cuda::CU_POINTER_ATTRIBUTE_ACCESS_FLAGS => {
            int(cuda::CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE)
        }
        cuda::CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE
            if found.place == Place::Pool && found.pool == 0 =>
        {
            let mut pool = null_mut();
            // SAFETY: the pointer is writable.
            check(unsafe { remote::cuDeviceGetDefaultMemPool(&raw mut pool, found.device) })?;
            pointer(pool.cast());
        }
        cuda::CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE => {
            pointer(without_provenance_mut(found.pool as usize));
        }
        _ => return Err(cuda::CUDA_ERROR_INVALID_VALUE),
    }
    Ok(())
}

/// What `cuPointerGetAttributes` writes for memory that CUDA does not know, instead of failing.
///
/// # Safety
///
/// As for [`attribute`].
unsafe fn nothing(data: *mut c_void, attribute: CUpointer_attribute) -> Answer {
    // SAFETY: each has the type that the attribute has, by the caller's promise.
    unsafe {
        match attribute {
            cuda::CU_POINTER_ATTRIBUTE_CONTEXT => data.cast::<CUcontext>().write(null_mut()),
            cuda::CU_POINTER_ATTRIBUTE_DEVICE_POINTER
            | cuda::CU_POINTER_ATTRIBUTE_HOST_POINTER
            | cuda::CU_POINTER_ATTRIBUTE_BUFFER_ID
            | cuda::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR
            | cuda::CU_POINTER_ATTRIBUTE_RANGE_SIZE => data.cast::<u64>().write(0),
            cuda::CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE => {
                data.cast::<CUmemoryPool>().write(null_mut());
            }
            cuda::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL => data.cast::<c_int>().write(-2),
            cuda::CU_POINTER_ATTRIBUTE_MAPPED
            | cuda::CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE => {
                data.cast::<bool>().write(false);
            }
            cuda::CU_POINTER_ATTRIBUTE_MEMORY_TYPE
            | cuda::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS
            | cuda::CU_POINTER_ATTRIBUTE_IS_MANAGED
            | cuda::CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE
            | cuda::CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES
            | cuda::CU_POINTER_ATTRIBUTE_ACCESS_FLAGS => data.cast::<c_uint>().write(0),
            // One that there is not.
            _ => return Err(cuda::CUDA_ERROR_INVALID_VALUE),
        }
    }
    Ok(())
}

local_functions! {
    fn cuPointerGetAttribute(
        session, data: *mut c_void, attribute: CUpointer_attribute, ptr: CUdeviceptr,
    ) {
        let found = read(&session.state.allocations).find(ptr);
        self::attribute(data, attribute, ptr, found)
    }

    fn cuPointerGetAttributes(
        session, numAttributes: c_uint, attributes: *mut CUpointer_attribute,
        data: *mut *mut c_void, ptr: CUdeviceptr,
    ) {
        fail_if(attributes.is_null() || data.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)?;
        let count = numAttributes as usize;
        let attributes = slice::from_raw_parts(attributes, count);
        let data = slice::from_raw_parts(data, count);
        let found = read(&session.state.allocations).find(ptr);
        for (name, data) in attributes.iter().zip(data) {
            fail_if(data.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)?;
            if attribute(*data, *name, ptr, found).is_err() {
                nothing(*data, *name)?;
            }
        }
        Ok(())
    }

    /// The only attribute that can be set asks for copies to be synchronous, which they are for memory of
    /// the client.
    fn cuPointerSetAttribute(
        session, value: *const c_void, attribute: CUpointer_attribute, ptr: CUdeviceptr,
    ) {
        let found = read(&session.state.allocations).find(ptr);
        let found = found.ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?;
        let can_be_set = attribute == cuda::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS;
        fail_if(!can_be_set || value.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)?;
        // An unsigned integer.
        let synchronous = value.cast::<c_uint>().read() != 0;
        write(&session.state.allocations).set_synchronous(found.base, synchronous);
        Ok(())
    }
}
