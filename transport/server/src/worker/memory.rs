//! Device memory that a session has allocated, and the limit on it.
//!
//! Counted is what the client asks for by an allocation; what the driver takes by itself (contexts,
//! modules, stacks) is not.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gtrace_cuda::context_of_frame;
use gtrace_protocol::{DecodeError, OpId, Reader, op_id};

const ALLOC: OpId = op_id("cuMemAlloc_v2");
const ALLOC_PITCH: OpId = op_id("cuMemAllocPitch_v2");
const ALLOC_MANAGED: OpId = op_id("cuMemAllocManaged");
const ALLOC_ASYNC: OpId = op_id("cuMemAllocAsync");
const ALLOC_FROM_POOL: OpId = op_id("cuMemAllocFromPoolAsync");
const CREATE: OpId = op_id("cuMemCreate");
const ARRAY: OpId = op_id("cuArrayCreate_v2");
const ARRAY_3D: OpId = op_id("cuArray3DCreate_v2");
const ARRAY_MIPMAPPED: OpId = op_id("cuMipmappedArrayCreate");
const ARRAY_DESTROY: OpId = op_id("cuArrayDestroy");
const ARRAY_MIPMAPPED_DESTROY: OpId = op_id("cuMipmappedArrayDestroy");
const FREE: OpId = op_id("cuMemFree_v2");
const FREE_ASYNC: OpId = op_id("cuMemFreeAsync");
const RELEASE: OpId = op_id("cuMemRelease");
const CONTEXT_DESTROY: OpId = op_id("cuCtxDestroy_v2");
const PRIMARY_RETAIN: OpId = op_id("cuDevicePrimaryCtxRetain");
const PRIMARY_RESET: OpId = op_id("cuDevicePrimaryCtxReset_v2");
const PRIMARY_RELEASE: OpId = op_id("cuDevicePrimaryCtxRelease_v2");
/// `cuMemGetInfo_v2`, whose answer is about the limit where there is one.
pub(crate) const GET_INFO: OpId = op_id("cuMemGetInfo_v2");

/// Handles of cuMemCreate are no addresses: this bit keeps them apart in the table.
const CREATED: u64 = 1 << 63;

/// A call that changes what is allocated, before it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Takes this many bytes, which are reserved.
    Take {
        /// Bytes.
        bytes: u64,
        /// Rows whose length only the answer tells.
        rows: Option<u64>,
        /// Whether what comes back is a handle of cuMemCreate.
        created: bool,
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
    /// Numbers by which clients call the primary context of a device.
    primary: HashMap<i32, Vec<u32>>,
}

impl State {
    /// The memory of these contexts is free.
    fn forget(&mut self, contexts: &[u32]) {
        let mut freed = 0u64;
        self.at.retain(|_, (bytes, of)| {
            let gone = contexts.contains(of);
            if gone {
                freed = freed.saturating_add(*bytes);
            }
            !gone
        });
        self.used = self.used.saturating_sub(freed);
    }
}

/// What the making of an array takes: elements as large as the description says, without what the device adds.
fn array(op: OpId, mut r: Reader<'_>) -> Result<Change, DecodeError> {
    let handle = r.u64()?;
    let (mut width, mut height) = (r.u64()?, r.u64()?.max(1));
    let mut depth = match op {
        ARRAY => 1,
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
    let levels = match op {
        ARRAY_MIPMAPPED => {
            let (_flags, _padding) = (r.u32()?, r.u32()?);
            // More levels than there are halves of a width take nothing.
            r.u32()?.min(u64::BITS)
        }
        _ => 1,
    };
    let mut bytes = 0_u64;
    for _ in 0..levels {
        let row = width.saturating_mul(element);
        bytes = bytes.saturating_add(row.saturating_mul(height).saturating_mul(depth));
        (width, height, depth) = ((width / 2).max(1), (height / 2).max(1), (depth / 2).max(1));
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

    /// What the call of `op` changes; `None` for most.
    ///
    /// # Errors
    ///
    /// [`DecodeError`], as the call itself would have.
    #[inline]
    pub(crate) fn change_of(op: OpId, arguments: &[u8]) -> Result<Option<Change>, DecodeError> {
        let mut r = Reader::new(arguments);
        let take = |bytes, rows, created| Change::Take {
            bytes,
            rows,
            created,
        };
        Ok(Some(match op {
            ALLOC | ALLOC_MANAGED | ALLOC_ASYNC | ALLOC_FROM_POOL => take(r.u64()?, None, false),
            ALLOC_PITCH => {
                let (width, rows) = (r.u64()?, r.u64()?);
                take(width.saturating_mul(rows), Some(rows), false)
            }
            CREATE => take(r.u64()?, None, true),
            ARRAY | ARRAY_3D | ARRAY_MIPMAPPED => array(op, r)?,
            // Handles have bits that no address has.
            ARRAY_DESTROY | ARRAY_MIPMAPPED_DESTROY => Change::Give(r.u64()?),
            FREE | FREE_ASYNC => Change::Give(r.u64()?),
            RELEASE => Change::Give(r.u64()? | CREATED),
            CONTEXT_DESTROY => Change::End(context_of_frame(r.u64()?)),
            PRIMARY_RETAIN => Change::Retain {
                context: context_of_frame(r.u64()?),
                device: r.i32()?,
            },
            PRIMARY_RESET | PRIMARY_RELEASE => Change::Release(r.i32()?),
            _ => return Ok(None),
        }))
    }

    /// Reserves what the call takes; false if that is beyond the limit.
    pub(crate) fn before(&self, change: Change) -> bool {
        let (Change::Take { bytes, .. } | Change::Array { bytes, .. }) = change else {
            return true;
        };
        let mut state = self.lock();
        let used = state.used.saturating_add(bytes);
        if self.max.is_some_and(|max| used > max) {
            return false;
        }
        state.used = used;
        true
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
            Change::Take {
                bytes,
                rows,
                created,
            } => {
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
                let key = if created { address | CREATED } else { address };
                state.at.insert(key, (actual, context));
            }
            Change::Array { bytes, handle } if ok => {
                state.at.insert(handle, (bytes, context));
            }
            Change::Array { bytes, .. } => state.used = state.used.saturating_sub(bytes),
            Change::Give(key) if ok => {
                if let Some((bytes, _)) = state.at.remove(&key) {
                    state.used = state.used.saturating_sub(bytes);
                }
            }
            Change::End(context) if ok => state.forget(&[context]),
            Change::Retain { device, context } if ok => {
                state.primary.entry(device).or_default().push(context);
            }
            // Whether a release ends the context is for the driver to say.
            Change::Give(_) | Change::End(_) | Change::Retain { .. } | Change::Release(_) => {}
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
    use super::*;

    fn bytes(values: &[u64]) -> Vec<u8> {
        values.iter().flat_map(|v| v.to_le_bytes()).collect()
    }

    fn change(op: OpId, arguments: &[u64]) -> Change {
        Memory::change_of(op, &bytes(arguments)).unwrap().unwrap()
    }

    #[test]
    fn what_is_allocated_counts_until_it_is_freed() {
        let memory = Memory::new(Some(1000));
        let alloc = change(ALLOC, &[600]);
        assert!(memory.before(alloc));
        memory.after(alloc, true, &bytes(&[0x7000]), 1).unwrap();
        assert_eq!(memory.used(), 600);
        assert!(!memory.before(change(ALLOC, &[401])));
        assert!(!memory.before(change(ALLOC, &[u64::MAX])));
        assert_eq!(memory.info(5000, 9000), (400, 1000));
        // The driver may refuse too.
        let more = change(ALLOC, &[400]);
        assert!(memory.before(more));
        memory.after(more, false, &[], 1).unwrap();
        assert_eq!(memory.used(), 600);
        let free = change(FREE, &[0x7000]);
        memory.after(free, false, &[], 1).unwrap();
        assert_eq!(memory.used(), 600);
        memory.after(free, true, &[], 1).unwrap();
        memory.after(free, true, &[], 1).unwrap();
        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn a_pitched_allocation_counts_as_large_as_it_is() {
        let memory = Memory::new(None);
        let alloc = change(ALLOC_PITCH, &[100, 10, 4]);
        assert!(memory.before(alloc));
        memory
            .after(alloc, true, &bytes(&[0x7000, 512]), 1)
            .unwrap();
        assert_eq!(memory.used(), 5120);
    }

    #[test]
    fn a_pitched_allocation_beyond_the_limit_is_to_be_freed() {
        let memory = Memory::new(Some(5000));
        let alloc = change(ALLOC_PITCH, &[100, 10, 4]);
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
        let flat = change(ARRAY, &[handle, 10, 5, 2 << 32 | 2]);
        assert!(memory.before(flat));
        memory.after(flat, true, &[], 1).unwrap();
        assert_eq!(memory.used(), 200);
        // 8 x 8 and 4 x 4 bytes; the flags, and what aligns them.
        let levels = change(ARRAY_MIPMAPPED, &[handle + 16, 8, 8, 0, 1 << 32 | 1, 0, 2]);
        assert!(memory.before(levels));
        memory.after(levels, false, &[], 1).unwrap();
        assert_eq!(memory.used(), 200);
        assert!(memory.before(levels));
        memory.after(levels, true, &[], 1).unwrap();
        assert_eq!(memory.used(), 280);
        assert!(!memory.before(change(ARRAY_3D, &[handle, 10, 10, 10, 1 << 32 | 1, 0])));
        memory
            .after(change(ARRAY_DESTROY, &[handle]), true, &[], 1)
            .unwrap();
        assert_eq!(memory.used(), 80);
    }

    #[test]
    fn memory_goes_with_its_context() {
        let memory = Memory::new(None);
        for (address, context) in [(0x7000, 1), (0x8000, 2)] {
            let alloc = change(ALLOC, &[100]);
            assert!(memory.before(alloc));
            memory
                .after(alloc, true, &bytes(&[address]), context)
                .unwrap();
        }
        let destroy = change(CONTEXT_DESTROY, &[gtrace_cuda::Kind::Context.handle(1)]);
        memory.after(destroy, true, &[], 0).unwrap();
        assert_eq!(memory.used(), 100);
        let mut retain = bytes(&[gtrace_cuda::Kind::Context.handle(2)]);
        retain.extend(3i32.to_le_bytes());
        let retain = Memory::change_of(PRIMARY_RETAIN, &retain).unwrap().unwrap();
        memory.after(retain, true, &[], 0).unwrap();
        memory.primary_ended(0);
        assert_eq!(memory.used(), 100);
        memory.primary_ended(3);
        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn other_calls_change_nothing() {
        assert_eq!(Memory::change_of(op_id("cuCtxSynchronize"), &[]), Ok(None));
        assert!(Memory::change_of(ALLOC, &[1, 2]).is_err());
    }
}
