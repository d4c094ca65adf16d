//! The functions of a shared library: by name, as offsets in its file.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io;
use std::ops::Range;

use object::read::elf::{ElfFile64, FileHeader as _, ProgramHeader as _};
use object::read::{ReadCache, ReadRef};
use object::{Endianness, Object as _, ObjectSymbol as _, SymbolKind, elf};

use crate::instruction::{self, Class};

/// Bytes of a function that are read at most: of a longer one, or one of unknown length, so many of its start.
const LONGEST_CODE: u64 = 64 << 10;
/// Bytes that are read of a function whose length is not known.
const HEAD: u64 = 64;

/// Bytes of a file that are read at most: tables in it are as long as its headers claim, and it is any user's. What is
/// read of a driver's library is a small part of it.
const MOST: u64 = 32 << 20;
/// What is kept with each name, however short.
const OF_NAME: u64 = 64;

/// The machine whose code the kernel can put probes into.
const MACHINE: u16 = match cfg!(target_arch = "aarch64") {
    true => elf::EM_AARCH64,
    false => elf::EM_X86_64,
};

/// Where to put a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Offset in the file: behind what is single-stepped where that is safe ([`instruction::place`]).
    pub offset: u64,
    /// Offset of the function's first instruction.
    pub start: u64,
    /// What the instruction at the offset costs.
    pub class: Class,
}

impl Place {
    /// Bytes from the function's first instruction to the probe.
    pub fn behind(&self) -> u64 {
        self.offset - self.start
    }
}

/// Why a file's functions cannot be found.
#[derive(Debug, thiserror::Error)]
pub enum ElfError {
    /// It is something else.
    #[error("it is no 64-bit ELF file: {0}")]
    NotElf(object::Error),
    /// A program of that machine runs in an emulator, and a breakpoint would be a wrong byte in its code.
    #[error("it is for another machine (e_machine {0})")]
    OtherMachine(u16),
    /// A program, or a library without the table that the dynamic linker needs.
    #[error(
        "it exports no functions (no .dynsym): it is stripped of what even the dynamic linker needs"
    )]
    NoSymbols,
    /// There is more in it than in any library of the driver.
    #[error("its tables are longer than those of any library of the driver")]
    TooMuch,
    /// It could not be read.
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
}

/// A file of which no more than [`MOST`] bytes are read.
#[derive(Clone, Copy)]
struct Bounded<'a> {
    cache: &'a ReadCache<File>,
    /// Bytes that may still be read; `None` once it was asked for more.
    left: &'a Cell<Option<u64>>,
}

impl Bounded<'_> {
    fn spend(self, bytes: u64) -> Result<(), ()> {
        let left = self.left.get().and_then(|left| left.checked_sub(bytes));
        self.left.set(left);
        match left {
            Some(_) => Ok(()),
            None => Err(()),
        }
    }
}

impl<'a> ReadRef<'a> for Bounded<'a> {
    fn len(self) -> Result<u64, ()> {
        self.cache.len()
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'a [u8], ()> {
        self.spend(size)?;
        self.cache.read_bytes_at(offset, size)
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> Result<&'a [u8], ()> {
        self.spend(OF_NAME)?;
        let name = self.cache.read_bytes_at_until(range, delimiter)?;
        self.spend(name.len() as u64)?;
        Ok(name)
    }
}

/// The places of those of `names` that the library in `file` exports. Several names can have the same
/// place: a linker folds functions of the same code.
///
/// Only what is needed of the file is read: a driver's library is tens of megabytes long.
///
/// # Errors
///
/// If it is no library, or has no symbols.
pub fn places<'n>(
    file: &File,
    names: impl Iterator<Item = &'n str>,
) -> Result<HashMap<&'n str, Place>, ElfError> {
    let cache = ReadCache::new(file.try_clone()?);
    let left = Cell::new(Some(MOST));
    let data = Bounded {
        cache: &cache,
        left: &left,
    };
    let parsed: Result<ElfFile64<'_, Endianness, _>, _> = ElfFile64::parse(data);
    let elf = match parsed {
        Ok(elf) => elf,
        Err(_) if left.get().is_none() => return Err(ElfError::TooMuch),
        Err(error) => return Err(ElfError::NotElf(error)),
    };
    let machine = elf.elf_header().e_machine(elf.endian());
    if machine != MACHINE {
        return Err(ElfError::OtherMachine(machine));
    }
    let wanted: std::collections::HashSet<&'n str> = names.collect();
    let mut found = HashMap::new();
    let mut any = false;
    let entries = entries(&elf);
    // A debug build may only have the full table; what is stripped has only the dynamic one.
    for symbol in elf.dynamic_symbols().chain(elf.symbols()) {
        any |= !symbol.is_undefined();
        if symbol.is_undefined() || symbol.kind() != SymbolKind::Text {
            continue;
        }
        let Ok(name) = symbol.name() else { continue };
        let Some(name) = wanted.get(name) else {
            continue;
        };
        if found.contains_key(name) {
            continue;
        }
        if let Some(place) = place(&elf, data, symbol.address(), symbol.size(), &entries) {
            found.insert(*name, place);
        }
    }
    match any {
        _ if left.get().is_none() => Err(ElfError::TooMuch),
        true => Ok(found),
        false => Err(ElfError::NoSymbols),
    }
}

/// Where functions begin, by address.
fn entries<'d, R: ReadRef<'d>>(elf: &ElfFile64<'d, Endianness, R>) -> BTreeSet<u64> {
    let symbols = elf.dynamic_symbols().chain(elf.symbols());
    let code = symbols.filter(|s| !s.is_undefined() && s.kind() == SymbolKind::Text);
    code.map(|symbol| symbol.address()).collect()
}

/// The place of the function at `address`, if it is code.
fn place<'d, R: ReadRef<'d>>(
    elf: &ElfFile64<'d, Endianness, R>,
    data: R,
    address: u64,
    size: u64,
    entries: &BTreeSet<u64>,
) -> Option<Place> {
    let endian = elf.endian();
    let segments = elf.elf_header().program_headers(endian, data).ok()?;
    let segment = segments.iter().find(|segment| {
        let at = segment.p_vaddr(endian);
        segment.p_type(endian) == elf::PT_LOAD
            && segment.p_flags(endian) & elf::PF_X != 0
            && address >= at
            && address - at < segment.p_filesz(endian)
    })?;
    let within = address - segment.p_vaddr(endian);
    let start = segment.p_offset(endian).checked_add(within)?;
    let there = segment.p_filesz(endian) - within;
    let (len, whole) = match size {
        0 => (HEAD.min(there), false),
        _ => (
            size.min(LONGEST_CODE).min(there),
            size <= LONGEST_CODE.min(there),
        ),
    };
    let (mut skip, mut class) = instruction::place(data.read_bytes_at(start, len).ok()?, whole);
    // Calls of a function that begins in between would be counted for this one.
    if skip > 0 && entries.range(address + 1..=address + skip).next().is_some() {
        (skip, class) = (0, Class::SingleStepped);
    }
    Some(Place {
        offset: start + skip,
        start,
        class,
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt as _;

    use super::*;

    /// The library of C that the test itself uses.
    fn libc() -> File {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let line = maps.lines().find(|line| line.contains("/libc.so"));
        File::open(line.unwrap().split_whitespace().last().unwrap()).unwrap()
    }

    #[test]
    fn a_function_is_where_the_process_has_it() {
        let places = places(&libc(), ["getppid", "no_such_function"].into_iter()).unwrap();
        assert_eq!(places.len(), 1);
        let place = places["getppid"];
        // Where the test's own mapping of the file has the function.
        let address = libc::getppid as *const () as usize as u64;
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let line = maps.lines().find(|line| {
            let (range, _) = line.split_once(' ').unwrap();
            let (low, high) = range.split_once('-').unwrap();
            let number = |hex| u64::from_str_radix(hex, 16).unwrap();
            (number(low)..number(high)).contains(&address)
        });
        let mut fields = line.unwrap().split_whitespace();
        let low = fields.next().unwrap().split_once('-').unwrap().0;
        let offset = fields.nth(1).unwrap();
        let number = |hex| u64::from_str_radix(hex, 16).unwrap();
        assert_eq!(place.start, address - number(low) + number(offset));
    }

    #[test]
    fn a_library_of_another_machine_is_refused() {
        let mut file = tempfile::tempfile().unwrap();
        std::io::copy(&mut libc(), &mut file).unwrap();
        assert!(places(&file, ["getppid"].into_iter()).is_ok());
        // e_machine, behind 16 bytes of identification and the type.
        file.write_all_at(&elf::EM_RISCV.to_le_bytes(), 18).unwrap();
        let refused = places(&file, ["getppid"].into_iter());
        assert!(
            matches!(refused, Err(ElfError::OtherMachine(elf::EM_RISCV))),
            "{refused:?}"
        );
    }

    #[test]
    fn what_is_no_library_is_refused_with_the_reason() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("libcuda.so.1");
        for bytes in [&b""[..], b"\x7fELF", b"#!/bin/sh\n"] {
            std::fs::write(&path, bytes).unwrap();
            let refused = places(&File::open(&path).unwrap(), ["cuInit"].into_iter());
            assert!(matches!(refused, Err(ElfError::NotElf(_))), "{refused:?}");
        }
    }

    #[test]
    fn a_library_with_a_table_that_is_too_long_is_refused_before_it_is_read() {
        let mut file = tempfile::tempfile().unwrap();
        std::io::copy(&mut libc(), &mut file).unwrap();
        let number = |at: u64, len: usize| {
            let mut bytes = [0; 8];
            file.read_exact_at(&mut bytes[..len], at).unwrap();
            u64::from_le_bytes(bytes)
        };
        // e_shoff and e_shnum; of a section sh_type, sh_offset and sh_size.
        let (sections, count) = (number(40, 8), number(60, 2));
        let mut sections = (0..count).map(|section| sections + 64 * section);
        let table = sections.find(|at| number(at + 4, 4) == u64::from(elf::SHT_DYNSYM));
        let table = table.unwrap();
        let length = 24 * MOST;
        file.write_all_at(&length.to_le_bytes(), table + 32)
            .unwrap();
        file.set_len(number(table + 24, 8) + length).unwrap();
        let refused = places(&file, ["getppid"].into_iter());
        assert!(matches!(refused, Err(ElfError::TooMuch)), "{refused:?}");
    }
}
