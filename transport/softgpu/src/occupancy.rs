//! Occupancy: how many blocks of a function a multiprocessor holds at once, by the limits of
//! [`crate::attributes`].

use crate::attributes::{
    BLOCKS_PER_SM, REGISTERS, SHARED_PER_SM, SHARED_RESERVED, THREADS_PER_SM, WARP, multiprocessors,
};
use crate::module::Function;

/// Registers are handed out to warps in such portions.
const REGISTER_PORTION: u64 = 256;

/// Blocks of `threads` threads and `dynamic` bytes of dynamic shared memory that one
/// multiprocessor holds.
pub(crate) fn blocks(function: &Function, threads: u64, dynamic: u64) -> u32 {
    if threads == 0 {
        return 0;
    }
    let entry = function.entry();
    let most = entry.max_threads.unwrap_or(crate::attributes::MAX_THREADS);
    if threads > u64::from(most) {
        return 0;
    }
    let warps = threads.div_ceil(u64::from(WARP));
    let by_warps = u64::from(THREADS_PER_SM / WARP) / warps;
    let per_warp =
        (u64::from(entry.registers.max(1)) * u64::from(WARP)).next_multiple_of(REGISTER_PORTION);
    let by_registers = u64::from(REGISTERS) / (per_warp * warps);
    let shared = u64::from(entry.shared) + dynamic + u64::from(SHARED_RESERVED);
    let by_shared = u64::from(SHARED_PER_SM) / shared;
    by_warps
        .min(by_registers)
        .min(by_shared)
        .min(u64::from(BLOCKS_PER_SM)) as u32
}

/// Blocks that the whole device holds at once.
pub(crate) fn blocks_on_device(function: &Function, threads: u64, dynamic: u32) -> u64 {
    u64::from(blocks(function, threads, u64::from(dynamic))) * u64::from(multiprocessors())
}
