//! With a GPU that counts another clock than the host.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use super::{Clock, Context, Driver, Handle, Pending, ended};

const MS: u64 = 1_000_000;
/// The GPU's clock is so far ahead of the host's.
const AHEAD: u64 = 7_000_000_000;
/// What each call of the driver takes.
const CALL: u64 = 100;

/// Work takes as long as was said when it was given; calls take [`CALL`].
#[derive(Default)]
struct Gpu {
    now: Cell<u64>,
    made: Cell<u64>,
    live: Cell<i64>,
    /// When each stream is through.
    busy_until: RefCell<HashMap<Handle, u64>>,
    /// When each event happens.
    happens: RefCell<HashMap<Handle, u64>>,
    /// How many events there may be.
    room: Cell<u64>,
}

impl Gpu {
    fn new() -> Self {
        let gpu = Self::default();
        gpu.now.set(50 * MS);
        gpu.room.set(u64::MAX);
        gpu
    }

    fn call(&self) -> u64 {
        self.now.set(self.now.get() + CALL);
        self.now.get()
    }

    fn work(&self, stream: Handle, takes: u64) {
        let now = self.call();
        let mut streams = self.busy_until.borrow_mut();
        let until = streams.entry(stream).or_default();
        *until = (*until).max(now) + takes;
    }

    fn make(&self) -> Option<Handle> {
        self.call();
        let number = self.made.get() + 1;
        (number <= self.room.get()).then(|| {
            self.made.set(number);
            self.live.set(self.live.get() + 1);
            1000 + number
        })
    }
}

impl Driver for Gpu {
    fn create_event(&self) -> Option<Handle> {
        self.make()
    }

    fn destroy_event(&self, event: Handle) {
        self.live.set(self.live.get() - 1);
        self.happens.borrow_mut().remove(&event);
    }

    fn create_stream(&self) -> Option<Handle> {
        self.make()
    }

    fn destroy_stream(&self, _: Handle) {
        self.live.set(self.live.get() - 1);
    }

    fn record(&self, event: Handle, stream: Handle) -> bool {
        let now = self.call();
        let until = self.busy_until.borrow().get(&stream).copied();
        let at = until.unwrap_or(0).max(now);
        self.happens.borrow_mut().insert(event, at);
        true
    }

    fn is_done(&self, event: Handle) -> Option<bool> {
        let now = self.call();
        self.happens.borrow().get(&event).map(|at| *at <= now)
    }

    fn nanos(&self, from: Handle, to: Handle) -> Option<f64> {
        self.call();
        let happens = self.happens.borrow();
        let by_gpu = |event| Some((happens.get(&event)? + AHEAD) as f64);
        Some(by_gpu(to)? - by_gpu(from)?)
    }
}

impl Clock for &Gpu {
    fn now(self) -> u64 {
        self.now.get()
    }

    fn nanos(self, counts: u64) -> u64 {
        counts
    }

    fn counts(self, nanos: u64) -> u64 {
        nanos
    }
}

/// Gives `stream` work that takes `takes`, between two events.
fn give(gpu: &Gpu, context: &mut Context<u64>, (stream, takes): (Handle, u64), of: u64) {
    let mut event = || match context.event() {
        Ok(event) => event,
        Err(_) => gpu.create_event().unwrap(),
    };
    let (begun, behind) = (event(), event());
    let given = gpu.now.get();
    gpu.record(begun, stream);
    gpu.work(stream, takes);
    gpu.record(behind, stream);
    let pending = Pending {
        begun,
        ended: behind,
        given,
        of,
    };
    context.push(stream, pending);
}

/// What has ended: which, when it began, how long it took, and by how much that may be wrong.
fn look(gpu: &Gpu, context: &mut Context<u64>) -> Vec<(u64, u64, u64, u64)> {
    let mut traced = Vec::new();
    let mut queues = context.take();
    let between = (&mut context.anchor, &mut queues[..]);
    let free = ended(gpu, gpu, between, |of, span| {
        traced.push((of, span.start, span.end - span.start, span.off_ns));
    });
    context.put_back(queues);
    context.give_back(&free);
    traced
}

#[test]
fn work_is_reported_by_the_hosts_clock_once_it_has_ended() {
    let gpu = Gpu::new();
    let mut context = Context::new(&gpu, 1, 0).unwrap();
    let begun = gpu.now.get();
    give(&gpu, &mut context, (5, 3 * MS), 10);
    give(&gpu, &mut context, (6, MS), 11);
    give(&gpu, &mut context, (5, MS), 12);
    assert_eq!(look(&gpu, &mut context), []);
    gpu.now.set(begun + 2 * MS);
    let first = look(&gpu, &mut context);
    assert_eq!(first.len(), 1);
    let (of, start, took, off) = first[0];
    // The work was given a call after the event before it.
    assert_eq!((of, took), (11, MS + CALL));
    // Two calls of the driver lie between the readings of the host's clock.
    assert!(
        off <= 2 * CALL && start.abs_diff(begun) <= 20 * CALL,
        "{first:?}"
    );
    gpu.now.set(begun + 9 * MS);
    let rest = look(&gpu, &mut context);
    let which: Vec<_> = rest.iter().map(|(of, _, took, _)| (*of, *took)).collect();
    assert_eq!(which, [(10, 3 * MS + CALL), (12, MS)]);
    assert!(
        rest[1].1.abs_diff(rest[0].1 + 3 * MS + CALL) <= off,
        "{rest:?}"
    );
    assert_eq!(look(&gpu, &mut context), []);
    context.end(&gpu);
    assert_eq!(gpu.live.get(), 0);
}

/// The anchor's stream is the first that is made.
const ANCHOR: Handle = 1001;

/// What was read before counts on while a GPU that is full does not answer at once.
#[test]
fn a_gpu_that_does_not_answer_is_not_waited_for() {
    let gpu = Gpu::new();
    let mut context = Context::new(&gpu, 1, 0).unwrap();
    let off = |gpu: &Gpu, context: &mut Context<u64>| {
        give(gpu, context, (5, MS), 10);
        gpu.now.set(gpu.now.get() + 2 * MS);
        let before = gpu.now.get();
        let ended = look(gpu, context);
        assert!(gpu.now.get() - before < 3 * MS);
        assert_eq!(ended.len(), 1);
        ended[0].3
    };
    gpu.work(ANCHOR, 500 * MS);
    assert!(off(&gpu, &mut context) > 2 * CALL, "no clock was read");
    gpu.now.set(gpu.now.get() + 600 * MS);
    assert!(off(&gpu, &mut context) <= 2 * CALL);
    // A second later it is full again.
    gpu.now.set(gpu.now.get() + 2000 * MS);
    gpu.work(ANCHOR, 500 * MS);
    let counts_on = off(&gpu, &mut context) <= 2 * CALL;
    assert!(counts_on, "the reading before counts");
}

/// As on a host that is so busy that the GPU never answers soon enough.
#[test]
fn work_has_times_though_the_clocks_are_never_read() {
    let gpu = Gpu::new();
    let mut context = Context::new(&gpu, 1, 0).unwrap();
    gpu.work(ANCHOR, 1 << 60);
    // Its two events are made before.
    let given = gpu.now.get() + 2 * CALL;
    give(&gpu, &mut context, (5, 3 * MS), 10);
    give(&gpu, &mut context, (5, MS), 11);
    give(&gpu, &mut context, (6, MS), 12);
    gpu.now.set(given + 9 * MS);
    let ended = look(&gpu, &mut context);
    let times: Vec<_> = ended.iter().map(|one| (one.0, one.1, one.2)).collect();
    // The first began a call after it was given, which nobody knows; the second when the first had ended.
    let second = (11, given + 3 * MS + CALL, MS);
    let third = (12, given + 10 * CALL, MS + CALL);
    assert_eq!(times, [(10, given, 3 * MS + CALL), second, third]);
    // The second had ended 5 ms before.
    let off: Vec<_> = ended.iter().map(|one| one.3).collect();
    assert!(off.iter().all(|off| off / MS == 5), "{off:?}");
}

#[test]
fn events_are_used_again_and_are_not_without_end() {
    let gpu = Gpu::new();
    let mut context: Context<u64> = Context::new(&gpu, 1, 0).unwrap();
    for round in 0..20_000 {
        give(&gpu, &mut context, (5, 10), round);
        gpu.now.set(gpu.now.get() + MS);
        assert_eq!(look(&gpu, &mut context).len(), 1);
    }
    // Those of the anchor, its stream, and those around one piece of work.
    assert_eq!(gpu.live.get(), 6);
    let mut taken = 0;
    while context.event() != Err(false) {
        taken += 1;
        assert!(taken <= 8192, "events without end");
    }
    assert_eq!(taken, 8192);
    // Without room in the driver nothing stays behind.
    for room in 0..4 {
        let full = Gpu::new();
        full.room.set(room);
        assert!(Context::<u64>::new(&full, 1, 0).is_none());
        assert_eq!(full.live.get(), 0);
    }
}
