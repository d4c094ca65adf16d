//! Which virtual GPUs there can be, how a device is shared among them, and those that run. A virtual GPU is a number of the
//! driver's. Whoever may see some devices only is answered for those that run on them.

use crate::signatures::NVML as SIGNATURES;

crate::describe! {
    /// Which virtual GPUs there can be, how a device is shared among them, and those that run.
    pub(super) const VGPU: SIGNATURES;
    // Structures with a pointer to a list of the program.
    waiting(by_hand) nvmlDeviceGetVgpuInstancesUtilizationInfo(
        device: special, vgpuUtilInfo: special,
    );
    waiting nvmlDeviceGetVgpuProcessUtilization(
        device: handle(NvmlDevice), lastSeenTimeStamp: value, vgpuProcessSamplesCount: inout,
        utilizationSamples: out[*vgpuProcessSamplesCount]?,
    );
    waiting(by_hand) nvmlDeviceGetVgpuProcessesUtilizationInfo(
        device: special, vgpuProcUtilInfo: special,
    );
    waiting nvmlDeviceGetVgpuSchedulerCapabilities(
        device: handle(NvmlDevice), pCapabilities: out,
    );
    waiting nvmlDeviceGetVgpuSchedulerLog(device: handle(NvmlDevice), pSchedulerLog: out);
    waiting nvmlDeviceGetVgpuSchedulerState(device: handle(NvmlDevice), pSchedulerState: out);
    waiting nvmlDeviceGetVgpuUtilization(
        device: handle(NvmlDevice), lastSeenTimeStamp: value, sampleValType: out,
        vgpuInstanceSamplesCount: inout, utilizationSamples: out[*vgpuInstanceSamplesCount]?,
    );
    waiting nvmlGetVgpuDriverCapabilities(capability: value, capResult: out);
    waiting nvmlGetVgpuVersion(supported: out, current: out);
    waiting(by_hand) nvmlGpuInstanceGetActiveVgpus(
        gpuInstance: special, pVgpuInstanceInfo: special,
    );
    waiting(by_hand) nvmlGpuInstanceGetCreatableVgpus(gpuInstance: special, pVgpus: special);
    waiting nvmlGpuInstanceGetVgpuHeterogeneousMode(
        gpuInstance: handle(NvmlGpuInstance), pHeterogeneousMode: versioned,
    );
    waiting nvmlGpuInstanceGetVgpuSchedulerLog(
        gpuInstance: handle(NvmlGpuInstance), pSchedulerLogInfo: versioned,
    );
    waiting nvmlGpuInstanceGetVgpuSchedulerState(
        gpuInstance: handle(NvmlGpuInstance), pSchedulerStateInfo: versioned,
    );
    waiting(by_hand) nvmlGpuInstanceGetVgpuTypeCreatablePlacements(
        gpuInstance: special, pCreatablePlacementInfo: special,
    );
    waiting nvmlVgpuInstanceGetAccountingMode(vgpuInstance: value, mode: out);
    waiting nvmlVgpuInstanceGetAccountingPids(
        vgpuInstance: value, count: inout, pids: out[*count]?,
    );
    waiting nvmlVgpuInstanceGetAccountingStats(vgpuInstance: value, pid: value, stats: out);
    waiting nvmlVgpuInstanceGetEccMode(vgpuInstance: value, eccMode: out);
    waiting nvmlVgpuInstanceGetEncoderCapacity(vgpuInstance: value, encoderCapacity: out);
    waiting nvmlVgpuInstanceGetEncoderSessions(
        vgpuInstance: value, sessionCount: inout, sessionInfo: out[*sessionCount]?,
    );
    waiting nvmlVgpuInstanceGetEncoderStats(
        vgpuInstance: value, sessionCount: out, averageFps: out, averageLatency: out,
    );
    waiting nvmlVgpuInstanceGetFBCSessions(
        vgpuInstance: value, sessionCount: inout, sessionInfo: out[*sessionCount]?,
    );
    waiting nvmlVgpuInstanceGetFBCStats(vgpuInstance: value, fbcStats: out);
    waiting nvmlVgpuInstanceGetFbUsage(vgpuInstance: value, fbUsage: out);
    waiting nvmlVgpuInstanceGetFrameRateLimit(vgpuInstance: value, frameRateLimit: out);
    waiting nvmlVgpuInstanceGetGpuInstanceId(vgpuInstance: value, gpuInstanceId: out);
    waiting nvmlVgpuInstanceGetLicenseInfo_v2(vgpuInstance: value, licenseInfo: out);
    waiting nvmlVgpuInstanceGetLicenseStatus(vgpuInstance: value, licensed: out);
    waiting nvmlVgpuInstanceGetMdevUUID(
        vgpuInstance: value, mdevUuid: out_string[size], size: value,
    );
    waiting nvmlVgpuInstanceGetPlacementId(vgpuInstance: value, pPlacement: versioned);
    waiting nvmlVgpuInstanceGetRuntimeStateSize(vgpuInstance: value, pState: versioned);
    waiting nvmlVgpuInstanceGetType(vgpuInstance: value, vgpuTypeId: out);
    waiting nvmlVgpuInstanceGetUUID(vgpuInstance: value, uuid: out_string[size], size: value);
    waiting nvmlVgpuInstanceGetVmDriverVersion(
        vgpuInstance: value, version: out_string[length], length: value,
    );
    waiting nvmlVgpuInstanceGetVmID(
        vgpuInstance: value, vmId: out_string[size], size: value, vmIdType: out,
    );
    waiting nvmlVgpuTypeGetBAR1Info(vgpuTypeId: value, bar1Info: versioned);
    waiting nvmlVgpuTypeGetCapabilities(vgpuTypeId: value, capability: value, capResult: out);
    // Texts whose length goes both ways are lists of characters.
    waiting nvmlVgpuTypeGetClass(vgpuTypeId: value, vgpuTypeClass: out[*size]?, size: inout);
    waiting nvmlVgpuTypeGetDeviceID(vgpuTypeId: value, deviceID: out, subsystemID: out);
    waiting nvmlVgpuTypeGetFbReservation(vgpuTypeId: value, fbReservation: out);
    waiting nvmlVgpuTypeGetFrameRateLimit(vgpuTypeId: value, frameRateLimit: out);
    waiting nvmlVgpuTypeGetFramebufferSize(vgpuTypeId: value, fbSize: out);
    waiting nvmlVgpuTypeGetGpuInstanceProfileId(vgpuTypeId: value, gpuInstanceProfileId: out);
    waiting nvmlVgpuTypeGetGspHeapSize(vgpuTypeId: value, gspHeapSize: out);
    waiting nvmlVgpuTypeGetLicense(
        vgpuTypeId: value, vgpuTypeLicenseString: out_string[size], size: value,
    );
    waiting nvmlVgpuTypeGetMaxInstances(
        device: handle(NvmlDevice), vgpuTypeId: value, vgpuInstanceCount: out,
    );
    waiting nvmlVgpuTypeGetMaxInstancesPerGpuInstance(pMaxInstance: versioned);
    waiting nvmlVgpuTypeGetMaxInstancesPerVm(vgpuTypeId: value, vgpuInstanceCountPerVm: out);
    waiting nvmlVgpuTypeGetName(vgpuTypeId: value, vgpuTypeName: out[*size]?, size: inout);
    waiting nvmlVgpuTypeGetNumDisplayHeads(vgpuTypeId: value, numDisplayHeads: out);
    waiting nvmlVgpuTypeGetResolution(
        vgpuTypeId: value, displayIndex: value, xdim: out, ydim: out,
    );
}
