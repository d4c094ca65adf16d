//! Batches of copies. Their copies have no order among each other, so that each travels by itself, in the order of the
//! stream.

// Reads arrays of the program.
#![allow(unsafe_code)]

use std::slice;

use gtrace_cuda::types::driver::{self as cuda, CUdeviceptr, CUmemcpyAttributes, CUstream};

use crate::capture;
use crate::copy;
use crate::entry::{Answer, check};
use crate::generated::driver::remote;
use crate::session;

/// How a copy reads its source.
///
/// # Errors
///
/// INVALID_VALUE for an order or flags that there are not.
fn checked(attributes: &CUmemcpyAttributes) -> Answer<u32> {
    let order = attributes.srcAccessOrder;
    let known = cuda::CU_MEMCPY_SRC_ACCESS_ORDER_STREAM..=cuda::CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
    let flags = cuda::CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE;
    match known.contains(&order) && attributes.flags & !flags == 0 {
        true => Ok(order),
        false => Err(cuda::CUDA_ERROR_INVALID_VALUE),
    }
}

/// One copy of a batch. `order` is how it reads its source: if that is before this returns, bytes of the program are
/// taken at once, and the device's memory is waited for, as the program may free it then.
fn one((to, from, len): (CUdeviceptr, CUdeviceptr, usize), order: u32, stream: CUstream) -> Answer {
    let during = order == cuda::CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
    let from_host = copy::is_host(session::cuda()?, from);
    // SAFETY: addresses of the program, by its promise to the batch.
    let copy = || unsafe { copy::cuMemcpyAsync(to, from, len, stream) };
    match during && from_host {
        true => copy::in_call(copy),
        false => copy(),
    }?;
    match during && !from_host {
        // SAFETY: a handle.
        true => check(unsafe { remote::cuStreamSynchronize(stream) }),
        false => Ok(()),
    }
}

/// An array of the program.
///
/// # Safety
///
/// The program's promise: null, or `count` values.
unsafe fn array<'a, T>(values: *const T, count: usize) -> Answer<&'a [T]> {
    match values.is_null() || count == 0 {
        true => Err(cuda::CUDA_ERROR_INVALID_VALUE),
        // SAFETY: the caller's promise.
        false => Ok(unsafe { slice::from_raw_parts(values, count) }),
    }
}

/// The arrays of a batch.
struct Batch {
    to: *const CUdeviceptr,
    from: *const CUdeviceptr,
    sizes: *const usize,
    count: usize,
    attributes: *const CUmemcpyAttributes,
    firsts: *const usize,
    attribute_count: usize,
}

impl Batch {
    /// Makes the copies; `failed` is the one that could not be made.
    fn issue(&self, stream: CUstream, failed: &mut usize) -> Answer {
        let session = session::cuda()?;
        let invalid = cuda::CUDA_ERROR_INVALID_VALUE;
        // SAFETY: the program's arrays, of as many values as it says.
        let (to, from, sizes, attributes, firsts) = unsafe {
            (
                array(self.to, self.count)?,
                array(self.from, self.count)?,
                array(self.sizes, self.count)?,
                array(self.attributes, self.attribute_count)?,
                array(self.firsts, self.attribute_count)?,
            )
        };
        let ascend = firsts[0] == 0 && firsts.windows(2).all(|pair| pair[0] < pair[1]);
        // The legacy default stream takes no batches.
        if stream.is_null() || !ascend || firsts[firsts.len() - 1] >= self.count {
            return Err(invalid);
        }
        let mut orders = Vec::with_capacity(attributes.len());
        for attributes in attributes {
            orders.push(checked(attributes)?);
        }
        if capture::of(session, stream)?.is_some() {
            return Err(cuda::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        }
        let mut own = 0;
        for at in 0..self.count {
            if firsts.get(own + 1) == Some(&at) {
                own += 1;
            }
            *failed = at;
            one((to[at], from[at], sizes[at]), orders[own], stream)?;
        }
        Ok(())
    }
}

pub(crate) unsafe fn cuMemcpyBatchAsync(
    dsts: *mut CUdeviceptr,
    srcs: *mut CUdeviceptr,
    sizes: *mut usize,
    count: usize,
    attrs: *mut CUmemcpyAttributes,
    attrsIdxs: *mut usize,
    numAttrs: usize,
    failIdx: *mut usize,
    hStream: CUstream,
) -> Answer {
    let batch = Batch {
        to: dsts,
        from: srcs,
        sizes,
        count,
        attributes: attrs,
        firsts: attrsIdxs,
        attribute_count: numAttrs,
    };
    let mut failed = usize::MAX;
    batch.issue(hStream, &mut failed).inspect_err(|_| {
        if !failIdx.is_null() {
            // SAFETY: a pointer of the program.
            unsafe { failIdx.write(failed) };
        }
    })
}

pub(crate) unsafe fn cuMemcpyBatchAsync_v2(
    dsts: *mut CUdeviceptr,
    srcs: *mut CUdeviceptr,
    sizes: *mut usize,
    count: usize,
    attrs: *mut CUmemcpyAttributes,
    attrsIdxs: *mut usize,
    numAttrs: usize,
    hStream: CUstream,
) -> Answer {
    let none = std::ptr::null_mut();
    // SAFETY: the program's arrays.
    unsafe {
        cuMemcpyBatchAsync(
            dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, none, hStream,
        )
    }
}

pub(crate) unsafe fn cuMemcpyWithAttributesAsync(
    dst: CUdeviceptr,
    src: CUdeviceptr,
    size: usize,
    attr: *mut CUmemcpyAttributes,
    hStream: CUstream,
) -> Answer {
    // SAFETY: null or a structure of the program.
    let attributes = unsafe { attr.as_ref() }.ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?;
    one((dst, src, size), checked(attributes)?, hStream)
}
