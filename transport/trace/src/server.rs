//! The times of a call from the server of a remote GPU, where the driver's library is that of its client.

// A function of the driver's library, by address.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::panic::catch_unwind;
use std::ptr::{null_mut, without_provenance_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

use gtrace_recording::{NO_FUNCTION, Recorder, Served};

use crate::{gpu, session, target, threads};

/// `gtrace_shim_answered` of the client's library (transport/shim/src/answers.rs).
type Answered = unsafe extern "C" fn(*mut [u64; 4]) -> u64;
/// `gtrace_shim_keep_times` of the same (transport/shim/src/times.rs).
type KeepTimes = extern "C" fn(extern "C" fn() -> u64);
/// `gtrace_shim_one_way`.
type OneWays = unsafe extern "C" fn(*mut OneWay, u64) -> u64;

/// A call that nobody waited for, as the client's library reports it.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct OneWay {
    called: u64,
    begun_ago: u64,
    ended_ago: u64,
    queue_ns: u64,
    off_ns: u64,
}

/// How many are taken at once.
const AT_ONCE: usize = 32;

/// The GPU is here.
const NO_SERVER: usize = 1;
/// Where the function is; null before the first call.
static ANSWERED: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
static ONE_WAY: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

/// `function`, called at `start`, has returned.
#[inline(always)]
pub(crate) fn returned(recorder: &Recorder, function: u16, start: u64) {
    let answered = ANSWERED.load(Ordering::Relaxed);
    if answered.addr() != NO_SERVER {
        report(answered, recorder, function, start);
    }
}

#[cold]
#[inline(never)]
fn report(answered: *mut c_void, recorder: &Recorder, function: u16, start: u64) {
    let Some(answered) = find(answered) else {
        return;
    };
    let scale = session::variables().scale;
    report_one_way(recorder);
    gpu::reported(recorder);
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
        off_ns: 0,
    });
}

/// What has become known of this thread's calls that nobody waited for.
fn report_one_way(recorder: &Recorder) {
    let one_way = ONE_WAY.load(Ordering::Relaxed);
    if one_way.is_null() {
        return;
    }
    // SAFETY: the function of this name is of this type.
    let one_way = unsafe { std::mem::transmute::<*mut c_void, OneWays>(one_way) };
    let scale = session::variables().scale;
    let mut calls = [OneWay::default(); AT_ONCE];
    loop {
        let now = scale.ticks();
        // SAFETY: a place for so many.
        let count = unsafe { one_way(calls.as_mut_ptr(), AT_ONCE as u64) } as usize;
        let at = |ago| now.saturating_sub(scale.ticks_of(ago));
        if count > 0 {
            FinalReport::prepare();
        }
        for call in calls.iter().take(count) {
            recorder.served(&Served {
                sent: at(call.begun_ago),
                answered: at(call.ended_ago),
                function: NO_FUNCTION,
                called: call.called,
                queue_ns: call.queue_ns,
                driver_ns: call.begun_ago.saturating_sub(call.ended_ago),
                answers: 0,
                off_ns: u32::try_from(call.off_ns).unwrap_or(u32::MAX),
            });
        }
        if count < AT_ONCE {
            return;
        }
    }
}

/// At a thread's end: has the server send the missing times of the thread's calls.
pub(crate) struct FinalReport;

thread_local! {
    static FINAL_REPORT: FinalReport = const { FinalReport };
}

impl FinalReport {
    /// It is to happen before what this library and the client's keep for the thread is dropped, which is in the opposite
    /// order of its first use.
    pub(crate) fn prepare() {
        gpu::use_thread();
        let _ = FINAL_REPORT.try_with(|_| ());
    }
}

impl Drop for FinalReport {
    fn drop(&mut self) {
        let _ = catch_unwind(|| {
            let Some(settle) = target::symbol(c"gtrace_shim_settle") else {
                return;
            };
            // SAFETY: the function of this name is of this type.
            let settle = unsafe { std::mem::transmute::<*mut c_void, extern "C" fn()>(settle) };
            settle();
            if let Some((recorder, way)) = threads::recorder() {
                report_one_way(recorder);
                gpu::reported(recorder);
                if way == threads::Way::Borrowed {
                    threads::give_back(recorder);
                }
            }
        });
    }
}

extern "C" fn ticks() -> u64 {
    session::variables().scale.ticks()
}

/// Has the client's library ask its server for the times of asynchronous calls. One of an earlier version
/// does not know how.
fn keep_times() {
    let keep = target::symbol(c"gtrace_shim_keep_times");
    let one_way = target::symbol(c"gtrace_shim_one_way");
    if let (Some(keep), Some(one_way)) = (keep, one_way) {
        ONE_WAY.store(one_way, Ordering::Relaxed);
        // SAFETY: the function of this name is of this type.
        let keep = unsafe { std::mem::transmute::<*mut c_void, KeepTimes>(keep) };
        keep(ticks);
    }
}

fn find(known: *mut c_void) -> Option<Answered> {
    let known = match known.is_null() {
        false => known,
        true => {
            let found = target::symbol(c"gtrace_shim_answered");
            // Without a ring there is nobody to notify.
            let found = found.filter(|_| session::variables().events != 0);
            if found.is_some() {
                keep_times();
            }
            let found = found.unwrap_or(without_provenance_mut(NO_SERVER));
            ANSWERED.store(found, Ordering::Relaxed);
            found
        }
    };
    // SAFETY: the function of this name is of this type.
    (known.addr() != NO_SERVER)
        .then(|| unsafe { std::mem::transmute::<*mut c_void, Answered>(known) })
}
