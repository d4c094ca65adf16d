//! The connection of this process, with all that hangs on it. It is never freed: threads of the
//! program use it until the process is gone, and the child of a fork leaves its parent's alone.

mod watch;

use std::cell::{Cell, RefCell};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use gtrace_cuda::payload::Snapshot;
use gtrace_cuda::types::driver::{self as cuda, CUresult};
use gtrace_link::{Link, LinkError, LinkInfo, Target};
use gtrace_protocol::{ClientHello, FIRST_CALL_MAX, Features, FirstCall, RefusalKind, Welcome};

use crate::device_idle::DeviceIdleTracker;
use crate::entry::{Answer, check, holding_back};
use crate::flusher::Flusher;
use crate::lane::{Lane, Lanes};
use crate::settings::Settings;
use crate::state::State;
use crate::status::fail_if;
use crate::times::{self, LaneTimes};
use crate::{clock, exit, fork, log, stats, status};

/// Lanes that are kept for later threads once theirs has ended. One has to be, as the server ends
/// the session with its last lane; and a session may have so many lanes in its whole life, so that
/// dropping any would let a program that starts threads again and again run out of them.
const IDLE_LANES: usize = 1024;

/// Threads that open their lane at the same time. A server takes a while for each, and others wait here better than there.
const OPENING: usize = 16;
/// Pauses before a lane is asked for again, each twice as long as the one before: some five seconds together.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LAST_PAUSE: Duration = Duration::from_secs(3);
/// How often a session is asked for again whose connection broke, each pause twice as long as the one before.
const FIRST_RETRIES: u32 = 2;
/// Between two questions whether a place has become free.
const PLACE_PAUSE: Duration = Duration::from_millis(250);
/// A server frees the place of a session a moment after it has given it up: the driver has things to do.
const PLACE_FREE: Duration = Duration::from_secs(5);
/// So long at most a server has no place because a program that has just ended has it yet.
const PLACE_ENDING: Duration = Duration::from_secs(3);
/// When this process first found that a server has no place, ns; 0: it has not.
static FULL_SINCE: AtomicU64 = AtomicU64::new(0);

/// Whether a server that has no place at `now` may have one in a moment, as a program ends. A program that asks again and again
/// whether there is a GPU waits once, from `first` on.
fn may_be_ending(first: &AtomicU64, now: u64) -> bool {
    let known = first.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
    let since = known.err().unwrap_or(now);
    Duration::from_nanos(now.saturating_sub(since)) < PLACE_ENDING
}

/// Whether a lane that was not opened for this reason may be opened a little later.
fn may_pass(error: &LinkError) -> bool {
    match error {
        LinkError::Refused(refusal) => refusal.kind == RefusalKind::Busy,
        LinkError::TimedOut(_) | LinkError::Closed(_) => true,
        LinkError::Io(_, error) => error.kind() == std::io::ErrorKind::TimedOut,
        _ => false,
    }
}

/// Lets so many threads on at a time.
#[derive(Debug, Default)]
struct Opening {
    count: Mutex<usize>,
    changed: Condvar,
}

struct Turn<'a>(&'a Opening);

impl Opening {
    fn turn(&self) -> Turn<'_> {
        let count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_while(count, |count| *count >= OPENING);
        *waited.unwrap_or_else(PoisonError::into_inner) += 1;
        Turn(self)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.count.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.changed.notify_one();
    }
}

/// A connection to a server.
pub(crate) struct Session {
    target: Target,
    hello: ClientHello,
    key: gtrace_link::Session,
    /// What the server can do.
    pub(crate) features: Features,
    /// `cuDriverGetVersion` of the server, as its WELCOME says.
    pub(crate) driver_version: i32,
    /// Whether the server has NVML.
    pub(crate) nvml: bool,
    /// Whether the server's NVML is initialised for this session.
    pub(crate) nvml_begun: AtomicBool,
    /// The server's host.
    pub(crate) host: String,
    /// The first lane's link.
    pub(crate) info: LinkInfo,
    /// What the environment says.
    pub(crate) settings: Settings,
    /// The last one-way frame of any lane, as [`gtrace_protocol::After`].
    pub(crate) last: AtomicU64,
    /// The last frame of pages that went past other lanes, likewise: the calls of all lanes come behind it.
    pub(crate) pages: AtomicU64,
    /// Calls of the process that were awaited.
    pub(crate) awaited: AtomicU64,
    /// Whether the device has nothing to do.
    pub(crate) device_idle: DeviceIdleTracker,
    /// Lanes in use.
    pub(crate) lanes: Lanes,
    /// Lanes whose thread has ended.
    #[allow(clippy::vec_box, reason = "threads hand the boxes on")]
    idle: Mutex<Vec<Box<Lane>>>,
    /// Threads that are opening a lane.
    opening: Opening,
    pub(crate) flusher: Flusher,
    /// An error that CUDA keeps reporting; 0 for none.
    broken: AtomicU32,
    /// Kernels may print: what they did is due at calls that would else not be sent.
    pub(crate) prints: AtomicBool,
    lost: AtomicBool,
    /// Why it was.
    why_lost: OnceLock<String>,
    /// Lanes whose server did not keep to the protocol.
    lanes_broken: AtomicU64,
    /// Answer to the question for driver and devices, once asked.
    pub(crate) snapshot: OnceLock<Snapshot>,
    /// Serialises `cuInit`.
    pub(crate) initialising: Mutex<()>,
    /// What the client keeps of the driver's objects.
    pub(crate) state: State,
}

static SESSION: AtomicPtr<Session> = AtomicPtr::new(ptr::null_mut());
static CONNECTING: AtomicBool = AtomicBool::new(false);

/// `cuInit` was not called, or did not succeed.
const NEW: u32 = 0;
/// `cuInit` has succeeded.
const READY: u32 = 1;
/// It had succeeded in the process that this one was forked from.
const FORKED: u32 = 2;
static CUDA: AtomicU32 = AtomicU32::new(NEW);

/// The session, if there is one.
#[inline]
#[allow(unsafe_code)]
pub(crate) fn current() -> Option<&'static Session> {
    // SAFETY: null, or a session that was leaked.
    unsafe { SESSION.load(Ordering::Acquire).as_ref() }
}

/// The session, if CUDA is initialised.
///
/// # Errors
///
/// NOT_INITIALIZED, also in the child of a process that had initialised it.
#[inline]
pub(crate) fn cuda() -> Answer<&'static Session> {
    match current() {
        Some(session) if CUDA.load(Ordering::Acquire) == READY => Ok(session),
        _ => Err(cuda::CUDA_ERROR_NOT_INITIALIZED),
    }
}

/// The session, opened if there is none.
///
/// # Errors
///
/// [`status::UNREACHABLE`], after the reason was reported.
pub(crate) fn open() -> Answer<&'static Session> {
    open_with(|_| None)
}

/// The same; a session that is opened executes the call that `first` gives as soon as it has begun, so that asking for it
/// takes no round trip.
pub(crate) fn open_with(
    first: impl FnOnce(&Settings) -> Option<FirstCall>,
) -> Answer<&'static Session> {
    let usable = |session: &Session| {
        !session.lost.load(Ordering::Relaxed) || CUDA.load(Ordering::Relaxed) == READY
    };
    loop {
        if let Some(session) = current()
            && usable(session)
        {
            return Ok(session);
        }
        // No lock of the library, as the child of a fork could not make it anew.
        if !CONNECTING.swap(true, Ordering::AcqRel) {
            break;
        }
        thread::sleep(Duration::from_micros(200));
    }
    let result = match current() {
        Some(session) if usable(session) => Ok(session),
        _ => connect(first),
    };
    CONNECTING.store(false, Ordering::Release);
    result
}

/// Remembers that `cuInit` has succeeded.
pub(crate) fn set_ready() {
    CUDA.store(READY, Ordering::Release);
}

/// Whether this is the child of a process that had initialised CUDA.
pub(crate) fn is_forked() -> bool {
    CUDA.load(Ordering::Acquire) == FORKED
}

/// In the child of a fork, from a handler that may do next to nothing.
pub(crate) fn in_child() {
    if CUDA.load(Ordering::Relaxed) == READY {
        CUDA.store(FORKED, Ordering::Relaxed);
    }
    SESSION.store(ptr::null_mut(), Ordering::Relaxed);
    crate::observe::in_child();
    watch::in_child();
    CONNECTING.store(false, Ordering::Relaxed);
    gtrace_link::forget_in_child();
}

/// Says why there is no connection, and answers with the error for it.
fn unreachable(error: &LinkError) -> CUresult {
    log::say(&format!("no GPU: {error}"));
    status::UNREACHABLE
}

fn connect(first: impl FnOnce(&Settings) -> Option<FirstCall>) -> Answer<&'static Session> {
    // Before there is a socket that a child could have.
    fork::watch();
    let settings = Settings::from_env();
    let target = Target::from_env().map_err(|error| unreachable(&error))?;
    let hello = gtrace_link::hello(settings.strict);
    let first = first(&settings).filter(|call| call.arguments.len() <= FIRST_CALL_MAX);
    let with_first = ClientHello {
        first: first.clone(),
        ..hello.clone()
    };
    let (link, welcome, key) =
        connect_first(&target, &with_first).map_err(|error| unreachable(&error))?;
    let info = link.info.clone();
    let session: &'static Session = Box::leak(Box::new(Session {
        target,
        hello,
        key,
        features: welcome.features,
        driver_version: welcome.driver_version,
        nvml: welcome.nvml,
        nvml_begun: AtomicBool::new(false),
        host: welcome.host,
        info,
        settings,
        last: AtomicU64::new(0),
        pages: AtomicU64::new(0),
        awaited: AtomicU64::new(0),
        device_idle: DeviceIdleTracker::default(),
        lanes: Lanes::default(),
        idle: Mutex::new(Vec::new()),
        opening: Opening::default(),
        flusher: Flusher::default(),
        broken: AtomicU32::new(0),
        prints: AtomicBool::new(false),
        lost: AtomicBool::new(false),
        why_lost: OnceLock::new(),
        lanes_broken: AtomicU64::new(0),
        snapshot: OnceLock::new(),
        initialising: Mutex::new(()),
        state: State::default(),
    }));
    let mut lane = Lane::new(session, link, welcome.lane, welcome.credits);
    if let (true, Some(call)) = (welcome.begun, first) {
        lane.begins_with(call);
    }
    session.retire(Box::new(lane));
    session.flusher.start(session);
    stats::begin(session);
    SESSION.store(ptr::from_ref(session).cast_mut(), Ordering::Release);
    Ok(session)
}

/// The first lane of a session. A connection that breaks before there is a session is tried again.
///
/// The server may have let this client in by one that broke, and keeps the place of that session for `--resume`. Where it
/// lets nobody else in meanwhile, that place may be this client's own, so it waits for it to be free. Else it waits a moment: a
/// program that has just ended may have a place yet.
fn connect_first(
    target: &Target,
    hello: &ClientHello,
) -> Result<(Link, Welcome, gtrace_link::Session), LinkError> {
    let resumes = !target.resume.is_zero();
    let mut retries = 0;
    let mut broke = None;
    loop {
        let error = match gtrace_link::connect(target, hello, None) {
            Err(error) => error,
            connected => return connected,
        };
        let pause = match (&error, broke) {
            (LinkError::Closed(_), _) if resumes && retries <= FIRST_RETRIES => {
                broke = Some(Instant::now());
                retries += 1;
                FIRST_PAUSE * (1 << (retries - 1))
            }
            (LinkError::Refused(refusal), Some(broke))
                if refusal.kind == RefusalKind::MaxClients
                    && broke.elapsed() < target.resume + PLACE_FREE =>
            {
                log::once(
                    "place",
                    &format!(
                        "a connection broke while the server let this program in, and it has no other place: waiting \
                         up to {:?} for that one ({error})",
                        target.resume + PLACE_FREE
                    ),
                );
                // The network is there again.
                retries = 0;
                PLACE_PAUSE
            }
            (LinkError::Refused(refusal), None)
                if refusal.kind == RefusalKind::MaxClients
                    && may_be_ending(&FULL_SINCE, clock::now()) =>
            {
                PLACE_PAUSE
            }
            _ => return Err(error),
        };
        thread::sleep(pause);
    }
}

impl Session {
    /// The server, for messages.
    pub(crate) fn peer(&self) -> String {
        self.target.address.to_string()
    }

    /// This program, as the server knows it.
    pub(crate) fn program(&self) -> &str {
        &self.hello.program
    }

    /// The error that CUDA keeps reporting, or 0.
    #[inline]
    pub(crate) fn broken(&self) -> CUresult {
        self.broken.load(Ordering::Relaxed)
    }

    /// From now on every call reports `code`.
    pub(crate) fn set_broken(&self, code: CUresult) {
        self.broken.store(code, Ordering::Relaxed);
    }

    /// The connection is at its end, and why.
    pub(crate) fn lose(&self, why: &LinkError) {
        if let LinkError::Frame(_)
        | LinkError::Decode(_)
        | LinkError::Ring(_)
        | LinkError::Position(_) = why
        {
            self.lanes_broken.fetch_add(1, Ordering::Relaxed);
        }
        self.lose_for(&why.to_string());
    }

    /// The session is at its end, and why.
    pub(crate) fn lose_for(&self, why: &str) {
        if self.lost.swap(true, Ordering::AcqRel) {
            return;
        }
        let _ = self.why_lost.set(why.to_owned());
        let peer = self.peer();
        if !exit::is_ending() {
            log::say(&format!(
                "the GPU at {peer} is lost: {why}; every further call fails with error {}, and calls that the \
                 program has not waited for may not have been executed",
                status::LOST
            ));
        } else if !exit::is_confirmed() {
            log::say(&format!(
                "the program ends, and the last calls that it did not wait for may not have been executed by the \
                 GPU at {peer}: {why}"
            ));
        }
        self.lanes.end_all();
    }

    /// Why the connection is at its end, if it is.
    pub(crate) fn why_lost(&self) -> Option<&str> {
        self.why_lost.get().map(String::as_str)
    }

    /// Lanes whose server did not keep to the protocol.
    pub(crate) fn lanes_broken(&self) -> u64 {
        self.lanes_broken.load(Ordering::Relaxed)
    }

    /// Whether the connection is at its end.
    #[inline]
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Takes back the lane of a thread that has ended.
    fn retire(&self, lane: Box<Lane>) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE_LANES || lane.is_severed() {
            idle.push(lane);
        }
    }

    /// Whether a lane that was not opened for this reason may be opened a little later, as others have lost their
    /// connections at this moment and wait for new ones too.
    fn waits_for_server(&self, error: &LinkError, since: Instant) -> bool {
        let passing = match error {
            LinkError::Io(..) => true,
            error => may_pass(error),
        };
        passing && since.elapsed() < self.target.resume && self.lanes.severed().0 > 0
    }

    /// A lane for a thread that has none.
    pub(crate) fn lane(&'static self) -> Answer<Box<Lane>> {
        fail_if(self.is_lost(), status::LOST)?;
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = idle().pop();
        if let Some(mut lane) = kept {
            lane.begin_anew()?;
            return Ok(lane);
        }
        let _turn = self.opening.turn();
        let mut pause = FIRST_PAUSE;
        let began = Instant::now();
        loop {
            let error = match gtrace_link::connect(&self.target, &self.hello, Some(&self.key)) {
                Ok((link, welcome, _)) => {
                    let lane = Lane::new(self, link, welcome.lane, welcome.credits);
                    return Ok(Box::new(lane));
                }
                Err(error) => error,
            };
            fail_if(self.is_lost(), status::LOST)?;
            let passes = may_pass(&error) && pause <= LAST_PAUSE;
            if !passes && !self.waits_for_server(&error, began) {
                // Of this thread alone: those that have a lane go on, and notice by it if the server is gone.
                log::once(
                    "lane",
                    &format!("no connection for another thread: {error}"),
                );
                return Err(cuda::CUDA_ERROR_OPERATING_SYSTEM);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LAST_PAUSE + FIRST_PAUSE);
            // Another thread may have ended meanwhile.
            let kept = idle().pop();
            if let Some(mut lane) = kept {
                lane.begin_anew()?;
                return Ok(lane);
            }
        }
    }
}

/// The lane of a thread; given back when the thread ends.
struct Holder(RefCell<Option<Box<Lane>>>, watch::Own);

impl Drop for Holder {
    fn drop(&mut self) {
        let _turn = self.1.end();
        if let Some(lane) = self.0.get_mut().take()
            && !lane.is_foreign()
        {
            lane.flush();
            lane.session.retire(lane);
        }
    }
}

thread_local! {
    static LANE: Holder = const { Holder(RefCell::new(None), watch::Own::new()) };
    /// Another lane that takes its place ([`by_lane`]), while that one is borrowed.
    static OTHER: Cell<*mut Lane> = const { Cell::new(ptr::null_mut()) };
}

/// Does `action` so that its calls go by `lane`, and not by that of this thread.
pub(crate) fn by_lane<T>(lane: &mut Lane, action: impl FnOnce() -> Answer<T>) -> Answer<T> {
    struct Back(*mut Lane);
    impl Drop for Back {
        fn drop(&mut self) {
            OTHER.set(self.0);
        }
    }
    let mut action = Some(action);
    let mut run = || {
        let _back = Back(OTHER.replace(lane));
        match action.take() {
            Some(action) => action(),
            None => Err(cuda::CUDA_ERROR_UNKNOWN),
        }
    };
    let done = LANE.try_with(|holder| {
        let _own = holder.0.try_borrow_mut();
        run()
    });
    // The thread is ending, and has no lane.
    done.unwrap_or_else(|_| run())
}

/// Does `action` with the lane that takes the place of this thread's own.
///
/// # Errors
///
/// UNKNOWN if there is none.
#[cold]
#[allow(unsafe_code)]
fn with_other(action: &mut dyn FnMut(&mut Lane)) -> Answer {
    let lane = OTHER.replace(ptr::null_mut());
    // SAFETY: `by_lane` has it borrowed until it takes it away from here, and nobody else finds it meanwhile.
    let done = unsafe { lane.as_mut() }.map(action);
    OTHER.set(lane);
    done.ok_or(cuda::CUDA_ERROR_UNKNOWN)
}

/// Whether this thread has no lane of its own any more: exit handlers still call.
pub(crate) fn thread_is_ending() -> bool {
    LANE.try_with(|_| ()).is_err()
}

/// Does `action` with the lane of this thread, if it has one and is not in the middle of a call.
pub(crate) fn own_lane<T>(action: impl FnOnce(&mut Lane) -> T) -> Option<T> {
    let done = LANE.try_with(|holder| {
        let mut slot = holder.0.try_borrow_mut().ok()?;
        let turn = holder.1.turn();
        let lane = slot.as_mut().filter(|lane| !lane.is_foreign())?;
        if let Some(turn) = &turn {
            turn.lane(lane);
        }
        Some(action(lane))
    });
    done.ok().flatten()
}

/// Has the server report what is `missing` of the times of this lane.
fn settle(session: &'static Session, lane: &mut Lane, missing: impl Fn(&Lane) -> usize) {
    let missing = |lane: &Lane| match session.is_lost() {
        true => 0,
        false => missing(lane),
    };
    times::settle(missing(lane), || {
        let _ = by_lane(lane, || check(holding_back(session, times::ask)));
        missing(lane)
    });
}

/// Has the server report what is `missing` of the times of each thread's lane that is not in use, and hands them to `then`.
pub(crate) fn settle_threads(
    session: &'static Session,
    missing: impl Fn(&Lane) -> usize,
    then: impl Fn(&mut LaneTimes),
) {
    watch::each(session, |lane| {
        settle(session, lane, &missing);
        then(&mut lane.times);
    });
}

/// Asks the server for what it has not reported of GPU work that is observed, in all lanes whose thread is not in the middle of a
/// call.
pub(crate) fn settle_observed(session: &'static Session) {
    let missing = |lane: &Lane| lane.times.observed.missing();
    settle_threads(session, missing, |_| {});
    let idle = || session.idle.lock().unwrap_or_else(PoisonError::into_inner);
    let left: Vec<_> = idle().extract_if(.., |lane| missing(lane) > 0).collect();
    for mut lane in left {
        settle(session, &mut lane, missing);
        idle().push(lane);
    }
}

/// Does `action` with the lane of this thread.
///
/// # Errors
///
/// Those of `action`; [`status::LOST`]; UNKNOWN if the thread is in the middle of another call, as in
/// a signal handler.
#[inline]
pub(crate) fn with_lane<T>(
    session: &'static Session,
    action: impl FnOnce(&mut Lane) -> Answer<T>,
) -> Answer<T> {
    let mut action = Some(action);
    let mut result = Err(cuda::CUDA_ERROR_UNKNOWN);
    on_lane(session, &mut |lane| {
        if let Some(action) = action.take() {
            result = action(lane);
        }
    })?;
    result
}

fn on_lane(session: &'static Session, action: &mut dyn FnMut(&mut Lane)) -> Answer {
    fail_if(session.is_lost(), status::LOST)?;
    let done = LANE.try_with(|holder| {
        let Ok(mut slot) = holder.0.try_borrow_mut() else {
            return with_other(action);
        };
        let turn = holder.1.turn();
        let lane = match &mut *slot {
            Some(lane) if ptr::eq(lane.session, session) && !lane.is_foreign() => lane,
            slot => slot.insert(session.lane()?),
        };
        if let Some(turn) = &turn {
            turn.lane(lane);
        }
        action(lane);
        Ok(())
    });
    match done {
        Ok(done) => done,
        // The thread is ending, and its lane is given back already: exit handlers still call.
        Err(_) if !OTHER.get().is_null() => with_other(action),
        Err(_) => {
            let mut lane = session.lane()?;
            action(&mut lane);
            lane.flush();
            session.retire(lane);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_waits_once_for_a_server_that_is_full() {
        const SECOND: u64 = 1_000_000_000;
        let first = AtomicU64::new(0);
        for (seconds, waits) in [(5, true), (7, true), (8, false), (9, false), (3600, false)] {
            assert_eq!(may_be_ending(&first, seconds * SECOND), waits, "{seconds}");
        }
    }
}
