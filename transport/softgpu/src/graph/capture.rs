//! Stream capture: what is put into capturing streams becomes nodes of a graph.
//!
//! A stream that waits for an event of a capture joins it. What a call may not do during a capture
//! ends it: the capture is then invalid until its first stream ends it.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, ThreadId};

use super::Graph;
use super::work::Work;
use crate::abi::Answer;
use crate::context::Context;
use crate::error::{
    CAPTURED_EVENT, ILLEGAL_STATE, INVALID_VALUE, STREAM_CAPTURE_IMPLICIT,
    STREAM_CAPTURE_INVALIDATED, STREAM_CAPTURE_ISOLATION, STREAM_CAPTURE_MERGE,
    STREAM_CAPTURE_UNJOINED, STREAM_CAPTURE_UNMATCHED, STREAM_CAPTURE_UNSUPPORTED,
    STREAM_CAPTURE_WRONG_THREAD, fail_if,
};
use crate::event::Event;
use crate::stream::Stream;
use crate::sync::lock;
use crate::types::EdgeData;

/// `CU_STREAM_CAPTURE_MODE_GLOBAL`, `_THREAD_LOCAL` and `_RELAXED`.
const GLOBAL: u32 = 0;
const THREAD_LOCAL: u32 = 1;
pub(crate) const RELAXED: u32 = 2;

/// What new work waits for.
pub(crate) type Dependencies = Vec<(u64, EdgeData)>;

/// One capture.
pub(crate) struct Capture {
    pub(crate) id: u64,
    pub(crate) graph: Arc<Graph>,
    /// The graph was given by the program, which keeps it.
    borrowed: bool,
    mode: u32,
    thread: ThreadId,
    /// Id of the stream that it began in.
    origin: u64,
    /// Handle of the context.
    context: u64,
    /// Nodes that it added, but for those that the program took out of what a stream waits for.
    nodes: Mutex<Vec<u64>>,
    /// One of its streams waits for the legacy default stream.
    blocking: AtomicBool,
    invalid: AtomicBool,
    over: AtomicBool,
}

/// A stream's part in a capture.
pub(crate) struct Member {
    capture: Arc<Capture>,
    after: Dependencies,
}

/// A record of an event in a capture.
pub(crate) struct Mark {
    capture: Arc<Capture>,
    after: Dependencies,
}

/// Captures under way, and how many there are.
static ACTIVE: Mutex<Vec<Arc<Capture>>> = Mutex::new(Vec::new());
static COUNT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static MODE: Cell<u32> = const { Cell::new(GLOBAL) };
}

fn active() -> MutexGuard<'static, Vec<Arc<Capture>>> {
    lock(&ACTIVE)
}

fn none() -> bool {
    COUNT.load(Ordering::SeqCst) == 0
}

/// `cuThreadExchangeStreamCaptureMode`.
pub(crate) fn exchange_mode(wanted: u32) -> Answer<u32> {
    match wanted {
        GLOBAL | THREAD_LOCAL | RELAXED => Ok(MODE.replace(wanted)),
        _ => Err(INVALID_VALUE),
    }
}

impl Capture {
    /// Whether more can be captured.
    pub(crate) fn check(&self) -> Answer {
        fail_if(
            self.invalid.load(Ordering::SeqCst),
            STREAM_CAPTURE_INVALIDATED,
        )
    }

    /// Nothing comes of it any more.
    pub(crate) fn invalidate(&self) {
        self.invalid.store(true, Ordering::SeqCst);
    }
}

/// The capture in which a stream takes part.
pub(crate) fn of(stream: &Stream) -> Option<Arc<Capture>> {
    if none() {
        return None;
    }
    let mut member = lock(&stream.member);
    let capture = &member.as_ref()?.capture;
    if capture.over.load(Ordering::SeqCst) {
        *member = None;
        return None;
    }
    Some(Arc::clone(capture))
}

/// What the next work of a capturing stream waits for.
pub(crate) fn dependencies(stream: &Stream) -> Dependencies {
    let member = lock(&stream.member);
    member.as_ref().map(|m| m.after.clone()).unwrap_or_default()
}

/// Sets what the next work of a capturing stream waits for, or adds to it.
///
/// # Errors
/// `CUDA_ERROR_INVALID_VALUE` for nodes of another graph.
pub(crate) fn set_dependencies(stream: &Stream, given: Dependencies, add: bool) -> Answer {
    let capture = of(stream).ok_or(ILLEGAL_STATE)?;
    capture.check()?;
    let nodes = capture.graph.nodes();
    let known = |handle: u64| nodes.iter().any(|node| node.handle == handle);
    fail_if(
        !given.iter().all(|(handle, _)| known(*handle)),
        INVALID_VALUE,
    )?;
    if let Some(member) = lock(&stream.member).as_mut() {
        if !add {
            let mut gone = std::mem::take(&mut member.after);
            gone.retain(|(node, _)| !has(&given, *node));
            lock(&capture.nodes).retain(|own| !has(&gone, *own));
        }
        join(&mut member.after, &given);
    }
    Ok(())
}

fn has(all: &[(u64, EdgeData)], node: u64) -> bool {
    all.iter().any(|(own, _)| *own == node)
}

fn join(after: &mut Dependencies, more: &[(u64, EdgeData)]) {
    for (node, data) in more {
        if !has(after, *node) {
            after.push((*node, *data));
        }
    }
}

/// Adds a node to what a stream captures.
pub(crate) fn record(stream: &Stream, capture: &Capture, work: Work) -> Answer {
    capture.check()?;
    let mut member = lock(&stream.member);
    let member = member.as_mut().ok_or(ILLEGAL_STATE)?;
    let node = capture.graph.add(&member.after, work)?;
    lock(&capture.nodes).push(node.handle);
    member.after = vec![(node.handle, EdgeData::default())];
    Ok(())
}

/// Begins a capture: into a new graph, or into one of the program behind nodes of it.
pub(crate) fn begin(
    stream: &Stream,
    mode: u32,
    into: Option<(Arc<Graph>, Dependencies)>,
) -> Answer {
    static IDS: AtomicU64 = AtomicU64::new(1);
    fail_if(mode > RELAXED, INVALID_VALUE)?;
    fail_if(stream.is_legacy, STREAM_CAPTURE_UNSUPPORTED)?;
    fail_if(of(stream).is_some(), ILLEGAL_STATE)?;
    let borrowed = into.is_some();
    let (graph, after) = into.unwrap_or_else(|| (Graph::create(false), Vec::new()));
    let capture = Arc::new(Capture {
        id: IDS.fetch_add(1, Ordering::Relaxed),
        graph,
        borrowed,
        mode,
        thread: thread::current().id(),
        origin: stream.id,
        context: stream.context,
        nodes: Mutex::default(),
        blocking: AtomicBool::new(stream.lane.blocking),
        invalid: AtomicBool::new(false),
        over: AtomicBool::new(false),
    });
    active().push(Arc::clone(&capture));
    COUNT.fetch_add(1, Ordering::SeqCst);
    *lock(&stream.member) = Some(Member { capture, after });
    Ok(())
}

/// Whether the capture of `stream` goes into a graph that there was before.
pub(crate) fn is_into_graph(stream: &Stream) -> bool {
    of(stream).is_some_and(|capture| capture.borrowed)
}

/// Ends the capture that began in `stream`: the handle of its graph.
///
/// # Errors
/// `CUDA_ERROR_ILLEGAL_STATE` if the stream does not capture, `_STREAM_CAPTURE_UNMATCHED` if it only
/// joined, `_WRONG_THREAD` from another thread than began it unless its mode is relaxed; and
/// `_UNJOINED` and `_INVALIDATED`, after which the capture is over.
pub(crate) fn end(stream: &Stream) -> Answer<u64> {
    let capture = of(stream).ok_or(ILLEGAL_STATE)?;
    if capture.mode != RELAXED && capture.thread != thread::current().id() {
        return Err(STREAM_CAPTURE_WRONG_THREAD);
    }
    if capture.origin != stream.id {
        capture.invalidate();
        return Err(STREAM_CAPTURE_UNMATCHED);
    }
    let own = lock(&stream.member).take();
    finish(&capture);
    let after = own.map(|member| member.after).unwrap_or_default();
    let outcome = capture.check().and_then(|()| {
        let nodes = lock(&capture.nodes);
        let leaves = capture.graph.leaves();
        let mut own = leaves.iter().filter(|leaf| nodes.contains(leaf));
        match own.all(|leaf| has(&after, *leaf)) {
            true => Ok(capture.graph.handle),
            false => Err(STREAM_CAPTURE_UNJOINED),
        }
    });
    if outcome.is_err() && !capture.borrowed {
        capture.graph.destroy();
    }
    outcome
}

fn finish(capture: &Arc<Capture>) {
    capture.over.store(true, Ordering::SeqCst);
    let mut all = active();
    let before = all.len();
    all.retain(|other| !Arc::ptr_eq(other, capture));
    COUNT.fetch_sub(before - all.len(), Ordering::SeqCst);
}

/// A stream is destroyed: a capture that began in it can end no more.
pub(crate) fn stream_destroyed(stream: &Stream) {
    if let Some(capture) = of(stream) {
        capture.invalidate();
        if capture.origin == stream.id {
            give_up(&capture);
        }
    }
}

/// A context is destroyed: captures that began in its streams can end no more.
pub(crate) fn context_destroyed(context: u64) {
    let theirs = |capture: &&Arc<Capture>| capture.context == context;
    let gone: Vec<_> = active().iter().filter(theirs).cloned().collect();
    for capture in &gone {
        capture.invalidate();
        give_up(capture);
    }
}

/// Ends a capture of which nothing comes.
fn give_up(capture: &Arc<Capture>) {
    finish(capture);
    if !capture.borrowed {
        capture.graph.destroy();
    }
}

/// A call that no capturing stream takes: the capture becomes invalid.
///
/// # Errors
/// `CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED`.
pub(crate) fn refuse(stream: &Stream) -> Answer {
    let Some(capture) = of(stream) else {
        return Ok(());
    };
    capture.check()?;
    capture.invalidate();
    Err(STREAM_CAPTURE_UNSUPPORTED)
}

/// A use of the legacy default stream of a context, which would have it wait for blocking streams
/// that capture.
///
/// # Errors
/// `CUDA_ERROR_STREAM_CAPTURE_IMPLICIT`, and their captures become invalid.
pub(crate) fn refuse_implicit(stream: &Stream) -> Answer {
    if none() || !stream.is_legacy {
        return Ok(());
    }
    let blocks = |capture: &Capture| {
        capture.context == stream.context && capture.blocking.load(Ordering::SeqCst)
    };
    invalidate_all(blocks, STREAM_CAPTURE_IMPLICIT)
}

/// A question about the legacy default stream while a blocking stream of its context captures
/// (documented of `cuStreamIsCapturing`): the capture stays valid.
///
/// # Errors
/// `CUDA_ERROR_STREAM_CAPTURE_IMPLICIT`.
pub(crate) fn refuse_legacy(stream: &Stream) -> Answer {
    let blocks = |capture: &Arc<Capture>| {
        capture.context == stream.context && capture.blocking.load(Ordering::SeqCst)
    };
    fail_if(
        stream.is_legacy && !none() && active().iter().any(blocks),
        STREAM_CAPTURE_IMPLICIT,
    )
}

/// A call that waits for a whole context.
///
/// # Errors
/// `CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED` if one of its streams captures.
pub(crate) fn refuse_context(context: &Context) -> Answer {
    if none() {
        return Ok(());
    }
    invalidate_all(
        |capture| capture.context == context.handle,
        STREAM_CAPTURE_UNSUPPORTED,
    )
}

/// A call that may do what cannot be captured, such as to allocate memory: whether it may be made is
/// for the modes of thread and captures to say, as documented of
/// `cuThreadExchangeStreamCaptureMode`.
///
/// # Errors
/// `CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED`, and the captures that forbid it become invalid.
pub(crate) fn refuse_unsafe() -> Answer {
    let mode = MODE.get();
    if none() || mode == RELAXED {
        return Ok(());
    }
    let me = thread::current().id();
    let forbids = |capture: &Capture| match capture.thread == me {
        true => capture.mode != RELAXED,
        false => mode == GLOBAL && capture.mode == GLOBAL,
    };
    invalidate_all(forbids, STREAM_CAPTURE_UNSUPPORTED)
}

fn invalidate_all(which: impl Fn(&Capture) -> bool, error: crate::error::CuError) -> Answer {
    let mut any = false;
    for capture in active().iter().filter(|capture| which(capture)) {
        capture.invalidate();
        any = true;
    }
    if any { Err(error) } else { Ok(()) }
}

/// Records an event in a stream, if that captures; else the event belongs to no capture any more.
pub(crate) fn record_event(stream: &Stream, event: &Event) -> Answer<bool> {
    let Some(capture) = of(stream) else {
        *lock(&event.captured) = None;
        return Ok(false);
    };
    capture.check()?;
    *lock(&event.captured) = Some(Mark {
        capture,
        after: dependencies(stream),
    });
    Ok(true)
}

/// Lets a stream wait for an event, if one of the two belongs to a capture.
///
/// # Errors
/// `CUDA_ERROR_STREAM_CAPTURE_MERGE` between two captures, `_ISOLATION` for an event from outside,
/// `CUDA_ERROR_CAPTURED_EVENT` for one of a capture that is over.
pub(crate) fn wait_event(stream: &Stream, event: &Event) -> Answer<bool> {
    let own = of(stream);
    let marked = lock(&event.captured);
    let Some(mark) = marked.as_ref() else {
        let Some(own) = own else {
            return Ok(false);
        };
        own.check()?;
        if event.issued() == 0 {
            return Ok(true);
        }
        own.invalidate();
        return Err(STREAM_CAPTURE_ISOLATION);
    };
    if mark.capture.over.load(Ordering::SeqCst) {
        if let Some(own) = own {
            own.invalidate();
        }
        return Err(CAPTURED_EVENT);
    }
    mark.capture.check()?;
    if stream.is_legacy {
        mark.capture.invalidate();
        return Err(STREAM_CAPTURE_IMPLICIT);
    }
    match own {
        Some(own) if !Arc::ptr_eq(&own, &mark.capture) => {
            own.invalidate();
            mark.capture.invalidate();
            return Err(STREAM_CAPTURE_MERGE);
        }
        Some(_) => {
            if let Some(member) = lock(&stream.member).as_mut() {
                join(&mut member.after, &mark.after);
            }
        }
        None => {
            if stream.lane.blocking {
                mark.capture.blocking.store(true, Ordering::SeqCst);
            }
            *lock(&stream.member) = Some(Member {
                capture: Arc::clone(&mark.capture),
                after: mark.after.clone(),
            });
        }
    }
    Ok(true)
}

/// A question about an event that was last recorded in a capture.
///
/// # Errors
/// `CUDA_ERROR_CAPTURED_EVENT`, and the capture becomes invalid; `CUDA_ERROR_INVALID_VALUE` once the capture is over.
pub(crate) fn refuse_captured(event: &Event) -> Answer {
    match lock(&event.captured).as_ref() {
        Some(mark) if mark.capture.over.load(Ordering::SeqCst) => Err(INVALID_VALUE),
        Some(mark) => {
            mark.capture.invalidate();
            Err(CAPTURED_EVENT)
        }
        None => Ok(()),
    }
}

/// Status (`CU_STREAM_CAPTURE_STATUS_*`) of a capture.
pub(crate) fn status(capture: &Capture) -> u32 {
    match capture.check() {
        Ok(()) => 1,
        Err(_) => 2,
    }
}
