//! Kernel images that programs load: PTX text, and fat binaries that contain PTX. Machine code of
//! real GPUs (cubin) cannot run here: it is taken only where launches are skipped, and then preferred
//! as by the driver.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char};
use std::io::Read;

use crate::abi::{Answer, read_bytes};
use crate::attributes::ARCH;
use crate::cubin::{self, Cubin};
use crate::error::{INVALID_IMAGE, NO_BINARY_FOR_GPU, OUT_OF_MEMORY, fail_if};
use crate::state::shared;

/// First word of the structure that compilers put around a fat binary (`__fatBinC_Wrapper_t`).
const WRAPPER: u32 = 0x4662_43b1;
/// First word of a fat binary.
const FATBIN: u32 = 0xba55_ed50;
const ELF: u32 = 0x464c_457f;
/// Kinds of entries: PTX, and machine code.
const ENTRY_PTX: u16 = 1;
const ENTRY_ELF: u16 = 2;
/// Flags of an entry with machine code that uses what only this one architecture has (`sm_90a`), or
/// what only its family has: it goes before what runs on later ones too.
const SPECIFIC: u64 = 0x30_0000;
/// Flags of an entry: packed with LZ4, or with Zstandard.
const PACKED: u64 = 0x2000;
const PACKED_ZSTD: u64 = 0x8000;
const ENTRY_HEADER: usize = 64;
/// What is taken for a sensible size of a fat binary and of one module, bytes.
const MAX_IMAGE: usize = 1 << 30;

/// First line of a linked image: the modules follow, each after [`NEXT`].
const LINKED: &str = "// gtrace softgpu: linked modules\n";
const NEXT: &str = "// gtrace softgpu: next module\n";

/// A module of an image.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// PTX.
    Text(String),
    /// Machine code.
    Code(Cubin),
}

/// Whether machine code is of use: nothing of it is executed.
fn takes_code() -> bool {
    shared().is_some_and(|state| state.config.skip_launches)
}

/// Reads the modules at `address`: an image whose length its own header or its closing NUL
/// reports.
///
/// # Errors
/// `CUDA_ERROR_NO_BINARY_FOR_GPU` if there is nothing for this device, `CUDA_ERROR_INVALID_IMAGE` if
/// it is no image.
pub(crate) fn load(address: u64) -> Answer<Vec<Part>> {
    let magic = read32(address);
    match magic {
        WRAPPER => {
            let data = word(address + 8);
            fail_if(data == 0 || read32(data) != FATBIN, INVALID_IMAGE)?;
            load_fatbin(data)
        }
        FATBIN => load_fatbin(address),
        ELF => load_elf(address),
        _ => {
            // SAFETY: an image without a known header is PTX text, which ends with NUL by the
            // contract of the load functions.
            let text = unsafe { CStr::from_ptr(address as *const c_char) };
            split(text.to_str().map_err(|_| INVALID_IMAGE)?)
        }
    }
}

/// As [`load`], for an image whose length the caller gives.
pub(crate) fn load_sized(address: u64, length: usize) -> Answer<Vec<Part>> {
    fail_if(length < 4, INVALID_IMAGE)?;
    // SAFETY: the caller of the link function promises `length` bytes.
    parse(&unsafe { read_bytes(address, length) })
}

/// As [`load`], for an image in memory.
pub(crate) fn parse(bytes: &[u8]) -> Answer<Vec<Part>> {
    parse_for(bytes, takes_code())
}

fn parse_for(bytes: &[u8], code: bool) -> Answer<Vec<Part>> {
    match bytes.first_chunk().map(|magic| u32::from_le_bytes(*magic)) {
        Some(FATBIN) => parse_fatbin(bytes, code),
        Some(ELF) if code => Ok(vec![Part::Code(Cubin::read(bytes)?)]),
        Some(ELF) => Err(NO_BINARY_FOR_GPU),
        _ => {
            let end = bytes
                .iter()
                .position(|byte| *byte == 0)
                .unwrap_or(bytes.len());
            split(std::str::from_utf8(&bytes[..end]).map_err(|_| INVALID_IMAGE)?)
        }
    }
}

/// One text that holds several modules, for `cuLinkComplete`; [`load`] takes it apart again. It is
/// text, so that whoever must know its length finds it as for any PTX.
pub(crate) fn join(modules: &[String]) -> String {
    let mut text = LINKED.to_owned();
    for module in modules {
        text.push_str(NEXT);
        text.push_str(module);
        text.push('\n');
    }
    text
}

fn split(text: &str) -> Answer<Vec<Part>> {
    if let Some(modules) = text.strip_prefix(LINKED) {
        let modules = modules.split(NEXT).skip(1);
        return Ok(modules.map(|text| Part::Text(text.to_owned())).collect());
    }
    fail_if(!text.contains(".version"), INVALID_IMAGE)?;
    Ok(vec![Part::Text(text.to_owned())])
}

fn read32(address: u64) -> u32 {
    // SAFETY: an image has at least a word by the contract of the load functions.
    unsafe { (address as *const u32).read_unaligned() }
}

fn word(address: u64) -> u64 {
    // SAFETY: within the wrapper structure, whose first word was recognised.
    unsafe { (address as *const u64).read_unaligned() }
}

fn load_elf(address: u64) -> Answer<Vec<Part>> {
    fail_if(!takes_code(), NO_BINARY_FOR_GPU)?;
    // SAFETY: an ELF file has its header by the contract of the load functions, and the header says
    // where the table of sections is, which says how long the file is.
    let image = unsafe {
        let header = read_bytes(address, cubin::HEADER);
        let (at, bytes) = cubin::sections(&header)?;
        fail_if(at > MAX_IMAGE, INVALID_IMAGE)?;
        let length = cubin::length(&header, &read_bytes(address + at as u64, bytes))?;
        fail_if(length > MAX_IMAGE, INVALID_IMAGE)?;
        read_bytes(address, length)
    };
    Ok(vec![Part::Code(Cubin::read(&image)?)])
}

fn load_fatbin(address: u64) -> Answer<Vec<Part>> {
    // Header: magic, version (u16), size of the header (u16), size of the entries (u64).
    let header = usize::from((read32(address + 4) >> 16) as u16);
    let length = usize::try_from(word(address + 8)).map_err(|_| INVALID_IMAGE)?;
    fail_if(length > MAX_IMAGE, INVALID_IMAGE)?;
    // SAFETY: the length is that of the fat binary's own header, at an address that the caller
    // promises to be an image.
    let bytes = unsafe { read_bytes(address, header + length) };
    parse_fatbin(&bytes, takes_code())
}

/// An entry of a fat binary.
struct Entry<'a> {
    kind: u16,
    arch: u32,
    flags: u64,
    packed: usize,
    size: usize,
    body: &'a [u8],
}

impl<'a> Entry<'a> {
    /// The entry at `at`, and where the next one is.
    fn read(bytes: &'a [u8], at: usize) -> Answer<(Self, usize)> {
        fn field<const N: usize>(bytes: &[u8], at: usize) -> Answer<[u8; N]> {
            let from = bytes.get(at..).and_then(<[u8]>::first_chunk);
            from.copied().ok_or(INVALID_IMAGE)
        }
        let u32_at = |offset| field(bytes, at + offset).map(u32::from_le_bytes);
        let u64_at = |offset| field(bytes, at + offset).map(u64::from_le_bytes);
        let place = |value| usize::try_from(value).map_err(|_| INVALID_IMAGE);
        let header = u32_at(4)? as usize;
        let start = at.checked_add(header).ok_or(INVALID_IMAGE)?;
        let end = start.checked_add(place(u64_at(8)?)?).ok_or(INVALID_IMAGE)?;
        let body = bytes.get(start..end).ok_or(INVALID_IMAGE)?;
        fail_if(header < ENTRY_HEADER, INVALID_IMAGE)?;
        let entry = Self {
            kind: u16::from_le_bytes(field(bytes, at)?),
            arch: u32_at(28)?,
            flags: u64_at(40)?,
            packed: u32_at(16)? as usize,
            size: place(u64_at(56)?)?,
            body,
        };
        Ok((entry, end))
    }

    /// How well it fits the device, if it does: machine code of its architecture before PTX, and of
    /// each kind what was made for it alone, or for the latest architecture.
    fn rank(&self, code: bool) -> Option<(bool, u64)> {
        match self.kind {
            // Machine code of an earlier minor version of the same major one runs too.
            ENTRY_ELF if code && self.arch <= ARCH && self.arch / 10 == ARCH / 10 => {
                Some((true, u64::from(self.arch) << 32 | self.flags & SPECIFIC))
            }
            ENTRY_PTX if self.arch <= ARCH => Some((false, self.arch.into())),
            _ => None,
        }
    }

    fn part(&self) -> Answer<Part> {
        let bytes = unpack(self.body, self.flags, self.packed, self.size)?;
        if self.kind == ENTRY_ELF {
            return Ok(Part::Code(Cubin::read(&bytes)?));
        }
        let end = bytes.iter().position(|byte| *byte == 0);
        let text = bytes[..end.unwrap_or(bytes.len())].to_vec();
        let text = String::from_utf8(text).map_err(|_| INVALID_IMAGE)?;
        Ok(Part::Text(text))
    }
}

/// The module of a fat binary that fits the device best; the first of those that are equal.
fn parse_fatbin(bytes: &[u8], code: bool) -> Answer<Vec<Part>> {
    let header = bytes.get(6..).and_then(<[u8]>::first_chunk);
    let mut at = usize::from(u16::from_le_bytes(*header.ok_or(INVALID_IMAGE)?));
    let mut best: Option<((bool, u64), Entry<'_>)> = None;
    while at + ENTRY_HEADER <= bytes.len() {
        let (entry, next) = Entry::read(bytes, at)?;
        if let Some(rank) = entry.rank(code)
            && best.as_ref().is_none_or(|(other, _)| *other < rank)
        {
            best = Some((rank, entry));
        }
        at = next;
    }
    let (_, entry) = best.ok_or(NO_BINARY_FOR_GPU)?;
    Ok(vec![entry.part()?])
}

fn unpack(body: &[u8], flags: u64, packed: usize, size: usize) -> Answer<Vec<u8>> {
    if flags & (PACKED | PACKED_ZSTD) == 0 {
        return Ok(body.to_vec());
    }
    fail_if(size > MAX_IMAGE, OUT_OF_MEMORY)?;
    let body = body.get(..packed).ok_or(INVALID_IMAGE)?;
    if flags & PACKED_ZSTD != 0 {
        let mut text = Vec::new();
        let decoder = ruzstd::decoding::StreamingDecoder::new(body).map_err(|_| INVALID_IMAGE)?;
        decoder
            .take(size as u64)
            .read_to_end(&mut text)
            .map_err(|_| INVALID_IMAGE)?;
        return Ok(text);
    }
    lz4_flex::block::decompress(body, size).map_err(|_| INVALID_IMAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(kind: u16, arch: u32, body: &[u8], packed: u32, flags: u64, size: u64) -> Vec<u8> {
        let mut entry = Vec::new();
        entry.extend(kind.to_le_bytes());
        entry.extend(0x0101u16.to_le_bytes());
        entry.extend((ENTRY_HEADER as u32).to_le_bytes());
        entry.extend((body.len() as u64).to_le_bytes());
        entry.extend(packed.to_le_bytes());
        entry.extend(0u32.to_le_bytes());
        entry.extend([0; 4]);
        entry.extend(arch.to_le_bytes());
        entry.extend([0; 8]);
        entry.extend(flags.to_le_bytes());
        entry.extend([0; 8]);
        entry.extend(size.to_le_bytes());
        assert_eq!(entry.len(), ENTRY_HEADER);
        entry.extend(body);
        entry
    }

    fn fatbin(entries: &[Vec<u8>]) -> Vec<u8> {
        let body = entries.concat();
        let mut bytes = FATBIN.to_le_bytes().to_vec();
        bytes.extend(1u16.to_le_bytes());
        bytes.extend(16u16.to_le_bytes());
        bytes.extend((body.len() as u64).to_le_bytes());
        bytes.extend(body);
        bytes
    }

    fn texts(parts: Answer<Vec<Part>>) -> Answer<Vec<String>> {
        let text = |part| match part {
            Part::Text(text) => text,
            Part::Code(code) => format!("{} kernels", code.entries.len()),
        };
        Ok(parts?.into_iter().map(text).collect())
    }

    const CUBIN: &[u8] = include_bytes!("../tests/data/sm_90.cubin");

    #[test]
    fn the_newest_ptx_of_a_fat_binary_that_fits_is_taken() {
        let old = entry(1, 52, b".version 6.0 old\0\0\0", 0, 0, 0);
        let new = entry(1, 80, b".version 7.0 new\0", 0, 0, 0);
        let newer = entry(1, 120, b".version 8.7 newer\0", 0, 0, 0);
        let code = entry(2, 90, b"\x7fELF", 0, 0, 0);
        let bytes = fatbin(&[code.clone(), old, newer, new]);
        let parse = |bytes: &[u8]| texts(parse_for(bytes, false));
        assert_eq!(parse(&bytes), Ok(vec![".version 7.0 new".to_owned()]));
        assert_eq!(parse(&fatbin(&[code])), Err(NO_BINARY_FOR_GPU));
        assert_eq!(parse(&bytes[..bytes.len() - 3]), Err(INVALID_IMAGE));
    }

    #[test]
    fn machine_code_goes_first_where_nothing_is_executed() {
        let text = entry(1, 80, b".version 7.0 text\0", 0, 0, 0);
        let code = entry(2, 90, CUBIN, 0, 0, 0);
        // Whose contents nobody looks at: for this one architecture another is there, or it is later.
        let passed_over = entry(2, 90, b"no file", 0, 0, 0);
        let later = entry(2, 100, b"no file", 0, 0, 0);
        let mut specific = code.clone();
        specific[40..48].copy_from_slice(&0x10_0000u64.to_le_bytes());
        let parse = |entries: &[Vec<u8>]| texts(parse_for(&fatbin(entries), true));
        let two = Ok(vec!["2 kernels".to_owned()]);
        assert_eq!(parse(&[text.clone(), later.clone(), code]), two);
        assert_eq!(parse(&[passed_over.clone(), specific]), two);
        assert_eq!(parse(&[text.clone(), passed_over]), Err(INVALID_IMAGE));
        assert_eq!(
            parse(&[text, later]),
            Ok(vec![".version 7.0 text".to_owned()])
        );
        assert_eq!(texts(parse_for(CUBIN, true)), two);
        assert_eq!(texts(parse_for(CUBIN, false)), Err(NO_BINARY_FOR_GPU));
    }

    #[test]
    fn packed_ptx_is_unpacked() {
        let text = ".version 7.0 ".repeat(50);
        let packed = lz4_flex::block::compress(text.as_bytes());
        let length = packed.len() as u32;
        let bytes = fatbin(&[entry(1, 80, &packed, length, PACKED, text.len() as u64)]);
        assert_eq!(texts(parse_for(&bytes, false)), Ok(vec![text]));
    }

    #[test]
    fn linked_modules_come_apart_again() {
        let modules = vec![".version 7.0 a".to_owned(), ".version 7.0 b".to_owned()];
        let joined = join(&modules);
        let apart = texts(parse_for(joined.as_bytes(), false)).expect("linked");
        assert_eq!(apart.len(), 2);
        assert!(apart[1].starts_with(".version 7.0 b"));
        assert_eq!(texts(parse_for(b"hello", false)), Err(INVALID_IMAGE));
    }
}
