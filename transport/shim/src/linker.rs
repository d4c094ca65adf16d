//! The linker (`cuLink*`).

// Reads inputs and writes results through pointers of the program.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_uint, c_void};
use std::ptr::without_provenance_mut;
use std::slice;

use gtrace_cuda::Kind;
use gtrace_cuda::payload::{IMAGE_MAX, JitOptions, LinkAdd, LinkCreate, Logs, Payload as _};
use gtrace_cuda::types::driver::{self as cuda, CUjit_option, CUjitInputType, CUlinkState};
use gtrace_protocol::{BULK_MAX, Flags, OpId, op_id};

use crate::clock;
use crate::context::{put, put_wanted};
use crate::entry::{Answer, Call, check, exchange, mint, written};
use crate::jit::{self, Wanted, file};
use crate::log;
use crate::session::{self, with_lane};
use crate::state::lock;
use crate::status::fail_if;

/// A linker.
#[derive(Default)]
pub(crate) struct Linker {
    wanted: Wanted,
    /// What was linked: the program may read it until the linker is destroyed.
    image: Vec<u8>,
}

fn number(state: CUlinkState) -> u64 {
    state.addr() as u64
}

pub(crate) unsafe fn cuLinkCreate_v2(
    numOptions: c_uint,
    options: *mut CUjit_option,
    optionValues: *mut *mut c_void,
    stateOut: *mut CUlinkState,
) -> Answer {
    const OP: OpId = op_id("cuLinkCreate_v2");
    let session = session::cuda()?;
    fail_if(stateOut.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)?;
    // SAFETY: the program's arrays, which it keeps until the linker is destroyed, as CUDA asks.
    let (jit, wanted) = unsafe { jit::options(numOptions, options, optionValues) }?;
    let handle = mint(Kind::Link);
    let create = LinkCreate { handle, jit };
    exchange(
        session,
        OP,
        Flags::default(),
        |w| create.write(w),
        |_| Ok(()),
    )?;
    let linker = Linker {
        wanted,
        image: Vec::new(),
    };
    lock(&session.state.linkers).insert(handle, linker);
    // SAFETY: a pointer of the program.
    unsafe { put(stateOut, without_provenance_mut(handle as usize)) }
}

fn wanted(session: &session::Session, state: u64) -> Answer<Wanted> {
    let linkers = lock(&session.state.linkers);
    let linker = linkers.get(&state).ok_or(cuda::CUDA_ERROR_INVALID_HANDLE)?;
    Ok(linker.wanted)
}

fn add(
    state: CUlinkState,
    kind: CUjitInputType,
    data: &[u8],
    name: &str,
    jit: JitOptions,
) -> Answer {
    const OP: OpId = op_id("cuLinkAddData_v2");
    let session = session::cuda()?;
    let wanted = wanted(session, number(state))?;
    if data.len() > BULK_MAX {
        log::once(
            "cuLinkAddData",
            "an input of the linker is larger than 16 MiB",
        );
        return Err(cuda::CUDA_ERROR_OUT_OF_MEMORY);
    }
    with_lane(session, |lane| {
        let began = clock::now();
        let add = LinkAdd {
            state: number(state),
            kind,
            name,
            jit,
        };
        let mut call = written(
            lane,
            |w| add.write(w),
            |lane, small| Call::new(OP, Flags::default(), began).send(lane, small, data),
        )?;
        // An input that is not whole gets no further than the server, which has no logs then.
        let logs = call.always(lane, |r| match r.left() {
            0 => Ok(Logs::default()),
            _ => Logs::read(r),
        })?;
        // SAFETY: the program keeps them until the linker is destroyed, as CUDA asks.
        unsafe { wanted.give(&logs) };
        let outcome = call.outcome(lane);
        call.end();
        check(outcome)
    })
}

pub(crate) unsafe fn cuLinkAddData_v2(
    state: CUlinkState,
    type_: CUjitInputType,
    data: *mut c_void,
    size: usize,
    name: *const c_char,
    numOptions: c_uint,
    options: *mut CUjit_option,
    optionValues: *mut *mut c_void,
) -> Answer {
    fail_if(data.is_null() || size == 0, cuda::CUDA_ERROR_INVALID_VALUE)?;
    // SAFETY: the program's arrays and bytes.
    let ((jit, _), data) = unsafe {
        (
            jit::options(numOptions, options, optionValues)?,
            slice::from_raw_parts(data.cast::<u8>(), size),
        )
    };
    let name = match name.is_null() {
        true => String::new(),
        // SAFETY: a string of the program.
        false => unsafe { CStr::from_ptr(name) }
            .to_string_lossy()
            .into_owned(),
    };
    add(state, type_, data, &name, jit)
}

pub(crate) unsafe fn cuLinkAddFile_v2(
    state: CUlinkState,
    type_: CUjitInputType,
    path: *const c_char,
    numOptions: c_uint,
    options: *mut CUjit_option,
    optionValues: *mut *mut c_void,
) -> Answer {
    // SAFETY: the program's string and arrays.
    let (mut data, (jit, _)) = unsafe {
        (
            file(path)?,
            jit::options(numOptions, options, optionValues)?,
        )
    };
    if type_ == cuda::CU_JIT_INPUT_PTX && data.last() != Some(&0) {
        data.push(0);
    }
    // SAFETY: the program's string, which `file` has read.
    let name = unsafe { CStr::from_ptr(path) }.to_string_lossy();
    add(state, type_, &data, &name, jit)
}

pub(crate) unsafe fn cuLinkComplete(
    state: CUlinkState,
    cubinOut: *mut *mut c_void,
    sizeOut: *mut usize,
) -> Answer {
    const OP: OpId = op_id("cuLinkComplete");
    let session = session::cuda()?;
    fail_if(cubinOut.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)?;
    let wanted = wanted(session, number(state))?;
    let image = with_lane(session, |lane| {
        let began = clock::now();
        let mut call = written(
            lane,
            |w| w.u64(number(state)),
            |lane, small| Call::new(OP, Flags::default(), began).send(lane, small, &[]),
        )?;
        let mut image = Vec::new();
        loop {
            let header = call.header;
            let last = !header.flags.has(Flags::MORE);
            let logs = lane.arguments(&header, |r| match last {
                true if r.left() == 0 => Ok(Some(Logs::default())),
                true => Logs::read(r).map(Some),
                false => Ok(None),
            })?;
            let at = image.len();
            if (at + header.bulk()) as u64 > IMAGE_MAX {
                lane.drop_bulk(header.bulk())?;
                log::once("linked", "the server sent an image that is larger than any");
                return Err(cuda::CUDA_ERROR_UNKNOWN);
            }
            image.resize(at + header.bulk(), 0);
            lane.bulk(&mut image[at..])?;
            if let Some(logs) = logs {
                // SAFETY: the program keeps them until the linker is destroyed, as CUDA asks.
                unsafe { wanted.give(&logs) };
                break;
            }
            call.wait(lane)?;
        }
        let outcome = call.outcome(lane);
        call.received(image.len());
        call.end();
        check(outcome)?;
        Ok(image)
    })?;
    let mut linkers = lock(&session.state.linkers);
    let linker = linkers.get_mut(&number(state));
    let linker = linker.ok_or(cuda::CUDA_ERROR_INVALID_HANDLE)?;
    linker.image = image;
    // SAFETY: pointers of the program.
    unsafe {
        put_wanted(sizeOut, linker.image.len());
        put(cubinOut, linker.image.as_mut_ptr().cast())
    }
}

pub(crate) unsafe fn cuLinkDestroy(state: CUlinkState) -> Answer {
    const OP: OpId = op_id("cuLinkDestroy");
    let session = session::cuda()?;
    let handle = number(state);
    if lock(&session.state.linkers).remove(&handle).is_none() {
        return Err(cuda::CUDA_ERROR_INVALID_HANDLE);
    }
    exchange(session, OP, Flags::default(), |w| w.u64(handle), |_| Ok(()))
}
