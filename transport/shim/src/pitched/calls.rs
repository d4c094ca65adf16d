//! The functions of the interface that copy in two and three dimensions, and to and from arrays.

// Reads structures of the program's.
#![allow(unsafe_code)]

use std::ffi::c_void;

use gtrace_cuda::payload::{Extent, Pitched, SYNCHRONOUS, Side, SideKind};
use gtrace_cuda::types::driver::{
    self as cuda, CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUDA_MEMCPY3D_PEER, CUarray, CUdeviceptr, CUresult,
    CUstream,
};
use gtrace_protocol::{OpId, op_id};

use super::{deep, one_slice, put};
use crate::copy::stream;
use crate::entry::done;
use crate::session;
use crate::state::lock;

/// A side of a copy of one row.
#[derive(Clone, Copy)]
enum Line {
    Host(usize),
    Device(CUdeviceptr),
    /// An array, from a byte on.
    Array(CUarray, usize),
}

impl Line {
    fn side(self) -> Side {
        match self {
            Self::Host(place) => Side::at(SideKind::Client, place as u64),
            Self::Device(place) => Side::at(SideKind::Device, place),
            Self::Array(array, x) => Side {
                x: x as u64,
                ..Side::at(SideKind::Array, array.addr() as u64)
            },
        }
    }
}

/// A copy of one row, of which an array is a side. `stream` is none for the call without `Async`.
fn row(to: Line, from: Line, bytes: usize, stream: Option<CUstream>) -> CUresult {
    done(|| {
        let op = match stream {
            None => op_id("cuMemcpy2D_v2"),
            Some(_) => op_id("cuMemcpy2DAsync_v2"),
        };
        let whole = Pitched {
            from: from.side(),
            to: to.side(),
            extent: Extent::row(bytes as u64),
            chunk: 0,
            stream: stream.map_or(SYNCHRONOUS, crate::copy::stream),
        };
        put(session::cuda()?, op, &whole)
    })
}

pub(crate) unsafe fn cuMemcpyHtoA_v2(
    dstArray: CUarray,
    dstOffset: usize,
    srcHost: *const c_void,
    ByteCount: usize,
) -> CUresult {
    let from = Line::Host(srcHost.expose_provenance());
    row(Line::Array(dstArray, dstOffset), from, ByteCount, None)
}

pub(crate) unsafe fn cuMemcpyHtoAAsync_v2(
    dstArray: CUarray,
    dstOffset: usize,
    srcHost: *const c_void,
    ByteCount: usize,
    hStream: CUstream,
) -> CUresult {
    let from = Line::Host(srcHost.expose_provenance());
    let to = Line::Array(dstArray, dstOffset);
    row(to, from, ByteCount, Some(hStream))
}

pub(crate) unsafe fn cuMemcpyAtoH_v2(
    dstHost: *mut c_void,
    srcArray: CUarray,
    srcOffset: usize,
    ByteCount: usize,
) -> CUresult {
    let to = Line::Host(dstHost.expose_provenance());
    row(to, Line::Array(srcArray, srcOffset), ByteCount, None)
}

pub(crate) unsafe fn cuMemcpyAtoHAsync_v2(
    dstHost: *mut c_void,
    srcArray: CUarray,
    srcOffset: usize,
    ByteCount: usize,
    hStream: CUstream,
) -> CUresult {
    let to = Line::Host(dstHost.expose_provenance());
    let from = Line::Array(srcArray, srcOffset);
    row(to, from, ByteCount, Some(hStream))
}

pub(crate) unsafe fn cuMemcpyDtoA_v2(
    dstArray: CUarray,
    dstOffset: usize,
    srcDevice: CUdeviceptr,
    ByteCount: usize,
) -> CUresult {
    let to = Line::Array(dstArray, dstOffset);
    row(to, Line::Device(srcDevice), ByteCount, None)
}

pub(crate) unsafe fn cuMemcpyAtoD_v2(
    dstDevice: CUdeviceptr,
    srcArray: CUarray,
    srcOffset: usize,
    ByteCount: usize,
) -> CUresult {
    let from = Line::Array(srcArray, srcOffset);
    row(Line::Device(dstDevice), from, ByteCount, None)
}

pub(crate) unsafe fn cuMemcpyAtoA_v2(
    dstArray: CUarray,
    dstOffset: usize,
    srcArray: CUarray,
    srcOffset: usize,
    ByteCount: usize,
) -> CUresult {
    let to = Line::Array(dstArray, dstOffset);
    row(to, Line::Array(srcArray, srcOffset), ByteCount, None)
}

unsafe fn copy_2d(op: OpId, given: *const CUDA_MEMCPY2D, stream: u64) -> CUresult {
    done(|| {
        let session = session::cuda()?;
        // SAFETY: null or a structure of the program.
        let given = unsafe { given.as_ref() }.ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?;
        let whole = deep(session, &one_slice(given))?;
        put(session, op, &Pitched { stream, ..whole })
    })
}

unsafe fn copy_3d(op: OpId, given: *const CUDA_MEMCPY3D, stream: u64) -> CUresult {
    done(|| {
        let session = session::cuda()?;
        // SAFETY: null or a structure of the program.
        let given = unsafe { given.as_ref() }.ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?;
        let whole = deep(session, given)?;
        put(session, op, &Pitched { stream, ..whole })
    })
}

pub(crate) unsafe fn cuMemcpy2D_v2(pCopy: *const CUDA_MEMCPY2D) -> CUresult {
    // SAFETY: the program's pointer.
    unsafe { copy_2d(op_id("cuMemcpy2D_v2"), pCopy, SYNCHRONOUS) }
}

pub(crate) unsafe fn cuMemcpy2DUnaligned_v2(pCopy: *const CUDA_MEMCPY2D) -> CUresult {
    // SAFETY: the program's pointer.
    unsafe { copy_2d(op_id("cuMemcpy2DUnaligned_v2"), pCopy, SYNCHRONOUS) }
}

pub(crate) unsafe fn cuMemcpy2DAsync_v2(
    pCopy: *const CUDA_MEMCPY2D,
    hStream: CUstream,
) -> CUresult {
    // SAFETY: the program's pointer.
    unsafe { copy_2d(op_id("cuMemcpy2DAsync_v2"), pCopy, stream(hStream)) }
}

pub(crate) unsafe fn cuMemcpy3D_v2(pCopy: *const CUDA_MEMCPY3D) -> CUresult {
    // SAFETY: the program's pointer.
    unsafe { copy_3d(op_id("cuMemcpy3D_v2"), pCopy, SYNCHRONOUS) }
}

pub(crate) unsafe fn cuMemcpy3DAsync_v2(
    pCopy: *const CUDA_MEMCPY3D,
    hStream: CUstream,
) -> CUresult {
    // SAFETY: the program's pointer.
    unsafe { copy_3d(op_id("cuMemcpy3DAsync_v2"), pCopy, stream(hStream)) }
}

/// A copy between contexts. Addresses say by themselves whose memory they are of, so it travels as one
/// within a context.
unsafe fn peer(op: OpId, given: *const CUDA_MEMCPY3D_PEER, stream: u64) -> CUresult {
    const {
        assert!(size_of::<CUDA_MEMCPY3D_PEER>() == size_of::<CUDA_MEMCPY3D>());
    }
    done(|| {
        let session = session::cuda()?;
        // SAFETY: null or a structure of the program.
        let peers = unsafe { given.as_ref() }.ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?;
        let sides = [
            (peers.srcMemoryType, peers.srcContext),
            (peers.dstMemoryType, peers.dstContext),
        ];
        for (kind, context) in sides {
            let known = lock(&session.state.contexts).get(context.addr() as u64);
            if kind != cuda::CU_MEMORYTYPE_HOST && known.is_none() {
                return Err(cuda::CUDA_ERROR_INVALID_CONTEXT);
            }
        }
        // SAFETY: the same structure, but for the contexts, which are reserved there.
        let whole = deep(session, unsafe { &*given.cast::<CUDA_MEMCPY3D>() })?;
        put(session, op, &Pitched { stream, ..whole })
    })
}

pub(crate) unsafe fn cuMemcpy3DPeer(pCopy: *const CUDA_MEMCPY3D_PEER) -> CUresult {
    // SAFETY: the program's pointer.
    unsafe { peer(op_id("cuMemcpy3D_v2"), pCopy, SYNCHRONOUS) }
}

pub(crate) unsafe fn cuMemcpy3DPeerAsync(
    pCopy: *const CUDA_MEMCPY3D_PEER,
    hStream: CUstream,
) -> CUresult {
    // SAFETY: the program's pointer.
    unsafe { peer(op_id("cuMemcpy3DAsync_v2"), pCopy, stream(hStream)) }
}
