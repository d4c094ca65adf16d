//! Why functions of the driver are not described: what a program that calls one reads, and what the page of
//! coverage says.

/// Functions of CUDA's headers that the bindings do not know, so that they have no signature.
pub const WITHOUT_SIGNATURE: &[&str] = &[
    "cuCheckpointOperationComplete",
    "cuCheckpointProcessCheckpoint",
    "cuCheckpointProcessGetRestoreThreadId",
    "cuCheckpointProcessGetState",
    "cuCheckpointProcessLock",
    "cuCheckpointProcessRestore",
    "cuCheckpointProcessUnlock",
    "cuDeviceGetNvSciSyncAttributes",
    "cuFabricCpyBatchAsync",
    "cuTensorMapSetAllocationClass",
];

const SEMAPHORES: &str = "there are no external semaphores, as they cannot be imported";
const POOLS: &str = "pools cannot be shared, as their handles are descriptors";
const FABRIC: &str = "memory of several machines under one fabric is not shared with clients";
const CLIQUE: &str = "the fabric is the server's, and clients cannot share memory by it";
const GRAPHICS: &str = "graphics contexts are of the program's machine";
const RESOURCES: &str = "as a driver before CUDA 12.4: descriptions of resources are pointers into the driver's process";
const NOTIFICATIONS: &str = "notifications of the server's driver are not passed on";
const BATCHES: &str = "batched memory operations in graphs are not there yet; streams have them";

/// Beginnings of names, of which the first that fits counts, and the reason.
const REASONS: &[(&str, &str)] = &[
    (
        "cuGraphics",
        "a window system's objects are of the program's machine, and the GPU is of another",
    ),
    (
        "cuImportExternal",
        "handles of other APIs are descriptors of the program's machine, and the GPU is of another",
    ),
    (
        "cuExternalMemory",
        "there is no external memory, as it cannot be imported",
    ),
    (
        "cuDestroyExternal",
        "there are no external objects, as they cannot be imported",
    ),
    ("cuSignalExternal", SEMAPHORES),
    ("cuWaitExternal", SEMAPHORES),
    ("cuGraphAddExternal", SEMAPHORES),
    ("cuGraphExecExternal", SEMAPHORES),
    ("cuGraphExternal", SEMAPHORES),
    (
        "cuMemPoolExportToShareableHandle",
        "a descriptor would be one of the server's process",
    ),
    (
        "cuMemPoolImportFromShareableHandle",
        "a descriptor would be one of the program's process",
    ),
    ("cuMemPoolExportPointer", POOLS),
    ("cuMemPoolImportPointer", POOLS),
    (
        "cuMemGetHandleForAddressRange",
        "a dma-buf would be a descriptor of the server's process",
    ),
    ("cuLogicalEndpoint", FABRIC),
    (
        "cuMulticast",
        "devices say that they have no multicast: it wants descriptors or a fabric to share memory by",
    ),
    ("cuDeviceGetFabricClusterUuid", CLIQUE),
    ("cuDeviceGetClique", CLIQUE),
    ("cuDeviceGetLuid", "it is for Windows"),
    ("cuStreamBeginCaptureToCig", GRAPHICS),
    ("cuStreamEndCaptureToCig", GRAPHICS),
    ("cuGreenCtx", RESOURCES),
    ("cuCtxFromGreenCtx", "there are no green contexts"),
    ("cuDevResource", RESOURCES),
    ("cuDevSmResource", RESOURCES),
    ("cuDeviceGetDevResource", RESOURCES),
    ("cuCtxGetDevResource", RESOURCES),
    ("cuStreamGetDevResource", RESOURCES),
    (
        "cuCheckpoint",
        "a process with memory on the device is the server's, and the program is another one",
    ),
    ("cuDeviceGetNvSciSyncAttributes", SEMAPHORES),
    ("cuFabricCpy", FABRIC),
    (
        "cuCoredump",
        "the dump would be written by the server's process, with memory of nobody else's concern",
    ),
    ("cuDeviceRegisterAsyncNotification", NOTIFICATIONS),
    ("cuDeviceUnregisterAsyncNotification", NOTIFICATIONS),
    ("cuLogs", "the log is that of the server's driver"),
    (
        "cuLaunchCooperativeKernelMultiDevice",
        "deprecated since CUDA 11.3, and gone with CUDA 13",
    ),
    (
        "cuProfilerInitialize",
        "drivers since CUDA 12 do not support it",
    ),
    (
        "cuGraphAddNode_v3",
        "nodes are added by the earlier form, which drivers of all versions have",
    ),
    (
        "cuGraphNodeSetParams_v2",
        "nodes are changed by the earlier form, which drivers of all versions have",
    ),
    ("cuGraphAddBatchMemOpNode", BATCHES),
    ("cuGraphBatchMemOpNode", BATCHES),
    ("cuGraphExecBatchMemOpNode", BATCHES),
    (
        "cuStreamBeginRecaptureToGraph",
        "recapture is not there yet",
    ),
    (
        "cuMemcpy3DBatchAsync",
        "batches of copies in three dimensions are not there yet; each copy by itself is",
    ),
    (
        "cuMemcpy3DWithAttributesAsync",
        "copies in three dimensions with attributes are not there yet; those without are",
    ),
    ("cuMemMapArrayAsync", "sparse arrays are not there yet"),
    (
        "cuMemBatchDecompressAsync",
        "decompression by the device is not there yet",
    ),
    (
        "cuMemGetLocationInfo",
        "questions about places of memory of CUDA 13.1 and later are not there yet",
    ),
    (
        "cuTensorMapEncodeIm2colWide",
        "it is not encoded here yet; the other forms of tensor maps are",
    ),
    (
        "cuTensorMapSetAllocationClass",
        "it is not there yet; a tensor map keeps the class that it was encoded with",
    ),
];

/// Why the function `name` is not described, if it is one that is known not to be.
pub fn why_absent(name: &str) -> Option<&'static str> {
    let mut reasons = REASONS.iter();
    reasons
        .find(|(beginning, _)| name.starts_with(beginning))
        .map(|(_, reason)| *reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Api, find, functions, signatures};

    fn is_described(name: &str) -> bool {
        functions::all(Api::Driver).any(|function| function.name == name)
    }

    #[test]
    fn each_function_is_described_or_has_a_reason() {
        for signature in signatures::DRIVER {
            let name = signature.name;
            assert!(is_described(name) || why_absent(name).is_some(), "{name}");
        }
    }

    #[test]
    fn functions_without_a_signature_have_none_and_a_reason() {
        for name in WITHOUT_SIGNATURE {
            assert!(find(signatures::DRIVER, name).is_none(), "{name}");
            assert!(why_absent(name).is_some(), "{name}");
        }
    }

    #[test]
    fn each_reason_is_of_some_function() {
        for (at, (beginning, _)) in REASONS.iter().enumerate() {
            let known = signatures::DRIVER.iter().map(|signature| signature.name);
            let mut all = known.chain(WITHOUT_SIGNATURE.iter().copied());
            let own = |name: &str| {
                let first = REASONS.iter().position(|(own, _)| name.starts_with(own));
                !is_described(name) && first == Some(at)
            };
            assert!(all.any(own), "{beginning}");
        }
    }
}
