//! How long a GPU works on something, by an event of the driver before it and one behind it in its stream
//! (`cuEventRecord`, `cuEventElapsedTime`): for the library that traces a program, and for the server.
//!
//! Nothing here waits for the GPU: what has ended is looked up now and then.

mod anchor;
mod context;

pub use anchor::Anchor;
pub use context::{Context, Pending, Queue};

/// What a handle of an event or a stream is here.
pub type Handle = u64;

/// The driver's functions for events.
pub trait Driver {
    /// An event of the current context.
    fn create_event(&self) -> Option<Handle>;
    /// Ends an event that nobody uses any more.
    fn destroy_event(&self, event: Handle);
    /// A stream of the current context that waits for no other.
    fn create_stream(&self) -> Option<Handle>;
    /// Ends such a stream.
    fn destroy_stream(&self, stream: Handle);
    /// Whether the event could be recorded in the stream.
    fn record(&self, event: Handle, stream: Handle) -> bool;
    /// Whether the work before an event is done; `None` if that will never be known.
    fn is_done(&self, event: Handle) -> Option<bool>;
    /// Nanoseconds between two events that have happened.
    fn nanos(&self, from: Handle, to: Handle) -> Option<f64>;
}

/// A clock of the host, by whatever it counts.
pub trait Clock: Copy {
    /// What it counts now.
    fn now(self) -> u64;
    /// Nanoseconds in which it counts so far.
    fn nanos(self, counts: u64) -> u64;
    /// How far it counts in so many nanoseconds.
    fn counts(self, nanos: u64) -> u64;
}

/// When the GPU worked on something, by the host's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// When it began.
    pub start: u64,
    /// When it was done.
    pub end: u64,
    /// By how much both may be wrong, either way.
    pub off_ns: u64,
}

/// Calls `each` with the work that has ended, oldest first of each stream; without a reading of the clocks it stays. The events
/// that can be used again.
pub fn ended<T: Copy>(
    driver: &impl Driver,
    clock: impl Clock,
    (anchor, queues): (&mut Anchor, &mut [Queue<T>]),
    patience_ns: u64,
    mut each: impl FnMut(T, Span),
) -> Vec<Handle> {
    let mut free = Vec::new();
    if queues.iter().all(Queue::is_empty) {
        return free;
    }
    anchor.renew(driver, clock, patience_ns);
    for queue in queues.iter_mut().filter(|_| anchor.is_read()) {
        while let Some(pending) = queue.ended(driver, &mut free) {
            free.extend([pending.begun, pending.ended]);
            let at = |event| anchor.when(driver, clock, event);
            if let (Some(start), Some(end)) = (at(pending.begun), at(pending.ended)) {
                let off_ns = anchor.off_ns();
                each(
                    pending.of,
                    Span {
                        start,
                        end: end.max(start),
                        off_ns,
                    },
                );
            }
        }
    }
    free
}

#[cfg(test)]
mod tests;
