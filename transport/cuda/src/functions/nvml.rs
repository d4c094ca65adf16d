//! NVML: getters, by subject. What changes a device does not travel: it is the server's, and others use
//! it too. Older versions with smaller structures are answered by the newest.

mod clock;
mod handle;
mod identity;
mod instance;
mod link;
mod memory;
mod refused;
mod system;
mod usage;
mod vgpu;

use crate::Function;

pub use refused::{Refusal, refusal};

/// The functions, by subject.
pub(super) const ALL: &[&[Function]] = &[
    system::SYSTEM,
    handle::HANDLE,
    identity::IDENTITY,
    instance::INSTANCE,
    memory::MEMORY,
    clock::CLOCK,
    link::LINK,
    usage::USAGE,
    vgpu::VGPU,
];
