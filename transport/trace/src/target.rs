//! The driver's own functions.

// dlopen(3) and dlsym(3).
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_void};
use std::os::unix::ffi::OsStrExt as _;
use std::panic::catch_unwind;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use gtrace_recording::{FUNCTIONS, NAMES};

use crate::report::say;
use crate::session;

/// CUDA_ERROR_SHARED_OBJECT_INIT_FAILED: what every call answers without a driver.
const NO_DRIVER: u32 = 303;
/// CUDA_ERROR_NOT_SUPPORTED: what a function answers that the driver does not have.
const NOT_SUPPORTED: u32 = 801;

/// The address of a function.
pub(crate) struct Address(pub(crate) *const c_void);

// SAFETY: the address of code, which nothing changes.
unsafe impl Sync for Address {}

static TARGETS: [AtomicPtr<c_void>; FUNCTIONS] = [const { AtomicPtr::new(null_mut()) }; FUNCTIONS];

/// The driver's function with this number, below [`FUNCTIONS`]; never null.
#[inline(always)]
pub(crate) fn target(number: u16) -> *const c_void {
    let known = TARGETS[usize::from(number)].load(Ordering::Relaxed);
    match known.is_null() {
        false => known,
        true => find(number),
    }
}

#[cold]
#[inline(never)]
fn find(number: u16) -> *const c_void {
    let found = catch_unwind(|| {
        let name = NAMES.get(usize::from(number))?;
        symbol(&CString::new(*name).ok()?)
    });
    let address = match found {
        Ok(Some(address)) => address,
        _ if library().is_none() => no_driver as *const () as *mut c_void,
        _ => absent as *const () as *mut c_void,
    };
    TARGETS[usize::from(number)].store(address, Ordering::Relaxed);
    address
}

/// The driver's function with this number, if it has it.
pub(crate) fn has(number: u16) -> Option<*const c_void> {
    let address = target(number);
    let missing = [absent as *const (), no_driver as *const ()];
    (!missing.contains(&address.cast())).then_some(address)
}

/// The driver gave this address for a function that it does not export.
pub(crate) fn set(number: u16, address: *mut c_void) {
    TARGETS[usize::from(number)].store(address, Ordering::Relaxed);
}

/// A symbol of the driver's library.
pub(crate) fn symbol(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: a library that stays open, and a string.
    let address = unsafe { libc::dlsym(library()? as *mut c_void, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

/// For functions that the driver does not have. Takes any arguments: the caller takes them off the stack.
pub(crate) extern "C" fn absent() -> u32 {
    NOT_SUPPORTED
}

extern "C" fn no_driver() -> u32 {
    NO_DRIVER
}

/// The driver's library, opened when it is needed first and never closed.
fn library() -> Option<usize> {
    static LIBRARY: OnceLock<Option<usize>> = OnceLock::new();
    *LIBRARY.get_or_init(|| {
        let opened = catch_unwind(open).unwrap_or_else(|_| Err("it panicked".to_owned()));
        opened
            .inspect_err(|error| say(&format!("the driver is not there: {error}")))
            .ok()
    })
}

fn open() -> Result<usize, String> {
    let path = session::variables().libcuda.as_deref();
    let path =
        path.ok_or("GTRACE_LIBCUDA does not name libcuda.so.1: start programs by `gtrace trace`")?;
    let name = CString::new(path.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
    // SAFETY: a path. RTLD_LOCAL: the driver's symbols are reached through this library's.
    let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if library.is_null() {
        // SAFETY: what dlerror(3) returns is a string, until the next call of its kind.
        let error = unsafe {
            let text = libc::dlerror();
            match text.is_null() {
                true => String::new(),
                false => CStr::from_ptr(text).to_string_lossy().into_owned(),
            }
        };
        return Err(format!("{}: {error}", path.display()));
    }
    // SAFETY: the library just opened, and a string.
    let own = unsafe { libc::dlsym(library, c"gtrace_trace_version".as_ptr()) };
    if !own.is_null() {
        return Err(format!(
            "{} is gtrace's library for tracing",
            path.display()
        ));
    }
    Ok(library as usize)
}
