//! Encoding of arguments: little-endian, packed, lengths before what they count.

use thiserror::Error;

/// What was read is not what was to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// The bytes end too early.
    #[error("{wanted} more bytes are needed at byte {at}, {left} are left")]
    Short {
        /// Where reading was.
        at: usize,
        /// Bytes that were to be read.
        wanted: u64,
        /// Bytes that are left.
        left: usize,
    },
    /// A length is above its cap.
    #[error("a length of {len} is above the cap of {cap}")]
    TooLong {
        /// What was claimed.
        len: u64,
        /// What is allowed.
        cap: usize,
    },
    /// A text is not UTF-8.
    #[error("a text is not UTF-8")]
    NotUtf8,
    /// A value is outside its range.
    #[error("{what} cannot be {value}")]
    BadValue {
        /// What the value is.
        what: &'static str,
        /// What was read.
        value: u64,
    },
    /// Bytes are left over.
    #[error("{0} bytes are left over")]
    LeftOver(usize),
}

/// Appends values to a buffer, which may live anywhere: it grows a `Vec`.
#[derive(Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

macro_rules! put {
    ($($name:ident: $type:ty),* $(,)?) => {
        $(
            #[doc = concat!("Appends a `", stringify!($type), "`.")]
            #[inline]
            pub fn $name(&mut self, value: $type) {
                self.bytes.extend_from_slice(&value.to_le_bytes());
            }
        )*
    };
}

impl Writer {
    /// An empty one that reuses the memory of `bytes`.
    pub fn over(mut bytes: Vec<u8>) -> Self {
        bytes.clear();
        Self { bytes }
    }

    put! {
        u8: u8, u16: u16, u32: u32, u64: u64, i32: i32, i64: i64, f32: f32, f64: f64,
    }

    /// Appends a length as u64, and the bytes.
    #[inline]
    pub fn bytes(&mut self, value: &[u8]) {
        self.u64(value.len() as u64);
        self.bytes.extend_from_slice(value);
    }

    /// Appends bytes whose length the other side knows.
    #[inline]
    pub fn raw(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(value);
    }

    /// Appends a text.
    #[inline]
    pub fn str(&mut self, value: &str) {
        self.bytes(value.as_bytes());
    }

    /// What was written.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes
    }

    /// Bytes written.
    #[inline]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether nothing was written.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Forgets all behind the first `len` bytes.
    pub fn truncate(&mut self, len: usize) {
        self.bytes.truncate(len);
    }

    /// Overwrites the bytes at `at`, which were written before; else nothing happens and it is false.
    pub fn patch(&mut self, at: usize, value: &[u8]) -> bool {
        let Some(end) = at.checked_add(value.len()) else {
            return false;
        };
        match self.bytes.get_mut(at..end) {
            Some(place) => {
                place.copy_from_slice(value);
                true
            }
            None => false,
        }
    }

    /// What was written, as a `Vec`.
    pub fn into_inner(self) -> Vec<u8> {
        self.bytes
    }
}

/// Reads values from bytes.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

macro_rules! get {
    ($($name:ident: $type:ty),* $(,)?) => {
        $(
            #[doc = concat!("Reads a `", stringify!($type), "`.")]
            ///
            /// # Errors
            ///
            /// [`DecodeError::Short`].
            #[inline]
            pub fn $name(&mut self) -> Result<$type, DecodeError> {
                self.array().map(<$type>::from_le_bytes)
            }
        )*
    };
}

impl<'a> Reader<'a> {
    /// Reads `bytes` from their start.
    #[inline]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Bytes that are left.
    #[inline]
    pub const fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The next `len` bytes.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Short`].
    #[inline]
    pub fn raw(&mut self, len: usize) -> Result<&'a [u8], DecodeError> {
        let short = DecodeError::Short {
            at: self.at,
            wanted: len as u64,
            left: self.left(),
        };
        let end = self.at.checked_add(len).ok_or(short)?;
        let slice = self.bytes.get(self.at..end).ok_or(short)?;
        self.at = end;
        Ok(slice)
    }

    /// The next `N` bytes.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Short`].
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let slice = self.raw(N)?;
        let mut array = [0; N];
        array.copy_from_slice(slice);
        Ok(array)
    }

    get! {
        u8: u8, u16: u16, u32: u32, u64: u64, i32: i32, i64: i64, f32: f32, f64: f64,
    }

    /// A u64 that must fit `usize` and `cap`.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Short`], [`DecodeError::TooLong`].
    #[inline]
    pub fn len(&mut self, cap: usize) -> Result<usize, DecodeError> {
        let len = self.u64()?;
        match usize::try_from(len) {
            Ok(fits) if fits <= cap => Ok(fits),
            _ => Err(DecodeError::TooLong { len, cap }),
        }
    }

    /// A byte that says whether `what` is so.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Short`], [`DecodeError::BadValue`] if it is neither 0 nor 1.
    pub fn flag(&mut self, what: &'static str) -> Result<bool, DecodeError> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            value => Err(DecodeError::BadValue {
                what,
                value: value.into(),
            }),
        }
    }

    /// Bytes with their length before them; no more than are there can be claimed.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Short`], [`DecodeError::TooLong`].
    #[inline]
    pub fn bytes(&mut self) -> Result<&'a [u8], DecodeError> {
        let len = self.len(usize::MAX)?;
        self.raw(len)
    }

    /// A text of at most `cap` bytes.
    ///
    /// # Errors
    ///
    /// As [`Reader::bytes`], and [`DecodeError::NotUtf8`].
    pub fn str(&mut self, cap: usize) -> Result<&'a str, DecodeError> {
        let len = self.len(cap)?;
        std::str::from_utf8(self.raw(len)?).map_err(|_| DecodeError::NotUtf8)
    }

    /// Everything that is left.
    #[inline]
    pub fn rest(&mut self) -> &'a [u8] {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at = self.bytes.len();
        rest
    }

    /// That nothing is left.
    ///
    /// # Errors
    ///
    /// [`DecodeError::LeftOver`].
    pub const fn end(&self) -> Result<(), DecodeError> {
        match self.left() {
            0 => Ok(()),
            left => Err(DecodeError::LeftOver(left)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut writer = Writer::default();
        writer.u8(1);
        writer.u64(u64::MAX);
        writer.f32(1.5);
        writer.str("softgpu");
        writer.bytes(&[7; 3]);
        let mut reader = Reader::new(writer.as_slice());
        assert_eq!(reader.u8(), Ok(1));
        assert_eq!(reader.u64(), Ok(u64::MAX));
        assert_eq!(reader.f32(), Ok(1.5));
        assert_eq!(reader.str(16), Ok("softgpu"));
        assert_eq!(reader.bytes(), Ok(&[7; 3][..]));
        assert_eq!(reader.end(), Ok(()));
    }

    #[test]
    fn a_length_that_lies_takes_nothing() {
        let mut writer = Writer::default();
        writer.u64(u64::MAX);
        assert!(Reader::new(writer.as_slice()).bytes().is_err());
        let mut writer = Writer::default();
        writer.str("too long");
        let error = Reader::new(writer.as_slice()).str(4).unwrap_err();
        assert_eq!(error, DecodeError::TooLong { len: 8, cap: 4 });
        assert_eq!(
            Reader::new(&[1, 2]).u32().unwrap_err().to_string(),
            "4 more bytes are needed at byte 0, 2 are left"
        );
    }
}
