//! What the build script has written.

// The symbols' names, and calls of the driver: pointers are to values and arrays of the sizes that the driver is
// given, and that is the SAFETY of every block here.
#![allow(
    clippy::collapsible_if,
    clippy::match_single_binding,
    clippy::too_many_arguments,
    clippy::type_complexity,
    clippy::undocumented_unsafe_blocks,
    dead_code,
    non_snake_case,
    non_upper_case_globals,
    unreachable_pub,
    unsafe_code,
    unused_imports,
    unused_mut,
    unused_variables
)]

/// The functions of the CUDA driver API, and the dispatch to them.
pub(crate) mod driver {
    include!(concat!(env!("OUT_DIR"), "/driver.rs"));
}

/// The functions of NVML, and the dispatch to them.
pub(crate) mod nvml {
    include!(concat!(env!("OUT_DIR"), "/nvml.rs"));
}
