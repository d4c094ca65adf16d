//! Operands into slots: registers, constants, special registers, addresses of symbols.

use super::super::alu::{Operands, bits};
use super::super::ast::{Instruction, Operand};
use super::super::error::PtxError;
use super::super::program::{ClockKind, Op, RESERVED_SHARED, Special};
use super::super::types::{Type, window};
use super::scope::Declared;
use super::{CONSTANT, Lower, SPECIAL};

impl<'m> Lower<'m> {
    /// Operand `at`; an error if there are fewer.
    pub(crate) fn operand(
        &self,
        instruction: &'m Instruction,
        at: usize,
    ) -> Result<&'m Operand, PtxError> {
        instruction.operands.get(at).ok_or_else(|| {
            PtxError::syntax(
                instruction.line,
                format!("`{}` has too few operands", instruction.mnemonic()),
            )
        })
    }

    pub(crate) fn temporary(&mut self) -> u32 {
        self.scopes.slot()
    }

    pub(crate) fn constant(&mut self, value: u64) -> u32 {
        let next = CONSTANT + self.constants.len() as u32;
        *self.constants.entry(value).or_insert(next)
    }

    pub(crate) fn special(&mut self, special: Special) -> u32 {
        let next = SPECIAL + self.specials.len() as u32;
        *self.specials.entry(special).or_insert(next)
    }

    pub(super) fn register_named(&mut self, name: &str) -> Result<u32, PtxError> {
        match self.scopes.find(name) {
            Some(Declared::Register(slot)) => Ok(slot),
            _ => Err(self.undeclared(name)),
        }
    }

    /// The slot of destination `at`; `_` is a slot that nobody reads.
    pub(crate) fn destination(
        &mut self,
        instruction: &'m Instruction,
        at: usize,
    ) -> Result<u32, PtxError> {
        let operand = self.operand(instruction, at)?;
        self.destination_of(operand)
    }

    pub(crate) fn destination_of(&mut self, operand: &Operand) -> Result<u32, PtxError> {
        match operand {
            Operand::Name(name) if name == "_" => Ok(self.temporary()),
            Operand::Name(name) => self.register_named(name),
            _ => Err(PtxError::syntax(
                self.line,
                "the destination must be a register",
            )),
        }
    }

    /// The slot of source `at`, read as `ty`.
    pub(crate) fn source(
        &mut self,
        instruction: &'m Instruction,
        at: usize,
        ty: Type,
    ) -> Result<u32, PtxError> {
        let operand = self.operand(instruction, at)?;
        self.source_of(operand, ty)
    }

    pub(crate) fn source_of(&mut self, operand: &Operand, ty: Type) -> Result<u32, PtxError> {
        Ok(match operand {
            Operand::Int(value) => self.constant(*value),
            Operand::F32(bits) => self.constant(match ty {
                Type::F64 => f64::from(f32::from_bits(*bits)).to_bits(),
                _ => u64::from(*bits),
            }),
            Operand::F64(bits) => self.constant(match ty {
                Type::F32 => u64::from((f64::from_bits(*bits) as f32).to_bits()),
                _ => *bits,
            }),
            Operand::Name(name) => self.name(name, 0)?,
            Operand::Sum(name, addend) => self.name(name, *addend)?,
            Operand::Not(name) => {
                let slot = self.register_named(name)?;
                let d = self.temporary();
                let exec = bits::not(Type::Pred)
                    .ok_or_else(|| PtxError::syntax(self.line, "`!` of no predicate"))?;
                self.alu(exec, d, &[slot]);
                d
            }
            Operand::Vector(parts) => self.packed(parts, ty)?,
            _ => {
                return Err(PtxError::syntax(
                    self.line,
                    "this operand cannot be read here",
                ));
            }
        })
    }

    /// A register, special register, or the address of a symbol.
    fn name(&mut self, name: &str, addend: i64) -> Result<u32, PtxError> {
        let addend = addend as u64;
        match self.scopes.find(name) {
            Some(Declared::Register(slot)) if addend == 0 => return Ok(slot),
            Some(Declared::Register(_)) => {
                return Err(PtxError::syntax(
                    self.line,
                    "a register plus a number is an address",
                ));
            }
            Some(Declared::Local(offset)) => {
                let base = self.special(Special::Frame);
                let offset = self.constant(u64::from(offset).wrapping_add(addend));
                let d = self.temporary();
                self.alu(bits::offset(), d, &[base, offset]);
                return Ok(d);
            }
            None => {}
        }
        if let Some(special) = Special::parse(name) {
            return Ok(self.special(special));
        }
        if let Some(clock) = clock(name) {
            let d = self.temporary();
            self.emit(
                Op::Clock(clock),
                Operands {
                    d,
                    ..Operands::default()
                },
            );
            return Ok(d);
        }
        match name {
            "WARP_SZ" => return Ok(self.constant(32)),
            "%reserved_smem_offset_cap" => return Ok(self.constant(RESERVED_SHARED.into())),
            "%is_explicit_cluster" => return Ok(self.constant(0)),
            _ => {}
        }
        if let Some(rest) = name.strip_prefix("%cluster_") {
            let value = u64::from(rest.starts_with("nctaid") || rest.starts_with("nctarank"));
            return Ok(self.constant(value));
        }
        if let Some(offset) = self.entry_params.get(name) {
            // Outside of ld.param the address of a parameter is generic.
            let value = (window::PARAM | offset).wrapping_add(addend);
            return Ok(self.constant(value));
        }
        let address = self.symbol(name).ok_or_else(|| self.undeclared(name))?;
        Ok(self.constant(address.wrapping_add(addend)))
    }

    /// The address of a symbol within its own space.
    pub(super) fn symbol(&self, name: &str) -> Option<u64> {
        self.shared
            .get(&format!("{}/{name}", self.function.name))
            .or_else(|| self.shared.get(name))
            .copied()
            .or_else(|| self.env.address(name))
    }
}

fn clock(name: &str) -> Option<ClockKind> {
    Some(match name {
        "%clock" => ClockKind::Low,
        "%clock_hi" => ClockKind::High,
        "%clock64" => ClockKind::Wide,
        "%globaltimer" => ClockKind::Global,
        "%globaltimer_lo" => ClockKind::GlobalLow,
        "%globaltimer_hi" => ClockKind::GlobalHigh,
        _ => return None,
    })
}
