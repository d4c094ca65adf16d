//! Counts and times of calls, always on, written when the process ends if GTRACE_STATS says where.

// Leaked records behind atomic pointers, and atexit(3).
#![allow(unsafe_code)]

use std::ptr;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering::Relaxed};

use gtrace_abi::{BUCKETS, bucket_of};
use gtrace_protocol::OpId;

use crate::session::Session;
use crate::{answers, clock};

/// Parts of a call's time.
pub(crate) const PARTS: [&str; 5] = ["client", "wire", "queue", "driver", "wake"];

/// Times of one part.
pub(crate) struct Part {
    /// Sum, ns.
    pub(crate) sum: AtomicU64,
    /// Longest, ns.
    pub(crate) max: AtomicU64,
    /// Counts by bucket of gtrace-abi.
    pub(crate) buckets: [AtomicU32; BUCKETS],
}

impl Part {
    const fn new() -> Self {
        Self {
            sum: AtomicU64::new(0),
            max: AtomicU64::new(0),
            buckets: [const { AtomicU32::new(0) }; BUCKETS],
        }
    }

    #[inline]
    fn add(&self, ns: u64) {
        self.sum.fetch_add(ns, Relaxed);
        self.place(ns, 1);
    }

    /// As [`Part::add`] so many times, for a caller that adds to the sum itself.
    #[inline]
    fn place(&self, ns: u64, times: u32) {
        if ns > self.max.load(Relaxed) {
            self.max.fetch_max(ns, Relaxed);
        }
        if let Some(bucket) = self.buckets.get(bucket_of(ns)) {
            bucket.fetch_add(times, Relaxed);
        }
    }
}

/// What is counted of an operation.
pub(crate) struct Operation {
    /// Its id.
    pub(crate) op: OpId,
    /// Calls that were not awaited.
    pub(crate) one_way: AtomicU64,
    /// Calls that were.
    pub(crate) waiting: AtomicU64,
    /// Bytes sent, headers aside.
    pub(crate) bytes_out: AtomicU64,
    /// Bytes received, headers aside.
    pub(crate) bytes_in: AtomicU64,
    parts: [AtomicPtr<Part>; PARTS.len()],
}

impl Operation {
    /// The times of a part, if there are any.
    pub(crate) fn part(&self, at: usize) -> Option<&'static Part> {
        // SAFETY: null, or leaked by `time`.
        unsafe {
            self.parts
                .get(at)?
                .load(std::sync::atomic::Ordering::Acquire)
                .as_ref()
        }
    }

    #[inline]
    fn time(&self, at: usize, ns: u64) {
        if let Some(part) = self.part(at).or_else(|| self.first_time(at)) {
            part.add(ns);
        }
    }

    #[cold]
    fn first_time(&self, at: usize) -> Option<&'static Part> {
        use std::sync::atomic::Ordering::{AcqRel, Acquire};
        let place = self.parts.get(at)?;
        let part = Box::into_raw(Box::new(Part::new()));
        if place
            .compare_exchange(ptr::null_mut(), part, AcqRel, Acquire)
            .is_err()
        {
            // SAFETY: made above, and nobody else has seen it.
            drop(unsafe { Box::from_raw(part) });
        }
        self.part(at)
    }
}

/// Places for operations: more than there are, so that searching ends soon.
const PLACES: usize = 2048;
static OPERATIONS: [AtomicPtr<Operation>; PLACES] =
    [const { AtomicPtr::new(ptr::null_mut()) }; PLACES];

/// The record of an operation; `None` with the table full.
#[inline]
fn operation(op: OpId) -> Option<&'static Operation> {
    use std::sync::atomic::Ordering::{AcqRel, Acquire};
    for at in 0..PLACES {
        let place = &OPERATIONS[(op as usize + at) % PLACES];
        // SAFETY: null, or leaked below.
        let found = match unsafe { place.load(Acquire).as_ref() } {
            Some(found) => found,
            None => {
                let new = Box::into_raw(Box::new(Operation {
                    op,
                    one_way: AtomicU64::new(0),
                    waiting: AtomicU64::new(0),
                    bytes_out: AtomicU64::new(0),
                    bytes_in: AtomicU64::new(0),
                    parts: [const { AtomicPtr::new(ptr::null_mut()) }; PARTS.len()],
                }));
                match place.compare_exchange(ptr::null_mut(), new, AcqRel, Acquire) {
                    // SAFETY: leaked.
                    Ok(_) => unsafe { &*new },
                    Err(other) => {
                        // SAFETY: `new` was made above and seen by nobody; `other` is leaked.
                        unsafe {
                            drop(Box::from_raw(new));
                            &*other
                        }
                    }
                }
            }
        };
        if found.op == op {
            return Some(found);
        }
    }
    None
}

/// All operations that were called.
pub(crate) fn operations() -> impl Iterator<Item = &'static Operation> {
    OPERATIONS.iter().filter_map(|place| {
        // SAFETY: null, or leaked.
        unsafe { place.load(std::sync::atomic::Ordering::Acquire).as_ref() }
    })
}

/// One of so many calls that are not awaited and send nothing by themselves is timed: a clock costs
/// such a call a tenth of its time.
const TIMED: u32 = 4;

/// Calls of one operation that were not awaited, of one lane: counted together, as each atomic
/// addition costs as much as copying the arguments of a launch.
#[derive(Default)]
pub(crate) struct Left {
    operation: Option<&'static Operation>,
    calls: u64,
    bytes: u64,
    /// Sum of the times that were placed.
    ns: u64,
    /// Calls that were not timed, and took as long as the last that was and sent nothing either.
    untimed: u32,
    usual_ns: u64,
}

impl Left {
    /// Counts a call that sent `bytes` without the header. True if it is to be timed.
    #[inline]
    pub(crate) fn count(&mut self, op: OpId, bytes: usize) -> bool {
        let other = self.operation.is_none_or(|operation| operation.op != op);
        if other {
            self.change(op);
        }
        self.calls += 1;
        self.bytes += bytes as u64;
        self.untimed += 1;
        other || self.untimed >= TIMED
    }

    /// The last call took `ns`; whether it has sent frames.
    #[inline]
    pub(crate) fn time(&mut self, ns: u64, sent: bool) {
        if sent {
            self.untimed = self.untimed.saturating_sub(1);
            self.place(ns, 1);
        } else {
            self.usual_ns = ns;
            self.place_usual();
        }
    }

    fn place_usual(&mut self) {
        let untimed = std::mem::take(&mut self.untimed);
        self.place(self.usual_ns, untimed);
    }

    #[inline]
    fn place(&mut self, ns: u64, times: u32) {
        self.ns += ns * u64::from(times);
        if let Some(operation) = self.operation
            && let Some(part) = operation.part(0).or_else(|| operation.first_time(0))
        {
            part.place(ns, times);
        }
    }

    #[cold]
    fn change(&mut self, op: OpId) {
        self.publish();
        self.operation = operation(op);
        self.usual_ns = 0;
    }

    /// Adds what was counted to the counts of the process.
    pub(crate) fn publish(&mut self) {
        if self.untimed > 0 {
            self.place_usual();
        }
        if let Some(operation) = self.operation
            && self.calls > 0
        {
            operation.one_way.fetch_add(self.calls, Relaxed);
            operation.bytes_out.fetch_add(self.bytes, Relaxed);
            if let Some(part) = operation.part(0) {
                part.sum.fetch_add(self.ns, Relaxed);
            }
        }
        (self.calls, self.bytes, self.ns) = (0, 0, 0);
    }
}

/// An awaited call; times in ns.
pub(crate) struct Answered {
    pub(crate) op: OpId,
    /// Its answer came behind that of another call, and was not waited for by itself.
    pub(crate) behind: bool,
    /// Begin of the program's call.
    pub(crate) began: u64,
    /// The request was handed to the link.
    pub(crate) sent: u64,
    /// The link had the answer.
    pub(crate) seen: u64,
    /// From the request's arrival to the call's begin, as the server says.
    pub(crate) queue: u64,
    /// In the driver, as the server says.
    pub(crate) exec: u64,
    pub(crate) bytes_out: usize,
    pub(crate) bytes_in: usize,
}

/// Counts an awaited call, which ends now.
#[inline]
pub(crate) fn answered(call: &Answered) {
    if let Some(operation) = operation(call.op) {
        let count = match call.behind {
            true => &operation.one_way,
            false => &operation.waiting,
        };
        count.fetch_add(1, Relaxed);
        operation
            .bytes_out
            .fetch_add(call.bytes_out as u64, Relaxed);
        operation.bytes_in.fetch_add(call.bytes_in as u64, Relaxed);
        if call.behind {
            return;
        }
        answers::note(call);
        let round = call.seen.saturating_sub(call.sent);
        let wire = round.saturating_sub(call.queue).saturating_sub(call.exec);
        let wake = clock::now().saturating_sub(call.seen);
        let client = call.sent.saturating_sub(call.began);
        for (at, ns) in [client, wire, call.queue, call.exec, wake]
            .into_iter()
            .enumerate()
        {
            operation.time(at, ns);
        }
    }
}

/// Count of a function that is answered here, linked into a list at its first call.
pub(crate) struct Local {
    /// The function.
    pub(crate) name: &'static str,
    /// Calls.
    pub(crate) count: AtomicU64,
    listed: AtomicBool,
    next: AtomicPtr<Local>,
}

static LOCALS: AtomicPtr<Local> = AtomicPtr::new(ptr::null_mut());

impl Local {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self {
            name,
            count: AtomicU64::new(0),
            listed: AtomicBool::new(false),
            next: AtomicPtr::new(ptr::null_mut()),
        }
    }

    #[inline]
    pub(crate) fn add(&'static self) {
        if self.count.fetch_add(1, Relaxed) == 0 {
            self.list();
        }
    }

    #[cold]
    fn list(&'static self) {
        use std::sync::atomic::Ordering::{AcqRel, Acquire};
        if self.listed.swap(true, AcqRel) {
            return;
        }
        let this = ptr::from_ref(self).cast_mut();
        let mut head = LOCALS.load(Acquire);
        loop {
            self.next.store(head, Relaxed);
            match LOCALS.compare_exchange(head, this, AcqRel, Acquire) {
                Ok(_) => return,
                Err(other) => head = other,
            }
        }
    }
}

/// All functions that were answered here.
pub(crate) fn locals() -> impl Iterator<Item = &'static Local> {
    use std::sync::atomic::Ordering::Acquire;
    // SAFETY: null, or a static.
    let mut at = unsafe { LOCALS.load(Acquire).as_ref() };
    std::iter::from_fn(move || {
        let here = at?;
        // SAFETY: as above.
        at = unsafe { here.next.load(Acquire).as_ref() };
        Some(here)
    })
}

/// Counts a call that is answered here.
macro_rules! local {
    ($name:expr) => {{
        static COUNT: $crate::stats::Local = $crate::stats::Local::new($name);
        COUNT.add();
    }};
}
pub(crate) use local;

/// Functions of the driver that are answered here, and counted. Of its pointers each trusts what CUDA says.
macro_rules! local_functions {
    ($($(#[$meta:meta])* fn $name:ident($session:ident $(, $argument:ident: $type:ty)* $(,)?) $body:block)*) => {$(
        $(#[$meta])*
        #[allow(unused_unsafe, reason = "some are without pointers")]
        pub(crate) unsafe fn $name($($argument: $type),*) -> $crate::entry::Answer {
            let $session = $crate::session::cuda()?;
            $crate::stats::local!(stringify!($name));
            // SAFETY: pointers of the program, by its promise.
            unsafe { $body }
        }
    )*};
}
pub(crate) use local_functions;

static AT_EXIT: Once = Once::new();
static BEGAN: AtomicU64 = AtomicU64::new(0);

/// Has everything sent and counts written when the process ends.
pub(crate) fn begin(_session: &'static Session) {
    AT_EXIT.call_once(|| {
        BEGAN.store(clock::now(), Relaxed);
        // SAFETY: the function is in this object, which is never unloaded while it is registered: the
        // C library calls it before.
        unsafe { libc::atexit(at_exit) };
    });
}

extern "C" fn at_exit() {
    let _ = std::panic::catch_unwind(|| {
        let Some(session) = crate::session::current() else {
            return;
        };
        crate::exit::confirm(session);
        let elapsed = clock::now().saturating_sub(BEGAN.load(Relaxed));
        crate::report::write(session, elapsed);
        crate::exit::be_strict(session);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_split_into_parts() {
        let op = gtrace_protocol::op_id("test of the parts");
        answered(&Answered {
            op,
            behind: false,
            began: 1_000,
            sent: 2_000,
            seen: 12_000,
            queue: 3_000,
            exec: 4_000,
            bytes_out: 8,
            bytes_in: 16,
        });
        let operation = operations().find(|o| o.op == op).unwrap();
        let sums: Vec<u64> = (0..4)
            .map(|at| operation.part(at).unwrap().sum.load(Relaxed))
            .collect();
        assert_eq!(sums, [1_000, 3_000, 3_000, 4_000]);
        assert_eq!(operation.waiting.load(Relaxed), 1);
        assert_eq!(operation.bytes_in.load(Relaxed), 16);
    }

    #[test]
    fn a_call_that_is_left_has_no_other_part() {
        let op = gtrace_protocol::op_id("test of one-way calls");
        let mut left = Left::default();
        // The first is timed, then one of four, and each that sends.
        let mut timed = 0;
        for call in 0..10 {
            let due = left.count(op, 100);
            if call == 5 {
                left.time(9_000, true);
            } else if due {
                left.time(70, false);
                timed += 1;
            }
        }
        assert_eq!(timed, 3);
        left.count(gtrace_protocol::op_id("test of another"), 100);
        let operation = operations().find(|o| o.op == op).unwrap();
        assert_eq!(operation.one_way.load(Relaxed), 10);
        assert_eq!(operation.bytes_out.load(Relaxed), 1000);
        let part = operation.part(0).unwrap();
        assert_eq!(part.sum.load(Relaxed), 9 * 70 + 9_000);
        let placed: u32 = part.buckets.iter().map(|bucket| bucket.load(Relaxed)).sum();
        assert_eq!((placed, part.max.load(Relaxed)), (10, 9_000));
        assert!(operation.part(0).is_some() && operation.part(1).is_none());
    }

    #[test]
    fn local_calls_are_counted_by_name() {
        for _ in 0..3 {
            local!("a function of the test");
        }
        local!("another function of the test");
        let count = |name| {
            locals()
                .filter(|l| l.name == name)
                .map(|l| l.count.load(Relaxed))
                .sum::<u64>()
        };
        assert_eq!(count("a function of the test"), 3);
        assert_eq!(count("another function of the test"), 1);
    }
}
