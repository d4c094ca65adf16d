//! Launches of nodes.

// Reads arguments through pointers of the program, and keeps arguments for it.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr::{null_mut, without_provenance_mut};

use gtrace_cuda::payload::{Attributes, GRAPH_KERNEL, KernelNode, Launch, Payload as _};
use gtrace_cuda::types::driver::CUDA_KERNEL_NODE_PARAMS;
use gtrace_protocol::Writer;

use super::{number, query};
use crate::entry::Answer;
use crate::functions::any_record;
use crate::launch::{Arguments, check_limits, gather, len};
use crate::managed;
use crate::session::Session;
use crate::state::lock;

/// The launch of a node as it was given to the program. It may follow the pointers until the node is changed, says CUDA;
/// programs do longer, and change single parameters of the same arrays again and again. So they stay where they are until
/// the node is gone, and have the node's parameters of now.
pub(super) struct Kept {
    params: CUDA_KERNEL_NODE_PARAMS,
    arrays: Arrays,
    /// The node launches another function now: it is asked for anew, and has arrays of its own.
    stale: bool,
    /// Arrays of functions that the node launched before.
    before: Vec<Arrays>,
}

/// Arrays of functions that a node launched before that are kept.
const BEFORE_MAX: usize = 16;

/// What a program was given pointers to.
struct Arrays {
    /// The parameters.
    bytes: Box<[u8]>,
    /// Where each lies.
    pointers: Box<[usize]>,
    offsets: Box<[u32]>,
}

impl Arrays {
    fn new(bytes: Box<[u8]>, offsets: Box<[u32]>) -> Self {
        let mut arrays = Self {
            pointers: vec![0; offsets.len()].into(),
            bytes,
            offsets,
        };
        arrays.point();
        arrays
    }

    /// Has the pointers lead to the parameters: the program may have changed them.
    fn point(&mut self) {
        let base = self.bytes.as_mut_ptr().expose_provenance();
        for (pointer, offset) in self.pointers.iter_mut().zip(&self.offsets) {
            *pointer = base + *offset as usize;
        }
    }

    /// Takes other parameters of the same function.
    fn set(&mut self, bytes: &[u8]) {
        let len = bytes.len().min(self.bytes.len());
        self.bytes[..len].copy_from_slice(&bytes[..len]);
        self.point();
    }
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
) -> Answer<(Launch<'static>, Vec<u8>)> {
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
    check_limits(session, &record, &launch)?;
    let arguments = Arguments {
        each: params.kernelParams,
        extra: params.extra,
    };
    let mut w = Writer::default();
    // SAFETY: the caller's promise.
    unsafe {
        len(&record, arguments)?;
        gather(&mut w, &record, arguments)?;
    }
    managed::reach_bytes(session, w.as_slice())?;
    Ok((launch, w.into_inner()))
}

/// What a node launches, kept for the program.
pub(super) fn params(session: &'static Session, node: u64) -> Answer<CUDA_KERNEL_NODE_PARAMS> {
    if let Some(kept) = lock(&session.state.graphs.kernels).get(&node)
        && !kept.stale
    {
        return Ok(kept.params);
    }
    let (launch, bytes, context) = query::of_node(session, GRAPH_KERNEL, node, |r| {
        let KernelNode { launch, context } = KernelNode::read(r)?;
        let bytes: Box<[u8]> = launch.parameters.into();
        let head = Launch {
            parameters: &[],
            attributes: Attributes::NONE,
            ..launch
        };
        Ok((head, bytes, context))
    })?;
    let record = any_record(session, launch.function)?;
    let layout = record.layout()?.parameters.iter();
    if layout
        .clone()
        .any(|it| (it.offset + it.size) as usize > bytes.len())
    {
        return Err(gtrace_cuda::types::driver::CUDA_ERROR_UNKNOWN);
    }
    let mut arrays = Arrays::new(bytes, layout.map(|it| it.offset).collect());
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
        kernelParams: arrays.pointers.as_mut_ptr().cast::<*mut c_void>(),
        extra: null_mut(),
        kern: if is_kernel {
            without_provenance_mut(handle)
        } else {
            null_mut()
        },
        ctx: without_provenance_mut(context as usize),
    };
    let mut kernels = lock(&session.state.graphs.kernels);
    let before = match kernels.remove(&node) {
        None => Vec::new(),
        Some(mut kept) => {
            kept.before.push(kept.arrays);
            if kept.before.len() > BEFORE_MAX {
                kept.before.remove(0);
            }
            kept.before
        }
    };
    let kept = Kept {
        params,
        arrays,
        stale: false,
        before,
    };
    kernels.insert(node, kept);
    Ok(params)
}

/// The node launches this now, as `params` say in the program's words.
pub(super) fn changed(
    session: &Session,
    node: u64,
    params: &CUDA_KERNEL_NODE_PARAMS,
    parameters: &[u8],
) {
    let mut kernels = lock(&session.state.graphs.kernels);
    let Some(kept) = kernels.get_mut(&node) else {
        return;
    };
    if (kept.params.func, kept.params.kern) != (params.func, params.kern) {
        kept.stale = true;
        return;
    }
    kept.arrays.set(parameters);
    kept.params = CUDA_KERNEL_NODE_PARAMS {
        kernelParams: kept.params.kernelParams,
        extra: null_mut(),
        ctx: kept.params.ctx,
        ..*params
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_given_of_nodes_goes_with_them() {
        let graphs = super::super::Graphs::default();
        for node in 1..=3 {
            let kept = Kept {
                // SAFETY: zeros are a value.
                params: unsafe { std::mem::zeroed() },
                arrays: Arrays::new(Box::default(), Box::default()),
                stale: false,
                before: Vec::new(),
            };
            lock(&graphs.kernels).insert(node, kept);
        }
        [1, 3, 4].iter().for_each(|node| graphs.forget_node(*node));
        let left: Vec<u64> = lock(&graphs.kernels).keys().copied().collect();
        assert_eq!(left, [2]);
    }

    /// What llama.cpp did for each token: one parameter of the arrays that it was given points to another place.
    #[test]
    fn arrays_stay_where_they_are() {
        let mut arrays = Arrays::new(vec![1, 0, 0, 0, 2, 0, 0, 0].into(), vec![0, 4].into());
        let (at, first) = (arrays.pointers.as_ptr(), arrays.pointers[1]);
        assert_eq!(first - arrays.pointers[0], 4);
        arrays.pointers[1] = 0xdead;
        arrays.set(&[3, 0, 0, 0, 4, 0, 0, 0]);
        assert_eq!((arrays.pointers.as_ptr(), arrays.pointers[1]), (at, first));
        assert_eq!(*arrays.bytes, [3, 0, 0, 0, 4, 0, 0, 0]);
    }
}
