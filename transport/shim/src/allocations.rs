//! Which addresses are what: the device's memory and the client's page-locked memory. No I/O.

use std::collections::BTreeMap;

/// What lies at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Memory of a device.
    Device,
    /// The same, from a memory pool.
    Pool,
    /// Memory of another process, opened by its handle.
    Opened,
    /// Managed memory.
    Managed,
    /// Page-locked memory that the shim has allocated.
    HostAllocated,
    /// Memory of the program that it has page-locked.
    HostRegistered,
    /// A range of addresses without memory of its own (`cuMemAddressReserve`).
    Reserved,
}

impl Place {
    /// Whether the client can read and write there.
    pub(crate) const fn is_host(self) -> bool {
        matches!(self, Self::HostAllocated | Self::HostRegistered)
    }

    /// Whether the device reaches it by its address.
    pub(crate) const fn is_of_device(self) -> bool {
        !matches!(
            self,
            Self::HostAllocated | Self::HostRegistered | Self::Reserved
        )
    }
}

/// An allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allocation {
    /// First address.
    pub(crate) base: u64,
    /// Bytes.
    pub(crate) size: u64,
    /// What it is.
    pub(crate) place: Place,
    /// Context that it was made in; 0 for none.
    pub(crate) context: u64,
    /// Device.
    pub(crate) device: i32,
    /// Number that no other allocation of the process ever has.
    pub(crate) id: u64,
    /// Flags that it was made with.
    pub(crate) flags: u32,
    /// Memory pool that it is from; 0 for none.
    pub(crate) pool: u64,
    /// Operations with it are to be synchronous (`CU_POINTER_ATTRIBUTE_SYNC_MEMOPS`).
    pub(crate) synchronous: bool,
    /// Module or library whose variable it is.
    pub(crate) owner: Option<u64>,
}

/// All allocations.
#[derive(Debug, Default)]
pub(crate) struct Allocations {
    by_base: BTreeMap<u64, Allocation>,
    ids: u64,
}

impl Allocations {
    /// Adds an allocation, gives it its number, and forgets what was at its addresses, which it returns.
    pub(crate) fn add(&mut self, mut allocation: Allocation) -> Vec<Allocation> {
        self.ids += 1;
        allocation.id = self.ids;
        let end = allocation.base.saturating_add(allocation.size);
        let mut stale = Vec::new();
        while let Some(found) = self.find(allocation.base) {
            stale.extend(self.by_base.remove(&found.base));
        }
        while let Some((&base, _)) = self.by_base.range(allocation.base..end).next() {
            stale.extend(self.by_base.remove(&base));
        }
        self.by_base.insert(allocation.base, allocation);
        stale
    }

    /// Removes the allocation that begins at `base`.
    pub(crate) fn remove(&mut self, base: u64) -> Option<Allocation> {
        self.by_base.remove(&base)
    }

    /// Notes whether operations with what begins at `base` are to be synchronous.
    pub(crate) fn set_synchronous(&mut self, base: u64, synchronous: bool) {
        if let Some(found) = self.by_base.get_mut(&base) {
            found.synchronous = synchronous;
        }
    }

    /// The allocation that begins at `base`.
    pub(crate) fn at(&self, base: u64) -> Option<Allocation> {
        self.by_base.get(&base).copied()
    }

    /// The allocation that `address` lies in.
    pub(crate) fn find(&self, address: u64) -> Option<Allocation> {
        let (_, found) = self.by_base.range(..=address).next_back()?;
        (address - found.base < found.size).then_some(*found)
    }

    /// Whether any has an address from `base` on and before `end`.
    pub(crate) fn any_between(&self, base: u64, end: u64) -> bool {
        let last = self.by_base.range(..end).next_back();
        last.is_some_and(|(first, found)| first.saturating_add(found.size) > base)
    }

    /// Forgets the variables of a module or library that is gone.
    pub(crate) fn forget_owner(&mut self, owner: u64) {
        self.by_base.retain(|_, a| a.owner != Some(owner));
    }

    /// Forgets the device memory of a context that is gone.
    pub(crate) fn forget_context(&mut self, context: u64) {
        self.by_base
            .retain(|_, a| a.context != context || a.place.is_host());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allocation(base: u64, size: u64, context: u64) -> Allocation {
        Allocation {
            base,
            size,
            place: Place::Device,
            context,
            device: 0,
            id: 0,
            flags: 0,
            pool: 0,
            synchronous: false,
            owner: None,
        }
    }

    #[test]
    fn addresses_are_found_within_their_allocation_only() {
        let mut all = Allocations::default();
        all.add(allocation(0x1000, 0x100, 1));
        all.add(allocation(0x1100, 0x100, 1));
        assert_eq!(all.find(0x10ff).map(|a| a.base), Some(0x1000));
        assert_eq!(all.find(0x1100).map(|a| a.base), Some(0x1100));
        assert_eq!(all.find(0x1200), None);
        assert_eq!(all.find(0xfff), None);
        assert_eq!(all.at(0x1001), None);
    }

    #[test]
    fn what_lies_within_others_is_found() {
        let mut all = Allocations::default();
        all.add(allocation(0x1000, 0x100, 1));
        assert!(all.any_between(0, 0x2000) && all.any_between(0x10ff, 0x2000));
        assert!(!all.any_between(0, 0x1000) && !all.any_between(0x1100, 0x2000));
    }

    #[test]
    fn numbers_are_never_used_again() {
        let mut all = Allocations::default();
        all.add(allocation(0x1000, 0x100, 1));
        let first = all.remove(0x1000).unwrap().id;
        all.add(allocation(0x1000, 0x100, 1));
        assert_ne!(all.at(0x1000).unwrap().id, first);
    }

    #[test]
    fn what_is_set_for_an_allocation_goes_with_it() {
        let mut all = Allocations::default();
        all.add(allocation(0x1000, 0x100, 1));
        all.set_synchronous(0x1000, true);
        assert!(all.find(0x1080).unwrap().synchronous);
        all.remove(0x1000);
        all.add(allocation(0x1000, 0x100, 1));
        assert!(!all.find(0x1080).unwrap().synchronous);
    }

    #[test]
    fn an_allocation_takes_the_place_of_what_was_there() {
        let mut all = Allocations::default();
        all.add(allocation(0x1000, 0x1000, 1));
        all.add(allocation(0x2000, 0x1000, 1));
        all.add(allocation(0x1800, 0x1000, 1));
        assert_eq!(all.find(0x1000), None);
        assert_eq!(all.find(0x2900), None);
        assert_eq!(all.find(0x1800).map(|a| a.size), Some(0x1000));
    }

    #[test]
    fn a_module_takes_its_variables_with_it() {
        let mut all = Allocations::default();
        all.add(allocation(0x1000, 0x100, 1));
        for (base, owner) in [(0x2000, 7), (0x3000, 8)] {
            all.add(Allocation {
                owner: Some(owner),
                ..allocation(base, 0x10, 1)
            });
        }
        all.forget_owner(7);
        assert_eq!(all.at(0x2000), None);
        assert!(all.at(0x1000).is_some() && all.at(0x3000).is_some());
    }

    #[test]
    fn a_context_takes_its_memory_with_it() {
        let mut all = Allocations::default();
        all.add(allocation(0x1000, 0x100, 1));
        all.add(allocation(0x2000, 0x100, 2));
        all.add(Allocation {
            place: Place::HostAllocated,
            ..allocation(0x3000, 0x100, 1)
        });
        all.forget_context(1);
        assert_eq!(all.at(0x1000), None);
        assert!(all.at(0x2000).is_some() && all.at(0x3000).is_some());
    }
}
