//! Capture of streams into graphs. The client knows which streams are being captured, as programs ask
//! before many calls, and keeps what the graph will need of its memory and functions.

// Writes results through pointers of the program.
#![allow(unsafe_code)]

use std::collections::HashSet;
use std::ptr::{null, null_mut, without_provenance_mut};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{self, ThreadId};

use gtrace_cuda::payload::{CAPTURE_INFO, EDGE};
use gtrace_cuda::types::driver::{
    self as cuda, CUevent, CUgraph, CUgraphEdgeData, CUgraphNode, CUresult, CUstream,
    CUstreamCaptureMode, CUstreamCaptureStatus, cuuint64_t,
};
use gtrace_cuda::{STREAM_LEGACY, STREAM_PER_THREAD};
use gtrace_protocol::{DecodeError, Flags};

use crate::context::{put, put_wanted};
use crate::copy::stream as number;
use crate::entry::{Answer, check, exchange, holding_back};
use crate::generated::driver::remote;
use crate::graph::Held;
use crate::session::{self, Session, with_lane};
use crate::state::lock;
use crate::stats::local;
use crate::status::fail_if;

const NONE: CUstreamCaptureStatus = cuda::CU_STREAM_CAPTURE_STATUS_NONE;
const ACTIVE: CUstreamCaptureStatus = cuda::CU_STREAM_CAPTURE_STATUS_ACTIVE;

/// A capture under way.
struct Capture {
    id: u64,
    graph: u64,
    /// The graph is the program's.
    into: bool,
    /// Streams that are known to take part, the one that it began in first.
    streams: Vec<u64>,
    /// The thread in which it began: the default stream of a thread has the same number in each.
    thread: ThreadId,
    held: Held,
}

impl Capture {
    /// Whether this thread's `stream` is known to take part.
    fn has(&self, stream: u64) -> bool {
        self.streams.contains(&stream)
            && (stream != STREAM_PER_THREAD || self.thread == thread::current().id())
    }

    /// Whether it began in this thread's `stream`.
    fn began_in(&self, stream: u64) -> bool {
        self.streams.first() == Some(&stream) && self.has(stream)
    }
}

/// The captures of the process.
#[derive(Default)]
pub(crate) struct Captures {
    count: AtomicU32,
    /// One may have become invalid.
    doubted: AtomicBool,
    all: Mutex<Vec<Capture>>,
    /// Streams that have waited for an event since a capture began, and may take part.
    maybe: Mutex<HashSet<u64>>,
}

impl Captures {
    /// Whether any stream of the process is being captured.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.count.load(Ordering::Relaxed) != 0
    }

    /// A call has failed; captures may have become invalid by it.
    pub(crate) fn failed(&self, code: CUresult) {
        if (cuda::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
            ..=cuda::CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)
            .contains(&code)
        {
            self.doubted.store(true, Ordering::Relaxed);
        }
    }
}

/// What the server says of a capture.
#[derive(Default)]
struct Info {
    status: CUstreamCaptureStatus,
    id: u64,
    graph: u64,
    nodes: Vec<u64>,
    edges: Vec<CUgraphEdgeData>,
}

fn ask(session: &'static Session, stream: u64) -> Answer<Info> {
    let mut info = Info::default();
    exchange(
        session,
        CAPTURE_INFO,
        Flags::default(),
        |w| w.u64(stream),
        |r| {
            info.status = r.u32()?;
            info.id = r.u64()?;
            info.graph = r.u64()?;
            let count = r.len(r.left() / (8 + EDGE))?;
            for _ in 0..count {
                info.nodes.push(r.u64()?);
                let edge: [u8; EDGE] = r.array()?;
                info.edges.push(edge_of(edge));
            }
            Ok::<_, DecodeError>(())
        },
    )?;
    if info.status == ACTIVE {
        learn(session, stream, &info);
    }
    Ok(info)
}

/// An edge from its bytes.
fn edge_of([from_port, to_port, kind, reserved @ ..]: [u8; EDGE]) -> CUgraphEdgeData {
    CUgraphEdgeData {
        from_port,
        to_port,
        type_: kind,
        reserved,
    }
}

/// A stream takes part in a capture. The default stream of a thread is another in each.
fn learn(session: &Session, stream: u64, info: &Info) {
    let mut all = lock(&session.state.captures.all);
    if let Some(capture) = all.iter_mut().find(|capture| capture.id == info.id)
        && stream != STREAM_PER_THREAD
        && !capture.streams.contains(&stream)
    {
        capture.streams.push(stream);
    }
}

/// Number and graph of the capture in which a stream is known to take part.
fn known(session: &Session, stream: u64) -> Option<(u64, u64)> {
    if session.state.captures.doubted.load(Ordering::Relaxed) {
        return None;
    }
    let all = lock(&session.state.captures.all);
    let own = all.iter().find(|capture| capture.has(stream))?;
    Some((own.id, own.graph))
}

/// Whether a stream is known to take part in a capture.
pub(crate) fn takes_part(session: &Session, stream: u64) -> bool {
    session.state.captures.any() && known(session, stream).is_some()
}

/// Whether what a stream is given is captured. Of a stream that has waited for an event, and may have joined by that, the
/// server is asked.
pub(crate) fn is_captured(session: &'static Session, stream: u64) -> bool {
    let captures = &session.state.captures;
    if takes_part(session, stream) {
        return true;
    }
    let may_be = captures.any() && lock(&captures.maybe).contains(&stream);
    may_be && holding_back(session, || ask(session, stream)).is_ok_and(|info| info.status == ACTIVE)
}

/// Whether a stream is known to take part in none.
fn is_free(session: &Session, stream: u64) -> bool {
    let captures = &session.state.captures;
    if !captures.any() {
        return true;
    }
    // The default streams are for the driver to judge.
    let special = stream <= STREAM_LEGACY || stream == STREAM_PER_THREAD;
    let takes_part = lock(&captures.all)
        .iter()
        .any(|capture| capture.has(stream));
    !special && !takes_part && !lock(&captures.maybe).contains(&stream)
}

/// The number of the capture in which a stream takes part.
pub(crate) fn of(session: &'static Session, stream: CUstream) -> Answer<Option<u64>> {
    let stream = number(stream);
    if is_free(session, stream) {
        return Ok(None);
    }
    if let Some((id, _)) = known(session, stream) {
        return Ok(Some(id));
    }
    match ask(session, stream) {
        Ok(info) => Ok((info.status == ACTIVE).then_some(info.id)),
        // Asked about the legacy stream beside a capture: it takes part in none.
        Err(cuda::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) => Ok(None),
        Err(code) => Err(code),
    }
}

/// The graph of capture `id` will need what `change` adds.
pub(crate) fn hold(session: &Session, id: u64, change: impl FnOnce(&mut Held)) {
    let mut all = lock(&session.state.captures.all);
    if let Some(capture) = all.iter_mut().find(|capture| capture.id == id) {
        change(&mut capture.held);
    }
}

/// Something of what the graph of capture `id` needs so far.
pub(crate) fn find<T>(
    session: &Session,
    id: u64,
    find: impl FnOnce(&Held) -> Option<T>,
) -> Option<T> {
    let all = lock(&session.state.captures.all);
    let capture = all.iter().find(|capture| capture.id == id);
    capture.and_then(|it| find(&it.held))
}

pub(crate) unsafe fn cuStreamIsCapturing(
    hStream: CUstream,
    captureStatus: *mut CUstreamCaptureStatus,
) -> Answer {
    // SAFETY: a pointer of the program.
    unsafe {
        fail_if(captureStatus.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)?;
        status(hStream, captureStatus, null_mut(), null_mut())
    }
}

/// Status, number and graph, as far as they are wanted: without asking, if they are known.
unsafe fn status(
    stream: CUstream,
    status: *mut CUstreamCaptureStatus,
    id: *mut cuuint64_t,
    graph: *mut CUgraph,
) -> Answer {
    let session = session::cuda()?;
    let stream = number(stream);
    let (found, of, its_graph) = if is_free(session, stream) {
        local!("cuStreamIsCapturing");
        (NONE, 0, 0)
    } else if let Some((of, its_graph)) = known(session, stream) {
        local!("cuStreamIsCapturing");
        (ACTIVE, of, its_graph)
    } else {
        let info = ask(session, stream)?;
        (info.status, info.id, info.graph)
    };
    // SAFETY: pointers of the program.
    unsafe {
        put(status, found)?;
        put_wanted(id, of);
        put_wanted(graph, without_provenance_mut(its_graph as usize));
    }
    Ok(())
}

pub(crate) unsafe fn cuStreamGetCaptureInfo(
    hStream: CUstream,
    captureStatus_out: *mut CUstreamCaptureStatus,
    id_out: *mut cuuint64_t,
) -> Answer {
    // SAFETY: pointers of the program.
    unsafe { status(hStream, captureStatus_out, id_out, null_mut()) }
}

thread_local! {
    /// Nodes and edges that the program got last: it may read them until it asks again.
    static GIVEN: std::cell::RefCell<(Vec<CUgraphNode>, Vec<CUgraphEdgeData>)> =
        const { std::cell::RefCell::new((Vec::new(), Vec::new())) };
}

pub(crate) unsafe fn cuStreamGetCaptureInfo_v2(
    hStream: CUstream,
    captureStatus_out: *mut CUstreamCaptureStatus,
    id_out: *mut cuuint64_t,
    graph_out: *mut CUgraph,
    dependencies_out: *mut *const CUgraphNode,
    numDependencies_out: *mut usize,
) -> Answer {
    // SAFETY: pointers of the program.
    unsafe {
        cuStreamGetCaptureInfo_v3(
            hStream,
            captureStatus_out,
            id_out,
            graph_out,
            dependencies_out,
            null_mut(),
            numDependencies_out,
        )
    }
}

pub(crate) unsafe fn cuStreamGetCaptureInfo_v3(
    hStream: CUstream,
    captureStatus_out: *mut CUstreamCaptureStatus,
    id_out: *mut cuuint64_t,
    graph_out: *mut CUgraph,
    dependencies_out: *mut *const CUgraphNode,
    edgeData_out: *mut *const CUgraphEdgeData,
    numDependencies_out: *mut usize,
) -> Answer {
    // SAFETY: pointers of the program.
    unsafe {
        let session = session::cuda()?;
        let wanted = !dependencies_out.is_null()
            || !edgeData_out.is_null()
            || !numDependencies_out.is_null();
        if !wanted || is_free(session, number(hStream)) {
            status(hStream, captureStatus_out, id_out, graph_out)?;
            put_wanted(dependencies_out, null());
            put_wanted(edgeData_out, null());
            put_wanted(numDependencies_out, 0);
            return Ok(());
        }
        let info = ask(session, number(hStream))?;
        put(captureStatus_out, info.status)?;
        put_wanted(id_out, info.id);
        put_wanted(graph_out, without_provenance_mut(info.graph as usize));
        put_wanted(numDependencies_out, info.nodes.len());
        let nodes = info.nodes.iter();
        let nodes = nodes.map(|node| without_provenance_mut(*node as usize));
        GIVEN.with_borrow_mut(|given| {
            *given = (nodes.collect(), info.edges);
            let some = !given.0.is_empty();
            put_wanted(
                dependencies_out,
                if some { given.0.as_ptr() } else { null() },
            );
            put_wanted(edgeData_out, if some { given.1.as_ptr() } else { null() });
        });
        Ok(())
    }
}

/// A capture has begun in `stream`.
fn begun(session: &'static Session, stream: CUstream, into: bool) -> Answer {
    let captures = &session.state.captures;
    captures.count.fetch_add(1, Ordering::Relaxed);
    let info = holding_back(session, || ask(session, number(stream)))?;
    lock(&captures.all).push(Capture {
        id: info.id,
        graph: info.graph,
        into,
        streams: vec![number(stream)],
        thread: thread::current().id(),
        held: Held::default(),
    });
    Ok(())
}

pub(crate) unsafe fn cuStreamBeginCapture_v2(
    hStream: CUstream,
    mode: CUstreamCaptureMode,
) -> Answer {
    let session = session::cuda()?;
    // SAFETY: a handle.
    check(unsafe { remote::cuStreamBeginCapture_v2(hStream, mode) })?;
    begun(session, hStream, false)
}

pub(crate) unsafe fn cuStreamBeginCaptureToGraph(
    hStream: CUstream,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    dependencyData: *const CUgraphEdgeData,
    numDependencies: usize,
    mode: CUstreamCaptureMode,
) -> Answer {
    let session = session::cuda()?;
    // SAFETY: handles, and arrays of the program.
    check(unsafe {
        remote::cuStreamBeginCaptureToGraph(
            hStream,
            hGraph,
            dependencies,
            dependencyData,
            numDependencies,
            mode,
        )
    })?;
    begun(session, hStream, true)
}

pub(crate) unsafe fn cuStreamEndCapture(hStream: CUstream, phGraph: *mut CUgraph) -> Answer {
    let session = session::cuda()?;
    // A program that captures into a graph of its own has it already, and may ask for none.
    if phGraph.is_null() && !is_into_graph(session, number(hStream)) {
        return Err(cuda::CUDA_ERROR_INVALID_VALUE);
    }
    let mut captured = null_mut();
    // SAFETY: the pointer is writable.
    let ended = check(unsafe { remote::cuStreamEndCapture(hStream, &raw mut captured) });
    if ended == Err(cuda::CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)
        || ended == Err(cuda::CUDA_ERROR_STREAM_CAPTURE_UNMATCHED)
    {
        // It goes on, or is invalid until it is ended where it began.
        return ended;
    }
    let own = over(session, number(hStream));
    if ended.is_err() {
        captured = null_mut();
    } else if let Some(own) = own {
        crate::graph::captured(session, captured.addr() as u64, own.held);
    }
    // SAFETY: a pointer of the program.
    unsafe { put_wanted(phGraph, captured) };
    ended
}

/// Whether the capture that began in `stream` puts its nodes into a graph that there was before.
fn is_into_graph(session: &Session, stream: u64) -> bool {
    let all = lock(&session.state.captures.all);
    let own = all.iter().find(|capture| capture.began_in(stream));
    own.is_some_and(|capture| capture.into)
}

/// The capture that began in `stream` is over, also if it failed.
fn over(session: &Session, stream: u64) -> Option<Capture> {
    let captures = &session.state.captures;
    let mut all = lock(&captures.all);
    let at = all.iter().position(|capture| capture.began_in(stream))?;
    let own = all.remove(at);
    captures.count.fetch_sub(1, Ordering::Relaxed);
    if all.is_empty() {
        lock(&captures.maybe).clear();
        captures.doubted.store(false, Ordering::Relaxed);
    }
    Some(own)
}

/// A stream that waits for an event of a capture takes part in it.
pub(crate) unsafe fn cuStreamWaitEvent(
    hStream: CUstream,
    hEvent: CUevent,
    flags: std::ffi::c_uint,
) -> Answer {
    let captures = &session::cuda()?.state.captures;
    if captures.any() {
        lock(&captures.maybe).insert(number(hStream));
    }
    // SAFETY: handles.
    check(unsafe { remote::cuStreamWaitEvent(hStream, hEvent, flags) })
}

/// The mode is one of a thread, and each thread has a thread of the server.
pub(crate) unsafe fn cuThreadExchangeStreamCaptureMode(mode: *mut CUstreamCaptureMode) -> Answer {
    // SAFETY: null or a value of the program.
    let given = unsafe { mode.as_ref() }.copied();
    // SAFETY: a pointer of the program, passed on.
    check(unsafe { remote::cuThreadExchangeStreamCaptureMode(mode) })?;
    with_lane(session::cuda()?, |lane| {
        lane.note_capture_mode(given.unwrap_or_default());
        Ok(())
    })
}

/// No capture minds what this thread does from here on, which is one of this library's own: the program does not know when it
/// waits for something.
pub(crate) fn set_relaxed() -> Answer {
    let mut mode = cuda::CU_STREAM_CAPTURE_MODE_RELAXED;
    // SAFETY: a local variable.
    check(unsafe { remote::cuThreadExchangeStreamCaptureMode(&raw mut mode) })
}

/// Does what a capture forbids to programs, as it is none of the program's: calls for memory that
/// copies of the graph need.
pub(crate) fn relaxed<T>(session: &Session, action: impl FnOnce() -> Answer<T>) -> Answer<T> {
    if !session.state.captures.any() {
        return action();
    }
    let mut mode = cuda::CU_STREAM_CAPTURE_MODE_RELAXED;
    // SAFETY: a local variable.
    check(unsafe { remote::cuThreadExchangeStreamCaptureMode(&raw mut mode) })?;
    let outcome = action();
    // SAFETY: as above; the mode is the one before.
    check(unsafe { remote::cuThreadExchangeStreamCaptureMode(&raw mut mode) })?;
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_stream_of_a_thread_is_another_in_each() {
        const OTHER: u64 = 7;
        let own = Capture {
            id: 1,
            graph: 2,
            into: false,
            streams: vec![STREAM_PER_THREAD, OTHER],
            thread: thread::current().id(),
            held: Held::default(),
        };
        assert!(own.has(STREAM_PER_THREAD) && own.has(OTHER));
        assert!(own.began_in(STREAM_PER_THREAD) && !own.began_in(OTHER));
        thread::scope(|scope| {
            scope.spawn(|| {
                assert!(!own.has(STREAM_PER_THREAD) && own.has(OTHER));
                assert!(!own.began_in(STREAM_PER_THREAD));
            });
        });
    }
}
