//! Loads, stores, atomics, conversions of addresses.

use super::super::alu::bits;
use super::super::ast::{Base, Instruction, Operand};
use super::super::error::PtxError;
use super::super::exec::atomic;
use super::super::module::layout;
use super::super::program::{Access, AtomicAccess, Element, NONE, Op, Place, Special};
use super::super::types::{Class, Space, Type, window};
use super::Lower;
use super::scope::Declared;

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
    pub(super) fn memory(&mut self) -> Result<bool, PtxError> {
        match self.instruction.opcode.as_str() {
            "ld" | "ldu" => self.load()?,
            "st" => self.store()?,
            "atom" => self.atomic(true)?,
            "red" => self.atomic(false)?,
            "cvta" => self.cvta()?,
            "isspacep" => self.isspacep()?,
            "cp" => self.copy()?,
            "membar" | "fence" => {
                self.modifiers.0.clear();
                self.emit(Op::Fence, [0; 5]);
            }
            // Advice to caches.
            "prefetch" | "prefetchu" | "applypriority" | "discard" => self.modifiers.0.clear(),
            "createpolicy" => {
                self.modifiers.0.clear();
                let d = self.destination(0, Type::B64)?;
                let none = self.constant(0, Class::Wide);
                self.alu(bits::copy(Class::Wide), d, &[none]);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn address(&mut self, operand: &Operand, space: Space) -> Result<Address, PtxError> {
        let Operand::Memory { base, offset } = operand else {
            return Err(self.wrong("an address in brackets is expected"));
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
                    return Err(self.wrong("a predicate is no address"));
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
    fn access(&mut self, at: usize) -> Result<(Access, u32, Type, &'m [Operand]), PtxError> {
        self.modifiers.drop_hints();
        let space = self.modifiers.space().unwrap_or(Space::Generic);
        let count = match self.modifiers.any(&["v2", "v4", "v8"]) {
            Some("v2") => 2,
            Some("v4") => 4,
            Some(_) => 8,
            None => 1,
        };
        // Relaxed ones of different blocks are no race either: each is an atomic.
        let orders = ["acquire", "release", "relaxed", "volatile", "mmio"];
        let ordered = self.modifiers.any(&orders).is_some();
        self.modifiers.any(&["cta", "cluster", "gpu", "sys"]);
        self.modifiers.take("unified");
        self.modifiers.take("mmio");
        let ty = self.typed()?;
        let element =
            element(ty).ok_or_else(|| self.unsupported(&format!("memory of type {ty:?}")))?;
        let address = self.address(self.operand(at)?, space)?;
        let parts = self.parts_of(1 - at)?;
        if parts.len() != count as usize {
            return Err(self.unsupported("as many registers as elements are needed"));
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

    fn load(&mut self) -> Result<(), PtxError> {
        let (mut access, base, ty, parts) = self.access(1)?;
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

    fn store(&mut self) -> Result<(), PtxError> {
        let (mut access, base, ty, parts) = self.access(0)?;
        if access.place == Place::Param {
            return Err(self.unsupported("kernels cannot write their parameters"));
        }
        for (slot, part) in access.slots.iter_mut().zip(parts) {
            *slot = self.source_of(part, ty)?;
        }
        self.emit(Op::Store(Box::new(access)), [0, base, 0, 0, 0]);
        Ok(())
    }

    fn atomic(&mut self, returns: bool) -> Result<(), PtxError> {
        self.modifiers.drop_hints();
        self.modifiers
            .any(&["relaxed", "acquire", "release", "acq_rel"]);
        self.modifiers.any(&["cta", "cluster", "gpu", "sys"]);
        let space = self.modifiers.space().unwrap_or(Space::Generic);
        let op = self
            .modifiers
            .any(&[
                "exch", "cas", "add", "inc", "dec", "min", "max", "and", "or", "xor",
            ])
            .ok_or_else(|| self.unsupported("this operation"))?;
        let ty = self.typed()?;
        let unknown = || self.unsupported(&format!("{op} of {ty:?}"));
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
        } = self.address(self.operand(at)?, space)?;
        let d = if returns && !is_sink(self.instruction) {
            self.destination(0, ty)?
        } else {
            NONE
        };
        let b = self.source(at + 1, ty)?;
        let c = if op == "cas" {
            self.source(at + 2, ty)?
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

    fn cvta(&mut self) -> Result<(), PtxError> {
        let to = self.modifiers.take("to");
        let space = self.modifiers.space().unwrap_or(Space::Global);
        self.modifiers.ty();
        let d = self.destination(0, Type::U64)?;
        let a = self.source(1, Type::U64)?;
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

    fn isspacep(&mut self) -> Result<(), PtxError> {
        let space = self.modifiers.space().unwrap_or(Space::Global);
        let d = self.destination(0, Type::Pred)?;
        let a = self.source(1, Type::U64)?;
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
    fn copy(&mut self) -> Result<(), PtxError> {
        if !self.modifiers.take("async")
            || self.modifiers.0.contains(&"bulk")
            || self.modifiers.0.contains(&"mbarrier")
        {
            return Err(self.unsupported("only cp.async without mbarrier"));
        }
        if self
            .modifiers
            .any(&["commit_group", "wait_group", "wait_all"])
            .is_some()
        {
            return Ok(());
        }
        // The policy of the cache comes last.
        let hinted = self.modifiers.0.contains(&"L2::cache_hint");
        let operands = self
            .instruction
            .operands
            .len()
            .saturating_sub(hinted.into());
        self.modifiers.drop_hints();
        if self.modifiers.space() != Some(Space::Shared)
            || self.modifiers.space() != Some(Space::Global)
        {
            return Err(self.unsupported("only from global to shared memory"));
        }
        let to = self.address(self.operand(0)?, Space::Shared)?;
        let from = self.address(self.operand(1)?, Space::Global)?;
        let sum = |this: &mut Self, address: Address| {
            let base = this.fit(address.base, (address.class, Class::Wide), false)?;
            let offset = this.constant(address.offset, Class::Wide);
            let d = this.temporary(Class::Wide);
            this.alu(bits::offset(), d, &[base, offset]);
            Ok::<_, PtxError>(d)
        };
        let d = sum(self, to)?;
        let a = sum(self, from)?;
        let Operand::Int(size @ (4 | 8 | 16)) = self.operand(2)? else {
            return Err(self.unsupported("a size other than 4, 8 or 16"));
        };
        let b = self.constant(*size, Class::Narrow);
        let c = match operands {
            4.. => self.source(3, Type::U32)?,
            _ => b,
        };
        self.emit(Op::CopyAsync, [d, a, b, c, 0]);
        Ok(())
    }
}

fn is_sink(instruction: &Instruction) -> bool {
    matches!(instruction.operands.first(), Some(Operand::Name(name)) if name == "_")
}
