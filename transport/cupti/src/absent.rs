//! What CUPTI 12.8 to 13.2 exports besides and is not served: counters, metrics, samples and ranges of the hardware, NVTX,
//! OpenACC, OpenMP, checkpoints. Each answers CUPTI_ERROR_NOT_SUPPORTED whatever its arguments are.

// The symbols of the library.
#![allow(missing_docs, non_snake_case, unreachable_pub, unsafe_code)]

use crate::result::{CUptiResult, NOT_SUPPORTED};

macro_rules! absent {
    ($($name:ident)*) => {
        $(
            #[unsafe(no_mangle)]
            pub extern "C" fn $name() -> CUptiResult {
                NOT_SUPPORTED
            }
        )*
    };
}

absent! {
    cuptiActivityConfigurePCSampling cuptiActivityDisable_v2 cuptiActivityEnableAllocationSource
    cuptiActivityEnableAndDump cuptiActivityEnableAndDump_v2 cuptiActivityEnableBufferSummary
    cuptiActivityEnableDeviceGraph cuptiActivityEnableHWTrace cuptiActivityEnableRawTimestamps
    cuptiActivityEnableRawTimestamps_v2 cuptiActivityEnable_v2 cuptiActivityGetAttribute_v2
    cuptiActivityGetEnabledKinds cuptiActivityGetNvtxExtPayloadAttr
    cuptiActivityGetNvtxExtPayloadEntryTypeInfo cuptiActivityGetStructSize
    cuptiActivityRegisterCallbacks_v2 cuptiActivitySetAttribute_v2 cuptiComputeCapabilitySupported
    cuptiDeviceEnumEventDomains cuptiDeviceEnumMetrics cuptiDeviceGetAttribute
    cuptiDeviceGetChipName cuptiDeviceGetEventDomainAttribute cuptiDeviceGetNumEventDomains
    cuptiDeviceGetNumMetrics cuptiDeviceSupported cuptiDeviceVirtualizationMode
    cuptiDisableKernelReplayMode cuptiDisableLibcuda cuptiDisableNonOverlappingMode
    cuptiEnableCigMode cuptiEnableKernelReplayMode cuptiEnableNonOverlappingMode
    cuptiEnumEventDomains cuptiEnumMetrics cuptiEventDomainEnumEvents cuptiEventDomainGetAttribute
    cuptiEventDomainGetNumEvents cuptiEventGetAttribute cuptiEventGetIdFromName
    cuptiEventGroupAddEvent cuptiEventGroupCreate cuptiEventGroupDestroy cuptiEventGroupDisable
    cuptiEventGroupEnable cuptiEventGroupGetAttribute cuptiEventGroupReadAllEvents
    cuptiEventGroupReadEvent cuptiEventGroupRemoveAllEvents cuptiEventGroupRemoveEvent
    cuptiEventGroupResetAllEvents cuptiEventGroupSetAttribute cuptiEventGroupSetDisable
    cuptiEventGroupSetEnable cuptiEventGroupSetsCreate cuptiEventGroupSetsDestroy
    cuptiGetAutoBoostState cuptiGetCubinCrc cuptiGetEnabledCallbacks cuptiGetGlobalCallbackState
    cuptiGetNumContexts cuptiGetNumEventDomains cuptiGetNumMetrics cuptiGetRecommendedBufferSize
    cuptiGetSassToSourceCorrelation cuptiKernelReplaySubscribeUpdate cuptiMetricCreateEventGroupSets
    cuptiMetricEnumEvents cuptiMetricEnumProperties cuptiMetricGetAttribute cuptiMetricGetIdFromName
    cuptiMetricGetNumEvents cuptiMetricGetNumProperties cuptiMetricGetRequiredEventGroupSets
    cuptiMetricGetValue cuptiMetricGetValue2 cuptiNvtxExtensionInitialize cuptiNvtxInitialize
    cuptiNvtxInitialize2 cuptiOpenACCInitialize cuptiOpenMpInitialize cuptiOpenMpInitialize_v2
    cuptiPCSamplingDisable cuptiPCSamplingEnable cuptiPCSamplingGetConfigurationAttribute
    cuptiPCSamplingGetData cuptiPCSamplingGetNumStallReasons cuptiPCSamplingGetStallReasons
    cuptiPCSamplingSetConfigurationAttribute cuptiPCSamplingStart cuptiPCSamplingStop
    cuptiPmSamplingCounterDataGetSampleInfo cuptiPmSamplingCounterDataImageInitialize
    cuptiPmSamplingDecodeData cuptiPmSamplingDisable cuptiPmSamplingEnable
    cuptiPmSamplingGetCounterAvailability cuptiPmSamplingGetCounterDataInfo
    cuptiPmSamplingGetCounterDataSize cuptiPmSamplingSetConfig cuptiPmSamplingStart
    cuptiPmSamplingStop cuptiProfilerBeginPass cuptiProfilerBeginSession
    cuptiProfilerCounterDataImageCalculateScratchBufferSize
    cuptiProfilerCounterDataImageCalculateSize cuptiProfilerCounterDataImageInitialize
    cuptiProfilerCounterDataImageInitializeScratchBuffer cuptiProfilerDeInitialize
    cuptiProfilerDeviceSupported cuptiProfilerDisableProfiling cuptiProfilerEnableProfiling
    cuptiProfilerEndPass cuptiProfilerEndSession cuptiProfilerFlushCounterData
    cuptiProfilerGetCounterAvailability cuptiProfilerHostConfigAddMetrics
    cuptiProfilerHostDeinitialize cuptiProfilerHostEvaluateToGpuValues
    cuptiProfilerHostGetBaseMetrics cuptiProfilerHostGetConfigImage
    cuptiProfilerHostGetConfigImageSize cuptiProfilerHostGetMaxNumHardwareMetricsPerPass
    cuptiProfilerHostGetMetricProperties cuptiProfilerHostGetMetricsInSinglePassSet
    cuptiProfilerHostGetNumOfPasses cuptiProfilerHostGetRangeName cuptiProfilerHostGetSinglePassSets
    cuptiProfilerHostGetSubMetrics cuptiProfilerHostGetSupportedChips cuptiProfilerHostInitialize
    cuptiProfilerInitialize cuptiProfilerIsPassCollected cuptiProfilerPopRange
    cuptiProfilerPushRange cuptiProfilerSetConfig cuptiProfilerUnsetConfig
    cuptiRangeProfilerCounterDataGetRangeInfo cuptiRangeProfilerCounterDataImageInitialize
    cuptiRangeProfilerDecodeData cuptiRangeProfilerDisable cuptiRangeProfilerEnable
    cuptiRangeProfilerGetCounterDataInfo cuptiRangeProfilerGetCounterDataSize
    cuptiRangeProfilerPopRange cuptiRangeProfilerPushRange cuptiRangeProfilerSetConfig
    cuptiRangeProfilerStart cuptiRangeProfilerStop cuptiRegisterComputeCrcCallback
    cuptiSassMetricsDisable cuptiSassMetricsEnable cuptiSassMetricsFlushData
    cuptiSassMetricsGetDataProperties cuptiSassMetricsGetMetrics cuptiSassMetricsGetNumOfMetrics
    cuptiSassMetricsGetProperties cuptiSassMetricsSetConfig cuptiSassMetricsUnsetConfig
    cuptiSetEventCollectionMode cuptiStateQuery
}

macro_rules! no_injection {
    ($($name:ident)*) => {
        $(
            /// NVTX takes 0 for a failure.
            #[unsafe(no_mangle)]
            pub extern "C" fn $name() -> i32 {
                0
            }
        )*
    };
}

no_injection! { InitializeInjectionNvtx InitializeInjectionNvtx2 InitializeInjectionNvtxExtension }
