//! Which functions of the CUDA driver API are probed, and what their arguments mean.

use std::collections::BTreeSet;

use gtrace_abi::{API_FUNCTIONS, ApiFunction, ApiKind, CALIBRATION};

/// What a function is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Group {
    /// Starts work: kernels and graphs.
    Launch,
    /// Copies memory.
    Copy,
    /// Sets memory.
    Memset,
    /// Allocates, maps and frees device memory.
    Memory,
    /// Waits for the device.
    Wait,
    /// Allocates and registers host memory.
    Host,
    /// Loads code.
    Module,
    /// Makes and destroys contexts.
    Context,
}

/// A probed function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its symbol.
    pub name: String,
    /// What it is for.
    pub group: Group,
    /// What the probe reads and reports.
    pub description: ApiFunction,
}

impl Function {
    /// Whether the ledger is wrong without it.
    pub fn tracks_allocations(&self) -> bool {
        let kind = self.description.kind;
        (ApiKind::Alloc as u32..=ApiKind::Unmap as u32).contains(&kind)
    }
}

/// The suffix of a function's variant for the default stream of a thread, as cuda.h has it under
/// CUDA_API_PER_THREAD_DEFAULT_STREAM: `_ptsz` where a stream is an argument, `_ptds` where the default
/// stream is meant.
fn variant(group: Group, name: &str) -> Option<&'static str> {
    let on_a_stream = match group {
        Group::Launch => !matches!(name, "cuLaunch" | "cuLaunchGrid" | "cuLaunchGridAsync"),
        Group::Wait => name.starts_with("cuStream"),
        Group::Copy | Group::Memset | Group::Memory => name.contains("Async"),
        Group::Module => name == "cuGraphInstantiateWithParams",
        Group::Host | Group::Context => false,
    };
    match group {
        _ if on_a_stream => Some("_ptsz"),
        Group::Copy | Group::Memset => Some("_ptds"),
        _ => None,
    }
}

/// Sizes by argument: `(argument, times argument, log2 of the element)`.
type Size = (u32, u32, u32);
const NONE: Size = (0, 0, 0);

/// Name, kind, where the size is. Argument orders are those of cuda.h.
type Entry = (&'static str, ApiKind, Size);

const fn plain(name: &'static str) -> Entry {
    (name, ApiKind::Plain, NONE)
}

const fn bytes(name: &'static str, argument: u32) -> Entry {
    (name, ApiKind::Bytes, (argument, 0, 0))
}

const LAUNCH: &[Entry] = &[
    plain("cuLaunchKernel"),
    plain("cuLaunchKernelEx"),
    plain("cuGraphLaunch"),
    plain("cuLaunchCooperativeKernel"),
    plain("cuLaunchCooperativeKernelMultiDevice"),
    plain("cuLaunchHostFunc"),
    plain("cuLaunch"),
    plain("cuLaunchGrid"),
    plain("cuLaunchGridAsync"),
];

const COPY: &[Entry] = &[
    bytes("cuMemcpyHtoD_v2", 3),
    bytes("cuMemcpyDtoH_v2", 3),
    bytes("cuMemcpyHtoDAsync_v2", 3),
    bytes("cuMemcpyDtoHAsync_v2", 3),
    bytes("cuMemcpyDtoD_v2", 3),
    bytes("cuMemcpyDtoDAsync_v2", 3),
    bytes("cuMemcpy", 3),
    bytes("cuMemcpyAsync", 3),
    bytes("cuMemcpyPeer", 5),
    bytes("cuMemcpyPeerAsync", 5),
    bytes("cuMemcpyDtoA_v2", 4),
    bytes("cuMemcpyAtoD_v2", 4),
    bytes("cuMemcpyHtoA_v2", 4),
    bytes("cuMemcpyAtoH_v2", 4),
    bytes("cuMemcpyAtoA_v2", 5),
    bytes("cuMemcpyHtoAAsync_v2", 4),
    bytes("cuMemcpyAtoHAsync_v2", 4),
    ("cuMemcpy2D_v2", ApiKind::Copy2d, NONE),
    ("cuMemcpy2DUnaligned_v2", ApiKind::Copy2d, NONE),
    ("cuMemcpy2DAsync_v2", ApiKind::Copy2d, NONE),
    ("cuMemcpy3D_v2", ApiKind::Copy3d, NONE),
    ("cuMemcpy3DAsync_v2", ApiKind::Copy3d, NONE),
    ("cuMemcpy3DPeer", ApiKind::Copy3d, NONE),
    ("cuMemcpy3DPeerAsync", ApiKind::Copy3d, NONE),
    plain("cuMemcpyBatchAsync"),
    plain("cuMemcpyBatchAsync_v2"),
    bytes("cuMemPrefetchAsync", 2),
    bytes("cuMemPrefetchAsync_v2", 2),
];

const MEMSET: &[Entry] = &[
    ("cuMemsetD8_v2", ApiKind::Bytes, (3, 0, 0)),
    ("cuMemsetD16_v2", ApiKind::Bytes, (3, 0, 1)),
    ("cuMemsetD32_v2", ApiKind::Bytes, (3, 0, 2)),
    ("cuMemsetD8Async", ApiKind::Bytes, (3, 0, 0)),
    ("cuMemsetD16Async", ApiKind::Bytes, (3, 0, 1)),
    ("cuMemsetD32Async", ApiKind::Bytes, (3, 0, 2)),
    ("cuMemsetD2D8_v2", ApiKind::Bytes, (4, 5, 0)),
    ("cuMemsetD2D16_v2", ApiKind::Bytes, (4, 5, 1)),
    ("cuMemsetD2D32_v2", ApiKind::Bytes, (4, 5, 2)),
    ("cuMemsetD2D8Async", ApiKind::Bytes, (4, 5, 0)),
    ("cuMemsetD2D16Async", ApiKind::Bytes, (4, 5, 1)),
    ("cuMemsetD2D32Async", ApiKind::Bytes, (4, 5, 2)),
];

const MEMORY: &[Entry] = &[
    ("cuMemAlloc_v2", ApiKind::Alloc, NONE),
    ("cuMemAllocPitch_v2", ApiKind::AllocPitch, NONE),
    ("cuMemAllocManaged", ApiKind::Alloc, NONE),
    ("cuMemAllocAsync", ApiKind::Alloc, NONE),
    ("cuMemAllocFromPoolAsync", ApiKind::Alloc, NONE),
    ("cuMemFree_v2", ApiKind::Free, NONE),
    ("cuMemFreeAsync", ApiKind::Free, NONE),
    ("cuMemCreate", ApiKind::Create, NONE),
    ("cuMemRelease", ApiKind::Release, NONE),
    ("cuMemRetainAllocationHandle", ApiKind::Retain, NONE),
    ("cuMemMap", ApiKind::Map, NONE),
    ("cuMemUnmap", ApiKind::Unmap, NONE),
    ("cuMemGetInfo_v2", ApiKind::Info, NONE),
    plain("cuArrayCreate_v2"),
    plain("cuArray3DCreate_v2"),
    plain("cuArrayDestroy"),
    plain("cuMipmappedArrayCreate"),
    plain("cuMipmappedArrayDestroy"),
];

const WAIT: &[Entry] = &[
    plain("cuStreamSynchronize"),
    plain("cuCtxSynchronize"),
    plain("cuCtxSynchronize_v2"),
    plain("cuEventSynchronize"),
    plain("cuStreamWaitEvent"),
];

const HOST: &[Entry] = &[
    bytes("cuMemAllocHost_v2", 2),
    bytes("cuMemHostAlloc", 2),
    plain("cuMemFreeHost"),
    bytes("cuMemHostRegister_v2", 2),
    plain("cuMemHostUnregister"),
];

const MODULE: &[Entry] = &[
    plain("cuModuleLoad"),
    plain("cuModuleLoadData"),
    plain("cuModuleLoadDataEx"),
    plain("cuModuleLoadFatBinary"),
    plain("cuModuleUnload"),
    plain("cuLibraryLoadData"),
    plain("cuLibraryLoadFromFile"),
    plain("cuLibraryUnload"),
    plain("cuLinkComplete"),
    plain("cuGraphInstantiateWithFlags"),
    plain("cuGraphInstantiateWithParams"),
];

const CONTEXT: &[Entry] = &[
    plain("cuInit"),
    plain("cuCtxCreate_v2"),
    plain("cuCtxCreate_v3"),
    plain("cuCtxCreate_v4"),
    plain("cuCtxDestroy_v2"),
    plain("cuDevicePrimaryCtxRetain"),
    plain("cuDevicePrimaryCtxRelease_v2"),
    plain("cuDevicePrimaryCtxReset_v2"),
];

/// In the order in which they matter where not all can be probed.
const GROUPS: [(Group, &[Entry]); 8] = [
    (Group::Launch, LAUNCH),
    (Group::Memory, MEMORY),
    (Group::Wait, WAIT),
    (Group::Copy, COPY),
    (Group::Memset, MEMSET),
    (Group::Module, MODULE),
    (Group::Context, CONTEXT),
    (Group::Host, HOST),
];

/// The default set: what costs time or memory. A function's place in the list is its number.
pub fn default_set() -> Vec<Function> {
    let mut functions = Vec::new();
    for (group, entries) in GROUPS {
        for (name, kind, (size_arg, times_arg, shift)) in entries {
            for variant in std::iter::once("").chain(variant(group, name)) {
                functions.push(Function {
                    name: format!("{name}{variant}"),
                    group,
                    description: ApiFunction {
                        kind: *kind as u32,
                        size_arg: *size_arg,
                        times_arg: *times_arg,
                        shift: *shift,
                        ..ApiFunction::default()
                    },
                });
            }
        }
    }
    functions
}

/// The most useful first, for where only few can be probed.
const FIRST: [&str; 16] = [
    "cuLaunchKernel",
    "cuMemAlloc_v2",
    "cuMemFree_v2",
    "cuLaunchKernelEx",
    "cuStreamSynchronize",
    "cuMemcpyHtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemAllocAsync",
    "cuMemFreeAsync",
    "cuCtxSynchronize",
    "cuEventSynchronize",
    "cuMemcpyHtoD_v2",
    "cuMemcpyDtoH_v2",
    "cuGraphLaunch",
    "cuMemAllocManaged",
    "cuModuleLoadData",
];

/// Where a function stands among those that matter most.
pub(crate) fn rank(name: &str) -> usize {
    FIRST
        .iter()
        .position(|first| *first == name)
        .unwrap_or(FIRST.len())
}

/// Functions of which only the calls are counted and timed.
///
/// At most as many as the table of the probes holds: the rest is left out.
pub fn plain_set<'n>(names: impl Iterator<Item = &'n str>) -> Vec<Function> {
    let of = |name: &str| Function {
        name: name.to_owned(),
        group: Group::Context,
        description: ApiFunction::default(),
    };
    names.take(CALIBRATION as usize).map(of).collect()
}

/// What is probed where every call is reported: all that `names` has. What is known of the default set is
/// known here too.
///
/// At most as many as the table of the probes holds: the rest is left out.
pub fn trace_set<'n>(names: impl Iterator<Item = &'n str>) -> Vec<Function> {
    let mut functions = default_set();
    let known: BTreeSet<String> = functions.iter().map(|f| f.name.clone()).collect();
    functions.extend(plain_set(names.filter(|name| !known.contains(*name))));
    functions.truncate(CALIBRATION as usize);
    functions
}

const _: () = assert!(API_FUNCTIONS > CALIBRATION);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_the_probes_holds_them_and_none_is_there_twice() {
        let all = default_set();
        let names: BTreeSet<&str> = all.iter().map(|f| f.name.as_str()).collect();
        assert_eq!(names.len(), all.len());
        assert!(all.len() <= CALIBRATION as usize, "{}", all.len());
        for name in [
            "cuLaunchKernel_ptsz",
            "cuMemcpyHtoD_v2_ptds",
            "cuMemFreeAsync_ptsz",
            "cuGraphInstantiateWithParams_ptsz",
        ] {
            assert!(names.contains(name), "{name}");
        }
    }

    #[test]
    fn all_that_the_ledger_needs_is_marked() {
        let all = default_set();
        for name in ["cuMemAlloc_v2", "cuMemFreeAsync_ptsz", "cuMemRelease"] {
            let function = all.iter().find(|f| f.name == name).unwrap();
            assert!(function.tracks_allocations(), "{name}");
        }
        let launch = all.iter().find(|f| f.name == "cuLaunchKernel").unwrap();
        assert!(!launch.tracks_allocations());
    }
}
