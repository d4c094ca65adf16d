//! The tables of functions that `cuGetExportTable` hands out.
//!
//! Purpose: interoperability. NVIDIA's runtime, which programs are linked with, expects of a driver a
//! few functions that have no name, and ends with an error without them. They are handed out so that
//! the user's own copy of the runtime works with the genuine driver on the serving machine (or with
//! the CPU emulator). Nothing here comes from NVIDIA's code: layouts and results were observed at
//! programs that run, and the answer to the runtime's question for the driver was published by the
//! projects ZLUDA and LUPINE.
//!
//! A table that is not known is refused, as the driver does: programs take one that they are given
//! for the real one.

mod integrity;
pub mod results;
mod storage;
mod table;

pub use integrity::{Asked, Device, answer};
pub use storage::{Destructor, Storage};
pub use table::{Driver, Tables, refusal};

/// A result, `CUresult` of cuda.h.
pub type CUresult = u32;

/// A UUID as `cuGetExportTable` takes it.
pub type Uuid = [u8; 16];

/// Done.
pub const SUCCESS: CUresult = 0;
/// CUDA_ERROR_INVALID_VALUE
pub const INVALID_VALUE: CUresult = 1;
/// CUDA_ERROR_INVALID_HANDLE
pub const INVALID_HANDLE: CUresult = 400;
/// CUDA_ERROR_NOT_SUPPORTED
pub const NOT_SUPPORTED: CUresult = 801;
/// CUDA_ERROR_UNKNOWN
pub const UNKNOWN: CUresult = 999;
