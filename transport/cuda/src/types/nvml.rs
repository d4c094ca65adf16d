//! Types of NVML, from nvml-wrapper-sys 0.10.0 (by Cldfire, MIT OR Apache-2.0), and xtask/bindings/nvml.rs.
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

pub type nvmlActiveVgpuInstanceInfo_t = nvmlActiveVgpuInstanceInfo_v1_t;
pub type nvmlAffinityScope_t = c_uint;
pub type nvmlBusType_t = c_uint;
pub type nvmlClkMonStatus_t = nvmlClkMonStatus_status;
pub type nvmlClockOffset_t = nvmlClockOffset_v1_t;
pub type nvmlComputeInstance_t = *mut nvmlComputeInstance_st;
pub type nvmlConfComputeGetKeyRotationThresholdInfo_t =
    nvmlConfComputeGetKeyRotationThresholdInfo_v1_t;
pub type nvmlConfComputeSetKeyRotationThresholdInfo_t =
    nvmlConfComputeSetKeyRotationThresholdInfo_v1_t;
pub type nvmlCoolerInfo_t = nvmlCoolerInfo_v1_t;
pub type nvmlDeviceAddressingMode_t = nvmlDeviceAddressingMode_v1_t;
pub type nvmlDeviceArchitecture_t = c_uint;
pub type nvmlDeviceCapabilities_t = nvmlDeviceCapabilities_v1_t;
pub type nvmlDeviceCurrentClockFreqs_t = nvmlDeviceCurrentClockFreqs_v1_t;
pub type nvmlDevicePerfModes_t = nvmlDevicePerfModes_v1_t;
pub type nvmlDevice_t = *mut nvmlDevice_st;
pub type nvmlDramEncryptionInfo_t = nvmlDramEncryptionInfo_v1_t;
pub type nvmlEccSramErrorStatus_t = nvmlEccSramErrorStatus_v1_t;
pub type nvmlEccSramUniqueUncorrectedErrorCounts_t = nvmlEccSramUniqueUncorrectedErrorCounts_v1_t;
pub type nvmlEventSet_t = *mut nvmlEventSet_st;
pub type nvmlFanControlPolicy_t = c_uint;
pub type nvmlFanSpeedInfo_t = nvmlFanSpeedInfo_v1_t;
pub type nvmlGpmSample_t = *mut nvmlGpmSample_st;
pub type nvmlGpuFabricInfoV_t = nvmlGpuFabricInfo_v3_t;
pub type nvmlGpuFabricState_t = c_uchar;
pub type nvmlGpuInstance_t = *mut nvmlGpuInstance_st;
pub type nvmlGpuVirtualizationMode_t = nvmlGpuVirtualizationMode;
pub type nvmlMarginTemperature_t = nvmlMarginTemperature_v1_t;
pub type nvmlNvLinkInfo_t = nvmlNvLinkInfo_v2_t;
pub type nvmlNvlinkGetBwMode_t = nvmlNvlinkGetBwMode_v1_t;
pub type nvmlNvlinkSetBwMode_t = nvmlNvlinkSetBwMode_v1_t;
pub type nvmlNvlinkSupportedBwModes_t = nvmlNvlinkSupportedBwModes_v1_t;
pub type nvmlPciInfoExt_t = nvmlPciInfoExt_v1_t;
pub type nvmlPdi_t = nvmlPdi_v1_t;
pub type nvmlPlatformInfo_t = nvmlPlatformInfo_v2_t;
pub type nvmlPowerScopeType_t = c_uchar;
pub type nvmlPowerSmoothingProfile_t = nvmlPowerSmoothingProfile_v1_t;
pub type nvmlPowerSmoothingState_t = nvmlPowerSmoothingState_v1_t;
pub type nvmlPowerSource_t = c_uint;
pub type nvmlProcessDetailList_t = nvmlProcessDetailList_v1_t;
pub type nvmlProcessInfo_t = nvmlProcessInfo_v2_st;
pub type nvmlProcessInfo_v2_t = nvmlProcessInfo_v2_st;
pub type nvmlProcessesUtilizationInfo_t = nvmlProcessesUtilizationInfo_v1_t;
pub type nvmlRepairStatus_t = nvmlRepairStatus_v1_t;
pub type nvmlSystemConfComputeSettings_t = nvmlSystemConfComputeSettings_v1_t;
pub type nvmlSystemDriverBranchInfo_t = nvmlSystemDriverBranchInfo_v1_t;
pub type nvmlSystemEventSetCreateRequest_t = nvmlSystemEventSetCreateRequest_v1_t;
pub type nvmlSystemEventSetFreeRequest_t = nvmlSystemEventSetFreeRequest_v1_t;
pub type nvmlSystemEventSetWaitRequest_t = nvmlSystemEventSetWaitRequest_v1_t;
pub type nvmlSystemEventSet_t = *mut nvmlSystemEventSet_st;
pub type nvmlSystemRegisterEventRequest_t = nvmlSystemRegisterEventRequest_v1_t;
pub type nvmlTemperature_t = nvmlTemperature_v1_t;
pub type nvmlUUID_t = nvmlUUID_v1_t;
pub type nvmlUnit_t = *mut nvmlUnit_st;
pub type nvmlVgpuCreatablePlacementInfo_t = nvmlVgpuCreatablePlacementInfo_v1_t;
pub type nvmlVgpuHeterogeneousMode_t = nvmlVgpuHeterogeneousMode_v1_t;
pub type nvmlVgpuInstance_t = c_uint;
pub type nvmlVgpuInstancesUtilizationInfo_t = nvmlVgpuInstancesUtilizationInfo_v1_t;
pub type nvmlVgpuPlacementId_t = nvmlVgpuPlacementId_v1_t;
pub type nvmlVgpuPlacementList_t = nvmlVgpuPlacementList_v2_t;
pub type nvmlVgpuProcessesUtilizationInfo_t = nvmlVgpuProcessesUtilizationInfo_v1_t;
pub type nvmlVgpuRuntimeState_t = nvmlVgpuRuntimeState_v1_t;
pub type nvmlVgpuSchedulerLogInfo_t = nvmlVgpuSchedulerLogInfo_v1_t;
pub type nvmlVgpuSchedulerStateInfo_t = nvmlVgpuSchedulerStateInfo_v1_t;
pub type nvmlVgpuSchedulerState_t = nvmlVgpuSchedulerState_v1_t;
pub type nvmlVgpuTypeBar1Info_t = nvmlVgpuTypeBar1Info_v1_t;
pub type nvmlVgpuTypeIdInfo_t = nvmlVgpuTypeIdInfo_v1_t;
pub type nvmlVgpuTypeId_t = c_uint;
pub type nvmlVgpuTypeMaxInstance_t = nvmlVgpuTypeMaxInstance_v1_t;
pub type nvmlVgpuVmIdType_t = nvmlVgpuVmIdType;
pub type nvmlWorkloadPowerProfileCurrentProfiles_t = nvmlWorkloadPowerProfileCurrentProfiles_v1_t;
pub type nvmlWorkloadPowerProfileInfo_t = nvmlWorkloadPowerProfileInfo_v1_t;
pub type nvmlWorkloadPowerProfileProfilesInfo_t = nvmlWorkloadPowerProfileProfilesInfo_v1_t;
pub type nvmlWorkloadPowerProfileRequestedProfiles_t =
    nvmlWorkloadPowerProfileRequestedProfiles_v1_t;
pub const nvmlEventTypeXidCriticalError: u32 = 8;

enumerations! {
    nvmlBrandType_t: c_uint {
        NVML_BRAND_COUNT = 18, NVML_BRAND_GEFORCE = 5, NVML_BRAND_GEFORCE_RTX = 15,
        NVML_BRAND_GRID = 4, NVML_BRAND_NVIDIA = 14, NVML_BRAND_NVIDIA_CLOUD_GAMING = 11,
        NVML_BRAND_NVIDIA_RTX = 13, NVML_BRAND_NVIDIA_VAPPS = 7, NVML_BRAND_NVIDIA_VCS = 9,
        NVML_BRAND_NVIDIA_VGAMING = 11, NVML_BRAND_NVIDIA_VPC = 8, NVML_BRAND_NVIDIA_VWS = 10,
        NVML_BRAND_NVS = 3, NVML_BRAND_QUADRO = 1, NVML_BRAND_QUADRO_RTX = 12, NVML_BRAND_TESLA = 2,
        NVML_BRAND_TITAN = 6, NVML_BRAND_TITAN_RTX = 16, NVML_BRAND_UNKNOWN = 0,
    }
    nvmlBridgeChipType_t: c_uint { NVML_BRIDGE_CHIP_BRO4 = 1, NVML_BRIDGE_CHIP_PLX = 0 }
    nvmlClockId_t: c_uint {
        NVML_CLOCK_ID_APP_CLOCK_DEFAULT = 2, NVML_CLOCK_ID_APP_CLOCK_TARGET = 1,
        NVML_CLOCK_ID_COUNT = 4, NVML_CLOCK_ID_CURRENT = 0, NVML_CLOCK_ID_CUSTOMER_BOOST_MAX = 3,
    }
    nvmlClockType_t: c_uint {
        NVML_CLOCK_COUNT = 4, NVML_CLOCK_GRAPHICS = 0, NVML_CLOCK_MEM = 2, NVML_CLOCK_SM = 1,
        NVML_CLOCK_VIDEO = 3,
    }
    nvmlComputeMode_t: c_uint {
        NVML_COMPUTEMODE_COUNT = 4, NVML_COMPUTEMODE_DEFAULT = 0,
        NVML_COMPUTEMODE_EXCLUSIVE_PROCESS = 3, NVML_COMPUTEMODE_EXCLUSIVE_THREAD = 1,
        NVML_COMPUTEMODE_PROHIBITED = 2,
    }
    nvmlCoolerControl_t: c_uint {
        NVML_THERMAL_COOLER_SIGNAL_COUNT = 3, NVML_THERMAL_COOLER_SIGNAL_NONE = 0,
        NVML_THERMAL_COOLER_SIGNAL_TOGGLE = 1, NVML_THERMAL_COOLER_SIGNAL_VARIABLE = 2,
    }
    nvmlCoolerTarget_t: c_uint {
        NVML_THERMAL_COOLER_TARGET_GPU = 2, NVML_THERMAL_COOLER_TARGET_GPU_RELATED = 14,
        NVML_THERMAL_COOLER_TARGET_MEMORY = 4, NVML_THERMAL_COOLER_TARGET_NONE = 1,
        NVML_THERMAL_COOLER_TARGET_POWER_SUPPLY = 8,
    }
    nvmlDetachGpuState_t: c_uint { NVML_DETACH_GPU_KEEP = 0, NVML_DETACH_GPU_REMOVE = 1 }
    nvmlDeviceVgpuCapability_t: c_uint {
        NVML_DEVICE_VGPU_CAP_COMPUTE_MEDIA_ENGINE_GPU = 7, NVML_DEVICE_VGPU_CAP_COUNT = 12,
        NVML_DEVICE_VGPU_CAP_DEVICE_STREAMING = 5, NVML_DEVICE_VGPU_CAP_FRACTIONAL_MULTI_VGPU = 0,
        NVML_DEVICE_VGPU_CAP_HETEROGENEOUS_TIMESLICE_PROFILES = 1,
        NVML_DEVICE_VGPU_CAP_HETEROGENEOUS_TIMESLICE_SIZES = 2,
        NVML_DEVICE_VGPU_CAP_HOMOGENEOUS_PLACEMENTS = 9,
        NVML_DEVICE_VGPU_CAP_MIG_TIMESLICING_ENABLED = 11,
        NVML_DEVICE_VGPU_CAP_MIG_TIMESLICING_SUPPORTED = 10,
        NVML_DEVICE_VGPU_CAP_MINI_QUARTER_GPU = 6, NVML_DEVICE_VGPU_CAP_READ_DEVICE_BUFFER_BW = 3,
        NVML_DEVICE_VGPU_CAP_WARM_UPDATE = 8, NVML_DEVICE_VGPU_CAP_WRITE_DEVICE_BUFFER_BW = 4,
    }
    nvmlDriverModel_t: c_uint { NVML_DRIVER_MCDM = 2, NVML_DRIVER_WDDM = 0, NVML_DRIVER_WDM = 1 }
    nvmlEccCounterType_t: c_uint {
        NVML_AGGREGATE_ECC = 1, NVML_ECC_COUNTER_TYPE_COUNT = 2, NVML_VOLATILE_ECC = 0,
    }
    nvmlEnableState_t: c_uint { NVML_FEATURE_DISABLED = 0, NVML_FEATURE_ENABLED = 1 }
    nvmlEncoderType_t: c_uint {
        NVML_ENCODER_QUERY_AV1 = 2, NVML_ENCODER_QUERY_H264 = 0, NVML_ENCODER_QUERY_HEVC = 1,
        NVML_ENCODER_QUERY_UNKNOWN = 255,
    }
    nvmlFBCSessionType_t: c_uint {
        NVML_FBC_SESSION_TYPE_CUDA = 2, NVML_FBC_SESSION_TYPE_HWENC = 4,
        NVML_FBC_SESSION_TYPE_TOSYS = 1, NVML_FBC_SESSION_TYPE_UNKNOWN = 0,
        NVML_FBC_SESSION_TYPE_VID = 3,
    }
    nvmlFanState_t: c_uint { NVML_FAN_FAILED = 1, NVML_FAN_NORMAL = 0 }
    nvmlGpuOperationMode_t: c_uint {
        NVML_GOM_ALL_ON = 0, NVML_GOM_COMPUTE = 1, NVML_GOM_LOW_DP = 2,
    }
    nvmlGpuTopologyLevel_t: c_uint {
        NVML_TOPOLOGY_HOSTBRIDGE = 30, NVML_TOPOLOGY_INTERNAL = 0, NVML_TOPOLOGY_MULTIPLE = 20,
        NVML_TOPOLOGY_NODE = 40, NVML_TOPOLOGY_SINGLE = 10, NVML_TOPOLOGY_SYSTEM = 50,
    }
    nvmlGpuP2PCapsIndex_t: c_uint {
        NVML_P2P_CAPS_INDEX_ATOMICS = 3, NVML_P2P_CAPS_INDEX_NVLINK = 2,
        NVML_P2P_CAPS_INDEX_PCI = 4, NVML_P2P_CAPS_INDEX_PROP = 4, NVML_P2P_CAPS_INDEX_READ = 0,
        NVML_P2P_CAPS_INDEX_UNKNOWN = 5, NVML_P2P_CAPS_INDEX_WRITE = 1,
    }
    nvmlGpuP2PStatus_t: c_uint {
        NVML_P2P_STATUS_CHIPSET_NOT_SUPPORED = 1, NVML_P2P_STATUS_CHIPSET_NOT_SUPPORTED = 1,
        NVML_P2P_STATUS_DISABLED_BY_REGKEY = 4, NVML_P2P_STATUS_GPU_NOT_SUPPORTED = 2,
        NVML_P2P_STATUS_IOH_TOPOLOGY_NOT_SUPPORTED = 3, NVML_P2P_STATUS_NOT_SUPPORTED = 5,
        NVML_P2P_STATUS_OK = 0, NVML_P2P_STATUS_UNKNOWN = 6,
    }
    nvmlGpuVirtualizationMode: c_uint {
        NVML_GPU_VIRTUALIZATION_MODE_HOST_VGPU = 3, NVML_GPU_VIRTUALIZATION_MODE_HOST_VSGA = 4,
        NVML_GPU_VIRTUALIZATION_MODE_NONE = 0, NVML_GPU_VIRTUALIZATION_MODE_PASSTHROUGH = 1,
        NVML_GPU_VIRTUALIZATION_MODE_VGPU = 2,
    }
    nvmlGridLicenseFeatureCode_t: c_uint {
        NVML_GRID_LICENSE_FEATURE_CODE_COMPUTE = 4, NVML_GRID_LICENSE_FEATURE_CODE_GAMING = 3,
        NVML_GRID_LICENSE_FEATURE_CODE_NVIDIA_RTX = 2, NVML_GRID_LICENSE_FEATURE_CODE_UNKNOWN = 0,
        NVML_GRID_LICENSE_FEATURE_CODE_VGPU = 1, NVML_GRID_LICENSE_FEATURE_CODE_VWORKSTATION = 2,
    }
    nvmlHostVgpuMode_t: c_uint { NVML_HOST_VGPU_MODE_NON_SRIOV = 0, NVML_HOST_VGPU_MODE_SRIOV = 1 }
    nvmlInforomObject_t: c_uint {
        NVML_INFOROM_COUNT = 4, NVML_INFOROM_DEN = 3, NVML_INFOROM_ECC = 1, NVML_INFOROM_OEM = 0,
        NVML_INFOROM_POWER = 2,
    }
    nvmlIntNvLinkDeviceType_t: c_uint {
        NVML_NVLINK_DEVICE_TYPE_GPU = 0, NVML_NVLINK_DEVICE_TYPE_IBMNPU = 1,
        NVML_NVLINK_DEVICE_TYPE_SWITCH = 2, NVML_NVLINK_DEVICE_TYPE_UNKNOWN = 255,
    }
    nvmlLedColor_t: c_uint { NVML_LED_COLOR_AMBER = 1, NVML_LED_COLOR_GREEN = 0 }
    nvmlMemoryErrorType_t: c_uint {
        NVML_MEMORY_ERROR_TYPE_CORRECTED = 0, NVML_MEMORY_ERROR_TYPE_COUNT = 2,
        NVML_MEMORY_ERROR_TYPE_UNCORRECTED = 1,
    }
    nvmlMemoryLocation_t: c_uint {
        NVML_MEMORY_LOCATION_CBU = 6, NVML_MEMORY_LOCATION_COUNT = 8,
        NVML_MEMORY_LOCATION_DEVICE_MEMORY = 2, NVML_MEMORY_LOCATION_DRAM = 2,
        NVML_MEMORY_LOCATION_L1_CACHE = 0, NVML_MEMORY_LOCATION_L2_CACHE = 1,
        NVML_MEMORY_LOCATION_REGISTER_FILE = 3, NVML_MEMORY_LOCATION_SRAM = 7,
        NVML_MEMORY_LOCATION_TEXTURE_MEMORY = 4, NVML_MEMORY_LOCATION_TEXTURE_SHM = 5,
    }
    nvmlNvLinkCapability_t: c_uint {
        NVML_NVLINK_CAP_COUNT = 6, NVML_NVLINK_CAP_P2P_ATOMICS = 2,
        NVML_NVLINK_CAP_P2P_SUPPORTED = 0, NVML_NVLINK_CAP_SLI_BRIDGE = 4,
        NVML_NVLINK_CAP_SYSMEM_ACCESS = 1, NVML_NVLINK_CAP_SYSMEM_ATOMICS = 3,
        NVML_NVLINK_CAP_VALID = 5,
    }
    nvmlNvLinkErrorCounter_t: c_uint {
        NVML_NVLINK_ERROR_COUNT = 5, NVML_NVLINK_ERROR_DL_CRC_DATA = 3,
        NVML_NVLINK_ERROR_DL_CRC_FLIT = 2, NVML_NVLINK_ERROR_DL_ECC_DATA = 4,
        NVML_NVLINK_ERROR_DL_RECOVERY = 1, NVML_NVLINK_ERROR_DL_REPLAY = 0,
    }
    nvmlNvLinkUtilizationCountPktTypes_t: c_uint {
        NVML_NVLINK_COUNTER_PKTFILTER_ALL = 255, NVML_NVLINK_COUNTER_PKTFILTER_FLUSH = 32,
        NVML_NVLINK_COUNTER_PKTFILTER_NOP = 1, NVML_NVLINK_COUNTER_PKTFILTER_NRATOM = 16,
        NVML_NVLINK_COUNTER_PKTFILTER_RATOM = 8, NVML_NVLINK_COUNTER_PKTFILTER_READ = 2,
        NVML_NVLINK_COUNTER_PKTFILTER_RESPDATA = 64, NVML_NVLINK_COUNTER_PKTFILTER_RESPNODATA = 128,
        NVML_NVLINK_COUNTER_PKTFILTER_WRITE = 4,
    }
    nvmlNvLinkUtilizationCountUnits_t: c_uint {
        NVML_NVLINK_COUNTER_UNIT_BYTES = 2, NVML_NVLINK_COUNTER_UNIT_COUNT = 4,
        NVML_NVLINK_COUNTER_UNIT_CYCLES = 0, NVML_NVLINK_COUNTER_UNIT_PACKETS = 1,
        NVML_NVLINK_COUNTER_UNIT_RESERVED = 3,
    }
    nvmlPstates_t: c_uint {
        NVML_PSTATE_0 = 0, NVML_PSTATE_1 = 1, NVML_PSTATE_10 = 10, NVML_PSTATE_11 = 11,
        NVML_PSTATE_12 = 12, NVML_PSTATE_13 = 13, NVML_PSTATE_14 = 14, NVML_PSTATE_15 = 15,
        NVML_PSTATE_2 = 2, NVML_PSTATE_3 = 3, NVML_PSTATE_4 = 4, NVML_PSTATE_5 = 5,
        NVML_PSTATE_6 = 6, NVML_PSTATE_7 = 7, NVML_PSTATE_8 = 8, NVML_PSTATE_9 = 9,
        NVML_PSTATE_UNKNOWN = 32,
    }
    nvmlPageRetirementCause_t: c_uint {
        NVML_PAGE_RETIREMENT_CAUSE_COUNT = 2, NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR = 1,
        NVML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS = 0,
    }
    nvmlPcieLinkState_t: c_uint { NVML_PCIE_LINK_KEEP = 0, NVML_PCIE_LINK_SHUT_DOWN = 1 }
    nvmlPcieUtilCounter_t: c_uint {
        NVML_PCIE_UTIL_COUNT = 2, NVML_PCIE_UTIL_RX_BYTES = 1, NVML_PCIE_UTIL_TX_BYTES = 0,
    }
    nvmlPerfPolicyType_t: c_uint {
        NVML_PERF_POLICY_BOARD_LIMIT = 3, NVML_PERF_POLICY_COUNT = 12,
        NVML_PERF_POLICY_LOW_UTILIZATION = 4, NVML_PERF_POLICY_POWER = 0,
        NVML_PERF_POLICY_RELIABILITY = 5, NVML_PERF_POLICY_SYNC_BOOST = 2,
        NVML_PERF_POLICY_THERMAL = 1, NVML_PERF_POLICY_TOTAL_APP_CLOCKS = 10,
        NVML_PERF_POLICY_TOTAL_BASE_CLOCKS = 11,
    }
    nvmlRestrictedAPI_t: c_uint {
        NVML_RESTRICTED_API_COUNT = 2, NVML_RESTRICTED_API_SET_APPLICATION_CLOCKS = 0,
        NVML_RESTRICTED_API_SET_AUTO_BOOSTED_CLOCKS = 1,
    }
    nvmlReturn_t: c_uint {
        NVML_ERROR_ALREADY_INITIALIZED = 5, NVML_ERROR_ARGUMENT_VERSION_MISMATCH = 25,
        NVML_ERROR_CORRUPTED_INFOROM = 14, NVML_ERROR_DEPRECATED = 26,
        NVML_ERROR_DRIVER_NOT_LOADED = 9, NVML_ERROR_FREQ_NOT_SUPPORTED = 24,
        NVML_ERROR_FUNCTION_NOT_FOUND = 13, NVML_ERROR_GPU_IS_LOST = 15,
        NVML_ERROR_GPU_NOT_FOUND = 28, NVML_ERROR_INSUFFICIENT_POWER = 8,
        NVML_ERROR_INSUFFICIENT_RESOURCES = 23, NVML_ERROR_INSUFFICIENT_SIZE = 7,
        NVML_ERROR_INVALID_ARGUMENT = 2, NVML_ERROR_INVALID_STATE = 29, NVML_ERROR_IN_USE = 19,
        NVML_ERROR_IRQ_ISSUE = 11, NVML_ERROR_LIBRARY_NOT_FOUND = 12,
        NVML_ERROR_LIB_RM_VERSION_MISMATCH = 18, NVML_ERROR_MEMORY = 20, NVML_ERROR_NOT_FOUND = 6,
        NVML_ERROR_NOT_READY = 27, NVML_ERROR_NOT_SUPPORTED = 3, NVML_ERROR_NO_DATA = 21,
        NVML_ERROR_NO_PERMISSION = 4, NVML_ERROR_OPERATING_SYSTEM = 17,
        NVML_ERROR_RESET_REQUIRED = 16, NVML_ERROR_RESET_TYPE_NOT_SUPPORTED = 30,
        NVML_ERROR_TIMEOUT = 10, NVML_ERROR_UNINITIALIZED = 1, NVML_ERROR_UNKNOWN = 999,
        NVML_ERROR_VGPU_ECC_NOT_SUPPORTED = 22, NVML_SUCCESS = 0,
    }
    nvmlSamplingType_t: c_uint {
        NVML_DEC_UTILIZATION_SAMPLES = 4, NVML_ENC_UTILIZATION_SAMPLES = 3,
        NVML_GPU_UTILIZATION_SAMPLES = 1, NVML_JPG_UTILIZATION_SAMPLES = 8,
        NVML_MEMORY_CLK_SAMPLES = 6, NVML_MEMORY_UTILIZATION_SAMPLES = 2,
        NVML_MODULE_POWER_SAMPLES = 7, NVML_OFA_UTILIZATION_SAMPLES = 9,
        NVML_PROCESSOR_CLK_SAMPLES = 5, NVML_SAMPLINGTYPE_COUNT = 10, NVML_TOTAL_POWER_SAMPLES = 0,
    }
    nvmlTemperatureSensors_t: c_uint { NVML_TEMPERATURE_COUNT = 1, NVML_TEMPERATURE_GPU = 0 }
    nvmlTemperatureThresholds_t: c_uint {
        NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_CURR = 5, NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_MAX = 6,
        NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_MIN = 4, NVML_TEMPERATURE_THRESHOLD_COUNT = 8,
        NVML_TEMPERATURE_THRESHOLD_GPS_CURR = 7, NVML_TEMPERATURE_THRESHOLD_GPU_MAX = 3,
        NVML_TEMPERATURE_THRESHOLD_MEM_MAX = 2, NVML_TEMPERATURE_THRESHOLD_SHUTDOWN = 0,
        NVML_TEMPERATURE_THRESHOLD_SLOWDOWN = 1,
    }
    nvmlThermalController_t: c_int {
        NVML_THERMAL_CONTROLLER_ADM1032 = 2, NVML_THERMAL_CONTROLLER_ADT7461 = 3,
        NVML_THERMAL_CONTROLLER_ADT7473 = 10, NVML_THERMAL_CONTROLLER_ADT7473S = 17,
        NVML_THERMAL_CONTROLLER_G781 = 9, NVML_THERMAL_CONTROLLER_GPU_INTERNAL = 1,
        NVML_THERMAL_CONTROLLER_LM64 = 8, NVML_THERMAL_CONTROLLER_LM89 = 7,
        NVML_THERMAL_CONTROLLER_LM99 = 6, NVML_THERMAL_CONTROLLER_MAX1617 = 5,
        NVML_THERMAL_CONTROLLER_MAX6649 = 4, NVML_THERMAL_CONTROLLER_MAX6649R = 16,
        NVML_THERMAL_CONTROLLER_NONE = 0, NVML_THERMAL_CONTROLLER_NVSYSCON_CANOAS = 14,
        NVML_THERMAL_CONTROLLER_NVSYSCON_E551 = 15, NVML_THERMAL_CONTROLLER_OS = 13,
        NVML_THERMAL_CONTROLLER_SBMAX6649 = 11, NVML_THERMAL_CONTROLLER_UNKNOWN = -1,
        NVML_THERMAL_CONTROLLER_VBIOSEVT = 12,
    }
    nvmlThermalTarget_t: c_int {
        NVML_THERMAL_TARGET_ALL = 15, NVML_THERMAL_TARGET_BOARD = 8, NVML_THERMAL_TARGET_GPU = 1,
        NVML_THERMAL_TARGET_MEMORY = 2, NVML_THERMAL_TARGET_NONE = 0,
        NVML_THERMAL_TARGET_POWER_SUPPLY = 4, NVML_THERMAL_TARGET_UNKNOWN = -1,
        NVML_THERMAL_TARGET_VCD_BOARD = 9, NVML_THERMAL_TARGET_VCD_INLET = 10,
        NVML_THERMAL_TARGET_VCD_OUTLET = 11,
    }
    nvmlValueType_t: c_uint {
        NVML_VALUE_TYPE_COUNT = 7, NVML_VALUE_TYPE_DOUBLE = 0, NVML_VALUE_TYPE_SIGNED_INT = 5,
        NVML_VALUE_TYPE_SIGNED_LONG_LONG = 4, NVML_VALUE_TYPE_UNSIGNED_INT = 1,
        NVML_VALUE_TYPE_UNSIGNED_LONG = 2, NVML_VALUE_TYPE_UNSIGNED_LONG_LONG = 3,
        NVML_VALUE_TYPE_UNSIGNED_SHORT = 6,
    }
    nvmlVgpuCapability_t: c_uint {
        NVML_VGPU_CAP_COUNT = 5, NVML_VGPU_CAP_EXCLUSIVE_SIZE = 4, NVML_VGPU_CAP_EXCLUSIVE_TYPE = 3,
        NVML_VGPU_CAP_GPUDIRECT = 1, NVML_VGPU_CAP_MULTI_VGPU_EXCLUSIVE = 2,
        NVML_VGPU_CAP_NVLINK_P2P = 0,
    }
    nvmlVgpuDriverCapability_t: c_uint {
        NVML_VGPU_DRIVER_CAP_COUNT = 2, NVML_VGPU_DRIVER_CAP_HETEROGENEOUS_MULTI_VGPU = 0,
        NVML_VGPU_DRIVER_CAP_WARM_UPDATE = 1,
    }
    nvmlVgpuGuestInfoState_t: c_uint {
        NVML_VGPU_INSTANCE_GUEST_INFO_STATE_INITIALIZED = 1,
        NVML_VGPU_INSTANCE_GUEST_INFO_STATE_UNINITIALIZED = 0,
    }
    nvmlVgpuPgpuCompatibilityLimitCode_t: c_uint {
        NVML_VGPU_COMPATIBILITY_LIMIT_GPU = 4, NVML_VGPU_COMPATIBILITY_LIMIT_GUEST_DRIVER = 2,
        NVML_VGPU_COMPATIBILITY_LIMIT_HOST_DRIVER = 1, NVML_VGPU_COMPATIBILITY_LIMIT_NONE = 0,
        NVML_VGPU_COMPATIBILITY_LIMIT_OTHER = 2147483648,
    }
    nvmlVgpuVmCompatibility_t: c_uint {
        NVML_VGPU_VM_COMPATIBILITY_COLD = 1, NVML_VGPU_VM_COMPATIBILITY_HIBERNATE = 2,
        NVML_VGPU_VM_COMPATIBILITY_LIVE = 8, NVML_VGPU_VM_COMPATIBILITY_NONE = 0,
        NVML_VGPU_VM_COMPATIBILITY_SLEEP = 4,
    }
    nvmlVgpuVmIdType: c_uint { NVML_VGPU_VM_ID_DOMAIN_ID = 0, NVML_VGPU_VM_ID_UUID = 1 }
}

layouts! {
    struct nvmlAccountingStats_t {
        gpuUtilization: c_uint, memoryUtilization: c_uint, maxMemoryUsage: c_ulonglong,
        time: c_ulonglong, startTime: c_ulonglong, isRunning: c_uint, reserved: [c_uint; 5usize],
    }
    struct nvmlActiveVgpuInstanceInfo_v1_t {
        version: c_uint, vgpuCount: c_uint, vgpuInstances: *mut nvmlVgpuInstance_t,
    }
    struct nvmlBAR1Memory_t {
        bar1Total: c_ulonglong, bar1Free: c_ulonglong, bar1Used: c_ulonglong,
    }
    struct nvmlBridgeChipHierarchy_t {
        bridgeCount: c_uchar, bridgeChipInfo: [nvmlBridgeChipInfo_t; 128usize],
    }
    struct nvmlBridgeChipInfo_t { type_: nvmlBridgeChipType_t, fwVersion: c_uint }
    struct nvmlC2cModeInfo_v1_t { isC2cEnabled: c_uint }
    struct nvmlClkMonFaultInfo_t { clkApiDomain: c_uint, clkDomainFaultMask: c_uint }
    struct nvmlClkMonStatus_status {
        bGlobalStatus: c_uint, clkMonListSize: c_uint, clkMonList: [nvmlClkMonFaultInfo_t; 32usize],
    }
    struct nvmlClockOffset_v1_t {
        version: c_uint, type_: nvmlClockType_t, pstate: nvmlPstates_t, clockOffsetMHz: c_int,
        minClockOffsetMHz: c_int, maxClockOffsetMHz: c_int,
    }
    struct nvmlComputeInstanceInfo_t {
        device: nvmlDevice_t, gpuInstance: nvmlGpuInstance_t, id: c_uint, profileId: c_uint,
        placement: nvmlComputeInstancePlacement_t,
    }
    struct nvmlComputeInstancePlacement_t { start: c_uint, size: c_uint }
    struct nvmlComputeInstanceProfileInfo_t {
        id: c_uint, sliceCount: c_uint, instanceCount: c_uint, multiprocessorCount: c_uint,
        sharedCopyEngineCount: c_uint, sharedDecoderCount: c_uint, sharedEncoderCount: c_uint,
        sharedJpegCount: c_uint, sharedOfaCount: c_uint,
    }
    struct nvmlComputeInstanceProfileInfo_v2_t {
        version: c_uint, id: c_uint, sliceCount: c_uint, instanceCount: c_uint,
        multiprocessorCount: c_uint, sharedCopyEngineCount: c_uint, sharedDecoderCount: c_uint,
        sharedEncoderCount: c_uint, sharedJpegCount: c_uint, sharedOfaCount: c_uint,
        name: [c_char; 96usize],
    }
    struct nvmlConfComputeGetKeyRotationThresholdInfo_v1_t {
        version: c_uint, attackerAdvantage: c_ulonglong,
    }
    struct nvmlConfComputeGpuAttestationReport_t {
        isCecAttestationReportPresent: c_uint, attestationReportSize: c_uint,
        cecAttestationReportSize: c_uint, nonce: [c_uchar; 32usize],
        attestationReport: [c_uchar; 8192usize], cecAttestationReport: [c_uchar; 4096usize],
    }
    struct nvmlConfComputeGpuCertificate_t {
        certChainSize: c_uint, attestationCertChainSize: c_uint, certChain: [c_uchar; 4096usize],
        attestationCertChain: [c_uchar; 5120usize],
    }
    struct nvmlConfComputeMemSizeInfo_t {
        protectedMemSizeKib: c_ulonglong, unprotectedMemSizeKib: c_ulonglong,
    }
    struct nvmlConfComputeSetKeyRotationThresholdInfo_v1_t {
        version: c_uint, maxAttackerAdvantage: c_ulonglong,
    }
    struct nvmlConfComputeSystemCaps_t { cpuCaps: c_uint, gpusCaps: c_uint }
    struct nvmlConfComputeSystemState_t {
        environment: c_uint, ccFeature: c_uint, devToolsMode: c_uint,
    }
    struct nvmlCoolerInfo_v1_t {
        version: c_uint, index: c_uint, signalType: nvmlCoolerControl_t, target: nvmlCoolerTarget_t,
    }
    struct nvmlDeviceAddressingMode_v1_t { version: c_uint, value: c_uint }
    struct nvmlDeviceAttributes_t {
        multiprocessorCount: c_uint, sharedCopyEngineCount: c_uint, sharedDecoderCount: c_uint,
        sharedEncoderCount: c_uint, sharedJpegCount: c_uint, sharedOfaCount: c_uint,
        gpuInstanceSliceCount: c_uint, computeInstanceSliceCount: c_uint, memorySizeMB: c_ulonglong,
    }
    struct nvmlDeviceCapabilities_v1_t { version: c_uint, capMask: c_uint }
    struct nvmlDeviceCurrentClockFreqs_v1_t { version: c_uint, str_: [c_char; 2048usize] }
    struct nvmlDevicePerfModes_v1_t { version: c_uint, str_: [c_char; 2048usize] }
    struct nvmlDevicePowerMizerModes_v1_t {
        currentMode: c_uint, mode: c_uint, supportedPowerMizerModes: c_uint,
    }
    struct nvmlDramEncryptionInfo_v1_t { version: c_uint, encryptionState: nvmlEnableState_t }
    struct nvmlEccErrorCounts_t {
        l1Cache: c_ulonglong, l2Cache: c_ulonglong, deviceMemory: c_ulonglong,
        registerFile: c_ulonglong,
    }
    struct nvmlEccSramErrorStatus_v1_t {
        version: c_uint, aggregateUncParity: c_ulonglong, aggregateUncSecDed: c_ulonglong,
        aggregateCor: c_ulonglong, volatileUncParity: c_ulonglong, volatileUncSecDed: c_ulonglong,
        volatileCor: c_ulonglong, aggregateUncBucketL2: c_ulonglong,
        aggregateUncBucketSm: c_ulonglong, aggregateUncBucketPcie: c_ulonglong,
        aggregateUncBucketMcu: c_ulonglong, aggregateUncBucketOther: c_ulonglong,
        bThresholdExceeded: c_uint,
    }
    struct nvmlEccSramUniqueUncorrectedErrorCounts_v1_t {
        version: c_uint, entryCount: c_uint,
        entries: *mut nvmlEccSramUniqueUncorrectedErrorEntry_v1_t,
    }
    struct nvmlEccSramUniqueUncorrectedErrorEntry_v1_t {
        unit: c_uint, location: c_uint, sublocation: c_uint, extlocation: c_uint, address: c_uint,
        isParity: c_uint, count: c_uint,
    }
    struct nvmlEncoderSessionInfo_t {
        sessionId: c_uint, pid: c_uint, vgpuInstance: nvmlVgpuInstance_t,
        codecType: nvmlEncoderType_t, hResolution: c_uint, vResolution: c_uint, averageFps: c_uint,
        averageLatency: c_uint,
    }
    struct nvmlEventData_t {
        device: nvmlDevice_t, eventType: c_ulonglong, eventData: c_ulonglong, gpuInstanceId: c_uint,
        computeInstanceId: c_uint,
    }
    struct nvmlExcludedDeviceInfo_t { pciInfo: nvmlPciInfo_t, uuid: [c_char; 80usize] }
    struct nvmlFBCSessionInfo_t {
        sessionId: c_uint, pid: c_uint, vgpuInstance: nvmlVgpuInstance_t, displayOrdinal: c_uint,
        sessionType: nvmlFBCSessionType_t, sessionFlags: c_uint, hMaxResolution: c_uint,
        vMaxResolution: c_uint, hResolution: c_uint, vResolution: c_uint, averageFPS: c_uint,
        averageLatency: c_uint,
    }
    struct nvmlFBCStats_t { sessionsCount: c_uint, averageFPS: c_uint, averageLatency: c_uint }
    struct nvmlFanSpeedInfo_v1_t { version: c_uint, fan: c_uint, speed: c_uint }
    struct nvmlFieldValue_t {
        fieldId: c_uint, scopeId: c_uint, timestamp: c_longlong, latencyUsec: c_longlong,
        valueType: nvmlValueType_t, nvmlReturn: nvmlReturn_t, value: nvmlValue_t,
    }
    struct nvmlGpmMetric_t {
        metricId: c_uint, nvmlReturn: nvmlReturn_t, value: f64,
        metricInfo: nvmlGpmMetric_t__bindgen_ty_1,
    }
    struct nvmlGpmMetric_t__bindgen_ty_1 {
        shortName: *mut c_char, longName: *mut c_char, unit: *mut c_char,
    }
    struct nvmlGpmMetricsGet_t {
        version: c_uint, numMetrics: c_uint, sample1: nvmlGpmSample_t, sample2: nvmlGpmSample_t,
        metrics: [nvmlGpmMetric_t; 210usize],
    }
    struct nvmlGpmSupport_t { version: c_uint, isSupportedDevice: c_uint }
    struct nvmlGpuDynamicPstatesInfo_t {
        flags: c_uint, utilization: [nvmlGpuDynamicPstatesInfo_st__bindgen_ty_1; 8usize],
    }
    struct nvmlGpuDynamicPstatesInfo_st__bindgen_ty_1 {
        bIsPresent: c_uint, percentage: c_uint, incThreshold: c_uint, decThreshold: c_uint,
    }
    struct nvmlGpuFabricInfo_t {
        clusterUuid: [c_uchar; 16usize], status: nvmlReturn_t, cliqueId: c_uint,
        state: nvmlGpuFabricState_t,
    }
    struct nvmlGpuFabricInfo_v3_t {
        version: c_uint, clusterUuid: [c_uchar; 16usize], status: nvmlReturn_t, cliqueId: c_uint,
        state: nvmlGpuFabricState_t, healthMask: c_uint, healthSummary: c_uchar,
    }
    struct nvmlGpuInstanceInfo_t {
        device: nvmlDevice_t, id: c_uint, profileId: c_uint, placement: nvmlGpuInstancePlacement_t,
    }
    struct nvmlGpuInstancePlacement_t { start: c_uint, size: c_uint }
    struct nvmlGpuInstanceProfileInfo_t {
        id: c_uint, isP2pSupported: c_uint, sliceCount: c_uint, instanceCount: c_uint,
        multiprocessorCount: c_uint, copyEngineCount: c_uint, decoderCount: c_uint,
        encoderCount: c_uint, jpegCount: c_uint, ofaCount: c_uint, memorySizeMB: c_ulonglong,
    }
    struct nvmlGpuInstanceProfileInfo_v2_t {
        version: c_uint, id: c_uint, isP2pSupported: c_uint, sliceCount: c_uint,
        instanceCount: c_uint, multiprocessorCount: c_uint, copyEngineCount: c_uint,
        decoderCount: c_uint, encoderCount: c_uint, jpegCount: c_uint, ofaCount: c_uint,
        memorySizeMB: c_ulonglong, name: [c_char; 96usize],
    }
    struct nvmlGpuThermalSettings_t {
        count: c_uint, sensor: [nvmlGpuThermalSettings_t__bindgen_ty_1; 3usize],
    }
    struct nvmlGpuThermalSettings_t__bindgen_ty_1 {
        controller: nvmlThermalController_t, defaultMinTemp: c_int, defaultMaxTemp: c_int,
        currentTemp: c_int, target: nvmlThermalTarget_t,
    }
    struct nvmlGridLicensableFeature_t {
        featureCode: nvmlGridLicenseFeatureCode_t, featureState: c_uint,
        licenseInfo: [c_char; 128usize], productName: [c_char; 128usize], featureEnabled: c_uint,
        licenseExpiry: nvmlGridLicenseExpiry_t,
    }
    struct nvmlGridLicensableFeatures_t {
        isGridLicenseSupported: c_int, licensableFeaturesCount: c_uint,
        gridLicensableFeatures: [nvmlGridLicensableFeature_t; 3usize],
    }
    struct nvmlGridLicenseExpiry_t {
        year: c_uint, month: c_ushort, day: c_ushort, hour: c_ushort, min: c_ushort, sec: c_ushort,
        status: c_uchar,
    }
    struct nvmlHostname_v1_t { value: [c_char; 64usize] }
    struct nvmlHwbcEntry_t { hwbcId: c_uint, firmwareVersion: [c_char; 32usize] }
    struct nvmlLedState_t { cause: [c_char; 256usize], color: nvmlLedColor_t }
    struct nvmlMarginTemperature_v1_t { version: c_uint, marginTemperature: c_int }
    struct nvmlMask255_t { mask: [c_uint; 8usize] }
    struct nvmlMemory_t { total: c_ulonglong, free: c_ulonglong, used: c_ulonglong }
    struct nvmlMemory_v2_t {
        version: c_uint, total: c_ulonglong, reserved: c_ulonglong, free: c_ulonglong,
        used: c_ulonglong,
    }
    struct nvmlNvLinkInfo_v2_t {
        version: c_uint, isNvleEnabled: c_uint, firmwareInfo: nvmlNvlinkFirmwareInfo_t,
    }
    struct nvmlNvLinkPowerThres_t { lowPwrThreshold: c_uint }
    struct nvmlNvLinkUtilizationControl_t {
        units: nvmlNvLinkUtilizationCountUnits_t, pktfilter: nvmlNvLinkUtilizationCountPktTypes_t,
    }
    struct nvmlNvlinkFirmwareInfo_t {
        firmwareVersion: [nvmlNvlinkFirmwareVersion_t; 100usize], numValidEntries: c_uint,
    }
    struct nvmlNvlinkFirmwareVersion_t {
        ucodeType: c_uchar, major: c_uint, minor: c_uint, subMinor: c_uint,
    }
    struct nvmlNvlinkGetBwMode_v1_t { version: c_uint, bIsBest: c_uint, bwMode: c_uchar }
    struct nvmlNvlinkSetBwMode_v1_t { version: c_uint, bSetBest: c_uint, bwMode: c_uchar }
    struct nvmlNvlinkSupportedBwModes_v1_t {
        version: c_uint, bwModes: [c_uchar; 23usize], totalBwModes: c_uchar,
    }
    struct nvmlPRMCounterInput_v1_t { localPort: c_uint }
    struct nvmlPRMCounterList_v1_t { numCounters: c_uint, counters: *mut nvmlPRMCounter_v1_t }
    struct nvmlPRMCounterValue_v1_t {
        status: nvmlReturn_t, outputType: nvmlValueType_t, outputValue: nvmlValue_t,
    }
    struct nvmlPRMCounter_v1_t {
        counterId: c_uint, inData: nvmlPRMCounterInput_v1_t, counterValue: nvmlPRMCounterValue_v1_t,
    }
    struct nvmlPRMTLV_v1_t {
        dataSize: c_uint, status: c_uint, __bindgen_anon_1: nvmlPRMTLV_v1_t__bindgen_ty_1,
    }
    union nvmlPRMTLV_v1_t__bindgen_ty_1 {
        inData: [c_uchar; 496usize], outData: [c_uchar; 496usize],
    }
    struct nvmlPSUInfo_t {
        state: [c_char; 256usize], current: c_uint, voltage: c_uint, power: c_uint,
    }
    struct nvmlPciInfoExt_v1_t {
        version: c_uint, domain: c_uint, bus: c_uint, device: c_uint, pciDeviceId: c_uint,
        pciSubSystemId: c_uint, baseClass: c_uint, subClass: c_uint, busId: [c_char; 32usize],
    }
    struct nvmlPciInfo_t {
        busIdLegacy: [c_char; 16usize], domain: c_uint, bus: c_uint, device: c_uint,
        pciDeviceId: c_uint, pciSubSystemId: c_uint, busId: [c_char; 32usize],
    }
    struct nvmlPdi_v1_t { version: c_uint, value: c_ulonglong }
    struct nvmlPlatformInfo_v2_t {
        version: c_uint, ibGuid: [c_uchar; 16usize], chassisSerialNumber: [c_uchar; 16usize],
        slotNumber: c_uchar, trayIndex: c_uchar, hostId: c_uchar, peerType: c_uchar,
        moduleId: c_uchar,
    }
    struct nvmlPowerSmoothingProfile_v1_t {
        version: c_uint, profileId: c_uint, paramId: c_uint, value: f64,
    }
    struct nvmlPowerSmoothingState_v1_t { version: c_uint, state: nvmlEnableState_t }
    struct nvmlPowerValue_v2_t {
        version: c_uint, powerScope: nvmlPowerScopeType_t, powerValueMw: c_uint,
    }
    struct nvmlProcessDetailList_v1_t {
        version: c_uint, mode: c_uint, numProcArrayEntries: c_uint,
        procArray: *mut nvmlProcessDetail_v1_t,
    }
    struct nvmlProcessDetail_v1_t {
        pid: c_uint, usedGpuMemory: c_ulonglong, gpuInstanceId: c_uint, computeInstanceId: c_uint,
        usedGpuCcProtectedMemory: c_ulonglong,
    }
    struct nvmlProcessInfo_v1_t { pid: c_uint, usedGpuMemory: c_ulonglong }
    struct nvmlProcessInfo_v2_st {
        pid: c_uint, usedGpuMemory: c_ulonglong, gpuInstanceId: c_uint, computeInstanceId: c_uint,
    }
    struct nvmlProcessUtilizationInfo_v1_t {
        timeStamp: c_ulonglong, pid: c_uint, smUtil: c_uint, memUtil: c_uint, encUtil: c_uint,
        decUtil: c_uint, jpgUtil: c_uint, ofaUtil: c_uint,
    }
    struct nvmlProcessUtilizationSample_t {
        pid: c_uint, timeStamp: c_ulonglong, smUtil: c_uint, memUtil: c_uint, encUtil: c_uint,
        decUtil: c_uint,
    }
    struct nvmlProcessesUtilizationInfo_v1_t {
        version: c_uint, processSamplesCount: c_uint, lastSeenTimeStamp: c_ulonglong,
        procUtilArray: *mut nvmlProcessUtilizationInfo_v1_t,
    }
    struct nvmlRemappedRowsInfo_v2_t {
        corrActiveRemaps: c_uint, corrInactiveRemaps: c_uint, uncActiveRemaps: c_uint,
        uncInactiveRemaps: c_uint, bPending: c_uint, bFailureOccurred: c_uint,
    }
    struct nvmlRepairStatus_v1_t {
        version: c_uint, bChannelRepairPending: c_uint, bTpcRepairPending: c_uint,
    }
    struct nvmlRowRemapperHistogramValues_t {
        max: c_uint, high: c_uint, partial: c_uint, low: c_uint, none: c_uint,
    }
    struct nvmlSample_t { timeStamp: c_ulonglong, sampleValue: nvmlValue_t }
    struct nvmlSystemConfComputeSettings_v1_t {
        version: c_uint, environment: c_uint, ccFeature: c_uint, devToolsMode: c_uint,
        multiGpuMode: c_uint,
    }
    struct nvmlSystemDriverBranchInfo_v1_t { version: c_uint, branch: [c_char; 80usize] }
    struct nvmlSystemEventData_v1_t { eventType: c_ulonglong, gpuId: c_uint }
    struct nvmlSystemEventSetCreateRequest_v1_t { version: c_uint, set: nvmlSystemEventSet_t }
    struct nvmlSystemEventSetFreeRequest_v1_t { version: c_uint, set: nvmlSystemEventSet_t }
    struct nvmlSystemEventSetWaitRequest_v1_t {
        version: c_uint, timeoutms: c_uint, set: nvmlSystemEventSet_t,
        data: *mut nvmlSystemEventData_v1_t, dataSize: c_uint, numEvent: c_uint,
    }
    struct nvmlSystemRegisterEventRequest_v1_t {
        version: c_uint, eventTypes: c_ulonglong, set: nvmlSystemEventSet_t,
    }
    struct nvmlTemperature_v1_t {
        version: c_uint, sensorType: nvmlTemperatureSensors_t, temperature: c_int,
    }
    union nvmlUUIDValue_t { str_: [c_char; 41usize], bytes: [c_uchar; 16usize] }
    struct nvmlUUID_v1_t { version: c_uint, type_: c_uint, value: nvmlUUIDValue_t }
    struct nvmlUnitFanInfo_t { speed: c_uint, state: nvmlFanState_t }
    struct nvmlUnitFanSpeeds_t { fans: [nvmlUnitFanInfo_t; 24usize], count: c_uint }
    struct nvmlUnitInfo_t {
        name: [c_char; 96usize], id: [c_char; 96usize], serial: [c_char; 96usize],
        firmwareVersion: [c_char; 96usize],
    }
    struct nvmlUnrepairableMemoryStatus_v1_t { bUnrepairableMemory: c_uint }
    struct nvmlUtilization_t { gpu: c_uint, memory: c_uint }
    union nvmlValue_t {
        dVal: f64, siVal: c_int, uiVal: c_uint, ulVal: c_ulong, ullVal: c_ulonglong,
        sllVal: c_longlong, usVal: c_ushort,
    }
    struct nvmlVgpuCreatablePlacementInfo_v1_t {
        version: c_uint, vgpuTypeId: nvmlVgpuTypeId_t, count: c_uint, placementIds: *mut c_uint,
        placementSize: c_uint,
    }
    struct nvmlVgpuHeterogeneousMode_v1_t { version: c_uint, mode: c_uint }
    struct nvmlVgpuInstanceUtilizationInfo_v1_t {
        timeStamp: c_ulonglong, vgpuInstance: nvmlVgpuInstance_t, smUtil: nvmlValue_t,
        memUtil: nvmlValue_t, encUtil: nvmlValue_t, decUtil: nvmlValue_t, jpgUtil: nvmlValue_t,
        ofaUtil: nvmlValue_t,
    }
    struct nvmlVgpuInstanceUtilizationSample_t {
        vgpuInstance: nvmlVgpuInstance_t, timeStamp: c_ulonglong, smUtil: nvmlValue_t,
        memUtil: nvmlValue_t, encUtil: nvmlValue_t, decUtil: nvmlValue_t,
    }
    struct nvmlVgpuInstancesUtilizationInfo_v1_t {
        version: c_uint, sampleValType: nvmlValueType_t, vgpuInstanceCount: c_uint,
        lastSeenTimeStamp: c_ulonglong, vgpuUtilArray: *mut nvmlVgpuInstanceUtilizationInfo_v1_t,
    }
    struct nvmlVgpuLicenseExpiry_t {
        year: c_uint, month: c_ushort, day: c_ushort, hour: c_ushort, min: c_ushort, sec: c_ushort,
        status: c_uchar,
    }
    struct nvmlVgpuLicenseInfo_t {
        isLicensed: c_uchar, licenseExpiry: nvmlVgpuLicenseExpiry_t, currentState: c_uint,
    }
    struct nvmlVgpuMetadata_t {
        version: c_uint, revision: c_uint, guestInfoState: nvmlVgpuGuestInfoState_t,
        guestDriverVersion: [c_char; 80usize], hostDriverVersion: [c_char; 80usize],
        reserved: [c_uint; 6usize], vgpuVirtualizationCaps: c_uint, guestVgpuVersion: c_uint,
        opaqueDataSize: c_uint, opaqueData: [c_char; 4usize],
    }
    struct nvmlVgpuPgpuCompatibility_t {
        vgpuVmCompatibility: nvmlVgpuVmCompatibility_t,
        compatibilityLimitCode: nvmlVgpuPgpuCompatibilityLimitCode_t,
    }
    struct nvmlVgpuPgpuMetadata_t {
        version: c_uint, revision: c_uint, hostDriverVersion: [c_char; 80usize],
        pgpuVirtualizationCaps: c_uint, reserved: [c_uint; 5usize],
        hostSupportedVgpuRange: nvmlVgpuVersion_t, opaqueDataSize: c_uint,
        opaqueData: [c_char; 4usize],
    }
    struct nvmlVgpuPlacementId_v1_t { version: c_uint, placementId: c_uint }
    struct nvmlVgpuPlacementList_v2_t {
        version: c_uint, placementSize: c_uint, count: c_uint, placementIds: *mut c_uint,
        mode: c_uint,
    }
    struct nvmlVgpuProcessUtilizationInfo_v1_t {
        processName: [c_char; 64usize], timeStamp: c_ulonglong, vgpuInstance: nvmlVgpuInstance_t,
        pid: c_uint, smUtil: c_uint, memUtil: c_uint, encUtil: c_uint, decUtil: c_uint,
        jpgUtil: c_uint, ofaUtil: c_uint,
    }
    struct nvmlVgpuProcessUtilizationSample_t {
        vgpuInstance: nvmlVgpuInstance_t, pid: c_uint, processName: [c_char; 64usize],
        timeStamp: c_ulonglong, smUtil: c_uint, memUtil: c_uint, encUtil: c_uint, decUtil: c_uint,
    }
    struct nvmlVgpuProcessesUtilizationInfo_v1_t {
        version: c_uint, vgpuProcessCount: c_uint, lastSeenTimeStamp: c_ulonglong,
        vgpuProcUtilArray: *mut nvmlVgpuProcessUtilizationInfo_v1_t,
    }
    struct nvmlVgpuRuntimeState_v1_t { version: c_uint, size: c_ulonglong }
    struct nvmlVgpuSchedulerCapabilities_t {
        supportedSchedulers: [c_uint; 3usize], maxTimeslice: c_uint, minTimeslice: c_uint,
        isArrModeSupported: c_uint, maxFrequencyForARR: c_uint, minFrequencyForARR: c_uint,
        maxAvgFactorForARR: c_uint, minAvgFactorForARR: c_uint,
    }
    struct nvmlVgpuSchedulerGetState_t {
        schedulerPolicy: c_uint, arrMode: c_uint, schedulerParams: nvmlVgpuSchedulerParams_t,
    }
    struct nvmlVgpuSchedulerLogEntry_t {
        timestamp: c_ulonglong, timeRunTotal: c_ulonglong, timeRun: c_ulonglong,
        swRunlistId: c_uint, targetTimeSlice: c_ulonglong, cumulativePreemptionTime: c_ulonglong,
    }
    struct nvmlVgpuSchedulerLogInfo_v1_t {
        version: c_uint, engineId: c_uint, schedulerPolicy: c_uint, arrMode: c_uint,
        schedulerParams: nvmlVgpuSchedulerParams_t, entriesCount: c_uint,
        logEntries: [nvmlVgpuSchedulerLogEntry_t; 200usize],
    }
    struct nvmlVgpuSchedulerLog_t {
        engineId: c_uint, schedulerPolicy: c_uint, arrMode: c_uint,
        schedulerParams: nvmlVgpuSchedulerParams_t, entriesCount: c_uint,
        logEntries: [nvmlVgpuSchedulerLogEntry_t; 200usize],
    }
    union nvmlVgpuSchedulerParams_t {
        vgpuSchedDataWithARR: nvmlVgpuSchedulerParams_t__bindgen_ty_1,
        vgpuSchedData: nvmlVgpuSchedulerParams_t__bindgen_ty_2,
    }
    struct nvmlVgpuSchedulerParams_t__bindgen_ty_1 { avgFactor: c_uint, timeslice: c_uint }
    struct nvmlVgpuSchedulerParams_t__bindgen_ty_2 { timeslice: c_uint }
    union nvmlVgpuSchedulerSetParams_t {
        vgpuSchedDataWithARR: nvmlVgpuSchedulerSetParams_t__bindgen_ty_1,
        vgpuSchedData: nvmlVgpuSchedulerSetParams_t__bindgen_ty_2,
    }
    struct nvmlVgpuSchedulerSetParams_t__bindgen_ty_1 { avgFactor: c_uint, frequency: c_uint }
    struct nvmlVgpuSchedulerSetParams_t__bindgen_ty_2 { timeslice: c_uint }
    struct nvmlVgpuSchedulerSetState_t {
        schedulerPolicy: c_uint, enableARRMode: c_uint,
        schedulerParams: nvmlVgpuSchedulerSetParams_t,
    }
    struct nvmlVgpuSchedulerStateInfo_v1_t {
        version: c_uint, engineId: c_uint, schedulerPolicy: c_uint, arrMode: c_uint,
        schedulerParams: nvmlVgpuSchedulerParams_t,
    }
    struct nvmlVgpuSchedulerState_v1_t {
        version: c_uint, engineId: c_uint, schedulerPolicy: c_uint, enableARRMode: c_uint,
        schedulerParams: nvmlVgpuSchedulerSetParams_t,
    }
    struct nvmlVgpuTypeBar1Info_v1_t { version: c_uint, bar1Size: c_ulonglong }
    struct nvmlVgpuTypeIdInfo_v1_t {
        version: c_uint, vgpuCount: c_uint, vgpuTypeIds: *mut nvmlVgpuTypeId_t,
    }
    struct nvmlVgpuTypeMaxInstance_v1_t {
        version: c_uint, vgpuTypeId: nvmlVgpuTypeId_t, maxInstancePerGI: c_uint,
    }
    struct nvmlVgpuVersion_t { minVersion: c_uint, maxVersion: c_uint }
    struct nvmlViolationTime_t { referenceTime: c_ulonglong, violationTime: c_ulonglong }
    struct nvmlWorkloadPowerProfileCurrentProfiles_v1_t {
        version: c_uint, perfProfilesMask: nvmlMask255_t, requestedProfilesMask: nvmlMask255_t,
        enforcedProfilesMask: nvmlMask255_t,
    }
    struct nvmlWorkloadPowerProfileInfo_v1_t {
        version: c_uint, profileId: c_uint, priority: c_uint, conflictingMask: nvmlMask255_t,
    }
    struct nvmlWorkloadPowerProfileProfilesInfo_v1_t {
        version: c_uint, perfProfilesMask: nvmlMask255_t,
        perfProfile: [nvmlWorkloadPowerProfileInfo_t; 255usize],
    }
    struct nvmlWorkloadPowerProfileRequestedProfiles_v1_t {
        version: c_uint, requestedProfilesMask: nvmlMask255_t,
    }
}

opaque! {
    nvmlComputeInstance_st, nvmlDevice_st, nvmlEventSet_st, nvmlGpmSample_st, nvmlGpuInstance_st,
    nvmlSystemEventSet_st, nvmlUnit_st,
}
