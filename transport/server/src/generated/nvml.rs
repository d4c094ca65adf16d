//! The server's side of NVML.
//!
//! Written by `cargo xtask codegen`; changes by hand are lost.
//!
//! Uses of the crate:
//! * `crate::exec::{Exec, Bad, Code}`: `Code` is i32; `Bad` is made from a `DecodeError` and closes
//!   the lane.
//! * `exec.driver: Driver`, `exec.nvml: Nvml` of these files.
//! * `exec.handles.real(Kind, u64) -> Result<*mut c_void, Code>`, `check_minted(Kind, u64) ->
//!   Result<(), Code>`, `insert(Kind, u64, *mut c_void)`, `known(Kind, *mut c_void) -> u64`,
//!   `insert_child` and `known_child` for what ends with a parent,
//!   `remove(Kind, u64)`. For NVML the code of a wrong handle is replaced by INVALID_ARGUMENT.
//! * `crate::special::NAME(exec, r, w) -> Result<Code, Bad>` for what is written by hand.

// The symbols' names, and calls of the driver: pointers are to values and arrays of the sizes
// that the driver is told, and that is the SAFETY of every block here.
#![allow(
    clippy::collapsible_if,
    clippy::match_single_binding,
    clippy::too_many_arguments,
    clippy::type_complexity,
    clippy::undocumented_unsafe_blocks,
    dead_code,
    non_snake_case,
    non_upper_case_globals,
    unreachable_pub,
    unsafe_code,
    unused_imports,
    unused_mut,
    unused_variables
)]

use core::ffi::*;
use std::path::Path;

use gtrace_cuda::types::nvml::*;
use gtrace_cuda::wire::{self, Scalar, Versioned};
use gtrace_cuda::{Kind, wire::mismatch};
use gtrace_protocol::{Reader, Writer, op_id};

use crate::exec::{Bad, Code, Exec};
use crate::special;

/// The library's functions; those that it does not have are absent.
#[derive(Debug)]
pub struct Nvml {
    _library: libloading::Library,
    /// `nvmlInit_v2`
    pub nvmlInit_v2: Option<unsafe extern "C" fn() -> nvmlReturn_t>,
    /// `nvmlShutdown`
    pub nvmlShutdown: Option<unsafe extern "C" fn() -> nvmlReturn_t>,
    /// `nvmlInit`
    pub nvmlInit: Option<unsafe extern "C" fn() -> nvmlReturn_t>,
    /// `nvmlInitWithFlags`
    pub nvmlInitWithFlags: Option<unsafe extern "C" fn(c_uint) -> nvmlReturn_t>,
    /// `nvmlErrorString`
    pub nvmlErrorString: Option<unsafe extern "C" fn(nvmlReturn_t) -> *const c_char>,
    /// `nvmlUnitGetCount`
    pub nvmlUnitGetCount: Option<unsafe extern "C" fn(*mut c_uint) -> nvmlReturn_t>,
    /// `nvmlGetExcludedDeviceCount`
    pub nvmlGetExcludedDeviceCount: Option<unsafe extern "C" fn(*mut c_uint) -> nvmlReturn_t>,
    /// `nvmlGetExcludedDeviceInfoByIndex`
    pub nvmlGetExcludedDeviceInfoByIndex:
        Option<unsafe extern "C" fn(c_uint, *mut nvmlExcludedDeviceInfo_t) -> nvmlReturn_t>,
    /// `nvmlSystemGetConfComputeCapabilities`
    pub nvmlSystemGetConfComputeCapabilities:
        Option<unsafe extern "C" fn(*mut nvmlConfComputeSystemCaps_t) -> nvmlReturn_t>,
    /// `nvmlSystemGetConfComputeGpusReadyState`
    pub nvmlSystemGetConfComputeGpusReadyState:
        Option<unsafe extern "C" fn(*mut c_uint) -> nvmlReturn_t>,
    /// `nvmlSystemGetConfComputeSettings`
    pub nvmlSystemGetConfComputeSettings:
        Option<unsafe extern "C" fn(*mut nvmlSystemConfComputeSettings_t) -> nvmlReturn_t>,
    /// `nvmlSystemGetConfComputeState`
    pub nvmlSystemGetConfComputeState:
        Option<unsafe extern "C" fn(*mut nvmlConfComputeSystemState_t) -> nvmlReturn_t>,
    /// `nvmlSystemGetCudaDriverVersion`
    pub nvmlSystemGetCudaDriverVersion: Option<unsafe extern "C" fn(*mut c_int) -> nvmlReturn_t>,
    /// `nvmlSystemGetCudaDriverVersion_v2`
    pub nvmlSystemGetCudaDriverVersion_v2: Option<unsafe extern "C" fn(*mut c_int) -> nvmlReturn_t>,
    /// `nvmlSystemGetDriverBranch`
    pub nvmlSystemGetDriverBranch:
        Option<unsafe extern "C" fn(*mut nvmlSystemDriverBranchInfo_t, c_uint) -> nvmlReturn_t>,
    /// `nvmlSystemGetDriverVersion`
    pub nvmlSystemGetDriverVersion:
        Option<unsafe extern "C" fn(*mut c_char, c_uint) -> nvmlReturn_t>,
    /// `nvmlSystemGetHicVersion`
    pub nvmlSystemGetHicVersion:
        Option<unsafe extern "C" fn(*mut c_uint, *mut nvmlHwbcEntry_t) -> nvmlReturn_t>,
    /// `nvmlSystemGetNVMLVersion`
    pub nvmlSystemGetNVMLVersion: Option<unsafe extern "C" fn(*mut c_char, c_uint) -> nvmlReturn_t>,
    /// `nvmlSystemGetNvlinkBwMode`
    pub nvmlSystemGetNvlinkBwMode: Option<unsafe extern "C" fn(*mut c_uint) -> nvmlReturn_t>,
    /// `nvmlSystemGetProcessName`
    pub nvmlSystemGetProcessName:
        Option<unsafe extern "C" fn(c_uint, *mut c_char, c_uint) -> nvmlReturn_t>,
    /// `nvmlSystemGetTopologyGpuSet`
    pub nvmlSystemGetTopologyGpuSet:
        Option<unsafe extern "C" fn(c_uint, *mut c_uint, *mut nvmlDevice_t) -> nvmlReturn_t>,
    /// `nvmlEventSetCreate`
    pub nvmlEventSetCreate: Option<unsafe extern "C" fn(*mut nvmlEventSet_t) -> nvmlReturn_t>,
    /// `nvmlEventSetFree`
    pub nvmlEventSetFree: Option<unsafe extern "C" fn(nvmlEventSet_t) -> nvmlReturn_t>,
    /// `nvmlEventSetWait`
    pub nvmlEventSetWait:
        Option<unsafe extern "C" fn(nvmlEventSet_t, *mut nvmlEventData_t, c_uint) -> nvmlReturn_t>,
    /// `nvmlEventSetWait_v2`
    pub nvmlEventSetWait_v2:
        Option<unsafe extern "C" fn(nvmlEventSet_t, *mut nvmlEventData_t, c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceRegisterEvents`
    pub nvmlDeviceRegisterEvents:
        Option<unsafe extern "C" fn(nvmlDevice_t, c_ulonglong, nvmlEventSet_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetCount`
    pub nvmlDeviceGetCount: Option<unsafe extern "C" fn(*mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetCount_v2`
    pub nvmlDeviceGetCount_v2: Option<unsafe extern "C" fn(*mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetDeviceHandleFromMigDeviceHandle`
    pub nvmlDeviceGetDeviceHandleFromMigDeviceHandle:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlDevice_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetHandleByIndex`
    pub nvmlDeviceGetHandleByIndex:
        Option<unsafe extern "C" fn(c_uint, *mut nvmlDevice_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetHandleByIndex_v2`
    pub nvmlDeviceGetHandleByIndex_v2:
        Option<unsafe extern "C" fn(c_uint, *mut nvmlDevice_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetHandleByPciBusId`
    pub nvmlDeviceGetHandleByPciBusId:
        Option<unsafe extern "C" fn(*const c_char, *mut nvmlDevice_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetHandleByPciBusId_v2`
    pub nvmlDeviceGetHandleByPciBusId_v2:
        Option<unsafe extern "C" fn(*const c_char, *mut nvmlDevice_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetHandleBySerial`
    pub nvmlDeviceGetHandleBySerial:
        Option<unsafe extern "C" fn(*const c_char, *mut nvmlDevice_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetHandleByUUID`
    pub nvmlDeviceGetHandleByUUID:
        Option<unsafe extern "C" fn(*const c_char, *mut nvmlDevice_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetHandleByUUIDV`
    pub nvmlDeviceGetHandleByUUIDV:
        Option<unsafe extern "C" fn(*const nvmlUUID_t, *mut nvmlDevice_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetMigDeviceHandleByIndex`
    pub nvmlDeviceGetMigDeviceHandleByIndex:
        Option<unsafe extern "C" fn(nvmlDevice_t, c_uint, *mut nvmlDevice_t) -> nvmlReturn_t>,
    /// `nvmlDeviceIsMigDeviceHandle`
    pub nvmlDeviceIsMigDeviceHandle:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetAPIRestriction`
    pub nvmlDeviceGetAPIRestriction: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            nvmlRestrictedAPI_t,
            *mut nvmlEnableState_t,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetAddressingMode`
    pub nvmlDeviceGetAddressingMode:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlDeviceAddressingMode_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetArchitecture`
    pub nvmlDeviceGetArchitecture:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlDeviceArchitecture_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetAttributes_v2`
    pub nvmlDeviceGetAttributes_v2:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlDeviceAttributes_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetBoardId`
    pub nvmlDeviceGetBoardId:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetBoardPartNumber`
    pub nvmlDeviceGetBoardPartNumber:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_char, c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetBrand`
    pub nvmlDeviceGetBrand:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlBrandType_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetCapabilities`
    pub nvmlDeviceGetCapabilities:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlDeviceCapabilities_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetComputeInstanceId`
    pub nvmlDeviceGetComputeInstanceId:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetComputeMode`
    pub nvmlDeviceGetComputeMode:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlComputeMode_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetConfComputeGpuAttestationReport`
    pub nvmlDeviceGetConfComputeGpuAttestationReport: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            *mut nvmlConfComputeGpuAttestationReport_t,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetConfComputeGpuCertificate`
    pub nvmlDeviceGetConfComputeGpuCertificate: Option<
        unsafe extern "C" fn(nvmlDevice_t, *mut nvmlConfComputeGpuCertificate_t) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetCudaComputeCapability`
    pub nvmlDeviceGetCudaComputeCapability:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_int, *mut c_int) -> nvmlReturn_t>,
    /// `nvmlDeviceGetDisplayActive`
    pub nvmlDeviceGetDisplayActive:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlEnableState_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetDisplayMode`
    pub nvmlDeviceGetDisplayMode:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlEnableState_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetDriverModel`
    pub nvmlDeviceGetDriverModel: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            *mut nvmlDriverModel_t,
            *mut nvmlDriverModel_t,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetDriverModel_v2`
    pub nvmlDeviceGetDriverModel_v2: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            *mut nvmlDriverModel_t,
            *mut nvmlDriverModel_t,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetGpuInstanceId`
    pub nvmlDeviceGetGpuInstanceId:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetGpuOperationMode`
    pub nvmlDeviceGetGpuOperationMode: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            *mut nvmlGpuOperationMode_t,
            *mut nvmlGpuOperationMode_t,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetGridLicensableFeatures_v4`
    pub nvmlDeviceGetGridLicensableFeatures_v4: Option<
        unsafe extern "C" fn(nvmlDevice_t, *mut nvmlGridLicensableFeatures_t) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetGspFirmwareMode`
    pub nvmlDeviceGetGspFirmwareMode:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetGspFirmwareVersion`
    pub nvmlDeviceGetGspFirmwareVersion:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_char) -> nvmlReturn_t>,
    /// `nvmlDeviceGetHostVgpuMode`
    pub nvmlDeviceGetHostVgpuMode:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlHostVgpuMode_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetIndex`
    pub nvmlDeviceGetIndex: Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetInforomConfigurationChecksum`
    pub nvmlDeviceGetInforomConfigurationChecksum:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetInforomImageVersion`
    pub nvmlDeviceGetInforomImageVersion:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_char, c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetInforomVersion`
    pub nvmlDeviceGetInforomVersion: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            nvmlInforomObject_t,
            *mut c_char,
            c_uint,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetIrqNum`
    pub nvmlDeviceGetIrqNum:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetLastBBXFlushTime`
    pub nvmlDeviceGetLastBBXFlushTime:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_ulonglong, *mut c_ulong) -> nvmlReturn_t>,
    /// `nvmlDeviceGetMaxMigDeviceCount`
    pub nvmlDeviceGetMaxMigDeviceCount:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetMigMode`
    pub nvmlDeviceGetMigMode:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetMinorNumber`
    pub nvmlDeviceGetMinorNumber:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetModuleId`
    pub nvmlDeviceGetModuleId:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetMultiGpuBoard`
    pub nvmlDeviceGetMultiGpuBoard:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetName`
    pub nvmlDeviceGetName:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_char, c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetNumGpuCores`
    pub nvmlDeviceGetNumGpuCores:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetPdi`
    pub nvmlDeviceGetPdi:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlPdi_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetPersistenceMode`
    pub nvmlDeviceGetPersistenceMode:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlEnableState_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetPlatformInfo`
    pub nvmlDeviceGetPlatformInfo:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlPlatformInfo_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetSerial`
    pub nvmlDeviceGetSerial:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_char, c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetSupportedEventTypes`
    pub nvmlDeviceGetSupportedEventTypes:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_ulonglong) -> nvmlReturn_t>,
    /// `nvmlDeviceGetUUID`
    pub nvmlDeviceGetUUID:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_char, c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetVbiosVersion`
    pub nvmlDeviceGetVbiosVersion:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_char, c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetVgpuHeterogeneousMode`
    pub nvmlDeviceGetVgpuHeterogeneousMode: Option<
        unsafe extern "C" fn(nvmlDevice_t, *mut nvmlVgpuHeterogeneousMode_t) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetVirtualizationMode`
    pub nvmlDeviceGetVirtualizationMode: Option<
        unsafe extern "C" fn(nvmlDevice_t, *mut nvmlGpuVirtualizationMode_t) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetVgpuCapabilities`
    pub nvmlDeviceGetVgpuCapabilities: Option<
        unsafe extern "C" fn(nvmlDevice_t, nvmlDeviceVgpuCapability_t, *mut c_uint) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetSupportedVgpus`
    pub nvmlDeviceGetSupportedVgpus: Option<
        unsafe extern "C" fn(nvmlDevice_t, *mut c_uint, *mut nvmlVgpuTypeId_t) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetCreatableVgpus`
    pub nvmlDeviceGetCreatableVgpus: Option<
        unsafe extern "C" fn(nvmlDevice_t, *mut c_uint, *mut nvmlVgpuTypeId_t) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetActiveVgpus`
    pub nvmlDeviceGetActiveVgpus: Option<
        unsafe extern "C" fn(nvmlDevice_t, *mut c_uint, *mut nvmlVgpuInstance_t) -> nvmlReturn_t,
    >,
    /// `nvmlGpmQueryDeviceSupport`
    pub nvmlGpmQueryDeviceSupport:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlGpmSupport_t) -> nvmlReturn_t>,
    /// `nvmlGpmQueryIfStreamingEnabled`
    pub nvmlGpmQueryIfStreamingEnabled:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceQueryDrainState`
    pub nvmlDeviceQueryDrainState:
        Option<unsafe extern "C" fn(*mut nvmlPciInfo_t, *mut nvmlEnableState_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetBAR1MemoryInfo`
    pub nvmlDeviceGetBAR1MemoryInfo:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlBAR1Memory_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetConfComputeMemSizeInfo`
    pub nvmlDeviceGetConfComputeMemSizeInfo: Option<
        unsafe extern "C" fn(nvmlDevice_t, *mut nvmlConfComputeMemSizeInfo_t) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetConfComputeProtectedMemoryUsage`
    pub nvmlDeviceGetConfComputeProtectedMemoryUsage:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlMemory_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetDefaultEccMode`
    pub nvmlDeviceGetDefaultEccMode:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlEnableState_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetDetailedEccErrors`
    pub nvmlDeviceGetDetailedEccErrors: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            nvmlMemoryErrorType_t,
            nvmlEccCounterType_t,
            *mut nvmlEccErrorCounts_t,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetDramEncryptionMode`
    pub nvmlDeviceGetDramEncryptionMode: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            *mut nvmlDramEncryptionInfo_t,
            *mut nvmlDramEncryptionInfo_t,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetEccMode`
    pub nvmlDeviceGetEccMode: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            *mut nvmlEnableState_t,
            *mut nvmlEnableState_t,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetMemoryBusWidth`
    pub nvmlDeviceGetMemoryBusWidth:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetMemoryErrorCounter`
    pub nvmlDeviceGetMemoryErrorCounter: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            nvmlMemoryErrorType_t,
            nvmlEccCounterType_t,
            nvmlMemoryLocation_t,
            *mut c_ulonglong,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetMemoryInfo`
    pub nvmlDeviceGetMemoryInfo:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlMemory_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetMemoryInfo_v2`
    pub nvmlDeviceGetMemoryInfo_v2:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlMemory_v2_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetRemappedRows`
    pub nvmlDeviceGetRemappedRows: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            *mut c_uint,
            *mut c_uint,
            *mut c_uint,
            *mut c_uint,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetRepairStatus`
    pub nvmlDeviceGetRepairStatus:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlRepairStatus_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetRetiredPages`
    pub nvmlDeviceGetRetiredPages: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            nvmlPageRetirementCause_t,
            *mut c_uint,
            *mut c_ulonglong,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetRetiredPagesPendingStatus`
    pub nvmlDeviceGetRetiredPagesPendingStatus:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlEnableState_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetRetiredPages_v2`
    pub nvmlDeviceGetRetiredPages_v2: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            nvmlPageRetirementCause_t,
            *mut c_uint,
            *mut c_ulonglong,
            *mut c_ulonglong,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetRowRemapperHistogram`
    pub nvmlDeviceGetRowRemapperHistogram: Option<
        unsafe extern "C" fn(nvmlDevice_t, *mut nvmlRowRemapperHistogramValues_t) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetSramEccErrorStatus`
    pub nvmlDeviceGetSramEccErrorStatus:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlEccSramErrorStatus_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetTotalEccErrors`
    pub nvmlDeviceGetTotalEccErrors: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            nvmlMemoryErrorType_t,
            nvmlEccCounterType_t,
            *mut c_ulonglong,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetAdaptiveClockInfoStatus`
    pub nvmlDeviceGetAdaptiveClockInfoStatus:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetApplicationsClock`
    pub nvmlDeviceGetApplicationsClock:
        Option<unsafe extern "C" fn(nvmlDevice_t, nvmlClockType_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetAutoBoostedClocksEnabled`
    pub nvmlDeviceGetAutoBoostedClocksEnabled: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            *mut nvmlEnableState_t,
            *mut nvmlEnableState_t,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetClkMonStatus`
    pub nvmlDeviceGetClkMonStatus:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlClkMonStatus_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetClock`
    pub nvmlDeviceGetClock: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            nvmlClockType_t,
            nvmlClockId_t,
            *mut c_uint,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetClockInfo`
    pub nvmlDeviceGetClockInfo:
        Option<unsafe extern "C" fn(nvmlDevice_t, nvmlClockType_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetClockOffsets`
    pub nvmlDeviceGetClockOffsets:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlClockOffset_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetCoolerInfo`
    pub nvmlDeviceGetCoolerInfo:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlCoolerInfo_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetCurrentClockFreqs`
    pub nvmlDeviceGetCurrentClockFreqs: Option<
        unsafe extern "C" fn(nvmlDevice_t, *mut nvmlDeviceCurrentClockFreqs_t) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetCurrentClocksEventReasons`
    pub nvmlDeviceGetCurrentClocksEventReasons:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_ulonglong) -> nvmlReturn_t>,
    /// `nvmlDeviceGetCurrentClocksThrottleReasons`
    pub nvmlDeviceGetCurrentClocksThrottleReasons:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_ulonglong) -> nvmlReturn_t>,
    /// `nvmlDeviceGetDefaultApplicationsClock`
    pub nvmlDeviceGetDefaultApplicationsClock:
        Option<unsafe extern "C" fn(nvmlDevice_t, nvmlClockType_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetDynamicPstatesInfo`
    pub nvmlDeviceGetDynamicPstatesInfo: Option<
        unsafe extern "C" fn(nvmlDevice_t, *mut nvmlGpuDynamicPstatesInfo_t) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetEnforcedPowerLimit`
    pub nvmlDeviceGetEnforcedPowerLimit:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetFanControlPolicy_v2`
    pub nvmlDeviceGetFanControlPolicy_v2: Option<
        unsafe extern "C" fn(nvmlDevice_t, c_uint, *mut nvmlFanControlPolicy_t) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetFanSpeed`
    pub nvmlDeviceGetFanSpeed:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetFanSpeedRPM`
    pub nvmlDeviceGetFanSpeedRPM:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlFanSpeedInfo_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetFanSpeed_v2`
    pub nvmlDeviceGetFanSpeed_v2:
        Option<unsafe extern "C" fn(nvmlDevice_t, c_uint, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetGpcClkMinMaxVfOffset`
    pub nvmlDeviceGetGpcClkMinMaxVfOffset:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_int, *mut c_int) -> nvmlReturn_t>,
    /// `nvmlDeviceGetGpcClkVfOffset`
    pub nvmlDeviceGetGpcClkVfOffset:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_int) -> nvmlReturn_t>,
    /// `nvmlDeviceGetMarginTemperature`
    pub nvmlDeviceGetMarginTemperature:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlMarginTemperature_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetMaxClockInfo`
    pub nvmlDeviceGetMaxClockInfo:
        Option<unsafe extern "C" fn(nvmlDevice_t, nvmlClockType_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetMaxCustomerBoostClock`
    pub nvmlDeviceGetMaxCustomerBoostClock:
        Option<unsafe extern "C" fn(nvmlDevice_t, nvmlClockType_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetMemClkMinMaxVfOffset`
    pub nvmlDeviceGetMemClkMinMaxVfOffset:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_int, *mut c_int) -> nvmlReturn_t>,
    /// `nvmlDeviceGetMemClkVfOffset`
    pub nvmlDeviceGetMemClkVfOffset:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_int) -> nvmlReturn_t>,
    /// `nvmlDeviceGetMinMaxClockOfPState`
    pub nvmlDeviceGetMinMaxClockOfPState: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            nvmlClockType_t,
            nvmlPstates_t,
            *mut c_uint,
            *mut c_uint,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetMinMaxFanSpeed`
    pub nvmlDeviceGetMinMaxFanSpeed:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetNumFans`
    pub nvmlDeviceGetNumFans:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetPerformanceModes`
    pub nvmlDeviceGetPerformanceModes:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlDevicePerfModes_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetPerformanceState`
    pub nvmlDeviceGetPerformanceState:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlPstates_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetPowerManagementDefaultLimit`
    pub nvmlDeviceGetPowerManagementDefaultLimit:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetPowerManagementLimit`
    pub nvmlDeviceGetPowerManagementLimit:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetPowerManagementLimitConstraints`
    pub nvmlDeviceGetPowerManagementLimitConstraints:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetPowerManagementMode`
    pub nvmlDeviceGetPowerManagementMode:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlEnableState_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetPowerMizerMode_v1`
    pub nvmlDeviceGetPowerMizerMode_v1: Option<
        unsafe extern "C" fn(nvmlDevice_t, *mut nvmlDevicePowerMizerModes_v1_t) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetPowerSource`
    pub nvmlDeviceGetPowerSource:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlPowerSource_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetPowerState`
    pub nvmlDeviceGetPowerState:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlPstates_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetPowerUsage`
    pub nvmlDeviceGetPowerUsage:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetSupportedClocksEventReasons`
    pub nvmlDeviceGetSupportedClocksEventReasons:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_ulonglong) -> nvmlReturn_t>,
    /// `nvmlDeviceGetSupportedClocksThrottleReasons`
    pub nvmlDeviceGetSupportedClocksThrottleReasons:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_ulonglong) -> nvmlReturn_t>,
    /// `nvmlDeviceGetSupportedGraphicsClocks`
    pub nvmlDeviceGetSupportedGraphicsClocks: Option<
        unsafe extern "C" fn(nvmlDevice_t, c_uint, *mut c_uint, *mut c_uint) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetSupportedMemoryClocks`
    pub nvmlDeviceGetSupportedMemoryClocks:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetSupportedPerformanceStates`
    pub nvmlDeviceGetSupportedPerformanceStates:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlPstates_t, c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetTargetFanSpeed`
    pub nvmlDeviceGetTargetFanSpeed:
        Option<unsafe extern "C" fn(nvmlDevice_t, c_uint, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetTemperature`
    pub nvmlDeviceGetTemperature: Option<
        unsafe extern "C" fn(nvmlDevice_t, nvmlTemperatureSensors_t, *mut c_uint) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetTemperatureThreshold`
    pub nvmlDeviceGetTemperatureThreshold: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            nvmlTemperatureThresholds_t,
            *mut c_uint,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetTemperatureV`
    pub nvmlDeviceGetTemperatureV:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlTemperature_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetThermalSettings`
    pub nvmlDeviceGetThermalSettings: Option<
        unsafe extern "C" fn(nvmlDevice_t, c_uint, *mut nvmlGpuThermalSettings_t) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetTotalEnergyConsumption`
    pub nvmlDeviceGetTotalEnergyConsumption:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_ulonglong) -> nvmlReturn_t>,
    /// `nvmlDeviceGetViolationStatus`
    pub nvmlDeviceGetViolationStatus: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            nvmlPerfPolicyType_t,
            *mut nvmlViolationTime_t,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceWorkloadPowerProfileGetCurrentProfiles`
    pub nvmlDeviceWorkloadPowerProfileGetCurrentProfiles: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            *mut nvmlWorkloadPowerProfileCurrentProfiles_t,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceWorkloadPowerProfileGetProfilesInfo`
    pub nvmlDeviceWorkloadPowerProfileGetProfilesInfo: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            *mut nvmlWorkloadPowerProfileProfilesInfo_t,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetBridgeChipInfo`
    pub nvmlDeviceGetBridgeChipInfo:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlBridgeChipHierarchy_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetBusType`
    pub nvmlDeviceGetBusType:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlBusType_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetC2cModeInfoV`
    pub nvmlDeviceGetC2cModeInfoV:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlC2cModeInfo_v1_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetCpuAffinity`
    pub nvmlDeviceGetCpuAffinity:
        Option<unsafe extern "C" fn(nvmlDevice_t, c_uint, *mut c_ulong) -> nvmlReturn_t>,
    /// `nvmlDeviceGetCpuAffinityWithinScope`
    pub nvmlDeviceGetCpuAffinityWithinScope: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            c_uint,
            *mut c_ulong,
            nvmlAffinityScope_t,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetCurrPcieLinkGeneration`
    pub nvmlDeviceGetCurrPcieLinkGeneration:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetCurrPcieLinkWidth`
    pub nvmlDeviceGetCurrPcieLinkWidth:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetGpuFabricInfo`
    pub nvmlDeviceGetGpuFabricInfo:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlGpuFabricInfo_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetGpuFabricInfoV`
    pub nvmlDeviceGetGpuFabricInfoV:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlGpuFabricInfoV_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetGpuMaxPcieLinkGeneration`
    pub nvmlDeviceGetGpuMaxPcieLinkGeneration:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetMaxPcieLinkGeneration`
    pub nvmlDeviceGetMaxPcieLinkGeneration:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetMaxPcieLinkWidth`
    pub nvmlDeviceGetMaxPcieLinkWidth:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetMemoryAffinity`
    pub nvmlDeviceGetMemoryAffinity: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            c_uint,
            *mut c_ulong,
            nvmlAffinityScope_t,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetNumaNodeId`
    pub nvmlDeviceGetNumaNodeId:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetNvLinkCapability`
    pub nvmlDeviceGetNvLinkCapability: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            c_uint,
            nvmlNvLinkCapability_t,
            *mut c_uint,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetNvLinkErrorCounter`
    pub nvmlDeviceGetNvLinkErrorCounter: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            c_uint,
            nvmlNvLinkErrorCounter_t,
            *mut c_ulonglong,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetNvLinkInfo`
    pub nvmlDeviceGetNvLinkInfo:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlNvLinkInfo_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetNvLinkRemoteDeviceType`
    pub nvmlDeviceGetNvLinkRemoteDeviceType: Option<
        unsafe extern "C" fn(nvmlDevice_t, c_uint, *mut nvmlIntNvLinkDeviceType_t) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetNvLinkRemotePciInfo_v2`
    pub nvmlDeviceGetNvLinkRemotePciInfo_v2:
        Option<unsafe extern "C" fn(nvmlDevice_t, c_uint, *mut nvmlPciInfo_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetNvLinkState`
    pub nvmlDeviceGetNvLinkState:
        Option<unsafe extern "C" fn(nvmlDevice_t, c_uint, *mut nvmlEnableState_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetNvLinkUtilizationControl`
    pub nvmlDeviceGetNvLinkUtilizationControl: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            c_uint,
            c_uint,
            *mut nvmlNvLinkUtilizationControl_t,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetNvLinkUtilizationCounter`
    pub nvmlDeviceGetNvLinkUtilizationCounter: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            c_uint,
            c_uint,
            *mut c_ulonglong,
            *mut c_ulonglong,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetNvLinkVersion`
    pub nvmlDeviceGetNvLinkVersion:
        Option<unsafe extern "C" fn(nvmlDevice_t, c_uint, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetNvlinkBwMode`
    pub nvmlDeviceGetNvlinkBwMode:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlNvlinkGetBwMode_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetNvlinkSupportedBwModes`
    pub nvmlDeviceGetNvlinkSupportedBwModes: Option<
        unsafe extern "C" fn(nvmlDevice_t, *mut nvmlNvlinkSupportedBwModes_t) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetP2PStatus`
    pub nvmlDeviceGetP2PStatus: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            nvmlDevice_t,
            nvmlGpuP2PCapsIndex_t,
            *mut nvmlGpuP2PStatus_t,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetPciInfoExt`
    pub nvmlDeviceGetPciInfoExt:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlPciInfoExt_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetPciInfo_v3`
    pub nvmlDeviceGetPciInfo_v3:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlPciInfo_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetPcieLinkMaxSpeed`
    pub nvmlDeviceGetPcieLinkMaxSpeed:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetPcieReplayCounter`
    pub nvmlDeviceGetPcieReplayCounter:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetPcieSpeed`
    pub nvmlDeviceGetPcieSpeed:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetPcieThroughput`
    pub nvmlDeviceGetPcieThroughput: Option<
        unsafe extern "C" fn(nvmlDevice_t, nvmlPcieUtilCounter_t, *mut c_uint) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetTopologyCommonAncestor`
    pub nvmlDeviceGetTopologyCommonAncestor: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            nvmlDevice_t,
            *mut nvmlGpuTopologyLevel_t,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetTopologyNearestGpus`
    pub nvmlDeviceGetTopologyNearestGpus: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            nvmlGpuTopologyLevel_t,
            *mut c_uint,
            *mut nvmlDevice_t,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceOnSameBoard`
    pub nvmlDeviceOnSameBoard:
        Option<unsafe extern "C" fn(nvmlDevice_t, nvmlDevice_t, *mut c_int) -> nvmlReturn_t>,
    /// `nvmlDeviceGetAccountingBufferSize`
    pub nvmlDeviceGetAccountingBufferSize:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetAccountingMode`
    pub nvmlDeviceGetAccountingMode:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlEnableState_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetAccountingPids`
    pub nvmlDeviceGetAccountingPids:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetAccountingStats`
    pub nvmlDeviceGetAccountingStats: Option<
        unsafe extern "C" fn(nvmlDevice_t, c_uint, *mut nvmlAccountingStats_t) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetComputeRunningProcesses`
    pub nvmlDeviceGetComputeRunningProcesses: Option<
        unsafe extern "C" fn(nvmlDevice_t, *mut c_uint, *mut nvmlProcessInfo_v1_t) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetComputeRunningProcesses_v2`
    pub nvmlDeviceGetComputeRunningProcesses_v2: Option<
        unsafe extern "C" fn(nvmlDevice_t, *mut c_uint, *mut nvmlProcessInfo_v2_t) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetComputeRunningProcesses_v3`
    pub nvmlDeviceGetComputeRunningProcesses_v3: Option<
        unsafe extern "C" fn(nvmlDevice_t, *mut c_uint, *mut nvmlProcessInfo_t) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetDecoderUtilization`
    pub nvmlDeviceGetDecoderUtilization:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetEncoderCapacity`
    pub nvmlDeviceGetEncoderCapacity:
        Option<unsafe extern "C" fn(nvmlDevice_t, nvmlEncoderType_t, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetEncoderSessions`
    pub nvmlDeviceGetEncoderSessions: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            *mut c_uint,
            *mut nvmlEncoderSessionInfo_t,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetEncoderStats`
    pub nvmlDeviceGetEncoderStats: Option<
        unsafe extern "C" fn(nvmlDevice_t, *mut c_uint, *mut c_uint, *mut c_uint) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetEncoderUtilization`
    pub nvmlDeviceGetEncoderUtilization:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetFBCSessions`
    pub nvmlDeviceGetFBCSessions: Option<
        unsafe extern "C" fn(nvmlDevice_t, *mut c_uint, *mut nvmlFBCSessionInfo_t) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetFBCStats`
    pub nvmlDeviceGetFBCStats:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlFBCStats_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetFieldValues`
    pub nvmlDeviceGetFieldValues:
        Option<unsafe extern "C" fn(nvmlDevice_t, c_int, *mut nvmlFieldValue_t) -> nvmlReturn_t>,
    /// `nvmlDeviceGetGraphicsRunningProcesses`
    pub nvmlDeviceGetGraphicsRunningProcesses: Option<
        unsafe extern "C" fn(nvmlDevice_t, *mut c_uint, *mut nvmlProcessInfo_v1_t) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetGraphicsRunningProcesses_v2`
    pub nvmlDeviceGetGraphicsRunningProcesses_v2: Option<
        unsafe extern "C" fn(nvmlDevice_t, *mut c_uint, *mut nvmlProcessInfo_v2_t) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetGraphicsRunningProcesses_v3`
    pub nvmlDeviceGetGraphicsRunningProcesses_v3: Option<
        unsafe extern "C" fn(nvmlDevice_t, *mut c_uint, *mut nvmlProcessInfo_t) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetJpgUtilization`
    pub nvmlDeviceGetJpgUtilization:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetMPSComputeRunningProcesses`
    pub nvmlDeviceGetMPSComputeRunningProcesses: Option<
        unsafe extern "C" fn(nvmlDevice_t, *mut c_uint, *mut nvmlProcessInfo_v1_t) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetMPSComputeRunningProcesses_v2`
    pub nvmlDeviceGetMPSComputeRunningProcesses_v2: Option<
        unsafe extern "C" fn(nvmlDevice_t, *mut c_uint, *mut nvmlProcessInfo_v2_t) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetMPSComputeRunningProcesses_v3`
    pub nvmlDeviceGetMPSComputeRunningProcesses_v3: Option<
        unsafe extern "C" fn(nvmlDevice_t, *mut c_uint, *mut nvmlProcessInfo_t) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetOfaUtilization`
    pub nvmlDeviceGetOfaUtilization:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut c_uint, *mut c_uint) -> nvmlReturn_t>,
    /// `nvmlDeviceGetProcessUtilization`
    pub nvmlDeviceGetProcessUtilization: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            *mut nvmlProcessUtilizationSample_t,
            *mut c_uint,
            c_ulonglong,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetSamples`
    pub nvmlDeviceGetSamples: Option<
        unsafe extern "C" fn(
            nvmlDevice_t,
            nvmlSamplingType_t,
            c_ulonglong,
            *mut nvmlValueType_t,
            *mut c_uint,
            *mut nvmlSample_t,
        ) -> nvmlReturn_t,
    >,
    /// `nvmlDeviceGetUtilizationRates`
    pub nvmlDeviceGetUtilizationRates:
        Option<unsafe extern "C" fn(nvmlDevice_t, *mut nvmlUtilization_t) -> nvmlReturn_t>,
}

impl Nvml {
    /// Loads the library at `path`, and finds its functions.
    ///
    /// # Errors
    ///
    /// What the dynamic linker says.
    pub fn load(path: &Path) -> Result<Self, libloading::Error> {
        let library = unsafe { libloading::Library::new(path) }?;
        Ok(Self {
            nvmlInit_v2: unsafe { library.get(c"nvmlInit_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            nvmlShutdown: unsafe { library.get(c"nvmlShutdown".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            nvmlInit: unsafe { library.get(c"nvmlInit".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            nvmlInitWithFlags: unsafe { library.get(c"nvmlInitWithFlags".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            nvmlErrorString: unsafe { library.get(c"nvmlErrorString".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            nvmlUnitGetCount: unsafe { library.get(c"nvmlUnitGetCount".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            nvmlGetExcludedDeviceCount: unsafe {
                library.get(c"nvmlGetExcludedDeviceCount".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlGetExcludedDeviceInfoByIndex: unsafe {
                library.get(c"nvmlGetExcludedDeviceInfoByIndex".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlSystemGetConfComputeCapabilities: unsafe {
                library.get(c"nvmlSystemGetConfComputeCapabilities".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlSystemGetConfComputeGpusReadyState: unsafe {
                library.get(c"nvmlSystemGetConfComputeGpusReadyState".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlSystemGetConfComputeSettings: unsafe {
                library.get(c"nvmlSystemGetConfComputeSettings".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlSystemGetConfComputeState: unsafe {
                library.get(c"nvmlSystemGetConfComputeState".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlSystemGetCudaDriverVersion: unsafe {
                library.get(c"nvmlSystemGetCudaDriverVersion".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlSystemGetCudaDriverVersion_v2: unsafe {
                library.get(c"nvmlSystemGetCudaDriverVersion_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlSystemGetDriverBranch: unsafe {
                library.get(c"nvmlSystemGetDriverBranch".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlSystemGetDriverVersion: unsafe {
                library.get(c"nvmlSystemGetDriverVersion".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlSystemGetHicVersion: unsafe {
                library.get(c"nvmlSystemGetHicVersion".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlSystemGetNVMLVersion: unsafe {
                library.get(c"nvmlSystemGetNVMLVersion".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlSystemGetNvlinkBwMode: unsafe {
                library.get(c"nvmlSystemGetNvlinkBwMode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlSystemGetProcessName: unsafe {
                library.get(c"nvmlSystemGetProcessName".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlSystemGetTopologyGpuSet: unsafe {
                library.get(c"nvmlSystemGetTopologyGpuSet".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlEventSetCreate: unsafe { library.get(c"nvmlEventSetCreate".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            nvmlEventSetFree: unsafe { library.get(c"nvmlEventSetFree".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            nvmlEventSetWait: unsafe { library.get(c"nvmlEventSetWait".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            nvmlEventSetWait_v2: unsafe { library.get(c"nvmlEventSetWait_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            nvmlDeviceRegisterEvents: unsafe {
                library.get(c"nvmlDeviceRegisterEvents".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetCount: unsafe { library.get(c"nvmlDeviceGetCount".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            nvmlDeviceGetCount_v2: unsafe {
                library.get(c"nvmlDeviceGetCount_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetDeviceHandleFromMigDeviceHandle: unsafe {
                library.get(c"nvmlDeviceGetDeviceHandleFromMigDeviceHandle".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetHandleByIndex: unsafe {
                library.get(c"nvmlDeviceGetHandleByIndex".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetHandleByIndex_v2: unsafe {
                library.get(c"nvmlDeviceGetHandleByIndex_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetHandleByPciBusId: unsafe {
                library.get(c"nvmlDeviceGetHandleByPciBusId".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetHandleByPciBusId_v2: unsafe {
                library.get(c"nvmlDeviceGetHandleByPciBusId_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetHandleBySerial: unsafe {
                library.get(c"nvmlDeviceGetHandleBySerial".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetHandleByUUID: unsafe {
                library.get(c"nvmlDeviceGetHandleByUUID".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetHandleByUUIDV: unsafe {
                library.get(c"nvmlDeviceGetHandleByUUIDV".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetMigDeviceHandleByIndex: unsafe {
                library.get(c"nvmlDeviceGetMigDeviceHandleByIndex".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceIsMigDeviceHandle: unsafe {
                library.get(c"nvmlDeviceIsMigDeviceHandle".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetAPIRestriction: unsafe {
                library.get(c"nvmlDeviceGetAPIRestriction".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetAddressingMode: unsafe {
                library.get(c"nvmlDeviceGetAddressingMode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetArchitecture: unsafe {
                library.get(c"nvmlDeviceGetArchitecture".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetAttributes_v2: unsafe {
                library.get(c"nvmlDeviceGetAttributes_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetBoardId: unsafe {
                library.get(c"nvmlDeviceGetBoardId".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetBoardPartNumber: unsafe {
                library.get(c"nvmlDeviceGetBoardPartNumber".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetBrand: unsafe { library.get(c"nvmlDeviceGetBrand".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            nvmlDeviceGetCapabilities: unsafe {
                library.get(c"nvmlDeviceGetCapabilities".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetComputeInstanceId: unsafe {
                library.get(c"nvmlDeviceGetComputeInstanceId".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetComputeMode: unsafe {
                library.get(c"nvmlDeviceGetComputeMode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetConfComputeGpuAttestationReport: unsafe {
                library.get(c"nvmlDeviceGetConfComputeGpuAttestationReport".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetConfComputeGpuCertificate: unsafe {
                library.get(c"nvmlDeviceGetConfComputeGpuCertificate".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetCudaComputeCapability: unsafe {
                library.get(c"nvmlDeviceGetCudaComputeCapability".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetDisplayActive: unsafe {
                library.get(c"nvmlDeviceGetDisplayActive".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetDisplayMode: unsafe {
                library.get(c"nvmlDeviceGetDisplayMode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetDriverModel: unsafe {
                library.get(c"nvmlDeviceGetDriverModel".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetDriverModel_v2: unsafe {
                library.get(c"nvmlDeviceGetDriverModel_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetGpuInstanceId: unsafe {
                library.get(c"nvmlDeviceGetGpuInstanceId".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetGpuOperationMode: unsafe {
                library.get(c"nvmlDeviceGetGpuOperationMode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetGridLicensableFeatures_v4: unsafe {
                library.get(c"nvmlDeviceGetGridLicensableFeatures_v4".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetGspFirmwareMode: unsafe {
                library.get(c"nvmlDeviceGetGspFirmwareMode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetGspFirmwareVersion: unsafe {
                library.get(c"nvmlDeviceGetGspFirmwareVersion".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetHostVgpuMode: unsafe {
                library.get(c"nvmlDeviceGetHostVgpuMode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetIndex: unsafe { library.get(c"nvmlDeviceGetIndex".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            nvmlDeviceGetInforomConfigurationChecksum: unsafe {
                library.get(c"nvmlDeviceGetInforomConfigurationChecksum".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetInforomImageVersion: unsafe {
                library.get(c"nvmlDeviceGetInforomImageVersion".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetInforomVersion: unsafe {
                library.get(c"nvmlDeviceGetInforomVersion".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetIrqNum: unsafe { library.get(c"nvmlDeviceGetIrqNum".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            nvmlDeviceGetLastBBXFlushTime: unsafe {
                library.get(c"nvmlDeviceGetLastBBXFlushTime".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetMaxMigDeviceCount: unsafe {
                library.get(c"nvmlDeviceGetMaxMigDeviceCount".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetMigMode: unsafe {
                library.get(c"nvmlDeviceGetMigMode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetMinorNumber: unsafe {
                library.get(c"nvmlDeviceGetMinorNumber".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetModuleId: unsafe {
                library.get(c"nvmlDeviceGetModuleId".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetMultiGpuBoard: unsafe {
                library.get(c"nvmlDeviceGetMultiGpuBoard".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetName: unsafe { library.get(c"nvmlDeviceGetName".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            nvmlDeviceGetNumGpuCores: unsafe {
                library.get(c"nvmlDeviceGetNumGpuCores".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetPdi: unsafe { library.get(c"nvmlDeviceGetPdi".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            nvmlDeviceGetPersistenceMode: unsafe {
                library.get(c"nvmlDeviceGetPersistenceMode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetPlatformInfo: unsafe {
                library.get(c"nvmlDeviceGetPlatformInfo".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetSerial: unsafe { library.get(c"nvmlDeviceGetSerial".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            nvmlDeviceGetSupportedEventTypes: unsafe {
                library.get(c"nvmlDeviceGetSupportedEventTypes".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetUUID: unsafe { library.get(c"nvmlDeviceGetUUID".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            nvmlDeviceGetVbiosVersion: unsafe {
                library.get(c"nvmlDeviceGetVbiosVersion".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetVgpuHeterogeneousMode: unsafe {
                library.get(c"nvmlDeviceGetVgpuHeterogeneousMode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetVirtualizationMode: unsafe {
                library.get(c"nvmlDeviceGetVirtualizationMode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetVgpuCapabilities: unsafe {
                library.get(c"nvmlDeviceGetVgpuCapabilities".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetSupportedVgpus: unsafe {
                library.get(c"nvmlDeviceGetSupportedVgpus".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetCreatableVgpus: unsafe {
                library.get(c"nvmlDeviceGetCreatableVgpus".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetActiveVgpus: unsafe {
                library.get(c"nvmlDeviceGetActiveVgpus".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlGpmQueryDeviceSupport: unsafe {
                library.get(c"nvmlGpmQueryDeviceSupport".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlGpmQueryIfStreamingEnabled: unsafe {
                library.get(c"nvmlGpmQueryIfStreamingEnabled".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceQueryDrainState: unsafe {
                library.get(c"nvmlDeviceQueryDrainState".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetBAR1MemoryInfo: unsafe {
                library.get(c"nvmlDeviceGetBAR1MemoryInfo".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetConfComputeMemSizeInfo: unsafe {
                library.get(c"nvmlDeviceGetConfComputeMemSizeInfo".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetConfComputeProtectedMemoryUsage: unsafe {
                library.get(c"nvmlDeviceGetConfComputeProtectedMemoryUsage".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetDefaultEccMode: unsafe {
                library.get(c"nvmlDeviceGetDefaultEccMode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetDetailedEccErrors: unsafe {
                library.get(c"nvmlDeviceGetDetailedEccErrors".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetDramEncryptionMode: unsafe {
                library.get(c"nvmlDeviceGetDramEncryptionMode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetEccMode: unsafe {
                library.get(c"nvmlDeviceGetEccMode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetMemoryBusWidth: unsafe {
                library.get(c"nvmlDeviceGetMemoryBusWidth".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetMemoryErrorCounter: unsafe {
                library.get(c"nvmlDeviceGetMemoryErrorCounter".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetMemoryInfo: unsafe {
                library.get(c"nvmlDeviceGetMemoryInfo".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetMemoryInfo_v2: unsafe {
                library.get(c"nvmlDeviceGetMemoryInfo_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetRemappedRows: unsafe {
                library.get(c"nvmlDeviceGetRemappedRows".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetRepairStatus: unsafe {
                library.get(c"nvmlDeviceGetRepairStatus".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetRetiredPages: unsafe {
                library.get(c"nvmlDeviceGetRetiredPages".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetRetiredPagesPendingStatus: unsafe {
                library.get(c"nvmlDeviceGetRetiredPagesPendingStatus".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetRetiredPages_v2: unsafe {
                library.get(c"nvmlDeviceGetRetiredPages_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetRowRemapperHistogram: unsafe {
                library.get(c"nvmlDeviceGetRowRemapperHistogram".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetSramEccErrorStatus: unsafe {
                library.get(c"nvmlDeviceGetSramEccErrorStatus".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetTotalEccErrors: unsafe {
                library.get(c"nvmlDeviceGetTotalEccErrors".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetAdaptiveClockInfoStatus: unsafe {
                library.get(c"nvmlDeviceGetAdaptiveClockInfoStatus".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetApplicationsClock: unsafe {
                library.get(c"nvmlDeviceGetApplicationsClock".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetAutoBoostedClocksEnabled: unsafe {
                library.get(c"nvmlDeviceGetAutoBoostedClocksEnabled".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetClkMonStatus: unsafe {
                library.get(c"nvmlDeviceGetClkMonStatus".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetClock: unsafe { library.get(c"nvmlDeviceGetClock".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            nvmlDeviceGetClockInfo: unsafe {
                library.get(c"nvmlDeviceGetClockInfo".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetClockOffsets: unsafe {
                library.get(c"nvmlDeviceGetClockOffsets".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetCoolerInfo: unsafe {
                library.get(c"nvmlDeviceGetCoolerInfo".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetCurrentClockFreqs: unsafe {
                library.get(c"nvmlDeviceGetCurrentClockFreqs".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetCurrentClocksEventReasons: unsafe {
                library.get(c"nvmlDeviceGetCurrentClocksEventReasons".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetCurrentClocksThrottleReasons: unsafe {
                library.get(c"nvmlDeviceGetCurrentClocksThrottleReasons".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetDefaultApplicationsClock: unsafe {
                library.get(c"nvmlDeviceGetDefaultApplicationsClock".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetDynamicPstatesInfo: unsafe {
                library.get(c"nvmlDeviceGetDynamicPstatesInfo".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetEnforcedPowerLimit: unsafe {
                library.get(c"nvmlDeviceGetEnforcedPowerLimit".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetFanControlPolicy_v2: unsafe {
                library.get(c"nvmlDeviceGetFanControlPolicy_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetFanSpeed: unsafe {
                library.get(c"nvmlDeviceGetFanSpeed".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetFanSpeedRPM: unsafe {
                library.get(c"nvmlDeviceGetFanSpeedRPM".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetFanSpeed_v2: unsafe {
                library.get(c"nvmlDeviceGetFanSpeed_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetGpcClkMinMaxVfOffset: unsafe {
                library.get(c"nvmlDeviceGetGpcClkMinMaxVfOffset".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetGpcClkVfOffset: unsafe {
                library.get(c"nvmlDeviceGetGpcClkVfOffset".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetMarginTemperature: unsafe {
                library.get(c"nvmlDeviceGetMarginTemperature".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetMaxClockInfo: unsafe {
                library.get(c"nvmlDeviceGetMaxClockInfo".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetMaxCustomerBoostClock: unsafe {
                library.get(c"nvmlDeviceGetMaxCustomerBoostClock".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetMemClkMinMaxVfOffset: unsafe {
                library.get(c"nvmlDeviceGetMemClkMinMaxVfOffset".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetMemClkVfOffset: unsafe {
                library.get(c"nvmlDeviceGetMemClkVfOffset".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetMinMaxClockOfPState: unsafe {
                library.get(c"nvmlDeviceGetMinMaxClockOfPState".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetMinMaxFanSpeed: unsafe {
                library.get(c"nvmlDeviceGetMinMaxFanSpeed".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetNumFans: unsafe {
                library.get(c"nvmlDeviceGetNumFans".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetPerformanceModes: unsafe {
                library.get(c"nvmlDeviceGetPerformanceModes".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetPerformanceState: unsafe {
                library.get(c"nvmlDeviceGetPerformanceState".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetPowerManagementDefaultLimit: unsafe {
                library.get(c"nvmlDeviceGetPowerManagementDefaultLimit".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetPowerManagementLimit: unsafe {
                library.get(c"nvmlDeviceGetPowerManagementLimit".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetPowerManagementLimitConstraints: unsafe {
                library.get(c"nvmlDeviceGetPowerManagementLimitConstraints".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetPowerManagementMode: unsafe {
                library.get(c"nvmlDeviceGetPowerManagementMode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetPowerMizerMode_v1: unsafe {
                library.get(c"nvmlDeviceGetPowerMizerMode_v1".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetPowerSource: unsafe {
                library.get(c"nvmlDeviceGetPowerSource".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetPowerState: unsafe {
                library.get(c"nvmlDeviceGetPowerState".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetPowerUsage: unsafe {
                library.get(c"nvmlDeviceGetPowerUsage".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetSupportedClocksEventReasons: unsafe {
                library.get(c"nvmlDeviceGetSupportedClocksEventReasons".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetSupportedClocksThrottleReasons: unsafe {
                library.get(c"nvmlDeviceGetSupportedClocksThrottleReasons".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetSupportedGraphicsClocks: unsafe {
                library.get(c"nvmlDeviceGetSupportedGraphicsClocks".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetSupportedMemoryClocks: unsafe {
                library.get(c"nvmlDeviceGetSupportedMemoryClocks".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetSupportedPerformanceStates: unsafe {
                library.get(c"nvmlDeviceGetSupportedPerformanceStates".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetTargetFanSpeed: unsafe {
                library.get(c"nvmlDeviceGetTargetFanSpeed".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetTemperature: unsafe {
                library.get(c"nvmlDeviceGetTemperature".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetTemperatureThreshold: unsafe {
                library.get(c"nvmlDeviceGetTemperatureThreshold".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetTemperatureV: unsafe {
                library.get(c"nvmlDeviceGetTemperatureV".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetThermalSettings: unsafe {
                library.get(c"nvmlDeviceGetThermalSettings".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetTotalEnergyConsumption: unsafe {
                library.get(c"nvmlDeviceGetTotalEnergyConsumption".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetViolationStatus: unsafe {
                library.get(c"nvmlDeviceGetViolationStatus".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceWorkloadPowerProfileGetCurrentProfiles: unsafe {
                library.get(c"nvmlDeviceWorkloadPowerProfileGetCurrentProfiles".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceWorkloadPowerProfileGetProfilesInfo: unsafe {
                library.get(c"nvmlDeviceWorkloadPowerProfileGetProfilesInfo".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetBridgeChipInfo: unsafe {
                library.get(c"nvmlDeviceGetBridgeChipInfo".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetBusType: unsafe {
                library.get(c"nvmlDeviceGetBusType".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetC2cModeInfoV: unsafe {
                library.get(c"nvmlDeviceGetC2cModeInfoV".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetCpuAffinity: unsafe {
                library.get(c"nvmlDeviceGetCpuAffinity".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetCpuAffinityWithinScope: unsafe {
                library.get(c"nvmlDeviceGetCpuAffinityWithinScope".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetCurrPcieLinkGeneration: unsafe {
                library.get(c"nvmlDeviceGetCurrPcieLinkGeneration".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetCurrPcieLinkWidth: unsafe {
                library.get(c"nvmlDeviceGetCurrPcieLinkWidth".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetGpuFabricInfo: unsafe {
                library.get(c"nvmlDeviceGetGpuFabricInfo".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetGpuFabricInfoV: unsafe {
                library.get(c"nvmlDeviceGetGpuFabricInfoV".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetGpuMaxPcieLinkGeneration: unsafe {
                library.get(c"nvmlDeviceGetGpuMaxPcieLinkGeneration".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetMaxPcieLinkGeneration: unsafe {
                library.get(c"nvmlDeviceGetMaxPcieLinkGeneration".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetMaxPcieLinkWidth: unsafe {
                library.get(c"nvmlDeviceGetMaxPcieLinkWidth".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetMemoryAffinity: unsafe {
                library.get(c"nvmlDeviceGetMemoryAffinity".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetNumaNodeId: unsafe {
                library.get(c"nvmlDeviceGetNumaNodeId".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetNvLinkCapability: unsafe {
                library.get(c"nvmlDeviceGetNvLinkCapability".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetNvLinkErrorCounter: unsafe {
                library.get(c"nvmlDeviceGetNvLinkErrorCounter".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetNvLinkInfo: unsafe {
                library.get(c"nvmlDeviceGetNvLinkInfo".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetNvLinkRemoteDeviceType: unsafe {
                library.get(c"nvmlDeviceGetNvLinkRemoteDeviceType".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetNvLinkRemotePciInfo_v2: unsafe {
                library.get(c"nvmlDeviceGetNvLinkRemotePciInfo_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetNvLinkState: unsafe {
                library.get(c"nvmlDeviceGetNvLinkState".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetNvLinkUtilizationControl: unsafe {
                library.get(c"nvmlDeviceGetNvLinkUtilizationControl".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetNvLinkUtilizationCounter: unsafe {
                library.get(c"nvmlDeviceGetNvLinkUtilizationCounter".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetNvLinkVersion: unsafe {
                library.get(c"nvmlDeviceGetNvLinkVersion".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetNvlinkBwMode: unsafe {
                library.get(c"nvmlDeviceGetNvlinkBwMode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetNvlinkSupportedBwModes: unsafe {
                library.get(c"nvmlDeviceGetNvlinkSupportedBwModes".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetP2PStatus: unsafe {
                library.get(c"nvmlDeviceGetP2PStatus".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetPciInfoExt: unsafe {
                library.get(c"nvmlDeviceGetPciInfoExt".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetPciInfo_v3: unsafe {
                library.get(c"nvmlDeviceGetPciInfo_v3".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetPcieLinkMaxSpeed: unsafe {
                library.get(c"nvmlDeviceGetPcieLinkMaxSpeed".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetPcieReplayCounter: unsafe {
                library.get(c"nvmlDeviceGetPcieReplayCounter".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetPcieSpeed: unsafe {
                library.get(c"nvmlDeviceGetPcieSpeed".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetPcieThroughput: unsafe {
                library.get(c"nvmlDeviceGetPcieThroughput".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetTopologyCommonAncestor: unsafe {
                library.get(c"nvmlDeviceGetTopologyCommonAncestor".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetTopologyNearestGpus: unsafe {
                library.get(c"nvmlDeviceGetTopologyNearestGpus".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceOnSameBoard: unsafe {
                library.get(c"nvmlDeviceOnSameBoard".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetAccountingBufferSize: unsafe {
                library.get(c"nvmlDeviceGetAccountingBufferSize".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetAccountingMode: unsafe {
                library.get(c"nvmlDeviceGetAccountingMode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetAccountingPids: unsafe {
                library.get(c"nvmlDeviceGetAccountingPids".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetAccountingStats: unsafe {
                library.get(c"nvmlDeviceGetAccountingStats".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetComputeRunningProcesses: unsafe {
                library.get(c"nvmlDeviceGetComputeRunningProcesses".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetComputeRunningProcesses_v2: unsafe {
                library.get(c"nvmlDeviceGetComputeRunningProcesses_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetComputeRunningProcesses_v3: unsafe {
                library.get(c"nvmlDeviceGetComputeRunningProcesses_v3".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetDecoderUtilization: unsafe {
                library.get(c"nvmlDeviceGetDecoderUtilization".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetEncoderCapacity: unsafe {
                library.get(c"nvmlDeviceGetEncoderCapacity".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetEncoderSessions: unsafe {
                library.get(c"nvmlDeviceGetEncoderSessions".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetEncoderStats: unsafe {
                library.get(c"nvmlDeviceGetEncoderStats".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetEncoderUtilization: unsafe {
                library.get(c"nvmlDeviceGetEncoderUtilization".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetFBCSessions: unsafe {
                library.get(c"nvmlDeviceGetFBCSessions".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetFBCStats: unsafe {
                library.get(c"nvmlDeviceGetFBCStats".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetFieldValues: unsafe {
                library.get(c"nvmlDeviceGetFieldValues".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetGraphicsRunningProcesses: unsafe {
                library.get(c"nvmlDeviceGetGraphicsRunningProcesses".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetGraphicsRunningProcesses_v2: unsafe {
                library.get(c"nvmlDeviceGetGraphicsRunningProcesses_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetGraphicsRunningProcesses_v3: unsafe {
                library.get(c"nvmlDeviceGetGraphicsRunningProcesses_v3".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetJpgUtilization: unsafe {
                library.get(c"nvmlDeviceGetJpgUtilization".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetMPSComputeRunningProcesses: unsafe {
                library.get(c"nvmlDeviceGetMPSComputeRunningProcesses".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetMPSComputeRunningProcesses_v2: unsafe {
                library.get(c"nvmlDeviceGetMPSComputeRunningProcesses_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetMPSComputeRunningProcesses_v3: unsafe {
                library.get(c"nvmlDeviceGetMPSComputeRunningProcesses_v3".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetOfaUtilization: unsafe {
                library.get(c"nvmlDeviceGetOfaUtilization".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetProcessUtilization: unsafe {
                library.get(c"nvmlDeviceGetProcessUtilization".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetSamples: unsafe {
                library.get(c"nvmlDeviceGetSamples".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            nvmlDeviceGetUtilizationRates: unsafe {
                library.get(c"nvmlDeviceGetUtilizationRates".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            _library: library,
        })
    }
}

const OP_nvmlInit_v2: u32 = op_id("nvmlInit_v2");
const OP_nvmlShutdown: u32 = op_id("nvmlShutdown");
const OP_nvmlUnitGetCount: u32 = op_id("nvmlUnitGetCount");
const OP_nvmlGetExcludedDeviceCount: u32 = op_id("nvmlGetExcludedDeviceCount");
const OP_nvmlGetExcludedDeviceInfoByIndex: u32 = op_id("nvmlGetExcludedDeviceInfoByIndex");
const OP_nvmlSystemGetConfComputeCapabilities: u32 = op_id("nvmlSystemGetConfComputeCapabilities");
const OP_nvmlSystemGetConfComputeGpusReadyState: u32 =
    op_id("nvmlSystemGetConfComputeGpusReadyState");
const OP_nvmlSystemGetConfComputeSettings: u32 = op_id("nvmlSystemGetConfComputeSettings");
const OP_nvmlSystemGetConfComputeState: u32 = op_id("nvmlSystemGetConfComputeState");
const OP_nvmlSystemGetCudaDriverVersion: u32 = op_id("nvmlSystemGetCudaDriverVersion");
const OP_nvmlSystemGetCudaDriverVersion_v2: u32 = op_id("nvmlSystemGetCudaDriverVersion_v2");
const OP_nvmlSystemGetDriverBranch: u32 = op_id("nvmlSystemGetDriverBranch");
const OP_nvmlSystemGetDriverVersion: u32 = op_id("nvmlSystemGetDriverVersion");
const OP_nvmlSystemGetHicVersion: u32 = op_id("nvmlSystemGetHicVersion");
const OP_nvmlSystemGetNVMLVersion: u32 = op_id("nvmlSystemGetNVMLVersion");
const OP_nvmlSystemGetNvlinkBwMode: u32 = op_id("nvmlSystemGetNvlinkBwMode");
const OP_nvmlSystemGetProcessName: u32 = op_id("nvmlSystemGetProcessName");
const OP_nvmlSystemGetTopologyGpuSet: u32 = op_id("nvmlSystemGetTopologyGpuSet");
const OP_nvmlDeviceGetCount: u32 = op_id("nvmlDeviceGetCount");
const OP_nvmlDeviceGetCount_v2: u32 = op_id("nvmlDeviceGetCount_v2");
const OP_nvmlDeviceGetDeviceHandleFromMigDeviceHandle: u32 =
    op_id("nvmlDeviceGetDeviceHandleFromMigDeviceHandle");
const OP_nvmlDeviceGetHandleByIndex: u32 = op_id("nvmlDeviceGetHandleByIndex");
const OP_nvmlDeviceGetHandleByIndex_v2: u32 = op_id("nvmlDeviceGetHandleByIndex_v2");
const OP_nvmlDeviceGetHandleByPciBusId: u32 = op_id("nvmlDeviceGetHandleByPciBusId");
const OP_nvmlDeviceGetHandleByPciBusId_v2: u32 = op_id("nvmlDeviceGetHandleByPciBusId_v2");
const OP_nvmlDeviceGetHandleBySerial: u32 = op_id("nvmlDeviceGetHandleBySerial");
const OP_nvmlDeviceGetHandleByUUID: u32 = op_id("nvmlDeviceGetHandleByUUID");
const OP_nvmlDeviceGetHandleByUUIDV: u32 = op_id("nvmlDeviceGetHandleByUUIDV");
const OP_nvmlDeviceGetMigDeviceHandleByIndex: u32 = op_id("nvmlDeviceGetMigDeviceHandleByIndex");
const OP_nvmlDeviceIsMigDeviceHandle: u32 = op_id("nvmlDeviceIsMigDeviceHandle");
const OP_nvmlDeviceGetAPIRestriction: u32 = op_id("nvmlDeviceGetAPIRestriction");
const OP_nvmlDeviceGetAddressingMode: u32 = op_id("nvmlDeviceGetAddressingMode");
const OP_nvmlDeviceGetArchitecture: u32 = op_id("nvmlDeviceGetArchitecture");
const OP_nvmlDeviceGetAttributes_v2: u32 = op_id("nvmlDeviceGetAttributes_v2");
const OP_nvmlDeviceGetBoardId: u32 = op_id("nvmlDeviceGetBoardId");
const OP_nvmlDeviceGetBoardPartNumber: u32 = op_id("nvmlDeviceGetBoardPartNumber");
const OP_nvmlDeviceGetBrand: u32 = op_id("nvmlDeviceGetBrand");
const OP_nvmlDeviceGetCapabilities: u32 = op_id("nvmlDeviceGetCapabilities");
const OP_nvmlDeviceGetComputeInstanceId: u32 = op_id("nvmlDeviceGetComputeInstanceId");
const OP_nvmlDeviceGetComputeMode: u32 = op_id("nvmlDeviceGetComputeMode");
const OP_nvmlDeviceGetConfComputeGpuAttestationReport: u32 =
    op_id("nvmlDeviceGetConfComputeGpuAttestationReport");
const OP_nvmlDeviceGetConfComputeGpuCertificate: u32 =
    op_id("nvmlDeviceGetConfComputeGpuCertificate");
const OP_nvmlDeviceGetCudaComputeCapability: u32 = op_id("nvmlDeviceGetCudaComputeCapability");
const OP_nvmlDeviceGetDisplayActive: u32 = op_id("nvmlDeviceGetDisplayActive");
const OP_nvmlDeviceGetDisplayMode: u32 = op_id("nvmlDeviceGetDisplayMode");
const OP_nvmlDeviceGetDriverModel: u32 = op_id("nvmlDeviceGetDriverModel");
const OP_nvmlDeviceGetDriverModel_v2: u32 = op_id("nvmlDeviceGetDriverModel_v2");
const OP_nvmlDeviceGetGpuInstanceId: u32 = op_id("nvmlDeviceGetGpuInstanceId");
const OP_nvmlDeviceGetGpuOperationMode: u32 = op_id("nvmlDeviceGetGpuOperationMode");
const OP_nvmlDeviceGetGridLicensableFeatures_v4: u32 =
    op_id("nvmlDeviceGetGridLicensableFeatures_v4");
const OP_nvmlDeviceGetGspFirmwareMode: u32 = op_id("nvmlDeviceGetGspFirmwareMode");
const OP_nvmlDeviceGetGspFirmwareVersion: u32 = op_id("nvmlDeviceGetGspFirmwareVersion");
const OP_nvmlDeviceGetHostVgpuMode: u32 = op_id("nvmlDeviceGetHostVgpuMode");
const OP_nvmlDeviceGetIndex: u32 = op_id("nvmlDeviceGetIndex");
const OP_nvmlDeviceGetInforomConfigurationChecksum: u32 =
    op_id("nvmlDeviceGetInforomConfigurationChecksum");
const OP_nvmlDeviceGetInforomImageVersion: u32 = op_id("nvmlDeviceGetInforomImageVersion");
const OP_nvmlDeviceGetInforomVersion: u32 = op_id("nvmlDeviceGetInforomVersion");
const OP_nvmlDeviceGetIrqNum: u32 = op_id("nvmlDeviceGetIrqNum");
const OP_nvmlDeviceGetLastBBXFlushTime: u32 = op_id("nvmlDeviceGetLastBBXFlushTime");
const OP_nvmlDeviceGetMaxMigDeviceCount: u32 = op_id("nvmlDeviceGetMaxMigDeviceCount");
const OP_nvmlDeviceGetMigMode: u32 = op_id("nvmlDeviceGetMigMode");
const OP_nvmlDeviceGetMinorNumber: u32 = op_id("nvmlDeviceGetMinorNumber");
const OP_nvmlDeviceGetModuleId: u32 = op_id("nvmlDeviceGetModuleId");
const OP_nvmlDeviceGetMultiGpuBoard: u32 = op_id("nvmlDeviceGetMultiGpuBoard");
const OP_nvmlDeviceGetName: u32 = op_id("nvmlDeviceGetName");
const OP_nvmlDeviceGetNumGpuCores: u32 = op_id("nvmlDeviceGetNumGpuCores");
const OP_nvmlDeviceGetPdi: u32 = op_id("nvmlDeviceGetPdi");
const OP_nvmlDeviceGetPersistenceMode: u32 = op_id("nvmlDeviceGetPersistenceMode");
const OP_nvmlDeviceGetPlatformInfo: u32 = op_id("nvmlDeviceGetPlatformInfo");
const OP_nvmlDeviceGetSerial: u32 = op_id("nvmlDeviceGetSerial");
const OP_nvmlDeviceGetSupportedEventTypes: u32 = op_id("nvmlDeviceGetSupportedEventTypes");
const OP_nvmlDeviceGetUUID: u32 = op_id("nvmlDeviceGetUUID");
const OP_nvmlDeviceGetVbiosVersion: u32 = op_id("nvmlDeviceGetVbiosVersion");
const OP_nvmlDeviceGetVgpuHeterogeneousMode: u32 = op_id("nvmlDeviceGetVgpuHeterogeneousMode");
const OP_nvmlDeviceGetVirtualizationMode: u32 = op_id("nvmlDeviceGetVirtualizationMode");
const OP_nvmlDeviceGetVgpuCapabilities: u32 = op_id("nvmlDeviceGetVgpuCapabilities");
const OP_nvmlDeviceGetSupportedVgpus: u32 = op_id("nvmlDeviceGetSupportedVgpus");
const OP_nvmlDeviceGetCreatableVgpus: u32 = op_id("nvmlDeviceGetCreatableVgpus");
const OP_nvmlDeviceGetActiveVgpus: u32 = op_id("nvmlDeviceGetActiveVgpus");
const OP_nvmlGpmQueryDeviceSupport: u32 = op_id("nvmlGpmQueryDeviceSupport");
const OP_nvmlGpmQueryIfStreamingEnabled: u32 = op_id("nvmlGpmQueryIfStreamingEnabled");
const OP_nvmlDeviceQueryDrainState: u32 = op_id("nvmlDeviceQueryDrainState");
const OP_nvmlDeviceGetBAR1MemoryInfo: u32 = op_id("nvmlDeviceGetBAR1MemoryInfo");
const OP_nvmlDeviceGetConfComputeMemSizeInfo: u32 = op_id("nvmlDeviceGetConfComputeMemSizeInfo");
const OP_nvmlDeviceGetConfComputeProtectedMemoryUsage: u32 =
    op_id("nvmlDeviceGetConfComputeProtectedMemoryUsage");
const OP_nvmlDeviceGetDefaultEccMode: u32 = op_id("nvmlDeviceGetDefaultEccMode");
const OP_nvmlDeviceGetDetailedEccErrors: u32 = op_id("nvmlDeviceGetDetailedEccErrors");
const OP_nvmlDeviceGetDramEncryptionMode: u32 = op_id("nvmlDeviceGetDramEncryptionMode");
const OP_nvmlDeviceGetEccMode: u32 = op_id("nvmlDeviceGetEccMode");
const OP_nvmlDeviceGetMemoryBusWidth: u32 = op_id("nvmlDeviceGetMemoryBusWidth");
const OP_nvmlDeviceGetMemoryErrorCounter: u32 = op_id("nvmlDeviceGetMemoryErrorCounter");
const OP_nvmlDeviceGetMemoryInfo: u32 = op_id("nvmlDeviceGetMemoryInfo");
const OP_nvmlDeviceGetMemoryInfo_v2: u32 = op_id("nvmlDeviceGetMemoryInfo_v2");
const OP_nvmlDeviceGetRemappedRows: u32 = op_id("nvmlDeviceGetRemappedRows");
const OP_nvmlDeviceGetRepairStatus: u32 = op_id("nvmlDeviceGetRepairStatus");
const OP_nvmlDeviceGetRetiredPages: u32 = op_id("nvmlDeviceGetRetiredPages");
const OP_nvmlDeviceGetRetiredPagesPendingStatus: u32 =
    op_id("nvmlDeviceGetRetiredPagesPendingStatus");
const OP_nvmlDeviceGetRetiredPages_v2: u32 = op_id("nvmlDeviceGetRetiredPages_v2");
const OP_nvmlDeviceGetRowRemapperHistogram: u32 = op_id("nvmlDeviceGetRowRemapperHistogram");
const OP_nvmlDeviceGetSramEccErrorStatus: u32 = op_id("nvmlDeviceGetSramEccErrorStatus");
const OP_nvmlDeviceGetTotalEccErrors: u32 = op_id("nvmlDeviceGetTotalEccErrors");
const OP_nvmlDeviceGetAdaptiveClockInfoStatus: u32 = op_id("nvmlDeviceGetAdaptiveClockInfoStatus");
const OP_nvmlDeviceGetApplicationsClock: u32 = op_id("nvmlDeviceGetApplicationsClock");
const OP_nvmlDeviceGetAutoBoostedClocksEnabled: u32 =
    op_id("nvmlDeviceGetAutoBoostedClocksEnabled");
const OP_nvmlDeviceGetClkMonStatus: u32 = op_id("nvmlDeviceGetClkMonStatus");
const OP_nvmlDeviceGetClock: u32 = op_id("nvmlDeviceGetClock");
const OP_nvmlDeviceGetClockInfo: u32 = op_id("nvmlDeviceGetClockInfo");
const OP_nvmlDeviceGetClockOffsets: u32 = op_id("nvmlDeviceGetClockOffsets");
const OP_nvmlDeviceGetCoolerInfo: u32 = op_id("nvmlDeviceGetCoolerInfo");
const OP_nvmlDeviceGetCurrentClockFreqs: u32 = op_id("nvmlDeviceGetCurrentClockFreqs");
const OP_nvmlDeviceGetCurrentClocksEventReasons: u32 =
    op_id("nvmlDeviceGetCurrentClocksEventReasons");
const OP_nvmlDeviceGetCurrentClocksThrottleReasons: u32 =
    op_id("nvmlDeviceGetCurrentClocksThrottleReasons");
const OP_nvmlDeviceGetDefaultApplicationsClock: u32 =
    op_id("nvmlDeviceGetDefaultApplicationsClock");
const OP_nvmlDeviceGetDynamicPstatesInfo: u32 = op_id("nvmlDeviceGetDynamicPstatesInfo");
const OP_nvmlDeviceGetEnforcedPowerLimit: u32 = op_id("nvmlDeviceGetEnforcedPowerLimit");
const OP_nvmlDeviceGetFanControlPolicy_v2: u32 = op_id("nvmlDeviceGetFanControlPolicy_v2");
const OP_nvmlDeviceGetFanSpeed: u32 = op_id("nvmlDeviceGetFanSpeed");
const OP_nvmlDeviceGetFanSpeedRPM: u32 = op_id("nvmlDeviceGetFanSpeedRPM");
const OP_nvmlDeviceGetFanSpeed_v2: u32 = op_id("nvmlDeviceGetFanSpeed_v2");
const OP_nvmlDeviceGetGpcClkMinMaxVfOffset: u32 = op_id("nvmlDeviceGetGpcClkMinMaxVfOffset");
const OP_nvmlDeviceGetGpcClkVfOffset: u32 = op_id("nvmlDeviceGetGpcClkVfOffset");
const OP_nvmlDeviceGetMarginTemperature: u32 = op_id("nvmlDeviceGetMarginTemperature");
const OP_nvmlDeviceGetMaxClockInfo: u32 = op_id("nvmlDeviceGetMaxClockInfo");
const OP_nvmlDeviceGetMaxCustomerBoostClock: u32 = op_id("nvmlDeviceGetMaxCustomerBoostClock");
const OP_nvmlDeviceGetMemClkMinMaxVfOffset: u32 = op_id("nvmlDeviceGetMemClkMinMaxVfOffset");
const OP_nvmlDeviceGetMemClkVfOffset: u32 = op_id("nvmlDeviceGetMemClkVfOffset");
const OP_nvmlDeviceGetMinMaxClockOfPState: u32 = op_id("nvmlDeviceGetMinMaxClockOfPState");
const OP_nvmlDeviceGetMinMaxFanSpeed: u32 = op_id("nvmlDeviceGetMinMaxFanSpeed");
const OP_nvmlDeviceGetNumFans: u32 = op_id("nvmlDeviceGetNumFans");
const OP_nvmlDeviceGetPerformanceModes: u32 = op_id("nvmlDeviceGetPerformanceModes");
const OP_nvmlDeviceGetPerformanceState: u32 = op_id("nvmlDeviceGetPerformanceState");
const OP_nvmlDeviceGetPowerManagementDefaultLimit: u32 =
    op_id("nvmlDeviceGetPowerManagementDefaultLimit");
const OP_nvmlDeviceGetPowerManagementLimit: u32 = op_id("nvmlDeviceGetPowerManagementLimit");
const OP_nvmlDeviceGetPowerManagementLimitConstraints: u32 =
    op_id("nvmlDeviceGetPowerManagementLimitConstraints");
const OP_nvmlDeviceGetPowerManagementMode: u32 = op_id("nvmlDeviceGetPowerManagementMode");
const OP_nvmlDeviceGetPowerMizerMode_v1: u32 = op_id("nvmlDeviceGetPowerMizerMode_v1");
const OP_nvmlDeviceGetPowerSource: u32 = op_id("nvmlDeviceGetPowerSource");
const OP_nvmlDeviceGetPowerState: u32 = op_id("nvmlDeviceGetPowerState");
const OP_nvmlDeviceGetPowerUsage: u32 = op_id("nvmlDeviceGetPowerUsage");
const OP_nvmlDeviceGetSupportedClocksEventReasons: u32 =
    op_id("nvmlDeviceGetSupportedClocksEventReasons");
const OP_nvmlDeviceGetSupportedClocksThrottleReasons: u32 =
    op_id("nvmlDeviceGetSupportedClocksThrottleReasons");
const OP_nvmlDeviceGetSupportedGraphicsClocks: u32 = op_id("nvmlDeviceGetSupportedGraphicsClocks");
const OP_nvmlDeviceGetSupportedMemoryClocks: u32 = op_id("nvmlDeviceGetSupportedMemoryClocks");
const OP_nvmlDeviceGetSupportedPerformanceStates: u32 =
    op_id("nvmlDeviceGetSupportedPerformanceStates");
const OP_nvmlDeviceGetTargetFanSpeed: u32 = op_id("nvmlDeviceGetTargetFanSpeed");
const OP_nvmlDeviceGetTemperature: u32 = op_id("nvmlDeviceGetTemperature");
const OP_nvmlDeviceGetTemperatureThreshold: u32 = op_id("nvmlDeviceGetTemperatureThreshold");
const OP_nvmlDeviceGetTemperatureV: u32 = op_id("nvmlDeviceGetTemperatureV");
const OP_nvmlDeviceGetThermalSettings: u32 = op_id("nvmlDeviceGetThermalSettings");
const OP_nvmlDeviceGetTotalEnergyConsumption: u32 = op_id("nvmlDeviceGetTotalEnergyConsumption");
const OP_nvmlDeviceGetViolationStatus: u32 = op_id("nvmlDeviceGetViolationStatus");
const OP_nvmlDeviceWorkloadPowerProfileGetCurrentProfiles: u32 =
    op_id("nvmlDeviceWorkloadPowerProfileGetCurrentProfiles");
const OP_nvmlDeviceWorkloadPowerProfileGetProfilesInfo: u32 =
    op_id("nvmlDeviceWorkloadPowerProfileGetProfilesInfo");
const OP_nvmlDeviceGetBridgeChipInfo: u32 = op_id("nvmlDeviceGetBridgeChipInfo");
const OP_nvmlDeviceGetBusType: u32 = op_id("nvmlDeviceGetBusType");
const OP_nvmlDeviceGetC2cModeInfoV: u32 = op_id("nvmlDeviceGetC2cModeInfoV");
const OP_nvmlDeviceGetCpuAffinity: u32 = op_id("nvmlDeviceGetCpuAffinity");
const OP_nvmlDeviceGetCpuAffinityWithinScope: u32 = op_id("nvmlDeviceGetCpuAffinityWithinScope");
const OP_nvmlDeviceGetCurrPcieLinkGeneration: u32 = op_id("nvmlDeviceGetCurrPcieLinkGeneration");
const OP_nvmlDeviceGetCurrPcieLinkWidth: u32 = op_id("nvmlDeviceGetCurrPcieLinkWidth");
const OP_nvmlDeviceGetGpuFabricInfo: u32 = op_id("nvmlDeviceGetGpuFabricInfo");
const OP_nvmlDeviceGetGpuFabricInfoV: u32 = op_id("nvmlDeviceGetGpuFabricInfoV");
const OP_nvmlDeviceGetGpuMaxPcieLinkGeneration: u32 =
    op_id("nvmlDeviceGetGpuMaxPcieLinkGeneration");
const OP_nvmlDeviceGetMaxPcieLinkGeneration: u32 = op_id("nvmlDeviceGetMaxPcieLinkGeneration");
const OP_nvmlDeviceGetMaxPcieLinkWidth: u32 = op_id("nvmlDeviceGetMaxPcieLinkWidth");
const OP_nvmlDeviceGetMemoryAffinity: u32 = op_id("nvmlDeviceGetMemoryAffinity");
const OP_nvmlDeviceGetNumaNodeId: u32 = op_id("nvmlDeviceGetNumaNodeId");
const OP_nvmlDeviceGetNvLinkCapability: u32 = op_id("nvmlDeviceGetNvLinkCapability");
const OP_nvmlDeviceGetNvLinkErrorCounter: u32 = op_id("nvmlDeviceGetNvLinkErrorCounter");
const OP_nvmlDeviceGetNvLinkInfo: u32 = op_id("nvmlDeviceGetNvLinkInfo");
const OP_nvmlDeviceGetNvLinkRemoteDeviceType: u32 = op_id("nvmlDeviceGetNvLinkRemoteDeviceType");
const OP_nvmlDeviceGetNvLinkRemotePciInfo_v2: u32 = op_id("nvmlDeviceGetNvLinkRemotePciInfo_v2");
const OP_nvmlDeviceGetNvLinkState: u32 = op_id("nvmlDeviceGetNvLinkState");
const OP_nvmlDeviceGetNvLinkUtilizationControl: u32 =
    op_id("nvmlDeviceGetNvLinkUtilizationControl");
const OP_nvmlDeviceGetNvLinkUtilizationCounter: u32 =
    op_id("nvmlDeviceGetNvLinkUtilizationCounter");
const OP_nvmlDeviceGetNvLinkVersion: u32 = op_id("nvmlDeviceGetNvLinkVersion");
const OP_nvmlDeviceGetNvlinkBwMode: u32 = op_id("nvmlDeviceGetNvlinkBwMode");
const OP_nvmlDeviceGetNvlinkSupportedBwModes: u32 = op_id("nvmlDeviceGetNvlinkSupportedBwModes");
const OP_nvmlDeviceGetP2PStatus: u32 = op_id("nvmlDeviceGetP2PStatus");
const OP_nvmlDeviceGetPciInfoExt: u32 = op_id("nvmlDeviceGetPciInfoExt");
const OP_nvmlDeviceGetPciInfo_v3: u32 = op_id("nvmlDeviceGetPciInfo_v3");
const OP_nvmlDeviceGetPcieLinkMaxSpeed: u32 = op_id("nvmlDeviceGetPcieLinkMaxSpeed");
const OP_nvmlDeviceGetPcieReplayCounter: u32 = op_id("nvmlDeviceGetPcieReplayCounter");
const OP_nvmlDeviceGetPcieSpeed: u32 = op_id("nvmlDeviceGetPcieSpeed");
const OP_nvmlDeviceGetPcieThroughput: u32 = op_id("nvmlDeviceGetPcieThroughput");
const OP_nvmlDeviceGetTopologyCommonAncestor: u32 = op_id("nvmlDeviceGetTopologyCommonAncestor");
const OP_nvmlDeviceGetTopologyNearestGpus: u32 = op_id("nvmlDeviceGetTopologyNearestGpus");
const OP_nvmlDeviceOnSameBoard: u32 = op_id("nvmlDeviceOnSameBoard");
const OP_nvmlDeviceGetAccountingBufferSize: u32 = op_id("nvmlDeviceGetAccountingBufferSize");
const OP_nvmlDeviceGetAccountingMode: u32 = op_id("nvmlDeviceGetAccountingMode");
const OP_nvmlDeviceGetAccountingPids: u32 = op_id("nvmlDeviceGetAccountingPids");
const OP_nvmlDeviceGetAccountingStats: u32 = op_id("nvmlDeviceGetAccountingStats");
const OP_nvmlDeviceGetComputeRunningProcesses: u32 = op_id("nvmlDeviceGetComputeRunningProcesses");
const OP_nvmlDeviceGetComputeRunningProcesses_v2: u32 =
    op_id("nvmlDeviceGetComputeRunningProcesses_v2");
const OP_nvmlDeviceGetComputeRunningProcesses_v3: u32 =
    op_id("nvmlDeviceGetComputeRunningProcesses_v3");
const OP_nvmlDeviceGetDecoderUtilization: u32 = op_id("nvmlDeviceGetDecoderUtilization");
const OP_nvmlDeviceGetEncoderCapacity: u32 = op_id("nvmlDeviceGetEncoderCapacity");
const OP_nvmlDeviceGetEncoderSessions: u32 = op_id("nvmlDeviceGetEncoderSessions");
const OP_nvmlDeviceGetEncoderStats: u32 = op_id("nvmlDeviceGetEncoderStats");
const OP_nvmlDeviceGetEncoderUtilization: u32 = op_id("nvmlDeviceGetEncoderUtilization");
const OP_nvmlDeviceGetFBCSessions: u32 = op_id("nvmlDeviceGetFBCSessions");
const OP_nvmlDeviceGetFBCStats: u32 = op_id("nvmlDeviceGetFBCStats");
const OP_nvmlDeviceGetFieldValues: u32 = op_id("nvmlDeviceGetFieldValues");
const OP_nvmlDeviceGetGraphicsRunningProcesses: u32 =
    op_id("nvmlDeviceGetGraphicsRunningProcesses");
const OP_nvmlDeviceGetGraphicsRunningProcesses_v2: u32 =
    op_id("nvmlDeviceGetGraphicsRunningProcesses_v2");
const OP_nvmlDeviceGetGraphicsRunningProcesses_v3: u32 =
    op_id("nvmlDeviceGetGraphicsRunningProcesses_v3");
const OP_nvmlDeviceGetJpgUtilization: u32 = op_id("nvmlDeviceGetJpgUtilization");
const OP_nvmlDeviceGetMPSComputeRunningProcesses: u32 =
    op_id("nvmlDeviceGetMPSComputeRunningProcesses");
const OP_nvmlDeviceGetMPSComputeRunningProcesses_v2: u32 =
    op_id("nvmlDeviceGetMPSComputeRunningProcesses_v2");
const OP_nvmlDeviceGetMPSComputeRunningProcesses_v3: u32 =
    op_id("nvmlDeviceGetMPSComputeRunningProcesses_v3");
const OP_nvmlDeviceGetOfaUtilization: u32 = op_id("nvmlDeviceGetOfaUtilization");
const OP_nvmlDeviceGetProcessUtilization: u32 = op_id("nvmlDeviceGetProcessUtilization");
const OP_nvmlDeviceGetSamples: u32 = op_id("nvmlDeviceGetSamples");
const OP_nvmlDeviceGetUtilizationRates: u32 = op_id("nvmlDeviceGetUtilizationRates");

/// Executes the operation `op`: its arguments are read from `r`, its results written to `w`.
/// An operation that is not known is answered with NOT_SUPPORTED.
///
/// # Errors
///
/// [`Bad`] if the arguments are no such operation's.
pub fn dispatch(op: u32, exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    match op {
        OP_nvmlInit_v2 => special::nvmlInit_v2(exec, r, w),
        OP_nvmlShutdown => special::nvmlShutdown(exec, r, w),
        OP_nvmlUnitGetCount => nvmlUnitGetCount(exec, r, w),
        OP_nvmlGetExcludedDeviceCount => nvmlGetExcludedDeviceCount(exec, r, w),
        OP_nvmlGetExcludedDeviceInfoByIndex => nvmlGetExcludedDeviceInfoByIndex(exec, r, w),
        OP_nvmlSystemGetConfComputeCapabilities => nvmlSystemGetConfComputeCapabilities(exec, r, w),
        OP_nvmlSystemGetConfComputeGpusReadyState => {
            nvmlSystemGetConfComputeGpusReadyState(exec, r, w)
        }
        OP_nvmlSystemGetConfComputeSettings => nvmlSystemGetConfComputeSettings(exec, r, w),
        OP_nvmlSystemGetConfComputeState => nvmlSystemGetConfComputeState(exec, r, w),
        OP_nvmlSystemGetCudaDriverVersion => nvmlSystemGetCudaDriverVersion(exec, r, w),
        OP_nvmlSystemGetCudaDriverVersion_v2 => nvmlSystemGetCudaDriverVersion_v2(exec, r, w),
        OP_nvmlSystemGetDriverBranch => nvmlSystemGetDriverBranch(exec, r, w),
        OP_nvmlSystemGetDriverVersion => nvmlSystemGetDriverVersion(exec, r, w),
        OP_nvmlSystemGetHicVersion => nvmlSystemGetHicVersion(exec, r, w),
        OP_nvmlSystemGetNVMLVersion => nvmlSystemGetNVMLVersion(exec, r, w),
        OP_nvmlSystemGetNvlinkBwMode => nvmlSystemGetNvlinkBwMode(exec, r, w),
        OP_nvmlSystemGetProcessName => nvmlSystemGetProcessName(exec, r, w),
        OP_nvmlSystemGetTopologyGpuSet => nvmlSystemGetTopologyGpuSet(exec, r, w),
        OP_nvmlDeviceGetCount => nvmlDeviceGetCount(exec, r, w),
        OP_nvmlDeviceGetCount_v2 => nvmlDeviceGetCount_v2(exec, r, w),
        OP_nvmlDeviceGetDeviceHandleFromMigDeviceHandle => {
            nvmlDeviceGetDeviceHandleFromMigDeviceHandle(exec, r, w)
        }
        OP_nvmlDeviceGetHandleByIndex => nvmlDeviceGetHandleByIndex(exec, r, w),
        OP_nvmlDeviceGetHandleByIndex_v2 => nvmlDeviceGetHandleByIndex_v2(exec, r, w),
        OP_nvmlDeviceGetHandleByPciBusId => nvmlDeviceGetHandleByPciBusId(exec, r, w),
        OP_nvmlDeviceGetHandleByPciBusId_v2 => nvmlDeviceGetHandleByPciBusId_v2(exec, r, w),
        OP_nvmlDeviceGetHandleBySerial => nvmlDeviceGetHandleBySerial(exec, r, w),
        OP_nvmlDeviceGetHandleByUUID => nvmlDeviceGetHandleByUUID(exec, r, w),
        OP_nvmlDeviceGetHandleByUUIDV => nvmlDeviceGetHandleByUUIDV(exec, r, w),
        OP_nvmlDeviceGetMigDeviceHandleByIndex => nvmlDeviceGetMigDeviceHandleByIndex(exec, r, w),
        OP_nvmlDeviceIsMigDeviceHandle => nvmlDeviceIsMigDeviceHandle(exec, r, w),
        OP_nvmlDeviceGetAPIRestriction => nvmlDeviceGetAPIRestriction(exec, r, w),
        OP_nvmlDeviceGetAddressingMode => nvmlDeviceGetAddressingMode(exec, r, w),
        OP_nvmlDeviceGetArchitecture => nvmlDeviceGetArchitecture(exec, r, w),
        OP_nvmlDeviceGetAttributes_v2 => nvmlDeviceGetAttributes_v2(exec, r, w),
        OP_nvmlDeviceGetBoardId => nvmlDeviceGetBoardId(exec, r, w),
        OP_nvmlDeviceGetBoardPartNumber => nvmlDeviceGetBoardPartNumber(exec, r, w),
        OP_nvmlDeviceGetBrand => nvmlDeviceGetBrand(exec, r, w),
        OP_nvmlDeviceGetCapabilities => nvmlDeviceGetCapabilities(exec, r, w),
        OP_nvmlDeviceGetComputeInstanceId => nvmlDeviceGetComputeInstanceId(exec, r, w),
        OP_nvmlDeviceGetComputeMode => nvmlDeviceGetComputeMode(exec, r, w),
        OP_nvmlDeviceGetConfComputeGpuAttestationReport => {
            nvmlDeviceGetConfComputeGpuAttestationReport(exec, r, w)
        }
        OP_nvmlDeviceGetConfComputeGpuCertificate => {
            nvmlDeviceGetConfComputeGpuCertificate(exec, r, w)
        }
        OP_nvmlDeviceGetCudaComputeCapability => nvmlDeviceGetCudaComputeCapability(exec, r, w),
        OP_nvmlDeviceGetDisplayActive => nvmlDeviceGetDisplayActive(exec, r, w),
        OP_nvmlDeviceGetDisplayMode => nvmlDeviceGetDisplayMode(exec, r, w),
        OP_nvmlDeviceGetDriverModel => nvmlDeviceGetDriverModel(exec, r, w),
        OP_nvmlDeviceGetDriverModel_v2 => nvmlDeviceGetDriverModel_v2(exec, r, w),
        OP_nvmlDeviceGetGpuInstanceId => nvmlDeviceGetGpuInstanceId(exec, r, w),
        OP_nvmlDeviceGetGpuOperationMode => nvmlDeviceGetGpuOperationMode(exec, r, w),
        OP_nvmlDeviceGetGridLicensableFeatures_v4 => {
            nvmlDeviceGetGridLicensableFeatures_v4(exec, r, w)
        }
        OP_nvmlDeviceGetGspFirmwareMode => nvmlDeviceGetGspFirmwareMode(exec, r, w),
        OP_nvmlDeviceGetGspFirmwareVersion => nvmlDeviceGetGspFirmwareVersion(exec, r, w),
        OP_nvmlDeviceGetHostVgpuMode => nvmlDeviceGetHostVgpuMode(exec, r, w),
        OP_nvmlDeviceGetIndex => nvmlDeviceGetIndex(exec, r, w),
        OP_nvmlDeviceGetInforomConfigurationChecksum => {
            nvmlDeviceGetInforomConfigurationChecksum(exec, r, w)
        }
        OP_nvmlDeviceGetInforomImageVersion => nvmlDeviceGetInforomImageVersion(exec, r, w),
        OP_nvmlDeviceGetInforomVersion => nvmlDeviceGetInforomVersion(exec, r, w),
        OP_nvmlDeviceGetIrqNum => nvmlDeviceGetIrqNum(exec, r, w),
        OP_nvmlDeviceGetLastBBXFlushTime => nvmlDeviceGetLastBBXFlushTime(exec, r, w),
        OP_nvmlDeviceGetMaxMigDeviceCount => nvmlDeviceGetMaxMigDeviceCount(exec, r, w),
        OP_nvmlDeviceGetMigMode => nvmlDeviceGetMigMode(exec, r, w),
        OP_nvmlDeviceGetMinorNumber => nvmlDeviceGetMinorNumber(exec, r, w),
        OP_nvmlDeviceGetModuleId => nvmlDeviceGetModuleId(exec, r, w),
        OP_nvmlDeviceGetMultiGpuBoard => nvmlDeviceGetMultiGpuBoard(exec, r, w),
        OP_nvmlDeviceGetName => nvmlDeviceGetName(exec, r, w),
        OP_nvmlDeviceGetNumGpuCores => nvmlDeviceGetNumGpuCores(exec, r, w),
        OP_nvmlDeviceGetPdi => nvmlDeviceGetPdi(exec, r, w),
        OP_nvmlDeviceGetPersistenceMode => nvmlDeviceGetPersistenceMode(exec, r, w),
        OP_nvmlDeviceGetPlatformInfo => nvmlDeviceGetPlatformInfo(exec, r, w),
        OP_nvmlDeviceGetSerial => nvmlDeviceGetSerial(exec, r, w),
        OP_nvmlDeviceGetSupportedEventTypes => nvmlDeviceGetSupportedEventTypes(exec, r, w),
        OP_nvmlDeviceGetUUID => nvmlDeviceGetUUID(exec, r, w),
        OP_nvmlDeviceGetVbiosVersion => nvmlDeviceGetVbiosVersion(exec, r, w),
        OP_nvmlDeviceGetVgpuHeterogeneousMode => nvmlDeviceGetVgpuHeterogeneousMode(exec, r, w),
        OP_nvmlDeviceGetVirtualizationMode => nvmlDeviceGetVirtualizationMode(exec, r, w),
        OP_nvmlDeviceGetVgpuCapabilities => nvmlDeviceGetVgpuCapabilities(exec, r, w),
        OP_nvmlDeviceGetSupportedVgpus => nvmlDeviceGetSupportedVgpus(exec, r, w),
        OP_nvmlDeviceGetCreatableVgpus => nvmlDeviceGetCreatableVgpus(exec, r, w),
        OP_nvmlDeviceGetActiveVgpus => nvmlDeviceGetActiveVgpus(exec, r, w),
        OP_nvmlGpmQueryDeviceSupport => nvmlGpmQueryDeviceSupport(exec, r, w),
        OP_nvmlGpmQueryIfStreamingEnabled => nvmlGpmQueryIfStreamingEnabled(exec, r, w),
        OP_nvmlDeviceQueryDrainState => nvmlDeviceQueryDrainState(exec, r, w),
        OP_nvmlDeviceGetBAR1MemoryInfo => nvmlDeviceGetBAR1MemoryInfo(exec, r, w),
        OP_nvmlDeviceGetConfComputeMemSizeInfo => nvmlDeviceGetConfComputeMemSizeInfo(exec, r, w),
        OP_nvmlDeviceGetConfComputeProtectedMemoryUsage => {
            nvmlDeviceGetConfComputeProtectedMemoryUsage(exec, r, w)
        }
        OP_nvmlDeviceGetDefaultEccMode => nvmlDeviceGetDefaultEccMode(exec, r, w),
        OP_nvmlDeviceGetDetailedEccErrors => nvmlDeviceGetDetailedEccErrors(exec, r, w),
        OP_nvmlDeviceGetDramEncryptionMode => nvmlDeviceGetDramEncryptionMode(exec, r, w),
        OP_nvmlDeviceGetEccMode => nvmlDeviceGetEccMode(exec, r, w),
        OP_nvmlDeviceGetMemoryBusWidth => nvmlDeviceGetMemoryBusWidth(exec, r, w),
        OP_nvmlDeviceGetMemoryErrorCounter => nvmlDeviceGetMemoryErrorCounter(exec, r, w),
        OP_nvmlDeviceGetMemoryInfo => nvmlDeviceGetMemoryInfo(exec, r, w),
        OP_nvmlDeviceGetMemoryInfo_v2 => nvmlDeviceGetMemoryInfo_v2(exec, r, w),
        OP_nvmlDeviceGetRemappedRows => nvmlDeviceGetRemappedRows(exec, r, w),
        OP_nvmlDeviceGetRepairStatus => nvmlDeviceGetRepairStatus(exec, r, w),
        OP_nvmlDeviceGetRetiredPages => nvmlDeviceGetRetiredPages(exec, r, w),
        OP_nvmlDeviceGetRetiredPagesPendingStatus => {
            nvmlDeviceGetRetiredPagesPendingStatus(exec, r, w)
        }
        OP_nvmlDeviceGetRetiredPages_v2 => nvmlDeviceGetRetiredPages_v2(exec, r, w),
        OP_nvmlDeviceGetRowRemapperHistogram => nvmlDeviceGetRowRemapperHistogram(exec, r, w),
        OP_nvmlDeviceGetSramEccErrorStatus => nvmlDeviceGetSramEccErrorStatus(exec, r, w),
        OP_nvmlDeviceGetTotalEccErrors => nvmlDeviceGetTotalEccErrors(exec, r, w),
        OP_nvmlDeviceGetAdaptiveClockInfoStatus => nvmlDeviceGetAdaptiveClockInfoStatus(exec, r, w),
        OP_nvmlDeviceGetApplicationsClock => nvmlDeviceGetApplicationsClock(exec, r, w),
        OP_nvmlDeviceGetAutoBoostedClocksEnabled => {
            nvmlDeviceGetAutoBoostedClocksEnabled(exec, r, w)
        }
        OP_nvmlDeviceGetClkMonStatus => nvmlDeviceGetClkMonStatus(exec, r, w),
        OP_nvmlDeviceGetClock => nvmlDeviceGetClock(exec, r, w),
        OP_nvmlDeviceGetClockInfo => nvmlDeviceGetClockInfo(exec, r, w),
        OP_nvmlDeviceGetClockOffsets => nvmlDeviceGetClockOffsets(exec, r, w),
        OP_nvmlDeviceGetCoolerInfo => nvmlDeviceGetCoolerInfo(exec, r, w),
        OP_nvmlDeviceGetCurrentClockFreqs => nvmlDeviceGetCurrentClockFreqs(exec, r, w),
        OP_nvmlDeviceGetCurrentClocksEventReasons => {
            nvmlDeviceGetCurrentClocksEventReasons(exec, r, w)
        }
        OP_nvmlDeviceGetCurrentClocksThrottleReasons => {
            nvmlDeviceGetCurrentClocksThrottleReasons(exec, r, w)
        }
        OP_nvmlDeviceGetDefaultApplicationsClock => {
            nvmlDeviceGetDefaultApplicationsClock(exec, r, w)
        }
        OP_nvmlDeviceGetDynamicPstatesInfo => nvmlDeviceGetDynamicPstatesInfo(exec, r, w),
        OP_nvmlDeviceGetEnforcedPowerLimit => nvmlDeviceGetEnforcedPowerLimit(exec, r, w),
        OP_nvmlDeviceGetFanControlPolicy_v2 => nvmlDeviceGetFanControlPolicy_v2(exec, r, w),
        OP_nvmlDeviceGetFanSpeed => nvmlDeviceGetFanSpeed(exec, r, w),
        OP_nvmlDeviceGetFanSpeedRPM => nvmlDeviceGetFanSpeedRPM(exec, r, w),
        OP_nvmlDeviceGetFanSpeed_v2 => nvmlDeviceGetFanSpeed_v2(exec, r, w),
        OP_nvmlDeviceGetGpcClkMinMaxVfOffset => nvmlDeviceGetGpcClkMinMaxVfOffset(exec, r, w),
        OP_nvmlDeviceGetGpcClkVfOffset => nvmlDeviceGetGpcClkVfOffset(exec, r, w),
        OP_nvmlDeviceGetMarginTemperature => nvmlDeviceGetMarginTemperature(exec, r, w),
        OP_nvmlDeviceGetMaxClockInfo => nvmlDeviceGetMaxClockInfo(exec, r, w),
        OP_nvmlDeviceGetMaxCustomerBoostClock => nvmlDeviceGetMaxCustomerBoostClock(exec, r, w),
        OP_nvmlDeviceGetMemClkMinMaxVfOffset => nvmlDeviceGetMemClkMinMaxVfOffset(exec, r, w),
        OP_nvmlDeviceGetMemClkVfOffset => nvmlDeviceGetMemClkVfOffset(exec, r, w),
        OP_nvmlDeviceGetMinMaxClockOfPState => nvmlDeviceGetMinMaxClockOfPState(exec, r, w),
        OP_nvmlDeviceGetMinMaxFanSpeed => nvmlDeviceGetMinMaxFanSpeed(exec, r, w),
        OP_nvmlDeviceGetNumFans => nvmlDeviceGetNumFans(exec, r, w),
        OP_nvmlDeviceGetPerformanceModes => nvmlDeviceGetPerformanceModes(exec, r, w),
        OP_nvmlDeviceGetPerformanceState => nvmlDeviceGetPerformanceState(exec, r, w),
        OP_nvmlDeviceGetPowerManagementDefaultLimit => {
            nvmlDeviceGetPowerManagementDefaultLimit(exec, r, w)
        }
        OP_nvmlDeviceGetPowerManagementLimit => nvmlDeviceGetPowerManagementLimit(exec, r, w),
        OP_nvmlDeviceGetPowerManagementLimitConstraints => {
            nvmlDeviceGetPowerManagementLimitConstraints(exec, r, w)
        }
        OP_nvmlDeviceGetPowerManagementMode => nvmlDeviceGetPowerManagementMode(exec, r, w),
        OP_nvmlDeviceGetPowerMizerMode_v1 => nvmlDeviceGetPowerMizerMode_v1(exec, r, w),
        OP_nvmlDeviceGetPowerSource => nvmlDeviceGetPowerSource(exec, r, w),
        OP_nvmlDeviceGetPowerState => nvmlDeviceGetPowerState(exec, r, w),
        OP_nvmlDeviceGetPowerUsage => nvmlDeviceGetPowerUsage(exec, r, w),
        OP_nvmlDeviceGetSupportedClocksEventReasons => {
            nvmlDeviceGetSupportedClocksEventReasons(exec, r, w)
        }
        OP_nvmlDeviceGetSupportedClocksThrottleReasons => {
            nvmlDeviceGetSupportedClocksThrottleReasons(exec, r, w)
        }
        OP_nvmlDeviceGetSupportedGraphicsClocks => nvmlDeviceGetSupportedGraphicsClocks(exec, r, w),
        OP_nvmlDeviceGetSupportedMemoryClocks => nvmlDeviceGetSupportedMemoryClocks(exec, r, w),
        OP_nvmlDeviceGetSupportedPerformanceStates => {
            nvmlDeviceGetSupportedPerformanceStates(exec, r, w)
        }
        OP_nvmlDeviceGetTargetFanSpeed => nvmlDeviceGetTargetFanSpeed(exec, r, w),
        OP_nvmlDeviceGetTemperature => nvmlDeviceGetTemperature(exec, r, w),
        OP_nvmlDeviceGetTemperatureThreshold => nvmlDeviceGetTemperatureThreshold(exec, r, w),
        OP_nvmlDeviceGetTemperatureV => nvmlDeviceGetTemperatureV(exec, r, w),
        OP_nvmlDeviceGetThermalSettings => nvmlDeviceGetThermalSettings(exec, r, w),
        OP_nvmlDeviceGetTotalEnergyConsumption => nvmlDeviceGetTotalEnergyConsumption(exec, r, w),
        OP_nvmlDeviceGetViolationStatus => nvmlDeviceGetViolationStatus(exec, r, w),
        OP_nvmlDeviceWorkloadPowerProfileGetCurrentProfiles => {
            nvmlDeviceWorkloadPowerProfileGetCurrentProfiles(exec, r, w)
        }
        OP_nvmlDeviceWorkloadPowerProfileGetProfilesInfo => {
            nvmlDeviceWorkloadPowerProfileGetProfilesInfo(exec, r, w)
        }
        OP_nvmlDeviceGetBridgeChipInfo => nvmlDeviceGetBridgeChipInfo(exec, r, w),
        OP_nvmlDeviceGetBusType => nvmlDeviceGetBusType(exec, r, w),
        OP_nvmlDeviceGetC2cModeInfoV => nvmlDeviceGetC2cModeInfoV(exec, r, w),
        OP_nvmlDeviceGetCpuAffinity => nvmlDeviceGetCpuAffinity(exec, r, w),
        OP_nvmlDeviceGetCpuAffinityWithinScope => nvmlDeviceGetCpuAffinityWithinScope(exec, r, w),
        OP_nvmlDeviceGetCurrPcieLinkGeneration => nvmlDeviceGetCurrPcieLinkGeneration(exec, r, w),
        OP_nvmlDeviceGetCurrPcieLinkWidth => nvmlDeviceGetCurrPcieLinkWidth(exec, r, w),
        OP_nvmlDeviceGetGpuFabricInfo => nvmlDeviceGetGpuFabricInfo(exec, r, w),
        OP_nvmlDeviceGetGpuFabricInfoV => nvmlDeviceGetGpuFabricInfoV(exec, r, w),
        OP_nvmlDeviceGetGpuMaxPcieLinkGeneration => {
            nvmlDeviceGetGpuMaxPcieLinkGeneration(exec, r, w)
        }
        OP_nvmlDeviceGetMaxPcieLinkGeneration => nvmlDeviceGetMaxPcieLinkGeneration(exec, r, w),
        OP_nvmlDeviceGetMaxPcieLinkWidth => nvmlDeviceGetMaxPcieLinkWidth(exec, r, w),
        OP_nvmlDeviceGetMemoryAffinity => nvmlDeviceGetMemoryAffinity(exec, r, w),
        OP_nvmlDeviceGetNumaNodeId => nvmlDeviceGetNumaNodeId(exec, r, w),
        OP_nvmlDeviceGetNvLinkCapability => nvmlDeviceGetNvLinkCapability(exec, r, w),
        OP_nvmlDeviceGetNvLinkErrorCounter => nvmlDeviceGetNvLinkErrorCounter(exec, r, w),
        OP_nvmlDeviceGetNvLinkInfo => nvmlDeviceGetNvLinkInfo(exec, r, w),
        OP_nvmlDeviceGetNvLinkRemoteDeviceType => nvmlDeviceGetNvLinkRemoteDeviceType(exec, r, w),
        OP_nvmlDeviceGetNvLinkRemotePciInfo_v2 => nvmlDeviceGetNvLinkRemotePciInfo_v2(exec, r, w),
        OP_nvmlDeviceGetNvLinkState => nvmlDeviceGetNvLinkState(exec, r, w),
        OP_nvmlDeviceGetNvLinkUtilizationControl => {
            nvmlDeviceGetNvLinkUtilizationControl(exec, r, w)
        }
        OP_nvmlDeviceGetNvLinkUtilizationCounter => {
            nvmlDeviceGetNvLinkUtilizationCounter(exec, r, w)
        }
        OP_nvmlDeviceGetNvLinkVersion => nvmlDeviceGetNvLinkVersion(exec, r, w),
        OP_nvmlDeviceGetNvlinkBwMode => nvmlDeviceGetNvlinkBwMode(exec, r, w),
        OP_nvmlDeviceGetNvlinkSupportedBwModes => nvmlDeviceGetNvlinkSupportedBwModes(exec, r, w),
        OP_nvmlDeviceGetP2PStatus => nvmlDeviceGetP2PStatus(exec, r, w),
        OP_nvmlDeviceGetPciInfoExt => nvmlDeviceGetPciInfoExt(exec, r, w),
        OP_nvmlDeviceGetPciInfo_v3 => nvmlDeviceGetPciInfo_v3(exec, r, w),
        OP_nvmlDeviceGetPcieLinkMaxSpeed => nvmlDeviceGetPcieLinkMaxSpeed(exec, r, w),
        OP_nvmlDeviceGetPcieReplayCounter => nvmlDeviceGetPcieReplayCounter(exec, r, w),
        OP_nvmlDeviceGetPcieSpeed => nvmlDeviceGetPcieSpeed(exec, r, w),
        OP_nvmlDeviceGetPcieThroughput => nvmlDeviceGetPcieThroughput(exec, r, w),
        OP_nvmlDeviceGetTopologyCommonAncestor => nvmlDeviceGetTopologyCommonAncestor(exec, r, w),
        OP_nvmlDeviceGetTopologyNearestGpus => nvmlDeviceGetTopologyNearestGpus(exec, r, w),
        OP_nvmlDeviceOnSameBoard => nvmlDeviceOnSameBoard(exec, r, w),
        OP_nvmlDeviceGetAccountingBufferSize => nvmlDeviceGetAccountingBufferSize(exec, r, w),
        OP_nvmlDeviceGetAccountingMode => nvmlDeviceGetAccountingMode(exec, r, w),
        OP_nvmlDeviceGetAccountingPids => nvmlDeviceGetAccountingPids(exec, r, w),
        OP_nvmlDeviceGetAccountingStats => nvmlDeviceGetAccountingStats(exec, r, w),
        OP_nvmlDeviceGetComputeRunningProcesses => nvmlDeviceGetComputeRunningProcesses(exec, r, w),
        OP_nvmlDeviceGetComputeRunningProcesses_v2 => {
            nvmlDeviceGetComputeRunningProcesses_v2(exec, r, w)
        }
        OP_nvmlDeviceGetComputeRunningProcesses_v3 => {
            nvmlDeviceGetComputeRunningProcesses_v3(exec, r, w)
        }
        OP_nvmlDeviceGetDecoderUtilization => nvmlDeviceGetDecoderUtilization(exec, r, w),
        OP_nvmlDeviceGetEncoderCapacity => nvmlDeviceGetEncoderCapacity(exec, r, w),
        OP_nvmlDeviceGetEncoderSessions => nvmlDeviceGetEncoderSessions(exec, r, w),
        OP_nvmlDeviceGetEncoderStats => nvmlDeviceGetEncoderStats(exec, r, w),
        OP_nvmlDeviceGetEncoderUtilization => nvmlDeviceGetEncoderUtilization(exec, r, w),
        OP_nvmlDeviceGetFBCSessions => nvmlDeviceGetFBCSessions(exec, r, w),
        OP_nvmlDeviceGetFBCStats => nvmlDeviceGetFBCStats(exec, r, w),
        OP_nvmlDeviceGetFieldValues => nvmlDeviceGetFieldValues(exec, r, w),
        OP_nvmlDeviceGetGraphicsRunningProcesses => {
            nvmlDeviceGetGraphicsRunningProcesses(exec, r, w)
        }
        OP_nvmlDeviceGetGraphicsRunningProcesses_v2 => {
            nvmlDeviceGetGraphicsRunningProcesses_v2(exec, r, w)
        }
        OP_nvmlDeviceGetGraphicsRunningProcesses_v3 => {
            nvmlDeviceGetGraphicsRunningProcesses_v3(exec, r, w)
        }
        OP_nvmlDeviceGetJpgUtilization => nvmlDeviceGetJpgUtilization(exec, r, w),
        OP_nvmlDeviceGetMPSComputeRunningProcesses => {
            nvmlDeviceGetMPSComputeRunningProcesses(exec, r, w)
        }
        OP_nvmlDeviceGetMPSComputeRunningProcesses_v2 => {
            nvmlDeviceGetMPSComputeRunningProcesses_v2(exec, r, w)
        }
        OP_nvmlDeviceGetMPSComputeRunningProcesses_v3 => {
            nvmlDeviceGetMPSComputeRunningProcesses_v3(exec, r, w)
        }
        OP_nvmlDeviceGetOfaUtilization => nvmlDeviceGetOfaUtilization(exec, r, w),
        OP_nvmlDeviceGetProcessUtilization => nvmlDeviceGetProcessUtilization(exec, r, w),
        OP_nvmlDeviceGetSamples => nvmlDeviceGetSamples(exec, r, w),
        OP_nvmlDeviceGetUtilizationRates => nvmlDeviceGetUtilizationRates(exec, r, w),
        _ => Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed()),
    }
}

fn nvmlUnitGetCount(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    r.end()?;
    let mut unitCount: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlUnitGetCount else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut unitCount) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const unitCount, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlGetExcludedDeviceCount(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    r.end()?;
    let mut deviceCount: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlGetExcludedDeviceCount else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut deviceCount) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const deviceCount, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlGetExcludedDeviceInfoByIndex(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let index: c_uint = Scalar::take(r)?;
    r.end()?;
    let mut info: nvmlExcludedDeviceInfo_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlGetExcludedDeviceInfoByIndex else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(index, &raw mut info) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const info, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlSystemGetConfComputeCapabilities(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    r.end()?;
    let mut capabilities: nvmlConfComputeSystemCaps_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlSystemGetConfComputeCapabilities else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut capabilities) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const capabilities, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlSystemGetConfComputeGpusReadyState(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    r.end()?;
    let mut isAcceptingWork: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlSystemGetConfComputeGpusReadyState else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut isAcceptingWork) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const isAcceptingWork, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlSystemGetConfComputeSettings(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let mut settings = Versioned::take(r)?;
    r.end()?;
    let Some(call) = exec.nvml.nvmlSystemGetConfComputeSettings else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(settings.pointer()) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        settings.put(w);
    }
    Ok(status.cast_signed())
}

fn nvmlSystemGetConfComputeState(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    r.end()?;
    let mut state: nvmlConfComputeSystemState_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlSystemGetConfComputeState else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut state) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const state, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlSystemGetCudaDriverVersion(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    r.end()?;
    let mut cudaDriverVersion: c_int = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlSystemGetCudaDriverVersion else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut cudaDriverVersion) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const cudaDriverVersion, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlSystemGetCudaDriverVersion_v2(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    r.end()?;
    let mut cudaDriverVersion: c_int = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlSystemGetCudaDriverVersion_v2 else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut cudaDriverVersion) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const cudaDriverVersion, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlSystemGetDriverBranch(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let mut branchInfo = Versioned::take(r)?;
    let length: c_uint = Scalar::take(r)?;
    r.end()?;
    let Some(call) = exec.nvml.nvmlSystemGetDriverBranch else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(branchInfo.pointer(), length) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        branchInfo.put(w);
    }
    Ok(status.cast_signed())
}

fn nvmlSystemGetDriverVersion(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let length: c_uint = Scalar::take(r)?;
    r.end()?;
    let mut version = unsafe { wire::room::<c_char>(Scalar::as_len(length)) }?;

    let Some(call) = exec.nvml.nvmlSystemGetDriverVersion else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(version.as_mut_ptr(), length) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        wire::put_room(w, &version);
    }
    Ok(status.cast_signed())
}

fn nvmlSystemGetHicVersion(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let mut hwbcCount: c_uint = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut hwbcCount, 1) }?;
    let there_hwbcEntries = wire::take_flag(r)?;
    r.end()?;
    let mut hwbcEntries = unsafe {
        wire::room::<nvmlHwbcEntry_t>(if there_hwbcEntries {
            Scalar::as_len(hwbcCount)
        } else {
            0
        })
    }?;
    let room_hwbcEntries = hwbcEntries.len();

    let Some(call) = exec.nvml.nvmlSystemGetHicVersion else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            &raw mut hwbcCount,
            if there_hwbcEntries {
                hwbcEntries.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
        )
    };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const hwbcCount, 1) };
        if there_hwbcEntries {
            let count = if status == 0 {
                Scalar::as_len(hwbcCount).min(room_hwbcEntries)
            } else {
                0
            };
            w.u64(count as u64);
            unsafe { wire::put(w, hwbcEntries.as_ptr(), count) };
        }
    }
    Ok(status.cast_signed())
}

fn nvmlSystemGetNVMLVersion(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let length: c_uint = Scalar::take(r)?;
    r.end()?;
    let mut version = unsafe { wire::room::<c_char>(Scalar::as_len(length)) }?;

    let Some(call) = exec.nvml.nvmlSystemGetNVMLVersion else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(version.as_mut_ptr(), length) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        wire::put_room(w, &version);
    }
    Ok(status.cast_signed())
}

fn nvmlSystemGetNvlinkBwMode(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    r.end()?;
    let mut nvlinkBwMode: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlSystemGetNvlinkBwMode else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut nvlinkBwMode) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const nvlinkBwMode, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlSystemGetProcessName(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let pid: c_uint = Scalar::take(r)?;
    let length: c_uint = Scalar::take(r)?;
    r.end()?;
    let mut name = unsafe { wire::room::<c_char>(Scalar::as_len(length)) }?;

    let Some(call) = exec.nvml.nvmlSystemGetProcessName else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(pid, name.as_mut_ptr(), length) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        wire::put_room(w, &name);
    }
    Ok(status.cast_signed())
}

fn nvmlSystemGetTopologyGpuSet(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let cpuNumber: c_uint = Scalar::take(r)?;
    let mut count: c_uint = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut count, 1) }?;
    let there_deviceArray = wire::take_flag(r)?;
    r.end()?;
    let mut deviceArray: Vec<nvmlDevice_t> = wire::room_for_handles(if there_deviceArray {
        Scalar::as_len(count)
    } else {
        0
    })?;

    let Some(call) = exec.nvml.nvmlSystemGetTopologyGpuSet else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            cpuNumber,
            &raw mut count,
            if there_deviceArray {
                deviceArray.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
        )
    };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const count, 1) };
        if there_deviceArray {
            let count = if status == 0 {
                Scalar::as_len(count).min(deviceArray.len())
            } else {
                0
            };
            w.u64(count as u64);
            for real in deviceArray.iter().take(count) {
                w.u64(exec.handles.known(Kind::NvmlDevice, real.cast()));
            }
        }
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetCount(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    r.end()?;
    let mut deviceCount: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetCount else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut deviceCount) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const deviceCount, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetCount_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    r.end()?;
    let mut deviceCount: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetCount_v2 else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut deviceCount) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const deviceCount, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetDeviceHandleFromMigDeviceHandle(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let migDevice = r.u64()?;
    r.end()?;
    let real_migDevice = match exec.handles.real(Kind::NvmlDevice, migDevice) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut device: nvmlDevice_t = core::ptr::null_mut();

    let Some(call) = exec.nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_migDevice, &raw mut device) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        w.u64(exec.handles.known(Kind::NvmlDevice, device.cast()));
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetHandleByIndex(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let index: c_uint = Scalar::take(r)?;
    r.end()?;
    let mut device: nvmlDevice_t = core::ptr::null_mut();

    let Some(call) = exec.nvml.nvmlDeviceGetHandleByIndex else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(index, &raw mut device) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        w.u64(exec.handles.known(Kind::NvmlDevice, device.cast()));
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetHandleByIndex_v2(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let index: c_uint = Scalar::take(r)?;
    r.end()?;
    let mut device: nvmlDevice_t = core::ptr::null_mut();

    let Some(call) = exec.nvml.nvmlDeviceGetHandleByIndex_v2 else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(index, &raw mut device) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        w.u64(exec.handles.known(Kind::NvmlDevice, device.cast()));
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetHandleByPciBusId(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let pciBusId = wire::take_string(r)?;
    r.end()?;
    let mut device: nvmlDevice_t = core::ptr::null_mut();

    let Some(call) = exec.nvml.nvmlDeviceGetHandleByPciBusId else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(pciBusId.as_ptr(), &raw mut device) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        w.u64(exec.handles.known(Kind::NvmlDevice, device.cast()));
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetHandleByPciBusId_v2(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let pciBusId = wire::take_string(r)?;
    r.end()?;
    let mut device: nvmlDevice_t = core::ptr::null_mut();

    let Some(call) = exec.nvml.nvmlDeviceGetHandleByPciBusId_v2 else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(pciBusId.as_ptr(), &raw mut device) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        w.u64(exec.handles.known(Kind::NvmlDevice, device.cast()));
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetHandleBySerial(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let serial = wire::take_string(r)?;
    r.end()?;
    let mut device: nvmlDevice_t = core::ptr::null_mut();

    let Some(call) = exec.nvml.nvmlDeviceGetHandleBySerial else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(serial.as_ptr(), &raw mut device) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        w.u64(exec.handles.known(Kind::NvmlDevice, device.cast()));
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetHandleByUUID(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let uuid = wire::take_string(r)?;
    r.end()?;
    let mut device: nvmlDevice_t = core::ptr::null_mut();

    let Some(call) = exec.nvml.nvmlDeviceGetHandleByUUID else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(uuid.as_ptr(), &raw mut device) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        w.u64(exec.handles.known(Kind::NvmlDevice, device.cast()));
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetHandleByUUIDV(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let mut uuid: nvmlUUID_t = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut uuid, 1) }?;
    r.end()?;
    let mut device: nvmlDevice_t = core::ptr::null_mut();

    let Some(call) = exec.nvml.nvmlDeviceGetHandleByUUIDV else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut uuid, &raw mut device) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        w.u64(exec.handles.known(Kind::NvmlDevice, device.cast()));
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetMigDeviceHandleByIndex(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let index: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut migDevice: nvmlDevice_t = core::ptr::null_mut();

    let Some(call) = exec.nvml.nvmlDeviceGetMigDeviceHandleByIndex else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, index, &raw mut migDevice) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        w.u64(exec.handles.known(Kind::NvmlDevice, migDevice.cast()));
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceIsMigDeviceHandle(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut isMigDevice: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceIsMigDeviceHandle else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut isMigDevice) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const isMigDevice, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetAPIRestriction(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let apiType: nvmlRestrictedAPI_t = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut isRestricted: nvmlEnableState_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetAPIRestriction else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, apiType, &raw mut isRestricted) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const isRestricted, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetAddressingMode(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut mode = Versioned::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };

    let Some(call) = exec.nvml.nvmlDeviceGetAddressingMode else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, mode.pointer()) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        mode.put(w);
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetArchitecture(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut arch: nvmlDeviceArchitecture_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetArchitecture else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut arch) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const arch, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetAttributes_v2(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut attributes: nvmlDeviceAttributes_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetAttributes_v2 else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut attributes) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const attributes, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetBoardId(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut boardId: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetBoardId else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut boardId) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const boardId, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetBoardPartNumber(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let length: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut partNumber = unsafe { wire::room::<c_char>(Scalar::as_len(length)) }?;

    let Some(call) = exec.nvml.nvmlDeviceGetBoardPartNumber else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, partNumber.as_mut_ptr(), length) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        wire::put_room(w, &partNumber);
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetBrand(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut type_: nvmlBrandType_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetBrand else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut type_) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const type_, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetCapabilities(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut caps = Versioned::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };

    let Some(call) = exec.nvml.nvmlDeviceGetCapabilities else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, caps.pointer()) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        caps.put(w);
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetComputeInstanceId(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut id: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetComputeInstanceId else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut id) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const id, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetComputeMode(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut mode: nvmlComputeMode_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetComputeMode else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut mode) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const mode, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetConfComputeGpuAttestationReport(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut gpuAtstReport: nvmlConfComputeGpuAttestationReport_t = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut gpuAtstReport, 1) }?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };

    let Some(call) = exec.nvml.nvmlDeviceGetConfComputeGpuAttestationReport else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut gpuAtstReport) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const gpuAtstReport, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetConfComputeGpuCertificate(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut gpuCert: nvmlConfComputeGpuCertificate_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetConfComputeGpuCertificate else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut gpuCert) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const gpuCert, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetCudaComputeCapability(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut major: c_int = unsafe { wire::zeroed() };
    let mut minor: c_int = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetCudaComputeCapability else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut major, &raw mut minor) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const major, 1) };
        unsafe { wire::put(w, &raw const minor, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetDisplayActive(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut isActive: nvmlEnableState_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetDisplayActive else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut isActive) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const isActive, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetDisplayMode(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut display: nvmlEnableState_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetDisplayMode else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut display) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const display, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetDriverModel(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let there_current = wire::take_flag(r)?;
    let there_pending = wire::take_flag(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut current: nvmlDriverModel_t = unsafe { wire::zeroed() };
    let mut pending: nvmlDriverModel_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetDriverModel else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_device,
            if there_current {
                &raw mut current
            } else {
                core::ptr::null_mut()
            },
            if there_pending {
                &raw mut pending
            } else {
                core::ptr::null_mut()
            },
        )
    };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        if there_current {
            unsafe { wire::put(w, &raw const current, 1) };
        }
        if there_pending {
            unsafe { wire::put(w, &raw const pending, 1) };
        }
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetDriverModel_v2(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let there_current = wire::take_flag(r)?;
    let there_pending = wire::take_flag(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut current: nvmlDriverModel_t = unsafe { wire::zeroed() };
    let mut pending: nvmlDriverModel_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetDriverModel_v2 else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_device,
            if there_current {
                &raw mut current
            } else {
                core::ptr::null_mut()
            },
            if there_pending {
                &raw mut pending
            } else {
                core::ptr::null_mut()
            },
        )
    };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        if there_current {
            unsafe { wire::put(w, &raw const current, 1) };
        }
        if there_pending {
            unsafe { wire::put(w, &raw const pending, 1) };
        }
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetGpuInstanceId(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut id: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetGpuInstanceId else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut id) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const id, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetGpuOperationMode(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut current: nvmlGpuOperationMode_t = unsafe { wire::zeroed() };
    let mut pending: nvmlGpuOperationMode_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetGpuOperationMode else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut current, &raw mut pending) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const current, 1) };
        unsafe { wire::put(w, &raw const pending, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetGridLicensableFeatures_v4(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut pGridLicensableFeatures: nvmlGridLicensableFeatures_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetGridLicensableFeatures_v4 else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut pGridLicensableFeatures) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const pGridLicensableFeatures, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetGspFirmwareMode(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut isEnabled: c_uint = unsafe { wire::zeroed() };
    let mut defaultMode: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetGspFirmwareMode else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut isEnabled, &raw mut defaultMode) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const isEnabled, 1) };
        unsafe { wire::put(w, &raw const defaultMode, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetGspFirmwareVersion(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut version = unsafe { wire::room::<c_char>(64usize) }?;

    let Some(call) = exec.nvml.nvmlDeviceGetGspFirmwareVersion else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, version.as_mut_ptr()) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        wire::put_room(w, &version);
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetHostVgpuMode(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut pHostVgpuMode: nvmlHostVgpuMode_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetHostVgpuMode else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut pHostVgpuMode) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const pHostVgpuMode, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetIndex(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut index: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetIndex else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut index) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const index, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetInforomConfigurationChecksum(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut checksum: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetInforomConfigurationChecksum else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut checksum) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const checksum, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetInforomImageVersion(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let length: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut version = unsafe { wire::room::<c_char>(Scalar::as_len(length)) }?;

    let Some(call) = exec.nvml.nvmlDeviceGetInforomImageVersion else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, version.as_mut_ptr(), length) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        wire::put_room(w, &version);
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetInforomVersion(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let object: nvmlInforomObject_t = Scalar::take(r)?;
    let length: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut version = unsafe { wire::room::<c_char>(Scalar::as_len(length)) }?;

    let Some(call) = exec.nvml.nvmlDeviceGetInforomVersion else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, object, version.as_mut_ptr(), length) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        wire::put_room(w, &version);
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetIrqNum(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut irqNum: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetIrqNum else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut irqNum) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const irqNum, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetLastBBXFlushTime(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut timestamp: c_ulonglong = unsafe { wire::zeroed() };
    let mut durationUs: c_ulong = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetLastBBXFlushTime else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut timestamp, &raw mut durationUs) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const timestamp, 1) };
        unsafe { wire::put(w, &raw const durationUs, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetMaxMigDeviceCount(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut count: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetMaxMigDeviceCount else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut count) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const count, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetMigMode(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut currentMode: c_uint = unsafe { wire::zeroed() };
    let mut pendingMode: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetMigMode else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut currentMode, &raw mut pendingMode) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const currentMode, 1) };
        unsafe { wire::put(w, &raw const pendingMode, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetMinorNumber(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut minorNumber: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetMinorNumber else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut minorNumber) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const minorNumber, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetModuleId(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut moduleId: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetModuleId else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut moduleId) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const moduleId, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetMultiGpuBoard(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut multiGpuBool: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetMultiGpuBoard else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut multiGpuBool) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const multiGpuBool, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetName(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let device = r.u64()?;
    let length: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut name = unsafe { wire::room::<c_char>(Scalar::as_len(length)) }?;

    let Some(call) = exec.nvml.nvmlDeviceGetName else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, name.as_mut_ptr(), length) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        wire::put_room(w, &name);
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetNumGpuCores(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut numCores: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetNumGpuCores else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut numCores) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const numCores, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetPdi(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut pdi = Versioned::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };

    let Some(call) = exec.nvml.nvmlDeviceGetPdi else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, pdi.pointer()) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        pdi.put(w);
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetPersistenceMode(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut mode: nvmlEnableState_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetPersistenceMode else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut mode) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const mode, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetPlatformInfo(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut platformInfo = Versioned::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };

    let Some(call) = exec.nvml.nvmlDeviceGetPlatformInfo else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, platformInfo.pointer()) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        platformInfo.put(w);
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetSerial(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let device = r.u64()?;
    let length: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut serial = unsafe { wire::room::<c_char>(Scalar::as_len(length)) }?;

    let Some(call) = exec.nvml.nvmlDeviceGetSerial else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, serial.as_mut_ptr(), length) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        wire::put_room(w, &serial);
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetSupportedEventTypes(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut eventTypes: c_ulonglong = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetSupportedEventTypes else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut eventTypes) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const eventTypes, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetUUID(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let device = r.u64()?;
    let length: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut uuid = unsafe { wire::room::<c_char>(Scalar::as_len(length)) }?;

    let Some(call) = exec.nvml.nvmlDeviceGetUUID else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, uuid.as_mut_ptr(), length) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        wire::put_room(w, &uuid);
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetVbiosVersion(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let length: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut version = unsafe { wire::room::<c_char>(Scalar::as_len(length)) }?;

    let Some(call) = exec.nvml.nvmlDeviceGetVbiosVersion else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, version.as_mut_ptr(), length) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        wire::put_room(w, &version);
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetVgpuHeterogeneousMode(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut pHeterogeneousMode = Versioned::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };

    let Some(call) = exec.nvml.nvmlDeviceGetVgpuHeterogeneousMode else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, pHeterogeneousMode.pointer()) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        pHeterogeneousMode.put(w);
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetVirtualizationMode(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut pVirtualMode: nvmlGpuVirtualizationMode_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetVirtualizationMode else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut pVirtualMode) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const pVirtualMode, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetVgpuCapabilities(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let capability: nvmlDeviceVgpuCapability_t = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut capResult: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetVgpuCapabilities else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, capability, &raw mut capResult) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const capResult, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetSupportedVgpus(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut vgpuCount: c_uint = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut vgpuCount, 1) }?;
    let there_vgpuTypeIds = wire::take_flag(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut vgpuTypeIds = unsafe {
        wire::room::<nvmlVgpuTypeId_t>(if there_vgpuTypeIds {
            Scalar::as_len(vgpuCount)
        } else {
            0
        })
    }?;
    let room_vgpuTypeIds = vgpuTypeIds.len();

    let Some(call) = exec.nvml.nvmlDeviceGetSupportedVgpus else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_device,
            &raw mut vgpuCount,
            if there_vgpuTypeIds {
                vgpuTypeIds.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
        )
    };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const vgpuCount, 1) };
        if there_vgpuTypeIds {
            let count = if status == 0 {
                Scalar::as_len(vgpuCount).min(room_vgpuTypeIds)
            } else {
                0
            };
            w.u64(count as u64);
            unsafe { wire::put(w, vgpuTypeIds.as_ptr(), count) };
        }
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetCreatableVgpus(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut vgpuCount: c_uint = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut vgpuCount, 1) }?;
    let there_vgpuTypeIds = wire::take_flag(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut vgpuTypeIds = unsafe {
        wire::room::<nvmlVgpuTypeId_t>(if there_vgpuTypeIds {
            Scalar::as_len(vgpuCount)
        } else {
            0
        })
    }?;
    let room_vgpuTypeIds = vgpuTypeIds.len();

    let Some(call) = exec.nvml.nvmlDeviceGetCreatableVgpus else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_device,
            &raw mut vgpuCount,
            if there_vgpuTypeIds {
                vgpuTypeIds.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
        )
    };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const vgpuCount, 1) };
        if there_vgpuTypeIds {
            let count = if status == 0 {
                Scalar::as_len(vgpuCount).min(room_vgpuTypeIds)
            } else {
                0
            };
            w.u64(count as u64);
            unsafe { wire::put(w, vgpuTypeIds.as_ptr(), count) };
        }
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetActiveVgpus(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut vgpuCount: c_uint = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut vgpuCount, 1) }?;
    let there_vgpuInstances = wire::take_flag(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut vgpuInstances = unsafe {
        wire::room::<nvmlVgpuInstance_t>(if there_vgpuInstances {
            Scalar::as_len(vgpuCount)
        } else {
            0
        })
    }?;
    let room_vgpuInstances = vgpuInstances.len();

    let Some(call) = exec.nvml.nvmlDeviceGetActiveVgpus else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_device,
            &raw mut vgpuCount,
            if there_vgpuInstances {
                vgpuInstances.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
        )
    };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const vgpuCount, 1) };
        if there_vgpuInstances {
            let count = if status == 0 {
                Scalar::as_len(vgpuCount).min(room_vgpuInstances)
            } else {
                0
            };
            w.u64(count as u64);
            unsafe { wire::put(w, vgpuInstances.as_ptr(), count) };
        }
    }
    Ok(status.cast_signed())
}

fn nvmlGpmQueryDeviceSupport(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut gpmSupport: nvmlGpmSupport_t = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut gpmSupport, 1) }?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };

    let Some(call) = exec.nvml.nvmlGpmQueryDeviceSupport else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut gpmSupport) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const gpmSupport, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlGpmQueryIfStreamingEnabled(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut state: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlGpmQueryIfStreamingEnabled else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut state) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const state, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceQueryDrainState(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let mut pciInfo: nvmlPciInfo_t = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut pciInfo, 1) }?;
    r.end()?;
    let mut currentState: nvmlEnableState_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceQueryDrainState else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pciInfo, &raw mut currentState) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const currentState, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetBAR1MemoryInfo(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut bar1Memory: nvmlBAR1Memory_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetBAR1MemoryInfo else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut bar1Memory) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const bar1Memory, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetConfComputeMemSizeInfo(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut memInfo: nvmlConfComputeMemSizeInfo_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetConfComputeMemSizeInfo else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut memInfo) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const memInfo, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetConfComputeProtectedMemoryUsage(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut memory: nvmlMemory_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetConfComputeProtectedMemoryUsage else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut memory) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const memory, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetDefaultEccMode(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut defaultMode: nvmlEnableState_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetDefaultEccMode else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut defaultMode) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const defaultMode, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetDetailedEccErrors(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let errorType: nvmlMemoryErrorType_t = Scalar::take(r)?;
    let counterType: nvmlEccCounterType_t = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut eccCounts: nvmlEccErrorCounts_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetDetailedEccErrors else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, errorType, counterType, &raw mut eccCounts) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const eccCounts, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetDramEncryptionMode(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut current = Versioned::take(r)?;
    let mut pending = Versioned::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };

    let Some(call) = exec.nvml.nvmlDeviceGetDramEncryptionMode else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, current.pointer(), pending.pointer()) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        current.put(w);
        pending.put(w);
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetEccMode(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut current: nvmlEnableState_t = unsafe { wire::zeroed() };
    let mut pending: nvmlEnableState_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetEccMode else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut current, &raw mut pending) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const current, 1) };
        unsafe { wire::put(w, &raw const pending, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetMemoryBusWidth(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut busWidth: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetMemoryBusWidth else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut busWidth) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const busWidth, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetMemoryErrorCounter(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let errorType: nvmlMemoryErrorType_t = Scalar::take(r)?;
    let counterType: nvmlEccCounterType_t = Scalar::take(r)?;
    let locationType: nvmlMemoryLocation_t = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut count: c_ulonglong = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetMemoryErrorCounter else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_device,
            errorType,
            counterType,
            locationType,
            &raw mut count,
        )
    };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const count, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetMemoryInfo(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut memory: nvmlMemory_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetMemoryInfo else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut memory) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const memory, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetMemoryInfo_v2(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut memory = Versioned::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };

    let Some(call) = exec.nvml.nvmlDeviceGetMemoryInfo_v2 else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, memory.pointer()) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        memory.put(w);
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetRemappedRows(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut corrRows: c_uint = unsafe { wire::zeroed() };
    let mut uncRows: c_uint = unsafe { wire::zeroed() };
    let mut isPending: c_uint = unsafe { wire::zeroed() };
    let mut failureOccurred: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetRemappedRows else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_device,
            &raw mut corrRows,
            &raw mut uncRows,
            &raw mut isPending,
            &raw mut failureOccurred,
        )
    };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const corrRows, 1) };
        unsafe { wire::put(w, &raw const uncRows, 1) };
        unsafe { wire::put(w, &raw const isPending, 1) };
        unsafe { wire::put(w, &raw const failureOccurred, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetRepairStatus(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut repairStatus = Versioned::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };

    let Some(call) = exec.nvml.nvmlDeviceGetRepairStatus else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, repairStatus.pointer()) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        repairStatus.put(w);
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetRetiredPages(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let cause: nvmlPageRetirementCause_t = Scalar::take(r)?;
    let mut pageCount: c_uint = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut pageCount, 1) }?;
    let there_addresses = wire::take_flag(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut addresses = unsafe {
        wire::room::<c_ulonglong>(if there_addresses {
            Scalar::as_len(pageCount)
        } else {
            0
        })
    }?;
    let room_addresses = addresses.len();

    let Some(call) = exec.nvml.nvmlDeviceGetRetiredPages else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_device,
            cause,
            &raw mut pageCount,
            if there_addresses {
                addresses.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
        )
    };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const pageCount, 1) };
        if there_addresses {
            let count = if status == 0 {
                Scalar::as_len(pageCount).min(room_addresses)
            } else {
                0
            };
            w.u64(count as u64);
            unsafe { wire::put(w, addresses.as_ptr(), count) };
        }
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetRetiredPagesPendingStatus(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut isPending: nvmlEnableState_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetRetiredPagesPendingStatus else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut isPending) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const isPending, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetRetiredPages_v2(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let cause: nvmlPageRetirementCause_t = Scalar::take(r)?;
    let mut pageCount: c_uint = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut pageCount, 1) }?;
    let there_addresses = wire::take_flag(r)?;
    let there_timestamps = wire::take_flag(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut addresses = unsafe {
        wire::room::<c_ulonglong>(if there_addresses {
            Scalar::as_len(pageCount)
        } else {
            0
        })
    }?;
    let room_addresses = addresses.len();
    let mut timestamps = unsafe {
        wire::room::<c_ulonglong>(if there_timestamps {
            Scalar::as_len(pageCount)
        } else {
            0
        })
    }?;
    let room_timestamps = timestamps.len();

    let Some(call) = exec.nvml.nvmlDeviceGetRetiredPages_v2 else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_device,
            cause,
            &raw mut pageCount,
            if there_addresses {
                addresses.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
            if there_timestamps {
                timestamps.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
        )
    };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const pageCount, 1) };
        if there_addresses {
            let count = if status == 0 {
                Scalar::as_len(pageCount).min(room_addresses)
            } else {
                0
            };
            w.u64(count as u64);
            unsafe { wire::put(w, addresses.as_ptr(), count) };
        }
        if there_timestamps {
            let count = if status == 0 {
                Scalar::as_len(pageCount).min(room_timestamps)
            } else {
                0
            };
            w.u64(count as u64);
            unsafe { wire::put(w, timestamps.as_ptr(), count) };
        }
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetRowRemapperHistogram(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut values: nvmlRowRemapperHistogramValues_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetRowRemapperHistogram else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut values) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const values, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetSramEccErrorStatus(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut status = Versioned::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };

    let Some(call) = exec.nvml.nvmlDeviceGetSramEccErrorStatus else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, status.pointer()) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        status.put(w);
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetTotalEccErrors(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let errorType: nvmlMemoryErrorType_t = Scalar::take(r)?;
    let counterType: nvmlEccCounterType_t = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut eccCounts: c_ulonglong = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetTotalEccErrors else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, errorType, counterType, &raw mut eccCounts) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const eccCounts, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetAdaptiveClockInfoStatus(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut adaptiveClockStatus: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetAdaptiveClockInfoStatus else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut adaptiveClockStatus) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const adaptiveClockStatus, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetApplicationsClock(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let clockType: nvmlClockType_t = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut clockMHz: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetApplicationsClock else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, clockType, &raw mut clockMHz) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const clockMHz, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetAutoBoostedClocksEnabled(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut isEnabled: nvmlEnableState_t = unsafe { wire::zeroed() };
    let mut defaultIsEnabled: nvmlEnableState_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetAutoBoostedClocksEnabled else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut isEnabled, &raw mut defaultIsEnabled) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const isEnabled, 1) };
        unsafe { wire::put(w, &raw const defaultIsEnabled, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetClkMonStatus(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut status: nvmlClkMonStatus_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetClkMonStatus else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut status) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const status, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetClock(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let device = r.u64()?;
    let clockType: nvmlClockType_t = Scalar::take(r)?;
    let clockId: nvmlClockId_t = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut clockMHz: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetClock else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, clockType, clockId, &raw mut clockMHz) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const clockMHz, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetClockInfo(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let type_: nvmlClockType_t = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut clock: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetClockInfo else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, type_, &raw mut clock) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const clock, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetClockOffsets(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut info = Versioned::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };

    let Some(call) = exec.nvml.nvmlDeviceGetClockOffsets else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, info.pointer()) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        info.put(w);
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetCoolerInfo(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut coolerInfo = Versioned::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };

    let Some(call) = exec.nvml.nvmlDeviceGetCoolerInfo else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, coolerInfo.pointer()) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        coolerInfo.put(w);
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetCurrentClockFreqs(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut currentClockFreqs = Versioned::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };

    let Some(call) = exec.nvml.nvmlDeviceGetCurrentClockFreqs else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, currentClockFreqs.pointer()) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        currentClockFreqs.put(w);
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetCurrentClocksEventReasons(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut clocksEventReasons: c_ulonglong = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetCurrentClocksEventReasons else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut clocksEventReasons) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const clocksEventReasons, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetCurrentClocksThrottleReasons(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut clocksThrottleReasons: c_ulonglong = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetCurrentClocksThrottleReasons else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut clocksThrottleReasons) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const clocksThrottleReasons, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetDefaultApplicationsClock(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let clockType: nvmlClockType_t = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut clockMHz: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetDefaultApplicationsClock else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, clockType, &raw mut clockMHz) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const clockMHz, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetDynamicPstatesInfo(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut pDynamicPstatesInfo: nvmlGpuDynamicPstatesInfo_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetDynamicPstatesInfo else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut pDynamicPstatesInfo) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const pDynamicPstatesInfo, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetEnforcedPowerLimit(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut limit: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetEnforcedPowerLimit else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut limit) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const limit, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetFanControlPolicy_v2(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let fan: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut policy: nvmlFanControlPolicy_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetFanControlPolicy_v2 else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, fan, &raw mut policy) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const policy, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetFanSpeed(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut speed: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetFanSpeed else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut speed) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const speed, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetFanSpeedRPM(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut fanSpeed = Versioned::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };

    let Some(call) = exec.nvml.nvmlDeviceGetFanSpeedRPM else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, fanSpeed.pointer()) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        fanSpeed.put(w);
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetFanSpeed_v2(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let fan: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut speed: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetFanSpeed_v2 else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, fan, &raw mut speed) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const speed, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetGpcClkMinMaxVfOffset(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut minOffset: c_int = unsafe { wire::zeroed() };
    let mut maxOffset: c_int = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetGpcClkMinMaxVfOffset else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut minOffset, &raw mut maxOffset) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const minOffset, 1) };
        unsafe { wire::put(w, &raw const maxOffset, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetGpcClkVfOffset(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut offset: c_int = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetGpcClkVfOffset else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut offset) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const offset, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetMarginTemperature(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut marginTempInfo = Versioned::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };

    let Some(call) = exec.nvml.nvmlDeviceGetMarginTemperature else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, marginTempInfo.pointer()) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        marginTempInfo.put(w);
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetMaxClockInfo(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let type_: nvmlClockType_t = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut clock: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetMaxClockInfo else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, type_, &raw mut clock) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const clock, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetMaxCustomerBoostClock(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let clockType: nvmlClockType_t = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut clockMHz: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetMaxCustomerBoostClock else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, clockType, &raw mut clockMHz) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const clockMHz, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetMemClkMinMaxVfOffset(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut minOffset: c_int = unsafe { wire::zeroed() };
    let mut maxOffset: c_int = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetMemClkMinMaxVfOffset else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut minOffset, &raw mut maxOffset) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const minOffset, 1) };
        unsafe { wire::put(w, &raw const maxOffset, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetMemClkVfOffset(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut offset: c_int = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetMemClkVfOffset else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut offset) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const offset, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetMinMaxClockOfPState(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let type_: nvmlClockType_t = Scalar::take(r)?;
    let pstate: nvmlPstates_t = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut minClockMHz: c_uint = unsafe { wire::zeroed() };
    let mut maxClockMHz: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetMinMaxClockOfPState else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_device,
            type_,
            pstate,
            &raw mut minClockMHz,
            &raw mut maxClockMHz,
        )
    };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const minClockMHz, 1) };
        unsafe { wire::put(w, &raw const maxClockMHz, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetMinMaxFanSpeed(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut minSpeed: c_uint = unsafe { wire::zeroed() };
    let mut maxSpeed: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetMinMaxFanSpeed else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut minSpeed, &raw mut maxSpeed) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const minSpeed, 1) };
        unsafe { wire::put(w, &raw const maxSpeed, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetNumFans(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut numFans: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetNumFans else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut numFans) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const numFans, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetPerformanceModes(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut perfModes = Versioned::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };

    let Some(call) = exec.nvml.nvmlDeviceGetPerformanceModes else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, perfModes.pointer()) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        perfModes.put(w);
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetPerformanceState(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut pState: nvmlPstates_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetPerformanceState else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut pState) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const pState, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetPowerManagementDefaultLimit(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut defaultLimit: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetPowerManagementDefaultLimit else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut defaultLimit) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const defaultLimit, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetPowerManagementLimit(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut limit: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetPowerManagementLimit else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut limit) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const limit, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetPowerManagementLimitConstraints(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut minLimit: c_uint = unsafe { wire::zeroed() };
    let mut maxLimit: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetPowerManagementLimitConstraints else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut minLimit, &raw mut maxLimit) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const minLimit, 1) };
        unsafe { wire::put(w, &raw const maxLimit, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetPowerManagementMode(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut mode: nvmlEnableState_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetPowerManagementMode else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut mode) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const mode, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetPowerMizerMode_v1(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut powerMizerMode: nvmlDevicePowerMizerModes_v1_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetPowerMizerMode_v1 else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut powerMizerMode) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const powerMizerMode, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetPowerSource(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut powerSource: nvmlPowerSource_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetPowerSource else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut powerSource) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const powerSource, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetPowerState(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut pState: nvmlPstates_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetPowerState else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut pState) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const pState, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetPowerUsage(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut power: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetPowerUsage else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut power) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const power, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetSupportedClocksEventReasons(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut supportedClocksEventReasons: c_ulonglong = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetSupportedClocksEventReasons else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut supportedClocksEventReasons) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const supportedClocksEventReasons, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetSupportedClocksThrottleReasons(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut supportedClocksThrottleReasons: c_ulonglong = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetSupportedClocksThrottleReasons else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut supportedClocksThrottleReasons) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const supportedClocksThrottleReasons, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetSupportedGraphicsClocks(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let memoryClockMHz: c_uint = Scalar::take(r)?;
    let mut count: c_uint = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut count, 1) }?;
    let there_clocksMHz = wire::take_flag(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut clocksMHz = unsafe {
        wire::room::<c_uint>(if there_clocksMHz {
            Scalar::as_len(count)
        } else {
            0
        })
    }?;
    let room_clocksMHz = clocksMHz.len();

    let Some(call) = exec.nvml.nvmlDeviceGetSupportedGraphicsClocks else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_device,
            memoryClockMHz,
            &raw mut count,
            if there_clocksMHz {
                clocksMHz.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
        )
    };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const count, 1) };
        if there_clocksMHz {
            let count = if status == 0 {
                Scalar::as_len(count).min(room_clocksMHz)
            } else {
                0
            };
            w.u64(count as u64);
            unsafe { wire::put(w, clocksMHz.as_ptr(), count) };
        }
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetSupportedMemoryClocks(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut count: c_uint = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut count, 1) }?;
    let there_clocksMHz = wire::take_flag(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut clocksMHz = unsafe {
        wire::room::<c_uint>(if there_clocksMHz {
            Scalar::as_len(count)
        } else {
            0
        })
    }?;
    let room_clocksMHz = clocksMHz.len();

    let Some(call) = exec.nvml.nvmlDeviceGetSupportedMemoryClocks else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_device,
            &raw mut count,
            if there_clocksMHz {
                clocksMHz.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
        )
    };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const count, 1) };
        if there_clocksMHz {
            let count = if status == 0 {
                Scalar::as_len(count).min(room_clocksMHz)
            } else {
                0
            };
            w.u64(count as u64);
            unsafe { wire::put(w, clocksMHz.as_ptr(), count) };
        }
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetSupportedPerformanceStates(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let size: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut pstates = unsafe { wire::room::<u64>((Scalar::as_len(size)).div_ceil(8)) }?;

    let Some(call) = exec.nvml.nvmlDeviceGetSupportedPerformanceStates else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, pstates.as_mut_ptr().cast(), size) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        {
            let count = Scalar::as_len(size);
            w.u64(count as u64);
            unsafe { wire::put(w, pstates.as_ptr().cast::<u8>(), count) };
        }
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetTargetFanSpeed(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let fan: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut targetSpeed: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetTargetFanSpeed else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, fan, &raw mut targetSpeed) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const targetSpeed, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetTemperature(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let sensorType: nvmlTemperatureSensors_t = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut temp: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetTemperature else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, sensorType, &raw mut temp) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const temp, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetTemperatureThreshold(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let thresholdType: nvmlTemperatureThresholds_t = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut temp: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetTemperatureThreshold else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, thresholdType, &raw mut temp) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const temp, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetTemperatureV(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut temperature = Versioned::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };

    let Some(call) = exec.nvml.nvmlDeviceGetTemperatureV else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, temperature.pointer()) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        temperature.put(w);
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetThermalSettings(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let sensorIndex: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut pThermalSettings: nvmlGpuThermalSettings_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetThermalSettings else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, sensorIndex, &raw mut pThermalSettings) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const pThermalSettings, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetTotalEnergyConsumption(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut energy: c_ulonglong = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetTotalEnergyConsumption else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut energy) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const energy, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetViolationStatus(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let perfPolicyType: nvmlPerfPolicyType_t = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut violTime: nvmlViolationTime_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetViolationStatus else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, perfPolicyType, &raw mut violTime) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const violTime, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceWorkloadPowerProfileGetCurrentProfiles(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut currentProfiles = Versioned::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };

    let Some(call) = exec.nvml.nvmlDeviceWorkloadPowerProfileGetCurrentProfiles else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, currentProfiles.pointer()) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        currentProfiles.put(w);
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceWorkloadPowerProfileGetProfilesInfo(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut profilesInfo = Versioned::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };

    let Some(call) = exec.nvml.nvmlDeviceWorkloadPowerProfileGetProfilesInfo else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, profilesInfo.pointer()) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        profilesInfo.put(w);
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetBridgeChipInfo(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut bridgeHierarchy: nvmlBridgeChipHierarchy_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetBridgeChipInfo else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut bridgeHierarchy) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const bridgeHierarchy, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetBusType(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut type_: nvmlBusType_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetBusType else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut type_) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const type_, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetC2cModeInfoV(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut c2cModeInfo: nvmlC2cModeInfo_v1_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetC2cModeInfoV else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut c2cModeInfo) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const c2cModeInfo, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetCpuAffinity(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let cpuSetSize: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut cpuSet = unsafe { wire::room::<c_ulong>(Scalar::as_len(cpuSetSize)) }?;

    let Some(call) = exec.nvml.nvmlDeviceGetCpuAffinity else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, cpuSetSize, cpuSet.as_mut_ptr()) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        {
            let count = Scalar::as_len(cpuSetSize);
            w.u64(count as u64);
            unsafe { wire::put(w, cpuSet.as_ptr().cast::<c_ulong>(), count) };
        }
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetCpuAffinityWithinScope(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let cpuSetSize: c_uint = Scalar::take(r)?;
    let scope: nvmlAffinityScope_t = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut cpuSet = unsafe { wire::room::<c_ulong>(Scalar::as_len(cpuSetSize)) }?;

    let Some(call) = exec.nvml.nvmlDeviceGetCpuAffinityWithinScope else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, cpuSetSize, cpuSet.as_mut_ptr(), scope) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        {
            let count = Scalar::as_len(cpuSetSize);
            w.u64(count as u64);
            unsafe { wire::put(w, cpuSet.as_ptr().cast::<c_ulong>(), count) };
        }
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetCurrPcieLinkGeneration(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut currLinkGen: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetCurrPcieLinkGeneration else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut currLinkGen) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const currLinkGen, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetCurrPcieLinkWidth(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut currLinkWidth: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetCurrPcieLinkWidth else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut currLinkWidth) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const currLinkWidth, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetGpuFabricInfo(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut gpuFabricInfo: nvmlGpuFabricInfo_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetGpuFabricInfo else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut gpuFabricInfo) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const gpuFabricInfo, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetGpuFabricInfoV(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut gpuFabricInfo = Versioned::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };

    let Some(call) = exec.nvml.nvmlDeviceGetGpuFabricInfoV else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, gpuFabricInfo.pointer()) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        gpuFabricInfo.put(w);
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetGpuMaxPcieLinkGeneration(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut maxLinkGenDevice: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetGpuMaxPcieLinkGeneration else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut maxLinkGenDevice) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const maxLinkGenDevice, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetMaxPcieLinkGeneration(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut maxLinkGen: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetMaxPcieLinkGeneration else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut maxLinkGen) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const maxLinkGen, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetMaxPcieLinkWidth(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut maxLinkWidth: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetMaxPcieLinkWidth else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut maxLinkWidth) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const maxLinkWidth, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetMemoryAffinity(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let nodeSetSize: c_uint = Scalar::take(r)?;
    let scope: nvmlAffinityScope_t = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut nodeSet = unsafe { wire::room::<c_ulong>(Scalar::as_len(nodeSetSize)) }?;

    let Some(call) = exec.nvml.nvmlDeviceGetMemoryAffinity else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, nodeSetSize, nodeSet.as_mut_ptr(), scope) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        {
            let count = Scalar::as_len(nodeSetSize);
            w.u64(count as u64);
            unsafe { wire::put(w, nodeSet.as_ptr().cast::<c_ulong>(), count) };
        }
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetNumaNodeId(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut node: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetNumaNodeId else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut node) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const node, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetNvLinkCapability(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let link: c_uint = Scalar::take(r)?;
    let capability: nvmlNvLinkCapability_t = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut capResult: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetNvLinkCapability else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, link, capability, &raw mut capResult) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const capResult, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetNvLinkErrorCounter(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let link: c_uint = Scalar::take(r)?;
    let counter: nvmlNvLinkErrorCounter_t = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut counterValue: c_ulonglong = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetNvLinkErrorCounter else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, link, counter, &raw mut counterValue) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const counterValue, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetNvLinkInfo(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut info = Versioned::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };

    let Some(call) = exec.nvml.nvmlDeviceGetNvLinkInfo else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, info.pointer()) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        info.put(w);
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetNvLinkRemoteDeviceType(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let link: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut pNvLinkDeviceType: nvmlIntNvLinkDeviceType_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetNvLinkRemoteDeviceType else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, link, &raw mut pNvLinkDeviceType) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const pNvLinkDeviceType, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetNvLinkRemotePciInfo_v2(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let link: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut pci: nvmlPciInfo_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetNvLinkRemotePciInfo_v2 else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, link, &raw mut pci) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const pci, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetNvLinkState(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let link: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut isActive: nvmlEnableState_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetNvLinkState else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, link, &raw mut isActive) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const isActive, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetNvLinkUtilizationControl(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let link: c_uint = Scalar::take(r)?;
    let counter: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut control: nvmlNvLinkUtilizationControl_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetNvLinkUtilizationControl else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, link, counter, &raw mut control) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const control, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetNvLinkUtilizationCounter(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let link: c_uint = Scalar::take(r)?;
    let counter: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut rxcounter: c_ulonglong = unsafe { wire::zeroed() };
    let mut txcounter: c_ulonglong = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetNvLinkUtilizationCounter else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_device,
            link,
            counter,
            &raw mut rxcounter,
            &raw mut txcounter,
        )
    };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const rxcounter, 1) };
        unsafe { wire::put(w, &raw const txcounter, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetNvLinkVersion(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let link: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut version: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetNvLinkVersion else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, link, &raw mut version) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const version, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetNvlinkBwMode(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut getBwMode = Versioned::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };

    let Some(call) = exec.nvml.nvmlDeviceGetNvlinkBwMode else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, getBwMode.pointer()) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        getBwMode.put(w);
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetNvlinkSupportedBwModes(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut supportedBwMode = Versioned::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };

    let Some(call) = exec.nvml.nvmlDeviceGetNvlinkSupportedBwModes else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, supportedBwMode.pointer()) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        supportedBwMode.put(w);
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetP2PStatus(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device1 = r.u64()?;
    let device2 = r.u64()?;
    let p2pIndex: nvmlGpuP2PCapsIndex_t = Scalar::take(r)?;
    r.end()?;
    let real_device1 = match exec.handles.real(Kind::NvmlDevice, device1) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let real_device2 = match exec.handles.real(Kind::NvmlDevice, device2) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut p2pStatus: nvmlGpuP2PStatus_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetP2PStatus else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device1, real_device2, p2pIndex, &raw mut p2pStatus) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const p2pStatus, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetPciInfoExt(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut pci = Versioned::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };

    let Some(call) = exec.nvml.nvmlDeviceGetPciInfoExt else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, pci.pointer()) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        pci.put(w);
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetPciInfo_v3(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut pci: nvmlPciInfo_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetPciInfo_v3 else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut pci) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const pci, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetPcieLinkMaxSpeed(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut maxSpeed: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetPcieLinkMaxSpeed else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut maxSpeed) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const maxSpeed, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetPcieReplayCounter(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut value: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetPcieReplayCounter else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut value) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const value, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetPcieSpeed(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut pcieSpeed: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetPcieSpeed else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut pcieSpeed) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const pcieSpeed, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetPcieThroughput(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let counter: nvmlPcieUtilCounter_t = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut value: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetPcieThroughput else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, counter, &raw mut value) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const value, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetTopologyCommonAncestor(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device1 = r.u64()?;
    let device2 = r.u64()?;
    r.end()?;
    let real_device1 = match exec.handles.real(Kind::NvmlDevice, device1) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let real_device2 = match exec.handles.real(Kind::NvmlDevice, device2) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut pathInfo: nvmlGpuTopologyLevel_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetTopologyCommonAncestor else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device1, real_device2, &raw mut pathInfo) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const pathInfo, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetTopologyNearestGpus(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let level: nvmlGpuTopologyLevel_t = Scalar::take(r)?;
    let mut count: c_uint = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut count, 1) }?;
    let there_deviceArray = wire::take_flag(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut deviceArray: Vec<nvmlDevice_t> = wire::room_for_handles(if there_deviceArray {
        Scalar::as_len(count)
    } else {
        0
    })?;

    let Some(call) = exec.nvml.nvmlDeviceGetTopologyNearestGpus else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_device,
            level,
            &raw mut count,
            if there_deviceArray {
                deviceArray.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
        )
    };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const count, 1) };
        if there_deviceArray {
            let count = if status == 0 {
                Scalar::as_len(count).min(deviceArray.len())
            } else {
                0
            };
            w.u64(count as u64);
            for real in deviceArray.iter().take(count) {
                w.u64(exec.handles.known(Kind::NvmlDevice, real.cast()));
            }
        }
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceOnSameBoard(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let device1 = r.u64()?;
    let device2 = r.u64()?;
    r.end()?;
    let real_device1 = match exec.handles.real(Kind::NvmlDevice, device1) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let real_device2 = match exec.handles.real(Kind::NvmlDevice, device2) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut onSameBoard: c_int = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceOnSameBoard else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device1, real_device2, &raw mut onSameBoard) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const onSameBoard, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetAccountingBufferSize(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut bufferSize: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetAccountingBufferSize else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut bufferSize) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const bufferSize, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetAccountingMode(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut mode: nvmlEnableState_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetAccountingMode else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut mode) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const mode, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetAccountingPids(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut count: c_uint = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut count, 1) }?;
    let there_pids = wire::take_flag(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut pids =
        unsafe { wire::room::<c_uint>(if there_pids { Scalar::as_len(count) } else { 0 }) }?;
    let room_pids = pids.len();

    let Some(call) = exec.nvml.nvmlDeviceGetAccountingPids else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_device,
            &raw mut count,
            if there_pids {
                pids.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
        )
    };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const count, 1) };
        if there_pids {
            let count = if status == 0 {
                Scalar::as_len(count).min(room_pids)
            } else {
                0
            };
            w.u64(count as u64);
            unsafe { wire::put(w, pids.as_ptr(), count) };
        }
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetAccountingStats(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let pid: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut stats: nvmlAccountingStats_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetAccountingStats else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, pid, &raw mut stats) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const stats, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetComputeRunningProcesses(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut infoCount: c_uint = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut infoCount, 1) }?;
    let there_infos = wire::take_flag(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut infos = unsafe {
        wire::room::<nvmlProcessInfo_v1_t>(if there_infos {
            Scalar::as_len(infoCount)
        } else {
            0
        })
    }?;
    let room_infos = infos.len();

    let Some(call) = exec.nvml.nvmlDeviceGetComputeRunningProcesses else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_device,
            &raw mut infoCount,
            if there_infos {
                infos.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
        )
    };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const infoCount, 1) };
        if there_infos {
            let count = if status == 0 {
                Scalar::as_len(infoCount).min(room_infos)
            } else {
                0
            };
            w.u64(count as u64);
            unsafe { wire::put(w, infos.as_ptr(), count) };
        }
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetComputeRunningProcesses_v2(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut infoCount: c_uint = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut infoCount, 1) }?;
    let there_infos = wire::take_flag(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut infos = unsafe {
        wire::room::<nvmlProcessInfo_v2_t>(if there_infos {
            Scalar::as_len(infoCount)
        } else {
            0
        })
    }?;
    let room_infos = infos.len();

    let Some(call) = exec.nvml.nvmlDeviceGetComputeRunningProcesses_v2 else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_device,
            &raw mut infoCount,
            if there_infos {
                infos.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
        )
    };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const infoCount, 1) };
        if there_infos {
            let count = if status == 0 {
                Scalar::as_len(infoCount).min(room_infos)
            } else {
                0
            };
            w.u64(count as u64);
            unsafe { wire::put(w, infos.as_ptr(), count) };
        }
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetComputeRunningProcesses_v3(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut infoCount: c_uint = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut infoCount, 1) }?;
    let there_infos = wire::take_flag(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut infos = unsafe {
        wire::room::<nvmlProcessInfo_t>(if there_infos {
            Scalar::as_len(infoCount)
        } else {
            0
        })
    }?;
    let room_infos = infos.len();

    let Some(call) = exec.nvml.nvmlDeviceGetComputeRunningProcesses_v3 else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_device,
            &raw mut infoCount,
            if there_infos {
                infos.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
        )
    };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const infoCount, 1) };
        if there_infos {
            let count = if status == 0 {
                Scalar::as_len(infoCount).min(room_infos)
            } else {
                0
            };
            w.u64(count as u64);
            unsafe { wire::put(w, infos.as_ptr(), count) };
        }
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetDecoderUtilization(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut utilization: c_uint = unsafe { wire::zeroed() };
    let mut samplingPeriodUs: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetDecoderUtilization else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut utilization, &raw mut samplingPeriodUs) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const utilization, 1) };
        unsafe { wire::put(w, &raw const samplingPeriodUs, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetEncoderCapacity(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let encoderQueryType: nvmlEncoderType_t = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut encoderCapacity: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetEncoderCapacity else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, encoderQueryType, &raw mut encoderCapacity) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const encoderCapacity, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetEncoderSessions(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut sessionCount: c_uint = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut sessionCount, 1) }?;
    let there_sessionInfos = wire::take_flag(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut sessionInfos = unsafe {
        wire::room::<nvmlEncoderSessionInfo_t>(if there_sessionInfos {
            Scalar::as_len(sessionCount)
        } else {
            0
        })
    }?;
    let room_sessionInfos = sessionInfos.len();

    let Some(call) = exec.nvml.nvmlDeviceGetEncoderSessions else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_device,
            &raw mut sessionCount,
            if there_sessionInfos {
                sessionInfos.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
        )
    };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const sessionCount, 1) };
        if there_sessionInfos {
            let count = if status == 0 {
                Scalar::as_len(sessionCount).min(room_sessionInfos)
            } else {
                0
            };
            w.u64(count as u64);
            unsafe { wire::put(w, sessionInfos.as_ptr(), count) };
        }
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetEncoderStats(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut sessionCount: c_uint = unsafe { wire::zeroed() };
    let mut averageFps: c_uint = unsafe { wire::zeroed() };
    let mut averageLatency: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetEncoderStats else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_device,
            &raw mut sessionCount,
            &raw mut averageFps,
            &raw mut averageLatency,
        )
    };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const sessionCount, 1) };
        unsafe { wire::put(w, &raw const averageFps, 1) };
        unsafe { wire::put(w, &raw const averageLatency, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetEncoderUtilization(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut utilization: c_uint = unsafe { wire::zeroed() };
    let mut samplingPeriodUs: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetEncoderUtilization else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut utilization, &raw mut samplingPeriodUs) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const utilization, 1) };
        unsafe { wire::put(w, &raw const samplingPeriodUs, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetFBCSessions(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut sessionCount: c_uint = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut sessionCount, 1) }?;
    let there_sessionInfo = wire::take_flag(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut sessionInfo = unsafe {
        wire::room::<nvmlFBCSessionInfo_t>(if there_sessionInfo {
            Scalar::as_len(sessionCount)
        } else {
            0
        })
    }?;
    let room_sessionInfo = sessionInfo.len();

    let Some(call) = exec.nvml.nvmlDeviceGetFBCSessions else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_device,
            &raw mut sessionCount,
            if there_sessionInfo {
                sessionInfo.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
        )
    };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const sessionCount, 1) };
        if there_sessionInfo {
            let count = if status == 0 {
                Scalar::as_len(sessionCount).min(room_sessionInfo)
            } else {
                0
            };
            w.u64(count as u64);
            unsafe { wire::put(w, sessionInfo.as_ptr(), count) };
        }
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetFBCStats(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut fbcStats: nvmlFBCStats_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetFBCStats else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut fbcStats) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const fbcStats, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetFieldValues(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let valuesCount: c_int = Scalar::take(r)?;
    let mut values = unsafe { wire::take_vec::<nvmlFieldValue_t>(r) }?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    if values.len() != Scalar::as_len(valuesCount) {
        return Err(mismatch("values", values.len()).into());
    }

    let Some(call) = exec.nvml.nvmlDeviceGetFieldValues else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, valuesCount, values.as_mut_ptr()) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        {
            let count = Scalar::as_len(valuesCount);
            w.u64(count as u64);
            unsafe { wire::put(w, values.as_ptr().cast::<nvmlFieldValue_t>(), count) };
        }
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetGraphicsRunningProcesses(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut infoCount: c_uint = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut infoCount, 1) }?;
    let there_infos = wire::take_flag(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut infos = unsafe {
        wire::room::<nvmlProcessInfo_v1_t>(if there_infos {
            Scalar::as_len(infoCount)
        } else {
            0
        })
    }?;
    let room_infos = infos.len();

    let Some(call) = exec.nvml.nvmlDeviceGetGraphicsRunningProcesses else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_device,
            &raw mut infoCount,
            if there_infos {
                infos.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
        )
    };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const infoCount, 1) };
        if there_infos {
            let count = if status == 0 {
                Scalar::as_len(infoCount).min(room_infos)
            } else {
                0
            };
            w.u64(count as u64);
            unsafe { wire::put(w, infos.as_ptr(), count) };
        }
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetGraphicsRunningProcesses_v2(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut infoCount: c_uint = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut infoCount, 1) }?;
    let there_infos = wire::take_flag(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut infos = unsafe {
        wire::room::<nvmlProcessInfo_v2_t>(if there_infos {
            Scalar::as_len(infoCount)
        } else {
            0
        })
    }?;
    let room_infos = infos.len();

    let Some(call) = exec.nvml.nvmlDeviceGetGraphicsRunningProcesses_v2 else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_device,
            &raw mut infoCount,
            if there_infos {
                infos.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
        )
    };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const infoCount, 1) };
        if there_infos {
            let count = if status == 0 {
                Scalar::as_len(infoCount).min(room_infos)
            } else {
                0
            };
            w.u64(count as u64);
            unsafe { wire::put(w, infos.as_ptr(), count) };
        }
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetGraphicsRunningProcesses_v3(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut infoCount: c_uint = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut infoCount, 1) }?;
    let there_infos = wire::take_flag(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut infos = unsafe {
        wire::room::<nvmlProcessInfo_t>(if there_infos {
            Scalar::as_len(infoCount)
        } else {
            0
        })
    }?;
    let room_infos = infos.len();

    let Some(call) = exec.nvml.nvmlDeviceGetGraphicsRunningProcesses_v3 else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_device,
            &raw mut infoCount,
            if there_infos {
                infos.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
        )
    };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const infoCount, 1) };
        if there_infos {
            let count = if status == 0 {
                Scalar::as_len(infoCount).min(room_infos)
            } else {
                0
            };
            w.u64(count as u64);
            unsafe { wire::put(w, infos.as_ptr(), count) };
        }
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetJpgUtilization(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut utilization: c_uint = unsafe { wire::zeroed() };
    let mut samplingPeriodUs: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetJpgUtilization else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut utilization, &raw mut samplingPeriodUs) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const utilization, 1) };
        unsafe { wire::put(w, &raw const samplingPeriodUs, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetMPSComputeRunningProcesses(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut infoCount: c_uint = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut infoCount, 1) }?;
    let there_infos = wire::take_flag(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut infos = unsafe {
        wire::room::<nvmlProcessInfo_v1_t>(if there_infos {
            Scalar::as_len(infoCount)
        } else {
            0
        })
    }?;
    let room_infos = infos.len();

    let Some(call) = exec.nvml.nvmlDeviceGetMPSComputeRunningProcesses else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_device,
            &raw mut infoCount,
            if there_infos {
                infos.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
        )
    };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const infoCount, 1) };
        if there_infos {
            let count = if status == 0 {
                Scalar::as_len(infoCount).min(room_infos)
            } else {
                0
            };
            w.u64(count as u64);
            unsafe { wire::put(w, infos.as_ptr(), count) };
        }
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetMPSComputeRunningProcesses_v2(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut infoCount: c_uint = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut infoCount, 1) }?;
    let there_infos = wire::take_flag(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut infos = unsafe {
        wire::room::<nvmlProcessInfo_v2_t>(if there_infos {
            Scalar::as_len(infoCount)
        } else {
            0
        })
    }?;
    let room_infos = infos.len();

    let Some(call) = exec.nvml.nvmlDeviceGetMPSComputeRunningProcesses_v2 else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_device,
            &raw mut infoCount,
            if there_infos {
                infos.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
        )
    };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const infoCount, 1) };
        if there_infos {
            let count = if status == 0 {
                Scalar::as_len(infoCount).min(room_infos)
            } else {
                0
            };
            w.u64(count as u64);
            unsafe { wire::put(w, infos.as_ptr(), count) };
        }
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetMPSComputeRunningProcesses_v3(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let mut infoCount: c_uint = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut infoCount, 1) }?;
    let there_infos = wire::take_flag(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut infos = unsafe {
        wire::room::<nvmlProcessInfo_t>(if there_infos {
            Scalar::as_len(infoCount)
        } else {
            0
        })
    }?;
    let room_infos = infos.len();

    let Some(call) = exec.nvml.nvmlDeviceGetMPSComputeRunningProcesses_v3 else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_device,
            &raw mut infoCount,
            if there_infos {
                infos.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
        )
    };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const infoCount, 1) };
        if there_infos {
            let count = if status == 0 {
                Scalar::as_len(infoCount).min(room_infos)
            } else {
                0
            };
            w.u64(count as u64);
            unsafe { wire::put(w, infos.as_ptr(), count) };
        }
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetOfaUtilization(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut utilization: c_uint = unsafe { wire::zeroed() };
    let mut samplingPeriodUs: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetOfaUtilization else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut utilization, &raw mut samplingPeriodUs) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const utilization, 1) };
        unsafe { wire::put(w, &raw const samplingPeriodUs, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetProcessUtilization(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    let there_utilization = wire::take_flag(r)?;
    let mut processSamplesCount: c_uint = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut processSamplesCount, 1) }?;
    let lastSeenTimeStamp: c_ulonglong = Scalar::take(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut utilization = unsafe {
        wire::room::<nvmlProcessUtilizationSample_t>(if there_utilization {
            Scalar::as_len(processSamplesCount)
        } else {
            0
        })
    }?;
    let room_utilization = utilization.len();

    let Some(call) = exec.nvml.nvmlDeviceGetProcessUtilization else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_device,
            if there_utilization {
                utilization.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
            &raw mut processSamplesCount,
            lastSeenTimeStamp,
        )
    };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        if there_utilization {
            let count = if status == 0 {
                Scalar::as_len(processSamplesCount).min(room_utilization)
            } else {
                0
            };
            w.u64(count as u64);
            unsafe { wire::put(w, utilization.as_ptr(), count) };
        }
        unsafe { wire::put(w, &raw const processSamplesCount, 1) };
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetSamples(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let device = r.u64()?;
    let type_: nvmlSamplingType_t = Scalar::take(r)?;
    let lastSeenTimeStamp: c_ulonglong = Scalar::take(r)?;
    let mut sampleCount: c_uint = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut sampleCount, 1) }?;
    let there_samples = wire::take_flag(r)?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut sampleValType: nvmlValueType_t = unsafe { wire::zeroed() };
    let mut samples = unsafe {
        wire::room::<nvmlSample_t>(if there_samples {
            Scalar::as_len(sampleCount)
        } else {
            0
        })
    }?;
    let room_samples = samples.len();

    let Some(call) = exec.nvml.nvmlDeviceGetSamples else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_device,
            type_,
            lastSeenTimeStamp,
            &raw mut sampleValType,
            &raw mut sampleCount,
            if there_samples {
                samples.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
        )
    };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const sampleValType, 1) };
        unsafe { wire::put(w, &raw const sampleCount, 1) };
        if there_samples {
            let count = if status == 0 {
                Scalar::as_len(sampleCount).min(room_samples)
            } else {
                0
            };
            w.u64(count as u64);
            unsafe { wire::put(w, samples.as_ptr(), count) };
        }
    }
    Ok(status.cast_signed())
}

fn nvmlDeviceGetUtilizationRates(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device = r.u64()?;
    r.end()?;
    let real_device = match exec.handles.real(Kind::NvmlDevice, device) {
        Ok(real) => real.cast(),
        Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),
    };
    let mut utilization: nvmlUtilization_t = unsafe { wire::zeroed() };

    let Some(call) = exec.nvml.nvmlDeviceGetUtilizationRates else {
        return Ok(NVML_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_device, &raw mut utilization) };
    if status == NVML_SUCCESS || status == NVML_ERROR_INSUFFICIENT_SIZE {
        unsafe { wire::put(w, &raw const utilization, 1) };
    }
    Ok(status.cast_signed())
}
