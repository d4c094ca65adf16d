//! End-to-end tests of GPU-over-IP, and what they need: the built artefacts, programs in C and Python,
//! a server, and the driver API by `dlopen` as any CUDA program has it.
//!
//! A program runs directly on the CPU stand-in (`gtrace-softgpu`) and then through `gtrace exec` and
//! `gtrace serve --softgpu` over each link; what it prints must be the same, byte for byte. Nothing
//! here has a GPU: what hardware does is not tested.

pub mod artefacts;
pub mod client;
pub mod driver;
pub mod mask;
pub mod process;
pub mod programs;
pub mod random;
pub mod server;
