//! Compiled BPF programs that the binary carries, packed by zstd: unpacked they are an eighth of a megabyte to three quarters.

use std::ops::Deref;

/// What the ELF parser reads in place begins at a multiple of this.
const ALIGNMENT: usize = 8;

/// An object as the build script has packed it.
#[derive(Clone, Copy, Debug)]
pub struct Embedded {
    /// By zstd.
    pub packed: &'static [u8],
    /// Bytes of the object itself.
    pub len: usize,
}

/// An object in memory, which the kernel needs no longer once its programs are loaded.
#[derive(Debug)]
pub struct Object {
    room: Vec<u8>,
    start: usize,
    len: usize,
}

impl Embedded {
    /// The object. Empty, which no loader takes for one, if it cannot be unpacked: the binary is damaged.
    pub fn unpack(&self) -> Object {
        let mut room = vec![0; self.len + ALIGNMENT];
        let start = room.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        let place = room.get_mut(start..start + self.len);
        let filled = place.map(|place| zstd::bulk::decompress_to_buffer(self.packed, place));
        let len = match filled {
            Some(Ok(len)) => len,
            Some(Err(_)) | None => 0,
        };
        Object { room, start, len }
    }
}

impl Deref for Object {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.room
            .get(self.start..self.start + self.len)
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_aligned_and_a_damaged_one_is_empty() {
        let packed: &'static [u8] = zstd::bulk::compress(b"\x7fELF and so on", 1)
            .unwrap()
            .leak();
        let object = Embedded { packed, len: 14 }.unpack();
        assert_eq!(&*object, b"\x7fELF and so on");
        assert_eq!(object.as_ptr().align_offset(ALIGNMENT), 0);
        assert!(Embedded { packed, len: 13 }.unpack().is_empty());
        let cut = packed.get(..packed.len() / 2).unwrap();
        assert!(
            Embedded {
                packed: cut,
                len: 14
            }
            .unpack()
            .is_empty()
        );
    }
}
