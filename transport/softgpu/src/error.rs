//! `CUresult`: codes of the driver API.

/// A `CUresult` that is not success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CuError(u32);

impl CuError {
    /// The error of a code, or `None` for success.
    #[must_use]
    pub const fn from_code(code: u32) -> Option<Self> {
        if code == 0 { None } else { Some(Self(code)) }
    }

    /// The number of the `CUresult`.
    #[must_use]
    pub const fn code(self) -> u32 {
        self.0
    }
}

/// `CUDA_ERROR_INVALID_VALUE`.
pub const INVALID_VALUE: CuError = CuError(1);
/// `CUDA_ERROR_OUT_OF_MEMORY`.
pub const OUT_OF_MEMORY: CuError = CuError(2);
/// `CUDA_ERROR_NOT_INITIALIZED`.
pub const NOT_INITIALIZED: CuError = CuError(3);
/// `CUDA_ERROR_DEVICE_UNAVAILABLE`.
pub const DEVICE_UNAVAILABLE: CuError = CuError(46);
/// `CUDA_ERROR_NO_DEVICE`.
pub const NO_DEVICE: CuError = CuError(100);
/// `CUDA_ERROR_INVALID_DEVICE`.
pub const INVALID_DEVICE: CuError = CuError(101);
/// `CUDA_ERROR_INVALID_IMAGE`.
pub const INVALID_IMAGE: CuError = CuError(200);
/// `CUDA_ERROR_INVALID_CONTEXT`.
pub const INVALID_CONTEXT: CuError = CuError(201);
/// `CUDA_ERROR_NO_BINARY_FOR_GPU`.
pub const NO_BINARY_FOR_GPU: CuError = CuError(209);
/// `CUDA_ERROR_UNSUPPORTED_LIMIT`.
pub const UNSUPPORTED_LIMIT: CuError = CuError(215);
/// `CUDA_ERROR_INVALID_PTX`.
pub const INVALID_PTX: CuError = CuError(218);
/// `CUDA_ERROR_UNSUPPORTED_PTX_VERSION`.
pub const UNSUPPORTED_PTX_VERSION: CuError = CuError(222);
/// `CUDA_ERROR_FILE_NOT_FOUND`.
pub const FILE_NOT_FOUND: CuError = CuError(301);
/// `CUDA_ERROR_OPERATING_SYSTEM`.
pub const OPERATING_SYSTEM: CuError = CuError(304);
/// `CUDA_ERROR_INVALID_HANDLE`.
pub const INVALID_HANDLE: CuError = CuError(400);
/// `CUDA_ERROR_ILLEGAL_STATE`.
pub const ILLEGAL_STATE: CuError = CuError(401);
/// `CUDA_ERROR_LOSSY_QUERY`.
pub const LOSSY_QUERY: CuError = CuError(402);
/// `CUDA_ERROR_NOT_FOUND`.
pub const NOT_FOUND: CuError = CuError(500);
/// `CUDA_ERROR_NOT_READY`.
pub const NOT_READY: CuError = CuError(600);
/// `CUDA_ERROR_ILLEGAL_ADDRESS`.
pub const ILLEGAL_ADDRESS: CuError = CuError(700);
/// `CUDA_ERROR_LAUNCH_TIMEOUT`.
pub const LAUNCH_TIMEOUT: CuError = CuError(702);
/// `CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED`.
pub const PEER_ACCESS_ALREADY_ENABLED: CuError = CuError(704);
/// `CUDA_ERROR_PEER_ACCESS_NOT_ENABLED`.
pub const PEER_ACCESS_NOT_ENABLED: CuError = CuError(705);
/// `CUDA_ERROR_CONTEXT_IS_DESTROYED`.
pub const CONTEXT_IS_DESTROYED: CuError = CuError(709);
/// `CUDA_ERROR_ASSERT`.
pub const ASSERT: CuError = CuError(710);
/// `CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED`.
pub const HOST_MEMORY_ALREADY_REGISTERED: CuError = CuError(712);
/// `CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED`.
pub const HOST_MEMORY_NOT_REGISTERED: CuError = CuError(713);
/// `CUDA_ERROR_HARDWARE_STACK_ERROR`.
pub const HARDWARE_STACK_ERROR: CuError = CuError(714);
/// `CUDA_ERROR_ILLEGAL_INSTRUCTION`.
pub const ILLEGAL_INSTRUCTION: CuError = CuError(715);
/// `CUDA_ERROR_MISALIGNED_ADDRESS`.
pub const MISALIGNED_ADDRESS: CuError = CuError(716);
/// `CUDA_ERROR_INVALID_PC`.
pub const INVALID_PC: CuError = CuError(718);
/// `CUDA_ERROR_LAUNCH_FAILED`.
pub const LAUNCH_FAILED: CuError = CuError(719);
/// `CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE`.
pub const COOPERATIVE_LAUNCH_TOO_LARGE: CuError = CuError(720);
/// `CUDA_ERROR_NOT_PERMITTED`.
pub const NOT_PERMITTED: CuError = CuError(800);
/// `CUDA_ERROR_INVALID_CLUSTER_SIZE`.
pub const INVALID_CLUSTER_SIZE: CuError = CuError(912);
/// `CUDA_ERROR_NOT_SUPPORTED`.
pub const NOT_SUPPORTED: CuError = CuError(801);
/// `CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED`.
pub const STREAM_CAPTURE_UNSUPPORTED: CuError = CuError(900);
/// `CUDA_ERROR_STREAM_CAPTURE_INVALIDATED`.
pub const STREAM_CAPTURE_INVALIDATED: CuError = CuError(901);
/// `CUDA_ERROR_STREAM_CAPTURE_MERGE`.
pub const STREAM_CAPTURE_MERGE: CuError = CuError(902);
/// `CUDA_ERROR_STREAM_CAPTURE_UNMATCHED`.
pub const STREAM_CAPTURE_UNMATCHED: CuError = CuError(903);
/// `CUDA_ERROR_STREAM_CAPTURE_UNJOINED`.
pub const STREAM_CAPTURE_UNJOINED: CuError = CuError(904);
/// `CUDA_ERROR_STREAM_CAPTURE_ISOLATION`.
pub const STREAM_CAPTURE_ISOLATION: CuError = CuError(905);
/// `CUDA_ERROR_STREAM_CAPTURE_IMPLICIT`.
pub const STREAM_CAPTURE_IMPLICIT: CuError = CuError(906);
/// `CUDA_ERROR_CAPTURED_EVENT`.
pub const CAPTURED_EVENT: CuError = CuError(907);
/// `CUDA_ERROR_FUNCTION_NOT_LOADED`.
pub const FUNCTION_NOT_LOADED: CuError = CuError(913);
/// `CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD`.
pub const STREAM_CAPTURE_WRONG_THREAD: CuError = CuError(908);
/// `CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE`.
pub const GRAPH_EXEC_UPDATE_FAILURE: CuError = CuError(910);
/// `CUDA_ERROR_UNKNOWN`.
pub const UNKNOWN: CuError = CuError(999);
