//! What the server of a GPU elsewhere told of a call, where the driver's library is that of its client.

// A function of the driver's library, by address.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr::{null_mut, without_provenance_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

use gtrace_recording::{Recorder, Served};

use crate::{session, target};

/// `gtrace_shim_answered` of the client's library (transport/shim/src/answers.rs).
type Answered = unsafe extern "C" fn(*mut [u64; 4]) -> u64;

/// The GPU is here.
const NO_SERVER: usize = 1;
/// Where the function is; null before the first call.
static ANSWERED: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

/// `function`, called at `start`, has returned.
#[inline(always)]
pub(crate) fn returned(recorder: &Recorder, function: u16, start: u64) {
    let answered = ANSWERED.load(Ordering::Relaxed);
    if answered.addr() != NO_SERVER {
        tell(answered, recorder, function, start);
    }
}

#[cold]
#[inline(never)]
fn tell(answered: *mut c_void, recorder: &Recorder, function: u16, start: u64) {
    let Some(answered) = find(answered) else {
        return;
    };
    let scale = session::variables().scale;
    // Before the client's clock is read, so that nothing comes to lie behind the call's end.
    let now = scale.ticks();
    let mut times = [0; 4];
    // SAFETY: a place for four numbers.
    let answers = unsafe { answered(&raw mut times) };
    if answers == 0 {
        return;
    }
    let [sent_ago, seen_ago, queue_ns, driver_ns] = times;
    let at = |ago| now.saturating_sub(scale.ticks_of(ago)).max(start);
    recorder.served(&Served {
        sent: at(sent_ago),
        answered: at(seen_ago),
        function,
        called: start,
        queue_ns,
        driver_ns,
        answers: u32::try_from(answers).unwrap_or(u32::MAX),
    });
}

fn find(known: *mut c_void) -> Option<Answered> {
    let known = match known.is_null() {
        false => known,
        true => {
            let found = target::symbol(c"gtrace_shim_answered");
            // Without a ring there is nobody to tell.
            let found = found.filter(|_| session::variables().events != 0);
            let found = found.unwrap_or(without_provenance_mut(NO_SERVER));
            ANSWERED.store(found, Ordering::Relaxed);
            found
        }
    };
    // SAFETY: the function of this name is of this type.
    (known.addr() != NO_SERVER)
        .then(|| unsafe { std::mem::transmute::<*mut c_void, Answered>(known) })
}
