//! By what the client's library of a remote GPU (`gtrace-shim`) reports the calls of its process to another library in the
//! same process: `libcupti.so` of gtrace. Times are nanoseconds of CLOCK_MONOTONIC.

use std::ffi::{c_char, c_void};

use crate::Details;

/// Raised when anything here changes.
pub const VERSION: u32 = 1;

/// The function of the client's library that takes an observer, or null for none; it answers with its [`VERSION`]. Its
/// observer stays where it is until the process ends.
pub const OBSERVE: &std::ffi::CStr = c"gtrace_shim_observe";
/// That by which what the server still has to say about GPU work of all threads is asked for.
pub const SETTLE: &std::ffi::CStr = c"gtrace_shim_settle_all";

/// The type of [`OBSERVE`].
pub type Observe = unsafe extern "C" fn(*const Observer) -> u32;
/// The type of [`SETTLE`].
pub type Settle = extern "C" fn();

/// Who is reported to. Each function may be called by any thread, and may call the driver.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Observer {
    /// [`VERSION`].
    pub version: u32,
    /// A function of the driver is called: by its name, and with its arguments, which lie there as a struct of C has them.
    /// A number other than 0 if its end is to be reported.
    pub begin: unsafe extern "C" fn(*const Begun) -> u64,
    /// It is about to return.
    pub end: unsafe extern "C" fn(*const Ended),
    /// What the GPU did for a call: its number, begin and end.
    pub work: extern "C" fn(u64, u64, u64),
}

/// A call.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Begun {
    /// The symbol's name.
    pub name: *const c_char,
    /// The arguments.
    pub arguments: *const c_void,
    /// The thread's current context; null for none.
    pub context: *const c_void,
    /// Its number.
    pub context_number: u32,
}

/// A call that is about to return.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// What [`Observer::begin`] answered.
    pub token: u64,
    /// What the call was.
    pub call: Begun,
    /// Its result.
    pub code: u32,
    /// The device of the current context.
    pub device: i32,
    /// The number of the stream that [`Self::details`] name.
    pub stream: u32,
    /// What memory a copy goes to: a number of [`place`].
    pub to: u8,
    /// And from.
    pub from: u8,
    /// Whether the GPU's time for the call will be reported. If not, and [`Self::is_work`], nobody knows it.
    pub is_timed: bool,
    /// Whether it has given a stream work.
    pub is_work: bool,
    /// Arguments.
    pub details: Details,
    /// Of a launch: the kernel's name, until its module is unloaded; null if it is not known.
    pub kernel: *const c_char,
    /// Of a launch, where known: registers of a thread, bytes of static shared memory, bytes of local memory of a thread.
    pub attributes: [i32; 3],
}

/// Numbers of streams: those of the default streams, and what lies before those that the program makes.
const LEGACY: u32 = 7;
const PER_THREAD: u32 = 8;
const BEFORE_OWN: u32 = 12;

/// The number of an object of the driver that the client's library has made.
pub const fn number(handle: u64) -> u32 {
    gtrace_cuda::context_of_frame(handle)
}

/// The number of a stream; 0 for none.
pub const fn stream_number(stream: u64) -> u32 {
    match stream {
        0 | gtrace_cuda::STREAM_LEGACY => LEGACY,
        gtrace_cuda::STREAM_PER_THREAD => PER_THREAD,
        crate::NO_STREAM => 0,
        own => BEFORE_OWN.wrapping_add(number(own)),
    }
}

/// Kinds of memory, numbered as CUPTI does.
pub mod place {
    /// Not known.
    pub const UNKNOWN: u8 = 0;
    /// The host's.
    pub const PAGEABLE: u8 = 1;
    /// The host's, page-locked.
    pub const PINNED: u8 = 2;
    /// A device's.
    pub const DEVICE: u8 = 3;
    /// Managed.
    pub const MANAGED: u8 = 5;
}
