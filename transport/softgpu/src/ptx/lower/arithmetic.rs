//! Integer and bit instructions.

use super::super::alu::{Exec, bits, integer};
use super::super::ast::Instruction;
use super::super::error::PtxError;
use super::super::types::{Class, Type};
use super::{Lower, Modifiers};

impl<'m> Lower<'m> {
    /// False: not one of these, or of another type.
    pub(super) fn arithmetic(
        &mut self,
        instruction: &'m Instruction,
        modifiers: &mut Modifiers<'_>,
    ) -> Result<bool, PtxError> {
        let opcode = instruction.opcode.as_str();
        let types: Vec<Type> = modifiers
            .0
            .iter()
            .filter_map(|word| Type::parse(word))
            .collect();
        let Some(&ty) = types.first() else {
            return if opcode == "prmt" || opcode == "lop3" {
                self.bits(instruction, modifiers, Type::B32)
            } else {
                Ok(false)
            };
        };
        if ty.is_float() {
            return Ok(false);
        }
        let wide = matches!(opcode, "mul" | "mad") && modifiers.0.contains(&"wide");
        let (exec, sources): (Option<Exec>, &[Type]) = match opcode {
            "add" | "sub" if modifiers.take("cc") => {
                self.carrying(instruction, ty, opcode == "sub", false, true)?;
                modifiers.ty();
                return Ok(true);
            }
            "addc" | "subc" => {
                let out = modifiers.take("cc");
                self.carrying(instruction, ty, opcode == "subc", true, out)?;
                modifiers.ty();
                return Ok(true);
            }
            "mad" | "madc" if opcode == "madc" || modifiers.0.contains(&"cc") => {
                self.carrying_product(instruction, modifiers, ty)?;
                return Ok(true);
            }
            "add" => (integer::add(ty, modifiers.take("sat")), &[ty, ty]),
            "sub" => (integer::sub(ty, modifiers.take("sat")), &[ty, ty]),
            "mul" => (
                match modifiers.any(&["lo", "hi", "wide"]) {
                    Some("hi") => integer::mul_hi(ty),
                    Some("wide") => integer::mul_wide(ty),
                    _ => integer::mul_lo(ty),
                },
                &[ty, ty],
            ),
            "mad" => (
                match modifiers.any(&["lo", "hi", "wide"]) {
                    Some("hi") => integer::mad_hi(ty, modifiers.take("sat")),
                    Some("wide") => integer::mad_wide(ty),
                    _ => integer::mad_lo(ty),
                },
                &[ty, ty, if wide { double(ty) } else { ty }],
            ),
            "mul24" => (
                integer::mul24(ty, modifiers.any(&["lo", "hi"]) == Some("hi")),
                &[ty, ty],
            ),
            "mad24" => return self.mad24(instruction, modifiers, ty),
            "div" => (integer::div(ty), &[ty, ty]),
            "rem" => (integer::rem(ty), &[ty, ty]),
            "abs" => (integer::abs(ty), &[ty]),
            "neg" => (integer::neg(ty), &[ty]),
            "min" => (integer::min(ty), &[ty, ty]),
            "max" => (integer::max(ty), &[ty, ty]),
            "sad" => (integer::sad(ty), &[ty, ty, ty]),
            "dp4a" | "dp2a" => {
                let second = types.get(1).copied().unwrap_or(ty);
                modifiers.ty();
                let exec = if opcode == "dp4a" {
                    integer::dp4a(ty, second)
                } else {
                    integer::dp2a(ty, second, modifiers.any(&["lo", "hi"]) == Some("hi"))
                };
                (exec, &[Type::B32, Type::B32, Type::B32])
            }
            _ => return self.bits(instruction, modifiers, ty),
        };
        modifiers.ty();
        let result = match wide {
            true => double(ty),
            false => ty,
        };
        self.finish_simple(instruction, exec, result, sources)
    }

    /// An operation whose result is of type `ty`.
    pub(super) fn finish_simple(
        &mut self,
        instruction: &'m Instruction,
        exec: Option<Exec>,
        ty: Type,
        sources: &[Type],
    ) -> Result<bool, PtxError> {
        let exec = exec.ok_or_else(|| self.unsupported(instruction, &format!("type {ty:?}")))?;
        let d = self.destination(instruction, 0, ty)?;
        let mut slots = [0; 4];
        for (at, (slot, ty)) in slots.iter_mut().zip(sources).enumerate() {
            *slot = self.source(instruction, at + 1, *ty)?;
        }
        self.alu(exec, d, &slots);
        Ok(true)
    }

    fn bits(
        &mut self,
        instruction: &'m Instruction,
        modifiers: &mut Modifiers<'_>,
        ty: Type,
    ) -> Result<bool, PtxError> {
        let amount = Type::U32;
        let logical = matches!(ty, Type::Pred | Type::B16 | Type::B32 | Type::B64);
        let (exec, sources): (Option<Exec>, &[Type]) = match instruction.opcode.as_str() {
            "and" => (logical.then(|| bits::and(ty)), &[ty, ty]),
            "or" => (logical.then(|| bits::or(ty)), &[ty, ty]),
            "xor" => (logical.then(|| bits::xor(ty)), &[ty, ty]),
            "not" => (bits::not(ty), &[ty]),
            "cnot" => (bits::cnot(ty), &[ty]),
            "lop3" => {
                if modifiers.any(&["and", "or"]).is_some() {
                    return Err(self.unsupported(instruction, "lop3 with a predicate"));
                }
                (Some(bits::lop3()), &[ty, ty, ty, ty])
            }
            "shl" => (bits::shl(ty), &[ty, amount]),
            "shr" => (bits::shr(ty), &[ty, amount]),
            "shf" => {
                let left = modifiers.any(&["l", "r"]) == Some("l");
                let wrap = modifiers.any(&["wrap", "clamp"]) == Some("wrap");
                (Some(bits::shf(left, wrap)), &[ty, ty, amount])
            }
            "popc" => (bits::popc(ty), &[ty]),
            "clz" => (bits::clz(ty), &[ty]),
            "brev" => (bits::brev(ty), &[ty]),
            "bfind" => (bits::bfind(ty, modifiers.take("shiftamt")), &[ty]),
            "bfe" => (bits::bfe(ty), &[ty, amount, amount]),
            "bfi" => (bits::bfi(ty), &[ty, ty, amount, amount]),
            "bmsk" => {
                let wrap = modifiers.any(&["wrap", "clamp"]) == Some("wrap");
                (Some(bits::bmsk(wrap)), &[amount, amount])
            }
            "szext" => {
                let wrap = modifiers.any(&["wrap", "clamp"]) == Some("wrap");
                (bits::szext(ty, wrap), &[ty, amount])
            }
            "prmt" => {
                let mode = modifiers.any(&["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"]);
                (
                    bits::prmt(mode.unwrap_or("")),
                    &[Type::B32, Type::B32, Type::B32],
                )
            }
            _ => return Ok(false),
        };
        modifiers.ty();
        let result = match instruction.opcode.as_str() {
            "popc" | "clz" | "bfind" => Type::U32,
            _ => ty,
        };
        self.finish_simple(instruction, exec, result, sources)
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
        instruction: &'m Instruction,
        ty: Type,
        subtract: bool,
        input: bool,
        output: bool,
    ) -> Result<(), PtxError> {
        let exec = integer::with_carry(ty, subtract, input, output)
            .ok_or_else(|| self.unsupported(instruction, &format!("type {ty:?}")))?;
        let d = self.destination(instruction, 0, ty)?;
        let a = self.source(instruction, 1, ty)?;
        let b = self.source(instruction, 2, ty)?;
        let carry = self.carry_slot();
        self.alu(exec, d, &[a, b, 0, carry]);
        Ok(())
    }

    /// mad.cc and madc: the product, then an addition that carries.
    fn carrying_product(
        &mut self,
        instruction: &'m Instruction,
        modifiers: &mut Modifiers<'_>,
        ty: Type,
    ) -> Result<(), PtxError> {
        let input = instruction.opcode == "madc";
        let output = modifiers.take("cc");
        let product = match modifiers.any(&["lo", "hi"]) {
            Some("hi") => integer::mul_hi(ty),
            _ => integer::mul_lo(ty),
        };
        modifiers.ty();
        let sum = integer::with_carry(ty, false, input, output);
        let (Some(product), Some(sum)) = (product, sum) else {
            return Err(self.unsupported(instruction, &format!("type {ty:?}")));
        };
        let d = self.destination(instruction, 0, ty)?;
        let a = self.source(instruction, 1, ty)?;
        let b = self.source(instruction, 2, ty)?;
        let c = self.source(instruction, 3, ty)?;
        let (carry, part) = (self.carry_slot(), self.temporary(ty.class()));
        self.alu(product, part, &[a, b]);
        self.alu(sum, d, &[part, c, 0, carry]);
        Ok(())
    }

    fn mad24(
        &mut self,
        instruction: &'m Instruction,
        modifiers: &mut Modifiers<'_>,
        ty: Type,
    ) -> Result<bool, PtxError> {
        let high = modifiers.any(&["lo", "hi"]) == Some("hi");
        let saturate = modifiers.take("sat");
        modifiers.ty();
        let (Some(product), Some(sum)) = (integer::mul24(ty, high), integer::add(ty, saturate))
        else {
            return Err(self.unsupported(instruction, &format!("type {ty:?}")));
        };
        let d = self.destination(instruction, 0, ty)?;
        let a = self.source(instruction, 1, ty)?;
        let b = self.source(instruction, 2, ty)?;
        let c = self.source(instruction, 3, ty)?;
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
