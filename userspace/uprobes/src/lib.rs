//! CUDA API calls of running processes, by uprobes on their libcuda.so.1: percentiles by process and
//! function, errors, bytes, and a ledger of device memory, all counted in the kernel.
//!
//! [`library`] finds the driver's library in processes, in containers too; [`elf`] the functions in it;
//! [`Tracer`] loads the BPF programs (`ebpf/core/cuda_api.bpf.c`) and attaches them; [`Watch`] follows processes with it.

mod calibrate;
mod calls;
mod collect;
pub mod elf;
mod floor;
mod forecast;
pub mod functions;
mod governor;
mod instruction;
pub mod library;
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
pub use floor::{Attached, Bare, Floor};
pub use functions::Function;
pub use instruction::{Class, place};
pub use library::{FileId, Library};
pub use survey::{Survey, survey};
pub use tracer::{Options, Probed, Site, TraceError, Tracer};
pub use watch::{Cost, ENDED, Identity, LOOK_EVERY, MemoryReport, Report, Settings, Watch};
pub use way::Way;
