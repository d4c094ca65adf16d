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

/// The error, where `wrong` holds.
#[inline]
pub(crate) fn fail_if<E>(wrong: bool, error: E) -> Result<(), E> {
    if wrong { Err(error) } else { Ok(()) }
}

macro_rules! errors {
    ($($name:ident = $code:literal,)*) => {$(
        #[doc = concat!("`CUDA_ERROR_", stringify!($name), "`.")]
        pub const $name: CuError = CuError($code);
    )*};
}

errors! {
    INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, DEVICE_UNAVAILABLE = 46,
    NO_DEVICE = 100, INVALID_DEVICE = 101, INVALID_IMAGE = 200, INVALID_CONTEXT = 201,
    NO_BINARY_FOR_GPU = 209, UNSUPPORTED_LIMIT = 215, INVALID_PTX = 218,
    UNSUPPORTED_PTX_VERSION = 222, FILE_NOT_FOUND = 301, OPERATING_SYSTEM = 304,
    INVALID_HANDLE = 400, ILLEGAL_STATE = 401, LOSSY_QUERY = 402, NOT_FOUND = 500, NOT_READY = 600,
    ILLEGAL_ADDRESS = 700, LAUNCH_TIMEOUT = 702, PEER_ACCESS_ALREADY_ENABLED = 704,
    PEER_ACCESS_NOT_ENABLED = 705, CONTEXT_IS_DESTROYED = 709, ASSERT = 710,
    HOST_MEMORY_ALREADY_REGISTERED = 712, HOST_MEMORY_NOT_REGISTERED = 713,
    HARDWARE_STACK_ERROR = 714, ILLEGAL_INSTRUCTION = 715, MISALIGNED_ADDRESS = 716,
    INVALID_PC = 718, LAUNCH_FAILED = 719, COOPERATIVE_LAUNCH_TOO_LARGE = 720, NOT_PERMITTED = 800,
    INVALID_CLUSTER_SIZE = 912, NOT_SUPPORTED = 801, STREAM_CAPTURE_UNSUPPORTED = 900,
    STREAM_CAPTURE_INVALIDATED = 901, STREAM_CAPTURE_MERGE = 902, STREAM_CAPTURE_UNMATCHED = 903,
    STREAM_CAPTURE_UNJOINED = 904, STREAM_CAPTURE_ISOLATION = 905, STREAM_CAPTURE_IMPLICIT = 906,
    CAPTURED_EVENT = 907, FUNCTION_NOT_LOADED = 913, STREAM_CAPTURE_WRONG_THREAD = 908,
    GRAPH_EXEC_UPDATE_FAILURE = 910, UNKNOWN = 999,
}
