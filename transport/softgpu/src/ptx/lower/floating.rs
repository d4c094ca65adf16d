//! Floating-point instructions.

use super::super::alu::half::Half;
use super::super::alu::round::Mode;
use super::super::alu::{Exec, float};
use super::super::error::PtxError;
use super::super::types::{Class, Type};
use super::Lower;

fn arity(op: &str) -> Option<usize> {
    Some(match op {
        "add" | "sub" | "mul" | "div" | "min" | "max" | "copysign" => 2,
        "fma" | "mad" => 3,
        "rcp" | "sqrt" | "rsqrt" | "ex2" | "lg2" | "sin" | "cos" | "tanh" | "neg" | "abs"
        | "testp" => 1,
        _ => return None,
    })
}

impl Lower<'_> {
    pub(super) fn floating(&mut self) -> Result<bool, PtxError> {
        let Some(arity) = arity(&self.instruction.opcode) else {
            return Ok(false);
        };
        let Some(ty) = self.modifiers.0.iter().find_map(|word| Type::parse(word)) else {
            return Ok(false);
        };
        self.modifiers.ty();
        let ftz = self.modifiers.take("ftz");
        let sat = self.modifiers.take("sat");
        let nan = self.modifiers.take("NaN");
        let mode = self
            .modifiers
            .any(&["rn", "rz", "rm", "rp"])
            .and_then(Mode::parse);
        // .approx and .full: the exact function is within their error.
        self.modifiers.any(&["approx", "full"]);
        let mut op = match self.instruction.opcode.as_str() {
            // Without a carry from before sm_20, mad is fma.
            "mad" => "fma".to_owned(),
            other => other.to_owned(),
        };
        if nan {
            op.push_str(".NaN");
        }
        if self.modifiers.take("relu") {
            op.push_str(".relu");
        }
        let wrong = |this: &Self| this.unsupported(&format!("type {ty:?}"));
        let mut code = None;
        let exec: Option<Exec> = match (op.as_str(), ty) {
            ("copysign", Type::F32 | Type::F64) => Some(float::copysign(ty == Type::F64)),
            ("testp", Type::F32 | Type::F64) => {
                let test = self
                    .modifiers
                    .any(&[
                        "finite",
                        "infinite",
                        "number",
                        "notanumber",
                        "normal",
                        "subnormal",
                    ])
                    .unwrap_or_default();
                float::testp(test, ty == Type::F64)
            }
            (_, Type::F32 | Type::F64) if mode.is_some_and(|mode| mode != Mode::Nearest) => {
                let number = float::Rounded::OPS.iter().position(|found| *found == op);
                let number = number.ok_or_else(|| wrong(self))?;
                code = mode.map(|mode| {
                    float::Rounded {
                        op: number as u8,
                        wide: ty == Type::F64,
                        mode,
                        ftz,
                        sat,
                    }
                    .code()
                });
                Some(float::rounded)
            }
            (_, Type::F32) => float::f32_op(&op, ftz, sat),
            (_, Type::F64) if !sat => float::f64_op(&op),
            (_, Type::F16 | Type::F16x2 | Type::BF16 | Type::BF16x2) => {
                let number = float::HALF_OPS.iter().position(|found| *found == op);
                let number = number.ok_or_else(|| wrong(self))?;
                let format = match ty {
                    Type::F16 | Type::F16x2 => Half::F16,
                    _ => Half::Bf16,
                };
                let pair = matches!(ty, Type::F16x2 | Type::BF16x2);
                code = Some(float::half_code(number as u8, format, pair, (ftz, sat)));
                Some(float::halves)
            }
            _ => None,
        };
        let exec = exec.ok_or_else(|| wrong(self))?;
        let result = match op.as_str() {
            "testp" => Type::Pred,
            _ => ty,
        };
        let d = self.destination(0, result)?;
        let mut slots = [0; 4];
        for (at, slot) in slots.iter_mut().enumerate().take(arity) {
            *slot = self.source(at + 1, ty)?;
        }
        if let Some(code) = code {
            slots[3] = self.constant(code, Class::Narrow);
        }
        self.alu(exec, d, &slots);
        Ok(true)
    }
}
