//! Instructions of which several lanes take part.

use super::super::ast::Operand;
use super::super::error::PtxError;
use super::super::program::{NONE, Op, Reduce, Shuffle, WarpKind};
use super::super::types::Type;
use super::Lower;

impl Lower<'_> {
    pub(super) fn warp(&mut self) -> Result<bool, PtxError> {
        match self.instruction.opcode.as_str() {
            "activemask" => {
                self.modifiers.ty();
                let d = self.destination(0, Type::B32)?;
                self.emit(Op::ActiveMask, [d, 0, 0, 0, 0]);
            }
            "bar" => {
                self.modifiers.take("warp");
                self.modifiers.take("sync");
                let x = self.source(0, Type::B32)?;
                self.emit(Op::Warp(WarpKind::Sync), [0, NONE, 0, 0, x]);
            }
            "shfl" => self.shuffle()?,
            "vote" => self.vote()?,
            "match" => self.matching()?,
            "redux" => self.reduce()?,
            "elect" => {
                self.modifiers.take("sync");
                let (d, predicate) = self.pair(Type::B32)?;
                let x = self.source(1, Type::B32)?;
                let kind = WarpKind::Elect { predicate };
                self.emit(Op::Warp(kind), [d, NONE, 0, 0, x]);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `d|p` or `d`, which is of type `ty`.
    pub(super) fn pair(&mut self, ty: Type) -> Result<(u32, u32), PtxError> {
        Ok(match self.operand(0)? {
            Operand::Pair(d, p) => {
                let d = self.destination_of(&Operand::Name(d.clone()), ty)?;
                let p = Operand::Name(p.clone());
                (d, self.destination_of(&p, Type::Pred)?)
            }
            single => (self.destination_of(single, ty)?, NONE),
        })
    }

    fn shuffle(&mut self) -> Result<(), PtxError> {
        let sync = self.modifiers.take("sync");
        let mode = match self.modifiers.any(&["up", "down", "bfly", "idx"]) {
            Some("up") => Shuffle::Up,
            Some("down") => Shuffle::Down,
            Some("bfly") => Shuffle::Butterfly,
            Some(_) => Shuffle::Index,
            None => return Err(self.unsupported("no mode")),
        };
        self.modifiers.ty();
        let (d, predicate) = self.pair(Type::B32)?;
        let a = self.source(1, Type::B32)?;
        let b = self.source(2, Type::B32)?;
        let c = self.source(3, Type::B32)?;
        let x = if sync {
            self.source(4, Type::B32)?
        } else {
            NONE
        };
        self.emit(
            Op::Warp(WarpKind::Shuffle { mode, predicate }),
            [d, a, b, c, x],
        );
        Ok(())
    }

    fn vote(&mut self) -> Result<(), PtxError> {
        let sync = self.modifiers.take("sync");
        let kind = match self.modifiers.any(&["all", "any", "uni", "ballot"]) {
            Some("all") => WarpKind::All,
            Some("any") => WarpKind::Any,
            Some("uni") => WarpKind::Uniform,
            Some(_) => WarpKind::Ballot,
            None => return Err(self.unsupported("no mode")),
        };
        let result = match self.modifiers.ty() {
            Some(Type::B32) => Type::B32,
            _ => Type::Pred,
        };
        let d = self.destination(0, result)?;
        let a = self.source(1, Type::Pred)?;
        let x = if sync {
            self.source(2, Type::B32)?
        } else {
            NONE
        };
        self.emit(Op::Warp(kind), [d, a, 0, 0, x]);
        Ok(())
    }

    fn matching(&mut self) -> Result<(), PtxError> {
        let all = self.modifiers.any(&["any", "all"]) == Some("all");
        self.modifiers.take("sync");
        let wide = self.modifiers.ty() == Some(Type::B64);
        let (d, predicate) = self.pair(Type::B32)?;
        let ty = if wide { Type::B64 } else { Type::B32 };
        let a = self.source(1, ty)?;
        let x = self.source(2, Type::B32)?;
        let kind = if all {
            WarpKind::MatchAll { wide, predicate }
        } else {
            WarpKind::MatchAny { wide }
        };
        self.emit(Op::Warp(kind), [d, a, 0, 0, x]);
        Ok(())
    }

    fn reduce(&mut self) -> Result<(), PtxError> {
        self.modifiers.take("sync");
        let op = self
            .modifiers
            .any(&["add", "min", "max", "and", "or", "xor"]);
        let ty = self.modifiers.ty();
        let op = match (op, ty) {
            (Some("add"), Some(Type::U32 | Type::S32)) => Reduce::Add,
            (Some("min"), Some(Type::U32)) => Reduce::MinU,
            (Some("max"), Some(Type::U32)) => Reduce::MaxU,
            (Some("min"), Some(Type::S32)) => Reduce::MinS,
            (Some("max"), Some(Type::S32)) => Reduce::MaxS,
            (Some("and"), Some(Type::B32)) => Reduce::And,
            (Some("or"), Some(Type::B32)) => Reduce::Or,
            (Some("xor"), Some(Type::B32)) => Reduce::Xor,
            _ => return Err(self.unsupported("this reduction")),
        };
        let d = self.destination(0, Type::B32)?;
        let a = self.source(1, Type::B32)?;
        let x = self.source(2, Type::B32)?;
        self.emit(Op::Warp(WarpKind::Reduce(op)), [d, a, 0, 0, x]);
        Ok(())
    }
}
