//! The copies of the client's memory that a graph has, and the place of each such memory, without a search of all. No I/O.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;

use super::copies::{Ends, HostCopy, Shape, Staging};
use super::pairs::Names;

/// See the module.
#[derive(Clone, Default)]
pub(crate) struct Copies {
    all: Vec<HostCopy>,
    /// A place of each memory: of what is instantiated, where others may have other places, not all.
    places: HashMap<Shape, Arc<Staging>>,
}

impl Deref for Copies {
    type Target = [HostCopy];

    fn deref(&self) -> &[HostCopy] {
        &self.all
    }
}

impl FromIterator<HostCopy> for Copies {
    fn from_iter<T: IntoIterator<Item = HostCopy>>(copies: T) -> Self {
        let mut own = Self::default();
        own.extend(copies);
        own
    }
}

impl Extend<HostCopy> for Copies {
    fn extend<T: IntoIterator<Item = HostCopy>>(&mut self, copies: T) {
        copies.into_iter().for_each(|copy| self.push(copy));
    }
}

impl Copies {
    pub(super) fn push(&mut self, copy: HostCopy) {
        self.add_places(&copy);
        self.all.push(copy);
    }

    pub(super) fn remove(&mut self, at: usize) -> HostCopy {
        let gone = self.all.remove(at);
        self.forget_places(&gone);
        gone
    }

    /// Puts a copy in the place of another, which is returned.
    pub(super) fn replace(&mut self, at: usize, copy: HostCopy) -> HostCopy {
        // The places of what was replaced may be those of another instance.
        for place in copy.places() {
            self.places.insert(*place.shape(), Arc::clone(place));
        }
        let gone = std::mem::replace(&mut self.all[at], copy);
        self.forget_places(&gone);
        gone
    }

    /// Their nodes have other names.
    pub(super) fn rename(&mut self, names: &Names) {
        self.all.iter_mut().for_each(|copy| copy.rename(names));
    }

    /// The place of memory that one of these has: for what is instantiated as `exec`, unless it is another's.
    pub(super) fn place(&self, shape: &Shape, exec: u64) -> Option<Arc<Staging>> {
        let any = self.places.get(shape)?;
        if !any.is_other(exec) {
            return Some(Arc::clone(any));
        }
        let mut all = self.all.iter().flat_map(HostCopy::places);
        all.find(|own| own.shape() == shape && !own.is_other(exec))
            .cloned()
    }

    /// The first of those with the same ends, by these.
    pub(super) fn by_ends(&self) -> HashMap<Ends, &HostCopy> {
        let mut by_ends = HashMap::new();
        for copy in &self.all {
            by_ends.entry(copy.ends()).or_insert(copy);
        }
        by_ends
    }

    fn add_places(&mut self, copy: &HostCopy) {
        for place in copy.places() {
            let known = self.places.entry(*place.shape());
            known.or_insert_with(|| Arc::clone(place));
        }
    }

    /// A copy is gone: its places are those of others, or of none.
    fn forget_places(&mut self, gone: &HostCopy) {
        for place in gone.places() {
            let shape = place.shape();
            let known = self.places.get(shape);
            if known.is_none_or(|known| !Arc::ptr_eq(known, place)) {
                continue;
            }
            let mut all = self.all.iter().flat_map(HostCopy::places);
            match all.find(|own| own.shape() == shape) {
                Some(other) => drop(self.places.insert(*shape, Arc::clone(other))),
                None => drop(self.places.remove(shape)),
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::cell::Cell;

    use gtrace_cuda::payload::SideKind;

    use super::super::copies;
    use super::*;

    thread_local! {
        /// Copies whose places were asked for.
        pub(in super::super) static ASKED: Cell<usize> = const { Cell::new(0) };
    }

    fn copy(node: u64) -> HostCopy {
        let to = (SideKind::Client, 0x1000 * node);
        HostCopy::writing(node, copies::linear((SideKind::Device, 0x1000), to, 8))
    }

    fn shape(copy: &HostCopy) -> Shape {
        *copy.places().next().unwrap().shape()
    }

    #[test]
    fn a_place_is_found_without_a_search_of_all_copies() {
        const COUNT: u64 = 1_000;
        let shapes: Vec<Shape> = (1..=COUNT).map(|node| shape(&copy(node))).collect();
        let mut own: Copies = (1..=COUNT).map(copy).collect();
        let before = ASKED.get();
        for (copy, shape) in own.iter().zip(&shapes) {
            let found = own.place(shape, 0).unwrap();
            assert_eq!(found.shape(), shape, "{}", copy.node);
        }
        assert_eq!(own.by_ends().len(), 1, "the places of tests are one");
        own.push(copy(COUNT + 1));
        assert_eq!(ASKED.get() - before, 1, "what is added");
    }

    #[test]
    fn the_place_of_a_copy_that_replaces_another_is_found_without_a_search() {
        let new = copy(1);
        let of_new = Arc::clone(new.places().next().unwrap());
        let mut own = Copies::from_iter([copy(1), copy(1)]);
        own.iter().for_each(|copy| copy.claim(7));
        let before = ASKED.get();
        drop(own.replace(1, new));
        let found = own.place(of_new.shape(), 8).unwrap();
        assert!(Arc::ptr_eq(&found, &of_new));
        assert_eq!(ASKED.get() - before, 2, "what comes and what goes");
    }

    #[test]
    fn a_place_goes_with_the_last_copy_that_has_it() {
        let (first, other) = (copy(1), copy(1));
        let shape = shape(&first);
        let place = |copy: &HostCopy| Arc::clone(copy.places().next().unwrap());
        let (of_first, of_other) = (place(&first), place(&other));
        let mut own = Copies::from_iter([first.clone(), other, first]);
        let is = |own: &Copies, place: &Arc<Staging>| {
            let found = own.place(&shape, 0);
            found.is_some_and(|found| Arc::ptr_eq(&found, place))
        };
        assert!(is(&own, &of_first));
        drop(own.remove(0));
        assert!(is(&own, &of_other));
        // One that is another instance's is not taken where there is another.
        own[0].claim(7);
        assert!(Arc::ptr_eq(&own.place(&shape, 8).unwrap(), &of_first));
        drop(own.replace(1, copy(2)));
        assert!(is(&own, &of_other));
        drop(own.remove(0));
        assert!(own.place(&shape, 0).is_none());
        assert_eq!(Arc::strong_count(&of_first), 1);
        assert_eq!(Arc::strong_count(&of_other), 1);
    }
}
