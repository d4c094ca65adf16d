//! What the host side (`cargo xtask vm-test`) and the guest side (`gtrace-vm-init`) share: the
//! scenarios, where things lie in the guest's image, and the lines that the two exchange.

#![forbid(unsafe_code)]

pub mod layout;
pub mod protocol;
pub mod scenario;
