//! What is instantiated from graphs, and launched.

// Writes results through pointers of the program.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_ulonglong};
use std::ptr::{null_mut, without_provenance_mut};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, ThreadId};

use gtrace_cuda::payload::{GRAPH_INSTANTIATE, GRAPH_UPDATE};
use gtrace_cuda::types::driver::{
    self as cuda, CUDA_GRAPH_INSTANTIATE_PARAMS, CUevent, CUgraph, CUgraphExec,
    CUgraphExecUpdateResult, CUgraphExecUpdateResultInfo, CUgraphNode, CUstream,
};
use gtrace_cuda::{Kind, STREAM_LEGACY, STREAM_PER_THREAD};
use gtrace_protocol::{DecodeError, Flags, OpId, Reader, Writer, op_id};

use super::{Held, copies, in_step, leaving, number, pairs, plan, within};
use crate::context::{self, Current, put, put_wanted};
use crate::entry::{Answer, Call, check, ending, exchange, holding_back, mint, written};
use crate::generated::driver::remote;
use crate::session::{self, Session, with_lane};
use crate::state::lock;
use crate::status::fail_if;
use crate::times::Aside;
use crate::{capture, clock, copy, memory};

/// A call whose answer is there whatever its status.
fn always<T>(
    session: &'static Session,
    op: OpId,
    write: impl FnOnce(&mut Writer),
    read: impl FnOnce(&mut Reader<'_>) -> Result<T, DecodeError>,
) -> Answer<(T, Answer)> {
    with_lane(session, |lane| {
        let began = clock::now();
        let mut call = written(lane, write, |lane, small| {
            Call::new(op, Flags::default(), began).send(lane, small, &[])
        })?;
        let answer = match call.header.small {
            // It got no further than the lane: an error from before, or no such operation.
            0 => None,
            _ => Some(call.always(lane, read)?),
        };
        if answer.is_none() {
            call.results(lane, |_| Ok(()))?;
        }
        let outcome = call.outcome(lane);
        call.end();
        match answer {
            Some(answer) => Ok((answer, check(outcome))),
            None => Err(check(outcome).err().unwrap_or(cuda::CUDA_ERROR_UNKNOWN)),
        }
    })
}

/// What came of an instantiation: the node that is wrong, and `CUgraphInstantiateResult`.
type Wrong = (u64, u32);

unsafe fn instantiate(
    exec: *mut CUgraphExec,
    graph: CUgraph,
    flags: u64,
    stream: CUstream,
) -> Answer<(Wrong, Answer)> {
    let session = session::cuda()?;
    fail_if(exec.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)?;
    let minted = mint(Kind::GraphExec);
    in_step::bring(session, number(graph), minted)?;
    let (wrong, outcome) = always(
        session,
        GRAPH_INSTANTIATE,
        |w| {
            w.u64(minted);
            w.u64(number(graph));
            w.u64(flags);
            w.u64(copy::stream(stream));
        },
        |r| Ok((r.u64()?, r.u32()?)),
    )?;
    if outcome.is_ok() {
        let graphs = &session.state.graphs;
        lock(&graphs.origins).insert(minted, number(graph));
        let held = within::need(session, number(graph))?;
        holding_back(session, || take(session, minted, number(graph), held))?;
        // SAFETY: a pointer of the program.
        unsafe { put(exec, without_provenance_mut(minted as usize)) }?;
    }
    Ok((wrong, outcome))
}

/// What can be launched needs what its graph needs.
fn take(session: &'static Session, exec: u64, graph: u64, mut held: Held) -> Answer {
    let graphs = &session.state.graphs;
    held.claim(exec);
    let names = pairs::rename(session, exec, graph, &mut held)?;
    match held.copies.is_empty() || held.functions.is_empty() {
        true => drop(lock(&graphs.planned).remove(&exec)),
        false => plan::make(session, (graph, &names), &held, exec)?,
    }
    let before = match held.is_empty() {
        true => lock(&graphs.execs).remove(&exec),
        false => {
            graphs.used.store(true, Ordering::Release);
            lock(&graphs.execs).insert(exec, Arc::new(held))
        }
    };
    let last = lock(&graphs.launched).get(&exec).copied();
    leaving::leave(session, last, before, false);
    plan::forget_unused(session);
    Ok(())
}

/// A stream. Default streams have the same number in each context, or in each thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Queue {
    stream: u64,
    /// Of a default stream: its context.
    context: u64,
    /// Of the default stream of a thread.
    thread: Option<ThreadId>,
}

impl Queue {
    fn of(stream: CUstream) -> Self {
        // Null is the legacy stream.
        let stream = number(stream).max(STREAM_LEGACY);
        let own = Self {
            stream,
            context: 0,
            thread: (stream == STREAM_PER_THREAD).then(|| thread::current().id()),
        };
        match own.is_default() {
            true => Self {
                context: context::top().handle,
                ..own
            },
            false => own,
        }
    }

    fn is_default(&self) -> bool {
        self.stream == STREAM_LEGACY || self.stream == STREAM_PER_THREAD
    }
}

/// The last launch of what was instantiated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Launched {
    queue: Queue,
    /// Is recorded behind it.
    event: u64,
    /// The event's context.
    pub(super) context: u64,
}

impl Launched {
    pub(super) fn event(&self) -> CUevent {
        without_provenance_mut(self.event as usize)
    }

    /// Ends its event.
    pub(super) fn end(&self, session: &'static Session) {
        // SAFETY: a handle.
        holding_back(session, || unsafe {
            remote::cuEventDestroy_v2(self.event())
        });
    }
}

/// The context of a stream.
fn context_of(session: &'static Session, stream: CUstream, queue: Queue) -> Answer<Current> {
    let current = context::top();
    let is_only = current.handle != 0 && lock(&session.state.contexts).count() == 1;
    if is_only || queue.is_default() {
        return Ok(current);
    }
    let mut context = null_mut();
    // SAFETY: a local variable.
    check(unsafe { remote::cuStreamGetCtx(stream, &raw mut context) })?;
    let handle = number(context);
    let known = lock(&session.state.contexts).get(handle);
    let device = known.ok_or(cuda::CUDA_ERROR_INVALID_CONTEXT)?.device;
    Ok(Current { handle, device })
}

/// What follows in `stream` waits for the last launch, if that was in another. The driver orders launches, and not what is
/// sent for them.
fn follow_launch(session: &'static Session, exec: u64, stream: CUstream) -> Answer {
    let last = lock(&session.state.graphs.launched).get(&exec).copied();
    match last {
        Some(last) if last.queue != Queue::of(stream) => {
            // SAFETY: handles.
            check(unsafe { remote::cuStreamWaitEvent(stream, last.event(), 0) })
        }
        _ => Ok(()),
    }
}

/// It was launched in `stream`.
fn note_launch(session: &'static Session, exec: u64, stream: CUstream) -> Answer {
    let queue = Queue::of(stream);
    let last = lock(&session.state.graphs.launched).get(&exec).copied();
    let now = match last {
        Some(last) if last.queue == queue => last,
        _ => {
            let context = context_of(session, stream, queue)?;
            match last {
                // The launch that it was recorded behind is over before this one begins.
                Some(last) if last.context == context.handle => Launched { queue, ..last },
                _ => {
                    let mut event: CUevent = null_mut();
                    let flags = cuda::CU_EVENT_DISABLE_TIMING;
                    check(context::within(context, || {
                        // SAFETY: a local variable.
                        unsafe { remote::cuEventCreate(&raw mut event, flags) }
                    }))?;
                    Launched {
                        queue,
                        event: number(event),
                        context: context.handle,
                    }
                }
            }
        }
    };
    let before = lock(&session.state.graphs.launched).insert(exec, now);
    let replaced = before.filter(|before| before.event != now.event);
    leaving::leave(session, replaced, None, true);
    // SAFETY: handles.
    check(unsafe { remote::cuEventRecord(now.event(), stream) })
}

pub(crate) unsafe fn cuGraphInstantiateWithFlags(
    phGraphExec: *mut CUgraphExec,
    hGraph: CUgraph,
    flags: c_ulonglong,
) -> Answer {
    // SAFETY: a pointer of the program.
    unsafe { instantiate(phGraphExec, hGraph, flags, null_mut()) }?.1
}

pub(crate) unsafe fn cuGraphInstantiateWithParams(
    phGraphExec: *mut CUgraphExec,
    hGraph: CUgraph,
    instantiateParams: *mut CUDA_GRAPH_INSTANTIATE_PARAMS,
) -> Answer {
    // SAFETY: null or a structure of the program.
    let params = unsafe { instantiateParams.as_mut() }.ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?;
    // SAFETY: a pointer of the program.
    let ((node, result), outcome) =
        unsafe { instantiate(phGraphExec, hGraph, params.flags, params.hUploadStream) }?;
    params.hErrNode_out = without_provenance_mut(node as usize);
    params.result_out = result;
    outcome
}

pub(crate) unsafe fn cuGraphInstantiate_v2(
    phGraphExec: *mut CUgraphExec,
    hGraph: CUgraph,
    phErrorNode: *mut CUgraphNode,
    logBuffer: *mut c_char,
    bufferSize: usize,
) -> Answer {
    // SAFETY: pointers of the program.
    unsafe {
        let ((node, _), outcome) = instantiate(phGraphExec, hGraph, 0, null_mut())?;
        put_wanted(phErrorNode, without_provenance_mut(node as usize));
        if bufferSize > 0 {
            put_wanted(logBuffer, 0);
        }
        outcome
    }
}

fn update(exec: CUgraphExec, graph: CUgraph) -> Answer<(CUgraphExecUpdateResultInfo, Answer)> {
    let session = session::cuda()?;
    in_step::bring(session, number(graph), number(exec))?;
    let (info, outcome) = always(
        session,
        GRAPH_UPDATE,
        |w| {
            w.u64(number(exec));
            w.u64(number(graph));
        },
        |r| {
            Ok(CUgraphExecUpdateResultInfo {
                result: r.u32()?,
                errorNode: without_provenance_mut(r.u64()? as usize),
                errorFromNode: without_provenance_mut(r.u64()? as usize),
            })
        },
    )?;
    if outcome.is_ok() {
        let held = within::need(session, number(graph))?;
        holding_back(session, || take(session, number(exec), number(graph), held))?;
    }
    Ok((info, outcome))
}

pub(crate) unsafe fn cuGraphExecUpdate_v2(
    hGraphExec: CUgraphExec,
    hGraph: CUgraph,
    resultInfo: *mut CUgraphExecUpdateResultInfo,
) -> Answer {
    let (info, outcome) = update(hGraphExec, hGraph)?;
    // SAFETY: a pointer of the program.
    unsafe { put(resultInfo, info) }?;
    outcome
}

pub(crate) unsafe fn cuGraphExecUpdate(
    hGraphExec: CUgraphExec,
    hGraph: CUgraph,
    hErrorNode_out: *mut CUgraphNode,
    updateResult_out: *mut CUgraphExecUpdateResult,
) -> Answer {
    let (info, outcome) = update(hGraphExec, hGraph)?;
    // SAFETY: pointers of the program.
    unsafe {
        put_wanted(hErrorNode_out, info.errorNode);
        put(updateResult_out, info.result)?;
    }
    outcome
}

/// The client sends its memory that the graph reads before the launch, and what the graph writes of it
/// is there when this returns, as after any copy to the client.
pub(crate) unsafe fn cuGraphLaunch(hGraphExec: CUgraphExec, hStream: CUstream) -> Answer {
    let session = session::cuda()?;
    // SAFETY: handles.
    let launch = || check(unsafe { remote::cuGraphLaunch(hGraphExec, hStream) });
    match session.state.graphs.exec(number(hGraphExec)) {
        None => launch(),
        Some(held) => launch_with(session, &held, number(hGraphExec), hStream, launch),
    }
}

#[cold]
fn launch_with(
    session: &'static Session,
    held: &Held,
    exec: u64,
    stream: CUstream,
    launch: impl FnOnce() -> Answer,
) -> Answer {
    if let Some(id) = capture::of(session, stream)? {
        match held.functions.is_empty() {
            true => launch()?,
            false => launch_awaited(session, exec, stream)?,
        }
        capture::hold(session, id, |own| own.extend(held));
        return Ok(());
    }
    let functions = &session.state.host_functions;
    let reads = held.copies.iter().any(copies::HostCopy::reads);
    if reads {
        follow_launch(session, exec, stream)?;
    }
    if reads && functions.are_outstanding() {
        // A function of the client may still write what is to be read.
        // SAFETY: a handle.
        check(unsafe { remote::cuStreamSynchronize(stream) })?;
    }
    let plans = plan::of(session, exec);
    let first = plan::unsent(&plans, held);
    {
        // What is timed is the launch.
        let _aside = Aside::new();
        copies::send(session, first, copy::stream(stream))?;
    }
    functions.expect(session, exec, held.functions.len())?;
    let launched = launch();
    if launched.is_err() {
        functions.expect_no_more(held.functions.len());
    }
    launched?;
    if reads || !held.objects.is_empty() {
        holding_back(session, || note_launch(session, exec, stream))?;
    }
    // What came before a function is there when that runs, and the function may have changed it.
    let last = plan::not_received(&plans, held);
    let _aside = Aside::new();
    copies::receive(session, last, copy::stream(stream))
}

/// Into a capture. No function of it is waited for, and a failure that is reported later would be taken for that of a launch.
fn launch_awaited(session: &'static Session, exec: u64, stream: CUstream) -> Answer {
    const OP: OpId = op_id("cuGraphLaunch");
    let write = |w: &mut Writer| {
        w.u64(exec);
        w.u64(copy::stream(stream));
    };
    exchange(session, OP, Flags::STRICT, write, |_| Ok(()))
}

pub(crate) unsafe fn cuGraphExecDestroy(hGraphExec: CUgraphExec) -> Answer {
    let session = session::cuda()?;
    // SAFETY: a handle.
    let earlier = ending(session, || unsafe {
        remote::cuGraphExecDestroy(hGraphExec)
    })?;
    let (graphs, exec) = (&session.state.graphs, number(hGraphExec));
    let gone = lock(&graphs.execs).remove(&exec);
    lock(&graphs.planned).remove(&exec);
    lock(&graphs.origins).remove(&exec);
    let last = lock(&graphs.launched).remove(&exec);
    session.state.host_functions.forget_launches(exec);
    leaving::leave(session, last, gone, true);
    plan::forget_unused(session);
    memory::free_spare(session, false);
    earlier
}

/// A launch in a context, with an event of its own.
#[cfg(test)]
pub(super) fn launched_in(context: u64) -> Launched {
    Launched {
        queue: Queue::of(null_mut()),
        event: context,
        context,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_the_same_number_are_distinguished() {
        let of = |stream: u64| Queue::of(without_provenance_mut(stream as usize));
        assert_eq!(of(0), of(STREAM_LEGACY));
        assert_ne!(of(STREAM_LEGACY), of(STREAM_PER_THREAD));
        assert_eq!(of(STREAM_PER_THREAD), of(STREAM_PER_THREAD));
        let within = |handle| {
            let other = Current { handle, device: 0 };
            context::within(other, || [of(0), of(STREAM_PER_THREAD), of(0x1234)])
        };
        let (one, two) = (within(16), within(32));
        assert_ne!(one[0], two[0]);
        assert_ne!(one[1], two[1]);
        assert_eq!(one[2], two[2]);
        thread::scope(|scope| {
            scope.spawn(|| {
                assert_eq!(within(16)[0], one[0]);
                assert_ne!(within(16)[1], one[1]);
                assert_eq!(within(16)[2], one[2]);
            });
        });
    }

    #[test]
    fn a_launch_is_forgotten_with_the_context_of_its_event() {
        let graphs = super::super::Graphs::default();
        for (exec, context) in [(1, 16), (2, 32)] {
            lock(&graphs.launched).insert(exec, launched_in(context));
        }
        graphs.forget_context(16);
        let left: Vec<u64> = lock(&graphs.launched).keys().copied().collect();
        assert_eq!(left, [2]);
    }
}
