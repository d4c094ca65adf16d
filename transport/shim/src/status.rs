//! Which error stands for what, where CUDA has none of its own.

use gtrace_cuda::types::driver::{self as cuda, CUresult};
use gtrace_cuda::types::nvml::{self, nvmlReturn_t};

/// The server cannot be reached, or refuses: what `cuInit` answers. "The system is not yet ready to
/// start any CUDA work."
pub(crate) const UNREACHABLE: CUresult = cuda::CUDA_ERROR_SYSTEM_NOT_READY;
/// The connection is lost: what every later call answers.
pub(crate) const LOST: CUresult = cuda::CUDA_ERROR_DEVICE_UNAVAILABLE;

/// The error, where `wrong` holds.
#[inline]
pub(crate) fn fail_if<E>(wrong: bool, error: E) -> Result<(), E> {
    if wrong { Err(error) } else { Ok(()) }
}

/// The NVML error for a failure of the shim itself.
pub(crate) fn to_nvml(code: CUresult) -> nvmlReturn_t {
    match code {
        cuda::CUDA_SUCCESS => nvml::NVML_SUCCESS,
        cuda::CUDA_ERROR_INVALID_VALUE => nvml::NVML_ERROR_INVALID_ARGUMENT,
        cuda::CUDA_ERROR_NOT_INITIALIZED | cuda::CUDA_ERROR_DEINITIALIZED => {
            nvml::NVML_ERROR_UNINITIALIZED
        }
        cuda::CUDA_ERROR_NOT_SUPPORTED => nvml::NVML_ERROR_NOT_SUPPORTED,
        cuda::CUDA_ERROR_OUT_OF_MEMORY => nvml::NVML_ERROR_MEMORY,
        UNREACHABLE => nvml::NVML_ERROR_DRIVER_NOT_LOADED,
        LOST => nvml::NVML_ERROR_GPU_IS_LOST,
        _ => nvml::NVML_ERROR_UNKNOWN,
    }
}
