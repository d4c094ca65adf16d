//! Types of NVML, from nvml-wrapper-sys 0.10.0 (by Cldfire, MIT OR Apache-2.0).
//!
//! Written by `cargo xtask codegen`; changes by hand are lost.
//!
//! Enumerations are integers: a value that is not known is passed on as it is.

#![allow(
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals
)]

use core::ffi::*;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlAccountingStats_st {
    pub gpuUtilization: c_uint,
    pub memoryUtilization: c_uint,
    pub maxMemoryUsage: c_ulonglong,
    pub time: c_ulonglong,
    pub startTime: c_ulonglong,
    pub isRunning: c_uint,
    pub reserved: [c_uint; 5usize],
}
pub type nvmlAccountingStats_t = nvmlAccountingStats_st;
pub type nvmlActiveVgpuInstanceInfo_t = nvmlActiveVgpuInstanceInfo_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlActiveVgpuInstanceInfo_v1_t {
    pub version: c_uint,
    pub vgpuCount: c_uint,
    pub vgpuInstances: *mut nvmlVgpuInstance_t,
}
pub type nvmlAffinityScope_t = c_uint;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlBAR1Memory_st {
    pub bar1Total: c_ulonglong,
    pub bar1Free: c_ulonglong,
    pub bar1Used: c_ulonglong,
}
pub type nvmlBAR1Memory_t = nvmlBAR1Memory_st;
pub type nvmlBrandType_enum = c_uint;
pub type nvmlBrandType_t = nvmlBrandType_enum;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlBridgeChipHierarchy_st {
    pub bridgeCount: c_uchar,
    pub bridgeChipInfo: [nvmlBridgeChipInfo_t; 128usize],
}
pub type nvmlBridgeChipHierarchy_t = nvmlBridgeChipHierarchy_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlBridgeChipInfo_st {
    pub type_: nvmlBridgeChipType_t,
    pub fwVersion: c_uint,
}
pub type nvmlBridgeChipInfo_t = nvmlBridgeChipInfo_st;
pub type nvmlBridgeChipType_enum = c_uint;
pub type nvmlBridgeChipType_t = nvmlBridgeChipType_enum;
pub type nvmlBusType_t = c_uint;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlC2cModeInfo_v1_t {
    pub isC2cEnabled: c_uint,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlClkMonFaultInfo_struct {
    pub clkApiDomain: c_uint,
    pub clkDomainFaultMask: c_uint,
}
pub type nvmlClkMonFaultInfo_t = nvmlClkMonFaultInfo_struct;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlClkMonStatus_status {
    pub bGlobalStatus: c_uint,
    pub clkMonListSize: c_uint,
    pub clkMonList: [nvmlClkMonFaultInfo_t; 32usize],
}
pub type nvmlClkMonStatus_t = nvmlClkMonStatus_status;
pub type nvmlClockId_enum = c_uint;
pub type nvmlClockId_t = nvmlClockId_enum;
pub type nvmlClockLimitId_enum = c_uint;
pub type nvmlClockLimitId_t = nvmlClockLimitId_enum;
pub type nvmlClockOffset_t = nvmlClockOffset_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlClockOffset_v1_t {
    pub version: c_uint,
    pub type_: nvmlClockType_t,
    pub pstate: nvmlPstates_t,
    pub clockOffsetMHz: c_int,
    pub minClockOffsetMHz: c_int,
    pub maxClockOffsetMHz: c_int,
}
pub type nvmlClockType_enum = c_uint;
pub type nvmlClockType_t = nvmlClockType_enum;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlComputeInstanceInfo_st {
    pub device: nvmlDevice_t,
    pub gpuInstance: nvmlGpuInstance_t,
    pub id: c_uint,
    pub profileId: c_uint,
    pub placement: nvmlComputeInstancePlacement_t,
}
pub type nvmlComputeInstanceInfo_t = nvmlComputeInstanceInfo_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlComputeInstancePlacement_st {
    pub start: c_uint,
    pub size: c_uint,
}
pub type nvmlComputeInstancePlacement_t = nvmlComputeInstancePlacement_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlComputeInstanceProfileInfo_st {
    pub id: c_uint,
    pub sliceCount: c_uint,
    pub instanceCount: c_uint,
    pub multiprocessorCount: c_uint,
    pub sharedCopyEngineCount: c_uint,
    pub sharedDecoderCount: c_uint,
    pub sharedEncoderCount: c_uint,
    pub sharedJpegCount: c_uint,
    pub sharedOfaCount: c_uint,
}
pub type nvmlComputeInstanceProfileInfo_t = nvmlComputeInstanceProfileInfo_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlComputeInstanceProfileInfo_v2_st {
    pub version: c_uint,
    pub id: c_uint,
    pub sliceCount: c_uint,
    pub instanceCount: c_uint,
    pub multiprocessorCount: c_uint,
    pub sharedCopyEngineCount: c_uint,
    pub sharedDecoderCount: c_uint,
    pub sharedEncoderCount: c_uint,
    pub sharedJpegCount: c_uint,
    pub sharedOfaCount: c_uint,
    pub name: [c_char; 96usize],
}
pub type nvmlComputeInstanceProfileInfo_v2_t = nvmlComputeInstanceProfileInfo_v2_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlComputeInstanceProfileInfo_v3_st {
    pub version: c_uint,
    pub id: c_uint,
    pub sliceCount: c_uint,
    pub instanceCount: c_uint,
    pub multiprocessorCount: c_uint,
    pub sharedCopyEngineCount: c_uint,
    pub sharedDecoderCount: c_uint,
    pub sharedEncoderCount: c_uint,
    pub sharedJpegCount: c_uint,
    pub sharedOfaCount: c_uint,
    pub name: [c_char; 96usize],
    pub capabilities: c_uint,
}
pub type nvmlComputeInstanceProfileInfo_v3_t = nvmlComputeInstanceProfileInfo_v3_st;
#[repr(C)]
#[derive(Debug)]
pub struct nvmlComputeInstance_st {
    _unused: [u8; 0],
}
pub type nvmlComputeInstance_t = *mut nvmlComputeInstance_st;
pub type nvmlComputeMode_enum = c_uint;
pub type nvmlComputeMode_t = nvmlComputeMode_enum;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlConfComputeGetKeyRotationThresholdInfo_st {
    pub version: c_uint,
    pub attackerAdvantage: c_ulonglong,
}
pub type nvmlConfComputeGetKeyRotationThresholdInfo_t =
    nvmlConfComputeGetKeyRotationThresholdInfo_v1_t;
pub type nvmlConfComputeGetKeyRotationThresholdInfo_v1_t =
    nvmlConfComputeGetKeyRotationThresholdInfo_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlConfComputeGpuAttestationReport_st {
    pub isCecAttestationReportPresent: c_uint,
    pub attestationReportSize: c_uint,
    pub cecAttestationReportSize: c_uint,
    pub nonce: [c_uchar; 32usize],
    pub attestationReport: [c_uchar; 8192usize],
    pub cecAttestationReport: [c_uchar; 4096usize],
}
pub type nvmlConfComputeGpuAttestationReport_t = nvmlConfComputeGpuAttestationReport_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlConfComputeGpuCertificate_st {
    pub certChainSize: c_uint,
    pub attestationCertChainSize: c_uint,
    pub certChain: [c_uchar; 4096usize],
    pub attestationCertChain: [c_uchar; 5120usize],
}
pub type nvmlConfComputeGpuCertificate_t = nvmlConfComputeGpuCertificate_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlConfComputeMemSizeInfo_st {
    pub protectedMemSizeKib: c_ulonglong,
    pub unprotectedMemSizeKib: c_ulonglong,
}
pub type nvmlConfComputeMemSizeInfo_t = nvmlConfComputeMemSizeInfo_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlConfComputeSetKeyRotationThresholdInfo_st {
    pub version: c_uint,
    pub maxAttackerAdvantage: c_ulonglong,
}
pub type nvmlConfComputeSetKeyRotationThresholdInfo_t =
    nvmlConfComputeSetKeyRotationThresholdInfo_v1_t;
pub type nvmlConfComputeSetKeyRotationThresholdInfo_v1_t =
    nvmlConfComputeSetKeyRotationThresholdInfo_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlConfComputeSystemCaps_st {
    pub cpuCaps: c_uint,
    pub gpusCaps: c_uint,
}
pub type nvmlConfComputeSystemCaps_t = nvmlConfComputeSystemCaps_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlConfComputeSystemState_st {
    pub environment: c_uint,
    pub ccFeature: c_uint,
    pub devToolsMode: c_uint,
}
pub type nvmlConfComputeSystemState_t = nvmlConfComputeSystemState_st;
pub type nvmlCoolerControl_enum = c_uint;
pub type nvmlCoolerControl_t = nvmlCoolerControl_enum;
pub type nvmlCoolerInfo_t = nvmlCoolerInfo_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlCoolerInfo_v1_t {
    pub version: c_uint,
    pub index: c_uint,
    pub signalType: nvmlCoolerControl_t,
    pub target: nvmlCoolerTarget_t,
}
pub type nvmlCoolerTarget_enum = c_uint;
pub type nvmlCoolerTarget_t = nvmlCoolerTarget_enum;
pub type nvmlDetachGpuState_enum = c_uint;
pub type nvmlDetachGpuState_t = nvmlDetachGpuState_enum;
pub type nvmlDeviceAddressingModeType_t = c_uint;
pub type nvmlDeviceAddressingMode_t = nvmlDeviceAddressingMode_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlDeviceAddressingMode_v1_t {
    pub version: c_uint,
    pub value: c_uint,
}
pub type nvmlDeviceArchitecture_t = c_uint;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlDeviceAttributes_st {
    pub multiprocessorCount: c_uint,
    pub sharedCopyEngineCount: c_uint,
    pub sharedDecoderCount: c_uint,
    pub sharedEncoderCount: c_uint,
    pub sharedJpegCount: c_uint,
    pub sharedOfaCount: c_uint,
    pub gpuInstanceSliceCount: c_uint,
    pub computeInstanceSliceCount: c_uint,
    pub memorySizeMB: c_ulonglong,
}
pub type nvmlDeviceAttributes_t = nvmlDeviceAttributes_st;
pub type nvmlDeviceCapabilities_t = nvmlDeviceCapabilities_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlDeviceCapabilities_v1_t {
    pub version: c_uint,
    pub capMask: c_uint,
}
pub type nvmlDeviceCurrentClockFreqs_t = nvmlDeviceCurrentClockFreqs_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlDeviceCurrentClockFreqs_v1_t {
    pub version: c_uint,
    pub str_: [c_char; 2048usize],
}
pub type nvmlDeviceGpuRecoveryAction_s = c_uint;
pub type nvmlDeviceGpuRecoveryAction_t = nvmlDeviceGpuRecoveryAction_s;
pub type nvmlDevicePerfModes_t = nvmlDevicePerfModes_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlDevicePerfModes_v1_t {
    pub version: c_uint,
    pub str_: [c_char; 2048usize],
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlDevicePowerMizerModes_v1_t {
    pub currentMode: c_uint,
    pub mode: c_uint,
    pub supportedPowerMizerModes: c_uint,
}
pub type nvmlDeviceVgpuCapability_enum = c_uint;
pub type nvmlDeviceVgpuCapability_t = nvmlDeviceVgpuCapability_enum;
#[repr(C)]
#[derive(Debug)]
pub struct nvmlDevice_st {
    _unused: [u8; 0],
}
pub type nvmlDevice_t = *mut nvmlDevice_st;
pub type nvmlDramEncryptionInfo_t = nvmlDramEncryptionInfo_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlDramEncryptionInfo_v1_t {
    pub version: c_uint,
    pub encryptionState: nvmlEnableState_t,
}
pub type nvmlDriverModel_enum = c_uint;
pub type nvmlDriverModel_t = nvmlDriverModel_enum;
pub type nvmlEccCounterType_enum = c_uint;
pub type nvmlEccCounterType_t = nvmlEccCounterType_enum;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlEccErrorCounts_st {
    pub l1Cache: c_ulonglong,
    pub l2Cache: c_ulonglong,
    pub deviceMemory: c_ulonglong,
    pub registerFile: c_ulonglong,
}
pub type nvmlEccErrorCounts_t = nvmlEccErrorCounts_st;
pub type nvmlEccSramErrorStatus_t = nvmlEccSramErrorStatus_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlEccSramErrorStatus_v1_t {
    pub version: c_uint,
    pub aggregateUncParity: c_ulonglong,
    pub aggregateUncSecDed: c_ulonglong,
    pub aggregateCor: c_ulonglong,
    pub volatileUncParity: c_ulonglong,
    pub volatileUncSecDed: c_ulonglong,
    pub volatileCor: c_ulonglong,
    pub aggregateUncBucketL2: c_ulonglong,
    pub aggregateUncBucketSm: c_ulonglong,
    pub aggregateUncBucketPcie: c_ulonglong,
    pub aggregateUncBucketMcu: c_ulonglong,
    pub aggregateUncBucketOther: c_ulonglong,
    pub bThresholdExceeded: c_uint,
}
pub type nvmlEccSramUniqueUncorrectedErrorCounts_t = nvmlEccSramUniqueUncorrectedErrorCounts_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlEccSramUniqueUncorrectedErrorCounts_v1_t {
    pub version: c_uint,
    pub entryCount: c_uint,
    pub entries: *mut nvmlEccSramUniqueUncorrectedErrorEntry_v1_t,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlEccSramUniqueUncorrectedErrorEntry_v1_t {
    pub unit: c_uint,
    pub location: c_uint,
    pub sublocation: c_uint,
    pub extlocation: c_uint,
    pub address: c_uint,
    pub isParity: c_uint,
    pub count: c_uint,
}
pub type nvmlEnableState_enum = c_uint;
pub type nvmlEnableState_t = nvmlEnableState_enum;
pub type nvmlEncoderQueryType_enum = c_uint;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlEncoderSessionInfo_st {
    pub sessionId: c_uint,
    pub pid: c_uint,
    pub vgpuInstance: nvmlVgpuInstance_t,
    pub codecType: nvmlEncoderType_t,
    pub hResolution: c_uint,
    pub vResolution: c_uint,
    pub averageFps: c_uint,
    pub averageLatency: c_uint,
}
pub type nvmlEncoderSessionInfo_t = nvmlEncoderSessionInfo_st;
pub type nvmlEncoderType_t = nvmlEncoderQueryType_enum;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlEventData_st {
    pub device: nvmlDevice_t,
    pub eventType: c_ulonglong,
    pub eventData: c_ulonglong,
    pub gpuInstanceId: c_uint,
    pub computeInstanceId: c_uint,
}
pub type nvmlEventData_t = nvmlEventData_st;
#[repr(C)]
#[derive(Debug)]
pub struct nvmlEventSet_st {
    _unused: [u8; 0],
}
pub type nvmlEventSet_t = *mut nvmlEventSet_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlExcludedDeviceInfo_st {
    pub pciInfo: nvmlPciInfo_t,
    pub uuid: [c_char; 80usize],
}
pub type nvmlExcludedDeviceInfo_t = nvmlExcludedDeviceInfo_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlFBCSessionInfo_st {
    pub sessionId: c_uint,
    pub pid: c_uint,
    pub vgpuInstance: nvmlVgpuInstance_t,
    pub displayOrdinal: c_uint,
    pub sessionType: nvmlFBCSessionType_t,
    pub sessionFlags: c_uint,
    pub hMaxResolution: c_uint,
    pub vMaxResolution: c_uint,
    pub hResolution: c_uint,
    pub vResolution: c_uint,
    pub averageFPS: c_uint,
    pub averageLatency: c_uint,
}
pub type nvmlFBCSessionInfo_t = nvmlFBCSessionInfo_st;
pub type nvmlFBCSessionType_enum = c_uint;
pub type nvmlFBCSessionType_t = nvmlFBCSessionType_enum;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlFBCStats_st {
    pub sessionsCount: c_uint,
    pub averageFPS: c_uint,
    pub averageLatency: c_uint,
}
pub type nvmlFBCStats_t = nvmlFBCStats_st;
pub type nvmlFanControlPolicy_t = c_uint;
pub type nvmlFanSpeedInfo_t = nvmlFanSpeedInfo_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlFanSpeedInfo_v1_t {
    pub version: c_uint,
    pub fan: c_uint,
    pub speed: c_uint,
}
pub type nvmlFanState_enum = c_uint;
pub type nvmlFanState_t = nvmlFanState_enum;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlFieldValue_st {
    pub fieldId: c_uint,
    pub scopeId: c_uint,
    pub timestamp: c_longlong,
    pub latencyUsec: c_longlong,
    pub valueType: nvmlValueType_t,
    pub nvmlReturn: nvmlReturn_t,
    pub value: nvmlValue_t,
}
pub type nvmlFieldValue_t = nvmlFieldValue_st;
pub type nvmlGom_enum = c_uint;
pub type nvmlGpmMetricId_t = c_uint;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlGpmMetric_t {
    pub metricId: c_uint,
    pub nvmlReturn: nvmlReturn_t,
    pub value: f64,
    pub metricInfo: nvmlGpmMetric_t__bindgen_ty_1,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlGpmMetric_t__bindgen_ty_1 {
    pub shortName: *mut c_char,
    pub longName: *mut c_char,
    pub unit: *mut c_char,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlGpmMetricsGet_t {
    pub version: c_uint,
    pub numMetrics: c_uint,
    pub sample1: nvmlGpmSample_t,
    pub sample2: nvmlGpmSample_t,
    pub metrics: [nvmlGpmMetric_t; 210usize],
}
#[repr(C)]
#[derive(Debug)]
pub struct nvmlGpmSample_st {
    _unused: [u8; 0],
}
pub type nvmlGpmSample_t = *mut nvmlGpmSample_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlGpmSupport_t {
    pub version: c_uint,
    pub isSupportedDevice: c_uint,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlGpuDynamicPstatesInfo_st {
    pub flags: c_uint,
    pub utilization: [nvmlGpuDynamicPstatesInfo_st__bindgen_ty_1; 8usize],
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlGpuDynamicPstatesInfo_st__bindgen_ty_1 {
    pub bIsPresent: c_uint,
    pub percentage: c_uint,
    pub incThreshold: c_uint,
    pub decThreshold: c_uint,
}
pub type nvmlGpuDynamicPstatesInfo_t = nvmlGpuDynamicPstatesInfo_st;
pub type nvmlGpuFabricInfoV_t = nvmlGpuFabricInfo_v3_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlGpuFabricInfo_t {
    pub clusterUuid: [c_uchar; 16usize],
    pub status: nvmlReturn_t,
    pub cliqueId: c_uint,
    pub state: nvmlGpuFabricState_t,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlGpuFabricInfo_v2_t {
    pub version: c_uint,
    pub clusterUuid: [c_uchar; 16usize],
    pub status: nvmlReturn_t,
    pub cliqueId: c_uint,
    pub state: nvmlGpuFabricState_t,
    pub healthMask: c_uint,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlGpuFabricInfo_v3_t {
    pub version: c_uint,
    pub clusterUuid: [c_uchar; 16usize],
    pub status: nvmlReturn_t,
    pub cliqueId: c_uint,
    pub state: nvmlGpuFabricState_t,
    pub healthMask: c_uint,
    pub healthSummary: c_uchar,
}
pub type nvmlGpuFabricState_t = c_uchar;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlGpuInstanceInfo_st {
    pub device: nvmlDevice_t,
    pub id: c_uint,
    pub profileId: c_uint,
    pub placement: nvmlGpuInstancePlacement_t,
}
pub type nvmlGpuInstanceInfo_t = nvmlGpuInstanceInfo_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlGpuInstancePlacement_st {
    pub start: c_uint,
    pub size: c_uint,
}
pub type nvmlGpuInstancePlacement_t = nvmlGpuInstancePlacement_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlGpuInstanceProfileInfo_st {
    pub id: c_uint,
    pub isP2pSupported: c_uint,
    pub sliceCount: c_uint,
    pub instanceCount: c_uint,
    pub multiprocessorCount: c_uint,
    pub copyEngineCount: c_uint,
    pub decoderCount: c_uint,
    pub encoderCount: c_uint,
    pub jpegCount: c_uint,
    pub ofaCount: c_uint,
    pub memorySizeMB: c_ulonglong,
}
pub type nvmlGpuInstanceProfileInfo_t = nvmlGpuInstanceProfileInfo_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlGpuInstanceProfileInfo_v2_st {
    pub version: c_uint,
    pub id: c_uint,
    pub isP2pSupported: c_uint,
    pub sliceCount: c_uint,
    pub instanceCount: c_uint,
    pub multiprocessorCount: c_uint,
    pub copyEngineCount: c_uint,
    pub decoderCount: c_uint,
    pub encoderCount: c_uint,
    pub jpegCount: c_uint,
    pub ofaCount: c_uint,
    pub memorySizeMB: c_ulonglong,
    pub name: [c_char; 96usize],
}
pub type nvmlGpuInstanceProfileInfo_v2_t = nvmlGpuInstanceProfileInfo_v2_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlGpuInstanceProfileInfo_v3_st {
    pub version: c_uint,
    pub id: c_uint,
    pub sliceCount: c_uint,
    pub instanceCount: c_uint,
    pub multiprocessorCount: c_uint,
    pub copyEngineCount: c_uint,
    pub decoderCount: c_uint,
    pub encoderCount: c_uint,
    pub jpegCount: c_uint,
    pub ofaCount: c_uint,
    pub memorySizeMB: c_ulonglong,
    pub name: [c_char; 96usize],
    pub capabilities: c_uint,
}
pub type nvmlGpuInstanceProfileInfo_v3_t = nvmlGpuInstanceProfileInfo_v3_st;
#[repr(C)]
#[derive(Debug)]
pub struct nvmlGpuInstance_st {
    _unused: [u8; 0],
}
pub type nvmlGpuInstance_t = *mut nvmlGpuInstance_st;
pub type nvmlGpuLevel_enum = c_uint;
pub type nvmlGpuOperationMode_t = nvmlGom_enum;
pub type nvmlGpuP2PCapsIndex_enum = c_uint;
pub type nvmlGpuP2PCapsIndex_t = nvmlGpuP2PCapsIndex_enum;
pub type nvmlGpuP2PStatus_enum = c_uint;
pub type nvmlGpuP2PStatus_t = nvmlGpuP2PStatus_enum;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlGpuThermalSettings_t {
    pub count: c_uint,
    pub sensor: [nvmlGpuThermalSettings_t__bindgen_ty_1; 3usize],
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlGpuThermalSettings_t__bindgen_ty_1 {
    pub controller: nvmlThermalController_t,
    pub defaultMinTemp: c_int,
    pub defaultMaxTemp: c_int,
    pub currentTemp: c_int,
    pub target: nvmlThermalTarget_t,
}
pub type nvmlGpuTopologyLevel_t = nvmlGpuLevel_enum;
pub type nvmlGpuUtilizationDomainId_t = c_uint;
pub type nvmlGpuVirtualizationMode = c_uint;
pub type nvmlGpuVirtualizationMode_t = nvmlGpuVirtualizationMode;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlGridLicensableFeature_st {
    pub featureCode: nvmlGridLicenseFeatureCode_t,
    pub featureState: c_uint,
    pub licenseInfo: [c_char; 128usize],
    pub productName: [c_char; 128usize],
    pub featureEnabled: c_uint,
    pub licenseExpiry: nvmlGridLicenseExpiry_t,
}
pub type nvmlGridLicensableFeature_t = nvmlGridLicensableFeature_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlGridLicensableFeatures_st {
    pub isGridLicenseSupported: c_int,
    pub licensableFeaturesCount: c_uint,
    pub gridLicensableFeatures: [nvmlGridLicensableFeature_t; 3usize],
}
pub type nvmlGridLicensableFeatures_t = nvmlGridLicensableFeatures_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlGridLicenseExpiry_st {
    pub year: c_uint,
    pub month: c_ushort,
    pub day: c_ushort,
    pub hour: c_ushort,
    pub min: c_ushort,
    pub sec: c_ushort,
    pub status: c_uchar,
}
pub type nvmlGridLicenseExpiry_t = nvmlGridLicenseExpiry_st;
pub type nvmlGridLicenseFeatureCode_t = c_uint;
pub type nvmlHostVgpuMode_enum = c_uint;
pub type nvmlHostVgpuMode_t = nvmlHostVgpuMode_enum;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlHwbcEntry_st {
    pub hwbcId: c_uint,
    pub firmwareVersion: [c_char; 32usize],
}
pub type nvmlHwbcEntry_t = nvmlHwbcEntry_st;
pub type nvmlInforomObject_enum = c_uint;
pub type nvmlInforomObject_t = nvmlInforomObject_enum;
pub type nvmlIntNvLinkDeviceType_enum = c_uint;
pub type nvmlIntNvLinkDeviceType_t = nvmlIntNvLinkDeviceType_enum;
pub type nvmlLedColor_enum = c_uint;
pub type nvmlLedColor_t = nvmlLedColor_enum;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlLedState_st {
    pub cause: [c_char; 256usize],
    pub color: nvmlLedColor_t,
}
pub type nvmlLedState_t = nvmlLedState_st;
pub type nvmlMarginTemperature_t = nvmlMarginTemperature_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlMarginTemperature_v1_t {
    pub version: c_uint,
    pub marginTemperature: c_int,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlMask255_t {
    pub mask: [c_uint; 8usize],
}
pub type nvmlMemoryErrorType_enum = c_uint;
pub type nvmlMemoryErrorType_t = nvmlMemoryErrorType_enum;
pub type nvmlMemoryLocation_enum = c_uint;
pub type nvmlMemoryLocation_t = nvmlMemoryLocation_enum;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlMemory_st {
    pub total: c_ulonglong,
    pub free: c_ulonglong,
    pub used: c_ulonglong,
}
pub type nvmlMemory_t = nvmlMemory_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlMemory_v2_st {
    pub version: c_uint,
    pub total: c_ulonglong,
    pub reserved: c_ulonglong,
    pub free: c_ulonglong,
    pub used: c_ulonglong,
}
pub type nvmlMemory_v2_t = nvmlMemory_v2_st;
pub type nvmlNvLinkCapability_enum = c_uint;
pub type nvmlNvLinkCapability_t = nvmlNvLinkCapability_enum;
pub type nvmlNvLinkErrorCounter_enum = c_uint;
pub type nvmlNvLinkErrorCounter_t = nvmlNvLinkErrorCounter_enum;
pub type nvmlNvLinkInfo_t = nvmlNvLinkInfo_v2_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlNvLinkInfo_v1_t {
    pub version: c_uint,
    pub isNvleEnabled: c_uint,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlNvLinkInfo_v2_t {
    pub version: c_uint,
    pub isNvleEnabled: c_uint,
    pub firmwareInfo: nvmlNvlinkFirmwareInfo_t,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlNvLinkPowerThres_st {
    pub lowPwrThreshold: c_uint,
}
pub type nvmlNvLinkPowerThres_t = nvmlNvLinkPowerThres_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlNvLinkUtilizationControl_st {
    pub units: nvmlNvLinkUtilizationCountUnits_t,
    pub pktfilter: nvmlNvLinkUtilizationCountPktTypes_t,
}
pub type nvmlNvLinkUtilizationControl_t = nvmlNvLinkUtilizationControl_st;
pub type nvmlNvLinkUtilizationCountPktTypes_enum = c_uint;
pub type nvmlNvLinkUtilizationCountPktTypes_t = nvmlNvLinkUtilizationCountPktTypes_enum;
pub type nvmlNvLinkUtilizationCountUnits_enum = c_uint;
pub type nvmlNvLinkUtilizationCountUnits_t = nvmlNvLinkUtilizationCountUnits_enum;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlNvlinkFirmwareInfo_t {
    pub firmwareVersion: [nvmlNvlinkFirmwareVersion_t; 100usize],
    pub numValidEntries: c_uint,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlNvlinkFirmwareVersion_t {
    pub ucodeType: c_uchar,
    pub major: c_uint,
    pub minor: c_uint,
    pub subMinor: c_uint,
}
pub type nvmlNvlinkGetBwMode_t = nvmlNvlinkGetBwMode_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlNvlinkGetBwMode_v1_t {
    pub version: c_uint,
    pub bIsBest: c_uint,
    pub bwMode: c_uchar,
}
pub type nvmlNvlinkSetBwMode_t = nvmlNvlinkSetBwMode_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlNvlinkSetBwMode_v1_t {
    pub version: c_uint,
    pub bSetBest: c_uint,
    pub bwMode: c_uchar,
}
pub type nvmlNvlinkSupportedBwModes_t = nvmlNvlinkSupportedBwModes_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlNvlinkSupportedBwModes_v1_t {
    pub version: c_uint,
    pub bwModes: [c_uchar; 23usize],
    pub totalBwModes: c_uchar,
}
pub type nvmlNvlinkVersion_enum = c_uint;
pub type nvmlNvlinkVersion_t = nvmlNvlinkVersion_enum;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlPRMTLV_v1_t {
    pub dataSize: c_uint,
    pub status: c_uint,
    pub __bindgen_anon_1: nvmlPRMTLV_v1_t__bindgen_ty_1,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub union nvmlPRMTLV_v1_t__bindgen_ty_1 {
    pub inData: [c_uchar; 496usize],
    pub outData: [c_uchar; 496usize],
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlPSUInfo_st {
    pub state: [c_char; 256usize],
    pub current: c_uint,
    pub voltage: c_uint,
    pub power: c_uint,
}
pub type nvmlPSUInfo_t = nvmlPSUInfo_st;
pub type nvmlPStates_enum = c_uint;
pub type nvmlPageRetirementCause_enum = c_uint;
pub type nvmlPageRetirementCause_t = nvmlPageRetirementCause_enum;
pub type nvmlPciInfoExt_t = nvmlPciInfoExt_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlPciInfoExt_v1_t {
    pub version: c_uint,
    pub domain: c_uint,
    pub bus: c_uint,
    pub device: c_uint,
    pub pciDeviceId: c_uint,
    pub pciSubSystemId: c_uint,
    pub baseClass: c_uint,
    pub subClass: c_uint,
    pub busId: [c_char; 32usize],
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlPciInfo_st {
    pub busIdLegacy: [c_char; 16usize],
    pub domain: c_uint,
    pub bus: c_uint,
    pub device: c_uint,
    pub pciDeviceId: c_uint,
    pub pciSubSystemId: c_uint,
    pub busId: [c_char; 32usize],
}
pub type nvmlPciInfo_t = nvmlPciInfo_st;
pub type nvmlPcieLinkState_enum = c_uint;
pub type nvmlPcieLinkState_t = nvmlPcieLinkState_enum;
pub type nvmlPcieUtilCounter_enum = c_uint;
pub type nvmlPcieUtilCounter_t = nvmlPcieUtilCounter_enum;
pub type nvmlPdi_t = nvmlPdi_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlPdi_v1_t {
    pub version: c_uint,
    pub value: c_ulonglong,
}
pub type nvmlPerfPolicyType_enum = c_uint;
pub type nvmlPerfPolicyType_t = nvmlPerfPolicyType_enum;
pub type nvmlPlatformInfo_t = nvmlPlatformInfo_v2_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlPlatformInfo_v1_t {
    pub version: c_uint,
    pub ibGuid: [c_uchar; 16usize],
    pub rackGuid: [c_uchar; 16usize],
    pub chassisPhysicalSlotNumber: c_uchar,
    pub computeSlotIndex: c_uchar,
    pub nodeIndex: c_uchar,
    pub peerType: c_uchar,
    pub moduleId: c_uchar,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlPlatformInfo_v2_t {
    pub version: c_uint,
    pub ibGuid: [c_uchar; 16usize],
    pub chassisSerialNumber: [c_uchar; 16usize],
    pub slotNumber: c_uchar,
    pub trayIndex: c_uchar,
    pub hostId: c_uchar,
    pub peerType: c_uchar,
    pub moduleId: c_uchar,
}
pub type nvmlPowerProfileType_t = c_uint;
pub type nvmlPowerScopeType_t = c_uchar;
pub type nvmlPowerSmoothingProfile_t = nvmlPowerSmoothingProfile_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlPowerSmoothingProfile_v1_t {
    pub version: c_uint,
    pub profileId: c_uint,
    pub paramId: c_uint,
    pub value: f64,
}
pub type nvmlPowerSmoothingState_t = nvmlPowerSmoothingState_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlPowerSmoothingState_v1_t {
    pub version: c_uint,
    pub state: nvmlEnableState_t,
}
pub type nvmlPowerSource_t = c_uint;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlPowerValue_v2_t {
    pub version: c_uint,
    pub powerScope: nvmlPowerScopeType_t,
    pub powerValueMw: c_uint,
}
pub type nvmlProcessDetailList_t = nvmlProcessDetailList_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlProcessDetailList_v1_t {
    pub version: c_uint,
    pub mode: c_uint,
    pub numProcArrayEntries: c_uint,
    pub procArray: *mut nvmlProcessDetail_v1_t,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlProcessDetail_v1_t {
    pub pid: c_uint,
    pub usedGpuMemory: c_ulonglong,
    pub gpuInstanceId: c_uint,
    pub computeInstanceId: c_uint,
    pub usedGpuCcProtectedMemory: c_ulonglong,
}
pub type nvmlProcessInfo_t = nvmlProcessInfo_v2_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlProcessInfo_v1_st {
    pub pid: c_uint,
    pub usedGpuMemory: c_ulonglong,
}
pub type nvmlProcessInfo_v1_t = nvmlProcessInfo_v1_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlProcessInfo_v2_st {
    pub pid: c_uint,
    pub usedGpuMemory: c_ulonglong,
    pub gpuInstanceId: c_uint,
    pub computeInstanceId: c_uint,
}
pub type nvmlProcessInfo_v2_t = nvmlProcessInfo_v2_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlProcessUtilizationInfo_v1_t {
    pub timeStamp: c_ulonglong,
    pub pid: c_uint,
    pub smUtil: c_uint,
    pub memUtil: c_uint,
    pub encUtil: c_uint,
    pub decUtil: c_uint,
    pub jpgUtil: c_uint,
    pub ofaUtil: c_uint,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlProcessUtilizationSample_st {
    pub pid: c_uint,
    pub timeStamp: c_ulonglong,
    pub smUtil: c_uint,
    pub memUtil: c_uint,
    pub encUtil: c_uint,
    pub decUtil: c_uint,
}
pub type nvmlProcessUtilizationSample_t = nvmlProcessUtilizationSample_st;
pub type nvmlProcessesUtilizationInfo_t = nvmlProcessesUtilizationInfo_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlProcessesUtilizationInfo_v1_t {
    pub version: c_uint,
    pub processSamplesCount: c_uint,
    pub lastSeenTimeStamp: c_ulonglong,
    pub procUtilArray: *mut nvmlProcessUtilizationInfo_v1_t,
}
pub type nvmlPstates_t = nvmlPStates_enum;
pub type nvmlRepairStatus_t = nvmlRepairStatus_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlRepairStatus_v1_t {
    pub version: c_uint,
    pub bChannelRepairPending: c_uint,
    pub bTpcRepairPending: c_uint,
}
pub type nvmlRestrictedAPI_enum = c_uint;
pub type nvmlRestrictedAPI_t = nvmlRestrictedAPI_enum;
pub type nvmlReturn_enum = c_uint;
pub type nvmlReturn_t = nvmlReturn_enum;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlRowRemapperHistogramValues_st {
    pub max: c_uint,
    pub high: c_uint,
    pub partial: c_uint,
    pub low: c_uint,
    pub none: c_uint,
}
pub type nvmlRowRemapperHistogramValues_t = nvmlRowRemapperHistogramValues_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlSample_st {
    pub timeStamp: c_ulonglong,
    pub sampleValue: nvmlValue_t,
}
pub type nvmlSample_t = nvmlSample_st;
pub type nvmlSamplingType_enum = c_uint;
pub type nvmlSamplingType_t = nvmlSamplingType_enum;
pub type nvmlSystemConfComputeSettings_t = nvmlSystemConfComputeSettings_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlSystemConfComputeSettings_v1_t {
    pub version: c_uint,
    pub environment: c_uint,
    pub ccFeature: c_uint,
    pub devToolsMode: c_uint,
    pub multiGpuMode: c_uint,
}
pub type nvmlSystemDriverBranchInfo_t = nvmlSystemDriverBranchInfo_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlSystemDriverBranchInfo_v1_t {
    pub version: c_uint,
    pub branch: [c_char; 80usize],
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlSystemEventData_v1_t {
    pub eventType: c_ulonglong,
    pub gpuId: c_uint,
}
pub type nvmlSystemEventSetCreateRequest_t = nvmlSystemEventSetCreateRequest_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlSystemEventSetCreateRequest_v1_t {
    pub version: c_uint,
    pub set: nvmlSystemEventSet_t,
}
pub type nvmlSystemEventSetFreeRequest_t = nvmlSystemEventSetFreeRequest_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlSystemEventSetFreeRequest_v1_t {
    pub version: c_uint,
    pub set: nvmlSystemEventSet_t,
}
pub type nvmlSystemEventSetWaitRequest_t = nvmlSystemEventSetWaitRequest_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlSystemEventSetWaitRequest_v1_t {
    pub version: c_uint,
    pub timeoutms: c_uint,
    pub set: nvmlSystemEventSet_t,
    pub data: *mut nvmlSystemEventData_v1_t,
    pub dataSize: c_uint,
    pub numEvent: c_uint,
}
#[repr(C)]
#[derive(Debug)]
pub struct nvmlSystemEventSet_st {
    _unused: [u8; 0],
}
pub type nvmlSystemEventSet_t = *mut nvmlSystemEventSet_st;
pub type nvmlSystemRegisterEventRequest_t = nvmlSystemRegisterEventRequest_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlSystemRegisterEventRequest_v1_t {
    pub version: c_uint,
    pub eventTypes: c_ulonglong,
    pub set: nvmlSystemEventSet_t,
}
pub type nvmlTemperatureSensors_enum = c_uint;
pub type nvmlTemperatureSensors_t = nvmlTemperatureSensors_enum;
pub type nvmlTemperatureThresholds_enum = c_uint;
pub type nvmlTemperatureThresholds_t = nvmlTemperatureThresholds_enum;
pub type nvmlTemperature_t = nvmlTemperature_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlTemperature_v1_t {
    pub version: c_uint,
    pub sensorType: nvmlTemperatureSensors_t,
    pub temperature: c_int,
}
pub type nvmlThermalController_t = c_int;
pub type nvmlThermalTarget_t = c_int;
pub type nvmlUUIDType_t = c_uint;
#[repr(C)]
#[derive(Clone, Copy)]
pub union nvmlUUIDValue_t {
    pub str_: [c_char; 41usize],
    pub bytes: [c_uchar; 16usize],
}
pub type nvmlUUID_t = nvmlUUID_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlUUID_v1_t {
    pub version: c_uint,
    pub type_: c_uint,
    pub value: nvmlUUIDValue_t,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlUnitFanInfo_st {
    pub speed: c_uint,
    pub state: nvmlFanState_t,
}
pub type nvmlUnitFanInfo_t = nvmlUnitFanInfo_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlUnitFanSpeeds_st {
    pub fans: [nvmlUnitFanInfo_t; 24usize],
    pub count: c_uint,
}
pub type nvmlUnitFanSpeeds_t = nvmlUnitFanSpeeds_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlUnitInfo_st {
    pub name: [c_char; 96usize],
    pub id: [c_char; 96usize],
    pub serial: [c_char; 96usize],
    pub firmwareVersion: [c_char; 96usize],
}
pub type nvmlUnitInfo_t = nvmlUnitInfo_st;
#[repr(C)]
#[derive(Debug)]
pub struct nvmlUnit_st {
    _unused: [u8; 0],
}
pub type nvmlUnit_t = *mut nvmlUnit_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlUtilization_st {
    pub gpu: c_uint,
    pub memory: c_uint,
}
pub type nvmlUtilization_t = nvmlUtilization_st;
pub type nvmlValueType_enum = c_uint;
pub type nvmlValueType_t = nvmlValueType_enum;
#[repr(C)]
#[derive(Clone, Copy)]
pub union nvmlValue_st {
    pub dVal: f64,
    pub siVal: c_int,
    pub uiVal: c_uint,
    pub ulVal: c_ulong,
    pub ullVal: c_ulonglong,
    pub sllVal: c_longlong,
    pub usVal: c_ushort,
}
pub type nvmlValue_t = nvmlValue_st;
pub type nvmlVgpuCapability_enum = c_uint;
pub type nvmlVgpuCapability_t = nvmlVgpuCapability_enum;
pub type nvmlVgpuCreatablePlacementInfo_t = nvmlVgpuCreatablePlacementInfo_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuCreatablePlacementInfo_v1_t {
    pub version: c_uint,
    pub vgpuTypeId: nvmlVgpuTypeId_t,
    pub count: c_uint,
    pub placementIds: *mut c_uint,
    pub placementSize: c_uint,
}
pub type nvmlVgpuDriverCapability_enum = c_uint;
pub type nvmlVgpuDriverCapability_t = nvmlVgpuDriverCapability_enum;
pub type nvmlVgpuGuestInfoState_enum = c_uint;
pub type nvmlVgpuGuestInfoState_t = nvmlVgpuGuestInfoState_enum;
pub type nvmlVgpuHeterogeneousMode_t = nvmlVgpuHeterogeneousMode_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuHeterogeneousMode_v1_t {
    pub version: c_uint,
    pub mode: c_uint,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuInstanceUtilizationInfo_v1_t {
    pub timeStamp: c_ulonglong,
    pub vgpuInstance: nvmlVgpuInstance_t,
    pub smUtil: nvmlValue_t,
    pub memUtil: nvmlValue_t,
    pub encUtil: nvmlValue_t,
    pub decUtil: nvmlValue_t,
    pub jpgUtil: nvmlValue_t,
    pub ofaUtil: nvmlValue_t,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuInstanceUtilizationSample_st {
    pub vgpuInstance: nvmlVgpuInstance_t,
    pub timeStamp: c_ulonglong,
    pub smUtil: nvmlValue_t,
    pub memUtil: nvmlValue_t,
    pub encUtil: nvmlValue_t,
    pub decUtil: nvmlValue_t,
}
pub type nvmlVgpuInstanceUtilizationSample_t = nvmlVgpuInstanceUtilizationSample_st;
pub type nvmlVgpuInstance_t = c_uint;
pub type nvmlVgpuInstancesUtilizationInfo_t = nvmlVgpuInstancesUtilizationInfo_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuInstancesUtilizationInfo_v1_t {
    pub version: c_uint,
    pub sampleValType: nvmlValueType_t,
    pub vgpuInstanceCount: c_uint,
    pub lastSeenTimeStamp: c_ulonglong,
    pub vgpuUtilArray: *mut nvmlVgpuInstanceUtilizationInfo_v1_t,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuLicenseExpiry_st {
    pub year: c_uint,
    pub month: c_ushort,
    pub day: c_ushort,
    pub hour: c_ushort,
    pub min: c_ushort,
    pub sec: c_ushort,
    pub status: c_uchar,
}
pub type nvmlVgpuLicenseExpiry_t = nvmlVgpuLicenseExpiry_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuLicenseInfo_st {
    pub isLicensed: c_uchar,
    pub licenseExpiry: nvmlVgpuLicenseExpiry_t,
    pub currentState: c_uint,
}
pub type nvmlVgpuLicenseInfo_t = nvmlVgpuLicenseInfo_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuMetadata_st {
    pub version: c_uint,
    pub revision: c_uint,
    pub guestInfoState: nvmlVgpuGuestInfoState_t,
    pub guestDriverVersion: [c_char; 80usize],
    pub hostDriverVersion: [c_char; 80usize],
    pub reserved: [c_uint; 6usize],
    pub vgpuVirtualizationCaps: c_uint,
    pub guestVgpuVersion: c_uint,
    pub opaqueDataSize: c_uint,
    pub opaqueData: [c_char; 4usize],
}
pub type nvmlVgpuMetadata_t = nvmlVgpuMetadata_st;
pub type nvmlVgpuPgpuCompatibilityLimitCode_enum = c_uint;
pub type nvmlVgpuPgpuCompatibilityLimitCode_t = nvmlVgpuPgpuCompatibilityLimitCode_enum;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuPgpuCompatibility_st {
    pub vgpuVmCompatibility: nvmlVgpuVmCompatibility_t,
    pub compatibilityLimitCode: nvmlVgpuPgpuCompatibilityLimitCode_t,
}
pub type nvmlVgpuPgpuCompatibility_t = nvmlVgpuPgpuCompatibility_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuPgpuMetadata_st {
    pub version: c_uint,
    pub revision: c_uint,
    pub hostDriverVersion: [c_char; 80usize],
    pub pgpuVirtualizationCaps: c_uint,
    pub reserved: [c_uint; 5usize],
    pub hostSupportedVgpuRange: nvmlVgpuVersion_t,
    pub opaqueDataSize: c_uint,
    pub opaqueData: [c_char; 4usize],
}
pub type nvmlVgpuPgpuMetadata_t = nvmlVgpuPgpuMetadata_st;
pub type nvmlVgpuPlacementId_t = nvmlVgpuPlacementId_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuPlacementId_v1_t {
    pub version: c_uint,
    pub placementId: c_uint,
}
pub type nvmlVgpuPlacementList_t = nvmlVgpuPlacementList_v2_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuPlacementList_v1_t {
    pub version: c_uint,
    pub placementSize: c_uint,
    pub count: c_uint,
    pub placementIds: *mut c_uint,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuPlacementList_v2_t {
    pub version: c_uint,
    pub placementSize: c_uint,
    pub count: c_uint,
    pub placementIds: *mut c_uint,
    pub mode: c_uint,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuProcessUtilizationInfo_v1_t {
    pub processName: [c_char; 64usize],
    pub timeStamp: c_ulonglong,
    pub vgpuInstance: nvmlVgpuInstance_t,
    pub pid: c_uint,
    pub smUtil: c_uint,
    pub memUtil: c_uint,
    pub encUtil: c_uint,
    pub decUtil: c_uint,
    pub jpgUtil: c_uint,
    pub ofaUtil: c_uint,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuProcessUtilizationSample_st {
    pub vgpuInstance: nvmlVgpuInstance_t,
    pub pid: c_uint,
    pub processName: [c_char; 64usize],
    pub timeStamp: c_ulonglong,
    pub smUtil: c_uint,
    pub memUtil: c_uint,
    pub encUtil: c_uint,
    pub decUtil: c_uint,
}
pub type nvmlVgpuProcessUtilizationSample_t = nvmlVgpuProcessUtilizationSample_st;
pub type nvmlVgpuProcessesUtilizationInfo_t = nvmlVgpuProcessesUtilizationInfo_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuProcessesUtilizationInfo_v1_t {
    pub version: c_uint,
    pub vgpuProcessCount: c_uint,
    pub lastSeenTimeStamp: c_ulonglong,
    pub vgpuProcUtilArray: *mut nvmlVgpuProcessUtilizationInfo_v1_t,
}
pub type nvmlVgpuRuntimeState_t = nvmlVgpuRuntimeState_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuRuntimeState_v1_t {
    pub version: c_uint,
    pub size: c_ulonglong,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuSchedulerCapabilities_st {
    pub supportedSchedulers: [c_uint; 3usize],
    pub maxTimeslice: c_uint,
    pub minTimeslice: c_uint,
    pub isArrModeSupported: c_uint,
    pub maxFrequencyForARR: c_uint,
    pub minFrequencyForARR: c_uint,
    pub maxAvgFactorForARR: c_uint,
    pub minAvgFactorForARR: c_uint,
}
pub type nvmlVgpuSchedulerCapabilities_t = nvmlVgpuSchedulerCapabilities_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuSchedulerGetState_st {
    pub schedulerPolicy: c_uint,
    pub arrMode: c_uint,
    pub schedulerParams: nvmlVgpuSchedulerParams_t,
}
pub type nvmlVgpuSchedulerGetState_t = nvmlVgpuSchedulerGetState_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuSchedulerLogEntries_st {
    pub timestamp: c_ulonglong,
    pub timeRunTotal: c_ulonglong,
    pub timeRun: c_ulonglong,
    pub swRunlistId: c_uint,
    pub targetTimeSlice: c_ulonglong,
    pub cumulativePreemptionTime: c_ulonglong,
}
pub type nvmlVgpuSchedulerLogEntry_t = nvmlVgpuSchedulerLogEntries_st;
pub type nvmlVgpuSchedulerLogInfo_t = nvmlVgpuSchedulerLogInfo_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuSchedulerLogInfo_v1_t {
    pub version: c_uint,
    pub engineId: c_uint,
    pub schedulerPolicy: c_uint,
    pub arrMode: c_uint,
    pub schedulerParams: nvmlVgpuSchedulerParams_t,
    pub entriesCount: c_uint,
    pub logEntries: [nvmlVgpuSchedulerLogEntry_t; 200usize],
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuSchedulerLog_st {
    pub engineId: c_uint,
    pub schedulerPolicy: c_uint,
    pub arrMode: c_uint,
    pub schedulerParams: nvmlVgpuSchedulerParams_t,
    pub entriesCount: c_uint,
    pub logEntries: [nvmlVgpuSchedulerLogEntry_t; 200usize],
}
pub type nvmlVgpuSchedulerLog_t = nvmlVgpuSchedulerLog_st;
#[repr(C)]
#[derive(Clone, Copy)]
pub union nvmlVgpuSchedulerParams_t {
    pub vgpuSchedDataWithARR: nvmlVgpuSchedulerParams_t__bindgen_ty_1,
    pub vgpuSchedData: nvmlVgpuSchedulerParams_t__bindgen_ty_2,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuSchedulerParams_t__bindgen_ty_1 {
    pub avgFactor: c_uint,
    pub timeslice: c_uint,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuSchedulerParams_t__bindgen_ty_2 {
    pub timeslice: c_uint,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub union nvmlVgpuSchedulerSetParams_t {
    pub vgpuSchedDataWithARR: nvmlVgpuSchedulerSetParams_t__bindgen_ty_1,
    pub vgpuSchedData: nvmlVgpuSchedulerSetParams_t__bindgen_ty_2,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuSchedulerSetParams_t__bindgen_ty_1 {
    pub avgFactor: c_uint,
    pub frequency: c_uint,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuSchedulerSetParams_t__bindgen_ty_2 {
    pub timeslice: c_uint,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuSchedulerSetState_st {
    pub schedulerPolicy: c_uint,
    pub enableARRMode: c_uint,
    pub schedulerParams: nvmlVgpuSchedulerSetParams_t,
}
pub type nvmlVgpuSchedulerSetState_t = nvmlVgpuSchedulerSetState_st;
pub type nvmlVgpuSchedulerStateInfo_t = nvmlVgpuSchedulerStateInfo_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuSchedulerStateInfo_v1_t {
    pub version: c_uint,
    pub engineId: c_uint,
    pub schedulerPolicy: c_uint,
    pub arrMode: c_uint,
    pub schedulerParams: nvmlVgpuSchedulerParams_t,
}
pub type nvmlVgpuSchedulerState_t = nvmlVgpuSchedulerState_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuSchedulerState_v1_t {
    pub version: c_uint,
    pub engineId: c_uint,
    pub schedulerPolicy: c_uint,
    pub enableARRMode: c_uint,
    pub schedulerParams: nvmlVgpuSchedulerSetParams_t,
}
pub type nvmlVgpuTypeBar1Info_t = nvmlVgpuTypeBar1Info_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuTypeBar1Info_v1_t {
    pub version: c_uint,
    pub bar1Size: c_ulonglong,
}
pub type nvmlVgpuTypeIdInfo_t = nvmlVgpuTypeIdInfo_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuTypeIdInfo_v1_t {
    pub version: c_uint,
    pub vgpuCount: c_uint,
    pub vgpuTypeIds: *mut nvmlVgpuTypeId_t,
}
pub type nvmlVgpuTypeId_t = c_uint;
pub type nvmlVgpuTypeMaxInstance_t = nvmlVgpuTypeMaxInstance_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuTypeMaxInstance_v1_t {
    pub version: c_uint,
    pub vgpuTypeId: nvmlVgpuTypeId_t,
    pub maxInstancePerGI: c_uint,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlVgpuVersion_st {
    pub minVersion: c_uint,
    pub maxVersion: c_uint,
}
pub type nvmlVgpuVersion_t = nvmlVgpuVersion_st;
pub type nvmlVgpuVmCompatibility_enum = c_uint;
pub type nvmlVgpuVmCompatibility_t = nvmlVgpuVmCompatibility_enum;
pub type nvmlVgpuVmIdType = c_uint;
pub type nvmlVgpuVmIdType_t = nvmlVgpuVmIdType;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlViolationTime_st {
    pub referenceTime: c_ulonglong,
    pub violationTime: c_ulonglong,
}
pub type nvmlViolationTime_t = nvmlViolationTime_st;
pub type nvmlWorkloadPowerProfileCurrentProfiles_t = nvmlWorkloadPowerProfileCurrentProfiles_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlWorkloadPowerProfileCurrentProfiles_v1_t {
    pub version: c_uint,
    pub perfProfilesMask: nvmlMask255_t,
    pub requestedProfilesMask: nvmlMask255_t,
    pub enforcedProfilesMask: nvmlMask255_t,
}
pub type nvmlWorkloadPowerProfileInfo_t = nvmlWorkloadPowerProfileInfo_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlWorkloadPowerProfileInfo_v1_t {
    pub version: c_uint,
    pub profileId: c_uint,
    pub priority: c_uint,
    pub conflictingMask: nvmlMask255_t,
}
pub type nvmlWorkloadPowerProfileProfilesInfo_t = nvmlWorkloadPowerProfileProfilesInfo_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlWorkloadPowerProfileProfilesInfo_v1_t {
    pub version: c_uint,
    pub perfProfilesMask: nvmlMask255_t,
    pub perfProfile: [nvmlWorkloadPowerProfileInfo_t; 255usize],
}
pub type nvmlWorkloadPowerProfileRequestedProfiles_t =
    nvmlWorkloadPowerProfileRequestedProfiles_v1_t;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct nvmlWorkloadPowerProfileRequestedProfiles_v1_t {
    pub version: c_uint,
    pub requestedProfilesMask: nvmlMask255_t,
}

pub const INVALID_GPU_INSTANCE_ID: u32 = 4294967295;
pub const INVALID_GPU_INSTANCE_PROFILE_ID: u32 = 4294967295;
pub const MAX_CLK_DOMAINS: u32 = 32;
pub const NVML_255_MASK_BITS_PER_ELEM: u32 = 32;
pub const NVML_255_MASK_NUM_ELEMS: u32 = 8;
pub const NVML_ADAPTIVE_CLOCKING_INFO_STATUS_DISABLED: u32 = 0;
pub const NVML_ADAPTIVE_CLOCKING_INFO_STATUS_ENABLED: u32 = 1;
pub const NVML_AFFINITY_SCOPE_NODE: u32 = 0;
pub const NVML_AFFINITY_SCOPE_SOCKET: u32 = 1;
pub const NVML_API_VERSION: u32 = 13;
pub const NVML_API_VERSION_STR: &[u8; 3] = b"13\0";
pub const NVML_BUS_TYPE_AGP: u32 = 4;
pub const NVML_BUS_TYPE_FPCI: u32 = 3;
pub const NVML_BUS_TYPE_PCI: u32 = 1;
pub const NVML_BUS_TYPE_PCIE: u32 = 2;
pub const NVML_BUS_TYPE_UNKNOWN: u32 = 0;
pub const NVML_C2C_POWER_STATE_FULL_POWER: u32 = 0;
pub const NVML_C2C_POWER_STATE_LOW_POWER: u32 = 1;
pub const NVML_CC_ACCEPTING_CLIENT_REQUESTS_FALSE: u32 = 0;
pub const NVML_CC_ACCEPTING_CLIENT_REQUESTS_TRUE: u32 = 1;
pub const NVML_CC_CEC_ATTESTATION_REPORT_NOT_PRESENT: u32 = 0;
pub const NVML_CC_CEC_ATTESTATION_REPORT_PRESENT: u32 = 1;
pub const NVML_CC_GPU_ATTESTATION_REPORT_SIZE: u32 = 8192;
pub const NVML_CC_GPU_CEC_ATTESTATION_REPORT_SIZE: u32 = 4096;
pub const NVML_CC_GPU_CEC_NONCE_SIZE: u32 = 32;
pub const NVML_CC_KEY_ROTATION_THRESHOLD_ATTACKER_ADVANTAGE_MAX: u32 = 65;
pub const NVML_CC_KEY_ROTATION_THRESHOLD_ATTACKER_ADVANTAGE_MIN: u32 = 50;
pub const NVML_CC_SYSTEM_CPU_CAPS_AMD_SEV: u32 = 1;
pub const NVML_CC_SYSTEM_CPU_CAPS_AMD_SEV_SNP: u32 = 3;
pub const NVML_CC_SYSTEM_CPU_CAPS_AMD_SNP_VTOM: u32 = 4;
pub const NVML_CC_SYSTEM_CPU_CAPS_INTEL_TDX: u32 = 2;
pub const NVML_CC_SYSTEM_CPU_CAPS_NONE: u32 = 0;
pub const NVML_CC_SYSTEM_DEVTOOLS_MODE_OFF: u32 = 0;
pub const NVML_CC_SYSTEM_DEVTOOLS_MODE_ON: u32 = 1;
pub const NVML_CC_SYSTEM_ENVIRONMENT_PROD: u32 = 2;
pub const NVML_CC_SYSTEM_ENVIRONMENT_SIM: u32 = 1;
pub const NVML_CC_SYSTEM_ENVIRONMENT_UNAVAILABLE: u32 = 0;
pub const NVML_CC_SYSTEM_FEATURE_DISABLED: u32 = 0;
pub const NVML_CC_SYSTEM_FEATURE_ENABLED: u32 = 1;
pub const NVML_CC_SYSTEM_GPUS_CC_CAPABLE: u32 = 1;
pub const NVML_CC_SYSTEM_GPUS_CC_NOT_CAPABLE: u32 = 0;
pub const NVML_CC_SYSTEM_MULTIGPU_NONE: u32 = 0;
pub const NVML_CC_SYSTEM_MULTIGPU_NVLE: u32 = 2;
pub const NVML_CC_SYSTEM_MULTIGPU_PROTECTED_PCIE: u32 = 1;
pub const NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_COUNT: u32 = 1;
pub const NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED: u32 = 0;
pub const NVML_COMPUTE_INSTANCE_PROFILE_1_SLICE: u32 = 0;
pub const NVML_COMPUTE_INSTANCE_PROFILE_1_SLICE_REV1: u32 = 7;
pub const NVML_COMPUTE_INSTANCE_PROFILE_2_SLICE: u32 = 1;
pub const NVML_COMPUTE_INSTANCE_PROFILE_3_SLICE: u32 = 2;
pub const NVML_COMPUTE_INSTANCE_PROFILE_4_SLICE: u32 = 3;
pub const NVML_COMPUTE_INSTANCE_PROFILE_6_SLICE: u32 = 6;
pub const NVML_COMPUTE_INSTANCE_PROFILE_7_SLICE: u32 = 4;
pub const NVML_COMPUTE_INSTANCE_PROFILE_8_SLICE: u32 = 5;
pub const NVML_COMPUTE_INSTANCE_PROFILE_CAPS_GFX: u32 = 1;
pub const NVML_COMPUTE_INSTANCE_PROFILE_COUNT: u32 = 8;
pub const NVML_DEVICE_ARCH_ADA: u32 = 8;
pub const NVML_DEVICE_ARCH_AMPERE: u32 = 7;
pub const NVML_DEVICE_ARCH_BLACKWELL: u32 = 10;
pub const NVML_DEVICE_ARCH_HOPPER: u32 = 9;
pub const NVML_DEVICE_ARCH_KEPLER: u32 = 2;
pub const NVML_DEVICE_ARCH_MAXWELL: u32 = 3;
pub const NVML_DEVICE_ARCH_PASCAL: u32 = 4;
pub const NVML_DEVICE_ARCH_TURING: u32 = 6;
pub const NVML_DEVICE_ARCH_UNKNOWN: u32 = 4294967295;
pub const NVML_DEVICE_ARCH_VOLTA: u32 = 5;
pub const NVML_DEVICE_INFOROM_VERSION_BUFFER_SIZE: u32 = 16;
pub const NVML_DEVICE_MIG_DISABLE: u32 = 0;
pub const NVML_DEVICE_MIG_ENABLE: u32 = 1;
pub const NVML_DEVICE_NAME_BUFFER_SIZE: u32 = 64;
pub const NVML_DEVICE_NAME_V2_BUFFER_SIZE: u32 = 96;
pub const NVML_DEVICE_PART_NUMBER_BUFFER_SIZE: u32 = 80;
pub const NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE: u32 = 32;
pub const NVML_DEVICE_PCI_BUS_ID_BUFFER_V2_SIZE: u32 = 16;
pub const NVML_DEVICE_PCI_BUS_ID_FMT: &[u8; 17] = b"%08X:%02X:%02X.0\0";
pub const NVML_DEVICE_PCI_BUS_ID_LEGACY_FMT: &[u8; 17] = b"%04X:%02X:%02X.0\0";
pub const NVML_DEVICE_SERIAL_BUFFER_SIZE: u32 = 30;
pub const NVML_DEVICE_UUID_ASCII_LEN: u32 = 41;
pub const NVML_DEVICE_UUID_BINARY_LEN: u32 = 16;
pub const NVML_DEVICE_UUID_BUFFER_SIZE: u32 = 80;
pub const NVML_DEVICE_UUID_V2_BUFFER_SIZE: u32 = 96;
pub const NVML_DEVICE_VBIOS_VERSION_BUFFER_SIZE: u32 = 32;
pub const NVML_DEV_CAP_EGM: u32 = 1;
pub const NVML_FAN_POLICY_MANUAL: u32 = 1;
pub const NVML_FAN_POLICY_TEMPERATURE_CONTINOUS_SW: u32 = 0;
pub const NVML_GPM_METRICS_GET_VERSION: u32 = 1;
pub const NVML_GPM_SUPPORT_VERSION: u32 = 1;
pub const NVML_GPU_ATTESTATION_CERT_CHAIN_SIZE: u32 = 5120;
pub const NVML_GPU_CERT_CHAIN_SIZE: u32 = 4096;
pub const NVML_GPU_FABRIC_HEALTH_MASK_ACCESS_TIMEOUT_RECOVERY_FALSE: u32 = 2;
pub const NVML_GPU_FABRIC_HEALTH_MASK_ACCESS_TIMEOUT_RECOVERY_NOT_SUPPORTED: u32 = 0;
pub const NVML_GPU_FABRIC_HEALTH_MASK_ACCESS_TIMEOUT_RECOVERY_TRUE: u32 = 1;
pub const NVML_GPU_FABRIC_HEALTH_MASK_DEGRADED_BW_FALSE: u32 = 2;
pub const NVML_GPU_FABRIC_HEALTH_MASK_DEGRADED_BW_NOT_SUPPORTED: u32 = 0;
pub const NVML_GPU_FABRIC_HEALTH_MASK_DEGRADED_BW_TRUE: u32 = 1;
pub const NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_INCORRECT_CHASSIS_SN: u32 = 3;
pub const NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_INCORRECT_SYSGUID: u32 = 2;
pub const NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_INSUFFICIENT_NVLINKS: u32 = 5;
pub const NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_NONE: u32 = 1;
pub const NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_NOT_SUPPORTED: u32 = 0;
pub const NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_NO_PARTITION: u32 = 4;
pub const NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_RECOVERY_FALSE: u32 = 2;
pub const NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_RECOVERY_NOT_SUPPORTED: u32 = 0;
pub const NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_RECOVERY_TRUE: u32 = 1;
pub const NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_UNHEALTHY_FALSE: u32 = 2;
pub const NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_UNHEALTHY_NOT_SUPPORTED: u32 = 0;
pub const NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_UNHEALTHY_TRUE: u32 = 1;
pub const NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_ACCESS_TIMEOUT_RECOVERY: u32 = 6;
pub const NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_DEGRADED_BW: u32 = 0;
pub const NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_INCORRECT_CONFIGURATION: u32 = 8;
pub const NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_ROUTE_RECOVERY: u32 = 2;
pub const NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_ROUTE_UNHEALTHY: u32 = 4;
pub const NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_ACCESS_TIMEOUT_RECOVERY: u32 = 3;
pub const NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_DEGRADED_BW: u32 = 3;
pub const NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_INCORRECT_CONFIGURATION: u32 = 15;
pub const NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_ROUTE_RECOVERY: u32 = 3;
pub const NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_ROUTE_UNHEALTHY: u32 = 3;
pub const NVML_GPU_FABRIC_HEALTH_SUMMARY_HEALTHY: u32 = 1;
pub const NVML_GPU_FABRIC_HEALTH_SUMMARY_LIMITED_CAPACITY: u32 = 3;
pub const NVML_GPU_FABRIC_HEALTH_SUMMARY_NOT_SUPPORTED: u32 = 0;
pub const NVML_GPU_FABRIC_HEALTH_SUMMARY_UNHEALTHY: u32 = 2;
pub const NVML_GPU_FABRIC_STATE_COMPLETED: u32 = 3;
pub const NVML_GPU_FABRIC_STATE_IN_PROGRESS: u32 = 2;
pub const NVML_GPU_FABRIC_STATE_NOT_STARTED: u32 = 1;
pub const NVML_GPU_FABRIC_STATE_NOT_SUPPORTED: u32 = 0;
pub const NVML_GPU_FABRIC_UUID_LEN: u32 = 16;
pub const NVML_GPU_INSTANCE_PROFILE_1_SLICE: u32 = 0;
pub const NVML_GPU_INSTANCE_PROFILE_1_SLICE_ALL_ME: u32 = 15;
pub const NVML_GPU_INSTANCE_PROFILE_1_SLICE_GFX: u32 = 10;
pub const NVML_GPU_INSTANCE_PROFILE_1_SLICE_NO_ME: u32 = 13;
pub const NVML_GPU_INSTANCE_PROFILE_1_SLICE_REV1: u32 = 7;
pub const NVML_GPU_INSTANCE_PROFILE_1_SLICE_REV2: u32 = 9;
pub const NVML_GPU_INSTANCE_PROFILE_2_SLICE: u32 = 1;
pub const NVML_GPU_INSTANCE_PROFILE_2_SLICE_ALL_ME: u32 = 16;
pub const NVML_GPU_INSTANCE_PROFILE_2_SLICE_GFX: u32 = 11;
pub const NVML_GPU_INSTANCE_PROFILE_2_SLICE_NO_ME: u32 = 14;
pub const NVML_GPU_INSTANCE_PROFILE_2_SLICE_REV1: u32 = 8;
pub const NVML_GPU_INSTANCE_PROFILE_3_SLICE: u32 = 2;
pub const NVML_GPU_INSTANCE_PROFILE_4_SLICE: u32 = 3;
pub const NVML_GPU_INSTANCE_PROFILE_4_SLICE_GFX: u32 = 12;
pub const NVML_GPU_INSTANCE_PROFILE_6_SLICE: u32 = 6;
pub const NVML_GPU_INSTANCE_PROFILE_7_SLICE: u32 = 4;
pub const NVML_GPU_INSTANCE_PROFILE_8_SLICE: u32 = 5;
pub const NVML_GPU_INSTANCE_PROFILE_CAPS_GFX: u32 = 2;
pub const NVML_GPU_INSTANCE_PROFILE_CAPS_P2P: u32 = 1;
pub const NVML_GPU_INSTANCE_PROFILE_COUNT: u32 = 17;
pub const NVML_GPU_INTSTANCE_PROFILE_CAPS_P2P: u32 = 1;
pub const NVML_GRID_LICENSE_BUFFER_SIZE: u32 = 128;
pub const NVML_GRID_LICENSE_EXPIRY_INVALID: u32 = 1;
pub const NVML_GRID_LICENSE_EXPIRY_NOT_APPLICABLE: u32 = 3;
pub const NVML_GRID_LICENSE_EXPIRY_NOT_AVAILABLE: u32 = 0;
pub const NVML_GRID_LICENSE_EXPIRY_PERMANENT: u32 = 4;
pub const NVML_GRID_LICENSE_EXPIRY_VALID: u32 = 2;
pub const NVML_GRID_LICENSE_FEATURE_MAX_COUNT: u32 = 3;
pub const NVML_GRID_LICENSE_STATE_LICENSED: u32 = 5;
pub const NVML_GRID_LICENSE_STATE_UNINITIALIZED: u32 = 1;
pub const NVML_GRID_LICENSE_STATE_UNKNOWN: u32 = 0;
pub const NVML_GRID_LICENSE_STATE_UNLICENSED: u32 = 4;
pub const NVML_GRID_LICENSE_STATE_UNLICENSED_RESTRICTED: u32 = 3;
pub const NVML_GRID_LICENSE_STATE_UNLICENSED_UNRESTRICTED: u32 = 2;
pub const NVML_GSP_FIRMWARE_VERSION_BUF_SIZE: u32 = 64;
pub const NVML_INIT_FLAG_NO_ATTACH: u32 = 2;
pub const NVML_INIT_FLAG_NO_GPUS: u32 = 1;
pub const NVML_INVALID_VGPU_PLACEMENT_ID: u32 = 65535;
pub const NVML_MAX_GPU_PERF_PSTATES: u32 = 16;
pub const NVML_MAX_GPU_UTILIZATIONS: u32 = 8;
pub const NVML_MAX_PHYSICAL_BRIDGE: u32 = 128;
pub const NVML_MAX_THERMAL_SENSORS_PER_GPU: u32 = 3;
pub const NVML_NVFBC_SESSION_FLAG_CAPTURE_WITH_WAIT_INFINITE: u32 = 8;
pub const NVML_NVFBC_SESSION_FLAG_CAPTURE_WITH_WAIT_NO_WAIT: u32 = 4;
pub const NVML_NVFBC_SESSION_FLAG_CAPTURE_WITH_WAIT_TIMEOUT: u32 = 16;
pub const NVML_NVFBC_SESSION_FLAG_CLASSIFICATIONMAP_ENABLED: u32 = 2;
pub const NVML_NVFBC_SESSION_FLAG_DIFFMAP_ENABLED: u32 = 1;
pub const NVML_NVLINK_BER_EXP_SHIFT: u32 = 0;
pub const NVML_NVLINK_BER_EXP_WIDTH: u32 = 255;
pub const NVML_NVLINK_BER_MANTISSA_SHIFT: u32 = 8;
pub const NVML_NVLINK_BER_MANTISSA_WIDTH: u32 = 15;
pub const NVML_NVLINK_FIRMWARE_UCODE_TYPE_MSE: u32 = 1;
pub const NVML_NVLINK_FIRMWARE_UCODE_TYPE_NETIR: u32 = 2;
pub const NVML_NVLINK_FIRMWARE_UCODE_TYPE_NETIR_CLN: u32 = 4;
pub const NVML_NVLINK_FIRMWARE_UCODE_TYPE_NETIR_DLN: u32 = 5;
pub const NVML_NVLINK_FIRMWARE_UCODE_TYPE_NETIR_UPHY: u32 = 3;
pub const NVML_NVLINK_FIRMWARE_VERSION_LENGTH: u32 = 100;
pub const NVML_NVLINK_LOW_POWER_THRESHOLD_DEFAULT: u32 = 4294967295;
pub const NVML_NVLINK_LOW_POWER_THRESHOLD_MAX: u32 = 8191;
pub const NVML_NVLINK_LOW_POWER_THRESHOLD_MIN: u32 = 1;
pub const NVML_NVLINK_LOW_POWER_THRESHOLD_RESET: u32 = 4294967295;
pub const NVML_NVLINK_LOW_POWER_THRESHOLD_UNIT_100US: u32 = 0;
pub const NVML_NVLINK_LOW_POWER_THRESHOLD_UNIT_50US: u32 = 1;
pub const NVML_NVLINK_MAX_LINKS: u32 = 18;
pub const NVML_NVLINK_POWER_STATE_HIGH_SPEED: u32 = 0;
pub const NVML_NVLINK_POWER_STATE_LOW: u32 = 1;
pub const NVML_NVLINK_STATE_ACTIVE: u32 = 1;
pub const NVML_NVLINK_STATE_INACTIVE: u32 = 0;
pub const NVML_NVLINK_STATE_SLEEP: u32 = 2;
pub const NVML_NVLINK_TOTAL_SUPPORTED_BW_MODES: u32 = 23;
pub const NVML_PCIE_ATOMICS_CAP_CAS128: u32 = 64;
pub const NVML_PCIE_ATOMICS_CAP_CAS32: u32 = 16;
pub const NVML_PCIE_ATOMICS_CAP_CAS64: u32 = 32;
pub const NVML_PCIE_ATOMICS_CAP_FETCHADD32: u32 = 1;
pub const NVML_PCIE_ATOMICS_CAP_FETCHADD64: u32 = 2;
pub const NVML_PCIE_ATOMICS_CAP_SWAP32: u32 = 4;
pub const NVML_PCIE_ATOMICS_CAP_SWAP64: u32 = 8;
pub const NVML_PCIE_ATOMICS_OPS_MAX: u32 = 7;
pub const NVML_PCIE_LINK_MAX_SPEED_16000MBPS: u32 = 4;
pub const NVML_PCIE_LINK_MAX_SPEED_2500MBPS: u32 = 1;
pub const NVML_PCIE_LINK_MAX_SPEED_32000MBPS: u32 = 5;
pub const NVML_PCIE_LINK_MAX_SPEED_5000MBPS: u32 = 2;
pub const NVML_PCIE_LINK_MAX_SPEED_64000MBPS: u32 = 6;
pub const NVML_PCIE_LINK_MAX_SPEED_8000MBPS: u32 = 3;
pub const NVML_PCIE_LINK_MAX_SPEED_INVALID: u32 = 0;
pub const NVML_PERF_MODES_BUFFER_SIZE: u32 = 2048;
pub const NVML_POWER_MIZER_MODE_ADAPTIVE: u32 = 0;
pub const NVML_POWER_MIZER_MODE_AUTO: u32 = 2;
pub const NVML_POWER_MIZER_MODE_PREFER_CONSISTENT_PERFORMANCE: u32 = 3;
pub const NVML_POWER_MIZER_MODE_PREFER_MAXIMUM_PERFORMANCE: u32 = 1;
pub const NVML_POWER_SCOPE_GPU: u32 = 0;
pub const NVML_POWER_SCOPE_MEMORY: u32 = 2;
pub const NVML_POWER_SCOPE_MODULE: u32 = 1;
pub const NVML_POWER_SMOOTHING_ADMIN_OVERRIDE_NOT_SET: u32 = 4294967295;
pub const NVML_POWER_SMOOTHING_MAX_NUM_PROFILES: u32 = 5;
pub const NVML_POWER_SMOOTHING_NUM_PROFILE_PARAMS: u32 = 4;
pub const NVML_POWER_SMOOTHING_PROFILE_PARAM_PERCENT_TMP_FLOOR: u32 = 0;
pub const NVML_POWER_SMOOTHING_PROFILE_PARAM_RAMP_DOWN_HYSTERESIS: u32 = 3;
pub const NVML_POWER_SMOOTHING_PROFILE_PARAM_RAMP_DOWN_RATE: u32 = 2;
pub const NVML_POWER_SMOOTHING_PROFILE_PARAM_RAMP_UP_RATE: u32 = 1;
pub const NVML_POWER_SOURCE_AC: u32 = 0;
pub const NVML_POWER_SOURCE_BATTERY: u32 = 1;
pub const NVML_POWER_SOURCE_UNDERSIZED: u32 = 2;
pub const NVML_PRM_DATA_MAX_SIZE: u32 = 496;
pub const NVML_SCHEDULER_SW_MAX_LOG_ENTRIES: u32 = 200;
pub const NVML_SUPPORTED_VGPU_SCHEDULER_POLICY_COUNT: u32 = 3;
pub const NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE: u32 = 80;
pub const NVML_SYSTEM_NVML_VERSION_BUFFER_SIZE: u32 = 80;
pub const NVML_VALUE_NOT_AVAILABLE: i32 = -1;
pub const NVML_VGPU_NAME_BUFFER_SIZE: u32 = 64;
pub const NVML_VGPU_PGPU_HETEROGENEOUS_MODE: u32 = 0;
pub const NVML_VGPU_PGPU_HOMOGENEOUS_MODE: u32 = 1;
pub const NVML_VGPU_PGPU_VIRTUALIZATION_CAP_MIGRATION_NO: u32 = 0;
pub const NVML_VGPU_PGPU_VIRTUALIZATION_CAP_MIGRATION_YES: u32 = 1;
pub const NVML_VGPU_SCHEDULER_ARR_DEFAULT: u32 = 0;
pub const NVML_VGPU_SCHEDULER_ARR_DISABLE: u32 = 1;
pub const NVML_VGPU_SCHEDULER_ARR_ENABLE: u32 = 2;
pub const NVML_VGPU_SCHEDULER_ENGINE_TYPE_GRAPHICS: u32 = 1;
pub const NVML_VGPU_SCHEDULER_POLICY_BEST_EFFORT: u32 = 1;
pub const NVML_VGPU_SCHEDULER_POLICY_EQUAL_SHARE: u32 = 2;
pub const NVML_VGPU_SCHEDULER_POLICY_FIXED_SHARE: u32 = 3;
pub const NVML_VGPU_SCHEDULER_POLICY_UNKNOWN: u32 = 0;
pub const NVML_VGPU_VIRTUALIZATION_CAP_MIGRATION_NO: u32 = 0;
pub const NVML_VGPU_VIRTUALIZATION_CAP_MIGRATION_YES: u32 = 1;
pub const NVML_WORKLOAD_POWER_MAX_PROFILES: u32 = 255;
pub const NVML_BRAND_COUNT: nvmlBrandType_enum = 18;
pub const NVML_BRAND_GEFORCE: nvmlBrandType_enum = 5;
pub const NVML_BRAND_GEFORCE_RTX: nvmlBrandType_enum = 15;
pub const NVML_BRAND_GRID: nvmlBrandType_enum = 4;
pub const NVML_BRAND_NVIDIA: nvmlBrandType_enum = 14;
pub const NVML_BRAND_NVIDIA_CLOUD_GAMING: nvmlBrandType_enum = 11;
pub const NVML_BRAND_NVIDIA_RTX: nvmlBrandType_enum = 13;
pub const NVML_BRAND_NVIDIA_VAPPS: nvmlBrandType_enum = 7;
pub const NVML_BRAND_NVIDIA_VCS: nvmlBrandType_enum = 9;
pub const NVML_BRAND_NVIDIA_VGAMING: nvmlBrandType_enum = 11;
pub const NVML_BRAND_NVIDIA_VPC: nvmlBrandType_enum = 8;
pub const NVML_BRAND_NVIDIA_VWS: nvmlBrandType_enum = 10;
pub const NVML_BRAND_NVS: nvmlBrandType_enum = 3;
pub const NVML_BRAND_QUADRO: nvmlBrandType_enum = 1;
pub const NVML_BRAND_QUADRO_RTX: nvmlBrandType_enum = 12;
pub const NVML_BRAND_TESLA: nvmlBrandType_enum = 2;
pub const NVML_BRAND_TITAN: nvmlBrandType_enum = 6;
pub const NVML_BRAND_TITAN_RTX: nvmlBrandType_enum = 16;
pub const NVML_BRAND_UNKNOWN: nvmlBrandType_enum = 0;
pub const NVML_BRIDGE_CHIP_BRO4: nvmlBridgeChipType_enum = 1;
pub const NVML_BRIDGE_CHIP_PLX: nvmlBridgeChipType_enum = 0;
pub const NVML_CLOCK_ID_APP_CLOCK_DEFAULT: nvmlClockId_enum = 2;
pub const NVML_CLOCK_ID_APP_CLOCK_TARGET: nvmlClockId_enum = 1;
pub const NVML_CLOCK_ID_COUNT: nvmlClockId_enum = 4;
pub const NVML_CLOCK_ID_CURRENT: nvmlClockId_enum = 0;
pub const NVML_CLOCK_ID_CUSTOMER_BOOST_MAX: nvmlClockId_enum = 3;
pub const NVML_CLOCK_LIMIT_ID_RANGE_START: nvmlClockLimitId_enum = 4294967040;
pub const NVML_CLOCK_LIMIT_ID_TDP: nvmlClockLimitId_enum = 4294967041;
pub const NVML_CLOCK_LIMIT_ID_UNLIMITED: nvmlClockLimitId_enum = 4294967042;
pub const NVML_CLOCK_COUNT: nvmlClockType_enum = 4;
pub const NVML_CLOCK_GRAPHICS: nvmlClockType_enum = 0;
pub const NVML_CLOCK_MEM: nvmlClockType_enum = 2;
pub const NVML_CLOCK_SM: nvmlClockType_enum = 1;
pub const NVML_CLOCK_VIDEO: nvmlClockType_enum = 3;
pub const nvmlClocksEventReasonApplicationsClocksSetting: u32 = 2;
pub const nvmlClocksEventReasonDisplayClockSetting: u32 = 256;
pub const nvmlClocksEventReasonGpuIdle: u32 = 1;
pub const nvmlClocksEventReasonNone: u32 = 0;
pub const nvmlClocksEventReasonSwPowerCap: u32 = 4;
pub const nvmlClocksEventReasonSwThermalSlowdown: u32 = 32;
pub const nvmlClocksEventReasonSyncBoost: u32 = 16;
pub const nvmlClocksThrottleReasonApplicationsClocksSetting: u32 = 2;
pub const nvmlClocksThrottleReasonDisplayClockSetting: u32 = 256;
pub const nvmlClocksThrottleReasonGpuIdle: u32 = 1;
pub const nvmlClocksThrottleReasonHwPowerBrakeSlowdown: u32 = 128;
pub const nvmlClocksThrottleReasonHwSlowdown: u32 = 8;
pub const nvmlClocksThrottleReasonHwThermalSlowdown: u32 = 64;
pub const nvmlClocksThrottleReasonNone: u32 = 0;
pub const nvmlClocksThrottleReasonSwPowerCap: u32 = 4;
pub const nvmlClocksThrottleReasonSwThermalSlowdown: u32 = 32;
pub const nvmlClocksThrottleReasonSyncBoost: u32 = 16;
pub const nvmlClocksThrottleReasonUserDefinedClocks: u32 = 2;
pub const NVML_COMPUTEMODE_COUNT: nvmlComputeMode_enum = 4;
pub const NVML_COMPUTEMODE_DEFAULT: nvmlComputeMode_enum = 0;
pub const NVML_COMPUTEMODE_EXCLUSIVE_PROCESS: nvmlComputeMode_enum = 3;
pub const NVML_COMPUTEMODE_EXCLUSIVE_THREAD: nvmlComputeMode_enum = 1;
pub const NVML_COMPUTEMODE_PROHIBITED: nvmlComputeMode_enum = 2;
pub const NVML_THERMAL_COOLER_SIGNAL_COUNT: nvmlCoolerControl_enum = 3;
pub const NVML_THERMAL_COOLER_SIGNAL_NONE: nvmlCoolerControl_enum = 0;
pub const NVML_THERMAL_COOLER_SIGNAL_TOGGLE: nvmlCoolerControl_enum = 1;
pub const NVML_THERMAL_COOLER_SIGNAL_VARIABLE: nvmlCoolerControl_enum = 2;
pub const NVML_THERMAL_COOLER_TARGET_GPU: nvmlCoolerTarget_enum = 2;
pub const NVML_THERMAL_COOLER_TARGET_GPU_RELATED: nvmlCoolerTarget_enum = 14;
pub const NVML_THERMAL_COOLER_TARGET_MEMORY: nvmlCoolerTarget_enum = 4;
pub const NVML_THERMAL_COOLER_TARGET_NONE: nvmlCoolerTarget_enum = 1;
pub const NVML_THERMAL_COOLER_TARGET_POWER_SUPPLY: nvmlCoolerTarget_enum = 8;
pub const NVML_DETACH_GPU_KEEP: nvmlDetachGpuState_enum = 0;
pub const NVML_DETACH_GPU_REMOVE: nvmlDetachGpuState_enum = 1;
pub const NVML_DEVICE_ADDRESSING_MODE_ATS: nvmlDeviceAddressingModeType_t = 2;
pub const NVML_DEVICE_ADDRESSING_MODE_HMM: nvmlDeviceAddressingModeType_t = 1;
pub const NVML_DEVICE_ADDRESSING_MODE_NONE: nvmlDeviceAddressingModeType_t = 0;
pub const NVML_GPU_RECOVERY_ACTION_DRAIN_AND_RESET: nvmlDeviceGpuRecoveryAction_s = 4;
pub const NVML_GPU_RECOVERY_ACTION_DRAIN_P2P: nvmlDeviceGpuRecoveryAction_s = 3;
pub const NVML_GPU_RECOVERY_ACTION_GPU_RESET: nvmlDeviceGpuRecoveryAction_s = 1;
pub const NVML_GPU_RECOVERY_ACTION_NODE_REBOOT: nvmlDeviceGpuRecoveryAction_s = 2;
pub const NVML_GPU_RECOVERY_ACTION_NONE: nvmlDeviceGpuRecoveryAction_s = 0;
pub const NVML_DEVICE_VGPU_CAP_COMPUTE_MEDIA_ENGINE_GPU: nvmlDeviceVgpuCapability_enum = 7;
pub const NVML_DEVICE_VGPU_CAP_COUNT: nvmlDeviceVgpuCapability_enum = 12;
pub const NVML_DEVICE_VGPU_CAP_DEVICE_STREAMING: nvmlDeviceVgpuCapability_enum = 5;
pub const NVML_DEVICE_VGPU_CAP_FRACTIONAL_MULTI_VGPU: nvmlDeviceVgpuCapability_enum = 0;
pub const NVML_DEVICE_VGPU_CAP_HETEROGENEOUS_TIMESLICE_PROFILES: nvmlDeviceVgpuCapability_enum = 1;
pub const NVML_DEVICE_VGPU_CAP_HETEROGENEOUS_TIMESLICE_SIZES: nvmlDeviceVgpuCapability_enum = 2;
pub const NVML_DEVICE_VGPU_CAP_HOMOGENEOUS_PLACEMENTS: nvmlDeviceVgpuCapability_enum = 9;
pub const NVML_DEVICE_VGPU_CAP_MIG_TIMESLICING_ENABLED: nvmlDeviceVgpuCapability_enum = 11;
pub const NVML_DEVICE_VGPU_CAP_MIG_TIMESLICING_SUPPORTED: nvmlDeviceVgpuCapability_enum = 10;
pub const NVML_DEVICE_VGPU_CAP_MINI_QUARTER_GPU: nvmlDeviceVgpuCapability_enum = 6;
pub const NVML_DEVICE_VGPU_CAP_READ_DEVICE_BUFFER_BW: nvmlDeviceVgpuCapability_enum = 3;
pub const NVML_DEVICE_VGPU_CAP_WARM_UPDATE: nvmlDeviceVgpuCapability_enum = 8;
pub const NVML_DEVICE_VGPU_CAP_WRITE_DEVICE_BUFFER_BW: nvmlDeviceVgpuCapability_enum = 4;
pub const NVML_DRIVER_MCDM: nvmlDriverModel_enum = 2;
pub const NVML_DRIVER_WDDM: nvmlDriverModel_enum = 0;
pub const NVML_DRIVER_WDM: nvmlDriverModel_enum = 1;
pub const NVML_AGGREGATE_ECC: nvmlEccCounterType_enum = 1;
pub const NVML_ECC_COUNTER_TYPE_COUNT: nvmlEccCounterType_enum = 2;
pub const NVML_VOLATILE_ECC: nvmlEccCounterType_enum = 0;
pub const NVML_FEATURE_DISABLED: nvmlEnableState_enum = 0;
pub const NVML_FEATURE_ENABLED: nvmlEnableState_enum = 1;
pub const NVML_ENCODER_QUERY_AV1: nvmlEncoderQueryType_enum = 2;
pub const NVML_ENCODER_QUERY_H264: nvmlEncoderQueryType_enum = 0;
pub const NVML_ENCODER_QUERY_HEVC: nvmlEncoderQueryType_enum = 1;
pub const NVML_ENCODER_QUERY_UNKNOWN: nvmlEncoderQueryType_enum = 255;
pub const nvmlEventMigConfigChange: u32 = 256;
pub const nvmlEventTypeAll: u32 = 65439;
pub const nvmlEventTypeClock: u32 = 16;
pub const nvmlEventTypeDoubleBitEccError: u32 = 2;
pub const nvmlEventTypeDramRetirementEvent: u32 = 1024;
pub const nvmlEventTypeDramRetirementFailure: u32 = 2048;
pub const nvmlEventTypeFatalPoisonError: u32 = 8192;
pub const nvmlEventTypeGpuRecoveryAction: u32 = 32768;
pub const nvmlEventTypeGpuUnavailableError: u32 = 16384;
pub const nvmlEventTypeNonFatalPoisonError: u32 = 4096;
pub const nvmlEventTypeNone: u32 = 0;
pub const nvmlEventTypePState: u32 = 4;
pub const nvmlEventTypePowerSourceChange: u32 = 128;
pub const nvmlEventTypeSingleBitEccError: u32 = 1;
pub const nvmlEventTypeSingleBitEccErrorStorm: u32 = 512;
pub const nvmlEventTypeXidCriticalError: u32 = 8;
pub const NVML_FBC_SESSION_TYPE_CUDA: nvmlFBCSessionType_enum = 2;
pub const NVML_FBC_SESSION_TYPE_HWENC: nvmlFBCSessionType_enum = 4;
pub const NVML_FBC_SESSION_TYPE_TOSYS: nvmlFBCSessionType_enum = 1;
pub const NVML_FBC_SESSION_TYPE_UNKNOWN: nvmlFBCSessionType_enum = 0;
pub const NVML_FBC_SESSION_TYPE_VID: nvmlFBCSessionType_enum = 3;
pub const NVML_FAN_FAILED: nvmlFanState_enum = 1;
pub const NVML_FAN_NORMAL: nvmlFanState_enum = 0;
pub const nvmlFlagDefault: u32 = 0;
pub const nvmlFlagForce: u32 = 1;
pub const NVML_GOM_ALL_ON: nvmlGom_enum = 0;
pub const NVML_GOM_COMPUTE: nvmlGom_enum = 1;
pub const NVML_GOM_LOW_DP: nvmlGom_enum = 2;
pub const NVML_GPM_METRIC_ANY_TENSOR_UTIL: nvmlGpmMetricId_t = 5;
pub const NVML_GPM_METRIC_C2C_DATA_RX_PER_SEC: nvmlGpmMetricId_t = 103;
pub const NVML_GPM_METRIC_C2C_DATA_TX_PER_SEC: nvmlGpmMetricId_t = 102;
pub const NVML_GPM_METRIC_C2C_LINK0_DATA_RX_PER_SEC: nvmlGpmMetricId_t = 107;
pub const NVML_GPM_METRIC_C2C_LINK0_DATA_TX_PER_SEC: nvmlGpmMetricId_t = 106;
pub const NVML_GPM_METRIC_C2C_LINK0_TOTAL_RX_PER_SEC: nvmlGpmMetricId_t = 105;
pub const NVML_GPM_METRIC_C2C_LINK0_TOTAL_TX_PER_SEC: nvmlGpmMetricId_t = 104;
pub const NVML_GPM_METRIC_C2C_LINK10_DATA_RX_PER_SEC: nvmlGpmMetricId_t = 147;
pub const NVML_GPM_METRIC_C2C_LINK10_DATA_TX_PER_SEC: nvmlGpmMetricId_t = 146;
pub const NVML_GPM_METRIC_C2C_LINK10_TOTAL_RX_PER_SEC: nvmlGpmMetricId_t = 145;
pub const NVML_GPM_METRIC_C2C_LINK10_TOTAL_TX_PER_SEC: nvmlGpmMetricId_t = 144;
pub const NVML_GPM_METRIC_C2C_LINK11_DATA_RX_PER_SEC: nvmlGpmMetricId_t = 151;
pub const NVML_GPM_METRIC_C2C_LINK11_DATA_TX_PER_SEC: nvmlGpmMetricId_t = 150;
pub const NVML_GPM_METRIC_C2C_LINK11_TOTAL_RX_PER_SEC: nvmlGpmMetricId_t = 149;
pub const NVML_GPM_METRIC_C2C_LINK11_TOTAL_TX_PER_SEC: nvmlGpmMetricId_t = 148;
pub const NVML_GPM_METRIC_C2C_LINK12_DATA_RX_PER_SEC: nvmlGpmMetricId_t = 155;
pub const NVML_GPM_METRIC_C2C_LINK12_DATA_TX_PER_SEC: nvmlGpmMetricId_t = 154;
pub const NVML_GPM_METRIC_C2C_LINK12_TOTAL_RX_PER_SEC: nvmlGpmMetricId_t = 153;
pub const NVML_GPM_METRIC_C2C_LINK12_TOTAL_TX_PER_SEC: nvmlGpmMetricId_t = 152;
pub const NVML_GPM_METRIC_C2C_LINK13_DATA_RX_PER_SEC: nvmlGpmMetricId_t = 159;
pub const NVML_GPM_METRIC_C2C_LINK13_DATA_TX_PER_SEC: nvmlGpmMetricId_t = 158;
pub const NVML_GPM_METRIC_C2C_LINK13_TOTAL_RX_PER_SEC: nvmlGpmMetricId_t = 157;
pub const NVML_GPM_METRIC_C2C_LINK13_TOTAL_TX_PER_SEC: nvmlGpmMetricId_t = 156;
pub const NVML_GPM_METRIC_C2C_LINK1_DATA_RX_PER_SEC: nvmlGpmMetricId_t = 111;
pub const NVML_GPM_METRIC_C2C_LINK1_DATA_TX_PER_SEC: nvmlGpmMetricId_t = 110;
pub const NVML_GPM_METRIC_C2C_LINK1_TOTAL_RX_PER_SEC: nvmlGpmMetricId_t = 109;
pub const NVML_GPM_METRIC_C2C_LINK1_TOTAL_TX_PER_SEC: nvmlGpmMetricId_t = 108;
pub const NVML_GPM_METRIC_C2C_LINK2_DATA_RX_PER_SEC: nvmlGpmMetricId_t = 115;
pub const NVML_GPM_METRIC_C2C_LINK2_DATA_TX_PER_SEC: nvmlGpmMetricId_t = 114;
pub const NVML_GPM_METRIC_C2C_LINK2_TOTAL_RX_PER_SEC: nvmlGpmMetricId_t = 113;
pub const NVML_GPM_METRIC_C2C_LINK2_TOTAL_TX_PER_SEC: nvmlGpmMetricId_t = 112;
pub const NVML_GPM_METRIC_C2C_LINK3_DATA_RX_PER_SEC: nvmlGpmMetricId_t = 119;
pub const NVML_GPM_METRIC_C2C_LINK3_DATA_TX_PER_SEC: nvmlGpmMetricId_t = 118;
pub const NVML_GPM_METRIC_C2C_LINK3_TOTAL_RX_PER_SEC: nvmlGpmMetricId_t = 117;
pub const NVML_GPM_METRIC_C2C_LINK3_TOTAL_TX_PER_SEC: nvmlGpmMetricId_t = 116;
pub const NVML_GPM_METRIC_C2C_LINK4_DATA_RX_PER_SEC: nvmlGpmMetricId_t = 123;
pub const NVML_GPM_METRIC_C2C_LINK4_DATA_TX_PER_SEC: nvmlGpmMetricId_t = 122;
pub const NVML_GPM_METRIC_C2C_LINK4_TOTAL_RX_PER_SEC: nvmlGpmMetricId_t = 121;
pub const NVML_GPM_METRIC_C2C_LINK4_TOTAL_TX_PER_SEC: nvmlGpmMetricId_t = 120;
pub const NVML_GPM_METRIC_C2C_LINK5_DATA_RX_PER_SEC: nvmlGpmMetricId_t = 127;
pub const NVML_GPM_METRIC_C2C_LINK5_DATA_TX_PER_SEC: nvmlGpmMetricId_t = 126;
pub const NVML_GPM_METRIC_C2C_LINK5_TOTAL_RX_PER_SEC: nvmlGpmMetricId_t = 125;
pub const NVML_GPM_METRIC_C2C_LINK5_TOTAL_TX_PER_SEC: nvmlGpmMetricId_t = 124;
pub const NVML_GPM_METRIC_C2C_LINK6_DATA_RX_PER_SEC: nvmlGpmMetricId_t = 131;
pub const NVML_GPM_METRIC_C2C_LINK6_DATA_TX_PER_SEC: nvmlGpmMetricId_t = 130;
pub const NVML_GPM_METRIC_C2C_LINK6_TOTAL_RX_PER_SEC: nvmlGpmMetricId_t = 129;
pub const NVML_GPM_METRIC_C2C_LINK6_TOTAL_TX_PER_SEC: nvmlGpmMetricId_t = 128;
pub const NVML_GPM_METRIC_C2C_LINK7_DATA_RX_PER_SEC: nvmlGpmMetricId_t = 135;
pub const NVML_GPM_METRIC_C2C_LINK7_DATA_TX_PER_SEC: nvmlGpmMetricId_t = 134;
pub const NVML_GPM_METRIC_C2C_LINK7_TOTAL_RX_PER_SEC: nvmlGpmMetricId_t = 133;
pub const NVML_GPM_METRIC_C2C_LINK7_TOTAL_TX_PER_SEC: nvmlGpmMetricId_t = 132;
pub const NVML_GPM_METRIC_C2C_LINK8_DATA_RX_PER_SEC: nvmlGpmMetricId_t = 139;
pub const NVML_GPM_METRIC_C2C_LINK8_DATA_TX_PER_SEC: nvmlGpmMetricId_t = 138;
pub const NVML_GPM_METRIC_C2C_LINK8_TOTAL_RX_PER_SEC: nvmlGpmMetricId_t = 137;
pub const NVML_GPM_METRIC_C2C_LINK8_TOTAL_TX_PER_SEC: nvmlGpmMetricId_t = 136;
pub const NVML_GPM_METRIC_C2C_LINK9_DATA_RX_PER_SEC: nvmlGpmMetricId_t = 143;
pub const NVML_GPM_METRIC_C2C_LINK9_DATA_TX_PER_SEC: nvmlGpmMetricId_t = 142;
pub const NVML_GPM_METRIC_C2C_LINK9_TOTAL_RX_PER_SEC: nvmlGpmMetricId_t = 141;
pub const NVML_GPM_METRIC_C2C_LINK9_TOTAL_TX_PER_SEC: nvmlGpmMetricId_t = 140;
pub const NVML_GPM_METRIC_C2C_TOTAL_RX_PER_SEC: nvmlGpmMetricId_t = 101;
pub const NVML_GPM_METRIC_C2C_TOTAL_TX_PER_SEC: nvmlGpmMetricId_t = 100;
pub const NVML_GPM_METRIC_DFMA_TENSOR_UTIL: nvmlGpmMetricId_t = 6;
pub const NVML_GPM_METRIC_DRAM_BW_UTIL: nvmlGpmMetricId_t = 10;
pub const NVML_GPM_METRIC_DRAM_CACHE_HIT: nvmlGpmMetricId_t = 164;
pub const NVML_GPM_METRIC_DRAM_CACHE_MISS: nvmlGpmMetricId_t = 165;
pub const NVML_GPM_METRIC_FP16_UTIL: nvmlGpmMetricId_t = 13;
pub const NVML_GPM_METRIC_FP32_UTIL: nvmlGpmMetricId_t = 12;
pub const NVML_GPM_METRIC_FP64_UTIL: nvmlGpmMetricId_t = 11;
pub const NVML_GPM_METRIC_GR0_CTXSW_ACTIVE_PCT: nvmlGpmMetricId_t = 174;
pub const NVML_GPM_METRIC_GR0_CTXSW_CYCLES_ACTIVE: nvmlGpmMetricId_t = 171;
pub const NVML_GPM_METRIC_GR0_CTXSW_CYCLES_ELAPSED: nvmlGpmMetricId_t = 170;
pub const NVML_GPM_METRIC_GR0_CTXSW_CYCLES_PER_REQ: nvmlGpmMetricId_t = 173;
pub const NVML_GPM_METRIC_GR0_CTXSW_REQUESTS: nvmlGpmMetricId_t = 172;
pub const NVML_GPM_METRIC_GR1_CTXSW_ACTIVE_PCT: nvmlGpmMetricId_t = 179;
pub const NVML_GPM_METRIC_GR1_CTXSW_CYCLES_ACTIVE: nvmlGpmMetricId_t = 176;
pub const NVML_GPM_METRIC_GR1_CTXSW_CYCLES_ELAPSED: nvmlGpmMetricId_t = 175;
pub const NVML_GPM_METRIC_GR1_CTXSW_CYCLES_PER_REQ: nvmlGpmMetricId_t = 178;
pub const NVML_GPM_METRIC_GR1_CTXSW_REQUESTS: nvmlGpmMetricId_t = 177;
pub const NVML_GPM_METRIC_GR2_CTXSW_ACTIVE_PCT: nvmlGpmMetricId_t = 184;
pub const NVML_GPM_METRIC_GR2_CTXSW_CYCLES_ACTIVE: nvmlGpmMetricId_t = 181;
pub const NVML_GPM_METRIC_GR2_CTXSW_CYCLES_ELAPSED: nvmlGpmMetricId_t = 180;
pub const NVML_GPM_METRIC_GR2_CTXSW_CYCLES_PER_REQ: nvmlGpmMetricId_t = 183;
pub const NVML_GPM_METRIC_GR2_CTXSW_REQUESTS: nvmlGpmMetricId_t = 182;
pub const NVML_GPM_METRIC_GR3_CTXSW_ACTIVE_PCT: nvmlGpmMetricId_t = 189;
pub const NVML_GPM_METRIC_GR3_CTXSW_CYCLES_ACTIVE: nvmlGpmMetricId_t = 186;
pub const NVML_GPM_METRIC_GR3_CTXSW_CYCLES_ELAPSED: nvmlGpmMetricId_t = 185;
pub const NVML_GPM_METRIC_GR3_CTXSW_CYCLES_PER_REQ: nvmlGpmMetricId_t = 188;
pub const NVML_GPM_METRIC_GR3_CTXSW_REQUESTS: nvmlGpmMetricId_t = 187;
pub const NVML_GPM_METRIC_GR4_CTXSW_ACTIVE_PCT: nvmlGpmMetricId_t = 194;
pub const NVML_GPM_METRIC_GR4_CTXSW_CYCLES_ACTIVE: nvmlGpmMetricId_t = 191;
pub const NVML_GPM_METRIC_GR4_CTXSW_CYCLES_ELAPSED: nvmlGpmMetricId_t = 190;
pub const NVML_GPM_METRIC_GR4_CTXSW_CYCLES_PER_REQ: nvmlGpmMetricId_t = 193;
pub const NVML_GPM_METRIC_GR4_CTXSW_REQUESTS: nvmlGpmMetricId_t = 192;
pub const NVML_GPM_METRIC_GR5_CTXSW_ACTIVE_PCT: nvmlGpmMetricId_t = 199;
pub const NVML_GPM_METRIC_GR5_CTXSW_CYCLES_ACTIVE: nvmlGpmMetricId_t = 196;
pub const NVML_GPM_METRIC_GR5_CTXSW_CYCLES_ELAPSED: nvmlGpmMetricId_t = 195;
pub const NVML_GPM_METRIC_GR5_CTXSW_CYCLES_PER_REQ: nvmlGpmMetricId_t = 198;
pub const NVML_GPM_METRIC_GR5_CTXSW_REQUESTS: nvmlGpmMetricId_t = 197;
pub const NVML_GPM_METRIC_GR6_CTXSW_ACTIVE_PCT: nvmlGpmMetricId_t = 204;
pub const NVML_GPM_METRIC_GR6_CTXSW_CYCLES_ACTIVE: nvmlGpmMetricId_t = 201;
pub const NVML_GPM_METRIC_GR6_CTXSW_CYCLES_ELAPSED: nvmlGpmMetricId_t = 200;
pub const NVML_GPM_METRIC_GR6_CTXSW_CYCLES_PER_REQ: nvmlGpmMetricId_t = 203;
pub const NVML_GPM_METRIC_GR6_CTXSW_REQUESTS: nvmlGpmMetricId_t = 202;
pub const NVML_GPM_METRIC_GR7_CTXSW_ACTIVE_PCT: nvmlGpmMetricId_t = 209;
pub const NVML_GPM_METRIC_GR7_CTXSW_CYCLES_ACTIVE: nvmlGpmMetricId_t = 206;
pub const NVML_GPM_METRIC_GR7_CTXSW_CYCLES_ELAPSED: nvmlGpmMetricId_t = 205;
pub const NVML_GPM_METRIC_GR7_CTXSW_CYCLES_PER_REQ: nvmlGpmMetricId_t = 208;
pub const NVML_GPM_METRIC_GR7_CTXSW_REQUESTS: nvmlGpmMetricId_t = 207;
pub const NVML_GPM_METRIC_GRAPHICS_UTIL: nvmlGpmMetricId_t = 1;
pub const NVML_GPM_METRIC_HMMA_TENSOR_UTIL: nvmlGpmMetricId_t = 7;
pub const NVML_GPM_METRIC_HOSTMEM_CACHE_HIT: nvmlGpmMetricId_t = 160;
pub const NVML_GPM_METRIC_HOSTMEM_CACHE_MISS: nvmlGpmMetricId_t = 161;
pub const NVML_GPM_METRIC_IMMA_TENSOR_UTIL: nvmlGpmMetricId_t = 9;
pub const NVML_GPM_METRIC_INTEGER_UTIL: nvmlGpmMetricId_t = 4;
pub const NVML_GPM_METRIC_MAX: nvmlGpmMetricId_t = 210;
pub const NVML_GPM_METRIC_NVDEC_0_UTIL: nvmlGpmMetricId_t = 30;
pub const NVML_GPM_METRIC_NVDEC_1_UTIL: nvmlGpmMetricId_t = 31;
pub const NVML_GPM_METRIC_NVDEC_2_UTIL: nvmlGpmMetricId_t = 32;
pub const NVML_GPM_METRIC_NVDEC_3_UTIL: nvmlGpmMetricId_t = 33;
pub const NVML_GPM_METRIC_NVDEC_4_UTIL: nvmlGpmMetricId_t = 34;
pub const NVML_GPM_METRIC_NVDEC_5_UTIL: nvmlGpmMetricId_t = 35;
pub const NVML_GPM_METRIC_NVDEC_6_UTIL: nvmlGpmMetricId_t = 36;
pub const NVML_GPM_METRIC_NVDEC_7_UTIL: nvmlGpmMetricId_t = 37;
pub const NVML_GPM_METRIC_NVENC_0_UTIL: nvmlGpmMetricId_t = 166;
pub const NVML_GPM_METRIC_NVENC_1_UTIL: nvmlGpmMetricId_t = 167;
pub const NVML_GPM_METRIC_NVENC_2_UTIL: nvmlGpmMetricId_t = 168;
pub const NVML_GPM_METRIC_NVENC_3_UTIL: nvmlGpmMetricId_t = 169;
pub const NVML_GPM_METRIC_NVJPG_0_UTIL: nvmlGpmMetricId_t = 40;
pub const NVML_GPM_METRIC_NVJPG_1_UTIL: nvmlGpmMetricId_t = 41;
pub const NVML_GPM_METRIC_NVJPG_2_UTIL: nvmlGpmMetricId_t = 42;
pub const NVML_GPM_METRIC_NVJPG_3_UTIL: nvmlGpmMetricId_t = 43;
pub const NVML_GPM_METRIC_NVJPG_4_UTIL: nvmlGpmMetricId_t = 44;
pub const NVML_GPM_METRIC_NVJPG_5_UTIL: nvmlGpmMetricId_t = 45;
pub const NVML_GPM_METRIC_NVJPG_6_UTIL: nvmlGpmMetricId_t = 46;
pub const NVML_GPM_METRIC_NVJPG_7_UTIL: nvmlGpmMetricId_t = 47;
pub const NVML_GPM_METRIC_NVLINK_L0_RX_PER_SEC: nvmlGpmMetricId_t = 62;
pub const NVML_GPM_METRIC_NVLINK_L0_TX_PER_SEC: nvmlGpmMetricId_t = 63;
pub const NVML_GPM_METRIC_NVLINK_L10_RX_PER_SEC: nvmlGpmMetricId_t = 82;
pub const NVML_GPM_METRIC_NVLINK_L10_TX_PER_SEC: nvmlGpmMetricId_t = 83;
pub const NVML_GPM_METRIC_NVLINK_L11_RX_PER_SEC: nvmlGpmMetricId_t = 84;
pub const NVML_GPM_METRIC_NVLINK_L11_TX_PER_SEC: nvmlGpmMetricId_t = 85;
pub const NVML_GPM_METRIC_NVLINK_L12_RX_PER_SEC: nvmlGpmMetricId_t = 86;
pub const NVML_GPM_METRIC_NVLINK_L12_TX_PER_SEC: nvmlGpmMetricId_t = 87;
pub const NVML_GPM_METRIC_NVLINK_L13_RX_PER_SEC: nvmlGpmMetricId_t = 88;
pub const NVML_GPM_METRIC_NVLINK_L13_TX_PER_SEC: nvmlGpmMetricId_t = 89;
pub const NVML_GPM_METRIC_NVLINK_L14_RX_PER_SEC: nvmlGpmMetricId_t = 90;
pub const NVML_GPM_METRIC_NVLINK_L14_TX_PER_SEC: nvmlGpmMetricId_t = 91;
pub const NVML_GPM_METRIC_NVLINK_L15_RX_PER_SEC: nvmlGpmMetricId_t = 92;
pub const NVML_GPM_METRIC_NVLINK_L15_TX_PER_SEC: nvmlGpmMetricId_t = 93;
pub const NVML_GPM_METRIC_NVLINK_L16_RX_PER_SEC: nvmlGpmMetricId_t = 94;
pub const NVML_GPM_METRIC_NVLINK_L16_TX_PER_SEC: nvmlGpmMetricId_t = 95;
pub const NVML_GPM_METRIC_NVLINK_L17_RX_PER_SEC: nvmlGpmMetricId_t = 96;
pub const NVML_GPM_METRIC_NVLINK_L17_TX_PER_SEC: nvmlGpmMetricId_t = 97;
pub const NVML_GPM_METRIC_NVLINK_L1_RX_PER_SEC: nvmlGpmMetricId_t = 64;
pub const NVML_GPM_METRIC_NVLINK_L1_TX_PER_SEC: nvmlGpmMetricId_t = 65;
pub const NVML_GPM_METRIC_NVLINK_L2_RX_PER_SEC: nvmlGpmMetricId_t = 66;
pub const NVML_GPM_METRIC_NVLINK_L2_TX_PER_SEC: nvmlGpmMetricId_t = 67;
pub const NVML_GPM_METRIC_NVLINK_L3_RX_PER_SEC: nvmlGpmMetricId_t = 68;
pub const NVML_GPM_METRIC_NVLINK_L3_TX_PER_SEC: nvmlGpmMetricId_t = 69;
pub const NVML_GPM_METRIC_NVLINK_L4_RX_PER_SEC: nvmlGpmMetricId_t = 70;
pub const NVML_GPM_METRIC_NVLINK_L4_TX_PER_SEC: nvmlGpmMetricId_t = 71;
pub const NVML_GPM_METRIC_NVLINK_L5_RX_PER_SEC: nvmlGpmMetricId_t = 72;
pub const NVML_GPM_METRIC_NVLINK_L5_TX_PER_SEC: nvmlGpmMetricId_t = 73;
pub const NVML_GPM_METRIC_NVLINK_L6_RX_PER_SEC: nvmlGpmMetricId_t = 74;
pub const NVML_GPM_METRIC_NVLINK_L6_TX_PER_SEC: nvmlGpmMetricId_t = 75;
pub const NVML_GPM_METRIC_NVLINK_L7_RX_PER_SEC: nvmlGpmMetricId_t = 76;
pub const NVML_GPM_METRIC_NVLINK_L7_TX_PER_SEC: nvmlGpmMetricId_t = 77;
pub const NVML_GPM_METRIC_NVLINK_L8_RX_PER_SEC: nvmlGpmMetricId_t = 78;
pub const NVML_GPM_METRIC_NVLINK_L8_TX_PER_SEC: nvmlGpmMetricId_t = 79;
pub const NVML_GPM_METRIC_NVLINK_L9_RX_PER_SEC: nvmlGpmMetricId_t = 80;
pub const NVML_GPM_METRIC_NVLINK_L9_TX_PER_SEC: nvmlGpmMetricId_t = 81;
pub const NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC: nvmlGpmMetricId_t = 60;
pub const NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC: nvmlGpmMetricId_t = 61;
pub const NVML_GPM_METRIC_NVOFA_0_UTIL: nvmlGpmMetricId_t = 50;
pub const NVML_GPM_METRIC_NVOFA_1_UTIL: nvmlGpmMetricId_t = 51;
pub const NVML_GPM_METRIC_PCIE_RX_PER_SEC: nvmlGpmMetricId_t = 21;
pub const NVML_GPM_METRIC_PCIE_TX_PER_SEC: nvmlGpmMetricId_t = 20;
pub const NVML_GPM_METRIC_PEERMEM_CACHE_HIT: nvmlGpmMetricId_t = 162;
pub const NVML_GPM_METRIC_PEERMEM_CACHE_MISS: nvmlGpmMetricId_t = 163;
pub const NVML_GPM_METRIC_SM_OCCUPANCY: nvmlGpmMetricId_t = 3;
pub const NVML_GPM_METRIC_SM_UTIL: nvmlGpmMetricId_t = 2;
pub const NVML_TOPOLOGY_HOSTBRIDGE: nvmlGpuLevel_enum = 30;
pub const NVML_TOPOLOGY_INTERNAL: nvmlGpuLevel_enum = 0;
pub const NVML_TOPOLOGY_MULTIPLE: nvmlGpuLevel_enum = 20;
pub const NVML_TOPOLOGY_NODE: nvmlGpuLevel_enum = 40;
pub const NVML_TOPOLOGY_SINGLE: nvmlGpuLevel_enum = 10;
pub const NVML_TOPOLOGY_SYSTEM: nvmlGpuLevel_enum = 50;
pub const NVML_P2P_CAPS_INDEX_ATOMICS: nvmlGpuP2PCapsIndex_enum = 3;
pub const NVML_P2P_CAPS_INDEX_NVLINK: nvmlGpuP2PCapsIndex_enum = 2;
pub const NVML_P2P_CAPS_INDEX_PCI: nvmlGpuP2PCapsIndex_enum = 4;
pub const NVML_P2P_CAPS_INDEX_PROP: nvmlGpuP2PCapsIndex_enum = 4;
pub const NVML_P2P_CAPS_INDEX_READ: nvmlGpuP2PCapsIndex_enum = 0;
pub const NVML_P2P_CAPS_INDEX_UNKNOWN: nvmlGpuP2PCapsIndex_enum = 5;
pub const NVML_P2P_CAPS_INDEX_WRITE: nvmlGpuP2PCapsIndex_enum = 1;
pub const NVML_P2P_STATUS_CHIPSET_NOT_SUPPORED: nvmlGpuP2PStatus_enum = 1;
pub const NVML_P2P_STATUS_CHIPSET_NOT_SUPPORTED: nvmlGpuP2PStatus_enum = 1;
pub const NVML_P2P_STATUS_DISABLED_BY_REGKEY: nvmlGpuP2PStatus_enum = 4;
pub const NVML_P2P_STATUS_GPU_NOT_SUPPORTED: nvmlGpuP2PStatus_enum = 2;
pub const NVML_P2P_STATUS_IOH_TOPOLOGY_NOT_SUPPORTED: nvmlGpuP2PStatus_enum = 3;
pub const NVML_P2P_STATUS_NOT_SUPPORTED: nvmlGpuP2PStatus_enum = 5;
pub const NVML_P2P_STATUS_OK: nvmlGpuP2PStatus_enum = 0;
pub const NVML_P2P_STATUS_UNKNOWN: nvmlGpuP2PStatus_enum = 6;
pub const NVML_GPU_UTILIZATION_DOMAIN_BUS: nvmlGpuUtilizationDomainId_t = 3;
pub const NVML_GPU_UTILIZATION_DOMAIN_FB: nvmlGpuUtilizationDomainId_t = 1;
pub const NVML_GPU_UTILIZATION_DOMAIN_GPU: nvmlGpuUtilizationDomainId_t = 0;
pub const NVML_GPU_UTILIZATION_DOMAIN_VID: nvmlGpuUtilizationDomainId_t = 2;
pub const NVML_GPU_VIRTUALIZATION_MODE_HOST_VGPU: nvmlGpuVirtualizationMode = 3;
pub const NVML_GPU_VIRTUALIZATION_MODE_HOST_VSGA: nvmlGpuVirtualizationMode = 4;
pub const NVML_GPU_VIRTUALIZATION_MODE_NONE: nvmlGpuVirtualizationMode = 0;
pub const NVML_GPU_VIRTUALIZATION_MODE_PASSTHROUGH: nvmlGpuVirtualizationMode = 1;
pub const NVML_GPU_VIRTUALIZATION_MODE_VGPU: nvmlGpuVirtualizationMode = 2;
pub const NVML_GRID_LICENSE_FEATURE_CODE_COMPUTE: nvmlGridLicenseFeatureCode_t = 4;
pub const NVML_GRID_LICENSE_FEATURE_CODE_GAMING: nvmlGridLicenseFeatureCode_t = 3;
pub const NVML_GRID_LICENSE_FEATURE_CODE_NVIDIA_RTX: nvmlGridLicenseFeatureCode_t = 2;
pub const NVML_GRID_LICENSE_FEATURE_CODE_UNKNOWN: nvmlGridLicenseFeatureCode_t = 0;
pub const NVML_GRID_LICENSE_FEATURE_CODE_VGPU: nvmlGridLicenseFeatureCode_t = 1;
pub const NVML_GRID_LICENSE_FEATURE_CODE_VWORKSTATION: nvmlGridLicenseFeatureCode_t = 2;
pub const NVML_HOST_VGPU_MODE_NON_SRIOV: nvmlHostVgpuMode_enum = 0;
pub const NVML_HOST_VGPU_MODE_SRIOV: nvmlHostVgpuMode_enum = 1;
pub const NVML_INFOROM_COUNT: nvmlInforomObject_enum = 4;
pub const NVML_INFOROM_DEN: nvmlInforomObject_enum = 3;
pub const NVML_INFOROM_ECC: nvmlInforomObject_enum = 1;
pub const NVML_INFOROM_OEM: nvmlInforomObject_enum = 0;
pub const NVML_INFOROM_POWER: nvmlInforomObject_enum = 2;
pub const NVML_NVLINK_DEVICE_TYPE_GPU: nvmlIntNvLinkDeviceType_enum = 0;
pub const NVML_NVLINK_DEVICE_TYPE_IBMNPU: nvmlIntNvLinkDeviceType_enum = 1;
pub const NVML_NVLINK_DEVICE_TYPE_SWITCH: nvmlIntNvLinkDeviceType_enum = 2;
pub const NVML_NVLINK_DEVICE_TYPE_UNKNOWN: nvmlIntNvLinkDeviceType_enum = 255;
pub const NVML_LED_COLOR_AMBER: nvmlLedColor_enum = 1;
pub const NVML_LED_COLOR_GREEN: nvmlLedColor_enum = 0;
pub const NVML_MEMORY_ERROR_TYPE_CORRECTED: nvmlMemoryErrorType_enum = 0;
pub const NVML_MEMORY_ERROR_TYPE_COUNT: nvmlMemoryErrorType_enum = 2;
pub const NVML_MEMORY_ERROR_TYPE_UNCORRECTED: nvmlMemoryErrorType_enum = 1;
pub const NVML_MEMORY_LOCATION_CBU: nvmlMemoryLocation_enum = 6;
pub const NVML_MEMORY_LOCATION_COUNT: nvmlMemoryLocation_enum = 8;
pub const NVML_MEMORY_LOCATION_DEVICE_MEMORY: nvmlMemoryLocation_enum = 2;
pub const NVML_MEMORY_LOCATION_DRAM: nvmlMemoryLocation_enum = 2;
pub const NVML_MEMORY_LOCATION_L1_CACHE: nvmlMemoryLocation_enum = 0;
pub const NVML_MEMORY_LOCATION_L2_CACHE: nvmlMemoryLocation_enum = 1;
pub const NVML_MEMORY_LOCATION_REGISTER_FILE: nvmlMemoryLocation_enum = 3;
pub const NVML_MEMORY_LOCATION_SRAM: nvmlMemoryLocation_enum = 7;
pub const NVML_MEMORY_LOCATION_TEXTURE_MEMORY: nvmlMemoryLocation_enum = 4;
pub const NVML_MEMORY_LOCATION_TEXTURE_SHM: nvmlMemoryLocation_enum = 5;
pub const NVML_NVLINK_CAP_COUNT: nvmlNvLinkCapability_enum = 6;
pub const NVML_NVLINK_CAP_P2P_ATOMICS: nvmlNvLinkCapability_enum = 2;
pub const NVML_NVLINK_CAP_P2P_SUPPORTED: nvmlNvLinkCapability_enum = 0;
pub const NVML_NVLINK_CAP_SLI_BRIDGE: nvmlNvLinkCapability_enum = 4;
pub const NVML_NVLINK_CAP_SYSMEM_ACCESS: nvmlNvLinkCapability_enum = 1;
pub const NVML_NVLINK_CAP_SYSMEM_ATOMICS: nvmlNvLinkCapability_enum = 3;
pub const NVML_NVLINK_CAP_VALID: nvmlNvLinkCapability_enum = 5;
pub const NVML_NVLINK_ERROR_COUNT: nvmlNvLinkErrorCounter_enum = 5;
pub const NVML_NVLINK_ERROR_DL_CRC_DATA: nvmlNvLinkErrorCounter_enum = 3;
pub const NVML_NVLINK_ERROR_DL_CRC_FLIT: nvmlNvLinkErrorCounter_enum = 2;
pub const NVML_NVLINK_ERROR_DL_ECC_DATA: nvmlNvLinkErrorCounter_enum = 4;
pub const NVML_NVLINK_ERROR_DL_RECOVERY: nvmlNvLinkErrorCounter_enum = 1;
pub const NVML_NVLINK_ERROR_DL_REPLAY: nvmlNvLinkErrorCounter_enum = 0;
pub const NVML_NVLINK_COUNTER_PKTFILTER_ALL: nvmlNvLinkUtilizationCountPktTypes_enum = 255;
pub const NVML_NVLINK_COUNTER_PKTFILTER_FLUSH: nvmlNvLinkUtilizationCountPktTypes_enum = 32;
pub const NVML_NVLINK_COUNTER_PKTFILTER_NOP: nvmlNvLinkUtilizationCountPktTypes_enum = 1;
pub const NVML_NVLINK_COUNTER_PKTFILTER_NRATOM: nvmlNvLinkUtilizationCountPktTypes_enum = 16;
pub const NVML_NVLINK_COUNTER_PKTFILTER_RATOM: nvmlNvLinkUtilizationCountPktTypes_enum = 8;
pub const NVML_NVLINK_COUNTER_PKTFILTER_READ: nvmlNvLinkUtilizationCountPktTypes_enum = 2;
pub const NVML_NVLINK_COUNTER_PKTFILTER_RESPDATA: nvmlNvLinkUtilizationCountPktTypes_enum = 64;
pub const NVML_NVLINK_COUNTER_PKTFILTER_RESPNODATA: nvmlNvLinkUtilizationCountPktTypes_enum = 128;
pub const NVML_NVLINK_COUNTER_PKTFILTER_WRITE: nvmlNvLinkUtilizationCountPktTypes_enum = 4;
pub const NVML_NVLINK_COUNTER_UNIT_BYTES: nvmlNvLinkUtilizationCountUnits_enum = 2;
pub const NVML_NVLINK_COUNTER_UNIT_COUNT: nvmlNvLinkUtilizationCountUnits_enum = 4;
pub const NVML_NVLINK_COUNTER_UNIT_CYCLES: nvmlNvLinkUtilizationCountUnits_enum = 0;
pub const NVML_NVLINK_COUNTER_UNIT_PACKETS: nvmlNvLinkUtilizationCountUnits_enum = 1;
pub const NVML_NVLINK_COUNTER_UNIT_RESERVED: nvmlNvLinkUtilizationCountUnits_enum = 3;
pub const NVML_NVLINK_VERSION_1_0: nvmlNvlinkVersion_enum = 1;
pub const NVML_NVLINK_VERSION_2_0: nvmlNvlinkVersion_enum = 2;
pub const NVML_NVLINK_VERSION_2_2: nvmlNvlinkVersion_enum = 3;
pub const NVML_NVLINK_VERSION_3_0: nvmlNvlinkVersion_enum = 4;
pub const NVML_NVLINK_VERSION_3_1: nvmlNvlinkVersion_enum = 5;
pub const NVML_NVLINK_VERSION_4_0: nvmlNvlinkVersion_enum = 6;
pub const NVML_NVLINK_VERSION_5_0: nvmlNvlinkVersion_enum = 7;
pub const NVML_NVLINK_VERSION_INVALID: nvmlNvlinkVersion_enum = 0;
pub const NVML_PSTATE_0: nvmlPStates_enum = 0;
pub const NVML_PSTATE_1: nvmlPStates_enum = 1;
pub const NVML_PSTATE_10: nvmlPStates_enum = 10;
pub const NVML_PSTATE_11: nvmlPStates_enum = 11;
pub const NVML_PSTATE_12: nvmlPStates_enum = 12;
pub const NVML_PSTATE_13: nvmlPStates_enum = 13;
pub const NVML_PSTATE_14: nvmlPStates_enum = 14;
pub const NVML_PSTATE_15: nvmlPStates_enum = 15;
pub const NVML_PSTATE_2: nvmlPStates_enum = 2;
pub const NVML_PSTATE_3: nvmlPStates_enum = 3;
pub const NVML_PSTATE_4: nvmlPStates_enum = 4;
pub const NVML_PSTATE_5: nvmlPStates_enum = 5;
pub const NVML_PSTATE_6: nvmlPStates_enum = 6;
pub const NVML_PSTATE_7: nvmlPStates_enum = 7;
pub const NVML_PSTATE_8: nvmlPStates_enum = 8;
pub const NVML_PSTATE_9: nvmlPStates_enum = 9;
pub const NVML_PSTATE_UNKNOWN: nvmlPStates_enum = 32;
pub const NVML_PAGE_RETIREMENT_CAUSE_COUNT: nvmlPageRetirementCause_enum = 2;
pub const NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR: nvmlPageRetirementCause_enum = 1;
pub const NVML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS: nvmlPageRetirementCause_enum =
    0;
pub const NVML_PCIE_LINK_KEEP: nvmlPcieLinkState_enum = 0;
pub const NVML_PCIE_LINK_SHUT_DOWN: nvmlPcieLinkState_enum = 1;
pub const NVML_PCIE_UTIL_COUNT: nvmlPcieUtilCounter_enum = 2;
pub const NVML_PCIE_UTIL_RX_BYTES: nvmlPcieUtilCounter_enum = 1;
pub const NVML_PCIE_UTIL_TX_BYTES: nvmlPcieUtilCounter_enum = 0;
pub const NVML_PERF_POLICY_BOARD_LIMIT: nvmlPerfPolicyType_enum = 3;
pub const NVML_PERF_POLICY_COUNT: nvmlPerfPolicyType_enum = 12;
pub const NVML_PERF_POLICY_LOW_UTILIZATION: nvmlPerfPolicyType_enum = 4;
pub const NVML_PERF_POLICY_POWER: nvmlPerfPolicyType_enum = 0;
pub const NVML_PERF_POLICY_RELIABILITY: nvmlPerfPolicyType_enum = 5;
pub const NVML_PERF_POLICY_SYNC_BOOST: nvmlPerfPolicyType_enum = 2;
pub const NVML_PERF_POLICY_THERMAL: nvmlPerfPolicyType_enum = 1;
pub const NVML_PERF_POLICY_TOTAL_APP_CLOCKS: nvmlPerfPolicyType_enum = 10;
pub const NVML_PERF_POLICY_TOTAL_BASE_CLOCKS: nvmlPerfPolicyType_enum = 11;
pub const NVML_POWER_PROFILE_BALANCED: nvmlPowerProfileType_t = 5;
pub const NVML_POWER_PROFILE_COMPUTE: nvmlPowerProfileType_t = 2;
pub const NVML_POWER_PROFILE_DCPCIE: nvmlPowerProfileType_t = 9;
pub const NVML_POWER_PROFILE_HMMA_DENSE: nvmlPowerProfileType_t = 11;
pub const NVML_POWER_PROFILE_HMMA_SPARSE: nvmlPowerProfileType_t = 10;
pub const NVML_POWER_PROFILE_HPC: nvmlPowerProfileType_t = 13;
pub const NVML_POWER_PROFILE_LLM_INFERENCE: nvmlPowerProfileType_t = 6;
pub const NVML_POWER_PROFILE_LLM_TRAINING: nvmlPowerProfileType_t = 7;
pub const NVML_POWER_PROFILE_MAX: nvmlPowerProfileType_t = 15;
pub const NVML_POWER_PROFILE_MAX_P: nvmlPowerProfileType_t = 0;
pub const NVML_POWER_PROFILE_MAX_Q: nvmlPowerProfileType_t = 1;
pub const NVML_POWER_PROFILE_MEMORY_BOUND: nvmlPowerProfileType_t = 3;
pub const NVML_POWER_PROFILE_MIG: nvmlPowerProfileType_t = 14;
pub const NVML_POWER_PROFILE_NETWORK: nvmlPowerProfileType_t = 4;
pub const NVML_POWER_PROFILE_RBM: nvmlPowerProfileType_t = 8;
pub const NVML_POWER_PROFILE_SYNC_BALANCED: nvmlPowerProfileType_t = 12;
pub const NVML_RESTRICTED_API_COUNT: nvmlRestrictedAPI_enum = 2;
pub const NVML_RESTRICTED_API_SET_APPLICATION_CLOCKS: nvmlRestrictedAPI_enum = 0;
pub const NVML_RESTRICTED_API_SET_AUTO_BOOSTED_CLOCKS: nvmlRestrictedAPI_enum = 1;
pub const NVML_ERROR_ALREADY_INITIALIZED: nvmlReturn_enum = 5;
pub const NVML_ERROR_ARGUMENT_VERSION_MISMATCH: nvmlReturn_enum = 25;
pub const NVML_ERROR_CORRUPTED_INFOROM: nvmlReturn_enum = 14;
pub const NVML_ERROR_DEPRECATED: nvmlReturn_enum = 26;
pub const NVML_ERROR_DRIVER_NOT_LOADED: nvmlReturn_enum = 9;
pub const NVML_ERROR_FREQ_NOT_SUPPORTED: nvmlReturn_enum = 24;
pub const NVML_ERROR_FUNCTION_NOT_FOUND: nvmlReturn_enum = 13;
pub const NVML_ERROR_GPU_IS_LOST: nvmlReturn_enum = 15;
pub const NVML_ERROR_GPU_NOT_FOUND: nvmlReturn_enum = 28;
pub const NVML_ERROR_INSUFFICIENT_POWER: nvmlReturn_enum = 8;
pub const NVML_ERROR_INSUFFICIENT_RESOURCES: nvmlReturn_enum = 23;
pub const NVML_ERROR_INSUFFICIENT_SIZE: nvmlReturn_enum = 7;
pub const NVML_ERROR_INVALID_ARGUMENT: nvmlReturn_enum = 2;
pub const NVML_ERROR_INVALID_STATE: nvmlReturn_enum = 29;
pub const NVML_ERROR_IN_USE: nvmlReturn_enum = 19;
pub const NVML_ERROR_IRQ_ISSUE: nvmlReturn_enum = 11;
pub const NVML_ERROR_LIBRARY_NOT_FOUND: nvmlReturn_enum = 12;
pub const NVML_ERROR_LIB_RM_VERSION_MISMATCH: nvmlReturn_enum = 18;
pub const NVML_ERROR_MEMORY: nvmlReturn_enum = 20;
pub const NVML_ERROR_NOT_FOUND: nvmlReturn_enum = 6;
pub const NVML_ERROR_NOT_READY: nvmlReturn_enum = 27;
pub const NVML_ERROR_NOT_SUPPORTED: nvmlReturn_enum = 3;
pub const NVML_ERROR_NO_DATA: nvmlReturn_enum = 21;
pub const NVML_ERROR_NO_PERMISSION: nvmlReturn_enum = 4;
pub const NVML_ERROR_OPERATING_SYSTEM: nvmlReturn_enum = 17;
pub const NVML_ERROR_RESET_REQUIRED: nvmlReturn_enum = 16;
pub const NVML_ERROR_RESET_TYPE_NOT_SUPPORTED: nvmlReturn_enum = 30;
pub const NVML_ERROR_TIMEOUT: nvmlReturn_enum = 10;
pub const NVML_ERROR_UNINITIALIZED: nvmlReturn_enum = 1;
pub const NVML_ERROR_UNKNOWN: nvmlReturn_enum = 999;
pub const NVML_ERROR_VGPU_ECC_NOT_SUPPORTED: nvmlReturn_enum = 22;
pub const NVML_SUCCESS: nvmlReturn_enum = 0;
pub const NVML_DEC_UTILIZATION_SAMPLES: nvmlSamplingType_enum = 4;
pub const NVML_ENC_UTILIZATION_SAMPLES: nvmlSamplingType_enum = 3;
pub const NVML_GPU_UTILIZATION_SAMPLES: nvmlSamplingType_enum = 1;
pub const NVML_JPG_UTILIZATION_SAMPLES: nvmlSamplingType_enum = 8;
pub const NVML_MEMORY_CLK_SAMPLES: nvmlSamplingType_enum = 6;
pub const NVML_MEMORY_UTILIZATION_SAMPLES: nvmlSamplingType_enum = 2;
pub const NVML_MODULE_POWER_SAMPLES: nvmlSamplingType_enum = 7;
pub const NVML_OFA_UTILIZATION_SAMPLES: nvmlSamplingType_enum = 9;
pub const NVML_PROCESSOR_CLK_SAMPLES: nvmlSamplingType_enum = 5;
pub const NVML_SAMPLINGTYPE_COUNT: nvmlSamplingType_enum = 10;
pub const NVML_TOTAL_POWER_SAMPLES: nvmlSamplingType_enum = 0;
pub const nvmlSystemEventTypeCount: u32 = 2;
pub const nvmlSystemEventTypeGpuDriverBind: u32 = 2;
pub const nvmlSystemEventTypeGpuDriverUnbind: u32 = 1;
pub const NVML_TEMPERATURE_COUNT: nvmlTemperatureSensors_enum = 1;
pub const NVML_TEMPERATURE_GPU: nvmlTemperatureSensors_enum = 0;
pub const NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_CURR: nvmlTemperatureThresholds_enum = 5;
pub const NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_MAX: nvmlTemperatureThresholds_enum = 6;
pub const NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_MIN: nvmlTemperatureThresholds_enum = 4;
pub const NVML_TEMPERATURE_THRESHOLD_COUNT: nvmlTemperatureThresholds_enum = 8;
pub const NVML_TEMPERATURE_THRESHOLD_GPS_CURR: nvmlTemperatureThresholds_enum = 7;
pub const NVML_TEMPERATURE_THRESHOLD_GPU_MAX: nvmlTemperatureThresholds_enum = 3;
pub const NVML_TEMPERATURE_THRESHOLD_MEM_MAX: nvmlTemperatureThresholds_enum = 2;
pub const NVML_TEMPERATURE_THRESHOLD_SHUTDOWN: nvmlTemperatureThresholds_enum = 0;
pub const NVML_TEMPERATURE_THRESHOLD_SLOWDOWN: nvmlTemperatureThresholds_enum = 1;
pub const NVML_THERMAL_CONTROLLER_ADM1032: nvmlThermalController_t = 2;
pub const NVML_THERMAL_CONTROLLER_ADT7461: nvmlThermalController_t = 3;
pub const NVML_THERMAL_CONTROLLER_ADT7473: nvmlThermalController_t = 10;
pub const NVML_THERMAL_CONTROLLER_ADT7473S: nvmlThermalController_t = 17;
pub const NVML_THERMAL_CONTROLLER_G781: nvmlThermalController_t = 9;
pub const NVML_THERMAL_CONTROLLER_GPU_INTERNAL: nvmlThermalController_t = 1;
pub const NVML_THERMAL_CONTROLLER_LM64: nvmlThermalController_t = 8;
pub const NVML_THERMAL_CONTROLLER_LM89: nvmlThermalController_t = 7;
pub const NVML_THERMAL_CONTROLLER_LM99: nvmlThermalController_t = 6;
pub const NVML_THERMAL_CONTROLLER_MAX1617: nvmlThermalController_t = 5;
pub const NVML_THERMAL_CONTROLLER_MAX6649: nvmlThermalController_t = 4;
pub const NVML_THERMAL_CONTROLLER_MAX6649R: nvmlThermalController_t = 16;
pub const NVML_THERMAL_CONTROLLER_NONE: nvmlThermalController_t = 0;
pub const NVML_THERMAL_CONTROLLER_NVSYSCON_CANOAS: nvmlThermalController_t = 14;
pub const NVML_THERMAL_CONTROLLER_NVSYSCON_E551: nvmlThermalController_t = 15;
pub const NVML_THERMAL_CONTROLLER_OS: nvmlThermalController_t = 13;
pub const NVML_THERMAL_CONTROLLER_SBMAX6649: nvmlThermalController_t = 11;
pub const NVML_THERMAL_CONTROLLER_UNKNOWN: nvmlThermalController_t = -1;
pub const NVML_THERMAL_CONTROLLER_VBIOSEVT: nvmlThermalController_t = 12;
pub const NVML_THERMAL_TARGET_ALL: nvmlThermalTarget_t = 15;
pub const NVML_THERMAL_TARGET_BOARD: nvmlThermalTarget_t = 8;
pub const NVML_THERMAL_TARGET_GPU: nvmlThermalTarget_t = 1;
pub const NVML_THERMAL_TARGET_MEMORY: nvmlThermalTarget_t = 2;
pub const NVML_THERMAL_TARGET_NONE: nvmlThermalTarget_t = 0;
pub const NVML_THERMAL_TARGET_POWER_SUPPLY: nvmlThermalTarget_t = 4;
pub const NVML_THERMAL_TARGET_UNKNOWN: nvmlThermalTarget_t = -1;
pub const NVML_THERMAL_TARGET_VCD_BOARD: nvmlThermalTarget_t = 9;
pub const NVML_THERMAL_TARGET_VCD_INLET: nvmlThermalTarget_t = 10;
pub const NVML_THERMAL_TARGET_VCD_OUTLET: nvmlThermalTarget_t = 11;
pub const NVML_UUID_TYPE_ASCII: nvmlUUIDType_t = 1;
pub const NVML_UUID_TYPE_BINARY: nvmlUUIDType_t = 2;
pub const NVML_UUID_TYPE_NONE: nvmlUUIDType_t = 0;
pub const NVML_VALUE_TYPE_COUNT: nvmlValueType_enum = 7;
pub const NVML_VALUE_TYPE_DOUBLE: nvmlValueType_enum = 0;
pub const NVML_VALUE_TYPE_SIGNED_INT: nvmlValueType_enum = 5;
pub const NVML_VALUE_TYPE_SIGNED_LONG_LONG: nvmlValueType_enum = 4;
pub const NVML_VALUE_TYPE_UNSIGNED_INT: nvmlValueType_enum = 1;
pub const NVML_VALUE_TYPE_UNSIGNED_LONG: nvmlValueType_enum = 2;
pub const NVML_VALUE_TYPE_UNSIGNED_LONG_LONG: nvmlValueType_enum = 3;
pub const NVML_VALUE_TYPE_UNSIGNED_SHORT: nvmlValueType_enum = 6;
pub const NVML_VGPU_CAP_COUNT: nvmlVgpuCapability_enum = 5;
pub const NVML_VGPU_CAP_EXCLUSIVE_SIZE: nvmlVgpuCapability_enum = 4;
pub const NVML_VGPU_CAP_EXCLUSIVE_TYPE: nvmlVgpuCapability_enum = 3;
pub const NVML_VGPU_CAP_GPUDIRECT: nvmlVgpuCapability_enum = 1;
pub const NVML_VGPU_CAP_MULTI_VGPU_EXCLUSIVE: nvmlVgpuCapability_enum = 2;
pub const NVML_VGPU_CAP_NVLINK_P2P: nvmlVgpuCapability_enum = 0;
pub const NVML_VGPU_DRIVER_CAP_COUNT: nvmlVgpuDriverCapability_enum = 2;
pub const NVML_VGPU_DRIVER_CAP_HETEROGENEOUS_MULTI_VGPU: nvmlVgpuDriverCapability_enum = 0;
pub const NVML_VGPU_DRIVER_CAP_WARM_UPDATE: nvmlVgpuDriverCapability_enum = 1;
pub const NVML_VGPU_INSTANCE_GUEST_INFO_STATE_INITIALIZED: nvmlVgpuGuestInfoState_enum = 1;
pub const NVML_VGPU_INSTANCE_GUEST_INFO_STATE_UNINITIALIZED: nvmlVgpuGuestInfoState_enum = 0;
pub const NVML_VGPU_COMPATIBILITY_LIMIT_GPU: nvmlVgpuPgpuCompatibilityLimitCode_enum = 4;
pub const NVML_VGPU_COMPATIBILITY_LIMIT_GUEST_DRIVER: nvmlVgpuPgpuCompatibilityLimitCode_enum = 2;
pub const NVML_VGPU_COMPATIBILITY_LIMIT_HOST_DRIVER: nvmlVgpuPgpuCompatibilityLimitCode_enum = 1;
pub const NVML_VGPU_COMPATIBILITY_LIMIT_NONE: nvmlVgpuPgpuCompatibilityLimitCode_enum = 0;
pub const NVML_VGPU_COMPATIBILITY_LIMIT_OTHER: nvmlVgpuPgpuCompatibilityLimitCode_enum = 2147483648;
pub const NVML_VGPU_VM_COMPATIBILITY_COLD: nvmlVgpuVmCompatibility_enum = 1;
pub const NVML_VGPU_VM_COMPATIBILITY_HIBERNATE: nvmlVgpuVmCompatibility_enum = 2;
pub const NVML_VGPU_VM_COMPATIBILITY_LIVE: nvmlVgpuVmCompatibility_enum = 8;
pub const NVML_VGPU_VM_COMPATIBILITY_NONE: nvmlVgpuVmCompatibility_enum = 0;
pub const NVML_VGPU_VM_COMPATIBILITY_SLEEP: nvmlVgpuVmCompatibility_enum = 4;
pub const NVML_VGPU_VM_ID_DOMAIN_ID: nvmlVgpuVmIdType = 0;
pub const NVML_VGPU_VM_ID_UUID: nvmlVgpuVmIdType = 1;
