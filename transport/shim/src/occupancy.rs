//! Occupancy: answers are remembered, as they follow from function and device alone.

// Writes results through pointers of the program, and calls its functions.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_uint};

use gtrace_cuda::types::driver::{self as cuda, CUfunction, CUoccupancyB2DSize, CUresult};

use crate::context::{self, put, put_wanted};
use crate::device::{attribute, device};
use crate::entry::{Answer, check};
use crate::generated::driver::remote;
use crate::session;
use crate::state::lock;
use crate::stats::local;
use crate::status::fail_if;

/// The remembered answer to `key`, or that of `ask`, remembered.
fn remembered(key: [u64; 5], ask: impl FnOnce(&mut u64) -> CUresult) -> Answer<u64> {
    /// More answers than any program asks for; a program that makes questions up starts anew.
    const MOST: usize = 1 << 16;
    let session = session::cuda()?;
    if let Some(answer) = lock(&session.state.functions).occupancy.get(&key) {
        local!("cuOccupancy");
        return Ok(*answer);
    }
    let mut answer = 0;
    check(ask(&mut answer))?;
    let mut functions = lock(&session.state.functions);
    if functions.occupancy.len() >= MOST {
        functions.occupancy.clear();
    }
    functions.occupancy.insert(key, answer);
    Ok(answer)
}

/// Blocks of a kernel that the current device runs at the same time.
pub(crate) fn blocks_together(func: CUfunction, block: c_int, dynamic: usize) -> Answer<u64> {
    let device = device(session::cuda()?, context::current()?.device)?;
    let processors = attribute(device, cuda::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    let processors = processors.ok_or(cuda::CUDA_ERROR_INVALID_DEVICE)?;
    let each = blocks(func, block, dynamic, 0)?;
    Ok(u64::from(each.unsigned_abs()) * u64::from(processors.unsigned_abs()))
}

fn blocks(func: CUfunction, block: c_int, dynamic: usize, flags: c_uint) -> Answer<c_int> {
    let key = [
        func.addr() as u64,
        context::top().handle,
        u64::from(block.cast_unsigned()),
        dynamic as u64,
        u64::from(flags),
    ];
    let answer = remembered(key, |answer| {
        let mut count: c_int = 0;
        // SAFETY: the count is writable.
        let code = unsafe {
            remote::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                &raw mut count,
                func,
                block,
                dynamic,
                flags,
            )
        };
        *answer = u64::from(count.cast_unsigned());
        code
    })?;
    Ok((answer as u32).cast_signed())
}

pub(crate) unsafe fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
    numBlocks: *mut c_int,
    func: CUfunction,
    blockSize: c_int,
    dynamicSMemSize: usize,
) -> Answer {
    // SAFETY: a pointer of the program.
    unsafe { put(numBlocks, blocks(func, blockSize, dynamicSMemSize, 0)?) }
}

pub(crate) unsafe fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    numBlocks: *mut c_int,
    func: CUfunction,
    blockSize: c_int,
    dynamicSMemSize: usize,
    flags: c_uint,
) -> Answer {
    // SAFETY: a pointer of the program.
    unsafe { put(numBlocks, blocks(func, blockSize, dynamicSMemSize, flags)?) }
}

pub(crate) unsafe fn cuOccupancyAvailableDynamicSMemPerBlock(
    dynamicSmemSize: *mut usize,
    func: CUfunction,
    numBlocks: c_int,
    blockSize: c_int,
) -> Answer {
    let key = [
        func.addr() as u64,
        context::top().handle,
        u64::from(blockSize.cast_unsigned()),
        u64::from(numBlocks.cast_unsigned()),
        u64::MAX,
    ];
    let size = remembered(key, |answer| {
        let mut size = 0usize;
        // SAFETY: the size is writable.
        let code = unsafe {
            remote::cuOccupancyAvailableDynamicSMemPerBlock(
                &raw mut size,
                func,
                numBlocks,
                blockSize,
            )
        };
        *answer = size as u64;
        code
    })?;
    // SAFETY: a pointer of the program.
    unsafe { put(dynamicSmemSize, size as usize) }
}

pub(crate) unsafe fn cuOccupancyMaxPotentialBlockSize(
    minGridSize: *mut c_int,
    blockSize: *mut c_int,
    func: CUfunction,
    blockSizeToDynamicSMemSize: CUoccupancyB2DSize,
    dynamicSMemSize: usize,
    blockSizeLimit: c_int,
) -> Answer {
    // SAFETY: the program's pointers.
    unsafe {
        cuOccupancyMaxPotentialBlockSizeWithFlags(
            minGridSize,
            blockSize,
            func,
            blockSizeToDynamicSMemSize,
            dynamicSMemSize,
            blockSizeLimit,
            0,
        )
    }
}

/// Tries every size of block, as the program's function may give each another size of shared memory.
pub(crate) unsafe fn cuOccupancyMaxPotentialBlockSizeWithFlags(
    minGridSize: *mut c_int,
    blockSize: *mut c_int,
    func: CUfunction,
    blockSizeToDynamicSMemSize: CUoccupancyB2DSize,
    dynamicSMemSize: usize,
    blockSizeLimit: c_int,
    flags: c_uint,
) -> Answer {
    let session = session::cuda()?;
    fail_if(
        minGridSize.is_null() || blockSize.is_null(),
        cuda::CUDA_ERROR_INVALID_VALUE,
    )?;
    let device = device(session, context::current()?.device)?;
    let get = |a| attribute(device, a).ok_or(cuda::CUDA_ERROR_INVALID_DEVICE);
    let warp = get(cuda::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?.max(1);
    let processors = get(cuda::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
    let mut most = get(cuda::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
    let mut of_function = 0;
    // SAFETY: the number is writable.
    unsafe {
        crate::functions::cuFuncGetAttribute(
            &raw mut of_function,
            cuda::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
            func,
        )
    }?;
    most = most.min(of_function);
    if blockSizeLimit > 0 {
        most = most.min(blockSizeLimit);
    }
    // The largest first: of equal occupancy the larger block is preferred.
    let mut best = (0, 0, 0);
    let mut size = (most + warp - 1) / warp * warp;
    while size > 0 {
        let tried = size.min(most);
        let dynamic = match blockSizeToDynamicSMemSize {
            // SAFETY: the program's function, which takes a size of block.
            Some(function) => unsafe { function(tried) },
            None => dynamicSMemSize,
        };
        let count = blocks(func, tried, dynamic, flags)?;
        if count.saturating_mul(tried) > best.0 {
            best = (count.saturating_mul(tried), tried, count);
        }
        size -= warp;
    }
    // SAFETY: pointers of the program.
    unsafe {
        put_wanted(blockSize, best.1);
        put_wanted(minGridSize, best.2.saturating_mul(processors));
    }
    Ok(())
}
