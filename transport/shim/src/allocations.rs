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
    /// Memory that a node of a graph allocates.
    Graph,
    /// A range of addresses without memory of its own (`cuMemAddressReserve`).
    Reserved,
    /// Memory that is put into such a range (`cuMemMap`).
    Mapped,
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
    /// What is mapped into ranges of addresses.
    mapped: BTreeMap<u64, Allocation>,
    ids: u64,
}

/// That of `all` which `address` lies in.
fn within(all: &BTreeMap<u64, Allocation>, address: u64) -> Option<Allocation> {
    let (_, found) = all.range(..=address).next_back()?;
    (address - found.base < found.size).then_some(*found)
}

impl Allocations {
    /// Adds an allocation, gives it its number, and forgets what was at its addresses, which it returns.
    pub(crate) fn add(&mut self, mut allocation: Allocation) -> Vec<Allocation> {
        self.ids += 1;
        allocation.id = self.ids;
        let end = allocation.base.saturating_add(allocation.size);
        let mut stale = Vec::new();
        self.unmap(allocation.base, allocation.size);
        while let Some(found) = within(&self.by_base, allocation.base) {
            stale.extend(self.by_base.remove(&found.base));
        }
        while let Some((&base, _)) = self.by_base.range(allocation.base..end).next() {
            stale.extend(self.by_base.remove(&base));
        }
        self.by_base.insert(allocation.base, allocation);
        stale
    }

    /// Adds what is mapped into a range of addresses, and gives it its number.
    pub(crate) fn map(&mut self, mut mapping: Allocation) {
        self.ids += 1;
        mapping.id = self.ids;
        self.mapped.insert(mapping.base, mapping);
    }

    /// Forgets what is mapped at `size` bytes from `base` on.
    pub(crate) fn unmap(&mut self, base: u64, size: u64) {
        let end = base.saturating_add(size);
        while let Some((&at, _)) = self.mapped.range(base..end).next() {
            self.mapped.remove(&at);
        }
    }

    /// Removes the allocation that begins at `base`.
    pub(crate) fn remove(&mut self, base: u64) -> Option<Allocation> {
        self.by_base.remove(&base)
    }

    /// The number of the allocation that begins at `base`.
    pub(crate) fn id(&self, base: u64) -> Option<u64> {
        self.at(base).map(|found| found.id)
    }

    /// Removes what begins at `base` if it still is what it was when its number was `known`, and says whether it is: another thread
    /// may have been given the address since.
    pub(crate) fn remove_known(&mut self, base: u64, known: Option<u64>) -> bool {
        let is_it = self.id(base) == known;
        if is_it {
            self.by_base.remove(&base);
        }
        is_it
    }

    /// Notes whether operations with what begins at `base` are to be synchronous.
    pub(crate) fn set_synchronous(&mut self, base: u64, synchronous: bool) {
        for all in [&mut self.mapped, &mut self.by_base] {
            if let Some(found) = all.get_mut(&base) {
                found.synchronous = synchronous;
                return;
            }
        }
    }

    /// The allocation that begins at `base`.
    pub(crate) fn at(&self, base: u64) -> Option<Allocation> {
        self.by_base.get(&base).copied()
    }

    /// The allocation that `address` lies in; a range of addresses also where something is mapped.
    pub(crate) fn range(&self, address: u64) -> Option<Allocation> {
        within(&self.by_base, address)
    }

    /// The allocation that `address` lies in; in a range of addresses, what is mapped there if something is.
    pub(crate) fn find(&self, address: u64) -> Option<Allocation> {
        let found = self.range(address)?;
        match found.place {
            Place::Reserved => within(&self.mapped, address).or(Some(found)),
            _ => Some(found),
        }
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

    /// Forgets the device memory of a context that is gone; ranges of addresses are of none.
    pub(crate) fn forget_context(&mut self, context: u64) {
        let stays = |place: Place| place.is_host() || place == Place::Reserved;
        self.by_base
            .retain(|_, a| a.context != context || stays(a.place));
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
    fn what_another_thread_was_given_since_is_kept() {
        let mut all = Allocations::default();
        all.add(allocation(0x1000, 0x100, 1));
        let known = all.id(0x1000);
        all.add(allocation(0x1000, 0x200, 1));
        assert!(!all.remove_known(0x1000, known));
        assert_eq!(all.find(0x1180).map(|a| a.size), Some(0x200));
        let known = all.id(0x1000);
        assert!(all.remove_known(0x1000, known));
        assert_eq!(all.find(0x1000), None);
        assert!(all.remove_known(0x1000, None));
    }

    #[test]
    fn what_is_mapped_is_found_in_its_range_until_it_is_not() {
        let mut all = Allocations::default();
        let placed = |base, size, place| Allocation {
            place,
            ..allocation(base, size, 1)
        };
        all.add(placed(0x1000, 0x1000, Place::Reserved));
        all.map(placed(0x1000, 0x400, Place::Mapped));
        all.map(placed(0x1400, 0x400, Place::Mapped));
        let found = |all: &Allocations, at| all.find(at).map(|a| (a.base, a.place));
        assert_eq!(found(&all, 0x13ff), Some((0x1000, Place::Mapped)));
        assert_eq!(found(&all, 0x1400), Some((0x1400, Place::Mapped)));
        assert_eq!(all.range(0x1400).map(|a| a.base), Some(0x1000));
        assert_eq!(found(&all, 0x1800), Some((0x1000, Place::Reserved)));
        assert_ne!(all.find(0x1000).unwrap().id, all.find(0x1400).unwrap().id);
        all.set_synchronous(0x1000, true);
        assert!(all.find(0x1000).unwrap().synchronous);
        assert!(!all.find(0x1900).unwrap().synchronous);
        all.forget_context(1);
        all.unmap(0x1000, 0x400);
        assert_eq!(found(&all, 0x1000), Some((0x1000, Place::Reserved)));
        assert_eq!(found(&all, 0x1400), Some((0x1400, Place::Mapped)));
        all.add(allocation(0x1000, 0x1000, 1));
        assert_eq!(found(&all, 0x1400), Some((0x1000, Place::Device)));
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
