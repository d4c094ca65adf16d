//! Reports the calls of the process to a library that observes them, such as `libcupti.so` of gtrace: the program's calls of
//! the driver, and when the GPU did what they gave it to do, which the server measures ([`crate::times`]). While nobody
//! observes, a call costs one load.

// An exported symbol, and functions of the observer.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::collections::VecDeque;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::{null, null_mut, without_provenance_mut};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use gtrace_cuda::types::driver::{
    self as cuda, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, CU_FUNC_ATTRIBUTE_NUM_REGS,
    CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, CUfunction_attribute, CUresult,
};
use gtrace_protocol::WorkTimes;
use gtrace_recording::observe::{Begun, Ended, Observer, VERSION, number, place, stream_number};
use gtrace_recording::{Details, kind};

use crate::allocations::Place;
use crate::session::{self, Session};
use crate::state::read;
use crate::{capture, context, functions, times};

/// Whether somebody observes.
static ON: AtomicBool = AtomicBool::new(false);
static OBSERVER: AtomicPtr<Observer> = AtomicPtr::new(null_mut());

/// Frames of a lane whose work is timed and not reported yet, and such that the observer does not know of; of more the oldest are
/// forgotten.
const MOST: usize = 1 << 16;

thread_local! {
    /// The thread is in a call that is observed: calls of this library and of the observer are not the program's.
    static WITHIN: Cell<bool> = const { Cell::new(false) };
}

/// What a lane knows of work that is observed.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    /// Frames, by their ascending numbers, and the calls that they are of.
    timed: VecDeque<(u64, u64)>,
    /// What the server has reported; not given to the observer yet.
    works: VecDeque<(u64, WorkTimes)>,
}

impl Observed {
    /// Frame `seq` gives a stream work, for the call `token`.
    pub(crate) fn timed(&mut self, seq: u64, token: u64) {
        // Failed calls never get a time.
        if self.timed.len() == MOST {
            self.timed.pop_front();
        }
        self.timed.push_back((seq, token));
    }

    /// How much the observer does not know of yet.
    pub(crate) fn missing(&self) -> usize {
        self.timed.len() + self.works.len()
    }

    pub(crate) fn reported(&mut self, works: &[WorkTimes]) {
        for work in works {
            let found = self.timed.binary_search_by_key(&work.seq, |(seq, _)| *seq);
            if let Some((_, token)) = found.ok().and_then(|at| self.timed.remove(at)) {
                // Threads that get nothing but memory of the GPU, several frames at a time, never compare the clocks.
                if self.works.len() == MOST {
                    self.works.pop_front();
                }
                self.works.push_back((token, *work));
            }
        }
    }

    /// Hands on what is known, by the server's clock less the client's.
    #[inline]
    pub(crate) fn deliver(&mut self, ahead: impl FnOnce() -> Option<u64>) {
        if !self.works.is_empty() {
            self.hand_on(ahead());
        }
    }

    #[cold]
    fn hand_on(&mut self, ahead: Option<u64>) {
        let Some(ahead) = ahead else { return };
        let observer = observer();
        for (token, work) in self.works.drain(..) {
            let [begun, ended] = [work.begun_ns, work.ended_ns].map(|ns| ns.wrapping_sub(ahead));
            if let Some(observer) = observer {
                (observer.work)(token, begun, ended);
            }
        }
    }
}

/// Whether somebody observes.
#[inline(always)]
pub(crate) fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}

fn observer() -> Option<&'static Observer> {
    // SAFETY: null, or an observer that stays, by the promise of who gave it.
    unsafe { OBSERVER.load(Ordering::Acquire).as_ref() }
}

/// From now on the process's calls are reported to `observer`; null: to nobody.
///
/// # Safety
///
/// Null, or an observer that stays where it is.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn gtrace_shim_observe(observer: *const Observer) -> u32 {
    // SAFETY: the caller's promise.
    let fits = unsafe { observer.as_ref() }.is_some_and(|it| it.version == VERSION);
    if fits {
        OBSERVER.store(observer.cast_mut(), Ordering::Release);
    }
    // The one before may still be called: it stays.
    ON.store(fits, Ordering::Release);
    VERSION
}

/// The child of fork(2) is not observed until somebody asks for it there.
pub(crate) fn in_child() {
    ON.store(false, Ordering::Relaxed);
    WITHIN.set(false);
}

/// Has the server say what it still has to say about GPU work that is observed, in the lanes of all threads that are not in the
/// middle of a call.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn gtrace_shim_settle_all() {
    crate::entry::guard(&mut || {
        if let Some(session) = session::current() {
            let before = WITHIN.replace(true);
            session::settle_observed(session);
            WITHIN.set(before);
        }
        cuda::CUDA_SUCCESS
    });
}

/// Makes the program's call `name`, and reports it if somebody observes. `stream` is what it gives work, if it does.
#[inline(always)]
pub(crate) fn call<A>(
    name: &'static CStr,
    arguments: impl FnOnce() -> A,
    stream: impl FnOnce() -> Option<u64>,
    details: impl FnOnce(CUresult) -> Details,
    call: impl FnOnce() -> CUresult,
) -> CUresult {
    let arguments = is_on().then(arguments);
    let open = match &arguments {
        Some(arguments) => Open::new(name, (&raw const *arguments).cast(), stream()),
        None => None,
    };
    let code = call();
    if let Some(open) = open {
        open.end(code, details(code));
    }
    code
}

/// A call that is observed.
struct Open {
    observer: &'static Observer,
    token: u64,
    call: Begun,
    stream: Option<u64>,
    is_timed: bool,
}

impl Open {
    #[cold]
    fn new(name: &'static CStr, arguments: *const c_void, stream: Option<u64>) -> Option<Self> {
        let observer = observer()?;
        if WITHIN.replace(true) {
            return None;
        }
        let top = context::top();
        let call = Begun {
            name: name.as_ptr(),
            arguments,
            context: without_provenance_mut::<c_void>(top.handle as usize),
            context_number: number(top.handle),
        };
        // SAFETY: what it is to be given.
        let token = unsafe { (observer.begin)(&raw const call) };
        if token == 0 {
            WITHIN.set(false);
            return None;
        }
        let is_timed = stream.is_some_and(|stream| {
            let session = session::current().filter(|session| !session.state.captures.any());
            let is_timed = session.is_some_and(times::can_time);
            if is_timed {
                times::observe(Some((stream, token)));
            }
            is_timed
        });
        Some(Self {
            observer,
            token,
            call,
            stream,
            is_timed,
        })
    }

    #[cold]
    fn end(self, code: CUresult, details: Details) {
        if self.is_timed {
            times::observe(None);
        }
        let session = session::current();
        let launch = details.kind == kind::LAUNCH;
        let [_, stream, to, from] = details.words;
        let known = |wanted: bool, address| match (wanted, session) {
            (true, Some(session)) => place_of(session, address),
            _ => place::UNKNOWN,
        };
        let (kernel, attributes) = match session.filter(|_| launch && code == 0) {
            Some(session) => kernel(session, details.words[0]),
            None => (null(), [0; 3]),
        };
        let capturing = |session: &'static Session, stream: u64| {
            session.state.captures.any() && capture::takes_part(session, stream)
        };
        let is_captured = match (session, self.stream) {
            (Some(session), Some(stream)) => capturing(session, stream),
            _ => false,
        };
        let top = context::top();
        let ended = Ended {
            token: self.token,
            call: self.call,
            code,
            device: top.device,
            stream: stream_number(self.stream.unwrap_or(stream)),
            to: known(matches!(details.kind, kind::COPY | kind::SET), to),
            from: known(details.kind == kind::COPY, from),
            is_timed: self.is_timed && code == 0,
            is_work: self.stream.is_some() && code == 0 && !is_captured,
            details,
            kernel,
            attributes,
        };
        // SAFETY: what it is to be given.
        unsafe { (self.observer.end)(&raw const ended) };
        WITHIN.set(false);
    }
}

fn place_of(session: &Session, address: u64) -> u8 {
    if address == 0 {
        return place::UNKNOWN;
    }
    let found = read(&session.state.allocations).find(address);
    match found.map(|found| found.place) {
        Some(Place::Managed) => place::MANAGED,
        Some(place) if place.is_host() => place::PINNED,
        Some(_) => place::DEVICE,
        None => place::PAGEABLE,
    }
}

/// The name of a kernel, and what is known of it.
fn kernel(session: &'static Session, handle: u64) -> (*const c_char, [i32; 3]) {
    let name = functions::name_of(handle).unwrap_or(null());
    let attributes = match functions::record(session, handle) {
        Some(record) => {
            let known = |what: CUfunction_attribute| record.attribute(what).unwrap_or(0);
            [
                known(CU_FUNC_ATTRIBUTE_NUM_REGS),
                known(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
                known(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
            ]
        }
        None => [0; 3],
    };
    (name, attributes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_keeps_so_much_and_no_more() {
        let mut lane = Observed::default();
        for seq in 0..=MOST as u64 {
            lane.timed(seq, seq);
            lane.reported(&[WorkTimes {
                seq,
                ..WorkTimes::default()
            }]);
        }
        assert_eq!(lane.works.front().map(|(token, _)| *token), Some(1));
        assert_eq!(lane.missing(), MOST);
        for seq in 0..=MOST as u64 {
            lane.timed(MOST as u64 + 1 + seq, seq);
        }
        assert_eq!(lane.missing(), 2 * MOST);
    }
}
