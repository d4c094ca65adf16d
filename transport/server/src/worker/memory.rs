//! Device memory that a session has allocated, and the limit on it.
//!
//! Counted is what the client asks for by an allocation; what the driver takes by itself (contexts,
//! modules, stacks) is not.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use gtrace_cuda::{Attributes, ContextChange, MemoryChange, context_of_frame};
use gtrace_protocol::{DecodeError, OpId, Reader, op_id};

/// `cuMemGetInfo_v2`, whose answer is about the limit where there is one.
pub(crate) const GET_INFO: OpId = op_id("cuMemGetInfo_v2");

/// A call that changes what is allocated, before it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Takes this many bytes, which are reserved.
    Take {
        /// Bytes.
        bytes: u64,
        /// Rows whose length only the answer carries.
        rows: Option<u64>,
    },
    /// Takes this many bytes for an array.
    Array {
        /// Bytes.
        bytes: u64,
        /// Its handle.
        handle: u64,
    },
    /// Gives back what is at this key.
    Give(u64),
    /// Ends the context with this number.
    End(u32),
    /// Begins to use the primary context of a device by this number.
    Retain {
        /// Ordinal.
        device: i32,
        /// Number of the context.
        context: u32,
    },
    /// May end the primary context of the device.
    Release(i32),
}

#[derive(Default)]
struct State {
    used: u64,
    /// Bytes and context by address.
    at: HashMap<u64, (u64, u32)>,
    /// The same of what is being freed, by the thread of the lane that does it: the driver may give the address again before
    /// that is noted, and another lane may free it again.
    leaving: HashMap<ThreadId, (u64, u32)>,
    /// Numbers by which clients call the primary context of a device.
    primary: HashMap<i32, Vec<u32>>,
}

impl State {
    /// The memory of these contexts is free.
    fn forget(&mut self, contexts: &[u32]) {
        let mut freed = 0u64;
        let mut stays = |(bytes, of): &(u64, u32)| {
            let gone = contexts.contains(of);
            if gone {
                freed = freed.saturating_add(*bytes);
            }
            !gone
        };
        self.at.retain(|_, memory| stays(memory));
        self.leaving.retain(|_, memory| stays(memory));
        self.used = self.used.saturating_sub(freed);
    }
}

impl Change {
    /// What a call with these attributes and arguments changes; `None` for most.
    ///
    /// # Errors
    ///
    /// [`DecodeError`], as the call itself would have.
    #[inline]
    pub(crate) fn of(
        attributes: Attributes,
        arguments: &[u8],
    ) -> Result<Option<Self>, DecodeError> {
        let r = Reader::new(arguments);
        Ok(match (attributes.memory, attributes.context) {
            (Some(change), _) => Some(Self::of_memory(change, r)?),
            (None, Some(change)) => Some(Self::of_context(change, r)?),
            (None, None) => None,
        })
    }

    fn of_memory(change: MemoryChange, mut r: Reader<'_>) -> Result<Self, DecodeError> {
        Ok(match change {
            MemoryChange::Allocate => Self::Take {
                bytes: r.u64()?,
                rows: None,
            },
            MemoryChange::AllocatePitched => {
                let (width, rows) = (r.u64()?, r.u64()?);
                Self::Take {
                    bytes: width.saturating_mul(rows),
                    rows: Some(rows),
                }
            }
            MemoryChange::CreateArray
            | MemoryChange::CreateArray3d
            | MemoryChange::CreateMipmappedArray => array(change, r)?,
            // Handles of arrays have bits that no address has.
            MemoryChange::Free => Self::Give(r.u64()?),
        })
    }

    fn of_context(change: ContextChange, mut r: Reader<'_>) -> Result<Self, DecodeError> {
        Ok(match change {
            ContextChange::RetainPrimary => Self::Retain {
                context: context_of_frame(r.u64()?),
                device: r.i32()?,
            },
            ContextChange::Destroy => Self::End(context_of_frame(r.u64()?)),
            ContextChange::ResetPrimary | ContextChange::ReleasePrimary => Self::Release(r.i32()?),
        })
    }
}

/// What the making of an array takes: elements as large as the description says, without what the device adds.
fn array(change: MemoryChange, mut r: Reader<'_>) -> Result<Change, DecodeError> {
    let handle = r.u64()?;
    let (mut width, mut height) = (r.u64()?, r.u64()?.max(1));
    let mut depth = match change {
        MemoryChange::CreateArray => 1,
        _ => r.u64()?.max(1),
    };
    let (format, channels) = (r.u32()?, r.u32()?);
    // CUarray_format: the usual formats; what else there is has at most 4 bytes a channel.
    let channel = match format {
        0x01 | 0x08 => 1,
        0x02 | 0x09 | 0x10 => 2,
        _ => 4,
    };
    let element = u64::from(channel * channels.min(4));
    let (flags, levels) = match change {
        MemoryChange::CreateMipmappedArray => {
            let (flags, _padding) = (r.u32()?, r.u32()?);
            // More levels than there are halves of a width take nothing.
            (flags, r.u32()?.min(u64::BITS))
        }
        _ => (0, 1),
    };
    // CUDA_ARRAY3D_LAYERED, CUDA_ARRAY3D_CUBEMAP: all levels have all layers, or faces.
    let layers = (flags & (0x1 | 0x4) != 0).then_some(depth);
    let mut bytes = 0_u64;
    for _ in 0..levels {
        let row = width.saturating_mul(element);
        bytes = bytes.saturating_add(row.saturating_mul(height).saturating_mul(depth));
        (width, height) = ((width / 2).max(1), (height / 2).max(1));
        depth = layers.unwrap_or((depth / 2).max(1));
    }
    Ok(Change::Array { bytes, handle })
}

/// What a session has allocated.
#[derive(Default)]
pub(crate) struct Memory {
    max: Option<u64>,
    state: Mutex<State>,
}

impl Memory {
    /// At most `max` bytes, if given.
    pub(crate) fn new(max: Option<u64>) -> Self {
        Self {
            max,
            state: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes allocated now.
    pub(crate) fn used(&self) -> u64 {
        self.lock().used
    }

    /// The limit.
    pub(crate) fn max(&self) -> Option<u64> {
        self.max
    }

    /// Reserves what the call takes; false if that is beyond the limit. [`Memory::after`] has to follow, by the
    /// same thread.
    pub(crate) fn before(&self, change: Change) -> bool {
        match change {
            Change::Take { bytes, .. } | Change::Array { bytes, .. } => self.reserve(bytes),
            Change::Give(key) => {
                let mut state = self.lock();
                if let Some(given) = state.at.remove(&key) {
                    state.leaving.insert(thread::current().id(), given);
                }
                true
            }
            _ => true,
        }
    }

    /// These bytes count from now on; false if that is beyond the limit.
    pub(crate) fn reserve(&self, bytes: u64) -> bool {
        let mut state = self.lock();
        let used = state.used.saturating_add(bytes);
        if self.max.is_some_and(|max| used > max) {
            return false;
        }
        state.used = used;
        true
    }

    /// These count no more.
    pub(crate) fn give_back(&self, bytes: u64) {
        let mut state = self.lock();
        state.used = state.used.saturating_sub(bytes);
    }

    /// Takes note of what the call did: `reply` is its answer, `context` the frame's.
    ///
    /// # Errors
    ///
    /// The address of memory that is larger than it was asked for, and so beyond the limit: it is not counted, and to be
    /// freed.
    pub(crate) fn after(
        &self,
        change: Change,
        ok: bool,
        reply: &[u8],
        context: u32,
    ) -> Result<(), u64> {
        let mut state = self.lock();
        match change {
            Change::Take { bytes, rows } => {
                let mut r = Reader::new(reply);
                let address = r.u64().ok().filter(|_| ok);
                let Some(address) = address else {
                    state.used = state.used.saturating_sub(bytes);
                    return Ok(());
                };
                let pitched = rows.and_then(|rows| Some(r.u64().ok()?.saturating_mul(rows)));
                let actual = pitched.unwrap_or(bytes);
                let others = state.used.saturating_sub(bytes);
                let used = others.saturating_add(actual);
                if actual > bytes && self.max.is_some_and(|max| used > max) {
                    state.used = others;
                    return Err(address);
                }
                state.used = used;
                state.at.insert(address, (actual, context));
            }
            Change::Array { bytes, handle } if ok => {
                state.at.insert(handle, (bytes, context));
            }
            Change::Array { bytes, .. } => state.used = state.used.saturating_sub(bytes),
            Change::Give(key) => match state.leaving.remove(&thread::current().id()) {
                Some((bytes, _)) if ok => state.used = state.used.saturating_sub(bytes),
                Some(kept) => drop(state.at.insert(key, kept)),
                None => {}
            },
            Change::End(context) if ok => state.forget(&[context]),
            Change::Retain { device, context } if ok => {
                let contexts = state.primary.entry(device).or_default();
                // A client may retain it as often as it likes.
                if !contexts.contains(&context) {
                    contexts.push(context);
                }
            }
            // Whether a release ends the context is for the driver to say.
            Change::End(_) | Change::Retain { .. } | Change::Release(_) => {}
        }
        Ok(())
    }

    /// The primary context of `device` has ended.
    pub(crate) fn primary_ended(&self, device: i32) {
        let mut state = self.lock();
        let contexts = state.primary.remove(&device).unwrap_or_default();
        state.forget(&contexts);
    }

    /// What cuMemGetInfo is to answer for what the driver answered: (free, total).
    pub(crate) fn info(&self, free: u64, total: u64) -> (u64, u64) {
        match self.max {
            Some(max) => (free.min(max.saturating_sub(self.used())), total.min(max)),
            None => (free, total),
        }
    }
}

#[cfg(test)]
mod tests {
    use gtrace_cuda::attributes;

    use super::*;

    fn bytes(values: &[u64]) -> Vec<u8> {
        values.iter().flat_map(|v| v.to_le_bytes()).collect()
    }

    fn change(name: &str, arguments: &[u64]) -> Change {
        let attributes = attributes(op_id(name));
        Change::of(attributes, &bytes(arguments)).unwrap().unwrap()
    }

    #[test]
    fn what_is_allocated_counts_until_it_is_freed() {
        let memory = Memory::new(Some(1000));
        let alloc = change("cuMemAlloc_v2", &[600]);
        assert!(memory.before(alloc));
        memory.after(alloc, true, &bytes(&[0x7000]), 1).unwrap();
        assert_eq!(memory.used(), 600);
        assert!(!memory.before(change("cuMemAlloc_v2", &[401])));
        assert!(!memory.before(change("cuMemAlloc_v2", &[u64::MAX])));
        assert_eq!(memory.info(5000, 9000), (400, 1000));
        // The driver may refuse too.
        let more = change("cuMemAlloc_v2", &[400]);
        assert!(memory.before(more));
        memory.after(more, false, &[], 1).unwrap();
        assert_eq!(memory.used(), 600);
        let free = change("cuMemFree_v2", &[0x7000]);
        for (ok, used) in [(false, 600), (true, 0), (true, 0)] {
            assert!(memory.before(free));
            memory.after(free, ok, &[], 1).unwrap();
            assert_eq!(memory.used(), used);
        }
    }

    /// A driver gives an address to the next who asks, which may be another lane.
    #[test]
    fn memory_at_an_address_that_has_just_come_free_counts() {
        let memory = Memory::new(None);
        let [alloc, other] = [100, 30].map(|bytes| change("cuMemAlloc_v2", &[bytes]));
        let free = change("cuMemFree_v2", &[0x7000]);
        assert!(memory.before(alloc));
        memory.after(alloc, true, &bytes(&[0x7000]), 1).unwrap();
        assert!(memory.before(free));
        assert!(memory.before(other));
        memory.after(other, true, &bytes(&[0x7000]), 1).unwrap();
        memory.after(free, true, &[], 1).unwrap();
        assert_eq!(memory.used(), 30);
        assert!(memory.before(free));
        memory.after(free, true, &[], 1).unwrap();
        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn lanes_that_free_the_same_address_in_turn_note_each_its_own() {
        let memory = Memory::new(None);
        let [alloc, other] = [100, 30].map(|bytes| change("cuMemAlloc_v2", &[bytes]));
        let free = change("cuMemFree_v2", &[0x7000]);
        assert!(memory.before(alloc));
        memory.after(alloc, true, &bytes(&[0x7000]), 1).unwrap();
        assert!(memory.before(free));
        // The driver has freed it, and gives the address again before that is noted.
        assert!(memory.before(other));
        memory.after(other, true, &bytes(&[0x7000]), 1).unwrap();
        // Another lane is refused, as one that captures a graph is, and then is not.
        for (ok, used) in [(false, 130), (true, 100)] {
            thread::scope(|lanes| {
                lanes.spawn(|| {
                    assert!(memory.before(free));
                    memory.after(free, ok, &[], 1).unwrap();
                });
            });
            assert_eq!(memory.used(), used);
        }
        memory.after(free, true, &[], 1).unwrap();
        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn a_pitched_allocation_counts_as_large_as_it_is() {
        let memory = Memory::new(None);
        let alloc = change("cuMemAllocPitch_v2", &[100, 10, 4]);
        assert!(memory.before(alloc));
        memory
            .after(alloc, true, &bytes(&[0x7000, 512]), 1)
            .unwrap();
        assert_eq!(memory.used(), 5120);
    }

    #[test]
    fn a_pitched_allocation_beyond_the_limit_is_to_be_freed() {
        let memory = Memory::new(Some(5000));
        let alloc = change("cuMemAllocPitch_v2", &[100, 10, 4]);
        assert!(memory.before(alloc));
        assert_eq!(
            memory.after(alloc, true, &bytes(&[0x7000, 512]), 1),
            Err(0x7000)
        );
        assert_eq!(memory.used(), 0);
        assert!(memory.before(alloc));
        assert_eq!(memory.after(alloc, true, &bytes(&[0x7000, 500]), 1), Ok(()));
        assert_eq!(memory.used(), 5000);
    }

    #[test]
    fn arrays_count_until_they_are_destroyed() {
        let memory = Memory::new(Some(1000));
        let handle = gtrace_cuda::Kind::Array.handle(1);
        // 10 x 5 elements of 2 channels of 2 bytes.
        let flat = change("cuArrayCreate_v2", &[handle, 10, 5, 2 << 32 | 2]);
        assert!(memory.before(flat));
        memory.after(flat, true, &[], 1).unwrap();
        assert_eq!(memory.used(), 200);
        // 8 x 8 and 4 x 4 bytes; the flags, and what aligns them.
        let levels = change(
            "cuMipmappedArrayCreate",
            &[handle + 16, 8, 8, 0, 1 << 32 | 1, 0, 2],
        );
        assert!(memory.before(levels));
        memory.after(levels, false, &[], 1).unwrap();
        assert_eq!(memory.used(), 200);
        assert!(memory.before(levels));
        memory.after(levels, true, &[], 1).unwrap();
        assert_eq!(memory.used(), 280);
        // Three layers of each level; without the flag 8 x 8 x 3 and 4 x 4.
        for (flags, bytes) in [(0, 208), (1, 240), (4, 240)] {
            let arguments = [handle + 32, 8, 8, 3, 1 << 32 | 1, flags, 2];
            let layers = change("cuMipmappedArrayCreate", &arguments);
            let handle = handle + 32;
            assert_eq!(layers, Change::Array { bytes, handle });
        }
        assert!(!memory.before(change(
            "cuArray3DCreate_v2",
            &[handle, 10, 10, 10, 1 << 32 | 1, 0]
        )));
        let destroy = change("cuArrayDestroy", &[handle]);
        assert!(memory.before(destroy));
        memory.after(destroy, true, &[], 1).unwrap();
        assert_eq!(memory.used(), 80);
    }

    #[test]
    fn memory_goes_with_its_context() {
        let memory = Memory::new(None);
        for (address, context) in [(0x7000, 1), (0x8000, 2)] {
            let alloc = change("cuMemAlloc_v2", &[100]);
            assert!(memory.before(alloc));
            memory
                .after(alloc, true, &bytes(&[address]), context)
                .unwrap();
        }
        let destroy = change("cuCtxDestroy_v2", &[gtrace_cuda::Kind::Context.handle(1)]);
        memory.after(destroy, true, &[], 0).unwrap();
        assert_eq!(memory.used(), 100);
        let mut retain = bytes(&[gtrace_cuda::Kind::Context.handle(2)]);
        retain.extend(3i32.to_le_bytes());
        let retain_attributes = attributes(op_id("cuDevicePrimaryCtxRetain"));
        let retain = Change::of(retain_attributes, &retain).unwrap().unwrap();
        for _ in 0..3 {
            memory.after(retain, true, &[], 0).unwrap();
        }
        assert_eq!(memory.lock().primary[&3], [2]);
        memory.primary_ended(0);
        assert_eq!(memory.used(), 100);
        memory.primary_ended(3);
        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn other_calls_change_nothing() {
        let of = |name, arguments: &[u8]| Change::of(attributes(op_id(name)), arguments);
        assert_eq!(of("cuCtxSynchronize", &[]), Ok(None));
        assert!(of("cuMemAlloc_v2", &[1, 2]).is_err());
    }
}
