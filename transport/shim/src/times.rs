//! What the server reports about asynchronous calls, and of what the GPU did for calls, for the library that traces
//! the program (`gtrace exec --trace`).

// An exported symbol.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use gtrace_cuda::payload::{COLLECT, HOST_DONE, IMAGE, MAP_HOST, UNMAP_HOST};
use gtrace_cuda::types::driver::CUresult;
use gtrace_protocol::{Features, Flags, Header, OpId, Times, Works, op_id};

use crate::generated::driver::remote;
use crate::lane::Lane;
use crate::observe::Observed;
use crate::session::Session;
use crate::{answers, clock, entry, log, observe, session};

mod kept;

pub(crate) use kept::Kept;
use kept::{OneWay, Work};

/// Pauses before missing times are asked for again: the GPU may have a moment more to work. What has ended is reported at once.
const MOMENTS: [Duration; 4] = [
    Duration::ZERO,
    Duration::from_micros(200),
    Duration::from_millis(1),
    Duration::from_millis(5),
];

/// How long the lanes of threads that are still there are asked for times at the process's end, once it has begun.
const AT_EXIT: Duration = Duration::from_secs(1);

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

/// Who takes the GPU's work of threads that are still there at the process's end; null while nobody does.
static AT_EXIT_TAKER: AtomicPtr<()> = AtomicPtr::new(null_mut());

/// Takes so many pieces of work, and when by the clock of the library that traces they were so long ago.
type TakeWork = unsafe extern "C" fn(*const Work, u64, u64);

/// What is kept of the times of a lane's frames.
#[derive(Debug, Default)]
pub(crate) struct LaneTimes {
    /// For the library that traces.
    pub(crate) traced: Kept,
    /// For the one that observes.
    pub(crate) observed: Observed,
}

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
    /// There may be something to take of the thread's lane.
    static REPORTED: Cell<bool> = const { Cell::new(false) };
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

/// Whether a library traces the program.
#[inline]
pub(crate) fn is_traced() -> bool {
    !TICKS.load(Ordering::Relaxed).is_null()
}

fn ticks() -> Option<Ticks> {
    let ticks = TICKS.load(Ordering::Relaxed);
    // SAFETY: null or what `gtrace_shim_keep_times` was given.
    (!ticks.is_null()).then(|| unsafe { std::mem::transmute::<*mut (), Ticks>(ticks) })
}

/// The flags of a one-way frame, by which the server is asked for its times if somebody wants them.
#[inline]
pub(crate) fn asked(flags: Flags) -> Flags {
    match is_traced() {
        true => flags.with(Flags::WANTS_TIMES),
        false => flags,
    }
}

/// A one-way frame is about to be sent by this lane.
#[inline]
pub(crate) fn sent(lane: &mut LaneTimes, seq: u64) {
    if let Some(ticks) = ticks() {
        lane.traced.sent(seq, ticks());
    }
}

/// The program's call that is being made, if it is to be timed and a frame of this operation gives its stream work.
fn timed_by(op: OpId) -> Option<Timed> {
    TIMED.get().filter(|_| !NO_WORK.contains(&op))
}

/// A frame with this header is about to be sent by this lane: has what it gives its stream to do timed, if somebody wants that.
#[inline]
pub(crate) fn ask_for_work(header: &mut Header, lane: &mut LaneTimes) {
    if (is_traced() || observe::is_on())
        && let Some(timed) = timed_by(header.op)
    {
        header.set_work_stream(timed.stream);
        if !header.flags.has(Flags::MORE) {
            SINCE_ANSWER.set(SINCE_ANSWER.get().saturating_add(1));
            if timed.token != 0 {
                lane.traced.timed(header.seq, timed.token);
            }
            if timed.observed != 0 {
                lane.observed.timed(header.seq, timed.observed);
            }
        }
    }
}

/// A frame WORK of a lane, which may be another thread's.
pub(crate) fn reported_work(payload: &[u8], lane: &mut LaneTimes) {
    match Works::read(payload) {
        Ok(works) => {
            lane.observed.reported(&works.0);
            lane.traced.reported_work(&works);
            REPORTED.set(true);
        }
        Err(error) => log::once(
            "work",
            &format!("the server's times of work on the GPU cannot be read: {error}"),
        ),
    }
}

/// A frame TIMES, likewise.
pub(crate) fn reported(payload: &[u8], lane: &mut LaneTimes) {
    match Times::read(payload) {
        Ok(times) => {
            lane.traced.reported(&times);
            REPORTED.set(true);
        }
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
    lane: &mut LaneTimes,
) {
    let LaneTimes { traced, observed } = lane;
    // Also what was observed a moment ago has times, whichever thread asks for them.
    let wanted = observe::is_on() || observed.missing() > 0 || is_traced();
    let shows_clock = answer.bulk() == 0 || features.has(Features::SENT_WHEN_COPIED);
    if wanted && shows_clock && !answer.flags.has(Flags::MORE) {
        SINCE_ANSWER.set(0);
        traced.exchanged(sent, seen, answer);
    }
    observed.deliver(|| traced.fresh(seen).map(|compared| compared.ahead));
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

/// From now on `take` is given the GPU's work of threads that are still there when the process ends.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn gtrace_shim_work_at_exit(take: TakeWork) {
    AT_EXIT_TAKER.store(take as *mut (), Ordering::Relaxed);
}

/// Whether somebody is given the GPU's work of threads that are still there when the process ends.
pub(crate) fn is_taken_at_exit() -> bool {
    !AT_EXIT_TAKER.load(Ordering::Relaxed).is_null()
}

/// At the process's end: has the server report the GPU's work of threads that are still there and not in the middle of a call, and
/// hands it on.
pub(crate) fn report_at_exit(session: &'static Session) {
    let take = AT_EXIT_TAKER.load(Ordering::Relaxed);
    let Some(ticks) = ticks().filter(|_| !take.is_null()) else {
        return;
    };
    // SAFETY: what `gtrace_shim_work_at_exit` was given.
    let take = unsafe { std::mem::transmute::<*mut (), TakeWork>(take) };
    let until = Instant::now() + AT_EXIT;
    // One without a connection is not waited for.
    let missing = |lane: &Lane| match Instant::now() < until && !lane.is_severed() {
        true => lane.times.traced.missing_work(),
        false => 0,
    };
    session::settle_threads(session, missing, |lane| {
        hand_on(&mut lane.traced, ticks, take);
    });
}

/// Hands on the GPU's work that is known of a lane.
fn hand_on(kept: &mut Kept, ticks: Ticks, take: TakeWork) {
    // Before the clock is read, so that nothing comes to lie behind now.
    let at = ticks();
    let now = clock::now();
    let works: Vec<Work> = std::iter::from_fn(|| kept.take_work(now)).collect();
    if !works.is_empty() {
        // SAFETY: so many lie there.
        unsafe { take(works.as_ptr(), works.len() as u64, at) };
    }
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
    if !REPORTED.get() {
        return 0;
    }
    let written = session::own_lane(|lane| {
        let kept = &mut lane.times.traced;
        let mut count = 0;
        if any(kept) {
            let now = clock::now();
            while count < most
                && let Some(known) = take(kept, now)
            {
                // SAFETY: below `most`, by the caller's promise.
                unsafe { place.add(count as usize).write(known) };
                count += 1;
            }
        }
        REPORTED.set(!kept.is_empty());
        count
    });
    written.unwrap_or(0)
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
            Some(session) if !session.is_lost() => {
                session::own_lane(|lane| lane.times.traced.missing()).unwrap_or(0)
            }
            _ => 0,
        };
        settle(missing(), || {
            ask();
            missing()
        });
        // Also what came while another thread asked.
        REPORTED.set(true);
        0
    });
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use gtrace_protocol::{WorkTimes, Writer};

    /// As when a profile ends, and a thread asks that made no call while somebody observed. Some programs have only answers with bytes.
    #[test]
    fn clocks_are_compared_while_work_that_was_observed_has_no_times() {
        let mut lane = LaneTimes::default();
        lane.observed.timed(3, 7);
        lane.observed.reported(&[WorkTimes {
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
        assert_eq!(lane.observed.missing(), 1);
        exchanged((1000, 3300), &answer, Features::SENT_WHEN_COPIED, &mut lane);
        assert_eq!(lane.observed.missing(), 0);
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

    /// As at the process's end, when another thread asks.
    #[test]
    fn work_of_a_lane_is_handed_on_with_the_moment_that_its_times_count_back_from() {
        static TAKEN: Mutex<Vec<(Work, u64)>> = Mutex::new(Vec::new());
        extern "C" fn ticks() -> u64 {
            77
        }
        unsafe extern "C" fn take(works: *const Work, count: u64, at: u64) {
            // SAFETY: so many lie there.
            let works = unsafe { std::slice::from_raw_parts(works, count as usize) };
            let mut taken = TAKEN.lock().unwrap();
            taken.extend(works.iter().map(|work| (*work, at)));
        }
        let mut lane = LaneTimes::default();
        lane.traced.timed(5, 50);
        lane.traced.timed(6, 60);
        let mut works = Writer::default();
        Works(vec![WorkTimes {
            seq: 5,
            ..WorkTimes::default()
        }])
        .write(&mut works);
        reported_work(works.as_slice(), &mut lane);
        hand_on(&mut lane.traced, ticks, take);
        assert!(
            TAKEN.lock().unwrap().is_empty(),
            "the clocks were not compared"
        );
        assert_eq!(lane.traced.missing_work(), 2);
        let now = clock::now();
        lane.traced.exchanged(now, now, &Header::default());
        hand_on(&mut lane.traced, ticks, take);
        let taken = TAKEN.lock().unwrap();
        let taken: Vec<_> = taken.iter().map(|(work, at)| (work.token, *at)).collect();
        assert_eq!(taken, [(50, 77)]);
        assert_eq!(lane.traced.missing_work(), 1);
    }
}
