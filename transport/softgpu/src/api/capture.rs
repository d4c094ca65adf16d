//! Stream capture.

use std::cell::RefCell;
use std::ffi::{c_uint, c_ulonglong};
use std::sync::Arc;

use crate::abi::{Answer, In, Out, api};
use crate::context::bound;
use crate::error::{INVALID_VALUE, fail_if};
use crate::graph::Graph;
use crate::graph::capture::{self, Dependencies};
use crate::stream::{Stream, locate};
use crate::types::{EdgeData, Handle};

/// Of dependencies whose edges say nothing in particular.
pub(crate) const NO_EDGES: In<EdgeData> = In::NULL;

/// Nodes of the program with what it says of the edges from them.
///
/// # Errors
/// `CUDA_ERROR_INVALID_VALUE` if nodes are missing.
pub(crate) fn dependencies(
    nodes: In<Handle>,
    edges: In<EdgeData>,
    count: usize,
) -> Answer<Dependencies> {
    let edge = |at| match edges.is_null() {
        true => Ok(EdgeData::default()),
        false => edges.at(at),
    };
    (0..count)
        .map(|at| Ok((nodes.at(at)?, edge(at)?)))
        .collect()
}

fn stream_of(handle: Handle) -> Answer<Arc<Stream>> {
    Ok(locate(bound()?, handle)?.1)
}

thread_local! {
    /// What was answered last: the program may read it until it asks again.
    static REPORTED: RefCell<(Vec<u64>, Vec<EdgeData>)> = const { RefCell::new((Vec::new(), Vec::new())) };
}

/// Where the answers to a question about a capture go.
struct Wanted {
    status: Out<c_uint>,
    id: Out<c_ulonglong>,
    graph: Out<Handle>,
    nodes: Out<*const u64>,
    edges: Out<*const EdgeData>,
    count: Out<usize>,
}

fn report(stream: Handle, wanted: &Wanted) -> Answer {
    let stream = stream_of(stream)?;
    // The legacy default stream captures never, but it may not be asked while it would have to wait
    // for one that does.
    capture::refuse_legacy(&stream)?;
    wanted.id.offer(0);
    wanted.graph.offer(0);
    wanted.nodes.offer(std::ptr::null());
    wanted.edges.offer(std::ptr::null());
    wanted.count.offer(0);
    let Some(capture) = capture::of(&stream) else {
        return wanted.status.put(0);
    };
    wanted.status.put(capture::status(&capture))?;
    wanted.id.offer(capture.id);
    if capture.check().is_err() {
        return Ok(());
    }
    wanted.graph.offer(capture.graph.handle);
    let (nodes, edges): (Vec<_>, Vec<_>) = capture::dependencies(&stream).into_iter().unzip();
    wanted.count.offer(nodes.len());
    REPORTED.with_borrow_mut(|reported| {
        *reported = (nodes, edges);
        wanted.nodes.offer(reported.0.as_ptr());
        wanted.edges.offer(reported.1.as_ptr());
    });
    Ok(())
}

fn set_dependencies(
    stream: Handle,
    nodes: In<Handle>,
    edges: In<EdgeData>,
    count: usize,
    flags: c_uint,
) -> Answer {
    let stream = stream_of(stream)?;
    // CU_STREAM_ADD_CAPTURE_DEPENDENCIES, CU_STREAM_SET_CAPTURE_DEPENDENCIES
    let add = match flags {
        0 => true,
        1 => false,
        _ => return Err(INVALID_VALUE),
    };
    capture::set_dependencies(&stream, dependencies(nodes, edges, count)?, add)
}

/// An answer that nobody wants.
fn unwanted<T>() -> Out<T> {
    // SAFETY: null is a pointer that `Out` allows.
    unsafe { Out::new(std::ptr::null_mut()) }
}

api! { TABLE:
    /// Whether a stream is capturing.
    fn cuStreamIsCapturing, cuStreamIsCapturing_ptsz [stream] (
        stream: Handle, status: Out<c_uint>,
    ) {
        let (id, graph, nodes) = (unwanted(), unwanted(), unwanted());
        report(stream, &Wanted { status, id, graph, nodes, edges: unwanted(), count: unwanted() })
    }

    /// Status and number of what a stream captures.
    fn cuStreamGetCaptureInfo, cuStreamGetCaptureInfo_ptsz [stream] (
        stream: Handle, status: Out<c_uint>, id: Out<c_ulonglong>,
    ) {
        let (graph, nodes, edges) = (unwanted(), unwanted(), unwanted());
        report(stream, &Wanted { status, id, graph, nodes, edges, count: unwanted() })
    }

    /// What a stream captures, and what its next work will wait for.
    fn cuStreamGetCaptureInfo_v2, cuStreamGetCaptureInfo_v2_ptsz [stream] (
        stream: Handle, status: Out<c_uint>, id: Out<c_ulonglong>, graph: Out<Handle>,
        nodes: Out<*const u64>, count: Out<usize>,
    ) {
        report(stream, &Wanted { status, id, graph, nodes, edges: unwanted(), count })
    }

    /// As [`cuStreamGetCaptureInfo_v2`], with the edges.
    fn cuStreamGetCaptureInfo_v3, cuStreamGetCaptureInfo_v3_ptsz [stream] (
        stream: Handle, status: Out<c_uint>, id: Out<c_ulonglong>, graph: Out<Handle>,
        nodes: Out<*const u64>, edges: Out<*const EdgeData>, count: Out<usize>,
    ) {
        report(stream, &Wanted { status, id, graph, nodes, edges, count })
    }

    /// Begins a capture.
    fn cuStreamBeginCapture_v2, cuStreamBeginCapture_v2_ptsz [stream] (
        stream: Handle, mode: c_uint,
    ) {
        let stream = stream_of(stream)?;
        capture::begin(&stream, mode, None)
    }

    /// Begins a capture into a graph of the program, behind nodes of it.
    fn cuStreamBeginCaptureToGraph, cuStreamBeginCaptureToGraph_ptsz [stream] (
        stream: Handle, graph: Handle, nodes: In<Handle>, edges: In<EdgeData>, count: usize,
        mode: c_uint,
    ) {
        let graph = Graph::of(graph)?;
        let after = dependencies(nodes, edges, count)?;
        let own = graph.nodes();
        if !after.iter().all(|(node, _)| own.iter().any(|own| own.handle == *node)) {
            return Err(INVALID_VALUE);
        }
        let stream = stream_of(stream)?;
        capture::begin(&stream, mode, Some((graph, after)))
    }

    /// Ends a capture.
    fn cuStreamEndCapture, cuStreamEndCapture_ptsz [stream] (stream: Handle, graph: Out<Handle>) {
        let stream = stream_of(stream)?;
        fail_if(graph.is_null() && !capture::is_into_graph(&stream), INVALID_VALUE)?;
        graph.offer(0);
        graph.offer(capture::end(&stream)?);
        Ok(())
    }

    /// Sets what the next work of a capturing stream waits for.
    fn cuStreamUpdateCaptureDependencies, cuStreamUpdateCaptureDependencies_ptsz [stream] (
        stream: Handle, nodes: In<Handle>, count: usize, flags: c_uint,
    ) {
        set_dependencies(stream, nodes, NO_EDGES, count, flags)
    }

    /// As [`cuStreamUpdateCaptureDependencies`], with edges.
    fn cuStreamUpdateCaptureDependencies_v2, cuStreamUpdateCaptureDependencies_v2_ptsz [stream] (
        stream: Handle, nodes: In<Handle>, edges: In<EdgeData>, count: usize, flags: c_uint,
    ) {
        set_dependencies(stream, nodes, edges, count, flags)
    }

    /// How strictly calls are refused during a capture, by thread.
    fn cuThreadExchangeStreamCaptureMode(mode: Out<c_uint>) {
        crate::state::state()?;
        let wanted = mode.get()?;
        mode.put(capture::exchange_mode(wanted)?)
    }
}
