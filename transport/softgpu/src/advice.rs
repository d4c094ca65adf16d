//! What programs have advised about managed memory: kept by page for those who ask. It changes
//! nothing, as there is one memory only.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::pages::page_size;
use crate::sync::lock;

/// `CU_DEVICE_CPU`.
pub(crate) const CPU: i32 = -1;
/// `CU_DEVICE_INVALID`.
pub(crate) const NOWHERE: i32 = -2;

/// Where memory is, or should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Location {
    /// `CUmemLocationType`; 0: none.
    pub(crate) kind: u32,
    /// Ordinal of a device, or number of a NUMA node.
    pub(crate) id: i32,
}

impl Location {
    /// No place.
    pub(crate) const NONE: Self = Self { kind: 0, id: 0 };

    /// As `CUdevice`, with [`CPU`] and [`NOWHERE`].
    pub(crate) fn device(self) -> i32 {
        match self.kind {
            0 => NOWHERE,
            1 => self.id,
            _ => CPU,
        }
    }
}

/// What is known of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Advice {
    pub(crate) read_mostly: bool,
    pub(crate) preferred: Location,
    pub(crate) prefetched: Location,
    /// A bit for each ordinal, and the last for the host.
    pub(crate) accessed_by: u32,
}

impl Advice {
    /// Before there was any.
    pub(crate) const NONE: Self = Self {
        read_mostly: false,
        preferred: Location::NONE,
        prefetched: Location::NONE,
        accessed_by: 0,
    };
}

/// The bit of a device in [`Advice::accessed_by`].
pub(crate) fn bit(device: i32) -> u32 {
    match u32::try_from(device) {
        Ok(ordinal) if ordinal < 31 => 1 << ordinal,
        _ => 1 << 31,
    }
}

/// By number of the page.
static PAGES: Mutex<BTreeMap<u64, Advice>> = Mutex::new(BTreeMap::new());

fn pages(base: u64, length: u64) -> std::ops::Range<u64> {
    base / page_size()..(base + length).div_ceil(page_size())
}

/// Changes what is known of a range.
pub(crate) fn change(base: u64, length: u64, change: impl Fn(&mut Advice)) {
    let mut all = lock(&PAGES);
    for page in pages(base, length) {
        let advice = all.entry(page).or_insert(Advice::NONE);
        change(advice);
        if *advice == Advice::NONE {
            all.remove(&page);
        }
    }
}

/// What is the same of all pages of a range, and `otherwise` where they differ.
pub(crate) fn common<T: PartialEq>(
    base: u64,
    length: u64,
    of: impl Fn(&Advice) -> T,
    otherwise: T,
) -> T {
    let all = lock(&PAGES);
    let mut found = pages(base, length).map(|page| of(all.get(&page).unwrap_or(&Advice::NONE)));
    match found.next() {
        Some(first) if found.all(|other| other == first) => first,
        _ => otherwise,
    }
}

/// What all pages of a range have been advised that only some may have: their common bits.
pub(crate) fn accessed_by(base: u64, length: u64) -> u32 {
    let all = lock(&PAGES);
    let bits = pages(base, length).map(|page| all.get(&page).map_or(0, |found| found.accessed_by));
    bits.fold(u32::MAX, |common, bits| common & bits)
}

/// Forgets a range that is freed.
pub(crate) fn forget(base: u64, length: u64) {
    let mut all = lock(&PAGES);
    let gone: Vec<u64> = all
        .range(pages(base, length))
        .map(|(page, _)| *page)
        .collect();
    for page in gone {
        all.remove(&page);
    }
}
