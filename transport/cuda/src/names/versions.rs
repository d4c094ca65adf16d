//! Which symbol a base name means in which CUDA version.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use crate::{Api, functions, signatures};

/// Base names that mean another symbol than themselves in some version: for each the oldest
/// version of a symbol, ascending. 3020 is CUDA 3.2. The versions are those at whose headers a
/// symbol's name changed, as `cudaTypedefs.h` names them.
const VERSIONED: &[(&str, &[(u32, &str)])] = &[
    (
        "cuCtxCreate",
        &[
            (2000, "cuCtxCreate"),
            (3020, "cuCtxCreate_v2"),
            (11_040, "cuCtxCreate_v3"),
            (12_050, "cuCtxCreate_v4"),
        ],
    ),
    (
        "cuCtxDestroy",
        &[(2000, "cuCtxDestroy"), (4000, "cuCtxDestroy_v2")],
    ),
    (
        "cuCtxGetDevice",
        &[(2000, "cuCtxGetDevice"), (13_000, "cuCtxGetDevice_v2")],
    ),
    (
        "cuCtxPopCurrent",
        &[(2000, "cuCtxPopCurrent"), (4000, "cuCtxPopCurrent_v2")],
    ),
    (
        "cuCtxPushCurrent",
        &[(2000, "cuCtxPushCurrent"), (4000, "cuCtxPushCurrent_v2")],
    ),
    (
        "cuCtxSynchronize",
        &[(2000, "cuCtxSynchronize"), (13_000, "cuCtxSynchronize_v2")],
    ),
    (
        "cuDeviceGetUuid",
        &[(9020, "cuDeviceGetUuid"), (11_040, "cuDeviceGetUuid_v2")],
    ),
    (
        "cuDevicePrimaryCtxRelease",
        &[
            (7000, "cuDevicePrimaryCtxRelease"),
            (11_000, "cuDevicePrimaryCtxRelease_v2"),
        ],
    ),
    (
        "cuDevicePrimaryCtxReset",
        &[
            (7000, "cuDevicePrimaryCtxReset"),
            (11_000, "cuDevicePrimaryCtxReset_v2"),
        ],
    ),
    (
        "cuDevicePrimaryCtxSetFlags",
        &[
            (7000, "cuDevicePrimaryCtxSetFlags"),
            (11_000, "cuDevicePrimaryCtxSetFlags_v2"),
        ],
    ),
    (
        "cuEventDestroy",
        &[(2000, "cuEventDestroy"), (4000, "cuEventDestroy_v2")],
    ),
    (
        "cuEventElapsedTime",
        &[
            (2000, "cuEventElapsedTime"),
            (12_080, "cuEventElapsedTime_v2"),
        ],
    ),
    (
        "cuGetProcAddress",
        &[
            (11_030, "cuGetProcAddress"),
            (12_000, "cuGetProcAddress_v2"),
        ],
    ),
    (
        "cuLaunchHostFunc",
        &[
            (10_000, "cuLaunchHostFunc"),
            (13_020, "cuLaunchHostFunc_v2"),
        ],
    ),
    (
        "cuLinkAddData",
        &[(5050, "cuLinkAddData"), (6050, "cuLinkAddData_v2")],
    ),
    (
        "cuLinkAddFile",
        &[(5050, "cuLinkAddFile"), (6050, "cuLinkAddFile_v2")],
    ),
    (
        "cuLinkCreate",
        &[(5050, "cuLinkCreate"), (6050, "cuLinkCreate_v2")],
    ),
    (
        "cuMemAdvise",
        &[(8000, "cuMemAdvise"), (12_020, "cuMemAdvise_v2")],
    ),
    (
        "cuMemHostRegister",
        &[(4000, "cuMemHostRegister"), (6050, "cuMemHostRegister_v2")],
    ),
    (
        "cuMemPrefetchAsync",
        &[
            (8000, "cuMemPrefetchAsync"),
            (12_020, "cuMemPrefetchAsync_v2"),
        ],
    ),
    (
        "cuMemcpyBatchAsync",
        &[
            (12_080, "cuMemcpyBatchAsync"),
            (13_000, "cuMemcpyBatchAsync_v2"),
        ],
    ),
    (
        "cuStreamBatchMemOp",
        &[
            (8000, "cuStreamBatchMemOp"),
            (11_070, "cuStreamBatchMemOp_v2"),
        ],
    ),
    (
        "cuGraphAddDependencies",
        &[
            (10_000, "cuGraphAddDependencies"),
            (12_030, "cuGraphAddDependencies_v2"),
        ],
    ),
    (
        "cuGraphGetEdges",
        &[(10_000, "cuGraphGetEdges"), (12_030, "cuGraphGetEdges_v2")],
    ),
    (
        "cuGraphNodeGetDependencies",
        &[
            (10_000, "cuGraphNodeGetDependencies"),
            (12_030, "cuGraphNodeGetDependencies_v2"),
        ],
    ),
    (
        "cuGraphNodeGetDependentNodes",
        &[
            (10_000, "cuGraphNodeGetDependentNodes"),
            (12_030, "cuGraphNodeGetDependentNodes_v2"),
        ],
    ),
    (
        "cuGraphRemoveDependencies",
        &[
            (10_000, "cuGraphRemoveDependencies"),
            (12_030, "cuGraphRemoveDependencies_v2"),
        ],
    ),
    (
        "cuGraphAddKernelNode",
        &[
            (10_000, "cuGraphAddKernelNode"),
            (12_000, "cuGraphAddKernelNode_v2"),
        ],
    ),
    (
        "cuGraphKernelNodeGetParams",
        &[
            (10_000, "cuGraphKernelNodeGetParams"),
            (12_000, "cuGraphKernelNodeGetParams_v2"),
        ],
    ),
    (
        "cuGraphKernelNodeSetParams",
        &[
            (10_000, "cuGraphKernelNodeSetParams"),
            (12_000, "cuGraphKernelNodeSetParams_v2"),
        ],
    ),
    (
        "cuGraphAddNode",
        &[(12_020, "cuGraphAddNode"), (12_030, "cuGraphAddNode_v2")],
    ),
    (
        "cuGraphExecKernelNodeSetParams",
        &[
            (10_010, "cuGraphExecKernelNodeSetParams"),
            (12_000, "cuGraphExecKernelNodeSetParams_v2"),
        ],
    ),
    (
        "cuGraphExecUpdate",
        &[
            (10_020, "cuGraphExecUpdate"),
            (12_000, "cuGraphExecUpdate_v2"),
        ],
    ),
    (
        "cuGraphInstantiate",
        &[
            (10_000, "cuGraphInstantiate"),
            (11_000, "cuGraphInstantiate_v2"),
            (12_000, "cuGraphInstantiateWithFlags"),
        ],
    ),
    (
        "cuStreamBeginCapture",
        &[
            (10_000, "cuStreamBeginCapture"),
            (10_010, "cuStreamBeginCapture_v2"),
        ],
    ),
    (
        "cuStreamDestroy",
        &[(2000, "cuStreamDestroy"), (4000, "cuStreamDestroy_v2")],
    ),
    (
        "cuStreamGetCaptureInfo",
        &[
            (10_010, "cuStreamGetCaptureInfo"),
            (11_030, "cuStreamGetCaptureInfo_v2"),
            (12_030, "cuStreamGetCaptureInfo_v3"),
        ],
    ),
    (
        "cuStreamGetCtx",
        &[(9020, "cuStreamGetCtx"), (12_050, "cuStreamGetCtx_v2")],
    ),
    (
        "cuStreamUpdateCaptureDependencies",
        &[
            (11_030, "cuStreamUpdateCaptureDependencies"),
            (12_030, "cuStreamUpdateCaptureDependencies_v2"),
        ],
    ),
    (
        "cuStreamWaitValue32",
        &[
            (8000, "cuStreamWaitValue32"),
            (11_070, "cuStreamWaitValue32_v2"),
        ],
    ),
    (
        "cuStreamWaitValue64",
        &[
            (9000, "cuStreamWaitValue64"),
            (11_070, "cuStreamWaitValue64_v2"),
        ],
    ),
    (
        "cuStreamWriteValue32",
        &[
            (8000, "cuStreamWriteValue32"),
            (11_070, "cuStreamWriteValue32_v2"),
        ],
    ),
    (
        "cuStreamWriteValue64",
        &[
            (9000, "cuStreamWriteValue64"),
            (11_070, "cuStreamWriteValue64_v2"),
        ],
    ),
];

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
