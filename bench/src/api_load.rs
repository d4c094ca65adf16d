//! Calls into the CPU emulator's driver library, from this process.
#![allow(unsafe_code)] // a function of a library opened at run time is called

use std::ffi::{c_int, c_uint, c_void};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use libloading::{Library, Symbol};

use crate::bench::Context;
use crate::scratch::Scratch;

/// The function that is called, on an event that was never recorded: it succeeds at once.
pub(crate) const FUNCTION: &str = "cuEventSynchronize";

type Init = unsafe extern "C" fn(c_uint) -> c_int;
type Retain = unsafe extern "C" fn(*mut *mut c_void, c_int) -> c_int;
type OfPointer = unsafe extern "C" fn(*mut c_void) -> c_int;
type CreateEvent = unsafe extern "C" fn(*mut *mut c_void, c_uint) -> c_int;

/// The CPU emulator under the driver's name, loaded.
#[derive(Debug)]
pub(crate) struct ApiLoad {
    // After the scratch directory it would be a deleted file.
    library: Library,
    event: *mut c_void,
    path: PathBuf,
    _dir: Scratch,
}

impl ApiLoad {
    /// Loads it; `None` where it was not built beside gtrace.
    pub(crate) fn new(context: &Context) -> anyhow::Result<Option<Self>> {
        let built = context.gtrace.with_file_name("libgtrace_softgpu.so");
        if !built.is_file() {
            return Ok(None);
        }
        let dir = Scratch::new(context)?;
        let path = dir.join("libcuda.so.1");
        std::fs::copy(&built, &path).with_context(|| built.display().to_string())?;
        // SAFETY: the CPU emulator does nothing when it is loaded.
        let library = unsafe { Library::new(&path) }?;
        let event = event(&library)?;
        Ok(Some(Self {
            library,
            event,
            path,
            _dir: dir,
        }))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A call of [`FUNCTION`].
    pub(crate) fn call(&self) -> anyhow::Result<impl FnMut() + use<'_>> {
        // SAFETY: the type is that of cuda.h.
        let function: Symbol<'_, OfPointer> = unsafe { self.library.get(FUNCTION.as_bytes()) }?;
        let event = self.event;
        Ok(move || {
            // SAFETY: the event lives as long as the library.
            let result = unsafe { function(event) };
            std::hint::black_box(result);
        })
    }
}

/// An event in the device's primary context, which becomes this thread's.
fn event(library: &Library) -> anyhow::Result<*mut c_void> {
    let (mut context, mut event) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the types are those of cuda.h, and what is written to lives.
    let results = unsafe {
        let init: Symbol<'_, Init> = library.get(b"cuInit")?;
        let retain: Symbol<'_, Retain> = library.get(b"cuDevicePrimaryCtxRetain")?;
        let set_current: Symbol<'_, OfPointer> = library.get(b"cuCtxSetCurrent")?;
        let create: Symbol<'_, CreateEvent> = library.get(b"cuEventCreate")?;
        [
            init(0),
            retain(&raw mut context, 0),
            set_current(context),
            create(&raw mut event, 0),
        ]
    };
    ensure!(results == [0; 4], "the stand-in answers {results:?}");
    Ok(event)
}
