//! A histogram of version 2 of HdrHistogram's encoding, plain or compressed.
//!
//! Read here and not by `hdrhistogram`, which allocates as much as the header names (up to 4 GiB): here
//! nothing is allocated but the histogram.

use std::io::{Cursor, Read};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;

use crate::Histogram;

/// Longest payload that is read, bytes once inflated. One of three digits over all of 64 bits takes
/// at most 0.5 MiB.
const INFLATED_MAX: u64 = 4 << 20;

const COOKIE: u32 = 0x1c84_9303;
const COMPRESSED_COOKIE: u32 = 0x1c84_9304;
/// Bits 4 to 7 are the word size; version 2 sets it to 1, and readers leave it out of account.
const COOKIE_MASK: u32 = !0xf0;

/// What cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum PayloadError {
    /// No base64.
    #[error("no base64: {0}")]
    Base64(#[from] base64::DecodeError),
    /// It ends too soon, or its compression is broken.
    #[error("ends too soon, or is not compressed by zlib: {0}")]
    Short(#[from] std::io::Error),
    /// Another version, or something else.
    #[error("no histogram of version 2 (cookie {0:#x})")]
    Cookie(u32),
    /// What the header says cannot be.
    #[error("its header has {0}")]
    Header(&'static str),
    /// More than is read.
    #[error("more than 4 MiB once inflated")]
    Long,
    /// Counts that lie outside of 64 bits.
    #[error("counts of values above 64 bits")]
    Range,
}

/// The histogram of a line's last column. Values are taken as ns, each as the middle of the range
/// that the encoding keeps apart.
///
/// # Errors
///
/// For what is no such histogram, and for one above 4 MiB.
pub fn decode(text: &str) -> Result<Histogram, PayloadError> {
    let bytes = STANDARD.decode(text.trim())?;
    let mut input = Cursor::new(bytes);
    match cookie(&mut input)? {
        (COOKIE, _) => body(&mut input),
        (COMPRESSED_COOKIE, _) => {
            let _length = number::<4, _>(&mut input)?;
            // One byte more than may be, so that a longer one is seen to be longer.
            let mut inflated = ZlibDecoder::new(input).take(INFLATED_MAX + 1);
            match cookie(&mut inflated)? {
                (COOKIE, _) => body(&mut inflated),
                (_, other) => Err(PayloadError::Cookie(other)),
            }
        }
        (_, other) => Err(PayloadError::Cookie(other)),
    }
}

fn number<const N: usize, R: Read>(input: &mut R) -> Result<u64, PayloadError> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes)?;
    Ok(bytes.iter().fold(0, |n, byte| n << 8 | u64::from(*byte)))
}

/// The cookie without the word size, and as it is.
fn cookie(input: &mut impl Read) -> Result<(u32, u32), PayloadError> {
    let cookie = number::<4, _>(input)? as u32;
    Ok((cookie & COOKIE_MASK, cookie))
}

fn body(input: &mut impl Read) -> Result<Histogram, PayloadError> {
    let length = number::<4, _>(input)?;
    let offset = number::<4, _>(input)?;
    let digits = number::<4, _>(input)?;
    let low = number::<8, _>(input)?;
    let _high = number::<8, _>(input)?;
    let ratio = number::<8, _>(input)?;
    if length > INFLATED_MAX {
        return Err(PayloadError::Long);
    }
    if offset != 0 {
        return Err(PayloadError::Header("a normalizing offset"));
    }
    if f64::from_bits(ratio) != 1.0 {
        return Err(PayloadError::Header("a ratio of integers to doubles"));
    }
    let ranges = Ranges::new(low, digits)?;
    let mut counts = Vec::new();
    input.take(length).read_to_end(&mut counts)?;
    if (counts.len() as u64) < length {
        return Err(PayloadError::Header("a length above that of its counts"));
    }
    let mut histogram = Histogram::default();
    let mut rest = counts.as_slice();
    let mut index = 0u64;
    while !rest.is_empty() {
        let number = zig_zag(&mut rest).ok_or(PayloadError::Header("half a number"))?;
        let step = if number < 0 {
            number.unsigned_abs()
        } else {
            if number > 0 {
                let value = ranges.middle(index).ok_or(PayloadError::Range)?;
                histogram.record_n(value, number.unsigned_abs());
            }
            1
        };
        index = index.checked_add(step).ok_or(PayloadError::Range)?;
    }
    Ok(histogram)
}

/// LEB128 of 64 bits in at most 9 bytes, zig-zag.
fn zig_zag(rest: &mut &[u8]) -> Option<i64> {
    let mut value = 0u64;
    for at in 0..9 {
        let (byte, tail) = rest.split_first()?;
        *rest = tail;
        let bits = if at == 8 { *byte } else { *byte & 0x7f };
        value |= u64::from(bits) << (7 * at);
        if *byte < 0x80 {
            break;
        }
    }
    Some((value >> 1) as i64 ^ -((value & 1) as i64))
}

/// Which values an index stands for: HdrHistogram's sub-buckets, `2^half_magnitude` an octave.
struct Ranges {
    unit_magnitude: u32,
    half_magnitude: u32,
}

impl Ranges {
    fn new(low: u64, digits: u64) -> Result<Self, PayloadError> {
        if digits > 5 {
            return Err(PayloadError::Header("more than 5 digits"));
        }
        let unit_magnitude = low
            .checked_ilog2()
            .ok_or(PayloadError::Header("a lowest value of 0"))?;
        // 2 x 10^digits values have a place of their own, rounded up to a power of two.
        let largest = 2 * 10u32.pow(digits as u32);
        let magnitude = largest.next_power_of_two().ilog2();
        if unit_magnitude + magnitude > 63 {
            return Err(PayloadError::Header(
                "more digits than fit above its lowest value",
            ));
        }
        Ok(Self {
            unit_magnitude,
            half_magnitude: magnitude - 1,
        })
    }

    /// The middle of the values of an index; `None` if they do not fit into 64 bits.
    fn middle(&self, index: u64) -> Option<u64> {
        let half = 1u64 << self.half_magnitude;
        // The first octave has twice as many.
        let (octave, sub) = match index >> self.half_magnitude {
            0 | 1 => (0, index),
            octave => (octave - 1, (index & (half - 1)) + half),
        };
        let shift = u32::try_from(octave)
            .ok()?
            .checked_add(self.unit_magnitude)?;
        let width = 1u64.checked_shl(shift)?;
        sub.checked_mul(width)?.checked_add(width / 2)
    }
}
