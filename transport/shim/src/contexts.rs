//! Which contexts there are. No I/O.

use std::collections::HashMap;

/// Number of a device.
pub(crate) type Ordinal = i32;

/// What is known of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    /// Its device.
    pub(crate) device: Ordinal,
    /// Flags that it was made with.
    pub(crate) flags: u32,
    /// The device's primary context.
    pub(crate) primary: bool,
    /// How often it is attached to beyond its making.
    pub(crate) attached: u32,
}

/// The primary context of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Primary {
    /// Its handle; 0 until it is first retained. It stays the same, as with CUDA.
    pub(crate) handle: u64,
    /// How often it is retained.
    pub(crate) retains: u32,
    /// Flags for the next time that it is made, if they were set.
    pub(crate) flags: Option<u32>,
}

/// Contexts of a process.
#[derive(Debug, Default)]
pub(crate) struct Contexts {
    live: HashMap<u64, Known>,
    primaries: HashMap<Ordinal, Primary>,
}

impl Contexts {
    /// What is known of a context that lives.
    pub(crate) fn get(&self, handle: u64) -> Option<Known> {
        self.live.get(&handle).copied()
    }

    /// A context was made.
    pub(crate) fn add(&mut self, handle: u64, known: Known) {
        self.live.insert(handle, known);
    }

    /// How many live.
    pub(crate) fn count(&self) -> usize {
        self.live.len()
    }

    /// A context is gone.
    pub(crate) fn remove(&mut self, handle: u64) -> Option<Known> {
        self.live.remove(&handle)
    }

    /// The primary context of a device.
    pub(crate) fn primary(&mut self, device: Ordinal) -> &mut Primary {
        self.primaries.entry(device).or_default()
    }

    /// A context is attached to once more (`cuCtxAttach`).
    pub(crate) fn attach(&mut self, handle: u64) {
        if let Some(known) = self.live.get_mut(&handle) {
            known.attached += 1;
        }
    }

    /// A context is attached to once less; true if it was no more than made.
    pub(crate) fn detach(&mut self, handle: u64) -> bool {
        match self.live.get_mut(&handle) {
            Some(Known { attached: 0, .. }) => true,
            Some(known) => {
                known.attached -= 1;
                false
            }
            None => false,
        }
    }

    /// Flags of a context's kind that were changed while it lives.
    pub(crate) fn set_flags(&mut self, handle: u64, flags: u32) {
        if let Some(known) = self.live.get_mut(&handle) {
            known.flags = flags;
        }
    }
}
