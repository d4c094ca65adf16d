//! Work on the GPU, timed by the driver's events (`--gpu-time`): one is recorded before and one behind each launch
//! and copy in its stream; of a remote GPU by its server (`remote`).
//!
//! Nothing waits for the GPU: what has ended is looked up when the program has waited by itself, and in between.
//! No events go into streams that capture, and no result of the program's calls is changed. The events that the
//! GPU's times are distinguished from are in a stream of this library, which no other waits for.

mod driver;
mod remote;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};

use gtrace_cuda::work::{self, Clock, Driver as _, Handle, Pending, Span};
use gtrace_recording::clock::Scale;
use gtrace_recording::{Details, Recorder, Work};

use self::driver::{Driver, Quiet, Stream};
use self::remote::Client;
use crate::lock::Lock;
use crate::{session, threads};

/// Work that was begun since it was last looked up what has ended.
const POLL_INTERVAL: u32 = 64;

const UNKNOWN: u8 = 0;
const OFF: u8 = 1;
const ON: u8 = 2;
/// By the server of a GPU in another machine.
const REMOTE: u8 = 3;
/// Whether work is timed.
static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);
static SINCE_LOOK: AtomicU32 = AtomicU32::new(0);
/// A thread looks up what has ended.
static LOOKING: AtomicBool = AtomicBool::new(false);
type Context = work::Context<Submitted>;

static CONTEXTS: Lock<Vec<Context>> = Lock::new(Vec::new());

/// A call that gives a stream work.
#[derive(Clone, Copy)]
pub(crate) struct Submitted {
    pub(crate) function: u16,
    /// When it was called, in ticks.
    pub(crate) start: u64,
    pub(crate) thread: u32,
    pub(crate) details: Details,
}

impl Submitted {
    /// What the GPU did for it, in `span`.
    fn work(self, span: Span) -> Work {
        // Work does not begin before it was asked for.
        let start = span.start.max(self.start);
        Work {
            start,
            end: span.end.max(start),
            thread: self.thread,
            function: self.function,
            called: self.start,
            off_ns: span.off_ns,
            details: self.details,
        }
    }
}

/// The recordings' clock.
#[derive(Clone, Copy)]
struct Ticks(Scale);

impl Clock for Ticks {
    fn now(self) -> u64 {
        self.0.ticks()
    }

    fn nanos(self, counts: u64) -> u64 {
        self.0.nanos(counts)
    }

    fn counts(self, nanos: u64) -> u64 {
        self.0.ticks_of(nanos)
    }
}

/// Before a call that gives a stream work.
pub(crate) enum Begun {
    /// Work is not timed, or not here: nothing was done.
    Untimed,
    /// It cannot be timed.
    Failed,
    /// An event lies before it.
    Recorded {
        context: Handle,
        stream: Handle,
        event: Handle,
        /// When it was recorded, in ticks.
        given: u64,
    },
    /// The server times it.
    Remote(u64),
}

#[inline(always)]
fn state() -> u8 {
    match STATE.load(Ordering::Relaxed) {
        UNKNOWN => first(),
        known => known,
    }
}

#[cold]
#[inline(never)]
fn first() -> u8 {
    let variables = session::variables();
    let wanted = variables.gpu_time && variables.events != 0 && session::is_recorded();
    let state = match wanted && Driver::get().is_some() {
        false => OFF,
        true if Client::get().is_some() => REMOTE,
        true => ON,
    };
    if STATE.swap(state, Ordering::Relaxed) == UNKNOWN && state != OFF {
        crate::fork::watch();
        if state == ON {
            at_exit();
        }
    }
    state
}

/// Work that has ended by then is still reported.
#[allow(unsafe_code)]
fn at_exit() {
    extern "C" fn ending() {
        let _ = catch_unwind(|| {
            let _looking = Looking::wait();
            look(None);
        });
    }
    // SAFETY: a function of this library, which is never unmapped.
    unsafe { libc::atexit(ending) };
}

/// A call is about to give `stream` (0: the default one) work.
#[inline(always)]
pub(crate) fn begin(stream: u64) -> Begun {
    match state() {
        ON => catch_unwind(|| record_before(stream)).unwrap_or(Begun::Failed),
        REMOTE => catch_unwind(|| begin_remote(stream)).unwrap_or(Begun::Failed),
        _ => Begun::Untimed,
    }
}

#[cold]
#[inline(never)]
fn begin_remote(stream: u64) -> Begun {
    let (Some(driver), Some(client)) = (Driver::get(), Client::get()) else {
        return Begun::Untimed;
    };
    // That the client's library knows by itself.
    match driver.captures(stream) {
        Some(true) => Begun::Untimed,
        _ => client.begin(stream).map_or(Begun::Failed, Begun::Remote),
    }
}

/// What is kept for the calling thread is there from now on.
pub(crate) fn use_thread() {
    remote::use_thread();
}

/// The server's times of this thread's work on a remote GPU.
#[inline(always)]
pub(crate) fn reported(recorder: &Recorder) {
    if STATE.load(Ordering::Relaxed) == REMOTE
        && let Some(client) = Client::get()
    {
        let _ = catch_unwind(AssertUnwindSafe(|| client.report(recorder)));
    }
}

#[cold]
#[inline(never)]
fn record_before(stream: u64) -> Begun {
    let Some(driver) = Driver::get() else {
        return Begun::Untimed;
    };
    let recorded = || {
        let _quiet = Quiet::new(driver)?;
        let context = driver.context()?;
        match driver.stream_is(stream, context) {
            Stream::Usable => {}
            Stream::Captures => return Some(Begun::Untimed),
            Stream::Foreign => return None,
        }
        let event = event(driver, context)?;
        let given = session::variables().scale.ticks();
        if !driver.record(event, stream) {
            give_back(context, &[event]);
            return None;
        }
        Some(Begun::Recorded {
            context,
            stream,
            event,
            given,
        })
    };
    recorded().unwrap_or(Begun::Failed)
}

/// The call has returned `code`.
#[inline(never)]
pub(crate) fn end(begun: Begun, recorder: &Recorder, code: u32, submitted: &Submitted) {
    let _ = catch_unwind(AssertUnwindSafe(|| {
        record_behind(begun, recorder, code, submitted);
    }));
}

fn record_behind(begun: Begun, recorder: &Recorder, code: u32, submitted: &Submitted) {
    let (context, stream, begun, given) = match begun {
        Begun::Untimed => return,
        // A call that failed has given nothing to do.
        Begun::Failed if code != 0 => return,
        Begun::Failed => return recorder.submitted(),
        Begun::Remote(token) => {
            let submitted = (code == 0).then_some(submitted);
            if submitted.is_some() {
                recorder.submitted();
            }
            return Client::get().map_or((), |client| client.end(token, submitted));
        }
        Begun::Recorded {
            context,
            stream,
            event,
            given,
        } => (context, stream, event, given),
    };
    let Some(driver) = Driver::get() else { return };
    if code != 0 {
        return give_back(context, &[begun]);
    }
    recorder.submitted();
    let recorded = || {
        let _quiet = Quiet::new(driver)?;
        let same = driver.context() == Some(context);
        if !same || driver.stream_is(stream, context) != Stream::Usable {
            return None;
        }
        let ended = event(driver, context)?;
        if !driver.record(ended, stream) {
            give_back(context, &[ended]);
            return None;
        }
        Some(ended)
    };
    let Some(ended) = recorded() else {
        return give_back(context, &[begun]);
    };
    let pending = Pending {
        begun,
        ended,
        given,
        of: *submitted,
    };
    with(context, |context| context.push(stream, pending));
    if SINCE_LOOK.fetch_add(1, Ordering::Relaxed) + 1 >= POLL_INTERVAL {
        look_if_free(Some(recorder));
    }
}

/// The program has waited for the GPU.
#[inline(always)]
pub(crate) fn waited() {
    if STATE.load(Ordering::Relaxed) == ON {
        let _ = catch_unwind(|| look_if_free(None));
    }
}

/// A context is about to end, or contexts of a device: what is known of them is reported and forgotten.
#[inline(always)]
pub(crate) fn leave(context: Option<u64>, device: Option<i32>) {
    if STATE.load(Ordering::Relaxed) == ON {
        let _ = catch_unwind(|| {
            let _looking = Looking::wait();
            look(None);
            let is_one =
                |one: &mut Context| Some(one.handle) == context || Some(one.device) == device;
            let gone: Vec<_> = CONTEXTS.with(|all| all.extract_if(.., is_one).collect());
            if let Some(driver) = Driver::get()
                && let Some(_quiet) = Quiet::new(driver)
            {
                gone.into_iter().for_each(|context| context.end(driver));
            }
        });
    }
}

/// The child of fork(2) has no GPU of its parent's.
pub(crate) fn in_child() {
    CONTEXTS.open_in_child();
    // Not dropped: the parent's allocator may have been in use by a thread that is not here.
    CONTEXTS.with(|all| std::mem::forget(std::mem::take(all)));
    LOOKING.store(false, Ordering::Release);
    remote::in_child();
}

/// One thread at a time looks up what has ended, and it alone renews or ends what times are distinguished from.
struct Looking;

impl Looking {
    fn now() -> Option<Self> {
        // Not `then_some`: a value that is not handed out would be dropped, and end what another thread holds.
        (!LOOKING.swap(true, Ordering::Acquire)).then(|| Self)
    }

    /// Others look without waiting for anything.
    fn wait() -> Self {
        loop {
            match Self::now() {
                Some(looking) => return looking,
                None => std::thread::yield_now(),
            }
        }
    }
}

impl Drop for Looking {
    fn drop(&mut self) {
        LOOKING.store(false, Ordering::Release);
    }
}

/// Runs `body`, which calls no driver, with what is kept for a context.
fn with<R>(handle: Handle, body: impl FnOnce(&mut Context) -> R) -> Option<R> {
    CONTEXTS.with(|all| {
        let found = all.iter_mut().find(|context| context.handle == handle);
        found.map(body)
    })
}

fn give_back(context: Handle, events: &[Handle]) {
    with(context, |context| context.give_back(events));
}

/// An event of the current context, `handle`.
fn event(driver: &Driver, handle: Handle) -> Option<Handle> {
    let known = match with(handle, Context::event) {
        Some(known) => known,
        None => {
            let new = Context::new(driver, handle, driver.device()?)?;
            let unused = CONTEXTS.with(|all| {
                // Another thread may have been quicker.
                match all.iter().any(|context| context.handle == handle) {
                    true => Some(new),
                    false => {
                        all.push(new);
                        None
                    }
                }
            });
            unused.into_iter().for_each(|context| context.end(driver));
            with(handle, Context::event)?
        }
    };
    match known {
        Ok(event) => Some(event),
        // What has ended gives events back.
        Err(false) => {
            look_if_free(None);
            with(handle, Context::event)?.ok()
        }
        Err(true) => driver.create_event().or_else(|| {
            with(handle, Context::not_made);
            None
        }),
    }
}

/// As [`look`], unless another thread does.
fn look_if_free(recorder: Option<&Recorder>) {
    if let Some(_looking) = Looking::now() {
        look(recorder);
    }
}

/// Reports the work that has ended, by who is [`Looking`]. `recorder`: the thread's, if it is at hand.
fn look(recorder: Option<&Recorder>) {
    SINCE_LOOK.store(0, Ordering::Relaxed);
    let Some(driver) = Driver::get() else { return };
    match recorder {
        Some(recorder) => look_with(driver, recorder),
        None => {
            let Some((recorder, way)) = threads::recorder() else {
                return;
            };
            look_with(driver, recorder);
            if way == threads::Way::Borrowed {
                threads::give_back(recorder);
            }
        }
    }
}

fn look_with(driver: &Driver, recorder: &Recorder) {
    let Some(_quiet) = Quiet::new(driver) else {
        return;
    };
    let clock = Ticks(session::variables().scale);
    let handles: Vec<Handle> = CONTEXTS.with(|all| all.iter().map(|one| one.handle).collect());
    for handle in handles {
        let taken = with(handle, |context| (context.take(), context.anchor));
        let Some((mut queues, mut anchor)) = taken else {
            continue;
        };
        let reported = |of: Submitted, span: Span| recorder.work(&of.work(span));
        let free = work::ended(driver, clock, (&mut anchor, &mut queues), reported);
        with(handle, |context| {
            context.put_back(queues);
            context.give_back(&free);
            context.anchor = anchor;
        });
    }
}
