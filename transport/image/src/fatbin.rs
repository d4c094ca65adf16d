//! Fat binaries: a header and entries, each the module for one architecture as PTX or ELF, perhaps
//! packed. `fatbinary` of CUDA writes them; the layout is that of CUDA's `fatbinary_section.h` and of
//! what public readers agree on (cuda-fatbin-decompression, gpuocelot).

use std::borrow::Cow;
use std::io::Read as _;

use crate::Layouts;
use crate::bytes::{place_at, slice, u16_at, u32_at, u64_at};

const MAGIC: u32 = 0xba55_ed50;
/// Kinds of entries.
const PTX: u16 = 1;
const ELF: u16 = 2;
/// Flags of an entry: packed with LZ4, or with Zstandard.
const PACKED: u64 = 0x2000;
const PACKED_ZSTD: u64 = 0x8000;
/// Bytes of the header before the entries, at least.
pub(crate) const HEADER: usize = 16;
/// Bytes of an entry's header that are read.
const ENTRY: usize = 64;

/// Most bytes that entries are unpacked to before one is understood.
const UNPACKED_MAX: usize = 512 << 20;
/// Entries are the same module for other architectures. Once one was understood, others are read
/// for kernels that are in them alone, up to so many bytes.
const FURTHER_MAX: usize = 16 << 20;

/// Whether these bytes begin as a fat binary does.
pub(crate) fn is(image: &[u8]) -> bool {
    u32_at(image, 0) == Some(MAGIC)
}

/// Reads the kernels of all entries, as far as they are understood.
pub(crate) fn read(image: &[u8], layouts: &mut Layouts) {
    let mut read = 0;
    // What is not packed first: it costs the least.
    for packed in [false, true] {
        for entry in (Entries {
            image,
            at: header(image),
        })
        .filter(|it| it.is_packed() == packed)
        {
            let size = entry.unpacked_size();
            let most = match layouts.is_empty() {
                true => UNPACKED_MAX,
                false => FURTHER_MAX,
            };
            if size > most - most.min(read) {
                continue;
            }
            // Counted even if it comes to nothing: the work was done.
            read += size;
            if let Some(body) = entry.unpack() {
                layouts.read_bare(&body);
            }
        }
    }
}

/// Most bytes that are looked through by [`each`].
const LOOKED_AT_MAX: usize = 4 << 20;

/// Has `look` see the entries, as far as they have [`LOOKED_AT_MAX`] bytes together; whether those are all.
pub(crate) fn each(image: &[u8], mut look: impl FnMut(&[u8])) -> bool {
    let mut looked = 0_usize;
    let entries = Entries {
        image,
        at: header(image),
    };
    for entry in entries {
        looked = looked.saturating_add(entry.unpacked_size());
        if looked > LOOKED_AT_MAX {
            return false;
        }
        match entry.unpack() {
            Some(body) => look(&body),
            None => return false,
        }
    }
    true
}

/// The same of an image that is no fat binary.
pub(crate) fn once(image: &[u8], look: impl FnOnce(&[u8])) -> bool {
    let small = image.len() <= LOOKED_AT_MAX;
    if small {
        look(image);
    }
    small
}

/// Bytes of the header of a fat binary, and where its entries begin.
fn header(image: &[u8]) -> usize {
    u16_at(image, 6).map_or(image.len(), usize::from)
}

struct Entries<'a> {
    image: &'a [u8],
    at: usize,
}

/// An entry.
pub(crate) struct Entry<'a> {
    kind: u16,
    flags: u64,
    packed: usize,
    unpacked: usize,
    pub(crate) body: &'a [u8],
    /// Bytes of header and body.
    pub(crate) len: usize,
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    /// The next entry of PTX or ELF.
    fn next(&mut self) -> Option<Entry<'a>> {
        loop {
            let entry = Entry::read(self.image.get(self.at..)?)?;
            self.at += entry.len;
            if matches!(entry.kind, PTX | ELF) {
                return Some(entry);
            }
        }
    }
}

impl<'a> Entry<'a> {
    /// The entry that these bytes begin with.
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Self> {
        let head = bytes.get(..ENTRY)?;
        let header = u32_at(head, 4)? as usize;
        if header < ENTRY {
            return None;
        }
        let body = slice(bytes, header, place_at(head, 8)?)?;
        Some(Self {
            kind: u16_at(head, 0)?,
            flags: u64_at(head, 40)?,
            packed: u32_at(head, 16)? as usize,
            unpacked: place_at(head, 56)?,
            body,
            len: header + body.len(),
        })
    }

    pub(crate) fn is_packed(&self) -> bool {
        self.flags & (PACKED | PACKED_ZSTD) != 0
    }

    fn unpacked_size(&self) -> usize {
        match self.is_packed() {
            true => self.unpacked,
            false => self.body.len(),
        }
    }

    /// What is to be unpacked.
    pub(crate) fn packed(&self) -> Option<&'a [u8]> {
        self.body.get(..self.packed)
    }

    fn unpack(&self) -> Option<Cow<'a, [u8]>> {
        if !self.is_packed() {
            return Some(Cow::Borrowed(self.body));
        }
        let packed = self.packed()?;
        if self.flags & PACKED_ZSTD == 0 {
            // No byte of LZ4 stands for more than 255: what says otherwise gets no memory.
            if self.unpacked / 255 > packed.len() {
                return None;
            }
            return Some(Cow::Owned(
                lz4_flex::block::decompress(packed, self.unpacked).ok()?,
            ));
        }
        let mut unpacked = Vec::new();
        ruzstd::decoding::StreamingDecoder::new(packed)
            .ok()?
            .take(self.unpacked as u64)
            .read_to_end(&mut unpacked)
            .ok()?;
        Some(Cow::Owned(unpacked))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = ".version 8.0\n.entry k(.param .u64 a, .param .u32 b) { ret; }\n";

    fn entry(kind: u16, body: &[u8], packed: usize, flags: u64, size: usize) -> Vec<u8> {
        let mut entry = vec![0; ENTRY];
        entry[..2].copy_from_slice(&kind.to_le_bytes());
        entry[4..8].copy_from_slice(&(ENTRY as u32).to_le_bytes());
        entry[8..16].copy_from_slice(&(body.len() as u64).to_le_bytes());
        entry[16..20].copy_from_slice(&(packed as u32).to_le_bytes());
        entry[40..48].copy_from_slice(&flags.to_le_bytes());
        entry[56..64].copy_from_slice(&(size as u64).to_le_bytes());
        entry.extend(body);
        entry
    }

    fn fatbin(entries: &[Vec<u8>]) -> Vec<u8> {
        let body = entries.concat();
        let mut bytes = MAGIC.to_le_bytes().to_vec();
        bytes.extend([1, 0, 16, 0]);
        bytes.extend((body.len() as u64).to_le_bytes());
        bytes.extend(body);
        bytes
    }

    fn packed(text: &str) -> Vec<u8> {
        let packed = lz4_flex::block::compress(text.as_bytes());
        let len = packed.len();
        entry(PTX, &packed, len, PACKED, text.len())
    }

    #[test]
    fn kernels_of_all_entries_are_known() {
        let other = TEXT.replace(" k(", " other(");
        let bytes = fatbin(&[
            entry(PTX, TEXT.as_bytes(), 0, 0, 0),
            entry(9, b"something else", 0, 0, 0),
            packed(&other),
        ]);
        let layouts = Layouts::read(&bytes);
        assert_eq!(layouts.get("k").unwrap().len(), 2);
        assert_eq!(layouts.get("other"), layouts.get("k"));
        assert_eq!(layouts.len(), 2);
    }

    #[test]
    fn printing_is_found_in_packed_entries() {
        use crate::Output;
        let output = |prints, possible| Output { prints, possible };
        let prints = TEXT.replace("ret;", "call vprintf; ret;");
        let asserts = TEXT.replace("ret;", "call __assertfail; ret;");
        let of = |texts: &[&str]| {
            let entries: Vec<_> = texts.iter().map(|text| packed(text)).collect();
            Output::of(&fatbin(&entries))
        };
        assert_eq!(of(&[TEXT, &prints]), output(true, true));
        assert_eq!(of(&[TEXT, &asserts]), output(false, true));
        assert_eq!(of(&[TEXT]), output(false, false));
        assert_eq!(Output::of(prints.as_bytes()), output(true, true));
        // Not read.
        let large = vec![b' '; LOOKED_AT_MAX + 1];
        assert_eq!(Output::of(&large), output(false, true));
    }

    #[test]
    fn an_entry_that_lies_about_its_size_gets_no_memory() {
        let lz4 = lz4_flex::block::compress(TEXT.as_bytes());
        let lies = [
            (PACKED, 400 << 20),
            (PACKED_ZSTD, 400 << 20),
            (PACKED, usize::MAX),
        ];
        for (flags, size) in lies {
            let bytes = fatbin(&[entry(PTX, &lz4, lz4.len(), flags, size)]);
            assert!(Layouts::read(&bytes).is_empty());
        }
        let mut bytes = fatbin(&[packed(TEXT)]);
        bytes[16 + 8..16 + 16].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(Layouts::read(&bytes).is_empty());
    }
}
