//! Launches. The client has packed the parameters as the kernel's layout says, and the driver takes
//! the packed buffer as it is.

#![allow(non_snake_case, reason = "the driver's names")]
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::mem;
use std::ptr;

use gtrace_cuda::Kind;
use gtrace_cuda::payload::{Launch, PARAMETERS_MAX, Payload as _};
use gtrace_cuda::types::driver::{
    CU_LAUNCH_ATTRIBUTE_COOPERATIVE, CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT,
    CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, CUfunction, CUlaunchAttribute, CUlaunchConfig,
    CUstream,
};
use gtrace_protocol::{Reader, Writer};

use super::{INVALID_VALUE, NOT_SUPPORTED, SUCCESS, checked, code_of};
use crate::exec::{Called, Code, Exec};

/// What the driver needs beside the payload.
struct Resolved {
    function: CUfunction,
    stream: CUstream,
}

fn look_up(exec: &Exec, launch: &Launch<'_>) -> Result<Resolved, Code> {
    Ok(Resolved {
        function: exec.handles.real(Kind::Function, launch.function)?.cast(),
        stream: exec.handles.real(Kind::Stream, launch.stream)?.cast(),
    })
}

/// `CU_LAUNCH_PARAM_BUFFER_POINTER` (cuda.h): the buffer follows.
const POINTER: usize = 1;
/// `CU_LAUNCH_PARAM_BUFFER_SIZE`: a pointer to its size follows.
const SIZE: usize = 2;

/// The buffer, its size, and `CU_LAUNCH_PARAM_END`.
pub(super) fn extra(buffer: *mut c_void, size: &mut usize) -> [*mut c_void; 5] {
    [
        ptr::without_provenance_mut(POINTER),
        buffer,
        ptr::without_provenance_mut(SIZE),
        ptr::from_mut(size).cast(),
        ptr::null_mut(),
    ]
}

/// The bytes of a buffer that the driver shows as it was given it by [`extra`].
///
/// # Safety
///
/// `extra` is of the driver.
pub(super) unsafe fn buffer(extra: *const *mut c_void) -> Result<Vec<u8>, Code> {
    let (mut from, mut size) = (ptr::null::<u8>(), 0);
    for pair in 0..2 {
        // SAFETY: pairs of a mark and its value, up to the mark that ends them.
        let mark = unsafe { extra.add(2 * pair).read() }.addr();
        if mark == 0 {
            break;
        }
        // SAFETY: as above.
        let value = unsafe { extra.add(2 * pair + 1).read() };
        match mark {
            POINTER => from = value.cast::<u8>().cast_const(),
            // SAFETY: it points to the size.
            SIZE => size = unsafe { value.cast::<usize>().read() },
            _ => return Err(NOT_SUPPORTED),
        }
    }
    if from.is_null() || size > PARAMETERS_MAX {
        return Err(INVALID_VALUE);
    }
    // SAFETY: of as many bytes as the driver says.
    Ok(unsafe { std::slice::from_raw_parts(from, size) }.to_vec())
}

fn plain(exec: &mut Exec, launch: &Launch<'_>) -> Result<(), Code> {
    let Resolved { function, stream } = look_up(exec, launch)?;
    let call = exec.driver.cuLaunchKernel.ok_or(NOT_SUPPORTED)?;
    let ([gx, gy, gz], [bx, by, bz]) = (launch.grid, launch.block);
    let mut size = launch.parameters.len();
    let mut extra = extra(launch.parameters.as_ptr().cast_mut().cast(), &mut size);
    let extra = match launch.parameters.is_empty() {
        true => ptr::null_mut(),
        false => extra.as_mut_ptr(),
    };
    let (shared, none) = (launch.shared_bytes, ptr::null_mut());
    // SAFETY: handles are the client's; `extra` names a buffer of the size that it says, which the
    // driver only reads, and copies before it returns.
    checked(unsafe {
        call(
            function, gx, gy, gz, bx, by, bz, shared, stream, none, extra,
        )
    })
}

/// The attributes, with the client's events replaced by the driver's.
fn attributes(exec: &Exec, launch: &Launch<'_>) -> Result<Vec<CUlaunchAttribute>, Code> {
    let mut attributes = Vec::with_capacity(launch.attributes.len() + 1);
    for given in launch.attributes.iter() {
        let mut value = given.value;
        if matches!(
            given.id,
            CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT | CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT
        ) {
            let (event, _) = value.split_at_mut(8);
            let mut handle = [0; 8];
            handle.copy_from_slice(event);
            let real = exec.handles.real(Kind::Event, u64::from_le_bytes(handle))?;
            event.copy_from_slice(&(real as u64).to_le_bytes());
        }
        attributes.push(attribute(given.id, value));
    }
    Ok(attributes)
}

pub(super) fn attribute(id: u32, value: [u8; 64]) -> CUlaunchAttribute {
    // SAFETY: zeros are a value of every attribute.
    let mut attribute: CUlaunchAttribute = unsafe { mem::zeroed() };
    attribute.id = id;
    attribute.value.pad = value.map(|byte| byte as std::ffi::c_char);
    attribute
}

/// Calls `call` with the launch as a configuration.
fn configured(
    exec: &Exec,
    launch: &Launch<'_>,
    cooperative: bool,
    call: impl FnOnce(&CUlaunchConfig, CUfunction, *mut *mut c_void) -> u32,
) -> Result<(), Code> {
    let Resolved { function, stream } = look_up(exec, launch)?;
    let mut attributes = attributes(exec, launch)?;
    if cooperative {
        let mut value = [0; 64];
        value[..4].copy_from_slice(&1i32.to_le_bytes());
        attributes.push(attribute(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, value));
    }
    // SAFETY: zeros are a value.
    let mut config: CUlaunchConfig = unsafe { mem::zeroed() };
    [config.gridDimX, config.gridDimY, config.gridDimZ] = launch.grid;
    [config.blockDimX, config.blockDimY, config.blockDimZ] = launch.block;
    config.sharedMemBytes = launch.shared_bytes;
    config.hStream = stream;
    config.attrs = attributes.as_mut_ptr();
    config.numAttrs = attributes.len() as u32;
    let mut size = launch.parameters.len();
    let mut extra = extra(launch.parameters.as_ptr().cast_mut().cast(), &mut size);
    let extra = match launch.parameters.is_empty() {
        true => ptr::null_mut(),
        false => extra.as_mut_ptr(),
    };
    checked(call(&config, function, extra))
}

fn launch_ex(exec: &Exec, launch: &Launch<'_>, cooperative: bool) -> Result<(), Code> {
    let call = exec.driver.cuLaunchKernelEx.ok_or(NOT_SUPPORTED)?;
    configured(exec, launch, cooperative, |config, function, extra| {
        // SAFETY: as in `plain`; the configuration's attributes live until the call returns.
        unsafe { call(config, function, ptr::null_mut(), extra) }
    })
}

/// A launch.
pub(crate) fn cuLaunchKernel(exec: &mut Exec, r: &mut Reader<'_>, _: &mut Writer) -> Called {
    let launch = Launch::whole(r)?;
    Ok(code_of(plain(exec, &launch)))
}

/// A launch with attributes.
pub(crate) fn cuLaunchKernelEx(exec: &mut Exec, r: &mut Reader<'_>, _: &mut Writer) -> Called {
    let launch = Launch::whole(r)?;
    Ok(code_of(launch_ex(exec, &launch, false)))
}

/// A launch whose blocks may wait for each other. The driver's function of this name does not take
/// packed parameters, so it is a launch with the attribute.
pub(crate) fn cuLaunchCooperativeKernel(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    _: &mut Writer,
) -> Called {
    let launch = Launch::whole(r)?;
    Ok(code_of(launch_ex(exec, &launch, true)))
}

fn occupancy(
    exec: &Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
    call: Option<unsafe extern "C" fn(*mut c_int, CUfunction, *const CUlaunchConfig) -> u32>,
) -> Called {
    let launch = Launch::whole(r)?;
    let call = call.ok_or(NOT_SUPPORTED)?;
    let mut answer: c_int = 0;
    configured(exec, &launch, false, |config, function, _| {
        // SAFETY: `answer` is an int; the configuration lives until the call returns.
        unsafe { call(&raw mut answer, function, config) }
    })?;
    w.i32(answer);
    Ok(SUCCESS)
}

/// How many clusters of a launch fit the device at once.
pub(crate) fn cuOccupancyMaxActiveClusters(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Called {
    occupancy(exec, r, w, exec.driver.cuOccupancyMaxActiveClusters)
}

/// The largest cluster that a launch may have.
pub(crate) fn cuOccupancyMaxPotentialClusterSize(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Called {
    occupancy(exec, r, w, exec.driver.cuOccupancyMaxPotentialClusterSize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_read_as_it_is_given() {
        let mut bytes = [1_u8, 2, 3];
        let mut size = bytes.len();
        let given = extra(bytes.as_mut_ptr().cast(), &mut size);
        // SAFETY: as `extra` makes it.
        assert_eq!(unsafe { buffer(given.as_ptr()) }, Ok(vec![1, 2, 3]));
        let none = [ptr::null_mut()];
        // SAFETY: the mark that ends it.
        assert_eq!(unsafe { buffer(none.as_ptr()) }, Err(INVALID_VALUE));
    }
}
