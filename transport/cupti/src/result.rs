//! Results of CUPTI's functions, as cupti_result.h numbers them.

use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// `CUptiResult`
pub(crate) type CUptiResult = u32;

pub(crate) const SUCCESS: CUptiResult = 0;
pub(crate) const INVALID_PARAMETER: CUptiResult = 1;
pub(crate) const INVALID_CONTEXT: CUptiResult = 3;
pub(crate) const INVALID_OPERATION: CUptiResult = 7;
pub(crate) const PARAMETER_SIZE_NOT_SUFFICIENT: CUptiResult = 10;
pub(crate) const MAX_LIMIT_REACHED: CUptiResult = 12;
pub(crate) const NOT_INITIALIZED: CUptiResult = 15;
pub(crate) const QUEUE_EMPTY: CUptiResult = 18;
pub(crate) const INVALID_KIND: CUptiResult = 21;
pub(crate) const NOT_SUPPORTED: CUptiResult = 27;
pub(crate) const MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED: CUptiResult = 39;
pub(crate) const UNKNOWN: CUptiResult = 999;

/// The error, where `wrong` holds.
pub(crate) fn fail_if(wrong: bool, error: CUptiResult) -> Result<(), CUptiResult> {
    if wrong { Err(error) } else { Ok(()) }
}

/// The name of a result.
pub(crate) fn name(result: CUptiResult) -> Option<&'static CStr> {
    const NAMES: [&CStr; 47] = [
        c"CUPTI_SUCCESS",
        c"CUPTI_ERROR_INVALID_PARAMETER",
        c"CUPTI_ERROR_INVALID_DEVICE",
        c"CUPTI_ERROR_INVALID_CONTEXT",
        c"CUPTI_ERROR_INVALID_EVENT_DOMAIN_ID",
        c"CUPTI_ERROR_INVALID_EVENT_ID",
        c"CUPTI_ERROR_INVALID_EVENT_NAME",
        c"CUPTI_ERROR_INVALID_OPERATION",
        c"CUPTI_ERROR_OUT_OF_MEMORY",
        c"CUPTI_ERROR_HARDWARE",
        c"CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT",
        c"CUPTI_ERROR_API_NOT_IMPLEMENTED",
        c"CUPTI_ERROR_MAX_LIMIT_REACHED",
        c"CUPTI_ERROR_NOT_READY",
        c"CUPTI_ERROR_NOT_COMPATIBLE",
        c"CUPTI_ERROR_NOT_INITIALIZED",
        c"CUPTI_ERROR_INVALID_METRIC_ID",
        c"CUPTI_ERROR_INVALID_METRIC_NAME",
        c"CUPTI_ERROR_QUEUE_EMPTY",
        c"CUPTI_ERROR_INVALID_HANDLE",
        c"CUPTI_ERROR_INVALID_STREAM",
        c"CUPTI_ERROR_INVALID_KIND",
        c"CUPTI_ERROR_INVALID_EVENT_VALUE",
        c"CUPTI_ERROR_DISABLED",
        c"CUPTI_ERROR_INVALID_MODULE",
        c"CUPTI_ERROR_INVALID_METRIC_VALUE",
        c"CUPTI_ERROR_HARDWARE_BUSY",
        c"CUPTI_ERROR_NOT_SUPPORTED",
        c"CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED",
        c"CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_DEVICE",
        c"CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_NON_P2P_DEVICES",
        c"CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_WITH_MPS",
        c"CUPTI_ERROR_CDP_TRACING_NOT_SUPPORTED",
        c"CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED",
        c"CUPTI_ERROR_CUDA_COMPILER_NOT_COMPATIBLE",
        c"CUPTI_ERROR_INSUFFICIENT_PRIVILEGES",
        c"CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED",
        c"CUPTI_ERROR_OPENACC_UNDEFINED_ROUTINE",
        c"CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED",
        c"CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED",
        c"CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES",
        c"CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED",
        c"CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED",
        c"CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED",
        c"CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED",
        c"CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED",
        c"CUPTI_ERROR_INVALID_CHIP_NAME",
    ];
    match result {
        UNKNOWN => Some(c"CUPTI_ERROR_UNKNOWN"),
        result => NAMES.get(result as usize).copied(),
    }
}

/// Does `action` so that nothing but a result comes out of it.
pub(crate) fn guard(action: impl FnOnce() -> Result<(), CUptiResult>) -> CUptiResult {
    match catch_unwind(AssertUnwindSafe(action)) {
        Ok(Ok(())) => SUCCESS,
        Ok(Err(code)) => code,
        Err(_) => UNKNOWN,
    }
}
