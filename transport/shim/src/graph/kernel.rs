//! Launches of nodes.

// Reads arguments through pointers of the program, and keeps arguments for it.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr::{null_mut, without_provenance_mut};

use gtrace_cuda::payload::{Attributes, GRAPH_KERNEL, KernelNode, Launch, Payload as _};
use gtrace_cuda::types::driver::{CUDA_KERNEL_NODE_PARAMS, CUresult};
use gtrace_protocol::{Flags, Writer};

use super::number;
use crate::entry::exchange;
use crate::functions::any_record;
use crate::launch::{Arguments, check_limits, gather, len};
use crate::session::Session;
use crate::state::lock;

/// The launch of a node as it was given to the program: it may follow the pointers until the node is
/// changed or gone.
pub(super) struct Kept {
    params: CUDA_KERNEL_NODE_PARAMS,
    /// What the pointers lead to.
    _bytes: Box<[u8]>,
    _pointers: Box<[usize]>,
}

// SAFETY: handles are numbers, and the pointers are given to the program alone.
unsafe impl Send for Kept {}

/// The buffer of a launch's parameters.
///
/// # Errors
///
/// As `cuLaunchKernel`, of limits and arguments.
///
/// # Safety
///
/// The program's promise for the parameters of a kernel node.
pub(super) unsafe fn packed(
    session: &'static Session,
    params: &CUDA_KERNEL_NODE_PARAMS,
) -> Result<(Launch<'static>, Vec<u8>), CUresult> {
    let launch = Launch {
        function: match params.func.is_null() {
            true => number(params.kern),
            false => number(params.func),
        },
        grid: [params.gridDimX, params.gridDimY, params.gridDimZ],
        block: [params.blockDimX, params.blockDimY, params.blockDimZ],
        shared_bytes: params.sharedMemBytes,
        stream: 0,
        parameters: &[],
        attributes: Attributes::NONE,
    };
    let record = any_record(session, launch.function)?;
    check_limits(session, record, &launch)?;
    let arguments = Arguments {
        each: params.kernelParams,
        extra: params.extra,
    };
    let mut w = Writer::default();
    // SAFETY: the caller's promise.
    unsafe {
        len(record, arguments)?;
        gather(&mut w, record, arguments)?;
    }
    Ok((launch, w.into_inner()))
}

/// What a node launches, kept for the program.
///
/// # Errors
///
/// Those of the question.
pub(super) fn params(
    session: &'static Session,
    node: u64,
) -> Result<CUDA_KERNEL_NODE_PARAMS, CUresult> {
    if let Some(kept) = lock(&session.state.graphs.kernels).get(&node) {
        return Ok(kept.params);
    }
    let mut found = None;
    exchange(
        session,
        GRAPH_KERNEL,
        Flags::default(),
        |w| {
            w.u64(node);
            Ok(())
        },
        |r| {
            let KernelNode { launch, context } = KernelNode::read(r)?;
            let bytes: Box<[u8]> = launch.parameters.into();
            let head = Launch {
                parameters: &[],
                attributes: Attributes::NONE,
                ..launch
            };
            found = Some((head, bytes, context));
            Ok(())
        },
    )?;
    let (launch, bytes, context) = found.ok_or(gtrace_cuda::types::driver::CUDA_ERROR_UNKNOWN)?;
    let record = any_record(session, launch.function)?;
    let base = bytes.as_ptr().expose_provenance();
    let layout = record.parameters.iter().flatten();
    let pointers: Box<[usize]> = layout.map(|it| base + it.offset as usize).collect();
    let handle = launch.function as usize;
    let is_kernel = gtrace_cuda::Kind::Kernel.matches(launch.function);
    let params = CUDA_KERNEL_NODE_PARAMS {
        func: if is_kernel {
            null_mut()
        } else {
            without_provenance_mut(handle)
        },
        gridDimX: launch.grid[0],
        gridDimY: launch.grid[1],
        gridDimZ: launch.grid[2],
        blockDimX: launch.block[0],
        blockDimY: launch.block[1],
        blockDimZ: launch.block[2],
        sharedMemBytes: launch.shared_bytes,
        kernelParams: pointers.as_ptr().cast_mut().cast::<*mut c_void>(),
        extra: null_mut(),
        kern: if is_kernel {
            without_provenance_mut(handle)
        } else {
            null_mut()
        },
        ctx: without_provenance_mut(context as usize),
    };
    let kept = Kept {
        params,
        _bytes: bytes,
        _pointers: pointers,
    };
    lock(&session.state.graphs.kernels).insert(node, kept);
    Ok(params)
}

/// The node launches something else now.
pub(super) fn changed(session: &Session, node: u64) {
    lock(&session.state.graphs.kernels).remove(&node);
}
