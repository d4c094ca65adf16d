//! Kernel images that programs load: PTX text, and fat binaries that contain PTX. Machine code of
//! real GPUs (cubin) cannot run here.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char};
use std::io::Read;

use crate::abi::{Answer, read_bytes};
use crate::error::{INVALID_IMAGE, NO_BINARY_FOR_GPU, OUT_OF_MEMORY};

/// First word of the structure that compilers put around a fat binary (`__fatBinC_Wrapper_t`).
const WRAPPER: u32 = 0x4662_43b1;
/// First word of a fat binary.
const FATBIN: u32 = 0xba55_ed50;
const ELF: u32 = 0x464c_457f;
/// Kind of an entry that is PTX.
const ENTRY_PTX: u16 = 1;
/// Flags of an entry: packed with LZ4, or with Zstandard.
const PACKED: u64 = 0x2000;
const PACKED_ZSTD: u64 = 0x8000;
const ENTRY_HEADER: usize = 64;
/// What is taken for a sensible size of a fat binary and of one module, bytes.
const MAX_IMAGE: usize = 1 << 30;

/// First line of a linked image: the modules follow, each after [`NEXT`].
const LINKED: &str = "// gtrace softgpu: linked modules\n";
const NEXT: &str = "// gtrace softgpu: next module\n";

/// Reads the PTX modules at `address`: an image whose length its own header or its closing NUL
/// tells.
///
/// # Errors
/// `CUDA_ERROR_NO_BINARY_FOR_GPU` if there is only machine code, `CUDA_ERROR_INVALID_IMAGE` if it
/// is no image.
pub(crate) fn load(address: u64) -> Answer<Vec<String>> {
    let magic = read32(address);
    match magic {
        WRAPPER => {
            let data = word(address + 8);
            if data == 0 || read32(data) != FATBIN {
                return Err(INVALID_IMAGE);
            }
            load_fatbin(data)
        }
        FATBIN => load_fatbin(address),
        ELF => Err(NO_BINARY_FOR_GPU),
        _ => {
            // SAFETY: an image without a known header is PTX text, which ends with NUL by the
            // contract of the load functions.
            let text = unsafe { CStr::from_ptr(address as *const c_char) };
            split(text.to_str().map_err(|_| INVALID_IMAGE)?)
        }
    }
}

/// As [`load`], for an image whose length the caller tells.
pub(crate) fn load_sized(address: u64, length: usize) -> Answer<Vec<String>> {
    if length < 4 {
        return Err(INVALID_IMAGE);
    }
    // SAFETY: the caller of the link function promises `length` bytes.
    parse(&unsafe { read_bytes(address, length) })
}

/// As [`load`], for an image in memory.
pub(crate) fn parse(bytes: &[u8]) -> Answer<Vec<String>> {
    match bytes.first_chunk().map(|magic| u32::from_le_bytes(*magic)) {
        Some(FATBIN) => parse_fatbin(bytes),
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

fn split(text: &str) -> Answer<Vec<String>> {
    if let Some(modules) = text.strip_prefix(LINKED) {
        return Ok(modules.split(NEXT).skip(1).map(str::to_owned).collect());
    }
    if !text.contains(".version") {
        return Err(INVALID_IMAGE);
    }
    Ok(vec![text.to_owned()])
}

fn read32(address: u64) -> u32 {
    // SAFETY: an image has at least a word by the contract of the load functions.
    unsafe { (address as *const u32).read_unaligned() }
}

fn word(address: u64) -> u64 {
    // SAFETY: within the wrapper structure, whose first word was recognised.
    unsafe { (address as *const u64).read_unaligned() }
}

fn load_fatbin(address: u64) -> Answer<Vec<String>> {
    // Header: magic, version (u16), size of the header (u16), size of the entries (u64).
    let header = usize::from((read32(address + 4) >> 16) as u16);
    let length = usize::try_from(word(address + 8)).map_err(|_| INVALID_IMAGE)?;
    if length > MAX_IMAGE {
        return Err(INVALID_IMAGE);
    }
    // SAFETY: the length is that of the fat binary's own header, at an address that the caller
    // promises to be an image.
    parse_fatbin(&unsafe { read_bytes(address, header + length) })
}

/// The PTX of the highest version in a fat binary.
fn parse_fatbin(bytes: &[u8]) -> Answer<Vec<String>> {
    let u16_at = |at: usize| -> Answer<u16> {
        let bytes = bytes
            .get(at..)
            .and_then(<[u8]>::first_chunk)
            .ok_or(INVALID_IMAGE)?;
        Ok(u16::from_le_bytes(*bytes))
    };
    let u32_at = |at: usize| -> Answer<u32> {
        let bytes = bytes
            .get(at..)
            .and_then(<[u8]>::first_chunk)
            .ok_or(INVALID_IMAGE)?;
        Ok(u32::from_le_bytes(*bytes))
    };
    let u64_at = |at: usize| -> Answer<u64> {
        let bytes = bytes
            .get(at..)
            .and_then(<[u8]>::first_chunk)
            .ok_or(INVALID_IMAGE)?;
        Ok(u64::from_le_bytes(*bytes))
    };
    let mut at = usize::from(u16_at(6)?);
    let mut best: Option<(u32, String)> = None;
    while at + ENTRY_HEADER <= bytes.len() {
        let header = u32_at(at + 4)? as usize;
        let padded = usize::try_from(u64_at(at + 8)?).map_err(|_| INVALID_IMAGE)?;
        let start = at.checked_add(header).ok_or(INVALID_IMAGE)?;
        let end = start.checked_add(padded).ok_or(INVALID_IMAGE)?;
        let body = bytes.get(start..end).ok_or(INVALID_IMAGE)?;
        if header < ENTRY_HEADER {
            return Err(INVALID_IMAGE);
        }
        let arch = u32_at(at + 28)?;
        let better = best.as_ref().is_none_or(|(other, _)| *other < arch);
        if u16_at(at)? == ENTRY_PTX && arch <= crate::attributes::ARCH && better {
            let flags = u64_at(at + 40)?;
            let packed = u32_at(at + 16)? as usize;
            let size = usize::try_from(u64_at(at + 56)?).map_err(|_| INVALID_IMAGE)?;
            let text = unpack(body, flags, packed, size)?;
            let end = text
                .iter()
                .position(|byte| *byte == 0)
                .unwrap_or(text.len());
            let text = String::from_utf8(text[..end].to_vec()).map_err(|_| INVALID_IMAGE)?;
            best = Some((arch, text));
        }
        at = end;
    }
    best.map(|(_, text)| vec![text]).ok_or(NO_BINARY_FOR_GPU)
}

fn unpack(body: &[u8], flags: u64, packed: usize, size: usize) -> Answer<Vec<u8>> {
    if flags & (PACKED | PACKED_ZSTD) == 0 {
        return Ok(body.to_vec());
    }
    if size > MAX_IMAGE {
        return Err(OUT_OF_MEMORY);
    }
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

    #[test]
    fn the_newest_ptx_of_a_fat_binary_that_fits_is_taken() {
        let old = entry(1, 52, b".version 6.0 old\0\0\0", 0, 0, 0);
        let new = entry(1, 80, b".version 7.0 new\0", 0, 0, 0);
        let newer = entry(1, 120, b".version 8.7 newer\0", 0, 0, 0);
        let code = entry(2, 90, b"\x7fELF", 0, 0, 0);
        let bytes = fatbin(&[code.clone(), old, newer, new]);
        assert_eq!(parse(&bytes), Ok(vec![".version 7.0 new".to_owned()]));
        assert_eq!(
            load(bytes.as_ptr() as u64),
            Ok(vec![".version 7.0 new".to_owned()])
        );
        assert_eq!(parse(&fatbin(&[code])), Err(NO_BINARY_FOR_GPU));
        assert_eq!(parse(&bytes[..bytes.len() - 3]), Err(INVALID_IMAGE));
    }

    #[test]
    fn packed_ptx_is_unpacked() {
        let text = ".version 7.0 ".repeat(50);
        let packed = lz4_flex::block::compress(text.as_bytes());
        let length = packed.len() as u32;
        let bytes = fatbin(&[entry(1, 80, &packed, length, PACKED, text.len() as u64)]);
        assert_eq!(parse(&bytes), Ok(vec![text]));
    }

    #[test]
    fn linked_modules_come_apart_again() {
        let modules = vec![".version 7.0 a".to_owned(), ".version 7.0 b".to_owned()];
        let joined = join(&modules);
        let apart = parse(joined.as_bytes()).expect("linked");
        assert_eq!(apart.len(), 2);
        assert!(apart[1].starts_with(".version 7.0 b"));
        assert_eq!(parse(b"hello"), Err(INVALID_IMAGE));
    }
}
