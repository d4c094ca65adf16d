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

/// Changes what is set for a function.
fn set(function: CUfunction, change: impl FnOnce(&mut Set) -> Answer) -> Answer {
    session::cuda()?;
    let handle = function.addr() as u64;
    if !Kind::Function.accepts(handle) {
        return Err(cuda::CUDA_ERROR_INVALID_HANDLE);
    }
    change(lock(&SET).entry(handle).or_default())
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

pub(crate) unsafe fn cuFuncSetBlockShape(
    hfunc: CUfunction,
    x: c_int,
    y: c_int,
    z: c_int,
) -> Answer {
    set(hfunc, |set| {
        local!("cuFuncSetBlockShape");
        let sides = [x, y, z].map(|side| c_uint::try_from(side).unwrap_or(0));
        if sides.contains(&0) {
            return Err(cuda::CUDA_ERROR_INVALID_VALUE);
        }
        set.block = sides;
        Ok(())
    })
}

pub(crate) unsafe fn cuFuncSetSharedSize(hfunc: CUfunction, bytes: c_uint) -> Answer {
    set(hfunc, |set| {
        local!("cuFuncSetSharedSize");
        set.shared = bytes;
        Ok(())
    })
}

pub(crate) unsafe fn cuParamSetSize(hfunc: CUfunction, numbytes: c_uint) -> Answer {
    set(hfunc, |set| {
        local!("cuParamSetSize");
        let bytes = numbytes as usize;
        if bytes > PARAMETERS_MAX {
            return Err(cuda::CUDA_ERROR_INVALID_VALUE);
        }
        set.parameters.resize(bytes, 0);
        Ok(())
    })
}

pub(crate) unsafe fn cuParamSeti(hfunc: CUfunction, offset: c_int, value: c_uint) -> Answer {
    set(hfunc, |set| {
        local!("cuParamSeti");
        put(set, offset, &value.to_ne_bytes())
    })
}

pub(crate) unsafe fn cuParamSetf(hfunc: CUfunction, offset: c_int, value: f32) -> Answer {
    set(hfunc, |set| {
        local!("cuParamSetf");
        put(set, offset, &value.to_ne_bytes())
    })
}

pub(crate) unsafe fn cuParamSetv(
    hfunc: CUfunction,
    offset: c_int,
    ptr: *mut c_void,
    numbytes: c_uint,
) -> Answer {
    set(hfunc, |set| {
        local!("cuParamSetv");
        if ptr.is_null() || numbytes as usize > PARAMETERS_MAX {
            return Err(cuda::CUDA_ERROR_INVALID_VALUE);
        }
        // SAFETY: the program says that so many bytes are there.
        let value = unsafe { slice::from_raw_parts(ptr.cast::<u8>(), numbytes as usize) };
        put(set, offset, value)
    })
}

/// Every texture of a module is a function's.
pub(crate) unsafe fn cuParamSetTexRef(
    hfunc: CUfunction,
    texunit: c_int,
    _hTexRef: CUtexref,
) -> Answer {
    set(hfunc, |_| {
        local!("cuParamSetTexRef");
        match texunit {
            DEFAULT_UNIT => Ok(()),
            _ => Err(cuda::CUDA_ERROR_INVALID_VALUE),
        }
    })
}

fn launch(f: CUfunction, width: c_int, height: c_int, stream: CUstream) -> Answer {
    session::cuda()?;
    let handle = f.addr() as u64;
    if !Kind::Function.accepts(handle) {
        return Err(cuda::CUDA_ERROR_INVALID_HANDLE);
    }
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
