//! mov, selections and comparisons.

use super::super::alu::convert::Conversion;
use super::super::alu::half::Half;
use super::super::alu::round::Mode;
use super::super::alu::{bits, compare, float};
use super::super::ast::Operand;
use super::super::error::PtxError;
use super::super::program::NONE;
use super::super::types::{Class, Type};
use super::Lower;

const COMPARISONS: [&str; 18] = [
    "eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu",
    "geu", "num", "nan",
];

impl Lower<'_> {
    pub(super) fn movement(&mut self) -> Result<bool, PtxError> {
        match self.instruction.opcode.as_str() {
            "mov" => self.mov()?,
            "selp" => {
                let ty = self.modifiers.ty().unwrap_or(Type::B32);
                let sources = [ty, ty, Type::Pred];
                return self.finish_simple(Some(bits::selp(ty)), ty, &sources);
            }
            "slct" => {
                let ftz = self.modifiers.take("ftz");
                let ty = self.modifiers.ty().unwrap_or(Type::B32);
                let by = self.modifiers.ty().unwrap_or(Type::S32);
                let exec = matches!(by, Type::S32 | Type::F32)
                    .then(|| bits::slct(ty, by == Type::F32, ftz));
                return self.finish_simple(exec, ty, &[ty, ty, by]);
            }
            "setp" | "set" => self.compare()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn mov(&mut self) -> Result<(), PtxError> {
        let ty = self.modifiers.ty().unwrap_or(Type::B32);
        if ty == Type::B128 {
            return Err(self.unsupported("128 bits"));
        }
        let target = self.operand(0)?;
        let Operand::Vector(parts) = target else {
            let d = self.destination(0, ty)?;
            let a = self.source(1, ty)?;
            self.alu(bits::copy(ty.class()), d, &[a]);
            return Ok(());
        };
        let a = self.source(1, ty)?;
        let width =
            part_width(ty, parts.len()).ok_or_else(|| self.unsupported("parts of such a size"))?;
        let exec = bits::unpack(width, ty.class())
            .ok_or_else(|| self.unsupported("parts of such a size"))?;
        let mut slots = Vec::new();
        for part in parts {
            slots.push(self.destination_of(part, part_type(width))?);
        }
        for (at, slot) in slots.into_iter().enumerate() {
            let shift = self.constant(u64::from(width) * at as u64, Class::Narrow);
            self.alu(exec, slot, &[a, shift]);
        }
        Ok(())
    }

    /// `{a, b}` as one value of type `ty`, a in the low bits.
    pub(super) fn packed(&mut self, parts: &[Operand], ty: Type) -> Result<u32, PtxError> {
        let wrong = || self.wrong("parts of such a size cannot be packed");
        let width = part_width(ty, parts.len()).ok_or_else(wrong)?;
        let class = ty.class();
        let exec = bits::pack(width, class).ok_or_else(wrong)?;
        let mut sum = self.constant(0, class);
        for part in parts.iter().rev() {
            let part = self.source_of(part, part_type(width))?;
            let d = self.temporary(class);
            self.alu(exec, d, &[part, sum]);
            sum = d;
        }
        Ok(sum)
    }

    fn compare(&mut self) -> Result<(), PtxError> {
        let op = self
            .modifiers
            .any(&COMPARISONS)
            .ok_or_else(|| self.unsupported("no comparison"))?;
        let joined = self.modifiers.any(&["and", "or", "xor"]);
        let ftz = self.modifiers.take("ftz");
        let spread = if self.instruction.opcode == "set" {
            self.modifiers.ty()
        } else {
            None
        };
        let ty = self.typed()?;
        let (d, inverse) = self.pair(spread.unwrap_or(Type::Pred))?;
        // The second destination must not see a guard that the first has changed.
        let mut a = self.source(1, ty)?;
        let mut b = self.source(2, ty)?;
        let mut compared = ty;
        if let Type::F16 | Type::BF16 = ty {
            compared = Type::F32;
            // Of bf16 the same numbers are subnormal as of f32.
            if ftz && ty == Type::F16 {
                (a, b) = (self.flushed(a), self.flushed(b));
            }
            a = self.widened(ty, a)?;
            b = self.widened(ty, b)?;
        }
        let exec = compare::compare(op, compared, ftz)
            .ok_or_else(|| self.unsupported(&format!("{op} of {ty:?}")))?;
        let joining = match joined {
            Some(op) => {
                let join = match op {
                    "and" => bits::and,
                    "or" => bits::or,
                    _ => bits::xor,
                };
                let c = self.source(3, Type::Pred)?;
                Some((join(Type::Pred), c))
            }
            None => None,
        };
        if joining.is_none() && spread.is_none() && inverse == NONE {
            self.alu(exec, d, &[a, b]);
            return Ok(());
        }
        let result = self.temporary(Class::Pred);
        self.alu(exec, result, &[a, b]);
        let other = self.temporary(Class::Pred);
        if inverse != NONE {
            let not = bits::not(Type::Pred).ok_or_else(|| self.unsupported("two destinations"))?;
            self.alu(not, other, &[result]);
        }
        if let Some((exec, c)) = joining {
            self.alu(exec, result, &[result, c]);
            self.alu(exec, other, &[other, c]);
        }
        let out = match spread {
            Some(ty) => compare::spread(ty)
                .ok_or_else(|| self.unsupported(&format!("a result of {ty:?}")))?,
            None => bits::copy(Class::Pred),
        };
        let guarded = self.guard;
        if inverse != NONE && (guarded.0 == d || guarded.0 == inverse) {
            let saved = self.temporary(Class::Pred);
            self.guard = (NONE, 0);
            self.alu(bits::copy(Class::Pred), saved, &[guarded.0]);
            self.guard = (saved, guarded.1);
        }
        self.alu(out, d, &[result]);
        if inverse != NONE {
            self.alu(out, inverse, &[other]);
        }
        self.guard = guarded;
        Ok(())
    }

    /// An f16, or zero for a subnormal one: adding -0 changes no other.
    fn flushed(&mut self, a: u32) -> u32 {
        let code = float::half_code(0, Half::F16, false, (true, false));
        let code = self.constant(code, Class::Narrow);
        let minus_zero = self.constant(0x8000, Class::Narrow);
        let d = self.temporary(Class::Narrow);
        self.alu(float::halves, d, &[a, minus_zero, 0, code]);
        d
    }

    /// A 16-bit float as f32, exactly.
    fn widened(&mut self, from: Type, a: u32) -> Result<u32, PtxError> {
        let conversion = Conversion {
            from,
            to: Type::F32,
            mode: Mode::Nearest,
            integral: false,
            ftz: false,
            sat: false,
            relu: false,
        };
        let d = self.temporary(Class::Narrow);
        self.convert(conversion, d, a)?;
        Ok(d)
    }
}

fn part_width(ty: Type, parts: usize) -> Option<u32> {
    let bits = ty.size() * 8;
    matches!(parts, 2 | 4)
        .then(|| bits / parts as u32)
        .filter(|width| *width >= 8)
}

/// The type of a part of so many bits.
fn part_type(width: u32) -> Type {
    match width {
        8 => Type::B8,
        16 => Type::B16,
        _ => Type::B32,
    }
}
