//! Page-locked memory of the client that kernels use: memory of this process at the client's addresses, registered with
//! the driver. The client keeps both in step by copies.
//!
//! The addresses are the client's choice, so nothing is ever put where this process has something (MAP_FIXED_NOREPLACE).
//! Each range is registered by its own bytes, as the program has registered it: a driver takes two ranges that share a page,
//! but no copy or fill that goes from one registration into the next.

// mmap(2).
#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Below and above this nothing is mapped.
const LOWEST: u64 = 64 << 10;
/// Programs have 47 bits of addresses on x86-64, 48 on arm64 unless they ask for more.
const END: u64 = match cfg!(target_arch = "aarch64") {
    true => 1 << 48,
    false => 1 << 47,
};
/// Most ranges: a driver has an object in the kernel for each, and the kernel a limit of mappings for all of a process
/// (vm.max_map_count, 65,530).
const RANGES_MAX: usize = 16 << 10;

/// Why memory is not mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// There can be none.
    Range,
    /// This process has something there, or there is too much.
    Taken,
    /// What the driver says.
    Driver(i32),
}

/// Memory that is unmapped as one: the page in which a range begins or ends, which others may have too, or what is between.
#[derive(Clone, Copy, Debug)]
struct Piece {
    len: u64,
    /// Ranges of the client that have a page of it.
    users: u32,
}

/// By first address.
type Pieces = BTreeMap<u64, Piece>;

/// What of a session's memory is mapped. Ranges that share a page share its piece.
#[derive(Debug)]
pub(crate) struct HostMemory {
    pieces: Mutex<Pieces>,
    /// The ranges that are registered: first address and bytes. Held while ranges come and go, for which the driver may wait
    /// for a function of the client. That reads and writes what there is meanwhile.
    ranges: Mutex<BTreeMap<u64, u64>>,
    /// Most bytes of it.
    max: u64,
    /// Bytes of a page of this host: up to 64 KiB on arm64, also where the client's are smaller.
    page: u64,
}

/// Half of this machine's memory: a driver keeps what is registered from being swapped out.
impl Default for HostMemory {
    fn default() -> Self {
        // SAFETY: a structure of numbers, which the call fills.
        let total = unsafe {
            let mut info: libc::sysinfo = std::mem::zeroed();
            match libc::sysinfo(&raw mut info) {
                0 => info.totalram.saturating_mul(info.mem_unit.into()),
                _ => u64::MAX,
            }
        };
        // SAFETY: asks for a number, which the C library has from the kernel and which is always there.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64;
        Self::new(total / 2, page)
    }
}

fn place(address: u64) -> *mut c_void {
    ptr::with_exposed_provenance_mut(address as usize)
}

fn map(address: u64, len: u64) -> bool {
    // SAFETY: MAP_FIXED_NOREPLACE takes addresses that nobody uses, or fails. Kernels before 4.17 take it for a hint,
    // which the comparison finds out.
    unsafe {
        let got = libc::mmap(
            place(address),
            len as usize,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE
                | libc::MAP_ANONYMOUS
                | libc::MAP_NORESERVE
                | libc::MAP_FIXED_NOREPLACE,
            -1,
            0,
        );
        if got == libc::MAP_FAILED {
            return false;
        }
        if got != place(address) {
            libc::munmap(got, len as usize);
            return false;
        }
    }
    true
}

fn unmap(address: u64, len: u64) {
    // SAFETY: a mapping of `map`, which the driver does not know any more.
    unsafe { libc::munmap(place(address), len as usize) };
}

/// First addresses of the pieces that have a page between these addresses.
fn within(pieces: &Pieces, from: u64, end: u64) -> Vec<u64> {
    let before = pieces.range(..from).next_back();
    let before = before.filter(|(base, piece)| *base + piece.len > from);
    let rest = pieces.range(from..end);
    before
        .into_iter()
        .chain(rest)
        .map(|(base, _)| *base)
        .collect()
}

impl HostMemory {
    /// With at most `max` bytes, in pages of so many.
    fn new(max: u64, page: u64) -> Self {
        Self {
            pieces: Mutex::default(),
            ranges: Mutex::default(),
            max,
            page,
        }
    }

    /// Bytes of the pages of this host that a range of the client lies in; nothing if there can be none.
    pub(crate) fn span(&self, (address, len): (u64, u64)) -> Option<u64> {
        let (from, end) = self.pages(address, len)?;
        Some(end - from)
    }

    /// Where the pages of this host begin and end that a range of the client lies in; nothing if there can be none.
    fn pages(&self, address: u64, len: u64) -> Option<(u64, u64)> {
        let end = address.checked_add(len)?;
        (len > 0 && address >= LOWEST && end <= END)
            .then(|| (address & !(self.page - 1), end.next_multiple_of(self.page)))
    }

    fn lock(&self) -> MutexGuard<'_, Pieces> {
        self.pieces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ranges(&self) -> MutexGuard<'_, BTreeMap<u64, u64>> {
        self.ranges.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether all of these bytes are those of pieces, which stay while `pieces` is held.
    fn has(pieces: &Pieces, address: u64, len: usize) -> bool {
        let Some(end) = address.checked_add(len as u64) else {
            return false;
        };
        let mut at = address;
        for base in within(pieces, address, end) {
            match pieces.get(&base) {
                Some(piece) if base <= at => at = base + piece.len,
                _ => return false,
            }
        }
        at >= end
    }

    /// Puts bytes there as the client's CPU would have; false if not all of it is mapped.
    pub(crate) fn write(&self, address: u64, bytes: &[u8]) -> bool {
        let pieces = self.lock();
        let all = Self::has(&pieces, address, bytes.len());
        if all {
            // SAFETY: memory of `map` that stays while the lock is held. The device may use it at the same time, as it may
            // any page-locked memory that a program writes to.
            unsafe {
                ptr::copy_nonoverlapping(bytes.as_ptr(), place(address).cast(), bytes.len());
            }
        }
        all
    }

    /// Takes bytes from there; false if not all of it is mapped.
    pub(crate) fn read(&self, address: u64, into: &mut [u8]) -> bool {
        let pieces = self.lock();
        let all = Self::has(&pieces, address, into.len());
        if all {
            // SAFETY: as in `write`.
            unsafe {
                ptr::copy_nonoverlapping(place(address).cast(), into.as_mut_ptr(), into.len());
            }
        }
        all
    }

    /// Maps `len` bytes from `address` on and has `register` give them to the driver. How many bytes are new, and so 0: others
    /// are those of pieces that there were.
    ///
    /// # Errors
    ///
    /// [`Refused`], with all as it was.
    pub(crate) fn add(
        &self,
        (address, len): (u64, u64),
        register: impl FnOnce(*mut c_void, usize) -> i32,
    ) -> Result<u64, Refused> {
        let (first, end) = self.pages(address, len).ok_or(Refused::Range)?;
        let mut ranges = self.ranges();
        let pieces = self.lock();
        let old = within(&pieces, first, end);
        let mut gaps = Vec::new();
        let mut at = first;
        for base in &old {
            if *base > at {
                gaps.push((at, *base - at));
            }
            at = pieces.get(base).map_or(at, |piece| *base + piece.len);
        }
        if at < end {
            gaps.push((at, end - at));
        }
        let has: u64 = pieces.values().map(|piece| piece.len).sum();
        let more: u64 = gaps.iter().map(|(_, len)| len).sum();
        if ranges.len() >= RANGES_MAX || has.saturating_add(more) > self.max {
            return Err(Refused::Taken);
        }
        drop(pieces);
        let made = gaps.iter().take_while(|(base, len)| map(*base, *len));
        let made = made.count();
        let refused = if made < gaps.len() {
            Some(Refused::Taken)
        } else {
            let code = register(place(address), len as usize);
            (code != 0).then_some(Refused::Driver(code))
        };
        if let Some(why) = refused {
            for (base, len) in gaps.iter().take(made) {
                unmap(*base, *len);
            }
            return Err(why);
        }
        // A range that the driver would not let go and takes anew, since its context has ended: it is a user already.
        let before = ranges.insert(address, len);
        let counted = |base: u64| before.is_some_and(|len| base < address + len);
        let mut pieces = self.lock();
        for base in old.into_iter().filter(|base| !counted(*base)) {
            if let Some(piece) = pieces.get_mut(&base) {
                piece.users = piece.users.saturating_add(1);
            }
        }
        // Where the pages begin and end that no other range has.
        let own = address.next_multiple_of(self.page);
        let own_end = (address + len) & !(self.page - 1);
        for (base, len) in gaps {
            let mut at = base;
            for to in [own, own_end, base + len] {
                if to > at && to <= base + len {
                    let len = to - at;
                    pieces.insert(at, Piece { len, users: 1 });
                    at = to;
                }
            }
        }
        Ok(more)
    }

    /// Takes away what [`HostMemory::add`] was given, as far as no other range has a page of it: so many bytes. `None` if
    /// nothing was there.
    pub(crate) fn remove(
        &self,
        (address, len): (u64, u64),
        unregister: impl FnOnce(*mut c_void) -> bool,
    ) -> Option<u64> {
        let (first, end) = self.pages(address, len)?;
        let mut ranges = self.ranges();
        if ranges.get(&address) != Some(&len) {
            return None;
        }
        // What the driver will not let go stays where it is.
        if !unregister(place(address)) {
            return Some(0);
        }
        ranges.remove(&address);
        let mut pieces = self.lock();
        let mut freed = 0;
        for base in within(&pieces, first, end) {
            let Some(piece) = pieces.get_mut(&base) else {
                continue;
            };
            piece.users = piece.users.saturating_sub(1);
            if piece.users == 0 {
                unmap(base, piece.len);
                freed += piece.len;
                pieces.remove(&base);
            }
        }
        Some(freed)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    const PAGE: u64 = 4096;
    /// Addresses that nothing else has in these tests.
    const BASE: u64 = 0x2345_0000_0000;

    fn is_mapped(address: u64) -> bool {
        // SAFETY: asks about a page, whatever is there.
        unsafe { libc::msync(place(address), PAGE as usize, libc::MS_ASYNC) == 0 }
    }

    /// A driver copies within one registration only, so each range is one, whichever came first.
    #[test]
    fn ranges_that_share_a_page_are_registered_by_themselves() {
        let memory = HostMemory::default();
        let known = RefCell::new(Vec::new());
        let add = |range| {
            memory.add(range, |at, len| {
                known.borrow_mut().push((at.addr() as u64, len as u64));
                0
            })
        };
        let remove = |range| {
            memory.remove(range, |at| {
                let at = at.addr() as u64;
                known.borrow_mut().retain(|(base, _)| *base != at);
                true
            })
        };
        let first = (BASE + 16, PAGE);
        assert_eq!(add(first), Ok(2 * PAGE));
        // It begins in the second page, which is the first one's too.
        let second = (BASE + PAGE + 16, 3 * PAGE);
        assert_eq!(add(second), Ok(3 * PAGE));
        assert_eq!(*known.borrow(), [first, second]);
        assert!(memory.write(BASE + 16, &[7; 3 * PAGE as usize]));
        assert_eq!(remove((first.0, 8)), None);
        // Of the first one only the page stays that the second has too.
        assert_eq!(remove(first), Some(PAGE));
        assert!(!is_mapped(BASE) && is_mapped(BASE + PAGE) && is_mapped(BASE + 4 * PAGE));
        assert!(memory.write(second.0, &[7; 3 * PAGE as usize]));
        assert_eq!(remove(second), Some(4 * PAGE));
        assert!(known.borrow().is_empty());
        assert!(!is_mapped(BASE + PAGE) && !is_mapped(BASE + 4 * PAGE));
        assert_eq!(remove(second), None);
    }

    #[test]
    fn nothing_is_put_where_this_process_has_something() {
        let memory = HostMemory::default();
        let own = vec![7_u8; 64 << 10];
        let address = (own.as_ptr().addr() as u64).next_multiple_of(PAGE);
        let add = |range| memory.add(range, |_, _| panic!("registered"));
        assert_eq!(add((address, PAGE)), Err(Refused::Taken));
        assert!(own.iter().all(|byte| *byte == 7));
        for range in [
            (0, PAGE),
            (4096, PAGE),
            (BASE, 0),
            (u64::MAX - PAGE + 1, PAGE),
            (END, PAGE),
        ] {
            assert_eq!(add(range), Err(Refused::Range), "{range:x?}");
        }
    }

    #[test]
    fn a_client_has_its_part_of_the_machine() {
        let memory = HostMemory::new(3 * PAGE, PAGE);
        let base = BASE + (2 << 30);
        let add = |at, len| memory.add((at, len), |_, _| 0);
        assert_eq!(add(base, 4 * PAGE), Err(Refused::Taken));
        assert!(!is_mapped(base));
        assert_eq!(add(base, 2 * PAGE), Ok(2 * PAGE));
        // What is there already counts once.
        assert_eq!(add(base + 2 * PAGE - 8, PAGE), Ok(PAGE));
        assert_eq!(add(base + (1 << 20), PAGE), Err(Refused::Taken));
        let remove = |at, len| memory.remove((at, len), |_| true);
        assert_eq!(remove(base, 2 * PAGE), Some(0));
        assert_eq!(remove(base + 2 * PAGE - 8, PAGE), Some(3 * PAGE));
        assert_eq!(add(base + (1 << 20), PAGE), Ok(PAGE));
        assert_eq!(remove(base + (1 << 20), PAGE), Some(PAGE));
    }

    #[test]
    fn ranges_of_smaller_pages_are_mapped_by_the_pages_of_this_host() {
        const LARGE: u64 = 64 << 10;
        let memory = HostMemory::new(u64::MAX, LARGE);
        let base = BASE + (3 << 30);
        let known = RefCell::new(Vec::new());
        let register = |at: *mut c_void, len: usize| {
            known.borrow_mut().push((at.addr() as u64, len as u64));
            0
        };
        let first = (base + PAGE, 2 * PAGE);
        assert_eq!(memory.span(first), Some(LARGE));
        assert_eq!(memory.add(first, register), Ok(LARGE));
        assert!(memory.write(base + PAGE, &[7; 2 * PAGE as usize]));
        // The next one begins within the same page and ends in another.
        let second = (base + 4 * PAGE, LARGE);
        assert_eq!(memory.span(second), Some(2 * LARGE));
        assert_eq!(memory.add(second, register), Ok(LARGE));
        assert_eq!(*known.borrow(), [first, second]);
        assert_eq!(memory.remove(first, |_| true), Some(0));
        assert!(is_mapped(base + 4 * PAGE));
        assert_eq!(memory.remove(second, |_| true), Some(2 * LARGE));
        assert!(!is_mapped(base) && !is_mapped(base + LARGE));
    }

    #[test]
    fn what_the_driver_refuses_leaves_nothing() {
        let memory = HostMemory::default();
        let base = BASE + (1 << 30);
        let refuse = |_: *mut c_void, _: usize| 2;
        let range = (base, PAGE);
        assert_eq!(memory.add(range, refuse), Err(Refused::Driver(2)));
        assert!(!is_mapped(base));
        assert_eq!(memory.add(range, |_, _| 0), Ok(PAGE));
        // Nor does it take away what it will not let go.
        assert_eq!(memory.remove(range, |_| false), Some(0));
        assert!(is_mapped(base));
        // Once its context has ended the driver takes it anew.
        assert_eq!(memory.add(range, |_, _| 0), Ok(0));
        assert_eq!(memory.remove(range, |_| true), Some(PAGE));
        assert!(!is_mapped(base));
    }

    /// Ranges cost the driver and the kernel something, also where all of them are in one page.
    #[test]
    fn ranges_of_one_page_have_a_limit() {
        let memory = HostMemory::new(u64::MAX, 64 << 10);
        let base = BASE + (4 << 30);
        let add = |at| memory.add((at, 1), |_, _| 0);
        let last = base + RANGES_MAX as u64 - 1;
        assert!((base..=last).all(|at| add(at).is_ok()));
        assert_eq!(add(last + 1), Err(Refused::Taken));
        assert_eq!(memory.remove((last, 1), |_| true), Some(0));
        assert_eq!(add(last + 1), Ok(0));
    }
}
