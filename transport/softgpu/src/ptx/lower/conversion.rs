//! cvt.

use super::super::alu::bits;
use super::super::alu::convert::Conversion;
use super::super::alu::round::Mode;
use super::super::error::PtxError;
use super::super::types::{Class, Type};
use super::Lower;

impl Lower<'_> {
    pub(super) fn conversion(&mut self) -> Result<bool, PtxError> {
        if self.instruction.opcode != "cvt" {
            return Ok(false);
        }
        let rounding = self
            .modifiers
            .any(&["rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi"]);
        let (ftz, sat) = (self.modifiers.take("ftz"), self.modifiers.take("sat"));
        let relu = self.modifiers.take("relu");
        let (Some(to), Some(from)) = (self.modifiers.ty(), self.modifiers.ty()) else {
            return Err(self.unsupported("a type of this conversion"));
        };
        let mode = rounding.and_then(Mode::parse);
        let integral = rounding.is_some_and(|word| word.len() == 3);
        // Narrowing without a mode rounds to nearest, and floats to integers towards zero.
        let default = if to.is_float() {
            Mode::Nearest
        } else {
            Mode::Zero
        };
        let conversion = Conversion {
            from,
            to,
            mode: mode.unwrap_or(default),
            integral: integral && to.is_float() && from.is_float(),
            ftz,
            sat,
            relu,
        };
        if let Type::F16x2 | Type::BF16x2 = to {
            return self.packed_conversion(conversion);
        }
        let d = self.destination(0, to)?;
        let a = self.source(1, from)?;
        self.convert(conversion, d, a)?;
        Ok(true)
    }

    /// Emits a conversion of slot a into slot d.
    pub(super) fn convert(
        &mut self,
        conversion: Conversion,
        d: u32,
        a: u32,
    ) -> Result<(), PtxError> {
        let (exec, code) = conversion.exec().ok_or_else(|| {
            self.unsupported(&format!("{:?} to {:?}", conversion.from, conversion.to))
        })?;
        let code = code.map_or(0, |code| self.constant(code, Class::Narrow));
        self.alu(exec, d, &[a, 0, code]);
        Ok(())
    }

    /// `cvt.rn.f16x2.f32 d, a, b`: a becomes the upper half.
    fn packed_conversion(&mut self, conversion: Conversion) -> Result<bool, PtxError> {
        let to = if conversion.to == Type::F16x2 {
            Type::F16
        } else {
            Type::BF16
        };
        let single = Conversion { to, ..conversion };
        let d = self.destination(0, Type::B32)?;
        let a = self.source(1, conversion.from)?;
        let b = self.source(2, conversion.from)?;
        let (high, low) = (self.temporary(Class::Narrow), self.temporary(Class::Narrow));
        self.convert(single, high, a)?;
        self.convert(single, low, b)?;
        let pack = bits::pack(16, Class::Narrow).ok_or_else(|| self.unsupported("packing"))?;
        self.alu(pack, d, &[low, high]);
        Ok(true)
    }
}
