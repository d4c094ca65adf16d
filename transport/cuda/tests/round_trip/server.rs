//! The server's dispatch, as it is generated.

#![allow(dead_code, unreachable_pub, reason = "only some of it is called here")]

#[path = "../../../server/src/generated/driver.rs"]
pub(crate) mod driver;
#[path = "../../../server/src/generated/nvml.rs"]
pub(crate) mod nvml;
