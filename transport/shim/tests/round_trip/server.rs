//! The server's dispatch, as it is generated.

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
    unused_variables,
    reason = "generated, and only some of it is called here"
)]

pub(crate) mod driver {
    include!(concat!(env!("OUT_DIR"), "/driver_dispatch.rs"));
}
pub(crate) mod nvml {
    include!(concat!(env!("OUT_DIR"), "/nvml_dispatch.rs"));
}
