//! The symbols of NVML.
//!
//! Written by `cargo xtask codegen`; changes by hand are lost.
//!
//! Uses of the crate:
//! * `crate::entry::guard(|| ..) -> u32`, `guard_nvml(|| ..) -> u32`, `guard_text(|| ..) -> *const
//!   c_char`: no panic leaves them.
//! * `crate::managed::filled(CUdeviceptr, CUstream, CUresult) -> CUresult`: what a fill that is not asynchronous answers,
//!   sent in this stream with this result.
//! * `crate::entry::per_thread(CUstream) -> CUstream`: the thread's default stream for null.
//! * `crate::local::NAME`, `crate::special::NAME` for what is written by hand, the latter for what
//!   travels; they may use `remote::NAME`.

// The symbols' names, and pointers of C programs: each function trusts those that the API's
// documentation lets it trust, and that is the SAFETY of every block here.
#![allow(
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    clippy::undocumented_unsafe_blocks,
    dead_code,
    missing_docs,
    non_snake_case,
    unsafe_code,
    unused_imports,
    unused_variables
)]

use core::ffi::*;

use gtrace_cuda::types::nvml::*;

use crate::{entry, local, special};

pub(crate) mod remote;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlInit_v2() -> nvmlReturn_t {
    entry::guard_nvml(|| unsafe { special::nvmlInit_v2() })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlShutdown() -> nvmlReturn_t {
    entry::guard_nvml(|| unsafe { special::nvmlShutdown() })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlInit() -> nvmlReturn_t {
    entry::guard_nvml(|| unsafe { local::nvmlInit() })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlInitWithFlags(flags: c_uint) -> nvmlReturn_t {
    entry::guard_nvml(|| unsafe { local::nvmlInitWithFlags(flags) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlErrorString(result: nvmlReturn_t) -> *const c_char {
    entry::guard_text(|| unsafe { local::nvmlErrorString(result) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlUnitGetCount(unitCount: *mut c_uint) -> nvmlReturn_t {
    unsafe { remote::nvmlUnitGetCount(unitCount) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlGetExcludedDeviceCount(deviceCount: *mut c_uint) -> nvmlReturn_t {
    unsafe { remote::nvmlGetExcludedDeviceCount(deviceCount) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlGetExcludedDeviceInfoByIndex(
    index: c_uint,
    info: *mut nvmlExcludedDeviceInfo_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlGetExcludedDeviceInfoByIndex(index, info) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetConfComputeCapabilities(
    capabilities: *mut nvmlConfComputeSystemCaps_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlSystemGetConfComputeCapabilities(capabilities) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetConfComputeGpusReadyState(
    isAcceptingWork: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlSystemGetConfComputeGpusReadyState(isAcceptingWork) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetConfComputeSettings(
    settings: *mut nvmlSystemConfComputeSettings_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlSystemGetConfComputeSettings(settings) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetConfComputeState(
    state: *mut nvmlConfComputeSystemState_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlSystemGetConfComputeState(state) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetCudaDriverVersion(
    cudaDriverVersion: *mut c_int,
) -> nvmlReturn_t {
    unsafe { remote::nvmlSystemGetCudaDriverVersion(cudaDriverVersion) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetCudaDriverVersion_v2(
    cudaDriverVersion: *mut c_int,
) -> nvmlReturn_t {
    unsafe { remote::nvmlSystemGetCudaDriverVersion_v2(cudaDriverVersion) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetDriverBranch(
    branchInfo: *mut nvmlSystemDriverBranchInfo_t,
    length: c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlSystemGetDriverBranch(branchInfo, length) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetDriverVersion(
    version: *mut c_char,
    length: c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlSystemGetDriverVersion(version, length) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetHicVersion(
    hwbcCount: *mut c_uint,
    hwbcEntries: *mut nvmlHwbcEntry_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlSystemGetHicVersion(hwbcCount, hwbcEntries) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetNVMLVersion(
    version: *mut c_char,
    length: c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlSystemGetNVMLVersion(version, length) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetNvlinkBwMode(nvlinkBwMode: *mut c_uint) -> nvmlReturn_t {
    unsafe { remote::nvmlSystemGetNvlinkBwMode(nvlinkBwMode) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetProcessName(
    pid: c_uint,
    name: *mut c_char,
    length: c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlSystemGetProcessName(pid, name, length) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetTopologyGpuSet(
    cpuNumber: c_uint,
    count: *mut c_uint,
    deviceArray: *mut nvmlDevice_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlSystemGetTopologyGpuSet(cpuNumber, count, deviceArray) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlEventSetCreate(set: *mut nvmlEventSet_t) -> nvmlReturn_t {
    entry::guard_nvml(|| unsafe { local::nvmlEventSetCreate(set) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlEventSetFree(set: nvmlEventSet_t) -> nvmlReturn_t {
    entry::guard_nvml(|| unsafe { local::nvmlEventSetFree(set) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlEventSetWait(
    set: nvmlEventSet_t,
    data: *mut nvmlEventData_t,
    timeoutms: c_uint,
) -> nvmlReturn_t {
    entry::guard_nvml(|| unsafe { local::nvmlEventSetWait(set, data, timeoutms) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlEventSetWait_v2(
    set: nvmlEventSet_t,
    data: *mut nvmlEventData_t,
    timeoutms: c_uint,
) -> nvmlReturn_t {
    entry::guard_nvml(|| unsafe { local::nvmlEventSetWait_v2(set, data, timeoutms) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceRegisterEvents(
    device: nvmlDevice_t,
    eventTypes: c_ulonglong,
    set: nvmlEventSet_t,
) -> nvmlReturn_t {
    entry::guard_nvml(|| unsafe { local::nvmlDeviceRegisterEvents(device, eventTypes, set) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCount(deviceCount: *mut c_uint) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetCount(deviceCount) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCount_v2(deviceCount: *mut c_uint) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetCount_v2(deviceCount) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetDeviceHandleFromMigDeviceHandle(
    migDevice: nvmlDevice_t,
    device: *mut nvmlDevice_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetDeviceHandleFromMigDeviceHandle(migDevice, device) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetHandleByIndex(
    index: c_uint,
    device: *mut nvmlDevice_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetHandleByIndex(index, device) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetHandleByIndex_v2(
    index: c_uint,
    device: *mut nvmlDevice_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetHandleByIndex_v2(index, device) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetHandleByPciBusId(
    pciBusId: *const c_char,
    device: *mut nvmlDevice_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetHandleByPciBusId(pciBusId, device) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetHandleByPciBusId_v2(
    pciBusId: *const c_char,
    device: *mut nvmlDevice_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetHandleByPciBusId_v2(pciBusId, device) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetHandleBySerial(
    serial: *const c_char,
    device: *mut nvmlDevice_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetHandleBySerial(serial, device) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetHandleByUUID(
    uuid: *const c_char,
    device: *mut nvmlDevice_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetHandleByUUID(uuid, device) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetHandleByUUIDV(
    uuid: *const nvmlUUID_t,
    device: *mut nvmlDevice_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetHandleByUUIDV(uuid, device) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMigDeviceHandleByIndex(
    device: nvmlDevice_t,
    index: c_uint,
    migDevice: *mut nvmlDevice_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetMigDeviceHandleByIndex(device, index, migDevice) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceIsMigDeviceHandle(
    device: nvmlDevice_t,
    isMigDevice: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceIsMigDeviceHandle(device, isMigDevice) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetAPIRestriction(
    device: nvmlDevice_t,
    apiType: nvmlRestrictedAPI_t,
    isRestricted: *mut nvmlEnableState_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetAPIRestriction(device, apiType, isRestricted) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetAddressingMode(
    device: nvmlDevice_t,
    mode: *mut nvmlDeviceAddressingMode_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetAddressingMode(device, mode) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetArchitecture(
    device: nvmlDevice_t,
    arch: *mut nvmlDeviceArchitecture_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetArchitecture(device, arch) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetAttributes_v2(
    device: nvmlDevice_t,
    attributes: *mut nvmlDeviceAttributes_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetAttributes_v2(device, attributes) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetBoardId(
    device: nvmlDevice_t,
    boardId: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetBoardId(device, boardId) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetBoardPartNumber(
    device: nvmlDevice_t,
    partNumber: *mut c_char,
    length: c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetBoardPartNumber(device, partNumber, length) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetBrand(
    device: nvmlDevice_t,
    type_: *mut nvmlBrandType_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetBrand(device, type_) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCapabilities(
    device: nvmlDevice_t,
    caps: *mut nvmlDeviceCapabilities_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetCapabilities(device, caps) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetComputeInstanceId(
    device: nvmlDevice_t,
    id: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetComputeInstanceId(device, id) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetComputeMode(
    device: nvmlDevice_t,
    mode: *mut nvmlComputeMode_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetComputeMode(device, mode) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetConfComputeGpuAttestationReport(
    device: nvmlDevice_t,
    gpuAtstReport: *mut nvmlConfComputeGpuAttestationReport_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetConfComputeGpuAttestationReport(device, gpuAtstReport) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetConfComputeGpuCertificate(
    device: nvmlDevice_t,
    gpuCert: *mut nvmlConfComputeGpuCertificate_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetConfComputeGpuCertificate(device, gpuCert) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCudaComputeCapability(
    device: nvmlDevice_t,
    major: *mut c_int,
    minor: *mut c_int,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetCudaComputeCapability(device, major, minor) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetDisplayActive(
    device: nvmlDevice_t,
    isActive: *mut nvmlEnableState_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetDisplayActive(device, isActive) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetDisplayMode(
    device: nvmlDevice_t,
    display: *mut nvmlEnableState_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetDisplayMode(device, display) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetDriverModel(
    device: nvmlDevice_t,
    current: *mut nvmlDriverModel_t,
    pending: *mut nvmlDriverModel_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetDriverModel(device, current, pending) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetDriverModel_v2(
    device: nvmlDevice_t,
    current: *mut nvmlDriverModel_t,
    pending: *mut nvmlDriverModel_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetDriverModel_v2(device, current, pending) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetGpuInstanceId(
    device: nvmlDevice_t,
    id: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetGpuInstanceId(device, id) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetGpuOperationMode(
    device: nvmlDevice_t,
    current: *mut nvmlGpuOperationMode_t,
    pending: *mut nvmlGpuOperationMode_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetGpuOperationMode(device, current, pending) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetGridLicensableFeatures_v4(
    device: nvmlDevice_t,
    pGridLicensableFeatures: *mut nvmlGridLicensableFeatures_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetGridLicensableFeatures_v4(device, pGridLicensableFeatures) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetGspFirmwareMode(
    device: nvmlDevice_t,
    isEnabled: *mut c_uint,
    defaultMode: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetGspFirmwareMode(device, isEnabled, defaultMode) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetGspFirmwareVersion(
    device: nvmlDevice_t,
    version: *mut c_char,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetGspFirmwareVersion(device, version) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetHostVgpuMode(
    device: nvmlDevice_t,
    pHostVgpuMode: *mut nvmlHostVgpuMode_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetHostVgpuMode(device, pHostVgpuMode) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetIndex(
    device: nvmlDevice_t,
    index: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetIndex(device, index) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetInforomConfigurationChecksum(
    device: nvmlDevice_t,
    checksum: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetInforomConfigurationChecksum(device, checksum) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetInforomImageVersion(
    device: nvmlDevice_t,
    version: *mut c_char,
    length: c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetInforomImageVersion(device, version, length) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetInforomVersion(
    device: nvmlDevice_t,
    object: nvmlInforomObject_t,
    version: *mut c_char,
    length: c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetInforomVersion(device, object, version, length) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetIrqNum(
    device: nvmlDevice_t,
    irqNum: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetIrqNum(device, irqNum) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetLastBBXFlushTime(
    device: nvmlDevice_t,
    timestamp: *mut c_ulonglong,
    durationUs: *mut c_ulong,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetLastBBXFlushTime(device, timestamp, durationUs) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMaxMigDeviceCount(
    device: nvmlDevice_t,
    count: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetMaxMigDeviceCount(device, count) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMigMode(
    device: nvmlDevice_t,
    currentMode: *mut c_uint,
    pendingMode: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetMigMode(device, currentMode, pendingMode) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMinorNumber(
    device: nvmlDevice_t,
    minorNumber: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetMinorNumber(device, minorNumber) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetModuleId(
    device: nvmlDevice_t,
    moduleId: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetModuleId(device, moduleId) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMultiGpuBoard(
    device: nvmlDevice_t,
    multiGpuBool: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetMultiGpuBoard(device, multiGpuBool) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetName(
    device: nvmlDevice_t,
    name: *mut c_char,
    length: c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetName(device, name, length) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetNumGpuCores(
    device: nvmlDevice_t,
    numCores: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetNumGpuCores(device, numCores) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetPdi(
    device: nvmlDevice_t,
    pdi: *mut nvmlPdi_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetPdi(device, pdi) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetPersistenceMode(
    device: nvmlDevice_t,
    mode: *mut nvmlEnableState_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetPersistenceMode(device, mode) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetPlatformInfo(
    device: nvmlDevice_t,
    platformInfo: *mut nvmlPlatformInfo_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetPlatformInfo(device, platformInfo) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetSerial(
    device: nvmlDevice_t,
    serial: *mut c_char,
    length: c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetSerial(device, serial, length) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetSupportedEventTypes(
    device: nvmlDevice_t,
    eventTypes: *mut c_ulonglong,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetSupportedEventTypes(device, eventTypes) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetUUID(
    device: nvmlDevice_t,
    uuid: *mut c_char,
    length: c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetUUID(device, uuid, length) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetVbiosVersion(
    device: nvmlDevice_t,
    version: *mut c_char,
    length: c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetVbiosVersion(device, version, length) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetVgpuHeterogeneousMode(
    device: nvmlDevice_t,
    pHeterogeneousMode: *mut nvmlVgpuHeterogeneousMode_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetVgpuHeterogeneousMode(device, pHeterogeneousMode) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetVirtualizationMode(
    device: nvmlDevice_t,
    pVirtualMode: *mut nvmlGpuVirtualizationMode_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetVirtualizationMode(device, pVirtualMode) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetVgpuCapabilities(
    device: nvmlDevice_t,
    capability: nvmlDeviceVgpuCapability_t,
    capResult: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetVgpuCapabilities(device, capability, capResult) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetSupportedVgpus(
    device: nvmlDevice_t,
    vgpuCount: *mut c_uint,
    vgpuTypeIds: *mut nvmlVgpuTypeId_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetSupportedVgpus(device, vgpuCount, vgpuTypeIds) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCreatableVgpus(
    device: nvmlDevice_t,
    vgpuCount: *mut c_uint,
    vgpuTypeIds: *mut nvmlVgpuTypeId_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetCreatableVgpus(device, vgpuCount, vgpuTypeIds) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetActiveVgpus(
    device: nvmlDevice_t,
    vgpuCount: *mut c_uint,
    vgpuInstances: *mut nvmlVgpuInstance_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetActiveVgpus(device, vgpuCount, vgpuInstances) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlGpmQueryDeviceSupport(
    device: nvmlDevice_t,
    gpmSupport: *mut nvmlGpmSupport_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlGpmQueryDeviceSupport(device, gpmSupport) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlGpmQueryIfStreamingEnabled(
    device: nvmlDevice_t,
    state: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlGpmQueryIfStreamingEnabled(device, state) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceQueryDrainState(
    pciInfo: *mut nvmlPciInfo_t,
    currentState: *mut nvmlEnableState_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceQueryDrainState(pciInfo, currentState) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetBAR1MemoryInfo(
    device: nvmlDevice_t,
    bar1Memory: *mut nvmlBAR1Memory_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetBAR1MemoryInfo(device, bar1Memory) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetConfComputeMemSizeInfo(
    device: nvmlDevice_t,
    memInfo: *mut nvmlConfComputeMemSizeInfo_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetConfComputeMemSizeInfo(device, memInfo) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetConfComputeProtectedMemoryUsage(
    device: nvmlDevice_t,
    memory: *mut nvmlMemory_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetConfComputeProtectedMemoryUsage(device, memory) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetDefaultEccMode(
    device: nvmlDevice_t,
    defaultMode: *mut nvmlEnableState_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetDefaultEccMode(device, defaultMode) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetDetailedEccErrors(
    device: nvmlDevice_t,
    errorType: nvmlMemoryErrorType_t,
    counterType: nvmlEccCounterType_t,
    eccCounts: *mut nvmlEccErrorCounts_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetDetailedEccErrors(device, errorType, counterType, eccCounts) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetDramEncryptionMode(
    device: nvmlDevice_t,
    current: *mut nvmlDramEncryptionInfo_t,
    pending: *mut nvmlDramEncryptionInfo_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetDramEncryptionMode(device, current, pending) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetEccMode(
    device: nvmlDevice_t,
    current: *mut nvmlEnableState_t,
    pending: *mut nvmlEnableState_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetEccMode(device, current, pending) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMemoryBusWidth(
    device: nvmlDevice_t,
    busWidth: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetMemoryBusWidth(device, busWidth) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMemoryErrorCounter(
    device: nvmlDevice_t,
    errorType: nvmlMemoryErrorType_t,
    counterType: nvmlEccCounterType_t,
    locationType: nvmlMemoryLocation_t,
    count: *mut c_ulonglong,
) -> nvmlReturn_t {
    unsafe {
        remote::nvmlDeviceGetMemoryErrorCounter(device, errorType, counterType, locationType, count)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMemoryInfo(
    device: nvmlDevice_t,
    memory: *mut nvmlMemory_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetMemoryInfo(device, memory) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMemoryInfo_v2(
    device: nvmlDevice_t,
    memory: *mut nvmlMemory_v2_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetMemoryInfo_v2(device, memory) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetRemappedRows(
    device: nvmlDevice_t,
    corrRows: *mut c_uint,
    uncRows: *mut c_uint,
    isPending: *mut c_uint,
    failureOccurred: *mut c_uint,
) -> nvmlReturn_t {
    unsafe {
        remote::nvmlDeviceGetRemappedRows(device, corrRows, uncRows, isPending, failureOccurred)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetRepairStatus(
    device: nvmlDevice_t,
    repairStatus: *mut nvmlRepairStatus_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetRepairStatus(device, repairStatus) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetRetiredPages(
    device: nvmlDevice_t,
    cause: nvmlPageRetirementCause_t,
    pageCount: *mut c_uint,
    addresses: *mut c_ulonglong,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetRetiredPages(device, cause, pageCount, addresses) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetRetiredPagesPendingStatus(
    device: nvmlDevice_t,
    isPending: *mut nvmlEnableState_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetRetiredPagesPendingStatus(device, isPending) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetRetiredPages_v2(
    device: nvmlDevice_t,
    cause: nvmlPageRetirementCause_t,
    pageCount: *mut c_uint,
    addresses: *mut c_ulonglong,
    timestamps: *mut c_ulonglong,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetRetiredPages_v2(device, cause, pageCount, addresses, timestamps) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetRowRemapperHistogram(
    device: nvmlDevice_t,
    values: *mut nvmlRowRemapperHistogramValues_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetRowRemapperHistogram(device, values) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetSramEccErrorStatus(
    device: nvmlDevice_t,
    status: *mut nvmlEccSramErrorStatus_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetSramEccErrorStatus(device, status) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetTotalEccErrors(
    device: nvmlDevice_t,
    errorType: nvmlMemoryErrorType_t,
    counterType: nvmlEccCounterType_t,
    eccCounts: *mut c_ulonglong,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetTotalEccErrors(device, errorType, counterType, eccCounts) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetAdaptiveClockInfoStatus(
    device: nvmlDevice_t,
    adaptiveClockStatus: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetAdaptiveClockInfoStatus(device, adaptiveClockStatus) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetApplicationsClock(
    device: nvmlDevice_t,
    clockType: nvmlClockType_t,
    clockMHz: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetApplicationsClock(device, clockType, clockMHz) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetAutoBoostedClocksEnabled(
    device: nvmlDevice_t,
    isEnabled: *mut nvmlEnableState_t,
    defaultIsEnabled: *mut nvmlEnableState_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetAutoBoostedClocksEnabled(device, isEnabled, defaultIsEnabled) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetClkMonStatus(
    device: nvmlDevice_t,
    status: *mut nvmlClkMonStatus_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetClkMonStatus(device, status) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetClock(
    device: nvmlDevice_t,
    clockType: nvmlClockType_t,
    clockId: nvmlClockId_t,
    clockMHz: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetClock(device, clockType, clockId, clockMHz) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetClockInfo(
    device: nvmlDevice_t,
    type_: nvmlClockType_t,
    clock: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetClockInfo(device, type_, clock) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetClockOffsets(
    device: nvmlDevice_t,
    info: *mut nvmlClockOffset_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetClockOffsets(device, info) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCoolerInfo(
    device: nvmlDevice_t,
    coolerInfo: *mut nvmlCoolerInfo_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetCoolerInfo(device, coolerInfo) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCurrentClockFreqs(
    device: nvmlDevice_t,
    currentClockFreqs: *mut nvmlDeviceCurrentClockFreqs_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetCurrentClockFreqs(device, currentClockFreqs) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCurrentClocksEventReasons(
    device: nvmlDevice_t,
    clocksEventReasons: *mut c_ulonglong,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetCurrentClocksEventReasons(device, clocksEventReasons) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCurrentClocksThrottleReasons(
    device: nvmlDevice_t,
    clocksThrottleReasons: *mut c_ulonglong,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetCurrentClocksThrottleReasons(device, clocksThrottleReasons) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetDefaultApplicationsClock(
    device: nvmlDevice_t,
    clockType: nvmlClockType_t,
    clockMHz: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetDefaultApplicationsClock(device, clockType, clockMHz) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetDynamicPstatesInfo(
    device: nvmlDevice_t,
    pDynamicPstatesInfo: *mut nvmlGpuDynamicPstatesInfo_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetDynamicPstatesInfo(device, pDynamicPstatesInfo) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetEnforcedPowerLimit(
    device: nvmlDevice_t,
    limit: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetEnforcedPowerLimit(device, limit) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetFanControlPolicy_v2(
    device: nvmlDevice_t,
    fan: c_uint,
    policy: *mut nvmlFanControlPolicy_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetFanControlPolicy_v2(device, fan, policy) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetFanSpeed(
    device: nvmlDevice_t,
    speed: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetFanSpeed(device, speed) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetFanSpeedRPM(
    device: nvmlDevice_t,
    fanSpeed: *mut nvmlFanSpeedInfo_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetFanSpeedRPM(device, fanSpeed) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetFanSpeed_v2(
    device: nvmlDevice_t,
    fan: c_uint,
    speed: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetFanSpeed_v2(device, fan, speed) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetGpcClkMinMaxVfOffset(
    device: nvmlDevice_t,
    minOffset: *mut c_int,
    maxOffset: *mut c_int,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetGpcClkMinMaxVfOffset(device, minOffset, maxOffset) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetGpcClkVfOffset(
    device: nvmlDevice_t,
    offset: *mut c_int,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetGpcClkVfOffset(device, offset) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMarginTemperature(
    device: nvmlDevice_t,
    marginTempInfo: *mut nvmlMarginTemperature_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetMarginTemperature(device, marginTempInfo) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMaxClockInfo(
    device: nvmlDevice_t,
    type_: nvmlClockType_t,
    clock: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetMaxClockInfo(device, type_, clock) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMaxCustomerBoostClock(
    device: nvmlDevice_t,
    clockType: nvmlClockType_t,
    clockMHz: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetMaxCustomerBoostClock(device, clockType, clockMHz) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMemClkMinMaxVfOffset(
    device: nvmlDevice_t,
    minOffset: *mut c_int,
    maxOffset: *mut c_int,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetMemClkMinMaxVfOffset(device, minOffset, maxOffset) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMemClkVfOffset(
    device: nvmlDevice_t,
    offset: *mut c_int,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetMemClkVfOffset(device, offset) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMinMaxClockOfPState(
    device: nvmlDevice_t,
    type_: nvmlClockType_t,
    pstate: nvmlPstates_t,
    minClockMHz: *mut c_uint,
    maxClockMHz: *mut c_uint,
) -> nvmlReturn_t {
    unsafe {
        remote::nvmlDeviceGetMinMaxClockOfPState(device, type_, pstate, minClockMHz, maxClockMHz)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMinMaxFanSpeed(
    device: nvmlDevice_t,
    minSpeed: *mut c_uint,
    maxSpeed: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetMinMaxFanSpeed(device, minSpeed, maxSpeed) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetNumFans(
    device: nvmlDevice_t,
    numFans: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetNumFans(device, numFans) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetPerformanceModes(
    device: nvmlDevice_t,
    perfModes: *mut nvmlDevicePerfModes_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetPerformanceModes(device, perfModes) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetPerformanceState(
    device: nvmlDevice_t,
    pState: *mut nvmlPstates_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetPerformanceState(device, pState) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetPowerManagementDefaultLimit(
    device: nvmlDevice_t,
    defaultLimit: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetPowerManagementDefaultLimit(device, defaultLimit) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetPowerManagementLimit(
    device: nvmlDevice_t,
    limit: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetPowerManagementLimit(device, limit) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetPowerManagementLimitConstraints(
    device: nvmlDevice_t,
    minLimit: *mut c_uint,
    maxLimit: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetPowerManagementLimitConstraints(device, minLimit, maxLimit) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetPowerManagementMode(
    device: nvmlDevice_t,
    mode: *mut nvmlEnableState_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetPowerManagementMode(device, mode) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetPowerMizerMode_v1(
    device: nvmlDevice_t,
    powerMizerMode: *mut nvmlDevicePowerMizerModes_v1_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetPowerMizerMode_v1(device, powerMizerMode) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetPowerSource(
    device: nvmlDevice_t,
    powerSource: *mut nvmlPowerSource_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetPowerSource(device, powerSource) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetPowerState(
    device: nvmlDevice_t,
    pState: *mut nvmlPstates_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetPowerState(device, pState) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetPowerUsage(
    device: nvmlDevice_t,
    power: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetPowerUsage(device, power) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetSupportedClocksEventReasons(
    device: nvmlDevice_t,
    supportedClocksEventReasons: *mut c_ulonglong,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetSupportedClocksEventReasons(device, supportedClocksEventReasons) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetSupportedClocksThrottleReasons(
    device: nvmlDevice_t,
    supportedClocksThrottleReasons: *mut c_ulonglong,
) -> nvmlReturn_t {
    unsafe {
        remote::nvmlDeviceGetSupportedClocksThrottleReasons(device, supportedClocksThrottleReasons)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetSupportedGraphicsClocks(
    device: nvmlDevice_t,
    memoryClockMHz: c_uint,
    count: *mut c_uint,
    clocksMHz: *mut c_uint,
) -> nvmlReturn_t {
    unsafe {
        remote::nvmlDeviceGetSupportedGraphicsClocks(device, memoryClockMHz, count, clocksMHz)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetSupportedMemoryClocks(
    device: nvmlDevice_t,
    count: *mut c_uint,
    clocksMHz: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetSupportedMemoryClocks(device, count, clocksMHz) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetSupportedPerformanceStates(
    device: nvmlDevice_t,
    pstates: *mut nvmlPstates_t,
    size: c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetSupportedPerformanceStates(device, pstates, size) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetTargetFanSpeed(
    device: nvmlDevice_t,
    fan: c_uint,
    targetSpeed: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetTargetFanSpeed(device, fan, targetSpeed) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetTemperature(
    device: nvmlDevice_t,
    sensorType: nvmlTemperatureSensors_t,
    temp: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetTemperature(device, sensorType, temp) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetTemperatureThreshold(
    device: nvmlDevice_t,
    thresholdType: nvmlTemperatureThresholds_t,
    temp: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetTemperatureThreshold(device, thresholdType, temp) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetTemperatureV(
    device: nvmlDevice_t,
    temperature: *mut nvmlTemperature_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetTemperatureV(device, temperature) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetThermalSettings(
    device: nvmlDevice_t,
    sensorIndex: c_uint,
    pThermalSettings: *mut nvmlGpuThermalSettings_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetThermalSettings(device, sensorIndex, pThermalSettings) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetTotalEnergyConsumption(
    device: nvmlDevice_t,
    energy: *mut c_ulonglong,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetTotalEnergyConsumption(device, energy) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetViolationStatus(
    device: nvmlDevice_t,
    perfPolicyType: nvmlPerfPolicyType_t,
    violTime: *mut nvmlViolationTime_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetViolationStatus(device, perfPolicyType, violTime) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceWorkloadPowerProfileGetCurrentProfiles(
    device: nvmlDevice_t,
    currentProfiles: *mut nvmlWorkloadPowerProfileCurrentProfiles_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceWorkloadPowerProfileGetCurrentProfiles(device, currentProfiles) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceWorkloadPowerProfileGetProfilesInfo(
    device: nvmlDevice_t,
    profilesInfo: *mut nvmlWorkloadPowerProfileProfilesInfo_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceWorkloadPowerProfileGetProfilesInfo(device, profilesInfo) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetBridgeChipInfo(
    device: nvmlDevice_t,
    bridgeHierarchy: *mut nvmlBridgeChipHierarchy_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetBridgeChipInfo(device, bridgeHierarchy) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetBusType(
    device: nvmlDevice_t,
    type_: *mut nvmlBusType_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetBusType(device, type_) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetC2cModeInfoV(
    device: nvmlDevice_t,
    c2cModeInfo: *mut nvmlC2cModeInfo_v1_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetC2cModeInfoV(device, c2cModeInfo) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCpuAffinity(
    device: nvmlDevice_t,
    cpuSetSize: c_uint,
    cpuSet: *mut c_ulong,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetCpuAffinity(device, cpuSetSize, cpuSet) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCpuAffinityWithinScope(
    device: nvmlDevice_t,
    cpuSetSize: c_uint,
    cpuSet: *mut c_ulong,
    scope: nvmlAffinityScope_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetCpuAffinityWithinScope(device, cpuSetSize, cpuSet, scope) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCurrPcieLinkGeneration(
    device: nvmlDevice_t,
    currLinkGen: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetCurrPcieLinkGeneration(device, currLinkGen) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCurrPcieLinkWidth(
    device: nvmlDevice_t,
    currLinkWidth: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetCurrPcieLinkWidth(device, currLinkWidth) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetGpuFabricInfo(
    device: nvmlDevice_t,
    gpuFabricInfo: *mut nvmlGpuFabricInfo_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetGpuFabricInfo(device, gpuFabricInfo) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetGpuFabricInfoV(
    device: nvmlDevice_t,
    gpuFabricInfo: *mut nvmlGpuFabricInfoV_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetGpuFabricInfoV(device, gpuFabricInfo) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetGpuMaxPcieLinkGeneration(
    device: nvmlDevice_t,
    maxLinkGenDevice: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetGpuMaxPcieLinkGeneration(device, maxLinkGenDevice) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMaxPcieLinkGeneration(
    device: nvmlDevice_t,
    maxLinkGen: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetMaxPcieLinkGeneration(device, maxLinkGen) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMaxPcieLinkWidth(
    device: nvmlDevice_t,
    maxLinkWidth: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetMaxPcieLinkWidth(device, maxLinkWidth) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMemoryAffinity(
    device: nvmlDevice_t,
    nodeSetSize: c_uint,
    nodeSet: *mut c_ulong,
    scope: nvmlAffinityScope_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetMemoryAffinity(device, nodeSetSize, nodeSet, scope) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetNumaNodeId(
    device: nvmlDevice_t,
    node: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetNumaNodeId(device, node) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetNvLinkCapability(
    device: nvmlDevice_t,
    link: c_uint,
    capability: nvmlNvLinkCapability_t,
    capResult: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetNvLinkCapability(device, link, capability, capResult) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetNvLinkErrorCounter(
    device: nvmlDevice_t,
    link: c_uint,
    counter: nvmlNvLinkErrorCounter_t,
    counterValue: *mut c_ulonglong,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetNvLinkErrorCounter(device, link, counter, counterValue) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetNvLinkInfo(
    device: nvmlDevice_t,
    info: *mut nvmlNvLinkInfo_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetNvLinkInfo(device, info) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetNvLinkRemoteDeviceType(
    device: nvmlDevice_t,
    link: c_uint,
    pNvLinkDeviceType: *mut nvmlIntNvLinkDeviceType_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetNvLinkRemoteDeviceType(device, link, pNvLinkDeviceType) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetNvLinkRemotePciInfo_v2(
    device: nvmlDevice_t,
    link: c_uint,
    pci: *mut nvmlPciInfo_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetNvLinkRemotePciInfo_v2(device, link, pci) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetNvLinkState(
    device: nvmlDevice_t,
    link: c_uint,
    isActive: *mut nvmlEnableState_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetNvLinkState(device, link, isActive) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetNvLinkUtilizationControl(
    device: nvmlDevice_t,
    link: c_uint,
    counter: c_uint,
    control: *mut nvmlNvLinkUtilizationControl_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetNvLinkUtilizationControl(device, link, counter, control) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetNvLinkUtilizationCounter(
    device: nvmlDevice_t,
    link: c_uint,
    counter: c_uint,
    rxcounter: *mut c_ulonglong,
    txcounter: *mut c_ulonglong,
) -> nvmlReturn_t {
    unsafe {
        remote::nvmlDeviceGetNvLinkUtilizationCounter(device, link, counter, rxcounter, txcounter)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetNvLinkVersion(
    device: nvmlDevice_t,
    link: c_uint,
    version: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetNvLinkVersion(device, link, version) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetNvlinkBwMode(
    device: nvmlDevice_t,
    getBwMode: *mut nvmlNvlinkGetBwMode_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetNvlinkBwMode(device, getBwMode) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetNvlinkSupportedBwModes(
    device: nvmlDevice_t,
    supportedBwMode: *mut nvmlNvlinkSupportedBwModes_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetNvlinkSupportedBwModes(device, supportedBwMode) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetP2PStatus(
    device1: nvmlDevice_t,
    device2: nvmlDevice_t,
    p2pIndex: nvmlGpuP2PCapsIndex_t,
    p2pStatus: *mut nvmlGpuP2PStatus_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetP2PStatus(device1, device2, p2pIndex, p2pStatus) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetPciInfoExt(
    device: nvmlDevice_t,
    pci: *mut nvmlPciInfoExt_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetPciInfoExt(device, pci) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetPciInfo_v3(
    device: nvmlDevice_t,
    pci: *mut nvmlPciInfo_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetPciInfo_v3(device, pci) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetPcieLinkMaxSpeed(
    device: nvmlDevice_t,
    maxSpeed: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetPcieLinkMaxSpeed(device, maxSpeed) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetPcieReplayCounter(
    device: nvmlDevice_t,
    value: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetPcieReplayCounter(device, value) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetPcieSpeed(
    device: nvmlDevice_t,
    pcieSpeed: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetPcieSpeed(device, pcieSpeed) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetPcieThroughput(
    device: nvmlDevice_t,
    counter: nvmlPcieUtilCounter_t,
    value: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetPcieThroughput(device, counter, value) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetTopologyCommonAncestor(
    device1: nvmlDevice_t,
    device2: nvmlDevice_t,
    pathInfo: *mut nvmlGpuTopologyLevel_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetTopologyCommonAncestor(device1, device2, pathInfo) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetTopologyNearestGpus(
    device: nvmlDevice_t,
    level: nvmlGpuTopologyLevel_t,
    count: *mut c_uint,
    deviceArray: *mut nvmlDevice_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetTopologyNearestGpus(device, level, count, deviceArray) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceOnSameBoard(
    device1: nvmlDevice_t,
    device2: nvmlDevice_t,
    onSameBoard: *mut c_int,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceOnSameBoard(device1, device2, onSameBoard) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetAccountingBufferSize(
    device: nvmlDevice_t,
    bufferSize: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetAccountingBufferSize(device, bufferSize) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetAccountingMode(
    device: nvmlDevice_t,
    mode: *mut nvmlEnableState_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetAccountingMode(device, mode) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetAccountingPids(
    device: nvmlDevice_t,
    count: *mut c_uint,
    pids: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetAccountingPids(device, count, pids) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetAccountingStats(
    device: nvmlDevice_t,
    pid: c_uint,
    stats: *mut nvmlAccountingStats_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetAccountingStats(device, pid, stats) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetComputeRunningProcesses(
    device: nvmlDevice_t,
    infoCount: *mut c_uint,
    infos: *mut nvmlProcessInfo_v1_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetComputeRunningProcesses(device, infoCount, infos) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetComputeRunningProcesses_v2(
    device: nvmlDevice_t,
    infoCount: *mut c_uint,
    infos: *mut nvmlProcessInfo_v2_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetComputeRunningProcesses_v2(device, infoCount, infos) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetComputeRunningProcesses_v3(
    device: nvmlDevice_t,
    infoCount: *mut c_uint,
    infos: *mut nvmlProcessInfo_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetComputeRunningProcesses_v3(device, infoCount, infos) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetDecoderUtilization(
    device: nvmlDevice_t,
    utilization: *mut c_uint,
    samplingPeriodUs: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetDecoderUtilization(device, utilization, samplingPeriodUs) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetEncoderCapacity(
    device: nvmlDevice_t,
    encoderQueryType: nvmlEncoderType_t,
    encoderCapacity: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetEncoderCapacity(device, encoderQueryType, encoderCapacity) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetEncoderSessions(
    device: nvmlDevice_t,
    sessionCount: *mut c_uint,
    sessionInfos: *mut nvmlEncoderSessionInfo_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetEncoderSessions(device, sessionCount, sessionInfos) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetEncoderStats(
    device: nvmlDevice_t,
    sessionCount: *mut c_uint,
    averageFps: *mut c_uint,
    averageLatency: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetEncoderStats(device, sessionCount, averageFps, averageLatency) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetEncoderUtilization(
    device: nvmlDevice_t,
    utilization: *mut c_uint,
    samplingPeriodUs: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetEncoderUtilization(device, utilization, samplingPeriodUs) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetFBCSessions(
    device: nvmlDevice_t,
    sessionCount: *mut c_uint,
    sessionInfo: *mut nvmlFBCSessionInfo_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetFBCSessions(device, sessionCount, sessionInfo) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetFBCStats(
    device: nvmlDevice_t,
    fbcStats: *mut nvmlFBCStats_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetFBCStats(device, fbcStats) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetFieldValues(
    device: nvmlDevice_t,
    valuesCount: c_int,
    values: *mut nvmlFieldValue_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetFieldValues(device, valuesCount, values) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetGraphicsRunningProcesses(
    device: nvmlDevice_t,
    infoCount: *mut c_uint,
    infos: *mut nvmlProcessInfo_v1_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetGraphicsRunningProcesses(device, infoCount, infos) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetGraphicsRunningProcesses_v2(
    device: nvmlDevice_t,
    infoCount: *mut c_uint,
    infos: *mut nvmlProcessInfo_v2_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetGraphicsRunningProcesses_v2(device, infoCount, infos) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetGraphicsRunningProcesses_v3(
    device: nvmlDevice_t,
    infoCount: *mut c_uint,
    infos: *mut nvmlProcessInfo_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetGraphicsRunningProcesses_v3(device, infoCount, infos) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetJpgUtilization(
    device: nvmlDevice_t,
    utilization: *mut c_uint,
    samplingPeriodUs: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetJpgUtilization(device, utilization, samplingPeriodUs) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMPSComputeRunningProcesses(
    device: nvmlDevice_t,
    infoCount: *mut c_uint,
    infos: *mut nvmlProcessInfo_v1_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetMPSComputeRunningProcesses(device, infoCount, infos) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMPSComputeRunningProcesses_v2(
    device: nvmlDevice_t,
    infoCount: *mut c_uint,
    infos: *mut nvmlProcessInfo_v2_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetMPSComputeRunningProcesses_v2(device, infoCount, infos) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMPSComputeRunningProcesses_v3(
    device: nvmlDevice_t,
    infoCount: *mut c_uint,
    infos: *mut nvmlProcessInfo_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetMPSComputeRunningProcesses_v3(device, infoCount, infos) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetOfaUtilization(
    device: nvmlDevice_t,
    utilization: *mut c_uint,
    samplingPeriodUs: *mut c_uint,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetOfaUtilization(device, utilization, samplingPeriodUs) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetProcessUtilization(
    device: nvmlDevice_t,
    utilization: *mut nvmlProcessUtilizationSample_t,
    processSamplesCount: *mut c_uint,
    lastSeenTimeStamp: c_ulonglong,
) -> nvmlReturn_t {
    unsafe {
        remote::nvmlDeviceGetProcessUtilization(
            device,
            utilization,
            processSamplesCount,
            lastSeenTimeStamp,
        )
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetSamples(
    device: nvmlDevice_t,
    type_: nvmlSamplingType_t,
    lastSeenTimeStamp: c_ulonglong,
    sampleValType: *mut nvmlValueType_t,
    sampleCount: *mut c_uint,
    samples: *mut nvmlSample_t,
) -> nvmlReturn_t {
    unsafe {
        remote::nvmlDeviceGetSamples(
            device,
            type_,
            lastSeenTimeStamp,
            sampleValType,
            sampleCount,
            samples,
        )
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetUtilizationRates(
    device: nvmlDevice_t,
    utilization: *mut nvmlUtilization_t,
) -> nvmlReturn_t {
    unsafe { remote::nvmlDeviceGetUtilizationRates(device, utilization) }
}

/// A symbol and its address.
pub(crate) struct Symbol(pub(crate) &'static str, pub(crate) *const c_void);

// SAFETY: the addresses of functions.
unsafe impl Sync for Symbol {}

/// All symbols, sorted by name.
pub(crate) static SYMBOLS: &[Symbol] = &[
    Symbol(
        "nvmlDeviceGetAPIRestriction",
        nvmlDeviceGetAPIRestriction as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetAccountingBufferSize",
        nvmlDeviceGetAccountingBufferSize as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetAccountingMode",
        nvmlDeviceGetAccountingMode as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetAccountingPids",
        nvmlDeviceGetAccountingPids as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetAccountingStats",
        nvmlDeviceGetAccountingStats as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetActiveVgpus",
        nvmlDeviceGetActiveVgpus as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetAdaptiveClockInfoStatus",
        nvmlDeviceGetAdaptiveClockInfoStatus as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetAddressingMode",
        nvmlDeviceGetAddressingMode as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetApplicationsClock",
        nvmlDeviceGetApplicationsClock as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetArchitecture",
        nvmlDeviceGetArchitecture as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetAttributes_v2",
        nvmlDeviceGetAttributes_v2 as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetAutoBoostedClocksEnabled",
        nvmlDeviceGetAutoBoostedClocksEnabled as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetBAR1MemoryInfo",
        nvmlDeviceGetBAR1MemoryInfo as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetBoardId",
        nvmlDeviceGetBoardId as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetBoardPartNumber",
        nvmlDeviceGetBoardPartNumber as *const c_void,
    ),
    Symbol("nvmlDeviceGetBrand", nvmlDeviceGetBrand as *const c_void),
    Symbol(
        "nvmlDeviceGetBridgeChipInfo",
        nvmlDeviceGetBridgeChipInfo as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetBusType",
        nvmlDeviceGetBusType as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetC2cModeInfoV",
        nvmlDeviceGetC2cModeInfoV as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetCapabilities",
        nvmlDeviceGetCapabilities as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetClkMonStatus",
        nvmlDeviceGetClkMonStatus as *const c_void,
    ),
    Symbol("nvmlDeviceGetClock", nvmlDeviceGetClock as *const c_void),
    Symbol(
        "nvmlDeviceGetClockInfo",
        nvmlDeviceGetClockInfo as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetClockOffsets",
        nvmlDeviceGetClockOffsets as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetComputeInstanceId",
        nvmlDeviceGetComputeInstanceId as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetComputeMode",
        nvmlDeviceGetComputeMode as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetComputeRunningProcesses",
        nvmlDeviceGetComputeRunningProcesses as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetComputeRunningProcesses_v2",
        nvmlDeviceGetComputeRunningProcesses_v2 as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetComputeRunningProcesses_v3",
        nvmlDeviceGetComputeRunningProcesses_v3 as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetConfComputeGpuAttestationReport",
        nvmlDeviceGetConfComputeGpuAttestationReport as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetConfComputeGpuCertificate",
        nvmlDeviceGetConfComputeGpuCertificate as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetConfComputeMemSizeInfo",
        nvmlDeviceGetConfComputeMemSizeInfo as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetConfComputeProtectedMemoryUsage",
        nvmlDeviceGetConfComputeProtectedMemoryUsage as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetCoolerInfo",
        nvmlDeviceGetCoolerInfo as *const c_void,
    ),
    Symbol("nvmlDeviceGetCount", nvmlDeviceGetCount as *const c_void),
    Symbol(
        "nvmlDeviceGetCount_v2",
        nvmlDeviceGetCount_v2 as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetCpuAffinity",
        nvmlDeviceGetCpuAffinity as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetCpuAffinityWithinScope",
        nvmlDeviceGetCpuAffinityWithinScope as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetCreatableVgpus",
        nvmlDeviceGetCreatableVgpus as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetCudaComputeCapability",
        nvmlDeviceGetCudaComputeCapability as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetCurrPcieLinkGeneration",
        nvmlDeviceGetCurrPcieLinkGeneration as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetCurrPcieLinkWidth",
        nvmlDeviceGetCurrPcieLinkWidth as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetCurrentClockFreqs",
        nvmlDeviceGetCurrentClockFreqs as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetCurrentClocksEventReasons",
        nvmlDeviceGetCurrentClocksEventReasons as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetCurrentClocksThrottleReasons",
        nvmlDeviceGetCurrentClocksThrottleReasons as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetDecoderUtilization",
        nvmlDeviceGetDecoderUtilization as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetDefaultApplicationsClock",
        nvmlDeviceGetDefaultApplicationsClock as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetDefaultEccMode",
        nvmlDeviceGetDefaultEccMode as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetDetailedEccErrors",
        nvmlDeviceGetDetailedEccErrors as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetDeviceHandleFromMigDeviceHandle",
        nvmlDeviceGetDeviceHandleFromMigDeviceHandle as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetDisplayActive",
        nvmlDeviceGetDisplayActive as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetDisplayMode",
        nvmlDeviceGetDisplayMode as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetDramEncryptionMode",
        nvmlDeviceGetDramEncryptionMode as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetDriverModel",
        nvmlDeviceGetDriverModel as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetDriverModel_v2",
        nvmlDeviceGetDriverModel_v2 as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetDynamicPstatesInfo",
        nvmlDeviceGetDynamicPstatesInfo as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetEccMode",
        nvmlDeviceGetEccMode as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetEncoderCapacity",
        nvmlDeviceGetEncoderCapacity as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetEncoderSessions",
        nvmlDeviceGetEncoderSessions as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetEncoderStats",
        nvmlDeviceGetEncoderStats as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetEncoderUtilization",
        nvmlDeviceGetEncoderUtilization as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetEnforcedPowerLimit",
        nvmlDeviceGetEnforcedPowerLimit as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetFBCSessions",
        nvmlDeviceGetFBCSessions as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetFBCStats",
        nvmlDeviceGetFBCStats as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetFanControlPolicy_v2",
        nvmlDeviceGetFanControlPolicy_v2 as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetFanSpeed",
        nvmlDeviceGetFanSpeed as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetFanSpeedRPM",
        nvmlDeviceGetFanSpeedRPM as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetFanSpeed_v2",
        nvmlDeviceGetFanSpeed_v2 as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetFieldValues",
        nvmlDeviceGetFieldValues as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetGpcClkMinMaxVfOffset",
        nvmlDeviceGetGpcClkMinMaxVfOffset as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetGpcClkVfOffset",
        nvmlDeviceGetGpcClkVfOffset as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetGpuFabricInfo",
        nvmlDeviceGetGpuFabricInfo as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetGpuFabricInfoV",
        nvmlDeviceGetGpuFabricInfoV as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetGpuInstanceId",
        nvmlDeviceGetGpuInstanceId as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetGpuMaxPcieLinkGeneration",
        nvmlDeviceGetGpuMaxPcieLinkGeneration as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetGpuOperationMode",
        nvmlDeviceGetGpuOperationMode as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetGraphicsRunningProcesses",
        nvmlDeviceGetGraphicsRunningProcesses as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetGraphicsRunningProcesses_v2",
        nvmlDeviceGetGraphicsRunningProcesses_v2 as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetGraphicsRunningProcesses_v3",
        nvmlDeviceGetGraphicsRunningProcesses_v3 as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetGridLicensableFeatures_v4",
        nvmlDeviceGetGridLicensableFeatures_v4 as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetGspFirmwareMode",
        nvmlDeviceGetGspFirmwareMode as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetGspFirmwareVersion",
        nvmlDeviceGetGspFirmwareVersion as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetHandleByIndex",
        nvmlDeviceGetHandleByIndex as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetHandleByIndex_v2",
        nvmlDeviceGetHandleByIndex_v2 as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetHandleByPciBusId",
        nvmlDeviceGetHandleByPciBusId as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetHandleByPciBusId_v2",
        nvmlDeviceGetHandleByPciBusId_v2 as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetHandleBySerial",
        nvmlDeviceGetHandleBySerial as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetHandleByUUID",
        nvmlDeviceGetHandleByUUID as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetHandleByUUIDV",
        nvmlDeviceGetHandleByUUIDV as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetHostVgpuMode",
        nvmlDeviceGetHostVgpuMode as *const c_void,
    ),
    Symbol("nvmlDeviceGetIndex", nvmlDeviceGetIndex as *const c_void),
    Symbol(
        "nvmlDeviceGetInforomConfigurationChecksum",
        nvmlDeviceGetInforomConfigurationChecksum as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetInforomImageVersion",
        nvmlDeviceGetInforomImageVersion as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetInforomVersion",
        nvmlDeviceGetInforomVersion as *const c_void,
    ),
    Symbol("nvmlDeviceGetIrqNum", nvmlDeviceGetIrqNum as *const c_void),
    Symbol(
        "nvmlDeviceGetJpgUtilization",
        nvmlDeviceGetJpgUtilization as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetLastBBXFlushTime",
        nvmlDeviceGetLastBBXFlushTime as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetMPSComputeRunningProcesses",
        nvmlDeviceGetMPSComputeRunningProcesses as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetMPSComputeRunningProcesses_v2",
        nvmlDeviceGetMPSComputeRunningProcesses_v2 as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetMPSComputeRunningProcesses_v3",
        nvmlDeviceGetMPSComputeRunningProcesses_v3 as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetMarginTemperature",
        nvmlDeviceGetMarginTemperature as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetMaxClockInfo",
        nvmlDeviceGetMaxClockInfo as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetMaxCustomerBoostClock",
        nvmlDeviceGetMaxCustomerBoostClock as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetMaxMigDeviceCount",
        nvmlDeviceGetMaxMigDeviceCount as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetMaxPcieLinkGeneration",
        nvmlDeviceGetMaxPcieLinkGeneration as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetMaxPcieLinkWidth",
        nvmlDeviceGetMaxPcieLinkWidth as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetMemClkMinMaxVfOffset",
        nvmlDeviceGetMemClkMinMaxVfOffset as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetMemClkVfOffset",
        nvmlDeviceGetMemClkVfOffset as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetMemoryAffinity",
        nvmlDeviceGetMemoryAffinity as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetMemoryBusWidth",
        nvmlDeviceGetMemoryBusWidth as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetMemoryErrorCounter",
        nvmlDeviceGetMemoryErrorCounter as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetMemoryInfo",
        nvmlDeviceGetMemoryInfo as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetMemoryInfo_v2",
        nvmlDeviceGetMemoryInfo_v2 as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetMigDeviceHandleByIndex",
        nvmlDeviceGetMigDeviceHandleByIndex as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetMigMode",
        nvmlDeviceGetMigMode as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetMinMaxClockOfPState",
        nvmlDeviceGetMinMaxClockOfPState as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetMinMaxFanSpeed",
        nvmlDeviceGetMinMaxFanSpeed as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetMinorNumber",
        nvmlDeviceGetMinorNumber as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetModuleId",
        nvmlDeviceGetModuleId as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetMultiGpuBoard",
        nvmlDeviceGetMultiGpuBoard as *const c_void,
    ),
    Symbol("nvmlDeviceGetName", nvmlDeviceGetName as *const c_void),
    Symbol(
        "nvmlDeviceGetNumFans",
        nvmlDeviceGetNumFans as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetNumGpuCores",
        nvmlDeviceGetNumGpuCores as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetNumaNodeId",
        nvmlDeviceGetNumaNodeId as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetNvLinkCapability",
        nvmlDeviceGetNvLinkCapability as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetNvLinkErrorCounter",
        nvmlDeviceGetNvLinkErrorCounter as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetNvLinkInfo",
        nvmlDeviceGetNvLinkInfo as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetNvLinkRemoteDeviceType",
        nvmlDeviceGetNvLinkRemoteDeviceType as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetNvLinkRemotePciInfo_v2",
        nvmlDeviceGetNvLinkRemotePciInfo_v2 as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetNvLinkState",
        nvmlDeviceGetNvLinkState as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetNvLinkUtilizationControl",
        nvmlDeviceGetNvLinkUtilizationControl as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetNvLinkUtilizationCounter",
        nvmlDeviceGetNvLinkUtilizationCounter as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetNvLinkVersion",
        nvmlDeviceGetNvLinkVersion as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetNvlinkBwMode",
        nvmlDeviceGetNvlinkBwMode as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetNvlinkSupportedBwModes",
        nvmlDeviceGetNvlinkSupportedBwModes as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetOfaUtilization",
        nvmlDeviceGetOfaUtilization as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetP2PStatus",
        nvmlDeviceGetP2PStatus as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetPciInfoExt",
        nvmlDeviceGetPciInfoExt as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetPciInfo_v3",
        nvmlDeviceGetPciInfo_v3 as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetPcieLinkMaxSpeed",
        nvmlDeviceGetPcieLinkMaxSpeed as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetPcieReplayCounter",
        nvmlDeviceGetPcieReplayCounter as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetPcieSpeed",
        nvmlDeviceGetPcieSpeed as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetPcieThroughput",
        nvmlDeviceGetPcieThroughput as *const c_void,
    ),
    Symbol("nvmlDeviceGetPdi", nvmlDeviceGetPdi as *const c_void),
    Symbol(
        "nvmlDeviceGetPerformanceModes",
        nvmlDeviceGetPerformanceModes as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetPerformanceState",
        nvmlDeviceGetPerformanceState as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetPersistenceMode",
        nvmlDeviceGetPersistenceMode as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetPlatformInfo",
        nvmlDeviceGetPlatformInfo as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetPowerManagementDefaultLimit",
        nvmlDeviceGetPowerManagementDefaultLimit as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetPowerManagementLimit",
        nvmlDeviceGetPowerManagementLimit as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetPowerManagementLimitConstraints",
        nvmlDeviceGetPowerManagementLimitConstraints as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetPowerManagementMode",
        nvmlDeviceGetPowerManagementMode as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetPowerMizerMode_v1",
        nvmlDeviceGetPowerMizerMode_v1 as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetPowerSource",
        nvmlDeviceGetPowerSource as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetPowerState",
        nvmlDeviceGetPowerState as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetPowerUsage",
        nvmlDeviceGetPowerUsage as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetProcessUtilization",
        nvmlDeviceGetProcessUtilization as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetRemappedRows",
        nvmlDeviceGetRemappedRows as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetRepairStatus",
        nvmlDeviceGetRepairStatus as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetRetiredPages",
        nvmlDeviceGetRetiredPages as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetRetiredPagesPendingStatus",
        nvmlDeviceGetRetiredPagesPendingStatus as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetRetiredPages_v2",
        nvmlDeviceGetRetiredPages_v2 as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetRowRemapperHistogram",
        nvmlDeviceGetRowRemapperHistogram as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetSamples",
        nvmlDeviceGetSamples as *const c_void,
    ),
    Symbol("nvmlDeviceGetSerial", nvmlDeviceGetSerial as *const c_void),
    Symbol(
        "nvmlDeviceGetSramEccErrorStatus",
        nvmlDeviceGetSramEccErrorStatus as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetSupportedClocksEventReasons",
        nvmlDeviceGetSupportedClocksEventReasons as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetSupportedClocksThrottleReasons",
        nvmlDeviceGetSupportedClocksThrottleReasons as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetSupportedEventTypes",
        nvmlDeviceGetSupportedEventTypes as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetSupportedGraphicsClocks",
        nvmlDeviceGetSupportedGraphicsClocks as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetSupportedMemoryClocks",
        nvmlDeviceGetSupportedMemoryClocks as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetSupportedPerformanceStates",
        nvmlDeviceGetSupportedPerformanceStates as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetSupportedVgpus",
        nvmlDeviceGetSupportedVgpus as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetTargetFanSpeed",
        nvmlDeviceGetTargetFanSpeed as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetTemperature",
        nvmlDeviceGetTemperature as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetTemperatureThreshold",
        nvmlDeviceGetTemperatureThreshold as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetTemperatureV",
        nvmlDeviceGetTemperatureV as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetThermalSettings",
        nvmlDeviceGetThermalSettings as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetTopologyCommonAncestor",
        nvmlDeviceGetTopologyCommonAncestor as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetTopologyNearestGpus",
        nvmlDeviceGetTopologyNearestGpus as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetTotalEccErrors",
        nvmlDeviceGetTotalEccErrors as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetTotalEnergyConsumption",
        nvmlDeviceGetTotalEnergyConsumption as *const c_void,
    ),
    Symbol("nvmlDeviceGetUUID", nvmlDeviceGetUUID as *const c_void),
    Symbol(
        "nvmlDeviceGetUtilizationRates",
        nvmlDeviceGetUtilizationRates as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetVbiosVersion",
        nvmlDeviceGetVbiosVersion as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetVgpuCapabilities",
        nvmlDeviceGetVgpuCapabilities as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetVgpuHeterogeneousMode",
        nvmlDeviceGetVgpuHeterogeneousMode as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetViolationStatus",
        nvmlDeviceGetViolationStatus as *const c_void,
    ),
    Symbol(
        "nvmlDeviceGetVirtualizationMode",
        nvmlDeviceGetVirtualizationMode as *const c_void,
    ),
    Symbol(
        "nvmlDeviceIsMigDeviceHandle",
        nvmlDeviceIsMigDeviceHandle as *const c_void,
    ),
    Symbol(
        "nvmlDeviceOnSameBoard",
        nvmlDeviceOnSameBoard as *const c_void,
    ),
    Symbol(
        "nvmlDeviceQueryDrainState",
        nvmlDeviceQueryDrainState as *const c_void,
    ),
    Symbol(
        "nvmlDeviceRegisterEvents",
        nvmlDeviceRegisterEvents as *const c_void,
    ),
    Symbol(
        "nvmlDeviceWorkloadPowerProfileGetCurrentProfiles",
        nvmlDeviceWorkloadPowerProfileGetCurrentProfiles as *const c_void,
    ),
    Symbol(
        "nvmlDeviceWorkloadPowerProfileGetProfilesInfo",
        nvmlDeviceWorkloadPowerProfileGetProfilesInfo as *const c_void,
    ),
    Symbol("nvmlErrorString", nvmlErrorString as *const c_void),
    Symbol("nvmlEventSetCreate", nvmlEventSetCreate as *const c_void),
    Symbol("nvmlEventSetFree", nvmlEventSetFree as *const c_void),
    Symbol("nvmlEventSetWait", nvmlEventSetWait as *const c_void),
    Symbol("nvmlEventSetWait_v2", nvmlEventSetWait_v2 as *const c_void),
    Symbol(
        "nvmlGetExcludedDeviceCount",
        nvmlGetExcludedDeviceCount as *const c_void,
    ),
    Symbol(
        "nvmlGetExcludedDeviceInfoByIndex",
        nvmlGetExcludedDeviceInfoByIndex as *const c_void,
    ),
    Symbol(
        "nvmlGpmQueryDeviceSupport",
        nvmlGpmQueryDeviceSupport as *const c_void,
    ),
    Symbol(
        "nvmlGpmQueryIfStreamingEnabled",
        nvmlGpmQueryIfStreamingEnabled as *const c_void,
    ),
    Symbol("nvmlInit", nvmlInit as *const c_void),
    Symbol("nvmlInitWithFlags", nvmlInitWithFlags as *const c_void),
    Symbol("nvmlInit_v2", nvmlInit_v2 as *const c_void),
    Symbol("nvmlShutdown", nvmlShutdown as *const c_void),
    Symbol(
        "nvmlSystemGetConfComputeCapabilities",
        nvmlSystemGetConfComputeCapabilities as *const c_void,
    ),
    Symbol(
        "nvmlSystemGetConfComputeGpusReadyState",
        nvmlSystemGetConfComputeGpusReadyState as *const c_void,
    ),
    Symbol(
        "nvmlSystemGetConfComputeSettings",
        nvmlSystemGetConfComputeSettings as *const c_void,
    ),
    Symbol(
        "nvmlSystemGetConfComputeState",
        nvmlSystemGetConfComputeState as *const c_void,
    ),
    Symbol(
        "nvmlSystemGetCudaDriverVersion",
        nvmlSystemGetCudaDriverVersion as *const c_void,
    ),
    Symbol(
        "nvmlSystemGetCudaDriverVersion_v2",
        nvmlSystemGetCudaDriverVersion_v2 as *const c_void,
    ),
    Symbol(
        "nvmlSystemGetDriverBranch",
        nvmlSystemGetDriverBranch as *const c_void,
    ),
    Symbol(
        "nvmlSystemGetDriverVersion",
        nvmlSystemGetDriverVersion as *const c_void,
    ),
    Symbol(
        "nvmlSystemGetHicVersion",
        nvmlSystemGetHicVersion as *const c_void,
    ),
    Symbol(
        "nvmlSystemGetNVMLVersion",
        nvmlSystemGetNVMLVersion as *const c_void,
    ),
    Symbol(
        "nvmlSystemGetNvlinkBwMode",
        nvmlSystemGetNvlinkBwMode as *const c_void,
    ),
    Symbol(
        "nvmlSystemGetProcessName",
        nvmlSystemGetProcessName as *const c_void,
    ),
    Symbol(
        "nvmlSystemGetTopologyGpuSet",
        nvmlSystemGetTopologyGpuSet as *const c_void,
    ),
    Symbol("nvmlUnitGetCount", nvmlUnitGetCount as *const c_void),
];
