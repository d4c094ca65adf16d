//! `libcupti.so` of a program whose GPU is remote: what profilers such as `torch.profiler` ask of NVIDIA's CUPTI, from the calls
//! that the client's library (`gtrace-shim`) reports, and from the times that the server measures on its GPU.
//!
//! It serves the activity API for kernels, copies, fills, graphs, synchronisation, calls of the driver and external correlation, and
//! callbacks for calls of the driver. Every other symbol of CUPTI is there and answers CUPTI_ERROR_NOT_SUPPORTED. Nothing is
//! printed, and no panic crosses into C.

mod absent;
mod activity;
mod buffers;
mod callbacks;
mod cbids;
mod client;
mod clock;
mod exports;
mod records;
mod result;
mod state;
