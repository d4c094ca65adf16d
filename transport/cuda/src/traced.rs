//! What a call reports about itself in a trace, by what its parameters are called: which of them are bytes,
//! addresses, the stream, the kernel. Parameters are named by their place, from 0 on.

use crate::Signature;

/// How many bytes a call is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bytes {
    /// The signature does not say.
    Unknown,
    /// As many as the parameter says.
    Count(usize),
    /// Elements of so many bytes.
    Elements(usize, u64),
    /// Width times height elements of so many bytes.
    Area([usize; 2], u64),
    /// Those of a `CUDA_MEMCPY2D`.
    Copy2d(usize),
    /// Those of a `CUDA_MEMCPY3D`.
    Copy3d(usize),
    /// Those of a `CUDA_MEMCPY3D_PEER`.
    Copy3dPeer(usize),
}

/// What a call's record holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traced {
    /// Nothing but time and result.
    Plain,
    /// The stream.
    Stream(usize),
    /// A copy.
    Copy {
        /// How much.
        bytes: Bytes,
        /// The stream.
        stream: Option<usize>,
        /// Destination.
        to: Option<usize>,
        /// Source.
        from: Option<usize>,
    },
    /// Memory that is set.
    Set {
        /// How much.
        bytes: Bytes,
        /// The stream.
        stream: Option<usize>,
        /// Destination.
        to: usize,
    },
    /// An allocation.
    Allocate {
        /// How much.
        bytes: Bytes,
        /// The stream.
        stream: Option<usize>,
        /// Where the call writes the address or handle.
        given: usize,
    },
    /// Memory that is given back.
    Free {
        /// The stream.
        stream: Option<usize>,
        /// Its address.
        freed: usize,
    },
    /// A kernel that is started.
    Launch {
        /// The kernel.
        function: usize,
        /// The stream.
        stream: Option<usize>,
        /// Blocks.
        grid: [usize; 3],
        /// Threads of a block.
        block: [usize; 3],
        /// Bytes of shared memory.
        shared: usize,
    },
    /// A kernel that is started as a `CUlaunchConfig` says.
    LaunchEx {
        /// The configuration.
        config: usize,
        /// The kernel.
        function: usize,
    },
}

/// What records of a function's calls hold.
pub fn traced(signature: &Signature) -> Traced {
    let name = signature.name;
    let place = |wanted: &str| signature.parameters.iter().position(|p| p.name == wanted);
    let has = |wanted: &str| place(wanted).is_some();
    let first = |from: &[&str]| from.iter().find_map(|name| place(name));
    let stream = signature.parameters.iter().position(|p| p.ty == "CUstream");
    if name == "cuLaunchKernelEx"
        && let (Some(config), Some(function)) = (place("config"), place("f"))
    {
        return Traced::LaunchEx { config, function };
    }
    let all = |names: [&str; 3]| {
        let [x, y, z] = names.map(&place);
        Some([x?, y?, z?])
    };
    if let Some(function) = place("f")
        && let Some(grid) = all(["gridDimX", "gridDimY", "gridDimZ"])
        && let Some(block) = all(["blockDimX", "blockDimY", "blockDimZ"])
        && let Some(shared) = place("sharedMemBytes")
    {
        return Traced::Launch {
            function,
            stream,
            grid,
            block,
            shared,
        };
    }
    if name.starts_with("cuMemcpy") {
        let counted = first(&["ByteCount", "size"]).map(Bytes::Count);
        let bytes = match signature.parameters.first().map(|p| p.ty) {
            Some("*const CUDA_MEMCPY2D") => Bytes::Copy2d(0),
            Some("*const CUDA_MEMCPY3D") => Bytes::Copy3d(0),
            Some("*const CUDA_MEMCPY3D_PEER") => Bytes::Copy3dPeer(0),
            _ => counted.unwrap_or(Bytes::Unknown),
        };
        return Traced::Copy {
            bytes,
            stream,
            to: first(&["dstDevice", "dst", "dstHost", "dstArray"]),
            from: first(&["srcDevice", "src", "srcHost", "srcArray"]),
        };
    }
    if name.starts_with("cuMemset")
        && let Some(to) = place("dstDevice")
    {
        let size = match name {
            _ if name.contains("D32") => 4,
            _ if name.contains("D16") => 2,
            _ => 1,
        };
        let bytes = match (place("N"), place("Width"), place("Height")) {
            (Some(count), ..) => Bytes::Elements(count, size),
            (None, Some(width), Some(height)) => Bytes::Area([width, height], size),
            _ => Bytes::Unknown,
        };
        return Traced::Set { bytes, stream, to };
    }
    let allocates = name.starts_with("cuMemAlloc")
        || ["cuMemHostAlloc", "cuMemCreate", "cuMemAddressReserve"].contains(&name);
    if allocates && let Some(given) = first(&["dptr", "pp", "handle", "ptr"]) {
        let bytes = match (first(&["bytesize", "size"]), place("WidthInBytes")) {
            (Some(bytes), _) => Bytes::Count(bytes),
            (None, Some(width)) if has("Height") => {
                Bytes::Area([width, place("Height").unwrap_or(width)], 1)
            }
            _ => Bytes::Unknown,
        };
        return Traced::Allocate {
            bytes,
            stream,
            given,
        };
    }
    if name.starts_with("cuMemFree")
        && let Some(freed) = first(&["dptr", "p"])
    {
        return Traced::Free { stream, freed };
    }
    stream.map_or(Traced::Plain, Traced::Stream)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{find, signatures};

    fn of(name: &str) -> Traced {
        traced(find(signatures::DRIVER, name).unwrap())
    }

    #[test]
    fn parameters_that_matter_are_found_by_their_names() {
        assert_eq!(
            of("cuMemcpyHtoDAsync_v2"),
            Traced::Copy {
                bytes: Bytes::Count(2),
                stream: Some(3),
                to: Some(0),
                from: Some(1),
            }
        );
        assert_eq!(
            of("cuLaunchKernel"),
            Traced::Launch {
                function: 0,
                stream: Some(8),
                grid: [1, 2, 3],
                block: [4, 5, 6],
                shared: 7,
            }
        );
        let Traced::Set { bytes, stream, .. } = of("cuMemsetD2D32Async") else {
            panic!("it sets memory");
        };
        assert_eq!((bytes, stream), (Bytes::Area([3, 4], 4), Some(5)));
        assert_eq!(of("cuStreamSynchronize"), Traced::Stream(0));
        assert_eq!(of("cuCtxSynchronize"), Traced::Plain);
        let config = Traced::LaunchEx {
            config: 0,
            function: 1,
        };
        assert_eq!(of("cuLaunchKernelEx"), config);
    }
}
