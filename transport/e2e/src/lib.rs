//! End-to-end tests of GPU-over-IP, and what they need: the built artefacts, programs in C and Python,
//! a server, and the driver API by `dlopen` as any CUDA program has it.
//!
//! A program runs directly on the CPU emulator (`gtrace-softgpu`) and then through `gtrace exec` and
//! `gtrace serve --softgpu` over each link; what it prints must be the same, byte for byte. No test here has a
//! GPU; [`gpu_check`] does the same on a machine that has one.

pub mod artefacts;
pub mod case;
pub mod client;
pub mod compatibility;
pub mod count;
pub mod driver;
pub mod faults;
pub mod gpu_check;
pub mod mask;
pub mod measure;
pub mod mutate;
pub mod nvcc;
pub mod nvml;
pub mod passing;
pub mod process;
pub mod programs;
pub mod server;
