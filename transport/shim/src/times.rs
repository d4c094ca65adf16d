//! What the server reports about asynchronous calls, and of what the GPU did for calls, for the library that traces
//! the program (`gtrace exec --trace`).

// An exported symbol.
#![allow(unsafe_code)]

use std::cell::{Cell, RefCell};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::thread;
use std::time::Duration;

use gtrace_cuda::payload::{COLLECT, HOST_DONE, IMAGE, MAP_HOST, UNMAP_HOST};
use gtrace_cuda::types::driver::CUresult;
use gtrace_protocol::{Features, Flags, Header, OpId, Times, Works, op_id};

use crate::generated::driver::remote;
use crate::observe::Observed;
use crate::session::Session;
use crate::{answers, clock, entry, log, observe, session};

mod kept;

use kept::{Kept, OneWay, Work};

/// Pauses before missing times are asked for again: the GPU may have a moment more to work. What has ended is reported at once.
const MOMENTS: [Duration; 4] = [
    Duration::ZERO,
    Duration::from_micros(200),
    Duration::from_millis(1),
    Duration::from_millis(5),
];

/// Frames of a thread whose work is timed and none of which was answered. The library that traces remembers no more than twice as many
/// calls.
const UNANSWERED: u32 = 1 << 13;

/// Frames that the program's call may need, and that give its stream nothing to do.
const NO_WORK: [OpId; 7] = [
    IMAGE,
    COLLECT,
    HOST_DONE,
    MAP_HOST,
    UNMAP_HOST,
    op_id("cuStreamSynchronize"),
    op_id("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags"),
];

/// The clock of the library that traces; null while nobody does.
static TICKS: AtomicPtr<()> = AtomicPtr::new(null_mut());

type Ticks = extern "C" fn() -> u64;

/// A call whose work is to be timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Timed {
    stream: u64,
    /// What the library that traces knows it by; 0: it does not ask.
    token: u64,
    /// What the one that observes knows it by, likewise.
    observed: u64,
}

thread_local! {
    static KEPT: RefCell<Kept> = RefCell::default();
    /// The program's call that is being made, if its work is to be timed.
    static TIMED: Cell<Option<Timed>> = const { Cell::new(None) };
    /// Timed frames since the last answer by which the clocks were compared.
    static SINCE_ANSWER: Cell<u32> = const { Cell::new(0) };
}

/// While it lives, the thread's frames are not the program's own.
pub(crate) struct Aside(Option<Timed>);

impl Aside {
    pub(crate) fn new() -> Self {
        Self(TIMED.replace(None))
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        TIMED.set(self.0);
    }
}

/// Does `action` unless the thread is ending.
fn with<T: Default>(action: impl FnOnce(&mut Kept) -> T) -> T {
    let done = KEPT.try_with(|kept| kept.try_borrow_mut().map(|mut kept| action(&mut kept)));
    match done {
        Ok(Ok(result)) => result,
        _ => T::default(),
    }
}

fn ticks() -> Option<Ticks> {
    let ticks = TICKS.load(Ordering::Relaxed);
    // SAFETY: null or what `gtrace_shim_keep_times` was given.
    (!ticks.is_null()).then(|| unsafe { std::mem::transmute::<*mut (), Ticks>(ticks) })
}

/// The flags of a one-way frame, by which the server is asked for its times if somebody wants them.
#[inline]
pub(crate) fn asked(flags: Flags) -> Flags {
    match TICKS.load(Ordering::Relaxed).is_null() {
        true => flags,
        false => flags.with(Flags::WANTS_TIMES),
    }
}

/// A one-way frame is about to be sent by this lane.
#[inline]
pub(crate) fn sent(lane: u16, seq: u64) {
    if let Some(ticks) = ticks() {
        let now = ticks();
        with(|kept| kept.of(lane).sent(seq, now));
    }
}

/// The program's call that is being made, if it is to be timed and a frame of this operation gives its stream work.
fn timed_by(op: OpId) -> Option<Timed> {
    TIMED.get().filter(|_| !NO_WORK.contains(&op))
}

/// A frame with this header is about to be sent by lane `number`: has what it gives its stream to do timed, if somebody wants that.
#[inline]
pub(crate) fn ask_for_work(header: &mut Header, number: u16, lane: &mut Observed) {
    if (!TICKS.load(Ordering::Relaxed).is_null() || observe::is_on())
        && let Some(timed) = timed_by(header.op)
    {
        header.set_work_stream(timed.stream);
        if !header.flags.has(Flags::MORE) {
            SINCE_ANSWER.set(SINCE_ANSWER.get().saturating_add(1));
            if timed.token != 0 {
                with(|kept| kept.of(number).timed(header.seq, timed.token));
            }
            if timed.observed != 0 {
                lane.timed(header.seq, timed.observed);
            }
        }
    }
}

/// A frame WORK of lane `number`, which may be another thread's.
pub(crate) fn reported_work(payload: &[u8], number: u16, lane: &mut Observed) {
    match Works::read(payload) {
        Ok(works) => {
            lane.reported(&works.0);
            with(|kept| {
                if kept.lane == number {
                    kept.reported_work(&works);
                }
            });
        }
        Err(error) => log::once(
            "work",
            &format!("the server's times of work on the GPU cannot be read: {error}"),
        ),
    }
}

/// A frame TIMES, likewise.
pub(crate) fn reported(payload: &[u8], number: u16) {
    match Times::read(payload) {
        Ok(times) => with(|kept| {
            if kept.lane == number {
                kept.reported(&times);
            }
        }),
        Err(error) => log::once(
            "times",
            &format!("the server's times of calls cannot be read: {error}"),
        ),
    }
}

/// A request of one frame, sent at `sent`, had its answer at `seen`, of a server with these features.
#[inline]
pub(crate) fn exchanged(
    (sent, seen): (u64, u64),
    answer: &Header,
    features: Features,
    lane: &mut Observed,
) {
    // Also what was observed a moment ago has times, whichever thread asks for them.
    let wanted = observe::is_on() || lane.missing() > 0 || ticks().is_some();
    let shows_clock = answer.bulk() == 0 || features.has(Features::SENT_WHEN_COPIED);
    if wanted && shows_clock && !answer.flags.has(Flags::MORE) {
        SINCE_ANSWER.set(0);
        with(|kept| kept.exchanged(sent, seen, answer));
    }
    lane.deliver(|| with(|kept| kept.fresh(seen)).map(|compared| compared.ahead));
}

/// Whether the server times the work of this thread's next call. If nobody waits for an answer to many, it is asked for their times
/// before: a thread may launch for ever, and neither side remembers so much.
pub(crate) fn can_time(session: &'static Session) -> bool {
    let can = session.features.has(Features::WORK);
    if can && SINCE_ANSWER.get() >= UNANSWERED {
        SINCE_ANSWER.set(0);
        entry::guard(&mut || entry::holding_back(session, ask));
        // It is none of the program's.
        answers::forget();
    }
    can
}

/// What the thread's next frames give this stream to do is timed for the call of this number, until this is called again.
pub(crate) fn observe(work: Option<(u64, u64)>) {
    let traced = TIMED.get().filter(|timed| timed.token != 0);
    TIMED.set(match (work, traced) {
        (Some((_, observed)), Some(timed)) => Some(Timed { observed, ..timed }),
        (Some((stream, observed)), None) => Some(Timed {
            stream,
            token: 0,
            observed,
        }),
        (None, Some(timed)) => Some(Timed {
            observed: 0,
            ..timed
        }),
        (None, None) => None,
    });
}

/// From now on the server is asked for its times of asynchronous calls; `ticks` is a clock.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn gtrace_shim_keep_times(ticks: Ticks) {
    TICKS.store(ticks as *mut (), Ordering::Relaxed);
}

/// Writes what `take` gives of what is known of the calling thread, at most `most`; how many. The clock is read only if `any`.
///
/// # Safety
///
/// `place` is one for so many.
unsafe fn write_known<T>(
    place: *mut T,
    most: u64,
    any: impl FnOnce(&Kept) -> bool,
    take: impl Fn(&mut Kept, u64) -> Option<T>,
) -> u64 {
    with(|kept| {
        if !any(kept) {
            return 0;
        }
        let now = clock::now();
        let mut count = 0;
        while count < most
            && let Some(known) = take(kept, now)
        {
            // SAFETY: below `most`, by the caller's promise.
            unsafe { place.add(count as usize).write(known) };
            count += 1;
        }
        count
    })
}

/// Writes what has become known of the calling thread's calls since this was asked last, in their order, at most
/// `most`; how many.
///
/// # Safety
///
/// `calls` is a place for so many.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn gtrace_shim_one_way(calls: *mut OneWay, most: u64) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { write_known(calls, most, |kept| !kept.reported.is_empty(), Kept::take) }
}

/// What the thread's next call gives `stream` to do is to be timed, until this is called again; token 0: no more. Whether
/// the server does so.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn gtrace_shim_time_work(stream: u64, token: u64) -> bool {
    if token == 0 {
        TIMED.set(None);
        return false;
    }
    let does = session::current().is_some_and(can_time);
    TIMED.set(does.then_some(Timed {
        stream,
        token,
        observed: 0,
    }));
    does
}

/// Writes what has become known of the GPU's work for the calling thread's calls since this was asked last, at most `most`;
/// how many.
///
/// # Safety
///
/// `works` is a place for so many.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn gtrace_shim_work(works: *mut Work, most: u64) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { write_known(works, most, |kept| !kept.works.is_empty(), Kept::take_work) }
}

/// A call that the server answers at once, also while a stream is captured. What the answer is does not matter.
pub(crate) fn ask() -> CUresult {
    let (mut least, mut greatest) = (0, 0);
    // SAFETY: places for two numbers.
    unsafe { remote::cuCtxGetStreamPriorityRange(&raw mut least, &raw mut greatest) }
}

/// Asks the server for so many times that are missing, by `ask`, which answers how many still are. Pauses are for what the GPU has not
/// done yet: a server of an earlier version sends a part of what there is with each answer.
pub(crate) fn settle(mut missing: usize, mut ask: impl FnMut() -> usize) {
    let mut moments = MOMENTS.into_iter();
    let mut before = 0;
    while missing > 0 {
        if missing >= before {
            let Some(moment) = moments.next() else { break };
            thread::sleep(moment);
        }
        before = missing;
        missing = ask();
    }
}

/// Has the server say what it still has to say about the calling thread's calls, if there is something: for a thread at its
/// end. Mostly one round trip; the GPU may need a moment more to see that it is through.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn gtrace_shim_settle() {
    entry::guard(&mut || {
        let missing = || match session::current() {
            Some(session) if !session.is_lost() => with(|kept| kept.missing()),
            _ => 0,
        };
        settle(missing(), || {
            ask();
            missing()
        });
        0
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use gtrace_protocol::{CallTimes, WorkTimes, Writer};

    /// As when a profile ends, and a thread asks that made no call while somebody observed. Some programs have only answers with bytes.
    #[test]
    fn clocks_are_compared_while_work_that_was_observed_has_no_times() {
        let mut lane = Observed::default();
        lane.timed(3, 7);
        lane.reported(&[WorkTimes {
            seq: 3,
            begun_ns: 10,
            ended_ns: 20,
            off_ns: 4,
        }]);
        let mut answer = Header {
            sent_ns: 2000,
            queue_ns: 100,
            exec_ns: 200,
            ..Header::default()
        };
        assert!(answer.set_payload(0, 4));
        // A server of an earlier version.
        exchanged((1000, 3300), &answer, Features::default(), &mut lane);
        assert_eq!(lane.missing(), 1);
        exchanged((1000, 3300), &answer, Features::SENT_WHEN_COPIED, &mut lane);
        assert_eq!(lane.missing(), 0);
    }

    #[test]
    fn a_thread_asks_until_nothing_is_missing_or_no_more_comes() {
        let mut missing = 3 * MOMENTS.len();
        settle(missing, || {
            missing -= 1;
            missing
        });
        assert_eq!(missing, 0);
        let mut asked = 0;
        settle(5, || {
            asked += 1;
            5
        });
        assert_eq!(asked, MOMENTS.len());
    }

    /// Else their times, which come first, would be those of the launch.
    #[test]
    fn questions_that_a_launch_needs_answered_are_not_its_work() {
        let launch = Timed {
            stream: 1,
            token: 2,
            observed: 3,
        };
        TIMED.set(Some(launch));
        assert_eq!(timed_by(op_id("cuLaunchKernel")), Some(launch));
        assert_eq!(timed_by(MAP_HOST), None);
        let together = "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags";
        assert_eq!(timed_by(op_id(together)), None);
        let aside = Aside::new();
        assert_eq!(timed_by(op_id("cuLaunchKernel")), None);
        drop(aside);
        assert_eq!(timed_by(op_id("cuLaunchKernel")), Some(launch));
    }

    /// As when one asks for what the server still knows of all threads' calls.
    #[test]
    fn times_of_another_threads_lane_are_not_of_this_threads_calls() {
        let work = WorkTimes {
            seq: 5,
            ..WorkTimes::default()
        };
        let call = CallTimes {
            seq: 5,
            ..CallTimes::default()
        };
        let (mut works, mut times) = (Writer::default(), Writer::default());
        Works(vec![work]).write(&mut works);
        Times(vec![call]).write(&mut times);
        with(|kept| kept.of(3).timed(5, 50));
        with(|kept| kept.of(3).sent(5, 1));
        for (lane, missing) in [(4, 1), (3, 0)] {
            reported_work(works.as_slice(), lane, &mut Observed::default());
            reported(times.as_slice(), lane);
            let left = with(|kept| (kept.timed.len(), kept.sent.len()));
            assert_eq!(left, (missing, missing));
        }
        with(|kept| kept.of(3).timed(6, 60));
        with(|kept| kept.of(7).timed(8, 80));
        assert_eq!(with(|kept| kept.timed.clone()), [(8, 80)]);
    }
}
