//! Values of the driver's types as bytes. Generated and hand-written code of both sides uses it.

// Reads and writes values behind pointers of C programs and of the driver.
#![allow(unsafe_code)]

use core::ffi::{CStr, c_char};
use core::mem::MaybeUninit;

use gtrace_protocol::{DecodeError, Payload, Reader, Writer};

/// Most bytes of an argument or of a result that is no bulk part.
pub const ARGUMENT_MAX: usize = gtrace_protocol::SMALL_MAX;

mod versioned;

pub use versioned::{Versioned, put_versioned, take_versioned};

mod sealed {
    pub trait Sealed {}
}

/// A scalar in its own size, little-endian; `usize` travels as u64.
pub trait Scalar: sealed::Sealed + for<'a> Payload<'a> + Copy {
    /// Appends it.
    #[inline]
    fn put(self, writer: &mut Writer) {
        self.write(writer);
    }
    /// Reads it.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Short`], and [`DecodeError::TooLong`] for a `usize` that does not fit.
    #[inline]
    fn take(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Self::read(reader)
    }
    /// As a length; a negative one is 0, and so is what is none.
    fn as_len(self) -> usize {
        0
    }
    /// Whether it is below 0, which no length is.
    fn is_negative(self) -> bool {
        false
    }
}

macro_rules! scalar {
    ($($type:ty),*) => {$(
        impl sealed::Sealed for $type {}
        impl Scalar for $type {
            #[inline]
            fn as_len(self) -> usize {
                usize::try_from(self).unwrap_or_default()
            }
            #[inline]
            fn is_negative(self) -> bool {
                i128::from(self) < 0
            }
        }
    )*};
}

scalar!(u8, i8, u16, i16, u32, i32, u64, i64);

impl sealed::Sealed for usize {}
impl Scalar for usize {
    #[inline]
    fn as_len(self) -> usize {
        self
    }
}

impl sealed::Sealed for f32 {}
impl Scalar for f32 {}
impl sealed::Sealed for f64 {}
impl Scalar for f64 {}

/// Appends the `count` values at `from` in the layout of C, which is the same on both sides.
///
/// # Safety
///
/// `from` points to `count` values of a type that is plain data; padding counts as data.
#[inline]
pub unsafe fn put<T: Copy>(writer: &mut Writer, from: *const T, count: usize) {
    let len = size_of::<T>().saturating_mul(count);
    if len == 0 {
        return;
    }
    // SAFETY: the caller's promise. C makes no difference between padding and data.
    writer.raw(unsafe { core::slice::from_raw_parts(from.cast::<u8>(), len) });
}

/// Reads `count` values in the layout of C to `into`.
///
/// # Safety
///
/// `into` has room for `count` values of a type for which every pattern of bits is a value.
///
/// # Errors
///
/// [`DecodeError`] if there are not that many bytes; nothing is written then.
#[inline]
pub unsafe fn take<T: Copy>(
    reader: &mut Reader<'_>,
    into: *mut T,
    count: usize,
) -> Result<(), DecodeError> {
    let len = size_of::<T>().saturating_mul(count);
    let bytes = reader.raw(len)?;
    // SAFETY: `bytes` are `len` bytes, and there is room for them by the caller's promise.
    unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), into.cast::<u8>(), len) };
    Ok(())
}

/// Whether `count` values of the type that is pointed to can be an argument.
pub fn fits<T>(_: *const T, count: usize) -> bool {
    size_of::<T>().saturating_mul(count) <= ARGUMENT_MAX - HEADROOM
}

/// What the other arguments of a call may need.
const HEADROOM: usize = 4096;

/// A value of zeros.
///
/// # Safety
///
/// Zeros are a value of the type, as they are for every structure of the driver.
#[inline]
pub unsafe fn zeroed<T: Copy>() -> T {
    // SAFETY: the caller's promise.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

/// `count` values of zeros, if they are no more than [`ARGUMENT_MAX`] bytes.
///
/// # Errors
///
/// [`DecodeError::TooLong`].
///
/// # Safety
///
/// As for [`zeroed`].
pub unsafe fn room<T: Copy>(count: usize) -> Result<Vec<T>, DecodeError> {
    let size = size_of::<T>().max(1);
    let cap = ARGUMENT_MAX / size;
    if count > cap {
        let len = count as u64;
        return Err(DecodeError::TooLong { len, cap });
    }
    // SAFETY: the caller's promise.
    Ok(vec![unsafe { zeroed() }; count])
}

/// Reads an array: its length in elements, and its elements.
///
/// # Errors
///
/// [`DecodeError`] if the frame does not have as many bytes; memory is taken only for what it has.
///
/// # Safety
///
/// Every pattern of bits is a value of the type.
pub unsafe fn take_vec<T: Copy>(reader: &mut Reader<'_>) -> Result<Vec<T>, DecodeError> {
    let size = size_of::<T>().max(1);
    let len = reader.len(reader.left().saturating_sub(size_of::<u64>()) / size)?;
    // SAFETY: zeros are a value, as every pattern of bits is.
    let mut values = unsafe { room(len) }?;
    // SAFETY: `values` has room for `len` values.
    unsafe { take(reader, values.as_mut_ptr(), len) }?;
    Ok(values)
}

/// Reads an array of bytes to words, so that whatever they are is aligned; zeros fill the last one.
///
/// # Errors
///
/// [`DecodeError`] if the frame does not have as many bytes.
pub fn take_words(reader: &mut Reader<'_>) -> Result<Vec<u64>, DecodeError> {
    Ok(words(reader.bytes()?))
}

fn words(bytes: &[u8]) -> Vec<u64> {
    let chunks = bytes.chunks(size_of::<u64>()).map(|chunk| {
        let mut whole = [0; size_of::<u64>()];
        whole[..chunk.len()].copy_from_slice(chunk);
        u64::from_ne_bytes(whole)
    });
    chunks.collect()
}

/// An array whose length is not the one that another argument gives.
pub fn mismatch(what: &'static str, len: usize) -> DecodeError {
    DecodeError::BadValue {
        what,
        value: len as u64,
    }
}

/// Room for `count` pointers of the driver, null, if they are no more than [`ARGUMENT_MAX`] bytes.
///
/// # Errors
///
/// [`DecodeError::TooLong`].
pub fn room_for_handles<T>(count: usize) -> Result<Vec<*mut T>, DecodeError> {
    // SAFETY: null is a pointer.
    unsafe { room(count) }
}

/// Appends a C string: its length, and its bytes without the NUL.
///
/// # Safety
///
/// `from` points to a string that ends with a NUL.
pub unsafe fn put_string(writer: &mut Writer, from: *const c_char) {
    // SAFETY: the caller's promise.
    writer.bytes(unsafe { CStr::from_ptr(from) }.to_bytes());
}

/// Reads a C string.
///
/// # Errors
///
/// [`DecodeError`] if the frame does not have as many bytes, or one of them is NUL.
pub fn take_string(reader: &mut Reader<'_>) -> Result<std::ffi::CString, DecodeError> {
    std::ffi::CString::new(reader.bytes()?).map_err(|error| DecodeError::BadValue {
        what: "the place of a NUL within a C string",
        value: error.nul_position() as u64,
    })
}

/// Appends what `room` has up to its first NUL: its length, and the bytes.
pub fn put_room(writer: &mut Writer, room: &[c_char]) {
    let len = room
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(room.len());
    writer.u64(len as u64);
    for byte in &room[..len] {
        writer.raw(&byte.to_ne_bytes());
    }
}

/// Reads a string to `into`, which has room for `capacity` bytes; what does not fit is cut off,
/// and a NUL ends it.
///
/// # Errors
///
/// [`DecodeError`] if the frame does not have as many bytes.
///
/// # Safety
///
/// `into` has room for `capacity` bytes.
pub unsafe fn take_room(
    reader: &mut Reader<'_>,
    into: *mut c_char,
    capacity: usize,
) -> Result<(), DecodeError> {
    let bytes = reader.bytes()?;
    let Some(most) = capacity.checked_sub(1) else {
        return Ok(());
    };
    let len = bytes.len().min(most);
    // SAFETY: `len` bytes and the NUL are no more than `capacity`, for which there is room.
    unsafe {
        core::ptr::copy_nonoverlapping(bytes.as_ptr(), into.cast::<u8>(), len);
        into.add(len).write(0);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back() {
        let mut writer = Writer::default();
        7usize.put(&mut writer);
        (-3i32).put(&mut writer);
        // SAFETY: arrays of as many integers.
        unsafe { put(&mut writer, [1u16, 2, 3].as_ptr(), 3) };
        let mut reader = Reader::new(writer.as_slice());
        assert_eq!(usize::take(&mut reader), Ok(7));
        assert_eq!(i32::take(&mut reader), Ok(-3));
        let mut into = [0u16; 3];
        // SAFETY: as above.
        unsafe { take(&mut reader, into.as_mut_ptr(), 3) }.unwrap();
        assert_eq!(into, [1, 2, 3]);
        assert_eq!(reader.end(), Ok(()));
    }

    #[test]
    fn an_array_takes_no_more_memory_than_the_frame_has() {
        let mut writer = Writer::default();
        writer.u64(u64::MAX / 8);
        writer.u64(1);
        // SAFETY: integers.
        let error = unsafe { take_vec::<u64>(&mut Reader::new(writer.as_slice())) };
        assert_eq!(
            error,
            Err(DecodeError::TooLong {
                len: u64::MAX / 8,
                cap: 1
            })
        );
        // SAFETY: integers.
        assert!(unsafe { room::<u64>(ARGUMENT_MAX / 8 + 1) }.is_err());
    }

    #[test]
    fn strings_are_cut_to_the_room_and_end_with_nul() {
        let mut writer = Writer::default();
        put_room(&mut writer, &b"softgpu\0junk".map(u8::cast_signed));
        let mut into = [1 as c_char; 5];
        // SAFETY: five bytes.
        unsafe { take_room(&mut Reader::new(writer.as_slice()), into.as_mut_ptr(), 5) }.unwrap();
        assert_eq!(into, b"soft\0".map(u8::cast_signed));
    }

    #[test]
    fn a_string_with_a_nul_inside_is_refused() {
        let mut writer = Writer::default();
        writer.bytes(b"a\0b");
        assert!(take_string(&mut Reader::new(writer.as_slice())).is_err());
    }
}
