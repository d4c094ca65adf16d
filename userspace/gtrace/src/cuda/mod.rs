//! CUDA calls of running processes, by uprobes: what is told of them, and the thread of the daemon that
//! counts them.

mod report;
mod service;
mod tally;

pub use report::{
    CudaCalls, CudaCost, CudaLibrary, CudaMemory, CudaReport, CudaState, FunctionCost,
};
pub(crate) use report::{function_name, result_name};
pub(crate) use service::{Service, ServiceOptions};
pub(crate) use tally::{BOUNDS_NS, Series, Tally};
