//! CUDA calls of running processes, by uprobes: what is reported about them, and the thread of the daemon that
//! counts them.

mod report;
mod service;

pub use report::{cgroup_of, function_name, report_of, result_name};
pub use service::{Service, ServiceOptions, TASK};
