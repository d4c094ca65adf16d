//! Initialisation, versions and error texts.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use crate::abi::{Answer, In, Out, api};
use gtrace_tables::results;

use crate::error::{INVALID_VALUE, fail_if};
use crate::{attributes, state, tables};

/// Gives the text of an error code; null for one that does not exist.
fn give(to: Out<*const c_char>, text: Option<&CStr>) -> Answer {
    to.put(text.map_or(std::ptr::null(), CStr::as_ptr))?;
    text.map(drop).ok_or(INVALID_VALUE)
}

api! { TABLE:
    /// Initialises the driver. `flags` must be 0.
    fn cuInit(flags: c_uint) {
        fail_if(flags != 0, INVALID_VALUE)?;
        state::initialise()
    }

    /// The CUDA version of the driver: 1000 times the major plus 10 times the minor number.
    fn cuDriverGetVersion(version: Out<c_int>) {
        version.put(attributes::driver_version())
    }

    /// The name of an error code.
    fn cuGetErrorName(code: u32, text: Out<*const c_char>) {
        give(text, results::driver(code).map(|(name, _)| name))
    }

    /// What an error code means.
    fn cuGetErrorString(code: u32, text: Out<*const c_char>) {
        give(text, results::driver(code).map(|(_, meaning)| meaning))
    }

    /// Interfaces between NVIDIA's own libraries: those that its runtime does not start without.
    fn cuGetExportTable(table: Out<*const c_void>, id: In<[u8; 16]>) {
        let found = tables::find(&id.get()?);
        table.put(found.unwrap_or(std::ptr::null()))?;
        found.map(|_| ()).ok_or(INVALID_VALUE)
    }

    /// Starts profiling: nothing to be done.
    fn cuProfilerStart() {
        state::state().map(|_| ())
    }

    /// Stops profiling: nothing to be done.
    fn cuProfilerStop() {
        state::state().map(|_| ())
    }

    /// Registers a callback for log messages: there are none.
    fn cuLogsRegisterCallback(function: *const c_void, data: *mut c_void, handle: Out<u64>) {
        let _ = (function, data);
        handle.put(crate::registry::mint(15))
    }

    /// Ends a registration.
    fn cuLogsUnregisterCallback(handle: u64) {
        let _ = handle;
        Ok(())
    }
}
