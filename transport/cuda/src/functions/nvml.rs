//! NVML: getters, by subject. What changes a device is left out: it is the server's, and others use
//! it too. Structures of which an older version is smaller are left out in that version, and so are
//! structures with pointers in them.

mod clock;
mod handle;
mod identity;
mod link;
mod memory;
mod system;
mod usage;

use crate::Function;

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
