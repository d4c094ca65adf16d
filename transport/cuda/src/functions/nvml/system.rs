//! The library, the driver and the host, which are the server's, and units (S-class chassis), of which a server without any
//! counts none.

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

    waiting nvmlUnitGetCount(unitCount: out);
    waiting nvmlUnitGetHandleByIndex(index: value, unit: known(NvmlUnit));
    waiting nvmlUnitGetDevices(
        unit: handle(NvmlUnit), deviceCount: inout,
        devices: out_handles(NvmlDevice)[*deviceCount]?,
    );
    waiting nvmlUnitGetFanSpeedInfo(unit: handle(NvmlUnit), fanSpeeds: out);
    waiting nvmlUnitGetLedState(unit: handle(NvmlUnit), state: out);
    waiting nvmlUnitGetPsuInfo(unit: handle(NvmlUnit), psu: out);
    waiting nvmlUnitGetTemperature(unit: handle(NvmlUnit), type_: value, temp: out);
    waiting nvmlUnitGetUnitInfo(unit: handle(NvmlUnit), info: out);

    waiting nvmlEventSetCreate(set: mint(NvmlEventSet));
    waiting nvmlEventSetFree(set: destroy(NvmlEventSet));
    // The structure without the instances of MIG mode.
    local nvmlEventSetWait(set: special, data: special, timeoutms: special);
    // The client waits in parts, so that it notices the end of its connection.
    waiting(by_hand) nvmlEventSetWait_v2(set: special, data: special, timeoutms: special);
    waiting nvmlDeviceRegisterEvents(
        device: handle(NvmlDevice), eventTypes: value, set: handle(NvmlEventSet),
    );

    // Requests are structures with a handle of a set in them, one with a list too.
    waiting(by_hand, creates) nvmlSystemEventSetCreate(request: special);
    waiting(by_hand) nvmlSystemEventSetFree(request: special);
    waiting(by_hand) nvmlSystemEventSetWait(request: special);
    waiting(by_hand) nvmlSystemRegisterEvents(request: special);
}
