//! What the build script has written.

// The symbols' names, and pointers of C programs: each function trusts those that the API's documentation lets it
// trust, and that is the SAFETY of every block here. What is exported to C is `pub` to nobody in Rust.
#![allow(clippy::missing_safety_doc, clippy::too_many_arguments)]
#![allow(clippy::undocumented_unsafe_blocks, clippy::unnecessary_cast)]
#![allow(dead_code, missing_docs, non_snake_case, unreachable_pub, unsafe_code)]
#![allow(unused_imports, unused_variables)]

/// The symbols of the CUDA driver API.
pub(crate) mod driver {
    include!(concat!(env!("OUT_DIR"), "/driver.rs"));

    /// Calls that travel as they are described.
    pub(crate) mod remote {
        include!(concat!(env!("OUT_DIR"), "/driver_calls.rs"));
    }
}

/// The symbols of NVML.
pub(crate) mod nvml {
    include!(concat!(env!("OUT_DIR"), "/nvml.rs"));

    /// Calls that travel as they are described.
    pub(crate) mod remote {
        include!(concat!(env!("OUT_DIR"), "/nvml_calls.rs"));
    }
}

/// Symbols of the CUDA driver API that are not supported.
pub(crate) mod absent {
    include!(concat!(env!("OUT_DIR"), "/absent.rs"));
}

/// Symbols of NVML that are refused.
pub(crate) mod refused {
    include!(concat!(env!("OUT_DIR"), "/refused.rs"));
}
