//! The writing side: one thread, in its own memory.

// Reads and writes the layout in mapped memory.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use gtrace_abi as hist;

use crate::clock::Scale;
use crate::layout::{Event, Head, MAGIC, RING_AT, STATS_AT, Stat, VERSION, length};
use crate::{FUNCTIONS, functions, is_success};

/// What is reported about a call besides its time.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Details {
    /// [`crate::kind`].
    pub kind: u8,
    /// See [`crate::kind`].
    pub extra: u32,
    /// See [`crate::kind`].
    pub words: [u64; 4],
    /// Bytes that are counted for the function.
    pub bytes: u64,
}

/// What the GPU did for a call; times in ticks.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// When it began.
    pub start: u64,
    /// When it ended.
    pub end: u64,
    /// The thread that called.
    pub thread: u32,
    /// The function that was called.
    pub function: u16,
    /// When it was called.
    pub called: u64,
    /// By how much start and end may be off together, nanoseconds.
    pub off_ns: u64,
    /// The call's arguments and result.
    pub details: Details,
}

/// A server's times of a call of this thread; times in ticks, where they do not say otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Served {
    /// The request was sent.
    pub sent: u64,
    /// The answer was there.
    pub answered: u64,
    /// The function that was called.
    pub function: u16,
    /// When it was called.
    pub called: u64,
    /// For how long the request waited in the server.
    pub queue_ns: u64,
    /// How long the server's driver took.
    pub driver_ns: u64,
    /// Answers that the call waited for: the times are their sums. 0: nobody waited, and `sent` and `answered` are
    /// when it was executed.
    pub answers: u32,
    /// By how many nanoseconds these may be off then.
    pub off_ns: u32,
}

/// A call that has begun.
#[derive(Clone, Copy, Debug)]
pub struct Open {
    start: u64,
    outer: (u64, u64),
}

impl Open {
    /// When it began, in ticks.
    pub const fn start(&self) -> u64 {
        self.start
    }
}

/// Records the calls of one thread.
#[derive(Debug)]
pub struct Recorder {
    base: NonNull<u8>,
    scale: Scale,
    capacity: u64,
    thread: Cell<u32>,
    written: Cell<u64>,
    /// The reader's position when it was last read.
    read: Cell<u64>,
}

impl Recorder {
    /// Begins a recording in fresh memory.
    ///
    /// # Safety
    ///
    /// `base` is at a page's beginning, has [`length`]`(capacity)` bytes, all zero, that stay mapped, and
    /// only this recorder writes there (a reader the one word that is its own). `capacity` is 0 or a power
    /// of two.
    pub unsafe fn new(
        base: NonNull<u8>,
        capacity: u32,
        scale: Scale,
        (pid, process): (u32, u64),
    ) -> Self {
        let head = base.cast::<Head>().as_ptr();
        // SAFETY: the caller's promise; the reader reads these words once it has the memory.
        unsafe {
            (*head).magic = MAGIC;
            (*head).version = VERSION;
            (*head).functions = FUNCTIONS as u32;
            (*head).names = functions::hash();
            (*head).capacity = capacity;
            (*head).pid = pid;
            (*head).process = process;
        }
        Self {
            base,
            scale,
            capacity: u64::from(capacity),
            thread: Cell::new(0),
            written: Cell::new(0),
            read: Cell::new(0),
        }
    }

    /// Length of the memory.
    pub fn length(&self) -> usize {
        length(self.capacity as u32)
    }

    /// Where the memory lies.
    pub fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Another thread writes here from now on; 0: none.
    pub fn set_thread(&self, thread: u32) {
        self.thread.set(thread);
        // A thread that ended within a call has left it there.
        self.head().function.store(0, Ordering::Relaxed);
        self.thread_word().store(thread, Ordering::Relaxed);
    }

    /// The thread that writes here.
    pub fn thread(&self) -> u32 {
        self.thread.get()
    }

    /// A call has given the GPU work, whose time is to be reported.
    pub fn submitted(&self) {
        add(&self.head().submitted, 1);
    }

    /// Reports what the GPU did for a call of this or another thread. Where the ring is full it is missing, as other
    /// work whose end was not seen.
    pub fn work(&self, work: &Work) {
        let [first, stream, ..] = work.details.words;
        let event = Event {
            start: work.start,
            end: work.end,
            thread: work.thread,
            code: 0,
            function: work.function,
            kind: crate::kind::WORK,
            unused: 0,
            extra: u32::from(work.details.kind),
            words: [first, stream, work.called, work.off_ns],
        };
        if self.capacity != 0 {
            self.write(event);
        }
    }

    /// Records a server's times of a call of this thread, if there is room.
    pub fn served(&self, served: &Served) {
        if self.capacity == 0 {
            return;
        }
        self.write(Event {
            start: served.sent,
            end: served.answered,
            thread: self.thread.get(),
            code: 0,
            function: served.function,
            kind: crate::kind::SERVED,
            unused: 0,
            extra: served.off_ns,
            words: [
                served.queue_ns,
                served.driver_ns,
                served.called,
                served.answers.into(),
            ],
        });
    }

    fn thread_word(&self) -> &AtomicU32 {
        &self.head().thread
    }

    #[inline(always)]
    fn head(&self) -> &Head {
        // SAFETY: the promise of `new`; what others write there is atomic.
        unsafe { self.base.cast::<Head>().as_ref() }
    }

    /// `function` is about to be called.
    #[inline(always)]
    pub fn begin(&self, function: u16) -> Open {
        let head = self.head();
        let outer = (
            head.function.load(Ordering::Relaxed),
            head.since.load(Ordering::Relaxed),
        );
        let start = self.scale.ticks();
        head.since.store(start, Ordering::Relaxed);
        head.function
            .store(u64::from(function) + 1, Ordering::Relaxed);
        Open { start, outer }
    }

    /// The call of `function`, below [`FUNCTIONS`], has ended.
    #[inline(always)]
    pub fn end(&self, open: Open, function: u16, code: u32, details: impl FnOnce() -> Details) {
        let end = self.scale.ticks();
        self.keep(open, function, code, &details(), end);
    }

    #[inline(never)]
    fn keep(&self, open: Open, function: u16, code: u32, details: &Details, end: u64) {
        let head = self.head();
        let ns = self.scale.nanos(end.saturating_sub(open.start));
        if usize::from(function) < FUNCTIONS {
            if let Some((word, bit)) = head.called(usize::from(function))
                && word.load(Ordering::Relaxed) & bit == 0
            {
                // Not `add`: a signal handler may have its first call of another function here.
                word.fetch_or(bit, Ordering::Relaxed);
            }
            let at = STATS_AT + usize::from(function) * size_of::<Stat>();
            // SAFETY: within the memory, as the function is one.
            let stat = unsafe { self.base.add(at).cast::<Stat>().as_ref() };
            add(&stat.buckets[hist::bucket_of(ns)], 1);
            add(&stat.sum_ns, ns);
            if ns > stat.max_ns.load(Ordering::Relaxed) {
                stat.max_ns.store(ns, Ordering::Relaxed);
            }
            if details.bytes != 0 {
                add(&stat.bytes, details.bytes);
            }
            if !is_success(code) {
                add(&stat.errors, 1);
            }
        }
        if self.capacity != 0 {
            let kept = self.write(Event {
                start: open.start,
                end,
                thread: self.thread.get(),
                code,
                function,
                kind: details.kind,
                unused: 0,
                extra: details.extra,
                words: details.words,
            });
            if !kept {
                add(&head.lost, 1);
            }
        }
        let (function, since) = open.outer;
        head.since.store(since, Ordering::Relaxed);
        head.function.store(function, Ordering::Relaxed);
    }

    /// Whether there was room.
    #[inline(always)]
    fn write(&self, event: Event) -> bool {
        let head = self.head();
        let written = self.written.get();
        if written.wrapping_sub(self.read.get()) >= self.capacity {
            // Acquire: what the reader has taken, it has taken before its word says so.
            self.read.set(head.read.load(Ordering::Acquire));
            if written.wrapping_sub(self.read.get()) >= self.capacity {
                return false;
            }
        }
        let at = RING_AT + (written & (self.capacity - 1)) as usize * size_of::<Event>();
        // SAFETY: within the ring, and a place that the reader has left.
        unsafe { self.base.add(at).cast::<Event>().write(event) };
        self.written.set(written + 1);
        head.written.store(written + 1, Ordering::Release);
        true
    }
}

/// Adds where nobody else does.
#[inline(always)]
fn add(to: &AtomicU64, value: u64) {
    let sum = to.load(Ordering::Relaxed).wrapping_add(value);
    to.store(sum, Ordering::Relaxed);
}
