//! What is kept for a context: events that can be used again, and work whose end has not been seen.

use std::collections::VecDeque;
use std::ffi::c_int;

use super::Submitted;
use super::anchor::Anchor;
use super::driver::{Driver, Handle};

/// Most events of a context.
const MAX_EVENTS: usize = 8192;

/// Work between two events of a stream.
#[derive(Clone, Copy)]
pub(super) struct Pending {
    pub(super) begun: Handle,
    pub(super) ended: Handle,
    pub(super) of: Submitted,
}

/// Work of a stream, oldest first.
pub(super) struct Queue {
    stream: Handle,
    pending: VecDeque<Pending>,
}

/// See the module.
pub(super) struct Context {
    pub(super) handle: Handle,
    pub(super) device: c_int,
    pub(super) anchor: Anchor,
    free: Vec<Handle>,
    made: usize,
    queues: Vec<Queue>,
}

impl Context {
    /// For the current context, `handle`.
    pub(super) fn new(driver: &Driver, handle: Handle) -> Option<Self> {
        Some(Self {
            handle,
            device: driver.device()?,
            anchor: Anchor::new(driver)?,
            free: Vec::new(),
            made: 0,
            queues: Vec::new(),
        })
    }

    /// An event that is free; `Err` with whether one may be made.
    pub(super) fn event(&mut self) -> Result<Handle, bool> {
        self.free.pop().ok_or_else(|| {
            let room = self.made < MAX_EVENTS;
            self.made += usize::from(room);
            room
        })
    }

    /// One that was allowed could not be made.
    pub(super) fn not_made(&mut self) {
        self.made = self.made.saturating_sub(1);
    }

    /// Events that are used no more.
    pub(super) fn give_back(&mut self, events: &[Handle]) {
        self.free.extend(events);
    }

    /// Keeps work until its end is seen.
    pub(super) fn push(&mut self, stream: Handle, pending: Pending) {
        match self.queues.iter_mut().find(|queue| queue.stream == stream) {
            Some(queue) => queue.pending.push_back(pending),
            None => self.queues.push(Queue {
                stream,
                pending: VecDeque::from([pending]),
            }),
        }
    }

    /// All work, to be looked at without a lock.
    pub(super) fn take(&mut self) -> Vec<Queue> {
        std::mem::take(&mut self.queues)
    }

    /// What has not ended is put back, in front of what came meanwhile.
    pub(super) fn put_back(&mut self, queues: Vec<Queue>) {
        for mut queue in queues {
            if queue.pending.is_empty() {
                continue;
            }
            match self.queues.iter_mut().find(|q| q.stream == queue.stream) {
                Some(newer) => {
                    queue.pending.append(&mut newer.pending);
                    newer.pending = queue.pending;
                }
                None => self.queues.push(queue),
            }
        }
    }

    /// Leaves the driver's context as it was.
    pub(super) fn end(self, driver: &Driver) {
        let pending = self.queues.into_iter().flat_map(|queue| queue.pending);
        let pending = pending.flat_map(|pending| [pending.begun, pending.ended]);
        for event in self.free.into_iter().chain(pending) {
            driver.destroy_event(event);
        }
        self.anchor.end(driver);
    }
}

impl Queue {
    /// The oldest work, if it has ended; what will never be known to have ended is dropped into `lost`.
    pub(super) fn ended(&mut self, driver: &Driver, lost: &mut Vec<Handle>) -> Option<Pending> {
        loop {
            let pending = *self.pending.front()?;
            let done = driver.is_done(pending.ended);
            if done == Some(false) {
                return None;
            }
            self.pending.pop_front();
            if done == Some(true) {
                return Some(pending);
            }
            lost.extend([pending.begun, pending.ended]);
        }
    }
}
