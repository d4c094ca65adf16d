//! Contexts: created ones and the primary one of each device, and what is current to a thread.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use crate::abi::Answer;
use crate::device::Device;
use crate::error::{
    CONTEXT_IS_DESTROYED, CuError, DEVICE_UNAVAILABLE, INVALID_CONTEXT, INVALID_VALUE,
    NOT_PERMITTED, UNSUPPORTED_LIMIT, fail_if,
};
use crate::event::EVENTS;
use crate::health::Health;
use crate::lane::Lane;
use crate::print::Fifo;
use crate::registry::mint;
use crate::state::{State, state};
use crate::stream::{STREAMS, Stream};
use crate::sync::lock;
use crate::{memory, module, tables};

const KIND: u8 = 1;

/// One context.
pub(crate) struct Context {
    pub(crate) handle: u64,
    pub(crate) device: &'static Device,
    pub(crate) primary: bool,
    pub(crate) flags: AtomicU32,
    pub(crate) cache_config: AtomicU32,
    /// How often it is attached to beyond its making (`cuCtxAttach`).
    pub(crate) attached: AtomicU32,
    pub(crate) health: Arc<Health>,
    alive: AtomicBool,
    /// The legacy default stream.
    pub(crate) legacy: Arc<Stream>,
    lanes: Mutex<Vec<Arc<Lane>>>,
    limits: Mutex<Vec<(u32, usize)>>,
    /// Handles of contexts whose memory this one may use.
    pub(crate) peers: Mutex<Vec<u64>>,
    /// What its kernels printed.
    pub(crate) printed: Fifo,
}

/// `CU_LIMIT_*` that can be asked for, and the values at start.
const LIMITS: [(u32, usize); 10] = [
    (0, 1024),    // stack size
    (1, 1 << 20), // printf buffer
    (2, 8 << 20), // malloc heap
    (3, 2),       // depth of device-side synchronisation
    (4, 2048),    // pending device-side launches
    (5, 64),      // L2 fetch granularity
    (6, 0),       // persisting L2 cache
    (7, 0),       // shared memory of a context for graphics
    (8, 0), // whether it is one: cublasLt asks, and takes another error than INVALID_VALUE for one of its own
    (9, 0), // whether it may do without
];

/// From here on limits are only reported.
const REPORTED: u32 = 7;

/// `CU_LIMIT_STACK_SIZE`, which is at most the local memory that a thread can have.
const STACK: u32 = 0;
const STACK_MAX: usize = 512 << 10;

impl Context {
    /// Makes a context on `device` and registers it: the primary one, by its handle, or another.
    pub(crate) fn create(
        state: &'static State,
        device: &'static Device,
        flags: u32,
        primary: Option<u64>,
    ) -> Answer<Arc<Self>> {
        state.refresh(device);
        fail_if(device.is_lost(), DEVICE_UNAVAILABLE)?;
        crate::startup::check()?;
        let handle = primary.unwrap_or_else(|| mint(KIND));
        let health = Arc::new(Health::default());
        let lane = Lane::new(true, Arc::clone(&health));
        let legacy = Arc::new(Stream::legacy(handle, Arc::clone(&lane)));
        let context = Arc::new(Self {
            handle,
            device,
            primary: primary.is_some(),
            flags: AtomicU32::new(flags),
            cache_config: AtomicU32::new(0),
            attached: AtomicU32::new(0),
            health,
            alive: AtomicBool::new(true),
            legacy,
            lanes: Mutex::new(Vec::new()),
            limits: Mutex::new(LIMITS.to_vec()),
            peers: Mutex::new(Vec::new()),
            printed: Fifo::default(),
        });
        state.contexts.insert(handle, Arc::clone(&context));
        Ok(context)
    }

    /// The live context of a handle.
    pub(crate) fn of(handle: u64) -> Answer<Arc<Self>> {
        state()?.contexts.get(handle).ok_or(INVALID_CONTEXT)
    }

    /// Whether it was not destroyed.
    pub(crate) fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Acquire)
    }

    /// Adds the lane of a new stream.
    pub(crate) fn add_lane(&self, lane: Arc<Lane>) {
        let mut lanes = lock(&self.lanes);
        lanes.retain(|other| !other.is_over());
        lanes.push(lane);
    }

    /// The stream of `lane` is gone; the lane is kept while it has work, which others wait for.
    pub(crate) fn drop_lane(&self, lane: &Arc<Lane>) {
        lock(&self.lanes).retain(|other| !Arc::ptr_eq(other, lane) || other.is_busy());
    }

    /// Lanes with outstanding work, the legacy default stream's not among them.
    pub(crate) fn busy_lanes(&self, which: impl Fn(&Lane) -> bool) -> Vec<Arc<Lane>> {
        let lanes = lock(&self.lanes);
        lanes
            .iter()
            .filter(|lane| which(lane) && lane.is_busy())
            .cloned()
            .collect()
    }

    /// Waits for all work of the context.
    pub(crate) fn drain(&self) {
        self.legacy.lane.drain();
        for lane in self.busy_lanes(|_| true) {
            lane.drain();
        }
        self.printed.flush();
    }

    /// Waits for all work and reports its error.
    pub(crate) fn synchronise(&self) -> Answer {
        crate::graph::capture::refuse_context(self)?;
        self.drain();
        self.health.check()
    }

    /// Destroys the context and all that belongs to it, once its work is done.
    pub(crate) fn destroy(&self, state: &State) {
        self.alive.store(false, Ordering::Release);
        self.drain();
        crate::graph::capture::context_destroyed(self.handle);
        state.contexts.remove(self.handle);
        STREAMS.remove_where(|stream| stream.context == self.handle);
        EVENTS.remove_where(|event| event.context == self.handle);
        module::unload_context(state, self.handle);
        memory::free_context(&state.devices, self.handle);
        self.legacy.lane.close();
        tables::context_ended(self.handle);
    }

    /// Value of `CU_LIMIT_*`.
    pub(crate) fn limit(&self, limit: u32) -> Answer<usize> {
        let limits = lock(&self.limits);
        limits
            .iter()
            .find(|(id, _)| *id == limit)
            .map(|(_, v)| *v)
            .ok_or(UNSUPPORTED_LIMIT)
    }

    /// Sets `CU_LIMIT_*`.
    ///
    /// # Errors
    /// `CUDA_ERROR_UNSUPPORTED_LIMIT`; `CUDA_ERROR_INVALID_VALUE` for a stack that no thread can have.
    pub(crate) fn set_limit(&self, limit: u32, value: usize) -> Answer {
        fail_if(limit == STACK && value > STACK_MAX, INVALID_VALUE)?;
        let mut limits = lock(&self.limits);
        let found = limits
            .iter_mut()
            .find(|(id, _)| *id == limit && limit < REPORTED)
            .ok_or(UNSUPPORTED_LIMIT)?;
        found.1 = value;
        Ok(())
    }
}

thread_local! {
    static CURRENT: Stack = const { Stack(RefCell::new(Vec::new())) };
    static FORBIDDEN: Cell<bool> = const { Cell::new(false) };
}

/// The contexts of a thread.
struct Stack(RefCell<Vec<Arc<Context>>>);

/// Handle of what was current to the main thread when its own variables went: exit handlers of
/// programs, such as those of NVIDIA's runtime, run after that and still call.
static AT_EXIT: AtomicU64 = AtomicU64::new(0);

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: both only return numbers.
        #[allow(unsafe_code)]
        let is_main = unsafe { libc::gettid() == libc::getpid() };
        if is_main {
            let top = self.0.get_mut().last();
            AT_EXIT.store(top.map_or(0, |top| top.handle), Ordering::Relaxed);
        }
    }
}

/// Does something with the stack of the calling thread.
fn with_stack<T>(act: impl FnOnce(&mut Vec<Arc<Context>>) -> T) -> T {
    if CURRENT.try_with(|_| ()).is_ok() {
        return CURRENT.with(|stack| act(&mut stack.0.borrow_mut()));
    }
    let handle = AT_EXIT.load(Ordering::Relaxed);
    let mut stack: Vec<_> = Context::of(handle).into_iter().collect();
    let done = act(&mut stack);
    AT_EXIT.store(stack.last().map_or(0, |top| top.handle), Ordering::Relaxed);
    done
}

/// The calling thread works off a stream: functions of the program that it calls must not use
/// contexts, as they would wait for themselves.
pub(crate) fn forbid() {
    FORBIDDEN.set(true);
}

/// The top of the calling thread's stack, alive or not.
pub(crate) fn top() -> Option<Arc<Context>> {
    with_stack(|stack| stack.last().cloned())
}

/// The current context, which must live; its error is not checked.
pub(crate) fn bound() -> Answer<Arc<Context>> {
    let state = state()?;
    fail_if(FORBIDDEN.get(), NOT_PERMITTED)?;
    let context = top().ok_or(INVALID_CONTEXT)?;
    let context = match context.is_alive() {
        true => context,
        false => made_again(state, &context).ok_or(CONTEXT_IS_DESTROYED)?,
    };
    state.refresh(context.device);
    Ok(context)
}

/// A primary context that was destroyed and retained since is current where it was: it is the same
/// one to programs, as with CUDA.
fn made_again(state: &State, context: &Context) -> Option<Arc<Context>> {
    let again = state.contexts.get(context.handle)?;
    with_stack(|stack| {
        if let Some(top) = stack.last_mut() {
            *top = Arc::clone(&again);
        }
    });
    Some(again)
}

/// The current context for a call that uses the device: an earlier error of it is returned.
pub(crate) fn current() -> Answer<Arc<Context>> {
    let context = bound()?;
    context.health.check()?;
    Ok(context)
}

/// Puts a context on top of the stack.
pub(crate) fn push(context: Arc<Context>) {
    with_stack(|stack| stack.push(context));
}

/// Takes the top of the stack.
pub(crate) fn pop() -> Option<Arc<Context>> {
    with_stack(Vec::pop)
}

/// Replaces the top of the stack; none takes it away.
pub(crate) fn replace(context: Option<Arc<Context>>) {
    with_stack(|stack| {
        stack.pop();
        stack.extend(context);
    });
}

/// The primary context of each device, counted by those who retain it.
#[derive(Default)]
pub(crate) struct Primary {
    retained: u64,
    flags: u32,
    /// Its handle, the same each time that it is made; 0 before the first.
    handle: u64,
    context: Option<Arc<Context>>,
    /// The thread that destroys the one before.
    ending: Option<ThreadId>,
}

static PRIMARIES: Mutex<Vec<Primary>> = Mutex::new(Vec::new());
/// A primary context is destroyed.
static ENDED: Condvar = Condvar::new();

fn primaries(device: &Device) -> MutexGuard<'static, Vec<Primary>> {
    let mut primaries = lock(&PRIMARIES);
    if primaries.len() <= device.index {
        primaries.resize_with(device.index + 1, Primary::default);
    }
    primaries
}

fn with_primary<T>(device: &Device, act: impl FnOnce(&mut Primary) -> T) -> T {
    act(&mut primaries(device)[device.index])
}

/// `cuDevicePrimaryCtxRetain`.
pub(crate) fn retain_primary(state: &'static State, device: &'static Device) -> Answer<u64> {
    let me = thread::current().id();
    let mut primaries = primaries(device);
    // The next one has the same handle, by which all that belongs to the one before is found and ended.
    while primaries[device.index].ending.is_some_and(|by| by != me) {
        primaries = ENDED
            .wait(primaries)
            .unwrap_or_else(PoisonError::into_inner);
    }
    let primary = &mut primaries[device.index];
    let context = match &primary.context {
        Some(context) => Arc::clone(context),
        None => {
            if primary.handle == 0 {
                primary.handle = mint(KIND);
            }
            Context::create(state, device, primary.flags, Some(primary.handle))?
        }
    };
    primary.retained += 1;
    let handle = context.handle;
    primary.context = Some(context);
    Ok(handle)
}

/// `cuDevicePrimaryCtxRelease`, or with `reset` `cuDevicePrimaryCtxReset`, which destroys the
/// context however often it is retained.
pub(crate) fn release_primary(state: &State, device: &Device, reset: bool) -> Answer {
    let gone = with_primary(device, |primary| {
        if primary.context.is_none() {
            return if reset {
                Ok(None)
            } else {
                Err(INVALID_CONTEXT)
            };
        }
        primary.retained -= 1;
        if reset || primary.retained == 0 {
            primary.retained = 0;
            primary.ending = Some(thread::current().id());
            return Ok(primary.context.take());
        }
        Ok::<_, CuError>(None)
    })?;
    if let Some(context) = gone {
        context.destroy(state);
        with_primary(device, |primary| primary.ending = None);
        ENDED.notify_all();
    }
    Ok(())
}

/// Flags of the primary context, and whether it is active.
pub(crate) fn primary_state(device: &Device) -> (u32, bool) {
    with_primary(device, |primary| (primary.flags, primary.context.is_some()))
}

/// `cuDevicePrimaryCtxSetFlags`.
pub(crate) fn set_primary_flags(device: &Device, flags: u32) {
    with_primary(device, |primary| {
        primary.flags = flags;
        if let Some(context) = &primary.context {
            context.flags.store(flags, Ordering::Relaxed);
        }
    });
}
