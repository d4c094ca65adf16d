//! The library, the driver and the host, which are the server's.

use crate::signatures::NVML as SIGNATURES;

crate::describe! {
    /// The library, the driver and the host, which are the server's.
    pub(super) const SYSTEM: SIGNATURES;
    // Both sides count: the client whether the program may call, the server whether the library is up.
    waiting(by_hand) nvmlInit_v2();
    waiting(by_hand) nvmlShutdown();
    local nvmlInit();
    local nvmlInitWithFlags(flags: special);
    local nvmlErrorString(result: special);
    waiting nvmlUnitGetCount(unitCount: out);
    waiting nvmlGetExcludedDeviceCount(deviceCount: out);
    waiting nvmlGetExcludedDeviceInfoByIndex(index: value, info: out);
    waiting nvmlSystemGetConfComputeCapabilities(capabilities: out);
    waiting nvmlSystemGetConfComputeGpusReadyState(isAcceptingWork: out);
    waiting nvmlSystemGetConfComputeSettings(settings: versioned);
    waiting nvmlSystemGetConfComputeState(state: out);
    waiting nvmlSystemGetCudaDriverVersion(cudaDriverVersion: out);
    waiting nvmlSystemGetCudaDriverVersion_v2(cudaDriverVersion: out);
    waiting nvmlSystemGetDriverBranch(branchInfo: versioned, length: value);
    waiting nvmlSystemGetDriverVersion(version: out_string[length], length: value);
    waiting nvmlSystemGetHicVersion(hwbcCount: inout, hwbcEntries: out[*hwbcCount]?);
    waiting nvmlSystemGetNVMLVersion(version: out_string[length], length: value);
    waiting nvmlSystemGetNvlinkBwMode(nvlinkBwMode: out);
    waiting nvmlSystemGetProcessName(pid: value, name: out_string[length], length: value);
    waiting nvmlSystemGetTopologyGpuSet(
        cpuNumber: value, count: inout, deviceArray: out_handles(NvmlDevice)[*count]?,
    );

    // There are no events: the server's are not this program's. A wait ends by its time.
    local nvmlEventSetCreate(set: special);
    local nvmlEventSetFree(set: special);
    local nvmlEventSetWait(set: special, data: special, timeoutms: special);
    local nvmlEventSetWait_v2(set: special, data: special, timeoutms: special);
    local nvmlDeviceRegisterEvents(device: special, eventTypes: special, set: special);
}
