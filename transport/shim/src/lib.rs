//! `libcuda.so.1` and `libnvidia-ml.so.1` of a client: one object, put under both names, that sends
//! what a program calls to a server with a GPU.
//!
//! Most calls are answered here, from a snapshot of the devices and from what the client itself
//! keeps; calls without results are sent and not awaited; the rest is one exchange each. Nothing is
//! written to standard output and nothing here ends the process.

// Functions and parameters are CUDA's.
#![allow(non_snake_case, clippy::too_many_arguments)]

mod allocations;
mod answers;
mod background;
mod batch;
mod capture;
mod clock;
mod context;
mod contexts;
mod copy;
mod deferred_copies;
mod device;
mod device_files;
mod device_idle;
mod entry;
mod events;
mod exit;
mod flusher;
mod fork;
mod functions;
mod generated;
mod graph;
mod host_functions;
mod host_memory;
mod image;
mod ipc;
mod jit;
mod lane;
mod launch;
mod linker;
mod log;
mod lookup;
mod managed;
mod memory;
mod module;
mod nvml;
mod observe;
mod occupancy;
mod output;
mod owner;
mod page;
mod pitched;
mod pointer;
mod report;
mod reserve;
mod session;
mod set_launch;
mod settings;
mod spare;
mod state;
mod stats;
mod status;
mod tables;
mod textures;
mod times;
mod version;

/// Functions that are written by hand, for the generated symbols.
mod local {
    pub(crate) use crate::batch::*;
    pub(crate) use crate::capture::*;
    pub(crate) use crate::context::*;
    pub(crate) use crate::copy::*;
    pub(crate) use crate::device::*;
    pub(crate) use crate::events::*;
    pub(crate) use crate::functions::*;
    pub(crate) use crate::graph::*;
    pub(crate) use crate::host_functions::*;
    pub(crate) use crate::host_memory::*;
    pub(crate) use crate::ipc::*;
    pub(crate) use crate::launch::*;
    pub(crate) use crate::linker::*;
    pub(crate) use crate::lookup::*;
    pub(crate) use crate::managed::*;
    pub(crate) use crate::memory::*;
    pub(crate) use crate::module::*;
    pub(crate) use crate::nvml::*;
    pub(crate) use crate::occupancy::*;
    pub(crate) use crate::pitched::*;
    pub(crate) use crate::pointer::*;
    pub(crate) use crate::set_launch::*;
    pub(crate) use crate::textures::*;
}

/// The same, for the generated symbols whose calls travel.
mod special {
    pub(crate) use crate::local::*;
}
