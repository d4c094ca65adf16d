//! Structures of NVML that say their own size, so that programs of any version are served: an older
//! program has a smaller structure than the types know, a newer one a larger.

use gtrace_protocol::{DecodeError, Reader, Writer};

use super::{ARGUMENT_MAX, put, take, words};

/// Bits of a structure's `version` that are its size, as `NVML_STRUCT_VERSION` puts them.
const VERSION_SIZE: u32 = 0xff_ffff;

/// Appends a structure of NVML that says its own size: the length in bytes, and the bytes. `false`
/// if it says a size that cannot be.
///
/// # Safety
///
/// `from` points to a structure whose first member is its version.
pub unsafe fn put_versioned<T>(writer: &mut Writer, from: *const T) -> bool {
    // SAFETY: the caller's promise.
    let version = unsafe { from.cast::<u32>().read_unaligned() };
    let len = (version & VERSION_SIZE) as usize;
    if len < size_of::<u32>() || len > ARGUMENT_MAX {
        return false;
    }
    writer.u64(len as u64);
    // SAFETY: the program says that the structure has this size.
    unsafe { put(writer, from.cast::<u8>(), len) };
    true
}

/// Reads a structure of NVML that says its own size to where it came from.
///
/// # Errors
///
/// [`DecodeError`] if the frame has not as many bytes as the structure.
///
/// # Safety
///
/// `into` points to a structure whose first member is the version that [`put_versioned`] read.
pub unsafe fn take_versioned<T>(reader: &mut Reader<'_>, into: *mut T) -> Result<(), DecodeError> {
    // SAFETY: the caller's promise.
    let version = unsafe { into.cast::<u32>().read_unaligned() };
    let cap = (version & VERSION_SIZE) as usize;
    let len = reader.len(cap)?;
    // SAFETY: `into` has room for `cap` bytes, as the program said.
    unsafe { take(reader, into.cast::<u8>(), len) }
}

/// A structure of NVML that says its own size, as the server holds it: aligned for any member.
#[derive(Debug)]
pub struct Versioned {
    words: Vec<u64>,
    len: usize,
}

impl Versioned {
    /// Reads one.
    ///
    /// # Errors
    ///
    /// [`DecodeError`] if the frame has not as many bytes, or the structure says another size than
    /// it has, or has no version at all: the driver would read or write beyond its end.
    pub fn take(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let bytes = reader.bytes()?;
        let versioned = Self {
            words: words(bytes),
            len: bytes.len(),
        };
        match versioned.version() & VERSION_SIZE {
            size if size as usize == versioned.len && versioned.len >= size_of::<u32>() => {
                Ok(versioned)
            }
            size => Err(DecodeError::BadValue {
                what: "the size that a structure says it has",
                value: size.into(),
            }),
        }
    }

    fn version(&self) -> u32 {
        let first = self.words.first().copied().unwrap_or_default();
        let [a, b, c, d, ..] = first.to_ne_bytes();
        u32::from_ne_bytes([a, b, c, d])
    }

    /// Where it is, for the driver.
    pub fn pointer<T>(&mut self) -> *mut T {
        self.words.as_mut_ptr().cast()
    }

    /// Appends it: the length in bytes, and the bytes.
    pub fn put(&self, writer: &mut Writer) {
        writer.u64(self.len as u64);
        // SAFETY: `words` are at least `len` bytes.
        unsafe { put(writer, self.words.as_ptr().cast::<u8>(), self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_structure_travels_in_the_size_that_it_says() {
        let mut program = [12u32 | 2 << 24, 7, 8, 99];
        let mut writer = Writer::default();
        // SAFETY: the structure says 12 bytes, and there are 16.
        assert!(unsafe { put_versioned(&mut writer, program.as_ptr()) });
        assert_eq!(writer.len(), 8 + 12);
        let mut server = Versioned::take(&mut Reader::new(writer.as_slice())).unwrap();
        // SAFETY: the second of three integers.
        unsafe { server.pointer::<u32>().add(1).write(70) };
        let mut reply = Writer::default();
        server.put(&mut reply);
        // SAFETY: as above.
        unsafe { take_versioned(&mut Reader::new(reply.as_slice()), program.as_mut_ptr()) }
            .unwrap();
        assert_eq!(program, [12 | 2 << 24, 70, 8, 99]);
    }

    #[test]
    fn a_structure_that_lies_about_its_size_never_reaches_the_driver() {
        let mut writer = Writer::default();
        writer.bytes(&4096u32.to_ne_bytes());
        assert!(Versioned::take(&mut Reader::new(writer.as_slice())).is_err());
        for short in [&[][..], &[1], &[3, 0, 0]] {
            let mut writer = Writer::default();
            writer.bytes(short);
            assert!(Versioned::take(&mut Reader::new(writer.as_slice())).is_err());
        }
        let too_small = [1u32];
        // SAFETY: one integer, which says a size below its own.
        assert!(!unsafe { put_versioned(&mut Writer::default(), too_small.as_ptr()) });
    }
}
