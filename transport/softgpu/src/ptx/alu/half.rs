//! f16 and bf16: read as f32, computed exactly or rounded to odd in f64, rounded once.

use super::round::{Mode, to_odd, two_sum};

/// A format of 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    F16,
    Bf16,
}

impl Half {
    /// Bits of the mantissa, least exponent of a normal number, bits of infinity, the NaN of PTX.
    fn shape(self) -> (u32, i32, u64, u16) {
        match self {
            Self::F16 => (10, -14, 0x7c00, 0x7fff),
            Self::Bf16 => (7, -126, 0x7f80, 0x7fff),
        }
    }

    pub(crate) fn read(self, bits: u16) -> f32 {
        match self {
            Self::Bf16 => f32::from_bits(u32::from(bits) << 16),
            Self::F16 => {
                let sign = u32::from(bits & 0x8000) << 16;
                let (exponent, mantissa) = (u32::from(bits >> 10 & 31), u32::from(bits & 0x3ff));
                let magnitude = match exponent {
                    // Subnormal: a multiple of 2^-24.
                    0 => (mantissa as f32 * f32::from_bits((127 - 24) << 23)).to_bits(),
                    31 => 0x7f80_0000 | mantissa << 13,
                    _ => (exponent + 127 - 15) << 23 | mantissa << 13,
                };
                f32::from_bits(sign | magnitude)
            }
        }
    }

    /// With .ftz a subnormal number is zero of its sign.
    pub(crate) fn flushed(self, bits: u16, ftz: bool) -> u16 {
        let (_, _, infinity, _) = self.shape();
        match ftz && bits & infinity as u16 == 0 {
            true => bits & 0x8000,
            false => bits,
        }
    }

    pub(crate) fn write(self, value: f64, mode: Mode, saturate: bool) -> u16 {
        let (mantissa, least, infinity, nan) = self.shape();
        if value.is_nan() {
            return nan;
        }
        let sign = if value.is_sign_negative() {
            0x8000_u16
        } else {
            0
        };
        let magnitude = value.abs();
        if magnitude == 0.0 {
            return sign;
        }
        let cut = |bits: u64| {
            let largest = infinity - 1;
            let outward = match mode {
                Mode::Nearest => true,
                Mode::Zero => false,
                Mode::Down => sign != 0,
                Mode::Up => sign == 0,
            };
            if bits < infinity {
                bits
            } else if saturate || !(outward || magnitude.is_infinite()) {
                largest
            } else {
                infinity
            }
        };
        if magnitude.is_infinite() {
            return sign | cut(infinity) as u16;
        }
        let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023)
            .max(least)
            .min(1023);
        let quantum = exponent - mantissa as i32;
        // A power of two: exact, and far from the limits of f64 for every value that matters.
        let scaled = magnitude * f64::from_bits(((1023 - quantum).max(1) as u64) << 52);
        let units = match (mode, sign != 0) {
            (Mode::Down, true) | (Mode::Up, false) => scaled.ceil(),
            (Mode::Down, false) | (Mode::Up, true) | (Mode::Zero, _) => scaled.floor(),
            (Mode::Nearest, _) => scaled.round_ties_even(),
        };
        let bits = (((exponent - least) as u64) << mantissa).saturating_add(units as u64);
        sign | cut(bits) as u16
    }

    pub(crate) fn add(self, a: u16, b: u16) -> u16 {
        let (hi, error) = two_sum(f64::from(self.read(a)), f64::from(self.read(b)));
        self.write(to_odd(hi, error), Mode::Nearest, false)
    }

    /// a * b + c, rounded once.
    pub(crate) fn fma(self, a: u16, b: u16, c: u16) -> u16 {
        let product = f64::from(self.read(a)) * f64::from(self.read(b));
        let (hi, error) = two_sum(product, f64::from(self.read(c)));
        self.write(to_odd(hi, error), Mode::Nearest, false)
    }
}
