//! What is instantiated from graphs, and launched.

// Writes results through pointers of the program.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_ulonglong};
use std::ptr::{null_mut, without_provenance_mut};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use gtrace_cuda::Kind;
use gtrace_cuda::payload::{GRAPH_INSTANTIATE, GRAPH_UPDATE};
use gtrace_cuda::types::driver::{
    self as cuda, CUDA_GRAPH_INSTANTIATE_PARAMS, CUgraph, CUgraphExec, CUgraphExecUpdateResult,
    CUgraphExecUpdateResultInfo, CUgraphNode, CUresult, CUstream,
};
use gtrace_protocol::{DecodeError, Flags, OpId, Reader, Writer};

use super::{Held, copies, in_step, number, plan};
use crate::context::{put, put_wanted};
use crate::entry::{Call, check, done, mint, written};
use crate::generated::driver::remote;
use crate::session::{self, Session, with_lane};
use crate::state::lock;
use crate::{capture, clock, copy};

/// A call whose answer is there whatever its status.
fn always<T>(
    session: &'static Session,
    op: OpId,
    write: impl FnOnce(&mut Writer),
    read: impl FnOnce(&mut Reader<'_>) -> Result<T, DecodeError>,
) -> Result<(T, Result<(), CUresult>), CUresult> {
    with_lane(session, |lane| {
        let began = clock::now();
        let write = |w: &mut Writer| {
            write(w);
            Ok(())
        };
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
) -> Result<(Wrong, Result<(), CUresult>), CUresult> {
    let session = session::cuda()?;
    if exec.is_null() {
        return Err(cuda::CUDA_ERROR_INVALID_VALUE);
    }
    in_step::bring(session, number(graph))?;
    let minted = mint(Kind::GraphExec);
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
        let held = session.state.graphs.held(number(graph));
        take(session, minted, number(graph), held)?;
        // SAFETY: a pointer of the program.
        unsafe { put(exec, without_provenance_mut(minted as usize)) }?;
    }
    Ok((wrong, outcome))
}

/// What can be launched needs what its graph needs.
fn take(session: &'static Session, exec: u64, graph: u64, held: Held) -> Result<(), CUresult> {
    let graphs = &session.state.graphs;
    match held.copies.is_empty() || held.functions.is_empty() {
        true => drop(lock(&graphs.planned).remove(&exec)),
        false => plan::make(session, graph, &held, exec)?,
    }
    let before = match held.is_empty() {
        true => lock(&graphs.execs).remove(&exec),
        false => {
            graphs.used.store(true, Ordering::Release);
            lock(&graphs.execs).insert(exec, Arc::new(held))
        }
    };
    settle_launch(session, exec);
    drop(before);
    plan::forget_unused(session);
    Ok(())
}

/// Objects of the program stay until the last launch that may use them is through.
fn settle_launch(session: &Session, exec: u64) {
    let stream = lock(&session.state.graphs.launched).remove(&exec);
    if let Some(stream) = stream {
        // A stream that is gone has nothing to do.
        // SAFETY: a handle.
        let _ = unsafe { remote::cuStreamSynchronize(without_provenance_mut(stream as usize)) };
    }
}

pub(crate) unsafe fn cuGraphInstantiateWithFlags(
    phGraphExec: *mut CUgraphExec,
    hGraph: CUgraph,
    flags: c_ulonglong,
) -> CUresult {
    // SAFETY: a pointer of the program.
    done(|| unsafe { instantiate(phGraphExec, hGraph, flags, null_mut()) }?.1)
}

pub(crate) unsafe fn cuGraphInstantiateWithParams(
    phGraphExec: *mut CUgraphExec,
    hGraph: CUgraph,
    instantiateParams: *mut CUDA_GRAPH_INSTANTIATE_PARAMS,
) -> CUresult {
    done(|| {
        // SAFETY: null or a structure of the program.
        let params = unsafe { instantiateParams.as_mut() }.ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?;
        // SAFETY: a pointer of the program.
        let ((node, result), outcome) =
            unsafe { instantiate(phGraphExec, hGraph, params.flags, params.hUploadStream) }?;
        params.hErrNode_out = without_provenance_mut(node as usize);
        params.result_out = result;
        outcome
    })
}

pub(crate) unsafe fn cuGraphInstantiate_v2(
    phGraphExec: *mut CUgraphExec,
    hGraph: CUgraph,
    phErrorNode: *mut CUgraphNode,
    logBuffer: *mut c_char,
    bufferSize: usize,
) -> CUresult {
    // SAFETY: pointers of the program.
    done(|| unsafe {
        let ((node, _), outcome) = instantiate(phGraphExec, hGraph, 0, null_mut())?;
        put_wanted(phErrorNode, without_provenance_mut(node as usize));
        if bufferSize > 0 {
            put_wanted(logBuffer, 0);
        }
        outcome
    })
}

fn update(
    exec: CUgraphExec,
    graph: CUgraph,
) -> Result<(CUgraphExecUpdateResultInfo, Result<(), CUresult>), CUresult> {
    let session = session::cuda()?;
    in_step::bring(session, number(graph))?;
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
        let held = session.state.graphs.held(number(graph));
        take(session, number(exec), number(graph), held)?;
    }
    Ok((info, outcome))
}

pub(crate) unsafe fn cuGraphExecUpdate_v2(
    hGraphExec: CUgraphExec,
    hGraph: CUgraph,
    resultInfo: *mut CUgraphExecUpdateResultInfo,
) -> CUresult {
    done(|| {
        let (info, outcome) = update(hGraphExec, hGraph)?;
        // SAFETY: a pointer of the program.
        unsafe { put(resultInfo, info) }?;
        outcome
    })
}

pub(crate) unsafe fn cuGraphExecUpdate(
    hGraphExec: CUgraphExec,
    hGraph: CUgraph,
    hErrorNode_out: *mut CUgraphNode,
    updateResult_out: *mut CUgraphExecUpdateResult,
) -> CUresult {
    done(|| {
        let (info, outcome) = update(hGraphExec, hGraph)?;
        // SAFETY: pointers of the program.
        unsafe {
            put_wanted(hErrorNode_out, info.errorNode);
            put(updateResult_out, info.result)?;
        }
        outcome
    })
}

/// The client sends its memory that the graph reads before the launch, and what the graph writes of it
/// is there when this returns, as after any copy to the client.
pub(crate) unsafe fn cuGraphLaunch(hGraphExec: CUgraphExec, hStream: CUstream) -> CUresult {
    done(|| {
        let session = session::cuda()?;
        // SAFETY: handles.
        let launch = || check(unsafe { remote::cuGraphLaunch(hGraphExec, hStream) });
        match session.state.graphs.exec(number(hGraphExec)) {
            None => launch(),
            Some(held) => {
                if !held.objects.is_empty() {
                    let mut launched = lock(&session.state.graphs.launched);
                    launched.insert(number(hGraphExec), number(hStream));
                }
                launch_with(session, &held, hStream, launch)
            }
        }
    })
}

#[cold]
fn launch_with(
    session: &'static Session,
    held: &Held,
    stream: CUstream,
    launch: impl FnOnce() -> Result<(), CUresult>,
) -> Result<(), CUresult> {
    if let Some(id) = capture::of(session, stream)? {
        launch()?;
        capture::hold(session, id, |own| own.extend(held));
        return Ok(());
    }
    let functions = &session.state.host_functions;
    if held.copies.iter().any(copies::HostCopy::reads) && functions.are_outstanding() {
        // A function of the client may still write what is to be read.
        // SAFETY: a handle.
        check(unsafe { remote::cuStreamSynchronize(stream) })?;
    }
    let plans = plan::of(session, &held.functions);
    let first = held
        .copies
        .iter()
        .filter(|copy| !plans.iter().any(|plan| plan.sends(copy)));
    copies::send(session, first, copy::stream(stream))?;
    functions.expect(session, held.functions.len())?;
    let launched = launch();
    if launched.is_err() {
        functions.expect_no_more(held.functions.len());
    }
    launched?;
    // What came before a function is there when that runs, and the function may have changed it.
    let last = held
        .copies
        .iter()
        .filter(|copy| !plans.iter().any(|plan| plan.receives(copy)));
    copies::receive(session, last, copy::stream(stream))
}

pub(crate) unsafe fn cuGraphExecDestroy(hGraphExec: CUgraphExec) -> CUresult {
    done(|| {
        let session = session::cuda()?;
        // SAFETY: a handle.
        check(unsafe { remote::cuGraphExecDestroy(hGraphExec) })?;
        let graphs = &session.state.graphs;
        let gone = lock(&graphs.execs).remove(&number(hGraphExec));
        lock(&graphs.planned).remove(&number(hGraphExec));
        settle_launch(session, number(hGraphExec));
        drop(gone);
        plan::forget_unused(session);
        Ok(())
    })
}
