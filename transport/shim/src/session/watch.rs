//! The lanes of threads that another thread may use while theirs does not, to have the server report what it still knows of GPU
//! work that is observed or traced.

// Another thread's lane, by its address.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Session;
use crate::lane::Lane;
use crate::{fork, observe, times};

/// Somebody has observed or traced: threads take turns with their own lanes from then on.
static ANY: AtomicBool = AtomicBool::new(false);

type All = Mutex<Vec<Arc<Watch>>>;
/// Never freed: the child of a fork begins a list of its own.
static ALL: AtomicPtr<All> = AtomicPtr::new(ptr::null_mut());

/// A thread's lane.
#[derive(Debug)]
struct Watch {
    /// That of its process.
    generation: u32,
    /// Held by who uses it.
    turn: Mutex<()>,
    /// Null while it has none.
    lane: AtomicPtr<Lane>,
}

/// A thread's own watch, once somebody has observed or traced.
pub(super) struct Own(RefCell<Option<Arc<Watch>>>);

fn all() -> MutexGuard<'static, Vec<Arc<Watch>>> {
    let mut all = ALL.load(Ordering::Acquire);
    if all.is_null() {
        let new = Box::into_raw(Box::<All>::default());
        let exchanged = ALL.compare_exchange(all, new, Ordering::AcqRel, Ordering::Acquire);
        all = match exchanged {
            Ok(_) => new,
            Err(other) => {
                // SAFETY: still this function's own.
                drop(unsafe { Box::from_raw(new) });
                other
            }
        };
    }
    // SAFETY: a list that was leaked.
    let all = unsafe { &*all };
    all.lock().unwrap_or_else(PoisonError::into_inner)
}

/// In the child of a fork, from a handler that may do next to nothing: a thread that is not here may have been in the middle of
/// anything.
pub(super) fn in_child() {
    ALL.store(ptr::null_mut(), Ordering::Relaxed);
    ANY.store(false, Ordering::Relaxed);
}

impl Watch {
    fn new() -> Self {
        Self {
            generation: fork::generation(),
            turn: Mutex::new(()),
            lane: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Whether it is of the process that this one was forked from, where another thread may have held it.
    fn is_foreign(&self) -> bool {
        self.generation != fork::generation()
    }
}

/// While it lives, no other thread uses this thread's lane.
pub(super) struct Turn {
    // Before the watch that it is of.
    _held: MutexGuard<'static, ()>,
    watch: Arc<Watch>,
}

impl Turn {
    fn new(watch: Arc<Watch>) -> Self {
        let held = watch.turn.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the mutex lives as long as `watch`, which is dropped after it.
        let held =
            unsafe { std::mem::transmute::<MutexGuard<'_, ()>, MutexGuard<'static, ()>>(held) };
        Self { _held: held, watch }
    }

    /// This is the thread's lane.
    pub(super) fn lane(&self, lane: &mut Lane) {
        self.watch.lane.store(lane, Ordering::Relaxed);
    }
}

impl Own {
    pub(super) const fn new() -> Self {
        Self(RefCell::new(None))
    }

    /// The thread's turn with its own lane, of which it has no reference yet.
    #[inline]
    pub(super) fn turn(&self) -> Option<Turn> {
        match ANY.load(Ordering::Relaxed) || observe::is_on() || times::is_traced() {
            true => self.watched(),
            false => None,
        }
    }

    #[cold]
    fn watched(&self) -> Option<Turn> {
        ANY.store(true, Ordering::Relaxed);
        let mut own = self.0.try_borrow_mut().ok()?;
        let watch = match &mut *own {
            Some(watch) if !watch.is_foreign() => watch,
            own => {
                let watch = own.insert(Arc::new(Watch::new()));
                all().push(Arc::clone(watch));
                watch
            }
        };
        Some(Turn::new(Arc::clone(watch)))
    }

    /// The thread ends, and its lane is another's. Nobody uses it until what this gives is dropped.
    pub(super) fn end(&mut self) -> Option<Turn> {
        let own = self.0.get_mut().take().filter(|own| !own.is_foreign())?;
        all().retain(|watch| !Arc::ptr_eq(watch, &own));
        let turn = Turn::new(own);
        turn.watch.lane.store(ptr::null_mut(), Ordering::Relaxed);
        Some(turn)
    }
}

/// Does `action` with each thread's lane of `session`, but for those that are in use.
pub(super) fn each(session: &'static Session, action: impl Fn(&mut Lane)) {
    let all: Vec<_> = all().clone();
    for watch in all {
        let Ok(_turn) = watch.turn.try_lock() else {
            continue;
        };
        // SAFETY: null, or the lane of a thread that does not use it before its turn.
        let Some(lane) = (unsafe { watch.lane.load(Ordering::Relaxed).as_mut() }) else {
            continue;
        };
        if ptr::eq(lane.session, session) && !lane.is_foreign() {
            action(lane);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Another thread may have used this lane or the list at that moment.
    #[test]
    fn a_thread_ends_in_the_child_of_a_fork_whatever_the_parent_held() {
        fork::watch();
        let mut own = Own::new();
        let turn = own.watched();
        let list = all();
        // SAFETY: the child calls functions of this module only, and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: it ends by a signal if it waits for ever.
            unsafe { libc::alarm(20) };
            let foreign = own.end().is_none();
            let begun = own.watched().is_some();
            let ended = own.end().is_some();
            // SAFETY: ends the child.
            unsafe { libc::_exit((!(foreign && begun && ended)).into()) };
        }
        let mut status = -1;
        // SAFETY: a place for the status.
        let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert_eq!((waited, status), (child, 0));
        drop((turn, list));
    }
}
