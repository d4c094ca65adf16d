//! Functions and kernels: what the client keeps so as to launch them without asking.

// Reads names and writes results through pointers of the program.
#![allow(unsafe_code)]

mod attributes;
mod record;

use std::ffi::{CStr, c_char};
use std::ptr::without_provenance_mut;

use gtrace_cuda::payload::{FunctionInfo, GetFunction, Parameter, Payload as _};
use gtrace_cuda::types::driver::{self as cuda, CUfunction, CUkernel, CUlibrary, CUmodule};
use gtrace_cuda::{Kind, SERVER_MINTED};
use gtrace_protocol::{Flags, OpId, Writer, op_id};

use crate::context::{self, put, put_wanted};
use crate::copy::push;
use crate::entry::{Answer, answer_to, check, mint, written};
use crate::generated::driver::remote;
use crate::managed;
use crate::session::{self, Session, with_lane};
use crate::set_launch;
use crate::state::{lock, write};
use crate::stats::local;
use crate::status::fail_if;

pub(crate) use attributes::{
    cuFuncGetAttribute, cuFuncSetAttribute, cuKernelGetAttribute, cuKernelSetAttribute,
};
use record::{ATTRIBUTES, NO_OWNER, keep};
pub(crate) use record::{Functions, Record, any_record, record};

fn number<T>(handle: *mut T) -> u64 {
    handle.addr() as u64
}

/// What the server answers about a function or kernel.
#[allow(clippy::redundant_closure)] // The function itself is of one lifetime.
fn asked(session: &'static Session, op: OpId, request: &GetFunction<'_>) -> Answer<FunctionInfo> {
    answer_to(session, op, |w| request.write(w), |r| FunctionInfo::read(r))
}

/// `cuModuleGetFunction` and `cuLibraryGetKernel`.
fn get(
    session: &'static Session,
    op: OpId,
    kind: Kind,
    owner: u64,
    name: *const c_char,
) -> Answer<u64> {
    fail_if(name.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)?;
    // SAFETY: a string of the program.
    let name = unsafe { CStr::from_ptr(name) }.to_owned();
    let key = (owner, name);
    if let Some(handle) = lock(&session.state.functions).by_name.get(&key) {
        local!("cuModuleGetFunction");
        return Ok(*handle);
    }
    let handle = mint(kind);
    let text = key.1.to_str().map_err(|_| cuda::CUDA_ERROR_NOT_FOUND)?;
    let request = GetFunction {
        handle,
        of: owner,
        name: text,
    };
    let reported = lock(&session.state.functions).reported.remove(&key);
    let info = match reported {
        // It is there, so that nothing has to be waited for.
        Some(info) => {
            with_lane(session, |lane| {
                let write = |w: &mut Writer| request.write(w);
                written(lane, write, |lane, small| {
                    push(lane, op, Flags::default(), small, &[])
                })
            })?;
            info
        }
        None => asked(session, op, &request)?,
    };
    keep(
        &session.state,
        Record::new(handle, owner, key.1.clone(), &info),
    );
    lock(&session.state.functions).by_name.insert(key, handle);
    Ok(handle)
}

pub(crate) unsafe fn cuModuleGetFunction(
    hfunc: *mut CUfunction,
    hmod: CUmodule,
    name: *const c_char,
) -> Answer {
    const OP: OpId = op_id("cuModuleGetFunction");
    let session = session::cuda()?;
    fail_if(hfunc.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)?;
    let handle = get(session, OP, Kind::Function, number(hmod), name)?;
    // SAFETY: a pointer of the program.
    unsafe { put(hfunc, without_provenance_mut(handle as usize)) }
}

pub(crate) unsafe fn cuLibraryGetKernel(
    pKernel: *mut CUkernel,
    library: CUlibrary,
    name: *const c_char,
) -> Answer {
    const OP: OpId = op_id("cuLibraryGetKernel");
    let session = session::cuda()?;
    fail_if(pKernel.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)?;
    let handle = get(session, OP, Kind::Kernel, number(library), name)?;
    // SAFETY: a pointer of the program.
    unsafe { put(pKernel, without_provenance_mut(handle as usize)) }
}

/// A module or library is about to be gone, with its functions and variables.
fn forget(session: &Session, owner: u64) {
    // A null handle is refused. What is of no module, such as managed memory that was allocated, has it as its owner.
    if owner == NO_OWNER {
        return;
    }
    let gone = lock(&session.state.functions).forget_owner(owner);
    set_launch::forget_set_launches(&gone);
    managed::forget_variables(owner);
    write(&session.state.allocations).forget_owner(owner);
}

pub(crate) unsafe fn cuModuleUnload(hmod: CUmodule) -> Answer {
    let session = session::cuda()?;
    forget(session, number(hmod));
    // SAFETY: a handle.
    check(unsafe { remote::cuModuleUnload(hmod) })
}

pub(crate) unsafe fn cuLibraryUnload(library: CUlibrary) -> Answer {
    let session = session::cuda()?;
    forget(session, number(library));
    // SAFETY: a handle.
    check(unsafe { remote::cuLibraryUnload(library) })
}

/// The function of a kernel in the current context, remembered.
pub(crate) unsafe fn cuKernelGetFunction(pFunc: *mut CUfunction, kernel: CUkernel) -> Answer {
    let session = session::cuda()?;
    let key = (number(kernel), context::current()?.handle);
    fail_if(pFunc.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)?;
    if let Some(handle) = lock(&session.state.functions).of_kernels.get(&key) {
        local!("cuKernelGetFunction");
        // SAFETY: a pointer of the program.
        return unsafe { put(pFunc, without_provenance_mut(*handle as usize)) };
    }
    let of = any_record(session, key.0)?;
    // SAFETY: a pointer of the program, passed on.
    check(unsafe { remote::cuKernelGetFunction(pFunc, kernel) })?;
    // SAFETY: written by the call.
    let handle = number(unsafe { pFunc.read() });
    let info = FunctionInfo {
        parameters: of.known_layout().map(|it| it.parameters.to_vec()),
        attributes: (0..ATTRIBUTES as u32)
            .filter_map(|a| Some((a.cast_signed(), of.attribute(a)?)))
            .collect(),
    };
    let record = Record::new(handle, of.owner, of.name.clone(), &info);
    keep(&session.state, record);
    lock(&session.state.functions)
        .of_kernels
        .insert(key, handle);
    Ok(())
}

pub(crate) fn name_of(handle: u64) -> Answer<*const c_char> {
    let session = session::cuda()?;
    // Of these only the server's driver knows the name.
    if Kind::Function.accepts(handle) && handle & SERVER_MINTED != 0 {
        return Err(cuda::CUDA_ERROR_NOT_SUPPORTED);
    }
    let record = any_record(session, handle)?;
    match record.name.is_empty() {
        // Of a kernel of the server's.
        true => Err(cuda::CUDA_ERROR_NOT_SUPPORTED),
        // It stays where it is until the module or library is unloaded.
        false => Ok(record.name.as_ptr()),
    }
}

pub(crate) unsafe fn cuFuncGetName(name: *mut *const c_char, hfunc: CUfunction) -> Answer {
    local!("cuFuncGetName");
    // SAFETY: a pointer of the program.
    unsafe { put(name, name_of(number(hfunc))?) }
}

pub(crate) unsafe fn cuKernelGetName(name: *mut *const c_char, hfunc: CUkernel) -> Answer {
    local!("cuKernelGetName");
    // SAFETY: a pointer of the program.
    unsafe { put(name, name_of(number(hfunc))?) }
}

/// Does `action` with the layout of a function or kernel.
fn layout<T>(handle: u64, action: impl FnOnce(&[Parameter]) -> Answer<T>) -> Answer<T> {
    action(&any_record(session::cuda()?, handle)?.layout()?.parameters)
}

unsafe fn parameter(handle: u64, at: usize, offset: *mut usize, size: *mut usize) -> Answer {
    let invalid = cuda::CUDA_ERROR_INVALID_VALUE;
    let parameter = layout(handle, |all| all.get(at).copied().ok_or(invalid))?;
    // SAFETY: pointers of the program.
    unsafe {
        put(offset, parameter.offset as usize)?;
        put_wanted(size, parameter.size as usize);
    }
    Ok(())
}

pub(crate) unsafe fn cuFuncGetParamCount(func: CUfunction, paramCount: *mut usize) -> Answer {
    // SAFETY: a pointer of the program.
    unsafe { put(paramCount, layout(number(func), |all| Ok(all.len()))?) }
}

pub(crate) unsafe fn cuKernelGetParamCount(kernel: CUkernel, paramCount: *mut usize) -> Answer {
    // SAFETY: a pointer of the program.
    unsafe { put(paramCount, layout(number(kernel), |all| Ok(all.len()))?) }
}

pub(crate) unsafe fn cuFuncGetParamInfo(
    func: CUfunction,
    paramIndex: usize,
    paramOffset: *mut usize,
    paramSize: *mut usize,
) -> Answer {
    // SAFETY: pointers of the program.
    unsafe { parameter(number(func), paramIndex, paramOffset, paramSize) }
}

pub(crate) unsafe fn cuKernelGetParamInfo(
    kernel: CUkernel,
    paramIndex: usize,
    paramOffset: *mut usize,
    paramSize: *mut usize,
) -> Answer {
    // SAFETY: pointers of the program.
    unsafe { parameter(number(kernel), paramIndex, paramOffset, paramSize) }
}
