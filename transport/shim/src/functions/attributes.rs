//! Attributes of functions and kernels. Libraries set them before launches, again and again to the same value, so
//! that one which is sure to be taken is not awaited, and one which is set already is not sent.

// Writes results through pointers of the program.
#![allow(unsafe_code)]

use std::ffi::c_int;

use gtrace_cuda::Operation;
use gtrace_cuda::types::driver::{
    self as cuda, CUdevice, CUfunction, CUfunction_attribute, CUkernel,
};
use gtrace_cuda::wire::Scalar as _;

use super::{number, record};
use crate::context::{self, put};
use crate::device;
use crate::entry::{self, Answer, check};
use crate::generated::driver::remote;
use crate::session::{self, Session};
use crate::state::lock;
use crate::stats::local;

/// Of the key of a value that was set with `cuFuncSetAttribute`.
const NO_DEVICE: CUdevice = -1;

pub(crate) unsafe fn cuFuncGetAttribute(
    pi: *mut c_int,
    attrib: CUfunction_attribute,
    hfunc: CUfunction,
) -> Answer {
    let session = session::cuda()?;
    let known = record(session, number(hfunc)).and_then(|r| r.attribute(attrib));
    if let Some(value) = known {
        local!("cuFuncGetAttribute");
        // SAFETY: a pointer of the program.
        return unsafe { put(pi, value) };
    }
    // SAFETY: a pointer of the program, passed on.
    check(unsafe { remote::cuFuncGetAttribute(pi, attrib, hfunc) })
}

/// Whether a driver takes this value for certain: dynamic shared memory beside the kernel's own within what a
/// block may opt in to, and a share in percent or -1 (`cuFuncSetAttribute` of the CUDA driver API).
fn is_sure(
    session: &'static Session,
    handle: u64,
    attrib: CUfunction_attribute,
    value: c_int,
    ordinal: CUdevice,
) -> bool {
    let Some(record) = record(session, handle) else {
        return false;
    };
    match attrib {
        cuda::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => {
            let most = device::device(session, ordinal).ok().and_then(|device| {
                let optin = cuda::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
                device::attribute(device, optin)
            });
            let own = record.attribute(cuda::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
            let room = most.zip(own).and_then(|(most, own)| most.checked_sub(own));
            room.is_some_and(|room| (0..=room).contains(&value))
        }
        cuda::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => (-1..=100).contains(&value),
        _ => false,
    }
}

pub(crate) unsafe fn cuFuncSetAttribute(
    hfunc: CUfunction,
    attrib: CUfunction_attribute,
    value: c_int,
) -> Answer {
    let session = session::cuda()?;
    let handle = number(hfunc);
    let key = (handle, attrib, NO_DEVICE);
    if lock(&session.state.functions).is_set(session, key, value) {
        local!("cuFuncSetAttribute");
        return Ok(());
    }
    check(
        if is_sure(session, handle, attrib, value, context::top().device) {
            entry::one_way(const { Operation::named("cuFuncSetAttribute") }, &mut |w| {
                w.u64(handle);
                attrib.put(w);
                value.put(w);
                Ok(())
            })
        } else {
            // SAFETY: no pointers.
            unsafe { remote::cuFuncSetAttribute(hfunc, attrib, value) }
        },
    )?;
    if let Some(record) = record(session, handle) {
        record.set(attrib, value);
    }
    let mut functions = lock(&session.state.functions);
    functions.forget_occupancy(handle);
    // Setting its kernel's may mean something again.
    if let Some(kernel) = functions.kernel_of(handle) {
        functions.forget_set(kernel);
    }
    functions.set.insert(key, value);
    Ok(())
}

pub(crate) unsafe fn cuKernelGetAttribute(
    pi: *mut c_int,
    attrib: CUfunction_attribute,
    kernel: CUkernel,
    dev: CUdevice,
) -> Answer {
    let session = session::cuda()?;
    crate::device::device(session, dev)?;
    // What is kept is for one device.
    let one = session.snapshot.get().is_some_and(|s| s.devices.len() == 1);
    let known = record(session, number(kernel)).and_then(|r| r.attribute(attrib));
    if let (true, Some(value)) = (one, known) {
        local!("cuKernelGetAttribute");
        // SAFETY: a pointer of the program.
        return unsafe { put(pi, value) };
    }
    // SAFETY: a pointer of the program, passed on.
    check(unsafe { remote::cuKernelGetAttribute(pi, attrib, kernel, dev) })
}

pub(crate) unsafe fn cuKernelSetAttribute(
    attrib: CUfunction_attribute,
    val: c_int,
    kernel: CUkernel,
    dev: CUdevice,
) -> Answer {
    let session = session::cuda()?;
    let handle = number(kernel);
    let key = (handle, attrib, dev);
    if lock(&session.state.functions).is_set(session, key, val) {
        local!("cuKernelSetAttribute");
        return Ok(());
    }
    check(if is_sure(session, handle, attrib, val, dev) {
        entry::one_way(
            const { Operation::named("cuKernelSetAttribute") },
            &mut |w| {
                attrib.put(w);
                val.put(w);
                w.u64(handle);
                dev.put(w);
                Ok(())
            },
        )
    } else {
        // SAFETY: no pointers.
        unsafe { remote::cuKernelSetAttribute(attrib, val, kernel, dev) }
    })?;
    if let Some(record) = record(session, handle) {
        record.set(attrib, val);
    }
    // Functions of the kernel have it too.
    let of_kernel = lock(&session.state.functions).of_kernel(handle);
    for record in of_kernel.iter().filter_map(|own| record(session, *own)) {
        record.set(attrib, val);
    }
    let mut functions = lock(&session.state.functions);
    functions.forget_occupancy(handle);
    for function in of_kernel {
        functions.forget_occupancy(function);
        functions.forget_set(function);
    }
    functions.set.insert(key, val);
    Ok(())
}
