//! The rest of NVML: everything that the stand-in does not have.
//!
//! The names are exported all the same, as programs ask for many of them and take
//! `NVML_ERROR_NOT_SUPPORTED` for the answer of a device without the feature, but a missing name for
//! an old library.

use super::{INVALID_ARGUMENT, NO_PERMISSION, NOT_SUPPORTED, nvml, state};

nvml! {
    /// Answers `NVML_ERROR_NOT_SUPPORTED`; arguments are not looked at.
    fn
        nvmlComputeInstanceGetInfo, nvmlDeviceClearCpuAffinity, nvmlDeviceGetAPIRestriction,
        nvmlDeviceGetAccountingBufferSize, nvmlDeviceGetAccountingPids,
        nvmlDeviceGetAccountingStats, nvmlDeviceGetAccountingStats_v2, nvmlDeviceGetActiveVgpus,
        nvmlDeviceGetAdaptiveClockInfoStatus, nvmlDeviceGetAdaptiveTgpModeInfo_v1,
        nvmlDeviceGetAddressingMode, nvmlDeviceGetAttributes, nvmlDeviceGetAutoBoostedClocksEnabled,
        nvmlDeviceGetBBXTimeData_v1, nvmlDeviceGetBankRemapperStatus_v1,
        nvmlDeviceGetBoardPartNumber, nvmlDeviceGetBridgeChipInfo, nvmlDeviceGetBusType,
        nvmlDeviceGetC2cModeInfoV, nvmlDeviceGetCapabilities, nvmlDeviceGetClkMonStatus,
        nvmlDeviceGetClockOffsets, nvmlDeviceGetConfComputeGpuAttestationReport,
        nvmlDeviceGetConfComputeGpuCertificate, nvmlDeviceGetConfComputeMemSizeInfo,
        nvmlDeviceGetConfComputeProtectedMemoryUsage, nvmlDeviceGetCoolerInfo,
        nvmlDeviceGetCpuAffinity, nvmlDeviceGetCpuAffinityWithinScope, nvmlDeviceGetCreatableVgpus,
        nvmlDeviceGetCurrPcieLinkGeneration, nvmlDeviceGetCurrPcieLinkWidth,
        nvmlDeviceGetCurrentClockFreqs, nvmlDeviceGetDecoderUtilization,
        nvmlDeviceGetDefaultEccMode, nvmlDeviceGetDetailedEccErrors,
        nvmlDeviceGetDramEncryptionMode, nvmlDeviceGetDriverModel, nvmlDeviceGetDriverModel_v2,
        nvmlDeviceGetDynamicPstatesInfo, nvmlDeviceGetEncoderCapacity, nvmlDeviceGetEncoderSessions,
        nvmlDeviceGetEncoderStats, nvmlDeviceGetEncoderUtilization, nvmlDeviceGetFBCSessions,
        nvmlDeviceGetFBCStats, nvmlDeviceGetFanControlPolicy_v2, nvmlDeviceGetFanSpeed,
        nvmlDeviceGetFanSpeedRPM, nvmlDeviceGetFanSpeed_v2, nvmlDeviceGetGpcClkMinMaxVfOffset,
        nvmlDeviceGetGpcClkVfOffset, nvmlDeviceGetGpuFabricInfo, nvmlDeviceGetGpuFabricInfoV,
        nvmlDeviceGetGpuFabricInfo_v4, nvmlDeviceGetGpuInstancePossiblePlacements,
        nvmlDeviceGetGpuInstancePossiblePlacements_v2, nvmlDeviceGetGpuInstanceProfileInfoByIdV,
        nvmlDeviceGetGpuInstanceProfileInfoV, nvmlDeviceGetGpuInstanceRemainingCapacity,
        nvmlDeviceGetGpuMaxPcieLinkGeneration, nvmlDeviceGetGpuOperationMode,
        nvmlDeviceGetGridLicensableFeatures, nvmlDeviceGetGridLicensableFeatures_v2,
        nvmlDeviceGetGridLicensableFeatures_v3, nvmlDeviceGetGspFirmwareMode,
        nvmlDeviceGetGspFirmwareVersion, nvmlDeviceGetHandleBySerial, nvmlDeviceGetHandleByUUIDV,
        nvmlDeviceGetHostVgpuMode, nvmlDeviceGetHostname_v1,
        nvmlDeviceGetInforomConfigurationChecksum, nvmlDeviceGetInforomImageVersion,
        nvmlDeviceGetInforomVersion, nvmlDeviceGetIrqNum, nvmlDeviceGetLastBBXFlushTime,
        nvmlDeviceGetMaxCustomerBoostClock, nvmlDeviceGetMaxPcieLinkGeneration,
        nvmlDeviceGetMaxPcieLinkWidth, nvmlDeviceGetMemClkMinMaxVfOffset,
        nvmlDeviceGetMemClkVfOffset, nvmlDeviceGetMemoryAffinity, nvmlDeviceGetMemoryLimits_v1,
        nvmlDeviceGetMinMaxClockOfPState, nvmlDeviceGetMinMaxFanSpeed, nvmlDeviceGetModuleId,
        nvmlDeviceGetNumFans, nvmlDeviceGetNumaNodeId, nvmlDeviceGetNvLinkCapability,
        nvmlDeviceGetNvLinkErrorCounter, nvmlDeviceGetNvLinkInfo,
        nvmlDeviceGetNvLinkRemoteDeviceType, nvmlDeviceGetNvLinkRemotePciInfo,
        nvmlDeviceGetNvLinkRemotePciInfo_v2, nvmlDeviceGetNvLinkState,
        nvmlDeviceGetNvLinkTelemetrySamples_v1, nvmlDeviceGetNvLinkUtilizationControl,
        nvmlDeviceGetNvLinkUtilizationCounter, nvmlDeviceGetNvLinkVersion,
        nvmlDeviceGetNvlinkBwMode, nvmlDeviceGetNvlinkSupportedBwModes,
        nvmlDeviceGetPcieLinkMaxSpeed, nvmlDeviceGetPcieReplayCounter, nvmlDeviceGetPcieSpeed,
        nvmlDeviceGetPcieThroughput, nvmlDeviceGetPdi, nvmlDeviceGetPerformanceModes,
        nvmlDeviceGetPgpuMetadataString, nvmlDeviceGetPlatformInfo,
        nvmlDeviceGetPowerManagementMode, nvmlDeviceGetPowerMizerMode_v1, nvmlDeviceGetPowerSource,
        nvmlDeviceGetPowerUsage, nvmlDeviceGetRemappedRows, nvmlDeviceGetRetiredPages,
        nvmlDeviceGetRetiredPagesPendingStatus, nvmlDeviceGetRetiredPages_v2, nvmlDeviceGetSamples,
        nvmlDeviceGetSerial, nvmlDeviceGetSramUniqueUncorrectedEccErrorCounts,
        nvmlDeviceGetSupportedGraphicsClocks, nvmlDeviceGetSupportedMemoryClocks,
        nvmlDeviceGetSupportedPerformanceStates, nvmlDeviceGetSupportedVgpus,
        nvmlDeviceGetTargetFanSpeed, nvmlDeviceGetTemperatureThreshold,
        nvmlDeviceGetThermalSettings, nvmlDeviceGetTopologyNearestGpus,
        nvmlDeviceGetTotalEnergyConsumption, nvmlDeviceGetVbiosVersion,
        nvmlDeviceGetVgpuCapabilities, nvmlDeviceGetVgpuHeterogeneousMode,
        nvmlDeviceGetVgpuInstancesUtilizationInfo, nvmlDeviceGetVgpuMetadata,
        nvmlDeviceGetVgpuProcessUtilization, nvmlDeviceGetVgpuProcessesUtilizationInfo,
        nvmlDeviceGetVgpuSchedulerCapabilities, nvmlDeviceGetVgpuSchedulerLog,
        nvmlDeviceGetVgpuSchedulerLog_v2, nvmlDeviceGetVgpuSchedulerState,
        nvmlDeviceGetVgpuSchedulerState_v2, nvmlDeviceGetVgpuTypeCreatablePlacements,
        nvmlDeviceGetVgpuTypeSupportedPlacements, nvmlDeviceGetVgpuUtilization,
        nvmlDeviceGetViolationStatus, nvmlDeviceGetVirtualizationMode,
        nvmlDevicePerfMetricsGetSamples_v1, nvmlDeviceQueryDrainState, nvmlDeviceReadPRMCounters_v1,
        nvmlDeviceSetCpuAffinity, nvmlDeviceSetDriverModel, nvmlDeviceValidateInforom,
        nvmlDeviceWorkloadPowerProfileGetCurrentProfiles,
        nvmlDeviceWorkloadPowerProfileGetProfilesInfo, nvmlEventSetGetContextCount_v1,
        nvmlEventSetGetContextData_v1, nvmlEventSetGetContextInfo_v1,
        nvmlEventSetGetGpuOperationalEventContextLegacyXid_v1,
        nvmlEventSetRegisterGpuOperationalEvents_v1, nvmlEventSetWait_v3,
        nvmlGetBlacklistDeviceInfoByIndex, nvmlGetExcludedDeviceInfoByIndex,
        nvmlGetVgpuCompatibility, nvmlGetVgpuDriverCapabilities, nvmlGetVgpuVersion,
        nvmlGpmQueryIfStreamingEnabled, nvmlGpuInstanceGetActiveVgpus,
        nvmlGpuInstanceGetComputeInstancePossiblePlacements,
        nvmlGpuInstanceGetComputeInstanceProfileInfoV,
        nvmlGpuInstanceGetComputeInstanceRemainingCapacity, nvmlGpuInstanceGetCreatableVgpus,
        nvmlGpuInstanceGetVgpuHeterogeneousMode, nvmlGpuInstanceGetVgpuSchedulerLog,
        nvmlGpuInstanceGetVgpuSchedulerLog_v2, nvmlGpuInstanceGetVgpuSchedulerState,
        nvmlGpuInstanceGetVgpuSchedulerState_v2, nvmlGpuInstanceGetVgpuTypeCreatablePlacements,
        nvmlSystemGetCPER_v1, nvmlSystemGetConfComputeCapabilities,
        nvmlSystemGetConfComputeGpusReadyState, nvmlSystemGetConfComputeKeyRotationThresholdInfo,
        nvmlSystemGetConfComputeSettings, nvmlSystemGetDriverBranch, nvmlSystemGetNvlinkBwMode,
        nvmlSystemGetTopologyGpuSet, nvmlVgpuInstanceGetAccountingMode,
        nvmlVgpuInstanceGetAccountingPids, nvmlVgpuInstanceGetAccountingStats,
        nvmlVgpuInstanceGetEccMode, nvmlVgpuInstanceGetEncoderCapacity,
        nvmlVgpuInstanceGetEncoderSessions, nvmlVgpuInstanceGetEncoderStats,
        nvmlVgpuInstanceGetFBCSessions, nvmlVgpuInstanceGetFBCStats, nvmlVgpuInstanceGetFbUsage,
        nvmlVgpuInstanceGetFrameRateLimit, nvmlVgpuInstanceGetGpuInstanceId,
        nvmlVgpuInstanceGetGpuPciId, nvmlVgpuInstanceGetLicenseInfo,
        nvmlVgpuInstanceGetLicenseInfo_v2, nvmlVgpuInstanceGetLicenseStatus,
        nvmlVgpuInstanceGetMdevUUID, nvmlVgpuInstanceGetMetadata, nvmlVgpuInstanceGetPlacementId,
        nvmlVgpuInstanceGetRuntimeStateSize, nvmlVgpuInstanceGetType, nvmlVgpuInstanceGetUUID,
        nvmlVgpuInstanceGetVmDriverVersion, nvmlVgpuInstanceGetVmID, nvmlVgpuTypeGetBAR1Info,
        nvmlVgpuTypeGetCapabilities, nvmlVgpuTypeGetClass, nvmlVgpuTypeGetDeviceID,
        nvmlVgpuTypeGetFbReservation, nvmlVgpuTypeGetFrameRateLimit, nvmlVgpuTypeGetFramebufferSize,
        nvmlVgpuTypeGetGpuInstanceProfileId, nvmlVgpuTypeGetGspHeapSize, nvmlVgpuTypeGetLicense,
        nvmlVgpuTypeGetMaxInstances, nvmlVgpuTypeGetMaxInstancesPerGpuInstance,
        nvmlVgpuTypeGetMaxInstancesPerVm, nvmlVgpuTypeGetName, nvmlVgpuTypeGetNumDisplayHeads,
        nvmlVgpuTypeGetResolution
    () {
        state()?;
        Err(NOT_SUPPORTED)
    }

    /// Answers `NVML_ERROR_NO_PERMISSION`, as a driver answers users who are not root; arguments are not looked at.
    fn
        nvmlComputeInstanceDestroy, nvmlDeviceClearAccountingPids, nvmlDeviceClearEccErrorCounts,
        nvmlDeviceClearFieldValues, nvmlDeviceCreateGpuInstance,
        nvmlDeviceCreateGpuInstanceWithPlacement, nvmlDeviceDiscoverGpus,
        nvmlDeviceFreezeNvLinkUtilizationCounter, nvmlDeviceModifyDrainState,
        nvmlDevicePowerSmoothingActivatePresetProfile, nvmlDevicePowerSmoothingSetState,
        nvmlDevicePowerSmoothingUpdatePresetProfileParam, nvmlDeviceReadWritePRM_v1,
        nvmlDeviceRemoveGpu, nvmlDeviceRemoveGpu_v2, nvmlDeviceResetApplicationsClocks,
        nvmlDeviceResetGpuLockedClocks, nvmlDeviceResetMemoryLockedClocks,
        nvmlDeviceResetNvLinkErrorCounters, nvmlDeviceResetNvLinkUtilizationCounter,
        nvmlDeviceSetAPIRestriction, nvmlDeviceSetAccountingMode, nvmlDeviceSetAdaptiveTgpMode_v1,
        nvmlDeviceSetApplicationsClocks, nvmlDeviceSetAutoBoostedClocksEnabled,
        nvmlDeviceSetClockOffsets, nvmlDeviceSetComputeMode,
        nvmlDeviceSetConfComputeUnprotectedMemSize, nvmlDeviceSetDefaultAutoBoostedClocksEnabled,
        nvmlDeviceSetDefaultFanSpeed_v2, nvmlDeviceSetDramEncryptionMode, nvmlDeviceSetEccMode,
        nvmlDeviceSetFanControlPolicy, nvmlDeviceSetFanSpeed_v2, nvmlDeviceSetGpcClkVfOffset,
        nvmlDeviceSetGpuLockedClocks, nvmlDeviceSetGpuOperationMode, nvmlDeviceSetHostname_v1,
        nvmlDeviceSetMemClkVfOffset, nvmlDeviceSetMemoryLimits_v1, nvmlDeviceSetMemoryLockedClocks,
        nvmlDeviceSetNvLinkDeviceLowPowerThreshold, nvmlDeviceSetNvLinkUtilizationControl,
        nvmlDeviceSetNvlinkBwMode, nvmlDeviceSetNvlinkBwModeAsync_v1, nvmlDeviceSetPersistenceMode,
        nvmlDeviceSetPowerManagementLimit, nvmlDeviceSetPowerManagementLimit_v2,
        nvmlDeviceSetPowerMizerMode_v1, nvmlDeviceSetRusdSettings_v1,
        nvmlDeviceSetTemperatureThreshold, nvmlDeviceSetVgpuCapabilities,
        nvmlDeviceSetVgpuHeterogeneousMode, nvmlDeviceSetVgpuSchedulerState,
        nvmlDeviceSetVgpuSchedulerState_v2, nvmlDeviceSetVirtualizationMode,
        nvmlDeviceVgpuForceGspUnload, nvmlDeviceWorkloadPowerProfileClearRequestedProfiles,
        nvmlDeviceWorkloadPowerProfileSetRequestedProfiles,
        nvmlDeviceWorkloadPowerProfileUpdateProfiles_v1, nvmlGpmSetStreamingEnabled,
        nvmlGpuInstanceCreateComputeInstance, nvmlGpuInstanceCreateComputeInstanceWithPlacement,
        nvmlGpuInstanceDestroy, nvmlGpuInstanceSetVgpuHeterogeneousMode,
        nvmlGpuInstanceSetVgpuSchedulerState, nvmlGpuInstanceSetVgpuSchedulerState_v2,
        nvmlSetVgpuVersion, nvmlSystemSetConfComputeGpusReadyState,
        nvmlSystemSetConfComputeKeyRotationThresholdInfo, nvmlSystemSetNvlinkBwMode,
        nvmlVgpuInstanceClearAccountingPids, nvmlVgpuInstanceSetEncoderCapacity
    () {
        state()?;
        Err(NO_PERMISSION)
    }

    /// Answers `NVML_ERROR_INVALID_ARGUMENT`, as there are no units.
    fn
        nvmlUnitGetDevices, nvmlUnitGetFanSpeedInfo, nvmlUnitGetHandleByIndex, nvmlUnitGetLedState,
        nvmlUnitGetPsuInfo, nvmlUnitGetTemperature, nvmlUnitGetUnitInfo, nvmlUnitSetLedState
    () {
        state()?;
        Err(INVALID_ARGUMENT)
    }
}
