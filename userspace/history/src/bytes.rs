//! Numbers and strings as the format has them.

use gtrace_profile::Histogram;
use integer_encoding::VarInt;

use crate::error::Malformed;

pub(crate) fn put_varint(out: &mut Vec<u8>, value: u64) {
    let mut buffer = [0; 10];
    let length = value.encode_var(&mut buffer);
    out.extend(buffer.iter().take(length));
}

pub(crate) fn put_zigzag(out: &mut Vec<u8>, value: i64) {
    let mut buffer = [0; 10];
    let length = value.encode_var(&mut buffer);
    out.extend(buffer.iter().take(length));
}

pub(crate) fn put_string(out: &mut Vec<u8>, text: &str) {
    put_varint(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// Takes from the front of a slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a>(pub(crate) &'a [u8]);

impl<'a> Cursor<'a> {
    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Malformed::Short)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.0.split_first_chunk::<N>().ok_or(Malformed::Short)?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Malformed> {
        self.array().map(|[byte]| byte)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn i64(&mut self) -> Result<i64, Malformed> {
        self.array().map(i64::from_le_bytes)
    }

    pub(crate) fn varint(&mut self) -> Result<u64, Malformed> {
        self.var()
    }

    pub(crate) fn zigzag(&mut self) -> Result<i64, Malformed> {
        self.var()
    }

    fn var<T: VarInt>(&mut self) -> Result<T, Malformed> {
        let (value, length) = T::decode_var(self.0).ok_or(Malformed::Short)?;
        self.take(length)?;
        Ok(value)
    }

    /// A count of things that take at least one byte each, so that no count makes room for more than there is.
    pub(crate) fn count(&mut self) -> Result<usize, Malformed> {
        let count = usize::try_from(self.varint()?).map_err(|_| Malformed::Range)?;
        if count > self.0.len() {
            return Err(Malformed::Short);
        }
        Ok(count)
    }

    pub(crate) fn histogram(&mut self) -> Result<Histogram, Malformed> {
        Histogram::unpack(&mut self.0).ok_or(Malformed::Histogram)
    }

    pub(crate) fn string(&mut self) -> Result<&'a str, Malformed> {
        let length = self.count()?;
        std::str::from_utf8(self.take(length)?).map_err(|_| Malformed::Utf8)
    }

    pub(crate) fn end(self) -> Result<(), Malformed> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(Malformed::Long)
        }
    }
}
