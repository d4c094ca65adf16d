//! Where occurrences come from. Each source runs in a thread of its own, decodes what it reads,
//! and passes occurrences to the [`crate::pipeline`].

pub mod calls;
mod cgroup;
pub mod console;
pub mod devices;
pub mod driver;
mod keeper;
pub mod kmsg;
pub mod layouts;
pub mod look;
pub mod operation;
pub mod probes;
pub mod process;
pub(crate) mod rdma;
pub mod records;
pub mod table;
mod users;
pub mod watched;
