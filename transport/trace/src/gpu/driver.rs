//! The driver's functions that time work on the GPU.

// Functions of the driver, by address.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_uint, c_void};
use std::mem::transmute;
use std::sync::OnceLock;

use gtrace_cuda::work::{self, Handle};
use gtrace_recording::NAMES;

use crate::report::say;
use crate::target;

/// `CU_STREAM_NON_BLOCKING`: does not wait for the default stream, nor that for it.
const NON_BLOCKING: c_uint = 1;
/// `CU_STREAM_CAPTURE_MODE_RELAXED`
const RELAXED: c_uint = 2;
/// `CU_STREAM_CAPTURE_STATUS_NONE`
const NOT_CAPTURING: c_uint = 0;
/// `CU_STREAM_LEGACY` and `CU_STREAM_PER_THREAD`: handles that are no objects.
const LAST_SPECIAL: u64 = 2;

macro_rules! functions {
    ($($field:ident: $name:literal($($argument:ty),*);)*) => {
        /// Functions of the driver. All that it uses exist since CUDA 10.1.
        pub(super) struct Driver {
            $($field: unsafe extern "C" fn($($argument),*) -> c_uint,)*
        }

        impl Driver {
            fn find() -> Option<Self> {
                let find = |name: &str| {
                    let at = NAMES.binary_search(&name).ok()?;
                    target::has(u16::try_from(at).ok()?)
                };
                $(let $field = find($name)?;)*
                // SAFETY: the functions of these names take these arguments (cuda.h); handles are pointers.
                Some(unsafe { Self { $($field: transmute::<
                    *const c_void,
                    unsafe extern "C" fn($($argument),*) -> c_uint,
                >($field),)* } })
            }
        }
    };
}

functions! {
    context: "cuCtxGetCurrent"(*mut Handle);
    device: "cuCtxGetDevice"(*mut c_int);
    stream_context: "cuStreamGetCtx"(Handle, *mut Handle);
    capturing: "cuStreamIsCapturing"(Handle, *mut c_uint);
    exchange: "cuThreadExchangeStreamCaptureMode"(*mut c_uint);
    create_event: "cuEventCreate"(*mut Handle, c_uint);
    destroy_event: "cuEventDestroy_v2"(Handle);
    record: "cuEventRecord"(Handle, Handle);
    query: "cuEventQuery"(Handle);
    elapsed: "cuEventElapsedTime"(*mut f32, Handle, Handle);
    create_stream: "cuStreamCreate"(*mut Handle, c_uint);
    destroy_stream: "cuStreamDestroy_v2"(Handle);
}

impl Driver {
    /// The driver's, if it has them all. If not, that is said once.
    pub(super) fn get() -> Option<&'static Self> {
        static DRIVER: OnceLock<Option<Driver>> = OnceLock::new();
        let driver = DRIVER.get_or_init(|| {
            let driver = Self::find();
            if driver.is_none() {
                say("--gpu-time: the driver lacks functions of events: work on the GPU is not timed");
            }
            driver
        });
        driver.as_ref()
    }

    /// The thread's current context.
    pub(super) fn context(&self) -> Option<Handle> {
        let mut context = 0;
        // SAFETY: a place for the handle.
        let code = unsafe { (self.context)(&raw mut context) };
        (code == 0 && context != 0).then_some(context)
    }

    /// The device of the current context.
    pub(super) fn device(&self) -> Option<c_int> {
        let mut device = 0;
        // SAFETY: a place for the number.
        let code = unsafe { (self.device)(&raw mut device) };
        (code == 0).then_some(device)
    }

    /// Whether a stream captures; `None` if it is none. To ask does not end a capture (cuStreamIsCapturing).
    pub(super) fn captures(&self, stream: Handle) -> Option<bool> {
        let mut status = NOT_CAPTURING;
        // SAFETY: a place for the answer, and the handle that the program gives in its own call.
        match unsafe { (self.capturing)(stream, &raw mut status) } {
            0 => Some(status != NOT_CAPTURING),
            // CUDA_ERROR_STREAM_CAPTURE_IMPLICIT: the default stream, while another captures.
            906 => Some(true),
            _ => None,
        }
    }

    /// Whether work of the current context can be timed in a stream: neither does it capture, nor does another
    /// context have it.
    pub(super) fn stream_is(&self, stream: Handle, context: Handle) -> Stream {
        match self.captures(stream) {
            Some(false) => {}
            Some(true) => return Stream::Captures,
            None => return Stream::Foreign,
        }
        let mut owner = context;
        // SAFETY: a place for the answer, and the handle that the program gives in its own call.
        let mut asked = || unsafe { (self.stream_context)(stream, &raw mut owner) };
        if stream > LAST_SPECIAL && asked() != 0 {
            return Stream::Foreign;
        }
        match owner == context {
            true => Stream::Usable,
            false => Stream::Foreign,
        }
    }
}

impl work::Driver for Driver {
    fn create_event(&self) -> Option<Handle> {
        let mut event = 0;
        // SAFETY: a place for the handle.
        let code = unsafe { (self.create_event)(&raw mut event, 0) };
        (code == 0).then_some(event)
    }

    fn destroy_event(&self, event: Handle) {
        // SAFETY: one of `create_event`, that nobody uses any more.
        unsafe { (self.destroy_event)(event) };
    }

    fn create_stream(&self) -> Option<Handle> {
        let mut stream = 0;
        // SAFETY: a place for the handle.
        let code = unsafe { (self.create_stream)(&raw mut stream, NON_BLOCKING) };
        (code == 0).then_some(stream)
    }

    fn destroy_stream(&self, stream: Handle) {
        // SAFETY: one of `create_stream`, that nobody uses any more.
        unsafe { (self.destroy_stream)(stream) };
    }

    fn record(&self, event: Handle, stream: Handle) -> bool {
        // SAFETY: an event of this library, and a stream of the same context.
        unsafe { (self.record)(event, stream) == 0 }
    }

    fn is_done(&self, event: Handle) -> Option<bool> {
        // SAFETY: an event of this library.
        match unsafe { (self.query)(event) } {
            0 => Some(true),
            // CUDA_ERROR_NOT_READY
            600 => Some(false),
            _ => None,
        }
    }

    /// It is reported as a number of milliseconds with 24 bits.
    fn nanos(&self, from: Handle, to: Handle) -> Option<f64> {
        let mut milliseconds = 0f32;
        // SAFETY: a place for the number, and events of this library.
        let code = unsafe { (self.elapsed)(&raw mut milliseconds, from, to) };
        (code == 0 && milliseconds.is_finite()).then_some(f64::from(milliseconds) * 1e6)
    }
}

/// What a stream is for timing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    /// Events can be recorded.
    Usable,
    /// What it is given is not done, but kept.
    Captures,
    /// Of another context, or no stream.
    Foreign,
}

/// While it lives, the thread's calls do not invalidate captures of other threads
/// (cuThreadExchangeStreamCaptureMode).
pub(super) struct Quiet<'a> {
    driver: &'a Driver,
    before: c_uint,
}

impl<'a> Quiet<'a> {
    pub(super) fn new(driver: &'a Driver) -> Option<Self> {
        let mut before = RELAXED;
        // SAFETY: the mode, which is exchanged for that before.
        let code = unsafe { (driver.exchange)(&raw mut before) };
        // Not `then_some`, which would drop one, and set a mode that was never exchanged.
        (code == 0).then(|| Self { driver, before })
    }
}

impl Drop for Quiet<'_> {
    fn drop(&mut self) {
        // SAFETY: the mode that the thread had.
        unsafe { (self.driver.exchange)(&raw mut self.before) };
    }
}
