//! Callbacks around calls of the driver, and what is kept of a call while it lasts.

// What the client's library reports lies at addresses, and functions of the program.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::panic::catch_unwind;
use std::ptr::{null, null_mut, with_exposed_provenance};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use gtrace_recording::observe::{Begun, Ended};

use crate::{cbids, clock, state};

/// `CUpti_CallbackFunc`
pub(crate) type Callback = unsafe extern "C" fn(*mut c_void, u32, u32, *const c_void);

/// `CUpti_CallbackDomain`
pub(crate) mod domain {
    pub(crate) const DRIVER: u32 = 1;
    /// The last one.
    pub(crate) const STATE: u32 = 6;
}

/// CUPTI's number of the default stream.
pub(crate) const DEFAULT_STREAM: u32 = 7;

/// Numbers of the driver's functions, and more.
const CBIDS: usize = 1024;

/// The one subscriber's function, null for none, and what it is called with.
static CALLBACK: AtomicPtr<()> = AtomicPtr::new(null_mut());
static USER: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
/// Functions of the driver for which it is called.
static ENABLED: [AtomicU64; CBIDS / 64] = [const { AtomicU64::new(0) }; CBIDS / 64];
/// How many calls there were.
static CALLS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static START: Cell<u64> = const { Cell::new(0) };
    /// A place for the subscriber, from the beginning of a call to its end.
    static DATA: Cell<u64> = const { Cell::new(0) };
}

/// `CUpti_CallbackData`
#[repr(C)]
struct Data {
    site: u32,
    function: *const c_char,
    arguments: *const c_void,
    result: *mut c_void,
    symbol: *const c_char,
    context: *const c_void,
    context_number: u32,
    data: *mut u64,
    correlation: u32,
}

const _: () = assert!(size_of::<Data>() == 72 && std::mem::offset_of!(Data, correlation) == 64);

/// Subscribes; whether there was nobody before.
pub(crate) fn subscribe(callback: Callback, user: *mut c_void) -> bool {
    let new = callback as *mut ();
    let swapped = CALLBACK.compare_exchange(null_mut(), new, Ordering::AcqRel, Ordering::Relaxed);
    if swapped.is_ok() {
        USER.store(user, Ordering::Release);
    }
    swapped.is_ok()
}

/// Nobody subscribes from now on.
pub(crate) fn unsubscribe() {
    CALLBACK.store(null_mut(), Ordering::Release);
    ENABLED
        .iter()
        .for_each(|word| word.store(0, Ordering::Relaxed));
    state::update();
}

/// The child of fork(2) has subscribed to nothing.
pub(crate) fn in_child() {
    CALLBACK.store(null_mut(), Ordering::Relaxed);
    ENABLED
        .iter()
        .for_each(|word| word.store(0, Ordering::Relaxed));
}

/// Whether a subscriber is to be called for this function of the driver.
pub(crate) fn is_enabled(cbid: u32) -> bool {
    let word = ENABLED.get(cbid as usize / 64);
    word.is_some_and(|word| word.load(Ordering::Relaxed) & 1 << (cbid % 64) != 0)
}

/// Calls the subscriber for this function of the driver, or no longer.
pub(crate) fn enable(cbid: u32, wanted: bool) {
    if let Some(word) = ENABLED.get(cbid as usize / 64) {
        match wanted {
            true => word.fetch_or(1 << (cbid % 64), Ordering::Relaxed),
            false => word.fetch_and(!(1 << (cbid % 64)), Ordering::Relaxed),
        };
    }
}

/// All functions of the driver.
pub(crate) fn enable_all(wanted: bool) {
    for (_, cbid) in cbids::CBIDS {
        enable((*cbid).into(), wanted);
    }
}

/// Whether a subscriber is called for anything.
pub(crate) fn are_wanted() -> bool {
    let any = ENABLED.iter().any(|word| word.load(Ordering::Relaxed) != 0);
    any && !CALLBACK.load(Ordering::Acquire).is_null()
}

/// What is known at the end of a call only: its result, and the name of the kernel that it has launched. Null before.
#[derive(Clone, Copy)]
struct Outcome {
    result: *mut u32,
    kernel: *const c_char,
}

fn call(site: u32, begun: &Begun, name: &CStr, correlation: u32, outcome: Outcome) {
    let callback = CALLBACK.load(Ordering::Acquire);
    let cbid = u32::from(cbids::of(name));
    if callback.is_null() || cbid == 0 || !is_enabled(cbid) {
        return;
    }
    let place = DATA.with(Cell::as_ptr);
    let data = Data {
        site,
        function: begun.name,
        arguments: begun.arguments,
        result: outcome.result.cast(),
        symbol: outcome.kernel,
        context: begun.context,
        context_number: begun.context_number,
        data: place,
        correlation,
    };
    // SAFETY: what `subscribe` was given, for one call of the driver.
    unsafe {
        let callback = transmute::<*mut (), Callback>(callback);
        let user = USER.load(Ordering::Acquire);
        callback(user, domain::DRIVER, cbid, (&raw const data).cast());
    }
}

/// A function of the driver is called.
///
/// # Safety
///
/// `begun` is what the client's library reports.
pub(crate) unsafe extern "C" fn begin(begun: *const Begun) -> u64 {
    let number = catch_unwind(|| {
        if !state::is_active() && !are_wanted() {
            return 0;
        }
        // SAFETY: the caller's promise.
        let begun = unsafe { &*begun };
        // SAFETY: a string of the client's library.
        let name = unsafe { CStr::from_ptr(begun.name) };
        let correlation = CALLS.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        DATA.set(0);
        let unknown = Outcome {
            result: null_mut(),
            kernel: null(),
        };
        call(0, begun, name, correlation, unknown);
        START.set(clock::now());
        // Never 0.
        u64::from(correlation) | 1 << 32
    });
    number.unwrap_or(0)
}

/// What is known of a call that has returned.
pub(crate) struct Of {
    pub(crate) correlation: u32,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Of {
    /// The call `name` is about to return.
    pub(crate) fn end(ended: &Ended, name: &CStr) -> Self {
        let (start, now) = (START.get(), clock::now());
        let correlation = ended.token as u32;
        let mut code = ended.code;
        let outcome = Outcome {
            result: &raw mut code,
            kernel: ended.kernel,
        };
        call(1, &ended.call, name, correlation, outcome);
        Self {
            correlation,
            start,
            end: now.max(start),
        }
    }
}

/// The name of a function of the driver.
pub(crate) fn name(cbid: u32) -> Option<&'static str> {
    let mut all = cbids::CBIDS.iter();
    let found = all.find(|(_, known)| u32::from(*known) == cbid);
    found.map(|(name, _)| *name)
}

/// The handle that subscribers get.
pub(crate) fn handle() -> *mut c_void {
    with_exposed_provenance::<c_void>(1).cast_mut()
}
