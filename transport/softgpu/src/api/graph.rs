//! Stream capture and graphs are not offered: streams are never capturing, and to begin a capture
//! is refused.

use std::ffi::{c_uint, c_ulonglong};

use crate::abi::{Answer, Out, api};
use crate::context::bound;
use crate::error::{INVALID_VALUE, NOT_SUPPORTED, STREAM_CAPTURE_UNMATCHED};
use crate::stream::locate;
use crate::types::Handle;

/// `CU_STREAM_CAPTURE_STATUS_NONE`.
const NOT_CAPTURING: c_uint = 0;

fn tell(stream: Handle, status: Out<c_uint>, id: Out<c_ulonglong>) -> Answer {
    locate(bound()?, stream)?;
    id.offer(0);
    status.put(NOT_CAPTURING)
}

fn no_graph(graph: Out<Handle>, dependencies: Out<u64>, edges: Out<u64>, count: Out<usize>) {
    graph.offer(0);
    dependencies.offer(0);
    edges.offer(0);
    count.offer(0);
}

fn refuse(stream: Handle, mode: c_uint) -> Answer {
    locate(bound()?, stream)?;
    if mode > 2 {
        Err(INVALID_VALUE)
    } else {
        Err(NOT_SUPPORTED)
    }
}

api! { TABLE:
    /// Whether a stream is capturing: no.
    fn cuStreamIsCapturing, cuStreamIsCapturing_ptsz [stream] (
        stream: Handle, status: Out<c_uint>,
    ) {
        tell(stream, status, NO_ID)
    }

    /// What a stream captures: nothing.
    fn cuStreamGetCaptureInfo, cuStreamGetCaptureInfo_ptsz [stream] (
        stream: Handle, status: Out<c_uint>, id: Out<c_ulonglong>,
    ) {
        tell(stream, status, id)
    }

    /// What a stream captures: nothing.
    fn cuStreamGetCaptureInfo_v2, cuStreamGetCaptureInfo_v2_ptsz [stream] (
        stream: Handle, status: Out<c_uint>, id: Out<c_ulonglong>, graph: Out<Handle>,
        dependencies: Out<u64>, count: Out<usize>,
    ) {
        tell(stream, status, id)?;
        no_graph(graph, dependencies, dependencies, count);
        Ok(())
    }

    /// What a stream captures: nothing.
    fn cuStreamGetCaptureInfo_v3, cuStreamGetCaptureInfo_v3_ptsz [stream] (
        stream: Handle, status: Out<c_uint>, id: Out<c_ulonglong>, graph: Out<Handle>,
        dependencies: Out<u64>, edges: Out<u64>, count: Out<usize>,
    ) {
        tell(stream, status, id)?;
        no_graph(graph, dependencies, edges, count);
        Ok(())
    }

    /// Begins a capture: `CUDA_ERROR_NOT_SUPPORTED`.
    fn cuStreamBeginCapture_v2, cuStreamBeginCapture_v2_ptsz [stream] (
        stream: Handle, mode: c_uint,
    ) {
        refuse(stream, mode)
    }

    /// Ends a capture: there is none.
    fn cuStreamEndCapture, cuStreamEndCapture_ptsz [stream] (stream: Handle, graph: Out<Handle>) {
        locate(bound()?, stream)?;
        graph.offer(0);
        Err(STREAM_CAPTURE_UNMATCHED)
    }

    /// How strictly calls are refused during a capture, by thread.
    fn cuThreadExchangeStreamCaptureMode(mode: Out<c_uint>) {
        crate::state::state()?;
        let wanted = mode.get()?;
        if wanted > 2 {
            return Err(INVALID_VALUE);
        }
        mode.put(MODE.replace(wanted))
    }
}

/// For questions that do not ask for the number of a capture.
// SAFETY: null is a pointer that `Out` allows.
const NO_ID: Out<c_ulonglong> = unsafe { Out::new(std::ptr::null_mut()) };

thread_local! {
    static MODE: std::cell::Cell<c_uint> = const { std::cell::Cell::new(0) };
}
