//! Which symbol a base name means in which CUDA version.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use crate::{Api, functions, signatures};

/// Base names with the symbols that they mean, of which the base name itself is the first.
macro_rules! versioned {
    ($($base:ident from $first:literal $(, $symbol:ident from $since:literal)+;)*) => {
        &[$((
            stringify!($base),
            &[($first, stringify!($base)) $(, ($since, stringify!($symbol)))+],
        )),*]
    };
}

/// Base names that mean another symbol than themselves in some version: for each the oldest
/// version of a symbol, ascending. 3020 is CUDA 3.2. The versions are those at whose headers a
/// symbol's name changed, as `cudaTypedefs.h` names them.
const VERSIONED: &[(&str, &[(u32, &str)])] = versioned! {
    cuCtxCreate from 2000, cuCtxCreate_v2 from 3020, cuCtxCreate_v3 from 11_040,
        cuCtxCreate_v4 from 12_050;
    cuCtxDestroy from 2000, cuCtxDestroy_v2 from 4000;
    cuCtxGetDevice from 2000, cuCtxGetDevice_v2 from 13_000;
    cuCtxPopCurrent from 2000, cuCtxPopCurrent_v2 from 4000;
    cuCtxPushCurrent from 2000, cuCtxPushCurrent_v2 from 4000;
    cuCtxSynchronize from 2000, cuCtxSynchronize_v2 from 13_000;
    cuDeviceGetUuid from 9020, cuDeviceGetUuid_v2 from 11_040;
    cuDevicePrimaryCtxRelease from 7000, cuDevicePrimaryCtxRelease_v2 from 11_000;
    cuDevicePrimaryCtxReset from 7000, cuDevicePrimaryCtxReset_v2 from 11_000;
    cuDevicePrimaryCtxSetFlags from 7000, cuDevicePrimaryCtxSetFlags_v2 from 11_000;
    cuEventDestroy from 2000, cuEventDestroy_v2 from 4000;
    cuEventElapsedTime from 2000, cuEventElapsedTime_v2 from 12_080;
    cuGetProcAddress from 11_030, cuGetProcAddress_v2 from 12_000;
    cuLaunchHostFunc from 10_000, cuLaunchHostFunc_v2 from 13_020;
    cuLinkAddData from 5050, cuLinkAddData_v2 from 6050;
    cuLinkAddFile from 5050, cuLinkAddFile_v2 from 6050;
    cuLinkCreate from 5050, cuLinkCreate_v2 from 6050;
    cuMemAdvise from 8000, cuMemAdvise_v2 from 12_020;
    cuMemHostRegister from 4000, cuMemHostRegister_v2 from 6050;
    cuMemPrefetchAsync from 8000, cuMemPrefetchAsync_v2 from 12_020;
    cuMemcpyBatchAsync from 12_080, cuMemcpyBatchAsync_v2 from 13_000;
    cuStreamBatchMemOp from 8000, cuStreamBatchMemOp_v2 from 11_070;
    cuGraphAddDependencies from 10_000, cuGraphAddDependencies_v2 from 12_030;
    cuGraphGetEdges from 10_000, cuGraphGetEdges_v2 from 12_030;
    cuGraphNodeGetDependencies from 10_000, cuGraphNodeGetDependencies_v2 from 12_030;
    cuGraphNodeGetDependentNodes from 10_000, cuGraphNodeGetDependentNodes_v2 from 12_030;
    cuGraphRemoveDependencies from 10_000, cuGraphRemoveDependencies_v2 from 12_030;
    cuGraphAddKernelNode from 10_000, cuGraphAddKernelNode_v2 from 12_000;
    cuGraphKernelNodeGetParams from 10_000, cuGraphKernelNodeGetParams_v2 from 12_000;
    cuGraphKernelNodeSetParams from 10_000, cuGraphKernelNodeSetParams_v2 from 12_000;
    cuGraphAddNode from 12_020, cuGraphAddNode_v2 from 12_030;
    cuGraphExecKernelNodeSetParams from 10_010, cuGraphExecKernelNodeSetParams_v2 from 12_000;
    cuGraphExecUpdate from 10_020, cuGraphExecUpdate_v2 from 12_000;
    cuGraphInstantiate from 10_000, cuGraphInstantiate_v2 from 11_000,
        cuGraphInstantiateWithFlags from 12_000;
    cuStreamBeginCapture from 10_000, cuStreamBeginCapture_v2 from 10_010;
    cuStreamDestroy from 2000, cuStreamDestroy_v2 from 4000;
    cuStreamGetCaptureInfo from 10_010, cuStreamGetCaptureInfo_v2 from 11_030,
        cuStreamGetCaptureInfo_v3 from 12_030;
    cuStreamGetCtx from 9020, cuStreamGetCtx_v2 from 12_050;
    cuStreamUpdateCaptureDependencies from 11_030, cuStreamUpdateCaptureDependencies_v2 from 12_030;
    cuStreamWaitValue32 from 8000, cuStreamWaitValue32_v2 from 11_070;
    cuStreamWaitValue64 from 9000, cuStreamWaitValue64_v2 from 11_070;
    cuStreamWriteValue32 from 8000, cuStreamWriteValue32_v2 from 11_070;
    cuStreamWriteValue64 from 9000, cuStreamWriteValue64_v2 from 11_070;
};

/// All other symbols with `_v2` got it in CUDA 3.2, when `CUdeviceptr` became 64 bits wide.
const WIDE_POINTERS: u32 = 3020;

/// Functions that `cudaTypedefs.h` gives an earlier version than that of the header which first declares
/// them. NVIDIA's runtime asks for this one, and without them cuBLAS does not start on a device that has
/// clusters.
const EARLIER: &[(&str, u32)] = &[
    ("cuLaunchKernelEx", 11_060),
    ("cuOccupancyMaxActiveClusters", 11_070),
    ("cuOccupancyMaxPotentialClusterSize", 11_070),
];

/// The base name of a symbol: without `_v2` and the like.
pub(super) fn base(symbol: &str) -> &str {
    match symbol.rsplit_once("_v") {
        Some((base, digits)) if digits.bytes().all(|b| b.is_ascii_digit()) => base,
        _ => symbol,
    }
}

/// A symbol that a base name means from a version on.
pub(super) struct Meaning {
    /// From this version on.
    pub(super) since: u32,
    /// The symbol.
    pub(super) symbol: &'static str,
    /// Whether the symbol, or the newer one that it is an alias of, is described.
    pub(super) described: bool,
    /// What the symbol has appended for the thread's default stream.
    pub(super) suffix: &'static str,
}

/// What base names mean, oldest first. A runtime asks for some four hundred.
pub(super) fn meanings(base: &str) -> Option<&'static [Meaning]> {
    static INDEX: OnceLock<HashMap<&'static str, Vec<Meaning>>> = OnceLock::new();
    INDEX.get_or_init(index).get(base).map(Vec::as_slice)
}

fn index() -> HashMap<&'static str, Vec<Meaning>> {
    let described: HashSet<_> = functions::all(Api::Driver).map(|f| f.name).collect();
    let meaning = |since, symbol| {
        let newer = super::ALIASES.iter().find(|(older, _)| *older == symbol);
        Meaning {
            since,
            symbol,
            described: described.contains(newer.map_or(symbol, |(_, newer)| newer)),
            suffix: super::per_thread(symbol).map_or("", super::Suffix::text),
        }
    };
    let versioned = VERSIONED.iter().map(|(base, symbols)| {
        let meanings = symbols
            .iter()
            .map(|(since, symbol)| meaning(*since, symbol));
        (*base, meanings.collect())
    });
    let mut index: HashMap<_, Vec<_>> = versioned.collect();
    for name in described.iter().copied() {
        let base = base(name);
        if VERSIONED.iter().any(|(versioned, _)| *versioned == base) {
            continue;
        }
        let earlier = EARLIER.iter().find(|(earlier, _)| *earlier == name);
        let declared = match earlier {
            Some((_, since)) => *since,
            None => crate::find(signatures::DRIVER, name).map_or(0, |found| found.since),
        };
        let meanings = index.entry(base).or_default();
        match declared {
            // Before, there was another symbol, which nobody has needed for a decade.
            0 if base != name => {
                meanings.push(meaning(0, base));
                meanings.push(meaning(WIDE_POINTERS, name));
            }
            since => meanings.push(meaning(since, name)),
        }
    }
    index
}
