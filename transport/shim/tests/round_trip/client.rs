//! The client's calls, as they are generated.

#![allow(
    clippy::too_many_arguments,
    clippy::undocumented_unsafe_blocks,
    dead_code,
    non_snake_case,
    unreachable_pub,
    unsafe_code,
    unused_imports,
    unused_variables,
    reason = "generated, and only some of it is called here"
)]

pub(crate) mod driver {
    include!(concat!(env!("OUT_DIR"), "/driver_calls.rs"));
}
pub(crate) mod nvml {
    include!(concat!(env!("OUT_DIR"), "/nvml_calls.rs"));
}
