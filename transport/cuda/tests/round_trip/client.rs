//! The client's calls, as they are generated.

#![allow(dead_code, unreachable_pub, reason = "only some of it is called here")]

#[path = "../../../shim/src/generated/driver/remote.rs"]
pub(crate) mod driver;
#[path = "../../../shim/src/generated/nvml/remote.rs"]
pub(crate) mod nvml;
