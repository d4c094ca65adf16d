//! Physical memory of `cuMemCreate`. It is there as long as the client has a handle or a mapping of it, or others may open it, and
//! counts so long towards the client's limit.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An allocation: its bytes. Whoever keeps it has a clone. Its handle does not name it, as the driver may give the number again
/// while a mapping keeps the memory.
type Allocation = Arc<u64>;

/// Bytes that are free now that one less has the allocation.
fn freed(allocation: Allocation) -> u64 {
    Arc::into_inner(allocation).unwrap_or(0)
}

/// Whose handles and mappings are known.
#[derive(Default)]
pub(crate) struct Physical(Mutex<Table>);

impl Physical {
    /// For a call of the driver and what is noted of it: another lane's call must not come between.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// See the module.
#[derive(Default)]
pub(crate) struct Table {
    /// Allocation and references of the client, by handle.
    handles: HashMap<u64, (Allocation, u64)>,
    /// Bytes and allocation by first address.
    mappings: BTreeMap<u64, (u64, Allocation)>,
    /// The server has a descriptor of each until the session ends.
    exported: Vec<Allocation>,
}

impl Table {
    /// Bytes of the allocation of a handle, if the client has that.
    pub(crate) fn bytes(&self, handle: u64) -> Option<u64> {
        self.handles.get(&handle).map(|(bytes, _)| **bytes)
    }

    /// Handles of the client.
    pub(crate) fn len(&self) -> usize {
        self.handles.len()
    }

    /// Whether the client has the handle, which it has once more then.
    fn refer(&mut self, handle: u64) -> bool {
        match self.handles.get_mut(&handle) {
            Some((_, references)) => {
                *references = references.saturating_add(1);
                true
            }
            None => false,
        }
    }

    /// The client was given a handle of an allocation of `bytes`. Bytes that count already, as it had that handle.
    pub(crate) fn add(&mut self, handle: u64, bytes: u64) -> u64 {
        if self.refer(handle) {
            return bytes;
        }
        self.handles.insert(handle, (Arc::new(bytes), 1));
        0
    }

    /// The client was given the handle of what is mapped at `address`.
    pub(crate) fn retain(&mut self, handle: u64, address: u64) {
        if self.refer(handle) {
            return;
        }
        let before = self.mappings.range(..=address).next_back();
        let found = before
            .filter(|(first, (bytes, _))| address - *first < *bytes)
            .map(|(_, (_, allocation))| Arc::clone(allocation));
        // What no cuMemMap has put there is counted where it comes from.
        self.handles.insert(handle, (found.unwrap_or_default(), 1));
    }

    /// The client has the handle once less. Bytes that are free by that.
    pub(crate) fn release(&mut self, handle: u64) -> u64 {
        let Some((_, references)) = self.handles.get_mut(&handle) else {
            return 0;
        };
        *references -= 1;
        if *references > 0 {
            return 0;
        }
        let last = self.handles.remove(&handle);
        last.map_or(0, |(allocation, _)| freed(allocation))
    }

    /// The allocation of the handle is mapped. Bytes that are free by that.
    pub(crate) fn map(&mut self, address: u64, bytes: u64, handle: u64) -> u64 {
        // The driver maps nothing over another mapping: what is known there has ended.
        let free = self.unmap(address, bytes);
        if let Some((allocation, _)) = self.handles.get(&handle) {
            let mapping = (bytes, Arc::clone(allocation));
            self.mappings.insert(address, mapping);
        }
        free
    }

    /// Nothing is mapped in this range any more. Bytes that are free by that.
    pub(crate) fn unmap(&mut self, address: u64, bytes: u64) -> u64 {
        let end = address.saturating_add(bytes);
        let within = self.mappings.range(address..end);
        let whole: Vec<u64> = within
            .filter(|(first, (bytes, _))| first.saturating_add(*bytes) <= end)
            .map(|(first, _)| *first)
            .collect();
        whole
            .into_iter()
            .filter_map(|first| self.mappings.remove(&first))
            .map(|(_, allocation)| freed(allocation))
            .sum()
    }

    /// Others may open the allocation of the handle from now on.
    pub(crate) fn export(&mut self, handle: u64) {
        let known = self.handles.get(&handle);
        self.exported
            .extend(known.map(|(allocation, _)| Arc::clone(allocation)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: u64 = 0x7000_0000;

    #[test]
    fn memory_is_there_until_the_last_handle_and_the_last_mapping_are_gone() {
        let mut table = Table::default();
        assert_eq!(table.add(1, 100), 0);
        assert_eq!(table.map(AT, 100, 1), 0);
        assert_eq!(table.map(AT + 100, 100, 1), 0);
        assert_eq!(table.release(1), 0);
        assert_eq!(table.bytes(1), None);
        assert_eq!(table.unmap(AT, 100), 0);
        // The driver gives the number again, for another allocation.
        assert_eq!(table.add(1, 7), 0);
        table.retain(2, AT + 199);
        assert_eq!(table.bytes(2), Some(100));
        assert_eq!(table.unmap(AT + 100, 100), 0);
        assert_eq!(table.release(2), 100);
        assert_eq!(table.release(2), 0);
        assert_eq!(table.release(1), 7);
    }

    #[test]
    fn a_handle_is_there_as_often_as_the_client_was_given_it() {
        let mut table = Table::default();
        assert_eq!(table.add(9, 100), 0);
        table.map(AT, 100, 9);
        table.retain(9, AT);
        assert_eq!(table.add(9, 100), 100, "they count already");
        assert_eq!(table.len(), 1);
        table.unmap(AT, 100);
        assert_eq!((table.release(9), table.release(9)), (0, 0));
        assert_eq!(table.release(9), 100);
        // Of memory that was not mapped so.
        table.retain(10, AT);
        assert_eq!((table.bytes(10), table.release(10)), (Some(0), 0));
    }

    #[test]
    fn a_range_has_the_mappings_that_lie_in_it_whole() {
        let mut table = Table::default();
        for handle in 0..4 {
            assert_eq!(table.add(handle, 10), 0);
            table.map(AT + 10 * handle, 10, handle);
            assert_eq!(table.release(handle), 0);
        }
        assert_eq!(table.unmap(AT + 5, 10), 0);
        assert_eq!(table.unmap(AT + 5, 25), 20);
        assert_eq!(table.unmap(u64::MAX, u64::MAX), 0);
        // What is mapped where something was known ends that.
        assert_eq!(table.add(9, 40), 0);
        assert_eq!(table.map(AT, 40, 9), 20);
        assert_eq!(table.release(9), 0);
        assert_eq!(table.unmap(0, u64::MAX), 40);
    }

    #[test]
    fn what_others_may_open_stays() {
        let mut table = Table::default();
        assert_eq!(table.add(1, 100), 0);
        table.export(1);
        assert_eq!(table.release(1), 0);
    }
}
