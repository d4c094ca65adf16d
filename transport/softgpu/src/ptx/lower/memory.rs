//! Loads, stores, atomics, conversions of addresses.

use super::super::alu::bits;
use super::super::ast::{Base, Instruction, Operand};
use super::super::error::PtxError;
use super::super::exec::atomic;
use super::super::module::layout;
use super::super::program::{Access, AtomicAccess, Element, NONE, Op, Place, Special};
use super::super::types::{Class, Space, Type, window};
use super::scope::Declared;
use super::{Lower, Modifiers};

/// An address: slot and class of the base, offset, and where it leads.
struct Address {
    base: u32,
    class: Class,
    /// The base is a constant.
    fixed: bool,
    offset: u64,
    place: Place,
}

fn element(ty: Type) -> Option<Element> {
    Some(match ty {
        Type::B8 | Type::U8 => Element::U8,
        Type::S8 => Element::S8,
        Type::B16 | Type::U16 | Type::F16 | Type::BF16 => Element::U16,
        Type::S16 => Element::S16,
        Type::B32 | Type::U32 | Type::F32 | Type::F16x2 | Type::BF16x2 => Element::U32,
        Type::S32 => Element::S32,
        Type::B64 | Type::U64 | Type::S64 | Type::F64 => Element::U64,
        Type::B128 | Type::Pred | Type::TexRef | Type::SurfRef => return None,
    })
}

impl<'m> Lower<'m> {
    pub(super) fn memory(
        &mut self,
        instruction: &'m Instruction,
        modifiers: &mut Modifiers<'_>,
    ) -> Result<bool, PtxError> {
        match instruction.opcode.as_str() {
            "ld" | "ldu" => self.load(instruction, modifiers)?,
            "st" => self.store(instruction, modifiers)?,
            "atom" => self.atomic(instruction, modifiers, true)?,
            "red" => self.atomic(instruction, modifiers, false)?,
            "cvta" => self.cvta(instruction, modifiers)?,
            "isspacep" => self.isspacep(instruction, modifiers)?,
            "cp" => self.copy(instruction, modifiers)?,
            "membar" | "fence" => {
                modifiers.0.clear();
                self.emit(Op::Fence, [0; 5]);
            }
            // Advice to caches.
            "prefetch" | "prefetchu" | "applypriority" | "discard" => modifiers.0.clear(),
            "createpolicy" => {
                modifiers.0.clear();
                let d = self.destination(instruction, 0, Type::B64)?;
                let none = self.constant(0, Class::Wide);
                self.alu(bits::copy(Class::Wide), d, &[none]);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn address(&mut self, operand: &Operand, space: Space) -> Result<Address, PtxError> {
        let Operand::Memory { base, offset } = operand else {
            return Err(PtxError::syntax(
                self.line,
                "an address in brackets is expected",
            ));
        };
        let mut place = match space {
            Space::Generic => Place::Generic,
            Space::Global | Space::Const => Place::Global,
            Space::Shared => Place::Shared,
            Space::Local => Place::Local,
            Space::Param => {
                if self.function.entry {
                    Place::Param
                } else {
                    Place::Local
                }
            }
        };
        let mut offset = *offset as u64;
        let (mut class, mut fixed) = (Class::Wide, true);
        let base = match base {
            Base::Absolute => self.constant(0, class),
            Base::Name(name) => match self.scopes.find(name) {
                Some(Declared::Register(_, Class::Pred)) => {
                    return Err(PtxError::syntax(self.line, "a predicate is no address"));
                }
                Some(Declared::Register(slot, of)) => {
                    (class, fixed) = (of, false);
                    slot
                }
                Some(Declared::Local(start)) => {
                    place = Place::Local;
                    offset = offset.wrapping_add(u64::from(start));
                    fixed = false;
                    self.special(Special::Frame, class)
                }
                None if space == Space::Param => {
                    let start = self
                        .entry_params
                        .get(name)
                        .ok_or_else(|| self.undeclared(name))?;
                    offset = offset.wrapping_add(*start);
                    self.constant(0, class)
                }
                None => {
                    let start = self.symbol(name).ok_or_else(|| self.undeclared(name))?;
                    offset = offset.wrapping_add(start);
                    self.constant(0, class)
                }
            },
        };
        Ok(Address {
            base,
            class,
            fixed,
            offset,
            place,
        })
    }

    /// An ld or st but for its registers: the access, the slot of the address's base, the type, and the operands that are
    /// loaded or stored. The address is operand `at`.
    fn access(
        &mut self,
        instruction: &'m Instruction,
        modifiers: &mut Modifiers<'_>,
        at: usize,
    ) -> Result<(Access, u32, Type, &'m [Operand]), PtxError> {
        modifiers.drop_hints();
        let space = modifiers.space().unwrap_or(Space::Generic);
        let count = match modifiers.any(&["v2", "v4", "v8"]) {
            Some("v2") => 2,
            Some("v4") => 4,
            Some(_) => 8,
            None => 1,
        };
        // Relaxed ones of different blocks are no race either: each is an atomic.
        let orders = ["acquire", "release", "relaxed", "volatile", "mmio"];
        let ordered = modifiers.any(&orders).is_some();
        modifiers.any(&["cta", "cluster", "gpu", "sys"]);
        modifiers.take("unified");
        modifiers.take("mmio");
        let ty = modifiers
            .ty()
            .ok_or_else(|| self.unsupported(instruction, "no type"))?;
        let element = element(ty)
            .ok_or_else(|| self.unsupported(instruction, &format!("memory of type {ty:?}")))?;
        let address = self.address(self.operand(instruction, at)?, space)?;
        let parts = self.parts_of(instruction, 1 - at)?;
        if parts.len() != count as usize {
            return Err(self.unsupported(instruction, "as many registers as elements are needed"));
        }
        let access = Access {
            place: address.place,
            element,
            count,
            slots: [NONE; 8],
            offset: address.offset,
            base: address.class,
            fixed: address.fixed,
            ordered,
        };
        Ok((access, address.base, ty, parts))
    }

    fn load(
        &mut self,
        instruction: &'m Instruction,
        modifiers: &mut Modifiers<'_>,
    ) -> Result<(), PtxError> {
        let (mut access, base, ty, parts) = self.access(instruction, modifiers, 1)?;
        for (slot, part) in access.slots.iter_mut().zip(parts) {
            if !matches!(part, Operand::Name(name) if name == "_") {
                *slot = self.destination_of(part, ty)?;
            }
        }
        let Access {
            element,
            count,
            slots,
            offset,
            ..
        } = access;
        let of_param = access.place == Place::Param && access.fixed;
        if of_param && self.is_param(offset, element.size() * count) {
            // Nobody writes them while the kernel runs: they stand in registers from its start on.
            for (part, slot) in (0..count).zip(slots).filter(|(_, slot)| *slot != NONE) {
                let at = offset as u32 + part * element.size();
                let a = self.special(Special::Param(at, element), ty.class());
                self.alu(bits::copy(ty.class()), slot, &[a]);
            }
            return Ok(());
        }
        self.emit(Op::Load(Box::new(access)), [0, base, 0, 0, 0]);
        Ok(())
    }

    /// Whether an access of `len` bytes lies in the parameters of the kernel, and is aligned.
    fn is_param(&self, offset: u64, len: u32) -> bool {
        let (_, size) = layout(self.function);
        let end = offset.checked_add(u64::from(len));
        end.is_some_and(|end| end <= size as u64) && offset.is_multiple_of(u64::from(len))
    }

    fn store(
        &mut self,
        instruction: &'m Instruction,
        modifiers: &mut Modifiers<'_>,
    ) -> Result<(), PtxError> {
        let (mut access, base, ty, parts) = self.access(instruction, modifiers, 0)?;
        if access.place == Place::Param {
            return Err(self.unsupported(instruction, "kernels cannot write their parameters"));
        }
        for (slot, part) in access.slots.iter_mut().zip(parts) {
            *slot = self.source_of(part, ty)?;
        }
        self.emit(Op::Store(Box::new(access)), [0, base, 0, 0, 0]);
        Ok(())
    }

    fn atomic(
        &mut self,
        instruction: &'m Instruction,
        modifiers: &mut Modifiers<'_>,
        returns: bool,
    ) -> Result<(), PtxError> {
        modifiers.drop_hints();
        modifiers.any(&["relaxed", "acquire", "release", "acq_rel"]);
        modifiers.any(&["cta", "cluster", "gpu", "sys"]);
        let space = modifiers.space().unwrap_or(Space::Generic);
        let op = modifiers
            .any(&[
                "exch", "cas", "add", "inc", "dec", "min", "max", "and", "or", "xor",
            ])
            .ok_or_else(|| self.unsupported(instruction, "this operation"))?;
        let ty = modifiers
            .ty()
            .ok_or_else(|| self.unsupported(instruction, "no type"))?;
        let unknown = || self.unsupported(instruction, &format!("{op} of {ty:?}"));
        let update = atomic::update(op, ty).ok_or_else(unknown)?;
        let update_global = atomic::update_global(op, ty).ok_or_else(unknown)?;
        let element = element(ty)
            .filter(|element| element.size() >= 2)
            .ok_or_else(unknown)?;
        let at = usize::from(returns);
        let Address {
            base,
            class,
            offset,
            place,
            ..
        } = self.address(self.operand(instruction, at)?, space)?;
        let d = if returns && !is_sink(instruction) {
            self.destination(instruction, 0, ty)?
        } else {
            NONE
        };
        let b = self.source(instruction, at + 1, ty)?;
        let c = if op == "cas" {
            self.source(instruction, at + 2, ty)?
        } else {
            0
        };
        let access = AtomicAccess {
            place,
            element,
            offset,
            base: class,
            update,
            update_global,
            adds: op == "add" && !ty.is_float(),
        };
        self.emit(Op::Atomic(Box::new(access)), [d, base, b, c, 0]);
        Ok(())
    }

    fn cvta(
        &mut self,
        instruction: &'m Instruction,
        modifiers: &mut Modifiers<'_>,
    ) -> Result<(), PtxError> {
        let to = modifiers.take("to");
        let space = modifiers.space().unwrap_or(Space::Global);
        modifiers.ty();
        let d = self.destination(instruction, 0, Type::U64)?;
        let a = self.source(instruction, 1, Type::U64)?;
        let base = match space {
            Space::Shared => window::SHARED,
            Space::Local => window::LOCAL,
            // The address of a parameter is generic already; ld.param takes both forms.
            _ => 0,
        };
        if to {
            let mask = self.constant(!base, Class::Wide);
            self.alu(bits::and(Type::B64), d, &[a, mask]);
        } else {
            let base = self.constant(base, Class::Wide);
            self.alu(bits::or(Type::B64), d, &[a, base]);
        }
        Ok(())
    }

    fn isspacep(
        &mut self,
        instruction: &'m Instruction,
        modifiers: &mut Modifiers<'_>,
    ) -> Result<(), PtxError> {
        let space = modifiers.space().unwrap_or(Space::Global);
        let d = self.destination(instruction, 0, Type::Pred)?;
        let a = self.source(instruction, 1, Type::U64)?;
        let wanted = match space {
            Space::Shared => window::SHARED,
            Space::Local => window::LOCAL,
            Space::Param => window::PARAM,
            _ => 0,
        };
        let wanted = self.constant(wanted, Class::Wide);
        self.alu(
            super::super::alu::lanes!(|a: u64, b: u64| a & window::MASK == b),
            d,
            &[a, wanted],
        );
        Ok(())
    }

    /// cp.async: carried out at once, so that waiting for it is nothing.
    fn copy(
        &mut self,
        instruction: &'m Instruction,
        modifiers: &mut Modifiers<'_>,
    ) -> Result<(), PtxError> {
        if !modifiers.take("async")
            || modifiers.0.contains(&"bulk")
            || modifiers.0.contains(&"mbarrier")
        {
            return Err(self.unsupported(instruction, "only cp.async without mbarrier"));
        }
        if modifiers
            .any(&["commit_group", "wait_group", "wait_all"])
            .is_some()
        {
            return Ok(());
        }
        // The policy of the cache comes last.
        let hinted = modifiers.0.contains(&"L2::cache_hint");
        let operands = instruction.operands.len().saturating_sub(hinted.into());
        modifiers.drop_hints();
        if modifiers.space() != Some(Space::Shared) || modifiers.space() != Some(Space::Global) {
            return Err(self.unsupported(instruction, "only from global to shared memory"));
        }
        let to = self.address(self.operand(instruction, 0)?, Space::Shared)?;
        let from = self.address(self.operand(instruction, 1)?, Space::Global)?;
        let sum = |this: &mut Self, address: Address| {
            let base = this.fit(address.base, (address.class, Class::Wide), false)?;
            let offset = this.constant(address.offset, Class::Wide);
            let d = this.temporary(Class::Wide);
            this.alu(bits::offset(), d, &[base, offset]);
            Ok::<_, PtxError>(d)
        };
        let d = sum(self, to)?;
        let a = sum(self, from)?;
        let Operand::Int(size @ (4 | 8 | 16)) = self.operand(instruction, 2)? else {
            return Err(self.unsupported(instruction, "a size other than 4, 8 or 16"));
        };
        let b = self.constant(*size, Class::Narrow);
        let c = match operands {
            4.. => self.source(instruction, 3, Type::U32)?,
            _ => b,
        };
        self.emit(Op::CopyAsync, [d, a, b, c, 0]);
        Ok(())
    }
}

fn is_sink(instruction: &Instruction) -> bool {
    matches!(instruction.operands.first(), Some(Operand::Name(name)) if name == "_")
}
