//! NVML, in a child process of its own: `gtrace nvml-child`.
//!
//! A call into NVML on a dead GPU can stay in the kernel for ever, where not even SIGKILL ends
//! it. The daemon never makes one. It asks its child, waits until a deadline, kills the child
//! and goes on.

mod beyond;
mod child;
mod client;
mod collect;
mod config;
mod fabric;
mod fields;
mod gpm;
mod license;
mod links;
mod machine;
mod mig;
mod processes;
mod protocol;
mod reader;
mod silent;
mod status;

pub use child::child_main;
pub use client::NvmlClient;
pub use config::{NvmlConfig, Readings};
pub use protocol::{NvmlGpu, NvmlSnapshot, UnreadableGpu};
pub use status::{NvmlError, NvmlState, NvmlStatus};

/// The parser of a response line, for fuzzing.
#[doc(hidden)]
pub use protocol::parse_response;
