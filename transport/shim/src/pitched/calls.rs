//! The functions of the interface that copy in two and three dimensions, and to and from arrays.

// Reads structures of the program's.
#![allow(unsafe_code)]

use std::ffi::c_void;

use gtrace_cuda::payload::{Extent, Pitched, SYNCHRONOUS, Side, SideKind};
use gtrace_cuda::types::driver::{
    self as cuda, CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUDA_MEMCPY3D_PEER, CUarray, CUdeviceptr, CUstream,
};
use gtrace_protocol::{OpId, op_id};

use super::{deep, one_slice, put};
use crate::copy::stream;
use crate::entry::Answer;
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
fn row(to: Line, from: Line, bytes: usize, stream: Option<CUstream>) -> Answer {
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
}

/// Functions that copy a row to or from an array.
macro_rules! rows {
    ($($name:ident($($argument:ident: $type:ty),*; $bytes:ident $(, $stream:ident)?) => $from:expr, $to:expr;)*) => {$(
        pub(crate) unsafe fn $name(
            $($argument: $type,)*
            $bytes: usize,
            $($stream: CUstream)?
        ) -> Answer {
            row($to, $from, $bytes, rows!(@ $($stream)?))
        }
    )*};
    (@) => { None };
    (@ $stream:ident) => { Some($stream) };
}

rows! {
    cuMemcpyHtoA_v2(array: CUarray, offset: usize, host: *const c_void; bytes) =>
        Line::Host(host.expose_provenance()), Line::Array(array, offset);
    cuMemcpyHtoAAsync_v2(array: CUarray, offset: usize, host: *const c_void; bytes, stream) =>
        Line::Host(host.expose_provenance()), Line::Array(array, offset);
    cuMemcpyAtoH_v2(host: *mut c_void, array: CUarray, offset: usize; bytes) =>
        Line::Array(array, offset), Line::Host(host.expose_provenance());
    cuMemcpyAtoHAsync_v2(host: *mut c_void, array: CUarray, offset: usize; bytes, stream) =>
        Line::Array(array, offset), Line::Host(host.expose_provenance());
    cuMemcpyDtoA_v2(array: CUarray, offset: usize, device: CUdeviceptr; bytes) =>
        Line::Device(device), Line::Array(array, offset);
    cuMemcpyAtoD_v2(device: CUdeviceptr, array: CUarray, offset: usize; bytes) =>
        Line::Array(array, offset), Line::Device(device);
    cuMemcpyAtoA_v2(to: CUarray, at: usize, array: CUarray, offset: usize; bytes) =>
        Line::Array(array, offset), Line::Array(to, at);
}

unsafe fn copy_2d(op: OpId, given: *const CUDA_MEMCPY2D, stream: u64) -> Answer {
    let session = session::cuda()?;
    // SAFETY: null or a structure of the program.
    let given = unsafe { given.as_ref() }.ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?;
    let whole = deep(session, &one_slice(given))?;
    put(session, op, &Pitched { stream, ..whole })
}

unsafe fn copy_3d(op: OpId, given: *const CUDA_MEMCPY3D, stream: u64) -> Answer {
    let session = session::cuda()?;
    // SAFETY: null or a structure of the program.
    let given = unsafe { given.as_ref() }.ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?;
    let whole = deep(session, given)?;
    put(session, op, &Pitched { stream, ..whole })
}

/// A copy between contexts. Addresses say by themselves whose memory they are of, so it travels as one
/// within a context.
unsafe fn peer(op: OpId, given: *const CUDA_MEMCPY3D_PEER, stream: u64) -> Answer {
    const {
        assert!(size_of::<CUDA_MEMCPY3D_PEER>() == size_of::<CUDA_MEMCPY3D>());
    }
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
}

/// Functions that copy what a structure describes, and the operation that each is.
macro_rules! described {
    ($($name:ident($type:ty $(, $stream:ident)?) => $copy:ident, $operation:literal;)*) => {$(
        pub(crate) unsafe fn $name(pCopy: *const $type $(, $stream: CUstream)?) -> Answer {
            // SAFETY: the program's pointer.
            unsafe { $copy(op_id($operation), pCopy, described!(@ $($stream)?)) }
        }
    )*};
    (@) => { SYNCHRONOUS };
    (@ $stream:ident) => { stream($stream) };
}

described! {
    cuMemcpy2D_v2(CUDA_MEMCPY2D) => copy_2d, "cuMemcpy2D_v2";
    cuMemcpy2DUnaligned_v2(CUDA_MEMCPY2D) => copy_2d, "cuMemcpy2DUnaligned_v2";
    cuMemcpy2DAsync_v2(CUDA_MEMCPY2D, hStream) => copy_2d, "cuMemcpy2DAsync_v2";
    cuMemcpy3D_v2(CUDA_MEMCPY3D) => copy_3d, "cuMemcpy3D_v2";
    cuMemcpy3DAsync_v2(CUDA_MEMCPY3D, hStream) => copy_3d, "cuMemcpy3DAsync_v2";
    cuMemcpy3DPeer(CUDA_MEMCPY3D_PEER) => peer, "cuMemcpy3D_v2";
    cuMemcpy3DPeerAsync(CUDA_MEMCPY3D_PEER, hStream) => peer, "cuMemcpy3DAsync_v2";
}
