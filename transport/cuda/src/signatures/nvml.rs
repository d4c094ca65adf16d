//! Signatures of NVML, sorted by name, from nvml-wrapper-sys 0.10.0 (by Cldfire, MIT OR Apache-2.0).
//!
//! Written by `cargo xtask codegen`; changes by hand are lost.

use crate::Shape::*;
use crate::Signature;
use crate::signature::parameter;

pub(super) const TABLE: &[Signature] = &[
    Signature {
        name: "nvmlComputeInstanceDestroy",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter(
            "computeInstance",
            "nvmlComputeInstance_t",
            Handle,
        )],
    },
    Signature {
        name: "nvmlComputeInstanceGetInfo",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("computeInstance", "nvmlComputeInstance_t", Handle),
            parameter("info", "*mut nvmlComputeInstanceInfo_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlComputeInstanceGetInfo_v2",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("computeInstance", "nvmlComputeInstance_t", Handle),
            parameter("info", "*mut nvmlComputeInstanceInfo_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceClearAccountingPids",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter("device", "nvmlDevice_t", Handle)],
    },
    Signature {
        name: "nvmlDeviceClearCpuAffinity",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter("device", "nvmlDevice_t", Handle)],
    },
    Signature {
        name: "nvmlDeviceClearEccErrorCounts",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("counterType", "nvmlEccCounterType_t", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceClearFieldValues",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("valuesCount", "c_int", Scalar),
            parameter("values", "*mut nvmlFieldValue_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceCreateGpuInstance",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("profileId", "c_uint", Scalar),
            parameter("gpuInstance", "*mut nvmlGpuInstance_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceCreateGpuInstanceWithPlacement",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("profileId", "c_uint", Scalar),
            parameter("placement", "*const nvmlGpuInstancePlacement_t", Pointer),
            parameter("gpuInstance", "*mut nvmlGpuInstance_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceDiscoverGpus",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter("pciInfo", "*mut nvmlPciInfo_t", Pointer)],
    },
    Signature {
        name: "nvmlDeviceFreezeNvLinkUtilizationCounter",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("link", "c_uint", Scalar),
            parameter("counter", "c_uint", Scalar),
            parameter("freeze", "nvmlEnableState_t", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceGetAPIRestriction",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("apiType", "nvmlRestrictedAPI_t", Scalar),
            parameter("isRestricted", "*mut nvmlEnableState_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetAccountingBufferSize",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("bufferSize", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetAccountingMode",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("mode", "*mut nvmlEnableState_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetAccountingPids",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("count", "*mut c_uint", Pointer),
            parameter("pids", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetAccountingStats",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("pid", "c_uint", Scalar),
            parameter("stats", "*mut nvmlAccountingStats_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetActiveVgpus",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("vgpuCount", "*mut c_uint", Pointer),
            parameter("vgpuInstances", "*mut nvmlVgpuInstance_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetAdaptiveClockInfoStatus",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("adaptiveClockStatus", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetAddressingMode",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("mode", "*mut nvmlDeviceAddressingMode_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetApplicationsClock",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("clockType", "nvmlClockType_t", Scalar),
            parameter("clockMHz", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetArchitecture",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("arch", "*mut nvmlDeviceArchitecture_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetAttributes",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("attributes", "*mut nvmlDeviceAttributes_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetAttributes_v2",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("attributes", "*mut nvmlDeviceAttributes_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetAutoBoostedClocksEnabled",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("isEnabled", "*mut nvmlEnableState_t", Pointer),
            parameter("defaultIsEnabled", "*mut nvmlEnableState_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetBAR1MemoryInfo",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("bar1Memory", "*mut nvmlBAR1Memory_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetBoardId",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("boardId", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetBoardPartNumber",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("partNumber", "*mut c_char", Pointer),
            parameter("length", "c_uint", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceGetBrand",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("type_", "*mut nvmlBrandType_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetBridgeChipInfo",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("bridgeHierarchy", "*mut nvmlBridgeChipHierarchy_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetBusType",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("type_", "*mut nvmlBusType_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetC2cModeInfoV",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("c2cModeInfo", "*mut nvmlC2cModeInfo_v1_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetCapabilities",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("caps", "*mut nvmlDeviceCapabilities_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetClkMonStatus",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("status", "*mut nvmlClkMonStatus_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetClock",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("clockType", "nvmlClockType_t", Scalar),
            parameter("clockId", "nvmlClockId_t", Scalar),
            parameter("clockMHz", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetClockInfo",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("type_", "nvmlClockType_t", Scalar),
            parameter("clock", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetClockOffsets",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("info", "*mut nvmlClockOffset_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetComputeInstanceId",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("id", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetComputeMode",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("mode", "*mut nvmlComputeMode_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetComputeRunningProcesses",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("infoCount", "*mut c_uint", Pointer),
            parameter("infos", "*mut nvmlProcessInfo_v1_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetComputeRunningProcesses_v2",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("infoCount", "*mut c_uint", Pointer),
            parameter("infos", "*mut nvmlProcessInfo_v2_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetComputeRunningProcesses_v3",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("infoCount", "*mut c_uint", Pointer),
            parameter("infos", "*mut nvmlProcessInfo_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetConfComputeGpuAttestationReport",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter(
                "gpuAtstReport",
                "*mut nvmlConfComputeGpuAttestationReport_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlDeviceGetConfComputeGpuCertificate",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("gpuCert", "*mut nvmlConfComputeGpuCertificate_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetConfComputeMemSizeInfo",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("memInfo", "*mut nvmlConfComputeMemSizeInfo_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetConfComputeProtectedMemoryUsage",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("memory", "*mut nvmlMemory_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetCoolerInfo",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("coolerInfo", "*mut nvmlCoolerInfo_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetCount",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter("deviceCount", "*mut c_uint", Pointer)],
    },
    Signature {
        name: "nvmlDeviceGetCount_v2",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter("deviceCount", "*mut c_uint", Pointer)],
    },
    Signature {
        name: "nvmlDeviceGetCpuAffinity",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("cpuSetSize", "c_uint", Scalar),
            parameter("cpuSet", "*mut c_ulong", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetCpuAffinityWithinScope",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("cpuSetSize", "c_uint", Scalar),
            parameter("cpuSet", "*mut c_ulong", Pointer),
            parameter("scope", "nvmlAffinityScope_t", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceGetCreatableVgpus",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("vgpuCount", "*mut c_uint", Pointer),
            parameter("vgpuTypeIds", "*mut nvmlVgpuTypeId_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetCudaComputeCapability",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("major", "*mut c_int", Pointer),
            parameter("minor", "*mut c_int", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetCurrPcieLinkGeneration",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("currLinkGen", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetCurrPcieLinkWidth",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("currLinkWidth", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetCurrentClockFreqs",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter(
                "currentClockFreqs",
                "*mut nvmlDeviceCurrentClockFreqs_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlDeviceGetCurrentClocksEventReasons",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("clocksEventReasons", "*mut c_ulonglong", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetCurrentClocksThrottleReasons",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("clocksThrottleReasons", "*mut c_ulonglong", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetDecoderUtilization",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("utilization", "*mut c_uint", Pointer),
            parameter("samplingPeriodUs", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetDefaultApplicationsClock",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("clockType", "nvmlClockType_t", Scalar),
            parameter("clockMHz", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetDefaultEccMode",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("defaultMode", "*mut nvmlEnableState_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetDetailedEccErrors",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("errorType", "nvmlMemoryErrorType_t", Scalar),
            parameter("counterType", "nvmlEccCounterType_t", Scalar),
            parameter("eccCounts", "*mut nvmlEccErrorCounts_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetDeviceHandleFromMigDeviceHandle",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("migDevice", "nvmlDevice_t", Handle),
            parameter("device", "*mut nvmlDevice_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetDisplayActive",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("isActive", "*mut nvmlEnableState_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetDisplayMode",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("display", "*mut nvmlEnableState_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetDramEncryptionMode",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("current", "*mut nvmlDramEncryptionInfo_t", Pointer),
            parameter("pending", "*mut nvmlDramEncryptionInfo_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetDriverModel",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("current", "*mut nvmlDriverModel_t", Pointer),
            parameter("pending", "*mut nvmlDriverModel_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetDriverModel_v2",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("current", "*mut nvmlDriverModel_t", Pointer),
            parameter("pending", "*mut nvmlDriverModel_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetDynamicPstatesInfo",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter(
                "pDynamicPstatesInfo",
                "*mut nvmlGpuDynamicPstatesInfo_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlDeviceGetEccMode",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("current", "*mut nvmlEnableState_t", Pointer),
            parameter("pending", "*mut nvmlEnableState_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetEncoderCapacity",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("encoderQueryType", "nvmlEncoderType_t", Scalar),
            parameter("encoderCapacity", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetEncoderSessions",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("sessionCount", "*mut c_uint", Pointer),
            parameter("sessionInfos", "*mut nvmlEncoderSessionInfo_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetEncoderStats",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("sessionCount", "*mut c_uint", Pointer),
            parameter("averageFps", "*mut c_uint", Pointer),
            parameter("averageLatency", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetEncoderUtilization",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("utilization", "*mut c_uint", Pointer),
            parameter("samplingPeriodUs", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetEnforcedPowerLimit",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("limit", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetFBCSessions",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("sessionCount", "*mut c_uint", Pointer),
            parameter("sessionInfo", "*mut nvmlFBCSessionInfo_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetFBCStats",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("fbcStats", "*mut nvmlFBCStats_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetFanControlPolicy_v2",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("fan", "c_uint", Scalar),
            parameter("policy", "*mut nvmlFanControlPolicy_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetFanSpeed",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("speed", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetFanSpeedRPM",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("fanSpeed", "*mut nvmlFanSpeedInfo_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetFanSpeed_v2",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("fan", "c_uint", Scalar),
            parameter("speed", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetFieldValues",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("valuesCount", "c_int", Scalar),
            parameter("values", "*mut nvmlFieldValue_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetGpcClkMinMaxVfOffset",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("minOffset", "*mut c_int", Pointer),
            parameter("maxOffset", "*mut c_int", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetGpcClkVfOffset",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("offset", "*mut c_int", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetGpuFabricInfo",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("gpuFabricInfo", "*mut nvmlGpuFabricInfo_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetGpuFabricInfoV",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("gpuFabricInfo", "*mut nvmlGpuFabricInfoV_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetGpuInstanceById",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("id", "c_uint", Scalar),
            parameter("gpuInstance", "*mut nvmlGpuInstance_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetGpuInstanceId",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("id", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetGpuInstancePossiblePlacements",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("profileId", "c_uint", Scalar),
            parameter("placements", "*mut nvmlGpuInstancePlacement_t", Pointer),
            parameter("count", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetGpuInstancePossiblePlacements_v2",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("profileId", "c_uint", Scalar),
            parameter("placements", "*mut nvmlGpuInstancePlacement_t", Pointer),
            parameter("count", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetGpuInstanceProfileInfo",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("profile", "c_uint", Scalar),
            parameter("info", "*mut nvmlGpuInstanceProfileInfo_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetGpuInstanceProfileInfoByIdV",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("profileId", "c_uint", Scalar),
            parameter("info", "*mut nvmlGpuInstanceProfileInfo_v2_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetGpuInstanceProfileInfoV",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("profile", "c_uint", Scalar),
            parameter("info", "*mut nvmlGpuInstanceProfileInfo_v2_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetGpuInstanceRemainingCapacity",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("profileId", "c_uint", Scalar),
            parameter("count", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetGpuInstances",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("profileId", "c_uint", Scalar),
            parameter("gpuInstances", "*mut nvmlGpuInstance_t", Pointer),
            parameter("count", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetGpuMaxPcieLinkGeneration",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("maxLinkGenDevice", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetGpuOperationMode",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("current", "*mut nvmlGpuOperationMode_t", Pointer),
            parameter("pending", "*mut nvmlGpuOperationMode_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetGraphicsRunningProcesses",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("infoCount", "*mut c_uint", Pointer),
            parameter("infos", "*mut nvmlProcessInfo_v1_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetGraphicsRunningProcesses_v2",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("infoCount", "*mut c_uint", Pointer),
            parameter("infos", "*mut nvmlProcessInfo_v2_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetGraphicsRunningProcesses_v3",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("infoCount", "*mut c_uint", Pointer),
            parameter("infos", "*mut nvmlProcessInfo_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetGridLicensableFeatures",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter(
                "pGridLicensableFeatures",
                "*mut nvmlGridLicensableFeatures_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlDeviceGetGridLicensableFeatures_v2",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter(
                "pGridLicensableFeatures",
                "*mut nvmlGridLicensableFeatures_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlDeviceGetGridLicensableFeatures_v3",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter(
                "pGridLicensableFeatures",
                "*mut nvmlGridLicensableFeatures_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlDeviceGetGridLicensableFeatures_v4",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter(
                "pGridLicensableFeatures",
                "*mut nvmlGridLicensableFeatures_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlDeviceGetGspFirmwareMode",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("isEnabled", "*mut c_uint", Pointer),
            parameter("defaultMode", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetGspFirmwareVersion",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("version", "*mut c_char", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetHandleByIndex",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("index", "c_uint", Scalar),
            parameter("device", "*mut nvmlDevice_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetHandleByIndex_v2",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("index", "c_uint", Scalar),
            parameter("device", "*mut nvmlDevice_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetHandleByPciBusId",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("pciBusId", "*const c_char", Pointer),
            parameter("device", "*mut nvmlDevice_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetHandleByPciBusId_v2",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("pciBusId", "*const c_char", Pointer),
            parameter("device", "*mut nvmlDevice_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetHandleBySerial",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("serial", "*const c_char", Pointer),
            parameter("device", "*mut nvmlDevice_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetHandleByUUID",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("uuid", "*const c_char", Pointer),
            parameter("device", "*mut nvmlDevice_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetHandleByUUIDV",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("uuid", "*const nvmlUUID_t", Pointer),
            parameter("device", "*mut nvmlDevice_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetHostVgpuMode",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("pHostVgpuMode", "*mut nvmlHostVgpuMode_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetIndex",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("index", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetInforomConfigurationChecksum",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("checksum", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetInforomImageVersion",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("version", "*mut c_char", Pointer),
            parameter("length", "c_uint", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceGetInforomVersion",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("object", "nvmlInforomObject_t", Scalar),
            parameter("version", "*mut c_char", Pointer),
            parameter("length", "c_uint", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceGetIrqNum",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("irqNum", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetJpgUtilization",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("utilization", "*mut c_uint", Pointer),
            parameter("samplingPeriodUs", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetLastBBXFlushTime",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("timestamp", "*mut c_ulonglong", Pointer),
            parameter("durationUs", "*mut c_ulong", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetMPSComputeRunningProcesses",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("infoCount", "*mut c_uint", Pointer),
            parameter("infos", "*mut nvmlProcessInfo_v1_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetMPSComputeRunningProcesses_v2",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("infoCount", "*mut c_uint", Pointer),
            parameter("infos", "*mut nvmlProcessInfo_v2_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetMPSComputeRunningProcesses_v3",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("infoCount", "*mut c_uint", Pointer),
            parameter("infos", "*mut nvmlProcessInfo_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetMarginTemperature",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("marginTempInfo", "*mut nvmlMarginTemperature_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetMaxClockInfo",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("type_", "nvmlClockType_t", Scalar),
            parameter("clock", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetMaxCustomerBoostClock",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("clockType", "nvmlClockType_t", Scalar),
            parameter("clockMHz", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetMaxMigDeviceCount",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("count", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetMaxPcieLinkGeneration",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("maxLinkGen", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetMaxPcieLinkWidth",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("maxLinkWidth", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetMemClkMinMaxVfOffset",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("minOffset", "*mut c_int", Pointer),
            parameter("maxOffset", "*mut c_int", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetMemClkVfOffset",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("offset", "*mut c_int", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetMemoryAffinity",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("nodeSetSize", "c_uint", Scalar),
            parameter("nodeSet", "*mut c_ulong", Pointer),
            parameter("scope", "nvmlAffinityScope_t", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceGetMemoryBusWidth",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("busWidth", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetMemoryErrorCounter",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("errorType", "nvmlMemoryErrorType_t", Scalar),
            parameter("counterType", "nvmlEccCounterType_t", Scalar),
            parameter("locationType", "nvmlMemoryLocation_t", Scalar),
            parameter("count", "*mut c_ulonglong", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetMemoryInfo",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("memory", "*mut nvmlMemory_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetMemoryInfo_v2",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("memory", "*mut nvmlMemory_v2_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetMigDeviceHandleByIndex",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("index", "c_uint", Scalar),
            parameter("migDevice", "*mut nvmlDevice_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetMigMode",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("currentMode", "*mut c_uint", Pointer),
            parameter("pendingMode", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetMinMaxClockOfPState",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("type_", "nvmlClockType_t", Scalar),
            parameter("pstate", "nvmlPstates_t", Scalar),
            parameter("minClockMHz", "*mut c_uint", Pointer),
            parameter("maxClockMHz", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetMinMaxFanSpeed",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("minSpeed", "*mut c_uint", Pointer),
            parameter("maxSpeed", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetMinorNumber",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("minorNumber", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetModuleId",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("moduleId", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetMultiGpuBoard",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("multiGpuBool", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetName",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("name", "*mut c_char", Pointer),
            parameter("length", "c_uint", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceGetNumFans",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("numFans", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetNumGpuCores",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("numCores", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetNumaNodeId",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("node", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetNvLinkCapability",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("link", "c_uint", Scalar),
            parameter("capability", "nvmlNvLinkCapability_t", Scalar),
            parameter("capResult", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetNvLinkErrorCounter",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("link", "c_uint", Scalar),
            parameter("counter", "nvmlNvLinkErrorCounter_t", Scalar),
            parameter("counterValue", "*mut c_ulonglong", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetNvLinkInfo",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("info", "*mut nvmlNvLinkInfo_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetNvLinkRemoteDeviceType",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("link", "c_uint", Scalar),
            parameter(
                "pNvLinkDeviceType",
                "*mut nvmlIntNvLinkDeviceType_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlDeviceGetNvLinkRemotePciInfo",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("link", "c_uint", Scalar),
            parameter("pci", "*mut nvmlPciInfo_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetNvLinkRemotePciInfo_v2",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("link", "c_uint", Scalar),
            parameter("pci", "*mut nvmlPciInfo_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetNvLinkState",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("link", "c_uint", Scalar),
            parameter("isActive", "*mut nvmlEnableState_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetNvLinkUtilizationControl",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("link", "c_uint", Scalar),
            parameter("counter", "c_uint", Scalar),
            parameter("control", "*mut nvmlNvLinkUtilizationControl_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetNvLinkUtilizationCounter",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("link", "c_uint", Scalar),
            parameter("counter", "c_uint", Scalar),
            parameter("rxcounter", "*mut c_ulonglong", Pointer),
            parameter("txcounter", "*mut c_ulonglong", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetNvLinkVersion",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("link", "c_uint", Scalar),
            parameter("version", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetNvlinkBwMode",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("getBwMode", "*mut nvmlNvlinkGetBwMode_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetNvlinkSupportedBwModes",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter(
                "supportedBwMode",
                "*mut nvmlNvlinkSupportedBwModes_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlDeviceGetOfaUtilization",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("utilization", "*mut c_uint", Pointer),
            parameter("samplingPeriodUs", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetP2PStatus",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device1", "nvmlDevice_t", Handle),
            parameter("device2", "nvmlDevice_t", Handle),
            parameter("p2pIndex", "nvmlGpuP2PCapsIndex_t", Scalar),
            parameter("p2pStatus", "*mut nvmlGpuP2PStatus_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetPciInfo",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("pci", "*mut nvmlPciInfo_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetPciInfoExt",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("pci", "*mut nvmlPciInfoExt_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetPciInfo_v2",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("pci", "*mut nvmlPciInfo_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetPciInfo_v3",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("pci", "*mut nvmlPciInfo_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetPcieLinkMaxSpeed",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("maxSpeed", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetPcieReplayCounter",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("value", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetPcieSpeed",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("pcieSpeed", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetPcieThroughput",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("counter", "nvmlPcieUtilCounter_t", Scalar),
            parameter("value", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetPdi",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("pdi", "*mut nvmlPdi_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetPerformanceModes",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("perfModes", "*mut nvmlDevicePerfModes_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetPerformanceState",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("pState", "*mut nvmlPstates_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetPersistenceMode",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("mode", "*mut nvmlEnableState_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetPgpuMetadataString",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("pgpuMetadata", "*mut c_char", Pointer),
            parameter("bufferSize", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetPlatformInfo",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("platformInfo", "*mut nvmlPlatformInfo_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetPowerManagementDefaultLimit",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("defaultLimit", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetPowerManagementLimit",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("limit", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetPowerManagementLimitConstraints",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("minLimit", "*mut c_uint", Pointer),
            parameter("maxLimit", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetPowerManagementMode",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("mode", "*mut nvmlEnableState_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetPowerMizerMode_v1",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter(
                "powerMizerMode",
                "*mut nvmlDevicePowerMizerModes_v1_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlDeviceGetPowerSource",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("powerSource", "*mut nvmlPowerSource_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetPowerState",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("pState", "*mut nvmlPstates_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetPowerUsage",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("power", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetProcessUtilization",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter(
                "utilization",
                "*mut nvmlProcessUtilizationSample_t",
                Pointer,
            ),
            parameter("processSamplesCount", "*mut c_uint", Pointer),
            parameter("lastSeenTimeStamp", "c_ulonglong", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceGetProcessesUtilizationInfo",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter(
                "procesesUtilInfo",
                "*mut nvmlProcessesUtilizationInfo_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlDeviceGetRemappedRows",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("corrRows", "*mut c_uint", Pointer),
            parameter("uncRows", "*mut c_uint", Pointer),
            parameter("isPending", "*mut c_uint", Pointer),
            parameter("failureOccurred", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetRepairStatus",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("repairStatus", "*mut nvmlRepairStatus_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetRetiredPages",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("cause", "nvmlPageRetirementCause_t", Scalar),
            parameter("pageCount", "*mut c_uint", Pointer),
            parameter("addresses", "*mut c_ulonglong", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetRetiredPagesPendingStatus",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("isPending", "*mut nvmlEnableState_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetRetiredPages_v2",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("cause", "nvmlPageRetirementCause_t", Scalar),
            parameter("pageCount", "*mut c_uint", Pointer),
            parameter("addresses", "*mut c_ulonglong", Pointer),
            parameter("timestamps", "*mut c_ulonglong", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetRowRemapperHistogram",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("values", "*mut nvmlRowRemapperHistogramValues_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetRunningProcessDetailList",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("plist", "*mut nvmlProcessDetailList_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetSamples",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("type_", "nvmlSamplingType_t", Scalar),
            parameter("lastSeenTimeStamp", "c_ulonglong", Scalar),
            parameter("sampleValType", "*mut nvmlValueType_t", Pointer),
            parameter("sampleCount", "*mut c_uint", Pointer),
            parameter("samples", "*mut nvmlSample_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetSerial",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("serial", "*mut c_char", Pointer),
            parameter("length", "c_uint", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceGetSramEccErrorStatus",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("status", "*mut nvmlEccSramErrorStatus_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetSramUniqueUncorrectedEccErrorCounts",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter(
                "errorCounts",
                "*mut nvmlEccSramUniqueUncorrectedErrorCounts_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlDeviceGetSupportedClocksEventReasons",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("supportedClocksEventReasons", "*mut c_ulonglong", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetSupportedClocksThrottleReasons",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter(
                "supportedClocksThrottleReasons",
                "*mut c_ulonglong",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlDeviceGetSupportedEventTypes",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("eventTypes", "*mut c_ulonglong", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetSupportedGraphicsClocks",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("memoryClockMHz", "c_uint", Scalar),
            parameter("count", "*mut c_uint", Pointer),
            parameter("clocksMHz", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetSupportedMemoryClocks",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("count", "*mut c_uint", Pointer),
            parameter("clocksMHz", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetSupportedPerformanceStates",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("pstates", "*mut nvmlPstates_t", Pointer),
            parameter("size", "c_uint", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceGetSupportedVgpus",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("vgpuCount", "*mut c_uint", Pointer),
            parameter("vgpuTypeIds", "*mut nvmlVgpuTypeId_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetTargetFanSpeed",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("fan", "c_uint", Scalar),
            parameter("targetSpeed", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetTemperature",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("sensorType", "nvmlTemperatureSensors_t", Scalar),
            parameter("temp", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetTemperatureThreshold",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("thresholdType", "nvmlTemperatureThresholds_t", Scalar),
            parameter("temp", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetTemperatureV",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("temperature", "*mut nvmlTemperature_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetThermalSettings",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("sensorIndex", "c_uint", Scalar),
            parameter("pThermalSettings", "*mut nvmlGpuThermalSettings_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetTopologyCommonAncestor",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device1", "nvmlDevice_t", Handle),
            parameter("device2", "nvmlDevice_t", Handle),
            parameter("pathInfo", "*mut nvmlGpuTopologyLevel_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetTopologyNearestGpus",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("level", "nvmlGpuTopologyLevel_t", Scalar),
            parameter("count", "*mut c_uint", Pointer),
            parameter("deviceArray", "*mut nvmlDevice_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetTotalEccErrors",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("errorType", "nvmlMemoryErrorType_t", Scalar),
            parameter("counterType", "nvmlEccCounterType_t", Scalar),
            parameter("eccCounts", "*mut c_ulonglong", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetTotalEnergyConsumption",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("energy", "*mut c_ulonglong", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetUUID",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("uuid", "*mut c_char", Pointer),
            parameter("length", "c_uint", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceGetUtilizationRates",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("utilization", "*mut nvmlUtilization_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetVbiosVersion",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("version", "*mut c_char", Pointer),
            parameter("length", "c_uint", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceGetVgpuCapabilities",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("capability", "nvmlDeviceVgpuCapability_t", Scalar),
            parameter("capResult", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetVgpuHeterogeneousMode",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter(
                "pHeterogeneousMode",
                "*mut nvmlVgpuHeterogeneousMode_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlDeviceGetVgpuInstancesUtilizationInfo",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter(
                "vgpuUtilInfo",
                "*mut nvmlVgpuInstancesUtilizationInfo_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlDeviceGetVgpuMetadata",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("pgpuMetadata", "*mut nvmlVgpuPgpuMetadata_t", Pointer),
            parameter("bufferSize", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetVgpuProcessUtilization",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("lastSeenTimeStamp", "c_ulonglong", Scalar),
            parameter("vgpuProcessSamplesCount", "*mut c_uint", Pointer),
            parameter(
                "utilizationSamples",
                "*mut nvmlVgpuProcessUtilizationSample_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlDeviceGetVgpuProcessesUtilizationInfo",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter(
                "vgpuProcUtilInfo",
                "*mut nvmlVgpuProcessesUtilizationInfo_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlDeviceGetVgpuSchedulerCapabilities",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter(
                "pCapabilities",
                "*mut nvmlVgpuSchedulerCapabilities_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlDeviceGetVgpuSchedulerLog",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("pSchedulerLog", "*mut nvmlVgpuSchedulerLog_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetVgpuSchedulerState",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter(
                "pSchedulerState",
                "*mut nvmlVgpuSchedulerGetState_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlDeviceGetVgpuTypeCreatablePlacements",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("vgpuTypeId", "nvmlVgpuTypeId_t", Scalar),
            parameter("pPlacementList", "*mut nvmlVgpuPlacementList_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetVgpuTypeSupportedPlacements",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("vgpuTypeId", "nvmlVgpuTypeId_t", Scalar),
            parameter("pPlacementList", "*mut nvmlVgpuPlacementList_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetVgpuUtilization",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("lastSeenTimeStamp", "c_ulonglong", Scalar),
            parameter("sampleValType", "*mut nvmlValueType_t", Pointer),
            parameter("vgpuInstanceSamplesCount", "*mut c_uint", Pointer),
            parameter(
                "utilizationSamples",
                "*mut nvmlVgpuInstanceUtilizationSample_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlDeviceGetViolationStatus",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("perfPolicyType", "nvmlPerfPolicyType_t", Scalar),
            parameter("violTime", "*mut nvmlViolationTime_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceGetVirtualizationMode",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("pVirtualMode", "*mut nvmlGpuVirtualizationMode_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceIsMigDeviceHandle",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("isMigDevice", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceModifyDrainState",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("pciInfo", "*mut nvmlPciInfo_t", Pointer),
            parameter("newState", "nvmlEnableState_t", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceOnSameBoard",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device1", "nvmlDevice_t", Handle),
            parameter("device2", "nvmlDevice_t", Handle),
            parameter("onSameBoard", "*mut c_int", Pointer),
        ],
    },
    Signature {
        name: "nvmlDevicePowerSmoothingActivatePresetProfile",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("profile", "*mut nvmlPowerSmoothingProfile_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDevicePowerSmoothingSetState",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("state", "*mut nvmlPowerSmoothingState_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDevicePowerSmoothingUpdatePresetProfileParam",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("profile", "*mut nvmlPowerSmoothingProfile_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceQueryDrainState",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("pciInfo", "*mut nvmlPciInfo_t", Pointer),
            parameter("currentState", "*mut nvmlEnableState_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceReadWritePRM_v1",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("buffer", "*mut nvmlPRMTLV_v1_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceRegisterEvents",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("eventTypes", "c_ulonglong", Scalar),
            parameter("set", "nvmlEventSet_t", Handle),
        ],
    },
    Signature {
        name: "nvmlDeviceRemoveGpu",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter("pciInfo", "*mut nvmlPciInfo_t", Pointer)],
    },
    Signature {
        name: "nvmlDeviceRemoveGpu_v2",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("pciInfo", "*mut nvmlPciInfo_t", Pointer),
            parameter("gpuState", "nvmlDetachGpuState_t", Scalar),
            parameter("linkState", "nvmlPcieLinkState_t", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceResetApplicationsClocks",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter("device", "nvmlDevice_t", Handle)],
    },
    Signature {
        name: "nvmlDeviceResetGpuLockedClocks",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter("device", "nvmlDevice_t", Handle)],
    },
    Signature {
        name: "nvmlDeviceResetMemoryLockedClocks",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter("device", "nvmlDevice_t", Handle)],
    },
    Signature {
        name: "nvmlDeviceResetNvLinkErrorCounters",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("link", "c_uint", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceResetNvLinkUtilizationCounter",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("link", "c_uint", Scalar),
            parameter("counter", "c_uint", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceSetAPIRestriction",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("apiType", "nvmlRestrictedAPI_t", Scalar),
            parameter("isRestricted", "nvmlEnableState_t", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceSetAccountingMode",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("mode", "nvmlEnableState_t", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceSetApplicationsClocks",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("memClockMHz", "c_uint", Scalar),
            parameter("graphicsClockMHz", "c_uint", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceSetAutoBoostedClocksEnabled",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("enabled", "nvmlEnableState_t", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceSetClockOffsets",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("info", "*mut nvmlClockOffset_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceSetComputeMode",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("mode", "nvmlComputeMode_t", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceSetConfComputeUnprotectedMemSize",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("sizeKiB", "c_ulonglong", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceSetCpuAffinity",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter("device", "nvmlDevice_t", Handle)],
    },
    Signature {
        name: "nvmlDeviceSetDefaultAutoBoostedClocksEnabled",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("enabled", "nvmlEnableState_t", Scalar),
            parameter("flags", "c_uint", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceSetDefaultFanSpeed_v2",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("fan", "c_uint", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceSetDramEncryptionMode",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("dramEncryption", "*const nvmlDramEncryptionInfo_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceSetDriverModel",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("driverModel", "nvmlDriverModel_t", Scalar),
            parameter("flags", "c_uint", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceSetEccMode",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("ecc", "nvmlEnableState_t", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceSetFanControlPolicy",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("fan", "c_uint", Scalar),
            parameter("policy", "nvmlFanControlPolicy_t", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceSetFanSpeed_v2",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("fan", "c_uint", Scalar),
            parameter("speed", "c_uint", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceSetGpcClkVfOffset",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("offset", "c_int", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceSetGpuLockedClocks",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("minGpuClockMHz", "c_uint", Scalar),
            parameter("maxGpuClockMHz", "c_uint", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceSetGpuOperationMode",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("mode", "nvmlGpuOperationMode_t", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceSetMemClkVfOffset",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("offset", "c_int", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceSetMemoryLockedClocks",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("minMemClockMHz", "c_uint", Scalar),
            parameter("maxMemClockMHz", "c_uint", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceSetMigMode",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("mode", "c_uint", Scalar),
            parameter("activationStatus", "*mut nvmlReturn_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceSetNvLinkDeviceLowPowerThreshold",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("info", "*mut nvmlNvLinkPowerThres_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceSetNvLinkUtilizationControl",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("link", "c_uint", Scalar),
            parameter("counter", "c_uint", Scalar),
            parameter("control", "*mut nvmlNvLinkUtilizationControl_t", Pointer),
            parameter("reset", "c_uint", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceSetNvlinkBwMode",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("setBwMode", "*mut nvmlNvlinkSetBwMode_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceSetPersistenceMode",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("mode", "nvmlEnableState_t", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceSetPowerManagementLimit",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("limit", "c_uint", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceSetPowerManagementLimit_v2",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("powerValue", "*mut nvmlPowerValue_v2_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceSetPowerMizerMode_v1",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter(
                "powerMizerMode",
                "*mut nvmlDevicePowerMizerModes_v1_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlDeviceSetTemperatureThreshold",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("thresholdType", "nvmlTemperatureThresholds_t", Scalar),
            parameter("temp", "*mut c_int", Pointer),
        ],
    },
    Signature {
        name: "nvmlDeviceSetVgpuCapabilities",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("capability", "nvmlDeviceVgpuCapability_t", Scalar),
            parameter("state", "nvmlEnableState_t", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceSetVgpuHeterogeneousMode",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter(
                "pHeterogeneousMode",
                "*const nvmlVgpuHeterogeneousMode_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlDeviceSetVgpuSchedulerState",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter(
                "pSchedulerState",
                "*mut nvmlVgpuSchedulerSetState_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlDeviceSetVirtualizationMode",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("virtualMode", "nvmlGpuVirtualizationMode_t", Scalar),
        ],
    },
    Signature {
        name: "nvmlDeviceValidateInforom",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter("device", "nvmlDevice_t", Handle)],
    },
    Signature {
        name: "nvmlDeviceWorkloadPowerProfileClearRequestedProfiles",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter(
                "requestedProfiles",
                "*mut nvmlWorkloadPowerProfileRequestedProfiles_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlDeviceWorkloadPowerProfileGetCurrentProfiles",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter(
                "currentProfiles",
                "*mut nvmlWorkloadPowerProfileCurrentProfiles_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlDeviceWorkloadPowerProfileGetProfilesInfo",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter(
                "profilesInfo",
                "*mut nvmlWorkloadPowerProfileProfilesInfo_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlDeviceWorkloadPowerProfileSetRequestedProfiles",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter(
                "requestedProfiles",
                "*mut nvmlWorkloadPowerProfileRequestedProfiles_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlErrorString",
        since: 0,
        returns: "*const c_char",
        parameters: &[parameter("result", "nvmlReturn_t", Scalar)],
    },
    Signature {
        name: "nvmlEventSetCreate",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter("set", "*mut nvmlEventSet_t", Pointer)],
    },
    Signature {
        name: "nvmlEventSetFree",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter("set", "nvmlEventSet_t", Handle)],
    },
    Signature {
        name: "nvmlEventSetWait",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("set", "nvmlEventSet_t", Handle),
            parameter("data", "*mut nvmlEventData_t", Pointer),
            parameter("timeoutms", "c_uint", Scalar),
        ],
    },
    Signature {
        name: "nvmlEventSetWait_v2",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("set", "nvmlEventSet_t", Handle),
            parameter("data", "*mut nvmlEventData_t", Pointer),
            parameter("timeoutms", "c_uint", Scalar),
        ],
    },
    Signature {
        name: "nvmlGetExcludedDeviceCount",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter("deviceCount", "*mut c_uint", Pointer)],
    },
    Signature {
        name: "nvmlGetExcludedDeviceInfoByIndex",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("index", "c_uint", Scalar),
            parameter("info", "*mut nvmlExcludedDeviceInfo_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlGetVgpuCompatibility",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuMetadata", "*mut nvmlVgpuMetadata_t", Pointer),
            parameter("pgpuMetadata", "*mut nvmlVgpuPgpuMetadata_t", Pointer),
            parameter(
                "compatibilityInfo",
                "*mut nvmlVgpuPgpuCompatibility_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlGetVgpuDriverCapabilities",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("capability", "nvmlVgpuDriverCapability_t", Scalar),
            parameter("capResult", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlGetVgpuVersion",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("supported", "*mut nvmlVgpuVersion_t", Pointer),
            parameter("current", "*mut nvmlVgpuVersion_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlGpmMetricsGet",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter("metricsGet", "*mut nvmlGpmMetricsGet_t", Pointer)],
    },
    Signature {
        name: "nvmlGpmMigSampleGet",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("gpuInstanceId", "c_uint", Scalar),
            parameter("gpmSample", "nvmlGpmSample_t", Handle),
        ],
    },
    Signature {
        name: "nvmlGpmQueryDeviceSupport",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("gpmSupport", "*mut nvmlGpmSupport_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlGpmQueryIfStreamingEnabled",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("state", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlGpmSampleAlloc",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter("gpmSample", "*mut nvmlGpmSample_t", Pointer)],
    },
    Signature {
        name: "nvmlGpmSampleFree",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter("gpmSample", "nvmlGpmSample_t", Handle)],
    },
    Signature {
        name: "nvmlGpmSampleGet",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("gpmSample", "nvmlGpmSample_t", Handle),
        ],
    },
    Signature {
        name: "nvmlGpmSetStreamingEnabled",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("state", "c_uint", Scalar),
        ],
    },
    Signature {
        name: "nvmlGpuInstanceCreateComputeInstance",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("gpuInstance", "nvmlGpuInstance_t", Handle),
            parameter("profileId", "c_uint", Scalar),
            parameter("computeInstance", "*mut nvmlComputeInstance_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlGpuInstanceCreateComputeInstanceWithPlacement",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("gpuInstance", "nvmlGpuInstance_t", Handle),
            parameter("profileId", "c_uint", Scalar),
            parameter(
                "placement",
                "*const nvmlComputeInstancePlacement_t",
                Pointer,
            ),
            parameter("computeInstance", "*mut nvmlComputeInstance_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlGpuInstanceDestroy",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter("gpuInstance", "nvmlGpuInstance_t", Handle)],
    },
    Signature {
        name: "nvmlGpuInstanceGetActiveVgpus",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("gpuInstance", "nvmlGpuInstance_t", Handle),
            parameter(
                "pVgpuInstanceInfo",
                "*mut nvmlActiveVgpuInstanceInfo_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlGpuInstanceGetComputeInstanceById",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("gpuInstance", "nvmlGpuInstance_t", Handle),
            parameter("id", "c_uint", Scalar),
            parameter("computeInstance", "*mut nvmlComputeInstance_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlGpuInstanceGetComputeInstancePossiblePlacements",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("gpuInstance", "nvmlGpuInstance_t", Handle),
            parameter("profileId", "c_uint", Scalar),
            parameter("placements", "*mut nvmlComputeInstancePlacement_t", Pointer),
            parameter("count", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlGpuInstanceGetComputeInstanceProfileInfo",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("gpuInstance", "nvmlGpuInstance_t", Handle),
            parameter("profile", "c_uint", Scalar),
            parameter("engProfile", "c_uint", Scalar),
            parameter("info", "*mut nvmlComputeInstanceProfileInfo_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlGpuInstanceGetComputeInstanceProfileInfoV",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("gpuInstance", "nvmlGpuInstance_t", Handle),
            parameter("profile", "c_uint", Scalar),
            parameter("engProfile", "c_uint", Scalar),
            parameter("info", "*mut nvmlComputeInstanceProfileInfo_v2_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlGpuInstanceGetComputeInstanceRemainingCapacity",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("gpuInstance", "nvmlGpuInstance_t", Handle),
            parameter("profileId", "c_uint", Scalar),
            parameter("count", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlGpuInstanceGetComputeInstances",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("gpuInstance", "nvmlGpuInstance_t", Handle),
            parameter("profileId", "c_uint", Scalar),
            parameter("computeInstances", "*mut nvmlComputeInstance_t", Pointer),
            parameter("count", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlGpuInstanceGetCreatableVgpus",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("gpuInstance", "nvmlGpuInstance_t", Handle),
            parameter("pVgpus", "*mut nvmlVgpuTypeIdInfo_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlGpuInstanceGetInfo",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("gpuInstance", "nvmlGpuInstance_t", Handle),
            parameter("info", "*mut nvmlGpuInstanceInfo_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlGpuInstanceGetVgpuHeterogeneousMode",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("gpuInstance", "nvmlGpuInstance_t", Handle),
            parameter(
                "pHeterogeneousMode",
                "*mut nvmlVgpuHeterogeneousMode_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlGpuInstanceGetVgpuSchedulerLog",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("gpuInstance", "nvmlGpuInstance_t", Handle),
            parameter(
                "pSchedulerLogInfo",
                "*mut nvmlVgpuSchedulerLogInfo_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlGpuInstanceGetVgpuSchedulerState",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("gpuInstance", "nvmlGpuInstance_t", Handle),
            parameter(
                "pSchedulerStateInfo",
                "*mut nvmlVgpuSchedulerStateInfo_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlGpuInstanceGetVgpuTypeCreatablePlacements",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("gpuInstance", "nvmlGpuInstance_t", Handle),
            parameter(
                "pCreatablePlacementInfo",
                "*mut nvmlVgpuCreatablePlacementInfo_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlGpuInstanceSetVgpuHeterogeneousMode",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("gpuInstance", "nvmlGpuInstance_t", Handle),
            parameter(
                "pHeterogeneousMode",
                "*const nvmlVgpuHeterogeneousMode_t",
                Pointer,
            ),
        ],
    },
    Signature {
        name: "nvmlGpuInstanceSetVgpuSchedulerState",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("gpuInstance", "nvmlGpuInstance_t", Handle),
            parameter("pScheduler", "*mut nvmlVgpuSchedulerState_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlInit",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[],
    },
    Signature {
        name: "nvmlInitWithFlags",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter("flags", "c_uint", Scalar)],
    },
    Signature {
        name: "nvmlInit_v2",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[],
    },
    Signature {
        name: "nvmlSetVgpuVersion",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter("vgpuVersion", "*mut nvmlVgpuVersion_t", Pointer)],
    },
    Signature {
        name: "nvmlShutdown",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[],
    },
    Signature {
        name: "nvmlSystemEventSetCreate",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter(
            "request",
            "*mut nvmlSystemEventSetCreateRequest_t",
            Pointer,
        )],
    },
    Signature {
        name: "nvmlSystemEventSetFree",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter(
            "request",
            "*mut nvmlSystemEventSetFreeRequest_t",
            Pointer,
        )],
    },
    Signature {
        name: "nvmlSystemEventSetWait",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter(
            "request",
            "*mut nvmlSystemEventSetWaitRequest_t",
            Pointer,
        )],
    },
    Signature {
        name: "nvmlSystemGetConfComputeCapabilities",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter(
            "capabilities",
            "*mut nvmlConfComputeSystemCaps_t",
            Pointer,
        )],
    },
    Signature {
        name: "nvmlSystemGetConfComputeGpusReadyState",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter("isAcceptingWork", "*mut c_uint", Pointer)],
    },
    Signature {
        name: "nvmlSystemGetConfComputeKeyRotationThresholdInfo",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter(
            "pKeyRotationThrInfo",
            "*mut nvmlConfComputeGetKeyRotationThresholdInfo_t",
            Pointer,
        )],
    },
    Signature {
        name: "nvmlSystemGetConfComputeSettings",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter(
            "settings",
            "*mut nvmlSystemConfComputeSettings_t",
            Pointer,
        )],
    },
    Signature {
        name: "nvmlSystemGetConfComputeState",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter(
            "state",
            "*mut nvmlConfComputeSystemState_t",
            Pointer,
        )],
    },
    Signature {
        name: "nvmlSystemGetCudaDriverVersion",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter("cudaDriverVersion", "*mut c_int", Pointer)],
    },
    Signature {
        name: "nvmlSystemGetCudaDriverVersion_v2",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter("cudaDriverVersion", "*mut c_int", Pointer)],
    },
    Signature {
        name: "nvmlSystemGetDriverBranch",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("branchInfo", "*mut nvmlSystemDriverBranchInfo_t", Pointer),
            parameter("length", "c_uint", Scalar),
        ],
    },
    Signature {
        name: "nvmlSystemGetDriverVersion",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("version", "*mut c_char", Pointer),
            parameter("length", "c_uint", Scalar),
        ],
    },
    Signature {
        name: "nvmlSystemGetHicVersion",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("hwbcCount", "*mut c_uint", Pointer),
            parameter("hwbcEntries", "*mut nvmlHwbcEntry_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlSystemGetNVMLVersion",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("version", "*mut c_char", Pointer),
            parameter("length", "c_uint", Scalar),
        ],
    },
    Signature {
        name: "nvmlSystemGetNvlinkBwMode",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter("nvlinkBwMode", "*mut c_uint", Pointer)],
    },
    Signature {
        name: "nvmlSystemGetProcessName",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("pid", "c_uint", Scalar),
            parameter("name", "*mut c_char", Pointer),
            parameter("length", "c_uint", Scalar),
        ],
    },
    Signature {
        name: "nvmlSystemGetTopologyGpuSet",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("cpuNumber", "c_uint", Scalar),
            parameter("count", "*mut c_uint", Pointer),
            parameter("deviceArray", "*mut nvmlDevice_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlSystemRegisterEvents",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter(
            "request",
            "*mut nvmlSystemRegisterEventRequest_t",
            Pointer,
        )],
    },
    Signature {
        name: "nvmlSystemSetConfComputeGpusReadyState",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter("isAcceptingWork", "c_uint", Scalar)],
    },
    Signature {
        name: "nvmlSystemSetConfComputeKeyRotationThresholdInfo",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter(
            "pKeyRotationThrInfo",
            "*mut nvmlConfComputeSetKeyRotationThresholdInfo_t",
            Pointer,
        )],
    },
    Signature {
        name: "nvmlSystemSetNvlinkBwMode",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter("nvlinkBwMode", "c_uint", Scalar)],
    },
    Signature {
        name: "nvmlUnitGetCount",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter("unitCount", "*mut c_uint", Pointer)],
    },
    Signature {
        name: "nvmlUnitGetDevices",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("unit", "nvmlUnit_t", Handle),
            parameter("deviceCount", "*mut c_uint", Pointer),
            parameter("devices", "*mut nvmlDevice_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlUnitGetFanSpeedInfo",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("unit", "nvmlUnit_t", Handle),
            parameter("fanSpeeds", "*mut nvmlUnitFanSpeeds_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlUnitGetHandleByIndex",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("index", "c_uint", Scalar),
            parameter("unit", "*mut nvmlUnit_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlUnitGetLedState",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("unit", "nvmlUnit_t", Handle),
            parameter("state", "*mut nvmlLedState_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlUnitGetPsuInfo",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("unit", "nvmlUnit_t", Handle),
            parameter("psu", "*mut nvmlPSUInfo_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlUnitGetTemperature",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("unit", "nvmlUnit_t", Handle),
            parameter("type_", "c_uint", Scalar),
            parameter("temp", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlUnitGetUnitInfo",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("unit", "nvmlUnit_t", Handle),
            parameter("info", "*mut nvmlUnitInfo_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlUnitSetLedState",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("unit", "nvmlUnit_t", Handle),
            parameter("color", "nvmlLedColor_t", Scalar),
        ],
    },
    Signature {
        name: "nvmlVgpuInstanceClearAccountingPids",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter("vgpuInstance", "nvmlVgpuInstance_t", Scalar)],
    },
    Signature {
        name: "nvmlVgpuInstanceGetAccountingMode",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuInstance", "nvmlVgpuInstance_t", Scalar),
            parameter("mode", "*mut nvmlEnableState_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuInstanceGetAccountingPids",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuInstance", "nvmlVgpuInstance_t", Scalar),
            parameter("count", "*mut c_uint", Pointer),
            parameter("pids", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuInstanceGetAccountingStats",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuInstance", "nvmlVgpuInstance_t", Scalar),
            parameter("pid", "c_uint", Scalar),
            parameter("stats", "*mut nvmlAccountingStats_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuInstanceGetEccMode",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuInstance", "nvmlVgpuInstance_t", Scalar),
            parameter("eccMode", "*mut nvmlEnableState_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuInstanceGetEncoderCapacity",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuInstance", "nvmlVgpuInstance_t", Scalar),
            parameter("encoderCapacity", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuInstanceGetEncoderSessions",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuInstance", "nvmlVgpuInstance_t", Scalar),
            parameter("sessionCount", "*mut c_uint", Pointer),
            parameter("sessionInfo", "*mut nvmlEncoderSessionInfo_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuInstanceGetEncoderStats",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuInstance", "nvmlVgpuInstance_t", Scalar),
            parameter("sessionCount", "*mut c_uint", Pointer),
            parameter("averageFps", "*mut c_uint", Pointer),
            parameter("averageLatency", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuInstanceGetFBCSessions",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuInstance", "nvmlVgpuInstance_t", Scalar),
            parameter("sessionCount", "*mut c_uint", Pointer),
            parameter("sessionInfo", "*mut nvmlFBCSessionInfo_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuInstanceGetFBCStats",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuInstance", "nvmlVgpuInstance_t", Scalar),
            parameter("fbcStats", "*mut nvmlFBCStats_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuInstanceGetFbUsage",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuInstance", "nvmlVgpuInstance_t", Scalar),
            parameter("fbUsage", "*mut c_ulonglong", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuInstanceGetFrameRateLimit",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuInstance", "nvmlVgpuInstance_t", Scalar),
            parameter("frameRateLimit", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuInstanceGetGpuInstanceId",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuInstance", "nvmlVgpuInstance_t", Scalar),
            parameter("gpuInstanceId", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuInstanceGetGpuPciId",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuInstance", "nvmlVgpuInstance_t", Scalar),
            parameter("vgpuPciId", "*mut c_char", Pointer),
            parameter("length", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuInstanceGetLicenseInfo",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuInstance", "nvmlVgpuInstance_t", Scalar),
            parameter("licenseInfo", "*mut nvmlVgpuLicenseInfo_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuInstanceGetLicenseInfo_v2",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuInstance", "nvmlVgpuInstance_t", Scalar),
            parameter("licenseInfo", "*mut nvmlVgpuLicenseInfo_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuInstanceGetLicenseStatus",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuInstance", "nvmlVgpuInstance_t", Scalar),
            parameter("licensed", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuInstanceGetMdevUUID",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuInstance", "nvmlVgpuInstance_t", Scalar),
            parameter("mdevUuid", "*mut c_char", Pointer),
            parameter("size", "c_uint", Scalar),
        ],
    },
    Signature {
        name: "nvmlVgpuInstanceGetMetadata",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuInstance", "nvmlVgpuInstance_t", Scalar),
            parameter("vgpuMetadata", "*mut nvmlVgpuMetadata_t", Pointer),
            parameter("bufferSize", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuInstanceGetPlacementId",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuInstance", "nvmlVgpuInstance_t", Scalar),
            parameter("pPlacement", "*mut nvmlVgpuPlacementId_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuInstanceGetRuntimeStateSize",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuInstance", "nvmlVgpuInstance_t", Scalar),
            parameter("pState", "*mut nvmlVgpuRuntimeState_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuInstanceGetType",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuInstance", "nvmlVgpuInstance_t", Scalar),
            parameter("vgpuTypeId", "*mut nvmlVgpuTypeId_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuInstanceGetUUID",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuInstance", "nvmlVgpuInstance_t", Scalar),
            parameter("uuid", "*mut c_char", Pointer),
            parameter("size", "c_uint", Scalar),
        ],
    },
    Signature {
        name: "nvmlVgpuInstanceGetVmDriverVersion",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuInstance", "nvmlVgpuInstance_t", Scalar),
            parameter("version", "*mut c_char", Pointer),
            parameter("length", "c_uint", Scalar),
        ],
    },
    Signature {
        name: "nvmlVgpuInstanceGetVmID",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuInstance", "nvmlVgpuInstance_t", Scalar),
            parameter("vmId", "*mut c_char", Pointer),
            parameter("size", "c_uint", Scalar),
            parameter("vmIdType", "*mut nvmlVgpuVmIdType_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuInstanceSetEncoderCapacity",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuInstance", "nvmlVgpuInstance_t", Scalar),
            parameter("encoderCapacity", "c_uint", Scalar),
        ],
    },
    Signature {
        name: "nvmlVgpuTypeGetBAR1Info",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuTypeId", "nvmlVgpuTypeId_t", Scalar),
            parameter("bar1Info", "*mut nvmlVgpuTypeBar1Info_t", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuTypeGetCapabilities",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuTypeId", "nvmlVgpuTypeId_t", Scalar),
            parameter("capability", "nvmlVgpuCapability_t", Scalar),
            parameter("capResult", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuTypeGetClass",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuTypeId", "nvmlVgpuTypeId_t", Scalar),
            parameter("vgpuTypeClass", "*mut c_char", Pointer),
            parameter("size", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuTypeGetDeviceID",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuTypeId", "nvmlVgpuTypeId_t", Scalar),
            parameter("deviceID", "*mut c_ulonglong", Pointer),
            parameter("subsystemID", "*mut c_ulonglong", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuTypeGetFbReservation",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuTypeId", "nvmlVgpuTypeId_t", Scalar),
            parameter("fbReservation", "*mut c_ulonglong", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuTypeGetFrameRateLimit",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuTypeId", "nvmlVgpuTypeId_t", Scalar),
            parameter("frameRateLimit", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuTypeGetFramebufferSize",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuTypeId", "nvmlVgpuTypeId_t", Scalar),
            parameter("fbSize", "*mut c_ulonglong", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuTypeGetGpuInstanceProfileId",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuTypeId", "nvmlVgpuTypeId_t", Scalar),
            parameter("gpuInstanceProfileId", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuTypeGetGspHeapSize",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuTypeId", "nvmlVgpuTypeId_t", Scalar),
            parameter("gspHeapSize", "*mut c_ulonglong", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuTypeGetLicense",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuTypeId", "nvmlVgpuTypeId_t", Scalar),
            parameter("vgpuTypeLicenseString", "*mut c_char", Pointer),
            parameter("size", "c_uint", Scalar),
        ],
    },
    Signature {
        name: "nvmlVgpuTypeGetMaxInstances",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("device", "nvmlDevice_t", Handle),
            parameter("vgpuTypeId", "nvmlVgpuTypeId_t", Scalar),
            parameter("vgpuInstanceCount", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuTypeGetMaxInstancesPerGpuInstance",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[parameter(
            "pMaxInstance",
            "*mut nvmlVgpuTypeMaxInstance_t",
            Pointer,
        )],
    },
    Signature {
        name: "nvmlVgpuTypeGetMaxInstancesPerVm",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuTypeId", "nvmlVgpuTypeId_t", Scalar),
            parameter("vgpuInstanceCountPerVm", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuTypeGetName",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuTypeId", "nvmlVgpuTypeId_t", Scalar),
            parameter("vgpuTypeName", "*mut c_char", Pointer),
            parameter("size", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuTypeGetNumDisplayHeads",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuTypeId", "nvmlVgpuTypeId_t", Scalar),
            parameter("numDisplayHeads", "*mut c_uint", Pointer),
        ],
    },
    Signature {
        name: "nvmlVgpuTypeGetResolution",
        since: 0,
        returns: "nvmlReturn_t",
        parameters: &[
            parameter("vgpuTypeId", "nvmlVgpuTypeId_t", Scalar),
            parameter("displayIndex", "c_uint", Scalar),
            parameter("xdim", "*mut c_uint", Pointer),
            parameter("ydim", "*mut c_uint", Pointer),
        ],
    },
];
