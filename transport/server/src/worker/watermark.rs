//! Up to which frame of a lane the records of events are complete: what every frame to the client
//! says, so that it need not ask about each event.
//!
//! The client does not ask for these queries of events, so they must not disturb: none while a stream is captured,
//! which they could end ("cuStreamBeginCapture" in the driver API's reference), and none at an event
//! that is being destroyed.

#![allow(unsafe_code)]

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use gtrace_cuda::Kind;
use gtrace_cuda::types::driver::{
    CU_STREAM_CAPTURE_MODE_RELAXED, CUDA_ERROR_CAPTURED_EVENT, CUDA_ERROR_INVALID_VALUE,
    CUDA_ERROR_NOT_READY, CUDA_SUCCESS, CUevent, CUresult,
};

use super::handles::Handles;
use super::lending::Lending;
use crate::generated::driver::Driver;

/// Polls for one frame.
const POLLS: usize = 4;
/// After an event that is not complete there is no poll for so long, ns.
const PAUSE_NS: u64 = 20_000;
/// Records beyond which each further one polls the oldest too.
const MANY: usize = 1024;
/// Most records that are kept: more than the driver's queues hold.
const MOST: usize = 64 << 10;
/// So many of the contexts that have ended are known by their numbers.
const ENDED: usize = 64;

/// `cuEventQuery`.
pub(crate) type Query = unsafe extern "C" fn(CUevent) -> CUresult;

/// As [`EventLifetimeLock::relaxed`], also if a capture begins meanwhile.
pub(crate) fn relaxed<T>(driver: &Driver, action: impl FnOnce() -> T) -> T {
    let Some(exchange) = driver.cuThreadExchangeStreamCaptureMode else {
        return action();
    };
    let mut mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    // SAFETY: a local variable, both times.
    let changed = unsafe { exchange(&raw mut mode) } == 0;
    let result = action();
    if changed {
        // SAFETY: as above.
        unsafe { exchange(&raw mut mode) };
    }
    result
}

/// What the lanes of a session share.
#[derive(Debug, Default)]
pub(crate) struct EventLifetimeLock {
    /// Held for writing while an event may cease to be.
    events: RwLock<()>,
    /// Contexts that have ended, with all their events.
    contexts_ended: AtomicU64,
    /// The last of them, as frames name them; none where it was a primary one, which may have other names.
    last_ended: Mutex<VecDeque<Option<u32>>>,
    /// Streams that are being captured.
    captures: AtomicU32,
    /// Memory that the driver has for work in streams.
    pub(super) lending: Lending,
}

impl EventLifetimeLock {
    /// To be held while events are destroyed.
    pub(crate) fn destroying(&self) -> RwLockWriteGuard<'_, ()> {
        self.events.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// To be held while events that may be destroyed are queried.
    pub(crate) fn reading(&self) -> RwLockReadGuard<'_, ()> {
        self.events.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a stream is being captured.
    pub(crate) fn is_capturing(&self) -> bool {
        self.captures.load(Ordering::SeqCst) > 0
    }

    /// Does `action` with stream captures left alone, which forbid such calls to programs.
    pub(crate) fn relaxed<T>(&self, driver: &Driver, action: impl FnOnce() -> T) -> T {
        match self.is_capturing() {
            true => relaxed(driver, action),
            false => action(),
        }
    }

    /// A context has ended, of which this is the only name; [`EventLifetimeLock::destroying`] is held.
    pub(crate) fn context_ended(&self, context: Option<u32>) {
        let mut last = self
            .last_ended
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if last.len() == ENDED {
            last.pop_front();
        }
        last.push_back(context);
        self.contexts_ended.fetch_add(1, Ordering::Relaxed);
    }

    /// Which have since so many had, if it is known of each.
    pub(crate) fn ended_since(&self, count: u64) -> Option<Vec<u32>> {
        let last = self
            .last_ended
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let new = usize::try_from(self.contexts_ended() - count).ok()?;
        let from = last.len().checked_sub(new)?;
        last.range(from..).copied().collect()
    }

    /// How many have.
    pub(crate) fn contexts_ended(&self) -> u64 {
        self.contexts_ended.load(Ordering::Acquire)
    }

    /// A capture begins.
    pub(crate) fn capture_begins(&self) {
        self.captures.fetch_add(1, Ordering::SeqCst);
    }

    /// A capture has ended, or did not begin.
    pub(crate) fn capture_ended(&self) {
        let less = |captures: u32| captures.checked_sub(1);
        // A client may end what never began.
        let _ = self
            .captures
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, less);
    }
}

/// A record of an event.
#[derive(Debug)]
struct Record {
    /// Its frame.
    seq: u64,
    event: u64,
}

/// The records of a lane that are not known to be complete, in order.
#[derive(Debug, Default)]
pub(crate) struct Records {
    queue: VecDeque<Record>,
    /// Contexts that had ended when the oldest came.
    contexts_ended: u64,
    /// Nothing after this frame will ever be known.
    frozen: Option<u64>,
    /// No poll before, ns.
    pause_until: u64,
}

/// What a poll of events needs.
#[derive(Clone, Copy)]
pub(crate) struct EventPoll<'a> {
    pub(crate) event_lifetime: &'a EventLifetimeLock,
    pub(crate) handles: &'a Handles,
    /// `cuEventQuery`, if the driver has it.
    pub(crate) query: Option<Query>,
    /// About now, ns.
    pub(crate) now: u64,
}

impl Records {
    /// Frame `seq` has recorded `event`.
    pub(crate) fn add(&mut self, poll: EventPoll<'_>, seq: u64, event: u64) {
        if self.frozen.is_some() {
            return;
        }
        if self.queue.is_empty() {
            self.contexts_ended = poll.event_lifetime.contexts_ended.load(Ordering::Relaxed);
        }
        self.queue.push_back(Record { seq, event });
        if self.queue.len() > MANY {
            self.poll(poll);
        }
        if self.queue.len() > MOST {
            self.freeze();
        }
    }

    /// The last frame up to which all is complete, where `executed` is the last that was executed.
    #[inline]
    pub(crate) fn watermark(&mut self, poll: EventPoll<'_>, executed: u64) -> u64 {
        if !self.queue.is_empty() {
            self.poll(poll);
        }
        match (self.frozen, self.queue.front()) {
            (Some(frozen), _) => frozen,
            (None, Some(oldest)) => oldest.seq - 1,
            (None, None) => executed,
        }
    }

    /// A poll without a frame; returns whether another may be worth it.
    #[inline]
    pub(crate) fn poll_idly(&mut self, poll: EventPoll<'_>) -> bool {
        let before = self.queue.len();
        if before > 0 {
            self.poll(poll);
        }
        self.queue.len() < before
    }

    fn freeze(&mut self) {
        self.frozen = self.queue.front().map(|oldest| oldest.seq - 1);
        self.queue = VecDeque::new();
    }

    fn poll(&mut self, poll: EventPoll<'_>) {
        if poll.now < self.pause_until || poll.event_lifetime.captures.load(Ordering::SeqCst) > 0 {
            return;
        }
        // Held by a thread that destroys: the next frame will do.
        let Ok(_all_are_alive) = poll.event_lifetime.events.try_read() else {
            return;
        };
        if poll.event_lifetime.contexts_ended.load(Ordering::Relaxed) != self.contexts_ended {
            // Which events went with the context is not known, and asking about one that did is not
            // safe.
            self.freeze();
            return;
        }
        let Some(query) = poll.query else {
            self.freeze();
            return;
        };
        for _ in 0..POLLS {
            let Some(oldest) = self.queue.front() else {
                return;
            };
            let status = match poll.handles.real(Kind::Event, oldest.event) {
                // SAFETY: an event of the client, which nobody destroys meanwhile.
                Ok(real) => unsafe { query(real as CUevent) },
                // Destroyed, so that nobody asks.
                Err(_) => CUDA_SUCCESS,
            };
            match status {
                // Driver 580.159 calls the event of a capture that is over invalid.
                CUDA_SUCCESS | CUDA_ERROR_CAPTURED_EVENT | CUDA_ERROR_INVALID_VALUE => {
                    self.queue.pop_front();
                }
                CUDA_ERROR_NOT_READY => {
                    self.pause_until = poll.now + PAUSE_NS;
                    return;
                }
                // The client has to see it for itself.
                _ => return self.freeze(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Events from this one on are not complete. A test has its own range of events.
    static UNTIL: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];

    unsafe extern "C" fn query(event: CUevent) -> CUresult {
        let (test, number) = ((event as u64 >> 32) as usize, event as u64 & 0xffff_ffff);
        match UNTIL[test].load(Ordering::SeqCst) {
            u64::MAX => 700,
            until if number < until => CUDA_SUCCESS,
            _ => CUDA_ERROR_NOT_READY,
        }
    }

    struct World {
        test: u64,
        event_lifetime: EventLifetimeLock,
        handles: Handles,
        now: u64,
    }

    impl World {
        /// With the events 1 to 20.
        fn new(test: u64) -> Self {
            let handles = Handles::default();
            for number in 1..=20 {
                let real = (test << 32 | number) as *mut std::ffi::c_void;
                handles.insert(Kind::Event, Kind::Event.handle(number), real);
            }
            Self {
                test,
                event_lifetime: EventLifetimeLock::default(),
                handles,
                now: 0,
            }
        }

        fn complete_below(&self, number: u64) {
            UNTIL[self.test as usize].store(number, Ordering::SeqCst);
        }

        /// A later time.
        fn poll(&mut self) -> EventPoll<'_> {
            self.now += 2 * PAUSE_NS;
            EventPoll {
                event_lifetime: &self.event_lifetime,
                handles: &self.handles,
                query: Some(query),
                now: self.now,
            }
        }
    }

    /// Frame 10 x n records event n.
    fn records(world: &mut World, events: std::ops::RangeInclusive<u64>) -> Records {
        let mut records = Records::default();
        for number in events {
            records.add(world.poll(), 10 * number, Kind::Event.handle(number));
        }
        records
    }

    #[test]
    fn the_mark_stops_before_the_first_record_that_is_not_complete() {
        let mut world = World::new(0);
        let mut records = records(&mut world, 1..=5);
        world.complete_below(1);
        assert_eq!(records.watermark(world.poll(), 55), 9);
        world.complete_below(3);
        assert_eq!(records.watermark(world.poll(), 56), 29);
        // Destroyed meanwhile: nobody asks about it.
        world.handles.remove(Kind::Event, Kind::Event.handle(3));
        assert_eq!(records.watermark(world.poll(), 57), 39);
        world.complete_below(100);
        assert_eq!(records.watermark(world.poll(), 58), 58);
    }

    #[test]
    fn no_event_is_looked_at_during_a_capture_and_none_twice_in_a_moment() {
        let mut world = World::new(1);
        let mut records = records(&mut world, 1..=2);
        world.complete_below(100);
        world.event_lifetime.capture_begins();
        assert_eq!(records.watermark(world.poll(), 30), 9);
        world.event_lifetime.capture_ended();
        world.complete_below(2);
        let poll = world.poll();
        assert_eq!(records.watermark(poll, 31), 19);
        UNTIL[1].store(100, Ordering::SeqCst);
        assert_eq!(records.watermark(poll, 32), 19);
        assert_eq!(records.watermark(world.poll(), 33), 33);
        // A client that ends what never began.
        world.event_lifetime.capture_ended();
        assert_eq!(world.event_lifetime.captures.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn with_a_context_or_an_error_knowledge_ends() {
        let mut world = World::new(2);
        world.complete_below(100);
        let mut empty = Records::default();
        world.event_lifetime.context_ended(None);
        assert_eq!(empty.watermark(world.poll(), 7), 7);
        let mut ended = records(&mut world, 1..=2);
        drop(world.event_lifetime.destroying());
        world.event_lifetime.context_ended(None);
        assert_eq!(ended.watermark(world.poll(), 30), 9);
        ended.add(world.poll(), 31, Kind::Event.handle(3));
        assert_eq!(ended.watermark(world.poll(), 40), 9);
        let mut failed = records(&mut world, 4..=5);
        world.complete_below(u64::MAX);
        assert_eq!(failed.watermark(world.poll(), 60), 39);
        world.complete_below(100);
        assert_eq!(failed.watermark(world.poll(), 61), 39);
    }

    #[test]
    fn it_is_known_which_of_the_last_contexts_have_ended() {
        let lifetime = EventLifetimeLock::default();
        assert_eq!(lifetime.ended_since(0), Some(vec![]));
        lifetime.context_ended(None);
        assert_eq!(lifetime.ended_since(0), None);
        for context in 0..ENDED as u32 {
            lifetime.context_ended(Some(context));
        }
        let all: Vec<_> = (0..ENDED as u32).collect();
        assert_eq!(lifetime.ended_since(1), Some(all));
        assert_eq!(lifetime.ended_since(63), Some(vec![62, 63]));
        assert_eq!(lifetime.ended_since(65), Some(vec![]));
        lifetime.context_ended(Some(7));
        assert_eq!(lifetime.ended_since(1), None, "too many");
    }

    #[test]
    fn while_an_event_is_destroyed_nobody_looks() {
        let mut world = World::new(3);
        let mut records = records(&mut world, 1..=1);
        world.complete_below(100);
        let event_lifetime = EventLifetimeLock::default();
        let destroying = event_lifetime.destroying();
        let mut poll = world.poll();
        poll.event_lifetime = &event_lifetime;
        assert_eq!(records.watermark(poll, 20), 9);
        drop(destroying);
        assert_eq!(records.watermark(poll, 21), 21);
    }
}
