//! CUDA API calls of running processes, by uprobes on their libcuda.so.1: percentiles by process and
//! function, errors, bytes, and a ledger of device memory, all counted in the kernel.
//!
//! [`library`] finds the driver's library in processes, in containers too; [`elf`] the functions in it;
//! [`Tracer`] loads the BPF programs (`ebpf/core/cuda_api.bpf.c`) and attaches them; [`Watch`] follows processes with it.

mod calibrate;
mod calls;
mod collect;
pub mod elf;
pub mod embedded;
mod floor;
mod forecast;
pub mod functions;
mod governor;
mod instruction;
pub mod library;
mod load;
mod mappings;
mod own_code;
mod pod;
pub mod procfs;
mod recovery;
mod run_stats;
mod survey;
mod tracer;
mod watch;
mod way;

pub use calibrate::TrapCost;
pub use calls::{Calls, UnderWay};
pub use collect::{Counted, Row};
pub use floor::{Attached, Baseline, Floor};
pub use functions::Function;
pub use instruction::{Class, place};
pub use library::{FileId, Library};
pub use load::{Options, TraceError};
pub use procfs::Identity;
pub use survey::{Survey, survey};
pub use tracer::{Probed, Site, Tracer};
pub use watch::{Cost, ENDED, MemoryReport, POLL_INTERVAL, Report, Settings, Watch};
pub use way::Way;
