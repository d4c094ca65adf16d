//! Copies between page-locked memory and the connection, beside threads whose launches have that memory mapped: from then on
//! its pages come and go by faults. A copy that meets one with its lane halted would keep the others from what they need to
//! resolve it, and system calls fail on them where only faults of the program are resolved. So such a copy holds the memory,
//! and whoever maps it waits for that.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::{contains, in_use, may_be_reached};
use crate::state::lock;

/// Addresses, from the first to the one behind the last.
type Span = (u64, u64);

struct Spans {
    /// Memory that copies hold.
    held: Vec<Span>,
    /// Memory that is being mapped.
    changing: Vec<Span>,
}

static SPANS: Mutex<Spans> = Mutex::new(Spans {
    held: Vec::new(),
    changing: Vec::new(),
});
static CHANGED: Condvar = Condvar::new();

fn overlap(all: &[Span], (from, end): Span) -> bool {
    all.iter().any(|other| from < other.1 && other.0 < end)
}

fn wait<'a>(
    mut spans: MutexGuard<'a, Spans>,
    stands_in_the_way: impl Fn(&Spans) -> bool,
) -> MutexGuard<'a, Spans> {
    while stands_in_the_way(&spans) {
        spans = CHANGED.wait(spans).unwrap_or_else(PoisonError::into_inner);
    }
    spans
}

fn take_out(all: &mut Vec<Span>, span: Span) {
    if let Some(at) = all.iter().position(|other| *other == span) {
        all.swap_remove(at);
    }
    CHANGED.notify_all();
}

/// While this is there, nobody maps the memory. Of memory that cannot be mapped it is none.
#[must_use]
#[derive(Debug, Default)]
pub(crate) struct Held(Option<Span>);

impl Drop for Held {
    #[inline]
    fn drop(&mut self) {
        if let Some(span) = self.0 {
            take_out(&mut lock(&SPANS).held, span);
        }
    }
}

/// A copy is about to read or write `len` bytes of the program at `address`. `None` if the device has them too.
#[inline]
pub(crate) fn hold(address: u64, len: u64) -> Option<Held> {
    let last = address.saturating_add(len.max(1) - 1);
    if may_be_reached(address) || may_be_reached(last) {
        return hold_span((address, last.saturating_add(1)));
    }
    (!in_use() || !contains(address)).then_some(Held(None))
}

fn hold_span(span: Span) -> Option<Held> {
    {
        let mut spans = wait(lock(&SPANS), |spans| overlap(&spans.changing, span));
        spans.held.push(span);
    }
    // Given back where it is of no use.
    let held = Held(Some(span));
    (!in_use() || !contains(span.0)).then_some(held)
}

/// While this is there, a copy that wants to hold the memory waits.
#[must_use]
#[derive(Debug)]
pub(super) struct Changing(Span);

impl Drop for Changing {
    fn drop(&mut self) {
        take_out(&mut lock(&SPANS).changing, self.0);
    }
}

/// `len` bytes from `base` on are about to be mapped: waits until no copy holds any of them.
pub(super) fn change(base: u64, len: u64) -> Changing {
    let span = (base, base.saturating_add(len));
    let mut spans = lock(&SPANS);
    spans.changing.push(span);
    drop(wait(spans, |spans| overlap(&spans.held, span)));
    Changing(span)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn memory_that_a_copy_holds_is_mapped_afterwards() {
        static MAPPED: AtomicBool = AtomicBool::new(false);
        let copy = hold_span((0x1_0000, 0x1_0010)).unwrap();
        let beside = hold_span((0x1_0008, 0x1_0020)).unwrap();
        let mapper = thread::spawn(|| {
            let changing = change(0x1_0000, 0x1000);
            MAPPED.store(true, Ordering::SeqCst);
            drop(changing);
        });
        // Other memory is nobody's business.
        drop(change(0x2_0000, 0x1000));
        drop(beside);
        while !overlap(&lock(&SPANS).changing, (0x1_0000, 0x1_0001)) {
            thread::yield_now();
        }
        assert!(!MAPPED.load(Ordering::SeqCst));
        drop(copy);
        mapper.join().unwrap();
        drop(hold_span((0x1_0000, 0x1_0010)).unwrap());
        let spans = lock(&SPANS);
        assert!(spans.held.is_empty() && spans.changing.is_empty());
    }
}
