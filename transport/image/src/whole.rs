//! Whether all that the headers of an image speak of lies within it: a driver does not get the length of an image.

use crate::bytes::{place_at, slice, u16_at, u32_at, u64_at};
use crate::{cubin, fatbin};

/// First word of the structure that compilers put around a fat binary (`__fatBinC_Wrapper_t`): it has a pointer.
const WRAPPER: u32 = 0x4662_43b1;
/// Bytes of the shortest image.
const SHORTEST: usize = 8;

const HEADER: usize = 64;
const SECTION: usize = 64;
const SEGMENT: usize = 56;
/// Where a count does not fit the header, section 0 has it (ELF, PN_XNUM).
const MANY_SEGMENTS: u16 = 0xffff;
/// Sections without bytes in the file: SHT_NULL, SHT_NOBITS, and those of CUDA for uninitialised global, local and
/// shared memory.
const WITHOUT_BYTES: [u32; 6] = [0, 8, 0x7000_0007, 0x7000_0009, 0x7000_000a, 0x7000_0015];

/// Whether `image` may be given to a driver that goes by its headers. Text is not checked.
pub(crate) fn is(image: &[u8]) -> bool {
    if image.len() < SHORTEST || u32_at(image, 0) == Some(WRAPPER) {
        return false;
    }
    match fatbin::is(image) {
        true => fatbin_is(image).unwrap_or(false),
        false => bare_is(image),
    }
}

/// An ELF file, or anything else but a fat binary.
fn bare_is(image: &[u8]) -> bool {
    !cubin::is(image) || elf_is(image).is_some()
}

/// A fat binary with its entries. `None` where it breaks off.
fn fatbin_is(image: &[u8]) -> Option<bool> {
    let header = usize::from(u16_at(image, 6)?);
    let body = slice(image, header, place_at(image, 8)?)?;
    Some(header >= fatbin::HEADER && entries_are(body)?)
}

fn entries_are(mut rest: &[u8]) -> Option<bool> {
    // Zeros may fill it up.
    while rest.iter().any(|byte| *byte != 0) {
        let entry = fatbin::Entry::read(rest)?;
        if entry.is_packed() {
            // The driver unpacks it to memory of its own.
            entry.packed()?;
        } else if !bare_is(entry.body) {
            return Some(false);
        }
        rest = rest.get(entry.len..)?;
    }
    Some(true)
}

/// A 64-bit little-endian ELF file: tables, sections and segments. `None` if something of it lies behind its end.
fn elf_is(image: &[u8]) -> Option<()> {
    let header = image.get(..HEADER)?;
    if header[4] != 2 || header[5] != 1 {
        return None;
    }
    let sections_at = place_at(header, 40)?;
    let first = || slice(image, sections_at, SECTION);
    let sections = match (u16_at(header, 60)?, sections_at) {
        (0, 0) => 0,
        (0, _) => place_at(first()?, 32)?,
        (count, _) => count.into(),
    };
    let segments = match u16_at(header, 56)? {
        MANY_SEGMENTS => u32_at(first()?, 44)? as usize,
        count => count.into(),
    };
    let table = |at, count: usize, len: usize, declared: u16| match count {
        0 => Some(&[][..]),
        _ if usize::from(declared) != len => None,
        _ => slice(image, at, count.checked_mul(len)?),
    };
    let sections = table(sections_at, sections, SECTION, u16_at(header, 58)?)?;
    let segments = table(
        place_at(header, 32)?,
        segments,
        SEGMENT,
        u16_at(header, 54)?,
    )?;
    let within = |at: u64, len: u64| {
        let end = at.checked_add(len)?;
        (end <= image.len() as u64).then_some(())
    };
    for section in sections.chunks_exact(SECTION) {
        if !WITHOUT_BYTES.contains(&u32_at(section, 4)?) {
            within(u64_at(section, 24)?, u64_at(section, 32)?)?;
        }
    }
    for segment in segments.chunks_exact(SEGMENT) {
        let len = u64_at(segment, 32)?;
        if len > 0 {
            within(u64_at(segment, 8)?, len)?;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF file with a segment, and two sections of which the second has no bytes.
    fn elf() -> Vec<u8> {
        let mut bytes = vec![0; 64];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        for (at, value) in [(54, 56_u16), (56, 1), (58, 64), (60, 3)] {
            bytes[at..at + 2].copy_from_slice(&value.to_le_bytes());
        }
        bytes[32..40].copy_from_slice(&64_u64.to_le_bytes());
        bytes[40..48].copy_from_slice(&120_u64.to_le_bytes());
        let mut segment = [0; 56];
        segment[32..40].copy_from_slice(&100_u64.to_le_bytes());
        bytes.extend(segment);
        for (kind, at, len) in [(0_u32, 0, 0), (1, 312, 8), (8, 400, 1 << 40)] {
            let mut section = [0; 64];
            section[4..8].copy_from_slice(&kind.to_le_bytes());
            section[24..32].copy_from_slice(&u64::to_le_bytes(at));
            section[32..40].copy_from_slice(&u64::to_le_bytes(len));
            bytes.extend(section);
        }
        bytes.extend([7; 8]);
        bytes
    }

    fn entry(kind: u16, body: &[u8]) -> Vec<u8> {
        let mut entry = vec![0; 64];
        entry[..2].copy_from_slice(&kind.to_le_bytes());
        entry[4..8].copy_from_slice(&64_u32.to_le_bytes());
        entry[8..16].copy_from_slice(&(body.len() as u64).to_le_bytes());
        entry.extend(body);
        entry
    }

    fn fatbin(entries: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0];
        bytes.extend((entries.len() as u64).to_le_bytes());
        bytes.extend(entries);
        bytes
    }

    /// With other bytes at a place.
    fn with(image: &[u8], at: usize, bytes: &[u8]) -> Vec<u8> {
        let mut image = image.to_vec();
        image[at..at + bytes.len()].copy_from_slice(bytes);
        image
    }

    #[test]
    fn what_leads_elsewhere_or_is_too_short_is_refused() {
        let wrapper = [0xb1, 0x43, 0x62, 0x46, 1, 0, 0, 0, 8, 7, 6, 5, 4, 3, 2, 1];
        assert!(!is(&wrapper));
        for short in [&b""[..], b"\x7fELF", &wrapper[..4], b".versio"] {
            assert!(!is(short), "{short:?}");
        }
        assert!(is(b".version 8.0\n\0"));
    }

    #[test]
    fn an_elf_file_has_its_tables_sections_and_segments() {
        let good = elf();
        assert!(is(&good));
        for len in 8..good.len() {
            assert!(!is(&good[..len]), "{len} bytes");
        }
        const MANY: [u8; 8] = [0xff; 8];
        for (what, at, bytes) in [
            ("a table of sections behind the end", 40, &MANY[..]),
            ("a table of segments behind the end", 32, &MANY),
            ("more sections", 60, &[4]),
            ("more segments", 56, &[8]),
            ("sections of another size", 58, &[65]),
            ("segments of another size", 54, &[57]),
            ("a section behind the end", 120 + 64 + 24, &[57]),
            ("a longer section", 120 + 64 + 32, &[9]),
            ("a section of all bytes", 120 + 64 + 32, &MANY),
            ("a longer segment", 64 + 33, &[2]),
            ("32 bits", 4, &[1]),
            ("another order of bytes", 5, &[2]),
        ] {
            assert!(!is(&with(&good, at, bytes)), "{what}");
        }
        // The count of sections in the first, and that of segments.
        let counted = with(&with(&good, 60, &[0]), 120 + 32, &[3]);
        assert!(is(&counted));
        assert!(!is(&with(&counted, 120 + 32, &MANY)));
        let counted = with(&with(&good, 56, &[0xff; 2]), 120 + 44, &[1]);
        assert!(is(&counted));
        assert!(!is(&with(&counted, 120 + 44, &[9])));
    }

    #[test]
    fn a_fat_binary_has_what_its_header_and_its_entries_say() {
        let good = fatbin(&[entry(2, &elf()), entry(1, b".version 8.0\n\0")].concat());
        assert!(is(&good));
        assert!(is(&[&good[..], &[1; 9]].concat()), "what is behind it");
        for len in 8..good.len() {
            assert!(!is(&good[..len]), "{len} bytes");
        }
        for (what, at, bytes) in [
            ("more bytes", 8, &[0xff; 2][..]),
            ("all bytes", 8, &[0xff; 8]),
            ("a larger header", 6, &[17]),
            ("a smaller header", 6, &[8]),
            ("a longer entry", 16 + 8, &[0xff; 8]),
            ("a larger header of an entry", 16 + 4, &[0xff; 4]),
            ("a smaller header of an entry", 16 + 4, &[0]),
            ("an ELF file that is broken", 16 + 64 + 40, &[0xff; 8]),
        ] {
            assert!(!is(&with(&good, at, bytes)), "{what}");
        }
        let filled = fatbin(&[&entry(1, b".version 8.0\n\0")[..], &[0; 20]].concat());
        assert!(is(&filled));
        // Packed, and longer than the entry.
        let packed = with(&entry(1, &[1; 40]), 41, &[0x20]);
        assert!(is(&fatbin(&with(&packed, 16, &[40]))));
        assert!(!is(&fatbin(&with(&packed, 16, &[41]))));
    }
}
