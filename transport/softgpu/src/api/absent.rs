//! Symbols that are there and refuse: cublasLt of CUDA 13 looks each of them up by its name when it starts, and does not
//! start if one is missing. `cuGetProcAddress` does not offer them.

#![allow(missing_docs)] // each refuses

use crate::error::NOT_SUPPORTED;

macro_rules! absent {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> u32 {
            NOT_SUPPORTED.code()
        }
    )*};
}

absent! {
    cuArrayGetMemoryRequirements
    cuArrayGetPlane
    cuCtxCreate
    cuDeviceGetHostAtomicCapabilities
    cuDeviceGetP2PAtomicCapabilities
    cuDeviceGetTexture1DLinearMaxWidth
    cuEventDestroy
    cuFlushGPUDirectRDMAWrites
    cuGreenCtxGetDevResource
    cuGreenCtxStreamCreate
    cuLinkAddData
    cuLinkAddFile
    cuLinkCreate
    cuMemHostRegister
    cuMipmappedArrayGetMemoryRequirements
    cuProfilerInitialize
    cuStreamCopyAttributes
    cuStreamCopyAttributes_ptsz
    cuStreamDestroy
    cuStreamGetAttribute
    cuStreamGetAttribute_ptsz
    cuStreamSetAttribute
    cuStreamSetAttribute_ptsz
    cuTensorMapEncodeIm2col
    cuTensorMapEncodeTiled
    cuTensorMapReplaceAddress
}
