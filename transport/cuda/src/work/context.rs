//! What is kept for a context: events that can be used again, and work whose end has not been seen.

use std::collections::VecDeque;
use std::ffi::c_int;

use super::{Anchor, Driver, Handle};

/// Most events of a context.
const MAX_EVENTS: usize = 8192;

/// Work between two events of a stream.
#[derive(Clone, Copy, Debug)]
pub struct Pending<T> {
    /// Lies before it.
    pub begun: Handle,
    /// Lies behind it.
    pub ended: Handle,
    /// What the host's clock counted when the event before it was recorded.
    pub given: u64,
    /// Which it is.
    pub of: T,
}

/// Work of a stream, oldest first.
#[derive(Debug)]
pub struct Queue<T> {
    stream: Handle,
    pending: VecDeque<Pending<T>>,
}

/// See the module.
#[derive(Debug)]
pub struct Context<T> {
    /// How it is known.
    pub handle: Handle,
    /// Its device.
    pub device: c_int,
    /// What times are distinguished from.
    pub anchor: Anchor,
    free: Vec<Handle>,
    made: usize,
    queues: Vec<Queue<T>>,
}

impl<T: Copy> Context<T> {
    /// For the current context, `handle`, of `device`; none if the driver has no room for an [`Anchor`].
    pub fn new(driver: &impl Driver, handle: Handle, device: c_int) -> Option<Self> {
        Some(Self {
            handle,
            device,
            anchor: Anchor::new(driver)?,
            free: Vec::new(),
            made: 0,
            queues: Vec::new(),
        })
    }

    /// An event that is free.
    ///
    /// # Errors
    ///
    /// There is none; whether one may be made.
    pub fn event(&mut self) -> Result<Handle, bool> {
        self.free.pop().ok_or_else(|| {
            let room = self.made < MAX_EVENTS;
            self.made += usize::from(room);
            room
        })
    }

    /// One that was allowed could not be made.
    pub fn not_made(&mut self) {
        self.made = self.made.saturating_sub(1);
    }

    /// Events that are used no more.
    pub fn give_back(&mut self, events: &[Handle]) {
        self.free.extend(events);
    }

    /// Keeps work until its end is seen.
    pub fn push(&mut self, stream: Handle, pending: Pending<T>) {
        match self.queues.iter_mut().find(|queue| queue.stream == stream) {
            Some(queue) => queue.pending.push_back(pending),
            None => self.queues.push(Queue {
                stream,
                pending: VecDeque::from([pending]),
            }),
        }
    }

    /// All work, to be looked at without a lock.
    pub fn take(&mut self) -> Vec<Queue<T>> {
        std::mem::take(&mut self.queues)
    }

    /// What has not ended is put back, in front of what came meanwhile.
    pub fn put_back(&mut self, queues: Vec<Queue<T>>) {
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
    pub fn end(self, driver: &impl Driver) {
        let pending = self.queues.into_iter().flat_map(|queue| queue.pending);
        let pending = pending.flat_map(|pending| [pending.begun, pending.ended]);
        for event in self.free.into_iter().chain(pending) {
            driver.destroy_event(event);
        }
        self.anchor.end(driver);
    }
}

impl<T: Copy> Queue<T> {
    /// The oldest work, if it has ended; what will never be known to have ended is dropped into `lost`.
    pub fn ended(&mut self, driver: &impl Driver, lost: &mut Vec<Handle>) -> Option<Pending<T>> {
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
