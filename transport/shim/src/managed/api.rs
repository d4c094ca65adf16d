//! The functions of managed memory.

// Results are written through pointers of the program.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::slice;

use gtrace_cuda::types::driver::{
    self as cuda, CUdevice, CUdeviceptr, CUmem_advise, CUmem_range_attribute, CUmemLocation,
    CUresult, CUstream,
};

use super::pages::{Attach, Region};
use super::{Giving, add, attach, before_read, is_possible, want, whole_pages};
use crate::allocations::Place;
use crate::context::{self, put};
use crate::copy;
use crate::device;
use crate::entry::{Answer, check, holding_back};
use crate::generated::driver::remote;
use crate::memory::{note_as, note_variable};
use crate::page::page_size;
use crate::reserve::claim;
use crate::session::{self, Session};
use crate::status::fail_if;
use crate::{log, status};

/// Allocations that are tried until one lies at addresses that are free here too.
const TRIES: usize = 16;

/// An allocation of the server at addresses that are free here: they are kept so.
fn allocate(session: &'static Session, bytes: u64, flags: c_uint) -> Answer<u64> {
    let mut unfit = Vec::new();
    let mut found = Err(cuda::CUDA_ERROR_OUT_OF_MEMORY);
    while unfit.len() < TRIES {
        let mut base = 0;
        // SAFETY: the pointer is writable.
        let code = unsafe { remote::cuMemAllocManaged(&raw mut base, bytes as usize, flags) };
        if let Err(code) = check(code) {
            found = Err(code);
            break;
        }
        if base % page_size() == 0 && claim(base, bytes) {
            found = Ok(base);
            break;
        }
        unfit.push(base);
    }
    if found == Err(cuda::CUDA_ERROR_OUT_OF_MEMORY) && unfit.len() == TRIES {
        log::once(
            "managed addresses",
            "managed memory of the GPU's host lies where this program has memory of its own",
        );
    }
    for base in unfit {
        // SAFETY: no pointer of the client.
        check(holding_back(session, || unsafe {
            remote::cuMemFree_v2(base)
        }))?;
    }
    found
}

/// Memory of `size` bytes at one address on both sides, as the driver's `flags` of managed memory have
/// it, noted as what it is to the program.
///
/// # Errors
///
/// INVALID_VALUE, OUT_OF_MEMORY, NOT_SUPPORTED where there is no pager, and the driver's.
pub(crate) fn allocate_shared(
    session: &'static Session,
    size: usize,
    flags: c_uint,
    (place, place_flags): (Place, c_uint),
) -> Answer<u64> {
    let current = context::current()?;
    fail_if(size == 0, cuda::CUDA_ERROR_INVALID_VALUE)?;
    fail_if(!is_possible(), cuda::CUDA_ERROR_NOT_SUPPORTED)?;
    // Whole pages, so that no page is of two allocations.
    let bytes = whole_pages(size as u64).ok_or(cuda::CUDA_ERROR_OUT_OF_MEMORY)?;
    let base = allocate(session, bytes, flags)?;
    let mut region = Region::new(base, bytes, current.handle);
    if flags == cuda::CU_MEM_ATTACH_HOST {
        (region.attach, region.attach_first) = (Attach::Host, Attach::Host);
    }
    if !add(session, region)? {
        // SAFETY: no pointer of the client.
        check(unsafe { remote::cuMemFree_v2(base) })?;
        return Err(cuda::CUDA_ERROR_OUT_OF_MEMORY);
    }
    note_as(session, (base, size as u64), place, place_flags);
    Ok(base)
}

pub(crate) unsafe fn cuMemAllocManaged(
    dptr: *mut CUdeviceptr,
    bytesize: usize,
    flags: c_uint,
) -> Answer {
    let session = session::cuda()?;
    let known = [cuda::CU_MEM_ATTACH_GLOBAL, cuda::CU_MEM_ATTACH_HOST];
    fail_if(
        dptr.is_null() || !known.contains(&flags),
        cuda::CUDA_ERROR_INVALID_VALUE,
    )?;
    let base = allocate_shared(session, bytesize, flags, (Place::Managed, 0))?;
    // SAFETY: a pointer of the program.
    unsafe { put(dptr, base) }
}

pub(crate) unsafe fn cuStreamAttachMemAsync(
    hStream: CUstream,
    dptr: CUdeviceptr,
    length: usize,
    flags: c_uint,
) -> Answer {
    // SAFETY: a handle.
    check(unsafe { remote::cuStreamAttachMemAsync(hStream, dptr, length, flags) })?;
    match flags {
        cuda::CU_MEM_ATTACH_GLOBAL => attach(dptr, Attach::Global),
        cuda::CU_MEM_ATTACH_HOST => attach(dptr, Attach::Host),
        cuda::CU_MEM_ATTACH_SINGLE => attach(dptr, Attach::Stream(copy::stream(hStream))),
        _ => {}
    }
    Ok(())
}

/// What was attached to the stream is as it was allocated again.
pub(crate) unsafe fn cuStreamDestroy_v2(hStream: CUstream) -> CUresult {
    if super::in_use() {
        super::detach(copy::stream(hStream));
    }
    // SAFETY: a handle.
    unsafe { remote::cuStreamDestroy_v2(hStream) }
}

/// Whether a place is a device, and not the host. The driver would refuse a wrong one at a later call.
///
/// # Errors
///
/// INVALID_DEVICE, and INVALID_VALUE where it is no place.
fn is_device(session: &Session, location: CUmemLocation) -> Answer<bool> {
    match location.type_ {
        cuda::CU_MEM_LOCATION_TYPE_DEVICE => {
            // SAFETY: of a device this is its ordinal.
            let ordinal = unsafe { location.__bindgen_anon_1.id };
            device::device(session, ordinal).map(|_| true)
        }
        cuda::CU_MEM_LOCATION_TYPE_INVALID => Err(cuda::CUDA_ERROR_INVALID_VALUE),
        _ => Ok(false),
    }
}

/// A place as functions name it that know devices and one host.
fn place(device: CUdevice) -> CUmemLocation {
    /// `CU_DEVICE_CPU`.
    const CPU: CUdevice = -1;
    CUmemLocation {
        type_: match device {
            CPU => cuda::CU_MEM_LOCATION_TYPE_HOST,
            _ => cuda::CU_MEM_LOCATION_TYPE_DEVICE,
        },
        __bindgen_anon_1: cuda::CUmemLocation_st__bindgen_ty_1 { id: device },
    }
}

/// Refuses advice that there is not, and places that are none where the advice is about one.
fn advisable(advice: CUmem_advise, location: CUmemLocation) -> Answer {
    let session = session::cuda()?;
    match advice {
        cuda::CU_MEM_ADVISE_SET_READ_MOSTLY
        | cuda::CU_MEM_ADVISE_UNSET_READ_MOSTLY
        | cuda::CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION => Ok(()),
        cuda::CU_MEM_ADVISE_SET_PREFERRED_LOCATION
        | cuda::CU_MEM_ADVISE_SET_ACCESSED_BY
        | cuda::CU_MEM_ADVISE_UNSET_ACCESSED_BY => is_device(session, location).map(|_| ()),
        _ => Err(cuda::CUDA_ERROR_INVALID_VALUE),
    }
}

pub(crate) unsafe fn cuMemAdvise(
    devPtr: CUdeviceptr,
    count: usize,
    advice: CUmem_advise,
    device: CUdevice,
) -> Answer {
    advisable(advice, place(device))?;
    // SAFETY: no pointer of the client.
    check(unsafe { remote::cuMemAdvise(devPtr, count, advice, device) })
}

pub(crate) unsafe fn cuMemAdvise_v2(
    devPtr: CUdeviceptr,
    count: usize,
    advice: CUmem_advise,
    location: CUmemLocation,
) -> Answer {
    advisable(advice, location)?;
    // SAFETY: no pointer of the client.
    check(unsafe { remote::cuMemAdvise_v2(devPtr, count, advice, location) })
}

/// What the program wants to be on the device is sent now, and what it wants at the host will come in
/// large pieces.
fn prefetch(address: u64, len: usize, to_device: bool) -> Answer {
    let session = session::cuda()?;
    if super::in_use() {
        match to_device {
            true => before_read(session, address, len as u64)?,
            false => want(address, len as u64),
        }
    }
    Ok(())
}

pub(crate) unsafe fn cuMemPrefetchAsync(
    devPtr: CUdeviceptr,
    count: usize,
    dstDevice: CUdevice,
    hStream: CUstream,
) -> Answer {
    let to_device = is_device(session::cuda()?, place(dstDevice))?;
    prefetch(devPtr, count, to_device)?;
    // SAFETY: no pointer of the client.
    check(unsafe { remote::cuMemPrefetchAsync(devPtr, count, dstDevice, hStream) })
}

pub(crate) unsafe fn cuMemPrefetchAsync_v2(
    devPtr: CUdeviceptr,
    count: usize,
    location: CUmemLocation,
    flags: c_uint,
    hStream: CUstream,
) -> Answer {
    let to_device = is_device(session::cuda()?, location)?;
    prefetch(devPtr, count, to_device)?;
    // SAFETY: no pointer of the client.
    check(unsafe { remote::cuMemPrefetchAsync_v2(devPtr, count, location, flags, hStream) })
}

/// Does `each` with the ranges of a batch, and the place to which a range goes, if it is to go somewhere. What is wrong
/// with it is for the driver to say.
///
/// # Safety
///
/// The program's promise: arrays of as many values as it says.
unsafe fn ranges(
    (addresses, sizes, count): (*const CUdeviceptr, *const usize, usize),
    (places, firsts, place_count): (*const CUmemLocation, *const usize, usize),
    mut each: impl FnMut(u64, usize, Option<CUmemLocation>) -> Answer,
) -> Answer {
    fail_if(
        addresses.is_null() || sizes.is_null() || count == 0,
        cuda::CUDA_ERROR_INVALID_VALUE,
    )?;
    // SAFETY: the caller's promise.
    let (addresses, sizes) = unsafe {
        (
            slice::from_raw_parts(addresses, count),
            slice::from_raw_parts(sizes, count),
        )
    };
    let none = places.is_null() || firsts.is_null() || place_count == 0;
    let (places, firsts): (&[_], &[_]) = match none {
        true => (&[], &[]),
        // SAFETY: as above.
        false => unsafe {
            (
                slice::from_raw_parts(places, place_count),
                slice::from_raw_parts(firsts, place_count),
            )
        },
    };
    for (at, (address, size)) in addresses.iter().zip(sizes).enumerate() {
        let place = firsts.iter().rposition(|first| *first <= at);
        each(*address, *size, place.map(|place| places[place]))?;
    }
    Ok(())
}

pub(crate) unsafe fn cuMemPrefetchBatchAsync(
    dptrs: *mut CUdeviceptr,
    sizes: *mut usize,
    count: usize,
    prefetchLocs: *mut CUmemLocation,
    prefetchLocIdxs: *mut usize,
    numPrefetchLocs: usize,
    flags: c_ulonglong,
    hStream: CUstream,
) -> Answer {
    let session = session::cuda()?;
    let places = (
        prefetchLocs.cast_const(),
        prefetchLocIdxs.cast_const(),
        numPrefetchLocs,
    );
    // SAFETY: the program's arrays.
    unsafe {
        ranges((dptrs, sizes, count), places, |address, len, place| {
            let place = place.map(|place| is_device(session, place));
            prefetch(address, len, place.transpose()?.unwrap_or(false))
        })?;
        check(remote::cuMemPrefetchBatchAsync(
            dptrs,
            sizes,
            count,
            prefetchLocs,
            prefetchLocIdxs,
            numPrefetchLocs,
            flags,
            hStream,
        ))
    }
}

/// What the host has of memory that is discarded is of no use; what it has changed is sent all the same, which is
/// one of the things that discarded memory may hold.
fn discard(session: &'static Session, address: u64, len: usize) -> Answer<Giving> {
    match super::in_use() {
        true => super::before_write(session, address, len as u64),
        false => Ok(Giving::default()),
    }
}

/// Discards the ranges of a batch by `call`.
///
/// # Safety
///
/// The program's promise: arrays of as many values as it says.
unsafe fn discard_batch(
    batch: (*const CUdeviceptr, *const usize, usize),
    call: impl FnOnce() -> CUresult,
) -> Answer {
    let session = session::cuda()?;
    let none = (std::ptr::null(), std::ptr::null(), 0);
    let mut giving = Vec::new();
    // SAFETY: the caller's promise.
    unsafe {
        ranges(batch, none, |address, len, _| {
            giving.push(discard(session, address, len)?);
            Ok(())
        })
    }?;
    check(call())
}

pub(crate) unsafe fn cuMemDiscardBatchAsync(
    dptrs: *mut CUdeviceptr,
    sizes: *mut usize,
    count: usize,
    flags: c_ulonglong,
    hStream: CUstream,
) -> Answer {
    // SAFETY: the program's arrays.
    unsafe {
        discard_batch((dptrs, sizes, count), || {
            remote::cuMemDiscardBatchAsync(dptrs, sizes, count, flags, hStream)
        })
    }
}

pub(crate) unsafe fn cuMemDiscardAndPrefetchBatchAsync(
    dptrs: *mut CUdeviceptr,
    sizes: *mut usize,
    count: usize,
    prefetchLocs: *mut CUmemLocation,
    prefetchLocIdxs: *mut usize,
    numPrefetchLocs: usize,
    flags: c_ulonglong,
    hStream: CUstream,
) -> Answer {
    // SAFETY: the program's arrays.
    unsafe {
        discard_batch((dptrs, sizes, count), || {
            remote::cuMemDiscardAndPrefetchBatchAsync(
                dptrs,
                sizes,
                count,
                prefetchLocs,
                prefetchLocIdxs,
                numPrefetchLocs,
                flags,
                hStream,
            )
        })
    }
}

/// Several attributes at once: each is a question of its own.
pub(crate) unsafe fn cuMemRangeGetAttributes(
    data: *mut *mut c_void,
    dataSizes: *mut usize,
    attributes: *mut CUmem_range_attribute,
    numAttributes: usize,
    devPtr: CUdeviceptr,
    count: usize,
) -> Answer {
    session::cuda()?;
    let none = data.is_null() || dataSizes.is_null() || attributes.is_null();
    if none || numAttributes == 0 || numAttributes > c_int::MAX as usize {
        return Err(cuda::CUDA_ERROR_INVALID_VALUE);
    }
    // SAFETY: three arrays of the program, of as many elements.
    let (data, sizes, attributes) = unsafe {
        (
            slice::from_raw_parts(data, numAttributes),
            slice::from_raw_parts(dataSizes, numAttributes),
            slice::from_raw_parts(attributes, numAttributes),
        )
    };
    for ((data, size), attribute) in data.iter().zip(sizes).zip(attributes) {
        // SAFETY: the program has room for as many bytes as it says.
        check(unsafe { remote::cuMemRangeGetAttribute(*data, *size, *attribute, devPtr, count) })?;
    }
    Ok(())
}

/// A variable that the server's driver says is managed becomes managed here too, until its module or
/// library is unloaded.
///
/// # Errors
///
/// [`status::LOST`], and OUT_OF_MEMORY where it lies at addresses that this program has.
pub(crate) fn take_up_variable(
    session: &'static Session,
    (base, size): (u64, usize),
    owner: u64,
) -> Answer {
    let current = context::current()?;
    base.checked_add(size as u64)
        .and_then(whole_pages)
        .ok_or(cuda::CUDA_ERROR_OUT_OF_MEMORY)?;
    match super::add_variable(session, (base, size as u64), current.handle, owner)? {
        true => {
            note_variable(session, (base, size as u64), Place::Managed, owner);
            Ok(())
        }
        false => Err(match session.is_lost() {
            true => status::LOST,
            false => cuda::CUDA_ERROR_OUT_OF_MEMORY,
        }),
    }
}

/// What a fill or a copy on the device without `Async` answers that was sent in `stream`, with `code`. `hosts`: it is to have
/// ended when the function returns, as it uses memory that is the host's too.
#[inline]
pub(crate) fn ended(hosts: bool, stream: CUstream, code: CUresult) -> CUresult {
    match code {
        // SAFETY: no pointers but the stream's handle.
        cuda::CUDA_SUCCESS if hosts => unsafe { remote::cuStreamSynchronize(stream) },
        code => code,
    }
}
