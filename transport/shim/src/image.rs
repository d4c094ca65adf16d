//! Kernel images in the program's memory. Their length is read from their headers, as no call
//! carries it.

// Reads the program's memory as far as the headers there say.
#![allow(unsafe_code)]

use std::slice;

use gtrace_cuda::payload::IMAGE_MAX;

/// `fatBinC_Wrapper_t`: magic, version, pointer to the fat binary (`__nv_fatbin`, CUDA's
/// fatbinary_section.h).
const WRAPPER: u32 = 0x4662_43b1;
/// First word of a fat binary: u32 magic, u16 version, u16 header bytes, u64 bytes behind.
const FATBIN: u32 = 0xba55_ed50;
/// First word of an ELF file.
const ELF: u32 = u32::from_le_bytes(*b"\x7fELF");

/// Finds the bytes of an image. `None` for what is none of the four kinds, or lies about its length.
///
/// # Safety
///
/// The program's promise to `cuModuleLoadData`: a kernel image, whole, that stays while it is used.
pub(crate) unsafe fn find<'a>(image: *const u8) -> Option<&'a [u8]> {
    if image.is_null() {
        return None;
    }
    // SAFETY: every kind of image has at least as many bytes as are read here of it: PTX has a
    // NUL, and no text shorter than eight bytes is PTX; `word` reads no further than a NUL.
    unsafe {
        match word(image)? {
            WRAPPER => {
                let inner = image.add(8).cast::<*const u8>().read_unaligned();
                match inner.is_null() {
                    true => None,
                    false => find_bare(inner),
                }
            }
            _ => find_bare(image),
        }
    }
}

/// # Safety
///
/// As [`find`].
unsafe fn find_bare<'a>(image: *const u8) -> Option<&'a [u8]> {
    // SAFETY: the headers are there, as the first word says, and they say what else is.
    unsafe {
        let len = match word(image)? {
            FATBIN => {
                let header: u64 = image.add(6).cast::<u16>().read_unaligned().into();
                header.checked_add(image.add(8).cast::<u64>().read_unaligned())?
            }
            ELF => elf_len(image)?,
            WRAPPER => return None,
            // With its NUL.
            _ => libc::strnlen(image.cast(), IMAGE_MAX as usize) as u64 + 1,
        };
        (len <= IMAGE_MAX).then(|| slice::from_raw_parts(image, len as usize))
    }
}

/// The first four bytes, of which those behind a NUL are 0.
///
/// # Safety
///
/// There are four bytes, or one of fewer is NUL.
unsafe fn word(image: *const u8) -> Option<u32> {
    let mut bytes = [0; 4];
    for (at, byte) in bytes.iter_mut().enumerate() {
        // SAFETY: no byte before it is NUL.
        *byte = unsafe { image.add(at).read() };
        if *byte == 0 {
            break;
        }
    }
    (bytes[0] != 0).then(|| u32::from_le_bytes(bytes))
}

/// The end of the last part of a 64-bit little-endian ELF file: sections, their table, segments.
///
/// # Safety
///
/// A whole ELF file.
unsafe fn elf_len(image: *const u8) -> Option<u64> {
    const HEADER: usize = 64;
    const NOBITS: u32 = 8;
    // SAFETY: the header of an ELF file has 64 bytes.
    let header = unsafe { slice::from_raw_parts(image, HEADER) };
    if header[4] != 2 || header[5] != 1 {
        return None;
    }
    let half = |bytes: &[u8], at: usize| -> Option<u64> {
        Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?).into())
    };
    let long = |bytes: &[u8], at: usize| -> Option<u64> {
        Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
    };
    let (segments, sections) = (long(header, 32)?, long(header, 40)?);
    let (segment_len, segment_count) = (half(header, 54)?, half(header, 56)?);
    let (section_len, section_count) = (half(header, 58)?, half(header, 60)?);
    let segments_end = segments.checked_add(segment_len.checked_mul(segment_count)?)?;
    let sections_end = sections.checked_add(section_len.checked_mul(section_count)?)?;
    let mut end = (HEADER as u64).max(segments_end).max(sections_end);
    if end > IMAGE_MAX || (section_count > 0 && section_len < 64) {
        return None;
    }
    // SAFETY: the tables belong to the file.
    let whole = unsafe { slice::from_raw_parts(image, end as usize) };
    for at in 0..section_count {
        let section = whole.get((sections + at * section_len) as usize..)?;
        let kind = u32::from_le_bytes(*section.get(4..)?.first_chunk()?);
        if kind != NOBITS {
            end = end.max(long(section, 24)?.checked_add(long(section, 32)?)?);
        }
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn len(bytes: &[u8]) -> Option<usize> {
        // SAFETY: images that are whole, or are refused by their first bytes.
        unsafe { find(bytes.as_ptr()) }.map(<[u8]>::len)
    }

    #[test]
    fn ptx_ends_with_its_nul() {
        assert_eq!(len(b".version 8.0\n\0junk"), Some(14));
        assert_eq!(len(b"\0"), None);
    }

    fn fatbin(payload: &[u8]) -> Vec<u8> {
        let mut bytes = FATBIN.to_le_bytes().to_vec();
        bytes.extend(1u16.to_le_bytes());
        bytes.extend(16u16.to_le_bytes());
        bytes.extend((payload.len() as u64).to_le_bytes());
        bytes.extend(payload);
        bytes
    }

    #[test]
    fn a_fat_binary_is_found_with_and_without_its_wrapper() {
        let fat = fatbin(&[7; 100]);
        assert_eq!(len(&fat), Some(116));
        let mut wrapper = WRAPPER.to_le_bytes().to_vec();
        wrapper.extend(1u32.to_le_bytes());
        wrapper.extend(fat.as_ptr().expose_provenance().to_le_bytes());
        wrapper.extend([0; 8]);
        // SAFETY: a wrapper around a whole image.
        let found = unsafe { find(wrapper.as_ptr()) }.unwrap();
        assert_eq!(found, fat);
    }

    #[test]
    fn lengths_beyond_the_cap_are_refused() {
        let mut fat = fatbin(&[]);
        fat[8..16].copy_from_slice(&u64::MAX.to_le_bytes());
        assert_eq!(len(&fat), None);
        fat[8..16].copy_from_slice(&IMAGE_MAX.to_le_bytes());
        assert_eq!(len(&fat), None);
    }

    /// This test's own executable is an ELF file, whose length the file system knows.
    #[test]
    fn an_elf_file_has_the_length_that_the_file_system_says() {
        let file = std::fs::read("/proc/self/exe").unwrap();
        assert_eq!(len(&file), Some(file.len()));
    }
}
