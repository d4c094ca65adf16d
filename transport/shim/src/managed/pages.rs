//! Which pages of managed memory the host has, and which it has changed. No I/O.

use std::collections::BTreeMap;
use std::ops::Range;

use super::transfer::Owner;
use crate::page::page_size;

/// Bytes of the first fetch where the host begins to read, and of the largest.
const WINDOW_MIN: u64 = 64 << 10;
pub(super) const WINDOW_MAX: u64 = 2 << 20;
/// Most bytes of pages that are taken for changed because the ones before them were.
const WRITE_MAX: u64 = 256 << 10;

/// As many pages as have so many bytes, and one at least.
pub(super) fn pages_of(bytes: u64, page_size: u64) -> usize {
    (bytes / page_size).max(1) as usize
}

/// A page, as the host has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Page {
    /// The device has it.
    Stale,
    /// Both have it.
    Clean,
    /// The host has changed it.
    Dirty,
}

/// Pages side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// Number of the first in its region.
    pub(crate) first: usize,
    /// How many.
    pub(crate) count: usize,
}

impl Run {
    fn end(self) -> usize {
        self.first + self.count
    }

    fn within(self, other: Self) -> Option<Self> {
        let first = self.first.max(other.first);
        let end = self.end().min(other.end());
        (first < end).then(|| Self {
            first,
            count: end - first,
        })
    }
}

/// Who may use managed memory (`cuStreamAttachMemAsync`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attach {
    /// Every stream.
    Global,
    /// The host alone.
    Host,
    /// This stream, and the host while it is idle.
    Stream(u64),
}

impl Attach {
    /// Whether a kernel in `stream` may use the memory, by CUDA's rules.
    pub(crate) fn allows(self, stream: u64) -> bool {
        match self {
            Self::Global => true,
            Self::Host => false,
            Self::Stream(own) => own == stream,
        }
    }
}

/// What resolves a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// Another fault has resolved it.
    Nothing,
    /// These pages may be written from now on.
    Unprotect(Run),
    /// These are to be filled, the first `dirty` of them to be written.
    Fill {
        run: Run,
        dirty: usize,
        /// Nobody has written there yet.
        zero: bool,
    },
}

/// Grows while faults follow each other.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    next: usize,
    size: usize,
}

impl Window {
    fn at(&mut self, page: usize, min: usize, max: usize) -> usize {
        self.size = match page == self.next && self.size > 0 {
            true => (self.size * 2).min(max),
            false => min,
        };
        self.size
    }
}

/// Memory of a region that is one allocation or variable.
#[derive(Clone, Copy, Debug)]
struct Part {
    from: u64,
    end: u64,
    /// Module or library that it is a variable of; 0 for none.
    owner: u64,
}

/// A managed allocation.
#[derive(Debug)]
pub(crate) struct Region {
    /// First address, at the begin of a page.
    pub(crate) base: u64,
    /// The memory itself, which may begin and end within a page. Variables may have a page together.
    parts: Vec<Part>,
    /// Context that it was allocated in.
    pub(crate) context: u64,
    pub(crate) attach: Attach,
    /// As it was allocated.
    pub(crate) attach_first: Attach,
    /// Pages were fetched while the device may have changed them.
    pub(crate) provisional: bool,
    /// Page-locked memory: the host may use it while the device does.
    pub(crate) shared: bool,
    /// It is the program's own, which it may have unmapped, and which a child of fork(2) has.
    pub(crate) foreign: bool,
    /// Of shared memory, what the pages were that the host began to change while the device was at work.
    twins: BTreeMap<usize, Box<[u8]>>,
    /// Pages that the program will want (`cuMemPrefetchAsync` to the host).
    pub(crate) wanted: Option<Run>,
    pages: Vec<Page>,
    /// Those that are not stale, in no order.
    valid: Vec<Run>,
    /// The host has changed some since all that it had changed was sent.
    changed: bool,
    /// The device had no occasion to write there.
    fresh: bool,
    reads: Window,
    writes: Window,
}

impl Region {
    /// Of `bytes` from `from` on, which nobody has written, in the context with this handle.
    pub(crate) fn new(from: u64, bytes: u64, context: u64) -> Self {
        let base = from & !(page_size() - 1);
        let end = from.saturating_add(bytes);
        Self {
            base,
            parts: vec![Part {
                from,
                end,
                owner: 0,
            }],
            context,
            attach: Attach::Global,
            attach_first: Attach::Global,
            provisional: false,
            shared: false,
            foreign: false,
            twins: BTreeMap::new(),
            wanted: None,
            pages: vec![Page::Stale; (end - base).div_ceil(page_size()) as usize],
            valid: Vec::new(),
            changed: false,
            fresh: true,
            reads: Window::default(),
            writes: Window::default(),
        }
    }

    /// A variable of a module or library, which has a value from the start.
    pub(crate) fn of(mut self, owner: u64) -> Self {
        for part in &mut self.parts {
            part.owner = owner;
        }
        self.fresh = false;
        self
    }

    /// Another variable has some of the pages too; they are not at the host.
    pub(crate) fn share(&mut self, from: u64, end: u64, owner: u64) {
        self.parts.push(Part { from, end, owner });
        self.fresh = false;
    }

    /// The memory that begins at `base` is gone; whether that was all.
    pub(crate) fn give_up(&mut self, base: u64) -> bool {
        self.give_up_where(|part| part.from == base)
    }

    /// The variables of a module or library are gone; whether that was all.
    pub(crate) fn give_up_of(&mut self, owner: u64) -> bool {
        self.give_up_where(|part| part.owner == owner)
    }

    fn give_up_where(&mut self, which: impl Fn(&Part) -> bool) -> bool {
        self.parts.retain(|part| !which(part));
        self.parts.is_empty()
    }

    /// Page-locked memory, of which the device has all; `foreign`: it is the program's own.
    pub(crate) fn shared(mut self, foreign: bool) -> Self {
        self.shared = true;
        self.foreign = foreign;
        self.fresh = false;
        self
    }

    /// Whose pages travel.
    pub(super) fn owner(&self) -> Owner {
        Owner {
            context: self.context,
            locked: self.shared,
        }
    }

    /// Bytes.
    pub(crate) fn len(&self) -> u64 {
        self.pages.len() as u64 * page_size()
    }

    /// All pages.
    pub(crate) fn all(&self) -> Run {
        Run {
            first: 0,
            count: self.pages.len(),
        }
    }

    /// The pages of `len` bytes at `address`, as far as they are the region's.
    pub(crate) fn run(&self, address: u64, len: u64) -> Option<Run> {
        let end = address.saturating_add(len).min(self.base + self.len());
        let from = address.max(self.base);
        (from < end).then(|| {
            let first = ((from - self.base) / page_size()) as usize;
            let last = ((end - 1 - self.base) / page_size()) as usize;
            Run {
                first,
                count: last - first + 1,
            }
        })
    }

    /// Address and bytes of pages.
    pub(crate) fn span(&self, run: Run) -> (u64, u64) {
        let address = self.base + run.first as u64 * page_size();
        (address, run.count as u64 * page_size())
    }

    /// The same without what is not the memory itself.
    pub(crate) fn memory(&self, run: Run) -> Vec<(u64, u64)> {
        let (address, len) = self.span(run);
        let parts = self.parts.iter().map(|part| {
            let from = address.max(part.from);
            (from, (address + len).min(part.end).saturating_sub(from))
        });
        parts.filter(|(_, len)| *len > 0).collect()
    }

    /// Whether the host has any page.
    pub(crate) fn is_at_host(&self) -> bool {
        !self.valid.is_empty()
    }

    /// Whether the host has any page, or would not ask for one.
    pub(crate) fn is_touched(&self) -> bool {
        self.fresh || !self.valid.is_empty()
    }

    /// What a fault at `page` needs. [`Region::filled`] or [`Region::unprotected`] has to follow.
    pub(crate) fn fault(&mut self, page: usize, write: bool) -> Need {
        let [window_min, window_max, write_max] =
            [WINDOW_MIN, WINDOW_MAX, WRITE_MAX].map(|bytes| pages_of(bytes, page_size()));
        let Some(state) = self.pages.get(page) else {
            return Need::Nothing;
        };
        match (state, write) {
            (Page::Dirty, _) | (Page::Clean, false) => Need::Nothing,
            (Page::Clean, true) => {
                let size = self.writes.at(page, 1, write_max);
                let run = self.like(page, size, Page::Clean);
                self.writes.next = run.end();
                Need::Unprotect(run)
            }
            (Page::Stale, _) => {
                let wanted = self.wanted.is_some_and(|wanted| {
                    let this = Run {
                        first: page,
                        count: 1,
                    };
                    wanted.within(this).is_some()
                });
                let min = if wanted { window_max } else { window_min };
                let size = self.reads.at(page, min, window_max);
                let run = self.like(page, size, Page::Stale);
                self.reads.next = run.end();
                let dirty = match (write, self.fresh) {
                    (false, _) => 0,
                    (true, true) => run.count,
                    (true, false) => {
                        let size = self.writes.at(page, 1, write_max).min(run.count);
                        self.writes.next = page + size;
                        size
                    }
                };
                Need::Fill {
                    run,
                    dirty,
                    zero: self.fresh,
                }
            }
        }
    }

    /// Pages from `page` on that are as it is, `most` at most.
    fn like(&self, page: usize, most: usize, state: Page) -> Run {
        let pages = self.pages[page..].iter().take(most);
        Run {
            first: page,
            count: pages.take_while(|other| **other == state).count(),
        }
    }

    /// The host has the pages, and may write the first `dirty` of them.
    pub(crate) fn filled(&mut self, run: Run, dirty: usize) {
        self.changed |= dirty > 0;
        for (at, page) in self.pages[run.first..run.end()].iter_mut().enumerate() {
            *page = if at < dirty { Page::Dirty } else { Page::Clean };
        }
        match self.valid.last_mut() {
            Some(last) if last.end() == run.first => last.count += run.count,
            _ => self.valid.push(run),
        }
    }

    /// The host may write the pages.
    pub(crate) fn unprotected(&mut self, run: Run) {
        self.changed = true;
        self.pages[run.first..run.end()].fill(Page::Dirty);
    }

    /// The host begins to change pages from `first` on that are `bytes` now, while the device may change them too.
    pub(crate) fn keep_twins(&mut self, first: usize, bytes: &[u8]) {
        for (at, page) in bytes.chunks_exact(page_size() as usize).enumerate() {
            self.twins.insert(first + at, page.into());
        }
    }

    /// What of a run of pages, which is `bytes` now, the host has changed, as far as that is known.
    pub(crate) fn changes(&self, run: Run, bytes: &[u8]) -> Vec<Range<usize>> {
        if self.twins.range(run.first..run.end()).next().is_none() {
            return std::iter::once(0..bytes.len()).collect();
        }
        let pages = bytes.chunks_exact(page_size() as usize).enumerate();
        let parts = pages.flat_map(|(at, page)| {
            let begin = at * page_size() as usize;
            let parts = match self.twins.get(&(run.first + at)) {
                Some(twin) => differences(page, twin, 0),
                None => std::iter::once(0..page.len()).collect(),
            };
            parts
                .into_iter()
                .map(move |part| begin + part.start..begin + part.end)
        });
        parts.collect()
    }

    /// Whether the host changes pages that the device may change too.
    pub(crate) fn has_twins(&self) -> bool {
        !self.twins.is_empty()
    }

    /// What of `within` the host has changed, in order.
    pub(crate) fn dirty(&self, within: Run) -> Vec<Run> {
        self.runs(within, |page| page == Page::Dirty)
    }

    /// What of `within` is clean, in order.
    pub(crate) fn clean(&self, within: Run) -> Vec<Run> {
        self.runs(within, |page| page == Page::Clean)
    }

    /// What of `within` the host has, in order.
    pub(crate) fn valid(&self, within: Run) -> Vec<Run> {
        self.runs(within, |page| page != Page::Stale)
    }

    fn runs(&self, within: Run, which: impl Fn(Page) -> bool) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        let parts = self.valid.iter().filter_map(|part| part.within(within));
        for part in parts {
            for page in (part.first..part.end()).filter(|page| which(self.pages[*page])) {
                match runs.last_mut() {
                    Some(last) if last.end() == page => last.count += 1,
                    _ => runs.push(Run {
                        first: page,
                        count: 1,
                    }),
                }
            }
        }
        runs.sort_unstable_by_key(|run| run.first);
        runs.dedup_by(|next, before| {
            let joins = before.end() == next.first;
            if joins {
                before.count += next.count;
            }
            joins
        });
        runs
    }

    /// Pages that the host does not have, in runs of at most `most`.
    pub(crate) fn missing(&self, most: usize) -> impl Iterator<Item = Run> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let stale = |page: &Page| *page == Page::Stale;
            at += self.pages.get(at..)?.iter().position(stale)?;
            let run = self.like(at, most, Page::Stale);
            at = run.end();
            Some(run)
        })
    }

    /// Whether the host may have changed pages that were not sent.
    pub(crate) fn is_changed(&self) -> bool {
        self.changed
    }

    /// All that was dirty was sent.
    pub(crate) fn all_sent(&mut self) {
        self.changed = false;
    }

    /// The device has what was dirty there.
    pub(crate) fn sent(&mut self, run: Run) {
        self.pages[run.first..run.end()].fill(Page::Clean);
        if !self.twins.is_empty() {
            self.twins
                .retain(|page, _| !(run.first..run.end()).contains(page));
        }
    }

    /// The device may change the pages: the host has them no more.
    pub(crate) fn stale(&mut self, runs: &[Run]) {
        for run in runs {
            self.pages[run.first..run.end()].fill(Page::Stale);
        }
        let pages = &self.pages;
        let mut kept: Vec<Run> = Vec::new();
        for part in self.valid.drain(..) {
            for page in (part.first..part.end()).filter(|page| pages[*page] != Page::Stale) {
                match kept.last_mut() {
                    Some(last) if last.end() == page => last.count += 1,
                    _ => kept.push(Run {
                        first: page,
                        count: 1,
                    }),
                }
            }
        }
        self.valid = kept;
    }

    /// The device may have written somewhere.
    pub(crate) fn used(&mut self) {
        self.fresh = false;
    }
}

/// Where two pieces of memory differ, in order. Parts with up to `join` equal bytes between them are one.
pub(crate) fn differences(now: &[u8], before: &[u8], join: usize) -> Vec<Range<usize>> {
    /// Bytes that are compared at once.
    const BLOCK: usize = 64;
    let mut parts: Vec<Range<usize>> = Vec::new();
    let blocks = now.chunks(BLOCK).zip(before.chunks(BLOCK));
    for (block, (now, before)) in blocks.enumerate() {
        if now == before {
            continue;
        }
        let bytes = now.iter().zip(before).enumerate();
        for (at, _) in bytes.filter(|(_, (now, before))| now != before) {
            let at = block * BLOCK + at;
            match parts.last_mut() {
                Some(last) if at - last.end <= join => last.end = at + 1,
                _ => parts.push(at..at + 1),
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn region(pages: u64) -> Region {
        Region::new(0x10_0000, pages * page_size(), 1)
    }

    fn fill(region: &mut Region, page: usize, write: bool) -> Need {
        let need = region.fault(page, write);
        match need {
            Need::Fill { run, dirty, .. } => region.filled(run, dirty),
            Need::Unprotect(run) => region.unprotected(run),
            Need::Nothing => {}
        }
        need
    }

    #[test]
    fn larger_pages_are_fetched_by_fewer() {
        let of = |page: u64| [WINDOW_MIN, WINDOW_MAX, WRITE_MAX].map(|bytes| pages_of(bytes, page));
        assert_eq!(of(4 << 10), [16, 512, 64]);
        assert_eq!(of(64 << 10), [1, 32, 4]);
        assert_eq!(pages_of(WINDOW_MIN, 2 << 20), 1);
    }

    #[test]
    fn what_is_fetched_grows_while_the_host_goes_on() {
        let mut region = region(4096).of(7);
        let mut page = 0;
        let mut counts = Vec::new();
        while page < 4096 && counts.len() < 7 {
            let Need::Fill { run, dirty, zero } = fill(&mut region, page, false) else {
                panic!("nothing to fetch");
            };
            assert_eq!((run.first, dirty, zero), (page, 0, false));
            counts.push(run.count);
            page += run.count;
        }
        assert_eq!(counts, [16, 32, 64, 128, 256, 512, 512]);
        // Somewhere else it begins anew, and ends at what is there.
        let Need::Fill { run, .. } = fill(&mut region, 4000, false) else {
            panic!("nothing to fetch");
        };
        assert_eq!(run.count, 16);
        assert_eq!(fill(&mut region, 4001, false), Need::Nothing);
    }

    #[test]
    fn a_change_is_sent_and_the_page_asked_for_again() {
        let mut region = region(64).of(7);
        fill(&mut region, 3, false);
        assert!(region.dirty(region.all()).is_empty());
        assert_eq!(
            fill(&mut region, 5, true),
            Need::Unprotect(Run { first: 5, count: 1 })
        );
        let dirty = region.dirty(region.all());
        assert_eq!(dirty, [Run { first: 5, count: 1 }]);
        region.sent(dirty[0]);
        assert!(region.dirty(region.all()).is_empty());
        let valid = region.valid(region.all());
        assert_eq!(
            valid,
            [Run {
                first: 3,
                count: 16
            }]
        );
        region.stale(&valid);
        assert!(!region.is_touched());
        assert!(matches!(
            region.fault(5, false),
            Need::Fill { zero: false, .. }
        ));
    }

    #[test]
    fn memory_that_nobody_wrote_is_zero() {
        let mut region = region(64);
        assert!(region.is_touched());
        let Need::Fill { run, dirty, zero } = fill(&mut region, 0, true) else {
            panic!("nothing to fill");
        };
        assert!(zero && dirty == run.count);
        region.used();
        assert!(matches!(
            region.fault(63, false),
            Need::Fill { zero: false, .. }
        ));
    }

    #[test]
    fn ranges_are_cut_to_the_region() {
        let region = region(2);
        assert_eq!(region.run(0, 0x10_0000), None);
        assert_eq!(region.run(0, u64::MAX), Some(Run { first: 0, count: 2 }));
        assert_eq!(region.run(0x10_0fff, 2), Some(Run { first: 0, count: 2 }));
        assert_eq!(region.run(0x10_2000, 1), None);
    }

    #[test]
    fn of_a_page_that_both_change_only_the_hosts_bytes_are_sent() {
        let mut region = Region::new(0x10_0000, 3 * page_size(), 1).shared(false);
        fill(&mut region, 0, true);
        let run = Run { first: 0, count: 2 };
        let mut bytes = vec![1; 2 * page_size() as usize];
        assert_eq!(region.changes(run, &bytes), vec![0..bytes.len(); 1]);
        region.keep_twins(1, &bytes[..page_size() as usize]);
        bytes[page_size() as usize + 5] = 2;
        bytes[page_size() as usize + 6] = 2;
        bytes[page_size() as usize + 100] = 2;
        let page = page_size() as usize;
        let want = [0..page, page + 5..page + 7, page + 100..page + 101];
        assert_eq!(region.changes(run, &bytes), want);
        region.sent(Run { first: 1, count: 1 });
        assert!(!region.has_twins());
    }

    proptest! {
        /// What differs is in a part, and a part begins and ends with what differs.
        #[test]
        fn differences_are_what_differs(bytes in prop::collection::vec(0u8..2, 0..300), join in 0usize..5) {
            let before = vec![0; bytes.len()];
            let parts = differences(&bytes, &before, join);
            let mut copied = before;
            for part in &parts {
                prop_assert!(bytes[part.start] == 1 && bytes[part.end - 1] == 1);
                copied[part.clone()].copy_from_slice(&bytes[part.clone()]);
            }
            prop_assert_eq!(copied, bytes);
            prop_assert!(parts.windows(2).all(|two| two[1].start - two[0].end > join));
        }

        /// What is noted of pages is what a plain array of them says.
        #[test]
        fn runs_are_what_the_pages_say(steps in prop::collection::vec((0usize..200, 0u8..4), 1..80)) {
            let mut region = region(200).of(7);
            let mut model = vec![Page::Stale; 200];
            for (page, what) in steps {
                let within = Run { first: page, count: (200 - page).min(30) };
                match what {
                    0 | 1 => match fill(&mut region, page, what == 1) {
                        Need::Fill { run, dirty, .. } => {
                            prop_assert!(run.first == page && run.count > 0 && dirty <= run.count);
                            let filled = &mut model[run.first..run.end()];
                            prop_assert!(filled.iter().all(|page| *page == Page::Stale));
                            filled.fill(Page::Clean);
                            filled[..dirty].fill(Page::Dirty);
                        }
                        Need::Unprotect(run) => {
                            let changed = &mut model[run.first..run.end()];
                            prop_assert!(changed.iter().all(|page| *page == Page::Clean));
                            changed.fill(Page::Dirty);
                        }
                        Need::Nothing => prop_assert_ne!(model[page], Page::Stale),
                    },
                    2 => {
                        for run in region.dirty(within) {
                            region.sent(run);
                        }
                        for page in &mut model[within.first..within.end()] {
                            if *page == Page::Dirty {
                                *page = Page::Clean;
                            }
                        }
                    }
                    _ => {
                        let runs = region.valid(within);
                        region.stale(&runs);
                        model[within.first..within.end()].fill(Page::Stale);
                    }
                }
                let mut found = vec![Page::Stale; 200];
                for run in region.clean(region.all()) {
                    found[run.first..run.end()].fill(Page::Clean);
                }
                for run in region.dirty(region.all()) {
                    found[run.first..run.end()].fill(Page::Dirty);
                }
                prop_assert_eq!(&found, &model);
            }
        }
    }
}
