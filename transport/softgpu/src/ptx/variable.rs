//! Declarations of variables and their initial values.

use super::ast::{Init, Linkage, Value, Variable};
use super::error::PtxError;
use super::lexer::Kind;
use super::module::Reference;
use super::parser::Parser;
use super::types::{Space, Type};

/// Larger objects than any device holds are refused, so that sums of sizes cannot overflow.
const MAX_OBJECT: u64 = 1 << 40;

impl Parser<'_, '_> {
    /// `.space [.align n] [.ptr ...] .type name[n] [= init] {, name ...};`
    pub(crate) fn variables(
        &mut self,
        linkage: Linkage,
        out: &mut Vec<Variable>,
    ) -> Result<(), PtxError> {
        let begin = self.at;
        let (space, ty, align, lanes) = self.variable_head()?;
        let managed = self.since(begin).any(|kind| kind == Kind::Dot("managed"));
        loop {
            let variable = self.variable(space, ty, align, lanes, linkage)?;
            out.push(Variable {
                managed,
                ..variable
            });
            if !self.accept(',') {
                break;
            }
        }
        self.expect(';')
    }

    pub(crate) fn variable_head(&mut self) -> Result<(Space, Type, u64, u64), PtxError> {
        let (mut space, mut ty, mut align, mut lanes) = (None, None, 0, 1);
        while let Kind::Dot(word) = self.peek() {
            let line = self.line();
            self.at += 1;
            if let Some(found) = Space::parse(word) {
                // `.param .u64 .ptr .global .align 4 name`: the later space is a hint only.
                space = space.or(Some(found));
            } else if let Some(found) = Type::parse(word) {
                ty = Some(found);
            } else {
                match word {
                    "align" => align = self.int()?,
                    "v2" => lanes = 2,
                    "v4" => lanes = 4,
                    "ptr" => {
                        while let Kind::Dot(hint) = self.peek() {
                            if Type::parse(hint).is_some() {
                                break;
                            }
                            self.at += 1;
                            if hint == "align" {
                                self.int()?;
                            }
                        }
                    }
                    "attribute" => self.skip_to(')')?,
                    _ => {
                        return Err(PtxError::Unsupported {
                            line,
                            instruction: format!(".{word}"),
                            reason: "unknown word in a declaration".to_owned(),
                        });
                    }
                }
            }
        }
        let ty = ty.ok_or_else(|| self.wrong("a type"))?;
        let space = space.ok_or_else(|| self.wrong("a state space"))?;
        let natural = u64::from(ty.size()) * lanes;
        let align = if align == 0 { natural } else { align };
        if !align.is_power_of_two() || align > 1 << 16 {
            return Err(PtxError::syntax(
                self.line(),
                format!("alignment of {align} bytes"),
            ));
        }
        Ok((space, ty, align, lanes))
    }

    pub(crate) fn variable(
        &mut self,
        space: Space,
        ty: Type,
        align: u64,
        lanes: u64,
        linkage: Linkage,
    ) -> Result<Variable, PtxError> {
        let line = self.line();
        let name = self.word("a name")?.to_owned();
        let element = u64::from(ty.size()) * lanes;
        let mut size = element;
        let mut open = false;
        let mut counts = Vec::new();
        while self.accept('[') {
            if self.accept(']') {
                open = true;
                counts.push(0);
                continue;
            }
            let count = self.int()?;
            counts.push(count);
            size = size
                .checked_mul(count)
                .filter(|&size| size <= MAX_OBJECT)
                .ok_or_else(|| PtxError::syntax(line, format!("`{name}` is too large")))?;
            self.expect(']')?;
        }
        let mut init = Vec::new();
        if self.accept('=') {
            let inner = (1..=counts.len()).map(|depth| {
                let inner = counts[depth..].iter();
                inner.fold(element, |bytes, count| bytes.saturating_mul(*count))
            });
            let rows: Vec<u64> = inner.collect();
            let mut offset = 0;
            self.initialiser(ty, &rows, &mut offset, &mut init, 0)?;
            if open {
                size = offset;
                open = false;
            } else if offset > size {
                return Err(PtxError::syntax(
                    line,
                    format!("too many initialisers for `{name}`"),
                ));
            }
        }
        if open {
            size = 0;
        }
        Ok(Variable {
            name,
            space,
            align,
            size,
            init,
            reference: match ty {
                Type::TexRef => Some(Reference::Texture),
                Type::SurfRef => Some(Reference::Surface),
                _ => None,
            },
            linkage,
            managed: false,
            line,
        })
    }

    /// `rows`: bytes that braces within braces stand for, by depth.
    fn initialiser(
        &mut self,
        ty: Type,
        rows: &[u64],
        offset: &mut u64,
        out: &mut Vec<Init>,
        depth: usize,
    ) -> Result<(), PtxError> {
        if depth > 8 {
            return Err(self.wrong("at most 8 nested braces"));
        }
        if self.accept('{') {
            while !self.accept('}') {
                let (begin, nested) = (*offset, self.peek() == Kind::Punct('{'));
                self.initialiser(ty, rows, offset, out, depth + 1)?;
                if let (true, Some(row)) = (nested, rows.get(depth)) {
                    // What a row leaves out is zero.
                    let end = begin.saturating_add(*row);
                    if *offset > end || end > MAX_OBJECT {
                        return Err(self.wrong("fewer values in a row"));
                    }
                    *offset = end;
                }
                if !self.accept(',') {
                    self.expect('}')?;
                    break;
                }
            }
            return Ok(());
        }
        let value = self.init_value(ty)?;
        if value != Value::Number(0) {
            out.push(Init {
                offset: *offset,
                len: ty.size(),
                value,
            });
        }
        *offset = offset.saturating_add(u64::from(ty.size()));
        Ok(())
    }

    fn init_value(&mut self, ty: Type) -> Result<Value, PtxError> {
        let negative = self.accept('-');
        Ok(match self.peek() {
            Kind::Int(mask) if self.ahead(1) == Kind::Punct('(') => {
                self.at += 2;
                if mask == 0 {
                    return Err(self.wrong("a mask that is not 0"));
                }
                let value = self.init_symbol()?;
                self.expect(')')?;
                match value {
                    Value::Symbol {
                        name,
                        addend,
                        generic,
                        ..
                    } => Value::Symbol {
                        name,
                        addend,
                        generic,
                        shift: mask.trailing_zeros(),
                    },
                    number => number,
                }
            }
            Kind::Int(value) => {
                self.at += 1;
                let value = if negative {
                    value.wrapping_neg()
                } else {
                    value
                };
                Value::Number(match ty {
                    Type::F32 => u64::from((value as i64 as f32).to_bits()),
                    Type::F64 => (value as i64 as f64).to_bits(),
                    _ => value,
                })
            }
            Kind::F32(bits) => {
                self.at += 1;
                let value = f32::from_bits(bits);
                let value = if negative { -value } else { value };
                Value::Number(match ty {
                    Type::F64 => f64::from(value).to_bits(),
                    _ => u64::from(value.to_bits()),
                })
            }
            Kind::F64(bits) => {
                self.at += 1;
                let value = f64::from_bits(bits);
                let value = if negative { -value } else { value };
                Value::Number(match ty {
                    Type::F32 => u64::from((value as f32).to_bits()),
                    _ => value.to_bits(),
                })
            }
            _ => self.init_symbol()?,
        })
    }

    fn init_symbol(&mut self) -> Result<Value, PtxError> {
        let name = self.word("a value")?;
        let generic = name == "generic" && self.accept('(');
        let name = if generic {
            self.word("a symbol")?
        } else {
            name
        };
        let mut addend = self.addend()?;
        if generic {
            self.expect(')')?;
            addend = addend.wrapping_add(self.addend()?);
        }
        Ok(Value::Symbol {
            name: name.to_owned(),
            addend,
            shift: 0,
            generic,
        })
    }

    /// `+4`, `-4`, `+-4` or nothing.
    pub(crate) fn addend(&mut self) -> Result<i64, PtxError> {
        let mut sum = 0_i64;
        loop {
            let sign: i64 = if self.accept('+') {
                if self.accept('-') { -1 } else { 1 }
            } else if self.accept('-') {
                -1
            } else {
                return Ok(sum);
            };
            let value = self.int()? as i64;
            sum = sum.wrapping_add(value.wrapping_mul(sign));
        }
    }
}
