//! Launches and occupancy. The arguments of a kernel carry no sizes: the client packs them by the
//! layout that came with the function.

use crate::signatures::DRIVER as SIGNATURES;

crate::describe! {
    /// Launches and occupancy.
    pub const LAUNCH: SIGNATURES;
    one_way(by_hand) cuLaunchKernel(
        f: handle(Function), gridDimX: value, gridDimY: value, gridDimZ: value, blockDimX: value,
        blockDimY: value, blockDimZ: value, sharedMemBytes: value, hStream: handle(Stream),
        kernelParams: special?, extra: special?,
    );
    one_way(by_hand) cuLaunchKernelEx(
        config: special, f: handle(Function), kernelParams: special?, extra: special?,
    );
    one_way(by_hand) cuLaunchCooperativeKernel(
        f: handle(Function), gridDimX: value, gridDimY: value, gridDimZ: value, blockDimX: value,
        blockDimY: value, blockDimZ: value, sharedMemBytes: value, hStream: handle(Stream),
        kernelParams: special?,
    );

    // Launches of before CUDA 4.0: what is set for a function stays with the client until it is launched.
    local cuFuncSetBlockShape;
    local cuFuncSetSharedSize;
    local cuParamSetSize;
    local cuParamSetTexRef;
    local cuParamSetf;
    local cuParamSeti;
    local cuParamSetv;
    local cuLaunch;
    local cuLaunchGrid;
    local cuLaunchGridAsync;

    local cuOccupancyMaxActiveBlocksPerMultiprocessor(
        numBlocks: out, func: handle(Function), blockSize: value, dynamicSMemSize: value,
    );
    local cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        numBlocks: out, func: handle(Function), blockSize: value, dynamicSMemSize: value,
        flags: value,
    );
    local cuOccupancyAvailableDynamicSMemPerBlock(
        dynamicSmemSize: out, func: handle(Function), numBlocks: value, blockSize: value,
    );
    // They ask a function of the client for the shared memory of each size of block.
    local cuOccupancyMaxPotentialBlockSize;
    local cuOccupancyMaxPotentialBlockSizeWithFlags;
    waiting(by_hand) cuOccupancyMaxActiveClusters(
        numClusters: out, func: handle(Function), config: special,
    );
    waiting(by_hand) cuOccupancyMaxPotentialClusterSize(
        clusterSize: out, func: handle(Function), config: special,
    );
}
