//! Capture of streams into graphs. The client knows which streams are being captured, as programs ask
//! before many calls.

// Writes results through pointers of the program.
#![allow(unsafe_code)]

use std::ptr::{null, null_mut};
use std::sync::atomic::Ordering;

use gtrace_cuda::types::driver::{
    self as cuda, CUgraph, CUgraphEdgeData, CUgraphNode, CUresult, CUstream, CUstreamCaptureMode,
    CUstreamCaptureStatus, cuuint64_t,
};

use crate::context::{put, put_wanted};
use crate::entry::{check, done};
use crate::generated::driver::remote;
use crate::session;
use crate::state::lock;
use crate::stats::local;

/// Whether no stream of the process is being captured.
fn none() -> Result<bool, CUresult> {
    Ok(session::cuda()?.state.captures.load(Ordering::Relaxed) == 0)
}

pub(crate) unsafe fn cuStreamIsCapturing(
    hStream: CUstream,
    captureStatus: *mut CUstreamCaptureStatus,
) -> CUresult {
    done(|| {
        if none()? {
            local!("cuStreamIsCapturing");
            // SAFETY: a pointer of the program.
            return unsafe { put(captureStatus, cuda::CU_STREAM_CAPTURE_STATUS_NONE) };
        }
        // SAFETY: a pointer of the program, passed on.
        check(unsafe { remote::cuStreamIsCapturing(hStream, captureStatus) })
    })
}

/// The number of a capture and its graph cannot be told yet.
unsafe fn info(
    hStream: CUstream,
    status: *mut CUstreamCaptureStatus,
    id: *mut cuuint64_t,
) -> Result<(), CUresult> {
    let mut found = cuda::CU_STREAM_CAPTURE_STATUS_NONE;
    // SAFETY: the status is writable.
    check(unsafe { cuStreamIsCapturing(hStream, &raw mut found) })?;
    if found != cuda::CU_STREAM_CAPTURE_STATUS_NONE {
        return Err(cuda::CUDA_ERROR_NOT_SUPPORTED);
    }
    // SAFETY: pointers of the program.
    unsafe {
        put(status, found)?;
        put_wanted(id, 0);
    }
    Ok(())
}

pub(crate) unsafe fn cuStreamGetCaptureInfo(
    hStream: CUstream,
    captureStatus_out: *mut CUstreamCaptureStatus,
    id_out: *mut cuuint64_t,
) -> CUresult {
    // SAFETY: pointers of the program.
    done(|| unsafe { info(hStream, captureStatus_out, id_out) })
}

pub(crate) unsafe fn cuStreamGetCaptureInfo_v2(
    hStream: CUstream,
    captureStatus_out: *mut CUstreamCaptureStatus,
    id_out: *mut cuuint64_t,
    graph_out: *mut CUgraph,
    dependencies_out: *mut *const CUgraphNode,
    numDependencies_out: *mut usize,
) -> CUresult {
    // SAFETY: pointers of the program.
    done(|| unsafe {
        info(hStream, captureStatus_out, id_out)?;
        put_wanted(graph_out, null_mut());
        put_wanted(dependencies_out, null());
        put_wanted(numDependencies_out, 0);
        Ok(())
    })
}

pub(crate) unsafe fn cuStreamGetCaptureInfo_v3(
    hStream: CUstream,
    captureStatus_out: *mut CUstreamCaptureStatus,
    id_out: *mut cuuint64_t,
    graph_out: *mut CUgraph,
    dependencies_out: *mut *const CUgraphNode,
    edgeData_out: *mut *const CUgraphEdgeData,
    numDependencies_out: *mut usize,
) -> CUresult {
    // SAFETY: pointers of the program.
    done(|| unsafe {
        info(hStream, captureStatus_out, id_out)?;
        put_wanted(graph_out, null_mut());
        put_wanted(dependencies_out, null());
        put_wanted(edgeData_out, null());
        put_wanted(numDependencies_out, 0);
        Ok(())
    })
}

pub(crate) unsafe fn cuStreamBeginCapture_v2(
    hStream: CUstream,
    mode: CUstreamCaptureMode,
) -> CUresult {
    done(|| {
        let session = session::cuda()?;
        // SAFETY: a handle.
        check(unsafe { remote::cuStreamBeginCapture_v2(hStream, mode) })?;
        if lock(&session.state.capturing).insert(hStream.addr() as u64) {
            session.state.captures.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    })
}

pub(crate) unsafe fn cuStreamEndCapture(hStream: CUstream, phGraph: *mut CUgraph) -> CUresult {
    done(|| {
        let session = session::cuda()?;
        // SAFETY: a pointer of the program, passed on.
        let ended = check(unsafe { remote::cuStreamEndCapture(hStream, phGraph) });
        // A capture that has failed is over too.
        if lock(&session.state.capturing).remove(&(hStream.addr() as u64)) {
            session.state.captures.fetch_sub(1, Ordering::Relaxed);
        }
        ended
    })
}

/// The mode is one of a thread, and each thread has a thread of the server.
pub(crate) unsafe fn cuThreadExchangeStreamCaptureMode(mode: *mut CUstreamCaptureMode) -> CUresult {
    // SAFETY: a pointer of the program, passed on.
    unsafe { remote::cuThreadExchangeStreamCaptureMode(mode) }
}
