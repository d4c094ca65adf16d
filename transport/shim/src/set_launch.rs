//! Launches of before CUDA 4.0, deprecated since and still what pycuda uses: block, shared memory and parameters are set for the
//! function first.

// Reads values through pointers of the program.
#![allow(unsafe_code)]

use std::collections::{BTreeMap, HashSet};
use std::ffi::{c_int, c_uint, c_void};
use std::ptr;
use std::slice;
use std::sync::Mutex;

use gtrace_cuda::Kind;
use gtrace_cuda::payload::PARAMETERS_MAX;
use gtrace_cuda::types::driver::{self as cuda, CUfunction, CUstream, CUtexref};

use crate::entry::Answer;
use crate::launch::cuLaunchKernel;
use crate::session;
use crate::state::lock;
use crate::stats::local;
use crate::status::fail_if;

/// What a program has set for a function.
#[derive(Clone, Debug, Default)]
struct Set {
    block: [c_uint; 3],
    shared: c_uint,
    parameters: Vec<u8>,
}

/// By handle, of functions that were launched so.
static SET: Mutex<BTreeMap<u64, Set>> = Mutex::new(BTreeMap::new());

/// CU_PARAM_TR_DEFAULT, the only unit that there is.
const DEFAULT_UNIT: c_int = -1;

/// The handle of a function.
fn checked(function: CUfunction) -> Answer<u64> {
    session::cuda()?;
    let handle = function.addr() as u64;
    let known = Kind::Function.accepts(handle);
    fail_if(!known, cuda::CUDA_ERROR_INVALID_HANDLE).map(|()| handle)
}

/// These functions are gone with their module.
pub(crate) fn forget_set_launches(gone: &HashSet<u64>) {
    lock(&SET).retain(|function, _| !gone.contains(function));
}

/// Puts a parameter where the program wants it.
fn put(set: &mut Set, offset: c_int, value: &[u8]) -> Answer {
    let invalid = cuda::CUDA_ERROR_INVALID_VALUE;
    let from = usize::try_from(offset).map_err(|_| invalid)?;
    let end = from.checked_add(value.len()).ok_or(invalid)?;
    if end > PARAMETERS_MAX {
        return Err(invalid);
    }
    if set.parameters.len() < end {
        set.parameters.resize(end, 0);
    }
    let place = set.parameters.get_mut(from..end).ok_or(invalid)?;
    place.copy_from_slice(value);
    Ok(())
}

/// Functions that change what is set for a function.
macro_rules! sets {
    ($(fn $name:ident($set:ident $(, $argument:ident: $type:ty)*) $body:block)*) => {$(
        pub(crate) unsafe fn $name(hfunc: CUfunction, $($argument: $type),*) -> Answer {
            let handle = checked(hfunc)?;
            let mut all = lock(&SET);
            let $set = all.entry(handle).or_default();
            local!(stringify!($name));
            $body
        }
    )*};
}

sets! {
    fn cuFuncSetBlockShape(set, x: c_int, y: c_int, z: c_int) {
        let sides = [x, y, z].map(|side| c_uint::try_from(side).unwrap_or(0));
        fail_if(sides.contains(&0), cuda::CUDA_ERROR_INVALID_VALUE)?;
        set.block = sides;
        Ok(())
    }

    fn cuFuncSetSharedSize(set, bytes: c_uint) {
        set.shared = bytes;
        Ok(())
    }

    fn cuParamSetSize(set, numbytes: c_uint) {
        let bytes = numbytes as usize;
        fail_if(bytes > PARAMETERS_MAX, cuda::CUDA_ERROR_INVALID_VALUE)?;
        set.parameters.resize(bytes, 0);
        Ok(())
    }

    fn cuParamSeti(set, offset: c_int, value: c_uint) {
        put(set, offset, &value.to_ne_bytes())
    }

    fn cuParamSetf(set, offset: c_int, value: f32) {
        put(set, offset, &value.to_ne_bytes())
    }

    fn cuParamSetv(set, offset: c_int, ptr: *mut c_void, numbytes: c_uint) {
        let bytes = numbytes as usize;
        fail_if(ptr.is_null() || bytes > PARAMETERS_MAX, cuda::CUDA_ERROR_INVALID_VALUE)?;
        // SAFETY: the program says that so many bytes are there.
        put(set, offset, unsafe { slice::from_raw_parts(ptr.cast::<u8>(), bytes) })
    }

    // Every texture of a module is a function's.
    fn cuParamSetTexRef(_set, texunit: c_int, _hTexRef: CUtexref) {
        fail_if(texunit != DEFAULT_UNIT, cuda::CUDA_ERROR_INVALID_VALUE)
    }
}

fn launch(f: CUfunction, width: c_int, height: c_int, stream: CUstream) -> Answer {
    let handle = checked(f)?;
    let side = |side: c_int| c_uint::try_from(side).unwrap_or(0);
    let set = lock(&SET).get(&handle).cloned().unwrap_or_default();
    let [x, y, z] = set.block;
    let mut parameters = set.parameters;
    let mut size = parameters.len();
    // cuda.h: CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE, CU_LAUNCH_PARAM_END.
    let mut extra = [
        ptr::without_provenance_mut(1),
        parameters.as_mut_ptr().cast::<c_void>(),
        ptr::without_provenance_mut(2),
        (&raw mut size).cast(),
        ptr::null_mut(),
    ];
    // SAFETY: the buffer and its size live until the call returns, which copies them.
    unsafe {
        cuLaunchKernel(
            f,
            side(width),
            side(height),
            1,
            x,
            y,
            z,
            set.shared,
            stream,
            ptr::null_mut(),
            extra.as_mut_ptr(),
        )
    }
}

pub(crate) unsafe fn cuLaunch(f: CUfunction) -> Answer {
    launch(f, 1, 1, ptr::null_mut())
}

pub(crate) unsafe fn cuLaunchGrid(f: CUfunction, grid_width: c_int, grid_height: c_int) -> Answer {
    launch(f, grid_width, grid_height, ptr::null_mut())
}

pub(crate) unsafe fn cuLaunchGridAsync(
    f: CUfunction,
    grid_width: c_int,
    grid_height: c_int,
    hStream: CUstream,
) -> Answer {
    launch(f, grid_width, grid_height, hStream)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_kept_of_functions_whose_module_is_gone() {
        let [gone, other] = [1 << 30, 1 << 31].map(|number| Kind::Function.handle(number));
        for function in [gone, other] {
            lock(&SET).insert(function, Set::default());
        }
        forget_set_launches(&HashSet::from([gone]));
        assert!(!lock(&SET).contains_key(&gone));
        assert!(lock(&SET).remove(&other).is_some());
    }

    #[test]
    fn parameters_are_put_where_they_are_wanted() {
        let mut set = Set::default();
        put(&mut set, 8, &[1, 2]).unwrap();
        put(&mut set, 0, &[9; 8]).unwrap();
        assert_eq!(set.parameters, [9, 9, 9, 9, 9, 9, 9, 9, 1, 2]);
        assert!(put(&mut set, -1, &[1]).is_err());
        assert!(put(&mut set, c_int::MAX, &[1]).is_err());
        assert!(put(&mut set, PARAMETERS_MAX as c_int, &[1]).is_err());
        assert_eq!(set.parameters.len(), 10);
    }
}
