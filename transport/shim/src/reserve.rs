//! Keeps the addresses of the device's memory free of memory of the program, so that a number means
//! either the one or the other.

// mmap(2).
#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::ptr;
use std::sync::Mutex;

use crate::log;
use crate::page::page_size;
use crate::state::lock;

/// Addresses are kept free in pieces of this size, so that not every allocation costs a system call.
const PIECE: u64 = 64 << 20;
/// Above this address no program has memory: 47 bits less a page on x86-64, 48 bits on arm64 unless a program asks for
/// more (Linux Documentation/arch/x86/x86_64/mm.rst and arch/arm64/memory.rst).
const END: u64 = match cfg!(target_arch = "aarch64") {
    true => 1 << 48,
    false => (1 << 47) - 4096,
};

/// Pieces that are kept free, or could not be as a whole. They stay so, as the driver uses addresses
/// again.
static PIECES: Mutex<BTreeMap<u64, bool>> = Mutex::new(BTreeMap::new());

/// Keeps `size` bytes from `base` free of the program's memory, as far as they are.
pub(crate) fn reserve(base: u64, size: u64) {
    let Some(end) = base.checked_add(size).filter(|end| *end <= END) else {
        return;
    };
    let mut pieces = lock(&PIECES);
    let mut piece = base / PIECE;
    while piece * PIECE < end {
        let whole = pieces.entry(piece);
        if !*whole.or_insert_with(|| take(piece * PIECE, PIECE)) {
            // Something of the program lies in the piece, which may be beside the allocation.
            let from = base.max(piece * PIECE) & !(page_size() - 1);
            let to = end.min((piece + 1) * PIECE).next_multiple_of(page_size());
            if !take(from, to - from) && mapped(from) {
                log::once(
                    "reserve",
                    &format!(
                        "memory of this program lies at addresses of the GPU ({from:#x}): calls that \
                         distinguish host from device memory by address may take one for the other"
                    ),
                );
            }
        }
        piece += 1;
    }
}

/// Keeps `size` bytes from `base` free, for memory that is to be put there by `MAP_FIXED`. False if
/// something of the program lies there. Both are multiples of a page.
pub(crate) fn claim(base: u64, size: u64) -> bool {
    let Some(end) = base.checked_add(size).filter(|end| *end <= END) else {
        return false;
    };
    let mut pieces = lock(&PIECES);
    let (first, last) = (base / PIECE, (end - 1) / PIECE);
    let whole = (first..=last).all(|piece| {
        let whole = pieces.entry(piece);
        *whole.or_insert_with(|| take(piece * PIECE, PIECE))
    });
    // What is taken here beside pieces of the program stays, and is found free no second time.
    whole || take(base, size)
}

/// Whether an address lies where the device has memory, and so is none of the program's. Knows
/// variables of modules, which no call allocates, as far as they lie near what was allocated.
pub(crate) fn is_reserved(address: u64) -> bool {
    lock(&PIECES).contains_key(&(address / PIECE)) && !mapped(address)
}

/// Whether the program can have memory at `address`: pieces that are kept free cannot be read.
fn mapped(address: u64) -> bool {
    let mut byte = 0u8;
    let local = libc::iovec {
        iov_base: (&raw mut byte).cast(),
        iov_len: 1,
    };
    let remote = libc::iovec {
        iov_base: ptr::without_provenance_mut(address as usize),
        iov_len: 1,
    };
    // SAFETY: reads one byte of this process, if there is one, to a local variable.
    unsafe {
        libc::process_vm_readv(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0) == 1
    }
}

fn take(base: u64, size: u64) -> bool {
    let wanted = ptr::without_provenance_mut::<libc::c_void>(base as usize);
    // SAFETY: MAP_FIXED_NOREPLACE takes addresses that nobody uses, or fails. Kernels before 4.17
    // take it for a hint, which the comparison finds out.
    unsafe {
        let got = libc::mmap(
            wanted,
            size as usize,
            libc::PROT_NONE,
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
        if got != wanted {
            libc::munmap(got, size as usize);
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_reserved_is_not_given_to_anyone() {
        let base = 0x5000_0000_0000;
        reserve(base, 4096);
        assert!(!take(base, 4096), "taken already");
        assert!(is_reserved(base + 100));
        let own = 7;
        assert!(!is_reserved((&raw const own).addr() as u64));
        // Once more is no error, nor is an address that cannot be.
        reserve(base, 4096);
        reserve(u64::MAX - 10, 100);
    }
}
