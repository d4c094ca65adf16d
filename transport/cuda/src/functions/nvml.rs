//! NVML: getters, by subject. What changes a device does not travel: it is the server's, and others use
//! it too. Older versions with smaller structures are answered by the newest; structures with pointers in them do not travel.

mod clock;
mod handle;
mod identity;
mod link;
mod memory;
mod refused;
mod system;
mod usage;

use crate::Function;

pub use refused::{Refusal, refusal};

/// The functions, by subject.
pub(super) const ALL: &[&[Function]] = &[
    system::SYSTEM,
    handle::HANDLE,
    identity::IDENTITY,
    memory::MEMORY,
    clock::CLOCK,
    link::LINK,
    usage::USAGE,
];
