//! Integer and bit instructions.

use super::super::alu::{Exec, bits, integer};
use super::super::error::PtxError;
use super::super::types::{Class, Type};
use super::Lower;

impl Lower<'_> {
    /// False: not one of these, or of another type.
    pub(super) fn arithmetic(&mut self) -> Result<bool, PtxError> {
        let opcode = self.instruction.opcode.as_str();
        let types: Vec<Type> = self
            .modifiers
            .0
            .iter()
            .filter_map(|word| Type::parse(word))
            .collect();
        let Some(&ty) = types.first() else {
            return if opcode == "prmt" || opcode == "lop3" {
                self.bits(Type::B32)
            } else {
                Ok(false)
            };
        };
        if ty.is_float() {
            return Ok(false);
        }
        let wide = matches!(opcode, "mul" | "mad") && self.modifiers.0.contains(&"wide");
        let (exec, sources): (Option<Exec>, &[Type]) = match opcode {
            "add" | "sub" if self.modifiers.take("cc") => {
                self.carrying(ty, opcode == "sub", false, true)?;
                self.modifiers.ty();
                return Ok(true);
            }
            "addc" | "subc" => {
                let out = self.modifiers.take("cc");
                self.carrying(ty, opcode == "subc", true, out)?;
                self.modifiers.ty();
                return Ok(true);
            }
            "mad" | "madc" if opcode == "madc" || self.modifiers.0.contains(&"cc") => {
                self.carrying_product(ty)?;
                return Ok(true);
            }
            "add" => (integer::add(ty, self.modifiers.take("sat")), &[ty, ty]),
            "sub" => (integer::sub(ty, self.modifiers.take("sat")), &[ty, ty]),
            "mul" => (
                match self.modifiers.any(&["lo", "hi", "wide"]) {
                    Some("hi") => integer::mul_hi(ty),
                    Some("wide") => integer::mul_wide(ty),
                    _ => integer::mul_lo(ty),
                },
                &[ty, ty],
            ),
            "mad" => (
                match self.modifiers.any(&["lo", "hi", "wide"]) {
                    Some("hi") => integer::mad_hi(ty, self.modifiers.take("sat")),
                    Some("wide") => integer::mad_wide(ty),
                    _ => integer::mad_lo(ty),
                },
                &[ty, ty, if wide { double(ty) } else { ty }],
            ),
            "mul24" => (
                integer::mul24(ty, self.modifiers.any(&["lo", "hi"]) == Some("hi")),
                &[ty, ty],
            ),
            "mad24" => return self.mad24(ty),
            "div" => (integer::div(ty), &[ty, ty]),
            "rem" => (integer::rem(ty), &[ty, ty]),
            "abs" => (integer::abs(ty), &[ty]),
            "neg" => (integer::neg(ty), &[ty]),
            "min" => (integer::min(ty), &[ty, ty]),
            "max" => (integer::max(ty), &[ty, ty]),
            "sad" => (integer::sad(ty), &[ty, ty, ty]),
            "dp4a" | "dp2a" => {
                let second = types.get(1).copied().unwrap_or(ty);
                self.modifiers.ty();
                let exec = if opcode == "dp4a" {
                    integer::dp4a(ty, second)
                } else {
                    integer::dp2a(ty, second, self.modifiers.any(&["lo", "hi"]) == Some("hi"))
                };
                (exec, &[Type::B32, Type::B32, Type::B32])
            }
            _ => return self.bits(ty),
        };
        self.modifiers.ty();
        let result = match wide {
            true => double(ty),
            false => ty,
        };
        self.finish_simple(exec, result, sources)
    }

    /// An operation whose result is of type `ty`.
    pub(super) fn finish_simple(
        &mut self,
        exec: Option<Exec>,
        ty: Type,
        sources: &[Type],
    ) -> Result<bool, PtxError> {
        let exec = exec.ok_or_else(|| self.unsupported(&format!("type {ty:?}")))?;
        let d = self.destination(0, ty)?;
        let mut slots = [0; 4];
        for (at, (slot, ty)) in slots.iter_mut().zip(sources).enumerate() {
            *slot = self.source(at + 1, *ty)?;
        }
        self.alu(exec, d, &slots);
        Ok(true)
    }

    fn bits(&mut self, ty: Type) -> Result<bool, PtxError> {
        let amount = Type::U32;
        let logical = matches!(ty, Type::Pred | Type::B16 | Type::B32 | Type::B64);
        let (exec, sources): (Option<Exec>, &[Type]) = match self.instruction.opcode.as_str() {
            "and" => (logical.then(|| bits::and(ty)), &[ty, ty]),
            "or" => (logical.then(|| bits::or(ty)), &[ty, ty]),
            "xor" => (logical.then(|| bits::xor(ty)), &[ty, ty]),
            "not" => (bits::not(ty), &[ty]),
            "cnot" => (bits::cnot(ty), &[ty]),
            "lop3" => {
                if self.modifiers.any(&["and", "or"]).is_some() {
                    return Err(self.unsupported("lop3 with a predicate"));
                }
                (Some(bits::lop3()), &[ty, ty, ty, ty])
            }
            "shl" => (bits::shl(ty), &[ty, amount]),
            "shr" => (bits::shr(ty), &[ty, amount]),
            "shf" => {
                let left = self.modifiers.any(&["l", "r"]) == Some("l");
                let wrap = self.modifiers.any(&["wrap", "clamp"]) == Some("wrap");
                (Some(bits::shf(left, wrap)), &[ty, ty, amount])
            }
            "popc" => (bits::popc(ty), &[ty]),
            "clz" => (bits::clz(ty), &[ty]),
            "brev" => (bits::brev(ty), &[ty]),
            "bfind" => (bits::bfind(ty, self.modifiers.take("shiftamt")), &[ty]),
            "bfe" => (bits::bfe(ty), &[ty, amount, amount]),
            "bfi" => (bits::bfi(ty), &[ty, ty, amount, amount]),
            "bmsk" => {
                let wrap = self.modifiers.any(&["wrap", "clamp"]) == Some("wrap");
                (Some(bits::bmsk(wrap)), &[amount, amount])
            }
            "szext" => {
                let wrap = self.modifiers.any(&["wrap", "clamp"]) == Some("wrap");
                (bits::szext(ty, wrap), &[ty, amount])
            }
            "prmt" => {
                let mode = self
                    .modifiers
                    .any(&["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"]);
                (
                    bits::prmt(mode.unwrap_or("")),
                    &[Type::B32, Type::B32, Type::B32],
                )
            }
            _ => return Ok(false),
        };
        self.modifiers.ty();
        let result = match self.instruction.opcode.as_str() {
            "popc" | "clz" | "bfind" => Type::U32,
            _ => ty,
        };
        self.finish_simple(exec, result, sources)
    }

    fn carry_slot(&mut self) -> u32 {
        match self.carry {
            Some(slot) => slot,
            None => {
                let slot = self.temporary(Class::Pred);
                self.carry = Some(slot);
                slot
            }
        }
    }

    fn carrying(
        &mut self,
        ty: Type,
        subtract: bool,
        input: bool,
        output: bool,
    ) -> Result<(), PtxError> {
        let exec = integer::with_carry(ty, subtract, input, output)
            .ok_or_else(|| self.unsupported(&format!("type {ty:?}")))?;
        let d = self.destination(0, ty)?;
        let a = self.source(1, ty)?;
        let b = self.source(2, ty)?;
        let carry = self.carry_slot();
        self.alu(exec, d, &[a, b, 0, carry]);
        Ok(())
    }

    /// mad.cc and madc: the product, then an addition that carries.
    fn carrying_product(&mut self, ty: Type) -> Result<(), PtxError> {
        let input = self.instruction.opcode == "madc";
        let output = self.modifiers.take("cc");
        let product = match self.modifiers.any(&["lo", "hi"]) {
            Some("hi") => integer::mul_hi(ty),
            _ => integer::mul_lo(ty),
        };
        self.modifiers.ty();
        let sum = integer::with_carry(ty, false, input, output);
        let (Some(product), Some(sum)) = (product, sum) else {
            return Err(self.unsupported(&format!("type {ty:?}")));
        };
        let d = self.destination(0, ty)?;
        let a = self.source(1, ty)?;
        let b = self.source(2, ty)?;
        let c = self.source(3, ty)?;
        let (carry, part) = (self.carry_slot(), self.temporary(ty.class()));
        self.alu(product, part, &[a, b]);
        self.alu(sum, d, &[part, c, 0, carry]);
        Ok(())
    }

    fn mad24(&mut self, ty: Type) -> Result<bool, PtxError> {
        let high = self.modifiers.any(&["lo", "hi"]) == Some("hi");
        let saturate = self.modifiers.take("sat");
        self.modifiers.ty();
        let (Some(product), Some(sum)) = (integer::mul24(ty, high), integer::add(ty, saturate))
        else {
            return Err(self.unsupported(&format!("type {ty:?}")));
        };
        let d = self.destination(0, ty)?;
        let a = self.source(1, ty)?;
        let b = self.source(2, ty)?;
        let c = self.source(3, ty)?;
        let part = self.temporary(ty.class());
        self.alu(product, part, &[a, b]);
        self.alu(sum, d, &[part, c]);
        Ok(true)
    }
}

/// The type of a product of twice the width.
fn double(ty: Type) -> Type {
    match ty {
        Type::U16 => Type::U32,
        Type::S16 => Type::S32,
        Type::U32 => Type::U64,
        Type::S32 => Type::S64,
        other => other,
    }
}
