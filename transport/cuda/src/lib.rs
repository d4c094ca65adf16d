//! The CUDA driver API and NVML described once: types, signatures, and for each function how its
//! arguments travel. `cargo xtask codegen` writes the client's stubs, the server's dispatch and
//! docs/cuda-coverage.md from it.
//!
//! [`signatures`] and [`types`] are read from permissively licensed bindings, never from cuda.h or
//! nvml.h. [`functions`] is written by hand, with [`describe!`], which does not compile a
//! description that contradicts itself or the signature.

mod describe;
pub mod functions;
mod handle;
mod model;
pub mod names;
pub mod payload;
mod signature;
pub mod signatures;
pub mod status;
pub mod told;
pub mod types;
pub mod wire;
pub mod work;

pub use describe::{apart, signed, unique};
pub use handle::{Kind, SERVER_MINTED, STREAM_LEGACY, STREAM_PER_THREAD, context_of_frame};
pub use model::{Api, Argument, Class, Function, Hand, Length, Pass};
pub use signature::{Parameter, Shape, Signature, find};
