//! Records by the number of their handle: found without a lock, as every launch does, and never
//! freed, so that a reference stays good.

// References to leaked records behind atomic pointers.
#![allow(unsafe_code)]

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

const PAGE: usize = 1024;
const PAGES: usize = 1024;

type Page<T> = [AtomicPtr<T>; PAGE];

/// A table that only grows, of up to a million records.
pub(crate) struct Slots<T: 'static> {
    pages: [AtomicPtr<Page<T>>; PAGES],
}

impl<T: Sync> Default for Slots<T> {
    fn default() -> Self {
        Self {
            pages: [const { AtomicPtr::new(ptr::null_mut()) }; PAGES],
        }
    }
}

impl<T: Sync> Slots<T> {
    /// The record at `at`, if there is one.
    #[inline]
    pub(crate) fn get(&self, at: u64) -> Option<&'static T> {
        let at = usize::try_from(at).ok()?;
        let page = self.pages.get(at / PAGE)?.load(Ordering::Acquire);
        // SAFETY: null, or a page that `set` leaked.
        let page = unsafe { page.as_ref() }?;
        // SAFETY: null, or a record that `set` leaked.
        unsafe { page[at % PAGE].load(Ordering::Acquire).as_ref() }
    }

    /// Puts a record at `at` for ever, or gives it back if the table is too small.
    pub(crate) fn set(&self, at: u64, record: T) -> Option<T> {
        let Ok(at) = usize::try_from(at) else {
            return Some(record);
        };
        let Some(place) = self.pages.get(at / PAGE) else {
            return Some(record);
        };
        if place.load(Ordering::Acquire).is_null() {
            let page = Box::into_raw(Box::new([const { AtomicPtr::new(ptr::null_mut()) }; PAGE]));
            let won =
                place.compare_exchange(ptr::null_mut(), page, Ordering::AcqRel, Ordering::Acquire);
            if won.is_err() {
                // SAFETY: made above, and nobody else has seen it.
                drop(unsafe { Box::from_raw(page) });
            }
        }
        // SAFETY: not null by now, and leaked.
        let Some(page) = (unsafe { place.load(Ordering::Acquire).as_ref() }) else {
            return Some(record);
        };
        page[at % PAGE].store(Box::into_raw(Box::new(record)), Ordering::Release);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_found_where_they_were_put() {
        let slots = Slots::default();
        assert!(slots.get(0).is_none());
        for at in [0, 1, 1023, 1024, 500_000] {
            assert_eq!(slots.set(at, at * 2), None);
        }
        for at in [0, 1, 1023, 1024, 500_000] {
            assert_eq!(slots.get(at), Some(&(at * 2)));
        }
        assert_eq!(slots.get(2), None);
        assert_eq!(slots.set((PAGE * PAGES) as u64, 7), Some(7));
        assert_eq!(slots.get(u64::MAX), None);
    }
}
