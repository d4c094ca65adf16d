//! Handles as they travel: u64 numbers that the client mints and the program sees.

/// What a handle stands for; the top byte of its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// `CUcontext`
    Context = 1,
    /// `CUstream`
    Stream = 2,
    /// `CUevent`
    Event = 3,
    /// `CUmodule`
    Module = 4,
    /// `CUfunction`
    Function = 5,
    /// `CUlibrary`
    Library = 6,
    /// `CUkernel`
    Kernel = 7,
    /// `CUlinkState`
    Link = 8,
    /// `CUmemoryPool`
    MemPool = 10,
    /// `CUgraph`
    Graph = 11,
    /// `CUgraphExec`
    GraphExec = 12,
    /// `CUgraphNode`
    GraphNode = 13,
    /// `CUarray`
    Array = 14,
    /// `CUmipmappedArray`
    MipmappedArray = 15,
    /// `CUuserObject`
    UserObject = 17,
    /// `CUtexref`
    TexRef = 18,
    /// `CUsurfref`
    SurfRef = 19,
    /// `nvmlDevice_t`
    NvmlDevice = 32,
    /// `nvmlUnit_t`
    NvmlUnit = 33,
    /// `nvmlEventSet_t`
    NvmlEventSet = 34,
    /// `nvmlGpuInstance_t`
    NvmlGpuInstance = 35,
    /// `nvmlComputeInstance_t`
    NvmlComputeInstance = 36,
    /// `nvmlGpmSample_t`
    NvmlGpmSample = 37,
    /// `nvmlSystemEventSet_t`
    NvmlSystemEventSet = 38,
}

/// Bit of a handle's number that the client never sets: the server minted it, for an object that
/// the driver made without the client asking for it by a number (such as the device's default
/// memory pool).
pub const SERVER_MINTED: u64 = 0b1000;

/// `CU_STREAM_LEGACY`; travels as it is, as does the null stream.
pub const STREAM_LEGACY: u64 = 1;

/// `CU_STREAM_PER_THREAD`; travels as it is.
pub const STREAM_PER_THREAD: u64 = 2;

impl Kind {
    /// The number of the `counter`th handle of this kind, as the client mints it.
    pub const fn handle(self, counter: u64) -> u64 {
        (self as u64) << 56 | (counter & (u64::MAX >> 12)) << 4
    }

    /// The number of the `counter`th handle of this kind, as the server mints it.
    pub const fn server_handle(self, counter: u64) -> u64 {
        self.handle(counter) | SERVER_MINTED
    }

    /// Whether the number may stand where a handle of this kind is asked for: it is of this kind,
    /// or a kernel's where a function is asked for, as CUDA 12 allows.
    #[inline]
    pub const fn accepts(self, handle: u64) -> bool {
        let kernel = matches!(self, Self::Function) && Self::Kernel.matches(handle);
        self.matches(handle) || kernel
    }

    /// Whether the number is of this kind.
    #[inline]
    pub const fn matches(self, handle: u64) -> bool {
        handle >> 56 == self as u64
    }
}

/// The field `context` of a frame: the low 32 bits of the counter of the context's handle; 0 for
/// no context.
#[inline]
pub const fn context_of_frame(handle: u64) -> u32 {
    (handle >> 4) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_has_its_kind() {
        for kind in [Kind::Context, Kind::Stream, Kind::NvmlSystemEventSet] {
            assert!(kind.matches(kind.handle(77)));
            assert!(kind.matches(kind.server_handle(77)));
            assert!(!Kind::Event.matches(kind.handle(77)));
            assert_ne!(kind.handle(77), kind.server_handle(77));
        }
        assert!(Kind::Function.accepts(Kind::Kernel.handle(1)));
        assert!(!Kind::Kernel.accepts(Kind::Function.handle(1)));
        assert!(!Kind::Stream.matches(STREAM_PER_THREAD));
        assert_eq!(context_of_frame(Kind::Context.handle(3)), 3);
    }
}
