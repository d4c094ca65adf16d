//! Occupancy, by the limits that the CPU emulator reports.

use std::ffi::{c_int, c_uint};

use crate::abi::{Answer, In, Out, api};
use crate::attributes::{MAX_THREADS, SHARED_PER_SM, SHARED_RESERVED, WARP, multiprocessors};
use crate::cluster;
use crate::context::bound;
use crate::error::{INVALID_VALUE, fail_if};
use crate::module::Function;
use crate::occupancy::blocks;
use crate::types::{BlockSizeToShared, Handle, LaunchConfig};

fn function(handle: Handle) -> Answer<std::sync::Arc<Function>> {
    Function::of(bound()?.as_ref(), handle)
}

fn active(out: Out<c_int>, handle: Handle, block: c_int, shared: usize) -> Answer {
    let found = function(handle)?;
    let threads = u64::try_from(block)
        .ok()
        .filter(|size| *size > 0)
        .ok_or(INVALID_VALUE)?;
    out.put(blocks(&found, threads, shared as u64) as c_int)
}

/// The block size with the most threads of a multiprocessor, the largest of several.
fn potential(
    grid: Out<c_int>,
    block: Out<c_int>,
    handle: Handle,
    shared_of: BlockSizeToShared,
    shared: usize,
    limit: c_int,
) -> Answer {
    let found = function(handle)?;
    let most = found
        .entry()
        .max_threads
        .unwrap_or(MAX_THREADS)
        .min(MAX_THREADS);
    let most = if limit > 0 {
        most.min(limit as u32)
    } else {
        most
    };
    let (mut best_block, mut best_threads, mut best_blocks) = (0, 0, 0);
    let mut size = most;
    while size > 0 {
        // SAFETY: the program gave the function for this purpose.
        let dynamic = shared_of.map_or(shared, |of| unsafe { of(size as c_int) });
        let fit = blocks(&found, size.into(), dynamic as u64);
        if fit * size > best_threads {
            (best_block, best_threads, best_blocks) = (size, fit * size, fit);
        }
        size = (size - 1) / WARP * WARP;
    }
    grid.put((best_blocks * multiprocessors()) as c_int)?;
    block.put(best_block as c_int)
}

api! { TABLE:
    /// Blocks of a function that a multiprocessor holds at once.
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        count: Out<c_int>, function: Handle, block: c_int, shared: usize,
    ) {
        active(count, function, block, shared)
    }

    /// Blocks of a function that a multiprocessor holds at once.
    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        count: Out<c_int>, function: Handle, block: c_int, shared: usize, flags: c_uint,
    ) {
        if flags > 1 { Err(INVALID_VALUE) } else { active(count, function, block, shared) }
    }

    /// A block size that fills the device, and the least grid that does.
    fn cuOccupancyMaxPotentialBlockSize(
        grid: Out<c_int>, block: Out<c_int>, function: Handle, shared_of: BlockSizeToShared,
        shared: usize, limit: c_int,
    ) {
        potential(grid, block, function, shared_of, shared, limit)
    }

    /// A block size that fills the device, and the least grid that does.
    fn cuOccupancyMaxPotentialBlockSizeWithFlags(
        grid: Out<c_int>, block: Out<c_int>, function: Handle, shared_of: BlockSizeToShared,
        shared: usize, limit: c_int, flags: c_uint,
    ) {
        fail_if(flags > 1, INVALID_VALUE)?;
        potential(grid, block, function, shared_of, shared, limit)
    }

    /// Dynamic shared memory that leaves room for so many blocks.
    fn cuOccupancyAvailableDynamicSMemPerBlock(
        bytes: Out<usize>, function: Handle, blocks: c_int, block: c_int,
    ) {
        let found = self::function(function)?;
        fail_if(blocks <= 0 || block <= 0, INVALID_VALUE)?;
        let share = SHARED_PER_SM / blocks as u32;
        let taken = found.entry().shared + SHARED_RESERVED;
        let most = found.tuning.dynamic_shared(found.entry());
        bytes.put(share.saturating_sub(taken).min(most) as usize)
    }

    /// Clusters that run at once.
    fn cuOccupancyMaxActiveClusters(
        count: Out<c_int>, function: Handle, config: In<LaunchConfig>,
    ) {
        let (found, config) = (self::function(function)?, config.get()?);
        let cluster = cluster::blocks(&config, &found.tuning)?;
        let threads = config.block.iter().map(|size| u64::from(*size)).product();
        let fit = blocks(&found, threads, config.shared_bytes.into());
        count.put((fit * multiprocessors() / cluster) as c_int)
    }

    /// Largest cluster.
    fn cuOccupancyMaxPotentialClusterSize(
        size: Out<c_int>, function: Handle, config: In<LaunchConfig>,
    ) {
        let found = self::function(function)?;
        config.get()?;
        size.put(cluster::most(&found.tuning) as c_int)
    }
}
