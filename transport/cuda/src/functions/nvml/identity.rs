//! What a device is, and the modes it is in.

use crate::signatures::NVML as SIGNATURES;

crate::describe! {
    /// What a device is, and the modes it is in.
    pub(super) const IDENTITY: SIGNATURES;
    waiting nvmlDeviceGetAPIRestriction(
        device: handle(NvmlDevice), apiType: value, isRestricted: out,
    );
    waiting nvmlDeviceGetAddressingMode(device: handle(NvmlDevice), mode: versioned);
    waiting nvmlDeviceGetArchitecture(device: handle(NvmlDevice), arch: out);
    // The structure without its last three fields.
    local nvmlDeviceGetAttributes(device: special, attributes: special);
    waiting nvmlDeviceGetAttributes_v2(device: handle(NvmlDevice), attributes: out);
    waiting nvmlDeviceGetBoardId(device: handle(NvmlDevice), boardId: out);
    waiting nvmlDeviceGetBoardPartNumber(
        device: handle(NvmlDevice), partNumber: out_string[length], length: value,
    );
    waiting nvmlDeviceGetBrand(device: handle(NvmlDevice), type_: out);
    waiting nvmlDeviceGetCapabilities(device: handle(NvmlDevice), caps: versioned);
    waiting nvmlDeviceGetComputeMode(device: handle(NvmlDevice), mode: out);
    // The nonce goes in.
    waiting nvmlDeviceGetConfComputeGpuAttestationReport(
        device: handle(NvmlDevice), gpuAtstReport: inout,
    );
    waiting nvmlDeviceGetConfComputeGpuCertificate(device: handle(NvmlDevice), gpuCert: out);
    waiting nvmlDeviceGetCudaComputeCapability(device: handle(NvmlDevice), major: out, minor: out);
    waiting nvmlDeviceGetDisplayActive(device: handle(NvmlDevice), isActive: out);
    waiting nvmlDeviceGetDisplayMode(device: handle(NvmlDevice), display: out);
    waiting nvmlDeviceGetDriverModel(device: handle(NvmlDevice), current: out?, pending: out?);
    waiting nvmlDeviceGetDriverModel_v2(device: handle(NvmlDevice), current: out?, pending: out?);
    waiting nvmlDeviceGetGpuOperationMode(device: handle(NvmlDevice), current: out, pending: out);
    waiting nvmlDeviceGetGridLicensableFeatures_v4(
        device: handle(NvmlDevice), pGridLicensableFeatures: out,
    );
    waiting nvmlDeviceGetGspFirmwareMode(
        device: handle(NvmlDevice), isEnabled: out, defaultMode: out,
    );
    waiting nvmlDeviceGetGspFirmwareVersion(device: handle(NvmlDevice), version: out_string[64]);
    waiting nvmlDeviceGetHostVgpuMode(device: handle(NvmlDevice), pHostVgpuMode: out);
    waiting nvmlDeviceGetHostname_v1(device: handle(NvmlDevice), hostname: out);
    waiting nvmlDeviceGetIndex(device: handle(NvmlDevice), index: out);
    waiting nvmlDeviceGetInforomConfigurationChecksum(device: handle(NvmlDevice), checksum: out);
    waiting nvmlDeviceGetInforomImageVersion(
        device: handle(NvmlDevice), version: out_string[length], length: value,
    );
    waiting nvmlDeviceGetInforomVersion(
        device: handle(NvmlDevice), object: value, version: out_string[length], length: value,
    );
    waiting nvmlDeviceGetIrqNum(device: handle(NvmlDevice), irqNum: out);
    waiting nvmlDeviceGetLastBBXFlushTime(
        device: handle(NvmlDevice), timestamp: out, durationUs: out,
    );
    waiting nvmlDeviceGetMigMode(device: handle(NvmlDevice), currentMode: out, pendingMode: out);
    waiting nvmlDeviceGetMinorNumber(device: handle(NvmlDevice), minorNumber: out);
    waiting nvmlDeviceGetModuleId(device: handle(NvmlDevice), moduleId: out);
    waiting nvmlDeviceGetMultiGpuBoard(device: handle(NvmlDevice), multiGpuBool: out);
    waiting nvmlDeviceGetName(device: handle(NvmlDevice), name: out_string[length], length: value);
    waiting nvmlDeviceGetNumGpuCores(device: handle(NvmlDevice), numCores: out);
    waiting nvmlDeviceGetPdi(device: handle(NvmlDevice), pdi: versioned);
    waiting nvmlDeviceGetPersistenceMode(device: handle(NvmlDevice), mode: out);
    waiting nvmlDeviceGetPlatformInfo(device: handle(NvmlDevice), platformInfo: versioned);
    waiting nvmlDeviceGetSerial(
        device: handle(NvmlDevice), serial: out_string[length], length: value,
    );
    waiting nvmlDeviceGetSupportedEventTypes(device: handle(NvmlDevice), eventTypes: out);
    waiting nvmlDeviceGetUUID(device: handle(NvmlDevice), uuid: out_string[length], length: value);
    waiting nvmlDeviceGetVbiosVersion(
        device: handle(NvmlDevice), version: out_string[length], length: value,
    );
    waiting nvmlDeviceGetVgpuHeterogeneousMode(
        device: handle(NvmlDevice), pHeterogeneousMode: versioned,
    );
    waiting nvmlDeviceGetVirtualizationMode(device: handle(NvmlDevice), pVirtualMode: out);
    waiting nvmlDeviceGetVgpuCapabilities(
        device: handle(NvmlDevice), capability: value, capResult: out,
    );
    waiting nvmlDeviceGetSupportedVgpus(
        device: handle(NvmlDevice), vgpuCount: inout, vgpuTypeIds: out[*vgpuCount]?,
    );
    waiting nvmlDeviceGetCreatableVgpus(
        device: handle(NvmlDevice), vgpuCount: inout, vgpuTypeIds: out[*vgpuCount]?,
    );
    waiting nvmlDeviceGetActiveVgpus(
        device: handle(NvmlDevice), vgpuCount: inout, vgpuInstances: out[*vgpuCount]?,
    );
    waiting nvmlDeviceValidateInforom(device: handle(NvmlDevice));
    // Their versions are plain numbers, and there is one.
    waiting nvmlGpmQueryDeviceSupport(device: handle(NvmlDevice), gpmSupport: inout);
    waiting nvmlGpmQueryIfStreamingEnabled(device: handle(NvmlDevice), state: out);
    waiting nvmlDeviceQueryDrainState(pciInfo: in, currentState: out);
}
