//! How long a GPU works on something, by an event of the driver before it and one behind it in its stream
//! (`cuEventRecord`, `cuEventElapsedTime`): for the library that traces a program, and for the server.
//!
//! Nothing here waits for the GPU: what has ended is looked up now and then.

mod anchor;
mod context;

pub use anchor::Anchor;
pub use context::{Context, Pending, Queue};

use self::anchor::Reading;

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

/// Calls `each` with the work that has ended, oldest first of each stream. The events that can be used again.
///
/// Where the GPU has never answered soon enough for a reading of both clocks, as on a host with too much to do, the work itself
/// has to do: its times are then known less well, and that is reported.
pub fn ended<T: Copy>(
    driver: &impl Driver,
    clock: impl Clock,
    (anchor, queues): (&mut Anchor, &mut [Queue<T>]),
    mut each: impl FnMut(T, Span),
) -> Vec<Handle> {
    let mut free = Vec::new();
    let mut done = Vec::new();
    for queue in queues {
        while let Some(work) = queue.ended(driver, &mut free) {
            done.push(work);
        }
    }
    if done.is_empty() {
        return free;
    }
    let now = clock.now();
    let reading = anchor
        .renew(driver, clock)
        .or_else(|| Reading::of_work(driver, clock, &done, now));
    for work in done {
        free.extend([work.begun, work.ended]);
        let at = |event| reading?.when(driver, clock, event);
        if let (Some(reading), Some(start), Some(end)) = (reading, at(work.begun), at(work.ended)) {
            each(
                work.of,
                Span {
                    start,
                    end: end.max(start),
                    off_ns: reading.off_ns,
                },
            );
        }
    }
    free
}

#[cfg(test)]
mod tests;
