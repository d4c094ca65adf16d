//! Streams: the two default ones of a context, and created ones.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::abi::Answer;
use crate::command::Command;
use crate::context::{Context, current};
use crate::error::{INVALID_CONTEXT, INVALID_HANDLE};
use crate::graph::capture::{self, Member};
use crate::lane::Lane;
use crate::registry::{Registry, mint};

/// `CU_STREAM_LEGACY`.
pub(crate) const LEGACY: u64 = 1;
/// `CU_STREAM_PER_THREAD`.
pub(crate) const PER_THREAD: u64 = 2;
/// `CU_STREAM_NON_BLOCKING`.
pub(crate) const NON_BLOCKING: u32 = 1;
const KIND: u8 = 2;

/// All created streams that live.
pub(crate) static STREAMS: Registry<Stream> = Registry::new();

/// The stream that a handle means in functions whose name ends in `_ptsz` or `_ptds`.
pub(crate) fn or_per_thread(handle: u64) -> u64 {
    if handle == 0 { PER_THREAD } else { handle }
}

/// One stream.
pub(crate) struct Stream {
    /// Handle of its context.
    pub(crate) context: u64,
    pub(crate) id: u64,
    pub(crate) flags: u32,
    pub(crate) priority: i32,
    pub(crate) lane: Arc<Lane>,
    pub(crate) is_legacy: bool,
    /// What it captures.
    pub(crate) member: Mutex<Option<Member>>,
}

fn next_id() -> u64 {
    static IDS: AtomicU64 = AtomicU64::new(1);
    IDS.fetch_add(1, Ordering::Relaxed)
}

impl Stream {
    /// The legacy default stream of a context.
    pub(crate) fn legacy(context: u64, lane: Arc<Lane>) -> Self {
        Self {
            context,
            id: next_id(),
            flags: 0,
            priority: 0,
            lane,
            is_legacy: true,
            member: Mutex::default(),
        }
    }

    fn new(context: &Context, flags: u32, priority: i32) -> Arc<Self> {
        let lane = Lane::new(flags & NON_BLOCKING == 0, Arc::clone(&context.health));
        context.add_lane(Arc::clone(&lane));
        Arc::new(Self {
            context: context.handle,
            id: next_id(),
            flags,
            priority,
            lane,
            is_legacy: false,
            member: Mutex::default(),
        })
    }

    /// Makes a stream and gives its handle.
    pub(crate) fn create(context: &Context, flags: u32, priority: i32) -> u64 {
        let handle = mint(KIND);
        STREAMS.insert(handle, Self::new(context, flags, priority));
        handle
    }

    /// Lanes that a command issued now must wait for beside its own: the legacy default stream
    /// and the blocking streams wait for each other.
    fn others(&self, context: &Context) -> Vec<Arc<Lane>> {
        if self.is_legacy {
            context.busy_lanes(|lane| lane.blocking)
        } else if self.lane.blocking && context.legacy.lane.is_busy() {
            vec![Arc::clone(&context.legacy.lane)]
        } else {
            Vec::new()
        }
    }

    /// Queues a command.
    ///
    /// # Errors
    /// Those of a stream capture that the command would break.
    pub(crate) fn submit(&self, context: &Context, command: Command) -> Answer {
        capture::refuse(self)?;
        capture::refuse_implicit(self)?;
        // What another thread submits between these two lines is not before this command.
        let before = self.others(context).into_iter().map(|lane| {
            let number = lane.submitted();
            Command::Await(Arc::clone(&lane.done), number)
        });
        let before = before.collect();
        self.lane.submit(before, command);
        Ok(())
    }

    /// Waits for all that a command issued now would wait for.
    pub(crate) fn quiesce(&self, context: &Context) {
        for lane in self.others(context) {
            lane.drain();
        }
        self.lane.drain();
        context.printed.flush();
    }

    /// Whether a command issued now would begin at once.
    pub(crate) fn is_idle(&self, context: &Context) -> bool {
        !self.lane.is_busy() && self.others(context).is_empty()
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.lane.close();
        if !self.is_legacy
            && let Ok(context) = Context::of(self.context)
        {
            context.drop_lane(&self.lane);
        }
    }
}

thread_local! {
    /// Default streams of this thread, by context.
    static OWN: RefCell<Vec<Arc<Stream>>> = const { RefCell::new(Vec::new()) };
}

fn per_thread(context: &Context) -> Arc<Stream> {
    // An exit handler of the program has no stream of its own any more.
    if OWN.try_with(|_| ()).is_err() {
        return Arc::clone(&context.legacy);
    }
    OWN.with_borrow_mut(|own| {
        // A primary context that was made again has the handle of the one before.
        let mut streams = own.iter();
        if let Some(stream) = streams.find(|stream| stream.lane.reports_to(&context.health)) {
            return Arc::clone(stream);
        }
        own.retain(|stream| {
            Context::of(stream.context).is_ok_and(|live| stream.lane.reports_to(&live.health))
        });
        let stream = Stream::new(context, 0, 0);
        own.push(Arc::clone(&stream));
        stream
    })
}

/// The stream of a handle and its context, which must not have failed.
pub(crate) fn resolve(handle: u64) -> Answer<(Arc<Context>, Arc<Stream>)> {
    let context = current()?;
    let (context, stream) = locate(context, handle)?;
    context.health.check()?;
    Ok((context, stream))
}

/// As [`resolve`], from a current context that is known; errors of the device are not checked.
pub(crate) fn locate(context: Arc<Context>, handle: u64) -> Answer<(Arc<Context>, Arc<Stream>)> {
    match handle {
        0 | LEGACY => {
            let stream = Arc::clone(&context.legacy);
            Ok((context, stream))
        }
        PER_THREAD => {
            let stream = per_thread(&context);
            Ok((context, stream))
        }
        _ => {
            let stream = STREAMS.get(handle).ok_or(INVALID_HANDLE)?;
            if stream.context == context.handle {
                return Ok((context, stream));
            }
            let owner = Context::of(stream.context).map_err(|_| INVALID_CONTEXT)?;
            Ok((owner, stream))
        }
    }
}
