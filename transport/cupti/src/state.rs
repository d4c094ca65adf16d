//! What the process has asked for, and the records that it has not taken.

// pthread_atfork(3), and a state that is leaked.
#![allow(unsafe_code)]

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::{CStr, c_char};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use crate::buffers::{Buffer, Buffers};
use crate::clock::Moment;
use crate::records::{Record, kind};
use crate::result::{CUptiResult, NOT_INITIALIZED};
use crate::{callbacks, client};

/// Records that wait for a buffer, and such that wait for the GPU: what is more is dropped.
const MOST: usize = 1 << 18;
/// Times that were reported before their calls returned, or that nobody wants: of more the oldest are forgotten.
const MOST_EARLY: usize = 1 << 10;

/// What the GPU's times of a record are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Times {
    /// It has its times.
    Known,
    /// The server has measured them, or will.
    Measured(Measured),
}

/// By CLOCK_MONOTONIC.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) begun: u64,
    pub(crate) ended: u64,
    /// When the call was made, by the records' clock.
    pub(crate) called: u64,
    /// Whose call it was.
    pub(crate) thread: u32,
}

/// A record that waits.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) record: Record,
    pub(crate) times: Times,
}

/// Which activities are wanted.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    /// Kinds, by their bits.
    all: u64,
    /// The same of single contexts.
    contexts: HashMap<usize, u64>,
    /// Functions of the driver beside the kind's.
    only: HashSet<u32>,
    except: HashSet<u32>,
}

impl Wanted {
    /// Kinds that are wanted of calls in `context`.
    pub(crate) fn of(&self, context: usize) -> u64 {
        self.all | self.contexts.get(&context).copied().unwrap_or(0)
    }

    /// Whether a record of a call of this function is wanted; none is of one that CUPTI has no number of.
    pub(crate) fn is_call(&self, kinds: u64, cbid: u32) -> bool {
        let is_known = cbid != 0 && !self.except.contains(&cbid);
        let kind = kinds & 1 << kind::DRIVER != 0 && is_known;
        kind || self.only.contains(&cbid)
    }

    pub(crate) fn set(&mut self, context: Option<usize>, kind: u32, wanted: bool) {
        let kinds = match context {
            Some(context) => self.contexts.entry(context).or_default(),
            None => &mut self.all,
        };
        match wanted {
            true => *kinds |= 1 << kind,
            false => *kinds &= !(1 << kind),
        }
        // The one takes the place of the other.
        match (wanted, kind) {
            (true, kind::KERNEL) => *kinds &= !(1 << kind::CONCURRENT_KERNEL),
            (true, kind::CONCURRENT_KERNEL) => *kinds &= !(1 << kind::KERNEL),
            _ => {}
        }
    }

    pub(crate) fn set_call(&mut self, cbid: u32, wanted: bool) {
        let (to, from) = match wanted {
            true => (&mut self.only, &mut self.except),
            false => (&mut self.except, &mut self.only),
        };
        to.insert(cbid);
        from.remove(&cbid);
    }

    fn is_any(&self) -> bool {
        let contexts = self.contexts.values().any(|kinds| *kinds != 0);
        self.all != 0 || contexts || !self.only.is_empty()
    }
}

/// Of the process.
#[derive(Debug, Default)]
pub(crate) struct Inner {
    pub(crate) buffers: Option<Buffers>,
    /// One of the program's, for the next records.
    pub(crate) buffer: Option<Buffer>,
    /// A thread asks the program for one.
    pub(crate) is_requesting: bool,
    pub(crate) wanted: Wanted,
    /// Complete records.
    pub(crate) done: Vec<Held>,
    /// Records whose times the server has not reported, by the call's number.
    pub(crate) pending: BTreeMap<u64, Held>,
    /// Begin and end of work of which there is no record, by the call's number.
    early: BTreeMap<u64, [u64; 2]>,
    /// Records that were lost since somebody asked.
    pub(crate) dropped: usize,
    /// Both clocks when somebody began to observe.
    pub(crate) since: Option<Moment>,
    names: HashSet<&'static CStr>,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    inner: Mutex<Inner>,
    /// Held by who hands records to the program.
    pub(crate) delivering: Mutex<()>,
}

static STATE: AtomicPtr<State> = AtomicPtr::new(null_mut());
/// Not 0 while activities are wanted.
static ACTIVE: AtomicU64 = AtomicU64::new(0);

/// That of the process.
pub(crate) fn get() -> &'static State {
    // SAFETY: null, or a state that was leaked.
    if let Some(state) = unsafe { STATE.load(Ordering::Acquire).as_ref() } {
        return state;
    }
    static WATCHED: Once = Once::new();
    WATCHED.call_once(|| {
        // SAFETY: a function of this library, which is never unmapped. It writes to atomic variables only.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    });
    let new = Box::into_raw(Box::<State>::default());
    let exchanged = STATE.compare_exchange(null_mut(), new, Ordering::AcqRel, Ordering::Acquire);
    // SAFETY: leaked, or still this function's own.
    unsafe {
        match exchanged {
            Ok(_) => &*new,
            Err(other) => {
                drop(Box::from_raw(new));
                &*other
            }
        }
    }
}

/// The child of fork(2) begins anew: a thread that is not here may have been in the middle of anything.
extern "C" fn in_child() {
    STATE.store(null_mut(), Ordering::Relaxed);
    ACTIVE.store(0, Ordering::Relaxed);
    callbacks::in_child();
    client::in_child();
}

/// Whether any activity is wanted.
pub(crate) fn is_active() -> bool {
    ACTIVE.load(Ordering::Relaxed) != 0
}

impl State {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what is wanted, and has calls reported while something is.
    ///
    /// # Errors
    ///
    /// NOT_INITIALIZED if the driver is not the client's library: nothing is changed.
    pub(crate) fn want(&self, change: impl FnOnce(&mut Wanted)) -> Result<(), CUptiResult> {
        let mut inner = self.lock();
        let before = inner.wanted.is_any();
        change(&mut inner.wanted);
        let active = inner.wanted.is_any();
        if active && !before && !client::observe(true) {
            inner.wanted = Wanted::default();
            return Err(NOT_INITIALIZED);
        }
        if active && inner.since.is_none() {
            inner.since = Some(Moment::now());
        }
        ACTIVE.store(active.into(), Ordering::Relaxed);
        drop(inner);
        update();
        Ok(())
    }
}

/// Has calls reported exactly while somebody wants them.
pub(crate) fn update() {
    client::observe(is_active() || callbacks::are_wanted());
}

impl Inner {
    /// A complete record.
    pub(crate) fn done(&mut self, record: Record, times: Times) {
        match self.done.len() < MOST {
            true => self.done.push(Held { record, times }),
            false => self.dropped += 1,
        }
    }

    /// A record of work that the GPU does for call `token`.
    pub(crate) fn pending(&mut self, token: u64, record: Record, called: u64, thread: u32) {
        let early = self.early.remove(&token);
        let [begun, ended] = early.unwrap_or_default();
        let times = Times::Measured(Measured {
            begun,
            ended,
            called,
            thread,
        });
        if early.is_some() {
            return self.done(record, times);
        }
        if self.pending.len() == MOST && self.pending.pop_first().is_some() {
            self.dropped += 1;
        }
        self.pending.insert(token, Held { record, times });
    }

    /// When the GPU did what call `token` gave it to do. The call may not have returned: the server reports what is done with an
    /// answer that the call itself waits for, or that another thread has asked for.
    pub(crate) fn reported(&mut self, token: u64, begun: u64, ended: u64) {
        let Some(Held { record, times }) = self.pending.remove(&token) else {
            if self.early.len() == MOST_EARLY {
                self.early.pop_first();
            }
            self.early.insert(token, [begun, ended]);
            return;
        };
        let times = match times {
            Times::Measured(call) => Times::Measured(Measured {
                begun,
                ended,
                ..call
            }),
            Times::Known => Times::Known,
        };
        self.done(record, times);
    }

    /// A string that stays.
    pub(crate) fn name(&mut self, name: *const c_char) -> *const c_char {
        if name.is_null() {
            return null();
        }
        // SAFETY: a string while the call lasts, by the client's library.
        let name = unsafe { CStr::from_ptr(name) };
        match self.names.get(name) {
            Some(known) => known.as_ptr(),
            None => {
                let kept: &'static CStr = Box::leak(name.to_owned().into_boxed_c_str());
                self.names.insert(kept);
                kept.as_ptr()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::Copy;

    /// Begin and end of the complete records.
    fn measured(inner: &Inner) -> Vec<(u64, u64)> {
        let times = inner.done.iter().map(|held| match held.times {
            Times::Measured(work) => (work.begun, work.ended),
            Times::Known => (0, 0),
        });
        times.collect()
    }

    #[test]
    fn work_may_be_reported_before_its_call_returns() {
        let mut inner = Inner::default();
        let copy = || Record::Copy(Copy::default());
        inner.reported(5, 10, 20);
        inner.pending(5, copy(), 1, 2);
        inner.pending(6, copy(), 1, 2);
        inner.reported(6, 30, 40);
        assert_eq!(measured(&inner), [(10, 20), (30, 40)]);
        assert!(inner.pending.is_empty() && inner.early.is_empty());
        for token in 0..=MOST_EARLY as u64 {
            inner.reported(token, 1, 2);
        }
        assert_eq!(inner.early.len(), MOST_EARLY);
        assert!(!inner.early.contains_key(&0));
    }

    #[test]
    fn kinds_are_wanted_of_all_contexts_or_of_one() {
        let mut wanted = Wanted::default();
        wanted.set(Some(7), kind::MEMCPY, true);
        wanted.set(None, kind::CONCURRENT_KERNEL, true);
        wanted.set(None, kind::KERNEL, true);
        assert_eq!(wanted.of(7), 1 << kind::MEMCPY | 1 << kind::KERNEL);
        assert_eq!(wanted.of(8), 1 << kind::KERNEL);
        wanted.set(Some(7), kind::MEMCPY, false);
        wanted.set(None, kind::KERNEL, false);
        assert!(!wanted.is_any());
    }

    #[test]
    fn functions_are_wanted_without_their_kind_and_left_out_with_it() {
        let mut wanted = Wanted::default();
        wanted.set_call(307, true);
        assert!(wanted.is_any() && wanted.is_call(0, 307) && !wanted.is_call(0, 1));
        wanted.set_call(307, false);
        assert!(!wanted.is_any() && !wanted.is_call(1 << kind::DRIVER, 307));
        assert!(wanted.is_call(1 << kind::DRIVER, 1) && !wanted.is_call(1 << kind::DRIVER, 0));
    }
}
