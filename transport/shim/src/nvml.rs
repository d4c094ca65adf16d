//! What of NVML is written by hand: counting of initialisations, texts, waiting for events, metrics between two samples, lists of
//! instances, and structures with lists or in their first versions.

// Writes results through pointers of the program.
#![allow(unsafe_code)]

mod events;
mod gpm;
mod instances;
mod lists;
mod older;

use std::ffi::{c_char, c_uint, c_void};
use std::sync::atomic::{AtomicU32, Ordering};

use gtrace_cuda::types::driver as cuda;
use gtrace_cuda::types::nvml::{self, nvmlReturn_t};
use gtrace_protocol::{Flags, OpId, op_id};

use crate::entry::{Answer, Call};
use crate::session::{self, Session, with_lane};
use crate::status::fail_if;
use crate::{clock, log, status};

pub(crate) use events::*;
pub(crate) use gpm::*;
pub(crate) use instances::*;
pub(crate) use lists::*;
pub(crate) use older::*;

/// How often NVML is initialised. A forked child has as many as its parent had, as with NVML.
static INITIALISED: AtomicU32 = AtomicU32::new(0);

/// The session, if NVML is initialised; the server's NVML is then initialised too. In the child of a
/// fork that means a session of its own.
///
/// # Errors
///
/// NOT_INITIALIZED; [`status::UNREACHABLE`]; UNKNOWN if the server's NVML cannot be initialised.
pub(crate) fn session() -> Answer<&'static Session> {
    fail_if(
        INITIALISED.load(Ordering::Acquire) == 0,
        cuda::CUDA_ERROR_NOT_INITIALIZED,
    )?;
    let session = session::open()?;
    match begin(session) {
        Ok(nvml::NVML_SUCCESS) => Ok(session),
        Ok(_) => Err(cuda::CUDA_ERROR_UNKNOWN),
        Err(code) => Err(code),
    }
}

/// Initialises the server's NVML for this session, once.
fn begin(session: &'static Session) -> Answer<nvmlReturn_t> {
    if session.nvml_begun.load(Ordering::Acquire) {
        return Ok(nvml::NVML_SUCCESS);
    }
    if !session.nvml {
        log::once(
            "nvml",
            "the server has no NVML: start it with --libnvml, or where the library is installed",
        );
        return Ok(nvml::NVML_ERROR_LIBRARY_NOT_FOUND);
    }
    let begun = bare(session, op_id("nvmlInit_v2"))?;
    if begun == nvml::NVML_SUCCESS {
        session.nvml_begun.store(true, Ordering::Release);
    }
    Ok(begun)
}

/// A call without arguments and results.
fn bare(session: &'static Session, op: OpId) -> Answer<nvmlReturn_t> {
    with_lane(session, |lane| {
        let mut call = Call::new(op, Flags::NVML, clock::now()).send(lane, &[], &[])?;
        call.always(lane, |_| Ok(()))?;
        lane.note_sticky(call.header.context);
        let status = call.header.status;
        call.end();
        Ok(status)
    })
}

pub(crate) unsafe fn nvmlInit_v2() -> nvmlReturn_t {
    let begun = session::open().and_then(begin);
    let begun = begun.unwrap_or_else(status::to_nvml);
    if begun == nvml::NVML_SUCCESS {
        INITIALISED.fetch_add(1, Ordering::AcqRel);
    }
    begun
}

pub(crate) unsafe fn nvmlInit() -> nvmlReturn_t {
    // SAFETY: no pointers.
    unsafe { nvmlInit_v2() }
}

/// The flags say what a failure is (no devices, no attachment), which the server decides.
pub(crate) unsafe fn nvmlInitWithFlags(_flags: c_uint) -> nvmlReturn_t {
    // SAFETY: no pointers.
    unsafe { nvmlInit_v2() }
}

pub(crate) unsafe fn nvmlShutdown() -> nvmlReturn_t {
    let less = |count: u32| count.checked_sub(1);
    match INITIALISED.fetch_update(Ordering::AcqRel, Ordering::Acquire, less) {
        Err(_) => nvml::NVML_ERROR_UNINITIALIZED,
        Ok(1) => match session::current() {
            Some(session) if session.nvml_begun.swap(false, Ordering::AcqRel) => {
                let ended = bare(session, op_id("nvmlShutdown"));
                ended.unwrap_or_else(status::to_nvml)
            }
            _ => nvml::NVML_SUCCESS,
        },
        Ok(_) => nvml::NVML_SUCCESS,
    }
}

pub(crate) unsafe fn nvmlErrorString(result: nvmlReturn_t) -> *const c_char {
    gtrace_tables::results::nvml(result).as_ptr()
}

fn ready() -> Result<(), nvmlReturn_t> {
    session().map(drop).map_err(status::to_nvml)
}

fn answer(result: Result<(), nvmlReturn_t>) -> nvmlReturn_t {
    result.err().unwrap_or(nvml::NVML_SUCCESS)
}

/// Entries of the table below.
const ENTRIES: usize = 512;

/// `nvidia-smi` asks for a table of further functions (c4fe3e6c-c98f-6c4e-a327-ee696e12f7c4), of which nothing is
/// published. It takes NOT_SUPPORTED of one for a device without the feature, and shows `N/A`.
#[repr(transparent)]
struct Table {
    _entries: [extern "C" fn() -> nvmlReturn_t; ENTRIES],
}

extern "C" fn not_supported() -> nvmlReturn_t {
    nvml::NVML_ERROR_NOT_SUPPORTED
}

static TABLE: Table = Table {
    _entries: [not_supported; ENTRIES],
};

/// Not of the public API: no program but NVIDIA's own calls it.
///
/// # Safety
///
/// `table` is null or writable.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlInternalGetExportTable(
    table: *mut *const c_void,
    _id: *const c_void,
) -> nvmlReturn_t {
    if table.is_null() {
        return nvml::NVML_ERROR_INVALID_ARGUMENT;
    }
    // SAFETY: the caller's promise.
    unsafe { table.write((&raw const TABLE).cast()) };
    nvml::NVML_SUCCESS
}
