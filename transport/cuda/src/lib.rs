//! The CUDA driver API and NVML described once: types, signatures, and for each function how its
//! arguments travel. `gtrace-codegen` writes the client's stubs, the server's dispatch and the trace wrappers
//! from it when those crates are built; `cargo xtask codegen` writes docs/cuda-coverage.md.
//!
//! [`signatures`] and [`types`] are read from permissively licensed bindings, never from cuda.h or
//! nvml.h. [`functions`] is written by hand, with [`describe!`], which does not compile a
//! description that contradicts itself or the signature.

mod describe;
pub mod functions;
mod handle;
mod model;
pub mod names;
mod operation;
pub mod payload;
mod signature;
pub mod signatures;
pub mod status;
pub mod traced;
pub mod types;
pub mod wire;
pub mod work;

pub use describe::{signed, unique};
pub use handle::{Kind, SERVER_MINTED, STREAM_LEGACY, STREAM_PER_THREAD, context_of_frame};
pub use model::{Api, Argument, Class, Function, Hand, Length, Pass};
pub use operation::{
    Attributes, ContextChange, Mark, MemoryChange, Operation, StreamArgument, attributes, marked,
};
pub use signature::{Parameter, Shape, Signature, find};
