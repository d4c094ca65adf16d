//! Operands into slots: registers, constants, special registers, addresses of symbols.

use super::super::alu::bits;
use super::super::ast::Operand;
use super::super::error::PtxError;
use super::super::program::{ClockKind, Op, RESERVED_SHARED, Special};
use super::super::types::{Class, Type, window};
use super::scope::Declared;
use super::{CONSTANT, Lower, SPECIAL, Unsettled};

impl<'m> Lower<'m> {
    /// Operand `at`; an error if there are fewer.
    pub(crate) fn operand(&self, at: usize) -> Result<&'m Operand, PtxError> {
        self.instruction.operands.get(at).ok_or_else(|| {
            PtxError::syntax(
                self.instruction.line,
                format!("`{}` has too few operands", self.instruction.mnemonic()),
            )
        })
    }

    pub(crate) fn temporary(&mut self, class: Class) -> u32 {
        self.scopes.slot(class)
    }

    pub(crate) fn constant(&mut self, value: u64, class: Class) -> u32 {
        let value = match class {
            Class::Pred => value & 1,
            Class::Narrow => value & 0xffff_ffff,
            Class::Wide => value,
        };
        let next = CONSTANT + self.constant_units;
        let slot = *self.constants.entry((value, class)).or_insert(next);
        if slot == next {
            self.constant_units += class.units();
        }
        slot
    }

    pub(crate) fn special(&mut self, special: Special, class: Class) -> u32 {
        let next = SPECIAL + self.special_units;
        let slot = *self.specials.entry((special, class)).or_insert(next);
        if slot == next {
            self.special_units += class.units();
        }
        slot
    }

    pub(super) fn register_named(&mut self, name: &str) -> Result<(u32, Class), PtxError> {
        match self.scopes.find(name) {
            Some(Declared::Register(slot, class)) => Ok((slot, class)),
            _ => Err(self.undeclared(name)),
        }
    }

    /// The slot of a register that is a predicate.
    pub(super) fn predicate_named(&mut self, name: &str) -> Result<u32, PtxError> {
        match self.register_named(name)? {
            (slot, Class::Pred) => Ok(slot),
            _ => Err(self.wrong(format!("`{name}` is no predicate"))),
        }
    }

    /// What is in a register of class `from` as one of class `to`: cut, or extended.
    pub(super) fn fit(
        &mut self,
        slot: u32,
        (from, to): (Class, Class),
        signed: bool,
    ) -> Result<u32, PtxError> {
        if from == to {
            return Ok(slot);
        }
        let d = self.temporary(to);
        self.refit((slot, d), (from, to), signed)?;
        Ok(d)
    }

    fn refit(
        &mut self,
        (slot, d): (u32, u32),
        (from, to): (Class, Class),
        signed: bool,
    ) -> Result<(), PtxError> {
        let exec = match (from, to) {
            (Class::Wide, Class::Narrow) => bits::narrow(),
            (Class::Narrow, Class::Wide) => bits::widen(signed),
            _ => {
                return Err(self.wrong("a predicate and a number stand for each other"));
            }
        };
        self.alu(exec, d, &[slot]);
        Ok(())
    }

    /// The parts of operand `at`: of a vector, or one.
    pub(super) fn parts_of(&self, at: usize) -> Result<&'m [Operand], PtxError> {
        Ok(match self.operand(at)? {
            Operand::Vector(parts) => parts.as_slice(),
            single => std::slice::from_ref(single),
        })
    }

    /// Emits what brings results into registers of another class.
    pub(super) fn settle(&mut self) -> Result<(), PtxError> {
        for Unsettled { from, to, signed } in std::mem::take(&mut self.unsettled) {
            self.refit((from.0, to.0), (from.1, to.1), signed)?;
        }
        Ok(())
    }

    /// The slot of destination `at`, of type `ty`; `_` is a slot that nobody reads.
    pub(crate) fn destination(&mut self, at: usize, ty: Type) -> Result<u32, PtxError> {
        let operand = self.operand(at)?;
        self.destination_of(operand, ty)
    }

    pub(crate) fn destination_of(&mut self, operand: &Operand, ty: Type) -> Result<u32, PtxError> {
        let class = ty.class();
        match operand {
            Operand::Name(name) if name == "_" => Ok(self.temporary(class)),
            Operand::Name(name) => {
                let to = self.register_named(name)?;
                if to.1 == class {
                    return Ok(to.0);
                }
                // The register is wider or narrower than the result.
                let slot = self.temporary(class);
                self.unsettled.push(Unsettled {
                    from: (slot, class),
                    to,
                    signed: ty.is_signed(),
                });
                Ok(slot)
            }
            _ => Err(self.wrong("the destination must be a register")),
        }
    }

    /// The slot of source `at`, read as `ty`.
    pub(crate) fn source(&mut self, at: usize, ty: Type) -> Result<u32, PtxError> {
        let operand = self.operand(at)?;
        self.source_of(operand, ty)
    }

    pub(crate) fn source_of(&mut self, operand: &Operand, ty: Type) -> Result<u32, PtxError> {
        let class = ty.class();
        Ok(match operand {
            Operand::Int(value) => self.constant(*value, class),
            Operand::F32(bits) => {
                let value = match ty {
                    Type::F64 => f64::from(f32::from_bits(*bits)).to_bits(),
                    _ => u64::from(*bits),
                };
                self.constant(value, class)
            }
            Operand::F64(bits) => {
                let value = match ty {
                    Type::F32 => u64::from((f64::from_bits(*bits) as f32).to_bits()),
                    _ => *bits,
                };
                self.constant(value, class)
            }
            Operand::Name(name) => self.name(name, 0, ty)?,
            Operand::Sum(name, addend) => self.name(name, *addend, ty)?,
            Operand::Not(name) => {
                let slot = self.predicate_named(name)?;
                let d = self.temporary(Class::Pred);
                let exec =
                    bits::not(Type::Pred).ok_or_else(|| self.wrong("`!` of no predicate"))?;
                self.alu(exec, d, &[slot]);
                d
            }
            Operand::Vector(parts) => self.packed(parts, ty)?,
            _ => {
                return Err(self.wrong("this operand cannot be read here"));
            }
        })
    }

    /// A register, special register, or the address of a symbol.
    fn name(&mut self, name: &str, addend: i64, ty: Type) -> Result<u32, PtxError> {
        let (addend, class) = (addend as u64, ty.class());
        match self.scopes.find(name) {
            Some(Declared::Register(slot, of)) if addend == 0 => {
                return self.fit(slot, (of, class), ty.is_signed());
            }
            Some(Declared::Register(..)) => {
                return Err(self.wrong("a register plus a number is an address"));
            }
            Some(Declared::Local(offset)) => {
                let base = self.special(Special::Frame, Class::Wide);
                let offset = self.constant(u64::from(offset).wrapping_add(addend), Class::Wide);
                let d = self.temporary(Class::Wide);
                self.alu(bits::offset(), d, &[base, offset]);
                return self.fit(d, (Class::Wide, class), false);
            }
            None => {}
        }
        if let Some(special) = Special::parse(name) {
            return Ok(self.special(special, class));
        }
        if let Some(clock) = clock(name) {
            let d = self.temporary(Class::Wide);
            self.emit(Op::Clock(clock), [d, 0, 0, 0, 0]);
            return self.fit(d, (Class::Wide, class), false);
        }
        match name {
            "WARP_SZ" => return Ok(self.constant(32, class)),
            "%reserved_smem_offset_cap" => return Ok(self.constant(RESERVED_SHARED.into(), class)),
            "%is_explicit_cluster" => return Ok(self.constant(0, class)),
            _ => {}
        }
        if let Some(rest) = name.strip_prefix("%cluster_") {
            let value = u64::from(rest.starts_with("nctaid") || rest.starts_with("nctarank"));
            return Ok(self.constant(value, class));
        }
        if let Some(offset) = self.entry_params.get(name) {
            // Outside of ld.param the address of a parameter is generic.
            let value = (window::PARAM | offset).wrapping_add(addend);
            return Ok(self.constant(value, class));
        }
        let address = self.symbol(name).ok_or_else(|| self.undeclared(name))?;
        Ok(self.constant(address.wrapping_add(addend), class))
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
