//! What a lane counts for its session: together where calls follow on each other, as each addition
//! to what threads share costs as much as decoding a launch.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use gtrace_protocol::{Header, OpId};

use super::handles::Spread;
use crate::names;
use crate::stats::{OpCounts, SessionCounts};

/// Operations whose counts a lane remembers: more than there are.
const OPS_MAX: usize = 4096;
/// Frames after which a lane that is never idle says what it has counted.
const ACKNOWLEDGE_EVERY: u64 = 256;

/// A call that was made.
pub(super) struct Counted {
    pub(super) op: OpId,
    /// From its frame's arrival to its start.
    pub(super) queue_ns: u64,
    /// In the driver.
    pub(super) driver_ns: u64,
    /// Of its bulk part.
    pub(super) bytes: usize,
    pub(super) failed: bool,
}

#[derive(Clone)]
struct Operation {
    op: OpId,
    counts: Arc<OpCounts>,
    /// Whether there is such an operation.
    known: bool,
}

/// Counts of a lane that its session does not have yet.
#[derive(Default)]
pub(super) struct Tally {
    frames: u64,
    bytes_in: u64,
    /// The operation that the sums are of.
    current: Option<Operation>,
    queue_ns: u64,
    driver_ns: u64,
    operations: HashMap<OpId, Operation, BuildHasherDefault<Spread>>,
}

impl Tally {
    /// Counts a frame.
    #[inline]
    pub(super) fn frame(&mut self, header: &Header) {
        self.frames += 1;
        self.bytes_in += u64::from(header.length);
    }

    /// Counts a call.
    #[inline]
    pub(super) fn call(&mut self, session: &SessionCounts, call: &Counted) {
        if self.frames >= ACKNOWLEDGE_EVERY || self.current.as_ref().is_none_or(|c| c.op != call.op)
        {
            self.change(session, call.op);
        }
        if let Some(current) = &self.current {
            self.queue_ns += call.queue_ns;
            self.driver_ns += call.driver_ns;
            current.counts.place(call.queue_ns, call.driver_ns);
            if call.bytes > 0 || call.failed {
                current.counts.moved(call.bytes, call.failed);
            }
            if !current.known {
                session.unknown.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    fn change(&mut self, session: &SessionCounts, op: OpId) {
        self.report(session);
        if self.operations.len() > OPS_MAX {
            self.operations.clear();
        }
        let found = self.operations.entry(op).or_insert_with(|| {
            // An operation that does not exist here has no line of its own: a client can make up any
            // number of them.
            let known = names::is_known(op);
            let counts = session.op(if known { op } else { 0 });
            Operation { op, counts, known }
        });
        self.current = Some(found.clone());
    }

    /// Adds the counts to the session.
    pub(super) fn report(&mut self, session: &SessionCounts) {
        if self.frames > 0 {
            session.frames.fetch_add(self.frames, Ordering::Relaxed);
            session.bytes_in.fetch_add(self.bytes_in, Ordering::Relaxed);
            (self.frames, self.bytes_in) = (0, 0);
        }
        if let Some(current) = &self.current
            && (self.queue_ns | self.driver_ns) > 0
        {
            current.counts.spent(self.queue_ns, self.driver_ns);
            (self.queue_ns, self.driver_ns) = (0, 0);
        }
    }
}
