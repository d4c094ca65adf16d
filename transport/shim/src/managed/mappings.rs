//! Which memory of the program may have its pages taken: what the kernel and malloc say of it.

// The program's memory.
#![allow(unsafe_code)]

use std::ptr;

/// A line of /proc/self/maps.
struct Mapping {
    from: u64,
    end: u64,
    /// Private and anonymous, to be read and written.
    plain: bool,
    /// Kept free.
    none: bool,
    /// "[heap]" or "[stack]".
    special: bool,
}

fn mappings() -> Vec<Mapping> {
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else {
        return Vec::new();
    };
    let mapping = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        let (from, end) = words.next()?.split_once('-')?;
        let rights = words.next()?;
        let (_offset, _device, inode) = (words.next()?, words.next()?, words.next()?);
        Some(Mapping {
            from: u64::from_str_radix(from, 16).ok()?,
            end: u64::from_str_radix(end, 16).ok()?,
            plain: rights == "rw-p" && inode == "0",
            none: rights == "---p" && inode == "0",
            special: matches!(words.next(), Some("[heap]" | "[stack]")),
        })
    };
    maps.lines().filter_map(mapping).collect()
}

/// Whether whole pages of registered memory are one private mapping without a file, of which a pager can take pages, and hold
/// nothing that this library needs to resolve a fault: malloc's own records, or what malloc has given to others.
pub(super) fn may_fault((first, len): (u64, u64), registered: (u64, u64)) -> bool {
    let all = mappings();
    let Some(at) = all
        .iter()
        .position(|one| one.from <= first && first + len <= one.end)
    else {
        return false;
    };
    let own = &all[at];
    if !own.plain {
        return false;
    }
    match own.special || is_arena(own, all.get(at + 1), first) {
        true => is_one_chunk(registered, own),
        false => true,
    }
}

/// Whether a mapping has the look of an arena from which glibc's malloc serves threads: it begins at a multiple of 64 MiB at
/// the latest, and what it may grow to is kept free behind it (HEAP_MAX_SIZE of malloc/arena.c).
fn is_arena(own: &Mapping, next: Option<&Mapping>, address: u64) -> bool {
    const HEAP_MAX: u64 = 64 << 20;
    let begin = address & !(HEAP_MAX - 1);
    let end = begin + HEAP_MAX;
    let grows = next.is_some_and(|next| next.none && next.from == own.end && next.end >= end);
    own.from <= begin && (own.end >= end || grows)
}

/// Whether memory of a heap is what one call of malloc has returned: all of its pages are that call's then. Before it and
/// before what follows lie sizes (`struct malloc_chunk` of glibc's malloc/malloc.c).
fn is_one_chunk((base, size): (u64, u64), heap: &Mapping) -> bool {
    const WORD: u64 = 8;
    const FLAGS: u64 = 7;
    const IN_USE_BEFORE: u64 = 1;
    if !base.is_multiple_of(2 * WORD) || base < heap.from + 2 * WORD {
        return false;
    }
    // SAFETY: words of the mapping, which the program may be changing: then they are the ones before or after.
    let word =
        |at: u64| unsafe { ptr::with_exposed_provenance::<u64>(at as usize).read_volatile() };
    let chunk = word(base - WORD) & !FLAGS;
    let next = (base - 2 * WORD).checked_add(chunk);
    let Some(next) = next.filter(|next| next + 2 * WORD <= heap.end) else {
        return false;
    };
    chunk >= size && base + size <= next + WORD && word(next + WORD) & IN_USE_BEFORE != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::page_size;

    #[test]
    fn only_private_memory_without_a_file_is_taken() {
        let own = vec![1_u8; 1 << 20];
        let base = (own.as_ptr().addr() as u64).next_multiple_of(page_size());
        let whole = |first, len| may_fault((first, len), (first, len));
        assert!(whole(base, 64 << 10));
        assert!(!whole(1 << 20, 1 << 12));
        assert!(!whole(mappings as fn() -> Vec<Mapping> as usize as u64, 16));
    }

    #[test]
    fn of_a_heap_only_what_one_call_has_returned_is_taken() {
        let chunk = vec![1_u8; 40 << 10];
        let base = chunk.as_ptr().addr() as u64;
        let heap = Mapping {
            from: base - 64,
            end: base + (60 << 10),
            plain: true,
            none: false,
            special: true,
        };
        assert!(is_one_chunk((base, 40 << 10), &heap));
        assert!(!is_one_chunk((base, 60 << 10), &heap));
        assert!(!is_one_chunk((base + 160, 1 << 10), &heap));
    }
}
